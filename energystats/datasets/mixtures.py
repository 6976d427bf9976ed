"""Return parameters of the papers' mixtures, and the best accuracy that any classifier can reach on a mixture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from energystats._typing import ArrayLike, FloatArray, RandomLike
from energystats.datasets.makers import check_shares, covariance_roots, draw_classes, draw_normal
from energystats.inputs.arrays import as_points
from energystats.inputs.options import as_generator, check_count, check_option

__all__ = ["PAPER_MIXTURES", "bayes_accuracy", "paper_mixture"]


VARIANCES_27 = (1.367, 3.175, 3.247, 4.403, 1.249, 1.969, 4.035, 4.237, 2.813, 3.637)
STEP = 20_000  # points at a time, so that memory does not grow with the number of draws

Parameters = tuple[FloatArray, list[FloatArray]]


def _shift_means(dim: int, size: float, signal: int, first: ArrayLike = 1.0, second: ArrayLike = 1.0) -> Parameters:
    """Return means and variances of two normal classes whose means differ by `size` in `signal` dimensions."""
    means = np.zeros((2, dim))
    means[1, :signal] = size
    variances = [np.ones(dim), np.ones(dim)]
    for variance, given in zip(variances, (np.asarray(first), np.asarray(second)), strict=True):
        variance[: given.size if given.ndim else dim] = given
    return means, variances


def _mixture_on_line(means: tuple[float, float], deviations: tuple[float, float]) -> Parameters:
    """Return means and variances of a two-component mixture of univariate normal distributions."""
    return np.array(means)[:, None], [np.array([s**2]) for s in deviations]


# name: (fixed number of dimensions or None, the smallest, parameters), after [G 25 to 28, fig 4] and the draft [D]
PAPER_MIXTURES: dict[str, tuple[int | None, int, Callable[[int], Parameters]]] = {
    "fig1": (1, 1, lambda dim: _mixture_on_line((1.5, 0.0), (0.3, 1.5))),
    "fig1-draft": (1, 1, lambda dim: _mixture_on_line((0.0, 5.0), (1.0, 2.0))),
    "fig1-draft-lognormal": (1, 1, lambda dim: _mixture_on_line((0.0, -1.5), (0.3, 1.5))),
    "fig2L": (None, 10, lambda dim: _shift_means(dim, 0.7, 10)),
    "fig2R": (None, 10, lambda dim: _shift_means(dim, 1.0, 10, second=VARIANCES_27)),
    "fig2-draft": (None, 10, lambda dim: _shift_means(dim, 0.7, 10, second=(0.5,) * 10)),
    "fig3": (20, 20, lambda dim: _shift_means(dim, 0.5, 5, first=0.5)),
    "unbalanced": (4, 4, lambda dim: _shift_means(dim, 1.5, 2, second=(0.5, 0.5))),
    "lognormal-dim": (None, 10, lambda dim: _shift_means(dim, 0.5, 10, first=0.3)),
    "cigars": (2, 2, lambda dim: _shift_means(dim, 6.5, 1, first=(1.0, 20.0), second=(1.0, 20.0))),
}


def paper_mixture(name: str, dim: int | None = None) -> dict[str, Any]:
    r"""Return means and covariances of a two-class normal mixture of the papers, for `make_gaussian_mixture`.

    Parameters
    ----------
    name : str
        "fig1" [G 25], "fig2L" [G 26], "fig2R" [G 27], "fig3" [G 28], "cigars" [G fig 4], "fig1-draft" and
        "fig1-draft-lognormal" [D fig "1d"], "fig2-draft" [D "gauss2"], "unbalanced" [D "gauss3"] or "lognormal-dim"
        [D fig "unbalanced" b].
    dim : int or None, default None
        Number of coordinates for "fig2L", "fig2R", "fig2-draft" and "lognormal-dim", at least 10, the default; the
        coordinates after the tenth carry no signal in the mean. The others have a fixed number.

    Returns
    -------
    dict
        "means" of shape (2, d) and "covs", a list of two arrays of d variances: the arguments of
        `make_gaussian_mixture` and `bayes_accuracy`, and of `make_lognormal_mixture`, whose points are exp of a
        normal mixture ("fig1", "fig3" both ways in [G]; "fig1-draft-lognormal" and "lognormal-dim").

    Raises
    ------
    ValueError
        If the name is unknown, or `dim` is below 10 or not the fixed number.
    TypeError
        If `dim` is not a whole number.

    See Also
    --------
    make_gaussian_mixture : Draws points.
    bayes_accuracy : The best possible accuracy.

    Notes
    -----
    O(d) time and memory. Classes are equally likely in [G]; [D] takes classes of equal size, and "unbalanced" is
    drawn by `make_unbalanced`.

    References
    ----------
    Franca, Rizzo & Vogelstein, eqs 23 to 28; Franca & Vogelstein (draft), eqs "gauss2" and "gauss3".

    Examples
    --------
    >>> import energystats as es
    >>> parameters = es.datasets.paper_mixture("fig2L", dim=50)
    >>> parameters["means"].shape
    (2, 50)
    >>> X, labels = es.datasets.make_gaussian_mixture(200, **parameters, rng=0)
    >>> X.shape
    (200, 50)
    """
    check_option(name, "name", tuple(PAPER_MIXTURES))
    fixed, lowest, build = PAPER_MIXTURES[name]
    d = lowest if dim is None else check_count(dim, "dim", low=1)
    if fixed is not None and d != fixed:
        raise ValueError(f"`dim` must be {fixed} for {name!r}, got {d}.")
    if d < lowest:
        raise ValueError(f"`dim` must be at least {lowest} for {name!r}, got {d}.")
    means, variances = build(d)
    return {"means": means, "covs": variances}


def bayes_accuracy(
    means: ArrayLike,
    covs: Any = 1.0,
    *,
    weights: ArrayLike | None = None,
    n_draws: int = 200_000,
    rng: RandomLike = 0,
) -> float:
    r"""Estimate by simulation the accuracy of the best classifier of a normal mixture with known parameters.

    Parameters
    ----------
    means : array_like of shape (k,) or (k, d)
        One mean a class, as for `make_gaussian_mixture`.
    covs : float or sequence of k entries, default 1.0
        Covariances, as there.
    weights : array_like of shape (k,) or None, default None
        Probabilities of the classes; None means equal.
    n_draws : int, default 200_000
        Points drawn.
    rng : int, Generator or None, default 0
        Seed.

    Returns
    -------
    float
        Probability that the likeliest class, given the point, is the right one. No rule that sees one point at a time
        does better; the same number holds for the lognormal mixture, since exp changes no ratio of densities.

    Raises
    ------
    ValueError
        If a covariance is not positive definite, the weights do not sum to 1, dimensions do not match or `n_draws` is
        below 1.
    TypeError
        If `n_draws` is not a whole number, or `means`, `covs` or `weights` are not real numbers.

    See Also
    --------
    energystats.clustering_accuracy : Accuracy of labels found.
    paper_mixture : Parameters of the papers' mixtures.

    Notes
    -----
    The mean of max_j P(class j | x) over draws of x, whose standard error is at most 0.5 / sqrt(`n_draws`), .0011 by
    default. O(n_draws k d) time, O(d) memory beyond a fixed block of 20,000 rows; a covariance matrix costs O(d^2) a
    point. Of two classes with the same covariance, equally likely and delta standard deviations apart, it is
    Phi(delta / 2).

    References
    ----------
    Franca, Rizzo & Vogelstein, figures 1 to 3, the dashed lines.

    Examples
    --------
    >>> import energystats as es
    >>> round(es.datasets.bayes_accuracy(**es.datasets.paper_mixture("fig2L")), 2)
    0.87
    """
    centers = as_points(means, "means")
    k, d = centers.shape
    roots = covariance_roots(covs, k, d)
    shares = check_shares(weights, k)
    n_draws = check_count(n_draws, "n_draws", low=1)
    generator = as_generator(rng)
    total = 0.0
    for begin in range(0, n_draws, STEP):
        size = min(STEP, n_draws - begin)
        classes = draw_classes(size, k, generator, weights=shares)
        X = draw_normal(classes, centers, roots, generator)
        total += float(_best_posterior(X, centers, roots, shares).sum())
    return total / n_draws


def _best_posterior(X: FloatArray, centers: FloatArray, roots: list[FloatArray], shares: FloatArray) -> FloatArray:
    """Compute the posterior probability of the likeliest class of every point; (n, d) -> (n,)."""
    from scipy.linalg import solve_triangular

    logs = np.empty((len(centers), len(X)))
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    for j, (center, root) in enumerate(zip(centers, roots, strict=True)):
        if root.ndim == 1:
            Z, log_det = ((X - center) / root).T, float(np.log(root).sum())
        else:
            Z, log_det = solve_triangular(root, (X - center).T, lower=True), float(np.log(np.diagonal(root)).sum())
        logs[j] = log_shares[j] - log_det - 0.5 * (Z**2).sum(axis=0)
    # 1 / sum exp(log p_j - max) is the posterior of the likeliest class, without overflow
    logs -= logs.max(axis=0)
    return np.asarray(1 / np.exp(logs).sum(axis=0))
