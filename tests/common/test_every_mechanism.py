"""Audits of every mechanism that exists, found by walking the package.

Nothing is named here: a new module in ``skdp/mechanisms`` is audited the moment it is
saved. The exact audits have no false alarms; each statistical test states its own.
"""

import contextlib
import dataclasses
import importlib
import inspect
import itertools
import pathlib
import pickle
import pkgutil
import warnings

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import chi2, kstest

import skdp.mechanisms
from skdp.accounting import (
    Adjacency,
    Guarantee,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
)
from skdp.audit import exact_curve, simulated_delta
from skdp.mechanisms import Mechanism
from skdp.random import as_random_source

ROOT = pathlib.Path(__file__).parents[2]
#: Accuracy of the exact curve, relative to what is claimed.
SLACK = 1 + 1e-7
DELTA = 1e-6
ORDERS = (1.5, 2.0, 8.0, 64.0)


def _concrete(cls):
    for child in cls.__subclasses__():
        yield from _concrete(child)
        # a dataclass with slots leaves its draft behind as a second subclass
        home = importlib.import_module(child.__module__)
        if not inspect.isabstract(child) and vars(home).get(child.__name__) is child:
            yield child


def _every_mechanism():
    for module in pkgutil.walk_packages(skdp.mechanisms.__path__, "skdp.mechanisms."):
        importlib.import_module(module.name)
    found = {child for child in _concrete(Mechanism) if child.__module__[:5] == "skdp."}
    return sorted(found, key=lambda cls: cls.__name__)


MECHANISMS = _every_mechanism()
INSTANCES = [
    pytest.param(instance, id=f"{cls.__name__}{k}")
    for cls in MECHANISMS
    for k, instance in enumerate(cls.audit_instances())
]
each_class = pytest.mark.parametrize("cls", MECHANISMS, ids=lambda c: c.__name__)
each_instance = pytest.mark.parametrize("mechanism", INSTANCES)
#: For what takes seconds an instance: by default the first few of each class.
N_BY_DEFAULT = 4
few_instances = pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(
            instance,
            id=f"{cls.__name__}{k}",
            marks=[pytest.mark.slow] * (k >= N_BY_DEFAULT),
        )
        for cls in MECHANISMS
        for k, instance in enumerate(cls.audit_instances())
    ],
)


def _exact_curves(mechanism, *, at_most=None):
    """Return the exact curve of each hard pair; none where it cannot be computed."""
    pairs = itertools.islice(mechanism.hard_pairs(), at_most)
    with contextlib.suppress(ValueError):
        return {pair.name: exact_curve(mechanism, pair) for pair in pairs}
    return {}


def _claim(guarantee, curve, shrink=1.0):
    """Return (what, truth, claim) for a guarantee whose noise is ``shrink`` x larger.

    ``shrink`` multiplies the size of the guarantee: epsilon, or mu by way of epsilon.
    """
    if isinstance(guarantee, Simultaneous):
        # all of them hold
        return [c for part in guarantee.parts for c in _claim(part, curve, shrink)]
    if isinstance(guarantee, PureDP):
        return [("loss", curve.max_loss, shrink * guarantee.epsilon(0.0))]
    if isinstance(guarantee, ZeroConcentratedDP):
        rho = shrink**2 * guarantee.rho
        return [(f"order {a}", curve.renyi(a), a * rho) for a in ORDERS]
    top = guarantee.epsilon(DELTA)
    return [
        (f"epsilon {e:.4g}", curve.delta(shrink * e), guarantee.delta(e))
        for e in ([top] if shrink < 1 else [0.0, top / 4, top / 2, top, 1.5 * top])
    ]


def _violations(guarantee, curves, shrink=1.0):
    return [
        f"{name}: {what}: true {truth:.9g}, claimed {claim:.9g}"
        for name, curve in curves.items()
        for what, truth, claim in _claim(guarantee, curve, shrink)
        if truth > SLACK * claim + 1e-13
    ]


@few_instances
def test_exact_laws_on_hard_pairs_are_within_the_guarantee_and_use_it(mechanism):
    curves = _exact_curves(mechanism)
    for name, curve in curves.items():
        assert curve.mass == pytest.approx((1.0, 1.0), abs=1e-9), name
    assert _violations(mechanism.ideal_guarantee, curves) == []
    if curves and mechanism.adjacency is Adjacency.ADD_REMOVE:
        # the audit itself is audited: a claim a tenth too small must not pass
        assert _violations(mechanism.ideal_guarantee, curves, shrink=0.9)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "n_runs", [10, pytest.param(500, marks=pytest.mark.slow)], ids="{} runs".format
)
@few_instances
def test_simulated_laws_on_hard_pairs_are_within_the_guarantee(mechanism, n_runs):
    """False alarms below 1e-6: each bound at 1 - 1e-9, fewer than 200 of them."""
    if _exact_curves(mechanism, at_most=1):
        return  # audited exactly above
    guarantee = mechanism.ideal_guarantee
    epsilon = guarantee.epsilon(DELTA) / 4
    for seed, pair in enumerate(mechanism.hard_pairs()):
        found = simulated_delta(
            mechanism,
            pair,
            epsilon,
            n_runs=n_runs,
            confidence=1 - 1e-9,
            random_state=seed,
        )
        assert found.low <= guarantee.delta(epsilon), pair.name
        # infinite where no pure epsilon holds
        assert found.max_loss <= SLACK * guarantee.epsilon(0.0), pair.name


class CountingSource:
    """A seeded source that records how many bytes each call asked for."""

    seeded = True

    def __init__(self, seed):
        self._source = as_random_source(seed)
        self.calls = []

    def bytes(self, n):
        self.calls.append(n)
        return self._source.bytes(n)


@each_instance
def test_frozen_noise_on_neighbours_gives_releases_of_one_form(mechanism):
    for pair in mechanism.hard_pairs():
        seen = []
        for data in (pair.left, pair.right):
            source = CountingSource(7)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                release = mechanism.release(data, source)
            output = mechanism.vector(release.output)
            calls = source.calls if mechanism.same_draws else None
            seen.append((output.shape, output.dtype, len(caught), calls))
        assert seen[0] == seen[1], pair.name


@each_instance
def test_every_released_number_is_noisy_and_on_the_declared_lattice(mechanism):
    data = next(iter(mechanism.hard_pairs())).left
    step = mechanism.lattice or mechanism.smoothing.lattice
    # a law on a few outcomes repeats itself
    n_runs = 4 if mechanism.outcomes(data) is None else 60
    outputs = [
        mechanism.vector(mechanism.release(data, as_random_source(s)).output)
        for s in range(n_runs)
    ]
    for output in outputs:
        assert output.dtype == np.float64
        steps = output / step  # exact: the step is a power of two
        np.testing.assert_array_equal(steps, np.rint(steps))
        assert np.all(np.abs(steps) < 2.0**62)
    table = np.stack(outputs)
    assert np.all(np.ptp(table, axis=0) > 0)


@each_instance
def test_a_release_leaves_the_mechanism_as_it_was_and_states_its_guarantee(mechanism):
    before = pickle.dumps(mechanism)
    for pair in mechanism.hard_pairs():
        release = mechanism.release(pair.left, as_random_source(1))
        assert release.spent == mechanism.guarantee
    assert pickle.dumps(mechanism) == before
    assert pickle.loads(before) == mechanism


@each_instance
def test_the_guarantee_survives_json_and_covers_the_ideal_one(mechanism):
    guarantee = mechanism.guarantee
    assert Guarantee.from_json(guarantee.to_json()) == guarantee
    epsilons = np.array([0.05, 0.5, 2.0, 9.0])
    assert np.all(
        mechanism.ideal_guarantee.delta(epsilons) <= guarantee.delta(epsilons)
    )
    assert guarantee.adjacency is mechanism.adjacency


@pytest.mark.statistical
@few_instances
def test_releases_follow_the_law_that_the_density_states(mechanism):
    """False alarms below 1e-6 a test: a KS and a two-sided chi-square test at 4e-7.

    A uniform variable under the stated law, turned normal, has squares that add up to
    a chi-square variable: half the noise is a quarter of the sum.
    """
    n = 200
    curves = _exact_curves(mechanism, at_most=1)
    if not curves:
        return
    source = as_random_source(11)
    pair = next(iter(mechanism.hard_pairs()))
    curve = curves[pair.name]
    outputs = [mechanism.release(pair.left, source).output.flat[0] for _ in range(n)]
    mass = curve.weights * np.exp(curve.log_p)
    below = np.cumsum(mass) - mass / 2
    u = np.interp(outputs, curve.outputs, below)
    if mechanism.lattice:
        # spread over its own mass, a lattice point becomes an interval
        spread = np.random.default_rng(0).random(n) - 0.5
        u += np.interp(outputs, curve.outputs, mass) * spread
    assert kstest(u, "uniform").pvalue > 2e-7
    total = float(np.sum(ndtri(u) ** 2))
    assert 2 * min(chi2.cdf(total, n), chi2.sf(total, n)) > 2e-7


@each_class
def test_a_mechanism_is_frozen_public_and_proved(cls):
    instance = next(cls.audit_instances())
    name = dataclasses.fields(instance)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(instance, name, None)
    assert getattr(skdp.mechanisms, cls.__name__) is cls
    assert cls.__name__ in skdp.mechanisms.__all__
    stem = cls.__module__.rsplit("._", 1)[1]
    assert (ROOT / "docs" / "proofs" / f"{stem}.md").is_file()
    assert f"docs/proofs/{stem}.md" in inspect.getdoc(cls)
    assert (ROOT / "tests" / "mechanisms" / f"test_{stem}.py").is_file()


def test_the_walk_finds_the_mechanisms_there_are():
    assert len(MECHANISMS) >= 4
