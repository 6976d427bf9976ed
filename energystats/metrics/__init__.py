"""Define semimetrics rho, the kernels that generate them, and which of them are of negative type [theory 1, 2]."""

from energystats.metrics.base import Metric
from energystats.metrics.closed_form import Euclidean, Localised, Sine
from energystats.metrics.community import Aitchison, Canberra, ChiSquare, Chord, Hellinger, Jaccard, Kulczynski
from energystats.metrics.general import CallableMetric, Precomputed, SciPyMetric
from energystats.metrics.gower import Gower
from energystats.metrics.kernel import Exponential, Gaussian, Kernel
from energystats.metrics.lookup import resolve

__all__ = [
    "Aitchison",
    "CallableMetric",
    "Canberra",
    "ChiSquare",
    "Chord",
    "Euclidean",
    "Exponential",
    "Gaussian",
    "Gower",
    "Hellinger",
    "Jaccard",
    "Kernel",
    "Kulczynski",
    "Localised",
    "Metric",
    "Precomputed",
    "SciPyMetric",
    "Sine",
    "resolve",
]
