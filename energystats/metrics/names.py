"""Find the metric that a name stands for, as users of R, SciPy and scikit-learn type it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from energystats.inputs.names import near_names

__all__ = ["canonical_name"]


SYNONYMS = {
    "binary": "jaccard",  # of R's dist
    "bray": "braycurtis",
    "chebychev": "chebyshev",
    "chisq": "chi2",
    "chisquare": "chi2",
    "chisquared": "chi2",
    "cosinus": "cosine",
    "euclid": "euclidean",
    "gowers": "gower",
    "hamm": "hamming",
    "infinity": "chebyshev",
    "l1": "cityblock",
    "l2": "euclidean",
    "linf": "chebyshev",
    "linfinity": "chebyshev",
    "manhattan": "cityblock",
    "matching": "hamming",
    "maximum": "chebyshev",
    "simplematching": "hamming",
    "quantitativejaccard": "ruzicka",
    "sqeuclid": "sqeuclidean",
    "squaredeuclidean": "sqeuclidean",
    "sorensen": "dice",
    "sorensendice": "dice",
    "standardizedeuclidean": "seuclidean",
    "standardisedeuclidean": "seuclidean",
    "supremum": "chebyshev",
    "taxicab": "cityblock",
}
MATRIX = 'compute its matrix and give it with metric="precomputed"'
ELSEWHERE = {  # what to write in their place
    "additivechi2": 'it is a kernel of scikit-learn, `es.metrics.Kernel("additive_chi2")`',
    "dtw": f"it compares series of unlike lengths; {MATRIX}",
    "edit": f"it compares texts; {MATRIX}",
    "haversine": f"it is the way on a sphere; {MATRIX}, as by haversine_distances of scikit-learn",
    "kendall": f"rank correlations are not built in; {MATRIX}",
    "kulczynski1": f"it is a quotient without an upper end, not a dissimilarity; {MATRIX}",
    "kulsinski": f"SciPy has removed it; {MATRIX}",
    "laplacian": 'the kernel is `es.metrics.Kernel("laplacian")`, of city-block distances; metric="exponential" has '
    "Euclidean ones in its place",
    "levenshtein": f"it compares texts; {MATRIX}",
    "naneuclidean": 'missing values go with metric="gower" alone; impute them, or leave those rows out',
    "pearson": 'use "correlation" for 1 - r; R\'s amap calls another one so, which is "cosine"',
    "rbf": 'its distance is metric="gaussian", and the kernel itself is `es.metrics.Kernel("rbf")`',
    "simpson": f'it is an index of diversity; of Simpson\'s turnover {MATRIX}, in R betadiver(X, "sim") of vegan',
    "sokalmichener": 'use "hamming" for simple matching, as Sokal and Michener have it, or "rogerstanimoto", which '
    "SciPy computed under this name",
    "spearman": 'use metric="correlation" with the ranks of every row, `scipy.stats.rankdata(X, axis=1)`',
    "unifrac": f"it needs a tree of the species; {MATRIX}, as by beta_diversity of scikit-bio",
    "wminkowski": 'use metric="euclidean" or "cityblock" with columns multiplied by their weights',
}
VEGAN = {  # of which there is only the matrix
    "altgower": "altGower",
    "binomial": "binomial",
    "cao": "cao",
    "chao": "chao",
    "clark": "clark",
    "horn": "horn",
    "hornmorisita": "horn",
    "morisita": "morisita",
    "morisitahorn": "horn",
    "mountford": "mountford",
    "raup": "raup",
    "robustaitchison": "robust.aitchison",
}
WORDS = re.compile(r"[\s_.'-]+")
ENDS = re.compile(r"(distances?|dissimilarity|metric)$")


def canonical_name(name: str, known: Sequence[str], *, ending: str = "") -> str:
    """Return this package's name of a metric from any of its spellings; raise if unknown.

    Raises
    ------
    ValueError
        For others, with the name or the transformation that gives the same.
    """
    # capitals, blanks and hyphens do not count, and neither does a final "distance"
    plain = WORDS.sub("", name.lower())
    plain = ENDS.sub("", plain) or plain
    found = SYNONYMS.get(plain, plain)
    if found in known:
        return found
    advice = ELSEWHERE.get(plain)
    if plain in VEGAN:
        advice = f'it is not built in; {MATRIX}, in R vegdist(X, "{VEGAN[plain]}") of vegan'
    if advice is not None:
        raise ValueError(f"must be a metric of this package, got {name!r}: {advice}.")
    near = near_names(name, (*known, *SYNONYMS)) or near_names(plain, known)
    raise ValueError(f"must be one of {', '.join(known)}{ending}; got {name!r}.{near}")
