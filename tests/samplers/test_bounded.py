"""Draws of constant work: the law of the mixture, and that the work is constant."""

import numpy as np
import pytest
import scipy.sparse as sp
from gibbs_by_hand import LOSSES, potential, rows, table
from scipy.stats import chisquare, kstest

from skdp.losses import LogisticLoss
from skdp.random import as_random_source
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import Ball, BoundedSampler, EnvelopeBounds, GibbsTarget
from skdp.samplers import _bounded as module
from skdp.samplers._fixed_descent import descent_steps
from skdp.samplers._padded import padded_rows

#: False alarm of one test; there are fewer than 40.
ALARM = 1e-8
GAMMA, ALPHA = 2.0, 0.7


def posed(name, X, y, ball, n_rows, *, gamma=GAMMA, constant=0.0):
    loss = LOSSES[name][0]
    numbers = {"inverse_temperature": gamma, "alpha": ALPHA, "ball": ball}
    norm = float(np.hypot(1.0, constant))
    bounds = EnvelopeBounds(loss=loss, data_norm=norm, n_rows=n_rows, **numbers)
    return GibbsTarget(
        padded_rows(rows(X, y, constant), n_rows, loss), loss, **numbers
    ), bounds


def sampler(target, bounds, *, n_proposals, mixing, seed=0):
    return BoundedSampler(
        target,
        bounds,
        as_random_source(seed),
        n_proposals=n_proposals,
        n_steps=descent_steps(bounds, 0.01),
        mixing=mixing,
    )


def by_hand(name, X, y, bounds, points, *, constant=0.0):
    """Density of the posterior up to a constant; its rise above the expansion too."""
    return potential(name, X, y, bounds.inverse_temperature, ALPHA, points, constant)


def acceptance(drawn, J, points, cell):
    """Integral of exp(-(J - J^)) over the mass of the envelope, on a grid."""
    envelope = drawn.envelope
    # J^ of the padded table: rows of zeros add a constant, seen at any point
    shift = drawn._target.potential(points[:1])[0] - J[0]
    log_p = envelope.height - (J + shift) - envelope.gaussian.log_mass
    return float(np.exp(log_p).sum() * cell)


PLACES = {"interior": Ball((0.1,), 1.5), "border": Ball((-1.2,), 0.7)}


@pytest.mark.statistical
@pytest.mark.parametrize(("n_proposals", "mixing"), [(1, 0.0), (2, 0.2), (40, 0.05)])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LOSSES)
def test_draws_follow_the_mixture(name, place, n_proposals, mixing):
    """Kolmogorov-Smirnov against quadrature of the mixture, at 1e-8."""
    ball = PLACES[place]
    X, y = table(name, 20, 1, seed=1)
    target, bounds = posed(name, X, y, ball, 25)
    drawn = sampler(target, bounds, n_proposals=n_proposals, mixing=mixing, seed=3)
    draws = drawn.draw(8000)[:, 0]
    assert drawn.max_log_acceptance <= 1e-9

    n = 20_000
    cell = 2 * ball.radius / n
    grid = ball.center[0] - ball.radius + cell * (np.arange(n) + 0.5)
    J = by_hand(name, X, y, bounds, grid[:, None])
    q = (1 - acceptance(drawn, J, grid[:, None], cell)) ** n_proposals
    p = np.exp(J.min() - J)
    p /= p.sum()
    law = (1 - mixing) * ((1 - q) * p + q / n) + mixing / n
    u = np.interp(draws, grid + cell / 2, np.cumsum(law))
    assert kstest(u, "uniform").pvalue > ALARM
    if q + mixing > 0.15:
        # the planted mistake: the posterior alone is another law
        wrong = np.interp(draws, grid + cell / 2, np.cumsum(p))
        assert kstest(wrong, "uniform").pvalue < 1e-2


@pytest.mark.statistical
@pytest.mark.parametrize("constant", [0.0, 0.5], ids=["plain", "intercept"])
@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_two_dimensions_follow_the_mixture(name, constant):
    """Chi-square over the cells of a grid, at 1e-8; the rows have an intercept."""
    ball = Ball((0.3, -0.2), 1.2)
    X, y = table(name, 25, 1 if constant else 2, seed=5)
    target, bounds = posed(name, X, y, ball, 40, constant=constant)
    drawn = sampler(target, bounds, n_proposals=2, mixing=0.1, seed=5)
    draws = drawn.draw(20_000)
    n, fine = 8, 60
    edges = [np.linspace(-1.2, 1.2, n + 1) + c for c in ball.center]
    axes = [
        (e[0] + (e[-1] - e[0]) * (np.arange(n * fine) + 0.5) / (n * fine))
        for e in edges
    ]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    inside = np.sum((points - ball.midpoint) ** 2, axis=1) <= ball.radius**2
    J = by_hand(name, X, y, bounds, points, constant=constant)
    cell = (2.4 / (n * fine)) ** 2
    p = acceptance(drawn, J[inside], points[inside], cell)
    posterior = np.where(inside, np.exp(J.min() - J), 0.0)
    posterior /= posterior.sum()
    uniform = inside / inside.sum()
    q = (1 - p) ** 2
    law = 0.9 * ((1 - q) * posterior + q * uniform) + 0.1 * uniform
    law = law.reshape(n, fine, n, fine).sum(axis=(1, 3)).ravel()
    seen = np.histogram2d(draws[:, 0], draws[:, 1], bins=edges)[0].ravel()
    some = law * len(draws) > 20
    expected = law[some] * len(draws)
    assert seen[~some].sum() < 200
    total = seen[some].sum() / expected.sum()
    assert chisquare(seen[some], expected * total).pvalue > ALARM


@pytest.mark.parametrize("seed", range(24))
def test_no_proposal_rises_above_the_envelope(seed):
    """Random tables, balls and temperatures; the mode inside and on the border."""
    generator = np.random.default_rng(seed)
    name, d = list(LOSSES)[seed % 4], 1 + seed % 3
    X, y = table(name, int(generator.choice([1, 10, 60])), d, seed)
    ball = Ball(
        tuple(generator.normal(size=d)), float(generator.choice([0.3, 1.0, 4.0]))
    )
    gamma = float(10 ** generator.uniform(-3, 2))
    target, bounds = posed(name, X, y, ball, 70, gamma=gamma)
    drawn = sampler(target, bounds, n_proposals=4000, mixing=0.0, seed=seed)
    drawn.draw(1)
    assert -np.inf < drawn.max_log_acceptance <= 1e-9 * max(1.0, gamma)


class CountingSource:
    """A seeded source that records how many bytes each call asked for."""

    seeded = True

    def __init__(self, seed):
        self._source, self.calls = as_random_source(seed), []

    def bytes(self, n):
        self.calls.append(n)
        return self._source.bytes(n)


def tables():
    generator = np.random.default_rng(0)
    yield np.zeros((0, 2)), np.zeros(0)
    yield generator.normal(size=(50, 2)), generator.choice([-1.0, 0.0, 1.0], size=50)
    yield np.tile([1.0, 0.0], (50, 1)), np.ones(50)
    yield np.tile([1e8, 1.0], (7, 1)), -np.ones(7)


def test_every_table_asks_for_the_same_bytes_and_passes(monkeypatch):
    ball = Ball((0.5, 0.0), 1.0)
    passes = {"potential": 0, "gradient": 0, "grams": 0}
    for name in passes:
        found = getattr(GibbsTarget, name)

        def counted(self, *args, _name=name, _found=found):
            passes[_name] += 1
            return _found(self, *args)

        monkeypatch.setattr(GibbsTarget, name, counted)
    seen = []
    for X, y in tables():
        passes.update(dict.fromkeys(passes, 0))
        target, bounds = posed("logistic", X, y, ball, 50)
        source = CountingSource(1)
        BoundedSampler(
            target, bounds, source, n_proposals=9000, n_steps=20, mixing=1e-6
        ).draw(3)
        seen.append((source.calls, dict(passes), [len(v) for _, v in target.blocks()]))
    assert all(one == seen[0] for one in seen)


def test_blocks_do_not_change_the_law_only_the_order_of_the_bytes(monkeypatch):
    """All proposals count: with one of many accepted, the first one is taken."""
    ball = Ball.around_zero(1, 1.0)
    X, y = table("logistic", 20, 1, seed=1)
    target, bounds = posed("logistic", X, y, ball, 20)
    few = []
    for block in (7, 4096):
        monkeypatch.setattr(module, "_BLOCK", block)
        drawn = sampler(target, bounds, n_proposals=50, mixing=0.0)
        accepted = []
        found = drawn._proposals

        def kept(size, found=found, accepted=accepted):
            points, taken = found(size)
            accepted.append(points[taken])
            return points, taken

        monkeypatch.setattr(drawn, "_proposals", kept)
        draw = drawn.draw(1)[0]
        few.append(len(accepted))
        first = next(points[0] for points in accepted if len(points))
        np.testing.assert_array_equal(draw, first)
    assert few == [8, 1]


def test_nothing_accepted_gives_uniform_points(monkeypatch):
    """Kolmogorov-Smirnov at 1e-8 on the squared radius, and the mean."""
    ball = Ball((2.0, 0.0), 0.5)
    X, y = table("logistic", 20, 2, seed=1)
    target, bounds = posed("logistic", X, y, ball, 20)
    drawn = sampler(target, bounds, n_proposals=3, mixing=0.0)
    found = drawn._proposals
    monkeypatch.setattr(
        drawn, "_proposals", lambda size: (found(size)[0], np.zeros(size, dtype=bool))
    )
    draws = drawn.draw(4000) - ball.midpoint
    squares = np.sum(draws**2, axis=1) / ball.radius**2
    assert kstest(squares, "uniform").pvalue > ALARM
    assert np.linalg.norm(draws.mean(axis=0)) < 7 * 0.5 / np.sqrt(4000)


# --- padding --------------------------------------------------------------------------


def test_padding_leaves_the_law_as_it_is():
    X, y = table("logistic", 30, 3, seed=2)
    thetas = np.random.default_rng(0).normal(size=(6, 4))
    numbers = {"inverse_temperature": 2.0, "alpha": 1.0}
    loss = LogisticLoss()
    plain = GibbsTarget(rows(X, y, 0.5), loss, **numbers)
    padded = GibbsTarget(padded_rows(rows(X, y, 0.5), 77, loss), loss, **numbers)
    gap = padded.potential(thetas) - plain.potential(thetas)
    np.testing.assert_allclose(gap, gap[0], rtol=1e-12)
    for theta in thetas[:2]:
        found = padded.gradient_hessian(theta)
        for a, b in zip(found, plain.gradient_hessian(theta), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_rows_of_weight_zero_become_rows_of_zeros():
    X, y = np.ones((3, 1)), np.array([1.0, 0.0, -1.0])
    padded = padded_rows(rows(X, y, 0.5), 5, LogisticLoss())
    ((found, labels),) = list(padded.blocks)
    np.testing.assert_array_equal(found[[1, 3, 4]], np.zeros((3, 2)))
    np.testing.assert_array_equal(labels, [1, 1, -1, 1, 1])
    # to a regression, 0 is a target like any other
    squared = padded_rows(rows(X, y), 3, LOSSES["squared"][0])
    ((found, labels),) = list(squared.blocks)
    np.testing.assert_array_equal(labels, y)
    assert (found != 0).all()


def test_more_rows_and_sparse_rows_are_refused_without_a_number_of_the_data():
    X, y = np.ones((37, 1)), np.ones(37)
    with pytest.raises(
        ValueError, match="more rows than its public bound, got a bound of 36"
    ) as caught:
        padded_rows(rows(X, y), 36, LogisticLoss())
    assert "37" not in str(caught.value)
    sparse = PrivateRows(as_row_blocks(sp.csr_array(X), y), L2Ball(1.0))
    with pytest.raises(ValueError, match="X must be dense"):
        padded_rows(sparse, 40, LogisticLoss())
