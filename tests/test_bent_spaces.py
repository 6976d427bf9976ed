"""Matrices of powers of distances: the test of clusters supposes Euclidean ones, and says when they are bent."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import energystats as es


def notes_of(R, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.EnergyStatsWarning)
        return " ".join(es.cluster_test(R, metric="precomputed", n_resamples=19, n_splits=1, rng=0, **options).notes)


@pytest.mark.parametrize("power", [0.9, 0.5, 0.25])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_powers_of_distances_are_recognised_with_their_exponent(rng, d, power):
    R = squareform(pdist(rng.normal(size=(60, d)))) ** power
    assert f"the power {power:.3g} of Euclidean distances in {d} dimensions" in notes_of(R)
    assert f"give alpha={power:.3g}" in notes_of(R)
    assert "bent" not in notes_of(R, alpha=power)


def test_an_exponent_that_is_given_counts(rng):
    R = squareform(pdist(rng.normal(size=(60, 3)))) ** 0.25
    assert "give alpha=0.25" in notes_of(R, alpha=0.5)


def test_other_distances_are_not_taken_for_powers(rng):
    tables = {
        "normal, few columns": squareform(pdist(rng.normal(size=(60, 3)))),
        "normal, more columns than points": squareform(pdist(rng.normal(size=(40, 90)))),
        "fast decaying columns": squareform(pdist(rng.normal(size=(60, 50)) * np.exp(-np.arange(50.0)))),
        "root of Jaccard": np.sqrt(squareform(pdist(rng.random((60, 40)) < 0.2, "jaccard"))),
        "root of Bray-Curtis": np.sqrt(squareform(pdist(rng.poisson(3.0, (60, 20)), "braycurtis"))),
        "root of Manhattan": np.sqrt(squareform(pdist(rng.normal(size=(60, 3)), "cityblock"))),
        "all equally far": 1.0 - np.eye(40),
    }
    for name, R in tables.items():
        assert "bent" not in notes_of(R), name
