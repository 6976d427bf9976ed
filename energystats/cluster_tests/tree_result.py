"""A tree of splits and what was tested at its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from energystats._core.pvalues import is_at_most, smallest_pvalue
from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import numbers, p_text, probability
from energystats.display.result import Labelled, VerdictFirst
from energystats.display.sentences import Caution, metric_note, state_evidence, write_counts
from energystats.display.tables import TextTable, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.clustering.partition import Partition
    from energystats.metrics.base import Metric
    from energystats.metrics.z_scores import Standardization

__all__ = ["ClusterTreeResult", "TreeNode", "count_near_level"]


NEAR = 5.0  # times above or below the level, within which another seed can decide otherwise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeNode:
    """Hold one node of a tree of splits: its points, its test and its two halves."""

    id: int  # its place in `ClusterTreeResult.nodes`; 0 is the root, and nodes follow their parents
    parent: int | None  # node that it is a half of; None for the root
    children: tuple[int, ...]  # its two halves, the larger one first; empty for a leaf
    depth: int  # splits above it
    rows: IntArray = field(repr=False)  # (size,) its points, rising
    size: int  # number of points
    height: float  # n1 n2/(n1 + n2) E of its two halves, which is 2S; NaN where nothing was tested
    pvalue: float  # of the hypothesis that its points have no clusters; NaN where nothing was tested
    # largest of min(1, p (n - 1)/(size - 1)) on the path from the root; at most the level where it was rejected
    pvalue_adjusted: float
    level: float  # what `pvalue` is compared with: the family-wise level times (size - 1)/(n - 1)
    n_resamples: int  # draws behind `pvalue`; 0 where nothing was tested
    # tested, rejected: whether there was a test, and whether it rejected
    tested: bool
    rejected: bool
    label: int | None  # cluster, for a leaf
    outcome: str  # "split", or why it is a leaf
    space: str = ""  # where its two halves were found, as in `ClusterTestResult`; empty where nothing was tested
    # whether its halves were parted in a gap, because the cut of smallest W leaves points on the wrong side of it
    in_gap: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterTreeResult(VerdictFirst, Labelled):
    """Hold the clusters found by splitting points in two while a test rejects, and all nodes of the tree.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Leaf of each point, 0..k-1, numbered from the largest to the smallest; ties as for `Partition`.
    k : int
        Number of leaves.
    level : float
        Family-wise level.
    nodes : tuple of TreeNode
        All nodes, each before its children.
    method : {"split", "unimodal-1d"}
        Test at the nodes.
    null_hypothesis : str
        What each test asks of the points of its node.
    min_size : int
        Smaller nodes are not tested.
    k_max : int or None
        Most leaves that were allowed.
    n_splits : int
        Random splits of each test; 0 for one column.
    n_resamples : int
        Draws for the root; smaller nodes have more.
    conservative : bool
        Whether every p-value was multiplied by a factor 1.6/1.2 as large: as asked, or for directions: rows on
        a sphere, or an ellipsoid, in three dimensions.
    factor : float or None
        By which p-values of all points were multiplied, because flat densities need it; None if nothing was tested.
    notes : tuple of str
        What a reader has to assume or know.
    metric : Metric
        With every parameter that was fitted to the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names` and `to_series()`.
    partition : Partition
        The leaves as clusters, with their W, S and T under `metric`.
    """

    labels: IntArray = field(repr=False)
    k: int
    level: float
    nodes: tuple[TreeNode, ...] = field(repr=False)
    method: Literal["split", "unimodal-1d"]
    null_hypothesis: str
    min_size: int
    k_max: int | None
    n_splits: int
    n_resamples: int
    conservative: bool
    factor: float | None = None
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)
    partition: Partition = field(repr=False)

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """Return the leaves of a tree of tested splits, in the order of their labels."""
        found = [node for node in self.nodes if node.label is not None]
        return tuple(sorted(found, key=lambda node: node.label or 0))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of points of each leaf."""
        return tuple(leaf.size for leaf in self.leaves)

    def heights(self) -> FloatArray:
        """Compute drawing heights of all nodes of a tree, never below those of children that are split; (n_nodes,)."""
        heights = np.array([node.height for node in self.nodes])
        for node in reversed(self.nodes):
            if node.parent is not None and node.children:
                heights[node.parent] = max(heights[node.parent], heights[node.id])
        return heights

    @property
    def linkage(self) -> FloatArray:
        """Return a tree of splits as a SciPy linkage matrix whose items are the leaves; (k - 1, 4)."""
        heights = self.heights()
        inner = [node for node in self.nodes if node.children]
        inner.sort(key=lambda node: (heights[node.id], -node.id))  # children come before their parents
        made = {leaf.id: (j, 1) for j, leaf in enumerate(self.leaves)}
        Z = np.empty((len(inner), 4))
        for row, node in enumerate(inner):
            (a, size_a), (b, size_b) = sorted(made[child] for child in node.children)
            made[node.id] = (self.k + row, size_a + size_b)
            Z[row] = a, b, heights[node.id], size_a + size_b
        return Z

    def _tables(self) -> list[TextTable]:
        columns = [
            [str(node.size) for node in self.nodes],
            numbers([node.height for node in self.nodes], 4),
            [probability(node.pvalue) for node in self.nodes],
            [probability(node.pvalue_adjusted) for node in self.nodes],
            ["" if node.label is None else str(node.label) for node in self.nodes],
            [node.outcome for node in self.nodes],
        ]
        cells = list(zip(*columns, strict=True))
        title = f"Tree of splits: {self.k} cluster{'s' * (self.k > 1)}, family-wise level {self.level:g}"
        heads = ["size", "height", "p", "adjusted p", "cluster", "outcome"]
        return [text_table(cells, heads, self._stubs(), title)]

    def _stubs(self) -> list[str]:
        """Return the names of tree nodes, indented by characters that draw the branches."""
        open_after = [False] * (1 + max(node.depth for node in self.nodes))
        stubs = []
        for node in self.nodes:
            if node.parent is None:
                stubs.append("all points")
                continue
            open_after[node.depth] = self.nodes[node.parent].children[0] == node.id
            above = ("|  " if open_after[depth] else "   " for depth in range(1, node.depth))
            stubs.append("".join([*above, f"|- node {node.id}"]))
        return stubs

    def _rests_on(self) -> list[str]:
        lines = [f"Null hypothesis at each node: {self.null_hypothesis}."]
        root, tested = self.nodes[0], [node for node in self.nodes if node.tested]
        if tested:
            how = (
                f"{self.n_splits} random splits with {self.n_resamples} draws each"
                if self.n_splits
                else f"{self.n_resamples} draws"
            )
            divided = ", divided in two" * bool(self.n_splits)
            smallest = is_at_most(root.pvalue, smallest_pvalue(self.n_resamples, self.factor or 1.0))
            lines.append(
                f"All points{divided}: {p_text(root.pvalue)}, method {self.method}, by {how}; smaller nodes have more, "
                "another seed gives other p." + " It is the smallest that so many draws can give." * smallest
            )
            kept = [node.pvalue_adjusted for node in tested if not node.children]
            near = count_near_level(self)
            not_split = f"not split: {len(kept)}" + (f" (smallest adjusted {p_text(min(kept))})" if kept else "")
            close = f"near the level: {near} (another seed can give other clusters)"
            lines.append(
                f"Nodes tested: {len(tested)}; split: {len(tested) - len(kept)}; {close if near else not_split}."
            )
        points = "points" if self.labels.size > 1 else "point"
        lines.append(f"Clusters (leaves, `.partition`): {write_counts(self.sizes)} {points}.")
        return lines

    def _explanations(self) -> list[str]:
        lines = [
            f"A node is split when its adjusted p, p (n - 1)/(size - 1) but not below that of its parent, is at most "
            f"{self.level:g}. So the chance that any node is split whose points come from one population of the null "
            f"hypothesis is at most {self.level:g}, as far as the test holds its level, which was measured, not proved."
        ]
        if any(node.outcome == "k_max reached" for node in self.nodes):
            lines.insert(
                0, Caution(f"Splits that were significant too were left out, because `k_max` is {self.k_max}.")
            )
        if any(node.rejected for node in self.nodes):
            lines.append(
                "A rejection says that the points of a node are not one cluster; it does not say that the cut is right."
            )
        if any(node.tested and not node.rejected for node in self.nodes):
            lines.append("A large p is no evidence that a cluster has no parts.")
        if any(node.tested for node in self.nodes):
            lines.append(
                f"Draws: {self.n_resamples} for all points, (n - 1)/(size - 1) times as many for smaller nodes."
            )
        return [*lines, metric_note(self.metric, self.standardization)]

    def _below(self) -> list[str]:
        return self._members()

    def _conclusion(self) -> str:
        root, split = self.nodes[0], [node.pvalue_adjusted for node in self.nodes if node.children]
        if not root.tested:
            return "Nothing was tested: no statement about clusters."
        if not split:
            what = "more than one mode" if self.method == "unimodal-1d" else "a projection with two modes"
            return state_evidence(root.pvalue, f"of {what}", level=self.level)
        which = "" if len(split) == 1 else "largest "
        were = "1 split was" if len(split) == 1 else f"{len(split)} splits were"
        return (
            f"{self.k} clusters: {were} significant at family-wise level {self.level:g} "
            f"({which}adjusted {p_text(max(split))})."
        )

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per node of the tree: size, p-values, outcome."""
        import pandas as pd

        names = [each.name for each in fields(TreeNode) if each.name not in ("children", "rows")]
        frame = pd.DataFrame([{name: getattr(node, name) for name in names} for node in self.nodes])
        return frame.astype({"parent": "Int64", "label": "Int64"})

    def _main_columns(self) -> tuple[str, ...]:
        return ("id", "parent", "depth", "size", "pvalue", "pvalue_adjusted", "outcome", "label")

    def _headings(self) -> dict[str, str]:
        return {"id": "node", "label": "cluster"}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree of splits as a dendrogram with the adjusted p-values at its nodes.

        Solid forks with filled diamonds are splits, dashed ones with open circles were tested and not split; heights
        are those of `heights()`, on a square-root scale. Where a part is higher than the whole, because they were split
        in unlike spaces, only the order of the splits is drawn.
        """
        from energystats.plotting.trees import DrawnNode, plot_cluster_tree

        nodes = [
            DrawnNode(
                children=node.children,
                size=node.size,
                height=float(height),
                label=node.label,
                pvalue=node.pvalue_adjusted if node.tested else None,
                rejected=node.rejected,
            )
            for node, height in zip(self.nodes, self.heights(), strict=True)
        ]
        return plot_cluster_tree(nodes, ax, level=self.level, untested=f"not tested: {self.nodes[0].outcome}")


def count_near_level(tree: ClusterTreeResult) -> int:
    """Count tested nodes whose adjusted p is so near the level that another seed can decide otherwise."""
    return sum(tree.level / NEAR <= node.pvalue_adjusted <= tree.level * NEAR for node in tree.nodes if node.tested)
