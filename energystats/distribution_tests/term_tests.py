"""Tests of the terms of a linear model in the feature space of rho: a single factor, or several terms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from energystats._core import statistics
from energystats._core.labelings import Exchangeable, draw_key
from energystats._core.linear_models import Hypothesis, added_basis, null_forms, observed_forms, take_residuals
from energystats._core.powers_of_two import exponents
from energystats._core.pvalues import count_reaching, koenker_pvalue, over_null_models, tie_tolerance, upper_pvalue
from energystats._core.samples import has_heavy_tails
from energystats._runtime import Work, check_work, with_bar
from energystats._typing import AnyArray, FloatArray
from energystats.display.sentences import Caution, join_names
from energystats.display.tables import LEVEL
from energystats.dissimilarity import Blocks, Dissimilarity, Groups, note_one_rho
from energystats.distribution_tests.designs import FREE, Design, ExchangeableUnits
from energystats.distribution_tests.disco_result import DiscoResult, DiscoRow, is_interaction
from energystats.distribution_tests.found_groups import warn_if_found
from energystats.distribution_tests.permutation_test import (
    STATISTICS,
    GroupComparison,
    permutation_test,
    permutation_work,
)
from energystats.inputs.arrays import EPS
from energystats.inputs.formulas import Term
from energystats.inputs.labels import notes_on_names
from energystats.inputs.methods import Sampling
from energystats.metrics.closed_form import Euclidean
from energystats.pairs.workloads import Size, permuted_rows

__all__ = ["Decomposition", "ModelQuestion", "TermOptions", "linear_model_test", "one_way_test"]


CONSTANT_WITHIN = 1e-9  # of columns of length 1: what rounding leaves of one that is constant
ADDS_NOTHING = 1e-10  # of a column's length: what rounding leaves of one that adds nothing, unless its mean is large
STANDS_OUT = 1e3  # of the largest value, on which what a column adds has to stand out
EXACT_UP_TO = 2.0**53  # whole numbers
FAR = 100  # times its spread: a covariate so far from 0 is nearly a constant in products
IN_FEATURES = (
    "p of an adjusted term is about terms that are additive in the feature space of rho, which is curved unless rho is "
    "a squared Euclidean distance: {curved}. Where differences of coordinates have a meaning, give coordinates with a "
    "metric of differences."
)
CURVED = "two terms that shift points along one line do not add up there"
CURVED_INTERACTION = (
    "two terms that shift points along one line can show as an interaction there, the surer the larger they are"
)
MOST_ERRORS = 10_000  # whose tails are looked at
IN_HEAVY_TAILS = (
    "The errors are skew or have heavy tails, whose noise least squares spreads over all cells, so that p in "
    "location of an interaction is too small: `pvalue` of {names} is no smaller than that of an interaction of means "
    "(alpha = 2)."
)
UNLIKE_ERRORS = 0.01  # level at which errors spread unlike over the terms
IN_UNLIKE_ERRORS = (
    "The spread of the errors goes with other terms: p of {names} can be too small without any interaction.",
    "Residuals are permuted as if all errors had one distribution. The logarithm of a response whose spread grows with "
    "its mean often has such errors.",
)
IN_STRATA = (
    "p of a term is that of the model with the strata in it, whose dispersion and residual are within strata; the "
    "table has those of the model as given: put the strata into the formula, too, and both agree."
)
IN_SEQUENCE = (
    "Not adjusted for later terms, which F takes out of its residual, as in R: {names}. Where such a term is strong "
    'and not balanced over the earlier one, p of that is too small; `decomposition="marginal"` adjusts for it.'
)
UNTESTED = (
    "Without p, because constant within every stratum, or adding nothing there to the terms adjusted for: {names}."
)
FEW_DIGITS = 1e-6  # of T: a residual dispersion below it has few digits beside the rounding of its sums
DOMINATED = (
    "The terms hold all but {share} of the dispersion, so F, R2 and dispersions of the others have few digits.",
    "Sums of all dissimilarities are rounded, and what is left of them here is small beside T. Where p in location is "
    "known it is that of residuals, which are not. Subtract from the responses what is known.",
)
LOST_IN_RESIDUALS = 16 * EPS  # of the largest coordinate: what the residuals of a model may be wrong by
NOTHING_LEFT = 0.1  # of the tolerance of ties: a dispersion below it is rounding
BALANCED = 1e-8  # largest cosine of the angle between what a term adds and a column of a later term
Decomposition = Literal["sequential", "marginal"]


# ---------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, eq=False)
class TermOptions:
    """Hold options of `disco` for the test itself: permutations, kind of decomposition, generator, progress bar."""

    sampling: Sampling
    decomposition: Decomposition
    rng: np.random.Generator
    progress: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class ModelQuestion:
    """Hold the points of `disco`, the terms to test, and the strata to permute within."""

    d: Dissimilarity  # the points of complete rows
    terms: tuple[Term, ...]  # in order
    groups: Groups | None  # the single factor, where it was given as labels
    strata: Any  # labels of blocks, not yet checked, or None
    notes: tuple[str, ...] = ()  # what the names of levels hide

    @property
    def notes_on_strata(self) -> tuple[str, ...]:
        """Return notes on names of strata that may be misread."""
        labels = () if self.strata is None else np.asarray(self.strata.values, dtype=object).ravel()
        return notes_on_names(sorted({str(label) for label in labels if isinstance(label, str)}), "stratum", "strata")

    def factor(self) -> Groups | None:
        """Return the groups of a one-way model, one for each distinct row of its term; None for other models."""
        if self.groups is not None or len(self.terms) > 1:
            return self.groups
        columns = self.terms[0].columns
        # as many parameters as distinct rows: every one has a mean of its own, as in a one-way layout
        rows, codes = np.unique(columns, axis=0, return_inverse=True)
        means = len(rows) - 1
        if not 1 <= means <= columns.shape[1] or added_basis(rows, np.empty((len(rows), 0))).shape[1] < means:
            return None
        return Groups(codes.reshape(-1).astype(np.intp), tuple(range(len(rows))))


# ---------------------------------------------------------------- the tests


def one_way_test(question: ModelQuestion, groups: Groups, how: TermOptions) -> DiscoResult:
    """Test a single factor by permuting its group labels, all distinct labelings if they are few."""
    d, name = question.d, question.terms[0].name
    _check_residual(name, d.n, groups.k - 1)
    warn_if_found(groups)
    units = FREE if question.strata is None else ExchangeableUnits.of(groups, Design(strata=question.strata))
    comparison = GroupComparison(d, groups, STATISTICS["f"], how.sampling, how.rng, units)
    shows_bar = check_work(how.progress, d, *permutation_work(comparison, Size.of(d)))
    tested = permutation_test(replace(comparison, progress=shows_bar))
    row = DiscoRow(
        name=name,
        df=groups.k - 1,
        dispersion=tested.between,
        f=tested.statistic,
        share=tested.effect_size,
        pvalue=tested.pvalue,
        pvalue_features=tested.pvalue,
    )
    return DiscoResult(
        statistic=tested.statistic,
        pvalue=tested.pvalue,
        method="exact" if tested.method == "exact" else "permutation",
        n_resamples=tested.n_resamples,
        n_strata=tested.n_strata,
        null_hypothesis=tested.null_hypothesis,
        decomposition=how.decomposition,
        terms=(row,),
        residual=tested.within,
        df_residual=d.n - groups.k,
        total=tested.total,
        n=d.n,
        null_distribution=tested.null_distribution,
        metric=tested.metric,
        standardization=tested.standardization,
        notes=(*tested.notes, *question.notes),
    )


def linear_model_test(question: ModelQuestion, how: TermOptions) -> DiscoResult:
    """Test model terms by permuting rows, and terms adjusted for others also by permuting residuals of the points."""
    n_resamples = how.sampling.n_resamples
    if how.sampling.method == "exact":
        raise ValueError('`method="exact"` is for a single factor; use method="permutation".')
    d, names = question.d, [term.name for term in question.terms]
    strata, moved = _permuted_strata(question)
    blocks = (np.arange(d.n),) if strata is None else strata.members()
    model = _subspaces(question.terms)
    inner = model if strata is None or not model.is_adjusted else _subspaces_within(question.terms, strata)
    tested = [moves and each.df > 0 for moves, each in zip(moved, inner.hypotheses, strict=True)]
    residuals = _residuals_needed(d, inner, tested)
    errors = {j: _Errors.beside(d, inner, j) for j in residuals if is_interaction(names[j])}
    heavy = [j for j, each in errors.items() if each.have_heavy_tails]
    hypotheses, r = model.hypotheses, model.Q.shape[1]
    asked = _list_asked(model, inner, residuals, heavy)
    work = permuted_rows(Size.of(d), r, len(hypotheses), n_resamples).times(len(asked))
    how = replace(how, progress=check_work(how.progress, d, *_fits_of_strata(Size.of(d), inner, len(residuals)), work))
    unit = d.scale or 1.0  # in units of T the tolerance of ties has none; a scale of 0: all points coincide
    total = float(d.row_totals.sum()) / (2 * d.n)
    observed, null = _compute_dispersions(d, asked, unit, blocks, how)
    tolerance = tie_tolerance(1.0, d.n)
    nothing = NOTHING_LEFT * tolerance
    extreme = [count_reaching(seen, drawn, tolerance) for seen, drawn in zip(observed, null, strict=True)]
    pvalue, *pvalues = (upper_pvalue(count, n_resamples) for count in extreme)
    (S, W), *parts = observed[: 1 + len(names)]
    dominated = _has_few_digits(W * unit, total)
    of_terms = _TermPValues.of(pvalues[len(names) * (inner is not model) :], tested, residuals, heavy, dominated)
    rows = [
        DiscoRow(
            name=names[j],
            df=hypotheses[j].df,
            dispersion=S_t * unit if abs(S_t) > nothing else 0.0,
            f=_f_of(S_t, hypotheses[j].df, W, d.n - 1 - r, nothing),
            share=statistics.share(S_t * unit, total) if abs(S_t) > nothing else 0.0,
            pvalue=of_terms.over_null_models(j, is_interaction(names[j])),
            pvalue_features=of_terms.in_features[j],
            pvalue_location=of_terms.in_location.get(j, math.nan),
            is_adjusted=tested[j] and inner.is_adjusted_term(j),
        )
        for j, (S_t, _) in enumerate(parts)
    ]
    found = DiscoResult(
        statistic=_f_of(S, r, W, d.n - 1 - r, nothing),
        pvalue=pvalue,
        method="permutation",
        n_resamples=n_resamples,
        n_strata=0 if strata is None else strata.k,
        null_hypothesis=_describe_null_of_model(d, [names[j] for j in np.flatnonzero(tested)], strata is not None),
        decomposition=how.decomposition,
        terms=tuple(rows),
        residual=W * unit if abs(W) > nothing else 0.0,
        df_residual=d.n - 1 - r,
        total=total,
        n=d.n,
        null_distribution=statistics.f_ratio(null[0][0], total / unit, d.n, r + 1, tolerance),
        metric=d.metric,
        standardization=d.standardization,
    )
    in_sequence = _note_sequence(question.terms, inner, how, tested)
    return replace(found, notes=in_sequence + _notes_on_terms(question, inner, found, errors))


@dataclass(frozen=True, slots=True, eq=False)
class _TermPValues:
    """Hold the p-values of model terms under each null model, by their numbers."""

    in_features: list[float]  # in the feature space; NaN for terms without a test
    # in_location, of_means: of residuals of the coordinates, and of the means beside heavy tails, for the terms that
    # have them
    in_location: dict[int, float]
    of_means: dict[int, float]

    @classmethod
    def of(
        cls, pvalues: list[float], tested: list[bool], residuals: list[int], heavy: list[int], dominated: bool
    ) -> Self:
        """Sort p-values that are listed by null model: all terms, those with residuals, those with heavy tails.

        Where terms are `dominated`, labelings are all tied in the feature space, and p in location takes its place.
        """
        k = len(tested)
        in_features = [p if moves else math.nan for p, moves in zip(pvalues[:k], tested, strict=True)]
        in_location = dict(zip(residuals, pvalues[k : k + len(residuals)], strict=True))
        if dominated:
            in_features = [in_location.get(j, p) for j, p in enumerate(in_features)]
        return cls(in_features, in_location, dict(zip(heavy, pvalues[k + len(residuals) :], strict=True)))

    def over_null_models(self, j: int, is_interaction: bool) -> float:
        """Return the p-value of a term over its null models."""
        null_models = self.in_features[j], self.in_location.get(j), self.of_means.get(j, 0.0)
        return over_null_models(*null_models, is_interaction)


def _note_sequence(terms: tuple[Term, ...], inner: _Model, how: TermOptions, tested: list[bool]) -> tuple[str, ...]:
    """Return a note that names the terms of a sequence over which later ones, interactions aside, are not balanced."""
    if how.decomposition != "sequential":
        return ()
    names = []
    for j, term in enumerate(terms):
        later = [
            other.columns - other.columns.mean(axis=0) for other in terms[j + 1 :] if not is_interaction(other.name)
        ]
        if not later:
            break
        columns = np.hstack(later)
        lengths = np.linalg.norm(columns, axis=0)
        cosines = (inner.Q @ inner.hypotheses[j].added).T @ (columns / np.where(lengths > 0, lengths, 1.0))
        if tested[j] and np.abs(cosines).max(initial=0.0) > BALANCED:
            names.append(term.name)
    return (IN_SEQUENCE.format(names=join_names(names)),) if names else ()


def _notes_on_terms(
    question: ModelQuestion, inner: _Model, found: DiscoResult, errors: dict[int, _Errors]
) -> tuple[str, ...]:
    """Return notes on a test of several model terms or of a covariate."""
    rows, r = found.terms, found.n - 1 - found.df_residual
    of_features = [row for row in rows if row.is_adjusted and math.isnan(row.pvalue_location)]
    in_location = question.d.metric.only_means or not of_features
    curved = CURVED_INTERACTION if any(is_interaction(term.name) for term in question.terms) else CURVED
    untested = [row.name for row in rows if math.isnan(row.pvalue)]
    return (
        *((UNTESTED.format(names=", ".join(untested)),) if untested else ()),
        *note_one_rho(question.d, found.total - found.residual, found.total, r + 1),
        *question.notes,
        *question.notes_on_strata,
        *(() if inner.strata is None or inner.Q.shape[1] + inner.strata.k - 1 == r else (IN_STRATA,)),
        *(() if in_location else (IN_FEATURES.format(curved=curved),)),
        *_notes_on_errors(rows, errors),
        *_note_dominated(found),
    )


def _note_dominated(found: DiscoResult) -> tuple[str, ...]:
    """Return a caution if nearly all of the dispersion lies between the fitted values; else ()."""
    if not _has_few_digits(found.residual, found.total):
        return ()
    share = statistics.share(found.residual, found.total)
    if share == 0 and all(math.isnan(term.pvalue_location) for term in found.terms):
        return ()  # a model that fits every row leaves nothing to have digits
    short, more = DOMINATED
    return (Caution(short.format(share=f"{share:.1g}" if share else "the rounding"), more),)


def _notes_on_errors(rows: tuple[DiscoRow, ...], errors: dict[int, _Errors]) -> tuple[str, ...]:
    """Return notes on interactions beside heavy tails, and on rejected ones where the spread goes with other terms."""
    heavy = join_names([rows[j].name for j, each in errors.items() if each.have_heavy_tails])
    unlike = join_names([rows[j].name for j, each in errors.items() if rows[j].pvalue <= LEVEL and each.spread_unlike])
    short, more = IN_UNLIKE_ERRORS
    return (
        *((IN_HEAVY_TAILS.format(names=heavy),) if heavy else ()),
        *((Caution(short.format(names=unlike), more),) if unlike else ()),
    )


def _residuals_needed(d: Dissimilarity, model: _Model, tested: list[bool]) -> list[int]:
    """List the numbers of model terms, adjusted for others, whose test also permutes residuals of coordinates."""
    # other metrics compare no differences
    if not d.metric.by_differences:
        return []
    # with squared distances the feature space is that of the coordinates: no need, but beside terms that dominate them
    if d.metric.only_means and not _is_dominated(d, model):
        return []
    return [j for j, is_tested in enumerate(tested) if is_tested and model.is_adjusted_term(j)]


def _is_dominated(d: Dissimilarity, model: _Model) -> bool:
    """Return whether terms of a model hold so much of the dispersion that the rest is near the rounding of sums."""
    whole = Hypothesis(np.empty((model.Q.shape[1], 0)), np.eye(model.Q.shape[1]))
    ((S, W),) = next(_Asked(model, (whole,)).dispersions(d, 1.0, iter(())))
    return _has_few_digits(float(W[0]), float(S[0] + W[0]))


def _has_few_digits(residual: float, total: float) -> bool:
    """Return whether a residual dispersion is so small beside the total that rounding of sums leaves it few digits."""
    return residual < FEW_DIGITS * total


def _fits_of_strata(size: Size, model: _Model, count: int) -> tuple[Work, ...]:
    """Estimate time and memory of residuals of coordinates from stratum means; none without strata."""
    if model.strata is None or count == 0:
        return ()
    entries = float(size.n) * model.strata.k
    advice = "Use fewer strata, or alpha=2, which needs no residuals."
    what = f"residuals from the means of {model.strata.k} strata"
    return (Work(what=what, advice=advice, flops=4.0 * entries * size.columns * count, bytes=16.0 * entries),)


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """Hold residuals of the points, or of some of them, from the terms that one term is adjusted for."""

    values: FloatArray  # (r, d) the residuals
    basis: FloatArray  # (r, q) the same rows of the basis of these terms

    @classmethod
    def beside(cls, d: Dissimilarity, model: _Model, j: int) -> _Errors:
        """Compute the residuals from what term j is adjusted for, of so many rows as suffice to see their shape."""
        basis = model.reduced_basis(j)
        left = d.residuals(basis)
        rows = np.arange(d.n, dtype=np.intp)
        if d.n > MOST_ERRORS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ERRORS, replace=False))
        return cls(left.rows.pick(rows) if isinstance(left, Blocks) else left.points[rows], basis[rows])

    @property
    def have_heavy_tails(self) -> bool:
        """Return whether errors are skew or have heavy tails, so that least squares fits them badly."""
        return has_heavy_tails(self.values)

    @property
    def spread_unlike(self) -> bool:
        """Return whether the lengths of errors go with the terms that one is adjusted for."""
        return koenker_pvalue(self.values, self.basis) <= UNLIKE_ERRORS


def _list_asked(model: _Model, inner: _Model, residuals: list[int], heavy: list[int]) -> list[_Asked]:
    """List the hypotheses to compute: whole model, each term, each within strata, terms by residuals, and of means."""
    r = model.Q.shape[1]
    asked = [_Asked(model, (Hypothesis(np.empty((r, 0)), np.eye(r)), *model.hypotheses))]
    if inner is not model:
        asked.append(_Asked(inner, inner.hypotheses))
    asked += [_Asked(inner, (inner.hypotheses[j],), inner.reduced_basis(j)) for j in residuals]
    return [*asked, *(_Asked(inner, (inner.hypotheses[j],), of_means=True) for j in heavy)]


def _permuted_strata(question: ModelQuestion) -> tuple[Groups | None, list[bool]]:
    """Return the strata, None if there are none, and for each model term whether permuting within strata changes it."""
    if question.strata is None:
        return None, [True] * len(question.terms)
    strata = Groups.from_labels(question.strata, question.d.n, name="strata")
    blocks = strata.members()
    moved = [_varies_within(blocks, term) for term in question.terms]
    if not any(moved):
        raise ValueError(
            f"`strata` must leave something to permute, but in each of its {len(blocks)} blocks all rows have the same "
            f"{', '.join(term.name for term in question.terms)}."
        )
    return strata, moved


def _varies_within(blocks: tuple[Any, ...], term: Term) -> bool:
    """Return whether a model term, and what it adds to the terms it is adjusted for, vary within some stratum."""
    # permuting within blocks cannot move what is constant in each; what such a term adds to others may vary where rows
    # are not balanced over the blocks, but it says nothing of the term, whose own values were never exchanged
    nothing = np.empty((len(term.columns), 0))
    own, added = added_basis(term.columns, nothing), added_basis(term.columns, added_basis(term.others, nothing))
    return all(any((np.ptp(Q[rows], axis=0) > CONSTANT_WITHIN).any() for rows in blocks) for Q in (own, added))


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Hold the subspaces of a linear model, and the strata that every term is adjusted for."""

    Q: FloatArray  # (n, r) orthonormal basis of all terms, without the constant and the means of the strata
    hypotheses: tuple[Hypothesis, ...]  # each term, in coordinates of that basis
    strata: Groups | None = None  # the strata; None if terms are not adjusted for any

    def is_adjusted_term(self, j: int) -> bool:
        """Return whether model term j is adjusted for other terms, apart from strata, whose columns vary.

        Without it rows are exchangeable under the hypothesis of the term, and its p-value is exact.
        """
        return bool(self.hypotheses[j].reduced.shape[1])

    @property
    def is_adjusted(self) -> bool:
        """Return whether some model term is adjusted for another one."""
        return any(self.is_adjusted_term(j) for j in range(len(self.hypotheses)))

    def reduced_basis(self, j: int) -> FloatArray:
        """Return an orthonormal basis of the terms and strata that term j is adjusted for; (n, q)."""
        basis = self.Q @ self.hypotheses[j].reduced
        if self.strata is None:
            return basis
        sizes = np.bincount(self.strata.codes)
        return np.hstack([np.eye(self.strata.k)[self.strata.codes] / np.sqrt(sizes), basis])

    def total(self, points: Dissimilarity) -> float:
        """Compute the total dispersion of points, or the sum of total dispersions over strata."""
        if self.strata is None:
            return float(points.row_totals.sum()) / (2 * points.n)
        return points.within(self.strata)


def _subspaces(terms: tuple[Term, ...]) -> _Model:
    """Compute an orthonormal basis of the model of all terms, without the constant, and the hypothesis of each term."""
    n = len(terms[0].columns)
    nothing = np.empty((n, 0))
    Q = nothing
    for term in terms:
        # Gram-Schmidt over the terms: what each adds to those before it
        both = np.hstack([term.others, term.columns])  # a term's columns alone depend on what they are coded after
        Q = np.hstack([Q, added_basis(both, Q)])
    _check_residual(", ".join(term.name for term in terms), n, Q.shape[1])
    hypotheses = []
    for term in terms:
        reduced = added_basis(term.others, nothing)
        added = added_basis(term.columns, reduced)
        df = added.shape[1]
        if df < term.columns.shape[1]:
            _check_loss(term, terms, df, added_basis(term.columns, reduced, ADDS_NOTHING).shape[1])
        else:
            _check_rounding(term, reduced)
        hypotheses.append(Hypothesis(Q.T @ reduced, Q.T @ added))
    return _Model(Q, tuple(hypotheses))


def _subspaces_within(terms: tuple[Term, ...], strata: Groups) -> _Model:
    """Compute a basis of the model of all terms within strata, from columns centred in each stratum.

    Rows are permuted within strata, which leaves differences between these in W: beside them F does not see that the
    fit of the reduced model took dimensions from the residuals, and p would be too small [theory 3, strata].
    """
    nothing = np.empty((strata.codes.size, 0))
    inner = [Term(t.name, _centred_within(t.columns, strata), _centred_within(t.others, strata)) for t in terms]
    Q = nothing
    for term in inner:
        Q = np.hstack([Q, added_basis(np.hstack([term.others, term.columns]), Q)])
    names = f"{', '.join(term.name for term in terms)} and the strata"
    _check_residual(names, strata.codes.size, strata.k - 1 + Q.shape[1])
    hypotheses = []
    for term in inner:
        reduced = added_basis(term.others, nothing)
        hypotheses.append(Hypothesis(Q.T @ reduced, Q.T @ added_basis(term.columns, reduced)))
    return _Model(Q, tuple(hypotheses), strata)


def _centred_within(columns: FloatArray, strata: Groups) -> FloatArray:
    """Scale columns by powers of 2, subtract stratum means, and set those constant in strata to 0; (n, p) -> (n, p)."""
    columns = np.ldexp(columns, -exponents(np.abs(columns).max(axis=0)))
    left = np.empty_like(columns)
    for rows in strata.members():
        left[rows] = columns[rows] - columns[rows].mean(axis=0)
    left[:, np.linalg.norm(left, axis=0) <= CONSTANT_WITHIN * np.linalg.norm(columns, axis=0)] = 0.0
    return left


def _check_rounding(term: Term, reduced: FloatArray) -> None:
    """Raise ValueError if a column adjusted for other terms is nothing but rounding error."""
    columns = term.columns
    largest = np.abs(columns).max(axis=0)
    exact = (largest <= EXACT_UP_TO) & (columns == np.rint(columns)).all(axis=0)  # whole numbers have none
    scaled = columns / np.where(largest > 0, largest, 1.0)
    left = take_residuals(scaled - scaled.mean(axis=0), reduced)
    lost = ~exact & (np.square(left).mean(axis=0) < (STANDS_OUT * EPS) ** 2) & (np.ptp(columns, axis=0) > 0)
    if lost.any():
        j = int(lost.argmax())
        raise ValueError(
            f"`formula`: what {term.name} adds is lost in rounding, all or in part: its values reach {largest[j]:.3g}, "
            "and without the terms it is adjusted for only some of their last digits are left; subtract a constant "
            "from the variable."
        )


def _check_loss(term: Term, terms: tuple[Term, ...], df: int, possible: int) -> None:
    """Raise ValueError if a model term adds nothing to those it is adjusted for, or rounding hides how much it adds."""
    means, spreads = (f(np.hstack([t.columns for t in terms]), axis=0) for f in (np.mean, np.ptp))
    ratios = np.abs(means) / np.where(spreads == 0, np.inf, spreads)
    worst = int(ratios.argmax())
    if ratios[worst] > FAR and (possible > df or not df):
        name = [t.name for t in terms for _ in range(t.columns.shape[1])][worst]
        raise ValueError(
            f"`formula`: what {term.name} adds is lost in rounding, all or in part, because {name} lies far from 0: it "
            f"varies by {spreads[worst]:.3g} around {means[worst]:.3g}; subtract a constant from it."
        )
    if not df:
        why = "adds nothing but rounding to the terms it is adjusted for" if term.others.shape[1] else "does not vary"
        cure = " (of powers of numbers far from 0, first subtract a constant)" * ("**" in term.name)
        raise ValueError(f"`formula`: {term.name} {why}; leave it out{cure}.")
    if possible > df:
        raise ValueError(
            f"`formula`: {term.name} has {possible} degrees of freedom or {df}, by what counts as rounding, because "
            "some of its columns nearly follow from the terms it is adjusted for; leave it out or merge levels."
        )


def _check_residual(names: str, n: int, df: int) -> None:
    """Raise ValueError if a model leaves no residual degrees of freedom."""
    if n - 1 - df < 1:
        raise ValueError(
            f"The model of {names} leaves no residual degrees of freedom: it has a parameter for each of the {n} rows; "
            "leave terms out or merge levels."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Hold hypotheses of a linear model that are tested with one matrix of rho: that of the points, or of residuals."""

    model: _Model  # the model
    hypotheses: tuple[Hypothesis, ...]  # what is tested there
    # (n, q) basis of a model whose residuals of the coordinates take the place of the points
    adjusted: FloatArray | None = None
    of_means: bool = False  # whether squared distances of the coordinates take the place of rho

    def dispersions(
        self, d: Dissimilarity, unit: float, orders: Iterator[AnyArray]
    ) -> Iterator[list[tuple[FloatArray, FloatArray]]]:
        """Yield between and residual dispersions of each hypothesis, first of the observed rows, then of permuted."""
        points, Q = d, self.model.Q
        if self.adjusted is not None:  # beside terms that dominate the points their residuals are small
            points = d.residuals(self.adjusted)
            unit = (points.scale or unit) * _rounding_of_residuals(d, points)
        if self.of_means:
            points = d.under(Euclidean(2.0))
            unit = points.scale or 1.0
        RQ = points.pairs.multiply(Q)
        seen = observed_forms(Q, RQ)
        gram, total = seen.own[0], self.model.total(points)
        for forms in itertools.chain((seen,), null_forms(points.pairs.block_sums, Q, RQ, orders)):
            pairs = (hypothesis.dispersions(forms, gram, total) for hypothesis in self.hypotheses)
            yield [(S / unit, W / unit) for S, W in pairs]


def _rounding_of_residuals(d: Dissimilarity, residuals: Dissimilarity) -> float:
    """Return by how much ties of residuals are wider than those of points, whose rounding they have: 1 or more."""
    width, own = (float(np.ptp(each.corners(), axis=0).max()) for each in (d, residuals))
    return max(1.0, LOST_IN_RESIDUALS * width / (own or width or 1.0) / tie_tolerance(1.0, d.n))


def _compute_dispersions(
    d: Dissimilarity, asked: list[_Asked], unit: float, blocks: tuple[Any, ...], how: TermOptions
) -> tuple[list[tuple[float, float]], list[tuple[FloatArray, FloatArray]]]:
    """Compute between and residual dispersions of each hypothesis, observed and permuted, divided by `unit`."""
    n_resamples, key = how.sampling.n_resamples, draw_key(how.rng)  # the same permutations for all hypotheses
    found: list[list[tuple[FloatArray, FloatArray]]] = [[] for each in asked for _ in each.hypotheses]
    starts = np.cumsum([0, *(len(each.hypotheses) for each in asked)]).tolist()
    orders = (Exchangeable(np.arange(d.n), blocks).random(n_resamples, key) for _ in asked)
    parts = (
        (start, dispersions)
        for start, each, permuted in zip(starts, asked, orders, strict=False)
        for dispersions in each.dispersions(d, unit, permuted)
    )
    total = (n_resamples + 1) * len(asked)  # the observed order first
    with closing(
        with_bar(parts, bool(how.progress), total=total, unit="permutation", size=lambda part: len(part[1][0][0]))
    ) as bar:
        for start, dispersions in bar:
            for i, pair in enumerate(dispersions, start):
                found[i].append(pair)
    observed = [(float(S[0]), float(W[0])) for (S, W), *_ in found]
    null = [(np.concatenate([S for S, _ in others]), np.concatenate([W for _, W in others])) for _, *others in found]
    return observed, null


def _f_of(S: float, df: int, W: float, df_residual: int, tolerance: float) -> float:
    """Compute the F ratio of between to residual dispersion, (S/df) / (W/df_residual); 0 where both vanish."""
    return float(statistics.f_ratio(np.asarray(S), S + W, df + df_residual + 1, df + 1, tolerance))


def _describe_null_of_model(d: Dissimilarity, names: list[str], within: bool) -> str:
    """Return the null hypothesis of a whole model as text."""
    sentence = f"the distribution of the points does not depend on {', '.join(names)}"
    sentence += " within any stratum" * within
    return sentence + d.metric.about_means
