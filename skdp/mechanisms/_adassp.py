r"""Adaptive sufficient statistics perturbation: noisy second moments, then a ridge.

Notation (derived in docs/proofs/adassp.md)
-------------------------------------------
x        row after clipping, over its norm bound R, intercept constant included
y        target in [-1, 1]
A, b     sums of x x' and of y x, shapes (d, d) and (d,)
S        bound on the change of (A, b), in the Frobenius norm -> ``l2_sensitivity``
sigma    standard deviation of the noise                           -> ``noise_law``
k        bits of a row's entries                                        -> ``bits``
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from skdp._typing import FloatArray, IntArray, IntegerArray
from skdp._validation import check_count, check_positive
from skdp.accounting import (
    Adjacency,
    ApproximateDP,
    GaussianDP,
    Guarantee,
    SmoothedGaussianDP,
)
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._calibration import DOWN
from skdp.mechanisms._exact_moments import MOST_BITS, exact_moments
from skdp.mechanisms._gaussian import calibrated_gaussian
from skdp.mechanisms._noise import GaussianNoise
from skdp.mechanisms._noisy_moments import NoisyMoments
from skdp.mechanisms._rows_fit import check_rows
from skdp.mechanisms._smoothing import LatticeSmoothing, check_step
from skdp.random import RandomSource
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

__all__ = ["AdaSSP"]

_SOURCE = "one Gaussian release of second moments, docs/proofs/adassp.md"
#: Public bound on the rounding of the noise vector, in units of its scale.
_RELATIVE_ERROR = 2.0**-34
#: More coefficients would need a larger bound on the rounding, and gigabytes.
_MOST_COEFFICIENTS = 4096
#: S^2, reached by x of norm 1 and y = 1, or by two such at 60 degrees and y = 1, -1.
_SQUARED_SENSITIVITY = {Adjacency.ADD_REMOVE: 2.0, Adjacency.REPLACE_ONE: 4.5}


@dataclass(frozen=True, kw_only=True, slots=True)
class AdaSSP(Mechanism[PrivateRows, FloatArray]):
    r"""Release X'X and X'y with one Gaussian vector of noise, on a lattice.

    The output holds the upper triangle of :math:`A = \sum_i x_ix_i^\top`, row by row,
    and then :math:`b = \sum_i y_ix_i`, of rows divided by ``radius``;
    :meth:`moments` puts it into shape, and :class:`NoisyMoments` makes coefficients of
    it. The sums are exact: rows are cut to a grid of ``2^-bits`` first. Build one with
    :meth:`calibrate`.

    Parameters
    ----------
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    n_coefficients : int
        Number d of coefficients, intercept included, from 1 to 4,096.
    noise_law : GaussianNoise
        The noise of b and of the diagonal of A, in units of one row; off the diagonal
        it is smaller by sqrt(2).
    smoothing : LatticeSmoothing
        The finite-precision step of the noise.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Raises
    ------
    ValueError
        If the fields do not fit.

    Privacy
    -------
    One row changes (A, b) by at most sqrt(2) in the Frobenius norm under add-remove and
    by sqrt(4.5) under replace-one, and the noise is spherical in that norm: the exact
    curve of one Gaussian release, composed with the smoothing step. The eigenvalues of
    A, the least one included, need no release of their own: they are read off the noisy
    matrix. Proof in docs/proofs/adassp.md.

    References
    ----------
    Wang, "Revisiting differentially private linear regression: optimal and adaptive
    prediction and estimation in unbounded domain", UAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import ApproximateDP
    >>> from skdp.mechanisms import AdaSSP
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
    >>> mechanism = AdaSSP.calibrate(
    ...     ApproximateDP(1.0, 1e-6), radius=1.0, n_coefficients=1)
    >>> round(mechanism.noise_law.scale, 2)  # sqrt(2) times that of one number
    5.98
    >>> x = np.linspace(-1, 1, 20_001)
    >>> blocks = as_row_blocks(x[:, None], x / 2, labels=Targets(-1, 1))
    >>> data = PrivateRows(blocks, L2Ball(1.0))
    >>> output = mechanism.release(data, as_random_source(0)).output
    >>> coefficients, ridge = mechanism.moments(output).coefficients()
    >>> bool(abs(coefficients[0] - 0.5) < 0.01)
    True
    """

    radius: float
    n_coefficients: int
    noise_law: GaussianNoise
    smoothing: LatticeSmoothing
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        remedy = "Build the mechanism with calibrate."
        check_positive("radius", self.radius, remedy=remedy)
        check_count(
            "n_coefficients",
            self.n_coefficients,
            minimum=1,
            maximum=_MOST_COEFFICIENTS,
            remedy="Use fewer columns.",
        )
        require(
            isinstance(self.noise_law, GaussianNoise), "noise_law must be GaussianNoise"
        )
        check_step(self.noise_law, self.smoothing, self.n_numbers, self.adjacency)
        require(
            self.smoothing.error >= _RELATIVE_ERROR * self.noise_law.scale * DOWN,
            "smoothing.error must cover the rounding of the noise",
        )
        require(self.bits >= 1, "the lattice must be finer than a row")

    @classmethod
    def calibrate(
        cls, target: ApproximateDP, *, radius: float, n_coefficients: int
    ) -> Self:
        """Return the least noisy instance whose computed curve meets the target.

        Parameters
        ----------
        target : ApproximateDP
            What to promise, with its adjacency; delta > 0.
        radius : float
            Bound R on the norm of a row, intercept constant included.
        n_coefficients : int
            Number of coefficients.

        Returns
        -------
        AdaSSP
            Its ``guarantee`` implies ``target``.
        """
        mu, smoothing_mu = calibrated_gaussian(target.epsilon_bound, target.delta_bound)
        sigma = _sensitivity(target.adjacency) / mu
        smoothing = LatticeSmoothing.concentrated(
            error=_RELATIVE_ERROR * sigma,
            n_features=_n_numbers(n_coefficients),
            mu=smoothing_mu,
            adjacency=target.adjacency,
        )
        return cls(
            radius=radius,
            n_coefficients=n_coefficients,
            noise_law=GaussianNoise(sigma),
            smoothing=smoothing,
            adjacency=target.adjacency,
        )

    @property
    def n_numbers(self) -> int:
        """Length of the output: d (d + 1) / 2 for A and d for b."""
        return _n_numbers(self.n_coefficients)

    @property
    def l2_sensitivity(self) -> float:
        """Bound on the change of (A, b) in the Frobenius norm, in units of one row."""
        return _sensitivity(self.adjacency)

    @property
    def sensitivity_ratio(self) -> float:
        """L2 sensitivity over the noise scale: mu of the ideal release."""
        return self.l2_sensitivity / self.noise_law.scale

    @property
    def weights(self) -> FloatArray:
        """What makes the Euclidean norm of the output the Frobenius norm."""
        rows, columns = self._triangle()
        squared = np.where(rows == columns, 1.0, 2.0)
        out: FloatArray = np.sqrt(np.append(squared, np.ones(self.n_coefficients)))
        return out

    @property
    def bits(self) -> int:
        """Bits of a row's entries: products are then multiples of the lattice step."""
        exponent = math.frexp(self.smoothing.grid)[1] - 1
        return min(MOST_BITS, -exponent // 2)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release, smoothing step included."""
        return SmoothedGaussianDP(
            self.sensitivity_ratio,
            self.smoothing.rho,
            adjacency=self.adjacency,
            assumptions=(
                f"row L2 norm <= {self.radius:.6g} (enforced by clipping)",
                f"rounding of the noise drawn <= {self.smoothing.error:.3g}",
            ),
            source=_SOURCE,
        )

    @property
    def ideal_guarantee(self) -> Guarantee:
        """Guarantee of the sums plus real-valued noise."""
        return GaussianDP(self.sensitivity_ratio, adjacency=self.adjacency)

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Add exact sums and lattice noise as integers, and publish.

        Parameters
        ----------
        data : PrivateRows
            Rows with targets in [-1, 1].
        source : RandomSource
            Where the randomness comes from.

        Returns
        -------
        Release
            ``output`` has shape (n_numbers,).

        Raises
        ------
        ValueError
            If the public shape or norm bound of ``data`` is not the mechanism's.
        """
        check_rows(self, data)
        noise = self.noise_law.draw(self.n_numbers, source) / self.weights
        grid = self.smoothing.grid
        # the sums are multiples of the step, so it may be applied to the noise alone,
        # and is not rounded before they are added
        steps = self.smoothing.release_steps(noise, source)
        total = self._steps(data) + steps.astype(object)
        return Release(output=total.astype(np.float64) * grid, spent=self.guarantee)

    def moments(self, output: FloatArray) -> NoisyMoments:
        """Return what was released in the shape of a matrix and a vector.

        Parameters
        ----------
        output : ndarray of shape (n_numbers,)
            The released numbers.

        Returns
        -------
        NoisyMoments
            Of rows divided by ``radius``: a coefficient of theirs is ``radius`` times
            that of the rows.
        """
        d = self.n_coefficients
        gram = np.zeros((d, d))
        rows, columns = self._triangle()
        gram[rows, columns] = gram[columns, rows] = output[:-d]
        return NoisyMoments(gram, output[-d:].copy(), self.noise_law.scale)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Recover the noise, spherical: sqrt(2) times what is off the diagonal."""
        noise: FloatArray = (output - self._sums(data)) * self.weights
        return noise

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log density on one data set, which is summed once."""
        sums, weights = self._sums(data), self.weights
        stretch = float(np.sum(np.log(weights)))
        return lambda output: (
            self.noise_law.log_density((output - sums) * weights) + stretch
        )

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log density of the sums plus real-valued noise."""
        return self.log_density_on(data)(output)

    def _sums(self, data: PrivateRows) -> FloatArray:
        sums: FloatArray = self._steps(data).astype(np.float64) * self.smoothing.grid
        return sums

    def _triangle(self) -> tuple[IntArray, IntArray]:
        rows, columns = np.triu_indices(self.n_coefficients)
        return rows, columns

    def _steps(self, data: PrivateRows) -> IntegerArray:
        """Return A and b as multiples of the lattice step: NOT private."""
        gram, moments = exact_moments(data, self.radius, self.bits)
        unit = int(2.0 ** (-2 * self.bits) / self.smoothing.grid)
        sums: IntegerArray = np.append(gram[self._triangle()], moments) * unit
        return sums

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield one row more, or two rows at 60 degrees and opposite targets."""
        d = self.n_coefficients
        first, second = np.zeros((2, d))
        first[0], second[:2] = 1.0, (0.5, math.sqrt(0.75)) if d > 1 else (-1.0,)
        extra = [(first, 1.0)]
        for name, base in (("nobody else", []), ("ten others", [(second, 0.3)] * 10)):
            other = base
            if self.adjacency is Adjacency.REPLACE_ONE:
                other = [*base, (second, -1.0 if d > 1 else 1.0)]
            yield AdjacentPair(name, self._rows([*base, *extra]), self._rows(other))

    def _rows(self, table: list[tuple[FloatArray, float]]) -> PrivateRows:
        X = np.zeros((len(table), self.n_coefficients))
        y = np.zeros(len(table))
        for i, (row, target) in enumerate(table):
            X[i], y[i] = self.radius * row, target
        return PrivateRows(
            as_row_blocks(X, y, labels=Targets(-1.0, 1.0)), L2Ball(self.radius)
        )

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield small and large epsilon, one to four coefficients, both relations."""
        for epsilon, d in ((0.1, 1), (1.0, 2), (8.0, 4)):
            target = ApproximateDP(epsilon, 1e-6)
            yield cls.calibrate(target, radius=0.5 * d, n_coefficients=d)
        target = ApproximateDP(1.0, 1e-6, adjacency=Adjacency.REPLACE_ONE)
        for d in (1, 3):
            yield cls.calibrate(target, radius=2.0, n_coefficients=d)


def _sensitivity(adjacency: Adjacency) -> float:
    return math.sqrt(_SQUARED_SENSITIVITY[adjacency])


def _n_numbers(n_coefficients: int) -> int:
    return n_coefficients * (n_coefficients + 3) // 2
