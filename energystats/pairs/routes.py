"""Choose the route to sums over pairs: a stored matrix, tiles that are kept or recomputed, or sorted points.

Each knows R only as a linear map. Which one serves a `Dissimilarity` is decided in `choose_route` and nowhere else.
"""

from __future__ import annotations

from energystats._typing import FloatArray
from energystats.pairs.line import Line
from energystats.pairs.tiles import Pairs, Recomputed, Stored, StoredTiles

__all__ = ["choose_route"]


def choose_route(tiles: Recomputed | None, R: FloatArray | None, line: Line | None) -> Pairs:
    """Choose the cheapest route there is: a stored matrix, sorted points, tiles that are kept while they are few."""
    if R is not None:
        return Stored(R)
    if line is not None:
        return line
    assert tiles is not None
    return StoredTiles(tuple(tiles.upper_tiles())) if tiles.are_few else tiles
