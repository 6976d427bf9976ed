"""Power by simulation: against the test itself, against known power, and the size read off the curve."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.power import TTestIndPower

import energystats as es
from energystats._core.labelings import draw_key
from energystats.distribution_tests.permutation_test import STATISTICS
from energystats.distribution_tests.power import PowerRow, _Pilot, _share_of, _Simulation, _sources_of
from energystats.inputs.methods import Sampling
from tests.comparisons import words

mpl.use("Agg")

STANDARD, MOVED = stats.norm(), stats.norm(1)


def two_columns(size, rng):
    return rng.standard_normal((size, 2))


def powers(*args, **how):
    return es.energy_power(*args, **how).table["power"].to_numpy()


def test_equal_distributions_are_rejected_at_the_level(rng):
    found = es.energy_power(STANDARD, STANDARD, [15], level=0.1, n_replicates=200, n_resamples=39, rng=rng)
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], 200, 0.1)
    assert low <= found.rows[0].power * 200 <= high


@pytest.mark.slow
def test_power_is_that_of_the_test(rng):
    power = powers(STANDARD, MOVED, 12, ratio=1.5, n_resamples=99, rng=rng)[0]
    tests = (es.energy_test(rng.normal(size=12), rng.normal(1, size=18), n_resamples=99, rng=rng) for _ in range(200))
    expected = np.mean([test.pvalue <= 0.05 for test in tests])
    assert abs(power - expected) <= 4.5 * np.sqrt(2 * 0.25 / 200)


@pytest.mark.slow
def test_power_for_a_shift_is_a_little_below_that_of_the_t_test(rng):
    sizes = [10, 20, 40]
    found = powers(STANDARD, MOVED, sizes, n_resamples=99, rng=rng)
    best = np.array([TTestIndPower().power(1.0, n, 0.05) for n in sizes])
    slack = 4.5 * np.sqrt(best * (1 - best) / 200) + 0.02
    assert (found <= best + slack).all()
    assert (found >= best - 0.1 - slack).all()


@pytest.mark.slow
def test_power_rises_with_size(rng):
    found = es.energy_power(two_columns, stats.multivariate_normal([0.8, 0]), [5, 15, 60], n_resamples=99, rng=rng)
    assert found.rows[0].power < found.rows[1].power < found.rows[2].power
    assert found.rows[2].power > 0.9
    assert (np.diff(found.fitted) >= 0).all()


def test_same_seed_same_powers_whatever_else_is_asked_for():
    alone = es.energy_power(STANDARD, MOVED, 10, n_replicates=50, n_resamples=99, rng=3)
    among = es.energy_power(STANDARD, MOVED, [20, 5, 10, 10], n_replicates=50, n_resamples=99, rng=3)
    assert [row.n_x for row in among.rows] == [5, 10, 20]
    assert repr(among.rows[1]) == repr(alone.rows[0])  # from Python 3.13 on rows with NaN are not equal to themselves
    resolved = es.metrics.Euclidean()
    key = draw_key(np.random.default_rng(3))
    sources, between = _sources_of(STANDARD, MOVED, resolved)[0], STATISTICS["between"]
    design = _Simulation(sources, resolved, between, False, Sampling(n_resamples=99), 0.05, key)
    few, many = list(design.decisions([(10, 10)], 50)), list(design.decisions([(10, 10)], 80))
    assert many[:50] == few
    assert np.mean(few) == alone.rows[0].power


@pytest.mark.parametrize(("ratio", "n", "expected"), [(1.0, 7, 7), (1.5, 7, 10), (0.1, 4, 1), (2.5, 3, 8)])
def test_second_size(ratio, n, expected):
    found = es.energy_power(STANDARD, MOVED, n, ratio=ratio, n_replicates=2, n_resamples=19, rng=0)
    assert (found.rows[0].n_x, found.rows[0].n_y) == (n, expected)


def test_sizes_are_simulated_from_numbers_of_their_own():
    """The curve would be too smooth if the larger samples held the smaller ones."""
    drawn = {}

    def sampler(size, rng):
        drawn.setdefault(size, rng.random(size))
        return rng.random(size)

    es.energy_power(sampler, lambda size, rng: rng.random(size), [5, 9], n_replicates=1, n_resamples=19, rng=0)
    assert not np.isin(drawn[5], drawn[9]).any()


@pytest.mark.parametrize(("ratio", "n", "expected"), [(1.49, 5, 7), (1.51, 5, 8), (0.05, 2, 1)])
def test_the_second_size_is_rounded_and_at_least_one(ratio, n, expected):
    assert (
        es.energy_power(STANDARD, MOVED, n, ratio=ratio, n_replicates=1, n_resamples=19, rng=0).rows[0].n_y == expected
    )


def test_the_smallest_level_that_can_be_reached_is_allowed():
    assert es.energy_power(STANDARD, MOVED, 5, level=0.01, n_resamples=99, n_replicates=1, rng=0).level == 0.01
    with pytest.raises(ValueError, match=r"Use n_resamples of 99 or more"):
        es.energy_power(STANDARD, MOVED, 5, level=0.01, n_resamples=98, n_replicates=1, rng=0)


@pytest.mark.parametrize("statistic", ["between", "pairwise", "f"])
def test_statistics_have_one_power(statistic):
    how = {"n_replicates": 40, "n_resamples": 99, "rng": 0}
    assert powers(STANDARD, MOVED, 10, statistic=statistic, **how) == powers(STANDARD, MOVED, 10, **how)


@pytest.mark.slow
def test_options_reach_the_test():
    """A difference of spread is invisible to squared distances, and a large column hides one in a small column."""
    wide = stats.norm(0, 3)
    how = {"n_resamples": 99, "n_replicates": 60, "rng": 0}
    assert powers(STANDARD, wide, 40, **how) > 0.7
    assert powers(STANDARD, wide, 40, alpha=2, **how) < 0.4
    sharp = [lambda size, rng, m=m: rng.standard_normal((size, 2)) * [1, 50] + [m, 0] for m in (0, 2)]
    assert powers(*sharp, 15, **how) < 0.5
    assert powers(*sharp, 15, standardize=True, **how) > 0.9
    assert powers(*sharp, 15, metric="seuclidean", **how) > 0.9


def test_pilot_samples_are_resampled(rng):
    frame = pd.DataFrame(rng.standard_normal((30, 2)), columns=["u", "v"])
    found = es.energy_power(frame, frame + 5, [8], n_replicates=20, n_resamples=99, rng=0)
    assert found.rows[0].power == 1
    assert found.x == "pilot sample of 30"
    mixed = es.energy_power(frame, two_columns, [8], n_replicates=20, n_resamples=99, rng=0)
    assert (mixed.x, mixed.y) == ("pilot sample of 30", "two_columns")
    drawn = _sources_of([1.0, 2.0, 4.0], STANDARD, es.metrics.Euclidean())[0][0].draw(1000, rng)
    assert set(drawn[:, 0]) == {1.0, 2.0, 4.0}


def test_an_estimate_below_zero_is_said_to_be_taken_as_zero(rng):
    x = rng.normal(size=20)
    notes = " ".join(es.energy_power(x, x + 0.001, [5], n_replicates=2, n_resamples=19, rng=0).notes)
    assert "taken as 0, as E is never below it; 95 % interval 0 to" in notes


def test_pilots_keep_as_much_of_their_difference_as_e_says(rng):
    """Mixtures of two samples have a share c of their difference, and c^2 of E, whose interval is the bootstrap's."""
    x, y = rng.normal(size=(15, 2)), rng.normal(2, 1, (20, 2))
    found = es.energy_power(x, y, [10, 40], n_replicates=20, n_resamples=39, rng=0)
    plain = es.energy_interval(x, y, rng=0)
    assert found.pilot_energy == pytest.approx(plain.unbiased)
    assert_allclose(found.pilot_interval, (plain.low, plain.high), atol=0.5 * plain.statistic)
    for row in found.rows:
        assert 0 <= row.pilot_low <= row.power <= row.pilot_high <= 1
    sources, resolved = _sources_of(x, y, es.metrics.Euclidean())
    pilot = _Pilot.of(sources, resolved, False, draw_key(np.random.default_rng(0)))
    (first, share), (low, smaller), (high, larger) = pilot.populations()
    assert first == low
    assert_array_equal(first[0].rows, sources[0].rows)
    left = share**2 * pilot.statistic, smaller**2 * pilot.statistic, larger**2 * pilot.largest
    assert left == pytest.approx((pilot.unbiased, *pilot.interval))
    X, Y = (source.rows for source in high)
    assert es.energy_distance(X, Y) == pytest.approx(pilot.largest)
    assert (len(X), len(Y)) == (15, 20)
    assert set(map(tuple, X)) <= set(map(tuple, x))
    assert pilot.interval[0] <= pilot.unbiased <= pilot.interval[1]
    assert [_share_of(wanted, 4.0) for wanted in (1.0, -1.0, 9.0)] == [0.5, 0, 1]
    assert _share_of(0.1, 0.0) == 0


def test_of_large_pilots_the_rows_are_mixed_whose_e_is_known(rng):
    """E was of 1,000 rows, and all of them were mixed by it: left was another E than the result said."""
    x, y = rng.normal(size=1500), rng.normal(0.3, 1, 900)
    sources, resolved = _sources_of(x, y, es.metrics.Euclidean())
    pilot = _Pilot.of(sources, resolved, False, draw_key(np.random.default_rng(0)))
    for (first, second), _ in pilot.populations()[:2]:
        assert (len(first.rows), len(second.rows)) == (1000, 900)
        assert set(first.rows[:, 0]) <= set(x)
        assert es.energy_distance(first.rows, second.rows) == pytest.approx(pilot.statistic)
    found = es.energy_power(x, y, [5], n_replicates=2, n_resamples=19, rng=0)
    assert found.x == "pilot sample of 1500"
    assert "Of the 1500 rows of `x`, 1000 drawn at random were taken as the pilot:" in " ".join(found.notes)
    assert "rows of `y`" not in " ".join(found.notes)
    few = es.energy_power(x[:1000], y, [5], n_replicates=2, n_resamples=19, rng=0)
    assert "drawn at random" not in " ".join(few.notes)


def test_mixed_rows_come_from_the_other_pilot_as_often(rng):
    x, y = np.zeros(30), np.ones(30)
    sources, resolved = _sources_of(x, y, es.metrics.Euclidean())
    how = (STATISTICS["between"], False, Sampling(n_resamples=99), 0.05, draw_key(np.random.default_rng(0)))
    for share in (0.0, 0.4, 1.0):
        simulation = _Simulation(sources, resolved, *how, share=share)
        first, second = simulation.draw((20_000, 20_000), rng)
        assert abs(second.mean() - first.mean() - share) < 0.02
        assert abs(second.mean() + first.mean() - 1) < 0.02


@pytest.mark.slow
def test_pilots_of_one_population_have_the_power_of_chance(rng):
    """All of their difference may be taken away: the lower end is the level, and says so."""
    x = rng.standard_normal((2, 15))
    found = es.energy_power(x[0], x[0], 60, n_replicates=60, n_resamples=99, rng=0)
    assert found.rows[0].power <= 0.25
    assert "do not rule out equal populations" in " ".join(found.summary().split())
    assert "pilot low" in found.summary()
    known = es.energy_power(STANDARD, MOVED, 10, n_replicates=5, n_resamples=19, rng=0)
    assert (known.pilot_energy, known.pilot_interval, known.notes) == (None, None, ())
    assert np.isnan(known.rows[0].pilot_low)
    assert "pilot" not in known.summary()
    with pytest.raises(ValueError, match=r"`y` must have at least two rows where it is a pilot sample, got 1"):
        es.energy_power(STANDARD, [1.0], 10)


def test_scales_are_warned_of_once(rng):
    X = rng.standard_normal((20, 2)) * [1, 1000]
    with pytest.warns(es.ColumnScaleWarning) as caught:
        es.energy_power(X, X, [10, 12], n_replicates=10, n_resamples=19, rng=0)
    assert len(caught) == 1


def test_intervals_are_those_of_clopper_and_pearson():
    found = es.energy_power(STANDARD, MOVED, [5, 15, 60], n_replicates=40, n_resamples=99, rng=0)
    for row in found.rows:
        interval = stats.binomtest(round(row.power * 40), 40).proportion_ci()
        assert_allclose((row.low, row.high), (interval.low, interval.high), rtol=1e-9)
        assert row.standard_error == pytest.approx(np.sqrt(row.power * (1 - row.power) / 40))


def curve(*points):
    rows = tuple(PowerRow(n_x=n, n_y=n, power=p, standard_error=0.0, low=p, high=p) for n, p in points)
    how = {"level": 0.05, "n_replicates": 100, "n_resamples": 99, "x": "a", "y": "b", "statistic_name": "between"}
    return es.PowerResult(rows=rows, standardize=False, metric=es.metrics.Euclidean(), **how)


def test_sample_size_is_read_off_the_isotonic_curve():
    found = curve((10, 0.2), (20, 0.6), (30, 0.9))
    assert found.sample_size(0.6) == 20
    assert found.sample_size(0.75) == 25
    assert found.sample_size(0.76) == 26
    assert found.sample_size(0.1) == 10
    assert found.sample_size() == 27
    assert math.isnan(found.sample_size(0.91))
    dip = curve((10, 0.5), (20, 0.9), (30, 0.7), (40, 1.0))
    assert dip.fitted == pytest.approx([0.5, 0.8, 0.8, 1.0])
    assert dip.sample_size(0.8 - 1e-12) == 20
    assert dip.sample_size(0.9) == 35
    for power in (0, 1, -0.1, 1.5):
        with pytest.raises(ValueError, match="`power` must"):
            found.sample_size(power)


def test_summary_says_what_is_needed():
    assert "Power .8 takes about 27 points of x" in curve((10, 0.2), (20, 0.6), (30, 0.9)).summary()
    assert "Power .8 takes 10 points of x or fewer" in curve((10, 0.9),).summary()  # fmt: skip
    assert "Power .8 is not reached by these sizes, if" in curve((10, 0.2), (20, 0.6)).summary()
    lifted = curve((10, 0.7), (20, 0.84), (30, 0.7))
    assert "not reached by these sizes, though one has it by chance: powers that rise" in words(lifted)


@pytest.mark.parametrize(
    ("args", "how", "error", "message"),
    [
        ((STANDARD, MOVED, 10), {"level": 0.004}, ValueError, r"`level` must be at least 1/.* Use n_resamples of 249"),
        ((STANDARD, MOVED, 10), {"level": 1.0}, ValueError, r"`level` must lie below 1, got 1"),
        ((STANDARD, MOVED, 10), {"level": 1e-320}, ValueError, r"`level` must be at least 1e-09, got .* draws or more"),
        ((STANDARD, MOVED, 10), {"level": 0}, ValueError, r"`level` must be positive"),
        ((STANDARD, MOVED, 10), {"ratio": -1}, ValueError, r"`ratio` must be positive"),
        ((STANDARD, MOVED, 10), {"n_replicates": 0}, ValueError, r"`n_replicates` must be at least 1"),
        ((STANDARD, MOVED, 10), {"n_resamples": 1.5}, TypeError, r"`n_resamples` must be a whole number"),
        ((STANDARD, MOVED, 10), {"metric": "precomputed"}, ValueError, r"`metric` must not be \"precomputed\""),
        ((STANDARD, MOVED, 10), {"statistic": "t"}, ValueError, r"`statistic` must be one of between, pairwise, f"),
        ((STANDARD, MOVED, []), {}, ValueError, r"`n` must hold at least one size"),
        ((STANDARD, MOVED, [5, 1]), {}, ValueError, r"`n` must be at least 2, got 1"),
        ((STANDARD, MOVED, [5.0]), {}, TypeError, r"`n` must be a whole number, got 5.0"),
        ((STANDARD, two_columns, 5), {}, ValueError, r"`x` and `y` must have the same number of columns, got 1 and 2"),
        ((np.ones((3, 2)), np.ones((3, 3)), 5), {}, ValueError, r"same number of columns, got 2, 3"),
        ((stats.norm, MOVED, 5), {}, TypeError, r"`x` must be fully specified, got the family `norm`"),
        ((STANDARD, [1.0, np.nan], 5), {}, ValueError, r"`y` must be finite, but has 1 NaN"),
        ((STANDARD, "norm", 5), {}, TypeError, r"`y` must hold real numbers"),
        ((STANDARD, lambda size, rng: rng.random(3), 5), {}, ValueError, r"`y` must give samples of shape \(5,\)"),
    ],
)  # fmt: skip
def test_bad_input(args, how, error, message):
    with pytest.raises(error, match=message):
        es.energy_power(*args, **{"n_replicates": 5, **how})


def test_the_smallest_size_that_was_tried_is_no_size_that_is_needed():
    shown = curve((5, 0.9), (10, 1.0)).plot().get_legend().get_texts()
    assert shown[0].get_text() == "power .8, at n = 5 or fewer"


def test_plot_shows_the_curve_level_and_target():
    ax = curve((10, 0.2), (20, 0.6), (30, 0.9)).plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "power .8, at n = 27", "level 0.05", "power, 95 % interval",
    ]  # fmt: skip
    line = next(line for line in ax.lines if len(line.get_xdata()) == 3)
    assert list(line.get_xdata()) == [10, 20, 30]
    assert list(line.get_ydata()) == [0.2, 0.6, 0.9]
    assert ax.get_xlabel() == "size of the first sample"
    assert "not reached" in curve((10, 0.2), (20, 0.6)).plot().get_legend().get_texts()[0].get_text()
    mpl.pyplot.close("all")


def test_progress_counts_replicates(capsys):
    es.energy_power(STANDARD, MOVED, [3, 4], n_replicates=10, n_resamples=19, rng=0, progress=True)
    assert "20/20" in capsys.readouterr().err


def test_sizes_whose_p_cannot_reach_the_level_are_noted():
    far = es.energy_power(stats.norm(), stats.norm(1000), [3, 4], n_replicates=4, rng=0)
    assert far.notes == ("No p can reach the level 0.05 with 3 + 3 points (p at least 0.1), whatever the populations.",)
    assert [row.power for row in far.rows] == [0, 1]
