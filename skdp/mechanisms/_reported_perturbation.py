r"""Objective perturbation with a noisy Hessian, or gradient as well, at its answer.

Notation (derived in docs/proofs/reported_perturbation.md)
----------------------------------------------------------
theta    released coefficients, shape (d,); theta* the exact minimiser
J0       sum of losses plus ridge, without the noise term
s3, s2   noise scales of the Hessian and of the gradient of J0 at theta
                                          -> ``hessian_scale``, ``gradient_scale``
mu3      (R^2 / 4) / s3                                           -> ``hessian_mu``
mu2      R / s2                                                  -> ``gradient_mu``
xi       bound on how far theta moves a margin from theta*      -> ``margin_reach``
beta     share of the noise that pays for that move
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_choice
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    Guarantee,
    ReportedPerturbationDP,
)
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._noisy_gradient import NoisyGradient
from skdp.mechanisms._noisy_hessian import NoisyHessian
from skdp.mechanisms._noisy_statistic import NoisyStatistic
from skdp.mechanisms._objective_perturbation import ObjectivePerturbation
from skdp.mechanisms._reported_calibration import (
    refuse_others,
    reported_fields,
    shared_mu,
    with_room,
)
from skdp.mechanisms._ridge import plan_gaussian
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.random._symmetric import lower_triangle, symmetric, triangle_size
from skdp.rows import PrivateRows

__all__ = ["ReportedObjectivePerturbation", "ReportedRelease"]

_SOURCE = "joint bound of reported perturbation, docs/proofs/reported_perturbation.md"
_LEVELS = ("hessian", "gradient")
#: Lattice noise stays within so many scales but with probability below 1e-313.
_WIDTHS = 38.0
#: Share of a statistic's noise variance that hides the move from theta* to theta.
_MOVED = 2.0**-10
#: Largest change of slope p and curvature p (1 - p) of the logistic loss, a unit of
#: margin.
_SLOPE_CHANGE, _CURVATURE_CHANGE = 1.0 / 4, 1.0 / (6 * math.sqrt(3.0))


class ReportedRelease(NamedTuple):
    """What a release consists of.

    Parameters
    ----------
    theta : ndarray of shape (n_coefficients,)
        Coefficients, the intercept's last.
    hessian : ndarray of shape (n_coefficients, n_coefficients)
        Noisy Hessian of sum of losses and ridge at ``theta``, symmetric.
    gradient : ndarray of shape (n_coefficients,), or None
        Noisy gradient there, without the noise term of the objective.
    """

    theta: FloatArray
    hessian: FloatArray
    gradient: FloatArray | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedObjectivePerturbation(Mechanism[PrivateRows, FloatArray]):
    r"""Release noisy coefficients, and a noisy Hessian of the objective there.

    On request a noisy gradient as well. From these numbers anyone can bound what the
    release cost a person. Both derivatives are those of the sum of losses and ridge,
    taken at the *released* coefficients. Build one with :meth:`calibrate`.

    Parameters
    ----------
    main : ObjectivePerturbation
        Releases the coefficients; Gaussian noise, add-remove.
    hessian_scale : float
        Standard deviation > 0 of the noise of a diagonal entry of the Hessian.
    hessian_smoothing : LatticeSmoothing
        The finite-precision step of its lower triangle.
    gradient_scale : float, optional
        Standard deviation > 0 of the noise of the gradient; None releases none.
    gradient_smoothing : LatticeSmoothing, optional
        The finite-precision step of the gradient, where one is released.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    What one row adds to the objective, its gradient and its Hessian is a function of
    one slope, so all releases are bounded together, as a
    :class:`skdp.accounting.ReportedPerturbationDP`. Every smoothing step is added, and
    the move from the exact minimiser to the released point. At the default share and
    epsilon from 0.1 to 100 the Hessian costs less than 0.3 % of the noise, the gradient
    2.6 % more. Proof in docs/proofs/reported_perturbation.md.

    References
    ----------
    Redberg and Wang (2021), Privately publishable per-instance privacy.

    Examples
    --------
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import ReportedObjectivePerturbation
    >>> mechanism = ReportedObjectivePerturbation.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=5)
    >>> round(mechanism.main.noise_law.scale, 3), round(mechanism.hessian_scale, 3)
    (4.231, 4.723)
    >>> mechanism.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    main: ObjectivePerturbation
    hessian_scale: float
    hessian_smoothing: LatticeSmoothing
    gradient_scale: float | None = None
    gradient_smoothing: LatticeSmoothing | None = None

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        require(
            isinstance(self.main.noise_law, GaussianNoise),
            "main.noise_law must be GaussianNoise",
        )
        require(
            self.main.adjacency is Adjacency.ADD_REMOVE,
            "main.adjacency must be add-remove",
        )
        require(
            (self.gradient_scale is None) is (self.gradient_smoothing is None),
            "gradient_scale and gradient_smoothing go together",
        )
        # these refuse scales and steps that do not fit
        self.statistics(np.zeros(self.n_coefficients))

    @classmethod
    def calibrate(
        cls,
        target: ApproximateDP,
        *,
        radius: float,
        n_coefficients: int,
        alpha: float | Literal["auto"] = "auto",
        level: Literal["hessian", "gradient"] = "hessian",
    ) -> Self:
        """Return an instance whose releases together meet the target.

        With mu the size of a Gaussian release that has the target, each statistic gets
        noise for 0.05 of mu^2, and the coefficients the least noise with which the
        whole still meets the target.

        Parameters
        ----------
        target : ApproximateDP
            What to promise, for all releases together; delta > 0, add-remove.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        alpha : float or "auto", default="auto"
            Ridge asked for; raised to the privacy floor of the coefficients alone where
            it is below. ``"auto"`` is 1.05 times the floor.
        level : {"hessian", "gradient"}, default="hessian"
            Whether the Hessian is reported, or the gradient as well.

        Returns
        -------
        ReportedObjectivePerturbation
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If delta is 0, the relation is replace-one, a number is out of range, or the
            target is too small for a report (epsilon = 1e-6 and delta = 1e-200).

        Examples
        --------
        >>> from skdp.accounting import ApproximateDP
        >>> from skdp.mechanisms import ReportedObjectivePerturbation
        >>> mechanism = ReportedObjectivePerturbation.calibrate(
        ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=5,
        ...     level="gradient")
        >>> round(mechanism.main.noise_law.scale, 3)
        4.341
        >>> round(mechanism.gradient_scale, 3)
        18.893
        """
        remedy = "Choose what is released beside the coefficients."
        check_choice("level", level, _LEVELS, remedy=remedy)
        refuse_others(target)
        epsilon, delta = target.epsilon_bound, target.delta_bound
        main = ObjectivePerturbation.calibrate(
            target, radius=radius, n_coefficients=n_coefficients, alpha=alpha
        )
        step_mu = plan_gaussian(epsilon, delta, target.adjacency).smoothing_mu
        main = replace(main, smoothing=with_room(main.smoothing, step_mu))
        draft = cls(main=main, **reported_fields(main, target, step_mu, level))
        mu = shared_mu(draft._joint_guarantee(smoothed=True), epsilon, delta)
        return replace(draft, main=replace(main, noise_law=GaussianNoise(radius / mu)))

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee."""
        return self.main.adjacency

    @property
    def n_coefficients(self) -> int:
        """Length of theta."""
        return self.main.n_coefficients

    @property
    def smoothing(self) -> LatticeSmoothing:
        """The finest smoothing step: every released number lies on its lattice."""
        return min(self._steps(), key=lambda step: step.grid)

    @property
    def hessian_mu(self) -> float:
        """Curvature bound of one row over the noise scale of the Hessian."""
        return (
            self.main.loss.constants(self.main.radius).smoothness / self.hessian_scale
        )

    @property
    def gradient_mu(self) -> float:
        """Slope bound of one row over the noise scale of the gradient; 0 for none."""
        if self.gradient_scale is None:
            return 0.0
        return (
            self.main.loss.constants(self.main.radius).lipschitz / self.gradient_scale
        )

    @property
    def margin_reach(self) -> float:
        """Bound xi on how far the released point moves a margin from the exact one.

        It fails with probability below 1e-313.
        """
        step = self.main.smoothing
        rounding = step.grid * math.sqrt(step.n_features) / 2
        return self.main.radius * (step.error + rounding + _WIDTHS * step.scale)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all releases together, smoothing steps included."""
        return self._joint_guarantee(smoothed=True)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact minimiser and real-valued derivatives there."""
        return self._joint_guarantee(smoothed=False)

    def _joint_guarantee(self, *, smoothed: bool) -> ReportedPerturbationDP:
        rho, kept = 0.0, 1.0
        if smoothed:
            rho = math.fsum(step.rho for step in self._steps()) + self._moved_rho()
            kept = math.sqrt(1.0 - _MOVED)
        return ReportedPerturbationDP(
            self.main.sensitivity_ratio,
            self.main.curvature,
            self.hessian_mu / kept,
            self.gradient_mu / kept,
            rho,
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=_SOURCE,
        )

    def _moved_rho(self) -> float:
        """Return the zCDP cost of taking the derivatives not at the exact minimiser."""
        curvature = 4 * self.hessian_mu * _CURVATURE_CHANGE
        slope = self.gradient_mu * _SLOPE_CHANGE
        return (curvature**2 + slope**2) * self.margin_reach**2 / (2 * _MOVED)

    def _assumptions(self) -> tuple[str, ...]:
        at_zero = self.statistics(np.zeros(self.n_coefficients))
        texts = [self.main.guarantee, *(part.guarantee for part in at_zero)]
        every = (text for guarantee in texts for text in guarantee.assumptions)
        return tuple(dict.fromkeys(every))

    def _steps(self) -> tuple[LatticeSmoothing, ...]:
        steps = self.main.smoothing, self.hessian_smoothing, self.gradient_smoothing
        return tuple(step for step in steps if step is not None)

    def statistics(self, theta: FloatArray) -> tuple[NoisyStatistic, ...]:
        """Return the mechanisms of the Hessian, and of the gradient if there is one.

        Parameters
        ----------
        theta : ndarray of shape (n_coefficients,)
            The released coefficients.

        Returns
        -------
        tuple of NoisyHessian and NoisyGradient
        """
        main, point = self.main, tuple(theta.tolist())
        hessian = NoisyHessian(
            theta=point,
            radius=main.radius,
            alpha=main.alpha,
            scale=self.hessian_scale,
            smoothing=self.hessian_smoothing,
            loss=main.loss,
        )
        if self.gradient_scale is None or self.gradient_smoothing is None:
            return (hessian,)
        gradient = NoisyGradient(
            theta=point,
            radius=main.radius,
            alpha=main.alpha,
            scale=self.gradient_scale,
            smoothing=self.gradient_smoothing,
            loss=main.loss,
        )
        return hessian, gradient

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Release the coefficients, then the derivatives at what was released.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels in {-1, 0, +1}; clipped to the radius by their own ball.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` is one vector: theta, the lower triangle of the Hessian row by
            row, and the gradient where there is one; :meth:`split` takes it apart.
            ``diagnostics`` are NOT private.

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        main = self.main.release(data, source)
        parts = [main.output]
        parts.extend(
            _flat(statistic.release(data, source).output)
            for statistic in self.statistics(main.output)
        )
        return Release(
            output=np.concatenate(parts),
            spent=self.guarantee,
            diagnostics=main.diagnostics,
        )

    def split(self, output: FloatArray) -> ReportedRelease:
        """Take the vector of a release apart.

        Parameters
        ----------
        output : ndarray of shape (n,)
            From :meth:`release`.

        Returns
        -------
        ReportedRelease

        Raises
        ------
        ValueError
            If the vector has another length.
        """
        d = self.n_coefficients
        ends = [d, d + triangle_size(d)]
        length = ends[1] if self.gradient_scale is None else ends[1] + d
        if output.shape != (length,):
            raise ValueError(
                f"output is not a vector of this mechanism, got shape {output.shape}. "
                f"Allowed: ({length},). Pass the output of its release."
            )
        theta, triangle, gradient = np.split(output, ends)
        return ReportedRelease(
            theta, symmetric(triangle, d), gradient if gradient.size else None
        )

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover all noise: of the objective, of the Hessian, of the gradient."""
        theta, *derivatives = (part for part in self.split(output) if part is not None)
        parts = [self.main.noise(theta, data)]
        parts.extend(
            statistic.noise(value, data)
            for statistic, value in zip(
                self.statistics(theta), derivatives, strict=True
            )
        )
        return np.concatenate(parts)

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of exact minimiser and derivatives there.

        The Hessian counts in the coordinates in which its noise is isotropic.
        """
        theta, *derivatives = (part for part in self.split(output) if part is not None)
        total = self.main.log_density(theta, data)
        for statistic, value in zip(self.statistics(theta), derivatives, strict=True):
            total += statistic.log_density(value, data)
        return total

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables against the row or balanced, where it is steep or round."""
        bases = ("empty", "one against", "ten against", "ten balanced")
        names = {f"{base}, +" for base in bases}
        return (pair for pair in self.main.hard_pairs() if pair.name in names)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both levels, small and large epsilon, and a Hessian of little noise."""
        levels: tuple[Literal["hessian", "gradient"], ...] = ("hessian", "gradient")
        for level, epsilon, d in zip(levels, (0.1, 8.0), (1, 2), strict=True):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, radius=1.0, n_coefficients=d, level=level)
        usual = cls.calibrate(
            ApproximateDP(1.0, 1e-6), radius=2.0, n_coefficients=1, level="gradient"
        )
        yield replace(usual, hessian_scale=usual.hessian_scale / 6)


def _flat(statistic: FloatArray) -> FloatArray:
    """Return a gradient, or the lower triangle of a Hessian."""
    return lower_triangle(statistic) if statistic.ndim == 2 else statistic
