"""Searches over pairs in single precision: the same labels, W and bound as in double."""

import numpy as np
import pandas as pd
import pytest

import energystats as es
from energystats._core.statistics import best_gains
from energystats.clustering import local_search, rounded_pairs
from energystats.clustering.rounded_pairs import RoundedPoints, polish
from energystats.dissimilarity import Dissimilarity
from tests import definitions


def clouds(rng, n=300, d=3, k=3, apart=3.0):
    return rng.standard_normal((n, d)) + apart * rng.integers(0, k, size=(n, 1))


def both(monkeypatch, X, k, seed=1, **options):
    monkeypatch.setattr(local_search, "DOUBLE_UP_TO", 10**9)
    exact = es.energy_cluster(X, k, rng=seed, **options)
    used = []
    make = RoundedPoints.of.__func__
    monkeypatch.setattr(local_search, "DOUBLE_UP_TO", 10)
    monkeypatch.setattr(RoundedPoints, "of", classmethod(lambda cls, d: used.append(make(cls, d)) or used[-1]))
    return exact, es.energy_cluster(X, k, rng=seed, **options), used


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({}, 1.0),
        ({"alpha": 0.5}, 1e-150),
        ({"alpha": 1.7}, 1e100),
        ({"metric": "cityblock", "init": "random"}, 1.0),
        ({"algorithm": es.Hartigan(n_perturb=0), "n_init": 3}, 1e-3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_partition_as_in_double(rng, monkeypatch, options, scale, weighted):
    X = scale * clouds(rng)
    w = rng.integers(1, 4, size=300).astype(float) if weighted else None
    exact, found, used = both(monkeypatch, X, 3, sample_weight=w, **options)
    assert used[0].R.dtype == np.float32
    assert es.clustering_accuracy(exact.labels, found.labels) == 1
    assert found.within == pytest.approx(exact.within, rel=1e-13)
    assert found.total == pytest.approx(exact.total, rel=1e-13)
    assert found.bound == pytest.approx(exact.bound, rel=1e-9)
    assert found.converged
    assert found.path[-1] == pytest.approx(found.within, rel=1e-13)
    assert (np.diff(found.path) <= 0).all()
    assert found.path.size == found.n_iter + 1


def test_ties_duplicates_and_one_cluster(rng, monkeypatch):
    X = np.repeat(rng.integers(0, 5, size=(60, 2)).astype(float), 5, axis=0)
    for k in (1, 2, 4):
        exact, found, _ = both(monkeypatch, X, k)
        assert found.within == pytest.approx(exact.within, rel=1e-12)
        assert found.within == pytest.approx(es.dispersion(X, found.labels).within, rel=1e-12)
    with pytest.raises(ValueError, match="distinct"):
        es.energy_cluster(np.ones((50, 2)), 2)


def test_mixed_tables_and_pictures_of_them(rng, monkeypatch):
    frame = pd.DataFrame({"x": clouds(rng, d=1)[:, 0], "g": rng.choice(["a", "b", "c"], 300)})
    exact, found, used = both(monkeypatch, frame, 3, metric="gower")
    assert used
    assert es.clustering_accuracy(exact.labels, found.labels) == 1
    assert np.abs(found.coordinates) == pytest.approx(np.abs(exact.coordinates), rel=1e-5, abs=1e-5)


def test_who_watches_sees_double_precision(rng, monkeypatch):
    X, seen = clouds(rng, n=80), []
    for options in ({"callback": lambda *at: seen.append(at)}, {"log_moves": True}, {"init": "spectral"}):
        _, _, used = both(monkeypatch, X, 2, **options)
        assert used == []
    assert seen


def test_values_without_room_in_single_precision_stay_double(rng, monkeypatch):
    X = clouds(rng, n=200)
    X[77] = 1e60
    exact, found, used = both(monkeypatch, X, 2)
    assert used == [None]
    assert found.within == exact.within


def test_a_move_that_single_precision_missed_is_made(rng):
    X = clouds(rng, n=120, k=2)
    d = RoundedPoints.of(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0))
    best = es.energy_cluster(X, 2, rng=0)
    labels = best.labels.copy()
    labels[rng.choice(120, 5, replace=False)] ^= 1
    for weights in (np.ones(120), rng.random(120) + 0.5):
        tolerance = 1e-12 * d.scale
        found = polish(d, labels, weights, 2, tolerance, 300)
        table, mass, within = rounded_pairs._tabulate(d, found.labels, weights, 2)
        gains = best_gains(table, mass, within, np.bincount(found.labels, minlength=2), found.labels, weights)
        assert gains.max() <= tolerance
        assert found.converged
        assert found.n_iter >= 1
        R = es.pairwise(X)
        W = sum(
            weights[m] @ R[np.ix_(m, m)] @ weights[m] / (2 * weights[m].sum())
            for m in (np.flatnonzero(found.labels == j) for j in range(2))
        )
        assert found.within == pytest.approx(W, rel=1e-12)
    cut = polish(d, labels, np.ones(120), 2, 1e-12 * d.scale, 0)
    assert not cut.converged
    assert (cut.labels == labels).all()


def test_totals_are_those_of_the_definition(rng):
    X = clouds(rng, n=60)
    d = RoundedPoints.of(Dissimilarity.from_data(X, metric="euclidean", alpha=1.0))
    R = np.array([[definitions.rho(a, b) for b in X] for a in X]) if hasattr(definitions, "rho") else es.pairwise(X)
    assert d.row_totals == pytest.approx(R.sum(axis=1), rel=1e-13)
    assert np.ldexp(d.R.astype(float), d.unit) == pytest.approx(R, rel=1e-6)
    assert (d.R == d.R.T).all()
