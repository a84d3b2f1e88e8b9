"""Exact draws from a Gibbs posterior, by rejection under a proved envelope."""

from typing import Literal

import numpy as np

from skdp._typing import BoolArray, FloatArray
from skdp.random import RandomSource, uniform
from skdp.samplers._core_tail import CoreTail
from skdp.samplers._envelope import Envelope, Proposals
from skdp.samplers._gauss import Gauss
from skdp.samplers._mode import near_mode
from skdp.samplers._target import GibbsTarget

__all__ = ["GibbsSampler"]

#: Proposals of a batch, at least and at most, and of the first one at most.
_LEAST, _MOST, _FIRST = 4, 2**14, 256
#: A batch is at most this many times as large as all before it together.
_GROWTH = 2


class GibbsSampler:
    r"""Exact independent draws from a :class:`GibbsTarget`.

    Parameters
    ----------
    target : GibbsTarget
    source : RandomSource
        Where the randomness comes from.
    envelope : {"auto", "core-tail", "gauss"}, default="auto"
        ``"auto"`` takes the one of smaller mass, which accepts more. ``"gauss"`` needs
        a ball or the squared loss. The choice changes the speed alone.
    expansion : ndarray of shape (n_coefficients,), optional
        Point of the domain to expand around; near the mode by default.

    Attributes
    ----------
    n_proposals, n_accepted : int
        Counts so far. Functions of private data.
    max_log_acceptance : float
        Largest log acceptance before it is cut at 0: positive beyond rounding only if
        an envelope were wrong. A function of private data.

    Notes
    -----
    The law is exact in real arithmetic for every data set, every point of expansion and
    every envelope; these, and the number of rows, change the time alone. The time is
    not bounded, and it tells something about the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import LogisticLoss
    >>> from skdp.random import as_random_source
    >>> from skdp.rows import L2Ball, PrivateRows, as_row_blocks
    >>> from skdp.samplers import Ball, GibbsSampler, GibbsTarget
    >>> blocks = as_row_blocks(np.array([[0.6, 0.8]]), np.array([1.0]))
    >>> target = GibbsTarget(
    ...     PrivateRows(blocks, L2Ball(1.0)), LogisticLoss(),
    ...     inverse_temperature=1.0, alpha=1.0, ball=Ball.around_zero(2, 1.0))
    >>> draws = GibbsSampler(target, as_random_source(0)).draw(1000)
    >>> draws.shape, bool((np.linalg.norm(draws, axis=1) <= 1).all())
    ((1000, 2), True)
    """

    def __init__(
        self,
        target: GibbsTarget,
        source: RandomSource,
        *,
        envelope: Literal["auto", "core-tail", "gauss"] = "auto",
        expansion: FloatArray | None = None,
    ) -> None:
        if envelope not in ("auto", "core-tail", "gauss"):
            raise ValueError(
                f"envelope is not one of the choices, got {envelope!r}. Allowed: "
                "'auto', 'core-tail', 'gauss'. Leave it at 'auto'."
            )
        self._target, self._source = target, source
        self.n_proposals, self.n_accepted = 0, 0
        self.max_log_acceptance = -np.inf
        if expansion is None:
            self._theta, g, H = near_mode(target)
        else:
            self._theta = np.asarray(expansion, dtype=np.float64)
            g, H = target.gradient_hessian(self._theta)
        self._rise = target.rise_from(self._theta)
        found = _fitted(target, envelope, self._theta, g, H)
        self._envelope = min(found, key=lambda candidate: candidate.log_mass)

    @property
    def expansion(self) -> FloatArray:
        """Point that is expanded around; a function of private data."""
        return self._theta

    @property
    def envelope(self) -> str:
        """Name of the envelope in use; a function of private data."""
        return "gauss" if isinstance(self._envelope, Gauss) else "core-tail"

    def draw(self, size: int) -> FloatArray:
        """Return independent draws, shape (size, n_coefficients).

        Parameters
        ----------
        size : int
            How many, >= 0.
        """
        kept = [np.empty((0, self._target.n_coefficients))]
        missing = size
        while missing > 0:
            accepted = self._accepted(self._batch(missing))[:missing]
            kept.append(accepted)
            missing -= len(accepted)
        return np.concatenate(kept)

    def _batch(self, missing: int) -> int:
        """Return how many proposals are likely to give what is missing."""
        rate = (self.n_accepted + 1.0) / (self.n_proposals + 1.0)
        limit = min(_MOST, _FIRST + _GROWTH * self.n_proposals)
        return min(max(_LEAST, int(1.1 * missing / rate) + 1), limit)

    def _accepted(self, size: int) -> FloatArray:
        """Return the accepted ones of some proposals, in order."""
        drawn = self._envelope.propose(size, self._source)
        points = self._theta + drawn.steps
        # accept where an exponential variable is at least minus the log acceptance
        wait = -np.log(uniform(size, self._source))
        open_ = drawn.valid & (wait >= -np.minimum(drawn.log_ceiling, 0.0))
        open_ &= self._target.inside(points)
        log_acceptance = self._log_acceptance(drawn, open_)
        self.max_log_acceptance = max(
            self.max_log_acceptance, float(np.max(log_acceptance, initial=-np.inf))
        )
        # a value above 0 counts as 0
        taken = wait[open_] >= -np.minimum(log_acceptance, 0.0)
        self.n_proposals += size
        self.n_accepted += int(np.count_nonzero(taken))
        return points[open_][taken]

    def _log_acceptance(self, drawn: Proposals, open_: BoolArray) -> FloatArray:
        """Return the log acceptance of the points that are still open."""
        if self._target.is_gaussian and isinstance(self._envelope, Gauss):
            # the quadratic model is the potential: what is left is the tilt
            return drawn.log_ceiling[open_]
        out: FloatArray = drawn.log_height[open_] - self._rise(drawn.steps[open_])
        return out


def _fitted(
    target: GibbsTarget,
    envelope: str,
    theta: FloatArray,
    g: FloatArray,
    H: FloatArray,
) -> list[Envelope]:
    """Return the envelopes to choose from, at least one."""
    gauss_fits = target.ball is not None or target.is_gaussian
    wanted: list[Envelope] = []
    if envelope != "gauss" and not (envelope == "auto" and target.is_gaussian):
        core_tail = CoreTail.fit(target, theta, g, H)
        if core_tail is not None:
            wanted.append(core_tail)
    if not wanted or (envelope != "core-tail" and gauss_fits):
        wanted.append(Gauss.fit(target, theta, g, H))
    return wanted
