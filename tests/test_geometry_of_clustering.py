"""Clustering by a dissimilarity that is not Euclidean: what a shift of rho changes, what Lloyd's rule does, and the
worked example of [K] with every number that it prints."""

import re
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

import energystats as es
from energystats.clustering.local_search import MultiStartSearch, lloyd, make_starts
from energystats.clustering.seeding import plus_plus_start, random_start
from tests import definitions
from tests.conftest import examples
from tests.definitions import off_diagonal
from tests.problems import one_hartigan_pass, one_lloyd_pass, problem, state_of

pytestmark = pytest.mark.filterwarnings("ignore:.*pairs have a negative rho:energystats.NotNegativeTypeWarning")

seeds = st.integers(0, 2**32 - 1)
entries = st.integers(-50, 50).map(float) | st.floats(-9, 9, allow_subnormal=False)


def symmetric(n, entries):
    R = np.zeros((n, n))
    R[np.triu_indices(n, 1)] = entries
    return R + R.T


@st.composite
def matrices_with_labels(draw, elements=entries, max_n=9):
    """Any symmetric matrix with a zero diagonal, and a partition into k non-empty clusters."""
    n = draw(st.integers(3, max_n))
    k = draw(st.integers(1, n - 1))
    R = symmetric(n, draw(arrays(float, n * (n - 1) // 2, elements=elements)))
    rest = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    return R, draw(st.permutations([*range(k), *rest])), k


# What a shift adds: the same for every partition [K thm 6]


def dispersions(R, labels, w=None):
    found = es.dispersion(R, labels, metric="precomputed", sample_weight=w)
    return np.array([found.within, found.between, found.total])


@given(matrices_with_labels(), st.floats(-20, 20))
@settings(deadline=None)
def test_a_shift_adds_the_same_to_every_partition(case, c):
    """2c off the diagonal adds c(n - k) to W, c(k - 1) to S and c(n - 1) to T."""
    R, labels, k = case
    n = len(R)
    shifted = dispersions(R + 2 * c * off_diagonal(n), labels)
    slack = 1e-12 * (np.abs(R).max() + abs(c)) * n
    assert_allclose(shifted - dispersions(R, labels), [c * (n - k), c * (k - 1), c * (n - 1)], atol=slack)


@given(matrices_with_labels(), st.floats(-20, 20), seeds)
@settings(deadline=None)
def test_with_weights_the_shift_has_to_follow_them(case, c, seed):
    """c(1/w_x + 1/w_y) off the diagonal adds the same three constants to the weighted dispersions."""
    R, labels, k = case
    n = len(R)
    w = np.random.default_rng(seed).uniform(0.2, 3, n)
    shift = c * np.add.outer(1 / w, 1 / w) * off_diagonal(n)
    slack = 1e-11 * (np.abs(R).max() + abs(c)) * n
    added = dispersions(R + shift, labels, w) - dispersions(R, labels, w)
    assert_allclose(added, [c * (n - k), c * (k - 1), c * (n - 1)], atol=slack)


def test_in_exact_fractions_for_all_partitions(rng):
    n, c = 6, Fraction(int(rng.integers(-30, 30)), 7)
    R = [[Fraction(int(v)) for v in row] for row in symmetric(n, rng.integers(-9, 10, 15))]
    w = [Fraction(int(v), 4) for v in rng.integers(1, 12, n)]
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    plain, following = [row.copy() for row in R], [row.copy() for row in R]
    for i, j in pairs:
        plain[i][j] += 2 * c
        following[i][j] += c / w[i] + c / w[j]
    for k in range(1, n + 1):
        for labels in definitions.partitions(n, k):
            added = definitions.within(plain, labels) - definitions.within(R, labels)
            weighted = definitions.within(following, labels, w) - definitions.within(R, labels, w)
            assert added == weighted == c * (n - k)
            assert definitions.between(plain, labels) - definitions.between(R, labels) == c * (k - 1)


def test_a_plain_shift_changes_the_best_weighted_partition():
    """Weights 4, 1, 1: 2c adds c(s - sum of q_j/s_j), q_j the sum of squared weights, which depends on the clusters."""
    w, c = [4, 1, 1], 4
    R = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    shifted = [[v + 2 * c * (i != j) for j, v in enumerate(row)] for i, row in enumerate(R)]
    W = {z: [definitions.within(M, z, w) for M in (R, shifted)] for z in ((0, 0, 1), (0, 1, 0), (0, 1, 1))}
    assert W[0, 0, 1] == pytest.approx([0.8, 0.8 + c * 1.6])
    assert W[0, 1, 0] == pytest.approx([1.6, 1.6 + c * 1.6])
    assert W[0, 1, 1] == pytest.approx([1.5, 1.5 + c * 1.0])
    assert min(W, key=lambda z: W[z][0]) != min(W, key=lambda z: W[z][1])


def test_the_weighted_lingoes_constant_is_the_eigenvalue_of_the_weighted_bound(rng):
    """c = -lambda_min of D_w^(1/2) G D_w^(1/2), G centred with the weights, is the smallest for negative type."""
    n = 8
    w = rng.uniform(0.2, 3, n)
    R = symmetric(n, rng.random(28) ** 3)
    J = np.eye(n) - np.outer(np.ones(n), w / w.sum())
    root = np.diag(np.sqrt(w))
    c = -np.linalg.eigvalsh(root @ (-J @ R @ J.T / 2) @ root)[0]
    pattern = np.add.outer(1 / w, 1 / w) * off_diagonal(n)
    smallest = [np.linalg.eigvalsh(definitions.centred(R + t * pattern))[0] for t in (c, 0.999 * c)]
    assert smallest[0] == pytest.approx(0, abs=1e-12)
    assert smallest[1] < -1e-6 * c


@given(matrices_with_labels(st.integers(-50, 50).filter(bool).map(float), max_n=7))
@settings(deadline=None)
def test_the_bound_holds_for_every_matrix(case):
    R, labels, k = case
    d = es.dispersion(R, labels, metric="precomputed")
    found = es.energy_cluster(R, k, metric="precomputed", init=labels)
    slack = 1e-12 * np.abs(R).sum()
    assert max(found.between, d.between) <= found.bound + slack
    assert np.isnan(found.tightness) or found.tightness <= 1 + slack / found.bound


def test_a_bound_that_is_not_positive_gives_no_ratio():
    """All pairs at -1: S and its bound are negative, and their ratio would be 2 for k = 3 and enormous for k = 2."""
    R = -off_diagonal(6)
    for k in (2, 3):
        found = es.energy_cluster(R, k, metric="precomputed", rng=0)
        assert found.between <= found.bound + 1e-12
        assert found.between < 0
        assert np.isnan(found.tightness)
        assert re.search(r"S/bound +-\n", found.summary())
        assert "the bound is not positive, so S/bound says nothing" in found.summary()


# Hartigan's method: the same path before and after


def gaussian(n, rng):
    return symmetric(n, rng.standard_normal(n * (n - 1) // 2))


def graph(n, rng):
    """Lengths of shortest paths, which are metric and seldom of negative type, with noise against ties."""
    steps = symmetric(n, rng.random(n * (n - 1) // 2) < 0.3)
    steps += np.diag(np.ones(n - 1), 1) * (steps == 0)
    return shortest_path(steps, directed=False, unweighted=True) + 0.01 * gaussian(n, rng)


def squared_manhattan(n, rng):
    X = rng.integers(0, 4, (n, 3))
    return cdist(X, X, "cityblock") ** 2 + 0.05 * gaussian(n, rng)


def sine(n, rng):
    return es.pairwise(4 * rng.standard_normal((n, 2)), metric=es.metrics.Sine())


KINDS = [gaussian, graph, squared_manhattan, sine]


def clear_path(R, labels, scale):
    """The slow Hartigan's moves; a case whose closest decision rounding could turn round is left out."""
    passes, closest = definitions.hartigan_path(R.tolist(), labels.tolist(), 1e-12 * scale)
    assume(closest > 1e-10 * scale)
    return passes


def labels_after(labels, passes):
    """Labels after each pass of logged moves."""
    labels, seen = list(labels), []
    for moves in passes:
        for i, old, new in moves:
            assert labels[i] == old
            labels[i] = new
        seen.append(labels.copy())
    return seen


def package_passes(R, labels, k, threshold):
    """Labels after each pass of the compiled loop."""
    labels, seen, made = labels.copy(), [], 1
    state = state_of(R, labels, k)
    while made:
        made = one_hartigan_pass(R, labels, state, threshold)
        seen.append(labels.tolist())
    return seen


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(5, 12), st.integers(2, 4), st.floats(0.01, 30), st.booleans(), seeds)
@settings(max_examples=examples(40), deadline=None)
def test_hartigan_takes_the_same_path(kind, n, k, c, lingoes, seed):
    """Every single move is the same, in the definition and pass by pass in the package; also for c = sigma [K 8]."""
    rng = np.random.default_rng(seed)
    R, start = kind(n, rng), random_start(n, k, rng)
    if lingoes:
        c = -np.linalg.eigvalsh(definitions.centred(R))[0]
    shifted = R + 2 * c * off_diagonal(n)
    scale = np.abs(R).sum() + abs(c) * n
    moves = clear_path(R, start, scale)
    assert clear_path(shifted, start, scale) == moves
    expected = labels_after(start, moves)
    for M in (R, shifted):
        assert package_passes(M, start, k, 1e-12 * scale) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(6, 12), st.integers(2, 4), st.floats(0.01, 30), st.sampled_from(["random", "labels"]), seeds)
@settings(max_examples=examples(25), deadline=None)
def test_users_get_the_same_clusters(kind, n, k, c, init, seed):
    rng = np.random.default_rng(seed)
    R = kind(n, rng)
    shifted = R + 2 * c * off_diagonal(n)
    starts = list(make_starts(problem(R, k), "random", 3, np.random.default_rng(seed)))
    scale = np.abs(R).sum() + abs(c) * n
    for M in (R, shifted):
        for start in starts:
            clear_path(M, start, scale)
    how = {"metric": "precomputed", "n_init": 3, "algorithm": es.Hartigan(n_perturb=0), "rng": seed}
    how["init"] = starts[0] if init == "labels" else "random"
    before, after = (es.energy_cluster(M, k, **how) for M in (R, shifted))
    assert_array_equal(before.labels, after.labels)
    assert before.n_iter == after.n_iter
    assert before.converged
    assert after.converged
    slack = 1e-12 * scale
    assert_allclose(after.within - before.within, c * (n - k), atol=slack)
    assert_allclose(after.between - before.between, c * (k - 1), atol=slack)


def test_a_shift_changes_where_k_means_plus_plus_starts(rng):
    """Seeds are drawn in proportion to rho. Points 0, 1, 10: both seeds among 0 and 1 with chance .0636, after a large
    shift 1/3."""
    x = np.array([0.0, 1.0, 10.0])
    R = np.abs(np.subtract.outer(x, x)) + 1e6 * off_diagonal(3)
    alone = sum(bool(labels[0] != labels[1]) for labels in (plus_plus_start(R, 2, rng) for _ in range(4000)))
    # two seeds of three equally likely ones; seeds 0 and 10 (or 1 and 10) leave 0 and 1 together
    assert abs(alone / 4000 - 1 / 3) < 4.5 * np.sqrt(2 / 9 / 4000)


def test_more_clusters_may_have_a_larger_w():
    """All pairs at -1: W = (k - n)/2. After a shift by 2 it is (n - k)/2, and falls with k."""
    for sign in (1, -1):
        R = sign * off_diagonal(6)
        W = [es.energy_cluster(R, k, metric="precomputed", rng=0).within for k in range(1, 7)]
        assert_allclose(W, [sign * (6 - k) / 2 for k in range(1, 7)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::energystats.NotNegativeTypeWarning")
def test_the_nearest_cluster_depends_on_the_constant(rng):
    """`predict` gives back the labels of Hartigan's method after Lingoes' correction, and not always before."""
    moved = 0
    for _ in range(100):
        R = gaussian(12, rng)
        shifted = R - 2 * np.linalg.eigvalsh(definitions.centred(R))[0] * off_diagonal(12)
        start = random_start(12, 3, rng)
        before, after = (es.EnergyClustering(3, metric="precomputed", init=start).fit(M) for M in (R, shifted))
        moved += not np.array_equal(before.predict(R), before.labels_)
        assert_array_equal(after.predict(shifted), after.labels_)
    assert moved > 0


# Lloyd's method: another path, and for an indefinite rho no end


def as_list(R):
    return [[Fraction(int(v)) for v in row] for row in R]


def test_lloyd_takes_another_path_after_a_shift():
    """Three points on a line, 0, 1 and 5, from {0, 5}, {1}: a shift of 1 makes them stay where they are."""
    R = np.array([[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    shifted = R + 1 * off_diagonal(3)
    assert definitions.lloyd_path(as_list(R), [0, 1, 0]) == [[0, 1, 0], [1, 1, 0], [1, 1, 0]]
    assert definitions.lloyd_path(as_list(shifted), [0, 1, 0]) == [[0, 1, 0], [0, 1, 0]]
    for algorithm, expected in (("lloyd", [[0, 0, 1], [0, 1, 0]]), ("hartigan", [[0, 0, 1], [0, 0, 1]])):
        how = {"metric": "precomputed", "init": [0, 1, 0], "algorithm": algorithm}
        assert [es.energy_cluster(M, 2, **how).labels.tolist() for M in (R, shifted)] == expected


# Shortest paths in a graph of six vertices and eleven edges, so metric; found by trying all matrices of 1 and 2
CYCLE = np.array(
    [
        [0, 1, 1, 1, 2, 1],
        [1, 0, 2, 2, 1, 1],
        [1, 2, 0, 2, 1, 1],
        [1, 2, 2, 0, 1, 1],
        [2, 1, 1, 1, 0, 1],
        [1, 1, 1, 1, 1, 0],
    ]
)
CYCLE_START = [0, 1, 1, 1, 0, 0]


def test_lloyd_without_a_guard_goes_round_for_ever():
    assert_array_equal(shortest_path(CYCLE == 1, directed=False, unweighted=True), CYCLE)
    assert np.linalg.eigvalsh(definitions.centred(CYCLE))[0] == pytest.approx(-0.217, abs=5e-4)
    path = definitions.lloyd_path(as_list(CYCLE), CYCLE_START)
    assert path == [[0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0], [0, 1, 1, 1, 0, 0]]
    falls_and_rises = [definitions.within(as_list(CYCLE), labels) for labels in path]
    assert falls_and_rises == [Fraction(10, 3), Fraction(13, 4), Fraction(10, 3)]


def by_estimator(R, start):
    model = es.EnergyClustering(2, metric="precomputed", algorithm="lloyd", init=start).fit(R)
    assert_array_equal(model.labels_, model.partition_.labels)
    return model.partition_


def by_function(R, start):
    return es.energy_cluster(R, 2, metric="precomputed", algorithm="lloyd", init=start)


@pytest.mark.parametrize("run", [by_function, by_estimator])
def test_the_guard_ends_the_cycle_and_says_so(run):
    message = r"would not have lowered W and was taken back \(in 1 of 1 start\), .* rho is not of negative type"
    with pytest.warns(es.NotNegativeTypeWarning, match=message) as caught:
        found = run(CYCLE, CYCLE_START)
    assert len(caught) == 1
    assert found.labels.tolist() == [1, 0, 0, 0, 1, 0]
    assert (found.within, found.n_iter, found.converged) == (pytest.approx(13 / 4), 2, False)
    assert "stopped before it converged" in found.summary()
    by_hartigan = es.energy_cluster(CYCLE, 2, metric="precomputed", init=CYCLE_START)
    assert by_hartigan.within == pytest.approx(definitions.best_within(as_list(CYCLE), 2))


def test_after_a_lingoes_shift_the_cycle_is_gone():
    R = definitions.lingoes(np.sqrt(CYCLE)) ** 2
    found = by_function(R, CYCLE_START)
    assert found.converged
    path = definitions.lloyd_path(R.tolist(), CYCLE_START)
    assert path[-1] == path[-2]


def test_a_pass_that_leaves_w_as_it_is_is_no_local_optimum():
    """All three points are nearer to the other cluster, for ever: the clusters only trade their names."""
    R, start = np.array([[0, 1, 1], [1, 0, 5], [1, 5, 0]]), [0, 1, 1]
    assert definitions.lloyd_path(as_list(R), start) == [[0, 1, 1], [1, 0, 0], [0, 1, 1]]
    with pytest.warns(es.NotNegativeTypeWarning, match="would not have lowered W"):
        found = by_function(R, start)
    assert (found.within, found.converged) == (2.5, False)


def test_filling_an_empty_cluster_may_raise_w_too():
    """Points 1 and 2 leave their clusters of one; the repair then costs 1/2 more than staying, and is taken back."""
    R, start = np.array([[0, 0, 0, 1], [0, 0, 2, 0], [0, 2, 0, 0], [1, 0, 0, 0]]), [0, 1, 2, 0]
    assert definitions.lloyd_path(as_list(R), start)[-1] == [1, 0, 0, 1]
    with pytest.warns(es.NotNegativeTypeWarning, match="would not have lowered W"):
        found = lloyd_from(R.astype(float), start, 3)
    assert found.labels.tolist() == start
    assert found.within == 0.5


def best_of_lloyd(given, starts):
    hunt = MultiStartSearch(
        given, [np.array(z, dtype=np.intp) for z in starts], len(starts), 0, np.random.default_rng(0)
    )
    return hunt.best_in_steps(lloyd)


def lloyd_from(R, start, k, **how):
    how = {"max_iter": 300, "tolerance": 1e-13 * np.abs(R).sum(), **how}
    return best_of_lloyd(problem(R, k, **how), [start])


def test_a_start_that_lost_counts_for_the_warning(rng):
    """The best start of many may have met nothing odd; the warning tells of the others."""
    starts = [[0, 0, 1], [0, 1, 1]]
    R = np.array([[0.0, 1, 1], [1, 0, 5], [1, 5, 0]])
    assert [lloyd(problem(R, 2), np.array(z, dtype=np.intp)).increased for z in starts] == [False, True]
    with pytest.warns(es.NotNegativeTypeWarning, match="in 1 of 2 starts"):
        best = best_of_lloyd(problem(R, 2), starts)
    assert best.converged
    assert best.labels.tolist() == [0, 0, 1]


def lowering_part(R, labels, slack):
    """Passes of the rule while they lower W, and whether the rule wants to go on where they no longer do."""
    path = definitions.lloyd_path(R, labels)
    W = [definitions.within(R, z) for z in path]
    last = next((t for t in range(1, len(path)) if W[t] >= W[t - 1] - slack), len(path))
    return path[:last], last < len(path) and path[last] != path[last - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_guarded_lloyd_is_the_rule_while_w_falls(kind, rng):
    """Pass by pass; it never rises, it ends, and `converged` and `increased` say how."""
    stopped = 0
    for _ in range(60):
        n, k = int(rng.integers(5, 12)), int(rng.integers(2, 4))
        R, start = kind(n, rng), random_start(n, k, rng)
        slack = 1e-12 * np.abs(R).sum()
        passes, wants_more = lowering_part(R.tolist(), start.tolist(), slack)
        ends = [lloyd(problem(R, k, max_iter=m, tolerance=slack), start) for m in range(1, 15)]
        W = [end.within for end in ends]
        assert W[0] <= definitions.within(R, start) + slack
        assert max(np.diff(W)) <= 0
        assert ends[-1].n_iter < 14
        assert ends[-1].converged != ends[-1].increased
        stopped += ends[-1].increased
        if all(len(set(z)) == k for z in definitions.lloyd_path(R.tolist(), start.tolist())):
            for m, end in enumerate(ends, start=1):
                assert end.labels.tolist() == passes[min(m, len(passes) - 1)]
            assert ends[-1].increased == wants_more
    if kind is gaussian:
        assert stopped > 0


@pytest.mark.parametrize("kind", [gaussian, squared_manhattan])
def test_a_pass_promises_what_it_keeps_for_negative_type(kind, rng):
    """The sum by which points come nearer; a point that fills an empty cluster is at distance 0 from its centre."""
    filled = 0
    for shift in (False, True) * 100:
        n, k = int(rng.integers(4, 8)), 3
        R, before = kind(n, rng), random_start(n, k, rng)
        if shift:
            R += 2 * max(0.0, -np.linalg.eigvalsh(definitions.centred(R))[0]) * off_diagonal(n)
        after = before.copy()
        _, nearer = one_lloyd_pass(R, after, state_of(R, before, k))
        emptied = set(range(k)) - set(definitions.lloyd_path(R.tolist(), before.tolist())[1])
        filled += len(emptied)
        costs = definitions.twice_squared_distances(R.tolist(), before.tolist())
        new = [0 if l in emptied else c[l] for c, l in zip(costs, after, strict=True)]
        old = [c[j] for c, j in zip(costs, before, strict=True)]
        assert nearer == pytest.approx((sum(old) - sum(new)) / 2, abs=1e-10 * np.abs(R).sum())
        if shift:
            fall = definitions.within(R, before) - definitions.within(R, after)
            assert fall >= nearer - 1e-10 * np.abs(R).sum()
    assert filled > 0


points = arrays(float, st.tuples(st.integers(3, 14), st.integers(1, 3)), elements=st.integers(-5, 5).map(float))


@given(points, st.sampled_from([0.3, 1.0, 1.7, 2.0, "gaussian", "cityblock"]), st.integers(2, 4), seeds)
@settings(deadline=None)
def test_lloyd_never_warns_for_negative_type(X, how, k, seed):
    """On a lattice, where ties and coinciding points abound; a warning would fail the test."""
    assume(len(np.unique(X, axis=0)) >= k)
    options = {"metric": how} if isinstance(how, str) else {"alpha": how}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.ColumnScaleWarning)
        found = es.energy_cluster(X, k, algorithm="lloyd", init="random", n_init=5, rng=seed, **options)
    assert found.converged


@pytest.mark.parametrize("kind", KINDS)
def test_nor_after_a_lingoes_shift(kind, rng):
    for _ in range(20):
        R = kind(12, rng)
        R += 2 * max(0.0, -np.linalg.eigvalsh(definitions.centred(R))[0]) * off_diagonal(12)
        assert es.energy_cluster(R, 3, metric="precomputed", algorithm="lloyd", init="random", rng=rng).converged


# The worked example of [K s.3, 5, 7, 8]


D = symmetric(6, [12, 24, 24, 48, 48, 48, 48, 24, 48, 48, 48, 24, 24, 12, 48])
SPLIT, TRIPLES = [1, 2, 1, 1, 2, 1], [1, 1, 1, 2, 2, 2]
WEIGHTS = [10, 1, 1, 10, 1, 1]
PRINTED = {  # constant, lowest W and where, W of one other partition, cost of TRIPLES with weighted centres
    "untouched": SimpleNamespace(
        constant=0, lowest=1908, optima=[SPLIT, [2, 2, 1, 2, 2, 1]], other=(TRIPLES, 2016), weighted=1692
    ),
    "Lingoes": SimpleNamespace(
        constant=1090.376,
        lowest=6269.502,
        optima=[[2, 1, 2, 2, 1, 2], [2, 2, 1, 2, 2, 1]],
        other=(TRIPLES, 6377.502),
        weighted=8506.847,
    ),
    "Cailliez": SimpleNamespace(
        constant=69.134,
        lowest=19317.864,
        optima=[[1, 1, 2, 2, 1, 2], TRIPLES],
        other=(SPLIT, 19348.132),  # this line and the next are not in [K]
        weighted=25615.152,
    ),
}
REPAIRS = {  # whatever gives repaired distances is held to the printed numbers by a line here
    "none": ("untouched", lambda d: d),
    "definitions.lingoes": ("Lingoes", definitions.lingoes),
    "definitions.cailliez": ("Cailliez", definitions.cailliez),
    "es.lingoes": ("Lingoes", lambda d: np.array(es.lingoes(d).distances)),
    "es.cailliez": ("Cailliez", lambda d: np.array(es.cailliez(d).distances)),
}


@pytest.fixture(params=REPAIRS)
def repaired(request):
    kind, repair = REPAIRS[request.param]
    d = repair(D)
    return SimpleNamespace(kind=kind, d=d, R=d**2, **vars(PRINTED[kind]))


def printed(value, digits=3):
    """Rounded as the paper prints it."""
    return round(float(value), digits)


def in_order(labels):
    """Labels by first appearance, as `definitions.partitions` lists them."""
    return [list(dict.fromkeys(labels)).index(l) for l in labels]


def test_the_printed_matrices():
    upper = [
        *(11.3, 7.3, 2.3, -0.7, -9.7, -10.7),
        *(15.3, -7.7, -10.7, 4.3, -8.7),
        *(17.3, -9.7, -6.7, 4.3),
        *(11.3, 2.3, 7.3),
        *(17.3, -7.7),
        15.3,
    ]
    assert_allclose(definitions.centred(D**2)[0], [384, 456, 276, 96, -588, -624], atol=1e-9)
    assert_array_equal(np.round(definitions.centred(D), 1)[np.triu_indices(6)], upper)


def test_the_printed_constant(repaired):
    """One constant for every pair, added to d, or half of it to the squares; and the smallest that repairs."""
    power = 1 if repaired.kind == "Cailliez" else 2
    added = (repaired.d**power - D**power)[np.triu_indices(6, 1)] / power
    assert_allclose(added, added[0], atol=1e-9)
    assert printed(added[0]) == repaired.constant
    if repaired.kind == "untouched":
        assert definitions.smallest_eigenvalue(D) < -1000
    else:
        assert definitions.smallest_eigenvalue(repaired.d) == pytest.approx(0, abs=1e-9)
        less = D**power + (1 - 1e-4) * power * added[0] * off_diagonal(6)
        assert definitions.smallest_eigenvalue(less ** (1 / power)) < -1e-3


def test_the_printed_optimum_by_brute_force(repaired):
    """[K] names one partition each time; there are two."""
    W = {tuple(z): definitions.within(repaired.R, z) for z in definitions.partitions(6, 2)}
    assert len(W) == 31
    assert printed(min(W.values())) == repaired.lowest
    reached = [list(z) for z, value in W.items() if value < min(W.values()) + 1e-6]
    assert sorted(reached) == sorted(map(in_order, repaired.optima))
    labels, expected = repaired.other
    assert printed(W[tuple(in_order(labels))]) == expected


@pytest.mark.parametrize(("algorithm", "n_init"), [("hartigan", 50), ("lloyd", 500)])
def test_the_package_finds_the_printed_optimum(repaired, algorithm, n_init, rng):
    """Hartigan's method gets there from 23 of the 31 partitions or more, Lloyd's from 4."""
    how = {"metric": "precomputed", "algorithm": algorithm, "init": "random", "n_init": n_init, "rng": rng}
    with warnings.catch_warnings():
        if repaired.kind == "untouched" and algorithm == "lloyd":
            warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        found = es.energy_cluster(repaired.R, 2, **how)
    assert printed(found.within) == repaired.lowest
    assert found.labels.tolist() in [in_order(z) for z in repaired.optima]


def test_the_comparison_shows_that_cailliez_moves_the_optimum_and_lingoes_does_not(rng):
    table = es.compare_euclidizations(D, 2, n_init=50, rng=rng).table
    for name, kind in [("none", "untouched"), ("lingoes", "Lingoes"), ("cailliez", "Cailliez")]:
        assert printed(table.loc[name, "constant"]) == PRINTED[kind].constant
        assert printed(table.loc[name, "within"]) == PRINTED[kind].lowest
    assert table["changed"].iloc[:3].tolist() == [False, False, True]
    lost = (19348.132 - 19317.864) / (definitions.total(definitions.cailliez(D) ** 2))
    assert table.loc["cailliez", "loss"] == pytest.approx(lost, rel=1e-3)


# Formulas as misprinted


MISPRINTS = {  # blocks of the matrix and the constant it gives; None where the result counts as Euclidean
    "Gower & Legendre, 2 F_C": ({"last": 2}, 38.307, -1076.146),
    "Szekely & Rizzo": ({"upper": 1, "lower": 1, "last": 1}, 67.948, -58.965),
    "Qi, 4 F_C": ({"last": 4}, 118.309, None),
}


@pytest.mark.parametrize("name", MISPRINTS)
def test_misprinted_additive_constants_fail(name):
    blocks, constant, smallest = MISPRINTS[name]
    kappa = definitions.largest_real_eigenvalue(definitions.cailliez_matrix(D, **blocks))
    assert printed(kappa, 3) == constant
    after = definitions.smallest_eigenvalue(D + kappa * off_diagonal(6))
    if smallest is None:  # Euclidean, but the constant is 1.7 times the smallest that would do
        assert after == pytest.approx(0, abs=1e-9)
        assert definitions.smallest_eigenvalue(definitions.cailliez(D)) == pytest.approx(0, abs=1e-9)
        assert kappa > 1.7 * PRINTED["Cailliez"].constant
    else:
        assert printed(after, 3) == smallest


def test_the_misprinted_shift_of_squares_goes_half_the_way():
    """Sigma in place of 2 sigma leaves half of the negative eigenvalue."""
    sigma = definitions.lingoes_constant(D)
    after = definitions.smallest_eigenvalue(np.sqrt(D**2 + sigma * off_diagonal(6)))
    assert printed(after, 3) == -545.188
    assert after == pytest.approx(-sigma / 2)


@pytest.mark.parametrize(
    ("blocks", "constant", "smallest"),
    [({"last": -4}, 38.143, -1079.338), ({"last": 2}, 75.088, 0), ({"last": 4}, 151.702, 0)],
)
def test_the_blocks_as_printed_in_k(blocks, constant, smallest):
    """[K 15, 12, 13] have F_C at the top right too, which gives none of the numbers that [K] prints for them."""
    right = definitions.cailliez_matrix(D, **blocks)
    right[:6, 6:] = 2 * definitions.centred(D)
    kappa = definitions.largest_real_eigenvalue(right)
    assert printed(kappa, 3) == constant
    after = definitions.smallest_eigenvalue(D + kappa * off_diagonal(6))
    assert after == pytest.approx(smallest, abs=5e-4)


# Weighted centres [K thm 1]


def centre_weights(labels, w):
    """One row of weights a cluster."""
    return np.array([[v * (l == j) for v, l in zip(w, labels, strict=True)] for j in sorted(set(labels))])


def test_weighted_centres_beat_the_means_only_where_rho_is_indefinite(repaired):
    """Squared distances to weighted centres [K 8-9]; every point is nearest to its own centre there [K 4]."""
    centres = centre_weights(TRIPLES, WEIGHTS)
    cost = definitions.cost_of_centres(repaired.R, centres, in_order(TRIPLES))
    assert printed(cost) == repaired.weighted
    assert definitions.cost_of_centres(repaired.R, centres) == pytest.approx(cost)
    assert (cost < repaired.lowest) == (repaired.kind == "untouched")


def test_with_equal_weights_the_cost_is_w():
    for labels in definitions.partitions(6, 3):
        cost = definitions.cost_of_centres(D**2, centre_weights(labels, [1] * 6), labels)
        assert cost == pytest.approx(definitions.within(D**2, labels))


@given(matrices_with_labels(max_n=7), seeds)
@settings(deadline=None)
def test_no_centres_beat_the_means_for_negative_type(case, seed):
    """For the partition itself, and for free centres, which cannot go below the best partition into k or fewer."""
    R, labels, k = case
    n = len(R)
    assume(k <= 3)
    R = R + 2 * max(0.0, -np.linalg.eigvalsh(definitions.centred(R))[0]) * off_diagonal(n)
    rng = np.random.default_rng(seed)
    slack = 1e-9 * (1 + np.abs(R).sum())
    own = definitions.cost_of_centres(R, centre_weights(in_order(labels), rng.exponential(size=n)), in_order(labels))
    assert own >= definitions.within(R, labels) - slack
    free = definitions.cost_of_centres(R, rng.exponential(size=(k, n)) ** 3)
    assert free >= min(definitions.best_within(R, m) for m in range(1, k + 1)) - slack


# The assignment rule of [N s.4]


def gram_matrix(R, base=None):
    """-1/2 (I - 1s')R(I - s1') in fractions; s = 1/n, or all on one point."""
    n = len(R)
    s = [Fraction(1, n)] * n if base is None else [Fraction(int(i == base)) for i in range(n)]
    rows = [sum(s[b] * R[a][b] for b in range(n)) for a in range(n)]
    everything = sum(s[a] * rows[a] for a in range(n))
    return [[-(R[a][b] - rows[a] - rows[b] + everything) / 2 for b in range(n)] for a in range(n)]


def largest_mean_similarity(G, labels, penalty):
    """argmax over l of Q_l(x_i)/n_l, less Q_l/(2 n_l**2) with `penalty` (the whole rule of kernel k-means)."""
    clusters = definitions.members(labels)
    scores = [
        [
            sum(G[i][y] for y in C) / len(C) - penalty * sum(G[a][b] for a in C for b in C) / (2 * len(C) ** 2)
            for C in clusters
        ]
        for i in range(len(G))
    ]
    return [j if s[j] == max(s) else s.index(max(s)) for j, s in zip(labels, scores, strict=True)]


def test_the_rule_without_the_cluster_term_may_raise_w():
    """[N s.4] on points 0, 1, 2, 3, 6 of a line, rho = |x - y|: negative type does not help it."""
    x, start = [0, 1, 2, 3, 6], [0, 0, 0, 0, 1]
    R = [[Fraction(abs(a - b)) for b in x] for a in x]
    after = largest_mean_similarity(gram_matrix(R), start, penalty=0)
    assert after == [0, 0, 0, 1, 1]
    assert [definitions.within(R, z) for z in (start, after)] == [Fraction(5, 2), Fraction(17, 6)]
    assert largest_mean_similarity(gram_matrix(R), start, penalty=1) == start == definitions.lloyd_path(R, start)[1]


@pytest.mark.slow
def test_only_the_whole_rule_is_the_same_for_all_kernels_of_a_rho(rng):
    """Centred or with any base point; without the cluster term the base point decides."""
    differing = 0
    for _ in range(30):
        R = as_list(symmetric(6, rng.integers(-9, 10, 15)))
        labels = random_start(6, 2, rng).tolist()
        grams = [gram_matrix(R), *(gram_matrix(R, base) for base in range(6))]
        assert all(largest_mean_similarity(G, labels, penalty=1) == definitions.lloyd_path(R, labels)[1] for G in grams)
        reduced = [largest_mean_similarity(G, labels, penalty=0) for G in grams]
        differing += any(z != reduced[0] for z in reduced)
    assert differing > 0
