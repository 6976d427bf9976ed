"""Objects for `algorithm=`: they say what their names say, and travel as values."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import energystats as es

BY_NAME = {
    "hartigan": es.Hartigan(),
    "lloyd": es.Lloyd(),
    "spectral": es.Spectral(),
    "landmarks": es.Landmarks(),
    "exact-1d": es.Exact1D(),
}
WITH_OPTIONS = [*BY_NAME.values(), es.Hartigan(n_perturb=3), es.Landmarks(n_landmarks=9, batch_size=20)]


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_means_the_object_with_its_defaults(rng, name):
    X = rng.normal(size=(40, 1 if name == "exact-1d" else 2))
    named, given = (es.energy_cluster(X, 3, algorithm=how, rng=0) for how in (name, BY_NAME[name]))
    assert named.algorithm == given.algorithm == ("hartigan" if name == "landmarks" else name)  # of few rows
    assert_array_equal(named.labels, given.labels)
    assert named.within == given.within


@pytest.mark.parametrize("how", WITH_OPTIONS, ids=repr)
def test_algorithms_are_values(how):
    for other in (eval(repr(how), vars(es)), pickle.loads(pickle.dumps(how)), copy.deepcopy(how)):
        assert other == how
        assert hash(other) == hash(how)
    assert len(set(WITH_OPTIONS)) == len(WITH_OPTIONS)
    with pytest.raises((AttributeError, TypeError)):
        how.n_perturb = 1


@pytest.mark.parametrize("how", [es.Hartigan(n_perturb=1), es.Landmarks(n_landmarks=5, batch_size=30)], ids=repr)
def test_algorithms_inside_the_estimator(rng, how):
    X = rng.normal(size=(60, 2))
    model = es.EnergyClustering(3, random_state=1).set_params(algorithm=how)
    assert model.get_params()["algorithm"] is how
    twin = clone(model)
    assert twin.algorithm == how
    assert_array_equal(twin.fit_predict(X), es.energy_cluster(X, 3, algorithm=how, rng=1).labels)
    assert repr(how) in repr(model)


@parametrize_with_checks([es.EnergyClustering(algorithm=es.Hartigan(n_perturb=2), random_state=0)])
def test_the_protocol_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.Hartigan(n_perturb=-1), ValueError, "`n_perturb` must be at least 0"),
        (lambda: es.Hartigan(n_perturb="often"), ValueError, "`n_perturb` must be one of auto"),
        (lambda: es.Hartigan(n_perturb=1.5), TypeError, "`n_perturb` must be a whole number"),
        (lambda: es.Landmarks(n_landmarks=1), ValueError, "`n_landmarks` must be at least 2, got 1"),
        (lambda: es.Landmarks(batch_size=0), ValueError, "`batch_size` must be at least 2, got 0"),
        (
            lambda: es.energy_cluster([1.0, 2.0], 1, algorithm=es.Lloyd),
            TypeError,
            r"must be an object, got the class; write `es\.Lloyd\(\)`",
        ),
        (lambda: es.energy_cluster([1.0, 2.0], 1, algorithm="nystrom"), ValueError, "must be one of auto, hartigan"),
        (lambda: es.energy_cluster([1.0, 2.0], 1, algorithm=3), TypeError, "or an object such as `es.Hartigan"),
    ],
)
def test_options_are_checked_when_they_are_made(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_whole_numbers_of_numpy_are_those_of_python():
    assert es.Hartigan(np.int64(3)) == es.Hartigan(3)
    assert type(es.energy_cluster([[0.0], [1.0]], 1, algorithm="lloyd", n_init=np.int64(2)).n_init) is int
    assert repr(es.Landmarks(np.int64(3))) == "Landmarks(n_landmarks=3, batch_size=None)"


def test_entry_functions_have_at_most_fifteen_parameters():
    for function in (es.energy_cluster, es.EnergyClustering, es.cluster_test, es.cluster_tree, es.select_k,
                     es.cluster_stability, es.graph_partition, es.compare_euclidizations):  # fmt: skip
        assert len(inspect.signature(function).parameters) <= 15, function.__name__


@pytest.mark.parametrize("how", [{"log_moves": True}, {"callback": print}], ids=["log_moves", "callback"])
@pytest.mark.parametrize("algorithm", ["exact-1d", "spectral", "auto"])
def test_nothing_is_watched_where_nothing_moves(algorithm, how):
    """Both were ignored without a word; in one column "auto" is exact."""
    with pytest.raises(ValueError, match=f'`{next(iter(how))}` has no use in algorithm=.* use "hartigan"'):
        es.energy_cluster([0.0, 1.0, 5.0, 6.0], 2, algorithm=algorithm, **how)
    assert es.energy_cluster([0.0, 1.0, 5.0, 6.0], 2, algorithm="hartigan", rng=0, **how).within == 1.0
