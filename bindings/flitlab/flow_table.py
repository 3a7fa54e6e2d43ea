"""Results per flow: what each source sends to each destination, and how long it takes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.arguments import check_truth, shown, whole, writing
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.network import Network
from flitlab.picture import Picture, one_axes

if TYPE_CHECKING:
    import pandas as pd

MOST_DRAWN = 1024  # terminals in a drawing; more would be less than a pixel each
_CHUNK = 256  # cycles between two reads of the events
_VALUES = {  # of Flows.matrix: unit
    "packets": "packets", "flits": "flits", "load": "flits/cycle", "latency_mean": "cycles", "latency_p50": "cycles",
    "latency_p99": "cycles", "latency_max": "cycles", "network_latency_mean": "cycles",
}


class Flows:
    """The packets of a run by source and destination: ``flows.frame``, ``flows.matrix("latency_p99")``,
    ``flows.plot()``. ``flows.packets`` lists every packet. ``flows.of_class(1)`` has only the flows of class 1.

    packets: pandas.DataFrame with a row for each packet that was created in the window: source, id, destination, flits,
    created, injected, delivered (cycles of these events), latency and network_latency (cycles, as in results; NaN for a
    packet that had not arrived when the run ended). In a closed loop a terminal sends requests and replies; replies
    have ids from 2**31. With several classes of packets there is a column packet_class. cycles: length of the window.
    terminals: of the network. classes: number of classes of packets.
    """

    def __init__(self, packets: pd.DataFrame, terminals: int, cycles: int, classes: int = 1):
        self.packets = packets
        self.terminals = terminals
        self.cycles = cycles
        self.classes = classes

    @property
    def frame(self) -> pd.DataFrame:
        """pandas.DataFrame with a row for each pair of terminals that had packets: source, destination, packets, flits,
        load (flits/cycle that the source created), latency_mean, latency_p50, latency_p99, latency_max and
        network_latency_mean (cycles), and missing (packets that had not arrived)."""
        groups = self.packets.groupby(["source", "destination"])
        latency = groups["latency"]
        table = groups.agg(packets=("flits", "size"), flits=("flits", "sum"))
        return table.assign(
            load=table["flits"] / self.cycles, latency_mean=latency.mean(), latency_p50=latency.quantile(0.5),
            latency_p99=latency.quantile(0.99), latency_max=latency.max(),
            network_latency_mean=groups["network_latency"].mean(), missing=table["packets"] - latency.count(),
        ).reset_index()

    def of_class(self, number: int) -> Flows:
        """Returns the flows of one class of packets (``traffic.classes``). Raises ConfigError if there is no such
        class."""
        known = whole(number)
        if "packet_class" not in self.packets:
            raise ConfigError(f"flows.of_class({shown(number)}): the packets have no classes. Set traffic.classes.")
        if known is None or not 0 <= known < self.classes:
            raise ConfigError(f"flows.of_class({shown(number)}): it must be a class from 0 to {self.classes - 1}.")
        one = self.packets[self.packets["packet_class"] == known]
        return Flows(one, self.terminals, self.cycles, self.classes)

    def matrix(self, value: str = "latency_mean") -> np.ndarray:
        """Returns an array [source][destination] of a column of ``frame``; NaN where there were no packets. Raises
        ConfigError."""
        if not isinstance(value, str) or value not in _VALUES:
            raise ConfigError(f"flows.matrix({shown(value)}): it must be one of {', '.join(_VALUES)}.")
        frame, matrix = self.frame, np.full((self.terminals, self.terminals), np.nan)
        matrix[frame["source"], frame["destination"]] = frame[value]
        return matrix

    def plot(self, value: str = "latency_mean", axes: Any = None) -> Picture:
        """Draws a column of ``frame`` as a heat map of sources and destinations. Returns a picture of one panel. Raises
        ConfigError if there are more than 1024 terminals."""
        if self.terminals > MOST_DRAWN:
            raise ConfigError(f"flows.plot(): {self.terminals} terminals; at most {MOST_DRAWN} can be drawn. The table "
                              "flows.frame has all flows.")
        import matplotlib.pyplot as plt

        matrix = self.matrix(value)
        axes = one_axes("flows.plot", axes if axes is not None else plt.subplots(layout="constrained")[1])
        image = axes.imshow(matrix, origin="lower", cmap="viridis_r", interpolation="nearest")
        axes.set(xlabel="destination terminal", ylabel="source terminal")
        axes.figure.colorbar(image, ax=axes, label=f"{value.replace('_', ' ')} ({_VALUES[value]})", shrink=0.9)
        return Picture([axes], [value])

    def to_csv(self, path: str | os.PathLike) -> None:
        """Writes ``frame`` to a CSV file. Raises ConfigError if that fails."""
        with writing("to_csv", path):
            self.frame.to_csv(path, index=False)

    def __len__(self) -> int:
        return len(self.packets.groupby(["source", "destination"]))

    def __repr__(self) -> str:
        head = f"{len(self)} flows with {len(self.packets)} packets in {self.cycles} cycles"
        missing = int(self.packets["latency"].isna().sum())
        if missing:
            head += f"; {missing} packets had not arrived"
        columns = ["source", "destination", "packets", "load", "latency_mean", "latency_p99", "latency_max"]
        return f"{head}; the slowest:\n" + self.frame.nlargest(10, "latency_mean")[columns].to_string(index=False)


def flows(experiment: Given, cycles: int = 10000, warmup: int | None = None, drain: int = 20000,
          progress: bool = True) -> Flows:
    """Runs an experiment and keeps every packet, so that latency can be read per flow, with exact percentiles.

    The packets that are created in the ``cycles`` after ``warmup`` are kept. The run ends when all of them have
    arrived, or after ``drain`` more cycles. :func:`flitlab.run` with the same warm-up and window measures the same
    packets and latencies. It is faster, because this function uses one core and records every event.

    experiment: as in :func:`flitlab.run`. warmup: by default 2000 cycles, and 0 for a batch, a trace or a program.
    progress: a bar on stderr if the run takes longer than a second.
    Raises ConfigError (bad input; packets with several destinations) or RunError (deadlock).

    >>> import flitlab as fl
    >>> seen = fl.flows({"topology.kind": "mesh", "topology.shape": [3], "traffic.pattern": "neighbour"}, 200, 0)
    >>> sorted(zip(seen.frame["source"], seen.frame["destination"]))
    [(0, 1), (1, 2), (2, 0)]
    """
    check_truth("progress", progress)
    experiment = experiment_of(experiment)
    if warmup is None:
        warmup = 0 if experiment["traffic.mode"] in ("batch", "trace", "program") else 2000
    for name, value, least in (("cycles", cycles, 1), ("warmup", warmup, 0), ("drain", drain, 0)):
        number = whole(value)
        if number is None or number < least:
            raise ConfigError(f"flows({name}={shown(value)}): it must be a whole number, at least {least}.")
    if experiment["traffic.mode"] == "broadcast":
        raise ConfigError('flows(): packets of traffic.mode = "broadcast" have several destinations, so they are no '
                          "flows. Use Network.events.")
    packets, terminals = _record(experiment, int(cycles), int(warmup), int(drain), progress)
    return Flows(packets, terminals, int(cycles), experiment.flat().get("traffic.classes", 1))


def _record(experiment: Experiment, cycles: int, warmup: int, drain: int, progress: bool) -> tuple[pd.DataFrame, int]:
    """Returns the packets of the window, and the number of terminals."""
    import pandas as pd
    from tqdm.auto import tqdm

    network = Network(experiment, trace=True)
    core = network._core
    window = range(warmup, warmup + cycles)
    # (source, id): destination, flits, created, injected, delivered, latency
    found: dict[tuple[int, int], list[float]] = {}
    waiting = 0
    with tqdm(total=window.stop, unit="cycle", unit_scale=True, delay=1, disable=not progress) as bar:
        while core.cycle < window.stop or (waiting and core.cycle < window.stop + drain):
            left = window.stop - core.cycle if core.cycle < window.stop else window.stop + drain - core.cycle
            network.step(min(_CHUNK, left))
            bar.update(min(core.cycle, window.stop) - bar.n)
            for kind, cycle, source, number, terminal, flits, latency in core.packet_events():
                if kind == "created" and cycle in window:
                    found[source, number] = [terminal, flits, cycle, np.nan, np.nan, np.nan]
                    waiting += 1
                elif kind == "injected" and (packet := found.get((source, number))):
                    packet[3] = cycle
                elif kind == "delivered" and (packet := found.get((source, number))):
                    packet[4:] = cycle, latency
                    waiting -= 1
    if waiting:
        network.check()
    names = ["source", "id", "destination", "flits", "created", "injected", "delivered", "latency"]
    table = pd.DataFrame([[*key, *packet] for key, packet in found.items()], columns=names)
    table = table.astype(dict.fromkeys(names[:5], np.int64) | dict.fromkeys(names[5:], np.float64))
    # Some models count the cycles at the ends of a route as latency although they have no event there.
    queued = table["injected"] - table["created"]
    classes = experiment.flat().get("traffic.classes", 1)
    if classes > 1:  # packets of all classes of a terminal are numbered in turns
        table = table.assign(packet_class=table["id"] % classes)
    return table.assign(network_latency=table["latency"] - queued), int(experiment.derived()["terminals"])
