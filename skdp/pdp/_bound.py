r"""The formula of a published bound: public constants in, one number a person out.

Notation (derived in docs/proofs/published_report.md)
-----------------------------------------------------
q        norm of the clipped row, intercept constant included, shape (n,)
p, h     bounds on |f'| and on f'' q^2 at the ideal point, shape (n,)
k        h / alpha, bound on f'' times the leverage from the ridge alone, shape (n,)
M        size of the Gaussian releases for the row, shape (n,)
"""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from skdp._typing import FloatArray
from skdp.pdp._leverage import LeverageBound
from skdp.pdp._terms import MarginTerms

__all__ = ["EstimatedBound", "PublishedBound"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedBound:
    r"""The public numbers of a bound; with them it is a function of one row.

    For a row of norm q with derivatives f' and f'' at the published margin, put

    .. math:: p = \min(L, e^{\xi q} |f'|),\quad
        h = \min(\beta, e^{\xi q} f'')\, q^2,\quad
        M^2 = (p q / \text{noise\_scale})^2 + (h / \text{hessian\_scale})^2 .

    The bound is the smaller of ``ceiling`` and

    .. math:: M (\text{bend}\; M / 2 + \text{slope}) + \text{constant} + J ,

    where J is 0 without ``has_jacobian``. Else, with :math:`k = h / \alpha` and the
    leverage bound m, it is :math:`-\log(1 - \min(h m / q^2, k / (1 + k)))`; that is
    :math:`\log(1 + k)` where nothing is known about leverages.

    Attributes
    ----------
    margin_shift : float
        xi, how far the margin of a row of norm one may lie from the ideal one.
    steepest, roundest : float
        L and beta: bounds on |f'| and f'' at any margin.
    alpha : float
        Ridge on the sum of the losses.
    noise_scale : float
        Scale of the noise against the row's gradient, all releases together.
    hessian_scale : float
        Scale of the noise of a released Hessian; inf without one.
    bend, slope : float
        1 and the quantile of Gaussian noise; 0 and 1 for K-norm noise.
    constant : float
        What the smoothing steps add, in nats.
    ceiling : float
        A bound that holds for everybody; inf without one.
    has_jacobian : bool
        Whether the change of volume can count against the person.
    leverage : LeverageBound or None
        Bound on leverages from a released Hessian.
    """

    margin_shift: float
    steepest: float
    roundest: float
    alpha: float
    noise_scale: float
    hessian_scale: float = math.inf
    bend: float
    slope: float
    constant: float
    ceiling: float
    has_jacobian: bool
    leverage: LeverageBound | None = None

    @property
    def directions(self) -> FloatArray | None:
        """What each row is multiplied with, a column each; None for nothing."""
        return None if self.leverage is None else self.leverage.directions

    def __call__(self, terms: MarginTerms) -> FloatArray:
        """Return the bound for each row of a block, 0 for rows of weight zero."""
        norm = np.sqrt(terms.squared_norm)
        # numbers leave the range of floats only when the noise dwarfs everything: fmin
        # takes the bound that holds at any margin, and what is no number is no bound
        with np.errstate(over="ignore", invalid="ignore"):
            grow = np.exp(self.margin_shift * norm)
            p = np.fmin(self.steepest, np.abs(terms.slope) * grow)
            h = np.fmin(self.roundest, terms.curvature * grow)
            loss = self._noise_part(terms, norm, p, h) + self.constant
            if self.has_jacobian:
                loss += self._jacobian(terms, h)
        np.fmin(loss, self.ceiling, out=loss)
        # a row of weight zero is no part of the objective
        return np.where(terms.declared, loss, 0.0)

    def _noise_part(
        self, terms: MarginTerms, norm: FloatArray, p: FloatArray, h: FloatArray
    ) -> FloatArray:
        """Return what the noise of the releases lets through."""
        size = p * norm / self.noise_scale
        if self.hessian_scale < math.inf:
            size = np.hypot(size, h * terms.squared_norm / self.hessian_scale)
        return size * (self.bend * size / 2 + self.slope)

    def _jacobian(self, terms: MarginTerms, h: FloatArray) -> FloatArray:
        """Return the largest size of the change of volume."""
        k = h * terms.squared_norm / self.alpha
        if self.leverage is None:
            return np.log1p(k)
        known = h * self.leverage(self._coordinates(terms))
        return -np.log1p(-np.minimum(known, k / (1.0 + k)))

    def _coordinates(self, terms: MarginTerms) -> FloatArray:
        """Return the rows' products with the directions of the leverage bound."""
        return terms.products

    def numbers(self) -> dict[str, Any]:
        """Return all public numbers by name, matrices as lists of rows.

        Returns
        -------
        numbers : dict
            What a page embeds that computes the bound itself.
        """
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.leverage is not None:
            out["leverage"] = self.leverage.numbers()
        return out


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatedBound(PublishedBound):
    r"""The bound on the loss of the coefficients alone, where a gradient is known.

    Instead of :math:`M^2/2 + M\,\text{slope}` it counts

    .. math:: M^2/2 + p\,(\text{side}\; y\, x\cdot a + q\,\text{slope} /
        \text{noise\_scale})

    with a the released estimate of the noise; ``side`` 0 takes the size of the product.

    Attributes
    ----------
    estimate : ndarray of shape (d,)
        Minus the estimated noise over its variance.
    side : float
        1 for members, -1 for others, 0 for either.
    """

    estimate: FloatArray
    side: float

    @property
    def directions(self) -> FloatArray:
        """The estimate, followed by the directions of the leverage bound."""
        rest = super().directions
        one = self.estimate[:, None]
        return one if rest is None else np.hstack([one, rest])

    def _noise_part(
        self, terms: MarginTerms, norm: FloatArray, p: FloatArray, h: FloatArray
    ) -> FloatArray:
        size = p * norm / self.noise_scale
        product = terms.products[:, 0]
        seen = self.side * terms.labels * product if self.side else np.abs(product)
        force = seen + norm * self.slope / self.noise_scale
        # where the noise speaks for the person, a smaller slope makes less of it
        low = np.abs(terms.slope) * np.exp(-self.margin_shift * norm)
        return size * size / 2 + np.where(force > 0.0, p, low) * force

    def _coordinates(self, terms: MarginTerms) -> FloatArray:
        return terms.products[:, 1:]
