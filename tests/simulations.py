"""Populations on which level and power are measured: which null or alternative each belongs to, and how to draw it."""

import numpy as np
import pandas as pd
from scipy.stats import norm

AR = np.linalg.cholesky(0.8 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
TRIANGLE = np.array([[0.0, 0.0], [5.0, 0.0], [2.5, 4.33]])


def two_normals(n, d, delta, share=0.5):
    def draw(rng):
        X = rng.standard_normal((n, d))
        X[:, 0] += delta * (rng.random(n) < share)
        return X

    return draw


def cigars(rng, n=100):
    X = rng.standard_normal((n, 2)) * np.sqrt([1.0, 20.0])
    X[:, 0] += 6.5 * (rng.random(n) < 0.5)
    return X


def bar(n):
    return lambda rng: rng.random((n, 2)) * [8.0, 1.0]


def flat_axis(rng):
    X = 0.1 * rng.standard_normal((100, 10))
    X[:, 0] = 4 * rng.random(100)
    return X


ONE_COLUMN_NULLS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "lognormal": lambda rng, n: np.exp(0.5 * rng.standard_normal(n)),
    "t3": lambda rng, n: rng.standard_t(3, n),
    "gamma(.5)": lambda rng, n: rng.gamma(0.5, size=n),
    "triangular": lambda rng, n: rng.triangular(0, 0, 1, n),
}
SPLIT_NULLS = {
    "N d=2 n=50": lambda rng: rng.standard_normal((50, 2)),
    "N d=2 n=200": lambda rng: rng.standard_normal((200, 2)),
    "N d=10 n=100": lambda rng: rng.standard_normal((100, 10)),
    "N n=40 d=50": lambda rng: rng.standard_normal((40, 50)),
    "AR(.8) d=5": lambda rng: rng.standard_normal((100, 5)) @ AR.T,
    "ellipse 1:25": lambda rng: rng.standard_normal((100, 2)) * [1.0, 5.0],
    "t3 d=2": lambda rng: rng.standard_normal((100, 2)) / np.sqrt(rng.chisquare(3, (100, 1)) / 3),
    "Laplace d=2": lambda rng: rng.laplace(size=(100, 2)),
    "lognormal d=2": lambda rng: np.exp(0.5 * rng.standard_normal((100, 2))),
    "uniform square": lambda rng: rng.random((100, 2)),
    "exponential d=2": lambda rng: rng.exponential(size=(100, 2)),
    "two normals, delta=2": two_normals(100, 2, 2),
}


def logits(rng, shape):
    """Logits of shares of ten, with a half added to both counts."""
    successes = rng.binomial(10, 0.85, shape)
    return np.log((successes + 0.5) / (10.5 - successes))


def at_limit(rng, shape, share, put_in=0.0):
    """A normal sample whose lowest share is one value: the limit, or so much below it."""
    x, limit = rng.standard_normal(shape), norm.ppf(share)
    return np.where(x < limit, limit - put_in, x)


DISCRETE_NULLS = {  # shape (n,) or (n, d): one mode, but for rounding, counting and limits
    "log1p(Poisson 1)": lambda rng, shape: np.log1p(rng.poisson(1, shape)),
    "log1p(negative binomial, mean 5)": lambda rng, shape: np.log1p(rng.negative_binomial(2, 2 / 7, shape)),
    "sqrt(Poisson 3)": lambda rng, shape: np.sqrt(rng.poisson(3, shape)),
    "sqrt(Poisson 1)": lambda rng, shape: np.sqrt(rng.poisson(1, shape)),
    "log10(Poisson 5), 0 as 1": lambda rng, shape: np.log10(np.maximum(rng.poisson(5, shape), 1)),
    "logit of Bin(10, .85)": logits,
    "1/(1 + Poisson 1)": lambda rng, shape: 1 / (1 + rng.poisson(1, shape)),
    "1/geometric(.3)": lambda rng, shape: 1 / rng.geometric(0.3, shape),
    "left-censored normal, 15 %": lambda rng, shape: at_limit(rng, shape, 0.15),
    "half the detection limit, 20 %, log": lambda rng, shape: at_limit(rng, shape, 0.2, np.log(2)),
}
GAUSSIAN_NULLS = {
    **{name: SPLIT_NULLS[name] for name in ("N d=2 n=50", "N d=10 n=100", "N n=40 d=50", "AR(.8) d=5", "ellipse 1:25")},
    "one large variance of 10": lambda rng: rng.standard_normal((100, 10)) * np.sqrt([3.25, *[1.0] * 9]),
}
FLAT_NULLS = {
    "bar n=60": bar(60),
    "bar n=200": bar(200),
    "one flat axis of 10": flat_axis,
    "cube d=5": lambda rng: rng.random((100, 5)),
}


def long_cigars(rng, n=200, d=20):
    """Two normals six apart across a direction of variance 36, turned at random."""
    X = rng.standard_normal((n, d)) * [6.0, *[1.0] * (d - 1)]
    X[: n // 2, 1] += 6
    return X @ np.linalg.qr(rng.standard_normal((d, d)))[0]


def two_of_fifty(rng, n=200):
    """Two of fifty columns carry two normals five apart; the others have twice their standard deviation."""
    X = 2 * rng.standard_normal((n, 50))
    X[:, :2] = rng.standard_normal((n, 2)) + np.repeat([0, 5], n // 2)[:, None] / np.sqrt(2)
    return X


ALTERNATIVES = {  # name: (draw, power asked for)
    "delta=4 d=2": (two_normals(100, 2, 4), 0.74),
    "delta=4 d=10": (two_normals(100, 10, 4), 0.74),
    "80/20 delta=6": (two_normals(100, 2, 6, 0.2), 0.85),
    "three clusters, side 5": (lambda rng: rng.standard_normal((120, 2)) + TRIANGLE[rng.integers(3, size=120)], 0.70),
    "cigars": (cigars, 0.95),
    "long cigars d=20": (long_cigars, 0.80),
    "two of fifty columns": (two_of_fifty, 0.80),
}


def mixed_table(rng, n=40):
    """Numbers, categories and truth values with gaps, all independent."""
    return pd.DataFrame(
        {
            "size": rng.exponential(size=n),
            "kind": pd.Categorical(rng.integers(3, size=n)),
            "depth": np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n)),
            "found": rng.random(n) < 0.3,
        }
    )


def two_communities(rng, n=40):
    """Poisson counts of ten species, five of which each community has thrice as often."""
    mean = np.where(rng.random((n, 1)) < 0.5, [3.0] * 5 + [1.0] * 5, [1.0] * 5 + [3.0] * 5)
    return rng.poisson(mean).astype(float)


def mixed_clusters(rng, n=60):
    """Two clusters in a number, a category and another number with gaps; the fourth column is noise."""
    table, second = mixed_table(rng, n), rng.integers(2, size=n)
    table["size"] += 2 * second
    table["kind"] = pd.Categorical(np.where(rng.random(n) < 0.8, second, 2))
    table["depth"] += 3 * second
    return table


INDEPENDENT_COLUMNS = {  # name: (draw, options)
    "exponential": (lambda rng: rng.exponential(size=(50, 3)), {}),
    "Poisson counts": (
        lambda rng: rng.poisson([0.3, 0.5, 1, 1, 2, 2, 4, 8], size=(30, 8)).astype(float),
        {"metric": "braycurtis"},
    ),
    "mixed table": (mixed_table, {"metric": "gower"}),
    "t3, independent": (lambda rng: rng.standard_t(3, size=(50, 2)), {}),
    "t3, k = 3, decorrelated": (lambda rng: rng.standard_t(3, size=(50, 2)), {"metric": "mahalanobis", "k": 3}),
}
DEPENDENT_COLUMNS = {  # name: (draw, options, power asked for)
    "two communities": (two_communities, {"metric": "braycurtis"}, 0.95),
    "three clusters, side 5": (ALTERNATIVES["three clusters, side 5"][0], {"k": 3}, 0.95),
    "mixed clusters": (mixed_clusters, {"metric": "gower"}, 0.80),
}
REFIT_ALTERNATIVES = {  # the same, against Gaussian and against unimodal references
    "delta=3 d=2": (two_normals(100, 2, 3), 0.75, 0.0),
    "delta=3 d=10": (two_normals(100, 10, 3), 0.52, 0.0),
    "delta=4 d=2": (two_normals(100, 2, 4), 0.95, 0.60),
    "three clusters, side 5": (ALTERNATIVES["three clusters, side 5"][0], 0.95, 0.70),
}


def normals_at(centres, n):
    """Unit normals of equal probability around some places."""
    places = np.array(centres, dtype=float)
    return lambda rng: rng.standard_normal((n, places.shape[1])) + places[rng.integers(len(places), size=n)]


HEXAGON = 6 * np.column_stack((np.cos(np.arange(6) * np.pi / 3), np.sin(np.arange(6) * np.pi / 3)))
LINE = [[0, 0], [6, 0], [12, 0]]
SQUARE = [[0, 0], [6, 0], [0, 6], [6, 6]]
NUMBERS_OF_CLUSTERS = {  # name: (k, draw, share of correct choices asked for by method and reference)
    "normal": (1, SPLIT_NULLS["N d=10 n=100"], {"gap unimodal": 0.95, "gap box": 0.95, "significance": 0.95}),
    "uniform": (1, SPLIT_NULLS["uniform square"], {"gap unimodal": 0.93, "gap box": 0.8, "significance": 0.93}),
    "lognormal": (1, SPLIT_NULLS["lognormal d=2"], {"gap unimodal": 0.95, "gap box": 0.95, "significance": 0.95}),
    "ellipse": (1, SPLIT_NULLS["ellipse 1:25"], {"gap unimodal": 0.95, "gap box": 0.95, "significance": 0.93}),
    "delta=5 d=2": (2, two_normals(100, 2, 5), {"gap unimodal": 0.95, "significance": 0.95, "eigengap": 0.95}),
    "delta=5 d=10": (2, two_normals(100, 10, 5), {"gap unimodal": 0.93, "significance": 0.95, "eigengap": 0.95}),
    "80/20 delta=6": (2, two_normals(100, 2, 6, 0.2), {"gap unimodal": 0.9, "gap box": 0.7, "significance": 0.8}),
    "triangle": (3, normals_at(1.2 * TRIANGLE, 150), {"gap unimodal": 0.95, "significance": 0.95, "eigengap": 0.95}),
    "line": (
        3,
        normals_at(LINE, 150),
        {"gap unimodal": 0.6, "gap box": 0.9, "significance": 0.93},
    ),
    "hexagon": (6, normals_at(HEXAGON, 240), {"significance": 0.9, "eigengap": 0.95}),
    "square": (4, normals_at(SQUARE, 200), {"gap unimodal": 0.95, "significance": 0.93, "eigengap": 0.95}),
}


# ---------------------------------------------------------------- further populations, of benchmarks/significance.py


def skew_normal(rng, shape, slant=5.0):
    """Azzalini's distribution: |u| and v mixed; log-concave."""
    weight = slant / np.sqrt(1 + slant**2)
    return weight * np.abs(rng.standard_normal(shape)) + np.sqrt(1 - weight**2) * rng.standard_normal(shape)


def trapezoid(rng, shape):
    """Flat on half of its range, with straight flanks."""
    return rng.random(shape) * 3 + rng.random(shape)


def rounded(step, n, d):
    return lambda rng: np.round(rng.standard_normal((n, d)) / step) * step


def spherical_t(freedom, n, d):
    return lambda rng: rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom)


def sphere(n):
    """Uniform directions in space, whose every projection is exactly uniform [Archimedes]."""

    def draw(rng):
        directions = rng.standard_normal((n, 3))
        return directions / np.linalg.norm(directions, axis=1, keepdims=True)

    return draw


def ball(n, d):
    """Uniform on the unit ball."""

    def draw(rng):
        directions = rng.standard_normal((n, d))
        return directions * (rng.random((n, 1)) ** (1 / d) / np.linalg.norm(directions, axis=1, keepdims=True))

    return draw


def simplex(n, d):
    """Uniform on a simplex of d dimensions; d = 2 is a right triangle."""
    return lambda rng: rng.dirichlet(np.ones(d + 1), n)[:, :d]


def square(n):
    return lambda rng: rng.random((n, 2))


def correlated_columns(strength, n, d):
    root = np.linalg.cholesky(strength ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))))
    return lambda rng: rng.standard_normal((n, d)) @ root.T


def serial(strength, n, d):
    """Stationary AR(1) down the rows: not independent, so outside every method's assumption."""

    def draw(rng):
        X = rng.standard_normal((n, d))
        X[1:] *= np.sqrt(1 - strength**2)
        for i in range(1, n):
            X[i] += strength * X[i - 1]
        return X

    return draw


def circles(rng, n=200, radii=(1.0, 3.0), sd=0.2):
    angle = 2 * np.pi * rng.random(n)
    radius = np.array(radii)[rng.integers(len(radii), size=n)]
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))) + sd * rng.standard_normal((n, 2))


def half_moons(rng, n=200, sd=0.1):
    angle, lower = np.pi * rng.random(n), rng.random(n) < 0.5
    X = np.column_stack((np.cos(angle), np.sin(angle)))
    X[lower] = [1.0, 0.5] - X[lower]
    return X + sd * rng.standard_normal((n, 2))


def many_weak_columns(rng, n=200, d=50, informative=10, shift=0.7):
    """The papers' model in high dimension: classes shift * sqrt(informative) = 2.2 standard deviations apart."""
    X = rng.standard_normal((n, d))
    X[:, :informative] += shift * (rng.random((n, 1)) < 0.5)
    return X


def unequal_spread(rng, n=100, delta=5.0, sd=2.0):
    """Standard deviations 1 and `sd` along the line through the two means, 1 across it."""
    X = rng.standard_normal((n, 2))
    second = rng.random(n) < 0.5
    X[second, 0] = delta + sd * X[second, 0]
    return X


def nested(rng, n):
    """A narrow normal inside the flank of a wide one: barely bimodal, clearly so after exp."""
    narrow = rng.random(n) < 0.5
    return np.where(narrow, 1.5 + 0.3 * rng.standard_normal(n), 1.5 * rng.standard_normal(n))


FURTHER_ONE_COLUMN_NULLS = {
    "gamma(2)": lambda rng, n: rng.gamma(2.0, size=n),
    "skew-normal": lambda rng, n: skew_normal(rng, n),
    "trapezoid": lambda rng, n: trapezoid(rng, n),
    "t2": lambda rng, n: rng.standard_t(2, n),
    "normal to .25": lambda rng, n: np.round(rng.standard_normal(n) / 0.25) * 0.25,
    "normal to .5": lambda rng, n: np.round(rng.standard_normal(n) / 0.5) * 0.5,
    "normal to 1": lambda rng, n: np.round(rng.standard_normal(n)),
}
ONE_COLUMN_ALTERNATIVES = {
    "delta=3": lambda rng, n: two_normals(n, 1, 3)(rng)[:, 0],
    "delta=4": lambda rng, n: two_normals(n, 1, 4)(rng)[:, 0],
    "80/20 delta=4": lambda rng, n: two_normals(n, 1, 4, 0.2)(rng)[:, 0],
    "nested lognormal": lambda rng, n: np.exp(nested(rng, n)),
    "nested, log scale": lambda rng, n: nested(rng, n),
}
FURTHER_NULLS = {
    "N d=2 n=100": lambda rng: rng.standard_normal((100, 2)),
    "N d=10 n=50": lambda rng: rng.standard_normal((50, 10)),
    "N d=10 n=200": lambda rng: rng.standard_normal((200, 10)),
    "AR(.9) d=10": correlated_columns(0.9, 100, 10),
    "gamma(2) d=2": lambda rng: rng.gamma(2.0, size=(100, 2)),
    "skew-normal d=2": lambda rng: skew_normal(rng, (100, 2)),
    "t2 d=2": spherical_t(2, 100, 2),
    "t2 d=10": spherical_t(2, 100, 10),
    "Laplace d=10": lambda rng: rng.laplace(size=(100, 10)),
    "trapezoid d=2": lambda rng: trapezoid(rng, (100, 2)),
    "uniform disc": ball(100, 2),
    "uniform triangle": simplex(100, 2),
    "uniform simplex d=5": simplex(100, 5),
    "normal to .25 d=2": rounded(0.25, 100, 2),
    "normal to .5 d=2": rounded(0.5, 100, 2),
    "normal to 1 d=2": rounded(1.0, 100, 2),
}
DEPENDENT_ROWS = {"serial AR(.5) d=2": serial(0.5, 100, 2), "serial AR(.9) d=2": serial(0.9, 100, 2)}
FURTHER_FLAT_NULLS = {
    **{f"bar n={n}": bar(n) for n in (60, 100, 200, 500, 1500)},
    **{f"square n={n}": square(n) for n in (60, 100, 200, 500, 1500)},
    "one flat axis of 10": flat_axis,
    **{f"ball d={d} n=200": ball(200, d) for d in (2, 5, 10)},
    **{f"sphere n={n}": sphere(n) for n in (60, 100, 300)},
    "triangle n=500": simplex(500, 2),
}
FURTHER_ALTERNATIVES = {
    "delta=2.5 d=2": two_normals(100, 2, 2.5),
    "delta=3 d=2": two_normals(100, 2, 3),
    "delta=3 d=10": two_normals(100, 10, 3),
    "80/20 delta=4": two_normals(100, 2, 4, 0.2),
    "unequal variances": unequal_spread,
    "three in a line, step 4": normals_at([[0, 0], [4, 0], [8, 0]], 120),
    "d=50, 10 informative": many_weak_columns,
    "concentric circles": circles,
    "half moons": half_moons,
}


# ---------------------------------------------------------------- orders that mean nothing, of benchmarks/segments.py

ROWS_OF_ONE_LAW = {
    "normal": lambda rng, n: rng.normal(size=n),
    "normal, 10 columns": lambda rng, n: rng.normal(size=(n, 10)),
    "uniform": lambda rng, n: rng.random(n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "t with 2 df, 2 columns": lambda rng, n: rng.standard_t(2, (n, 2)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "0 or 1, evenly": lambda rng, n: rng.integers(0, 2, n),
    "Poisson of mean 1": lambda rng, n: rng.poisson(1, n),
    "1 in one of twenty, else 0": lambda rng, n: (rng.random(n) < 0.05).astype(float),
    "normal, one of ten moved by 10": lambda rng, n: np.where(rng.random(n) < 0.9, 0, 10) + rng.normal(size=n),
}
