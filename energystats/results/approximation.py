"""What was approximated, and how far it may be off."""

from __future__ import annotations

from dataclasses import dataclass

from energystats.tables import number

__all__ = ["Approximation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximation:
    """How the dispersions of a partition were estimated, where not all pairs of points were looked at.

    Attributes
    ----------
    n_landmarks, n_features : int
        Points whose span takes the place of the feature space, and its dimension.
    batch_size : int
        Rows on which the starts were searched.
    n_pairs : int
        Random pairs behind W, all of them in clusters of up to 1,024 points; T has pairs of its own.
    within_error, between_error, total_error : float
        Standard errors of W, S and T over the draws of these pairs.
    within_limits : tuple of float
        Between these W lies for certain: W of the features, and that plus what lies outside the landmarks' span, with
        1e-13 of T for rounding on either side, and not below 0.
    outside : float
        The sum of the squared distances of all points from the landmarks' span, as a share of T.
    """

    n_landmarks: int
    n_features: int
    batch_size: int
    n_pairs: int
    within_error: float
    between_error: float
    total_error: float
    within_limits: tuple[float, float]
    outside: float

    def rows(self) -> list[list[str]]:
        """For the table of a summary."""
        low, high = self.within_limits
        return [
            ["standard error of W", number(self.within_error)],
            ["standard error of S", number(self.between_error)],
            ["standard error of T", number(self.total_error)],
            ["W for certain", f"{number(low)} to {number(high)}"],
        ]

    def notes(self) -> list[str]:
        """What a reader has to know."""
        return [
            f"APPROXIMATE: the search saw {self.n_features} Nystrom features of {self.n_landmarks} landmarks, outside "
            f"whose span {100 * self.outside:.3g} % of T lie. W, S and T are unbiased estimates from these features "
            f"and {self.n_pairs} random pairs of points. Starts were searched on {self.batch_size} rows.",
            "The bound on S is that of the features plus all that lies outside their span: valid, but looser than the "
            "eigenvalues of all pairs.",
        ]
