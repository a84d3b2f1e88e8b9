"""Array aliases used across the package."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
#: Python integers, or int64 where they fit.
IntegerArray: TypeAlias = npt.NDArray[Any]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
ArrayLike: TypeAlias = npt.ArrayLike
#: Anything scikit-learn accepts as X: array, frame, sparse matrix, row blocks.
MatrixLike: TypeAlias = Any
