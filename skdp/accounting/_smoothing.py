r"""A privacy loss driven by one normal variable, followed by a small zCDP release.

Notation
--------
w        a standard normal variable
l(w)     privacy loss: nondecreasing, piecewise linear       -> ``NormalLoss``
T(w)     integral of phi(v) exp(-l(v)) over v >= w
D2(e)    profile of the zCDP release                          -> ``concentrated_curve``
c(e)     D2(e) - max(0, 1 - exp(e)) = D2(|e|) min(1, exp(e)), concentrated around 0

Composing the two releases gives E[D2(eps - l(w))]. It splits into E[(1 - exp(eps -
l(w)))_+], which has a closed form on each linear piece, and E[c(eps - l(w))], a short
integral around the place where l crosses eps.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtr

from skdp._typing import FloatArray
from skdp.accounting._concentrated import concentrated_curve
from skdp.accounting._gaussian import gaussian_curve

__all__: list[str] = []

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
#: Panel ends around the crossing, in standard deviations of the smoothing noise.
_WIDTHS = np.array([0.0, 1.0, 2.0, 3.5, 6.0, 9.0, 12.0, 17.0, 24.0, 38.0])
#: Panel ends of the normal density; it underflows beyond 38.6.
_BULK = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0, 9.0, 12.0, 16.0, 22.0, 30.0, 39.0])
#: Relative error of the composite rule (measured below 1e-10), added to the bound.
_INFLATION = 1.0 + 1e-9
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
    def _pieces(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return slope and end of each piece after a knot, and T at each knot."""
        slopes = np.append(np.diff(self.values) / np.diff(self.knots), self.mu)
        ends = np.append(self.knots[1:], np.inf)
        whole = _piece(self.knots, ends, self.knots, self.values, slopes)
        return slopes, ends, np.append(np.cumsum(whole[::-1])[::-1], 0.0)

    @cached_property
    def _marks(self) -> FloatArray:
        """Return knots spread by slope, so that a kink gets a panel of its own."""
        slopes = self._pieces[0][:-1]
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

    def _tail_integral(self, w: FloatArray) -> FloatArray:
        """Evaluate T(w) from the closed form on each linear piece."""
        slopes, ends, after = self._pieces
        j = np.clip(np.searchsorted(self.knots, w, "right") - 1, 0, None)
        start = np.maximum(w, self.knots[0])
        part = _piece(start, ends[j], self.knots[j], self.values[j], slopes[j])
        flat = np.exp(-self.values[0]) * (ndtr(self.knots[0]) - ndtr(w))
        out: FloatArray = after[j + 1] + part + np.maximum(flat, 0.0)
        return out

    def hockey_stick(self, epsilon: FloatArray) -> FloatArray:
        """Return E[(1 - exp(eps - l(w)))_+] for any real eps."""
        out = gaussian_curve(epsilon, self.mu)
        if self.gaussian:
            return out
        inner = epsilon < self.values[-1]
        if not inner.any():
            return out
        w = self.crossing(epsilon[inner])
        above = ndtr(-w)
        tail = self._tail_integral(w)
        # in logs: exp(eps) alone overflows; where the tail underflows nothing is gained
        log_tail = np.log(np.where(tail > 0.0, tail, 1.0))
        gain = np.exp(np.minimum(epsilon[inner] + log_tail, 0.0))
        out[inner] = above - np.where(tail > 0.0, gain, 0.0)
        sharp: FloatArray = np.maximum(out, 0.0)
        return sharp

    def smoothed(self, epsilon: FloatArray, rho: float) -> FloatArray:
        """Return E[D2(eps - l(w))] for any real eps, rounded up."""
        sharp = self.hockey_stick(epsilon)
        if rho == 0.0:
            return sharp
        rows = max(1, _CHUNK // ((2 * _BULK.size + 2 * _WIDTHS.size) * _NODES.size))
        starts = range(0, epsilon.size, rows)
        blur = [self._blur(epsilon[i : i + rows], rho) for i in starts]
        total = sharp + np.concatenate([sharp[:0], *blur])
        out: FloatArray = np.minimum(total * _INFLATION, 1.0)
        return out

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
        panels = density * _excess(gap, rho) * half
        total: FloatArray = np.einsum("ijk,k->i", panels, _WEIGHTS)
        # below the panels the loss is constant (or the mass is below 1e-300)
        flat = ndtr(low) * _excess(epsilon - self.at(np.array(low)), rho)
        return total if self.gaussian else total + flat


def _excess(gap: FloatArray, rho: float) -> FloatArray:
    """Evaluate c(e): what the zCDP release adds to the sharp hockey stick."""
    out: FloatArray = concentrated_curve(np.abs(gap), rho)
    return out * np.exp(np.minimum(gap, 0.0))


def _piece(
    start: FloatArray,
    end: FloatArray,
    knot: FloatArray,
    value: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Integrate phi(w) exp(-value - slope (w - knot)) from start to end, in logs."""
    level = -value + slope * knot + slope * slope / 2
    upper = log_ndtr(-(start + slope))
    lower = log_ndtr(-(end + slope))
    out: FloatArray = np.exp(level + upper) * -np.expm1(np.minimum(lower - upper, 0.0))
    return out


def gaussian_loss(mu: float) -> NormalLoss:
    """Return the loss of the Gaussian pair."""
    return NormalLoss(np.array([-mu / 2]), np.zeros(1), mu, gaussian=True)


def clipped_gaussian_loss(mu: float) -> NormalLoss:
    """Return max(0, loss of the Gaussian pair)."""
    return NormalLoss(np.array([-mu / 2]), np.zeros(1), mu, gaussian=False)
