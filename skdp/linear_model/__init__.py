"""Private linear models with scikit-learn's interface."""

from skdp.linear_model._logistic import ObjPertLogisticRegression

__all__ = ["ObjPertLogisticRegression"]
