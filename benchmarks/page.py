"""Pages with measured tables, and the pictures of docs/benchmarks.md, from what stands in benchmarks/results.

    python benchmarks/page.py

The prose of the pages is written by hand; what stands between marks is replaced.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS, DOCS = HERE / "results", HERE.parent / "docs"
PAGE, FIGURES = DOCS / "benchmarks.md", DOCS / "figures"
COMPARISON, PAPER = DOCS / "comparison.md", HERE.parent / "paper" / "paper.md"
# populations of the tables of significance that tell the tests of clusters apart: (table, row, words)
CLUSTERS = [
    ("B", "N d=2 n=100", "one normal cloud"),
    ("B", "AR(.8) d=5", "one cloud, correlated columns"),
    ("B", "t3 d=2", "one cloud, heavy tails"),
    ("B", "uniform square", "one flat square"),
    ("P", "n=100 d=2 delta=2.5 share=0.5", "two normal clusters, 2.5 sd apart"),
    ("P", "n=100 d=2 delta=3 share=0.5", "two, 3 sd apart"),
    ("P", "n=100 d=2 delta=4 share=0.5", "two, 4 sd apart"),
    ("P", "n=100 d=2 delta=5 share=0.1", "two, 5 sd apart, a tenth of the points in one"),
    ("B", "three clusters, side 5", "three normal clusters"),
]
CHANGES = [
    "mean, by 0.75",
    "mean, by 0.75, of t with 2 df",
    "spread, times 2",
    "tail, normal to t with 1 df",
    "mean of 5 columns, by 0.35 each",
    "correlation of 5 columns, 0 to 0.8",
]
DENSE_ROUTES = ("tiles kept", "tiles recomputed")
BESIDE = "beside one busy process"
OWN = ("its own", "import")  # no peers, but parts of the same work


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
    day = f"on {place['date']}, " if place.get("date") else ""
    kept = f" The day and the versions were not recorded: {place['note']}." if "note" in place else ""
    machine = f"{place['cores']} cores ({place['machine']})"
    measured = f"Measured {day}on {machine}, {load}, linear algebra with {threads}."
    return " ".join(filter(None, [measured, versions and f"{versions}."])) + kept


def slower(row):
    """Give the ratio of times beside one busy process; empty in results from before that was measured."""
    busy = row.get("busy_seconds")
    return [] if busy is None else [f"{busy / row['seconds']:.2f} x"]


def heading(rows, heads):
    """The first two lines of a table, without the column that was not measured."""
    heads = [head for head in heads if head != BESIDE or slower(rows[0])]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]


def is_beside_a_peer(row):
    """Whether a job was measured beside another program, not beside a part of itself."""
    return row["peer_seconds"] is not None and not row["peer"].startswith(OWN)


def ratio_of(row):
    """The peer's time over ours, with three digits."""
    return f"{row['peer_seconds'] / row['seconds']:.3g}"


def times(rows):
    """Jobs with their peers, as Markdown: the ratio and our time first."""
    lines = heading(rows, ["job", "ratio", "energystats", BESIDE, "peer", "its time", "results of both"])
    for row in filter(is_beside_a_peer, rows):
        ours, theirs = f"{row['seconds']:.3g} s", f"{row['peer_seconds']:.3g} s"
        cells = [row["job"], ratio_of(row), ours, *slower(row), row["peer"], theirs, row["note"]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def alone(rows):
    """Jobs without a peer, as Markdown."""
    lines = ["| job | energystats | note |", "|---" * 3 + "|"]
    for row in rows:
        if is_beside_a_peer(row):
            continue
        beside = "" if row["peer_seconds"] is None else f"{row['peer']} {row['peer_seconds']:.3g} s"
        lines.append(f"| {row['job']} | {row['seconds']:.3g} s | {'; '.join(filter(None, [beside, row['note']]))} |")
    return "\n".join(lines)


def beside_peers(rows):
    """Times of the peers over ours, as Markdown, the largest first."""
    lines = ["| peer | times as fast | energystats | peer's time | job |", "|---" * 5 + "|"]
    pairs = sorted(filter(is_beside_a_peer, rows), key=lambda row: row["seconds"] / row["peer_seconds"])
    for row in pairs:
        seconds = [f"{row['seconds']:.3g} s", f"{row['peer_seconds']:.3g} s"]
        lines.append(f"| {' | '.join([row['peer'], ratio_of(row), *seconds, row['job']])} |")
    return "\n".join(lines)


def clusters_beside(tables, *, header="rejected at level .05"):
    """Rejections by tests of clusters that have different null hypotheses, as Markdown."""
    methods = {"split": "`es.cluster_test`", "selective": "selective test of means", "limit": "best possible"}
    lines = [f"| {header} | {' | '.join(methods.values())} |", "|---" * 4 + "|"]
    for table, row, words in CLUSTERS:
        found = tables[table][row]
        cells = [f"{found[m]['rates']['0.05']:.2f}" if "rates" in found.get(m, {}) else "-" for m in methods]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def breaks_beside(results):
    """Rejections by tests of one break among 100 rows, as Markdown: in the middle, and after a fifth."""
    methods = {
        "energy": "`es.segment_test`",
        "ecp": "`ecp::e.divisive`",
        "normal likelihood": "normal likelihood",
    }
    lines = [f"| what changes | {' | '.join(methods.values())} |", "|---" * 4 + "|"]
    for change in CHANGES:
        cells = []
        for method in methods:
            known = results["ecp"] if method == "ecp" else results["power"]
            ends = [f"|{at}" if method == "ecp" else f"|{at}|{method}" for at in ("0.5", "0.2")]
            found = [known.get(change + end) for end in ends]
            cells.append(", ".join(f"{each['rejected'] / each['of']:.2f}" for each in found) if all(found) else "-")
        lines.append(f"| {change} | {' | '.join(cells)} |")
    return "\n".join(lines)


def poisson(rows):
    """Rejections by three tests of the Poisson family, as Markdown."""
    lines = ["| counts | n | E | M-CvM | M-AD |", "|---|---|---|---|---|"]
    for row in rows:
        rates = [f"{row[test]:.2f}" for test in ("E", "M-CvM", "M-AD")]
        lines.append(f"| {' | '.join([row['population'], str(row['n']), *rates])} |")
    return "\n".join(lines)


def normality_null(kept):
    """How often statistics of few points are above the quantiles of many, as Markdown."""
    levels = [f"{level:g}" for level in kept["levels"]]
    lines = [f"| columns | points | {' | '.join(levels)} |", "|---" * (2 + len(levels)) + "|"]
    rows = [(row["d"], row["n"], *(f"{rate:.4f}" for rate in row["rates"])) for row in kept["rows"]]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows])


def make_table(heads, rows):
    """A table as Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows])


def as_markdown(table):
    """A table that was kept as it was printed, as Markdown."""
    return make_table(table["heads"], table["rows"])


def beside(rows):
    """Jobs alone and beside one busy process, as Markdown; every job once, whatever its peers."""
    heads = ["job", "ratio", "ratio of processor seconds", "alone", BESIDE, "processor seconds alone", "beside it"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in {row["job"]: row for row in rows}.values():
        ratios = [*slower(row), f"{row['busy_work'] / row['work']:.2f} x"]
        seconds = [row["seconds"], row["busy_seconds"], row["work"], row["busy_work"]]
        cells = [row["job"], *ratios, *(f"{each:.3g} s" for each in seconds)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def sizes(rows):
    """Time and memory of `energy_test` against N, as Markdown; small sizes have no memory of their own."""
    heads = ["route", "N", "time", BESIDE, "peak memory above the data", "d", "share of the product's rate"]
    lines = heading(rows, heads)
    for row in rows:
        memory = f"{row['megabytes']:.0f} MB" if row["n"] >= 10_000 and row["megabytes"] is not None else "-"
        share = f"{row['share']:.0%}" if row["route"] in DENSE_ROUTES else "-"
        time = f"{row['seconds']:.3g} s"
        cells = [row["route"], f"{row['n']:,}", time, *slower(row), memory, str(row["d"]), share]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def on_gpu(kept):
    """Times of `energy_test` on a GPU and on the processors of its machine, as Markdown."""
    heads = ["N", "times as fast", "GPU", "processors", "p on both", "S apart, of T", "memory of the GPU"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in kept["rows"]:
        seconds = [f"{row['seconds']:.3g} s", f"{row['cpu_seconds']:.3g} s"]
        ratio, both = f"{row['cpu_seconds'] / row['seconds']:.3g}", f"{row['pvalue']} / {row['cpu_pvalue']}"
        memory = f"{row['peak_megabytes']:.0f} MB"
        cells = [f"{row['n']:,}", ratio, *seconds, both, f"{row['difference']:.0e}", memory]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def growth(rows):
    """Exponents of time and memory, with those of the docstring, and the sizes behind them, as Markdown."""
    lines = ["| function | time | memory | n | processor time | memory above the data |", "|---" * 6 + "|"]
    for row in rows:
        sizes = " / ".join(f"{each['n']:,}" for each in row["sizes"])
        seconds = " / ".join(f"{each['seconds']:.2g}" for each in row["sizes"]) + " s"
        megabytes = " / ".join(f"{each['megabytes']:.0f}" for each in row["sizes"]) + " MB"
        slopes = [
            "-" if slope is None else f"{slope:.1f} ({documented})"
            for slope, documented in zip(row["exponents"], row["documented"], strict=True)
        ]
        lines.append(f"| {' | '.join([row['function'], *slopes, sizes, seconds, megabytes])} |")
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
        mark = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page, count = mark.subn(lambda m, text=text: m[1] + text + m[2], page)
        if count != 1:
            raise ValueError(f"The page must have one mark {name!r}, got {count}.")
    return page


def tables():
    """Return the text between the marks."""
    speed, size, busy, grown = (load(f"{name}.json") for name in ("speed", "size", "busy", "growth"))
    large, cluster, gpu = load("large.json"), load("cluster.json"), load("gpu.json")
    device = gpu["device"]
    return {
        "speed environment": environment(speed),
        "speed": times(speed["rows"]),
        "alone": alone(speed["rows"]),
        "busy environment": environment(busy),
        "busy": beside(busy["rows"]),
        "size environment": environment(size),
        "size": sizes(size["rows"]),
        "gpu environment": f"{device['name']}, torch {device['torch']}. {environment(gpu)}",
        "gpu": on_gpu(gpu),
        "growth environment": environment(grown),
        "growth": growth(grown["rows"]),
        "large environment": environment(large),
        **{f"large {i}": as_markdown(table) for i, table in enumerate(large["tables"], 1)},
        "cluster environment": environment(cluster),
        **{f"cluster {i}": as_markdown(table) for i, table in enumerate(cluster["tables"], 1)},
    }


def comparison_tables():
    """Return the text between the marks of docs/comparison.md."""
    speed, tested, broken = load("speed.json"), load("significance.json"), load("segments.json")
    return {
        "speed environment": environment(speed),
        "speed": beside_peers(speed["rows"]),
        "clusters": clusters_beside(tested["tables"]),
        "breaks": breaks_beside(broken),
        "minibatch": as_markdown(load("large.json")["tables"][1]),
    }


def paper_tables():
    """Return the text between the marks of the paper."""
    speed, tested = load("speed.json"), load("significance.json")
    return {"speed": beside_peers(speed["rows"]), "clusters": clusters_beside(tested["tables"])}


def papers_tables():
    """Return the text between the marks of docs/papers.md, one for each table."""
    kept = load("papers.json")
    return {
        "papers environment": environment(kept),
        **{f"papers {table['title']}": as_markdown(table) for table in kept["tables"]},
    }


WRITTEN = {
    PAGE: tables,
    DOCS / "papers.md": papers_tables,
    COMPARISON: comparison_tables,
    PAPER: paper_tables,
    DOCS / "distribution-tests.md": lambda: {
        "poisson": poisson(load("poisson_fit.json")["rows"]),
        "normality null": normality_null(load("normality_null.json")),
    },
}


def draw_ratios(rows, file):
    """Peer's time over ours, one bar a pair, on a logarithmic scale."""
    import matplotlib.pyplot as plt

    pairs = list(filter(is_beside_a_peer, rows))
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
    """The number of clusters, or the sizes of the samples, of a job that is not named by it already."""
    found = re.search(r"(?<!to )k = \d+|n = m = \d+", job)
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
    for page, write in WRITTEN.items():
        page.write_text(with_tables(page.read_text(encoding="utf-8"), write()), encoding="utf-8")
    draw_ratios(load("speed.json")["rows"], FIGURES / "benchmark-ratios.png")
    draw_growth(load("growth.json")["rows"], FIGURES / "growth.png")
    draw_sizes(load("size.json")["rows"], FIGURES / "time-against-n.png")


if __name__ == "__main__":
    main()
