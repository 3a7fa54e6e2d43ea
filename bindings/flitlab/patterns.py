"""Traffic patterns for :meth:`flitlab.Experiment.with_pattern`: stencils, incast, permutations, tornados in one
dimension, and mixtures of any patterns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from flitlab import compiled
from flitlab._core import ConfigError
from flitlab.arguments import is_number, shown, whole

# A function of a source and the number of terminals that returns destination -> weight.
Weights: TypeAlias = Callable[[int, int], Mapping[int, float]]


def uniform(source: int, terminals: int) -> Mapping[int, float]:
    """All terminals are equally likely, the sender too."""
    return dict.fromkeys(range(terminals), 1.0)


def _shape_of(name: str, shape: Sequence[int], terminals: int) -> tuple[int, ...]:
    numbers = [whole(k) for k in shape] if isinstance(shape, Sequence) and not isinstance(shape, str) else []
    if not numbers or any(k is None or k < 1 for k in numbers) or math.prod(k or 0 for k in numbers) != terminals:
        raise ConfigError(f"patterns.{name}({shown(shape)}): it must be a list of radices whose product is the number "
                          f"of terminals, {terminals}.")
    return tuple(k or 0 for k in numbers)


def _coordinates(terminal: int, shape: Sequence[int]) -> list[int]:
    """Returns coordinates; the first one changes fastest."""
    found = []
    for k in shape:
        terminal, c = divmod(terminal, k)
        found.append(c)
    return found


def _number(coordinates: Sequence[int], shape: Sequence[int]) -> int:
    number = 0
    for c, k in zip(reversed(coordinates), reversed(shape), strict=True):
        number = number * k + c
    return number


def stencil(shape: Sequence[int], diagonals: bool = False, wraps: bool = True) -> Weights:
    """Exchange of boundaries: terminals are the cells of a grid of that shape, the first dimension fastest, and send
    equally often to their neighbours in each dimension (4 in two dimensions, 6 in three), with ``diagonals`` to all
    cells around them (8, 26). wraps: whether the grid closes to rings.

    >>> import flitlab as fl
    >>> exp = fl.load("vc-mesh-8x8").with_pattern(fl.patterns.stencil([8, 8]))
    >>> sorted(fl.patterns.stencil([4, 4], wraps=False)(0, 16))
    [1, 4]
    """
    def neighbours(source: int, terminals: int) -> Mapping[int, float]:
        radices = _shape_of("stencil", shape, terminals)
        here, found = _coordinates(source, radices), set()
        for step in itertools.product((-1, 0, 1), repeat=len(radices)):
            if not any(step) or (not diagonals and sum(map(abs, step)) > 1):
                continue
            there = [c + s for c, s in zip(here, step, strict=True)]
            if wraps:
                there = [c % k for c, k in zip(there, radices, strict=True)]
            elif not all(0 <= c < k for c, k in zip(there, radices, strict=True)):
                continue
            found.add(_number(there, radices))
        found.discard(source)  # a dimension of one cell
        return {cell: 1 / len(found) for cell in sorted(found)}

    neighbours.__name__ = "stencil"
    return neighbours


def tornado(shape: Sequence[int], dimension: int) -> Weights:
    """Each terminal sends nearly half-way around its ring in one dimension of a torus (ceil(k / 2) - 1 hops), and
    nowhere in the others (Dally & Towles, Table 3.1)."""
    def destination(source: int, terminals: int) -> Mapping[int, float]:
        radices = _shape_of("tornado", shape, terminals)
        if whole(dimension) is None or not 0 <= dimension < len(radices):
            raise ConfigError(f"patterns.tornado(dimension={shown(dimension)}): a shape of {len(radices)} dimensions "
                              f"has 0 to {len(radices) - 1}.")
        there, k = _coordinates(source, radices), radices[dimension]
        there[dimension] = (there[dimension] + math.ceil(k / 2) - 1) % k
        return {_number(there, radices): 1.0}

    destination.__name__ = "tornado"
    return destination


def incast(to: int = 0, senders: int | Sequence[int] | None = None) -> Weights:
    """Many terminals send to one. senders: their number (the first ones after ``to``, around), or a list; default: all
    others. The other terminals send nothing."""
    def destination(source: int, terminals: int) -> Mapping[int, float]:
        if whole(to) is None or not 0 <= to < terminals:
            raise ConfigError(f"patterns.incast(to={shown(to)}): terminals are numbered 0 to {terminals - 1}.")
        count = terminals - 1 if senders is None else whole(senders)
        if count is not None and 0 < count < terminals:
            return {to: 1.0} if 0 < (source - to) % terminals <= count else {}
        listed = senders if isinstance(senders, Sequence) and not isinstance(senders, str) else ()
        if not listed or any(whole(s) is None or not 0 <= s < terminals or s == to for s in listed):
            raise ConfigError(f"patterns.incast(senders={shown(senders)}): it must be a number from 1 to "
                              f"{terminals - 1}, or a list of terminals other than {to}.")
        return {to: 1.0} if source in listed else {}

    destination.__name__ = "incast"
    return destination


def permutation(seed: int = 0) -> Weights:
    """A random permutation; ``seed`` selects one. ``traffic.pattern = "random_permutation"`` is always the same one."""
    if whole(seed) is None or seed < 0:
        raise ConfigError(f"patterns.permutation(seed={shown(seed)}): it must be an integer, 0 or more.")

    @cache
    def drawn(terminals: int) -> np.ndarray:
        return np.random.default_rng(seed).permutation(terminals)

    def destination(source: int, terminals: int) -> Mapping[int, float]:
        return {int(drawn(terminals)[source]): 1.0}

    destination.__name__ = f"permutation{seed}"
    return destination


def mixture(*parts: tuple[float, Any]) -> Weights:
    """Returns the mixture of patterns: ``mixture((0.8, uniform), (0.2, incast(0)))`` sends 80 % of a terminal's packets
    by the first pattern and 20 % by the second. Parts are pairs of a weight and a pattern in any form that
    :meth:`flitlab.Experiment.with_pattern` accepts. A terminal for which a part has no destinations sends all packets
    by the other parts."""
    for part in parts:
        if not (isinstance(part, tuple) and len(part) == 2 and is_number(part[0]) and 0 < part[0] < math.inf):
            raise ConfigError(f"patterns.mixture: {shown(part)} is not a part: give pairs of a weight above 0 and a "
                              "pattern, such as (0.8, fl.patterns.uniform).")
    if not parts:
        raise ConfigError("patterns.mixture(): give one or more pairs of a weight and a pattern.")

    @cache
    def rows(terminals: int) -> list[Callable[[int], Iterator[tuple[int, float]]]]:
        return [compiled.rows_of(pattern, terminals) for _, pattern in parts]

    def destinations(source: int, terminals: int) -> Mapping[int, float]:
        mixed: dict[int, float] = {}
        for (weight, _), row_of in zip(parts, rows(terminals), strict=True):
            row = list(row_of(source))
            total = sum(share for _, share in row)
            for destination, share in row:
                mixed[destination] = mixed.get(destination, 0.0) + weight * share / total
        all_of = sum(mixed.values())
        return {destination: share / all_of for destination, share in mixed.items()}

    destinations.__name__ = "mixture"
    return destinations
