"""The report: what it says, that it is one file that fetches nothing, and that its calls give its numbers again."""

import base64
import html
import json
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.stats

import energystats as es
from energystats import cli, datasets
from energystats.display.numbers import p_text
from energystats.report import page as page_module
from energystats.report import pictures, study
from energystats.report.page import cluster_report
from tests.conftest import sweep

mpl.use("Agg")

VOID = {"meta", "img", "br"}
NASTY = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Tags that open and close in pairs, their attributes, and the text of every element by its path."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.attributes, self.text, self.ids = [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == [], "elements that are not closed"

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        last = self.open[-1] if self.open else ""
        self.text.setdefault(last, []).append(data)


def check_self_contained(text):
    """No script, no frame, no form, no address but data; SVG inside refers to nothing but itself."""
    reader = Reader(text)
    tags = {tag for tag, _, _ in reader.attributes} | set(reader.text)
    assert not tags & {"script", "link", "iframe", "object", "embed", "form", "base", "a", "video", "audio"}
    for tag, name, value in reader.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("src", "href", "data", "action", "srcset", "background", "poster"):
            assert value.startswith("data:image/")
            kind, content = value.split(",", 1)
            drawn = base64.b64decode(content, validate=True)
            if "svg" in kind:
                assert not re.search(rb"(?:href|src)=\"(?!#|data:)|url\((?!#)|<script|<foreignObject|@import", drawn)
            else:
                assert drawn.startswith(b"\x89PNG")
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert len(text.encode()) < 2_000_000
    assert len(reader.ids) == len(set(reader.ids))
    return reader


def python_code(text):
    return html.unescape(re.search(r"<h3>Python</h3>\s*<pre>(.*?)</pre>", text, re.DOTALL)[1])


def sections(text):
    return dict(re.findall(r'<section id="(\w+)">(.*?)</section>', text, re.DOTALL))


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """Stability takes most of the time of a validation, and what it says is tested elsewhere."""
    monkeypatch.setattr("energystats.cluster_tests.validate_clusters.STABILITY_RESAMPLES", 3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mixed_table(rng, n=60):
    table = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": rng.normal(40, 9, n).round(),
            "town": np.where(rng.random(n) < 0.7, "<b>C</b>", "A"),
            NASTY: rng.normal(size=n),
        }
    )
    table.loc[3:5, "age"] = np.nan
    return table


def iris_with(**columns):
    return datasets.load("iris").assign(**columns)


def few_irises(**columns):
    """Too few for a test: that a file is read alike shows in the clusters."""
    return iris_with(**columns)[::8]


CALLS = {
    "plain": (lambda rng: iris_with()[::3].to_csv("f.csv", index=False), ["f.csv", "-k", "2"]),
    "default k": (lambda rng: iris_with().to_csv("f.csv", index=False), ["f.csv", "--columns", "petal_length"]),
    "options": (lambda rng: iris_with()[::3].to_csv("f.csv", index=False),
                ["f.csv", "--alpha", "0.5", "--standardize", "--conservative", "--n-resamples", "99", "--seed", "5"]),
    "rows": (lambda rng: iris_with().to_csv("f.csv", index=False),
             ["f.csv", "--where", "species!=setosa", "--rows", "40:80,130:", "--drop", "petal_width"]),
    "conditions": (lambda rng: iris_with().to_csv("f.csv", index=False),
                   ["f.csv", "--where", "sepal_length>=5", "--where", "species=virginica"]),
    "scattered rows": (lambda rng: iris_with().to_csv("f.csv", index=False), ["f.csv", "--rows", "1:10,60,70,99:110"]),
    "gaps": (lambda rng: iris_with(sepal_width=np.where(np.arange(150) % 9, 3, np.nan)).to_csv("f.csv", index=False),
             ["f.csv", "--missing", "drop"]),
    "semicolons": (lambda rng: few_irises().to_csv("a&b\"<i>.csv", index=False, sep=";", decimal=","),
                   ['a&b"<i>.csv']),
    "latin-1": (lambda rng: few_irises(größe=1.5).to_csv("f.csv", encoding="latin-1", index=False),
                ["f.csv", "--encoding", "latin-1"]),
    "utf-16": (lambda rng: few_irises().to_csv("f.csv", encoding="utf-16", sep="\t", index=False), ["f.csv"]),
    "no header": (lambda rng: few_irises().to_csv("f.csv", index=False, header=False), ["f.csv", "--no-header"]),
    "comment": (lambda rng: Path("f.csv").write_text("# x\n" + few_irises().to_csv(index=False)),
                ["f.csv", "--comment", "#"]),
    "parquet": (lambda rng: few_irises().to_parquet("f.parquet"), ["f.parquet", "-k", "2"]),
    "gzip": (lambda rng: few_irises().to_csv("f.csv.gz", index=False), ["f.csv.gz"]),
    "chosen k": (lambda rng: iris_with()[::3].to_csv("f.csv", index=False),
                 ["f.csv", "--select", "gap", "--k-max", "4"]),
    "chosen beside a given k": (lambda rng: iris_with()[::3].to_csv("f.csv", index=False),
                                ["f.csv", "--select", "eigengap", "--k-max", "4", "-k", "2"]),
    "gower": (lambda rng: mixed_table(rng).to_csv("f.csv", index=False), ["f.csv", "--metric", "gower", "--id", "id"]),
    "matrix": (lambda rng: datasets.load("eurodist").to_csv("f.csv"), ["f.csv", "--metric", "precomputed", "-k", "4"]),
    "matrix with semicolons": (lambda rng: (datasets.load("eurodist") + 0.5).mask(np.eye(21) > 0, 0).to_csv(
                                   "f.csv", sep=";", decimal=","), ["f.csv", "--metric", "precomputed"]),
    "matrix from R": (lambda rng: Path("f.csv").write_text(datasets.load("eurodist").to_csv().split(",", 1)[1]),
                      ["f.csv", "--metric", "precomputed", "-k", "3"]),
    "matrix from Parquet": (lambda rng: datasets.load("eurodist").to_parquet("f.parquet"),
                            ["f.parquet", "--metric", "precomputed"]),
    "matrix without names": (lambda rng: np.savetxt("f.csv", datasets.load("eurodist"), delimiter=","),
                             ["f.csv", "--metric", "precomputed", "-k", "3"]),
    "one cluster": (lambda rng: iris_with()[::3].to_csv("f.csv", index=False), ["f.csv", "-k", "1"]),
}  # fmt: skip


FAST = ("plain", "rows", "gower", "one cluster")
UNTESTED = ("semicolons", "latin-1", "utf-16", "no header", "comment", "parquet", "gzip")
DRAWN_SMALL = ("plain", "gower", "chosen k", "matrix without names", "one cluster")
BLANK = pictures.Picture(f"data:image/png;base64,{base64.b64encode(bytes([0x89]) + b'PNG').decode()}", 640)


def draw_small(draw):
    """Draw every mark, once and in few dots."""
    figure = draw().figure
    figure.set_layout_engine("none")
    figure.set_dpi(30)
    figure.canvas.draw()
    plt.close(figure)
    return BLANK


@pytest.mark.filterwarnings("ignore::energystats.EnergyStatsWarning")
@pytest.mark.parametrize("name", sweep(CALLS, FAST))
def test_the_calls_give_the_same_again(folder, rng, capsys, monkeypatch, name):
    """Pictures are drawn in few dots where the kind of the data decides on them; in full by test_texts_stay_text."""
    write, words = CALLS[name]
    if name in DRAWN_SMALL:
        monkeypatch.setattr(pictures, "draw_picture", draw_small)
    else:
        monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    if name not in ("plain", "options", "one cluster", *UNTESTED):
        words = [*words, "--n-resamples", "9"]
    write(rng)
    assert cli.main(["cluster", *words, "--report", "out.html", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    text = (folder / "out.html").read_text(encoding="utf-8")
    check_self_contained(text)
    scope = {}
    exec(python_code(text), scope)
    assert scope["found"].labels.tolist() == answer["partition"]["labels"]
    assert scope["found"].within == pytest.approx(answer["partition"]["within"], rel=1e-12)
    assert (answer["test"] is None) == (name in UNTESTED or name in ("gower", "one cluster"))
    if answer["test"] is None:
        assert "test" not in scope
    else:
        assert scope["test"].pvalue == answer["test"]["pvalue"]
        assert scope["test"].n_resamples == answer["test"]["n_resamples"]
        if "validated" in scope:
            assert scope["validated"].to_frame()["pvalue"][0] == scope["test"].pvalue
    if answer["selection"] is not None:
        assert scope["selection"].k == answer["selection"]["k"]
    command = html.unescape(re.search(r"<h3>Command line</h3>\s*<pre>(.*?)</pre>", text, re.DOTALL)[1])
    assert shlex.split(command) == ["energystats", "cluster", *words, "--report", "out.html", "--json"]
    if name in ("rows", "semicolons", "matrix"):
        assert cli.main([*shlex.split(command)[1:]]) == 0
        assert json.loads(capsys.readouterr().out)["partition"] == answer["partition"]
        assert (folder / "out.html").read_text(encoding="utf-8") == text  # nothing depends on when it was made


def test_what_it_says_of_the_irises(monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)  # those of the irises are drawn above
    iris = datasets.load("iris").drop(columns="species")
    text = cluster_report(iris, 3, n_resamples=19, title="iris")
    reader = check_self_contained(text)
    parts = sections(text)
    assert list(parts) == [
        "data", "partition", "dispersion", "significance", "clusters", "pairs", "methods", "reproduction",
    ]  # fmt: skip
    deviations = iris.std(ddof=0)
    assert "standard deviation (divisor n)" in text
    assert all(f"{deviation:.6g}" in text for deviation in deviations)
    found = es.energy_cluster(iris, 3, rng=0)
    words = " ".join(piece for pieces in reader.text.values() for piece in pieces)
    test = es.cluster_test(iris, 3, n_resamples=19, rng=0)
    assert "divided into 3 clusters of 62, 50 and 38 rows. The number 3 was given." in words
    assert f"{p_text(test.pvalue)}, which is evidence against it" in words
    assert "it does not show that each of these clusters, or their number, is real" in words
    assert "1 of 150 rows are equal to an earlier row" in words
    assert found._repr_html_() in parts["dispersion"]  # every number of the result, in its own words
    assert "local optimum" in parts["dispersion"]
    assert test._repr_html_() in parts["significance"]
    for j in range(3):
        for mean in iris[found.labels == j].mean():
            assert f"<td class=n>{mean:.6g}</td>" in parts["partition"]
        for i in range(j):
            E = es.energy_distance(iris[found.labels == i], iris[found.labels == j])
            assert f"{E:.6g}" in parts["pairs"]
    assert "No p-values are given" in parts["pairs"]
    assert "p =" not in parts["pairs"]
    assert "França" in parts["methods"]
    assert words.count("p = 0 ") == 0


def test_representatives_are_the_rows_nearest_to_their_clusters(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = pd.DataFrame(rng.standard_normal((40, 3)) + 4 * (np.arange(40) % 2)[:, None])
    text = cluster_report(X, 2, metric="cityblock", alpha=0.7, n_resamples=9)
    R = es.pairwise(X, metric="cityblock", alpha=0.7).to_numpy()
    labels = es.energy_cluster(X, 2, metric="cityblock", alpha=0.7, rng=0).labels
    for j in range(2):
        rows = np.flatnonzero(labels == j)
        nearest = rows[np.argmin([sum(R[i, m] for m in rows) for i in rows])]
        assert f"<td class=n>row {nearest + 1}</td></tr>" in sections(text)["partition"]


def test_a_column_that_a_cluster_has_no_values_of(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    frame = pd.DataFrame({"a": np.repeat([0.0, 9.0], 20) + np.arange(40) / 100})
    for kind in ("Int64", "float"):
        frame["gone"] = pd.array([None] * 20 + list(range(20)), dtype=kind)
        page = sections(cluster_report(frame, 2, metric="gower", n_resamples=19))["partition"]
        cells = re.findall("<td class=n>(.*?)</td>", page[page.index(">gone<") :])
        assert sorted(cells[:2]) == ["-", "9.5"]


def test_a_report_may_have_a_long_name(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    path = tmp_path / ("a" * 245 + ".html")
    cluster_report(rng.normal(size=(30, 2)), 2, path=path, n_resamples=19)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("metric", ["euclidean", es.metrics.Gower(weights={"x": 2.0})])
def test_tables_of_arrow_have_their_columns(metric, rng, monkeypatch):
    """They were called column 0, column 1, ..., and a weight by name was refused."""
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    frame = pd.DataFrame(rng.standard_normal((30, 2)) + 9 * (np.arange(30) % 2)[:, None], columns=["x", "y"])
    if metric != "euclidean":
        frame["kind"] = list("abc") * 10
    pages = [
        cluster_report(table, 2, metric=metric, n_resamples=9)
        for table in (frame, pa.Table.from_pandas(frame, preserve_index=False))
    ]
    assert pages[0] == pages[1]
    assert "<td>2: x, y</td>" in pages[1] or "<td>3: x, y, kind</td>" in pages[1]


def test_captions_name_no_axes_that_the_picture_lacks(rng, monkeypatch):
    """Rows are drawn along discriminant axes or columns, too, by the number of these and the metric."""
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = rng.standard_normal((40, 3)) + 9 * (np.arange(40) % 2)[:, None]
    for table, metric in ((X, "mahalanobis"), (X[:, :2], "euclidean")):
        page = cluster_report(table, 2, metric=metric, n_resamples=9)
        captions = " ".join(re.findall(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL))
        assert "the rows on the axes that the picture names" in captions
        assert "principal" not in captions


def sums_of_differences(X, Y):
    return np.abs(X[:, None] - Y[None]).sum(axis=2)


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (es.metrics.Euclidean(1.5), "Euclidean(alpha=1.5)"),
        (es.metrics.SciPyMetric("minkowski", params={"p": 3, "w": [1.0, 2.0]}), "SciPyMetric(name='minkowski'"),
        (sums_of_differences, "sums_of_differences"),
        ("cityblock", None),
    ],
)
def test_calls_name_the_metric_that_was_given(metric, shown, rng, monkeypatch):
    """What objects print is no Python, or another object."""
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = rng.standard_normal((40, 2)) + 9 * (np.arange(40) % 2)[:, None]
    code = python_code(cluster_report(X, 2, metric=metric, alpha=np.float64(1), n_resamples=9, conservative=np.True_))
    exec(code, scope := {"X": X, "metric": metric})
    assert scope["found"].within == es.energy_cluster(X, 2, metric=metric, rng=0).within
    assert scope["test"].pvalue <= 1
    assert (shown is None) == ("# metric: that of this report" not in code)
    assert shown is None or shown in code.split("# metric: ")[1].splitlines()[0]


@pytest.mark.filterwarnings("ignore::energystats.EnergyStatsWarning")
def test_texts_stay_text(folder, rng, capsys):
    table = mixed_table(rng).rename(columns={"town": 'to"wn&'})
    table.to_csv('a&b"<i>.csv', index=False)
    words = [
        "cluster",
        'a&b"<i>.csv',
        "--metric",
        "gower",
        "--id",
        "id",
        "--report",
        "out.html",
        "--quiet",
        "--resamples",
        "9",
    ]
    assert cli.main(words) == 0
    text = (folder / "out.html").read_text(encoding="utf-8")
    reader = check_self_contained(text)
    assert NASTY not in text
    assert html.escape(NASTY) in text
    assert reader.text["h1"] == ['Energy clustering of a&b"<i>.csv']
    assert reader.text["title"] == ['Energy clustering of a&b"<i>.csv']
    assert any("<b>C</b>" in piece for piece in reader.text["td"])
    assert "not tested" in text
    assert 'to"wn&' in reader.text["th"]


@pytest.mark.slow
def test_large_p_is_no_evidence_of_one_cluster(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    text = cluster_report(rng.standard_normal((60, 2)), 2)
    p = float(re.search(r"was tested: p = ([0-9.e-]+), which", text)[1])
    if p > 0.05:
        assert "which is no evidence against it at the level .05. Nor is it evidence that there is only one" in text
    else:
        assert "which is evidence against it" in text


def test_one_column_is_exact(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    x = np.r_[rng.normal(0, 1, 40), rng.normal(9, 1, 50)]
    text = cluster_report(pd.Series(x, name="height"), 2, n_resamples=9)
    assert "the least W of all intervals" in sections(text)["dispersion"]
    assert "breaks between clusters" in sections(text)["partition"]
    assert "None" not in re.sub(r"base64,[^\"]*", "", text)


EDGES = {
    "sixty columns": lambda rng: (rng.standard_normal((30, 60)), 2),
    "one cluster": lambda rng: (rng.standard_normal((30, 2)), 1),
    "all points coincide": lambda rng: (np.ones((30, 2)), 1),
    "a constant column": lambda rng: (np.column_stack([rng.standard_normal(50), np.ones(50)]), 2),
    "few rows": lambda rng: (rng.standard_normal((5, 2)), 3),
    "as many clusters as rows": lambda rng: (rng.standard_normal((6, 2)), 6),
    "many clusters": lambda rng: (rng.standard_normal((60, 2)), 21),
    "two points": lambda rng: ([[0.0], [1.0]], 2),
    "huge and tiny numbers": lambda rng: (rng.standard_normal((40, 2)) * [1e60, 1e60], 2),
}


@pytest.mark.filterwarnings("ignore::energystats.EnergyStatsWarning")
@pytest.mark.parametrize("name", sweep(EDGES, ["all points coincide", "few rows"]))
def test_edges(rng, monkeypatch, name):
    """Pictures are written in full where numbers are large, and drawn in few dots elsewhere."""
    if name != "huge and tiny numbers":
        monkeypatch.setattr(pictures, "draw_picture", draw_small)
    X, k = EDGES[name](rng)
    text = cluster_report(X, k, n_resamples=3)
    reader = check_self_contained(text)
    assert ("pairs" in sections(text)) == (k > 1)
    body = re.sub(r"<style>.*?</style>|base64,[^\"]*", "", text, flags=re.DOTALL)
    assert not re.search(r"\bnan\b|\binf\b|np\.float64|Traceback", body), name
    if name == "a constant column":
        assert any("Constant, and so without any influence: column 1" in piece for piece in reader.text["li"])


@pytest.mark.slow
def test_many_rows_stay_small(rng):
    X = rng.standard_normal((1200, 4)) + 5 * (np.arange(1200) % 2)[:, None]
    text = cluster_report(X, 2, n_resamples=3)
    check_self_contained(text)
    assert "data:image/png" in text  # a drawing of so many marks would be larger than its dots
    assert len(text) < 600_000
    assert "The cluster of each of the 1200 rows is not printed here" in text


def test_complete_or_absent(folder, rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = rng.standard_normal((30, 2))
    assert cluster_report(X, 2, path="out.html", n_resamples=9) == (folder / "out.html").read_text(encoding="utf-8")
    before = (folder / "out.html").read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(page_module.Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        cluster_report(X + 1, 2, path="out.html", n_resamples=9)
    assert (folder / "out.html").read_bytes() == before
    pd.DataFrame(X, columns=["a", "b"]).to_csv("f.csv", index=False)
    assert cli.main(["cluster", "f.csv", "--report", "new.html", "--n-resamples", "9"]) == 2
    assert sorted(p.name for p in folder.iterdir()) == ["f.csv", "out.html"]


def test_prints_and_fits_a_phone(rng, monkeypatch):
    """A browser finds a viewport, wide tables that scroll, heads repeated on every page, A4."""
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    page = cluster_report(rng.standard_normal((30, 2)), 1, n_resamples=9)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    for rule in (
        "size: A4",
        "display: table-header-group",
        "break-inside: avoid",
        "overflow-x: auto",
        "max-width: 100%",
    ):
        assert rule in style
    assert style.count("{") == style.count("}")


def test_a_report_on_one_cluster_describes_no_search_and_no_bound(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    page = cluster_report(rng.standard_normal((30, 2)), 1, n_resamples=9)
    for absent in ("The search went", "dashed line is the bound", "W after every pass", "Clusters minimise"):
        assert absent not in page
    assert "With one cluster W is T" in page


def test_a_test_of_other_clusters_than_the_leaves_of_a_tree_says_so(rng):
    X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in ((0, 0), (9, 0), (0, 9), (9, 9))])
    test, leaves = es.cluster_test(X, 4, n_splits=1, rng=0), np.arange(120) % 4
    found = replace(test.partition, labels=leaves, algorithm="cluster_tree")
    told = study._with_note_on_leaves(test, found)
    assert told.notes[0].startswith("The test is of other clusters than those found by the tree of splits")
    assert "Caution: The test is of other clusters" in told.summary()
    for same in (replace(found, labels=test.partition.labels), replace(found, algorithm="hartigan")):
        assert study._with_note_on_leaves(test, same) is test


def test_a_chosen_number_of_one_is_an_estimate_and_one_column_needs_no_choice(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    places = scipy.stats.norm.ppf((np.arange(8) + 0.5) / 8)
    grid = np.stack(np.meshgrid(places, places), axis=-1).reshape(64, 2)
    one = " ".join(cluster_report(grid, select="gap", k_max=2, n_resamples=49).split())
    assert "64 rows are in one cluster: nothing was divided." in one
    assert "chosen from the same data, by gap: an estimate, and no evidence that there is only one cluster." in one
    choice = "The p-value does not allow for the choice of k on the same data."
    apart = np.r_[rng.normal(size=30), rng.normal(size=30) + 9]
    column = " ".join(cluster_report(apart, select="gap", k_max=3, n_resamples=49).split())
    assert choice not in column
    table = np.c_[apart, rng.normal(size=60)]
    assert choice in " ".join(cluster_report(table, select="gap", k_max=3, n_resamples=49).split())
    # p of all points is that of a tree, whose level allows for the number of its leaves
    assert choice not in " ".join(cluster_report(table, select="significance", k_max=3).split())


def test_the_report_names_the_three_indices(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = rng.standard_normal((40, 2))
    page = cluster_report(X, 2, n_resamples=19)
    for name in (
        "excess-split index E",
        "log likelihood ratio",
        "distance from unimodality",
        "dashed line is the bound",
    ):
        assert name in page


@pytest.mark.slow
def test_the_seed_is_printed_and_repeats_the_report(rng, monkeypatch):
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)  # that these repeat is seen above
    X = rng.standard_normal((40, 2))
    page = cluster_report(X, 2, n_resamples=9, rng=5)
    assert "rng=5)" in page
    assert "Seed 5. The same seed" in page
    drawn = cluster_report(X, 2, n_resamples=9, rng=None)
    seed = int(drawn.split("Seed ")[1].split(".")[0])
    assert f"rng={seed})" in drawn
    assert cluster_report(X, 2, n_resamples=9, rng=seed) == drawn


@pytest.mark.parametrize("rng_given", [np.random.default_rng(0), "7", 1.5, True])
def test_the_report_needs_a_seed_that_can_be_printed(rng_given):
    with pytest.raises(TypeError, match=r"`rng` must be a seed .*: the report prints calls that give the same numbers"):
        cluster_report(np.eye(4)[:, :2], 2, rng=rng_given)
    with pytest.raises(ValueError, match="`rng` must be at least 0, got -1"):
        cluster_report(np.eye(4)[:, :2], 2, rng=-1)


def test_seed_is_no_argument_any_more():
    with pytest.raises(TypeError, match="seed"):
        cluster_report(np.eye(4)[:, :2], 2, seed=1)


@pytest.mark.slow
def test_leaves_of_a_tree_are_described_as_such(rng, monkeypatch):
    """The lead, the methods and the validation are those of the clusters that are shown."""
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: BLANK)
    X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in ([0, 0], [20, 0])])
    page = " ".join(cluster_report(X, select="significance", k_max=3).split())
    assert "The clusters are those of cluster_tree, which did not look for the smallest W." in page
    assert "kernel k-means" not in page
    assert "read the p-values of the tree" not in page  # a search finds the same
    assert "the two clusters are separate" in page
    bars = np.column_stack((rng.normal(0, 10, 120), np.repeat([0, 9], 60) + rng.normal(size=120)))
    chosen = " ".join(cluster_report(bars, select="significance", k_max=3, n_resamples=99).split())
    assert "Not used where a tree of tests chooses k, whose draws follow from its level: `n_resamples`." in chosen
    assert "belongs to other clusters" not in chosen
    assert "its merges are the splits of the tree" in chosen
    assert "es.validate_clusters(X, partition=selection, rng=0)" in chosen
    assert "es.cluster_test(X, 2, rng=0)" in chosen
    given = " ".join(cluster_report(bars, 2).split())
    assert "belongs to other clusters than those below: The clusters show in decorrelated columns" in given
    assert ".The " not in given


def test_contrasts_of_other_clusters_have_names_of_their_own(rng):
    """Cluster 0 of the test is not cluster 0 of the report where the test found its clusters in another space."""
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    found = es.energy_cluster(X, 3, rng=0)
    own = es.cluster_test(X, 3, n_resamples=19, n_splits=1, rng=0)
    same = replace(own, partition=found)
    assert study._name_its_clusters(same, found) is same
    others = replace(own, partition=replace(found, labels=np.roll(found.labels, 1)))
    names = [row.name for row in study._name_its_clusters(others, found).rows]
    assert names == [f"the test's cluster {j} vs rest" for j in range(3)]
