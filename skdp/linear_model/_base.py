"""What every private linear model does the same way."""

from skdp._published import PrivateEstimatorMixin

__all__ = ["PrivateEstimatorMixin"]
