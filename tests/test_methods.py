"""Methods as objects: what they hold, what they refuse, and that a name means the object with its defaults."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import energystats as es

X = np.random.default_rng(3).normal(size=(40, 2))
G = np.arange(40) % 2
OBJECTS = [
    es.Permutation(),
    es.Permutation(99, stop_at=5),
    es.Permutation(extrapolate=True),
    es.Sliced(),
    es.Sliced(7, 12, stop_at=3),
    es.Binned(),
    es.Binned(20, extrapolate=True),
]


def test_defaults():
    assert (es.Permutation().n_resamples, es.Permutation().stop_at, es.Permutation().extrapolate) == (999, None, False)
    assert (es.Sliced().n_slices, es.Sliced().n_bins, es.Binned().n_bins) == (50, None, None)


@pytest.mark.parametrize("method", OBJECTS, ids=repr)
def test_objects_are_values(method):
    again = eval(repr(method), vars(es))
    for other in (again, pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
        assert other == method
        assert hash(other) == hash(method)
    assert sum(method == other for other in OBJECTS) == 1
    with pytest.raises(AttributeError):
        method.extrapolate = True


def test_numbers_of_numpy_become_plain():
    method = es.Sliced(np.int64(7), np.int32(9), stop_at=np.uint8(3), extrapolate=np.True_)
    assert repr(method) == "Sliced(n_slices=7, n_bins=9, stop_at=3, extrapolate=True)"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.Permutation(0), ValueError, "`n_resamples` must be at least 1, got 0"),
        (lambda: es.Permutation(9.0), TypeError, "`n_resamples` must be a whole number, got 9.0"),
        (lambda: es.Permutation(True), TypeError, "`n_resamples` must be a whole number, got True"),
        (lambda: es.Permutation(stop_at=0), ValueError, "`stop_at` must be at least 1, got 0"),
        (lambda: es.Permutation(stop_at="3"), TypeError, "`stop_at` must be a whole number, got '3'"),
        (lambda: es.Permutation(extrapolate=1), TypeError, "`extrapolate` must be True or False, got 1"),
        (lambda: es.Sliced(1), ValueError, "`n_slices` must be at least 2, got 1"),
        (lambda: es.Sliced(None), TypeError, "`n_slices` must be a whole number, got None"),
        (lambda: es.Sliced(n_bins=5000), ValueError, "`n_bins` must be at most 4096, got 5000"),
        (lambda: es.Sliced(stop_at=-1), ValueError, "`stop_at` must be at least 1, got -1"),
        (lambda: es.Binned(1), ValueError, "`n_bins` must be at least 2, got 1"),
        (lambda: es.Binned(5000), ValueError, "`n_bins` must be at most 4096, got 5000"),
        (lambda: es.Binned(np.nan), TypeError, "`n_bins` must be a whole number, got nan"),
    ],
)
def test_bad_options_are_refused_when_the_object_is_made(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "method"),
    [("permutation", es.Permutation()), ("sliced", es.Sliced()), ("binned", es.Binned())],
)
def test_a_name_means_the_object_with_its_defaults(name, method):
    by_name, by_object = (es.energy_test(X, groups=G, method=how, rng=1) for how in (name, method))
    assert by_name.summary() == by_object.summary()
    assert (by_name.null_distribution == by_object.null_distribution).all()


TESTS = {
    "energy_test": lambda **how: es.energy_test(X, groups=G, rng=1, **how),
    "mmd_test": lambda **how: es.mmd_test(X, groups=G, rng=1, **how),
    "disco": lambda **how: es.disco(X, groups=G, rng=1, **how),
    "pairwise_tests": lambda **how: es.pairwise_tests(X, G, rng=1, **how),
}


@pytest.mark.parametrize("name", TESTS)
def test_the_number_of_permutations_stands_in_one_place(name):
    test = TESTS[name]
    assert inspect.signature(getattr(es, name)).parameters["n_resamples"].default is None
    assert test().n_resamples == 999
    for how in ({"n_resamples": 59}, {"method": es.Permutation(59)}, {"method": es.Permutation(59), "n_resamples": 59}):
        found = test(**how)
        assert (found.n_resamples, found.method) == (59, "permutation" if "method" in how else found.method)
    with pytest.raises(ValueError, match=r"`n_resamples=99` and `method=Permutation\(n_resamples=59, .*\)` differ"):
        test(method=es.Permutation(59), n_resamples=99)
    with pytest.raises(ValueError, match=r"`n_resamples` must be at least 1, got 0"):
        test(n_resamples=0)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("method", [es.Permutation, None, 3, ["auto"], {"name": "auto"}], ids=repr)
def test_what_is_no_method(name, method):
    with pytest.raises(TypeError, match=r"`method` must be one of auto, .* or an object such as `es.Permutation"):
        TESTS[name](method=method)


def test_methods_that_a_test_does_not_have():
    for name in ("mmd_test", "disco", "pairwise_tests"):
        for method in (es.Sliced(), es.Binned()):
            with pytest.raises(ValueError, match=r"`method` must be one of auto, exact, permutation.*; got '"):
                TESTS[name](method=method)
    for name in ("disco", "pairwise_tests"):
        for method in (es.Permutation(stop_at=5), es.Permutation(extrapolate=True)):
            with pytest.raises(ValueError, match=rf"`{name}` makes all permutations; leave `stop_at`"):
                TESTS[name](method=method)
    for method in (es.Sliced(n_bins=9), es.Sliced(stop_at=9), es.Sliced(extrapolate=True)):
        with pytest.raises(ValueError, match="A distance has no permutations"):
            es.energy_distance(X, X, method=method)


def test_an_object_says_permutation_even_where_few_labelings_exist():
    x, y = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    assert es.energy_test(x, y, rng=0).method == "exact"
    assert es.energy_test(x, y, method=es.Permutation(), rng=0).method == "permutation"


def test_mmd_stops_early_and_extrapolates():
    x = np.random.default_rng(0).normal(size=(40, 2))
    stopped = es.mmd_test(x[:20], x[20:], method=es.Permutation(9999, stop_at=10), rng=0)
    assert stopped.stopped_early
    assert es.mmd_test(x[:20], x[20:] + 3, method=es.Permutation(extrapolate=True), rng=0).extrapolated


def test_results_have_the_fields_of_their_method():
    fields = {"n_strata", "stopped_early", "n_bins", "n_slices", "statistic_error", "components", "null_moments"}
    made = {
        "exact": (es.energy_test(X[:6], groups=G[:6]), {"n_strata", "stopped_early"}),
        "permutation": (es.energy_test(X, groups=G, n_resamples=9), {"n_strata", "stopped_early"}),
        "binned": (es.energy_test(X, groups=G, method=es.Binned(8)), {"n_strata", "stopped_early", "n_bins"}),
        "sliced": (es.energy_test(X, groups=G, method="sliced"), fields - {"components", "null_moments"}),
        "several": (es.energy_test(X, groups=G, alpha=[1, 2]), {"n_strata", "stopped_early", "components"}),
        "asymptotic": (es.energy_test(X, groups=G, method="asymptotic"), {"null_moments"}),
        "cross": (es.energy_test(X, groups=G, method="cross"), {"null_moments"}),
    }
    for result, own in made.values():
        assert isinstance(result, es.EnergyTestResult)
        assert {name for name in fields if hasattr(result, name)} == own
        for name in own:
            assert any(name in kind.__doc__ for kind in type(result).__mro__ if kind.__doc__)
