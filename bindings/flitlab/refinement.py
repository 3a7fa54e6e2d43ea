"""Adaptive loads of a sweep: few where the curve is flat, many where latency rises and near saturation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from flitlab._core import ConfigError

BEND = 1.25  # largest ratio of latencies at adjacent loads that needs no refinement
FIRST = 8  # number of intervals between the loads of the initial grid
MOST_STEPS = 10000


@dataclass(frozen=True)
class Adaptive:
    """The loads low, low + tolerance, ... and high (flits/cycle/terminal). A sweep runs only the loads that it needs
    for a good curve. Made by :func:`adaptive`."""

    low: float
    high: float
    tolerance: float

    @property
    def steps(self) -> int:
        whole, rest = divmod(_exact(self.high) - _exact(self.low), _exact(self.tolerance))
        return int(whole) + (rest > 0)

    def load(self, step: int) -> float:
        """Returns low + step * tolerance, computed in decimal, so that equal loads are equal numbers."""
        return float(min(_exact(self.high), _exact(self.low) + step * _exact(self.tolerance)))

    def first(self) -> list[float]:
        """Returns the initial grid. If ``low`` is 0, the grid starts at ``tolerance``, because load 0 has no packets to
        measure."""
        grid = {round(i * self.steps / FIRST) for i in range(FIRST + 1)} - ({0} if self.low == 0 else set())
        return [self.load(step) for step in sorted(grid | ({1} if self.low == 0 else set()))]

    def next(self, measured: Mapping[float, Sequence[Mapping[str, Any]]]) -> list[float]:
        """Returns the loads to run next; [] if the refinement is finished. measured: load -> results, one per seed.

        Halves the gap below the lowest saturated load, and gaps below that in which latency rises by more than a
        quarter. Loads above saturation are not refined."""
        at = {step: measured[load] for step in range(self.steps + 1) if (load := self.load(step)) in measured}
        known = sorted(at)
        border = next((s for s in known if any(r["saturated"] for r in at[s])), None)
        more = set()
        for left, right in pairwise(known):
            steady = border is None or right < border
            if right - left > 1 and (right == border or (steady and _bends(at[left], at[right]))):
                more.add((left + right) // 2)
        return [self.load(step) for step in sorted(more)]


def adaptive(low: float = 0.0, high: float = 1.0, tolerance: float = 0.01) -> Adaptive:
    """Returns loads for ``over={"traffic.load": fl.adaptive(0, 1)}``: a sweep that refines loads near saturation.

    The sweep starts with eight steps. It halves gaps until saturation begins between two loads that are ``tolerance``
    apart, and until latency rises by at most a quarter between adjacent loads or these are ``tolerance`` apart. Loads
    (flits/cycle/terminal) are ``low`` plus multiples of ``tolerance``, and ``high``. Raises ConfigError unless
    0 <= low < high <= 1 with at most 10000 steps.
    """
    try:
        bottom, top, step = (_exact(float(x)) for x in (low, high, tolerance))
        sound = 0 <= bottom < top <= 1 and 0 < step <= top - bottom <= MOST_STEPS * step
    except (TypeError, ValueError, InvalidOperation):  # Decimal raises InvalidOperation when it compares NaN
        sound = False
    if not sound:
        raise ConfigError(f"adaptive(low={low!r}, high={high!r}, tolerance={tolerance!r}): it needs 0 <= low < high "
                          f"<= 1, and a tolerance with at most {MOST_STEPS} steps between them.")
    return Adaptive(float(low), float(high), float(tolerance))


def parse_adaptive(text: str) -> Adaptive:
    """Parses ``adaptive:LOW:HIGH`` or ``adaptive:LOW:HIGH:TOLERANCE`` of the command line. Raises ConfigError."""
    parts = text.split(":")[1:]
    try:
        numbers = [float(Decimal(part)) for part in parts]
    except InvalidOperation:
        numbers = []
    if len(numbers) not in (2, 3):
        raise ConfigError(f"--over traffic.load={text}: it must be adaptive:LOW:HIGH or adaptive:LOW:HIGH:TOLERANCE "
                          "with numbers.")
    return adaptive(*numbers)


def refined(loads: Adaptive, settings: Sequence[Mapping[str, Any]],
            results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the settings that a sweep must still run: for each combination of the other keys, the loads that the
    refinement adds, with the same seeds."""
    lines: dict[str, dict[float, list[Mapping[str, Any]]]] = {}
    seeds: dict[str, dict[str, Mapping[str, Any]]] = {}
    for setting, result in zip(settings, results, strict=True):
        line = json.dumps({k: v for k, v in setting.items() if k not in ("traffic.load", "run.seed")}, default=str)
        lines.setdefault(line, {}).setdefault(setting["traffic.load"], []).append(
            {"saturated": result["saturated"], "latency_cycles": {"mean": result["latency_cycles"]["mean"]}})
        seeds.setdefault(line, {}).setdefault(str(setting["run.seed"]), setting)
    return [{**of_seed, "traffic.load": load} for line, measured in lines.items() for load in loads.next(measured)
            for of_seed in seeds[line].values()]


def in_order(settings: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[int]:
    """Returns the indices of settings in the order of a product: by the keys, then the seed. Loads rise; other values
    are in the order of their first occurrence."""
    places = {key: {str(v): i for i, v in enumerate(dict.fromkeys(str(s[key]) for s in settings))}
              for key in [*keys, "run.seed"]}
    places["traffic.load"] = {str(load): i for i, load in enumerate(sorted({s["traffic.load"] for s in settings}))}
    return sorted(range(len(settings)), key=lambda i: [places[key][str(settings[i][key])] for key in places])


def _exact(x: float) -> Decimal:
    return Decimal(repr(x))


def _bends(left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]) -> bool:
    before, after = ([r["latency_cycles"]["mean"] for r in results] for results in (left, right))
    if None in before or None in after:
        return False
    return sum(after) / len(after) > BEND * sum(before) / len(before)
