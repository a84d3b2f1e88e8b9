"""The full-precision uniform and normal: bit for bit, then against mpmath."""

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri

from skdp.random import as_random_source, k_norm_vector, standard_normal, uniform


class FixedSource:
    """Hands out given 64-bit words."""

    seeded = True

    def __init__(self, *words):
        self.stream = np.array(words, dtype="<u8").tobytes()

    def bytes(self, n):
        taken, self.stream = self.stream[:n], self.stream[n:]
        assert len(taken) == n
        return taken


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((0, 1, 0), 2.0**-1),
        ((2**64 - 1, 1, 0), 1 - 2.0**-53),
        ((2**63, 1, 0), 0.75),
        ((0, 2, 0), 2.0**-2),
        ((0, 2**63, 0), 2.0**-64),
        ((0, 0, 1), 2.0**-65),
        ((0, 0, 2**62), 2.0**-127),
        ((0, 0, 2**63), 2.0**-128),
        ((0, 0, 0, 1), 2.0**-129),
        ((2**64 - 1, 0, 0, 2), 2.0**-129 - 2.0**-182),
        ((0, 0, 0, 0, 0, 4), 2.0**-259),
    ],
)
def test_a_uniform_is_the_stated_function_of_its_bytes(words, expected):
    assert uniform(1, FixedSource(*words))[0] == expected


def test_an_empty_first_word_does_not_disturb_the_other_draws():
    mantissas, first, second = [0, 0, 2**63], [1, 0, 4], [7, 4, 7]
    source = FixedSource(*mantissas, *first, *second)
    assert uniform(3, source).tolist() == [0.5, 2.0**-67, 1.5 * 2.0**-3]


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("mantissa", [0, 2**63, 2**64 - 2])
def test_a_normal_is_the_stated_function_of_its_bytes(mantissa, sign):
    half = 0.5 * uniform(1, FixedSource(mantissa, 2, 0))[0]
    z = standard_normal(1, FixedSource(mantissa + sign, 2, 0))[0]
    assert z == (ndtri(half) if sign else -ndtri(half))
    assert z != 0


def test_uniforms_reach_between_the_multiples_of_two_to_the_minus_53():
    """A third of the draws lie between (5-sigma band, false alarm 6e-7)."""
    n = 200_000
    u = uniform(n, as_random_source(0))
    share = np.mean(u * 2.0**53 % 1 != 0)
    assert abs(share - 1 / 3) < 5 * np.sqrt(2 / 9 / n)
    # The same count for the usual construction: none.
    assert np.mean(np.random.default_rng(0).random(n) * 2.0**53 % 1 != 0) == 0


def test_quantiles_agree_with_mpmath_down_to_1e_30():
    rng = np.random.default_rng(0)
    u = 0.5 * np.concatenate([rng.random(150), 10.0 ** -rng.uniform(0, 30, 250)])
    with mpmath.workdps(60):
        for p, z in zip(u, ndtri(u), strict=True):
            # One Newton step from z reaches the exact quantile, up to the square.
            error = (mpmath.ncdf(z) - mpmath.mpf(float(p))) / mpmath.npdf(z)
            assert abs(error) <= 1e-14
            assert abs(error) <= 1e-15 * abs(z)


@pytest.mark.parametrize("zeros", [4, 16, 40])
def test_the_tail_of_the_normal_is_not_cut(zeros):
    """A run of 64 ``zeros`` zero bits is a normal number with just that tail."""
    z = standard_normal(1, FixedSource(0, *[0] * zeros, 1))[0]
    with mpmath.workdps(60):
        log_tail = mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)) / 2)
        expected = -(64 * zeros + 2) * mpmath.log(2)
    assert float(log_tail) == pytest.approx(float(expected), rel=1e-12)


def test_the_radius_of_the_k_norm_is_not_cut():
    words = [2**40, 4, 0, 0, *[0] * 40, 1]  # a normal for the direction, then one U
    b = k_norm_vector(1, 1.0, FixedSource(*words))
    assert abs(b[0]) == pytest.approx((64 * 40 + 1) * np.log(2), rel=1e-12)


@pytest.mark.parametrize("sampler", [uniform, standard_normal])
def test_no_draws_are_an_empty_float_vector(sampler):
    empty = sampler(0, as_random_source(None))
    assert empty.shape == (0,)
    assert empty.dtype == np.float64


@pytest.mark.parametrize("sampler", [uniform, standard_normal])
@pytest.mark.parametrize(
    ("size", "error"),
    [(-1, ValueError), (2.0, TypeError), (True, TypeError), ("3", TypeError)],
)
def test_a_wrong_size_is_an_error_that_names_it(sampler, size, error):
    with pytest.raises(error, match=r"^size "):
        sampler(size, as_random_source(0))


@pytest.mark.parametrize(
    ("arguments", "error", "name"),
    [
        ((0, 1.0), ValueError, "n_features"),
        ((2.0, 1.0), TypeError, "n_features"),
        ((2, 0.0), ValueError, "rate"),
        ((2, -1.0), ValueError, "rate"),
        ((2, float("nan")), ValueError, "rate"),
        ((2, "1"), TypeError, "rate"),
    ],
)
def test_wrong_k_norm_arguments_are_errors_that_name_them(arguments, error, name):
    with pytest.raises(error, match=f"^{name} "):
        k_norm_vector(*arguments, as_random_source(0))


def test_the_k_norm_vector_scales_with_the_inverse_rate():
    slow, fast = (k_norm_vector(5, rate, as_random_source(0)) for rate in (0.5, 2.0))
    np.testing.assert_allclose(slow, 4 * fast, rtol=1e-15)


def test_in_one_dimension_the_k_norm_vector_is_a_laplace_draw():
    z = k_norm_vector(1, 1.0, FixedSource(1, 1, 0, 2**63, 2, 0))
    assert z[0] == pytest.approx(np.log(0.375), rel=1e-15)
