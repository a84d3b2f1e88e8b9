r"""All halfspaces ``pi_1 x_1 + ... + pi_{k-1} x_{k-1} >= x_k`` on k bits, exactly.

What a halfspace says on the cube depends on which of the sums ``s_A``, of pi over a set
A of coordinates, are at least 0 and at least 1. So it is constant on the cells of an
arrangement of planes, and one point of each cell shows them all. Raising pi a little
keeps every ">=", so open cells are enough. Each has a vertex in its closure, and near a
vertex it holds a cell of the arrangement of all ``s_A = 0`` moved there; both are
enumerated in exact integers (docs/proofs/useful_data.md).
"""

from functools import lru_cache
from itertools import combinations, product

import numpy as np

from skdp._typing import IntArray

__all__ = ["LARGEST", "cube", "halfspaces"]

#: Most bits for which all halfspaces are enumerated.
LARGEST = 4
#: Steps away from a vertex, in units of 1 over this: small beside any other plane.
_FINE = 64


def cube(n_bits: int) -> IntArray:
    """Return all records of k bits, the last bit fastest, shape (2**k, k)."""
    return np.array(list(product((0, 1), repeat=n_bits)), dtype=np.int64)


@lru_cache(maxsize=4)
def halfspaces(n_bits: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return what every halfspace says of every record, shape (n_halfspaces, 2**k)."""
    d = n_bits - 1
    subsets = cube(d)[1:]
    points = _points(d, subsets)  # multiples of 1 / unit
    unit = _unit(d)
    records = cube(n_bits)
    says = points @ records[:, :-1].T >= unit * records[:, -1]
    found = np.unique(says.astype(np.uint8), axis=0)
    found.flags.writeable = False
    return found


def _unit(d: int) -> int:
    """Return a common denominator: determinants of d x d bits are at most 2 here."""
    return 2 * _FINE if d >= 2 else _FINE


def _points(d: int, subsets: IntArray) -> IntArray:
    """Return one point near every vertex in every direction, as integers."""
    unit = _unit(d)
    vertices = {
        tuple(np.rint(vertex * unit).astype(int).tolist())
        for rows in combinations(range(len(subsets)), d)
        if round(abs(np.linalg.det(subsets[list(rows)]))) > 0
        for level in product((0, 1), repeat=d)
        for vertex in [np.linalg.solve(subsets[list(rows)], np.array(level))]
    }
    steps = _directions(d, subsets)
    found = np.array(sorted(vertices), dtype=np.int64)
    return (found[:, None, :] + steps[None, :, :]).reshape(-1, d)


def _directions(d: int, subsets: IntArray) -> IntArray:
    """Return one direction inside each cell of the planes ``s_A = 0``."""
    grid = np.array(list(product(range(-4, 5), repeat=d)), dtype=np.int64)
    sums = grid @ subsets.T
    inside = np.all(sums != 0, axis=1)
    _, first = np.unique(sums[inside] > 0, axis=0, return_index=True)
    return grid[inside][first]
