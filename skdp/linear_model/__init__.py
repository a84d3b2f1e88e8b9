"""Private linear models with scikit-learn's interface."""

from skdp.linear_model._adassp import AdaSSPRegressor
from skdp.linear_model._asap_classifier import ASAPClassifier
from skdp.linear_model._asap_regressor import ASAPRegressor
from skdp.linear_model._kng_quantile import KNGQuantileRegressor
from skdp.linear_model._linear_svc import ObjPertLinearSVC
from skdp.linear_model._logistic import ObjPertLogisticRegression
from skdp.linear_model._poisson_regressor import ObjPertPoissonRegressor
from skdp.linear_model._posterior_sampler import PosteriorSampler
from skdp.linear_model._quantile_regressor import ObjPertQuantileRegressor
from skdp.linear_model._robust_regressor import ObjPertRegressor

__all__ = [
    "ASAPClassifier",
    "ASAPRegressor",
    "AdaSSPRegressor",
    "KNGQuantileRegressor",
    "ObjPertLinearSVC",
    "ObjPertLogisticRegression",
    "ObjPertPoissonRegressor",
    "ObjPertQuantileRegressor",
    "ObjPertRegressor",
    "PosteriorSampler",
]
