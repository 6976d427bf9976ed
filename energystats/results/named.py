"""Results whose points, or their clusters, have the names of a data frame's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from energystats._typing import IntArray
from energystats.results.base import Result
from energystats.tables import cut
from energystats.validation import mark_found, names_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Labelled", "Named"]

MEMBERS_LISTED = 40  # points, beyond which clusters are not written out


class Named(Result):
    """A result with an `index` for its points."""

    __slots__ = ()

    index: Any

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the points; None where they have none, or numbers that only count them."""
        return names_of(self.index)

    def _index(self) -> Any:
        """A copy of the index, so that what is made of it can be renamed."""
        return None if self.index is None else self.index.copy()

    @property
    def spelled(self) -> bool:
        """Whether the points have names in letters."""
        return self.names is not None and not all(name.lstrip("-").isdigit() for name in self.names)


class Labelled(Named):
    """A result with a cluster for each of its points."""

    __slots__ = ()

    labels: IntArray
    k: int

    def to_series(self) -> pd.Series[Any]:
        """Cluster of every point as a Series named "cluster", with the index of the data frame that was clustered.

        So that ``frame["cluster"] = found.to_series()`` puts every label into its row. Tests of groups recognise the
        Series, and warn that its groups were found. The column is not recognised: pandas keeps no mark of it.
        """
        import pandas as pd

        labels = pd.Series(self.labels.copy(), index=self._index(), name="cluster")
        mark_found(labels)
        return labels

    def _members(self) -> list[str]:
        """The clusters written out, where the points have names and are few."""
        names = self.names
        if names is None or not self.spelled or len(names) > MEMBERS_LISTED:
            return []
        inside = [[cut(names[i]) for i in range(len(names)) if self.labels[i] == j] for j in range(self.k)]
        return [f"Cluster {j}: {', '.join(part)}." for j, part in enumerate(inside)]
