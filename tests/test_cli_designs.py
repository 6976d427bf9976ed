"""`energystats test` with strata, pairs, whole plots and pairs of groups: the numbers of Python, and hostile files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import energystats as es
from energystats import cli

COLUMNS = ["height", "weight"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Twelve subjects in three groups, four blocks, cages of three rows of one group."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(36, 2)).round(3), columns=COLUMNS)
    frame["drug"] = list("abc") * 12
    frame.loc[frame["drug"] == "b", "weight"] += 1
    frame["block"] = np.repeat(list("pqrs"), 9)
    frame["who"] = np.repeat(np.arange(100, 112), 3)
    frame["cage"] = [f"{drug}{i // 9}" for i, drug in enumerate(frame["drug"])]
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


def answer(capsys, *words):
    capsys.readouterr()
    assert cli.main(["test", "t.csv", "--group", "drug", "--columns", "height,weight", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, *words, group="drug"):
    """The one line of an error."""
    capsys.readouterr()
    assert cli.main(["test", "t.csv", "--group", group, *words]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1
    return lines[0]


DESIGNS = {
    "strata": (["--strata", "block"], lambda t: es.Design(strata=t["block"])),
    "paired": (["--paired", "who"], lambda t: es.Design(strata=t["who"])),
    "whole plots": (["--whole-plots", "cage"], lambda t: es.Design(whole_plots=t["cage"])),
    "plots in strata": (
        ["--whole-plots", "cage", "--strata", "half"],
        lambda t: es.Design(whole_plots=t["cage"], strata=t["half"]),
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_are_those_of_python(table, capsys, name):
    words, design = DESIGNS[name]
    table["half"] = table["block"].isin(["p", "q"]).map({True: "one", False: "two"})
    table.to_csv("t.csv", index=False)
    found = answer(capsys, *words, "--seed", "3", "--pairs", "--resamples", "99")
    how = {"design": design(table), "n_resamples": 99, "rng": 3}
    expected = es.energy_test(table[COLUMNS], groups=table["drug"], **how)
    assert found["test"]["pvalue"] == expected.pvalue
    assert found["test"]["null_hypothesis"] == expected.null_hypothesis
    pairs = es.pairwise_tests(table[COLUMNS], table["drug"], **how)
    assert pd.DataFrame(found["pairs"]["table"])["pvalue_adjusted"].tolist() == pairs.table["pvalue_adjusted"].tolist()
    assert found["pairs"]["n_strata"] == pairs.n_strata
    assert found["columns"] == COLUMNS
    for option, column in zip(words[::2], words[1::2], strict=True):
        assert found[option[2:].replace("-", "_")] == column


def test_pairs_are_those_of_samples_in_order(table, capsys):
    """Design(paired=True) of the samples, sorted by unit, has the same exact p."""
    few = table[table["who"] < 108].sort_values("who", kind="stable")
    few = few[few["drug"] != "c"]
    few.sample(frac=1, random_state=7).to_csv("t.csv", index=False)
    found = answer(capsys, "--paired", "who")["test"]
    samples = [few.loc[few["drug"] == drug, COLUMNS].reset_index(drop=True) for drug in "ab"]
    expected = es.energy_test(*samples, design=es.Design(paired=True))
    assert (found["method"], found["n_resamples"]) == ("exact", 2**8)
    assert found["pvalue"] == expected.pvalue


def test_the_text_has_both_tables(table, capsys, tmp_path):
    table.to_csv("t.csv", index=False)
    assert cli.main(["test", "t.csv", "--group", "drug", "--pairs", "--strata", "block", "--plot", "p.png"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Energy test of equal distributions" in out
    assert "Energy tests of pairs of groups; correction: holm" in out
    assert "a vs b" in out
    assert "within 4 strata" in out
    assert "999 random permutations of each pair, within strata" in out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_many_groups_get_permutations_enough(table, capsys):
    table["drug"] = np.arange(36) % 12
    table.to_csv("t.csv", index=False)
    found = answer(capsys, "--pairs")
    assert (found["test"]["n_resamples"], found["pairs"]["n_resamples"]) == (999, 40 * 66 - 1)
    found = answer(capsys, "--pairs", "--resamples", "19")
    assert (found["test"]["n_resamples"], found["pairs"]["n_resamples"]) == (19, 19)
    assert answer(capsys)["pairs"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--strata", "blok"], "t.csv: no column 'blok'. Did you mean 'block'"),
        (["--paired", "subject"], "t.csv: no column 'subject'. Columns: "),
        (["--whole-plots", "x"], "t.csv: no column 'x'."),
        (["--strata", "drug"], "--group and --strata must not name one column, 'drug'."),
        (
            ["--strata", "block", "--whole-plots", "block"],
            "--strata and --whole-plots must not name one column, 'block'.",
        ),
        (
            ["--paired", "who", "--strata", "block"],
            "--paired makes its own strata; leave --strata and --whole-plots out.",
        ),
        (["--paired", "who", "--whole-plots", "cage"], "--paired makes its own strata;"),
        (
            ["--columns", "height,block", "--strata", "block"],
            "--columns must not name the column of --strata, 'block'.",
        ),
        (["--columns", "who", "--paired", "who"], "--columns must not name the column of --paired, 'who'."),
        (
            ["--paired", "block"],
            "t.csv: unit 's' of 'block' has a second row in group 'b', row 3 (line 4); --paired needs one row",
        ),
        (["--whole-plots", "block"], "t.csv: --group must be the same on all rows of a whole plot, but plot "),
        (["--strata", "cage"], "t.csv: --strata must leave something to permute, but in each of its 12 blocks"),
        (["--strata", "block", "--where", "block=p", "--where", "drug=a"], "--group must name at least two groups"),
        (["--pairs", "--resamples", "0"], "--resamples must be at least 1, got 0."),
        (["--strata"], "argument --strata: expected one argument"),
    ],
)
def test_what_does_not_fit_is_one_line(table, capsys, words, message):
    table.to_csv("t.csv", index=False)
    assert message in refusal(capsys, *words)


def test_pairs_of_groups_that_share_no_block(table, capsys):
    table["block"] = np.where(table["drug"] == "c", "t", table["block"])
    table.to_csv("t.csv", index=False)
    assert "The groups are a and c of a pair." in refusal(capsys, "--strata", "block", "--pairs")
    assert answer(capsys, "--strata", "block")["test"]["pvalue"] <= 1


@pytest.mark.parametrize(("column", "option", "what"), [
    ("block", "--strata", "stratum"), ("who", "--paired", "unit"), ("cage", "--whole-plots", "whole plot"),
])  # fmt: skip
def test_rows_without_a_label(table, capsys, column, option, what):
    table[column] = table[column].astype(object).where(table.index != 4)
    table.to_csv("t.csv", index=False)
    line = refusal(capsys, option, column)
    assert f"t.csv: 1 of 36 rows has no {what}, the first is row 5 (line 6); fill '{column}'" in line
    found = answer(capsys, option, column, "--missing", "drop")
    assert found["n"] == (33 if option == "--paired" else 35)
    assert f"1 of 36 rows was left out because it has no {what}." in found["warnings"]
    table[column] = np.nan
    table.to_csv("t.csv", index=False)
    assert f"no row has a {what} in '{column}'." in refusal(capsys, option, column, "--missing", "drop")


def test_units_that_lack_a_row(table, capsys):
    short = table[~((table["who"] == 103) & (table["drug"] == "b")) & ~((table["who"] == 109) & (table["drug"] == "a"))]
    short.to_csv("t.csv", index=False)
    line = refusal(capsys, "--paired", "who")
    assert "t.csv: 2 of 12 units of 'who' lack a row of some group, the first is " in line
    assert "without" in line
    found = answer(capsys, "--paired", "who", "--missing", "drop")
    assert found["n"] == 30
    assert "2 of 12 units were left out because they lack a row of some group." in found["warnings"]
    gaps = table.assign(height=table["height"].where(table["who"] != 105))
    gaps.loc[gaps["who"].eq(105) & gaps["drug"].ne("a"), "height"] = 1.0
    gaps.to_csv("t.csv", index=False)
    found = answer(capsys, "--paired", "who", "--missing", "drop")
    assert found["n"] == 33
    table.assign(who=np.arange(36)).to_csv("t.csv", index=False)
    assert "no unit of 'who' has a row in every group of 'drug'." in refusal(capsys, "--paired", "who")


def test_names_of_units_that_are_not_plain(table, capsys):
    """Blanks, commas, quotes, signs a terminal obeys, numbers beside text: they stay labels."""
    names = [' a"b', "x,y", "=1+1", "\x1b[31mred", "01", "1", "é", "e\u0301", "0", "None", "-", "日本"]
    table["who"] = [names[i - 100] for i in table["who"]]
    table.to_csv("t.csv", index=False)
    found = answer(capsys, "--paired", "who", "--resamples", "99")
    assert any("print alike" in note for note in found["warnings"])
    assert found["test"]["n_resamples"] == 99
    twice = pd.concat([table, table[table["who"] == "\x1b[31mred"]])
    twice.to_csv("t.csv", index=False)
    line = refusal(capsys, "--paired", "who")
    assert "\x1b" not in line
    assert "has a second row in group" in line


def test_parquet_and_standard_input(table, capsys):
    table.to_csv("t.csv", index=False)
    by_csv = answer(capsys, "--strata", "block", "--resamples", "99")["test"]["pvalue"]
    table.to_parquet("t.parquet")
    words = ["test", "t.parquet", "--group", "drug", "--columns", "height,weight", "--strata", "block"]
    assert cli.main([*words, "--resamples", "99", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"]["pvalue"] == by_csv


def test_truth_values_as_strata(table, capsys):
    table["block"] = ["TRUE" if i % 2 else "True" for i in range(36)]
    table.to_csv("t.csv", index=False)
    assert "column 'block' spells truth values in several ways" in refusal(capsys, "--strata", "block")


@pytest.mark.parametrize("option", ["--strata", "--paired", "--whole-plots"])
def test_labels_are_text_as_groups_are(table, capsys, option):
    spelled = {"--strata": [f"{i % 3}" for i in range(36)], "--paired": [f"{i}" for i in np.sort(np.arange(36) % 12)]}
    table = table.sort_values("who") if option == "--paired" else table.sort_values("drug")
    label = spelled.get(option, [f"{i // 6}" for i in range(36)])
    table["label"] = [f"0{name}" if i < 1 else name for i, name in enumerate(label)]
    table.to_csv("t.csv", index=False)
    note = "'0' and '00' in column 'label' mean the same and are two groups here"
    if option == "--paired":
        assert "of 13 units of 'label' lack a row" in refusal(capsys, option, "label")
    else:
        assert any(note in line for line in answer(capsys, option, "label", "--resamples", "9")["warnings"])


def test_numbers_as_strata_keep_the_order_of_numbers(table, capsys):
    table["block"] = np.repeat([2, 10, 100, 9], 9)
    table.to_csv("t.csv", index=False)
    found = answer(capsys, "--strata", "block", "--resamples", "99")["test"]
    how = {"design": es.Design(strata=table["block"]), "n_resamples": 99, "rng": 0}
    expected = es.energy_test(table[COLUMNS], groups=table["drug"], **how)
    assert found["pvalue"] == expected.pvalue
    words = ["disco", "height ~ C(who) + weight", "t.csv", "--strata", "block", "--resamples", "99", "--json"]
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)["model"]
    how["design"] = es.Design(strata="block")
    expected = es.disco("height ~ C(who) + weight", data=table, **how)
    assert [term["pvalue"] for term in found["terms"]] == [row.pvalue for row in expected.terms]


FACTORS = {  # degrees of freedom of the first term, and whether a note says that 01 and 1 are two
    "y ~ C(a)": (3, True),
    "y ~ C( `a` ) + z": (3, True),
    "y ~ C(a, levels=[1, 2, 10])": (2, False),
    "y ~ C(a) + I(a * z)": (2, False),
    "y ~ a": (1, False),
}


@pytest.mark.parametrize("formula", FACTORS)
def test_factors_of_a_formula_are_text_as_groups_are(tmp_path, monkeypatch, capsys, formula):
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    rows = [f"{i * i % 7},{i % 5},{a}" for i, a in enumerate(["01", "1", "2", "10"] * 6)]
    Path("f.csv").write_text("\n".join(["y,z,a", *rows]) + "\n")
    assert cli.main(["disco", formula, "f.csv", "--resamples", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    df, noted = FACTORS[formula]
    assert found["model"]["terms"][0]["df"] == df
    assert any("'01' and '1' in column 'a' mean the same" in note for note in found["warnings"]) == noted


def test_labels_too_long_for_doubles_in_a_formula(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": range(12), "f": [2**53 + 1, 2**53 + 2] * 6}).to_csv("f.csv", index=False)
    assert cli.main(["disco", "y ~ f", "f.csv"]) == 2
    assert "beyond 2**53, which are not exact" in (line := capsys.readouterr().err)
    assert "or name the column in --category, if they are labels" in line
    for words in (["y ~ C(f)"], ["y ~ f", "--category", "f"]):
        assert cli.main(["disco", *words, "f.csv", "--resamples", "9"]) == 0


# ---------------------------------------------------------------- options that are checked first, or have no use


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "none.csv", "-k", "0"], "-k must be at least 1, got 0."),
        (["cluster", "none.csv", "--k-max", "0"], "--k-max must be at least 1, got 0."),
        (["cluster", "none.csv", "--k-max", "4"], "--k-max has no use without --select."),
        (["cluster", "none.csv", "--spreadsheet-safe"], "--spreadsheet-safe has no use without --labels."),
        (["cluster", "none.csv", "-k", "1", "--resamples", "9"], "--resamples has no use with -k 1,"),
        (
            ["cluster", "none.csv", "--select", "significance", "--resamples", "999"],
            "--resamples has no use with --select significance and no -k: the draws of a tree follow from its level.",
        ),
        (["cluster", "none.csv", "-k", "1", "--conservative"], "--conservative has no use with -k 1,"),
        (["cluster", "none.csv", "--metric", "gower", "--missing", "drop"], "--missing has no use with --metric gower"),
        (["cluster", "none.csv", "--metric", "precomputed", "--where", "a=1"], "--where has no use with --metric pre"),
        (["cluster", "none.csv", "--metric", "precomputed", "--no-header"], "--no-header has no use with --metric pre"),
        (["cluster", "none.csv", "--metric", "jaccard", "--coordinates"], "--coordinates has no use with this"),
        (["cluster", "none.csv", "--quiet", "--notes"], "--notes has no use with --quiet"),
        (["cluster", "none.csv", "--quiet", "--progress"], "--progress has no use with --quiet."),
        (["cluster", "none.csv", "--rows", "1-9"], "--rows must be numbers and ranges"),
        (["cluster", "none.csv", "--where", "a"], "--where must be COLUMN=VALUE"),
        (["test", "none.csv", "--group", "g", "--resamples", "0"], "--resamples must be at least 1, got 0."),
        (["test", "none.csv", "--group", "g", "--metric", "euclidian"], "--metric must be one of "),
        (["test", "none.csv", "--group", "g", "--metric", "gaussian", "--alpha", ".5"], "--alpha raises a named"),
        (["test", "none.csv", "--group", "g", "--metric", "gower", "--standardize"], "--standardize does not go with"),
        (["test", "none.csv", "--group", "g", "--metric", "precomputed", "--standardize"], "--standardize has no use"),
        (["disco", "y ~ g", "none.csv", "--decomposition", "type2"], "--decomposition must be one of sequential, marg"),
        (["disco", "y ~ g", "none.csv", "--missing", "omit"], "--missing must be one of raise, drop; got 'omit'."),
        (["disco", "y ~ g", "none.csv", "--id", "g"], "--id must not name a column of the formula, 'g'."),
        (["euclidize", "none.csv", "-o", "none/o.csv"], "there is no folder 'none'."),
        (["euclidize", "none.csv", "-o", "o.csv", "--tol", "0"], "--tol must be positive and finite, got 0."),
        (["euclidize", "none.csv", "-o", "o.csv", "--method", "lingo"], "--method must be one of lingoes, cailliez;"),
    ],
)  # fmt: skip
def test_options_are_checked_before_the_file_is_read(tmp_path, monkeypatch, capsys, words, message):
    """There is no file, and no word of it."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 2
    assert message in capsys.readouterr().err


def test_options_on_text_have_no_use_with_parquet(table, capsys):
    pytest.importorskip("pyarrow")
    table.to_parquet("t.parquet")
    assert cli.main(["test", "t.parquet", "--group", "drug", "--sep", ";", "--na", "?", "--no-header"]) == 2
    assert "t.parquet: --sep, --no-header, --na: of no use with Parquet" in capsys.readouterr().err


@pytest.mark.parametrize("names", ["who", "block"])
def test_disco_takes_strata_and_names_of_rows(table, capsys, names):
    table.to_csv("t.csv", index=False)
    words = ["disco", "height ~ drug", "t.csv", "--strata", "block", "--resamples", "9", "--json"]
    models = []
    for more in ([], ["--id", names]):
        assert cli.main([*words, *more]) == 0
        models.append(json.loads(capsys.readouterr().out)["model"])
    assert models[0] == models[1]


def test_a_response_of_text_is_told_what_to_do(table, capsys):
    table.to_csv("t.csv", index=False)
    assert cli.main(["disco", "drug ~ height", "t.csv"]) == 2
    assert "is not a number; responses are numbers, unless --metric gower compares them." in capsys.readouterr().err
    assert cli.main(["disco", "height ~ drug", "t.csv", "--resamples", "9", "--quiet"]) == 0


def test_summaries_speak_the_words_of_the_command_line(table, rng, capsys):
    x = rng.normal(size=(60, 2)) + 9 * (np.arange(60) % 2)[:, None]
    pd.DataFrame(x, columns=["x", "y"]).to_csv("far.csv", index=False)
    assert cli.main(["cluster", "far.csv", "--resamples", "5"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "take --resamples 28 or more" in shown
    assert not [word for word in ("n_resamples", "`.", "cluster_test(") if word in shown]


def test_notes_are_shown_where_they_are_asked_for(table, capsys):
    table.to_csv("t.csv", index=False)
    words = ["cluster", "t.csv", "--columns", "height", "--resamples", "9"]
    assert cli.main(words) == 0
    counted = capsys.readouterr().out
    assert ": --notes prints them." in counted
    assert "`.notes`" not in counted
    assert cli.main([*words, "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["test"]["notes"]
    assert cli.main([*words, "--notes"]) == 0
    shown = " ".join(capsys.readouterr().out.split("Notes:\n")[1].split())
    for note in notes:  # in the same words
        assert " ".join(note.split()) in shown


def test_notes_name_no_argument_that_the_command_line_lacks(rng, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"x": rng.normal(size=401)}).to_csv("many.csv", index=False)
    assert cli.main(["cluster", "many.csv", "--select", "significance", "--k-max", "2", "--notes"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Gaps are computed with --select gap." in shown
    assert "compare=" not in shown


@pytest.mark.parametrize("paired", ["yes", "False", 1, None])
def test_flags_of_designs_are_true_or_false(paired):
    with pytest.raises(TypeError, match="`paired` must be True or False, got "):
        es.Design(paired=paired)


@pytest.mark.parametrize("gap", ["drug", "block", "who", "s3"])
def test_rows_of_a_matrix_are_not_left_out_without_their_columns(table, capsys, gap):
    """--missing drop was advised, and left a table that is not square; `cluster` refused it."""
    matrix = pd.DataFrame(es.pairwise(table[COLUMNS].to_numpy()), columns=[f"s{i}" for i in range(36)])
    frame = matrix.assign(drug=table["drug"], block=table["block"], who=table["who"])
    frame.loc[5, gap] = None
    frame.to_csv("t.csv", index=False)
    extra = {"block": ["--strata", "block", "--drop", "who"], "who": ["--paired", "who", "--drop", "block"]}
    words = ["--metric", "precomputed", *extra.get(gap, ["--drop", "who,block"])]
    said = refusal(capsys, *words)
    assert said.endswith("leave those rows and their columns out of the file.")
    assert "--missing drop" not in said
    drop = refusal(capsys, *words, "--missing", "drop")
    assert drop == "energystats: --missing has no use with --metric precomputed, whose rows and columns are points."
    kept = frame.drop(index=5, columns="s5")  # as the message says
    kept.to_csv("t.csv", index=False)
    if gap == "who":
        assert "leave such units and their columns out of the file." in refusal(capsys, *words)
    else:
        assert cli.main(["test", "t.csv", "--group", "drug", *words, "--resamples", "9"]) == 0
