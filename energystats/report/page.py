"""The page: style, order of the sections, and the Python call that makes one."""

from __future__ import annotations

import numbers
import os
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._runtime import part_of_a_longer_call, weigh
from energystats._typing import ArrayLike
from energystats.exceptions import collected
from energystats.inputs.options import check_count
from energystats.metrics.base import is_named
from energystats.report import sections
from energystats.report.pictures import escape_text, paragraph
from energystats.report.sections import write_dispersions
from energystats.report.study import Reading, Study
from energystats.report.words import answer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cluster_report", "render"]


STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.2rem 3rem; max-width: 60rem; background: #fff; color: #1a1a1a;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 1rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid #999; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p, ul, ol { max-width: 46rem; }
.answer { font-size: 1.08rem; border-left: 4px solid #333; padding: .2rem 0 .2rem 1rem; margin: 1rem 0; }
.about { color: #555; font-size: .9rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; white-space: nowrap; font-weight: 600; padding: .2rem 0; caption-side: top; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
thead th { border-bottom: 1.5px solid #333; font-weight: 600; }
tbody th { font-weight: 400; min-width: 5.2rem; }
.n { text-align: right; padding-left: .7rem; padding-right: .2rem; white-space: nowrap; }
figure { margin: 1.2rem 0; }
figure img { display: block; max-width: 100%; max-height: 46rem; height: auto; }
figcaption { color: #444; font-size: .88rem; margin-top: .3rem; max-width: 46rem; }
pre { background: #f3f3f3; padding: .7rem .9rem; font-size: .85rem; line-height: 1.45; white-space: pre-wrap;
  overflow-wrap: anywhere; }
@media (max-width: 32rem) { body { font-size: 15px; padding: .5rem .8rem 2rem; }
  h1 { font-size: 1.35rem; } caption { white-space: normal; } }
@media print {
  @page { size: A4; margin: 18mm 16mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  h1 { font-size: 17pt; } h2 { font-size: 13pt; }
  h2, h3, caption { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  figure img { max-height: 115mm; max-width: 130mm; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
  table { font-size: 8.5pt; }
  pre { border: 1px solid #bbb; background: none; }
}
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def render(study: Study) -> str:
    """The report as one HTML document; it has no scripts, and the browser is told to fetch nothing."""
    title = f"Energy clustering of {study.reading.file}"
    about = f"{study.n} rows, {study.k} cluster{'s' * (study.k > 1)}. Made by energystats."
    parts = [
        sections.data(study),
        sections.partition(study),
        write_dispersions(study),
        sections.significance(study),
        sections.choice(study),
        sections.pairs(study),
        sections.methods(study),
        sections.reproduction(study),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{escape_text(title)}</h1>\n"
        f"{paragraph(about, 'about')}\n{paragraph(answer(study), 'answer')}\n</header>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


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
    """Cluster, test, and write a report of both.

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
        Power of a named distance, 0.001 <= alpha <= 2.
    standardize : bool, default False
        Column z-scores (divisor n) before distances.
    conservative : bool, default False
        As for `cluster_test`.
    n_resamples : int, default 199
        Draws behind each p-value of `cluster_test`.
    select : {"gap", "eigengap", "significance"}, optional
        How to choose k, or what to print beside a k that is given.
    k_max : int, default 10
        Largest k that `select` looks at.
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
        If the call is estimated to take more than a minute.

    Notes
    -----
    Time and memory are those of `energy_cluster` and `cluster_test`, and O(n^2 d) time for the energy distances
    between clusters and their representatives. At most 5,000 points are drawn, above 1,000 as dots, so that the report
    stays below 2 MB.

    Examples
    --------
    >>> import energystats as es
    >>> from energystats.report import cluster_report
    >>> iris = es.datasets.load("iris").drop(columns="species")
    >>> page = cluster_report(iris, 3, title="iris")
    >>> "divided into 3 clusters of 62, 50 and 38 rows" in page
    True
    """
    from energystats.clustering.energy_cluster import energy_cluster
    from energystats.selection.select_k import select_k

    seed = _seed_of(rng)
    made_with = 1.0 if is_named(metric, "precomputed") else alpha
    search = {"metric": metric, "alpha": made_with, "standardize": standardize}
    testing = {**search, "alpha": alpha, "conservative": conservative, "n_resamples": n_resamples}
    bars: dict[str, Any] = {"progress": progress}
    selecting = {"k_max": k_max, "criterion": select, **search, "conservative": conservative}
    _announce(X, k, search, n_resamples, None if select is None else k_max)
    with part_of_a_longer_call(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selection = None if select is None else select_k(X, rng=seed, **selecting, **bars)
        wanted = k if k is not None else 2 if selection is None else selection.k
        found = energy_cluster(X, wanted, rng=seed, **search, **bars)
        test = _tested(X, wanted, seed, {**testing, **bars})
        study = Study(
            data=_as_frame(X),
            found=found,
            test=test,
            selection=selection,
            k_from="given" if k is not None else "default" if selection is None else "chosen",
            rng=seed,
            search=search,
            testing=testing,
            selecting=selecting,
            reading=Reading(file=title, n_read=int(found.labels.size)),
            notes=tuple(dict.fromkeys(str(w.message) for w in caught)),
        )
        page = render(study)
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if path is not None:
        _write_whole(Path(path), page)
    return page


def _seed_of(rng: object) -> int:
    """The seed that every step starts from, and that the report prints."""
    if rng is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(rng, bool | np.bool_) or not isinstance(rng, numbers.Integral):
        raise TypeError(
            f"`rng` must be a seed (whole number >= 0) or None, got {rng!r} of type {type(rng).__name__}: the report "
            "prints calls that give the same numbers again."
        )
    return check_count(rng, "rng", low=0)


def _announce(X: ArrayLike, k: int | None, search: dict[str, Any], n_resamples: int, k_max: int | None) -> None:
    """Refuse or warn of the whole before any part begins, whose warnings are kept for the end."""
    from energystats.cluster_tests.cluster_test import method_for, plan_cluster_test
    from energystats.cluster_tests.options import ClusterTestOptions
    from energystats.clustering.energy_cluster import AUTO
    from energystats.clustering.search import Search
    from energystats.dissimilarity import Dissimilarity

    with collected():  # what there is to say of the points is said by the parts
        d = Dissimilarity.from_data(X, **search)
    wanted = k if isinstance(k, int) and k > 1 else 2
    works = [
        *AUTO.work(d, Search(k=min(wanted, d.n))),
        *plan_cluster_test(d, ClusterTestOptions(k=wanted, method=method_for(d, "auto"), n_resamples=n_resamples)),
    ]
    if k_max is not None:
        works.append(works[1].times(min(k_max, d.n) * 21))
    weigh(False, d, *works)


def _tested(X: ArrayLike, k: int, seed: int, how: dict[str, Any]) -> Any:
    """The test, or why there is none."""
    from energystats.cluster_tests.cluster_test import cluster_test

    if k == 1:
        return "Not tested: one cluster makes no contrast."
    try:
        return cluster_test(X, k, rng=seed, **how)
    except ValueError as error:  # the partition stands, whatever the test lacks
        return f"Not tested: {error}"


def _as_frame(X: Any) -> pd.DataFrame:
    """The table as a data frame."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, pd.Series):
        return X.to_frame()
    array = np.asarray(X)
    array = array[:, None] if array.ndim == 1 else array
    return pd.DataFrame(array).add_prefix("column ")


def _write_whole(path: Path, page: str) -> None:
    """Write to a neighbouring file first, so that the report is complete or absent."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(page)
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
