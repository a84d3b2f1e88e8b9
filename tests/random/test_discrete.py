"""Discrete noise against its exact law, other samplers, and planted wrong ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from skdp.random import as_random_source, discrete_gaussian, discrete_laplace

SAMPLERS = {"gaussian": discrete_gaussian, "laplace": discrete_laplace}
each_sampler = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
#: Level of one test; the seeds are fixed.
LEVEL = 1e-7


def weights(sampler, scale, z):
    """Unnormalised probabilities of the integers z."""
    z = np.abs(z) / float(scale)
    return np.exp(-(z**2) / 2 if sampler is discrete_gaussian else -z)


def exact_law(sampler, scale):
    """Support and probabilities, leaving out less than 1e-15."""
    reach = int(scale * (9 if sampler is discrete_gaussian else 36)) + 2
    z = np.arange(-reach, reach + 1)
    w = weights(sampler, scale, z)
    return z, w / w.sum()


def assert_law(draws, sampler, scale):
    """Chi-square over runs of integers whose expected count is at least 10.

    Six thousand runs at most, so that both single atoms and the shape are tested; the
    outermost runs are the tails.
    """
    z, probabilities = exact_law(sampler, scale)
    least = max(10, len(draws) / 6000)
    cells, mass = np.empty(len(z), dtype=int), 0.0
    cell = 0
    for i, p in enumerate(probabilities * len(draws)):
        cells[i] = cell
        mass += p
        if mass >= least:
            cell, mass = cell + 1, 0.0
    cells = np.minimum(cells, cell - 1)
    expected = np.bincount(cells, probabilities) * len(draws)
    place = np.clip(np.asarray(draws) - z[0], 0, len(z) - 1).astype(int)
    observed = np.bincount(cells[place], minlength=len(expected))
    if len(expected) > 1:
        assert stats.chisquare(observed, expected).pvalue > LEVEL


def assert_symmetric(draws):
    """Signs of the draws, and of those in the tail, are fair coins."""
    draws = np.asarray(draws)
    for part in (draws[draws != 0], draws[abs(draws) > np.quantile(abs(draws), 0.9)]):
        if len(part):
            assert stats.binomtest(int((part > 0).sum()), len(part)).pvalue > LEVEL


@pytest.mark.statistical
@each_sampler
@pytest.mark.parametrize(
    "scale",
    [0.3, Fraction(5, 7), 1, 2, 3.9, 4, Fraction(17, 3), 11.25, 128, 181.02, 1000],
    ids=str,
)
def test_draws_follow_the_exact_law(sampler, scale):
    """False alarm below 1e-6: three tests at 1e-7."""
    draws = sampler(200_000, scale, as_random_source(21))
    assert_law(draws, sampler, scale)
    assert_symmetric(draws)


@pytest.mark.statistical
@each_sampler
@pytest.mark.parametrize("scale", [3, 1500])
def test_tails_are_right_down_to_two_to_the_minus_16(sampler, scale):
    """A million draws, binomial tests of ten tails at 1e-7: false alarm 1e-6."""
    draws = abs(sampler(1_000_000, scale, as_random_source(22)))
    z, p = exact_law(sampler, scale)
    tails = 2 * np.cumsum(p[z < 0])  # P(|z| >= k) for k from far out to 1
    for power in range(7, 17):
        i = np.searchsorted(tails, 2.0**-power, side="right") - 1
        count = int((draws >= -z[i]).sum())
        assert stats.binomtest(count, len(draws), tails[i]).pvalue > LEVEL


@pytest.mark.statistical
@each_sampler
@pytest.mark.parametrize("scale", [1e-3, 1, 1e3, 12_345_678.9, 2**53, 2**60, 10**30])
def test_mean_and_variance_at_any_scale(sampler, scale):
    """Two moments within 5.1 standard errors: false alarm 7e-7."""
    n = 40_000
    draws = sampler(n, scale, as_random_source(24))
    if scale < 1e-2:
        assert not draws.any()
        return
    if scale < 1e4:
        z, p = exact_law(sampler, scale)
        variance, fourth = (p * z**2.0).sum(), (p * z**4.0).sum()
    else:
        ratio, kurtosis = (1, 3) if sampler is discrete_gaussian else (2, 6)
        variance = ratio * float(scale) ** 2
        fourth = kurtosis * variance**2
    values = draws.astype(float)
    assert abs(values.mean()) < 5.1 * math.sqrt(variance / n)
    spread = math.sqrt((fourth - variance**2) / n)
    assert abs((values**2).mean() - variance) < 5.1 * spread


@pytest.mark.statistical
@each_sampler
@pytest.mark.parametrize("scale", [2**60, Fraction(10**20, 3), 1e9, 123456.789])
def test_low_bits_of_large_scales_are_fair(sampler, scale):
    """Residues modulo 2, 256 and 1000 are uniform: chi-square at 1e-7 each."""
    draws = sampler(50_000, scale, as_random_source(25))
    for modulus in (2, 256, 1000):
        counts = np.bincount((draws % modulus).astype(int), minlength=modulus)
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.statistical
@each_sampler
def test_successive_draws_are_independent(sampler):
    """Two by two table of neighbours: chi-square at 1e-7."""
    draws = abs(sampler(100_000, 50, as_random_source(26))) > 40
    pairs = np.bincount(2 * draws[:-1] + draws[1:], minlength=4).reshape(2, 2)
    assert stats.chi2_contingency(pairs).pvalue > LEVEL


def _rounded_normal(rng, n):
    return np.rint(rng.normal(0, 2, n)).astype(int)


def _clipped(rng, n):
    return np.clip(discrete_gaussian(n, 2, as_random_source(1)), -6, 6)


def _zero_twice(rng, n):
    draws = discrete_gaussian(2 * n, 2, as_random_source(1))
    # Accepting minus zero doubles the weight of zero.
    extra = rng.random(2 * n) < weights(discrete_gaussian, 2, draws) * (draws == 0) / 4
    return np.concatenate([draws, draws[extra]])[-n:]


def _one_sided(rng, n):
    return abs(discrete_gaussian(n, 2, as_random_source(1)))


def _wrong_scale(rng, n):
    return discrete_gaussian(n, 2.03, as_random_source(1))


@pytest.mark.parametrize(
    "wrong", [_rounded_normal, _clipped, _zero_twice, _one_sided, _wrong_scale]
)
def test_a_wrong_discrete_gaussian_is_caught(wrong):
    with pytest.raises(AssertionError):
        assert_law(wrong(np.random.default_rng(0), 200_000), discrete_gaussian, 2)


@each_sampler
@pytest.mark.parametrize(
    ("scale", "dtype"),
    [(1e-300, np.int64), (2**53, np.int64), (2**53 + 1, object), (1e300, object)],
)
def test_draws_are_int64_as_far_as_they_fit_and_python_integers_beyond(
    sampler, scale, dtype
):
    draws = sampler(50, scale, as_random_source(0))
    assert draws.dtype == dtype
    assert draws.shape == (50,)
    assert dtype is not object or {type(z) for z in draws} == {int}
    assert sampler(0, scale, as_random_source(0)).dtype == dtype


@each_sampler
def test_equal_scales_of_different_types_give_equal_draws(sampler):
    scales = (3, 3.0, Fraction(3), np.int64(3), np.float32(3), np.float64(3))
    draws = [sampler(100, s, as_random_source(0)).tolist() for s in scales]
    assert draws == [draws[0]] * len(scales)


@each_sampler
def test_batches_do_not_disturb_the_law_of_long_vectors(sampler):
    assert len(sampler(70_001, 5, as_random_source(0))) == 70_001


@each_sampler
@pytest.mark.parametrize(
    ("scale", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (-0.0, ValueError),
        (Fraction(-1, 2), ValueError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        (np.float64("-inf"), ValueError),
        (True, TypeError),
        (np.True_, TypeError),
        ("1", TypeError),
        (None, TypeError),
        (1j, TypeError),
        (np.ones(2), TypeError),
    ],
    ids=repr,
)
def test_a_wrong_scale_is_an_error_that_names_it(sampler, scale, error):
    with pytest.raises(error, match=r"^scale must .* Allowed: .*"):
        sampler(3, scale, as_random_source(0))


@each_sampler
@pytest.mark.parametrize(
    ("size", "error"), [(-1, ValueError), (1.0, TypeError), (True, TypeError)]
)
def test_a_wrong_size_is_an_error_that_names_it(sampler, size, error):
    with pytest.raises(error, match=r"^size "):
        sampler(size, 1, as_random_source(0))


class CountingSource:
    """Seeded bytes, counted."""

    seeded = True

    def __init__(self, seed):
        self.source, self.n_bytes = as_random_source(seed), 0

    def bytes(self, n):
        self.n_bytes += n
        return self.source.bytes(n)


@pytest.mark.statistical
@each_sampler
def test_the_bytes_drawn_do_not_tell_the_noise(sampler):
    """Rank correlation of bytes and magnitude, 2000 runs of 20: level 1e-7."""
    counts, sizes = [], []
    for seed in range(2000):
        source = CountingSource(seed)
        sizes.append(abs(sampler(20, 1.3, source)).sum())
        counts.append(source.n_bytes)
    assert len(set(counts)) > 1
    assert stats.spearmanr(counts, sizes).pvalue > LEVEL


@each_sampler
@pytest.mark.parametrize("scale", [1e-3, 0.2, 1, 1e3, 2**60])
def test_the_bytes_drawn_are_bounded(sampler, scale):
    """At most 1/0.11 candidates a draw are expected, plus surplus of the rounds."""
    source = CountingSource(0)
    sampler(10_000, scale, source)
    assert source.n_bytes / 10_000 < 4 * 4 / 0.11
