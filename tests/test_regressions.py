"""Defects that were found once, each by what went wrong."""

import copy
import html
import pickle
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from unittest import mock

import mpmath
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

import energystats as es
from energystats import cli
from energystats._core.jitter import jitter_ties
from energystats._core.pvalues import fewest_draws, smallest_pvalue
from energystats.cluster_tests import unimodality
from energystats.clustering.seeding import plus_plus_start
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import warn
from energystats.selection import gap
from tests import definitions
from tests.conftest import sweep


def test_an_outlier_does_not_spread_the_other_points(rng):
    x = np.concatenate((rng.normal(-5, 1, 50), rng.normal(5, 1, 50), [1e9]))
    assert jitter_ties(x, rng) is None
    assert jitter_ties(rng.standard_normal(100_000), rng) is None


def test_seeding_survives_an_indefinite_rho(rng):
    R = -np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    for _ in range(50):
        assert set(plus_plus_start(R, 4, rng)) == {0, 1, 2, 3}
    with pytest.warns(es.NotNegativeTypeWarning):
        found = es.energy_cluster(3 * rng.standard_normal((12, 2)), 5, metric=es.metrics.Sine(), rng=rng)
    assert len(found.sizes) == 5


def test_a_constant_column_is_not_blown_up_by_its_rounding(rng):
    C = np.column_stack((np.full(30, 0.1), rng.standard_normal(30)))
    model = es.EnergyClustering(2, standardize=True, random_state=0).fit(C)
    assert model.partition_.standardization.scale[0] == 1.0
    assert (model.predict(C + np.array([0.2, 0.0])) == model.labels_).all()


def test_a_user_function_may_lose_some_digits(rng):
    X = rng.standard_normal((20, 2)) + 100
    found = es.dispersion(X, np.arange(20) % 2, metric=euclidean_distances)
    assert_allclose(found.total, es.dispersion(X, np.arange(20) % 2).total, rtol=1e-5)


def test_number_and_text_are_different_labels():
    with pytest.raises(TypeError, match="mixes labels"):
        es.dispersion([1.0, 2.0, 3.0, 4.0], [1, "1", 2, 2])


def test_mahalanobis_is_free_of_scale(rng):
    X = rng.standard_normal((30, 2))
    for scale in (1.0, 1e8):
        found = es.pairwise(X * [1.0, scale], metric="mahalanobis")
        assert_allclose(found, es.pairwise(X, metric="mahalanobis"), rtol=1e-9)


@pytest.mark.parametrize("name", ["rbf", "linear", "laplacian"])
def test_kernels_keep_their_digits_under_an_offset(name, rng):
    X = np.round(rng.standard_normal((20, 2)) * 2**20) / 2**20
    near, far = (es.pairwise(X + shift, metric=es.metrics.Kernel(name)) for shift in (0.0, 2.0**25))
    assert_allclose(far, near, rtol=1e-9, atol=1e-12)


def test_the_null_of_binary_labels_is_drawn(rng):
    x = rng.integers(2, size=60).astype(float)
    for seed in range(5):
        ax = es.energy_test(x, groups=rng.integers(2, size=60), rng=seed).plot()
        assert ax.patches
        assert not ax.texts


def test_values_that_are_not_finite_do_not_pass(rng):
    with pytest.raises(ValueError, match=r"row 0 of `Y` is all zeros"):
        es.pairwise([[1.0, 0.0]], [[0.0, 0.0]], metric="cosine")
    model = es.EnergyClustering(2, metric="cosine", random_state=0).fit(rng.random((20, 3)))
    with pytest.raises(ValueError, match=r"row 0 of `X` is all zeros"):
        model.predict([[0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="needs columns of 0 and 1"):
        es.pairwise(rng.random((5, 3)), metric="dice")
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        es.pairwise(np.array([2**60, 2**60 + 1]))


def test_a_zero_matrix_has_a_bound():
    found = es.energy_cluster(np.zeros((300, 300)), 1, metric="precomputed")
    assert (found.total, found.bound) == (0, 0)


def test_pickled_results_are_read_only_too(rng):
    result = es.dispersion(rng.standard_normal((9, 2)), np.arange(9) % 3)
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert not again.g.flags.writeable
        assert again.within == result.within


def test_results_do_not_freeze_the_users_arrays(rng):
    X = rng.standard_normal((9, 2))
    found = es.energy_cluster(X, 2, rng=0)
    X[0] = 7
    assert found.points[0, 0] != 7


def test_f_is_infinite_for_the_mirror_split_too():
    result = es.energy_test([0.1] * 3, [0.7] * 3, statistic="f")
    assert result.statistic == np.inf
    assert np.isinf(result.null_distribution).sum() == 1
    assert result.pvalue == pytest.approx(0.1)


def test_html_is_escaped(rng):
    def nearly(X, Y):
        return np.abs(X - Y.T)

    nearly.__name__ = "<lambda>"
    text = es.dispersion(rng.standard_normal(4), ["<b>x", "y", "y", "<b>x"], metric=nearly)._repr_html_()
    assert html.escape("<b>x") in text
    assert html.escape("<lambda>") in text
    assert "<b>x" not in text


def test_one_point_is_drawn():
    assert es.energy_cluster([[1.0, 2.0, 3.0]], 1).plot().has_data()


def test_an_indefinite_metric_warns_once(rng):
    with pytest.warns(es.NotNegativeTypeWarning) as caught:
        es.cluster_test(5 * rng.standard_normal((40, 2)), 3, metric=es.metrics.Sine(), rng=rng)
    assert len(caught) == 1


def test_the_last_allowed_pass_can_converge(rng):
    X = rng.standard_normal((40, 2))
    found = es.energy_cluster(X, 3, init=np.arange(40) % 3)
    again = es.energy_cluster(X, 3, init=np.arange(40) % 3, max_iter=found.n_iter - 1)
    assert again.converged
    assert again.within == found.within


def test_tiny_data_keep_their_digits(rng):
    X, labels = rng.standard_normal((20, 2)), np.arange(20) % 2
    expected = es.dispersion(X, labels)
    for power in (-600, -990):
        found = es.dispersion(np.ldexp(X, power), labels)
        assert_allclose(np.ldexp(found.total, -power), expected.total, rtol=1e-12)
    p = es.energy_test(np.ldexp(X, -700), groups=labels, rng=0).pvalue
    assert p == es.energy_test(X, groups=labels, rng=0).pvalue


def test_labels_with_another_index_are_not_matched_by_position(rng):
    X = pd.DataFrame(rng.standard_normal((10, 2)))
    groups = pd.Series(np.repeat(["a", "b"], 5))
    shuffled = groups.sample(frac=1, random_state=0)
    for call in (
        lambda g: es.energy_test(X, groups=g, n_resamples=9),
        lambda g: es.dispersion(X, g),
        lambda g: es.disco(X, groups=g, n_resamples=9),
    ):
        with pytest.raises(ValueError, match=r"must have the index of the table, row by row; align it"):
            call(shuffled)
        call(shuffled.loc[X.index])
        call(shuffled.to_numpy())


def test_labels_in_the_wrong_place_get_a_hint(rng):
    X, g = rng.standard_normal((10, 2)), np.repeat([0, 1], 5)
    with pytest.raises(ValueError, match=r"got 2, 1. Labels of the rows go to `groups=`"):
        es.energy_test(X, g)


def test_large_samples_do_not_store_the_pairs(rng, monkeypatch):
    """Above the limit neither the matrix nor anything of its size is made, and the numbers are the same."""
    from energystats.pairs import tiles as pairs

    X, labels = rng.standard_normal((700, 2)), rng.integers(2, size=700)
    dense = es.energy_test(X, groups=labels, n_resamples=19, rng=0)
    monkeypatch.setattr(pairs, "STORED_UP_TO", 100)
    monkeypatch.setattr(pairs.Recomputed, "matrix", lambda self: pytest.fail("the matrix was made"))
    tiled = es.energy_test(X, groups=labels, n_resamples=19, rng=0)
    assert_allclose(tiled.null_distribution, dense.null_distribution, atol=1e-12 * dense.total)
    assert_allclose(es.dispersion(X, labels).within, dense.within, rtol=1e-12)


@pytest.mark.parametrize("scale", sweep([1e-120, 1e-80, 1e80, 1e140], [1e140]))
def test_extreme_scales_change_no_pvalue(scale, rng):
    """Squares of squared distances left the range of numbers."""
    x, y = rng.normal(size=(2, 25, 2))
    groups = np.repeat([0, 1], 25)
    for options in ({"alpha": 1.0}, {"alpha": 2.0}):
        few = {"n_resamples": 99, "rng": 0, **options}
        plain = es.pairwise_tests(np.r_[x, y], groups, **few).table
        scaled = es.pairwise_tests(np.r_[x, y] * scale, groups, **few).table
        assert_allclose(scaled["pvalue_spread"], plain["pvalue_spread"])
        for method in ("cross", "asymptotic", "permutation"):
            how = {"method": method, "rng": 0, **options}
            assert_allclose(
                es.energy_test(x * scale, y * scale, **how).pvalue, es.energy_test(x, y, **how).pvalue, rtol=1e-6
            )


def test_vanishing_distances_are_refused(rng):
    x, y = 1e-200 * rng.normal(size=(2, 25, 2))
    with pytest.raises(ValueError, match=r"The points must lie further apart: their largest difference is .*e-200"):
        es.energy_test(x, y, alpha=2.0)
    for metric in (es.metrics.Localised(), "sqeuclidean"):
        with pytest.raises(ValueError, match="multiply the data by a constant first"):
            es.energy_test(x, y, metric=metric)
    with pytest.raises(ValueError, match="divide the data by a constant first"):
        es.dispersion(np.linspace(-1e150, 1e150, 2000)[:, None] * np.ones(9), np.arange(2000) % 2, alpha=2.0)
    standardized = es.energy_test(x, y, standardize=True, rng=0)
    assert standardized.pvalue == es.energy_test(x * 2.0**600, y * 2.0**600, standardize=True, rng=0).pvalue
    with pytest.raises(ValueError, match=r"`sample_weight` must not be that small or large"):
        es.energy_test(x * 1e200, y * 1e200, sample_weight=np.full(50, 1e-170))


def test_formulas_that_would_be_misread(rng):
    frame = pd.DataFrame({"u": rng.normal(size=12), "v": rng.normal(size=12), "g": list("abc") * 4})
    with pytest.raises(ValueError, match=r"`formula` must not subtract before ~"):
        es.disco("u - v ~ g", data=frame)
    assert es.disco("I(u - v) ~ g", data=frame, n_resamples=9, rng=0).n == 12
    with pytest.raises(ValueError, match=r"`formula` 'u ~ np.log\(v\).round\(\)' cannot be read"):
        es.disco("u ~ np.log(v).round()", data=frame)


# Found by a reader who worked with geometry and mixed tables


@pytest.mark.parametrize("offset", [100.0, 2e4])
def test_a_kernel_far_from_its_origin_is_not_called_indefinite(offset, rng):
    X = rng.normal(size=(60, 3)) + offset
    assert es.lingoes_kernel(X @ X.T).constant == 0
    assert es.kernel_pca(X @ X.T, None).coordinates.shape == (60, 3)
    assert es.kernel_pca(X, None, kernel=lambda A, B: A @ B.T).n_negative == 0
    assert es.negative_type(X, metric=es.metrics.Kernel(lambda A, B: A @ B.T)).holds
    assert es.lingoes_kernel(X @ X.T - 5.0 * np.eye(60)).constant == pytest.approx(5, rel=1e-4)


def test_the_note_on_principal_coordinates_is_true_for_two_axes(rng):
    d = definitions.random_dissimilarity(rng, 12)
    assert "too large" not in es.principal_coordinates(d, n_components=2).summary()
    assert "lingoes_kernel" in es.kernel_pca(es.distance_kernel(d**2)).summary()


def test_the_grouping_column_is_no_response(rng):
    frame = pd.DataFrame({"g": list("ab") * 10, "x": rng.normal(size=20)})
    with pytest.raises(ValueError, match="must not have 'g' on both sides of ~"):
        es.disco("g + x ~ g", data=frame, metric="gower")
    with pytest.raises(ValueError, match="must not have 'x' on both sides"):
        es.disco("x ~ g + log(x)", data=frame)


def test_gaps_in_responses_are_gowers_business(rng):
    frame = pd.DataFrame({"g": list("ab") * 10, "x": rng.normal(size=20), "c": list("uvwxy") * 4})
    frame.loc[[0, 3], "x"] = np.nan
    frame.loc[5, "c"] = None
    frame["z"] = rng.normal(size=20)
    by_formula = es.disco("x + c + z ~ g", data=frame, metric="gower", n_resamples=99, rng=0)
    by_groups = es.disco(frame[["x", "c", "z"]], groups=frame["g"], metric="gower", n_resamples=99, rng=0)
    assert by_formula.n == 20
    assert by_formula.statistic == by_groups.statistic
    with pytest.raises(ValueError, match="Values are missing in 2 of 20 rows"):
        es.disco("x ~ g", data=frame)


def test_equally_good_partitions_are_no_change():
    for seed in range(4):
        found = es.compare_euclidizations([[0, 1, 9], [1, 0, 1], [9, 1, 0]], 2, rng=seed)
        kept = ~np.array(found.changed)
        assert (found.rand[kept] == 1).all()
        assert (found.labels[kept] == found.labels[0]).all()


def test_rounded_data_get_a_hint(rng):
    d = es.pairwise(rng.normal(size=(40, 3))).astype("f4").astype(float)
    summary = es.lingoes(d).summary()
    assert "rounding of the data" in summary
    tol = float(summary.split("such as ")[1].split(":")[0])
    assert es.lingoes(d, tol=tol).constant == 0
    with pytest.raises(ValueError, match="`tol` is a share of the scale and must be below 1"):
        es.is_euclidean(d, tol=1.0)


def test_negative_type_of_a_negative_rho_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not es.negative_type([[0.0, -1.0], [-1.0, 0.0]]).holds


def test_many_groups_make_no_legend(rng):
    import matplotlib.pyplot as plt

    found = es.principal_coordinates(es.pairwise(rng.normal(size=(40, 2))))
    ax = found.plot(labels=np.arange(40))
    assert ax.get_legend() is None
    assert "40 groups" in [text.get_text() for text in ax.texts]
    assert [t.get_text() for t in found.plot(labels=["", "a"] * 20).get_legend().get_texts()] == ["''", "a"]
    plt.close("all")


# Found by a reader who worked with clustering


@pytest.mark.parametrize("k", [3, 4, 5])
def test_spectral_clusters_where_the_feature_space_has_few_dimensions(k):
    """One column and alpha = 2: a Gram matrix of rank 1, whose other eigenvectors say nothing."""
    x = es.datasets.load("iris")["petal_length"].to_numpy()
    found = es.energy_cluster(x, k, alpha=2, algorithm="spectral", n_init=30, rng=0)
    assert found.within <= 1.02 * es.cluster_1d(x, k, alpha=2).within
    dup = np.repeat([[0.0, 0], [1, 1], [5, 5]], [5, 4, 3], axis=0)
    assert es.energy_cluster(dup, 3, alpha=2, algorithm="spectral", rng=0).within == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("cut", ["ratio", "association", "normalized"])
@pytest.mark.parametrize("power", sweep([-1060, -300, -50, 300], [-1060, 300]))
def test_a_graph_s_unit_changes_nothing(cut, power):
    A = np.kron(np.eye(3), np.ones((4, 4))) + 0.25
    unit, scaled = (es.graph_partition(M, 3, cut=cut, rng=0, n_init=2) for M in (A, np.ldexp(A, power)))
    factor = 0 if cut == "normalized" else power
    assert scaled.labels.tolist() == unit.labels.tolist()
    assert scaled.value == np.ldexp(unit.value, factor)
    assert scaled.bound == np.ldexp(unit.bound, factor)
    assert scaled.inside.tolist() == np.ldexp(unit.inside, power).tolist()
    assert abs(scaled.tightness - 1) < 1e-12


def test_labels_to_start_from_go_with_rows_of_weight_zero(rng):
    X, w = rng.normal(size=(20, 2)), np.ones(20)
    w[:6] = 0
    model = es.EnergyClustering(2, init=np.arange(20) % 2).fit(X, sample_weight=w)
    assert model.within_ == es.energy_cluster(X[6:], 2, init=np.arange(14) % 2).within
    with pytest.raises(TypeError, match=r'`init` must be "k-means[+][+]", "random", "spectral" or labels, got None'):
        es.energy_cluster(X, 2, init=None)


# ---------------------------------------------------------------- moments lost in rounding, ties, names of rows


@pytest.mark.filterwarnings("ignore:One row makes")
@pytest.mark.parametrize("n", sweep([10, 20, 100], [20]))
def test_an_asymptotic_p_that_rounding_would_decide_is_refused(n, rng):
    one = np.r_[rng.uniform(1, 9), np.zeros(n - 1)]
    far = np.r_[10.0 ** rng.uniform(7, 100), rng.normal(size=n - 1)]
    for x, y in ((one, np.zeros(n)), (far, rng.normal(size=n)), (np.eye(2 * n)[:n], np.eye(2 * n)[n:])):
        with pytest.raises(ValueError, match="varies over the permutations by more than the rounding"):
            es.energy_test(x, y, method="asymptotic")
    near = np.r_[1e4, far[1:]]
    y = rng.normal(size=n)
    p = es.energy_test(near, y, method="asymptotic").pvalue
    assert abs(p - es.energy_test(near, y, n_resamples=4999, rng=rng).pvalue) < 0.15  # .10 at most in 600 samples


@pytest.mark.filterwarnings("ignore::energystats.NotCalibratedWarning")
def test_asymptotic_p_is_at_most_one(rng):
    for _ in range(3):
        x, y = np.c_[rng.integers(0, 3, size=(2, 12)), [0, 0], [1, 2]].astype(float)
        assert 0 < es.energy_test(x, y, method="asymptotic").pvalue <= 1


def test_a_smooth_distribution_for_few_values_warns(rng):
    rare = (rng.random((2, 50)) < 0.5).astype(float)
    with pytest.warns(es.NotCalibratedWarning, match="98 of 100 rows are duplicates of others"):
        es.energy_test(*rare, method="asymptotic")
    far = np.r_[1e4, rng.normal(size=99)]  # of such samples .20 were rejected at level .05
    with pytest.warns(es.NotCalibratedWarning, match="One row makes 0.9. of the dispersion of all 100, so that"):
        es.energy_test(far[:20], far[20:], method="asymptotic")
    far[:5] = 1e4, -1e4, 1e4, -1e4, 1e4
    with pytest.warns(es.NotCalibratedWarning, match=r"5 rows make .* by the groups of these rows"):
        es.energy_test(far[:20], far[20:], method="asymptotic")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.energy_test(far[5:20], far[20:], method="asymptotic")
        assert es.energy_test(np.ones(5), np.ones(5), method="asymptotic").pvalue == 1.0
    with pytest.warns(es.NotCalibratedWarning, match="got 20 and 60"):
        es.energy_test(rng.normal(size=20), rng.normal(size=60), method="cross", rng=1)
    with pytest.warns(es.NotCalibratedWarning, match=r"up to \.14 .* \(rare events; .*got 40 and 100"):
        es.energy_test(rng.normal(size=40), rng.normal(size=100), method="cross", rng=1)


def moved(rng, n=8):
    """A Series and another one with its names in another order."""
    first = pd.Series(rng.normal(size=n), index=list("abcdefgh")[:n])
    return first, pd.Series(rng.normal(size=n), index=np.roll(first.index, 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: es.energy_test(a, b, design=es.Design(paired=True)),
        lambda a, b: es.mmd_test(a, b, design=es.Design(paired=True)),
        lambda a, b: es.mmd_test(a, groups=pd.Series([0, 1] * 4, index=a.index), design=es.Design(strata=b.rank() > 4)),
        lambda a, b: es.energy_distance(a, [5.0], sample_weight=(b.abs(), None)),
        lambda a, b: es.energy_distance([5.0], a, sample_weight=(None, b.abs())),
        lambda a, b: es.EnergyClustering(2).fit(a.to_frame("x"), sample_weight=b.abs()),
        lambda a, b: es.clustering_accuracy(a > 0, b > 0),
        lambda a, b: es.graph_partition(pd.DataFrame(1 - np.eye(8), a.index, a.index), 2, sample_weight=b.abs()),
        lambda a, b: es.distance_kernel(pd.DataFrame(1 - np.eye(8), a.index, a.index), base=b / b.sum()),
        lambda a, b: es.equivalent_kernels(*(pd.DataFrame(np.eye(8), c.index, c.index) for c in (a, b))),
    ],
)  # fmt: skip
def test_rows_of_other_names_are_not_matched_by_position(call, rng):
    with pytest.raises(ValueError, match=r"must have the index of the table|stands in another place of the second"):
        call(*moved(rng))


def test_rows_are_matched_by_position_where_names_say_nothing(rng):
    a, _ = moved(rng)
    later = pd.Series(rng.normal(size=8), index=list("ijklmnop"))  # as of another visit in one long table
    expected = es.energy_test(a.to_numpy(), later.to_numpy(), design=es.Design(paired=True)).pvalue
    assert es.energy_test(a, later, design=es.Design(paired=True)).pvalue == expected
    assert es.energy_test(a, later.set_axis(a.index), design=es.Design(paired=True)).pvalue == expected
    with pytest.raises(ValueError, match=r"`X` and `Y` must have the same columns: .* in another order"):
        es.pairwise(pd.DataFrame({"u": [0.0], "v": [1.0]}), pd.DataFrame({"v": [0.0], "u": [1.0]}))


def paired_calls():
    """Name -> call of two Series of which row i is one subject, as samples and in pooled tables."""
    design, g = es.Design(paired=True), np.repeat([0, 1], 8)
    return {
        "energy_test": lambda a, b: es.energy_test(a, b, design=design),
        "mmd_test": lambda a, b: es.mmd_test(a, b, design=design),
        "pooled": lambda a, b: es.energy_test(pd.concat([a, b]), groups=g, design=design),
        "names of labels": lambda a, b: es.energy_test(
            np.concatenate([a, b]), groups=pd.Series(g, pd.concat([a, b]).index), design=design
        ),
        "pooled frame": lambda a, b: es.energy_test(pd.concat([a, b]).to_frame("x"), groups=g, design=design),
        "pooled mmd": lambda a, b: es.mmd_test(pd.concat([a, b]), groups=g, design=design),
        "pairwise_tests": lambda a, b: es.pairwise_tests(pd.concat([a, b]), g, design=design),
        "third sample": lambda a, b: es.energy_test(a.to_numpy(), a, b, design=design, n_resamples=9, rng=0),
    }


@pytest.mark.parametrize("name", paired_calls())
def test_pairs_are_those_of_the_names(name, rng):
    """Subjects known in part were paired by position, and a pooled table by position whatever its index said."""
    call, whole = paired_calls()[name], pd.Series(rng.normal(size=9), index=list("abcdefghi"))
    with pytest.raises(ValueError, match="row 'e' is missing from the second; that row would be paired with 'd'"):
        call(whole.drop("d"), whole.drop("e") + 0.5)
    first = whole.drop("i")
    with pytest.raises(ValueError, match="row 'a' stands in another place of the second"):
        call(first, (first + 0.5)[::-1])
    expected = call(first.reset_index(drop=True), (first + 0.5).set_axis(range(8, 16)))  # as of a default index
    for second in (first + 0.5, (first + 0.5).set_axis(list("ijklmnop"))):
        found = call(first, second)
        same = found.table.equals(expected.table) if name == "pairwise_tests" else found.pvalue == expected.pvalue
        assert same


def test_masked_labels_are_missing():
    labels = np.ma.array([1, 1, 2, -999], mask=[0, 0, 0, 1])
    with pytest.raises(ValueError, match="`labels` must not be missing, but 1 of 4 labels are masked"):
        es.dispersion([1.0, 2, 3, 4], labels)
    assert es.dispersion([1.0, 2, 3, 4], np.ma.array([1, 1, 2, 2])).labels == (1, 2)


def test_columns_that_only_number_the_rows_are_no_data(tmp_path, capsys):
    file = tmp_path / "f.csv"
    pd.DataFrame({"id": range(1, 21), "g": np.repeat(["a", "b"], 10)}).to_csv(file, index=False)
    assert cli.main(["test", str(file), "--group", "g"]) == 2
    assert "no column to use but id, which only numbers the rows; name it in --columns" in capsys.readouterr().err
    assert cli.main(["test", str(file), "--group", "g", "--columns", "id"]) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: es.disco("x ~ t", data=frame),
        lambda frame: es.disco("y ~ x", data=frame),
        lambda frame: es.pairwise(frame[["x"]], metric="gower"),
        lambda frame: es.pairwise(frame[["x"]]),
    ],
)
@pytest.mark.parametrize("first", [2**60, 2**53 + 1])
@pytest.mark.parametrize("dtype", ["int64", "Int64"])
def test_whole_numbers_that_floats_cannot_tell_apart(call, first, dtype):
    frame = pd.DataFrame({"x": first + 3 * np.arange(6), "t": list("ababab"), "y": np.arange(6.0) ** 2})
    with pytest.raises(ValueError, match=r"holds whole numbers beyond 2\*\*53"):
        call(frame.astype({"x": dtype}))


def test_dispersions_of_a_line_with_unlike_weights(rng):
    """Exact fractions; a running sum of the weights would lose seven digits."""
    x, w = [*range(6)], [3 * 10**8, *rng.integers(1, 9, 5).tolist()]
    found = es.cluster_1d(x, 1, w)
    exact = Fraction(
        sum(v * u * abs(i - j) for i, v in zip(x, w, strict=True) for j, u in zip(x, w, strict=True)), 2 * sum(w)
    )
    assert found.total == pytest.approx(float(exact), rel=1e-14)
    assert found.within == pytest.approx(float(exact), rel=1e-14)
    with pytest.raises(ValueError, match="`sample_weight` must not differ by more than a factor"):
        es.cluster_1d(x, 2, [1e16, *w[1:]])


def test_an_infinite_statistic_is_drawn_at_the_edge():
    found = es.energy_test([0.0] * 4, [1.0] * 4, statistic="f", rng=0)
    assert found.statistic == np.inf
    ax = found.plot()
    assert ax.lines[0].get_xdata()[0] == pytest.approx(ax.get_xlim()[1])
    assert any("observed, infinite" in text.get_text() for text in ax.get_legend().get_texts())


def test_a_bound_that_is_reached_proves_the_partition():
    """S/bound = 1 stood beside "another seed can find another"."""
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    said = " ".join(es.energy_cluster(X, 2, alpha=2.0, rng=0).summary().split())
    assert "S reaches its bound: no partition into as many clusters has a larger S." in said
    assert "another seed" not in said


def test_long_whole_numbers_with_gaps_in_arrow_tables():
    """Arrow's conversion makes floats of them: C(n) had one degree of freedom in place of two."""
    pa = pytest.importorskip("pyarrow")
    ids = [10**18, 10**18 + 1, 10**18 + 1000, 10**18] * 4
    table = pa.table({"n": pa.array([*ids, None]), "y": [float(i * i % 7) for i in range(17)]})
    whole = pytest.raises(ValueError, match=r"`n` holds whole numbers beyond 2\*\*53")
    with pytest.warns(es.MissingValuesWarning), whole:
        es.disco("y ~ C(n)", data=table, missing="drop")
    with pytest.warns(es.MissingValuesWarning):
        found = es.disco(table.select(["y"]), groups=table["n"], missing="drop", n_resamples=9)
    assert found.terms[0].df == 2


# ---------------------------------------------------------------- rounding that was taken for data


ROUNDED = np.where(np.arange(40) < 20, (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3))  # two neighbouring numbers


DIVIDING = [{"standardize": True}, *({"metric": name} for name in ("seuclidean", "mahalanobis", "gower"))]


@pytest.mark.parametrize("how", DIVIDING, ids=str)
def test_a_column_that_varies_by_rounding_is_told_wherever_columns_are_divided(how, rng):
    """p was .001 for .722, with a warning for standardize=True alone."""
    X, g = np.c_[rng.normal(size=40), ROUNDED], np.arange(40) // 20
    with pytest.warns(es.ColumnScaleWarning, match=r"Column 1: no more variation than the rounding of the values"):
        es.energy_test(X, groups=g, n_resamples=9, rng=0, **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.energy_test(np.c_[X[:, 0], X[:, 0] ** 2], groups=g, n_resamples=9, rng=0, **how)
        es.energy_test(X, groups=g, n_resamples=9, rng=0)


def test_a_table_that_is_all_rounding_is_told():
    with pytest.warns(es.ColumnScaleWarning, match=r"Columns? 0: .*no column varies by more\. Round the values"):
        es.energy_test(ROUNDED, groups=np.arange(40) // 20, n_resamples=9, rng=0)


def test_a_column_of_rounding_has_no_scale(rng):
    """Its tiny standard deviation brought the advice to standardize, which would have blown it up."""
    x, groups = rng.normal(size=40), np.arange(40) % 2
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = es.dispersion(np.c_[x, ROUNDED], groups)
    assert not told
    assert found.total == pytest.approx(es.dispersion(x, groups).total)


def directions(rng, kind):
    x = np.r_[2.0 ** rng.integers(0, 5, 20), rng.uniform(1, 30, 20)]
    return np.c_[x, 2 * x, 3.3 * x] if kind != "correlation" else np.c_[x, x + 1.5, x + 4]


@pytest.mark.parametrize("metric", ["cosine", "correlation", "jensenshannon"])
def test_rows_of_one_direction_have_no_distance(metric, rng):
    """1 - cos, and the root of a difference of entropies, left rounding that permutations ranked: p = .001."""
    X = directions(rng, metric)
    assert not es.pairwise(X, metric=metric).any()
    found = es.energy_test(X, groups=np.arange(40) // 20, metric=metric, n_resamples=99, rng=0)
    assert (found.total, found.pvalue) == (0, 1)
    turned = X.copy()
    turned[0, 0] *= 1 + 1e-6  # and what is no rounding is kept
    assert (es.pairwise(turned, metric=metric)[0, 1:] > 0).all()


@pytest.mark.parametrize("name", ["cosine", "correlation", "jensenshannon"])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6])
def test_distances_of_nearly_one_direction_keep_their_digits(name, scale, rng):
    """Against the same formulas with forty digits."""
    X = rng.uniform(1, 2, (2, 4))
    X[1] = X[0] * (1 + scale * X[1])
    with mpmath.workdps(40):
        x, y = ([mpmath.mpf(float(v)) for v in row] for row in X)
        if name == "jensenshannon":
            p, q = ([v / sum(row) for v in row] for row in (x, y))
            m = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
            parts = (a * mpmath.log(a / c) for row in (p, q) for a, c in zip(row, m, strict=True))
            expected = float(mpmath.sqrt(sum(parts) / 2))
        else:
            if name == "correlation":
                x, y = ([v - sum(row) / 4 for v in row] for row in (x, y))
            product, squares = sum(a * b for a, b in zip(x, y, strict=True)), [sum(v * v for v in r) for r in (x, y)]
            expected = float(1 - product / mpmath.sqrt(squares[0] * squares[1]))
    tolerance = 1e-14 / scale  # of the digits that differ in the rows themselves
    assert es.pairwise(X, metric=name)[0, 1] == pytest.approx(expected, rel=100 * tolerance)


def test_ties_of_shares_count():
    """Proportional rows are at one place, so that labelings tie; p was .740 for 1."""
    A, B, f = np.array([0.1, 0.2, 0.4]), np.array([0.1, 0.3, 0.4]), [1, 3, 7, 11, 13, 17]
    rows = np.array([A * k for k in f] + [B * k for k in f])
    assert es.energy_test(rows, groups=list("aabbabababba"), metric="jensenshannon").pvalue == 1


DOSES = np.array([0.1, 0.2, 0.3] * 4 + [0.1, 0.2, 0.1 * 3] * 4)


@pytest.mark.parametrize("kind", ["array", "list", "Series", "Categorical", "formula", "strata", "plots", "pairs"])
def test_labels_that_differ_by_rounding_are_refused(kind):
    """.3 and .1 * 3 were two groups, levels, strata and plots; R's factor() has one."""
    y, g = np.arange(24.0) % 7, np.arange(24) % 2
    calls = {
        "array": lambda: es.energy_test(y, groups=DOSES),
        "list": lambda: es.energy_test(y, groups=DOSES.tolist()),
        "Series": lambda: es.disco(y, groups=pd.Series(DOSES)),
        "Categorical": lambda: es.energy_test(y, groups=pd.Categorical(DOSES)),
        "formula": lambda: es.disco("y ~ C(dose)", data=pd.DataFrame({"y": y, "dose": DOSES})),
        "strata": lambda: es.energy_test(y, groups=g, design=es.Design(strata=DOSES)),
        "plots": lambda: es.energy_test(y, groups=g, design=es.Design(whole_plots=DOSES)),
        "pairs": lambda: es.pairwise_tests(y, DOSES),
    }
    with pytest.raises(ValueError, match=r"labels that differ by rounding alone, 0\.3 and 0\.30000000000000004; round"):
        calls[kind]()
    es.disco("y ~ dose", data=pd.DataFrame({"y": y, "dose": DOSES}), n_resamples=9)  # a covariate is a number


@pytest.mark.parametrize("words", [("test", "t.csv", "--group", "dose"), ("disco", "y ~ C(dose)", "t.csv")])
def test_the_command_line_refuses_levels_that_differ_by_rounding(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": np.arange(24.0) % 7, "dose": DOSES}).to_csv("t.csv", index=False)
    assert cli.main([*words]) == 2
    assert "'0.3' and '0.30000000000000004' in column 'dose' differ by rounding alone" in capsys.readouterr().err


@pytest.mark.parametrize("form", [lambda c: c.values, pd.CategoricalIndex, lambda c: c.array])
def test_categories_stay_categories_without_their_series(form):
    """A bare Categorical of codes was read as numbers: p .143 for .771 under gower."""
    codes = pd.Series(pd.Categorical([1, 3, 2, 1, 3, 2, 9, 9]))
    bare = form(codes)
    assert_array_equal(es.pairwise(bare, metric="gower"), es.pairwise(codes, metric="gower"))
    for call in (
        lambda: es.energy_test(bare, groups=list("aaaabbbb")),
        lambda: es.dispersion(bare, np.arange(8) % 2),
        lambda: es.cluster_1d(bare),
        lambda: es.energy_test(np.arange(8.0), groups=np.arange(8) % 2, sample_weight=bare),
    ):
        with pytest.raises(TypeError, match="categor"):
            call()
    assert es.dispersion(np.arange(8.0), bare).labels == (1, 2, 3, 9)


@pytest.mark.slow
def test_draws_of_a_slow_distribution_are_estimated():
    """Hours without a word: the time of the distribution's own draws was not in the estimate."""
    with pytest.raises(es.PerformanceWarning, match=r"most of it for draws from studentized_range"):
        es.goodness_of_fit(np.linspace(0.1, 0.9, 50), stats.studentized_range(3, 10), n_resamples=10**5, rng=0)


# ---------------------------------------------------------------- points in no cluster, and spaces of a partition


@pytest.fixture
def with_noise():
    from sklearn.cluster import DBSCAN

    rng = np.random.default_rng(0)
    X = np.vstack((rng.normal(size=(30, 2)), rng.normal(8, 1, (30, 2)), [[20.0, 20.0]]))
    return X, DBSCAN(1.5).fit(X)


def test_points_in_no_cluster_have_no_silhouette_and_are_no_group(with_noise):
    X, found = with_noise
    assert (found.labels_[-1], found.labels_.max()) == (-1, 1)
    inside = found.labels_ >= 0
    silhouettes = es.silhouette(X, found)
    assert_array_equal(np.isnan(silhouettes), ~inside)
    assert_allclose(silhouettes[inside], es.silhouette(X[inside], found.labels_[inside]))
    assert np.isfinite(es.silhouette(X, found.labels_)).all()  # an array tells nothing of where it is from
    for call in (es.dispersion, lambda X, g: es.energy_test(X, groups=g)):
        with pytest.raises(ValueError, match=r"points in no cluster \(label -1\): \d+ of 61, which are no group"):
            call(X, found)
    assert es.clustering_accuracy(found.labels_, found.labels_) == 1
    assert es.clustering_accuracy(found.labels_, found) == pytest.approx(inside.mean())


def test_points_in_no_cluster_have_their_place_among_those_of_a_matrix(with_noise):
    X, labels = with_noise[0], with_noise[1].labels_
    R = es.pairwise(X)
    found = es.validate_clusters(R, partition=labels, metric="precomputed", rng=0).partition
    axes = es.principal_coordinates(np.sqrt(R), n_components=2).coordinates
    assert_allclose(np.abs(found.coordinates), np.abs(axes), atol=1e-8)
    assert np.abs(found.coordinates[labels < 0]).max() > 1


@pytest.mark.parametrize("judge", [es.dispersion, es.silhouette])
def test_judging_a_partition_in_another_space_warns(judge):
    X = np.abs(np.random.default_rng(1).normal(size=(40, 3)))
    found = es.energy_cluster(X, 2, metric="bray", rng=0)
    with pytest.warns(es.EnergyStatsWarning, match="were found under SciPyMetric.*judged here under Euclidean"):
        judge(X, found)
    scored = es.EnergyClustering(2, standardize=True, random_state=0).fit(X)
    with pytest.warns(es.EnergyStatsWarning, match="columns standardized and are judged"):
        judge(X, scored)
    judge(X, found, metric="bray")
    judge(X, found.labels)
    judge(X, scored, standardize=True)
    judge(es.pairwise(X), found, metric="precomputed")


@pytest.mark.parametrize("how", [{"standardize": True}, {"alpha": 0.5}, {"metric": "manhattan"}])
def test_a_space_beside_that_of_the_partition_is_refused(how):
    X = np.abs(np.random.default_rng(1).normal(size=(40, 3)))
    found = es.energy_cluster(X, 2, metric="bray", rng=0)
    with pytest.raises(ValueError, match=f"`{next(iter(how))}` does nothing with a partition that was found"):
        es.validate_clusters(X, partition=found, **how)
    few = {"n_resamples": 39, "rng": 0}
    same = es.validate_clusters(X, partition=found, metric="bray", **few)
    assert_array_equal(same.silhouette, es.validate_clusters(X, partition=found, **few).silhouette)


def test_chi2_refuses_columns_that_its_weights_do_not_know():
    known, other = [[1.0, 1, 0], [2, 1, 0]], [[1.0, 1, 100]]
    with pytest.raises(ValueError, match=r"column 2 .* is 0 in all rows that those are of, and not in others"):
        es.pairwise(known, other, metric="chi2")
    assert es.pairwise(known, [[3.0, 1, 0]], metric="chi2").shape == (2, 1)


# ---------------------------------------------------------------- spread with few labelings, and sentences


def test_spread_of_few_whole_plots_visits_all_labelings():
    plots = np.repeat(np.arange(6), 8)
    groups = np.where(plots < 3, "a", "b")
    X = np.random.default_rng(0).normal(size=(48, 3)) * np.where(plots < 3, 1, 6)[:, None]
    how = {"design": es.Design(whole_plots=plots)}
    found = [es.spread_test(X, groups, n_resamples=99, rng=seed, **how) for seed in (1, 2)]
    assert [one.pvalue for one in found] == [0.1, 0.1]
    assert (found[0].exact, found[0].n_resamples, found[0].null_distribution.size) == (True, 20, 19)
    assert found[0].pvalue_interval == (0.1, 0.1)
    assert "over all 20 distinct labelings: it does not depend on a seed" in found[0].summary().replace("\n  ", " ")
    assert "n/(n - 1)" not in found[0].summary()
    assert not es.spread_test(X, groups, n_resamples=9, rng=1, **how).exact
    pairs = es.pairwise_tests(X, groups, n_resamples=99, rng=1, **how)
    assert pairs.rows[0].pvalue_spread == 0.1
    assert "labels of the distances from spatial medians were permuted" in pairs.summary().replace("\n  ", " ")
    free = es.pairwise_tests(X, groups, n_resamples=99, rng=1).summary().replace("\n  ", " ")
    assert "residuals of the distances from spatial medians were permuted" in free


def test_spread_by_strata_says_of_which_points_n_is(rng):
    strata, groups = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    X = rng.normal(size=(40, 2))
    found = es.spread_test(X, groups, design=es.Design(strata=strata), n_resamples=19, rng=0)
    assert "spatial median of the group in its stratum" in found.summary().replace("\n  ", " ")
    assert found.by_stratum
    assert not es.spread_test(X, groups, n_resamples=19, rng=0).by_stratum


def test_groups_of_one_row_each_are_told():
    found = es.energy_test(np.arange(24.0).reshape(-1, 2), groups=range(12), n_resamples=19, rng=0)
    assert found.pvalue == 1
    assert any(note.startswith("Every row is a group of its own") for note in found.notes)
    few = es.energy_test(np.arange(24.0).reshape(-1, 2), groups=np.arange(12) // 2, n_resamples=19, rng=0)
    assert not any(note.startswith("Every row is a group of its own") for note in few.notes)


def test_a_tail_that_was_fitted_is_told_in_the_short_table(rng):
    x, y = rng.normal(size=(30, 2)), rng.normal(2, size=(30, 2))
    found = es.energy_test(x, y, method=es.Permutation(extrapolate=True), rng=0)
    assert found.extrapolated
    assert found.to_frame()["extrapolated"].item()
    assert "extrapolated" not in es.energy_test(x, y, n_resamples=19, rng=0).to_frame()


def test_full_tables_hold_what_all_rows_share(rng):
    X, groups = rng.normal(size=(30, 2)), np.arange(30) % 3
    pairs = es.pairwise_tests(X, groups, n_resamples=99, rng=0).to_frame(full=True)
    assert {"correction", "method", "n_resamples", "metric", "standardized"} <= set(pairs)
    power = es.energy_power(X[:9], X[9:], [5], n_replicates=3, n_resamples=19, rng=0).to_frame(full=True)
    assert {"level", "n_replicates", "n_resamples", "metric", "standardized"} <= set(power)


def test_a_one_sided_formula_has_one_part():
    data = pd.DataFrame({"a": list("uvuvuvuv"), "b": list("xxxxyyyy")})
    with pytest.raises(ValueError, match=r"must have one part on each side of ~, got '~ a \| b'"):
        es.disco(np.arange(8.0).reshape(-1, 1), "~ a | b", data=data)


def test_the_power_of_a_complete_rho_is_in_the_object():
    with pytest.raises(ValueError, match="Its power is its own: `alpha=` of the object"):
        es.pairwise(np.eye(3), metric=es.metrics.Canberra(scaled=True), alpha=2)


def test_centres_of_cells_need_three_whole_plots(rng):
    """Between two plots a centre is as far from both, whatever they are: labels of plots are not exchangeable then."""
    strata, plots, groups = np.repeat(np.arange(3), 12), np.repeat(np.arange(12), 3), np.tile(np.repeat([0, 1], 6), 3)
    X = rng.normal(size=(36, 2)) + 2 * rng.normal(size=(12, 2))[plots] + 4 * strata[:, None]
    both = es.Design(whole_plots=plots, strata=strata)
    assert not es.spread_test(X, groups, design=both, n_resamples=19, rng=0).by_stratum
    assert es.spread_test(X, groups, design=es.Design(strata=strata), n_resamples=19, rng=0).by_stratum
    more = np.repeat(np.arange(18), 2)
    both = es.Design(whole_plots=more, strata=strata)
    assert es.spread_test(X, groups, design=both, n_resamples=19, rng=0).by_stratum


def test_noise_is_right_on_neither_side(with_noise):
    _, found = with_noise
    inside = found.labels_ >= 0
    assert es.clustering_accuracy(found, found.labels_) == pytest.approx(inside.mean())


def test_an_order_of_any_floats_and_of_no_single_value():
    x = np.random.default_rng(0).normal(size=10)
    plain = es.segment_test(x, n_resamples=19, rng=0).pvalue
    for kind in (np.float16, np.longdouble):
        for order in (np.arange(10, dtype=kind), pd.Series(np.arange(10)).astype(kind)):
            assert es.segment_test(x, order=order, n_resamples=19, rng=0).pvalue == plain
    for order in (0, np.int64(3), 5.0, True):
        with pytest.raises(TypeError, match="`order` must be one value a row, or the name of a column as text, got"):
            es.segment_test(x, order=order)
    frame = pd.DataFrame({"y": x}).assign(z=x)
    with pytest.raises(ValueError, match="'y' is there more than once; rename it"):
        es.segment(frame.set_axis(["y", "y"], axis=1), 2, order="y")
    with pytest.raises(TypeError, match="got Fraction objects; convert them first"):
        es.segment(x, 2, order=[Fraction(i) for i in range(10)])
    with pytest.raises(ValueError, match="9007199254740992 stands in several"):
        es.segment(x, 2, order=np.full(10, 2.0**53))


def test_several_groups_of_two_whole_plots_are_refused(rng):
    plots = np.repeat(np.arange(8), 4)
    X = rng.normal(size=(32, 2)) + 4 * rng.normal(size=(8, 2))[plots]
    with pytest.raises(ValueError, match="must not have two whole plots in several groups, as in 0 and 1"):
        es.spread_test(X, plots // 2, design=es.Design(whole_plots=plots))
    for groups, labelings in ((plots // 4, 70), (plots > 1, 28)):  # 4 + 4 plots, and 2 + 6
        found = es.spread_test(X, groups, design=es.Design(whole_plots=plots), n_resamples=99, rng=0)
        assert found.n_resamples == labelings


def test_pairs_with_two_whole_plots_each_have_no_spread(rng):
    """As `spread_test` refuses; a group of two plots beside one of four is compared."""
    plots = np.repeat(np.arange(8), 4)
    X = rng.normal(size=(32, 2)) + 4 * rng.normal(size=(8, 2))[plots]
    groups = np.array(["a", "a", "b", "b", "c", "c", "c", "c"])[plots]
    rows = es.pairwise_tests(X, groups, design=es.Design(whole_plots=plots), n_resamples=99, rng=0).rows
    assert [np.isnan(row.pvalue_spread) for row in rows] == [True, False, False]
    assert all(row.pvalue > 0 for row in rows)


def test_all_kinds_of_points_in_no_cluster_are_left_out():
    """HDBSCAN has -2 for infinite rows and -3 for missing ones."""
    rng = np.random.default_rng(2)
    X = np.vstack((rng.normal(size=(20, 2)), rng.normal(8, 1, (20, 2))))

    class Fitted:
        labels_ = np.repeat([-3, -2, 0, 1], [1, 1, 18, 20])

    silhouettes = es.silhouette(X, Fitted())
    assert np.isnan(silhouettes[:2]).all()
    assert_allclose(silhouettes[2:], es.silhouette(X[2:], Fitted.labels_[2:]))
    with pytest.raises(ValueError, match="2 of 40, which are no group"):
        es.dispersion(X, Fitted())
    assert es.clustering_accuracy(Fitted.labels_, Fitted()) == 38 / 40


def test_columns_permuted_in_more_ways_than_numbers_can_hold(rng):
    counts = rng.poisson(1, size=(30, 100))
    counts[:, 0] += 1
    found = es.cluster_test(counts, 2, metric="bray", method="refit", null="independent", n_resamples=9, rng=0)
    assert 0.1 <= found.pvalue <= 1


def test_squared_distances_of_transformed_rows_compare_means_alone(rng):
    counts = rng.poisson(3, size=(20, 6)) + 1
    roots = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    g = np.arange(20) % 2
    given = es.energy_test(counts, groups=g, metric="hellinger", alpha=2, n_resamples=99, rng=0)
    same = es.energy_test(roots, groups=g, alpha=2, n_resamples=99, rng=0)
    assert given.statistic == pytest.approx(same.statistic)
    assert "compare means alone" in given.null_hypothesis
    assert "compare means alone" in same.null_hypothesis
    assert (
        "compare means alone"
        not in es.energy_test(counts, groups=g, metric="hellinger", n_resamples=99, rng=0).null_hypothesis
    )


def test_pairs_say_when_spread_is_enumerated(rng):
    X, plots = rng.standard_normal((48, 2)), np.repeat(np.arange(12), 4)
    g = np.repeat(["a", "b"], 24)
    free = es.pairwise_tests(X, g, n_resamples=99, rng=0)
    assert "(those of spread are always random)" in free.summary()
    # of six plots against six there are 924 labelings
    drawn, every = (
        es.pairwise_tests(X, g, design=es.Design(whole_plots=plots), n_resamples=n, rng=0) for n in (900, 999)
    )
    assert "(those of spread are likewise where a design leaves few)" in " ".join(drawn.summary().split())
    assert "or all labelings where a design leaves fewer" in " ".join(every.summary().split())


def test_tables_of_other_kinds_name_what_makes_them_one(rng):
    frame = pd.DataFrame({"a": [1.0, 2, 8, 9], "b": [0.0, 1, 0, 1]})
    lazy = type("LazyFrame", (), {"collect": lambda self: frame, "columns": ["a", "b"]})()
    for table, words in (
        (frame.to_dict("list"), "got a dict; .*pandas.DataFrame"),
        (frame.to_records(index=False), "got an array of records; .*pandas.DataFrame"),
        (lazy, r"got a LazyFrame; .*X.collect\(\)"),
    ):
        for call in (lambda X: es.EnergyClustering(2).fit(X), lambda X: es.energy_cluster(X, 2), es.normality_test):
            with pytest.raises(TypeError, match=words):
                call(table)


@pytest.mark.parametrize("scale", [1e-90, 1e-130, 1e100])
def test_bounds_and_eigenvalues_in_any_unit_beyond_256_rows(rng, scale):
    X = rng.standard_normal((270, 2))
    usual = es.energy_cluster(X, 3, alpha=2, rng=0)
    with np.errstate(over="raise", invalid="raise"):
        found = es.energy_cluster(X * scale, 3, alpha=2, rng=0)
        values = es.spectral_embedding(X * scale, alpha=2).eigenvalues
    assert found.tightness == pytest.approx(usual.tightness, rel=1e-9)
    expected = es.spectral_embedding(X, alpha=2).eigenvalues
    assert values[:2] / values[0] == pytest.approx(expected[:2] / expected[0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Steps between tied values are wide")
def test_copies_are_told_where_wide_steps_are_told_too(rng):
    """The steps of few distinct rows are wide as well, and are told once a process."""
    X = np.repeat(rng.normal(size=(6, 6)), 10, axis=0)
    for call in (es.cluster_tree, lambda X, **how: es.select_k(X, 6, "significance", **how)):
        for _ in range(2):
            with pytest.warns(es.TiesWarning, match="54 of 60 rows are duplicated") as found:
                result = call(X, n_resamples=39, rng=0)
            assert sum("duplicated" in str(one.message) for one in found) == 1
            assert any("54 of 60 rows are duplicated" in note for note in result.notes)


def test_outside_labels_in_the_head_of_a_summary_are_adjusted_and_the_clearest_come_first(rng):
    X = np.concatenate([rng.normal(center, 1, (30, 2)) for center in (0, 8)])
    outside = {f"noise {i}": rng.integers(2, size=60) for i in range(3)} | {"true": np.repeat([0, 1], 30)}
    found = es.validate_clusters(X, 2, outside=outside, n_resamples=99, rng=0)
    # beside two cautions the line has no room and is a note: rows that are alike by chance bring the second one
    text = " ".join(" ".join((found.summary(), *found.notes)).split())
    line = text[text.index("Adjusted Rand index with") :]
    assert line.startswith("Adjusted Rand index with true 1.000 (p = ")
    assert " and 1 more, p adjusted over 4 sets (Holm)." in line
    answers = {a.what: a for a in found.answers if a.question == "outside labels"}
    shown = [float(p) for p in re.findall(r"p = ([\d.]+\d)\)", line[: line.index(" and 1 more")])]
    wanted = sorted(a.pvalue_adjusted for a in answers.values())[:3]
    assert shown == pytest.approx(wanted, abs=1e-4)
    one = es.validate_clusters(X, 2, outside={"true": outside["true"]}, n_resamples=99, rng=0)
    assert "Adjusted Rand index with true 1.000 (p = 0.0100).\n" in "\n".join((one.summary(), *one.notes, ""))


def test_random_permutations_tell_how_few_labelings_there_are(rng):
    x, y = rng.normal(size=(2, 3, 2))
    found = es.energy_test(x, y, method="permutation", n_resamples=99, rng=0)
    note = next(note for note in found.notes if "distinct labelings" in note)
    exact = es.energy_test(x, y, method="exact")
    assert f"{exact.n_resamples} distinct labelings, no more than the 99 drawn" in note
    assert f"no p below {exact.smallest_pvalue:.3g}." in note
    more = es.energy_test(*rng.normal(size=(2, 5, 2)), method="permutation", n_resamples=99, rng=0)
    assert not any("distinct labelings" in note for note in (*more.notes, *exact.notes))


def test_heavy_weights_leave_an_exact_p_of_a_matrix_as_it_is(rng):
    """The scale on which ties are judged grew with the square of the heaviest weight where rho is not trusted."""
    for _ in range(4):
        X, w = rng.normal(size=(9, 2)), np.append(1e9, np.ones(8))
        groups = rng.permutation([0, 0, 0, 0, 1, 1, 1, 1, 1])
        how = {"groups": groups, "sample_weight": w, "method": "exact"}
        expected = es.energy_test(X, **how).pvalue
        assert es.energy_test(es.pairwise(X), metric="precomputed", **how).pvalue == expected
        assert es.energy_test(X, metric=euclidean_distances, **how).pvalue == expected
    weighted = {"sample_weight": np.where(np.arange(40) == 7, 1e8, 1.0), "rng": 0}
    X = rng.normal(size=(40, 2))
    of_points, of_matrix = (es.energy_cluster(A, 3, metric=m, **weighted)
                            for A, m in ((X, "euclidean"), (es.pairwise(X), "precomputed")))  # fmt: skip
    assert of_matrix.within == pytest.approx(of_points.within, rel=1e-9)


def test_mahalanobis_distances_of_too_few_rows_are_refused(rng):
    """With one row more than columns all distances are sqrt(2(n - 1)) but for rounding, which made p."""
    X = np.linalg.qr(np.column_stack([np.ones(10), rng.normal(size=(10, 9))]))[0][:, 1:]  # of full rank, surely
    X[5:, 0] += 2
    with pytest.raises(ValueError, match="needs at least 11 rows for 9 columns, got 10: of so few, all distances"):
        es.energy_test(X, groups=np.repeat(["a", "b"], 5), metric="mahalanobis")
    assert es.pairwise(X[:, :8], metric="mahalanobis").std() > 0


def test_metrics_that_see_less_than_the_distribution_say_so(rng):
    A, groups = np.abs(rng.normal(size=(40, 3))) + 0.1, np.repeat([0, 1], 20)
    how = {"groups": groups, "n_resamples": 99, "rng": 0}
    cosine, chord = (es.energy_test(A, metric=m, **how) for m in ("cosine", es.metrics.Chord(alpha=2.0)))
    assert_allclose(cosine.statistic, chord.statistic / 2)
    assert cosine.pvalue == chord.pvalue
    ones = (A > 0.6).astype(float)
    hamming, squares = (es.energy_test(ones, metric=m, **how) for m in ("hamming", "sqeuclidean"))
    assert_allclose(3 * hamming.statistic, squares.statistic)
    for metric, said in (("cosine", "compares the means of these alone"), ("correlation", "about their own mean"),
                         ("hamming", "adds up over columns"), ("cityblock", "adds up over columns"),
                         ("canberra", "adds up over columns")):  # fmt: skip
        assert said in " ".join(es.energy_test(A, metric=metric, **how).summary().split())
        assert said not in " ".join(es.energy_test(A, metric=metric, alpha=0.5, **how).summary().split())
    # two columns of the same two distributions, which go together in one sample only
    x = rng.normal(size=200)
    together, apart = np.c_[x, x], np.c_[x, np.roll(np.sort(x), 100)]
    assert es.energy_distance(together, apart, metric="cityblock") == pytest.approx(0, abs=1e-12)
    assert es.energy_distance(together, apart, metric="cityblock", alpha=0.5) > 1e-3


def test_found_groups_in_a_model_of_several_terms_are_noted(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    found = es.energy_cluster(frame[["a", "b", "c"]], 2, rng=0)
    frame = frame.assign(g=found.labels, known=np.repeat(["x", "y"], 30), age=rng.normal(size=60))
    for formula in ("a + b + c ~ age + g", "a + b + c ~ known * C(g)"):
        notes = es.disco(formula, data=frame, n_resamples=19, rng=0).notes
        assert sum(note.startswith("The groups of 'g' are a local optimum of") for note in notes) == 1
        assert not any("'known'" in note or "'age'" in note for note in notes)
    how = {"data": frame, "decomposition": "marginal", "n_resamples": 19, "rng": 0}
    assert es.disco("a + b + c ~ age + known", **how).notes == ()


@pytest.mark.parametrize("name", ["Total", "Residual", "Overlap"])
def test_no_term_is_called_as_a_row_of_the_table(rng, name):
    frame = pd.DataFrame({"y": rng.normal(size=12), name: list("ab") * 6})
    for call in (lambda: es.disco(f"y ~ {name}", data=frame), lambda: es.disco(frame[["y"]], groups=frame[name])):
        with pytest.raises(ValueError, match=f"No term may be called '{name}'"):
            call()


def test_labels_that_differ_by_rounding_in_parquet_end_in_one_line(tmp_path, capsys, rng):
    path = tmp_path / "f.parquet"
    pd.DataFrame({"y": rng.normal(size=12), "g": [0.1 + 0.2, 0.3] * 6}).to_parquet(path)
    assert cli.main(["test", str(path), "--group", "g"]) == 2
    assert "`g` has labels that differ by rounding alone" in capsys.readouterr().err
    pd.DataFrame({"l": [[1, 2]] * 6, "g": list("ab") * 3}).to_parquet(path)
    assert cli.main(["test", str(path), "--group", "g"]) == 2
    assert "no numeric column among columns of lists or records, l." in capsys.readouterr().err


def test_outside_labels_of_arrow_keep_their_names(rng):
    pa = pytest.importorskip("pyarrow")
    X, g, h = rng.normal(size=(40, 2)), np.repeat([0, 1], 20), np.tile([0, 1], 20)
    how = {"n_resamples": 19, "rng": 0}
    of = {"x": g, "y": h}
    expected = es.validate_clusters(X, 2, outside=of, **how).to_frame(full=True)
    pd.testing.assert_frame_equal(es.validate_clusters(X, 2, outside=pa.table(of), **how).to_frame(full=True), expected)
    one = es.validate_clusters(X, 2, outside=pa.table({"x": g}), **how)
    assert [a.what for a in one.answers if a.question == "outside labels"] == ["x"]


@pytest.mark.parametrize("dtype", [int, float])
def test_a_masked_order_is_missing(rng, dtype):
    order = np.ma.array(np.arange(20, dtype=dtype), mask=np.arange(20) == 3)
    for call in (lambda: es.segment(rng.normal(size=20), 2, order=order),
                 lambda: es.segment_test(rng.normal(size=20), order=order)):  # fmt: skip
        with pytest.raises(ValueError, match="`order` must not be missing, but 1 of 20 values are masked"):
            call()


def test_dates_are_converted_in_a_unit_that_is_seen():
    days = np.arange("2020-01-01", "2020-02-10", dtype="datetime64[D]")
    with pytest.raises(TypeError, match=r"`\(X - X.min\(\)\) / np.timedelta64\(1, 'D'\)`"):
        es.energy_cluster(days, 2)
    X = days
    assert ((X - X.min()) / np.timedelta64(1, "D")).tolist() == list(range(40))


@pytest.mark.slow
def test_a_report_of_columns_without_names(rng):
    page = es.report.cluster_report(pd.DataFrame(rng.normal(size=(30, 2)), columns=[np.nan, np.nan]), 2, rng=0)
    assert "</html>" in page


def test_the_estimator_names_its_own_argument(rng):
    with pytest.raises(ValueError, match="`n_clusters` must be at most 30, the number of points, got 100"):
        es.EnergyClustering(100).fit(rng.normal(size=(30, 2)))


def test_a_call_that_would_be_refused_is_not_advised(rng):
    """Columns that depend on each other have no Mahalanobis distances, though decorrelated axes show the clusters."""
    X = np.c_[rng.normal(0, 8, 200), 6 * np.repeat([0, 1], 100) + rng.normal(size=200)] @ [[1.0, 0.9], [0.0, 0.4]]
    shown = es.cluster_test(X, 2, n_resamples=99, rng=0)
    note = next(note for note in shown.notes if note.startswith("The clusters show in decorrelated columns: "))
    assert 'energy_cluster(X, 2, metric="mahalanobis"). They have ' in note
    assert "That call looks for them" in note
    X = np.c_[X, X.sum(axis=1)]
    shown = es.cluster_test(X, 2, n_resamples=99, rng=0)
    note = next(note for note in shown.notes if note.startswith("The clusters show in decorrelated columns: "))
    assert "they are `.partition`" in note
    assert "mahalanobis" not in note
    assert 'metric="mahalanobis"' not in es.energy_cluster(X, 2, rng=0).summary()


def test_too_few_draws_decide_nothing_in_either_function(rng):
    X = rng.normal(size=(60, 2))
    for k in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = es.cluster_test(X, k, n_resamples=9, rng=0).summary().splitlines()[0]
            verdict = es.validate_clusters(X, k, n_resamples=9, rng=0).summary().splitlines()[0]
        assert "nothing could be decided with" in test
        assert "nothing could be decided with" in verdict


def test_terms_without_p_are_not_counted(rng):
    frame = pd.DataFrame({"y": rng.normal(size=24), "b": list("abc") * 8, "v": np.repeat(list("wxyz"), 6)})
    design = es.Design(strata=frame["b"])
    one = es.disco("y ~ b + v", data=frame, design=design, n_resamples=19, rng=0).summary()
    assert "not adjusted for their number" not in one
    frame["u"] = np.tile(["p", "q"], 12)
    two = es.disco("y ~ b + v + u", data=frame, design=design, n_resamples=19, rng=0).summary()
    assert "The p of 2 terms in the table are not adjusted for their number." in " ".join(two.split())


def test_the_profile_of_dates_has_dates_below_it(rng):
    frame = pd.DataFrame({"v": rng.normal(size=60), "d": pd.date_range("2020-01-31", periods=60, freq="D")})
    ax = es.segment_test(frame, order="d", n_resamples=19, rng=0).plot_profile()
    ax.figure.canvas.draw()
    assert any("2020" in label.get_text() for label in ax.get_xticklabels())


def test_limits_of_z_scores_are_told_in_the_unit_of_the_data(rng):
    X = np.c_[np.maximum(rng.normal(5, 2, 200), 4.0), rng.normal(size=200)]
    with pytest.warns(es.TiesWarning, match="are its smallest, 4"):
        found = es.cluster_test(X, 2, standardize=True, n_resamples=19, rng=0)
    assert any("are its smallest, 4." in note for note in found.notes)


def test_one_cluster_of_a_tree_was_tested(rng, tmp_path, capsys):
    pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).to_csv(tmp_path / "f.csv", index=False)
    words = [str(tmp_path / "f.csv"), "--select", "significance", "--seed", "0", "--report", str(tmp_path / "r.html")]
    assert cli.main(["cluster", *words]) == 0
    said = "One cluster makes no contrast; all points were tested to choose the number of clusters."
    for text in (capsys.readouterr().out, (tmp_path / "r.html").read_text()):
        assert said in text
        assert "was not tested" not in text
        assert "Not tested" not in text


def test_merges_of_few_points_have_a_family_that_is_true(rng):
    found = es.validate_clusters(rng.normal(size=(12, 2)), 2, n_resamples=19, rng=0).to_frame(full=True)
    family = found.loc[found["question"] == "merge", "family"].iloc[0]
    assert family == "1 merge, down the tree"


# ---------------------------------------------------------------- what a machine learner's first hour found


def test_only_a_column_of_most_of_the_variance_is_said_to_decide(rng):
    X = rng.normal(size=(80, 40))
    with pytest.warns(es.ColumnScaleWarning, match=r"column 7, which hardly counts in the distances; use standardize"):
        es.energy_cluster(X * np.where(np.arange(40) == 7, 1e-3, 1.0), 2, n_init=1, rng=0)
    with pytest.warns(es.ColumnScaleWarning, match=r"^Column 7 has .* and decides the distances almost alone; use"):
        es.energy_cluster(X * np.where(np.arange(40) == 7, 1e3, 1.0), 2, n_init=1, rng=0)


def test_a_clusterer_of_points_that_is_given_a_matrix_warns_once(rng):
    from sklearn.cluster import AgglomerativeClustering, KMeans

    D = es.pairwise(np.repeat(rng.normal(size=(2, 2)) * 9, 30, axis=0) + rng.normal(size=(60, 2)))
    how = {"metric": "precomputed", "n_splits": 1, "n_resamples": 39, "rng": 0}
    with pytest.warns(es.EnergyStatsWarning, match=r"`clusterer` KMeans was given the matrix of rho") as caught:
        es.cluster_test(D, clusterer=KMeans(2, n_init=1), **how)
    assert len(caught) == 1
    es.cluster_test(D, clusterer=AgglomerativeClustering(2, metric="precomputed", linkage="average"), **how)
    es.cluster_test(D, clusterer=lambda R: (R[0] > R[0].mean()).astype(int), **how)


def test_limits_of_many_columns_are_one_warning_and_one_note(rng):
    X = np.maximum(rng.normal(size=(100, 5)), -0.8)
    with pytest.warns(es.TiesWarning, match=r"So it is with 4 more: `.notes` names all\.") as caught:
        found = es.cluster_test(X, n_splits=1, rng=0)
    assert len(caught) == 1
    (note,) = [note for note in found.notes if "are its smallest" in note]
    assert "column 0 are its smallest" in note.short
    assert note.short.endswith("They may be values that a limit cut off. So it is with 4 more.")
    assert [f"values of column {j} are its smallest" in note for j in range(5)] == [True] * 5


def test_rows_of_weight_zero_do_not_count_in_a_score(rng):
    X, w = rng.normal(size=(40, 2)), np.repeat([0.0, 2.0], [5, 35])
    fitted = es.EnergyClustering(2, random_state=0).fit(X, sample_weight=w)
    assert fitted.score(X, sample_weight=w) == pytest.approx(2 * fitted.score(X[5:]))
    with pytest.raises(ValueError, match=r"`sample_weight` must not be zero everywhere"):
        fitted.score(X, sample_weight=0 * w)


def test_a_kernel_matrix_has_no_metric(rng):
    K = es.distance_kernel(es.pairwise(rng.normal(size=(12, 2))))
    for how in ({"metric": "cityblock"}, {"alpha": 0.5}):
        with pytest.raises(ValueError, match=r'`metric` and `alpha` belong to `kernel="distance"`'):
            es.mmd_test(K, groups=np.arange(12) % 2, kernel="precomputed", **how)


def test_a_clusterer_that_wants_names_of_columns_is_told_that_there_are_none(rng):
    import pandas as pd
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    by_name = make_pipeline(make_column_transformer(("passthrough", ["a"])), KMeans(2, n_init=1))
    with pytest.raises(ValueError, match="strings") as error:
        es.cluster_test(X, clusterer=by_name, rng=0)
    assert any("has to name them by position" in note for note in error.value.__notes__)


@pytest.mark.parametrize(("n", "noise"), [(60, 0.0), (60, 1e-12), (60, 1e-6), (135, 0.0), (135, 1e-5)])
def test_points_at_equal_distances_show_no_clusters(n, noise, rng):
    """Those that gave no line all lie at one place along it, and folds at five places were five modes: p = .006."""
    E = np.triu(rng.normal(size=(n, n)) * noise, 1)
    R = 1 - np.eye(n) + E + E.T
    for k in (2, 3):
        found = es.cluster_test(R, k, metric="precomputed", n_splits=2, rng=0)
        assert found.pvalue == 1
        assert any("about equally far from each other" in note for note in found.notes)


def test_pairs_whose_spread_cannot_be_tested_are_not_counted_as_equal(rng):
    X, g = rng.normal(size=(32, 2)), np.repeat(["a", "b", "c"], [15, 15, 2])
    some = es.pairwise_tests(X, g, n_resamples=99, rng=0).summary()
    assert "of 3 pairs, of unequal spread in" in some
    assert "of the 1 whose spread can be tested." in " ".join(some.split())
    none = es.pairwise_tests(
        X[13:], np.where(g[13:] == "b", "b", "a"), n_resamples=99, rng=0, sample_weight=np.r_[9, np.ones(18)]
    )
    assert "of 1 pair, the spread of no pair can be tested." in " ".join(none.summary().split())


@pytest.mark.parametrize("term", ["1/x", "z + 1/x", "g + (1/x)", "1/(x + z)", "x:1", "2:x", "(1 + x)/z", "1/log(x)"])
def test_a_number_in_a_term_is_refused(term):
    """`1/x` was read as `x`: the signs of formulas nest and cross, and compute nothing."""
    x = np.arange(1, 31.0)
    data = pd.DataFrame({"y": 5 / x, "x": x, "z": x[::-1] ** 2, "g": list("abc") * 10})
    with pytest.raises(ValueError, match=r"has no effect in the term .*write what is to be computed in I\(\)"):
        es.disco(f"y ~ {term}", data=data, n_resamples=9)
    assert es.disco("y ~ I(1/x)", data=data, alpha=2, n_resamples=9, rng=0).table["R2"].iloc[0] == pytest.approx(1)
    assert list(es.disco("y ~ 1 + g/x", data=data, n_resamples=9, rng=0).table.index[:2]) == ["g", "g:x"]


def test_dictionaries_of_arrow_are_categories(rng):
    """Of numbers, they were a covariate."""
    pa = pytest.importorskip("pyarrow")
    codes = [1, 2, 4] * 8
    of_arrow = pd.array(codes, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.int64())))
    data = pd.DataFrame({"y": rng.normal(size=24), "k": of_arrow})
    plain = data.assign(k=pd.Categorical(codes))
    tables = [es.disco("y ~ k", data=frame, n_resamples=99, rng=0).table for frame in (data, plain)]
    assert_array_equal(tables[0].to_numpy(), tables[1].to_numpy())
    within = [es.energy_cluster(frame, 2, metric="gower", rng=0).within for frame in (data, plain)]
    assert within[0] == within[1]
    with pytest.raises(ValueError, match="k is categorical"):
        es.disco("k ~ y", data=data, n_resamples=9)
    groups = [es.energy_test(data["y"], groups=k, n_resamples=99, rng=0).pvalue for k in (of_arrow, codes)]
    assert groups[0] == groups[1]


def test_whole_numbers_that_doubles_round_are_refused_in_every_type():
    pa = pytest.importorskip("pyarrow")
    whole = [2**60 + i * i for i in range(12)]
    of_arrow = pd.array([Decimal(i) for i in whole], dtype=pd.ArrowDtype(pa.decimal128(25, 0)))
    wide = np.longdouble(2) ** 60 + np.arange(12)
    tables = [of_arrow, [[i, 0.5] for i in whole], pd.DataFrame({"a": of_arrow})]
    if np.finfo(np.longdouble).nmant > 52:
        tables.append(wide)
    for table in tables:
        with pytest.raises(ValueError, match=r"whole numbers beyond 2\*\*53"):
            es.energy_test(table, groups=np.repeat([0, 1], 6), n_resamples=9)
    graph = np.array([[0, 2**53 + 1, 1], [2**53 + 1, 0, 1], [1, 1, 0]])
    with pytest.raises(ValueError, match=r"whole numbers beyond 2\*\*53"):
        es.graph_partition(sparse.csr_array(graph), 2)
    exact = es.energy_test(np.longdouble(2) ** 60 * np.arange(12), groups=np.repeat([0, 1], 6), rng=0)
    assert exact.statistic == es.energy_test(2.0**60 * np.arange(12), groups=np.repeat([0, 1], 6), rng=0).statistic


@pytest.mark.parametrize("kind", [np.array, list, pd.Series])
def test_a_design_keeps_its_labels(kind, rng):
    x, groups, strata = rng.normal(size=20), np.repeat([0, 1], 10), kind([1, 2] * 10)
    design = es.Design(strata=strata)
    first = es.energy_test(x, groups=groups, design=design, rng=0)
    for i in range(20):
        strata[i] = 0
    assert es.energy_test(x, groups=groups, design=design, rng=0).pvalue == first.pvalue


def test_sizes_of_groups_are_no_second_sample(rng):
    """R's `eqdist.etest(x, sizes)` takes them in that place."""
    x = rng.normal(size=20)
    with pytest.warns(es.EnergyStatsWarning, match=r"adds up to the 20 rows of the first one"):
        es.energy_test(x, [12, 8], n_resamples=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        es.energy_test(x, [12, 9], n_resamples=9)
        es.energy_test(np.arange(20.0), [12, 8], n_resamples=9)  # whole numbers may be compared


def test_distances_given_as_a_graph_or_a_kernel_are_named(rng):
    """Large distances would join what they part; a kernel of zero diagonal has no positive eigenvalue of its own."""
    X = np.r_[rng.normal(size=(10, 2)), rng.normal(8, 1, size=(10, 2))]
    R = es.pairwise(X)
    for cut in ("ratio", "normalized", "association"):
        with pytest.warns(es.MatrixAsPointsWarning, match="`A` looks like a matrix of dissimilarities"):
            es.graph_partition(R, 2, cut=cut, rng=0)
    for f in (es.kernel_pca, es.lingoes_kernel, es.kernel_distance, es.center_kernel, es.nearest_psd):
        with pytest.warns(es.MatrixAsPointsWarning, match="zero diagonal and positive entries") as seen:
            found = f(R)
        assert len(seen) == 1
        if f is es.kernel_pca:
            assert "No eigenvalue is positive" in found.summary()


@pytest.mark.parametrize("weights", ["rbf", "complete", "two cliques", "gravity"])
def test_similarities_are_no_distances(weights, rng):
    X = np.r_[rng.normal(size=(15, 2)), rng.normal(5, 1, size=(15, 2))]
    mass = rng.lognormal(size=30)
    A = {
        "rbf": np.exp(-(es.pairwise(X, alpha=2) / 8)),
        "complete": np.ones((30, 30)),
        "two cliques": np.kron(np.eye(2), np.ones((15, 15))) + 0.01,
        "gravity": np.outer(mass, mass),
    }[weights]
    np.fill_diagonal(A, 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        es.graph_partition(A, 2, rng=0)
    assert seen == []


def test_a_graph_given_as_distances_is_named():
    A = np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20)
    A[9, 10] = A[10, 9] = 1
    with pytest.warns(es.NotNegativeTypeWarning, match="Most entries of `X` are 0, between points whose distances"):
        es.energy_cluster(A, 2, metric="precomputed", rng=0)
    with pytest.warns(es.NotNegativeTypeWarning, match="graph_partition"):
        found = es.pairwise_tests(A, np.repeat([0, 1], 10), metric="precomputed", n_resamples=19, rng=0)
    assert "S of some pairs is negative, so rho is not of negative type" in " ".join(found.summary().split())
    duplicated = np.repeat([0.0, 1.0, 5.0], [16, 2, 2])
    es.energy_cluster(es.pairwise(duplicated), 2, metric="precomputed", rng=0)  # most are 0, between equal rows


def test_a_sampler_with_a_seed_of_its_own_is_refused(rng):
    def fixed(size, rng):
        return np.random.default_rng(0).normal(size=size)

    with pytest.raises(ValueError, match="`distribution` drew the same 40 values 20 times: it must draw them from"):
        es.goodness_of_fit(rng.normal(size=40), fixed, n_resamples=19, rng=0)
    with pytest.raises(ValueError, match="drew the same 10 values 20 times"):
        es.energy_power(fixed, fixed, 10, n_replicates=5, n_resamples=19, rng=0)
    assert es.goodness_of_fit(np.full(9, 2.0), stats.randint(2, 3), n_resamples=19, rng=0).pvalue == 1


def test_small_samples_of_few_values_may_be_alike():
    """Two draws of three zeros and ones are the same in one of eight, and no draws of such sizes reject."""

    def coins(size, rng):
        return 1.0 * (rng.random(size) < 0.5)

    for seed in range(8):
        assert es.energy_power(coins, coins, 3, n_replicates=3, n_resamples=39, rng=seed).rows[0].power == 0


BLOCKWISE = {
    "seuclidean": lambda X, Y: cdist(X, Y, "seuclidean"),
    "median": lambda X, Y: np.exp(-0.5 * (cdist(X, Y) / np.median(cdist(X, Y))) ** 2),
    "deviation": lambda X, Y: cdist(X, Y) / X.std(axis=0).max(),  # a range is that of some rows by chance
}


@pytest.mark.parametrize("name", BLOCKWISE)
def test_functions_that_take_a_scale_from_their_rows_are_refused(name, rng):
    """They are called with blocks of rows: S was 4.6 for 20.3, MMD squared .19 for .40."""
    X, rho = rng.normal(size=(30, 2)) * [1, 5], BLOCKWISE[name]
    calls = [
        lambda: es.energy_test(X[:15], X[15:], metric=rho, rng=0),
        lambda: es.pairwise(X, metric=rho),
        lambda: es.energy_cluster(X, 2, metric=rho, rng=0),
        lambda: es.EnergyClustering(2, metric=rho).fit(X),
        lambda: es.metrics.CallableMetric(rho)(X),
        lambda: es.mmd2(X[:15], X[15:], kernel=rho),
        lambda: es.metrics.Kernel(rho)(X),
    ]
    for call in calls:
        with pytest.raises(
            ValueError, match=r"must depend on two rows alone.*for rows \d+ and \d+ it gave .* beside 8"
        ):
            call()
    pair = es.energy_distance(X[:15], X[15:], metric=lambda X, Y: cdist(X, Y, "cityblock"))
    assert pair == pytest.approx(es.energy_distance(X[:15], X[15:], metric="cityblock"))


@pytest.mark.parametrize("seed", [79, 179, 206])
def test_a_median_that_one_block_of_rows_has_by_chance_is_refused(seed):
    """The median of two rows beside two others is that of the whole table: MMD was one of blocks, without a word."""
    X, median = np.random.default_rng(seed).normal(size=(30, 2)) * [1, 5], BLOCKWISE["median"]
    tried = X[np.linspace(0, 29, 8).astype(int)]
    assert_array_equal(median(tried, tried)[:2, 2:4], median(tried[:2], tried[2:4]))
    with pytest.raises(ValueError, match="must depend on two rows alone"):
        es.mmd2(X[:15], X[15:], kernel=median)


def test_one_rho_for_all_pairs_is_named(rng):
    X, ones = rng.normal(size=(30, 2)), np.ones((30, 30)) - np.eye(30)
    narrow, half = es.metrics.Gaussian(1e-6), np.repeat([0, 1], 15)
    found = [
        es.energy_cluster(ones, 3, metric="precomputed", rng=0),
        es.energy_cluster(X, 3, metric=narrow, rng=0),
        es.energy_test(X, groups=half, metric="hamming", n_resamples=19, rng=0),
        es.mmd_test(X[:15], X[15:], kernel=narrow, n_resamples=19, rng=0),
        es.pairwise_tests(X, half, metric=narrow, n_resamples=19, rng=0),
        es.segment(X, 3, metric=narrow),
        es.segment_test(X, metric=narrow, n_resamples=19, rng=0),
    ]
    assert all("All pairs of points have the same rho" in " ".join(each.notes) for each in found)
    ones[3, 4] = ones[4, 3] = 0.5
    one = es.energy_cluster(ones, 3, metric="precomputed", rng=0)
    assert "same rho" not in " ".join(one.notes)


def test_clusters_under_a_negative_rho_say_that_s_over_t_is_no_share(rng):
    """S/T was -320 in a summary without a word."""
    X = rng.normal(size=(40, 2)) * 3
    with pytest.warns(es.NotNegativeTypeWarning, match="p-values from permuted labels stay valid") as warned:
        found = es.energy_cluster(X, 2, metric=es.metrics.Sine(), rng=0)
    assert found.within < 0
    assert {Path(each.filename).name for each in warned} == {Path(__file__).name}
    said = "W or T is negative, so rho is not of negative type"
    assert said in " ".join(found.summary().split())
    assert said in " ".join(found.notes)
    assert "is negative" not in es.energy_cluster(X, 2, rng=0).summary()
    with pytest.warns(es.NotNegativeTypeWarning) as warned:
        es.energy_test(X[:20], X[20:], metric=es.metrics.Sine(), n_resamples=9, rng=0)
    assert {Path(each.filename).name for each in warned} == {Path(__file__).name}


@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_a_share_of_a_negative_dispersion_is_named_in_text_and_notes():
    """T and W were negative and S was not: S/T was -29 without a word; where S was, the notes, and JSON, were empty."""
    X, sine = np.random.default_rng(1).normal(size=(40, 2)) * 3, es.metrics.Sine()
    signs = set()
    for seed in range(12):
        half = np.random.default_rng(seed).permutation(np.arange(40) % 2)
        found = es.dispersion(X, half, metric=sine)
        assert min(found.within, found.total) < 0
        which = "S" if found.between < 0 else "W or T"
        signs.add(which)
        assert f"{which} is negative, so rho is not of negative type, and S/T is no share." in found.summary()
        tested = es.energy_test(X, groups=half, metric=sine, n_resamples=9, rng=0)
        said = f"{which} is negative, so rho is not of negative type"
        assert said in " ".join(tested.notes)
        assert said in " ".join(tested.summary().split())
    assert signs == {"S", "W or T"}
    for cut in (es.segment(X, 2, metric=sine), es.segment_test(X, metric=sine, n_resamples=19, rng=0)):
        assert "W or T is negative, so rho is not of negative type" in " ".join(cut.notes)
    # T of this pair is negative and S is not: its S/T of -320 was said to be that of a negative S
    pairs = es.pairwise_tests(X, groups=es.energy_cluster(X, 2, metric=sine, rng=0).labels, metric=sine, n_resamples=9)
    assert pairs.rows[0].effect_size < 0
    assert "W or T of some pairs is negative" in " ".join(pairs.notes)
    assert "S of some pairs" not in pairs.summary()
    plain = es.energy_test(X, groups=half, n_resamples=9, rng=0)
    assert "is negative" not in plain.summary()


def test_rho_that_sees_no_difference_is_named():
    X, zeros, half = np.ones((24, 2)), np.zeros((24, 24)), np.repeat([0, 1], 12)
    data = pd.DataFrame({"y": 1.0, "g": half.astype(str), "h": np.tile(["u", "v"], 12)})
    rows = np.column_stack([np.arange(1, 25.0), 2 * np.arange(1, 25.0)])  # on one ray: no angle between any two
    options = {"n_resamples": 19, "rng": 0}
    found = [
        es.energy_test(X, groups=half, **options),
        es.energy_test(rows, groups=half, metric="cosine", **options),
        es.energy_test(zeros, groups=half, metric="precomputed", **options),
        es.energy_test(X, groups=half, method="sliced", **options),
        es.mmd_test(X[:12], X[12:], **options),
        es.pairwise_tests(X, half, **options),
        es.spread_test(X, half, **options),
        es.segment_test(X, **options),
        es.segment(X, 2),
        es.disco("y ~ g + h", data=data, **options),
        es.disco("y ~ g", data=data, **options),
    ]
    said = "rho of all pairs of points is 0: it sees no difference between any two"
    assert [each for each in found if said not in " ".join(each.notes)] == []
    assert all(said in " ".join(each.summary().split()) for each in found)
    X[0] = 2.0
    assert said not in " ".join(es.energy_test(X, groups=half, **options).notes)


def test_a_model_that_draws_one_table_is_refused(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(ValueError, match="drew the same table 10 times: it must draw from the generator"):
        es.cluster_test(X, null=lambda _: X[::-1] + 1, method="refit", n_resamples=19, rng=0)


def test_intervals_of_rare_events_say_that_they_are_short(rng):
    x, y = np.repeat([0.0, 1.0], [49, 1]), np.repeat([0.0, 1.0], [45, 5])
    found = es.energy_interval(x, y, n_bootstrap=99, rng=0)
    assert "Few points of a sample differ" in " ".join(found.notes)
    spread = es.energy_interval(rng.normal(size=50), y + rng.normal(size=50), n_bootstrap=99, rng=0)
    assert "Few points" not in " ".join(spread.notes)


def test_silhouettes_of_many_points_need_no_matrix(monkeypatch, rng):
    """60,000 points were refused for a matrix of 27 GiB, which is not stored."""
    monkeypatch.setattr("energystats._runtime.available_memory", lambda: 2**30)
    X = rng.normal(size=(15_000, 2))  # 1.7 GiB
    assert es.silhouette(X, np.arange(15_000) % 2).shape == (15_000,)


def test_functions_that_work_in_place_change_nothing(rng):
    """They moved the points that were tested: one cloud had p .0072 for .95, and its clusters were predicted as one."""

    def apart(X, Y):
        return cdist(X - 1.0, Y - 1.0)

    def in_place(X, Y):
        X -= 1.0
        Y -= 1.0
        return cdist(X, Y)

    X = rng.normal(size=(60, 3))
    few = {"n_resamples": 19, "rng": 0}
    answers = [
        (
            es.cluster_test(X, metric=rho, **few).pvalue,
            es.cluster_test(X, metric=rho, method="refit", null="independent", **few).pvalue,
            es.validate_clusters(X, 2, metric=rho, **few).to_frame()["pvalue"].tolist(),
            es.EnergyClustering(2, metric=rho, random_state=0).fit(X).predict(X + 0.01).tolist(),
            es.cluster_test(X, metric=es.metrics.Kernel(lambda A, B, rho=rho: -rho(A, B)), **few).pvalue,
        )
        for rho in (apart, in_place)
    ]
    assert answers[0] == answers[1]


def test_an_estimate_that_works_in_place_changes_nothing(rng):
    """Exponential values passed as normal, .445 for .005."""

    def in_place(sample):
        mean = sample.mean()
        sample -= mean
        return stats.norm(mean, sample.std())

    x = rng.exponential(size=60) + 3
    found = [
        es.goodness_of_fit(x, stats.norm, estimate=estimate, n_resamples=19, rng=0)
        for estimate in (lambda sample: stats.norm(sample.mean(), sample.std()), in_place)
    ]
    assert found[0].statistic == pytest.approx(found[1].statistic, rel=1e-9)
    assert found[0].pvalue == found[1].pvalue


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_no_references_below_0_for_functions_of_amounts(rng):
    """Hellinger distances by hand were called NaN, of rows that nobody gave."""
    X = rng.poisson(5, (40, 4)) + 1.0

    def by_hand(A, B):
        return cdist(np.sqrt(A / A.sum(axis=1, keepdims=True)), np.sqrt(B / B.sum(axis=1, keepdims=True)))

    found = es.select_k(X, 3, criterion="significance", metric=by_hand, rng=0)
    assert found.table["gap"].isna().all()
    with pytest.raises(ValueError, match="none known to be valid under by_hand"):
        es.select_k(X, 3, metric=by_hand, rng=0)
    with pytest.raises(ValueError, match="some of them below 0, in which by_hand has no meaning or need not have one"):
        es.cluster_test(X, metric=by_hand, method="refit", rng=0)
    assert np.isfinite(es.select_k(X - 5, 3, metric=lambda A, B: cdist(A, B), n_resamples=3, rng=0).table["gap"]).all()


def test_accuracy_of_many_labels_needs_no_table_of_all(rng, monkeypatch):
    """100,000 classes and half as many clusters were a table of 37 GiB."""
    places = rng.permutation(100_000)
    assert es.clustering_accuracy(np.arange(20_000), places[places < 20_000] // 2) == 0.5
    monkeypatch.setattr("energystats._runtime.available_memory", lambda: 2.0**30)
    in_a_ring = np.arange(20_000) // 2
    with pytest.raises(MemoryError, match="table of 10000 classes and 10000 clusters need"):
        es.clustering_accuracy(in_a_ring, np.roll(in_a_ring, 1))


def test_every_class_has_an_outline_of_its_own(rng):
    ax = es.energy_cluster(rng.normal(size=(60, 2)), 3, rng=0).plot_classes(np.arange(60) % 20)
    looks = {
        (line.get_paths()[0].vertices.tobytes(), tuple(line.get_edgecolor()[0]), line.get_linewidths()[0])
        for line in ax.collections
        if line.get_label() in {str(j) for j in range(20)}
    }
    assert len(looks) == 20


@pytest.mark.parametrize("level", [1 / 49, 0.05, 0.01, 1 / 3])
def test_the_fewest_draws_of_a_level_are_the_fewest(level):
    """For 1/49 the advice was 49, where 48 draws reach the level."""
    fewest = fewest_draws(level)
    assert smallest_pvalue(fewest) <= level * (1 + 1e-12)
    assert smallest_pvalue(fewest - 1) > level * (1 + 1e-12)
    x = np.arange(30.0)
    es.segment_test(x, level=level, n_resamples=fewest, rng=0)
    with pytest.raises(ValueError, match=f"`n_resamples` must be at least {fewest} "):
        es.segment_test(x, level=level, n_resamples=fewest - 1, rng=0)
    with pytest.raises(ValueError, match=f"Use n_resamples of {fewest} or more"):
        es.energy_power(x, x + 1, [8], level=level, n_resamples=fewest - 1, n_replicates=5, rng=0)


def test_f_of_constant_rows_has_no_error_by_slices():
    """It was infinite without each direction, and 0 with all: the error was NaN."""
    found = es.energy_test(np.ones((10, 3)), np.ones((10, 3)), statistic="f", method="sliced", n_resamples=9, rng=0)
    assert (found.statistic, found.statistic_error) == (0, 0)


def test_one_rho_is_named_beside_weights(rng):
    """Where rows have weights S/T of equal dissimilarities is no (k - 1)/(n - 1), and nothing was said."""
    X, weights, narrow = rng.normal(size=(20, 2)), rng.uniform(1, 3, 20), es.metrics.Gaussian(1e-9)
    groups = np.arange(20) % 2
    for found in (
        es.energy_test(X, groups=groups, metric=narrow, sample_weight=weights, n_resamples=9, rng=0),
        es.energy_cluster(X, 2, metric=narrow, sample_weight=weights, rng=0),
    ):
        assert any(note.startswith("All pairs of points have the same rho") for note in found.notes)
    wide = es.energy_test(X, groups=groups, sample_weight=weights, n_resamples=9, rng=0)
    assert not any("same rho" in note for note in wide.notes)


@pytest.mark.parametrize("n_resamples", [30, 31, 32])
def test_the_same_number_of_labelings_is_visited_in_full_everywhere(rng, n_resamples):
    """Of 32 labelings of five pairs `spread_test` visited all with 31 resamples, and `energy_test` drew."""
    X, g = rng.normal(size=(10, 2)), np.repeat([0, 1], 5)
    design = es.Design(strata=np.tile(range(5), 2))
    equal = es.energy_test(X, groups=g, design=design, n_resamples=n_resamples, rng=0)
    spread = es.spread_test(X, g, design=design, n_resamples=n_resamples, rng=0)
    assert (equal.method == "exact") == spread.exact == (n_resamples == 32)


def test_no_tail_is_fitted_to_permutations_that_stopped_early():
    """They end at a value as large as the observed one, which is no sample of the null distribution."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.normal(size=60) + 0.6
    method = es.Permutation(n_resamples=999, stop_at=2, extrapolate=True)
    found = [es.energy_test(x, y, method=method, rng=seed) for seed in range(20)]
    assert {each.stopped_early for each in found} == {True, False}
    for each in found:
        assert not (each.extrapolated and each.stopped_early)
        assert each.smallest_pvalue == 1 / 1000
        if each.stopped_early:
            assert each.pvalue == 2 / each.n_resamples
            assert "stopped early (Besag & Clifford); p is the share" in " ".join(each.summary().split())


def test_many_small_groups_overflow_nothing(rng):
    """The ways in which hundreds of groups of one size exchange their names are more than a float holds."""
    g = np.repeat(np.arange(300), np.repeat([1, 2, 3], 100))
    with np.errstate(all="raise"):
        found = es.energy_test(rng.normal(size=(600, 2)), groups=g, n_resamples=19, rng=0)
    assert found.smallest_pvalue == 1 / 20


@pytest.mark.parametrize("statistic", ["pairwise", "f"])
def test_the_cross_test_has_a_statistic_of_its_own(statistic, rng):
    x, y = rng.normal(size=(2, 20))
    with pytest.raises(ValueError, match=f'leave `statistic="{statistic}"` out'):
        es.energy_test(x, y, statistic=statistic, method="cross", rng=0)


def test_reference_sets_of_the_gap_are_not_held_together(rng):
    """Each has its matrix; all of them were made, and kept, before the first was clustered."""
    X, events = rng.normal(size=(20, 2)), []

    def model(generator):
        events.append(1)
        return generator.permuted(X, axis=0)

    def searched(*args):
        events.append(-1)
        return _withins(*args)

    _withins = gap._withins_up_to
    with mock.patch.object(gap, "_withins_up_to", searched):
        es.select_k(X, 2, null=model, n_resamples=400, compare="chosen", n_init=1, rng=0)
    assert events.count(-1) == events.count(1) == 400
    assert np.cumsum(events).max() < 200  # a few for each thread


def test_a_warning_of_a_clusterer_is_said_as_often_in_threads(rng):
    X, said = rng.normal(size=(80, 2)), []

    def halves(points):
        warn("The search was stopped.", es.ConvergenceWarning)
        return points[:, 0] > np.median(points[:, 0])

    for n_jobs in (1, 3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            es.validate_clusters(X, clusterer=halves, n_jobs=n_jobs, n_resamples=29, n_splits=4, rng=0)
        said.append([each.category for each in caught].count(es.ConvergenceWarning))
    assert said[0] == said[1] > 0


def test_p_of_one_batch_is_computed_once(rng):
    x = np.r_[rng.normal(size=30), rng.normal(size=30) + 6]
    with mock.patch.object(unimodality, "smallest_weighted", wraps=unimodality.smallest_weighted) as computed:
        unimodality.unimodality_test(x, 99, 1.0, rng)
    assert computed.call_count == 1


def test_a_part_of_the_points_names_rows_of_the_whole_table():
    X = np.array([[1.0, 2], [3, 4], [0, 0], [5, 6]])
    part = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0).subset(np.array([1, 2]))
    with pytest.raises(ValueError, match="row 2 of `X` is all zeros"):
        part.under(es.metrics.resolve("cosine", 1.0))
