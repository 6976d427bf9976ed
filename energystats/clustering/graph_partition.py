"""Graph partitioning by single moves over a sparse adjacency: the graph objectives as weighted kernel k-means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from energystats._core.graph_cuts import cut_passes
from energystats._core.laplacian import Relaxation, smallest_pairs
from energystats._core.linkage import numbering
from energystats._runtime import MATRIX, check_work
from energystats._typing import ArrayLike, FloatArray, IntArray, RandomLike
from energystats.clustering.adjacency import as_adjacency, warn_of_distances
from energystats.clustering.graph_result import GraphPartition
from energystats.clustering.local_search import LocalOptimum
from energystats.clustering.search import MOVE_TOLERANCE, read_start
from energystats.clustering.seeding import random_start
from energystats.clustering.spectral import cluster_rows, fill_empty, on_sphere
from energystats.exceptions import ConvergenceWarning, DisconnectedGraphWarning, warn
from energystats.inputs.arrays import EPS, as_weights
from energystats.inputs.labels import read_inputs
from energystats.inputs.options import as_generator, check_count, check_option, children
from energystats.pairs.workloads import graph_search

__all__ = ["graph_partition"]


SEEN = 1e-9  # share of a number that counts
CUTS = ("ratio", "normalized", "association")
INITS = ("spectral", "k-means++", "random")
N_PERTURB = 8  # perturbations after every start
LEAST_PERTURBED, LARGEST_PERTURBED = 0.03, 0.5  # of the vertices
Starts = Iterator[tuple[IntArray, np.random.Generator | None]]


def graph_partition(
    A: Any,
    k: int,
    cut: str = "ratio",
    *,
    n_init: int = 10,
    init: str | ArrayLike = "spectral",
    max_iter: int = 300,
    sample_weight: ArrayLike | None = None,
    rng: RandomLike = None,
) -> GraphPartition:
    r"""Partition a weighted graph, or points with a sparse kernel matrix, into k clusters by a cut objective.

    Parameters
    ----------
    A : array_like, data frame or scipy.sparse matrix of shape (n, n)
        Symmetric adjacency or similarity matrix, what is not stored being 0. Entries may be negative for
        ``cut="association"`` only. A square data frame gives names to the vertices.
    k : int
        Number of clusters, 1 <= k <= n; none is ever empty.
    cut : {"ratio", "normalized", "association"}, default "ratio"
        With cut(C) the sum of the links that leave C: "ratio" minimises the sum of cut(C)/\|C\|, "normalized" that of
        cut(C)/degree(C), degrees being row sums. "association" maximises the sum of links(C, C)/\|C\|, all links inside
        C counted both ways; with a kernel matrix that is kernel k-means.
    n_init : int, default 10
        Starts; the best value wins. Each is perturbed eight times, labels that were given are not.
    init : {"spectral", "k-means++", "random"} or array_like of shape (n,), default "spectral"
        "spectral" clusters the rows of the relaxed solution and takes the two others by turns; "k-means++" draws seeds
        in proportion to the squared number of edges to the nearest seed; "random" draws labels; or labels.
    max_iter : int, default 300
        Passes over the vertices for each start.
    sample_weight : array_like of shape (n,), optional
        Positive weights of the vertices, the largest at most 1e9 times the smallest, of which \|C\| becomes the sum.
        "normalized" takes the degrees and no others.
    rng : int, Generator or None, default None
        Seed of the starts.

    Returns
    -------
    GraphPartition
        `.labels`, `.sizes`, `.value`, `.cluster_values` (its summands), `.bound` (no partition has a lower value; for
        "association" a higher one), `.tightness` (1 proves the optimum), `.summary()`, `.plot()`.

    Raises
    ------
    ValueError
        If A is not square or not symmetric, an entry is negative or not finite, k exceeds n, `init` has not k
        clusters, `sample_weight` comes with "normalized" or is not positive, or an option is unknown.
    TypeError
        If A is no matrix of real numbers, such as a graph object, or k is not a whole number.

    Warns
    -----
    DisconnectedGraphWarning
        If the graph has several components and a cut is asked for. With k components or more the least cut is 0:
        whole components are joined, the largest first to the smallest cluster, and nothing is searched.
    ConvergenceWarning
        If the best start was cut off at `max_iter`.
    PerformanceWarning
        If the call is estimated to take more than a minute.

    See Also
    --------
    energy_cluster : The same for a dense matrix of rho, such as ``kernel_distance(K)``.
    spectral_embedding : Coordinates from the relaxed problem.

    Notes
    -----
    All three are weighted kernel k-means, of kernels that need not be positive definite, because single moves gain the
    same with and without a diagonal shift; ``docs/clustering.md`` has them. After the search no single move improves
    the value by more than 1e-13 of k times the largest degree per weight. Self loops leave "ratio" unchanged, count
    once in the degrees of "normalized", and are a vertex's similarity to itself in "association".

    O(nnz + nk) time a pass and O(nnz + n) memory; `bound` and spectral starts take the smallest k eigenpairs of the
    sparse matrix, from a factor of it where few vertices part the graph (at most 2 10^7 entries), and dense matrices
    are searched in sparse form.

    References
    ----------
    Dhillon, Guan & Kulis (2007) for the kernels and weights; Shi & Malik (2000) for the normalised cut; Franca, Rizzo &
    Vogelstein, s. 3.1 and eqs 18-20.

    Examples
    --------
    >>> import numpy as np, energystats as es
    >>> A = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)  # two triangles
    >>> A[2, 3] = A[3, 2] = 0.5  # and a weak link
    >>> found = es.graph_partition(A, 2, cut="normalized", rng=0)
    >>> found.labels.tolist(), round(found.value, 6)
    ([0, 0, 0, 1, 1, 1], 0.153846)
    """
    check_option(cut, "cut", CUTS)
    n_init = check_count(n_init, "n_init", low=1)
    max_iter = check_count(max_iter, "max_iter", low=1)
    generator = as_generator(rng)
    (A,), (sample_weight, init) = read_inputs((A,), {"sample_weight": sample_weight, "init": init})
    matrix, index = as_adjacency(A, "A", signed=cut == "association")
    warn_of_distances(matrix, "A")
    exponent = int(np.frexp(np.abs(matrix.data).max(initial=0.0))[1])
    matrix.data = np.ldexp(matrix.data, -exponent)  # the same digits at every scale
    n = matrix.shape[0]
    k = check_count(k, "k", low=1, high=n, why=f", the number of vertices ({n})")
    if sample_weight is not None and cut == "normalized":
        raise ValueError('`sample_weight` must be None for cut="normalized", whose weights are the degrees.')
    given = read_start(init, INITS, n, k)
    graph = _Objective(matrix, cut, as_weights(sample_weight, n, "sample_weight"), k)
    free = cut != "association" and k <= graph.n_components and given is None
    if free:
        start = _joined_components(graph)
        best = LocalOptimum(start, graph.score(start), 0, True)
        n_init, how = 1, "components"
    else:
        starts: Starts = (
            iter([(given, None)]) if given is not None else _make_graph_starts(graph, str(init), n_init, generator)
        )
        n_init, how = (1, "labels") if given is not None else (n_init, str(init))
        check_work(False, MATRIX, graph_search(n, matrix.nnz, k, 1 if given is not None else n_init, N_PERTURB))
        best = _best_of(graph, starts, max_iter)
    _report_doubts(graph, best, max_iter)
    return _reported(graph, best, how=how, n_init=n_init, index=index, exponent=exponent)


@dataclass(frozen=True, eq=False)
class _Objective:
    """Hold a graph, and compute for any labels the objective of its partition: the sum over clusters of cost/mass."""

    matrix: Any  # (n, n) symmetric adjacency
    cut: str  # one of `CUTS`
    given: FloatArray | None  # (n,) the user's weights of the vertices
    k: int  # number of clusters

    @property
    def n(self) -> int:
        """Return the number of vertices of a graph."""
        return int(self.matrix.shape[0])

    @cached_property
    def degrees(self) -> FloatArray:
        """Return the degrees of the vertices, the row sums of the adjacency matrix; (n,)."""
        return np.asarray(self.matrix.sum(axis=1), dtype=np.float64)

    @cached_property
    def weights(self) -> FloatArray:
        """Return the weights of the vertices, whose sums are the masses of clusters; (n,)."""
        if self.cut == "normalized":
            return self.degrees
        return np.ones(self.n) if self.given is None else self.given

    @cached_property
    def offsets(self) -> FloatArray:
        """Return the diagonal term of the graph objective: vertex degrees for cuts, else 0; (n,)."""
        return np.zeros(self.n) if self.cut == "association" else self.degrees

    @cached_property
    def loops(self) -> FloatArray:
        """Return the weights of self loops, the diagonal of the adjacency matrix; (n,)."""
        return np.asarray(self.matrix.diagonal())

    @cached_property
    def components(self) -> IntArray:
        """Return the number of the connected component that each vertex of a graph belongs to; (n,)."""
        return cast(IntArray, connected_components(self.matrix, directed=False)[1].astype(np.intp))

    @cached_property
    def n_components(self) -> int:
        """Return the number of connected components of the graph."""
        return int(self.components.max()) + 1

    @cached_property
    def tolerance(self) -> float:
        """Compute the least gain of a move: 1e-13 k times the largest sum of |links| of a vertex over its weight."""
        reach = np.asarray(abs(self.matrix).sum(axis=1))
        heavy = self.weights > 0
        return MOVE_TOLERANCE * self.k * float((reach[heavy] / self.weights[heavy]).max(initial=0.0))

    def link_sums(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Compute for each cluster the sum of link weights inside, counted twice, and of those leaving; (k,), (k,)."""
        rows = np.repeat(labels, np.diff(self.matrix.indptr))
        same = rows == labels[self.matrix.indices]
        inside = _sum_by_label(rows[same], self.matrix.data[same], self.k)
        return inside, _sum_by_label(rows[~same], self.matrix.data[~same], self.k)

    def costs(self, labels: IntArray) -> FloatArray:
        """Compute the cost of each cluster of a graph: links leaving it, or minus the links inside; (k,)."""
        inside, leaving = self.link_sums(labels)
        return -inside if self.cut == "association" else leaving

    def masses(self, labels: IntArray) -> FloatArray:
        """Compute the mass of each cluster of a graph, the sum of its vertex weights; (k,)."""
        return _sum_by_label(labels, self.weights, self.k)

    def quotients(self, labels: IntArray) -> FloatArray:
        """Compute the graph objective's term of each cluster, its cost over its mass, 0 where both are 0; (k,)."""
        masses = self.masses(labels)
        return self.costs(labels) / np.where(masses > 0, masses, 1.0)

    def score(self, labels: IntArray) -> float:
        """Compute the graph objective of given labels: the sum over clusters of cost over mass."""
        return float(self.quotients(labels).sum())

    @cached_property
    def root(self) -> FloatArray:
        """Return the square roots of the vertex weights, 1 for an isolated vertex of weight 0; (n,)."""
        return np.sqrt(np.where(self.weights > 0, self.weights, 1.0))

    @cached_property
    def relaxation(self) -> Relaxation:
        """Build the relaxed eigenproblem of a graph partition: a symmetric matrix and its known eigenvectors."""
        from scipy import sparse

        scale = sparse.diags_array(1 / self.root)
        matrix = sparse.csr_array(scale @ (sparse.diags_array(self.offsets) - self.matrix) @ scale)
        cuts = self.cut != "association"
        pieces = self.components if cuts else np.zeros(self.n, np.intp)
        lengths = np.sqrt(np.bincount(pieces, self.root**2))
        return Relaxation(
            times=lambda columns: np.asarray(matrix @ columns),
            ceiling=float(abs(matrix).sum(axis=1).max()),
            direction=self.root / lengths[pieces],
            pieces=pieces,
            sparse=matrix if cuts else None,
        )

    @cached_property
    def eigenpairs(self) -> tuple[FloatArray, FloatArray]:
        """Compute the smallest eigenpairs of the relaxed graph problem, the known ones left out."""
        known = self.n_components if self.cut != "association" else 1
        return smallest_pairs(self.relaxation, self.k - known)

    @property
    def bound(self) -> float:
        """Compute from eigenvalues a lower bound on the graph objective over all partitions into k clusters."""
        if self.cut != "association":
            values, rounding = self.eigenpairs[0], self.n * EPS * self.relaxation.ceiling
            # of small ones rounding is a part that can be seen, and would lift the bound above what it bounds
            surely = np.where(rounding > SEEN * values, values - rounding, values)
            return float(np.maximum(surely, 0.0).sum())
        if not self.matrix.data.any():  # nothing but rounding is left
            return 0.0
        u = self.relaxation.direction
        return float(u @ self.relaxation.times(u[:, None])[:, 0]) + float(self.eigenpairs[0].sum())

    def rows(self) -> FloatArray:
        """Compute spectral coordinates of the vertices of a graph, one row each; (n, k)."""
        return np.hstack([self.relaxation.known(), self.eigenpairs[1]]) / self.root[:, None]


def _sum_by_label(labels: IntArray, values: FloatArray, k: int) -> FloatArray:
    """Sum the values of each label 0..k-1; (n,), (n,) -> (k,)."""
    return np.asarray(np.bincount(labels, values, minlength=k), dtype=np.float64)


def _make_graph_starts(graph: _Objective, init: str, n_init: int, rng: np.random.Generator) -> Starts:
    """Yield starting labels of the vertices of a graph, each with the random generator that drew them."""
    rows = graph.rows() if init == "spectral" else np.empty((0, 0))
    turns = ("rows", "sphere", "k-means++", "random") if init == "spectral" else (init,)
    for i, child in enumerate(children(rng, n_init)):
        how = turns[i % len(turns)]
        if how == "random":
            yield random_start(graph.n, graph.k, child), child
        elif how == "k-means++":
            yield _nearest_seed_start(graph, child), child
        elif how == "rows":
            yield cluster_rows(rows, graph.k, child, n_init=10 if i == 0 else 1), child
        else:
            yield cluster_rows(on_sphere(rows), graph.k, child, n_init=10 if i == 1 else 1), child


def _nearest_seed_start(graph: _Objective, rng: np.random.Generator) -> IntArray:
    """Draw k random distant seed vertices, and label each vertex by its nearest seed in the graph; (n,).

    A vertex that no seed can reach gets a random label.
    """
    n, pattern = graph.n, graph.matrix != 0
    seeds: list[int] = []
    steps = np.full(n, np.inf)
    while len(seeds) < graph.k:
        chances = np.where(np.isinf(steps), float(n) ** 2, steps**2)
        upto = np.cumsum(chances)
        drawn = np.searchsorted(upto, rng.random() * upto[-1], side="right")
        seeds.append(int(min(drawn, np.flatnonzero(chances)[-1])))
        steps = np.minimum(steps, dijkstra(pattern, unweighted=True, indices=seeds[-1]))
    _, _, nearest = dijkstra(pattern, unweighted=True, indices=seeds, min_only=True, return_predecessors=True)
    which = np.full(n, -1)
    which[seeds] = np.arange(graph.k)
    lost = nearest < 0
    labels = np.where(lost, rng.integers(graph.k, size=n), which[np.where(lost, seeds[0], nearest)])
    labels[seeds] = np.arange(graph.k)
    return labels.astype(np.intp)


def _best_of(graph: _Objective, starts: Starts, max_iter: int) -> LocalOptimum:
    """Search for the best graph partition from every start and from perturbations; return the best one.

    A later optimum wins only when it is lower by more than rounding.

    From every start the search goes on `N_PERTURB` times after a perturbation, and keeps what is better.
    """
    best: LocalOptimum | None = None
    for start, rng in starts:
        here = _improved(graph, start, max_iter)
        # perturbed from where this start stands, not from the best of all: vertices move along the links only
        for _ in range(N_PERTURB if rng is not None and graph.k > 1 else 0):
            assert rng is not None
            there = _improved(graph, _perturb_labels(graph, here.labels, rng), max_iter)
            if there.within < here.within - graph.tolerance:
                here = there
        if best is None or here.within < best.within - graph.tolerance:
            best = here
    return cast(LocalOptimum, best)


def _perturb_labels(graph: _Objective, labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Perturb a graph partition: move a random part of the graph, or of one cluster, to another cluster.

    In the second case, for three clusters or more, that part is a cluster of its own, and another one is dissolved
    into a third to make room.
    """
    changed = labels.copy()
    seed = int(rng.integers(graph.n))
    around = breadth_first_order(graph.matrix, seed, directed=False, return_predecessors=False)
    if graph.k == 2 or rng.random() < 0.5:
        size = max(2, int(graph.n * rng.uniform(LEAST_PERTURBED, LARGEST_PERTURBED)))
        changed[around[:size]] = rng.integers(graph.k)
    else:
        own = around[labels[around] == labels[seed]]
        freed, joined = rng.permutation(np.delete(np.arange(graph.k), labels[seed]))[:2]
        changed[labels == freed] = joined
        changed[own[: max(1, int(own.size * rng.uniform(0.2, 0.8)))]] = freed
    return fill_empty(changed, graph.k, rng.random(graph.n))


def _improved(graph: _Objective, start: IntArray, max_iter: int) -> LocalOptimum:
    """Move single vertices until no move lowers the graph objective, or for about `max_iter` passes."""
    labels = start.copy()
    rows = graph.matrix
    n_iter, converged, confirmed = 0, True, False
    # passes until nothing moves; then sums from scratch, over which a single pass must move nothing
    while converged and not confirmed:
        sizes = np.bincount(labels, minlength=graph.k).astype(np.intp)
        weighty = np.bincount(labels, graph.weights > 0, minlength=graph.k).astype(np.intp)
        passes, converged = cut_passes(
            rows.indptr.astype(np.intp),
            rows.indices.astype(np.intp),
            rows.data,
            graph.offsets,
            graph.loops,
            graph.weights,
            labels,
            sizes,
            weighty,
            graph.costs(labels),
            graph.masses(labels),
            graph.tolerance,
            max(1, max_iter - n_iter),
        )
        n_iter += passes
        confirmed = converged and passes == 1
    return LocalOptimum(labels, graph.score(labels), n_iter, confirmed)


def _joined_components(graph: _Objective) -> IntArray:
    """Join whole connected components of a graph into k clusters, and return the labels; (n,).

    The largest component comes first, and each goes to the cluster that is smallest so far.
    """
    sizes = np.bincount(graph.components)
    cluster = np.empty(sizes.size, dtype=np.intp)
    filled = np.zeros(graph.k)
    for component in np.argsort(-sizes, kind="stable"):
        cluster[component] = filled.argmin()
        filled[cluster[component]] += sizes[component]
    return np.asarray(cluster[graph.components])


def _report_doubts(graph: _Objective, best: LocalOptimum, max_iter: int) -> None:
    """Warn if a graph has several components and a cut is asked for, and if a search reached `max_iter`."""
    if graph.cut != "association" and graph.n_components > 1:
        isolated = int((np.bincount(graph.components) == 1).sum())
        alone = f" ({isolated} of them single vertices)" if isolated else ""
        warn(
            f"The graph has {graph.n_components} components{alone}, between which the cut is 0, so that clusters tend "
            "to be whole components; analyse the largest component alone if that is not wanted.",
            DisconnectedGraphWarning,
        )
    if not best.converged:
        warn(f"The best start was cut off after `max_iter`={max_iter} passes; it can improve.", ConvergenceWarning)


def _reported(
    graph: _Objective,
    best: LocalOptimum,
    *,
    how: str,
    n_init: int,
    index: Any,
    exponent: int,
) -> GraphPartition:
    """Build the `GraphPartition` result of given labels, in the units of the link weights.

    The sign of an association is turned back.
    """
    labels = _numbered_labels(graph, best.labels)
    sign = -1.0 if graph.cut == "association" else 1.0
    quotients = sign * graph.quotients(labels) + 0.0
    inside, leaving = (np.ldexp(sums, exponent) for sums in graph.link_sums(labels))
    masses, bound = graph.masses(labels), sign * graph.bound + 0.0
    if graph.cut == "normalized":  # a quotient of links and degrees has no unit
        masses = np.ldexp(masses, exponent)
    else:
        quotients, bound = np.ldexp(quotients, exponent), float(np.ldexp(bound, exponent))
    matrix = graph.matrix.copy()
    matrix.data = np.ldexp(matrix.data, exponent)
    return GraphPartition(
        labels=labels,
        k=graph.k,
        cut=cast(Literal["ratio", "normalized", "association"], graph.cut),
        sizes=tuple(np.bincount(labels, minlength=graph.k).tolist()),
        value=float(quotients.sum()),
        cluster_values=quotients,
        inside=inside,
        leaving=leaving,
        masses=masses,
        bound=bound,
        n_components=graph.n_components,
        init=how,
        n_init=n_init,
        n_iter=best.n_iter,
        converged=best.converged,
        weighted=graph.given is not None,
        index=index,
        matrix=_freeze_sparse(matrix),
    )


def _numbered_labels(graph: _Objective, labels: IntArray) -> IntArray:
    """Renumber clusters of a graph by falling size, then rising cost over mass, then links inside; (n,) -> (n,)."""
    heaviness = np.ones(graph.n) if graph.given is None else graph.given
    quotients = graph.quotients(labels)
    scale = float(np.abs(quotients).sum())
    sums = graph.link_sums(labels)[0]
    return numbering(labels, _sum_by_label(labels, heaviness, graph.k), quotients, sums, scale)[labels]


def _freeze_sparse(matrix: Any) -> Any:
    """Make the arrays of a sparse matrix read-only, and return the matrix."""
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix
