"""The tree of splits: levels and order of its tests by a slow definition, seeds, pictures. Rates are slow tests."""

import math
import warnings
from dataclasses import replace
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.stats import norm

import energystats as es
from energystats.cluster_tests import cluster_tree as module
from energystats.cluster_tests.cluster_tree import Rules, _examine_node, _GrowingNode, _number_nodes, grow
from energystats.display.sentences import Caution
from energystats.dissimilarity import Dissimilarity
from tests import definitions
from tests.comparisons import words
from tests.conftest import SEED, examples

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")
CENTRES = [[0.0, 0.0], [14.0, 0.0], [0.0, 14.0]]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def three(rng):
    return np.concatenate([rng.normal(c, 1, (24, 2)) for c in CENTRES])


def column(x):
    return Dissimilarity.from_data(x, metric="euclidean", alpha=1.0)


def halves(part):
    """The two clusters of smallest W."""
    return es.energy_cluster(part.points, min(2, part.n)).labels


def keep(part, labels, space, rng):
    """The halves of the test, wherever they are cut."""
    return labels, space


def scripted(x, seed, share):
    """A p-value for every set of points, at random but always the same, and a record of what was asked."""
    asked = {}

    def p_of(rows):
        rng = np.random.default_rng([seed, *sorted(rows)])
        return float(rng.random() * 0.01 if rng.random() < share else rng.random())

    def pvalue(part, n_resamples, rng):
        rows = frozenset(np.flatnonzero(np.isin(x, part.points[:, 0])).tolist())
        asked[rows] = n_resamples
        return p_of(rows), "as given", halves(part)

    return p_of, pvalue, asked


def slow_tree(x, rows, p_of, rules, above, found):
    """The tree from its definition, depth first, the second half before the first: rows -> (adjusted p, rejected)."""
    if len(rows) < rules.min_size:
        found[frozenset(rows)] = (None, False)
        return
    adjusted = max(above, min(1.0, p_of(rows) * (len(x) - 1) / (len(rows) - 1)))
    found[frozenset(rows)] = (adjusted, adjusted <= rules.level)
    if adjusted > rules.level:
        return
    order = sorted(rows, key=lambda i: x[i])
    R = definitions.rho_matrix([[v] for v in x[order].tolist()])
    costs = [within(R, (range(cut), range(cut, len(order)))) for cut in range(1, len(order))]
    cut = 1 + int(np.argmin(costs))
    for half in (order[cut:], order[:cut]):
        slow_tree(x, half, p_of, rules, adjusted, found)


def within(R, halves):
    """W = sum over clusters of 1/(2n) times the sum of rho over ordered pairs."""
    return sum(sum(R[i][j] for i in half for j in half) / (2 * len(half)) for half in halves)


@settings(max_examples=examples(25))
@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0.3, 1), st.sampled_from([0.01, 0.05, 0.3]))
def test_the_tree_against_its_definition(seed, n, share, level):
    x = np.random.default_rng(seed).standard_normal(n)
    rules = Rules(n, level, min_size=5, k_max=None, n_resamples=19)
    p_of, test, asked = scripted(x, seed, share)
    root = _GrowingNode(np.arange(n), None, np.random.default_rng(seed))
    leaves = list(grow(column(x), rules, test, keep, root))
    nodes, labels = _number_nodes(column(x), root, rules)
    expected = {}
    slow_tree(x, list(range(n)), p_of, rules, 0.0, expected)
    assert {frozenset(node.rows.tolist()) for node in nodes} == set(expected)
    for node in nodes:
        adjusted, rejected = expected[frozenset(node.rows.tolist())]
        assert node.rejected == rejected
        assert node.tested == (adjusted is not None)
        if node.tested:
            assert node.pvalue_adjusted == pytest.approx(adjusted, rel=1e-12)
            assert asked[frozenset(node.rows.tolist())] == node.n_resamples
            assert node.rejected == bool(node.pvalue_adjusted <= level)
            assert node.level == pytest.approx(level * (node.size - 1) / (n - 1))
        if node.parent is not None:
            assert nodes[node.parent].rejected
            assert node.id in nodes[node.parent].children
    assert len(asked) == sum(node.tested for node in nodes)
    assert len(leaves) == len(set(labels)) == sum(node.label is not None for node in nodes)
    low, high = (np.array([end(x[labels == j]) for j in range(len(leaves))]) for end in (np.min, np.max))
    order = np.argsort(low)
    if (high[order][:-1] < low[order][1:]).all():  # intervals, numbered from left to right
        assert_array_equal(order, np.arange(len(leaves)))
    else:
        assert_array_equal(np.bincount(labels), np.sort(np.bincount(labels))[::-1])
    for node in nodes:
        if node.label is not None:
            assert_array_equal(np.flatnonzero(labels == node.label), node.rows)


@settings(max_examples=examples(25))
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_heights_fall_where_splits_are_the_best(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n) * np.exp(rng.standard_normal(n))
    rules = Rules(n, 0.5, min_size=2, k_max=None, n_resamples=1)
    root = _GrowingNode(np.arange(n), None, rng)
    list(grow(column(x), rules, lambda part, *_: (0.0, "as given", halves(part)), keep, root))
    nodes, _ = _number_nodes(column(x), root, rules)
    for node in nodes:
        if node.children:
            labels = np.isin(node.rows, nodes[node.children[0]].rows)
            assert node.height == pytest.approx(2 * es.dispersion(x[node.rows], labels).between, rel=1e-9, abs=1e-12)
        if node.parent is not None and node.tested:
            assert node.height <= nodes[node.parent].height * (1 + 1e-9)


def test_draws_grow_as_levels_fall():
    rules = Rules(1000, 0.05, 20, None, 199)
    assert rules.draws(1000) == 199
    for size in (999, 500, 77, 20):
        draws = rules.draws(size)
        assert draws + 1 >= 200 * 999 / (size - 1) > draws - 1
        assert 10 / (draws + 1) <= rules.level_of(size)  # one of ten p-values at its smallest can do
        assert rules.adjusted(1 / (draws + 1), size, 0.0) <= 1 / 200


def test_at_the_limit_the_most_significant_splits_are_made(rng):
    x = np.sort(rng.standard_normal(40))
    rules = Rules(40, 0.9, min_size=3, k_max=None, n_resamples=19)
    _, test, _ = scripted(x, 3, 1.0)
    full = _GrowingNode(np.arange(40), None, rng)
    list(grow(column(x), rules, test, keep, full))
    every, _ = _number_nodes(column(x), full, rules)
    by_rows = {node.rows.tobytes(): node for node in every}
    for k in range(1, sum(not node.children for node in every) + 1):
        root = _GrowingNode(np.arange(40), None, rng)
        list(grow(column(x), replace(rules, k_max=k), test, keep, root))
        nodes, labels = _number_nodes(column(x), root, replace(rules, k_max=k))
        assert len(set(labels)) == k
        made = [node for node in nodes if node.children]
        left = [node for node in nodes if node.outcome == "k_max reached"]
        assert all(node.rejected and not node.children for node in left)
        if left and made:
            assert max(node.pvalue_adjusted for node in made) <= min(node.pvalue_adjusted for node in left)
        for node in nodes:
            assert by_rows[node.rows.tobytes()].pvalue == node.pvalue or not node.tested


# ---------------------------------------------------------------- with the real test


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")  # of wide steps, with some seeds
def test_every_fact_is_in_the_summary_or_in_the_notes(three, rng):
    """A caution among the explanations takes room of the facts, and the last of them was in neither."""
    noisy = np.concatenate([np.round(three, 1), [[40.0, 0.0], [0.0, 40.0]]])
    found = es.cluster_tree(noisy, k_max=2, rng=rng)
    assert any(node.outcome == "k_max reached" for node in found.nodes)
    for n_words in (0, 20, 40, 60, 80):
        crowded = replace(found, notes=(Caution("word " * n_words, ""),)).explained()
        text = " ".join(crowded.summary().split())
        for fact in crowded._rests_on():
            assert " ".join(fact.split()) in text or fact in crowded.notes


def test_separated_clusters_are_the_leaves(three, rng):
    found = es.cluster_tree(three, rng=rng)
    assert found.k >= 3  # a cluster is split at the level
    assert found.nodes[0].rejected
    if found.k == 3:
        assert es.clustering_accuracy(found.labels, np.repeat([0, 1, 2], 24)) == 1
        assert found.sizes == (24, 24, 24)
    assert found.method == "split"
    assert found.null_hypothesis == "every linear projection of the population is unimodal"
    one = es.cluster_tree(three[:, 0], rng=rng)
    assert one.method == "unimodal-1d"
    assert one.k >= 2
    assert not one.conservative
    assert es.cluster_tree(three[:, 0], conservative=True, rng=rng).conservative


def test_adjusted_p_values_by_hand(five):
    frame = five.to_frame(full=True)
    assert isinstance(frame, pd.DataFrame)
    n = len(five.labels)
    for row in frame.itertuples():
        if not row.tested:
            continue
        above = 0.0 if pd.isna(row.parent) else frame["pvalue_adjusted"][row.parent]
        assert row.pvalue_adjusted == pytest.approx(max(above, min(1, row.pvalue * (n - 1) / (row.size - 1))))
        assert row.rejected == (row.pvalue_adjusted <= 0.05)
        assert row.pvalue >= 0.99 / (row.n_resamples + 1)


def test_same_seed_same_tree_and_the_root_is_the_cluster_test(three):
    a, b = (es.cluster_tree(three, n_splits=2, rng=8) for _ in range(2))
    assert_array_equal(a.labels, b.labels)
    pd.testing.assert_frame_equal(a.to_frame(full=True), b.to_frame(full=True))
    assert a.nodes[0].pvalue == es.cluster_test(three, n_splits=2, rng=8).pvalue
    x = three[:, 0]
    assert es.cluster_tree(x, rng=8).nodes[0].pvalue == es.cluster_test(x, rng=8).pvalue


@pytest.mark.slow
def test_the_order_of_visits_does_not_matter(three, monkeypatch):
    """The second half is tested first, and leaves are split in the order opposite to the package's."""
    plain = es.cluster_tree(three, n_splits=2, rng=8)

    def other_way_round(d, rules, test, cut, root):
        _examine_node(d, rules, test, cut, root)
        if not root.rejected:
            yield root
            return
        seeds = root.rng.spawn(2)
        root.children = [_GrowingNode(rows, root, seed) for rows, seed in zip(root.halves, seeds, strict=True)]
        for child in reversed(root.children):
            yield from other_way_round(d, rules, test, cut, child)

    monkeypatch.setattr(module, "grow", other_way_round)
    other = es.cluster_tree(three, n_splits=2, rng=8)
    assert_array_equal(plain.labels, other.labels)
    pd.testing.assert_frame_equal(plain.to_frame(full=True), other.to_frame(full=True))


@pytest.mark.slow
def test_distances_give_the_tree_of_the_points():
    """Lines of a matrix are not those of columns, so that clouds are taken whose lines are clearly unimodal."""
    turns = np.arange(24) * np.pi * (3 - np.sqrt(5))
    radii = np.sqrt(-2 * np.log(1 - (np.arange(24) + 0.5) / 24))
    cloud = np.column_stack((radii * np.cos(turns), radii * np.sin(turns)))
    three = np.concatenate([cloud + c for c in CENTRES])
    for alpha in (1.0, 0.5):
        how = {"alpha": alpha, "n_splits": 2, "rng": 4}
        found = es.cluster_tree(es.pairwise(three, alpha=alpha), metric="precomputed", **how)
        same = es.cluster_tree(three, **how)
        assert_array_equal(found.labels, same.labels)
        assert [node.rejected for node in found.nodes] == [node.rejected for node in same.nodes]
        assert "Assumed: the matrix holds Euclidean" in words(found)


def test_unit_and_place_do_not_matter(three):
    x = three[:, 0]
    plain = es.cluster_tree(x, rng=1)
    for moved in (x * 1024, x + 16):
        found = es.cluster_tree(moved, rng=1)
        assert_array_equal(found.labels, plain.labels)


@pytest.mark.slow
def test_notes_are_made_once(rng):
    X = np.round(np.concatenate([rng.normal(c, 1, (40, 2)) for c in CENTRES]) * 2) / 2
    with pytest.warns(es.TiesWarning) as caught:
        found = es.cluster_tree(X, rng=rng)
    # by chance values can seem to be rounded twice, too
    assert sum("Steps between tied values" in str(one.message) for one in caught) == 1
    assert len({str(one.message) for one in caught}) == len(caught) <= 2
    assert words(found).count("between the values beside them") == 1
    city = es.pairwise(rng.standard_normal((40, 3)), metric="cityblock")
    with pytest.warns(es.NotCalibratedWarning, match="not a Euclidean") as caught:
        found = es.cluster_tree(city, metric="precomputed", rng=rng)
    assert len(caught) == 1
    assert "not a Euclidean" in words(found)


def test_a_tree_without_a_split_says_that_more_clusters_may_show(three):
    more = "of three or more, `cluster_test(X, k)` can show what these do not"
    places = norm.ppf((np.arange(6) + 0.5) / 6)
    grid = np.stack(np.meshgrid(places, places), axis=-1).reshape(36, 2)
    cloud = es.cluster_tree(grid @ [[0.8, -0.6], [0.6, 0.8]], n_splits=2, rng=0)  # turned, so that nothing is tied
    assert cloud.k == 1
    assert more in " ".join(cloud.summary().split())
    assert more not in words(es.cluster_tree(three, n_splits=2, rng=0))
    assert more not in words(es.cluster_tree(places.repeat(6) + np.arange(36) / 100, rng=0))  # one column


@pytest.mark.slow
def test_a_node_whose_ties_are_wide_says_so():
    with pytest.warns(es.TiesWarning, match="Steps between tied values are wide"):
        found = es.cluster_tree(es.datasets.load("iris").drop(columns="species"), rng=1)
    assert "Caution: Steps between tied values are wide" in found.summary()
    assert sum(note.startswith("Steps between tied values are wide") for note in found.notes) == 1
    assert words(found).count("between the values beside them") == 1


@pytest.mark.slow
def test_standardizing_is_done_once(three):
    z = (three - three.mean(axis=0)) / three.std(axis=0)
    a, b = es.cluster_tree(three, standardize=True, n_splits=2, rng=2), es.cluster_tree(z, n_splits=2, rng=2)
    assert_array_equal(a.labels, b.labels)
    assert "columns standardized" in words(a)


def test_progress_counts_finished_points(three, capsys):
    es.cluster_tree(three, progress=True, n_splits=2, n_resamples=99, rng=0)
    captured = capsys.readouterr()
    assert "72/72" in captured.err
    assert captured.out == ""


# ---------------------------------------------------------------- small and degenerate data


@pytest.mark.parametrize("X", [[3.0], np.zeros((5, 2)), np.arange(19.0), [[1.0, 2.0]]], ids=str)
def test_too_few_points_are_one_leaf(X):
    found = es.cluster_tree(X)
    (leaf,) = found.nodes
    assert (found.k, leaf.tested, leaf.outcome) == (1, False, "fewer than 20 points")
    assert math.isnan(leaf.pvalue)
    assert found.linkage.shape == (0, 4)
    assert "fewer than 20 points" in found.summary()
    assert [text.get_text() for text in found.plot().texts] == ["not tested: fewer than 20 points"]


def test_equal_points_are_one_leaf():
    for X, how in ((np.ones((50, 2)), {}), (np.ones(50), {}), (np.zeros((50, 50)), {"metric": "precomputed"})):
        found = es.cluster_tree(X, **how)
        assert (found.k, found.nodes[0].outcome) == (1, "all points coincide")
        assert found.plot().texts


def test_leaves_of_equal_points(rng):
    X = np.concatenate([np.zeros((30, 2)), rng.normal(60, 1, (60, 2))])  # too far to be a tail
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.TiesWarning)
        found = es.cluster_tree(X, level=0.2, rng=rng)
    assert found.k >= 2
    assert "all points coincide" in {node.outcome for node in found.nodes}


X30 = np.random.default_rng(0).standard_normal((30, 2))
MIXED = pd.DataFrame({"a": np.arange(30.0), "b": list("xyz") * 10})
BAD = [
    (lambda: es.cluster_tree(X30, level=0), ValueError, r"`level` must be positive"),
    (lambda: es.cluster_tree(X30, level=1), ValueError, r"`level` must lie below 1, got 1"),
    (lambda: es.cluster_tree(X30, level=1e-12, n_resamples=10**15), ValueError, r"`level` must be at least 1e-09, got"),
    (lambda: es.cluster_tree(X30, n_resamples=10**15), MemoryError, r"2e\+16 draws of 30 scores.* fewer `n_resamples`"),
    (lambda: es.cluster_tree(X30, level="a"), TypeError, r"`level` must be a number"),
    (lambda: es.cluster_tree(X30, min_size=12), ValueError, r"`min_size` must be at least 20, got 12"),
    (lambda: es.cluster_tree(X30, k_max=0), ValueError, r"`k_max` must be at least 1, got 0"),
    (lambda: es.cluster_tree(X30, n_splits=0), ValueError, r"`n_splits` must be at least 1"),
    (lambda: es.cluster_tree(X30, n_resamples=27), ValueError, r"`n_resamples` must be at least 28 .* 0\.05, .*got 27"),
    (lambda: es.cluster_tree(X30, level=0.004), ValueError, r"`n_resamples` must be at least 359 .* 0\.004, .*got 199"),
    (lambda: es.cluster_tree(X30[:, 0], n_resamples=22), ValueError, r"at least 23 .* multiplied by 1\.2"),
    (
        lambda: es.cluster_tree(X30, n_resamples=37, conservative=True),
        ValueError,
        r"at least 38 .* multiplied by 1\.92",
    ),
    (lambda: es.cluster_tree(X30, method="refit-all"), ValueError, r"`method` must be one of auto, split, unimodal-1d"),
    (lambda: es.cluster_tree(X30, method="unimodal-1d"), ValueError, r"needs one column, got 2 columns"),
    (lambda: es.cluster_tree(np.where(X30 > 1, np.nan, X30)), ValueError, r"`X` must be finite"),
    (lambda: es.cluster_tree(MIXED, metric="gower"), ValueError, r"categories or missing values"),
    (lambda: es.cluster_tree(X30, alpha=3), ValueError, r"`alpha`"),
    (lambda: es.cluster_tree(X30, metric="precomputed"), ValueError, r"`X` must be a square matrix"),
    (lambda: es.cluster_tree(X30, rng="a"), TypeError, r"`rng` must be a seed"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
def test_the_fewest_draws_can_reject(three):
    two = three[:80] * 9  # a line between two of three clusters meets the third, which costs draws by chance
    assert es.cluster_tree(two, n_resamples=99, rng=0).nodes[0].rejected  # lines in several spaces take some more
    assert es.cluster_tree(np.r_[three[:40, 0], 200 + three[:40, 0]], n_resamples=23, rng=0).nodes[0].rejected
    column = np.r_[three[:40, 0], 200 + three[:40, 0]]
    hundred = es.cluster_tree(column, level=0.012, n_resamples=99, rng=0)  # .012 and a rounding
    assert hundred.nodes[0].rejected
    assert hundred.nodes[0].pvalue_adjusted <= 0.012


# ---------------------------------------------------------------- what is shown


@pytest.fixture(scope="module")
def five():
    rng = np.random.default_rng(SEED)
    centres = [*CENTRES, [14.0, 15.0], [40.0, 0.0]]
    sizes = (40, 30, 60, 35, 12)
    X = np.concatenate([rng.normal(c, 1, (m, 2)) for c, m in zip(centres, sizes, strict=True)])
    return es.cluster_tree(X, k_max=5, n_splits=2, rng=rng)


def test_linkage_is_scipy_s(five):
    Z = five.linkage
    assert Z.shape == (five.k - 1, 4)
    assert hierarchy.is_valid_linkage(Z)
    assert hierarchy.is_monotonic(Z)
    assert len(es.plot_dendrogram(Z).get_xticklabels()) == five.k
    nodes = [node for node in five.nodes if node.children]
    sets = [{j} for j in range(five.k)]
    for a, b, height, size in Z:
        sets.append(sets[int(a)] | sets[int(b)])
        assert size == len(sets[-1])
        rows = np.flatnonzero(np.isin(five.labels, list(sets[-1])))
        (node,) = (node for node in nodes if np.array_equal(node.rows, rows))
        assert height >= node.height
    assert sets[-1] == set(range(five.k)) or five.k == 1


def test_summary_is_an_aligned_tree(five):
    lines = five.summary().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("all points"))
    table = lines[start : start + len(five.nodes)]
    assert len({len(line.rstrip()) for line in table}) <= 2  # all end with the outcome, aligned right
    for node, line in zip(five.nodes[1:], table[1:], strict=True):
        assert line.index("|- node") == 3 * (node.depth - 1)
        assert f"node {node.id} " in line
        assert line.rstrip().endswith(node.outcome)
    text = words(five)
    assert "measured, not proved" in text
    assert "does not say that the cut is right" in text


def test_frame_and_nodes_agree(five):
    frame = five.to_frame()
    assert frame["id"].tolist() == list(range(len(five.nodes)))
    assert frame["label"].dropna().sort_values().tolist() == list(range(five.k))
    assert frame["outcome"].eq("split").sum() == five.k - 1
    for node in five.nodes:
        assert node.size == node.rows.size == (frame["size"][node.id])
        if node.children:
            parts = np.concatenate([five.nodes[child].rows for child in node.children])
            assert_array_equal(np.sort(parts), node.rows)
    with pytest.raises(ValueError, match="read-only"):
        five.nodes[0].rows[0] = 3


def test_picture_shows_every_split(five):
    ax = five.plot()
    solid = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 4]
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    tested = [node for node in five.nodes if node.tested]
    assert len(solid) == five.k - 1
    assert len(dashed) == sum(not node.children for node in tested)
    values = [node.pvalue_adjusted for node in tested]
    assert {text.get_text() for text in ax.texts} == {
        f"adj. p > {0.9999 if p >= 0.99995 else 0.99}" if 0.995 <= p < 1 else f"adj. p = {p:.2g}" for p in values
    }
    assert "square-root scale" in ax.get_ylabel()
    heights = five.heights()
    assert sorted(line.get_ydata()[1] for line in solid) == pytest.approx(
        sorted(heights[node.id] for node in five.nodes if node.children)
    )
    for line in solid:  # no leg goes up
        x, y = line.get_xdata(), line.get_ydata()
        assert y[0] <= y[1] >= y[3]
        assert x[0] < x[2]
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names == [f"cluster {node.label}\nn = {node.size}" for node in five.nodes if node.label is not None]


def test_nothing_in_the_picture_covers_a_p_value(five):
    for found in (five, es.cluster_tree(X30, n_splits=1, rng=0)):
        ax = found.plot()
        ax.figure.canvas.draw()
        boxes = [text.get_window_extent() for text in ax.texts]
        boxes.append(ax.get_legend().get_window_extent())
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
                assert min(width, height) < 1
        frame = ax.get_tightbbox()
        assert all(box.y1 <= frame.y1 + 1 for box in boxes)


def test_marks_do_not_need_colour(five):
    ax = five.plot()
    markers = {line.get_label(): line.get_marker() for line in ax.lines if line.get_marker() not in ("None", None)}
    assert markers["adjusted p at most 0.05"] == "D"
    if any(node.tested and not node.rejected for node in five.nodes):
        assert markers["adjusted p above 0.05"] == "o"
    if any(not node.tested for node in five.nodes):
        assert markers["not tested"] == "_"


def test_a_higher_child_raises_its_parent(five):
    """A search that missed the best split; made by hand here."""
    nodes = list(five.nodes)
    child = next(node for node in nodes[1:] if node.children)
    nodes[child.id] = replace(child, height=3 * nodes[0].height)
    odd = replace(five, nodes=tuple(nodes))
    heights = odd.heights()
    assert heights[0] == heights[child.id] == 3 * five.nodes[0].height
    assert hierarchy.is_monotonic(odd.linkage)
    assert odd.nodes[0].height == five.nodes[0].height
    assert_allclose(heights[child.id + 1 :], five.heights()[child.id + 1 :])
    assert odd.plot().get_ylim()[1] > heights[0]


def test_many_leaves_still_have_names(rng, monkeypatch):
    def fake(part, options, rng):
        p = 1.0 if part.n <= 30 else 0.5 / (options.n_resamples + 1)
        clusters = es.energy_cluster(part.points, 2)
        return SimpleNamespace(pvalue=p, notes=(), _rests_on=list, space="as given", partition=clusters, factor=1.2)

    monkeypatch.setattr(module, "run_cluster_test", fake)
    found = es.cluster_tree(np.concatenate([rng.normal(20 * c, 1, 30) for c in range(12)]), rng=rng)
    assert found.k == 12
    assert es.clustering_accuracy(found.labels, np.repeat(np.arange(12), 30)) == 1
    ax = found.plot()
    shown = {text.get_text() for text in ax.get_xticklabels()}
    assert shown == {f"{j}\n{size}" for j, size in enumerate(found.sizes)}
    assert ax.get_xlabel() == "cluster, and its number of points"
    assert len({text.get_text() for text in ax.texts}) <= 3


def test_levels_on_paper_have_the_digits_of_p_values(rng):
    tree = es.cluster_tree(rng.standard_normal((40, 2)), rng=0)
    assert "0.0500 " in tree.to_latex(full=True)
    assert "0.05000" not in tree.to_latex(full=True)


@pytest.mark.slow
def test_the_number_of_significant_clusters_is_that_of_the_tree(rng):
    """Equal seeds give equal tests of equal nodes."""
    X = np.concatenate((rng.normal(0, 1, (35, 2)), rng.normal([4, 0], 1, (35, 2))))
    seed = int(rng.integers(1000))
    tree, chosen = es.cluster_tree(X, rng=seed), es.select_k(X, 8, "significance", rng=seed)
    assert [node.pvalue for node in chosen.tree.nodes] == [node.pvalue for node in tree.nodes]
    assert chosen.k == tree.k


def test_one_column_is_numbered_from_left_to_right_by_all(rng):
    """The tree numbered by size, `energy_cluster` from the left: opposite numbers for the same two clusters."""
    x = np.concatenate([rng.normal(0, 1, 20), rng.normal(12, 1, 60)])
    once, tree = es.energy_cluster(x, 2, rng=0), es.cluster_tree(x, rng=0)
    chosen = es.select_k(x, 3, "significance", n_init=2, rng=0).partition
    searched = [es.energy_cluster(x, 2, algorithm=name, rng=0) for name in ("hartigan", "landmarks")]
    for found in (tree.partition, chosen, *searched):
        assert found.sizes == once.sizes == (20, 60)
        assert_array_equal(found.labels, once.labels)
        assert_array_equal(found.breaks, once.breaks)
    assert_array_equal(tree.labels, once.labels)
    # clusters that overlap are numbered by size, and have no breaks
    mixed = es.validate_clusters(x, partition=np.arange(80) % 3 // 2, n_resamples=9, rng=0).partition
    assert (mixed.breaks, mixed.sizes) == (None, (54, 26))


def test_nodes_near_the_level_are_counted(rng):
    """Where a p-value is near the level another seed can decide otherwise, which changes the number of clusters."""
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (60, 2))])
    found = es.cluster_tree(X, rng=0)
    first = tuple(replace(node, pvalue_adjusted=0.001 if node.children else 1.0) for node in found.nodes[:-1])
    for pvalue, said in ((0.5, "not split: 2"), (0.2, "near the level: 1 (another seed"), (0.011, "near the level: 1")):
        nodes = (*first, replace(found.nodes[-1], pvalue_adjusted=pvalue))
        assert said in replace(found, nodes=nodes).summary()
