"""Networks of the METRO paper (Table 3, Figures 1 and 3), and the measurement of a single message in one of them. A
cycle is a clock, a flit a word of a channel."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flitlab._core import RunError
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.settings import dotted

PAPER = "METRO: A Router Architecture for High-Performance, Short-Haul Routing Networks"
BYTES = 20
START = 10  # cycle in which the single message is created


@dataclass(frozen=True)
class Instance:
    """A row of Table 3."""

    name: str
    clock: float  # clock period in ns; all times of this class are in ns
    io: float
    stage: float
    delivery: float
    width: int = 4
    cascade: int = 1
    radix: tuple[int, ...] = (2, 2, 2, 4)
    header_words: int = 0
    pipeline: int = 1
    straddles: bool = True
    wire_clocks: int | None = None  # interconnect delay in clocks that replaces the one of Table 4's formula

    @property
    def bits(self) -> int:
        """Width of a channel, bits."""
        return self.width * self.cascade

    @property
    def wire(self) -> int:
        """Interconnect delay in clocks, with 3 ns of wire (Table 4)."""
        return math.ceil((self.io + 3) / self.clock) if self.wire_clocks is None else self.wire_clocks

    def experiment(self, trace: Path) -> Experiment:
        return Experiment.from_dict({
            "router.kind": "metro", "topology.radix": list(self.radix),
            "topology.dilation": [2] * (len(self.radix) - 1) + [1], "topology.wire_delay": self.wire,
            "router.width": self.width, "router.cascade": self.cascade, "router.header_words": self.header_words,
            "router.header_straddles": self.straddles,
            "router.pipeline_stages": self.pipeline, "endpoint.checksum": "crc32",
            "traffic.mode": "trace", "traffic.trace_file": str(trace)})


EIGHT = (4, 8)
TABLE3 = (
    Instance("METROJR-ORBIT", 25, 10, 50, 1250),
    Instance("METROJR-ORBIT, 2-cascade", 25, 10, 50, 750, cascade=2),
    Instance("METROJR-ORBIT, 4-cascade", 25, 10, 50, 500, cascade=4),
    Instance("METROJR-ORBIT, w = 8", 25, 10, 50, 725, width=8),
    Instance("METROJR, standard cells", 10, 5, 20, 500),
    Instance("METROJR, standard cells, 2-cascade", 10, 5, 20, 300, cascade=2),
    Instance("METROJR, standard cells, 4-cascade", 10, 5, 20, 200, cascade=4),
    Instance("METRO i = o = 8, standard cells", 10, 5, 20, 460, radix=EIGHT),
    Instance("METROJR, full custom", 5, 3, 15, 270),
    Instance("METRO i = o = 8, full custom", 5, 3, 15, 240, radix=EIGHT),
    Instance("METROJR, full custom, dp = 2", 2, 3, 10, 124, pipeline=2),
    Instance("METROJR, full custom, hw = 1", 2, 3, 8, 120, header_words=1),
    Instance("METROJR, full custom, hw = 1, 2-cascade", 2, 3, 8, 80, cascade=2, header_words=1),
    Instance("METROJR, full custom, hw = 1, w = 8", 2, 3, 8, 80, width=8, header_words=1),
    Instance("METRO i = o = 8, full custom, hw = 2", 2, 3, 8, 104, radix=EIGHT, header_words=2),
    Instance("METRO i = o = 8, full custom, hw = 2, 4-cascade", 2, 3, 8, 44, cascade=4, radix=EIGHT, header_words=2),
)


@dataclass(frozen=True)
class Alone:
    """Times of a message in an empty network, in clocks from its first word on the source's wire."""

    delivered: int  # until the end of the message's last word at the destination
    acknowledged: int  # until the start of the acknowledgment on the source's wire
    turned: dict[int, int]  # by stage: until the TURN word is at the stage's router

    @property
    def stage(self) -> int:
        """Clocks in which TURN moves from each stage to the next. RunError if the stages differ."""
        apart = {b - a for a, b in pairwise(self.turned[s] for s in sorted(self.turned))}
        if len(apart) != 1:
            raise RunError(f"stages are {sorted(apart)} clocks apart; the distances should be equal.")
        return apart.pop()


def alone(make: Callable[[Path], Experiment], words: int, source: int = 3, destination: int = 17) -> Alone:
    """Sends one message of ``words`` words and returns its times. ``make`` builds the experiment from the path of a
    trace file."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "one.csv"
        trace.write_text(f"{START},{source},{destination},{words}\n", encoding="utf-8")
        net = Network(make(trace))
        delivered, turned, stages = 0, {}, {}
        for r in range(int(net.experiment.derived()["routers"])):
            stages.setdefault(int(net.router(r).name.split(".")[0]), []).append(r)
        ahead = sorted(stages)  # stages that the TURN word has not reached yet, in the order along the path
        while not net.totals["packets_delivered"]:
            net.step()
            clock = net.cycle - 1 - (START + 1)  # clocks up to the cycle that has just ended
            if not delivered and net.totals["messages_accepted"]:
                # The destination accepts the message when TURN arrives, one clock after the last word.
                delivered = clock
            while ahead and any(port.vcs[0].stage == "reverse"
                                for r in stages[ahead[0]] for port in net.router(r).ports):
                turned[ahead.pop(0)] = clock
        return Alone(delivered, net.totals["latency_sum"], turned)


NETWORK3 = {"router.kind": "metro", "topology.radix": [4, 4, 4], "topology.dilation": [2, 2, 1],
            "endpoint.checksum": "crc32"}


def figure3_network(**settings) -> Experiment:
    """The network of Figure 3: 8-bit routers of radix 4, two links in each direction. Settings are parameter paths with
    ``__`` for the dot."""
    return Experiment.from_dict(NETWORK3 | {"traffic.packet_flits": BYTES} | dotted(settings))


def figure1_network(**settings) -> Experiment:
    """The network of Figure 1: 16 endpoints, two stages of 4x2 routers of dilation 2 and one of 4x4 routers."""
    return Experiment.from_dict({"router.kind": "metro", "topology.radix": [2, 2, 4], "topology.dilation": [2, 2, 1],
                                 "router.width": 4, "endpoint.checksum": "crc32", "traffic.packet_flits": 40}
                                | dotted(settings))
