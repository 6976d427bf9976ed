"""The site names everything: each public name in the reference, each page in a list, each link and picture a file."""

import ast
import doctest
import json
import re
import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import energystats as es
from benchmarks import page as benchmark_page
from tests.conftest import sweep

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import gallery  # noqa: E402

mpl.use("Agg")
VIGNETTES = {path.stem for path in (ROOT / "vignettes").glob("*.md")}
RECIPES = {path.stem for path in (DOCS / "howto").glob("*.md")} - {"index"}
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "howto").glob("*.md")),
    *sorted((ROOT / "vignettes").glob("*.md")),
    ROOT / "README.md",
]
EXAMPLES = runpy.run_path(str(DOCS / "examples.py"))["EXAMPLES"]
LINK = re.compile(r"\]\(([^()\s]+)\)")
MODULES = ("metrics", "datasets", "report")
NAME = re.compile(r"\bes\.((?:metrics\.|datasets\.)?[A-Za-z_]\w*)")


def entries(path):
    """Lines of a page that are one indented or plain name, as in a toctree or a summary."""
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines() if re.fullmatch(r" *[\w./-]+", line)}


def in_reference(path):
    """Names that a page of the reference documents: in a summary with pages of its own, or on the page itself."""
    text = path.read_text(encoding="utf-8")
    return entries(path) | set(re.findall(r"^\.\. auto(?:class|exception):: (\S+)$", text, re.MULTILINE))


def trees(text):
    """Pages that a page lists in its trees of contents."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    blocks += re.findall(r"^\.\. toctree::\n((?:[ ]+.*\n|\n)*)", text, re.MULTILINE)
    lines = [
        re.sub(r".*<(.+)>", r"\1", line.strip()) for block in blocks for line in block.splitlines()
    ]  # "Words <page>"
    return [line for line in lines if re.fullmatch(r"[\w./-]+", line)]


def slugs(text):
    """Anchors of the headings, as the site makes them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def broken(text, home):
    """Links and pictures of a page that lead to no file, or to no heading of one; vignettes are copied by the build."""
    gone = []
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (home / target).resolve() if target else None
        if path is not None and path.parent == DOCS / "vignettes" and path.stem in VIGNETTES:
            path = ROOT / "vignettes" / path.name
        exists = path is None or path.exists()
        page = text if path is None else path.read_text(encoding="utf-8") if exists and path.suffix == ".md" else ""
        if not exists or (anchor and anchor not in slugs(page)):
            gone.append(link)
    return gone


def unknown_names(text):
    """`es.` names of a page that are not public."""
    public = {*es.__all__, "__version__"}
    for module in ("metrics", "datasets"):
        public |= {f"{module}.{name}" for name in getattr(es, module).__all__}
    return sorted({name for name in NAME.findall(text) if name not in public and name != "datasets.make_"})


def test_every_public_name_is_in_the_reference():
    listed = set().union(*map(in_reference, (DOCS / "reference").glob("*.rst")))
    expected = {name for name in es.__all__ if name not in MODULES}
    for module in ("metrics", "datasets"):
        expected |= {f"{module}.{name}" for name in getattr(es, module).__all__}
    assert expected <= listed, expected - listed
    assert {name for name in listed if name.split(".")[0] in ("metrics", "datasets")} <= expected


def test_every_page_is_in_one_list():
    pages = [
        *DOCS.glob("*.md"),
        *DOCS.glob("*.rst"),
        *(DOCS / "howto").glob("*.md"),
        *(DOCS / "reference").glob("*.rst"),
    ]
    names = {path.relative_to(DOCS).with_suffix("").as_posix() for path in pages} - {"index"}
    names |= {f"vignettes/{name}" for name in VIGNETTES | {"index"}}
    listed = []
    for path in pages:
        home = path.parent.relative_to(DOCS)
        listed += [(home / name).as_posix() for name in trees(path.read_text(encoding="utf-8"))]
    assert sorted(listed) == sorted(names)
    assert set(trees((DOCS / "howto" / "index.md").read_text(encoding="utf-8"))) == RECIPES


def test_a_list_names_its_pages():
    text = "```{toctree}\n:hidden:\n\nAn a? <a/b>\n```\n\n.. toctree::\n   :maxdepth: 2\n\n   c\n\nd\n"
    assert trees(text) == ["a/b", "c"]


def test_every_vignette_is_among_all_vignettes():
    listed = re.findall(
        r"^\* \[(.*)\]\(([\w-]+)\.md\)$", (DOCS / "vignettes" / "index.md").read_text(encoding="utf-8"), re.M
    )
    heads = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "vignettes").glob("*.md")}
    assert {name: title for title, name in listed} == {
        name: re.search(r"^# (.+)$", text, re.MULTILINE)[1] for name, text in heads.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_links_lead_to_pages(page):
    text = page.read_text(encoding="utf-8")
    home = DOCS / "vignettes" if page.parent.name == "vignettes" else page.parent
    assert not broken(text, home)
    assert not unknown_names(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_modules_that_pages_name_exist(page):
    named = set(re.findall(r"`(\w+/\w+\.py)`", page.read_text(encoding="utf-8")))
    missing = {name for name in named if not (ROOT / name).exists() and not (ROOT / "energystats" / name).exists()}
    assert not missing


def test_broken_links_and_unknown_names_are_found():
    text = "# A b\n[](gone.md) [](#a-b) [](#no) ![p](figures/no.png) [t](theory.md#2-energy-distance) [](theory.md#0)"
    assert broken(text, DOCS) == ["gone.md", "#no", "figures/no.png", "theory.md#0"]
    assert broken("[a](../vignettes/first-test.md) [b](../vignettes/last-test.md)", DOCS / "howto") == [
        "../vignettes/last-test.md"
    ]
    assert unknown_names("es.energy_tets(x), es.metrics.Gower(), es.metrics.Gauss()") == [
        "energy_tets",
        "metrics.Gauss",
    ]


PICTURES = gallery.read_page(gallery.PAGE.read_text(encoding="utf-8"))


def test_the_gallery_shows_every_public_plot():
    """A method that several classes inherit is shown once."""
    shown = {gallery.public_plots()[picture.method] for picture in PICTURES}
    missing = [name for name, function in gallery.public_plots().items() if function not in shown]
    assert not missing
    assert len(shown) > 30


def test_every_picture_of_the_gallery_has_its_file_and_no_file_is_left_over():
    names = [picture.name for picture in PICTURES]
    assert sorted(path.name for path in (DOCS / "figures").glob("plot-*.png")) == sorted(
        f"plot-{name}.png" for name in names
    )
    assert len({picture.title for picture in PICTURES}) == len(names), "titles are the anchors"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda p: p.name)
def test_pictures_are_made_by_five_lines_that_stand_alone(picture):
    lines = [line for line in picture.code.splitlines() if line and not line.startswith(("import ", "from "))]
    assert 1 <= len(lines) <= 5
    assert "import energystats as es\n" in picture.code
    assert len(picture.alt) > 10
    called = ast.parse(lines[-1]).body[0].value.func
    assert called.attr == picture.method.rpartition(".")[2]


@pytest.mark.parametrize(
    "picture", sweep(PICTURES, [p for p in PICTURES if p.name == "within"]), ids=lambda picture: picture.name
)
def test_pictures_are_drawn_inside_their_figure(picture):
    """Nothing warns, the method is the one that the page names, and no title is cut off."""
    import matplotlib.pyplot as plt

    axes = gallery.draw(picture)
    axes.figure.draw_without_rendering()
    for ax in axes.figure.axes:
        for title in (ax.title, ax._left_title, ax._right_title):
            assert title.get_window_extent().x1 <= axes.figure.bbox.x1 + 1
    plt.close("all")


def test_a_section_without_its_parts_and_a_call_of_another_method_are_noticed():
    text = "## g\n\n### One\n\n`Dispersion.plot`: words.\n\n```python\n{}\n```\n\n![words](figures/plot-one.png)\n"
    with pytest.raises(ValueError, match=r"a title, a method, code and a picture, got \['One'\]"):
        gallery.read_page(text.replace("`: words", " words"))
    code = "import energystats as es\nes.dispersion([1.0, 2.0], ['a', 'b']).plot_decomposition()"
    [picture] = gallery.read_page(text.format(code))
    with pytest.raises(ValueError, match=r"must call Dispersion.plot alone, got \['Dispersion.plot_decomposition'\]"):
        gallery.draw(picture)


def test_the_site_shows_the_pictures_of_its_build():
    page = "![a](../figures/plot-a.png) ![b](figures/plot-b.png) ![c](figures/growth.png)"
    fresh = gallery.with_fresh_pictures(page)
    assert LINK.findall(fresh) == ["../built/plot-a.png", "built/plot-b.png", "figures/growth.png"]


def test_the_benchmark_page_has_the_numbers_of_the_results():
    for page, write in benchmark_page.WRITTEN.items():
        text = page.read_text(encoding="utf-8")
        assert text == benchmark_page.with_tables(text, write()), page.name
    text = benchmark_page.PAGE.read_text(encoding="utf-8")
    speed = benchmark_page.load("speed.json")
    assert speed["environment"]["versions"]["numpy"] in text
    beside = next(row for row in speed["rows"] if row["peer_seconds"])
    assert f"| {beside['peer_seconds'] / beside['seconds']:.3g} |" in text


def test_a_number_or_mark_that_was_changed_by_hand_is_noticed():
    text = benchmark_page.PAGE.read_text(encoding="utf-8")
    assert benchmark_page.with_tables(text, {"speed": "changed"}) != text
    with pytest.raises(ValueError, match="one mark 'gone', got 0"):
        benchmark_page.with_tables(text, {"gone": ""})


def resolved(name):
    """A public name of the package or of its modules."""
    home, _, last = name.rpartition(".")
    return getattr(getattr(es, home) if home else es, last)


@pytest.mark.parametrize(
    "name",
    sweep(
        EXAMPLES,
        [
            name
            for name in EXAMPLES
            if name not in ("ClusterValidationResult", "ClusterTreeResult", "PowerResult", "TiesWarning")
        ],
    ),
)
def test_examples_of_the_site_run(name):
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    assert test.examples
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


def test_every_public_name_has_an_example_once():
    names = {name for name in es.__all__ if name not in MODULES}
    for module in ("metrics", "datasets"):
        names |= {f"{module}.{name}" for name in getattr(es, module).__all__}
    without = {name for name in names if not callable(resolved(name)) or ">>>" not in (resolved(name).__doc__ or "")}
    assert without == set(EXAMPLES)


def test_the_table_of_poisson_tests_has_the_numbers_of_the_results():
    found = json.loads((ROOT / "benchmarks" / "results" / "poisson_fit.json").read_text())
    page = (ROOT / "docs" / "distribution-tests.md").read_text()
    table = page.split("<!-- poisson -->\n")[1].split("\n<!-- end -->")[0].splitlines()[2:]
    assert table == [
        f"| {row['population']} | {row['n']} | {row['E']:.2f} | {row['M-CvM']:.2f} | {row['M-AD']:.2f} |"
        for row in found["rows"]
    ]
    assert (found["n_samples"], found["n_resamples"], found["level"]) == (400, 199, 0.05)
    assert [row["population"].startswith("Poisson(") for row in found["rows"][:7]] == [True] * 6 + [False]
    assert all(row["E"] < 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5 for row in found["rows"][:6])


def test_no_function_grows_faster_than_its_docstring_says():
    for row in benchmark_page.load("growth.json")["rows"]:
        for found, documented in zip(row["exponents"], row["documented"], strict=True):
            # tables that outgrow the cache of the processor cost more a number
            assert found is None or found <= documented + 0.4, row["function"]


def test_the_paper_has_the_parts_of_its_journal_and_cites_what_it_lists():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    listed = set(
        re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    )
    front, body = re.match(r"\A---\n(.*?)^---$(.*)", text, re.MULTILINE | re.DOTALL).groups()
    assert set(re.findall(r"(?<!\w)@(\w+)", body)) == listed
    heads = ["Summary", "Statement of need", "State of the field", "Research use", "Acknowledgements", "References"]
    assert re.findall(r"^# (.+)$", body, re.MULTILINE) == heads
    for field in ("title", "tags", "authors", "affiliations", "date", "bibliography"):
        assert re.search(rf"^{field}:", front, re.MULTILINE), field
    words = len(re.sub(r"<!--.*?-->|^\|.*$", "", body, flags=re.MULTILINE).split())
    assert 250 <= words <= 1000  # what the journal asks for
