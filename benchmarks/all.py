"""Measure everything that the docs quote, with one command, and rewrite the pages from the results.

    python benchmarks/all.py                 everything anew, one script after the other (several hours)
    python benchmarks/all.py --only speed growth
    python benchmarks/all.py --pages         run nothing, rewrite the pages and pictures from the results
    python benchmarks/all.py --list

Results stand in benchmarks/results, each with the versions and the day of its run; the pages print both. Timings are
worth keeping only from a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from environment import describe_environment

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# name of the results -> script and its arguments, and variables of its environment
STEPS = {
    "speed": (["run.py"], {}),
    "busy": (["run.py", "--busy"], {}),
    "size": (["run.py", "--large"], {}),
    "growth": (["growth.py"], {}),
    "large": (["large.py"], ONE_THREAD),
    "cluster": (["cluster.py"], ONE_THREAD),
    "gpu": (["gpu.py"], {}),
    "poisson_fit": (["poisson_fit.py"], {}),
    "normality_null": (["normality_null.py"], ONE_THREAD),
    "segments": (["segments.py", "--fresh"], {}),
    "significance": (["significance.py", "--fresh"], {}),
    "rounded": (["rounded.py", "--fresh"], {}),
    "papers": (["papers.py"], {}),
}
PRINTED = ("large", "cluster", "papers")  # scripts that print their tables and keep nothing
PAGES = (["page.py"], ["segments.py", "--page"], ["significance.py", "--figures", "--page"], ["rounded.py", "--page"])


def tables_of(text):
    """Tables of Markdown in what a script printed, each with the last line of words above it as its title."""
    tables, title, lines = [], "", text.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("|"):
            title = line.strip("# ").rstrip(":") or title
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if i == 0 or not lines[i - 1].startswith("|"):
            tables.append({"title": title, "heads": cells, "rows": []})
        elif i > 1 and lines[i - 2].startswith("|"):  # the second line of a table is a ruler
            tables[-1]["rows"].append(cells)
    return tables


def run_step(name):
    """Run one script; what it prints is shown as it comes, and kept where the script keeps nothing itself."""
    words, variables = STEPS[name]
    command = [sys.executable, str(HERE / words[0]), *words[1:]]
    with subprocess.Popen(command, env=os.environ | variables, stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        raise SystemExit(f"{name}: {' '.join(words)} ended with status {process.returncode}; nothing was rewritten.")
    if name in PRINTED:
        kept = {"environment": describe_environment(), "tables": tables_of("".join(lines))}
        (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def rewrite_pages():
    """Write tables and pictures of the pages from the results."""
    for words in PAGES:
        subprocess.run([sys.executable, str(HERE / words[0]), *words[1:]], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(STEPS), default=list(STEPS), metavar="NAME")
    parser.add_argument("--pages", action="store_true", help="run nothing, rewrite the pages")
    parser.add_argument("--list", action="store_true", help="list the steps")
    options = parser.parse_args()
    if options.list:
        for name, (words, _) in STEPS.items():
            print(f"{name}: python benchmarks/{' '.join(words)}")
        return
    for name in [] if options.pages else [name for name in STEPS if name in options.only]:
        start = time.perf_counter()
        print(f"\n== {name}", flush=True)
        run_step(name)
        print(f"== {name}: {time.perf_counter() - start:.0f} s", flush=True)
    rewrite_pages()


if __name__ == "__main__":
    main()
