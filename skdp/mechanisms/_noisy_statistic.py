r"""What the noisy Hessian and the noisy gradient share: a sum at a public point.

Notation (derived in docs/proofs/noisy_hessian.md and noisy_gradient.md)
-----------------------------------------------------------------------
J0       sum of losses of the rows plus ridge
theta    public point, chosen without the rows, shape (d,)           -> ``theta``
S        L2 sensitivity of the statistic at theta          -> ``l2_sensitivity``
s        noise scale of a coordinate                                 -> ``scale``
mu       S / s                                           -> ``sensitivity_ratio``
Delta    public bound on the error of the computed noisy statistic
                                                           -> ``smoothing.error``
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    SmoothedGaussianDP,
)
from skdp.losses import LogisticLoss, Loss
from skdp.mechanisms._additive import RELATIVE_ERROR
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._gaussian import calibrated_gaussian
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.random import RandomSource
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.solvers import Objective

__all__ = ["NoisyStatistic"]

#: Accuracy asked of the computed statistic plus noise: in units of what one row may
#: add, or of the noise, whichever is more.
_SENSITIVITY_ERROR = 1e-8


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyStatistic(Mechanism[PrivateRows, FloatArray]):
    """A derivative of the penalised sum of losses at a public point, plus noise.

    Subclasses say which derivative, what one row may add to it, and in which
    coordinates its noise is independent and of one scale.
    """

    theta: tuple[float, ...]
    radius: float
    alpha: float
    scale: float
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    loss: Loss = field(default_factory=LogisticLoss)

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        object.__setattr__(self, "theta", _point(self.theta))
        require(0.0 < self.radius < math.inf, "radius must be above 0")
        require(0.0 < self.alpha < math.inf, "alpha must be above 0")
        error = _error(self.scale, self.row_bound(self.loss, self.radius))
        size = self.n_numbers(self.n_coefficients)
        check_step(GaussianNoise(self.scale), self.smoothing, size, self.adjacency)
        require(
            self.smoothing.error >= error * DOWN,
            "smoothing.error must cover the rounding of the noisy statistic",
        )

    @classmethod
    def calibrate(
        cls,
        target: ApproximateDP,
        *,
        theta: Sequence[float] | FloatArray,
        radius: float,
        alpha: float,
        loss: Loss | None = None,
    ) -> Self:
        """Return the least noisy instance whose computed curve meets the target.

        Parameters
        ----------
        target : ApproximateDP
            What to promise, with its adjacency; delta > 0.
        theta : sequence of float, shape (n_coefficients,)
            Public point, chosen without the rows; intercept coordinate last.
        radius : float
            Bound on the L2 norm of a row, intercept constant included.
        alpha : float
            Ridge > 0 on the sum of the losses.
        loss : Loss, optional
            The loss of one row; logistic by default.

        Returns
        -------
        NoisyHessian or NoisyGradient
            Its ``guarantee`` implies ``target``.
        """
        loss, point = loss or LogisticLoss(), _point(theta)
        mu, smoothing_mu = calibrated_gaussian(target.epsilon_bound, target.delta_bound)
        sensitivity = cls._l2_sensitivity(loss, radius, point, target.adjacency)
        scale = sensitivity / mu
        return cls(
            theta=point,
            radius=radius,
            alpha=alpha,
            scale=scale,
            smoothing=cls.smoothing_step(
                scale,
                smoothing_mu,
                radius=radius,
                n_coefficients=len(point),
                adjacency=target.adjacency,
                loss=loss,
            ),
            adjacency=target.adjacency,
            loss=loss,
        )

    @classmethod
    def smoothing_step(
        cls,
        scale: float,
        mu: float,
        *,
        radius: float,
        n_coefficients: int,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
        loss: Loss | None = None,
    ) -> LatticeSmoothing:
        """Return the finite-precision step that goes with a noise scale, at any point.

        Parameters
        ----------
        scale : float
            Noise scale of the instance.
        mu : float
            The step costs at most mu^2/2 in zero-concentrated DP.
        radius : float
            Bound on the L2 norm of a row, intercept constant included.
        n_coefficients : int
            Length of theta.
        adjacency : Adjacency, default="add-remove"
            That of the instance.
        loss : Loss, optional
            The loss of one row; logistic by default.

        Returns
        -------
        LatticeSmoothing
        """
        bound = cls.row_bound(loss or LogisticLoss(), radius)
        return LatticeSmoothing.concentrated(
            error=_error(scale, bound),
            n_features=cls.n_numbers(n_coefficients),
            mu=mu,
            adjacency=adjacency,
        )

    @staticmethod
    @abstractmethod
    def row_bound(loss: Loss, radius: float) -> float:
        """Return what one row of norm at most ``radius`` adds, at any point theta.

        Parameters
        ----------
        loss : Loss
            The loss of one row.
        radius : float
            Bound on the L2 norm of a row, intercept constant included.

        Returns
        -------
        float
            In the norm in which the noise is isotropic.
        """

    @staticmethod
    @abstractmethod
    def n_numbers(n_coefficients: int) -> int:
        """Return how many numbers a release holds.

        Parameters
        ----------
        n_coefficients : int
            Length of theta.

        Returns
        -------
        int
        """

    @staticmethod
    @abstractmethod
    def _l2_sensitivity(
        loss: Loss, radius: float, theta: tuple[float, ...], adjacency: Adjacency
    ) -> float:
        """Return the sensitivity at ``theta``."""

    @abstractmethod
    def statistic(self, data: PrivateRows) -> FloatArray:
        """Return the statistic without noise; NOT private."""

    @abstractmethod
    def _coordinates(self, statistic: FloatArray) -> FloatArray:
        """Return the vector of the norm in which the noise is isotropic."""

    @abstractmethod
    def _noisy(self, statistic: FloatArray, source: RandomSource) -> FloatArray:
        """Return the numbers that are put on the lattice, noise added."""

    @abstractmethod
    def _shaped(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers of a release in the shape of the statistic."""

    @abstractmethod
    def _hard_direction(self) -> FloatArray:
        """Return the unit direction of a row that adds the most."""

    @property
    def n_coefficients(self) -> int:
        """Length of theta."""
        return len(self.theta)

    @property
    def l2_sensitivity(self) -> float:
        """Bound on the distance of the statistics of two neighbours."""
        return self._l2_sensitivity(self.loss, self.radius, self.theta, self.adjacency)

    @property
    def sensitivity_ratio(self) -> float:
        """L2 sensitivity over the noise scale: mu."""
        return self.l2_sensitivity / self.scale

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return SmoothedGaussianDP(
            self.sensitivity_ratio,
            self.smoothing.rho,
            adjacency=self.adjacency,
            assumptions=self._assumptions(),
            source=self._source(),
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the real-valued release."""
        return GaussianDP(self.sensitivity_ratio, adjacency=self.adjacency)

    @abstractmethod
    def _source(self) -> str:
        """Return where the guarantee is proved."""

    def _assumptions(self) -> tuple[str, ...]:
        return (
            f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
            "the point theta was chosen without the rows, or released before",
            "rounding of the computed sum, noise added, "
            f"<= {self.smoothing.error:.3g} in L2 norm",
        )

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Return the statistic plus one noise draw, on the lattice of the smoothing.

        Parameters
        ----------
        data : PrivateRows
            Rows with encoded labels; clipped to ``radius`` by their own ball.
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has the shape of the statistic.

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        noisy = self._noisy(self.statistic(data), source)
        output = self.smoothing.release(noisy, source).output
        return Release(output=self._shaped(output), spent=self.guarantee)

    def objective(self, data: PrivateRows) -> Objective:
        """Return J0 of the rows, whose derivative is released."""
        check_rows(self, data)
        return Objective(data, self.loss, self.alpha)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover the noise in its independent coordinates: output less statistic."""
        statistic = self.statistic(data)
        return self._coordinates(np.reshape(output, statistic.shape) - statistic)

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the real-valued release, in the independent coordinates."""
        return self.log_density_on(data)(output)

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return :meth:`log_density` on one data set, for many outputs."""
        statistic, law = self.statistic(data), GaussianNoise(self.scale)

        def log_density(output: FloatArray) -> float:
            noise = np.reshape(output, statistic.shape) - statistic
            return law.log_density(self._coordinates(noise))

        return log_density

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield one more row that adds the most, to nobody and to a few."""
        for name, base in (("nobody", []), ("a few", [0.3, -1.0, 1.0])):
            for side in (1.0, -1.0):
                other = base
                if self.adjacency is Adjacency.REPLACE_ONE:
                    other = [*base, -side]
                pair = self._rows([*base, side]), self._rows(other)
                yield AdjacentPair(f"{name}, and one at {side:+g} R", *pair)

    def _rows(self, positions: list[float]) -> PrivateRows:
        """Return rows along the hard direction, in units of the radius."""
        X = np.outer(np.array(positions) * self.radius, self._hard_direction())
        blocks = as_row_blocks(X, np.ones(len(positions)))
        return PrivateRows(blocks, L2Ball(self.radius))


def _point(theta: Sequence[float] | FloatArray) -> tuple[float, ...]:
    """Return the public point as a tuple, refusing what is no point."""
    point = np.asarray(theta, dtype=np.float64)
    require(
        point.ndim == 1 and point.size >= 1 and bool(np.all(np.isfinite(point))),
        "theta must be a vector of finite numbers",
    )
    return tuple(point.tolist())


def _error(scale: float, bound: float) -> float:
    """Return Delta, a function of public numbers."""
    require(0.0 < bound < math.inf, "the loss must bound what one row may add")
    return max(_SENSITIVITY_ERROR * bound, RELATIVE_ERROR * scale)
