"""Silhouettes, the stability of any clusterer, and `validate_clusters`, against slow definitions."""

import itertools
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import energystats as es
from energystats.cluster_tests import column_answers, split, validate_clusters
from energystats.cluster_tests.merges import Merge, _best_cut, _find_hyperplane, _name_clusters, merge_clusters
from energystats.cluster_tests.outside_labels import agreement_of
from energystats.cluster_tests.scores import make_scorer
from energystats.cluster_tests.unimodality import column_test
from energystats.cluster_tests.validate_clusters import _note_unstable
from energystats.clustering.silhouette import score_points
from energystats.display.numbers import p_text
from energystats.display.result import notes_beside
from energystats.dissimilarity import Dissimilarity
from tests.comparisons import words
from tests.conftest import sweep


def within(R, labels):
    """W from its definition: sum over clusters of the sum of rho inside, divided by twice the size."""
    inside = [labels == j for j in np.unique(labels[labels >= 0])]
    return sum(R[np.ix_(i, i)].sum() / (2 * i.sum()) for i in inside)


# ---------------------------------------------------------------- silhouettes


@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_margin_is_the_change_of_w_by_the_best_move(seed, alpha):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(12, 2)), np.r_[0, 1, 2, rng.integers(-1, 3, size=9)]
    R = es.pairwise(X, alpha=alpha)
    found = score_points(Dissimilarity.from_data(X, metric="euclidean", alpha=alpha), labels, 3)
    for i in range(12):
        if labels[i] < 0:
            assert np.isnan([found.margin[i], found.silhouette[i], found.energy_silhouette[i]]).all()
            continue
        moved = {}
        for j in set(range(3)) - {labels[i]}:
            other = labels.copy()
            other[i] = j
            moved[j] = within(R, other) - within(R, labels)
        assert found.margin[i] == pytest.approx(min(moved.values()), abs=1e-9)
        assert moved[int(found.neighbour[i])] == pytest.approx(min(moved.values()), abs=1e-9)
        assert np.sign(found.energy_silhouette[i]) == np.sign(np.round(found.margin[i], 12))


@given(st.integers(0, 10**6))
def test_silhouettes_of_rho_are_those_of_scikit_learn(seed):
    from sklearn.metrics import silhouette_samples

    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(15, 3)), np.r_[0, 1, 1, rng.integers(3, size=12)]
    R = es.pairwise(X)
    assert_allclose(es.silhouette(X, labels), silhouette_samples(R, labels, metric="precomputed"), atol=1e-12)
    assert_allclose(es.silhouette(R, labels, metric="precomputed"), es.silhouette(X, labels), atol=1e-9)


def test_silhouettes_of_r():
    """R: library(cluster); silhouette(as.integer(iris$Species), dist(iris[, 1:4]))."""
    iris = es.datasets.load("iris")
    found = es.silhouette(iris.drop(columns="species"), iris["species"])
    assert found.mean() == pytest.approx(0.503477440693)
    rows = [0.8464691670129, 0.0637155632704, 0.4868420953397, 0.0539722693595]
    assert_allclose(found[[0, 50, 100, 149]], rows, rtol=1e-9)


def test_silhouettes_of_points_that_coincide_are_zero():
    assert_array_equal(es.silhouette(np.ones((4, 2)), [0, 0, 1, 1]), 0)
    assert_array_equal(es.silhouette(np.ones((4, 2)), [0, 0, 1, 1], kind="energy"), 0)
    with pytest.raises(ValueError, match="`labels` must have at least two clusters, got 1"):
        es.silhouette(np.ones((4, 2)), [0, 0, 0, 0])


# ---------------------------------------------------------------- stability of any clusterer


def halves(X):
    """Cluster by the sign of the first column; points near 0 are in no cluster."""
    return np.where(np.abs(X[:, 0]) < 0.5, -1, (X[:, 0] > 0).astype(int))


def test_a_clusterer_that_does_not_look_at_the_sample_is_perfectly_stable(rng):
    X = rng.normal(size=(60, 2))
    found = es.cluster_stability(X, clusterer=halves, n_resamples=10, rng=1)
    noise = np.abs(X[:, 0]) < 0.5
    assert_array_equal(found.partition.labels < 0, noise)
    assert_array_equal(found.jaccard, 1)
    assert found.adjusted_rand == 1
    assert_array_equal(np.isnan(found.stays), noise)
    assert_array_equal(found.stays[~noise], 1)
    kept = es.dispersion(X[~noise], halves(X)[~noise])
    assert found.partition.within == pytest.approx(kept.within)
    assert "points are in no cluster" in words(found.partition)
    assert "found by halves: 2 in the data, 2 in the resamples" in words(found)


@pytest.mark.slow
def test_points_between_clusters_stay_less_often(rng):
    from sklearn.cluster import KMeans

    left = rng.normal(0, 1, (40, 2))
    X = np.concatenate([left, 6 - left, [[3.0, 3.0]]])  # mirrored, so that the last point is exactly between
    found = es.cluster_stability(X, clusterer=KMeans(2, n_init=2), n_resamples=30, rng=1)
    again = es.cluster_stability(X, clusterer=KMeans(2, n_init=2), n_resamples=30, rng=1)
    assert_array_equal(found.stays, again.stays)
    assert ((found.stays >= 0) & (found.stays <= 1)).all()
    assert found.stays[:80].mean() > 0.97
    assert found.stays[80] < 0.97


# ---------------------------------------------------------------- merges


def height(R, a, b):
    """n1 n2/(n1 + n2) E."""
    E = 2 * R[np.ix_(a, b)].mean() - R[np.ix_(a, a)].mean() - R[np.ix_(b, b)].mean()
    return len(a) * len(b) / (len(a) + len(b)) * E


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_merges_join_the_clusters_of_smallest_energy(seed, k):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(20, 2)), np.r_[np.arange(k), rng.integers(-1, k, size=20 - k)]
    R = es.pairwise(X)
    merges = merge_clusters(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0), labels, k)
    groups = {(j,): np.flatnonzero(labels == j) for j in range(k)}
    # from the last merge of the list, which is the lowest, to the first
    for merge in reversed(merges):
        pairs = [(a, b) for a in groups for b in groups if a < b]
        heights = {(a, b): height(R, groups[a], groups[b]) for a, b in pairs}
        assert merge.height == pytest.approx(min(heights.values()))
        assert merge.height == pytest.approx(heights[merge.left, merge.right])
        groups[merge.clusters] = np.concatenate((groups.pop(merge.left), groups.pop(merge.right)))
        assert merge.size == groups[merge.clusters].size
    assert merges[0].parent is None
    for merge in merges[1:]:
        above = merges[merge.parent]
        assert merge.clusters in (above.left, above.right)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12))
def test_a_cut_puts_as_few_points_as_possible_on_the_wrong_side(pairs):
    t, left = np.array([x for x, _ in pairs], dtype=float), np.array([side for _, side in pairs])
    cut, wrong = _best_cut(t, left)
    inner = np.unique(t)[:-1] + 0.5
    if inner.size:
        assert wrong == np.count_nonzero((t > cut) != left)
        assert wrong == min(np.count_nonzero((t > c) != left) for c in inner)


def test_parts_of_folds_take_the_names_of_the_clusters_they_overlap():
    assert _name_clusters(np.array([0, 0, 1, 1, -1, 2]), np.array([2, 2, 0, 0, 1, -1])).tolist() == [2, 2, 0, 0, -1, -1]
    assert _name_clusters(np.array([-1, -1]), np.array([0, 1])).tolist() == [-1, -1]


def test_a_discriminant_is_taken_where_the_means_do_not_separate(rng):
    """Two long bars side by side: the line through the means of few points is oblique, Fisher's is not."""
    X = np.c_[rng.normal(0, 8, 60), 6 * np.repeat([0, 1], 30) + rng.normal(size=60)]
    X[:30, 0] += 6
    d = Dissimilarity.from_data(X, metric="euclidean", alpha=1.0)
    t = _find_hyperplane(make_scorer(d, 1.0, rng), np.arange(30, 60), np.arange(30))
    assert np.count_nonzero((t > 0) != (np.arange(60) >= 30)) <= 3
    assert abs(np.corrcoef(t, X[:, 1])[0, 1]) > 0.75  # at least .84 of 400 samples


# ---------------------------------------------------------------- the whole


@pytest.fixture(scope="module")
def triangle():
    rng = np.random.default_rng(21)
    X = np.concatenate([rng.normal(c, 1, (40, 2)) for c in ([0, 0], [9, 0], [4, 8])])
    return X, np.repeat(["a", "b", "c"], 40)


@pytest.fixture(scope="module")
def validated(triangle):
    return es.validate_clusters(triangle[0], 3, outside=triangle[1], n_resamples=99, rng=4)


def test_separate_clusters_that_resamples_seldom_find_are_named(validated):
    assert len(validated.groups) == 3
    for jaccard, named in (([0.9, 0.6, 0.8], ""), ([0.9, 0.5, 0.8], "cluster 1 again"), ([0.5, 1, 0.4], "0, 2 again")):
        notes = _note_unstable(replace(validated, jaccard=np.array(jaccard)))
        assert len(notes) == bool(named)
        assert named in "".join(notes)
    joined = tuple(replace(merge, pvalue_adjusted=1.0) for merge in validated.merge_rows)
    assert not _note_unstable(replace(validated, merge_rows=joined, jaccard=np.full(3, 0.1)))
    leaving = np.where(np.arange(120) < 61, 0.5, 1.0)
    assert "61 of 120 points change clusters" in "".join(_note_unstable(replace(validated, stays=leaving)))
    assert not _note_unstable(replace(validated, stays=np.where(np.arange(120) < 60, 0.5, 1.0)))


def test_answers_agree_with_the_functions_alone(triangle, validated):
    X, _ = triangle
    frame = validated.to_frame(full=True).set_index("question")
    assert frame.loc["all points", "pvalue"] == es.cluster_test(X, 3, n_resamples=99, rng=4).pvalue
    assert_array_equal(validated.partition.labels, es.energy_cluster(X, 3, rng=4).labels)
    stability = es.cluster_stability(X, 3, rng=4)
    assert_allclose(validated.jaccard, stability.jaccard)
    assert_allclose(validated.stays, stability.stays)
    assert_allclose(validated.silhouette, es.silhouette(X, validated.partition.labels))


@pytest.mark.slow
def test_a_partition_in_another_metric_has_lines_of_its_own():
    """Two long bars: cut across by Euclidean distances, found by Mahalanobis', and each is judged as it is."""
    rng = np.random.default_rng(3)
    X = np.c_[rng.normal(0, 8, 150), 7 * np.repeat([0, 1], 75) + rng.normal(size=150)]
    across, along = (es.validate_clusters(X, 2, metric=metric, rng=0) for metric in ("euclidean", "mahalanobis"))
    assert across.structure.pvalue <= 0.05
    assert across.groups == ((0, 1),)
    assert "not along the lines of this partition" in " ".join(across.summary().split())
    assert along.groups == ((0,), (1,))
    top = along.to_frame(full=True).set_index("question")
    assert top.loc["partition", "pvalue_adjusted"] == top.loc["merge", "pvalue_adjusted"]


def _doubted(found, partition, space):
    """The result, had the test of all points rejected there, for these clusters, and the test along their line not."""
    answers = [
        replace(answer, pvalue=p, pvalue_adjusted=p)
        for answer in found.answers
        for p in [0.0144 if answer.question == "all points" else 0.0728]
    ]
    merges = tuple(replace(merge, pvalue_adjusted=0.0728) for merge in found.merge_rows)
    structure = replace(found.structure, partition=partition, space=space)
    return replace(found, answers=tuple(answers), merge_rows=merges, structure=structure)._conclusion()


def test_the_verdict_has_the_adjusted_p_of_the_partition(rng):
    """The one that the table shows: it is asked after all points, whose p is larger here."""
    found = es.validate_clusters(rng.normal(size=(40, 2)), 3, n_resamples=19, rng=0)
    small = {"all points": (0.0273, 0.0273), "partition": (0.0084, 0.0273)}
    answers = [
        replace(answer, pvalue=small[answer.question][0], pvalue_adjusted=small[answer.question][1])
        if answer.question in small
        else answer
        for answer in found.answers
    ]
    merges = tuple(replace(merge, pvalue_adjusted=0.5) for merge in found.merge_rows)
    said = replace(found, answers=tuple(answers), merge_rows=merges).summary()
    assert said.startswith("At level 0.05: evidence of clusters (p = 0.0273), but not of any of these 3 by itself.")
    assert "Partition, along each cluster's line to the rest: adjusted p = 0.0273 (varies with the seed)." in said


def test_nobody_is_sent_to_a_space_that_has_the_same_clusters(rng):
    X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 20, axis=0) + rng.normal(size=(40, 2))
    found = es.validate_clusters(X, 2, n_resamples=9, rng=0)
    same, across = found.partition, es.energy_cluster(X[:, [1]], 2, rng=0)
    along = replace(es.energy_cluster(X, 2, metric="mahalanobis", rng=0), labels=same.labels)
    of_user = replace(found, partition=replace(same, n_init=0))
    for result, there, space, place in (
        (found, along, "decorrelated", " in decorrelated columns"),
        (found, same, "as given", " and looks in other spaces, too"),
        (of_user, same, "as given", ""),
    ):
        said = _doubted(result, there, space)
        assert said == (
            "At level 0.05: there is structure (p = 0.0144), and the test of all points shows these same "
            f"clusters{place}; but the test along the line between them does not reject (p = 0.0728)."
        )
    moved = replace(same, labels=np.r_[1 - same.labels[:1], same.labels[1:]])
    assert "much the same clusters (adjusted Rand index 0.9" in _doubted(found, moved, "decorrelated")
    # other clusters are named, and so is how to see them where there is a way
    assert 'take metric="mahalanobis"' in _doubted(found, replace(along, labels=across.labels), "decorrelated")
    assert _doubted(found, across, "decorrelated").endswith("other clusters: those of `.structure.partition`.")
    alone = replace(found, answers=tuple(replace(a, pvalue_adjusted=0.5 if a.question != "variable" else 0.01)
                                         for a in found.answers),
                    merge_rows=tuple(replace(m, pvalue_adjusted=0.5) for m in found.merge_rows))  # fmt: skip
    assert alone._conclusion().endswith("It shows in single columns, each by itself.")


def test_far_clusters_are_supported_in_every_answer(triangle, validated):
    assert validated.supported == (True, True, True)
    frame = validated.to_frame(full=True)
    assert (frame.loc[frame["question"] != "variable", "pvalue_adjusted"] <= 0.05).all()
    assert (frame["pvalue_adjusted"] >= frame["pvalue"]).all()
    assert frame.notna().all().all()
    assert (frame[["null_hypothesis", "family", "level"]] != "").all().all()
    assert (validated.merges["separated"] > 0.95).all()
    assert validated.share.sum() == pytest.approx(1)
    assert validated.uncertain.size <= 3
    assert validated.summary().startswith("At level 0.05: all 3 clusters are separate from what they first meet (")
    head = validated.summary().split("\n\n")[0].splitlines()
    assert len(head) <= 9  # the verdict, and eight lines


@pytest.mark.slow
def test_parts_are_asked_after_all_points(rng):
    """So that the verdict has one level, and no part is significant where the whole is not."""
    for k, X in ((2, rng.random((60, 2))), (3, rng.random((60, 2))), (2, rng.normal(size=(50, 3)))):
        found = es.validate_clusters(X, k, rng=rng)
        asked = {"merge", "partition", "variable"}
        adjusted = [a.pvalue_adjusted for a in found.answers if a.question in asked and not np.isnan(a.pvalue)]
        assert adjusted
        assert min(adjusted) >= found.structure.pvalue
        assert (found.structure.pvalue > 0.05) <= (len(found.groups) == 1)


def test_shares_of_s_are_squared_distances_of_means(triangle):
    X, labels = triangle
    found = es.validate_clusters(X, partition=labels, alpha=2, n_resamples=9, rng=0)
    own = found.partition.labels
    parts = [np.sum(own == j) * np.sum((X[own == j].mean(axis=0) - X.mean(axis=0)) ** 2) for j in range(3)]
    assert_allclose(found.share, np.array(parts) / sum(parts))


@pytest.mark.parametrize("outside", ["type", {"type": "type"}, {"type": None}, {"type": b"type"}])
def test_outside_labels_are_not_the_name_of_a_column(rng, outside):
    with pytest.raises(TypeError, match=r"`outside.*` must be one label a row, got (str|bytes|NoneType);"):
        es.validate_clusters(rng.normal(size=(20, 2)), 2, outside=outside)


@pytest.mark.parametrize(
    "form", ["points", "matrix", *(pytest.param(form, marks=pytest.mark.slow) for form in ("clusterer", "one of two"))]
)
def test_outside_labels_that_a_clustering_can_have_found_are_noted(rng, form):
    """Arrays do not tell where they come from; that no point can change its cluster does."""
    import pandas as pd
    from sklearn.cluster import KMeans

    X, known = rng.normal(size=(60, 2)), np.repeat([0, 1], 30)
    R, how = es.pairwise(X), {"n_resamples": 19, "rng": 0}
    given = {
        "points": lambda labels: es.validate_clusters(X, 2, outside=labels, **how),
        "matrix": lambda labels: es.validate_clusters(R, 2, metric="precomputed", outside=labels, **how),
        "clusterer": lambda labels: es.validate_clusters(
            X, clusterer=KMeans(2, n_init=1, random_state=0), outside=labels, **how
        ),
        "one of two": lambda labels: es.validate_clusters(
            X, 2, outside=pd.DataFrame({"known": known, "found": labels}), **how
        ),
    }[form]
    which = " 'found'" if form == "one of two" else ""
    said = f"If a clustering of these points found the outside labels{which}, their p means nothing. The groups are a"
    # of a matrix without coordinates a local optimum of k-means is not seen
    k_means = [KMeans(2, n_init=2, tol=0, random_state=0).fit_predict(X)] if form != "matrix" else []
    for labels in (es.energy_cluster(X, 2, rng=0).labels.copy(), *k_means):
        found = given(labels)
        assert sum(note.startswith(said) for note in found.notes) == 1
        assert said[:50] in " ".join(found.summary().split())
    assert not any("a clustering of these points" in note for note in given(known).notes) or form == "one of two"


@pytest.mark.slow
def test_labels_without_a_clusterer_are_not_tested(triangle):
    X, labels = triangle
    found = es.validate_clusters(X, partition=labels, outside=labels, n_resamples=99, rng=4)
    frame = found.to_frame(full=True).set_index("question")
    assert frame.loc[["partition", "merge"], "pvalue"].isna().all()
    assert frame.loc["partition", "null_hypothesis"].startswith("not tested: labels without their clusterer")
    assert frame.loc["all points", "pvalue"] <= 0.05
    assert frame.loc["outside labels", "statistic"] == 1
    assert frame.loc["outside labels", "pvalue"] == 1 / 100
    assert found.supported == (False, False, False)
    assert "was not tested, for a reason among the notes" in " ".join(
        " ".join(found.summary().splitlines()[:2]).split()
    )
    assert "a search over all directions; give `clusterer`" in " ".join(found.summary().split())


@pytest.mark.slow
def test_a_partition_that_was_found_is_tested_as_it_was_found(triangle, validated):
    X, _ = triangle
    again = es.validate_clusters(X, partition=es.energy_cluster(X, 3, rng=4), n_resamples=99, rng=4, n_jobs=2)
    assert_array_equal(again.to_frame()["pvalue"], validated.to_frame()["pvalue"][:-1])
    other = es.energy_cluster(X @ [[1.0, 0.5], [0.0, 1.0]], 3, rng=4)
    with pytest.raises(ValueError, match="must have been found in the rows of `X`, in their order and scale"):
        es.validate_clusters(X, partition=other, n_resamples=9)
    labels = other.labels  # in another space
    found = es.validate_clusters(X, partition=labels, n_resamples=9, rng=4).to_frame(full=True).set_index("question")
    assert np.isnan(found.loc["partition", "pvalue"])


@pytest.mark.slow
def test_clusterers_of_scikit_learn(triangle):
    from sklearn.cluster import DBSCAN, KMeans

    X, labels = triangle
    found = es.validate_clusters(
        X, partition=KMeans(3, n_init=1, random_state=0).fit(X), outside=labels, n_resamples=99, rng=1
    )
    assert found.supported == (True, True, True)
    assert found.to_frame()["pvalue"].notna().all()
    noisy = es.validate_clusters(X, clusterer=DBSCAN(eps=1.2), outside=labels, n_resamples=9, rng=1)
    outside = noisy.partition.labels < 0
    assert outside.any()
    assert noisy.points.loc[outside, ["stays", "silhouette", "margin"]].isna().all().all()
    assert noisy.points.loc[~outside, ["silhouette", "margin"]].notna().all().all()
    assert noisy.plot().texts


def test_no_cluster_is_supported_that_groups_join_with_others(triangle):
    """Whatever p is: the border of the last merge goes through a cluster, or the gap parts others."""
    found = es.validate_clusters(triangle[0], 3, n_resamples=99, rng=0)
    assert found.groups == ((0,), (1,), (2,))
    assert found.supported == (True, True, True)
    for j, merge in enumerate(found.merge_rows):
        for other in (replace(merge, separated=0.5), replace(merge, moved=0.5)):
            rows = (*found.merge_rows[:j], other, *found.merge_rows[j + 1 :])
            changed = replace(found, merge_rows=rows)
            assert changed.supported == tuple((c,) in changed.groups for c in range(3))
            assert sum(changed.supported) < 3


def test_one_column_is_drawn_as_a_histogram_with_its_uncertain_points_below():
    rng = np.random.default_rng(5)
    x = np.r_[rng.normal(0, 1, 60), rng.normal(2.6, 1, 60)]
    found = es.validate_clusters(x, 2, rng=0)
    assert found.uncertain.size  # two clouds that touch
    ax = found.plot()
    _, right = ax.child_axes
    assert (right.get_xlabel(), right.get_ylabel()) == ("x", "count")
    rings = right.collections[-1].get_offsets()
    assert np.array_equal(np.asarray(rings), np.column_stack([x[found.uncertain], np.zeros(found.uncertain.size)]))
    assert right.get_title(loc="left") == f"Points, {found.uncertain.size} uncertain (hollow)"


def test_rows_are_matched_by_their_names(triangle):
    X, labels = triangle
    X, labels = X[::4], labels[::4]
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(30)])
    outside = pd.DataFrame({"kind": labels, "first": np.arange(30) < 3}, index=frame.index)
    found = es.energy_cluster(frame, 3, rng=0)
    answers = es.validate_clusters(frame, partition=found, outside=outside, n_resamples=9, rng=0).to_frame()
    assert answers["what"].tolist()[-2:] == ["kind", "first"]
    assert answers["statistic"].iloc[-2] == 1
    assert answers["pvalue_adjusted"].iloc[-2] == 2 * answers["pvalue"].iloc[-2]  # Holm
    by_name = {"kind": outside["kind"], "first": outside["first"].to_numpy()}
    of_dict = es.validate_clusters(frame, partition=found, outside=by_name, n_resamples=9, rng=0).to_frame()
    pd.testing.assert_frame_equal(of_dict, answers)
    with pytest.raises(ValueError, match=r"`outside\['kind'\]` must have the index of the table"):
        es.validate_clusters(frame, 3, outside={"kind": outside["kind"][::-1]})
    with pytest.raises(ValueError, match=r"`outside\['kind'\]` must have the index of the table"):
        es.validate_clusters(frame, 3, outside=outside.sample(frac=1, random_state=1))
    with pytest.raises(ValueError, match="`partition` must have the index of the table"):
        es.validate_clusters(frame[::-1], partition=found)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("partition", lambda X, found: es.validate_clusters(X, partition=found, n_resamples=9, rng=0)),
        ("groups", lambda X, found: es.energy_test(X, groups=found, n_resamples=9)),
        ("labels", lambda X, found: es.dispersion(X, found)),
        ("init", lambda X, found: es.energy_cluster(X, 2, init=found)),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_advice_for_results_of_rows_in_another_order_works(triangle, name, ask):
    frame = pd.DataFrame(triangle[0][::4], index=[f"row {i}" for i in range(30)])
    shuffled = frame.sample(frac=1, random_state=0)
    for found in (es.energy_cluster(frame, 2, rng=0), es.segment(frame, 2)):
        if name in ("partition", "init") and not isinstance(found, es.Partition):
            continue
        with pytest.raises(ValueError, match="must have the index of the table") as error:
            ask(shuffled, found)
        advice = re.search(r"`(X\.loc.*?)`", str(error.value))[1]
        ask(eval(advice, {"X": shuffled, name: found}), found)
        with pytest.raises(ValueError, match="is a result of other rows: compute it from this table"):
            ask(shuffled.set_axis(range(100, 130)), found)


def test_advice_for_labels_in_another_order_works(triangle):
    frame = pd.DataFrame(triangle[0][::4], index=[f"row {i}" for i in range(30)])
    labels = pd.Series(triangle[1][::4], index=frame.index)
    shuffled = frame.sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"`labels` must .* align it \(`labels\.loc\[X\.index\]`\)"):
        es.dispersion(shuffled, labels)
    with pytest.raises(ValueError, match=r"it has no row 100: match rows by position with `labels\.to_numpy\(\)`"):
        es.dispersion(frame.set_axis(range(100, 130)), labels)
    with pytest.raises(ValueError, match=r"because 'a' stands in several rows: match them by position"):
        es.dispersion(frame, labels.set_axis(list("aabbccddeeffgghhiijjkkllmmnnoo")))
    found = es.energy_cluster(frame, 2, rng=0)
    with pytest.raises(ValueError, match=r"A result is made a Series first, by `\.to_series\(\)`\."):
        es.clustering_accuracy(labels.loc[shuffled.index], found)
    in_order = es.clustering_accuracy(labels, found)
    assert es.clustering_accuracy(labels.loc[shuffled.index], found.to_series().loc[shuffled.index]) == in_order


def test_what_cannot_be_tested_says_why(rng):
    frame = pd.DataFrame({"x": rng.normal(size=30), "kind": np.arange(30) % 2 > 0, "g": list("abc") * 10})
    found = es.validate_clusters(frame, 2, metric="gower", n_resamples=9, rng=0)
    assert found.to_frame()["pvalue"].isna().all()
    assert found.to_frame(full=True)["null_hypothesis"].str.startswith("not tested: ").all()
    assert np.isfinite(found.jaccard).all()
    assert np.isfinite(found.silhouette).all()
    few = (
        es.validate_clusters(rng.normal(size=(12, 2)), 2, n_resamples=9, rng=0)
        .to_frame(full=True)
        .set_index("question")
    )
    assert few.loc["all points", "null_hypothesis"] == "not tested: fewer than 20 points"
    assert few.loc["variable", "pvalue"].notna().all()


@pytest.mark.slow
def test_a_matrix_of_distances_has_the_merges_of_its_points(rng):
    X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in ([0, 0], [9, 0], [4, 8])])
    found = es.validate_clusters(es.pairwise(X), 3, metric="precomputed", rng=4)
    assert found.supported == (True, True, True)
    assert not len(found.variables)


@pytest.mark.parametrize("seed", sweep(range(3), 1))
def test_outside_labels_have_the_permutation_p_of_the_adjusted_rand_index(seed):
    """Against all distinct permutations of seven labels; the random p lies within five standard errors."""
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(seed)
    a, b = rng.integers(3, size=7), np.array([0, 0, 1, 1, 2, 2, 2])
    index, p = agreement_of(a, b, 1999, rng)
    null = [adjusted_rand_score(np.array(each), a) for each in sorted(set(itertools.permutations(b.tolist())))]
    exact = np.mean(np.array(null) >= adjusted_rand_score(b, a) - 1e-12)
    assert index == pytest.approx(adjusted_rand_score(b, a))
    assert abs(p - exact) <= 5 * np.sqrt(exact * (1 - exact) / 1999) + 1 / 2000


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: es.validate_clusters(X), ValueError, "One of `k`, `clusterer` and `partition` must say"),
        (lambda X: es.validate_clusters(X, 2, clusterer=len), ValueError, "One of `k`, `clusterer` and `partition`"),
        (lambda X: es.validate_clusters(X, [0, 1]), TypeError, "`k` must be a number of clusters, got labels"),
        (lambda X: es.validate_clusters(X, partition=[0, 1]), ValueError, "`partition` must have one label for each"),
        (lambda X: es.validate_clusters(X, partition=np.full(30, -1)), ValueError, "all 30 points are in none"),
        (lambda X: es.validate_clusters(X, 2, outside=[1, 2]), ValueError, "`outside` must have one label for each"),
        (lambda X: es.validate_clusters(X, 2, outside={1: X[:, 0] > 0, "1": X[:, 1] > 0}), ValueError, "print as '1'"),
        (
            lambda X: es.validate_clusters(X, 2, outside=pd.DataFrame([[0, 1]] * 30, columns=["u", "u"])),
            ValueError,
            "`outside` must give every set of labels another name, but two print as 'u'",
        ),
        (lambda X: es.validate_clusters(X, 2, outside=X[:, 0]), ValueError, "another label for each of the 30 points"),
        (lambda X: es.validate_clusters(X, 2, outside=["a"] * 30), ValueError, "the labels: one label for all 30"),
        (
            lambda X: es.validate_clusters(X, 2, outside=es.energy_cluster(X, 2)),
            ValueError,
            "`outside` must be labels from elsewhere",
        ),
        (lambda X: es.validate_clusters(X, 31), ValueError, "`k` must be at most 30"),
    ],
)
def test_validation_refuses(rng, call, error, message):
    with pytest.raises(error, match=message):
        call(rng.normal(size=(30, 2)))


# ---------------------------------------------------------------- pictures of a partition


def test_a_partition_is_drawn_on_chosen_axes_with_names_where_they_fit(rng):
    import matplotlib as mpl

    mpl.use("Agg")
    X = rng.normal(size=(150, 4)) * [9, 5, 3, 1]
    found = es.energy_cluster(X, 2, n_init=1, rng=0)
    ax = found.plot(axes=("PC1", "PC3"), labels=[f"row {i}" for i in range(150)])
    assert "component 1" in ax.get_xlabel()
    assert "component 3" in ax.get_ylabel()
    assert 0 < len(ax.texts) < 150
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    left, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    scores = (left * lengths)[:, [0, 2]]
    assert_allclose(np.sort(np.abs(drawn), axis=0), np.sort(np.abs(scores), axis=0), atol=1e-9)
    assert found.plot(axes=(2, 0)).get_xlabel() == "column 2"
    for wrong, message in (
        ({"axes": ("PC1", "PC5")}, "`axes`, or `space`, must name principal components from PC1 to PC4, got PC5"),
        ({"axes": (0, 1), "space": "kernel"}, "`axes` and `space` both"),
        ({"labels": ["a"]}, "`labels` must have one name for each of the 150 points, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            found.plot(**wrong)
    mpl.pyplot.close("all")


@pytest.mark.slow
def test_labels_that_the_clusterer_does_not_find_are_not_tested(rng):
    kind = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + np.array([[0, 0], [9, 0]])[kind]
    of_other_order = KMeans(2, n_init=1, random_state=0).fit(X[rng.permutation(80)])
    shuffled = {"partition": rng.permutation(kind), "clusterer": KMeans(2, n_init=1)}
    for labels in ({"partition": of_other_order}, shuffled):
        checked = es.validate_clusters(X, **labels, n_resamples=199, rng=0)
        assert checked.groups == ((0, 1),)
        assert not any(checked.supported)
        assert np.isnan(checked.merges["pvalue"]).all()
        assert "KMeans finds other clusters in these points" in words(checked)
        assert "was not tested, for a reason among the notes" in words(checked)
    there = es.validate_clusters(X, partition=KMeans(2, n_init=1, random_state=0).fit(X), n_resamples=199, rng=0)
    assert there.groups == ((0,), (1,))


def test_a_clusterer_that_warns_of_every_part_is_heard_a_few_times(rng):
    X = np.column_stack((rng.normal(size=60), 1000 * rng.normal(size=60)))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        es.validate_clusters(X, clusterer=es.EnergyClustering(2, n_init=1, random_state=0), n_resamples=19, rng=0)
    assert sum(w.category is es.ColumnScaleWarning for w in heard) <= 8  # there were a hundred


def test_an_estimator_brings_its_metric(rng):
    X = rng.normal(size=(60, 2)) * [1, 50] + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    fitted = es.EnergyClustering(2, standardize=True, random_state=0).fit(X)
    by_estimator, by_partition = (
        es.validate_clusters(X, partition=given, n_resamples=19, rng=0) for given in (fitted, fitted.partition_)
    )
    assert by_estimator.partition.within == by_partition.partition.within == fitted.within_
    assert by_estimator.to_frame(full=True).equals(by_partition.to_frame(full=True))


def test_numbers_and_names_that_labels_had_are_told(rng):
    X = rng.normal(size=(50, 2)) + np.repeat([[0, 0], [9, 0]], [20, 30], axis=0)
    names = np.repeat(["few", "many"], [20, 30])
    checked = es.validate_clusters(X, partition=names, n_resamples=19, rng=0)
    assert "numbered by size: 0 was 'many', 1 was 'few' in the labels given" in " ".join(checked.notes)
    by_size = es.validate_clusters(X, partition=np.repeat([1, 0], [20, 30]), n_resamples=19, rng=0)
    assert "numbered by size" not in " ".join(by_size.notes)


def test_points_in_no_cluster_agree_with_nothing(rng):
    kind = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 9 * kind[:, None]
    some = np.where(np.arange(60) % 5 == 0, -1, kind)
    checked = es.validate_clusters(X, partition=some, outside=kind, n_resamples=19, rng=0)
    assert checked.to_frame().iloc[-1]["statistic"] == 1
    assert "Outside labels are compared at the points that are in a cluster." in checked.notes


@pytest.mark.slow
def test_a_fitted_pipeline_is_validated_with_its_labels(rng):
    X = rng.normal(size=(60, 2)) * [1, 50] + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    fitted = make_pipeline(StandardScaler(), KMeans(2, n_init=1, random_state=0)).fit(X)
    checked = es.validate_clusters(X, partition=fitted, n_resamples=19, rng=0)
    assert adjusted_rand_score(checked.partition.labels, fitted[-1].labels_) == 1
    assert not np.isnan(checked.merges["pvalue"]).any()


# ---------------------------------------------------------------- clusters of a tree


def test_clusters_of_a_tree_that_the_search_finds_are_tested(rng):
    """The same clusters were separate for k = 2, and "not tested" as those of the tree."""
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 30, axis=0)
    tree = es.cluster_tree(X, k_max=2, rng=0)
    assert tree.k == 2
    options = ({"partition": tree.partition}, {"k": 2})
    found, by_k = (es.validate_clusters(X, n_resamples=99, rng=0, **how) for how in options)
    assert found.summary() == by_k.summary()
    # the tree itself keeps its p, and what is known of the search stands beside it
    of_tree = es.validate_clusters(X, partition=tree, n_resamples=99, rng=0)
    assert of_tree.merges["pvalue"].tolist() == [tree.nodes[0].pvalue]
    assert of_tree.merges["pvalue_adjusted"].tolist() == [tree.nodes[0].pvalue_adjusted]
    assert_array_equal(of_tree.jaccard, by_k.jaccard)
    frame = of_tree.to_frame(full=True).set_index("question")
    assert frame.loc["all points", "pvalue"] == tree.nodes[0].pvalue
    assert frame.loc["partition", "pvalue"] <= 0.05
    # p of the split is of several spaces, that of the partition of lines between its clusters: R's rock, standardized
    unsure = [replace(a, pvalue=0.2, pvalue_adjusted=0.2) if a.question == "partition" else a for a in of_tree.answers]
    verdict = " ".join(replace(of_tree, answers=tuple(unsure)).summary().split())
    line = "the test along the line between them does not reject (p = 0.2000): the tree looked in other spaces, too."
    assert f"the two clusters are separate (adjusted {p_text(tree.nodes[0].pvalue_adjusted)}); {line}" in verdict
    assert "does not reject" not in of_tree.summary()
    for result, is_of_tree in ((of_tree, True), (by_k, False)):
        said = " ".join(result.notes)
        assert ("p at a merge is that of the split in the tree" in said) == is_of_tree
        assert ("more than one mode along the line between its two sides" in said) != is_of_tree


@pytest.fixture(scope="module")
def cut_elsewhere():
    """Two bars side by side, and one of them in two: they show in decorrelated columns, where the tree cuts."""
    rng = np.random.default_rng(1)
    bars = np.repeat([0, 1], 120)
    X = np.c_[rng.normal(0, 8, 240), 9 * bars + rng.normal(size=240), 9 * (np.arange(240) < 60) + rng.normal(size=240)]
    tree = es.cluster_tree(X, rng=0)
    assert any(node.children and node.space != "as given" for node in tree.nodes)
    assert tree.k == 3
    return X, tree


def test_splits_of_a_tree_keep_their_p(cut_elsewhere):
    X, tree = cut_elsewhere
    found = es.validate_clusters(X, partition=tree, n_resamples=49, rng=0)
    assert_array_equal(found.partition.labels, tree.labels)
    frame = found.to_frame(full=True).set_index("question")
    root, *below = [node for node in tree.nodes if node.children]
    assert frame.loc["all points", "pvalue"] == root.pvalue == found.structure.pvalue
    assert np.isnan(frame.loc["partition", "pvalue"])
    assert found.merges["pvalue"].tolist() == [root.pvalue, *(node.pvalue for node in below)]
    assert found.merges["pvalue_adjusted"].tolist() == [root.pvalue_adjusted, *(n.pvalue_adjusted for n in below)]
    for merge, node in zip(found.merge_rows, (root, *below), strict=True):
        sides = {tuple(np.unique(tree.labels[tree.nodes[child].rows])) for child in node.children}
        assert {merge.left, merge.right} == sides
        assert merge.size == node.size
    assert found.groups == ((0,), (1,), (2,))
    assert "all 3 clusters are separate" in words(found)
    assert np.isnan(found.jaccard).all(), "nothing is known of how resamples were cut"


def test_another_seed_does_not_change_the_p_of_a_tree(cut_elsewhere):
    X, tree = cut_elsewhere
    found = es.validate_clusters(X, partition=tree, n_resamples=99, rng=5)
    frame = found.to_frame(full=True).set_index("question")
    assert frame.loc["all points", "pvalue"] == tree.nodes[0].pvalue
    unclear = tuple(replace(merge, pvalue_adjusted=0.2) for merge in found.merge_rows)
    assert "no split of the tree was significant (smallest adjusted p = 0.2000)" in words(
        replace(found, merge_rows=unclear)
    )


def test_options_that_a_tree_had_otherwise_are_told(cut_elsewhere):
    """They count for the columns, which the tree did not test."""
    X, tree = cut_elsewhere
    own, other = (es.validate_clusters(X, partition=tree, conservative=more, rng=0) for more in (False, True))
    assert other.merges["pvalue"].tolist() == own.merges["pvalue"].tolist()
    assert (other.variables["pvalue"] >= own.variables["pvalue"]).all()
    assert (other.variables["pvalue"] > own.variables["pvalue"]).any()
    assert "were tested with its own options, conservative=False." in " ".join(other.notes)
    assert "its own options" not in " ".join(own.notes)


def test_a_tree_of_one_leaf_keeps_p_of_all_points(rng):
    """No column shows what all points do not; a partition into one cluster, without a tree, has no such p."""
    X = np.random.default_rng(2).normal(size=(80, 2))
    tree = es.cluster_tree(X, n_resamples=99, rng=0)
    assert tree.k == 1
    found = es.validate_clusters(X, partition=tree, n_resamples=99, rng=0)
    frame = found.to_frame(full=True).set_index("question")
    assert frame.loc["all points", "pvalue"] == tree.nodes[0].pvalue > 0.05
    assert (found.variables["pvalue_adjusted"] >= tree.nodes[0].pvalue).all()
    assert np.isnan(frame.loc["partition", "pvalue"])
    assert found.merges.empty
    assert "One cluster: nothing was divided, and nothing is to be shown." in words(found)
    assert found.plot().child_axes[0].texts[-1].get_text() == f"all points: p = {tree.nodes[0].pvalue:.4f}"
    alone = es.validate_clusters(X, partition=tree.partition, n_resamples=99, rng=0)
    assert alone.plot().child_axes[0].texts[-1].get_text() == "not tested: no p-value"
    assert alone.to_frame().set_index("question").loc["all points"].isna()["pvalue"]
    assert "All points: not tested: one cluster makes no contrast." in words(alone)


def test_leaves_without_their_tree_are_not_tested(cut_elsewhere):
    X, tree = cut_elsewhere
    found = es.validate_clusters(X, partition=tree.partition, n_resamples=99, rng=0)
    assert f"the tree cut elsewhere than `energy_cluster(X, {tree.k})` does; give the tree itself" in words(found)
    assert found.merges["pvalue"].isna().all()
    assert_array_equal(found.partition.labels, tree.labels)


@pytest.mark.slow
def test_a_choice_of_k_by_a_tree_brings_its_splits(cut_elsewhere):
    X, tree = cut_elsewhere
    chosen = es.select_k(X, 4, criterion="significance", rng=0)
    found = es.validate_clusters(X, partition=chosen, rng=0)
    assert found.merges["pvalue"].tolist() == [node.pvalue for node in tree.nodes if node.children]


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_one_seed_finds_the_same_clusters_of_all_points_in_every_call(rotating_seed, k):
    X = np.random.default_rng(rotating_seed).standard_normal((150, 6))  # one cloud has many local optima
    found = es.energy_cluster(X, k, rng=4)
    calls = {
        "validate_clusters": es.validate_clusters(X, k, n_resamples=49, rng=4).structure,
        "split": es.cluster_test(X, k, n_resamples=49, n_splits=2, rng=4),
        "refit": es.cluster_test(X, k, method="refit", n_resamples=19, rng=4),
        "crossfit": es.cluster_test(X, k, method="crossfit", n_resamples=19, rng=4),
    }
    for name, result in calls.items():
        if result.space == "as given":
            assert np.array_equal(result.partition.labels, found.labels), name
    assert np.array_equal(es.validate_clusters(X, k, n_resamples=49, rng=4).partition.labels, found.labels)


def test_labels_that_have_nothing_to_do_with_the_modes_are_not_called_separate(rng):
    """Each label has half of each of two clouds: the line between means runs along the clouds by chance."""
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal([7, 0], 1, (40, 2))])[rng.permutation(80)]

    def tosses(points):
        return np.floor(points[:, 1] * 1e4).astype(int) % 2

    found = es.validate_clusters(X, clusterer=tosses, rng=0)
    assert found.groups == ((0, 1),)
    assert "separate" not in found.summary().splitlines()[0]
    share = found.merges["separated"].iloc[0]
    assert not share >= 0.7
    assert es.validate_clusters(X, 2, rng=0).groups == ((0,), (1,))


def test_groups_of_a_long_chain_of_merges(rng):
    """Each merge has one cluster on its left: a thousand below each other are no limit."""
    n = 1200
    merges = tuple(
        Merge(
            left=(j,),
            right=tuple(range(j + 1, n)),
            size=20 * (n - j),
            height=1.0,
            parent=j - 1 if j else None,
            pvalue_adjusted=0.01 if j != 700 else 0.2,
            separated=1.0,
        )
        for j in range(n - 1)
    )
    found = replace(es.validate_clusters(rng.normal(size=(40, 2)), 2, n_resamples=9, rng=0), merge_rows=merges)
    assert found.groups == (*((j,) for j in range(700)), tuple(range(700, n)))


def test_the_gap_of_one_column_is_looked_for_with_the_p_that_is_shown():
    """Its own split may show nothing where the column does, and then a border through a cloud was called separate."""
    rng = np.random.default_rng(2)
    y = np.r_[rng.normal(0, 1, 250), rng.normal(3.8, 0.3, 28)]
    found = es.validate_clusters(y, 2, rng=0)
    if found.partition.breaks[0] < 2:  # the smallest W halves the large cloud
        assert found.groups == ((0, 1),)
        assert found.merge_rows[0].moved > 0.1


@pytest.mark.parametrize("clusterer", [None, lambda X: np.zeros(len(X), dtype=int)])
def test_one_column_has_the_same_p_beside_one_cluster_and_several(rng, clusterer):
    """Of one cluster it was .012, and .030 of two and in `cluster_test`, with one seed."""
    x = rng.normal(size=60) + np.repeat([0.0, 3.0], 30)
    how = {"clusterer": clusterer} if clusterer else {"partition": np.zeros(60, dtype=int)}
    found = es.validate_clusters(x, n_resamples=99, rng=3, **how)
    alone = es.cluster_test(x, n_resamples=99, rng=3)
    (column,) = [answer for answer in found.answers if answer.question == "variable"]
    assert (column.statistic, column.pvalue) == (alone.statistic, alone.pvalue)
    assert column.family == "1 column, Holm"
    assert found.structure is None
    assert not any("merge" in note for note in found.notes)


def test_few_points_of_one_column_are_tested_as_their_column_is():
    rng = np.random.default_rng(1)
    found = es.validate_clusters(np.r_[rng.normal(0, 1, 8), rng.normal(20, 1, 8)], 2, rng=0)
    assert found.groups == ((0,), (1,))
    assert found.supported == (True, True)
    assert "nan" not in found.summary()
    assert not any(note.startswith("Not tested") for note in found.notes)


def test_few_points_in_clusters_have_no_p_of_the_partition():
    rng = np.random.default_rng(4)
    A = np.r_[rng.normal(0, 0.3, (9, 2)), rng.normal(20, 0.3, (9, 2)), rng.uniform(-40, 60, (8, 2))]

    def near(Y):
        return np.where(np.abs(Y).max(axis=1) < 3, 0, np.where(np.abs(Y - 20).max(axis=1) < 3, 1, -1))

    found = es.validate_clusters(A, clusterer=near, rng=0)
    (partition,) = (answer for answer in found.answers if answer.question == "partition")
    assert np.isnan(partition.pvalue)


def test_the_verdict_says_what_was_asked_first(rng):
    """It said that no second mode was found along the lines between clusters whose own p was small."""
    X = np.concatenate([rng.normal(c, 1, (30, 3)) for c in ([0, 0, 0], [7, 0, 0], [0, 7, 0])]) * [1, 1, 60]
    clusterer = make_pipeline(StandardScaler(), KMeans(3, n_init=3, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.EnergyStatsWarning)
        found = es.validate_clusters(X, clusterer=clusterer, n_resamples=99, rng=0)
    pvalues = {"all points": (0.4, 0.4), "partition": (0.0045, 0.4)}
    kept = [a for a in found.answers if a.question in pvalues]
    asked = tuple(replace(a, pvalue=(p := pvalues[a.question])[0], pvalue_adjusted=p[1]) for a in kept)
    verdict = " ".join(replace(found, answers=asked).summary().split("All points:")[0].split())
    assert "among all points" in verdict
    assert "Asked alone, this partition has p" in verdict
    assert "one cloud" not in verdict


def test_clusters_found_with_weights_are_validated_without(rng):
    """Margins and shares were of equal weights beside W and S of others."""
    X = rng.normal(size=(60, 2))
    weights = np.repeat([0.05, 20.0], 30)
    weighted = es.energy_cluster(X, 3, sample_weight=weights, rng=0)
    found = es.validate_clusters(X, partition=weighted, n_resamples=39, rng=0)
    assert_allclose(found.share.sum(), 1)
    assert_allclose(found.partition.within, es.dispersion(X, weighted.labels).within)
    assert "found with weights" in " ".join(found.summary().split())
    own = next(answer for answer in found.answers if answer.question == "partition")
    assert np.isnan(own.pvalue)


def test_rows_of_weight_0_are_in_no_partition(rng):
    X, weights = rng.normal(size=(60, 2)), np.repeat([0.0, 1.0], [10, 50])
    model = es.EnergyClustering(3, random_state=0).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="weight 0 for 10 of 60 rows"):
        es.validate_clusters(X, partition=model)


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_notes_of_the_test_of_all_points_name_no_clusters_beside_others(rng):
    """Sizes of the clusters that the test found, under cautions so many that its summary had no room for them."""
    X = np.column_stack((rng.normal(size=(200, 3)) @ np.diag([9, 3, 3]), 3 * rng.integers(0, 2, 200)))
    X[:, 3] += np.clip(rng.normal(0, 0.4, 200), -0.4, 0.4)
    found = es.validate_clusters(X, 2, rng=0)
    assert found.structure.partition is not None
    facts = found.structure._rests_on()
    assert any("Clusters of this test" in fact for fact in facts)
    crowded = replace(found.structure, notes=(*found.structure.notes, *facts))
    assert not set(notes_beside(crowded)) & set(facts)
    assert set(found.structure.notes) - set(facts) <= set(found.notes)
    assert not set(found.notes) & set(facts)


@pytest.mark.parametrize("kind", ["columns", "matrix", "standardized", "gower"])
def test_a_partition_of_other_rows_is_refused(kind, rng):
    """Rows in another order or unit: W, S and T of the partition would be those of another table."""
    X = pd.DataFrame(rng.normal(size=(40, 3)) + 5 * (np.arange(40) % 2)[:, None], columns=list("abc"))
    how = {"standardized": {"standardize": True}, "gower": {"metric": "gower"}, "columns": {}, "matrix": {}}[kind]
    made = es.pairwise if kind == "matrix" else pd.DataFrame.to_numpy
    how = {"metric": "precomputed"} if kind == "matrix" else how
    found = es.energy_cluster(made(X), 2, rng=0, **how)
    few = {"n_resamples": 39, "rng": 0}
    asked = how if kind == "matrix" else {}
    assert es.validate_clusters(made(X), partition=found, **few, **asked).partition is found
    moved = X.sort_values("a", ignore_index=True)
    others = [X * 9.0] if kind in ("columns", "matrix") else []
    for other in (*others, moved):
        with pytest.raises(ValueError, match=r"`partition` must have been found in the rows of `X`, .* got one with W"):
            es.validate_clusters(made(other), partition=found, **few, **asked)
    assert es.validate_clusters(made(moved), partition=found.labels, **few, **how).partition.k == 2


@pytest.mark.parametrize(
    ("how", "shared"), [({}, True), ({"standardize": True}, False), ({"metric": "mahalanobis"}, False)]
)
def test_advice_on_units_stands_where_the_columns_have_them(how, shared, rng):
    X = rng.normal(size=(40, 3)) * [1, 1, 9]
    found = es.validate_clusters(X, 2, n_resamples=39, rng=0, **how)
    answers = tuple(replace(one, pvalue=0.01 if one.question == "partition" else 0.2) for one in found.answers)
    said = " ".join(replace(found, answers=answers).summary().split())
    assert ("see `standardize`" in said) == shared


@pytest.mark.filterwarnings("ignore::energystats.TiesWarning")
def test_columns_of_one_spread_are_not_blamed():
    two = np.r_[np.zeros((20, 2)), np.ones((10, 2))]
    found = es.validate_clusters(two, 2, rng=0)
    assert "standardize" not in found.summary()


def test_null_hypotheses_name_what_is_projected(rng):
    counts = rng.lognormal(size=(40, 3))
    R = es.pairwise(counts)
    for X, metric, where in (
        (counts, "bray", "the population of the columns as given is unimodal"),
        (counts, "hellinger", "the population of square roots of shares is unimodal"),
        (R, "precomputed", "the population behind the matrix is unimodal"),
        (counts, "euclidean", "projection of the population is unimodal"),
    ):
        found = es.validate_clusters(X, 2, metric=metric, n_resamples=19, rng=0)
        assert where in found.answers[0].null_hypothesis
        assert where in words(found)
        assert where in es.cluster_test(X, 2, metric=metric, n_resamples=19, n_splits=1, rng=0).null_hypothesis


def test_a_summary_counts_columns_that_say_little(rng):
    X = rng.normal(size=(60, 20))
    X[:30, 17] += 8
    found = es.validate_clusters(pd.DataFrame(X).add_prefix("v"), 2, n_resamples=49, rng=0)
    text = found.summary()
    shown = re.findall(r"variable v(\d+) ", text)
    assert len(shown) == 8
    assert "17" in shown
    rest = found.variables.loc[[f"v{j}" not in {f"v{i}" for i in shown} for j in range(20)], "pvalue_adjusted"]
    least = re.search(r"12 more columns: `.variables` +>= (\S+)\n", text)
    assert float(least[1]) == pytest.approx(rest.min(), abs=1e-4)
    few = es.validate_clusters(pd.DataFrame(X[:, 8:]).add_prefix("v"), 2, n_resamples=49, rng=0)
    assert "more columns" not in few.summary()


def test_columns_get_many_draws_where_these_can_matter_alone(rng, monkeypatch):
    """No adjusted p is below that of all points: 225 columns took 20 seconds to say so."""
    asked = []

    def counted(x, n_resamples, *args, **options):
        asked.append(n_resamples)
        return column_test(x, n_resamples, *args, **options)

    monkeypatch.setattr(column_answers, "column_test", counted)
    two = np.repeat([0.0, 9.0], 40)[:, None] + rng.normal(size=(80, 4))
    assert es.validate_clusters(two, 2, n_resamples=99, rng=0).structure.pvalue <= 0.05
    assert set(asked) == {399}
    asked.clear()
    clouds = np.random.default_rng(1).normal(size=(80, 4))
    found = es.validate_clusters(clouds, 2, n_resamples=99, rng=0)
    assert found.structure.pvalue > 0.05
    assert asked == [99] * 4  # none below .05
    # one of twelve columns has two modes, and the others three times its unit
    asked.clear()
    hidden = np.random.default_rng(2).normal(size=(80, 12)) * np.where(np.arange(12) > 0, 3, 1)
    hidden[:, 0] += np.repeat([0.0, 5.0], 40)
    found = es.validate_clusters(hidden, 2, n_resamples=99, rng=0)
    assert found.structure.pvalue > 0.05
    assert sorted(asked) == [99] * 12 + [1199] * asked.count(1199)
    assert 1 <= asked.count(1199) <= 3
    assert any(note.startswith("Asked alone, column 0 has") for note in found.notes)


def test_a_function_that_is_called_like_an_algorithm_is_the_users(rng):
    """Clusters of a user's function named "spectral" were tested as those of the search, which they are not."""
    X = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 6]

    def halves(points):
        return (points[:, 1] > np.median(points[:, 1])).astype(int)

    halves.__name__ = "spectral"
    found = es.cluster_stability(X, clusterer=halves, n_resamples=3, rng=0).partition
    assert found.algorithm == "spectral"
    asked = es.validate_clusters(X, partition=found, n_resamples=19, rng=0)
    answer = next(each for each in asked.answers if each.question == "partition")
    assert np.isnan(answer.pvalue)
    assert "labels without their clusterer" in answer.null_hypothesis
    assert asked.n_stability == 0


def test_clusters_that_the_search_does_not_find_are_not_tested_as_its(rng):
    X = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 6]
    given = np.tile([0, 1], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ConvergenceWarning)
        found = es.energy_cluster(X, 2, init=given, max_iter=1, algorithm="lloyd")
        far = es.validate_clusters(
            X, partition=replace(found, labels=given, **sums_of(X, given)), n_resamples=19, rng=0
        )
    near = es.validate_clusters(X, partition=es.energy_cluster(X, 2, algorithm="lloyd", rng=0), n_resamples=19, rng=0)
    answers = [next(each for each in asked.answers if each.question == "partition") for asked in (far, near)]
    assert np.isnan(answers[0].pvalue)
    assert "finds other clusters in these points than lloyd did here" in answers[0].null_hypothesis
    assert answers[1].pvalue <= 0.1


def sums_of(X, labels):
    """Dispersions of labels, as fields of a partition."""
    d = es.dispersion(X, labels)
    return {"within": d.within, "between": d.between, "total": d.total}


@pytest.mark.parametrize("metric", ["gaussian", "exponential", "seuclidean"])
def test_the_metric_of_a_partition_may_be_named_again(rng, metric):
    """One that is fitted to the data was another than itself, and refused."""
    X = np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 6]
    found = es.energy_cluster(X, 2, metric=metric, rng=0)
    first, again = (
        es.validate_clusters(X, partition=found, n_resamples=19, rng=0, **how) for how in ({}, {"metric": metric})
    )
    assert first.summary() == again.summary()
    with pytest.raises(ValueError, match="`metric` does nothing with a partition that was found in a space of its own"):
        es.validate_clusters(X, partition=found, n_resamples=19, rng=0, metric="cityblock")


def test_streams_of_merges_are_those_of_no_split(rng, monkeypatch):
    """From eight splits on, the ties of merges were jittered as those of a split."""
    X = np.round(np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 4], 1)
    keys = {"split": set(), "merge": set()}
    for name, module, at in (("split", split, "split"), ("merge", validate_clusters, "_test_merges_of")):
        holder = module._Splitter if name == "split" else module
        run = getattr(holder, at)

        def seen(*args, run=run, name=name, **options):
            rngs = [each for each in args if isinstance(each, np.random.Generator)]
            keys[name].add(rngs[0].bit_generator.seed_seq.spawn_key)
            return run(*args, **options)

        monkeypatch.setattr(holder, at, seen)
    es.validate_clusters(X, 2, n_splits=9, n_resamples=9, rng=0)
    assert len(keys["split"]) >= 9
    assert keys["merge"]
    assert not keys["split"] & keys["merge"]
