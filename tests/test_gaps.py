"""Borders of clusters in gaps: where they are found, which are moved, and what the tests say of those that are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import energystats as es
from energystats._core.gaps import find_gap
from energystats.cluster_tests.gap_cuts import cut_in_gap
from energystats.dissimilarity import Dissimilarity
from tests.conftest import examples


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
    places = [(x[i] + x[i + 1]) / 2 for i in range(n - 1)]
    counts = [sum(place - half <= v <= place + half for v in x) for place in places]
    wrong = [sum(not on_left[j] for j in range(i + 1)) + sum(on_left[i + 1 :]) for i in range(n - 1)]
    cut = wrong.index(min(wrong))
    clear, share = [], {}
    for i, count in enumerate(counts):
        crowd = min(max(counts[: i + 1]), max(counts[i:]))
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
    return places[min(best, key=lambda i: (abs(i - cut), i))]


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


@pytest.mark.parametrize("factor", [-1.0, 1024.0, 2.0**-40])
def test_unit_and_direction_of_the_line_do_not_matter(rng, factor):
    t = np.concatenate([rng.normal(0, 1, 900), rng.normal(7, 1, 100)])
    labels = (t > 0.8).astype(np.intp)
    place = find_gap(t, labels)
    assert 2 < place < 5
    # of places that are as good the first is taken, from the left end of either line
    assert find_gap(factor * t, labels) / factor == pytest.approx(place, abs=1.5 if factor < 0 else 1e-9)


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
@pytest.mark.parametrize("n", [50, 400, 3000])
def test_one_mode_has_no_gap(rng, name, n):
    """Twenty samples, each cut at nine places; by chance one gap was found in 20,000 such cuts."""
    found = 0
    for _ in range(20):
        t = DRAWS[name](rng, n)
        for level in np.arange(1, 10) / 10:
            labels = (t > np.quantile(t, level)).astype(np.intp)
            found += 0 < labels.sum() < n and find_gap(t, labels) is not None
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
    moved = cut_in_gap(d, labels, kind, 1.0, np.random.default_rng(0))
    assert np.mean(moved != truth) <= 0.005
    again = cut_in_gap(d, moved, kind, 1.0, np.random.default_rng(0))
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
    for _ in range(5):
        X, truth = make(rng, *size)
        found = es.cluster_tree(X, rng=0)
        wrong += found.k != k or es.clustering_accuracy(truth, found.labels) < 0.995
        assert es.select_k(X, 6, "significance", rng=0).k == found.k
    assert wrong <= 1


def test_nodes_cut_in_a_gap_are_named(rng):
    X, _ = one_large(rng, 1940, 60, 1)
    found = es.cluster_tree(X, rng=0)
    root = found.nodes[0]
    assert root.in_gap
    assert found.to_frame(full=True)["in_gap"].tolist() == [node.in_gap for node in found.nodes]
    sizes = "{} and {}".format(*(found.nodes[child].size for child in root.children))
    assert f"the cut of smallest W goes through a crowd of them: node 0 ({sizes})." in " ".join(found.notes)
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
    assert not any("crowd" in note for note in found.notes)
    assert not any("crowd" in note for note in es.cluster_test(X, n_splits=1, rng=0).notes)


def test_the_test_and_the_validation_say_that_a_border_goes_through_a_crowd(rng):
    X, _ = one_large(rng, 1940, 60, 1)
    test = es.cluster_test(X, n_splits=2, rng=0)
    assert max(test.partition.sizes) < 0.75 * len(X)
    assert "The border of the clusters shown goes through a crowd of points: a gap leaves " in " ".join(test.notes)
    found = es.validate_clusters(X, 2, rng=0)
    words = " ".join(found.summary().split())
    assert words.startswith("At level 0.05: there is structure (p = ")
    assert "but not that of these 2 clusters: a gap leaves " in words
    assert len(found.groups) == 1
    merge = found.merges.iloc[0]
    assert merge["moved"] > 0.1
    assert sum(merge["gap"]) == len(X)
    assert any("Merges whose border goes through a crowd" in note for note in found.notes)


def test_a_border_beside_the_gap_is_said_and_changes_no_verdict(rng):
    X, _ = in_a_row(rng, 1600, 1)
    found = es.validate_clusters(X, 2, rng=0)
    merge = found.merges.iloc[0]
    assert 0 < merge["moved"] < 0.05
    assert any("Merges whose border goes through a crowd" in note for note in found.notes)
    assert found.summary().startswith("At level 0.05: the two clusters are separate")
    three = es.validate_clusters(X, 3, rng=0)
    assert (three.merges["moved"] == 0).all()
    assert not any("crowd" in note for note in three.notes)
