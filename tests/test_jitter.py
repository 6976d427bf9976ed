"""Tied values and their neighbours, limits, and what the tests of clusters say of the data they were given."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.spatial.distance import pdist
from scipy.stats import binom, norm

import energystats as es
from energystats._core import kept_results
from energystats._core.hidden_columns import find_tied_direction, snapped
from energystats._core.jitter import _are_heaped, find_reach, jitter_places, jitter_ties
from energystats._core.kept_results import KEPT_UP_TO, keeping_results
from energystats.cluster_tests import scores
from energystats.cluster_tests.data_notes import note_even_steps, note_rates
from energystats.cluster_tests.scores import _power_of_line, make_scorer
from energystats.cluster_tests.spaces import GIVEN
from energystats.cluster_tests.split import _Outcome, _Split, _Splitter
from energystats.cluster_tests.unimodality import CALIBRATION_FACTOR, FIRST_DRAWS, Unimodality, unimodality_test
from energystats.dissimilarity import Dissimilarity
from tests import simulations
from tests.conftest import sweep


class Constant:
    """A generator whose uniform numbers are all the same."""

    def __init__(self, value):
        self.value = value

    def random(self, size):
        return np.full(size, self.value)


def slow_reach(values, i, step):
    """How far one value is jittered to one side, by the definition; beyond an end as far as inwards."""
    j = i + step
    if not 0 <= j < len(values):
        return slow_reach(values, i, -step)
    gap, beyond = abs(values[j] - values[i]), j + step
    if 0 <= beyond < len(values):
        other = abs(values[i] - values[i - step]) if 0 <= i - step < len(values) else 0.0
        gap = min(gap, max(3 * abs(values[beyond] - values[j]), 1.5 * other))
    return gap


def slow_quantile(u, left, right):
    """The quantile of a triangle over [-left, right] with its top at 0, from its distribution function."""

    def probability(x):
        return (left + x) ** 2 / left if x < 0 else left + right - (right - x) ** 2 / right

    return brentq(lambda x: probability(x) - u * (left + right), -left, right, xtol=1e-14)


class Ones:
    """A generator whose normal numbers are all 1."""

    def standard_normal(self, shape):
        return np.ones(shape)


def test_points_that_share_places_are_jittered_by_half_the_distance_to_the_next_places():
    """By the definition: the m-th nearest other place in m dimensions, at most .6 of the points' own spread."""
    points = np.array([[0, 0], [0, 0], [1, 0], [0, 3], [10, 10], [10, 11]], dtype=float)
    squared = np.square(points[:, None] - points[None]).sum(axis=2)
    found = jitter_places(points, squared, Ones())
    assert found.count == 2
    places = np.unique(points, axis=0)
    for before, after in zip(points, found.points, strict=True):
        second = np.sort(np.hypot(*(places - before).T))[2]
        assert_allclose(after - before, min(second / 2, 0.6 * np.sqrt(points.var(axis=0).mean())))
    assert jitter_places(points[1:], squared[1:, 1:], Ones()) is None  # no two share a place
    assert jitter_places(points[:2], squared[:2, :2], Ones()) is None  # nothing but one place
    many = np.vstack((points, np.arange(100.0)[:, None] * [100, 7]))
    assert jitter_places(many, np.square(many[:, None] - many[None]).sum(axis=2), Ones()) is None  # 2 of 106


def test_columns_of_tied_values_are_found_behind_a_rotation(rng):
    """The direction of the column with most ties; none behind continuous columns, or one point too few on a plane."""
    coarse = np.column_stack((rng.normal(size=(60, 2)), rng.integers(0, 5, 60)))
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = (coarse - coarse.mean(axis=0)) @ turned
    found = find_tied_direction(points, rng)
    assert_allclose(np.abs(found @ turned[2]), 1, atol=1e-6)
    values = snapped(points @ found, np.abs(points).max())
    assert np.unique(values).size == np.unique(coarse[:, 2]).size
    assert find_tied_direction(rng.normal(size=(60, 3)), rng) is None
    assert find_tied_direction(rng.normal(size=(60, 1)), rng) is None
    assert_allclose(np.abs(find_tied_direction(coarse[:, 2:] - 2, rng)), 1)
    assert find_tied_direction(np.zeros((60, 2)), rng) is None
    assert find_tied_direction(np.repeat(rng.normal(size=(20, 3)), 3, axis=0), rng) is None  # copies
    few = rng.normal(size=(60, 2))
    few[:4, 0] = 0.0  # any line holds two, and four are not three more
    assert find_tied_direction(few, rng) is None


def test_a_grid_is_found_along_its_columns_not_its_diagonals(rng):
    counts = rng.poisson(0.7, (200, 3)).astype(float)
    counts -= counts.mean(axis=0)
    assert_allclose(np.sort(np.abs(find_tied_direction(counts, rng))), [0, 0, 1], atol=1e-6)


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
@pytest.mark.parametrize("columns", sweep(["one", "counts"], 1))
def test_matrices_of_coarse_columns_show_no_clusters(columns, rng):
    """Lines of a grid are modes in directions that a matrix hides: without jitter nearly all of these were rejected."""
    pvalues = []
    for _ in range(8):
        if columns == "counts":
            cloud = np.log1p(rng.poisson(0.7, (100, 4)))
        else:
            cloud = np.column_stack((rng.normal(4, 0.4, 120), np.round(rng.normal(80, 6, 120))))
        found = es.cluster_test(pdist(cloud), metric="precomputed", n_resamples=99, rng=rng)
        pvalues.append(found.pvalue)
        assert found.jittered
        assert any("hidden column 0" in note for note in found.notes)
    assert np.count_nonzero(np.array(pvalues) <= 0.05) <= 3
    apart = np.round(rng.normal(size=(100, 3)) + np.repeat([[0], [8]], 50, axis=0))
    assert es.cluster_test(pdist(apart), metric="precomputed", n_resamples=99, rng=rng).pvalue <= 0.05


def test_copies_of_rows_behind_a_matrix_are_jittered(rng):
    """No column has ties of its own, and points share places all the same."""
    X = rng.normal(size=(60, 2))
    copied = np.vstack((X, X[:20]))
    with pytest.warns(es.TiesWarning, match="40 of 80 points have distance 0 to another one, so all were jittered"):
        assert es.cluster_test(pdist(copied), metric="precomputed", n_resamples=19, rng=rng).jittered


def test_small_p_of_a_matrix_warns_of_columns_that_it_hides(rng):
    apart = rng.normal(size=(60, 2)) + np.repeat([[0], [9]], 30, axis=0)
    hidden = "Caution: Counts, rounded values or limits in columns behind the matrix can make p small"
    for call in (es.cluster_test, es.cluster_tree):
        assert hidden in call(pdist(apart), metric="precomputed", n_resamples=99, rng=rng).summary()
        assert hidden not in call(apart, n_resamples=99, rng=rng).summary()
        one = call(pdist(apart[:30]), metric="precomputed", n_resamples=49, rng=rng)
        pvalue = one.pvalue if call is es.cluster_test else one.to_frame()["pvalue"].iloc[0]
        assert (hidden in one.summary()) == (pvalue <= 0.05)


grids = st.lists(st.integers(-40, 40), min_size=2, max_size=12, unique=True).map(sorted)


@given(grids)
def test_reach_against_its_definition(grid):
    left, right = find_reach(np.array(grid, dtype=float))
    expected = [(slow_reach(grid, i, -1), slow_reach(grid, i, 1)) for i in range(len(grid))]
    assert_array_equal(np.column_stack((left, right)), expected)
    mirrored = find_reach(-np.array(grid, dtype=float)[::-1])
    assert_array_equal(mirrored[0][::-1], right)
    assert_array_equal(mirrored[1][::-1], left)


@given(grids, st.floats(0.01, 0.99))
def test_jitter_against_quantiles_of_the_triangle(grid, u):
    values = np.array(grid, dtype=float)
    found = jitter_ties(np.repeat(values, 2), Constant(u))
    expected = [slow_quantile(u, *pair) for pair in zip(*find_reach(values), strict=True)]
    assert_allclose(found.values[::2] - values, expected, atol=1e-9)


@given(st.lists(st.integers(0, 6), min_size=3, max_size=40), st.integers(0, 2**32 - 1))
def test_jitter_keeps_values_between_their_neighbours(data, seed):
    x = np.array(data, dtype=float)
    found = jitter_ties(x, np.random.default_rng(seed))
    values, counts = np.unique(x, return_counts=True)
    if counts.max() == 1 or values.size == 1:
        assert found is None
        return
    assert not found.limits
    left, right = find_reach(values)
    which = np.searchsorted(values, x)
    tied = counts[which] > 1
    assert_array_equal(found.values[~tied], x[~tied])
    assert (found.values >= x - left[which] - 1e-12).all()
    assert (found.values <= x + right[which] + 1e-12).all()
    assert found.width == np.median((left + right)[which[tied]] / 2)
    # another place and scale: the same up to these; the mirror image from mirrored numbers
    moved = jitter_ties(4 * x + 8, np.random.default_rng(seed))
    assert_allclose(moved.values, 4 * found.values + 8, atol=1e-12)
    there, back = jitter_ties(x, Constant(0.3)), jitter_ties(-x, Constant(0.7))
    assert_allclose(back.values, -there.values, atol=1e-12)


def test_the_density_is_a_line_from_value_to_value(rng):
    """Frequencies 1, 4, 2 on a grid of unequal steps: at a value, its frequency over the mean step beside it."""
    values, frequencies = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.1, 0.4, 0.3, 0.2])
    x = rng.choice(values, 200_000, p=frequencies)
    heights = frequencies / np.array([1.0, 1.5, 1.5, 1.0])
    counts, edges = np.histogram(jitter_ties(x, rng).values, np.arange(-1, 5.01, 0.5))
    centres = (edges[1:] + edges[:-1]) / 2
    expected = np.interp(centres, [-1, *values, 5], [0, *heights, 0]) * 0.5
    assert (np.abs(counts / x.size - expected) <= 4 * np.sqrt(expected / x.size)).all()


def test_holes_stay_holes():
    left, right = find_reach(np.array([0.0, 1, 2, 20, 21, 22]))
    assert_array_equal(right, [1, 1, 3, 1, 1, 1])
    assert_array_equal(left, [1, 1, 1, 3, 1, 1])
    # counts after transformations have no holes at all
    k = np.arange(12.0)
    for moved in (np.log1p(k), np.sqrt(k), np.sqrt(k + 3 / 8), np.log10(k + 1), np.log(k + 0.5), -1 / (k + 1)):
        left, right = find_reach(moved)
        assert_allclose(left[1:], np.diff(moved), atol=1e-14)
        assert_allclose(right[:-1], np.diff(moved), atol=1e-14)


def test_what_is_no_tie_is_not_moved(rng):
    assert jitter_ties(rng.standard_normal(20), rng) is None
    assert jitter_ties(np.ones(20), rng) is None
    x = np.append(1 + 1e-9 * np.arange(1, 30), [5.0, 7.0])
    assert jitter_ties(rng.permutation(x), rng) is None
    # values that differ by one rounding are tied, and move together
    x = np.concatenate(([np.nextafter(1.0, 2), 1.0], np.arange(2.0, 9.0)))
    found = jitter_ties(x, rng)
    assert found.width == pytest.approx(1)
    assert (np.flatnonzero(found.values != x) < 2).all()
    # a few equal values of a continuous scale hardly move
    few = np.append(rng.standard_normal(1000), [0.0, 0.0])
    assert np.abs(jitter_ties(few, rng).values - few).max() < 0.05


def test_two_values_show_two_modes_at_the_level(rng):
    x = np.repeat([0.0, 1.0], [40, 60])
    found = jitter_ties(x, rng)
    assert (np.abs(found.values - x) <= 1).all()
    rejected = sum(unimodality_test(x, 99, 1.2, rng).pvalue <= 0.05 for _ in range(25))  # .0225 of 400 were
    assert rejected <= binom.ppf(0.9999, 25, 0.05)


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
@pytest.mark.parametrize("places", [[[0, 0], [1, 1]], [[0, 0], [1, 1], [5, 0]], [[0.0], [1.0]]])
def test_groups_of_equal_points_are_not_seen_and_it_is_told(places):
    found = es.cluster_test(np.repeat(places, 40, axis=0), n_splits=1, rng=0)
    assert f"The points lie in {len(places)} places only" in " ".join(found.summary().split())
    assert "places only" not in es.cluster_test(np.arange(40.0) % 8, rng=0).summary()


@pytest.mark.parametrize("name", ["log1p(Poisson 1)", "logit of Bin(10, .85)", "half the detection limit, 20 %, log"])
def test_level_on_a_few_samples(name, rng):
    """Spread over one grid step, as ties once were, and piles left alone, nearly all of these were rejected."""
    draw = simulations.DISCRETE_NULLS[name]
    found = sum(unimodality_test(draw(rng, 60), 99, 1.2, rng).pvalue <= 0.05 for _ in range(25))
    assert found <= binom.ppf(0.9999, 25, 0.07)


# ---------------------------------------------------------------- piles at the ends


def slow_tail_width(pile, others):
    """A triangle over the piled points that begins with the density of the others at their edge."""
    first = max(5, int(np.ceil(np.sqrt(len(others)))))
    density = first / (others[first] - others[0])  # points per unit
    return 2 * pile / density


@pytest.mark.parametrize("sign", [1, -1])
def test_values_at_a_limit_become_a_tail(sign, rng):
    x = sign * np.maximum(rng.standard_normal(300), -0.8)
    found = jitter_ties(x, rng)
    (limit,) = found.limits
    piled = x == limit.value
    assert (limit.value, limit.count, limit.is_smallest, limit.apart) == (-0.8 * sign, piled.sum(), sign > 0, False)
    assert_array_equal(found.values[~piled], x[~piled])
    others = np.sort(sign * x[~piled])
    away = others[0] - sign * found.values[piled]
    width = slow_tail_width(limit.count, others)
    assert 0 <= away.min() <= away.max() <= width
    # a triangle has its mean at a third of its width; five standard errors of it
    assert abs(away.mean() - width / 3) <= 5 * width / np.sqrt(18 * limit.count)


def test_piles_that_are_no_limits(rng):
    # far away: a mode of its own; few other values: a questionnaire; in the middle: a spike
    far = jitter_ties(np.append(rng.standard_normal(80), np.full(20, 50.0)), rng)
    assert [limit.apart for limit in far.limits] == [True]
    assert unimodality_test(np.append(rng.standard_normal(80), np.full(20, 50.0)), 99, 1.2, rng).pvalue < 0.05
    assert not jitter_ties(np.repeat(np.arange(7.0), [50, 9, 9, 9, 9, 9, 9]), rng).limits
    assert not jitter_ties(np.append(rng.standard_normal(80), np.zeros(20)), rng).limits
    # two points are no pile
    assert not jitter_ties(np.append(rng.random(10), [0.0, 0.0]), rng).limits


def test_zeros_far_from_all_amounts_are_a_mode(rng):
    """Few values at the edge of the others made a tail so wide that zeros below it were taken for its cut-off part."""
    for others in (rng.normal(10, 1, 90), rng.normal(22, 3, 90).round()):
        x = np.append(np.zeros(80), others)  # three times as many as any other value has
        assert [limit.apart for limit in jitter_ties(x, rng).limits] == [True]
        assert unimodality_test(x, 99, 1.2, rng).pvalue <= 0.05
    # half a limit of detection that a third of a lognormal sample is below
    x = rng.lognormal(size=150)
    limit = np.quantile(x, 0.35)
    for scaled in (x, np.log(x)):
        half = limit / 2 if scaled is x else np.log(limit / 2)
        below = jitter_ties(np.where(x < limit, half, scaled), rng)
        assert [one.apart for one in below.limits] == [False]


def test_limits_are_told(rng):
    x = np.maximum(rng.standard_normal(100), -0.8) * 10
    with pytest.warns(
        es.TiesWarning, match="of 100 values of x are its smallest, -8. They may be values that a limit cut off"
    ):
        found = es.cluster_test(x, rng=0)
    assert found.notes[0].startswith(f"{int(np.sum(x == -8))} of 100 values")
    assert found.jittered
    with pytest.warns(es.TiesWarning, match="They are no tail of the others"):
        es.cluster_test(np.append(rng.standard_normal(80), np.full(20, 50.0)), rng=0)


def either_or(rng, n=200):
    """Amounts of one of two things: on two half lines, along every line with one mode."""
    first, amounts = rng.random(n) < 0.5, rng.integers(0, 101, n).astype(float)
    return np.column_stack((np.where(first, amounts, 0), np.where(first, 0, amounts)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_tails_of_piles_part_no_points(rng):
    """A tail below 0 in each column leaves a gap between the half lines: with it nearly all samples were rejected."""
    found = sum(es.cluster_test(either_or(rng), n_splits=2, rng=rng).pvalue <= 0.05 for _ in range(8))
    assert found <= 5  # .1 of them, beside .9


def test_piles_are_left_where_they_are_without_tails(rng):
    X = np.maximum(rng.standard_normal((120, 2)), -0.8)
    scorer = make_scorer(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0), 1.0, rng)
    left, piled = scorer.without_tails.points, X == -0.8
    for j in range(2):
        assert np.ptp(left[piled[:, j], j]) < 0.5 * np.ptp(scorer.points[piled[:, j], j])
        assert_allclose(np.ptp(left[~piled[:, j], j]), np.ptp(X[~piled[:, j], j]), rtol=1e-12)
    assert make_scorer(Dissimilarity.from_data(X[~piled.any(axis=1)], metric="euclidean", alpha=1.0), 1.0, rng
                       ).without_tails is None  # fmt: skip


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
@pytest.mark.parametrize("with_tails", [0.001, 0.15])
def test_p_is_the_larger_one_with_and_without_tails(with_tails, rng, monkeypatch):
    X = np.maximum(rng.standard_normal((60, 2)), -0.8)
    seen = []

    def scored(self, scorer, rng):
        spread = scorer.without_tails is not None
        seen.append((spread, rng.random()))
        line = Unimodality(np.zeros(1), np.zeros(3), with_tails if spread else 0.02, 0.0)
        return _Split([_Outcome(line.pvalue, {GIVEN: line})], {})

    monkeypatch.setattr(_Splitter, "scored", scored)
    found = es.cluster_test(X, n_splits=2, rng=rng)
    assert_allclose(found.pvalues, max(with_tails, 0.02))
    # the same folds twice
    assert [spread for spread, _ in seen] == [True, False] * 2
    assert seen[0][1] == seen[1][1] != seen[2][1]


# ---------------------------------------------------------------- notes and warnings


@pytest.mark.slow
def test_coarse_ties_warn_and_fine_ones_are_noted(rng):
    X = rng.standard_normal((100, 2))
    grid = np.repeat(np.arange(-2, 2.5, 0.5), [2, 6, 12, 19, 22, 19, 12, 6, 2])  # a gap would widen the mean step
    coarse = np.column_stack([rng.permutation(grid), rng.permutation(grid)])
    with pytest.warns(es.TiesWarning, match=r"between the values.*steps of 0.5 in column 0, 0.5 in column 1\)"):
        result = es.cluster_test(coarse, rng=rng)
    assert result.jittered
    assert "Caution: Steps between tied values are wide" in " ".join(result.summary().split())
    assert any("between the values beside them" in note for note in result.notes)
    es.cluster_test(np.round(X), rng=rng)  # a second warning in this process would be an error here
    fine = es.cluster_test(np.round(X, 1), rng=rng)  # no warning, which would be an error here
    assert fine.jittered
    assert any("between the values beside them" in note for note in fine.notes)
    assert not es.cluster_test(X, rng=rng).jittered


CODES = np.repeat([1.0, 2.0, 3.0], [96, 26, 67])


def test_p_of_one_column_is_over_ten_jitters_where_steps_are_wide():
    """Against the definition: ten jitters, and Cauchy's rule with p above .5 as .5, but the smallest at least."""
    with pytest.warns(es.TiesWarning):
        found = es.cluster_test(CODES, n_resamples=99, rng=3)
    assert found.pvalues.shape == (10, 1)
    each = found.pvalues[:, 0]
    combined = np.arctan2(1, np.mean(1 / np.tan(np.pi * np.minimum(each, 0.5)))) / np.pi
    assert_allclose(found.pvalue, max(each.min(), combined))
    rng = np.random.default_rng(3)
    streams = [rng, *rng.spawn(9)]
    for p, stream in zip(each, streams, strict=True):
        jittered = jitter_ties(found_points(CODES), stream).values
        tested = unimodality_test(jittered - jittered.mean(), 99, CALIBRATION_FACTOR, stream, FIRST_DRAWS)
        assert tested.pvalue == pytest.approx(p)
    words = " ".join(found.summary().split())
    assert "p-value by 10 jitters of the ties, with up to 99 draws each; another seed gives another p." in words
    assert "They were jittered several times, and p combines the tests of all." in " ".join(found.notes)


def found_points(x):
    """One column as the test sees it, divided by a power of two."""
    return Dissimilarity.from_data(x, metric="euclidean", alpha=1.0).near_one().points[:, 0]


def test_a_column_with_narrow_steps_has_one_jitter(rng):
    assert es.cluster_test(np.round(rng.normal(size=100), 1), n_resamples=19, rng=0).pvalues.shape == (1, 1)
    assert es.cluster_test(rng.normal(size=100), n_resamples=19, rng=0).pvalues.shape == (1, 1)


def test_every_split_has_a_jitter_of_its_own_where_steps_are_wide(rng, monkeypatch):
    made, make = [], scores.make_scorer

    def kept(*how):
        made.append(make(*how))
        return made[-1]

    monkeypatch.setattr(scores, "make_scorer", kept)
    calls = {
        3: lambda X: es.cluster_test(X, n_splits=3, n_resamples=19, rng=0),
        10: lambda X: es.validate_clusters(X, 2, n_resamples=19, rng=0),  # the same, and merges, with 5 splits each
    }
    for count, call in calls.items():
        for X, expected in ((rng.poisson(2, (60, 2)), count), (np.round(rng.normal(size=(60, 2)), 1), 0)):
            made.clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", es.TiesWarning)
                call(X)
            assert len({scorer.points.tobytes() for scorer in made}) >= expected
            assert len(made) <= expected + 1  # that of the whole, where it goes by the same name


def test_p_of_codes_hardly_depends_on_the_seed():
    """With one jitter, p of this code was from .006 to .51 over twelve seeds; ten combine to .010 to .020."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        p = [es.cluster_test(CODES, n_resamples=199, rng=seed).pvalue for seed in range(6)]
    assert max(p) < 5 * min(p)


def test_a_value_that_was_filled_in_is_named(rng):
    x = rng.exponential(size=300)
    x[:30] = x[30:].mean()
    with pytest.warns(es.TiesWarning, match="no other is nearly as frequent"):
        notes = " ".join(es.cluster_test(x, n_resamples=19, rng=0).notes)
    assert f"30 of 300 values of x are {x[0]:.6g}, and no other is nearly as frequent." in notes
    assert "If they were filled in for missing values" in notes
    assert "duplicated" not in notes
    # most values of a narrow distribution are one, and that is its mode
    narrow = np.round(rng.laplace(0, 0.5, 300))
    for other in (narrow, rng.poisson(3, 300), np.round(rng.normal(size=300), 1), rng.normal(size=300)):
        spread = jitter_ties(other.astype(float), rng)
        assert spread is None or spread.filled is None


def composite(rng, n=200, items=3):
    """Means of z-scores of items on five levels: near evenly spaced places, and on none."""
    answers = rng.binomial(4, 0.5, (n, items)).astype(float)
    return ((answers - answers.mean(axis=0)) / answers.std(axis=0)).mean(axis=1)


RATES = lambda rng: 1000 * (rng.poisson(5, 250) + 1) / rng.normal(100, 3, 250).round(1)  # noqa: E731


@pytest.mark.parametrize(
    "draw",
    [lambda rng: composite(rng, 400, 4), lambda rng: composite(rng, 400, 6), RATES],
    ids=["4 items", "6", "rates"],
)
def test_values_near_evenly_spaced_places_are_noted(draw, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_test(draw(rng), n_resamples=99, rng=0)
    words = " ".join(found.notes)
    assert "evenly spaced places, and each counts as a mode." in words or found.pvalue > 0.05
    assert note_even_steps(np.sort(draw(rng))) != ()


EVEN = {
    "normal": lambda rng: rng.normal(size=200),
    "uniform": lambda rng: rng.random(300),
    "exponential": lambda rng: rng.exponential(size=200),
    "heavy tails": lambda rng: rng.standard_cauchy(200),
    "two clusters": lambda rng: np.concatenate([rng.normal(0, 1, 100), rng.normal(5, 1, 100)]),
    "two narrow clusters": lambda rng: np.concatenate([rng.normal(0, 0.1, 60), rng.normal(4, 0.1, 60)]),
    "four clusters": lambda rng: np.repeat([0, 3, 6, 9], 40) + 0.4 * rng.normal(size=160),
    "constant": lambda rng: np.ones(50),
    "few": lambda rng: np.arange(20.0),
}


@pytest.mark.parametrize("name", EVEN)
def test_smooth_values_and_clusters_are_not_noted(name, rng):
    assert note_even_steps(np.sort(EVEN[name](rng))) == ()


def per_million(rng, mean, spread, n=300):
    """Counts per million of one gene, whose rows have totals that differ by `spread`."""
    totals = 1e6 * np.exp(spread * rng.normal(size=n))
    return 1e6 * rng.poisson(mean * totals / 1e6) / totals


@pytest.mark.parametrize(
    "record", [lambda x: x, np.log1p, lambda x: np.log2(x + 1), np.sqrt], ids=["as they are", "log1p", "log2", "root"]
)
@pytest.mark.parametrize("mean", [1, 2])
def test_rates_of_small_counts_are_noted(mean, record, rng):
    x = record(per_million(rng, mean, 0.1))
    assert "multiples of one amount" in " ".join(note_rates(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_test(x[:, None], n_resamples=99, rng=0)
    assert ("multiples of one amount" in " ".join(found.notes)) == (found.pvalue <= 0.05)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: per_million(rng, 3, 0.6),
        lambda rng: np.maximum(rng.normal(size=300), 0),
        lambda rng: rng.gamma(2, 1, 300) * (rng.random(300) < 0.7),
        lambda rng: rng.normal(np.where(rng.random(300) < 0.5, 2, 5), 0.3) * (rng.random(300) < 0.8),
        lambda rng: rng.poisson(np.where(rng.random(300) < 0.5, 3, 15)).astype(float),
        lambda rng: per_million(rng, 3, 0.1) - 1,
        lambda rng: np.zeros(50),
    ],
    ids=["totals that differ much", "limit", "gamma", "two clusters", "counts", "below 0", "zeros"],
)  # fmt: skip
def test_other_amounts_are_not_said_to_be_rates(draw, rng):
    assert note_rates(draw(rng)) == ()


def test_heaps_are_told(rng):
    x = rng.standard_normal(400)
    heaped = np.where(rng.random(400) < 0.5, np.round(2 * x) / 2, np.round(x, 1))
    with pytest.warns(es.TiesWarning, match="round all values to the coarsest grid"):
        es.cluster_test(heaped, n_resamples=19, rng=0)
    assert not jitter_ties(np.round(x, 1), rng).heaped


def round_some(x, share, step, rng):
    """Values of a grid of step 1, some of them rounded to a coarser one, as people round their weight."""
    return np.where(rng.random(x.size) < share, step * np.floor(np.round(x) / step + 0.5), np.round(x))


@pytest.mark.parametrize(("n", "share", "step", "sd"), [(6000, 0.4, 5, 12), (9000, 0.15, 10, 20), (6000, 0.5, 2, 12)])
def test_preferred_digits_are_found_and_their_surplus_is_spread(n, share, step, sd, rng):
    """On average as many points as were rounded are spread, and no place is left with more than its neighbours."""
    x = round_some(rng.normal(45, sd, n), share, step, rng)
    found = jitter_ties(x, rng)
    assert found.heaped
    inner = np.abs(x - 45) < sd  # every place is taken there
    far = np.abs(found.values - x) > 1  # farther than between neighbours of the fine grid
    assert not far[inner & (x % step != 0)].any()
    if step > 2:
        rounded = share * np.count_nonzero(inner)
        assert abs(far[inner].sum() - rounded * (1 - 2 / step)) < 0.5 * rounded
    assert np.abs(found.values - x)[inner].max() <= max(step / 2, 1)


@pytest.mark.parametrize(("fine", "coarse", "sd", "n"), [(1 / 60, 1, 0.9, 600), (1, 15, 12, 600), (0.01, 0.5, 1, 600)])
def test_heaps_of_two_grids_are_spread_and_noted(fine, coarse, sd, n, rng):
    """Nearly all such samples were rejected, and a third of them without a word."""
    rejected = 0
    for seed in range(6):
        x = 4 * sd + sd * rng.standard_normal(n)
        x = np.where(rng.random(n) < 0.3, coarse * np.round(x / coarse), fine * np.round(x / fine))
        assert jitter_ties(x, rng).heaped
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", es.TiesWarning)
            rejected += es.cluster_test(x, rng=seed).pvalue <= 0.05
    assert rejected <= 3


@pytest.mark.parametrize("columns", [1, 2])
def test_the_tail_of_a_limit_is_drawn_several_times(columns, rng):
    """With one tail for all splits, p of a censored normal column was between .11 and 1, by the seed alone."""
    X = np.maximum(rng.normal(size=(200, columns)), [-0.8, -9.0][:columns])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        pvalues = [es.cluster_test(X, rng=seed).pvalue for seed in range(6)]
    assert max(pvalues) <= 8 * min(pvalues)
    assert min(pvalues) > 0.01


@pytest.mark.parametrize(("sd", "steps"), [(20, (5, 10)), pytest.param(300, (10, 50, 100), marks=pytest.mark.slow)])
def test_tens_beside_fives_are_no_clusters(sd, steps, rng):
    """Each of two or three grids: 29 of 30 such samples were rejected, and cut into up to nine clusters."""
    rejected = 0
    for seed in range(6):
        x = np.round(rng.normal(10 * sd, sd, 1500))
        for step in steps:
            x = np.where(rng.random(x.size) < 0.3, step * np.round(x / step), x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", es.TiesWarning)
            rejected += es.cluster_test(x, rng=seed).pvalue <= 0.05
    assert rejected <= 3


def test_two_tall_heaps_are_noted(rng):
    """As in R's geyser, where 53 of 299 durations are 4 and 23 are 2; of one value, `filled` tells."""
    x = np.concatenate([np.round(rng.normal(3, 1, 200) * 60) / 60, np.full(50, 4.0), np.full(25, 2.0)])
    assert jitter_ties(x, rng).heaped
    assert not jitter_ties(np.round(rng.normal(3, 1, 300) * 60) / 60, rng).heaped


@pytest.mark.parametrize(
    "draw",
    sweep(
        [
            lambda rng, n: rng.poisson(10, n),
            lambda rng, n: np.round(np.r_[rng.normal(0, 3, n // 2), rng.normal(12, 3, n - n // 2)]),
            # most places of their grid are empty
            lambda rng, n: np.round(rng.normal(20, 4, n)) ** 2,
            lambda rng, n: (rng.binomial(10, 0.5, n) / 10) ** 2,
            lambda rng, n: np.round((np.round(rng.normal(70, 10, n)) - 32) / 1.8, 1),
            lambda rng, n: rng.poisson(3, n),
            lambda rng, n: rng.negative_binomial(2, 0.1, n),
            lambda rng, n: rng.integers(1, 6, (n, 4)).sum(axis=1),
            lambda rng, n: rng.integers(0, 30, n),
        ],
        3,
    ),
)
def test_counts_and_clusters_have_no_preferred_digits(draw, rng):
    sizes = [*[100, 1000] * 25, *[20_000] * 5]
    noted = sum(jitter_ties(draw(rng, n).astype(float), rng).heaped for n in sizes)
    assert noted <= 2  # of 55; about one in 800 by chance


@pytest.mark.parametrize("sd", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("gap", [5, 10])
def test_narrow_clusters_are_no_preferred_digits(gap, sd, rng):
    """Nothing lies midway between them: spread over the step they would be one cloud."""
    x = np.round(gap * rng.integers(1, 7, 600) + rng.normal(0, sd, 600))
    spread = jitter_ties(x, rng).values
    assert np.mean(np.abs(spread - x) > 1.2) < 0.2  # to the next value; far where a place is empty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        assert es.cluster_test(x, rng=0).pvalue <= 0.05


def test_one_cloud_of_rounded_numbers_has_no_clusters_and_two_have(rng):
    """Fifteen per cent said tens: .95 of such samples were rejected when the heaps counted as modes."""
    noise = [round_some(rng.normal(45, 20, 1000), 0.15, 10, rng) for _ in range(5)]
    two = [round_some(rng.normal(45, 12, 400) + 60 * (np.arange(400) % 2), 0.3, 5, rng) for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        assert sum(es.cluster_test(x, rng=i).pvalue <= 0.05 for i, x in enumerate(noise)) <= 2
        assert all(es.cluster_test(x, rng=i).pvalue <= 0.05 for i, x in enumerate(two))


@pytest.mark.parametrize("columns", [1, 2])
def test_duplicated_rows_warn(columns, rng):
    def notes_of(points):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", es.TiesWarning)
            notes = es.cluster_test(points, n_resamples=19, n_splits=1, rng=0).notes
        return [note for note in notes if "duplicated" in note]

    X = rng.standard_normal((50, columns))
    twice = np.concatenate((X, X))
    (text,) = notes_of(twice)
    assert text.startswith("50 of 100 rows are duplicated, in columns that are recorded on no grid.")
    with pytest.warns(es.TiesWarning, match="50 of 100 rows are duplicated"):
        es.cluster_test(twice, n_resamples=19, n_splits=1, rng=0)
    # on a grid equal rows are what one expects, and of counts after a transformation, too
    assert not notes_of(np.round(twice, 1))
    assert not notes_of(np.sqrt(rng.poisson(3, (100, columns))))


def warns_of_copies(X, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = es.cluster_test(X, n_resamples=19, n_splits=1, rng=0, **how).notes
    warned = any("rows are duplicated" in str(each.message) for each in caught)
    assert warned == any("rows are duplicated" in note for note in notes)
    return warned


# lengths of the teeth of 60 guinea pigs, R's ToothGrowth: rounded twice, to steps of .3 and to one decimal
TEETH = np.array([
    4.2, 11.5, 7.3, 5.8, 6.4, 10, 11.2, 11.2, 5.2, 7, 16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5, 23.6,
    18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5, 15.2, 21.5, 17.6, 9.7, 14.5, 10, 8.2, 9.4, 16.5, 9.7, 19.7,
    23.3, 23.6, 26.4, 20, 25.2, 25.8, 21.2, 14.5, 27.3, 25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23,
])  # fmt: skip


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    "functions",
    [[np.log], [np.square], [np.sqrt], [lambda x: 2.54 * x], [lambda x: x * np.sin(x)], [np.log, np.sqrt], None],
    ids=["log", "square", "root", "unit", "product", "log, no grid", "log alone"],
)
def test_functions_of_rounded_values_are_no_copies(functions, standardize):
    columns = [np.log(TEETH)] if functions is None else [f(TEETH) for f in functions]
    if functions is not None and len(functions) == 1:
        columns = [TEETH, *columns]
    assert len(np.unique(TEETH)) < len(TEETH)
    assert not warns_of_copies(np.column_stack(columns), standardize=standardize)


def test_a_ratio_of_rounded_values_makes_no_copies(rng):
    height, mass = np.round(rng.normal(170, 5, 150)), np.round(rng.normal(70, 5, 150))
    X = np.column_stack((height, mass, mass / (height / 100) ** 2))
    assert len(np.unique(X, axis=0)) < len(X)
    assert not warns_of_copies(X)


@pytest.mark.parametrize(
    "beside",
    [
        lambda rng, n: rng.normal(size=n), lambda rng, n: rng.integers(20, 60, n).astype(float),
        lambda rng, n: np.round(rng.normal(20, 5, n), 3), lambda rng, n: np.arange(n) * 1.0, lambda rng, n: np.ones(n),
        lambda rng, n: np.round(rng.normal(20, 5, (n, 4)), 1),
    ],
    ids=["no grid", "age", "three decimals", "a count", "a constant", "four columns"],
)  # fmt: skip
def test_copies_of_rows_with_a_fine_column_are_told_whatever_is_beside_it(beside, rng):
    X = np.column_stack((rng.normal(size=50), beside(rng, 50)))
    assert not warns_of_copies(X)
    assert warns_of_copies(np.concatenate((X, X)))
    assert warns_of_copies(np.concatenate((X, X)), standardize=True)
    if not np.array_equal(X[:, 1], np.arange(50)):  # where equal rows may be values of a function of the count
        assert warns_of_copies(np.concatenate((X, X[rng.permutation(50)[:40]])))  # 12 are missed in 3 %


def test_binary_columns_are_told(rng):
    factor = rng.standard_normal((100, 1))
    items = (0.9 * factor + np.sqrt(1 - 0.81) * rng.standard_normal((100, 10)) > 0).astype(float)
    with pytest.warns(es.TiesWarning):
        found = es.cluster_test(items, n_resamples=19, n_splits=1, rng=0)
    assert found.notes[0].startswith("10 of 10 columns have two values only.")
    few = np.column_stack((rng.standard_normal((100, 2)), items[:, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_test(few, n_resamples=19, n_splits=1, rng=0)
    assert any(note.startswith("1 of 3 columns has two values only. Beside a column") for note in found.notes)
    assert "two values" not in found.summary()  # a note, and no caution
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_test(few[:, :2], n_resamples=19, n_splits=1, rng=0)
    assert "two values" not in str(found.notes)


def rows_are_alike(X, **how):
    notes = es.cluster_test(X, n_resamples=19, n_splits=1, rng=0, **how).notes
    return any(note.startswith("Neighbouring rows are alike") for note in notes)


def test_dependent_rows_are_told(rng):
    X = rng.standard_normal((200, 2))
    walk = np.cumsum(X, axis=0)
    assert rows_are_alike(walk)
    assert rows_are_alike(es.pairwise(walk), metric="precomputed")
    assert rows_are_alike(np.repeat(X[:40], 5, axis=0) + 0.1 * X)  # five replicates one after another
    assert rows_are_alike(np.sort(X[:, 0]))
    # neither independent rows, nor clusters one after another
    assert not rows_are_alike(X)
    assert not rows_are_alike(X + np.repeat([[0.0], [9.0]], 100, axis=0))


def test_a_line_bent_by_a_power_is_told(rng):
    x = rng.standard_normal(60)
    R = np.abs(np.subtract.outer(x, x))
    assert _power_of_line(R**0.2) == pytest.approx(0.2)
    for power in (0.5, 0.8):
        assert _power_of_line(R**power) == pytest.approx(power)
        assert _power_of_line(np.round(R**power, 3)) == pytest.approx(power, abs=0.01)
    for straight in (R, es.pairwise(rng.standard_normal((60, 2))), np.zeros((5, 5)), R[:2, :2]):
        assert _power_of_line(straight) is None
    with pytest.warns(es.NotCalibratedWarning, match=r"abs\(x - y\)\*\*0.5 of a single column.*give alpha=0.5"):
        es.cluster_test(np.sqrt(R), metric="precomputed", rng=0)
    with pytest.warns(es.NotCalibratedWarning, match=r"give alpha=0.25"):
        es.cluster_test(R**0.25, metric="precomputed", alpha=0.5, rng=0)
    assert "Assumed" in str(es.cluster_test(np.sqrt(R), metric="precomputed", alpha=0.5, rng=0).notes)


# ---------------------------------------------------------------- what p can be


@pytest.mark.parametrize(("method", "fewest"), [("split", 28), ("unimodal-1d", 23), ("refit", 19)])
def test_too_few_draws_are_told(method, fewest, rng):
    X = rng.standard_normal((40, 1 if method == "unimodal-1d" else 2))
    X[:20] += 30
    with pytest.warns(es.EnergyStatsWarning, match=f"With {fewest - 1} draws the smallest possible p") as caught:
        few = es.cluster_test(X, method=method, n_resamples=fewest - 1, rng=0)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = es.cluster_test(X, method=method, n_resamples=fewest, rng=0)
    if method == "split":  # lines in several spaces meet chance draws of one another
        enough = es.cluster_test(X, n_resamples=99, rng=0)
    assert few.pvalue > 0.05 >= enough.pvalue
    assert f"take n_resamples of {fewest} or more" in " ".join(few.summary().split("\n\n")[0].split())
    assert few._conclusion().startswith(f"At level 0.05: nothing could be decided with {fewest - 1} draws")
    assert "n_resamples" not in enough.summary()
    if method == "unimodal-1d":
        assert "It is the smallest that so many" in " ".join(enough.summary().split())


def test_large_p_claims_no_single_cluster():
    x = (np.arange(40) + 0.5) / 40  # quantiles of unimodal distributions, the second ones in an order without pattern
    X = np.column_stack((norm.ppf(x), norm.ppf(x)[np.argsort(np.arange(40) * 0.618 % 1)]))
    assert "no evidence at this sample size of a projection with two modes" in es.cluster_test(X, rng=0)._conclusion()
    assert "of more than one mode" in es.cluster_test(X[:, 0], rng=0)._conclusion()
    assert "a projection with two modes" in es.cluster_tree(X, rng=0)._conclusion()


def test_few_points_too_many_are_no_heaps(rng):
    """A hundredth of the points, and two tall values that hold less than a tenth of them."""
    x = np.round(rng.normal(0, 30, 20_000))
    some = rng.random(x.size) < 0.01
    x[some] = 10 * np.round(x[some] / 10)
    assert not jitter_ties(x, rng).heaped
    for count, heaped in ((50, False), (70, True)):
        counts = np.full(100, 10)
        counts[[20, 50]] = count
        assert _are_heaped(np.arange(100.0), counts) == heaped


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.minimum(np.round(rng.normal(82, 14, 600)), 100),
        lambda rng: np.clip(np.round(rng.normal(50, 30, 400)), 0, 100),
        lambda rng: np.maximum(np.round(rng.normal(size=1000) * 20) / 20, -1.75),
        lambda rng: np.maximum(rng.normal(size=1000), -1.75),
    ],
)
def test_small_piles_at_a_limit_are_no_modes(draw):
    """Four to ten per cent of the values, on a grid whose other values have two or three: nearly all were rejected."""
    found = [jitter_ties(draw(np.random.default_rng(i)), np.random.default_rng(0)).limits for i in range(20)]
    assert sum(map(bool, found)) >= 14
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        assert sum(es.cluster_test(draw(np.random.default_rng(i)), rng=i).pvalue <= 0.05 for i in range(20)) <= 5


def test_modes_at_an_end_are_no_limits(rng):
    """Counts that fall from 0, a uniform scale, and a few zeros far from all others."""
    assert not jitter_ties(np.floor(rng.exponential(10, 2000)), rng).limits
    assert not jitter_ties(rng.integers(0, 101, 2000).astype(float), rng).limits
    apart = np.append(np.round(rng.normal(50, 8, 400)), np.zeros(30))
    assert not any(not limit.apart for limit in jitter_ties(apart, rng).limits)


def test_values_that_single_precision_or_z_scores_part_are_tied():
    """One rounded normal, half of it computed otherwise: 28 of 30 and 15 of 40 were rejected."""
    rng, single = np.random.default_rng(0), np.float32
    k = np.rint(rng.normal(20, 4, 200))
    one = np.where(
        np.arange(200) % 2, k.astype(single) * single(0.1), (k - 1).astype(single) * single(0.1) + single(0.1)
    )
    other = np.where(rng.random(200) < 0.5, k * 0.1, 0.1 * (k - 1) + 0.1)
    for x, standardize in ((one, False), (other, False), (other, True)):
        d = Dissimilarity.from_data(x, metric="euclidean", alpha=1.0, standardize=standardize)
        spread = jitter_ties(d.points[:, 0], rng, rounding=scores.rounding_of_column(d, 0))
        unit = 1.0 if d.standardization is None else float(d.standardization.scale[0])
        assert spread.width * unit == pytest.approx(0.1, rel=0.2)


def two_digits(x):
    return np.array([float(f"{value:.2g}") for value in x])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: np.log(two_digits(rng.lognormal(0, 0.3, 1000))),
        pytest.param(lambda rng: two_digits(rng.normal(1, 0.2, 1000)), marks=pytest.mark.slow),
        pytest.param(lambda rng: -np.log10(two_digits(10 ** -rng.normal(7, 0.15, 2000))), marks=pytest.mark.slow),
        pytest.param(lambda rng: 1 / two_digits(rng.lognormal(0, 0.3, 2000)), marks=pytest.mark.slow),
    ],
)
def test_two_significant_digits_make_no_modes(draw):
    """Steps change tenfold at powers of ten: .4 to .95 of such samples were rejected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        assert sum(es.cluster_test(draw(np.random.default_rng(i)), rng=i).pvalue <= 0.05 for i in range(15)) <= 3


def test_results_are_kept_by_content_and_type_of_short_arrays():
    calls = []

    @keeping_results
    def add_up(x, counts):
        calls.append(x.size)
        return float(x @ counts)

    x, counts = np.array([1.5, 2.0]), np.array([3, 1])
    assert [add_up(x, counts), add_up(x.copy(), counts.copy())] == [6.5, 6.5]
    assert add_up(x[::-1], counts) == 7.5
    assert add_up(x, counts.astype(np.uint8)) == 6.5
    assert calls == [2, 2, 2]
    long = np.ones(KEPT_UP_TO + 1)
    assert add_up(long, long) == add_up(long, long) == long.size
    assert calls[3:] == [long.size] * 2


def test_the_results_asked_for_last_are_kept(monkeypatch):
    monkeypatch.setattr(kept_results, "KEPT_IN_ALL", 6)
    calls = []

    @keeping_results
    def total(x):
        calls.append(float(x[0]))
        return float(x.sum())

    a, b, c = (np.full(2, value) for value in (1.0, 2.0, 3.0))
    for x in (a, b, c, a):
        total(x)
    assert calls == [1.0, 2.0, 3.0]
    total(np.full(2, 4.0))  # b was asked for longest ago
    assert [total(a), total(c), total(b)] == [2.0, 6.0, 4.0]
    assert calls == [1.0, 2.0, 3.0, 4.0, 2.0]


def test_ratios_are_looked_for_among_tied_values_alone(rng, monkeypatch):
    """In a table of thousands of columns that search was most of the time."""

    def refuse(values):
        raise AssertionError("no values are tied")

    monkeypatch.setattr(scores, "_find_ratios", refuse)
    X = rng.normal(size=(30, 4))
    es.cluster_test(X, n_splits=1, n_resamples=9, rng=0)
    X[0, 1] = X[1, 1]
    with pytest.raises(AssertionError, match="no values are tied"):
        es.cluster_test(X, n_splits=1, n_resamples=9, rng=0)
