"""The pictures of the results; imported inside `.plot()` only."""

from energystats.plotting.base import CLUSTERS_LISTED as CLUSTERS_LISTED
from energystats.plotting.base import CURVE as CURVE
from energystats.plotting.base import HATCHES as HATCHES
from energystats.plotting.base import LEAST_SHOWN as LEAST_SHOWN
from energystats.plotting.base import MARKERS as MARKERS
from energystats.plotting.base import NAME_LENGTH as NAME_LENGTH
from energystats.plotting.base import OBSERVED as OBSERVED
from energystats.plotting.base import POINTS_SHOWN as POINTS_SHOWN
from energystats.plotting.base import QUIET as QUIET
from energystats.plotting.base import WHITE as WHITE
from energystats.plotting.base import axes_or_new as axes_or_new
from energystats.plotting.base import cluster_colors
from energystats.plotting.base import font_along as font_along
from energystats.plotting.base import group_codes as group_codes
from energystats.plotting.base import legend_columns as legend_columns
from energystats.plotting.base import legend_of_clusters as legend_of_clusters
from energystats.plotting.base import legend_width as legend_width
from energystats.plotting.base import marker_area as marker_area
from energystats.plotting.base import plain as plain
from energystats.plotting.base import plain_all as plain_all
from energystats.plotting.base import rows_shown as rows_shown
from energystats.plotting.base import sizes_text as sizes_text
from energystats.plotting.dispersions import PARTS_DRAWN as PARTS_DRAWN
from energystats.plotting.dispersions import SIGNIFICANT as SIGNIFICANT
from energystats.plotting.dispersions import draw_bound as draw_bound
from energystats.plotting.dispersions import draw_links as draw_links
from energystats.plotting.dispersions import energy_distances as energy_distances
from energystats.plotting.dispersions import group_tree as group_tree
from energystats.plotting.dispersions import heat_height as heat_height
from energystats.plotting.dispersions import leaf_order as leaf_order
from energystats.plotting.dispersions import leave_room_above as leave_room_above
from energystats.plotting.dispersions import named_parts as named_parts
from energystats.plotting.dispersions import pair_matrix as pair_matrix
from energystats.plotting.dispersions import (
    plot_decomposition,
    plot_distances,
    plot_group_means,
    plot_group_tree,
    plot_parts,
)
from energystats.plotting.dispersions import unit as unit
from energystats.plotting.geometry import BARS_DRAWN as BARS_DRAWN
from energystats.plotting.geometry import GROUPS_NAMED as GROUPS_NAMED
from energystats.plotting.geometry import PAIRS_DRAWN as PAIRS_DRAWN
from energystats.plotting.geometry import axis_distances as axis_distances
from energystats.plotting.geometry import (
    plot_comparison,
    plot_coordinates,
    plot_euclidization,
    plot_negative_type,
    plot_shepard,
)
from energystats.plotting.geometry import stress as stress
from energystats.plotting.graphs import VERTICES_DRAWN as VERTICES_DRAWN
from energystats.plotting.graphs import component_layout as component_layout
from energystats.plotting.graphs import draw_graph as draw_graph
from energystats.plotting.graphs import draw_matrix as draw_matrix
from energystats.plotting.graphs import graph_layout as graph_layout
from energystats.plotting.graphs import plot_eigengaps, plot_graph
from energystats.plotting.graphs import springs as springs
from energystats.plotting.heat import CELLS_ACROSS as CELLS_ACROSS
from energystats.plotting.heat import CELLS_WRITTEN as CELLS_WRITTEN
from energystats.plotting.heat import NAMES_FIT as NAMES_FIT
from energystats.plotting.heat import draw_heat as draw_heat
from energystats.plotting.heat import name_ticks as name_ticks
from energystats.plotting.heat import room_for as room_for
from energystats.plotting.hypotheses import PAIRS_LISTED as PAIRS_LISTED
from energystats.plotting.hypotheses import draw_density as draw_density
from energystats.plotting.hypotheses import draw_pair_table as draw_pair_table
from energystats.plotting.hypotheses import histogram_with_line as histogram_with_line
from energystats.plotting.hypotheses import (
    plot_cluster_test,
    plot_goodness,
    plot_model_null,
    plot_null,
    plot_pairs,
    plot_power,
)
from energystats.plotting.hypotheses import target_label as target_label
from energystats.plotting.names import NAME_SIZE as NAME_SIZE
from energystats.plotting.names import NAMES_DRAWN as NAMES_DRAWN
from energystats.plotting.names import STANDS as STANDS
from energystats.plotting.names import covered as covered
from energystats.plotting.names import draw_names as draw_names
from energystats.plotting.names import name_box as name_box
from energystats.plotting.names import outside as outside
from energystats.plotting.partitions import cluster_parts as cluster_parts
from energystats.plotting.partitions import draw_smooth as draw_smooth
from energystats.plotting.partitions import features as features
from energystats.plotting.partitions import mark_breaks as mark_breaks
from energystats.plotting.partitions import mark_classes, plot_cluster_means, plot_partition, plot_path
from energystats.plotting.partitions import partition_title as partition_title
from energystats.plotting.partitions import plot_line as plot_line
from energystats.plotting.partitions import rows_in_view as rows_in_view
from energystats.plotting.partitions import visible_range as visible_range
from energystats.plotting.planes import KERNEL_POINTS as KERNEL_POINTS
from energystats.plotting.planes import SPACES as SPACES
from energystats.plotting.planes import Plane as Plane
from energystats.plotting.planes import column_number as column_number
from energystats.plotting.planes import columns_of as columns_of
from energystats.plotting.planes import components_of as components_of
from energystats.plotting.planes import given_plane as given_plane
from energystats.plotting.planes import kernel_plane as kernel_plane
from energystats.plotting.planes import needed_points as needed_points
from energystats.plotting.planes import plane_of as plane_of
from energystats.plotting.selection import CRITERIA as CRITERIA
from energystats.plotting.selection import draw_eigengaps as draw_eigengaps
from energystats.plotting.selection import draw_gaps as draw_gaps
from energystats.plotting.selection import draw_splits as draw_splits
from energystats.plotting.selection import draw_within as draw_within
from energystats.plotting.selection import plot_select_k, plot_stability
from energystats.plotting.trees import CLUSTERS_NUMBERED as CLUSTERS_NUMBERED
from energystats.plotting.trees import LEAVES_DRAWN as LEAVES_DRAWN
from energystats.plotting.trees import POINTS_DRAWN as POINTS_DRAWN
from energystats.plotting.trees import POINTS_NAMED as POINTS_NAMED
from energystats.plotting.trees import below as below
from energystats.plotting.trees import cut_height as cut_height
from energystats.plotting.trees import draw_fork as draw_fork
from energystats.plotting.trees import finish_tree as finish_tree
from energystats.plotting.trees import height_label as height_label
from energystats.plotting.trees import link_colors as link_colors
from energystats.plotting.trees import mark_nodes as mark_nodes
from energystats.plotting.trees import name_leaves as name_leaves
from energystats.plotting.trees import number_clusters as number_clusters
from energystats.plotting.trees import plot_cluster_tree, plot_dendrogram
from energystats.plotting.trees import root_ticks as root_ticks

__all__ = [
    "cluster_colors",
    "mark_classes",
    "plot_cluster_means",
    "plot_cluster_test",
    "plot_cluster_tree",
    "plot_comparison",
    "plot_coordinates",
    "plot_decomposition",
    "plot_dendrogram",
    "plot_distances",
    "plot_eigengaps",
    "plot_euclidization",
    "plot_goodness",
    "plot_graph",
    "plot_group_means",
    "plot_group_tree",
    "plot_model_null",
    "plot_negative_type",
    "plot_null",
    "plot_pairs",
    "plot_partition",
    "plot_parts",
    "plot_path",
    "plot_power",
    "plot_select_k",
    "plot_shepard",
    "plot_stability",
]
