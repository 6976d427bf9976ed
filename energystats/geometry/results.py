"""Results on geometry: negative type, repairs, principal coordinates, and comparisons of repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from energystats._core.gram import centred, decomposed
from energystats._typing import FloatArray, IntArray
from energystats.display.numbers import number, numbers, proportion
from energystats.display.result import Named, Result
from energystats.display.sentences import metric_text
from energystats.display.tables import TextTable, text_table
from energystats.geometry.shepard import axis_distances, kruskal_stress
from energystats.inputs.arrays import as_points
from energystats.inputs.labels import as_labels
from energystats.inputs.options import check_count, check_flag
from energystats.inputs.table import as_table, match_index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics.base import Metric

__all__ = ["Euclidization", "EuclidizationComparison", "NegativeTypeResult", "PrincipalCoordinates", "Repair"]


Repair = Literal["lingoes", "cailliez", "clip", "flip"]


TINY_SHARE = 1e-5  # a smallest eigenvalue that may come from rounded data


def _write_eigenvalue(value: float, threshold: float) -> str:
    """Format an eigenvalue as text with six significant digits, or as 0 if it is rounding."""
    return "0 (to rounding)" if abs(value) <= threshold else number(value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NegativeTypeResult(Result):
    """Hold the result of `negative_type`: whether rho is of negative type, and the proof.

    Attributes
    ----------
    holds : bool
        Whether rho is of negative type on the points that were examined.
    min_eigenvalue, max_eigenvalue : float
        Smallest and largest eigenvalue of G_c = -1/2 J R J, in the unit of rho. Negative type is min_eigenvalue >= 0.
    tol : float
        Rounding that is allowed for, as a share of the scale: the largest of max_eigenvalue, half of the largest
        absolute rho and, for a kernel metric, the largest K(x, x).
    threshold : float
        tol times the scale, in the unit of rho; `holds` is min_eigenvalue >= -threshold, unless a formula decides.
    witness : ndarray of shape (n,) or None
        When it fails, a unit vector c of sum 0 with c'Rc > 0, which negative type forbids.
    violation : float or None
        c'Rc of the witness, which is -2 min_eigenvalue.
    n : int
        Points that were examined; all, unless `rows` says which.
    rows : ndarray of shape (n,) or None
        Their indices when they are not all.
    method : {"eigenvalues", "factorisation", "iteration", "random subsets", "formula"}
        Basis of `holds`: all eigenvalues; a Cholesky factor, which proves that none is below -threshold; an
        extreme eigenvalue found by iteration (then the witness is the proof); subsets of the points; or the formula of
        the metric, for all points whatever.
    known, strong : bool or None
        What the metric's formula says for all sets of points: of negative type, and of strong negative type (equal
        distributions alone have E = 0). None where nothing general is known.
    metric : Metric
        The semimetric; `Precomputed()` for a matrix.
    eigenvalues : ndarray or None
        All eigenvalues of G_c, falling, where they were computed.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    _one_row = True

    holds: bool
    min_eigenvalue: float
    max_eigenvalue: float
    tol: float
    threshold: float
    witness: FloatArray | None = field(default=None, repr=False)
    violation: float | None = None
    n: int
    rows: IntArray | None = field(default=None, repr=False)
    method: Literal["eigenvalues", "factorisation", "iteration", "random subsets", "formula"]
    known: bool | None = None
    strong: bool | None = None
    metric: Metric
    eigenvalues: FloatArray | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.holds

    def _tables(self) -> list[TextTable]:
        rows = [
            ["of negative type", "yes" if self.holds else "no"],
            ["smallest eigenvalue of G_c", _write_eigenvalue(self.min_eigenvalue, self.threshold)],
            ["largest eigenvalue of G_c", number(self.max_eigenvalue)],
            ["counts as 0 down to", number(-self.threshold + 0.0)],
            ["points", str(self.n)],
            ["method", self.method],
        ]
        if self.violation is not None:
            rows.insert(3, ["c'Rc of the witness c", number(self.violation)])
        return [text_table(rows, None, None, "Negative type of rho")]

    def _sentences(self) -> list[str]:
        lines = [f"Semimetric: {metric_text(self.metric)}."]
        if self.known is not None:
            general = "of negative type" if self.known else "not of negative type"
            strong = ", and strongly so: E = 0 for equal distributions only" if self.strong else ""
            weak = ", but not strongly: unequal distributions can have E = 0" if self.strong is False else ""
            lines.append(f"By its formula it is {general} for all points{(strong or weak) if self.known else ''}.")
        if not self.holds:
            depth = "No eigenvalue is above 0."
            if self.max_eigenvalue > 0:
                depth = f"The smallest eigenvalue is {self.min_eigenvalue / self.max_eigenvalue:.2g} times the largest."
            lines.append(
                f"{depth} The witness c sums to 0 and has c'Rc > 0. "
                "If that is no more than the rounding of the data, pass a larger `tol`; else see `lingoes`, "
                "which repairs this rho where it is given its root."
            )
        elif self.method == "random subsets":
            lines.append("No subset refuted it, which is no proof for the other points; another seed takes others.")
        return lines

    def _conclusion(self) -> str:
        if not self.holds:
            return "Not of negative type: S and E can be negative, and E = 0 need not mean equal distributions."
        if self.known and self.method == "formula":
            return "Of negative type for all points, by its formula."
        some = "" if self.rows is None else " that were examined"
        return f"Of negative type, to rounding, on the {self.n} points{some}; other points may differ."

    def _frame(self) -> pd.DataFrame:
        """Return a data frame of one row, whose columns are fields of a negative-type result."""
        import pandas as pd

        names = ("holds", "min_eigenvalue", "max_eigenvalue", "threshold", "tol", "violation", "n", "method")
        frame = pd.DataFrame([{name: getattr(self, name) for name in (*names, "known", "strong")}])
        return frame.astype({"violation": float, "known": "boolean", "strong": "boolean"})

    def _main_columns(self) -> tuple[str, ...]:
        return ("holds", "min_eigenvalue", "max_eigenvalue", "threshold", "n", "method")

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the eigenvalues of the centred Gram matrix in descending order, negative ones marked.

        Only the largest and the smallest are drawn where the others are unknown.
        """
        from energystats.plotting.spectra import plot_negative_type

        known = self.eigenvalues
        values = np.array([self.max_eigenvalue, self.min_eigenvalue]) if known is None else known
        verdict: dict[str, Any] = {"threshold": self.threshold, "holds": self.holds, "n": self.n}
        return plot_negative_type(values, ax, all_known=known is not None, **verdict)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Euclidization(Named):
    """Hold Euclidean distances made from dissimilarities by a repair, and what the repair changed.

    Attributes
    ----------
    method : {"lingoes", "cailliez", "clip", "flip"}
        Which repair.
    distances : ndarray of shape (n, n)
        The repaired distances; those given, when they were Euclidean already.
    constant : float or None
        sigma of Lingoes in d' = sqrt(d**2 + 2 sigma), in the unit of d squared; kappa of Cailliez in d' = d + kappa, in
        the unit of d; 0 when nothing had to be repaired; None for "clip" and "flip".
    squared : ndarray of shape (n, n)
        d squared before the repair.
    min_eigenvalue, max_eigenvalue : float
        Smallest and largest eigenvalue of G_c = -1/2 J (d squared) J before the repair.
    threshold : float
        What counts as rounding of an eigenvalue, in the unit of d squared.
    source : {"distances", "kernel"}
        What was given; for a kernel "d squared" is the rho that it generates, which may be negative.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names` and `to_matrix()`.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    _one_row = True

    method: Repair
    distances: FloatArray = field(repr=False)
    constant: float | None
    squared: FloatArray = field(repr=False)
    min_eigenvalue: float
    max_eigenvalue: float
    threshold: float
    source: Literal["distances", "kernel"] = "distances"
    index: Any = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Return the number of points."""
        return len(self.distances)

    def to_matrix(self) -> pd.DataFrame:
        """Return the distances made Euclidean as a square data frame, for ``metric="precomputed"``."""
        import pandas as pd

        return pd.DataFrame(np.array(self.distances), index=self._index(), columns=self._index())

    @property
    def changed(self) -> bool:
        """Return whether the distances were not Euclidean already, so that some of them were changed."""
        return self.min_eigenvalue < -self.threshold

    @property
    def kernel(self) -> FloatArray:
        """Compute the centred kernel matrix of the distances made Euclidean; (n, n)."""
        return centred(-0.5 * self.distances**2)

    @cached_property
    def _eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        return decomposed(self.kernel)

    @property
    def min_eigenvalue_after(self) -> float:
        """Compute the Gram matrix's smallest eigenvalue for the distances made Euclidean, 0 up to rounding; cached."""
        return float(self._eigenpairs[0][-1])

    @property
    def _rounding(self) -> float:
        """Compute the size up to which an eigenvalue counts as rounding after distances were made Euclidean."""
        return max(self.threshold, 10 * self.n * float(np.finfo(float).eps * self._eigenpairs[0][0]))

    @property
    def embedding(self) -> FloatArray:
        """Compute centred points that have the distances made Euclidean, a column per positive eigenvalue; (n, p)."""
        # eigenvalues that rounding alone raises above 0 give no coordinate
        values, vectors = self._eigenpairs
        p = int(np.count_nonzero(values > max(self.threshold, 1e-14 * float(np.abs(values).max()))))
        return np.asarray(vectors[:, :p] * np.sqrt(values[:p]))

    @property
    def moved(self) -> FloatArray:
        """Compute each distance's change when made Euclidean, over the largest distance; pdist order, (n(n - 1)/2,).

        Where the rho of a kernel was negative, the distance before counts as 0.
        """
        before, after = self._pairs()
        largest = before.max(initial=0.0)
        return np.asarray((after - before) / (largest if largest > 0 else 1.0))

    def _pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the distances before and after they were made Euclidean, in pdist order; (n(n - 1)/2,) each."""
        upper = np.triu_indices(self.n, 1)
        return np.sqrt(np.maximum(self.squared[upper], 0.0)), self.distances[upper]

    def _tables(self) -> list[TextTable]:
        moved = np.abs(self.moved)
        rows = [
            ["constant", "-" if self.constant is None else number(self.constant)],
            ["smallest eigenvalue before", _write_eigenvalue(self.min_eigenvalue, self.threshold)],
            ["smallest eigenvalue after", _write_eigenvalue(self.min_eigenvalue_after, self._rounding)],
            ["mean change of a distance", f"{moved.mean():.2%}" if moved.size else "-"],
            ["largest change of a distance", f"{moved.max():.2%}" if moved.size else "-"],
            ["points", str(self.n)],
            ["dimensions", str(self.embedding.shape[1])],
        ]
        titles = {
            "lingoes": "Lingoes' euclidization, d' = sqrt(d^2 + 2 constant)",
            "cailliez": "Cailliez' euclidization, d' = d + constant",
            "clip": "Euclidization by clipping negative eigenvalues",
            "flip": "Euclidization by flipping negative eigenvalues",
        }
        kernel = "Lingoes' repair of a kernel, JKJ + constant J"
        return [text_table(rows, None, None, titles[self.method] if self.source == "distances" else kernel)]

    def _sentences(self) -> list[str]:
        if not self.changed and self.source == "kernel":
            return ["The kernel was positive semi-definite to rounding, once centred; nothing had to be repaired."]
        if not self.changed:
            return ["The dissimilarities were Euclidean to rounding and come back unchanged."]
        what = {
            "lingoes": "W of every partition into k clusters grows by the constant times (n - k), so that the best "
            "partition stays the best.",
            "cailliez": "Every pair is as much farther apart; the best partition can change.",
            "clip": "The nearest positive semi-definite Gram matrix; the best partition can change.",
            "flip": "Negative eigenvalues count by their size; the best partition can change.",
        }
        lines = [what[self.method], "Changes of distances are shares of the largest original distance."]
        if self.source == "kernel" and (self.squared < 0).any():
            lines[1] += " A distance whose square was negative counts as 0."
        if self.min_eigenvalue > -TINY_SHARE * self.max_eigenvalue:
            share = self.min_eigenvalue / self.max_eigenvalue
            lines.append(
                f"The smallest eigenvalue was only {share:.1g} times the largest. If that is the rounding of the data, "
                f"pass a larger `tol`, such as {10 ** np.ceil(np.log10(-share)):.0e}: then nothing is repaired."
            )
        return lines

    def _conclusion(self) -> str:
        if not self.changed:
            return "No repair was needed."
        return f"Euclidean now, to rounding; distances moved by {np.abs(self.moved).mean():.1%} on average."

    def _frame(self) -> pd.DataFrame:
        """Return a one-row data frame on how distances were made Euclidean: method, constant, eigenvalues, changes."""
        import pandas as pd

        moved = np.abs(self.moved)
        row = {
            "method": self.method,
            "constant": self.constant,
            "min_eigenvalue": self.min_eigenvalue,
            "min_eigenvalue_after": self.min_eigenvalue_after,
            "mean_change": float(moved.mean()) if moved.size else 0.0,
            "largest_change": float(moved.max(initial=0.0)),
            "n": self.n,
        }
        return pd.DataFrame([row]).astype({"constant": float})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distances made Euclidean against the original ones, pair by pair, and return the axes."""
        from energystats.plotting.spectra import plot_euclidization

        before, after = self._pairs()
        return plot_euclidization(before, after, ax, method=self.method, constant=self.constant)

    def plot_shepard(self, ax: Axes | None = None, *, dimensions: int = 2) -> Axes:
        """Draw a Shepard diagram: distances on principal axes against dissimilarities, before and after their repair.

        The repair is what made the dissimilarities Euclidean.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        dimensions : int, default 2
            Number of axes.

        Returns
        -------
        Axes
            Distances on the axes against the dissimilarities (against the repaired ones, after the repair), with
            Kruskal's stress 1. Of more than 5,000 pairs a random part is drawn, always the same one.

        Raises
        ------
        ValueError
            If `dimensions` is below 1.
        TypeError
            If `dimensions` is not a whole number.
        """
        from energystats.plotting.spectra import plot_shepard

        check_count(dimensions, "dimensions", low=1)
        given = self._pairs()
        before = self._cloud("before", given[0], self.squared, dimensions)
        after = self._cloud(f"after {self.method.capitalize()}", given[1], self.distances**2, dimensions)
        return plot_shepard(before, after, ax, dimensions=dimensions, n=self.n, kernel=self.source == "kernel")

    def _cloud(
        self, name: str, given: FloatArray, squared: FloatArray, dimensions: int
    ) -> tuple[str, FloatArray, FloatArray, float]:
        """Return what a Shepard diagram shows of a matrix: name, distances, distances on principal axes, stress."""
        shown = axis_distances(squared, dimensions)[np.triu_indices(self.n, 1)]
        return name, given, shown, kruskal_stress(given, shown)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PrincipalCoordinates(Named):
    """Hold principal coordinates, whose distances come near to given dissimilarities, and their eigenvalues.

    Attributes
    ----------
    coordinates : ndarray of shape (n, p)
        Principal coordinates, centred, in falling order of their eigenvalues; the entry of largest size on every axis
        is positive.
    eigenvalues : ndarray of shape (n,)
        All eigenvalues of G_c, after the correction, falling.
    explained : ndarray of shape (p,)
        Eigenvalue of each coordinate as a share of the sum of the absolute values of all.
    negative_share : float
        The negative eigenvalues' part of that sum: what no real coordinates can show.
    n_negative : int
        Number of eigenvalues below -threshold.
    threshold : float
        What counts as rounding of an eigenvalue.
    correction : {None, "lingoes", "cailliez"}
        What was done to the dissimilarities before.
    constant : float
        Its constant; 0 without one.
    source : {"distances", "kernel"}
        What the coordinates come from; of a kernel they are those of kernel PCA.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names`.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    coordinates: FloatArray = field(repr=False)
    eigenvalues: FloatArray = field(repr=False)
    explained: FloatArray = field(repr=False)
    negative_share: float
    n_negative: int
    threshold: float
    correction: Literal["lingoes", "cailliez"] | None
    constant: float
    source: Literal["distances", "kernel"]
    index: Any = field(default=None, repr=False)

    def _tables(self) -> list[TextTable]:
        p = min(self.explained.size, 10)
        values = numbers(self.eigenvalues[:p])
        cells = [[values[j], f"{self.explained[j]:.1%}", f"{self.explained[: j + 1].sum():.1%}"] for j in range(p)]
        stubs = [f"axis {j + 1}" for j in range(p)]
        title = "Principal coordinates" if self.source == "distances" else "Kernel principal components"
        heads = ["eigenvalue", "share", "cumulated"]
        rows = [
            ["negative eigenvalues", str(self.n_negative)],
            ["smallest eigenvalue", _write_eigenvalue(self.eigenvalues[-1], self.threshold)],
            ["negative share", f"{self.negative_share:.1%}"],
            ["axes kept", str(self.explained.size)],
            ["correction", self.correction or "none"],
            ["constant", number(self.constant)],
        ]
        accounts = text_table(rows, None, None, "Accounts")
        return [text_table(cells, heads, stubs, title), accounts] if p else [accounts]

    def _sentences(self) -> list[str]:
        lines = ["Shares are of the sum of all eigenvalues' sizes, the negative ones included."]
        if self.n_negative:
            mend = 'a correction ("lingoes", "cailliez")' if self.source == "distances" else "`lingoes_kernel`"
            lines.append(f"No real coordinates can show the negative eigenvalues' part; {mend} leaves none.")
        return lines

    def _conclusion(self) -> str:
        p = self.explained.size
        if not p:
            return "No eigenvalue is positive: there is no axis." if self.n_negative else "All points coincide."
        axes = "axis holds" if p == 1 else f"{p} axes hold"
        lost = f"; {self.negative_share:.1%} cannot be drawn at all" if self.n_negative else ""
        return f"The {axes} {self.explained.sum():.1%} of the sizes of all eigenvalues{lost}."

    def _frame(self) -> pd.DataFrame:
        """Return a data frame of principal coordinates, one row per point and one column per axis."""
        import pandas as pd

        columns = [f"axis{j + 1}" for j in range(self.coordinates.shape[1])]
        return pd.DataFrame(np.array(self.coordinates), columns=columns, index=self._index())

    def weighted_averages(self, amounts: Any) -> pd.DataFrame:
        """Compute species positions as means of the points' coordinates, weighted by species amounts.

        Parameters
        ----------
        amounts : DataFrame or array_like of shape (n, s)
            Amounts of s species in the points, none of them negative.

        Returns
        -------
        DataFrame
            One row a species, columns axis1, axis2, ...; NaN for a species that is nowhere. They are vegan's
            ``wascores(coordinates, amounts)``.

        Raises
        ------
        ValueError
            If there is not one row for each point, the rows have other names, or an amount is negative or not finite.

        Examples
        --------
        >>> import energystats as es
        >>> found = es.principal_coordinates([[0.0, 2.0], [2.0, 0.0]])
        >>> found.weighted_averages([[3, 1], [1, 1]]).round(6).abs().values.tolist()
        [[0.5], [0.0]]
        """
        return self._weighted_averages(amounts, "amounts")

    def _weighted_averages(self, amounts: Any, name: str) -> pd.DataFrame:
        """Compute means of coordinates weighted by amounts, which error messages call by a given name."""
        import pandas as pd

        match_index(self.index, amounts, name)
        table = as_table(amounts)
        weights = as_points(table, name)
        if len(weights) != len(self.coordinates):
            raise ValueError(
                f"`{name}` must have one row for each of {len(self.coordinates)} points, got {len(weights)}."
            )
        if (weights < 0).any():
            raise ValueError(f"`{name}` must not be negative, got {weights.min():g}.")
        totals = weights.sum(axis=0)
        with np.errstate(invalid="ignore"):
            means = (weights.T @ self.coordinates) / np.where(totals > 0, totals, np.nan)[:, None]
        columns = [f"axis{j + 1}" for j in range(self.coordinates.shape[1])]
        return pd.DataFrame(means, columns=columns, index=table.columns)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        dimensions: int = 2,
        axes: Sequence[int] | None = None,
        labels: Any = None,
        hulls: bool = False,
        species: Any = None,
    ) -> Axes:
        """Draw points on two or three principal axes, with each axis's share of the eigenvalues.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure when None.
        dimensions : {2, 3}, default 2
            Number of axes.
        axes : sequence of int, optional
            Which axes, counted from 1; the first ones when None.
        labels : array_like of shape (n,), optional
            Group of each point, shown by colour and marker.
        hulls : bool, default False
            Whether to draw the convex hull and the centroid of each group, in the plane.
        species : DataFrame or array_like of shape (n, s), optional
            Amounts of species, drawn as arrows to their `weighted_averages`; names where they fit. Of many species
            give the columns to draw: an arrow does not depend on the others.

        Returns
        -------
        Axes
            Names of rows stand beside up to forty points.

        Raises
        ------
        ValueError
            If an axis does not exist, hulls have no groups or three dimensions, arrows have three dimensions, or
            `labels` or `species` do not fit the points.
        """
        from energystats.plotting.spectra import plot_coordinates

        check_flag(hulls, "hulls")
        match_index(self.index, labels, "labels")
        codes, groups = (None, ()) if labels is None else as_labels(labels, len(self.coordinates), "labels")
        if (hulls or species is not None) and (dimensions != 2 or hasattr(ax, "get_zlim")):
            raise ValueError(
                "`dimensions` must be 2, and `ax` plane, for `hulls` and `species`, which are drawn in a plane."
            )
        if hulls and codes is None:
            raise ValueError("`hulls` need groups: give `labels`.")
        kind = "Principal coordinates" if self.source == "distances" else "Kernel PCA"
        scores = None if species is None else self._weighted_averages(species, "species").dropna()
        return plot_coordinates(
            self.coordinates,
            ax,
            explained=self.explained,
            kind=kind + (f" after {self.correction.capitalize()}" if self.correction else ""),
            negative_share=self.negative_share if self.n_negative else None,
            names=self.names,
            dimensions=dimensions,
            codes=codes,
            groups=groups,
            axes=self._read_axes(axes, dimensions),
            hulls=hulls,
            arrows=None if scores is None else (scores.to_numpy(), [str(name) for name in scores.index]),
        )

    def _read_axes(self, axes: Sequence[int] | None, dimensions: int) -> tuple[int, ...]:
        """Convert numbers of principal axes counted from 1 to indices counted from 0, after checks."""
        if axes is None:
            return (0, 1, 2)
        most = self.coordinates.shape[1]
        numbers = tuple(check_count(j, "axes", low=1, high=most) for j in axes)
        if len(numbers) != dimensions or len(set(numbers)) < dimensions:
            raise ValueError(f"`axes` must name {dimensions} different axes from 1 to {most}, got {axes!r}.")
        return tuple(j - 1 for j in numbers)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EuclidizationComparison(Result):
    """Hold a comparison of repairs of dissimilarities: changes of the distances and of the best clusters.

    Attributes
    ----------
    k : int
        Number of clusters.
    n : int
        Number of points.
    repairs : tuple of str
        "none", "lingoes", "cailliez", "clip", "flip".
    constants : ndarray of shape (5,)
        Constant of each repair; NaN where there is none.
    min_eigenvalues : ndarray of shape (5,)
        Smallest eigenvalue of G_c after the repair.
    mean_changes, largest_changes : ndarray of shape (5,)
        How far distances moved, as shares of the largest original one.
    within, totals : ndarray of shape (5,)
        W of the best partition found, and T, of the repaired squared distances.
    losses : ndarray of shape (5,)
        W of the original's best partition less W of the repair's own best, as a share of T: 0 if it is still best.
    rand : ndarray of shape (5,)
        Adjusted Rand index of the repair's best partition with the original's.
    changed : tuple of bool
        Whether the original's best partition is no longer the best.
    labels : ndarray of shape (5, n)
        The best partition of each.
    notes : tuple of str
        Sentences on these data; empty where there is nothing to say.
    """

    k: int
    n: int
    repairs: tuple[str, ...] = field(repr=False)
    constants: FloatArray = field(repr=False)
    min_eigenvalues: FloatArray = field(repr=False)
    mean_changes: FloatArray = field(repr=False)
    largest_changes: FloatArray = field(repr=False)
    within: FloatArray = field(repr=False)
    totals: FloatArray = field(repr=False)
    losses: FloatArray = field(repr=False)
    rand: FloatArray = field(repr=False)
    changed: tuple[bool, ...] = field(repr=False)
    labels: IntArray = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """Return a data frame with a row per way to make distances Euclidean: constant, changes, dispersions."""
        import pandas as pd

        columns = {
            "constant": self.constants,
            "min_eigenvalue": self.min_eigenvalues,
            "mean_change": self.mean_changes,
            "largest_change": self.largest_changes,
            "within": self.within,
            "share": 1 - self.within / self.totals,
            "loss": self.losses,
            "adjusted_rand": self.rand,
            "changed": self.changed,
        }
        return pd.DataFrame(columns, index=pd.Index(self.repairs, name="repair"))

    def _frame(self) -> pd.DataFrame:
        """Return the data frame `table`, with one row per way to make distances Euclidean."""
        return self.table

    def _tables(self) -> list[TextTable]:
        cells = [
            [
                number(self.constants[r]),
                _write_eigenvalue(self.min_eigenvalues[r], 10 * self.n * float(np.finfo(float).eps * self.totals[r])),
                f"{self.mean_changes[r]:.1%}",
                f"{self.largest_changes[r]:.1%}",
                proportion(1 - self.within[r] / self.totals[r]),
                f"{self.losses[r]:.2%}",
                "yes" if self.changed[r] else "no",
            ]
            for r in range(len(self.repairs))
        ]
        heads = ["constant", "smallest eigenvalue", "mean change", "largest", "S/T", "loss", "best changed"]
        return [text_table(cells, heads, list(self.repairs), f"Euclidizations, {self.n} points in {self.k} clusters")]

    def _sentences(self) -> list[str]:
        return [
            "S/T is of the best partition found on the squared (repaired) distances. Loss: by how much W of the "
            "original's best partition exceeds that of the repair's own best, as a share of T.",
            "Changes of distances are shares of the largest original distance.",
            "Best partitions are the best that a search of several starts found; another seed can find better ones.",
        ]

    def _conclusion(self) -> str:
        moved = [name for name, changed in zip(self.repairs, self.changed, strict=True) if changed]
        if not moved:
            return "After every repair the original's best partition stays the best that was found."
        return f"The original's best partition is no longer the best after {', '.join(moved)}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw best partitions' between share S/T against the change of distances, by way to make them Euclidean."""
        from energystats.plotting.spectra import plot_comparison

        changes, shares = self.mean_changes.tolist(), (1 - self.within / self.totals).tolist()
        return plot_comparison(self.repairs, changes, shares, ax, changed=self.changed, k=self.k, n=self.n)
