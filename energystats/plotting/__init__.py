"""The pictures of the results; imported inside `.plot()` only."""

from energystats.plotting.base import MARKERS as MARKERS
from energystats.plotting.base import OBSERVED as OBSERVED
from energystats.plotting.base import QUIET as QUIET
from energystats.plotting.base import axes_or_new as axes_or_new
from energystats.plotting.base import cluster_colors
from energystats.plotting.base import group_codes as group_codes
from energystats.plotting.base import legend_of_clusters as legend_of_clusters
from energystats.plotting.dispersions import plot_decomposition, plot_group_means
from energystats.plotting.geometry import GROUPS_NAMED as GROUPS_NAMED
from energystats.plotting.geometry import NAMES_DRAWN as NAMES_DRAWN
from energystats.plotting.geometry import PAIRS_DRAWN as PAIRS_DRAWN
from energystats.plotting.geometry import plot_comparison, plot_coordinates, plot_euclidization, plot_negative_type
from energystats.plotting.graphs import VERTICES_DRAWN as VERTICES_DRAWN
from energystats.plotting.graphs import component_layout as component_layout
from energystats.plotting.graphs import draw_graph as draw_graph
from energystats.plotting.graphs import draw_matrix as draw_matrix
from energystats.plotting.graphs import graph_layout as graph_layout
from energystats.plotting.graphs import plot_eigengaps, plot_graph
from energystats.plotting.graphs import springs as springs
from energystats.plotting.hypotheses import draw_density as draw_density
from energystats.plotting.hypotheses import histogram_with_line as histogram_with_line
from energystats.plotting.hypotheses import plot_cluster_test, plot_goodness, plot_null, plot_pairs, plot_power
from energystats.plotting.hypotheses import target_label as target_label
from energystats.plotting.names import NAME_SIZE as NAME_SIZE
from energystats.plotting.names import STANDS as STANDS
from energystats.plotting.names import covered as covered
from energystats.plotting.names import draw_names as draw_names
from energystats.plotting.names import name_box as name_box
from energystats.plotting.names import outside as outside
from energystats.plotting.partitions import mark_breaks as mark_breaks
from energystats.plotting.partitions import mark_classes, plot_partition, plot_path
from energystats.plotting.partitions import plane_of as plane_of
from energystats.plotting.partitions import plot_line as plot_line
from energystats.plotting.partitions import visible_range as visible_range
from energystats.plotting.selection import CRITERIA as CRITERIA
from energystats.plotting.selection import draw_eigengaps as draw_eigengaps
from energystats.plotting.selection import draw_gaps as draw_gaps
from energystats.plotting.selection import draw_splits as draw_splits
from energystats.plotting.selection import draw_within as draw_within
from energystats.plotting.selection import plot_select_k, plot_stability
from energystats.plotting.trees import LEAVES_DRAWN as LEAVES_DRAWN
from energystats.plotting.trees import POINTS_DRAWN as POINTS_DRAWN
from energystats.plotting.trees import POINTS_NAMED as POINTS_NAMED
from energystats.plotting.trees import draw_fork as draw_fork
from energystats.plotting.trees import finish_tree as finish_tree
from energystats.plotting.trees import link_colors as link_colors
from energystats.plotting.trees import mark_nodes as mark_nodes
from energystats.plotting.trees import name_leaves as name_leaves
from energystats.plotting.trees import plot_cluster_tree, plot_dendrogram
from energystats.plotting.trees import root_ticks as root_ticks

__all__ = [
    "cluster_colors",
    "mark_classes",
    "plot_cluster_test",
    "plot_cluster_tree",
    "plot_comparison",
    "plot_coordinates",
    "plot_decomposition",
    "plot_dendrogram",
    "plot_eigengaps",
    "plot_euclidization",
    "plot_goodness",
    "plot_graph",
    "plot_group_means",
    "plot_negative_type",
    "plot_null",
    "plot_pairs",
    "plot_partition",
    "plot_path",
    "plot_power",
    "plot_select_k",
    "plot_stability",
]
