r"""A privacy loss driven by one normal variable, followed by a small zCDP release.

Notation
--------
w        a standard normal variable
l(w)     privacy loss: nondecreasing, piecewise linear       -> ``NormalLoss``
H(e)     E[(1 - exp(e - l(w)))_+]                              -> ``hockey_stick``
D2(e)    profile of the zCDP release                          -> ``concentrated_curve``
c(e)     D2(e) - max(0, 1 - exp(e)) = D2(|e|) min(1, exp(e)), concentrated around 0

Composing the two releases gives E[D2(eps - l(w))]. It splits into H(eps) and
E[c(eps - l(w))], a short integral around the place where l crosses eps. By parts

    H(e) = integral over t >= e of exp(e - t) P(l > t),

which no cancellation spoils however small the losses are, and which runs from piece to
piece: H(a) = exp(a - b) H(b) + the part between a and b.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from scipy.special import ndtr

from skdp._typing import FloatArray
from skdp.accounting._concentrated import concentrated_curve
from skdp.accounting._gaussian import gaussian_curve

__all__: list[str] = []

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
#: Nodes within one linear piece; its ends are a fiftieth of a standard deviation apart.
_FEW_NODES, _FEW_WEIGHTS = np.polynomial.legendre.leggauss(6)
#: A normal variable is above this with probability 1 in floats.
_CERTAIN = -40.0
#: Panel ends around the crossing, in standard deviations of the smoothing noise.
_WIDTHS = np.array([0.0, 1.0, 2.0, 3.5, 6.0, 9.0, 12.0, 17.0, 24.0, 38.0])
#: Panel ends of the normal density; it underflows beyond 38.6.
_BULK = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0, 9.0, 12.0, 16.0, 22.0, 30.0, 39.0])
#: Relative error of the composite rule (measured below 1e-10), added to the bound.
INFLATION = 1.0 + 1e-9
#: The smoothing reaches rho and so many of its widths; its profile there is below
#: exp(-72).
_NEGLIGIBLE_WIDTHS = 12.0
#: Number of (epsilon, node) pairs handled at once, to bound the memory.
_CHUNK = 200_000


@dataclass(frozen=True, eq=False)
class NormalLoss:
    """Privacy loss l(w): linear between knots, slope ``left`` before, ``mu`` after.

    After the last knot the loss is that of the Gaussian pair, mu^2/2 + mu w, so
    the profile beyond the last value is the Gaussian one, exactly.
    """

    knots: FloatArray
    values: FloatArray
    mu: float
    gaussian: bool

    @property
    def _left(self) -> float:
        return self.mu if self.gaussian else 0.0

    def at(self, w: FloatArray) -> FloatArray:
        """Evaluate the loss."""
        inside = np.interp(w, self.knots, self.values)
        before = self._left * np.minimum(w - self.knots[0], 0.0)
        after = self.mu * np.maximum(w - self.knots[-1], 0.0)
        out: FloatArray = inside + before + after
        return out

    @cached_property
    def _at_knots(self) -> FloatArray:
        """Return H at the value of each knot, summed up from the last one."""
        rise = np.diff(self.values)
        parts = _layer(self.knots[:-1], self.knots[1:], rise)
        steps = zip(np.exp(-rise)[::-1].tolist(), parts[::-1].tolist(), strict=True)
        last = float(gaussian_curve(self.values[-1:], self.mu)[0])
        sums = accumulate(steps, lambda h, step: step[0] * h + step[1], initial=last)
        return np.array(list(sums))[::-1]

    @cached_property
    def _marks(self) -> FloatArray:
        """Return knots spread by slope, so that a kink gets a panel of its own."""
        slopes = np.diff(self.values) / np.diff(self.knots)
        shares = self.mu * np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
        inner = self.knots[np.searchsorted(slopes, shares)] if slopes.size else slopes
        return np.concatenate([self.knots[[0, -1]], inner])

    def crossing(self, epsilon: FloatArray) -> FloatArray:
        """Return where the loss passes epsilon; -inf where it is above everywhere."""
        inside = np.interp(epsilon, self.values, self.knots)
        after = np.maximum(epsilon - self.values[-1], 0.0) / self.mu
        missing = np.minimum(epsilon - self.values[0], 0.0)
        before = missing / self.mu if self.gaussian else np.where(missing, -np.inf, 0.0)
        out: FloatArray = inside + before + after
        return out

    def hockey_stick(self, epsilon: FloatArray) -> FloatArray:
        """Return H(eps) = E[(1 - exp(eps - l(w)))_+] for any real eps."""
        out = gaussian_curve(epsilon, self.mu)
        inner = epsilon < self.values[-1]
        if not self.gaussian and inner.any():
            out[inner] = self._inner_hockey_stick(epsilon[inner])
        return out

    def _inner_hockey_stick(self, epsilon: FloatArray) -> FloatArray:
        """Return H below the last knot's value, from the next knot above."""
        j = np.searchsorted(self.values, epsilon, "right")
        below = j == 0  # the loss is never less than its first value
        start = np.where(below, _CERTAIN, np.interp(epsilon, self.values, self.knots))
        end = np.where(below, _CERTAIN, self.knots[j])
        rise = self.values[j] - epsilon
        out: FloatArray = np.exp(-rise) * self._at_knots[j] + _layer(start, end, rise)
        return out

    def smoothed(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Return E[D2(eps - l(w))] for any real eps, rounded up."""
        sharp = self.hockey_stick(epsilon)
        if rho == 0.0:
            return sharp
        total = sharp + self.blur(epsilon, rho)
        out: FloatArray = np.minimum(total * INFLATION, 1.0)
        return out

    def blur(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Return E[c(eps - l(w))], what a release of cost rho > 0 adds to H(eps)."""
        rows = max(1, _CHUNK // ((2 * _BULK.size + 2 * _WIDTHS.size) * _NODES.size))
        starts = range(0, epsilon.size, rows)
        blurs = [self._blur(epsilon[i : i + rows], rho) for i in starts]
        return np.concatenate([epsilon[:0], *blurs])

    def _blur(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Return E[c(eps - l(w))] by Gauss-Legendre panels around the crossing."""
        width = np.sqrt(2.0 * rho)
        marks = width * np.concatenate([-_WIDTHS[:0:-1], _WIDTHS])
        low = -39.0 if self.gaussian else float(np.clip(self.knots[0], -39.0, 39.0))
        near = self.crossing((epsilon[:, None] - marks).ravel())
        near = np.clip(near.reshape(epsilon.size, -1), low, 39.0)
        fixed = np.concatenate([-_BULK[:0:-1], _BULK, self._marks])
        # c underflows outside the outermost crossings
        far = np.clip(fixed, near.min(axis=1)[:, None], near.max(axis=1)[:, None])
        ends = np.sort(np.concatenate([near, far], axis=1), axis=1)
        used = (np.diff(ends, axis=1) > 0.0).any(axis=0)
        half = np.diff(ends, axis=1)[:, used, None] / 2
        w = ends[:, :-1][:, used, None] + half * (1.0 + _NODES)
        gap = epsilon[:, None, None] - self.at(w)
        density = np.exp(-0.5 * w * w) / np.sqrt(2.0 * np.pi)
        panels = density * excess(gap, rho) * half
        total: FloatArray = np.einsum("ijk,k->i", panels, _WEIGHTS)
        # below the panels the loss is constant (or the mass is below 1e-300)
        flat = ndtr(low) * excess(epsilon - self.at(np.array(low)), rho)
        return total if self.gaussian else total + flat


def excess(gap: FloatArray, rho: float) -> FloatArray:
    """Evaluate c(e): what the zCDP release adds to the sharp hockey stick."""
    out: FloatArray = concentrated_curve(np.abs(gap), rho)
    return out * np.exp(np.minimum(gap, 0.0))


def _layer(start: FloatArray, end: FloatArray, rise: FloatArray) -> FloatArray:
    """Integrate exp(-t) P(l > t) over t from 0 to ``rise`` on one linear piece each.

    On the piece l = t at ``start + (end - start) t / rise``. The exponential is the
    weight of the rule, so that a long rise costs no accuracy.
    """
    mass = -np.expm1(-rise)[:, None]
    t = 0.5 * (1.0 + _FEW_NODES)
    flat = rise[:, None] == 0.0
    share = -np.log1p(-t * mass) / np.where(flat, 1.0, rise[:, None])
    chance = ndtr(-(start[:, None] + (end - start)[:, None] * share))
    out: FloatArray = mass[:, 0] * (chance @ (0.5 * _FEW_WEIGHTS))
    return out


def gaussian_loss(mu: float) -> NormalLoss:
    """Return the loss of the Gaussian pair."""
    return NormalLoss(np.array([-mu / 2]), np.zeros(1), mu, gaussian=True)


def clipped_gaussian_loss(mu: float) -> NormalLoss:
    """Return max(0, loss of the Gaussian pair)."""
    return NormalLoss(np.array([-mu / 2]), np.zeros(1), mu, gaussian=False)


def flat_loss(mu: float, level: float) -> NormalLoss:
    """Return max(level, loss of the Gaussian pair).

    Where a loss is at most ``level`` until the Gaussian one passes it, this bounds it,
    and beyond that level as well as the loss itself.
    """
    knot = np.array([(level - mu * mu / 2) / mu])
    return NormalLoss(knot, np.array([level]), mu, gaussian=False)


def is_beyond(epsilon: FloatArray, level: float, rho: float) -> bool:
    """Tell whether losses up to ``level``, smoothed, lie below every epsilon."""
    blur = rho + _NEGLIGIBLE_WIDTHS * np.sqrt(2.0 * rho)
    return bool((epsilon >= level + blur).all())
