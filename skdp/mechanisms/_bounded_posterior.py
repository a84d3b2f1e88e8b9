r"""A draw from a Gibbs posterior whose work does not depend on the rows.

Notation (derived in docs/proofs/bounded_posterior.md)
------------------------------------------------------
p        Gibbs posterior on the ball, epsilon-DP and mu-GDP             -> ``posterior``
u        uniform law on the ball
N        proposals of one draw, all of them evaluated               -> ``n_proposals``
q        bound on the probability that none is accepted                  -> ``failure``
omega    probability of a uniform point in the end                       -> ``mixing``
eta      bound on g'(theta^ - theta) at the point of expansion             -> ``_GAP``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, cast

import numpy as np
from scipy.special import gammaln

from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
)
from skdp.losses import LogisticLoss, Oscillating, SquaredLoss
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._bounded_guarantee import Coin, bounded_guarantee
from skdp.mechanisms._posterior_sampling import GibbsPosterior
from skdp.mechanisms._rows_fit import check_rows
from skdp.random import RandomSource
from skdp.rows import PrivateRows
from skdp.rows._sparse import SparseBlocks
from skdp.samplers import (
    Ball,
    BoundedSampler,
    EnvelopeBounds,
    GibbsTarget,
    log_normaliser,
)
from skdp.samplers._bounded import FixedEnvelope
from skdp.samplers._fixed_descent import descent_steps
from skdp.samplers._padded import padded_rows

__all__ = ["BoundedPosterior"]

#: Gap that the descent is long enough for: next to nothing off the acceptance.
_GAP = 0.01
#: Probability of a uniform point: no loss of accuracy that could be seen.
_MIXING = 1e-6
#: Failure over mixing, where epsilon and mu are at least one: the loss of the coin.
_COIN = 1e-3
#: Share of the target that is left for the coin, which takes less than a tenth of it:
#: its square is below 2e-6 of that of mu, and 4e-6 of epsilon^2 / 8.
_SHARE = 2.0**-15
#: Limits of what is started: proposals, and multiplications of one draw.
_MOST_PROPOSALS, _MOST_WORK = 10_000_000, 1e13
#: Share of the nats of omega by which the density falls across the ball in the audits.
_FALL = 0.7


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundedPosterior(Mechanism[PrivateRows, FloatArray]):
    r"""Draw coefficients from nearly a Gibbs posterior, by a public amount of work.

    Where :class:`GibbsPosterior` proposes until it accepts, and so takes a time that
    depends on the rows, this mechanism draws and evaluates exactly ``n_proposals``
    points. It takes the first accepted one, or a uniform point of the ball if there is
    none, and with probability ``mixing`` replaces it by a uniform point. The law is

    .. math:: (1 - \omega)\bigl((1 - q_D) p_D + q_D u\bigr) + \omega u,
        \qquad q_D \le q,

    with q from a lower bound on the acceptance that reads no data. Tables are padded
    with rows of zeros to ``n_rows`` rows, which leaves the law as it is. Build one with
    :meth:`calibrate`.

    Parameters
    ----------
    posterior : GibbsPosterior
        The law in the case of success, on a ball.
    n_rows : int
        Public bound on the number of rows, >= 1. More rows are an error.
    mixing : float
        Probability omega of a uniform point, within (0, 1).
    failure : float
        Bound q on the probability that no proposal is accepted, within (0, 1).

    Raises
    ------
    ValueError
        If the fields do not fit, or a draw would take more than ten million proposals
        or 1e13 multiplications.

    Privacy
    -------
    Pure epsilon' = max(epsilon - log(1 - q), log(1 + q / omega)) for a posterior of
    pure epsilon. With the coin b = max(log(1 + q / omega), -log(1 - q)) revealed:
    zCDP with epsilon^2 / 8 + b^2 / 2, and GDP with the root of mu^2 + nu^2, nu the mu
    of b. The law is not of bounded range. What holds is kept side by side, with the
    price of rounding and of the smoothing step.

    The numbers of arithmetic operations, passes and random bytes are functions of
    public numbers once the rows are read, so they may be observed. What a machine makes
    of equal work is not covered. q rests on a bound that is numerically certified: a
    constant of it, 0.135, is the value e^-2 of an extremal problem, found numerically.
    Proof in docs/proofs/bounded_posterior.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import BoundedPosterior
    >>> from skdp.samplers import Ball
    >>> mechanism = BoundedPosterior.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=3,
    ...     ball=Ball.around_zero(3, 1.0), n_rows=1000)
    >>> mechanism.n_proposals, mechanism.n_steps
    (5366, 390)
    >>> 0.999 < mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    """

    #: How well founded the guarantee is.
    grade: ClassVar[str] = "numerically certified"

    posterior: GibbsPosterior
    n_rows: int
    mixing: float
    failure: float

    def __post_init__(self) -> None:
        require(self.posterior.ball is not None, "posterior must have a ball")
        for name in ("mixing", "failure"):
            value = getattr(self, name)
            require(0.0 < value < 1.0, f"{name} must be a number between 0 and 1")
        remedy = "Pass a public bound on the number of rows."
        n_rows = check_count("n_rows", self.n_rows, minimum=1, remedy=remedy)
        object.__setattr__(self, "n_rows", n_rows)
        self._check_work()

    def _check_work(self) -> None:
        if self.least_acceptance == 0.0:
            raise ValueError(
                "no acceptance is certain: on this ball "
                f"{type(self.posterior.loss).__name__} has parts without curvature, "
                f"or the sum over n_rows={self.n_rows} leaves no digits. Allowed: a "
                "ball and a target bound on which the loss bends everywhere. Use a "
                "smaller radius, a logistic or squared loss, or the sampler of "
                "unbounded time."
            )
        if self.n_proposals > _MOST_PROPOSALS or self.work > _MOST_WORK:
            raise ValueError(
                f"one draw would take {self.n_proposals:.3g} proposals and "
                f"{self.work:.3g} multiplications. Allowed: at most "
                f"{_MOST_PROPOSALS:.3g} and {_MOST_WORK:.3g}. Use a ball of smaller "
                "radius, fewer coefficients, a smaller n_rows, or the sampler of "
                "unbounded time."
            )

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP | GaussianDP,
        *,
        loss: Oscillating,
        radius: float,
        n_coefficients: int,
        ball: Ball,
        n_rows: int,
        alpha: float | Literal["auto"] = "auto",
        n_releases: int = 1,
    ) -> Self:
        """Return a cold instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP, ApproximateDP or GaussianDP
            What to promise, with its adjacency.
        loss : Oscillating
            The loss of one row.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        ball : Ball
            Domain of theta.
        n_rows : int
            Public bound on the number of rows: the number itself under replace-one.
        alpha : float or "auto", default="auto"
            Ridge on the sum of the losses; see :meth:`GibbsPosterior.calibrate`.
        n_releases : int, default=1
            How many releases, >= 1, share the target.

        Returns
        -------
        BoundedPosterior
            Its ``guarantee_of(n_releases)`` implies ``target``.

        Raises
        ------
        ValueError
            If a number is out of range, or a draw would take too much work.

        Examples
        --------
        >>> from skdp.accounting import ApproximateDP
        >>> from skdp.losses import SquaredLoss
        >>> from skdp.mechanisms import BoundedPosterior
        >>> from skdp.samplers import Ball
        >>> mechanism = BoundedPosterior.calibrate(
        ...     ApproximateDP(1.0, 1e-6), loss=SquaredLoss(), radius=1.0,
        ...     n_coefficients=5, ball=Ball.around_zero(5, 1.0), n_rows=10_000,
        ...     alpha=100.0)
        >>> mechanism.mixing, mechanism.guarantee.epsilon(1e-6) <= 1.0
        (1e-06, True)
        """
        posterior = GibbsPosterior.calibrate(
            _less(target),
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            ball=ball,
            alpha=alpha,
            n_releases=n_releases,
        )
        size = min(1.0, posterior.pure_epsilon, posterior.mu)
        return cls(
            posterior=posterior,
            n_rows=n_rows,
            mixing=_MIXING,
            failure=_MIXING * _COIN * size,
        )

    @property
    def adjacency(self) -> Adjacency:
        """Neighbouring relation of the guarantee."""
        return self.posterior.adjacency

    @property
    def ball(self) -> Ball:
        """Domain of theta."""
        # checked when the mechanism was made
        return cast(Ball, self.posterior.ball)

    @property
    def smoothing(self) -> Mechanism[FloatArray, FloatArray]:
        """The finite-precision step at the end."""
        return self.posterior.smoothing

    @property
    def bounds(self) -> EnvelopeBounds:
        """What is known of the envelope without the rows."""
        return EnvelopeBounds(
            loss=self.posterior.loss,
            data_norm=self.posterior.radius,
            ball=self.ball,
            n_rows=self.n_rows,
            inverse_temperature=self.posterior.inverse_temperature,
            alpha=self.posterior.alpha,
        )

    @property
    def least_acceptance(self) -> float:
        """Lower bound on the acceptance, for every table of at most ``n_rows`` rows."""
        return self.bounds.acceptance(_GAP)

    @property
    def n_proposals(self) -> int:
        """Proposals of one draw."""
        return math.ceil(math.log(self.failure) / math.log1p(-self.least_acceptance))

    @property
    def n_steps(self) -> int:
        """Steps of the descent to the point of expansion."""
        return descent_steps(self.bounds, _GAP)

    @property
    def work(self) -> float:
        """Multiplications of one draw, about."""
        d = self.posterior.n_coefficients
        each = float(self.n_rows if not self._is_gaussian else d)
        return d * (each * (self.n_steps + self.n_proposals) + d * self.n_rows)

    @property
    def _is_gaussian(self) -> bool:
        return isinstance(self.posterior.loss, SquaredLoss)

    @property
    def coin(self) -> Coin:
        """What failure and mixing cost."""
        return Coin(self.mixing, self.failure)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, rounding and smoothing step included."""
        return self.guarantee_of(1)

    def guarantee_of(self, n_releases: int) -> Guarantee:
        """Guarantee of independent releases together, decided on beforehand.

        Parameters
        ----------
        n_releases : int
            How many, >= 1.

        Returns
        -------
        Guarantee
        """
        remedy = "Pass how many draws are released."
        n_releases = check_count("n_releases", n_releases, minimum=1, remedy=remedy)
        step = self.posterior.smoothing.guarantee
        return self._joint_guarantee(self.posterior.rounding, step, n_releases)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued draw."""
        return self._joint_guarantee(0.0, None, 1)

    def _joint_guarantee(
        self, eta: float, step: Guarantee | None, n_draws: int
    ) -> Guarantee:
        posterior = self.posterior
        return bounded_guarantee(
            posterior.pure_epsilon,
            posterior.mu,
            self.coin,
            rounding=eta,
            step=step,
            n_draws=n_draws,
            adjacency=self.adjacency,
            assumptions=(
                f"row L2 norm <= {posterior.radius:.6g} (enforced by clipping)",
                f"at most {self.n_rows} rows (an error otherwise)",
                "the amount of work is public; equal work takes equal time",
                "acceptance bound: constant 0.135 numerically certified",
                f"rounding of the computed log density <= {posterior.rounding:.3g}",
                f"rounding of the computed draw <= {posterior.smoothing.error:.3g}",
            ),
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw once, smooth, and publish; see :meth:`release_many`.

        Parameters
        ----------
        data : PrivateRows
            Dense rows with labels, or targets, that the loss understands.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (n_coefficients,). ``diagnostics`` are NOT private.
        """
        return self.release_many(data, 1, source)[0]

    def release_many(
        self, data: PrivateRows, n_releases: int, source: RandomSource
    ) -> list[Release[FloatArray]]:
        """Make independent releases, each at the full price, with one preparation.

        Parameters
        ----------
        data : PrivateRows
            Dense rows with labels, or targets, that the loss understands.
        n_releases : int
            How many; together they cost the composition of as many guarantees.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        list of Release

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's, the
            rows are sparse, or there are more than ``n_rows``.
        """
        check_rows(self.posterior, data)
        if isinstance(data.blocks, SparseBlocks):
            raise ValueError(
                "the rows are sparse, and time spent on them tells how many entries "
                "they have. Allowed: dense rows. Convert X with X.toarray(), or use "
                "GibbsPosterior."
            )
        sampler = BoundedSampler(
            self.padded_target(data),
            self.bounds,
            source,
            n_proposals=self.n_proposals,
            n_steps=self.n_steps,
            mixing=self.mixing,
        )
        draws, spent = sampler.draw(n_releases), self.guarantee
        outputs = self.posterior.smoothing.release_each(draws, source)
        return [
            Release(output=output, spent=spent, diagnostics={"draw": draw})
            for draw, output in zip(draws, outputs, strict=True)
        ]

    def padded_target(self, data: PrivateRows) -> GibbsTarget:
        """Return the posterior of the rows and as many zeros as make ``n_rows``."""
        return self.posterior.target(
            padded_rows(data, self.n_rows, self.posterior.loss)
        )

    @property
    def support(self) -> tuple[float, float]:
        """Public interval that carries a one-dimensional draw."""
        return self.posterior.support

    def log_failure(self, data: PrivateRows) -> float:
        """Return the log of the probability that no proposal is accepted, for audits.

        Parameters
        ----------
        data : PrivateRows
            Rows of one or two coefficients.

        Returns
        -------
        float
            A function of private data.
        """
        target = self.padded_target(data)
        envelope = FixedEnvelope.fit(target, self.bounds, self.n_steps)
        log_mass = log_normaliser(target) + envelope.height
        acceptance = math.exp(min(0.0, log_mass - envelope.gaussian.log_mass))
        if acceptance == 1.0:
            return -math.inf
        return self.n_proposals * math.log1p(-acceptance)

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log density on one data set; its constants are formed once."""
        posterior = self.posterior.log_density_on(data)
        failed = math.exp(self.log_failure(data))
        log_kept = math.log1p(-self.mixing) + math.log1p(-failed)
        uniform = self.mixing + (1.0 - self.mixing) * failed
        log_uniform = math.log(uniform) - _log_volume(self.ball)

        def log_density(output: FloatArray) -> float:
            height = posterior(output)
            if height == -math.inf:
                return height
            return float(np.logaddexp(log_kept + height, log_uniform))

        return log_density

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the ideal draw, for one or two coefficients."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Return the gradient of the posterior's log density: there is no noise."""
        return self.posterior.noise(output, data)

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables that hold the posterior at one end, and one row more.

        Not too hard: below omega the law is uniform.
        """
        posterior = self.posterior
        bound = float(getattr(posterior.loss, "target_bound", 1.0))
        one = posterior.inverse_temperature * posterior.oscillation
        fall = -_FALL * math.log(self.mixing)
        most = min(math.ceil(fall / one), self.n_rows - 1)
        for label in (bound, -bound):
            extra, other = (1.0, label), (1.0, -label)
            for count in (0, most):
                base = [other] * count
                replaced = [other] if self.adjacency is Adjacency.REPLACE_ONE else []
                yield AdjacentPair(
                    f"{count} against {label:+g}",
                    posterior._rows([*base, extra]),
                    posterior._rows([*base, *replaced]),
                )

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield two losses, both relations, and two coefficients."""
        for adjacency in Adjacency:
            yield cls._rarely_uniform(
                GibbsPosterior.calibrate(
                    PureDP(4.0, adjacency=adjacency),
                    loss=LogisticLoss(),
                    radius=1.0,
                    n_coefficients=1,
                    alpha=1.0,
                    ball=Ball.around_zero(1, 1.0),
                )
            )
        yield cls._rarely_uniform(
            GibbsPosterior.calibrate(
                PureDP(4.0),
                loss=SquaredLoss(4.0),
                radius=1.0,
                n_coefficients=1,
                ball=Ball((0.5,), 0.5),
            )
        )
        yield cls.calibrate(
            ApproximateDP(1.0, 1e-6),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=2,
            ball=Ball((0.3, 0.4), 0.5),
            n_rows=20,
        )

    @classmethod
    def _rarely_uniform(cls, posterior: GibbsPosterior) -> Self:
        """Let the uniform floor be low, so that an audit sees all of epsilon."""
        return cls(posterior=posterior, n_rows=16, mixing=1e-24, failure=1e-27)


def _log_volume(ball: Ball) -> float:
    d = len(ball.center)
    unit = 0.5 * d * math.log(math.pi) - float(gammaln(0.5 * d + 1.0))
    return unit + d * math.log(ball.radius)


def _less(
    target: PureDP | ApproximateDP | GaussianDP,
) -> PureDP | ApproximateDP | GaussianDP:
    """Return the target less what is left for the coin."""
    relation, rest = target.adjacency, 1.0 - _SHARE
    if isinstance(target, GaussianDP):
        return GaussianDP(rest * target.mu, adjacency=relation)
    if isinstance(target, PureDP):
        return PureDP(rest * target.epsilon_bound, adjacency=relation)
    return ApproximateDP(
        rest * target.epsilon_bound, target.delta_bound, adjacency=relation
    )
