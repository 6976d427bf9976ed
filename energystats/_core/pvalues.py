"""Compute all p-values: from permutations, sequential tests, fitted distributions, and combinations [theory 3, 5].

No other module forms a p-value; `tests/test_architecture.py` looks for those that do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv, chdtrc

from energystats._typing import FloatArray, IntArray

__all__ = [
    "CONFIDENCE_LEVEL",
    "FEW",
    "adjusted_below",
    "cauchy_combination",
    "count_extreme",
    "count_reaching",
    "extrapolated_pvalue",
    "fewest_draws",
    "generalised_pareto_pvalue",
    "has_ties_in_tail",
    "is_at_most",
    "koenker_pvalue",
    "normal_pvalue",
    "over_contrasts",
    "over_jitters",
    "over_null_models",
    "pearson_pvalue",
    "pvalue_interval",
    "reached_by_ties_alone",
    "share_of_largest",
    "smallest_exact_pvalue",
    "smallest_pvalue",
    "smallest_pvalues",
    "smallest_weighted",
    "stopped_interval",
    "stopped_pvalue",
    "tie_tolerance",
    "upper_pvalue",
]


CONFIDENCE_LEVEL = 0.95  # of every interval of a p-value
ROUNDED_PVALUE = 1e-9  # of a bound: what rounding may add to a combined p-value that is equal to it
ROUNDED_LEVEL = 1e-12  # of a level: what rounding may add to a p-value that is equal to it

# ---------------------------------------------------------------- ties


def tie_tolerance(scale: float, n: int) -> float:
    """Compute the difference up to which two between dispersions count as tied, from the total dispersion."""
    return scale * max(1e-12, 2e-10 / n)


def count_extreme(observed: float, null: FloatArray, tolerance: float) -> int:
    """Count the null values of a statistic that reach the observed one, ties up to rounding included."""
    return int(np.count_nonzero(null >= observed - tolerance))


def count_reaching(observed: tuple[float, float], null: tuple[FloatArray, FloatArray], tolerance: float) -> int:
    """Count the null values of a ratio S/W that reach the observed one, ties up to rounding included.

    Ratios are compared by their cross products, which stay finite when a residual vanishes; `tolerance` is the
    rounding of S and W.
    """
    (s, w), (S, W) = observed, null
    slack = tolerance * (abs(s) + abs(w) + np.abs(S) + np.abs(W))
    return int(np.count_nonzero(S * w - s * W >= -slack))


def _count_upper(values: FloatArray, tolerance: float) -> IntArray:
    """Count for each value how many are at least as large, itself and ties included; (b,) -> (b,)."""
    ordered = np.sort(values)
    return np.asarray(values.size - np.searchsorted(ordered, values - tolerance, side="left"))


# ---------------------------------------------------------------- shares of resamples


def upper_pvalue(extreme: int, n_others: int) -> float:
    """Compute the permutation p-value: the share of labelings whose statistic is at least the observed one.

    The observed labeling is not among the `n_others` and counts once: that is the +1 of a random null, and one of
    all labelings in an exact one, so that the two formulas agree.
    """
    return (extreme + 1) / (n_others + 1)


def smallest_pvalue(n_resamples: int, factor: float = 1.0) -> float:
    """Compute the smallest p-value that n random resamples can give, times a calibration factor."""
    return factor / (n_resamples + 1)


def fewest_draws(level: float, factor: float = 1.0) -> int:
    """Compute the fewest draws with which the smallest p, calibration factor/(draws + 1), is at most `level`."""
    return max(1, math.ceil(factor / level * (1 - ROUNDED_LEVEL)) - 1)


def is_at_most(pvalue: float, bound: float) -> bool:
    """Return whether a p-value is at most a bound, such as a level or the smallest possible p, but for rounding."""
    return pvalue <= bound * (1 + ROUNDED_PVALUE)


def smallest_exact_pvalue(count: float, mirrors: float) -> float:
    """Compute the smallest p-value of an exact permutation test, where some labelings only rename the groups."""
    return mirrors / count if math.isfinite(count) else 0.0


def share_of_largest(statistic: float, others: FloatArray) -> float:
    """Compute the share of statistics that are tied with the largest one, the smallest p-value of an exact test; (m,).

    Of all labelings it is the smallest p-value: some only exchange the names of groups of one size.
    """
    values = np.append(others, statistic)
    return np.count_nonzero(np.isclose(values, values.max(), SAME_STATISTIC, 0.0)) / values.size


def reached_by_ties_alone(statistic: float, others: FloatArray) -> bool:
    """Return whether the largest of other statistics equals a given one up to rounding and none exceeds it; (m,)."""
    return bool(others.size and np.isclose(others.max(), statistic, SAME_STATISTIC, 0.0))


def stopped_pvalue(extreme: int, n_resamples: int) -> float:
    """Compute the p-value of a sequential test that stopped at its last extreme value (Besag & Clifford 1991)."""
    return extreme / n_resamples


def pvalue_interval(extreme: int, n_resamples: int, confidence_level: float = CONFIDENCE_LEVEL) -> tuple[float, float]:
    """Compute the Clopper-Pearson interval of the p-value that infinitely many resamples would give."""
    tail = (1 - confidence_level) / 2
    low = 0.0 if extreme == 0 else float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme + 1, n_resamples - extreme, 1 - tail))
    return low, high


def stopped_interval(extreme: int, n_resamples: int, confidence_level: float = CONFIDENCE_LEVEL) -> tuple[float, float]:
    """Compute the confidence interval of p for a sequential test stopped at a fixed number of extreme values."""
    tail = (1 - confidence_level) / 2
    low = float(betaincinv(extreme, n_resamples - extreme + 1, tail))
    high = 1.0 if extreme == n_resamples else float(betaincinv(extreme, n_resamples - extreme, 1 - tail))
    return low, high


# ---------------------------------------------------------------- tails of fitted distributions


SAME_STATISTIC = 1e-9  # of it: statistics that differ by less are called tied in reports
DEPENDENT = 1e-7  # of the largest singular value: columns of a model that depend on the others but for rounding
FEW = 10  # values at or above the observed one, below which their count says little
LARGEST_TAIL = 250  # values that are fitted, at most a quarter of all


def extrapolated_pvalue(
    observed: float, null: FloatArray, extreme: int, tolerance: float, smallest: float = 0.0
) -> float | None:
    """Compute a p-value from a Pareto tail fitted to null values; None where plain counting is to be used.

    It is never below the `smallest` one that all labelings can give.

    Counted are ten values or more, a value that ties with the observed one, and a tail in which values tie: of a
    discrete distribution, which no fitted curve describes between its steps. So are fits outside the 95 % interval of
    the count, which contradicts them. Otherwise it does not matter which of the two is smaller.
    """
    if extreme >= FEW or has_ties_in_tail(observed, null, tolerance):
        return None
    fitted = generalised_pareto_pvalue(observed, null)
    low, high = pvalue_interval(extreme, null.size)
    return None if fitted is None or not low <= fitted <= high else max(fitted, smallest)


def has_ties_in_tail(observed: float, null: FloatArray, tolerance: float) -> bool:
    """Return whether null values tie with the observed one or, in the tail used for a fit, with each other."""
    top = np.sort(null)[null.size - _tail_size(null) :]
    return bool((np.abs(null - observed) <= tolerance).any() or (np.diff(top) <= tolerance).any())


def _tail_size(null: FloatArray) -> int:
    """Return the number of largest null values to which a tail is fitted."""
    return min(LARGEST_TAIL, null.size // 4)


def generalised_pareto_pvalue(observed: float, null: FloatArray) -> float | None:
    """Compute P(null >= observed) from a generalised Pareto tail (Knijnenburg et al. 2009); None if no tail fits.

    The threshold lies midway between the last value of the tail and the next one below. The distribution of S has an
    exponential tail; a fitted shape below 0 would end it at a finite point and give a p far too small, so it counts as
    0. Never below 1/(m + 1)^2: so far beyond its m values no fit can be trusted.
    """
    from scipy.stats import genpareto

    size = _tail_size(null)
    if size < FEW:
        return None
    top = np.sort(null)[-size - 1 :]
    threshold = 0.5 * float(top[0] + top[1])
    excess, beyond = top[1:] - threshold, observed - threshold
    unit = float(excess.mean())
    if not unit > 0 or beyond <= 0:
        return None
    # in units of the mean excess, so that the fit does not depend on the unit of the data
    shape, _, scale = genpareto.fit(excess / unit, floc=0)
    if shape < 0:
        shape, scale = 0.0, 1.0
    tail = float(size / null.size * genpareto.sf(beyond / unit, shape, scale=scale))
    return max(tail, 1.0 / (null.size + 1) ** 2)


def pearson_pvalue(observed: float, mean: float, sd: float, skewness: float) -> float:
    """Compute P(X >= observed) for a Pearson type III distribution; 1 for a point mass, never 0."""
    from scipy.stats import pearson3

    if not sd > 0:
        return 1.0
    return min(1.0, max(float(pearson3.sf((observed - mean) / sd, skewness)), float(np.finfo(float).tiny)))


def normal_pvalue(observed: float) -> float:
    """Compute P(X >= observed) for a standard normal X; never 0."""
    return max(0.5 * math.erfc(observed / math.sqrt(2)), float(np.finfo(float).tiny))


def koenker_pvalue(errors: FloatArray, columns: FloatArray) -> float:
    """Compute p of Koenker's test that lengths of errors do not go with the columns of a model; 1 if all are equal.

    The number of errors times the R^2 of a regression of their lengths on the columns is compared with chi squared.
    Shapes: (n, d), (n, q).
    """
    lengths = np.linalg.norm(errors, axis=1)
    lengths -= lengths.mean()
    total = float(lengths @ lengths)
    if total == 0:
        return 1.0
    centred = columns - columns.mean(axis=0)
    slopes, _, rank, _ = np.linalg.lstsq(centred, lengths, rcond=DEPENDENT)
    fitted = centred @ slopes
    return float(chdtrc(rank, len(lengths) * float(fitted @ fitted) / total))


# ---------------------------------------------------------------- several p-values as one


def smallest_pvalues(values: Sequence[FloatArray], tolerances: Sequence[float]) -> FloatArray:
    """Compute the smallest of the p-values of several statistics for each of b labelings; (b,) each -> (b,).

    A labeling's p-value is the share of all labelings that reach it, so that min-p is a statistic like any other.
    """
    counts = [_count_upper(each, tolerance) for each, tolerance in zip(values, tolerances, strict=True)]
    return np.asarray(np.min(counts, axis=0) / values[0].size)


INDEX_WEIGHTS = np.array([0.65, 0.1, 0.25])  # of the indices of unimodality, as shares of the level
ONE_LINE = np.ones(1)
SAME_PVALUE = 1e-12  # of it
CAUCHY_CAP = 0.99  # so that a single p of 1 cannot veto the others
CAP_OF_CONTRASTS = 0.5  # a contrast that shows nothing must not hide one that does


def smallest_weighted(
    table: FloatArray, tolerance: FloatArray, factor: float = 1.0, shares: FloatArray = ONE_LINE
) -> float:
    """Compute one p-value of the statistics in a table's first row from their least weighted p-value among all rows.

    The p-value of every row in every column is the share of rows that are at least as large, ties within the
    tolerance among them; divided by the weights and minimised they are compared between the rows once more, so that
    questions cost what they have in common only once: three for each of m lines, weighted by the lines' `shares`.
    `factor` calibrates the result.
    """
    n = len(table)
    counts = np.column_stack([_count_upper(column, t) for column, t in zip(table.T, tolerance, strict=True)])
    smallest = (counts / n / np.outer(shares, INDEX_WEIGHTS).ravel()).min(axis=1)
    return min(1.0, factor * float(np.count_nonzero(smallest <= smallest[0] * (1 + SAME_PVALUE)) / n))


def cauchy_combination(pvalues: FloatArray, cap: float = CAUCHY_CAP) -> float:
    """Combine dependent p-values by the Cauchy combination rule (Liu & Xie 2020) [theory 5]; 1 if all are 1."""
    if pvalues.min() >= 1:
        return 1.0
    capped = np.minimum(pvalues, cap)
    if capped.min() == capped.max():
        return float(capped[0])
    return float(np.arctan2(1.0, (1 / np.tan(np.pi * capped)).mean()) / np.pi)


def over_null_models(in_features: float, in_location: float | None, of_means: float, is_interaction: bool) -> float:
    """Return the p-value of a model term from its null models: that in location, or for interactions the largest one.

    Without a model in location it is that in the feature space. Where one factor changes the spread, or errors have
    heavy tails, residuals of least squares show interactions that are none: of the latter p `of_means` sees less.
    """
    if in_location is None:
        return in_features
    return max(in_features, in_location, of_means) if is_interaction else in_location


def adjusted_below(pvalue: float, size: int, n: int, of_parent: float, level: float) -> float:
    """Compute the adjusted p of m of n points in a tree: p (n - 1)/(m - 1), at most 1, at least the parent's.

    [Meinshausen 2008] gives m points (m - 1)/(n - 1) of the level, below a rejected node. The smallest p of few draws
    can be the level itself, and must not be above it by rounding.
    """
    found = max(of_parent, min(1.0, pvalue * ((n - 1) / (size - 1))))
    return level if level < found <= level * (1 + ROUNDED_LEVEL) else found


def over_jitters(pvalues: FloatArray) -> float:
    """Combine p-values of one test, repeated with other random jitter of ties, into one; (m,) -> float.

    With the cap a jitter that shows nothing does not hide others; the smallest p-value is a lower limit.
    """
    return max(float(pvalues.min()), cauchy_combination(pvalues, CAP_OF_CONTRASTS))


def over_contrasts(pvalues: FloatArray, *, jittered_anew: bool = False) -> tuple[float, list[float]]:
    """Combine p-values over splits for each contrast, then over contrasts; (n_splits, n_contrasts) -> p, p of each.

    `jittered_anew` says that every split had jitter of its own. The cap makes the combination of contrasts at most 1/2,
    even where every contrast alone has a larger p-value, and where there is only one: the smallest of their own
    p-values is a lower limit.
    """
    each = [over_jitters(p) if jittered_anew else cauchy_combination(p) for p in pvalues.T]
    return max(min(each), cauchy_combination(np.array(each), CAP_OF_CONTRASTS)), each
