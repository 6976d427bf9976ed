"""Eigenpairs from products with blocks of columns, beside the full decomposition."""

import numpy as np
import pytest
from scipy.linalg import eigh

import energystats as es
from energystats._core import block_krylov
from energystats._core.block_krylov import largest_by_blocks
from energystats._core.gram import largest_pairs


def centred(R):
    J = np.eye(len(R)) - 1 / len(R)
    return -0.5 * J @ R @ J


def check_pairs(matrix, count):
    values, vectors = largest_by_blocks(lambda columns: matrix @ columns, len(matrix), count)
    expected = eigh(matrix, eigvals_only=True)[::-1][:count]
    size = np.abs(expected).max()
    assert values == pytest.approx(expected, rel=1e-11, abs=1e-12 * size)
    assert vectors.T @ vectors == pytest.approx(np.eye(count), abs=1e-11)
    assert np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() <= 1e-9 * size


@pytest.mark.parametrize("count", [1, 3, 11])
@pytest.mark.parametrize("kind", ["cloud", "clusters", "line", "many columns"])
def test_largest_pairs_of_gram_matrices(rng, kind, count):
    n = 400
    X = {
        "cloud": rng.standard_normal((n, 5)),
        "clusters": rng.standard_normal((n, 3)) + 9 * rng.integers(0, 3, size=(n, 1)),
        "line": rng.random((n, 1)),
        "many columns": rng.standard_normal((n, 300)),
    }[kind]
    check_pairs(centred(es.pairwise(X)), count)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_repeated_eigenvalues_of_any_size(rng, scale):
    n = 300
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([[5.0], np.full(9, 4.0), np.full(20, 1.0), np.zeros(n - 60), np.full(30, -8.0)])
    check_pairs(scale * (Q * values) @ Q.T, 10)


def test_matrices_of_low_rank_and_of_zeros(rng):
    n = 200
    X = rng.standard_normal((n, 3))
    check_pairs(X @ X.T, 5)
    check_pairs(np.zeros((n, n)), 2)


def test_few_products(rng):
    X, products = rng.standard_normal((800, 5)), []
    G = centred(es.pairwise(X))
    largest_by_blocks(lambda columns: products.append(columns.shape[1]) or G @ columns, 800, 3)
    assert len(products) <= 14  # Lanczos' method takes 30 to 60
    assert set(products) == {14}


def test_spectra_that_end_too_slowly_are_left_to_lanczos(monkeypatch):
    n = 500
    values = np.linspace(0, 1, n)
    times = lambda columns: values[:, None] * columns  # noqa: E731
    monkeypatch.setattr(block_krylov, "MOST_PRODUCTS", 2)
    assert block_krylov.largest_by_blocks(times, n, 3) is None
    assert largest_pairs(times, n, 3)[0] == pytest.approx(values[:-4:-1], rel=1e-9)
    assert not block_krylov.fits_blocks(100, 20)
    assert largest_pairs(lambda columns: times(np.pad(columns, ((0, 400), (0, 0))))[:100], 100, 20)[0].size == 20
