"""Choose the route to sums over pairs: a stored matrix, tiles that are kept or recomputed, or sorted points.

Each knows R only as a linear map. Which one serves a `Dissimilarity` is decided in `choose_route` and nowhere else.
"""

from __future__ import annotations

from energystats.pairs.line import Line
from energystats.pairs.tiles import Pairs, Recomputed, StoredTiles

__all__ = ["choose_route"]


def choose_route(tiles: Recomputed, line: Line | None = None) -> Pairs:
    """Return the fastest object for sums over pairs of points in memory: a `Line`, stored or recomputed tiles."""
    if line is not None:
        return line
    return StoredTiles(tuple(tiles.upper_tiles())) if tiles.are_few else tiles
