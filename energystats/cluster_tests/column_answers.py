"""Answers of a validation about single columns, whether each of them is unimodal."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from energystats._core.interrupts import map_in_threads
from energystats._core.jitter import find_reach
from energystats._core.unimodal import EXCESS
from energystats._runtime import Work, with_bar
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.results import ClusterTestResult
from energystats.cluster_tests.scores import jitter_columns, rules_of_column
from energystats.cluster_tests.unimodality import UNIMODALITY, ColumnTest, calibration_factor, column_test
from energystats.cluster_tests.validation_result import AFTER, MEASURED, Answer
from energystats.display.numbers import p_text
from energystats.display.sentences import Caution
from energystats.display.tables import LEVEL, shorten_name
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests.multiplicity import adjust
from energystats.pairs.workloads import line_draws

__all__ = [
    "SMALLEST_COLUMN",
    "answer_columns",
    "note_columns_of_two_values",
    "note_modes_of_columns",
    "work_of_columns",
]


SMALLEST_COLUMN = 8  # points
COLUMNS_NAMED = 20  # with two values, in a note
HALF = 0.5  # of the columns, as counted for the estimate of time
DRAWS_FOR_COLUMNS = 50  # times as many at most, so that an adjusted p can be small


def work_of_columns(d: Dissimilarity, n_resamples: int) -> Work:
    """Estimate the time and memory of testing each column for unimodality.

    Half of the columns are taken to go on beyond their first draws.
    """
    many = _draws_for_columns(n_resamples, d.n_columns)
    return line_draws(d.n, many, HALF * d.n_columns, "Leave columns out that are no part of the question.")


def _draws_for_columns(n_resamples: int, n_columns: int) -> int:
    """Return the number of draws for testing each of several columns, enough for a small adjusted p."""
    return (n_resamples + 1) * min(n_columns, DRAWS_FOR_COLUMNS) - 1


def answer_columns(
    d: Dissimilarity,
    structure: ClusterTestResult | None,
    only: ClusterTestResult | None,
    options: ClusterTestOptions,
    rng: np.random.Generator,
) -> list[Answer]:
    """Test every column for unimodality, and return result rows with Holm-adjusted p-values.

    One column is what the test of all points tests, `only`, also beside one cluster, where `structure` is None.
    """
    if d.coordinates is None or d.n < SMALLEST_COLUMN:
        return []
    near = d.near_one()
    names = d.columns or tuple(f"column {j}" for j in range(d.n_columns))
    if len(names) == 1 and only is not None:
        found = [(only.statistic, only.pvalue)]
    else:
        factor = calibration_factor(options.conservative)
        n_resamples = _draws_for_columns(options.n_resamples, len(names))
        # no adjusted p is below that of all points, asked first; more draws tell which columns to name beside it
        is_large = structure is not None and structure.pvalue > LEVEL
        children = rng.spawn(len(names))
        jittered, _, rows_are_counts = jitter_columns(near, rng.spawn(1)[0])
        # counts that are tied but for a factor of each row, and rows that the metric compares; else the test jitters
        is_jittered = bool(rows_are_counts or near.metric.compares)
        points = jittered.points if is_jittered else near.points

        def test(j: int) -> tuple[float, float]:
            rounding, reach = (None, find_reach) if is_jittered else rules_of_column(near, j)

            def with_draws(many: int, stream: np.random.Generator) -> ColumnTest:
                draws = (many, factor, stream, options.n_resamples)
                return column_test(points[:, j], *draws, reach=reach, rounding=rounding)

            tested = with_draws(options.n_resamples, copy.deepcopy(children[j])) if is_large else None
            if tested is None or tested.pvalue <= LEVEL:
                tested = with_draws(n_resamples, children[j])
            return float(tested.indices[EXCESS]), tested.pvalue

        of_columns = map_in_threads(test, range(len(names)), options.n_jobs)
        found = list(with_bar(of_columns, options.progress, total=len(names), unit="column", size=lambda _: 1))
    first = 0.0 if structure is None else structure.pvalue
    adjusted = np.maximum(adjust([p for _, p in found], "holm"), first).tolist()
    return [
        Answer(
            question="variable",
            what=name,
            statistic_name="E",
            statistic=statistic,
            pvalue=pvalue,
            pvalue_adjusted=q,
            null_hypothesis=UNIMODALITY.replace("the population", f"{name} in the population"),
            family=f"{len(names)} column{'s' * (len(names) > 1)}, Holm" + f", {AFTER}" * (structure is not None),
            level=MEASURED,
        )
        for name, (statistic, pvalue), q in zip(names, found, adjusted, strict=True)
    ]


def note_columns_of_two_values(d: Dissimilarity) -> tuple[str, ...]:
    """Return a note that names columns with two values, whose own test is meaningless; else empty."""
    if d.coordinates is None or d.n_columns < 2:
        return ()
    names = d.columns or tuple(f"column {j}" for j in range(d.n_columns))
    two = [shorten_name(names[j]) for j, column in enumerate(d.transformed().points.T) if np.unique(column).size == 2]
    if not two:
        return ()
    shown = ", ".join(two[:COLUMNS_NAMED]) + ", ..." * (len(two) > COLUMNS_NAMED)
    return (
        f"p of columns with two values says nothing, because these are spread over the step between them: {shown}.",
    )


def note_modes_of_columns(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return a caution that names a column with a small p of its own though that of all points is large; else ()."""
    columns = [answer for answer in answers if answer.question == "variable"]
    if len(columns) < 2:
        return ()
    own = adjust([answer.pvalue for answer in columns], "holm")
    first = int(own.argmin())
    if own[first] > LEVEL or columns[first].rejected:
        return ()
    p = p_text(float(own[first]))
    return (
        Caution(
            f"Asked alone, {shorten_name(columns[first].what)} has {p} (Holm, {len(columns)} columns); all points, "
            "asked first, show nothing.",
            "Adjusted p-values of columns are not below p of all points, which was asked first, along lines between "
            "clusters. To ask of single columns alone, test them with `cluster_test`, and adjust these.",
        ),
    )
