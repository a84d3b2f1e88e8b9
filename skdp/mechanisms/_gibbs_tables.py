"""Tables on which a Gibbs posterior uses up its guarantee; all public numbers."""

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from skdp.losses import Oscillating
from skdp.samplers import Ball

__all__ = ["hard_tables"]

#: A row: its place on an axis, in units of the norm bound, and its label.
Row = tuple[float, float]

#: Nats by which the density falls across the ball.
_FALL = 40.0
#: Standard deviations between the mode and where a loss bends.
_AWAY = 6.0
#: Bend of all short rows together, relative to the ridge, over the distance.
_BEND = 0.04
_MOST_ROWS = 20_000


class _Gibbs(Protocol):
    @property
    def loss(self) -> Oscillating: ...
    @property
    def radius(self) -> float: ...
    @property
    def inverse_temperature(self) -> float: ...
    @property
    def alpha(self) -> float: ...
    @property
    def ball(self) -> Ball | None: ...
    @property
    def oscillation(self) -> float: ...
    @property
    def lipschitz(self) -> float: ...


def hard_tables(
    mechanism: _Gibbs, *, replace_one: bool
) -> Iterator[tuple[str, list[Row], list[Row]]]:
    """Yield a name and two neighbouring tables of (position, label)."""
    bound = float(getattr(mechanism.loss, "target_bound", 1.0))
    for name, base in _bases(mechanism, bound).items():
        for sign, label in (("+", bound), ("-", -bound)):
            other = [*base, (1.0, -label)] if replace_one else base
            yield f"{name}, {sign}", [*base, (1.0, label)], other


def _bases(mechanism: _Gibbs, bound: float) -> dict[str, list[Row]]:
    if mechanism.ball is None:
        return {"empty": []} | _short_rows(mechanism, bound)
    one = mechanism.inverse_temperature * mechanism.oscillation
    count = math.ceil(_FALL / one)
    return {
        "empty": [],
        "agreeing": [(1.0, bound)] * count,
        "against": [(1.0, -bound)] * count,
    }


def _short_rows(mechanism: _Gibbs, bound: float) -> dict[str, list[Row]]:
    """Return rows that push without bending, to where the loss is straight."""
    R, alpha = mechanism.radius, mechanism.alpha
    slope = mechanism.loss.gradient(np.array([bound]), np.zeros(1))
    slope_at_zero = abs(float(slope[0]))
    if R * slope_at_zero > 0.99 * mechanism.lipschitz:
        return {}  # straight already
    away = _AWAY / math.sqrt(mechanism.inverse_temperature * alpha) + 4.0 / R
    short = min(1.0, _BEND / (away * R))
    count = math.ceil(alpha * away / (R * short * slope_at_zero))
    return {"short rows": [(short, bound)] * min(count, _MOST_ROWS)}
