"""A report of a clustering: one HTML file with its pictures, that reads nothing from anywhere else."""

from energystats.report.page import cluster_report, render
from energystats.report.study import Reading, Study

__all__ = ["Reading", "Study", "cluster_report", "render"]
