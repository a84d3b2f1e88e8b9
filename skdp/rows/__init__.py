"""What is public about a private row, and passes over all of them."""

from skdp.rows._alphabet import Alphabet
from skdp.rows._blocks import RowBlocks, as_row_blocks
from skdp.rows._classes import Classes
from skdp.rows._counts import Counts
from skdp.rows._l2ball import L2Ball
from skdp.rows._labels import Labels
from skdp.rows._private import PrivateRows
from skdp.rows._targets import Targets

__all__ = [
    "Alphabet",
    "Classes",
    "Counts",
    "L2Ball",
    "Labels",
    "PrivateRows",
    "RowBlocks",
    "Targets",
    "as_row_blocks",
]
