"""Power of a test against sample size."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from energystats._typing import FloatArray
from energystats.results.base import Result
from energystats.tables import Table, metric_note, proportion, text_table
from energystats.validation import check_positive

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from energystats.metrics import Metric

__all__ = ["PowerResult", "PowerRow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRow:
    """Power at one pair of sizes.

    Attributes
    ----------
    n_x, n_y : int
        Sizes of the two samples.
    power : float
        Share of the replicates that were rejected.
    standard_error : float
        Its binomial standard error.
    low, high : float
        95 % Clopper-Pearson interval of the power.
    """

    n_x: int
    n_y: int
    power: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PowerResult(Result):
    """Power of the energy test, by simulation.

    Attributes
    ----------
    rows : tuple of PowerRow
        One for each size, rising.
    level : float
        A replicate is rejected when its p-value is at most this.
    n_replicates : int
        Simulated pairs of samples for each size.
    n_resamples : int
        Random relabelings of each.
    x, y : str
        The two distributions in words.
    statistic_name : {"between", "pairwise", "f"}
        Which statistic.
    standardize : bool
        Whether the columns were standardized.
    metric : Metric
        As it was given: what depends on the data is settled anew for each replicate.
    """

    rows: tuple[PowerRow, ...] = field(repr=False)
    level: float
    n_replicates: int
    n_resamples: int
    x: str
    y: str
    statistic_name: str
    standardize: bool
    metric: Metric

    @property
    def table(self) -> pd.DataFrame:
        """One row a size."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    @property
    def fitted(self) -> FloatArray:
        """The powers made to rise with size: their isotonic regression."""
        from scipy.optimize import isotonic_regression

        return np.asarray(isotonic_regression([row.power for row in self.rows]).x)

    def sample_size(self, power: float = 0.8) -> float:
        """Smallest size of the first sample that has the power asked for.

        Read off the isotonic fit, linear between the sizes looked at and rounded up to a whole number. NaN where none
        of them has that power: nothing is extrapolated, so look at larger sizes. The smallest of them where it already
        has that power; then a smaller size may do.
        """
        if check_positive(power, "power") >= 1:
            raise ValueError(f"`power` must satisfy 0 < power < 1, got {power:g}.")
        fitted, sizes = self.fitted, [row.n_x for row in self.rows]
        enough = np.flatnonzero(fitted >= power)
        if enough.size == 0:
            return math.nan
        j = int(enough[0])
        if j == 0:
            return float(sizes[0])
        share = (power - fitted[j - 1]) / (fitted[j] - fitted[j - 1])
        return float(math.ceil(sizes[j - 1] + share * (sizes[j] - sizes[j - 1]) - 1e-9))

    def _tables(self) -> list[Table]:
        heads = ["power", "standard error", "low", "high"]
        cells = [list(map(proportion, (row.power, row.standard_error, row.low, row.high))) for row in self.rows]
        stubs = [f"n = {row.n_x} + {row.n_y}" for row in self.rows]
        return [text_table(cells, heads, stubs, f"Power of the energy test at level {self.level:g}")]

    def _notes(self) -> list[str]:
        return [
            "Null hypothesis of the test: x and y come from one distribution. Power: how often it is rejected.",
            f"x: {self.x}. y: {self.y}.",
            f"Method: permutation test (statistic: {self.statistic_name}) of {self.n_replicates} replicates a size, "
            f"{self.n_resamples} relabelings each; low and high: 95 % interval of the power. Another seed moves a "
            "power by about its standard error.",
            metric_note(self.metric, None)[:-1] + (", columns standardized." if self.standardize else "."),
        ]

    def _conclusion(self) -> str:
        needed = self.sample_size()
        asked = f"takes about {needed:g} points of x"
        if math.isnan(needed):
            asked = "is not reached by these sizes"
        elif needed == self.rows[0].n_x:
            asked = f"takes {needed:g} points of x or fewer"
        return f"Power .8 {asked}, if the populations are as x and y."

    def to_frame(self) -> pd.DataFrame:
        """The same as `table`."""
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Power against the size of the first sample, with its intervals."""
        from energystats import plotting

        return plotting.plot_power(self, ax)
