"""Means over seeds and their 95 % confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# Quantiles of Student's t for 95 % confidence with 1, 2, ... degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def student(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t; from 11 degrees of freedom on, it is an expansion around the normal
    quantile with an error of at most 0.0025."""
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.372 / freedom + 2.82 / freedom**2


def mean_and_half(values: Sequence[float | None], own: float | None = None) -> tuple[float, float]:
    """Returns the mean of the seeds' values and half of its 95 % confidence interval (Student's t).

    own: half of the interval that a single run reports itself, used if there is one seed; None gives NaN. Both results
    are NaN if a seed has no value, such as latency in a saturated run."""
    if None in values:
        return math.nan, math.nan
    numbers = [float(v) for v in values if v is not None]
    mean = sum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, math.nan if own is None else own
    spread = math.sqrt(sum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1))
    return mean, student(len(numbers) - 1) * spread / math.sqrt(len(numbers))


def by_point(picked: Iterable[tuple[Any, ...]], keys: int) -> Iterator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    """Groups rows by the values of their first ``keys`` columns. Yields for each group, in the order of its first row,
    these values and for each seed a tuple of the other columns."""
    points: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for values in picked:
        points.setdefault(values[:keys], []).append(values[keys:])
    return iter(points.items())
