"""The site names everything: each public name in the reference, each vignette in the list, each link a page."""

import re
from pathlib import Path

import pytest

import energystats as es

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
VIGNETTES = {path.stem for path in (ROOT / "vignettes").glob("*.md")}
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((ROOT / "vignettes").glob("*.md"))]
LINK = re.compile(r"\]\(([\w./-]+\.md)\)")


def entries(path):
    """Lines of a page that are one indented or plain name, as in a toctree or a summary."""
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines() if re.fullmatch(r" *[\w./-]+", line)}


def test_every_public_name_is_in_the_reference():
    listed = entries(DOCS / "api.rst")
    expected = {name for name in es.__all__ if name not in ("metrics", "datasets")}
    for module in ("metrics", "datasets"):
        expected |= {f"{module}.{name}" for name in getattr(es, module).__all__}
    assert expected <= listed, expected - listed
    assert {name for name in listed if name.split(".")[0] in ("metrics", "datasets")} <= expected


def test_every_vignette_is_in_the_list():
    assert entries(DOCS / "vignettes" / "index.md") == VIGNETTES


@pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_links_lead_to_pages(page):
    home = DOCS / "vignettes" if page.parent.name == "vignettes" else DOCS
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (home / target).resolve()
        assert path.stem in VIGNETTES or path.exists(), target
