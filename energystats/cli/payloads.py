"""Results as objects of JSON, with keys that stay."""

from __future__ import annotations

from typing import Any

from energystats._core.statistics import share
from energystats.cli.errors import in_options

__all__ = ["payload_of"]


SEGMENTS = (
    "k", "labels", "sizes", "breakpoints", "within", "between", "total", "within_per_segment", "min_size", "metric",
    "notes",
)  # fmt: skip
# by the name of the class of a result: importing all of them takes longer than a small table
FIELDS: dict[str, tuple[str, ...]] = {
    "Partition": (
        "k", "labels", "sizes", "within", "between", "total", "within_per_cluster", "bound", "tightness", "algorithm",
        "n_init", "n_iter", "converged", "breaks", "metric",
    ),
    "ClusterTestResult": (
        "statistic", "pvalue", "method", "null_hypothesis", "k", "n_resamples", "n_splits", "n_clustered",
        "conservative", "jittered", "space", "notes",
    ),
    "EnergyTestResult": (
        "statistic", "statistic_name", "pvalue", "pvalue_interval", "method", "n_resamples", "n_strata", "n_plots",
        "null_hypothesis", "effect_size", "inhomogeneity", "within", "between", "total", "sizes", "labels", "metric",
        "notes",
    ),
    "PairwiseTestsResult": ("correction", "method", "n_resamples", "n_strata", "n_plots", "metric", "notes"),
    "DiscoResult": (
        "statistic", "pvalue", "method", "n_resamples", "n_strata", "null_hypothesis", "decomposition", "residual",
        "df_residual", "total", "n", "metric", "notes",
    ),
    "Segmentation": (*SEGMENTS, "within_by_k", "breakpoints_by_k", "penalty", "exact", "within_limits"),
    "SegmentTestResult": (
        *SEGMENTS, "statistic", "pvalue", "pvalue_interval", "method", "n_resamples", "null_hypothesis", "level",
        "block_length",
    ),
    "Euclidization": ("method", "constant", "min_eigenvalue", "max_eigenvalue", "threshold", "changed", "n"),
    "SelectKResult": ("k", "criterion", "null", "k_max", "choices", "n_resamples", "level", "notes"),
}  # fmt: skip
CONTRAST = ("name", "statistic", "pvalue", "pvalue_adjusted")
INDICES = ("log_likelihood_ratio", "E", "distance")
TEST = ("breakpoint", "first", "last", "between", "statistic", "pvalue", "declared")
TERM = ("name", "df", "dispersion", "f", "share", "pvalue")


def payload_of(result: Any, table: str) -> dict[str, Any]:
    """Return the fields of a result by name, as a dictionary for JSON output; notes name options, as the text does.

    `table` are the words of the command that say which table is read.
    """
    kind = next(base.__name__ for base in type(result).__mro__ if base.__name__ in FIELDS)
    fields = {name: getattr(result, name) for name in FIELDS[kind]}
    if "metric" in fields:
        fields["metric"] = repr(result.metric)
        fields["standardized"] = result.standardization is not None
    if "notes" in fields:
        fields["notes"] = [in_options(note, table) for note in result.notes]
    if kind in ("Partition", "Segmentation", "SegmentTestResult"):
        fields["share"] = share(result.between, result.total)
    if kind == "ClusterTestResult":
        means = result.indices.mean(axis=0).tolist() if result.indices is not None else [None] * len(INDICES)
        fields["indices"] = dict(zip(INDICES, means, strict=True))
        # the clusters of the test, which can lie in another space than those of `partition`
        fields |= {name: getattr(result.partition, name, None) for name in ("labels", "sizes")}
        fields["contrasts"] = [{name: getattr(row, name) for name in CONTRAST} for row in result.rows]
    if kind == "DiscoResult":
        fields["terms"] = [{name: getattr(row, name) for name in TERM} for row in result.terms]
    if kind == "SegmentTestResult":
        fields["tests"] = [{name: getattr(test, name) for name in TEST} for test in result.tests]
    if kind in ("SelectKResult", "PairwiseTestsResult"):
        fields["table"] = result.table.to_dict(orient="records")
    return fields
