"""Latency of a TIC and of a node, and bandwidth of a parallel port (S-Connect, 3.1, 4.1). A cycle is a routing cycle of
6 clocks, a flit a message."""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise, permutations
from pathlib import Path

from flitlab._core import RunError
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect.published.fabrics import ALPHA, CLOCKS, PAPER, TIC, dotted, fabric, send

# Latency of a node, and bandwidth of a port.

LATENCY = {"topology.kind": "random", "topology.channel_delay": 12}
SPEED = 180.0  # m/us, light in a fiber
SLOT_BITS = 96
SPACING = 70  # cycles between two messages, so that each is alone


@dataclass(frozen=True)
class Visit:
    """A message in a TIC, in clocks: when its header came in and went out, and by which ports."""

    came: int
    left: int
    port_in: int
    port_out: int


def journeys(nodes: int, **settings) -> list[list[Visit]]:
    """TICs that messages pass, each of which is alone in a random graph; from every terminal to every other one."""
    settings = LATENCY | {"topology.nodes": nodes} | dotted(settings)
    return alone(settings, nodes * settings.get("topology.host_ports", 1))


def alone(settings: dict, terminals: int) -> list[list[Visit]]:
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
    ways = list(done.values())
    longest = max(way[-1].left - way[0].came for way in ways) // CLOCKS
    if longest >= SPACING - 10:
        raise RunError(f"sconnect.latency: a message takes {longest} cycles, and they leave {SPACING} apart.")
    return ways


# The four workstations of section 4.1. How they were joined is not said.
WIRINGS = {"a line": ["0,1", "1,2", "2,3"], "a ring": ["0,1", "1,2", "2,3", "3,0"],
           "a ring, two channels side by side": ["0,1", "1,2", "2,3", "3,0"] * 2}
ORDERS = 24  # of its channels: each gives the lowest ports that are free at its ends


def four_nodes(channels: list[str], file: Path) -> list[list[Visit]]:
    """Journeys of a machine of four nodes, over different orders of its channels, and so different ports."""
    orders = sorted(set(permutations(channels)))
    seen = []
    for order in orders[:: max(1, len(orders) // ORDERS)][:ORDERS]:
        file.write_text("\n".join(order) + "\n", encoding="utf-8")
        seen += alone({"topology.kind": "graph", "topology.file": str(file), "topology.channel_delay": 12}, 4)
    return seen


def traversals(ways: list[list[Visit]]) -> list[int]:
    """Clocks from a header read in one node to the same read in the next one."""
    return [b.came - a.came for way in ways for a, b in pairwise(way)]


def a_node_more(ways: list[list[Visit]]) -> float:
    """Clocks that a node more adds, by regression."""
    lengths = [(len(way) - 1, way[-1].left - way[0].came) for way in ways]
    return statistics.linear_regression(*zip(*lengths, strict=True)).slope


READING_LATENCY = (
    "From the clock in which a port's header is read to that of the port where it goes out: the six ports have one "
    "clock each in a routing cycle, in a fixed order. Pairs of ports: all that messages take which are alone, in "
    "random graphs of 64 nodes with a TIC, and of 16 with two hosts' ports and a TIC or two; an idle TIC prefers port "
    "4 to 5 for what comes from channels 2 and 3, so these two pairs are not among them. Not counted: messages "
    "between the hosts' ports of a node with two TICs that leave by the port they came by, after 6 clocks.")
READING_NODE = (
    "From a header read in a node to the same header read in the next one: 1 to 5 clocks in the TIC, the channel's "
    "delay of two routing cycles (12 clocks, serialisation and 2 m of cable included), and the clocks from "
    "the turn of the port at the near end to that at the far one. All pairs of the machine that the paper measured, of "
    "four nodes with a parallel port each, in the ports that up to 24 orders of its channels give. How it was wired is "
    "not said: a line, a ring, and a ring with all four channels of a TIC are side by side; the line, which has most "
    "nodes to go through, is judged.")
READING_RANGE = READING_NODE + (
    " The paper's range, 10 to 17 clocks, comes from the phases of two nodes' routing cycles; here all nodes are in "
    "phase, and ports differ.")
READING_SINGLE = ("From the header's entry into the first TIC to the last word's exit from the second one. The paper: "
                  "1.7 us from the host's second store, dominated by the fifos of the alpha board, which are not "
                  "emulated.")
READING_PORT = ("Two nodes whose hosts always have a message for the other, a parallel port each. A message per cycle "
                "and host, of 10 bytes, is 86.4 MB/s at 51.84 MHz, where the alpha board's DMA shows more than 80, and "
                "220 MB/s both ways at 66 MHz (section 3). Both are the width of the port, so they say nothing of DMA; "
                "the Mbus, which reads 30 % faster than it sends, is not emulated.")
READING_FIBER = "Light goes 180 m in a microsecond; a slot of 96 bits at 16 x 66 Mb/s, scaled to 100 bits at 1 Gb/s."


def port_rate(cycles: int = 6000) -> float:
    """Messages per routing cycle into a host whose port is never idle."""
    net = Network(fabric({"topology.shape": [2], "traffic.load": 1.0, "traffic.pattern": "bit_complement"})).step(200)
    before = net.totals["packets_delivered"]
    net.step(cycles)
    return (net.totals["packets_delivered"] - before) / cycles / 2


def span_of_a_message() -> float:
    """Metres of fiber that 100 bits take at 1 Gb/s: what a long channel adds to a message's time, as a length, over the
    messages on it when it is full."""
    line = {"topology.shape": [2]}
    short, long = (alone(line | {"topology.channel_delay": delay}, 2)[0] for delay in (12, 300))
    clocks = (long[1].came - long[0].left) - (short[1].came - short[0].left)
    metres = SPEED * clocks / TIC
    messages = clocks / CLOCKS * port_rate()
    return metres / messages * (100 / SLOT_BITS) * (16 * TIC / 1000)


def nodes_rows(node: dict, name: str, ways: list[list[Visit]], ns: float) -> list[dict]:
    """What a node more adds in a machine of four; published numbers are for one wiring of several."""
    hops = traversals(ways)
    mine = node | {"setting": f"four nodes, {name}"}

    def judged(published: float, tolerance: float) -> dict:
        return {"published": published, "tolerance": tolerance} if name == "a line" else {"published": None,
                                                                                          "tolerance": 0}

    return [
        row(quantity="a node more adds, mean", measured=statistics.fmean(hops) * ns, reading=READING_NODE,
            **mine, **judged(310, 31)),
        row(quantity="a node more adds, by regression", measured=a_node_more(ways) * ns, reading=READING_NODE,
            **mine, **judged(310, 31)),
        row(quantity="a node more adds, at least", measured=min(hops) * ns, reading=READING_NODE,
            **mine, **judged(180, 18)),
        row(quantity="a node more adds, at most", measured=max(hops) * ns, reading=READING_RANGE,
            **mine, **judged(330, 33)),
        row(quantity="hops from 180 to 330 ns", **mine | {"unit": "%"}, published=None, tolerance=0,
            measured=100 * statistics.fmean(180 <= h * ns <= 330 for h in hops), reading=READING_RANGE)]


def latency() -> list[dict]:
    """Routing latency of a TIC, traversal of a node, and bandwidth of a parallel port."""
    single = journeys(64)
    small = [journeys(16, topology__host_ports=2, topology__node=node) for node in ("single", "dual")]
    visits = [v for ways in (single, *small) for way in ways for v in way if v.port_in != v.port_out]
    clocks = [v.left - v.came for v in visits]
    pairs = {(v.port_in, v.port_out) for v in visits}
    with tempfile.TemporaryDirectory() as folder:
        machines = {name: four_nodes(channels, Path(folder) / "graph.csv") for name, channels in WIRINGS.items()}
    rate = port_rate()
    ns = 1000 / ALPHA
    common = {"experiment": "sconnect.latency"}
    tic = common | {"source": f"{PAPER}, 3.1", "setting": "a TIC, idle", "tolerance": 0, "reading": READING_LATENCY}
    node = common | {"source": f"{PAPER}, 4.1", "unit": "ns"}
    port = common | {"source": f"{PAPER}, 4.1", "unit": "MB/s", "tolerance": 0, "reading": READING_PORT}
    return [
        row(quantity="header in to header out, at most (published: < 6)", published=5, measured=max(clocks),
            unit="clocks", **tic),
        row(quantity="header in to header out, at least", published=None, measured=min(clocks), unit="clocks", **tic),
        row(quantity="pairs of ports seen", published=None, measured=len(pairs), unit="of 30", **tic),
        *(line for name, ways in machines.items() for line in nodes_rows(node, name, ways, ns)),
        row(quantity="a single packet to a neighbour, in TICs and channel (published: 1700, with the host's board)",
            setting="four nodes", published=None, tolerance=0, reading=READING_SINGLE,
            measured=(statistics.fmean(way[-1].left - way[0].came for way in machines["a line"] if len(way) == 2)
                      + CLOCKS) * ns, **node),
        row(quantity="messages per cycle and host", setting="a port that is never idle", published=1, measured=rate,
            check=True, **port | {"unit": ""}),
        row(quantity="100 bits on a fiber at 1 Gb/s", setting="a channel of 288 clocks more", published=18,
            measured=span_of_a_message(), check=True,
            **port | {"source": f"{PAPER}, 2.1", "unit": "m", "tolerance": 0.5, "reading": READING_FIBER}),
    ]


EXPERIMENTS = {
    "sconnect.latency": ("a TIC's routing latency, traversal of a node, bandwidth of a port", latency),
}
