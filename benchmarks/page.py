"""The page docs/benchmarks.md and its pictures, from what `benchmarks/run.py` left in benchmarks/results.

    python benchmarks/page.py

The page's prose is written by hand; what stands between its marks is replaced.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS, DOCS = HERE / "results", HERE.parent / "docs"
PAGE, FIGURES = DOCS / "benchmarks.md", DOCS / "figures"
DENSE_ROUTES = ("tiles kept", "tiles recomputed")
BESIDE = "beside one busy process"


def load(name):
    """Rows and environment of one file of results."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def environment(found):
    """One sentence on the processor and one on the versions."""
    place = found["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in place["versions"].items())
    threads = (
        "one thread"
        if place["threads"] == "1"
        else f"{place['threads']} threads".replace("as many as cores threads", "as many threads as cores")
    )
    load = "load not recorded" if place["load"] is None else f"load {place['load']}"
    return (
        f"Measured on {place['cores']} cores ({place['machine']}), {load}, linear algebra with {threads}. {versions}."
    )


def slower(row):
    """Give the ratio of times beside one busy process; empty in results from before that was measured."""
    busy = row.get("busy_seconds")
    return [] if busy is None else [f"{busy / row['seconds']:.2f} x"]


def heading(rows, heads):
    """The first two lines of a table, without the column that was not measured."""
    heads = [head for head in heads if head != BESIDE or slower(rows[0])]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]


def times(rows):
    """Jobs with their peers, as Markdown."""
    lines = heading(rows, ["job", "energystats", BESIDE, "peer", "its time", "ratio", "results of both"])
    for row in rows:
        peer = row["peer_seconds"]
        theirs = "-" if peer is None else f"{peer:.3g} s"
        ratio = "-" if peer is None else f"{peer / row['seconds']:.3g}"
        cells = [row["job"], f"{row['seconds']:.3g} s", *slower(row), row["peer"], theirs, ratio, row["note"]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def beside(rows):
    """Jobs alone and beside one busy process, as Markdown; every job once, whatever its peers."""
    heads = ["job", "alone", BESIDE, "ratio", "processor seconds alone", "beside it", "ratio"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in {row["job"]: row for row in rows}.values():
        work = [f"{row['work']:.3g} s", f"{row['busy_work']:.3g} s", f"{row['busy_work'] / row['work']:.2f} x"]
        cells = [row["job"], f"{row['seconds']:.3g} s", f"{row['busy_seconds']:.3g} s", *slower(row), *work]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def sizes(rows):
    """Time and memory of `energy_test` against N, as Markdown; small sizes have no memory of their own."""
    heads = ["route", "N", "d", "time", BESIDE, "peak memory above the data", "share of the product's rate"]
    lines = heading(rows, heads)
    for row in rows:
        memory = f"{row['megabytes']:.0f} MB" if row["n"] >= 10_000 and row["megabytes"] is not None else "-"
        share = f"{row['share']:.0%}" if row["route"] in DENSE_ROUTES else "-"
        cells = [row["route"], f"{row['n']:,}", str(row["d"]), f"{row['seconds']:.3g} s", *slower(row), memory, share]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def growth(rows):
    """Time and memory at three sizes and their exponents, as Markdown."""
    lines = ["| function | n | time | exponent | docstring | memory | exponent | docstring |", "|---" * 8 + "|"]
    for row in rows:
        sizes = " / ".join(f"{each['n']:,}" for each in row["sizes"])
        seconds = " / ".join(f"{each['seconds']:.2g}" for each in row["sizes"]) + " s"
        megabytes = " / ".join(f"{each['megabytes']:.0f}" for each in row["sizes"]) + " MB"
        of_time, of_memory = ("-" if slope is None else f"{slope:.1f}" for slope in row["exponents"])
        cells = [
            row["function"],
            sizes,
            seconds,
            of_time,
            row["documented"][0],
            megabytes,
            of_memory,
            row["documented"][1],
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def draw_growth(rows, file):
    """Time against n of every function on logarithmic axes, beside the slopes of n and its square."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
    for i, row in enumerate(sorted(rows, key=lambda row: row["sizes"][-1]["n"])):
        points = [(each["n"], max(each["seconds"], 1e-3)) for each in row["sizes"]]
        ax.loglog(
            *zip(*points, strict=True), marker="os^DvPX"[i % 7], ms=4, lw=1, color=f"C{i % 10}", label=row["function"]
        )
    for power, name in ((1, "n"), (2, "n²")):
        ax.loglog([2e3, 2e4], [4e-3, 4e-3 * 10**power], color="black", lw=1, ls="--")
        ax.annotate(f"slope of {name}", (2e4, 4e-3 * 10**power), fontsize="small")
    ax.set_xlabel("n, points")
    ax.set_ylabel("processor seconds, one thread")
    ax.set_title("How time grows", loc="left")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def with_tables(page, tables):
    """The page with new text between its marks; a mark that is missing is an error."""
    for name, text in tables.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page, count = mark.subn(lambda m, text=text: m[1] + text + m[2], page)
        if count != 1:
            raise ValueError(f"{PAGE.name} must have one mark {name!r}, got {count}.")
    return page


def tables():
    """Return the text between the marks."""
    speed, size, busy = load("speed.json"), load("size.json"), load("busy.json")
    return {
        "speed environment": environment(speed),
        "speed": times(speed["rows"]),
        "busy environment": environment(busy),
        "busy": beside(busy["rows"]),
        "size environment": environment(size),
        "size": sizes(size["rows"]),
        "growth": growth(load("growth.json")["rows"]),
    }


def draw_ratios(rows, file):
    """Peer's time over ours, one bar a pair, on a logarithmic scale."""
    import matplotlib.pyplot as plt

    others = ("its own", "import")  # not peers
    pairs = [row for row in rows if row["peer_seconds"] is not None and not row["peer"].startswith(others)]
    pairs.sort(key=lambda row: row["peer_seconds"] / row["seconds"])
    ratios = [row["peer_seconds"] / row["seconds"] for row in pairs]
    names = [f"{row['peer']}: {row['job'].split(',')[0]}{k_of(row['job'])}" for row in pairs]
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.3 * len(pairs)), layout="constrained")
    ax.barh(range(len(pairs)), ratios, color="#0072b2")
    for i, ratio in enumerate(ratios):
        ax.text(ratio, i, f" {ratio:.3g}", va="center", fontsize="small")
    ax.set_yticks(range(len(pairs)), names, fontsize="small")
    ax.set_xscale("log")
    ax.axvline(1, color="black", lw=1)
    ax.set_xlim(right=2.2 * max(ratios))
    ax.set_xlabel("peer's time divided by ours, logarithmic scale")
    ax.set_title("How many times faster, same data, same run", loc="left")
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def k_of(job):
    """The number of clusters of a job, where it has one."""
    found = re.search(r"k = \d+", job)
    return f", {found[0]}" if found else ""


def draw_sizes(rows, file):
    """Time against N by route, both scales logarithmic."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    routes = list(dict.fromkeys(row["route"] for row in rows))
    for route, marker, color in zip(routes, "os^", ["#0072b2", "#e69f00", "#009e73"], strict=True):
        points = [(row["n"], row["seconds"]) for row in rows if row["route"] == route]
        ax.loglog(*zip(*points, strict=True), marker=marker, color=color, label=route)
    ax.set_xlabel("N, points in two samples")
    ax.set_ylabel("seconds, 999 permutations")
    ax.set_title("energy_test, distances included", loc="left")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    plt.close(figure)


def main():
    import matplotlib as mpl

    mpl.use("Agg")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables()), encoding="utf-8")
    draw_ratios(load("speed.json")["rows"], FIGURES / "benchmark-ratios.png")
    draw_growth(load("growth.json")["rows"], FIGURES / "growth.png")
    draw_sizes(load("size.json")["rows"], FIGURES / "time-against-n.png")


if __name__ == "__main__":
    main()
