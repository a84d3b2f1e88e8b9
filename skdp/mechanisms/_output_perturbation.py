r"""Output perturbation: the minimiser of a ridge-penalised sum of losses, plus noise.

Notation (derived in docs/proofs/output_perturbation.md)
--------------------------------------------------------
x        row after clipping, intercept constant included, norm <= R    -> ``radius``
theta    coefficient vector, intercept coordinate last, shape (d,)
J        sum of losses plus ridge
alpha    ridge on the SUM of the losses, every coordinate penalised    -> ``alpha``
G        largest gradient norm of one row's loss on the domain      -> ``lipschitz``
k        1 under add-remove, 2 under replace-one                 -> ``multiplicity``
tau      public bound on the gradient (mapping) at the solution     -> ``gradient_tol``
S        L2 sensitivity of the computed minimiser               -> ``l2_sensitivity``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from skdp._typing import FloatArray
from skdp._validation import check_positive
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
)
from skdp.losses import HuberLoss, LogisticLoss, Loss, SquaredLoss
from skdp.mechanisms._additive import RELATIVE_ERROR, AdditiveNoise
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release
from skdp.mechanisms._calibration import DOWN, analytic_mu
from skdp.mechanisms._gaussian import GaussianMechanism
from skdp.mechanisms._gibbs_calibration import TYPICAL_REACH, Ridge, pure_mu
from skdp.mechanisms._k_norm import KNormMechanism
from skdp.mechanisms._noise import GaussianNoise, KNormNoise
from skdp.mechanisms._pushed_rows import pushed_row_pairs
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.samplers import Ball
from skdp.solvers import Objective, minimise, minimise_on_ball

__all__ = ["OutputPerturbation", "default_ridge"]

#: tau in units of the gradient bound of one row ...
_RELATIVE_TOL = 1e-8
#: ... unless the ridge's own gradient on a ball is so large that its rounding would
#: exceed that: then in units of that gradient.
_RIDGE_TOL = 2.0**-45
#: Share of a mu that pays for the smoothing step, whose tail is heavier than its share.
_MU_SHARE = 0.01
#: Largest mu of a smoothing step.
_MOST_MU_OUT = 0.125

Target = PureDP | ApproximateDP | GaussianDP


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputPerturbation(Mechanism[PrivateRows, FloatArray]):
    r"""Minimise a ridge-penalised sum of losses, add spherical noise, and smooth.

    The minimiser is that of

    .. math:: J(\theta) = \sum_i f(x_i \cdot \theta; y_i) + \tfrac\alpha2|\theta|^2

    on the whole space or on a public ball, a sum over rows, never a mean. Build one
    with :meth:`calibrate`.

    Parameters
    ----------
    loss : Loss
        The loss of one row; one of unbounded slope needs a ball.
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Length of theta, intercept coordinate included, >= 1.
    alpha : float
        Ridge > 0 on the sum of the losses.
    noise_law : GaussianNoise or KNormNoise
        The noise; Gaussian for delta > 0, K-norm for pure DP.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    gradient_tol : float
        Public bound tau > 0 on the norm of the gradient at the computed minimiser; with
        a ball, of the gradient mapping.
    ball : Ball, optional
        Domain of theta; the whole space without it.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Raises
    ------
    ValueError
        If the fields do not fit, the centre of the ball has another length, or a loss
        of unbounded slope has no ball.

    Privacy
    -------
    The computed minimiser has L2 sensitivity S = k G / alpha + 2 tau / alpha, and
    k G / alpha + 4 tau / alpha with a ball, by strong convexity; k is 1 under
    add-remove and 2 under replace-one. Noise and smoothing step are those of the
    Gaussian or the K-norm mechanism at S. Proof in docs/proofs/output_perturbation.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import OutputPerturbation
    >>> mechanism = OutputPerturbation.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=5, alpha=20.0)
    >>> round(mechanism.noise_law.scale, 6)  # G / (0.99 epsilon alpha)
    0.050505
    >>> mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    """

    loss: Loss
    radius: float
    n_coefficients: int
    alpha: float
    noise_law: GaussianNoise | KNormNoise
    smoothing: LatticeSmoothing
    gradient_tol: float
    ball: Ball | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        for name in ("radius", "alpha", "gradient_tol"):
            remedy = "Build the mechanism with calibrate."
            check_positive(name, getattr(self, name), remedy=remedy)
        _check_domain(self.loss, self.radius, self.n_coefficients, self.ball)
        # its fields are checked against each other as those of any noisy vector
        _ = self.noisy_vector

    @classmethod
    def calibrate(
        cls,
        target: Target,
        *,
        loss: Loss,
        radius: float,
        n_coefficients: int,
        alpha: Ridge = "auto",
        ball: Ball | None = None,
    ) -> Self:
        """Return the least noisy instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP, ApproximateDP or GaussianDP
            What to promise, with its adjacency. ``PureDP`` (or delta = 0) selects the
            K-norm noise, the others the Gaussian noise.
        loss : Loss
            The loss of one row.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        alpha : float or "auto", default="auto"
            Ridge on the sum of the losses. ``"auto"`` is sqrt(d) G / (mu W) with the mu
            of the target and W the radius of the ball (3 / R without one): noise then
            spreads over about W.
        ball : Ball, optional
            Domain of theta.

        Returns
        -------
        OutputPerturbation
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If a number is out of range, or a loss of unbounded slope has no ball.

        Examples
        --------
        >>> from skdp.accounting import GaussianDP
        >>> from skdp.losses import SquaredLoss
        >>> from skdp.mechanisms import OutputPerturbation
        >>> from skdp.samplers import Ball
        >>> mechanism = OutputPerturbation.calibrate(
        ...     GaussianDP(0.5), loss=SquaredLoss(), radius=1.0, n_coefficients=2,
        ...     alpha=10.0, ball=Ball.around_zero(2, 3.0))
        >>> mechanism.lipschitz, round(mechanism.noise_law.scale, 3)
        (4.0, 0.816)
        """
        radius = check_positive("radius", radius, remedy="Clip the rows to it.")
        _check_domain(loss, radius, n_coefficients, ball)
        lipschitz = _lipschitz(loss, radius, ball)
        if alpha == "auto":
            width = TYPICAL_REACH / radius if ball is None else ball.radius
            alpha = default_ridge(target, lipschitz, n_coefficients, width)
        remedy = "Use alpha='auto', or a ridge on the sum of the losses."
        ridge = check_positive("alpha", alpha, remedy=remedy)
        tol = _RELATIVE_TOL * lipschitz
        if ball is not None:
            tol = max(tol, _RIDGE_TOL * ridge * ball.reach)
        noisy = _noisy_vector(
            target,
            _sensitivity(lipschitz, ridge, tol, ball, target.adjacency),
            n_coefficients,
        )
        return cls(
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            alpha=ridge,
            noise_law=noisy.noise_law,
            smoothing=noisy.smoothing,
            gradient_tol=tol,
            ball=ball,
            adjacency=target.adjacency,
        )

    @property
    def multiplicity(self) -> float:
        """1 under add-remove, 2 under replace-one: one row less and one row more."""
        return _multiplicity(self.adjacency)

    @property
    def lipschitz(self) -> float:
        """Largest gradient norm of one row's loss on the domain."""
        return _lipschitz(self.loss, self.radius, self.ball)

    @property
    def l2_sensitivity(self) -> float:
        """Bound S on the L2 distance of the computed minimisers of neighbours."""
        return _sensitivity(
            self.lipschitz, self.alpha, self.gradient_tol, self.ball, self.adjacency
        )

    @property
    def noisy_vector(self) -> AdditiveNoise:
        """The mechanism that adds the noise to the minimiser, and smooths."""
        gaussian = isinstance(self.noise_law, GaussianNoise)
        kind = GaussianMechanism if gaussian else KNormMechanism
        return kind(
            l2_sensitivity=self.l2_sensitivity,
            n_features=self.n_coefficients,
            noise_law=self.noise_law,
            smoothing=self.smoothing,
            adjacency=self.adjacency,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return replace(
            self.noisy_vector.guarantee,
            assumptions=self._assumptions(),
            source="output perturbation, docs/proofs/output_perturbation.md",
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the computed minimiser plus real-valued noise."""
        return self.noisy_vector.ideal_guarantee

    def _assumptions(self) -> tuple[str, ...]:
        what = "gradient" if self.ball is None else "gradient mapping"
        return (
            f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
            f"rounding of the computed {what} <= {self.gradient_tol / 2:.3g}",
            "rounding of the minimiser and of the noise added "
            f"<= {self.smoothing.error:.3g}",
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Solve to the public tolerance, add the noise, smooth, and publish.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels, or targets, that the loss understands.
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
        minimiser = self.minimiser(data)
        return Release(
            output=self.noisy_vector.release(minimiser, source).output,
            spent=self.guarantee,
            diagnostics={"minimiser": minimiser},
        )

    def minimiser(self, data: PrivateRows) -> FloatArray:
        """Return the computed minimiser: NOT private.

        There is no limit on passes, no fallback and no refusal: each would be a second
        answer, far from the first, and which of the two is given depends on the rows.

        Parameters
        ----------
        data : PrivateRows

        Returns
        -------
        ndarray of shape (n_coefficients,)
        """
        check_rows(self, data)
        objective = Objective(data, self.loss, self.alpha)
        # the other half of tau is for the rounding of the computed gradient
        tol = self.gradient_tol / 2
        if self.ball is None:
            return minimise(objective, gradient_tol=tol).x
        center, radius = self.ball.midpoint, self.ball.radius
        return minimise_on_ball(objective, center, radius, mapping_tol=tol).x

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover the noise: output minus minimiser."""
        noise: FloatArray = output - self.minimiser(data)
        return noise

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log density on one data set; the minimiser is found once."""
        minimiser = self.minimiser(data)
        return lambda output: self.noise_law.log_density(output - minimiser)

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the computed minimiser plus real-valued noise."""
        return self.log_density_on(data)(output)

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables whose minimiser one row more moves by nearly G / alpha."""
        return pushed_row_pairs(self)

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both noise laws, both relations, with and without a ball."""
        for adjacency in Adjacency:
            for epsilon in (0.1, 8.0):
                yield cls.calibrate(
                    PureDP(epsilon, adjacency=adjacency),
                    loss=LogisticLoss(),
                    radius=1.0,
                    n_coefficients=1,
                    alpha=0.25,
                )
            yield cls.calibrate(
                ApproximateDP(1.0, 1e-6, adjacency=adjacency),
                loss=HuberLoss(target_bound=5.0, scale=0.3),
                radius=2.0,
                n_coefficients=1,
                alpha=2.0,
            )
        yield cls.calibrate(
            PureDP(1.0),
            loss=SquaredLoss(),
            radius=1.0,
            n_coefficients=1,
            alpha=60.0,
            ball=Ball.around_zero(1, 0.5),
        )
        yield cls.calibrate(
            GaussianDP(2.0),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=2,
            alpha=1.0,
        )


def default_ridge(
    target: Target, lipschitz: float, n_coefficients: int, width: float
) -> float:
    """Return sqrt(d) G / (mu W), the ridge of Gaussian noise as wide as W."""
    if isinstance(target, GaussianDP):
        mu = target.mu
    elif isinstance(target, PureDP) or target.delta_bound == 0.0:
        mu = pure_mu(target.epsilon_bound)
    else:
        mu = analytic_mu(target.epsilon_bound, target.delta_bound)
    return math.sqrt(n_coefficients) * lipschitz / (mu * width)


def _noisy_vector(target: Target, sensitivity: float, d: int) -> AdditiveNoise:
    """Return the least noisy mechanism for a vector of known sensitivity."""
    if isinstance(target, GaussianDP):
        return _gaussian_vector(target, sensitivity, d)
    relation, epsilon = target.adjacency, target.epsilon_bound
    if isinstance(target, PureDP) or target.delta_bound == 0.0:
        pure = PureDP(epsilon, adjacency=relation)
        return KNormMechanism.calibrate(pure, l2_sensitivity=sensitivity, n_features=d)
    return GaussianMechanism.calibrate(target, l2_sensitivity=sensitivity, n_features=d)


def _gaussian_vector(target: GaussianDP, sensitivity: float, d: int) -> AdditiveNoise:
    share = _MU_SHARE * target.mu
    sigma = sensitivity / ((target.mu - 2 * share) * DOWN)
    step = LatticeSmoothing.concentrated(
        error=RELATIVE_ERROR * sigma,
        n_features=d,
        mu=min(share / 2, _MOST_MU_OUT),
        adjacency=target.adjacency,
    )
    return GaussianMechanism(
        l2_sensitivity=sensitivity,
        n_features=d,
        noise_law=GaussianNoise(sigma),
        smoothing=step,
        adjacency=target.adjacency,
    )


def _multiplicity(adjacency: Adjacency) -> float:
    return 2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0


def _lipschitz(loss: Loss, radius: float, ball: Ball | None) -> float:
    reach = None if ball is None else ball.reach
    return loss.constants(radius, radius=reach).lipschitz


def _sensitivity(
    lipschitz: float,
    alpha: float,
    gradient_tol: float,
    ball: Ball | None,
    adjacency: Adjacency,
) -> float:
    # each of the two minimisers is off by tau / alpha, on a ball by twice that
    off = 2.0 if ball is None else 4.0
    return (_multiplicity(adjacency) * lipschitz + off * gradient_tol) / alpha


def _check_domain(
    loss: Loss, radius: float, n_coefficients: int, ball: Ball | None
) -> None:
    if ball is not None and len(ball.center) != n_coefficients:
        raise ValueError(
            f"the centre of the ball has {len(ball.center)} coordinates. Allowed: "
            f"n_coefficients={n_coefficients}, the intercept's last. Use "
            "Ball.around_zero(n_coefficients, radius)."
        )
    if not math.isfinite(_lipschitz(loss, radius, ball)):
        raise ValueError(
            f"the slope of {type(loss).__name__} has no bound on the whole space, so "
            "no noise hides one row there. Allowed: a ball, or a loss of bounded slope."
            " Pass ball=..., or use HuberLoss."
        )
