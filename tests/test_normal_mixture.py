"""Two or three normals against the nearest unimodal density: the fit, the projection, the ratio."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.isotonic import isotonic_regression
from sklearn.mixture import GaussianMixture

from energystats._core.normal_mixture import (
    GROUPS,
    THIRD,
    _fill_odds,
    _has_one_mode,
    fit_normals,
    mixture_ratio,
    nearest_unimodal_heights,
    split_by_sum_of_squares,
)

masses = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=12)


def in_a_row(rng, k, n=40, step=4.0):
    """k normals of n points each, sorted, with mean 0 and variance 1."""
    x = np.sort(np.concatenate([rng.normal(step * j, 1, n) for j in range(k)]))
    return (x - x.mean()) / x.std()


def divergence(mass, width, heights):
    return np.sum(mass * np.log(mass / (heights * width)))


def nearest_by_search(mass, width):
    """The isotonic and antitonic fits around every mode, and the pair with the smallest divergence."""
    f = mass / width
    fits = []
    for mode in range(f.size + 1):
        left = isotonic_regression(f[:mode], sample_weight=width[:mode]) if mode else np.empty(0)
        right = isotonic_regression(f[mode:], sample_weight=width[mode:], increasing=False) if mode < f.size else []
        fits.append(np.concatenate((left, right)))
    return min(fits, key=lambda heights: divergence(mass, width, heights))


@given(masses, st.integers(0, 2**32 - 1))
def test_the_heights_are_the_projection(mass, seed):
    mass = np.array(mass)
    width = np.random.default_rng(seed).uniform(0.1, 1.0, mass.size)
    heights = nearest_unimodal_heights(mass, width)
    rise = np.sign(np.diff(heights)[np.abs(np.diff(heights)) > 1e-12 * heights.max()])
    assert np.all(np.diff(rise) <= 0)
    assert np.sum(heights * width) == pytest.approx(mass.sum())
    wanted = divergence(mass, width, nearest_by_search(mass, width))
    assert divergence(mass, width, heights) == pytest.approx(wanted, abs=1e-9)


@given(masses, st.integers(0, 2**32 - 1))
def test_densities_of_one_mode_are_those_that_are_their_own_projection(mass, seed):
    mass = np.array(mass)
    width = np.random.default_rng(seed).uniform(0.1, 1.0, mass.size)
    pairs = [(mass, width), (np.round(mass + 0.1, 1), np.ones(mass.size))]  # the second with neighbours alike
    for m, w in pairs:
        own = np.abs(nearest_unimodal_heights(m, w) * w - m).max() < 1e-12
        assert _has_one_mode(m, w) == _has_one_mode.py_func(m, w) == own


def test_one_mode_is_its_own_projection():
    t = np.linspace(-4, 4, 60)
    width = np.ones(60)
    assert_allclose(nearest_unimodal_heights(norm.pdf(t), width), norm.pdf(t))


@pytest.mark.parametrize("k", [2, 3])
def test_the_split_is_the_best_of_all(k, rng):
    x = np.sort(rng.standard_normal(12))
    w = rng.integers(1, 4, 12).astype(float)
    x -= (w * x).sum() / w.sum()

    def within(cuts):
        parts = np.split(np.arange(12), cuts)
        return sum(np.sum(w[p] * (x[p] - np.average(x[p], weights=w[p])) ** 2) for p in parts)

    wanted = min(itertools.combinations(range(1, 12), k - 1), key=within)
    assert split_by_sum_of_squares(x, w, k)[: k - 1] == wanted
    assert k == 3 or split_by_sum_of_squares(x, w, k)[1] == 12


@pytest.mark.parametrize("k", [2, 3])
def test_the_fit_is_that_of_scikit_learn(k, rng):
    x = in_a_row(rng, k, 150, step=6.0)
    share, mean, sd = fit_normals(x, np.ones(x.size), k)
    assert share.size == mean.size == 3
    assert not share[k:].any()
    assert not mean[k:].any()
    share, mean = share[:k], mean[:k]
    fitted = GaussianMixture(k, covariance_type="tied", means_init=mean[:, None], tol=1e-8).fit(x[:, None])
    order = fitted.means_[:, 0].argsort()
    assert_allclose(fitted.means_[order, 0], mean, atol=0.01)
    assert_allclose(fitted.covariances_[0, 0], sd**2, atol=0.01)
    assert_allclose(fitted.weights_[order], share, atol=0.01)


def test_the_ratio_is_its_definition(rng):
    """Two clusters far apart: the third normal gains less than it costs, and its ratio is left."""
    x = np.sort(np.concatenate((rng.normal(0, 1, 30), rng.normal(12, 1, 20))))
    z = (x - x.mean()) / x.std()
    middle = (z[1:] + z[:-1]) / 2
    edges = np.concatenate(([2 * z[0] - middle[0]], middle, [2 * z[-1] - middle[-1]]))
    ratios = []
    for k in (2, 3):
        share, mean, sd = fit_normals(z, np.ones(50), k)
        mass = np.diff((share * norm.cdf(edges[:, None], mean, sd)).sum(axis=1))
        ratios.append(np.sum(np.log(mass / (nearest_by_search(mass, np.diff(edges)) * np.diff(edges)))))
    assert mixture_ratio(x) == pytest.approx(max(ratios[0], ratios[1] - THIRD), abs=1e-6)
    assert mixture_ratio(x) > 5


def test_one_mode_has_ratio_zero():
    """Exactly, so that columns without modes tie."""
    x = norm.ppf(np.arange(0.5, 60) / 60)
    for moved in (x, x + 7, -1e-5 * x[::-1]):
        assert mixture_ratio(moved) == 0


def test_points_far_out_leave_the_ratio_what_it_is(rng):
    """Probabilities of the cells there are rounding."""
    for _ in range(20):
        x = np.sort(rng.standard_t(2, 80))
        for moved in (x + 7, np.sort(-x), 3 * x):
            assert mixture_ratio(moved) == pytest.approx(mixture_ratio(x), abs=1e-6)


def test_a_third_cluster_is_seen(rng):
    """Three in a line are much clearer than any two of their normals."""
    assert mixture_ratio(in_a_row(rng, 3, 400)) > 20


def test_shift_scale_and_mirror(rng):
    x = in_a_row(rng, 2)
    for moved in (1e-6 * x, 50 * x + 1000, np.sort(-x)):
        assert mixture_ratio(moved) == pytest.approx(mixture_ratio(x), abs=1e-6)


@pytest.mark.parametrize(
    "x", [np.zeros(10), np.full(50, 7.0), np.array([1.0, 2.0]), np.array([0.0] * 9 + [1.0]), np.arange(3.0)]
)
def test_degenerate_samples_give_finite_ratios(x):
    assert np.isfinite(mixture_ratio(x))


def test_many_points_are_taken_together(monkeypatch):
    """Groups of neighbours change the ratio by little."""
    quantiles = norm.ppf(np.linspace(0.01, 0.99, 3 * GROUPS))
    x = np.sort(np.concatenate((quantiles, quantiles + 4)))
    together = mixture_ratio(x)
    loops = mixture_ratio.py_func.__globals__
    monkeypatch.setitem(loops, "_average_neighbours", lambda x: (x.copy(), np.ones(x.size)))
    assert together == pytest.approx(mixture_ratio.py_func(x), rel=0.05)


def test_odds_are_the_exponential_function_to_twelve_digits():
    x = np.linspace(-55.0, 55.0, 1201)
    odds = np.empty(x.size)
    for fill in (_fill_odds, _fill_odds.py_func):
        fill(x, 0.5, 0.7, odds)
        assert_allclose(odds, np.exp(0.5 + 0.7 * x), rtol=3e-12)
