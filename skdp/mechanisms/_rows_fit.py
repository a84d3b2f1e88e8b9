"""Whether the public facts about some rows are those a mechanism was calibrated for."""

from typing import Protocol

from skdp.rows import PrivateRows

__all__ = ["check_rows"]


class _OfRows(Protocol):
    @property
    def radius(self) -> float: ...
    @property
    def n_coefficients(self) -> int: ...


def check_rows(mechanism: _OfRows, data: PrivateRows) -> None:
    """Refuse rows of another shape or norm bound, public facts both."""
    if data.n_coefficients != mechanism.n_coefficients:
        raise ValueError(
            f"the rows give {data.n_coefficients} coefficients, the mechanism was "
            f"calibrated for n_coefficients={mechanism.n_coefficients}. Calibrate it "
            "for the shape of the data."
        )
    if data.ball.radius > mechanism.radius:
        raise ValueError(
            f"the rows are bounded by {data.ball.radius:.6g}, the mechanism was "
            f"calibrated for radius={mechanism.radius:.6g}. Calibrate it for the norm "
            "bound of the data."
        )
