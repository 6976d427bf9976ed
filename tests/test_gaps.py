"""Borders of clusters in gaps: where they are found, which are moved, and what the tests say of those that are not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import energystats as es
from energystats._core.gaps import crowding_of, find_gap, find_nearest_gap, list_gaps
from energystats.cluster_tests.gap_cuts import cut_in_gap, note_borders_of_merges, with_gaps
from energystats.cluster_tests.merges import Merge
from energystats.cluster_tests.spaces import Space
from energystats.dissimilarity import Dissimilarity
from tests.conftest import examples, sweep


def seen(x, half):
    """Counts in windows around the places between sorted points, and the smaller of the largest on either side."""
    places = [(a + b) / 2 for a, b in itertools.pairwise(x)]
    counts = [sum(place - half <= v <= place + half for v in x) for place in places]
    return counts, [min(max(counts[: i + 1]), max(counts[i:])) for i in range(len(counts))]


def refined(x, i, half):
    """The emptiest place near place i, in windows of half and a quarter of the width; then between the widest gap."""
    places = [(a + b) / 2 for a, b in itertools.pairwise(x)]
    for narrower in (0.5, 0.25):
        counts, _ = seen(x, narrower * half)
        near = [j for j in range(len(places)) if abs(places[j] - places[i]) <= half and x[j + 1] > x[j]]
        i = min(near, key=lambda j: (counts[j], x[j] - x[j + 1], j))
    return places[i]


def slow_gap(t, labels):
    """The gap from its definition, place by place."""
    t, labels = np.asarray(t), np.asarray(labels)
    n, left = t.size, int(t[labels == 0].mean() > t[labels == 1].mean())
    order = np.argsort(t, kind="stable")
    x, on_left = t[order], [bool(v) for v in labels[order] == left]
    spread = [x.std(), (np.quantile(x, 0.75) - np.quantile(x, 0.25)) / 1.349]
    spread.append(max(t[labels == 0].std(), t[labels == 1].std()))
    positive = [s for s in spread if s > 0]
    if not positive:
        return None
    half = 2.0 * min(positive) * n**-0.2
    counts, crowds = seen(x, half)
    wrong = [sum(not on_left[j] for j in range(i + 1)) + sum(on_left[i + 1 :]) for i in range(n - 1)]
    cut = wrong.index(min(wrong))
    narrow = [seen(x, half / 2), seen(x, half / 4)]
    at_cut = [c[cut] / max(m[cut], 1) for c, m in narrow if m[cut] - c[cut] > 3.5 * m[cut] ** 0.5]
    if min(at_cut, default=narrow[0][0][cut] / max(narrow[0][1][cut], 1)) <= 0.02:
        return None
    clear, share = [], {}
    for i, (count, crowd) in enumerate(zip(counts, crowds, strict=True)):
        fewer = count <= counts[cut] / 2 and counts[cut] - count > 3 * counts[cut] ** 0.5
        clear.append(crowd - count > 3.5 * crowd**0.5 and fewer and x[i + 1] > x[i])
        share[i] = count / max(crowd, 1)
    runs, last = [], False
    for i, is_clear in enumerate(clear):
        if is_clear:
            runs = runs if last else [*runs, []]
            runs[-1].append(i)
        last = is_clear
    best = [min(run, key=lambda i: (counts[i], i)) for run in runs]
    if not best:
        return None
    lowest = min(share[i] for i in best)
    best = [i for i in best if share[i] <= max(2 * lowest, lowest + 0.02)]
    return refined(x, min(best, key=lambda i: (abs(i - cut), i)), half)


@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.integers(4, 200), st.sampled_from([0, 3, 6, 20]), st.floats(0.02, 0.98))
def test_gaps_against_their_definition(seed, n, apart, share):
    rng = np.random.default_rng(seed)
    t = np.round(rng.normal(size=n) + apart * (rng.random(n) < share), 2)
    labels = (t > np.quantile(t, rng.uniform(0.1, 0.9))).astype(np.intp)
    labels[rng.integers(n, size=2)] ^= 1
    if len(set(labels)) < 2:
        return
    found = find_gap(t, labels)
    assert found == slow_gap(t, labels)
    assert find_gap(t, 1 - labels) == found


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.integers(20, 300), st.sampled_from([0, 4, 8]))
def test_lists_of_gaps_and_crowding_by_their_definition(seed, n, apart):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=n) + apart * rng.integers(3, size=n))
    spread = min(x.std(), np.ptp(np.quantile(x, [0.25, 0.75])) / 1.349)
    expected = []
    for finer in (2.0, 1.0, 0.5):
        half = finer * spread * n**-0.2
        counts, crowds = (np.array(values) for values in seen(x, half))
        clear = (crowds - counts > 3.5 * np.sqrt(crowds)) & (counts <= 0.25 * crowds)
        if clear.any():
            runs = np.split(np.flatnonzero(clear), 1 + np.flatnonzero(np.diff(np.flatnonzero(clear)) > 1))
            expected = [refined(x, int(run[counts[run].argmin()]), half) for run in runs]
            break
    assert list_gaps(x, 1.0) == pytest.approx(expected)
    for place in expected:
        labels = (x > place).astype(np.intp)
        if 0 < labels.sum() < n:
            assert 0 <= crowding_of(x, labels) <= 1
            near = find_nearest_gap(x, labels)
            assert near is None or crowding_of(x, (x > near).astype(np.intp)) <= 0.5


@pytest.mark.parametrize("factor", [-1.0, 1024.0, 2.0**-40])
def test_unit_and_direction_of_the_line_do_not_matter(rng, factor):
    t = np.concatenate([rng.normal(0, 1, 900), rng.normal(7, 1, 100)])
    labels = (t > 0.8).astype(np.intp)
    place = find_gap(t, labels)
    assert 2 < place < 5
    found = find_gap(factor * t, labels) / factor
    # of places that are as good the first is taken, from the left end of either line: both lie in the gap
    assert found == pytest.approx(place) if factor > 0 else np.mean((t > found) != (t > place)) < 0.005


@pytest.mark.parametrize(("where", "stays"), [(1, False), (3.5, True)])
def test_a_border_in_the_gap_stays_there(rng, where, stays):
    t = np.concatenate([rng.normal(0, 1, 1500), rng.normal(7, 1, 1500)])
    assert (find_gap(t, (t > where).astype(np.intp)) is None) == stays


DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t3": lambda rng, n: rng.standard_t(3, n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "jittered numbers": lambda rng, n: rng.poisson(40, n) + rng.triangular(-1, 0, 1, n),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("n", sweep([50, 400, 3000], 2))
def test_one_mode_has_no_gap(rng, name, n):
    """Twenty samples, each cut at nine places: 5 of 15,000 of the longest tails had a gap by chance, for every cut."""
    found = 0
    for _ in range(20):
        t = DRAWS[name](rng, n)
        cuts = [(t > np.quantile(t, level)).astype(np.intp) for level in np.arange(1, 10) / 10]
        assert all(0 < labels.sum() < n for labels in cuts)
        found += any(find_gap(t, labels) is not None for labels in cuts)
    assert found <= 2


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1, 0]])
def test_few_and_equal_points_have_no_gap(labels):
    labels = np.array(labels)
    assert find_gap(np.zeros(labels.size), labels) is None
    assert find_gap(np.arange(labels.size, dtype=float), labels) is None


def in_a_row(rng, n, columns, apart=6.0):
    """Three normal clusters of n points in a row, and their numbers."""
    X = rng.normal(size=(3 * n, columns))
    truth = np.repeat([0, 1, 2], n)
    X[:, 0] += apart * truth
    return X, truth


def one_large(rng, n_large, n_small, columns):
    """A large normal cluster and a small one six standard deviations from it, and their numbers."""
    X = rng.normal(size=(n_large + n_small, columns))
    truth = np.repeat([0, 1], [n_large, n_small])
    X[:, 0] += 6 * truth
    return X, truth


@pytest.mark.parametrize("form", ["columns", "matrix", "decorrelated"])
def test_borders_are_moved_into_the_gap(rng, form):
    X, truth = one_large(rng, 1100, 100, 3)
    kind = "decorrelated" if form == "decorrelated" else "as given"
    labels = (X[:, 0] > 0.5).astype(np.intp)
    if form == "matrix":
        X = es.pairwise(X)
    d = Dissimilarity.from_data(X, metric="precomputed" if form == "matrix" else "euclidean", alpha=1.0)
    moved, where = cut_in_gap(d, labels, kind, 1.0, np.random.default_rng(0))
    # in either space the gap is the same
    assert where in {kind, "as given"}
    assert np.mean(moved != truth) <= 0.005
    again, _ = cut_in_gap(d, moved, kind, 1.0, np.random.default_rng(0))
    assert_array_equal(again, moved)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "size", "k"),
    [
        (in_a_row, (1600, 1), 3),
        (in_a_row, (1000, 3), 3),
        (one_large, (2910, 90, 1), 2),
        (one_large, (2850, 150, 2), 2),
    ],
)
def test_many_points_do_not_make_more_clusters(rng, make, size, k):
    """Cut where W is smallest, three clusters of 1,600 in a row had 3 to 6 leaves, 97 of 100 beside 3 had 3."""
    wrong = 0
    for _ in range(3):
        X, truth = make(rng, *size)
        found = es.cluster_tree(X, rng=0)
        wrong += found.k != k or es.clustering_accuracy(truth, found.labels) < 0.995
        assert es.select_k(X, 6, "significance", rng=0).k == found.k
    assert wrong <= 1


def test_nodes_cut_in_a_gap_are_named():
    # an example: about one such sample in a hundred has no gap
    X, _ = one_large(np.random.default_rng(0), 1940, 60, 1)
    found = es.cluster_tree(X, rng=0)
    root = found.nodes[0]
    assert root.in_gap
    assert found.to_frame(full=True)["in_gap"].tolist() == [node.in_gap for node in found.nodes]
    sizes = "{} and {}".format(*(found.nodes[child].size for child in root.children))
    said = f"Cut in a gap, as the cut of smallest W beside it leaves points on the wrong side: node 0 ({sizes})."
    assert said in " ".join(found.notes)
    best = es.energy_cluster(X, 2, rng=0)
    assert root.height <= 2 * best.between
    labels = np.isin(np.arange(2000), found.nodes[root.children[0]].rows)
    parted = es.dispersion(X, labels)
    assert root.height == pytest.approx(2 * parted.between)


def test_clear_clusters_are_cut_where_w_is_smallest(rng):
    X = np.concatenate([rng.normal(c, 1, (400, 2)) for c in ([0, 0], [8, 0])])
    found = es.cluster_tree(X, n_splits=1, rng=0)
    assert not found.nodes[0].in_gap
    assert found.nodes[0].height == pytest.approx(2 * es.energy_cluster(X, 2, rng=0).between)
    assert not any("gap" in note for note in found.notes)
    assert not any("gap" in note for note in es.cluster_test(X, n_splits=1, rng=0).notes)


def test_the_test_and_the_validation_say_that_a_gap_parts_clusters_otherwise():
    # an example: about one such sample in a hundred has no gap
    X, _ = one_large(np.random.default_rng(0), 1940, 60, 1)
    test = es.cluster_test(X, n_splits=2, rng=0)
    assert max(test.partition.sizes) < 0.75 * len(X)
    assert "A gap parts the points otherwise than the clusters shown, into 19" in " ".join(test.notes)
    found = es.validate_clusters(X, 2, rng=0)
    words = " ".join(found.summary().split())
    assert words.startswith("At level 0.05: there is structure (p = ")
    assert "but not that of these 2 clusters: a gap parts the points of 0 and 1 into " in words
    assert len(found.groups) == 1
    merge = found.merges.iloc[0]
    assert merge["parted"] == (0, 1)
    assert merge["moved"] > 0.1
    assert sum(merge["gap"]) == len(X)
    assert "A gap parts the points of two clusters otherwise than their border: 0 and 1 (" in " ".join(found.notes)


@pytest.mark.parametrize(("shift", "said"), [(0.0, False), (2.0, True)])
def test_a_border_beside_the_gap_changes_no_verdict(rng, shift, said):
    """Of 4,800 points the border of smallest W leaves 1 in 100 on the wrong side; labels given leave 1 in 20."""
    X, _ = in_a_row(rng, 1600, 1)
    labels = (X[:, 0] > 3 + shift).astype(int) if said else es.energy_cluster(X, 2, rng=0).labels
    found = with_gaps(Space.of_points(X), labels, [merge_of(0, 1, len(X))], np.random.default_rng(0))[0]
    assert 0 < found.moved < 0.1
    assert found.separates
    assert bool(note_borders_of_merges([found])) == (found.moved >= 0.03)
    assert not said or found.moved >= 0.03


def merge_of(a, b, size):
    """A merge of two clusters with a small p, whose points lie on their sides."""
    return Merge(
        left=(a,), right=(b,), size=size, height=1.0, parent=None, pvalue=0.01, pvalue_adjusted=0.01, separated=1.0
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_whole_clusters_between_a_border_and_a_gap_are_no_crowd(seed):
    """Eight clusters of 70 on places of a square grid: a gap along the line of a merge can leave one of them aside."""
    grid = np.array([[8.0 * a, 8.0 * b] for a in range(4) for b in range(4)])
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(place, 1, (70, 2)) for place in rng.permutation(grid)[:8]])
    found = es.validate_clusters(X, 8, rng=0)
    assert len(found.groups) == 8
    assert (found.merges["moved"] == 0).all()


def test_a_border_in_a_gap_is_not_compared_with_another_gap():
    """Two clusters asked for, three there: a stray point at the border once denied the two, beside the second gap."""
    for seed in range(3, 6):
        rng = np.random.default_rng([11, seed])
        X = np.repeat([0, 1, 2], [100, 80, 40])[:, None] * [8.0, 0.0] + rng.normal(size=(220, 2))
        found = es.validate_clusters(X, 2, rng=0)
        assert found.groups == ((0,), (1,))
        assert not any("A gap parts" in note for note in found.notes)


LAYOUTS = {
    "3 x 3": [[7.0 * a, 7.0 * b] for a in range(3) for b in range(3)],
    "hexagon and its centre": [[0.0, 0.0]] + [[7 * np.cos(a), 7 * np.sin(a)] for a in np.arange(6) * np.pi / 3],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_cluster_in_the_middle_of_others_is_not_halved(rng, name):
    """Cut where W is smallest, the one in the middle was halved in 15 of 18 samples: 10 leaves for 9, 8 for 7."""
    wrong = 0
    for _ in range(3):
        X = np.concatenate([rng.normal(place, 1, (150, 2)) for place in LAYOUTS[name]])
        truth = np.repeat(np.arange(len(LAYOUTS[name])), 150)
        found = es.cluster_tree(X, rng=0)
        wrong += found.k != len(LAYOUTS[name]) or es.clustering_accuracy(truth, found.labels) < 0.97
    assert wrong <= 1


@pytest.mark.slow
def test_a_row_of_clusters_is_cut_between_them_whatever_the_scale(rng):
    """Under z-scores the cut of smallest W is oblique, and halves the cluster in the middle."""
    wrong = 0
    for _ in range(3):
        X, _ = in_a_row(rng, 200, 2)
        wrong += es.cluster_tree(X, standardize=True, rng=0).k != 3
        test = es.cluster_test(X, standardize=True, rng=0)
        halves = min(test.partition.sizes) > 250
        assert not halves or any("A gap parts the points otherwise" in note for note in test.notes)
        wrong += halves and len(es.validate_clusters(X, 2, standardize=True, rng=0).groups) != 1
    assert wrong <= 1
