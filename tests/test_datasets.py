"""Bundled data: the values of the reference, names and groups that belong to the rows, and files that are shipped."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import energystats as es
from tests.conftest import read_oracle

SQUARE = ("eurodist", "dune_bray", "graph_path")


@pytest.mark.parametrize("name", SQUARE)
def test_values_and_groups_are_those_of_the_reference(name):
    known = read_oracle(name)
    d, groups = es.datasets.load(name), es.datasets.groups(name)
    np.testing.assert_array_equal(d.to_numpy(), known.data)  # the very doubles
    assert groups.tolist() == known.labels.tolist()
    if known.record["items"] is not None:
        assert d.index.tolist() == known.record["items"]


@pytest.mark.parametrize("name", SQUARE)
def test_square_frames_carry_names_and_fit_their_groups(name):
    d, groups = es.datasets.load(name), es.datasets.groups(name)
    assert d.index.tolist() == d.columns.tolist()
    assert d.index.is_unique
    assert all(isinstance(item, str) for item in d.index)
    assert d.to_numpy().dtype == np.float64
    assert groups.index.equals(d.index)
    assert es.lingoes(d).names == tuple(d.index)
    result = es.energy_test(d**2, groups=groups, metric="precomputed", n_resamples=19, rng=0)
    assert sorted(groups.unique()) == list(result.labels)
    with pytest.raises(ValueError, match="`groups` must have the index of the table"):
        es.energy_test(d**2, groups=groups[::-1], metric="precomputed")


def test_the_meadows_are_those_of_the_dissimilarities():
    """vegan's vegdist of the table that ships is the matrix that ships."""
    table, d = es.datasets.load("dune"), es.datasets.load("dune_bray")
    species = table.iloc[:, :30]
    assert table.index.tolist() == d.index.tolist()
    np.testing.assert_allclose(es.pairwise(species, metric="bray"), d, rtol=1e-12)
    assert es.datasets.groups("dune").tolist() == es.datasets.groups("dune_bray").tolist()
    assert species.to_numpy().sum() == 685
    assert table["A1"].sum() == pytest.approx(97.0)


def test_the_pastures_are_those_of_vegan():
    table = es.datasets.load("varespec")
    assert table.shape == (24, 44 + 14 + 1)
    assert table.index.tolist()[:3] == ["18", "15", "24"]
    most = {"Cladstel": 486.71, "Cladrang": 388.71, "Pleuschr": 377.97}
    assert table.iloc[:, :44].sum().nlargest(3).to_dict() == pytest.approx(most)
    d = es.pairwise(table.iloc[:, :44], metric="bray")
    assert (d**2).to_numpy().sum() / 48 == pytest.approx(4.5444, abs=5e-5)  # adonis2: the total sum of squares
    assert es.datasets.groups("varespec").value_counts().to_dict() == {"grazed": 16, "ungrazed": 8}


def test_dissimilarities_are_not_euclidean():
    for name in SQUARE:
        assert not es.is_euclidean(es.datasets.load(name))


def test_a_negative_statistic_is_explained():
    d, groups = es.datasets.load("graph_path"), es.datasets.groups("graph_path")
    result = es.energy_test(d**2, groups=groups, metric="precomputed", n_resamples=99, rng=0)
    assert result.statistic < 0
    assert "S is negative, so rho is not of negative type" in result.summary()
    for rho in (d, es.lingoes(d).distances ** 2):
        fine = es.energy_test(rho, groups=groups.to_numpy(), metric="precomputed", n_resamples=99, rng=0)
        assert "S is negative" not in fine.summary()


def test_what_the_source_of_eurodist_says():
    d = es.datasets.load("eurodist").to_numpy()
    detour = (d[:, :, None] + d[None, :, :]).min(axis=1)
    assert np.count_nonzero(d > detour + 1e-9) == 2 * 94
    assert d.shape == (21, 21)


@pytest.mark.parametrize(
    ("name", "column", "years"), [("nile", "flow", (1871, 1970)), ("coal", "explosions", (1851, 1962))]
)
def test_series_are_those_of_r(name, column, years):
    known = json.loads((Path(__file__).parent / "oracles_segments" / "breaks.json").read_text())[name]
    frame = es.datasets.load(name)
    assert frame.columns.tolist() == ["year", column]
    assert frame["year"].tolist() == known["year"] == list(range(years[0], years[1] + 1))
    assert frame[column].tolist() == known["value"]
    with pytest.raises(ValueError, match="data with known groups"):
        es.datasets.groups(name)


def test_irises():
    frame = es.datasets.load("iris")
    pd.testing.assert_series_equal(es.datasets.groups("iris"), frame["species"])
    assert np.array_equal(frame.iloc[:, :4].to_numpy(), read_oracle("iris").points)


@pytest.mark.parametrize("name", list(es.datasets.SOURCES))
def test_every_source_is_a_sentence_that_goes_with_the_data(name):
    source = es.datasets.SOURCES[name]
    assert es.datasets.load(name).attrs["source"] == source
    assert source.endswith(".")
    assert name in es.datasets.load.__doc__
    assert name in es.datasets.groups.__doc__


def test_unknown_names():
    for loader in (es.datasets.load, es.datasets.groups):
        with pytest.raises(ValueError, match=r"got 'eurodis'. Did you mean 'eurodist'"):
            loader("eurodis")


def test_files_are_packaged():
    folder = files("energystats.datasets")
    for name in es.datasets.SOURCES:
        assert (folder / f"{name}.csv").is_file()
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    build = project["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"] == {"packages": ["energystats"]}  # the whole folder, tables included
    assert {"energystats", "vignettes"} <= set(build["sdist"]["include"])
