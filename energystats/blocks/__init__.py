"""Tables that are not held in memory: blocks of rows on disk, or on the workers of a Dask cluster."""

from __future__ import annotations

from energystats.blocks.door import opened
from energystats.blocks.measures import Measures
from energystats.blocks.rows import Rows

__all__ = ["Measures", "Rows", "opened"]
