"""Real data that ships with the package, each with its source, and makers of the papers' simulated data."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from energystats.datasets.makers import (
    make_cigars,
    make_circles,
    make_gaussian_mixture,
    make_lognormal_mixture,
    make_spirals,
    make_unbalanced,
)
from energystats.datasets.mixtures import PAPER_MIXTURES, bayes_accuracy, paper_mixture
from energystats.validation import check_option

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PAPER_MIXTURES",
    "SOURCES",
    "bayes_accuracy",
    "load",
    "make_cigars",
    "make_circles",
    "make_gaussian_mixture",
    "make_lognormal_mixture",
    "make_spirals",
    "make_unbalanced",
    "paper_mixture",
]

SOURCES = {
    "iris": (
        "Lengths and widths of sepals and petals, in cm, of 50 flowers of each of three species of iris, measured by "
        "Anderson (1935, Bulletin of the American Iris Society 59, 2-5), published by Fisher (1936, Annals of "
        "Eugenics 7, 179-188). The values are those of `datasets::iris` in R."
    ),
}


def load(name: str) -> pd.DataFrame:
    """Load a bundled data set.

    Parameters
    ----------
    name : {"iris"}
        Which one.

    Returns
    -------
    pandas.DataFrame
        One observation per row; its source stands in ``.attrs["source"]``.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> import energystats as es
    >>> es.datasets.load("iris").shape
    (150, 5)
    """
    import pandas as pd

    check_option(name, "name", tuple(SOURCES))
    with (files("energystats.datasets") / f"{name}.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file)
    frame.attrs["source"] = SOURCES[name]
    return frame
