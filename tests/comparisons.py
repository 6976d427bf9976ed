"""When two answers are the same."""

import pytest
from numpy.testing import assert_allclose


def assert_same_test(found, expected):
    """Two routes to one test: the same p-value and labels, and numbers to 1e-12 of T."""
    assert found.pvalue == expected.pvalue
    assert found.n_resamples == expected.n_resamples
    assert found.labels == expected.labels
    assert found.sizes == expected.sizes
    tolerance = 1e-12 * max(abs(expected.total), 1.0)
    assert found.statistic == pytest.approx(expected.statistic, abs=tolerance)
    assert_allclose(found.null_distribution, expected.null_distribution, atol=tolerance, rtol=0)
