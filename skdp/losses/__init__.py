"""Convex losses of a linear margin, with the constants that privacy proofs need."""

from skdp.losses._base import (
    Fading,
    Loss,
    LossConstants,
    MatrixLoss,
    Oscillating,
    Tilting,
)
from skdp.losses._clipped_poisson import ClippedPoissonLoss
from skdp.losses._huber import HuberLoss
from skdp.losses._log_cosh import LogCoshLoss
from skdp.losses._logistic import LogisticLoss
from skdp.losses._pseudo_huber import PseudoHuberLoss
from skdp.losses._smoothed_hinge import SmoothedHingeLoss
from skdp.losses._smoothed_quantile import SmoothedQuantileLoss
from skdp.losses._softmax import SoftmaxLoss
from skdp.losses._squared import SquaredLoss

__all__ = [
    "ClippedPoissonLoss",
    "Fading",
    "HuberLoss",
    "LogCoshLoss",
    "LogisticLoss",
    "Loss",
    "LossConstants",
    "MatrixLoss",
    "Oscillating",
    "PseudoHuberLoss",
    "SmoothedHingeLoss",
    "SmoothedQuantileLoss",
    "SoftmaxLoss",
    "SquaredLoss",
    "Tilting",
]
