"""Collective operations on any network: time against size for each algorithm, beside lower bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.operations import Schedule, bytes_of, check_algorithm
from flitlab.packet_format import PacketFormat
from flitlab.programs import Program
from flitlab.schedules import ALGORITHMS, Shape

if TYPE_CHECKING:
    import pandas as pd

    from flitlab.picture import Picture

_FORMAT = ("traffic.payload_bytes", "traffic.header_bytes", "traffic.flit_bytes", "traffic.send_overhead",
           "traffic.recv_overhead")


def _least_sent(operation: str, ranks: int, size: int) -> float:
    """Returns a lower bound of the bytes that the busiest rank sends or receives."""
    others = size * (ranks - 1) / ranks
    return {"allreduce": 2 * others, "broadcast": size, "reduce": size}.get(operation, others)


def _least_across(operation: str, ranks: int, size: int) -> float:
    """Returns a lower bound of the bytes that cross a bisection in one direction."""
    if operation in ("allgather", "reduce_scatter"):
        return size * (ranks // 2) / ranks
    if operation == "alltoall":
        return (ranks // 2) * size * ((ranks + 1) // 2) / ranks
    return size


class Collectives:
    """Times of collective operations: one row for each algorithm and size.

    ``frame`` has the columns operation, algorithm, ranks, bytes, ``cycles`` (measured), ``alpha_beta`` (time without
    contention), ``bandwidth_bound`` and ``bisection_bound`` (cycles that no algorithm can beat: flits of the busiest
    rank, and flits across the bisection; NaN if the network's bisection is unknown). ``cycles`` is the measured time if
    there is one row."""

    def __init__(self, rows: list[dict[str, Any]]):
        self._rows = rows

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self._rows)

    @property
    def cycles(self) -> int:
        if len(self._rows) != 1:
            raise ConfigError(f"cycles: there are {len(self._rows)} rows, not one. Use frame.")
        return self._rows[0]["cycles"]

    def plot(self, axes: Any = None) -> Picture:
        """Draws time against size, one line for each algorithm, with the bounds dotted."""
        import matplotlib.pyplot as plt

        from flitlab.picture import Picture

        if axes is None:
            _, axes = plt.subplots(layout="constrained")
        frame = self.frame
        for algorithm, rows in frame.groupby("algorithm", sort=False):
            line, = axes.plot(rows["bytes"], rows["cycles"], marker="o", label=algorithm)
            axes.plot(rows["bytes"], rows["alpha_beta"], linestyle="--", linewidth=0.8, color=line.get_color())
        bounds = frame.groupby("bytes")[["bandwidth_bound", "bisection_bound"]].first()
        for name, colour in (("bandwidth_bound", "0.6"), ("bisection_bound", "0.3")):
            if bounds[name].notna().any():
                axes.plot(bounds.index, bounds[name], linestyle=":", color=colour, label=name.replace("_", " "))
        axes.plot([], [], linestyle="--", linewidth=0.8, color="0.5", label="without contention")
        axes.set(xscale="log", yscale="log", xlabel="size (bytes)", ylabel="time (cycles)",
                 title=f"{frame['operation'].iloc[0]} among {frame['ranks'].iloc[0]} ranks")
        axes.legend()
        return Picture([axes], ["time"])

    def __repr__(self) -> str:
        return self.frame.to_string(index=False)

    def _repr_html_(self) -> str:
        return self.frame.to_html(index=False)


def collective(operation: str, size: Any, algorithm: str | Sequence[str] | None = None, network: Given = "vc-mesh-8x8",
               *, ranks: int | None = None, segments: int = 8, dimensions: Sequence[int] | None = None,
               combine: float = 0.0, traffic: Mapping[str, Any] | None = None, backend: str = "auto",
               progress: bool = True) -> Collectives:
    """Measures how long a collective operation takes on a network, which carries no other traffic.

    operation: "allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast" or "reduce". size: bytes, or text
    such as "1MB", or a list; bytes of a rank's buffer (allgather: of the result; alltoall: of all that a rank sends).
    algorithm: a name, a list, or None for all that fit; see docs/programs.md. network: an experiment; its traffic is
    replaced. ranks: rank r is terminal r; None: one on every terminal. segments: parts in which trees and chains pass
    on a buffer. dimensions: for "by_dimension", how many ranks each dimension has; None: as the network's grid.
    combine: cycles to add one byte to another. traffic: sizes of packets and overheads of processors, for example
    ``{"traffic.flit_bytes": 64}``. Raises ConfigError."""
    if operation not in ALGORITHMS:
        raise ConfigError(f"operation = {shown(operation)}: it must be one of {', '.join(ALGORITHMS)}."
                          f"{did_you_mean(operation, ALGORITHMS)}")
    sizes = [bytes_of(s) for s in (size if isinstance(size, (list, tuple)) else [size])]
    base = experiment_of(network)
    terminals = int(base.derived()["terminals"])
    ranks = terminals if ranks is None else ranks
    if not isinstance(ranks, int) or not 2 <= ranks <= terminals:
        raise ConfigError(f"ranks = {shown(ranks)}: it must be 2 to {terminals}, the network's terminals.")
    if not isinstance(segments, int) or segments < 1:
        raise ConfigError(f"segments = {shown(segments)}: it must be a whole number, at least 1.")
    shape = Shape(ranks, segments, _dimensions(base, ranks, dimensions))
    names = _algorithms(operation, algorithm, shape, dimensions)
    cost = _Cost(base, traffic or {}, ranks)
    rows = []
    for name in names:
        for n in sizes:
            rows.append(_measured(Schedule(operation, name, shape, n), base, cost, combine, backend, progress))
    return Collectives(rows)


def _grid(base: Experiment) -> tuple[int, ...]:
    return tuple(base["topology.shape"]) if "topology.shape" in base else ()


def _dimensions(base: Experiment, ranks: int, given: Sequence[int] | None) -> tuple[int, ...]:
    if given is not None:
        if math.prod(given) != ranks:
            raise ConfigError(f"dimensions = {shown(given)}: their product must be the number of ranks, {ranks}.")
        return tuple(given)
    grid = _grid(base)
    concentration = base.flat().get("topology.concentration", 1)
    grid = (concentration, *grid) if concentration > 1 else grid
    return grid if math.prod(grid) == ranks else (ranks,)


def _algorithms(operation: str, algorithm: Any, shape: Shape, dimensions: Any) -> list[str]:
    known = ALGORITHMS[operation]
    if algorithm is None:
        return [name for name, a in known.items() if not a.why_not(shape)
                and (name != "by_dimension" or len(shape.dimensions) > 1)]
    names = [algorithm] if isinstance(algorithm, str) else list(algorithm)
    for name in names:
        check_algorithm(operation, name, "algorithm")
    return names


class _Cost:
    """Costs of a message on a network, cycles."""

    def __init__(self, base: Experiment, traffic: Mapping[str, Any], ranks: int):
        self.traffic = {"traffic.mode": "program", **traffic}
        program = base.with_traffic({**self.traffic, "traffic.program_file": Program(ranks)})
        *sizes, self.send, self.receive = (program[key] for key in _FORMAT)
        self.format = PacketFormat(*sizes)
        one_flit = base.with_traffic({"traffic.mode": "open", "traffic.packet_flits": 1}).derived()
        self.alpha = one_flit.get("zero_load_latency_cycles") or math.nan
        # Channels in one direction. The middle divides the ranks evenly only if all terminals have one and the
        # longest dimension of a grid is even.
        even = ranks == one_flit["terminals"] and max(_grid(base), default=2) % 2 == 0
        self.bisection = (even and one_flit.get("bisection_channels", 0) / 2) or math.nan

    def flits(self, size: float) -> int:
        """Returns the flits of a message. Lower bounds of its size need not be whole."""
        return self.format.flits(math.ceil(size))


def _measured(schedule: Schedule, base: Experiment, cost: _Cost, combine: float, backend: str,
              progress: bool) -> dict[str, Any]:
    from flitlab.runner import run

    experiment = base.with_traffic({**cost.traffic, "traffic.program_file": schedule.program(combine)})
    operation, ranks, size = schedule.operation, schedule.shape.ranks, schedule.size
    return {
        "operation": operation, "algorithm": schedule.algorithm, "ranks": ranks, "bytes": size,
        "cycles": int(run(experiment, backend, progress=progress).model["program_cycles"]),
        "alpha_beta": schedule.alpha_beta(cost.alpha, cost.flits, cost.send, cost.receive, combine),
        "bandwidth_bound": float(cost.flits(_least_sent(operation, ranks, size))),
        "bisection_bound": cost.flits(_least_across(operation, ranks, size)) / cost.bisection,
    }
