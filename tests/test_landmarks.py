"""Clusters from Nystrom features: the map, the moves, the estimates, and what the results say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import energystats as es
from energystats._core import jit
from energystats._core.hartigan import hartigan_among_means
from energystats.clustering import feature_map, feature_search, landmarks
from energystats.clustering import features as feature_rows
from energystats.clustering.feature_map import FeatureMap, PointsHere
from energystats.clustering.features import BlockFeatures, Centres, Features, Found, nearest_centres
from energystats.dissimilarity import Dissimilarity
from tests import definitions as slow
from tests.conftest import sweep
from tests.problems import one_hartigan_pass, state_of

METRICS = [es.metrics.Euclidean(), es.metrics.Euclidean(0.5), es.metrics.Gaussian(), es.metrics.Exponential(2.0),
           es.metrics.SciPyMetric("cityblock"), es.metrics.Kernel("rbf", gamma=0.3)]  # fmt: skip


def dissimilarity(X, metric="euclidean", alpha=1.0):
    return Dissimilarity.from_data(X, metric=metric, alpha=alpha)


def features_of(X, rows, metric="euclidean", weights=None):
    d = dissimilarity(X, metric)
    w = np.ones(d.n) if weights is None else weights
    return d, Features.of(PointsHere(d.points), FeatureMap.of(d.points[rows], d.metric), w)


def of_block(phi):
    return BlockFeatures(phi, (phi**2).sum(axis=1), np.zeros(len(phi)))


def all_features(rows):
    return rows.at(np.arange(rows.n))


def three_clouds(rng, n, d=4):
    labels = rng.integers(3, size=n)
    return 3 * rng.standard_normal((3, d))[labels] + rng.standard_normal((n, d))


# ---------------------------------------------------------------- the map


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_map_is_exact_where_all_points_are_landmarks(rng, metric):
    X = rng.standard_normal((40, 3))
    d, rows = features_of(X, np.arange(40), metric)
    phi, _, residuals, _ = all_features(rows)
    assert ((phi[:, None] - phi) ** 2).sum(axis=2) == pytest.approx(d.matrix, abs=1e-8)
    assert residuals == pytest.approx(np.zeros(40), abs=1e-8)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_map_against_classical_scaling(rng, metric):
    X = rng.standard_normal((30, 3))
    chosen = rng.choice(30, 7, replace=False)
    d, rows = features_of(X, chosen, metric)
    inside, outside = slow.landmark_distances(d.matrix, chosen)
    phi, lengths, residuals, _ = all_features(rows)
    assert ((phi[:, None] - phi) ** 2).sum(axis=2) == pytest.approx(inside, abs=1e-7)
    assert lengths == pytest.approx((phi**2).sum(axis=1))
    assert residuals == pytest.approx(outside, abs=1e-7)
    assert (inside <= d.matrix + 1e-7).all()


def test_the_map_of_mixed_tables(rng):
    table = pd.DataFrame({"x": rng.standard_normal(30), "kind": rng.choice(list("abc"), 30)})
    d, rows = features_of(table, np.arange(30), "gower")
    phi = all_features(rows).rows
    assert ((phi[:, None] - phi) ** 2).sum(axis=2) == pytest.approx(d.matrix, abs=1e-8)


def choose_landmarks(X, metric, count, rng, weights=None):
    w = np.ones(len(X)) if weights is None else weights
    return feature_map.choose_landmarks(PointsHere(X), metric, count, rng, w)


def test_landmarks_are_distinct_and_all_there_are(rng, monkeypatch):
    monkeypatch.setattr(feature_map, "CANDIDATES", 10)  # so that most rows are no candidates at first
    X = np.repeat(rng.standard_normal((6, 2)), [1, 1, 1, 1, 1, 95], axis=0)
    metric = es.metrics.Euclidean()
    assert np.unique(X[choose_landmarks(X, metric, 6, rng)], axis=0).shape == (6, 2)
    assert choose_landmarks(X, metric, 50, rng).size == 6
    w = np.where(np.arange(100) == 3, 1e9, 1e-9)
    assert choose_landmarks(X[:9], metric, 1, rng, w[:9]).tolist() == [3]


@pytest.mark.slow
def test_landmarks_follow_rho_to_the_nearest_one(rng):
    X = np.array([0.0, 0.0, 0.0, 1.0, 4.0])[:, None]
    second = [choose_landmarks(X, es.metrics.Euclidean(), 2, rng) for _ in range(3000)]
    from_zero = [X[pair[1], 0] for pair in second if X[pair[0], 0] == 0]
    assert np.mean(np.array(from_zero) == 4) == pytest.approx(0.8, abs=0.05)


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_single_moves_are_those_of_all_pairs(rng, compiled, weighted):
    X = rng.standard_normal((35, 3))
    w = rng.random(35) + 0.5 if weighted else np.ones(35)
    d, rows = features_of(X, np.arange(35), weights=w)
    labels = np.arange(35) % 4
    own = labels.copy()
    centres = rows.centres(own, 4)
    loop = hartigan_among_means if compiled or jit.numba is None else hartigan_among_means.py_func
    moved = loop(all_features(rows).rows, w, own, centres.counts, centres.mass, centres.sums, 1e-9)
    R = d.matrix
    assert moved == one_hartigan_pass(R, labels, state_of(R, labels, 4, w), 1e-9, weights=w)
    assert (own == labels).all()
    assert centres.sums == pytest.approx(rows.centres(own, 4).sums)
    assert centres.mass == pytest.approx(np.bincount(own, w))
    assert centres.counts.tolist() == np.bincount(own).tolist()


@pytest.mark.parametrize("weighted", [True, False])
def test_rows_that_would_move_are_those_of_the_loop(rng, weighted):
    X = rng.standard_normal((60, 3))
    w = rng.random(60) + 0.5 if weighted else np.ones(60)
    _, rows = features_of(X, np.arange(60), weights=w)
    labels = np.r_[np.arange(59) % 4, 4]  # the last cluster is one point, which stays
    centres = rows.centres(labels, 5)
    phi, would = all_features(rows).rows, []
    for i in range(60):
        own, sums = labels[i : i + 1].copy(), [a.copy() for a in (centres.counts, centres.mass, centres.sums)]
        would.append(hartigan_among_means(phi[i : i + 1], w[i : i + 1], own, *sums, 1e-9))
    found = rows.movable(Found(labels, centres, 0, converged=False), 1e-9)
    assert found.tolist() == np.flatnonzero(would).tolist()
    assert found.size > 5


def test_of_too_many_rows_those_that_gain_most_move(rng, monkeypatch):
    _, rows = features_of(rng.standard_normal((60, 3)), np.arange(60))
    labels = np.arange(60) % 4
    start = Found(labels, rows.centres(labels, 4), 0, converged=False)
    monkeypatch.setattr(feature_rows, "MOVED_AT_ONCE", 7)
    found = feature_search.search_features(rows, start, 300, single_moves=True)
    assert found.converged
    assert rows.movable(found, 1e-9).size == 0
    assert rows.movable(start, 1e-9).size == 7


def test_sums_of_blocks_add(rng):
    phi, w, labels = rng.standard_normal((20, 3)), rng.random(20), np.arange(20) % 3
    residuals = rng.random(20)
    block = of_block(phi)._replace(residuals=residuals)
    parts = [Centres.of(block.part(a), w[a], labels[a], 3) for a in (slice(0, 8), slice(8, 20))]
    whole = parts[0] + parts[1]
    W = [sum(w[j] * ((phi[j] - whole.means[l]) ** 2).sum() for j in range(l, 20, 3)) for l in range(3)]
    assert whole.within == pytest.approx(W)
    assert pytest.approx(sum(W)) == whole.W
    assert whole.means[1] == pytest.approx(np.average(phi[1::3], axis=0, weights=w[1::3]))
    assert whole.residuals == pytest.approx(np.bincount(labels, w * residuals))
    assert whole.own == pytest.approx(np.bincount(labels, w**2 * residuals))
    one = whole.together
    assert pytest.approx((w * ((phi - np.average(phi, axis=0, weights=w)) ** 2).sum(axis=1)).sum()) == one.W
    assert one.left_out == pytest.approx((w * residuals).sum())
    nearest, squared = nearest_centres(block, whole.means)
    distances = ((phi[:, None] - whole.means) ** 2).sum(axis=2)
    assert (nearest == distances.argmin(axis=1)).all()
    assert squared == pytest.approx(distances.min(axis=1))


@pytest.mark.parametrize("init", ["k-means++", "random", "labels"])
def test_no_single_move_lowers_w_where_all_points_are_landmarks(rng, init):
    X = rng.standard_normal((25, 2))
    start = np.arange(25) % 3 if init == "labels" else init
    found = es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=25), init=start, n_init=2, rng=rng)
    R, labels = es.pairwise(X).tolist(), found.labels.tolist()
    W = slow.within(R, labels)
    assert found.within == pytest.approx(W, rel=1e-9)
    assert found.n_init == (1 if init == "labels" else 2)
    assert all(slow.within(R, moved) >= W - 1e-9 for moved in slow.single_moves(labels))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "gaussian", "cityblock"])
def test_w_is_near_that_of_all_pairs(rng, metric):
    X = three_clouds(rng, 1500)
    found = es.energy_cluster(X, 3, metric=metric, algorithm=es.Landmarks(n_landmarks=64), rng=rng)
    full = es.energy_cluster(X, 3, metric=metric, n_init=3, rng=rng)
    assert es.dispersion(X, found.labels, metric=metric).within < 1.01 * full.within
    assert found.bound >= full.bound * (1 - 1e-9)


@pytest.mark.calibration
@pytest.mark.parametrize("kind", ["normal", "lognormal"])
def test_w_of_ten_thousand_points_is_within_one_percent(rng, kind):
    X = three_clouds(rng, 10_000, 10)
    X = np.exp(X / 3) if kind == "lognormal" else X
    found = es.energy_cluster(X, 5, algorithm="landmarks", rng=rng)
    exact = es.dispersion(X, found.labels)
    assert exact.within < 1.01 * es.energy_cluster(X, 5, rng=rng).within
    assert abs(found.within - exact.within) < 6 * found.approximation.within_error
    assert abs(found.total - exact.total) < 6 * found.approximation.total_error


def test_the_same_labels_for_any_block_and_storage(rng, monkeypatch):
    X, seed = three_clouds(rng, 700), int(rng.integers(2**31))

    def run(**options):
        return es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=30, batch_size=100), rng=seed, **options)

    first = run()
    again = run()
    assert (first.labels == again.labels).all()
    assert (first.within, first.bound) == (again.within, again.bound)
    monkeypatch.setattr(feature_map, "BLOCK_ROWS", 77)
    assert (run().labels == first.labels).all()
    monkeypatch.setattr(feature_rows, "STORED_BYTES", 0)
    recomputed = run()
    assert (recomputed.labels == first.labels).all()
    assert recomputed.within == pytest.approx(first.within, rel=1e-10)
    monkeypatch.setattr(feature_rows, "STORED_BYTES", 8 * 29 * 250)  # of the first batches only
    assert (run().labels == first.labels).all()


@pytest.mark.parametrize("storage", ["kept", "kernel"])
def test_a_watch_finds_what_a_full_pass_finds(rng, monkeypatch, storage):
    monkeypatch.setattr(feature_rows, "STORED_BYTES", 0 if storage == "kernel" else 2**30)
    n, k = 400, 5
    X, w = rng.standard_normal((n, 3)), rng.random(n) + 0.5
    _, rows = features_of(X, np.arange(40), weights=w)
    assert (rows.whole is None) == (storage == "kernel")
    watch, means = rows.watch(), rows.at(rng.choice(n, k, replace=False)).rows
    looked = []
    look = feature_rows._look_again
    monkeypatch.setattr(feature_rows, "_look_again", lambda *given: looked.append(given[3].size) or look(*given))
    # the centres settle, jump, and settle again
    for step in range(12):
        (labels, centres), (expected, sums) = watch.assigned(means), rows.assigned(means)
        assert (labels == expected).all()
        for name in ("counts", "mass", "sums", "squares", "residuals", "own"):
            assert getattr(centres, name) == pytest.approx(getattr(sums, name), rel=1e-9, abs=1e-9), name
        means = sums.means if step != 6 else rows.at(rng.choice(n, k, replace=False)).rows
    assert sum(looked) < 0.8 * 12 * n
    # moves of single rows, among clusters that are not the nearest ones
    labels = rng.integers(k, size=n)
    for _ in range(3):
        found = feature_rows.Found(labels, rows.centres(labels, k), 0, converged=False)
        assert watch.movable(found, 1e-9).tolist() == rows.movable(found, 1e-9).tolist()
        labels = rows.assigned(found.centres.means)[0]
        labels[rng.choice(n, k, replace=False)] = np.arange(k)  # some rows move, and no cluster is empty


def test_an_emptied_cluster_takes_the_worst_placed_row(rng):
    X = np.concatenate([rng.standard_normal((20, 2)), [[50.0, 0.0]]])
    _, rows = features_of(X, np.arange(21))
    phi = all_features(rows).rows
    labels, centres = feature_search.refilled(rows, np.stack([phi[1], phi[2], phi[0] + 1e6]))
    assert labels[20] == 2
    assert centres.counts.min() == 1
    assert centres.mass.sum() == 21


# ---------------------------------------------------------------- the estimates


@pytest.mark.parametrize("weighted", sweep([True, False], 1))
def test_estimates_are_unbiased_and_their_errors_right(rng, monkeypatch, weighted):
    monkeypatch.setattr(landmarks, "ALL_PAIRS_UP_TO", 1)
    monkeypatch.setattr(landmarks, "BLOCKS", 6)
    monkeypatch.setattr(landmarks, "ROWS_IN_BLOCK", 8)
    X = rng.standard_normal((60, 3))
    w = rng.integers(1, 5, size=60).astype(float) if weighted else np.ones(60)
    _, rows = features_of(X, np.arange(9), weights=w)
    part = np.sort(rng.choice(60, 40, replace=False))
    exact = slow.total(es.pairwise(X[part]), w[part].tolist())
    known = landmarks._known_part(rows.centres(np.isin(np.arange(60), part).astype(np.intp), 2))[1]
    drawn = [landmarks._estimate(rows, part, known, rng, weighted) for _ in range(600)]
    values, errors = np.array([(e.value, e.error) for e in drawn]).T
    assert abs(values.mean() - exact) < 5 * values.std() / np.sqrt(600)
    assert (errors**2).mean() == pytest.approx(values.var(), rel=0.3)
    assert values.std() < 0.05 * exact
    assert drawn[0].n_pairs == 6 * 28


def test_all_pairs_of_small_clusters_are_taken(rng):
    X = three_clouds(rng, 300)
    w = rng.random(300) + 0.5
    for weights in (None, w):
        found = es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=20), sample_weight=weights, rng=rng)
        exact = es.dispersion(X, found.labels, sample_weight=weights)
        assert found.within == pytest.approx(exact.within, rel=1e-10)
        assert found.between == pytest.approx(exact.between, rel=1e-9)
        assert found.total == pytest.approx(exact.total, rel=1e-10)
        assert found.approximation.within_error == found.approximation.total_error == 0
        low, high = found.approximation.within_limits
        assert low < exact.within < high
        assert found.tightness < 1
        assert (found.masses is None) == (weights is None)


def test_leading_directions_leave_the_rest_outside(rng):
    _, rows = features_of(rng.standard_normal((60, 3)), np.arange(0, 60, 2))
    few, every = rows.leading(5), all_features(rows)
    part = all_features(few)
    assert part.rows.shape == (60, 5)
    # the directions of most variance among the landmarks, in any order of the eigenvalues that is the same
    phi = every.rows[::2] - every.rows[::2].mean(axis=0)
    shares = np.sort((phi**2).sum(axis=0))[::-1]
    assert (part.rows[::2] ** 2).sum() == pytest.approx(shares[:5].sum())
    np.testing.assert_allclose(part.lengths, (part.rows**2).sum(axis=1))
    np.testing.assert_allclose(part.lengths + part.residuals, every.lengths + every.residuals)
    assert rows.leading(rows.map.rank) is rows


@pytest.mark.parametrize("k", [2, 5, 9])
def test_seeds_leave_the_least_of_those_drawn(rng, k):
    w = rng.uniform(0.5, 2.0, 80)
    _, rows = features_of(rng.standard_normal((80, 2)), np.arange(20), weights=w)
    seed, phi = int(rng.integers(2**31)), all_features(rows).rows
    found = landmarks.seeded_centres(rows, k, np.random.default_rng(seed))
    squared = ((phi[:, None] - phi) ** 2).sum(axis=2)
    stream = np.random.default_rng(seed)
    seeds = [int(np.searchsorted(np.cumsum(w), stream.random() * w.sum()))]
    while len(seeds) < k:
        chances = np.cumsum(w * squared[seeds].min(axis=0))
        drawn = [int(np.searchsorted(chances, stream.random() * chances[-1])) for _ in range(2 + int(np.log(k)))]
        seeds.append(min(drawn, key=lambda row: w @ squared[[*seeds, row]].min(axis=0)))
    np.testing.assert_allclose(found, phi[seeds])


def test_many_clear_clusters_are_all_found(rng):
    # 10 starts of plain k-means++ miss some of 36 in nearly every run
    corners = 12.0 * np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2)
    truth = np.arange(5400) % 36
    X = corners[truth] + rng.standard_normal((5400, 2))
    for batch_size in (1800, None):
        how = es.Landmarks(n_landmarks=100, batch_size=batch_size)
        found = es.energy_cluster(X, 36, algorithm=how, rng=rng)
        assert es.clustering_accuracy(truth, found.labels) > 0.999


def test_batches_of_wide_tables_do_not_grow(rng, monkeypatch):
    X, sizes = three_clouds(rng, 4000), []
    best_start = landmarks._best_start
    monkeypatch.setattr(
        landmarks, "_best_start", lambda batch, *given: sizes.append(batch.n) or best_start(batch, *given)
    )
    taken = landmarks.Features.taken
    monkeypatch.setattr(
        landmarks.Features, "taken", lambda rows, drawn, stops: sizes.append(drawn.size) or taken(rows, drawn, stops)
    )
    for limit, largest in ((2**29, 200), (8 * X.shape[1] * 100, 100)):
        monkeypatch.setattr(landmarks, "BATCH_BYTES", limit)
        found = es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=20, batch_size=50), n_init=2, rng=rng)
        assert sizes == [largest, 50]
        assert len(found.labels) == len(X)
        sizes.clear()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e8])
def test_limits_hold_where_w_is_zero(unit, rng):
    points = rng.permutation(20)[:5, None] * unit
    found = es.energy_cluster(np.repeat(points, 400, axis=0), 5, algorithm=es.Landmarks(256), rng=rng)
    low, high = found.approximation.within_limits
    assert found.sizes == (400,) * 5
    assert low == 0 <= found.within <= high < 1e-12 * found.total
    assert (found.within_per_cluster >= 0).all()
    assert found.within == found.within_per_cluster.sum()


def test_the_score_is_the_upper_limit(rng):
    X = three_clouds(rng, 500)
    model = es.EnergyClustering(3, algorithm=es.Landmarks(n_landmarks=20), n_init=2, random_state=int(rng.integers(99)))
    model.fit(X)
    low, high = model.partition_.approximation.within_limits
    nearest = model.transform(X).min(axis=1).sum()
    assert model.score(X) == pytest.approx(-nearest, rel=1e-12)
    assert nearest == pytest.approx(high, rel=1e-4)  # a single move may leave a row beside its nearest centre
    assert low < 0.9 * nearest


def test_estimates_of_many_points(rng):
    X = three_clouds(rng, 4000)
    found = es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=40), n_init=2, rng=rng)
    exact, estimate = es.dispersion(X, found.labels), found.approximation
    assert 0 < estimate.within_error < 1e-3 * exact.within
    assert abs(found.within - exact.within) < 6 * estimate.within_error
    assert abs(found.total - exact.total) < 6 * estimate.total_error
    assert abs(found.between - exact.between) < 6 * estimate.between_error
    assert found.between + found.within == pytest.approx(found.total)
    assert found.within_per_cluster.sum() == pytest.approx(found.within)


@pytest.mark.parametrize("how", ["landmarks", es.Landmarks(256)], ids=str)
def test_one_cluster_and_as_many_as_points(rng, how):
    X = rng.standard_normal((30, 2))
    one = es.energy_cluster(X, 1, algorithm=how, rng=rng)
    assert (one.between, one.bound) == (0, 0)
    assert one.within == pytest.approx(es.dispersion(X, np.zeros(30)).total)
    all_ = es.energy_cluster(X, 30, algorithm=how, rng=rng)
    assert all_.within == pytest.approx(0, abs=1e-10)
    doubled = es.energy_cluster(np.repeat(X[:4], 5, axis=0), 4, algorithm=how, rng=rng)
    assert doubled.within == pytest.approx(0, abs=1e-10)
    with pytest.raises(ValueError, match="`k` must be at most the number of distinct points, 4, got 5"):
        es.energy_cluster(np.repeat(X[:4], 5, axis=0), 5, algorithm=how, rng=rng)


def test_whole_weights_count_as_repeated_rows(rng):
    X, w = three_clouds(rng, 60), rng.integers(1, 4, size=60)
    start = np.arange(60) % 3
    options = {"algorithm": es.Landmarks(n_landmarks=60)}
    weighted = es.energy_cluster(X, 3, init=start, sample_weight=w, rng=0, **options)
    exact = es.dispersion(np.repeat(X, w, axis=0), np.repeat(weighted.labels, w))
    assert weighted.within == pytest.approx(exact.within, rel=1e-9)
    assert weighted.total == pytest.approx(exact.total, rel=1e-9)


# ---------------------------------------------------------------- few rows


@pytest.mark.parametrize("weighted", [True, False])
def test_few_rows_are_clustered_by_all_pairs(rng, monkeypatch, weighted):
    """Landmarks took longer there than all pairs, and estimated what all pairs give exactly."""
    monkeypatch.setattr(landmarks, "FEW_ROWS", 300)
    X, w = three_clouds(rng, 300), rng.random(300) + 0.5 if weighted else None
    how = {"sample_weight": w, "n_init": 3, "rng": int(rng.integers(2**31))}
    exact = es.energy_cluster(X, 3, algorithm="hartigan", **how)
    for algorithm in ("landmarks", es.Landmarks()):
        found = es.energy_cluster(X, 3, algorithm=algorithm, **how)
        assert (found.labels == exact.labels).all()
        assert (found.within, found.total, found.bound) == (exact.within, exact.total, exact.bound)
        assert (found.algorithm, found.approximation) == ("hartigan", None)
        assert found.notes[0].startswith("All pairs were used instead of landmarks: 300 rows are few")
    for asked in (es.Landmarks(n_landmarks=256), es.Landmarks(batch_size=16_384)):
        assert es.energy_cluster(X, 3, algorithm=asked, **how).approximation.n_landmarks == 256
    monkeypatch.setattr(landmarks, "FEW_ROWS", 299)
    found = es.energy_cluster(X, 3, algorithm="landmarks", **how)
    assert (found.algorithm, found.notes, found.approximation.n_landmarks) == ("landmarks", (), 256)


def test_few_rows_of_a_file_are_those_of_an_array(rng, tmp_path):
    X = three_clouds(rng, 200)
    np.save(tmp_path / "points.npy", X)
    mapped, w = np.load(tmp_path / "points.npy", mmap_mode="r"), rng.random(200) + 0.5
    models = [es.EnergyClustering(3, algorithm="landmarks", standardize=True, random_state=1) for _ in range(2)]
    for model, points in zip(models, (X, mapped), strict=True):
        model.fit(points, sample_weight=w)
        assert model.partition_.approximation is None
    one, other = models
    assert (one.labels_ == other.labels_).all()
    assert other.within_ == pytest.approx(one.within_, rel=1e-10)
    for points in (X, mapped):
        assert other.transform(points) == pytest.approx(one.transform(X), rel=1e-8)
        assert (other.predict(points) == one.labels_).all()
        assert other.score(points, sample_weight=w) == pytest.approx(-one.within_, rel=1e-8)


def test_a_callback_sees_the_search_over_all_pairs(rng):
    X, seen = three_clouds(rng, 60), []
    how = {"algorithm": "landmarks", "n_init": 2, "rng": 0}
    watched = es.energy_cluster(X, 3, callback=lambda *row: seen.append(row), **how)
    assert min(W for _, _, W in seen) == pytest.approx(watched.within)
    assert watched.within == pytest.approx(es.energy_cluster(X, 3, **how).within)


# ---------------------------------------------------------------- the estimator


def test_predict_gives_back_the_labels_and_the_distances(rng):
    X = three_clouds(rng, 400)
    model = es.EnergyClustering(3, algorithm=es.Landmarks(n_landmarks=400), random_state=1).fit(X)
    assert (model.predict(X) == model.labels_).all()
    assert list(model.partition_.sizes) == sorted(model.partition_.sizes, reverse=True)
    new = rng.standard_normal((50, 4))
    R, between = es.pairwise(X), es.pairwise(new, X)
    for l, own in enumerate(slow.members(model.labels_.tolist())):
        exact = between[:, own].mean(axis=1) - R[np.ix_(own, own)].mean() / 2
        assert model.transform(new)[:, l] == pytest.approx(exact)  # their distance from the span included
        assert model.transform(X)[:, l] == pytest.approx(R[:, own].mean(axis=1) - R[np.ix_(own, own)].mean() / 2)
    assert model.score(X) == pytest.approx(-model.within_)


@pytest.mark.slow
def test_predict_needs_the_landmarks_only(rng):
    X = three_clouds(rng, 3000)
    model = es.EnergyClustering(3, algorithm=es.Landmarks(n_landmarks=50, batch_size=500), standardize=True)
    model.fit(X)
    assert model._points.shape == (50, 4)
    assert np.mean(model.predict(X) == model.labels_) > 0.999
    weights = np.r_[np.zeros(100), rng.random(2900) + 0.1]
    model.fit(X, sample_weight=weights)
    assert model.labels_.shape == (3000,)
    assert len(model.partition_.labels) == 2900


@pytest.mark.slow  # other algorithms are checked in test_algorithms.py
@parametrize_with_checks(
    [es.EnergyClustering(algorithm=how, random_state=0) for how in ("landmarks", es.Landmarks(256))]
)
def test_scikit_learn_protocol(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": es.metrics.Localised()}, r"needs a rho of negative type, which Localised\(\) is not"),
        ({"algorithm": es.Landmarks(n_landmarks=2)}, r"`n_landmarks` must be at least `k`, 3, got 2"),
        ({"init": "spectral"}, r"`init=\"spectral\"` has no use"),
        ({"log_moves": True}, r"`log_moves` must be False"),
        (
            {"metric": lambda X, Y: np.abs(X[:, :1] - Y[:, 0]) ** 4, "algorithm": es.Landmarks(256)},
            r"needs a rho of negative type, .* eigenvalue",
        ),
    ],
)
def test_what_is_refused(rng, options, message):
    with pytest.raises(ValueError, match=message):
        es.energy_cluster(rng.standard_normal((40, 2)), 3, **{"algorithm": "landmarks", **options})


def test_a_matrix_is_refused(rng):
    with pytest.raises(ValueError, match="needs points, got a matrix of rho"):
        es.energy_cluster(es.pairwise(rng.random((9, 2))), 2, metric="precomputed", algorithm="landmarks")


def test_points_that_show_that_rho_is_not_of_negative_type(rng):
    """A landmark sees nothing wrong with two points; the rest of the points does."""
    X = np.arange(12.0)[:, None]
    cubes = lambda A, B: np.abs(A - B[:, 0]) ** 3  # noqa: E731
    with pytest.raises(ValueError, match="needs a rho of negative type"):
        es.energy_cluster(X, 2, metric=cubes, algorithm=es.Landmarks(n_landmarks=2), rng=rng)


def test_too_many_points_for_all_pairs_are_sent_here():
    with pytest.raises(MemoryError, match=r'energy_cluster\(\.\.\., algorithm="landmarks"\)`, an approximation'):
        es.energy_cluster(np.zeros((10**6, 2)), 2)


def test_the_summary_says_what_was_approximated(rng):
    found = es.energy_cluster(three_clouds(rng, 200), 3, algorithm=es.Landmarks(n_landmarks=20), rng=rng)
    text = " ".join(found.summary().split())
    assert "into 3 clusters, approximate" in text
    assert "the search saw 19 Nystrom features of 20 landmarks, outside whose span" in text
    for words in ("standard error of W", "W for certain", "a local optimum of the features", "looser than"):
        assert words in text
    exact = es.energy_cluster(three_clouds(rng, 50), 3, rng=rng)
    assert exact.approximation is None
    assert "pproximat" not in exact.summary()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_offsets_and_scales_change_nothing(rng, scale):
    X = three_clouds(rng, 300).round(3)
    options = {"algorithm": es.Landmarks(n_landmarks=30), "rng": int(rng.integers(2**31))}
    plain = es.energy_cluster(X, 3, **options)
    moved = es.energy_cluster(scale * (X + 1e6), 3, **options)
    assert (moved.labels == plain.labels).all()
    assert moved.within / scale == pytest.approx(plain.within, rel=1e-6)


def test_points_that_coincide(rng):
    for how, said in ((es.Landmarks(256), "outside whose span 0 % of T"), ("landmarks", "All pairs were used")):
        found = es.energy_cluster(np.ones((5, 2)), 1, algorithm=how, rng=rng)
        assert (found.within, found.total, found.bound) == (0, 0, 0)
        assert said in " ".join(found.summary().split())
        model = es.EnergyClustering(1, algorithm=how).fit(np.ones((5, 2)))
        assert model.predict([[3.0, 4.0]]).tolist() == [0]
        assert es.energy_cluster([[1.0]], 1, algorithm=how).sizes == (1,)


def test_callbacks_and_passes(rng):
    seen = []
    X = three_clouds(rng, 900)
    options = {"algorithm": es.Landmarks(n_landmarks=30, batch_size=100), "n_init": 3}
    es.energy_cluster(X, 3, callback=lambda *row: seen.append(row), rng=0, **options)
    starts, passes, W = zip(*seen, strict=True)
    assert set(starts) == {0, 1, 2}
    assert min(passes) == 1
    assert W[-1] > W[0]  # of all rows, and of the first batch
    with pytest.warns(es.ConvergenceWarning, match="`max_iter`=1"):
        es.energy_cluster(X, 3, max_iter=1, rng=0, **options)


def test_sums_over_all_pairs_are_not_called_estimates(rng):
    X = rng.normal(size=(200, 3))
    found = es.energy_cluster(X, 2, algorithm=es.Landmarks(n_landmarks=30), rng=0)
    assert (found.approximation.within_error, found.approximation.total_error) == (0, 0)
    assert found.total == pytest.approx(es.dispersion(X, found.labels).total)
    assert "W, S and T of these clusters are exact." in " ".join(found.summary().split())


@pytest.mark.parametrize("exponent", [-400, 400])
def test_errors_of_estimates_in_any_unit(rng, exponent):
    X, seed = rng.standard_normal((3000, 2)), int(rng.integers(2**31))
    how = {"alpha": 1.5, "algorithm": es.Landmarks(8, 500), "n_init": 2, "rng": seed}
    usual = es.energy_cluster(X, 2, **how).approximation
    with np.errstate(over="raise"):
        found = es.energy_cluster(np.ldexp(X, exponent), 2, **how).approximation
    for name in ("within_error", "between_error", "total_error"):
        assert np.log2(getattr(found, name)) - 1.5 * exponent == pytest.approx(np.log2(getattr(usual, name)), abs=1e-6)


def test_starts_are_searched_on_two_rows_for_each_cluster_at_least(rng):
    found = es.energy_cluster(
        rng.normal(size=(120, 2)), 20, algorithm=es.Landmarks(n_landmarks=30, batch_size=10), n_init=1, rng=0
    )
    assert found.approximation.batch_size == 40
