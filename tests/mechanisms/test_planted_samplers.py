"""Privacy bugs of samplers on purpose: the audits must see each of them.

A bug is either refused when the mechanism is built, or its exact loss over all
histograms exceeds epsilon.
"""

import math
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from exhaustive import (
    epsilon_add_remove,
    epsilon_replace_one,
    histograms,
    law_by_mechanism,
    law_of,
)

import skdp.mechanisms._data_specific_roo as ds_roo
import skdp.mechanisms._noisy_histogram as histogram
import skdp.mechanisms._profiles as profiles
from skdp.accounting import PureDP
from skdp.mechanisms import (
    CountWeights,
    DataSpecificROO,
    NoisyHistogram,
    RevealOrObscure,
)

N, K, EPSILON = 9, 3, 1.0
TARGET = PureDP(EPSILON, adjacency="replace-one")
PRIVATE = PureDP(EPSILON, adjacency="add-remove")
SHAPE = {"n_categories": K, "n_rows": N}


@pytest.fixture(autouse=True)
def _forget():
    caches = (profiles.envelope, profiles.minimax, ds_roo._sequence, ds_roo._worst)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def exact(law):
    return epsilon_replace_one(law, N, K)


def q_of(symbols):
    return symbols / (symbols + N * math.expm1(EPSILON))


def test_the_audits_pass_without_a_bug():
    for mechanism in (
        RevealOrObscure.calibrate(TARGET, **SHAPE),
        CountWeights.calibrate(TARGET, profile="envelope", **SHAPE),
        DataSpecificROO.calibrate(TARGET, **SHAPE),
    ):
        assert exact(law_by_mechanism(mechanism)) <= EPSILON + 1e-12


def test_counting_only_the_symbols_that_were_seen():
    def law(table):
        q = np.array([q_of(k) for k in (table > 0).sum(axis=1)])[:, None]
        return q / K + (1 - q) * table / N

    assert exact(law) == pytest.approx(1.9088, abs=1e-4)


def test_the_least_count_of_the_symbols_that_were_seen():
    q = DataSpecificROO.calibrate(TARGET, **SHAPE).obscure_probabilities
    q = np.append(q, np.zeros(N))

    def law(table):
        least = np.where(table > 0, table, N).min(axis=1)
        p = q[least][:, None]
        return p / K + (1 - p) * table / N

    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.isnan(exact(law)) or exact(law) > 5


def test_an_alphabet_read_off_the_data():
    with np.errstate(divide="ignore", invalid="ignore"):
        found = exact(lambda table: law_of((table > 0) * (table + 0.58)))
    assert not found < math.inf


def test_a_fixed_share_of_uniform_draws_when_n_is_private():
    q = 3 / (3 + 20 * math.expm1(EPSILON))

    def law(table):
        n = np.maximum(table.sum(axis=1, keepdims=True), 1)
        return q / K + (1 - q) * table / n

    with np.errstate(divide="ignore"):
        worst = 0.0
        for n in range(1, 12):
            table = histograms(n, K)
            before = np.log(law(table))
            for added in np.eye(K, dtype=int):
                after = np.log(law(table + added))
                worst = max(worst, np.abs(after - before).max())
    assert worst == pytest.approx(2.9005, abs=1e-3)


def test_an_envelope_that_forgets_the_normaliser_is_refused():
    with (
        mock.patch.object(profiles, "worst_ratio", return_value=Fraction(1)),
        pytest.raises(ValueError, match="more than epsilon"),
    ):
        CountWeights.calibrate(TARGET, profile="envelope", n_categories=K, n_rows=18)


def test_tables_rounded_down_are_refused():
    def floored(ratio, slope, group_size, n_rows):
        table = majorant(ratio, slope, group_size, n_rows)
        return replace(table, head=tuple(max(1, v - 1) for v in table.head))

    majorant = profiles._majorant
    with (
        mock.patch.object(profiles, "_majorant", floored),
        mock.patch.object(profiles, "worst_ratio", return_value=Fraction(1)),
        pytest.raises(ValueError, match="more than epsilon"),
    ):
        CountWeights.calibrate(PRIVATE, profile="envelope", n_categories=K)


def by_hand(target, n, k, **patched):
    """Return data-specific obscuring with a bug, which calibration refuses."""
    good = DataSpecificROO.calibrate(target, n_categories=k, n_rows=n)
    ds_roo._sequence.cache_clear()
    with mock.patch.multiple(ds_roo, **patched):
        obscured, bits = ds_roo._sequence(target.epsilon_bound, k, n)
        with pytest.raises(ValueError, match="more than epsilon"):
            DataSpecificROO.calibrate(target, n_categories=k, n_rows=n)
    return replace(good, obscured=obscured, bits=bits)


def test_sums_in_single_precision_would_lose_a_symbol():
    """A million records, nine symbols: the last one can come out on one side only."""
    n, k = 10**6, 9
    target = PureDP(3.0, adjacency="replace-one")
    mechanism = RevealOrObscure.calibrate(target, n_categories=k, n_rows=n)
    counts = np.array([n - 7, 1, 1, 1, 1, 1, 1, 1, 0])
    replaced = counts - np.eye(k, dtype=int)[0] + np.eye(k, dtype=int)[-1]
    single = [
        np.diff(np.cumsum(law_of([mechanism.weights(c)])[0], dtype=np.float32))[-1]
        for c in (counts, replaced)
    ]
    assert single[0] == 0.0 < single[1]
    for c in (counts, replaced):
        weights = mechanism.weights(c)
        assert weights.dtype.kind in "iu"
        assert int(weights.min()) >= 1
        assert sum(int(w) for w in weights) < 1 << 63


def test_obscuring_a_thousandth_less_is_refused_and_seen():
    bound = ds_roo._step_bound

    def less(*args):
        top, bottom = bound(*args)
        return 999 * top, 1000 * bottom

    mechanism = by_hand(TARGET, N, K, _step_bound=less)
    assert mechanism.guarantee.epsilon(0.0) > EPSILON + 5e-4
    assert exact(law_by_mechanism(mechanism)) > EPSILON + 5e-4


def test_leaving_out_the_switch_of_the_least_count_is_refused_and_seen():
    target = PureDP(0.3, adjacency="replace-one")
    mechanism = by_hand(target, 12, 3, _switch_bounds=lambda *args: [])
    law = law_by_mechanism(mechanism)
    assert epsilon_replace_one(law, 12, 3) > 0.3 + 1e-3
    assert mechanism.guarantee.epsilon(0.0) >= epsilon_replace_one(law, 12, 3) - 1e-12


def test_a_group_accounted_as_one_record_is_seen():
    single = RevealOrObscure.calibrate(PRIVATE, n_categories=K)
    assert epsilon_add_remove(law_by_mechanism(single), 10, K, 3) > EPSILON + 0.5


def test_a_histogram_with_half_the_sensitivity_states_twice_the_loss():
    good = NoisyHistogram.calibrate(TARGET, **SHAPE)
    with mock.patch.object(
        histogram, "Adjacency", mock.Mock(ADD_REMOVE=TARGET.adjacency)
    ):
        wrong = NoisyHistogram.calibrate(TARGET, **SHAPE)
    assert wrong.scale == good.scale / 2
    assert wrong.guarantee.epsilon(0.0) == 2 * EPSILON
