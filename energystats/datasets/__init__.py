"""Load real data that ships with the package, each with its source, and make the papers' simulated data."""

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
from energystats.inputs.options import check_option

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PAPER_MIXTURES",
    "SOURCES",
    "bayes_accuracy",
    "groups",
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
    "eurodist": (
        "Road distances in km between 21 European cities, from a table in Crystal, ed. (1990), The Cambridge "
        "Encyclopaedia, Cambridge University Press. The values are those of `datasets::eurodist` in R; the three "
        "regions are ours. 94 of the 210 distances are longer than the way over a third city."
    ),
    "dune": (
        "Cover classes (0 to 9) of 30 plant species on 20 dune meadows of the island of Terschelling, with the "
        "thickness of the A1 horizon (cm), classes of moisture and manure, the use and the management of the meadows "
        "(BF biological farming, HF hobby farming, NM nature conservation, SF standard farming), from Jongman, ter "
        "Braak & van Tongeren (1987), Data Analysis in Community and Landscape Ecology, Pudoc. The values are those of "
        "`vegan::dune` and `vegan::dune.env` in R."
    ),
    "varespec": (
        "Cover (percent) of 44 species of plants and lichens on 24 pastures, with the chemistry of the soil (mg/kg; "
        "nitrogen, phosphorus and on), bare soil (percent), depth of humus (cm) and pH, and whether reindeer grazed "
        "there, from Väre, Ohtonen & Oksanen (1995), Journal of Vegetation Science 6, 523-530. The values are those of "
        "`vegan::varespec` and `vegan::varechem` in R, and grazing that of `help(betadisper)` there."
    ),
    "dune_bray": (
        "Bray-Curtis dissimilarities of the cover classes of 30 plant species on 20 dune meadows of the island of "
        "Terschelling, from Jongman, ter Braak & van Tongeren (1987), Data Analysis in Community and Landscape "
        "Ecology, Pudoc. Computed by `vegan::vegdist(dune, 'bray')` in R; the management of the meadows (BF biological "
        "farming, HF hobby farming, NM nature conservation, SF standard farming) is that of `vegan::dune.env`."
    ),
    "graph_path": (
        "Lengths of the shortest paths in a graph of 18 random points of the plane, each joined to its three nearest "
        "ones: `set.seed(38); path_metric(matrix(rnorm(36), 18))` in R, with `path_metric` of "
        "tests/oracles/make_reference.R. The three groups were assigned in turn and have no meaning, so that every "
        "hypothesis of equality is true."
    ),
    "nile": (
        "Annual flow of the Nile at Aswan, in 10^8 cubic metres, 1871 to 1970, from Cobb (1978, Biometrika 65, "
        "243-251) and Balke (1993, Journal of Business and Economic Statistics 11, 81-92). The values are those of "
        "`datasets::Nile` in R, and of `statsmodels.datasets.nile`, which calls them public domain."
    ),
    "coal": (
        "Explosions in British coal mines with ten dead or more, in each of the years 1851 to 1962, from Jarrett "
        "(1979, Biometrika 66, 191-193). Counted from the 191 dates of `boot::coal` in R (licence: unlimited)."
    ),
}
SERIES = ("nile", "coal")
GROUPS = {
    "iris": "species",
    "eurodist": "region",
    "dune": "Management",
    "varespec": "Grazing",
    "dune_bray": "management",
    "graph_path": "group",
}


def load(name: str) -> pd.DataFrame:
    """Load a bundled data set as a data frame, with its source in `attrs`.

    Parameters
    ----------
    name : {"iris", "dune", "varespec", "nile", "coal", "eurodist", "dune_bray", "graph_path"}
        Which one. "iris" is a table of measurements, "dune" and "varespec" are tables of species (the first 30 and 44
        columns) and of what is known of the meadows and pastures, "nile" and "coal" are series of a number a year; the
        others are dissimilarities d, not squared, that are not Euclidean: road distances of cities, Bray-Curtis
        dissimilarities of meadows, shortest paths in a graph.

    Returns
    -------
    pandas.DataFrame
        One observation per row; of dissimilarities a square frame with the names of the items as index and columns.
        The source stands in ``.attrs["source"]``.

    Raises
    ------
    ValueError
        If the name is unknown.

    See Also
    --------
    groups : The known groups of the same rows.

    Examples
    --------
    >>> import energystats as es
    >>> es.datasets.load("iris").shape
    (150, 5)
    >>> d = es.datasets.load("eurodist")
    >>> float(d.loc["Paris", "Rome"])
    1476.0
    """
    frame = _read(name)
    if name == "dune":
        frame = frame.set_index("plot")
        numbers = frame.columns.drop(["Management", "Use"])
        frame = frame.astype({column: float if column == "A1" else int for column in numbers})
    elif name == "varespec":
        frame = frame.set_index("site")
        frame = frame.astype(dict.fromkeys(frame.columns.drop("Grazing"), float))
    elif name in SERIES:
        frame = frame.astype(int)
    elif name != "iris":
        frame = frame.set_index(frame.columns[0]).drop(columns=GROUPS[name]).astype(float)
        frame.columns.name = None
    frame.attrs["source"] = SOURCES[name]
    return frame


def groups(name: str) -> pd.Series[str]:
    """Load the known groups of the rows of a bundled data set as a pandas Series.

    Parameters
    ----------
    name : {"iris", "dune", "varespec", "eurodist", "dune_bray", "graph_path"}
        Which one.

    Returns
    -------
    pandas.Series
        One label per row, with the index of ``load(name)``: species, regions, management of the meadows, grazing,
        and of the graph groups without meaning; the series "nile" and "coal" have none. Functions that take both check
        that the two indexes agree.

    Raises
    ------
    ValueError
        If the name is unknown, as in `load`, or the data are a series.

    See Also
    --------
    load : The data.

    Notes
    -----
    O(n) time and memory.

    References
    ----------
    The sources of the data, in ``load(name).attrs["source"]``.

    Examples
    --------
    >>> import energystats as es
    >>> es.datasets.groups("dune_bray").value_counts().sort_index().to_dict()
    {'BF': 3, 'HF': 5, 'NM': 6, 'SF': 6}
    """
    frame = _read(name)
    if name in SERIES:
        raise ValueError(f"`name` must be that of data with known groups, one of {', '.join(GROUPS)}; got {name!r}.")
    return frame[GROUPS[name]] if name == "iris" else frame.set_index(frame.columns[0])[GROUPS[name]]


def _read(name: str) -> pd.DataFrame:
    """Read the CSV file of a bundled data set, all columns as text except for iris."""
    import pandas as pd

    check_option(name, "name", tuple(SOURCES))
    with (files("energystats.datasets") / f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype=None if name == "iris" else str)  # numbers are converted by `astype`, exactly
