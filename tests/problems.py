"""Short ways to the parts of a search, with weights of 1."""

import numpy as np

from energystats._core.hartigan import hartigan_pass
from energystats._core.lloyd import lloyd_pass
from energystats.clustering.local_search import Problem

NO_ROOM = np.empty((0, 3), np.intp)


def problem(R, k, *, max_iter=300, tolerance=1e-12, weights=None):
    return Problem(R, np.ones(len(R)) if weights is None else weights, k, tolerance, max_iter)


def state_of(R, labels, k, weights=None):
    return Problem(R, np.ones(len(R)) if weights is None else weights, k, 0.0).tabulate(labels)


def one_hartigan_pass(R, labels, state, threshold, *, weights=None, loop=hartigan_pass, room=NO_ROOM):
    return loop(R, np.ones(len(R)) if weights is None else weights, labels, *state, threshold, room)


def one_lloyd_pass(R, labels, state, *, weights=None, loop=lloyd_pass):
    return loop(R, np.ones(len(R)) if weights is None else weights, labels, *state)
