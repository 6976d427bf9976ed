"""M = Z'RZ by every route, the statistics read from it, and the compiled loops beside their plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import energystats as es
from energystats._core import group_sums, jit, labelings, normal_mixture, pvalues, statistics
from energystats._core import sums_on_line as gaps
from energystats._core.added_entries import add_entries
from energystats._core.four_russians import add_tile, pack_labels
from energystats._core.hartigan import cluster_table, hartigan_pass
from energystats._core.lloyd import lloyd_pass
from energystats._core.unimodal import (
    _compute_quantiles,
    _extend_hull,
    _list_knots,
    _measure_hull,
    compute_indices,
    excess_split,
    indices_of_draws,
    nearest_unimodal,
    unimodal_density,
)
from energystats.dissimilarity import Blocks, Dissimilarity, Groups, Matrix
from energystats.metrics.closed_form import Euclidean
from energystats.pairs import tiles as pairs
from energystats.pairs.disk import Mapped, RowsOnDisk
from tests import definitions
from tests.problems import one_hartigan_pass, one_lloyd_pass, state_of


def case(rng, d, n=30, k=3):
    labels = rng.integers(k, size=n)
    labels[:k] = range(k)
    points = rng.standard_normal((n, d))
    return Dissimilarity.from_data(points, metric="euclidean", alpha=1.0), Groups.from_labels(labels, n, name="labels")


@pytest.fixture(params=["dense", "tiles", "line"])
def route(request, rng, monkeypatch):
    """The three ways to the same sums, with blocks small enough that there are several."""
    monkeypatch.setattr(pairs, "TILE_ROWS", 7)
    monkeypatch.setattr(pairs, "TILE_COLUMNS", 9)
    if request.param == "tiles":
        monkeypatch.setattr(pairs, "STORED_UP_TO", 0)
        monkeypatch.setattr(group_sums, "ROWS_AT_ONCE", 11)
    return case(rng, 1 if request.param == "line" else 3)


def test_block_sums_match_the_definition(route, rng):
    d, groups = route
    R = definitions.rho_matrix(d.points.tolist())
    w = rng.uniform(0.5, 2, d.n)
    M = d.pairs.block_sums(groups.indicators(w))[0]
    for a in range(groups.k):
        for b in range(groups.k):
            pairs = [(i, j) for i in np.flatnonzero(groups.codes == a) for j in np.flatnonzero(groups.codes == b)]
            assert_allclose(M[a, b], sum(w[i] * w[j] * R[i][j] for i, j in pairs), rtol=1e-13)


def held_as(kind, points):
    """The same points in memory, with their matrix, as a matrix alone, or in blocks of rows."""
    d = Dissimilarity.from_points(points, Euclidean())
    if kind == "blocks":
        return Blocks.from_rows(RowsOnDisk(parts=(Mapped(points[:9], "X"), Mapped(points[9:], "X"))), Euclidean())
    matrix = Matrix(metric=d.metric, R=d.matrix)
    return {"points": d, "stored": d.stored(), "matrix": matrix}[kind]


@pytest.mark.parametrize("kind", ["points", "stored", "matrix", "blocks"])
def test_points_matrix_and_blocks_answer_alike(kind, rng):
    points = rng.standard_normal((30, 3))
    _, groups = case(rng, 3)
    d, R, w = held_as(kind, points), np.array(definitions.rho_matrix(points.tolist())), rng.uniform(0.5, 2, 30)
    Z = groups.indicators(w)[:, :, 0]
    M, s = d.group_sums(groups, w)
    assert (d.n, d.n_columns, d.n_workers) == (30, 0 if kind == "matrix" else 3, 1)
    assert_allclose(M, Z.T @ R @ Z, rtol=1e-12)
    assert_allclose(s, Z.sum(axis=0), rtol=1e-13)
    assert_allclose(d.scale, R.sum() / 60, rtol=1e-12)
    assert d.largest_rho() >= R.max()
    rows = np.array([4, 20, 11])
    if kind == "blocks":
        for ask in (lambda: d.points, lambda: d.matrix, lambda: d.rho(rows, rows), lambda: d.subset(rows)):
            with pytest.raises(ValueError, match="`X` is read in blocks of rows, and this needs all 30 of them"):
                ask()
        return
    assert not d.all_coincide
    assert_allclose(d.matrix, R, rtol=1e-13)
    assert_allclose(d.rho(rows, rows[:2]), R[np.ix_(rows, rows[:2])], rtol=1e-13)
    assert type(d.subset(rows)) is type(d)
    assert_allclose(d.subset(rows).matrix, R[np.ix_(rows, rows)], rtol=1e-13)
    assert d.near_one() is d
    assert d.is_stored == (kind != "points")
    if kind == "matrix":
        with pytest.raises(ValueError, match="needs points, got a matrix of rho between 30"):
            d.under(Euclidean(0.5))
    else:
        assert_allclose(d.under(Euclidean(0.5)).matrix, np.sqrt(R), rtol=1e-13)
        assert_allclose(d.sliced(50, rng).scale, d.scale, rtol=0.5)
    large = held_as(kind, points * 2.0**200).near_one()
    assert large.exponent > 190
    assert_allclose(np.ldexp(large.scale, large.exponent), d.scale * 2.0**200, rtol=1e-13)


def test_multiply_matches_the_matrix(route, rng):
    d, _ = route
    columns = rng.standard_normal((d.n, 4))
    assert_allclose(
        d.pairs.multiply(columns), np.array(definitions.rho_matrix(d.points.tolist())) @ columns, atol=1e-11
    )
    assert_allclose(d.row_totals, np.sum(definitions.rho_matrix(d.points.tolist()), axis=1), rtol=1e-13)
    assert_allclose(d.scale, definitions.total(definitions.rho_matrix(d.points.tolist())), rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True, "unlike"])
def test_null_sums_match_relabelled_matrices(route, weighted, rng):
    d, groups = route
    labelings = [np.array([rng.permutation(groups.codes) for _ in range(5)]) for _ in range(2)]
    weights = rng.uniform(0.5, 2, d.n) if weighted else np.ones(d.n)
    if weighted == "unlike":  # a light group may be the last one, and no difference may take its digits
        weights[groups.codes < groups.k - 1] *= 1e8
        labelings[0][0] = groups.codes
    drawn = list(group_sums.null_sums(d.pairs, weights, iter(labelings), groups.k, n_blocks=len(labelings), at_once=1))
    found, masses = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    R = np.array(definitions.rho_matrix(d.points.tolist()))
    for M, s, codes in zip(found, masses, np.concatenate(labelings), strict=True):
        Z = np.eye(groups.k)[codes] * weights[:, None]
        assert_allclose(M, Z.T @ R @ Z, rtol=1e-12)
        assert_allclose(s, Z.sum(axis=0), rtol=1e-14)


@pytest.fixture
def tables(monkeypatch):
    """Tables of sums for few points and labelings, where loops are compiled."""
    if jit.numba is None:
        pytest.skip("tables are for compiled loops")
    monkeypatch.setattr(group_sums, "TABLES_FROM", 1)
    monkeypatch.setattr(group_sums, "THREADED_FROM", 0)
    monkeypatch.setattr(group_sums, "COLUMNS_PER_PART", 16)
    monkeypatch.setattr(group_sums, "LABELINGS_AT_ONCE", 5)
    monkeypatch.setattr(group_sums, "BATCH_BYTES", 2000)
    monkeypatch.setattr(pairs, "TILE_ROWS", 16)


@pytest.mark.parametrize("kind", ["points", "stored", "matrix", "blocks"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_of_sums_match_the_definition(kind, k, weighted, tables, rng):
    points, weights = rng.standard_normal((61, 3)), rng.uniform(0.5, 2, 61) if weighted else np.ones(61)
    d, labelings = held_as(kind, points), rng.integers(k, size=(12, 61))
    R, others = np.array(definitions.rho_matrix(points.tolist())), group_sums.groups_multiplied(weights, k)
    found = d.pairs.block_sums(group_sums.Indicators(labelings.T, others, weights))
    for M, codes in zip(found, labelings, strict=True):
        Z = np.eye(k)[codes][:, :others] * weights[:, None]
        assert_allclose(M, Z.T @ R @ Z, rtol=1e-12)
    for M, s in group_sums.null_sums(d.pairs, weights, iter([labelings]), k, n_blocks=1):
        assert_allclose(M.sum(axis=(1, 2)), weights @ R @ weights, rtol=1e-12)
        assert_allclose(s.sum(axis=1), weights.sum(), rtol=1e-13)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_tables_give_the_same_bits_in_any_number_of_threads(n_threads, tables, rng, monkeypatch):
    x = rng.standard_normal((70, 2))
    expected = es.energy_test(x[:30], x[30:], n_resamples=50, method="permutation", rng=0).null_distribution
    monkeypatch.setattr("energystats._core.threads.threads_given", lambda: n_threads)
    found = es.energy_test(x[:30], x[30:], n_resamples=50, method="permutation", rng=0).null_distribution
    assert_array_equal(found, expected)


def test_tables_are_for_many_labelings_of_many_points(monkeypatch):
    serve = group_sums.tables_serve
    assert not serve(4000, 1, group_sums.TABLES_FROM - 1)
    assert not serve(500, 1, 1000)
    assert serve(4000, 1, 1000) == (jit.numba is not None)
    monkeypatch.setattr(jit, "numba", None)
    assert not serve(4000, 1, 1000)


def test_loop_over_a_tile_agrees_with_its_plain_python(rng):
    R, weights = np.array(definitions.rho_matrix(rng.standard_normal((21, 2)).tolist())), rng.uniform(0.5, 2, 21)
    codes = rng.integers(3, size=(21, 2)).astype(np.uint8)
    bits, sums = pack_labels(codes, 3), np.zeros((2, 2, 3, 3))
    for loop, own in zip((add_tile, add_tile.py_func), sums, strict=True):
        loop(R[:16, :16].copy(), 0, 0, 0, 16, bits, weights, own)
        loop(R[:16, 16:].copy(), 0, 16, 0, 5, bits, weights, own)
        loop(R[16:, 16:].copy(), 16, 16, 0, 5, bits, weights, own)
    assert_allclose(sums[0], sums[1], rtol=1e-13)
    Z = np.eye(3)[codes] * weights[:, None, None]
    assert_allclose(sums[0], np.einsum("ibj,is,sbl->bjl", Z, np.triu(R, 1), Z), rtol=1e-12)


@pytest.fixture
def adding(monkeypatch):
    """Entries that are added one by one, for few points and groups, where loops are compiled."""
    if jit.numba is None:
        pytest.skip("adding entry by entry is for compiled loops")
    monkeypatch.setattr(group_sums, "MANY_GROUPS", 2)
    monkeypatch.setattr(group_sums, "ADDED_FROM", 0)
    monkeypatch.setattr(group_sums, "BATCH_BYTES", 2000)
    monkeypatch.setattr(pairs, "TILE_ROWS", 16)


@pytest.mark.parametrize("kind", ["points", "stored", "matrix", "blocks", "line", "slices"])
@pytest.mark.parametrize("k", [3, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_many_groups_match_the_definition(kind, k, weighted, adding, rng):
    points, weights = rng.standard_normal((61, 3)), rng.uniform(0.5, 2, 61) if weighted else np.ones(61)
    points = np.round(points[:, :1], 1) if kind == "line" else points
    d = held_as("points" if kind in ("line", "slices") else kind, points)
    d, labelings = d.sliced(3, rng) if kind == "slices" else d, rng.integers(k, size=(12, 61))
    R = np.array(definitions.rho_matrix(points.tolist())) if kind != "slices" else d.pairs.multiply(np.eye(61))
    indicators = [np.eye(k)[codes] * weights[:, None] for codes in labelings]
    some = group_sums.Indicators(labelings.T, k - 1, weights)
    for M, Z in zip(d.pairs.block_sums(some), indicators, strict=True):
        assert_allclose(M, (Z.T @ R @ Z)[:-1, :-1], rtol=1e-12)
    drawn = list(group_sums.null_sums(d.pairs, weights, iter([labelings]), k, n_blocks=1))
    M, s = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    assert_allclose(M, [Z.T @ R @ Z for Z in indicators], rtol=1e-11, atol=1e-13 * R.sum())
    assert_allclose(s, [Z.sum(axis=0) for Z in indicators], rtol=1e-13)
    one = d.pairs.group_sums(labelings[0], k, weights if weighted else None)
    assert_allclose(one, indicators[0].T @ R @ indicators[0], rtol=1e-12)


def test_loop_over_entries_agrees_with_its_plain_python(rng):
    R, weights = rng.random((21, 21)), rng.uniform(0.5, 2, 21)
    R += R.T  # of bins, the diagonal is not 0
    codes, sums = rng.integers(4, size=(2, 21)), np.zeros((2, 2, 4, 4))
    for loop, own in zip((add_entries, add_entries.py_func), sums, strict=True):
        for row, column in ((slice(16), slice(16)), (slice(16), slice(16, 21)), (slice(16, 21), slice(16, 21))):
            loop(R[row, column].copy(), row.start or 0, column.start or 0, codes, weights, own)
    assert_allclose(sums[0], sums[1], rtol=1e-13)
    Z = np.eye(4)[codes.T] * weights[:, None, None]
    assert_allclose(sums[0] + sums[0].transpose(0, 2, 1), np.einsum("ibj,is,sbl->bjl", Z, R, Z), rtol=1e-12)


def test_loop_over_gaps_of_many_groups_agrees_with_its_plain_python(rng):
    x, weights, codes = rng.random(21), rng.uniform(0.5, 2, 21), rng.integers(4, size=(2, 21))
    order, sums = np.argsort(x), np.zeros((2, 2, 4, 4))
    for loop, own in zip((gaps.add_over_gaps, gaps.add_over_gaps.py_func), sums, strict=True):
        loop(np.diff(x[order]), order, codes, weights, own)
    assert_allclose(sums[0], sums[1], rtol=1e-13)
    Z = np.eye(4)[codes.T] * weights[:, None, None]
    R = np.abs(np.subtract.outer(x, x))
    assert_allclose(sums[0] + sums[0].transpose(0, 2, 1), np.einsum("ibj,is,sbl->bjl", Z, R, Z), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_many_groups_have_the_same_bits_in_any_number_of_threads(n_threads, d, adding, rng, monkeypatch):
    x, g = rng.standard_normal((70, d)), np.arange(70) % 9
    expected = es.energy_test(x, groups=g, n_resamples=50, rng=0).null_distribution
    monkeypatch.setattr("energystats._core.threads.threads_given", lambda: n_threads)
    assert_array_equal(es.energy_test(x, groups=g, n_resamples=50, rng=0).null_distribution, expected)


@pytest.mark.parametrize("d", [1, 2])
def test_many_groups_have_the_p_of_products(d, rng, monkeypatch):
    X, g = rng.standard_normal((200, d)), rng.permutation(np.arange(200) % 50)
    found = es.energy_test(X, groups=g, n_resamples=199, rng=0)
    monkeypatch.setattr(group_sums, "MANY_GROUPS", 1000)
    products = es.energy_test(X, groups=g, n_resamples=199, rng=0)
    assert found.pvalue == products.pvalue
    assert_allclose(found.null_distribution, products.null_distribution, rtol=1e-10)


@pytest.mark.parametrize("k", [255, 256, 257])
def test_as_many_groups_as_a_byte_has_values(k, rng):
    """Labels of 256 groups are bytes, in which their number is none."""
    X, g = rng.standard_normal((600, 2)), np.arange(600) % k
    found = es.energy_test(X, groups=g, n_resamples=19, rng=0)
    definition = definitions.within(definitions.rho_matrix(X.tolist()), g.tolist())
    assert found.within == pytest.approx(float(definition), rel=1e-12)


def test_entries_are_added_for_many_groups_of_many_points(monkeypatch):
    serves = group_sums.adding_serves
    assert not serves(4000, group_sums.MANY_GROUPS - 1, 1000)
    assert not serves(100, 30, 1)
    assert serves(1000, 30, 64) == (jit.numba is not None)
    for k in (100, 1000):  # their sums have a limit, too
        room = group_sums.room_for_labelings(20_000, k, as_labels=True)
        assert 8 * room * k * k <= max(group_sums.INDICATOR_BYTES, 8 * k * k)
    monkeypatch.setattr(jit, "numba", None)
    assert not serves(1000, 30, 64)


def test_labelings_of_one_product_fit_the_memory_and_a_minute_or_two():
    for n, multiplied in ((5000, 1), (100_000, 1), (100_000, 3), (10**6, 2)):
        room = group_sums.room_for_labelings(n, multiplied, as_labels=True)
        assert room >= group_sums.room_for_labelings(n, multiplied, as_labels=False)
        assert n * room <= group_sums.INDICATOR_BYTES
        assert n * n * multiplied * room <= group_sums.MULTIPLIED_AT_ONCE or room == labelings.LABELINGS_PER_BLOCK
    # a default test, the observed labeling and 999 others in 16 blocks, reads its pairs once
    assert group_sums.blocks_at_once(17, group_sums.room_for_labelings(100_000, 1, as_labels=True)) == 17


@given(st.integers(1, 500), st.integers(1, 3000))
def test_labelings_are_shared_out_evenly(n_blocks, room):
    at_once, at_most = group_sums.blocks_at_once(n_blocks, room), max(1, room // labelings.LABELINGS_PER_BLOCK)
    assert at_once <= at_most
    assert -(-n_blocks // at_once) == -(-n_blocks // at_most)  # no more products
    last = n_blocks % at_once or at_once
    assert last > at_once - -(-n_blocks // at_most)


def test_a_label_takes_a_byte_where_labels_are_kept(rng, monkeypatch):
    monkeypatch.setattr(pairs, "STORED_UP_TO", 0)
    seen, sums_of = [], pairs.UpperTileSums.block_sums_and_totals
    monkeypatch.setattr(
        pairs.UpperTileSums, "block_sums_and_totals", lambda self, Z, w: seen.append(Z) or sums_of(self, Z, w)
    )
    es.energy_test(rng.normal(size=(40, 2)), groups=np.arange(40) % 2, n_resamples=99, method="permutation", rng=0)
    assert [(Z.codes.dtype, Z.shape) for Z in seen] == [(np.uint8, (40, 1, 100))]


def test_resamples_do_not_depend_on_the_memory_at_hand(rng):
    d, groups = case(rng, 2)
    draws = []
    for at_once in (None, 1):
        random_labels = labelings.Exchangeable.freely(groups.codes).random(
            300, labelings.draw_key(np.random.default_rng(4))
        )
        drawn = group_sums.null_sums(d.pairs, np.ones(d.n), random_labels, groups.k, n_blocks=5, at_once=at_once)
        draws.append(np.concatenate([M for M, _ in drawn]))
    assert draws[0].shape == (300, 3, 3)
    assert_allclose(draws[0], draws[1], rtol=1e-13)


def test_statistics_match_their_definitions(rng):
    d, groups = case(rng, 2, n=14)
    R, labels = definitions.rho_matrix(d.points.tolist()), groups.codes.tolist()
    M, s = d.pairs.block_sums(groups.indicators())[0], groups.sizes.astype(float)
    assert_allclose(statistics.within_per_cluster(M, s).sum(), definitions.within(R, labels))
    assert_allclose(statistics.between(M, s), definitions.between(R, labels))
    assert_allclose(statistics.total(M, s), definitions.total(R))
    assert_allclose(statistics.pairwise_statistic(M, s), float(definitions.pairwise_statistic(R, labels)))
    F = statistics.f_ratio(statistics.between(M, s), float(statistics.total(M, s)), d.n, groups.k, 0.0)
    assert_allclose(F, definitions.f_ratio(R, labels))
    parts = definitions.members(labels)
    for unbiased in (False, True):
        if not unbiased or groups.sizes.min() > 1:
            E = statistics.energy_distances(M, s, unbiased=unbiased)
            assert_allclose(E[0, 2], definitions.energy_distance(R, parts[0], parts[2], unbiased), rtol=1e-10)


@pytest.mark.parametrize("n", [40, 300])
def test_eigenvalues_match_numpy_by_both_methods(n, rng):
    d, _ = case(rng, 3, n=n)
    J = np.eye(n) - 1 / n
    expected = np.linalg.eigvalsh(-0.5 * J @ d.matrix @ J)
    values, vectors = d.largest_eigenpairs(3)
    assert_allclose(values, expected[::-1][:3], rtol=1e-10)
    assert_allclose(-0.5 * J @ d.matrix @ J @ vectors, vectors * values, atol=1e-6 * values[0])


def test_excess_split_matches_the_definition(rng):
    x = np.sort(np.concatenate((rng.standard_normal(9), rng.normal(4, 0.5, 7))))
    knots = nearest_unimodal(x)
    F = knots / (x.size - 1)
    fitted = np.interp(np.arange(x.size) / (x.size - 1), F, x[knots])
    expected = np.max(np.array(definitions.split_profile(x)) - np.array(definitions.split_profile(fitted)))
    assert_allclose(excess_split(x), expected, atol=1e-12)


def test_nearest_unimodal_is_the_nearest(rng):
    """Its distance to F is the smallest over all modes, and it is convex and then concave."""
    x = np.sort(rng.choice([rng.standard_normal(13), rng.exponential(size=13), rng.random(13)]))
    exact = [definitions.Fraction(v) for v in x]
    smallest = min(definitions.unimodal_distance(exact, mode) for mode in range(x.size))
    knots = nearest_unimodal(x)
    F = np.interp(x, x[knots], knots / (x.size - 1))
    assert_allclose(np.abs(F - np.arange(x.size) / (x.size - 1)).max(), float(smallest), atol=1e-12)
    rising = np.diff(np.diff(knots) / np.diff(x[knots])) > 0
    assert not np.any(np.diff(rising.astype(int)) > 0), "slopes must rise before they fall"


def test_loops_agree_with_their_plain_python(rng):
    d, groups = case(rng, 2)
    states = []
    weights = rng.uniform(0.5, 2, d.n)
    arguments = d.matrix, weights, groups.codes, groups.k
    assert_allclose(cluster_table(*arguments), cluster_table.py_func(*arguments), rtol=1e-13)
    Z = (groups.codes == np.arange(groups.k)[:, None]) * weights
    assert_allclose(cluster_table(*arguments), Z @ d.matrix, rtol=1e-12)
    for loop in (hartigan_pass, hartigan_pass.py_func):
        labels, room = groups.codes.copy(), np.zeros((d.n, 3), np.intp)
        state = state_of(d.matrix, labels, groups.k, weights)
        made = [one_hartigan_pass(d.matrix, labels, state, 1e-12, weights=weights, loop=loop, room=room) for _ in "123"]
        states.append((made, labels, room, *state))
    for a, b in zip(*states, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    states = []
    for one_pass in (lloyd_pass, lloyd_pass.py_func):
        labels = groups.codes.copy()
        state = state_of(d.matrix, labels, groups.k, weights)
        moved = one_lloyd_pass(d.matrix, labels, state, weights=weights, loop=one_pass)
        states.append((moved, labels, *state))
    for a, b in zip(*states, strict=True):
        assert_allclose(a, b, rtol=1e-13)
    x = np.sort(rng.standard_normal(20))
    uniforms = np.sort(rng.random((3, 20)), axis=1)
    for loop, arguments in (
        (nearest_unimodal, (x,)),
        (excess_split, (x,)),
        (compute_indices, (x,)),
        (indices_of_draws, (x, uniforms)),
        (normal_mixture.mixture_ratio, (x,)),
        (normal_mixture.nearest_unimodal_heights, (x - x[0] + 0.1, uniforms[0] + 0.1)),
        (_compute_quantiles, (x, nearest_unimodal(x), uniforms[0] * 19)),
    ):
        assert_allclose(loop(*arguments), loop.py_func(*arguments), rtol=1e-12, atol=1e-13)  # differences of shares
    compiled, plain = np.zeros(20, np.intp), np.zeros(20, np.intp)
    assert _extend_hull(x, compiled, 0, 19) == _extend_hull.py_func(x, plain, 0, 19) == 19
    assert compiled.tolist() == plain.tolist()
    for last in range(20):
        assert _list_knots(plain, last).tolist() == _list_knots.py_func(plain, last).tolist()
        known = [np.r_[0.0, np.full(19, -1.0)] for _ in range(2)]
        assert _measure_hull(x, plain, known[0], last) == _measure_hull.py_func(x, plain, known[1], last)


def test_lloyd_fills_an_empty_cluster():
    """Both points of cluster 1 prefer cluster 0, which would leave 1 empty; the worst placed point goes there."""
    x = np.array([0.0, 0.1, 0.2, 5.0, -4.0, 0.05, 9.0])
    R = np.abs(np.subtract.outer(x, x))
    labels = np.array([0, 0, 0, 1, 1, 0, 2], dtype=np.intp)
    state = state_of(R, labels, 3)
    one_lloyd_pass(R, labels, state)
    assert set(labels) == {0, 1, 2}
    for kept, fresh in zip(state, state_of(R, labels, 3), strict=True):
        assert_allclose(kept, fresh, atol=1e-12)


def test_labelings_are_all_there_and_distinct():
    codes = np.array([0, 1, 1, 2, 0], dtype=np.intp)
    scheme = labelings.Exchangeable.freely(codes)
    listed = np.concatenate(list(scheme.distinct()))
    expected = [z for z in definitions.distinct_labelings(codes.tolist()) if list(z) != codes.tolist()]
    assert_array_equal(sorted(map(tuple, listed.tolist())), expected)
    assert scheme.count() == len(expected) + 1


def test_labelings_within_blocks(rng):
    codes, blocks = np.array([0, 1, 1, 0, 2, 2, 1], dtype=np.intp), np.array([0, 0, 0, 1, 1, 1, 0])
    scheme = labelings.Exchangeable(codes, tuple(np.flatnonzero(blocks == b) for b in (0, 1)))

    def allowed(z):
        return all(sorted(np.array(z)[blocks == b]) == sorted(codes[blocks == b]) for b in (0, 1))

    expected = [z for z in definitions.distinct_labelings(codes.tolist()) if allowed(z)]
    listed = sorted(map(tuple, np.concatenate(list(scheme.distinct())).tolist()))
    assert listed == [z for z in expected if list(z) != codes.tolist()]
    assert scheme.count() == len(expected) == 4 * 3
    drawn = np.concatenate(list(scheme.random(500, labelings.draw_key(rng))))
    assert set(map(tuple, drawn.tolist())) == set(expected)


def test_clopper_pearson_against_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    for extreme in (0, 3, 99):
        expected = proportion_confint(extreme, 99, method="beta")
        assert_allclose(pvalues.pvalue_interval(extreme, 99, 0.95), expected, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_loop_over_gaps_gives_what_running_sums_give(k, rng, monkeypatch):
    """Any columns, indicators or not, also across the borders of partial sums."""
    n = 2 * gaps.ROWS_PER_SUM + 3
    x = rng.integers(0, 40, n).astype(float)
    order = np.argsort(x, kind="stable")
    steps, Z = np.diff(x[order]), rng.uniform(0, 2, (n, k, 2))
    monkeypatch.setattr(group_sums, "COMPILED_FROM", 10**9)
    plain = group_sums.block_sums_sorted(steps, order, Z)
    monkeypatch.setattr(group_sums, "COMPILED_FROM", 0)
    assert_allclose(group_sums.block_sums_sorted(steps, order, Z), plain, rtol=1e-12)
    few = order[order < 30]
    expected = group_sums.block_sums_sorted(np.diff(x[few]), few, Z[:30])
    assert_allclose(gaps.sums_over_gaps.py_func(np.diff(x[few]), few, Z[:30]).transpose(2, 0, 1), expected, rtol=1e-12)


def test_the_nearest_unimodal_density_is_one(rng):
    """Heights over the edges integrate to 1, rise to the mode and fall behind it."""
    for x in (rng.normal(size=50), rng.integers(0, 6, 40).astype(float), np.array([0.0, 1.0, 1.0, 3.0])):
        edges, heights = unimodal_density(np.sort(x))
        assert heights @ np.diff(edges) == pytest.approx(1)
        assert (edges[0], edges[-1]) == (x.min(), x.max())
        mode = heights.argmax()
        assert (np.diff(heights[: mode + 1]) >= -1e-12).all()
        assert (np.diff(heights[mode:]) <= 1e-12).all()


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=12),
    st.lists(st.integers(-5, 5), min_size=1, max_size=12),
)
def test_sums_across_two_sorted_samples_are_those_of_all_pairs(x, y):
    x, y = np.sort(np.array(x, float)), np.sort(np.array(y, float))
    for sum_across in (gaps.sum_across, gaps.sum_across.py_func):
        assert sum_across(x, y) == np.abs(x[:, None] - y).sum()


@pytest.mark.parametrize("k", [2, 4])
def test_sums_of_sorted_groups_are_those_of_sorted_points(k, rng):
    """Groups of unlike size, one of a single point, with ties and an offset; few points are left to the other way."""
    n = group_sums.COMPILED_FROM // k + 1
    x = 1e3 + np.round(rng.standard_normal(n), 3)
    codes = np.minimum(rng.geometric(0.7, n) - 1, k - 1)
    codes[codes == k - 1] = 0
    codes[n // 2] = k - 1
    order = np.argsort(x)
    slow = group_sums.block_sums_sorted(np.diff(x[order]), order, Groups(codes, tuple(range(k))).indicators())[0]
    assert_allclose(group_sums.sums_of_sorted_groups(x, codes, k), slow, rtol=1e-12)
    assert group_sums.sums_of_sorted_groups(x[:100], codes[:100], k) is None


@pytest.mark.parametrize("n", [5, 700])
def test_the_absolute_total_counts_every_ordered_pair(n, rng):
    """Of entries with both signs, in one tile and in several."""
    R = rng.normal(size=(n, n))
    R = np.triu(R, 1) + np.triu(R, 1).T
    upper = [
        (row, column, R[row : row + 256, column : column + 256])
        for row in range(0, n, 256)
        for column in range(row, n, 256)
    ]
    assert_allclose(group_sums.absolute_total(upper), np.abs(R).sum())
    assert_allclose(Dissimilarity.from_data(np.abs(R), metric="precomputed", alpha=1.0).pairs.absolute_total(),
                    np.abs(R).sum())  # fmt: skip


def test_tables_count_the_diagonal(rng, monkeypatch):
    monkeypatch.setattr(group_sums, "THREADED_FROM", 0)
    n, b = 70, 1100
    R = rng.random((n, n))
    R += R.T
    codes = rng.integers(0, 3, (n, b)).astype(np.uint8)
    upper = [(0, 0, R[:64, :64]), (0, 64, R[:64, 64:]), (64, 64, R[64:, 64:])]
    weights = rng.uniform(0.5, 2, n)
    Z = group_sums.Indicators(codes, 3, weights)
    if not group_sums.tables_serve(n, 3, b):
        pytest.skip("there is no compiler")
    found = group_sums.block_sums_from_upper(upper, Z)
    all_of = Z[slice(0, n)]
    assert_allclose(found, np.einsum("ijb,il,lmb->bjm", all_of, R, all_of), rtol=1e-12)


@pytest.mark.parametrize("single", ["a", "z"])
def test_a_small_group_keeps_its_digits_wherever_its_name_is_sorted(single, rng):
    """The group that the others leave is a difference of sums over all pairs: it is the largest one."""
    x = np.round(rng.exponential(size=20_000), 1)
    g = np.full(x.size, "m")
    g[3] = single
    found = es.energy_test(x, groups=g, rng=0, n_resamples=19, method="permutation")
    assert found.between == pytest.approx(es.dispersion(x, g).between, abs=1e-13 * found.total)
