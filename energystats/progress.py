"""The bar behind `progress=True`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

__all__ = ["with_bar"]

Block = TypeVar("Block")


def with_bar(
    blocks: Iterable[Block], progress: bool, *, total: int, unit: str, size: Callable[[Block], int]
) -> Generator[Block, None, None]:
    """Pass blocks of work through a tqdm bar that counts `size` items for each, if there is to be one.

    Where the caller does more than collect the blocks, `contextlib.closing` closes the bar when that fails.
    """
    if not progress:
        yield from blocks
        return
    with warnings.catch_warnings():  # in a notebook without ipywidgets the bar is made of text, which needs no advice
        warnings.filterwarnings("ignore", message="IProgress not found")
        from tqdm.auto import tqdm

    with tqdm(total=total, unit=unit) as bar:
        for block in blocks:
            yield block
            bar.update(size(block))
