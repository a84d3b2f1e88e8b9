"""Convex losses of a linear margin, with the constants that privacy proofs need."""

from skdp.losses._base import Loss, LossConstants, Oscillating, Tilting
from skdp.losses._huber import HuberLoss
from skdp.losses._log_cosh import LogCoshLoss
from skdp.losses._logistic import LogisticLoss
from skdp.losses._squared import SquaredLoss

__all__ = [
    "HuberLoss",
    "LogCoshLoss",
    "LogisticLoss",
    "Loss",
    "LossConstants",
    "Oscillating",
    "SquaredLoss",
    "Tilting",
]
