"""The bar behind `progress=True`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

__all__ = ["with_bar"]

Item = TypeVar("Item")


def with_bar(items: Iterable[Item], progress: bool, *, total: int, unit: str) -> Iterable[Item]:
    """Pass the items through a tqdm bar, if there is to be one."""
    if not progress:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, total=total, unit=unit)
    return bar
