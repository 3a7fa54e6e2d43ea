"""Further seeds of a sweep, for points whose mean latency has a wide confidence interval over the seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import is_number, is_whole, named, whole
from flitlab.over_seeds import mean_and_half

MOST_SEEDS = 20  # default of most_seeds
NAMED = 5  # points that a warning names; it counts the others


@dataclass
class _Point:
    """The runs of a point, which differ only in their seeds."""

    setting: dict[str, Any]  # of its first run
    seeds: list[int]
    latencies: list[float | None]  # mean latency of each run, cycles; None if it was not measured

    def width(self) -> float:
        """Returns half of the 95 % confidence interval over the seeds, relative to the mean latency. It is NaN with one
        seed, and 0 if a run has no mean latency, because further seeds cannot change that."""
        if None in self.latencies:
            return 0.0
        mean, half = mean_and_half(self.latencies)
        return half / mean if mean else half


@dataclass(frozen=True)
class Until:
    """The rule by which a sweep adds seeds. width: wanted half-width of the interval, relative to the mean latency;
    most: largest number of seeds per point."""

    width: float
    most: int

    def more(self, settings: Sequence[Mapping[str, Any]], results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Returns the settings of the next round: further seeds for each point whose interval is too wide.

        A round adds half as many seeds as the point has, and at least one. So there are few rounds, and the runs of a
        round advance together."""
        found = []
        for point in _points(settings, results):
            if not point.width() <= self.width:
                first, count = max(point.seeds) + 1, len(point.seeds)
                found += [point.setting | {"run.seed": first + i}
                          for i in range(min(max(1, count // 2), self.most - count))]
        return found

    def too_wide(self, settings: Sequence[Mapping[str, Any]], results: Iterable[Mapping[str, Any]]) -> str:
        """Returns a sentence on the points whose intervals are too wide after the largest number of seeds; "" if there
        are none."""
        wide = [f"{_words(point.setting)} (+- {100 * point.width():.2g} %)"
                for point in _points(settings, results) if not point.width() <= self.width]
        if not wide:
            return ""
        more = f"; and {len(wide) - NAMED} more" if len(wide) > NAMED else ""
        return (f"after {self.most} seeds ({named('most_seeds')}), the mean latency is known less precisely than "
                f"+- {100 * self.width:g} % ({named('until')}) at {'; '.join(wide[:NAMED])}{more}.")


def in_point_order(settings: Sequence[Mapping[str, Any]]) -> list[int]:
    """Returns the indices of settings in the order of the points' first runs; the runs of a point keep their order."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(_key(setting), len(places)) for setting in settings]
    return sorted(range(len(settings)), key=numbers.__getitem__)


def until_of(until: Any, most_seeds: Any, seeds: Any, keys: Iterable[str]) -> Until | None:
    """Checks the arguments of a sweep. Returns None if ``until`` is None. Raises ConfigError."""
    if not is_whole(most_seeds) or most_seeds < 2:
        raise ConfigError(f"{named('most_seeds', most_seeds)}: it must be a whole number from 2, the largest number of "
                          f"seeds that {named('until')} may use for a point.")
    if until is None:
        return None
    if not is_number(until) or not 0 < until < 1:
        raise ConfigError(f"{named('until', until)}: it must be a number above 0 and below 1, half of the confidence "
                          "interval relative to the mean latency; 0.02 is 2 %.")
    if "run.seed" in keys:
        raise ConfigError(f"{named('over')} run.seed and {named('until')} both choose seeds; use one.")
    count = whole(seeds)
    count = len(seeds) if count is None else count
    if count > most_seeds:
        raise ConfigError(f"{named('seeds', seeds)}: each point starts with {count} seeds, more than "
                          f"{named('most_seeds', most_seeds)}; raise {named('most_seeds')}.")
    return Until(float(until), int(most_seeds))


def _points(settings: Sequence[Mapping[str, Any]], results: Iterable[Mapping[str, Any]]) -> list[_Point]:
    points: dict[str, _Point] = {}
    for setting, result in zip(settings, results, strict=True):
        point = points.setdefault(_key(setting), _Point(dict(setting), [], []))
        point.seeds.append(setting["run.seed"])
        point.latencies.append(result["latency_cycles"]["mean"])
    return list(points.values())


def _key(setting: Mapping[str, Any]) -> str:
    return json.dumps({path: value for path, value in setting.items() if path != "run.seed"}, default=str)


def _words(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{path} = {value}" for path, value in setting.items() if path != "run.seed")
