r"""One exact draw from a Gibbs posterior, private by the temperature alone.

Notation (derived in docs/proofs/posterior_sampling.md)
-------------------------------------------------------
x        row after clipping, intercept constant included, norm <= R    -> ``radius``
theta    coefficient vector, intercept coordinate last, shape (d,)
gamma    inverse temperature                             -> ``inverse_temperature``
alpha    ridge on the SUM of the losses, every coordinate penalised    -> ``alpha``
o        largest oscillation of one row's loss over the ball      -> ``oscillation``
G        largest gradient norm of one row's loss on the domain      -> ``lipschitz``
k        1 under add-remove, 2 under replace-one
eta      public bound on the rounding of a computed log density      -> ``rounding``
Delta    public bound on the rounding of a computed draw     -> ``smoothing.error``
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_count, check_positive
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
)
from skdp.losses import HuberLoss, LogCoshLoss, LogisticLoss, Oscillating, SquaredLoss
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._gibbs_calibration import Ridge, calibrated_posterior
from skdp.mechanisms._gibbs_guarantee import ROUNDING, gibbs_guarantee
from skdp.mechanisms._gibbs_tables import hard_tables
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball, GibbsSampler, GibbsTarget, log_normaliser

__all__ = ["GibbsPosterior"]

#: Relative rounding of the ridge's share of a log density, with room.
_ROUND_OFF = 2.0**-50


@dataclass(frozen=True, kw_only=True, slots=True)
class GibbsPosterior(Mechanism[PrivateRows, FloatArray]):
    r"""Draw coefficients from a tempered posterior of a convex loss.

    The ideal release has the density proportional to

    .. math:: \exp\Bigl(-\gamma\bigl(\sum_i f(x_i \cdot \theta; y_i)
        + \tfrac{\alpha}{2}|\theta|^2\bigr)\Bigr)

    on a public ball or on the whole space. It is drawn exactly, by rejection, and
    published after :class:`LatticeSmoothing`, whose noise may carry it a little out of
    the ball. Build one with :meth:`calibrate`.

    Parameters
    ----------
    loss : Oscillating
        The loss of one row: logistic, squared, Huber or log-cosh.
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Length of theta, intercept coordinate included, >= 1.
    inverse_temperature : float
        gamma > 0: the larger, the more accurate and the less private.
    alpha : float
        Ridge > 0 on the sum of the losses.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    ball : Ball, optional
        Domain of theta; the whole space without it.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Raises
    ------
    ValueError
        If a number is out of range, the centre of the ball has another length, or a
        loss of unbounded slope has no ball.

    Privacy
    -------
    On a ball: pure epsilon = gamma o, and rho-zCDP with rho = epsilon^2 / 8, since the
    log ratio lies in an interval of length epsilon. On any domain: mu-GDP with
    mu = G sqrt(gamma / alpha). Twice that under replace-one. What holds is kept
    side by side, with the price of rounding and of the smoothing step. The guarantee is
    about the output alone: the running time depends on the data. Proof in
    docs/proofs/posterior_sampling.md.

    Examples
    --------
    >>> from skdp.accounting import PureDP
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.mechanisms import GibbsPosterior
    >>> from skdp.samplers import Ball
    >>> mechanism = GibbsPosterior.calibrate(
    ...     PureDP(1.0), loss=LogisticLoss(), radius=1.0, n_coefficients=3,
    ...     ball=Ball.around_zero(3, 2.0))
    >>> round(mechanism.inverse_temperature, 4)  # 0.99 epsilon / oscillation
    0.495
    >>> mechanism.guarantee.epsilon(0.0) <= 1.0
    True
    """

    same_draws: ClassVar[bool] = False

    loss: Oscillating
    radius: float
    n_coefficients: int
    inverse_temperature: float
    alpha: float
    smoothing: LatticeSmoothing
    ball: Ball | None = None
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        for name in ("radius", "inverse_temperature", "alpha"):
            remedy = "Build the mechanism with calibrate."
            check_positive(name, getattr(self, name), remedy=remedy)
        if self.ball is not None and len(self.ball.center) != self.n_coefficients:
            raise ValueError(
                f"the centre of the ball has {len(self.ball.center)} coordinates. "
                f"Allowed: n_coefficients={self.n_coefficients}, the intercept's last. "
                "Use Ball.around_zero(n_coefficients, radius)."
            )
        require(
            self.smoothing.n_features == self.n_coefficients,
            "smoothing.n_features must be n_coefficients",
        )
        require(
            self.smoothing.adjacency is self.adjacency,
            "smoothing.adjacency must be that of the mechanism",
        )
        if not math.isfinite(self.lipschitz):
            raise ValueError(
                f"the slope of {type(self.loss).__name__} has no bound on the whole "
                "space, so no temperature is private there. Allowed: a ball, or a loss "
                "of bounded slope. Pass ball=..., or use HuberLoss."
            )

    @classmethod
    def calibrate(
        cls,
        target: PureDP | ApproximateDP | GaussianDP,
        *,
        loss: Oscillating,
        radius: float,
        n_coefficients: int,
        ball: Ball | None = None,
        alpha: Ridge = "auto",
        n_releases: int = 1,
    ) -> Self:
        """Return the coldest instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP, ApproximateDP or GaussianDP
            What to promise, with its adjacency. ``PureDP`` (or delta = 0) needs a ball.
        loss : Oscillating
            The loss of one row.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        ball : Ball, optional
            Domain of theta.
        alpha : float or "auto", default="auto"
            Ridge on the sum of the losses. ``"auto"`` makes the posterior of no rows as
            wide as the ball (3 / R without one): sqrt(d) G / (mu W), where mu is the
            share of one release.
        n_releases : int, default=1
            How many releases, >= 1, share the target.

        Returns
        -------
        GibbsPosterior
            Its ``guarantee_of(n_releases)`` implies ``target``.

        Raises
        ------
        ValueError
            If a pure target comes without a ball, or a number is out of range.

        Examples
        --------
        >>> from skdp.accounting import ApproximateDP
        >>> from skdp.losses import HuberLoss
        >>> from skdp.mechanisms import GibbsPosterior
        >>> mechanism = GibbsPosterior.calibrate(
        ...     ApproximateDP(1.0, 1e-6), loss=HuberLoss(scale=0.3), radius=1.0,
        ...     n_coefficients=5, alpha=10.0)
        >>> round(mechanism.mu, 3), round(mechanism.inverse_temperature, 2)
        (0.237, 6.22)
        """
        mechanism = cls._calibrated(
            target,
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            ball=ball,
            alpha=alpha,
            n_releases=_count(n_releases),
        )
        if not mechanism._is_computable:
            raise ValueError(
                f"the density falls faster than floats can tell, got alpha={alpha!r} "
                "and a ball far from zero. Allowed: a smaller product of alpha, the "
                "distance of the ball from zero and its radius. Use a smaller alpha."
            )
        return mechanism

    @classmethod
    def _calibrated(
        cls,
        target: PureDP | ApproximateDP | GaussianDP,
        *,
        loss: Oscillating,
        radius: float,
        n_coefficients: int,
        ball: Ball | None,
        alpha: Ridge,
        n_releases: int,
    ) -> Self:
        draft = cls(
            loss=loss,
            radius=radius,
            n_coefficients=n_coefficients,
            inverse_temperature=1.0,
            alpha=1.0,
            smoothing=LatticeSmoothing.pure(
                error=1.0,
                n_features=n_coefficients,
                epsilon=1.0,
                adjacency=target.adjacency,
            ),
            ball=ball,
            adjacency=target.adjacency,
        )
        return calibrated_posterior(draft, target, alpha, n_releases)

    @property
    def multiplicity(self) -> float:
        """1 under add-remove, 2 under replace-one: one row less and one row more."""
        return 2.0 if self.adjacency is Adjacency.REPLACE_ONE else 1.0

    @property
    def oscillation(self) -> float:
        """Largest max - min of one row's loss on the domain; inf without a ball."""
        if self.ball is None:
            return math.inf
        return self.loss.oscillation(
            self.radius, center_norm=self.ball.center_norm, radius=self.ball.radius
        )

    @property
    def lipschitz(self) -> float:
        """Largest gradient norm of one row's loss on the domain."""
        reach = None if self.ball is None else self.ball.reach
        return self.loss.constants(self.radius, radius=reach).lipschitz

    @property
    def pure_epsilon(self) -> float:
        """Pure epsilon of the ideal draw; inf without a ball."""
        return self.multiplicity * self.inverse_temperature * self.oscillation

    @property
    def mu(self) -> float:
        """Gaussian mu of the ideal draw."""
        size = math.sqrt(self.inverse_temperature / self.alpha)
        return self.multiplicity * self.lipschitz * size

    @property
    def rounding(self) -> float:
        """Public bound eta on the rounding of a computed log density, in nats."""
        return ROUNDING * min(self.pure_epsilon, self.mu)

    @property
    def _is_computable(self) -> bool:
        """Whether the ridge's share of a log density rounds by less than eta."""
        if self.ball is None:
            return True
        steepest = self.inverse_temperature * self.alpha * self.ball.center_norm
        return steepest * self.ball.radius * _ROUND_OFF <= self.rounding

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
        n_releases = _count(n_releases)
        step = self.smoothing.guarantee
        return self._joint_guarantee(self.rounding, step, n_releases)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact real-valued draw."""
        return self._joint_guarantee(0.0, None, 1)

    def _joint_guarantee(
        self, eta: float, step: Guarantee | None, n_draws: int
    ) -> Guarantee:
        return gibbs_guarantee(
            self.pure_epsilon,
            self.mu,
            rounding=eta,
            step=step,
            n_draws=n_draws,
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
        )

    def _assumptions(self) -> tuple[str, ...]:
        return (
            f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
            "the output alone is observed: the running time depends on the data",
            f"rounding of the computed log density <= {self.rounding:.3g}",
            f"rounding of the computed draw <= {self.smoothing.error:.3g}",
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw once, smooth, and publish; see :meth:`release_many`.

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
        """
        return self.release_many(data, 1, source)[0]

    def release_many(
        self, data: PrivateRows, n_releases: int, source: RandomSource
    ) -> list[Release[FloatArray]]:
        """Make independent releases, each at the full price, with one preparation.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels, or targets, that the loss understands.
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
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        return next(self.release_batches(data, [n_releases], source))

    def release_batches(
        self, data: PrivateRows, sizes: Iterable[int], source: RandomSource
    ) -> Iterator[list[Release[FloatArray]]]:
        """Make independent releases in batches, for those who wait; see release_many.

        Parameters
        ----------
        data : PrivateRows
            Rows with labels, or targets, that the loss understands.
        sizes : iterable of int
            How many releases each batch holds.
        source : RandomSource
            Where the randomness comes from.

        Yields
        ------
        list of Release
        """
        check_rows(self, data)
        sampler, spent = GibbsSampler(self.target(data), source), self.guarantee
        for size in sizes:
            draws = sampler.draw(size)
            outputs = self.smoothing.release_each(draws, source)
            facts = {"n_proposals": sampler.n_proposals, "envelope": sampler.envelope}
            yield [
                Release(output=output, spent=spent, diagnostics={"draw": draw, **facts})
                for draw, output in zip(draws, outputs, strict=True)
            ]

    def target(self, data: PrivateRows) -> GibbsTarget:
        """Return the law of the ideal release, up to its normaliser."""
        return GibbsTarget(
            data,
            self.loss,
            inverse_temperature=self.inverse_temperature,
            alpha=self.alpha,
            ball=self.ball,
        )

    @property
    def support(self) -> tuple[float, float]:
        """Public interval that carries a one-dimensional draw."""
        if self.ball is None:
            return -math.inf, math.inf
        middle, width = self.ball.center[0], self.ball.radius
        return middle - width, middle + width

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log density on one data set; its normaliser is formed once."""
        target = self.target(data)
        log_mass = log_normaliser(target)
        low, high = self.support

        def log_density(output: FloatArray) -> float:
            theta = np.asarray(output, dtype=np.float64)
            inside = bool(target.inside(theta[None])[0])
            if theta.size == 1:
                # the ends of the support, however the square of its width rounds
                inside = low <= float(theta[0]) <= high
            height = float(target.potential(theta[None])[0])
            return -height - log_mass if inside else -math.inf

        return log_density

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the ideal draw, for one or two coefficients."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Return the gradient of the log density: there is no noise vector."""
        gradient: FloatArray = self.target(data).gradient(output)
        return -gradient

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield tables that hold the posterior at one end, and one row more."""
        replace_one = self.adjacency is Adjacency.REPLACE_ONE
        for name, larger, other in hard_tables(self, replace_one=replace_one):
            yield AdjacentPair(name, self._rows(larger), self._rows(other))

    def _rows(self, table: list[tuple[float, float]]) -> PrivateRows:
        """Place (position, label) rows on one axis, at the norm bound."""
        axis = np.eye(self.n_coefficients)[0]
        if self.ball is not None and self.ball.center_norm > 0.0:
            axis = self.ball.midpoint / self.ball.center_norm
        position = np.array([p for p, _ in table])
        y = np.array([label for _, label in table], dtype=np.float64)
        X = self.radius * np.outer(position, axis)
        bound = float(getattr(self.loss, "target_bound", 1.0))
        targets = Targets(-bound, bound, bound=bound)
        return PrivateRows(as_row_blocks(X, y, labels=targets), L2Ball(self.radius))

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield balls and the whole space, all losses, both relations."""
        ball = Ball.around_zero(1, 1.0)
        for adjacency in Adjacency:
            for epsilon in (0.1, 1.0, 8.0):
                yield cls.calibrate(
                    PureDP(epsilon, adjacency=adjacency),
                    loss=LogisticLoss(),
                    radius=1.0,
                    n_coefficients=1,
                    ball=ball,
                )
            yield cls.calibrate(
                ApproximateDP(1.0, 1e-6, adjacency=adjacency),
                loss=HuberLoss(target_bound=5.0, scale=0.3),
                radius=1.0,
                n_coefficients=1,
                alpha=2.0,
            )
        yield cls.calibrate(
            GaussianDP(2.0),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=1,
            alpha=1.0,
        )
        for loss in (SquaredLoss(2.0), LogCoshLoss(scale=0.3)):
            yield cls.calibrate(
                PureDP(1.0),
                loss=loss,
                radius=2.0,
                n_coefficients=1,
                ball=Ball((0.5,), 0.25),
            )
        yield cls.calibrate(
            ApproximateDP(1.0, 1e-6),
            loss=LogisticLoss(),
            radius=1.0,
            n_coefficients=2,
            ball=Ball((0.6, 0.8), 0.5),
        )


def _count(n_releases: object) -> int:
    remedy = "Say how many draws share the budget."
    return check_count("n_releases", n_releases, minimum=1, remedy=remedy)
