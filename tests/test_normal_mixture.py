"""Two normals against the nearest unimodal density: the fit, the projection, the ratio."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.isotonic import isotonic_regression
from sklearn.mixture import GaussianMixture

from energystats._core.normal_mixture import GROUPS, fit_two_normals, mixture_ratio, plateau

shares = st.floats(0.02, 0.98)
steps = st.floats(0.5, 9.0)


def density(t, share, left, right, sd):
    return share * norm.pdf(t, left, sd) + (1 - share) * norm.pdf(t, right, sd)


def nearest_on_a_grid(f):
    """The antitonic and isotonic fits around every mode, and the one with the largest sum of f log g."""
    best, kept = -np.inf, None
    for mode in range(0, f.size, 4):
        rising = isotonic_regression(f[:mode]) if mode else []
        g = np.concatenate((rising, isotonic_regression(f[mode:], increasing=False)))
        if (value := np.sum(f * np.log(g))) > best:
            best, kept = value, g
    return best, kept


@given(shares, steps)
def test_the_plateau_balances(share, step):
    a, b, level = plateau(share, -1.0, -1.0 + step, 1.0)
    if a == b:
        return
    assert a < b
    mass = share * np.diff(norm.cdf([a, b], -1.0)) + (1 - share) * np.diff(norm.cdf([a, b], -1.0 + step))
    assert_allclose(mass, level * (b - a), rtol=1e-6)
    assert_allclose(density(np.array([a, b]), share, -1.0, -1.0 + step, 1.0), level, rtol=1e-6)


@given(shares, steps)
def test_a_plateau_where_there_are_two_modes(share, step):
    a, b, _ = plateau(share, 0.0, step, 1.0)
    t = np.linspace(-3, step + 3, 20001)
    f = density(t, share, 0.0, step, 1.0)
    modes = np.count_nonzero((f[1:-1] > f[:-2]) & (f[1:-1] > f[2:]))
    if step < 2 or modes == 2:  # a second mode may be narrower than the grid
        assert (a < b) == (modes == 2)


OTHERS = [pytest.param(*case, marks=pytest.mark.slow) for case in ((0.5, 3.0), (0.8, 4.0), (0.2, 4.0), (0.97, 5.0))]


@pytest.mark.parametrize(("share", "step"), [(0.35, 2.6), *OTHERS])
def test_the_plateau_is_the_projection(share, step):
    """No unimodal density on a fine grid is nearer in the divergence of Kullback and Leibler."""
    t = np.linspace(-5, step + 5, 3001)
    f = density(t, share, 0.0, step, 1.0)
    best, _ = nearest_on_a_grid(f)
    a, b, level = plateau(share, 0.0, step, 1.0)
    g = np.where((t > a) & (t < b), level, f)
    assert np.sum(f * np.log(g)) == pytest.approx(best, abs=1e-4)


def test_one_mode_has_no_plateau():
    assert plateau(0.5, 0.0, 1.9, 1.0)[:2] == (0.95, 0.95)
    a, b, level = plateau(0.9999, 0.0, 2.5, 1.0)
    assert (a == b, level) == (True, 0.0)


def test_the_fit_is_that_of_scikit_learn(rng):
    x = np.sort(np.concatenate((rng.normal(0, 1, 200), rng.normal(5, 1, 100))))
    x = (x - x.mean()) / x.std()
    share, left, right, sd = fit_two_normals(x, np.ones(300))
    fitted = GaussianMixture(2, covariance_type="tied", means_init=[[left], [right]], tol=1e-8).fit(x[:, None])
    assert_allclose(np.sort(fitted.means_[:, 0]), [left, right], atol=0.01)
    assert_allclose(fitted.covariances_[0, 0], sd**2, atol=0.01)
    assert_allclose(fitted.weights_[fitted.means_[:, 0].argmin()], share, atol=0.01)


def test_the_ratio_is_its_definition(rng):
    x = np.sort(np.concatenate((rng.normal(0, 1, 60), rng.normal(7, 1, 40))))
    z = (x - x.mean()) / x.std()
    fitted = fit_two_normals(z, np.ones(100))
    a, b, level = plateau(*fitted)
    f = density(z, *fitted)
    g = np.where((z > a) & (z < b), level, f)
    assert mixture_ratio(x) == pytest.approx(np.sum(np.log(f / g)))
    assert mixture_ratio(x) > 5


def test_shift_scale_and_mirror(rng):
    x = np.sort(np.concatenate((rng.normal(0, 1, 60), rng.normal(4, 1, 40))))
    for moved in (1e-6 * x, 50 * x + 1000, np.sort(-x)):
        assert mixture_ratio(moved) == pytest.approx(mixture_ratio(x), abs=1e-6)


@pytest.mark.parametrize(
    "x", [np.zeros(10), np.arange(50.0) ** 0.5 * 0 + 7, np.array([1.0, 2.0]), np.array([0.0] * 9 + [1.0])]
)
def test_degenerate_samples_give_finite_ratios(x):
    assert np.isfinite(mixture_ratio(x))


def test_many_points_are_taken_together(rng):
    """Groups of neighbours change the ratio by little."""
    x = np.sort(np.concatenate((rng.normal(0, 1, 6 * GROUPS), rng.normal(4, 1, 6 * GROUPS))))
    z = (x - x.mean()) / x.std()
    fitted = fit_two_normals(z, np.ones(z.size))
    a, b, level = plateau(*fitted)
    kept = (z > a) & (z < b)
    alone = np.sum(np.log(density(z[kept], *fitted) / level))
    assert mixture_ratio(x) == pytest.approx(alone, rel=0.03)
