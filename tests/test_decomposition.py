"""Distance components: the dense definition, R, classical analysis of variance, and every way to ask wrongly."""

import dataclasses
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import cache

import formulaic
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, norm
from statsmodels.multivariate.manova import MANOVA
from statsmodels.stats.diagnostic import het_breuschpagan

import energystats as es
from energystats import datasets
from energystats._core import labelings as permutation
from energystats._core.labelings import Exchangeable
from energystats._core.pvalues import koenker_pvalue
from energystats.dissimilarity import Dissimilarity, Groups
from energystats.distribution_tests.disco_result import is_interaction
from tests import definitions
from tests.conftest import SEED, examples, oracles_with, sweep

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")

ALPHAS = [0.5, 1.0, 1.5, 2.0]


def make_frame(rng, n=30):
    return pd.DataFrame(
        {
            "y1": rng.standard_normal(n),
            "y2": rng.lognormal(size=n),
            "a": np.array(["u", "v", "w"])[np.r_[np.arange(6) % 3, rng.integers(3, size=n - 6)]],
            "b": np.array(["p", "q"])[np.r_[np.arange(6) // 3, rng.integers(2, size=n - 6)]],
            "x": rng.random(n),
            "block": np.arange(n) % 4,
        }
    )


@pytest.fixture
def frame(rng):
    return make_frame(rng)


def columns(terms, frame):
    return np.asarray(formulaic.model_matrix(terms, frame), dtype=float)


# ---------------------------------------------------------------- against the definition

MODELS = {  # term, the model it is added to, the model with it
    ("a * b + x", "sequential"): [("a", "1", "a"), ("b", "a", "a + b"), ("x", "a + b", "a + b + x"),
                                  ("a:b", "a + b + x", "a * b + x")],
    ("a * b + x", "marginal"): [("a", "b + x", "a + b + x"), ("b", "a + x", "a + b + x"), ("x", "a * b", "a * b + x"),
                                ("a:b", "a + b + x", "a * b + x")],
    ("x + a:b", "marginal"): [("x", "a:b", "x + a:b"), ("a:b", "x", "x + a:b")],
    ("a + a:x", "marginal"): [("a", "1", "a"), ("a:x", "a", "a + a:x")],
    ("poly(x, 2) + b", "sequential"): [("poly(x, 2)", "1", "poly(x, 2)"), ("b", "poly(x, 2)", "poly(x, 2) + b")],
    ("a:x + b:x", "marginal"): [("a:x", "b:x", "a:x + b:x"), ("b:x", "a:x", "a:x + b:x")],
}  # fmt: skip


@pytest.mark.parametrize(("model", "decomposition"), MODELS)
@pytest.mark.parametrize("strata", sweep([None, "block"], ["block"]))
def test_terms_match_their_definition(frame, rotating_seed, model, decomposition, strata):
    n, m = len(frame), 39
    result = es.disco(
        f"y1 + y2 ~ {model}",
        data=frame,
        decomposition=decomposition,
        n_resamples=m,
        design=es.Design(strata=strata),
        rng=rotating_seed,
    )
    key = permutation.draw_key(np.random.default_rng(rotating_seed))
    blocks = (np.arange(n),) if strata is None else tuple(np.flatnonzero(frame["block"] == j) for j in range(4))
    orders = np.concatenate(list(Exchangeable(np.arange(n), blocks).random(m, key)))
    Y = frame[["y1", "y2"]].to_numpy()
    R = es.pairwise(Y)
    full = columns(model, frame)

    def counted(R, parts):
        S, W = definitions.linear_dispersions(R, *parts)
        null = [definitions.linear_dispersions(R, *parts, np.argsort(order)) for order in orders]
        return S, W, null, (1 + sum(s / w >= S / W * (1 - 1e-9) for s, w in null)) / (m + 1)

    whole = [("the model", "1", model)]
    found = [*result.terms, result]
    for row, (name, reduced, larger) in zip(found, MODELS[model, decomposition] + whole, strict=True):
        parts = (columns(reduced, frame), columns(larger, frame), full)
        S, W, null, p = counted(R, parts)
        df = np.linalg.matrix_rank(parts[1]) - np.linalg.matrix_rank(parts[0])
        F = (S / df) / (W / result.df_residual)
        if row is result:
            assert row.pvalue == pytest.approx(p)
            assert result.statistic == pytest.approx(F)
            continue
        if strata is not None:  # every model has the strata; F of the table has not
            parts = tuple(np.column_stack((part, np.eye(4)[frame["block"]])) for part in parts)
            p = counted(R, parts)[3]
        assert row.pvalue_features == pytest.approx(p), name
        if reduced != "1":  # residuals of least squares, in place of the points
            fitted = parts[0] @ np.linalg.lstsq(parts[0], Y, rcond=None)[0]
            in_location = counted(es.pairwise(Y - fitted), parts)[3]
            assert row.pvalue_location == pytest.approx(in_location), name
            p = max(p, in_location) if ":" in name else in_location
            lengths = np.linalg.norm(Y - fitted, axis=1)
            if ":" in name and np.square(lengths).mean() > 1.9 * lengths.mean() ** 2:  # heavy tails: of means, too
                p = max(p, counted(es.pairwise(Y, alpha=2), parts)[3])
        assert row.pvalue == pytest.approx(p), name
        assert (row.name, row.df) == (name, df)
        assert_allclose([row.dispersion, result.residual], [S, W], atol=1e-10 * result.total)
        assert row.f == pytest.approx(F, abs=1e-9)
        assert row.share == pytest.approx(S / result.total, abs=1e-12)
    null = np.array([s / w for s, w in null]) * result.df_residual / (n - 1 - result.df_residual)
    assert_allclose(result.null_distribution, null, rtol=1e-9)


def test_a_single_factor_is_the_energy_test(frame, rotating_seed):
    how = {"n_resamples": 99, "rng": rotating_seed}
    plain = es.energy_test(frame[["y1", "y2"]], groups=frame["a"], statistic="f", **how)
    for result in (
        es.disco(frame[["y1", "y2"]], groups=frame["a"], **how),
        es.disco("y1 + y2 ~ a", data=frame, **how),
        es.disco("y1 + y2 ~ a", data=frame, decomposition="marginal", **how),
        es.disco(frame[["y1", "y2"]], "~ a", data=frame, **how),
        es.disco(es.pairwise(frame[["y1", "y2"]]), "~ a", data=frame, metric="precomputed", **how),
    ):
        row = result.table.loc["a"]
        assert result.statistic == pytest.approx(plain.statistic)
        assert row["F"] == result.statistic
        assert result.pvalue == row["pvalue"] == plain.pvalue
        assert row["dispersion"] == pytest.approx(plain.between)
        assert_allclose(result.null_distribution, plain.null_distribution, atol=1e-9)
        assert list(result.table.index) == ["a", "Residual", "Total"]
        assert list(result.table["df"]) == [2, 27, 29]


def test_small_single_factors_are_enumerated():
    result = es.disco("y ~ g", data=pd.DataFrame({"y": [1.0, 2, 3, 4, 5, 6], "g": list("aaabbb")}))
    assert (result.method, result.n_resamples, result.pvalue) == ("exact", 20, 0.1)
    blocks = es.disco([1.0, 2, 3, 4], groups=[0, 1, 0, 1], design=es.Design(strata=[0, 0, 1, 1]))
    assert (blocks.method, blocks.n_resamples, blocks.n_strata) == ("exact", 4, 2)


def test_a_single_covariate_is_permuted(frame, rotating_seed):
    result = es.disco("y1 ~ x", data=frame, n_resamples=99, rng=rotating_seed)
    assert result.method == "permutation"
    assert result.pvalue == result.terms[0].pvalue
    assert result.terms[0].df == 1


# ---------------------------------------------------------------- against R


@oracles_with("disco_index1")
@pytest.mark.parametrize("by", sweep(["groups", "formula", "covariates"], ["groups", "covariates"]))
@pytest.mark.parametrize("alpha", sweep(ALPHAS, [0.5, 2.0]))
def test_disco_of_r(oracle, alpha, by):
    expected = oracle.values[f"disco_index{alpha:g}"]
    data, how = oracle.powered(alpha)
    labels = pd.DataFrame({"g": oracle.labels})
    how |= {"n_resamples": 1, "rng": 0, "method": "permutation"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        if by == "groups":
            result = es.disco(data, groups=oracle.labels, **how)
        elif by == "formula":
            result = es.disco(data, "~ g", data=labels, **how)
        else:  # indicators one by one go the way of several terms
            frame = (
                pd.get_dummies(labels["g"], dtype=float)
                .iloc[:, 1:]
                .set_axis([f"g{j}" for j in range(1, len(oracle.record["groups"]))], axis=1)
            )
            result = es.disco(data, "~ " + " + ".join(frame.columns), data=frame, **how)
    slack = 1e-9 * expected["total"]
    assert result.residual == pytest.approx(expected["within"], abs=slack)
    assert result.total == pytest.approx(expected["total"], abs=slack)
    assert sum(row.dispersion for row in result.terms) == pytest.approx(expected["between"], abs=slack)
    assert sum(row.df for row in result.terms) == expected["df_between"]
    assert result.df_residual == expected["df_within"]
    F = float(expected["F"])
    if np.isfinite(F):
        assert_allclose(result.statistic, F, rtol=1e-9 * (1 + abs(expected["total"] / expected["within"])))


@oracles_with("permanova")
def test_squared_distances_are_permanova(oracle):
    expected = oracle.values["permanova"]
    data, how = oracle.powered(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        table = es.disco(data, groups=oracle.labels, n_resamples=1, **how).table
    slack = 1e-9 * expected["SS_total"]
    assert_allclose(
        table["dispersion"], [expected["SS_between"], expected["SS_within"], expected["SS_total"]], atol=slack
    )
    assert_allclose(table["R2"].iloc[0], expected["R2"], atol=1e-9)


@oracles_with("within_per_group_index1")
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5])
def test_residual_is_the_sum_of_the_groups(oracle, alpha):
    data, how = oracle.powered(alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        result = es.disco(data, groups=oracle.labels, n_resamples=1, **how)
    expected = np.sum(np.array(oracle.values[f"within_per_group_index{alpha:g}"], dtype=float))
    assert result.residual == pytest.approx(expected, abs=1e-9 * result.total)


# ---------------------------------------------------------------- against classical analysis of variance


@pytest.mark.parametrize(
    ("model", "decomposition", "kind"),
    [
        *((model, "sequential", 1) for model in ("a", "a + b", "a * b", "a + x", "a + np.log(x) + I(x**2)")),
        *((model, "marginal", 2) for model in ("a + b", "a * b", "a * b + x", "x * a", "b + np.log(x) + I(x**2)")),
    ],
)  # statsmodels puts covariates last, which matters for kind 1
def test_squared_distances_are_analysis_of_variance(frame, model, decomposition, kind):
    """Over several responses the sums of squares add up."""
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    result = es.disco(f"y1 + y2 ~ {model}", data=frame, alpha=2.0, decomposition=decomposition, n_resamples=1)
    fits = [smf.ols(f"{y} ~ {model}", data=frame).fit() for y in ("y1", "y2")]
    tables = [sm.stats.anova_lm(fit, typ=kind) for fit in fits]
    expected = tables[0]["sum_sq"] + tables[1]["sum_sq"]
    found = result.table["dispersion"]
    names = list(expected.index)
    assert_allclose(found[names], expected, rtol=1e-8, atol=1e-12 * float(np.max(expected)))
    assert_allclose(result.table.loc[names, "df"], tables[0]["df"])
    assert found.drop("Total").sum() == pytest.approx(found["Total"])
    alone = es.disco(f"y1 ~ {model}", data=frame, alpha=2.0, decomposition=decomposition, n_resamples=1)
    assert_allclose(alone.table.loc[names, "F"].dropna(), tables[0]["F"].dropna(), rtol=1e-8, atol=1e-9)
    assert alone.statistic == pytest.approx(fits[0].fvalue)


def test_squared_distances_are_traces_of_manova(frame):
    """The hypothesis and error matrices of a multivariate analysis, of a factor and a covariate."""
    found = MANOVA.from_formula("y1 + y2 ~ a + x", data=frame).mv_test().results
    result = es.disco("y1 + y2 ~ a + x", data=frame, alpha=2.0, decomposition="marginal", n_resamples=1)
    for row in result.terms:
        assert row.dispersion == pytest.approx(np.trace(found[row.name]["H"]))
    assert result.residual == pytest.approx(np.trace(found["a"]["E"]))


# ---------------------------------------------------------------- properties


@st.composite
def models(draw):
    frame = make_frame(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(14, 25)))
    return frame, draw(st.sampled_from(["a * b", "a + b + x", "x * b", "b + a:b", "a * b + poly(x, 2)"]))


@given(models(), st.sampled_from(ALPHAS), st.sampled_from(["sequential", "marginal"]))
@settings(max_examples=examples(30), deadline=None)
def test_rows_sum_to_the_total(case, alpha, decomposition):
    frame, model = case
    result = es.disco(f"y1 + y2 ~ {model}", data=frame, alpha=alpha, decomposition=decomposition, n_resamples=1)
    table = result.table
    for name in ("dispersion", "df", "R2"):
        assert table[name].drop("Total").sum() == pytest.approx(table[name]["Total"])
    assert table["dispersion"]["Total"] == pytest.approx(
        es.dispersion(frame[["y1", "y2"]], [0] * len(frame), alpha=alpha).total
    )
    assert ("Overlap" in table.index) == (decomposition == "marginal")
    assert (table["dispersion"].drop("Overlap", errors="ignore") >= -1e-9).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(ALPHAS), st.integers(2, 4))
@settings(max_examples=examples(20), deadline=None)
def test_order_does_not_matter_in_orthogonal_designs(seed, alpha, repeats):
    rng = np.random.default_rng(seed)
    cells = [(i, j) for i in "uvw" for j in "pq"] * repeats
    frame = pd.DataFrame(cells, columns=["a", "b"]).assign(y=rng.standard_normal(len(cells)))
    how = {"data": frame, "alpha": alpha, "n_resamples": 19, "rng": seed}
    first, second = es.disco("y ~ a * b", **how).table, es.disco("y ~ b * a", **how).table
    second = second.rename(index={"b:a": "a:b"})
    assert_allclose(first["dispersion"], second.loc[first.index, "dispersion"], rtol=1e-8)
    marginal = es.disco("y ~ a * b", decomposition="marginal", **how).table
    assert_allclose(first["dispersion"], marginal.loc[first.index, "dispersion"], rtol=1e-8)
    assert marginal.loc["Overlap", "dispersion"] == 0


@given(models(), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(20), deadline=None)
def test_names_of_levels_do_not_matter(case, seed):
    frame, model = case
    how = {"n_resamples": 39, "rng": seed}
    first = es.disco(f"y1 + y2 ~ {model}", data=frame, **how)
    named = frame.assign(a=frame["a"].map({"u": "z", "v": "m", "w": "c"}), b=frame["b"].map({"p": "two", "q": "one"}))
    second = es.disco(f"y1 + y2 ~ {model}", data=named, **how)
    assert second.pvalue == first.pvalue
    assert [row.pvalue for row in second.terms] == [row.pvalue for row in first.terms]
    assert_allclose(second.table["dispersion"], first.table["dispersion"], atol=1e-9 * first.total)


@pytest.mark.parametrize("scale", [1e-120, 1e-8, 1e8, 1e120])
def test_the_unit_does_not_matter(frame, rotating_seed, scale):
    how = {"data": frame, "n_resamples": 39, "rng": rotating_seed}
    first = es.disco(frame[["y1"]], "~ a * b", **how)
    second = es.disco(frame[["y1"]] * scale, "~ a * b", **how)
    assert_allclose(second.table["R2"], first.table["R2"], rtol=1e-7)
    assert [row.pvalue for row in second.terms] == [row.pvalue for row in first.terms]


def test_sorted_sums_give_what_the_matrix_gives(frame, rotating_seed):
    how = {"data": frame, "n_resamples": 99, "rng": rotating_seed}
    x = frame["y1"] + 1e4
    line = es.disco(x, "~ a * b + x", **how)
    matrix = es.disco(es.pairwise(x), "~ a * b + x", metric="precomputed", **how)
    pd.testing.assert_frame_equal(line.table.drop(columns="pvalue"), matrix.table.drop(columns="pvalue"), rtol=1e-8)
    assert [row.pvalue_features for row in line.terms] == [row.pvalue for row in matrix.terms]
    assert_allclose(line.null_distribution, matrix.null_distribution, rtol=1e-7)


def test_tiles_give_what_the_matrix_gives(frame, rotating_seed, monkeypatch):
    how = {"data": frame, "n_resamples": 99, "rng": rotating_seed}
    stored = es.disco("y1 + y2 ~ a * b + x", **how)
    monkeypatch.setattr("energystats.pairs.tiles.STORED_UP_TO", 0)
    monkeypatch.setattr("energystats.pairs.tiles.TILE_ROWS", 7)
    monkeypatch.setattr("energystats._core.linear_models.BASIS_BYTES", 1)
    pd.testing.assert_frame_equal(es.disco("y1 + y2 ~ a * b + x", **how).table, stored.table, rtol=1e-9)


def test_same_seed_same_table(frame):
    first, again, other = (es.disco("y1 ~ a * b + x", data=frame, n_resamples=99, rng=s).table for s in (1, 1, 2))
    assert first.equals(again)
    assert first["dispersion"].equals(other["dispersion"])
    assert not first.equals(other)


@pytest.mark.parametrize("decomposition", ["sequential", "marginal"])
def test_identical_points_are_no_evidence(frame, decomposition):
    result = es.disco(np.full(30, 0.1), "~ a * b + x", data=frame, decomposition=decomposition, n_resamples=19, rng=0)
    assert result.pvalue == 1
    assert [row.pvalue for row in result.terms] == [1] * 4
    assert [row.f for row in result.terms] == [0] * 4
    assert es.disco(np.full(30, 0.1), groups=frame["a"], n_resamples=19, rng=0).pvalue == 1


def test_a_perfect_fit_has_an_infinite_f():
    """If the model explains everything, only orders with a perfect fit are as extreme."""
    frame = pd.DataFrame({"a": np.repeat(["u", "v"], 20), "x": np.tile([0.0, 1.0], 20)})
    result = es.disco((frame["a"] == "u") * 1.0, "~ a + x", data=frame, n_resamples=199, rng=0)
    assert result.statistic == result.terms[0].f == np.inf
    assert result.terms[0].pvalue <= 0.05
    assert result.terms[1].f == 0
    assert result.terms[1].pvalue == 1


# ---------------------------------------------------------------- strata, missing values, formulas


def test_terms_constant_within_strata_have_no_p(rng):
    frame = pd.DataFrame({"plot": np.repeat(range(8), 4), "field": np.repeat(["n", "s"], 16), "dose": list("abcd") * 8})
    frame["y"] = rng.standard_normal(32) + 9.0 * frame["plot"]
    result = es.disco("y ~ field + dose", data=frame, design=es.Design(strata="plot"), n_resamples=99, rng=0)
    assert result.n_strata == 8
    assert np.isnan(result.table.loc["field", "pvalue"])
    assert 0 < result.table.loc["dose", "pvalue"] <= 1
    said = " ".join(result.summary().split())
    assert (
        "Without p, because constant within every stratum, or adding nothing there to the terms adjusted for: field."
        in said
    )
    assert "within any stratum" in result.null_hypothesis
    array = es.disco(
        "y ~ field + dose", data=frame, design=es.Design(strata=frame["plot"].tolist()), n_resamples=99, rng=0
    )
    assert array.table.equals(result.table)


def test_strata_take_care_of_block_effects(rng):
    blocks = np.repeat(np.arange(10), 4)
    frame = pd.DataFrame({"block": blocks, "g": np.tile(list("aabb"), 10), "x": np.tile([0.0, 1, 2, 3], 10)})
    y = 100.0 * blocks + 3 * (frame["g"] == "b") + 0.1 * rng.standard_normal(40)
    within = es.disco(y, "~ g + x", data=frame, design=es.Design(strata="block"), rng=0)
    assert within.table.loc["g", "pvalue"] <= 0.01
    assert es.disco(y, "~ g + x", data=frame, rng=0).table.loc["g", "pvalue"] > 0.05


@pytest.mark.parametrize("model", ["a", "a * b + x"])
def test_incomplete_rows_are_dropped_everywhere(frame, model):
    how = {"n_resamples": 39, "rng": 0}
    Y, gaps = frame[["y1", "y2"]], frame.copy()
    gaps.loc[7, "a"] = None
    gaps.loc[9, "block"] = np.nan
    holes = Y.copy()
    holes.iloc[8, 0] = np.nan
    whole = frame.drop(index=[7, 8, 9]).reset_index(drop=True)
    expected = es.disco(f"y1 + y2 ~ {model}", data=whole, design=es.Design(strata="block"), **how).table
    how |= {"design": es.Design(strata="block"), "missing": "drop"}
    with pytest.warns(es.MissingValuesWarning, match=r"3 of 30 rows were left out .*a 1.*`X` 1, `strata` 1"):
        found = es.disco(holes, f"~ {model}", data=gaps, **how).table
    pd.testing.assert_frame_equal(found, expected)
    with pytest.warns(es.MissingValuesWarning, match=r"3 of 30 rows were left out .*y1 1"):
        found = es.disco(f"y1 + y2 ~ {model}", data=gaps.assign(y1=holes["y1"]), **how).table
    pd.testing.assert_frame_equal(found, expected)
    whole = frame.drop(index=[7, 9]).reset_index(drop=True)
    plain = es.disco(f"y1 + y2 ~ {model}", data=whole, design=es.Design(strata="block"), n_resamples=39, rng=0)
    expected = plain.table.drop(columns="pvalue")  # of a matrix there are no residuals of coordinates
    square = es.pairwise(Y).to_numpy()
    for R in (square, square[np.triu_indices(30, 1)]):
        with pytest.warns(es.MissingValuesWarning, match="2 of 30 rows"):
            found = es.disco(R, f"~ {model}", data=gaps, metric="precomputed", **how)
        pd.testing.assert_frame_equal(found.table.drop(columns="pvalue"), expected, rtol=1e-9)
        assert [row.pvalue for row in found.terms] == [row.pvalue_features for row in plain.terms]


def test_incomplete_rows_are_dropped_with_groups(frame):
    groups = frame["a"].where(frame.index != 4)
    X = frame[["y1", "y2"]].to_numpy(copy=True)
    X[5, 1] = np.nan
    kept = np.r_[0:4, 6:30]
    expected = es.disco(X[kept], groups=frame["a"].to_numpy()[kept], n_resamples=39, rng=0)
    with pytest.warns(
        es.MissingValuesWarning, match=r"2 of 30 rows were left out for missing values \(`X` 1, `groups` 1\)"
    ):
        found = es.disco(X, groups=groups.to_numpy(), missing="drop", n_resamples=39, rng=0)
    pd.testing.assert_frame_equal(found.table, expected.table)
    with pytest.raises(ValueError, match=r'2 of 30 rows \(`X` 1, `groups` 1\).*`missing="drop"`'):
        es.disco(X, groups=groups.tolist())


def test_formulas_may_transform_quote_and_abbreviate(frame):
    frame = frame.assign(**{"odd name": frame["x"] ** 2, "level": np.arange(30) % 3, "unused": 1.0})
    table = es.disco("log(y2) + np.sqrt(y2) ~ C(level) + I(x * 2) + `odd name`", data=frame, n_resamples=9, rng=0).table
    assert list(table.index[:3]) == ["C(level)", "I(x * 2)", "odd name"]
    assert list(table["df"][:3]) == [2, 1, 1]
    responses = np.column_stack([np.log(frame["y2"]), np.sqrt(frame["y2"])])
    same = es.disco(responses, "~ C(level) + x + `odd name`", data=frame, n_resamples=9, rng=0).table
    assert_allclose(table["dispersion"], same["dispersion"], rtol=1e-9)
    assert es.disco("y1 ~ level", data=frame, n_resamples=9).terms[0].df == 1  # a number unless C()
    everything = es.disco("y1 ~ .", data=frame[["y1", "a", "x"]], n_resamples=9)
    assert [row.name for row in everything.terms] == ["a", "x"]


def test_unused_categories_are_no_levels(frame):
    level = pd.Categorical(frame["a"], categories=["z", "w", "v", "u"])
    found = es.disco("y1 ~ a * b", data=frame.assign(a=level), n_resamples=9, rng=0).table
    assert_allclose(found["dispersion"], es.disco("y1 ~ a * b", data=frame, n_resamples=9, rng=0).table["dispersion"])


def test_dtypes_that_know_missing_values(frame):
    frame = frame.assign(k=np.arange(30) % 4, t=np.arange(30) % 5 < 2)
    how = {"n_resamples": 9, "rng": 0}
    expected = es.disco("y1 ~ a + k + t", data=frame, **how).table
    nullable = frame.astype({"y1": "Float64", "a": "string", "k": "Int64", "t": "boolean"})
    pd.testing.assert_frame_equal(es.disco("y1 ~ a + k + t", data=nullable, **how).table, expected)
    nullable.loc[3, "k"] = pd.NA
    with pytest.warns(es.MissingValuesWarning, match=r"1 of 30 rows was left out for missing values \(k 1\)"):
        found = es.disco("y1 ~ a + k + t", data=nullable, missing="drop", **how).table
    pd.testing.assert_frame_equal(found, es.disco("y1 ~ a + k + t", data=frame.drop(index=3), **how).table)


def test_nested_factors_are_added(frame):
    frame = frame.assign(site=np.arange(30) // 3, region=np.arange(30) // 15)
    table = es.disco("y1 ~ C(region) + C(site)", data=frame, n_resamples=9, rng=0).table
    assert list(table["df"]) == [1, 8, 20, 29]


def test_covariates_that_look_like_numbers_of_groups_are_noted(frame):
    frame = frame.assign(block=np.arange(30) % 5 + 1, dose=np.arange(30) % 5 * 10.0, two=np.arange(30) % 2)
    words = "'block' holds the numbers 1 to 5 and is a covariate, with one slope; C(block) makes groups of them."

    def notes(model):
        return " ".join(es.disco(model, data=frame, n_resamples=9, rng=0).notes)

    assert words in notes("y1 ~ block")
    frame["gaps"] = np.array([0, 1, 2, 4])[np.arange(30) % 4]
    frame["doses"] = np.array([1, 2, 4, 8])[np.arange(30) % 4]
    assert "'gaps' holds the numbers 0, 1, 2, 4 and is a covariate" in notes("y1 ~ gaps + doses")
    assert "doses" not in notes("y1 ~ gaps + doses")
    assert words in notes("y1 + y2 ~ a + block")
    for model in ("y1 ~ C(block)", "y1 ~ dose", "y1 ~ two + dose", "y1 ~ x", "block ~ a"):
        assert "is a covariate" not in notes(model)


def test_an_offset_of_a_covariate_does_not_matter(frame):
    frame = frame.assign(year=2000 + frame["x"], seconds=1.7e9 + 100 * frame["x"])
    expected = es.disco("y1 ~ x + I(x**2)", data=frame, n_resamples=9, rng=0).table["dispersion"].to_numpy()
    found = es.disco("y1 ~ year + I(year**2)", data=frame, n_resamples=9, rng=0).table["dispersion"]
    assert_allclose(found, expected, rtol=1e-5)
    found = es.disco("y1 ~ seconds + b", data=frame, n_resamples=9, rng=0).table["dispersion"]
    expected = es.disco("y1 ~ x + b", data=frame, n_resamples=9, rng=0).table["dispersion"].to_numpy()
    assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(("apart", "df"), [(1e-5, 1), (1e-6, 1)])
def test_columns_that_nearly_agree_are_two(frame, apart, df):
    frame["z"] = frame["x"] + apart * frame["y1"] ** 2
    found = es.disco("y1 + y2 ~ x + z", data=frame, n_resamples=9, rng=0)
    assert [term.df for term in found.terms] == [1, df]


def test_a_far_offset_leaves_a_covariate_what_it_is(frame):
    frame["far"] = np.round(frame["x"] * 1024) + 2.0**46
    frame["near"] = np.round(frame["x"] * 1024)
    far, near = (es.disco(f"y1 + y2 ~ {name}", data=frame, n_resamples=9, rng=0).terms[0] for name in ("far", "near"))
    assert far.df == near.df == 1
    assert far.dispersion == pytest.approx(near.dispersion)


def test_standardize(frame):
    scaled = frame.assign(y1=frame["y1"] * 50)
    found = es.disco("y1 + y2 ~ a", data=scaled, standardize=True, n_resamples=9, rng=0)
    expected = es.disco("y1 + y2 ~ a", data=frame, standardize=True, n_resamples=9, rng=0)
    assert_allclose(found.table["dispersion"], expected.table["dispersion"])
    assert found.standardization is not None


# ---------------------------------------------------------------- bad input

N = 24
BAD = pd.DataFrame(
    {
        "y1": np.arange(N) % 7 + 0.5,
        "y2": np.arange(N) % 5 + 1.0,
        "a": list("uv") * 12,
        "b": list("ppqqrr") * 4,
        "x": np.arange(N) / 3,
        "twice": np.arange(N) / 1.5,
        "same": list("mn") * 12,
        "one": "k",
        "still": 0.1,
        "name": [f"r{i}" for i in range(N)],
        "half": np.repeat(["L", "R"], 12),
        "site": np.arange(N) // 4,
        "truth": np.arange(N) % 2 == 0,
        "when": pd.date_range("2020-01-01", periods=N),
    }
)
Y = BAD[["y1", "y2"]]
GAPS = BAD.assign(y1=BAD["y1"].where(BAD.index > 1), a=BAD["a"].where(BAD.index != 5))


@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        (["y1 ~ one"], {}, r"`formula`: one has one level only, 'k'; leave it out"),
        (["y1 ~ a + C(still)"], {}, r"`formula`: C\(still\) has one level only, 0.1"),
        (["y1 ~ still"], {}, r"`formula`: still does not vary"),
        (["y1 ~ a + still"], {}, r"`formula`: still adds nothing but rounding to the terms it is adjusted for"),
        (["y1 ~ half * C(site)"], {}, r"`formula`: half:C\(site\) needs rows in every cell, but there are none with half = 'L' and C\(site\) = 3, nor in 5 other cells"),
        (["y1 ~ a * same"], {}, r"`formula`: a:same needs rows in every cell, but there are none with a = 'u' and same = 'n'"),
        (["y1 ~ a + same"], {}, r"`formula`: same adds nothing but rounding to the terms it is adjusted for; leave it out"),
        (["y1 ~ a + same"], {"decomposition": "marginal"}, r"`formula`: a adds nothing"),
        (["y1 ~ x + b + twice"], {}, r"`formula`: twice adds nothing"),
        (["y1 ~ name"], {}, r"'name' holds another text in each of the 24 rows, so that no residual is left"),
        (["y1 ~ a + name"], {}, r"'name' holds another text in each of the 24 rows"),
        (["y1 ~ aa"], {}, r"`formula` needs 'aa', but `data` has no such column. Did you mean 'a'\?"),
        (["y1 ~ C(nowhere)"], {}, r"`formula` needs 'nowhere', but `data` has no such column. Columns: 'y1', 'y2', 'a'"),
        (["y1 ~ a + nofun(x)"], {}, r"`formula` needs 'nofun'"),
        (["~ a"], {}, r"`formula` must name its responses before ~"),
        (["1 ~ a"], {}, r"`formula` must name its responses before ~"),
        ([Y, "y1 ~ a"], {}, r"`formula` must have nothing before ~ when `X` is given, got 'y1 ~ a'"),
        (["a ~ b"], {}, r"`formula` must have numeric responses .* but a is categorical"),
        (["truth ~ b"], {}, r"`formula` must have numeric responses .* but truth holds truth values; truth.astype\(int\)"),
        (["y1 ~ as.factor(a)"], {}, r"Formulas are run as Python, where as.factor is no function: write C\(a\) for as.factor\(a\)\."),
        (["y1 ~ b + as.factor(`a`):x"], {}, r"write C\(`a`\) for as.factor\(`a`\)"),
        (["y1 ~ I(as.numeric(x))"], {}, r"write x for as.numeric\(x\) if it holds numbers, which are a covariate; for the codes"),
        (["y1 ~ as.factor(cut(x, 3))"], {}, r"where as.factor is no function: write C\(g\) for"),
        (["as.matrix(y1) ~ a"], {}, r"write a column of `data`, computed beforehand, for as.matrix\(\)"),
        (["y1 ~ ns(x, 4)"], {}, r"needs 'ns', .*: write cr\(x, df=k \+ 1\) for ns\(x, k\)"),
        (["y1 ~ a + Error(b)"], {}, r"needs 'Error', .*: write the terms alone, and give the units as `strata`"),
        (["y1 ~ b + Condition(a)"], {}, r"needs 'Condition', .* first, as in ~ z \+ g, with decomposition="),
        (["y1 ~ poly(x, 2, raw=TRUE)"], {}, r"needs 'TRUE', .*: write True\."),
        (["y1 ~ a + (1 | b)"], {}, r"cannot be read: .*; blocks and random effects are no terms here: give them as `s"),
        (["y1 ~ factor(a)"], {}, r"`formula` needs 'factor', .* Formulas are run as Python: write C\(\), as in C\(g\)"),
        (["cbind(y1, y2) ~ a"], {}, r"`formula` needs 'cbind', .* write the responses joined by \+"),
        (["y1[1:5] ~ a"], {}, r"y1\[1:5\] has 4 rows, and `data` has 24"),
        (["y1 * y2 ~ b"], {}, r"`formula` must have numeric responses joined by \+ .* but \* computes nothing there"),
        (["y1 ~ a"], {"data": None}, r"`data` is missing"),
        (["y1 ~ a"], {"data": BAD.iloc[:0]}, r"`data` must have at least one row"),
        ([Y[:9], "~ a"], {}, r"`data` must have one row for each of the 9 points of `X`, got 24"),
        ([Y.set_axis(range(5, 29)), "~ a"], {}, r"`data` must have the index of the table"),
        ([Y, "~ a"], {"groups": BAD["a"]}, r"`groups` and a formula ask two questions"),
        (["y1 ~ a", "~ b"], {}, r"`X` must be points or a matrix when `formula` is given, got two formulas"),
        (["y1 ~ a +"], {}, r"`formula` 'y1 ~ a \+' cannot be read: a term is missing beside \+\."),
        (["y1 ~ a["], {}, r"`formula` 'y1 ~ a\[' cannot be read"),
        (["y1 ~ a b"], {}, r"`formula` 'y1 ~ a b' cannot be read: Missing operator"),
        (["y1 ~ a | b"], {}, r"`formula` must have one part on each side of ~"),
        (["y1"], {}, r"`formula` must have a ~ before its terms"),
        (["y1 ~ a - 1"], {}, r"`formula` must keep its intercept: take `0 \+` or `- 1` out of 'y1 ~ a - 1'"),
        (["y1 ~ 0 + a"], {}, r"`formula` must keep its intercept"),
        (["y1 ~ 1"], {}, r"`formula` must have a term after ~, got 'y1 ~ 1'"),
        (["y1 ~ a + log(x)"], {}, r"`formula` must give finite numbers, but row 0 of `data` has -inf in log\(x\); transform"),
        (["log(y1 - 0.5) ~ a"], {}, r"row 0 of `data` has -inf in log\(y1 - 0.5\) \(4 of 24 rows are not finite\)"),
        (["y1 ~ C(a, 7)"], {}, r"`formula` 'y1 ~ C\(a, 7\)' cannot be evaluated: .* coding such as contr.sum, got 7"),
        (["y1 ~ C(a, 'x y')"], {}, r"the reference level is chosen by contr.treatment\('x y'\)"),
        (["y1 ~ C(a, contr.dummy)"], {}, r"there is no coding contr.dummy; there are contr.treatment, contr.sum"),
        (["y1 ~ a + b +"], {}, r"cannot be read: a term is missing beside \+\."),
        (["y1 ~ x > 0"], {}, r"cannot be read: columns are compared in I\(\) alone, as in I\(x > 0\)"),
        (["y1 ~ x == 0"], {}, r"as in I\(x > 0\)"),
        (["y1 ~ sorted(x)"], {}, r"sorted\(\) in sorted\(x\) puts the rows in another order than the other columns"),
        (["y1 ~ np.sort(x)"], {}, r"sort\(\) in np.sort\(x\) puts the rows in another order"),
        (["y1 ~ C()"], {}, r"C\(\) needs a column, as in C\(g\)"),
        (["y1 ~ when"], {}, r"`formula` must not take dates as they are, but column 'when' has"),
        (["y1 ~ a"], {"data": GAPS}, r'missing in 3 of 24 rows \(y1 2, a 1\); fill them in, .*`missing="drop"`'),
        (["y1 ~ a"], {"data": GAPS.assign(y1=np.nan), "missing": "drop"}, r'`missing="drop"` leaves no row'),
        (["y1 ~ a + x"], {"method": "exact"}, r'`method="exact"` is for a single factor'),
        (["y1 ~ half"], {"design": es.Design(strata="site")}, r"`strata` must leave something to permute"),
        (["y1 ~ half + C(site)"], {"design": es.Design(strata="site")}, r"`strata` must leave something to permute, but in each of its 6 blocks all rows have the same half, C\(site\)"),
        (["y1 ~ a"], {"design": es.Design(strata="stie")}, r"`strata` must be one label a row or a column of `data`, got 'stie'. Did you mean 'site'"),
        (["y1 ~ a"], {"design": es.Design(strata=range(23))}, r"`strata` must have one label for each of the 24 rows, got 23"),
        (["y1 ~ a"], {"metric": "precomputed"}, r'metric="precomputed" needs a matrix as `X`'),
        (["y1 ~ a"], {"data": BAD.set_axis([*BAD.columns[:3], "a", *BAD.columns[4:]], axis=1)}, r"`data` has 2 columns named 'a'"),
        ([Y], {"data": None}, r"`groups` is missing"),
        ([Y], {"groups": BAD["a"]}, r"`data` goes with a formula"),
        ([Y], {"groups": BAD["one"], "data": None}, r"`groups` must name at least two groups, got only 'k'"),
        ([Y], {"groups": BAD["name"], "data": None}, r"The model of name leaves no residual degrees of freedom"),
        ([Y], {"groups": BAD["a"][:9], "data": None}, r"`groups` must have one label for each of the 24 rows, got 9"),
        ([Y], {"groups": BAD["a"], "design": es.Design(strata="site"), "data": None}, r"`strata` must be one label a row or a column of `data`, got 'site'"),
        (["y1 ~ a"], {"decomposition": "type 2"}, r"`decomposition` must be one of sequential, marginal; got 'type 2'"),
        (["y1 ~ a"], {"missing": "omit"}, r"`missing` must be one of raise, drop; got 'omit'"),
        (["y1 ~ a"], {"n_resamples": 0}, r"`n_resamples` must be at least 1"),
        (["y1 ~ a"], {"alpha": 3}, r"`alpha` must be from"),
    ],
)  # fmt: skip
def test_bad_input(arguments, how, message):
    with pytest.raises(ValueError, match=message):
        es.disco(*arguments, **({"data": BAD} | how))


@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        ([Y, BAD["a"]], {}, r"`formula` must be a string, got Series; labels of rows go to `groups=`"),
        (["y1 ~ a"], {"data": {"y1": [1.0]}}, r"`data` must be a data frame \(pandas, Polars or Arrow\), got dict"),
        ([Y.astype(str), "~ a"], {"data": BAD}, r"`X` must hold real numbers"),
        ([Y], {"groups": "a"}, r"`groups` must be one label a row, got str"),
    ],
)
def test_bad_kinds(arguments, how, message):
    with pytest.raises(TypeError, match=message):
        es.disco(*arguments, **how)


# ---------------------------------------------------------------- what is shown


def test_real_data():
    iris = datasets.load("iris")
    result = es.disco(iris.iloc[:, :4], groups=iris["species"], rng=0)
    text = result.summary()
    assert list(result.table.index) == ["species", "Residual", "Total"]
    assert result.table.loc["species", "dispersion"] == pytest.approx(119.23730953629251)
    assert result.pvalue == 0.001
    assert "124.597" in text
    assert "Each term" not in text
    frame = result.to_frame(full=True)
    assert list(result.to_frame()) == ["df", "dispersion", "R2", "F", "pvalue"]
    assert frame[list(result.table)].equals(result.table)
    assert {"null_hypothesis", "decomposition", "n_resamples"} <= set(frame)
    assert frame["metric"].eq("Euclidean(alpha=1.0)").all()
    assert not frame["standardized"].any()


def test_summary_names_the_kind_of_terms(frame):
    text = es.disco("y1 ~ a * b", data=frame, decomposition="marginal", n_resamples=9, rng=0).summary()
    assert "Energy dispersion, marginal terms" in text
    assert "Overlap" in text
    assert "adjusted for all that do not contain it" in " ".join(text.split())
    squared = es.disco("y1 ~ a * b", data=frame, alpha=2.0, n_resamples=9, rng=0)
    assert "squared distances compare means alone" in squared.null_hypothesis


def test_plot_shows_shares_and_p_values(frame):
    import matplotlib.pyplot as plt

    result = es.disco("y1 ~ a * b + x", data=frame, decomposition="marginal", n_resamples=19, rng=0)
    ax = result.plot()
    rows = result.table.drop("Total")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(rows.index)
    assert_allclose([patch.get_width() for patch in ax.patches], rows["R2"])
    notes = [text.get_text() for text in ax.texts]
    assert [("p =" in note) for note in notes] == rows["pvalue"].notna().tolist()
    assert f"{rows['R2'].iloc[0]:.1%}" in notes[0]
    assert "marginal" in ax.get_title(loc="left")
    plt.close("all")


def test_progress_counts_permutations(frame, capsys):
    es.disco("y1 ~ a + x", data=frame, n_resamples=99, progress=True, rng=0)  # twice: x has residuals of its own
    assert "200/200" in capsys.readouterr().err


# ---------------------------------------------------------------- level


@pytest.mark.calibration
def test_level_of_the_whole_model(rotating_seed):
    """Exact: rows are exchangeable, whatever the errors and the design."""
    rng, count = np.random.default_rng([rotating_seed, 11]), 0
    for _ in range(1000):
        frame = make_frame(rng, 20)
        count += es.disco("y2 ~ a * b + x", data=frame, n_resamples=99, rng=rng).pvalue <= 0.05
    assert binom.ppf(0.001, 1000, 0.05) <= count <= binom.ppf(0.999, 1000, 0.05), f"{count} of 1000"


@pytest.mark.calibration
@pytest.mark.parametrize("kind", ["moved", "spread"])
@pytest.mark.parametrize("n", [24, 60])
def test_level_of_terms(kind, n, rotating_seed):
    """Unbalanced cells and a strong other factor: limits as the docstring gives them; within its levels a is exact."""
    rng = np.random.default_rng([rotating_seed, 12])
    sizes = np.array([6, 2, 4, 2, 6, 4]) if n == 24 else np.array([16, 4, 10, 4, 16, 10])
    a, b = np.repeat([0, 0, 0, 1, 1, 1], sizes), np.repeat([0, 1, 2, 0, 1, 2], sizes)
    frame = pd.DataFrame({"a": a.astype(str), "b": b.astype(str)})
    counts = np.zeros((2, 2), dtype=int)
    for _ in range(500):
        z = rng.standard_normal((n, 2))
        Y = z + 5 * b[:, None] * [1, 0] if kind == "moved" else z * (1 + 2 * b[:, None])
        for i, strata in enumerate((None, "b")):
            table = es.disco(
                Y, "~ b + a + a:b", data=frame, design=es.Design(strata=strata), n_resamples=99, rng=rng
            ).table
            counts[i] += table.loc[["a", "a:b"], "pvalue"].to_numpy() <= 0.05
    limits = binom.ppf(0.999, 500, [[0.08, 0.11], [0.05, 0.07]])
    assert (counts <= limits).all(), f"{counts} of 500"


# ---------------------------------------------------------------- what is said


def two_factors():
    return pd.DataFrame({"a": list("uv") * 12, "b": np.repeat(list("xyz"), 8)})


def test_the_verdict_speaks_of_the_model_and_names_terms_with_a_small_p():
    found = es.disco(np.arange(24.0), "~ a + b", data=two_factors(), n_resamples=999, rng=0)
    first, second = found.terms
    terms = (dataclasses.replace(first, pvalue=0.002), dataclasses.replace(second, pvalue=0.5))
    found = dataclasses.replace(found, pvalue=0.2, terms=terms)
    last = "At level 0.05: evidence for a (p = 0.0040 by Holm), none for the model as a whole (p = 0.2000)."
    assert found._conclusion() == last
    said = "Terms with p at most 0.05 after Holm's adjustment for their number: a (p = 0.0040)."
    assert said in " ".join(found.summary().split())
    assert "evidence that the model as a whole matters" in dataclasses.replace(found, pvalue=0.01)._conclusion()
    both = tuple(dataclasses.replace(row, pvalue=0.002) for row in terms)
    assert "evidence for 2 terms, none" in dataclasses.replace(found, terms=both)._conclusion()
    neither = dataclasses.replace(found, terms=tuple(dataclasses.replace(row, pvalue=0.04) for row in terms))
    assert "no evidence at this sample size that the model as a whole matters" in neither._conclusion()
    assert "Holm" not in neither.summary()


def test_the_summary_says_in_which_space_terms_are_additive():
    y, data = np.random.default_rng(0).standard_normal(24), two_factors()

    def said(X, model="~ a * b", **how):
        return " ".join(es.disco(X, model, data=data, n_resamples=9, rng=0, **how).summary().split())

    location, features = "least-squares residuals of the columns", "additive in the feature space of rho, which is"
    for model in ("~ a * b", "~ a + b"):
        assert location in said(y, model)
        assert features not in said(y, model)
    R = es.pairwise(y)
    assert features in said(R, metric="precomputed")
    assert features in said(np.abs(y), metric="canberra")
    assert features in said(R, "~ a + b", metric="precomputed")
    assert "interaction" in said(R, metric="precomputed")
    assert "interaction" not in said(R, "~ a + b", metric="precomputed")
    assert features not in said(R, "~ a", metric="precomputed")
    assert features not in said(y, alpha=2)
    assert location not in said(y, alpha=2)
    assert location not in said(y, "~ a")
    notes = es.disco(R, "~ a * b", data=data, metric="precomputed", n_resamples=9).notes
    assert notes[-1].startswith("p of an adjusted")
    assert [is_interaction(name) for name in ("a:b", "`a:1`", "C(a, x[1:])", "b")] == [True, False, False, False]


def test_a_term_beside_blocks_alone_is_not_adjusted():
    """Where the other terms are constant within strata rows are permuted as they are: no residuals, nothing approximate."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"block": np.repeat(list("uvwxyz"), 4), "a": np.tile(["0", "1"], 12), "b": np.tile([0, 0, 1, 1], 6)}
    )
    y = rng.standard_normal((24, 2))
    how = {"data": data, "n_resamples": 99, "rng": 0, "design": es.Design(strata="block")}
    found = es.disco(y, "~ block + a", **how)
    assert [row.is_adjusted for row in found.terms] == [False, False]
    assert np.isnan(found.terms[1].pvalue_location)
    text = " ".join(found.summary().split())
    assert (
        "what tested terms are adjusted for is constant within every stratum, where rows are permuted, so that p is exact."
        in text
    )
    assert "approximate" not in text
    assert "give coordinates" not in text
    # beside a term that varies within strata it is, and without coordinates in the feature space alone
    R = es.pairwise(y)
    both = es.disco(R, "~ block + a + b", **how, metric="precomputed")
    assert [row.is_adjusted for row in both.terms] == [False, False, True]
    assert any(note.startswith("p of an adjusted term is about") for note in both.notes)
    assert "p permutes residuals where a term is adjusted, and is approximate." in " ".join(both.summary().split())
    marginal = es.disco(y, "~ block + a + b", **how, decomposition="marginal")
    assert [row.is_adjusted for row in marginal.terms] == [False, True, True]


def test_shifts_are_additive_on_a_line():
    """The feature space of |x - y| is curved: there two shifts of one line are an interaction, in location they are not."""
    a, b = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    data = pd.DataFrame({"a": a.astype(str), "b": b.astype(str)})
    y = np.random.default_rng(0).standard_normal(40) + 4 * (a + b)
    y -= data.assign(y=y).groupby(["a", "b"])["y"].transform("mean").to_numpy() - 4 * (a + b)  # means are additive
    row = es.disco(y, "~ a * b", data=data, n_resamples=199, rng=0).terms[2]
    assert row.pvalue_features == 0.005
    assert row.pvalue == row.pvalue_location > 0.2
    moved = es.disco(y + 3 * a * b, "~ a * b", data=data, n_resamples=199, rng=0).terms[2]
    assert moved.pvalue == 0.005


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("decomposition", ["sequential", "marginal"])
def test_a_shift_along_the_other_terms_changes_no_residual(frame, alpha, decomposition):
    """p in location of the last term sees nothing of what the terms before it do; with squares it is that of F."""
    how = {"data": frame, "alpha": alpha, "decomposition": decomposition, "n_resamples": 99, "rng": 0}
    Y = frame[["y1", "y2"]].to_numpy()
    moved = Y + columns("a + x", frame) @ [[1.0, 2], [3, -4], [5, 6], [-7, 8]]
    first, second = (es.disco(points, "~ a + x + b", **how).terms[2] for points in (Y, moved))
    if alpha == 2:
        assert np.isnan(first.pvalue_location)
        assert first.pvalue == first.pvalue_features == second.pvalue
    else:
        assert first.pvalue == first.pvalue_location == second.pvalue_location


def test_a_model_that_fits_every_row_says_so():
    y, data = np.random.default_rng(0).standard_normal(40), pd.DataFrame({"g": np.arange(40) // 2})
    text = es.disco(np.repeat(y[:20], 2), "~ C(g)", data=data, n_resamples=9, rng=0).summary()
    assert "The residual dispersion is 0, but for the rounding of T: the model fits every row exactly" in text
    data["g"] = np.minimum(np.arange(40), 38)
    text = " ".join(es.disco(y, "~ C(g)", data=data, n_resamples=9, rng=0).summary().split())
    assert "The model fits nearly every row on its own: 40 rows leave 1 residual degree of freedom" in text
    y[39] = y[38]
    text = " ".join(es.disco(y, "~ C(g)", data=data, n_resamples=9, rng=0).summary().split())
    assert "The model fits every row on its own" in text
    data["g"] = np.arange(40) // 10
    assert "fits" not in es.disco(y, "~ C(g)", data=data, n_resamples=9, rng=0).summary()


# ---------------------------------------------------------------- names that formulaic or pandas read otherwise


NAMES = {
    "two underscores": ["A", "B", "__missing__"],
    "all with underscores": ["__HIVE_DEFAULT_PARTITION__", "__other__", "__"],
    "nothing": ["", " ", "B"],
    "not a number": ["nan", "NaN", "None"],
    "missing in words": ["NA", "<NA>", "NaT"],
    "brackets": ["a]", "[b", "T.c"],
    "like other columns": ["b]:a[x", "a:b", "1"],
    "backticks": ["`", "``", "`a`"],
    "numbers": ["1", "1.0", "01"],
    "NUL": ["a", "a\0", "a\0b"],
    "pairs": [(1, 2), (1, 3), (2, 2)],
    "braces": ["{}", "{name}", "%s"],
}
FORMULAS = [
    "y ~ g",
    "y ~ C(g)",
    "y ~ C(g, contr.sum)",
    "y ~ C(g, contr.treatment(g.iloc[-1]))",
    "y ~ C(g, levels=sorted(set(g))[::-1])",
    "y ~ C(g, {'__a': [1, 0, 0], '__b': [0, 1, 0]})",
    "y ~ h + g",
    "y ~ g * h",
    "y ~ g:h",
    "y ~ C(g, contr.helmert) * C(h)",
]


def three_levels(names, dtype):
    """Eight rows of each level, with the same y whatever their names."""
    codes = np.repeat([0, 1, 2], 8)
    g = pd.Series(np.fromiter(names, dtype=object, count=3)[codes], dtype=object).astype(dtype)
    y = np.random.default_rng(SEED).normal(size=24) + codes
    return pd.DataFrame({"y": y, "h": np.tile(["u", "v"], 12), "g": g})


def table_of_levels(formula, names, dtype):
    return es.disco(formula, data=three_levels(names, dtype), n_resamples=19, rng=1).table


@cache
def table_of_letters(formula):
    return table_of_levels(formula, ["a", "b", "c"], "category")


@pytest.mark.parametrize("formula", sweep(FORMULAS, 2))
@pytest.mark.parametrize("kind", NAMES)
def test_names_of_levels_mean_nothing(kind, formula, rng):
    """A table is that of levels named a, b and c in the same order."""
    frame = three_levels(NAMES[kind], "object")
    found = table_of_levels(formula, sorted(NAMES[kind]), rng.choice(["object", "category"]))
    pd.testing.assert_frame_equal(found, table_of_letters(formula), rtol=1e-9)
    if formula == "y ~ g":
        assert found["df"].iloc[0] == 2
        by_groups = es.disco(frame["y"], groups=frame["g"], n_resamples=19, rng=1).table
        assert_allclose(found["dispersion"].iloc[0], by_groups["dispersion"].iloc[0], rtol=1e-9)


@pytest.mark.parametrize(
    "column",
    sweep(
        ["a b", "a:b", "C(g)", "contr", "C", "g[T.b]", "codes 0", "class", "__g__", "ß", "a[0]"],
        ["a b", "C(g)", "codes 0", "class"],
    ),
)
@pytest.mark.parametrize("rest", sweep(["", " + a:g", " * h"], [" * h"]))
def test_names_of_columns_mean_nothing(column, rest, rng):
    frame = pd.DataFrame(rng.normal(size=(24, 2)), columns=["y", "a"])
    frame["h"], frame["g"] = np.tile(["u", "v"], 12), np.repeat(["b", "c"], 12)
    own = np.tile(["x", "y", "z"], 8)
    expected = es.disco(f"y ~ own{rest}", data=frame.assign(own=own), n_resamples=19, rng=1).table
    found = es.disco(f"y ~ `{column}`{rest}", data=frame.assign(**{column: own}), n_resamples=19, rng=1).table
    assert_allclose(found.to_numpy(float), expected.to_numpy(float), rtol=1e-9)


def test_a_column_and_an_interaction_of_one_name_are_two_terms(rng):
    frame = pd.DataFrame(rng.normal(size=(24, 4)), columns=["y", "a", "b", "a:b"])
    found = es.disco("y ~ `a:b` + a:b", data=frame, n_resamples=19, rng=1).table
    other = es.disco("y ~ c + a:b", data=frame.rename(columns={"a:b": "c"}), n_resamples=19, rng=1).table
    assert_allclose(found.to_numpy(float), other.to_numpy(float), rtol=1e-12)


@pytest.mark.parametrize(
    ("levels", "formula", "message"),
    [
        ([1, "1", "c"], "y ~ g", "row 8 of `data` has '1' in column 'g', where other rows have numbers"),
        ([True, 1, 2], "y ~ g", "row 0 of `data` has True in column 'g', where other rows have numbers"),
        ([1, 1.0, 2], "y ~ C(g)", r"cannot be evaluated: .*`C\(\)` mixes 1 and 1.0, which are"),
        (["a", "b", "c"], "y ~ C(g, levels=['a', 'b'])", r"C\(\) has rows with 'c', which its `levels` do not name"),
        (["a", "b", "c"], "y ~ C(g, contr.treatment('d'))", r"the base of C\(\) must be one of its levels, got 'd'"),
        (
            ["a", "b", "__c"],
            "y ~ g.str.lower()",
            r"g.str.lower\(\) must give every row one of its levels, .* write C\(\)",
        ),
        (["a", "b", "c"], "y ~ g + `1`", "takes a column named '1' for the constant; rename it, or write I"),
    ],
)
def test_levels_that_would_be_merged_are_refused(levels, formula, message, rng):
    g = pd.Series([level for level in levels for _ in range(8)], dtype=object)
    with pytest.raises((ValueError, TypeError), match=message):
        es.disco(formula, data=pd.DataFrame({"y": rng.normal(size=24), "g": g, "1": rng.normal(size=24)}))


def test_levels_in_messages_have_their_own_names(rng):
    frame = pd.DataFrame({"y": rng.normal(size=24), "g": np.repeat(["A", "__m", "z"], 8), "h": ["u"] * 16 + ["v"] * 8})
    for formula in ("y ~ g:h", "y ~ C(g):h", "y ~ C(g, contr.sum):h", "y ~ C(g, {1: [1, 0, 0]}):h"):
        with pytest.raises(
            ValueError, match=r"needs rows in every cell, but there are none with .* = 'A' and h = 'v', nor"
        ):
            es.disco(formula, data=frame)


# ---------------------------------------------------------------- signs of R, and designs without an answer


def test_signs_that_mean_another_thing_in_python_are_refused(rng):
    data = pd.DataFrame(
        {"y": rng.standard_normal(12), "a b": np.arange(12), "g": np.arange(12) % 3, "t": [True, False] * 6}
    )
    for formula in ("y ~ I(g^2)", "y ~ g + I(`a b`^2)", "y ~ np.log(1 + g^2)", "I(y^2) ~ g"):
        with pytest.raises(ValueError, match=r"\^ is no power in .*; write \*\*"):
            es.disco(formula, data=data, n_resamples=9)
    with pytest.raises(ValueError, match=r"work on the bits of the numbers in 'a b'; compare first"):
        es.disco("y ~ I(`a b` & t)", data=data, n_resamples=9)
    square = es.disco("y ~ I(g**2)", data=data, n_resamples=9, rng=0)
    data["square"] = data["g"] ** 2
    assert square.residual == pytest.approx(es.disco("y ~ square", data=data, n_resamples=9, rng=0).residual)
    es.disco("y ~ I(t & (g > 0))", data=data, n_resamples=9)
    with pytest.raises(ValueError, match=r"Formulas are run as Python: write np.where"):
        es.disco("y ~ ifelse(g)", data=data)


def test_what_a_term_adds_must_vary_within_the_strata(rng):
    """Half replicates in blocks: the interaction of three factors is the blocks' own, and nothing permutes it."""
    a, b, c = (x.ravel() for x in np.meshgrid([0, 1], [0, 1], [0, 1]))
    block = (a + b + c) % 2
    data = pd.DataFrame({"a": np.tile(a, 3), "b": np.tile(b, 3), "c": np.tile(c, 3)})
    strata = np.concatenate([block + 2 * j for j in range(3)])
    data["y"] = rng.standard_normal(24)
    found = es.disco("y ~ C(a) * C(b) * C(c)", data=data, design=es.Design(strata=strata), n_resamples=19, rng=0)
    pvalues = found.table["pvalue"]
    assert np.isnan(pvalues["C(a):C(b):C(c)"])
    assert pvalues.iloc[:6].notna().all()
    said = "Without p, because constant within every stratum"
    assert said in " ".join(found.summary().split())
    assert said in " ".join(found.notes)  # where JSON has the p that is missing


# ---------------------------------------------------------------- what would be read as something else than meant


@pytest.mark.parametrize(
    "left",
    ["y1^2", "y1**2", "(y1)**2", "log(y2)**2", "y2 + y1**2", "y1**3 + y2", "y1*y1", "y1:y1", "y1/y1", "(y1 - y2)", "."],
)
def test_signs_that_compute_nothing_before_the_tilde(frame, left):
    """R's lm takes them for arithmetic; formulaic's algebra made y1 of y1**2, and of (y1 - y2)."""
    with pytest.raises(ValueError, match=r"`formula` must (have numeric responses joined by \+|not subtract)"):
        es.disco(f"{left} ~ a", data=frame)


def test_a_power_in_i_is_that_of_r():
    """anova(lm(I(y^2) ~ g)) in R: 1472.67, 2984.7 and F = 1.9736; with alpha = 2 disco has these sums."""
    data = pd.DataFrame({"g": list("ababab"), "y": [1, 5, 2, 9, 4, 3]})
    found = es.disco("I(y**2) ~ g", data=data, alpha=2)
    assert found.statistic == pytest.approx(1.9736, abs=5e-5)
    assert found.terms[0].dispersion == pytest.approx(1472.67, abs=5e-3)


def test_comparisons_are_truth_values_as_columns_are(frame):
    for left in ("I(y2 > 1)", "I(~(y2 > 1) & (x > 0.5))", "y1 + I(x > 0.5)"):
        with pytest.raises(ValueError, match=r"holds truth values; I\(1 \* \(.*\)\) is 1 for True"):
            es.disco(f"{left} ~ a", data=frame)
    assert es.disco("I(1 * (y2 > 1)) ~ a", data=frame, n_resamples=9).terms[0].df == 2


COUNTED = [  # an expression with truth values t and u, and the same of the numbers 0 and 1 in t1 and u1
    ("I(t + u)", "I(t1 + u1)"),
    ("I((x > 0.5) + (y2 > 1))", "I(1 * (x > 0.5) + 1 * (y2 > 1))"),
    ("C(t + u)", "C(t1 + u1)"),
    ("I(t + u):a", "I(t1 + u1):a"),
    ("log(t + u + 1)", "log(t1 + u1 + 1)"),
    ("sqrt(t + u)", "sqrt(t1 + u1)"),
    ("exp(t / 2 + t)", "exp(t1 / 2 + t1)"),
    ("exp(t)", "exp(t1)"),
    ("np.exp(t)", "np.exp(t1)"),
    ("I((t + u) / 2)", "I((t1 + u1) / 2)"),
    ("I(t + u + x)", "I(t1 + u1 + x)"),
    ("I(t - u)", "I(t1 - u1)"),
    ("I(t * u)", "I(t1 * u1)"),
    ("I(-t)", "I(-t1)"),
    ("I(x * -u)", "I(x * -u1)"),
    ("I((t + 1)**(u + 1))", "I((t1 + 1)**(u1 + 1))"),
    ("I(t + `the u`)", "I(t1 + u1)"),
    ("I(t + o)", "I(t1 + t1)"),
    ("I(t.add(u))", "I(t1 + u1)"),
    ("np.add(t, u)", "I(t1 + u1)"),
    ("np.add.reduce([t, u])", "I(t1 + u1)"),
    ("sum([t, u])", "I(t1 + u1)"),
    ("poly(t + u, 2)", "poly(t1 + u1, 2)"),
]


@pytest.mark.parametrize(("truths", "numbers"), COUNTED)
def test_truth_values_count_where_they_are_reckoned_with(frame, truths, numbers):
    """I(t + u) was t or u. In R it is 0, 1 or 2: model.matrix(~ I(t + u)) with t and u logical."""
    data = frame.assign(t=np.arange(30) % 2 == 0, u=np.arange(30) % 3 == 0)
    data = data.assign(t1=data["t"] * 1.0, u1=data["u"] * 1.0, o=data["t"].astype(object))
    data["the u"] = data["u"].astype("boolean")
    forms = ["y1 ~ {}"] if ":" in truths or "C(" in truths else ["y1 ~ {}", "{} ~ a"]
    for form in forms:
        found, expected = (es.disco(form.format(each), data=data, n_resamples=9, rng=0) for each in (truths, numbers))
        assert_allclose(found.table.to_numpy(float), expected.table.to_numpy(float), rtol=1e-12)


def test_sums_of_truth_values_are_those_of_r():
    """anova(lm(y ~ I(t + u))) of R has F = 42.666667, and y ~ factor(t + u) F = 16 on 2 and 3 degrees of freedom."""
    data = pd.DataFrame({"t": [True, True, False, False, True, False], "u": [True, False, True, False, True, False]})
    data["y"] = [5.0, 3, 2, 1, 4, 0]
    how = {"data": data, "alpha": 2, "n_resamples": 9}
    assert es.disco("y ~ I(t + u)", **how).statistic == pytest.approx(42.666667, rel=1e-7)
    found = es.disco("y ~ C(t + u)", **how)
    assert (found.terms[0].df, found.statistic) == (2, pytest.approx(16))


@pytest.mark.parametrize("left", ["I(t)", "I(t & (x > 0.7))", "y1 + np.logical_or(t, t)", "I((t | t) == True)"])
def test_computed_truth_values_are_no_responses(frame, left):
    with pytest.raises(ValueError, match=r"holds truth values; "):
        es.disco(f"{left} ~ a", data=frame.assign(t=frame["x"] > 0.5))


@pytest.mark.parametrize(
    "factor", ["lag(C(a))", "lag(C(a), 30)", "center(C(x))", "np.sign(C(x))", "I(C(x) == 1)", "C(C(a))", "I(lag(C(a)))"]
)
def test_nothing_is_computed_from_what_c_makes(frame, factor):
    """Rows without a label were put into the first level; a level was compared by its place among the levels."""
    data = frame.assign(x=np.arange(30) % 3 + 1)
    with pytest.raises(ValueError, match=rf"`formula`: {re.escape(factor)} computes from what C\(\) makes"):
        es.disco(f"y1 ~ {factor} + x", data=data)
    assert es.disco("y1 ~ I(C(x))", data=data, n_resamples=9).terms[0].df == 2


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("I(t & u == False)", "& or | beside a comparison without parentheses"),
        ("I(t == False | u)", "& or | beside a comparison without parentheses"),
        ("I(x > 1 & t)", "& or | beside a comparison without parentheses"),
        ("C(t & x > 1)", "& or | beside a comparison without parentheses"),
        ("np.where(t & `the u` != u, 1, x)", "& or | beside a comparison without parentheses"),
        ("I((x > 1) & 2)", r"work on the bits of the number 2; compare first"),
    ],
)
def test_comparisons_beside_and_need_parentheses(frame, expression, message):
    """Python reads (t & u) == False where R reads t & (u == FALSE)."""
    data = frame.assign(t=np.arange(30) % 2 == 0, u=np.arange(30) % 3 == 0)
    data["the u"] = data["u"]
    for formula in (f"y1 ~ {expression}", f"I(1 * {expression}) ~ a"):
        with pytest.raises(ValueError, match=re.escape(message) if "bits" not in message else message):
            es.disco(formula, data=data)
    for right in ("I((t & u) == False)", "I(t & (u == False))", "I((x > 0.5) & t)"):
        assert es.disco(f"y1 ~ {right}", data=data, n_resamples=9).terms[0].df == 1


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y1 ~ log", r"`formula` has the function 'log' where a column is needed; write log\(x\) of one"),
        ("y1 ~ a:abs", r"`formula` has the function 'abs' where a column is needed"),
        ("y1 ~ max(x)", r"cannot be evaluated: it gives the single value .*, where every row needs one; leave it out"),
        ("y1 ~ I(5)", r"cannot be evaluated: it gives the single value 5, where every row needs one"),
        ("max(x) ~ a", r"cannot be evaluated: it gives the single value"),
        ("y1 + y1 ~ a", r"must name every response once, but y1 stands before ~ more than once"),
        ("`y1` + y2 + y1 ~ a", r"must name every response once, but y1 stands before ~ more than once"),
        ("I(~(x > 1)*1) + I(~(x > 1)*1) ~ a", r"must name every response once"),
        ("y1 ~ x.sort_values()", r"it puts the rows in another order, and rows are matched by index; sort `data` itself"),
        ("y1 ~ I(x[::-1])", r"it puts the rows in another order"),
        ("y1 ~ np.log(1 + x[::-1]**2)", r"it puts the rows in another order"),
        ("y1 ~ poly(x[::-1], 2)", r"it puts the rows in another order"),
        ("y1 ~ C(b[::-1])", r"it puts the rows in another order"),
        ("y1[::-1] ~ a", r"it puts the rows in another order"),
    ],
)  # fmt: skip
def test_expressions_without_a_value_for_every_row(frame, formula, message):
    with pytest.raises(ValueError, match=message):
        es.disco(formula, data=frame.sample(frac=1, random_state=1))


def test_an_order_that_is_meant_is_taken(frame):
    found = es.disco("y1 ~ I(x[::-1].to_numpy())", data=frame, n_resamples=9, rng=0)
    assert (
        found.statistic
        == es.disco("y1 ~ z", data=frame.assign(z=frame["x"].to_numpy()[::-1]), n_resamples=9, rng=0).statistic
    )
    assert es.disco("y1 ~ I(x - x[x > 0.2].mean())", data=frame, n_resamples=9).terms[0].df == 1


def test_messages_have_no_names_of_our_own(frame):
    data = frame.assign(q=np.arange(30) % 3, t=frame["x"] > 0.5)
    for formula in ("y1 ~ C(q, levels=[1, 2])", "y1 ~ a.nothing()", "y1 ~ I(t + a.nothing())", "y1 ~ I(t + [1, 2])"):
        with pytest.raises(ValueError, match="cannot be evaluated") as refused:
            es.disco(formula, data=data)
        assert "__" not in str(refused.value)


def test_in_of_r_is_refused(frame):
    """formulaic adds the term on its right, too; R and adonis2 have a:x alone."""
    with pytest.raises(ValueError, match="write a:b for a %in% b"):
        es.disco("y1 ~ a %in% x", data=frame)


def test_a_column_of_the_name_of_all(frame):
    with pytest.raises(ValueError, match=r"takes a column named '\.' for all columns"):
        es.disco("`.` ~ a", data=frame.rename(columns={"y1": "."}))


@pytest.mark.parametrize("kind", [float, Decimal, Fraction, complex])
@pytest.mark.parametrize("term", ["o", "b:o", "I(o + o)"])
def test_numbers_as_objects_are_no_factor(frame, kind, term):
    frame["o"] = pd.Series([kind(value) for value in frame["x"]], dtype=object)
    with pytest.raises((TypeError, ValueError), match=r"numbers as Python objects|cannot be sorted"):
        es.disco(f"y1 ~ {term}", data=frame)


def test_a_slip_among_objects_is_named(frame):
    frame["o"] = frame["x"].astype(object)
    frame.loc[4, "o"] = "n/a"
    with pytest.raises(ValueError, match=r"row 4 of `data` has 'n/a' in column 'o', where other rows have numbers"):
        es.disco("y1 ~ o", data=frame)
    with pytest.raises(ValueError, match=r"but o is categorical, with values such as"):
        es.disco("o ~ a", data=frame)
    with pytest.raises(ValueError, match=r"numbers are Python objects, of which pd.to_numeric\(data\['p'\]\) makes"):
        es.disco("p ~ a", data=frame.assign(p=frame["x"].astype(object)))


def test_dates_of_any_type_are_no_factor(frame):
    days = pd.period_range("2020-01-01", periods=len(frame), freq="D")
    for column in (days, [day.to_timestamp().date() for day in days], days.to_timestamp()):
        with pytest.raises(ValueError, match="must not take dates as they are, but column 'day' has"):
            es.disco("y1 ~ day", data=frame.assign(day=column))


def test_imaginary_parts_are_not_dropped(frame):
    """Only NumPy's ComplexWarning told of it."""
    frame["z"] = frame["x"] + 1j * frame["y1"]
    for formula in ("y1 ~ z", "z ~ a", "y1 ~ a * z"):
        with pytest.raises(TypeError, match=r"complex; use np\.real"):
            es.disco(formula, data=frame)
    assert es.disco("y2 ~ I(np.real(z))", data=frame, n_resamples=9).terms[0].df == 1
    with pytest.raises(TypeError, match=r"got dtype complex; convert it first, for example with `np\.abs\(X\)`"):
        es.disco(frame[["z"]].to_numpy(), groups=frame["a"])
    with pytest.raises(TypeError, match="has complex labels, which have no order"):
        es.disco(frame[["x"]], groups=frame["z"])


@pytest.mark.parametrize(("formula", "df"), [("y1 ~ far * x", 1), ("y1 ~ a * far", 2), ("y1 ~ near", 1)])
@pytest.mark.parametrize("offset", [1e7, 1e8, 3e9])
def test_covariates_far_from_zero(frame, formula, df, offset):
    """At 1e7 an interaction with a factor had 1 degree of freedom in place of 2; others "added nothing"."""
    frame["far"] = offset + np.choose(frame.a.map({"u": 0, "v": 1, "w": 2}), (100, 1, 0.1)) * frame["x"]
    frame["near"] = offset + 1e-14 * offset * frame["x"]
    if formula == "y1 ~ far * x" and offset < 1e9:  # near the limit: the right number or a refusal, by the data
        said = ""
        try:
            found = es.disco(formula, data=frame, n_resamples=9).terms[-1].df
        except ValueError as error:
            found, said = None, str(error)
        assert found == df or "far from 0" in said
        return
    with pytest.raises(ValueError, match=r"far from 0: it varies by .*; subtract a constant from it"):
        es.disco(formula, data=frame, n_resamples=9)


def test_a_negative_dispersion_is_told():
    R = 1 - np.eye(12)
    R[:6, :6] *= 5
    R[6:, 6:] *= 5
    g = np.repeat(["a", "b"], 6)
    said = "A dispersion is negative, so rho is not of negative type"
    for found in (
        es.disco(R, groups=g, metric="precomputed", n_resamples=9),
        es.disco(R, "~ g + x", data=pd.DataFrame({"g": g, "x": range(12)}), metric="precomputed", n_resamples=9),
    ):
        assert found.terms[0].dispersion < 0
        assert said in " ".join(found.summary().split())
    assert said not in es.disco(np.arange(12.0), groups=g, n_resamples=9).summary()


def test_terms_constant_in_strata_get_no_p_in_unbalanced_data(rng):
    """Adjusted for a covariate they vary within strata; with unequal visits p <= .05 came for .14 to .19 of true nulls."""
    visits = rng.integers(4, 9, 12)
    who = np.repeat(np.arange(12), visits)
    data = pd.DataFrame(
        {"who": who, "g": np.where(who % 2, "a", "b"), "time": np.concatenate([*map(np.arange, visits)])}
    )
    data["y"] = data.time + rng.normal(size=12)[who] + rng.normal(size=len(who))
    for formula in ("y ~ time + g", "y ~ time * g", "y ~ g * time"):
        for decomposition in ("sequential", "marginal"):
            found = es.disco(
                formula, data=data, design=es.Design(strata="who"), decomposition=decomposition, n_resamples=19, rng=1
            )
            p = {term.name: term.pvalue for term in found.terms}
            assert np.isnan(p.pop("g"))
            assert not np.isnan(list(p.values())).any()


# ---------------------------------------------------------------- types of columns


@pytest.mark.parametrize("dtype", sweep(["int8", "uint8", "int16", "Int8", "float16", "float32", "int64"], ["int64"]))
@pytest.mark.parametrize(
    "formula",
    ["y ~ I(x**3) + x:z", "I(y - x) ~ g", "log(y) ~ x * z", "y ~ exp(x / 12)", "y ~ poly(x, 2) + g:z"],
)
def test_numbers_are_doubles_in_formulas(dtype, formula, rng):
    frame = pd.DataFrame({name: rng.integers(1, 120, size=30) for name in "xyz"})
    factor = 10**9 if dtype == "int64" else 1  # whose cube would wrap around
    frame = (frame * factor).astype(dtype if dtype == "int64" else float).assign(g=list("uv") * 15)
    if "exp" in formula:
        frame["x"] = frame["x"] // factor
    given = frame.astype(dict.fromkeys("xyz", dtype))
    found = es.disco(formula, data=given, n_resamples=9, rng=0).table
    expected = es.disco(formula, data=frame.astype(dict.fromkeys("xyz", float)), n_resamples=9, rng=0).table
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_gaps_of_truth_values_as_responses_under_gower(frame):
    truths = pd.array([True, None, False] * 10, dtype="boolean")
    given = frame.assign(t=truths)
    words = frame.assign(t=pd.Series(truths, dtype=object).map(str, na_action="ignore"))
    one, other = (es.disco("y1 + t ~ a", data=data, metric="gower", n_resamples=9, rng=0) for data in (given, words))
    assert one.table.equals(other.table)


def test_whole_numbers_as_levels_keep_their_names():
    data = pd.DataFrame({"y": range(10), "year": [2020, 2020, 2021, 2021, 2020] * 2, "a": [*"uvuuuuvuuu"]})
    with pytest.raises(ValueError, match=r"C\(year\) = 2021 and a = 'v';"):
        es.disco("y ~ C(year) * a", data=data)


TRUTHS = [  # degrees of freedom and F of anova(lm(...)) of R 4.x, iris with wide = sepal_width > 3
    ("wide/species", [1, 4, 144], [13.26572431546, 70.33412020229]),
    ("wide:species", [5, 144], [58.92044102493]),
    ("species * wide - species", [1, 4, 144], [13.26572431546, 70.33412020229]),
    ("wide:petal_length", [2, 147], [267.4569742142]),
    ("wide + wide:petal_length", [1, 2, 146], [23.80863564767, 308.68595466160]),
    ("I(petal_width > 1.5):petal_length", [2, 147], [238.3318330659]),
]


@pytest.mark.parametrize("dtype", [bool, "boolean", object])
@pytest.mark.parametrize(("terms", "df", "f"), TRUTHS)
def test_truth_values_are_factors_of_two_levels(terms, df, f, dtype):
    iris = datasets.load("iris")
    iris = iris.assign(wide=(iris["sepal_width"] > 3).astype(dtype))
    result = es.disco(f"sepal_length ~ {terms}", data=iris, alpha=2, n_resamples=9, rng=0)
    assert result.table["df"].tolist()[:-1] == df
    assert_allclose(result.table["F"].dropna(), f, rtol=1e-10)
    assert [row.name for row in result.terms] == [t for t in result.table.index if t not in ("Residual", "Total")]


@pytest.mark.parametrize("term", ["t", "I(t & (x < 2))", "np.logical_or(t, t)"])
def test_truth_values_need_rows_in_every_cell(frame, term):
    data = frame.assign(t=frame["a"] == "u")
    with pytest.raises(ValueError, match=r"needs rows in every cell, but there are none with a = 'u' and .* = False"):
        es.disco(f"y1 ~ a * {term}", data=data)


def test_truth_values_with_one_level(frame):
    with pytest.raises(ValueError, match=r"I\(x > 2\) has one level only, False; leave it out"):
        es.disco("y1 ~ a + I(x > 2)", data=frame)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "uint64"])
def test_labels_too_long_for_doubles(dtype):
    data = pd.DataFrame({"y": range(12), "f": pd.Series([2**53 + 1, 2**53 + 2] * 6, dtype=dtype)})
    with pytest.raises(
        ValueError, match=r"`f` holds whole numbers .* or make text of labels, as by data\['f'\].astype"
    ):
        es.disco("y ~ C(f)", data=data)
    assert es.disco("y ~ C(f)", data=data.assign(f=data["f"].astype(str)), n_resamples=9).terms[0].df == 1


@pytest.mark.parametrize("term", ["x**2", "x^2", "(x)**2", "((x))^3", "a + x ** 2", "log(y2)**2", "`x`^2", "a*x^2"])
def test_powers_of_one_variable_among_terms_are_refused(frame, term):
    """R takes them for the variable itself, without a word."""
    with pytest.raises(
        ValueError, match=r"a power of .* among the terms is no power but .* itself, as in R; write it in I\(\)"
    ):
        es.disco(f"y1 ~ {term}", data=frame)


@pytest.mark.parametrize(
    ("power", "terms"),
    [
        ("(a + b)**2", "a + b + a:b"),
        ("(a + b + x)^2", "(a + b) * x + a:b"),
        ("(a + (x))**2", "a * x"),
        ("I(x**2)", "I(x * x)"),
    ],
)
def test_powers_of_sums_are_their_interactions(frame, power, terms):
    found, expected = (es.disco(f"y1 ~ {t}", data=frame, n_resamples=9, rng=0) for t in (power, terms))
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert len(es.disco("y1 ~ .^2", data=frame[["y1", "a", "b", "x"]], n_resamples=9).terms) == 6


def test_rows_with_gaps_in_responses_stay_under_gower(frame):
    gaps = frame.assign(y1=frame["y1"].mask(frame.index == 3), b=frame["b"].where(frame.index != 4))
    how = {"metric": "gower", "missing": "drop", "n_resamples": 9, "rng": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error", es.MissingValuesWarning)
        found = [
            es.disco("y1 + b + x ~ a", data=gaps, **how),
            es.disco(gaps[["y1", "b", "x"]], "~ a", data=gaps, **how),
        ]
    assert [result.n for result in found] == [30, 30]
    assert found[0].statistic == found[1].statistic
    with pytest.warns(es.MissingValuesWarning, match=r"1 of 30 rows was left out for missing values \(y1 1\)"):
        assert es.disco("I(2 * y1) + b + x ~ a", data=gaps, **how).n == 29
    with pytest.warns(es.MissingValuesWarning, match=r"1 of 30 rows was left out for missing values \(b 1\)"):
        assert es.disco("y1 + x ~ b", data=gaps, **how).n == 29


@pytest.mark.parametrize(
    "name",
    sweep(
        [
            "sqrt",
            "abs",
            "exp",
            "log",
            "log2",
            "log10",
            "log1p",
            "expm1",
            "sin",
            "cos",
            "tan",
            "floor",
            "ceiling",
            "sign",
        ],
        ["log", "ceiling"],
    ),
)
def test_functions_of_r(frame, name):
    of_numpy = getattr(np, {"ceiling": "ceil"}.get(name, name))
    data = frame.assign(u=3 * frame["x"] + 0.5)
    if name in ("sign", "abs"):
        data[["u", "y2"]] -= [2, 1]
    data["v"], data["w"] = of_numpy(data["u"]), of_numpy(data["y2"])
    how = {"data": data, "n_resamples": 9, "rng": 0}
    for formula, plain in (
        ("{f}(y2) ~ a", "w ~ a"),
        ("y1 ~ a + {f}(u) + I(x - 2 * {f}(u))", "y1 ~ a + v + I(x - 2 * v)"),
    ):
        found, expected = es.disco(formula.format(f=name), **how), es.disco(plain, **how)
        assert found.table.to_numpy()[0].tolist() == expected.table.to_numpy()[0].tolist()
    with pytest.raises(ValueError, match=f"{name!r} is a column of `data`, which {name}\\(u\\) would take"):
        es.disco(f"y1 ~ {name} + {name}(u)", data=data.assign(**{name: data["x"]}))


@pytest.mark.parametrize("t", [1.7e9 + 0.001 * np.arange(30), 2460000.5 + np.arange(30) / 86400, 1e12 + np.arange(30)])
def test_squares_of_which_rounding_is_left_are_refused(t, rng):
    data = pd.DataFrame({"y": rng.normal(size=30), "t": t, "c": (t - t[0]) / (t[-1] - t[0])})
    with pytest.raises(ValueError, match=r"what I\(t \*\* 2\) adds is lost in rounding.*subtract a constant"):
        es.disco("y ~ t + I(t**2)", data=data, n_resamples=9, rng=0)
    assert es.disco("y ~ c + I(c**2)", data=data, n_resamples=9, rng=0).terms[1].df == 1


def test_squares_of_years_are_what_they_are_without_an_offset(rng):
    data = pd.DataFrame({"y": rng.normal(size=30), "t": 2000.0 + np.arange(30), "c": np.arange(30.0)})
    far, near = (es.disco(f"y ~ {v} + I({v}**2)", data=data, n_resamples=9, rng=0).terms[1] for v in "tc")
    assert far.dispersion == pytest.approx(near.dispersion, rel=1e-6)


@pytest.mark.parametrize("unit", [1e77, 1e-90])
@pytest.mark.parametrize("expression", ["poly(x, 2)", "I(x**2)"])
def test_products_of_huge_and_tiny_numbers_are_refused(unit, expression, rng):
    x = rng.normal(size=30)
    data = pd.DataFrame({"x": unit * x, "y": x**2 + rng.normal(size=30)})
    with pytest.raises(ValueError, match=r"computes with column 'x', whose values reach .* Rescale it"):
        es.disco(f"y ~ {expression}", data=data, n_resamples=9, rng=0)
    assert es.disco("y ~ x", data=data, n_resamples=9, rng=0).table["df"].iloc[0] == 1
    assert es.disco("y ~ np.log(abs(x))", data=data.assign(x=1e-90 * abs(x) + 1e-99), n_resamples=9, rng=0).table.size


@pytest.fixture
def named(rng):
    """Columns with names that formulas or Python would take for something else."""
    columns = ["0", "1", "leaf", "leaf.index", "x.1", "z", "log(z)", "µ", "None", "I(z)", 5]
    return pd.DataFrame(rng.random((24, len(columns))) + 1, columns=columns).assign(
        g=list("abc") * 8, k=list("12x") * 8
    )


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("`0` ~ .", "a column named '1' for the constant"),
        ("`0` ~ (g + `1`)**2", "a column named '1' for the constant"),
        ("z ~ poly(leaf.index, 2)", "the column leaf.index stands in backticks, `leaf.index`"),
        ("sqrt(leaf.index) ~ g", "the column leaf.index stands in backticks, `leaf.index`"),
        ("z ~ log(x.1)", "the column x.1 stands in backticks, `x.1`"),
        ("`0` ~ `log(z)` + log(z)", "log(z), which is a column and a call"),
        ("z ~ I(`µ` * 1)", "µ cannot stand in a call"),
        ("z ~ C(`None`)", "None cannot stand in a call"),
        ("z ~ I(leaf * (k != 1))", "compares k, a column of text, with 1, which it never equals; write '1'"),
        ("z ~ I(k.isin([1, 2]))", "compares k, a column of text, with 1"),
        ("Q('leaf.index') ~ g", "write `leaf.index` in backticks for Q('leaf.index')"),
        ("z ~ I(leaf == '1')", "compares leaf, a column of numbers, with '1', which it never equals; write a number"),
    ],
)
def test_names_and_values_with_two_readings_are_refused(named, formula, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        es.disco(formula, data=named, n_resamples=9, rng=0)


@pytest.mark.parametrize(
    ("formula", "same"),
    [
        ("`0` ~ I(`1`)", "`0` ~ one"),
        ("`0` ~ I((`1` + 2) * 3)", "`0` ~ one"),
        ("z ~ I(`leaf.index` * 2)", "z ~ leaf_index"),
        ("z ~ leaf.index", "z ~ leaf_index"),
        ("z ~ `log(z)`", "z ~ log_z"),
        ("z ~ µ + `None`", "z ~ mu + none"),
        ("z ~ `I(z)`", "z ~ i_z"),
        ("`I(z)` ~ g", "i_z ~ g"),
        ("z ~ `5` + leaf", "z ~ five + leaf"),
        ("z ~ I(k.isin(['1', '2']))", "z ~ I(k != 'x')"),
    ],
)
def test_quoted_names_are_columns(named, formula, same):
    plain = named.rename(columns={"1": "one", "leaf.index": "leaf_index", "log(z)": "log_z", "µ": "mu", "None": "none"})
    plain = plain.rename(columns={"I(z)": "i_z", 5: "five"})
    found = es.disco(formula, data=named, n_resamples=9, rng=0)
    wanted = es.disco(same, data=plain, n_resamples=9, rng=0)
    assert_allclose(found.table["dispersion"], wanted.table["dispersion"])


def test_a_column_named_1_is_missing_where_it_is_used(named):
    named.loc[2, "1"] = np.nan
    assert es.disco("`0` ~ g", data=named, n_resamples=9, rng=0).table["df"].iloc[-1] == 23
    with pytest.raises(ValueError, match="Values are missing in 1 of 24 rows"):
        es.disco("`0` ~ I(`1`)", data=named, n_resamples=9, rng=0)


def within_subjects(rng, effect=0.0, d=10):
    """Twelve subjects in three groups, far apart, six times each; the groups differ over time by an effect."""
    data = pd.DataFrame([(s, s % 3, t) for s in range(12) for t in range(6)], columns=["s", "g", "t"]).astype(str)
    s, g, t = (data[name].astype(int).to_numpy() for name in data)
    Y = 3 * rng.normal(size=(12, d))[s] + rng.normal(size=(72, d))
    return Y + effect * np.outer((g == 0) * (t >= 3), np.ones(d)), data


@pytest.mark.parametrize(
    "how",
    [{}, *(pytest.param(how, marks=pytest.mark.slow) for how in ({"alpha": 2.0}, {"metric": "cityblock"}))],
    ids=str,
)
def test_interactions_within_strata_that_differ_are_not_found_where_none_are(rng, how):
    """Three quarters of such samples were rejected; with level .05 more than 6 of 30 are by a chance of .0006."""
    p = []
    for seed in range(30):
        Y, data = within_subjects(rng)
        found = es.disco(Y, "~ g * t", data=data, design=es.Design(strata="s"), n_resamples=99, rng=seed, **how)
        p.append(found.table.loc[["t", "g:t"], "pvalue"])
        assert np.isnan(found.table.pvalue["g"])  # constant in every subject
    assert (np.array(p) <= 0.05).sum(axis=0).max() <= 6
    assert any("residual are within strata" in note for note in found.notes)


def test_interactions_within_strata_are_found(rng):
    Y, data = within_subjects(rng, effect=3.0)
    within = es.Design(strata="s")
    # one test, whether the formula names the strata or not
    found = [es.disco(Y, f, data=data, design=within, n_resamples=99, rng=0) for f in ("~ g * t", "~ s + t + g:t")]
    assert [each.terms[-1].pvalue for each in found] == [0.01, 0.01]
    assert ["residual are within strata" in str(each.notes) for each in found] == [True, False]  # F has it there, too
    Y, _ = within_subjects(rng)
    found = [es.disco(Y, f, data=data, design=within, n_resamples=99, rng=0) for f in ("~ g * t", "~ s + t + g:t")]
    assert found[0].terms[-1].pvalue == found[1].terms[-1].pvalue


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_w_of_many_groups_reads_their_own_pairs_only(rng, metric, monkeypatch):
    X = rng.normal(size=(60, 2))
    codes = rng.permutation(np.repeat(np.arange(20), 3))
    d = Dissimilarity.from_data(es.pairwise(X) if metric == "precomputed" else X, metric=metric, alpha=1.0)
    groups = Groups(codes, tuple(range(20)))
    expected = es.dispersion(X, codes).within
    assert d.within(groups) == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr("energystats.dissimilarity.ENTRIES_AT_ONCE", 1)
    assert d.within(groups) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_many_strata_count_in_the_estimate_of_memory(rng, monkeypatch):
    monkeypatch.setattr("energystats._runtime.available_memory", lambda: 2.0**30)
    data = pd.DataFrame(
        {"s": np.repeat(np.arange(9000), 2), "t": np.tile(["a", "b"], 9000), "x": rng.normal(size=18_000)}
    )
    Y, within = rng.normal(size=(18_000, 2)), es.Design(strata="s")
    with pytest.raises(MemoryError, match="means of 9000 strata"):
        es.disco(Y, "~ x + t", data=data, design=within, n_resamples=9, rng=0)


@pytest.mark.parametrize("decomposition", ["sequential", "marginal"])
def test_terms_that_later_ones_are_not_balanced_over_are_noted(decomposition, rng):
    """A chance share of a strong later term stays in the dispersion of an earlier one, and F has it out of W."""
    frame = pd.DataFrame({"a": np.repeat(list("uv"), 20), "b": np.tile(list("pq"), 20), "x": rng.normal(size=40)})
    frame["y"] = rng.normal(size=40)
    how = {"data": frame, "decomposition": decomposition, "n_resamples": 19, "rng": 0}
    for formula, names in (("a + b", ""), ("a * b", ""), ("a + x", "a"), ("x + a", "x"), ("a + b + x", "a, b")):
        notes = " ".join(es.disco(f"y ~ {formula}", **how).notes)
        assert ("Not adjusted for later terms" in notes) == (decomposition == "sequential" and names != "")
        if names and decomposition == "sequential":
            assert f"as in R: {names}. Where" in notes
    within = es.disco("y ~ a + x", design=es.Design(strata=np.arange(40) // 4), **how)
    assert "Not adjusted for later terms" not in " ".join(within.notes)  # a is constant in strata, and not tested


def test_spread_of_errors_is_regressed_on_other_terms_as_in_statsmodels(rng):
    errors = rng.normal(size=(50, 3))
    basis = np.column_stack([rng.normal(size=50), np.repeat([0, 1], 25), np.repeat([1, 0], 25)])  # one too many
    lengths = np.linalg.norm(errors, axis=1)
    # it squares what it is given
    seen = het_breuschpagan(np.sqrt(lengths), np.column_stack([np.ones(50), basis[:, :2]]), robust=True)[1]
    assert_allclose(koenker_pvalue(errors, basis), seen, rtol=1e-9)
    assert koenker_pvalue(np.ones((50, 1)), basis) == 1.0


def test_rejected_interactions_are_named_where_the_spread_of_errors_goes_with_other_terms(rng):
    x, g = np.repeat(np.linspace(0.1, 3, 40), 2), np.tile(["a", "b"], 40)
    signs = np.tile([-1, 1, 1, -1], 20)
    frame = pd.DataFrame({"x": x, "g": g, "fan": 2 * x + signs * x, "even": 2 * x + signs})
    frame["cross"] = frame["even"] + 3 * x * (frame["g"] == "a")
    frame["fan_cross"] = frame["fan"] + 3 * x * (frame["g"] == "a")
    named = {}
    for response in ("fan", "even", "cross", "fan_cross"):
        found = es.disco(f"{response} ~ x * g", data=frame, n_resamples=99, rng=rng)
        cautions = [note for note in found.notes if "spread of the errors" in note]
        named[response] = (found.to_frame().loc["x:g", "pvalue"] <= 0.05, len(cautions))
        assert all("p of x:g can be too small" in note for note in cautions)
    assert named["cross"] == (True, 0)
    assert named["fan_cross"] == (True, 1)
    assert named["even"][1] == 0
    assert named["fan"][1] == named["fan"][0]


def test_interactions_beside_heavy_tails_are_no_clearer_than_those_of_means(rng):
    """One error far out in 40, and p in location was as small as it can be: least squares shifts all cells by its part."""
    a, b = np.repeat(["a", "b"], 20), np.tile(np.repeat(["c", "d"], 10), 2)
    y = rng.normal(size=40) + 5 * (a == "b") + 5 * (b == "d")
    y[0] += 100
    data = pd.DataFrame({"y": y, "a": a, "b": b})
    found = es.disco("y ~ a * b", data=data, n_resamples=199, rng=0)
    row = {term.name: term for term in found.terms}["a:b"]
    assert row.pvalue_location <= 0.05 < row.pvalue
    means = {term.name: term for term in es.disco("y ~ a * b", data=data, alpha=2, n_resamples=199, rng=0).terms}["a:b"]
    assert row.pvalue == max(row.pvalue_features, row.pvalue_location, means.pvalue)
    told = [
        note for note in found.notes if "`pvalue` of a:b is no smaller than that of an interaction of means" in note
    ]
    assert len(told) == 1
    data["y"] = norm.ppf((rng.permutation(40) + 0.5) / 40) + 5 * (a == "b") + 5 * (b == "d")
    plain = es.disco("y ~ a * b", data=data, n_resamples=19, rng=0)
    assert "heavy tails" not in str(plain.notes)


@pytest.mark.parametrize(("alpha", "size"), [(2.0, 1e6), (1.9, 1e6), (1.0, 1e11)])
def test_a_clear_term_beside_one_that_dominates_has_its_p(alpha, size):
    """F was 0 and p 1, beside "the model fits every row exactly": all that is left was within the rounding of T."""
    rng = np.random.default_rng(1)
    a, b = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    y = rng.normal(size=40) + 1.5 * b
    frame = pd.DataFrame({"near": y, "far": y + size * a, "a": a, "b": b})
    near, far = (
        es.disco(f"{name} ~ a * b", data=frame, alpha=alpha, rng=0, n_resamples=199) for name in ("near", "far")
    )
    terms = {term.name: term for term in far.terms}
    assert terms["b"].pvalue == 0.005
    assert terms["b"].f > 1
    assert terms["a:b"].pvalue > 0.05
    assert "exactly" not in far.summary()
    assert any(note.startswith("The terms hold all but") for note in far.notes)
    assert not any(note.startswith("The terms hold all but") for note in near.notes)
    if alpha == 2:
        shifted = {term.name: term for term in near.terms}
        assert terms["b"].f == pytest.approx(shifted["b"].f, rel=1e-2)
        assert far.residual == pytest.approx(near.residual, rel=1e-2)


def test_a_term_that_leaves_nothing_but_rounding_is_told():
    a, b = np.tile([0, 1], 20), np.repeat([0, 1], 20)
    y = np.random.default_rng(1).normal(size=40) + 1.5 * b + 1e9 * a
    found = es.disco("y ~ a + b", data=pd.DataFrame({"y": y, "a": a, "b": b}), alpha=2, rng=0, n_resamples=199)
    assert (found.residual, found.terms[1].f, found.terms[1].pvalue) == (0, 0, 0.005)
    assert any(note.startswith("The terms hold all but the rounding of the dispersion") for note in found.notes)
    exact = es.disco("y ~ a", data=pd.DataFrame({"y": a, "a": a}), alpha=2, rng=0, n_resamples=199)
    assert not any(note.startswith("The terms hold") for note in exact.notes)


def test_ties_of_residuals_count_beside_a_term_that_dominates():
    """Residuals have the rounding of the points, and their ties are judged by it."""
    a, b = np.tile([0, 1], 6), np.repeat([0, 1], 6)
    y = np.array([0, 1, 1, 0, 1, 0, 1, 2, 2, 1, 1, 2.0])
    p = [
        es.disco("y ~ a + b", data=pd.DataFrame({"y": y / 3 + size * a, "a": a, "b": b}), alpha=1.5, rng=0).terms[1]
        for size in (1.0, 1e6 / 3, 1e9 / 7)
    ]
    assert p[0].pvalue_location == p[1].pvalue_location == p[2].pvalue_location
