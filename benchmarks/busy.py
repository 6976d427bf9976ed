"""A process that keeps one core busy while something is measured: other work on the machine, made to order."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import NamedTuple

# it ends with its parent, and after an hour whatever happens
LOOP = """
import os, time
parent, end = os.getppid(), time.monotonic() + 3600
print("busy", flush=True)
while os.getppid() == parent and time.monotonic() < end:
    sum(range(100_000))
"""


@contextmanager
def busy_process():
    """One core is busy inside the block."""
    process = subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


class Seconds(NamedTuple):
    """Median times of a call on the clock, alone and beside one busy process, and its processor seconds likewise.

    Threads that wait by turning in a circle show in the processor seconds, whatever else the machine has to do.
    """

    alone: float
    busy: float
    work_alone: float | None = None
    work_busy: float | None = None

    @property
    def ratio(self):
        return self.busy / self.alone


def timed(call, runs):
    """Median time on the clock and median processor seconds of several calls after one, and what the last returned."""
    call()
    clock, work = [], []
    for _ in range(runs):
        start, started = time.perf_counter(), time.process_time()
        result = call()
        clock.append(time.perf_counter() - start)
        work.append(time.process_time() - started)
    return statistics.median(clock), statistics.median(work), result


def median_time(call, runs=5):
    """The time on the clock, and the result."""
    seconds, _, result = timed(call, runs)
    return seconds, result


def both_times(call, runs=5):
    """Times alone and beside one busy process, and the result."""
    alone, work_alone, result = timed(call, runs)
    with busy_process():
        busy, work_busy, _ = timed(call, runs)
    return Seconds(alone, busy, work_alone, work_busy), result


def alone_and_beside(call):
    """Return the results of a call alone, and beside one busy process."""
    first = call()
    with busy_process():
        return first, call()
