"""A graph cut into clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import numbers, proportion
from energystats.display.result import Labelled
from energystats.display.tables import TextTable, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["GraphPartition"]


VERTICES_DRAWN = 300  # as points with links; more are drawn as a matrix


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GraphPartition(Labelled):
    """Hold a partition of the vertices of a graph into clusters, with its objective and a bound on it.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each vertex, 0..k-1. Clusters are numbered from the largest (in vertices, or in the sum of `weights`)
        to the smallest, those of one size by rising cost/mass, then by rising links inside; only what is tied in all
        three goes by first vertices.
    k : int
        Number of clusters.
    cut : {"ratio", "normalized", "association"}
        The objective.
    sizes : tuple of int
        Vertices per cluster.
    value : float
        The objective: the least sum found of cut(C) over size or degree of C, or the largest of links(C, C) over size.
    cluster_values : ndarray of shape (k,)
        Its summands.
    inside, leaving : ndarray of shape (k,)
        Sum of the links inside each cluster, both ways and self loops once, and of those that leave it.
    masses : ndarray of shape (k,)
        What each summand is divided by: vertices, their weights, or degrees.
    bound : float
        From the eigenvalues of the relaxed problem: no partition into k clusters has a lower value; for "association"
        a higher one.
    n_components : int
        Connected components of the graph.
    init : {"spectral", "k-means++", "random", "labels", "components"}
        Where the search started; "components" where whole components are the optimum and nothing was searched.
    n_init : int
        Starts made.
    n_iter : int
        Passes over the vertices of the best start.
    converged : bool
        Whether no single move improves the value.
    weighted : bool
        Whether the user gave weights of the vertices.
    index : pandas.Index or None
        Names of the vertices: the index of the data frame, behind `names` and `to_series()`.
    matrix : csr_array of shape (n, n)
        The adjacency that was partitioned.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    labels: IntArray = field(repr=False)
    k: int
    cut: Literal["ratio", "normalized", "association"]
    sizes: tuple[int, ...]
    value: float
    cluster_values: FloatArray = field(repr=False)
    inside: FloatArray = field(repr=False)
    leaving: FloatArray = field(repr=False)
    masses: FloatArray = field(repr=False)
    bound: float
    n_components: int
    init: str
    n_init: int
    n_iter: int
    converged: bool
    weighted: bool = field(repr=False)
    index: Any = field(default=None, repr=False)
    matrix: Any = field(repr=False)

    @property
    def n(self) -> int:
        """Return the number of vertices of the partitioned graph."""
        return int(self.labels.size)

    @property
    def tightness(self) -> float:
        """Return bound/value, or value/bound of an association: 1 proves the optimum, NaN where it has no meaning."""
        low, high = (self.value, self.bound) if self.cut == "association" else (self.bound, self.value)
        if low == high:
            return 1.0
        return low / high if high > 0 and low >= 0 else float("nan")

    def _tables(self) -> list[TextTable]:
        heads = ["vertices", "links inside (both ways)", "links leaving", "value"]
        columns = [list(map(str, self.sizes)), *map(numbers, (self.inside, self.leaving, self.cluster_values))]
        if self.weighted or self.cut == "normalized":
            heads.insert(1, "degree" if self.cut == "normalized" else "weight")
            columns.insert(1, numbers(self.masses))
        titles = {"ratio": "Ratio cut", "normalized": "Normalised cut", "association": "Ratio association"}
        title = f"{titles[self.cut]} of {self.n} vertices into {self.k} cluster{'s' * (self.k > 1)}"
        rows = [list(row) for row in zip(*columns, strict=True)]
        upper = self.cut == "association"
        value, bound = numbers([self.value, self.bound])
        account = [
            ["value", value],
            [f"{'upper' if upper else 'lower'} bound", bound],
            ["value/bound" if upper else "bound/value", proportion(self.tightness)],
            ["connected components", str(self.n_components)],
        ]
        return [
            text_table(rows, heads, [f"cluster {j}" for j in range(self.k)], title),
            text_table(account, None, None, "Largest value found" if upper else "Smallest value found"),
        ]

    def _sentences(self) -> list[str]:
        if self.init == "components":
            return [*self._members(), "Whole components were joined; the value 0 is the global optimum."]
        starts = "1 start" if self.n_init == 1 else f"best of {self.n_init} starts ({self.init})"
        how = f"Single moves, {starts}, {self.n_iter} pass{'es' * (self.n_iter > 1)}"
        how += ", a local optimum." if self.converged else ", stopped before they converged."
        which = "higher" if self.cut == "association" else "lower"
        return [
            *self._members(),
            how,
            f"No partition into {self.k} has a {which} value than the bound; a quotient of 1 proves the optimum.",
        ]

    def _conclusion(self) -> str:
        proved = " This one is the best possible." if self.tightness == 1 else ""
        return f"Every graph can be cut; that it was is no evidence of clusters.{proved}"

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per cluster: cluster, size, mass, links inside and leaving, value."""
        import pandas as pd

        columns = {
            "cluster": range(self.k),
            "size": self.sizes,
            "mass": self.masses.tolist(),
            "inside": self.inside.tolist(),
            "leaving": self.leaving.tolist(),
            "value": self.cluster_values.tolist(),
        }
        return pd.DataFrame(columns)

    def plot(self, ax: Axes | None = None, *, kind: Literal["graph", "matrix"] | None = None) -> Axes:
        """Draw the graph at spectral coordinates, or its matrix with the rows sorted by cluster, and return the axes.

        With ``kind=None`` the graph is drawn up to 300 vertices, and the matrix of more.
        """
        from energystats._core.graph_layout import place_vertices
        from energystats.plotting.spectra import plot_adjacency, plot_graph

        if kind is not None and kind not in ("graph", "matrix"):
            raise ValueError(f"`kind` must be one of graph, matrix, or None; got {kind!r}.")
        shared: dict[str, Any] = {"sizes": self.sizes, "cut": self.cut, "value": self.value, "bound": self.bound}
        if kind == "matrix" or (kind is None and self.n > VERTICES_DRAWN):
            return plot_adjacency(self.matrix, self.labels, ax, **shared)
        place = place_vertices(self.matrix)
        return plot_graph(self.matrix, self.labels, ax, place=place, names=self.names, **shared)
