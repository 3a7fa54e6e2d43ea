"""Loads that a sweep chooses itself: few where the curve is flat, many where it bends and where it saturates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from flitlab._core import ConfigError

BEND = 1.25  # latency may rise by this factor from one load to the next
FIRST = 8  # steps of the coarse grid
MOST_STEPS = 10000


@dataclass(frozen=True)
class Adaptive:
    """Loads low, low + tolerance, ... and high, of which a sweep runs as few as it needs; made by :func:`adaptive`."""

    low: float
    high: float
    tolerance: float

    @property
    def steps(self) -> int:
        whole, rest = divmod(_exact(self.high) - _exact(self.low), _exact(self.tolerance))
        return int(whole) + (rest > 0)

    def load(self, step: int) -> float:
        """Exact in decimal, so that the same load is the same number whatever led to it."""
        return float(min(_exact(self.high), _exact(self.low) + step * _exact(self.tolerance)))

    def first(self) -> list[float]:
        """The coarse grid. Load 0 measures nothing; the lowest load is then the first step."""
        grid = {round(i * self.steps / FIRST) for i in range(FIRST + 1)} - ({0} if self.low == 0 else set())
        return [self.load(step) for step in sorted(grid | ({1} if self.low == 0 else set()))]

    def next(self, measured: Mapping[float, Sequence[Mapping[str, Any]]]) -> list[float]:
        """The loads to run after these: load -> results, one a seed. Empty: there is nothing more to know.

        A gap is halved between the highest load below which all is steady and the lowest saturated one, and below that
        where latency rises by more than a quarter. Beyond saturation the coarse grid will do."""
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
    """For ``over={"traffic.load": fl.adaptive(0, 1)}``: a sweep that refines itself near saturation.

    It begins with eight steps, then halves gaps until the border of saturation lies between two loads that are
    ``tolerance`` apart, and latency rises by no more than a quarter from load to load, or loads are ``tolerance``
    apart. Loads are multiples of ``tolerance`` above ``low``, and ``high``. Raises ConfigError if that is not
    0 <= low < high <= 1 in at most 10000 steps.
    """
    try:
        bottom, top, step = (_exact(float(x)) for x in (low, high, tolerance))
        sound = 0 <= bottom < top <= 1 and 0 < step <= top - bottom <= MOST_STEPS * step
    except (TypeError, ValueError, InvalidOperation):  # Decimal compares no NaN
        sound = False
    if not sound:
        raise ConfigError(f"adaptive(low={low!r}, high={high!r}, tolerance={tolerance!r}): it needs 0 <= low < high "
                          f"<= 1 and a tolerance of which at most {MOST_STEPS} fit between them.")
    return Adaptive(float(low), float(high), float(tolerance))


def parse_adaptive(text: str) -> Adaptive:
    """``adaptive:LOW:HIGH`` or ``adaptive:LOW:HIGH:TOLERANCE`` of the command line."""
    parts = text.split(":")[1:]
    try:
        numbers = [float(Decimal(part)) for part in parts]
    except InvalidOperation:
        numbers = []
    if len(numbers) not in (2, 3):
        raise ConfigError(f"--over traffic.load={text}: it must be adaptive:LOW:HIGH or adaptive:LOW:HIGH:TOLERANCE, "
                          "numbers.")
    return adaptive(*numbers)


def refined(loads: Adaptive, settings: Sequence[Mapping[str, Any]],
            results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Settings that a sweep still wants: more loads for each setting of the other keys, with the same seeds."""
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
    """The order of a product: by the keys as given, then the seed. Loads rise, other values are as they first came."""
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
