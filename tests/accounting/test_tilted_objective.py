"""The guarantee of objective perturbation of any loss of bounded slope."""

import math

import numpy as np
import pytest

from skdp.accounting import (
    GaussianDP,
    ObjectivePerturbationDP,
    TiltedObjectiveDP,
    compose,
    concentrated_delta,
    gaussian_delta,
)
from skdp.accounting._tilted_loss import (
    corner_profile,
    fading_loss,
    free_level,
    removal_profile,
)

DELTA = 1e-6
EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
#: (mu, nu, B, F, a): Huber-like, hinge-like, log-cosh, pseudo-Huber, quantile, logistic
ROWS = {
    "two signs, curvature stays": (0.5, 0.5, 2.0, math.inf, 1.0),
    "one sign, curvature stays": (0.3, 0.0, 0.7, math.inf, 1.0),
    "symmetric": (0.25, 0.25, 0.5, 1.0, 0.5),
    "bounded early": (1.5, 1.5, 0.8, 1.04, 1.0),
    "asymmetric": (0.25, 0.1, 0.32, 1.2, 0.2),
    "one sign": (1.0, 0.0, 0.25, 1.0, 0.0),
    "hardly fading": (0.25, 0.25, 3.0, 6.0, 0.5),
}


def jacobian(p, curvature, fading, lag):
    if fading == math.inf:
        return np.full(p.shape, math.log1p(curvature))
    return np.log1p(np.minimum(curvature, fading * (1 - p) * (lag + (1 - lag) * p)))


def brute_profiles(epsilons, row, rho):
    """The two defining expectations by sums over fine grids of w and p."""
    mu, nu, *bend = row
    w = np.linspace(-9.0, 9.0, 12_001)
    G = mu * mu / 2 + mu * w
    remove, add = np.zeros_like(w), np.maximum(G, 0.0)
    p = np.linspace(0.0, 1.0, 401)
    for share, charge in zip(p, jacobian(p, *bend), strict=True):
        square = share * share * mu * mu / 2
        np.maximum(remove, charge + square + share * mu * w, out=remove)
    if nu:
        add = np.maximum(add, nu * nu / 2 - nu * w)
    density = np.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])
    return [
        [float(density @ concentrated_delta(e - loss, rho)) for e in epsilons]
        for loss in (remove, add)
    ]


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.parametrize("name", ROWS)
def test_profiles_are_the_defining_expectations(name, share):
    row = ROWS[name]
    rho = (share * row[0]) ** 2 / 2
    epsilons = np.array([-0.7, 0.0, 0.05, 0.3, 1.0, 2.0])
    remove, add = brute_profiles(epsilons, row, rho)
    g = TiltedObjectiveDP(*row, rho)
    # the reference misses slopes between those of its grid
    assert (g._remove_delta(epsilons) >= np.array(remove) * (1 - 3e-6)).all()
    assert g._remove_delta(epsilons) == pytest.approx(remove, rel=2e-3, abs=1e-9)
    assert g._add_delta(epsilons) == pytest.approx(add, rel=1e-5, abs=1e-12)
    worse = np.maximum(g._remove_delta(epsilons), g._add_delta(epsilons))
    assert (g.delta(epsilons) == worse).all()


@pytest.mark.parametrize(
    ("row", "tops"),
    [
        ((0.005, 0.005, 0.5, 1.0, 1.0), [0.0, 0.001, 0.005, 0.01]),
        ((0.02, 0.02, 0.5, 1.0, 1.0), [0.0, 0.01, 0.03]),
        ((1e-3, 0.0, 0.25, 1.0, 0.0), [0.0, 1e-3]),
    ],
    ids=["flat top", "flat top, larger", "steep beside the noise"],
)
def test_long_straight_pieces_are_integrated_too(row, tops):
    """Small noise losses beside a large Jacobian: one line spans many deviations."""
    mu, _, *bend = row
    p = np.linspace(0.0, 1.0, 100_001)
    height = jacobian(p, *bend) + p * p * mu * mu / 2
    w = np.linspace(-9.0, 9.0, 3001)
    psi = np.array([float(np.max(height + p * (mu * x))) for x in w])
    density = np.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])
    g = TiltedObjectiveDP(*row)
    for top in tops:
        epsilon = float(height.max()) + top
        expected = float(density @ np.maximum(-np.expm1(epsilon - psi), 0.0))
        assert g._remove_delta(np.array([epsilon]))[0] >= expected * (1 - 1e-4)


@pytest.mark.parametrize("kappa", [0.01, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("mu", [0.01, 0.24, 1.0, 3.0])
def test_the_logistic_loss_has_the_profile_of_its_own_notion(mu, kappa):
    epsilon = np.linspace(-1.0, 4.0, 26)
    for relation in ("add-remove", "replace-one"):
        own = ObjectivePerturbationDP(mu, kappa, 1e-6, adjacency=relation)
        general = TiltedObjectiveDP(
            mu, 0.0, kappa / 4, kappa, 0.0, 1e-6, adjacency=relation
        )
        seen = own.delta(epsilon) > 1e-250
        ratio = general.delta(epsilon)[seen] / own.delta(epsilon)[seen]
        assert ratio == pytest.approx(1.0, rel=1e-3)
        assert ratio.min() >= 1 - 1e-5


@pytest.mark.parametrize(("F", "a"), [(0.3, 0.5), (1.3, 1.0), (2.0, 0.2), (40.0, 0.5)])
@pytest.mark.parametrize("mu", [1e-6, 0.05, 0.24, 2.0, 30.0])
def test_the_tabulated_loss_bounds_every_slope_and_is_tight(mu, F, a):
    curvature = 0.7 * F * max(a, 0.3)
    w = np.linspace(-38.0, 38.0, 301)
    p = np.linspace(0.0, 1.0, 4001)[:, None]
    lines = jacobian(p, curvature, F, a) + p * p * mu * mu / 2 + p * mu * w
    best = lines.max(axis=0)
    loss = fading_loss(mu, curvature, F, a)
    rounding = 1e-13 * (1 + best)
    assert (loss.at(w) >= best - rounding).all()
    # the reference may miss the kink by a step of its grid
    gap = (2 * F + F * F + mu * mu) / 2000**2 + F / 4000
    assert (loss.at(w) <= best + gap + rounding).all()
    assert (np.diff(loss.knots) > 0.0).all()
    assert (np.diff(loss.values) >= 0.0).all()
    level = free_level(mu, F, a)
    G = mu * mu / 2 + mu * w
    assert (best <= np.maximum(level, G) + rounding).all()


def test_the_jacobian_is_free_where_the_curvature_has_faded():
    g = TiltedObjectiveDP(0.25, 0.25, 0.5, 1.0, 0.5)
    epsilon = np.linspace(1.0, 6.0, 26)
    assert (g._remove_delta(epsilon) == gaussian_delta(epsilon, 0.25)).all()
    assert g.delta(epsilon) == pytest.approx(2 * gaussian_delta(epsilon, 0.25))
    assert g._remove_delta(np.array([0.9]))[0] > gaussian_delta(0.9, 0.25)


def test_reference_profiles():
    """Of the bound that charges the two terms apart, and of two signs."""
    one = TiltedObjectiveDP(0.25, 0.0, 0.25)
    assert one.delta(1.0) == pytest.approx(9.525857e-05, rel=1e-6)
    assert one.delta(0.1) == pytest.approx(2.038140e-01, rel=1e-6)
    add = TiltedObjectiveDP(0.25, 0.25, 0.0)._add_delta
    assert add(np.array([1.0]))[0] == pytest.approx(5.848544e-06, rel=1e-6)
    add = TiltedObjectiveDP(0.5, 0.5, 0.0)._add_delta
    assert add(np.array([0.01]))[0] == pytest.approx(3.767232e-01, rel=1e-6)


def calibrated_sigma(guarantee_of, epsilon):
    low, high = 0.1, 900.0
    for _ in range(40):
        sigma = math.sqrt(low * high)
        good = guarantee_of(1 / sigma).delta(epsilon) <= DELTA
        low, high = (low, sigma) if good else (sigma, high)
    return high


def gaussian_sigma(epsilon):
    return calibrated_sigma(GaussianDP, epsilon)


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    list(
        zip(EPSILONS, (47.3039, 10.3578, 5.3421, 2.7453, 1.4145, 0.7408), strict=True)
    ),
)
def test_noise_for_one_sign_and_a_curvature_of_a_quarter(epsilon, sigma):
    found = calibrated_sigma(
        lambda mu: TiltedObjectiveDP(mu, 0.0, epsilon / 4), epsilon
    )
    assert found == pytest.approx(sigma, abs=6e-5)


@pytest.mark.parametrize(
    ("share", "ratio"),
    [(2, 1.6225), (4, 1.2645), (10, 1.0975), (30, 1.0333), (100, 1.0333)],
)
def test_noise_for_two_signs_and_a_curvature_that_stays(share, ratio):
    sigma = calibrated_sigma(lambda mu: TiltedObjectiveDP(mu, mu, 1 / share), 1.0)
    assert sigma / gaussian_sigma(1.0) == pytest.approx(ratio, abs=6e-5)


@pytest.mark.parametrize(
    ("epsilon", "excess"), [(0.1, 0.043), (1.0, 0.033), (8, 0.023)]
)
def test_noise_for_two_signs_and_a_curvature_that_fades(epsilon, excess):
    sigma = calibrated_sigma(
        lambda mu: TiltedObjectiveDP(mu, mu, epsilon / 2, epsilon, 0.5), epsilon
    )
    assert sigma / gaussian_sigma(epsilon) == pytest.approx(1 + excess, abs=6e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_replacing_costs_little_more_than_two_steps(epsilon):
    """As of the logistic loss: 72.6097 at 0.1 is 2 x 36.3047 and 1e-5 more."""
    F = epsilon / 4
    pairs = {
        "logistic": lambda mu: (mu, 0.0, F / 4, F, 0.0),
        "log-cosh": lambda mu: (mu, mu, F / 2, F, 0.5),
    }
    found = {
        name: calibrated_sigma(
            lambda mu, of=of: TiltedObjectiveDP(*of(mu), adjacency="replace-one"),
            epsilon,
        )
        for name, of in pairs.items()
    }
    sigma = gaussian_sigma(epsilon)
    assert found["logistic"] == pytest.approx(2 * sigma, rel=2e-3)
    assert 2 * sigma <= found["log-cosh"] <= 2 * 1.045 * sigma
    if epsilon == 0.1:
        assert found["logistic"] == pytest.approx(72.6097, abs=6e-5)


def test_corners_are_bounded_at_every_angle_between_the_rows():
    epsilon = np.linspace(0.0, 3.0, 13)
    for mu, nu in [(0.3, 0.3), (0.3, 0.1), (0.3, 0.0), (1.5, 1.2)]:
        claimed = corner_profile(epsilon, mu, nu)
        for cosine in np.linspace(-1.0, 1.0, 41):
            sizes = [
                m * math.sqrt(max(0.0, 2 * (1 - cosine))) for m in (mu, nu)
            ] + 2 * [math.sqrt(max(0.0, mu * mu + nu * nu + 2 * mu * nu * cosine))]
            total = sum(gaussian_delta(epsilon, m) for m in sizes)
            assert (total <= claimed * (1 + 1e-9) + 1e-15).all()


def test_renyi_divergences_of_the_pair():
    """Orders 2, 10 and 32 at sigma = 4.2247, the two terms charged apart."""
    mu, c = 1 / 4.2247, math.log1p(0.25)
    assert removal_profile(np.array([c]), mu, 0.25, math.inf, 1.0, 0.0)[
        0
    ] == pytest.approx(gaussian_delta(0.0, mu))
    w = np.linspace(-20.0, 40.0, 600_001)
    density = np.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (w[1] - w[0])
    for order, value in [(2, 0.343970), (10, 0.505934), (32, 1.119598)]:
        loss = c + np.maximum(0.0, mu * mu / 2 + mu * w)
        k = order - 1
        moment = math.log(density @ np.exp(k * loss)) / k
        assert moment == pytest.approx(value, abs=6e-7)


def test_four_releases_compose_as_four_gaussians_do():
    """2.1289 by the curves alone; reading each backwards as well brings 2.1237."""
    g = TiltedObjectiveDP(1 / 4.2247, 0.0, 0.25 / 4, 1 / 4, 0.0)
    gaussian = GaussianDP(2 / 4.2247).epsilon(DELTA)
    assert gaussian <= compose(g, g, g, g).epsilon(DELTA) <= 1.0005 * gaussian


def test_two_signs_double_the_chance_at_each_release_of_several():
    mu = 1 / 4.4
    g = TiltedObjectiveDP(mu, mu, 0.05, 0.1, 0.5)
    total = compose(g, g).epsilon(DELTA)
    gaussian = GaussianDP(math.sqrt(2) * mu)
    assert gaussian.epsilon(DELTA) <= total <= gaussian.epsilon(DELTA / 4)


def test_directed_profiles_use_what_the_other_direction_says():
    g = TiltedObjectiveDP(1 / 4.4, 1 / 4.4, 0.05, 0.1, 0.5)
    epsilon = np.linspace(-2.0, 2.0, 81)
    directed = g._delta_directed(epsilon)
    assert (np.maximum(*directed) <= g.delta(epsilon) + 1e-15).all()
    assert directed[1][35] < 0.9 * g._add_delta(epsilon[35:36])[0]
    for values in directed:
        assert (np.diff(values) <= 1e-12).all()
        assert (values >= -np.expm1(epsilon) - 1e-12).all()


@pytest.mark.parametrize("kappa", [0.0, 1e-30, 1e6])
@pytest.mark.parametrize("mu", [1e-8, 1e-3, 60.0])
@pytest.mark.parametrize("fading", [False, True])
def test_extreme_numbers_give_finite_monotone_profiles(mu, kappa, fading):
    more = (2 * kappa, 0.5) if fading else (math.inf, 1.0)
    for relation in ("add-remove", "replace-one"):
        g = TiltedObjectiveDP(mu, mu, kappa, *more, 1e-12, adjacency=relation)
        e = np.concatenate([np.linspace(-5.0, 40.0, 46), [700.0, 1e4, 1e7]])
        values = g.delta(e)
        assert np.isfinite(values).all()
        assert (np.diff(values) <= 1e-12).all()


def test_to_replace_one_keeps_what_the_release_is():
    g = TiltedObjectiveDP(0.1, 0.05, 0.25, 0.5, 0.5, 1e-9, assumptions=("a",))
    pair = g.to_replace_one()
    assert pair._row() == g._row()
    assert pair.smoothing_rho == 1e-9
    assert pair.assumptions == ("a",)
    assert pair.to_replace_one() is pair


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ((0.0, 0.0, 1.0), "mu"),
        ((0.1, 0.2, 1.0), "opposite_mu"),
        ((0.1, 0.1, -1.0), "curvature"),
        ((0.1, 0.1, 1.0, math.nan), "fading"),
        ((0.1, 0.1, 1.0, 1.0, 1.5), "lag"),
        ((0.1, 0.1, 1.0, 1.0, 0.5, -1.0), "smoothing_rho"),
    ],
)
def test_numbers_out_of_range_are_refused(numbers, name):
    with pytest.raises(ValueError, match=f"^{name} "):
        TiltedObjectiveDP(*numbers)
