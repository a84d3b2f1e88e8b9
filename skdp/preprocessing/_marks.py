"""Declarations that a class or a function learns nothing and treats each row alone.

A declaration is about the very class or function that makes it. A subclass may learn
what its parent does not, and a wrapper may look at all rows before it calls what it
wraps; so neither an inherited nor a copied declaration counts.
"""

from typing import Any

import numpy as np
from scipy import special

__all__ = ["MARK", "is_elementwise", "is_marked", "is_trusted"]

#: A class, or a function given to a transformer, that sets this attribute to True
#: declares that it learns nothing from the rows and treats each row alone.
MARK = "__skdp_data_independent__"


def is_marked(thing: Any) -> bool:
    """Tell whether the class of ``thing`` itself makes the declaration."""
    return vars(type(thing)).get(MARK) is True


def is_trusted(function: Any) -> bool:
    """Tell whether ``function`` may be called with private rows.

    None stands for the identity, or for the default of a parameter.
    """
    if function is None or is_elementwise(function) or is_marked(function):
        return True
    own = getattr(function, "__dict__", {})
    # functools.wraps copies the attributes of the wrapped function
    copied = getattr(own.get("__wrapped__"), MARK, False) is True
    return own.get(MARK) is True and not copied


def is_elementwise(function: Any) -> bool:
    """Tell whether ``function`` is a known function of single numbers, as log1p is.

    The type alone proves nothing: ``numpy.frompyfunc`` makes one from any code.
    """
    if not isinstance(function, np.ufunc) or function.signature is not None:
        return False
    homes = (np, special)
    return any(getattr(home, function.__name__, None) is function for home in homes)
