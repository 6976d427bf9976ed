"""Which labels may be exchanged under the null hypothesis: free rows, rows within strata, or whole plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from energystats._core.labelings import Exchangeable
from energystats._typing import ArrayLike, IntArray
from energystats.dissimilarity import Groups

__all__ = ["Design"]


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """The exchangeable units of a test.

    Attributes
    ----------
    strata : Groups or None
        Blocks of rows within which labels are permuted.
    plots : Groups or None
        Sets of rows that carry one label together.
    """

    strata: Groups | None = None
    plots: Groups | None = None

    @classmethod
    def of(
        cls,
        groups: Groups,
        *,
        strata: ArrayLike | None = None,
        whole_plots: ArrayLike | None = None,
        paired: bool = False,
    ) -> Self:
        """From what a user says of the rows, checked against their groups."""
        n = groups.codes.size
        if paired:
            if strata is not None or whole_plots is not None:
                raise ValueError("`paired` makes its own strata; leave `strata` and `whole_plots` out.")
            return cls(strata=_subjects(groups))
        plots = None if whole_plots is None else Groups.from_labels(whole_plots, n, name="whole_plots")
        blocks = None if strata is None else Groups.from_labels(strata, n, name="strata")
        design = cls(strata=blocks, plots=plots)
        if plots is not None:
            _check_constant(groups, plots, "groups")
            if blocks is not None:
                _check_constant(blocks, plots, "strata")
        design.check_moves(groups)
        return design

    def scheme(self, codes: IntArray) -> Exchangeable:
        """How to permute these labels."""
        rows = np.arange(codes.size, dtype=np.intp)
        first = rows if self.plots is None else np.unique(self.plots.codes, return_index=True)[1]
        blocks: tuple[IntArray, ...] = (np.arange(first.size, dtype=np.intp),)
        if self.strata is not None:
            stratum = self.strata.codes[first]
            blocks = tuple(np.flatnonzero(stratum == b) for b in range(self.strata.k))
        return Exchangeable(codes[first], blocks, None if self.plots is None else self.plots.codes)

    def check_moves(self, groups: Groups) -> None:
        """Raise when no label can change its place."""
        scheme = self.scheme(groups.codes)
        if self.strata is None and self.plots is None:
            return
        if all(np.ptp(scheme.codes[units]) == 0 for units in scheme.blocks):
            where = "" if self.strata is None else f"in each of its {self.strata.k} blocks "
            what = "rows have" if self.plots is None else "whole plots have"
            name = "whole_plots" if self.strata is None else "strata"
            raise ValueError(f"`{name}` must leave something to permute, but {where}all {what} one group.")

    @property
    def is_free(self) -> bool:
        """Whether every labeling of the rows is allowed."""
        return self.strata is None and self.plots is None

    @property
    def n_strata(self) -> int:
        """Number of blocks; 0 for none."""
        return 0 if self.strata is None else self.strata.k

    @property
    def n_plots(self) -> int:
        """Number of whole plots; 0 for none."""
        return 0 if self.plots is None else self.plots.k


def _subjects(groups: Groups) -> Groups:
    """One stratum for each row of the samples: the i-th rows of all samples belong to one subject."""
    sizes = groups.sizes
    if (sizes != sizes[0]).any() or (np.diff(groups.codes) < 0).any():
        raise ValueError(
            "`paired` needs samples of one size, one below the other, row i of each being subject i; got groups of "
            f"{', '.join(map(str, sizes.tolist()))} rows{' in mixed order' * bool((sizes == sizes[0]).all())}. For a "
            "pooled table name the subjects: `strata=subject`."
        )
    n = int(sizes[0])
    return Groups(np.tile(np.arange(n, dtype=np.intp), groups.k), tuple(range(n)))


def _check_constant(labels: Groups, plots: Groups, name: str) -> None:
    """All rows of a whole plot share one label."""
    largest, smallest = np.full(plots.k, -1), np.full(plots.k, labels.k)
    np.maximum.at(largest, plots.codes, labels.codes)
    np.minimum.at(smallest, plots.codes, labels.codes)
    mixed = np.flatnonzero(largest != smallest)
    if mixed.size:
        j = int(mixed[0])
        raise ValueError(
            f"`{name}` must be the same on all rows of a whole plot, but plot {plots.names[j]!r} has "
            f"{labels.names[smallest[j]]!r} and {labels.names[largest[j]]!r}."
        )
