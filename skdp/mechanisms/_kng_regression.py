r"""Linear and quantile regression by the K-norm gradient mechanism, on a box.

Notation (derived in docs/proofs/kng_regression.md)
---------------------------------------------------
x, y     row of norm at most R with its constant, target within [-Y, Y]
theta    coefficients, intercept coordinate last; within a public box
tau      which quantile, for the pinball loss                  -> ``quantile``
q        score ``-|sum of the gradients of the loss at theta|``
Delta    ``max(tau, 1 - tau) R``, or ``R (R T + Y)`` with T the largest norm in the box
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skdp._typing import FloatArray
from skdp.accounting import Adjacency, Guarantee, PureDP
from skdp.mechanisms._base import AdjacentPair, Mechanism, Release, require
from skdp.mechanisms._box_exponential import BoxExponential
from skdp.mechanisms._exponential import EXPONENTIAL, ExponentialMechanism
from skdp.mechanisms._kng_scores import (
    gradient_norms,
    quantile_gradients,
    squared_gradients,
)
from skdp.random import RandomSource
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks

__all__ = ["KNGRegression"]

#: Dimensions in which the box is filled by a grid.
_GRID_DIMENSION = 3
#: Rounding of scores, per unit of (1 + d), in units of the sensitivity.
_SCORE_ROUNDING = 2.0**-16
#: Binary places of a point of the sequence.
_PLACES = 40
_NORMS = ("l2", "sup")
_FEWER = "there are fewer than 2^31 rows"


@dataclass(frozen=True, kw_only=True, slots=True)
class KNGRegression(Mechanism[PrivateRows, FloatArray]):
    r"""Draw regression coefficients at which the gradient of the loss is small.

    In up to three dimensions the box is cut into cells, one is chosen by the scores of
    the centres, and a point is drawn from it. In more dimensions the choice is among a
    fixed public sequence of points that fills the box evenly. Build one with
    :meth:`calibrate`.

    Parameters
    ----------
    epsilon : float
        Privacy loss bound in nats.
    radius : float
        Bound R > 0 on the L2 norm of a row, intercept constant included.
    box : tuple of float
        Bound > 0 on each coordinate of theta, in size; public.
    quantile : float, optional
        tau within (0, 1) selects the pinball loss. None is the squared loss.
    target_bound : float, default=1.0
        Bound Y on the size of a target; the pinball loss does not need it.
    n_candidates : int, default=4096
        Most cells, or points.
    norm : {"l2", "sup"}, default="l2"
        Norm of the gradient. Both have the same sensitivity for rows bounded in the L2
        norm, so the larger one is the default.
    resolution : int, default=4096
        Lattice points along each axis of a cell, at least.
    adjacency : Adjacency
        Neighbouring relation of the guarantee.

    Raises
    ------
    ValueError
        If the fields do not fit. Without a box the sensitivity of the squared loss is
        infinite, and the law for the pinball loss does not exist.

    Privacy
    -------
    Pure epsilon and (epsilon^2 / 8)-zCDP at once: an exponential mechanism on public
    candidates, in exact arithmetic, whose scores move by at most Delta when a row comes
    or goes, and by twice that when one is replaced. Running time depends on the number
    of rows, and on the scores a little. Proof in docs/proofs/kng_regression.md.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.accounting import PureDP
    >>> from skdp.mechanisms import KNGRegression
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
    >>> x = np.linspace(-1, 1, 2000)[:, None]
    >>> blocks = as_row_blocks(x, 0.5 * x[:, 0], labels=Targets(-1.0, 1.0))
    >>> mechanism = KNGRegression.calibrate(
    ...     PureDP(1.0), radius=1.0, box=(2.0,), quantile=0.5)
    >>> rows = PrivateRows(blocks, L2Ball(1.0))
    >>> theta = mechanism.release(rows, as_random_source(0)).output
    >>> bool(abs(theta[0] - 0.5) < 0.1)
    True
    """

    epsilon: float
    radius: float
    box: tuple[float, ...]
    quantile: float | None = None
    target_bound: float = 1.0
    n_candidates: int = 4096
    norm: str = "l2"
    resolution: int = 2**12
    adjacency: Adjacency = Adjacency.ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse fields with which the guarantee would not hold."""
        object.__setattr__(self, "box", tuple(float(x) for x in self.box))
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        require(0.0 < self.radius < 1e100, "radius must be a bound on a row")
        require(
            len(self.box) >= 1 and all(0.0 < x < 1e100 for x in self.box),
            "the box must be bounded in every coordinate",
        )
        require(
            self.quantile is None or 0.0 < self.quantile < 1.0,
            "quantile must be within (0, 1)",
        )
        require(0.0 < self.target_bound < 1e100, "target_bound must be a number")
        require(self.norm in _NORMS, "norm must be 'l2' or 'sup'")
        require(1 <= self.n_candidates <= 2**16, "n_candidates must be 1 to 2^16")

    @classmethod
    def calibrate(
        cls,
        target: PureDP,
        *,
        radius: float,
        box: tuple[float, ...],
        quantile: float | None = None,
        target_bound: float = 1.0,
        n_candidates: int = 4096,
        norm: str = "l2",
    ) -> Self:
        """Return the instance that spends the target.

        Parameters
        ----------
        target : PureDP
            What to promise, with its adjacency.
        radius : float
            Bound on the L2 norm of a row, intercept constant included.
        box : tuple of float
            Bound on each coordinate of theta.
        quantile : float, optional
            Which quantile; None for the squared loss.
        target_bound : float, default=1.0
            Bound on the size of a target.
        n_candidates : int, default=4096
            Most cells, or points.
        norm : {"l2", "sup"}, default="l2"
            Norm of the gradient.

        Returns
        -------
        KNGRegression
            Its ``guarantee`` implies ``target``.
        """
        return cls(
            epsilon=target.epsilon_bound,
            radius=radius,
            box=box,
            quantile=quantile,
            target_bound=target_bound,
            n_candidates=n_candidates,
            norm=norm,
            adjacency=target.adjacency,
        )

    @property
    def n_coefficients(self) -> int:
        """Length of theta."""
        return len(self.box)

    @property
    def sensitivity(self) -> float:
        """How much one person can change a score, rounding included."""
        if self.quantile is not None:
            one = max(self.quantile, 1.0 - self.quantile) * self.radius
        else:
            reach = math.hypot(*self.box)
            one = self.radius * (self.radius * reach + self.target_bound)
        sides = 2.0 if self.adjacency is Adjacency.REPLACE_ONE else 1.0
        return sides * one * (1.0 + (1 + self.n_coefficients) * _SCORE_ROUNDING)

    @property
    def is_grid(self) -> bool:
        """Whether cells fill the box, or points of a sequence."""
        return self.n_coefficients <= _GRID_DIMENSION

    @property
    def law(self) -> BoxExponential | ExponentialMechanism:
        """What draws from scores."""
        if not self.is_grid:
            return ExponentialMechanism(
                self.epsilon,
                self.sensitivity,
                selection=EXPONENTIAL,
                adjacency=self.adjacency,
            )
        d = self.n_coefficients
        # a rounding error below could only make one cell fewer
        each = max(1, math.floor(self.n_candidates ** (1 / d) + 1e-9))
        return BoxExponential(
            epsilon=self.epsilon,
            sensitivity=self.sensitivity,
            lower=tuple(-x for x in self.box),
            upper=self.box,
            n_cells=(each,) * d,
            resolution=self.resolution,
            adjacency=self.adjacency,
        )

    @property
    def candidates(self) -> FloatArray:
        """The public coefficients that are scored, shape (K, d)."""
        law = self.law
        if isinstance(law, BoxExponential):
            return law.centers
        points = _even_points(self.n_candidates, self.n_coefficients) * self.box
        out: FloatArray = np.rint(points / self.lattice) * self.lattice
        return out

    @property
    def lattice(self) -> float:
        """Step of the lattice that carries every output."""
        law = self.law
        if isinstance(law, BoxExponential):
            return law.lattice
        return math.ldexp(1.0, math.frexp(min(self.box))[1] - _PLACES)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release."""
        return self.ideal_guarantee

    @property
    def ideal_guarantee(self) -> Guarantee:
        """The same as :attr:`guarantee`: the release is exact as it stands."""
        notes = (f"row L2 norm <= {self.radius:.6g} (enforced by clipping)", _FEWER)
        return replace(self.law.guarantee, assumptions=notes)

    def scores(self, data: PrivateRows) -> FloatArray:
        """Return the private scores of the candidates, shape (K,).

        Parameters
        ----------
        data : PrivateRows
            Rows with targets.
        """
        require(
            data.n_coefficients == self.n_coefficients,
            "the rows must have as many coefficients as the box",
        )
        require(data.ball.radius <= self.radius, "radius must bound the rows")
        theta = self.candidates
        if self.quantile is not None:
            gradients = quantile_gradients(
                data.projected(), theta, quantile=self.quantile, bound=self.radius
            )
        else:
            gradients = squared_gradients(
                _within(data, self.target_bound),
                theta,
                bound=self.radius,
                target_bound=self.target_bound,
            )
        return -gradient_norms(gradients, self.norm)

    def release(self, data: PrivateRows, source: RandomSource) -> Release[FloatArray]:
        """Draw coefficients, shape (n_coefficients,)."""
        law, scores = self.law, self.scores(data)
        output = law.release(scores, source).output
        if not isinstance(law, BoxExponential):
            output = self.candidates[int(output[0])]
        return Release(output=output, spent=self.guarantee)

    def outcomes(self, data: PrivateRows) -> FloatArray | None:
        """Return every lattice point of a coarse one-dimensional box."""
        law = self.law
        return law.outcomes([]) if isinstance(law, BoxExponential) else None

    def log_density_on(self, data: PrivateRows) -> Callable[[FloatArray], float]:
        """Return the log probability on one data set, for many outputs."""
        law, scores = self.law, self.scores(data)
        if isinstance(law, BoxExponential):
            return law.log_density_on(scores)
        candidates, log_pmf = self.candidates, np.log(law.pmf(scores))

        def log_density(output: FloatArray) -> float:
            away = np.sum(np.abs(candidates - output), axis=1)
            return float(log_pmf[np.argmin(away)])

        return log_density

    def log_density(self, output: FloatArray, data: PrivateRows) -> float:
        """Log probability of a lattice point, or of the nearest candidate."""
        return self.log_density_on(data)(output)

    def noise(self, output: FloatArray, data: PrivateRows) -> FloatArray:
        """Return how far the output is from the best candidate."""
        away: FloatArray = output - self.candidates[int(np.argmax(self.scores(data)))]
        return away

    def hard_pairs(self) -> Iterator[AdjacentPair[PrivateRows]]:
        """Yield rows that agree on theta, and one more that does not."""
        bulk, x = self._bulk(), self.radius
        for name, side in (("low", 1.0), ("high", -1.0)):
            rest = [(position, side * target) for position, target in bulk]
            one, other = (x, -side * self.target_bound), (x, side * self.target_bound)
            left = [*rest, other] if self.adjacency is Adjacency.REPLACE_ONE else rest
            yield AdjacentPair(
                f"one target {name}", self._rows(left), self._rows([*rest, one])
            )
        if self.adjacency is Adjacency.ADD_REMOVE:
            yield AdjacentPair("nobody, and one", self._rows([]), self._rows([one]))

    def _bulk(self) -> list[tuple[float, float]]:
        """Return rows whose gradient turns between the last two cells of an axis.

        One row more then brings the last cell away from 0 and the others towards it.
        """
        x, end = self.radius, self.box[0]
        cells = max(3, math.floor(self.n_candidates ** (1 / self.n_coefficients)))
        if self.quantile is not None:
            return [(x, min(x * end * (1 - 2 / cells), self.target_bound))] * 30
        # the last cell but one is a sensitivity below 0, the last one far above
        n = math.ceil(20 * cells * self.sensitivity / (self.epsilon * x * x * end))
        root = end * (1 - 3 / cells) + self.sensitivity / (n * x * x)
        return [(x, min(x * root, self.target_bound))] * n

    def _rows(self, table: list[tuple[float, float]]) -> PrivateRows:
        """Place (position, target) rows on the first axis."""
        X = np.zeros((len(table), self.n_coefficients))
        X[:, 0] = [position for position, _ in table]
        y = np.array([target for _, target in table], dtype=np.float64)
        bound = self.target_bound
        targets = Targets(-bound, bound, bound=bound)
        return PrivateRows(as_row_blocks(X, y, labels=targets), L2Ball(self.radius))

    @classmethod
    def audit_instances(cls) -> Iterator[Self]:
        """Yield both losses, one and more dimensions, both relations."""
        for adjacency in Adjacency:
            yield cls(
                epsilon=1.0,
                radius=1.0,
                box=(0.9,),
                quantile=0.5,
                n_candidates=24,
                resolution=2,
                adjacency=adjacency,
            )
        yield cls(epsilon=1.0, radius=2.0, box=(0.2,), n_candidates=24, resolution=2)
        target = PureDP(1.0)
        yield cls.calibrate(
            target, radius=1.0, box=(1.0, 2.0), quantile=0.9, n_candidates=64
        )
        yield cls.calibrate(
            target, radius=1.0, box=(1.0,) * 4, quantile=0.25, n_candidates=32
        )


def _within(data: PrivateRows, bound: float) -> Iterator[tuple[FloatArray, FloatArray]]:
    for X, y in data.projected():
        yield X, np.clip(y, -bound, bound)


def _even_points(n: int, d: int) -> FloatArray:
    """Return n points that fill [-1, 1]^d evenly: a fixed additive sequence.

    Multiples of powers of 1/phi modulo 1, with phi the root of phi^(d+1) = phi + 1
    (Roberts 2018), cut to some binary places so that they are the same everywhere.
    """
    phi = 2.0
    for _ in range(64):
        phi = (1.0 + phi) ** (1.0 / (d + 1))
    step = np.round(phi ** -np.arange(1.0, d + 1) * 2.0**_PLACES)
    turns = np.arange(1, n + 1)[:, None] * step + 0.5 * 2.0**_PLACES
    turns = np.mod(turns, 2.0**_PLACES)
    out: FloatArray = turns * 2.0 ** (1 - _PLACES) - 1.0
    return out
