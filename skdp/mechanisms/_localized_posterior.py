r"""Localized posterior sampling: a noisy centre, then draws on a ball around it.

Notation (derived in docs/proofs/localized_posterior.md)
--------------------------------------------------------
c        released centre                                     -> row 0 of the output
B        radius of the ball around it, a function of c and public numbers  -> ``ball``
Bmax     largest B; of the centre's domain for a loss of unbounded slope
                                                                    -> ``max_radius``
alpha    ridge on the SUM of the losses                          -> ``center.alpha``
curv     public guess of the least curvature of sum and ridge     -> ``curvature``
gamma    inverse temperature of the draws on that ball  -> of ``posterior(center)``
m        number of draws                                             -> ``n_draws``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    Simultaneous,
    ZeroConcentratedDP,
    compose,
)
from skdp.losses import LogisticLoss, Oscillating, SquaredLoss
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN, analytic_mu
from skdp.mechanisms._gibbs_calibration import TYPICAL_REACH, Ridge
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._output_perturbation import OutputPerturbation, default_ridge
from skdp.mechanisms._posterior_sampling import GibbsPosterior
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.samplers import Ball

__all__ = ["LocalizedPosterior"]

#: Probability with which the ball holds the centre's noise, and a draw's spread.
_COVERED = 0.99
#: Share of the largest radius at which a ball of half the price is worth its centre.
_NARROW = 0.25
_SOURCE = "localized posterior, docs/proofs/localized_posterior.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalizedPosterior(Mechanism[PrivateRows, FloatArray]):
    r"""Release a noisy minimiser, then posterior draws on a small ball around it.

    A pure guarantee needs a bounded domain, and the smaller it is, the colder the
    posterior may be. The ball of the draws is a function of the released centre and of
    public numbers. Build one with :meth:`calibrate`.

    Parameters
    ----------
    center : OutputPerturbation
        Releases the centre; K-norm noise for pure draws, Gaussian noise for others.
    draw : PureDP or GaussianDP
        Price of one draw.
    max_radius : float
        Largest radius > 0 of the ball of the draws.
    n_draws : int
        Number of draws, >= 1.
    curvature : float
        Public guess, >= the ridge, of the least eigenvalue of the Hessian of sum and
        ridge. It shapes the ball and has no influence on privacy.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    Adaptive composition: the centre costs its own guarantee, and for every fixed centre
    each draw costs ``draw``, which a pure draw pays as epsilon and, being of bounded
    range, as epsilon^2 / 8 in zCDP. Nothing depends on whether the minimiser lies in
    the ball. The guarantee is about the output alone: the running time depends on the
    data. Proof in docs/proofs/localized_posterior.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import LocalizedPosterior
    >>> mechanism = LocalizedPosterior.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=2, alpha=30.0)
    >>> round(mechanism.ball(np.array([0.6, 0.8])).radius, 3)
    2.583
    >>> 0.999 < mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    """

    same_draws: ClassVar[bool] = False

    center: OutputPerturbation
    draw: PureDP | GaussianDP
    max_radius: float
    n_draws: int
    curvature: float

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        remedy = "Build the mechanism with calibrate."
        check_positive("max_radius", self.max_radius, remedy=remedy)
        _count(self.n_draws)
        require(
            isinstance(self.draw, PureDP | GaussianDP),
            "draw must be PureDP or GaussianDP",
        )
        require(
            self.draw.adjacency is self.center.adjacency,
            "draw.adjacency must be that of the centre",
        )
        require(
            isinstance(self.center.loss, Oscillating),
            "center.loss must have a known oscillation",
        )
        require(
            self.curvature >= self.center.alpha,
            "curvature must be at least the ridge, center.alpha",
        )

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP | GaussianDP,
        *,
        loss: Oscillating,
        radius: float,
        n_coefficients: int,
        alpha: Ridge = "auto",
        max_radius: float | None = None,
        n_draws: int = 1,
        curvature: float | None = None,
    ) -> Self:
        """Return an instance whose centre and draws together meet the target.

        Centre and draws get half of epsilon each (half of mu^2), the draws equal parts.

        Parameters
        ----------
        target : PureDP, ApproximateDP or GaussianDP
            What to promise, with its adjacency. ``PureDP`` (or delta = 0) selects pure
            mechanisms, the others their Gaussian versions.
        loss : Oscillating
            The loss of one row.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        alpha : float or "auto", default="auto"
            Ridge on the sum of the losses; ``"auto"`` is sqrt(d) G / (mu max_radius)
            with the mu of the target.
        max_radius : float, optional
            Largest radius of the ball; 3 / R by default. For a loss of unbounded slope
            also the radius of the ball around zero that holds the centre before noise.
        n_draws : int, default=1
            Number of draws.
        curvature : float, optional
            Public guess of the least curvature; the ridge by default, and never less.

        Returns
        -------
        LocalizedPosterior
            Its ``guarantee`` implies ``target``.

        Raises
        ------
        ValueError
            If a number is out of range.

        Examples
        --------
        >>> from skdp.accounting import ApproximateDP
        >>> from skdp.losses import SquaredLoss
        >>> from skdp.mechanisms import LocalizedPosterior
        >>> mechanism = LocalizedPosterior.calibrate(
        ...     ApproximateDP(1.0, 1e-6), loss=SquaredLoss(), radius=1.0,
        ...     n_coefficients=3, alpha=100.0, n_draws=2)
        >>> mechanism.center.ball.radius, round(mechanism.draw.mu, 4)
        (3.0, 0.1184)
        """
        radius = check_positive("radius", radius, remedy="Clip the rows to it.")
        n_draws = _count(n_draws)
        if max_radius is None:
            max_radius = TYPICAL_REACH / radius
        remedy = "Choose how large a coefficient vector may be, without the data."
        max_radius = check_positive("max_radius", max_radius, remedy=remedy)
        total = _total(target)
        domain = _domain(loss, radius, n_coefficients, max_radius)
        reach = None if domain is None else max_radius
        if alpha == "auto":
            lipschitz = loss.constants(radius, radius=reach).lipschitz
            alpha = default_ridge(total, lipschitz, n_coefficients, max_radius)
        center = OutputPerturbation.calibrate(
            _part(total, 0.5),
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            alpha=alpha,
            ball=domain,
        )
        return cls(
            center=center,
            draw=_part(total, 0.5 / n_draws),
            max_radius=max_radius,
            n_draws=n_draws,
            curvature=max(center.alpha, curvature or 0.0),
        )

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee."""
        return self.center.adjacency

    @property
    def n_coefficients(self) -> int:
        """Length of theta."""
        return self.center.n_coefficients

    @property
    def smoothing(self) -> LatticeSmoothing:
        """The finest smoothing step there is: every output lies on its lattice.

        The lattice of the draws depends on the centre and is finest for one at zero.
        """
        finest = self.posterior(np.zeros(self.n_coefficients)).smoothing
        return min(self.center.smoothing, finest, key=lambda step: step.grid)

    @property
    def noise_radius(self) -> float:
        """Radius that holds the noise of the centre with probability 0.99."""
        d, noise = self.n_coefficients, self.center.noise_law
        if isinstance(noise, GaussianNoise):
            return noise.scale * math.sqrt(2.0 * float(gammaincinv(d / 2, _COVERED)))
        return noise.scale * float(gammaincinv(d, _COVERED))

    def ball(self, center: FloatArray) -> Ball:
        r"""Return the ball of the draws, a function of public numbers and the centre.

        The least B, at most ``max_radius``, with

        .. math:: B \ge q + \frac{\sqrt d + \sqrt{2\log 100}}
            {\sqrt{\gamma(B)\,\mathrm{curv}}} ,

        q the :attr:`noise_radius`. The right side is concave in B, so one crossing is
        all there is, or none. The ball is around the centre, moved to within
        ``max_radius`` of zero where it lies beyond. Where q is ``max_radius`` or more,
        a centre is nothing but noise, and the ball is the one around zero.

        Parameters
        ----------
        center : ndarray of shape (n_coefficients,)
            The released centre.

        Returns
        -------
        Ball
        """
        noise, largest = self.noise_radius, self.max_radius
        if noise >= largest:
            return Ball.around_zero(self.n_coefficients, largest)
        length = float(np.linalg.norm(center))
        middle = tuple(center * min(1.0, largest / length) if length > 0.0 else center)
        width = math.sqrt(self.n_coefficients) + math.sqrt(-2.0 * math.log1p(-_COVERED))

        def room(radius: float) -> float:
            """Return how much larger than needed the radius is."""
            gamma = self._on(Ball(middle, radius)).inverse_temperature
            return radius - noise - width / math.sqrt(gamma * self.curvature)

        if room(largest) <= 0.0:
            return Ball(middle, largest)
        # a relative accuracy alone: the scale of B is not known before
        root = brentq(room, noise, largest, xtol=1e-300, rtol=1e-14, disp=False)
        return Ball(middle, float(root))

    @property
    def narrows(self) -> bool:
        """Whether the ball of the draws is a fourth of ``max_radius`` or less.

        For a centre at zero, so by public numbers alone. Otherwise the whole target is
        better spent on draws from the ball of ``max_radius`` around zero.
        """
        at_zero = self.ball(np.zeros(self.n_coefficients))
        return at_zero.radius <= _NARROW * self.max_radius

    def posterior(self, center: FloatArray) -> GibbsPosterior:
        """Return the mechanism of one draw, given the centre.

        Parameters
        ----------
        center : ndarray of shape (n_coefficients,)
            The released centre.

        Returns
        -------
        GibbsPosterior
            Its ``guarantee`` implies ``draw``, whatever the centre.
        """
        return self._on(self.ball(center))

    def _on(self, ball: Ball) -> GibbsPosterior:
        # the centre is out, so nothing may be refused any more
        return GibbsPosterior._calibrated(
            self.draw,
            loss=self._loss,
            radius=self.center.radius,
            n_coefficients=self.n_coefficients,
            ball=ball,
            alpha=self.center.alpha,
            n_releases=1,
        )

    @property
    def _loss(self) -> Oscillating:
        loss = self.center.loss
        if not isinstance(loss, Oscillating):
            # refused before, when the mechanism was built
            raise TypeError("center.loss must have a known oscillation")
        return loss

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of centre and draws together."""
        return self._composed(self.center.guarantee, self._assumptions())

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee without the smoothing step of the centre."""
        return self._composed(self.center.ideal_guarantee, ())

    def _composed(self, first: Guarantee, assumptions: tuple[str, ...]) -> Guarantee:
        draw: Guarantee = self.draw
        if isinstance(self.draw, PureDP):
            draw = _of_bounded_range(self.draw)
        total = compose(first, *[draw] * self.n_draws)
        return replace(total, assumptions=assumptions, source=_SOURCE)

    def _assumptions(self) -> tuple[str, ...]:
        return (
            *self.center.guarantee.assumptions,
            "the output alone is observed: the running time depends on the data",
            "rounding of the computed log density of a draw <= 2^-20 of the smaller of "
            "its epsilon and mu",
            "rounding of a computed draw <= 2^-30 of the smaller of the radius of its "
            "ball and (gamma alpha)^(-1/2)",
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Release the centre, then the draws on the ball around what was released.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels, or targets, that the loss understands.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (1 + n_draws, n_coefficients): row 0 is the centre, the
            other rows are the draws. ``diagnostics`` are NOT private.

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        center = self.center.release(data, source)
        posterior = self.posterior(center.output)
        draws = posterior.release_many(data, self.n_draws, source)
        return Release(
            output=np.stack([center.output, *(draw.output for draw in draws)]),
            spent=self.guarantee,
            diagnostics={**center.diagnostics, **draws[-1].diagnostics},
        )

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the joint log density on one data set; the minimiser is found once."""
        of_center = self.center.log_density_on(data)

        def log_density(output: FloatArray) -> float:
            center, *draws = np.reshape(output, (1 + self.n_draws, -1))
            of_draw = self.posterior(center).log_density_on(data)
            return of_center(center) + sum(map(of_draw, draws))

        return log_density

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Joint log density of centre and draws, for one or two coefficients."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Return the noise of the centre, and minus the gradients of the draws."""
        points = np.broadcast_to(output, (1 + self.n_draws, self.n_coefficients))
        center, *draws = points
        posterior = self.posterior(center)
        parts = [self.center.noise(center, data)]
        return np.stack([*parts, *(posterior.noise(draw, data) for draw in draws)])

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables whose centre one row more moves far, which draws tell too."""
        # the row with the other label is told by nothing else and moves less
        return (pair for pair in self.center.hard_pairs() if pair.name.endswith("+"))

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield pure and Gaussian versions, losses with and without bounded slope."""
        yield cls.calibrate(
            PureDP(1.0),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=1,
            alpha=0.25,
        )
        yield cls.calibrate(
            ApproximateDP(1.0, 1e-6),
            loss=LogisticLoss(),
            radius=2.0,
            n_coefficients=1,
            alpha=1.0,
            n_draws=2,
        )
        yield cls.calibrate(
            PureDP(4.0, adjacency=Adjacency.REPLACE_ONE),
            loss=SquaredLoss(),
            radius=1.0,
            n_coefficients=1,
            alpha=60.0,
            max_radius=0.5,
        )


def _count(n_draws: object) -> int:
    remedy = "Say how many draws share the budget."
    return check_count("n_draws", n_draws, minimum=1, remedy=remedy)


def _total(target: PureDP | ApproximateDP | GaussianDP) -> PureDP | GaussianDP:
    """Return a pure or a Gaussian guarantee that implies the target."""
    if not isinstance(target, ApproximateDP):
        return target
    relation = target.adjacency
    if target.delta_bound == 0.0:
        return PureDP(target.epsilon_bound, adjacency=relation)
    mu = analytic_mu(target.epsilon_bound, target.delta_bound)
    return GaussianDP(mu * DOWN, adjacency=relation)


def _part(total: PureDP | GaussianDP, share: float) -> PureDP | GaussianDP:
    """Return a share of epsilon, or of mu^2; sums of shares stay below the whole."""
    if isinstance(total, PureDP):
        return PureDP(share * total.epsilon_bound * DOWN, adjacency=total.adjacency)
    return GaussianDP(math.sqrt(share) * total.mu * DOWN, adjacency=total.adjacency)


def _domain(loss: Oscillating, radius: float, d: int, reach: float) -> Ball | None:
    """Return where the centre is sought: everywhere, unless the slope is unbounded."""
    if math.isfinite(loss.constants(radius).lipschitz):
        return None
    return Ball.around_zero(d, reach)


def _of_bounded_range(draw: PureDP) -> Simultaneous:
    """Return what holds of a pure draw: the smoothing step is in both."""
    rho = draw.epsilon_bound**2 / 8
    concentrated = ZeroConcentratedDP(rho, adjacency=draw.adjacency)
    return Simultaneous((draw, concentrated), adjacency=draw.adjacency)
