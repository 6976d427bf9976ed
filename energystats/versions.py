"""Find the version of the package, and print those of everything that it computes with."""

from __future__ import annotations

import os
import platform
from importlib import metadata

__all__ = ["find_version", "show_versions"]


DISTRIBUTION = "energystats-toolkit"
REQUIRED = (
    "numpy", "scipy", "pandas", "statsmodels", "formulaic", "scikit-learn", "threadpoolctl", "numba", "matplotlib",
    "tqdm", "jinja2", "lazy-loader",
)  # fmt: skip
OPTIONAL = ("pyarrow", "tabulate", "dask", "distributed", "array-api-compat", "cupy", "torch", "jax")
UNKNOWN = "0+unknown"


def find_version() -> str:
    """Return the installed version of energystats; "0+unknown" if it runs from a checkout without installation."""
    return _find(DISTRIBUTION) or UNKNOWN


def _find(name: str) -> str | None:
    """Return the version of an installed distribution from its metadata, without importing it; None if missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def show_versions() -> None:
    """Print the versions of Python, energystats and its dependencies, and of numerical libraries.

    Returns
    -------
    None
        It prints, for a report of a bug or the methods section of a paper.

    Raises
    ------
    ImportError
        If NumPy, SciPy or threadpoolctl, of which linear algebra is asked, cannot be imported.

    See Also
    --------
    PerformanceWarning : Given where the loops are not compiled.

    Notes
    -----
    Versions are read from the metadata of what is installed, so that only NumPy, SciPy's linear algebra, threadpoolctl
    and numba are imported. A small loop is compiled, to see whether numba works: about a second. O(1) time and memory.

    A package that is not installed is called missing. Optional ones are needed for Parquet files (pyarrow), Markdown
    tables (tabulate), Dask collections, and arrays on other devices (array-api-compat beside cupy, torch or jax).

    References
    ----------
    ``show_versions`` of pandas and scikit-learn, which print the like.

    Examples
    --------
    >>> import energystats as es
    >>> es.show_versions()  # doctest: +ELLIPSIS
    energystats ...
    """
    rows = {
        "": [("energystats", find_version()), *_describe_system()],
        "Dependencies": [(name, _find(name) or "missing") for name in REQUIRED],
        "Optional": [(name, _find(name) or "missing") for name in OPTIONAL],
        "Linear algebra and threads": _describe_threads(),
        "Loops": [("compiled by numba", _describe_loops())],
    }
    width = max(len(name) for part in rows.values() for name, _ in part)
    for head, part in rows.items():
        if head:
            print(f"\n{head}")  # noqa: T201
        for name, value in part:
            print(f"{name:<{width}}  {value}")  # noqa: T201


def _describe_system() -> list[tuple[str, str]]:
    """Return the Python version, operating system and number of cores, by name."""
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return [("Python", python), ("system", system), ("cores", str(os.cpu_count()))]


def _describe_threads() -> list[tuple[str, str]]:
    """Return names and versions of the thread libraries that NumPy and SciPy have loaded."""
    from energystats._core.locks import loading

    with loading():
        import scipy.linalg  # noqa: F401  # so that its library is among them
        from threadpoolctl import threadpool_info
    found = []
    for pool in threadpool_info():
        threads = f"{pool['num_threads']} thread{'s' * (pool['num_threads'] != 1)}"
        built = pool.get("architecture")
        found.append((pool["internal_api"], ", ".join(filter(None, [pool["version"] or "", built or "", threads]))))
    return found or [("libraries", "none that threadpoolctl knows")]


def _describe_loops() -> str:
    """Compile a small loop with numba; return "yes", or "no" and the error."""
    from energystats._core.jit import try_compiler

    return try_compiler()
