"""Local search: Hartigan's and Lloyd's method from many starts, and from perturbations of the best partition.

Hartigan's method: single points move while W falls [G alg 1].
It compares W of partitions and nothing else. A constant added to rho off the diagonal changes W of all partitions into
k clusters alike [K thm 6], so the moves stay the same, and a rho that is not of negative type needs no repair first.
Every move lowers W by more than a fixed amount, so the search ends for every rho.

Lloyd's method, kernel k-means: every point goes to its nearest cluster at once [D alg 2].
The rule rests on a fact about means: among all centres, the mean has the smallest sum of squared distances. For a rho
that is not of negative type there are no such means, a pass can raise W, and the rule alone can go round in circles for
ever. Adding a constant to rho off the diagonal, which changes W of all partitions alike, changes what the rule does.

Leaving a local optimum: clusters give way to others, and the search goes on from there.
All perturbations are made from the best partition so far, where they find lower W than as many from every start: they
missed the lowest known W of 25 hard cases (up to 12 clusters of 100 to 300 points) in 29 of 250 searches, and the same
number spread over the starts in 53 of 375. They end when the best partition was found often enough; without that end
as many were missed. Ten restarts alone missed the best known W of 66 reference cases in 36 of 990 searches, with
perturbations in 1 of 3,960; an end after fifteen finds in 6, and it is later here.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import ClassVar, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from energystats._core.hartigan import cluster_table, hartigan_pass, tabulated, tabulated_afresh
from energystats._core.interrupts import checkpoint, uninterrupted
from energystats._core.lloyd import lloyd_pass
from energystats._core.restarts import AS_GOOD, UNIFORMS, lowest, perturbed, tries_for
from energystats._runtime import Work, with_bar
from energystats._typing import FloatArray, IntArray
from energystats.clustering.exact_1d import best_intervals, has_exact
from energystats.clustering.partition import Partition, make_partition
from energystats.clustering.rounded_pairs import RoundedPoints, polish
from energystats.clustering.search import MOVE_TOLERANCE, STARTS, Algorithm, Search, check_distinct
from energystats.clustering.seeding import count_distinct, count_distinct_points, plus_plus_start, random_start
from energystats.clustering.spectral import spectral_starts
from energystats.dissimilarity import Dissimilarity
from energystats.exceptions import ConvergenceWarning, NotNegativeTypeWarning, warn
from energystats.inputs.options import check_count, check_option
from energystats.pairs.workloads import (
    FEWER_STARTS,
    FEWER_STARTS_OF_MATRIX,
    Size,
    bound_on_between,
    pairs_work,
    rounded_pairs_work,
    search_work,
)

__all__ = [
    "ENOUGH",
    "LARGE",
    "NO_MOVES",
    "Hartigan",
    "Lloyd",
    "LocalOptimum",
    "MultiStartSearch",
    "OnPass",
    "Problem",
    "State",
    "hartigan",
    "lloyd",
    "make_starts",
    "search_points",
    "search_problem",
    "totals_of",
]


OnPass: TypeAlias = Callable[[int, float], object]  # passes made, W
NO_MOVES = np.empty((0, 3), np.intp)


class State(NamedTuple):
    """Hold counts, masses and sums of rho of the clusters of a partition, which a search updates at every move."""

    counts: IntArray  # (k,) points of each cluster
    mass: FloatArray  # (k,) their sums of weights, s_l
    table: FloatArray  # (k, n) t_li = sum of w_y rho(x_i, y) over y in C_l
    within: FloatArray  # (k,) w_l = sum of w_x w_y rho(x, y) inside C_l

    @property
    def W(self) -> float:
        """Compute the within dispersion of a partition from its pair sums and cluster masses."""
        return float(np.sum(self.within / (2 * self.mass)))


@dataclass(frozen=True, eq=False)
class Problem:
    """Hold what a search for the smallest W needs: the matrix of rho, weights, number of clusters and tolerance."""

    R: FloatArray  # (n, n) the matrix of rho
    weights: FloatArray  # (n,) positive; ones without weights
    k: int  # number of clusters
    tolerance: float  # A step must lower W by more, so that rounding is not chased
    max_iter: int = 300  # passes of one search
    known_totals: FloatArray | None = None  # (n,) R @ weights, where that is known, as from a search for another k

    @property
    def n(self) -> int:
        """Return the number of points."""
        return len(self.R)

    @cached_property
    def totals(self) -> FloatArray:
        """Return the weighted sum of dissimilarities from each point to all points; (n,)."""
        if self.known_totals is not None:
            return self.known_totals
        return np.asarray(cluster_table(self.R, self.weights, np.zeros(self.n, np.intp), 1)[0])

    def tabulate(self, labels: IntArray) -> State:
        """Compute sizes, masses and sums of dissimilarities of the clusters of a partition from scratch; O(n^2)."""
        with uninterrupted():
            return State(*tabulated_afresh(self.R, self.weights, labels, self.k))

    def tabulate_quickly(self, labels: IntArray) -> State:
        """Compute sums of dissimilarities of clusters, for the largest by subtraction from all, up to rounding."""
        with uninterrupted():  # while Python makes objects of a long call's result, Ctrl-C would break it
            return State(*tabulated(self.R, self.weights, self.totals, labels, self.k))


@dataclass(frozen=True, slots=True, eq=False)
class LocalOptimum:
    """Hold the partition at which one local search ended, with its W, passes and moves."""

    labels: IntArray  # (n,) cluster of each point
    within: float  # W of these labels; recomputed from them unless the search ended early for a W that is too large
    n_iter: int  # passes over the data
    converged: bool  # whether the method stopped by itself
    # whether a step would not have lowered W, which only a rho that is not of negative type makes possible
    increased: bool = False
    path: FloatArray = field(default_factory=lambda: np.empty(0))  # (n_iter + 1,) W at the start and after every pass
    # (m, 3) point, old and new cluster of every move in its order, where they were asked for
    moves: IntArray = field(default_factory=lambda: NO_MOVES)


def hartigan(
    problem: Problem,
    start: IntArray,
    *,
    worth: float = np.inf,
    log_moves: bool = False,
    on_pass: OnPass | None = None,
) -> LocalOptimum:
    """Minimise the within dispersion by moves of single points (Hartigan's method); return a local optimum [G alg 1].

    The table T = RZ is kept up to date move by move. Before the answer is believed, the table is computed afresh
    and one more pass over it must move nothing, so that rounding gathered on the way cannot end the search early. An
    answer that is not below `worth` is left unconfirmed.
    """
    labels = start.copy()
    # T_li = sum of rho from x_i to C_l, from scratch once
    state, fresh = problem.tabulate_quickly(labels), False
    room = np.empty((problem.n if log_moves else 0, 3), np.intp)
    path, moves, n_iter = [state.W], [room[:0]], 0
    while True:
        # [G alg 1] every point in turn moves to the cluster where W falls most [G 18-20], and T is updated
        made = hartigan_pass(problem.R, problem.weights, labels, *state, problem.tolerance, room)
        n_iter += 1
        path.append(state.W)
        moves.append(room[:made].copy())
        if on_pass is not None:
            on_pass(n_iter, path[-1])
        # no point moves: a local optimum, if sums from scratch say so too
        if made == 0 and (fresh or worth <= state.W):
            break
        if made == 0:  # the confirming pass is made in any case
            state, fresh = problem.tabulate(labels), True
            continue
        fresh = False
        if n_iter >= problem.max_iter:
            break
    within = state.W if made == 0 else problem.tabulate(labels).W
    return LocalOptimum(labels, within, n_iter, made == 0, path=np.array(path), moves=np.concatenate(moves))


def lloyd(
    problem: Problem,
    start: IntArray,
    *,
    worth: float = np.inf,
    log_moves: bool = False,
    on_pass: OnPass | None = None,
) -> LocalOptimum:
    """Minimise the within dispersion by moving all points at once (Lloyd's method); return a local optimum [D alg 2].

    The search goes on only while W falls by more than the tolerance, so it ends for every rho. Before a pass that does
    not lower W is believed, it is made again over a fresh table, so that rounding gathered on the way decides nothing.

    With negative type W falls by at least the sum by which points come nearer. A pass that breaks this beyond rounding
    is taken back, also where W only stays as it is: the points want to move on there, so it is no local optimum. Every
    answer is confirmed, whatever it is `worth`.
    """
    labels = start.copy()
    state, fresh = problem.tabulate(labels), True
    path, moves, ended, increased = [state.W], [NO_MOVES], False, False
    while not ended and len(path) <= problem.max_iter:
        before, W = labels.copy(), path[-1]
        # [D alg 2] all points go to the smallest 2 T_li/n_l - w_l/n_l^2 at once
        moved, nearer = lloyd_pass(problem.R, problem.weights, labels, *state)
        now = state.W
        # W did not fall: perhaps rounding, so the pass is made again from sums from scratch
        if not now < W - problem.tolerance and not fresh:
            labels, fresh = before, True
            state = problem.tabulate(labels)
            path[-1] = state.W
            continue
        if not now < W - problem.tolerance:
            # points came nearer, yet W did not fall: not possible with means, so rho is not of negative type
            now = problem.tabulate(labels).W if moved else W
            increased = now > W + problem.tolerance or (now > W - problem.tolerance and nearer > 2 * problem.tolerance)
            if increased or now > W:
                labels, now = before, W
            ended = True
        fresh = False
        path.append(now)
        moves.append(_changes(before, labels) if log_moves else NO_MOVES)
        if on_pass is not None:
            on_pass(len(path) - 1, now)
    return LocalOptimum(
        labels,
        problem.tabulate(labels).W,
        len(path) - 1,
        ended and not increased,
        increased,
        path=np.array(path),
        moves=np.concatenate(moves),
    )


def _changes(before: IntArray, after: IntArray) -> IntArray:
    """List the points whose cluster changed in a pass, as rows (point, from, to); (n,), (n,) -> (m, 3)."""
    rows = np.flatnonzero(before != after)
    return np.stack([rows, before[rows], after[rows]], axis=1)


ENOUGH = 20  # times that the best partition is found
DOUBLE_UP_TO = 10_000  # points, whose pairs a search of Hartigan's method holds in double precision
LARGE = 4000  # points: of more no perturbations unless asked for, and every pass is a call of its own
PAIRS_AT_ONCE = 50_000_000  # n squared times the searches of one compiled call, which Ctrl-C has to wait for
PAIRS_OF_STARTS = 40_000_000  # the same of starts, whose tables (at most 20 MB) are filled in one pass over the pairs


class _Best(NamedTuple):
    """Hold the labels and W of the best partition found, and the labels that its search began with."""

    labels: IntArray
    origin: IntArray
    within: float


class _Portion(NamedTuple):
    """Hold a batch of searches: starting labels (b, n), or random numbers (b, 5) for perturbations.

    `turn` is the number of the first perturbation, `skipped` counts those that are not needed.
    """

    starts: IntArray
    uniforms: FloatArray
    turn: int
    skipped: int = 0

    @property
    def size(self) -> int:
        """Return the number of starts or perturbations in a batch, those that are skipped included."""
        return len(self.starts) + len(self.uniforms) + self.skipped


@dataclass(eq=False)
class MultiStartSearch:
    """Search from many starts, and then from perturbations of the best partition, until it was found often enough."""

    problem: Problem  # what is minimised
    starts: Iterable[IntArray]  # labels to begin with
    # n_starts, tries: starts, and perturbations at most
    n_starts: int
    tries: int
    rng: np.random.Generator  # of the perturbations
    progress: bool = False  # whether there is a bar
    found: int = 0

    def lowest(self) -> _Best:
        """Run Hartigan's method from many starts and perturbations in compiled code; return the best partition."""
        problem = self.problem
        labels, origin = np.zeros((2, problem.n), np.intp)
        standing = np.array([np.inf, 0.0])
        fixed = problem.R, problem.weights, problem.totals, problem.k, problem.tolerance, problem.max_iter
        n, k = problem.n, problem.k
        searches, starts = max(1, PAIRS_AT_ONCE // n**2), max(1, PAIRS_OF_STARTS // (n * max(n, 16 * k)))
        with self.shown(searches, starts) as portions:
            for portion in portions:
                lowest(*fixed, portion.starts, portion.uniforms, portion.turn, ENOUGH, labels, origin, standing)
                self.found = int(standing[1])
        return _Best(labels, origin, float(standing[0]))

    def best_in_steps(
        self,
        method: Callable[..., LocalOptimum],
        *,
        log_moves: bool = False,
        callback: Callable[[int, int, float], object] | None = None,
    ) -> LocalOptimum:
        """Run a given search from one start after the other, and return the best local optimum."""
        problem, best, made, taken_back = self.problem, None, 0, 0
        with self.shown(1, 1) as portions:
            for portion in portions:
                start = self.start_of(portion, best)
                if start is None:
                    continue
                on_pass = None if callback is None else partial(callback, made)
                # a search that ends no lower than the best needs no confirmation
                worth = np.inf if best is None else best.within - problem.tolerance
                other = method(problem, start, worth=worth, log_moves=log_moves, on_pass=on_pass)
                made, taken_back = made + 1, taken_back + other.increased
                if best is None or other.within < worth:
                    best, self.found = other, 1
                elif other.within < best.within + AS_GOOD * problem.tolerance:
                    self.found += 1
        _report_taken_back(taken_back, made)
        return cast(LocalOptimum, best)

    def start_of(self, portion: _Portion, best: LocalOptimum | None) -> IntArray | None:
        """Return the starting labels of one search; None if it is skipped or would start with an empty cluster."""
        if len(portion.starts):
            return cast(IntArray, portion.starts[0])
        if best is None or not len(portion.uniforms):
            return None
        state = self.problem.tabulate(best.labels)
        labels, whole = perturbed(
            self.problem.R, self.problem.weights, best.labels, *state[1:], portion.uniforms[0], portion.turn
        )
        return labels if whole else None

    def portions(self, size: int, n_starts: int) -> Iterator[_Portion]:
        """Yield batches of starting labels, then of perturbations until the best partition was found often."""
        starts, none, nothing = iter(self.starts), np.empty((0, self.problem.n), np.intp), np.empty((0, UNIFORMS))
        # first the starts ...
        while block := list(islice(starts, n_starts)):
            checkpoint()
            yield _Portion(np.array(block), nothing, 0)
        # ... then perturbations of the best partition, until it was found often enough
        for turn in range(0, self.tries if self.problem.k > 1 else 0, size):
            checkpoint()
            if self.found >= ENOUGH:
                yield _Portion(none, nothing, turn, skipped=self.tries - turn)
                return
            yield _Portion(none, self.rng.random((min(size, self.tries - turn), UNIFORMS)), turn)

    def shown(self, size: int, n_starts: int) -> closing[Generator[_Portion, None, None]]:
        """Return a context manager that iterates over batches of searches, with a progress bar."""
        total = self.n_starts + self.tries
        portions = self.portions(size, n_starts)
        return closing(with_bar(portions, self.progress, total=total, unit="search", size=lambda p: p.size))


def make_starts(problem: Problem, init: str, n_init: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield starting labels `n_init` times, drawn by k-means++ or at random; (n,) each."""
    for _ in range(n_init):
        if init == "k-means++":
            yield plus_plus_start(problem.R, problem.k, rng, problem.weights)
        else:
            yield random_start(problem.n, problem.k, rng)


def _report_taken_back(taken_back: int, made: int) -> None:
    """Warn that a semimetric is not of negative type if Lloyd's method had to undo passes."""
    if taken_back:
        warn(
            "A pass of Lloyd's rule would not have lowered W and was taken back "
            f"(in {taken_back} of {made} start{'s' * (made > 1)}), which shows that rho is not of negative type; "
            'algorithm="hartigan" does not need it.',
            NotNegativeTypeWarning,
        )


# ---------------------------------------------------------------- the algorithms


class _LocalSearch(Algorithm):
    """Cluster by local search over the stored matrix of rho from many starts, and keep the result of lowest W."""

    __slots__ = ()
    name: ClassVar[Literal["hartigan", "lloyd"]]
    compiled: ClassVar[bool] = False  # whether many searches are one compiled call

    @abstractmethod
    def tries(self, n: int) -> int:
        """Return the number of perturbations for each start, for n points."""

    @abstractmethod
    def best(self, multi_start: MultiStartSearch, search: Search) -> LocalOptimum:
        """Run a local search from all starts, and return the local optimum with the least within dispersion."""

    def work(self, d: Dissimilarity, search: Search) -> tuple[Work, ...]:
        size = Size.of(d)
        held = replace(size.held, exact=False)
        advice = FEWER_STARTS if d.has_points else FEWER_STARTS_OF_MATRIX
        tries = 0 if search.by_labels else self.tries(d.n)
        found = search_work(held, search.k, search.n_init, tries, advice, compiled=self.compiled)
        if self._rounds(d, search):
            return rounded_pairs_work(size), found, bound_on_between(size, search.k)
        return pairs_work(size), found, bound_on_between(held, search.k)

    def _rounds(self, d: Dissimilarity, search: Search) -> bool:
        """Return whether rho is stored in single precision: for many points without callback or logged moves."""
        spectral = isinstance(search.init, str) and search.init == "spectral"
        watched = search.callback is not None or search.log_moves or spectral
        return self.compiled and d.has_points and d.n > DOUBLE_UP_TO and not watched

    def fit(self, d: Dissimilarity, search: Search, rng: np.random.Generator) -> tuple[Partition, None]:
        k, n_starts = search.k, search.n_init
        weights = np.ones(d.n) if search.weights is None else search.weights
        rounded = RoundedPoints.of(d) if self._rounds(d, search) else None
        # all starts share R
        d = rounded or d.stored()
        check_distinct(count_distinct(d.matrix, k) if rounded is None else count_distinct_points(d, k), k)
        tolerance = MOVE_TOLERANCE * d.scale_of(search.weights)
        R, unit = (d.matrix, 0) if rounded is None else (rounded.R, rounded.unit)
        problem = Problem(R, weights, k, math.ldexp(tolerance, -unit), search.max_iter)
        tries = 0 if search.by_labels else self.tries(d.n)
        starts: Iterable[IntArray]
        if not isinstance(search.init, str):
            starts = [np.asarray(search.init)]
        elif search.init == "spectral":
            starts = spectral_starts(d, k, n_starts, rng, search.weights)
        else:
            starts = make_starts(problem, search.init, n_starts, rng)
        best = self.best(MultiStartSearch(problem, starts, n_starts, n_starts * tries, rng, search.progress), search)
        if rounded is not None:
            best = _polished(rounded, best, problem, tolerance)
        if not best.converged and not best.increased:
            warn(
                f"The best start was cut off after `max_iter`={search.max_iter} passes; W can still fall.",
                ConvergenceWarning,
            )
        return make_partition(
            d,
            best.labels,
            k,
            algorithm=self.name,
            n_init=n_starts,
            n_perturb=tries,
            n_iter=best.n_iter,
            converged=best.converged,
            weights=search.weights,
            path=best.path,
            moves=best.moves if search.log_moves else None,
        ), None


def _polished(d: RoundedPoints, best: LocalOptimum, problem: Problem, tolerance: float) -> LocalOptimum:
    """Improve a partition found in single precision to a local optimum in double precision, in the data's unit.

    W after the passes in single precision has seven digits.
    """
    found = polish(d, best.labels, problem.weights, problem.k, tolerance, problem.max_iter)
    path = np.maximum(np.ldexp(best.path, d.unit), found.within)
    path = np.append(path[: path.size - (found.n_iter == 0)], found.within)
    return replace(
        best,
        labels=found.labels,
        within=found.within,
        n_iter=best.n_iter + (found.n_iter > 0),
        converged=best.converged and found.converged,
        path=path,
    )


@dataclass(frozen=True, slots=True)
class Hartigan(_LocalSearch):
    """Cluster by moving single points while W falls, from many starts and perturbations of the best result [G alg 1].

    Parameters
    ----------
    n_perturb : int or "auto", default "auto"
        For each start, how often the best partition so far is perturbed: by turns a random cluster is dissolved and
        another one founded elsewhere, or two are merged and one is split, and the search goes on from there. It ends
        early when the best partition was found twenty times. "auto": 20 up to 894 points, so at most 200 for ten
        starts, fewer for more points, none above 4,000. Never where labels are given to start from.

    See Also
    --------
    energy_cluster : Takes it as `algorithm`.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> es.energy_cluster(X, 2, algorithm=es.Hartigan(n_perturb=0), rng=0).sizes
    (2, 2)
    """

    n_perturb: int | Literal["auto"] = "auto"
    name: ClassVar[Literal["hartigan"]] = "hartigan"
    compiled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.n_perturb, str):
            check_option(self.n_perturb, "n_perturb", ("auto",))
        else:
            object.__setattr__(self, "n_perturb", check_count(self.n_perturb, "n_perturb", low=0))

    def tries(self, n: int) -> int:
        return tries_for(n) if isinstance(self.n_perturb, str) else self.n_perturb

    def best(self, multi_start: MultiStartSearch, search: Search) -> LocalOptimum:
        # in compiled calls, which nobody can watch; the best one is made once more for its path
        if search.callback is None and multi_start.problem.n <= LARGE:
            return hartigan(multi_start.problem, multi_start.lowest().origin, log_moves=search.log_moves)
        return multi_start.best_in_steps(hartigan, log_moves=search.log_moves, callback=search.callback)


@dataclass(frozen=True, slots=True)
class Lloyd(_LocalSearch):
    """Cluster by moving all points to their nearest clusters at once, repeatedly: kernel k-means [D alg 2].

    See Also
    --------
    energy_cluster : Takes it as `algorithm`.

    Notes
    -----
    Where rho is not of negative type it stops before a pass that would not lower W.

    Examples
    --------
    >>> import energystats as es
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> es.energy_cluster(X, 2, algorithm=es.Lloyd(), rng=0).sizes
    (2, 2)
    """

    name: ClassVar[Literal["lloyd"]] = "lloyd"

    def tries(self, n: int) -> int:
        return 0

    def best(self, multi_start: MultiStartSearch, search: Search) -> LocalOptimum:
        return multi_start.best_in_steps(lloyd, log_moves=search.log_moves, callback=search.callback)


def search_points(d: Dissimilarity, k: int, rng: np.random.Generator, n_init: int = STARTS) -> tuple[IntArray, float]:
    """Find the partition that `energy_cluster` finds by default; return labels and within dispersion only.

    For trees, tests and references, which are searched as well as the data are.
    """
    if has_exact(d):
        line = best_intervals(d, k)
        return line.labels, float(np.ldexp(line.within.sum(), line.values.exponent))
    d = d.stored()
    problem = Problem(d.matrix, np.ones(d.n), k, MOVE_TOLERANCE * d.scale)
    return search_problem(problem, n_init, n_init * tries_for(d.n), rng)


def totals_of(d: Dissimilarity) -> FloatArray:
    """Compute the sum of dissimilarities from each point to all points; (n,)."""
    return Problem(d.matrix, np.ones(d.n), 1, 0.0).totals


def search_problem(problem: Problem, n_init: int, tries: int, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Minimise W by Hartigan's method from k-means++ starts and perturbations; return labels and W."""
    best = MultiStartSearch(problem, make_starts(problem, "k-means++", n_init, rng), n_init, tries, rng).lowest()
    return best.labels, best.within
