"""Populations on which level and power are measured: which null or alternative each belongs to, and how to draw it."""

import numpy as np

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
GAUSSIAN_NULLS = {
    **{name: SPLIT_NULLS[name] for name in ("N d=2 n=50", "N d=10 n=100", "N n=40 d=50", "AR(.8) d=5", "ellipse 1:25")},
    "one large variance of 10": lambda rng: rng.standard_normal((100, 10)) * np.sqrt([3.25, *[1.0] * 9]),
}
FLAT_NULLS = {"bar n=60": bar(60), "bar n=200": bar(200), "one flat axis of 10": flat_axis}
ALTERNATIVES = {  # name: (draw, power asked for)
    "delta=4 d=2": (two_normals(100, 2, 4), 0.70),
    "delta=4 d=10": (two_normals(100, 10, 4), 0.63),
    "80/20 delta=6": (two_normals(100, 2, 6, 0.2), 0.82),
    "three clusters, side 5": (lambda rng: rng.standard_normal((120, 2)) + TRIANGLE[rng.integers(3, size=120)], 0.70),
    "cigars": (cigars, 0.48),
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
