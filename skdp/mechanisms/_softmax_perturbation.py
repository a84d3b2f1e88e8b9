r"""Objective perturbation for the softmax loss: several classes in one release.

Notation (derived in docs/proofs/softmax_perturbation.md)
---------------------------------------------------------
x        row after clipping, intercept constant included, norm <= R    -> ``radius``
K        number of classes                                      -> ``n_classes``
d        number of coefficients of a class                 -> ``n_coefficients``
Theta    coefficients, shape (K, d), flat class by class: shape (K d,)
alpha    ridge on the SUM of the losses, every coordinate penalised    -> ``alpha``
B        noise of the linear term, shape (K d,)                    -> ``noise_law``
kappa    R^2 / alpha                                            -> ``curvature``
mu       sqrt(2) R / sigma                              -> ``sensitivity_ratio``
tau      public bound on the gradient norm of the solution       -> ``gradient_tol``
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from skdp._typing import FloatArray
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    PureDP,
    SoftmaxPerturbationDP,
)
from skdp.losses import SoftmaxLoss
from skdp.mechanisms._base import AdjacentPair, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._gradient_tol import public_tol
from skdp.mechanisms._hard_classes import hard_class_pairs
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._ridge import GaussianPlan, PurePlan, plan_gaussian, plan_pure
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.mechanisms._softmax_ridge import (
    pure_softmax_loss,
    softmax_mu,
    softmax_ridge,
)
from skdp.mechanisms._tilted_minimiser import TiltedMinimiser
from skdp.rows import PrivateRows
from skdp.solvers import MatrixObjective, Solution

__all__ = ["SoftmaxPerturbation"]

_SOURCE = "joint bound of several classes, docs/proofs/softmax_perturbation.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftmaxPerturbation(TiltedMinimiser):
    r"""Minimise a ridge-penalised sum of softmax losses tilted by one noise vector.

    The ideal release is the exact minimiser of

    .. math:: J(\Theta) = \sum_i f(\Theta x_i; y_i)
        + \tfrac{\alpha}{2}|\Theta|^2 + \langle B, \Theta \rangle ,

    f the softmax loss, a sum over rows, never a mean. What is published is a certified
    approximate minimiser after :class:`LatticeSmoothing`. Build one with
    :meth:`calibrate`.

    Parameters
    ----------
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Coefficients of one class, the intercept's included, >= 1.
    n_classes : int
        Number of declared classes K, from 2 to 10,000. For two the logistic loss of
        :class:`ObjectivePerturbation` needs less noise.
    alpha : float
        Ridge > 0 on the sum of the losses.
    noise_law : GaussianNoise or KNormNoise
        Law of ``B``; Gaussian for delta > 0, K-norm for pure DP.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Privacy
    -------
    A row's gradient is worst where all probability lies on one wrong class, of which
    there are K - 1. Gaussian noise: delta is at most K - 1 times that of one Gaussian
    release of sensitivity sqrt(2) R when a row is added, and when one is removed but
    for what two classes that compete for the row cost in curvature; the smoothing step
    is added by an exact integral. K-norm noise of rate c: pure
    epsilon = sqrt(2) c R for ``alpha >= 4 R^2 / epsilon``, plus the share of the
    smoothing step. Theorems and the rules for replace-one:
    docs/proofs/softmax_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import SoftmaxPerturbation
    >>> mechanism = SoftmaxPerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=5, n_classes=3)
    >>> round(mechanism.alpha, 2), round(mechanism.noise_law.scale, 3)
    (2.14, 7.693)
    >>> mechanism.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    radius: float
    n_coefficients: int
    n_classes: int
    alpha: float
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(0.0 < self.radius < math.inf, "radius must be above 0")
        require(0.0 < self.alpha < math.inf, "alpha must be above 0")
        require(self.n_classes >= 2, "n_classes must be at least 2")
        check_step(self.noise_law, self.smoothing, self.size, self.adjacency)
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
        n_classes: int,
        alpha: float | Literal["auto"] = "auto",
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
            Coefficients of one class.
        n_classes : int
            Number of declared classes, from 2 to 10,000.
        alpha : float or "auto", default="auto"
            Ridge asked for; raised to the privacy floor where it is below: about
            2 R^2 / epsilon with Gaussian noise, 4 R^2 / epsilon for pure DP and twice
            that under replace-one. ``"auto"`` is 1.05 times the floor or, with Gaussian
            noise, the ridge from which on a larger one spares less than three tenths
            of the noise.

        Returns
        -------
        SoftmaxPerturbation
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If a number is out of range.

        Examples
        --------
        >>> from skdp.accounting import PureDP
        >>> from skdp.mechanisms import SoftmaxPerturbation
        >>> pure = SoftmaxPerturbation.calibrate(
        ...     PureDP(1.0), radius=2.0, n_coefficients=3, n_classes=4)
        >>> round(2**0.5 / pure.noise_law.scale, 6)  # 0.99 epsilon / R
        0.495
        """
        require(0.0 < radius < math.inf, "radius must be a finite number above 0")
        loss = SoftmaxLoss(n_classes)
        delta = target.delta_bound if isinstance(target, ApproximateDP) else 0.0
        epsilon, adjacency = target.epsilon_bound, target.adjacency
        plan: GaussianPlan | PurePlan
        if delta > 0.0:
            plan = plan_gaussian(epsilon, delta, adjacency)
        else:
            plan = plan_pure(epsilon, adjacency)
        asked = None if alpha == "auto" else float(alpha)
        goal = (epsilon, delta, loss.n_classes, adjacency)
        ridge = softmax_ridge(asked, plan, goal, radius)
        lipschitz = loss.constants(radius).lipschitz
        noise_law: GaussianNoise | KNormNoise
        if isinstance(plan, GaussianPlan):
            mu = softmax_mu(goal, radius**2 / ridge, plan.smoothing_mu**2 / 2)
            noise_law = GaussianNoise(lipschitz / mu)
        else:
            noise_law = KNormNoise(lipschitz / plan.rate)
        size = loss.n_classes * n_coefficients
        # 2 tau: the certified gradient norm, and as much again for its rounding
        error = 2 * public_tol(lipschitz, noise_law, size) / ridge
        return cls(
            radius=radius,
            n_coefficients=n_coefficients,
            n_classes=loss.n_classes,
            alpha=ridge,
            noise_law=noise_law,
            smoothing=plan.smoothing(error, size, adjacency),
            adjacency=adjacency,
        )

    @property
    def loss(self) -> SoftmaxLoss:
        """The loss of one row."""
        return SoftmaxLoss(self.n_classes)

    @property
    def size(self) -> int:
        """Length of the released vector, K d."""
        return self.n_classes * self.n_coefficients

    @property
    def curvature(self) -> float:
        """Squared norm of a row over the ridge, kappa = R^2 / alpha."""
        return self.radius**2 / self.alpha

    @property
    def sensitivity_ratio(self) -> float:
        """Gradient bound of one row over the noise scale: mu, or sqrt(2) c R."""
        return self.loss.constants(self.radius).lipschitz / self.noise_law.scale

    @property
    def gradient_tol(self) -> float:
        """Public bound tau on the gradient norm at the computed minimiser."""
        lipschitz = self.loss.constants(self.radius).lipschitz
        return public_tol(lipschitz, self.noise_law, self.size)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return self._joint_guarantee(smoothed=True)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact minimiser alone."""
        return self._joint_guarantee(smoothed=False)

    def _joint_guarantee(self, *, smoothed: bool) -> Guarantee:
        row = self.sensitivity_ratio, self.curvature, self.n_classes
        words: dict[str, Any] = {
            "adjacency": self.adjacency,
            "assumptions": self._assumptions(),
            "source": _SOURCE,
        }
        if isinstance(self.noise_law, GaussianNoise):
            rho = self.smoothing.rho if smoothed else 0.0
            return SoftmaxPerturbationDP(*row, rho, **words)
        main = pure_softmax_loss(*row, self.adjacency)
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
    ) -> MatrixObjective:
        """Return J0, or J when the noise vector ``linear`` is given."""
        return MatrixObjective(data, self.loss, self.alpha, linear)

    def _minimised(self, data: PrivateRows, linear: FloatArray) -> Solution:
        objective = self.objective(data, linear)
        return objective.minimise(gradient_tol=self.gradient_tol)

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables that drive a row to a wrong class, and the empty one."""
        return hard_class_pairs(
            self.radius, self.n_coefficients, self.n_classes, self.adjacency
        )

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both noise laws and both relations over classes and epsilon."""
        for adjacency in Adjacency:
            for epsilon, n_classes in ((1.0, 3), (8.0, 2), (0.1, 4)):
                public: dict[str, Any] = {
                    "radius": 1.0,
                    "n_coefficients": 1,
                    "n_classes": n_classes,
                }
                gaussian = ApproximateDP(epsilon, 1e-6, adjacency=adjacency)
                yield cls.calibrate(gaussian, **public)
                yield cls.calibrate(PureDP(epsilon, adjacency=adjacency), **public)
        yield cls.calibrate(
            ApproximateDP(1.0, 1e-6),
            radius=2.0,
            n_coefficients=2,
            n_classes=3,
            alpha=50.0,
        )
        yield cls.calibrate(PureDP(1.0), radius=0.25, n_coefficients=2, n_classes=3)
