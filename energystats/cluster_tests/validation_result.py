"""Answers about a partition: all points, the partition, its merges, clusters, variables, points, outside labels."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from energystats._core.rand_index import adjusted_rand_index
from energystats._typing import FloatArray, IntArray
from energystats.cluster_tests.merges import MOVED_AT_MOST, Merge
from energystats.cluster_tests.results import PLACES, ClusterTestResult, OfOtherClusters
from energystats.cluster_tests.split import ALIKE
from energystats.clustering.partition import Partition
from energystats.clustering.partition_views import choose_plane
from energystats.display.numbers import numbers, p_text, probability, proportion
from energystats.display.result import VerdictFirst
from energystats.display.sentences import write_counts
from energystats.display.tables import LEVEL, TextTable, cut_all, text_table
from energystats.metrics.closed_form import Euclidean
from energystats.metrics.general import is_mahalanobis

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["AFTER", "EXACT", "MEASURED", "MEASURED_HERE", "ONE_TEST", "Answer", "ClusterValidationResult"]


MEASURED = "measured, docs/significance.md"
MEASURED_HERE = "measured, docs/clustering.md"
EXACT = "exact"
ONE_TEST = "one test"
AFTER = "not below p of all points"  # which is asked first
STAYS = 0.9  # share of resamples in which the cluster of a point is sure enough
COLUMNS_SHOWN = 8  # those with the smallest p, and all that are rejected
FEWEST_LEFT_OUT = 5  # columns: fewer are listed, too
MERGES_SHOWN = 3
SETS_SHOWN = 3  # of outside labels, those with the smallest p
ELSEWHERE = {  # where the structure shows, by the space of the test
    "as given": 'Another space may show it, such as metric="mahalanobis" or standardize=True.',
    "decorrelated": 'It shows among decorrelated columns, between other clusters: take metric="mahalanobis".',
    "columns": "It shows most in some columns, standardized, between the clusters of `.structure.partition`.",
}


SPLIT_OF_TREE = (
    "p at a merge is that of the split in the tree: a small one means that some line between clusters, of the points "
    "as given, decorrelated or in some columns, shows more than one mode; not that the cut is right."
)
DESCRIPTIONS = "Stability and silhouettes describe; one long cloud is cut at the same place again and again."
ALIKE_SPREADS = 1.1  # times that the largest standard deviation of a column is as large as the smallest


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Hold one question about a partition, and its answer."""

    question: str  # what the question is about
    what: str  # which merge, variable or labels
    statistic_name: str  # "E" (excess-split index) or "adjusted Rand"
    statistic: float  # its value; NaN where nothing was tested
    # pvalue, pvalue_adjusted: raw, and adjusted over the family; NaN where nothing was tested
    pvalue: float
    pvalue_adjusted: float
    null_hypothesis: str  # what a small p speaks against, and nothing else; or why nothing was tested
    family: str  # what the adjusted p was adjusted over
    level: str  # what is known of the level of the p-value

    @property
    def rejected(self) -> bool:
        """Return whether the adjusted p-value of an answer is at most .05."""
        return self.pvalue_adjusted <= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClusterValidationResult(VerdictFirst):
    """Hold the answers for and against the clusters of a partition, question by question.

    Attributes
    ----------
    answers : tuple of Answer
        One row of `to_frame()` each.
    partition : Partition
        The clusters that were asked about.
    structure : ClusterTestResult or None
        Test of all points, as `cluster_test` makes it; None where nothing could be tested.
    merge_rows : tuple of Merge
        Merges behind `merges`, that of all clusters first.
    jaccard : ndarray of shape (k,)
        Mean Jaccard similarity of each cluster to the most similar one of bootstrap samples.
    stays : ndarray of shape (n,)
        Share of these samples with the point in which it lies in the most similar cluster of its own.
    share : ndarray of shape (k,)
        Parts of S: size times the squared distance of the cluster's mean from that of all points, over S.
    silhouette, energy_silhouette, margin : ndarray of shape (n,)
        Of every point: as `silhouette` computes them, and the growth of W if it moved to `neighbour`.
    neighbour : ndarray of shape (n,)
        The best other cluster of every point; -1 where there is none.
    n_resamples : int
        Draws behind each p-value.
    n_stability : int
        Bootstrap samples; 0 where there is nothing that could cluster them.
    from_tree : bool
        Whether the merges are the tested splits of a tree, with the p-values that they have there.
    notes : tuple of str
        What a reader has to assume or know.
    """

    answers: tuple[Answer, ...] = field(repr=False)
    partition: Partition = field(repr=False)
    structure: ClusterTestResult | None = field(default=None, repr=False)
    merge_rows: tuple[Merge, ...] = field(repr=False)
    jaccard: FloatArray = field(repr=False)
    stays: FloatArray = field(repr=False)
    share: FloatArray = field(repr=False)
    silhouette: FloatArray = field(repr=False)
    energy_silhouette: FloatArray = field(repr=False)
    margin: FloatArray = field(repr=False)
    neighbour: IntArray = field(repr=False)
    n_resamples: int
    n_stability: int
    from_tree: bool = field(repr=False)

    @property
    def k(self) -> int:
        """Return the number of clusters."""
        return self.partition.k

    @property
    def supported(self) -> tuple[bool, ...]:
        """Return for each cluster whether it is alone in `groups` and tests part it from those it first merges with."""
        groups = self.groups
        return tuple(
            merge is not None and merge.separates and (j,) in groups for j, merge in enumerate(self._first_merges())
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of clusters that tests do not separate from each other.

        Those in one group have a merge with an adjusted p above .05, or without a border. There is no border where
        fewer than .7 of the points held out lie on their side of the hyperplane, or where a gap parts two clusters
        otherwise, and leaves more than .1 of their points on the other side.

        A cluster of fewer than five points, which no test can part from others, goes with those that it meets first;
        if these are several groups, it is in none.
        """
        if not self.merge_rows:
            return ((0,),)
        parted: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for merge in reversed(self.merge_rows):  # those below come first
            left, right, rest = (parted.get(side, [side]) for side in (merge.left, merge.right, merge.passed_to))
            if merge.passed_to and len(rest) > 1:
                parted[merge.clusters] = rest
            elif merge.separates:
                parted[merge.clusters] = left + right
        everything = self.merge_rows[0].clusters
        return tuple(sorted(parted.get(everything, [everything])))

    def _first_merges(self) -> list[Merge | None]:
        """Return for each cluster the merge that first joins it with others, or None."""
        return [next((m for m in self.merge_rows if (j,) in (m.left, m.right)), None) for j in range(self.k)]

    @property
    def clusters(self) -> pd.DataFrame:
        """Return a data frame with one row per cluster: size, share of dispersion, stability, silhouette, p."""
        import pandas as pd

        first = self._first_merges()
        labels = self.partition.labels

        def mean(values: FloatArray) -> list[float]:
            return [float(values[labels == j].mean()) for j in range(self.k)]

        meets = ["" if m is None else "+".join(map(str, m.right if m.left == (j,) else m.left))
                 for j, m in enumerate(first)]  # fmt: skip
        return pd.DataFrame(
            {
                "cluster": range(self.k),
                "size": self.partition.sizes,
                "share_of_between": self.share,
                "jaccard": self.jaccard,
                "silhouette": mean(self.silhouette),
                "energy_silhouette": mean(self.energy_silhouette),
                "first_meets": meets,
                "pvalue": [np.nan if m is None else m.pvalue for m in first],
                "pvalue_adjusted": [np.nan if m is None else m.pvalue_adjusted for m in first],
            }
        )

    @property
    def merges(self) -> pd.DataFrame:
        """Return a data frame with one row per merge of clusters, the top one first."""
        import pandas as pd

        names = ["left", "right", "size", "height", "parent", "statistic", "pvalue", "pvalue_adjusted", "separated",
                 "parted", "gap", "moved", "reason"]  # fmt: skip
        frame = pd.DataFrame([asdict(merge) for merge in self.merge_rows], columns=names)
        return frame.astype({"parent": "Int64"})

    @property
    def variables(self) -> pd.DataFrame:
        """Return a data frame with the test of unimodality of each column, with Holm-adjusted p-values."""
        import pandas as pd

        rows = [(a.what, a.statistic, a.pvalue, a.pvalue_adjusted) for a in self.answers if a.question == "variable"]
        return pd.DataFrame(rows, columns=["variable", "statistic", "pvalue", "pvalue_adjusted"])

    @property
    def uncertain(self) -> IntArray:
        """Return numbers of points that left their cluster in over .1 of resamples, or have a silhouette below 0."""
        return np.flatnonzero((self.stays < STAYS) | (self.silhouette < 0))

    @property
    def points(self) -> pd.DataFrame:
        """Return a data frame with one row per point: cluster, stability, silhouettes, margin, neighbour."""
        import pandas as pd

        index = self.partition.index
        return pd.DataFrame(
            {
                "cluster": self.partition.labels.copy(),
                "stays": self.stays.copy(),
                "silhouette": self.silhouette.copy(),
                "energy_silhouette": self.energy_silhouette.copy(),
                "margin": self.margin.copy(),
                "neighbour": self.neighbour.copy(),
            },
            index=None if index is None else index.copy(),
        )

    def _frame(self) -> pd.DataFrame:
        """Return a data frame with one row per test of the partition: statistic, p, null hypothesis."""
        import pandas as pd

        return pd.DataFrame([asdict(answer) for answer in self.answers])

    def _main_columns(self) -> tuple[str, ...]:
        return ("question", "what", "statistic", "pvalue", "pvalue_adjusted")

    def _of(self, question: str) -> list[Answer]:
        """Return the results of one kind of test in a validation of clusters, such as those of merges."""
        return [answer for answer in self.answers if answer.question == question]

    # ------------------------------------------------------------ in words

    def _tables(self) -> list[TextTable]:
        shown, left_out = self._shown_answers()
        cells = [
            [*numbers([answer.statistic]), probability(answer.pvalue), probability(answer.pvalue_adjusted)]
            for answer in shown
        ]
        stubs = [f"{answer.question} {answer.what}".rstrip() for answer in shown]
        if left_out:
            least = min(answer.pvalue_adjusted for answer in left_out)
            cells.append(["", "", f">= {probability(least)}"])
            stubs.append(f"{len(left_out)} more columns: `.variables`")
        heads = ["statistic", "p", "adjusted p"]
        questions = text_table(
            cells,
            heads,
            cut_all(stubs, 48),
            "Is the cluster real?" if self.k == 1 else f"Are the {self.k} clusters real?",
            "question",
        )
        frame = self.clusters
        rows = list(
            zip(
                map(str, frame["size"]),
                *(map(proportion, frame[name]) for name in ("share_of_between", "jaccard", "silhouette")),
                frame["first_meets"].replace("", "-"),
                map(probability, frame["pvalue_adjusted"]),
                strict=True,
            )
        )
        heads = ["size", "share of S", "Jaccard", "silhouette", "first meets", "adjusted p"]
        return [questions, text_table(rows, heads, [f"cluster {j}" for j in range(self.k)], "Clusters")]

    def _shown_answers(self) -> tuple[list[Answer], list[Answer]]:
        """Return the tests that a summary lists, and the columns that it leaves out where there are many."""
        columns = self._of("variable")
        by_p = sorted(columns, key=lambda answer: (answer.pvalue_adjusted, answer.pvalue))
        # those without a p are listed: their reason is in the table
        left_out = [answer for answer in by_p[COLUMNS_SHOWN:] if not answer.rejected and answer.pvalue_adjusted > 0]
        if len(left_out) < FEWEST_LEFT_OUT:
            return list(self.answers), []
        hidden = set(map(id, left_out))  # two columns may have the same name and the same numbers
        return [answer for answer in self.answers if id(answer) not in hidden], left_out

    def _rests_on(self) -> list[str]:
        """Return at most six sentences with the facts behind the verdict on the clusters."""
        everywhere, own = self._of("all points")[0], self._of("partition")[0]
        lines = [_line("all points", everywhere)]
        if np.isnan(own.pvalue):
            lines += [] if own.null_hypothesis == everywhere.null_hypothesis else [_line("partition", own)]
        else:
            own_p = f"adjusted {p_text(own.pvalue_adjusted)} (varies with the seed)"
            where = "the line between its clusters" if self.k == 2 else "each cluster's line to the rest"
            lines.append(f"Partition, along {where}: {own_p}.")
        tested = [answer for answer in self._of("merge") if not np.isnan(answer.pvalue)]
        if tested:
            shown = ", ".join(f"{a.what} {p_text(a.pvalue_adjusted)}" for a in tested[:MERGES_SHOWN])
            more = f" and {len(tested) - MERGES_SHOWN} more" if len(tested) > MERGES_SHOWN else ""
            lines.append(f"Merges, adjusted over all (vary with the seed): {shown}{more}.")
        variables = self._of("variable")
        if variables:
            split = [answer.what for answer in variables if answer.rejected]
            found = ", ".join(cut_all(split[:5])) + (" and others" if len(split) > 5 else "") if split else "none shown"
            compared = self.partition.metric.compares
            rows = f", of {compared}," * bool(compared)
            alone = everywhere.rejected or len(variables) == 1 or math.isnan(everywhere.pvalue)
            holm = "Holm" if alone else "Holm, and not below p of all points"
            lines.append(f"Columns{rows} that are not unimodal, of {len(variables)} ({holm}): {found}.")
        if self.n_stability:
            lowest = int(np.nanargmin(self.jaccard))
            least = np.floor(100 * self.jaccard[lowest]) / 100
            uncertain = f"{self.uncertain.size} of {self.partition.labels.size} points"
            lines.append(
                f"Stability, no test: mean Jaccard at least {least:.2f} (cluster {lowest}); "
                f"{uncertain} {'is' if self.uncertain.size == 1 else 'are'} uncertain."
            )
        outside = sorted(self._of("outside labels"), key=lambda answer: (answer.pvalue_adjusted, -answer.statistic))
        if outside:
            shown = ", ".join(f"{a.what} {a.statistic:.3f} ({p_text(a.pvalue_adjusted)})" for a in outside[:SETS_SHOWN])
            more = f" and {len(outside) - SETS_SHOWN} more" if len(outside) > SETS_SHOWN else ""
            holm = f", p adjusted over {len(outside)} sets (Holm)" if len(outside) > 1 else ""
            lines.append(f"Adjusted Rand index with {shown}{more}{holm}.")
        return lines

    def _explanations(self) -> list[str]:
        if self.from_tree:
            return [SPLIT_OF_TREE, DESCRIPTIONS]
        if not self.merge_rows:
            return [DESCRIPTIONS]
        return [
            "A small p at a merge means that its region has more than one mode along the line between its two sides; "
            "not where the border runs, nor that either side is one cluster. A large p says nothing of other lines: "
            "`cluster_tree` looks for them.",
            DESCRIPTIONS,
        ]

    def _conclusion(self) -> str:
        known = {answer.question: answer for answer in (*self._of("all points"), *self._of("partition"))}
        if self.k == 1:
            modes = [answer.what for answer in self._of("variable") if answer.rejected]
            shown = f"; more than one mode by itself: {', '.join(cut_all(modes[:3]))}"
            return f"One cluster: nothing was divided{shown if modes else ', and nothing is to be shown'}."
        if all(np.isnan(answer.pvalue) for answer in known.values()):
            return "No statement about these clusters: neither all points nor the partition were tested."
        everywhere, own = known["all points"], known["partition"]
        of_all = p_text(everywhere.pvalue)
        if self.from_tree:
            if len(self.groups) > 1:
                return f"At level {LEVEL:g}: {self._separate(self.groups).removesuffix('.')}{self._not_along_lines()}."
            least = p_text(min(merge.pvalue_adjusted for merge in self.merge_rows))
            return f"At level {LEVEL:g}: no split of the tree was significant (smallest adjusted {least})."
        if np.isnan(own.pvalue):
            if everywhere.rejected:
                also = "whether it is that of these labels was not tested, for a reason among the notes"
                return f"At level {LEVEL:g}: there is structure ({of_all}), but {also}."
            if few := self._too_few_draws():
                return few
            return f"At level {LEVEL:g}: no second mode was found in these points ({of_all})."
        groups = self.groups
        if not own.rejected and len(groups) == 1:
            modes = [answer.what for answer in self._of("variable") if answer.rejected]
            if not everywhere.rejected and not modes:
                if few := self._too_few_draws():
                    return few
                if own.pvalue <= LEVEL:
                    first = f"At level {LEVEL:g}: no second mode was found among all points ({of_all}), asked first."
                    alone = f"Asked alone, this partition has {p_text(own.pvalue)}"
                    units = "; columns of unlike spread can hide clusters from all points, see `standardize`"
                    shared = isinstance(self.partition.metric, Euclidean) and self.partition.standardization is None
                    return f"{first} {alone}{units * (shared and self._has_unlike_spreads())}."
                why_so = "these clusters may be parts of one cloud"
                # a user's clusterer is used with the points as given alone
                lines = "" if self.partition.n_init and self.k == 2 else " along the lines between these clusters"
                return f"At level {LEVEL:g}: no second mode was found{lines} ({of_all}); {why_so}."
            if everywhere.rejected and (where := self._same_clusters()):
                alone = f"the test along the line{'s' * (self.k > 2)} between them does not reject"
                but = f"but {alone} ({p_text(own.pvalue_adjusted)})"
                return f"At level {LEVEL:g}: there is structure ({of_all}), and {where}; {but}."
            seen = f"{', '.join(cut_all(modes[:3]))}: more than one mode" if modes else of_all
            other = self._elsewhere() if everywhere.rejected else "It shows in single columns, each by itself."
            return (
                f"At level {LEVEL:g}: there is structure ({seen}), but not along the lines of this partition. {other}"
            )
        return f"At level {LEVEL:g}: {self._separate(groups)}"

    def _not_along_lines(self) -> str:
        """Return text that clusters of a tree, split in any space, show nothing along the lines between them; or ""."""
        own = self._of("partition")[0]
        if not self.from_tree or np.isnan(own.pvalue_adjusted) or own.rejected:
            return ""
        lines, p = f"the line{'s' * (self.k > 2)} between them", p_text(own.pvalue_adjusted)
        return f"; the test along {lines} does not reject ({p}): the tree looked in other spaces, too"

    def _too_few_draws(self) -> str:
        """Return a sentence that p cannot be small with so few draws; else an empty string."""
        if self.structure is None or not self.structure.few_draws:
            return ""
        n, p = self.structure.n_resamples, p_text(self.structure.pvalue)
        return f"At level {LEVEL:g}: nothing could be decided with {n} draws ({p})."

    def _separate(self, groups: tuple[tuple[int, ...], ...]) -> str:
        """Return text on which clusters are separate, with the largest adjusted p between them."""
        own = self._of("partition")[0]
        if len(groups) == 1:
            if self.merge_rows[0].pvalue_adjusted <= LEVEL:
                top = self.merge_rows[0]
                why = f"{top.separated:.0%} of the points held out lie on the side of their cluster"
                if top.moved > MOVED_AT_MOST:
                    a, b = top.parted
                    why = f"a gap parts the points of {a} and {b} into {write_counts(top.gap)}"
                p = p_text(own.pvalue_adjusted)
                return f"there is structure ({p}), but not that of these {self.k} clusters: {why}."
            below = any(merge.pvalue <= LEVEL for merge in self.merge_rows)
            but = "the merge of all points shows none, and those below it count only with it"
            but = but if below else f"not of any of these {self.k} by itself"
            return f"evidence of clusters ({p_text(own.pvalue_adjusted)}), but {but}."
        parting = [merge.pvalue_adjusted for merge in self.merge_rows if merge.separates]
        p = f"{'largest ' * (len(parting) > 1)}adjusted {p_text(max(parting))}"
        if len(groups) == self.k == 2:
            return f"the two clusters are separate ({p})."
        if len(groups) == self.k:
            return f"all {self.k} clusters are separate from what they first meet ({p})."
        names = ", ".join("+".join(map(str, group)) for group in groups)
        few = sorted(set(range(self.k)).difference(*groups))
        untested = f"; {', '.join(map(str, few))}, of fewer than five points, not tested" * bool(few)
        return f"{len(groups)} groups of these {self.k} clusters are separate: {names} ({p}){untested}."

    def _has_unlike_spreads(self) -> bool:
        """Return whether one column of the points varies more than another."""
        points = self.partition.points
        if points is None or points.shape[1] < 2:
            return False
        spreads = points.std(axis=0)
        return bool(spreads.max() > ALIKE_SPREADS * spreads.min())

    def _same_clusters(self) -> str:
        """Return text that the test of all points found the clusters of this partition or nearly; else empty."""
        if self.structure is None or self.structure.partition is None:
            return ""
        if any(isinstance(note, OfOtherClusters) for note in self.structure.notes):
            return ""
        rand = adjusted_rand_index(self.structure.partition.labels, self.partition.labels)
        if rand < ALIKE:
            return ""
        # a user's clusterer is used with the points as given alone
        place = PLACES.get(self.structure.space, "and looks in other spaces, too" if self.partition.n_init else "")
        how = "these same clusters" if rand == 1 else f"much the same clusters (adjusted Rand index {rand:.2f})"
        return f"the test of all points shows {how}{f' {place}' * bool(place)}"

    def _elsewhere(self) -> str:
        """Return a sentence on where clusters may show instead: along other lines, decorrelated or in some columns."""
        space = "as given" if self.structure is None else self.structure.space
        if is_mahalanobis(self.partition.metric):
            return "It shows along other lines than those between these clusters."
        if space == "as given" and self.partition.standardization is not None:
            return 'Another space may show it, such as metric="mahalanobis".'
        there = None if self.structure is None else self.structure.partition
        # a matrix, dependent columns
        if space == "decorrelated" and there is not None and not is_mahalanobis(there.metric):
            return "It shows among decorrelated columns, between other clusters: those of `.structure.partition`."
        return ELSEWHERE[space]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree of merges with adjusted p-values beside a scatter plot of the points.

        Of one column the points are a histogram, with open circles below it for those that are uncertain.
        """
        from energystats.plotting.points import mark_values, plot_partition
        from energystats.plotting.trees import DrawnNode, plot_validation

        found = self.partition

        def draw_points(right: Axes) -> None:
            if found.points is not None and found.points.shape[1] == 1:
                mark_values(found.points[self.uncertain, 0], found.plot(right))
            else:
                plot_partition(ax=right, sizes=found.sizes, share=None, **self._plane())

        nodes = [DrawnNode(**node) for node in self._nodes()]
        what = "uncertain" if self.n_stability else "nearer to another cluster"  # nothing else is known of a tree
        count = f"{self.uncertain.size or 'none'} {what}"
        texts = {"hollow": count, "title": self._conclusion()}
        whole = self._of("all points")[0].pvalue
        if not (self.merge_rows or np.isnan(whole)):  # of a tree of one leaf
            texts["untested"] = f"all points: {p_text(whole)}"
        return plot_validation(nodes, draw_points, ax, level=LEVEL, **texts)

    def _plane(self) -> dict[str, Any]:
        """Return what a scatter plot of the clusters needs: coordinates, labels, uncertain points, axis names."""
        found = self.partition
        plane = choose_plane(
            None,
            found.labels,
            points=found.points,
            coordinates=found.coordinates,
            columns=found.columns,
            standardized=found.standardization is not None,
            metric=found.metric,
        )
        hollow = np.isin(plane.rows, self.uncertain)
        shown: dict[str, Any] = {"axes": plane.axes, "units": plane.units, "same_unit": plane.same_unit}
        return {"points": plane.points, "labels": found.labels[plane.rows], "hollow": hollow} | shown

    def _nodes(self) -> list[dict[str, Any]]:
        """Return merges and clusters as nodes of a tree to draw, each before its children."""
        if not self.merge_rows:
            n = self.partition.sizes[0]
            return [{"children": (), "size": n, "height": 0.0, "label": 0, "pvalue": None, "rejected": False}]
        number = {merge.clusters: j for j, merge in enumerate(self.merge_rows)}
        # clusters from left to right, so that no forks cross
        order: list[int] = []
        waiting = [self.merge_rows[0].clusters]
        while waiting:
            inside = waiting.pop()
            if len(inside) == 1:
                number[inside] = len(self.merge_rows) + len(order)
                order += inside
            else:
                merge = self.merge_rows[number[inside]]
                waiting += [merge.right, merge.left]
        nodes = [
            {
                "children": (number[merge.left], number[merge.right]),
                "size": merge.size,
                "height": merge.height,
                "label": None,
                "pvalue": None if np.isnan(merge.pvalue_adjusted) else merge.pvalue_adjusted,
                "rejected": merge.pvalue_adjusted <= LEVEL,
            }
            for merge in self.merge_rows
        ]
        leaves = [
            {
                "children": (),
                "size": self.partition.sizes[j],
                "height": 0.0,
                "label": j,
                "pvalue": None,
                "rejected": False,
            }
            for j in order
        ]
        return [*nodes, *leaves]


def _line(name: str, answer: Answer) -> str:
    """Format one test of a partition as a line of text, with p-value and null hypothesis."""
    name = f"{name[0].upper()}{name[1:]}"
    if np.isnan(answer.pvalue):
        return f"{name}: {answer.null_hypothesis.removesuffix('.')}."
    return f"{name}: {p_text(answer.pvalue)}; null hypothesis: {answer.null_hypothesis}."
