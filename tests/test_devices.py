"""Points in arrays of another library: the numbers of NumPy arrays to rounding, and errors in words."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import energystats as es
from energystats.pairs import device
from tests.comparisons import assert_same_test

pytest.importorskip("array_api_compat")


@pytest.fixture(params=["array_api_strict", "torch", "cuda"])
def array(request):
    """A function that makes arrays of a library; "cuda" puts those of torch on a GPU."""
    if request.param == "cuda":
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("no GPU")
        return lambda values: torch.asarray(values, device="cuda")
    return pytest.importorskip(request.param).asarray


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(device, "TILE", 37)
    monkeypatch.setattr(device, "INDICATOR_BYTES", 100_000)


@pytest.fixture
def points(rng):
    X = rng.normal(size=(150, 3))
    X[:40, 0] += rng.uniform(0, 1)
    return X


OPTIONS = {
    "plain": {},
    "f": {"statistic": "f"},
    "power": {"alpha": 0.7},
    "squares": {"alpha": 2},
    "gaussian": {"metric": "gaussian"},
    "exponential": {"metric": es.metrics.Exponential(0.4)},
    "standardized": {"standardize": True},
    "several": {"alpha": [0.5, 1.0]},
    "stopped": {"method": es.Permutation(150, stop_at=4)},
    "binned": {"method": es.Binned(30)},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_numbers_are_those_of_numpy(name, array, points, rng):
    g = np.repeat([0, 1, 2], [40, 60, 50])
    how = {"groups": g, "n_resamples": 150, "rng": 1, **OPTIONS[name]}
    assert_same_test(es.energy_test(array(points), **how), es.energy_test(points, **how))


def test_samples_designs_and_weights(array, points, rng):
    x, y = points[:60], points[60:]
    assert_same_test(
        es.energy_test(array(x), array(y), n_resamples=99, rng=2), es.energy_test(x, y, n_resamples=99, rng=2)
    )
    g, strata, w = rng.integers(0, 2, 150), rng.integers(0, 3, 150), rng.uniform(0.5, 2, 150)
    for how in (
        {"design": es.Design(strata=strata)},
        {"sample_weight": w},
        {"design": es.Design(whole_plots=np.arange(150) // 2), "groups": g[::2].repeat(2)},
    ):
        how = {"groups": g, "n_resamples": 99, "rng": 2, **how}
        assert_same_test(es.energy_test(array(points), **how), es.energy_test(points, **how))


def test_exact_tests(array, rng):
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(5, 2))
    found = es.energy_test(array(x), array(y))
    assert found.method == "exact"
    assert_same_test(found, es.energy_test(x, y))


def test_other_numbers_and_one_column(array, rng):
    for values in (rng.integers(0, 9, (50, 2)).astype(np.int32), rng.normal(size=50).astype(np.float32)):
        g = rng.permutation(np.arange(50) % 2)
        found, expected = es.dispersion(array(values), g), es.dispersion(values, g)
        assert_allclose(found.g, expected.g, rtol=1e-12)


def test_disco(array, points, rng):
    g = rng.integers(0, 3, 150)
    found, expected = (es.disco(X, groups=g, n_resamples=29, rng=1) for X in (array(points), points))
    assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-10)
    data = pd.DataFrame({"g": g.astype(str), "x": rng.normal(size=150)})
    found, expected = (es.disco(X, "~ g * x", data=data, n_resamples=29, rng=1) for X in (array(points), points))
    assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-10)
    assert [row.pvalue_location for row in found.terms[1:]] == [row.pvalue_location for row in expected.terms[1:]]


def test_what_is_refused(array, points):
    X, g = array(points), np.arange(150) % 2
    with pytest.raises(ValueError, match=r'go with metric "euclidean", "exponential", "gaussian", got SciPyMetric'):
        es.dispersion(X, g, metric="cityblock")
    with pytest.raises(ValueError, match=r"`X` is read in blocks of rows, and this needs all 150"):
        es.energy_test(X, groups=g, method="asymptotic")
    with pytest.raises(TypeError, match=r"All samples must be arrays of one library; `sample 2` is ndarray"):
        es.energy_test(X, points)
    with pytest.raises(ValueError, match=r"same number of columns, got 3, 2"):
        es.energy_test(X, X[:, :2])
    points[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"`X` must be finite, but has 1 NaN"):
        es.dispersion(array(points), g)
    with pytest.raises(TypeError, match=r"`X` must hold real numbers, got dtype"):
        es.dispersion(array(points > 0), g)
    with pytest.raises(ValueError, match=r"`X` must not exceed 1e\+150"):
        es.dispersion(array(np.full((4, 2), 1e200)), [0, 0, 1, 1])
