"""The gallery of pictures: `plots.md` holds the code of each, which draws it when the site is built.

`read_page` finds the pictures of the page, `draw` runs the code of one and makes sure that it calls the method that the
page names, and `Thumbnails` is the directive that shows all of them as small links to their sections.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from matplotlib.axes import Axes

import energystats as es
from energystats.display.result import Result

PAGE = Path(__file__).with_name("plots.md")
SECTION = re.compile(
    r"^### (?P<title>[^\n]+)\n\n"
    r"`(?P<method>[\w.]+)`: [^#]+?\n\n"
    r"```python\n(?P<code>.*?)```\n\n"
    r"!\[(?P<alt>[^\]]+)\]\(figures/plot-(?P<name>[\w-]+)\.png\)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Picture:
    """One section of the page."""

    name: str
    title: str
    method: str  # "Partition.plot_means", or a function
    code: str
    alt: str
    group: str


def read_page(text: str) -> list[Picture]:
    """Pictures of the page, in order; a section without its parts is an error."""
    found = []
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        group = part.splitlines()[0].removeprefix("## ")
        sections = list(SECTION.finditer(part))
        titles = re.findall(r"^### (.+)$", part, re.MULTILINE)
        broken = set(titles) - {section["title"] for section in sections}
        if broken or not titles:
            raise ValueError(f"sections want a title, a method, code and a picture, got {sorted(broken) or [group]}")
        found += [Picture(s["name"], s["title"], s["method"], s["code"], s["alt"], group) for s in sections]
    return found


def public_plots() -> dict[str, Callable[..., Axes]]:
    """Name -> function of everything public that draws; what several classes inherit stands under each of them."""
    found = {}
    for name in es.__all__:
        thing = getattr(es, name)
        if inspect.isclass(thing) and issubclass(thing, Result):
            methods = [method for method in dir(thing) if method.startswith("plot")]
            found |= {f"{name}.{method}": getattr(thing, method) for method in methods}
        elif name.startswith("plot"):
            found[name] = thing
    return found


@contextmanager
def calls_recorded() -> Iterator[set[Callable[..., Axes]]]:
    """Functions of `public_plots` that are called inside the block, less those that such a function calls."""
    called: set[Callable[..., Axes]] = set()
    depth = 0

    def record(function: Callable[..., Axes]) -> Callable[..., Axes]:
        @functools.wraps(function)
        def recorded(*arguments: Any, **options: Any) -> Axes:
            nonlocal depth
            if depth == 0:
                called.add(function)
            depth += 1
            try:
                return function(*arguments, **options)
            finally:
                depth -= 1

        return recorded

    places = [(getattr(es, home) if home else es, last, function)
              for name, function in public_plots().items() for home, _, last in [name.rpartition(".")]]  # fmt: skip
    inherited = [last not in vars(owner) for owner, last, _ in places]
    for owner, last, function in places:
        setattr(owner, last, record(function))
    try:
        yield called
    finally:
        for (owner, last, function), from_base in zip(places, inherited, strict=True):
            if from_base:
                delattr(owner, last)
            else:
                setattr(owner, last, function)


def draw(picture: Picture) -> Axes:
    """Run the code of a picture; its last line is the call that draws."""
    *before, last = picture.code.strip().splitlines()
    namespace: dict[str, Any] = {}
    with calls_recorded() as called:
        exec("\n".join(before), namespace)
        axes = eval(last, namespace)
    if called != {public_plots()[picture.method]}:
        names = sorted(function.__qualname__ for function in called)
        raise ValueError(f"the code of {picture.title!r} must call {picture.method} alone, got {names}")
    return axes


class Thumbnails(Directive):
    """All pictures of the page as small links, by group."""

    def run(self) -> list[nodes.Node]:
        """Make one container of links for each group."""
        pictures = read_page(PAGE.read_text(encoding="utf-8"))
        made: list[nodes.Node] = []
        for group in dict.fromkeys(picture.group for picture in pictures):
            box = nodes.container(classes=["thumbnails"])
            for picture in pictures:
                if picture.group == group:
                    link = nodes.reference("", "", internal=True, refid=nodes.make_id(picture.title))
                    link += nodes.image(uri=f"{FRESH}/plot-{picture.name}.png", alt="")
                    link += nodes.inline("", picture.title)
                    box += nodes.paragraph("", "", link)
            made += [nodes.paragraph("", "", nodes.strong("", group)), box]
        return made


FRESH = "built"  # folder below docs for the pictures of a build, which git ignores


def with_fresh_pictures(text: str) -> str:
    """Let a page show the pictures of this build in place of those in the repository."""
    return re.sub(r"\]\(((?:\.\./)*)figures/plot-", rf"](\1{FRESH}/plot-", text)
