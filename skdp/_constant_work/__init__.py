"""Building blocks whose work does not depend on the values they handle.

The number of elementary operations, branches and random bytes is a function of shapes
alone. No function here decides by an ``if`` on data, indexes by a mask, sorts, searches
or exits early; a test walks the syntax trees of these files and refuses such calls.
What the processor makes of it (caches, microcode, power) is not promised.
"""

from skdp._constant_work._log_domain import accepts, bounded, safe_exp
from skdp._constant_work._select import (
    choose,
    count_at_most,
    first_rows,
    first_true,
    largest,
    take_row,
)

__all__ = [
    "accepts",
    "bounded",
    "choose",
    "count_at_most",
    "first_rows",
    "first_true",
    "largest",
    "safe_exp",
    "take_row",
]
