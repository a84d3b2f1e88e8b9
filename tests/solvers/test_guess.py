"""A guess of the Hessian steers the first solve, and nothing else."""

import numpy as np
import pytest

from skdp.losses import LogCoshLoss, LogisticLoss
from skdp.mechanisms._pco_fit import guessed_hessian
from skdp.mechanisms._pco_geometry import geometry_of
from skdp.rows import L2Ball, as_row_blocks
from skdp.solvers import Guess, Table, WhitenedObjective

RNG = np.random.default_rng(5)
D = 6
TURN = np.diag(np.linspace(0.5, 2.0, D))
PULL = RNG.standard_normal(D)


def objective(n, loss=None):
    x = RNG.standard_normal((n, D))
    x /= np.linalg.norm(x, axis=1)[:, None]
    table = Table(as_row_blocks(x, np.sign(x[:, 0] + 0.1)), L2Ball(1.0))
    return WhitenedObjective(table, loss or LogisticLoss(), 0.5, TURN), x


@pytest.mark.parametrize("beats_parts", [True, False])
@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.15, 100.0])
def test_any_guess_leads_to_the_same_certified_answer(scale, n, beats_parts):
    of, x = objective(n)
    options = {"start": np.zeros(D), "gradient_tol": 1e-9}
    plain = of.minimise(PULL, **options)
    hessian = scale * TURN @ x.T @ x @ TURN
    guess, other = Guess(hessian, beats_parts), objective(1)[0]
    other._problem.table = other.table = of.table
    found = other.minimise(PULL, **options, guess=guess)
    assert found.gradient_norm <= 1e-9
    np.testing.assert_allclose(found.x, plain.x, atol=4e-9)
    np.testing.assert_array_equal(guess.hessian, scale * TURN @ x.T @ x @ TURN)


def test_a_good_guess_saves_the_hessian_at_the_start(monkeypatch):
    of, x = objective(60)
    formed = []
    plain = type(of._problem).gradient_hessian
    monkeypatch.setattr(
        type(of._problem),
        "gradient_hessian",
        lambda self, theta: formed.append(1) or plain(self, theta),
    )
    guess = Guess(0.2 * TURN @ x.T @ x @ TURN, beats_parts=False)
    of.minimise(PULL, start=np.zeros(D), gradient_tol=1e-3, guess=guess)
    assert not formed


def test_guesses_are_near_the_mean_curvature():
    rng = np.random.default_rng(0)
    moment = 1e4 * np.eye(D) / D
    geometry = geometry_of(moment, 1.0, None)
    turned = geometry.transform @ moment @ geometry.transform
    energies = 1e4 * np.array([0.3, 0.04])
    residuals = 0.2 * rng.standard_normal(100_000)
    for scale in (0.1, 0.3, 2.0):
        loss = LogCoshLoss(scale=scale)
        guess = guessed_hessian(geometry, moment, loss, energies)
        mean = np.mean(1.0 / np.cosh(residuals / scale) ** 2)
        np.testing.assert_allclose(guess.hessian, mean * turned, rtol=0.15, atol=1e-9)
        assert guess.beats_parts
    guess = guessed_hessian(geometry, moment, LogisticLoss(), None)
    np.testing.assert_allclose(guess.hessian, 0.15 * turned)
    assert not guess.beats_parts


def test_models_of_single_precision_lead_to_the_same_answer_with_far_rows():
    x = RNG.standard_normal((500, D)) * np.logspace(0, -6, D)
    x[::3] *= 1e140
    table = Table(as_row_blocks(x, np.sign(x[:, 0])), L2Ball(1.0))
    found = []
    for single in (True, False):
        of = WhitenedObjective(table, LogisticLoss(), 0.5, TURN)
        assert of._problem.single
        of._problem.single = single
        found.append(of.minimise(PULL, start=np.zeros(D), gradient_tol=1e-9))
        assert found[-1].gradient_norm <= 1e-9
    np.testing.assert_allclose(found[0].x, found[1].x, atol=4e-9)
    gradient, hessian = of.gradient_hessian(PULL)
    single = of._problem.gradient_hessian(PULL, single=True)
    np.testing.assert_allclose(single[1], hessian, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(single[0] - of._problem.linear, gradient)
