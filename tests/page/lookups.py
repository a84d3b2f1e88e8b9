"""Reports to look up in, what a curator says about them, and people."""

import dataclasses
import functools
import warnings

import numpy as np

from skdp.linear_model import ObjPertLogisticRegression

NAMES = ("age", "months", "rent", "own", "children")
#: Public scaling of the five columns.
SCALING = {
    "column_lower": (18.0, 0.0, 0.0, 0.0, 0.0),
    "column_upper": (100.0, 60.0, 1.0, 1.0, 1.0),
    "column_shift": (59.0, 30.0, 0.0, 0.0, 0.5),
    "column_scale": (41.0, 30.0, 1.0, 1.0, 0.5),
}
SCHEMA = {
    "age": {"label": "Age", "unit": "years", "min": 18, "max": 100},
    "months": {
        "label": "Duration of the loan",
        "unit": "months",
        "min": 0,
        "help": "As written in the contract.",
    },
    "housing": {
        "label": "How do you live?",
        "categories": {"I rent": "rent", "I own my home": "own", "Neither": None},
    },
    "children": {"label": "Do you have children?", "categories": {"No": 0, "Yes": 1}},
    "y": {
        "label": "Did you pay the loan back?",
        "help": "What the model was made to predict.",
        "categories": {"Yes": "paid", "No": "default"},
    },
}
SIGNS = {"default": -1, "paid": 1, "unheard-of": 0}
KINDS = ("either", "member", "non-member")
#: Keyword arguments of the estimator for each law of the noise and each level.
FITS = {
    "gaussian": {"delta": 1e-6},
    "k-norm": {"delta": 0.0},
    "no intercept": {"delta": 1e-6, "fit_intercept": False},
    "hessian": {"delta": 1e-6, "pdp_report": "hessian"},
    "gradient": {"delta": 1e-6, "pdp_report": "gradient"},
    "sharp hessian": {"delta": 1e-6, "pdp_report": "hessian"},
}


@functools.cache
def report(name="gaussian", *, scaled=True, seed=0, **parameters):
    """Return the report of a fit on made-up loans."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.6, 0.6, (500, len(NAMES)))
    y = np.where(X @ [1, -2, 1, 0, 1] + rng.logistic(0, 0.3, 500) > 0, *list(SIGNS)[:2])
    model = ObjPertLogisticRegression(
        classes=["default", "paid"], random_state=seed, **FITS[name] | parameters
    )
    with warnings.catch_warnings():  # a seed is for tests
        warnings.simplefilter("ignore")
        out = model.fit(X, y).report_
    if name == "sharp hessian":
        out = sharpened(out, rng)
    if not scaled:
        return out
    return dataclasses.replace(out, feature_names=NAMES, **SCALING)


def sharpened(noisy, rng):
    """Return the report with a Hessian that lies above the ridge, noise and all."""
    d = len(noisy.theta)
    rows = rng.normal(size=(500, d))
    matrix = rows.T @ rows + noisy.alpha * np.eye(d)
    values = tuple(matrix[np.tril_indices(d)])
    sharp = dataclasses.replace(noisy.hessian, values=values, scale=0.01)
    return dataclasses.replace(noisy, hessian=sharp)


def people(size, seed=1):
    """Return raw rows, far and near, and labels, some of them undeclared."""
    rng = np.random.default_rng(seed)
    low, high = (np.array(SCALING[f"column_{end}"]) for end in ("lower", "upper"))
    X = rng.uniform(low, high, (size, len(NAMES)))
    X[::7] *= 10.0 ** rng.uniform(-3, 3, (len(X[::7]), 1))
    X[:3] = [[0.0], [1e300], [-1e-300]]
    return X, rng.choice(list(SIGNS), size, p=[0.45, 0.45, 0.1])
