"""Semimetrics against their formulas, their kernels, and what they know of themselves."""

import copy
import pickle
import re
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform

import energystats as es
from energystats._core import distance_loops as squares
from energystats._core import distances
from energystats.metrics.base import SCIPY_NAMES
from energystats.metrics.lookup import resolve

FORMULAS = {
    es.metrics.Euclidean(0.7): lambda r: r**0.7,
    es.metrics.Euclidean(2): lambda r: r**2,
    es.metrics.Exponential(1.5): lambda r: 2 - 2 * np.exp(-r / 3),
    es.metrics.Gaussian(1.5): lambda r: 2 - 2 * np.exp(-(r**2) / 4.5),
    es.metrics.Localised(): lambda r: r**2 * np.exp(-r / 2),
    es.metrics.Sine(0.9): lambda r: r**2 * 0.9 * np.sin(r / 0.9),
}


@pytest.fixture
def points(rng):
    return rng.standard_normal((9, 3)), rng.standard_normal((7, 3)) + 1


@pytest.mark.parametrize("metric", FORMULAS, ids=repr)
def test_formulas(metric, points):
    r = np.array([[np.sqrt(((x - y) ** 2).sum()) for y in points[1]] for x in points[0]])
    assert_allclose(metric(*points), FORMULAS[metric](r), rtol=1e-12, atol=1e-14)
    assert_allclose(es.pairwise(*points, metric=metric), FORMULAS[metric](r), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: es.metrics.Kernel("rbf", sigma=3), r"The kernel 'rbf' takes gamma; got 'sigma'"),
        (lambda: es.metrics.Kernel("linear", gamma=3), r"The kernel 'linear' takes no parameter; got 'gamma'"),
    ],
)
def test_parameters_that_a_kernel_lacks_are_refused_when_it_is_made(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("metric", [*FORMULAS, es.metrics.Kernel("rbf", gamma=0.4)], ids=repr)
def test_kernels_generate_their_semimetric(metric, points):
    """rho = K(x, x) + K(y, y) - 2 K(x, y) [G 9]."""
    x, y = points
    generated = np.diag(metric.kernel(x))[:, None] + np.diag(metric.kernel(y))[None, :] - 2 * metric.kernel(x, y)
    assert_allclose(generated, metric(x, y), atol=1e-12)


@pytest.mark.parametrize("name", SCIPY_NAMES)
def test_every_named_semimetric_has_a_kernel(name, rng):
    """Its base point is a row that the semimetric can compare; a row is 0 from itself, also where SciPy says else."""
    boolean = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
    X = rng.uniform(0.1, 1, size=(8, 4))
    X = np.c_[np.ones(8), X > 0.5].astype(float) if name in boolean else X
    metric = es.metrics.SciPyMetric(name)
    K, rho = metric.kernel(X), es.pairwise(X, metric=name)
    assert_allclose(np.diag(K)[:, None] + np.diag(K) - 2 * K, rho, atol=1e-12)
    assert_allclose(metric(X), rho, atol=1e-12)


@pytest.mark.parametrize("metric", [m for m in FORMULAS if m.negative_type], ids=repr)
def test_negative_type_is_true_where_claimed(metric, points):
    X = np.concatenate(points)
    J = np.eye(len(X)) - 1 / len(X)
    assert np.linalg.eigvalsh(-0.5 * J @ metric(X) @ J).min() > -1e-10


@pytest.mark.parametrize("name", [n for n in SCIPY_NAMES if n != "euclidean"])
def test_named_distances_are_scipys(name, rng):
    boolean = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
    X = rng.integers(0, 2, (12, 5)) if name in boolean else rng.random((12, 3))
    X = X.astype(float)
    if name in boolean:
        X[:, 0] = 1  # two rows without any one have no dice distance
    expected = squareform(pdist(X.astype(bool) if name in boolean else X, name))
    assert_allclose(es.pairwise(X, metric=name), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(es.pairwise(X, metric=name, alpha=0.5), np.sqrt(expected), rtol=1e-10, atol=1e-6)


@pytest.mark.parametrize("name", ["cityblock", "hamming", "cosine", "correlation", "jensenshannon", "sqeuclidean"])
def test_named_negative_type_is_true_where_claimed(name, rng):
    X = rng.random((25, 4))
    metric = es.metrics.SciPyMetric(name)
    assert metric.negative_type is True
    J = np.eye(25) - 1 / 25
    assert np.linalg.eigvalsh(-0.5 * J @ metric(X) @ J).min() > -1e-10
    assert es.metrics.SciPyMetric("chebyshev").negative_type is None
    assert es.metrics.SciPyMetric("cityblock", 1.5).negative_type is None


def test_sigma_is_the_median_of_nonzero_distances(points, rng):
    X = np.concatenate((*points, points[0][:2]))
    r = pdist(X)
    fitted = es.dispersion(X, np.arange(len(X)) % 2, metric="gaussian").metric
    assert fitted.sigma == pytest.approx(np.median(r[r > 0]))
    assert repr(fitted) == f"Gaussian(sigma={fitted.sigma})"
    assert es.dispersion(np.ones((4, 2)), [0, 0, 1, 1], metric="exponential").metric.sigma == 1.0
    many = rng.standard_normal((2500, 2))
    first, again = (es.metrics.Gaussian().fitted(many).sigma for _ in range(2))
    assert first == again
    assert first == pytest.approx(np.median(pdist(many)), rel=0.05)


def test_a_callable_is_taken_as_rho(points):
    x, y = points

    def chord(X, Y):
        return cdist(X, Y) ** 0.25

    assert_allclose(es.energy_distance(x, y, metric=chord), es.energy_distance(x, y, alpha=0.25), rtol=1e-12)
    assert repr(es.energy_test(x, y, metric=chord, n_resamples=9).metric) == "chord"


def test_a_kernel_is_taken_as_rho(points):
    x, y = points
    gamma = 1 / (2 * 1.5**2)
    expected = es.energy_distance(x, y, metric=es.metrics.Gaussian(1.5))
    assert_allclose(es.energy_distance(x, y, metric=es.metrics.Kernel("rbf", gamma=gamma)), expected / 1, rtol=1e-10)
    rbf = es.metrics.Kernel(lambda X, Y, c: np.exp(-c * cdist(X, Y, "sqeuclidean")), c=gamma)
    assert_allclose(es.energy_distance(x, y, metric=rbf), expected, rtol=1e-10)
    assert "c=" in repr(rbf)


def test_condensed_and_square_are_the_same(points):
    x, _ = points
    labels = np.arange(9) % 3
    square = es.dispersion(squareform(pdist(x)), labels, metric="precomputed")
    condensed = es.dispersion(pdist(x), labels, metric="precomputed")
    assert square.within == condensed.within
    assert_allclose(square.within, es.dispersion(x, labels).within, rtol=1e-12)


def test_scipy_energy_distance_is_the_root(rng):
    from scipy.stats import energy_distance

    x, y = rng.standard_normal(30), rng.exponential(size=20)
    a, b = rng.uniform(0.5, 2, 30), rng.uniform(0.5, 2, 20)
    assert_allclose(es.energy_distance(x, y), energy_distance(x, y) ** 2, rtol=1e-10)
    weighted = energy_distance(x, y, a, b) ** 2
    assert_allclose(es.energy_distance(x, y, sample_weight=(a, b)), weighted, rtol=1e-10)


@pytest.mark.parametrize("estimator", ["v", "u"])
def test_energy_distance_of_a_pooled_table_and_of_its_matrix(estimator, rng):
    x, y = rng.standard_normal((9, 2)), rng.standard_normal((7, 2)) + 1
    order = rng.permutation(16)
    X, g = np.concatenate((x, y))[order], np.repeat(["b", "a"], [9, 7])[order]
    expected = es.energy_distance(x, y, alpha=1.5, estimator=estimator)
    assert_allclose(es.energy_distance(X, groups=g, alpha=1.5, estimator=estimator), expected, rtol=1e-12)
    R = es.pairwise(X, alpha=1.5)
    assert_allclose(es.energy_distance(R, groups=g, metric="precomputed", estimator=estimator), expected, rtol=1e-12)


def test_weights_of_a_pooled_table_and_of_one_sample(rng):
    x, y = rng.standard_normal((9, 2)), rng.standard_normal((7, 2)) + 1
    a, b = rng.uniform(0.5, 2, 9), rng.uniform(0.5, 2, 7)
    expected = es.energy_distance(x, y, sample_weight=(a, b))
    pooled = {"groups": np.repeat([0, 1], [9, 7]), "sample_weight": np.concatenate((a, b))}
    assert_allclose(es.energy_distance(np.concatenate((x, y)), **pooled), expected, rtol=1e-12)
    assert es.energy_distance(x, y, sample_weight=(a, None)) == es.energy_distance(x, y, sample_weight=[a, np.ones(7)])
    assert es.energy_distance(x, y, sample_weight=(None, None), estimator="u") == es.energy_distance(
        x, y, estimator="u"
    )


@pytest.mark.slow
def test_unbiased_estimator_averages_to_zero_under_equality(rng):
    values = [es.energy_distance(*rng.standard_normal((2, 8)), estimator="u") for _ in range(600)]
    assert abs(np.mean(values)) < 4.5 * np.std(values) / np.sqrt(600)


@pytest.mark.parametrize("name", ["cityblock", "chebyshev", "euclidean", "minkowski", "sqeuclidean"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_a_weight_of_the_only_column_counts(name, alpha, rng):
    """In one column sums are read from sorted values, where a weight once was forgotten."""
    x = rng.normal(size=(9, 1))
    metric = es.metrics.SciPyMetric(name, alpha=alpha, params={"w": [4.0]})
    R, g = metric(x, x), np.arange(9) % 2
    assert_allclose(es.dispersion(x, g, metric=metric).total, R.sum() / 18, rtol=1e-12)
    found, expected = (es.energy_cluster(X, 2, metric=m, rng=0) for X, m in ((x, metric), (R, "precomputed")))
    assert_allclose(found.within, expected.within, rtol=1e-12)
    assert_allclose(es.energy_distance(x[:4], x[4:], metric=metric),
                    2 * R[:4, 4:].mean() - R[:4, :4].mean() - R[4:, 4:].mean(), atol=1e-13 * R.max())  # fmt: skip


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("d", [1, 2, 7, 60])
def test_compiled_distances_are_scipys(d, squared, rng, monkeypatch):
    X, Y = rng.standard_normal((40, d)), rng.standard_normal((2600, d))
    X[0] = Y[0]
    expected = cdist(X, Y, "sqeuclidean" if squared else "euclidean")
    found = distances.euclidean(X, Y, squared=squared)  # enough pairs for the loop
    assert_allclose(found, expected, rtol=1e-14)
    assert found[0, 0] == 0
    plain = np.empty((2, 50))
    squares.fill_distances.py_func(X[:2], Y[:50].T, not squared, plain)
    assert_allclose(plain, expected[:2, :50], rtol=1e-14)
    alive = threading.active_count()
    monkeypatch.setattr(distances, "THREADED_FROM", 1)
    monkeypatch.setattr(distances, "THREADS", 3)
    assert_array_equal(distances.euclidean(X, Y, squared=squared), found)
    assert_array_equal(distances.euclidean(X[:2], Y, squared=squared), found[:2])  # fewer rows than parts
    assert threading.active_count() == alive


@pytest.mark.parametrize(
    "metric",
    [es.metrics.Kernel("rbf", gamma=0.5), es.metrics.Euclidean(0.5), es.metrics.Gaussian(2.0), es.metrics.Gower()],
)
def test_metrics_cannot_be_changed(metric):
    """A result holds the metric that it was computed with."""
    for name in ("alpha", "sigma", "k", "params", "anything"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(metric, name, 1)
    same = pickle.loads(pickle.dumps(metric))
    assert repr(same) == repr(copy.deepcopy(metric)) == repr(metric)


def test_parameters_of_a_kernel_cannot_be_changed():
    kernel = es.metrics.Kernel("rbf", gamma=0.5)
    with pytest.raises(TypeError, match="does not support item assignment"):
        kernel.params["gamma"] = 2.0
    assert dict(pickle.loads(pickle.dumps(kernel)).params) == {"gamma": 0.5}


DIFFERENCES = ("euclidean", "sqeuclidean", "seuclidean", "mahalanobis", "cityblock", "chebyshev", "minkowski",
               es.metrics.Euclidean(0.5), es.metrics.Exponential(), es.metrics.Gaussian(2.0), es.metrics.Localised(),
               es.metrics.Sine())  # fmt: skip
OTHERS = ("braycurtis", "canberra", "cosine", "correlation", "jensenshannon", "gower", "hamming")


def test_metrics_of_differences_are_those_that_a_shift_does_not_change(rng):
    X = rng.integers(1, 6, (12, 3)) / 2
    for metric in (*DIFFERENCES, *OTHERS):
        resolved = resolve(metric, 1.0)
        (points, moved), coded = resolved.read((X, X + np.array([1, 2, 4])), ("X", "Y"))
        same = np.allclose(coded.fitted(points).between(points, points), coded.fitted(moved).between(moved, moved))
        assert not coded.by_differences or same, metric
        assert coded.by_differences == (metric not in OTHERS), metric


def test_mahalanobis_refuses_columns_that_leave_too_few_digits(rng):
    a = rng.normal(size=(30, 2))
    assert es.pairwise(np.column_stack((a[:, 0], a[:, 0] + 1e-3 * a[:, 1])), metric="mahalanobis").shape == (30, 30)
    with pytest.raises(ValueError, match="columns are linearly dependent"):
        es.pairwise(np.column_stack((a[:, 0], a[:, 0] + 1e-7 * a[:, 1])), metric="mahalanobis")


def test_parameters_tell_metrics_apart():
    by_cubes, by_fourth = (es.metrics.SciPyMetric("minkowski", params={"p": p}) for p in (3, 4))
    weighted = [es.metrics.SciPyMetric("minkowski", params={"p": 3, "w": np.ones(2)}) for _ in range(2)]
    assert by_cubes != by_fourth
    assert by_cubes != weighted[0] == weighted[1]
    assert by_cubes != "minkowski"
    assert len({by_cubes, by_fourth, weighted[0], weighted[1]}) == 3
    assert "'p': 4" in repr(by_fourth)


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("seuclidean", {"V": [1, -3.0]}, ValueError, "variance above 0 for every column, got -3 among them"),
        ("mahalanobis", {"VI": np.diag([1, -0.3])}, ValueError, "symmetric positive semi-definite matrix"),
        ("mahalanobis", {"VI": [[1, 2], [0, 5]]}, ValueError, "symmetric positive semi-definite matrix"),
        ("mahalanobis", {"VI": np.ones((2, 3))}, ValueError, "symmetric positive semi-definite matrix"),
        ("mahalanobis", {"V": [1]}, ValueError, '`params` of "mahalanobis" must be "VI", got \'V\''),
        ("minkowski", {"p": -1}, ValueError, "a number above 0, got -1"),
        ("minkowski", {"p": [1, 2]}, ValueError, "a number above 0, got an array of shape"),
        ("minkowski", {"p": "3"}, TypeError, "must hold real numbers, got the text '3'"),
        ("minkowski", 3, TypeError, "must be a dict of arguments of `cdist`, got int"),
        ("cityblock", {"w": [1, -1]}, ValueError, "weight of at least 0 for every column"),
        ("cityblock", {"w": [0, 0]}, ValueError, "weight of at least 0 for every column, and not all 0"),
        ("jensenshannon", {"base": 2}, ValueError, "must be none, got 'base'"),
    ],
)
def test_parameters_that_make_no_distance_are_refused(name, params, error, message):
    with pytest.raises(error, match=re.escape(message)):
        es.metrics.SciPyMetric(name, params=params)


@pytest.mark.parametrize(
    ("name", "params", "shape"),
    [
        ("mahalanobis", {"VI": np.eye(3)}, "(2, 2)"),
        ("seuclidean", {"V": [1]}, "(2,)"),
        ("hamming", {"w": [1] * 3}, "(2,)"),
    ],
)
def test_parameters_that_do_not_fit_the_columns_are_refused(name, params, shape, rng):
    metric = es.metrics.SciPyMetric(name, params=params)
    with pytest.raises(ValueError, match=re.escape(f"must have shape {shape} for points with 2 columns")):
        es.pairwise(rng.random((5, 2)), metric=metric)


@pytest.mark.parametrize(("name", "params"), [("euclidean", {"w": [1, 0]}), ("mahalanobis", {"VI": np.diag([1.0, 0])})])
def test_a_direction_that_is_left_out_is_no_strong_negative_type(name, params):
    metric = es.metrics.SciPyMetric(name, params=params)
    assert metric.strong_negative_type is False
    assert es.energy_distance([[0, 0], [1, 0.0]], [[0, 7], [1, 9.0]], metric=metric) == 0


def test_powers_of_a_kernel_are_kernels_where_they_are_whole(rng):
    points = 3 * rng.random((12, 2))
    for degree, known in ((2, True), (3.0, True), (0.5, None), (1.5, None)):
        metric = es.metrics.Kernel("polynomial", degree=degree, coef0=1, gamma=1)
        assert metric.negative_type is known
        assert not known or es.negative_type(es.pairwise(points, metric=metric), tol=1e-9).holds
