"""What a fit in a private metric cost one person: exact losses of all its releases.

The exact loss is that of the plain law of tests/mechanisms, release by release, with
the person and without, whether or not the person was in the table that was fitted.
"""

import math

import numpy as np
import pytest
from preconditioned_audit import SETTINGS, calibrated, data_of, plain_stages, tables

from skdp.pdp import _preconditioned, preconditioned_loss
from skdp.random import as_random_source

each_setting = pytest.mark.parametrize(("task", "epsilon"), SETTINGS)


def exact_loss(mechanism, task, epsilon, X, y, release):
    """Log ratio of the density of a transcript with the last row to that without."""
    more, less = (
        plain_stages(mechanism, task, epsilon, X[:n], y[:n], release)
        for n in (len(y), len(y) - 1)
    )
    return math.fsum(
        part.noise_law.log_density(p.noise) + p.log_det
        - part.noise_law.log_density(q.noise) - q.log_det
        for part, p, q in zip(mechanism.parts, more, less, strict=True)
    )  # fmt: skip


def shares(task, epsilon, rho, seeds):
    """Yield the size of the exact loss of the last row over its bound."""
    mechanism = calibrated(task, epsilon)
    for _, X, y in tables(task):
        person = data_of(task, X[-1:], y[-1:])
        for n in (len(y), len(y) - 1):
            for seed in seeds:
                data, source = data_of(task, X[:n], y[:n]), as_random_source(seed)
                release = mechanism.release(data, source).output
                [bound] = preconditioned_loss(mechanism, release, person, rho=rho)
                loss = abs(exact_loss(mechanism, task, epsilon, X, y, release))
                # a row that is in no release has a bound of 0, and a loss of rounding
                yield loss / bound if bound else math.inf if loss > 1e-8 else 0.0


@each_setting
def test_the_bound_is_above_the_exact_loss_of_members_and_strangers(task, epsilon):
    assert max(shares(task, epsilon, 1e-6, [0])) <= 1.0


@pytest.mark.slow
@pytest.mark.statistical
@each_setting
def test_the_bound_fails_no_more_often_than_it_says(task, epsilon):
    """False alarm below 1e-6: 360 fits, a share of .05 is .108 at five deviations."""
    found = np.array(list(shares(task, epsilon, 0.05, range(20))))
    assert np.mean(found > 1.0) < 0.108
    assert found.max() > 0.4


@pytest.mark.parametrize("forgotten", ["_statistics", "_objectives"])
def test_a_planted_bound_without_some_releases_is_exceeded(forgotten, monkeypatch):
    monkeypatch.setattr(_preconditioned._Bound, forgotten, lambda *_: iter(()))
    monkeypatch.setattr(_preconditioned, "_NOISE_SHARE", 0.5)
    found = (shares(*setting, 0.3, range(2)) for setting in SETTINGS)
    assert any(share > 1.2 for of_setting in found for share in of_setting)


def test_the_bound_grows_as_it_may_fail_less_often():
    mechanism, *_, (_, X, y) = calibrated("logistic", 1.0), *tables("logistic")
    data = data_of("logistic", X, y)
    release = mechanism.release(data, as_random_source(0)).output
    losses = [
        preconditioned_loss(mechanism, release, data, rho=rho)
        for rho in (0.3, 1e-3, 1e-9, 1e-300)
    ]
    assert (np.diff(losses, axis=0) > 0.0).all()
    assert np.isfinite(losses).all()
