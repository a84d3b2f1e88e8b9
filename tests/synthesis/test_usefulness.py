"""How many points and records the usefulness theorem asks for."""

import math

import pytest
from mpmath import mp

from skdp.synthesis import sample_size, useful_size


@pytest.mark.parametrize("v", [1, 2, 4, 9, 50])
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3, 0.9])
def test_sizes_are_the_least_that_satisfy_the_bounds(v, alpha):
    def union(m, n):
        return 2 * (mp.e * n / v) ** v * mp.exp(-m * mp.mpf(alpha) ** 2 / 2)

    def ghosts(m):
        growth = (2 * mp.e * m / v) ** v
        return 4 * growth * mp.exp(-m * mp.mpf(alpha) ** 2 / 32)

    free = useful_size(alpha, vc_dimension=v)
    assert ghosts(free) < 1 <= ghosts(free - 1)
    n = 100 * v
    m = useful_size(alpha, vc_dimension=v, n_rows=n)
    assert union(m, n) <= 1 + mp.mpf(10) ** -12 < union(m - 1, n) or m == free


def test_sizes_of_a_thousand_records():
    table = {
        (3, 0.1): (3025, 251_733),
        (3, 0.3): (337, 9_384),
        (5, 0.1): (5356, 742_620),
        (5, 0.3): (596, 27_581),
        (10, 0.1): (10_418, 2_888_603),
        (10, 0.3): (1158, 107_062),
    }
    for (k, alpha), (m, n) in table.items():
        assert useful_size(alpha, vc_dimension=k - 1, n_rows=1000) == m
        found = sample_size(
            alpha,
            failure=0.05,
            epsilon=1.0,
            vc_dimension=k - 1,
            log_universe=k * math.log(2),
            n_points=m,
        )
        assert found == n


def test_the_number_of_records_fits_its_own_number_of_points():
    given = {"failure": 0.05, "epsilon": 0.5, "vc_dimension": 2, "log_universe": 2.0}
    n = sample_size(0.1, **given)
    m = useful_size(0.1, vc_dimension=2, n_rows=n)
    assert sample_size(0.1, n_points=m, **given) <= n
    smaller = useful_size(0.1, vc_dimension=2, n_rows=n - 1)
    assert sample_size(0.1, n_points=smaller, **given) > n - 1


def test_few_records_have_few_behaviours():
    few = useful_size(0.1, vc_dimension=5, n_rows=3)
    assert few == math.ceil(2 / 0.01 * (3 * math.log(2) + math.log(2)))
    assert few < useful_size(0.1, vc_dimension=5, n_rows=100)


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, 2.0])
def test_shares_are_shares(wrong):
    with pytest.raises(ValueError, match="error"):
        useful_size(wrong, vc_dimension=2)
    with pytest.raises(ValueError, match="failure"):
        sample_size(0.1, failure=wrong, epsilon=1.0, vc_dimension=2, log_universe=1.0)
