"""Chain lengths of a rigorous claim: published digits and ranges."""

import math

import pytest

from skdp.samplers import random_walk_gap, random_walk_steps


@pytest.mark.parametrize(
    ("d", "kappa", "gap"),
    [
        (5, 10.0, 1.2659e-6),
        (21, 26.0, 1.0884e-7),
        (21, 251.0, 1.1197e-8),
        (50, 1000.0, 1.16995e-9),
    ],
)
def test_published_gaps_to_the_digits_given(d, kappa, gap):
    assert random_walk_gap(d, kappa) == pytest.approx(gap, rel=5e-5)


@pytest.mark.parametrize(
    ("kappa", "log10_xi", "steps"),
    [
        (251.0, -19226.0, 4.0e12),
        (251.0, -19205.0, 4.0e12),
        (251.0, -169.0, 3.7e10),
        (251.0, -148.0, 3.3e10),
        (251.0, -135.0, 3.0e10),
        (26.0, -2124.0, 4.5e10),
        (26.0, -2103.0, 4.5e10),
        (26.0, -161.0, 3.6e9),
        (26.0, -140.0, 3.1e9),
        (26.0, -127.0, 2.8e9),
        (3.5, -412.0, 1.2e9),
        (3.5, -391.0, 1.1e9),
        (3.5, -137.0, 3.9e8),
    ],
)
def test_published_steps_to_two_digits(kappa, log10_xi, steps):
    assert f"{random_walk_steps(21, kappa, log10_xi):.1e}" == f"{steps:.1e}"


def test_steps_grow_with_dimension_and_condition_and_accuracy():
    assert random_walk_steps(5, 10.0, -50.0) < random_walk_steps(6, 10.0, -50.0)
    assert random_walk_steps(5, 10.0, -50.0) < random_walk_steps(5, 11.0, -50.0)
    assert random_walk_steps(5, 10.0, -50.0) < random_walk_steps(5, 10.0, -51.0)
    assert random_walk_steps(1, 1.0, 0.0) == 0


@pytest.mark.parametrize("d", [1, 10, 1000])
def test_gap_scales_as_one_over_condition_number_however_ill_conditioned(d):
    """No digits are lost to cancellation where two points must be very near."""
    scaled = [random_walk_gap(d, kappa) * kappa for kappa in (1e6, 1e12, 1e16)]
    assert scaled[1] == pytest.approx(scaled[2], rel=1e-5)
    assert scaled[0] == pytest.approx(scaled[2], rel=1e-2)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((0, 2.0, -1.0), "n_features"),
        ((3, 0.5, -1.0), "condition_number"),
        ((3, 2.0, 1.0), "log10_total_variation"),
        ((3, 2.0, -math.inf), "log10_total_variation"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(arguments, match):
    with pytest.raises(ValueError, match=match):
        random_walk_steps(*arguments)
