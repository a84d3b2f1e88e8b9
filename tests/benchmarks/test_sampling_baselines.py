"""The package's samplers against those of the literature."""

import math

import numpy as np
import pytest
from sampling_baselines import (
    LaplaceProjection,
    VanillaComposition,
    project_to_simplex,
)

from skdp.accounting import PureDP
from skdp.mechanisms import CountWeights, NoisyHistogram
from skdp.random import as_random_source
from skdp.synthesis._projection import as_weights, nearest_distribution

N, K = 1000, 9
POINT = np.eye(K)[0]


def made(epsilon, profile="minimax", n_draws=1):
    return CountWeights.calibrate(
        PureDP(epsilon, adjacency="replace-one"),
        profile=profile,
        n_categories=K,
        n_rows=N,
        n_draws=n_draws,
    )


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("epsilon", "published"),
    [(0.05, 0.0483), (0.1, 0.0243), (0.2, 0.0121), (0.5, 0.00484), (1.0, 0.00243)],
)
def test_the_minimax_profile_beats_laplace_noise_at_a_point_mass(epsilon, published):
    """Means of 20,000 runs: 5 standard errors, a false alarm below 1e-6."""
    laws = LaplaceProjection(epsilon, N).laws(POINT, 20_000)
    distance = 1.0 - laws[:, 0]
    error = distance.std() / math.sqrt(len(distance))
    assert abs(distance.mean() - published) < 5 * error + 6e-3 * published
    counts = N * POINT.astype(np.int64)
    weights = made(epsilon).weights(counts)
    ours = 1.0 - weights[0] / weights.sum()
    assert ours < distance.mean() - 5 * error


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("epsilon", "point"),
    [
        (1.0, 0.00240),
        pytest.param(0.5, 0.00485, marks=pytest.mark.slow),
        pytest.param(2.0, 0.00115, marks=pytest.mark.slow),
    ],
)
def test_the_projected_histogram_is_as_near_as_published(epsilon, point):
    """Means of 1,000 releases within 5 standard errors: a false alarm is below 1e-6."""
    mechanism = NoisyHistogram.calibrate(
        PureDP(epsilon, adjacency="replace-one"), n_categories=K, n_rows=N
    )
    counts, source = (N * POINT).astype(np.int64), as_random_source(0)
    distance = np.array(
        [
            1.0 - nearest_distribution(mechanism.release(counts, source).output, N)[0]
            for _ in range(1000)
        ]
    )
    error = distance.std() / math.sqrt(len(distance))
    assert abs(distance.mean() - point) < 5 * error + 6e-6
    assert distance.mean() < mechanism.accuracy_bound(N)


def test_the_envelope_beats_vanilla_composition_at_every_number_of_draws():
    for m in (1, 3, 10):
        vanilla = VanillaComposition(1.0, N, K, m).law(POINT)
        weights = made(1.0, "envelope", m).weights((N * POINT).astype(np.int64))
        assert 1 - weights[0] / weights.sum() < 1 - vanilla[0]
    assert 1 - VanillaComposition(1.0, N, K, 10).law(POINT)[0] == pytest.approx(
        0.07007, abs=1e-5
    )


def test_projections_agree_and_are_the_nearest_points():
    rng = np.random.default_rng(0)
    for _ in range(50):
        noisy = rng.normal(scale=30, size=6).round()
        found = nearest_distribution(noisy, 40.0)
        np.testing.assert_allclose(found, project_to_simplex(noisy / 40)[0], atol=1e-12)
        assert found.sum() == pytest.approx(1.0)
        # no other distribution is nearer
        others = rng.dirichlet(np.ones(6), size=200)
        distance = ((others - noisy / 40) ** 2).sum(axis=1)
        assert ((found - noisy / 40) ** 2).sum() <= distance.min() + 1e-12
        assert as_weights(found).sum() > 0
    assert nearest_distribution(np.array([-3.0, -5.0]), None).tolist() == [1.0, 0.0]
