"""The site: prose in Markdown, vignettes run by the build, the reference from docstrings; read without a network.

Build with ``python -m sphinx -W -n -j 2 docs docs/_build/html``. A cell that fails, or writes to standard error
without saying so by a tag, ends the build.
"""

import functools
import inspect
import os
import subprocess
import sys
from pathlib import Path

import matplotlib.font_manager  # noqa: F401  its cache is made here once, not by many cells at the same time
from docutils import nodes
from numpydoc.docscrape import NumpyDocString
from sphinx import addnodes
from sphinx.errors import ExtensionError

import energystats as es
from energystats.display.result import Result

HERE = Path(__file__).parent
os.environ.pop("MPLBACKEND", None)  # one that is set, as by programs of checks, would keep pictures off the pages
os.environ["TQDM_DISABLE"] = "1"  # a bar is for those who wait, not for the page
sys.path.insert(0, str(HERE))

from examples import DATA, EXAMPLES  # noqa: E402
from gallery import FRESH, Thumbnails, with_fresh_pictures  # noqa: E402

project = "energystats"
author = "The energystats developers"
copyright = author
version = release = es.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
exclude_patterns = ["_build", "_templates", "**.ipynb_checkpoints"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore = [("py:obj", "sklearn.metrics.adjusted_rand_score")]
smartquotes = False
toc_object_entries_show_parents = "hide"
add_module_names = False  # a reader imports `es.energy_test`, wherever it is defined
default_role = "name"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"  # a cache would not notice a change of the package
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_output_stderr = "error"  # of a cell without the tag "remove-stderr": what warns there is no example to follow
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

html_theme = "pydata_sphinx_theme"
html_title = "energystats"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "energystats"},
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
}
html_sidebars = {"index": [], "plots": []}


def copy_vignettes(app):
    """Vignettes live beside `docs`; Sphinx reads pages below it only."""
    target = HERE / "vignettes"
    target.mkdir(exist_ok=True)
    sources = {path.name: path.read_text(encoding="utf-8") for path in (HERE.parent / "vignettes").glob("*.md")}
    for old in target.glob("*.md"):
        if old.name not in sources and old.name != "index.md":
            old.unlink()
    for name, text in sources.items():
        copy = target / name
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def begin_pictures(app, config):
    """Draw the pictures of the gallery in two processes, while the reference is generated."""
    command = [sys.executable, HERE / "make_figures.py", "--folder", HERE / FRESH, "--part"]
    app.pictures_drawn = [subprocess.Popen([*command, part]) for part in ("1/2", "2/2")]


def end_pictures(app, env, docnames):
    """Wait for the pictures, before the pages that show them are read; who cannot be drawn ends the build."""
    if any(process.wait() for process in app.pictures_drawn):
        raise ExtensionError("a picture of docs/plots.md cannot be drawn; its error is printed above")


def show_fresh_pictures(app, docname, source):
    """Let the pages show the pictures of this build."""
    source[0] = with_fresh_pictures(source[0])


def spread_pages_with_code(app, env, docnames):
    """Put the pages that run code at equal distances: `-j` deals the list out in a few pieces of neighbours."""
    slow = {name for name in docnames if is_run(env.doc2path(name))}
    quick = [name for name in docnames if name not in slow]
    step = max(1, round(len(docnames) / max(1, len(slow))))
    for place, name in enumerate(sorted(slow)):
        quick.insert(place * step, name)
    docnames[:] = quick


def is_run(path):
    """Whether a page is a notebook in Markdown."""
    return "file_format: mystnb" in Path(path).read_text(encoding="utf-8")


def name_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Make single backticks in docstrings a link where they hold a public name, code otherwise."""
    literal = nodes.literal(rawtext, text, classes=["py"])
    target = text.removeprefix("es.")
    home = target.split(".")[0]
    if not (target in es.__all__ or (home in {"metrics", "datasets"} and is_public(target))):
        return [literal], []
    reference = addnodes.pending_xref(
        rawtext, literal, refdomain="py", reftype="obj", reftarget=f"energystats.{target}", refexplicit=False
    )
    reference["refdoc"] = inliner.document.settings.env.docname
    return [reference], []


def is_public(target):
    """Whether "metrics.Euclidean" or the like is a name of the package."""
    home, _, last = target.partition(".")
    return last in getattr(es, home).__all__


def add_example(app, what, name, obj, options, lines):
    """Show the example of `examples.py` where the docstring has none; before numpydoc reads the lines."""
    name = name.removeprefix("energystats.")
    if what == "data" and name in DATA:
        lines[:] = [DATA[name], "", ".. rubric:: Examples", "", *EXAMPLES[name].strip().splitlines(), ""]
    elif what in ("class", "exception") and name in EXAMPLES:
        lines += ["", "Examples", "--------", *EXAMPLES[name].strip().splitlines(), ""]


def add_attributes(app, what, name, obj, options, lines):
    """List, on the page of a result, what it computes or has from its base; after numpydoc, which would make links."""
    if what != "class" or not issubclass(obj, Result) or ":Attributes:" not in lines:
        return
    place = lines.index(":Attributes:") + 1
    while place < len(lines) and (not lines[place].strip() or lines[place].startswith(" ")):
        place += 1
    lines[place:place] = [line for entry in attributes_elsewhere(obj) for line in [*entry, ""]]


def attributes_elsewhere(cls):
    """Entries of the attributes of the bases, and of the properties."""
    held, entries = set(), {}
    for base in cls.__mro__[:-1]:
        for found in NumpyDocString(inspect.getdoc(base) or "")["Attributes"]:
            names = set(found.name.split(", "))
            if base is not cls and not held & names:
                entries[found.name] = attribute_entry(found.name, found.type, found.desc)
            held |= names
    for name in dir(cls):
        attribute = inspect.getattr_static(cls, name)
        if isinstance(attribute, property) and not name.startswith("_") and name not in held:
            kind = str(attribute.fget.__annotations__["return"]).replace(" | ", " or ")
            entries[name] = attribute_entry(name, kind, inspect.getdoc(attribute).split("\n\n")[0].splitlines())
    return list(entries.values())


def attribute_entry(name, kind, text):
    """Write an attribute as numpydoc does."""
    return [f"    **{name}** : {kind}", *(f"        {line}" for line in text)]


def hide_signature(app, what, name, obj, options, signature, returns):
    """Results are made by functions, so that their constructors are nobody's business."""
    if inspect.isclass(obj) and issubclass(obj, Result):
        return "", ""
    return None


def skip_properties(app, what, name, obj, skip, options):
    """Properties stand among the attributes of a class already."""
    return True if isinstance(obj, property | functools.cached_property) else None


def visit_math(self, node):
    """Render LaTeX as MathML, which browsers show without a script."""
    from latex2mathml.converter import convert

    display = "block" if isinstance(node, nodes.math_block) else "inline"
    mathml = convert(node.astext(), display=display)
    self.body.append(f'<div class="equation">{mathml}</div>' if display == "block" else mathml)
    raise nodes.SkipNode


def setup(app):
    """Register what is above."""
    app.connect("config-inited", lambda app, config: copy_vignettes(app))
    app.connect("config-inited", begin_pictures)
    app.connect("env-before-read-docs", end_pictures)
    app.connect("env-before-read-docs", spread_pages_with_code)
    app.connect("source-read", show_fresh_pictures)
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("autodoc-skip-member", skip_properties)
    app.connect("autodoc-process-docstring", add_example, priority=100)
    app.connect("autodoc-process-docstring", add_attributes, priority=600)  # numpydoc has 500
    app.add_role("name", name_role)
    app.add_directive("thumbnails", Thumbnails)
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math, None))
