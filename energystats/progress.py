"""The bar behind `progress=True`."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TypeVar

__all__ = ["with_bar"]

Block = TypeVar("Block", bound=Sized)


def with_bar(blocks: Iterator[Block], progress: bool, *, total: int, unit: str) -> Iterator[Block]:
    """Pass blocks of work through a tqdm bar that counts their items, if there is to be one."""
    if not progress:
        yield from blocks
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=unit) as bar:
        for block in blocks:
            yield block
            bar.update(len(block))
