"""Tables that are not held in memory: blocks of rows on disk, or on the workers of a Dask cluster."""

from __future__ import annotations

from energystats.blocks.door import labels_here, opened
from energystats.blocks.measures import Measures
from energystats.blocks.rows import Rows
from energystats.blocks.values import BlockValues, ValuesHere, slices_of

__all__ = ["BlockValues", "Measures", "Rows", "ValuesHere", "labels_here", "opened", "slices_of"]
