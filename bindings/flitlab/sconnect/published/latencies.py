"""Latency of a TIC and of a node, and bandwidth of a parallel port (S-Connect, 3.1, 4.1). A cycle is a routing cycle of
6 clocks, a flit a message."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect.published.fabrics import ALPHA, CLOCKS, DATA, PAPER, TIC, dotted, fabric, send

# Latency of a node, and bandwidth of a port.

LATENCY = {"topology.kind": "random", "topology.channel_delay": 12}
SPACING = 50  # cycles between two messages, so that each is alone


@dataclass(frozen=True)
class Visit:
    """A message in a TIC, in clocks: when its header came in and went out, and by which ports."""

    came: int
    left: int
    port_in: int
    port_out: int


def journeys(nodes: int, **settings) -> list[list[Visit]]:
    """TICs that messages pass, each of which is alone in the fabric; from every terminal to every other one."""
    settings = LATENCY | {"topology.nodes": nodes} | dotted(settings)
    terminals = nodes * settings.get("topology.host_ports", 1)
    pairs = [(a, b) for a in range(terminals) for b in range(terminals) if a != b]
    net = send(settings, ((SPACING * i, a, b) for i, (a, b) in enumerate(pairs)), trace=True)
    net.step(SPACING * (len(pairs) + 1))
    came: dict[tuple[int, int], tuple[int, int]] = {}
    done = defaultdict(list)
    # A port's header is read, or goes out, in the clock of that number.
    for event in sorted(net.events(), key=lambda e: (e["cycle"], e["kind"] == "switch_granted")):
        message = event["src"], event["id"]
        if event["kind"] in ("injected", "arrived"):
            came[message] = CLOCKS * event["cycle"] + event["port"], event["port"]
        elif event["kind"] == "switch_granted":
            at, port = came[message]
            done[message].append(Visit(at, CLOCKS * event["cycle"] + event["out_port"], port, event["out_port"]))
    return list(done.values())


READING_LATENCY = (
    "From the clock in which a port's header is read to that of the port where it goes out: the six ports have one "
    "clock each in a routing cycle, in a fixed order. Pairs of ports: all that messages take which are alone, in "
    "random graphs of 64 nodes with a TIC, and of 16 with two hosts' ports and a TIC or two; an idle TIC prefers port "
    "4 to 5 for what comes from channels 2 and 3, so these two pairs are not among them. Not counted: messages "
    "between the hosts' ports of a node with two TICs that leave by the port they came by, after 6 clocks.")
READING_NODE = (
    "From a header read in a node to the same header read in the next one: 1 to 5 clocks in the TIC, the channel's "
    "delay of two routing cycles (12 clocks, serialisation and 2 m of cable included: the default), and up to 3 "
    "clocks more or fewer to the turn of the port at the far end. Random graph of 64 nodes, all pairs. The paper's "
    "time depends on the phases of two nodes' routing cycles, and on the cable; here all nodes are in phase, and "
    "ports differ.")
READING_RANGE = READING_NODE + (
    " So the range is wider than the published one, 10 to 20 clocks; which ports of the alpha boards were joined to "
    "which is not known. Within 9 to 17 clocks are 180 to 330 ns.")
READING_SINGLE = ("From the header's entry into the first TIC to the last word's exit from the second one. The paper: "
                  "1.7 us from the host's second store, dominated by the fifos of the alpha board, which are not "
                  "emulated.")
READING_PORT = ("Two nodes whose hosts always have a message for the other, one parallel port each: messages delivered "
                "per cycle and host, of 10 bytes, at the clock named.")


def port_rate(cycles: int = 6000) -> float:
    """Messages per routing cycle into a host whose port is never idle."""
    net = Network(fabric({"topology.shape": [2], "traffic.load": 1.0, "traffic.pattern": "bit_complement"})).step(200)
    before = net.totals["packets_delivered"]
    net.step(cycles)
    return (net.totals["packets_delivered"] - before) / cycles / 2


def latency() -> list[dict]:
    """Routing latency of a TIC, traversal of a node, and bandwidth of a parallel port."""
    single = journeys(64)
    small = [journeys(16, topology__host_ports=2, topology__node=node) for node in ("single", "dual")]
    visits = [v for ways in (single, *small) for way in ways for v in way if v.port_in != v.port_out]
    clocks = [v.left - v.came for v in visits]
    pairs = {(v.port_in, v.port_out) for v in visits}
    hops = [b.came - a.came for way in single for a, b in pairwise(way)]
    by_length = defaultdict(list)
    for way in single:
        by_length[len(way) - 1].append(way[-1].left - way[0].came)
    slope = statistics.linear_regression([n for n, times in by_length.items() for _ in times],
                                         [t for times in by_length.values() for t in times]).slope
    rate = port_rate()
    ns = 1000 / ALPHA
    common = {"experiment": "sconnect.latency"}
    tic = common | {"source": f"{PAPER}, 3.1", "setting": "a TIC, idle", "tolerance": 0, "reading": READING_LATENCY}
    node = common | {"source": f"{PAPER}, 4.1", "setting": "51.84 MHz", "unit": "ns"}
    port = common | {"source": f"{PAPER}, 4.1", "unit": "MB/s", "tolerance": 0, "reading": READING_PORT}
    return [
        row(quantity="header in to header out, at most (published: < 6)", published=5, measured=max(clocks),
            unit="clocks", **tic),
        row(quantity="header in to header out, at least", published=None, measured=min(clocks), unit="clocks", **tic),
        row(quantity="pairs of ports seen", published=None, measured=len(pairs), unit="of 30", **tic),
        row(quantity="a node more adds, mean", published=310, measured=statistics.fmean(hops) * ns, tolerance=31,
            reading=READING_NODE, **node),
        row(quantity="a node more adds, by regression", published=310, measured=slope * ns, tolerance=31,
            reading=READING_NODE, **node),
        row(quantity="a node more adds, at least", published=180, measured=min(hops) * ns, tolerance=18,
            reading=READING_NODE, **node),
        row(quantity="a node more adds, at most", published=330, measured=max(hops) * ns, tolerance=33,
            reading=READING_RANGE, **node),
        row(quantity="hops from 180 to 330 ns", **node | {"unit": "%"}, published=None, tolerance=0,
            measured=100 * statistics.fmean(180 <= h * ns <= 330 for h in hops), reading=READING_RANGE),
        row(quantity="a single packet to a neighbour", published=None, tolerance=0, reading=READING_SINGLE,
            measured=(statistics.fmean(by_length[1]) + CLOCKS) * ns, **node),
        row(quantity="slot", published=None, tolerance=0, measured=CLOCKS * ns, **node),
        row(quantity="DMA, one way (published: > 80)", setting="51.84 MHz", published=80,
            measured=rate * DATA * ALPHA / CLOCKS, higher_is_better=True, **port),
        row(quantity="a parallel port, both ways", setting="66 MHz", published=220,
            measured=2 * rate * DATA * TIC / CLOCKS, **port | {"source": f"{PAPER}, 3"}),
    ]


EXPERIMENTS = {
    "sconnect.latency": ("a TIC's routing latency, traversal of a node, bandwidth of a port", latency),
}
