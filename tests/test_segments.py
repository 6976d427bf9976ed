"""Segments of ordered rows: the smallest W over all segmentations, breaks one by one, and their permutation tests."""

import datetime
import itertools
import json
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.stats import binom

import energystats as es
from energystats._core.labelings import draw_key
from energystats._core.order_loops import fill_sums_before
from energystats._core.segments import (
    cut_at_penalty,
    cut_into_runs,
    draw_orders,
    enumerate_orders,
    join_neighbours,
    scan_orders,
    standardize_breaks,
)
from energystats.clustering import cells
from energystats.clustering import segments as segments_module
from energystats.dissimilarity import Dissimilarity
from energystats.distribution_tests import segment_test as module
from energystats.pairs import ordered
from tests.conftest import sweep
from tests.simulations import ROWS_OF_ONE_LAW

FEW = {"n_resamples": 99, "rng": 0}


def rho_of(X, alpha=1.0):
    """All values of rho, as the definition reads."""
    X = np.asarray(X, dtype=float).reshape(len(X), -1)
    return np.linalg.norm(X[:, None] - X, axis=2) ** alpha


def within_of(R, edges):
    """W of consecutive segments: for each half of its mean rho times its size [theory 3]."""
    parts = [R[low:high, low:high] for low, high in itertools.pairwise(edges)]
    return sum(len(part) / 2 * part.mean() for part in parts)


def all_segmentations(n, k, min_size):
    for breaks in itertools.combinations(range(1, n), k - 1):
        edges = (0, *breaks, n)
        if min(np.diff(edges)) >= min_size:
            yield edges


def between_of(R, first):
    """S of some rows and the others."""
    n, others = len(R), np.setdiff1d(np.arange(len(R)), first)
    parts = [R[np.ix_(rows, rows)] for rows in (first, others)]
    return n / 2 * R.mean() - sum(len(part) / 2 * part.mean() for part in parts)


def moments_of(R, b):
    """Mean and standard deviation of S over all sets of b rows, which are first in equally many orders."""
    values = [between_of(R, first) for first in itertools.combinations(range(len(R)), b)]
    return np.mean(values), np.std(values)


def z_of(R, min_size):
    """Z of all cuts into two segments, and of all runs inside, of few rows in another order."""
    n = len(R)
    sizes = range(min_size, n - min_size + 1)
    moments = {b: moments_of(R, b) for b in sizes}

    def z(rows):
        (mean, sd), b = moments[len(rows)], len(rows)
        return 0.0 if sd <= 1e-6 * mean else (between_of(R, rows) - mean) / sd * (4 * b * (n - b) / n**2) ** 0.25

    def of_order(order):
        inside = [
            0.6 * z(order[i:j]) for i, j in itertools.combinations(range(n), 2)
            if i >= min_size and n - j >= min_size and j - i >= min_size
        ]  # fmt: skip
        return np.array([z(order[:b]) for b in sizes]), np.array(inside)

    return of_order


def largest_z(R, min_size):
    """The largest of them, as a function of the order."""
    z = z_of(R, min_size)
    return lambda order: np.concatenate(z(np.array(order))).max()


def divide_plainly(R, k, min_size):
    """e.divisive: the best cut of any segment, k - 1 times."""
    edges = [0, len(R)]
    for _ in range(k - 1):
        options = [b for b in range(1, len(R)) if b not in edges]
        tried = [sorted([*edges, b]) for b in options]
        tried = [each for each in tried if min(np.diff(each)) >= min_size]
        if not tried:
            return None
        edges = min(tried, key=lambda each: within_of(R, each))
    return edges


tables = st.integers(4, 11).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=n, max_size=n)
)


# ---------------------------------------------------------------- the best segments


@given(tables, st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=60)
def test_no_segmentation_has_a_smaller_w(rows, k, min_size, alpha):
    X = np.array(rows, dtype=float)
    if k * min_size > len(X):
        with pytest.raises(ValueError, match="`k` must be at most"):
            es.segment(X, k, min_size=min_size)
        return
    R = rho_of(X, alpha)
    found = es.segment(X, k, min_size=min_size, alpha=alpha)
    for j in range(1, k + 1):
        best = min(within_of(R, edges) for edges in all_segmentations(len(X), j, min_size))
        assert_allclose(found.within_by_k[j - 1], best, atol=1e-12)
        assert_allclose(within_of(R, (0, *found.breakpoints_by_k[j - 1], len(X))), best, atol=1e-12)
    assert_allclose(found.within, found.within_by_k[-1], atol=1e-12)
    assert_allclose(found.within + found.between, found.total)
    assert_allclose(found.total, within_of(R, (0, len(X))), atol=1e-12)
    assert_allclose(found.within_per_segment.sum(), found.within)
    assert min(found.sizes) >= min_size
    assert found.labels.tolist() == np.repeat(np.arange(k), found.sizes).tolist()
    assert found.breakpoints.tolist() == np.cumsum(found.sizes)[:-1].tolist()


@given(tables, st.integers(2, 4), st.integers(1, 2))
@settings(max_examples=40)
def test_w_is_never_above_that_of_breaks_found_one_by_one(rows, k, min_size):
    X = np.array(rows, dtype=float)
    if k * min_size > len(X):
        return
    edges = divide_plainly(rho_of(X), k, min_size)
    if edges is not None:
        assert es.segment(X, k, min_size=min_size).within <= within_of(rho_of(X), edges) + 1e-12


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_the_reversed_order_has_the_mirrored_segments(seed, k):
    X = np.random.default_rng(seed).normal(size=(17, 2))  # no ties
    there, back = es.segment(X, k), es.segment(X[::-1], k)
    assert back.breakpoints.tolist() == (17 - there.breakpoints[::-1]).tolist()
    assert_allclose(there.within, back.within)


def test_of_ties_the_first_cut_is_taken_whatever_the_unit():
    x = np.array([0, 1, 0, 1, 0, 1, 0, 1]) / 3 + 1e3
    R = rho_of(x)
    for k in (2, 3, 4):
        best = [edges for edges in all_segmentations(8, k, 2) if abs(within_of(R, edges) - min(
            within_of(R, other) for other in all_segmentations(8, k, 2))) < 1e-9]  # fmt: skip
        last_first = min(best, key=lambda edges: edges[::-1])  # the last cut as early as can be, then the one before it
        for unit in (1.0, 0.1, 1e5 / 7):
            assert es.segment(unit * x, k).breakpoints.tolist() == list(last_first[1:-1])


@pytest.mark.parametrize("penalty", [0.0, 0.4, 1.0, 3.0, 1e9])
def test_a_penalty_chooses_the_number_of_segments(penalty, rng):
    x = rng.normal(size=12) + np.repeat([0.0, 3, 1], 4)
    R = rho_of(x)
    costs = {k: min(within_of(R, e) for e in all_segmentations(12, k, 2)) + penalty * (k - 1) for k in range(1, 7)}
    found = es.segment(x, penalty=penalty)
    assert found.k == min(costs, key=costs.get)
    assert_allclose(found.within + penalty * (found.k - 1), min(costs.values()))
    assert f"the smallest W + {1e9 if penalty == 1e9 else penalty:.10g} (k - 1)" in " ".join(found.summary().split())


def test_how_many_segments_is_not_guessed():
    with pytest.raises(ValueError, match="`segment_test` finds breaks one by one"):
        es.segment(np.arange(9.0))
    with pytest.raises(ValueError, match="give one of them"):
        es.segment(np.arange(9.0), 2, penalty=1)
    with pytest.raises(ValueError, match="`penalty` must be 0 or positive"):
        es.segment(np.arange(9.0), penalty=-1)


def test_blocks_of_rows_make_no_difference(monkeypatch, rng):
    X = rng.normal(size=(70, 2))
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    one = cut_into_runs(ordered.lines_before(d), np.ones(70), 5, 3, 1e-9)
    monkeypatch.setattr(ordered, "LINE_BYTES", 4096)
    blocks = list(ordered.lines_before(d))
    assert len(blocks) > 10
    many = cut_into_runs(iter(blocks), np.ones(70), 5, 3, 1e-9)
    assert (one.within == many.within).all()
    assert (one.starts == many.starts).all()
    k = cut_at_penalty(iter(blocks), np.ones(70), 0.5, 3, 1e-9)
    wide = cut_into_runs(iter(blocks), np.ones(70), 23, 3, 1e-9).within[1:, -1] + 0.5 * np.arange(23)
    assert k == wide.argmin() + 1


def test_memory_does_not_grow_with_pairs():
    """The result keeps mean rho between runs of a few rows, not between all rows."""
    X = np.random.default_rng(0).normal(size=(3000, 1))
    found = es.segment(X, 3)
    assert found.block_sums.shape[0] <= 250
    assert_allclose(found.block_sums.sum() / (2 * 3000), found.total)


# ---------------------------------------------------------------- many rows


def many(n, seed=0, d=2):
    """Rows whose mean changes at a third and spread at two thirds; and these places."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    X[n // 3 :] += 1.5
    X[2 * n // 3 :] *= 2
    return X, [n // 3, 2 * n // 3]


def city_block(A, B):
    return np.abs(A[:, None] - B).sum(axis=2)


def said(result):
    return " ".join(result.summary().split())


@given(tables, st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=40)
def test_cells_of_one_row_and_all_points_as_landmarks_leave_nothing_out(rows, k, min_size, alpha):
    X = np.array(rows, dtype=float)
    if k * min_size > len(X):
        return
    how = {"min_size": min_size, "alpha": alpha}
    exact, found = es.segment(X, k, exact=True, **how), es.segment(X, k, exact=False, **how)
    assert_allclose(found.within_by_k, exact.within_by_k, atol=1e-8)
    assert_allclose(found.within_limits, [exact.within] * 2, atol=1e-8)
    assert_allclose([found.within, found.between, found.total], [exact.within, exact.between, exact.total], atol=1e-8)
    assert_allclose(within_of(rho_of(X, alpha), [0, *found.breakpoints, len(X)]), exact.within, atol=1e-8)


@pytest.mark.parametrize(
    "how",
    [{}, {"alpha": 0.5}, {"alpha": 2.0}, {"metric": "gaussian"}, {"metric": "manhattan"}, {"standardize": True}],
    ids=str,
)
@pytest.mark.parametrize("n", [1501, 2003])
def test_cells_come_near_the_smallest_w(n, how, monkeypatch):
    monkeypatch.setattr(cells, "CELLS", 400)
    X, places = many(n)
    exact, found = es.segment(X, 3, exact=True, **how), es.segment(X, 3, exact=False, **how)
    assert (exact.exact, found.exact) == (True, False)
    own = es.dispersion(X, found.labels, **how)
    low, high = found.within_limits
    rounding = 1e-9 * exact.total
    assert exact.within - rounding <= own.within <= min(high, 1.0005 * exact.within) + rounding
    assert low - rounding <= own.within
    assert_allclose(found.within, high)
    assert found.within <= 1.01 * own.within
    assert found.between <= own.between + rounding
    assert_allclose(found.within + found.between, found.total)
    assert found.within_by_k[-1] == pytest.approx(found.within)
    assert (np.diff(found.within_by_k) < 0).all()
    if "alpha" not in how or how["alpha"] < 2:
        assert np.abs(found.breakpoints - exact.breakpoints).max() <= 60
        assert np.abs(found.breakpoints - places).max() <= 200


@given(
    st.integers(2, 700), st.integers(1, 6), st.integers(1, 30), st.integers(0, 9), st.sampled_from([7, 50, 4000]),
    st.sampled_from([4, 256]),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_segments_of_cells_are_segments(n, k, min_size, seed, n_cells, n_landmarks):
    """Ties, few landmarks, and rows that fill no whole number of cells."""
    X = np.random.default_rng(seed).integers(0, 2 + seed, (n, 1)).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "CELLS", n_cells)
        patch.setattr(cells, "LANDMARKS", n_landmarks)
        if k > cells.most_segments(n, min_size):
            with pytest.raises(ValueError, match=r"`k` must be at most|`min_size` must be|`exact=False` needs at most"):
                es.segment(X, k, min_size=min_size, exact=False)
            return
        found = es.segment(X, k, min_size=min_size, exact=False)
    assert found.k == len(found.sizes) == k
    assert min(found.sizes) >= min_size
    assert found.labels.tolist() == np.repeat(np.arange(k), found.sizes).tolist()
    assert found.breakpoints.tolist() == np.cumsum(found.sizes)[:-1].tolist() == list(found.breakpoints_by_k[-1])
    R = rho_of(X)
    own = within_of(R, [0, *found.breakpoints, n])
    low, high = found.within_limits
    assert low - 1e-8 * n <= own <= high + 1e-8 * n
    assert_allclose(found.within, high, atol=1e-8 * n)
    # what pictures show: W of the whole, not below the true one
    assert found.block_sizes.sum() == n
    assert found.block_sums.sum() / (2 * n) >= within_of(R, [0, n]) - 1e-8 * n


def test_breaks_move_to_the_row_where_w_is_smallest(monkeypatch):
    """One cell on either side of a break holds the place; W from all pairs tells where."""
    monkeypatch.setattr(cells, "CELLS", 10)
    x = np.r_[np.zeros(233), np.ones(267)] + 0.1 * np.sin(np.arange(500))
    found = es.segment(x, 2, exact=False)
    assert found.breakpoints.tolist() == [233]
    assert found.breakpoints_by_k == ((), (233,))
    assert found.within < 0.9 * within_of(rho_of(x), [0, 250, 500])
    # and no further than `min_size` allows
    assert es.segment(x, 2, exact=False, min_size=240).breakpoints.tolist() == [240]


@pytest.mark.parametrize("penalty", [0.0, 1.0, 20.0, 1e9])
def test_a_penalty_chooses_the_number_of_segments_of_cells(penalty):
    X, _ = many(150)
    exact, found = es.segment(X, penalty=penalty, exact=True), es.segment(X, penalty=penalty, exact=False)
    assert found.k == exact.k
    assert_allclose(found.within, exact.within)


@pytest.mark.slow
def test_above_20_000_rows_a_cut_says_that_it_is_not_exact():
    X, places = many(20_001, d=1)
    found = es.segment(X, 3)
    assert not found.exact
    assert np.abs(found.breakpoints - places).max() <= 100
    note = f"Not exact: of 20001 rows the best cut between cells of {-(-20_001 // 4000)} consecutive rows"
    assert found.notes[0].startswith(note)
    assert note in said(found)
    assert "`exact=True` reads all pairs" in said(found)
    assert "No other 3 segments" not in said(found)
    assert not found.to_frame(full=True)["exact"].any()
    plain = es.segment(X[:, 0], 3)  # there is no seed
    assert plain.breakpoints.tolist() == found.breakpoints.tolist()
    assert plain.within == found.within
    # up to 20,000 rows all pairs are read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments_module, "EXACT_UP_TO", 100)
        assert es.segment(X[:100], 3).exact
        assert not es.segment(X[:101], 3).exact
        whole = es.segment(X[:101], 3, exact=True)
        assert whole.exact
        assert not whole.notes
        assert "No other 3 segments" in said(whole)
        # where cells do not serve, all pairs are read
        R = rho_of(X[:101])
        assert es.segment(R, 2, metric="precomputed").exact
        assert es.segment(X[:101], 2, metric=city_block).exact
        patch.setattr(cells, "CELLS", 10)
        assert es.segment(X[:101], 11).exact
        assert not es.segment(X[:101], 10).exact


def test_threads_make_no_difference_to_cells():
    from threadpoolctl import threadpool_limits

    X, _ = many(5000, d=3)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(es.segment(X, 4, exact=False))
    assert found[0].within == found[1].within
    assert found[0].breakpoints.tolist() == found[1].breakpoints.tolist()
    assert (found[0].block_sums == found[1].block_sums).all()


def test_an_order_is_that_of_the_rows_between_cells(rng):
    X, _ = many(900)
    place = rng.permutation(900)
    shuffled = pd.DataFrame(X[place], columns=["a", "b"]).assign(place=place)
    found, plain = es.segment(shuffled, 3, order="place", exact=False), es.segment(X, 3, exact=False)
    assert found.breakpoints.tolist() == plain.breakpoints.tolist()
    assert found.labels.tolist() == plain.labels[place].tolist()
    assert found.breaks == tuple(plain.breakpoints.tolist())
    for draw in (found.plot, found.plot_distances, found.plot_strata, found.plot_within):
        draw()
    plt.close("all")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "precomputed"}, "needs points in memory, got a matrix of rho; leave it out"),
        ({"metric": city_block}, "needs a rho that is known to be of negative type, got"),
        ({"k": 9, "min_size": 4}, "`k` must be at most 7"),
    ],
)
def test_where_cells_do_not_serve(how, message):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = rho_of(X) if how.get("metric") == "precomputed" else X
    with pytest.raises(ValueError, match=message):
        es.segment(X, exact=False, **{"k": 2, **how})
    with pytest.raises(TypeError, match="`exact` must be"):
        es.segment(np.arange(9.0), 2, exact="bins")


def test_constant_rows_are_cut_between_cells():
    found = es.segment(np.ones((50, 2)), 3, exact=False)
    assert found.k == 3
    assert found.within == found.total == 0


# ---------------------------------------------------------------- against R and ruptures

BREAKS = json.loads((Path(__file__).parent / "oracles_segments" / "breaks.json").read_text())


@pytest.mark.parametrize("name", ["nile", "coal"])
def test_strucchange(name):
    """With alpha = 2, W is the residual sum of squares about the means of segments."""
    known = BREAKS[name]
    found = es.segment(es.datasets.load(name), 6, alpha=2.0, min_size=5, order="year")
    assert_allclose(found.within_by_k, known["rss"])
    last = [np.atleast_1d(places).tolist() for places in known["last_of_segment"]]
    assert [list(breaks) for breaks in found.breakpoints_by_k[1:]] == last


DIVISIVE = json.loads((Path(__file__).parent / "oracles_segments" / "divisive.json").read_text())


def series_of(name):
    """The series of R's values: with their order, as numbers, and how it is tested here."""
    if name == "core":
        frame = pd.read_csv(Path(__file__).parent / "oracles_segments" / "core.csv")
        counts = frame.iloc[:, :5].to_numpy(dtype=float)
        roots = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
        return frame, roots, {"order": "depth", "metric": "hellinger", "min_size": 5}
    frame = es.datasets.load(name)
    return frame, frame.iloc[:, 1:].to_numpy(dtype=float), {"order": "year", "min_size": 10}


@pytest.mark.parametrize("name", ["nile", "coal", "core"])
def test_the_breaks_of_ecp(name):
    """e.divisive declares the same breaks; its first p is the smallest, too, and its last is not rejected."""
    known = DIVISIVE[name]["e_divisive"]
    frame, _, how = series_of(name)
    found = es.segment_test(frame, n_resamples=999, rng=0, **how)
    assert [0, *found.breakpoints.tolist(), len(frame)] == [first - 1 for first in known["first_of_segment"]]
    assert found.pvalue == known["p"][0] == 0.001
    assert known["p"][-1] > 0.05 < found.tests[-1].pvalue


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("name", ["nile", "coal", "core"])
def test_w_is_never_above_that_of_coniss(name, alpha):
    """rioja's chclust joins neighbouring rows one by one; ours is the smallest W of all cuts, and T its last height."""
    _, X, _ = series_of(name)
    known = DIVISIVE[name]["coniss"][f"{alpha:g}"]
    best = es.segment(X, 8, alpha=alpha, min_size=1).within_by_k
    R = rho_of(X, alpha)
    assert known["height"] == pytest.approx(best[0], rel=1e-10)
    ratios = [within_of(R, [0, *breaks, len(X)]) / best[k - 1] for k, breaks in enumerate(known["breaks_by_k"], 2)]
    assert min(ratios) >= 1 - 1e-12
    assert 1.01 < max(ratios) < 1.1


@pytest.mark.parametrize(("name", "year"), [("nile", 1899), ("coal", 1892)])
def test_the_first_break_is_that_of_e_divisive(name, year):
    """q(tau, kappa) of Matteson & James (2014): m n/(m + n) E, means over pairs of different rows, kappa free."""
    frame = es.datasets.load(name)
    R = rho_of(frame.iloc[:, 1])
    n = len(R)

    def q(tau, kappa):
        a, b = tau, kappa - tau
        own = [
            R[low:high, low:high].sum() / ((high - low) * (high - low - 1)) for low, high in ((0, tau), (tau, kappa))
        ]
        return a * b / (a + b) * (2 * R[:tau, tau:kappa].mean() - sum(own))

    tau, _ = max(((t, k) for t in range(10, n - 9) for k in range(t + 10, n + 1)), key=lambda pair: q(*pair))
    found = es.segment_test(frame, order="year", n_resamples=199, rng=0)
    assert found.breaks == (frame["year"][tau],) == (year,)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_ruptures(k, rng):
    """Its cost is W of rho = k(x, x) + k(y, y) - 2 k(x, y); it keeps the exponent within .01 and 100, as a float."""
    ruptures = pytest.importorskip("ruptures")
    X = rng.normal(size=(120, 2)) + np.repeat(rng.normal(size=(6, 2)) * 2, 20, axis=0)
    there = ruptures.KernelCPD(kernel="rbf", params={"gamma": 0.5}, min_size=3, jump=1).fit(X).predict(n_bkps=k - 1)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    kernel = np.exp(-np.clip((squares / 2).astype(np.float32), 0.01, 100).astype(float))
    R = 2 * (kernel[0, 0] - kernel)
    assert [*es.segment(R, k, metric="precomputed", min_size=3).breakpoints.tolist(), 120] == there
    line = ruptures.Dynp(model="l2", min_size=2, jump=1).fit(X)
    assert [*es.segment(X, k, alpha=2.0).breakpoints.tolist(), 120] == line.predict(n_bkps=k - 1)


# ---------------------------------------------------------------- one pass for many orders


@given(st.integers(4, 9), st.integers(1, 3), st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_largest_z_of_every_order(n, min_size, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 2)).astype(float)
    if n < 2 * min_size:
        return
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    orders = np.array([np.arange(n), *(rng.permutation(n) for _ in range(5))], dtype=np.int32)
    found = scan_orders(ordered.panels_of(d, slice(0, n)), orders, min_size)
    R = rho_of(X)
    z = z_of(R, min_size)
    for order, best in zip(orders, found.best, strict=True):
        assert_allclose(best, np.concatenate(z(order)).max(), atol=1e-6)
    inside = slice(min_size - 1, n - min_size)
    cuts, runs = z(np.arange(n))
    assert_allclose(found.profile[inside], cuts, atol=1e-6)
    assert (found.run[0] == 0) == (cuts.max() >= max(runs, default=-np.inf) - 1e-6) or abs(
        cuts.max() - runs.max()
    ) < 1e-6
    S = [within_of(R, (0, n)) - within_of(R, (0, b, n)) for b in range(min_size, n - min_size + 1)]
    assert_allclose(found.between[inside], S, atol=1e-12)
    for values in (found.profile, found.between):
        assert np.isnan(values[: min_size - 1]).all()
        assert np.isnan(values[n - min_size :]).all()


def test_s_that_is_the_same_in_all_orders_tells_nothing():
    """Points that are all equally far from each other."""
    R = 1.0 - np.eye(12)
    mean, weights = standardize_breaks(R.sum(axis=0), float((R**2).sum()), 2)
    assert_allclose(mean, 0.5)
    assert (weights == 0).all()
    found = es.segment_test(R, metric="precomputed", **FEW)
    assert found.pvalue == 1
    assert found.statistic == 0


def test_the_compiled_loop_and_its_plain_form_agree_to_the_last_bit(rng):
    tile, orders = rng.normal(size=(50, 7)), np.array([rng.permutation(50) for _ in range(9)], dtype=np.int32)
    found = []
    for fill in (fill_sums_before, fill_sums_before.py_func):
        before, runs = np.zeros((9, 50)), np.zeros((9, 13, 13))
        fill(tile, 20, orders, 4, before, runs)
        found.append((before, runs))
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()
    before, runs = found[0]
    t = int(np.flatnonzero(orders[3] == 24)[0])
    assert_allclose(before[3, t], tile[orders[3, :t], 4].sum())
    # places 8 to 11 are cell 2; from place 4 on is cell 1
    inside = [(t, orders[3, t]) for t in range(8, 12) if 20 <= orders[3, t] < 27]
    assert_allclose(runs[3, 2, 1], sum(tile[orders[3, 4:t], row - 20].sum() for t, row in inside))


def test_runs_inside_of_many_rows_end_between_cells(rng):
    X = rng.normal(size=(100, 2)) + 5 * ((np.arange(100) >= 39) & (np.arange(100) < 66))[:, None]
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    orders = np.arange(100, dtype=np.int32)[None]
    found = scan_orders(ordered.panels_of(d, slice(0, 100)), orders, 2)
    assert found.run == (39, 66)  # of three rows each
    R = rho_of(X)
    mean, weights = standardize_breaks(R.sum(axis=0), float((R**2).sum()), 2)
    assert_allclose(found.best[0], 0.6 * (between_of(R, np.arange(39, 66)) - mean) * weights[27 - 2])
    tested = es.segment_test(X, rng=0)
    assert tested.tests[0].run == (39, 65)
    assert {39, 66} <= set(tested.breakpoints.tolist())
    assert "Break 1: its Z is that of the rows from 39 to 65 against the others" in " ".join(tested.summary().split())


@pytest.mark.parametrize("coarse", [1e6, 1e11, 1e14])
def test_ties_are_judged_on_the_scale_of_their_segment(coarse, rng):
    """Beside rows of 1e9 all cuts of a segment of rows of 1 were tied, and its first row began the second part."""
    fine = rng.normal(size=30) + 100 * (np.arange(30) >= 15)
    found = es.segment_test(np.concatenate([coarse * (100 + rng.normal(size=30)), fine]), max_breaks=2, rng=0)
    assert found.breakpoints.tolist() == [30, 45]
    assert found.tests[1].pvalue == 0.005


def test_panels_change_rounding_alone_and_threads_nothing(monkeypatch, rng):
    from threadpoolctl import threadpool_limits

    X, first = rng.normal(size=(200, 3)), None
    for columns in (64, 17, 200):
        monkeypatch.setattr(ordered, "PANEL_COLUMNS", columns)
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads, user_api="blas"):
                found.append(es.segment_test(X, n_resamples=199, rng=7))
        assert (found[0].null_distribution == found[1].null_distribution).all()
        first = found[0] if first is None else first
        assert_allclose(found[0].null_distribution, first.null_distribution, rtol=1e-11)
        assert found[0].pvalue == first.pvalue


def test_orders_move_whole_blocks():
    key = draw_key(np.random.default_rng(3))
    orders = draw_orders(11, 3, 130, key)
    assert orders.shape == (130, 11)
    assert (np.sort(orders, axis=1) == np.arange(11)).all()
    assert (orders[:, 9:] == [9, 10]).all()  # they fill no block
    starts = orders[:, [0, 3, 6]]
    assert (starts % 3 == 0).all()
    assert (orders[:, 1] == orders[:, 0] + 1).all()
    assert len(np.unique(starts, axis=0)) == 6
    # the first orders do not depend on how many there are, and segments have streams of their own
    assert (draw_orders(11, 3, 65, key) == orders[:65]).all()
    assert not (draw_orders(11, 3, 130, key, series=1) == orders).all()
    everything = enumerate_orders(11, 3)
    assert everything.shape == (6, 11)
    assert (everything[0] == np.arange(11)).all()


# ---------------------------------------------------------------- p-values


@pytest.mark.parametrize(
    "x", [[0.1, 0.3, 0.2, 5.1, 5.3, 5.2], [1, 1, 0, 0, 1, 0], [2.0] * 6, [0.1 + 0.2, 0.3, 0.3, 1, 1]]
)
def test_exact_p_is_the_share_of_all_orders(x):
    z = largest_z(rho_of(x), 2)
    values = [z(order) for order in itertools.permutations(range(len(x)))]
    observed = values[0]
    found = es.segment_test(x, rng=0)
    assert found.method == "exact"
    assert found.n_resamples == math.factorial(len(x))
    assert_allclose(found.pvalue, np.mean(np.array(values) >= observed - 1e-7))
    assert_allclose(found.statistic, observed, atol=1e-7)


def test_exact_p_of_blocks():
    x = np.array([0, 0.2, 0.1, 0.3, 4, 4.1, 4.3, 4.2, 1.0])
    R = rho_of(x)
    orders = [
        [row for block in blocks for row in (2 * block, 2 * block + 1)] + [8]
        for blocks in itertools.permutations(range(4))
    ]
    z = largest_z(R, 2)
    values = np.array([z(order) for order in orders])
    found = es.segment_test(x, block_length=2, rng=0)
    assert (found.method, found.n_resamples) == ("exact", 24)
    assert_allclose(found.pvalue, np.mean(values >= values[0] - 1e-9))
    assert "4 blocks of 2 rows" in found.null_hypothesis
    assert "the last 1 rows aside" not in es.segment_test(x[:8], block_length=2, rng=0).null_hypothesis


def test_later_breaks_are_tested_within_the_segments_that_are_there():
    """With few rows each: all orders of one segment with all of the other."""
    x = np.array([0.0, 0.1, 9, 9.2, 0.3, 0.2, 9.1])
    found = es.segment_test(x, level=0.9, min_size=1, rng=0)
    first, second = found.tests[:2]
    b = first.breakpoint
    R = rho_of(x)
    parts = [largest_z(R[low:high, low:high], 1) for low, high in ((0, b), (b, 7))]
    each = [
        [z(order) for order in itertools.permutations(range(size))]
        for z, size in zip(parts, (b, 7 - b), strict=True) if size >= 2
    ]  # fmt: skip
    values = [max(pair) for pair in itertools.product(*each)]
    assert_allclose(second.pvalue, np.mean(np.array(values) >= values[0] - 1e-9))
    assert_allclose(second.statistic, values[0])
    assert second.method == "exact"


def test_random_p_is_near_the_exact_one(monkeypatch):
    x = np.array([0.3, 0.1, 1.2, 0.2, 1.4, 1.1, 0.9])
    exact = es.segment_test(x, rng=0).pvalue
    monkeypatch.setattr(module, "EXACT_UP_TO", 1)
    monkeypatch.setattr(module, "count_orders", lambda units: 1e9)
    found = es.segment_test(x, n_resamples=4999, rng=1)
    assert found.method == "permutation"
    assert abs(found.pvalue - exact) < 4 * math.sqrt(exact * (1 - exact) / 4999)
    low, high = found.pvalue_interval
    assert low < found.pvalue < high


def test_breaks_are_found_one_by_one(rng):
    X = np.concatenate((rng.normal(0, 1, (40, 2)), rng.normal(3, 1, (30, 2)), rng.normal(0, 1, (30, 2))))
    found = es.segment_test(X, level=0.001, n_resamples=999, rng=0)
    assert found.k == 3
    assert np.abs(found.breakpoints - [40, 70]).max() <= 3
    assert [test.declared for test in found.tests] == [True, True, False]
    assert found.pvalue == found.tests[0].pvalue == 0.001
    edges = [0, *found.breakpoints.tolist(), 100]
    assert_allclose(found.within, within_of(rho_of(X), edges))
    assert_allclose(found.within + found.between, found.total)
    # every S is what its break lowers W by
    lowered = [within_of(rho_of(X), sorted({0, 100, *(t.breakpoint for t in found.tests[:j])})) for j in range(3)]
    assert_allclose([t.between for t in found.tests[:2]], -np.diff(lowered))
    assert es.segment(X, 3).within <= found.within + 1e-9
    one = es.segment_test(X, max_breaks=1, n_resamples=999, rng=0)
    assert len(one.tests) == 1
    assert one.pvalue == found.pvalue
    assert one.breakpoints.tolist() == [found.tests[0].breakpoint]


@pytest.mark.parametrize("change", ["mean", "spread", "correlation", "tail"])
def test_changes_of_every_kind_are_found(change):
    rng = np.random.default_rng(5)
    n = 200
    first = rng.normal(size=(n, 5 if change == "correlation" else 2))
    second = {
        "mean": lambda: rng.normal(size=(n, 2)) + 1,
        "spread": lambda: 2.5 * rng.normal(size=(n, 2)),
        "correlation": lambda: rng.multivariate_normal(np.zeros(5), np.full((5, 5), 0.9) + 0.1 * np.eye(5), n),
        "tail": lambda: rng.standard_t(1, (n, 2)),
    }[change]()
    found = es.segment_test(np.concatenate((first, second)), max_breaks=1, n_resamples=199, min_size=20, rng=0)
    assert found.pvalue == 0.005
    assert abs(found.breakpoints[0] - n) < 40


def test_the_default_has_199_orders_and_says_when_p_is_the_smallest():
    shifted = np.r_[np.zeros(15), np.ones(15)] + np.linspace(0, 0.1, 30)
    found = es.segment_test(shifted, rng=0)
    assert (found.n_resamples, found.pvalue) == (199, 1 / 200)
    said = " ".join(found.summary().split())
    assert "p-value by 199 random orders" in said
    assert "It is the smallest that so many can give." in said
    even = es.segment_test(np.random.default_rng(3).permutation(30), rng=0)
    assert even.pvalue > 1 / 200
    assert "the smallest that so many" not in even.summary()


def test_equal_rows_have_no_break():
    found = es.segment_test(np.ones((12, 2)), rng=0)
    assert found.pvalue == 1
    assert found.k == 1
    assert found.breakpoints.size == 0
    assert "no evidence" in found.summary()


# ---------------------------------------------------------------- notes


def autoregressive(n, coefficient, rng, d=1):
    e = rng.normal(size=(n + 50, d))
    for i in range(1, n + 50):
        e[i] += coefficient * e[i - 1]
    return e[50:]


def test_neighbours_that_are_alike_are_noted(rng):
    dependent = es.segment_test(autoregressive(200, 0.7, rng), **FEW)
    assert any("rows that depend on their neighbours are not exchangeable" in note for note in dependent.notes)
    assert not es.segment_test(autoregressive(200, 0.7, rng), block_length=20, **FEW).notes
    told = [bool(es.segment_test(rng.normal(size=60), max_breaks=1, n_resamples=19, rng=0).notes) for _ in range(100)]
    assert sum(told) <= 5


def test_too_few_orders_are_noted():
    found = es.segment_test([1.0, 2.0, 8.0, 9.0], rng=0)
    assert any("no data could give a p-value below 0.33" in note for note in found.notes)
    for n_blocks, floor in ((2, 1 / 2), (3, 1 / 6), (4, 2 / 24), (5, 4 / 120)):
        reached = 1.0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            x = rng.normal(size=6 * n_blocks)
            x[rng.integers(1, x.size) :] += 6
            found = es.segment_test(x, block_length=6, max_breaks=1, n_resamples=199, rng=0)
            (said,) = [note for note in found.notes if "no data could give" in note] or [""]
            assert (f"below {floor:.2g}:" in said) == (floor > 0.05)
            reached = min(reached, found.pvalue)
        assert reached == pytest.approx(floor)
    with pytest.raises(ValueError, match="`n_resamples` must be at least 19"):
        es.segment_test(np.arange(20.0), n_resamples=9)


def test_dates_that_fall_are_noted():
    dates = pd.date_range("2020-01-01", periods=9)[::-1]
    found = es.segment(pd.DataFrame({"x": np.arange(9.0)}, index=dates), 2)
    assert "`X.sort_index()`" in found.notes[0]


@pytest.mark.parametrize(("n", "first", "end"), [(300, 95, 126), (600, 222, 372)])
def test_the_break_of_a_run_inside_is_what_the_summary_says(n, first, end):
    """The best cut of the run and of the rows on one side, which in a long series need be no end of the run."""
    x = np.random.default_rng(1).normal(size=n) * np.where((np.arange(n) >= first) & (np.arange(n) < end), 4.0, 1.0)
    found = es.segment_test(x, max_breaks=1, **FEW)
    test = found.tests[0]
    low, high = test.run[0], test.run[1] + 1
    assert 0 < low < high < n
    profiles = [(start, es.segment_test(x[start:stop], **FEW).profile) for start, stop in ((0, high), (low, n))]
    start, better = max(profiles, key=lambda each: np.nanmax(each[1]))
    assert test.breakpoint == start + 1 + int(np.nanargmax(better))
    assert (test.breakpoint in (low, high)) == (n == 300)
    said = " ".join(found.summary().split())
    assert f"the rows from {low} to {high - 1} against the others" in said
    assert "the break is the best cut of these rows and those on one side of them." in said
    assert "one end of them" not in said


# ---------------------------------------------------------------- the order, and other inputs


@pytest.fixture
def core(rng):
    n = 30
    frame = pd.DataFrame({
        "Pinus": rng.normal(size=n) + 3 * (np.arange(n) >= 18), "Betula": rng.normal(size=n),
        "depth": np.linspace(5, 80, n),
    }, index=[f"s{i}" for i in range(n)])  # fmt: skip
    return frame.sample(frac=1, random_state=2)


def test_rows_are_put_into_their_order(core):
    rising = core.sort_values("depth")
    plain = es.segment(rising[["Pinus", "Betula"]].to_numpy(), 2)
    for order in ("depth", core["depth"], core["depth"].to_numpy(), core["depth"].tolist(),
                  pd.to_datetime("2020-01-01") + pd.to_timedelta(core["depth"], "D")):  # fmt: skip
        X = core if isinstance(order, str) else core[["Pinus", "Betula"]]
        found = es.segment(X, 2, order=order)
        assert found.breakpoints.tolist() == plain.breakpoints.tolist()
        assert found.columns == ("Pinus", "Betula")
        by_name = found.to_series()
        assert by_name.index.equals(core.index)
        assert by_name.loc[rising.index].tolist() == plain.labels.tolist()
        assert core["depth"].iloc[found.rows].is_monotonic_increasing
        assert_allclose(found.within, plain.within)
    found = es.segment(core, 2, order="depth")
    assert found.breaks == (rising["depth"].iloc[plain.breakpoints[0]],)
    assert found.order_name == "depth"
    tested = es.segment_test(core, order="depth", **FEW)
    assert tested.pvalue == es.segment_test(rising[["Pinus", "Betula"]].to_numpy(), **FEW).pvalue


def test_matrices_are_put_into_their_order(core):
    X = core[["Pinus", "Betula"]]
    points = es.segment_test(X, order=core["depth"], **FEW)
    R = es.pairwise(X)
    for matrix in (R, R.to_numpy(), R.to_numpy()[np.triu_indices(30, 1)]):
        order = core["depth"] if matrix is R else core["depth"].to_numpy()
        found = es.segment_test(matrix, metric="precomputed", order=order, **FEW)
        assert found.labels.tolist() == points.labels.tolist()
        assert found.pvalue == points.pvalue
        assert_allclose(found.statistic, points.statistic)
        assert (
            es.segment(matrix, 3, metric="precomputed", order=order).breakpoints.tolist()
            == es.segment(X, 3, order=core["depth"]).breakpoints.tolist()
        )
    with pytest.raises(ValueError, match="which a matrix"):
        es.segment(R, 2, metric="precomputed", order="depth")


def test_places_are_those_of_the_index_where_nothing_else_is_given():
    years = pd.Series(np.r_[np.zeros(10), np.ones(8)], index=pd.RangeIndex(1871, 1889, name="year"), name="flow")
    found = es.segment(years, 2)
    assert found.breaks == (1881,)
    assert found.order_name == "year"
    days = pd.Series(years.to_numpy(), index=pd.date_range("2001-05-01", periods=18))
    assert es.segment(days, 2).breaks == (pd.Timestamp("2001-05-11"),)
    assert "2001-05-11" in es.segment(days, 2).summary()
    assert es.segment(years.to_numpy(), 2).breaks == (10,)


@pytest.mark.parametrize(
    ("order", "error", "message"),
    [
        (["b", "a", "c", "d"], TypeError, "text would be sorted by its letters"),
        (np.array(["10", "9", "8", "7"]), TypeError, "pd.to_datetime"),
        ([1.0, 2.0, np.nan, 3.0], ValueError, "must not be missing, but 1 of 4"),
        ([1, 2, 2, 3], ValueError, "but 2 stands in several: rows"),
        (np.longdouble(2**60) + np.arange(4), ValueError, "in several, to the 16 digits that are kept: rows"),
        ([0.1, 0.2, 0.2, 0.3], ValueError, "but 0.2 stands in several, to the 16 digits that are kept: rows"),
        ([1, 2, 3], ValueError, "one value for each of the 4 rows, got 3"),
        (np.ones((4, 2)), ValueError, "one value a row"),
        ("x", TypeError, "`X` is no data frame"),
        (pd.Categorical(["a", "b", "c", "d"]), TypeError, "ordered=True"),
        ([True, False, True, False], TypeError, "numbers, dates or ordered categories, got bool"),
        (pd.Series([1, 2, 3, 4], index=list("abcd")), None, ""),
    ],
)
def test_orders_that_are_none_are_refused(order, error, message):
    X = np.arange(8.0).reshape(4, 2)
    if error is None:
        X = pd.DataFrame(X, index=list("dcba"))
        error, message = ValueError, "`order` must have the index of the table"
    for call in (lambda: es.segment(X, 2, order=order), lambda: es.segment_test(X, order=order, rng=0)):
        with pytest.raises(error, match=message):
            call()


def test_columns_that_are_no_order_are_refused(core):
    with pytest.raises(ValueError, match=r"'dept' is none of its columns\. Did you mean 'depth'\?"):
        es.segment(core, 2, order="dept")
    with pytest.raises(ValueError, match="a column beside that of the order"):
        es.segment(core[["depth"]], 2, order="depth")


@pytest.mark.parametrize(
    "places",
    [[2**53 + 2 * i + 1 for i in range(18)], [2**70 + i for i in range(18)], [0.5, *(2**60 + i for i in range(17))]],
    ids=["2**53", "2**70", "some fractions"],
)  # fmt: skip
def test_objects_of_numbers_are_read_exactly(places):
    x = pd.Series(np.r_[np.zeros(10), np.ones(8)])
    shuffled = np.random.default_rng(0).permutation(18)
    order = pd.Series(places, dtype=object)
    for rows in (np.arange(18), shuffled):
        found = es.segment(x[rows], 2, order=order[rows])
        assert found.breaks == (places[10],)
        assert f" {places[10]} " in found.summary()
        assert found.plot().get_xlim()[1] > places[0]


def test_times_finer_than_a_nanosecond_are_refused():
    x = np.r_[np.zeros(10), np.ones(8)]
    times = np.datetime64("1970-01-02T00:00:00.000000000000") + np.arange(18)
    with pytest.raises(ValueError, match="must not be finer than a nanosecond"):
        es.segment(x, 2, order=times)
    whole = np.datetime64("1970-01-02T00:00:00.000000000000") + 1000 * np.arange(18)
    assert es.segment(x, 2, order=whole).breaks == (pd.Timestamp("1970-01-02 00:00:00.000000010"),)


def test_orders_of_other_kinds(core):
    months = pd.Categorical(["Mar", "Jan", "Apr", "Feb"], categories=["Jan", "Feb", "Mar", "Apr"], ordered=True)
    found = es.segment([7.0, 0.0, 7.5, 0.5], 2, order=months)
    assert found.labels.tolist() == [1, 0, 1, 0]
    assert found.breaks == ("Mar",)
    dates = [datetime.date(2020, 1, day) for day in (3, 1, 4, 2)]
    assert es.segment([7.0, 0.0, 7.5, 0.5], 2, order=dates).labels.tolist() == [1, 0, 1, 0]
    weeks = pd.period_range("2020-01", periods=4, freq="M")
    assert es.segment([0.0, 0.5, 7.0, 7.5], 2, order=weeks).breaks == (weeks[2],)
    for result in (found, es.segment([0.0, 0.5, 7.0, 7.5], 2, order=weeks)):
        for draw in (result.plot, result.plot_strata, result.plot_distances):
            draw()
    plt.close("all")


def test_dask_frames_are_read_as_they_are(core):
    dask = pytest.importorskip("dask.dataframe")
    lazy = dask.from_pandas(core, npartitions=3, sort=False)
    assert es.segment(lazy, 2, order="depth").labels.tolist() == es.segment(core, 2, order="depth").labels.tolist()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"min_size": 0}, "`min_size` must be at least 1"),
        ({"min_size": 6}, "`min_size` must be at most 5, half of the 10 rows"),
        ({"block_length": 6}, "10 rows have no two of 6"),
        ({"block_length": 0}, "`block_length` must be at least 1"),
        ({"max_breaks": 0}, "`max_breaks` must be at least 1"),
        ({"level": 0.0}, "level"),
    ],
)
def test_options_out_of_range_are_named(how, message):
    with pytest.raises(ValueError, match=message):
        es.segment_test(np.arange(10.0), **how)
    with pytest.raises(ValueError, match="two rows at least"):
        es.segment_test([1.0], min_size=1)


def test_units_change_nothing(core):
    X = core[["Pinus", "Betula"]]
    plain = es.segment_test(X, order=core["depth"], **FEW)
    for factor in (2.0**-200, 2.0**200):
        scaled = es.segment_test(X * factor, order=core["depth"], **FEW)
        assert scaled.pvalue == plain.pvalue
        assert scaled.labels.tolist() == plain.labels.tolist()
    wide = X.assign(Betula=1e6 * X["Betula"])
    assert (
        es.segment(wide, 2, order=core["depth"], standardize=True).labels.tolist()
        == es.segment(X, 2, order=core["depth"], standardize=True).labels.tolist()
    )


def test_segments_are_groups_that_were_found(core):
    found = es.segment(core, 2, order="depth")
    for groups in (found, found.to_series()):
        with pytest.warns(es.DoubleDippingWarning, match=r"segment_test\(X\) if they are segments"):
            es.energy_test(core[["Pinus", "Betula"]], groups=groups, **FEW)
    assert found.to_series().name == "segment"


# ---------------------------------------------------------------- pictures


def test_neighbours_are_joined_by_the_smallest_rise_of_w(rng):
    X = rng.normal(size=(9, 2))
    R = rho_of(X)
    tree = join_neighbours(R, np.ones(9))
    assert is_valid_linkage(tree)
    edges, height = list(range(10)), 0.0
    for row in tree:
        merged = [edges[:i] + edges[i + 1 :] for i in range(1, len(edges) - 1)]
        edges = min(merged, key=lambda e: within_of(R, e))
        height = within_of(R, edges)
        assert_allclose(row[2], height)
    assert_allclose(tree[-1, 2], within_of(R, (0, 9)))


@pytest.mark.parametrize(
    "kind",
    sweep(
        ["one column", "several", "many", "matrix", "none declared", "dates", "long"],
        ["one column", "matrix"],
    ),
)
def test_pictures(kind, rng):
    n = 1200 if kind == "long" else 50
    columns = {"one column": 1, "many": 20}.get(kind, 3)
    X = rng.normal(size=(n, columns)) + (0 if kind == "none declared" else 3) * (np.arange(n) >= 20)[:, None]
    frame = pd.DataFrame(X, columns=[f"species {j}" for j in range(columns)])
    how = {"order": pd.date_range("2020-01-01", periods=n, tz="Europe/Rome") if kind == "dates" else None}
    if kind == "matrix":
        frame, how = es.pairwise(frame), {"metric": "precomputed"}
    tested, cut = es.segment_test(frame, **how, **FEW), es.segment(frame, 3, **how)
    for result in (tested, cut):
        for draw in (result.plot, result.plot_distances, result.plot_strata):
            ax = draw()
            assert ax.get_title(loc="left")
            ax.figure.canvas.draw()
            plt.close(ax.figure)
    profile = tested.plot_profile()
    assert profile.get_title(loc="left").startswith("First break")
    profile.figure.canvas.draw()
    (words,) = profile.texts  # what the line is, inside the axes, whatever the places of the rows
    assert words.get_text() == "largest Z of 5 % of orders"
    assert profile.bbox.x0 < words.get_window_extent().x1 <= profile.bbox.x1
    assert_allclose(cut.plot_within().lines[0].get_ydata()[0], 1)
    assert "Smallest W" in cut.plot_within().get_title(loc="left")
    if kind == "one column":
        assert sum("p" in text.get_text() for text in tested.plot().texts) == len(tested.breakpoints)
    plt.close("all")


def test_a_run_inside_is_drawn_beside_the_cuts_into_two():
    """Its Z stood in the title alone, and the curve of the cuts lay below the line that few orders reach."""
    x = np.random.default_rng(10).normal(size=60) + 1.3 * ((np.arange(60) >= 20) & (np.arange(60) < 40))
    inside = es.segment_test(x, max_breaks=1, rng=0)
    first, last = inside.tests[0].run
    assert 0 < first < last < 59
    assert np.nanmax(inside.profile) < np.quantile(inside.null_distribution, 0.95) < inside.statistic
    runs = [line for line in inside.plot_profile().lines if line.get_label() == "run with the largest Z"]
    assert [line.get_xydata().tolist() for line in runs] == [
        [[first - 0.5, inside.statistic], [last + 0.5, inside.statistic]]
    ]
    two = es.segment_test(np.r_[x[:20], x[20:40] + 5], rng=0)
    assert two.statistic == pytest.approx(np.nanmax(two.profile))
    assert "run with the largest Z" not in [line.get_label() for line in two.plot_profile().lines]
    plt.close("all")


def test_strata_of_chosen_columns(rng):
    """Columns by name or number, in the order asked; with one scale a unit has one length in every panel."""
    X = rng.normal(size=(40, 3)) * [1, 3, 0.2]
    named = es.segment(pd.DataFrame(X, columns=list("abc")), 2)
    for cut, columns in ((named, ["c", "b"]), (es.segment(X, 2), [2, 1])):
        drawn = cut.plot_strata(columns=columns).child_axes
        assert [inset.get_title()[-1] for inset in drawn[:-1]] == [str(name)[-1] for name in columns]
        assert_allclose(drawn[0].lines[0].get_xdata(), X[:, 2])
        panels = cut.plot_strata(columns=columns[::-1], one_scale=True).child_axes[:-1]
        units = [panel.get_position().width / np.ptp(panel.get_xlim()) for panel in panels]
        assert_allclose(units[0], units[1])
        assert all(np.ptp(panel.get_xlim()) >= np.ptp(X[:, j]) for panel, j in zip(panels, (1, 2), strict=True))
    for wrong, words in ((["d"], "Columns: 'a', 'b', 'c'"), (["a", "a"], "once"), ([0], "got 0")):
        with pytest.raises(ValueError, match=words):
            named.plot_strata(columns=wrong)
    with pytest.raises(TypeError, match=r"write \['a'\]"):
        named.plot_strata(columns="a")
    with pytest.raises(ValueError, match="no columns"):
        es.segment(es.pairwise(X), 2, metric="precomputed").plot_strata(columns=[0])
    plt.close("all")


def test_a_second_scale_of_the_order_is_noted(rng):
    """A column that only rises with the order makes breaks by itself; the order that counts is the one asked for."""
    frame = pd.DataFrame({"age": np.arange(30.0), "depth": np.sort(rng.random(30)), "a": rng.normal(size=30)})
    words = "'depth' only rises or falls in this order"
    calls = (
        lambda data, order: es.segment(data, 2, order=order),
        lambda data, order: es.segment_test(data, order=order, **FEW),
    )
    for call in calls:
        assert words in " ".join(call(frame, "age").notes)
        assert words in " ".join(call(frame[::-1], "age").notes)
        assert "only rise" not in " ".join(call(frame[["age", "a"]], "age").notes)
        assert "only rise" not in " ".join(call(frame, rng.permutation(30)).notes)
    both = es.segment(frame.assign(late=-frame["depth"]), 2, order="age").notes
    assert "'depth', 'late' only rise or fall" in " ".join(both)
    assert "only rise" not in " ".join(es.segment(np.repeat([0.0, 1.0], 20), 2).notes)


# ---------------------------------------------------------------- level


QUICK_ROWS = list(ROWS_OF_ONE_LAW)[:1]
OTHER_ROWS = [name for name in ROWS_OF_ONE_LAW if name not in QUICK_ROWS]


def count_rejections(draw, n, replicates, **how):
    found = 0
    for seed in range(replicates):
        rng = np.random.default_rng([seed, 77])
        found += es.segment_test(draw(rng, n), max_breaks=1, rng=rng, **how).pvalue <= 0.1
    return found


@pytest.mark.parametrize("name", [*QUICK_ROWS, *(pytest.param(n, marks=pytest.mark.slow) for n in OTHER_ROWS)])
def test_level_of_small_samples(name):
    """Of all orders, or of 19: at most .1, up to what a binomial allows."""
    assert count_rejections(ROWS_OF_ONE_LAW[name], 20, 120, n_resamples=19) <= binom.ppf(0.9999, 120, 0.1)
    assert count_rejections(ROWS_OF_ONE_LAW[name], 6, 40) <= binom.ppf(0.9999, 40, 0.1)


OFTEN = {"normal", "Cauchy", "0 or 1, evenly", "normal, one of ten moved by 10"}  # others on demand


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in OFTEN else pytest.mark.calibration) for n in ROWS_OF_ONE_LAW],
)
def test_level(name):
    for n, how in ((30, {"n_resamples": 99}), (60, {"n_resamples": 99, "block_length": 5}), (7, {})):
        found = count_rejections(ROWS_OF_ONE_LAW[name], n, 120, **how)
        assert found <= binom.ppf(0.9999, 120, 0.1)
        if not name.startswith(("0 or 1", "1 in one")) and n > 7:  # few values make the test conservative
            assert found >= binom.ppf(0.0001, 120, 0.1)


def test_the_picture_shows_the_columns_that_change(rng):
    y = rng.normal(size=(60, 20))
    y[30:, [3, 15]] += 5
    ax = es.segment_test(y, n_resamples=199, rng=0).plot()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert len(shown) == 8
    assert {"column 3", "column 15"} <= set(shown)
    assert shown == sorted(shown, key=lambda name: int(name.split()[1]))
    assert ax.get_title(loc="left").endswith("\n8 of 20 columns, those that change most")
    still = es.segment(y, 1).plot()
    assert [label.get_text() for label in still.get_yticklabels()] == [f"column {j}" for j in range(8)]
    assert still.get_title(loc="left").endswith("\n8 of 20 columns")


def test_the_picture_of_w_says_where_cuts_are_not_exact(rng):
    X = rng.normal(size=(400, 2))
    titles = [es.segment(X, 3, exact=exact).plot_within().get_title(loc="left") for exact in (True, False)]
    assert titles[0].startswith("Smallest W for every number")
    assert titles[1].startswith("W of the cuts found for every number")


def test_a_negative_w_is_in_the_picture():
    from energystats.plotting.segments import plot_within_by_k

    ax = plot_within_by_k(np.array([2.0, 1.0, -1.0]), total=2.0, n=9, min_size=2, exact=True)
    assert ax.get_ylim()[0] < -0.5


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_few_rows_cannot_reject_and_say_so(n):
    """All orders inside the two parts give the same Z."""
    found = es.segment_test(np.r_[np.arange(n // 2) * 0.01, 100 + np.arange(n - n // 2) * 0.01], rng=0)
    said = [note for note in found.notes if "cannot reject" in note]
    assert bool(said) == (n < 8)
    if said:
        assert f"below {found.pvalue:.2g}" in said[0]


@pytest.mark.parametrize("year", ["-100", "0007", "9999", "10500"])
def test_dates_of_any_year_are_written(year, rng):
    """Those before the year 1 and after 9999 ended every summary with an error."""
    dates = np.datetime64(f"{year}-02-03", "s") + np.arange(20) * np.timedelta64(86400, "s")
    x = rng.normal(size=20) + 9 * (np.arange(20) >= 10)
    assert f"{year}-02-13" in es.segment_test(x, order=dates, **FEW).summary()
    assert f"{year}-02-03" in es.energy_test(x, groups=np.repeat(dates[[0, 3]], 10), rng=0).summary()
