"""The report of a fit: the released numbers and public constants of its mechanism."""

from typing import Any

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import PrivacySpent
from skdp.mechanisms import GaussianNoise, ObjectivePerturbation
from skdp.pdp import PublishedReport
from skdp.rows import L2Ball

__all__ = ["make_report"]

#: Probability of failure of a person's bound, where the noise has tails.
_RHO = 1e-6


def make_report(
    mechanism: ObjectivePerturbation,
    theta: FloatArray,
    *,
    spent: PrivacySpent,
    ball: L2Ball,
    classes: Any,
    feature_names: np.ndarray | None,
) -> PublishedReport:
    """Return what a fit publishes about privacy.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        The mechanism that made the release.
    theta : ndarray of shape (n_coefficients,)
        The released vector.
    spent : PrivacySpent
        What the fit cost, everything it released together.
    ball : L2Ball
        Bound on the rows.
    classes : ndarray of labels
        The label set, sorted.
    feature_names : ndarray of str, or None
        Names of the columns.
    """
    gaussian = isinstance(mechanism.noise_law, GaussianNoise)
    step = mechanism.smoothing
    return PublishedReport(
        adjacency=mechanism.adjacency.value,
        epsilon=spent.epsilon,
        delta=spent.delta,
        rho=_RHO if gaussian else None,
        data_norm=ball.data_norm,
        intercept_scaling=ball.intercept_scaling,
        feature_names=None if feature_names is None else tuple(feature_names),
        classes=tuple(classes.tolist()),
        alpha=mechanism.alpha,
        noise="gaussian" if gaussian else "k-norm",
        noise_scale=mechanism.noise_law.scale,
        gradient_tol=mechanism.gradient_tol,
        smoothing_scale=step.scale,
        smoothing_error=step.error,
        smoothing_step=step.grid,
        theta=tuple(theta.tolist()),
    )
