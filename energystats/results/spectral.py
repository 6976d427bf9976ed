"""Coordinates and eigenvalues of the relaxed clustering problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._typing import FloatArray, IntArray
from energystats.results.named import Named
from energystats.tables import Table, metric_note, numbers, text_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.dissimilarity import Standardization
    from energystats.metrics import Metric

__all__ = ["SpectralEmbedding"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpectralEmbedding(Named):
    """Spectral coordinates of points.

    Attributes
    ----------
    embedding : ndarray of shape (n, n_components)
        Eigenvectors of G_c times the roots of their eigenvalues, or those of the random-walk Laplacian.
    eigenvalues : ndarray of shape (m,)
        The largest ones of G_c, falling, or the smallest ones of the Laplacian, rising from 0.
    laplacian : bool
        Which of both.
    similarity : str or None
        Formula of the similarity behind the Laplacian.
    metric : Metric
        With every parameter that was settled on the data.
    standardization : Standardization or None
        Column means and standard deviations, if the columns were standardized.
    index : pandas.Index or None
        Names of the points: the index of the data frame, behind `names`.
    """

    embedding: FloatArray = field(repr=False)
    eigenvalues: FloatArray = field(repr=False)
    laplacian: bool
    similarity: str | None = None
    metric: Metric
    standardization: Standardization | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)

    @property
    def eigengaps(self) -> FloatArray:
        """Sizes of the steps between neighbouring eigenvalues; (m - 1,)."""
        return np.abs(np.diff(self.eigenvalues))

    @property
    def gap_k(self) -> IntArray:
        """Number of clusters that each gap would suggest; (m - 1,)."""
        return np.arange(self.eigengaps.size) + (1 if self.laplacian else 2)

    @property
    def suggested_k(self) -> int:
        """The k >= 2 with the largest gap; 1 where there is no gap."""
        allowed = np.where(self.gap_k >= 2, self.eigengaps, 0.0)
        return int(self.gap_k[allowed.argmax()]) if allowed.any() else 1

    def _tables(self) -> list[Table]:
        stubs = [str(j + 1) for j in range(self.eigenvalues.size)]
        gaps = [*numbers(self.eigengaps), "-"]
        k = [str(j) for j in self.gap_k] + ["-"]
        cells = [list(row) for row in zip(numbers(self.eigenvalues), gaps, k, strict=True)]
        title = "Random-walk Laplacian" if self.laplacian else "Centred Gram matrix"
        return [text_table(cells, ["eigenvalue", "gap to the next", "would suggest k"], stubs, title)]

    def _notes(self) -> list[str]:
        similarity = [f"Similarity: {self.similarity}."] if self.similarity else []
        return [*similarity, metric_note(self.metric, self.standardization)]

    def _conclusion(self) -> str:
        if self.suggested_k < 2:
            return "No gap between the eigenvalues suggests more than one cluster."
        return f"The largest gap with k >= 2 is at k = {self.suggested_k}; that is no evidence that clusters exist."

    def to_frame(self) -> pd.DataFrame:
        """Coordinates, one row per point, columns axis1, axis2, ..."""
        import pandas as pd

        columns = [f"axis{j + 1}" for j in range(self.embedding.shape[1])]
        return pd.DataFrame(np.array(self.embedding), columns=columns, index=self._index())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Eigenvalues, and their gaps as bars with the largest one marked."""
        from energystats import plotting

        return plotting.plot_eigengaps(self, ax)
