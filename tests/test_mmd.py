"""MMD against its definition and R, its equivalence with the energy distance, and the maps between rho and kernels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

import energystats as es
from tests import definitions
from tests.conftest import oracles_with


@pytest.fixture
def samples(rng):
    return rng.standard_normal((12, 2)), rng.standard_normal((9, 2)) + 0.8


def semimetric(rng, n):
    """A random matrix of rho: squared Euclidean, a power of it, Manhattan squared, or nothing but symmetric."""
    X = rng.standard_normal((n, 3))
    kinds = (pdist(X, "sqeuclidean"), pdist(X) ** 0.7, pdist(X, "cityblock") ** 2, rng.random(n * (n - 1) // 2))
    return squareform(kinds[rng.integers(4)])


@given(st.integers(0, 2**32 - 1))
def test_mmd_is_half_the_energy_distance_for_every_base(seed):
    """MMD squared with any kernel of rho is E/2, for both estimators [G 10]."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    R, labels = semimetric(rng, n), np.repeat([0, 1], [n // 2, n - n // 2])
    A, B = definitions.members(labels.tolist())
    weights = rng.standard_normal(n)
    for base in ("center", int(rng.integers(n)), weights / weights.sum()):
        K = es.distance_kernel(R, base)
        size = np.abs(K).max()
        assert_allclose(es.kernel_distance(K), R, atol=1e-13 * size)
        for estimator in ("v", "u"):
            by_loops = definitions.mmd2(K.tolist(), A, B, estimator == "u")
            E = definitions.energy_distance(R.tolist(), A, B, estimator == "u")
            assert_allclose(by_loops, E / 2, atol=1e-11 * size)
            found = es.mmd2(K, groups=labels, kernel="precomputed", estimator=estimator)
            assert_allclose(found, by_loops, atol=1e-11 * size)


@pytest.mark.parametrize("estimator", ["v", "u"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "distance", "callable", "object"])
def test_mmd_matches_its_definition(samples, kernel, estimator):
    x, y = samples
    pooled = np.concatenate(samples)
    r = squareform(pdist(pooled))
    sigma = np.median(pdist(pooled))
    K, given_kernel = {
        "gaussian": (np.exp(-(r**2) / (2 * sigma**2)), "gaussian"),
        "laplacian": (np.exp(-r / (2 * sigma)), "laplacian"),
        "distance": (-r / 2, "distance"),
        "callable": ((pooled @ pooled.T + 1) ** 2, lambda X, Y: (X @ Y.T + 1) ** 2),
        "object": (np.exp(-(r**2) / 8), es.metrics.Gaussian(2.0)),
    }[kernel]
    A, B = list(range(12)), list(range(12, 21))
    expected = definitions.mmd2(K.tolist(), A, B, estimator == "u")
    assert_allclose(es.mmd2(x, y, kernel=given_kernel, estimator=estimator), expected, rtol=1e-9)
    assert_allclose(
        es.mmd_test(x, y, kernel=given_kernel, estimator=estimator, n_resamples=9).statistic, expected, rtol=1e-9
    )


@oracles_with("mmd2_gaussian")
def test_values_of_r(oracle):
    expected = oracle.values["mmd2_gaussian"]
    x, y = (oracle.points[oracle.labels == name] for name in oracle.record["groups"][:2])
    kernel = es.metrics.Gaussian(expected["bandwidth"])
    for estimator, field in (("v", "mmd2_biased"), ("u", "mmd2_unbiased")):
        assert_allclose(es.mmd2(x, y, kernel=kernel, estimator=estimator), expected[field], rtol=1e-9, atol=1e-13)


def test_the_test_is_the_energy_test_of_the_semimetric(samples):
    for kernel, how in (
        ("gaussian", {"metric": "gaussian"}),
        ("laplacian", {"metric": "exponential"}),
        ("distance", {}),
    ):
        by_kernel = es.mmd_test(*samples, kernel=kernel, rng=4)
        by_rho = es.energy_test(*samples, rng=4, **how)
        assert by_kernel.pvalue == by_rho.pvalue
        assert_allclose(by_kernel.null_distribution, by_rho.null_distribution * 21 / (12 * 9), rtol=1e-9, atol=1e-13)
        assert by_kernel.metric == by_rho.metric
    assert "MMD test" in by_kernel.summary()


@pytest.mark.parametrize("estimator", ["v", "u"])
def test_exact_pvalue_of_unequal_sizes(estimator):
    """Against enumeration in exact arithmetic, on a lattice where ties abound."""
    x, y = [0, 1, 1], [1, 2, 0, 2]
    pooled, labels = [*x, *y], [0, 0, 0, 1, 1, 1, 1]
    R = [[definitions.Fraction(abs(a - b)) for b in pooled] for a in pooled]

    def statistic(R, labels):
        A, B = definitions.members(labels)
        return definitions.energy_distance(R, A, B, estimator == "u")

    result = es.mmd_test(np.array(x), np.array(y), kernel="distance", estimator=estimator)
    assert result.method == "exact"
    assert result.pvalue == pytest.approx(float(definitions.exact_pvalue(R, labels, statistic)), abs=1e-15)


def test_distance_kernel_is_positive_exactly_for_negative_type(rng):
    X = rng.standard_normal((20, 3))
    for base in ("center", 4):
        assert np.linalg.eigvalsh(es.distance_kernel(es.pairwise(X), base)).min() > -1e-10
        assert np.linalg.eigvalsh(es.distance_kernel(es.pairwise(X, metric="cityblock") ** 2, base)).min() < -1e-3
    K = es.distance_kernel(pdist(X), 7)
    assert_allclose(K[7], 0, atol=1e-15)
    assert_allclose(es.distance_kernel(pdist(X)).sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: es.mmd2([1.0, 2.0], [3.0, 4.0], kernel="gausian"), ValueError, r"`kernel` must be one of .*'gaussian'"),
        (lambda: es.mmd2([1.0, 2.0], [3.0, 4.0], kernel=3), TypeError, r"`kernel` must be a name, .* got int"),
        (lambda: es.mmd2([1.0, 2.0], [3.0, 4.0], alpha=0.5), ValueError, r"`metric` and `alpha` belong to"),
        (lambda: es.mmd2([1.0, 2.0], [3.0], estimator="u"), ValueError, r"at least two points in each sample, got 2 and 1"),
        (lambda: es.mmd2([1.0, 2.0], [3.0], kernel="precomputed"), ValueError, r"needs one kernel matrix of the pooled"),
        (lambda: es.mmd2(np.eye(3), groups=[1, 2, 3]), ValueError, r"`groups` must name two groups, got 3; `energy_test`"),
        (lambda: es.mmd2([1.0, 2.0]), ValueError, r"At least two samples are needed"),
        (lambda: es.mmd_test([1.0, 2.0], [np.nan]), ValueError, r"`sample 2` must be finite"),
        (lambda: es.mmd_test([1.0, 2.0], [3.0], method="bootstrap"), ValueError, r"`method` must be one of auto, exact"),
        (lambda: es.distance_kernel(np.eye(3)), ValueError, r"`R` must have a zero diagonal"),
        (lambda: es.distance_kernel(np.ones(3), base=3), ValueError, r"`base` must be at most 2, the last of 3 points"),
        (lambda: es.distance_kernel(np.ones(3), base="centre"), ValueError, r"`base` must be one of center; got 'centre'"),
        (lambda: es.distance_kernel(np.ones(3), base=[1.0, 1.0, 1.0]), ValueError, r"`base` must have sum 1, got 3"),
        (lambda: es.distance_kernel(np.ones(3), base=[1.0, 0.0]), ValueError, r"`base` must have shape \(3,\), got \(2,\)"),
        (lambda: es.kernel_distance([[1.0, 2.0], [3.0, 1.0]]), ValueError, r"`K` must be symmetric"),
        (lambda: es.kernel_distance([1.0, 2.0]), ValueError, r"`K` must be a square matrix"),
    ],
)  # fmt: skip
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("estimator", ["u", "v"])
def test_no_permutation_changes_the_median_sigma(estimator, rng):
    """The exact p is the share of labelings whose MMD, with a sigma of its own, is at least as large."""
    points = rng.lognormal(size=(7, 2))
    found = es.mmd_test(points[:3], points[3:], estimator=estimator, method="exact")
    values = []
    for chosen in itertools.combinations(range(7), 3):
        others = np.delete(points, chosen, axis=0)
        values.append(es.mmd2(points[list(chosen)], others, estimator=estimator))
    assert found.statistic == pytest.approx(values[0])
    assert found.pvalue == np.mean(np.array(values) >= values[0] - 1e-12)


@pytest.mark.slow
def test_sigma_is_the_median_distance_of_rows_at_fixed_places(rng):
    x, y = rng.normal(size=1500), rng.normal(1.0, 2.0, size=1500)
    for n, same in ((1000, True), (1500, False)):
        one, other = (es.mmd_test(a, b, n_resamples=1, rng=0).metric.sigma for a, b in ((x[:n], y[:n]), (y[:n], x[:n])))
        assert (one == other) is same
        assert one == pytest.approx(other, rel=0.2)
    for function in (es.mmd2, es.mmd_test, es.metrics.Exponential):
        assert "2,000 rows at fixed places" in " ".join(function.__doc__.split())


def test_the_unbiased_estimator_needs_two_rows_in_every_labeling(rng):
    """Whole plots differ in size: an exchange could leave a sample with one row, and NaN in the null distribution."""
    plots, g = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4]), np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    X = rng.normal(size=(9, 2))
    with pytest.raises(ValueError, match='leaves one of them with a single row; use estimator="v"'):
        es.mmd_test(X, groups=g, design=es.Design(whole_plots=plots), estimator="u", rng=0)
    even = es.Design(whole_plots=np.repeat(range(4), 2))
    found = es.mmd_test(X[:8], groups=np.repeat([0, 1], 4), design=even, estimator="u", rng=0)
    assert np.isfinite(found.null_distribution).all()
