"""Negative type, euclidization, principal coordinates and kernels, against definitions, R and their own properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigvals, helmert
from scipy.spatial.distance import pdist, squareform

import energystats as es
from energystats._core import cailliez, gram
from energystats.geometry import negative_type as examination

from .conftest import NAMES, oracles_with, read_oracle
from .definitions import cailliez_matrix, random_dissimilarity

EPS = np.finfo(float).eps


def spectrum_of(R):
    """Eigenvalues of c -> -1/2 c'Rc on vectors of sum 0, over an orthonormal basis of them, rising."""
    H = helmert(len(R))
    return np.linalg.eigvalsh(-0.5 * H @ np.asarray(R) @ H.T)


def dissimilarities(max_n=9):
    entries = st.one_of(st.integers(0, 6).map(float), st.floats(1e-3, 10))
    return st.integers(2, max_n).flatmap(lambda n: arrays(float, n * (n - 1) // 2, elements=entries).map(squareform))


def small_limits(monkeypatch):
    """Send matrices of more than 100 points down the routes of large ones."""
    monkeypatch.setattr(examination, "DENSE_LIMIT", 100)
    monkeypatch.setattr(gram, "PAIR_LIMIT", 100)


# ---------------------------------------------------------------- negative type


@given(dissimilarities())
def test_verdict_and_smallest_eigenvalue_are_those_of_the_definition(R):
    found = es.negative_type(R)
    values = spectrum_of(R)
    scale = max(R.max(), 1e-300) * len(R)
    assert found.min_eigenvalue == pytest.approx(min(values[0], 0), abs=10 * EPS * scale)
    assert found.max_eigenvalue == pytest.approx(max(values[-1], 0), abs=10 * EPS * scale)
    assert found.threshold == pytest.approx(10 * len(R) * EPS * max(found.max_eigenvalue, R.max() / 2))
    assert found.holds == (found.min_eigenvalue >= -found.threshold)


@given(dissimilarities())
def test_a_failure_comes_with_a_witness_that_anybody_can_check(R):
    found = es.negative_type(R)
    if found.holds:
        assert found.witness is None
        assert found.violation is None
        return
    c = found.witness
    assert abs(c.sum()) <= 1e-12
    assert c @ c == pytest.approx(1)
    assert c @ R @ c > 0
    assert found.violation == pytest.approx(c @ R @ c)
    assert found.violation == pytest.approx(-2 * found.min_eigenvalue, rel=1e-6)


@pytest.mark.parametrize("power", [-140, -20, 0, 20, 145])
def test_the_verdict_does_not_depend_on_the_unit(power, rng):
    R = random_dissimilarity(rng, 12)
    unit = es.negative_type(R)
    scaled = es.negative_type(R * 10.0**power)
    assert scaled.holds == unit.holds
    assert scaled.min_eigenvalue == pytest.approx(unit.min_eigenvalue * 10.0**power, rel=1e-9)
    assert scaled.tol == unit.tol


def test_of_several_best_partitions_each_repair_is_compared_with_the_one_that_loses_least():
    """Three partitions of these distances are best; one of them is the best after clipping, too, whatever the seed."""
    upper = [1, 3, 3, 3, 2, 1, 1, 4, 1, 2, 3, 1, 3, 2, 3, 1, 3, 4, 2, 3, 1, 3, 3, 1, 1, 2, 2, 1, 1, 3, 1, 1, 3, 3, 1, 2]
    d = np.zeros((9, 9))
    d[np.triu_indices(9, 1)] = np.array(upper) / 4
    d += d.T
    for seed in range(4):
        found = es.compare_euclidizations(d, 3, rng=seed)
        clip = found.to_frame(full=True).loc["clip"]
        assert (clip["loss"], clip["adjusted_rand"], clip["changed"]) == (0.0, 1.0, False)
        assert_allclose(es.dispersion(d**2, found.labels[0], metric="precomputed").within, 0.34375, rtol=1e-12)
        own = found.labels[list(found.repairs).index("clip")]
        assert_allclose(es.dispersion(d**2, own, metric="precomputed").within, 0.34375, rtol=1e-12)


def test_rounding_is_forgiven_and_a_real_violation_is_not(rng):
    X = rng.normal(size=(40, 3)) + 1e3
    d = squareform(pdist(X))
    assert es.is_euclidean(d)
    values = np.linalg.eigvalsh(es.distance_kernel(d**2))
    for share, verdict in [(1e-14, True), (1e-9, False)]:
        bent = d.copy()
        bent[0, 1] = bent[1, 0] = np.sqrt(d[0, 1] ** 2 + 4 * share * values[-1])
        assert es.is_euclidean(bent) == verdict, share
    assert es.is_euclidean(bent, tol=1e-8)


def test_repairs_are_compared_to_the_precision_that_the_matrix_has(rng):
    d = es.pairwise(rng.normal(size=(12, 2))).astype("float32")
    assert es.lingoes(d).constant == es.cailliez(d).constant == 0
    table = es.compare_euclidizations(d, 2, rng=0).table
    assert table.loc[["lingoes", "cailliez"], "constant"].tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("n", [5, 60, 300])
def test_entries_with_fewer_digits_have_a_wider_rounding(dtype, n, rng):
    d = es.pairwise(rng.standard_normal((n, 3)) + 2)
    coarse = d.astype(dtype)
    assert es.is_euclidean(coarse)
    assert es.negative_type(coarse.astype(float).astype(dtype) ** 2).holds
    assert es.lingoes(coarse).constant == es.cailliez(coarse).constant == 0
    assert es.principal_coordinates(coarse).coordinates.shape[1] == 3 or n == 5
    bent = d.copy()
    bent[0, 1:] = bent[1:, 0] = 0.1 * bent[0, 1:]
    assert not es.is_euclidean(bent.astype("float32"))
    assert not es.is_euclidean(coarse, tol=1e-9) or n == 5


@oracles_with("is_euclid_D^1")
def test_is_euclidean_agrees_with_ade4(oracle):
    d = squareform(pdist(oracle.points)) if oracle.points is not None else oracle.data
    compared = 0
    for field, verdict in oracle.values.items():
        if field.startswith("is_euclid_D^") and verdict is not None:
            assert es.is_euclidean(d ** float(field.split("^")[1])) == verdict, field
            compared += 1
    assert compared >= 3


@pytest.mark.parametrize("kind", ["euclidean", "cityblock squared", "gaussian", "noise"])
def test_large_matrices_get_the_same_verdict_without_all_eigenvalues(kind, rng, monkeypatch):
    X = rng.normal(size=(150, 3))
    R = {
        "euclidean": squareform(pdist(X)),
        "cityblock squared": squareform(pdist(X, "cityblock")) ** 2,
        "gaussian": 2 - 2 * np.exp(-(squareform(pdist(X)) ** 2)),
        "noise": squareform(pdist(X) ** 2 + 1e-3 * rng.random(150 * 149 // 2)),
    }[kind]
    full = es.negative_type(R)
    small_limits(monkeypatch)
    found = es.negative_type(R)
    assert found.holds == full.holds == (kind in ("euclidean", "gaussian"))
    assert found.method == ("factorisation" if found.holds else "iteration")
    assert found.eigenvalues is None
    assert found.max_eigenvalue == pytest.approx(full.max_eigenvalue)
    assert found.min_eigenvalue == pytest.approx(full.min_eigenvalue, rel=1e-10, abs=full.threshold)
    if not found.holds:
        assert found.witness @ R @ found.witness == pytest.approx(-2 * full.min_eigenvalue, rel=1e-8)


def test_a_factor_proves_that_no_eigenvalue_is_below(rng):
    G = gram.centred(rng.normal(size=(30, 30)))
    lowest = spectrum_of(-2 * G)[0]
    assert gram.all_above(G, lowest - 1e-9)
    assert not gram.all_above(G, lowest + 1e-9)


def test_lanczos_that_does_not_end_falls_back_on_the_full_reduction(rng, monkeypatch):
    R = squareform(pdist(rng.normal(size=(150, 3)), "cityblock")) ** 2
    expected = es.lingoes(np.sqrt(R)).constant
    small_limits(monkeypatch)
    monkeypatch.setattr(gram, "BASIS", 3)
    monkeypatch.setattr(gram, "RESTARTS", 1)
    assert es.lingoes(np.sqrt(R)).constant == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- metrics know their type


METRICS = [
    (es.metrics.Euclidean(1.0), True, True),
    (es.metrics.Euclidean(1.999), True, True),
    (es.metrics.Euclidean(2.0), True, False),
    (es.metrics.Exponential(), True, True),
    (es.metrics.Gaussian(0.7), True, True),
    (es.metrics.Localised(), False, False),
    (es.metrics.Sine(), False, False),
    (es.metrics.Kernel("rbf", gamma=0.5), True, True),
    (es.metrics.Kernel("rbf", gamma=-0.5), None, None),
    (es.metrics.Kernel("linear"), True, False),
    (es.metrics.Kernel("poly", degree=2), True, False),
    (es.metrics.Kernel("poly", degree=2, coef0=-1), None, None),
    (es.metrics.Kernel("poly", gamma=1.0, degree=-1), None, None),
    (es.metrics.Aitchison(), True, False),
    (es.metrics.Aitchison(pseudocount=1), True, False),  # (0, 0) and (1, 1) have distance 0
    (es.metrics.Kernel("sigmoid"), None, None),
    (es.metrics.Kernel(lambda X, Y: X @ Y.T), None, None),
    (es.metrics.SciPyMetric("cityblock"), True, False),
    (es.metrics.SciPyMetric("cityblock", 0.5), True, True),
    (es.metrics.SciPyMetric("cityblock", 1.5), None, None),
    (es.metrics.SciPyMetric("chebyshev"), None, None),
    (es.metrics.SciPyMetric("cosine", 0.5), True, False),
    (es.metrics.SciPyMetric("jensenshannon", 2.0), True, False),
]


@pytest.mark.parametrize(("metric", "known", "strong"), METRICS, ids=lambda value: repr(value)[:40])
def test_what_a_metric_says_of_itself(metric, known, strong):
    assert metric.negative_type is known
    assert metric.strong_negative_type is strong


@pytest.mark.parametrize("metric", [m for m, known, _ in METRICS if known], ids=repr)
def test_known_negative_type_is_seen_on_random_points(metric, rng):
    X = rng.random((60, 4)) + 0.01
    assert spectrum_of(es.pairwise(X, metric=metric))[0] >= -1e-11
    found = es.negative_type(X, metric=metric)
    assert found.holds
    assert found.method == "formula"


@pytest.mark.parametrize("metric", [es.metrics.Localised(), es.metrics.Sine(), es.metrics.SciPyMetric("cityblock", 2)])
def test_the_others_fail_on_some_points(metric):
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), -1).reshape(-1, 2)
    found, rho = es.negative_type(2 * grid, metric=metric), metric(2 * grid)
    assert not found.holds
    assert found.witness @ rho @ found.witness > 0


@pytest.mark.parametrize(("alpha", "strong"), [(0.5, True), (1.0, False)])
def test_gower_says_whether_it_sees_more_than_columns(alpha, strong):
    table = pd.DataFrame({"a": [0.0, 1.0, 0.0, 1.0], "b": list("uuvv")})
    found = es.negative_type(table, metric="gower", alpha=alpha)
    assert found.strong is strong
    crossed = es.energy_distance(table.iloc[[0, 3]], table.iloc[[1, 2]], metric="gower", alpha=alpha)
    assert (crossed > 1e-9) == strong
    table.loc[0, "b"] = None
    assert es.negative_type(table, metric="gower", alpha=alpha).strong is None


def test_marginals_alone_count_where_negative_type_is_not_strong():
    """Two distributions with the same columns: E = 0 for the city block distance, not for its root, which is strong."""
    x, y = [[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    assert es.energy_distance(x, y, metric="cityblock") == pytest.approx(0, abs=1e-15)
    assert es.energy_distance(x, y, metric="cityblock", alpha=0.5) > 0.1


def test_random_subsets_decide_on_many_points(rng, monkeypatch):
    monkeypatch.setattr("energystats.geometry.negative_type.DENSE_LIMIT", 100)
    X = rng.normal(size=(400, 2))

    def maximum(A, B):
        return np.abs(A[:, None] - B[None]).max(axis=2)

    def squared_maximum(A, B):
        return maximum(A, B) ** 2

    passed = es.negative_type(X, metric=lambda A, B: np.sqrt(maximum(A, B)) ** 0.2, n_points=50, rng=1)
    assert passed.holds
    assert passed.method == "random subsets"
    assert "no proof" in passed.summary()
    failed = es.negative_type(X, metric=squared_maximum, n_points=50, rng=1)
    assert not failed.holds
    assert failed.n == failed.rows.size == failed.witness.size == 50
    part = X[failed.rows]
    assert failed.witness @ squared_maximum(part, part) @ failed.witness == pytest.approx(failed.violation)
    again = es.negative_type(X, metric=squared_maximum, n_points=50, rng=1)
    assert np.array_equal(again.rows, failed.rows)


# ---------------------------------------------------------------- Lingoes and Cailliez


def in_reference(prefix):
    """(data set, field) of every value in R's reference whose name begins like that and that R could compute."""
    return [
        (name, key)
        for name in NAMES
        for key, value in read_oracle(name).values.items()
        if key.startswith(prefix) and value
    ]


def distances_behind(oracle, field):
    if oracle.points is None:
        d = oracle.data
    else:
        d = squareform(pdist(oracle.points, "cityblock" if field.endswith("manhattan") else "euclidean"))
    return d / d.max() if "rescaled" in field else d


@pytest.mark.parametrize(("name", "field"), [*in_reference("lingoes_constant"), *in_reference("cailliez_constant")])
def test_constants_and_distances_agree_with_ade4(name, field):
    oracle = read_oracle(name)
    method = field.split("_")[0]
    found = getattr(es, method)(distances_behind(oracle, field))
    assert found.constant == pytest.approx(float(oracle.values[field]), rel=1e-10)
    fields = (field.replace("constant", "transformed_all_pairs"), field.replace("constant", "transformed"))
    every_pair = next((oracle.values[f] for f in fields if oracle.values.get(f) is not None), None)
    if every_pair is not None:
        np.testing.assert_allclose(squareform(found.distances, checks=False), np.array(every_pair, float), rtol=1e-10)


@pytest.mark.parametrize(("name", "field"), in_reference("pcoa_"))
def test_eigenvalues_agree_with_ape(name, field):
    oracle = read_oracle(name)
    method = field.split("_")[1]
    found = es.principal_coordinates(distances_behind(oracle, field), None if method == "none" else method)
    entry = oracle.values[field]
    theirs = np.sort(np.array(entry.get("corrected_eigenvalues") or entry["eigenvalues"], float))[::-1]
    ours = (
        found.eigenvalues[: theirs.size] if theirs.min() > 0 else found.eigenvalues
    )  # ape may list positive ones only
    assert theirs.size >= 1
    rounding = max(1e-9 * np.abs(theirs).max(), 1.5e-8)  # ape sets what is below 1.5e-8 to 0
    np.testing.assert_allclose(ours, theirs, atol=rounding)


@given(dissimilarities())
def test_repairs_are_euclidean_and_no_smaller_constant_is(d):
    assume(not es.is_euclidean(d))
    top = d.max()
    for method, other in [("lingoes", lambda c: np.sqrt(np.maximum(d**2 + 2 * c, 0))), ("cailliez", lambda c: d + c)]:
        found = getattr(es, method)(d)
        off = ~np.eye(len(d), dtype=bool)
        np.testing.assert_allclose(found.distances[off], other(found.constant)[off], rtol=1e-13)
        assert (np.diagonal(found.distances) == 0).all()
        assert es.is_euclidean(found.distances)
        assert found.changed
        rounding = 1e-6 * (top + found.constant)
        np.testing.assert_allclose(squareform(pdist(found.embedding)), found.distances, atol=rounding)
        if found.constant > 1e-5 * top:
            less = np.where(off, other(found.constant * (1 - 1e-4)), 0.0)
            assert spectrum_of(less**2)[0] < 0
        for more in (1.01, 2, 30):
            assert es.is_euclidean(np.where(off, other(found.constant * more), 0.0))


@given(dissimilarities())
def test_cailliez_constant_is_the_largest_real_eigenvalue_on_both_routes(d):
    assume(not es.is_euclidean(d))
    values = eigvals(cailliez_matrix(d / d.max()))
    largest = values.real[np.abs(values.imag) < 1e-9].max()
    assume(largest > 1e-4)  # a nearly double eigenvalue of an unsymmetric matrix has half the digits
    assert es.cailliez(d).constant / d.max() == pytest.approx(largest, rel=1e-8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cailliez, "BLOCK_LIMIT", 0)
        assert es.cailliez(d).constant / d.max() == pytest.approx(largest, rel=1e-8)


def test_the_last_of_several_zeros_is_found(rng):
    """A pair with G(kappa) indefinite near 0 and again between 10 and 30: the constant is 30."""
    H = helmert(6)
    V = H.T @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    F_L = V @ np.diag([-0.02, 150.0, 3.0, 2.0, 1.0]) @ V.T
    F_C = V @ np.diag([0.0, -10.0, 0.0, 0.0, 0.0]) @ V.T
    for limit in (0, 128):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cailliez, "BLOCK_LIMIT", limit)
            assert cailliez.additive_constant(F_L, F_C, (-0.02, V[:, 0])) == pytest.approx(30, rel=1e-12)
    assert cailliez._climb_to_zero(F_L, F_C, 0.1, V[:, 0]) == pytest.approx(0.2)  # alone, a climb ends at the first
    assert cailliez._find_next_failure(F_L, F_C, 30.0, 1e3, V[:, 0]) is None


@pytest.mark.parametrize("method", ["lingoes", "cailliez"])
def test_iteration_and_full_reduction_give_the_same_constant(method, rng, monkeypatch):
    d = squareform(pdist(rng.normal(size=(150, 4)), "cityblock") * rng.uniform(0.9, 1.1, 150 * 149 // 2))
    full = getattr(es, method)(d)
    small_limits(monkeypatch)
    found = getattr(es, method)(d)
    assert found.constant == pytest.approx(full.constant, rel=1e-10)
    assert es.is_euclidean(found.distances)


@pytest.mark.parametrize("method", ["lingoes", "cailliez", "clip_spectrum", "flip_spectrum"])
def test_euclidean_distances_come_back_to_the_last_bit(method, rng):
    d = squareform(pdist(rng.normal(size=(30, 3))))
    d[3] = d[4] = 0.0
    d = squareform(pdist(rng.integers(0, 3, size=(30, 2)).astype(float)))  # with duplicates
    found = getattr(es, method)(d)
    assert np.array_equal(found.distances, d)
    assert found.constant in (0.0, None)
    assert not found.changed
    assert "unchanged" in found.summary()
    np.testing.assert_allclose(squareform(pdist(found.embedding)), d, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-130, 1e-8, 1.0, 1e8, 1e140])
@pytest.mark.parametrize("method", ["lingoes", "cailliez"])
def test_constants_follow_the_unit_of_the_data(method, scale, rng):
    d = random_dissimilarity(rng, 10)
    unit, scaled = getattr(es, method)(d), getattr(es, method)(d * scale)
    power = 2 if method == "lingoes" else 1
    assert scaled.constant == pytest.approx(unit.constant * scale**power, rel=1e-10)
    np.testing.assert_allclose(scaled.distances, unit.distances * scale, rtol=1e-10)


@given(dissimilarities())
def test_clipping_and_flipping_change_the_eigenvalues_as_they_say(d):
    assume(not es.is_euclidean(d))
    before = np.linalg.eigvalsh(es.distance_kernel(d**2))
    for repair, rule in [(es.clip_spectrum, lambda v: np.maximum(v, 0)), (es.flip_spectrum, np.abs)]:
        found = repair(d)
        after = np.linalg.eigvalsh(es.distance_kernel(found.distances**2))
        np.testing.assert_allclose(after, np.sort(rule(before)), atol=1e-10 * d.max() ** 2 * len(d))
        assert (found.distances >= d - 1e-6 * d.max()).all()


# ---------------------------------------------------------------- kernels


def gower_weights(n, rng):
    s = rng.normal(size=n)
    return s / s.sum() if abs(s.sum()) > 0.1 else np.full(n, 1 / n)


def test_lingoes_of_a_kernel_is_that_of_its_distances_for_every_origin(rng):
    n = 9
    d = random_dissimilarity(rng, n)
    repaired = es.lingoes(d)
    J = np.eye(n) - 1 / n
    for base in ("center", 4, gower_weights(n, rng)):
        K = es.distance_kernel(d**2, base)
        found = es.lingoes_kernel(K)
        assert found.constant == pytest.approx(repaired.constant, rel=1e-10)
        np.testing.assert_allclose(found.distances, repaired.distances, rtol=1e-10)
        np.testing.assert_allclose(found.kernel, J @ K @ J + found.constant * J, atol=1e-10 * np.abs(K).max())
        s = {str: np.full(n, 1 / n), int: np.eye(n)[4]}.get(type(base), base)
        P = np.eye(n) - np.outer(np.ones(n), s)
        right = K - found.constant * P @ (np.ones((n, n)) - np.eye(n)) @ P.T  # [K 22]
        np.testing.assert_allclose(es.distance_kernel(found.distances**2, base), right, atol=1e-9 * np.abs(right).max())


def test_eigenvectors_satisfy_the_identity_of_theorem_5_though_its_pencil_is_singular(rng):
    """lambda (I - 1s') v = K_s v for the eigenpairs of J K_s J; s is a left null vector of both sides."""
    n = 7
    d = random_dissimilarity(rng, n)
    s = gower_weights(n, rng)
    K = es.distance_kernel(d**2, s)
    P = np.eye(n) - np.outer(np.ones(n), s)
    size = 1 + np.abs(s).sum()  # weights of both signs sum to 1, and may be large
    np.testing.assert_allclose(s @ P, 0, atol=1e-12 * size)
    np.testing.assert_allclose(s @ K, 0, atol=1e-12 * size * np.abs(K).max())
    values, vectors = np.linalg.eigh(es.center_kernel(K))
    for value, v in zip(values, vectors.T, strict=True):
        if abs(value) > 1e-6:
            # a small eigenvalue has a vector that rounding mixes with that of 0, the constant
            rounding = 1e-11 + 1e-15 * np.abs(K).max() / abs(value)
            np.testing.assert_allclose(value * P @ v, K @ v, atol=rounding * size * np.abs(K).max())


@given(dissimilarities(), st.integers(0, 2**32 - 1))
def test_kernels_of_one_rho_are_equivalent_and_others_are_not(R, seed):
    rng = np.random.default_rng(seed)
    s = gower_weights(len(R), rng)
    K = es.distance_kernel(R)
    moved = es.center_kernel(K, s)
    rounding = 1e-12 * (1 + np.abs(s).sum()) ** 2 * max(R.max(), 1)
    np.testing.assert_allclose(moved, es.distance_kernel(R, s), atol=rounding)
    assert es.equivalent_kernels(K, es.center_kernel(K, base=0))
    f = rng.normal(size=len(R))
    assert es.equivalent_kernels(K, K + f[:, None] + f[None, :])
    if R.max() > 0:
        assert not es.equivalent_kernels(K, 1.001 * K)


def test_centring_is_what_scikit_learn_does(rng):
    from sklearn.preprocessing import KernelCenterer

    A = rng.normal(size=(12, 5))
    np.testing.assert_allclose(es.center_kernel(A @ A.T), KernelCenterer().fit_transform(A @ A.T), atol=1e-12)


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_nearest_psd_is_nearer_than_any_other(n, seed):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, n))
    K = K + K.T
    near = es.nearest_psd(K)
    assert np.array_equal(near, near.T)
    assert np.linalg.eigvalsh(near)[0] >= -1e-13 * n * np.abs(K).max()
    # optimal in the convex cone: the residual is negative semi-definite and orthogonal to the answer
    residual = K - near
    assert np.linalg.eigvalsh(residual)[-1] <= 1e-12 * n * np.abs(K).max()
    assert abs(np.sum(residual * near)) <= 1e-11 * n * np.sum(K * K)
    for _ in range(5):
        B = rng.normal(size=(n, n))
        assert np.linalg.norm(K - near) <= np.linalg.norm(K - B @ B.T) + 1e-12


def test_nearest_psd_returns_a_positive_matrix_itself(rng):
    A = rng.normal(size=(6, 3))
    assert np.array_equal(es.nearest_psd(A @ A.T), 0.5 * (A @ A.T + (A @ A.T).T))


# ---------------------------------------------------------------- principal coordinates


def test_coordinates_of_distances_are_the_points_up_to_motion(rng):
    X = rng.normal(size=(25, 3)) + 5
    d = squareform(pdist(X))
    found = es.principal_coordinates(d)
    assert found.coordinates.shape == (25, 3)
    np.testing.assert_allclose(squareform(pdist(found.coordinates)), d, atol=1e-10)
    np.testing.assert_allclose(found.coordinates.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.eigenvalues[:3], (found.coordinates**2).sum(axis=0))
    assert found.explained.sum() == pytest.approx(1)
    assert found.negative_share == 0
    assert found.n_negative == 0
    largest = np.abs(found.coordinates).argmax(axis=0)
    assert (found.coordinates[largest, range(3)] > 0).all()


def test_negative_eigenvalues_are_accounted_for(rng):
    d = random_dissimilarity(rng, 15)
    found = es.principal_coordinates(d)
    values = np.linalg.eigvalsh(es.distance_kernel(d**2))
    np.testing.assert_allclose(found.eigenvalues, values[::-1], atol=1e-9 * values[-1])
    assert found.n_negative == (values < -found.threshold).sum() > 0
    assert found.negative_share == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert found.explained.sum() + found.negative_share == pytest.approx(1)
    few = es.principal_coordinates(d, n_components=2)
    np.testing.assert_allclose(few.coordinates, found.coordinates[:, :2], atol=1e-9)
    np.testing.assert_allclose(few.eigenvalues, found.eigenvalues, atol=1e-9 * values[-1])


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
def test_corrected_coordinates_have_the_corrected_distances(correction, rng):
    d = random_dissimilarity(rng, 15)
    found = es.principal_coordinates(d, correction)
    repaired = getattr(es, correction)(d)
    assert found.constant == repaired.constant
    assert found.n_negative == 0
    assert found.coordinates.shape == (15, 13)
    np.testing.assert_allclose(squareform(pdist(found.coordinates)), repaired.distances, atol=1e-6 * d.max())
    np.testing.assert_allclose(found.coordinates, repaired.embedding, atol=1e-6 * d.max())


@pytest.mark.parametrize(("kernel", "params"), [("gaussian", {"sigma": 1.3}), ("precomputed", {})])
def test_kernel_pca_is_scikit_learns(kernel, params, rng):
    from sklearn.decomposition import KernelPCA

    X = rng.normal(size=(30, 3))
    K = es.metrics.Gaussian(1.3).kernel(X)
    ours = es.kernel_pca(X, 4, kernel=es.metrics.Gaussian(**params)) if params else es.kernel_pca(K, 4)
    theirs = KernelPCA(4, kernel="precomputed").fit(K)
    np.testing.assert_allclose(ours.eigenvalues[:4], theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(ours.coordinates), np.abs(theirs.transform(K)), atol=1e-8)


def test_squared_distances_between_all_kernel_components_are_rho(rng):
    X = rng.normal(size=(20, 2))
    found = es.kernel_pca(X, None, kernel="distance", alpha=0.7)
    np.testing.assert_allclose(squareform(pdist(found.coordinates)) ** 2, es.pairwise(X, alpha=0.7), atol=1e-10)


# ---------------------------------------------------------------- comparison


def test_the_table_says_what_the_repairs_do(rng):
    d = random_dissimilarity(rng, 14)
    found = es.compare_euclidizations(d, 3, rng=0)
    table = found.table
    assert table.index.tolist() == ["none", "lingoes", "cailliez", "clip", "flip"]
    repairs = [es.lingoes(d), es.cailliez(d), es.clip_spectrum(d), es.flip_spectrum(d)]
    for name, repaired in zip(table.index[1:], repairs, strict=True):
        row = table.loc[name]
        moved = np.abs(squareform(repaired.distances - d, checks=False)) / d.max()
        assert row["mean_change"] == pytest.approx(moved.mean())
        assert row["largest_change"] == pytest.approx(moved.max())
        labels = found.labels[table.index.get_loc(name)]
        dispersion = es.dispersion(repaired.distances**2, labels, metric="precomputed")
        assert row["within"] == pytest.approx(dispersion.within)
        assert row["share"] == pytest.approx(dispersion.between / dispersion.total)
        original = es.dispersion(repaired.distances**2, found.labels[0], metric="precomputed")
        assert row["loss"] == pytest.approx((original.within - dispersion.within) / dispersion.total, abs=1e-10)
        assert row["loss"] >= 0
        assert row["changed"] == (row["loss"] > 0)
        assert row["min_eigenvalue"] >= -1e-10 * d.max() ** 2
    assert table["constant"].iloc[:3].tolist() == [0, repairs[0].constant, repairs[1].constant]
    assert table.loc["none", "min_eigenvalue"] == pytest.approx(-repairs[0].constant)


def test_lingoes_never_changes_the_best_partition(rng):
    for _ in range(10):
        table = es.compare_euclidizations(random_dissimilarity(rng, 12), 2, n_init=3, rng=1).table
        assert not table.loc["lingoes", "changed"]
        assert table.loc["lingoes", "loss"] == 0


@pytest.mark.parametrize(("seed", "k"), [(0, 2), (15, 9), (87, 11), (100, 9), (170, 9)])
def test_no_partition_of_another_matrix_is_better_than_the_best(seed, k):
    """With few starts a repair lost less than nothing, by a partition that the original had found last."""
    rng = np.random.default_rng(seed)
    d = random_dissimilarity(rng, 55)
    assert (es.compare_euclidizations(d, k, n_init=1, rng=seed).losses >= 0).all()


# ---------------------------------------------------------------- bad and unusual input

FUNCTIONS = [es.lingoes, es.cailliez, es.clip_spectrum, es.flip_spectrum, es.is_euclidean, es.principal_coordinates]


@pytest.fixture(params=[*FUNCTIONS, es.negative_type], ids=lambda f: f.__name__)
def function(request):
    return request.param


def square():
    return squareform([1.0, 2.0, 3.0, 1.5, 2.5, 1.0])


BAD = {
    "not square": (np.ones((3, 4)), r"must be a square matrix, got shape \(3, 4\)"),
    "asymmetric": (
        square() + np.triu(np.full((4, 4), 0.5), 2),
        r"entry \(0, 2\) is .* a difference of 0\.5, the",
    ),
    "diagonal": (square() + np.diag([0, 0, 7.0, 0]), r"zero diagonal, but entry \(2, 2\) is 7"),
    "empty": (np.empty((0, 0)), "square matrix"),
    "condensed": ([1.0, 2.0], r"n\(n - 1\)/2 entries"),
    "huge": (square() * 1e160, "must not exceed 1e\\+150"),
    "nothing but dust": (square() * 1e-305, "rescale"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_matrices_are_explained(function, case):
    values, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        function(values)


def test_missing_and_infinite_entries_are_named(function):
    R = square()
    R[1, 3] = R[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"has 2 NaN values, the first in entry \(1, 3\)"):
        function(R)
    with pytest.raises(ValueError, match=r"has 1 NaN values, the first in entry \(1, 3\)"):
        function(squareform(R, checks=False))  # which names every pair once
    R[1, 3] = R[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"entry \(1, 3\) is inf"):
        function(R)
    R[:2, 2:] = R[2:, :2] = np.inf
    with pytest.raises(ValueError, match=r"no path connects these 2 components: \{0, 1\}, \{2, 3\}"):
        function(R)
    condensed = squareform(np.where(np.eye(4), 0, R), checks=False)
    with pytest.raises(ValueError, match=r"no path connects"):
        function(condensed)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_negative_dissimilarities_are_refused_where_they_mean_nothing(function):
    R = square()
    R[0, 2] = R[2, 0] = -1
    with pytest.raises(ValueError, match=r"`d` must not be negative, but entry \(0, 2\) is -1"):
        function(R)


def test_a_negative_rho_is_of_no_negative_type():
    found = es.negative_type([[0.0, -1.0], [-1.0, 0.0]])
    assert not found.holds
    assert found.violation == pytest.approx(1.0)


@pytest.mark.parametrize("tol", [0, -1.0, np.nan])
def test_tolerances_are_positive(function, tol):
    with pytest.raises(ValueError, match="`tol` must be positive"):
        function(square(), tol=tol)


@pytest.mark.parametrize("text", [[["0", "1"], ["1", "0"]], [[0, True], [True, 0]]])
def test_text_is_a_type_error(function, text):
    with pytest.raises(TypeError):
        function(np.array(text, dtype=str) if isinstance(text[0][1], str) else np.array(text, dtype=bool))


@pytest.mark.parametrize("d", [[[0.0]], [[0, 3], [3, 0]], np.zeros((4, 4))], ids=["one", "two", "zeros"])
def test_few_points_and_coinciding_ones_are_euclidean(d):
    assert es.is_euclidean(d)
    assert es.negative_type(d).holds
    for repair in (es.lingoes, es.cailliez, es.clip_spectrum, es.flip_spectrum):
        found = repair(d)
        assert np.array_equal(found.distances, np.asarray(d, float))
        assert found.constant in (0.0, None)
        assert found.embedding.shape == (len(d), 1 if len(d) == 2 else 0)
    found = es.principal_coordinates(d)
    assert found.coordinates.shape == (len(d), 1 if len(d) == 2 else 0)
    assert found.eigenvalues.shape == (len(d),)


def test_integers_lists_frames_and_condensed_vectors_are_one(rng):
    d = np.array([[0, 1, 5, 2], [1, 0, 1, 4], [5, 1, 0, 3], [2, 4, 3, 0]])
    expected = es.cailliez(d.astype(float))
    names = list("abcd")
    frame = pd.DataFrame(d, names, names)
    for given_as in (d, d.tolist(), squareform(d), frame, d.astype("int8"), np.asfortranarray(d)):
        found = es.cailliez(given_as)
        assert found.constant == expected.constant
        assert np.array_equal(found.distances, expected.distances)
    assert es.cailliez(frame).names == tuple(names)
    assert es.principal_coordinates(pd.DataFrame(d, columns=names)).to_frame().index.tolist() == names
    with pytest.raises(ValueError, match="row 1 is 'b' and column 1 is 'c'"):
        es.lingoes(pd.DataFrame(d, names, ["a", "c", "b", "d"]))


def test_options_are_checked():
    d = square()
    with pytest.raises(ValueError, match=r"`correction` must be one of lingoes, cailliez; got 'lingos'\. Did you mean"):
        es.principal_coordinates(d, "lingos")
    with pytest.raises(ValueError, match="`n_components` must be at least 1"):
        es.principal_coordinates(d, n_components=0)
    with pytest.raises(ValueError, match="`dimensions` must be 2 or 3"):
        es.principal_coordinates(d).plot(dimensions=4)
    with pytest.raises(ValueError, match="`k` must be at most 4"):
        es.compare_euclidizations(d, 5)
    with pytest.raises(ValueError, match="distinct points, 1, got 2"):
        es.compare_euclidizations(np.zeros((3, 3)), 2)
    with pytest.raises(ValueError, match="same shape"):
        es.equivalent_kernels(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="need points"):
        es.kernel_pca(np.eye(3), standardize=True)


def test_the_user_s_matrix_is_left_alone(rng):
    d = random_dissimilarity(rng, 8)
    kept = d.copy()
    for repair in (es.lingoes, es.cailliez, es.clip_spectrum, es.flip_spectrum):
        repair(d)
    es.principal_coordinates(d, "cailliez")
    es.compare_euclidizations(d, 2, rng=0)
    assert np.array_equal(d, kept)


def test_three_dimensions_and_groups_are_drawn(rng):
    import matplotlib.pyplot as plt

    d = squareform(pdist(rng.normal(size=(12, 4))))
    found = es.principal_coordinates(pd.DataFrame(d, list("abcdefghijkl"), list("abcdefghijkl")))
    ax = found.plot(dimensions=3, labels=["x", "y"] * 6)
    assert ax.name == "3d"
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["x", "y"]
    assert f"{found.explained[2]:.1%}" in ax.get_zlabel()
    assert {t.get_text().strip() for t in ax.texts} == set("abcdefghijkl")
    flat = found.plot(labels=np.arange(12) % 2)
    assert sum(len(c.get_offsets()) for c in flat.collections) == 12
    plt.close("all")


# ---------------------------------------------------------------- ordination


@pytest.fixture
def communities(rng):
    """Samples by species with names, their principal coordinates, and groups."""
    table = pd.DataFrame(rng.poisson(3, (12, 5)) + 1.0, index=[f"plot {i}" for i in range(12)], columns=list("uvwxy"))
    return table, es.principal_coordinates(es.pairwise(table, metric="bray")), np.repeat(["a", "b", "c"], 4)


def test_weighted_averages_match_their_definition(communities):
    """vegan's wascores(coordinates, table)."""
    table, found, _ = communities
    scores = found.weighted_averages(table)
    assert scores.index.tolist() == list("uvwxy")
    for name in table:
        parts = [table[name].iloc[i] * found.coordinates[i] for i in range(12)]
        assert_allclose(scores.loc[name], sum(parts) / table[name].sum(), atol=1e-13)
    assert found.weighted_averages(table.assign(v=0.0)).loc["v"].isna().all()
    for wrong, match in ((table.iloc[:5], "one row for each of 12"), (-table, "negative"), (table.iloc[::-1], "index")):
        with pytest.raises(ValueError, match=match):
            found.weighted_averages(wrong)


def test_an_ordination_in_one_call(communities):
    table, found, groups = communities
    ax = found.plot(labels=groups, hulls=True, species=table, axes=(1, 3))
    assert ax.get_ylabel().startswith("axis 3")
    assert len(ax.lines) == 3
    place = found.coordinates[:, [0, 2]]
    for line, name in zip(ax.lines, "abc", strict=True):
        corners = {tuple(row) for row in line.get_xydata()}
        assert corners <= {tuple(row) for row in place[groups == name]}
    drawn = np.concatenate([part.get_offsets() for part in ax.collections if len(part.get_offsets()) == 1])
    assert_allclose(drawn, [place[groups == name].mean(axis=0) for name in "abc"])
    tips = np.concatenate([part.get_offsets() for part in ax.collections if len(part.get_offsets()) == 5])
    assert_allclose(tips, found.weighted_averages(table)[["axis1", "axis3"]])
    texts = {text.get_text() for text in ax.texts}
    assert {f"plot {i}" for i in range(12)} <= texts
    assert texts & set("uvwxy")


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"hulls": True}, "`hulls` need groups: give `labels`"),
        (
            {"labels": np.arange(12) % 2, "hulls": True, "dimensions": 3},
            "`dimensions` must be 2, and `ax` plane, for `hulls`",
        ),
        ({"axes": (1, 1)}, "`axes` must name 2 different axes"),
        ({"axes": (1, 2, 3)}, "`axes` must name 2 different axes"),
        ({"axes": (0, 1)}, "`axes` must be at least 1"),
        ({"axes": (1, 99)}, "`axes` must be at most"),
    ],
)
def test_pictures_that_cannot_be_drawn(communities, how, match):
    with pytest.raises(ValueError, match=match):
        communities[1].plot(**how)


def test_hulls_are_not_drawn_on_solid_axes(communities):
    import matplotlib.pyplot as plt

    solid = plt.figure().add_subplot(projection="3d")
    with pytest.raises(ValueError, match="`dimensions` must be 2, and `ax` plane, for `hulls`"):
        communities[1].plot(solid, labels=np.arange(12) % 2, hulls=True)
    plt.close("all")


def test_subsets_that_coincide_say_nothing_of_negative_type():
    X = np.ones((3000, 2))
    X[7] = [3, 4]
    assert es.negative_type(X, metric="chebyshev", rng=0).holds


@pytest.mark.parametrize("repair", [es.clip_spectrum, es.flip_spectrum])
def test_points_that_are_one_stay_one(repair, rng):
    """They came back at up to 3e-7 of each other: roots of rounding."""
    d = rng.uniform(1, 10, size=(12, 12))
    d = np.triu(d, 1) + np.triu(d, 1).T
    twice = np.tile(np.arange(12), 2)
    found = repair(d[np.ix_(twice, twice)])
    assert found.changed
    assert_array_equal(found.distances[:12, 12:], found.distances[:12, :12])
    assert_array_equal(found.distances, found.distances.T)
    with pytest.raises(ValueError, match="number of distinct points, 12"):
        es.energy_cluster(found.distances**2, 13, metric="precomputed", rng=0)
