"""Faults that pictures must not have: names over names or beyond the axes, fractions of ranks, wrong titles."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import energystats as es
from energystats.plotting.trees import DrawnNode, plot_validation
from tests.conftest import sweep

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def boxes(ax):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in ax.texts]


def overlap(a, b):
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return max(width, 0) * max(height, 0)


@pytest.mark.parametrize("correction", sweep([None, "lingoes"], ["lingoes"]))
@pytest.mark.parametrize("grouped", sweep([False, True], [True]))
def test_names_keep_clear_of_each_other_and_stay_inside(correction, grouped):
    labels = es.datasets.groups("eurodist") if grouped else None
    ax = es.principal_coordinates(es.datasets.load("eurodist"), correction).plot(labels=labels)
    found = boxes(ax)
    assert len(found) == 21
    shared = sum(overlap(a, b) for i, a in enumerate(found) for b in found[:i])
    assert shared < 0.02 * sum(box.width * box.height for box in found)
    frame = ax.get_window_extent()
    for box in found:
        assert box.x0 > frame.x0 - 2
        assert box.x1 < frame.x1 + 2
    if grouped:
        legend = ax.get_legend().get_window_extent()
        assert all(overlap(legend, box) == 0 for box in found)
        assert legend.x0 >= frame.x1


def test_names_of_points_in_one_place_and_in_space():
    names = list("abcde")
    d = pd.DataFrame(np.zeros((5, 5)), names, names)
    assert len(es.principal_coordinates(d).plot().texts) == 5
    e = es.datasets.load("eurodist")
    assert len(es.principal_coordinates(e).plot(dimensions=3).texts) == 21


def test_titles_say_what_was_done():
    d = es.datasets.load("eurodist")
    corrected = es.principal_coordinates(d, "cailliez").plot()
    assert corrected.get_title(loc="left") == "Principal coordinates after Cailliez, n = 21"
    plain = es.principal_coordinates(d).plot()
    assert plain.get_title(loc="left") == "Principal coordinates, negative eigenvalues 13.2%, n = 21"
    assert es.lingoes(d).plot().get_title(loc="left") == "Lingoes, constant 2.2518e+06"


def test_ranks_are_whole_numbers():
    for name in ("eurodist", "dune_bray", "graph_path"):
        ax = es.negative_type(es.datasets.load(name) ** 2).plot()
        assert np.all(ax.get_xticks() % 1 == 0)


def test_the_title_above_a_tree_stays_in_the_figure():
    X = np.random.default_rng(0).normal(size=(60, 2))
    names = np.repeat(["$x_1$", "_y", "a very long name of a group that goes on and on"], 20)
    ax = es.dispersion(X, names).plot_distances()
    ax.figure.canvas.draw()
    title = ax.child_axes[0].title if not ax.child_axes[0].get_title(loc="left") else ax.child_axes[0]._left_title
    assert title.get_window_extent().y1 <= ax.figure.bbox.y1


def test_bars_of_nothing_have_their_words_inside_the_axes():
    same, g = np.ones((20, 2)), np.arange(20) % 3
    for result in (es.pairwise_tests(same, g, n_resamples=19, rng=0), es.disco(same, groups=g, n_resamples=19, rng=0)):
        ax = result.plot()
        frame = ax.get_window_extent()
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes(ax))
        assert ax.get_xlim()[1] >= 0.5


@pytest.mark.slow
def test_numbers_of_many_clusters_do_not_overlap():
    X = np.repeat(30 * np.random.default_rng(0).normal(size=(40, 2)), 6, axis=0)
    X += np.random.default_rng(1).normal(size=X.shape)
    ax = es.cluster_stability(X, 40, n_resamples=2, n_init=1, rng=0).plot()
    ax.figure.canvas.draw()
    ticks = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(ticks))


@pytest.mark.parametrize("name", sweep(["$x_1$", "_hidden", "a_b^{c}$", "50 % \\frac{", "x" * 90, "ünï"], ["$x_1$"]))
def test_names_with_signs_of_formulas_are_written_as_they_are(name):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=[name, "other"])
    found = es.energy_cluster(X, 2, rng=0)
    g = np.repeat([name, "b"], 15)
    results = [es.dispersion(X, g), es.pairwise_tests(X, g, n_resamples=19, rng=0), found, es.cluster_1d(X[name], 2)]
    axes = [result.plot() for result in results] + [found.plot_means(), es.dispersion(X, g).plot_dendrogram()]
    for ax in axes:
        ax.figure.set_layout_engine("none")  # where things stand does not matter here, and takes long to find
        ax.figure.draw_without_rendering()  # a formula that cannot be read would raise
    shown = axes[2].get_xlabel().replace("\\$", "$").strip("'")
    assert shown == name or (len(name) > 40 and shown.startswith("xxx"))


def extents(artists):
    return [artist.get_window_extent() for artist in artists]


def test_the_bound_runs_through_no_label_of_a_bar(rng):
    X = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(4, 1, (40, 2)), rng.normal((0, 6), 1, (40, 2))]
    for k in (2, 3, 5):
        ax = es.energy_cluster(X, k, rng=0).plot_decomposition()
        ax.figure.draw_without_rendering()
        x = ax.get_lines()[0].get_window_extent().x0
        assert not any(box.x0 < x < box.x1 for box in extents(ax.texts[:-1]))
        plt.close("all")


@pytest.mark.slow
def test_the_legend_of_eigengaps_lies_on_no_bar(rng):
    X = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(9, 1, (40, 2))]
    for data in (X, rng.standard_normal((60, 2))):
        for k_max in (3, 8):
            ax = es.select_k(data, k_max, "eigengap", rng=0).plot()
            ax.figure.draw_without_rendering()
            legend = ax.get_legend().get_window_extent()
            assert not any(legend.overlaps(box) for box in extents([*ax.patches, *ax.texts]))
            plt.close("all")


@pytest.mark.parametrize("names", [["x"], ["Quercus robur agg.", "W" * 18, "x"], ["x"] * 3])
def test_headings_of_strata_stay_below_the_title(names, rng):
    X = pd.DataFrame(rng.normal(size=(40, len(names))) + 3 * (np.arange(40) >= 20)[:, None], columns=names)
    X.columns = [f"{name}{j}" if names.count(name) > 1 else name for j, name in enumerate(names)]
    ax = es.segment(X, 2).plot_strata()
    ax.figure.draw_without_rendering()
    title = next(text for text in ax.get_children() if getattr(text, "get_text", str)() == ax.get_title(loc="left"))
    headings = [inset.title for inset in ax.child_axes]
    assert headings[-1].get_text() == "neighbours joined"
    assert all(heading.get_window_extent().y1 < title.get_window_extent().y0 for heading in headings)
    assert title.get_window_extent().y1 <= ax.figure.bbox.y1


def test_the_interval_is_drawn_with_the_form_of_e_that_it_is_of(rng):
    found = es.energy_interval(rng.normal(size=(15, 6)), rng.normal(size=(15, 6)) + 0.7, n_bootstrap=99, rng=0)
    ax = found.plot()
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.lines}
    assert lines == {"E, unbiased": found.unbiased, "E of the samples, biased": found.statistic}
    low, high = found.bootstrap_distribution.min(), found.bootstrap_distribution.max()
    assert low < found.unbiased < high


def test_the_legend_of_power_says_what_the_bars_are(rng):
    x = rng.normal(size=20)
    pilots = es.energy_power(x[:10], x[10:] + 1, [5, 10], n_replicates=20, n_resamples=19, rng=0)
    known = es.energy_power(stats.norm(), stats.norm(1), [5, 10], n_replicates=20, n_resamples=19, rng=0)
    ends = {"pilots": ("pilot_low", "pilot_high"), "known": ("low", "high")}
    said = {"pilots": "power, at the ends of the pilots' interval of E", "known": "power, 95 % interval"}
    for kind, found in (("pilots", pilots), ("known", known)):
        ax = found.plot()
        (bars,) = ax.containers
        assert bars.get_label() == said[kind]
        drawn = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
        np.testing.assert_allclose(drawn, found.table[list(ends[kind])])


@pytest.mark.parametrize("n_groups", [4, 8])
def test_the_legend_of_many_hulls_stands_beside_them(rng, n_groups):
    groups = np.repeat(np.arange(n_groups), 6)
    ax = es.spread_test(rng.normal(size=(6 * n_groups, 3)), groups, n_resamples=99, rng=0).plot()
    ax.figure.draw_without_rendering()
    legend, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert (legend.x0 >= frame.x1) == (n_groups > 4)
    assert legend.x1 <= ax.figure.bbox.x1 + 1


def test_the_legend_of_solid_axes_lies_in_the_figure(rng):
    names = np.repeat(["a group of a long name", "b", "c"], 10)
    ax = es.principal_coordinates(es.pairwise(rng.normal(size=(30, 4)))).plot(dimensions=3, labels=names)
    ax.figure.draw_without_rendering()
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a group of a long name", "b", "c"]
    assert legend.get_window_extent().x1 <= ax.figure.bbox.x1 + 1


def test_a_long_title_never_parts_a_p_value_from_its_name():
    leaf = {"children": (), "height": np.nan, "pvalue": None, "rejected": False}
    root = DrawnNode(children=(1, 2), size=4, height=1.0, label=None, pvalue=0.0571, rejected=False)
    nodes = [root, *(DrawnNode(size=2, label=j, **leaf) for j in range(2))]
    for n in range(80, 101, 2):
        title = "x" * (n - 6) + " y (p = 0.0571), z"
        ax = plot_validation(nodes, lambda _: None, hollow="none uncertain", level=0.05, title=title)
        shown = [text.get_text() for text in ax.texts][-1]
        plt.close(ax.figure)
        assert "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.0571" in shown
        assert shown.replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ") == title
