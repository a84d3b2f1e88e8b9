"""The coin of a draw that may fail, against the mixtures it hides in."""

import itertools
import math

import numpy as np
import pytest

from skdp.accounting import Adjacency
from skdp.mechanisms._bounded_guarantee import Coin, bounded_guarantee


@pytest.mark.parametrize("omega", [1e-6, 1e-2])
@pytest.mark.parametrize("q", [1e-9, 1e-2, 0.3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_no_pair_of_mixtures_exceeds_the_pure_loss_and_one_attains_it(
    epsilon, q, omega
):
    """Densities relative to the uniform law, from none at all to very high."""
    coin, worst = Coin(omega, q), 0.0
    for p, ratio, left, right in itertools.product(
        (0.0, 1e-9, 1.0, 1e9), (-epsilon, epsilon), (0.0, q), (0.0, q)
    ):
        sides = [
            (1 - omega) * ((1 - f) * height + f) + omega
            for height, f in ((p, left), (p * math.exp(ratio), right))
        ]
        worst = max(worst, abs(np.log(sides[0] / sides[1])))
    assert worst <= coin.pure(epsilon)
    assert worst > 0.9 * coin.pure(epsilon)


def test_zcdp_and_gdp_pay_for_the_revealed_coin():
    coin = Coin(1e-3, 1e-4)
    pure, concentrated, gaussian = bounded_guarantee(
        0.8,
        0.3,
        coin,
        rounding=0.0,
        step=None,
        n_draws=1,
        adjacency=Adjacency.ADD_REMOVE,
        assumptions=(),
    ).parts
    odds = max(math.log(1.1), -math.log1p(-1e-4))
    assert pure.epsilon_bound == pytest.approx(coin.pure(0.8))
    assert concentrated.rho == pytest.approx(0.8**2 / 8 + odds**2 / 2)
    assert gaussian.mu == pytest.approx(math.hypot(0.3, coin.mu))
