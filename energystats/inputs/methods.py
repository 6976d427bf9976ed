"""Methods of a test and their options: a name, or an object that holds what goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from energystats.inputs.options import check_count, check_flag, check_option

__all__ = ["MOST_BINS", "Binned", "MethodLike", "Permutation", "Sampling", "Sliced", "read_method", "refuse_stop"]


MOST_BINS = 4096  # whose matrix of sums is kept
LIMITS = {"n_resamples": (1, None), "stop_at": (1, None), "n_slices": (2, None), "n_bins": (2, MOST_BINS)}
WITHOUT_RESAMPLES = {
    "asymptotic": "makes no permutations",
    "cross": "makes no permutations",
    "exact": "visits every distinct labeling",
}


@dataclass(frozen=True, slots=True)
class _Checked:
    """Check the options of a method of a test when it is made."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "extrapolate":
                check_flag(value, each.name)
                value = bool(value)
            elif value is not None or each.default is not None:  # None is allowed where it is the default
                low, high = LIMITS[each.name]
                value = check_count(value, each.name, low=low, high=high)
            object.__setattr__(self, each.name, value)


@dataclass(frozen=True, slots=True)
class Permutation(_Checked):
    """Choose random permutations of the labels of rows as the `method` of a test.

    Parameters
    ----------
    n_resamples : int, default 999
        How many. `n_resamples` of the test itself must then be left out, or say the same.
    stop_at : int, optional
        Stop as soon as this many permutations reach the observed statistic; p is then their share of those made, and
        `n_resamples` of the result says how many were: the sequential test of Besag & Clifford, whose level is exact.
        Saves time where p is large.
    extrapolate : bool, default False
        When fewer than 10 permutations reach the observed statistic, take p from a generalised Pareto distribution
        fitted to the largest null values; the result is flagged as `extrapolated`. Where one of them equals it, or
        some of those values are equal, as with counts and few points, or after an early stop, p stays the count.

    See Also
    --------
    energy_test, mmd_test : Take it as `method`.

    Examples
    --------
    >>> import energystats as es
    >>> x, y = [0.1, 0.7, 0.9, 1.4, 2.0, 2.2, 3.1], [0.3, 0.8, 1.1, 1.2, 2.1, 2.5, 2.9]
    >>> result = es.energy_test(x, y, method=es.Permutation(9999, stop_at=20), rng=0)
    >>> result.stopped_early, result.n_resamples < 100
    (True, True)
    """

    n_resamples: int = 999
    stop_at: int | None = None
    extrapolate: bool = False


@dataclass(frozen=True, slots=True)
class Sliced(_Checked):
    """Choose distances along random directions as the `method` of a test or of the energy distance, for many rows.

    Parameters
    ----------
    n_slices : int, default 50
        Random directions, at least 2.
    n_bins : int, optional
        At most this many full bins of rows, whose labels are permuted, from 2 to 4,096; None permutes single rows.
    stop_at, extrapolate : int or None, bool
        As for `Permutation`.

    See Also
    --------
    energy_test, energy_distance : Take it as `method`.

    Examples
    --------
    >>> import energystats as es
    >>> iris = es.datasets.load("iris")
    >>> result = es.energy_test(iris.iloc[:, :4], groups=iris["species"], method=es.Sliced(n_slices=20), rng=0)
    >>> result.n_slices, result.pvalue
    (20, 0.001)
    """

    n_slices: int = 50
    n_bins: int | None = None
    stop_at: int | None = None
    extrapolate: bool = False


@dataclass(frozen=True, slots=True)
class Binned(_Checked):
    """Choose permutations of whole bins of rows as the `method` of a test, for many rows.

    Parameters
    ----------
    n_bins : int, optional
        At most this many full bins of rows, whose labels are permuted, and a smaller one for each group's rest, which
        keeps its label; from 2 to 4,096. None takes 256, or as many as give the smallest group eight.
    stop_at, extrapolate : int or None, bool
        As for `Permutation`.

    See Also
    --------
    energy_test : Takes it as `method`.

    Examples
    --------
    >>> import energystats as es
    >>> iris = es.datasets.load("iris")
    >>> result = es.energy_test(iris.iloc[:, :4], groups=iris["species"], method=es.Binned(n_bins=30), rng=0)
    >>> result.n_bins, result.pvalue
    (30, 0.001)
    """

    n_bins: int | None = None
    stop_at: int | None = None
    extrapolate: bool = False


MethodLike = str | Permutation | Sliced | Binned
OBJECTS: dict[str, type[Permutation | Sliced | Binned]] = {
    "permutation": Permutation,
    "sliced": Sliced,
    "binned": Binned,
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """Hold which labelings a test visits, resolved from `method` and `n_resamples`."""

    method: str = "auto"  # name of the method
    n_resamples: int = 999  # random permutations
    # stop_at, extrapolate: as for `Permutation`
    stop_at: int | None = None
    extrapolate: bool = False
    n_slices: int = 0  # random directions; 0 for the distances themselves
    n_bins: int | None = None  # full bins of rows, at most; None leaves it to the method


def read_method(method: object, n_resamples: object, names: Sequence[str], default: int = 999) -> Sampling:
    """Return the sampling options that a test's options `method`, a name or an object, and `n_resamples` stand for."""
    name = (
        method
        if isinstance(method, str)
        else next((n for n, kind in OBJECTS.items() if isinstance(method, kind)), None)
    )
    if name is None:
        example = "es.Permutation(n_resamples=9999)" if "permutation" in names else "es.Sliced(n_slices=50)"
        raise TypeError(
            f"`method` must be one of {', '.join(names)}, or an object such as `{example}`; "
            f"got {method.__name__ if isinstance(method, type) else type(method).__name__}."
        )
    check_option(name, "method", names)
    asked = None if n_resamples is None else check_count(n_resamples, "n_resamples", low=1)
    own = method.n_resamples if isinstance(method, Permutation) else asked
    if asked is not None and own != asked:
        raise ValueError(f"`n_resamples={asked}` and `method={method!r}` differ; give the number in one of them.")
    if asked is not None and name in WITHOUT_RESAMPLES:
        raise ValueError(f'`method="{name}"` {WITHOUT_RESAMPLES[name]} and does not go with `n_resamples={asked}`.')
    sampling = Sampling(name, default if own is None else own)
    made = method if isinstance(method, Permutation | Sliced | Binned) else OBJECTS[name]() if name in OBJECTS else None
    if made is None:
        return sampling
    # what each kind of method has of its own; its number of resamples has been read
    return replace(sampling, **{f.name: getattr(made, f.name) for f in fields(made) if f.name != "n_resamples"})


def refuse_stop(sampling: Sampling, test: str) -> None:
    """Raise ValueError if a method asks for early stopping or extrapolation in a test that has neither."""
    if sampling.stop_at is not None or sampling.extrapolate:
        raise ValueError(f"`{test}` makes all permutations; leave `stop_at` and `extrapolate` of the method out.")
