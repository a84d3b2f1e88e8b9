"""The timing audit on synthetic clocks, which are exact, and on the real one."""

import time

import numpy as np
import pytest

from skdp.audit import timing

A, B = np.zeros(3), np.ones(3)


class Clock:
    """A clock that only the callable under test moves, and each reading a little."""

    def __init__(self, tick=500.0):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


class Simulated:
    """A callable whose duration, in ticks, is drawn from ``law(rng, is_neighbour)``."""

    def __init__(self, law, seed=0, tick=500.0):
        self.clock, self.law = Clock(tick), law
        self.rng = np.random.default_rng(seed)

    def __call__(self, data):
        self.clock.now += self.law(self.rng, data[0] > 0.5)

    def audit(self, **settings):
        settings = {"n_runs": 2000, "planted_delay": 20_000.0, **settings}
        return timing(self, A, B, clock=self.clock, random_state=1, **settings)


def noise(rng, is_neighbour):
    """Return about 8,000 ticks with a heavy tail, like a quiet machine's."""
    return 8000.0 + 150.0 * rng.exponential() + 5000.0 * (rng.random() < 0.02)


def test_a_small_shift_that_is_always_there_is_flagged():
    """200 ticks against a spread of about 150: found by the mean and by the event."""
    found = Simulated(lambda rng, other: noise(rng, other) + 200.0 * other).audit()
    assert found.leaks
    assert found.evidence.t > 4.5
    assert found.epsilon > 0.5
    assert found.trustworthy
    assert found.evidence.auc > 0.6
    assert "leaks" in str(found)


def test_a_rare_long_delay_is_flagged_by_the_event_and_missed_by_the_mean():
    """20,000 ticks with probability 0.05: only the tail tells."""

    def law(rng, other):
        # the machine is interrupted now and then, which drowns the mean
        busy = 1_000_000.0 * rng.exponential() * (rng.random() < 0.01)
        return noise(rng, other) + busy + 20_000.0 * (other and rng.random() < 0.05)

    found = Simulated(law).audit()
    assert found.epsilon > 0.0
    assert found.evidence.t < 4.5
    assert "slower than" in found.evidence.event
    plain = Simulated(noise).audit()
    assert plain.planted.epsilon > 0.0
    assert not plain.leaks


def test_a_faster_neighbour_is_flagged_too():
    found = Simulated(lambda rng, other: noise(rng, other) - 300.0 * other).audit()
    assert found.epsilon > 0.5
    assert found.evidence.auc < 0.4


@pytest.mark.parametrize(
    ("delay", "share", "fires"),
    [
        (0.0, 0.0, False),
        (0.0, 1.0, False),
        (20_000.0, 0.0, False),
        (20_000.0, 0.05, True),
        (200.0, 1.0, True),
    ],
)
def test_the_planted_control_fires_by_its_delay_alone(delay, share, fires):
    """What the control needs besides, coins and calls, is not on the clock."""
    found = Simulated(noise, tick=20.0).audit(planted_delay=delay, planted_share=share)
    assert found.planted.fires == fires
    assert found.trustworthy == fires
    assert not found.null.fires


def test_classes_read_the_clock_equally_often():
    """A control without a delay is D again: equal steps give equal durations."""
    still = Simulated(lambda rng, other: 1000.0).audit(
        n_runs=40, planted_delay=0.0, planted_share=1.0
    )
    assert still.planted == still.null
    assert still.null.auc == 0.5


def test_order_and_coins_are_not_the_same_numbers():
    """Else the slow runs of the control would all come first."""
    starts = []

    def run(data):
        starts.append(clock.now)

    clock = Clock(1.0)
    timing(
        run, A, B, n_runs=400, warm_up=0, clock=clock, random_state=3,
        planted_delay=1e4, planted_share=0.2,
    )  # fmt: skip
    late = np.flatnonzero(np.diff(starts) > 5e3) / len(starts)
    assert 40 <= late.size <= 120
    assert 0.4 < late.mean() < 0.6


@pytest.mark.slow
def test_on_the_real_clock_a_control_without_delay_is_quiet():
    """Up to three tries: the machine is shared."""
    x = np.linspace(0.0, 1.0, 1000)

    def tried():
        return timing(
            lambda d: d.sum(), x, x.copy(), n_runs=400,
            planted_delay=0.0, planted_share=0.0,
        )  # fmt: skip

    assert any(not tried().planted.fires for _ in range(3))


def test_naive_loops_are_flagged():
    """Geometric numbers of proposals at two acceptance rates."""

    def law(rng, other):
        return 1000.0 * rng.geometric(0.3 if other else 0.6) + 50.0 * rng.normal()

    found = Simulated(law).audit()
    assert found.leaks


@pytest.mark.statistical
def test_nulls_are_quiet():
    """200 audits of equal laws; each bound holds with 0.95.

    More than 25 of 200 false bounds on epsilon have probability below 1e-6 if each has
    0.05; the seed is fixed. They are rarer by far, being two-sided bounds of a ratio.
    """
    fired = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        times = [noise(rng, False) for _ in range(300)]
        found = _compared(times[:150], times[150:])
        fired += found.epsilon > 0.0
    assert fired <= 25


def _compared(a, b):
    """Audit two given lists of durations by playing them back."""
    from skdp.audit._timing import _checked, _compare

    return _compare(np.array(a), np.array(b), _checked(len(a), 0, 0.0, 0.95))


def test_the_event_is_not_certified_on_the_runs_that_chose_it():
    """Equal durations in the second half leave nothing, whatever the first says."""
    rng = np.random.default_rng(0)
    same = rng.normal(size=200)
    first_a, first_b = np.zeros(200), np.full(200, 100.0)
    found = _compared([*first_a, *same], [*first_b, *same])
    assert found.epsilon == 0.0
    assert found.t == 0.0


def test_drift_of_the_machine_falls_on_all_classes():
    """A clock that slows down steadily must not look like a leak."""

    class Drifting(Simulated):
        def __call__(self, data):
            self.clock.now += 1000.0 + 0.01 * self.clock.now / 1000.0

    found = Drifting(None).audit()
    assert found.epsilon == 0.0
    assert not found.leaks


def test_runs_are_interleaved_in_random_order():
    order = []

    def run(data):
        order.append(data[0])

    timing(run, A, B, n_runs=200, warm_up=10, random_state=0)
    body = np.array(order[10:])
    assert body.size == 800
    assert body.sum() == 200
    # the first and the last quarter hold about as many of each class
    assert 25 <= body[:200].sum() <= 75
    assert 25 <= body[-200:].sum() <= 75


def test_warm_up_is_not_timed():
    calls = []
    clock = Clock()
    timing(
        calls.append,
        A,
        B,
        n_runs=40,
        warm_up=200,
        clock=clock,
        random_state=0,
        planted_delay=0.0,
    )
    assert len(calls) == 200 + 160


def test_both_data_sets_are_read_from_one_place():
    places = set()

    def run(data):
        places.add(data["x"].ctypes.data)
        assert data["tag"] in ("a", "b")
        assert type(data["pair"]) is tuple

    left = {"x": A, "tag": "a", "pair": (A, 1)}
    right = {"x": B, "tag": "b", "pair": (B, 2)}
    timing(run, left, right, n_runs=40, warm_up=4, random_state=0)
    assert len(places) == 1


def test_data_of_other_shapes_are_passed_as_they_are():
    shapes = set()
    timing(lambda x: shapes.add(x.shape), np.ones(2), np.ones(3), n_runs=40, warm_up=4)
    timing(lambda x: shapes.add(np.shape(x)), [1.0], np.ones(4), n_runs=40, warm_up=4)
    assert shapes == {(2,), (3,), (1,), (4,)}


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_runs": 10}, "n_runs"),
        ({"confidence": 1.0}, "confidence is out of range"),
        ({"delta": 1.5}, "delta is out of range"),
        ({"warm_up": -1}, "warm_up"),
        ({"planted_delay": -1.0}, "planted_delay is out of range"),
        ({"planted_share": 1.5}, "planted_share is out of range"),
    ],
)
def test_wrong_settings_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        timing(len, A, B, **settings)


def wait(seconds):
    end = time.perf_counter_ns() + seconds * 1e9
    while time.perf_counter_ns() < end:
        pass


WORK = np.linspace(0.1, 0.9, 1024)


def plain(data):
    return np.exp(-WORK) @ WORK


@pytest.mark.slow
def test_on_the_real_clock_the_null_is_quiet_and_plants_are_found():
    """Up to three tries each: the machine is shared."""

    def always(data):
        plain(data)
        # reading the clock takes about as long as the leak, so wait for more
        wait(2e-6 + 2e-7 * data[0])

    rng = np.random.default_rng(0)

    def now_and_then(data):
        plain(data)
        late = rng.random() < 0.05
        wait(2e-5 * data[0] * late)

    assert any(timing(always, A, B).leaks for _ in range(3))
    assert any(timing(now_and_then, A, B).epsilon > 0.0 for _ in range(3))
    assert any(not timing(plain, A, B).leaks for _ in range(3))
