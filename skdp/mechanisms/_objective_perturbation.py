r"""Objective perturbation for losses of bounded slope.

Notation (derived in docs/proofs/objective_perturbation.md)
-----------------------------------------------------------
x        row after clipping, intercept constant included, norm <= R    -> ``radius``
theta    coefficient vector, intercept coordinate last, shape (d,)
alpha    ridge on the SUM of the losses, every coordinate penalised    -> ``alpha``
b        noise vector of the linear term, shape (d,)                   -> ``noise_law``
J0       sum of losses plus ridge, without the noise term
L        bound on the slope of the loss
kappa    R^2 / alpha                                            -> ``curvature``
mu       R L / sigma                                        -> ``sensitivity_ratio``
tau      public bound on the gradient norm of the solution       -> ``gradient_tol``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from skdp._typing import FloatArray
from skdp.accounting import Adjacency, ApproximateDP, Guarantee, PureDP
from skdp.losses import (
    LogCoshLoss,
    LogisticLoss,
    PseudoHuberLoss,
    SmoothedQuantileLoss,
    Tilting,
)
from skdp.mechanisms._base import AdjacentPair, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._gradient_tol import public_tol
from skdp.mechanisms._hard_rows import hard_row_pairs
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._ridge import (
    GaussianPlan,
    PurePlan,
    calibrated_mu,
    calibrated_rate,
    chosen_ridge,
    plan_gaussian,
    plan_pure,
)
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.mechanisms._tilt import Tilt
from skdp.mechanisms._tilted_minimiser import TiltedMinimiser
from skdp.rows import PrivateRows
from skdp.solvers import Objective, Solution, minimise

__all__ = ["ObjectivePerturbation", "check_conservative"]

_SOURCE = "joint bound of objective perturbation, docs/proofs/objective_perturbation.md"
_PUBLISHED = "Redberg, Koskela and Wang (2023), with exact smoothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectivePerturbation(TiltedMinimiser):
    r"""Minimise a ridge-penalised sum of losses tilted by one noise vector.

    The ideal release is the exact minimiser of

    .. math:: J(\theta) = \sum_i f(x_i \cdot \theta; y_i)
        + \tfrac{\alpha}{2}|\theta|^2 + b \cdot \theta ,

    a sum over rows, never a mean. What is published is a certified approximate
    minimiser after :class:`LatticeSmoothing`. Build one with :meth:`calibrate`.

    Parameters
    ----------
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Length of theta, intercept coordinate included, >= 1.
    alpha : float
        Ridge > 0 on the sum of the losses.
    noise_law : GaussianNoise or KNormNoise
        Law of ``b``; Gaussian for delta > 0, K-norm for pure DP.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.
    loss : Tilting
        The loss of one row: convex, of bounded slope and curvature. Labels are those
        it expects; the logistic loss by default.
    conservative : bool, default=False
        Whether the guarantee is the published bound, which is larger. Gaussian noise
        and add-remove only.

    Privacy
    -------
    Gaussian noise, logistic loss: for ``alpha >= R^2 / epsilon`` the privacy profile of
    the minimiser equals that of one Gaussian release of a gradient, in both directions
    of the add-remove relation; the smoothing step is added by an exact integral. A loss
    whose slope takes both signs for a label doubles delta when a row is added; one
    whose curvature does not fade with its slope pays for it out of epsilon. K-norm
    noise of rate ``c``: pure epsilon = c R L, and the same payment, plus the share of
    the smoothing step. Theorems and the rules for replace-one:
    docs/proofs/objective_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import ObjectivePerturbation
    >>> mechanism = ObjectivePerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=5)
    >>> round(mechanism.noise_law.scale, 3)
    4.225
    >>> mechanism.guarantee.epsilon(1e-6) <= 1.0
    True
    >>> from skdp.losses import LogCoshLoss
    >>> robust = ObjectivePerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=5, loss=LogCoshLoss())
    >>> round(robust.noise_law.scale / LogCoshLoss().scale, 3)
    4.365
    """

    radius: float
    n_coefficients: int
    alpha: float
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    loss: Tilting = field(default_factory=LogisticLoss)
    conservative: bool = False

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(
            isinstance(self.loss, Tilting), "loss must state the bounds of its slopes"
        )
        require(0.0 < self.radius < math.inf, "radius must be above 0")
        require(0.0 < self.alpha < math.inf, "alpha must be above 0")
        check_step(self.noise_law, self.smoothing, self.n_coefficients, self.adjacency)
        require(
            self.smoothing.error >= 2 * self.gradient_tol / self.alpha * DOWN,
            "smoothing.error must be at least 2 gradient_tol / alpha",
        )
        if self.conservative:
            self._check_published()

    def _check_published(self) -> None:
        """Refuse what the published bound does not speak about."""
        require(
            isinstance(self.noise_law, GaussianNoise)
            and self.adjacency is Adjacency.ADD_REMOVE,
            "the conservative bound is for Gaussian noise and add-remove neighbours",
        )
        require(
            self.curvature * self.loss.bend < 1.0,
            "the conservative bound needs a ridge above one row's curvature",
        )

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP,
        *,
        radius: float,
        n_coefficients: int,
        alpha: float | Literal["auto"] = "auto",
        loss: Tilting | None = None,
        conservative: bool = False,
    ) -> Self:
        """Return the least noisy instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP or ApproximateDP
            What to promise, with its adjacency. ``PureDP`` (or delta = 0) selects the
            K-norm noise, delta > 0 the Gaussian noise.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        alpha : float or "auto", default="auto"
            Ridge asked for; raised to the privacy floor where it is below. ``"auto"``
            is 1.05 times the floor (4 times under replace-one with Gaussian noise), or
            5 times for a loss whose curvature does not fade.
        loss : Tilting, optional
            The loss of one row; :class:`skdp.losses.LogisticLoss` by default.
        conservative : bool, default=False
            Whether to calibrate by the published bound, which asks for a larger ridge
            and more noise: by default 2.4 times the ridge and 1.14 times the noise for
            the logistic loss at (1, 1e-6).

        Returns
        -------
        ObjectivePerturbation
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If a number is out of range, or ``conservative`` is asked for with delta = 0
            or replace-one neighbours.

        Examples
        --------
        >>> from skdp.accounting import PureDP
        >>> from skdp.mechanisms import ObjectivePerturbation
        >>> pure = ObjectivePerturbation.calibrate(
        ...     PureDP(1.0), radius=2.0, n_coefficients=3)
        >>> round(1 / pure.noise_law.scale, 6)  # 0.99 epsilon / R
        0.495
        """
        require(0.0 < radius < math.inf, "radius must be a finite number above 0")
        loss = loss or LogisticLoss()
        delta = target.delta_bound if isinstance(target, ApproximateDP) else 0.0
        epsilon, adjacency = target.epsilon_bound, target.adjacency
        if conservative:
            check_conservative(delta, adjacency)
        plan: GaussianPlan | PurePlan
        if delta > 0.0:
            plan = plan_gaussian(epsilon, delta, adjacency)
        else:
            plan = plan_pure(epsilon, adjacency)
        asked = None if alpha == "auto" else float(alpha)
        ridge = chosen_ridge(asked, plan, loss, radius, conservative=conservative)
        tilt = Tilt(loss, radius**2 / ridge, conservative)
        lipschitz = loss.constants(radius).lipschitz
        noise_law: GaussianNoise | KNormNoise
        if isinstance(plan, GaussianPlan):
            rho = plan.smoothing_mu**2 / 2
            mu = calibrated_mu(epsilon, delta, tilt, rho, adjacency)
            noise_law = GaussianNoise(lipschitz / mu)
        else:
            noise_law = KNormNoise(lipschitz / calibrated_rate(plan, tilt, adjacency))
        # 2 tau: the certified gradient norm, and as much again for its rounding
        error = 2 * public_tol(lipschitz, noise_law, n_coefficients) / ridge
        return cls(
            radius=radius,
            n_coefficients=n_coefficients,
            alpha=ridge,
            noise_law=noise_law,
            smoothing=plan.smoothing(error, n_coefficients, adjacency),
            adjacency=adjacency,
            loss=loss,
            conservative=conservative,
        )

    @property
    def curvature(self) -> float:
        """Curvature of one row over the ridge, kappa = R^2 / alpha."""
        return self.radius**2 / self.alpha

    @property
    def sensitivity_ratio(self) -> float:
        """Gradient bound of one row over the noise scale: mu, or c R for K-norm."""
        return self.loss.constants(self.radius).lipschitz / self.noise_law.scale

    @property
    def gradient_tol(self) -> float:
        """Public bound tau on the gradient norm at the computed minimiser."""
        lipschitz = self.loss.constants(self.radius).lipschitz
        return public_tol(lipschitz, self.noise_law, self.n_coefficients)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return self._joint_guarantee(smoothed=True)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact minimiser alone."""
        return self._joint_guarantee(smoothed=False)

    def _joint_guarantee(self, *, smoothed: bool) -> Guarantee:
        tilt = Tilt(self.loss, self.curvature, self.conservative)
        words: dict[str, Any] = {
            "adjacency": self.adjacency,
            "assumptions": self._assumptions(),
            "source": _PUBLISHED if self.conservative else _SOURCE,
        }
        if isinstance(self.noise_law, GaussianNoise):
            rho = self.smoothing.rho if smoothed else 0.0
            return tilt.guarantee(self.sensitivity_ratio, rho, **words)
        main = tilt.pure_loss(self.sensitivity_ratio, self.adjacency)
        step = self.smoothing.epsilon if smoothed else 0.0
        return PureDP(main + step, **words)

    def _assumptions(self) -> tuple[str, ...]:
        return (
            f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
            "rounding of the computed gradient and of the noise draw "
            f"<= {self.gradient_tol:.3g}",
        )

    def objective(
        self, data: PrivateRows, linear: FloatArray | None = None
    ) -> Objective:
        """Return J0, or J when the noise vector ``linear`` is given."""
        return Objective(data, self.loss, self.alpha, linear)

    def _minimised(self, data: PrivateRows, linear: FloatArray) -> Solution:
        objective = self.objective(data, linear)
        return minimise(objective, gradient_tol=self.gradient_tol)

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield saturated clusters for and against one row, and the empty table."""
        return hard_row_pairs(self.radius, self.n_coefficients, self.adjacency)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both noise laws and both relations over the range of epsilon."""
        for adjacency in Adjacency:
            for epsilon in (0.1, 1.0, 8.0):
                yield cls.calibrate(
                    ApproximateDP(epsilon, 1e-6, adjacency=adjacency),
                    radius=1.0,
                    n_coefficients=1,
                )
                yield cls.calibrate(
                    PureDP(epsilon, adjacency=adjacency), radius=1.0, n_coefficients=1
                )
        yield cls.calibrate(
            ApproximateDP(1.0, 1e-6), radius=2.0, n_coefficients=2, alpha=50.0
        )
        yield cls.calibrate(PureDP(1.0), radius=0.25, n_coefficients=2)
        yield from cls._instances_of_other_losses()

    @classmethod
    def _instances_of_other_losses(cls) -> Iterator[Self]:
        """Yield smooth losses in one dimension, where the law can be integrated."""
        public: dict[str, Any] = {"radius": 1.0, "n_coefficients": 1}
        yield cls.calibrate(ApproximateDP(1.0, 1e-6), loss=LogCoshLoss(), **public)
        yield cls.calibrate(PureDP(1.0), loss=PseudoHuberLoss(), **public)
        quantile = SmoothedQuantileLoss(quantile=0.9)
        yield cls.calibrate(ApproximateDP(4.0, 1e-6), loss=quantile, **public)


def check_conservative(delta: float, adjacency: Adjacency) -> None:
    """Refuse targets that the published bound does not speak about."""
    if delta == 0.0 or adjacency is not Adjacency.ADD_REMOVE:
        raise ValueError(
            "conservative=True does not fit the target, got "
            f"delta={delta:g} and adjacency={str(adjacency)!r}. Allowed: delta > 0 and "
            "'add-remove', as in the published theorem. Use conservative=False."
        )
