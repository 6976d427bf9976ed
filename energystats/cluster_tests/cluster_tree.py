"""A tree of splits, each tested, with control of the family-wise error rate down the tree [theory 5]."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from energystats._core.linkage import numbering_by_sums
from energystats._core.pvalues import adjusted_below, fewest_draws
from energystats._core.statistics import between
from energystats._runtime import check_work, with_bar
from energystats._typing import ArrayLike, IntArray, RandomLike
from energystats.cluster_tests.cluster_test import check_lines, method_for, points_to_test, run_cluster_test
from energystats.cluster_tests.data_notes import WIDE_STEPS, are_directions, name_population
from energystats.cluster_tests.gap_cuts import cut_in_gap
from energystats.cluster_tests.options import ClusterTestOptions
from energystats.cluster_tests.results import ALL_COINCIDE, ShownElsewhere
from energystats.cluster_tests.spaces import DECORRELATED, GIVEN, Kind
from energystats.cluster_tests.split import LINEAR_UNIMODALITY, SMALLEST_SAMPLE
from energystats.cluster_tests.tree_result import ClusterTreeResult, TreeNode
from energystats.cluster_tests.unimodality import UNIMODALITY, calibration_factor
from energystats.clustering.exact_1d import has_exact
from energystats.clustering.partition import find_numbers, make_partition
from energystats.display.result import notes_beside
from energystats.display.sentences import Caution, write_counts
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.exceptions import EnergyStatsWarning, collected, warn
from energystats.inputs.arrays import check_level
from energystats.inputs.options import as_generator, check_alpha, check_count, check_flag, check_jobs, check_option
from energystats.metrics.base import MetricLike
from energystats.metrics.general import is_mahalanobis
from energystats.pairs.workloads import Size, tree

__all__ = ["SMALLEST_NODE", "Rules", "cluster_tree", "grow", "tree_of_points"]


SMALLEST_NODE = 20  # points: smaller clusters are not tested, and not split
LIMIT = "k_max reached"
BEGINNING = 5  # words, by which notes are distinguished
NODES_NAMED = 5

Test = Callable[[Dissimilarity, int, np.random.Generator], tuple[float, Kind, IntArray]]
Cut = Callable[[Dissimilarity, IntArray, Kind, np.random.Generator], tuple[IntArray, Kind]]

HIDDEN_BY_OTHERS = Caution(
    "Lines between two clusters were looked along; of three or more, `cluster_test(X, k)` can show what these do not.",
    "A third cluster can lie in the gap between two others, seen along the line from half of the points to the rest. "
    "Of p for several k the smallest keeps no level: choose k before, or multiply it by their number.",
)


def cluster_tree(
    X: ArrayLike,
    *,
    metric: MetricLike = "euclidean",
    alpha: float = 1.0,
    level: float = 0.05,
    min_size: int = SMALLEST_NODE,
    k_max: int | None = None,
    method: str = "auto",
    n_splits: int = 5,
    n_resamples: int = 199,
    conservative: bool = False,
    standardize: bool = False,
    progress: bool | None = None,
    rng: RandomLike = None,
) -> ClusterTreeResult:
    r"""Cluster by splitting points in two while `cluster_test` rejects, with control of the family-wise error rate.

    Parameters
    ----------
    X : array_like of shape (n,) or (n, d)
        Points; with ``metric="precomputed"`` the matrix R = d**alpha of Euclidean distances d.
    metric : str, Metric or callable, default "euclidean"
        The semimetric for clustering; the scores of the tests are linear in X, or in the rows that it compares (square
        roots of shares under "hellinger").
    alpha : float, default 1.0
        Power of a named distance, 0.001 <= alpha <= 2. For "precomputed" it says what R is: R**(1/alpha) is Euclidean.
    level : float, default 0.05
        Family-wise level of the whole tree, 1e-9 <= level < 1.
    min_size : int, default 20
        Nodes with fewer points are not tested and not split; at least 20.
    k_max : int, optional
        Most leaves; the splits with the smallest adjusted p are made first, of equal ones that of larger height.
    method : {"auto", "split", "unimodal-1d"}, default "auto"
        Test at the nodes, as for `cluster_test`: "unimodal-1d" for one column, else "split".
    n_splits : int, default 5
        Random splits of each test.
    n_resamples : int, default 199
        Draws behind each p-value of all n points; a node of m points has (n - 1)/(m - 1) times as many.
    conservative : bool, default False
        Multiply each p-value by 1.6/1.2 times as much, see `cluster_test`.
    standardize : bool, default False
        Column z-scores (divisor n) before distances and scores, once for the whole tree.
    progress : bool or None, default None
        Show a bar; None: from an estimated two seconds on, where it can be seen.
    rng : int, Generator or None, default None
        Seed of the tests and starts. Every node has a seed of its own, that of the root as in `cluster_test`.

    Returns
    -------
    ClusterTreeResult
        `.labels` (leaves), `.k`, `.nodes` (size, p, adjusted p of each node), `.linkage`, `.to_frame()`,
        `.summary()`, `.plot()`.

    Raises
    ------
    ValueError, TypeError
        If an option does not fit the data, or `n_resamples` is too small for any test to reject at `level`.
    MemoryError
        If the n x n matrix would not fit.

    Warns
    -----
    TiesWarning, NotCalibratedWarning, PerformanceWarning
        As `cluster_test`, once for the tree.

    See Also
    --------
    cluster_test : The test at every node.

    Notes
    -----
    A node of m points is tested at level (m - 1)/(n - 1) times `level`, and only if its parent was rejected; a
    rejected node is cut into the two clusters of the test, in the space where they show, or in a gap beside their
    border, if this leaves points on the wrong side. Every homogeneous node (a
    sample of one population of H0) is split with a chance of at most `level`, as far as the tests hold their levels.
    What is claimed, what is not, and what was measured: ``docs/clustering.md``. O(n^2) memory; O(n_splits n_resamples
    n log n) time for each node.

    References
    ----------
    Meinshausen (2008), Biometrika 95, for levels in proportion to size down a tree; Kimes, Liu, Hayes & Marron (2017),
    Biometrics 73, for their use with clusters.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> rng = np.random.default_rng(5)
    >>> X = np.concatenate([rng.normal(c, 1, (20, 2)) for c in ([0, 0], [12, 0], [0, 12])])
    >>> tree = es.cluster_tree(X, rng=0)
    >>> tree.k, tree.sizes
    (3, (20, 20, 20))
    >>> tree.to_frame(full=True)["rejected"].tolist()
    [True, True, False, False, False]
    """
    check_option(method, "method", ("auto", "split", "unimodal-1d"))
    level = check_level(level)
    check_flag(conservative, "conservative")
    check_flag(standardize, "standardize")
    min_size = check_count(min_size, "min_size", low=SMALLEST_SAMPLE)
    k_max = None if k_max is None else check_count(k_max, "k_max", low=1)
    options = ClusterTestOptions(
        method=method,
        n_splits=check_count(n_splits, "n_splits", low=1),
        n_resamples=check_count(n_resamples, "n_resamples", low=1),
        conservative=conservative,
        power=check_alpha(alpha),
    )
    generator = as_generator(rng)
    d = points_to_test(X, metric, options.power, standardize=standardize)
    check_lines(d)
    one_column = method_for(d, method) == "unimodal-1d"
    works = tree(Size.of(d), options.n_splits, options.n_resamples, one_column=one_column)
    options = replace(options, progress=check_work(progress, d, *works))
    return tree_of_points(d, Rules(d.n, level, min_size, k_max, options.n_resamples), options, generator)


# ---------------------------------------------------------------- the rules


@dataclass(frozen=True, slots=True)
class Rules:
    """Hold the levels, sizes and numbers of draws by which the nodes of a tree are tested and split."""

    n: int  # points at the root
    level: float  # family-wise level
    min_size: int  # smaller nodes are not tested
    k_max: int | None  # most leaves
    n_resamples: int  # draws at the root

    def level_of(self, size: int) -> float:
        """Compute the significance level at a tree node with m of n points: level of the tree times (m - 1)/(n - 1)."""
        return self.level * (size - 1) / (self.n - 1) if self.n > 1 else self.level

    def adjusted(self, pvalue: float, size: int, of_parent: float) -> float:
        """Compute the adjusted p of a tree node of m of n points, at least that of the parent."""
        return adjusted_below(pvalue, size, self.n, of_parent, self.level)

    def draws(self, size: int) -> int:
        """Compute the draws for testing a tree node with m of n points: (n - 1)/(m - 1) times those for all points."""
        if size == self.n:
            return self.n_resamples
        return -(-(self.n_resamples + 1) * (self.n - 1) // (size - 1))


# ---------------------------------------------------------------- growing


@dataclass(slots=True, eq=False)
class _GrowingNode:
    """Hold one node of a tree while the tree grows, with its points, test and two halves."""

    rows: IntArray
    parent: _GrowingNode | None
    rng: np.random.Generator
    why_untested: str = ""
    n_resamples: int = 0
    pvalue: float = float("nan")
    adjusted: float = float("nan")
    rejected: bool = False
    halves: tuple[IntArray, ...] = ()
    height: float = float("nan")
    space: Kind | Literal[""] = ""
    in_gap: bool = False
    children: list[_GrowingNode] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        """Return the outcome at a node of a tree of tests: "split", or why the node is a leaf."""
        if self.children:
            return "split"
        if self.rejected:
            return LIMIT
        return self.why_untested or "not rejected"


def grow(d: Dissimilarity, rules: Rules, test: Test, cut: Cut, root: _GrowingNode) -> Iterator[_GrowingNode]:
    """Grow a tree of tested splits below `root`, and yield each leaf when it is final.

    The order of splits matters only where `k_max` ends them: what happens in a node depends on its rows, its seed
    and its parent's adjusted p alone.
    """
    _examine_node(d, rules, test, cut, root)
    new, waiting, k = [root], [], 1
    while True:
        for node in new:
            if node.rejected:
                waiting.append(node)
            else:
                yield node
        # nothing left to split, or enough leaves
        if not waiting or k == rules.k_max:
            yield from waiting
            return
        # the clearest split is made first, which matters where `k_max` ends the growth
        best = min(waiting, key=lambda node: (node.adjusted, -node.height))
        waiting.remove(best)
        seeds = best.rng.spawn(2)
        best.children = [_GrowingNode(rows, best, seed) for rows, seed in zip(best.halves, seeds, strict=True)]
        for child in best.children:
            _examine_node(d, rules, test, cut, child)
        new, k = best.children, k + 1


def _examine_node(d: Dissimilarity, rules: Rules, test: Test, cut: Cut, node: _GrowingNode) -> None:
    """Test whether the points of a tree node have clusters, unless they are too few, and store p and two parts."""
    size = node.rows.size
    if size < rules.min_size:
        node.why_untested = f"fewer than {rules.min_size} points"
        return
    part = d if size == d.n else d.subset(node.rows)
    if part.all_coincide:
        node.why_untested = ALL_COINCIDE
        return
    # a test at level a (m - 1)/(n - 1), below a parent that was rejected [Meinshausen 2008]
    node.n_resamples = rules.draws(size)
    seed = copy.deepcopy(node.rng)
    node.pvalue, node.space, labels = test(part, node.n_resamples, node.rng)
    node.adjusted = rules.adjusted(node.pvalue, size, 0.0 if node.parent is None else node.parent.adjusted)
    node.rejected = node.adjusted <= rules.level
    # its halves are the two clusters of the test, in the space where they show, whether they are split or not; those
    # that are split are parted in a gap
    if node.rejected:
        of_test = labels
        labels, node.space = cut(part, of_test, node.space, seed)
        node.in_gap = not np.array_equal(labels, of_test)
    sums = part.group_sums(Groups(labels, (0, 1)))
    labels = numbering_by_sums(labels, *sums)[labels]
    node.halves = tuple(node.rows[labels == j] for j in range(2))
    node.height = 2 * float(between(*sums))


# ---------------------------------------------------------------- the whole


def tree_of_points(
    d: Dissimilarity, rules: Rules, options: ClusterTestOptions, rng: np.random.Generator
) -> ClusterTreeResult:
    """Grow the tree of tested splits of all points, and return its result."""
    notes: dict[str, None] = {}
    factors: list[float] = []
    options = replace(options, conservative=options.conservative or are_directions(d))
    one_column = method_for(d, options.method) == "unimodal-1d"
    several = not one_column and d.coordinates is not None  # spaces; of a matrix it shows when its points are known
    _check_draws_suffice(rules, calibration_factor(options.conservative, several=several))
    name: Literal["split", "unimodal-1d"] = "unimodal-1d" if one_column else "split"
    # the tree has the only bar; splits of a node on all processors, on which no number depends
    at_nodes = replace(options, method=name, progress=False, n_jobs=check_jobs(-1))

    def test(part: Dissimilarity, n_resamples: int, child: np.random.Generator) -> tuple[float, Kind, IntArray]:
        """Test a node; return p, in which form (points as given, decorrelated, columns) clusters show, and labels."""
        found = run_cluster_test(part, replace(at_nodes, n_resamples=n_resamples, warnings_alone=part.n < d.n), child)
        if part.n == d.n:  # the tree has cautions of its own about spaces
            if found.factor is not None:
                _check_draws_suffice(rules, found.factor)
                factors.append(found.factor)
            notes.update((str(n) if isinstance(n, ShownElsewhere) else n, None) for n in notes_beside(found))
        assert found.partition is not None
        return found.pvalue, found.space, found.partition.labels

    def cut(part: Dissimilarity, labels: IntArray, kind: Kind, child: np.random.Generator) -> tuple[IntArray, Kind]:
        """Divide a node in two, at a gap if there is a clear one; return labels, and the form of the points used."""
        return cut_in_gap(part, labels, kind, options.power, child)

    d = d if has_exact(d) else d.stored()
    root = _GrowingNode(np.arange(d.n), None, rng)
    with _warned_once() as texts:
        for _ in with_bar(
            grow(d, rules, test, cut, root), options.progress, total=d.n, unit="point", size=lambda leaf: leaf.rows.size
        ):
            pass
    nodes, labels = _number_nodes(d, root, rules)
    return ClusterTreeResult(
        labels=labels,
        index=d.index,
        k=sum(not node.children for node in nodes),
        level=rules.level,
        nodes=nodes,
        method=name,
        null_hypothesis=UNIMODALITY if one_column else name_population(LINEAR_UNIMODALITY, d),
        min_size=rules.min_size,
        k_max=rules.k_max,
        n_splits=0 if one_column else options.n_splits,
        n_resamples=rules.n_resamples,
        conservative=options.conservative,
        factor=factors[0] if factors else None,
        notes=(
            *_note_cuts(nodes, d),
            *_note_gaps(nodes),
            *((HIDDEN_BY_OTHERS,) if nodes[0].tested and not nodes[0].rejected and not one_column else ()),
            *notes,
            *(_as_note(text, notes) for text in texts if not _is_reported(text, notes)),
        ),
        metric=d.metric,
        standardization=d.standardization,
        partition=make_partition(
            d, labels, len(np.unique(labels)), algorithm="cluster_tree", n_init=0, n_iter=0, converged=True
        ),
    ).explained()


def _note_cuts(nodes: Sequence[TreeNode], d: Dissimilarity) -> tuple[str, ...]:
    """Return a caution that names tree nodes divided among decorrelated or selected columns, not as given; else ()."""
    cut = [node for node in nodes if node.children and node.space != GIVEN]
    # all points are decorrelated by this metric itself
    same = {0} if is_mahalanobis(d.metric) else set()
    elsewhere = [f"node {node.id} ({node.space})" for node in cut if node.id not in same or node.space != DECORRELATED]
    if not elsewhere:
        return ()
    return (
        Caution(
            f"Cut where the test found its clusters, decorrelated or in some columns: {_name_some(elsewhere)}.",
            "Heights are 2S of the cuts under the metric as given, which other cuts can exceed, so that a node may "
            "stand below its parts.",
        ),
    )


def _note_gaps(nodes: Sequence[TreeNode]) -> tuple[str, ...]:
    """Return a caution, in a tuple, that names tree nodes divided at a gap, not where W is least; else ()."""
    in_gap = [
        f"node {node.id} ({write_counts([nodes[j].size for j in node.children])})"
        for node in nodes
        if node.in_gap and node.children
    ]
    if not in_gap:
        return ()
    return (
        Caution(
            f"Cut in a gap, as the cut of smallest W beside it leaves points on the wrong side: {_name_some(in_gap)}.",
            "W is smallest where a large cluster is halved, if a third one lies in a row with it, or others lie around "
            "it, or the other one is small. Another seed, or order of rows, can move such a cut by a few points. "
            "Heights are 2S of the cuts that were made, so that a node may stand below its parts.",
        ),
    )


def _name_some(nodes: Sequence[str]) -> str:
    """Join texts that each describe a tree node by commas; of many only the first ones, and the number left out."""
    return ", ".join(nodes[:NODES_NAMED]) + f" and {len(nodes) - NODES_NAMED} more" * (len(nodes) > NODES_NAMED)


def _is_reported(text: str, notes: Iterable[str]) -> bool:
    """Return whether a warning about a tree node begins like a note on all points, and so need not be repeated."""

    def beginning(note: str) -> list[str]:
        return note.removeprefix(WIDE_STEPS).split()[:BEGINNING]

    if text.startswith(WIDE_STEPS) and not any(note.startswith(WIDE_STEPS) for note in notes):
        return False
    return any(beginning(text) == beginning(note) for note in notes)


def _as_note(text: str, notes: Iterable[str]) -> str:
    """Convert the text of a warning about a tree node to a note; one on wide steps between ties becomes a caution."""
    if not text.startswith(WIDE_STEPS):
        return text
    ties = text.removeprefix(WIDE_STEPS).strip()
    within = "They are within a node, whose points lie closer; there every split has jitter of its own."
    return Caution(WIDE_STEPS, within if _is_reported(ties, notes) else ties)


def _check_draws_suffice(rules: Rules, factor: float) -> None:
    """Raise ValueError if there are too few draws for any p-value to be as small as the level."""
    fewest = fewest_draws(rules.level, factor)
    if rules.n_resamples < fewest:
        raise ValueError(
            f"`n_resamples` must be at least {fewest} for a p-value to reach the level {rules.level:g}, because "
            f"p-values are multiplied by {factor:g}; got {rules.n_resamples}."
        )


def _number_nodes(d: Dissimilarity, root: _GrowingNode, rules: Rules) -> tuple[tuple[TreeNode, ...], IntArray]:
    """Return numbered tree nodes, each before its children, and the leaf number of each point; (n,)."""
    order: list[_GrowingNode] = []
    stack = [root]
    while stack:
        order.append(stack.pop())
        stack += reversed(order[-1].children)
    number = {id(node): i for i, node in enumerate(order)}
    leaves = [node for node in order if not node.children]
    labels = np.empty(root.rows.size, dtype=np.intp)
    for j, node in enumerate(leaves):
        labels[node.rows] = j
    sums = d.group_sums(Groups(labels, tuple(range(len(leaves)))))
    numbers = find_numbers(d.coordinates, labels, *sums)[0]
    label = {id(node): int(j) for node, j in zip(leaves, numbers, strict=True)}
    labels = numbers[labels]
    nodes: list[TreeNode] = []
    for node in order:
        parent = None if node.parent is None else number[id(node.parent)]
        node.rows.flags.writeable = False
        nodes.append(
            TreeNode(
                id=len(nodes),
                parent=parent,
                children=tuple(number[id(child)] for child in node.children),
                depth=0 if parent is None else nodes[parent].depth + 1,
                rows=node.rows,
                size=int(node.rows.size),
                height=node.height,
                pvalue=node.pvalue,
                pvalue_adjusted=node.adjusted,
                level=rules.level_of(node.rows.size),
                n_resamples=node.n_resamples,
                tested=node.n_resamples > 0,
                rejected=node.rejected,
                label=label.get(id(node)),
                outcome=node.outcome,
                space=node.space,
                in_gap=node.in_gap,
            )
        )
    return tuple(nodes), labels


@contextmanager
def _warned_once() -> Iterator[list[str]]:
    """Collect warnings inside a `with` block in a list, and afterwards issue one of each kind.

    Only the first warning of each kind is kept.

    That steps are wide is said once a process, and is a kind of its own: it must not stand for what else ties mean.
    """
    texts: list[str] = []
    with collected() as found:
        yield texts
    first: dict[tuple[type[EnergyStatsWarning], bool], str] = {}
    for text, category in found:
        first.setdefault((category, text.startswith(WIDE_STEPS)), text)
    texts.extend(first.values())
    for (category, of_wide_steps), text in first.items():
        warn(text, category, once=of_wide_steps)
