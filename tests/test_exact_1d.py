"""One column: the partition is the best there is, by all partitions, by slow dynamic programming and by peers."""

import itertools
import subprocess
import sys
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.cluster import KMeans

import energystats as es
from energystats import _runtime
from energystats._core.exact_1d import best_breaks, running_sums
from energystats._core.line_spectrum import line_eigenvalues
from tests import definitions
from tests.conftest import examples, read_oracle, sweep

mpl.use("Agg")

KINDS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "lattice": lambda rng, n: rng.integers(0, 40, n).astype(float),
    "offset 1e6": lambda rng, n: 1e6 + rng.standard_normal(n),
    "offset 1e12": lambda rng, n: 1e12 + rng.standard_normal(n),
    "cubed Cauchy": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "tight clusters": lambda rng, n: rng.integers(0, 3, n) + 1e-9 * rng.standard_normal(n),
}
both = pytest.mark.parametrize("alpha", [1.0, 2.0])


def exact_within(x, labels, w, alpha):
    """W in fractions of a partition into intervals."""
    order = np.argsort(x, kind="stable")
    edges = np.r_[0, np.cumsum(np.bincount(labels))]
    assert_array_equal(labels[order], np.sort(labels))
    costs = definitions.run_costs([Fraction(v) for v in x[order]], [Fraction(v) for v in w[order]], int(alpha))
    return sum(costs[i, j] for i, j in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)), costs


# ---------------------------------------------------------------- the optimum


@both
@pytest.mark.parametrize("k", sweep([2, 3, 4], [2, 3]))
@pytest.mark.parametrize("weighted", [False, True])
def test_best_of_all_partitions(k, alpha, weighted, rng):
    """Not of intervals only: every partition of up to nine points, ties included."""
    for n, high in ((9, 12), (8, 1000), (7, 5), (6, 8)):
        x = rng.integers(0, high, n)
        x[: k + 1] = np.arange(k + 1)
        w = rng.integers(1, 9, n) if weighted else np.ones(n, int)
        found = es.cluster_1d(x, k, w if weighted else None, alpha=alpha)
        R = [[abs(int(a) - int(b)) ** int(alpha) for b in x] for a in x]
        assert_allclose(found.within, definitions.best_within(R, k, w.tolist()), rtol=1e-12)
        labels = found.labels.tolist()
        assert_allclose(found.within, definitions.within(R, labels, w.tolist()), rtol=1e-12)
        assert_allclose(found.between, definitions.between(R, labels, w.tolist()), rtol=1e-12)
        assert_allclose(found.total, definitions.total(R, w.tolist()), rtol=1e-12)
        assert len({(v, l) for v, l in zip(x.tolist(), labels, strict=True)}) == len(set(x.tolist()))  # ties together
        assert found.between <= found.bound * (1 + 1e-12)


@both
@pytest.mark.parametrize("kind", sweep(KINDS, ["lattice", "offset 1e12", "tight clusters"]))
@pytest.mark.parametrize("weighted", sweep([False, True], [True]))
def test_optimum_in_exact_arithmetic(kind, alpha, weighted, rng):
    """The partition costs as little as the best, in fractions, and its `within` is the W of its labels."""
    for n in (2, 7, 20):
        x = KINDS[kind](rng, n)
        w = rng.lognormal(0, 2, n) if weighted else np.ones(n)
        for k in {1, 2, min(5, n), min(9, n)}:
            if k > np.unique(x).size:
                continue
            found = es.cluster_1d(x, k, w, alpha=alpha)
            W, costs = exact_within(x, found.labels, w, alpha)
            T = costs[0, n]
            assert float(W - definitions.best_runs(costs, n, k)) <= 1e-14 * float(W)
            assert_allclose([found.within, found.total], [float(W), float(T)], rtol=1e-12 + 1e-15 * w.max() / w.min())
            assert_allclose(found.between, float(T - W), rtol=1e-9, atol=1e-14 * float(T))
            assert found.breaks.size == k - 1
            assert_array_equal(found.labels, np.searchsorted(found.breaks, x, side="left"))


@both
def test_layers_bisection_and_threads_agree(alpha, rng):
    """Below the limit of memory every layer is kept, above it k is halved; blocks of rows are longer than 2,048.

    Threads share rows, and change nothing.
    """
    x = np.sort(rng.standard_normal(6000))
    sums = running_sums(np.diff(x), rng.uniform(0.5, 2, x.size), alpha == 2)
    for k in (2, 3, 8, 13):
        kept = best_breaks(sums, alpha == 2, k)
        assert_array_equal(best_breaks(sums, alpha == 2, k, room=10), kept)
        for shared in (1, 100, 5000):  # rows from which on threads share them
            assert_array_equal(best_breaks(sums, alpha == 2, k, shared=shared), kept)
        assert_array_equal(np.unique(kept), kept)
        assert kept.size == k - 1


@both
def test_many_points_against_slow_programming(alpha, rng):
    """O(k n^2) in whole columns of costs, over 1,500 points."""
    x = np.sort(rng.lognormal(0, 1.5, 1500))
    n = x.size
    r = np.arange(1, n + 1)
    total, squares, ranked = (np.r_[0, np.cumsum(v)] for v in (x, x * x, x * r))
    costs = np.full((n, n + 1), np.inf)
    for i in range(n):
        m = np.arange(1, n - i + 1)
        s = total[i + 1 :] - total[i]
        if alpha == 2:
            costs[i, i + 1 :] = squares[i + 1 :] - squares[i] - s * s / m
        else:  # sum of (2l - 1 - m)/m x_l
            costs[i, i + 1 :] = (2 * (ranked[i + 1 :] - ranked[i] - i * s) - (1 + m) * s) / m
    best = costs[0]
    for k in range(2, 8):
        best = np.r_[np.inf, [np.min(best[:j] + costs[:j, j]) for j in range(1, n + 1)]]
        assert_allclose(es.cluster_1d(x, k, alpha=alpha).within, best[n], rtol=1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=4, max_size=8),
    st.sampled_from([1, 2]),
)
@settings(max_examples=examples(60), deadline=None)
def test_quadrangle_inequality(points, alpha):
    """W(a..c) + W(b..d) <= W(a..d) + W(b..c): what the dynamic programming rests on."""
    points = sorted(points)
    x, w = ([Fraction(p[i]) for p in points] for i in (0, 1))
    costs = definitions.run_costs(x, w, alpha)
    costs.update({(i, i): 0 for i in range(len(x) + 1)})
    n = len(x)
    for a in range(n + 1):
        for b in range(a, n + 1):
            for c in range(b, n + 1):
                for d in range(c, n + 1):
                    assert costs[a, c] + costs[b, d] <= costs[a, d] + costs[b, c]


def test_powers_below_one_nest(rng):
    """The best two clusters of 0, 4, 4, 4, 8 under |x - y|**.5 are {4, 4, 4} and {0, 8}, which no break separates."""
    x = [0, 4, 4, 4, 8]
    R = [[abs(a - b) ** 0.5 for b in x] for a in x]
    assert definitions.best_within(R, 2) == pytest.approx(2**0.5)
    assert min(definitions.within(R, [0] * i + [1] * (5 - i)) for i in range(1, 5)) == pytest.approx(1.5)
    assert es.cluster_1d(x).within < definitions.total([[abs(a - b) for b in x] for a in x])
    found = es.energy_cluster(x, 2, alpha=0.5, rng=rng)
    assert found.algorithm == "hartigan"
    assert found.within == pytest.approx(2**0.5)
    assert found.labels.tolist() == [1, 0, 0, 0, 1]
    assert "below 1 the best clusters of one column need not be intervals" in " ".join(found.summary().split())
    with pytest.raises(ValueError, match=r"`alpha` must be 1 or 2, got 0.5, for which the best clusters need not be"):
        es.cluster_1d(x, alpha=0.5)


# ---------------------------------------------------------------- peers


@pytest.mark.parametrize("name", ["plantgrowth", "tiny7"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_reaches_the_reference(name, k):
    oracle = read_oracle(name)
    found = es.energy_cluster(oracle.data, k)
    assert found.algorithm == "exact-1d"
    expected = oracle.values.get(f"kgroups_exact_k{k}") or oracle.values[f"kgroups_coords_k{k}"]
    assert_allclose(found.within, expected["W"], rtol=1e-12)
    assert sorted(found.sizes) == sorted(np.bincount(expected["labels"])[1:])


def test_squares_are_k_means(rng):
    x = np.concatenate([rng.normal(c, s, 80) for c, s in ((0, 1), (6, 0.5), (15, 2))])
    for k in (2, 3, 5):
        found = es.energy_cluster(x, k, alpha=2)
        theirs = KMeans(k, n_init=50 if k <= 3 else 5, random_state=0, tol=0).fit(x[:, None])
        assert found.within <= theirs.inertia_ * (1 + 1e-12)
        if k <= 3:
            assert_allclose(found.within, theirs.inertia_, rtol=1e-10)
    assert found.bound == found.total


def test_squares_agree_with_kmeans1d(rng):
    kmeans1d = pytest.importorskip("kmeans1d")
    x = np.r_[rng.standard_t(2, 3000), rng.integers(-5, 5, 500)]
    for k in (2, 7, 20):
        labels, centers = kmeans1d.cluster(x, k)
        theirs = ((x - np.array(centers)[labels]) ** 2).sum()
        assert_allclose(es.cluster_1d(x, k, alpha=2).within, theirs, rtol=1e-9)


# ---------------------------------------------------------------- invariance


@both
def test_integer_weights_are_repeated_rows(alpha, rng):
    x, w = rng.integers(0, 25, 40), rng.integers(1, 6, 40)
    for k in (2, 5):
        weighted = es.cluster_1d(x, k, w, alpha=alpha)
        repeated = es.cluster_1d(np.repeat(x, w), k, alpha=alpha)
        assert_array_equal(weighted.breaks, repeated.breaks)
        assert_array_equal(np.repeat(weighted.labels, w), repeated.labels)
        for name in ("within", "between", "total", "bound", "within_per_cluster"):
            assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9)


@both
def test_order_offset_and_scale(alpha, rng):
    """Powers of two change no digit, so labels stay the same at any size of data and weights."""
    x, w = rng.integers(0, 200, 60).astype(float), rng.integers(1, 4, 60).astype(float)
    before = es.cluster_1d(x, 6, w, alpha=alpha)
    order = rng.permutation(60)
    assert_array_equal(es.cluster_1d(x[order], 6, w[order], alpha=alpha).labels, before.labels[order])
    for power, offset in ((0, 2.0**40), (-200, 0), (400, 0), (-1, -1e5), (-460, 0)):
        after = es.cluster_1d(np.ldexp(x + offset, power), 6, w * 2.0**-60, alpha=alpha)
        assert_array_equal(after.labels, before.labels)
        factor = 2.0 ** (alpha * power - 60)
        for name in ("within", "between", "total"):
            assert_allclose(getattr(after, name), getattr(before, name) * factor, rtol=1e-12)
        assert_allclose(after.breaks, np.ldexp(before.breaks + offset, power), rtol=1e-15)


@both
def test_the_dispersions_are_those_of_dispersion(alpha, rng):
    x, w = np.r_[rng.standard_normal(300), np.zeros(20)], rng.uniform(0.1, 3, 320)
    found = es.cluster_1d(x, 4, w, alpha=alpha)
    expected = es.dispersion(x, found.labels, alpha=alpha, sample_weight=w)
    for name in ("within", "between", "total"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11)
    assert_allclose(found.within_per_cluster, expected.within_per_cluster, rtol=1e-11)
    R = np.abs(np.subtract.outer(x, x)) ** alpha
    J = np.eye(320) - w / w.sum()
    G = np.sqrt(np.outer(w, w)) * (-0.5 * J @ R @ J.T)
    assert_allclose(found.bound, np.linalg.eigvalsh(G)[-3:].sum(), rtol=1e-9)


def test_extreme_weights_and_neighbouring_floats():
    found = es.cluster_1d([0, 1, 2, 3], 4, [1e-60, 2e-65, 1e-64, 2e-57])
    assert found.labels.tolist() == [0, 1, 2, 3]
    assert found.within == 0
    x = np.array([1.0, np.nextafter(1.0, 2)])
    with pytest.warns(es.ColumnScaleWarning, match="no column varies by more"):
        found = es.cluster_1d(x)
    assert_array_equal(found.labels, (x > found.breaks[0]).astype(int))
    found = es.cluster_1d([-1e-320, 0.0, -0.0, 1.0], 3)
    assert found.sizes == (1, 2, 1)
    assert found.bound == pytest.approx(found.between)


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvalues_by_sign_changes(kind, rng):
    """Against the dense matrix: equal gaps, weights over orders of magnitude, clusters so tight that pairs coincide."""
    for n in (2, 3, 17, 40):
        x = np.unique(KINDS[kind](rng, n))
        n = x.size
        if n < 2:  # both points of the lattice on the same place
            continue
        w = rng.lognormal(0, 2, n) if n % 2 else np.ones(n)
        J = np.eye(n) - w / w.sum()
        G = np.sqrt(np.outer(w, w)) * (-0.5 * J @ np.abs(np.subtract.outer(x, x)) @ J.T)
        expected = np.linalg.eigvalsh(G)[::-1][: n - 1]
        found = line_eigenvalues(np.diff(x), w, n - 1)
        assert_allclose(found, expected, atol=1e-11 * expected[0])
        assert (np.diff(found) <= 1e-12 * found[0]).all()
        assert_allclose(line_eigenvalues(np.diff(x), w, 1), found[:1], rtol=1e-12)


# ---------------------------------------------------------------- where it is used


@pytest.mark.parametrize(
    ("how", "power"),
    [
        ({"metric": "cityblock"}, 1),
        ({"metric": "chebyshev"}, 1),
        ({"metric": "minkowski", "alpha": 2}, 2),
        ({"metric": "sqeuclidean"}, 2),
        ({"metric": "sqeuclidean", "alpha": 0.5}, 1),
        ({"metric": es.metrics.Euclidean(2)}, 2),
    ],
)
def test_equivalent_semimetrics(how, power, rng):
    x = rng.standard_normal(50)
    found, expected = es.energy_cluster(x, 4, **how), es.cluster_1d(x, 4, alpha=power)
    assert found.algorithm == "exact-1d"
    assert_array_equal(found.labels, expected.labels)
    assert found.within == expected.within
    assert found.metric == es.energy_cluster(x, 4, algorithm="hartigan", n_init=1, rng=0, **how).metric
    with_matrix = es.energy_cluster(x, 4, algorithm="hartigan", rng=rng, **how)
    assert found.within <= with_matrix.within * (1 + 1e-12)
    assert_allclose(found.total, with_matrix.total, rtol=1e-12)
    assert_allclose(found.bound, with_matrix.bound, rtol=1e-9)


def test_options_of_starts_are_said_to_have_no_effect(rng):
    x, labels = rng.standard_normal(30), np.arange(30) % 3
    found = es.energy_cluster(x, 3, init="random", n_init=50, max_iter=300)
    assert found.notes == ("Not used by the exact method, which has no starts: `init`, `n_init`.",)
    found = es.energy_cluster(x, 3, algorithm="exact-1d", init=labels, n_init=50)
    assert found.notes == ("Not used by the exact method, which has no starts: `init`.",)
    assert es.energy_cluster(x, 3, init=labels).algorithm == "hartigan"
    assert es.EnergyClustering(3, max_iter=7).fit(x[:, None]).partition_.notes == (
        "Not used by the exact method, which has no starts: `max_iter`.",
    )


@pytest.mark.parametrize(
    ("how", "note"),
    [
        ({"alpha": 1.5}, "intervals are known to be the best clusters for the square only"),
        ({"alpha": 0.5, "metric": "sqeuclidean"}, ""),
        ({"metric": "gaussian"}, "an exact method if rho is |x - y| or its square"),
        ({"algorithm": "hartigan", "alpha": 0.5}, ""),
        ({}, ""),
    ],
)
def test_a_note_says_why_not(how, note, rng):
    found = es.energy_cluster(rng.standard_normal(30), 3, rng=rng, **how)
    assert note in "".join(found.notes)
    assert len(found.notes) == bool(note)
    assert (found.algorithm == "exact-1d") == ("exact" in " ".join(found.summary().split()) and not note)
    assert es.energy_cluster(rng.standard_normal((30, 2)), 3, rng=rng, alpha=0.5).notes == ()


def test_estimator_and_frames(rng):
    frame = pd.DataFrame({"size": rng.standard_normal(80)})
    model = es.EnergyClustering(5, alpha=2).fit(frame)
    assert model.partition_.algorithm == "exact-1d"
    assert_array_equal(model.predict(frame), model.labels_)
    standardized = es.energy_cluster(frame, 5, alpha=2, standardize=True)
    assert_array_equal(standardized.labels, model.labels_)
    assert_allclose(standardized.total, 80)
    assert es.cluster_1d(frame["size"], 5, alpha=2).within == model.within_


@both
def test_a_large_sample(alpha):
    x = np.random.default_rng(0).lognormal(size=10**5)
    found = es.cluster_1d(x, 7, alpha=alpha)
    assert_array_equal(found.labels, np.searchsorted(found.breaks, x))
    assert 0.9 * found.bound < found.between <= found.bound
    ordered = np.sort(x)
    edges = np.r_[0, np.cumsum(found.sizes)]

    def within(run):
        m = run.size
        return ((2 * np.arange(1, m + 1) - 1 - m) / m) @ run if alpha == 1 else m * run.var()

    for j in range(1, 7):
        start, here, stop = edges[j - 1 : j + 2]
        costs = [
            within(ordered[start:b]) + within(ordered[b:stop])
            for b in np.clip(here + np.array([0, -1, 1, -99, 99]), start + 1, stop - 1)
        ]
        assert min(costs) >= costs[0] - 1e-12 * found.total


@pytest.mark.slow
def test_plain_loops_give_the_same(capsys):
    code = (
        "import numpy as np, energystats as es\n"
        "x = np.random.default_rng(3).standard_cauchy(90)\n"
        "for alpha in (1, 2):\n"
        "    found = es.cluster_1d(x, 6, np.arange(1, 91), alpha=alpha)\n"
        "    print(found.labels.tolist(), repr(found.within))\n"
    )
    plain = "import sys, warnings; sys.modules['numba'] = None; warnings.simplefilter('ignore')\n" + code
    done = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True, check=True)
    exec(code, {})
    assert done.stdout == capsys.readouterr().out != ""


@pytest.mark.slow
def test_the_picture_shows_every_break(rng):
    import matplotlib.pyplot as plt

    x = np.r_[np.concatenate([rng.normal(c, 0.5, 4000) for c in (0, 4, 8, 12, 16)]), 1e4]
    for found, in_view in ((es.cluster_1d(x[:-1], 5), True), (es.cluster_1d(x, 2, alpha=2), False)):
        ax = found.plot()
        assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"] == found.breaks.tolist()
        drawn = sum(patch.get_height() for patch in ax.patches)
        hidden = x.size - 1 - drawn if in_view else x.size - drawn
        assert hidden == 0
        assert len(ax.get_legend().get_texts()) == found.k + 1  # and the density
    heavy = np.r_[rng.standard_normal(5000), 1e6]
    ax = es.cluster_1d(np.r_[heavy, -1e6, -1e6 + 1], 3).plot()
    assert ax.get_xlabel() == "x"  # the breaks lie far out, so all is shown
    tail = es.cluster_1d(rng.standard_cauchy(20000) ** 3, 1).plot()
    assert "of 20000 values beyond the axis" in tail.get_xlabel()
    plt.close("all")


# ---------------------------------------------------------------- bad input

X = np.arange(20.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: es.cluster_1d([1, 1, 2], 3), ValueError, r"`k` must be at most the number of distinct points, 2, got"),
        (lambda: es.cluster_1d([1.0], 2), ValueError, r"`k` must be at most the number of distinct points, 1, got 2"),
        (lambda: es.energy_cluster(X // 10, 3), ValueError, r"`k` must be at most the number of distinct points, 2"),
        (lambda: es.cluster_1d(X, 0), ValueError, r"`k` must be at least 1, got 0"),
        (lambda: es.cluster_1d(X, 2.0), TypeError, r"`k` must be a whole number, got 2.0"),
        (lambda: es.cluster_1d(np.ones((5, 2))), ValueError, r"`x` must be one column, got 2; use `energy_cluster`"),
        (lambda: es.cluster_1d([1, np.nan, 2]), ValueError, r"`x`"),
        (lambda: es.cluster_1d([]), ValueError, r"`x`"),
        (lambda: es.cluster_1d(["a", "b"]), TypeError, r"`x`"),
        (lambda: es.cluster_1d(X, 2, np.zeros(20)), ValueError, r"`sample_weight` must be positive, got 0"),
        (lambda: es.cluster_1d(X, 2, -X - 1), ValueError, r"`sample_weight` must be positive, got -20 at position 19"),
        (lambda: es.cluster_1d(X, 2, X * np.nan), ValueError, r"`sample_weight`"),
        (lambda: es.cluster_1d(X, 2, [1, 2]), ValueError, r"`sample_weight` must have shape \(20,\), got \(2,\)"),
        (lambda: es.cluster_1d(X, alpha=1.5), ValueError, r"`alpha` must be 1 or 2, got 1.5, for which that intervals"),
        (lambda: es.cluster_1d(X, alpha=3), ValueError, r"`alpha` must be from 0.001 to 2, got 3"),
        (lambda: es.cluster_1d([0, 1e200], alpha=2), ValueError, r"`x` must not exceed 1e\+150 in size, got 1e\+200"),
        (lambda: es.cluster_1d([0, 1e-160], alpha=2), ValueError, r"must lie further apart: their largest difference"),
        (lambda: es.energy_cluster(X, 2, algorithm="exact-1d", alpha=0.5), ValueError, r"its square, got 1 column and"),
        (
            lambda: es.energy_cluster(es.pairwise(X), 2, metric="precomputed", algorithm="exact-1d"),
            ValueError,
            "a matr",
        ),
    ],
)
def test_messages(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_one_point():
    found = es.cluster_1d([3.0], 1)
    assert (found.labels.tolist(), found.within, found.total, found.breaks.size) == ([0], 0.0, 0.0, 0)


def test_a_search_of_many_clusters_that_takes_a_minute_says_so(rng, monkeypatch):
    """Its time was not foreseen on a machine that others use, and there is no bar."""
    clock = iter(range(0, 10**6, 40))
    monkeypatch.setattr(_runtime.time, "monotonic", lambda: next(clock))
    x = rng.normal(size=300)
    with pytest.warns(es.PerformanceWarning, match=r"for 2 of 29 clusters, so it may take about .* more\.$") as caught:
        found = es.cluster_1d(x, 30)
    assert len(caught) == 1
    monkeypatch.undo()
    assert_array_equal(found.labels, es.cluster_1d(x, 30).labels)


@pytest.mark.parametrize("n", range(3, 9))
def test_a_mixture_of_cuts_is_as_good_for_every_gap(n):
    """W is a sum over the gaps: for no gaps are two clusters that interleave better than the best of the cuts."""
    left, cut = np.arange(1, n), np.arange(1, n)[:, None]  # points before each gap, and before the cut

    def coefficients(before, size):
        # pairs of a cluster that a gap parts, over its size
        return before * (size - before) / size

    below = np.minimum(left, cut)
    cuts = coefficients(below, cut) + coefficients(left - below, n - cut)
    for rest in itertools.product((0, 1), repeat=n - 1):
        labels = np.array((0, *rest))
        if np.count_nonzero(np.diff(labels)) < 2:
            continue
        first = np.cumsum(labels)[:-1]
        divided = coefficients(first, labels.sum()) + coefficients(left - first, n - labels.sum())
        # the smallest excess over all gaps that a mixture of cuts can have
        found = linprog(
            [*np.zeros(n - 1), 1],
            A_ub=np.column_stack((cuts.T, -np.ones(n - 1))),
            b_ub=divided,
            A_eq=[[*np.ones(n - 1), 0]],
            b_eq=[1],
            bounds=[(0, None)] * (n - 1) + [(None, None)],
        )
        assert found.fun < -0.01, labels
