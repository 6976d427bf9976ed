"""When two answers are the same."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal


def words(result):
    """All that a result says, in one line: its summary and its notes."""
    return " ".join([*result.summary().split(), *" ".join(result.notes).split()])


def assert_same_test(found, expected):
    """Two routes to one test: the same p-value and labels, and numbers to 1e-12 of T."""
    assert found.pvalue == expected.pvalue
    assert found.n_resamples == expected.n_resamples
    assert found.labels == expected.labels
    assert found.sizes == expected.sizes
    tolerance = 1e-12 * max(abs(expected.total), 1.0)
    assert found.statistic == pytest.approx(expected.statistic, abs=tolerance)
    assert_allclose(found.null_distribution, expected.null_distribution, atol=tolerance, rtol=0)


def assert_same_partition(found, expected):
    """Two routes to one partition: the same labels, and numbers to 1e-12 of T."""
    assert_array_equal(found.labels, expected.labels)
    assert found.sizes == expected.sizes
    tolerance = 1e-12 * max(expected.total, 1.0)
    for name in ("within", "between", "total", "within_per_cluster"):
        assert_allclose(getattr(found, name), getattr(expected, name), atol=tolerance, rtol=0)
    assert found.bound == pytest.approx(expected.bound, rel=1e-9)
    assert found.metric == expected.metric
    for name in ("n_landmarks", "n_features", "batch_size", "n_pairs"):
        assert getattr(found.approximation, name) == getattr(expected.approximation, name)
    for name in ("within_error", "total_error", "outside"):
        assert getattr(found.approximation, name) == pytest.approx(getattr(expected.approximation, name), rel=1e-6)
