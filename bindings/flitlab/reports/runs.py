"""Runs of a sweep that its report repeats: whole runs for heat maps, and a few recorded cycles for scopes.

Runs are deterministic, so a repeated run has the results, and the state hash, of the kept one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flitlab.network import Network
from flitlab.over_seeds import by_point
from flitlab.runner import run_keeping
from flitlab.scope.output import fitting
from flitlab.scope.recorder import Recorder

if TYPE_CHECKING:
    from flitlab.channels import Channels
    from flitlab.curve import Curve
    from flitlab.experiment import Experiment

CYCLES = 60  # of a recording, fewer if the network is large or busy
PROBED = 10  # cycles that are recorded first, to estimate the size of a recording
LEAST_CYCLES = 20  # recordings that would be shorter draw fewer routers instead
BYTES = 9_000_000  # of all heat maps and recordings of a report, so that the file stays below about 10 MB
LEAST_BYTES = 100_000  # of one recording: points of larger sweeps have no scope
MOST_LINES = 4  # lines of the curve that have heat maps


@dataclass(frozen=True)
class Point:
    """A point of the sweep: the rows of its runs, by their numbers in the curve."""

    values: dict[str, Any]  # of the varied parameters except run.seed
    rows: list[int]

    def name(self) -> str:
        return ", ".join(f"{key} = {value}" for key, value in self.values.items()) or "the only point"


@dataclass(frozen=True)
class Repeated:
    """A repeated run of a point. channels: None if the network has none."""

    point: Point
    seed: int
    channels: Channels
    kept_hash: str
    state_hash: str


@dataclass(frozen=True)
class Recording:
    """Recorded cycles of a point's first run, packed as for a saved page of the scope. cycles: first and last one."""

    text: str
    seed: int
    cycles: tuple[int, int]


def points_of(curve: Curve) -> list[Point]:
    keys = [key for key in curve.keys if key != "run.seed"]
    numbered = ((*values, i) for i, values in enumerate(curve.rows.pick(*keys)))
    return [Point(dict(zip(keys, values, strict=True)), [i for (i,) in rows])
            for values, rows in by_point(numbered, len(keys))]


def experiment_at(curve: Curve, experiment: Experiment, row: int) -> Experiment:
    config = curve.results[row].config
    return experiment.set({key: config[key] for key in (*curve.keys, "run.seed")})


def chosen_for_heat_maps(curve: Curve, points: Sequence[Point]) -> list[Point]:
    """Returns a low, a middle and the highest unsaturated point of each of the first MOST_LINES lines of the curve."""
    unsaturated = [verdict not in ("saturated", "too_short") for (verdict,) in curve.rows.pick("verdict")]
    lines: dict[str, list[Point]] = {}
    for point in points:
        line = repr([value for key, value in point.values.items() if key != curve.axis])
        if line in lines or len(lines) < MOST_LINES:
            lines.setdefault(line, [])
            if all(unsaturated[i] for i in point.rows):
                lines[line].append(point)
    chosen = []
    for line in lines.values():
        if all(isinstance(point.values.get(curve.axis), (int, float)) for point in line):
            line.sort(key=lambda point: point.values[curve.axis])
        chosen += [line[i] for i in sorted({0, (len(line) - 1) // 2, len(line) - 1})] if line else []
    return chosen


def repeated(curve: Curve, experiment: Experiment, point: Point) -> Repeated:
    """Runs the first seed of a point again."""
    row = point.rows[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sweep gave these warnings
        result = run_keeping(experiment_at(curve, experiment, row))
    return Repeated(point, curve.rows[row]["run.seed"], result.channels, curve.rows[row]["state_hash"],
                    result.state_hash)


def with_scopes(points: Sequence[Point], room: int) -> list[int]:
    """Returns the numbers of the points that have a scope: all of them, or evenly spaced ones of a large sweep. room:
    bytes of all recordings."""
    most = max(2, room // LEAST_BYTES)
    if len(points) <= most:
        return list(range(len(points)))
    return sorted({round(i * (len(points) - 1) / (most - 1)) for i in range(most)})


def recordings(curve: Curve, experiment: Experiment, points: Sequence[Point],
               room: int) -> Iterator[tuple[int, Recording]]:
    """Yields the number of a point and its recording. Quiet points come first, because their recordings are small and
    leave room for others. room: bytes of all recordings."""
    offered = [load for (load,) in curve.rows.pick("offered")]
    order = sorted(with_scopes(points, room), key=lambda i: offered[points[i].rows[0]])
    for place, number in enumerate(order):
        recording = _recorded(curve, experiment, points[number].rows[0], room // (len(order) - place))
        room -= len(recording.text)
        yield number, recording


def _recorded(curve: Curve, experiment: Experiment, row: int, most: int) -> Recording:
    """Records the first cycles of the measurement window. most: largest size of the packed recording, bytes. A short
    recording shows how many cycles fit; if they are few, LEAST_CYCLES of fewer routers are recorded."""
    result = curve.results[row]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = Network(experiment_at(curve, experiment, row), threads=0).step(result.warmup_cycles)
        recorder = _recorder(network, PROBED)
        cycles = int(PROBED * most / len(recorder.packed()))
        if cycles < LEAST_CYCLES:
            recorder = _recorder(network, LEAST_CYCLES, max(1, len(recorder.routers) * cycles // LEAST_CYCLES))
        else:
            recorder.step(min(CYCLES, cycles) - PROBED)
        text, frames = fitting(recorder, recorder.packed(), most)
    return Recording(text, result.seed, (recorder.last - frames + 1, recorder.last))


def _recorder(network: Network, cycles: int, routers: int | None = None) -> Recorder:
    """Records some cycles of a copy of a network. routers: number of drawn routers; None: as many as a recording can
    have."""
    traced = Network(network.experiment, trace=True).go_on_from(network)
    recorder = Recorder(traced, CYCLES + 1, None if routers is None else range(routers))
    recorder.step(cycles)
    return recorder
