"""What pictures must not do: names over names or beyond the axes, fractions of ranks, titles without the repair."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import energystats as es

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


@pytest.mark.parametrize("correction", [None, "lingoes"])
@pytest.mark.parametrize("grouped", [False, True])
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
