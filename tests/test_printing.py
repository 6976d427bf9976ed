"""Printed results: tables, p-values, sentences, and their forms for notebooks and papers."""

import dataclasses
import io
import re
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import energystats as es
from energystats.display import numbers, tables
from energystats.display.result import VerdictFirst
from energystats.display.sentences import Caution
from tests.comparisons import words
from tests.test_public_api import CASES, case

mpl.use("Agg")

TESTS = ("EnergyTest", "GoodnessOfFit", "Disco", "PairwiseTests", "Power", "ClusterTest", "ClusterTree")
ZERO = re.compile(r"0(\.0*)?([eE][-+]?0+)?")


@pytest.fixture(params=CASES)
def result(request):
    return case(request.param)


# ---------------------------------------------------------------- p-values


@given(st.floats(5e-324, 1))
@example(np.nextafter(1, 0))
@example(5e-324)
@example(0.00005)
@example(0.0009999)
@example(0.99995)
def test_no_p_value_reads_0_and_only_1_reads_1(p):
    for text in (numbers.probability(p), numbers.p_text(p), numbers.p_text(p, short=True)):
        figures = text.removeprefix("p ").removeprefix("= ")
        assert not ZERO.fullmatch(figures.lstrip("<> "))
        assert re.fullmatch(r"[<>]? ?\d+(\.\d+)?(e-\d+)?", figures)
        if p < 1:
            assert not re.fullmatch(r"1(\.0*)?", figures)
        shown = float(figures.lstrip("<> "))
        assert (
            p < shown if figures[0] == "<" else p > shown if figures[0] == ">" else shown == pytest.approx(p, rel=0.06)
        )


@given(st.lists(st.floats(1e-320, 1), min_size=1, max_size=6))
def test_no_p_value_of_a_frame_reads_0_on_paper(values):
    frame = numbers.write_table_numbers(pd.DataFrame({"pvalue": values, "pvalue_adjusted": values[::-1]}))
    assert not any(ZERO.fullmatch(text) for text in frame.to_numpy().ravel())


def test_a_p_value_is_missing_certain_or_too_small_to_tell():
    assert [numbers.probability(p) for p in (np.nan, 1, 0.05, 0.00031, 3.14e-5, 1e-300)] == [
        "-", "1.0000", "0.0500", "0.00031", "3.1e-05", "<2.2e-16",
    ]  # fmt: skip
    assert numbers.p_text(0.9999999) == "p > 0.9999"
    assert numbers.p_text(0.999, short=True) == "p > 0.99"


def with_p(thing, p):
    """A result, or a row of one, whose p-values are all p; NaN stays."""
    changed = {}
    for entry in dataclasses.fields(thing):
        value = getattr(thing, entry.name)
        if entry.name.startswith("pvalue"):
            if isinstance(value, np.ndarray):
                changed[entry.name] = np.where(np.isnan(value), value, p)
            elif isinstance(value, float):
                changed[entry.name] = value if np.isnan(value) else p
        elif entry.name in (
            "rows",
            "terms",
            "nodes",
            "comparisons",
            "components",
            "answers",
            "merge_rows",
        ) and isinstance(value, tuple):
            changed[entry.name] = tuple(with_p(part, p) for part in value)
    return dataclasses.replace(thing, **changed)


def has_p(thing):
    """Tell whether a result, or a part of it, has p-values."""
    names = [entry.name for entry in dataclasses.fields(thing)]
    parts = [part for name in names if isinstance(getattr(thing, name), tuple) for part in getattr(thing, name)]
    return any(name.startswith("pvalue") for name in names) or any(
        has_p(part) for part in parts if dataclasses.is_dataclass(part)
    )


WITH_P = [1e-20, 1e-7, 1 - 1e-9]


def test_no_p_value_of_any_result_is_rounded_to_0_or_1(result):
    """In its tables and sentences, and in its picture, where there is a p-value to be drawn."""
    for p in WITH_P if has_p(result) else ():
        check_p_values(with_p(result, p), drawn=p != WITH_P[0], ticks=p == WITH_P[1])  # the first two are written alike


def check_p_values(changed, *, drawn, ticks=True):
    import matplotlib.pyplot as plt

    wrong = re.compile(r"[01](\.0*)?")
    for table in changed._tables():
        if not table.heads:
            cells = [row[0] for stub, row in zip(table.stubs, table.rows, strict=True) if stub == "p-value"]
        else:
            columns = [
                j for j, head in enumerate(table.heads) if head == "p" or "adjusted" in head or head.startswith("p ")
            ]
            cells = [row[j] for row in table.rows for j in columns]
        assert not any(wrong.fullmatch(cell) for cell in cells)
    texts = []
    if drawn:
        figure = changed.plot().figure
        if ticks:  # their labels are written when the picture is drawn
            figure.set_layout_engine("none")  # where a text stands does not matter here, and takes long to find
            figure.draw_without_rendering()
        texts = [text.get_text() for text in figure.findobj(mpl.text.Text)]
    for text in [*texts, changed._conclusion(), *changed._sentences()]:
        assert not re.search(r"\bp = [01](\.0*)?(?![\d.e])", text), text
    plt.close("all")
    frame = changed.to_frame(full=True)
    for j, name in enumerate(frame.columns):
        if "pvalue" in name:
            assert not any(wrong.fullmatch(text) for text in numbers.write_table_numbers(frame).iloc[:, j])


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_an_approximate_p_value_is_never_0(scale):
    x, y = np.arange(60.0), np.arange(60.0) + 1e4 * scale
    for method in ("asymptotic", "cross"):
        found = es.energy_test(x, y, method=method, rng=0)
        assert found.pvalue > 0
        assert "<2.2e-16" in found.summary() or found.pvalue > 2.2e-16


def test_pictures_write_p_values_alike():
    import matplotlib.pyplot as plt

    found = es.energy_test(np.arange(60.0), np.arange(60.0) + 1e4, method="asymptotic")
    ax = found.plot()
    assert any("p < 2.2e-16" in text.get_text() for text in ax.get_legend().get_texts())
    plt.close("all")


# ---------------------------------------------------------------- numbers


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_a_column_of_numbers_keeps_five_digits_of_its_largest(values):
    texts = numbers.numbers(values)
    largest = max(map(abs, values))
    for value, text in zip(values, texts, strict=True):
        assert float(text) == pytest.approx(value, abs=1e-5 * largest + 1e-12 * largest)
        assert len(re.sub(r"[-.]|e.*", "", text).lstrip("0")) <= 17
    if all("e" not in text for text in texts):
        assert len({len(text.partition(".")[2]) for text in texts}) == 1


def test_numbers_have_no_needless_exponents():
    assert numbers.numbers([177429886.3, 11.06]) == ["177429886", "11"]
    assert numbers.numbers([1.94717, 0.018306, 0.0]) == ["1.94717", "0.01831", "0.00000"]
    assert numbers.numbers([12.0, 3.0]) == ["12", "3"]
    assert numbers.numbers([1e-14, 2e-15])[0] == "1.00000e-14"
    assert numbers.numbers([1.0, 1e-17]) == ["1", "0"]
    assert numbers.numbers([np.nan, 2.5]) == ["-", "2.50000"]
    assert [numbers.number(v) for v in (-0.0, 1234567.8, 46.96674724, 3.2e-7)] == ["0", "1234568", "46.9667", "3.2e-07"]
    assert [numbers.number(v) for v in (999999.7, -999999.4)] == ["1000000", "-999999"]


@given(st.floats(0, 1))
def test_shares_are_0_and_1_only_when_they_are(value):
    text = numbers.proportion(value)
    assert (text == "0") == (value <= 1e-12)
    assert (text == "1") == (value >= 1 - 1e-12)
    assert not re.fullmatch(r"0\.0*|1\.0*", text)


# ---------------------------------------------------------------- text


def blocks(text):
    """Tables of a summary: lines from a title to the closing rule, which has the width of all of them."""
    lines, found = text.splitlines(), []
    rules = [i for i, line in enumerate(lines) if line and not line.strip("=")]
    for first, last in zip(rules[::2], rules[1::2], strict=True):
        found.append(lines[first:last + 1])  # fmt: skip
    return found


def test_tables_are_aligned(result):
    text = result.summary()
    assert len(blocks(text)) == len(result._tables())
    for block in blocks(text):
        assert len({tables._width(line) for line in block}) == 1
        assert len(block[0]) <= 100
    assert all(len(line) <= 100 for line in text.splitlines())
    assert not re.search(r"\d\.\d{9}", text), "digits that nobody needs"
    assert "np.float" not in text


def test_points_of_a_column_stand_below_each_other(result):
    for table in result._tables():
        if not table.heads:
            continue
        lines = table.as_text().splitlines()
        rows = lines[next(i for i, line in enumerate(lines) if line and not line.strip("-")) + 1 : -1]
        for j in range(len(table.heads)):
            at = set()
            for line, row in zip(rows, table.rows, strict=True):
                if re.fullmatch(r"-?\d+\.\d+", row[j]):
                    start = len(line) - sum(2 + width for width in column_widths(table)[j:]) + 2
                    cell = line[start : start + column_widths(table)[j]]
                    assert cell.strip() == row[j]
                    at.add(cell.index("."))
            assert len(at) <= 1


def column_widths(table):
    columns = zip(*table.rows, strict=True)
    return [max(len(head), *map(len, tables._on_the_point(c))) for head, c in zip(table.heads, columns, strict=True)]


def test_the_last_line_is_a_sentence_that_claims_no_more_than_was_found(result):
    lines = result.summary().splitlines()
    last = lines[-1]
    if isinstance(result, VerdictFirst):
        last = result._conclusion()
        assert " ".join(result.summary().split()).startswith(" ".join(last.split()))
    assert last == result._conclusion()
    assert last.endswith(".")
    assert 20 <= len(last) <= (110 if not isinstance(result, es.ClusterValidationResult) else 250)
    assert not re.search(r"\b(prove[sd]?|are equal|is equal|no clusters|are real|the same distribution)\b", last)
    if "At level 0.05: no evidence" in last:
        assert "at this sample size" in last


def test_verdicts_come_first_and_rest_on_eight_lines_at_most(result):
    if not isinstance(result, VerdictFirst):
        return
    verdict, *below = result.summary().split("\n\n")[0].splitlines()
    assert result._conclusion().startswith(verdict)
    assert 0 < len(below) - result._conclusion().count("\n") <= 8 + len(result._conclusion()) // 90
    crowded = dataclasses.replace(result, notes=(*result.notes, *(Caution(f"{j} {'word ' * 30}.") for j in range(9))))
    head, more = crowded.summary().split("\n\n")[0].splitlines(), crowded.summary().splitlines()[-1]
    assert len(head) <= 9 + len(result._conclusion()) // 90
    shown = sum(line.startswith("Caution:") for line in head)
    assert shown >= 2
    cautions = sum(isinstance(note, Caution) for note in crowded.notes)
    assert f"{len(crowded.notes)} notes, {cautions - shown} of them cautions for which there was no room" in more


def test_tests_say_what_was_asked_and_how(request, result):
    kind = type(result).__name__
    if not kind.startswith(TESTS):
        return
    text = " ".join(result.summary().split())
    assert "Null hypothesis" in text
    if kind == "ClusterTreeResult":
        assert not result.nodes[0].tested or f"{result.n_resamples} draws" in text
        return
    tested = not (kind == "ClusterTestResult" and result.method == "split" and not result.n_splits)
    assert not tested or "seed" in text
    assert not tested or str(result.n_resamples) in text or result.n_resamples == 0
    if hasattr(result, "method"):
        assert result.method in text or kind == "PairwiseTestsResult"


def test_the_seed_note_has_the_standard_error_of_the_p_value(rng):
    x, y = rng.standard_normal(30), rng.standard_normal(30) + 0.5  # where p is not 1
    found = es.energy_test(x, y, n_resamples=999, rng=rng)
    note = next(note for note in found._sentences() if "seed" in note)
    error = float(re.search(r"±([\d.]+)", note)[1])
    smallest = 1 / 1000
    p = min(max(found.pvalue, smallest), 1 - smallest)
    assert error == pytest.approx(np.sqrt(p * (1 - p) / 999), rel=0.5)
    pvalues = [es.energy_test(x, y, n_resamples=999, rng=seed).pvalue for seed in range(12)]
    assert np.std(pvalues) < 4 * error
    exact = es.energy_test(x[:4], y[:4], method="exact")
    assert "does not depend on a seed" in exact.summary()
    assert "±" not in exact.summary()


def test_a_p_value_of_1_names_no_standard_error():
    """Two points are as normal as any two, and other draws as far from normality."""
    spread = es.spread_test([1.0, 1, 1, 2, 2, 2], list("aaabbb"), n_resamples=99, rng=0)
    for found in (es.normality_test([1.0, 2.0], n_resamples=99, rng=0), spread):
        assert found.pvalue == 1
        assert "all reach the statistic, and another seed hardly moves it." in words(found)
        assert "±" not in words(found)


@pytest.mark.parametrize(("shift", "words"), [(0.0, "no evidence at this sample size"), (9.0, "evidence that")])
def test_conclusions_follow_the_p_value(shift, words):
    x = np.r_[np.arange(20.0), np.arange(20.0) + shift * 5]
    g = np.repeat(["a", "b"], 20)
    found = es.energy_test(x, groups=g, n_resamples=99, rng=0)
    assert words in found._conclusion()
    assert words in es.disco(x, groups=g, n_resamples=99, rng=0)._conclusion()
    assert ("0 of 1 pair" in es.pairwise_tests(x, g, n_resamples=99, rng=0)._conclusion()) == (shift == 0)


def test_a_p_value_near_the_level_is_called_undecided():
    x, g = np.random.default_rng(0).standard_normal(40), np.repeat(["a", "b"], 20)
    more = "another seed or more permutations may decide otherwise"
    found = es.energy_test(x, groups=g, n_resamples=999, rng=0)
    near = {"pvalue": 0.054, "pvalue_interval": (0.04, 0.0688)}
    assert more in dataclasses.replace(found, **near)._sentences()[-1]
    assert more not in dataclasses.replace(found, pvalue=0.08, pvalue_interval=(0.064, 0.099))._sentences()[-1]
    assert more not in dataclasses.replace(found, pvalue=0.05, pvalue_interval=(0.05, 0.05))._sentences()[-1]
    model = es.disco(x, groups=g, n_resamples=999, rng=0)
    more = "another seed or more permutations may decide otherwise"
    assert more in dataclasses.replace(model, pvalue=0.045)._sentences()[-1]
    assert more not in dataclasses.replace(model, pvalue=0.02)._sentences()[-1]
    assert more not in dataclasses.replace(model, pvalue=0.045, method="exact")._sentences()[-1]


def test_no_interval_of_a_p_value_begins_at_0():
    assert numbers.interval_text((0.0, 0.0037)) == "below 0.0037"
    assert numbers.interval_text((0.04, 0.0688)) == "0.0400 to 0.0688"
    x = np.arange(20.0)
    assert "below 0.0037" in es.energy_test(x, x + 50, method="permutation", rng=0).summary()


# ---------------------------------------------------------------- many and long names


@pytest.fixture
def crowd(rng):
    """Forty groups with long, odd and Japanese names."""
    odd = ["日本語のグループ名", "<script>alert(1)</script>", "a_b% & $c$ #{}~^\\", "two\nlines", "", "x" * 300]
    names = [*odd, *(f"a treatment with a long name, number {i}" for i in range(34))]
    g = pd.Series(np.repeat(names, 3), name="<b>arm_1 & 50%</b>")
    return rng.standard_normal((120, 2)), g


@pytest.mark.slow
def test_forty_groups_with_long_names_do_not_wreck_a_table(crowd):
    X, g = crowd
    for found in (
        es.dispersion(X, g),
        es.energy_test(X, groups=g, n_resamples=9, rng=0),
        pairs := es.pairwise_tests(X, g, n_resamples=9, rng=0),
        es.disco(X, groups=g, n_resamples=9, rng=0),
    ):
        text = found.summary()
        for block in blocks(text):
            assert len({tables._width(line) for line in block}) == 1
            assert tables._width(block[0]) <= 100
        assert len(text.splitlines()) < 120
    assert "of 780" in pairs.summary()


def test_many_rows_are_cut_and_counted(rng):
    text = es.cluster_1d(rng.standard_normal(300), 100).summary()
    assert "... 50 more" in text
    assert "cluster 49 " in text
    assert "cluster 50 " not in text


class Texts(HTMLParser):
    """Tags that were opened and not closed, those met, and the text between them."""

    def __init__(self):
        super().__init__()
        self.open, self.met, self.text = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.met.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(result):
    parser = Texts()
    parser.feed(result._repr_html_())
    parser.close()
    assert parser.open == []
    return parser


def test_html_is_well_formed_and_says_the_same(result):
    page = parsed(result)
    assert page.met <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "b", "code",
                        "details", "summary"}  # fmt: skip
    text = " ".join("".join(page.text).split())
    assert " ".join(result._conclusion().replace("`", "").split()) in text
    assert 'class="dataframe' in result._repr_html_()
    assert "<caption" in result._repr_html_()


@pytest.mark.slow
def test_html_escapes_names_of_groups_columns_and_rows(crowd):
    X, g = crowd
    frame = pd.DataFrame(X[:20], columns=["<script>", "&amp;"], index=[f"<i>{i}</i>" for i in range(20)])
    for found in (
        es.dispersion(X, g),
        es.energy_test(X, groups=g, n_resamples=9, rng=0),
        es.pairwise_tests(X, g, n_resamples=9, rng=0),
        es.energy_cluster(frame, 2, rng=0),
        es.disco(frame, "~ g", data=pd.DataFrame({"g": g[:20].to_numpy()}, frame.index), n_resamples=9, rng=0),
    ):
        page = parsed(found)
        assert not page.met & {"script", "i"}
    assert "<script>alert(1)" in "".join(parsed(es.dispersion(X, g)).text)


# ---------------------------------------------------------------- frames and papers


def test_frames_are_tidy(result):
    frame = result.to_frame(full=True)
    assert frame.columns.is_unique
    assert all(isinstance(name, str) and name == name.strip() for name in frame.columns)
    for name, kind in frame.dtypes.items():
        assert kind.kind in "iufbO"
        assert kind.kind != "O" or isinstance(kind, pd.StringDtype) or frame[name].map(type).eq(str).all(), name


def test_frames_of_tests_name_standardization_sizes_and_the_interval():
    X, g = np.random.default_rng(0).standard_normal((40, 2)) * [1, 5], np.repeat(["a", "b"], 20)
    rows = [es.energy_test(X, groups=g, standardize=scaled, n_resamples=99, rng=0) for scaled in (False, True)]
    rows.append(es.mmd_test(X, groups=g, n_resamples=99, rng=0))
    for row in (found.to_frame(full=True).iloc[0] for found in rows):
        assert row["metric"]
        assert row["sizes"] == "20 + 20"
        assert " to " in row["pvalue_interval"]
    assert [found.to_frame(full=True)["standardized"].item() for found in rows] == [False, True, False]
    assert es.disco(X, groups=g, standardize=True, n_resamples=9, rng=0).to_frame(full=True)["standardized"].all()
    assert es.energy_test(X[:6], groups=g[17:23], method="exact").to_frame(full=True)["pvalue_interval"].tolist() == [
        "-"
    ]


def test_full_tables_of_groups_and_segments_say_how_they_were_made():
    x = np.r_[np.zeros(9), np.ones(9)] + np.arange(18) / 100
    shared = {"metric": "Euclidean(alpha=1.0)", "standardized": True}
    of_segments = {"min_size": 3, **shared}
    how = {"min_size": 3, "standardize": True}
    tested = es.segment_test(x, **how, level=0.1, block_length=2, n_resamples=99, rng=0)
    cut = es.segment(x, penalty=2.5, **how)
    for found, settings in (
        (es.dispersion(x, x > 0.5, standardize=True), shared),
        (cut, {"penalty": 2.5, **of_segments}),
        (tested, {"level": 0.1, "block_length": 2, **of_segments}),
    ):
        frame = found.to_frame(full=True)
        assert not set(settings) & set(found.to_frame().columns)
        assert {name: frame[name].unique().tolist() for name in settings} == {n: [v] for n, v in settings.items()}
    assert np.isnan(es.segment(x, 2).to_frame(full=True)["penalty"]).all()


def test_latex_has_every_row_and_no_bare_specials(result):
    frame, text = result.to_frame(full=True), result.to_latex(full=True)
    body = text.split("\\midrule")[1].split("\\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.strip().endswith("\\\\")]
    assert len(rows) == (frame.shape[1] if result._one_row else len(frame))
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    assert not re.search(r"(?<!\\)[_%#$]", body)
    assert "nan" not in text.lower().replace("unimodal", "")


def test_markdown_has_every_row(result):
    frame, lines = result.to_frame(full=True), result.to_markdown(full=True).splitlines()
    head = 2 if frame.shape[1] else 1  # tabulate writes no empty one
    assert len(lines) == head + (frame.shape[1] if result._one_row else len(frame))
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_latex_escapes_names(crowd):
    X, g = crowd
    text = es.dispersion(X, g).to_latex()
    assert r"a\_b\% \& \$c\$ \#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}" in text
    assert r"\textless{}b\textgreater{}arm\_1 \& 50\%" in text
    assert "two lines" in text
    raw = es.dispersion(X, g).to_latex(escape=False)
    assert "a_b% & $c$" in raw
    by_name = pd.DataFrame({"a_b%": g[:40].to_numpy()})
    terms = es.disco(X[:40], "~ `a_b%`", data=by_name, n_resamples=9, rng=0)
    assert r"a\_b\%" in terms.to_latex()


def test_markdown_escapes_what_would_end_a_cell():
    found = es.dispersion([1.0, 2.0, 6.0, 7.0], ["a|b", "a|b", "<c>\nd", "<c>\nd"])
    lines = found.to_markdown().splitlines()
    assert len(lines) == 4
    assert r"a\|b" in lines[3] + lines[2]
    assert "&lt;c> d" in lines[2] + lines[3]


def test_arguments_go_to_pandas(tmp_path):
    found = es.dispersion([1.0, 2.0, 6.0, 7.5], ["a", "a", "b", "b"])
    text = found.to_latex(caption="Parts", label="tab:parts", float_format="%.1f", position="h")
    assert r"\caption{Parts}" in text
    assert r"\label{tab:parts}" in text
    assert "0.8" in text
    assert "0.75" not in text
    assert "0.75" in found.to_latex(index=True)
    assert found.to_latex(columns=["within_per_cluster"], index=False).split("midrule")[1].count("&") == 0
    own = {"within_per_cluster": "<{:.1f}>".format}
    assert "<0.8>" in found.to_latex(formatters=own)
    assert found.to_latex(tmp_path / "t.tex") is None
    assert (tmp_path / "t.tex").read_text() == found.to_latex()
    assert found.to_markdown(tablefmt="grid").startswith("+--")
    assert "0.8 " in found.to_markdown(floatfmt=".1f")
    buffer = io.StringIO()
    assert found.to_markdown(buffer) is None
    assert buffer.getvalue() == found.to_markdown()


def test_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(ImportError, match="needs tabulate; `pip install tabulate`"):
        es.dispersion([1.0, 2.0, 6.0], ["a", "a", "b"]).to_markdown()


@pytest.mark.parametrize("turned", [True, False])
def test_a_format_of_numbers_leaves_p_values_as_they_are(turned):
    X, g = np.arange(60.0), np.repeat(["a_1", "b", "c"], 20)
    found = es.energy_test(X, groups=g, n_resamples=999, rng=0) if turned else es.disco(X, groups=g, rng=0)
    for text in (found.to_latex(float_format="%.1f"), found.to_markdown(floatfmt=".1f")):
        assert "0.0010" in text
        assert f"{found.statistic:.1f} " in text
        assert f"{found.statistic:.2f}" not in text
    assert "pvalue" in found.to_latex(columns=["pvalue"])
    assert "statistic" not in found.to_latex(columns=["pvalue"])
    assert "| pvalue" in found.to_markdown(columns=["pvalue"]) or "pvalue |" in found.to_markdown(columns=["pvalue"])


def test_p_values_on_paper_never_read_0():
    found = es.energy_test(np.arange(60.0), np.arange(60.0) + 1e4, method="asymptotic")
    assert r"pvalue & \textless{}2.2e-16" in found.to_latex(full=True)
    assert r"& \textless{}2.2e-16 &" in found.to_latex()
    assert "<2.2e-16" in found.to_markdown().replace("&lt;", "<")


def test_repr_has_six_digits_and_never_a_p_of_1_that_is_less():
    found = es.energy_test([1.0, 2.5, 3.1], [4.2, 5.7, 7.3])
    statistic = re.search(r"statistic=([\d.]+)", repr(found))[1]
    assert len(statistic) <= 8
    assert float(statistic) == pytest.approx(found.statistic, rel=1e-5)
    from energystats.display.result import _short_repr as short_repr

    assert short_repr(1 - 1e-9) == "0.999999999"
    assert short_repr(1.0) == "1.0"


# ---------------------------------------------------------------- tables of a journal


def rows_of_latex(text):
    """Cells of a tabular of booktabs, by a parser of its own: it fails on anything else."""
    begin, end = r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n", r"\\bottomrule\n\\end\{tabular\}\n"
    found = re.fullmatch(begin + r"(.*?)\\midrule\n(.*?)" + end, text, re.DOTALL)
    assert found, text
    sides, head, body = found.groups()
    rows = [re.split(r"(?<!\\)&", line.removesuffix("\\\\")) for line in (head + body).strip().splitlines()]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert {len(row) for row in cells} == {len(sides)}
    assert not any(re.search(r"(?<!\\)[_%#$&]", cell) for row in cells for cell in row)
    return cells


def rows_of_markdown(text):
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines()]
    return [[cell.strip() for cell in line] for i, line in enumerate(lines) if i != 1]


def test_every_result_makes_a_table_for_paper(result):
    text, frame = result.to_latex(), result.to_frame()
    whole = result.to_frame(full=True)
    assert list(frame.index) == list(whole.index)
    assert set(frame.columns) <= set(whole.columns)
    pd.testing.assert_frame_equal(frame, whole[list(frame.columns)])
    constant = {"metric", "standardized", "null_hypothesis", "family", "space", "tested", "conservative"}
    assert not constant & set(frame.columns)
    cells = rows_of_latex(text)
    assert len(rows_of_markdown(result.to_markdown())) == len(cells)
    if result._main_columns():
        assert len(cells) == len(frame) + 1
        assert not {"pvalue", "pvalue\\_adjusted", "n\\_resamples", "sizes"} & set(cells[0])


def test_what_a_journal_prints():
    iris = es.datasets.load("iris")
    X, species = iris.iloc[:, :4], iris["species"]
    head, row = rows_of_latex(es.energy_test(X, groups=species, rng=0).to_latex())
    assert head == ["groups", "n", "S", "S/T", "p", "permutations"]
    assert row[:2] + row[4:] == ["setosa, versicolor, virginica", "50 + 50 + 50", "0.0010", "999"]
    f = es.energy_test(X, groups=species, statistic="f", rng=0)
    assert rows_of_latex(f.to_latex())[0][2:4] == ["F", "df"]
    assert rows_of_latex(f.to_latex())[1][3] == "2, 147"
    approximate = es.energy_test(X, groups=species, method="asymptotic")
    assert rows_of_latex(approximate.to_latex())[0][-1] == "method"
    for alpha, squares in ((2.0, "SS"), (1.0, "dispersion")):
        table = rows_of_latex(es.disco(X, "~ species", data=iris, alpha=alpha, n_resamples=9, rng=0).to_latex())
        assert table[0] == ["", "Df", squares, "R2", "F", "p"]
        assert [line[0] for line in table[1:]] == ["species", "Residual", "Total"]
        assert [line[1] for line in table[1:]] == ["2", "147", "149"]
        assert table[3][4:] == ["-", "-"]
    pairs = es.pairwise_tests(X, species, n_resamples=19, rng=0)
    heads = ["group 1", "group 2", "n1", "n2", "E", "S/T", "p", "p adjusted", "p spread", "p spread, adjusted"]
    assert rows_of_latex(pairs.to_latex())[0] == heads
    plain = es.pairwise_tests(X, species, n_resamples=19, correction="none", rng=0)
    assert rows_of_latex(plain.to_latex())[0] == [*heads[:7], "p spread"]
    many = es.energy_test(np.arange(20.0), groups=np.arange(20) // 2, n_resamples=9, rng=0)
    assert rows_of_latex(many.to_latex())[1][0] == "10 groups"
    with pytest.raises(TypeError, match="`full` must be True or False"):
        many.to_markdown(full=1)


# ---------------------------------------------------------------- labels are no measures

CODES = [2450000.123, 2450000.456, 2450000.5]  # alike in six digits
PLACES = 2450000.123 + np.arange(60) / 1024


def cells_of(result):
    """All cells of the tables on paper, and whether they are in the summary too."""
    tables = [rows_of_latex(result.to_latex(full=full)) for full in (False, True)]
    tables += [rows_of_markdown(result.to_markdown(full=full)) for full in (False, True)]
    tables += [
        rows_of_markdown(result.to_markdown(floatfmt=".1f")),
        rows_of_latex(result.to_latex(float_format="%.1f")),
    ]
    return [[cell for row in table for cell in row] for table in tables]


@pytest.mark.parametrize(
    ("made", "labels"),
    [
        (lambda X, g: es.dispersion(X, g), CODES),
        (lambda X, g: es.pairwise_tests(X, g, n_resamples=9, rng=0), CODES),
        (lambda X, g: es.principal_coordinates(pd.DataFrame(abs(X[:3] - X[:3].T), CODES, CODES)), CODES),
        (lambda X, g: es.spectral_embedding(pd.DataFrame(X[:3], CODES), 2), CODES),
        (lambda X, g: es.segment(X, 2, order=PLACES), [PLACES[0], PLACES[39], PLACES[40], PLACES[59]]),
        (lambda X, g: es.segment_test(X, order=PLACES, n_resamples=99, rng=0), [PLACES[40]]),
        (lambda X, g: es.segment(X, 2, order=np.arange(60) + 2**62), [2**62 + 39, 2**62 + 40]),
    ],
    ids=["dispersion", "pairs", "coordinates", "embedding", "segment", "segment_test", "whole numbers"],
)  # fmt: skip
def test_labels_are_written_so_that_they_come_back(made, labels):
    X = np.random.default_rng(0).normal(size=(60, 1)) + 9.0 * (np.arange(60) >= 40)[:, None]
    found = made(X, np.repeat(CODES, 20))
    texts = {repr(label) if isinstance(label, int) else repr(float(label)) for label in labels}
    for cells in cells_of(found):
        assert texts <= set(cells)


def test_a_label_is_written_alike_in_all_columns_and_in_the_summary():
    g = np.repeat([0.5, 1.0, 2.0], 8)
    found = es.pairwise_tests(np.arange(24.0), g, n_resamples=9, rng=0)
    assert [row[:2] for row in rows_of_markdown(found.to_markdown())[1:]] == [["0.5", "1"], ["0.5", "2"], ["1", "2"]]
    assert "0.5 vs 1 " in found.summary()
    days = pd.date_range("2001-01-01", periods=24)
    cut = es.segment(np.arange(24.0), 2, order=days)
    assert rows_of_markdown(cut.to_markdown())[1][1:3] == ["2001-01-01", "2001-01-12"]
    named_p = es.dispersion(np.arange(24.0), pd.Series(g, name="p"))  # which is no p-value
    assert [row[0] for row in rows_of_markdown(named_p.to_markdown())] == ["p", "0.5", "1", "2"]


@pytest.mark.parametrize(
    ("label", "text"),
    [(1.0, "1"), (-0.0, "0"), (1e39, "1e+39"), (0.1 + 0.2, "0.30000000000000004"), (2450000.5, "2450000.5"),
     (np.float32(0.1), "0.1"), (2**70, str(2**70)), (True, "True"), ("1.0", "1.0"),
     (pd.Timestamp("2001-05-31"), "2001-05-31"), (pd.Timestamp("2001-05-31 12:00"), "2001-05-31 12:00:00")],
)  # fmt: skip
def test_labels_have_the_fewest_digits_that_give_them_back(label, text):
    from energystats.inputs.names import write_label

    assert write_label(label) == text


def test_every_column_of_labels_is_marked(result):
    """Columns of a table that a user's labels or order fill are those that a result marks."""
    names = {"group", "group1", "group2", "break", "from", "to"}
    assert names & set(result.to_frame(full=True).columns) == set(result._label_columns)


def test_unknown_columns_on_paper_are_named():
    result = es.energy_cluster(np.arange(10.0), 2)
    with pytest.raises(ValueError, match=r"`columns` must name columns, got 'siz'. Did you mean 'size'"):
        result.to_latex(columns=["siz"])
    with pytest.raises(ValueError, match=r"got 'zz'. Columns: 'cluster', 'size'"):
        result.to_markdown(columns=["size", "zz"])
