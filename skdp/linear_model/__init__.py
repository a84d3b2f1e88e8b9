"""Private linear models with scikit-learn's interface."""

from skdp.linear_model._adassp import AdaSSPRegressor
from skdp.linear_model._asap_classifier import ASAPClassifier
from skdp.linear_model._asap_regressor import ASAPRegressor
from skdp.linear_model._kng_quantile import KNGQuantileRegressor
from skdp.linear_model._logistic import ObjPertLogisticRegression
from skdp.linear_model._posterior_sampler import PosteriorSampler

__all__ = [
    "ASAPClassifier",
    "ASAPRegressor",
    "AdaSSPRegressor",
    "KNGQuantileRegressor",
    "ObjPertLogisticRegression",
    "PosteriorSampler",
]
