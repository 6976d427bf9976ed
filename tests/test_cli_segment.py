"""`energystats segment`: the numbers of Python, orders as files write them, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import energystats as es
from energystats import cli
from energystats.clustering import segments as segments_module
from tests.conftest import sweep


@pytest.fixture
def core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"Pinus": rng.normal(size=40).round(3), "Betula": rng.normal(size=40).round(3)})
    frame.loc[25:, "Betula"] += 3
    frame["depth"] = np.arange(40) * 0.5 + 9.5  # as text "10.0" comes before "9.5"
    frame["day"] = [f"2001-{1 + i // 20:02d}-{1 + i % 20:02d}" for i in range(40)]
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    frame.to_csv("core.csv", index=False)
    return frame


def answer(capsys, *words):
    capsys.readouterr()
    assert cli.main(["segment", "core.csv", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("order", ["depth", "day"])
def test_breaks_are_those_of_python(core, capsys, order):
    found = answer(capsys, "--order", order, "--columns", "Pinus,Betula", "--resamples", "99", "--min-size", "3")
    result = es.segment_test(core[["Pinus", "Betula"]], order=core["depth"], n_resamples=99, min_size=3, rng=0)
    segments = found["segments"]
    assert found["columns"] == ["Pinus", "Betula"]
    assert segments["pvalue"] == result.pvalue
    assert segments["labels"] == result.labels.tolist()
    assert segments["breakpoints"] == result.breakpoints.tolist()
    assert segments["breaks"] == [str(core[order].iloc[result.rows[b]]) for b in result.breakpoints]
    assert [test["pvalue"] for test in segments["tests"]] == [test.pvalue for test in result.tests]


def test_a_cut_without_a_test(core, capsys):
    X = core[["Pinus", "Betula"]]
    found = answer(capsys, "--order", "depth", "--columns", "Pinus,Betula", "-k", "3")["segments"]
    assert found["labels"] == es.segment(X, 3, order=core["depth"]).labels.tolist()
    assert "pvalue" not in found
    found = answer(capsys, "--order", "depth", "--columns", "Pinus,Betula", "--penalty", "5")["segments"]
    assert found["k"] == es.segment(X, penalty=5, order=core["depth"]).k
    assert (found["exact"], found["within_limits"]) == (True, [found["within"]] * 2)


def test_many_rows_are_cut_exactly_if_asked(core, capsys, monkeypatch):
    monkeypatch.setattr(segments_module, "EXACT_UP_TO", 10)
    words = ["--order", "depth", "--columns", "Pinus,Betula", "-k", "3"]
    assert not answer(capsys, *words)["segments"]["exact"]
    assert answer(capsys, *words, "--exact")["segments"]["exact"]
    assert cli.main(["segment", "core.csv", *words]) == 0
    assert "Not exact: of 40 rows" in capsys.readouterr().out


def test_labels_stand_in_the_order(core, capsys):
    words = ["--order", "depth", "--columns", "Pinus,Betula", "-k", "2", "--labels", "zones.csv", "--plot", "zones.png"]
    answer(capsys, *words)
    zones = pd.read_csv("zones.csv")
    assert zones.columns.tolist() == ["row", "depth", "segment"]
    assert zones["depth"].is_monotonic_increasing
    assert zones["segment"].is_monotonic_increasing
    assert (core["depth"].iloc[zones["row"] - 1].to_numpy() == zones["depth"].to_numpy()).all()


@pytest.mark.parametrize("name", ["row", "segment"])
def test_labels_keep_rows_and_segments_beside_an_order_called_so(core, capsys, name):
    """Of two columns of one name the last was written."""
    words = ["--columns", "Pinus,Betula", "-k", "2", "--labels"]
    core.to_csv("plain.csv", index=False)
    core.rename(columns={"depth": name}).to_csv("named.csv", index=False)
    for file, order, labels in (("plain.csv", "depth", "a.csv"), ("named.csv", name, "b.csv")):
        assert cli.main(["segment", file, "--order", order, *words, labels]) == 0
    expected = pd.read_csv("a.csv")
    assert expected.columns.tolist() == ["row", "depth", "segment"]
    pd.testing.assert_frame_equal(pd.read_csv("b.csv"), expected.rename(columns={"depth": "order"}))


def test_the_orders_are_as_many_as_in_python(core, capsys):
    found = answer(capsys, "--order", "depth", "--columns", "Pinus,Betula")["segments"]
    assert found["n_resamples"] == es.segment_test(core[["Pinus", "Betula"]], order=core["depth"], rng=0).n_resamples


def test_summary_says_where(core, capsys):
    assert cli.main(["segment", "core.csv", "--order", "day", "--columns", "Betula", "--resamples", "99"]) == 0
    text = capsys.readouterr().out
    assert "Test of breaks in ordered rows" in text
    assert "2001-02-06" in text  # and no time of day


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--order", "dept"], "no column 'dept'. Did you mean 'depth'?"),
        (["--order", "month"], "--order must name a column of numbers or of dates such as 2001-05-31, and 'month'"),
        (["--order", "twice"], "--order must tell all rows apart, but 0 stands in several"),
        (["--order", "gaps"], "no place in the order"),
        (["--order", "depth", "-k", "30"], "-k must be at most 20"),
        (["--order", "depth", "-k", "2", "--level", "0.1"], "--level has no use with -k or --penalty"),
        (["--order", "depth", "--exact"], "--exact has no use without -k or --penalty"),
        (["--order", "depth", "-k", "2", "--penalty", "3"], "--penalty has no use with -k"),
        (["--order", "depth", "--block-length", "21"], "--block-length must leave two blocks at least"),
        (["--order", "depth", "--level", "2"], "--level"),
        ([], "the following arguments are required: --order"),
    ],
)  # fmt: skip
def test_what_cannot_be_ordered_is_refused_in_one_line(core, capsys, words, message):
    core.assign(
        month="May", twice=np.arange(40) // 2, gaps=np.where(np.arange(40) == 3, np.nan, np.arange(40.0))
    ).to_csv("core.csv", index=False)
    assert cli.main(["segment", "core.csv", "--columns", "Pinus", *words]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1
    assert message in lines[0]
    assert "`" not in lines[0].replace("`energystats", "").replace("--help`", "")


# ---------------------------------------------------------------- values of the order, as the file writes them


def write_series(name, places, **columns):
    v = np.r_[np.zeros(20), 3 * np.ones(20)] + np.random.default_rng(0).normal(size=40)
    pd.DataFrame({"t": places, "v": v, **columns}).to_csv(name, index=False)


@pytest.mark.parametrize(
    "first",
    sweep([2**53 + 1, 2**70 + 1, 1700000000000000001, 2**63 - 7, 2**64 - 7, -(2**62) - 1], 2),
    ids=lambda n: f"{n:.2g}",
)
@pytest.mark.parametrize("words", [["--resamples", "99"], ["-k", "2"]], ids=["test", "cut"])
def test_whole_numbers_are_exact_whatever_their_size(core, capsys, first, words):
    keys = [first + 2 * i for i in range(40)]
    write_series("core.csv", keys)
    assert cli.main(["segment", "core.csv", "--order", "t", "--plot", "series.png", *words]) == 0
    text = capsys.readouterr().out
    for key in (keys[0], keys[20], keys[39]):
        assert f" {key} " in text
    found = answer(capsys, "--order", "t", *words)["segments"]
    assert found["breaks"] == [str(keys[20])]
    if "-k" not in words:
        assert found["tests"][0]["breakpoint"] == 20


def test_whole_numbers_beside_fractions_are_exact_too(core, capsys):
    keys = [f"{i}.5" if i < 5 else str(2**53 + 2 * i + 1) for i in range(40)]
    write_series("core.csv", keys)
    assert cli.main(["segment", "core.csv", "--order", "t", "-k", "2"]) == 0
    assert f" {2**53 + 79} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("places", "bad", "said"),
    [
        ("day", "2001-02-30", "'2001-02-30' in row 32 (line 33)"),
        ("day", "unknown", "'unknown' in row 32 (line 33)"),
        ("day", "01.02.2001", "'01.02.2001' in row 32 (line 33)"),
        ("day", "12982-06-01", "'12982-06-01' in row 32 (line 33)"),
        ("day", "2001-12-31T23:59:60", "'2001-12-31T23:59:60' in row 32 (line 33)"),
        ("day", "2001-12-31T23:59Z", "'2001-01-01' in row 1 (line 2) and '2001-12-31T23:59Z' in row 32 (line 33)"),
        ("offset", "2001-12-31T23:59+01:00", "+02:00' in row 1 (line 2) and '2001-12-31T23:59+01:00' in row 32"),
        ("day", "2001-12-31T00:00:00.0000000001", "finer than a nanosecond, and 't' has '2001-12-31T00:00:00.000000"),
        ("number", "32a", "'32a' in row 32 (line 33)"),
        ("year", "1971?", "'1971?' in row 32 (line 33)"),
    ],
)
def test_the_value_that_is_no_place_is_named_with_its_row(core, capsys, places, bad, said):
    days = pd.date_range("2001-01-01", periods=40)
    given = {
        "day": [str(day.date()) for day in days],
        "offset": [f"{day.date()}T00:00+02:00" for day in days],
        "number": list(map(str, range(1, 41))),
        "year": list(map(str, range(1940, 1980))),
    }[places]
    write_series("core.csv", [*given[:31], bad, *given[32:]])
    assert cli.main(["segment", "core.csv", "--order", "t"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_file_with_the_order_alone_has_no_column_to_use(core, capsys):
    core[["depth"]].to_csv("core.csv", index=False)
    assert cli.main(["segment", "core.csv", "--order", "depth"]) == 2
    assert "core.csv: no column to use beside 'depth', which other options name." in capsys.readouterr().err


def test_columns_beyond_what_is_exact_are_named(core, capsys):
    write_series("core.csv", [2**53 + 2 * i + 1 for i in range(40)], g=["a", "b"] * 20)
    for words in (["cluster", "core.csv", "-k", "2", "--drop", "g"], ["test", "core.csv", "--group", "g"]):
        assert cli.main(words) == 2
        assert "whole numbers beyond 2**53 in column 't'" in capsys.readouterr().err


def test_two_spellings_of_one_place_are_no_groups(tmp_path, capsys):
    file = tmp_path / "places.csv"
    file.write_text("t,h\n1,1\n1.0,2\n2,3\n3,1\n4,5\n5,5\n6,4\n")
    assert cli.main(["segment", str(file), "--order", "t"]) == 2
    said = capsys.readouterr().err
    assert "groups" not in said
    assert "1" in said.splitlines()[-1]
