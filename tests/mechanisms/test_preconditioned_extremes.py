"""The private metric at the ends of its ranges, and on tables made to break it."""

import dataclasses
import inspect
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from plain_preconditioned import cut
from preconditioned_audit import (
    DELTA,
    LOSSES,
    calibrated,
    data_of,
    stage_gaps,
    tables,
)

from skdp.accounting import ApproximateDP
from skdp.linear_model import ObjPertLogisticRegression, ObjPertRegressor
from skdp.losses import LogCoshLoss
from skdp.mechanisms import LatticeSmoothing, PreconditionedObjectivePerturbation
from skdp.mechanisms._base import Release
from skdp.mechanisms._pco_geometry import geometry_of, weighted_table
from skdp.pdp import preconditioned_loss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.solvers import Table

each_task = pytest.mark.parametrize("task", LOSSES)


def made(task="logistic", epsilon=1.0, d=3, radius=1.0, **options):
    options = {"loss": LOSSES[task]} | options
    return PreconditionedObjectivePerturbation.calibrate(
        ApproximateDP(epsilon, DELTA), radius=radius, n_coefficients=d, **options
    )


# --- numbers at the ends of their ranges ----------------------------------------------


@each_task
@pytest.mark.parametrize("epsilon", [1e-5, 1.0, 1000.0])
def test_rows_and_radii_of_any_size_give_finite_numbers_and_no_warning(task, epsilon):
    labels = None if task == "logistic" else Targets(-1, 1)
    for d in (1, 2):
        unit = np.linspace(1.0, 0.5, d)
        for radius in (1e-100, 1.0, 1e100):
            mechanism = made(task, epsilon, d, radius)
            ball = L2Ball(radius)
            for sizes in ([], [0.0], [1e-300, 1e300], [radius, -radius, radius / 3]):
                X = np.reshape([size * unit for size in sizes], (-1, d))
                y = np.where(np.arange(len(sizes)) % 2, -1.0, 1.0)
                rows = PrivateRows(as_row_blocks(X, y, labels=labels), ball)
                with np.errstate(over="raise", invalid="raise", divide="raise"):
                    release = mechanism.release(rows, as_random_source(0)).output
                    losses = preconditioned_loss(mechanism, release, rows)
                assert np.isfinite(release.transcript).all()
                assert np.isfinite(release.coefficients).all()
                assert np.isfinite(losses).all()


def largest_gap(task, epsilon, **options):
    """Largest distance from the plain law over the room for it; 0 where refused."""
    try:
        mechanism = made(task, epsilon, **options)
    except ValueError:
        return 0.0
    return max(
        gap / room
        for _, X, y in tables(task, mechanism.n_coefficients)
        for _, gap, room in stage_gaps(mechanism, task, epsilon, X, y)
    )


@pytest.mark.parametrize(
    "epsilon",
    # below, the ridge times the centre would round by more than the tolerance
    [1e-9, 1e-5, 1e-4, 0.01, 1000.0],
)
@each_task
def test_minimisers_are_as_accurate_as_said_at_any_epsilon(task, epsilon):
    assert largest_gap(task, epsilon) <= 1.0


@pytest.mark.parametrize(
    "scale",
    # below, a minimiser of size one, over the scale, is no float near its lattice
    [1e-100, 1e-13, 1e-5, 1e-4, 1.0, 1e100],
)
def test_minimisers_are_as_accurate_as_said_or_a_scale_is_refused(scale):
    loss = LogCoshLoss(scale=scale)
    assert largest_gap("log-cosh", 1.0, loss=loss, scale="loss") <= 1.0


@pytest.mark.parametrize("shift", [0.0, -3.0, -1e6])
@each_task
def test_a_released_moment_may_be_far_from_positive(task, shift):
    mechanism, *_, (_, X, y) = calibrated(task, 1.0), *tables(task)
    release = mechanism.release(data_of(task, X, y), as_random_source(0)).output
    numbers = release.transcript.copy()
    numbers[: mechanism.metric.size] += shift
    read = mechanism.read(numbers)
    assert np.isfinite(read.coefficients).all()
    assert 1.0 <= read.geometry.curvature_ratio <= 2.0
    assert np.isfinite(mechanism.log_density(numbers, data_of(task, X, y)))


@pytest.mark.parametrize("spread", [1.0, 1e4, 1e9])
@pytest.mark.parametrize("d", [1, 3, 60])
def test_weighted_rows_keep_both_bounds_in_more_digits(d, spread):
    rng = np.random.Generator(np.random.PCG64(d))
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    moment = (axes * np.geomspace(spread, 1e-3, d)) @ axes.T
    geometry = geometry_of((moment + moment.T) / 2, 1.0, 4.0)
    X = np.vstack([axes, rng.standard_normal((300, d)), np.zeros((1, d))])
    X *= 3.0 * np.geomspace(1e-3, 1.0, len(X))[:, None]
    table = weighted_table(
        Table(as_row_blocks(X, np.ones(len(X))), L2Ball(3.0)), geometry, 3.0
    )
    for index, (x, _, f) in enumerate(table):
        w = np.ones(len(f))
        table.apply_weights(index, w)
        clipped = x.astype(np.longdouble) * (f * table.unit / 3.0)[:, None]
        u = clipped @ geometry.transform.astype(np.longdouble)
        norms = np.sqrt(np.sum(u * u, axis=1))
        assert (w * norms).max() <= 1.0 + 1e-9
        assert (w * norms**2).max() <= geometry.curvature_ratio * (1.0 + 1e-9)
        assert norms.max() <= geometry.longest * (1.0 + 1e-9)


# --- sums -----------------------------------------------------------------------------


@each_task
@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_row_changes_second_moments_by_its_own_and_nothing_else(task, hold):
    """To the last bit, among rows whose sum in floats would round."""
    rng = np.random.Generator(np.random.PCG64(5))
    mechanism = calibrated(task, 1.0)
    X = rng.standard_normal((600, 3)) * 10.0 ** rng.uniform(-9, 0, (600, 1))
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None] * (1 + 1e-12)
    y = rng.choice([-1.0, 1.0], len(X))
    more, less = (
        mechanism.release(data_of(task, hold(X[k:]), y[k:]), as_random_source(0)).output
        for k in (0, 1)
    )
    [row] = cut(X[:1], mechanism.bits)
    np.testing.assert_array_equal(more.metric - less.metric, np.outer(row, row))


def pull_error(task, epsilon, d, n):
    """Error of the gradient at zero of n equal rows, and the room for it."""
    v = np.random.Generator(np.random.PCG64(d)).standard_normal(d)
    v /= np.linalg.norm(v) * (1 + 1e-9)
    mechanism = made(task, epsilon, d)
    X, y = np.broadcast_to(v, (n, d)), np.broadcast_to(1.0, n)
    with mock.patch.object(
        LatticeSmoothing, "release_each", lambda _, points, __: points
    ):
        data = data_of(task, X, y)
        release = mechanism.release(data, as_random_source(0)).output
    noise = mechanism.noise(release.transcript, data)
    noise = np.split(noise, np.cumsum([p.size for p in mechanism.parts])[:-1])[1]
    geometry = release.geometry
    u = geometry.transform.astype(np.longdouble) @ v
    norm = np.sqrt(u @ u)
    weight = min(1, 1 / norm, geometry.curvature_ratio / norm**2)
    # the noise that the code recovers contains the error of its own sum
    exact = n * weight * u * (0.5 if task == "logistic" else 1.0)
    error = release.gradient - noise - exact
    return float(np.sqrt(error @ error)), mechanism.center.step.error


@pytest.mark.parametrize(
    ("task", "epsilon", "d", "n"),
    [
        ("logistic", 1.0, 2, 100_000),
        # rows that are all equal round all one way
        ("log-cosh", 8.0, 10, 100_000),
        pytest.param("log-cosh", 8.0, 10, 1_000_000, marks=pytest.mark.slow),
    ],
)
def test_the_step_of_the_gradient_hides_the_rounding_of_its_sum(task, epsilon, d, n):
    error, room = pull_error(task, epsilon, d, n)
    assert error <= room


# --- what a table may and may not move ------------------------------------------------


class Counted:
    """A source that counts what is drawn."""

    seeded = True

    def __init__(self):
        self._source, self.sizes = as_random_source(7), []

    def bytes(self, n):
        self.sizes.append(n)
        return self._source.bytes(n)


@each_task
def test_the_randomness_that_is_used_does_not_depend_on_the_table(task):
    seen = []
    for _, X, y in tables(task):
        source = Counted()
        calibrated(task, 8.0).release(data_of(task, X, y), source)
        seen.append(source.sizes)
    assert all(sizes == seen[0] for sizes in seen)


@each_task
def test_all_that_an_estimator_keeps_follows_from_the_transcript(task):
    kind, options = {
        "logistic": (ObjPertLogisticRegression, {"classes": [-1, 1]}),
        "log-cosh": (ObjPertRegressor, {"bounds_y": (-1.0, 1.0)}),
    }[task]
    options = options | {"metric": "private", "delta": DELTA, "fit_intercept": False}
    mechanism, numbers = calibrated(task, 1.0), []

    def replayed(self, data, source):
        output = self.read(numbers[0])
        return Release(output=output, spent=self.guarantee, diagnostics={"n": len(X)})

    states = []
    for name, X, y in tables(task):
        release = mechanism.release(data_of(task, X, y), as_random_source(0)).output
        numbers.append(release.transcript)
        if name == "no label":
            continue
        with mock.patch.object(
            PreconditionedObjectivePerturbation, "release", replayed
        ):
            fitted = kind(**options).fit(X, y)
        states.append({k: repr(v) for k, v in sorted(vars(fitted).items())})
    assert all(state == states[0] for state in states)


def test_weights_of_rows_are_not_taken():
    """A weight of the user would multiply the bounds that the metric's weights keep."""
    for kind in (ObjPertLogisticRegression, ObjPertRegressor):
        assert set(inspect.signature(kind.fit).parameters) == {"self", "X", "y"}
        assert "class_weight" not in inspect.signature(kind).parameters


def test_steps_too_fine_for_the_rounding_of_sums_are_refused():
    """Steps of objectives must cover their tolerance, and so must those of sums."""
    good = made()
    step = LatticeSmoothing.concentrated(error=1e-200, n_features=3, mu=1e-3)
    with pytest.raises(ValueError, match="fit") as caught:
        dataclasses.replace(good, center=dataclasses.replace(good.center, step=step))
    assert "step" in str(caught.value)
