"""What the report says in sentences, and no more than the numbers do."""

from __future__ import annotations

from energystats._core.statistics import share
from energystats.display.numbers import number, p_text
from energystats.metrics.base import is_named
from energystats.report.study import Study

__all__ = ["REFERENCES", "answer", "method_text", "state_bound"]


LEVEL = 0.05
REFERENCES = {
    "k-groups": "França, G., Rizzo, M. L. & Vogelstein, J. T. (2021). Kernel k-groups via Hartigan's method. IEEE "
    "Transactions on Pattern Analysis and Machine Intelligence 43. doi:10.1109/TPAMI.2020.2998120.",
    "energy": "França, G. & Vogelstein, J. T. Nonparametric clustering based on energy statistics.",
    "spectral": "Welling, M. Kernel K-means and spectral clustering.",
    "geometry": "Kłopotek, R., Kłopotek, M. & Wierzchoń, S. A feasible k-means kernel trick under non-Euclidean "
    "feature space.",
    "statistics": "Székely, G. J. & Rizzo, M. L. (2013). Energy statistics: a class of statistics based on distances. "
    "Journal of Statistical Planning and Inference 143.",
    "unimodal": "Hartigan, J. A. & Hartigan, P. M. (1985). The dip test of unimodality. Annals of Statistics 13, "
    "70-84.",
    "cauchy": "Liu, Y. & Xie, J. (2020). Cauchy combination test. Journal of the American Statistical Association 115, "
    "393-402.",
    "gower": "Gower, J. C. (1971). A general coefficient of similarity and some of its properties. Biometrics 27, "
    "857-871.",
    "holm": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6, 65-70.",
}


def answer(study: Study) -> str:
    """One paragraph: what was found, what the test says, and what neither says."""
    found = study.found
    if study.k == 1:
        first = f"All {study.n} rows form one cluster, so that nothing was divided."
        return f"{first} {_source_of_k(study)} {_write_verdict(study)}"
    sizes = _list_words([str(size) for size in found.sizes])
    part = f"{share(found.between, found.total):.1%}" if found.total else "none"
    return (
        f"The {study.n} rows were divided into {study.k} clusters of {sizes} rows. {_source_of_k(study)} The division "
        f"accounts for {part} of the total dispersion; any data can be divided so, whether or not they have clusters. "
        f"{_write_verdict(study)}"
    )


def _source_of_k(study: Study) -> str:
    """Where k comes from."""
    if study.k_from == "chosen":
        assert study.selection is not None
        return f"The number {study.k} was chosen from the same data, by {study.selection.criterion}."
    if study.k_from == "default":
        return "The number 2 is the default and was not chosen from the data."
    return f"The number {study.k} was given."


def _write_verdict(study: Study) -> str:
    """What the test says about structure."""
    test = study.test
    if isinstance(test, str):
        why = test.removeprefix("Not tested: ")
        return f"Whether there is cluster structure at all was not tested: {why}"
    p = p_text(test.pvalue)
    question = f"The null hypothesis that {test.null_hypothesis}"
    if test.pvalue <= LEVEL:
        text = (
            f"{question} was tested: {p}, which is evidence against it at the level .05. That means structure "
            "beyond the null hypothesis; it does not show that each of these clusters, or their number, is real."
        )
    else:
        text = (
            f"{question} was tested: {p}, which is no evidence against it at the level .05. Nor is it evidence "
            "that there is only one cluster: clusters that overlap much cannot be told from one by any valid test. The "
            "clusters below may be parts of a single cloud."
        )
    return text + (" The p-value does not allow for the choice of k on the same data." * (study.k_from == "chosen"))


def _list_words(words: list[str]) -> str:
    """Words in a row, the last after 'and'; of many, the first twelve."""
    if len(words) > 12:
        return ", ".join(words[:12]) + f" and {len(words) - 12} other numbers of"
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]


def state_bound(study: Study) -> list[str]:
    """What the solver guarantees."""
    found = study.found
    if study.k == 1:
        return ["With one cluster there is nothing to optimise."]
    if found.algorithm == "exact-1d":
        how = (
            "The partition is the global optimum: the exact method for one column was used, and no division of the "
            f"values into {study.k} clusters has a smaller W."
        )
    elif found.algorithm == "spectral":
        how = "The partition is that of a relaxed problem; no search for a smaller W followed."
    elif found.converged:
        moves = (
            "no single row can be moved to another cluster so that W falls (Hartigan's criterion)"
            if found.algorithm == "hartigan"
            else "no row is nearer to another cluster (Lloyd's criterion)"
        )
        how = (
            f"The partition is a local optimum: {moves}. It is the best of {found.n_init} "
            f"start{'s' * (found.n_init > 1)}, which is no proof that there is no better one."
        )
    else:
        how = "The search was cut off before it converged, so that W can still fall."
    if found.tightness != found.tightness:
        return [how, "The eigenvalue bound on S is not positive and says nothing here."]
    return [
        how,
        f"No partition into {study.k} clusters has an S above {number(found.bound)}, by an eigenvalue bound; the one "
        f"found reaches {min(found.tightness, 1.0):.1%} of it. The bound is usually not attained, so that less than "
        "100 % need not mean that a better partition exists.",
    ]


def method_text(study: Study) -> tuple[list[str], list[str]]:
    """Paragraphs on the methods, and the works they cite."""
    found, test = study.found, study.test
    works = ["k-groups", "energy", "statistics"]
    alpha = f" (alpha = {study.where['alpha']:g})" if study.where.get("alpha", 1.0) != 1 else ""
    scale = " of the columns' z-scores" if found.standardization is not None else ""
    texts = [f"{_clustering_text(study)} rho is {found.metric!r}{alpha}{scale}.{_search_text(study)}"]
    if found.algorithm == "spectral":
        works.append("spectral")
    if is_named(study.search.get("metric"), "gower"):
        works.append("gower")
        texts.append(
            "Numbers and ordered categories are compared by their difference as a share of the range, categories by "
            "whether they match; cells that are missing in one of two rows do not count for them."
        )
    if study.is_matrix:
        works.append("geometry")
        texts.append("rho was given as a matrix; its entries were used as they are, not squared.")
    if not isinstance(test, str):
        texts.append(_test_text(study))
        works += ["unimodal"] + ["cauchy"] * (test.method == "split") + ["holm"] * (len(test.rows) > 1)
    return texts, [REFERENCES[work] for work in works]


def _clustering_text(study: Study) -> str:
    """What clusters minimise; of one cluster, what W is."""
    if study.k == 1:
        return "With one cluster W is T, n/2 times the mean of rho between all rows, and S is 0."
    return (
        "Clusters minimise the within-cluster energy W, the sum over clusters of n_j/2 times the mean of rho between "
        "the rows of cluster j. That is the same as maximising the between-cluster energy S, because T = S + W is the "
        "same for every partition."
    )


def _search_text(study: Study) -> str:
    """How clusters were searched for; nothing of one cluster."""
    found = study.found
    if study.k == 1:
        return ""
    search = {
        "exact-1d": "by dynamic programming over the sorted values, which is exact for one column",
        "hartigan": "by Hartigan's method, which moves single rows as long as W falls",
        "lloyd": "by Lloyd's method, which is kernel k-means",
        "spectral": "by k-means of the leading eigenvectors of the centred Gram matrix",
    }[found.algorithm]
    perturbed = f", the best perturbed up to {found.n_init * found.n_perturb} times" if found.n_perturb else ""
    starts = "" if found.algorithm == "exact-1d" else f"; {found.n_init} starts drawn in proportion to rho{perturbed}"
    return f" The search went {search}{starts}."


def _test_text(study: Study) -> str:
    """How structure was tested."""
    test = study.test
    assert not isinstance(test, str)
    if test.method == "unimodal-1d":
        how = (
            "Three indices of bimodality of the column were compared with those of samples from the nearest unimodal "
            "law"
        )
    else:
        how = (
            f"In each of {test.n_splits} splits the rows were assigned at random to five folds; for each fold the "
            f"other rows (at most {test.n_clustered}) were clustered, and the rows of the fold were scored along the "
            "line between clusters. The pooled scores, none of which had a part in its line, were compared with "
            "samples from the nearest unimodal distribution by three indices; those of splits and contrasts were "
            "joined by Cauchy's rule"
        )
    larger = "" if test.conservative else " (1.6 where conservative p-values are asked for)"
    return (
        f"{how} ({test.n_resamples} draws). p-values are multiplied by {test.factor:g}, because those on flat "
        f"densities were measured to be too small{larger}. "
        "Permuting the labels of clusters that were found from the same data would reject every null hypothesis, and "
        "was not done."
    )
