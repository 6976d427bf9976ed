"""Contents of the pictures: artists, labels and limits, against the numbers behind them."""

import re
import warnings
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from scipy.stats import norm

import energystats as es
from energystats.clustering.partition_views import rows_shown
from energystats.plotting.axes import MARKERS, cluster_colors, plain_all, write_plain_name
from energystats.plotting.distances import _order_leaves, plot_distances
from energystats.plotting.null_distributions import plot_null
from energystats.plotting.trees import DrawnNode, plot_cluster_tree
from tests.conftest import examples

mpl.use("Agg")

HOSTILE = ["$a$b", "_hidden", "two\nlines", "", "ä" * 90, r"\frac{$", "日本", "<script>"]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def three(rng):
    X = np.concatenate([rng.normal(c, 1, (20, 4)) for c in (0, 6, 12)])
    return es.energy_cluster(pd.DataFrame(X, columns=list("abcd")), 3, rng=0)


def offsets(ax):
    return [np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets())]


def title(ax):
    return ax.get_title(loc="left")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def image(ax):
    return np.ma.filled(ax.images[0].get_array(), np.nan)


# ---------------------------------------------------------------- names and points


@given(st.lists(st.text(max_size=80), min_size=1, max_size=8, unique=True))
@settings(max_examples=examples(60), deadline=None)
def test_names_can_be_written(names):
    written = plain_all(names)
    assert len(set(written)) == len(names)
    for name in written:
        assert name.replace("\\$", "").count("$") == 0
        assert name
        assert not name.startswith("_")
        assert "\n" not in name
        assert len(name.replace("\\$", "$")) <= 62


def test_long_names_keep_both_ends():
    short = write_plain_name("abcdefghij" * 9, 24)
    assert len(short) == 24
    assert short.startswith("abcdefghij")
    assert short.endswith("ghij")
    same = ["x" * 70 + end for end in "abc"]
    assert plain_all(same) == [write_plain_name(name) for name in same]  # the ends differ
    inside = ["x" * 40 + c + "x" * 60 for c in "abc"]
    assert [name[:3] for name in plain_all(inside)] == ["0: ", "1: ", "2: "]


@pytest.mark.slow
def test_hostile_names_are_drawn(rng):
    X = rng.normal(size=(80, 2)) + np.repeat(np.arange(8), 10)[:, None]
    labels = np.repeat(HOSTILE, 10)
    d = es.dispersion(X, labels)
    axes = [d.plot(), d.plot_distances(), d.plot_dendrogram(), d.plot_decomposition()]
    axes.append(es.pairwise_tests(X, labels, n_resamples=19, rng=0).plot())
    frame = pd.DataFrame(rng.normal(size=(20, 8)), columns=HOSTILE)
    found = es.energy_cluster(frame, 2, rng=0)
    axes += [found.plot_means(), found.plot(space=("$a$b", "_hidden"))]
    axes.append(found.plot_classes(np.resize(HOSTILE, 20), found.plot()))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the default font has no Japanese
        for ax in axes:
            ax.figure.canvas.draw()
    assert len(legend(axes[-1])) == 2 + 8
    assert r"\$a\$b" in [t.get_text() for t in axes[0].get_xticklabels()]


@given(st.lists(st.integers(1, 400), min_size=1, max_size=6), st.integers(1, 600))
@settings(max_examples=examples(40), deadline=None)
def test_a_part_of_the_points_has_every_cluster(sizes, most):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = rows_shown(labels, most)
    assert_array_equal(rows, rows_shown(labels, most))
    assert np.unique(rows).size == rows.size
    if labels.size <= most:
        assert_array_equal(rows, np.arange(labels.size))
    kept = np.bincount(labels[rows], minlength=len(sizes))
    assert np.all(kept >= np.minimum(sizes, 50))
    assert rows.size <= most + 50 * len(sizes)


# ---------------------------------------------------------------- partitions


def test_every_point_is_drawn_with_its_cluster(three):
    ax = three.plot()
    X = three.points - three.points.mean(axis=0)
    assert [len(part) for part in offsets(ax)] == list(three.sizes)
    for j, part in enumerate(offsets(ax)):
        inside = X[three.labels == j]
        values, vectors = np.linalg.eigh(X.T @ X)
        for axis in (0, 1):
            expected = inside @ vectors[:, -1 - axis]
            sign = np.sign(expected @ part[:, axis])
            assert_allclose(part[:, axis], sign * expected, atol=1e-8)
    assert f"({values[-1] / values.sum():.0%} of variance)" in ax.get_xlabel()
    assert legend(ax) == [f"cluster {j} (n = {n})" for j, n in enumerate(three.sizes)]
    assert title(ax) == f"3 clusters, n = 60, S/T = {three.between / three.total:.3f}"


def test_planes(three):
    chosen = three.plot(space=("c", "a"))
    assert three.plot(space=np.array([2, 0]).tolist()).get_xlabel() == chosen.get_xlabel()
    assert three.plot(space=tuple(np.array([2, 0]))).get_xlabel() == chosen.get_xlabel()
    assert (chosen.get_xlabel(), chosen.get_ylabel()) == ("c", "a")
    assert_allclose(np.concatenate(offsets(chosen))[:20], three.points[three.labels == 0][:, [2, 0]])
    assert three.plot(space=[1, 3]).get_ylabel() == "d"
    embedding = es.spectral_embedding(three.points, 3)
    for space, values in ((embedding, embedding.embedding), (three.points[:, 1:], three.points[:, 1:])):
        drawn = offsets(three.plot(space=space))
        for j, part in enumerate(drawn):
            assert_allclose(part, values[three.labels == j][:, :2])
    coordinates = es.principal_coordinates(squareform(pdist(three.points)))
    assert three.plot(space=coordinates).get_xlabel() == f"axis 1 ({coordinates.explained[0]:.0%})"


@pytest.mark.parametrize("k", [2, 3])
def test_the_mahalanobis_distance_shows_discriminant_axes(k, rng):
    """Long parallel clusters overlap in principal components, and stand apart between their means."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X = rng.normal(size=(90, 3)) * [20, 1, 1]
    X[:, 1] += 9 * (np.arange(90) % k)
    X[:, 2] += 9 * (np.arange(90) % k == 2)
    found = es.energy_cluster(X, k, metric="mahalanobis", rng=0)
    ax = found.plot()
    assert ax.get_xlabel() == "discriminant axis 1 (standard deviations)"
    assert ax.get_ylabel().startswith("discriminant axis 2" if k == 3 else "principal component 1")
    wanted = LinearDiscriminantAnalysis().fit_transform(X, found.labels)
    drawn, others = offsets(ax), offsets(es.energy_cluster(X, k, rng=0).plot(space="discriminant"))
    assert len(others) == k
    for axis in range(k - 1):
        pairs = [(part[:, axis], wanted[found.labels == j, axis]) for j, part in enumerate(drawn)]
        a, b = (np.concatenate(each) for each in zip(*pairs, strict=True))
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1.0)
        assert a.std() <= 1 + 1e-9
    assert es.energy_cluster(X[:, :2], 2, metric="mahalanobis", rng=0).plot().get_xlabel() == "column 0"
    same = es.energy_cluster(np.vstack([X, X]), 1, metric="mahalanobis").plot()
    assert "principal component 1" in same.get_xlabel()  # one cluster has no line to another


def test_kernel_plane_is_principal_coordinates_of_rho(three):
    ax = three.plot(space="kernel")
    expected = es.principal_coordinates(np.sqrt(es.pairwise(three.points)))
    for j, part in enumerate(offsets(ax)):
        for axis in (0, 1):
            values = expected.coordinates[three.labels == j, axis]
            assert_allclose(np.abs(part[:, axis]), np.abs(values), atol=1e-6 * np.abs(values).max())
    share = expected.eigenvalues[0] / expected.eigenvalues.sum()
    assert ax.get_xlabel() == f"kernel principal component 1 ({share:.0%} of T)"


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("plane", r"`space` must be \"components\", .*; got 'plane'"),
        (("a", "z"), r"`space` must name columns of the table, and 'z' is none"),
        ((0, 4), r"`space` must give column numbers from 0 to 3, got 4"),
        (np.zeros((5, 2)), r"one row for each of the 60 points; got shape \(5, 2\)"),
        (np.zeros(60), r"got shape \(60,\)"),
    ],
)
def test_bad_planes(three, space, message):
    opened = len(plt.get_fignums())
    with pytest.raises(ValueError, match=message):
        three.plot(space=space)
    assert len(plt.get_fignums()) == opened


def test_a_matrix_has_no_columns(rng):
    found = es.energy_cluster(es.pairwise(rng.normal(size=(30, 2))), 2, metric="precomputed", rng=0)
    assert found.plot(space="kernel").get_xlabel() == "kernel principal component 1"
    for space in ("components", (0, 1)):
        with pytest.raises(ValueError, match=r"only where columns of numbers were clustered"):
            found.plot(space=space)
    with pytest.raises(ValueError, match=r"`data` must be a table with one row for each point"):
        found.plot_means()


def test_many_points_are_thinned(rng):
    sizes = (60000, 39970, 30)
    X = np.concatenate([rng.normal(c, 1, (n, 2)) for c, n in zip((0, 5, 20), sizes, strict=True)])
    few = es.energy_cluster(X[:3], 3, rng=0)
    found = replace(few, points=X, labels=np.repeat([0, 1, 2], sizes), sizes=sizes)
    ax = found.plot()
    drawn = [len(part) for part in offsets(ax)]
    assert drawn[2] == 30
    assert 4500 < sum(drawn) < 5500
    assert f"{sum(drawn)} of them drawn" in title(ax)
    assert all(c.get_rasterized() for c in ax.collections)
    assert sum(map(len, offsets(found.plot(space="kernel")))) < 2200
    before = len(ax.collections)
    found.plot_classes(found.labels, ax)
    assert sum(len(c.get_offsets()) for c in ax.collections[before:]) == sum(drawn)


@pytest.mark.parametrize("k", [1, 8, 30])
def test_clusters_differ_without_colour_as_far_as_markers_go(k, rng):
    X = rng.uniform(0, 100, (k, 2)).repeat(4, axis=0) + rng.normal(0, 0.01, (4 * k, 2))
    ax = es.energy_cluster(X, k, rng=0).plot()
    shapes = [c.get_paths()[0].vertices.round(6).tobytes() for c in ax.collections]
    assert len(set(shapes)) == min(k, len(MARKERS))
    assert len({(s, tuple(c.get_facecolor()[0])) for s, c in zip(shapes, ax.collections, strict=True)}) == k
    assert len(legend(ax)) == k


@pytest.mark.slow
def test_all_points_in_one_place():
    for X in (np.ones((20, 3)), np.ones(20)):
        found = es.energy_cluster(X, 1)
        for ax in (found.plot(), found.plot(space="kernel"), found.plot_decomposition(), found.plot_means()):
            ax.figure.canvas.draw()
        assert "all points coincide" in title(found.plot())
        assert_array_equal(image(found.plot_means()), 0)


@pytest.mark.slow
def test_density_of_one_column():
    level = (np.arange(200) + 0.5) / 200
    x = np.r_[norm.ppf(level), norm.ppf(level), norm.ppf(level, 8, 0.5)]
    found = es.cluster_1d(pd.Series(x, name="speed"), 2)
    ax = found.plot()
    curve = next(line for line in ax.lines if line.get_label().startswith("density"))
    bins = ax.patches[0].get_width()
    area = curve.get_ydata().sum() * np.diff(curve.get_xdata())[0]
    assert area == pytest.approx(x.size * bins, rel=0.02)  # the tails beyond the data are cut off
    assert_allclose(sum(p.get_height() for p in ax.patches), x.size)
    at = np.interp([0.0, 4.0, 8.0], curve.get_xdata(), curve.get_ydata()) / (x.size * bins)
    assert at[0] == pytest.approx(2 / 3 * 0.3989, rel=0.1)
    assert at[1] < 0.02
    assert at[2] == pytest.approx(1 / 3 * 0.7979, rel=0.15)
    assert ax.get_xlabel() == "speed"
    right = next(a for a in ax.child_axes if a.get_ylabel() == "density")
    ax.figure.canvas.draw()
    assert right.get_ylim()[1] == pytest.approx(ax.get_ylim()[1] / (x.size * bins))
    hatches = {p.get_hatch() for p in ax.patches if p.get_height()}
    assert len(hatches) == 2


def test_classes_of_one_column_stand_at_their_values(rng):
    x = np.r_[rng.normal(0, 1, 30), rng.normal(9, 1, 30)]
    found = es.cluster_1d(x, 2)
    ax = found.plot()
    found.plot_classes(np.arange(60) % 2, ax)
    first, second = offsets(ax)
    assert_array_equal(first, np.c_[x[::2], np.zeros(30)])
    assert_array_equal(second[:, 0], x[1::2])
    assert legend(ax)[-2:] == ["0", "1"]


def test_known_classes_stand_around_the_points(three):
    classes = np.where(np.arange(60) % 3, "odd", "even")
    ax = three.plot_classes(classes, space=(0, 2))
    assert legend(ax)[-2:] == ["even", "odd"]
    even, odd = offsets(ax)[-2:]
    assert_array_equal(even, three.points[::3][:, [0, 2]])
    assert len(odd) == 40
    assert len(ax.collections) == 3 + 2
    opened = len(plt.get_fignums())
    with pytest.raises(ValueError, match=r"`classes`"):
        three.plot_classes(classes[:5])
    assert len(plt.get_fignums()) == opened


def test_path_ends_at_w(three):
    ax = three.plot_path()
    assert_array_equal(ax.lines[0].get_ydata(), three.path)
    assert ax.lines[1].get_ydata()[0] == three.within
    assert f"n = {three.labels.size}, best of {three.n_init} starts" in title(ax)


# ---------------------------------------------------------------- means by feature


def test_means_by_feature(three):
    X = three.points
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    ax = three.plot_means()
    expected = np.array([z[three.labels == j].mean(axis=0) for j in range(3)]).T
    assert_allclose(image(ax), expected)
    assert [t.get_text() for t in ax.get_yticklabels()] == list("abcd")
    assert [t.get_text() for t in ax.get_xticklabels()] == [f"{j}\n(n = {n})" for j, n in enumerate(three.sizes)]
    written = np.array([float(t.get_text()) for t in ax.texts]).reshape(4, 3)
    assert_allclose(written, expected, atol=0.0051)
    low, high = ax.images[0].get_clim()
    assert low == -high == pytest.approx(-np.abs(expected).max())


def test_means_of_another_table(three):
    frame = pd.DataFrame({"word": ["a"] * 60, "x": np.arange(60.0), "gap": pd.array([None, 1, 2] * 20, dtype="Int64")})
    frame["same"] = 7.0
    frame.loc[three.labels == 1, "gap"] = pd.NA
    ax = three.plot_means(data=frame)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x", "gap", "same"]
    shown = image(ax)
    z = (frame["x"] - 29.5) / np.std(np.arange(60))
    assert_allclose(shown[0], [z[three.labels == j].mean() for j in range(3)], atol=1e-9)
    assert np.isnan(shown[1]).tolist() == [False, True, False]
    assert_array_equal(shown[2], 0)
    assert [t.get_text() for t in ax.texts][4] == "-"


def test_means_of_huge_and_tiny_values(three):
    x = np.linspace(0, 1, 60)
    ax = three.plot_means(data=np.c_[x, 1e300 * x, 1e-300 * x])
    assert_allclose(image(ax)[1:], np.repeat(image(ax)[:1], 2, axis=0))


def test_bad_tables(three):
    with pytest.raises(ValueError, match=r"`data` must have one row for each of the 60 points, got 3"):
        three.plot_means(data=np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"`data` must have at least one column of numbers"):
        three.plot_means(data=pd.DataFrame({"w": ["a"] * 60}))
    with pytest.raises(ValueError, match=r"finite value in every column, but 'v' has none"):
        three.plot_means(data=pd.DataFrame({"v": [np.nan] * 60}))


@pytest.mark.parametrize(("d", "named"), [(60, True), (61, False)])
def test_many_features(d, named, rng):
    ax = es.energy_cluster(rng.normal(size=(30, d)), 2, rng=0).plot_means()
    assert bool(ax.get_yticklabels()) == named
    assert ax.get_ylabel() == ("" if named else "61 features, in the order of the table")
    assert not ax.texts or d * 2 <= 144


# ---------------------------------------------------------------- T = S + W


def spans(ax):
    return np.array([[p.get_x(), p.get_x() + p.get_width()] for p in ax.patches])


@pytest.mark.parametrize("kind", ["dispersion", "partition"])
def test_parts_fill_t_end_to_end(three, kind):
    found = es.dispersion(three.points, three.labels) if kind == "dispersion" else three
    ax = found.plot_decomposition()
    total, between, within, *parts = spans(ax)
    assert_allclose(total, [0, found.total])
    assert_allclose(between, [0, found.between])
    assert_allclose(within, [found.between, found.total])
    starts, ends = np.array(parts).T
    assert_allclose(starts[1:], ends[:-1])
    assert_allclose([starts[0], ends[-1]], within)
    assert_allclose(ends - starts, found.within_per_cluster)
    assert len({p.get_hatch() for p in ax.patches}) == 3
    bounds = [line.get_xdata()[0] for line in ax.lines]
    assert bounds == ([] if kind == "dispersion" else [found.bound])
    assert f"{found.between / found.total:.1%} of T" in ax.texts[1].get_text()
    assert ax.get_xlim()[1] > found.total


def test_parts_of_many_groups_are_gathered(rng):
    labels = np.repeat(np.arange(50), np.arange(1, 51))
    found = es.dispersion(rng.normal(size=(labels.size, 2)), labels)
    ax = found.plot_decomposition()
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert len(names) == 33
    assert names[-1].startswith("21 others (n = ")
    sizes = [int(re.search(r"n = (\d+)", name).group(1)) for name in names[3:]]
    assert sum(sizes) == labels.size
    assert_allclose(np.ptp(spans(ax)[3:], axis=1).sum(), found.within)


def test_parts_of_a_rho_that_is_negative_somewhere(rng):
    R = es.pairwise(rng.normal(size=(30, 2))) - 5 * (1 - np.eye(30))
    with pytest.warns(es.NotNegativeTypeWarning):
        found = es.energy_cluster(R, 2, metric="precomputed", rng=0)
    ax = found.plot_decomposition()
    low, high = ax.get_xlim()
    assert low <= spans(ax).min()
    assert high >= spans(ax).max()


# ---------------------------------------------------------------- distances between groups


def test_group_distances(rng):
    X = rng.normal(size=(40, 2)) + np.repeat([0, 9, 1, 8], 10)[:, None]
    labels = np.repeat(list("pqrs"), 10)
    found = es.dispersion(X, labels)
    ax = found.plot_distances()
    names = [t.get_text() for t in ax.get_xticklabels()]
    assert sorted(names) == list("pqrs")
    assert [t.get_text() for t in ax.get_yticklabels()] == names
    expected = [[es.energy_distance(X[labels == a], X[labels == b]) for b in names] for a in names]
    assert_allclose(image(ax), expected, atol=1e-12)
    assert {frozenset(names[:2]), frozenset(names[2:])} == {frozenset("pr"), frozenset("qs")}
    tree = next(a for a in ax.child_axes if a.get_ylabel() == "height")
    assert len(tree.lines) == 3
    plain_order = found.plot_distances(tree=False)
    assert [t.get_text() for t in plain_order.get_xticklabels()] == list("pqrs")
    assert not any(a.get_ylabel() == "height" for a in plain_order.child_axes)


def test_group_tree_of_single_points_is_the_tree_of_the_points(rng):
    X = rng.normal(size=(12, 3))
    found = es.dispersion(X, np.arange(12))
    Z = found._group_linkage()
    expected = es.energy_hclust(X)
    assert_allclose(Z[:, 2], expected[:, 2])
    assert_array_equal(Z[:, 3], expected[:, 3])
    assert sorted(_order_leaves(Z)) == list(range(12))
    ax = found.plot_dendrogram()
    assert_allclose(sorted(line.get_ydata()[1] for line in ax.lines), np.sort(expected[:, 2]))


def test_heights_of_the_group_tree_are_weighted_energy_distances(rng):
    sizes = [3, 8, 5, 12, 2]
    X = rng.normal(size=(30, 2)) + np.repeat(rng.normal(0, 5, (5, 2)), sizes, axis=0)
    labels = np.repeat(np.arange(5), sizes)
    found = es.dispersion(X, labels)
    members = [X[labels == j] for j in range(5)]
    for a, b, height, n in found._group_linkage():
        x, y = members[int(a)], members[int(b)]
        assert height == pytest.approx(len(x) * len(y) / (len(x) + len(y)) * es.energy_distance(x, y))
        members.append(np.concatenate([x, y]))
        assert len(members[-1]) == n


def test_one_group_and_many():
    one = es.dispersion(np.arange(5.0), np.zeros(5))
    assert "nothing to join" in one.plot_dendrogram().texts[0].get_text()
    assert image(one.plot_distances()).shape == (1, 1)
    many = es.dispersion(np.arange(140.0), np.repeat(np.arange(70), 2))
    assert not many.plot().get_xticklabels()
    assert image(many.plot()).shape == (70, 70)


# ---------------------------------------------------------------- tests


def test_null_of_a_model(rng):
    found = es.disco(rng.normal(size=(30, 2)), groups=np.arange(30) % 3, n_resamples=99, rng=0)
    ax = found.plot_null()
    assert sum(p.get_height() for p in ax.patches) == 99
    assert ax.lines[0].get_xdata()[0] == found.statistic
    assert legend(ax) == ["99 random permutations", f"observed, p = {found.pvalue:.2g}"]
    assert ax.get_xlabel() == "F of the model"
    exact = es.disco(rng.normal(size=6), groups=[0, 0, 0, 1, 1, 1]).plot_null()
    assert "other labelings" in legend(exact)[0]


def test_sizes_are_shown(rng):
    X = rng.normal(size=(30, 2))
    assert title(es.energy_test(X[:10], X[10:], n_resamples=19, rng=0).plot()).endswith("n = 10 + 20")
    many = es.energy_test(X, groups=np.arange(30) % 6, n_resamples=19, rng=0)
    assert title(many.plot()).endswith("n = 30 in 6 groups")
    assert title(es.dispersion(X, np.arange(30) % 2).plot()).endswith("n = 15 + 15")


@pytest.mark.slow
def test_many_pairs_are_a_table(rng):
    X, g = rng.normal(size=(60, 2)), np.repeat(np.arange(10), 6)
    X[:6] += 50
    result = es.pairwise_tests(X, g, n_resamples=999, correction="fdr_bh", rng=0)
    ax = result.plot()
    shown = image(ax)
    assert shown.shape == (10, 10)
    assert np.isnan(np.diag(shown)).all()
    for row in result.rows:
        assert shown[row.group1, row.group2] == shown[row.group2, row.group1] == row.effect_size
    stars = {tuple(spot) for part in offsets(ax) for spot in part.astype(int).tolist()}
    chosen = [row for row, p in zip(result.rows, result.pvalue_adjusted, strict=True) if p <= 0.05]
    assert stars == {pair for row in chosen for pair in ((row.group1, row.group2), (row.group2, row.group1))}
    assert chosen
    few = es.pairwise_tests(X[:18], g[:18], n_resamples=19, rng=0).plot()
    assert len(few.patches) == 3
    assert not few.images


def test_small_p_values_are_hatched(rng):
    X, g = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[g == 1] += 5
    for ax in (es.pairwise_tests(X, g, rng=0).plot(), es.disco(X, groups=g, n_resamples=99, rng=0).plot()):
        assert ax.patches[0].get_hatch() == "//"
        assert "hatched" in ax.get_xlabel()


# ---------------------------------------------------------------- dissimilarities


def test_shepard_diagram():
    d = es.datasets.load("eurodist")
    result = es.lingoes(d)
    ax = result.plot_shepard()
    before, after = offsets(ax)
    pairs = np.triu_indices(21, 1)
    for drawn, given_, place in (
        (before, d.to_numpy(), es.principal_coordinates(d).coordinates),
        (after, result.distances, result.embedding),
    ):
        shown = squareform(pdist(place[:, :2]))
        assert_allclose(drawn[:, 0], given_[pairs])
        assert_allclose(drawn[:, 1], shown[pairs], rtol=1e-6)
        stress = np.sqrt(((given_ - shown)[pairs] ** 2).sum() / (given_[pairs] ** 2).sum())
        assert any(text.endswith(f"stress {stress:.3f}") for text in legend(ax))
    assert "210 pairs of 21 points" in title(ax)


def test_shepard_diagram_in_all_dimensions_is_the_diagonal(rng):
    d = squareform(pdist(rng.normal(size=(15, 3))))
    for part in offsets(es.lingoes(d).plot_shepard(dimensions=3)):
        assert_allclose(part[:, 1], part[:, 0], atol=1e-7)
    assert es.lingoes(d).plot_shepard(dimensions=1).get_ylabel() == "distance on axis 1"
    with pytest.raises(ValueError, match=r"`dimensions` must be at least 1, got 0"):
        es.lingoes(d).plot_shepard(dimensions=0)
    with pytest.raises(TypeError, match=r"`dimensions` must be a whole number"):
        es.lingoes(d).plot_shepard(dimensions=1.5)


def test_shepard_diagram_of_few_and_many_points(rng):
    assert "0 pairs of 1 points" in title(es.lingoes([[0.0]]).plot_shepard())
    assert es.lingoes(np.zeros((4, 4))).plot_shepard().has_data()
    kernel = es.lingoes_kernel(np.eye(3) - 1.0).plot_shepard()
    assert "root of rho" in kernel.get_xlabel()
    ax = es.lingoes(es.pairwise(rng.normal(size=(150, 4))) ** 2).plot_shepard()
    assert [len(part) for part in offsets(ax)] == [5000, 5000]
    assert "5000 of 11175 pairs" in title(ax)


def test_many_eigenvalues_are_an_outline(rng):
    R = es.pairwise(rng.normal(size=(320, 2))) ** 4
    result = es.negative_type(R)
    ax = result.plot()
    shapes = [patch for patch in ax.patches if hasattr(patch, "get_data")]
    assert len(shapes) == len(ax.patches) == 2
    assert_allclose(np.concatenate([shape.get_data().values for shape in shapes]), result.eigenvalues)
    assert shapes[1].get_hatch()


# ---------------------------------------------------------------- hierarchies and many clusters


@pytest.mark.parametrize("n", [40, 400])
def test_clusters_of_a_dendrogram_have_numbers(n, rng):
    X = np.repeat([[0.0], [50.0], [200.0]], n, axis=0) + rng.normal(size=(3 * n, 1))
    ax = es.plot_dendrogram(es.energy_hclust(X), k=3)
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}
    heights = {text.get_position()[1] for text in ax.texts}
    cut = next(line for line in ax.lines if line.get_label() == "cut into 3")
    assert heights == {cut.get_ydata()[0]}
    named = {text.get_text(): text.get_position()[0] for text in ax.texts}
    for segments in ax.collections:  # each number stands over branches of its colour
        color = mpl.colors.to_hex(segments.get_edgecolor()[0])
        for j, own in enumerate(cluster_colors(3)):
            if color == own:
                x = np.concatenate([path.vertices[:, 0] for path in segments.get_paths()])
                assert x.min() <= named[str(j)] <= x.max()


@pytest.mark.slow
def test_a_hundred_clusters_have_no_legend(rng):
    found = es.energy_cluster(rng.normal(size=(200, 2)), 100, n_init=1, algorithm=es.Hartigan(n_perturb=0), rng=0)
    assert found.plot().get_legend() is None
    assert title(found.plot()).startswith("100 clusters")
    assert found.plot_means().get_xlabel() == "100 clusters, in their order"
    assert len(found.plot_decomposition().patches) == 33
    assert legend(es.plot_dendrogram(es.energy_hclust(found.points), k=100)) == ["cut into 100"]


# ---------------------------------------------------------------- pictures of values, without a result


def test_pictures_are_drawn_from_plain_values():
    ax = plot_null(np.arange(50.0), 60.0, 0.02, statistic_name="f", sizes=(4, 5))
    assert sum(p.get_height() for p in ax.patches) == 50
    assert ax.lines[0].get_xdata()[0] == 60
    assert (ax.get_xlabel(), title(ax)) == ("F", "H0: equal distributions, n = 4 + 5")
    E = np.array([[0.0, 1, 9], [1, 0, 8], [9, 8, 0]])
    Z = np.array([[0.0, 1, 0.5, 2], [2, 3, 6, 3]])
    ax = plot_distances(E, names=["a", "b", "c"], sizes=(1, 1, 1), metric=es.metrics.Precomputed(), linkage=Z)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["c", "a", "b"]
    assert_array_equal(image(ax), E[np.ix_([2, 0, 1], [2, 0, 1])])
    leaf = {"children": (), "height": np.nan, "pvalue": None, "rejected": False}
    nodes = [
        DrawnNode(children=(1, 2), size=9, height=4.0, label=None, pvalue=0.01, rejected=True),
        DrawnNode(size=5, label=0, **leaf),
        DrawnNode(size=4, label=1, **leaf),
    ]
    ax = plot_cluster_tree(nodes, level=0.05)
    assert_array_equal(ax.lines[0].get_ydata(), [0, 4, 4, 0])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["cluster 0\nn = 5", "cluster 1\nn = 4"]


def test_parts_above_the_whole_are_drawn_in_their_order():
    """Heights of splits in unlike spaces cannot be drawn on one scale."""
    tested = {"children": (), "pvalue": 0.8, "rejected": False}
    nodes = [
        DrawnNode(children=(1, 4), size=9, height=4.0, label=None, pvalue=0.01, rejected=True),
        DrawnNode(children=(2, 3), size=6, height=3.0, label=None, pvalue=0.01, rejected=True),
        DrawnNode(size=3, label=0, height=99.0, **tested),
        DrawnNode(size=3, label=1, height=0.5, **tested),
        DrawnNode(size=3, label=2, height=0.5, **tested),
    ]
    ax = plot_cluster_tree(nodes, level=0.05)
    tops = sorted(float(max(line.get_ydata())) for line in ax.lines if len(line.get_ydata()) == 4)
    assert tops == [1, 1, 1, 2, 3]
    assert ax.get_ylabel().startswith("order of the splits")
    assert not ax.get_yticks().size


# ---------------------------------------------------------------- every method, every axes


def test_pictures_go_into_the_axes_given(three):
    shown = es.dispersion(three.points, three.labels)
    repaired = es.lingoes(es.datasets.load("eurodist"))
    model = es.disco(three.points, groups=three.labels, n_resamples=19, rng=0)
    methods = [
        three.plot,
        three.plot_means,
        three.plot_path,
        three.plot_decomposition,
        shown.plot,
        shown.plot_distances,
    ]
    methods += [shown.plot_dendrogram, shown.plot_decomposition, repaired.plot_shepard, model.plot_null]
    for method in methods:
        _, ax = plt.subplots()
        opened = len(plt.get_fignums())
        assert method(ax=ax) is ax
        assert len(plt.get_fignums()) == opened
        assert title(ax) or any(title(child) for child in ax.child_axes)
        assert ax.get_xlabel() or ax.images
        assert isinstance(method(), mpl.axes.Axes)


FIGURES = Path(__file__).parent.parent / "docs" / "figures"


@pytest.mark.skipif(not FIGURES.exists(), reason="the sources of the documentation are not here")
def test_figures_of_the_documentation_are_small():
    """That none is missing or left over: test_docs.py."""
    sizes = [path.stat().st_size for path in FIGURES.glob("plot-*.png")]
    assert len(sizes) > 30
    assert all(3000 < size < 100_000 for size in sizes)


def test_pictures_take_rows_by_their_names(rng):
    X = pd.DataFrame(rng.normal(size=(8, 3)), index=list("pqrstuvw"), columns=list("abc"))
    found, shuffled = es.energy_cluster(X, 2, rng=0), X.iloc[::-1]
    matrix = pd.DataFrame(es.pairwise(X), X.index, X.index)
    coordinates = es.principal_coordinates(matrix)
    of_shuffled = es.principal_coordinates(matrix.iloc[::-1, ::-1])
    classes = pd.Series(np.tile(["u", "v"], 4), X.index)
    for draw, right, wrong, name in (
        (lambda given: found.plot_means(data=given), X, shuffled, "data"),
        (found.plot_classes, classes, classes.iloc[::-1], "classes"),
        (lambda given: found.plot(labels=given), classes, classes.iloc[::-1], "labels"),
        (lambda given: found.plot(space=given), coordinates, of_shuffled, "space"),
        (lambda given: found.plot(space=given), X.iloc[:, :2], shuffled.iloc[:, :2], "space"),
        (lambda given: coordinates.plot(labels=given), found.to_series(), found.to_series().iloc[::-1], "labels"),
        (lambda given: coordinates.plot(labels=given), found, es.energy_cluster(shuffled, 2, rng=0), "labels"),
    ):
        draw(right)
        with pytest.raises(ValueError, match=f"`{name}` must have the index of the table, row by row"):
            draw(wrong)
        plt.close("all")


def test_groups_are_joined_with_their_weights(rng):
    x, g = rng.normal(size=(9, 2)), np.repeat(["a", "b", "c"], 3)
    times = rng.integers(1, 5, 9)
    weighted = es.dispersion(x, g, sample_weight=times)
    repeated = es.dispersion(np.repeat(x, times, axis=0), np.repeat(g, times))
    assert_allclose(weighted.masses, repeated.sizes)
    assert_allclose(weighted._group_linkage(), repeated._group_linkage())


def test_null_values_that_differ_by_rounding_are_drawn():
    x = np.full(9, 0.1)
    x[0] = 0.3
    ax = es.energy_test(x, groups=np.arange(9) % 3, n_resamples=99, rng=0).plot()
    assert ax.get_title(loc="left")


def covers(ax):
    """Whether the legend of some axes covers a point of a scatter plot."""
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    spots = np.vstack([ax.transData.transform(drawn.get_offsets()) for drawn in ax.collections])
    return bool(((spots > box.min) & (spots < box.max)).all(axis=1).any())


def test_a_legend_of_clusters_covers_no_point():
    """The points fill the axes, so that every corner has some: "best" was the corner with the fewest."""
    X = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    found = es.energy_cluster(X, 3, rng=0)
    assert not covers(found.plot())
    assert not covers(es.principal_coordinates(es.pairwise(X)).plot(labels=found.labels, hulls=True))
    corner = es.energy_cluster(np.vstack([X[:30] / 40, X[:30] / 40 + 5]), 2, rng=0)  # a free corner holds it
    ax = corner.plot()
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x1 <= ax.get_window_extent().x1


def test_the_observed_line_ends_below_the_legend(rng):
    found = es.energy_test(rng.normal(size=20), rng.normal(size=20), n_resamples=99, rng=0)
    x = np.append(rng.normal(size=30), rng.normal(size=30) + 1)
    for ax in (found.plot(), es.energy_interval(x[:30], x[30:], n_bootstrap=99, rng=0).plot()):
        ax.figure.draw_without_rendering()
        low = ax.get_legend().get_window_extent().y0
        tops = [line.get_window_extent().y1 for line in ax.lines] + [bar.get_window_extent().y1 for bar in ax.patches]
        assert max(tops) < low


def test_notes_of_breaks_stand_above_the_series(rng):
    x = rng.normal(size=(60, 3))
    x[20:40] += 4
    for columns in (1, 3):
        ax = es.segment_test(x[:, :columns], rng=0).plot()
        ax.figure.draw_without_rendering()
        lowest = min(text.get_window_extent().y0 for text in ax.texts)
        assert (
            max(ax.transData.transform(line.get_xydata())[:, 1].max() for line in ax.lines[: columns * 4 : 4]) < lowest
        )


def test_axes_name_a_metric_of_scipy_by_its_name():
    X = np.arange(1.0, 13.0).reshape(6, 2)
    ax = es.dispersion(X, [0, 0, 1, 1, 2, 2], metric="bray").plot_decomposition()
    assert ax.get_xlabel() == 'dispersion, in the unit of rho: "braycurtis"'


def test_the_scores_of_a_column_are_named_after_it(rng):
    x = pd.DataFrame({"eruptions": rng.normal(size=40)})
    assert es.cluster_test(x, n_resamples=19, rng=0).plot().get_xlabel() == "eruptions - mean"
