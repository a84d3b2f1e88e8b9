"""skdp: differentially private estimators for people who live in scikit-learn.

Names are loaded when they are first used, so ``import skdp`` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skdp._pipeline import pdp_loss, privacy_spent, published_report
    from skdp.accounting import (
        Adjacency,
        ApproximateDP,
        GaussianDP,
        PureDP,
        ZeroConcentratedDP,
        compose,
    )
    from skdp.decomposition import PrivatePCA
    from skdp.linear_model import (
        AdaSSPRegressor,
        ASAPClassifier,
        ASAPRegressor,
        KNGQuantileRegressor,
        ObjPertLinearSVC,
        ObjPertLogisticRegression,
        ObjPertPoissonRegressor,
        ObjPertQuantileRegressor,
        ObjPertRegressor,
        PosteriorSampler,
    )
    from skdp.model_selection import PrivateSelector
    from skdp.preprocessing import BoundedScaler, RowClipper
    from skdp.synthesis import (
        MWEM,
        GaussianSampler,
        HalfspaceSynthesizer,
        ROOSampler,
        SyntheticHistogram,
        TableSampler,
    )

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 (plain order: MWEM is a class)
    "ASAPClassifier",
    "ASAPRegressor",
    "AdaSSPRegressor",
    "Adjacency",
    "ApproximateDP",
    "BoundedScaler",
    "GaussianDP",
    "GaussianSampler",
    "HalfspaceSynthesizer",
    "KNGQuantileRegressor",
    "MWEM",
    "ObjPertLinearSVC",
    "ObjPertLogisticRegression",
    "ObjPertPoissonRegressor",
    "ObjPertQuantileRegressor",
    "ObjPertRegressor",
    "PosteriorSampler",
    "PrivatePCA",
    "PrivateSelector",
    "PureDP",
    "ROOSampler",
    "RowClipper",
    "SyntheticHistogram",
    "TableSampler",
    "ZeroConcentratedDP",
    "compose",
    "pdp_loss",
    "privacy_spent",
    "published_report",
]

_HOMES = {
    "ASAPClassifier": "skdp.linear_model",
    "ASAPRegressor": "skdp.linear_model",
    "AdaSSPRegressor": "skdp.linear_model",
    "Adjacency": "skdp.accounting",
    "ApproximateDP": "skdp.accounting",
    "BoundedScaler": "skdp.preprocessing",
    "GaussianDP": "skdp.accounting",
    "GaussianSampler": "skdp.synthesis",
    "HalfspaceSynthesizer": "skdp.synthesis",
    "KNGQuantileRegressor": "skdp.linear_model",
    "MWEM": "skdp.synthesis",
    "ObjPertLinearSVC": "skdp.linear_model",
    "ObjPertLogisticRegression": "skdp.linear_model",
    "ObjPertPoissonRegressor": "skdp.linear_model",
    "ObjPertQuantileRegressor": "skdp.linear_model",
    "ObjPertRegressor": "skdp.linear_model",
    "PosteriorSampler": "skdp.linear_model",
    "PrivatePCA": "skdp.decomposition",
    "PrivateSelector": "skdp.model_selection",
    "PureDP": "skdp.accounting",
    "ROOSampler": "skdp.synthesis",
    "RowClipper": "skdp.preprocessing",
    "SyntheticHistogram": "skdp.synthesis",
    "TableSampler": "skdp.synthesis",
    "ZeroConcentratedDP": "skdp.accounting",
    "compose": "skdp.accounting",
    "pdp_loss": "skdp._pipeline",
    "privacy_spent": "skdp._pipeline",
    "published_report": "skdp._pipeline",
}

_ROOMS = frozenset(
    {
        "accounting",
        "audit",
        "datasets",
        "decomposition",
        "exceptions",
        "inspection",
        "linear_model",
        "losses",
        "mechanisms",
        "model_selection",
        "pdp",
        "preprocessing",
        "random",
        "rows",
        "samplers",
        "solvers",
        "synthesis",
    }
)


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value: object = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"skdp.{name}")
    else:
        raise AttributeError(f"module 'skdp' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})
