"""One person given as ``(x, label)``, as a table of one row."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skdp._typing import MatrixLike

__all__ = ["one_person"]


def one_person(person: Any) -> tuple[MatrixLike, Any]:
    """Return ``(x, label)`` as a table of one row and its labels.

    A row with names, given as a mapping, as a Series or as a frame of one row, keeps
    them.
    """
    if not (isinstance(person, tuple) and len(person) == 2):
        raise TypeError(
            f"y is missing, got X of type {type(person).__name__} alone. Allowed: X "
            "and y for many people, or one pair (x, label) for one. Pass the labels."
        )
    x, label = person
    if isinstance(x, Mapping):
        import pandas as pd

        x = pd.Series(x)
    if hasattr(x, "toarray"):
        x = x.toarray()
    if hasattr(x, "to_frame"):
        x = x.to_frame().T.infer_objects()
    elif not hasattr(x, "iloc"):
        x = np.asarray(x).reshape(1, -1)
    return x, np.asarray(label).reshape(1)
