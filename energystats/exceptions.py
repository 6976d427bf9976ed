"""Warnings of the package.

Input that cannot be computed raises `ValueError` or `TypeError`; input that can be computed but
deserves a second look warns with one of these classes, so that each can be silenced on its own.
"""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "ColumnScaleWarning",
    "CompilationWarning",
    "ConvergenceWarning",
    "DisconnectedGraphWarning",
    "DoubleDippingWarning",
    "EnergyStatsWarning",
    "MissingValuesWarning",
    "NotCalibratedWarning",
    "NotNegativeTypeWarning",
    "TiesWarning",
    "warn",
]


class EnergyStatsWarning(UserWarning):
    """Base class of every warning issued by energystats."""


class NotNegativeTypeWarning(EnergyStatsWarning):
    """The semimetric is not of negative type: S may be negative and Lloyd's rule may raise W."""


class NotCalibratedWarning(EnergyStatsWarning):
    """The level of the test was measured to be off under the conditions at hand."""


class DoubleDippingWarning(EnergyStatsWarning):
    """Labels found from the data are tested as if they had been known in advance."""


class ColumnScaleWarning(EnergyStatsWarning):
    """The columns have very different spreads, so one of them decides every distance."""


class TiesWarning(EnergyStatsWarning):
    """Tied values were spread over one grid step, because point masses count as modes."""


class MissingValuesWarning(EnergyStatsWarning):
    """Rows with missing values were left out."""


class ConvergenceWarning(EnergyStatsWarning):
    """An iterative method stopped at its limit before it had converged."""


class DisconnectedGraphWarning(EnergyStatsWarning):
    """The graph has several components, which cost nothing to cut apart."""


class CompilationWarning(EnergyStatsWarning):
    """Compiled loops are unavailable; the plain Python ones run instead, slowly."""


def warn(message: str, category: type[EnergyStatsWarning]) -> None:
    """Warn at the line of the user's code that called into the package."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("energystats.", "contextlib")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
