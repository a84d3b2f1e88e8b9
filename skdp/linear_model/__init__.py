"""Private linear models with scikit-learn's interface."""

from skdp.linear_model._kng_quantile import KNGQuantileRegressor
from skdp.linear_model._logistic import ObjPertLogisticRegression

__all__ = ["KNGQuantileRegressor", "ObjPertLogisticRegression"]
