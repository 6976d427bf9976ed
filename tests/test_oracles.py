"""Every value of R that the package covers; `oracles/README.md` says what each field is and where R is wrong."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import energystats as es
from energystats.dissimilarity import Dissimilarity
from tests.conftest import oracles_with

RTOL = 1e-9  # of T, the size of the terms

pytestmark = pytest.mark.filterwarnings("ignore::energystats.ColumnScaleWarning")


def dispersion(oracle, alpha):
    data, how = oracle.powered(alpha)
    return es.dispersion(data, oracle.labels, **how)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_dispersion(oracle, alpha):
    expected = oracle.values[f"disco_index{alpha:g}"]
    found = dispersion(oracle, alpha)
    for name in ("within", "between", "total"):
        assert_allclose(getattr(found, name), expected[name], rtol=RTOL, atol=RTOL * expected["total"])
    assert list(found.labels) == oracle.record["groups"]
    assert list(found.sizes) == oracle.record["sizes"]
    if alpha != 2:
        expected = oracle.values[f"within_per_group_index{alpha:g}"]
        assert_allclose(found.within_per_cluster, expected, rtol=RTOL, atol=RTOL * found.total)


def test_squared_distances_are_permanova(oracle):
    expected = oracle.values["permanova"]
    found = dispersion(oracle, 2.0)
    assert_allclose(found.between, expected["SS_between"], atol=RTOL * expected["SS_total"])
    assert_allclose(found.within, expected["SS_within"], rtol=RTOL)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_energy_distances(oracle, alpha):
    expected = np.array(oracle.values[f"energy_distance_V_alpha{alpha:g}"], dtype=float)
    found = dispersion(oracle, alpha)
    E = 2 * found.g - np.diag(found.g)[:, None] - np.diag(found.g)[None, :]
    assert_allclose(E[~np.eye(len(E), dtype=bool)], expected[~np.eye(len(E), dtype=bool)], atol=RTOL * found.g.max())
    if oracle.points is None:
        return
    groups = [oracle.points[oracle.labels == name] for name in oracle.record["groups"]]
    for i, x in enumerate(groups):
        for j, y in enumerate(groups[:i]):
            assert_allclose(es.energy_distance(x, y, alpha=alpha), expected[i, j], atol=RTOL * found.g.max())
            if alpha == 1 and min(len(x), len(y)) > 1:
                unbiased = float(oracle.values["energy_distance_U_alpha1"][i][j])
                assert_allclose(es.energy_distance(x, y, estimator="u"), unbiased, atol=RTOL * found.g.max())


@oracles_with("eqdist_e_original")
def test_pairwise_statistic(oracle):
    assert_statistic(oracle, "pairwise", "eqdist_e_original")


@oracles_with("eqdist_e_discoB")
def test_between_statistic(oracle):
    assert_statistic(oracle, "between", "eqdist_e_discoB")


@oracles_with("eqdist_e_discoF")
def test_f_statistic(oracle):
    assert_statistic(oracle, "f", "eqdist_e_discoF")


def assert_statistic(oracle, statistic, field):
    found = es.energy_test(
        oracle.data, groups=oracle.labels, statistic=statistic, n_resamples=1, method="permutation", **oracle.how
    )
    expected = float(oracle.values[field])
    size = found.total if statistic != "f" else found.total / found.within * found.sizes[0]
    assert_allclose(found.statistic, expected, rtol=RTOL, atol=2 * RTOL * size)


@oracles_with("perm_p_ge")
def test_permutation_pvalues(oracle):
    """Against 9,999 permutations of R with ties counted; both are Monte Carlo, so the difference has an error."""
    expected = oracle.values["perm_p_ge"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", es.NotNegativeTypeWarning)
        found = es.energy_test(oracle.data, groups=oracle.labels, statistic="pairwise", n_resamples=9999, **oracle.how)
    p = expected["p"]
    error = np.sqrt(p * (1 - p) / 9999) * (1 if found.method == "exact" else np.sqrt(2))
    assert abs(found.pvalue - p) <= 4.5 * error + 2e-4


@oracles_with("exact_permutation")
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_exact_permutation(oracle, alpha):
    expected = oracle.values["exact_permutation" if alpha == 1 else "exact_permutation_alpha0.5"]
    data, how = oracle.powered(alpha)
    found = es.energy_test(data, groups=oracle.labels, statistic="pairwise", **how)
    assert found.method == "exact"
    assert found.n_resamples == expected["n_splits"]
    assert found.pvalue == pytest.approx(expected["p_exact"], abs=1e-15)
    everything = np.sort(np.append(found.null_distribution, found.statistic))
    assert_allclose(everything, np.sort(expected["statistics"]), atol=RTOL * found.total)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_clusters_reach_the_best_known_within(oracle, k):
    """At most W of 300 starts of kgroups, and a true local optimum, which kgroups need not be."""
    found = es.energy_cluster(oracle.data, k, algorithm="hartigan", n_init=100, rng=0, **oracle.how)
    assert found.converged
    best = oracle.values.get(f"kgroups_exact_k{k}")
    if best is not None:
        assert_allclose(found.within, best["W"], rtol=RTOL, atol=RTOL * found.total)
    assert found.within <= oracle.values[f"kgroups_dist_k{k}"]["W"] + RTOL * found.total
    d = Dissimilarity.from_data(oracle.data, alpha=1.0, **oracle.how)
    sizes = np.array(found.sizes)
    Z = np.eye(k)[found.labels]
    T, w = d.matrix @ Z, 2 * found.within_per_cluster * sizes
    own = found.labels
    n_own = sizes[own][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        T_own = T[np.arange(d.n), own][:, None]
        fall = w[own][:, None] / (2 * n_own) - (w[own][:, None] - 2 * T_own) / (2 * (n_own - 1))
    rise = (w + 2 * T) / (2 * (sizes + 1)) - w / (2 * sizes)
    gain = np.where((Z == 1) | (n_own == 1), -np.inf, fall - rise)
    assert gain.max() <= 1e-12 * found.total


@pytest.mark.parametrize("k", [2, 3])
def test_clusters_of_powered_distances(oracle, k):
    expected = oracle.values[f"kgroups_dist_alpha0.5_k{k}"]
    data, how = oracle.powered(0.5)
    found = es.energy_cluster(data, k, algorithm="hartigan", n_init=100, rng=0, **how)
    assert found.within <= expected["W"] + RTOL * found.total


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_cluster_distances_of_r(oracle, alpha):
    """edist: n_i n_j/(n_i + n_j) E_ij, and n_i n_j/(2N) E_ij for method "discoB"."""
    expected = oracle.values[f"edist_cluster_alpha{alpha:g}"]
    found = dispersion(oracle, alpha)
    E = 2 * found.g - np.diag(found.g)[:, None] - np.diag(found.g)[None, :]
    n = np.array(found.sizes)
    pairs = np.multiply.outer(n, n) / np.add.outer(n, n)
    np.fill_diagonal(E, 0.0)
    assert_allclose(pairs * E, expected, atol=RTOL * found.total)
    if alpha == 1:
        discoB = np.multiply.outer(n, n) / (2 * n.sum()) * E
        assert_allclose(discoB, oracle.values["edist_discoB_alpha1"], atol=RTOL * found.total)


@oracles_with("mmd2_gaussian")
def test_gaussian_mmd_is_half_an_energy_distance(oracle):
    expected = oracle.values["mmd2_gaussian"]
    x, y = (oracle.points[oracle.labels == name] for name in oracle.record["groups"][:2])
    metric = es.metrics.Gaussian(expected["bandwidth"])
    assert_allclose(es.energy_distance(x, y, metric=metric) / 2, expected["mmd2_biased"], rtol=1e-9, atol=1e-13)
    unbiased = es.energy_distance(x, y, metric=metric, estimator="u") / 2
    assert_allclose(unbiased, expected["mmd2_unbiased"], rtol=1e-9, atol=1e-13)


@oracles_with("pcoa_none")
def test_bound_uses_the_eigenvalues_of_pcoa(oracle):
    """For rho = d**2 the bound sums the largest eigenvalues of -1/2 J D**2 J, which ape's pcoa lists."""
    data, how = oracle.powered(2.0)
    found = es.energy_cluster(data, 3, algorithm="hartigan", rng=0, **how)
    eigenvalues = np.sort(np.array(oracle.values["pcoa_none"]["eigenvalues"], dtype=float))[::-1]
    assert_allclose(found.bound, np.append(eigenvalues, 0.0)[:2].sum(), rtol=1e-8)
