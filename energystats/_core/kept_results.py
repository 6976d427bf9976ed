"""Keep results of functions of arrays that are asked for the same arrays again, as by every split of a test."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeAlias, TypeVar

from energystats._core.interrupts import uninterrupted
from energystats._core.locks import Alone
from energystats._typing import AnyArray

__all__ = ["keeping_results"]


T = TypeVar("T")
Key: TypeAlias = tuple[tuple[bytes, str], ...]
KEPT_UP_TO = 20_000  # numbers in the first array: longer ones are rarely seen again, and would fill the memory
KEPT_IN_ALL = 64 * KEPT_UP_TO  # numbers in the first arrays: of wide tables every column


def keeping_results(function: Callable[..., T]) -> Callable[..., T]:
    """Decorate a function of one-dimensional arrays to keep its last results, which callers must not change."""
    kept: OrderedDict[Key, tuple[T, int]] = OrderedDict()
    lock = Alone()
    numbers = 0

    @wraps(function)
    def of_arrays(*arrays: AnyArray) -> T:
        nonlocal numbers
        size = arrays[0].size
        if size > KEPT_UP_TO:
            return function(*arrays)
        key = tuple((blake2b(a.tobytes(), digest_size=16).digest(), a.dtype.str) for a in arrays)
        with lock:
            if key in kept:
                kept.move_to_end(key)
                return kept[key][0]
        result = function(*arrays)
        with uninterrupted(), lock:
            numbers += 0 if key in kept else size
            kept[key] = (result, size)
            while numbers > KEPT_IN_ALL:
                numbers -= kept.popitem(last=False)[1][1]
        return result

    return of_arrays
