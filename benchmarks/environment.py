"""Describe where and when results were measured: machine, threads, load, versions, day."""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
from importlib import metadata

import energystats as es

PEERS = (
    "dcor",
    "diptest",
    "hyppo",
    "kmeans1d",
    "numba",
    "numpy",
    "ruptures",
    "scikit-bio",
    "scikit-learn",
    "scipy",
    "tslearn",
)
R_PACKAGES = ("ade4", "ape", "cluster", "ecp", "energy", "kernlab")


def describe_environment():
    """Describe the machine, the versions of this package and its peers, and the day."""
    versions = {"energystats": es.__version__, "Python": platform.python_version()}
    for name in PEERS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if shutil.which("Rscript") is not None:
        listed = ", ".join(f'"{name}"' for name in R_PACKAGES)
        code = 'cat("R", as.character(getRversion()), "\\n"); '
        code += f"for (p in c({listed})) if (requireNamespace(p, quietly = TRUE)) "
        code += 'cat(paste0("R package ", p), as.character(packageVersion(p)), "\\n")'
        done = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
        versions |= dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines() if line.strip())
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "as many as cores")
    load = round(os.getloadavg()[2], 1)  # of the last quarter of an hour, this run included
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    fixed = {"date": day, "cores": os.cpu_count(), "machine": platform.machine(), "threads": threads, "load": load}
    return fixed | {"versions": versions}
