"""Computations of the significance benchmark: the limit, selective inference, populations, tables."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import binom, chi, kstest

from benchmarks import selective_inference as selective
from benchmarks import significance
from benchmarks import significance_report as report
from benchmarks import unimodal_limit as limit
from benchmarks.significance_tables import TABLES, Method, NotApplicableError, Row, Table, critical_bandwidth
from tests import simulations
from tests.conftest import sweep

# ---------------------------------------------------------------- the limit

positive = arrays(float, st.integers(2, 12), elements=st.floats(0.01, 1.0)).map(lambda f: f / f.sum())


def is_unimodal(g, tol=1e-12):
    signs = np.sign(np.where(np.abs(np.diff(g)) <= tol, 0.0, np.diff(g)))
    signs = signs[signs != 0]
    return np.all(np.diff(signs) <= 0)


@given(positive, positive)
def test_nearest_unimodal_is_unimodal_and_nearer_than_others(f, other):
    g = limit.nearest_unimodal(f)
    assert g.sum() == pytest.approx(1)
    assert is_unimodal(g)
    competitor = np.sort(np.resize(other, f.size))
    competitor = np.concatenate((competitor[::2], competitor[1::2][::-1]))
    assert is_unimodal(competitor)
    assert limit.divergence(f, g) <= limit.divergence(f, competitor / competitor.sum()) + 1e-12


@given(positive)
def test_nearest_unimodal_is_the_distribution_itself_where_that_is_unimodal(f):
    f = np.sort(f)
    f = np.concatenate((f[::2], f[1::2][::-1]))
    assert limit.nearest_unimodal(f) == pytest.approx(f, abs=1e-7)  # the divergence is a square: 1e-14 of it


def test_nearest_unimodal_against_an_optimiser(rng):
    f = rng.dirichlet(np.full(6, 2.0))

    def best_with_mode(mode):
        """Increments of either side as free variables, not negative."""

        def masses(steps):
            g = np.r_[np.cumsum(steps[:mode]), np.cumsum(steps[mode:])[::-1]]
            return g / g.sum()

        found = minimize(
            lambda steps: limit.divergence(f, masses(steps) + 1e-12),
            np.ones(6),
            bounds=[(1e-9, 10.0)] * 6,
            method="L-BFGS-B",
            options={"maxiter": 2000, "ftol": 1e-14},
        )
        return found.fun

    slow = min(best_with_mode(mode) for mode in range(7))
    assert limit.divergence(f, limit.nearest_unimodal(f)) == pytest.approx(slow, abs=2e-5)


def test_the_page_takes_no_table_of_peers_that_were_not_installed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- table A -->\nold\n<!-- end of table -->\n")
    row = next(iter(report.TABLES["A"].rows)).name
    results = {"tables": {"A": {row: {"dip": {"missing": "ModuleNotFoundError: No module named 'diptest'"}}}}}
    with pytest.raises(SystemExit, match="Table A has columns of packages that were not installed"):
        report.rewrite_page(results, page)
    assert "old" in page.read_text()
    assert "ModuleNotFoundError" not in report.PAGE.read_text()


@pytest.mark.parametrize("delta", sweep([0.5, 1.0, 2.0], [1.0]))
def test_limit_of_a_unimodal_mixture_is_the_level(delta, rng):
    found = limit.mixture_limits(limit.two_normals(delta), (50,), rng, draws=400)[50]
    assert found.power == pytest.approx(limit.LEVEL, abs=1e-12)
    assert abs(found.divergence) < 1e-12


@pytest.mark.parametrize("n", [1, 20])
def test_most_powerful_test_of_a_coin(n, rng):
    """Exact: the randomised binomial test of 1/2 against .7."""
    counts = np.arange(n + 1)[::-1]
    null, alternative = binom.pmf(counts, n, 0.5), binom.pmf(counts, n, 0.7)
    spent = np.minimum(np.cumsum(null), limit.LEVEL)
    exact = np.sum(np.diff(np.r_[0.0, spent]) / null * alternative)
    found = limit.most_powerful(np.array([0.3, 0.7]), np.array([0.5, 0.5]), n, rng, draws=40_000)
    assert found.power == pytest.approx(exact, abs=5 * found.error + 0.005)


@pytest.mark.slow
def test_limit_of_the_specification(rng):
    """Three standard deviations apart: .19, .27, .45 for 50, 100, 200 points."""
    found = limit.mixture_limits(limit.two_normals(3), (50, 100, 200), rng, draws=5000)
    for n, power in {50: 0.19, 100: 0.275, 200: 0.45}.items():
        assert found[n].power == pytest.approx(power, abs=5 * found[n].error + 0.01)
    assert found[100].divergence == pytest.approx(0.0057, abs=1e-4)


@pytest.mark.slow
def test_limits_of_circles(rng):
    line, plane = limit.circle_limits((1.0, 3.0), 0.2, 100, rng, draws=1000)
    assert plane.divergence > line.divergence > 0
    assert plane.power > line.power
    rings, edges = limit.ring_masses((1.0, 3.0), 0.2)
    areas = np.diff(edges**2)
    disc = limit.nearest_decreasing(rings, areas)
    assert disc.sum() == pytest.approx(1)
    assert np.all(np.diff(disc / areas) <= 1e-15)


# ---------------------------------------------------------------- selective inference


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)


def partition(X, method):
    """Two clusters by SciPy, from squared distances for average linkage."""
    if method == "ward":
        return fcluster(linkage(X, "ward"), 2, "maxclust")
    squared = ((X[:, None, :] - X) ** 2).sum(axis=2)
    return fcluster(linkage(squared[np.triu_indices(len(X), 1)], "average"), 2, "maxclust")


@pytest.mark.parametrize("method", selective.LINKAGES)
@pytest.mark.parametrize("shape", sweep([(4, 1), (9, 2), (14, 3)], [(9, 2)]))
def test_kept_distances_by_clustering_moved_points(method, shape, rng):
    """The definition: at which distances of the two means are the same clusters found?"""
    for _ in range(5):
        X = rng.standard_normal(shape)
        found = selective.selective_test(X, method)
        assert same_partition(found.labels, partition(X, method))
        one = found.labels == 0
        difference = X[one].mean(axis=0) - X[~one].mean(axis=0)
        assert found.statistic == pytest.approx(np.linalg.norm(difference))
        unit = difference / found.statistic
        for distance in rng.uniform(0, 3 * found.statistic, 60):
            if np.abs(found.allowed - distance).min() < 1e-7:
                continue
            moved = X + np.outer(np.where(one, (~one).mean(), -one.mean()) * (distance - found.statistic), unit)
            inside = np.any((found.allowed[:, 0] < distance) & (distance < found.allowed[:, 1]))
            assert inside == same_partition(found.labels, partition(moved, method))


@pytest.mark.parametrize("d", [1, 2, 10])
def test_truncated_chi_by_integration(d):
    allowed = np.array([[0.2, 0.9], [1.5, 2.5], [3.0, np.inf]])
    for x in (1.6, 3.5, 4.0):
        above = sum(quad(chi(d).pdf, max(a, x), b)[0] for a, b in allowed if b > x)
        everywhere = sum(quad(chi(d).pdf, a, b)[0] for a, b in allowed)
        assert selective.truncated_chi_tail(x, allowed, d) == pytest.approx(above / everywhere, rel=1e-6)


@pytest.mark.parametrize("d", [1, 3, 50])
def test_tail_of_chi_where_it_underflows(d):
    x = np.linspace(5, 25, 41)
    assert selective.log_chi_tail(x, d) == pytest.approx(chi.logsf(x, d), rel=1e-9)
    edge = np.sqrt(2 * (300 + d / 1.0))  # where the computation changes
    around = selective.log_chi_tail(np.array([edge - 1e-9, edge + 1e-9]), d)
    assert around[0] == pytest.approx(around[1], rel=1e-9)
    far = selective.log_chi_tail(np.array([100.0, np.inf]), d)
    assert -5100 < far[0] < -4700
    assert far[1] == -np.inf


def test_complement_of_overlapping_intervals():
    kept = selective.complement(np.array([2.0, -3.0, 2.5, 0.5]), np.array([4.0, -1.0, 3.0, 1.0]))
    assert kept.tolist() == [[0.0, 0.5], [1.0, 2.0], [4.0, np.inf]]
    assert selective.complement(np.array([]), np.array([])).tolist() == [[0.0, np.inf]]


@pytest.mark.slow
@pytest.mark.parametrize("method", selective.LINKAGES)
def test_selective_p_is_uniform_under_its_null(method, rng):
    pvalues = [selective.selective_test(rng.standard_normal((15, 2)), method, 1.0).pvalue for _ in range(400)]
    assert kstest(pvalues, "uniform").pvalue > 1e-4


# ---------------------------------------------------------------- populations and peers


@pytest.mark.parametrize("table_id", TABLES)
def test_rows_can_be_drawn(table_id, rng):
    names = [row.name for row in TABLES[table_id].rows]
    assert len(names) == len(set(names))
    for row in TABLES[table_id].rows:
        assert np.isfinite(row.draw(rng)).all()


def test_populations_are_what_they_say(rng):
    X = simulations.ball(4000, 5)(rng)
    assert kstest(np.linalg.norm(X, axis=1) ** 5, "uniform").pvalue > 1e-5
    assert np.abs(X.mean(axis=0)).max() < 0.05
    X = simulations.serial(0.9, 4000, 1)(rng)[:, 0]
    assert np.corrcoef(X[1:], X[:-1])[0, 1] == pytest.approx(0.9, abs=0.05)
    assert X.std() == pytest.approx(1, abs=0.3)
    X = simulations.many_weak_columns(rng, n=4000)
    assert X.var(axis=0)[:10].mean() == pytest.approx(1 + 0.7**2 / 4, abs=0.05)
    assert X.var(axis=0)[10:].mean() == pytest.approx(1, abs=0.03)
    x = simulations.skew_normal(rng, 4000)
    assert x.mean() == pytest.approx(np.sqrt(2 / np.pi) * 5 / np.sqrt(26), abs=0.06)
    radii = np.linalg.norm(simulations.circles(rng, n=2000), axis=1)
    assert np.mean((np.abs(radii - 1) < 0.8) | (np.abs(radii - 3) < 0.8)) > 0.99


def test_critical_bandwidth_by_counting_modes(rng):
    x = np.r_[rng.standard_normal(60), 4 + rng.standard_normal(40)]
    h = critical_bandwidth(x)
    grid = np.linspace(x.min(), x.max(), 3000)

    def modes(width):
        slopes = np.diff(np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2).sum(axis=1))
        return np.sum((slopes[:-1] > 0) & (slopes[1:] <= 0))

    assert modes(1.05 * h) == 1
    assert modes(0.95 * h) > 1


# ---------------------------------------------------------------- the run and its tables


def small_table(monkeypatch):
    def call(X, rng, row):
        return float(rng.random() ** (2 if row.kind == "alternative" else 1))

    def absent(X, rng, row):
        raise ValueError("no such method")

    rows = (Row("null", simulations.square(5)), Row("other", simulations.square(7), "alternative"))
    methods = {"one": Method(call), "small": Method(call, most=6), "absent": Method(absent)}
    table = Table("A small one", rows, methods, {"null": 40, "alternative": 20})
    monkeypatch.setitem(TABLES, "Z", table)
    return table


def test_cells_do_not_depend_on_the_order(monkeypatch):
    small_table(monkeypatch)
    cells = significance.cells_to_run(significance.empty_results(), ["Z"], [], None, False)
    assert len(cells) == 6
    there = {cell[:3]: significance.run_cell(*cell) for cell in cells}
    back = {cell[:3]: significance.run_cell(*cell) for cell in reversed(cells)}
    for key, found in there.items():
        assert found.get("rates") == back[key].get("rates")
    assert there["Z", "null", "one"]["replicates"] == 40
    assert there["Z", "other", "small"]["missing"].startswith("more than 6 points")
    assert "no such method" in there["Z", "null", "absent"]["missing"]


def test_resumed_runs_do_what_is_missing(monkeypatch, tmp_path):
    small_table(monkeypatch)
    results = significance.empty_results()
    for cell in significance.cells_to_run(results, ["Z"], ["one"], None, False):
        results["tables"].setdefault("Z", {}).setdefault(cell[1], {})[cell[2]] = significance.run_cell(*cell)
    file = tmp_path / "kept.json"
    significance.store(results, file)
    results = significance.load(file)
    assert {cell[2] for cell in significance.cells_to_run(results, ["Z"], [], None, False)} == {"small", "absent"}
    assert len(significance.cells_to_run(results, ["Z"], ["one"], 7, False)) == 2
    assert len(significance.cells_to_run(results, ["Z"], ["one"], None, True)) == 2
    text = report.markdown(results, "Z")
    assert "Replicates: 20 to 40." in text
    assert "Missing: small, absent: not run." in text
    rate = results["tables"]["Z"]["null"]["one"]["rates"]["0.05"]
    assert report.share(rate) in text


def test_methods_see_the_same_samples(monkeypatch):
    seen = []
    table = small_table(monkeypatch)
    table.methods["first"] = Method(lambda X, rng, row: seen.append((X, rng.random())) or 1.0)
    table.methods["second"] = table.methods["first"]
    for method in ("first", "second"):
        significance.one_value("Z", table.rows[0], method, 3)
    (X, u), (Y, v) = seen
    assert np.array_equal(X, Y)
    assert u != v
    with pytest.raises(NotApplicableError):
        significance.one_value("Z", table.rows[1], "small", 0)


def test_page_is_rewritten_between_its_marks(monkeypatch, tmp_path):
    small_table(monkeypatch)
    results = significance.empty_results()
    for cell in significance.cells_to_run(results, ["Z"], ["one"], None, False):
        results["tables"].setdefault("Z", {}).setdefault(cell[1], {})[cell[2]] = significance.run_cell(*cell)
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- table Z -->\nold\n<!-- end of table -->\n\nafter\n")
    report.rewrite_page(results, page)
    once = page.read_text()
    assert "old" not in once
    assert once.startswith("before\n\n<!-- table Z -->\nRejection rates")
    assert once.endswith("<!-- end of table -->\n\nafter\n")
    assert len(re.findall(r"^\| (null|other) \| [.\d*]+ \|$", once, re.MULTILINE)) == 2
    report.rewrite_page(results, page)
    assert page.read_text() == once


def test_the_page_shows_tables_that_exist():
    marks = re.findall(r"<!-- table (\w+) -->", report.PAGE.read_text())
    assert set(marks) <= {*TABLES, "cost", "short", "environment"}
    assert {"A", "B", "C", "D", "E", "F", "L", "S", "cost"} <= set(marks)
