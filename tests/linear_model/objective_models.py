"""The linear models by objective perturbation, and a table for each of them."""

import math

import numpy as np

from skdp.linear_model import (
    ObjPertLinearSVC,
    ObjPertPoissonRegressor,
    ObjPertQuantileRegressor,
    ObjPertRegressor,
)

#: Each model with what it cannot be fitted without.
MODELS = {
    "log-cosh": (ObjPertRegressor, {"bounds_y": (0.0, 100.0)}),
    "pseudo-huber": (
        ObjPertRegressor,
        {"bounds_y": (0.0, 100.0), "loss": "pseudo-huber"},
    ),
    "huber": (ObjPertRegressor, {"bounds_y": (0.0, 100.0), "loss": "huber"}),
    "median": (ObjPertQuantileRegressor, {"bounds_y": (0.0, 100.0)}),
    "upper": (ObjPertQuantileRegressor, {"bounds_y": (0.0, 100.0), "quantile": 0.9}),
    "svc": (ObjPertLinearSVC, {"classes": [0, 1]}),
    "poisson": (ObjPertPoissonRegressor, {"bounds_y": (0.0, 100.0)}),
}
#: One of each kind: two-signed and one-signed, fading and not.
NAMES = ["log-cosh", "huber", "upper", "svc", "poisson"]
NUMERIC = [name for name in NAMES if name != "svc"]


def made(name, **kwargs):
    """Return an unfitted model."""
    cls, needed = MODELS[name]
    return cls(**needed | kwargs)


def problem(name, n=400, d=4, seed=0):
    """Return rows within the unit ball, and targets or labels that follow them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) / math.sqrt(d)
    line = X @ np.linspace(1.0, -1.0, d)
    if name == "svc":
        return X, np.where(line + 0.2 * rng.standard_normal(n) > 0, 1, 0)
    if name == "poisson":
        return X, rng.poisson(np.exp(3 + line)).astype(float)
    return X, 50 + 30 * line + 5 * rng.standard_normal(n)
