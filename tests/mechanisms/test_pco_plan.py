"""The search for the sizes of a preconditioned fit: few curves, little left over."""

import math

import numpy as np
import pytest

from skdp.accounting import PreconditionedPerturbationDP
from skdp.accounting._gaussian import gaussian_curve
from skdp.accounting._loss_law import _gaussian, _rounded_up, _table
from skdp.mechanisms import _pco_plan
from skdp.mechanisms._pco_plan import plan_parts


@pytest.fixture
def looked_at(monkeypatch):
    """All curves that a search looked at."""
    seen = []

    def counted(*args):
        seen.append(PreconditionedPerturbationDP(*args))
        return seen[-1]

    monkeypatch.setattr(_pco_plan, "PreconditionedPerturbationDP", counted)
    plan_parts.cache_clear()
    yield seen
    plan_parts.cache_clear()


@pytest.mark.parametrize("loss", ["logistic", "log-cosh"])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 8.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.1])
def test_a_few_curves_find_sizes_that_spend_the_target(loss, epsilon, delta, looked_at):
    plan = plan_parts(epsilon, delta, loss, 7)
    assert 2 <= len(looked_at) <= 7
    # sizes are recovered from the stored scales, so they may differ by rounding
    energy = [] if plan.energy is None else [plan.energy]
    statistics = [plan.metric, plan.center, *energy]
    guarantee = PreconditionedPerturbationDP(
        math.hypot(*(part.mu for part in statistics)),
        tuple(part.mu for part in plan.phases),
        plan.curvature,
        loss,
        math.fsum(part.step.rho for part in [*statistics, *plan.phases]),
    )
    assert 1.0 - 2e-7 < guarantee.delta(epsilon) / delta <= 1.0
    assert guarantee.epsilon(delta) <= epsilon


def test_where_secants_fail_the_careful_search_answers():
    plan = plan_parts(1.0, 0.999999, "log-cosh", 3)
    assert 0.0 < plan.phases[0].mu < math.inf


@pytest.mark.parametrize("mu", [1e-6, 0.08, 0.3, 2.0, 20.0])
def test_a_table_is_the_profile_on_both_sides(mu):
    table = _table(mu)
    n = table.size // 2
    points = np.arange(-float(n), n + 1.0) * (mu / 1000.0)
    np.testing.assert_allclose(table, gaussian_curve(points, mu), rtol=1e-14)


@pytest.mark.parametrize("mu", [1e-9, 0.3, 0.5, 0.99999999999, 1.0, 7.0])
def test_sizes_are_rounded_up_and_by_next_to_nothing(mu):
    assert mu <= _rounded_up(mu) <= mu * (1.0 + 2.0**-35)
    assert _rounded_up(_rounded_up(mu)) == _rounded_up(mu)
    points = mu * np.linspace(-5.0, 5.0, 41)
    exact, table = gaussian_curve(points, mu), _gaussian(points, mu)
    assert np.all(table >= exact * (1.0 - 1e-13))
    np.testing.assert_allclose(table, exact, rtol=1e-5)
