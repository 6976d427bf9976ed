"""The permutation test on a GPU beside the same call on the processors of its machine: results/gpu.json.

    python benchmarks/gpu.py                needs torch and array-api-compat; a few minutes; without a GPU, nothing
    python benchmarks/gpu.py --cpu --quick  on a processor, small sizes, to see that it runs; nothing is kept

Points are on the GPU when the clock starts; the labels, which are drawn by the processor, are sent within the time.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from importlib import metadata
from pathlib import Path

import numpy as np
from busy import timed
from environment import describe_environment

import energystats as es

RESULTS = Path(__file__).resolve().parent / "results"
SIZES = (4_000, 20_000, 100_000)
N_RESAMPLES, D = 999, 5
SIDE = 8192  # of the matrices whose product gives the rate


def rate_of_products(torch, device, side):
    """Floating-point operations a second of torch's own product of two square matrices of doubles."""
    A = torch.rand(side, side, dtype=torch.float64, device=device)
    seconds, _, _ = timed(lambda: float((A @ A)[0, 0]), 3)
    return 2 * side**3 / seconds


def measure(torch, n, device, rate):
    """Time one test of n points on the device and on the processors; both results."""
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((n // 2, D)), rng.standard_normal((n // 2, D)) + 2 / np.sqrt(n)
    on_device = [torch.asarray(sample, device=device) for sample in (x, y)]
    how = {"n_resamples": N_RESAMPLES, "rng": 0}
    is_gpu = device == "cuda"
    if is_gpu:
        torch.cuda.reset_peak_memory_stats()
    seconds, _, found = timed(lambda: es.energy_test(*on_device, **how), 3)
    peak = torch.cuda.max_memory_allocated() if is_gpu else 0
    es.energy_test(x[:1500], y[:1500], **how)  # compiles the loops
    start = time.perf_counter()
    expected = es.energy_test(x, y, **how)
    cpu_seconds = time.perf_counter() - start
    return {
        "n": n,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "pvalue": found.pvalue,
        "cpu_pvalue": expected.pvalue,
        "difference": abs(found.statistic - expected.statistic) / expected.total,
        "peak_megabytes": peak / 2**20,
        "share": n * n * N_RESAMPLES / seconds / rate,
    }


def describe_device(torch, device):
    """Name the GPU and the versions that it is used with."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
    return {"name": name, "torch": torch.__version__, "array-api-compat": metadata.version("array-api-compat")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="the array library's own processor route")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is kept")
    parser.add_argument("--output", type=Path, default=RESULTS / "gpu.json")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    device = "cpu" if options.cpu else "cuda"
    if torch is None or not (options.cpu or torch.cuda.is_available()):
        print("No torch, or no GPU that it sees: nothing was measured, and the results stay as they are.")
        return
    rate = rate_of_products(torch, device, 512 if options.quick else SIDE)
    print(f"torch's product of doubles: {rate / 1e9:.0f} GF/s", flush=True)
    rows = []
    for n in (400, 1000) if options.quick else SIZES:
        rows.append(measure(torch, n, device, rate))
        print(rows[-1], flush=True)
    if not options.quick:
        found = {
            "environment": describe_environment(),
            "device": describe_device(torch, device),
            "rate": rate,
            "rows": rows,
        }
        options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
