# ruff: noqa: E402
"""The experiments of the papers, run again: accuracy by Monte Carlo, tables and figures.

    python benchmarks/papers.py                  every row, four minutes of processor time; draws docs/figures
    python benchmarks/papers.py --quick          few runs of small samples, to see that everything runs; no figures
    python benchmarks/papers.py --only fig2L     some rows; a figure is drawn when all its rows are there
    python benchmarks/papers.py --runs N         Monte Carlo runs of every row; --out FOLDER is where the figures go

Prints the Markdown tables of docs/papers.md, which `all.py --only papers` keeps and puts there. Accuracy is that of
[G 22]; "a ± b" is the mean over the runs and its standard error. All methods of a run see the same data. Run r of a
point has a seed of its own, so that neither the number of processes nor the choice of rows changes a number.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # the runs are spread over processes

import argparse
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import energystats as es
from energystats.metrics.closed_form import Euclidean, Localised, Sine
from energystats.metrics.kernel import Exponential, Gaussian

data = es.datasets
FIGURES = Path(__file__).parent.parent / "docs" / "figures"
RHO_1, RHO_HALF, EXP_1, EXP_2 = Euclidean(1.0), Euclidean(0.5), Exponential(1.0), Exponential(2.0)
GAUSS_1, GAUSS_2 = Gaussian(1.0), Gaussian(2.0)

SIGMA_1 = {"rho_1": RHO_1, "rho_1/2": RHO_HALF, "exp 1": EXP_1, "gauss 1": GAUSS_1}
SIGMA_2 = {"rho_1": RHO_1, "rho_1/2": RHO_HALF, "exp 2": EXP_2, "gauss 2": GAUSS_2}


# the methods: (X, k, rng) -> labels

PLAIN = es.Hartigan(n_perturb=0)  # starts without perturbations, as the papers make them


def energy(X, k, rng, *, metric=RHO_1, algorithm=PLAIN, init="k-means++", n_init=5):
    """Energy clustering; "coordinates" starts from the papers' k-means++, which knows nothing of rho."""
    R = es.pairwise(X, metric=metric)
    how = {"metric": "precomputed", "algorithm": algorithm}
    if init != "coordinates":
        return es.energy_cluster(R, k, init=init, n_init=n_init, rng=rng, **how).labels
    starts = (coordinate_start(X, k, rng) for _ in range(n_init))
    return min((es.energy_cluster(R, k, init=start, **how) for start in starts), key=lambda p: p.within).labels


def coordinate_start(X, k, rng):
    """k-means++ by squared Euclidean distances; every point joins its nearest seed."""
    from sklearn.cluster import kmeans_plusplus

    seeds = kmeans_plusplus(X, k, random_state=int(rng.integers(2**31)))[1]
    labels = ((X[:, None, :] - X[seeds]) ** 2).sum(axis=2).argmin(axis=1)
    labels[seeds] = np.arange(k)
    return labels


def exact_line(X, k, rng):
    return es.cluster_1d(X[:, 0], k).labels


def k_means(X, k, rng, *, init="k-means++"):
    from sklearn.cluster import KMeans

    return KMeans(k, init=init, n_init=5, random_state=int(rng.integers(2**31))).fit_predict(X)


def gmm(X, k, rng, *, init="kmeans"):
    """EM with full covariances, from the output of k-means unless said otherwise; one class where it breaks."""
    from sklearn.mixture import GaussianMixture

    method = GaussianMixture(k, n_init=5, init_params=init, random_state=int(rng.integers(2**31)))
    try:
        return method.fit_predict(X)
    except ValueError:
        return np.zeros(len(X), dtype=int)


def spectral(X, k, rng, *, metric=RHO_1, kernel="base point", assign="kmeans"):
    """Shi and Malik's spectral clustering on the kernel of [G 8] with x0 = 0, or on K = 1 - rho/2."""
    from sklearn.cluster import SpectralClustering

    K = base_point_kernel(X, metric) if kernel == "base point" else 1 - es.pairwise(X, metric=metric) / 2
    seed = int(rng.integers(2**31))
    method = SpectralClustering(k, affinity="precomputed", n_init=5, assign_labels=assign, random_state=seed)
    return method.fit_predict(np.maximum(K, 0.0))  # an affinity is not negative


def base_point_kernel(X, metric):
    """K(x, y) = [rho(x, 0) + rho(y, 0) - rho(x, y)] / 2 [G 8]."""
    base = es.pairwise(X, np.zeros((1, X.shape[1])), metric=metric)
    return (base + base.T - es.pairwise(X, metric=metric)) / 2


KERNEL_K_MEANS = partial(energy, algorithm="lloyd")
FIVE = {
    "energy": energy,
    "kernel k-means": KERNEL_K_MEANS,
    "spectral": spectral,
    "k-means": k_means,
    "GMM": gmm,
}


def table1_methods(metrics, best, starts):
    """Energy clustering from the papers' starts, from the package's, and once; the others of [G table 1]."""
    methods = {}
    for name, metric in metrics.items():
        methods[name] = partial(energy, metric=metric, init=starts)
        methods[f"{name}, package's 10 starts"] = partial(energy, metric=metric, n_init=10)
        methods[f"{name}, one start"] = partial(energy, metric=metric, init=starts, n_init=1)
        methods[f"{name}, kernel k-means"] = partial(energy, metric=metric, init=starts, algorithm="lloyd")
    for assign in ("kmeans", "discretize", "cluster_qr"):
        methods[f"spectral, {assign}"] = partial(spectral, metric=metrics[best], assign=assign)
    methods["spectral, kmeans, K = 1 - rho/2"] = partial(spectral, metric=metrics[best], kernel="plain")
    methods["k-means, k-means++"] = k_means
    methods["k-means, random start"] = partial(k_means, init="random")
    for name, init in (("k-means", "kmeans"), ("k-means++", "k-means++"), ("random responsibilities", "random"),
                       ("random points", "random_from_data")):  # fmt: skip
        methods[f"GMM, from {name}"] = partial(gmm, init=init)
    return methods


# the data of every row: (x, rng) -> X, labels, x being what the row varies


def mixture(name, x, rng, *, vary="n", n=200, log=False, equal=False):
    """A mixture of the papers: x points, or x coordinates; `equal` for classes of exactly equal size."""
    size, dim = (x, None) if vary == "n" else (n, x)
    make = data.make_lognormal_mixture if log else data.make_gaussian_mixture
    return make((size // 2, size // 2) if equal else size, **data.paper_mixture(name, dim), rng=rng)


def circles(x, rng, *, radii):
    return data.make_circles((x,) * len(radii), radii=radii, rng=rng)


@dataclass(frozen=True)
class Row:
    """One row of the table of experiments."""

    id: str
    draw: Callable
    xs: Sequence[int]
    methods: dict[str, Callable]
    xlabel: str
    paper: str
    ours: Callable[[Found], str]
    k: int = 2
    runs: int = 100
    bayes: str | None = None
    quick: int = 40
    values: dict[str, str] = field(default_factory=dict)  # the papers' numbers, method by method


class Found(dict):
    """(x, method) -> accuracies of the runs."""

    def mean(self, x, method):
        return f"{np.mean(self[x, method]):.3f}"

    def difference(self, x, one, other):
        """Mean and standard error of a difference on the same data."""
        d = self[x, one] - self[x, other]
        return f"{d.mean():+.3f} ± {standard_error(d):.3f}"

    def at(self, x, methods):
        return ", ".join(f"{method} {self.mean(x, method)}" for method in methods)


def standard_error(values):
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def shown(values):
    return f"{np.mean(values):.3f} ± {standard_error(values):.3f}"


NS = (25, 50, 100, 200, 400, 800)
DIMS = (10, 25, 50, 100, 150, 200)
LINE = {"energy, exact": exact_line, "energy, 5 starts": energy, "k-means": k_means, "GMM": gmm}
FIG3 = {
    "energy rho_1": energy,
    "energy rho_1/2": partial(energy, metric=RHO_HALF),
    "energy exp 1": partial(energy, metric=EXP_1),
    "kernel k-means exp 1": partial(energy, metric=EXP_1, algorithm="lloyd"),
    "spectral exp 1": partial(spectral, metric=EXP_1),
    "k-means": k_means,
    "GMM": gmm,
}
LOG_DIM = {
    "energy rho_1": energy,
    "energy rho_1/2": partial(energy, metric=RHO_HALF),
    "kernel k-means": KERNEL_K_MEANS,
    "spectral": spectral,
    "k-means": k_means,
    "GMM": gmm,
}
STARTS = {
    f"{name}, {m} start{'s' * (m > 1)}": partial(energy, init=init, n_init=m)
    for m in (1, 5)
    for name, init in (("coordinates", "coordinates"), ("feature space", "k-means++"))
}


def fig1_claim(f):
    return f.at(800, LINE)


def fig2_claim(f):
    return f"D = 10: {f.at(10, FIVE)}; D = 200: {f.at(200, FIVE)}"


def fig3_claim(f):
    names = ("energy exp 1", "energy rho_1", "GMM", "k-means")
    return f"n = 25: {f.at(25, names)}; n = 400: {f.at(400, names)}"


def differences_claim(f):
    others = ("kernel k-means exp 1", "spectral exp 1")
    return "; ".join(f"n = 400, exp 1, energy less {o}: {f.difference(400, 'energy exp 1', o)}" for o in others)


def table1_claim(f):
    """Means and standard errors of the methods that [G table 1] has."""
    (x,) = {x for x, _ in f}
    others = ("spectral, kmeans", "k-means, k-means++", "k-means, random start", "GMM, from k-means",
              "GMM, from random responsibilities")  # fmt: skip
    printed = [m for m in (*SIGMA_2, *SIGMA_1, *others) if (x, m) in f]
    return ", ".join(f"{m} {shown(f[x, m])}" for m in dict.fromkeys(printed))


ROWS = [
    Row(
        "fig1",
        partial(mixture, "fig1"),
        NS,
        LINE,
        "n",
        "Bayes .88; energy better than k-means, worse than GMM",
        fig1_claim,
        bayes="fig1",
    ),
    Row(
        "fig1-lognormal",
        partial(mixture, "fig1", log=True),
        NS,
        LINE,
        "n",
        "Bayes .88; k-means and GMM only slightly better than chance, energy still accurate",
        fig1_claim,
        bayes="fig1",
    ),
    Row(
        "fig1-draft",
        partial(mixture, "fig1-draft", equal=True),
        NS[1:],
        LINE,
        "n",
        "the three methods perform closely, slight advantage of GMM",
        fig1_claim,
        bayes="fig1-draft",
    ),
    Row(
        "fig1-draft-lognormal",
        partial(mixture, "fig1-draft-lognormal", log=True, equal=True),
        NS[1:],
        LINE,
        "n",
        "a huge improvement over GMM and k-means, which basically cluster at chance",
        fig1_claim,
        bayes="fig1-draft-lognormal",
    ),
    Row(
        "fig2L",
        partial(mixture, "fig2L", vary="D"),
        DIMS,
        FIVE,
        "D",
        "Bayes .86; energy close to spectral, much better than kernel k-means, k-means and GMM as D grows",
        fig2_claim,
        bayes="fig2L",
        runs=60,
    ),
    Row(
        "fig2R",
        partial(mixture, "fig2R", vary="D"),
        DIMS,
        FIVE,
        "D",
        "Bayes .95; GMM better in low dimensions but degenerates, as kernel k-means and k-means; energy and spectral "
        "much more stable",
        fig2_claim,
        bayes="fig2R",
        runs=60,
    ),
    Row(
        "fig2-draft",
        partial(mixture, "fig2-draft", vary="D", equal=True),
        DIMS,
        FIVE,
        "D",
        "slightly better accuracy of energy clustering",
        fig2_claim,
        bayes="fig2-draft",
        runs=60,
    ),
    Row(
        "fig3",
        partial(mixture, "fig3"),
        (10, *NS[:-1]),
        FIG3,
        "n",
        "Bayes .90; exp 1 as accurate as GMM for large n, superior for small n; never below kernel k-means and "
        "spectral",
        lambda f: f"{fig3_claim(f)}; {differences_claim(f)}",
        bayes="fig3",
    ),
    Row(
        "fig3-lognormal",
        partial(mixture, "fig3", log=True),
        (10, *NS[:-1]),
        FIG3,
        "n",
        "energy still accurate with any of the kernels, contrary to k-means and GMM",
        lambda f: f"{fig3_claim(f)}; {differences_claim(f)}",
        bayes="fig3",
    ),
    Row(
        "unbalanced",
        lambda m, rng: data.make_unbalanced(m, rng=rng),
        (0, 40, 80, 120, 160, 180),
        FIVE,
        "m",
        "GMM works well; hard methods degrade more rapidly",
        lambda f: f"m = 0: {f.at(0, FIVE)}; m = 160: {f.at(160, FIVE)}",
        runs=60,
    ),
    Row(
        "lognormal-dim",
        partial(mixture, "lognormal-dim", vary="D", log=True, equal=True),
        DIMS,
        LOG_DIM,
        "D",
        "clear advantage of energy, rho_1/2 slightly better still",
        lambda f: "; ".join(f"D = {D}: {f.at(D, [*LOG_DIM][:2])}, {f.at(D, [*LOG_DIM][-2:])}" for D in (10, 200)),
        bayes="lognormal-dim",
        runs=60,
    ),
    Row(
        "cigars",
        lambda m, rng: data.make_cigars((m, m), rng=rng),
        (200,),
        table1_methods(SIGMA_2, "exp 2", "coordinates"),
        "points a class",
        "[G table 1]",
        table1_claim,
        bayes="cigars",
        values={"rho_1": ".705 ± .065", "rho_1/2": ".952 ± .048", "exp 2": ".9987 ± .0008", "gauss 2": ".956 ± .020",
                "spectral, kmeans": ".557 ± .014", "k-means, k-means++": ".550 ± .011",
                "GMM, from k-means": ".903 ± .064"},
        runs=50,
    ),
    Row(
        "circles 2",
        partial(circles, radii=(1, 3)),
        (400,),
        table1_methods(SIGMA_1, "gauss 1", "random"),
        "points a class",
        "[G table 1]",
        table1_claim,
        values={"rho_1": ".521 ± .005", "rho_1/2": ".522 ± .004", "exp 1": ".778 ± .075", "gauss 1": "1.0 ± .0",
                "spectral, kmeans": ".732 ± .002", "k-means, random start": ".522 ± .004",
                "GMM, from random responsibilities": ".595 ± .011"},
        runs=50,
    ),
    Row(
        "circles 3",
        partial(circles, radii=(1, 3, 5)),
        (400,),
        table1_methods(SIGMA_2, "gauss 2", "random"),
        "points a class",
        "[G table 1]",
        table1_claim,
        k=3,
        values={"rho_1": ".393 ± .020", "rho_1/2": ".486 ± .040", "exp 2": ".666 ± .007", "gauss 2": ".676 ± .002",
                "spectral, kmeans": ".364 ± .004", "k-means, random start": ".368 ± .005",
                "GMM, from random responsibilities": ".465 ± .030"},
        runs=50,
    ),
    Row(
        "cigars-draft",
        lambda m, rng: data.make_cigars((m, m), rng=rng),
        (100,),
        {"energy rho_1/2": partial(energy, metric=RHO_HALF), "k-means": k_means, "GMM": gmm},
        "points a class",
        "k-means is unable to cluster this data, energy clustering with rho_1/2 performs as well as GMM",
        lambda f: f.at(100, ("energy rho_1/2", "k-means", "GMM")),
        bayes="cigars",
        runs=50,
    ),
    Row(
        "circles-draft",
        partial(circles, radii=(1, 3)),
        (150,),
        {"energy localised": partial(energy, metric=Localised()), "k-means": k_means, "GMM": gmm},
        "points a class",
        "energy almost perfect in most cases, with the localised semimetric",
        lambda f: f.at(150, ("energy localised", "k-means", "GMM")),
        runs=50,
    ),
    Row(
        "spirals",
        lambda m, rng: data.make_spirals((m, m), rng=rng),
        (150,),
        {"energy sine": partial(energy, metric=Sine(0.9)), "energy rho_1": energy, "k-means": k_means, "GMM": gmm},
        "points a class",
        "energy with the sine semimetric much better than k-means and GMM",
        lambda f: f.at(150, ("energy sine", "energy rho_1", "k-means", "GMM")),
        runs=50,
    ),
    Row(
        "starts",
        partial(mixture, "fig1", log=True),
        (800,),
        {"exact": exact_line, **STARTS},
        "n",
        "not in the papers: k-means++ in coordinates against the feature space, on [G 24]",
        lambda f: f.at(800, ("exact", *STARTS)),
        bayes="fig1",
    ),
]  # fmt: skip

IDS = [*(row.id for row in ROWS), "optima", "bounds", "wine"]


# running


def one_run(row_id, position, run, x):
    """Accuracy of every method on one sample."""
    row = next(row for row in ROWS if row.id == row_id)
    rng = np.random.default_rng([zlib.crc32(row_id.encode()), position, run])
    warnings.simplefilter("ignore")  # EM that has not converged, Lloyd on an indefinite rho: part of the comparison
    X, labels = row.draw(x, rng)
    return {name: es.clustering_accuracy(labels, method(X, row.k, rng)) for name, method in row.methods.items()}


def run_row(row, xs, runs, pool):
    jobs = [(row.id, i, run, x) for i, x in enumerate(xs) for run in range(runs)]
    done = list(pool.map(one_run, *zip(*jobs, strict=True), chunksize=max(1, min(10, len(jobs) // 8))))
    found = Found()
    for x in xs:
        of_x = [accuracies for (_, _, _, at), accuracies in zip(jobs, done, strict=True) if at == x]
        for method in row.methods:
            found[x, method] = np.array([accuracies[method] for accuracies in of_x])
    return found


def print_row(row, xs, found, runs, seconds):
    """The table of one row, in Markdown."""
    lines = [f"\nPaper: {row.paper}. {runs} runs, {seconds:.0f} s.\n", f"### {row.id}\n"]
    if len(xs) > 1:
        lines += [f"| {row.xlabel} | " + " | ".join(row.methods) + " |", "|---" * (len(row.methods) + 1) + "|"]
        lines += [f"| {x} | " + " | ".join(shown(found[x, m]) for m in row.methods) + " |" for x in xs]
    elif row.values:
        lines += ["| method | paper | ours |", "|---|---|---|"]
        lines += [f"| {m} | {row.values.get(m, '')} | {shown(found[xs[0], m])} |" for m in row.methods]
    else:
        lines += ["| method | accuracy |", "|---|---|"]
        lines += [f"| {m} | {shown(found[xs[0], m])} |" for m in row.methods]
    print("\n".join(lines), flush=True)


def excess_of_starts(runs):
    """W above the exact optimum, in percent, on the samples of the row "starts"."""
    row = next(row for row in ROWS if row.id == "starts")
    excess = {name: [] for name in STARTS}
    for run in range(runs):
        rng = np.random.default_rng([zlib.crc32(b"starts"), 0, run])
        X, _ = row.draw(800, rng)
        lowest = es.cluster_1d(X[:, 0], 2).within
        for name, method in STARTS.items():
            excess[name].append(100 * (es.dispersion(X, method(X, 2, rng)).within / lowest - 1))
    print("\n### excess\n\n| start | W above the exact optimum | largest of the runs |\n|---|---|---|")
    for name, values in excess.items():
        print(f"| {name} | {np.mean(values):.3g}% ± {standard_error(values):.2g} | {max(values):.3g}% |")


OPTIMA = [("fig2L", 200, RHO_1), ("fig3-lognormal", 400, EXP_1), ("cigars", 200, RHO_1), ("circles 2", 400, EXP_1)]


def one_optimum(case, run):
    """W over W of the true classes, and accuracy, of one sample clustered in several ways."""
    row_id, x, metric = OPTIMA[case]
    row = next(row for row in ROWS if row.id == row_id)
    rng = np.random.default_rng([zlib.crc32(b"optima"), case, run])
    X, labels = row.draw(x, rng)
    ways = {
        "energy, 5 starts": {"n_init": 5},
        "energy, 100 starts": {"n_init": 100},
        "energy, 100 random starts": {"n_init": 100, "init": "random"},
        "kernel k-means, 5 starts": {"n_init": 5, "algorithm": "lloyd"},
        "energy, from the true classes": {"init": labels},
    }
    true = es.dispersion(X, labels, metric=metric).within
    found = {
        name: es.energy_cluster(X, row.k, metric=metric, rng=rng, **{"algorithm": PLAIN, **how})
        for name, how in ways.items()
    }
    return {name: (p.within / true, es.clustering_accuracy(labels, p.labels)) for name, p in found.items()}


def compare_optima(runs, pool):
    """Compare the lowest W with the most accurate partition, where they differ."""
    print("\n### optima\n\n| row | labels | W / W of the true classes | accuracy |\n|---|---|---|---|")
    for case, (row_id, x, metric) in enumerate(OPTIMA):
        done = list(pool.map(partial(one_optimum, case), range(runs)))
        for name in done[0]:
            ratio, accuracy = (np.array([found[name][i] for found in done]) for i in (0, 1))
            print(f"| {row_id} ({x}), {metric!r} | {name} | {ratio.mean():.4f} | {shown(accuracy)} |", flush=True)


CERTIFIED = [("fig1", 800), ("fig1-lognormal", 800), ("fig2L", 10), ("fig2L", 200), ("fig3", 400), ("cigars", 200),
             ("circles 2", 400), ("circles 3", 400)]  # fmt: skip


def upper_bounds(runs):
    """S over its bound, which no partition exceeds: 1 would prove the optimum."""
    print("\n### bounds\n\n| row | rho_1 | rho_1/2 | exp 1 | gauss 1 |\n|---|---|---|---|---|")
    for row_id, x in CERTIFIED:
        row = next(row for row in ROWS if row.id == row_id)
        found = np.empty((runs, 4))
        for run in range(runs):
            rng = np.random.default_rng([zlib.crc32(row_id.encode()), int(x), run])
            X, _ = row.draw(x, rng)
            how = {"n_init": 5, "rng": rng}
            found[run] = [es.energy_cluster(X, row.k, metric=metric, **how).tightness for metric in SIGMA_1.values()]
        print(f"| {row_id} ({x}) | {' | '.join(shown(column) for column in found.T)} |", flush=True)


# pictures

COLORS = {"energy": "#0072b2", "rho_1/2": "#56b4e9", "exp": "#009e73", "kernel": "#cc79a7", "spectral": "#d55e00",
          "k-means": "#e69f00", "GMM": "#555555"}  # fmt: skip
MARKS = {"energy": "o", "rho_1/2": "^", "exp": "v", "kernel": "s", "spectral": "D", "k-means": "P", "GMM": "X"}


def style(method):
    """Colour and mark by what the method is, the same in every picture."""
    words = (("kernel", "kernel"), ("spectral", "spectral"), ("rho_1/2", "rho_1/2"), ("exp 1", "exp"),
             ("energy", "energy"), ("k-means", "k-means"), ("GMM", "GMM"))  # fmt: skip
    key = next(key for word, key in words if word in method)
    look = {"color": COLORS[key], "marker": MARKS[key], "markersize": 4.5, "linewidth": 1.4}
    return (
        {**look, "linestyle": ":", "marker": "s", "markerfacecolor": "white"} if method == "energy, 5 starts" else look
    )


def draw_curves(ax, row, found, title, methods=None):
    xs = sorted({x for x, _ in found})
    for method in methods or row.methods:
        means = [found[x, method].mean() for x in xs]
        errors = [standard_error(found[x, method]) for x in xs]
        ax.errorbar(xs, means, errors, capsize=2, label=method, **style(method))
    if row.bayes:
        draw_bayes(ax, row, xs)
    if row.xlabel == "n":
        ax.set_xscale("log")
        ax.set_xticks(xs, [str(x) for x in xs])
        ax.minorticks_off()
    ax.set(title=title, xlabel=row.xlabel, ylabel="accuracy")
    ax.margins(y=0.09)
    ax.grid(alpha=0.25)


def draw_bayes(ax, row, xs):
    """The best possible accuracy, which may depend on the number of coordinates."""
    dims = xs if row.xlabel == "D" else [None] * len(xs)
    levels = {dim: data.bayes_accuracy(**data.paper_mixture(row.bayes, dim), n_draws=40_000) for dim in set(dims)}
    ax.plot(xs, [levels[dim] for dim in dims], color="0.4", linestyle="--", linewidth=1)
    ax.annotate("Bayes", (xs[-1], levels[dims[-1]]), ha="right", va="bottom", fontsize=8, color="0.3")


def draw_differences(ax, row, found, title):
    """Energy clustering less the two others on the same kernel, as in the lower half of [G fig 3]."""
    xs = sorted({x for x, _ in found})
    for method in ("kernel k-means exp 1", "spectral exp 1"):
        gaps = [found[x, "energy exp 1"] - found[x, method] for x in xs]
        ax.errorbar(xs, [g.mean() for g in gaps], [standard_error(g) for g in gaps], capsize=2,
                    label=f"energy less {method}", **style(method))  # fmt: skip
    ax.axhline(0, color="0.4", linewidth=1)
    ax.set_xscale("log")
    ax.set_xticks(xs, [str(x) for x in xs])
    ax.minorticks_off()
    ax.set(title=title, xlabel="n", ylabel="difference in accuracy")
    ax.grid(alpha=0.25)


CURVES = {  # file: panels (row, title)
    "papers-fig1": [("fig1", "[G fig 1] normal"), ("fig1-lognormal", "[G fig 1] lognormal"),
                    ("fig1-draft", "[D] normal"), ("fig1-draft-lognormal", "[D] lognormal")],
    "papers-fig2": [("fig2L", "[G fig 2] left"), ("fig2R", "[G fig 2] right"), ("fig2-draft", "[D gauss2]")],
    "papers-draft": [("unbalanced", "[D gauss3] unbalanced"), ("lognormal-dim", "[D] lognormal")],
}  # fmt: skip


def draw_all(results, folder):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    rows = {row.id: row for row in ROWS}
    for file, panels in CURVES.items():
        present = [(row, title) for row, title in panels if row in results]
        if len(present) == len(panels):
            columns = 2 if len(present) == 4 else len(present)
            fig, axes = plt.subplots(-(-len(present) // columns), columns, squeeze=False, layout="constrained",
                                     figsize=(4.2 * columns, 3.4 * -(-len(present) // columns)))  # fmt: skip
            for ax, (row, title) in zip(axes.flat, present, strict=True):
                draw_curves(ax, rows[row], results[row], title)
            for ax in axes.flat if file == "papers-draft" else axes.flat[:1]:
                ax.legend(fontsize=7.5)
            save(fig, folder, file)
    if {"fig3", "fig3-lognormal"} <= set(results):
        fig, axes = plt.subplots(2, 2, figsize=(9, 6.6), layout="constrained")
        shown_methods = [m for m in FIG3 if m not in ("kernel k-means exp 1", "spectral exp 1")]
        for j, row in enumerate(("fig3", "fig3-lognormal")):
            title = f"[G fig 3] {'lognormal' if j else 'normal'}"
            draw_curves(axes[0, j], rows[row], results[row], title, shown_methods)
            draw_differences(axes[1, j], rows[row], results[row], title)
        axes[0, 0].legend(fontsize=7.5)
        axes[1, 0].legend(fontsize=7.5)
        save(fig, folder, "papers-fig3")
    if {"cigars", "circles 2", "circles 3", "spirals"} <= set(results):
        save(draw_planes(), folder, "papers-fig4")


def draw_planes():
    """The two-dimensional data with the clusters found, as [G fig 4]; points in a wrong cluster are ringed."""
    import matplotlib.pyplot as plt

    from energystats.plotting.axes import cluster_colors

    warnings.simplefilter("ignore", es.NotNegativeTypeWarning)  # the sine semimetric
    fig, axes = plt.subplots(1, 4, figsize=(14, 3.7), layout="constrained")
    cases = (("cigars", EXP_2), ("circles 2", GAUSS_1), ("circles 3", GAUSS_2), ("spirals", Sine(0.9)))
    for ax, (row_id, metric) in zip(axes, cases, strict=True):
        row = next(row for row in ROWS if row.id == row_id)
        X, labels = row.draw(row.xs[0], np.random.default_rng(1))
        pred = es.energy_cluster(X, row.k, metric=metric, algorithm=PLAIN, rng=0).labels
        matched = match(labels, pred, row.k)
        ax.scatter(*X.T, c=np.array(cluster_colors(row.k))[pred], s=7)
        wrong = labels != matched
        ax.scatter(*X[wrong].T, s=26, facecolors="none", edgecolors="black", linewidths=0.5)
        accuracy = es.clustering_accuracy(labels, pred)
        ax.set(title=f"{row_id}, {metric!r}\naccuracy {accuracy:.3f}", aspect="equal", xticks=[], yticks=[])
    return fig


def match(labels, pred, k):
    """Classes that stand for the clusters under the best matching."""
    from scipy.optimize import linear_sum_assignment

    counts = np.array([[np.sum((pred == j) & (labels == i)) for i in range(k)] for j in range(k)])
    return linear_sum_assignment(counts, maximize=True)[1][pred]


def save(fig, folder, file):
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    fig.savefig(folder / f"{file}.png", dpi=100)
    plt.close(fig)


# the workflow of [G fig 5] on a data set that is public


def random_walk_gaps(K, count):
    """Gaps between successive eigenvalues of the random-walk Laplacian I - D^-1 K, smallest first."""
    K = np.maximum(K, 0.0)
    root = np.sqrt(K.sum(axis=1))
    values = np.sort(1 - np.linalg.eigvalsh(K / np.outer(root, root)))
    return np.diff(values[: count + 1])


def real_data(folder, quick):
    """Wine: number of clusters from the eigengaps, heat map of cluster means, points on two principal components."""
    from sklearn.datasets import load_wine

    wine = load_wine()
    X = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
    kernels = {"rho_1": (RHO_1, base_point_kernel(X, RHO_1)), "gauss 2": (GAUSS_2, GAUSS_2.kernel(X))}
    head = "| method | gaps after eigenvalue 1, 2, ... | W of 3 clusters | sizes | accuracy |"
    print(f"\n### wine\n\n{head}\n" + "|---" * 5 + "|")
    parts = {}
    for name, (metric, K) in kernels.items():
        gaps = random_walk_gaps(K, 8)
        found = es.energy_cluster(X, 3, metric=metric, n_init=10 if quick else 50, algorithm=PLAIN, rng=0)
        parts[name] = (gaps, found)
        listed, accuracy = " ".join(f"{g:.3f}" for g in gaps), es.clustering_accuracy(wine.target, found.labels)
        print(f"| energy, {name} | {listed} | {found.within:.3f} | {found.sizes} | {accuracy:.3f} |")
    for name, method in (("k-means", k_means), ("GMM", gmm)):
        labels = method(X, 3, np.random.default_rng(0))
        sizes, accuracy = tuple(np.bincount(labels).tolist()), es.clustering_accuracy(wine.target, labels)
        print(f"| {name} | | | {sizes} | {accuracy:.3f} |")
    print_gaps(X, 3 if quick else 50)
    if folder is not None:
        draw_workflow(X, [str(name) for name in wine.feature_names], parts, folder)


def print_gaps(X, n_resamples):
    """The gap statistic of Tibshirani et al. on k-means, as in [G s.5.2], and on energy clustering."""
    print("\n### gap\n\n| gap statistic | gap of k = 1, 2, ... (error) | k |\n|---|---|---|")
    for name, alpha in (("k-means (squared distances)", 2.0), ("energy, rho_1", 1.0)):
        found = es.select_k(X, 8, "gap", alpha=alpha, null="box", n_resamples=n_resamples, rng=0)
        gaps = " ".join(f"{row.gap:.3f} ({row.gap_error:.3f})" for row in found.rows)
        print(f"| {name} | {gaps} | {found.k} |")


def draw_workflow(X, columns, parts, folder):
    import matplotlib.pyplot as plt

    from energystats.plotting.axes import cluster_colors

    fig, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained", width_ratios=(1, 1.25, 1.1))
    plane = X @ np.linalg.svd(X, full_matrices=False)[2][:2].T
    for (name, (gaps, found)), (left, middle, right) in zip(parts.items(), axes, strict=True):
        left.bar(np.arange(1, len(gaps) + 1), gaps, color="#0072b2")
        left.set(title=f"{name}: gaps of the Laplacian", xlabel="k", ylabel="gap after eigenvalue k")
        means = np.array([X[found.labels == j].mean(axis=0) for j in range(len(found.sizes))])
        image = middle.imshow(means.T, cmap="PuOr", vmin=-1.6, vmax=1.6, aspect="auto")
        names = [f"{j} (n={size})" for j, size in enumerate(found.sizes)]
        middle.set(title=f"{name}: cluster means, z-scores", yticks=range(len(columns)))
        middle.set_xticks(range(len(means)), names)
        middle.set_yticklabels(columns, fontsize=8)
        fig.colorbar(image, ax=middle, shrink=0.8)
        colors = cluster_colors(len(means))
        for j, mark in zip(range(len(means)), "o^s", strict=True):
            right.scatter(*plane[found.labels == j].T, s=16, color=colors[j], marker=mark, label=f"cluster {j}")
        right.set(title=f"{name}: two principal components", xlabel="first", ylabel="second")
        right.legend(fontsize=8)
    save(fig, folder, "papers-fig5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two runs of small samples, no figures")
    parser.add_argument("--only", metavar="ID", nargs="+", choices=IDS, default=IDS, help="some rows")
    parser.add_argument("--runs", type=int, metavar="N", help="Monte Carlo runs of every row")
    parser.add_argument("--out", type=Path, default=FIGURES, metavar="FOLDER", help="where figures go")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    options = parser.parse_args()
    chosen = [row for row in ROWS if row.id in options.only]
    results, begun = {}, time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        for row in chosen:
            start = time.perf_counter()
            runs = options.runs or (2 if options.quick else row.runs)
            xs = row.xs[:1] if options.quick else row.xs
            results[row.id] = run_row(row, xs, runs, pool)
            print_row(row, xs, results[row.id], runs, time.perf_counter() - start)
        if "optima" in options.only:
            compare_optima(options.runs or (1 if options.quick else 50), pool)
    if chosen and not options.quick:
        print("\n### summary\n\n| id | paper | ours |\n|---|---|---|")
        for row in chosen:
            printed = ", ".join(f"{method} {value}" for method, value in row.values.items()) or row.paper
            print(f"| {row.id} | {printed} | {row.ours(results[row.id])} |")
        draw_all(results, options.out)
    if "starts" in options.only:
        excess_of_starts(options.runs or (2 if options.quick else 50))
    if "bounds" in options.only:
        upper_bounds(options.runs or (1 if options.quick else 20))
    if "wine" in options.only:
        real_data(None if options.quick else options.out, options.quick)
    print(f"\n{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
