"""Tables and pictures of the results of `benchmarks/significance.py`, and the tables of docs/significance.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from benchmarks.significance_tables import CURVES, LIMIT_SIZES, SIZES, TABLES, curve_name

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES, PAGE = DOCS / "figures", DOCS / "significance.md"
GROUPED = {"A": SIZES, "L": LIMIT_SIZES}  # tables with one line for all sample sizes
ABSENT = "-"
ROWS_OF_FIGURE = 12  # more cannot be read at the width of a page


# ---------------------------------------------------------------- numbers


def share(value):
    """Rates as .05 and 1.0."""
    return "1.0" if value > 0.995 else f"{value:.2f}".removeprefix("0")


def cell(found, kind, levels=("0.05",)):
    """Rates at some levels; bold where a null hypothesis is rejected too often by more than two standard errors."""
    if not found or "missing" in found:
        return ABSENT
    shown = []
    for level in levels:
        rate, text = found["rates"][level], share(found["rates"][level])
        if kind == "null" and level != "right" and level != "0.5" and found["replicates"] != "exact draws":
            over = rate > float(level) + 2 * np.sqrt(float(level) * (1 - float(level)) / found["replicates"])
            text = f"**{text}**" if over else text
        shown.append(text)
    return " / ".join(shown)


def levels_of(table_id):
    """Which rates a table shows."""
    return {"D": ("0.05", "0.1"), "F": ("right",), "S": ("0.01", "0.05", "0.1", "0.5")}.get(table_id, ("0.05",))


def present_methods(results, table_id):
    """Columns with at least one number: what the package does and what any test could do first."""
    found = results["tables"].get(table_id, {})
    present = [m for m in TABLES[table_id].methods if any("rates" in row.get(m, {}) for row in found.values())]
    first = [m for m in (*present[:1], "limit") if m in present]
    return list(dict.fromkeys(first + present))


def markdown(results, table_id):
    """A table as Markdown, with what was counted, replicates, standard errors, and what is missing."""
    if table_id == "cost":
        return costs(results)
    if table_id == "environment":
        return "\n### Environment\n\n" + describe_run(results)
    if table_id == "short":
        return "\n### In short\n\n" + in_short(results)
    table, found = TABLES[table_id], results["tables"].get(table_id, {})
    methods = present_methods(results, table_id)
    lines = ["| population | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for label, rows in labelled_rows(table_id):
        shown = [
            " ".join(cell(found.get(row.name, {}).get(method), row.kind, levels_of(table_id)) for row in rows)
            for method in methods
        ]
        shown = [ABSENT if set(text) <= {ABSENT, " "} else text for text in shown]
        lines.append(f"| {mark(rows[0])}{label} | " + " | ".join(shown) + " |")
    return f"\n### {table_id}. {table.title}\n\n" + caption(results, table_id, methods) + "\n\n" + "\n".join(lines)


def mark(row):
    """Rows outside every method's assumption are marked."""
    return "not independent: " if row.kind == "outside" else ""


def labelled_rows(table_id):
    """Lines: one a row, or one for all sample sizes."""
    table = TABLES[table_id]
    if table_id not in GROUPED:
        return [(row.name, [row]) for row in table.rows]
    names = list(dict.fromkeys(row.name.rsplit(" n=", 1)[0] for row in table.rows))
    return [(name, [table.row(f"{name} n={n}") for n in GROUPED[table_id]]) for name in names]


def caption(results, table_id, methods):
    """Describe the counts, the number of samples, and their precision."""
    found = results["tables"].get(table_id, {})
    what = "Shares of right numbers of clusters"
    if table_id != "F":
        what = f"Rejection rates at level {' / '.join(f'{float(level):g}' for level in levels_of(table_id))}"
    if table_id in GROUPED:
        what += f"; n = {', '.join(map(str, GROUPED[table_id]))}"
    text = f"{what}. {replicates(found, methods)}Standard errors at most {share(worst_error(found, table_id))}."
    if any(row.kind == "alternative" for row in TABLES[table_id].rows):
        text += " Classes are drawn at random, so that their sizes are binomial."
    return text + missing(found, table_id, methods)


def replicates(found, methods):
    """Write the number of samples of each column."""
    counts = {}
    for method in methods:
        numbers = {row[method]["replicates"] for row in found.values() if "rates" in row.get(method, {})}
        numbers.discard("exact draws")
        if numbers:
            counts[method] = f"{min(numbers)}" if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"
    if not counts:
        return ""
    kinds = dict.fromkeys(counts.values())
    if len(kinds) == 1:
        return f"Replicates: {next(iter(kinds))}. "
    usual = max(kinds, key=list(counts.values()).count)
    others = "; ".join(f"{', '.join(m for m in counts if counts[m] == c)}: {c}" for c in kinds if c != usual)
    return f"Replicates: {usual} ({others}). "


def worst_error(found, table_id):
    """The largest standard error of what is shown."""
    entries = [entry for row in found.values() for entry in row.values() if "errors" in entry]
    return max(
        [e["errors"][level] for e in entries for level in levels_of(table_id) if level in e["errors"]], default=0
    )


def missing(found, table_id, methods):
    """Which columns and cells have no number, by reason."""
    reasons = {}
    for method in TABLES[table_id].methods:
        why = [row[method]["missing"] for row in found.values() if "missing" in row.get(method, {})]
        if method != "limit" and (why or method not in methods):
            where = f" ({len(why)} rows)" if method in methods else ""
            reasons.setdefault(why[0].splitlines()[0][:100] if why else "not run", []).append(method + where)
    return "".join(f" Missing: {', '.join(names)}: {why.rstrip('.')}." for why, names in reasons.items())


def costs(results):
    """Seconds of single calls."""
    lines = ["| call | seconds |", "|---|---|"]
    for case, found in results["costs"].items():
        lines.append(f"| {case} | {found['seconds']:.3g} |" if "seconds" in found else f"| {case} | {ABSENT} |")
    return "\n### Cost\n\nMedian of three calls on one core, after one that is not counted.\n\n" + "\n".join(lines)


def in_short(results):
    """The two numbers that matter of the main method: power beside the limit, and the worst levels."""
    lines = ["| population, 100 points unless said | split test rejects | best test possible |", "|---|---|---|"]
    for delta in (3, 4, 5):
        found = results["tables"]["P"][f"n=100 d=2 delta={delta} share=0.5"]
        rates = [share(found[method]["rates"]["0.05"]) for method in ("split", "limit")]
        lines.append(f"| two normal clusters, {delta} standard deviations apart | {rates[0]} | {rates[1]} |")
    rate = results["tables"]["B"]["N d=2 n=100"]["split"]["rates"]["0.05"]
    lines.append(f"| one normal cloud, level .05 | {share(rate)} | - |")
    for table_id, row in hardest_populations(results["tables"], 2):
        rate = results["tables"][table_id][row.name]["split"]["rates"]["0.05"]
        lines.append(f"| one mode, worst of the table of levels: {row.name} | {share(rate)} | - |")
    return "\n".join(lines)


def describe_run(results):
    """One sentence on the day and the versions; results from before those were kept have the versions of a few."""
    place = results.get("environment")
    versions = results["versions"] if place is None else place["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    day = "on a day that was not recorded" if place is None else f"last on {place['date']}"
    return f"Measured {day} with seed {results['seed']}. {listed}."


# ---------------------------------------------------------------- the page


def rewrite_page(results, page):
    """Put the tables between `<!-- table X -->` and `<!-- end of table -->`; a peer that was not there is no reason."""

    def replaced(found):
        table = markdown(results, found[1]).strip().split("\n", 2)[2].strip()  # the page has its own headings
        if "ModuleNotFoundError" in table:
            raise SystemExit(f"Table {found[1]} has columns of packages that were not installed; run them first.")
        return f"<!-- table {found[1]} -->\n{table}\n<!-- end of table -->"

    pattern = re.compile(r"<!-- table (\w+) -->\n.*?<!-- end of table -->", re.DOTALL)
    page.write_text(pattern.sub(replaced, page.read_text()))


# ---------------------------------------------------------------- pictures

STYLES = {  # Okabe and Ito's colours; marks and dashes tell them apart in grey
    "limit": {"color": "black", "linestyle": (0, (5, 2)), "marker": "", "linewidth": 2.2},
    "split": {"color": "#0072b2", "linestyle": "-", "marker": "o"},
    "split conservative": {"color": "#56b4e9", "linestyle": "-", "marker": "v"},
    "crossfit": {"color": "#009e73", "linestyle": "-.", "marker": "s"},
    "refit unimodal": {"color": "#e69f00", "linestyle": "--", "marker": "D"},
    "refit gaussian": {"color": "#d55e00", "linestyle": "--", "marker": "^"},
    "selective": {"color": "#cc79a7", "linestyle": ":", "marker": "P"},
    "naive": {"color": "0.45", "linestyle": ":", "marker": "x"},
}
LABELS = {
    "limit": "limit for unimodality",
    "refit gaussian": "refit gaussian (other null)",
    "selective": "selective (other null)",
    "naive": "permuting found labels",
}


def draw_all(results, folder):
    """Both pictures, as far as there are results."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    if "P" in results["tables"]:
        draw_curves(results["tables"]["P"], folder / "significance-power.png")
    if "B" in results["tables"]:
        draw_levels(results["tables"], folder / "significance-level.png")


def draw_curves(found, file):
    """Power against distance, size, dimension and balance."""
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 2, figsize=(9.5, 7.2), layout="constrained")
    for ax, (name, (label, curve)) in zip(axes.flat, CURVES.items(), strict=True):
        for method, style in STYLES.items():
            points = [
                (x, found[row][method]["rates"]["0.05"], found[row][method]["errors"]["0.05"])
                for x, row in ((x, curve_name(*point)) for x, point in curve.items())
                if "rates" in found.get(row, {}).get(method, {})
            ]
            if points:
                x, y, error = np.array(points).T
                ax.errorbar(x, y, None if method == "limit" else error, label=LABELS.get(method, method),
                            markersize=4.5, elinewidth=0.8, zorder=3 if method == "limit" else 2, **style)  # fmt: skip
        ax.axhline(0.05, color="0.6", linewidth=0.8)
        if name in ("n", "d"):
            ax.set_xscale("log")
            ax.set_xticks(list(curve), [str(x) for x in curve])
            ax.minorticks_off()
        ax.set(xlabel=label, ylabel="rejected at level .05", ylim=(-0.03, 1.03))
        ax.grid(alpha=0.25)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8.5)
    fig.savefig(file, dpi=80)
    plt.close(fig)


def hardest_populations(tables, most=ROWS_OF_FIGURE):
    """True null hypotheses that the default method rejects most often, the worst first."""
    laws = [(table_id, row) for table_id in ("B", "D") for row in TABLES[table_id].rows if row.kind == "null"]
    rates = [
        (found["rates"]["0.05"], table_id, row)
        for table_id, row in laws
        if "rates" in (found := tables.get(table_id, {}).get(row.name, {}).get("split", {}))
    ]
    worst = sorted(rates, key=lambda rate: rate[0], reverse=True)[:most]
    return [(table_id, row) for _, table_id, row in worst]


def draw_levels(tables, file, edge=0.25):
    """Rejection of the hardest true null hypotheses; what lies beyond the right edge stands on it."""
    import matplotlib.pyplot as plt

    laws = hardest_populations(tables)
    methods = [m for m in STYLES if m != "limit"]
    fig, ax = plt.subplots(figsize=(8.5, 0.3 * len(laws) + 1.6), layout="constrained")
    for j, method in enumerate(methods):
        points = [
            (min(found["rates"]["0.05"], edge), -i - 0.09 * (j - 3))
            for i, (t, row) in enumerate(laws)
            if "rates" in (found := tables[t][row.name].get(method, {}))
        ]
        if points:
            x, y = np.array(points).T
            style = STYLES[method]
            filled = "none" if method != "naive" else style["color"]
            ax.scatter(x, y, s=20, marker=style["marker"], label=LABELS.get(method, method), clip_on=False, zorder=3,
                       linewidths=1.1, **({"edgecolors": style["color"], "facecolors": filled} if method != "naive"
                                          else {"color": style["color"]}))  # fmt: skip
    ax.axvline(0.05, color="black", linewidth=1)
    ax.axvline(0.07, color="black", linewidth=0.8, linestyle=":")
    ax.set_yticks([-i for i in range(len(laws))], [row.name for _, row in laws], fontsize=8)
    ax.set(xlim=(-0.005, edge), ylim=(-len(laws) + 0.4, 0.6), xlabel="rejected at level .05 although true")
    ax.set_xticks([0, 0.05, 0.07, 0.1, 0.15, 0.2, edge], ["0", ".05", "", ".1", ".15", ".2", f"≥ {share(edge)}"])
    ax.grid(axis="y", alpha=0.25)
    fig.legend(loc="outside lower center", ncols=4, fontsize=8.5)
    fig.savefig(file, dpi=90)
    plt.close(fig)
