r"""A private direction of largest second moment, by the exponential mechanism.

Notation (derived in docs/proofs/principal_direction.md)
--------------------------------------------------------
x        row after clipping, norm at most R                             -> ``radius``
v        unit vector of length q; score ``sum (x.v)^2``
s        nats of log density per unit of score          -> ``inverse_temperature``
k        1 under add-remove, 2 under replace-one
p        public bound on the acceptance of a proposal        -> ``least_acceptance``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp._validation import check_count
from skdp.accounting import Adjacency, Guarantee, Public, PureDP, RuntimeCost
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._bounded_range import (
    SMOOTHING_SHARE,
    bounded_range,
    check_pure_step,
)
from skdp.mechanisms._smoothing import LatticeSmoothing
from skdp.random import RandomSource
from skdp.rows import L2Ball, PrivateRows, as_row_blocks
from skdp.samplers import BatchedLoop, Bingham, acceptance_limit

__all__ = ["PrincipalDirection"]

#: Public bound on the rounding of a computed log density, in units of epsilon.
_ROUNDING = 2.0**-20
#: A log density that is off by eta costs this many eta in pure epsilon.
_PURE_COST = 4.0
#: Public bound on the rounding of a computed unit vector.
_ERROR = 2.0**-30
#: The limit of the acceptance is the least one found, not a proved bound.
_MARGIN = 0.9
#: Chance that one batch of proposals is not enough.
_BATCH_FAILURE = 1e-12
_SOURCE = "Bingham law of the second moments, docs/proofs/principal_direction.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class PrincipalDirection(Mechanism[PrivateRows, FloatArray]):
    r"""Draw a direction, with higher density where the rows are longer.

    The ideal release is a unit vector of the Bingham law, whose density is proportional
    to :math:`\exp(s\sum_i (x_i\cdot v)^2)`; its sign is a fair coin. It is drawn
    exactly, by rejection below an angular central Gaussian envelope, and published
    after :class:`LatticeSmoothing`, whose noise may carry it a little off the sphere.
    Build one with :meth:`calibrate`.

    Parameters
    ----------
    radius : float
        Bound R > 0 on the L2 norm of a row.
    n_features : int
        Length q of the direction, >= 1.
    inverse_temperature : float
        s > 0: the larger, the more accurate and the less private.
    smoothing : LatticeSmoothing
        The finite-precision step at the end.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    Pure epsilon = s R^2 under add-remove and 2 s R^2 under replace-one, and
    (epsilon^2 / 8)-zCDP, since the log ratio lies in an interval of that length.
    Rounding and smoothing add what :attr:`guarantee` says. The guarantee is about the
    output alone. Proposals come in batches of public size, of which one is enough but
    for a chance of 1e-12 (see :attr:`loop_cost`); passes over rows and the eigenvectors
    take a time that depends on the data. Proof in docs/proofs/principal_direction.md.

    References
    ----------
    Chaudhuri, Sarwate and Sinha, "A near-optimal algorithm for differentially-private
    principal components", JMLR 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import PrincipalDirection
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> mechanism = PrincipalDirection.calibrate(
    ...     PureDP(1.0), radius=1.0, n_features=2)
    >>> rows = np.tile([[0.6, 0.8]], (5000, 1))
    >>> data = PrivateRows(as_row_blocks(rows), L2Ball(1.0))
    >>> v = mechanism.release(data, as_random_source(0)).output
    >>> bool(abs(v @ [0.6, 0.8]) > 0.999)
    True
    """

    radius: float
    n_features: int
    inverse_temperature: float
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(0.0 < self.radius < math.inf, "radius must be a bound on a row")
        require(self.n_features >= 1, "n_features must be at least 1")
        require(
            0.0 < self.inverse_temperature < math.inf,
            "inverse_temperature must be above 0",
        )
        require(self.smoothing.error >= _ERROR, f"smoothing.error must be {_ERROR:g}")
        check_pure_step(self.smoothing, self.n_features, self.adjacency)

    @classmethod
    def calibrate(cls, target: PureDP, *, radius: float, n_features: int) -> Self:
        """Return the coldest instance whose computed guarantee meets the target.

        Parameters
        ----------
        target : PureDP
            What to promise, with its adjacency.
        radius : float
            Bound on the L2 norm of a row.
        n_features : int
            Number of columns.

        Returns
        -------
        PrincipalDirection
            Its ``guarantee`` implies ``target``.
        """
        remedy = "Pass the number of columns."
        n_features = check_count("n_features", n_features, minimum=1, remedy=remedy)
        share = SMOOTHING_SHARE * target.epsilon_bound
        # a little less than what is left, for the rounding of these few operations
        rest = (target.epsilon_bound - share) * (1.0 - 2.0**-38)
        rest /= 1.0 + _PURE_COST * _ROUNDING
        return cls(
            radius=radius,
            n_features=n_features,
            inverse_temperature=rest / (_sides(target.adjacency) * radius**2),
            smoothing=LatticeSmoothing.pure(
                error=_ERROR,
                n_features=n_features,
                epsilon=share,
                adjacency=target.adjacency,
            ),
            adjacency=target.adjacency,
        )

    @property
    def pure_epsilon(self) -> float:
        """Pure epsilon of the ideal draw."""
        return _sides(self.adjacency) * self.inverse_temperature * self.radius**2

    @property
    def rounding(self) -> float:
        """Public bound on the rounding of a computed log density, in nats."""
        return _ROUNDING * self.pure_epsilon

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, rounding and smoothing step included."""
        return self._guarantee(_PURE_COST * self.rounding, self.smoothing)

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the exact real-valued draw."""
        return self._guarantee(0.0, None)

    def _guarantee(self, rounding: float, step: LatticeSmoothing | None) -> Guarantee:
        return bounded_range(
            self.pure_epsilon,
            rounding=rounding,
            step=step,
            adjacency=self.adjacency,
            assumptions=(
                f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
                f"rounding of the computed log density <= {self.rounding:.3g}",
                f"rounding of the computed draw <= {self.smoothing.error:.3g}",
            ),
            source=_SOURCE,
        )

    @property
    def least_acceptance(self) -> float:
        """Public bound on the acceptance of a proposal, whatever the rows.

        Nine tenths of the least acceptance that any search of spectra has found.
        """
        return _MARGIN * acceptance_limit(self.n_features)

    @property
    def loop_cost(self) -> RuntimeCost:
        """What the number of batches of proposals tells, apart from the draw.

        Joined with :attr:`guarantee` by :func:`skdp.accounting.with_runtime`.
        """
        return RuntimeCost(
            "batched",
            p_lo=self.least_acceptance,
            p_hi=1.0,
            batch=self._loop(np.zeros(self.n_features)).batch,
            adjacency=self.adjacency,
            assumptions=(
                "the least acceptance found by search is within 10 %",
                "time spent outside the loop (rows, eigenvectors) is not observed",
            ),
        )

    def _loop(self, spectrum: FloatArray) -> BatchedLoop:
        target = Bingham(spectrum).target()
        return BatchedLoop(target, Public(self.least_acceptance), _BATCH_FAILURE)

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw once, smooth, and publish a vector of shape (n_features,)."""
        spectrum, axes = self._decomposed(data)
        draw = axes @ self._loop(spectrum).draw(source)
        output = self.smoothing.release(draw, source).output
        return Release(output=output, spent=self.guarantee)

    def _decomposed(self, data: PrivateRows) -> tuple[FloatArray, FloatArray]:
        """Return the spectrum of the Bingham law, and its axes as columns."""
        values, axes = np.linalg.eigh(self._second_moment(data))
        top = float(values[-1])
        return np.maximum(self.inverse_temperature * (top - values), 0.0), axes

    def _second_moment(self, data: PrivateRows) -> FloatArray:
        require(
            data.n_coefficients == self.n_features,
            "the rows must have n_features columns",
        )
        require(data.ball.radius <= self.radius, "radius must bound the rows")
        moment = np.zeros((self.n_features, self.n_features))
        for X, _ in data.projected():
            moment += X.T @ X
        return moment

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log density against the uniform law on the sphere.

        An output off the sphere stands for its direction.
        """
        spectrum, axes = self._decomposed(data)
        log_mean = Bingham(spectrum).log_mean

        def log_density(output: FloatArray) -> float:
            along = axes.T @ output
            return -float(spectrum @ along**2) / float(output @ output) - log_mean

        return log_density

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the ideal draw against the uniform law on the sphere."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Return the gradient of minus the log density on the sphere."""
        v = np.broadcast_to(output, (self.n_features,))
        # the origin has no direction, and no gradient
        v = v / (math.sqrt(float(v @ v)) or 1.0)
        pull = 2.0 * self.inverse_temperature * self._second_moment(data) @ v
        away: FloatArray = v * float(v @ pull) - pull
        return away

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield rows along one axis, and one row more across."""
        q = self.n_features
        for name, n in (("nobody, and one", 0), ("few, and one across", 12)):
            first, across = np.zeros((n + 1, q)), np.zeros((1, q))
            first[:, 0], across[0, -1] = self.radius, self.radius
            left = first if self.adjacency is Adjacency.REPLACE_ONE else first[1:]
            yield AdjacentPair(
                name, self._rows(left), self._rows(np.vstack([first[1:], across]))
            )

    def _rows(self, X: FloatArray) -> PrivateRows:
        return PrivateRows(as_row_blocks(X), L2Ball(self.radius))

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small and large epsilon, few and more columns, both relations."""
        for epsilon, radius, q in ((1.0, 1.0, 2), (0.1, 2.0, 3), (8.0, 0.5, 5)):
            target = PureDP(epsilon)
            yield cls.calibrate(target, radius=radius, n_features=q)
        target = PureDP(1.0, adjacency=Adjacency.REPLACE_ONE)
        yield cls.calibrate(target, radius=1.0, n_features=3)


def _sides(adjacency: Adjacency) -> float:
    """Return 1 where a row comes or goes, 2 where one is replaced."""
    return 2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0
