"""The report as one HTML file, from a template that `report.html` beside this module holds."""

from __future__ import annotations

import numbers
import os
import secrets
import stat
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._core.statistics import share
from energystats._runtime import check_work, part_of_a_longer_call
from energystats._typing import ArrayLike
from energystats.display.numbers import p_text
from energystats.display.tables import LEVEL
from energystats.exceptions import collected
from energystats.inputs.options import check_count, note_unused
from energystats.metrics.base import is_named
from energystats.report import pictures, sections
from energystats.report.study import DEFAULTS, Reading, Study, search_options

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["cluster_report", "render", "write_whole"]


UNDER_TREE = "where a tree of tests chooses k, whose draws follow from its level"
STEM = 40  # characters of a file's name in that of the temporary one


def render(study: Study) -> str:
    """Render the report on a clustering as one HTML document without scripts or external files."""
    return _template().render(
        study=study, found=study.found, test=study.test, chosen=study.selection, reading=study.reading,
        gower=is_named(study.search.get("metric"), "gower"), part=share(study.found.between, study.found.total),
        sections=sections, p_text=p_text, picture=pictures.draw_picture, level=LEVEL,
    )  # fmt: skip


@cache
def _template() -> Template:
    """Load the report's HTML template, in which text is escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_without_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # the template breaks its lines where it likes; a reader who searches the page for a sentence finds it
    environment.filters["unwrapped"] = lambda text: Markup(" ".join(text.split()))
    environment.filters["own_html"] = lambda result: Markup(_without_controls(result._repr_html_()))
    return environment.get_template("report.html")


def _without_controls(value: Any) -> Any:
    """Remove control characters from a text; other values are unchanged."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "".join(c for c in value if c.isprintable() or c in "\n\t")


def cluster_report(
    X: ArrayLike,
    k: int | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str = "X",
    metric: Any = "euclidean",
    alpha: float = 1.0,
    standardize: bool = False,
    conservative: bool = False,
    n_resamples: int = 199,
    select: str | None = None,
    k_max: int = 10,
    progress: bool | None = None,
    rng: int | None = 0,
) -> str:
    """Cluster points, test for clusters, and return a report of both as HTML, also written to `path` if given.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix of rho.
    k : int, optional
        Number of clusters; 2, or what `select` chooses, when None.
    path : str or path, optional
        Where to write the report; it is complete there or absent.
    title : str, default "X"
        What the data are called in the report.
    metric : str, Metric or callable, default "euclidean"
        The semimetric rho.
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. For "precomputed" it says what R is: R**(1/alpha) is Euclidean.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    conservative : bool, default False
        As for `cluster_test`.
    n_resamples : int, default 199
        Draws behind each p-value of `cluster_test`; where `select="significance"` chooses k, the level says how many.
    select : {"gap", "eigengap", "significance"}, optional
        How to choose k, or what to print beside a k that is given.
    k_max : int, default 10
        Largest k that `select` considers.
    progress : bool or None, default None
        Show bars over starts, reference sets and splits.
        None: if the estimated time is above two seconds and a terminal or notebook can show it.
    rng : int or None, default 0
        Seed of every step, which the report prints; None draws one. A Generator is refused: no call that is printed
        could start from the state that it is in.

    Returns
    -------
    str
        The report, an HTML document without scripts that refers to no other file.

    Raises
    ------
    ValueError, TypeError, MemoryError
        As `energy_cluster` and `select_k`, and if `rng` is not a seed. Where `cluster_test` cannot test, the report
        says why.

    Warns
    -----
    PerformanceWarning
        If the call is estimated to take more than a minute; others as `energy_cluster`, `select_k` and `cluster_test`.

    Notes
    -----
    Time and memory are those of `energy_cluster`, `cluster_test`, `select_k` and, up to 1,000 rows,
    `validate_clusters`; energy distances and representatives take O(n^2 d) time. The splits of the test take all
    processors. At most 5,000 points are drawn, above 1,000 as dots, so that the report stays below 2 MB.

    Examples
    --------
    >>> import energystats as es
    >>> from energystats.report import cluster_report
    >>> iris = es.datasets.load("iris").drop(columns="species")
    >>> page = cluster_report(iris, 3, title="iris")
    >>> "divided into 3 clusters of 62, 50 and 38 rows" in page
    True
    """
    seed = _seed_of(rng)
    options = {
        "metric": metric, "alpha": alpha, "standardize": standardize, "conservative": conservative,
        "n_resamples": n_resamples, "k_max": k_max,
    }  # fmt: skip
    _announce(X, k, search_options(options), n_resamples, None if select is None else k_max)
    with part_of_a_longer_call(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = Study.run(X, k, Reading(file=title), criterion=select, progress=progress, rng=seed, **options)
        # what the test notes stands in its section, whether it warned or did so before
        reported = () if isinstance(study.test, str) else study.test.notes
        notes = dict.fromkeys(str(w.message) for w in caught if str(w.message) not in reported)
        unused: tuple[str, ...] = ()
        if k is None and select == "significance":
            unused = note_unused(UNDER_TREE, n_resamples=(n_resamples, DEFAULTS["n_resamples"]))
        page = render(replace(study, notes=(*notes, *unused)))
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if path is not None:
        write_whole(Path(path).resolve(), lambda file: file.write_text(page, encoding="utf-8"), ".html")
    return page


def _seed_of(rng: object) -> int:
    """Return the seed of a report, drawn at random for None; TypeError if it is no whole number."""
    if rng is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(rng, bool | np.bool_) or not isinstance(rng, numbers.Integral):
        raise TypeError(
            f"`rng` must be a seed (whole number >= 0) or None, got {rng!r} of type {type(rng).__name__}: the report "
            "prints calls that give the same numbers again."
        )
    return check_count(rng, "rng", low=0)


def _announce(X: ArrayLike, k: int | None, search: dict[str, Any], n_resamples: int, k_max: int | None) -> None:
    """Estimate the work of a report's computations; raise an error if memory is short, warn if it takes long."""
    from energystats.cluster_tests.cluster_test import method_for, plan_cluster_test
    from energystats.cluster_tests.options import ClusterTestOptions
    from energystats.clustering.energy_cluster import AUTO
    from energystats.clustering.search import Search
    from energystats.dissimilarity import Dissimilarity

    with collected():  # what there is to say of the points is said by the parts
        d = Dissimilarity.from_data(X, **search)
    wanted = int(k) if isinstance(k, numbers.Integral) and k > 1 else 2
    searching = AUTO.work(d, Search(k=min(wanted, d.n)))
    works = [
        *searching,
        *plan_cluster_test(d, ClusterTestOptions(k=wanted, method=method_for(d, "auto"), n_resamples=n_resamples)),
    ]
    if k_max is not None:
        works.append(searching[-1].times(min(k_max, d.n) * 21))
    check_work(False, d, *works)


def write_whole(path: Path, write: Callable[[Path], object], suffix: str) -> None:
    """Write a file by way of a temporary one beside it, so that it is complete or absent; its mode is kept."""
    partial = path.with_name(f".{path.stem[:STEM]}-{secrets.token_hex(8)}{suffix}")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write(partial)
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(stat.S_IMODE(path.stat().st_mode) & 0o777 if path.exists() else 0o666 & ~umask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
