"""Bad input: each error by its message, each warning by its class, and nothing that comes out as NaN."""

import inspect
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

import energystats as es

X = np.random.default_rng(0).standard_normal((20, 3))
G = np.repeat(["a", "b"], 10)
EACH = {  # every entry function that takes one table of points
    "dispersion": lambda X, **how: es.dispersion(X, G, **how),
    "energy_test": lambda X, **how: es.energy_test(X, groups=G, **how),
    "energy_cluster": lambda X, **how: es.energy_cluster(X, 2, **how),
    "cluster_test": lambda X, **how: es.cluster_test(X, 2, **how),
    "energy_hclust": lambda X, **how: es.energy_hclust(X, **how),
    "select_k": lambda X, **how: es.select_k(X, 3, n_init=2, n_resamples=2, **how),
    "cluster_stability": lambda X, **how: es.cluster_stability(X, 2, n_resamples=2, **how),
    "silhouette": lambda X, **how: es.silhouette(X, G, **how),
    "validate_clusters": lambda X, **how: es.validate_clusters(X, 2, **how),
    "pairwise": lambda X, **how: es.pairwise(X, **how),
}


def with_values(*places):
    bad = X.copy()
    for i, j, value in places:
        bad[i, j] = value
    return bad


@pytest.fixture(params=EACH)
def entry(request):
    return EACH[request.param]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (with_values((0, 1, np.nan), (3, 1, np.nan), (2, 0, np.inf)), ValueError, r"2 NaN and 1 infinite values in columns 0, 1"),
        (with_values((0, 2, -np.inf)), ValueError, r"1 infinite values in column 2;"),
        (np.empty((0, 3)), ValueError, r"`X` must have at least one row and one column, got shape \(0, 3\)"),
        (np.empty((20, 0)), ValueError, r"at least one row and one column, got shape \(20, 0\)"),
        ([[1.0, 2.0], [3.0]], ValueError, r"`X` must be a rectangular table"),
        (X.astype(object), TypeError, r"`X` must hold real numbers, got dtype object"),
        (X.astype(str), TypeError, r"`X` must hold real numbers, got dtype str"),
        (X > 0, TypeError, r"`X` must hold real numbers, got dtype bool"),
        (X + 1j, TypeError, r"`X` must hold real numbers, got dtype complex"),
        (csr_array(X), TypeError, r"`X` must be dense, got a sparse csr_array; use `X.toarray\(\)`"),
        (X[None], ValueError, r"`X` must have shape \(n,\) or \(n, d\), got \(1, 20, 3\)"),
        (X * 1e160, ValueError, r"`X` must not exceed 1e\+150 in size"),
        (pd.DataFrame({"u": X[:, 0], "v": G}), TypeError, r"these columns do not: 'v' \((object|str)\)"),
        (pd.DataFrame(with_values((0, 1, np.nan)), columns=list("uvw")), ValueError, r"1 NaN values in column v;"),
        (pd.DataFrame({"u": pd.array([1, None, *range(18)], dtype="Int64")}), ValueError, r"1 NaN values in column u;"),
        (np.ma.masked_less(X, -1), ValueError, r"`X` must be finite, but has \d+ NaN"),
    ],
)  # fmt: skip
def test_tables(entry, data, error, message):
    with pytest.raises(error, match=message):
        entry(data)


@pytest.mark.parametrize("call", [es.pairwise, es.negative_type, lambda X: es.energy_cluster(X, 2),
                                  lambda X: es.EnergyClustering().fit(X), lambda X: es.cluster_test(X, 2)])  # fmt: skip
def test_a_path_is_no_table(call):
    with pytest.raises(TypeError, match=r"must hold real numbers, got the text 'table.parquet'. A file is read first"):
        call("table.parquet")


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"alpha": 0}, ValueError, r"`alpha` must be from 0.001 to 2, got 0"),
        ({"alpha": 2.5}, ValueError, r"`alpha` must be from 0.001 to 2, got 2.5"),
        ({"alpha": np.nan}, ValueError, r"`alpha` must be from 0.001 to 2, got nan"),
        ({"alpha": "1"}, TypeError, r"`alpha` must be a number, got '1'"),
        ({"metric": "euclidian"}, ValueError, r"`metric` must be one of aitchison, braycurtis, .*yule.*Did you mean 'euclidean'"),
        ({"metric": 3}, TypeError, r"`metric` must be a name, an `es.metrics` object or a callable, got int"),
        ({"metric": es.metrics.Gaussian}, TypeError, r"write `es.metrics.Gaussian\(...\)`"),
        ({"metric": "gaussian", "alpha": 0.5}, ValueError, r"must be 1 for Gaussian\(sigma=None\).*got 0.5"),
        ({"metric": es.metrics.Sine(), "alpha": 0.5}, ValueError, r"`alpha` .* must be 1 for Sine"),
        ({"metric": lambda X, Y: np.ones((1, 1))}, ValueError, r"`metric` must return an array of shape \(\d+, \d+\)"),
        ({"metric": lambda X, Y: np.ones((len(X), len(Y)))}, ValueError, r"`metric` must be 0 from a point to itself, got 1 for row 0"),
        ({"metric": lambda X, Y: X[:, :1] - Y[:, :1].T}, ValueError, r"`metric` must be symmetric, got .* the other way round"),
        ({"metric": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, ValueError, r"`metric` <lambda> gave nan for rows 0 and 0"),
    ],
)  # fmt: skip
def test_semimetrics(entry, how, error, message):
    with pytest.raises(error, match=message):
        entry(X, **how)


def asymmetric():
    R = es.pairwise(X)
    R[0, 1] += 1
    return R


@pytest.mark.parametrize(
    ("R", "message"),
    [
        (asymmetric(), r"`X` must be symmetric, but entry \(0, 1\) is .* and \(1, 0\) is"),
        (es.pairwise(X) + np.eye(20), r"`X` must have a zero diagonal, but entry \(0, 0\) is 1"),
        (X, r"`X` must be a square matrix, got shape \(20, 3\)"),
        (np.empty(0), r"entries for a whole number n, got 0"),
        (np.empty((0, 0)), r"`X` must be a square matrix, got shape \(0, 0\)"),
        (np.ones(7), r"n\(n - 1\)/2 entries for a whole number n, got 7"),
    ],
)
def test_precomputed(entry, R, message):
    with pytest.raises(ValueError, match=message):
        entry(R, metric="precomputed")


HUGE = [(0, 1, 1e12), (1, 0, 1e12)]  # two of the points have no path between them, say
BESIDE_HUGE = {
    "symmetric, but entry .* a difference of 1e\\+03": [(2, 3, 1000.0)],
    "symmetric, but entry .* a difference of 0.01": [(2, 3, 0.01)],
    "symmetric, but entry .* a difference of 1e-06": [(2, 3, 1e-6)],
    "symmetric, but entry .* a difference of 1e\\+05": [(0, 1, 1e5)],
    "have a zero diagonal, but entry .2, 2. is 100": [(2, 2, 100.0)],
    "have a zero diagonal, but entry .2, 2. is 1e-05": [(2, 2, 1e-5)],
}


def altered(R, *changes):
    R = R.copy()
    for i, j, by in changes:
        R[i, j] += by
    return R


MATRIX_DOORS = {
    "dispersion": lambda R: es.dispersion(R, G, metric="precomputed"),
    "EnergyClustering": lambda R: es.EnergyClustering(2, metric="precomputed", random_state=0).fit(R),
    "lingoes": es.lingoes,
    "distance_kernel": es.distance_kernel,
    "kernel_distance": lambda R: es.kernel_distance(R + 9 * np.eye(20, dtype=R.dtype)),
    "graph_partition": lambda R: es.graph_partition(R, 2, rng=0),
    "graph_partition sparse": lambda R: es.graph_partition(csr_array(R), 2, rng=0),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in MATRIX_DOORS
        for dtype in ("float32", "float16")
        if "sparse" not in name or dtype[-2:] == "32"
    ],
)
def test_matrices_of_few_digits_are_judged_by_their_digits(name, dtype):
    """The last digit of float32 is worth 6e-8 of a number: as numbers of float64 such a difference is refused."""
    R = es.pairwise(X).astype(dtype)
    i, j = np.unravel_index(int(R.argmax()), R.shape)
    R[i, j] = np.nextafter(R[i, j], np.array(np.inf, dtype=dtype))
    R[4, 4] = R[R > 0].min() / 512  # the root of a rounding
    MATRIX_DOORS[name](R)
    if name != "graph_partition sparse":
        MATRIX_DOORS[name](pd.DataFrame(R) if name != "kernel_distance" else R)
    with pytest.raises(ValueError, match="must be symmetric"):
        MATRIX_DOORS[name](R.astype(float))
    R[i, j] *= R.dtype.type(1.02)
    with pytest.raises(ValueError, match=r"must be symmetric, but entry \(\d+, \d+\)"):
        MATRIX_DOORS[name](R)


def test_the_diagonal_of_few_digits_is_not_free():
    R = es.pairwise(X).astype(np.float32)
    R[4, 4] = R[R > 0].mean() / 10
    with pytest.raises(ValueError, match=r"zero diagonal, but entry \(4, 4\)"):
        es.dispersion(R, G, metric="precomputed")


@pytest.mark.parametrize("huge", [HUGE, []], ids=["beside 1e12", "alone"])
@pytest.mark.parametrize("message", BESIDE_HUGE)
def test_matrices_are_compared_entry_by_entry(message, huge):
    """One entry of 1e12 excuses nothing among the others, nor a thousandth of itself."""
    R = altered(es.pairwise(X), *huge, *BESIDE_HUGE[message])
    with pytest.raises(ValueError, match=message):
        es.dispersion(R, G, metric="precomputed")
    with pytest.raises(ValueError, match=message):
        es.distance_kernel(R)
    if "symmetric" in message:
        if not (huge and "1e-06" in message):  # centring beside 1e12 may have moved every entry of a kernel by more
            with pytest.raises(ValueError, match=message):
                es.kernel_distance(altered(R, *((i, i, 1.0) for i in range(20))))
        for form in (np.asarray, csr_array):
            with pytest.raises(ValueError, match=message):
                es.graph_partition(form(R), 2)


@pytest.mark.parametrize("share", [1e-3, 1e-7])
def test_no_share_of_an_entry_beyond_rounding_is_a_difference_to_overlook(share):
    R = es.pairwise(X)
    for changed in (altered(R, (4, 9, share * R[4, 9])), altered(R, *HUGE, (4, 9, share * R[4, 9]))):
        with pytest.raises(ValueError, match=r"must be symmetric, but entry \((4, 9|9, 4)\)"):
            es.dispersion(changed, G, metric="precomputed")


def by_squares(x, y):
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T
    return np.sqrt(np.maximum(squares, 0))


ROUNDED = {
    "by squares": by_squares,
    "squares": lambda x, y: by_squares(x, y) ** 2,
    "scikit-learn": euclidean_distances,
    "cosine": lambda x, y: cdist(x, y, "cosine"),
    "Jensen-Shannon": lambda x, y: cdist(x**2, y**2, "jensenshannon"),
    "single precision": lambda x, y: cdist(x, y).astype(np.float32),
    "of a kernel": lambda x, y: np.sqrt(np.maximum(2 - 2 * np.exp(-(by_squares(x, y) ** 2)), 0)),
}


@pytest.mark.parametrize("offset", [0.0, 3.0])
@pytest.mark.parametrize("name", ROUNDED)
def test_rounding_of_a_matrix_is_no_asymmetry(name, offset, rng):
    """Rows twice each, and entries across the diagonal from different sums."""
    x = np.repeat(rng.normal(size=(15, 4)), 2, axis=0) + offset
    R = ROUNDED[name](x, x.copy()[:, ::-1].copy()[:, ::-1])
    checked = es.pairwise(R, metric="precomputed")
    assert (np.diagonal(checked) == 0).all()
    np.testing.assert_allclose(checked, np.asarray(R, dtype=float), atol=1e-6)


def test_distances_far_from_the_origin_are_taken(rng):
    x = rng.normal(size=(40, 3)) + 1e6
    R = euclidean_distances(x)
    assert np.abs(R - es.pairwise(x)).max() > 1e-6  # rounding that is there
    assert es.pairwise(R, metric="precomputed").shape == (40, 40)


def test_rounding_of_a_kernel_is_measured_against_the_lengths(rng):
    """Two orthogonal vectors: their product is 0 to rounding, on both sides of the diagonal another rounding."""
    K = np.diag([1.0, 4.0, 1e-20])
    assert es.kernel_distance(altered(K, (0, 1, 1e-9), (1, 0, 3e-9)))[0, 1] == pytest.approx(5.0)
    with pytest.raises(ValueError, match="must be symmetric"):
        es.kernel_distance(altered(K, (0, 2, 1e-9), (2, 0, 3e-9)))


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_precomputed_takes_no_power(power):
    R = es.pairwise(X)
    for name in set(EACH) - {"cluster_test", "validate_clusters", "select_k"}:
        with pytest.raises(ValueError, match=r"`alpha` .* must be 1 for Precomputed"):
            EACH[name](R, metric="precomputed", alpha=power)


def test_negative_rho_is_computed_with_a_warning():
    with pytest.warns(es.NotNegativeTypeWarning, match=r"pairs have a negative rho \(smallest -"):
        found = es.dispersion(10 * X, G, metric=es.metrics.Sine())
    assert np.isclose(found.within + found.between, found.total)
    R = es.pairwise(X)
    R[0, 1] = R[1, 0] = -1
    with pytest.warns(es.NotNegativeTypeWarning, match=r"1 pairs have a negative rho \(smallest -1\)"):
        assert es.energy_cluster(R, 2, metric="precomputed", rng=0).converged


@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (0, ValueError, r"`k` must be at least 1, got 0"),
        (-2, ValueError, r"`k` must be at least 1, got -2"),
        (21, ValueError, r"`k` must be at most 20, the number of points, got 21"),
        (2.0, TypeError, r"`k` must be a whole number, got 2.0 of type float"),
        ("2", TypeError, r"`k` must be a whole number, got '2'"),
        (True, TypeError, r"`k` must be a whole number, got True"),
    ],
)
def test_number_of_clusters(k, error, message):
    with pytest.raises(error, match=message):
        es.energy_cluster(X, k)


def test_more_clusters_than_distinct_points():
    with pytest.raises(ValueError, match=r"`k` must be at most the number of distinct points, 3, got 4"):
        es.energy_cluster(np.repeat(X[:3], 4, axis=0), 4)
    with pytest.raises(ValueError, match=r"`k` must be at most the number of distinct points, 1, got 2"):
        es.energy_cluster(np.ones((9, 2)), 2)
    with pytest.raises(ValueError, match=r"`k` must be at most the number of distinct points, 1, got 2"):
        es.cluster_1d(np.ones(9))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: es.energy_distance(X, X[:, :2]), ValueError, r"same number of columns, got 3, 2"),
        (lambda: es.energy_test(X, X[:, :1], X), ValueError, r"same number of columns, got 3, 1, 3"),
        (lambda: es.pairwise(X, X[:, :2]), ValueError, r"same number of columns, got 3 and 2"),
        (lambda: es.energy_test(pd.DataFrame(X, columns=list("abc")), pd.DataFrame(X, columns=list("acb"))),
         ValueError, r"same columns: column 1 is 'b' in sample 1 and 'c' in sample 2, .* in another order"),
        (lambda: es.energy_distance(X), ValueError, r"At least two samples are needed, or one pooled table with `groups=`"),
        (lambda: es.energy_distance(X, X, groups=G), ValueError, r"`groups` goes with one pooled table, got 2 samples"),
        (lambda: es.energy_distance(X, groups=np.arange(20) % 3), ValueError, r"`groups` must name two groups, got 3"),
        (lambda: es.energy_distance(X, groups=G, sample_weight=np.ones(3)), ValueError, r"`sample_weight` must have shape \(20,\), got \(3,\)"),
        (lambda: es.energy_distance(X, X, sample_weight=np.ones(40)), ValueError, r"`sample_weight` must be a pair of arrays, .* got ndarray of 40"),
        (lambda: es.energy_distance(es.pairwise(X), groups=G, metric="precomputed", method="sliced"), ValueError, r"needs points"),
        (lambda: es.energy_distance(X, X[:1], estimator="u"), ValueError, r"at least two points in each sample, got 20 and 1"),
        (lambda: es.energy_distance(X, X, estimator="w"), ValueError, r"`estimator` must be one of v, u; got 'w'"),
        (lambda: es.energy_distance(X, X, estimator="u", sample_weight=(np.ones(20), None)), ValueError, r"must be \"v\" with weights"),
        (lambda: es.energy_distance(X, X, sample_weight=(np.ones(3), None)), ValueError, r"`sample_weight\[0\]` must have shape \(20,\), got \(3,\)"),
        (lambda: es.dispersion(X, G, sample_weight=np.arange(20)), ValueError, r"`sample_weight` must be positive, got 0 at position 0"),
        (lambda: es.energy_distance(es.pairwise(X), X, metric="precomputed"), ValueError, r"one pooled matrix with `groups=`"),
        (lambda: es.energy_test(X), ValueError, r"At least two samples are needed, .*got 1"),
        (lambda: es.energy_test(), ValueError, r"At least two samples are needed, .*got 0"),
        (lambda: es.energy_test(X, X, groups=G), ValueError, r"`groups` goes with one pooled table, got 2 samples"),
        (lambda: es.energy_test(X, groups=np.ones(20)), ValueError, r"`groups` must name at least two groups, got only 1.0"),
        (lambda: es.energy_test(X, groups=G[:5]), ValueError, r"`groups` must have one label for each of the 20 rows, got 5"),
        (lambda: es.dispersion(X, G[:5]), ValueError, r"`labels` must have one label for each of the 20 rows, got 5"),
        (lambda: es.dispersion(X, [*G[:19], None]), ValueError, r"`labels` must not be missing, but 1 of 20 labels are"),
        (lambda: es.dispersion(X, np.array([*range(19), "x"], dtype=object)), TypeError, r"mixes labels that cannot be sorted"),
        (lambda: es.energy_test(X, groups=G, design=es.Design(strata=G)), ValueError, r"`strata` must leave something to permute, but in each of its 2 blocks"),
        (lambda: es.energy_test(X, groups=G, design=es.Design(strata=G[:5])), ValueError, r"`strata` must have one label for each of the 20 rows, got 5"),
        (lambda: es.energy_test(X, groups=G, design=es.Design(strata=[None, *G[1:]])), ValueError, r"`strata` must not be missing, but 1 of 20"),
        (lambda: es.energy_test(X, groups=G, statistic="t"), ValueError, r"`statistic` must be one of between, pairwise, f; got 't'"),
        (lambda: es.energy_test(X, groups=G, method="cross", n_resamples=99), ValueError,
         r'`method="cross"` makes no permutations and does not go with `n_resamples=99`'),
        (lambda: es.mmd_test(X[:9], X[9:], method="asymptotic", n_resamples=99), ValueError,
         r'`method="asymptotic"` makes no permutations'),
        (lambda: es.energy_test(X, groups=G, method="bootstrap"), ValueError, r"`method` must be one of auto, exact, permutation, asymptotic, cross"),
        (lambda: es.energy_test(X, groups=G, n_resamples=0), ValueError, r"`n_resamples` must be at least 1, got 0"),
        (lambda: es.energy_test(X, groups=G, n_resamples=9.5), TypeError, r"`n_resamples` must be a whole number, got 9.5"),
        (lambda: es.energy_test(np.r_[X, X], groups=np.r_[G, G], method="exact"), ValueError, r'`method="exact"` .* at most 1000000; here there are 1.38e\+11. Use method="permutation"'),
        (lambda: es.energy_test(np.arange(2e3), groups=np.arange(2000) % 2, method="exact"), ValueError, r"there are more than 1e\+308"),
        (lambda: es.energy_test(X[:3], groups=[1, 2, 3], statistic="f"), ValueError, r"needs more rows than groups, got 3 rows in 3 groups"),
        (lambda: es.energy_test(X, groups=G, rng="seed"), TypeError, r"`rng` must be a seed"),
        (lambda: es.energy_test(X, groups=G, rng=-1), ValueError, r"`rng` must be a seed"),
        (lambda: es.energy_cluster(X, 2, algorithm="kmeans"), ValueError, r"`algorithm` must be one of auto, hartigan, lloyd, exact-1d"),
        (lambda: es.energy_cluster(X, 2, algorithm="exact-1d"), ValueError, r"needs one column and rho = \|x - y\| or its square, got 3 columns and Eu"),
        (lambda: es.energy_cluster(X, 3, init=np.arange(20) % 2), ValueError, r"`init` must have 3 clusters, as many as `k`, got 2"),
        (lambda: es.energy_cluster(X, 2, init="kmeans++"), ValueError, r"`init` must be one of k-means\+\+, random, spectral; got 'kmeans\+\+'. Did you"),
        (lambda: es.energy_cluster(X, 2, n_init=0), ValueError, r"`n_init` must be at least 1, got 0"),
        (lambda: es.energy_cluster(es.pairwise(X), 2, metric="precomputed", standardize=True), ValueError, r"`standardize` needs coordinates"),
        (lambda: es.cluster_1d(X), ValueError, r"`x` must be one column, got 3"),
        (lambda: es.cluster_test(X[:1]), ValueError, r"`X` must have at least 20 rows for the split test, got 1"),
        (lambda: es.cluster_test(X[:1], method="refit"), ValueError, r"`X` must have at least 8 rows for k=2, got 1"),
        (lambda: es.disco(np.empty((0, 3)), groups=[]), ValueError, r"`X` must have at least one row and one column, got shape \(0, 3\)"),
        (lambda: es.EnergyClustering(2).fit(X, sample_weight=np.r_[-2.0, np.ones(19)]), ValueError,
         r"`sample_weight` must not be negative, got -2 at position 0"),
        (lambda: es.cluster_test(X[:12]), ValueError, r"`X` must have at least 20 rows for the split test, got 12"),
        (lambda: es.cluster_test(X[:5, 0]), ValueError, r"`X` must have at least 8 rows, got 5"),
        (lambda: es.cluster_test(X, method="unimodal-1d"), ValueError, r"needs one column, got 3 columns"),
        (lambda: es.cluster_test(np.repeat(X[:3], 9, axis=0), 4), ValueError, r"`k` must be at most the number of distinct points, 3, got 4"),
        (lambda: es.cluster_test(X, 1), ValueError, r"`k` must be at least 2, got 1"),
        (lambda: es.clustering_accuracy([1, 2], [1, 2, 3]), ValueError, r"`pred` must have one label for each of the 2 rows, got 3"),
        (lambda: es.metrics.Gaussian(sigma=0), ValueError, r"`sigma` must be positive and finite, got 0"),
        (lambda: es.metrics.Kernel("rbff"), ValueError, r"`k` must be one of .*Did you mean 'rbf'"),
        (lambda: es.metrics.Kernel(3), TypeError, r"`k` must be a callable"),
        (lambda: es.pairwise(np.c_[X, X], metric="mahalanobis"), ValueError, r"columns are linearly dependent \(rank 3 of 6\)"),
        (lambda: es.datasets.load("irises"), ValueError, r"`name` must be one of iris, eurodist, .*; got 'irises'. Did you mean 'iris'"),
        (lambda: es.EnergyClustering(2).fit(X).predict(X[:, :2]), ValueError, r"X has 2 features, but EnergyClustering is expecting 3"),
    ],
)  # fmt: skip
def test_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


TAKE_WEIGHTS = {
    "energy_distance": lambda w: es.energy_distance(X, X[:5], sample_weight=(w, None)),
    "energy_distance, y": lambda w: es.energy_distance(X[:5], X, sample_weight=(None, w), method="sliced"),
    "energy_distance, groups": lambda w: es.energy_distance(X, groups=G, sample_weight=w),
    "dispersion": lambda w: es.dispersion(X, G, sample_weight=w),
    "energy_test": lambda w: es.energy_test(X, groups=G, sample_weight=w, n_resamples=9),
    "energy_test, binned": lambda w: es.energy_test(X, groups=G, sample_weight=w, method="binned", n_resamples=9),
    "energy_cluster": lambda w: es.energy_cluster(X, 2, sample_weight=w),
    "energy_cluster, landmarks": lambda w: es.energy_cluster(X, 2, sample_weight=w, algorithm="landmarks"),
    "cluster_1d": lambda w: es.cluster_1d(X[:, 0], 2, w),
    "fit": lambda w: es.EnergyClustering(2).fit(X, sample_weight=w),
    "score": lambda w: es.EnergyClustering(2).fit(X).score(X, sample_weight=w),
    "graph_partition": lambda w: es.graph_partition(1 / (1 + es.pairwise(X)), 2, cut="ratio", sample_weight=w),
    "Gower": lambda w: es.pairwise(X.T, metric=es.metrics.Gower(weights=w)),
    "Gower by name": lambda w: es.pairwise(X.T, metric=es.metrics.Gower(weights={str(j): v for j, v in enumerate(w)})),
}
UNLIKE_WEIGHTS = {
    "must not differ by more than a factor 1e\\+09, got 1 to 1e\\+10": np.where(np.arange(20) == 3, 1e10, 1.0),
    "must not differ by more than a factor 1e\\+09, got 4.94e-324 to 1": np.where(np.arange(20) == 3, 5e-324, 1.0),
    "must not be that small or large, its largest is 4.94e-324": np.full(20, 5e-324),
    "must not be that small or large, its largest is 1e\\+80": np.full(20, 1e80),
    "must (be positive|be finite and not negative|not be negative), got -1": np.where(np.arange(20) == 3, -1.0, 1.0),
    "must be finite": np.where(np.arange(20) == 3, np.nan, 1.0),
    "must be finite.*": np.where(np.arange(20) == 3, np.inf, 1.0),
}


@pytest.mark.parametrize("message", UNLIKE_WEIGHTS)
@pytest.mark.parametrize("call", TAKE_WEIGHTS)
def test_weights_that_sums_would_lose_are_refused(call, message):
    with pytest.raises(ValueError, match=rf"weights?(\[\d\])?` {message}"):
        TAKE_WEIGHTS[call](UNLIKE_WEIGHTS[message])


@pytest.mark.parametrize("call", TAKE_WEIGHTS)
def test_weights_of_a_factor_of_1e9_are_taken(call):
    assert TAKE_WEIGHTS[call](np.where(np.arange(20) < 10, 1e9, 1.0)) is not None


def test_a_named_weight_is_compared_with_the_1_of_the_other_columns():
    with pytest.raises(ValueError, match=r"`weights` must not differ by more than a factor 1e\+09, got 1 to 1e\+10"):
        es.pairwise(X, metric=es.metrics.Gower(weights={"0": 1e10}))


def test_a_matrix_that_would_not_fit_is_refused_in_words():
    with pytest.raises(MemoryError, match=r"1000000 points need 3725 GiB, .*random subset of the rows"):
        es.energy_cluster(np.random.default_rng(0).standard_normal((10**6, 2)), 2)


def test_all_identical_points_are_no_evidence():
    same = np.full((20, 2), 3.7)
    found = es.dispersion(same, G)
    assert (found.within, found.between, found.total) == (0, 0, 0)
    for statistic in ("between", "pairwise", "f"):
        for method, rows in ((es.Permutation(99), slice(None)), ("exact", slice(None, None, 2))):
            result = es.energy_test(same[rows], groups=G[rows], statistic=statistic, method=method)
            assert (result.statistic, result.pvalue, result.effect_size, result.inhomogeneity) == (0, 1, 0, 0)
    for data, how in (
        (same, {}),
        (same[:, 0], {}),
        (same[:5], {}),
        (es.pairwise(same), {"metric": "precomputed"}),
    ):
        assert es.cluster_test(data, **how).pvalue == 1
    assert es.energy_distance(same, same) == 0


def test_columns_of_very_different_spread_warn():
    uneven = X * [1.0, 1.0, 1000.0]
    with pytest.warns(es.ColumnScaleWarning, match=r"Column 2 has a standard deviation \d+ times that of column"):
        es.dispersion(uneven, G)
    with pytest.warns(es.ColumnScaleWarning, match=r"Column w .* use standardize=True"):
        es.energy_cluster(pd.DataFrame(uneven, columns=list("uvw")), 2, rng=0)
    es.dispersion(uneven, G, standardize=True)
    es.dispersion(uneven, G, metric="seuclidean")


def test_too_few_passes_warn():
    with pytest.warns(es.ConvergenceWarning, match=r"cut off after `max_iter`=1 passes"):
        found = es.energy_cluster(X, 3, n_init=1, max_iter=1, init=np.arange(20) % 3)
    assert not found.converged


# ---------------------------------------------------------------- labels


DISTINCT = {  # labels that Python calls different, in order
    "NUL": ["a", "a\0", "b"],
    "bytes with NUL": [b"a", b"a\0", b"b"],
    "beyond 2**63": [-1, 2**63, 2**63 + 1],
    "beyond 2**53 beside a fraction": [0.5, 2**53, 2**53 + 1],
    "text": ["", " ", "nan"],
    "truth values": [False, True],
    "whole numbers and fractions": [1, 2, 2.5],
    "whole numbers that neighbour each other": [1.0, 2.0**53, 2.0**53 + 2],
    "dates": [np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:01"), np.datetime64("2021-03-04")],
    "numbers of numpy": [np.int64(1), np.int64(2), np.int64(3)],
    "pairs": [(1, "a"), (1, "b"), (2, "a")],
}
TAKE_LABELS = {
    "groups": lambda g: es.energy_test(np.arange(len(g)), groups=g, n_resamples=9, rng=0).sizes,
    "strata": lambda g: [
        es.energy_test(np.arange(2.0 * len(g)), groups=[1, 2] * len(g), design=es.Design(strata=g * 2), rng=0).n_strata
    ],
    "groups of disco": lambda g: [1 + es.disco(np.arange(len(g)), groups=g, n_resamples=9).table["df"].iloc[0]],
    "labels": lambda g: es.dispersion(np.arange(len(g)), g).sizes,
    "pairs": lambda g: [len(es.pairwise_tests(np.arange(len(g)), groups=g, n_resamples=9).rows)],
    "classes": lambda g: [es.clustering_accuracy(g, np.arange(len(g)) // 4)],
    "init": lambda g: es.energy_cluster(np.arange(len(g)), len(g) // 4, init=g).sizes,
}


@pytest.mark.parametrize("kind", DISTINCT)
@pytest.mark.parametrize("form", ["list", "array", "Series"])
@pytest.mark.parametrize("order", [1, -1])
def test_labels_that_differ_are_groups_of_their_own(kind, form, order):
    labels = [label for label in DISTINCT[kind][::order] for _ in range(4)]
    if form == "list" and kind == "pairs":
        with pytest.raises(ValueError, match=r"`groups` must be one-dimensional, got shape \(12, 2\)"):
            TAKE_LABELS["groups"](labels)
        return
    if form != "list":
        objects = np.fromiter(labels, dtype=object, count=len(labels))
        labels = objects if form == "array" else pd.Series(objects, dtype=object)
    result = es.energy_test(np.arange(len(labels)), groups=labels, n_resamples=9, rng=0)
    assert result.sizes == (4,) * len(DISTINCT[kind])
    assert list(result.labels) == DISTINCT[kind]


@pytest.mark.parametrize("call", TAKE_LABELS)
def test_every_function_codes_labels_alike(call):
    labels = [label for label in ["a", "a\0", "b"] for _ in range(4)]
    assert list(TAKE_LABELS[call](labels)) in ([4, 4, 4], [3], [1.0])


MERGED = [
    ([True, 1, 2], "` mixes True and 1, which are of different types and equal"),
    ([1, 1.0, 2], "` mixes 1 and 1.0, which are of different types and equal"),
    ([0, False, 2], "` mixes 0 and False, which"),
    ([1, "1", 2], "` mixes labels that cannot be sorted"),
    ([1j, 2j, 3.0], "` has complex labels, which have no order"),
    (
        [frozenset({1}), frozenset({2}), frozenset({1, 2})],
        "` must have labels that can be sorted, got frozenset objects",
    ),
    ([{1: 1}, {2: 2}, {3: 3}], "` must have labels such as numbers or text, which can be compared: .*unhashable"),
    ([None, "a", "b"], "missing"),
    ([float("nan"), 1.0, 2.0], "missing"),
    ([pd.NaT, "a", "b"], "missing"),
    ([pd.NA, 1, 2], "missing"),
]


@pytest.mark.parametrize(("labels", "message"), MERGED)
@pytest.mark.parametrize("call", TAKE_LABELS)
def test_labels_that_would_be_merged_are_refused(call, labels, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TAKE_LABELS[call]([label for label in labels for _ in range(4)])


def test_labels_as_records_are_refused():
    records = np.array([(1, 2.0), (2, 3.0)] * 6, dtype="i8,f8")
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "g": list("uvuv")})
    with pytest.raises(TypeError, match=r"`groups` must be one label a row, got str; give the column itself"):
        es.energy_test(frame, groups="g")
    with pytest.raises(TypeError, match=r"`groups` must be one label a row, got records .* give one field"):
        TAKE_LABELS["groups"](records)


def test_true_is_not_the_control_1():
    g = np.repeat([1, 2, 3], 4)
    assert len(es.pairwise_tests(np.arange(12), groups=g, control=np.int64(1), n_resamples=9).rows) == 2
    with pytest.raises(ValueError, match="`control` must be one of the groups 1, 2, 3; got True"):
        es.pairwise_tests(np.arange(12), groups=g, control=True, n_resamples=9)
    with pytest.raises(ValueError, match=r"Did you mean 10\?"):  # a number without quotes
        es.pairwise_tests(np.arange(12), groups=np.repeat([9, 10], 6), control=100, n_resamples=9)


# ---------------------------------------------------------------- masks

HIDDEN = np.ma.masked_array(np.where(np.arange(60).reshape(20, 3) == 4, 1e6, X), np.arange(60).reshape(20, 3) == 4)
AS_GIVEN = {  # the same masked table, in the ways in which a mask can be lost
    "array": HIDDEN,
    "rows": list(HIDDEN),
    "tuple of rows": tuple(HIDDEN),
    "entries": [list(row) for row in HIDDEN],
    "whole numbers": list(np.ma.masked_array(np.arange(60).reshape(20, 3), HIDDEN.mask)),
}
ESTIMATOR = {
    "fit": lambda model, bad: model.fit(bad),
    "fit_predict": lambda model, bad: model.fit_predict(bad),
    "predict": lambda model, bad: model.fit(X).predict(bad),
    "transform": lambda model, bad: model.fit(X).transform(bad),
    "score": lambda model, bad: model.fit(X).score(bad),
}


@pytest.mark.parametrize("kind", AS_GIVEN)
def test_what_is_masked_is_missing(entry, kind):
    with pytest.raises(ValueError, match=r"`X` must be finite, but has 1 NaN values in column 1"):
        entry(AS_GIVEN[kind])


@pytest.mark.parametrize("method", ESTIMATOR)
@pytest.mark.parametrize("algorithm", ["auto", "landmarks"])
@pytest.mark.parametrize("kind", ["array", "rows"])
def test_what_is_masked_is_missing_to_the_estimator(method, algorithm, kind):
    model = es.EnergyClustering(2, algorithm=algorithm, random_state=0)
    with pytest.raises(ValueError, match=r"`X` must be finite, but has 1 NaN values in column 1"):
        ESTIMATOR[method](model, AS_GIVEN[kind])


@pytest.mark.parametrize("kind", ["array", "rows", "tuple of rows", "entries"])
def test_what_is_masked_is_a_gap_of_gower(kind):
    gaps = HIDDEN.filled(np.nan)
    found, expected = (np.asarray(es.pairwise(table, metric="gower")) for table in (AS_GIVEN[kind], gaps))
    assert (found == expected).all()
    make = lambda table: es.EnergyClustering(2, metric="gower", random_state=0).fit(table)  # noqa: E731
    assert make(AS_GIVEN[kind]).within_ == make(gaps).within_
    assert (make(gaps).predict(AS_GIVEN[kind]) == make(gaps).labels_).all()


def test_masked_text_and_truth_values_are_gaps_of_gower():
    hidden = [[0, 1], [0, 0], [0, 0]]
    text = np.ma.masked_array([["a", "x"], ["b", "y"], ["a", "y"]], hidden)
    truth = np.ma.masked_array([[True, False], [False, True], [True, True]], hidden)
    frame = pd.DataFrame({"u": ["a", "b", "a"], "v": [np.ma.masked, "y", "y"]})
    mixed = [["a", np.ma.masked], ["b", "y"], ["a", "y"]]
    for table in (text, truth, frame, mixed):
        assert np.asarray(es.pairwise(table, metric="gower")).tolist() == [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]]


def test_masked_matrices():
    R = np.ma.masked_array(es.pairwise(X), False)
    R[0, 1] = R[1, 0] = np.ma.masked
    condensed = np.ma.masked_array(es.pairwise(X)[np.triu_indices(20, 1)], np.arange(190) == 0)
    for call in (
        lambda: es.dispersion(R, G, metric="precomputed"),
        lambda: es.dispersion(list(R), G, metric="precomputed"),
        lambda: es.dispersion(condensed, G, metric="precomputed"),
        lambda: es.EnergyClustering(metric="precomputed").fit(R),
        lambda: es.EnergyClustering(metric="precomputed").fit(R.data).predict(R),
        lambda: es.kernel_distance(R),
        lambda: es.negative_type(list(R)),
        lambda: es.pairwise(X, list(HIDDEN)),
        lambda: es.energy_distance(X, list(HIDDEN)),
        lambda: es.mmd2(X, list(HIDDEN)),
    ):
        with pytest.raises(ValueError, match=r"must be finite, but has [12] NaN values"):
            call()
    for kind in (bool, int, float):
        with pytest.raises(ValueError, match=r"`A` must be finite, but entry \(0, 1\) is nan"):
            es.graph_partition(np.ma.masked_array(np.ones((20, 20), dtype=kind), R.mask), 2)
    with pytest.raises(ValueError, match="`metric` <lambda> gave nan"):
        es.pairwise(X, metric=lambda A, B: np.ma.masked_greater(np.abs(A[:, None] - B[None]).sum(axis=2), 1.0))


@pytest.mark.parametrize("kind", ["array", "list", "objects", "Series"])
def test_masked_labels_and_weights_are_missing(kind):
    labels = np.ma.masked_array(G, np.arange(20) == 3)
    weights = np.ma.masked_array(np.ones(20), np.arange(20) == 3)
    objects = np.array([np.ma.masked if i == 3 else g for i, g in enumerate(G)], dtype=object)
    bad = {"array": labels, "list": list(labels), "objects": objects, "Series": pd.Series(objects)}[kind]
    for call in (
        lambda: es.dispersion(X, bad),
        lambda: es.energy_test(X, groups=bad),
        lambda: es.energy_test(X, groups=np.tile(["a", "b"], 10), design=es.Design(strata=bad)),
        lambda: es.energy_test(X, groups=np.tile(["a", "b"], 10), design=es.Design(whole_plots=bad)),
        lambda: es.energy_cluster(X, 2, init=bad),
        lambda: es.EnergyClustering(2, init=bad).fit(X),
        lambda: es.clustering_accuracy(G, bad),
    ):
        with pytest.raises(ValueError, match="must not be missing, but 1 of 20 labels are"):
            call()
    with pytest.raises(ValueError, match=r"Values are missing in 1 of 20 rows \(`groups` 1\)"):
        es.disco(X, groups=bad)
    heavy = weights if kind == "array" else list(weights)
    for call in (
        lambda: es.dispersion(X, G, sample_weight=heavy),
        lambda: es.energy_cluster(X, 2, sample_weight=heavy),
        lambda: es.EnergyClustering(2).fit(X, sample_weight=heavy),
        lambda: es.EnergyClustering(2).fit(X).score(X, sample_weight=heavy),
    ):
        with pytest.raises(ValueError, match="`sample_weight` must be finite, but has 1 NaN"):
            call()


def test_masked_arrays_are_refused_as_others_of_their_type():
    whole = np.ma.masked_array(np.array([2**60 + 1, 2**60 + 2, 5]), False)
    with pytest.raises(ValueError, match=r"whole numbers beyond 2\*\*53"):
        es.pairwise(whole)
    for values, kind in ((X > 0, "bool"), (X + 1j, "complex"), (X.astype(str), "str")):
        with pytest.raises(TypeError, match=f"must hold real numbers, got dtype {kind}"):
            es.pairwise(np.ma.masked_array(values, False))
    assert (es.pairwise(np.ma.masked_array(X, False)) == es.pairwise(X)).all()
    assert (es.pairwise(list(np.ma.masked_array(X, False))) == es.pairwise(X)).all()


# ---------------------------------------------------------------- the estimator reads as functions read

REFUSED = {
    "dates": np.arange(20).astype("datetime64[D]")[:, None],
    "spans": np.arange(20).astype("timedelta64[D]")[:, None],
    "text": X.astype(str),
    "list of text": X.astype(str).tolist(),
    "truth values": X > 0,
    "large whole numbers": np.arange(20)[:, None] + 2**60,
    "frame of text": pd.DataFrame(X.astype(str), columns=list("uvw")),
    "frame of dates": pd.DataFrame({"u": pd.date_range("2020", periods=20)}),
    "frame of truth values": pd.DataFrame(X > 0, columns=list("uvw")),
    "frame of objects": pd.DataFrame(X.astype(object), columns=list("uvw")),
    "frame of large whole numbers": pd.DataFrame({"u": np.arange(20) + 2**60}),
    "gaps": with_values((0, 1, np.nan)),
    "frame with gaps": pd.DataFrame(with_values((0, 1, np.nan)), columns=list("uvw")),
}


@pytest.mark.parametrize("method", ESTIMATOR)
@pytest.mark.parametrize("kind", REFUSED)
def test_the_estimator_refuses_what_functions_refuse(kind, method):
    bad = REFUSED[kind]
    with pytest.raises((TypeError, ValueError)) as refused:
        es.energy_cluster(bad, 2)
    good = np.random.default_rng(1).standard_normal(np.shape(bad))
    good = pd.DataFrame(good, columns=bad.columns) if hasattr(bad, "columns") else good
    model = es.EnergyClustering(2, random_state=0)
    model = model if method.startswith("fit") else model.fit(good)
    with pytest.raises(refused.type) as of_estimator:
        getattr(model, method)(bad)
    assert str(of_estimator.value) == str(refused.value)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("1.5", TypeError, r"`X` must hold real numbers, got '1.5' of type str"),
        (True, TypeError, r"got True of type bool; make truth values 0 and 1 first, as by `X.astype\(float\)`"),
        (pd.Timestamp("2020-01-01"), TypeError, r"of type Timestamp"),
        ({"a": 1}, TypeError, r"of type dict; the argument must be without strings"),
        (2**60, ValueError, r"whole numbers beyond 2\*\*53"),
        (None, ValueError, r"has 1 NaN values in column 1"),
        (np.ma.masked, ValueError, r"has 1 NaN values in column 1"),
    ],
)
def test_objects_that_are_no_numbers(value, error, message):
    bad = X.astype(object)
    assert es.EnergyClustering(2, random_state=0).fit(bad).within_ == es.energy_cluster(X, 2, rng=0).within
    bad[2, 1] = value
    with pytest.raises(error, match=message):
        es.EnergyClustering(2).fit(bad)
    with pytest.raises(error, match=message):
        es.EnergyClustering(2).fit(X).predict(bad)


@pytest.mark.parametrize("kind", [np.asarray, pd.Series])
def test_weights_beyond_doubles_are_divided(kind):
    """A common offset may be subtracted of points, but not of weights."""
    heavy = kind(np.arange(20) + 2**60)
    for call in (
        lambda: es.dispersion(X, G, sample_weight=heavy),
        lambda: es.energy_distance(X, X + 1, sample_weight=(heavy, None)),
        lambda: es.energy_cluster(X, 2, sample_weight=heavy),
    ):
        with pytest.raises(ValueError, match=r"sample_weight.* beyond 2\*\*53, .*; divide all by one number\."):
            call()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, list])
def test_dissimilarities_beyond_doubles_are_divided(kind):
    """A common offset may be subtracted of points, but of dissimilarities it would change what is near."""
    n = np.arange(20)
    far = kind((np.abs(n[:, None] - n) + 2**60) * (n[:, None] != n))
    for call in (
        lambda: es.dispersion(far, G, metric="precomputed"),
        lambda: es.is_euclidean(far),
        lambda: es.kernel_distance(far),
        lambda: es.graph_partition(far, 2),
    ):
        with pytest.raises(ValueError, match=r" beyond 2\*\*53.*; divide all by one number\.$"):
            call()


@pytest.mark.parametrize("in_blocks", [False, True])
def test_rounding_that_z_scores_blow_up_is_told(in_blocks, tmp_path, monkeypatch):
    """.3 and .1 + .2 became one standard deviation above and one below the mean, without a word."""
    monkeypatch.setattr("energystats.pairs.open_blocks.IN_MEMORY", 0 if in_blocks else 2**26)
    same = np.where(np.arange(20) % 2, 0.3, 0.1 + 0.2)
    table = pd.DataFrame({"u": X[:, 0], "same": same, "flat": 0.1, "ids": 2.0**52 + np.arange(20) % 2})

    def read(frame):
        if not in_blocks:
            return es.dispersion(frame, G, standardize=True)
        frame.to_parquet(tmp_path / "t.parquet", index=False)
        return es.dispersion(tmp_path / "t.parquet", G, standardize=True)

    with pytest.warns(es.ColumnScaleWarning, match=r"^Column same: no more variation than the rounding of the values"):
        read(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(table.drop(columns="same"))


# ---------------------------------------------------------------- True or False


def designed(**how):
    return es.energy_test(X, groups=G, design=es.Design(**how))


FLAGGED = {  # a call of everything public that has a parameter to switch on or off
    "Binned": es.Binned,
    "Design": designed,
    "EnergyClustering": lambda **how: es.EnergyClustering(2, random_state=0, **how).fit(X),
    "Permutation": es.Permutation,
    "Sliced": es.Sliced,
    "cluster_report": lambda **how: es.report.cluster_report(X, 2, n_resamples=9, **how),
    "cluster_stability": lambda **how: es.cluster_stability(X, 2, n_resamples=2, **how),
    "cluster_test": lambda **how: es.cluster_test(X, 2, n_resamples=9, **how),
    "cluster_tree": lambda **how: es.cluster_tree(X, n_resamples=19, **how),
    "disco": lambda **how: es.disco(X, groups=G, n_resamples=9, **how),
    "dispersion": lambda **how: es.dispersion(X, G, **how),
    "energy_cluster": lambda **how: es.energy_cluster(X, 2, **how),
    "energy_distance": lambda **how: es.energy_distance(X[:9], X[9:], **how),
    "energy_hclust": lambda **how: es.energy_hclust(X, **how),
    "energy_interval": lambda **how: es.energy_interval(X[:9], X[9:], n_bootstrap=39, **how),
    "energy_power": lambda **how: es.energy_power(X[:9], X[9:], [5], n_replicates=2, n_resamples=19, **how),
    "energy_test": lambda **how: es.energy_test(X, groups=G, n_resamples=9, **how),
    "goodness_of_fit": lambda **how: es.goodness_of_fit(X, lambda n, r: r.normal(size=(n, 3)), n_resamples=9, **how),
    "kernel_pca": lambda **how: es.kernel_pca(X, **how),
    "mmd_test": lambda **how: es.mmd_test(X[:9], X[9:], n_resamples=9, **how),
    "normality_test": lambda **how: es.normality_test(X, n_resamples=9, **how),
    "pairwise_tests": lambda **how: es.pairwise_tests(X, np.repeat([*"abcd"], 5), n_resamples=9, **how),
    "plot_distances": lambda **how: es.dispersion(X, G).plot_distances(**how),
    "plot_strata": lambda **how: es.segment(X, 2).plot_strata(**how),
    "segment": lambda **how: es.segment(X, 2, **how),
    "segment_test": lambda **how: es.segment_test(X, n_resamples=19, **how),
    "select_k": lambda **how: es.select_k(X, 3, n_resamples=2, **how),
    "silhouette": lambda **how: es.silhouette(X, G, **how),
    "spectral_embedding": lambda **how: es.spectral_embedding(X, **how),
    "spread_test": lambda **how: es.spread_test(X, G, n_resamples=9, **how),
    "to_frame": lambda **how: es.energy_test(X, groups=G, n_resamples=9).to_frame(**how),
    "to_latex": lambda **how: es.energy_test(X, groups=G, n_resamples=9).to_latex(**how),
    "to_markdown": lambda **how: es.energy_test(X, groups=G, n_resamples=9).to_markdown(**how),
    "validate_clusters": lambda **how: es.validate_clusters(X, 2, n_resamples=9, **how),
}


def flags():
    """(name, parameter) of everything public whose default is True or False, and of every bar of progress."""
    public = {name: getattr(es, name) for name in es.__all__} | {"cluster_report": es.report.cluster_report}
    callables = {name: value for name, value in public.items() if callable(value)}
    for value in public.values():
        if inspect.isclass(value):
            own = inspect.getmembers(value, inspect.isfunction)
            callables |= {n: f for n, f in own if f.__module__.startswith("energystats") and not n.startswith("_")}
    for name, value in sorted(callables.items()):
        parameters = ()
        with suppress(ValueError):  # exceptions have no signature
            parameters = inspect.signature(value).parameters.values()
        for one in parameters:
            if isinstance(one.default, bool) or one.name == "progress":
                yield name, one.name


@pytest.mark.parametrize(("name", "flag"), list(flags()))
def test_what_is_true_or_false_is_nothing_else(name, flag):
    """A word is true in Python, "no" and "False" as well, and 0 or [] false."""
    for bad in ("no", "False", 0, [], *([] if flag == "progress" else [None])):
        with pytest.raises(TypeError, match=rf"^`{flag}` must be True(,| or) False.*, got"):
            FLAGGED[name](**{flag: bad})


@pytest.mark.parametrize(("i", "j"), [(0, 1), (299, 2), (130, 270), (299, 298)])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "must be finite, but has 1 NaN"),
        (np.inf, "must be finite, but entry"),
        (2e150, "must not exceed"),
        (9.0, "must be symmetric"),
    ],
)
def test_one_bad_entry_of_a_matrix_of_several_tiles_is_found(i, j, value, message):
    d = np.ones((300, 300)) - np.eye(300)
    d[i, j] = value
    with pytest.raises(ValueError, match=message):
        es.energy_test(d, groups=np.arange(300) % 2, metric="precomputed")
    d[j, i] = value
    if value == 9.0:
        assert es.energy_test(d, groups=np.arange(300) % 2, metric="precomputed", n_resamples=9).pvalue <= 1
        return
    with pytest.raises(ValueError, match=message.replace("1 NaN", "2 NaN")):
        es.energy_test(d, groups=np.arange(300) % 2, metric="precomputed")


def test_numbers_are_shown_with_the_digits_that_break_the_rule():
    with pytest.raises(ValueError, match=r"`alpha` must be from 0.001 to 2, got 2\.0000001"):
        es.pairwise([[0.0], [1.0]], alpha=2.0000001)
    with pytest.raises(ValueError, match=r"`confidence_level` must lie below 1, got 1\.0000000001"):
        es.energy_interval([0.0, 1.0], [2.0, 3.0], confidence_level=1.0000000001)
    with pytest.raises(ValueError, match="`kernel` must return an array of shape"):
        es.mmd_test([0.0, 1.0, 2.0], [1.0, 2.0, 4.0], kernel=lambda x, y: 1.0)


def test_rows_that_are_groups_of_their_own_are_not_tested(rng):
    found = es.energy_test(rng.normal(size=(12, 2)), groups=np.arange(12), rng=0)
    assert "Nothing was tested: every row is a group of its own." in found.summary()
    assert "no evidence" not in found.summary()
    assert not any("local optimum" in note for note in found.notes)


def advice_in(text):
    """Return the code between backticks, or before "would", that a message ends with."""
    return text.split("`")[-2] if "alone" in text else text.rsplit("and ", 1)[-1].removesuffix(" would be the whole.")


@pytest.mark.parametrize("half", [np.tril, np.triu])
@pytest.mark.parametrize("diagonal", [0, 1])
def test_advice_on_a_triangle_makes_the_matrix_whole(half, diagonal, rng):
    """The mean with the mirror would halve all distances."""
    whole = es.pairwise(rng.normal(size=(9, 2))) + diagonal * np.eye(9)
    with pytest.raises(ValueError, match="one half of it is 0, and") as refused:
        es.energy_cluster(half(whole), 2, metric="precomputed")
    np.testing.assert_allclose(eval(advice_in(str(refused.value)), {"X": half(whole), "np": np}), whole)
    skewed = whole + np.triu(np.ones((9, 9)), 1)
    with pytest.raises(ValueError, match=r"\(X \+ X.T\)/2 would be"):
        es.energy_cluster(skewed, 2, metric="precomputed")


@pytest.mark.parametrize(
    ("rows", "columns"),
    [("abcdefgh", "badcfehg"), (range(8), list("10325476")), (range(1, 9), [f"X{i}" for i in range(1, 9)])],
)
def test_advice_on_names_of_a_matrix_can_be_followed(rows, columns, rng):
    """Columns in another order are put into that of the rows; other names are replaced."""
    numbers = es.pairwise(rng.normal(size=(8, 2)))
    same_items = {*map(str, rows)} == {*map(str, columns)}
    order = [list(map(str, rows)).index(str(name)) for name in columns] if same_items else slice(None)
    frame = pd.DataFrame(numbers[:, order], index=list(rows), columns=list(columns))
    with pytest.raises(ValueError, match="must have the same names in the same order") as refused:
        es.energy_cluster(frame, 2, metric="precomputed", rng=0)
    mended = eval(str(refused.value).split("`")[1], {"d": frame, "list": list, "map": map, "str": str})
    np.testing.assert_array_equal(mended.to_numpy(), numbers)
    found = es.energy_cluster(mended, 2, metric="precomputed", rng=0)
    np.testing.assert_array_equal(found.labels, es.energy_cluster(numbers, 2, metric="precomputed", rng=0).labels)


def test_rows_with_names_of_several_levels_are_matched(rng):
    levels = pd.MultiIndex.from_product([list("ab"), range(10)])
    X = pd.DataFrame(rng.normal(size=(20, 2)), index=levels)
    labels = pd.Series([0, 1] * 10)
    with pytest.raises(ValueError, match=r"`groups` must have the index of the table, .* no row \('a', 0\)"):
        es.energy_test(X, groups=labels)
    with pytest.raises(ValueError, match=r"`groups` must have the index of the table, .* no row 0"):
        es.energy_test(X.reset_index(drop=True), groups=labels.set_axis(levels))
    with pytest.raises(ValueError, match=r"align it \(`groups.loc\[X.index\]`\)"):
        es.energy_test(X, groups=labels.set_axis(levels[::-1]))
    named = es.energy_test(X, groups=labels.set_axis(levels), rng=0)
    assert named.pvalue == es.energy_test(X.to_numpy(), groups=labels.to_numpy(), rng=0).pvalue
    pair = {"design": es.Design(paired=True), "rng": 0}
    plain = X.reset_index(drop=True)
    assert es.energy_test(X, plain + 1, **pair).pvalue == es.energy_test(plain, X + 1, **pair).pvalue


@pytest.mark.parametrize("single", [0.1, 0.3, 1e-3, 12.7])
def test_labels_in_single_and_in_double_precision_are_refused(single, rng):
    """Two files of one dose joined: three doses were six groups."""
    dose = pd.concat([pd.Series([single, 2.5] * 3, dtype="float32"), pd.Series([single, 2.5] * 3)], ignore_index=True)
    X = rng.normal(size=(12, 2))
    with pytest.raises(ValueError, match=r"differ by rounding alone, .*; round them first, as by np.round\(..., 6\)"):
        es.energy_test(X, groups=dose)
    assert es.energy_test(X, groups=dose.round(6), rng=0).pvalue <= 1
    with pytest.raises(ValueError, match=r"as by np.round\(..., 12\)"):
        es.energy_test(X, groups=[0.3, 0.1 + 0.2] * 6)
    days = [2450000.456, 2450000.5]  # the second is the first one as float32, and written with fewer digits
    assert es.dispersion(X, days * 6).labels == tuple(days)


def test_labels_of_several_levels_are_groups_everywhere(rng):
    pairs = pd.MultiIndex.from_arrays([list("ab") * 10, [1, 1, 2, 2] * 5])
    X = rng.normal(size=(20, 2))
    found = es.dispersion(X, pairs)
    assert found.labels == (("a", 1), ("a", 2), ("b", 1), ("b", 2))
    assert found.to_frame().index.tolist() == list(found.labels)
    assert "('a', 1) & 5" in found.to_latex()
    assert found.to_matrix().columns.tolist() == list(found.labels)
    assert es.disco(X, groups=pairs, rng=0).pvalue == es.disco(X, groups=[str(pair) for pair in pairs], rng=0).pvalue
