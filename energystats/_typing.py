"""Define type aliases used across the package."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["AnyArray", "ArrayLike", "BoolArray", "FloatArray", "IntArray", "RandomLike"]


FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
RandomLike: TypeAlias = int | np.integer[Any] | np.random.SeedSequence | np.random.Generator | None
