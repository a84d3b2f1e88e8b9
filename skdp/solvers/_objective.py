r"""The perturbed objective: rows x loss x ridge x linear term.

.. math:: J(\theta) = \sum_i f(\tilde x_i^T \theta; y_i)
          + \frac{\alpha}{2} |\theta|^2 + b^T \theta

A sum over rows, never a mean; every coordinate is penalised, the intercept's too.

Notation
--------
x~     clipped row followed by the intercept's constant      -> ``rows.projected()``
theta  coefficients, the intercept's last                    -> ``theta``
alpha  ridge on the sum of losses                            -> ``alpha``
b      linear term, the noise of objective perturbation      -> ``linear``
"""

import numpy as np

from skdp._typing import FloatArray
from skdp.losses import Loss
from skdp.rows import Classes, PrivateRows, Targets
from skdp.solvers._passes import data_gradient, data_gradient_hessian, margins
from skdp.solvers._sums import PairwiseSum
from skdp.solvers._table import Table

__all__ = ["Objective", "check_targets"]


class Objective:
    """Sum of losses with ridge and linear term, formed in passes over the rows.

    Parameters
    ----------
    rows : PrivateRows
    loss : Loss
    alpha : float
        Ridge on the sum of losses, > 0: the strong convexity of the objective.
    linear : ndarray of shape (n_coefficients,), optional
        Linear term; none means zeros.
    keep_norms : bool, default=False
        Whether ``table`` keeps the norms of the rows, for their statistics.

    Raises
    ------
    ValueError
        If ``alpha`` is not positive, ``linear`` has another shape, or the rows bring
        targets beyond what the loss bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.solvers import Objective
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> Objective(rows, LogisticLoss(), alpha=1.0).gradient(np.zeros(2))
    array([-0.3, -0.4])
    """

    __slots__ = ("alpha", "linear", "loss", "rows", "table")

    def __init__(
        self,
        rows: PrivateRows,
        loss: Loss,
        alpha: float,
        linear: FloatArray | None = None,
        *,
        keep_norms: bool = False,
    ) -> None:
        d = rows.n_coefficients
        if not alpha > 0.0:
            raise ValueError(
                f"alpha is out of range, got {alpha!r}. Allowed: a number above 0. "
                "Without a ridge the objective may have no minimum."
            )
        check_targets(rows, loss)
        self.rows, self.loss, self.alpha = rows, loss, float(alpha)
        self.linear = np.zeros(d) if linear is None else np.asarray(linear, np.float64)
        if self.linear.shape != (d,):
            raise ValueError(
                f"linear has the wrong shape, got {self.linear.shape}. Allowed: "
                f"({d},), one number for each coefficient, the intercept's last."
            )
        self.table = Table(rows.blocks, rows.ball, keep_norms=keep_norms)

    def value(self, theta: FloatArray) -> float:
        """Return the objective at ``theta``, shape (n_coefficients,)."""
        scaled = theta * self.table.unit
        losses = PairwiseSum(np.zeros(()))
        for x, y, f in self.table:
            t = margins(x, f, scaled, self.table.constant)
            losses.add(np.asarray(self.loss.value(y, t).sum()))
        ridge = 0.5 * self.alpha * (theta @ theta)
        return float(losses.total() + ridge + self.linear @ theta)

    def gradient(self, theta: FloatArray) -> FloatArray:
        """Return the gradient at ``theta``, shape (n_coefficients,)."""
        data = data_gradient(self.table, self.loss, theta * self.table.unit)
        out: FloatArray = data * self.table.unit + self.alpha * theta + self.linear
        return out

    def hessian(self, theta: FloatArray) -> FloatArray:
        """Return the Hessian at ``theta``, shape (n_coefficients, n_coefficients)."""
        return self.gradient_hessian(theta)[1]

    def gradient_hessian(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at ``theta`` from one pass over the rows."""
        unit = self.table.unit
        data = data_gradient_hessian(self.table, self.loss, theta * unit)
        gradient: FloatArray = data[0] * unit + self.alpha * theta + self.linear
        hessian = data[1] * unit**2
        hessian[np.diag_indices_from(hessian)] += self.alpha
        return gradient, hessian


def check_targets(rows: PrivateRows, loss: Loss) -> None:
    """Refuse targets that a loss of signs would take for heavier rows.

    Parameters
    ----------
    rows : PrivateRows
        Whose encoder is looked at, and nothing else.
    loss : Loss
        With a ``target_bound``, or a loss of signs.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If targets may be beyond the bound, or are numbers of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
    >>> from skdp.solvers import check_targets
    >>> blocks = as_row_blocks(np.eye(2), np.ones(2), labels=Targets(-1, 1))
    >>> check_targets(PrivateRows(blocks, L2Ball(1.0)), LogisticLoss())
    """
    labels = rows.blocks.labels
    if isinstance(labels, Classes):
        raise ValueError(
            "the rows bring numbers of classes, more than the loss allows for. Allowed:"
            " two labels, or targets. Encode them with Labels(classes)."
        )
    if isinstance(labels, Targets) and labels.bound > getattr(loss, "target_bound", 1):
        raise ValueError(
            f"the rows bring targets up to {labels.bound:.6g}, more than the loss "
            "allows for. Allowed: its target_bound, or 1 for a loss of signs. Encode "
            "them with Targets(low, high, bound=...)."
        )
