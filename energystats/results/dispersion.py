"""W, S and T of labelled points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._core.statistics import share
from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import ROUNDING, Table, cut_all, decomposition_table, metric_note, numbers, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["Dispersion"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dispersion(Result):
    """Within, between and total energy dispersion of labelled points: W + S = T [G 4, 5, 29].

    Attributes
    ----------
    within, between, total : float
        W, S and T, in the unit of rho.
    sizes : tuple of int
        Points per group.
    labels : tuple
        Names of the groups, in the order of `sizes`, `g` and `within_per_group`.
    group_name : str
        Name of the Series that the labels came from; empty without one.
    g : ndarray of shape (k, k)
        Mean of rho between (and within) the groups [G 3].
    within_per_group : ndarray of shape (k,)
        The summands of W.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    """

    within: float
    between: float
    total: float
    sizes: tuple[int, ...]
    labels: tuple[Any, ...]
    group_name: str = field(default="", repr=False)
    g: FloatArray = field(repr=False)
    within_per_group: FloatArray = field(repr=False)
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)

    def _tables(self) -> list[Table]:
        rows = [[str(n), w] for n, w in zip(self.sizes, numbers(self.within_per_group), strict=True)]
        return [
            text_table(rows, ["size", "W"], cut_all(self.labels), "Energy dispersion", self.group_name),
            decomposition_table(self.within, self.between, self.total),
        ]

    def _notes(self) -> list[str]:
        return [metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if self.between < -ROUNDING * abs(self.total):
            return "S is negative, so rho is not of negative type, and S/T is no share."
        if not self.total:
            return "All points coincide: there is no dispersion."
        return (
            f"{share(self.between, self.total):.1%} of the dispersion lies between the groups; some would by chance "
            "too (`energy_test`)."
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per group: size and W of the group; the index has the groups and is named as their Series was."""
        import pandas as pd

        index = pd.Index(list(self.labels), name=self.group_name or "group")
        return pd.DataFrame({"size": self.sizes, "within": self.within_per_group.tolist()}, index=index)

    def to_matrix(self) -> pd.DataFrame:
        """The mean of rho between the groups, `g`, as a square frame with their names."""
        import pandas as pd

        name = self.group_name or "group"
        index = pd.Index(list(self.labels), name=name)
        return pd.DataFrame(np.array(self.g), index=index, columns=index)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Heat map of g, the mean of rho between the groups."""
        from energystats import plotting

        return plotting.plot_group_means(self, ax)

    def plot_decomposition(self, ax: Axes | None = None) -> Axes:
        """Draw T, its parts S and W, and the groups' parts of W."""
        from energystats import plotting

        return plotting.plot_parts(self, ax)

    def plot_distances(self, ax: Axes | None = None, *, tree: bool = True) -> Axes:
        """Draw a heat map of the energy distances of the groups, with their dendrogram above it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        tree : bool, default True
            Whether the groups stand in the order of their dendrogram, which is drawn above; else in their own order.

        Returns
        -------
        Axes
            Of the heat map; the dendrogram is in `child_axes`.
        """
        from energystats import plotting

        return plotting.plot_distances(self, ax, tree=tree)

    def plot_dendrogram(self, ax: Axes | None = None) -> Axes:
        """Draw the groups joined by energy distance, with the heights of `energy_hclust`."""
        from energystats import plotting

        return plotting.plot_group_tree(self, ax)
