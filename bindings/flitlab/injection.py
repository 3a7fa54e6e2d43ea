"""Packets that a program offers to a network (``traffic.mode = "host"``), as columns for the core."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from flitlab import _core
from flitlab.arguments import is_whole, shown

Numbers: TypeAlias = int | ArrayLike

NO_LIMIT = _core.END_OF_TIME
ALL = (1 << 64) - 1  # packets


def columns(*given: Numbers) -> tuple[np.ndarray, ...]:
    """Returns the columns source, destination, flits, tag, cycle and traffic_class as arrays of one length, dtype
    uint64. Raises ConfigError if a value is not a whole number from 0 or if lengths differ."""
    names = ("source", "destination", "flits", "tag", "cycle", "traffic_class")
    arrays = []
    for name, value in zip(names, given, strict=True):
        array = np.asarray(value)
        if array.dtype == object:  # whole numbers from 2**63 on, beside smaller ones
            array = _from_objects(name, value, array)
        if array.size == 0:
            array = array.astype(np.uint64)
        if array.dtype.kind not in "iu" or array.ndim > 1 or (array.size and array.min() < 0):
            raise _wrong(name, value)
        arrays.append(array.astype(np.uint64))
    try:
        return tuple(np.ascontiguousarray(array).reshape(-1) for array in np.broadcast_arrays(*arrays))
    except ValueError:
        lengths = ", ".join(f"{name} {array.size}" for name, array in zip(names, arrays, strict=True) if array.ndim)
        raise _core.ConfigError(f"inject(): the arrays have different lengths: {lengths}. Give arrays of one length, "
                                "or single numbers.") from None


def _from_objects(name: str, value: Numbers, array: np.ndarray) -> np.ndarray:
    if not all(is_whole(item) and 0 <= item < 1 << 64 for item in array.flat):
        raise _wrong(name, value)
    return array.astype(np.uint64)


def _wrong(name: str, value: Numbers) -> _core.ConfigError:
    return _core.ConfigError(f"inject({name} = {shown(value)}): it must be a whole number from 0 below 2**64, or a "
                             "one-dimensional array of them.")
