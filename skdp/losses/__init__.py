"""Convex losses of a linear margin, with the constants that privacy proofs need."""

from skdp.losses._base import Loss, LossConstants
from skdp.losses._logistic import LogisticLoss

__all__ = ["LogisticLoss", "Loss", "LossConstants"]
