"""The exponential mechanism on boxes, and on public candidates in any dimension."""

import dataclasses

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare

from skdp.accounting import Adjacency
from skdp.audit import exact_curve
from skdp.mechanisms import BoxExponential, ExponentialMechanism
from skdp.random import as_random_source


def made(**fields):
    plain = {
        "epsilon": 1.0,
        "sensitivity": 1.0,
        "lower": (0.0,),
        "upper": (1.0,),
        "n_cells": (5,),
    }
    return BoxExponential(**plain | fields)


def test_cells_of_the_median_score_have_the_published_probabilities():
    """Cells around five grid points: the piecewise constant form, epsilon = 2."""
    mechanism = made(epsilon=2.0)
    choice = dataclasses.replace(mechanism.choice, base_measure=(1,) * 5)
    expected = [0.07629314, 0.56373431, 0.20738626, 0.07629314, 0.07629314]
    pmf = choice.pmf([-2.5, -0.5, -1.5, -2.5, -2.5])
    np.testing.assert_allclose(pmf, expected, atol=5e-9)


def test_cells_have_equal_measure_up_to_one_point_an_axis():
    for mechanism in (
        made(n_cells=(7,), lower=(-0.3,), upper=(0.9,)),
        made(lower=(-1.0, 0.1), upper=(1.7, 0.2), n_cells=(6, 9)),
        made(lower=(0.0,) * 3, upper=(1.0, 20.0, 300.0), n_cells=(2, 3, 4)),
    ):
        for edges, width in zip(mechanism._edges, mechanism.n_cells, strict=True):
            sizes = np.diff(edges)
            assert len(sizes) == width
            assert sizes.max() - sizes.min() <= 1
            assert sizes.min() >= mechanism.resolution
            assert sizes.max() <= 4 * mechanism.resolution + 1


def test_the_lattice_fills_the_box_and_stays_within_it():
    mechanism = made(lower=(-0.3, 2.0), upper=(0.9, 2.5), n_cells=(4, 3))
    for edges, step, low, high in zip(
        mechanism._edges, mechanism.steps, mechanism.lower, mechanism.upper, strict=True
    ):
        assert low <= edges[0] * step < low + step
        assert high - step < (edges[-1] - 1) * step <= high


def test_probabilities_add_up_and_points_outside_have_none():
    mechanism = made(resolution=3)
    scores = [0.0, -2.0, 1.0, 0.5, 3.0]
    points = mechanism.outcomes(scores)
    law = mechanism.log_density_on(scores)
    assert logsumexp([law([x]) for x in points]) == pytest.approx(0.0, abs=1e-12)
    assert law([points[0] - mechanism.lattice]) == -np.inf
    assert law([points[-1] + mechanism.lattice]) == -np.inf


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_exact_loss_reaches_epsilon_and_never_exceeds_it(adjacency):
    mechanism = made(resolution=2, adjacency=adjacency)
    worst = max(exact_curve(mechanism, p).max_loss for p in mechanism.hard_pairs())
    assert 0.99 < worst <= 1.0 + 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize("cells", [(6,), (3, 2), (2, 3, 2)])
def test_draws_follow_the_scores_and_are_uniform_within_cells(cells):
    """False alarm below 1e-6 a case: two chi-square tests at 3e-7."""
    d, n = len(cells), 1000
    mechanism = made(
        epsilon=4.0, lower=(-1.0,) * d, upper=(1.0, 2.0, 0.5)[:d], n_cells=cells
    )
    scores = np.random.default_rng(0).uniform(-1, 1, int(np.prod(cells)))
    source = as_random_source(4)
    draws = np.array([mechanism.release(scores, source).output for _ in range(n)])
    low, high = np.array(mechanism.lower), np.array(mechanism.upper)
    assert np.all((draws >= low) & (draws <= high))
    place = (draws - low) / (high - low) * cells
    index = np.ravel_multi_index(
        np.minimum(place.astype(int), np.array(cells) - 1).T, cells
    )
    expected = mechanism.choice.pmf(scores) * n
    counts = np.bincount(index, minlength=expected.size)
    assert chisquare(counts, expected).pvalue > 3e-7
    inside = np.minimum((place % 1 * 4).astype(int), 3)
    quarter = np.bincount(inside.ravel(), minlength=4)
    assert chisquare(quarter).pvalue > 3e-7


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"lower": (0.0,) * 4, "upper": (1.0,) * 4, "n_cells": (2,) * 4},
            "1 to 3 axes",
        ),
        ({"upper": (np.inf,)}, "bounded"),
        ({"lower": (-np.inf,)}, "bounded"),
        ({"upper": (np.nan,)}, "bounded"),
        ({"upper": (0.0,)}, "bounded"),
        ({"n_cells": (0,)}, "at least one cell"),
        ({"n_cells": (2**18,)}, "at most 131072"),
        ({"lower": (1e18,), "upper": (1e18 + 1024,)}, "tiny beside"),
        ({"resolution": 0}, "resolution"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"sensitivity": -1.0}, "sensitivity"),
        ({"monotone": True, "adjacency": "replace-one"}, "replace-one"),
    ],
)
def test_fields_that_make_no_mechanism_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        made(**fields)


def test_scores_that_are_not_finite_raise():
    with pytest.raises(ValueError, match="finite"):
        made().release([0.0, np.nan, 0.0, 0.0, 0.0], as_random_source(0))


# --- public candidates in any dimension ----------------------------------------------


def test_public_candidates_have_the_published_probabilities():
    candidates = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    mechanism = ExponentialMechanism(1.0, 1, selection="exponential")
    pmf = mechanism.pmf(-10 * np.abs(candidates - 0.37) / 0.5)
    expected = [0.07652666, 0.56545979, 0.31033091, 0.04199872, 0.00568391]
    np.testing.assert_allclose(pmf, expected, atol=5e-9)


def mean_candidate_law(n, bins, seed=0, n_sets=4000):
    """Law over bins of n uniform candidates, averaged over candidate sets."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, (n_sets, n))
    weights = np.exp(-10 * np.abs(x - 0.37))
    weights /= weights.sum(axis=1, keepdims=True)
    found, _ = np.histogram(x, np.linspace(0, 1, bins + 1), weights=weights)
    return found / n_sets


def test_the_bias_of_public_candidates_falls_like_one_over_their_number():
    """Total variation over 40 bins: published .0902, .0212, .0082 with floor .0063."""
    edges = np.linspace(0, 1, 41)
    grid = np.linspace(0, 1, 400_001)
    density = np.exp(-10 * np.abs(grid - 0.37))
    mass = np.interp(edges, grid, np.cumsum(density) / density.sum())
    target = np.diff(mass)
    distance = {
        n: 0.5 * np.abs(mean_candidate_law(n, 40) - target).sum() for n in (8, 32, 128)
    }
    assert distance[8] == pytest.approx(0.0902, abs=0.012)
    assert distance[32] == pytest.approx(0.0212, abs=0.007)
    assert distance[128] <= 0.0115


def test_candidates_are_private_for_every_outcome_of_the_candidates():
    """Pure epsilon whatever the public candidates are, with weights mu / U."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 12))
        measure = tuple(float(w) for w in rng.uniform(0.1, 3, n))
        mechanism = ExponentialMechanism(1.0, 1, base_measure=measure)
        left = rng.uniform(-9, 0, n)
        right = left + rng.choice([-1.0, 1.0], n)
        loss = np.log(mechanism.pmf(left) / mechanism.pmf(right))
        assert np.max(np.abs(loss)) <= 1.0 + 1e-9
