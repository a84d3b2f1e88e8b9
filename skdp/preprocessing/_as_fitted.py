"""Whether what a transformer stored in ``fit`` is what its parameters say.

Parameters can be changed after ``fit``. Where the fitted attributes show which values
were used, they are compared with the parameters; they cannot show everything.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skdp._typing import FloatArray

__all__ = [
    "has_declared_categories",
    "has_declared_constant",
    "has_declared_knots",
]


def has_declared_categories(encoder: Any) -> bool:
    """Tell whether an encoder stored the categories that it declares, unmerged."""
    declared, fitted = encoder.categories, encoder.categories_
    return (
        not hasattr(encoder, "infrequent_categories_")
        and len(declared) == len(fitted)
        and all(map(_agree, declared, fitted))
    )


def has_declared_constant(imputer: Any) -> bool:
    """Tell whether an imputer stored its ``fill_value`` for every column."""
    fitted = imputer.statistics_
    defaults = (0, "missing_value")
    fills = defaults if imputer.fill_value is None else (imputer.fill_value,)
    return imputer.indicator_ is None and any(
        _agree([fill] * len(fitted), fitted) for fill in fills
    )


def has_declared_knots(splines: Any) -> bool:
    """Tell whether the knots between the ends of each spline are the declared ones."""
    declared = np.asarray(splines.knots, dtype=np.float64).T
    fitted = [_inner_knots(spline) for spline in splines.bsplines_]
    return len(declared) == len(fitted) and all(map(np.array_equal, declared, fitted))


def _inner_knots(spline: Any) -> FloatArray:
    # fit adds as many knots as the degree on either side
    knots: FloatArray = spline.t[spline.k : len(spline.t) - spline.k]
    return knots


def _agree(declared: Iterable[Any], fitted: Any) -> bool:
    """Compare values one by one after the conversion that ``fit`` makes."""
    try:
        values = np.array(declared, dtype=fitted.dtype)
        return values.shape == fitted.shape and all(
            a is b or a == b or (a != a and b != b)  # a missing value equals itself
            for a, b in zip(values.tolist(), fitted.tolist(), strict=True)
        )
    except (TypeError, ValueError):  # one kind does not convert to the other
        return False
