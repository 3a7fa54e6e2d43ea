"""Statistics as BookSim keeps them (stats.cpp): numbers of samples with their mean, minimum and maximum."""

from __future__ import annotations

import math

import numpy as np

# Of no samples, BookSim prints the mean and the maximum as -nan and the minimum as nan.
_MINUS_NAN = math.copysign(math.nan, -1)


class Samples:
    """Mean, minimum and maximum of samples that are not kept. ``bins``: number of bins of width 1 of the histogram, the
    last of which takes all larger samples; 0: no histogram."""

    def __init__(self, bins: int = 0):
        self._bins = bins
        self.clear()

    def clear(self) -> None:
        self.number, self.sum, self.minimum, self.maximum = 0, 0.0, math.nan, _MINUS_NAN
        self.histogram = np.zeros(self._bins, np.int64)

    def add(self, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Adds samples, of which each counts ``weights`` times."""
        if not values.size:
            return
        self.number += values.size if weights is None else int(weights.sum())
        self.sum += float((values if weights is None else values * weights).sum())
        self.bound(values)
        if self._bins:
            at = np.clip(values, 0, self._bins - 1).astype(np.int64)
            self.histogram += np.bincount(at, weights, self._bins).astype(np.int64)

    def bound(self, values: np.ndarray) -> None:
        """Extends minimum and maximum by values without counting them as samples."""
        if values.size:
            self.minimum = _least(self.minimum, float(values.min()))
            self.maximum = -_least(-self.maximum, -float(values.max()))

    @property
    def average(self) -> float:
        return ratio(self.sum, self.number)


def _least(known: float, value: float) -> float:
    return known if known < value else value


def ratio(a: float, b: float) -> float:
    """Returns a / b as processors compute it, without an exception for b = 0."""
    if b:
        return a / b
    return math.copysign(math.inf, a) if a else _MINUS_NAN


def shown(value: float) -> str:
    """Returns a number as C++ streams print it."""
    if math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    return f"{value:g}"
