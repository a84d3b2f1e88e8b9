"""Objects known by their address, so that each is looked up once."""

import numpy as np
import numpy.typing as npt

from skdp._typing import IntArray

__all__ = ["Addresses"]

Pointers = npt.NDArray[np.uint64]

#: Size of the table of addresses, and the odd number that spreads them over it.
_SLOT_BITS, _SPREAD = 16, np.uint64(0x9E3779B97F4A7C15)


class Addresses:
    """Places of objects by their address: a table that is right or silent.

    An address whose slot another one took is looked up anew in every block.
    """

    def __init__(self) -> None:
        self._owner = np.zeros(1 << _SLOT_BITS, dtype=np.uint64)
        self._place = np.full(1 << _SLOT_BITS, -1, dtype=np.int64)
        self.n_crowded = 0

    def look_up(self, address: Pointers) -> tuple[IntArray, IntArray]:
        """Return places, and which of them are not known."""
        slot = _slot(address)
        missed = np.flatnonzero(self._owner[slot] != address)
        return self._place[slot], missed

    def add(self, address: Pointers, places: list[int]) -> None:
        """Remember different addresses, as far as their slots are free."""
        slot = _slot(address)
        free = self._owner[slot] == 0
        self._owner[slot[free]] = address[free]
        self._place[slot[free]] = np.array(places, dtype=np.int64)[free]
        # of several that took one slot the last has it: its place must be its own
        kept = self._owner[slot] == address
        self._place[slot[kept]] = np.array(places, dtype=np.int64)[kept]
        self.n_crowded += int(np.count_nonzero(~kept))


def _slot(address: Pointers) -> Pointers:
    """Return the top bits of a product with an odd number, which spreads addresses."""
    slot: Pointers = (address * _SPREAD) >> np.uint64(64 - _SLOT_BITS)
    return slot
