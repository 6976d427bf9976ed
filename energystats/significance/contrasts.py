"""The table of one-versus-rest contrasts."""

from __future__ import annotations

from collections.abc import Sequence

from energystats.multiplicity import adjust
from energystats.results import Contrast

__all__ = ["contrast_rows"]


def contrast_rows(names: Sequence[str], statistics: Sequence[float], pvalues: Sequence[float]) -> tuple[Contrast, ...]:
    """Contrasts with p-values adjusted by Holm's method."""
    table = zip(names, statistics, pvalues, adjust(pvalues, "holm"), strict=True)
    return tuple(Contrast(name, float(s), float(p), float(q)) for name, s, p, q in table)
