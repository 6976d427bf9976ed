"""Choose the route to sums over pairs of points in memory: sorted points, or tiles that are kept or recomputed.

Each knows R only as a linear map. A matrix, blocks of rows and slices have routes of their own.
"""

from __future__ import annotations

from energystats.pairs.line import Line
from energystats.pairs.tiles import Pairs, Recomputed, StoredTiles

__all__ = ["choose_route"]


def choose_route(tiles: Recomputed, line: Line | None = None) -> Pairs:
    """Choose the fastest object for sums over pairs of points: sorted line, stored or recomputed tiles."""
    if line is not None:
        return line
    return StoredTiles(tuple(tiles.upper_tiles())) if tiles.are_few else tiles
