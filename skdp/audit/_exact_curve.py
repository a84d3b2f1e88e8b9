r"""The exact privacy curve of a mechanism on one pair, from the law it states.

No sampling and no bound: in one dimension the hockey-stick divergence of the two
densities is integrated, on a lattice it is summed. What comes out is the truth about
the pair, so a guarantee below it is wrong, and a guarantee far above it on every hard
pair is loose.

Notation
--------
p, q     laws of the ideal release on the left and on the right data set
L        privacy loss log(p / q)
delta    :math:`\int (p - e^{\epsilon} q)_+`, and with p and q exchanged
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from skdp._typing import FloatArray
from skdp.audit._piecewise import Piecewise, resolve
from skdp.mechanisms import AdjacentPair, Mechanism

__all__ = ["ExactCurve", "exact_curve"]

#: Densities are followed down to exp(-this) of their peak, lattice laws alike.
_TAIL_DEPTH = 45.0
#: Accuracy of log densities; errors of delta are this times P(L > epsilon).
_TOLERANCE = 1e-9
#: log p may change by this much over one quadrature cell.
_CELL_RANGE = 3.0
_CELL_NODES = 16
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_CELL_NODES)
#: Rounds of narrowing of a bracket around a crossing, and points of each.
_ZOOMS, _ZOOM_POINTS = 3, 65
#: Most lattice points that are enumerated on one side.
_MAX_POINTS = 2**16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExactCurve:
    """The privacy curve of one mechanism on one pair of data sets.

    Attributes
    ----------
    outputs : ndarray
        Outputs looked at: nodes of a quadrature rule, or lattice points; increasing.
    log_p, log_q : ndarray
        Log densities of the two laws at the outputs.
    weights : ndarray
        Weights of the rule.
    refine : callable
        Returns log densities and weights of a rule made for one epsilon.
    mass : tuple of float
        Total probability of the two laws: 1, or the stated density is wrong.
    max_loss : float
        Largest ``|log(p / q)|`` over the outputs looked at: epsilon under pure DP.
    """

    outputs: FloatArray
    log_p: FloatArray
    log_q: FloatArray
    weights: FloatArray
    refine: Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]

    @property
    def mass(self) -> tuple[float, float]:
        """Total probability on the left and on the right data set."""
        left, right = (
            float(self.weights @ np.exp(log)) for log in (self.log_p, self.log_q)
        )
        return left, right

    @property
    def max_loss(self) -> float:
        """Largest absolute privacy loss."""
        both = np.isfinite(self.log_p) & np.isfinite(self.log_q)
        return float(np.max(np.abs(self.log_p[both] - self.log_q[both])))

    def delta_directed(self, epsilon: float) -> tuple[float, float]:
        """Return delta of left against right, and of right against left.

        Parameters
        ----------
        epsilon : float
            In nats.
        """
        return self._delta(epsilon, 1.0), self._delta(epsilon, -1.0)

    def delta(self, epsilon: float) -> float:
        """Return the larger of the two deltas at ``epsilon`` nats."""
        return max(self.delta_directed(epsilon))

    def renyi(self, order: float) -> float:
        """Return the larger of the two Renyi divergences of an order above 1, in nats.

        Parameters
        ----------
        order : float
            Above 1; rho-zCDP bounds the divergence by ``rho * order``.
        """
        sums = []
        for log_p, log_q in ((self.log_p, self.log_q), (self.log_q, self.log_p)):
            # outputs of no mass add nothing
            some = np.isfinite(log_p) & np.isfinite(log_q)
            log_terms = order * log_p[some] - (order - 1) * log_q[some]
            sums.append(logsumexp(log_terms, b=self.weights[some]))
        return float(max(sums)) / (order - 1)

    def _delta(self, epsilon: float, sign: float) -> float:
        log_p, log_q, weights = self.refine(sign * epsilon)
        if sign < 0:
            log_p, log_q = log_q, log_p
        some = np.isfinite(log_p)
        log_p, log_q, weights = log_p[some], log_q[some], weights[some]
        # p (1 - e^(epsilon - L)) keeps its digits where the two terms nearly cancel
        excess = -np.expm1(np.minimum(epsilon - (log_p - log_q), 0.0))
        return float(weights @ (np.exp(log_p) * excess))


def exact_curve(
    mechanism: Mechanism[Any, FloatArray], pair: AdjacentPair[Any]
) -> ExactCurve:
    """Return the exact privacy curve of the ideal release on one pair.

    Parameters
    ----------
    mechanism : Mechanism
        With one output number: either a density on an interval, continuous and smooth
        but where the noise is zero, with noise monotone in the output; or a lattice
        law.
    pair : AdjacentPair
        Two neighbouring data sets, for example from ``mechanism.hard_pairs()``.

    Returns
    -------
    ExactCurve
        Errors of ``delta`` are about 1e-8 relative to the mass beyond epsilon.

    Raises
    ------
    ValueError
        If the output has more than one number, or the lattice law is too wide to sum.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.audit import exact_curve
    >>> from skdp.mechanisms import GaussianMechanism
    >>> mechanism = GaussianMechanism.calibrate(
    ...     ApproximateDP(1.0, 1e-6), l2_sensitivity=1.0, n_features=1)
    >>> curve = exact_curve(mechanism, next(mechanism.hard_pairs()))
    >>> 0.99e-6 < curve.delta(1.0) <= 1e-6
    True
    """
    if mechanism.lattice > 0.0:
        return _lattice_curve(mechanism, pair)
    p, q = (_density(mechanism, data) for data in (pair.left, pair.right))
    cells = _cells(p, q)
    rule = _quadrature(p, q, cells[:-1], cells[1:])
    marks = np.sort(np.concatenate([cells, (cells[1:] + cells[:-1]) / 2]))
    losses = _loss(p, q, marks)

    def refine(level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return quadrature with a cell border wherever the loss crosses a level."""
        roots = _crossings(p, q, marks, losses, level)
        crossed = np.zeros(cells.size - 1, dtype=bool)
        crossed[np.clip(np.searchsorted(cells, roots) - 1, 0, crossed.size - 1)] = True
        borders = np.unique(np.concatenate([cells, roots]))
        middles = (borders[1:] + borders[:-1]) / 2
        new = crossed[np.searchsorted(cells, middles) - 1]
        split = _quadrature(p, q, borders[:-1][new], borders[1:][new])
        whole = np.repeat(~crossed, _CELL_NODES)
        log_p, log_q, weights = (
            np.concatenate([old[whole], more])
            for old, more in zip(rule[1:], split[1:], strict=True)
        )
        return log_p, log_q, weights

    return ExactCurve(*rule, refine)


def _density(mechanism: Mechanism[Any, FloatArray], data: Any) -> Piecewise:
    """Return the log density on ``data``, followed into both tails."""
    law = mechanism.log_density_on(data)
    low, high = mechanism.support

    def f(x: float) -> float:
        return law(np.array([x]))

    def noise(x: float) -> float:
        value = mechanism.noise(np.array([x]), data)
        if value.size != 1:
            raise ValueError(
                f"the mechanism returns {value.size} numbers. Allowed: one. Use "
                "simulated_delta for more."
            )
        return float(value[0])

    centre = min(max(_zero(noise), low), high)
    ends = [_end(f, centre, -1.0, low), _end(f, centre, 1.0, high)]
    # a peak at the border is an end
    return resolve(f, sorted({ends[0], centre, ends[1]}), _TOLERANCE)


def _zero(noise: Callable[[float], float]) -> float:
    """Return the output at which the noise is zero; it is monotone in the output."""
    here = noise(0.0)
    if here == 0.0:
        return 0.0
    step = 1.0
    towards = math.copysign(1.0, here) * _slope(noise)
    # towards the zero: against the sign of the noise times the sign of its slope
    end = -towards * step
    while math.copysign(1.0, noise(end)) == math.copysign(1.0, here):
        step *= 4.0
        end = -towards * step
    low, high = sorted((0.0, end))
    return float(brentq(noise, low, high, xtol=1e-300, rtol=1e-15))


def _slope(noise: Callable[[float], float]) -> float:
    return math.copysign(1.0, noise(1.0) - noise(-1.0))


def _end(
    f: Callable[[float], float], centre: float, side: float, border: float
) -> float:
    """Return the border of the support on one side, or where next to no mass is."""
    if math.isfinite(border) and f(border) >= f(centre) - _TAIL_DEPTH:
        return border
    return _tail(f, centre, side)


def _tail(f: Callable[[float], float], centre: float, side: float) -> float:
    """Return a point beyond which next to no mass lies on one side of the centre."""
    floor, step = f(centre) - _TAIL_DEPTH, 1.0
    while f(centre + side * step) > floor:
        step *= 2.0
    while f(centre + side * step / 2) < floor:
        step /= 2.0
    # a tight end spares many evaluations
    low, high = step / 2, step
    for _ in range(4):
        middle = (low + high) / 2
        if f(centre + side * middle) > floor:
            low = middle
        else:
            high = middle
    return centre + side * high


def _cells(p: Piecewise, q: Piecewise) -> FloatArray:
    """Return cell borders: all edges, subdivided where a log density changes fast."""
    edges = np.unique(np.concatenate([p.edges, q.edges]))
    borders = [edges[:1]]
    for a, b in pairwise(edges):
        inside = np.linspace(a, b, 65)[1:-1]
        change = 0.0
        for log in (p, q):
            values = log(inside)
            if np.isfinite(values).all():
                change = max(change, float(np.abs(np.diff(values)).sum()))
        borders.append(np.linspace(a, b, 3 + math.ceil(change / _CELL_RANGE))[1:])
    return np.concatenate(borders)


def _loss(p: Piecewise, q: Piecewise, x: FloatArray) -> FloatArray:
    """Return log p - log q, nan where one of the laws has no mass."""
    log_p, log_q = p(x), q(x)
    both = np.isfinite(log_p) & np.isfinite(log_q)
    out = np.full(x.shape, np.nan)
    np.subtract(log_p, log_q, out=out, where=both)
    return out


def _crossings(
    p: Piecewise, q: Piecewise, x: FloatArray, losses: FloatArray, level: float
) -> FloatArray:
    """Return the points between the given ones at which the loss crosses ``level``."""
    left, right, low, high = _brackets(x, losses - level)
    for _ in range(_ZOOMS):
        if left.size == 0:
            break
        x = np.linspace(left, right, _ZOOM_POINTS, axis=-1).ravel()
        left, right, low, high = _brackets(x, _loss(p, q, x) - level)
    # within the last bracket the loss is straight to full accuracy
    roots: FloatArray = left - low * (right - left) / (high - low)
    return roots


def _brackets(x: FloatArray, excess: FloatArray) -> tuple[FloatArray, ...]:
    """Return neighbouring points, and values there, between which the sign changes."""
    known = np.isfinite(excess[1:]) & np.isfinite(excess[:-1])
    change = known & ((excess[1:] > 0) != (excess[:-1] > 0))
    return x[:-1][change], x[1:][change], excess[:-1][change], excess[1:][change]


def _quadrature(
    p: Piecewise, q: Piecewise, starts: FloatArray, ends: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes of all cells, both log densities, and weights."""
    half = (ends - starts)[:, None] / 2
    x = ((ends + starts)[:, None] / 2 + half * _NODES).ravel()
    return x, p(x), q(x), (half * _WEIGHTS).ravel()


def _lattice_curve(
    mechanism: Mechanism[Any, FloatArray], pair: AdjacentPair[Any]
) -> ExactCurve:
    """Sum over the lattice points that carry either law."""
    outcomes = mechanism.outcomes(pair.left)
    if outcomes is None:
        ranges = [_support(mechanism, data) for data in (pair.left, pair.right)]
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        outcomes = np.arange(float(low), high + 1.0) * mechanism.lattice
    points = outcomes[:, None]
    log_p, log_q = (
        np.array([law(point) for point in points])
        for law in (mechanism.log_density_on(data) for data in (pair.left, pair.right))
    )
    weights = np.ones(len(points))
    law = (log_p, log_q, weights)
    return ExactCurve(np.ravel(points), *law, lambda _: law)


def _support(mechanism: Mechanism[Any, FloatArray], data: Any) -> tuple[int, int]:
    """Return the first and last lattice index that carry mass."""
    origin = np.zeros(1)
    steps = mechanism.noise(origin, data)
    if steps.size != 1:
        raise ValueError(
            f"the mechanism returns {steps.size} numbers. Allowed: one. Use "
            "simulated_delta for more."
        )
    centre = -int(steps[0])

    def log_mass(k: int) -> float:
        return mechanism.log_density(np.array([k * mechanism.lattice]), data)

    floor = log_mass(centre) - _TAIL_DEPTH
    reach = 1
    while max(log_mass(centre - reach), log_mass(centre + reach)) > floor:
        reach *= 2
        if reach > _MAX_POINTS:
            raise ValueError(
                f"the lattice law spreads over more than {_MAX_POINTS} points on a "
                "side. Allowed: fewer. Use simulated_delta instead."
            )
    return centre - reach, centre + reach
