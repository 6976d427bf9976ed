"""Families of distributions whose parameters are estimated from the sample that is tested: the parametric bootstrap."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energystats._core import normal
from energystats._core.powers_of_two import deviations
from energystats._typing import FloatArray
from energystats.distribution_tests.samplers import (
    Sampler,
    as_sampler,
    has_whole_numbers,
    is_distribution,
    lies_on_whole_numbers,
    round_to_whole,
)

__all__ = ["Atoms", "Family", "find_atoms"]


TAIL = float(np.finfo(np.float64).eps)  # of the probability, left out at either end of a distribution on whole numbers
MOST_ATOMS = 100_000
HEAVY = 1e-12  # probability beyond that many values, which is more than the rounding of 1 - F
ALMOST_ONE = 1 - 1e-12
ON_A_CIRCLE = ("vonmises",)  # families whose scale is not fitted: it is that of the circle
SHAPES = (1.0, 3.0, 10.0)  # at which searches of shape parameters begin


def _fit_poisson(x: FloatArray) -> Any:
    """Fit a Poisson distribution to a sample by its mean, and return it as a frozen distribution."""
    from scipy import stats

    return stats.poisson(x.mean())


def _fit_geometric(x: FloatArray) -> Any:
    """Fit a geometric distribution on 1, 2, ... to a sample by its mean, and return it frozen."""
    from scipy import stats

    # at 1 SciPy's quantiles are wrong
    return stats.geom(min(1 / max(float(x.mean()), 1.0), ALMOST_ONE))


def _fit_bernoulli(x: FloatArray) -> Any:
    """Fit a Bernoulli distribution to a sample by its mean, and return it frozen."""
    from scipy import stats

    return stats.bernoulli(x.mean())


OF_COUNTS = {"bernoulli": _fit_bernoulli, "geom": _fit_geometric, "poisson": _fit_poisson}


def _write_example(name: str, held: str) -> str:
    """Return example code that fits a distribution family of SciPy with some parameters fixed."""
    return f"`estimate=lambda x: stats.{name}(*stats.{name}.fit(x, {held}))`"


EXAMPLE = _write_example("gamma", "floc=0")


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Hold a family of distributions, with the function that estimates its parameters from a sample."""

    label: str  # the family in words
    estimate: Callable[[Any], Any]  # finds the distribution for a sample (n,), or (n, d) with several columns
    drawn: bool = False  # whether draws stand for every fitted distribution, as they do for the one fitted to the data
    columns: tuple[str, ...] | None = None  # names of the columns that data frames of a fitted sampler must have
    of_scipy: bool = False  # whether the user named a family of SciPy, which a function of the sample has to fit

    @property
    def advice(self) -> str:
        """Return a sentence on how to find a member of a family of distributions under which the sample is possible."""
        if not isinstance(self.estimate, _Likelihood):
            return "`estimate` must return one that can."
        return (
            "SciPy's `fit` put an end of the support inside of the data. Hold the location with a function of the "
            f"sample: {_write_example(self.label, 'floc=0')}."
        )

    @classmethod
    def of(cls, family: Any, estimate: Any) -> Family:
        """Read the options `distribution` and `estimate` of a goodness-of-fit test as a family."""
        label = getattr(family, "name", None) or getattr(family, "__name__", None) or type(family).__name__
        if callable(estimate):
            if hasattr(family, "rvs") and not callable(family):
                raise TypeError(
                    f"`distribution` must be a family where `estimate` finds its parameters, got a frozen "
                    f"{family.dist.name if hasattr(family, 'dist') else label}; give the family, or what it is called."
                )
            return cls(family if isinstance(family, str) else str(label), estimate, of_scipy=hasattr(family, "rvs"))
        if estimate is not True:
            raise TypeError(
                f"`estimate` must be True, False or a function of the sample, got {type(estimate).__name__}; for "
                f"example {EXAMPLE}."
            )
        if not (callable(family) and hasattr(family, "rvs")):
            frozen = " a frozen one" if hasattr(family, "rvs") else ""
            raise TypeError(
                "`distribution` must be a family such as `scipy.stats.poisson` where its parameters are estimated, got"
                f"{frozen} {type(family).__name__}; or give `estimate` as a function of the sample: {EXAMPLE}."
            )
        if label in OF_COUNTS:
            return cls(str(label), OF_COUNTS[label])
        # those of several columns may have `fit`, but neither shapes nor a likelihood as the others have them
        if not (hasattr(family, "fit") and hasattr(family, "numargs")):
            label = str(label).removesuffix("_gen")
            instead = ", or use `normality_test`" if label == "multivariate_normal" else ""
            raise ValueError(
                f"`estimate=True` knows {', '.join(sorted(OF_COUNTS))} and SciPy's continuous families, not `{label}`; "
                f"give a function of the sample that returns the frozen distribution{instead}."
            )
        if family.numargs and _has_two_ends(family):
            raise ValueError(
                "`estimate=True` needs a family without shape parameters, or with an end at infinity, but the support "
                f"of {label} has two ends: where they are estimated beside shapes, the likelihood need not have a "
                "maximum, and SciPy's `fit` can be far off. Hold what is known with a function of the sample, for "
                f"example location 0 and scale 1: {_write_example(label, 'floc=0, fscale=1')}."
            )
        return cls(str(label), _Likelihood(family))

    def beginning_at(self, found: Any, *, drawn: bool = False) -> Family:
        """Return a family of distributions whose search for parameters starts at those of a distribution found before.

        `drawn` says that draws stood for that distribution.
        """
        if not isinstance(self.estimate, _Likelihood) or not hasattr(found, "args"):
            return replace(self, drawn=drawn)
        return replace(self, estimate=replace(self.estimate, start=tuple(found.args)), drawn=drawn)

    def fitted(self, points: FloatArray, what: str) -> tuple[Any, Sampler]:
        """Fit a family of distributions to a sample; return the fitted distribution and a sampler; (n, d)."""
        try:
            found = self.estimate((points[:, 0] if points.shape[1] == 1 else points).copy())  # which may work in place
        except Exception as error:
            error.add_note(f"`estimate` failed for {what}.")
            raise
        if not is_distribution(found):
            raise TypeError(f"`estimate` must return a frozen distribution or a sampler, got {type(found).__name__}.")
        of_family = getattr(getattr(found, "dist", None), "name", self.label)
        if self.of_scipy and of_family != self.label:
            raise ValueError(
                f"`estimate` must return a distribution of the family {self.label}, which `distribution` names, got "
                f"one of {of_family}."
            )
        if hasattr(found, "ppf") and not callable(found) and not _has_median(found):
            raise ValueError(
                f"`estimate` found no distribution of the family {self.label} for {what}: a parameter is out of range, "
                "as where all values are equal, or outside of what the family has."
            )
        if lies_on_whole_numbers(found) and hasattr(found, "support"):
            low, high = found.support()
            whole = round_to_whole(points)
            wrong = points[(whole < low) | (whole > high) | (whole != np.rint(whole))]
            if wrong.size:
                raise ValueError(
                    f"`X` must hold whole numbers from {low:g} to {high:g} for the family {self.label}, got "
                    f"{wrong[0]:g}."
                )
        return found, as_sampler(found, "estimate", self.columns)


def _has_two_ends(family: Any) -> bool:
    """Return whether a family of SciPy has bounded support, whatever its shape parameters."""
    if np.isfinite([family.a, family.b]).all():
        return True
    # where shapes set the ends, as of `truncnorm`: by examples, whose support is NaN where they are out of range;
    # that of `genpareto` is bounded for some shapes only
    rising = np.arange(1.0, family.numargs + 1)
    with np.errstate(all="ignore"):
        ends = np.array([family(*shapes).support() for shapes in (rising, -rising[::-1])], dtype=np.float64)
    valid = ~np.isnan(ends).any(axis=1)
    return bool(valid.any() and np.isfinite(ends[valid]).all())


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihood:
    """Estimate the parameters of a continuous family of SciPy by maximum likelihood, from a second start if need be.

    SciPy's search ends anywhere in families with a free location, and a few such fits of simulated samples, far from
    the most likely one, would hide any misfit of the data.
    """

    family: Any  # the family
    # parameters, with location and scale, from which the search begins again where it failed from SciPy's own start, or
    # found less likely ones; empty without any
    start: tuple[float, ...] = ()

    def __call__(self, x: FloatArray) -> Any:
        """Return the likeliest distribution found for a sample, frozen; raise ValueError if SciPy's search fails."""
        unit = 1.0 if self.family.name in ON_A_CIRCLE else float(deviations(x[:, None])[0]) or 1.0
        x, start = x / unit, _rescale(self.start, 1 / unit)  # SciPy's steps are made for numbers about as large as 1
        # the search tries parameters that are out of range
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of searches that end early, which begin again
            found, failure = self._search(x)
            if start:
                if not self._misfit(found, x) <= self._misfit(start, x):
                    again, _ = self._search(x, start)
                    found = min((found, again, start), key=lambda each: self._misfit(each, x))
            else:
                others = (self._search(x, start)[0] for start in self._starts(x))
                found = min((found, *others), key=lambda each: self._misfit(each, x))
                if found:  # once more from there, as the search may have ended on its way
                    again, _ = self._search(x, found)
                    found = min((found, again), key=lambda each: self._misfit(each, x))
        if found:
            return self.family(*_rescale(found, unit))
        raise ValueError(
            f"`estimate=True` needs a fit of the family {self.family.name} by SciPy, which failed ({failure}); hold "
            f"parameters with a function of the sample: {EXAMPLE}."
        )

    def _starts(self, x: FloatArray) -> Iterator[tuple[float, ...]]:
        """Yield parameters to search from beside SciPy's, for standardized values of a family with shapes.

        The end of the support lies half a standard deviation outside of the values.
        """
        low, high = float(self.family.a), float(self.family.b)
        location = float(x.mean())
        if np.isfinite(low):
            location = float(x.min()) - 0.5 - low
        elif np.isfinite(high):
            location = float(x.max()) + 0.5 - high
        if self.family.numargs and self.family.name not in ON_A_CIRCLE:
            yield from ((*[shape] * self.family.numargs, location, 1.0) for shape in SHAPES)

    def _search(self, x: FloatArray, start: tuple[float, ...] = ()) -> tuple[tuple[float, ...], str]:
        """Search maximum-likelihood parameters by SciPy; return them and "", or no parameters and the reason."""
        from scipy.stats import FitError

        try:
            if not start:
                return tuple(self.family.fit(x)), ""
            *shapes, loc, scale = start
            return tuple(self.family.fit(x, *shapes, loc=loc, scale=scale)), ""
        except FitError as error:
            return (), str(error)

    def _misfit(self, parameters: tuple[float, ...], x: FloatArray) -> float:
        """Compute the negative log likelihood of distribution parameters; inf where they are impossible."""
        value = float(self.family.nnlf(parameters, x)) if parameters else math.inf
        return math.inf if math.isnan(value) else value


def _rescale(parameters: tuple[float, ...], unit: float) -> tuple[float, ...]:
    """Return parameters of a distribution with location and scale, the last two, in another unit; () without any."""
    return (*parameters[:-2], *(unit * size for size in parameters[-2:]))


def _has_median(distribution: Any) -> bool:
    """Return whether a frozen distribution has a finite median, as one with valid parameters has."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(distribution.ppf(0.5)).all())


# ---------------------------------------------------------------- distributions on whole numbers


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Hold a discrete distribution on whole numbers, for which means of rho = |x - y| are exact."""

    # values, probabilities: (m,) the numbers, rising, around their mean, and how likely they are
    values: FloatArray
    probabilities: FloatArray
    center: float  # what was subtracted from them
    scale: float  # g(Y, Y)

    @property
    def size(self) -> int:
        """Return 0, as a discrete distribution needs no reference points."""
        return 0

    def compare(self, samples: FloatArray) -> FloatArray:
        """Compute n times the energy distance from a discrete distribution to each of b samples; (b, n, 1) -> (b,)."""
        x = np.sort(samples[:, :, 0], axis=1) - self.center
        below = np.searchsorted(self.values, x, side="right")
        mass = np.concatenate(([0.0], np.cumsum(self.probabilities)))
        moment = np.concatenate(([0.0], np.cumsum(self.probabilities * self.values)))
        # E|x - Y| = x (2 F(x) - 1) + E Y - 2 E[Y; Y <= x]
        across = (x * (2 * mass[below] - mass[-1]) + moment[-1] - 2 * moment[below]).mean(axis=1)
        return np.asarray(x.shape[1] * (2 * across - self.scale - normal.mean_distance_sorted(x)))


def find_atoms(distribution: Any) -> Atoms | None:
    """Return values and probabilities of a frozen distribution on whole numbers; None for others or too many values."""
    quantile = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    if quantile is None or not has_whole_numbers(distribution):
        return None
    with np.errstate(all="ignore"):  # SciPy's formulas at the ends of the parameters
        low = max(float(quantile(TAIL)), float(distribution.support()[0]))
        # SciPy would sum very many probabilities up to a quantile far in a heavy tail
        survival = getattr(distribution, "sf", None) or getattr(distribution, "ccdf", None)
        if survival is not None and survival(low + MOST_ATOMS) > HEAVY:
            return None
        try:
            high = float(quantile(1 - TAIL))
        except RuntimeError:  # SciPy's search for a quantile may fail
            return None
    if not np.isfinite([low, high]).all() or high - low > MOST_ATOMS:
        return None
    values: NDArray[np.float64] = np.arange(low, high + 1)
    with np.errstate(all="ignore"):
        probabilities = np.asarray(distribution.pmf(values), dtype=np.float64)
    if not probabilities.sum() > 0.5:
        return None
    probabilities = probabilities / probabilities.sum()
    center = float(np.rint(probabilities @ values))
    values = values - center
    below = np.cumsum(probabilities)
    # E|Y - Y'| = 2 sum F (1 - F) over the gaps of 1
    return Atoms(values, probabilities, center, float(2 * (below[:-1] * (1 - below[:-1])).sum()))
