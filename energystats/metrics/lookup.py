"""Find the semimetric that a user's `metric` and `alpha` stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from energystats._typing import FloatArray
from energystats.inputs.options import check_alpha
from energystats.metrics.base import KNOWN_NAMES, SCIPY_NAMES, Metric, MetricLike, find_metric_name
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.community import Aitchison, ChiSquare, Chord, Hellinger, Jaccard, Kulczynski
from energystats.metrics.general import CallableMetric, Precomputed, SciPyMetric
from energystats.metrics.gower import Gower
from energystats.metrics.kernel import Exponential, Gaussian

__all__ = ["resolve"]


COMMUNITY: dict[str, Callable[[float], Metric]] = {
    "aitchison": Aitchison,
    "chi2": ChiSquare,
    "chord": Chord,
    "hellinger": Hellinger,
    "kulczynski": Kulczynski,
    "ruzicka": partial(Jaccard, True),
}


def resolve(metric: MetricLike, alpha: float) -> Metric:
    """Build the metric object that the user's options `metric` and `alpha` stand for.

    Parameters
    ----------
    metric : str, Metric or callable
        As every function of the package takes it. Names may be written as R and scikit-learn have them where these
        mean the same: "manhattan", "l1" and "taxicab" are "cityblock", "l2" is "euclidean", "bray" is "braycurtis",
        "maximum", "supremum" and "chebychev" are "chebyshev", "binary" is "jaccard", "matching" is "hamming",
        "sorensen" is "dice", "chisq" is "chi2"; capitals, blanks and hyphens do not count. A name that SciPy has means
        what it means there: vegan's "jaccard" of amounts is "ruzicka", `metrics.Jaccard(quantitative=True)`, its
        "canberra" `metrics.Canberra(scaled=True)`.
    alpha : float
        Power of a named distance, from 0.001 to 2; must be 1 for anything else.

    Returns
    -------
    Metric
        Not yet fitted to data.

    Raises
    ------
    ValueError
        If the name is unknown, `alpha` is below 0.001 or above 2, or not 1 where rho is complete.
    TypeError
        If `metric` is neither a name, a metric object nor a callable.

    Examples
    --------
    >>> import energystats as es
    >>> es.metrics.resolve("euclidean", 0.5)
    Euclidean(alpha=0.5)
    """
    alpha = check_alpha(alpha)
    if isinstance(metric, str):
        name = find_metric_name(metric, KNOWN_NAMES, "metric", ", or an object")
        if name == "euclidean":
            return Euclidean(alpha)
        if name in SCIPY_NAMES:
            return SciPyMetric(name, alpha)
        if name == "gower":
            return Gower(alpha)
        if name in COMMUNITY:
            return COMMUNITY[name](alpha)
        resolved: Metric = {"exponential": Exponential, "gaussian": Gaussian, "precomputed": Precomputed}[name]()
    elif isinstance(metric, Metric):
        resolved = metric
    elif isinstance(metric, type) and issubclass(metric, Metric):
        raise TypeError(f"`metric` must be an object, got the class; write `es.metrics.{metric.__name__}(...)`.")
    elif callable(metric):
        if getattr(metric, "__module__", "") == "scipy.spatial.distance":
            name = getattr(metric, "__name__", "")
            raise TypeError(f"`metric` must compare all rows, got SciPy's function of two; give its name, {name!r}.")
        resolved = CallableMetric(cast(Callable[[FloatArray, FloatArray], FloatArray], metric))
    else:
        raise TypeError(f"`metric` must be a name, an `es.metrics` object or a callable, got {type(metric).__name__}.")
    # a power of a bounded or a user's rho would be another semimetric than the one that was named
    if alpha != 1:
        raise ValueError(
            f"`alpha` raises a named distance to a power and must be 1 for {resolved!r}, whose rho is complete; "
            f"got {alpha:g}{'. Its power is its own: `alpha=` of the object' * hasattr(resolved, 'alpha')}."
        )
    return resolved
