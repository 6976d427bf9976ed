"""The command line: what it prints, what it writes, and that bad input is one line and leaves nothing behind."""

import dataclasses
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import energystats as es
from energystats import cli, datasets
from energystats.cli.cluster import CLUSTER
from energystats.cli.demo import DEMO, draw_slide
from energystats.cli.disco import DISCO
from energystats.cli.euclidize import EUCLIDIZE
from energystats.cli.options import USELESS
from energystats.cli.program import make_parser
from energystats.cli.segment import SEGMENT
from energystats.cli.test import TEST
from energystats.display.numbers import p_text
from tests.conftest import sweep


@pytest.fixture
def iris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = datasets.load("iris")
    frame.to_csv("iris.csv", index=False)
    frame.to_parquet("iris.parquet")
    return frame


def files(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir())


def test_a_row_that_is_called_a_total_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"a": [1.0, 2, 3, 5, 11], "b": [2.0, 3, 1, 5, 11]}, index=[*"xyzw", "Total"])
    table.to_csv("arrests.csv")
    assert cli.main(["cluster", "arrests.csv", "-k", "2"]) == 0
    assert "a row is called 'Total'; if it is a sum of other rows, leave it out." in capsys.readouterr().err


@pytest.mark.slow  # the README's first command
def test_demo_does_the_main_job(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    out = capsys.readouterr().out
    for piece in (
        "k = 3, because three species were measured; k was not chosen from the data.",
        "Energy clustering into 3 clusters",
        "W, within",
        "S/bound",
        "Null hypothesis: every linear projection of the population is unimodal.",
        "cluster 2 vs rest",
        "accuracy 0.893, adjusted Rand index 0.730",
        "versicolor",
        "Wrote energystats-demo.png.",
        "Wrote energystats-demo-labels.csv.",
    ):
        assert piece in out
    assert files(tmp_path) == ["energystats-demo-labels.csv", "energystats-demo.png"]
    table = pd.read_csv("energystats-demo-labels.csv")
    assert list(table.columns) == ["row", "cluster", "species"]
    assert table["cluster"].value_counts().tolist() == [62, 50, 38]
    assert (tmp_path / "energystats-demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_demo_prints_the_notes_that_it_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo"]) == 0
    number = re.search(r"(\d+) notes: --notes prints them\.", capsys.readouterr().out)[1]
    assert cli.main(["demo", "--notes"]) == 0
    shown = capsys.readouterr().out
    assert f"{number} notes: below." in shown
    notes = shown.split("\nNotes:\n")[1].split("\n\n")[0]
    assert len(re.findall(r"^\S", notes, re.MULTILINE)) >= int(number)


@pytest.mark.parametrize("command", [DEMO, CLUSTER, TEST, DISCO, SEGMENT, EUCLIDIZE], ids=lambda command: command.name)
def test_rules_on_useless_options_can_be_asked_of_every_command(command):
    """A rule of an option reads other options, which a command need not have."""
    words = {"disco": ["y ~ g", "t.csv"], "demo": [], "test": ["t.csv", "--group", "g"], "segment": ["t.csv"]}
    needed = {"segment": ["--order", "t"], "euclidize": ["-o", "out.csv"]}.get(command.name, [])
    options = make_parser().parse_args([command.name, *words.get(command.name, ["t.csv"]), *needed])
    names = vars(options)
    rules = [rule for rule in (*USELESS, *command.useless) if rule[0].lstrip("-").replace("-", "_") in names]
    met = [option for option, meets, _ in rules if meets(options)]
    assert not {option for option, *_ in USELESS} & set(met)  # by options that nobody gave


def test_the_picture_of_the_demo_is_in_words_with_its_legends_outside_the_points(tmp_path, monkeypatch):
    iris = es.datasets.load("iris")
    X = iris.drop(columns="species")
    found, test = es.energy_cluster(X, 3, rng=0), es.cluster_test(X, 3, n_resamples=99, rng=0)
    seen = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *args, **kwargs: seen.append(figure))
    draw_slide(tmp_path / "slide.png", found, test, iris["species"])
    title, below = (text.get_text() for text in seen[0].texts)
    assert title == "Irises form more than one cluster"
    assert below == f"{p_text(test.pvalue)}. Null hypothesis: {test.null_hypothesis}."
    seen[0].draw_without_rendering()
    for ax in seen[0].axes:
        legend, frame = ax.get_legend().get_window_extent(), ax.get_tightbbox(for_layout_only=False)
        assert legend.y1 <= ax.xaxis.label.get_window_extent().y0
        assert legend.y0 >= 0
        assert 0 <= frame.x0 < frame.x1 <= seen[0].bbox.width
    draw_slide(tmp_path / "slide.png", found, dataclasses.replace(test, pvalue=0.4), iris["species"])
    assert seen[1].texts[0].get_text() == "No evidence of more than one cluster of irises"


@pytest.mark.parametrize("file", sweep(["iris.csv", "iris.parquet"], ["iris.csv"]))
def test_cluster(iris, tmp_path, capsys, file):
    assert (
        cli.main(["cluster", file, "--labels", "out.csv", "--plot", "out.png", "--seed", "3", "--resamples", "39"]) == 0
    )
    captured = capsys.readouterr()
    assert "k = 2 is the default; it was not chosen from the data." in captured.out
    assert "sepal_length, sepal_width, petal_length, petal_width" in captured.out
    assert "note: not used, because not numeric: species." in captured.err
    assert "Test of unimodality along linear projections" in captured.out
    assert "At level 0.05: evidence of a projection with two modes (p = " in captured.out
    table = pd.read_csv("out.csv")
    assert table["row"].tolist() == list(range(1, 151))
    assert set(table["cluster"]) == {0, 1}
    assert {"out.csv", "out.png"} <= set(files(tmp_path))


@pytest.mark.slow
def test_cluster_options(iris, capsys):
    words = ["cluster", "iris.csv", "-k", "3", "--columns", "petal_length, petal_width", "--standardize"]
    assert cli.main([*words, "--resamples", "19"]) == 0
    captured = capsys.readouterr()
    assert "k = 3, as given." in captured.out
    assert "columns petal_length, petal_width." in captured.out
    assert "columns standardized" in captured.out
    assert "not used" not in captured.err


def test_a_long_title_stands_above_a_legend_and_keeps_its_lines(tmp_path, monkeypatch, rng):
    """It was wrapped beside the legend, five short lines, two of which were one sentence run into the next."""
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(rng.normal(size=(40, 12)), columns=[f"Oenocarpus mapora {j}" for j in range(12)])
    table.iloc[20:] += 3
    table.assign(depth=range(40)).to_csv("core.csv", index=False)
    seen = []

    def look(figure, *_, **__):
        figure.draw_without_rendering()
        ax = figure.axes[0]
        text = ax.get_title(loc="left")
        title = next(child for child in ax.get_children() if getattr(child, "get_text", str)() == text)
        assert not title.get_window_extent().overlaps(ax.get_legend().get_window_extent())
        seen.append(text)

    monkeypatch.setattr(Figure, "savefig", look)
    assert cli.main(["segment", "core.csv", "--order", "depth", "--plot", "out.png", "--seed", "0"]) == 0
    assert "8 of 12 columns, those that change most" in seen[0].splitlines()
    assert len(seen[0].splitlines()) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 12])
def test_titles_of_pictures_stay_inside(iris, monkeypatch, k):
    """Each within its own panel."""
    seen = []

    def look(figure, *_, **__):
        figure.draw_without_rendering()
        for j, ax in enumerate(figure.axes[:2]):
            box = ax.set_title(ax.get_title(loc="left"), loc="left").get_window_extent()
            seen.append((ax.get_title(loc="left"), box.x0 >= figure.bbox.width * j / 2, box.x1, box.y1, figure.bbox))

    monkeypatch.setattr(Figure, "savefig", look)
    assert (
        cli.main(["cluster", "iris.csv", "--rows", "26:105", "-k", str(k), "--plot", "out.png", "--resamples", "9"])
        == 0
    )
    assert len(seen) == 2
    for j, (_, left, x1, y1, box) in enumerate(seen, 1):
        assert left
        assert x1 <= box.width * j / 2
        assert y1 <= box.height
    assert seen[1][0].split()[-2:] == ["all", "splits"]


def test_cluster_says_when_it_cannot_test(iris, tmp_path, capsys):
    iris.iloc[:9, :4].to_csv("few.csv", index=False)
    assert cli.main(["cluster", "few.csv"]) == 0
    assert "Not tested: the table must have at least 20 rows for the split test, got 9." in capsys.readouterr().out
    assert cli.main(["cluster", "few.csv", "-k", "1"]) == 0
    assert "Not tested: one cluster makes no contrast." in capsys.readouterr().out


def test_a_column_that_numbers_the_rows_is_left_out(iris, capsys):
    iris.to_csv("saved.csv", index_label="plant")
    assert cli.main(["cluster", "saved.csv", "--resamples", "9"]) == 0
    captured = capsys.readouterr()
    assert "note: not used, because it numbers the rows: plant; name it in --columns" in captured.err
    assert "columns sepal_length, sepal_width" in captured.out
    assert cli.main(["cluster", "saved.csv", "--columns", "plant,sepal_width", "--resamples", "9"]) == 0


def test_groups_are_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"g": ["01", "1", "2", "02"] * 5, "v": np.arange(20.0) ** 2}).to_csv("g.csv", index=False)
    assert cli.main(["test", "g.csv", "--group", "g", "--resamples", "9"]) == 0
    assert "Groups of g: 01, 1, 02, 2." in capsys.readouterr().out


def test_groups_of_numbers_have_the_order_of_numbers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"g": [1, 10, 2] * 6, "v": np.arange(18.0) ** 2})
    frame.to_csv("g.csv", index=False)
    assert cli.main(["test", "g.csv", "--group", "g", "--json", "--seed", "2"]) == 0
    found = json.loads(capsys.readouterr().out)["test"]
    expected = es.energy_test(frame[["v"]], groups=frame["g"], rng=2)
    assert found["labels"] == ["1", "2", "10"] == list(map(str, expected.labels))
    assert found["pvalue"] == expected.pvalue


def test_blanks_make_no_groups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"g": ["A", "B", "B ", " A"] * 5, "v": np.arange(20.0) ** 2}).to_csv("g.csv", index=False)
    for words in (["test", "g.csv", "--group", "g", "--where", "v>=0"], ["disco", "v ~ g", "g.csv"]):
        assert cli.main([*words, "--resamples", "9"]) == 0
        captured = capsys.readouterr()
        assert "note: blanks around the words of 'g' were taken away in 10 rows." in captured.err
    assert "B " not in captured.out.split("\n")[0]
    assert cli.main(["test", "g.csv", "--group", "g", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"]["labels"] == ["A", "B"]


def test_a_metric_that_sees_nothing_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    v = np.arange(1.0, 25) ** 2
    pd.DataFrame({"g": ["A", "B"] * 12, "v": v, "w": v[::-1] + 0.5}).to_csv("g.csv", index=False)
    pd.DataFrame({"g": ["A", "B"] * 12, "v": 1, "w": 0}).to_csv("equal.csv", index=False)
    few = ["--resamples", "9"]
    for words in (["test", "g.csv", "--group", "g", *few], ["disco", "v + w ~ g", "g.csv", *few],
                  ["cluster", "g.csv", "-k", "1"]):  # fmt: skip
        equal = ["equal.csv" if word == "g.csv" else word for word in words]
        assert cli.main([*equal, "--metric", "jaccard"]) == 0
        assert "note: all distances under jaccard are 0: it sees" in capsys.readouterr().err
        assert cli.main([*words, "--metric", "jaccard"]) == 2
        assert "needs columns of 0 and 1 or of truth values, such as X > 0" in capsys.readouterr().err
        assert cli.main(words) == 0
        assert "are 0" not in capsys.readouterr().err


def test_test(iris, tmp_path, capsys):
    assert cli.main(["test", "iris.csv", "--group", "species", "--resamples", "199", "--plot", "null.png"]) == 0
    out = capsys.readouterr().out
    assert "Groups of species: setosa, versicolor, virginica." in out
    assert "0.005" in out
    assert "Null hypothesis: the 3 samples come from one distribution." in out
    assert "null.png" in files(tmp_path)
    assert cli.main(["test", "iris.csv", "--group", "species", "--alpha", "2", "--columns", "sepal_width"]) == 0
    assert "squared distances compare means alone" in " ".join(capsys.readouterr().out.split())


def test_disco(iris, tmp_path, capsys):
    words = ["disco", "sepal_length + sepal_width ~ species * petal_width", "iris.csv", "--resamples", "99"]
    assert cli.main([*words, "--decomposition", "marginal", "--standardize", "--plot", "parts.png"]) == 0
    out = capsys.readouterr().out
    assert "150 of 150 rows of iris.csv, sepal_length + sepal_width ~ species * petal_width." in out
    for piece in ("species:petal_width", "Overlap", "Residual", "random permutations", "columns standardized"):
        assert piece in out
    assert (tmp_path / "parts.png").read_bytes().startswith(b"\x89PNG")
    outputs = []
    for seed in ("1", "1"):
        assert cli.main([*words, "--seed", seed, "--alpha", "1.5"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    iris.assign(field=iris.index % 5, sepal_width=iris["sepal_width"].where(iris.index > 1)).to_csv(
        "gaps.csv", index=False
    )
    words = ["disco", "sepal_width ~ species", "gaps.csv", "--strata", "field", "--missing", "drop"]
    assert cli.main([*words, "--metric", "cityblock", "--resamples", "9"]) == 0
    captured = capsys.readouterr()
    assert "148 of 150 rows of gaps.csv" in captured.out
    assert "within 5 strata" in captured.out
    assert "cityblock" in captured.out
    assert "note: 2 of 150 rows were left out for missing values (sepal_width 2)." in captured.err


def test_help_and_documentation_say_that_formulas_are_code(tmp_path, capsys):
    from pathlib import Path

    with pytest.raises(SystemExit, match="0"):
        cli.main(["disco", "--help"])
    text = capsys.readouterr().out
    assert "run as Python code" in text
    assert "backticks" in text
    docs = Path(__file__).parent.parent / "docs"
    assert "strangers" in es.disco.__doc__
    for page in ("command-line.md", "caveats.md"):
        assert "Never take formulas from strangers" in " ".join(
            (docs / page).read_text(encoding="utf-8").split()
        ).replace("take a formula from", "take formulas from")
    pd.DataFrame({"body height": [1.0, 2, 4, 3], "g": ["a", "b"] * 2}).to_csv(tmp_path / "d.csv", index=False)
    assert cli.main(["disco", "`body height` ~ g", str(tmp_path / "d.csv")]) == 0


def test_disco_asks_for_the_separator(iris, capsys):
    assert cli.main(["disco", "sepal_width ~ species", "iris.csv", "--sep", "tab"]) == 2
    assert "note: With --sep '\\t' there is one column only; are they separated by commas?" in capsys.readouterr().err


@pytest.mark.slow
def test_same_seed_same_output(iris, capsys):
    outputs = []
    for seed in ("1", "1", "2"):
        cli.main(
            ["test", "iris.csv", "--group", "species", "--columns", "sepal_width", "--seed", seed, "--resamples", "9"]
        )
        cli.main(["cluster", "iris.csv", "--columns", "sepal_width,sepal_length", "--seed", seed, "--resamples", "19"])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "none.csv"], "none.csv: no such file."),
        (["cluster", "iris.txt"], "iris.txt: the first line must name the columns, got 1, 2"),
        (["cluster", "empty.csv"], "empty.csv: the file is empty."),
        (["cluster", "header.csv"], "header.csv: the table has no rows."),
        (["cluster", "broken.parquet"], "broken.parquet: cannot be read:"),
        (["cluster", "ragged.csv"], "ragged.csv: line 3 has 3 cells, where 2 are expected"),
        (["cluster", "iris.csv", "--columns", "petal_lenght"], "no column 'petal_lenght'. Did you mean 'petal_length'"),
        (["cluster", "iris.csv", "--columns", "qqq"], "no column 'qqq'. Columns: 'sepal_length', 'sepal_width'"),
        (
            ["cluster", "iris.csv", "--columns", "species"],
            "row 1 (line 2), column 'species': 'setosa' is not a number.",
        ),
        (
            ["cluster", "typo.csv"],
            "row 7 (line 8), column 'petal_width': '0,3' is not a number; --decimal , reads decimal commas; mend it",
        ),
        (["cluster", "gaps.csv"], "2 of 150 rows have missing values (sepal_width 2), the first in row 1 (line 2),"),
        (
            ["cluster", "words.csv"],
            "no numeric column among species; row 1 (line 2), column 'species': 'setosa' is not",
        ),
        (
            ["test", "dates.csv", "--group", "g"],
            "'day': '2020-01-01' is not a number; x: left out, name it in --columns",
        ),
        (["cluster", "iris.csv", "-k", "0"], "-k must be at least 1, got 0."),
        (["cluster", "iris.csv", "-k", "151"], "-k must be at most 150, the number of points, got 151."),
        (["cluster", "iris.csv", "-k", "two"], "argument -k: invalid int value: 'two'"),
        (["cluster", "iris.csv", "--labels", "nowhere/out.csv"], "there is no folder 'nowhere'."),
        (
            ["cluster", "iris.csv", "--plot", "out.xyz"],
            "the name of a picture must end in .png or .pdf or .svg.",
        ),
        (["test", "iris.csv", "--group", "Species"], "no column 'Species'. Did you mean 'species'"),
        (["test", "iris.csv"], "the following arguments are required: --group"),
        (["test", "iris.csv", "--group", "species", "--alpha", "3"], "--alpha must be from 0.001 to 2, got 3."),
        (["test", "iris.csv", "--group", "species", "--resamples", "0"], "--resamples must be at least 1, got 0."),
        (["test", "one.csv", "--group", "species"], "--group must name at least two groups, got only 'setosa'."),
        (["cluster", "iris.csv", "--seed", "-4"], "--seed must be at least 0, got -4."),
        (["cluster", "iris.csv", "--labels", "iris.csv"], "iris.csv: would overwrite the input."),
        (["cluster", "iris.csv", "--labels", "out.png"], "out.png: the name of a table must end in .csv."),
        (["test", "iris.csv", "--group", "species", "--plot", "o.csv"], "the name of a picture must end in"),
        (["cluster", "semicolon.csv", "--sep", ","], "semicolon.csv: no numeric column among sepal_length;"),
        (["cluster", "headless.csv"], "headless.csv: the first line must name the columns, got 1.5, 2.5; --no-header"),
        (["cluster", "latin.csv"], "latin.csv: is not UTF-8 text; name its encoding, such as --encoding latin-1."),
        (["cluster", "iris.csv", "--columns", "sepal_width,sepal_width"], "must not name a column twice"),
        (
            ["disco", "sepal_width ~ specis", "iris.csv"],
            "the formula needs 'specis', but the table has no such column. Did",
        ),
        (
            ["disco", "sepal_width ~ species +", "iris.csv"],
            "iris.csv: the formula 'sepal_width ~ species +' cannot be read",
        ),
        (["disco", "~ species", "iris.csv"], "the formula must name its responses before ~"),
        (["disco", "species ~ sepal_width", "iris.csv"], "row 1 (line 2), column 'species': 'setosa' is not a number"),
        (["disco", "sepal_width ~ species", "gaps.csv"], "Values are missing in 2 of 150 rows (sepal_width 2);"),
        (["disco", "sepal_width ~ species", "gaps.csv"], "leave those rows out with --missing drop."),
        (["disco", "sepal_width ~ species", "one.csv"], "one.csv: the formula: species has one level only, 'setosa'"),
        (["disco", "sepal_width ~ species", "iris.csv", "--strata", "Species"], "no column 'Species'. Did you mean"),
        (["disco", "sepal_width ~ species", "iris.csv", "--missing", "omit"], "--missing must be one of raise, drop"),
        (["disco", "sepal_width ~ species", "iris.csv", "--decomposition", "2"], "--decomposition must be one of"),
        (["disco", "sepal_width ~ species", "iris.csv", "--metric", "cityblok"], "--metric must be one of"),
        (["disco", "sepal_width ~ species", "iris.csv", "--alpha", "3"], "--alpha must be from 0.001 to 2, got 3."),
        (["disco", "sepal_width ~ species", "iris.csv", "--plot", "o.csv"], "the name of a picture must end in"),
        (["disco", "sepal_width ~ species"], "the following arguments are required: FILE"),
        (["disco", "sepal_width ~ species", "none.csv"], "none.csv: no such file."),
        (
            ["cluster", "iris.csv", "--sep", "tab"],
            "With --sep '\\t' there is one column only; are they separated by commas?",
        ),
        (["test", "iris.csv", "--group", "species", "--sep", ";"], "no column 'species'. With --sep ';' there is one"),
        (["cluster", "picture.png"], "picture.png: is not text; CSV or Parquet is needed."),
        (
            ["test", "iris.csv", "--group", "species", "--blocks", "x"],
            "unrecognized arguments: --blocks x (see `energystats test --help`)",
        ),
        (["clutser", "iris.csv"], "invalid choice: 'clutser'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_input_is_one_line(iris, tmp_path, capsys, words, message):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (tmp_path / "iris.txt").write_text("1 2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "broken.parquet").write_bytes(b"not parquet at all")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    iris.assign(petal_width=iris["petal_width"].astype(str).where(iris.index != 6, "0,3")).to_csv(
        "typo.csv", index=False
    )
    iris.assign(sepal_width=iris["sepal_width"].where(iris.index > 1)).to_csv("gaps.csv", index=False)
    iris[["species"]].to_csv("words.csv", index=False)
    days = [f"2020-01-{day:02}" for day in range(1, 9)]
    pd.DataFrame({"g": list("ab") * 4, "day": days, "x": range(1, 9)}).to_csv("dates.csv", index=False)
    iris.to_csv("semicolon.csv", index=False, sep=";")
    (tmp_path / "headless.csv").write_text("1.5,2.5\n3,4\n5,6\n")
    (tmp_path / "latin.csv").write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    iris.head(20).to_csv("one.csv", index=False)
    before = files(tmp_path)
    outputs = ["--labels", "o.csv"] if words[:2] == ["cluster", "iris.csv"] and "--labels" not in words else []
    assert cli.main([*words, *outputs]) == 2
    error = capsys.readouterr().err
    last = [line for line in error.splitlines() if not line.startswith("note:")]
    assert len(last) == 1
    assert last[0].startswith("energystats: ")
    assert message in last[0]
    assert files(tmp_path) == before


def test_nothing_is_left_when_writing_fails(iris, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    before = files(tmp_path)
    assert cli.main(["cluster", "iris.csv", "--labels", "out.csv"]) == 2
    assert files(tmp_path) == before


def python(*words, cwd=None):
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow  # another program runs in test_cli_data.py
def test_module_runs_as_a_program(tmp_path):
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 9, axis=0) + np.arange(36).reshape(18, 2) / 97
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "two.csv", index=False)
    done = python("-m", "energystats", "cluster", "two.csv", "-k", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Energy clustering into 1 cluster" in done.stdout
    assert python("-m", "energystats", "--version").stdout.startswith("energystats ")


@pytest.mark.slow  # a process of its own
def test_compilation_is_announced_once():
    code = (
        "from energystats._core.jit import njit, on_compilation\n"
        "def double(x):\n    return 2 * x\n"
        "loop = __import__('numba').njit(double)\n"
        "with on_compilation(lambda: print('compiling')):\n    loop(1); loop(2); loop(1.5)\n"
        "with on_compilation(lambda: print('again')):\n    loop(3)\n"
    )
    done = python("-c", code)
    assert done.stdout == "compiling\n", done.stderr
