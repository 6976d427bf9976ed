"""Numerical promises 1-6: every statistic against exact fractions and 50 digits, at every size of number."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import energystats as es
from tests import calls, definitions, precise
from tests.conftest import sweep

pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")  # heavy tails have it
PAIR_SUMS = 1e-14  # of T, the size of the summands; docs/numerical-promises.md
SPECTRAL = 1e-13  # of the largest eigenvalue
LINE = 1e-14  # of W itself


def exactly(value):
    """A fraction, or 50 digits, as 50 digits."""
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mp.mpf(value)


def error(value, exact, scale):
    return float(abs(mp.mpf(float(value)) - exactly(exact)) / exactly(scale))


SIZES = {"as it is": 0, "2e-301": -998, "1e-165": -548, "1e-90": -300, "2e90": 300, "5e148": 494}


def samples(rng, n, d):
    """Kinds of data that cost digits; all have a width of some units."""
    X = rng.standard_normal((n, d))
    g = rng.permutation(np.arange(n) % 3)
    X[g == 1] += 1
    near = X[rng.integers(3, size=n)]
    tail = np.exp(3 * X)
    return {
        "normal": (X, g),
        "offset": (X + 1e8, g),
        "near duplicates": (near * (1 + 1e-15 * rng.integers(8, size=(n, d))), g),
        "close and far": (near + 1e-12 * X, g),
        "heavy tail": (tail / tail.max(), g),
        "lattice": (rng.integers(-3, 4, size=(n, d)) * 1.0, g),
    }


KINDS = ("normal", "offset", "near duplicates", "close and far", "heavy tail", "lattice")


def check_pair_sums(X, g, R, **how):
    """W, S, T, g, E, the three statistics of the test and F of disco, against their definitions."""
    labels = g.tolist()
    T = exactly(definitions.total(R))
    if T == 0:
        return
    found = es.dispersion(X, g, **how)
    assert error(found.total, definitions.total(R), T) < PAIR_SUMS
    assert error(found.within, definitions.within(R, labels), T) < PAIR_SUMS
    assert error(found.between, definitions.between(R, labels), T) < PAIR_SUMS
    groups = definitions.members(labels)
    for i, A in enumerate(groups):
        for j, B in enumerate(groups):
            mean = exactly(definitions.g(R, A, B))
            assert error(found.g[i, j], mean, mean or 1) < PAIR_SUMS or not mean
    A, B = groups[:2]
    largest = exactly(max(max(R[a][b] for a in A + B for b in A + B), type(R[0][0])(0))) or 1
    for estimator in ("v", "u"):
        E = es.energy_distance(X[A], X[B], estimator=estimator, **how)
        assert error(E, definitions.energy_distance(R, A, B, estimator == "u"), largest) < PAIR_SUMS
    test = {s: es.energy_test(X, groups=g, statistic=s, n_resamples=1, rng=0, **how).statistic
            for s in ("between", "pairwise", "f")}  # fmt: skip
    assert error(test["between"], definitions.between(R, labels), T) < PAIR_SUMS
    pairwise = mp.fsum(
        mp.mpf(len(A) * len(B)) / (len(A) + len(B)) * exactly(definitions.energy_distance(R, A, B))
        for i, A in enumerate(groups) for B in groups[:i]
    )  # fmt: skip
    assert error(test["pairwise"], pairwise, 2 * T) < PAIR_SUMS
    S, W = exactly(definitions.between(R, labels)), exactly(definitions.within(R, labels))
    if min(abs(S), W) > T * mp.mpf("1e-9"):
        F = S / 2 / (W / (len(X) - 3))
        lost = float(T / abs(S) + T / W)
        assert error(test["f"], F, abs(F)) < PAIR_SUMS * lost
        assert error(es.disco(X, groups=g, n_resamples=1, rng=0, **how).statistic, F, abs(F)) < PAIR_SUMS * lost


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.7, 2.0])
def test_sums_over_pairs_have_14_digits_of_T(rng, kind, alpha):
    n = int(rng.integers(9, 31))
    X, g = samples(rng, n, 2)[kind]
    check_pair_sums(X, g, precise.euclidean(X, alpha), alpha=alpha)


def test_sixty_points(rng):
    X, g = samples(rng, 60, 3)["offset"]
    check_pair_sums(X, g, precise.euclidean(X))


@pytest.mark.parametrize("size", SIZES)
def test_sums_over_pairs_at_every_size(rng, size):
    X, g = samples(rng, 15, 2)["normal"]
    X = np.ldexp(X, SIZES[size])
    for alpha in (0.3, 1.0):
        check_pair_sums(X, g, precise.euclidean(X, alpha), alpha=alpha)
    check_pair_sums(X[:, :1], g, precise.euclidean(X[:, :1]))


@pytest.mark.parametrize("kind", KINDS)
def test_one_column_has_14_digits_of_T(rng, kind):
    X, g = samples(rng, int(rng.integers(9, 61)), 1)[kind]
    check_pair_sums(X, g, precise.rational_matrix(X, precise.cityblock))


@pytest.mark.parametrize("metric", ["cityblock", "sqeuclidean"])
@pytest.mark.parametrize("offset", [0, 10**8])
def test_lattices_against_fractions(rng, metric, offset):
    X, g = samples(rng, int(rng.integers(6, 31)), 2)["lattice"]
    rho = precise.cityblock if metric == "cityblock" else precise.squared
    check_pair_sums(X + offset, g, precise.rational_matrix(X + offset, rho), metric=metric)


def test_weights_against_fractions(rng):
    X, g = samples(rng, 20, 2)["lattice"]
    w = rng.integers(1, 9, size=20) / 8
    R = precise.rational_matrix(X, precise.cityblock)
    exact = [precise.rational(v) for v in w]
    T = exactly(definitions.total(R, exact))
    found = es.dispersion(X, g, metric="cityblock", sample_weight=w)
    assert error(found.total, definitions.total(R, exact), T) < PAIR_SUMS
    assert error(found.within, definitions.within(R, g.tolist(), exact), T) < PAIR_SUMS
    assert error(found.between, definitions.between(R, g.tolist(), exact), T) < PAIR_SUMS


@pytest.mark.parametrize("size", sweep(SIZES, ["as it is", "2e90", "1e-165"]))
@pytest.mark.parametrize("name", ["gaussian", "exponential"])
def test_bounded_metrics_and_their_kernels(rng, name, size):
    X, g = samples(rng, 16, 2)["normal"]
    X = np.ldexp(X, SIZES[size])
    metric = {"gaussian": es.metrics.Gaussian, "exponential": es.metrics.Exponential}[name]().fitted(X)
    distances = [v for i, row in enumerate(precise.euclidean(X)) for v in row[:i]]
    assert error(metric.sigma, np.median(sorted(distances)), metric.sigma) < 1e-15
    R = getattr(precise, name)(X, metric.sigma)
    check_pair_sums(X, g, R, metric=metric)
    A, B = np.flatnonzero(g == 0).tolist(), np.flatnonzero(g == 1).tolist()
    kernel = {"gaussian": "gaussian", "exponential": metric}[name]
    K = [[1 - v / 2 for v in row] for row in R]
    for estimator in ("v", "u"):
        found = es.mmd2(X[A], X[B], kernel=metric, estimator=estimator)
        assert error(found, definitions.mmd2(K, A, B, estimator == "u"), 1) < PAIR_SUMS
    assert 0 <= es.mmd2(X[A], X[B], kernel=kernel) < 2


def test_a_sigma_far_from_the_data(rng):
    X, g = samples(rng, 12, 2)["normal"]
    distinct = definitions.total([[2 * (i != j) for j in range(12)] for i in range(12)])
    for metric in (es.metrics.Gaussian(1e-200), es.metrics.Exponential(1e-309), es.metrics.Gaussian(1e-320)):
        assert es.dispersion(X, g, metric=metric).total == pytest.approx(float(distinct))
    for metric in (es.metrics.Gaussian(1e200), es.metrics.Exponential(1e307)):
        with pytest.raises(ValueError, match=r"rho under \w+\(sigma=1e\+\d+\) is too small"):
            es.dispersion(X, g, metric=metric)
    check_pair_sums(X, g, precise.gaussian(X, 1e140), metric=es.metrics.Gaussian(1e140))


def test_a_constant_column_beside_tiny_ones_is_refused(rng):
    X = np.c_[1e-170 * rng.standard_normal((9, 2)), np.full(9, 5.0)]
    with pytest.raises(ValueError, match="must lie further apart"):
        es.dispersion(X, np.arange(9) % 2)
    assert es.dispersion(X[:, :2], np.arange(9) % 2).total > 0


def test_mmd_of_the_distance_kernel(rng):
    X, _ = samples(rng, 20, 2)["offset"]
    R = precise.euclidean(X)
    half = definitions.energy_distance(R, range(9), range(9, 20)) / 2
    assert error(es.mmd2(X[:9], X[9:], kernel="distance"), half, definitions.total(R)) < PAIR_SUMS


@pytest.mark.parametrize(("unit", "size"), [(1e148, "large"), (1e-134, "small")])
def test_weights_whose_products_lose_their_digits_are_refused(rng, unit, size):
    """Sums were infinite and p the smallest there is, or 0 and p 1; the estimator put all points into one cluster."""
    X, g = samples(rng, 12, 2)["normal"]
    w = (1e60 if size == "large" else 1e-60) * (1 + rng.random(12))
    R = precise.euclidean(X)
    T = definitions.total(R, [precise.real(v) for v in w])
    assert error(es.dispersion(X, g, sample_weight=w).total, T, T) < PAIR_SUMS
    far = X * unit
    for call in (
        lambda: es.dispersion(far, g, alpha=2.0, sample_weight=w),
        lambda: es.energy_distance(far[:6], far[6:], alpha=2.0, sample_weight=(w[:6], w[6:])),
        lambda: es.energy_test(far, groups=g, alpha=2.0, sample_weight=w),
        lambda: es.energy_test(far, groups=g, alpha=[1.0, 2.0], sample_weight=w),  # under any of them
        lambda: es.energy_test(far, groups=g, alpha=[2.0, 1.0], sample_weight=w),
        lambda: es.pairwise_tests(far, np.arange(12) % 3, alpha=2.0, sample_weight=w),
        lambda: es.energy_cluster(far, 2, alpha=2.0, sample_weight=w),
        lambda: es.energy_cluster(far, 2, alpha=2.0, sample_weight=w, algorithm=es.Landmarks(6)),
        lambda: es.EnergyClustering(2, alpha=2.0).fit(far, sample_weight=w),
        lambda: es.EnergyClustering(2, alpha=2.0).fit(far, sample_weight=np.where(np.arange(12) == 3, 0, w)),
        lambda: es.cluster_1d(far[:, 0], 2, alpha=2.0, sample_weight=w),
    ):
        with pytest.raises(ValueError, match=rf"weights?` must not be that {size}, its sum is .*e[+-](61|59)"):
            call()


# ---------------------------------------------------------------- clusters


@pytest.mark.parametrize("kind", sweep(KINDS, ["normal", "near duplicates", "lattice"]))
@pytest.mark.parametrize("alpha", [1, 2])
def test_exact_clusters_of_a_column(rng, kind, alpha):
    n, k = int(rng.integers(8, 41)), int(rng.integers(2, 5))
    x = samples(rng, n, 1)[kind][0][:, 0]
    k = min(k, np.unique(x).size)
    found = es.cluster_1d(x, k, alpha=alpha)
    ordered = sorted(precise.rational(v) for v in x)
    best = definitions.best_runs(definitions.run_costs(ordered, [1] * n, alpha), n, k)
    W = exactly(best)
    assert error(found.within, best, W) < LINE if W else found.within == 0
    R = precise.rational_matrix(x, lambda a, b: abs(a[0] - b[0]) ** alpha)
    own = definitions.within(R, found.labels.tolist())
    assert exactly(own) <= W * (1 + mp.mpf(LINE))
    assert error(found.total, definitions.total(R), definitions.total(R)) < PAIR_SUMS
    assert error(found.between, definitions.between(R, found.labels.tolist()), definitions.total(R)) < PAIR_SUMS
    for j, middle in enumerate(found.breaks):
        left, right = x[found.labels == j].max(), x[found.labels == j + 1].min()
        exact = (precise.rational(left) + precise.rational(right)) / 2
        assert error(middle, exact, abs(right) + abs(left)) < 4e-16
    assert exactly(definitions.between(R, found.labels.tolist())) <= mp.mpf(found.bound) * (1 + mp.mpf("1e-12"))


@pytest.mark.parametrize("size", SIZES)
def test_exact_clusters_at_every_size(rng, size):
    x = np.ldexp(rng.standard_normal(20), SIZES[size])
    best = definitions.best_runs(definitions.run_costs(sorted(map(precise.rational, x)), [1] * 20, 1), 20, 3)
    assert error(es.cluster_1d(x, 3).within, best, exactly(best)) < LINE


@pytest.mark.parametrize("size", sweep(SIZES, ["as it is", "2e90", "1e-165"]))
@pytest.mark.parametrize("algorithm", ["hartigan", "lloyd", "spectral"])
def test_clusters_and_their_upper_bound(rng, algorithm, size):
    X = np.ldexp(samples(rng, 20, 2)["normal"][0], SIZES[size])
    R = precise.euclidean(X)
    found = es.energy_cluster(X, 3, algorithm=algorithm, n_init=2, rng=0)
    T, labels = definitions.total(R), found.labels.tolist()
    S = definitions.between(R, labels)
    assert error(found.within, definitions.within(R, labels), T) < PAIR_SUMS
    assert error(found.between, S, T) < PAIR_SUMS
    assert error(found.total, T, T) < PAIR_SUMS
    bound = mp.fsum(precise.eigenvalues(precise.centred_gram(R))[:2])
    assert error(found.bound, bound, T) < SPECTRAL
    assert bound >= S
    assert found.bound >= found.between * (1 - SPECTRAL)


@pytest.mark.parametrize("kind", KINDS)
def test_heights_of_a_tree(rng, kind):
    X = samples(rng, 16, 2)[kind][0]
    R = precise.euclidean(X)
    T = definitions.total(R)
    if not T:
        return
    clusters = [[i] for i in range(16)]
    for a, b, height, size in es.energy_hclust(X):
        A, B = clusters[int(a)], clusters[int(b)]
        E = definitions.energy_distance(R, A, B)
        assert error(height, mp.mpf(len(A) * len(B)) / (len(A) + len(B)) * E, 2 * T) < PAIR_SUMS
        clusters.append(A + B)
        assert len(clusters[-1]) == size


# ---------------------------------------------------------------- geometry


def test_kernels_and_distances(rng):
    R = es.pairwise(samples(rng, 12, 2)["offset"][0])
    exact = [[precise.real(v) for v in row] for row in R]
    largest, G = R.max(), precise.centred_gram(exact)
    K = es.distance_kernel(R)
    back = es.kernel_distance(K)
    for i in range(12):
        for j in range(12):
            assert error(K[i, j], G[i, j], largest) < 1e-15
            generated = precise.real(K[i, i]) + precise.real(K[j, j]) - 2 * precise.real(K[i, j])
            assert error(back[i, j], generated, largest) < 1e-15


@pytest.mark.parametrize("exponent", sweep([0, -450, 490], [490]))
def test_principal_coordinates_and_corrections(rng, exponent):
    d = np.ldexp(definitions.random_dissimilarity(rng, 8), exponent)
    exact = [[precise.real(v) for v in row] for row in d]
    G = precise.centred_gram([[v**2 for v in row] for row in exact])
    values = precise.eigenvalues(G)
    largest = max(abs(v) for v in values)
    found = es.principal_coordinates(d)
    assert max(error(a, b, largest) for a, b in zip(found.eigenvalues, values, strict=True)) < SPECTRAL
    assert error(es.lingoes(d).constant, -values[-1], largest) < SPECTRAL
    kappa = precise.cailliez_constant(exact)
    assert error(es.cailliez(d).constant, kappa, kappa) < 1e-10
    lowest = precise.eigenvalues(precise.centred_gram(exact))[-1]
    assert error(es.negative_type(d).min_eigenvalue, lowest, d.max()) < SPECTRAL


@pytest.mark.parametrize("exponent", [-990, -550])
def test_geometry_of_tiny_numbers(rng, exponent):
    d = definitions.random_dissimilarity(rng, 8)
    tiny = np.ldexp(d, exponent)
    assert es.negative_type(tiny).min_eigenvalue == np.ldexp(es.negative_type(d).min_eigenvalue, exponent)
    assert es.is_euclidean(tiny) == es.is_euclidean(d)
    assert np.allclose(np.ldexp(es.nearest_psd(tiny.max() - tiny), -exponent), es.nearest_psd(d.max() - d), rtol=1e-13)
    with pytest.raises(ValueError, match=r"must be at least 1e-140 in size"):
        es.lingoes(tiny)


# ---------------------------------------------------------------- goodness of fit


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("kind", ["normal", "close and far", "heavy tail"])
def test_normality(rng, kind, d):
    X = samples(rng, 25, d)["normal" if kind == "close and far" and d > 1 else kind][0]
    exact, scale = precise.normality_statistic(X)
    centred = X - X.mean(axis=0)
    condition = np.linalg.cond(centred / np.linalg.norm(centred, axis=0))
    for exponent in (-990, 0, 495):
        found = es.normality_test(np.ldexp(X, exponent), n_resamples=1, rng=0).statistic
        assert error(found, exact, scale) < 1e-14 * condition


def test_goodness_of_fit_of_a_column(rng):
    x, m = rng.standard_normal(20), 200
    found = es.goodness_of_fit(x, stats.norm(), n_resamples=1, n_reference=m, rng=0)
    reference = stats.norm().ppf((np.arange(m) + 0.5) / m)
    exact = definitions.statistic_of_fit(
        [[precise.real(v)] for v in x],
        [[precise.real(v)] for v in reference],
        lambda a, b: abs(a[0] - b[0]),
    )
    assert error(found.statistic, exact, 20) < PAIR_SUMS


# ---------------------------------------------------------------- p-values and labels at every size

# results whose own unit is a square: at 1e-300 they have no value that a number could hold
SQUARES = ("energy_test min p", "cluster_1d squares", "compare_euclidizations", "lingoes", "cailliez", "clip_spectrum",
           "flip_spectrum", "principal_coordinates")  # fmt: skip


# made of others, which are fast
LONG = ("validate_clusters", "graph_partition", "energy_test asymptotic", "cluster_tree", "cluster_test k",
        "energy_power", "cluster_test crossfit", "cluster_test gaussian", "select_k significance",
        "cluster_test independent")  # fmt: skip


@pytest.mark.parametrize("exponent", sweep([-990, -300, 490], [-990, 490]))
@pytest.mark.parametrize("name", sweep(calls.make_calls(), [name for name in calls.make_calls() if name not in LONG]))
def test_the_unit_of_the_data_changes_no_pvalue_and_no_label(name, exponent):
    scaled = calls.make_calls(exponent)[name]
    if exponent < -500 and name in SQUARES:
        with pytest.raises(ValueError, match=r"multiply the data by a constant|rescale it"):
            scaled()
        return
    found = calls.flat(scaled())
    chosen = [path for path in found if any(word in path for word in calls.CHOSEN) and "breaks" not in path]
    assert chosen or not name.startswith(("energy_test", "cluster_", "disco", "select", "normality", "goodness"))
    for path in chosen:
        assert np.array_equal(found[path], calls.alone(name)[path], equal_nan=found[path].dtype.kind == "f"), path
    for path, breaks in found.items():
        if "breaks" in path and breaks.dtype.kind == "f":
            assert np.array_equal(breaks, np.ldexp(calls.alone(name)[path], exponent))


def test_grid_steps_are_reported_in_the_unit_of_the_data(rng):
    grid = np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], [4, 9, 14, 9, 4])  # without a gap, which would widen the mean step
    X = np.column_stack([rng.permutation(grid), rng.permutation(grid)]) * 1e-200
    with pytest.warns(es.TiesWarning, match=r"steps of 1e-200 in column 0, 1e-200 in column 1"):
        es.cluster_test(X, n_resamples=9, n_splits=1, rng=0)


def test_columns_of_different_spread_warn_at_every_size(rng):
    X = rng.standard_normal((20, 2)) * [1.0, 1000.0]
    for exponent in (-990, 400):
        with pytest.warns(es.ColumnScaleWarning):
            es.pairwise(np.ldexp(X, exponent))


@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-7])
def test_jensen_shannon_distances_of_shares_alike_keep_their_digits(size, rng):
    """To second order it is the root of size^2/8 times the sum of p z^2, for q = p (1 + size z); SciPy's loses half."""
    p = rng.dirichlet(np.full(6, 3.0))
    z = rng.normal(size=6)
    z -= (p * z).sum()
    q = p * (1 + size * z)
    found = es.pairwise([p, q], metric="jensenshannon")[0, 1]
    assert found == pytest.approx(size * np.sqrt((p * z**2).sum() / 8), rel=3 * size)
