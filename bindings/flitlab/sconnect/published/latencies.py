"""Experiment on the latency of a TIC and of a node, and the bandwidth of a parallel port (S-Connect, 3.1, 4.1).

A cycle is a routing cycle of 6 clocks, a flit is a message."""

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
from flitlab.sconnect.console import Fabric
from flitlab.sconnect.published.fabrics import ALPHA, CLOCKS, PAPER, TIC, fabric, send
from flitlab.settings import dotted

# Latency of a node, and bandwidth of a port.

DELAY = 8  # clocks: the least time per node, 180 ns at 51.84 MHz, less 1 clock in the fastest TIC
LATENCY = {"topology.kind": "random", "topology.channel_delay": DELAY}
SPEED = 180.0  # m/us, speed of light in a fiber
SLOT_BITS = 96
SPACING = 70  # cycles between two messages, so that only one is in the fabric


@dataclass(frozen=True)
class Visit:
    """The passage of a message through a TIC: clocks at which its header entered and left, and the ports."""

    entry: int
    left: int
    port_in: int
    port_out: int


def journeys(nodes: int, **settings) -> list[list[Visit]]:
    """Returns, for a message between each pair of terminals of an otherwise empty random graph, its visits to TICs."""
    settings = LATENCY | {"topology.nodes": nodes} | dotted(settings)
    return alone(settings, nodes * settings.get("topology.host_ports", 1))


def alone(settings: dict, terminals: int) -> list[list[Visit]]:
    pairs = [(a, b) for a in range(terminals) for b in range(terminals) if a != b]
    net = send(settings, ((SPACING * i, a, b) for i, (a, b) in enumerate(pairs)), trace=True)
    net.step(SPACING * (len(pairs) + 1))
    fabric = Fabric(net)
    phases = [fabric.registers(tic)["phase"] for tic in range(1 + max(tic for tic, *_ in net.links()))]
    entry: dict[tuple[int, int], tuple[int, int]] = {}
    done = defaultdict(list)
    # Port p handles a header in clock p of its node's routing cycle, so events have this time in clocks.
    for event in sorted(net.events(), key=lambda e: (e["cycle"], e["kind"] == "switch_granted")):
        message = event["src"], event["id"]
        if event["kind"] in ("injected", "arrived"):
            entry[message] = CLOCKS * event["cycle"] + event["port"], event["port"]
        elif event["kind"] == "switch_granted":
            at, port = entry[message]
            phase, left = phases[event["index"]], CLOCKS * event["cycle"] + event["out_port"]
            done[message].append(Visit(phase + at, phase + left, port, event["out_port"]))
    all_visits = list(done.values())
    longest = max(journey[-1].left - journey[0].entry for journey in all_visits) // CLOCKS
    if longest >= SPACING - 10:
        raise RunError(f"sconnect.latency: a message takes {longest} cycles, but messages start every {SPACING} "
                       "cycles.")
    return all_visits


# The four workstations of section 4.1. The paper does not describe their wiring.
WIRINGS = {"a line": ["0,1", "1,2", "2,3"], "a ring": ["0,1", "1,2", "2,3", "3,0"],
           "a ring, two channels side by side": ["0,1", "1,2", "2,3", "3,0"] * 2}
ORDERS = 24  # number of orders in which the channels are listed; each channel gets the lowest free ports at its ends
MACHINES = 144  # number of machines; they use these orders in turn, each with other clock phases


def four_nodes(channels: list[str], file: Path, **settings) -> list[list[Visit]]:
    """Returns the visits to TICs of messages in machines of four nodes. The machines differ in the order of their
    channels, which determines the ports, and in clock phases."""
    orders = sorted(set(permutations(channels)))
    seen = []
    orders = orders[:: max(1, len(orders) // ORDERS)][:ORDERS]
    common = {"topology.kind": "graph", "topology.file": str(file), "topology.channel_delay": DELAY} | dotted(settings)
    alike = common.get("topology.phases") == "equal"
    for machine in range(len(orders) if alike else MACHINES):
        file.write_text("\n".join(orders[machine % len(orders)]) + "\n", encoding="utf-8")
        seen += alone(common if alike else common | {"topology.phase_seed": machine}, 4)
    return seen


def traversals(all_visits: list[list[Visit]]) -> list[int]:
    """Returns the clocks from the read of a header in one node to its read in the next node, for each hop."""
    return [b.entry - a.entry for journey in all_visits for a, b in pairwise(journey)]


def machines_near(all_visits: list[list[Visit]], least: float, most: float) -> float:
    """Returns the fraction of machines whose mean hop takes `least` to `most` clocks; each machine has 12 journeys."""
    means = [statistics.fmean(traversals(all_visits[i:i + 12])) for i in range(0, len(all_visits), 12)]
    return statistics.fmean(least <= mean <= most for mean in means)


def time_per_node(all_visits: list[list[Visit]]) -> float:
    """Returns the clocks that an additional node adds, by linear regression."""
    lengths = [(len(journey) - 1, journey[-1].left - journey[0].entry) for journey in all_visits]
    return statistics.linear_regression(*zip(*lengths, strict=True)).slope


READING_LATENCY = (
    "From the clock in which the input port reads the header to that in which the output port sends it: each of the "
    "six ports has one clock in a routing cycle, in a fixed order. Pairs of ports: all that a single message uses in "
    "random graphs of 64 nodes with one TIC, and of 16 nodes with two host ports and one or two TICs. An idle TIC "
    "prefers port 4 to port 5 for messages from channels 2 and 3, so these two pairs do not occur. Not counted: "
    "messages between host ports of a node with two TICs that leave by their input port, after 6 clocks.")
READING_NODE = (
    "From the read of a header in a node to its read in the next node: 1 to 5 clocks in the TIC, the channel's delay, "
    "and 0 to 5 clocks until the port's turn. The delay, with serialisation and 2 m of cable, is 8 clocks, derived "
    "from the smallest value of the paper: 180 ns are 9.3 clocks, and the fastest TIC takes 1. Section 1.2 gives "
    "serialisation as about 5 clocks for links in general; 4.1 says that it dominates the 16 clocks of this link. All "
    "pairs of the machine that the paper measured, four nodes with a parallel port each, for up to 24 assignments of "
    "channels to ports and 144 uniform draws of the nodes' phases. The paper does not describe the wiring: rows show a "
    "line, a ring, and a ring with all four channels of a TIC. The line, which has the longest paths, is judged.")
WHY_MEAN = (
    "The paper measured one machine, whose mean is near the late end of its range, 180 to 330 ns. Here the mean is "
    "over machines with all assignments of channels to ports and uniform phases, and lies in the middle of the range. "
    "Single machines have means within 10 % of the paper's (a row of context gives their part). Another wiring does "
    "not explain the difference (rows of context).")
WHY_RANGE = (
    "The paper's times differ by 150 ns, 7.8 clocks. Here a header waits up to 5 clocks for the turn of the input "
    "port, and leaves 1 to 5 clocks later, so times differ by 9 clocks. The range does not depend on the channel's "
    "delay, which was derived from the paper's least time. In a ring with two channels side by side, the range is "
    "nearly the paper's (rows of context); the paper does not describe its wiring.")
READING_SIX = ("The same with section 1.2's delay of serial links: 5 clocks for serialisation and 11 ns for 2 m of "
               "cable, 6 clocks together.")
READING_EQUAL = ("The same with topology.phases = \"equal\", unlike in the paper: all nodes are in phase, and every "
                 "channel takes two routing cycles, regardless of its ports' turns.")
READING_SINGLE = ("From the header's entry into the first TIC to the last word's exit from the second one. The paper "
                  "measures 1.7 us from the host's second store, dominated by the fifos of the alpha board, which "
                  "flitlab does not emulate.")
READING_PORT = ("Two nodes with one parallel port each, whose hosts always have a message for each other. One message "
                "of 10 bytes per cycle and host is 86.4 MB/s at 51.84 MHz, where the alpha board's DMA shows more than "
                "80, and 220 MB/s both ways at 66 MHz (section 3). Both follow from the port's width, so they do not "
                "test DMA; the Mbus, which reads 30 % faster than it sends, is not emulated.")
READING_FIBER = "Light travels 180 m per microsecond; a slot of 96 bits at 16 x 66 Mb/s, scaled to 100 bits at 1 Gb/s."


def port_rate(cycles: int = 6000) -> float:
    """Returns the messages per routing cycle that a host receives if all hosts always send."""
    net = Network(fabric({"topology.shape": [2], "traffic.load": 1.0, "traffic.pattern": "bit_complement"})).step(200)
    before = net.totals["packets_delivered"]
    net.step(cycles)
    return (net.totals["packets_delivered"] - before) / cycles / 2


def span_of_a_message() -> float:
    """Returns the length in metres that 100 bits at 1 Gb/s occupy on a fiber: the additional latency of a long channel
    as a length, divided by the messages on it at full load."""
    line = {"topology.shape": [2]}
    short, long = (alone(line | {"topology.channel_delay": delay}, 2)[0] for delay in (12, 300))
    clocks = (long[1].entry - long[0].left) - (short[1].entry - short[0].left)
    metres = SPEED * clocks / TIC
    messages = clocks / CLOCKS * port_rate()
    return metres / messages * (100 / SLOT_BITS) * (16 * TIC / 1000)


def nodes_rows(node: dict, setting: str, all_visits: list[list[Visit]], ns: float, reading: str = READING_NODE,
               judged: bool = False) -> list[dict]:
    """Returns rows on the time per additional node in a machine of four; one of several wirings is judged."""
    hops = traversals(all_visits)
    common_fields = node | {"setting": setting, "reading": reading}

    def published(value: float) -> dict:
        return {"published": value if judged else None, "tolerance": value / 10 if judged else 0}

    context = common_fields | {"published": None, "tolerance": 0}
    return [
        row(quantity="time per additional node, mean", measured=statistics.fmean(hops) * ns, why=WHY_MEAN,
            **common_fields, **published(310)),
        row(quantity="time per additional node, range", measured=(max(hops) - min(hops)) * ns, why=WHY_RANGE,
            **common_fields, **published(150)),
        row(quantity="time per additional node, by regression", measured=time_per_node(all_visits) * ns, **context),
        row(quantity="time per additional node, at least", measured=min(hops) * ns, **context),
        row(quantity="time per additional node, at most", measured=max(hops) * ns, **context),
        row(quantity="hops from 180 to 330 ns", **context | {"unit": "%"},
            measured=100 * statistics.fmean(180 <= h * ns <= 330 for h in hops))]


def latency() -> list[dict]:
    """Routing latency of a TIC, traversal of a node, and bandwidth of a parallel port."""
    single = journeys(64)
    small = [journeys(16, topology__host_ports=2, topology__node=node) for node in ("single", "dual")]
    visits = [v for journey in [*single, *small[0], *small[1]] for v in journey if v.port_in != v.port_out]
    clocks = [v.left - v.entry for v in visits]
    pairs = {(v.port_in, v.port_out) for v in visits}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.csv"
        machines = {name: four_nodes(channels, file) for name, channels in WIRINGS.items()}
        stated = four_nodes(WIRINGS["a line"], file, topology__channel_delay=6)
        in_phase = four_nodes(WIRINGS["a line"], file, topology__channel_delay=12, topology__phases="equal")
    rate = port_rate()
    ns = 1000 / ALPHA
    common = {"experiment": "sconnect.latency"}
    tic = common | {"source": f"{PAPER}, 3.1", "setting": "a TIC, idle", "tolerance": 0, "reading": READING_LATENCY}
    node = common | {"source": f"{PAPER}, 4.1", "unit": "ns"}
    port = common | {"source": f"{PAPER}, 4.1", "unit": "MB/s", "tolerance": 0, "reading": READING_PORT}
    return [
        row(quantity="header in to header out, at most (published: < 6)", published=5, measured=max(clocks),
            unit="clocks", check="each port has one of six clocks of a routing cycle, a setting of the model", **tic),
        row(quantity="header in to header out, at least", published=None, measured=min(clocks), unit="clocks", **tic),
        row(quantity="pairs of ports seen", published=None, measured=len(pairs), unit="of 30", **tic),
        *(line for name, all_visits in machines.items()
          for line in nodes_rows(node, f"four nodes, {name}", all_visits, ns, judged=name == "a line")),
        row(quantity="machines with 279 to 341 ns per additional node in the mean", setting="four nodes, a line",
            published=None, tolerance=0, reading=READING_NODE, **node | {"unit": "%"},
            measured=100 * machines_near(machines["a line"], 279 / ns, 341 / ns)),
        *nodes_rows(node, "four nodes, a line, channels of 6 clocks", stated, ns, READING_SIX),
        *nodes_rows(node, "four nodes, a line, in phase, channels of 12 clocks", in_phase, ns, READING_EQUAL),
        row(quantity="a single packet to a neighbour, in TICs and channel (published: 1700, with the host's board)",
            setting="four nodes", published=None, tolerance=0, reading=READING_SINGLE,
            measured=(statistics.fmean(journey[-1].left - journey[0].entry for journey in machines["a line"]
                                       if len(journey) == 2) + CLOCKS) * ns, **node),
        row(quantity="messages per cycle and host", setting="a port that is never idle", published=1, measured=rate,
            check=True, **port | {"unit": ""}),
        row(quantity="100 bits on a fiber at 1 Gb/s", setting="a channel of 288 clocks more", published=18,
            measured=span_of_a_message(), check=True,
            **port | {"source": f"{PAPER}, 2.1", "unit": "m", "tolerance": 0.5, "reading": READING_FIBER}),
    ]


EXPERIMENTS = {
    "sconnect.latency": ("a TIC's routing latency, traversal of a node, bandwidth of a port", latency),
}
