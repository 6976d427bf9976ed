"""Make simulated data from the distributions of the papers' experiments, with their parameters as defaults."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.inputs.arrays import as_numbers, as_points, check_finite
from energystats.inputs.matrices import largest_skew
from energystats.inputs.options import as_generator, check_count, check_not_negative, check_positive

__all__ = [
    "check_shares",
    "covariance_roots",
    "draw_classes",
    "draw_normal",
    "make_cigars",
    "make_circles",
    "make_gaussian_mixture",
    "make_lognormal_mixture",
    "make_spirals",
    "make_unbalanced",
]


Sizes = int | Sequence[int]


def make_gaussian_mixture(
    n: Sizes,
    means: ArrayLike,
    covs: Any = 1.0,
    *,
    weights: ArrayLike | None = None,
    rng: RandomLike = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points and their classes from a mixture of normal distributions.

    Parameters
    ----------
    n : int or sequence of k ints
        An int is the number of points, each in class j with probability `weights[j]`, as in the papers' iid samples.
        A sequence gives the exact size of every class.
    means : array_like of shape (k,) or (k, d)
        One mean a class; shape (k,) means d = 1.
    covs : float or sequence of k entries, default 1.0
        A number is a variance, of every coordinate of every class. In a sequence, one entry a class: a variance, d
        variances, or a covariance matrix of shape (d, d), positive definite.
    weights : array_like of shape (k,) or None, default None
        Probabilities of the classes, which sum to 1; None means equal. Not with exact sizes.
    rng : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, d)
        Points, in random order of the classes.
    labels : ndarray of int, shape (n,)
        Class of each point, 0 to k - 1. With an int `n` a class may be empty when n is small.

    Raises
    ------
    ValueError
        If `n` or a class size is below 1, a covariance is not symmetric and positive definite, the weights do not sum
        to 1, are negative or go with class sizes, or dimensions or numbers of classes do not match.
    TypeError
        If `n` is not a whole number, or `means`, `covs` or `weights` are not real numbers.

    See Also
    --------
    make_lognormal_mixture : The same, exponentiated.
    paper_mixture : Parameters of the papers' mixtures.
    bayes_accuracy : The best that any classifier can do.

    Notes
    -----
    O(n d) time and memory; a covariance matrix costs O(n d^2 + d^3) time.

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 23 and 26 to 28.

    Examples
    --------
    >>> import energystats as es
    >>> X, labels = es.datasets.make_gaussian_mixture((3, 2), [[0.0, 0.0], [9.0, 0.0]], [1.0, [1.0, 4.0]], rng=0)
    >>> X.shape, sorted(labels.tolist())
    ((5, 2), [0, 0, 0, 1, 1])
    """
    centers = as_points(means, "means")
    roots = covariance_roots(covs, *centers.shape)
    generator = as_generator(rng)
    labels = draw_classes(n, len(centers), generator, weights=weights)
    return draw_normal(labels, centers, roots, generator), labels


def make_lognormal_mixture(
    n: Sizes,
    means: ArrayLike,
    covs: Any = 1.0,
    *,
    weights: ArrayLike | None = None,
    rng: RandomLike = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points and their classes from a mixture of lognormal distributions, exp of a normal mixture.

    Parameters
    ----------
    n : int or sequence of k ints
        Number of points, or the exact size of every class, as for `make_gaussian_mixture`.
    means : array_like of shape (k,) or (k, d)
        Means of the logarithms.
    covs : float or sequence of k entries, default 1.0
        Covariances of the logarithms, as for `make_gaussian_mixture`.
    weights : array_like of shape (k,) or None, default None
        Probabilities of the classes; None means equal.
    rng : int, Generator or None, default None
        Seed; the same seed gives the exponentials of the points of `make_gaussian_mixture`.

    Returns
    -------
    X : ndarray of shape (n, d)
        Positive points.
    labels : ndarray of int, shape (n,)
        Class of each point, 0 to k - 1.

    Raises
    ------
    ValueError
        As `make_gaussian_mixture`, and if a point is too large for a float.
    TypeError
        If `n` is not a whole number, or `means`, `covs` or `weights` are not real numbers.

    See Also
    --------
    make_gaussian_mixture : The logarithms.
    bayes_accuracy : The best that any classifier can do, which no monotone map of coordinates changes.

    Notes
    -----
    O(n d) time and memory; a covariance matrix costs O(n d^2 + d^3) time. A coordinate of mean m and variance v of its
    logarithm has mean exp(m + v/2) and variance (exp(v) - 1) exp(2m + v).

    References
    ----------
    Franca, Rizzo & Vogelstein, eq. 24.

    Examples
    --------
    >>> import energystats as es
    >>> X, labels = es.datasets.make_lognormal_mixture(200, **es.datasets.paper_mixture("fig1"), rng=0)
    >>> X.shape, bool((X > 0).all())
    ((200, 1), True)
    """
    X, labels = make_gaussian_mixture(n, means, covs, weights=weights, rng=rng)
    if X.max() > 700:
        raise ValueError(f"`means` and `covs` must keep exp(x) finite, but a logarithm is {X.max():.4g}, above 700.")
    return np.exp(X), labels


def make_cigars(
    n: Sizes = (200, 200),
    *,
    gap: float = 6.5,
    variances: ArrayLike = (1.0, 20.0),
    rng: RandomLike = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points and classes of two elongated parallel normal distributions, side by side along the first axis.

    Parameters
    ----------
    n : int or sequence of 2 ints, default (200, 200)
        Number of points, classes at random, or the exact sizes; the default is that of [G fig 4], [D] has 100 each.
    gap : float, default 6.5
        Distance of the two means, along the first axis.
    variances : array_like of shape (2,), default (1.0, 20.0)
        Of the two coordinates, in both classes.
    rng : int, Generator or None, default None
        Seed of classes and points.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points of the two clouds.
    labels : ndarray of int, shape (n,)
        0 or 1.

    Raises
    ------
    ValueError
        If a size is below 1, `gap` or a variance is not positive, or `variances` are not two.
    TypeError
        If a size is not a whole number.

    See Also
    --------
    make_circles : Clouds that no line separates.

    Notes
    -----
    O(n) time and memory. Both coordinates of a class are independent and normal.

    References
    ----------
    Franca, Rizzo & Vogelstein, figure 4 and table 1; Franca & Vogelstein (draft), eq. "cigar".

    Examples
    --------
    >>> import energystats as es
    >>> X, labels = es.datasets.make_cigars(rng=0)
    >>> X.shape, int(labels.sum())
    ((400, 2), 200)
    """
    spread = as_numbers(variances, "variances")
    if spread.shape != (2,):
        raise ValueError(f"`variances` must have shape (2,), one for each coordinate, got {spread.shape}.")
    spread = np.array([check_positive(float(v), "variances") for v in spread])
    means = [[0.0, 0.0], [check_positive(gap, "gap"), 0.0]]
    return make_gaussian_mixture(n, means, [spread, spread], rng=rng)


def make_unbalanced(m: int = 0, *, base: int = 200, rng: RandomLike = None) -> tuple[FloatArray, IntArray]:
    r"""Draw points of two normal classes of unequal size, `base` - m and `base` + m points, in four dimensions.

    Parameters
    ----------
    m : int, default 0
        Points moved from the first class to the second, 0 <= m < base.
    base : int, default 200
        Size of each class at m = 0.
    rng : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (2 * base, 4)
        Points.
    labels : ndarray of int, shape (2 * base,)
        0 for N(0, I), 1 for N((1.5, 1.5, 0, 0), diag(1/2, 1/2, 1, 1)).

    Raises
    ------
    ValueError
        If m is negative or not below `base`.
    TypeError
        If m or `base` is not a whole number.

    See Also
    --------
    make_gaussian_mixture : Any other classes and sizes.

    Notes
    -----
    O(n) time and memory, n = 2 `base`.

    References
    ----------
    Franca & Vogelstein (draft), eq. "gauss3" and figure "unbalanced" (a).

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> X, labels = es.datasets.make_unbalanced(150, rng=0)
    >>> np.bincount(labels).tolist()
    [50, 350]
    """
    base = check_count(base, "base", low=1)
    m = check_count(m, "m", low=0, high=base - 1, why=f", below `base` ({base})")
    means = [[0.0, 0.0, 0.0, 0.0], [1.5, 1.5, 0.0, 0.0]]
    return make_gaussian_mixture((base - m, base + m), means, [1.0, [0.5, 0.5, 1.0, 1.0]], rng=rng)


def make_circles(
    n: Sizes | None = None,
    *,
    radii: ArrayLike = (1.0, 3.0),
    noise: float = 0.2,
    rng: RandomLike = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points on concentric circles with normal noise, each circle being one class.

    Parameters
    ----------
    n : int, sequence of k ints or None, default None
        Number of points, classes at random, or the exact size of every circle; None: 400 on each, as in [G fig 4].
    radii : array_like of shape (k,), default (1.0, 3.0)
        One radius a circle; (1, 3, 5) are the papers' three circles. The papers print no radii and no noise: with these
        the accuracies of [G table 1] come out.
    noise : float, default 0.2
        Standard deviation of the noise of each coordinate.
    rng : int, Generator or None, default None
        Seed of classes, angles and noise.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points around the circles.
    labels : ndarray of int, shape (n,)
        Which circle, 0 to k - 1.

    Raises
    ------
    ValueError
        If a size is below 1, their number is not that of the radii, or a radius or the noise is negative or not finite.
    TypeError
        If a size is not a whole number.

    See Also
    --------
    make_spirals : Two arms instead.

    Notes
    -----
    O(n) time and memory. Angles are uniform and independent of all else, so that the squared distance from the centre
    has mean r^2 + 2 noise^2.

    References
    ----------
    Franca, Rizzo & Vogelstein, figure 4 and table 1.

    Examples
    --------
    >>> import energystats as es
    >>> X, labels = es.datasets.make_circles((50, 50, 50), radii=(1, 3, 5), rng=0)
    >>> X.shape, int(labels.max())
    ((150, 2), 2)
    """
    sizes = as_numbers(radii, "radii")
    if sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"`radii` must have shape (k,), one for each circle, got {sizes.shape}.")
    check_finite(sizes, "radii", None)
    if sizes.min() < 0:
        raise ValueError(f"`radii` must not be negative, got {sizes.min():g}.")
    sd = check_not_negative(noise, "noise")
    generator = as_generator(rng)
    labels = draw_classes((400,) * len(sizes) if n is None else n, len(sizes), generator)
    angle = generator.uniform(0, 2 * np.pi, len(labels))
    X = sizes[labels, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return X + sd * generator.standard_normal(X.shape), labels


def make_spirals(
    n: Sizes = (150, 150),
    *,
    turns: float = 1.2,
    width: float = 1.5,
    start: float = 0.25,
    noise: float = 0.1,
    rng: RandomLike = None,
) -> tuple[FloatArray, IntArray]:
    r"""Draw points on two interleaved spirals with normal noise, the second rotated by half a turn.

    Parameters
    ----------
    n : int or sequence of 2 ints, default (150, 150)
        Number of points, arms at random, or the exact sizes; the default is that of [D].
    turns : float, default 1.2
        Turns of an arm about the centre, counted from the centre.
    width : float, default 1.5
        Distance between neighbouring arms: the radius at angle t is `width` t / pi.
    start : float, default 0.25
        Share of the arm, in angle, that is left out at the centre, 0 <= start < 1.
    noise : float, default 0.1
        Standard deviation of the noise of each coordinate.
    rng : int, Generator or None, default None
        Seed of classes, places and noise.

    Returns
    -------
    X : ndarray of shape (n, 2)
        Points along the spirals.
    labels : ndarray of int, shape (n,)
        Which arm, 0 or 1.

    Raises
    ------
    ValueError
        If a size is below 1, `turns` or `width` is not positive, `start` is outside [0, 1), or `noise` is negative.
    TypeError
        If a size is not a whole number.

    See Also
    --------
    make_circles : Closed curves instead.

    Notes
    -----
    O(n) time and memory. Angles are uniform and independent. [D] prints no formula of its spirals; with these defaults
    Hartigan's method and `metrics.Sine(0.9)` find about 89% of the points, k-means 54%. The accuracy depends on them
    much: that semimetric rewards pairs about 4.5 apart in one cluster.

    References
    ----------
    Franca & Vogelstein (draft), figure "weird" (c) and eq. "rho_sin".

    Examples
    --------
    >>> import energystats as es
    >>> X, labels = es.datasets.make_spirals(rng=0)
    >>> X.shape, int(labels.sum())
    ((300, 2), 150)
    """
    arc, step, sd = check_positive(turns, "turns"), check_positive(width, "width"), check_not_negative(noise, "noise")
    if not isinstance(start, int | float | np.floating) or not 0 <= start < 1:
        raise ValueError(f"`start` must be a number with 0 <= start < 1, got {start!r}.")
    generator = as_generator(rng)
    labels = draw_classes(n, 2, generator)
    angle = 2 * np.pi * arc * generator.uniform(start, 1, len(labels))
    # Archimedean spirals; a negative radius turns the second one by half a circle
    radius = step / np.pi * np.where(labels == 0, angle, -angle)
    X = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return X + sd * generator.standard_normal(X.shape), labels


def draw_classes(
    n: Sizes | ArrayLike, k: int, rng: np.random.Generator, *, weights: ArrayLike | None = None
) -> IntArray:
    """Draw class labels in random order: n independent ones, or exact class sizes if n is a sequence; (n,)."""
    if np.ndim(n) == 0:
        count = check_count(n, "n", low=1)
        return rng.choice(k, size=count, p=check_shares(weights, k)).astype(np.intp)
    if weights is not None:
        raise ValueError("`weights` are the probabilities of classes and have no use where `n` gives their sizes.")
    sizes = [check_count(size, "n", low=1) for size in n]  # type: ignore[union-attr]
    if len(sizes) != k:
        raise ValueError(f"`n` must be a whole number or {k} sizes, one for each class, got {len(sizes)}.")
    # exact sizes, as the papers print them for the cigars and circles [G fig 4]
    return rng.permutation(np.repeat(np.arange(k), sizes)).astype(np.intp)


def draw_normal(
    labels: IntArray, centers: FloatArray, roots: Sequence[FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Draw one normal point for each class label, with the mean and covariance of its class; (n, d)."""
    X = rng.standard_normal((len(labels), centers.shape[1]))
    for j, root in enumerate(roots):
        rows = labels == j
        X[rows] = centers[j] + (X[rows] * root if root.ndim == 1 else X[rows] @ root.T)
    return X


def check_shares(weights: ArrayLike | None, k: int) -> FloatArray:
    """Check probabilities of k classes, equal ones for None; raise ValueError unless they sum to 1; (k,)."""
    if weights is None:
        return np.full(k, 1 / k)
    shares = as_numbers(weights, "weights")
    if shares.shape != (k,):
        raise ValueError(f"`weights` must have shape ({k},), one for each class, got {shares.shape}.")
    check_finite(shares, "weights", None)
    if shares.min() < 0:
        raise ValueError(f"`weights` must not be negative, got {shares.min():g} at position {int(shares.argmin())}.")
    if abs(shares.sum() - 1) > 1e-9:
        raise ValueError(f"`weights` must sum to 1, got {shares.sum():.10g}.")
    return np.asarray(shares / shares.sum())


def covariance_roots(covs: Any, k: int, d: int) -> list[FloatArray]:
    """Compute a root of each class covariance: standard deviations (d,) or a Cholesky factor (d, d)."""
    if isinstance(covs, numbers.Real) or (isinstance(covs, np.ndarray) and covs.ndim == 0):
        covs = [covs] * k
    if isinstance(covs, str) or not hasattr(covs, "__len__"):
        raise TypeError(f"`covs` must be a number or a sequence, got {type(covs).__name__}.")
    if len(covs) != k:
        raise ValueError(f"`covs` must be a number or have one entry for each of the {k} classes, got {len(covs)}.")
    return [_covariance_root(cov, d, f"covs[{j}]") for j, cov in enumerate(covs)]


def _covariance_root(cov: ArrayLike, d: int, name: str) -> FloatArray:
    """Compute a root of a covariance: standard deviations (d,), or the Cholesky factor of a matrix (d, d)."""
    matrix = as_numbers(cov, name)
    if matrix.shape not in {(), (d,), (d, d)}:
        raise ValueError(f"`{name}` must be a variance, {d} variances or a {d} x {d} matrix, got shape {matrix.shape}.")
    check_finite(matrix, name, None)
    if matrix.ndim < 2:
        if matrix.min() <= 0:
            raise ValueError(f"`{name}` must be positive definite, but a variance is {matrix.min():g}.")
        return np.asarray(np.sqrt(np.broadcast_to(matrix, (d,))))
    if (worst := largest_skew(matrix)) is not None:
        skew = abs(matrix[worst] - matrix[worst[::-1]])
        raise ValueError(f"`{name}` must be symmetric, but entries across the diagonal differ by {skew:.3g}.")
    try:
        return np.asarray(np.linalg.cholesky(0.5 * (matrix + matrix.T)))
    except np.linalg.LinAlgError as error:
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(f"`{name}` must be positive definite, but its lowest eigenvalue is {lowest:.4g}.") from error
