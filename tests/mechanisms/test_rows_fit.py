"""Rows that a mechanism was not calibrated for are refused by public facts."""

import dataclasses

import numpy as np
import pytest

from skdp.accounting import Adjacency, ApproximateDP, PureDP
from skdp.losses import LogisticLoss
from skdp.mechanisms import (
    ApproximateSample,
    BoundedPosterior,
    GibbsPosterior,
    LocalizedPosterior,
    ObjectivePerturbation,
    OutputPerturbation,
)
from skdp.random import as_random_source
from skdp.rows import L2Ball, Labels, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball

BALL = Ball.around_zero(1, 2.0)
SHAPE = {"radius": 1.0, "n_coefficients": 1}


def mechanisms():
    loss = LogisticLoss()
    yield GibbsPosterior.calibrate(PureDP(1.0), loss=loss, ball=BALL, **SHAPE)
    yield OutputPerturbation.calibrate(PureDP(1.0), loss=loss, **SHAPE)
    yield LocalizedPosterior.calibrate(PureDP(1.0), loss=loss, **SHAPE)
    yield ObjectivePerturbation.calibrate(PureDP(1.0), **SHAPE)
    yield BoundedPosterior.calibrate(
        PureDP(1.0), loss=loss, ball=Ball.around_zero(1, 0.5), n_rows=4, **SHAPE
    )


def rows(y, labels, X=((1.0,),)):
    return PrivateRows(as_row_blocks(np.array(X), y, labels=labels), L2Ball(1.0))


@pytest.mark.parametrize(
    "mechanism", list(mechanisms()), ids=lambda m: type(m).__name__
)
def test_a_loss_of_signs_takes_no_large_targets(mechanism):
    source = as_random_source(0)
    large = rows(np.array([100.0]), Targets(-100, 100, bound=100))
    with pytest.raises(ValueError, match="more than the loss allows"):
        mechanism.release(large, source)
    for fine in (
        rows(np.array([3.0]), Targets(-5, 5)),
        rows(np.array(["a"]), Labels(["a", "b"])),
    ):
        assert np.all(np.isfinite(mechanism.release(fine, source).output))


@pytest.mark.parametrize(
    ("target", "ball"), [(PureDP(1.0), BALL), (ApproximateDP(1.0, 1e-6), None)]
)
def test_a_relation_given_as_text_is_the_relation(target, ball):
    replace = dataclasses.replace(target, adjacency="replace-one")
    mechanism = GibbsPosterior.calibrate(
        replace, loss=LogisticLoss(), ball=ball, **SHAPE
    )
    assert mechanism.adjacency is Adjacency.REPLACE_ONE
    again = dataclasses.replace(mechanism, adjacency="replace-one")
    assert again == mechanism
    assert again.multiplicity == 2.0


def test_a_smoothing_step_of_another_shape_or_relation_is_refused():
    mechanism = next(mechanisms())
    for change in ({"n_features": 2}, {"adjacency": "replace-one"}):
        step = dataclasses.replace(mechanism.smoothing, **change)
        with pytest.raises(ValueError, match="smoothing"):
            dataclasses.replace(mechanism, smoothing=step)


def test_that_an_ideal_law_is_free_is_an_assumption():
    mechanism = ApproximateSample.calibrate(PureDP(0.02), distance=0.1, n_features=1)
    assert "the ideal law costs nothing (asserted)" in mechanism.guarantee.assumptions
