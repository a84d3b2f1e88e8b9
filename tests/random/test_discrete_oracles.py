"""Discrete noise against other people's samplers: a textbook one and opendp's."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from skdp.random import as_random_source, discrete_gaussian, discrete_laplace

SAMPLERS = {"gaussian": discrete_gaussian, "laplace": discrete_laplace}
#: Level of one test; the seeds are fixed but for opendp's.
LEVEL = 1e-7


class Reference:
    """Canonne, Kamath and Steinke's algorithms 1 to 3, in fractions."""

    def __init__(self, seed):
        self.below = random.Random(seed).randrange

    def bernoulli(self, p):
        return self.below(p.denominator) < p.numerator

    def bernoulli_exp(self, x):
        while x > 1:
            if not self.bernoulli_exp(Fraction(1)):
                return False
            x -= 1
        k = 1
        while self.bernoulli(x / k):
            k += 1
        return k % 2 == 1

    def laplace(self, scale):
        t, s = scale.numerator, scale.denominator
        while True:
            u = self.below(t)
            if not self.bernoulli_exp(Fraction(u, t)):
                continue
            v = 0
            while self.bernoulli_exp(Fraction(1)):
                v += 1
            magnitude = (u + t * v) // s
            negative = self.below(2)
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude

    def gaussian(self, scale):
        t = math.floor(scale) + 1
        while True:
            y = self.laplace(Fraction(t))
            gap = abs(y) - scale**2 / t
            if self.bernoulli_exp(gap**2 / (2 * scale**2)):
                return y


def assert_same_law(first, second):
    """Two-sample chi-square over cells of about one fortieth of the pooled draws."""
    pooled = np.concatenate([first, second])
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, 41)[1:-1]).astype(int))
    table = [
        np.bincount(np.searchsorted(edges, part), minlength=len(edges) + 1)
        for part in (first, second)
    ]
    table = np.array(table)
    table = table[:, table.sum(axis=0) >= 20]
    assert stats.chi2_contingency(table).pvalue > LEVEL


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(7, 2), Fraction(200)])
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_agree_with_a_brute_force_reference(name, scale):
    """Two-sample chi-square at 1e-7."""
    n = 3000
    draw = getattr(Reference(3), name)
    reference = np.array([draw(scale) for _ in range(n)])
    draws = SAMPLERS[name](n, scale, as_random_source(27))
    assert_same_law(reference, draws)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [3.0, 777.5])
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_agree_with_opendp(name, scale):
    """Two-sample chi-square at 1e-7; opendp's draws are fresh at every run."""
    import opendp.prelude as dp  # takes three seconds

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if name == "gaussian":
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale)
    else:
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
    n = 10_000
    draws = SAMPLERS[name](n, scale, as_random_source(28))
    assert_same_law(np.array(measurement([0] * n)), draws)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda n: np.rint(np.random.default_rng(0).normal(0, 1, n)).astype(int),
        lambda n: discrete_gaussian(n, 1.05, as_random_source(1)),
        lambda n: discrete_laplace(n, 0.8, as_random_source(1)),
    ],
    ids=["rounded", "wide", "laplace"],
)
def test_another_law_is_caught(wrong):
    n = 100_000
    with pytest.raises(AssertionError):
        assert_same_law(wrong(n), discrete_gaussian(n, 1, as_random_source(2)))
