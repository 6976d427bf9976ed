"""Tests and clusters on a Dask cluster: one worker beside two, memory of each, and an estimate for larger tables.

    python benchmarks/cluster.py            two sizes, one and two workers; about fifteen minutes on two cores
    python benchmarks/cluster.py --quick    small sizes, to see that everything runs

Every worker is a process of one thread. The estimate is fitted to the first size and checked on the second.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
from busy import alone_and_beside

import energystats as es

D, RESAMPLES = 10, 999


def points(n):
    rng = np.random.default_rng(2026)
    X = rng.normal(size=(n, D))
    X[: n // 2, 0] += 0.02
    return X, np.arange(n) >= n // 2


def peak_of_worker(dask_worker):
    """Largest resident memory of this process so far, in MB; `ru_maxrss` would begin with that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def work_of_worker(dask_worker):
    """Tasks that this worker has done, and bytes that it got from others."""
    return dask_worker.state.executed_count, sum(entry["total"] for entry in dask_worker.transfer_incoming_log)


def work(client):
    """Sum over all workers."""
    return np.sum(list(client.run(work_of_worker).values()), axis=0)


def run(n, n_workers, n_resamples=RESAMPLES):
    """Seconds, p-value, null distribution, MB of every worker before and at most, tasks done and bytes moved."""
    from dask import array as da
    from distributed import Client, LocalCluster

    X, groups = points(n)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        es.energy_test(
            X[:1500], groups=groups[:1500] ^ (np.arange(1500) % 2 == 0), n_resamples=70, client=client, rng=0
        )
        before, done = list(client.run(peak_of_worker).values()), work(client)
        start = time.perf_counter()
        found = es.energy_test(
            da.from_array(X, chunks=(4096, D)), groups=groups, n_resamples=n_resamples, client=client, rng=1
        )
        seconds = time.perf_counter() - start
        after = list(client.run(peak_of_worker).values())
        return seconds, found, before, after, work(client) - done


def clusters(n, n_workers):
    """Time five clusters of a million rows; 0 workers: all in this process."""
    from dask import array as da
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=n)
    X = 2.5 * rng.standard_normal((5, D))[labels] + rng.standard_normal((n, D))
    es.energy_cluster(X[:500], 5, algorithm=es.Landmarks(n_landmarks=20), rng=0)
    if not n_workers:
        start = time.perf_counter()
        return (
            es.energy_cluster(X, 5, algorithm="landmarks", rng=0),
            time.perf_counter() - start,
            [peak_of_worker(None)],
        )
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        rows = client.persist(da.from_array(X, chunks=(50_000, D)))
        start = time.perf_counter()
        found = es.energy_cluster(rows, 5, algorithm="landmarks", client=client, rng=0)
        seconds = time.perf_counter() - start
        return found, seconds, list(client.run(peak_of_worker).values())


def tasks_of(n, threads):
    """Count the tasks: one for each pair of blocks and chunk of permutations, their sums, five to read a block."""
    height = max(512, min(256 * math.ceil(n / math.ceil(math.sqrt(32 * threads)) / 256), 2**14))
    blocks = math.ceil(n / height)
    labels = max(1, min(2**27 // (64 * n), 2048 // 64))
    chunks, parts, sums = math.ceil(math.ceil(RESAMPLES / 64) / labels), blocks * (blocks + 1) // 2, 0
    per_chunk = parts
    while parts > 1:
        parts = math.ceil(parts / 16)
        sums += parts
    return chunks * (per_chunk + sums) + 5 * blocks + 2


def estimate(n, threads, per_pair, n_resamples=RESAMPLES):
    """A row of the table: tasks, flops, bytes moved and time."""
    tasks = tasks_of(n, threads)
    flops = n * n / 2 * (2 * (n_resamples + 2) + 3 * D)
    seconds = n * n / 2 * per_pair / threads
    moved = moved_at_most(n, threads)
    return f"| {n:.0e} | {threads} | {tasks} | {flops:.1e} | {moved / 1e9:.2g} GB | {seconds / 3600:.3g} h |"


def moved_at_most(n, threads):
    """Bytes between workers of one thread: every one gets every block once, labels and weights, and parts of sums."""
    return threads * (8 * n * D + (8 + 1) * n) + tasks_of(n, threads) * 8 * 64 * 32 * 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    sizes = (3000, 5000) if options.quick else (40_000, 80_000)
    heads = "n | workers | seconds | beside one busy process | p | MB of a worker before, at most"
    heads += " | tasks | estimated | MB moved | at most"
    print(f"| {heads} |\n|{'---|' * 10}")
    times = {}
    for n in sizes:
        for workers in (1, 2):
            alone, beside = alone_and_beside(lambda n=n, workers=workers: run(n, workers))
            seconds, found, before, after, (done, moved) = alone
            times[n, workers] = seconds
            memory = ", ".join(f"{a:.0f} to {b:.0f}" for a, b in zip(before, after, strict=True))
            row = [
                n,
                workers,
                f"{seconds:.1f}",
                f"{beside[0] / seconds:.2f} x",
                f"{found.pvalue:g}",
                memory,
                done,
                tasks_of(n, workers),
            ]
            row += [f"{moved / 1e6:.1f}", f"{moved_at_most(n, workers) / 1e6:.1f}"]
            print("|", *(f"{cell} |" for cell in row), flush=True)
    first, second = sizes
    for n in sizes:
        print(f"\n{n}: two workers are {times[n, 1] / times[n, 2]:.2f} times as fast as one")
    per_pair = times[first, 2] * 2 / (first**2 / 2)
    expected = second**2 / 2 * per_pair / 2
    print(f"estimate for {second} from {first}: {expected:.1f} s, measured {times[second, 2]:.1f} s\n")
    print("| n | threads | tasks | flops | moved at most | estimated time |\n|---|---|---|---|---|---|")
    for n, threads in ((10**6, 32), (10**6, 256), (10**7, 1024)):
        print(estimate(n, threads, per_pair))
    heads = "clusters of n rows | workers | seconds | beside one busy process | W of the features | MB at most"
    print(f"\n| {heads} |\n|{'---|' * 6}")
    for n in (50_000,) if options.quick else (200_000, 1_000_000):
        for workers in (0, 1, 2):
            alone, beside = alone_and_beside(lambda n=n, workers=workers: clusters(n, workers))
            found, seconds, memory = alone
            row = [
                n,
                workers or "none",
                f"{seconds:.1f}",
                f"{beside[1] / seconds:.2f} x",
                f"{found.approximation.within_limits[0]:.6f}",
            ]
            print("|", *(f"{cell} |" for cell in [*row, ", ".join(f"{megabytes:.0f}" for megabytes in memory)]))


if __name__ == "__main__":
    main()
