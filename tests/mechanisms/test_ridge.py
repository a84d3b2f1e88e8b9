import pytest

from skdp.accounting import Adjacency
from skdp.losses import LogisticLoss
from skdp.mechanisms._ridge import calibrated_mu, plan_gaussian, plan_pure
from skdp.mechanisms._tilt import Tilt

EPSILONS = (1e-6, 0.01, 0.1, 1.0, 8.0, 1000.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_smoothing_share_is_small_and_the_default_ridge_above_the_floor(
    epsilon, adjacency
):
    gaussian = plan_gaussian(epsilon, 1e-6, adjacency)
    assert 0.95 * epsilon < gaussian.curvature_limit <= epsilon
    assert gaussian.curvature_auto < gaussian.curvature_limit
    assert 0 < gaussian.smoothing_mu <= 0.125
    pure = plan_pure(epsilon, adjacency)
    assert pure.smoothing_epsilon == pytest.approx(0.01 * epsilon)
    assert pure.curvature_auto < pure.curvature_limit <= pure.rate
    shares = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    assert shares * pure.rate + pure.smoothing_epsilon <= epsilon


def test_curvature_beyond_the_floor_is_paid_with_noise():
    tilts = [Tilt(LogisticLoss(), kappa) for kappa in (0.5, 1.0, 2.0, 5.0)]
    sizes = [calibrated_mu(1.0, 1e-6, t, 0.0, Adjacency.ADD_REMOVE) for t in tilts]
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-9)
    assert sizes[1] > sizes[2] > sizes[3] > 0
