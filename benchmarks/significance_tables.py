"""Populations, methods and tables of `benchmarks/significance.py`. To add or drop a method is one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import energystats as es
from benchmarks.selective_inference import selective_test
from benchmarks.unimodal_limit import Limit, Mixture, circle_limits, mixture_limits, two_normals
from tests import simulations

RESAMPLES = 99  # draws behind each p-value
SPLIT_DRAWS = 199  # of the tests of unimodality, their default


# ---------------------------------------------------------------- what is a row, a method, a table


@dataclass(frozen=True)
class Row:
    """A population.

    `kind` is "null" (every linear projection is unimodal), "alternative", or "outside" (rows are not independent, so
    that no method's assumption holds). `k` is what is tested, and the truth where a number is chosen; `how` are
    further arguments of `cluster_test`; `limit` computes the greatest power that a valid test can have.
    """

    name: str
    draw: Callable[[np.random.Generator], np.ndarray]
    kind: str = "null"
    k: int = 2
    how: dict[str, Any] = field(default_factory=dict)
    limit: Callable[[np.random.Generator], Limit] | None = None
    replicates: int | None = None


@dataclass(frozen=True)
class Method:
    """A column: (sample, generator, row) -> p, on a share of the replicates, at least `least`, up to `most` points."""

    call: Callable[[np.ndarray, np.random.Generator, Row], float]
    share: float = 1.0
    most: float = np.inf
    least: int = 1


@dataclass(frozen=True)
class Table:
    """Rows, columns, and replicates by kind of row. `hit` says what is counted: p at the levels, or the right k."""

    title: str
    rows: tuple[Row, ...]
    methods: dict[str, Method]
    replicates: dict[str, int]
    hit: str = "levels"

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def count(self, row: Row, method: str, asked: int | None) -> int:
        base = asked or row.replicates or self.replicates[row.kind]
        column = self.methods[method]
        return asked or max(column.least, round(base * column.share))


class NotApplicableError(Exception):
    """The method has no answer for this row."""


# ---------------------------------------------------------------- the methods, one line each


def ours(**how: Any) -> Callable[[np.ndarray, np.random.Generator, Row], float]:
    """A method of the package."""

    def call(X, rng, row):
        return es.cluster_test(X, **{"k": row.k, "n_resamples": RESAMPLES, "rng": rng, **row.how, **how}).pvalue

    return call


def comparison(name: str, **how: Any) -> Callable[[np.ndarray, np.random.Generator, Row], float]:
    """One of the comparisons that a refit test reports beside the one that counts."""

    def call(X, rng, row):
        result = es.cluster_test(X, **{"k": row.k, "n_resamples": RESAMPLES, "rng": rng, **row.how, **how})
        return next(found.pvalue for found in result.comparisons if found.name == name)

    return call


def combined(rule: Callable[[np.ndarray], float]) -> Callable[[np.ndarray, np.random.Generator, Row], float]:
    """The p-values of the splits, combined in another way."""

    def call(X, rng, row):
        pvalues = es.cluster_test(X, method="split", n_resamples=SPLIT_DRAWS, rng=rng).pvalues
        if pvalues.size < 2:
            raise NotApplicableError("the test has no p-value of its own for each split")
        return min(1.0, rule(pvalues.ravel()))

    return call


def shrunk_covariance(X, rng, row):
    """S/T against normal samples whose covariance is that of Ledoit and Wolf."""
    from sklearn.covariance import ledoit_wolf

    sds = np.sqrt(np.linalg.eigvalsh(ledoit_wolf(X)[0]).clip(0))
    observed = best_share(X, rng)
    null = np.array([best_share(sds * rng.standard_normal(X.shape), rng) for _ in range(RESAMPLES)])
    return (1 + np.sum(null >= observed)) / (RESAMPLES + 1)


def best_share(X, rng):
    """S/T of the best of three starts."""
    found = es.energy_cluster(X, 2, n_init=3, algorithm=es.Hartigan(n_perturb=0), rng=rng)
    return found.between / found.total


def naive(X, rng, row):
    """Permute the labels that were found: not a test."""
    labels = es.energy_cluster(X, row.k, n_init=3, algorithm=es.Hartigan(n_perturb=0), rng=rng).labels
    return es.energy_test(X, groups=labels, n_resamples=RESAMPLES, rng=rng).pvalue


def dip(X, rng, row):
    """Hartigans' dip test, its table of the uniform distribution; of the first component if there are columns."""
    import diptest

    x = X
    if X.ndim == 2:
        centred = X - X.mean(axis=0)
        x = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    return diptest.diptest(np.ascontiguousarray(x))[1]


def selective(X, rng, row, *, linkage="ward", sigma=None):
    return selective_test(X, linkage, sigma).pvalue


def index_alone(x, rng, row=None):
    """All three indices, without the factor for flat densities."""
    from energystats.cluster_tests.unimodality import unimodality_test

    return unimodality_test(np.asarray(x, dtype=float), SPLIT_DRAWS, 1.0, rng).pvalue


def weighted(*weights: float, test: Callable[..., float]) -> Callable[[np.ndarray, np.random.Generator, Row], float]:
    """A test with other weights of likelihood ratio, E and distance."""
    from energystats._core import pvalues

    def call(X, rng, row):
        with mock.patch.object(pvalues, "INDEX_WEIGHTS", np.maximum(weights, 1e-9)):
            return test(X, rng, row)

    return call


def as_given(X, rng, row):
    """The split test among the points as given alone."""
    from energystats.cluster_tests import split

    with mock.patch.object(split, "spaces_of", return_value=(split.GIVEN,)):
        return ours(method="split", n_resamples=SPLIT_DRAWS)(X, rng, row)


def one_third_clustered(X, rng, row):
    """A third of the points is clustered and the others are scored, ten times; the p-values of E are combined."""
    from energystats._core.pvalues import cauchy_combination

    found = []
    for _ in range(5):
        order = rng.permutation(len(X))
        a = int(0.35 * len(X))
        for part, rest in ((order[:a], order[a:]), (order[-a:], order[:-a])):
            labels = es.energy_cluster(X[part], 2, n_init=4, algorithm=es.Hartigan(n_perturb=0), rng=rng).labels
            line = X[part][labels == 1].mean(axis=0) - X[part][labels == 0].mean(axis=0)
            found.append(weighted(0, 1, 0, test=index_alone)(X[rest] @ line, rng, row))
    return cauchy_combination(np.array(found))


def greatest_share(x):
    """S/T of the best split of one column."""
    from energystats._core.unimodal import _split_profile as split_profile

    return float(split_profile(np.sort(x)).max())


def share_gaussian(x, rng, row):
    """S/T of the best split, against normal samples."""
    null = [greatest_share(rng.standard_normal(x.size)) for _ in range(RESAMPLES)]
    return (1 + np.sum(np.array(null) >= greatest_share(x))) / (RESAMPLES + 1)


def share_critical(x, rng, row):
    """S/T of the best split, against the smoothed bootstrap at Silverman's critical bandwidth."""
    h = critical_bandwidth(x)
    null = [greatest_share(rng.choice(x, x.size) + h * rng.standard_normal(x.size)) for _ in range(RESAMPLES)]
    return (1 + np.sum(np.array(null) >= greatest_share(x))) / (RESAMPLES + 1)


def critical_bandwidth(x, cells=512, steps=14):
    """The smallest bandwidth at which a normal kernel estimate has one mode."""
    width = np.ptp(x) / cells
    counts = np.histogram(x, cells)[0].astype(float)
    transform, frequency = np.fft.rfft(counts, 4 * cells), np.fft.rfftfreq(4 * cells)

    def one_mode(h):
        density = np.fft.irfft(transform * np.exp(-0.5 * (2 * np.pi * frequency * h) ** 2), 4 * cells)[:cells]
        slopes = np.diff(density)
        signs = np.sign(slopes[np.abs(slopes) > 1e-12 * density.max()])
        return np.sum((signs[:-1] > 0) & (signs[1:] < 0)) <= 1

    low, high = 0.5, float(cells)
    for _ in range(steps):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if one_mode(middle) else (middle, high)
    return high * width


ONE_COLUMN = {
    "1-D": Method(ours(method="unimodal-1d", n_resamples=SPLIT_DRAWS)),
    "1-D conservative": Method(ours(method="unimodal-1d", n_resamples=SPLIT_DRAWS, conservative=True)),
    "1-D without factor": Method(index_alone),
    "dip": Method(dip),
    "S/T critical bandwidth": Method(share_critical),
    "S/T Gauss": Method(share_gaussian),
}
LEAST = 400  # samples behind a level or a power of the package's default test
VALID = {
    "split": Method(ours(method="split", n_resamples=SPLIT_DRAWS), least=LEAST),
    "crossfit": Method(ours(method="crossfit"), share=0.3, most=400),
    "refit unimodal": Method(ours(method="refit", null="unimodal"), share=0.5, most=400),
    "refit gaussian": Method(ours(method="refit", null="gaussian"), share=0.5, most=400),
}
CONSERVATIVE = Method(ours(method="split", n_resamples=SPLIT_DRAWS, conservative=True), share=0.4, least=LEAST)
PLAIN = {"gaussian plain": Method(comparison("plain", method="refit", null="gaussian"), share=0.2, most=400)}
PEERS = {
    "dip PC1": Method(dip),
    "selective": Method(selective),
    "naive": Method(naive, share=0.25, most=200),
}


# ---------------------------------------------------------------- table C: scores that are not linear


def half_and_rest(X, rng, k=2, **how):
    """Distances between the held-out half and the clusters of the other: R of the rest to it, its labels."""
    order = rng.permutation(len(X))
    part, rest = order[: len(X) // 2], order[len(X) // 2 :]
    labels = es.energy_cluster(X[part], k, n_init=3, algorithm=es.Hartigan(n_perturb=0), rng=rng, **how).labels
    return X[part], X[rest], labels


def energy_scores(X, rng, *, power=1.0, **how):
    """Mean rho to one cluster less mean rho to the other; power 2 of the distance makes it linear."""
    part, rest, labels = half_and_rest(X, rng, **how)
    R = es.pairwise(rest, part, **how) if how else es.pairwise(rest, part) ** power
    return R[:, labels == 0].mean(axis=1) - R[:, labels == 1].mean(axis=1)


def pair_scores(X, rng, row):
    """Scores of the points assigned to two of three clusters along the line between these."""
    part, rest, labels = half_and_rest(X, rng, 3)
    squared = es.pairwise(rest, part) ** 2
    nearest = np.column_stack(
        [
            squared[:, labels == j].mean(axis=1) - (es.pairwise(part[labels == j]) ** 2).mean() / 2  # to the mean
            for j in range(3)
        ]
    ).argmin(axis=1)
    kept = squared[nearest != 2]
    scores = kept[:, labels == 0].mean(axis=1) - kept[:, labels == 1].mean(axis=1)
    return index_alone(scores, rng)


def classify_then_compare(X, rng, row):
    """Classify the held-out half and permute those labels: not a test either."""
    part, rest, labels = half_and_rest(X, rng)
    squared = es.pairwise(rest, part) ** 2
    scores = squared[:, labels == 0].mean(axis=1) - squared[:, labels == 1].mean(axis=1)
    if not 1 < np.sum(scores > 0) < len(rest) - 1:
        return 1.0
    return es.energy_test(rest, groups=scores > 0, n_resamples=RESAMPLES, rng=rng).pvalue


def scored(test, **how):
    """The dip test, or E, of held-out scores."""
    return lambda X, rng, row: test(energy_scores(X, rng, **how), rng, row)


NOT_LINEAR = {
    "energy score: dip": Method(scored(dip)),
    "energy score: E": Method(scored(index_alone)),
    "kernel score: E": Method(scored(index_alone, metric=es.metrics.Gaussian(1.0))),
    "linear score: dip": Method(scored(dip, power=2.0)),
    "linear score: E": Method(scored(index_alone, power=2.0)),
    "pair of three: E": Method(pair_scores),
    "classify and compare": Method(classify_then_compare),
}


# ---------------------------------------------------------------- table E, F, and rows


def refit_on_coordinates(R, rng, row):
    """The refit method on ten principal coordinates of a matrix."""
    found = es.principal_coordinates(R).coordinates[:, :10]
    return ours(method="refit", null="unimodal")(found, rng, Row(row.name, row.draw))


def larger_of_both(R, rng, row):
    return max(ours(method="split", n_resamples=SPLIT_DRAWS)(R, rng, row), refit_on_coordinates(R, rng, row))


MATRICES = {
    "split": VALID["split"],
    "refit unimodal (10 PCo)": Method(refit_on_coordinates, share=0.5),
    "larger of both": Method(larger_of_both, share=0.5),
}


def chosen(**how):
    return lambda X, rng, row: es.select_k(X, 7, rng=rng, **how).k


NUMBERS = {
    "tree": Method(chosen(criterion="significance")),
    "gap unimodal": Method(chosen(criterion="gap")),
    "gap box": Method(chosen(criterion="gap", null="box")),
    "eigengap": Method(chosen(criterion="eigengap")),
}


def limit_of(mixture: Mixture, n: int):
    return lambda rng: mixture_limits(mixture, (n,), rng)[n]


def rows(populations, kind="null", **fields):
    return tuple(Row(name, draw, kind, **fields) for name, draw in populations.items())


ONE_COLUMN_LIMITS = {
    "delta=3": two_normals(3),
    "delta=4": two_normals(4),
    "80/20 delta=4": two_normals(4, 0.2),
    "nested, log scale": Mixture((0.5, 0.5), (0.0, 1.5), (1.5, 0.3)),
}
SIZES = (50, 100, 200)


def one_column_rows():
    found = []
    nulls = {**simulations.ONE_COLUMN_NULLS, **simulations.FURTHER_ONE_COLUMN_NULLS}
    for kind, laws in (("null", nulls), ("alternative", simulations.ONE_COLUMN_ALTERNATIVES)):
        for law, draw in laws.items():
            for n in SIZES:
                mixture = ONE_COLUMN_LIMITS.get(law)
                limit = limit_of(mixture, n) if mixture else None
                found.append(Row(f"{law} n={n}", partial(draw, n=n), kind, limit=limit))
    return tuple(found)


LIMITS_OF_ROWS = {  # of clusters that differ along one line, the other coordinates being independent and normal
    "delta=2.5 d=2": limit_of(two_normals(2.5), 100),
    "delta=3 d=2": limit_of(two_normals(3), 100),
    "delta=3 d=10": limit_of(two_normals(3), 100),
    "delta=4 d=2": limit_of(two_normals(4), 100),
    "delta=4 d=10": limit_of(two_normals(4), 100),
    "80/20 delta=4": limit_of(two_normals(4, 0.2), 100),
    "80/20 delta=6": limit_of(two_normals(6, 0.2), 100),
    "unequal variances": limit_of(two_normals(5, 0.5, 2.0), 100),
    "cigars": limit_of(two_normals(6.5), 100),
    "d=50, 10 informative": limit_of(two_normals(0.7 * np.sqrt(10)), 200),
    "three in a line, step 4": limit_of(Mixture((1 / 3,) * 3, (0.0, 4.0, 8.0), (1.0,) * 3), 120),
    "concentric circles": lambda rng: circle_limits((1.0, 3.0), 0.2, 200, rng)[1],
}


def multivariate_rows():
    alternatives = {name: draw for name, (draw, _) in simulations.ALTERNATIVES.items()}
    alternatives.update(simulations.FURTHER_ALTERNATIVES)
    return (
        *(
            replace(row, replicates=1000 if row.name == "uniform square" else None)
            for row in rows({**simulations.SPLIT_NULLS, **simulations.FURTHER_NULLS})
        ),
        *rows(simulations.DEPENDENT_ROWS, "outside"),
        *(Row(name, draw, "alternative", limit=LIMITS_OF_ROWS.get(name)) for name, draw in alternatives.items()),
    )


def three_cluster_rows():
    triangle, kernel = simulations.TRIANGLE, {"metric": es.metrics.Gaussian(1.0)}
    nulls = {name: simulations.SPLIT_NULLS[name] for name in ("N d=2 n=200", "uniform square", "ellipse 1:25")}
    return (
        *rows(nulls, k=3),
        *rows(
            {f"triangle side {s}": simulations.normals_at(s / 5 * triangle, 120) for s in (4, 5)}, "alternative", k=3
        ),
        Row("kernel: N d=2", simulations.SPLIT_NULLS["N d=2 n=50"], how=kernel),
        Row("kernel: uniform square, side 6", lambda rng: 6 * rng.random((100, 2)) - 3, how=kernel),
        Row("kernel: circles", simulations.circles, "alternative", how=kernel),
        Row("kernel: half moons", simulations.half_moons, "alternative", how=kernel),
    )


def matrix_rows():
    metrics = {
        "Manhattan": partial(es.pairwise, metric="cityblock"),
        "root of Euclid": lambda X: np.sqrt(es.pairwise(X)),
    }
    nulls = {name: simulations.SPLIT_NULLS[name] for name in ("uniform square", "ellipse 1:25")}
    nulls["N d=2"] = simulations.FURTHER_NULLS["N d=2 n=100"]
    found = []
    for name, to_matrix in metrics.items():
        for kind, laws in (("null", nulls), ("alternative", {"delta=4 d=2": simulations.two_normals(100, 2, 4)})):
            for law, draw in laws.items():
                found.append(
                    Row(
                        f"{name}, {law}",
                        lambda rng, draw=draw, to_matrix=to_matrix: to_matrix(draw(rng)),
                        kind,
                        how={"metric": "precomputed"},
                    )
                )
    return tuple(found)


def not_linear_rows():
    shapes = {"N d=1 n=200": (200, 1), "N d=2 n=200": (200, 2), "N d=10 n=200": (200, 10), "N d=2 n=600": (600, 2)}
    normal = {name: lambda rng, shape=shape: rng.standard_normal(shape) for name, shape in shapes.items()}
    return rows({**normal, "ellipse 1:25": simulations.SPLIT_NULLS["ellipse 1:25"]})


CURVES = {  # name: (label, {x: (n, d, delta, share of the second cluster)})
    "delta": ("distance in standard deviations; n = 100, d = 2",
              {x: (100, 2, x, 0.5) for x in (1, 2, 2.5, 3, 3.5, 4, 5)}),
    "n": ("n; delta = 3.5, d = 2", {x: (x, 2, 3.5, 0.5) for x in (50, 100, 200, 400)}),
    "d": ("d; delta = 4, n = 100", {x: (100, x, 4.0, 0.5) for x in (2, 5, 10, 20, 50)}),
    "balance": ("share of the smaller cluster; delta = 5, n = 100, d = 2",
                {x: (100, 2, 5.0, x) for x in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)}),
}  # fmt: skip


def curve_name(n, d, delta, share):
    return f"n={n} d={d} delta={delta:g} share={share:g}"


def curve_rows():
    points = {curve_name(*point): point for _, curve in CURVES.values() for point in curve.values()}
    return tuple(
        Row(
            name,
            simulations.two_normals(n, d, delta, share),
            "alternative" if delta > 2 else "null",
            limit=limit_of(two_normals(delta, share), n),
        )
        for name, (n, d, delta, share) in points.items()
    )


LIMIT_MIXTURES = {
    "delta=2": two_normals(2),
    "delta=2.5": two_normals(2.5),
    "delta=3": two_normals(3),
    "delta=3.5": two_normals(3.5),
    "delta=4": two_normals(4),
    "80/20 delta=4": two_normals(4, 0.2),
    "80/20 delta=6": two_normals(6, 0.2),
    "unequal variances, delta=5": two_normals(5, 0.5, 2.0),
    "cigars, short axis": two_normals(6.5),
    "d=50, 10 informative": two_normals(0.7 * np.sqrt(10)),
}
LIMIT_SIZES = (50, 100, 200, 400)


def limit_rows():
    mixtures = [
        Row(f"{name} n={n}", simulations.bar(1), "alternative", limit=limit_of(mixture, n))  # nothing is drawn
        for name, mixture in LIMIT_MIXTURES.items()
        for n in LIMIT_SIZES
    ]
    circles = [
        Row(f"circles, {what} n={n}", simulations.circles, "alternative",
            limit=lambda rng, j=j, n=n: circle_limits((1.0, 3.0), 0.2, n, rng)[j])
        for j, what in enumerate(("one line", "the plane"))
        for n in LIMIT_SIZES
    ]  # fmt: skip
    return (*mixtures, *circles)


def uniformity_rows():
    return rows(
        {
            f"N d={d} n={n}": partial(np.random.Generator.standard_normal, size=(n, d))
            for n, d in ((30, 2), (100, 2), (60, 10))
        }
    )


def spiked_rows():
    """One normal with a long axis, which is what two clusters look like to a covariance matrix."""

    def spike(rng, variance):
        X = rng.standard_normal((100, 10))
        X[:, 0] *= np.sqrt(variance)
        return X

    nulls = {f"one normal, spike {v:g}, d=10": partial(spike, variance=v) for v in (2.0, 3.25)}
    return (
        *rows(nulls),
        *rows({f"delta={x} d=10": simulations.two_normals(100, 10, x) for x in (2, 3)}, "alternative"),
    )


RULES = {
    "Cauchy": VALID["split"],
    "first split alone": Method(combined(lambda p: p[0])),
    "twice the median": Method(combined(lambda p: 2 * np.median(p))),
    "twice the mean": Method(combined(lambda p: 2 * np.mean(p))),
    "Bonferroni": Method(combined(lambda p: p.size * np.min(p))),
}
SHRUNK = {
    "Ledoit-Wolf": Method(shrunk_covariance, share=0.5),
    **PLAIN,
    "refit gaussian": VALID["refit gaussian"],
    "split": VALID["split"],
}


STEPS = {
    "split": VALID["split"],
    "likelihood ratio alone": Method(weighted(1, 0, 0, test=VALID["split"].call)),
    "E alone": Method(weighted(0, 1, 0, test=VALID["split"].call)),
    "distance alone": Method(weighted(0, 0, 1, test=VALID["split"].call)),
    "columns as given": Method(as_given),
    "a third clustered, E alone": Method(one_third_clustered),
}


def step_rows():
    alternatives = {name: draw for name, (draw, _) in simulations.ALTERNATIVES.items()}
    alternatives.update(simulations.FURTHER_ALTERNATIVES)
    wanted = ("delta=3 d=2", "delta=3 d=10", "delta=4 d=10", "80/20 delta=4", "three clusters, side 5", "cigars",
              "unequal variances", "concentric circles")  # fmt: skip
    return (
        *rows({"bar n=100": simulations.bar(100), "square n=100": simulations.square(100)}),
        *(Row(name, alternatives[name], "alternative", limit=LIMITS_OF_ROWS.get(name)) for name in wanted),
    )


CLOSE_LOOK = {"square n=100": 1000, "bar n=60": 1000, "bar n=100": 1000, "one flat axis of 10": 4000}  # the worst cases


def flat_rows():
    return tuple(
        Row(name, draw, replicates=CLOSE_LOOK.get(name)) for name, draw in simulations.FURTHER_FLAT_NULLS.items()
    )


def rule_rows():
    alternatives = {f"delta=4 d={d}": simulations.two_normals(100, d, 4) for d in (2, 10)}
    return (*rows({"bar n=100": simulations.bar(100)}), *rows(alternatives, "alternative"))


SELECTIVE = {
    f"{linkage} (sigma {'known' if sigma else 'estimated'})": Method(partial(selective, linkage=linkage, sigma=sigma))
    for linkage in ("ward", "average")
    for sigma in (1.0, None)
}
LIMIT = {"limit": Method(lambda X, rng, row: np.nan)}  # computed once for a row, without samples of it
USUAL = {"null": 200, "alternative": 100, "outside": 200}
TABLES = {
    "A": Table("One column", one_column_rows(), {**ONE_COLUMN, **LIMIT}, {"null": 200, "alternative": 200}),
    "B": Table("Several columns, two clusters", multivariate_rows(), {**VALID, **PLAIN, **PEERS, **LIMIT}, USUAL),
    "K": Table("Three clusters, and kernels", three_cluster_rows(),
               {**VALID, "split (k = 2)": Method(ours(method="split", k=2, n_resamples=SPLIT_DRAWS), least=LEAST)},
               {"null": 100, "alternative": 100}),
    "C": Table("Scores that are not linear", not_linear_rows(), NOT_LINEAR, {"null": 100}),
    "D": Table("Flat densities, the worst case", flat_rows(),
               {"split": VALID["split"],
                "split conservative": CONSERVATIVE,
                **{name: replace(VALID[name], share=0.1) for name in ("crossfit", "refit unimodal", "refit gaussian")}},
               {"null": 300}),
    "E": Table("Matrices that are not Euclidean distances", matrix_rows(), MATRICES,
               {"null": 100, "alternative": 100}),
    "F": Table("The right number of clusters",
               tuple(Row(name, draw, "alternative", k=k)
                     for name, (k, draw, _) in simulations.NUMBERS_OF_CLUSTERS.items()),
               NUMBERS, {"alternative": 30}, hit="truth"),
    "P": Table("Power curves of two normals", curve_rows(), {**VALID, **PEERS, **LIMIT},
               {"null": 100, "alternative": 100}),
    "L": Table("The Neyman-Pearson limit", limit_rows(), LIMIT, {"alternative": 1}),
    "V": Table("Where the power of the split test comes from", step_rows(), {**STEPS, **LIMIT},
               {"null": 80, "alternative": 80}),
    "R": Table("Other ways to combine the splits", rule_rows(), RULES, {"null": 100, "alternative": 100}),
    "W": Table("A shrunk covariance as the Gaussian null", spiked_rows(), SHRUNK, USUAL),
    "S": Table("Selective inference under its own null hypothesis", uniformity_rows(), SELECTIVE, {"null": 300}),
}  # fmt: skip
