"""One sweep over every public name: documented in full, immutable results, errors that name the argument."""

import dataclasses
import doctest
import functools
import importlib
import inspect
import pickle
import re
import subprocess
import sys
import types

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import validate
from scipy import stats

import energystats as es
from energystats.display.result import Result, VerdictFirst
from energystats.display.sentences import Caution
from energystats.distribution_tests import results as method_results
from tests.conftest import sweep

mpl.use("Agg")

FUNCTIONS = [name for name in es.__all__ if inspect.isfunction(getattr(es, name))]
CLASSES = [name for name in es.__all__ if inspect.isclass(getattr(es, name))]
RESULTS = [name for name in CLASSES if issubclass(getattr(es, name), Result)]
METHOD_RESULTS = [getattr(method_results, name) for name in method_results.__all__ if name.endswith("Result")
                  and name not in RESULTS]  # fmt: skip
WARNINGS = [name for name in CLASSES if issubclass(getattr(es, name), Warning)]
MAKERS = [f"energystats.datasets.{name}" for name, f in vars(es.datasets).items()
          if inspect.isfunction(f) and name in es.datasets.__all__ and name != "load"]  # fmt: skip
ALGORITHMS = ["Hartigan", "Lloyd", "Exact1D", "Spectral", "Landmarks"]
METRICS = [name for name in es.metrics.__all__ if inspect.isclass(getattr(es.metrics, name))]
DOCUMENTED = [
    *(f"energystats.{name}" for name in [*FUNCTIONS, "EnergyClustering", *ALGORITHMS]),
    *(f"energystats.{name}" for name in ["Design", "Permutation", "Sliced", "Binned"]),
    *(f"energystats.metrics.{name}" for name in es.metrics.__all__ if name != "Metric"),
    "energystats.datasets.load",
    "energystats.datasets.groups",
    *MAKERS,
]
# what numpydoc may complain of: our Returns are unnamed, sections of classes vary, first lines need not be imperative
LONG = ("cluster_stability", "cluster_tree", "cluster_test", "validate_clusters", "energy_power", "goodness_of_fit")
TOLERATED = {"GL01", "GL02", "GL03", "SS05", "SS06", "ES01", "SA01", "SA04", "EX01", "RT02", "RT03", "PR01", "PR02",
             "PR06", "PR08", "PR09", "YD01", "GL08", "RT01", "SS03", "PR10"}  # fmt: skip


def resolve(name):
    home, last = name.rsplit(".", 1)
    return getattr(importlib.import_module(home), last)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_are_numpydoc(name):
    target, last = resolve(name), name.rsplit(".", 1)[1]
    problems = [p for p in validate(f"{target.__module__}.{last}")["errors"] if p[0] not in TOLERATED]
    assert problems == []


@pytest.mark.parametrize("name", [*(f"energystats.{name}" for name in FUNCTIONS), *MAKERS])
def test_functions_are_documented_in_full(name):
    function = resolve(name)
    doc = FunctionDoc(function)
    documented = {n.strip("* ") for p in doc["Parameters"] for n in p.name.split(",")}
    assert documented == set(inspect.signature(function).parameters), "parameters"
    for section in ("Returns", "Raises", "See Also", "Notes", "References", "Examples"):
        assert doc[section], f"no {section}"
    notes = " ".join(doc["Notes"])
    assert "O(" in notes, "the cost in n is not given"
    assert "memory" in notes or name.endswith("accuracy"), "the memory is not given"


@pytest.mark.parametrize("name", sweep(DOCUMENTED, [name for name in DOCUMENTED if not name.endswith(LONG)]))
def test_examples_run(name):
    target = resolve(name)
    tests = doctest.DocTestFinder(recurse=False).find(target, globs={})
    assert any(test.examples for test in tests), "no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        assert runner.run(test).failed == 0


def documented_attributes(cls):
    """Name -> type, as the Attributes sections of a class and its bases have them."""
    found = {}
    for base in reversed(cls.__mro__[:-1]):
        if base.__doc__:
            options = {"show_class_members": False, "show_inherited_class_members": False}
            for entry in ClassDoc(base, config=options)["Attributes"]:
                found |= {name.strip(): entry.type for name in entry.name.split(",")}
    return found


def public_attributes(cls):
    """Fields, and properties with the first line of their docstrings."""
    found = {field.name: "" for field in dataclasses.fields(cls)}
    for name in dir(cls):
        attribute = inspect.getattr_static(cls, name)
        if isinstance(attribute, property):
            found[name] = (attribute.__doc__ or "").strip()
    return {name: text for name, text in found.items() if not name.startswith("_")}


@pytest.mark.parametrize("cls", [getattr(es, name) for name in RESULTS] + METHOD_RESULTS, ids=lambda cls: cls.__name__)
def test_attributes_of_results_are_documented_and_those_documented_exist(cls):
    documented, public = documented_attributes(cls), public_attributes(cls)
    assert [name for name, text in public.items() if name not in documented and not text] == []
    assert set(documented) <= set(public)


PLAIN = {"float": float, "int": int, "bool": bool, "str": str, "tuple": tuple, "ndarray": np.ndarray,
         "pandas.DataFrame": pd.DataFrame, "pandas.Index": pd.Index,
         "mapping": types.MappingProxyType, "None": type(None)}  # fmt: skip


def fits(value, documented):
    """Whether a value is of a type as docstrings write it: "float or None", "ndarray of shape (n,)", "{'a', 'b'}"."""
    names = [base.__name__ for base in type(value).__mro__]
    for part in re.split(r",? or ", documented):
        if part.startswith("{"):
            return repr(value).replace("'", '"') in re.findall(r'"[^"]*"|None', documented)
        word = re.match(r"[\w.]*", part)[0]
        if word in names or isinstance(value, PLAIN.get(word, ())):
            return True
    return False


def test_values_have_the_types_that_are_documented(result):
    wrong = []
    for name, documented in documented_attributes(type(result)).items():
        value = getattr(result, name)
        if not fits(value, documented):
            wrong.append(f"{name} is {value!r:.80}, documented as {documented}")
    assert wrong == []


def test_another_type_than_the_documented_one_is_noticed():
    assert fits(1.0, "float or None")
    assert fits(None, "ndarray of shape (n,) or None")
    assert fits("b", '{"a", "b"}')
    assert fits(None, '{None, "b"}')
    assert not fits("c", '{"a", "b"}')
    assert not fits(1, "float")
    assert not fits(np.ones(2), "tuple of float")


@pytest.mark.parametrize("name", [name for name in es.__all__ if callable(getattr(es, name)) and name not in RESULTS])
def test_at_most_fifteen_parameters(name):
    """Samples counted; results, which nobody calls, aside."""
    if name not in WARNINGS:
        assert len(inspect.signature(getattr(es, name)).parameters) <= 15


@pytest.mark.parametrize("name", es.__all__)
def test_docstrings_fit_eighty_lines(name):
    """Measured levels, memory and Dask stand in pages of the site."""
    assert len(getattr(es, name).__doc__.splitlines()) <= 80


def test_every_name_is_reachable_and_listed():
    assert set(es.__all__) <= set(dir(es))
    for name in es.__all__:
        assert getattr(es, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'energy_tets'"):
        _ = es.energy_tets
    assert all(issubclass(getattr(es, name), es.EnergyStatsWarning) for name in WARNINGS)
    assert callable(es.dispersion)


@pytest.mark.slow
def test_the_report_is_reachable_from_the_package_alone():
    code = "import energystats as es; assert 'report' in dir(es); es.report.cluster_report"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def make_results():
    """Name -> call that makes a result; a name begins with that of the class."""
    rng = np.random.default_rng(0)
    X, g = rng.standard_normal((40, 2)), np.repeat(["a", "b"], 20)
    X[20:] += 4
    R = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    wide = rng.standard_normal((20, 30))
    frame = pd.DataFrame({"g": g, "x": X[:, 1]})
    mixed = pd.DataFrame({"x": np.where(X[:, 0] > 5, np.nan, X[:, 0]), "kind": np.arange(40) % 3 > 0, "g": g})
    few, fewer, names = {"n_resamples": 99, "rng": 0}, {"n_resamples": 19, "rng": 0}, list(range(9, 49))
    return {
        "Dispersion": lambda: es.dispersion(X, g),
        "EnergyTestResult": lambda: es.energy_test(X, groups=g, **few),
        "EnergyTestResult exact": lambda: es.energy_test(X[:6], groups=[1, 1, 2, 2, 3, 3], rng=0, statistic="f"),
        "EnergyIntervalResult": lambda: es.energy_interval(X[:20], X[20:], n_bootstrap=99, rng=0),
        "EnergyIntervalResult gower": lambda: es.energy_interval(
            mixed[["kind", "g"]], groups=frame["g"], metric="gower", n_bootstrap=39, rng=0
        ),
        "GoodnessOfFitResult": lambda: es.goodness_of_fit(X, lambda size, rng: rng.random((size, 2)), **few),
        "GoodnessOfFitResult estimated": lambda: es.goodness_of_fit(
            np.arange(12) % 5, stats.poisson, estimate=True, **fewer
        ),
        "GoodnessOfFitResult normal": lambda: es.normality_test(X, **few),
        "PowerResult": lambda: es.energy_power(X[:20], X[20:], [3, 9], n_replicates=20, **fewer),
        "DiscoResult": lambda: es.disco(X, groups=np.arange(40) % 3, **fewer),
        "DiscoResult exact": lambda: es.disco(X[:6], groups=[1, 1, 2, 2, 3, 3]),
        "DiscoResult terms": lambda: es.disco(X, "~ g * x", data=frame, decomposition="marginal", **fewer),
        "DiscoResult strata": lambda: es.disco(X, "~ g + x", data=frame, design=es.Design(strata="g"), **fewer),
        "DiscoResult nothing": lambda: es.disco(np.ones((40, 2)), "~ g + x", data=frame, **fewer),
        "EnergyTestResult asymptotic": lambda: es.energy_test(X, groups=g, method="asymptotic"),
        "EnergyTestResult cross": lambda: es.energy_test(X, groups=g, method="cross", rng=0),
        "EnergyTestResult sliced": lambda: es.energy_test(X, groups=g, method=es.Sliced(n_bins=8), **few),
        "EnergyTestResult binned": lambda: es.energy_test(X, groups=g, method=es.Binned(12), **few),
        "EnergyTestResult min p": lambda: es.energy_test(X, groups=g, alpha=[0.5, 2], **few),
        "EnergyTestResult plots": lambda: es.energy_test(
            X, groups=g, design=es.Design(whole_plots=np.arange(40) // 2), **few
        ),
        "EnergyTestResult gower": lambda: es.energy_test(mixed[["kind", "g"]], groups=g, metric="gower", **few),
        "PairwiseTestsResult": lambda: es.pairwise_tests(X, np.arange(40) % 3, **fewer),
        "SpreadTestResult": lambda: es.spread_test(X, np.arange(40) % 3, **fewer),
        "SpreadTestResult plots": lambda: es.spread_test(
            R**2, g, metric="precomputed", center="centroid", design=es.Design(whole_plots=np.arange(40) // 2), **few
        ),
        "Segmentation": lambda: es.segment(X, 3),
        "Segmentation penalty": lambda: es.segment(frame[["x"]], penalty=2.0, order=names),
        "Segmentation matrix": lambda: es.segment(R, 2, metric="precomputed", min_size=5),
        "SegmentTestResult": lambda: es.segment_test(X, **fewer),
        "SegmentTestResult exact": lambda: es.segment_test(X[17:23], standardize=True),
        "SegmentTestResult blocks": lambda: es.segment_test(mixed, metric="gower", block_length=6, **fewer),
        "Partition": lambda: es.energy_cluster(X, 3, rng=0),
        "Partition 1-d": lambda: es.cluster_1d(X[:, 0]),
        "Partition 1-d, many": lambda: es.cluster_1d(np.r_[X[:, 0], 1e3 * np.arange(9)], 12, alpha=2),
        "Partition 1-d, not exact": lambda: es.energy_cluster(X[:, 0], 3, alpha=0.5, rng=0),
        "Partition mahalanobis": lambda: es.energy_cluster(X, 3, metric="mahalanobis", rng=0),
        "Partition matrix": lambda: es.energy_cluster(R, 9, metric="precomputed", rng=0),
        "Partition gower": lambda: es.energy_cluster(mixed, 3, metric="gower", rng=0),
        "Partition wide": lambda: es.energy_cluster(wide, 2, rng=0, standardize=True),
        "NegativeTypeResult": lambda: es.negative_type(R),
        "NegativeTypeResult fails": lambda: es.negative_type(R**4),
        "NegativeTypeResult points": lambda: es.negative_type(X, metric="gaussian"),
        "Euclidization": lambda: es.lingoes(R**2),
        "Euclidization cailliez": lambda: es.cailliez(R**2),
        "Euclidization clip": lambda: es.clip_spectrum(R**2),
        "Euclidization unchanged": lambda: es.flip_spectrum(R),
        "Euclidization kernel": lambda: es.lingoes_kernel(np.eye(3) - 1.0),
        "Euclidization one point": lambda: es.lingoes([[0.0]]),
        "PrincipalCoordinates": lambda: es.principal_coordinates(R**2),
        "PrincipalCoordinates corrected": lambda: es.principal_coordinates(R**2, "cailliez"),
        "PrincipalCoordinates nothing": lambda: es.principal_coordinates(np.zeros((3, 3))),
        "PrincipalCoordinates kernel": lambda: es.kernel_pca(X, kernel="gaussian"),
        "EuclidizationComparison": lambda: es.compare_euclidizations(R**2, 3, rng=0),
        "GraphPartition": lambda: es.graph_partition(R < 1, 3, cut="association", rng=0),
        "GraphPartition names": lambda: es.graph_partition(pd.DataFrame(np.exp(-R), names, names), 2, rng=0),
        "GraphPartition normalized": lambda: es.graph_partition(np.exp(-R), 9, cut="normalized", rng=0),
        "GraphPartition weights": lambda: es.graph_partition(1.0 * (R < 3), 2, sample_weight=1 + X[:, 0] ** 2, rng=0),
        "SpectralEmbedding": lambda: es.spectral_embedding(X),
        "SpectralEmbedding laplacian": lambda: es.spectral_embedding(X, laplacian=True, standardize=True),
        "SpectralEmbedding nothing": lambda: es.spectral_embedding(np.ones((5, 2))),
        "Partition spectral": lambda: es.energy_cluster(X, 3, algorithm="spectral", rng=0),
        "Partition landmarks": lambda: es.energy_cluster(X, 3, algorithm=es.Landmarks(n_landmarks=9), rng=0),
        "Partition landmarks, gower": lambda: es.energy_cluster(
            mixed[["g"]], 2, metric="gower", algorithm="landmarks", rng=0
        ),
        "SelectKResult": lambda: es.select_k(X[8:32], 4, compare="all", stability=True, n_resamples=9, n_init=2, rng=0),
        "SelectKResult gap": lambda: es.select_k(R, 4, metric="precomputed", n_init=2, rng=0),
        "SelectKResult eigengap": lambda: es.select_k(mixed, 4, "eigengap", metric="gower", n_init=2, rng=0),
        "SelectKResult significance": lambda: es.select_k(X[:, 0], 4, "significance", n_init=2, rng=0),
        "SelectKResult nothing": lambda: es.select_k(np.ones((4, 2))),
        "ClusterStabilityResult": lambda: es.cluster_stability(X, 3, n_resamples=9, n_init=2, rng=0),
        "ClusterStabilityResult one point": lambda: es.cluster_stability([1.0], 1, n_resamples=2),
        "ClusterTestResult": lambda: es.cluster_test(X, 3, **fewer),
        "ClusterTestResult 1-d": lambda: es.cluster_test(X[:, 0], rng=0),
        "ClusterTestResult refit": lambda: es.cluster_test(X, 3, method="refit", n_resamples=9, rng=0),
        "ClusterTestResult gaussian": lambda: es.cluster_test(X, method="refit", null="gaussian", n_resamples=9, rng=0),
        "ClusterTestResult independent": lambda: es.cluster_test(
            mixed, method="refit", null="independent", metric="gower", n_resamples=9, rng=0
        ),
        "ClusterTestResult crossfit": lambda: es.cluster_test(X, method="crossfit", n_resamples=9, rng=0),
        "ClusterTestResult clusterer": lambda: es.cluster_test(X, clusterer=es.EnergyClustering(3, n_init=1), **fewer),
        "ClusterValidationResult": lambda: es.validate_clusters(X, 3, outside=g, **fewer),
        "ClusterValidationResult labels": lambda: es.validate_clusters(X, partition=np.arange(40) % 3 - 1, **fewer),
        "ClusterValidationResult gower": lambda: es.validate_clusters(mixed, 2, metric="gower", **fewer),
        "ClusterValidationResult one": lambda: es.validate_clusters(X[:5], 1, **fewer),
        "ClusterTreeResult": lambda: es.cluster_tree(X, n_resamples=49, rng=0),
        "ClusterTreeResult 1-d": lambda: es.cluster_tree(X[:, 0], standardize=True, rng=0),
        "ClusterTreeResult nothing": lambda: es.cluster_tree(X[:5]),
        "ClusterTestResult nothing": lambda: es.cluster_test(np.ones((20, 2)), rng=0),
    }


MAKERS_OF_RESULTS = make_results()
CASES = list(MAKERS_OF_RESULTS)
# two of every class and the several terms of `disco` run always
FAST = [name for i, name in enumerate(CASES) if sum(other.split()[0] == name.split()[0] for other in CASES[:i]) < 2]
CASES = sweep(CASES, [*FAST, "DiscoResult terms"])


@functools.cache
def case(name):
    """One result, made when the first test asks for it."""
    return MAKERS_OF_RESULTS[name]()


def test_every_result_class_has_a_case():
    assert {name.split()[0] for name in MAKERS_OF_RESULTS} == set(RESULTS)


@pytest.fixture(params=CASES)
def result(request):
    return case(request.param)


def test_notes_are_sentences_of_the_summary(result):
    """Below a verdict stand those alone that change how it is read, and how many there are."""
    summary = " ".join(result.summary().split())
    assert isinstance(result.notes, tuple)
    for note in result.notes:
        assert note[-1] in ".)", note
        if not isinstance(result, VerdictFirst):
            assert " ".join(note.split()) in summary
        elif isinstance(note, Caution) and "no room" not in summary:
            assert note.startswith(note.short)
            assert f"Caution: {' '.join(note.short.split())}" in summary
    if isinstance(result, VerdictFirst):
        for text in result._rests_on():
            assert text in result.notes or " ".join(text.split()) in summary
        assert f"{len(result.notes)} note" in summary
        assert summary.endswith("see `.notes`.")


def test_results_are_immutable(result):
    for name in [entry.name for entry in dataclasses.fields(result)]:
        with pytest.raises(AttributeError):
            setattr(result, name, 0)
        value = getattr(result, name)
        if isinstance(value, np.ndarray) and value.size:
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        assert not isinstance(value, dict | list | set), f"{name} can be changed"
    with pytest.raises((AttributeError, TypeError)):
        result.anything = 0


def parts_of(value, path=""):
    """Path and value of all that a result holds or works out without arguments, inside tuples and parts, too."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = {entry.name for entry in dataclasses.fields(value)}
        names |= {name for name in dir(type(value)) if isinstance(inspect.getattr_static(type(value), name), property)}
        for name in sorted(names):
            if not name.startswith("_"):
                yield from parts_of(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, tuple | list | types.MappingProxyType | dict):
        for key, part in enumerate(value) if isinstance(value, tuple | list) else value.items():
            yield from parts_of(part, f"{path}[{key!r}]")
    else:
        yield path, value


def test_what_results_hold_is_plain_and_cannot_be_changed(result):
    """Numbers are those of Python, and arrays are read-only or recomputed at every access."""
    again = dict(parts_of(result))
    for path, value in parts_of(result):
        assert not isinstance(value, np.generic), f"{path} is {value!r}"
        if isinstance(value, np.ndarray) and value.flags.writeable:
            assert not np.shares_memory(value, again[path]), f"{path} can be changed"


def test_functions_that_return_no_result_return_plain_numbers():
    X, R = np.arange(8.0), np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    found = [
        es.energy_distance(X, 2 * X),
        es.energy_distance(X, 2 * X, estimator="u", method="sliced", rng=0),
        es.mmd2(X, 2 * X),
        es.mmd2(X, 2 * X, estimator="u"),
        es.clustering_accuracy([0, 1], [1, 0]),
        es.is_euclidean(R),
        es.equivalent_kernels(np.eye(3), np.eye(3) + 1),
        es.EnergyClustering(2, random_state=0).fit(X[:, None]).score(X[:, None]),
    ]
    assert [type(value) for value in found] == 5 * [float] + 2 * [bool] + [float]


def test_repr_is_one_plain_line(result):
    text = repr(result)
    assert text.startswith(type(result).__name__ + "(")
    assert "\n" not in text
    assert "np." not in text
    assert len(text) < 500


def test_summary_frame_and_html(result, capsys):
    text = result.summary()
    assert str(result) == text
    assert len(text.splitlines()) > 4
    assert "nan" not in text.lower().replace("unimodal", "") or type(result).__name__ == "Partition"
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert result.to_frame().shape[0] >= 1
    assert result._repr_html_().count("<table") == len(result._tables())
    assert capsys.readouterr().out == ""


def test_plots_return_their_axes(result):
    import matplotlib.pyplot as plt

    _, given = plt.subplots()
    assert result.plot(ax=given) is given
    assert given.has_data() or given.texts
    assert isinstance(result.plot(), mpl.axes.Axes)
    plt.close("all")


def test_results_survive_pickling(result):
    copy = pickle.loads(pickle.dumps(result))
    assert repr(copy) == repr(result)
    assert copy.summary() == result.summary()


def test_results_do_not_compare_by_content(result):
    assert result == result
    assert result != case("Dispersion") or result is case("Dispersion")


@pytest.mark.parametrize("name", METRICS)
def test_metrics_print_as_code(name):
    metric = getattr(es.metrics, name)
    made = {
        "Kernel": lambda: metric("rbf", gamma=1.0),
        "SciPyMetric": lambda: metric("cityblock"),
        "CallableMetric": lambda: metric(np.subtract),
        "Metric": lambda: es.metrics.Euclidean(),
    }.get(name, metric)()
    assert isinstance(made, es.metrics.Metric)
    assert "object at" not in repr(made)
    assert made.negative_type in (True, False, None)


def run_python(code, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.slow  # that of the import alone is seen in test_environment.py
def test_import_is_light():
    """Neither the import nor a distance needs a compiler or what is large; the import alone: test_environment.py."""
    heavy = ["numba", "sklearn", "matplotlib", "statsmodels", "scipy.stats", "formulaic", "tqdm"]
    done = run_python(
        "import sys, energystats as es; es.energy_distance([1.0, 2.0], [3.0]); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.slow  # compiles; that there is no cache then is seen in test_environment.py
def test_a_cache_that_cannot_be_written_does_no_harm():
    code = (
        "import numba.core.caching as c\n"
        "def none(*a, **k): raise RuntimeError('cannot cache function: no locator available')\n"
        "c.CacheImpl.__init__ = none\n"
        "import numpy as np, energystats as es\n"
        "print(es.energy_hclust(np.array([[0.0], [1.0], [5.0]]))[0].tolist())\n"
        "from energystats._core.linkage import _merge_rows as loop\n"
        "print(type(loop._cache).__name__, len(loop.signatures))\n"
    )
    done = run_python(code)
    assert done.stdout.splitlines() == ["[0.0, 1.0, 1.0, 2.0]", "NullCache 1"], done.stderr
