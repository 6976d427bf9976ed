"""The lowest W of several starts, and of perturbations of the best partition among them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, cast

import numpy as np

from energystats._core.interrupts import checkpoint
from energystats._core.restarts import AS_GOOD, UNIFORMS, lowest, perturbed
from energystats._typing import FloatArray, IntArray
from energystats.clustering.hartigan import hartigan
from energystats.clustering.lloyd import lloyd
from energystats.clustering.perturbation import ENOUGH
from energystats.clustering.seeding import plus_plus_start, random_start
from energystats.clustering.state import LocalOptimum, Problem
from energystats.exceptions import NotNegativeTypeWarning, warn
from energystats.progress import with_bar

__all__ = ["Hunt", "make_starts"]

METHODS: dict[str, Callable[..., LocalOptimum]] = {"hartigan": hartigan, "lloyd": lloyd}
PAIRS_AT_ONCE = 4_000_000  # n squared times the searches of one compiled call, which Ctrl-C has to wait for


class Best(NamedTuple):
    """The best partition, the labels that the search of it began with, and W."""

    labels: IntArray
    origin: IntArray
    within: float


class Portion(NamedTuple):
    """Searches to be made at once: starts (b, n), or numbers (b, 5) for perturbations, the first being `turn`."""

    starts: IntArray
    uniforms: FloatArray
    turn: int
    skipped: int = 0

    @property
    def size(self) -> int:
        """Searches that are done with after it."""
        return len(self.starts) + len(self.uniforms) + self.skipped


@dataclass(eq=False)
class Hunt:
    """Starts, and then perturbations of the best partition among them, until it was found often enough.

    Attributes
    ----------
    problem : Problem
        What is minimised.
    starts : iterable of ndarray
        Labels to begin with.
    n_starts, tries : int
        Starts, and perturbations at most.
    rng : Generator
        Of the perturbations.
    progress : bool
        Whether there is a bar.
    """

    problem: Problem
    starts: Iterable[IntArray]
    n_starts: int
    tries: int
    rng: np.random.Generator
    progress: bool = False
    found: int = 0

    def best_recorded(self, *, log_moves: bool) -> LocalOptimum:
        """The best partition, with the path of its search, which is made once more for that."""
        return hartigan(self.problem, self.lowest().origin, log_moves=log_moves)

    def lowest(self) -> Best:
        """The best partition of Hartigan's method, in compiled calls of many searches each."""
        problem = self.problem
        labels, origin = np.zeros((2, problem.n), np.intp)
        standing = np.array([np.inf, 0.0])
        fixed = problem.R, problem.weights, problem.totals, problem.k, problem.tolerance, problem.max_iter
        with closing(self.portions(max(1, PAIRS_AT_ONCE // problem.n**2))) as portions:
            for portion in portions:
                lowest(*fixed, portion.starts, portion.uniforms, portion.turn, ENOUGH, labels, origin, standing)
                self.found = int(standing[1])
        return Best(labels, origin, float(standing[0]))

    def best_in_steps(
        self, method: str, *, log_moves: bool, callback: Callable[[int, int, float], object] | None
    ) -> LocalOptimum:
        """The best partition of any method, in calls of a pass each, so that somebody can watch or interrupt it."""
        problem, best, made, taken_back = self.problem, None, 0, 0
        with closing(self.portions(1)) as portions:
            for portion in portions:
                start = self.start_of(portion, best)
                if start is None:
                    continue
                on_pass = None if callback is None else partial(callback, made)
                worth = np.inf if best is None else best.within - problem.tolerance
                other = METHODS[method](problem, start, worth=worth, log_moves=log_moves, on_pass=on_pass)
                made, taken_back = made + 1, taken_back + other.rose
                if best is None or other.within < worth:
                    best, self.found = other, 1
                elif other.within < best.within + AS_GOOD * problem.tolerance:
                    self.found += 1
        report_taken_back(taken_back, made)
        return cast(LocalOptimum, best)

    def start_of(self, portion: Portion, best: LocalOptimum | None) -> IntArray | None:
        """Labels to begin with, or None where a perturbation left a cluster without points."""
        if len(portion.starts):
            return cast(IntArray, portion.starts[0])
        if best is None or not len(portion.uniforms):
            return None
        state = self.problem.tabulate(best.labels)
        labels, whole = perturbed(
            self.problem.R, self.problem.weights, best.labels, *state[1:], portion.uniforms[0], portion.turn
        )
        return labels if whole else None

    def portions(self, size: int) -> Generator[Portion, None, None]:
        """The searches, in portions, behind a bar."""
        total = self.n_starts + self.tries
        return with_bar(self.all_portions(size), self.progress, total=total, unit="search", size=lambda p: p.size)

    def all_portions(self, size: int) -> Iterator[Portion]:
        """Starts, then perturbations for as long as they are wanted."""
        starts, none, nothing = iter(self.starts), np.empty((0, self.problem.n), np.intp), np.empty((0, UNIFORMS))
        while block := list(islice(starts, size)):
            checkpoint()
            yield Portion(np.array(block), nothing, 0)
        for turn in range(0, self.tries if self.problem.k > 1 else 0, size):
            checkpoint()
            if self.found >= ENOUGH:
                yield Portion(none, nothing, turn, skipped=self.tries - turn)
                return
            yield Portion(none, self.rng.random((min(size, self.tries - turn), UNIFORMS)), turn)


def make_starts(problem: Problem, init: str, n_init: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Starting labels."""
    for _ in range(n_init):
        if init == "k-means++":
            yield plus_plus_start(problem.R, problem.k, rng, problem.weights)
        else:
            yield random_start(problem.n, problem.k, rng)


def report_taken_back(taken_back: int, made: int) -> None:
    """Warn of passes of Lloyd's rule that would not have lowered W."""
    if taken_back:
        warn(
            "A pass of Lloyd's rule would not have lowered W and was taken back "
            f"(in {taken_back} of {made} start{'s' * (made > 1)}), which shows that rho is not of negative type; "
            'algorithm="hartigan" does not need it.',
            NotNegativeTypeWarning,
        )
