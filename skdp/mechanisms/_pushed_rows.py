r"""Neighbouring tables whose minimiser one row moves as far as any row can.

Many short rows push the minimiser to where the loss of a long row is steepest, and bend
the objective little. All numbers are public.

Notation
--------
p    place of a short row on the axis, in units of the norm bound R
w    how far the minimiser is pushed                                -> ``away``
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from skdp.accounting import Adjacency
from skdp.losses import Loss
from skdp.mechanisms._base import AdjacentPair
from skdp.rows import L2Ball, PrivateRows, Targets, as_row_blocks
from skdp.samplers import Ball

__all__ = ["pushed_row_pairs"]

#: A row: its place on an axis, in units of the norm bound, and its label.
Row = tuple[float, float]

#: Margin at which the losses are as steep as they get, up to a percent.
_STEEP = 5.0
#: The push ends this much short of the border of a ball.
_INSIDE = 0.999
#: Bend of all short rows together, relative to the ridge.
_BEND = 0.03
_MOST_ROWS = 20_000


class _Pushed(Protocol):
    @property
    def loss(self) -> Loss: ...
    @property
    def radius(self) -> float: ...
    @property
    def n_coefficients(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def ball(self) -> Ball | None: ...
    @property
    def adjacency(self) -> Adjacency: ...
    @property
    def lipschitz(self) -> float: ...


def pushed_row_pairs(mechanism: _Pushed) -> Iterator[AdjacentPair[PrivateRows]]:
    """Yield an empty and a pushed table, each with one row more or another one."""
    bound = _target_bound(mechanism.loss)
    for name, base in (("empty", []), ("pushed", _short_rows(mechanism, bound))):
        for sign, label in (("+", bound), ("-", -bound)):
            replaced = mechanism.adjacency is Adjacency.REPLACE_ONE
            other = [*base, (1.0, -label)] if replaced else base
            yield AdjacentPair(
                f"{name}, {sign}",
                _rows([*base, (1.0, label)], mechanism),
                _rows(other, mechanism),
            )


def _short_rows(mechanism: _Pushed, bound: float) -> list[Row]:
    """Return rows that push the minimiser down the axis."""
    R, alpha, loss = mechanism.radius, mechanism.alpha, mechanism.loss
    # the long row moves the minimiser back, and should be steep even then
    away = mechanism.lipschitz / alpha + _STEEP / R
    if mechanism.ball is not None:
        away = min(away, _INSIDE * mechanism.ball.radius)
    slope = abs(float(loss.gradient(np.array([bound]), np.zeros(1))[0]))
    bend = loss.constants(R).smoothness / R**2
    place = min(1.0, _BEND * slope / (away * R * bend))
    count = round(alpha * away / (R * place * slope))
    return [(place, -bound)] * min(count, _MOST_ROWS)


def _rows(table: list[Row], mechanism: _Pushed) -> PrivateRows:
    X = np.zeros((len(table), mechanism.n_coefficients))
    X[:, 0] = [mechanism.radius * place for place, _ in table]
    y = np.array([label for _, label in table], dtype=np.float64)
    bound = _target_bound(mechanism.loss)
    targets = Targets(-bound, bound, bound=bound)
    return PrivateRows(as_row_blocks(X, y, labels=targets), L2Ball(mechanism.radius))


def _target_bound(loss: Loss) -> float:
    return float(getattr(loss, "target_bound", 1.0))
