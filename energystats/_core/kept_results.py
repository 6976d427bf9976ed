"""Keep results of functions of arrays that are asked for the same arrays again, as by every split of a test."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

import numpy as np

from energystats._typing import AnyArray

__all__ = ["keeping_results"]


T = TypeVar("T")
KEPT = 64  # results
KEPT_UP_TO = 20_000  # numbers in the first array: longer ones are rarely seen again, and would fill the memory


def keeping_results(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of one-dimensional arrays to keep its last results, which callers must not change."""

    @lru_cache(maxsize=KEPT)
    def of_bytes(*arrays: tuple[bytes, str]) -> T:
        return function(*(np.frombuffer(content, dtype) for content, dtype in arrays))

    @wraps(function)
    def of_arrays(*arrays: AnyArray) -> T:
        if arrays[0].size > KEPT_UP_TO:
            return function(*arrays)
        return of_bytes(*((array.tobytes(), array.dtype.str) for array in arrays))

    return of_arrays
