r"""The law to draw from, and the passes over the rows that it takes.

Notation
--------
x~       clipped row, intercept constant last
F        sum of the losses of all rows
J        :math:`\gamma (F + \alpha|\theta|^2/2)`; the density is exp(-J) on the domain
gamma    inverse temperature                            -> ``inverse_temperature``
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.losses import Oscillating, SquaredLoss
from skdp.rows import PrivateRows
from skdp.samplers._ball import Ball
from skdp.solvers import Objective

__all__ = ["GibbsTarget"]

#: Labels, margins of shape (rows, points), and which points these are.
_Piece = tuple[FloatArray, FloatArray, slice]
#: A loss that changes by less than this share of itself is followed by differences.
_NARROW = 0.05
#: Standard deviations of the ridge's own law that stand for the whole space.
_SPREADS = 4.0
#: Margins formed at once: a block of rows times this many columns stays in cache.
_MARGINS = 2**16


class GibbsTarget:
    r"""Density proportional to :math:`e^{-\gamma(F + \alpha|\theta|^2/2)}`.

    Parameters
    ----------
    rows : PrivateRows
    loss : Oscillating
        Convex, with a unimodal second derivative.
    inverse_temperature : float
        gamma > 0.
    alpha : float
        Ridge > 0 on the sum of the losses.
    ball : Ball, optional
        Domain; the whole space without it.

    Raises
    ------
    ValueError
        If a public number is out of range, or the centre has another length.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import GibbsTarget
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> target = GibbsTarget(rows, LogisticLoss(), inverse_temperature=2.0, alpha=1.0)
    >>> target.potential(np.zeros((1, 2)))  # 2 log 2
    array([1.38629436])
    """

    def __init__(
        self,
        rows: PrivateRows,
        loss: Oscillating,
        *,
        inverse_temperature: float,
        alpha: float,
        ball: Ball | None = None,
    ) -> None:
        self.n_coefficients = rows.n_coefficients
        if not 0.0 < inverse_temperature < np.inf:
            raise ValueError(
                f"inverse_temperature is out of range, got {inverse_temperature!r}. "
                "Allowed: a finite number above 0. Calibrate it to a guarantee."
            )
        if ball is not None and len(ball.center) != self.n_coefficients:
            raise ValueError(
                f"the centre of the ball has {len(ball.center)} coordinates. Allowed: "
                f"{self.n_coefficients}, one for each coefficient, the intercept's "
                "last."
            )
        self.loss, self.ball = loss, ball
        self.gamma, self.alpha = float(inverse_temperature), float(alpha)
        self._objective = Objective(rows, loss, alpha)

    @property
    def is_gaussian(self) -> bool:
        """Whether the potential is quadratic: then nothing but the domain rejects."""
        return isinstance(self.loss, SquaredLoss)

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield clipped dense rows with their constant, and labels."""
        d = self._objective.table.n_features
        for x, y, f in self._raw_blocks():
            out = np.empty((x.shape[0], self.n_coefficients))
            np.multiply(x, f[:, None], out=out[:, :d])
            out[:, d:] = self._constant
            yield out, y

    def _raw_blocks(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield dense rows, labels, and the factors that clip the rows."""
        table = self._objective.table
        for x, y, f in table:
            # the table keeps its factors in units of a power of two: exact
            yield x if isinstance(x, np.ndarray) else x.toarray(), y, f * table.unit

    @property
    def _constant(self) -> float:
        table = self._objective.table
        return table.constant * table.unit

    def potential(self, thetas: FloatArray) -> FloatArray:
        """Return J at each row of ``thetas``, shape (m, n_coefficients), in one pass.

        Points outside the ball are not treated specially.
        """
        ridge = 0.5 * self.alpha * np.einsum("ij,ij->i", thetas, thetas)
        out: FloatArray = self.gamma * (self._losses(thetas) + ridge)
        return out

    def _losses(self, thetas: FloatArray) -> FloatArray:
        """Return the sum of the losses of all rows at each point."""
        total = np.zeros(thetas.shape[0])
        # few points: clipping the margins is less work than clipping the rows
        pieces = self._few if total.size <= self.n_coefficients else self._many
        for y, margins, part in pieces(np.ascontiguousarray(thetas.T)):
            total[part] += self.loss.total(y, margins)
        return total

    def _few(self, columns: FloatArray) -> Iterator[_Piece]:
        """Yield labels and margins of all points, block by block."""
        d = self._objective.table.n_features
        # a row of the constants, or nothing
        shift = self._constant * columns[d:].sum(axis=0)
        for x, y, f in self._raw_blocks():
            margins = x @ columns[:d]
            margins *= f[:, None]
            margins += shift
            yield y, margins, slice(None)

    def _many(self, columns: FloatArray) -> Iterator[_Piece]:
        """Yield labels and margins of some points at once, block by block."""
        for x, y in self.blocks():
            step = max(1, _MARGINS // max(1, x.shape[0]))
            for start in range(0, columns.shape[1], step):
                part = slice(start, start + step)
                yield y, x @ columns[:, part], part

    def rise_from(self, theta: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the function of steps, shape (m, d), ``J(theta + step) - J(theta)``.

        Where one row's loss hardly changes over the domain, the difference of two sums
        would round too much; differences are then summed, row by row. Which of the two
        is done depends on public numbers alone.
        """
        here = 0.0 if self._is_narrow else float(self._losses(theta[None])[0])

        def rise(steps: FloatArray) -> FloatArray:
            """Return the rise of losses and ridge, each by its own difference."""
            if self._is_narrow:
                losses = self._summed_rises(theta, steps)
            else:
                losses = self._losses(theta + steps) - here
            ridge = steps @ theta + 0.5 * np.einsum("ij,ij->i", steps, steps)
            out: FloatArray = self.gamma * (losses + self.alpha * ridge)
            return out

        return rise

    @property
    def _is_narrow(self) -> bool:
        radius = self._objective.table.radius * self._objective.table.unit
        ball, d = self.ball, self.n_coefficients
        width = _SPREADS * math.sqrt(d / self.gamma / self.alpha)
        center, width = (
            (0.0, width) if ball is None else (ball.center_norm, ball.radius)
        )
        most = self.loss.oscillation(radius, center_norm=center, radius=width)
        target = np.array([-getattr(self.loss, "target_bound", 1.0)])
        value = float(self.loss.value(target, np.array([radius * center]))[0])
        return most < _NARROW * value

    def _summed_rises(self, theta: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the sum of the rises of all rows' losses for each step."""
        total = np.zeros(steps.shape[0])
        columns = np.ascontiguousarray(steps.T)
        for x, y in self.blocks():
            t = (x @ theta)[:, None]
            width = max(1, _MARGINS // max(1, x.shape[0]))
            for start in range(0, total.size, width):
                part = slice(start, start + width)
                rises = self.loss.rise(y[:, None], t, x @ columns[:, part])
                total[part] += rises.sum(axis=0)
        return total

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient of J."""
        out: FloatArray = self.gamma * self._objective.gradient(theta)
        return out

    def gradient_hessian(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian of J."""
        gradient, hessian = self._objective.gradient_hessian(theta)
        return self.gamma * gradient, self.gamma * hessian

    def grams(
        self,
        weights: Callable[[FloatArray, FloatArray], list[FloatArray]],
        n_weights: int,
    ) -> list[FloatArray]:
        """Return gamma (X' W X + alpha I) for each of some weights of a block, >= 0.

        One pass, whatever the number of weightings.
        """
        ridge = self.alpha * np.eye(self.n_coefficients)
        totals = [ridge.copy() for _ in range(n_weights)]
        for x, y in self.blocks():
            for total, w in zip(totals, weights(x, y), strict=True):
                weighted = x * np.sqrt(w)[:, None]
                np.add(total, weighted.T @ weighted, out=total)
        return [self.gamma * total for total in totals]

    def inside(self, thetas: FloatArray) -> BoolArray:
        """Return which rows of ``thetas`` lie in the domain, shape (m,)."""
        if self.ball is None:
            return np.ones(thetas.shape[0], dtype=bool)
        away = thetas - self.ball.midpoint
        out: BoolArray = np.einsum("ij,ij->i", away, away) <= self.ball.radius**2
        return out
