"""Data as exact numbers: rho in rational arithmetic where it is rational, in 50 digits elsewhere."""

from fractions import Fraction

import mpmath as mp
import numpy as np

mp.mp.dps = 50


def real(value):
    """The number that a float is."""
    return mp.mpf(float(value))


def rational(value):
    return Fraction(float(value))


def power_of_distance(x, y, alpha=1):
    squared = mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    return squared ** (mp.mpf(alpha) / 2) if squared else mp.mpf(0)


def rho_matrix(points, rho):
    """Compute rho between the rows of a float array, as lists of lists of 50 digits."""
    rows = [[real(v) for v in row] for row in np.asarray(points).reshape(len(points), -1)]
    R = [[mp.mpf(0)] * len(rows) for _ in rows]
    for i, x in enumerate(rows):
        for j in range(i):
            R[i][j] = R[j][i] = rho(x, rows[j])
    return R


def euclidean(points, alpha=1):
    return rho_matrix(points, lambda x, y: power_of_distance(x, y, alpha))


def exponential(points, sigma):
    return rho_matrix(points, lambda x, y: -2 * mp.expm1(-power_of_distance(x, y) / (2 * real(sigma))))


def gaussian(points, sigma):
    return rho_matrix(points, lambda x, y: -2 * mp.expm1(-power_of_distance(x, y, 2) / (2 * real(sigma) ** 2)))


def rational_matrix(points, rho):
    """Compute rho between the rows of a float array, exactly."""
    rows = [[rational(v) for v in row] for row in np.asarray(points).reshape(len(points), -1)]
    return [[rho(x, y) for y in rows] for x in rows]


def cityblock(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def centred_gram(R):
    """-1/2 J R J."""
    n = len(R)
    means = [mp.fsum(row) / n for row in R]
    grand = mp.fsum(means) / n
    return mp.matrix([[(means[i] + means[j] - R[i][j] - grand) / 2 for j in range(n)] for i in range(n)])


def eigenvalues(G):
    """Compute the eigenvalues of a symmetric matrix, falling."""
    return sorted(mp.eigsy(G, eigvals_only=True), reverse=True)


def largest_real_eigenvalue(A):
    values, _ = mp.eig(A)
    return max(mp.re(v) for v in values if abs(mp.im(v)) < mp.mpf(10) ** -20 * max(abs(w) for w in values))


def cailliez_constant(d):
    n, unit = len(d), max(max(row) for row in d)
    d = [[v / unit for v in row] for row in d]
    F_L, F_C = centred_gram([[v**2 for v in row] for row in d]), centred_gram(d)
    A = mp.zeros(2 * n)
    for i in range(n):
        A[n + i, i] = -1
        for j in range(n):
            A[i, n + j], A[n + i, n + j] = 2 * F_L[i, j], -4 * F_C[i, j]
    return unit * largest_real_eigenvalue(A)


def distance_to_normal(squared_norm, d):
    """E|a - Z| by Kummer's function."""
    d = mp.mpf(d)
    front = mp.sqrt(2) * mp.gamma((d + 1) / 2) / mp.gamma(d / 2)
    return front * mp.hyp1f1(-mp.mpf(1) / 2, d / 2, -squared_norm / 2)


def normality_statistic(points):
    """n (2/n sum E|y_i - Z| - E|Z - Z'| - g(y, y)), y standardized by the mean and the covariance (divisor n - 1)."""
    X = mp.matrix([[real(v) for v in row] for row in points])
    n, d = X.rows, X.cols
    means = [mp.fsum(X[:, j]) / n for j in range(d)]
    for i in range(n):
        for j in range(d):
            X[i, j] -= means[j]
    root = mp.cholesky(X.T * X / (n - 1))
    Y = (mp.inverse(root) * X.T).T
    rows = [[Y[i, j] for j in range(d)] for i in range(n)]
    to_normal = mp.fsum(distance_to_normal(mp.fsum(v**2 for v in row), d) for row in rows) / n
    own = 2 * mp.fsum(power_of_distance(rows[i], rows[j]) for i in range(n) for j in range(i)) / n**2
    between = 2 * mp.gamma(mp.mpf(d + 1) / 2) / mp.gamma(mp.mpf(d) / 2)
    return n * (2 * to_normal - between - own), n * between
