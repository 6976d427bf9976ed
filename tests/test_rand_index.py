"""The adjusted Rand index: scikit-learn's, and the definition over pairs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from energystats._core.rand_index import adjusted_rand_index

labelings = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 3)), min_size=1, max_size=30)


@given(labelings)
def test_it_is_scikit_learns(pairs):
    a, b = np.array(pairs).T
    assert adjusted_rand_index(a, b) == pytest.approx(adjusted_rand_score(a, b), rel=1e-14, abs=1e-15)
    assert adjusted_rand_index(b, a) == adjusted_rand_index(a, b)
    assert adjusted_rand_index(3 - a, b) == adjusted_rand_index(a, b)
    assert adjusted_rand_index(a, a) == 1


def test_it_is_the_definition(rng):
    """(index - expected)/(largest - expected) over pairs of points [Hubert & Arabie 1985]."""
    a, b = rng.integers(0, 4, 25), rng.integers(0, 3, 25)
    pairs = list(itertools.combinations(range(25), 2))
    first, second = ([x[i] == x[j] for i, j in pairs] for x in (a, b))
    both = sum(p and q for p, q in zip(first, second, strict=True))
    expected = sum(first) * sum(second) / len(pairs)
    largest = (sum(first) + sum(second)) / 2
    assert adjusted_rand_index(a, b) == pytest.approx((both - expected) / (largest - expected))


def test_counts_of_many_points_do_not_wrap_around():
    a = np.repeat([0, 1], 2**17)
    assert adjusted_rand_index(a, a[::-1]) == 1
    assert adjusted_rand_index(a, np.tile([0, 1], 2**17)) == pytest.approx(0, abs=1e-5)
