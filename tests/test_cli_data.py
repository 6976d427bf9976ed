"""Reading by the command line: rows, columns, and output for scripts."""

import contextlib
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import energystats as es
from energystats import cli, datasets
from energystats.cli.console import Console, jsonable
from energystats.cli.csv_scan import find_line
from energystats.cli.dialects import GROUPED, Dialect, detected
from energystats.cli.errors import BadInputError
from energystats.cli.options import split_names
from energystats.cli.selection import _rows_where
from energystats.inputs.names import SUBJECT_NAME
from tests.conftest import examples, sweep


@pytest.fixture
def iris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = datasets.load("iris")
    frame.to_csv("iris.csv", index=False)
    return frame


def answer(capsys, *words):
    """The JSON object of a command that ends well, and its standard error."""
    assert cli.main([*words, "--json"]) == 0
    captured = capsys.readouterr()
    return json.loads(captured.out, parse_constant=pytest.fail), captured.err


def standard_input(monkeypatch, content):
    stream = io.TextIOWrapper(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", stream)


ROWS = np.round(np.r_[np.arange(12) / 7, 5 + np.arange(12) / 9], 3)
TABLE = pd.DataFrame({"g": ["a", "b"] * 12, "x y": ROWS, "z": ROWS[::-1] ** 2})
DIALECTS = {
    "semicolons and decimal commas": (lambda t: t.to_csv(index=False, sep=";", decimal=",").encode(), []),
    "tabs": (lambda t: t.to_csv(index=False, sep="\t").encode(), []),
    "bars": (lambda t: t.to_csv(index=False, sep="|").encode(), []),
    "byte order mark and CRLF": (lambda t: t.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig"), []),
    "utf-16": (lambda t: t.to_csv(index=False, sep="\t").encode("utf-16"), []),
    "latin-1": (lambda t: t.rename(columns={"z": "größe"}).to_csv(index=False).encode("latin-1"),
                ["--encoding", "latin-1"]),
    "everything quoted": (lambda t: t.to_csv(index=False, quoting=1).encode(), []),
    "gzip": (lambda t: gzip.compress(t.to_csv(index=False).encode()), []),
    "comments": (lambda t: b"# measured in 2021\n" + t.to_csv(index=False).encode(), ["--comment", "#"]),
    "a separator at the end of lines": (lambda t: t.to_csv(index=False).replace("\n", ",\n").encode(), []),
    "one but for the header": (lambda t: t.to_csv(index=False).replace("\n", ",\n").replace(",\n", "\n", 1).encode(),
                               []),
    "named separator": (lambda t: t.to_csv(index=False, sep=" ").encode(), ["--sep", "space"]),
    "names of rows": (lambda t: t.to_csv(index=True).split(",", 1)[1].encode(), []),
    "without a header": (lambda t: t.to_csv(index=False, header=False).encode(), ["--no-header"]),
    "another word for missing": (lambda t: t.to_csv(index=False).encode() + b"a,?,?\n",
                                 ["--na", "?", "--missing", "drop"]),
    "parquet": (lambda t: t.to_parquet(), []),
}  # fmt: skip


@pytest.mark.parametrize("stdin", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["file", "standard input"])
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_gives_the_same_numbers(tmp_path, monkeypatch, capsys, name, stdin):
    monkeypatch.chdir(tmp_path)
    write, options = DIALECTS[name]
    content = write(TABLE)
    (tmp_path / "data").write_bytes(content)
    standard_input(monkeypatch, content)
    group = "V1" if name == "without a header" else "g"
    found, _ = answer(capsys, "test", "-" if stdin else "data", "--group", group, "--seed", "3", *options)
    expected = es.energy_test(TABLE[["x y", "z"]], groups=TABLE["g"], rng=3)
    assert found["n"] == 24
    assert len(found["columns"]) == 2
    assert found["test"]["pvalue"] == expected.pvalue
    assert found["test"]["statistic"] == pytest.approx(expected.statistic, rel=1e-12)
    assert found["file"] == ("standard input" if stdin else "data")


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=5)


@settings(deadline=None)
@example(sep=";", numbers=[1.375, 1.375], names=["_", "a"])
@given(
    sep=st.sampled_from([",", ";", "\t", "|"]),
    numbers=st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), min_size=2, max_size=9),
    names=st.lists(st.text("abcxyz_", min_size=1, max_size=4), min_size=2, max_size=4, unique=True),
)
def test_separator_and_decimal_are_found(sep, numbers, names):
    """From any table of numbers; a decimal comma wherever the comma is free."""
    frame = pd.DataFrame(dict.fromkeys(names, numbers))
    for decimal in ["."] if sep == "," else [".", ","]:
        text = frame.to_csv(index=False, sep=sep, decimal=decimal)
        if decimal == "," and all(GROUPED.fullmatch(str(v).replace(".", ",")) for v in numbers):
            with pytest.raises(ValueError, match="--thousands , takes the first reading"):  # 1,375 alone is in doubt
                detected(text, Dialect(), Console(quiet=True))
            continue
        dialect = detected(text, Dialect(), Console(quiet=True))
        back = pd.read_csv(io.StringIO(text), sep=dialect.sep, decimal=dialect.decimal)
        pd.testing.assert_frame_equal(back, frame, check_dtype=False)


def test_one_column_of_decimal_commas(tmp_path, monkeypatch, capsys):
    """Or names of rows beside a column of whole numbers: where these would repeat there is one reading only."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},5\n" for i in range(30))
    (tmp_path / "d.csv").write_text("x\n" + rows)
    assert cli.main(["cluster", "d.csv"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "the rows, such as '0,5', may be numbers with decimal commas, or names of rows and a column of numbers" in said
    )
    found, _ = answer(capsys, "cluster", "d.csv", "--decimal", ",")
    assert found["partition"]["within"] == es.cluster_1d(np.arange(30) + 0.5, 2).within
    found, _ = answer(capsys, "cluster", "d.csv", "--sep", ",", "-k", "1")
    assert found["partition"]["total"] == 0
    (tmp_path / "d.csv").write_text("x\n3,25\n" + rows)
    found, error = answer(capsys, "cluster", "d.csv")
    assert found["partition"]["within"] == es.cluster_1d(np.r_[3.25, np.arange(30) + 0.5], 2).within
    assert "note: decimals have a comma; --sep and --decimal say otherwise.\n" in error
    assert "names the rows" not in error


@settings(deadline=None)
@given(cells=st.lists(st.lists(CELLS | st.just("a\nb"), min_size=2, max_size=2), min_size=1, max_size=6))
def test_line_of_a_row(cells):
    """Find the line at which the parser says that the record begins, quoted line ends included."""
    head, text = "p,q\n", ""
    starts = []
    for row in cells:
        starts.append(1 + (head + text).count("\n"))
        text += ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n"
    lines = [find_line(io.StringIO(head + text, newline=""), i, Dialect()) for i in range(len(starts) + 1)]
    assert lines == [*starts, None]


@pytest.mark.parametrize(
    ("conditions", "query"),
    [
        (["species=setosa"], "species == 'setosa'"),
        (["species != setosa"], "species != 'setosa'"),
        (["sepal_length >= 5.1", "sepal_length<6"], "5.1 <= sepal_length < 6"),
        (["petal_width==0.2"], "petal_width == 0.2"),
        (["petal_width!=.2", "species=setosa"], "petal_width != 0.2 and species == 'setosa'"),
        (["petal_width>2"], "petal_width > 2"),
        (["petal_width<=.3"], "petal_width <= 0.3"),
    ],
)
def test_where(iris, capsys, conditions, query):
    words = [word for condition in conditions for word in ("--where", condition)]
    found, _ = answer(capsys, "cluster", "iris.csv", "-k", "1", *words)
    rows = iris.query(query).index + 1
    assert found["partition"]["rows"] == rows.tolist()
    assert (found["n"], found["n_read"]) == (len(rows), 150)


def test_where_reads_names_with_signs_and_never_runs_code(iris):
    from energystats.cli.file_table import FileTable as Table

    frame = pd.DataFrame({"a<b": [1.0, 2.0, np.nan], "a": ["x", "<b=1", None]})
    table = Table(file="f", frame=frame, code=())
    assert _rows_where(table, "a<b=1").frame.index.tolist() == [0]
    assert _rows_where(table, "a<b!=1").frame.index.tolist() == [1]  # a missing value meets no condition
    assert _rows_where(table, "a=<b=1").frame.index.tolist() == [1]
    with pytest.raises(BadInputError, match='holds numbers, and "__import__'):
        _rows_where(table, "a<b=__import__('os').abort()")
    for code in _rows_where(table, "a=x").code:
        assert eval(code.removeprefix("table = "), {"table": frame}).index.tolist() == [0]


@pytest.mark.parametrize(("ranges", "rows"), [("1:50", range(1, 51)), ("3,5:7,149:", [3, 5, 6, 7, 149, 150]),
                                              (":4", [1, 2, 3, 4]), ("7", [7])])  # fmt: skip
def test_rows_by_number(iris, capsys, ranges, rows):
    found, _ = answer(capsys, "cluster", "iris.csv", "--rows", ranges, "-k", "1")
    assert found["partition"]["rows"] == list(rows)


def test_columns_with_commas_in_their_names():
    assert split_names("a,b", ["a,b", "a"]) == ["a,b"]
    assert split_names('"a,b", c', ["a,b", "c"]) == ["a,b", "c"]
    assert split_names("a, b", ["a", "b"]) == ["a", "b"]


def test_ids_end_in_the_labels(iris, tmp_path, capsys):
    named = iris.assign(plant=[f"p{i}" for i in range(150)])
    named.to_csv("named.csv", index=False)
    words = ["cluster", "named.csv", "--id", "plant", "--labels", "out.csv", "--where", "species!=setosa"]
    assert cli.main([*words, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    table = pd.read_csv("out.csv")
    assert list(table.columns) == ["row", "plant", "cluster"]
    assert table["row"].tolist() == list(range(51, 151))
    assert table["plant"].tolist() == named["plant"][50:].tolist()
    expected = es.energy_cluster(iris.iloc[50:, :4], 2, rng=0).labels
    assert table["cluster"].tolist() == expected.tolist()


COUNTS = np.arange(2001, 2041)
NOISE = np.random.default_rng(1).random(40)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pid", COUNTS),
        ("subject", COUNTS[::-1]),
        ("subject", np.random.default_rng(0).permutation(COUNTS)),
        *(
            (name, 7 * COUNTS)
            for name in ("id", "ID", "pid", "patient_id", "Patienten-ID", "patientID", "nr", "No", "index")
        ),
        ("id", np.r_[7 * COUNTS[:38], 7 * COUNTS[:2]]),
    ],
)
def test_ids_are_no_measurements(tmp_path, monkeypatch, capsys, name, values):
    """Whatever they count from; named in --columns they are used."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({name: values, "x": NOISE, "g": ["a", "b"] * 20})
    frame.to_csv("d.csv", index=False)
    words = ["test", "d.csv", "--group", "g", "--resamples", "19"]
    found, error = answer(capsys, *words)
    assert found["columns"] == ["x"]
    assert f"because it numbers the rows: {name}; name it in --columns to use it." in error
    assert answer(capsys, *words, "--columns", f"x,{name}")[0]["columns"] == ["x", name]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weight", 7 * COUNTS),
        ("id", COUNTS + 0.5),
        ("humid", 7 * COUNTS),
        ("casino", 7 * COUNTS),
    ],
)
def test_measurements_are_no_ids(tmp_path, monkeypatch, capsys, name, values):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({name: values, "x": NOISE, "g": ["a", "b"] * 20}).to_csv("d.csv", index=False)
    assert answer(capsys, "test", "d.csv", "--group", "g", "--resamples", "19")[0]["columns"] == [name, "x"]


@pytest.mark.parametrize(
    "name",
    sweep(
        ["ID", "index", "subject", "Subject", "patient_id", "participant", "subjectID", "S1ID"], ["ID", "patient_id"]
    ),
)
def test_ids_that_repeat_are_labels_of_subjects(tmp_path, monkeypatch, capsys, name):
    """As in data measured twice: the number of a person is no coordinate, whatever the command and the metric."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({name: np.tile(np.arange(1, 21), 2), "x": NOISE, "g": np.repeat(["a", "b"], 20)})
    frame.to_csv("d.csv", index=False)
    frame.assign(**{name: [f"s{i}" for i in frame[name]]}).to_csv("words.csv", index=False)
    words = ["test", "d.csv", "--group", "g", "--resamples", "9"]
    found, error = answer(capsys, *words)
    assert found["columns"] == ["x"]
    assert found["test"]["statistic"] == pytest.approx(
        es.energy_test(frame[["x"]], groups=frame["g"], n_resamples=9, rng=0).statistic
    )
    said = "by its name it holds labels, of subjects or cases, and no measurements"
    assert f"not used, because {said}: {name}; name it in --columns to use it." in error
    assert answer(capsys, *words, "--columns", f"x,{name}")[0]["columns"] == ["x", name]
    gower = ["--metric", "gower", "--resamples", "9"]
    assert answer(capsys, *words, *gower)[0]["columns"] == ["x"]
    assert answer(capsys, *words, *gower, "--category", name)[0]["columns"] == [name, "x"]
    found, error = answer(capsys, "test", "words.csv", "--group", "g", *gower)
    assert found["columns"] == ["x"]
    assert said in error
    assert cli.main([*words, "--drop", "x"]) == 2
    assert f"no column to use but {name}, which only labels rows or subjects; name it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cluster", "Nr", "visit_no", "case", "row.names"])
def test_labels_and_numbers_of_cases_that_are_measured_are_noted(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({name: np.arange(40) % 3, "x": NOISE, "g": ["a", "b"] * 20}).to_csv("d.csv", index=False)
    words = ["test", "d.csv", "--group", "g", "--resamples", "9"]
    found, error = answer(capsys, *words)
    assert found["columns"] == [name, "x"]
    assert f"the column '{name}' is used as a measurement, and has the name" in error
    assert f"--drop {name} leaves it out" in error
    assert "is used as a measurement" not in answer(capsys, *words, "--columns", f"x,{name}")[1]
    assert "is used as a measurement" not in answer(capsys, *words, "--drop", name)[1]


@pytest.mark.slow
def test_labels_of_clusters_are_read_again_without_their_rows(iris, capsys):
    """Rows that were left out make gaps in the column of their numbers."""
    assert cli.main(["cluster", "iris.csv", "--where", "sepal_width!=3", "--labels", "labels.csv", "--quiet"]) == 0
    pd.read_csv("labels.csv").assign(x=lambda t: t["row"] ** 1.5, g=lambda t: t["row"] % 2).to_csv("l.csv", index=False)
    found, error = answer(capsys, "test", "l.csv", "--group", "g", "--resamples", "9")
    assert found["columns"] == ["cluster", "x"]
    assert "because it numbers the rows: row;" in error
    assert "the column 'cluster' is used as a measurement" in error


def test_names_with_a_few_rows_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"who": [f"p{i % 39}" for i in range(40)], "x": NOISE, "g": ["a", "b"] * 20})
    frame.to_csv("d.csv", index=False)
    words = ["test", "d.csv", "--group", "g", "--metric", "gower", "--resamples", "19"]
    found, error = answer(capsys, *words)
    assert found["columns"] == ["x"]
    assert "because nearly every row has a text of its own: who;" in error
    frame.assign(who=[f"p{i % 35}" for i in range(40)]).to_csv("d.csv", index=False)
    assert answer(capsys, *words)[0]["columns"] == ["who", "x"]


def test_groups_beside_a_matrix_of_distances(tmp_path, monkeypatch, capsys):
    """Distances that count 0, 1, 2, ... are none of the rows' numbers."""
    monkeypatch.chdir(tmp_path)
    x = np.arange(12)
    frame = pd.DataFrame(np.abs(x[:, None] - x), columns=[f"p{i}" for i in x])
    frame.assign(g=["a", "b"] * 6, town=frame.columns).to_csv("d.csv")  # the index is numbered
    found, error = answer(capsys, "test", "d.csv", "--group", "g", "--metric", "precomputed", "--seed", "1")
    expected = es.energy_test(frame, groups=["a", "b"] * 6, metric="precomputed", rng=1)
    assert found["columns"] == list(frame.columns)
    assert found["test"]["pvalue"] == expected.pvalue
    assert found["test"]["statistic"] == pytest.approx(expected.statistic)
    assert "Unnamed" not in error


@pytest.mark.parametrize("where", ["index", "id", "text"])
def test_rows_of_a_matrix_in_another_order_than_its_columns_are_refused(tmp_path, monkeypatch, capsys, where):
    monkeypatch.chdir(tmp_path)
    x, names = np.arange(6.0), list("abcdef")
    frame = pd.DataFrame(np.abs(x[:, None] - x) ** 2, columns=names)
    words = ["test", "d.csv", "--group", "g", "--metric", "precomputed", "--resamples", "9"]
    words += ["--id", "town"] * (where == "id")
    for order, status in ((names, 0), (names[::-1], 2)):
        table = frame.assign(g=["u", "v"] * 3)
        table.index = order
        (table if where == "index" else table.rename_axis("town").reset_index()).to_csv("d.csv", index=where == "index")
        assert cli.main(words) == status
    error = capsys.readouterr().err
    assert "names in the same order, but row 1 (line 2) is 'f' and column 1 of the matrix is 'a'." in error


def test_the_name_that_r_gives_to_names_of_rows_is_noted(tmp_path, monkeypatch, capsys):
    """Where rows were left out, sorted or drawn, their numbers do not count the rows any more."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"X": np.arange(40) * 2 + (np.arange(40) > 20), "x": NOISE, "g": ["a", "b"] * 20})
    words = ["test", "d.csv", "--group", "g", "--resamples", "9"]
    falling = frame.assign(X=frame["X"].to_numpy()[::-1])
    tied = frame.assign(X=frame["X"] // 8)
    for table, noted in ((frame, True), (falling, True), (tied, False), (frame[["x", "X", "g"]], False)):
        table.to_csv("d.csv", index=False)
        said = (
            "the column 'X' is used as a measurement, and has the name that R's read.csv" in answer(capsys, *words)[1]
        )
        assert said == noted


def test_advice_on_long_work_can_be_followed():
    from energystats.cli.errors import in_options
    from energystats.pairs import workloads

    for advice in (workloads.NO_PAIRS, workloads.FEWER_STARTS, workloads.FEWER_STARTS_OF_MATRIX, workloads.FASTER_TEST):
        text = in_options(advice)
        assert "n_init" not in text
        assert ("algorithm=" in advice or "method=" in advice) == ("in Python" in text)


@pytest.mark.parametrize(
    ("call", "command"),
    [
        ("energy_cluster(X[['u',\n  'v w']], 3, standardize=True)", "--columns 'u,v w' -k 3 --standardize"),
        ("energy_cluster(X[['u', \"it's\", 'x, y']], 2)", """--columns 'u,it'"'"'s,"x, y"' -k 2"""),
        ('`energy_cluster(X, 2, metric="mahalanobis", standardize=True)`', "`-k 2 --metric mahalanobis --standardize`"),
        ("`cluster_test(X, 12)`", "`-k 12`"),
    ],
)
def test_calls_in_advice_become_commands(call, command):
    from energystats.cli.errors import in_options

    expected = "See energystats cluster FILE " + command.removeprefix("`")
    assert in_options(f"See {call}").replace("`", "") == expected.replace("`", "")
    assert in_options('metric="gower" alone, f(X, metric="gower")') == '--metric gower alone, f(X, metric="gower")'


@pytest.mark.parametrize("metric", ["hellinger", "braycurtis", "gower", "precomputed"])
def test_advice_on_gaps_names_options_or_python(tmp_path, monkeypatch, capsys, metric):
    """No column of any of these has reference data to be drawn; the options of the command line are others."""
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).poisson(3.0, size=(12, 4)) + 1.0
    x = np.abs(x[:, :1] - x[:, :1].T) ** 1.5 if metric == "precomputed" else x
    x[0, 1] = np.nan if metric == "gower" else x[0, 1]
    pd.DataFrame(x, columns=[f"v{i}" for i in range(x.shape[1])]).to_csv("t.csv", index=False)
    assert cli.main(["cluster", "t.csv", "--select", "gap", "--metric", metric, "--k-max", "3"]) == 2
    said = capsys.readouterr().err
    assert said.rstrip().endswith("--select eigengap.")
    assert "criterion" not in said
    assert ('null="independent" (in Python)' in said) == (metric != "precomputed")
    assert ("take what `energystats euclidize --method lingoes` writes" in said) == (metric == "precomputed")


@pytest.mark.parametrize(
    ("said", "here"),
    [
        ('Report the p of method="auto" instead.', 'Report the p of method="auto" (in Python) instead.'),
        ('`null="independent"` asks; null="x" not.', '`null="independent"` (in Python) asks; null="x" not.'),
        ('use `missing="drop"`, or `method="cailliez"`.', "use --missing drop, or --method cailliez."),
        ("the factor of conservative=True.", "the factor of --conservative."),
        ("`block_length=` permutes, as `alpha` does.", "--block-length permutes, as --alpha does."),
        (
            "See `silhouette(X, g)`. It, or `disco`, is.",
            "See `silhouette(X, g)` (in Python). It, or `disco` (in Python), is.",
        ),
        ("In Python, `select_k` can.", "In Python, `select_k` can."),
        ('a ~ before its terms, as in "y ~ g" or "~ g".', 'a ~ before its terms, as in "y ~ g".'),
        (
            "`cluster_tree(X)` cuts there, and `cluster_tree` looks.",
            "--select significance cuts there, and --select significance looks.",
        ),
        ("if so, `disco` takes them as a covariate.", "if so, `energystats disco` takes them as a covariate."),
        ("leave it out: `.drop(columns=...)`, or `index_col=` on\n  reading.", "leave it out with --drop."),
    ],
)
def test_what_the_command_line_lacks_is_marked_as_python(said, here):
    from energystats.cli.errors import in_options

    assert in_options(said) == here


def test_every_command_leaves_the_ids_out(iris, capsys):
    iris.assign(plot=7 * np.arange(150)).to_csv("named.csv", index=False)
    few = ["named.csv", "--id", "plot", "--resamples", "19"]
    assert "plot" not in answer(capsys, "test", *few, "--group", "species")[0]["columns"]
    answer(capsys, "disco", "sepal_width ~ species", *few)
    assert cli.main(["disco", "plot ~ species", *few]) == 2
    assert cli.main(["test", *few, "--group", "species", "--columns", "plot"]) == 2
    assert "must not name the column of --id, 'plot'." in capsys.readouterr().err
    d = datasets.load("eurodist")
    d.assign(town=d.index).to_csv("d.csv", index=False)
    found, _ = answer(capsys, "euclidize", "d.csv", "--id", "town", "-o", "out.csv")
    assert found["result"]["constant"] == es.lingoes(d).constant
    assert pd.read_csv("out.csv", index_col="town").columns.tolist() == list(d.columns)
    assert cli.main(["euclidize", "d.csv", "--id", "twon", "-o", "out.csv"]) == 2
    assert "no column 'twon'. Did you mean 'town'?" in capsys.readouterr().err


def test_rows_left_out_keep_their_numbers(iris, capsys):
    iris["sepal_width"] = iris["sepal_width"].where(iris.index % 50 > 0)
    iris.to_csv("gaps.csv", index=False)
    found, error = answer(capsys, "cluster", "gaps.csv", "--missing", "drop")
    assert found["partition"]["rows"] == [i for i in range(1, 151) if i % 50 != 1]
    assert "note: 3 of 150 rows were left out for missing values." in error
    assert "3 of 150 rows were left out for missing values." in found["warnings"]


def test_options_reach_the_library(iris, capsys):
    found, _ = answer(
        capsys, "cluster", "iris.csv", "-k", "3", "--alpha", ".5", "--conservative", "--n-resamples", "19",
        "--drop", "petal_width", "--standardize", "--seed", "4",
    )  # fmt: skip
    X = iris.drop(columns=["petal_width", "species"])
    partition = es.energy_cluster(X, 3, alpha=0.5, standardize=True, rng=4)
    test = es.cluster_test(X, 3, alpha=0.5, standardize=True, conservative=True, n_resamples=19, rng=4)
    assert found["partition"]["labels"] == partition.labels.tolist()
    assert found["partition"]["within"] == partition.within
    assert found["partition"]["share"] == pytest.approx(partition.between / partition.total)
    assert found["test"]["pvalue"] == test.pvalue
    assert found["test"]["conservative"] is True
    assert [c["pvalue_adjusted"] for c in found["test"]["contrasts"]] == test.contrasts["pvalue_adjusted"].tolist()
    assert found["selection"] is None


@pytest.mark.slow
def test_selection_of_k(iris, capsys):
    found, _ = answer(capsys, "cluster", "iris.csv", "--rows", "31:80", "--select", "gap", "--k-max", "4")
    chosen = es.select_k(iris.drop(columns="species")[30:80], 4, "gap", rng=0)
    assert found["partition"]["k"] == found["selection"]["k"] == chosen.k
    assert found["selection"]["table"][0]["eigengap"] == chosen.rows[0].eigengap
    both, _ = answer(capsys, "cluster", "iris.csv", "--rows", "31:80", "--select", "gap", "--k-max", "4", "-k", "2")
    assert (both["partition"]["k"], both["selection"]["k"]) == (2, chosen.k)


def test_a_matrix_is_clustered_as_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    d = datasets.load("eurodist")
    d.to_csv("d.csv", sep=";")
    found, error = answer(capsys, "cluster", "d.csv", "--metric", "precomputed", "-k", "4", "--labels", "out.csv")
    assert found["partition"]["labels"] == es.energy_cluster(d, 4, metric="precomputed", rng=0).labels.tolist()
    assert found["partition"]["names"] == list(d.columns) == pd.read_csv("out.csv")["name"].tolist()
    assert "semicolons" in error
    assert found["files"] == ["out.csv"]


def test_json_of_the_other_commands(iris, capsys):
    found, _ = answer(capsys, "disco", "sepal_width ~ species * petal_width", "iris.csv", "--n-resamples", "19")
    model = es.disco("sepal_width ~ species * petal_width", data=iris, n_resamples=19, rng=0)
    assert [term["name"] for term in found["model"]["terms"]] == [term.name for term in model.terms]
    assert found["model"]["pvalue"] == model.pvalue
    d = datasets.load("eurodist")
    d.to_csv("d.csv")
    found, _ = answer(capsys, "euclidize", "d.csv", "-o", "out.csv")
    assert found["result"]["constant"] == es.lingoes(d).constant
    assert found["files"] == ["out.csv"]


def test_what_is_not_finite_is_null():
    values = {"a": float("nan"), "b": [np.inf, np.float64(2), np.int64(3)], "c": np.array([[np.nan, 1.0]]), "d": True}
    assert (
        json.dumps(jsonable(values), allow_nan=False)
        == '{"a": null, "b": [null, 2.0, 3], "c": [[null, 1.0]], "d": true}'
    )


KEYS = {"command", "version", "file", "n", "n_read", "columns", "seed", "files", "warnings"}


def test_keys_stay(iris, capsys):
    cluster, _ = answer(capsys, "cluster", "iris.csv")
    assert set(cluster) == KEYS | {"partition", "test", "not_tested", "selection"}
    assert set(cluster["partition"]) == {
        "k", "labels", "sizes", "within", "between", "total", "share", "within_per_cluster", "bound", "tightness",
        "algorithm", "n_init", "n_iter", "converged", "breaks", "metric", "standardized", "rows", "names",
    }  # fmt: skip
    assert set(cluster["test"]) >= {"statistic", "pvalue", "method", "null_hypothesis", "contrasts", "notes"}
    few, _ = answer(capsys, "cluster", "iris.csv", "--rows", "1:9")
    assert few["test"] is None
    assert few["not_tested"].startswith("Not tested: the table must have at least 20 rows")
    test, _ = answer(capsys, "test", "iris.csv", "--group", "species", "--resamples", "9")
    assert set(test) == KEYS | {"group", "strata", "paired", "whole_plots", "pairs", "test"}
    assert test["test"]["standardized"] is False


def test_notes_of_results_are_in_the_answer(iris, capsys):
    """Groups that a clustering found: the text warns of them, and a program that reads JSON has to know it, too."""
    X = iris.drop(columns="species")
    found = X.assign(cluster=[f"c{j}" for j in es.energy_cluster(X, 3, rng=0).labels])
    found.to_csv("found.csv", index=False)
    few = ["found.csv", "--resamples", "19"]
    responses = " + ".join(X.columns)
    for words, key in ((["test", "--group", "cluster"], "test"), (["disco", f"{responses} ~ cluster"], "model")):
        body = answer(capsys, *words, *few)[0][key]
        assert len(body["notes"]) == 1
        assert body["notes"][0].startswith("The groups are a local optimum of")
        assert cli.main([*words, *few]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert " ".join(body["notes"][0].split()).split(": call cluster_test(")[0] in shown
        assert "use energystats cluster" in shown
        assert "cluster_test(" not in shown
    known = ["iris.csv", "--resamples", "19"]
    assert answer(capsys, "test", "--group", "species", *known)[0]["test"]["notes"] == []
    words = ["disco", "sepal_width ~ species * petal_width", *known]
    assert answer(capsys, *words, "--decomposition", "marginal")[0]["model"]["notes"] == []
    (note,) = answer(capsys, *words)[0]["model"]["notes"]
    assert "; --decomposition marginal adjusts for it." in note
    assert note.startswith("Not adjusted for later terms")
    assert cli.main(words) == 0
    assert "--decomposition marginal adjusts for it" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_standardization_and_the_three_indices_are_in_the_answer(iris, capsys):
    for words in (["cluster"], ["test", "--group", "species"], ["disco", "sepal_width + sepal_length ~ species"]):
        found, _ = answer(capsys, *words, "iris.csv", "--standardize", "--n-resamples", "19")
        body = found[{"cluster": "partition", "test": "test", "disco": "model"}[words[0]]]
        assert body["standardized"] is True
        if words[0] == "cluster":
            assert set(found["test"]["indices"]) == {"log_likelihood_ratio", "E", "distance"}
            assert found["test"]["indices"]["E"] == pytest.approx(found["test"]["statistic"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "."], ".: is a folder, not a file."),
        (["cluster", "book.xlsx"], "book.xlsx: is a workbook or an archive; save the table as CSV."),
        (["cluster", "zeros.csv"], "zeros.csv: is not text; CSV or Parquet is needed."),
        (["cluster", "iris.csv", "--encoding", "klingon"], "--encoding must be an encoding that Python knows, got"),
        (["cluster", "iris.csv", "--encoding", "ascii", "--sep", "ab"], "--sep must be one character, or tab, space"),
        (["cluster", "iris.csv", "--decimal", ","], "--decimal and --sep must differ, got ',' for both."),
        (["cluster", "iris.csv", "--decimal", "x"], "--decimal must be a point or a comma, got 'x'."),
        (["cluster", "iris.csv", "--comment", "//"], "--comment must be one character, got '//'."),
        (["cluster", "iris.csv", "--where", "species"], "--where must be COLUMN=VALUE, or with != < <= > >=, got"),
        (["cluster", "iris.csv", "--where", "specie=setosa"], "no column 'specie'. Did you mean 'species'?"),
        (["cluster", "iris.csv", "--where", "species<setosa"], "column 'species' holds text, which = and != compare."),
        (["cluster", "iris.csv", "--where", "sepal_width=wide"], "'sepal_width' holds numbers, and 'wide' is none."),
        (["cluster", "iris.csv", "--where", "species=setossa"], "meets it. Did you mean 'setosa'?"),
        (["cluster", "iris.csv", "--rows", "0:3"], "--rows must lie in 1:150, the first before the last, got '0:3'."),
        (["cluster", "iris.csv", "--rows", "5:2"], "the first before the last, got '5:2'."),
        (["cluster", "iris.csv", "--rows", "1-9"], "--rows must be numbers and ranges such as 1:100,205,300:, got"),
        (["cluster", "iris.csv", "--drop", "width"], "no column 'width'."),
        (["cluster", "iris.csv", "--id", "plant"], "no column 'plant'."),
        (["cluster", "iris.csv", "--id", "sepal_width", "--columns", "sepal_width"], "not name the column of --id"),
        (["cluster", "iris.csv", "--missing", "omit"], "--missing must be one of raise, drop; got 'omit'."),
        (["cluster", "iris.csv", "--select", "elbow"], "--select must be one of gap, eigengap, significance; got"),
        (["cluster", "iris.csv", "--report", "out.pdf"], "the name of a report must end in .html or .htm."),
        (["cluster", "iris.csv", "--metric", "precomputed"], "iris.csv: the matrix must be square, got 151 lines"),
        (["cluster", "inf.csv"], "inf.csv: row 2 (line 3), column 'a': inf is not a finite number"),
        (["cluster", "gap.csv"], "1 of 3 rows has missing values (b 1), the first in row 2 (line 3), column 'b'"),
        (["cluster", "short.csv"], "short.csv: line 3 has 1 cell, where 2 are expected; a separator too many or too"),
        (["cluster", "long.csv"], "long.csv: line 3 has 3 cells, where 2 are expected;"),
        (["cluster", "comma.csv"], "row 201 (line 202), column 'a': '1,5' is not a number; --decimal , reads"),
        (["cluster", "cut.csv.gz"], "cut.csv.gz: cannot be read:"),
        (["cluster", "more.csv.gz"], "more.csv.gz: the gzip is damaged, or other bytes follow it"),
        (["test", "groups.csv", "--group", "g"], "1 of 3 rows has no group, the first is row 2 (line 3); fill 'g'"),
        (["test", "iris.csv", "--group", "species", "--columns", "species"], "must not name the column of the groups"),
        (["disco", "sepal_width ~ species", "iris.csv", "--where", "species=x"], "no row of iris.csv meets it."),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(iris, tmp_path, capsys, words, message):
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04rest")
    (tmp_path / "zeros.csv").write_bytes(b"a,b\n\0\0,1\n")
    (tmp_path / "inf.csv").write_text("a,b\n1,2\ninf,3\n4,5\n")
    (tmp_path / "gap.csv").write_text("a,b\n1,2\n3,\n4,5\n")
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3\n4,5\n")
    (tmp_path / "long.csv").write_text("a,b\n1,2\n3,4,5\n4,5\n")
    (tmp_path / "comma.csv").write_text("a;b\n" + "1;2\n" * 200 + "1,5;7\n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 99)[:-9])
    (tmp_path / "more.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 99) + b"rest")
    (tmp_path / "groups.csv").write_text("g,v\na,1\n,2\nb,3\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    for more in ([], ["--json"]):
        assert cli.main([*words, *more]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = [text for text in captured.err.splitlines() if not text.startswith("note:")]
        assert line.startswith("energystats: ")
        assert message in line
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def run(*words, cwd, **how):
    command = [sys.executable, "-m", "energystats", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False, **how)


def test_as_a_program(iris, tmp_path):
    text = iris.to_csv(index=False).encode()
    done = run("cluster", "-", "--json", "-k", "1", "--drop", "species", cwd=tmp_path, input=text)
    assert done.returncode == 0
    assert json.loads(done.stdout)["n"] == 150
    assert done.stderr.decode() in ("", "Compiling the numerical loops; only the first run has to.\n")


@pytest.mark.slow  # the message of a program is that of `cli.main`, tested above
def test_bad_input_as_a_program(tmp_path):
    bad = run("cluster", "-", cwd=tmp_path, input=b"a,b\n1,x\n2,3\n4,5\n")
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr == (
        b"energystats: standard input: row 1 (line 2), column 'b': 'x' is not a number; mend it, choose "
        b"--columns, or name the column in --category if its cells are codes.\n"
    )


@pytest.mark.slow
def test_a_reader_who_leaves_gets_no_error_and_files_are_written(iris, tmp_path):
    """As `energystats ... | head -1` does, with standard output closed before anything is said."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "energystats", "cluster", "iris.csv", "-k", "1", "--labels", "out.csv"]
    done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == 0
    assert b"Error" not in done.stderr
    assert len(pd.read_csv(tmp_path / "out.csv")) == 150


@pytest.mark.slow
def test_interrupted(tmp_path, rng):
    """One line, status 130, and no output half-written."""
    frame = pd.DataFrame(rng.standard_normal((3000, 4)), columns=list("abcd")).assign(g=np.arange(3000) % 2)
    frame.to_csv(tmp_path / "big.csv", index=False)
    words = ["test", "big.csv", "--group", "g", "--resamples", "1000000"]
    before = sorted(p.name for p in tmp_path.iterdir())
    command = [sys.executable, "-m", "energystats", *words, "--plot", "out.png"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it has read the file
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    try:
        _, error = process.communicate(timeout=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 130, error
    assert error.decode().splitlines()[-1] == "energystats: interrupted."
    assert b"Traceback" not in error
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_interrupted_while_writing(iris, tmp_path, monkeypatch, capsys):
    """The file that was begun is taken away, and one that was there before stays."""
    (tmp_path / "out.png").write_bytes(b"older")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("energystats.cli.files._draw", interrupt)
    assert cli.main(["cluster", "iris.csv", "--plot", "out.png", "--quiet"]) == 130
    assert capsys.readouterr().err == "energystats: interrupted.\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["iris.csv", "out.png"]
    assert (tmp_path / "out.png").read_bytes() == b"older"


def test_every_key_is_in_the_documentation():

    from energystats.cli.payloads import CONTRAST, FIELDS, INDICES, TERM

    page = (Path(__file__).parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8")
    for key in {
        *KEYS,
        *CONTRAST,
        *INDICES,
        *TERM,
        *(name for names in FIELDS.values() for name in names),
        "rows",
        "share",
        "standardized",
        "indices",
    }:
        assert f"`{key}`" in page, key


def test_help_has_examples_that_parse(capsys):
    """Every example of every `--help` is a line that the parser takes."""
    import shlex

    from energystats.cli.program import make_parser

    for command in ("cluster", "test", "disco", "euclidize"):
        with pytest.raises(SystemExit, match="0"):
            cli.main([command, "--help"])
        lines = capsys.readouterr().out.split("examples:\n")[1].splitlines()
        assert len(lines) >= 3
        for line in lines:
            words = shlex.split(line.split("|")[-2] if "zcat" in line else line.split("|")[0], comments=True)
            words = shlex.split(line.split("|")[1], comments=True) if "zcat" in line else words
            assert words[0] == "energystats"
            options = make_parser().parse_args(words[1:])
            assert options.command == command
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    assert "130  interrupted" in capsys.readouterr().out


CELL = st.sampled_from(["1", "2.5", "-3", "x", "", "NA", "1,5", "inf", "1e400", '"', '"a"', "0x1", "1_0", "é", " "])
LINES = st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=8)
TABLES = st.builds(lambda lines, sep: "\n".join(sep.join(line) for line in lines), LINES, st.sampled_from(",;\t|"))


COMMANDS = [["cluster"], ["test", "--group", "x"], ["disco", "x ~ é"], ["euclidize"]]


@settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(content=TABLES.map(str.encode) | st.binary(max_size=60), command=st.sampled_from(COMMANDS), options=st.lists(
    st.sampled_from(["--no-header", "--standardize", "--missing=drop", "--metric=gower", "--comment=#", "--decimal=,",
                     "--sep=;", "--encoding=latin-1", "--metric=precomputed", "--where=x=1", "--rows=1:2"]),
    max_size=3, unique=True))  # fmt: skip
def test_no_input_breaks_the_program(tmp_path, content, command, options):
    """Whatever the bytes: an answer, or one line and status 2."""
    (tmp_path / "f.csv").write_bytes(content)
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        more = ["-o", str(tmp_path / "out.csv")] if command == ["euclidize"] else []
        status = cli.main([*command, str(tmp_path / "f.csv"), *more, "--json", *options])
    assert status in (0, 2)
    if status == 2:
        assert out.getvalue() == ""
        (line,) = [text for text in error.getvalue().split("\n")[:-1] if not text.startswith("note:")]
        assert line.startswith("energystats: ")
    else:
        json.loads(out.getvalue(), parse_constant=pytest.fail)


def test_whole_numbers_of_a_file_do_not_wrap_around_in_formulas(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pop = np.array([100_000, 250_000, 9_000_000, 3_000_000, 7_500_000, 400_000, 2_000_000, 5_500_000, 8_000_000])
    table = pd.DataFrame({"y": [3, 1, 4, 1, 5, 9, 2, 6, 5], "pop": pop, "gdp": pop[::-1] * 10**6})
    table.to_csv("whole.csv", index=False)
    for formula in ("y ~ I(pop**3)", "y ~ pop:gdp"):
        found = answer(capsys, "disco", formula, "whole.csv", "--resamples", "9")[0]["model"]
        expected = es.disco(formula, data=table.astype(float), n_resamples=9, rng=0)
        assert found["terms"][0]["f"] == expected.table["F"].iloc[0]


def test_truth_values_of_a_file_are_factors(iris, capsys):
    iris.assign(wide=np.where(iris["sepal_width"] > 3, "TRUE", "FALSE")).to_csv("truths.csv", index=False)
    found = answer(capsys, "disco", "sepal_length ~ wide/species", "truths.csv", "--alpha", "2")[0]["model"]["terms"]
    assert [term["df"] for term in found] == [1, 4]  # as R has
    assert [round(term["f"], 6) for term in found] == [13.265724, 70.33412]


def test_conditions_do_not_see_blanks_around_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"g": [*"abab"] * 6, "k": ["N", "N ", " N", "S", "S ", "N"] * 4, "v": np.arange(24.0) ** 2})
    table.to_csv("blanks.csv", index=False)
    for condition, n in (("k=N", 16), ("k!=N", 8), ("k=S", 8)):
        for words in (
            ["test", "blanks.csv", "--group", "g"],
            ["cluster", "blanks.csv"],
            ["disco", "v ~ g", "blanks.csv"],
        ):
            found, err = answer(capsys, *words, "--where", condition, "--resamples", "9")
            assert found["n"] == n
            assert err.count("blanks around the words of 'k' were taken away in 12 rows") == 1


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["test", "f.csv", "--group", "g"], "Did you mean ' g '"),
        (["disco", "weight ~ x", "f.csv"], "Columns: ' x ', ' y '"),
    ],
)
def test_names_of_columns_are_quoted(tmp_path, monkeypatch, capsys, words, near):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({" x ": [1, 2], " y ": [1, 3], " g ": ["a", "b"]}).to_csv("f.csv", index=False)
    assert cli.main(words) == 2
    assert near in capsys.readouterr().err


def test_truth_values_with_gaps_as_presences(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"g": [*"uv"] * 6, "a": ["TRUE", "TRUE", "FALSE", ""] * 3, "b": ["TRUE", "FALSE", "TRUE"] * 4})
    table.to_csv("t.csv", index=False)
    kept = table[table["a"] != ""]
    presences = (kept[["a", "b"]] == "TRUE").astype(int)
    expected = es.energy_test(presences, groups=kept["g"], metric="jaccard", n_resamples=9, rng=0)
    how = ["--metric", "jaccard", "--resamples", "9"]
    for words in (["test", "t.csv", "--group", "g", *how], ["cluster", "t.csv", *how]):
        assert cli.main(words) == 2
        assert "3 of 12 rows have missing values (a 3), the first in row 4 (line 5)" in capsys.readouterr().err
        assert answer(capsys, *words, "--missing", "drop")[0]["n"] == 9
        assert answer(capsys, *words, "--where", "a=1")[0]["n"] == 6
    found = answer(capsys, "test", "t.csv", "--group", "g", *how, "--missing", "drop")[0]["test"]
    assert (found["statistic"], found["pvalue"]) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "float32"])
def test_counts_of_rows_in_bytes_do_not_wrap_around(tmp_path, monkeypatch, capsys, dtype):
    monkeypatch.chdir(tmp_path)
    count = np.arange(-100, 100)  # 99 - (-100) is no byte
    frame = pd.DataFrame({"count": count.astype(dtype), "v": np.sqrt(count + 101.0), "g": [*"ab"] * 100})
    frame.to_parquet("t.parquet")
    found, err = answer(capsys, "test", "t.parquet", "--group", "g", "--resamples", "9")
    assert found["columns"] == ["v"]
    assert "not used, because it numbers the rows: count" in err


def test_a_file_is_parquet_by_its_last_suffix(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"length": np.sqrt(np.arange(12.0)), "g": [*"ab"] * 6})
    frame.to_csv("t.parquet.csv", index=False)
    frame.to_parquet("t.csv.parquet")
    words = ("--group", "g", "--resamples", "9")
    text, columns = (answer(capsys, "test", file, *words)[0]["test"] for file in ("t.parquet.csv", "t.csv.parquet"))
    assert text["statistic"] == columns["statistic"]


def test_numbers_as_text_are_told_to_be_stored_as_numbers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"length": ["1.5", "2"] * 6, "g": [*"ab"] * 6}).to_parquet("t.parquet")
    assert cli.main(["test", "t.parquet", "--group", "g", "--columns", "length"]) == 2
    assert (
        "column 'length' must hold numbers, and holds them as text; store them as numbers." in capsys.readouterr().err
    )


def test_alpha_says_what_a_matrix_holds(tmp_path, capsys, rng):
    X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    R = es.pairwise(X) ** 2
    pd.DataFrame(R).to_csv(tmp_path / "squares.csv", index=False, header=False)
    words = ["cluster", str(tmp_path / "squares.csv"), "--metric", "precomputed", "--alpha", "2", "--json"]
    capsys.readouterr()
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"]["pvalue"] == es.cluster_test(R, 2, metric="precomputed", alpha=2, rng=0).pvalue
    assert cli.main([*words, "--select", "gap", "--k-max", "3"]) == 0
    chosen = json.loads(capsys.readouterr().out)["selection"]
    assert set(chosen["choices"]) == {"gap", "eigengap"}
    assert chosen["k"] == es.select_k(R, 3, "gap", metric="precomputed", alpha=2, rng=0).k


def test_whole_numbers_beyond_doubles_beside_decimals_stay_exact(tmp_path, capsys):
    file = tmp_path / "ids.csv"
    file.write_text("id,g,h\n9007199254740992,a,1\n9007199254740993,b,2\n1.5,a,3\n1.5,b,4.5\n")
    run = ["test", str(file), "--group", "g", "--columns", "h", "--json"]
    assert cli.main([*run, "--where", "id!=9007199254740992"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 3
    assert cli.main([*run[:-2], "id"]) == 2
    assert "beyond 2**53, such as 900719925474099" in capsys.readouterr().err
    file.write_text("id,g\n9007199254740992,a\n4.5,b\n1.5,a\n2.5,b\n")  # exact as a double
    assert cli.main(["test", str(file), "--group", "g"]) == 0


def test_json_names_the_clusters_of_the_test(tmp_path, capsys):
    r = np.random.default_rng(0)
    X = np.c_[r.normal(0, 8, 200), 6 * np.repeat([0, 1], 100) + r.normal(size=200)]
    file = tmp_path / "bars.csv"
    pd.DataFrame(X @ [[1.0, 0.9], [0.0, 0.4]], columns=["x", "y"]).to_csv(file, index=False)
    assert cli.main(["cluster", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"]["space"] == "decorrelated"
    assert sorted(found["test"]["sizes"]) == [100, 100]
    assert len(found["test"]["labels"]) == 200
    assert found["test"]["labels"] != found["partition"]["labels"]


def test_a_comment_in_the_first_line_is_recognised(tmp_path, capsys):
    file = tmp_path / "comment.csv"
    file.write_text("# of 2026\nx,y,z\n1,2,0\n3,4,1\n5,7,1\n")
    assert cli.main(["cluster", str(file)]) == 2
    assert "--comment '#' leaves it out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--strata", "field", "--strata", "year"], "--strata must be given once (see"),
        (["--columns", "x", "--columns", "y"], "--columns must be given once, with commas between names (see"),
        (["--drop", "x", "--drop", "y"], "--drop must be given once, with commas between names"),
        (["--rows", "1:4", "--rows", "5:8"], "--rows must be given once, with commas between rows"),
        (["--metric", "gower", "--category", "x", "--category", "y"], "--category must be given once, with commas"),
        (["--seed", "1", "--seed", "2"], "--seed must be given once"),
    ],
)
def test_a_second_option_replaces_no_first_one(tmp_path, capsys, options, said):
    """The last one won, without a word, although several conditions of --where add up."""
    frame = pd.DataFrame({"x": np.arange(8) % 5, "y": np.arange(8) % 3, "field": [1, 2] * 4, "year": [1, 1, 2, 2] * 2})
    frame.assign(g=list("abbaabab")).to_csv(tmp_path / "d.csv", index=False)
    words = ["test", str(tmp_path / "d.csv"), "--group", "g", "--resamples", "9"]
    assert cli.main([*words, *options]) == 2
    assert said in capsys.readouterr().err
    assert cli.main([*words, "--resamples", "9", "--where", "x>0", "--where", "y<2", "--strata", "year"]) == 0


def test_no_decimal_commas_are_proposed_beside_decimal_points(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("x;y\n1.5;1,000\n2;2,000\n3;2,000\n", encoding="utf-8")
    assert cli.main(["cluster", str(tmp_path / "d.csv")]) == 2
    said = capsys.readouterr().err
    assert "--thousands , reads it so; if it is 1.000, write it with a point, as other columns have" in said
    assert "--decimal ," not in said


def test_text_that_looks_like_a_number_decides_no_decimal_sign(tmp_path, capsys):
    for text, sign in (("1,5", ","), ("1.5", ".")):
        rows = [f'"{text}";8{sign}916', f"a;8{sign}869", f"a;19{sign}515", f"b;26{sign}784", f"b;4{sign}254"]
        (tmp_path / "d.csv").write_text("\n".join(["g;x", *rows, ""]), encoding="utf-8")
        assert cli.main(["test", str(tmp_path / "d.csv"), "--group", "g"]) == 2
        assert f"--thousands {sign} takes the first reading" in capsys.readouterr().err
        rows[1] = f"a;8{sign}5"  # a number of the same column does
        (tmp_path / "d.csv").write_text("\n".join(["g;x", *rows, ""]), encoding="utf-8")
        assert cli.main(["test", str(tmp_path / "d.csv"), "--group", "g"]) == 0


def test_names_that_have_two_readings_are_refused(tmp_path, capsys):
    (tmp_path / "d.csv").write_text('a,b,"a,b",w,w!,g\n1,2,3,1,2,x\n2,2,4,2,2,y\n3,1,3,3,3,x\n5,1,4,1,2,y\n')
    words = ["test", str(tmp_path / "d.csv"), "--group", "g"]
    for options, said in (
        (["--columns", "a,b"], "'a,b' is the name of one column, and its parts are those of others"),
        (["--where", "w!=2"], "may be about column 'w' or 'w!'"),
    ):
        assert cli.main([*words, *options]) == 2
        assert said in capsys.readouterr().err
    assert answer(capsys, *words, "--columns", '"a,b"')[0]["columns"] == ["a,b"]
    assert answer(capsys, *words, "--columns", "b,a")[0]["columns"] == ["b", "a"]


def test_decimals_that_are_whole_and_too_long_are_refused(tmp_path, capsys):
    (tmp_path / "d.csv").write_text("x,g\n9007199254740993.0,a\n9007199254740995.0,b\n1.5,a\n2.5,b\n")
    assert cli.main(["test", str(tmp_path / "d.csv"), "--group", "g"]) == 2
    assert "beyond 2**53, such as 900719925474099" in capsys.readouterr().err


@pytest.mark.parametrize(("missing", "option"), [("NA", []), ("", []), ("-", ["--na", "-"])])
def test_a_column_of_decimal_commas_may_be_mostly_missing(tmp_path, capsys, missing, option):
    rows = [f"a;{missing};1", f"b;{missing};2", f"a;{missing};3", "a;1,5;1", "b;2,75;2", f"b;{missing};4", "a;3,5;5"]
    (tmp_path / "d.csv").write_text("\n".join(["g;x;y", *rows, ""]), encoding="utf-8")
    words = ["test", str(tmp_path / "d.csv"), "--group", "g", "--missing", "drop", *option]
    found, error = answer(capsys, *words)
    assert found["n"] == 3
    assert "decimals have a comma" in error


@pytest.mark.parametrize("name", ["ACID", "LIPID", "FLUID", "COVID", "GRID", "acid"])
def test_words_in_capitals_that_end_in_id_are_measurements(name):
    assert SUBJECT_NAME.fullmatch(name) is None


def test_bytes_in_no_encoding_are_left_out(tmp_path, capsys, rng):
    """A column of shapes, as GeoParquet has, ended in a traceback."""
    frame = pd.DataFrame({"a": rng.normal(size=20), "g": ["u", "v"] * 10, "shape": [b"\x01\x00\xff\xf0"] * 20})
    frame.to_parquet(path := tmp_path / "geo.parquet")
    assert cli.main(["test", str(path), "--group", "g", "--resamples", "9"]) == 0
    assert "not used, because not numeric: shape" in capsys.readouterr().err


def test_rows_that_gower_cannot_compare_are_those_of_the_file(tmp_path, monkeypatch, capsys):
    """They were numbered among the rows that are left: what was told to be dropped changed nothing."""
    monkeypatch.chdir(tmp_path)
    r, n = np.random.default_rng(0), 30
    table = pd.DataFrame(
        {"w": r.normal(size=n), "c": r.choice([*"uv"], n), "g": r.choice([*"ab"], n), "x": r.normal(size=n)}
    )
    table.loc[1, "g"] = table.loc[20, "c"] = None
    table.loc[2, "x"] = table.loc[10, "w"] = np.nan
    table.to_csv("t.csv", index=False)
    gower = ["--metric", "gower", "--columns", "w,c"]
    commands = [
        ["test", "t.csv", "--group", "g", *gower, "--missing", "drop"],
        ["cluster", "t.csv", *gower, "--rows", "5:30"],
        ["segment", "t.csv", "--order", "x", *gower, "--missing", "drop"],
    ]
    places = {"row 11 (line 12)", "row 21 (line 22)"}
    for words in commands:
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        first, second = re.search(r"but (row .*?) has none in common with (row .*?); drop one of them", said).groups()
        assert {first, second} == places
    table.loc[12, ["w", "c"]] = None
    table.to_csv("t.csv", index=False)
    assert cli.main(commands[1]) == 2
    assert "needs a value in every row, but row 13 (line 14) has none; drop it." in capsys.readouterr().err
    table["w"] = np.abs(table["w"])
    table.loc[17, "w"] = 0.0
    table.to_csv("t.csv", index=False)
    assert cli.main(["disco", "log(w) ~ x", "t.csv", "--missing", "drop", "--rows", "12:30"]) == 2
    assert "but row 18 (line 19) has -inf in log(w); transform otherwise." in capsys.readouterr().err


def test_rows_that_gower_cannot_compare_are_those_of_the_table():
    table = pd.DataFrame(
        {"w": np.arange(30.0), "c": [*"uv"] * 15, "x": np.arange(30.0)}, index=[f"s{i}" for i in range(30)]
    )
    table.iloc[10, 0] = np.nan
    table.iloc[20, 1] = None
    table.iloc[1, 2] = np.nan
    one = r"row 's10' \(number 10\) of `data` has none in common with row 's20' \(number 20\) of `data`; drop one"
    with pytest.raises(ValueError, match=one), pytest.warns(es.MissingValuesWarning):
        es.disco("w + c ~ x", data=table, metric="gower", missing="drop", n_resamples=9)
    with pytest.raises(ValueError, match=r"row 's10' \(number 10\) of `X` has none in common with row 's20'"):
        es.pairwise(table[["w", "c"]], metric="gower")
    with pytest.raises(ValueError, match="rows 0 and 0 have none in common"):  # of two tables, by their numbers
        es.pairwise(table[["w", "c"]].iloc[[10]], table[["w", "c"]].iloc[[20]], metric="gower")
    fitted = es.EnergyClustering(2, metric="gower", random_state=0).fit(table[["w", "c"]].drop(index=["s10", "s20"]))
    assert fitted.predict(table.loc[["s10", "s20"], ["w", "c"]]).shape == (2,)  # not compared with each other


@pytest.mark.parametrize("name", ["s1", "s2"])
def test_a_column_of_the_matrix_names_no_rows(tmp_path, monkeypatch, capsys, name):
    """It was kept as data, or moved to the front."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("s1,s2,s3\n0,1,2\n1,0,3\n2,3,0\n")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--id", name]) == 2
    assert f"d.csv: --id must name a column beside the matrix, not one of it, '{name}'." in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
    (tmp_path / "d.csv").write_text("s1,n,s2,s3\n0,s1,1,2\n1,s2,0,3\n2,s3,3,0\n")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--id", "n"]) == 0


def test_one_row_has_no_distances_to_be_0(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": [1.0, 2, 2, 2], "y": [3.0, 5, 5, 5]}).to_csv("t.csv", index=False)
    for condition, noted in (("x=1", False), ("x=2", True)):
        assert cli.main(["cluster", "t.csv", "--where", condition, "-k", "1"]) == 0
        assert ("it sees no difference between any two rows" in capsys.readouterr().err) == noted


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean"])
def test_z_scores_have_no_use_where_the_metric_divides_by_the_spread(iris, capsys, metric):
    words = ["test", "iris.csv", "--group", "species", "--metric", metric, "--resamples", "9"]
    assert cli.main([*words, "--standardize"]) == 2
    said = "--standardize has no use with this --metric, which divides differences by the spread of the columns itself."
    assert said in capsys.readouterr().err
    assert cli.main(words) == 0


def keys_within(value):
    """All keys of an object of JSON, and of the objects in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_within(inner)
    elif isinstance(value, list):
        for each in value:
            yield from keys_within(each)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["cluster", "f.csv", "-k", "3", "--columns", "x,y"], "partition"),
        (["cluster", "f.csv", "-k", "3", "--columns", "x,y"], "test"),
        (["test", "f.csv", "--group", "g", "--columns", "x,y"], "test"),
        (["disco", "x ~ g + y", "f.csv"], "model"),
        (["segment", "f.csv", "--order", "t", "--columns", "x,y"], "segments"),
        (["segment", "f.csv", "--order", "t", "--columns", "x,y", "-k", "2"], "segments"),
    ],
)
def test_the_page_lists_every_key_of_json(words, name, tmp_path, monkeypatch, capsys):
    """`between` of a break and the numbers of strata and plots of a test were missing."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["x", "y"]).assign(
        g=[*"ab"] * 20, t=range(40)
    )
    frame.iloc[20:, :2] += 4
    frame.to_csv("f.csv", index=False)
    how = [] if "-k" in words and words[0] == "segment" else ["--resamples", "19"]
    written = answer(capsys, *words, *how)[0][name]
    page = (Path(__file__).parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in page if f"`{name}` | `{words[0]}` |" in line)
    missing = {key for key in keys_within(written) if f"`{key}`" not in row} - {"notes"}
    assert not missing
