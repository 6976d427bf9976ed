"""Designs of studies, and the labels that they allow to exchange: of rows, of rows within strata, or of whole plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from energystats._core.labelings import Exchangeable
from energystats._typing import ArrayLike, IntArray
from energystats.dissimilarity import Groups
from energystats.inputs.labels import is_single, notes_on_names
from energystats.inputs.names import counts_only
from energystats.inputs.options import check_flag
from energystats.inputs.table import InputTable, check_same_names

__all__ = ["FREE", "GROUPS_NAMED", "Design", "ExchangeableUnits", "check_design", "exchangeable_units"]


GROUPS_NAMED = 5  # in a note
# rows of one whole plot for each of another, in the mean of the groups, from which a level above .05 was seen
UNLIKE_PLOTS = 2.5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design:
    """Describe how rows were assigned to groups, so that a test permutes only what was exchangeable.

    It is checked against the rows when a test uses it.

    Parameters
    ----------
    strata : array_like of shape (n,) or str, optional
        Block of each row of the pooled table, or of all rows, sample after sample; labels are permuted within blocks
        only, which takes care of any effect of the blocks. In `disco` also the name of a column of `data`.
    paired : bool, default False
        Row i of every sample, or of every group of a pooled table, is the same subject; labels are permuted within
        subjects. Rows of a pooled table stand group by group; where subjects have labels, `strata` takes them in any
        order. Where rows have names, those of the samples must be the same row by row, or all different.
    whole_plots : array_like of shape (n,), optional
        Set of rows that were treated together, such as a field, a cage or a school, for each row; all its rows have one
        group, and the labels of whole plots are permuted (within strata, if there are any).

    See Also
    --------
    energy_test, mmd_test, pairwise_tests, spread_test : Take all three.
    disco : Takes strata.

    Examples
    --------
    >>> import energystats as es
    >>> before, after = [1.2, 2.0, 3.1, 4.4, 5.0], [1.5, 2.4, 3.3, 4.9, 5.2]
    >>> es.energy_test(before, after, design=es.Design(paired=True)).n_resamples  # all labelings within 5 subjects
    32
    >>> es.Design(strata=["north", "south", "north", "south"])
    Design(strata=<4 labels>)
    """

    strata: ArrayLike | str | None = None
    paired: bool = False
    whole_plots: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_flag(self.paired, "paired")
        for name in ("strata", "whole_plots"):  # what happens to the user's array later must not change the design
            labels = getattr(self, name)
            object.__setattr__(self, name, labels.copy() if hasattr(labels, "copy") else labels)

    def __repr__(self) -> str:
        parts = [f"strata={_show_labels(self.strata)}"] * (self.strata is not None)
        parts += [f"paired={self.paired}"] * (self.paired is not False)
        parts += [f"whole_plots={_show_labels(self.whole_plots)}"] * (self.whole_plots is not None)
        return f"Design({', '.join(parts)})"


def _show_labels(labels: Any) -> str:
    """Describe a column of labels for a message: the repr of its name, or the length of an array."""
    if isinstance(labels, str):
        return repr(labels)
    if is_single(labels) or hasattr(labels, "__dask_graph__"):
        return f"<{type(labels).__name__}>"
    return f"<{len(labels)} labels>"


def check_design(design: Design | None) -> Design:
    """Check that a design is a `Design`; return it, or one without restrictions for None."""
    if design is None:
        return Design()
    if not isinstance(design, Design):
        raise TypeError(
            f"`design` must be an `es.Design`, got {type(design).__name__}; for example `es.Design(strata=block)`, "
            "`es.Design(paired=True)` or `es.Design(whole_plots=cage)`."
        )
    return design


def exchangeable_units(
    design: Design, tables: Sequence[InputTable], labels: Sequence[Any], groups: Groups
) -> ExchangeableUnits:
    """Find what a design lets a test permute, rows or whole plots, from labels of groups, strata and plots."""
    given, strata, whole_plots = labels
    units = ExchangeableUnits.of(groups, Design(strata, design.paired, whole_plots))
    # row i of every sample is one subject, so names of rows must agree where there are any
    if design.paired:
        indices = [index for table in tables for index in table.indices or (table.index,)]
        if len(indices) == 1:  # of a pooled table, whose labels may have the names of its rows where it has none
            pooled = getattr(given, "index", None) if indices[0] is None else indices[0]
            indices = (
                [] if pooled is None or counts_only(pooled) else [pooled[groups.codes == j] for j in range(groups.k)]
            )
        check_same_names(indices, "Paired samples")
        units = replace(units, unlike_names=_find_unlike_names(indices))
    return units


def _find_unlike_names(indices: Sequence[Any]) -> tuple[Any, ...]:
    """Return the first row name of each of several samples if no name occurs twice among them; else an empty tuple."""
    if len(indices) < 2 or any(index is None or not len(index) for index in indices):
        return ()
    if not indices[0].append(list(indices[1:])).is_unique:
        return ()
    return tuple(index.tolist()[0] for index in indices)


@dataclass(frozen=True, slots=True, eq=False)
class ExchangeableUnits:
    """Hold the rows or whole plots whose labels a test permutes, and the strata within which it does so."""

    strata: Groups | None = None  # blocks of rows within which labels are permuted
    plots: Groups | None = None  # sets of rows that carry one label together
    unlike_names: tuple[Any, ...] = ()  # of paired samples without a common row name, the names of their first rows

    @classmethod
    def of(cls, groups: Groups, design: Design) -> Self:
        """Check strata and whole plots of a design against groups of rows, and return the units to permute."""
        n = groups.codes.size
        if design.paired:
            if design.strata is not None or design.whole_plots is not None:
                raise ValueError("`paired` makes its own strata; leave `strata` and `whole_plots` out.")
            return cls(strata=_subjects(groups))
        plots = None if design.whole_plots is None else Groups.from_labels(design.whole_plots, n, name="whole_plots")
        blocks = None if design.strata is None else Groups.from_labels(design.strata, n, name="strata")
        units = cls(strata=blocks, plots=plots)
        if plots is not None:
            _check_constant(groups, plots, "groups")
            if blocks is not None:
                _check_constant(blocks, plots, "strata")
        units.check_moves(groups)
        return units

    def among(self, rows: IntArray) -> Self:
        """Return the exchangeable units of a subset of the rows, with strata and plots renumbered."""
        strata, plots = (
            None if labels is None else _labels_among(labels, rows) for labels in (self.strata, self.plots)
        )
        return type(self)(strata, plots, self.unlike_names)

    @property
    def first_rows(self) -> IntArray | slice:
        """Return the number of one row of every whole plot, or a slice of all rows if there are no whole plots."""
        return slice(None) if self.plots is None else np.unique(self.plots.codes, return_index=True)[1]

    def smallest_sizes(self, groups: Groups) -> IntArray:
        """Return the fewest rows that each group can have under a permutation of whole plots; (k,)."""
        if self.plots is None:
            return groups.sizes
        first, rows = self.first_rows, self.plots.sizes
        strata = np.zeros(rows.size, dtype=np.intp) if self.strata is None else self.strata.codes[first]
        fewest = np.zeros(groups.k, dtype=np.intp)
        for stratum in range(int(strata.max()) + 1):
            inside = strata == stratum
            smallest = np.concatenate(([0], np.cumsum(np.sort(rows[inside]))))
            fewest += smallest[np.bincount(groups.codes[first][inside], minlength=groups.k)]
        return fewest

    def scheme(self, codes: IntArray) -> Exchangeable:
        """Return how group labels may be permuted within strata and as whole plots; codes (n,)."""
        first = np.arange(codes.size, dtype=np.intp)[self.first_rows]
        blocks: tuple[IntArray, ...] = (np.arange(first.size, dtype=np.intp),)
        if self.strata is not None:
            stratum = self.strata.codes[first]
            order = np.argsort(stratum, kind="stable").astype(np.intp)
            blocks = tuple(np.split(order, np.cumsum(np.bincount(stratum, minlength=self.strata.k))[:-1]))
        return Exchangeable(codes[first], blocks, None if self.plots is None else self.plots.codes)

    def check_moves(self, groups: Groups) -> None:
        """Raise ValueError if no permutation that a design allows changes the group labels."""
        if self.strata is None and self.plots is None:
            return
        scheme = self.scheme(groups.codes)
        # one labeling alone would give p = 1 whatever the data
        if all(np.ptp(scheme.codes[block]) == 0 for block in scheme.blocks):
            where = "" if self.strata is None else f"in each of its {self.strata.k} blocks "
            what = "rows have" if self.plots is None else "whole plots have"
            name = "whole_plots" if self.strata is None else "strata"
            raise ValueError(f"`{name}` must leave something to permute, but {where}all {what} one group.")

    @property
    def is_free(self) -> bool:
        """Return whether every permutation of the rows is allowed (neither strata nor whole plots)."""
        return self.strata is None and self.plots is None

    @property
    def spoken(self) -> str:
        """Return words for the end of a null hypothesis, such as "within every stratum"; empty without a design."""
        within = "" if self.strata is None else " within every stratum"
        return within if self.plots is None else f"{within}, whole plots being exchangeable"

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on names of strata, whole plots and paired rows that may be misread."""
        if self.unlike_names:
            return (
                "Rows were paired by their position: no row name occurs in two samples. The first rows, "
                f"{' and '.join(map(repr, self.unlike_names))}, are one subject; bring the rows into one order first.",
            )
        of_strata = () if self.strata is None else notes_on_names(self.strata.names, "stratum", "strata")
        return of_strata + (() if self.plots is None else notes_on_names(self.plots.names, "whole plot", "whole plots"))

    def notes_on(self, groups: Groups) -> tuple[str, ...]:
        """Return notes on groups whose labels never move, and on groups whose whole plots are larger than others'."""
        return self._note_unmoved(groups) + self._note_plot_sizes(groups)

    def _note_plot_sizes(self, groups: Groups) -> tuple[str, ...]:
        """Return a note on groups whose whole plots have several times the rows of another group's; else ()."""
        if self.plots is None:
            return ()
        plots = np.bincount(groups.codes[self.first_rows], minlength=groups.k)
        rows = groups.sizes / plots
        few, many = int(rows.argmin()), int(rows.argmax())
        if rows[many] < UNLIKE_PLOTS * rows[few]:
            return ()
        return (
            f"The whole plots of {groups.names[many]!r} have {rows[many]:.3g} rows in the mean, those of "
            f"{groups.names[few]!r} {rows[few]:.3g}: whole plots are exchangeable only if their sizes have nothing to "
            "do with the groups (with 4 plots of 20 rows beside 12 of 4, and 3 of 30 beside 9 of 3, equal "
            "distributions were rejected .07 of the time at level .05, 400 samples each).",
        )

    def _note_unmoved(self, groups: Groups) -> tuple[str, ...]:
        """Return a note on groups that share no stratum with others, so that their labels never move."""
        if self.strata is None:
            return ()
        counts = np.zeros((self.strata.k, groups.k), np.intp)
        np.add.at(counts, (self.strata.codes, groups.codes), 1)
        shared = (counts > 0).sum(axis=1) > 1
        moves = (counts[shared] > 0).any(axis=0)
        unmoved = [groups.names[j] for j in np.flatnonzero(~moves)]
        if not unmoved:
            return ()
        named = ", ".join(map(repr, unmoved[:GROUPS_NAMED])) + ", ..." * (len(unmoved) > GROUPS_NAMED)
        return (
            f"No stratum has rows of {named} and of another group: their labels stay where they are, and p says "
            "nothing of their distribution.",
        )

    @property
    def n_strata(self) -> int:
        """Return the number of strata in a design; 0 for none."""
        return 0 if self.strata is None else self.strata.k

    @property
    def n_plots(self) -> int:
        """Return the number of whole plots in a design; 0 for none."""
        return 0 if self.plots is None else self.plots.k


FREE = ExchangeableUnits()


def _labels_among(labels: Groups, rows: IntArray) -> Groups:
    """Select the labels of some rows, and renumber their codes without gaps."""
    kept, codes = np.unique(labels.codes[rows], return_inverse=True)
    return Groups(codes.astype(np.intp), tuple(labels.names[j] for j in kept))


def _subjects(groups: Groups) -> Groups:
    """Build strata for paired samples: row i of every sample forms stratum i."""
    sizes = groups.sizes
    one_below_the_other = np.count_nonzero(np.diff(groups.codes)) == groups.k - 1
    if (sizes != sizes[0]).any() or not one_below_the_other:
        raise ValueError(
            "`paired` needs samples of one size, one below the other, row i of each being subject i; got groups of "
            f"{', '.join(map(str, sizes.tolist()))} rows{' in mixed order' * bool((sizes == sizes[0]).all())}. For a "
            "pooled table name the subjects: `es.Design(strata=subject)`."
        )
    n = int(sizes[0])
    return Groups(np.tile(np.arange(n, dtype=np.intp), groups.k), tuple(range(n)))


def _check_constant(labels: Groups, plots: Groups, name: str) -> None:
    """Raise ValueError if rows of one whole plot have different labels."""
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
