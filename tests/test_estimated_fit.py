"""Goodness of fit with parameters that are estimated: R's statistic, definitions, levels, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import energystats as es
from benchmarks.poisson_fit import m_statistics
from energystats._core.labelings import draw_key, stream_of
from energystats.distribution_tests.estimated_fit import Family, find_atoms

FEW = {"n_resamples": 19, "rng": 0}


@pytest.mark.parametrize(
    ("x", "statistic"),
    [  # energy 1.7-11 in R 4.2.2: poisson.e(as.integer(x))
        ([0, 2, 1, 3, 5, 2, 2, 4, 0, 1, 7, 3], 0.497901683432085),
        ([12, 15, 9, 30, 22, 18, 11, 14, 17, 25, 8, 13, 16], 4.76599858992314),
    ],
)
def test_poisson_of_r(x, statistic):
    found = es.goodness_of_fit(x, stats.poisson, estimate=True, **FEW)
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert (found.estimated, found.reference, found.n_reference) == (True, "exact", 0)
    assert found.distribution == f"poisson({np.mean(x):g}), parameters estimated"


OF_COUNTS = [stats.poisson(3.2), stats.geom(0.3), stats.bernoulli(0.2), stats.binom(7, 0.6)]


@given(st.sampled_from(OF_COUNTS), st.integers(0, 99))
def test_atoms_match_their_definition(distribution, seed):
    x = distribution.rvs(size=6, random_state=np.random.default_rng(seed)).astype(float)
    values = np.arange(0, 200)
    p = distribution.pmf(values)
    across = np.mean([p @ abs(v - values) for v in x])
    own = p @ abs(np.subtract.outer(values, values)) @ p
    within = np.abs(np.subtract.outer(x, x)).mean()
    atoms = find_atoms(distribution)
    assert atoms.compare(x[None, :, None])[0] == pytest.approx(6 * (2 * across - own - within), abs=1e-10)
    assert atoms.scale == pytest.approx(own)


def test_no_atoms_without_whole_numbers():
    assert find_atoms(stats.norm()) is None
    assert find_atoms(stats.poisson(1e14)) is None
    assert find_atoms(lambda size, rng: rng.normal(size=size)) is None


def test_every_simulated_sample_is_compared_with_its_own_fit():
    """By a loop over the same draws."""
    x = np.random.default_rng(3).poisson(2, 15)
    found = es.goodness_of_fit(x, stats.poisson, estimate=True, n_resamples=9, rng=5)
    stream = stream_of(draw_key(np.random.default_rng(5)), 0)
    for value in found.null_distribution:
        sample = stats.poisson(x.mean()).rvs(size=15, random_state=stream).astype(float)
        expected = find_atoms(stats.poisson(sample.mean())).compare(sample[None, :, None])[0]
        assert value == pytest.approx(expected)
    assert found.pvalue == (1 + (found.null_distribution >= found.statistic - 1e-12).sum()) / 10


def test_continuous_families_are_fitted_by_scipy():
    x = np.random.default_rng(1).normal(3, 2, size=25)
    found = es.goodness_of_fit(x, stats.norm, estimate=True, n_reference=400, **FEW)
    fixed = es.goodness_of_fit(x, stats.norm(*stats.norm.fit(x)), n_reference=400, **FEW)
    assert found.statistic == pytest.approx(fixed.statistic)
    assert found.distribution == f"{fixed.distribution}, parameters estimated"
    assert found.null_hypothesis == "the sample comes from a distribution of the family norm"
    assert (found.estimated, fixed.estimated) == (True, False)
    # parameters that were estimated make the other p too large
    assert found.null_distribution.mean() < fixed.null_distribution.mean()


TWO_PEAKS = np.r_[stats.norm.rvs(2, 0.3, size=40, random_state=0), stats.norm.rvs(5, 0.3, size=60, random_state=100)]


@pytest.mark.slow
def test_fits_that_end_far_away_do_not_hide_a_misfit():
    """SciPy's search in families with a free location: of 199 such fits 44 had statistics up to 500, and p was .2."""
    x = TWO_PEAKS
    found = es.goodness_of_fit(x, stats.weibull_min, estimate=True, n_resamples=39, rng=0)
    assert found.null_distribution.max() < found.statistic
    assert found.pvalue == pytest.approx(1 / 40)


@pytest.mark.parametrize("family", [stats.weibull_min, stats.gamma, stats.lognorm], ids=lambda family: family.name)
def test_fits_of_simulated_samples_are_as_likely_as_what_they_were_drawn_from(family):
    fitted = Family.of(family, True).fitted(TWO_PEAKS[:, None], "`X`")[0]
    again = Family.of(family, True).beginning_at(fitted)
    for seed in range(6):
        x = fitted.rvs(size=60, random_state=seed)
        assert family.nnlf(again.estimate(x).args, x) <= family.nnlf(fitted.args, x) + 1e-9


def test_a_function_may_estimate():
    x = np.random.default_rng(1).gamma(2, size=25)
    found = es.goodness_of_fit(x, stats.gamma, estimate=lambda x: stats.gamma(*stats.gamma.fit(x, floc=0)), **FEW)
    assert found.distribution.startswith("gamma(")
    assert ", 0, " in found.distribution
    X = np.random.default_rng(2).normal(size=(20, 2))
    several = es.goodness_of_fit(
        X, stats.multivariate_normal, estimate=lambda x: stats.multivariate_normal(x.mean(axis=0), np.cov(x.T)), **FEW
    )
    assert (several.reference, several.d) == ("draws", 2)


@pytest.mark.parametrize(
    ("family", "estimate", "error", "match"),
    [
        (stats.poisson(3), True, TypeError, r"must be a family such as `scipy.stats.poisson`.*got a frozen one"),
        (stats.nbinom, True, ValueError, r"`estimate=True` knows bernoulli, geom, poisson and .* not `nbinom`"),
        (stats.beta, True, ValueError, r"support of beta has two ends.*=lambda x: stats.beta\(\*stats.beta.fit"),
        (stats.truncnorm, True, ValueError, r"support of truncnorm has two ends.* floc=0, fscale=1\)\)`"),
        (stats.poisson, "mle", TypeError, r"`estimate` must be True, False or a function of the sample, got str"),
        (stats.poisson, 1, TypeError, r"`estimate` must be True, False or a function"),
        (stats.norm, lambda x: 3.0, TypeError, r"`estimate` must return a frozen distribution or a sampler, got float"),
        (stats.norm, lambda x: stats.norm, TypeError, r"`estimate` must be fully specified, got the family `norm`"),
    ],
)
def test_bad_input(family, estimate, error, match):
    with pytest.raises(error, match=match):
        es.goodness_of_fit([1.0, 2.0, 4.0], family, estimate=estimate, **FEW)


@pytest.mark.slow
def test_families_without_shapes_may_have_two_ends():
    x = np.random.default_rng(1).random(20)
    for family in (stats.uniform, stats.arcsine, stats.genpareto):  # the last one has an end at infinity for c >= 0
        assert 0 < es.goodness_of_fit(x, family, estimate=True, **FEW).pvalue <= 1


def test_ends_may_be_held():
    x = np.random.default_rng(1).beta(2, 3, size=30)
    fit = lambda x: stats.beta(*stats.beta.fit(x, floc=0, fscale=1))  # noqa: E731
    found = es.goodness_of_fit(x, stats.beta, estimate=fit, **FEW)
    assert found.distribution.startswith("beta(")
    assert ", 0, 1)" in found.distribution


def test_a_fit_that_cannot_give_the_sample_is_no_verdict_on_the_family():
    """SciPy's search put the end of the support above two values, and the summary called a true null false."""
    x = np.random.default_rng(1).weibull(1.5, 40)
    inside = stats.weibull_min(1.2, 0.15, 1.0)
    assert (x < 0.15).any()
    found = es.goodness_of_fit(x, stats.weibull_min, estimate=lambda x: inside, **FEW)
    assert "The fitted distribution cannot give this sample: " in found.notes[0]
    assert "No verdict: the fitted distribution cannot give this sample" in found.summary()
    assert "is false" not in found.summary()

    class EndInside(type(stats.weibull_min)):
        def fit(self, *args, **kwargs):
            return inside.args

    found = es.goodness_of_fit(x, EndInside(name="weibull_min", a=0.0), estimate=True, **FEW)
    assert "`estimate=lambda x: stats.weibull_min(*stats.weibull_min.fit(x, floc=0))`" in found.notes[0]
    assert "is false" not in found.summary()
    held = es.goodness_of_fit(
        x, stats.weibull_min, estimate=lambda x: stats.weibull_min(*stats.weibull_min.fit(x, floc=0)), **FEW
    )
    assert held.notes == ()


@pytest.mark.parametrize("x", [[0, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1]])
def test_samples_that_every_member_of_a_family_fits_are_told(x):
    found = es.goodness_of_fit(x, stats.bernoulli, estimate=True, **FEW)
    assert found.pvalue == 1
    assert found.notes == ("All 19 simulated samples have this statistic: p says nothing.",)
    assert found.notes[0] in found.summary()


@pytest.mark.skipif(not hasattr(stats, "Binomial"), reason="SciPy without its newer classes")
def test_newer_classes_may_be_estimated():
    x = np.random.default_rng(1).normal(3, 2, size=25)
    new = es.goodness_of_fit(x, stats.Normal, estimate=lambda x: stats.Normal(mu=x.mean(), sigma=x.std()), **FEW)
    old = es.goodness_of_fit(x, stats.norm, estimate=lambda x: stats.norm(x.mean(), x.std()), **FEW)
    assert new.statistic == pytest.approx(old.statistic)
    assert new.notes == ()
    x = np.random.default_rng(1).binomial(7, 0.4, size=25)
    new = es.goodness_of_fit(x, stats.Binomial, estimate=lambda x: stats.Binomial(n=7, p=x.mean() / 7), **FEW)
    old = es.goodness_of_fit(x, stats.binom, estimate=lambda x: stats.binom(7, x.mean() / 7), **FEW)
    assert (new.reference, new.statistic) == ("exact", pytest.approx(old.statistic))


def test_draws_stand_for_every_fit_if_they_stand_for_that_of_the_data():
    x = stats.vonmises(2, loc=np.pi).rvs(size=30, random_state=np.random.default_rng(1))
    found = es.goodness_of_fit(x, stats.vonmises, estimate=True, **FEW)
    assert (found.reference, found.n_reference) == ("draws", 1000)
    assert "so that draws stand for it" in found.notes[0]


def test_an_error_of_the_estimate_names_the_sample():
    def fails(x):
        raise RuntimeError("no optimum")

    with pytest.raises(RuntimeError, match="no optimum") as caught:
        es.goodness_of_fit([1.0, 2.0], stats.norm, estimate=fails, **FEW)
    assert "`estimate` failed for the sample." in caught.value.__notes__


@pytest.mark.parametrize(
    ("x", "family", "match"),
    [
        ([1.0, 1, 1], stats.norm, r"found no distribution of the family norm for the sample: a parameter is out of"),
        ([0, 2, 3], stats.bernoulli, r"found no distribution of the family bernoulli for the sample"),
        ([0.5, 2, 3], stats.poisson, r"`X` must hold whole numbers from 0 to inf for the family poisson, got 0\.5"),
        ([-1, 2, 3], stats.poisson, r"`X` must hold whole numbers from 0 to inf for the family poisson, got -1"),
    ],
)
def test_samples_that_a_family_cannot_give(x, family, match):
    with pytest.raises(ValueError, match=match):
        es.goodness_of_fit(x, family, estimate=True, **FEW)


@pytest.mark.parametrize(
    ("x", "family"), [([1, 1, 1], stats.geom), ([0, 0, 0], stats.poisson), ([1, 1], stats.bernoulli)]
)
def test_perfect_fits(x, family):
    """A geometric distribution at 1 had NaN as its statistic, and p = .001."""
    found = es.goodness_of_fit(x, family, estimate=True, **FEW)
    assert found.statistic == pytest.approx(0, abs=1e-9)
    assert found.pvalue == 1


def test_geometric_samples_of_ones_are_no_exception():
    found = es.goodness_of_fit([1] * 9 + [2], stats.geom, estimate=True, n_resamples=199, rng=0)
    assert np.isfinite(found.null_distribution).all()
    assert found.pvalue > 0.05


def test_the_unit_of_a_scale_family_does_not_matter():
    """n E has the unit of x: fits of a smaller scale had smaller statistics, and uniform samples p <= .05 in .14."""
    x = np.random.default_rng(1).random(6)
    ps = [es.goodness_of_fit(c * x + 3, stats.uniform, estimate=True, **FEW).pvalue for c in (1.0, 1000.0)]
    assert ps[0] == ps[1]
    found = es.goodness_of_fit(x, stats.uniform, estimate=True, n_reference=100, n_resamples=4, rng=5)
    stream = stream_of(draw_key(np.random.default_rng(5)), 0)
    source = stats.uniform(*stats.uniform.fit(x))
    for value in found.null_distribution:
        sample = source.rvs(size=6, random_state=stream)
        own = es.goodness_of_fit(sample, stats.uniform(*stats.uniform.fit(sample)), n_reference=100, **FEW).statistic
        assert value == pytest.approx(own * np.ptp(x) / np.ptp(sample), rel=1e-6)
    assert "parameters estimated" in found.summary()
    assert found.to_markdown().count(", parameters estimated") == found.summary().count("parameters estimated") == 1


def test_the_same_seed_gives_the_same(rng):
    x = rng.poisson(4, 30)
    first, again = (es.goodness_of_fit(x, stats.poisson, estimate=True, n_resamples=99, rng=2) for _ in range(2))
    assert_allclose(first.null_distribution, again.null_distribution, rtol=0)


def test_other_counts_are_found(rng):
    x = rng.negative_binomial(1, 0.1, 80)
    assert es.goodness_of_fit(x, stats.poisson, estimate=True, n_resamples=99, rng=0).pvalue <= 0.05


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["poisson", "geom", "expon", "uniform"])
def test_level(name, rng):
    draw, family, estimate = {
        "poisson": (lambda: rng.poisson(2, 25), stats.poisson, True),
        "geom": (lambda: rng.geometric(0.3, 25), stats.geom, True),
        "uniform": (lambda: rng.random(6), stats.uniform, True),
        "expon": (lambda: rng.exponential(size=25), stats.expon, lambda x: stats.expon(0, x.mean())),
    }[name]
    count = 0
    for _ in range(300):
        how = {"estimate": estimate, "n_resamples": 39, "n_reference": 100, "rng": rng}
        count += es.goodness_of_fit(draw(), family, **how).pvalue <= 0.05
    assert count <= stats.binom.ppf(0.999, 300, 0.06), f"{count} of 300"


@pytest.mark.parametrize(
    ("x", "expected"),
    [  # energy 1.7-11 in R 4.2.2: poisson.m(as.integer(x))
        ([2, 0, 3, 1, 1, 5, 2, 2, 4, 0, 1, 3], (0.0185920022237113, 0.0928497684536250)),
        ([12, 9, 17, 22, 8, 10, 31, 14, 12, 15], (0.353367952389662, 1.721567877001003)),
        ([0, 0, 0, 1, 0, 2, 0, 9], (0.889631980635418, 4.338303808983502)),
    ],
)
def test_m_statistics_of_the_benchmark_are_those_of_r(x, expected):
    assert m_statistics([x, x])[:, 1] == pytest.approx(expected, rel=1e-12)


def test_counts_may_be_rounded():
    x = np.arange(12) * 0.1 / 0.1
    assert (x != np.rint(x)).any()
    found = es.goodness_of_fit(x, stats.poisson, estimate=True, **FEW)
    assert found.statistic == pytest.approx(
        es.goodness_of_fit(np.rint(x), stats.poisson, estimate=True, **FEW).statistic, rel=1e-9
    )


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (stats.multivariate_normal, r"not `multivariate_normal`; .* or use `normality_test`"),
        (stats.dirichlet, r"not `dirichlet`; give a function"),
        (stats.multinomial, r"not `multinomial`; give a function"),
    ],
)
def test_families_of_several_columns_are_refused(family, said, rng):
    with pytest.raises(ValueError, match=said):
        es.goodness_of_fit(rng.normal(size=(9, 2)), family, estimate=True, **FEW)


def test_no_atoms_of_heavy_tails():
    """SciPy would sum 1e15 probabilities up to the last quantile."""
    assert find_atoms(stats.zipf(1.5)) is None
    assert find_atoms(stats.betanbinom(5, 2, 3)) is None
