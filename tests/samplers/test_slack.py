"""The slack squeeze: its draw and its stopping time, jointly."""

import math

import numpy as np
import pytest
from finite_targets import Finite, squeeze_law
from scipy.stats import chi2

from skdp.accounting import Channel, Public, PureDP
from skdp.random import as_random_source
from skdp.samplers import LoopTarget, SlackSqueeze, Stage
from skdp.samplers import _slack as slack

BOTH = {Channel.OUTPUT, Channel.RUNTIME}
HALVES = np.array([0.5, 0.5])


def geometric(s, last):
    """Return P(S = k) for k = 0..last."""
    return np.append(0.0, (1 - s) ** np.arange(last) * s)


def loss(one, other, k):
    """Return the largest absolute log ratio of two joint laws up to step k."""
    return np.max(abs(np.log(one[1 : k + 1]) - np.log(other[1 : k + 1])))


def test_known_values_of_the_joint_law():
    law = squeeze_law(HALVES, np.exp([-0.1, -0.02]), 0.5 * math.exp(-0.1), 4)
    known = [
        (0.2262093545, 0.2262093545),
        (0.1153442999, 0.1323917208),
        (0.0626704211, 0.0729851889),
        (0.0342889863, 0.0399934878),
    ]
    assert law[1:] == pytest.approx(np.array(known), abs=6e-11)


def test_the_closed_form_of_the_joint_law():
    rng = np.random.default_rng(4)
    for _ in range(50):
        n, eta, kappa = rng.integers(2, 5), rng.uniform(0.01, 0.5), rng.uniform(0.05, 1)
        proposal = rng.dirichlet(np.ones(n))
        a = np.exp(-2 * eta * rng.random(n))
        s, p = kappa * math.exp(-2 * eta), proposal @ a
        k = np.arange(1, 40)[:, None]
        both = (1 - s) ** (k - 1) - (1 - p) ** (k - 1)
        form = proposal * ((1 - p) ** (k - 1) * s + (a - s) * s * both / (p - s))
        assert squeeze_law(proposal, a, s, 39)[1:] == pytest.approx(form, rel=1e-9)


@pytest.mark.parametrize("kappa", [0.25, 0.5, 0.9, 1.0])
def test_both_marginals_are_right_at_any_slack(kappa):
    """So no test of the marginals can see what is wrong at kappa = 1."""
    eta, a = 0.1, np.exp([-0.2, 0.0])
    s = kappa * math.exp(-2 * eta)
    law = squeeze_law(HALVES, a, s, 400)
    assert law.sum(axis=1) == pytest.approx(geometric(s, 400), abs=1e-14)
    assert law.sum(axis=0) == pytest.approx(HALVES * a / (HALVES @ a), abs=1e-12)


@pytest.mark.parametrize(("k", "value"), [(5, 2.335), (20, 12.730), (80, 54.319)])
def test_without_slack_no_epsilon_holds(k, value):
    """Two symbols, one of which touches the lower envelope."""
    s = math.exp(-0.2)
    one = squeeze_law(HALVES, np.exp([-0.2, 0.0]), s, k)
    other = squeeze_law(HALVES, np.exp([-0.1, 0.0]), s, k)
    assert loss(one, other, k) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("k", [5, 20, 80, 300])
def test_with_slack_the_same_targets_pass(k):
    """The joint law at kappa = 1/2: epsilon of the draw plus 4 eta."""
    eta = 0.1
    s = 0.5 * math.exp(-2 * eta)
    one = squeeze_law(HALVES, np.exp([-0.2, 0.0]), s, k)
    other = squeeze_law(HALVES, np.exp([-0.1, 0.0]), s, k)
    draw = [HALVES * a / (HALVES @ a) for a in (np.exp([-0.2, 0]), np.exp([-0.1, 0]))]
    epsilon = np.max(abs(np.log(draw[0] / draw[1])))
    claim = SlackSqueeze(stage([0.5, 0.5], np.exp([-0.2, 0.0]), eta)).guarantee(
        PureDP(float(epsilon))
    )
    assert loss(one, other, k) <= claim.epsilon(0.0)
    assert loss(one, other, 20) < 1.0


def stage(proposal, a, eta):
    return Stage(Finite(proposal, a).target, Public(eta))


def test_random_pairs_stay_within_the_claim_and_half_is_the_limit():
    """f / (Geom(s) pi) within exp(-+2 eta) for kappa <= 1/2, broken at 0.51."""
    rng = np.random.default_rng(7)

    def excess(kappa, n_trials):
        worst = -math.inf
        for _ in range(n_trials):
            n, eta = rng.integers(2, 4), rng.uniform(0.002, 0.4)
            ends = rng.random(n) < 0.7
            a = np.exp(-2 * eta * np.where(ends, rng.integers(0, 2, n), rng.random(n)))
            proposal = rng.dirichlet(np.full(n, 0.3)) + 1e-9
            proposal /= proposal.sum()
            s, pi = kappa * math.exp(-2 * eta), proposal * a / (proposal @ a)
            law = squeeze_law(proposal, a, s, 60)[1:]
            ratio = np.log(law / (geometric(s, 60)[1:, None] * pi))
            worst = max(worst, np.max(abs(ratio)) - 2 * eta)
        return worst

    assert excess(0.5, 400) <= 1e-12
    assert excess(0.25, 100) <= 1e-12
    assert excess(0.6, 400) > 0.01
    # a rare symbol near the upper envelope, small eta, late steps
    eta, kappa = 0.002, 0.51
    a, proposal = np.exp([-2 * eta, 0.0]), np.array([1e-9, 1 - 1e-9])
    s, pi = kappa * math.exp(-2 * eta), proposal * a / (proposal @ a)
    law = squeeze_law(proposal, a, s, 60)[1:]
    ratio = np.log(law / (geometric(s, 60)[1:, None] * pi))
    assert np.max(abs(ratio)) > 2 * eta


def adaptive_law(stages, kappa, last):
    """Return f(k, y) when step i uses stage i and the last one repeats."""
    n = stages[0][1].size
    out, kept, empty = np.zeros((last + 1, n)), np.zeros(n), 1.0
    for k in range(1, last + 1):
        proposal, a, eta = stages[min(k, len(stages)) - 1]
        s = kappa * math.exp(-2 * eta)
        out[k] = kept * s + empty * proposal * s
        kept = kept * (1 - s) + empty * proposal * (a - s)
        empty *= 1 - proposal @ a
    return out


def test_stages_of_falling_width_stay_within_the_first_width():
    rng = np.random.default_rng(8)
    for _ in range(100):
        target = rng.dirichlet(np.ones(3))
        etas = np.sort(rng.uniform(0.01, 0.4, 3))[::-1]
        stages = []
        for eta in etas:
            # an envelope above the target, by factors up to exp(2 eta)
            above = target * np.exp(2 * eta * rng.random(3))
            proposal = above / above.sum()
            a = target / above
            stages.append((proposal, a, eta))
        law = adaptive_law(stages, 0.5, 40)
        rates = [0.5 * math.exp(-2 * etas[min(k, 3) - 1]) for k in range(1, 41)]
        left = np.cumprod(np.append(1.0, 1.0 - np.array(rates)))[:-1]
        public = left * rates
        assert law[1:].sum(axis=1) == pytest.approx(public, abs=1e-14)
        ratio = np.log(law[1:] / (public[:, None] * target))
        assert np.max(abs(ratio)) <= 2 * etas[0] + 1e-12


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(
        slack, "exponential", lambda n, source: source.generator.exponential(size=n)
    )


@pytest.mark.statistical
def test_the_sampler_has_the_joint_law(quick):
    """Chi-square over (k, y) with expected counts of 10 or more, level 1e-7."""
    a, eta, n = np.exp([-0.4, -0.05]), 0.2, 6000
    finite = Finite([0.3, 0.7], a)
    loop = SlackSqueeze(Stage(finite.target, Public(eta)))
    source = as_random_source(5)
    counts = np.zeros((41, 2))
    for _ in range(n):
        y, k = finite.run(loop, source)
        counts[min(k, 40), y] += 1
    expected = n * squeeze_law([0.3, 0.7], a, 0.5 * math.exp(-2 * eta), 40)
    common = expected >= 10
    statistic = np.sum((counts - expected)[common] ** 2 / expected[common])
    assert statistic < chi2.isf(1e-7, common.sum())
    times = counts.sum(axis=1)
    mean = (times * np.arange(41)).sum() / n
    assert mean == pytest.approx(2 * math.exp(2 * eta), rel=0.05)


@pytest.mark.parametrize(
    ("eta", "mean", "cost"),
    [
        (0.01, 2.0404, 0.04),
        (0.025, 2.1025, 0.1),
        (0.05, 2.2103, 0.2),
        (0.1, 2.4428, 0.4),
    ],
)
def test_known_lengths_and_costs(eta, mean, cost):
    s = 0.5 * math.exp(-2 * eta)
    assert 1 / s == pytest.approx(mean, abs=5e-5)
    total = SlackSqueeze(stage([1.0], np.array([1.0]), eta)).guarantee(PureDP(1.0))
    assert total.epsilon(0.0) == pytest.approx(1.0 + cost)
    assert total.observes == BOTH


@pytest.mark.parametrize("kappa", [0.5000001, 0.51, 1.0, 0.0, -0.1, math.nan])
def test_less_slack_is_refused(kappa):
    with pytest.raises(ValueError, match=r"^kappa "):
        SlackSqueeze(stage([1.0], np.array([1.0]), 0.1), kappa=kappa)


def test_wider_stages_later_are_refused():
    narrow, wide = (stage([1.0], np.array([1.0]), eta) for eta in (0.1, 0.2))
    SlackSqueeze([wide, narrow])
    with pytest.raises(ValueError, match="not of falling width"):
        SlackSqueeze([narrow, wide])
    with pytest.raises(ValueError, match="not of falling width"):
        SlackSqueeze([])
    with pytest.raises(TypeError, match="eta is not declared public"):
        Stage(Finite([1.0], [1.0]).target, 0.1)


def test_a_step_that_ends_the_loop_accepts_whatever_it_proposed():
    """Even a wrong envelope, or nan, cannot end the loop with nothing kept."""
    for value in (-50.0, math.nan, 3.0):
        target = LoopTarget(
            lambda n, source: np.full((n, 1), 7.0),
            lambda x, value=value: np.full(x.shape[0], value),
        )
        squeeze = SlackSqueeze(Stage(target, Public(0.1)))
        assert [squeeze.draw(as_random_source(s))[0] for s in range(20)] == [7.0] * 20
