r"""Objective perturbation for the logistic loss.

Notation (derived in docs/proofs/objective_perturbation.md)
-----------------------------------------------------------
x        row after clipping, intercept constant included, norm <= R    -> ``radius``
theta    coefficient vector, intercept coordinate last, shape (d,)
alpha    ridge on the SUM of the losses, every coordinate penalised    -> ``alpha``
b        noise vector of the linear term, shape (d,)                   -> ``noise_law``
J0       sum of losses plus ridge, without the noise term
kappa    R^2 / alpha                                            -> ``curvature``
mu       R / sigma                                          -> ``sensitivity_ratio``
tau      public bound on the gradient norm of the solution       -> ``gradient_tol``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    ObjectivePerturbationDP,
    PureDP,
)
from skdp.losses import LogisticLoss
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._hard_rows import hard_row_pairs
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._ridge import (
    GaussianPlan,
    PurePlan,
    calibrated_mu,
    plan_gaussian,
    plan_pure,
)
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.solvers import Objective, minimise

__all__ = ["ObjectivePerturbation"]

_SOURCE = "joint bound of objective perturbation, docs/proofs/objective_perturbation.md"
#: tau in units of the gradient bound of one row ...
_RELATIVE_TOL = 1e-8
#: ... unless the noise is so large (epsilon below about 1e-5) that its own rounding
#: would exceed that: then in units of the noise.
_NOISE_TOL = 2.0**-48


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectivePerturbation(Mechanism[PrivateRows, FloatArray]):
    r"""Minimise a ridge-penalised logistic objective tilted by one noise vector.

    The ideal release is the exact minimiser of

    .. math:: J(\theta) = \sum_i \log(1 + e^{-y_i x_i \cdot \theta})
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
    loss : LogisticLoss
        The loss of one row.

    Privacy
    -------
    Gaussian noise: for ``alpha >= R^2 / epsilon`` the privacy profile of the minimiser
    equals that of one Gaussian release of a gradient, in both directions of the
    add-remove relation; the smoothing step is added by an exact integral. K-norm noise
    of rate ``c``: pure epsilon = c R plus the share of the smoothing step. Theorems and
    the rules for replace-one: docs/proofs/objective_perturbation.md.

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
    """

    radius: float
    n_coefficients: int
    alpha: float
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    loss: LogisticLoss = field(default_factory=LogisticLoss)

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(type(self.loss) is LogisticLoss, "the proof is for the logistic loss")
        require(0.0 < self.radius < math.inf, "radius must be above 0")
        require(0.0 < self.alpha < math.inf, "alpha must be above 0")
        check_step(self.noise_law, self.smoothing, self.n_coefficients, self.adjacency)
        require(
            self.smoothing.error >= 2 * self.gradient_tol / self.alpha * DOWN,
            "smoothing.error must be at least 2 gradient_tol / alpha",
        )

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP,
        *,
        radius: float,
        n_coefficients: int,
        alpha: float | Literal["auto"] = "auto",
        loss: LogisticLoss | None = None,
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
            is 1.05 times the floor (4 times under replace-one with Gaussian noise).
        loss : LogisticLoss, optional
            The loss of one row.

        Returns
        -------
        ObjectivePerturbation
            Its ``guarantee`` implies ``target``.

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
        delta = target.delta_bound if isinstance(target, ApproximateDP) else 0.0
        epsilon, adjacency = target.epsilon_bound, target.adjacency
        plan: GaussianPlan | PurePlan
        if delta > 0.0:
            plan = plan_gaussian(epsilon, delta, adjacency)
        else:
            plan = plan_pure(epsilon, adjacency)
        if alpha == "auto":
            ridge = radius**2 / plan.curvature_auto
        else:
            ridge = max(float(alpha), radius**2 / plan.curvature_limit)
        noise_law: GaussianNoise | KNormNoise
        if isinstance(plan, GaussianPlan):
            rho = plan.smoothing_mu**2 / 2
            mu = calibrated_mu(epsilon, delta, radius**2 / ridge, rho, adjacency)
            noise_law = GaussianNoise(radius / mu)
        else:
            noise_law = KNormNoise(radius / plan.rate)
        # 2 tau: the certified gradient norm, and as much again for its rounding
        error = 2 * _gradient_tol(radius, noise_law, n_coefficients) / ridge
        return cls(
            radius=radius,
            n_coefficients=n_coefficients,
            alpha=ridge,
            noise_law=noise_law,
            smoothing=_smoothing(plan, error, n_coefficients, adjacency),
            adjacency=adjacency,
            loss=loss or LogisticLoss(),
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
        return _gradient_tol(self.radius, self.noise_law, self.n_coefficients)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return self._joint_guarantee(smoothed=True)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact minimiser alone."""
        return self._joint_guarantee(smoothed=False)

    def _joint_guarantee(self, *, smoothed: bool) -> Guarantee:
        if isinstance(self.noise_law, GaussianNoise):
            return ObjectivePerturbationDP(
                self.sensitivity_ratio,
                self.curvature,
                self.smoothing.rho if smoothed else 0.0,
                adjacency=self.adjacency,
                assumptions=self._assumptions(),
                source=_SOURCE,
            )
        main = _pure_loss(self.sensitivity_ratio, self.curvature)
        if self.adjacency is Adjacency.REPLACE_ONE:
            main *= 2  # one removal and one addition
        return PureDP(
            main + (self.smoothing.epsilon if smoothed else 0.0),
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def _assumptions(self) -> tuple[str, ...]:
        return (
            f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
            "rounding of the computed gradient and of the noise draw "
            f"<= {self.gradient_tol:.3g}",
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw the noise, solve to the public tolerance, smooth, and publish.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels in {-1, 0, +1}; clipped to ``radius`` by their own ball.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (n_coefficients,). ``diagnostics`` are NOT private.

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        check_rows(self, data)
        b = self.noise_law.draw(self.n_coefficients, source)
        solution = minimise(self.objective(data, b), gradient_tol=self.gradient_tol)
        smoothed = self.smoothing.release(solution.x, source)
        return Release(
            output=smoothed.output,
            spent=self.guarantee,
            diagnostics={
                "minimiser": solution.x,
                "gradient_norm": solution.gradient_norm,
                "n_passes": solution.n_passes,
            },
        )

    def objective(
        self, data: PrivateRows, linear: FloatArray | None = None
    ) -> Objective:
        """Return J0, or J when the noise vector ``linear`` is given."""
        return Objective(data, self.loss, self.alpha, linear)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover ``b = -grad J0(theta)``, the noise that makes ``output`` optimal."""
        gradient: FloatArray = self.objective(data).gradient(output)
        return -gradient

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the exact minimiser: noise density times the Jacobian."""
        gradient, hessian = self.objective(data).gradient_hessian(output)
        _, log_det = np.linalg.slogdet(hessian)
        return self.noise_law.log_density(-gradient) + float(log_det)

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


def _smoothing(
    plan: GaussianPlan | PurePlan, error: float, n_features: int, adjacency: Adjacency
) -> LatticeSmoothing:
    if isinstance(plan, GaussianPlan):
        return LatticeSmoothing.concentrated(
            error=error,
            n_features=n_features,
            mu=plan.smoothing_mu,
            adjacency=adjacency,
        )
    return LatticeSmoothing.pure(
        error=error,
        n_features=n_features,
        epsilon=plan.smoothing_epsilon,
        adjacency=adjacency,
    )


def _gradient_tol(
    radius: float, noise_law: GaussianNoise | KNormNoise, n_coefficients: int
) -> float:
    """Return tau, a function of public numbers; the logistic loss has L = 1."""
    noise = noise_law.typical_norm(n_coefficients)
    return max(_RELATIVE_TOL * radius, _NOISE_TOL * noise)


def _pure_loss(c: float, kappa: float) -> float:
    r"""Bound :math:`\sup_p \log(1 + \kappa p(1-p)) + c p` over p in [0, 1].

    Equals ``c`` for kappa <= c. Beyond, the smaller of two bounds:
    log(1 + u) <= u turns the sum into a parabola, and p(1-p) <= 1/4 splits it.
    """
    if kappa <= c:
        return c
    return min((kappa + c) ** 2 / (4 * kappa), c + math.log1p(kappa / 4))
