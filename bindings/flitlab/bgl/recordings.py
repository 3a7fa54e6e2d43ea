"""Runs of small Blue Gene/L tori that record data for pictures: paths of packets, a ring with bubble channels, waves of
throughput, and all-to-alls.

Source: Adiga et al., IBM J. Res. & Dev. 49 (2005), "Torus network", "Virtual channel architecture" and "Alltoall". A
cycle is the time of a byte on a link, a flit is a chunk of 32 bytes. Ports 0 to 5 are +x -x +y -y +z -z. VCs 0 and 1
are dynamic; VC 2 is the bubble channel, or VCs 2 and 3 are the first and the second of a dateline pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from flitlab.bgl.published.torus import FULL, all_to_all, percent_of_peak, times
from flitlab.courses import Course, Sample, all_delivered, follow
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.settings import dotted
from flitlab.temporary import temporary_csv
from flitlab.windows import increases

Shape = tuple[int, int, int]  # nodes in x, y, z
PORTS = "+x", "-x", "+y", "-y", "+z", "-z"
LINK_CYCLES = 270  # cycles of a link for a full packet and the token packet of the other direction
PACE = 1.07  # paced software leaves 7 % of the longest links' capacity unused


def traced(shape: Sequence[int], packets: Iterable[tuple[int, int, int, int]], cycles: int = 1500,
           **settings) -> Network:
    """Returns a traced network after some cycles, with all its events. packets: (cycle, source, destination, chunks).
    Settings are dotted paths, with ``__`` for the dot."""
    flat = dotted(settings)
    e = Experiment.from_dict({"router.kind": "bgl", "topology.shape": list(shape), "traffic.mode": "trace",
                              "traffic.trace_file": temporary_csv(packets)} | flat)
    return Network(e, trace=True).step(cycles)


def grants(events: pd.DataFrame) -> pd.DataFrame:
    """Returns a table of the links that were granted to packets: cycle, packet, node, link ("+x" to "-z"), VC.
    events: a table of Network.events()."""
    granted = events[events.kind == "switch_granted"]
    return pd.DataFrame({"cycle": granted.cycle, "packet": granted.id, "node": granted["index"],
                         "link": [PORTS[int(port)] for port in granted.out_port], "VC": granted.out_vc})


class Ring(NamedTuple):
    """Samples of a ring at equal intervals."""

    every: int  # cycles between two samples
    tokens: np.ndarray  # [sample][node] as bubble_tokens() returns them
    delivered: list[int]  # [sample] packets delivered since cycle 0


def bubble_tokens(network: Network) -> np.ndarray:
    """Returns an array [node] of the tokens for a node's bubble channel, in chunks. The left neighbour in the ring
    holds them."""
    nodes = int(network.experiment.derived()["routers"])
    return np.array([network.router((node - 1) % nodes).ports[0].vcs[2].credits for node in range(nodes)])


def record_ring(network: Network, samples: int, every: int) -> Ring:
    """Steps a ring and returns its samples. `every`: cycles between two samples."""
    tokens, delivered = [], []
    for _ in range(samples):
        network.step(every)
        tokens.append(bubble_tokens(network))
        delivered.append(network.totals["packets_delivered"])
    return Ring(every, np.array(tokens), delivered)


def ring_distances(network: Network) -> set[int]:
    """Returns the distances, in nodes in +x, from source to destination of the packets at the fronts of all VCs."""
    nodes = int(network.experiment.derived()["routers"])
    fronts = [vc for node in range(nodes) for port in network.router(node).ports for vc in port.vcs]
    return {(vc.dst_router - vc.src) % nodes for vc in fronts if vc.dst_router is not None and vc.src is not None}


def ring_buffers(network: Network) -> pd.DataFrame:
    """Returns a table of the bubble channels for packets from the left neighbour, with a row for each node of a
    ring."""
    rows = []
    for node, tokens in enumerate(bubble_tokens(network)):
        vc = network.router(node).ports[1].vcs[2]
        rows.append({"node": node, "packets": vc.packets, "chunks held": vc.flits, "chunks of the first": vc.left,
                     "tokens for this buffer": tokens})
    return pd.DataFrame(rows)


def x_buffers(every: int) -> Callable[[Network], dict]:
    """Returns a Course.observe function for planes. In cycles that are multiples of `every` it records arrays
    [node][port +x or -x][VC]: "held", the chunks in the receivers' buffers, and "free", the tokens that senders hold.
    """
    def observe(network: Network) -> dict:
        if network.cycle % every:
            return {}
        nodes = range(int(network.experiment.derived()["routers"]))
        ports = [[port.vcs[:4] for port in network.router(node).ports[:2]] for node in nodes]
        return {name: np.array([[[getattr(vc, key) for vc in vcs] for vcs in node] for node in ports])
                for name, key in (("held", "flits"), ("free", "credits"))}

    return observe


def wave(course: Course, samples: Sequence[Sample]) -> pd.DataFrame:
    """Returns a table with a row for each window of a course that observes with :func:`x_buffers`: throughput (chunks
    per cycle and node); freed, the share of token messages that unblock a packet; VC 0 to VC 3, chunks sent on links
    per cycle and node; closed 0 to 3, the share of x links whose VC has fewer than 8 tokens, NaN in windows without a
    record."""
    counts, rate = increases(samples), 1 / course.cycles / course.nodes()
    table = pd.DataFrame({"throughput": counts.flits_delivered * rate,
                          "freed": counts.unblocking / counts.token_messages})
    for vc in range(4):
        if f"vc{vc}_flits" in counts:
            table[f"VC {vc}"] = counts[f"vc{vc}_flits"] * rate
        table[f"closed {vc}"] = [(s["free"][:, :, vc] < FULL).mean() if "free" in s else np.nan for s in samples]
    return table


def minus_x_buffers(samples: Sequence[Sample], cycle: int) -> np.ndarray:
    """Returns an array [VC][y][x] of the chunks that a square plane's buffers for packets in -x held in a recorded
    cycle."""
    held = next(s["held"] for s in samples if s["cycle"] == cycle)[:, 0]  # port +x receives from the right neighbour
    side = math.isqrt(len(held))
    return held.T.reshape(-1, side, side)


def dimensions(network: Network) -> dict[str, Any]:
    """Returns a Course.observe sample by dimension: "busy", occupied cycles of a link since cycle 0 (mean over links);
    "held", [dimension][VC] chunks in a receiver's VC (mean over receivers); "heads", [dimension] the packets at the
    fronts of VCs, and the number of these that have hops in x only. "sent": [node] packets sent."""
    shape = network.experiment["topology.shape"]
    nodes = math.prod(shape)
    busy, held, heads = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 2))
    for _, port, taken in network.channels():
        busy[port // 2] += taken
    for node in range(nodes):
        here = np.unravel_index(node, shape, order="F")
        for port, p in enumerate(network.router(node).ports[:6]):
            for number, vc in enumerate(p.vcs[:3]):
                held[port // 2, number] += vc.flits
                if vc.dst_router is not None:
                    there = np.unravel_index(vc.dst_router, shape, order="F")
                    heads[port // 2] += 1, here[0] != there[0] and here[1:] == there[1:]
    links = 2 * nodes  # of a dimension
    return {"busy": busy / links, "held": held / links, "heads": heads,
            "sent": [network.terminal(node).sent for node in range(nodes)]}


@dataclass(frozen=True)
class AllToAll:
    """A finished all-to-all of full packets. Means are over the second quarter of the run."""

    shape: Shape
    samples: list[Sample]  # with the values of dimensions()
    least: float  # lower bound of its duration in cycles

    @property
    def quarter(self) -> list[Sample]:
        return self.samples[len(self.samples) // 4:len(self.samples) // 2 + 1]

    @property
    def use(self) -> np.ndarray:
        """[dimension] use of the links in percent."""
        begin, end = self.quarter[0], self.quarter[-1]
        return 100 * (end["busy"] - begin["busy"]) / (end["cycle"] - begin["cycle"])

    @property
    def held(self) -> np.ndarray:
        """[dimension][VC] chunks in a receiver's VC."""
        return np.mean([s["held"] for s in self.quarter], axis=0)

    @property
    def sent(self) -> np.ndarray:
        """[sample][node] packets sent since cycle 0, in the whole run."""
        return np.array([s["sent"] for s in self.samples])

    def percentages(self) -> dict[str, float]:
        """Returns the percent of peak and of hops on the bubble channel in the whole run, and the percentage of packets
        at the fronts of VCs that have hops in x only."""
        last, heads = self.samples[-1], np.sum([s["heads"] for s in self.quarter], axis=(0, 1))
        return {"of peak, beginning and end included (%)": percent_of_peak(self.samples, self.least),
                "hops on the bubble VC (%)": 100 * last["vc2_flits"] / last["flit_moves"],
                "heads that need x alone (%)": 100 * heads[1] / heads[0]}


def all_to_alls(rounds: Mapping[Shape, int]) -> dict[tuple[str, bool], AllToAll]:
    """Runs an all-to-all in each machine, first with software that fills FIFOs as soon as there is space, then paced:
    a chunk enters an injection FIFO no more often than the longest links can carry it, less 7 %. Returns runs by
    ("8x4x4", paced). rounds: packets from each node to each other, by the shape of the torus."""
    courses, found = {}, {}
    for shape, each in rounds.items():
        for paced in (False, True):
            interval = math.ceil(PACE * max(shape) / 8 * LINK_CYCLES / FULL) if paced else 0
            course, least = all_to_all(shape, rounds=each, injection__put_interval=interval)
            name = f"{times(shape)}, paced: {paced}"
            courses[name] = Course(course.experiment, int(least / 15), 200, all_delivered, dimensions)
            found[times(shape), paced] = shape, name, least
    samples = follow(courses)
    return {key: AllToAll(shape, samples[name], least) for key, (shape, name, least) in found.items()}


def percentages(runs: Mapping[tuple[str, bool], AllToAll]) -> pd.DataFrame:
    """Returns a table of :meth:`AllToAll.percentages` with a row for each run of :func:`all_to_alls`."""
    index = pd.MultiIndex.from_tuples(list(runs), names=["torus", "paced"])
    return pd.DataFrame([run.percentages() for run in runs.values()], index=index)
