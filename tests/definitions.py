"""Every quantity once, as its formula reads: loops, exact fractions where ties matter, nothing from the package."""

import itertools
from fractions import Fraction
from math import gamma, sqrt

import numpy as np
from scipy.integrate import quad
from scipy.stats import genpareto, ncx2


def euclidean(x, y, alpha=1):
    return sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True))) ** alpha


def rho_matrix(points, rho=euclidean):
    return [[rho(x, y) for y in points] for x in points]


def members(labels):
    return [[i for i, l in enumerate(labels) if l == name] for name in sorted(set(labels))]


def g(R, A, B, w=None):
    """Mean of rho over all ordered pairs [G 3]; weighted by w_x w_y."""
    w = w or [1] * len(R)
    return sum(w[a] * w[b] * R[a][b] for a in A for b in B) / (sum(w[a] for a in A) * sum(w[b] for b in B))


def within(R, labels, w=None):
    """W [G 4]."""
    w = w or [1] * len(R)
    return sum(sum(w[i] for i in C) * g(R, C, C, w) / 2 for C in members(labels))


def total(R, w=None):
    w = w or [1] * len(R)
    everything = range(len(R))
    return sum(w) * g(R, everything, everything, w) / 2


def between(R, labels, w=None):
    """S from its own formula [G 5], not from T - W."""
    w = w or [1] * len(R)
    n = sum(w)
    S = 0
    for A, B in itertools.combinations(members(labels), 2):
        energy = 2 * g(R, A, B, w) - g(R, A, A, w) - g(R, B, B, w)
        S += sum(w[a] for a in A) * sum(w[b] for b in B) * energy / (2 * n)
    return S


def energy_distance(R, A, B, unbiased=False, w=None):
    """E [G 1]; the U form leaves out the pairs of a point with itself."""

    def own(C):
        if not unbiased:
            return g(R, C, C, w)
        return sum(R[i][j] for i in C for j in C if i != j) / (len(C) * (len(C) - 1))

    return 2 * g(R, A, B, w) - own(A) - own(B)


def pairwise_statistic(R, labels, w=None):
    w = w or [1] * len(R)

    def mass(C):
        return Fraction(sum(w[i] for i in C))

    pairs = itertools.combinations(members(labels), 2)
    return sum(mass(A) * mass(B) / (mass(A) + mass(B)) * energy_distance(R, A, B, w=w) for A, B in pairs)


def f_ratio(R, labels):
    k, n = len(set(labels)), len(labels)
    return (between(R, labels) / (k - 1)) / (within(R, labels) / (n - k))


def distinct_labelings(labels):
    return sorted(set(itertools.permutations(labels)))


def exact_pvalue(R, labels, statistic):
    """Share of all distinct labelings with a statistic at least as large, in exact arithmetic."""
    observed = statistic(R, labels)
    values = [statistic(R, list(z)) for z in distinct_labelings(labels)]
    return Fraction(sum(v >= observed for v in values), len(values))


def partitions(n, k):
    """All partitions of n points into k non-empty clusters, as labels in order of first appearance."""

    def grow(prefix, used):
        if len(prefix) == n:
            if used == k:
                yield list(prefix)
            return
        for l in range(min(used + 1, k)):
            yield from grow([*prefix, l], max(used, l + 1))

    yield from grow([], 0)


def best_within(R, k, w=None):
    return min(within(R, labels, w) for labels in partitions(len(R), k))


def run_costs(x, w, alpha):
    """W of every run i..j-1 of sorted points, exact when x and w are fractions and alpha is whole."""
    costs = {}
    for i in range(len(x)):
        pairs, mass = 0, 0
        for j in range(i, len(x)):
            pairs += sum(w[a] * w[j] * abs(x[j] - x[a]) ** alpha for a in range(i, j))
            mass += w[j]
            costs[i, j + 1] = pairs / mass
    return costs


def best_runs(costs, n, k):
    """Smallest W of a partition into k runs, from the costs of all runs; O(k n^2)."""
    best = {i: costs[0, i] for i in range(1, n + 1)}
    for j in range(2, k + 1):
        best = {i: min(best[l] + costs[l, i] for l in range(j - 1, i)) for i in range(j, n + 1)}
    return best[n]


def single_moves(labels):
    """Labels after every move of one point to another cluster that empties none."""
    names = sorted(set(labels))
    for i, old in enumerate(labels):
        if sum(l == old for l in labels) > 1:
            for new in names:
                if new != old:
                    yield [*labels[:i], new, *labels[i + 1 :]]


def split_profile(x):
    """S/T of every split of sorted x, for |x - y|."""
    R = [[abs(a - b) for b in x] for a in x]
    T = total(R)
    return [between(R, [0] * i + [1] * (len(x) - i)) / T for i in range(1, len(x))]


def hull_at(x, F, first, last, convex):
    """Greatest convex minorant (least concave majorant) on a run: the extreme chord over every point."""
    chords = lambda i: [  # noqa: E731
        F[i] if a == b or x[a] == x[b] else F[a] + (F[b] - F[a]) * (x[i] - x[a]) / (x[b] - x[a])
        for a in range(first, i + 1)
        for b in range(i, last + 1)
    ]
    return [(min if convex else max)(chords(i)) for i in range(first, last + 1)]


def unimodal_distance(x, mode):
    """Largest distance between F and its convex-then-concave version with the mode at a data point."""
    n = len(x)
    F = [Fraction(i, n - 1) for i in range(n)]
    left, right = hull_at(x, F, 0, mode, True), hull_at(x, F, mode, n - 1, False)
    return max(
        *(F[i] - v for i, v in enumerate(left)),
        *(v - F[mode + i] for i, v in enumerate(right)),
    )


def mmd2(K, A, B, unbiased=False):
    """MMD squared from a kernel matrix; the U form leaves out the pairs of a point with itself."""

    def own(C):
        pairs = [(i, j) for i in C for j in C if i != j or not unbiased]
        return sum(K[i][j] for i, j in pairs) / len(pairs)

    return own(A) + own(B) - 2 * sum(K[a][b] for a in A for b in B) / (len(A) * len(B))


def distance_to_normal(r, d):
    """E|a - Z| with |a| = r: |a - Z|**2 is noncentral chi-squared."""
    density = lambda v: 2 * v * ncx2.pdf(v * v, d, r * r)  # noqa: E731
    middle = sqrt(d + r * r)
    low, high = max(middle - 12, 0), middle + 12
    return quad(lambda v: v * density(v), low, high, limit=200, epsabs=0, epsrel=1e-10)[0]


def normality_statistic(points):
    """n (2/n sum E|y_i - Z| - E|Z - Z'| - g(y, y)), y standardized by the mean and the covariance (divisor n - 1)."""
    X = np.asarray(points, dtype=float)
    n, d = X.shape
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(X, rowvar=False)))
    y = (X - X.mean(axis=0)) @ vectors / np.sqrt(values)
    to_normal = sum(distance_to_normal(sqrt(sum(v * v for v in row)), d) for row in y) / n
    own = g(rho_matrix(y.tolist()), range(n), range(n))
    return n * (2 * to_normal - 2 * gamma((d + 1) / 2) / gamma(d / 2) - own)


def statistic_of_fit(points, reference, rho=euclidean):
    """n times the energy distance between a sample and points that stand for a distribution."""
    both = [*points, *reference]
    n = len(points)
    return n * energy_distance(rho_matrix(both, rho), range(n), range(n, len(both)))


def projection(columns):
    """On the span of the columns."""
    return columns @ np.linalg.pinv(columns)


def linear_dispersions(R, reduced, larger, full, order=None):
    """S of the term in `larger` but not in `reduced`, and W of the full model, each given by its columns.

    With an order of the rows, the residuals of the reduced model are permuted in the feature space, whose centred
    Gram matrix is all that is needed of it.
    """
    n = len(R)
    J = np.eye(n) - 1 / n
    left_out = np.eye(n) - projection(reduced)
    G = left_out @ (-J @ np.array(R) @ J / 2) @ left_out
    if order is not None:
        G = G[np.ix_(order, order)]
    S = np.trace((projection(larger) - projection(reduced)) @ G)
    return S, np.trace((np.eye(n) - projection(full)) @ G)


def random_dissimilarity(rng, n):
    """Symmetric, positive off the diagonal, and far from Euclidean for n >= 5."""
    d = np.triu(rng.exponential(size=(n, n)) ** 2 + 0.01, 1)
    return d + d.T


def gower_distance(x, y, columns):
    """1 - s of two rows [Gower 1971]; each column is (kind, range, weight), a missing value is None."""
    different, weight = 0, 0
    for a, b, (kind, width, w) in zip(x, y, columns, strict=True):
        if a is None or b is None or (kind == "asymmetric" and not a and not b):
            continue
        graded = kind in ("numeric", "ordered") and width > 0
        different += w * (abs(a - b) / width if graded else a != b)
        weight += w
    return different / weight


def cut_value(A, labels, cut, weights=None):
    """Sum over clusters of cut(C)/|C|, cut(C)/degree(C) or links(C, C)/|C| [Dhillon, Guan & Kulis 2007]; 0/0 is 0."""
    n, value = len(A), 0
    for C in members(labels):
        links = sum(A[i][j] for i in C for j in C)
        degree = sum(A[i][j] for i in C for j in range(n))
        mass = degree if cut == "normalized" else sum(weights[i] for i in C) if weights is not None else len(C)
        value += (links if cut == "association" else degree - links) / mass if mass else 0
    return value


def best_cut(A, k, cut, weights=None):
    every = [cut_value(A, labels, cut, weights) for labels in partitions(len(A), k)]
    return max(every) if cut == "association" else min(every)


def graph_kernel(A, cut, sigma, weights=None):
    """Weights and kernel of the weighted kernel k-means that a graph objective is [Dhillon, Guan & Kulis 2007]."""
    A = np.asarray(A, dtype=float)
    degrees = A.sum(axis=1)
    w = degrees if cut == "normalized" else np.ones(len(A)) if weights is None else np.asarray(weights, dtype=float)
    inner = A - np.diag(degrees) if cut == "ratio" else A
    return w, sigma * np.diag(1 / w) + inner / np.outer(w, w)


def twice_squared_distances(R, labels):
    """2 T_il/n_l - w_l/n_l**2, from every point to the mean of every cluster [D alg 2]."""
    clusters = members(labels)
    own = [sum(R[a][b] for a in C for b in C) for C in clusters]
    return [
        [2 * sum(R[i][y] for y in C) / len(C) - w / len(C) ** 2 for C, w in zip(clusters, own, strict=True)]
        for i in range(len(R))
    ]


def lloyd_path(R, labels):
    """Partitions that Lloyd's rule passes through, until it comes back to one; no guard, no repair of empty clusters.

    Labels are 0..k-1. The last entry is the first to be seen twice, or lacks a cluster.
    """
    path, k = [list(labels)], len(set(labels))
    while path.count(path[-1]) == 1 and len(set(path[-1])) == k:
        costs = twice_squared_distances(R, path[-1])
        path.append([j if c[j] == min(c) else c.index(min(c)) for j, c in zip(path[-1], costs, strict=True)])
    return path


def hartigan_path(R, labels, threshold=0):
    """Moves (point, from, to) of each pass of Hartigan's method, and the closest of its decisions.

    W before and after every possible move comes from its definition. A decision is the choice of the largest among
    the gains and the threshold; how far the largest is above the next says whether rounding could reverse it.
    """
    labels, names = list(labels), sorted(set(labels))
    passes, closest = [], float("inf")
    while not passes or passes[-1]:
        passes.append([])
        for i, old in enumerate(labels):
            if labels.count(old) > 1:
                W = within(R, labels)
                gains = {l: W - within(R, [*labels[:i], l, *labels[i + 1 :]]) for l in names if l != old}
                *_, second, first = sorted([threshold, *gains.values()])
                closest = min(closest, first - second)
                best = max(gains, key=gains.get)
                if gains[best] > threshold:
                    labels[i] = best
                    passes[-1].append((i, old, best))
    return passes, closest


def centred(A):
    """-1/2 J A J; F_L of d * d, F_C of d [K 11]."""
    J = np.eye(len(A)) - 1 / len(A)
    return -J @ np.asarray(A, dtype=float) @ J / 2


def off_diagonal(n):
    return 1 - np.eye(n)


def smallest_eigenvalue(d):
    """Compute the smallest eigenvalue of F_L; d is Euclidean when it is not negative."""
    return np.linalg.eigvalsh(centred(d * d))[0]


def lingoes_constant(d):
    return max(0.0, -smallest_eigenvalue(d))


def lingoes(d):
    """Smallest shift of the squares that makes d Euclidean [K thm 4]."""
    return np.sqrt(d * d + 2 * lingoes_constant(d) * off_diagonal(len(d)))


def cailliez_matrix(d, corner=0, upper=2, lower=-1, last=-4):
    """[[0, 2 F_L], [-I, -4 F_C]]; other numbers give the misprints."""
    one = np.eye(len(d))
    return np.block([[corner * one, upper * centred(d * d)], [lower * one, last * centred(d)]])


def largest_real_eigenvalue(A):
    values = np.linalg.eigvals(A)
    return values[np.abs(values.imag) < 1e-6 * np.abs(values).max()].real.max()


def cailliez(d):
    """Smallest constant off the diagonal of d that makes it Euclidean."""
    return d + largest_real_eigenvalue(cailliez_matrix(d)) * off_diagonal(len(d))


def cost_of_centres(R, centres, labels=None):
    """Sum of squared distances to centres in the feature space, each a weighted mean of points [K 4, 8, 9].

    Every row of `centres` holds weights of the points. A point counts with the centre of its label, or the nearest.
    """
    R = np.asarray(R, dtype=float)
    P = np.asarray(centres, dtype=float)
    P = P / P.sum(axis=1, keepdims=True)
    costs = P @ R - (np.einsum("li,ij,lj->l", P, R, P) / 2)[:, None]
    return costs.min(axis=0).sum() if labels is None else costs[labels, np.arange(len(R))].sum()


def hierarchy(R):
    """Greedy merging by energy distance, recomputed at every step: heights and the two sets of points joined."""
    clusters, steps = [[i] for i in range(len(R))], []

    def height(A, B):
        return len(A) * len(B) / (len(A) + len(B)) * energy_distance(R, A, B)

    while len(clusters) > 1:
        A, B = min(itertools.combinations(clusters, 2), key=lambda pair: height(*pair))
        steps.append((height(A, B), frozenset((frozenset(A), frozenset(B)))))
        clusters = [C for C in clusters if C not in (A, B)] + [A + B]
    return steps


def gap_statistic(log_within, of_references):
    """Gap(k), s(k) and the rule of one standard error [Tibshirani, Walther & Hastie 2001]; lists over k = 1, 2, ..."""
    B, K = len(of_references), len(log_within)
    means = [sum(logs[k] for logs in of_references) / B for k in range(K)]
    gap = [means[k] - log_within[k] for k in range(K)]
    error = [sqrt(sum((logs[k] - means[k]) ** 2 for logs in of_references) / B * (1 + 1 / B)) for k in range(K)]
    for k in range(K - 1):
        if gap[k] >= gap[k + 1] - error[k + 1]:
            return gap, error, k + 1
    return gap, error, K


def pareto_tail(observed, null):
    """P(null >= observed) by a generalised Pareto distribution of the largest null values [Knijnenburg et al. 2009].

    A quarter of all values, at most 250 and at least 10, above the midpoint between the last of them and the next;
    an exponential distribution where the fit has an end point, and not below 1/(n + 1)^2.
    """
    size = min(250, len(null) // 4)
    ordered = sorted(null, reverse=True)
    threshold = (ordered[size - 1] + ordered[size]) / 2
    if size < 10 or observed <= threshold:
        return None
    excess = np.array([v - threshold for v in ordered[:size]])
    shape, _, scale = genpareto.fit(excess / excess.mean(), floc=0)
    beyond = (observed - threshold) / excess.mean()
    beyond_tail = np.exp(-beyond) if shape < 0 else (1 + shape * beyond / scale) ** (-1 / shape)
    return max(size / len(null) * float(beyond_tail), 1 / (len(null) + 1) ** 2)


def squared_distance_to_mean(R, i, C, w=None):
    """From a point to the (weighted) mean of C in the feature space: g(x, C) - g(C, C)/2."""
    return g(R, [i], C, w) - g(R, C, C, w) / 2


def slice_factor(d, alpha=1):
    """1/E|u_1|**alpha for a uniform direction u in d > 1 dimensions: u_1 = cos t, t with density sin(t)**(d - 2)."""
    moment = quad(lambda t: np.abs(np.cos(t)) ** alpha * np.sin(t) ** (d - 2), 0, np.pi / 2, epsabs=0, epsrel=1e-12)[0]
    return quad(lambda t: np.sin(t) ** (d - 2), 0, np.pi / 2, epsabs=0, epsrel=1e-12)[0] / moment


def sliced_matrix(points, directions):
    """c times the mean over directions of |u'x - u'y|; directions in rows."""
    X = np.asarray(points, dtype=float)
    c = slice_factor(X.shape[1]) if X.shape[1] > 1 else 1
    return c * np.mean([np.abs((X @ u)[:, None] - X @ u) for u in np.asarray(directions)], axis=0)


def landmark_distances(R, landmarks):
    """Squared distances of all points in the span of the landmarks, and from that span, by classical scaling.

    Coordinates of all points come from the whole of R; the span is that of differences of landmarks.
    """
    values, vectors = np.linalg.eigh(centred(np.sqrt(np.asarray(R, dtype=float)) ** 2))
    X = vectors * np.sqrt(np.maximum(values, 0))
    origin = X[landmarks].mean(axis=0)
    basis, sizes, _ = np.linalg.svd((X[landmarks] - origin).T, full_matrices=False)
    inside = (X - origin) @ basis[:, sizes > 1e-9 * sizes[0]]
    within_span = ((inside[:, None] - inside) ** 2).sum(axis=2)
    return within_span, ((X - origin) ** 2).sum(axis=1) - (inside**2).sum(axis=1)
