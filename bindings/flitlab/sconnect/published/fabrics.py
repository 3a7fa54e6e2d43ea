"""Experiments with fabrics of TICs, from the S-Connect paper: priorities, latency of a node, bandwidth of meshes and
random graphs. A cycle is a routing cycle of 6 clocks, a flit a message."""

from __future__ import annotations

import csv
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect import Fabric
from flitlab.sweeps import sweep

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"
CLOCKS = 6  # of a routing cycle
SERIAL = 4  # ports 0 to 3; 4 and 5 are parallel
DATA = 10  # bytes of a message
ALPHA = 51.84  # MHz, clock of the alpha board
TIC = 66.0  # MHz, clock that the TIC is meant for

Message = tuple[int, int, int]  # cycle, source, destination


def fabric(*settings: dict) -> Experiment:
    flat = {"router.kind": "sconnect"}
    for more in settings:
        flat |= more
    return Experiment.from_dict(flat)


def dotted(settings: dict) -> dict:
    return {key.replace("__", "."): value for key, value in settings.items()}


def send(settings: dict, messages: Iterable[Message], trace: bool = False) -> Network:
    """A fabric whose hosts send these messages."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "messages.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([*message, 1] for message in sorted(messages))
        return Network(fabric(settings, {"traffic.mode": "trace", "traffic.trace_file": str(file)}), trace=trace)


# Priorities.

FABRICS = {"4x4 mesh": {"topology.kind": "mesh", "topology.shape": [4, 4]},
           "random, 64 nodes": {"topology.kind": "random", "topology.nodes": 64}}
POOL = 64  # buffers of a TIC
CONTROL = 1  # of them for control requests, and as many for replies
QUEUES = 2 * SERIAL + 2  # of a priority: two virtual channels for each channel, and two hosts' ports
LOAD = 0.05  # messages per cycle from each host's port
FILL = 4000  # cycles in which the fabric fills up
WINDOW = 2000  # cycles whose messages of the higher priority are followed
PATIENCE = 500  # cycles without one of these delivered, after which the rest counts as stuck
LOWER = ([0], [1], [2], [0, 1], [0, 1, 2])


@dataclass(frozen=True)
class Flooded:
    """A fabric full of messages that nobody takes, and those of a higher priority that were sent into it."""

    common: float  # buffers promised to no queue that are in use, %
    lower: float  # buffers with lower messages, of those not promised to the higher priority, %
    stuck: float  # hosts whose next message has found no room, %
    lower_taken: int
    lower_entered: int  # after the fabric has filled up
    created: int
    latency: list[int]  # cycles, of those delivered


def priority_settings(where: dict, lower: list[int]) -> dict:
    higher = max(lower) + 1
    promised = POOL * 3 // 4 // (QUEUES * (len(lower) + 1))  # as without router.reserve
    return where | {
        "router.buffers": POOL, "router.control_buffers": CONTROL,
        "router.reserve": [promised * (p in [*lower, higher]) for p in range(4)],
        "topology.host_ports": 2, "router.host_buffers": 64, "host.refuses": lower, "traffic.load": LOAD,
        "host.priorities": [int(p in lower) for p in range(4)],
        "host.second_priorities": [int(p == higher) for p in range(4)]}


def follow(net: Network, terminals: list[int], cycles: int) -> tuple[int, list[int]]:
    """Messages created at these terminals in so many cycles, and the latencies of those that are delivered."""
    net.events()  # what has been so far
    end = net.cycle + cycles
    mine = set(terminals)
    created: dict[tuple[int, int], int] = {}
    latency: list[int] = []
    last = end
    while net.cycle < end or (len(latency) < len(created) and net.cycle < last + PATIENCE):
        net.step(50)
        for event in sorted(net.events(), key=lambda e: e["cycle"]):
            message = event["src"], event["id"]
            if event["kind"] == "created" and event["src"] in mine and event["cycle"] < end:
                created[message] = event["cycle"]
            elif event["kind"] == "delivered" and message in created:
                latency.append(event["cycle"] - created[message])
                last = max(end, event["cycle"])
    return len(created), latency


def flood(where: dict, lower: list[int]) -> Flooded:
    higher = max(lower) + 1
    net = Network(fabric(priority_settings(where, lower)), trace=True)
    tics = range(int(net.experiment.derived()["routers"]))
    first, second = ([net.router(r).ports[SERIAL + i].peer for r in tics] for i in range(2))
    for _ in range(FILL // 50):
        net.step(50).events()
    entered = sum(net.terminal(t).sent for t in first)
    stuck = sum(net.terminal(t).queued > 0 for t in first)
    shared = POOL - 2 * CONTROL
    common = free = room = held_lower = 0
    for r in tics:
        held = queues(net, r)
        promised = {q: net.experiment["router.reserve"][priority_of(q)] for q in held}
        common += shared - sum(promised.values())
        free += shared - sum(max(held[q], promised[q]) for q in held)
        room += shared - sum(promised[q] for q in held if priority_of(q) == higher)
        held_lower += sum(held[q] for q in held if priority_of(q) in lower)
    created, latency = follow(net, second, WINDOW)
    return Flooded(100 - 100 * free / common, 100 * held_lower / room, 100 * stuck / len(first),
                   sum(net.totals[f"delivered_priority_{p}"] for p in lower),
                   sum(net.terminal(t).sent for t in first) - entered, created, latency)


def queues(net: Network, tic: int) -> dict[int, int]:
    """Buffers that each queue holds which is promised any: 4 priorities on 2 virtual channels at each port."""
    return {int(name[5:]): held for name, held in Fabric(net).registers(tic).items() if name.startswith("held.")}


def priority_of(queue: int) -> int:
    return queue % 8 // 2


def alone(where: dict, lower: list[int]) -> float:
    """Latency of the higher priority in a fabric where there is hardly anything."""
    net = Network(fabric(priority_settings(where, lower), {"host.refuses": [], "traffic.load": LOAD / 10}), trace=True)
    second = [net.router(r).ports[SERIAL + 1].peer for r in range(int(net.experiment.derived()["routers"]))]
    return statistics.fmean(follow(net, second, WINDOW)[1])


READING_PRIORITY = (
    "Each node's host sends messages that no host takes by its first parallel port, and those of the higher priority "
    "by its second one (host.second_priorities), 0.05 of each per cycle, uniform traffic. The messages of a port "
    "leave in order: behind one that finds no room the others of the same port would wait at the host, outside of the "
    "fabric. What is created in cycles 4000 to 5999 is followed until it is delivered. Buffers are promised to queues "
    "of all ports, used or not, so that no lower message need fill those of its own priority. Latency begins with "
    "creation; hardly loaded: a tenth of these loads, and all is taken.")


def priority(cases: tuple[list[int], ...] = LOWER, fabrics: tuple[str, ...] = tuple(FABRICS)) -> list[dict]:
    """Messages of a higher priority through a fabric that is full of lower ones that nobody takes."""
    rows = []
    for name in fabrics:
        where = FABRICS[name]
        for lower in cases:
            f = flood(where, lower)
            higher = f"priority {max(lower) + 1}"
            common = {"experiment": "sconnect.priority", "source": f"{PAPER}, 2.3", "tolerance": 0,
                      "setting": f"{name}, full of {', '.join(map(str, lower))}", "reading": READING_PRIORITY}
            rows += [
                row(quantity=f"delivered of {higher}", published=100, measured=100 * len(f.latency) / f.created,
                    unit=f"% of {f.created}", **common),
                row(quantity="lower ones taken by hosts", published=0, measured=f.lower_taken, unit="messages",
                    **common),
                row(quantity="hosts whose lower ones find no room", published=None, measured=f.stuck, unit="%",
                    **common),
                row(quantity="buffers promised to no queue, in use", published=None, measured=f.common, unit="%",
                    **common),
                row(quantity="buffers not promised to it, with lower ones", published=None, measured=f.lower, unit="%",
                    **common),
                row(quantity="lower ones that entered later", published=None, measured=f.lower_entered,
                    unit="messages", **common),
                row(quantity=f"latency of {higher}, mean", published=None, measured=statistics.fmean(f.latency),
                    unit="routing cycles", **common),
                row(quantity=f"latency of {higher}, at most", published=None, measured=max(f.latency),
                    unit="routing cycles", **common),
                row(quantity=f"latency of {higher}, hardly loaded", published=None, measured=alone(where, lower),
                    unit="routing cycles", **common)]
    return rows


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


# Figure 18.

QUICK = {"2D mesh": (16, 64, 256), "random, degree 4": (16, 64, 256), "4D mesh": (16, 81, 256),
         "random, degree 8": (16, 81, 256)}
ALL = {"2D mesh": (16, 64, 256, 1024), "random, degree 4": (16, 64, 256, 1024), "4D mesh": (16, 81, 256, 625),
       "random, degree 8": (16, 81, 256, 625)}
PARTS = (0.5, 0.55, *(0.6 + 0.025 * i for i in range(15)), 1.0)  # loads, in parts of the bound
DERATING = 0.8


def figure18_fabric(kind: str, nodes: int, seed: int = 1) -> dict:
    common = {"topology.host_ports": 2}
    if kind.endswith("D mesh"):
        dimensions = int(kind[0])
        side = round(nodes ** (1 / dimensions))
        common |= {"topology.kind": "mesh", "topology.shape": [side] * dimensions}
    else:
        common |= {"topology.kind": "random", "topology.nodes": nodes, "topology.degree": int(kind[-1]),
                   "topology.wiring_seed": seed}
    dual = kind in ("4D mesh", "random, degree 8")
    return common | {"topology.node": "dual" if dual else "single"}


@dataclass(frozen=True)
class Point:
    """A fabric under uniform traffic. Bandwidths in MB/s across the bisection, both ways, payload only."""

    nodes: int
    diameter: int
    distance: float  # channels between two nodes, mean
    raw: float
    bound: float  # load at which a channel would be full, messages/cycle/terminal
    kept_up: float  # the highest load that the fabric keeps up with, in parts of the bound
    most: float  # of the loads offered, the most that was accepted, in parts of the bound
    sustained: float  # bandwidth at kept_up
    latency: float  # us, of a message that is alone

    @property
    def paper(self) -> float:
        return DERATING * self.raw


def mean_over_busiest(e: Experiment) -> float:
    """Load of the channels between nodes, mean over that of the busiest one, if every node sends to all others by all
    shortest ways alike (Brandes, "A faster algorithm for betweenness centrality", 2001)."""
    node = {tic: tic // (2 if e["topology.node"] == "dual" else 1) for tic in range(int(e.derived()["routers"]))}
    neighbours = defaultdict(list)
    for a, _, b, _ in Network(e).links():
        if node[a] != node[b]:
            neighbours[node[a]].append(node[b])
    load: dict[tuple[int, int], float] = defaultdict(float)
    for source in neighbours:
        distance, ways, order = {source: 0}, defaultdict(float, {source: 1.0}), [source]
        for at in order:
            for to in neighbours[at]:
                if to not in distance:
                    distance[to] = distance[at] + 1
                    order.append(to)
                if distance[to] == distance[at] + 1:
                    ways[to] += ways[at]
        through = dict.fromkeys(order, 1.0)  # messages that end in a node or pass it
        for to in reversed(order[1:]):
            for at in neighbours[to]:
                if distance[at] + 1 == distance[to]:
                    part = through[to] * ways[at] / ways[to]
                    load[at, to] += part
                    through[at] += part
    return statistics.fmean(load.values()) / max(load.values())


def point(kind: str, nodes: int, cycles: int = 800, warmup: int = 500) -> Point:
    e = fabric(figure18_fabric(kind, nodes), {"run.warmup_cycles": warmup, "run.measure_cycles": cycles})
    d = e.derived()
    terminals = 2 * nodes
    half = terminals // 4 * 2  # the terminals of one half of the nodes
    # Uniform traffic includes messages to oneself.
    crossing = 2 * half * (terminals - half) / terminals**2  # part of all messages
    away = (nodes - 1) / nodes  # part that goes to another node
    channels = int(d["channels"]) - (2 * nodes if d["routers"] > nodes else 0)  # less those between a node's TICs
    bound = min(1.0, 2 * d["bisection_links"] / (terminals * crossing),
                channels / (terminals * away * d["channels_mean"]))
    per_message = DATA * TIC / CLOCKS  # MB/s for a message per cycle
    low = min(0.02, 0.05 * bound)
    rows = sweep(e, {"traffic.load": [low, *(round(part * bound, 6) for part in PARTS)]}, progress=False).rows
    kept_up = 0.0
    for part, r in zip(PARTS, rows[1:], strict=True):
        if r["saturated"]:
            break
        kept_up = part
    most = max(r["accepted"] for r in rows) / bound
    return Point(nodes, int(d["diameter"]), d["channels_mean"], 2 * d["bisection_links"] * per_message, bound, kept_up,
                 most, kept_up * bound * terminals * crossing * per_message,
                 rows[0]["latency_mean"] * CLOCKS / TIC)


READING_18 = (
    "Bisection bandwidth is that of the channels between two halves of the nodes, both ways, 80 of 96 bits at 66 MHz "
    "(110 MB/s a channel and way), derated to 80 %. Random graphs: bisections by search, so upper bounds; one graph "
    "of each size. The curves are a lost picture, so they have no published numbers. Sustained: uniform random "
    "traffic of two hosts' ports for each node, at the highest load that the run does not call saturated (steps of "
    "2.5 %), as far as it crosses the bisection. The bound of loads is where all channels across the bisection, or "
    "all channels of the fabric at mean distances, or hosts' ports would be full; the paper's 80 % is compared with "
    "the parts of it. A random graph's channels are not alike: if messages spread evenly over all shortest ways, the "
    "busiest one is full at two thirds to three quarters of that bound.")
READING_RANDOM = (
    "The paper prefers random topologies, which have diameters that scale with the logarithm of the number of nodes; "
    "here the ratio to the mesh of as many nodes, and as many channels but at its edges.")
READING_LOG = (
    "Growth of the mean distance from 256 to 1024 nodes over that from 64 to 256: 1 for the logarithm, 2 for the side "
    "of a square.")


def figure18(sizes: dict[str, tuple[int, ...]] = QUICK, cycles: int = 800) -> list[dict]:
    """Bandwidth and latency of meshes and random graphs by size."""
    points = {(kind, n): point(kind, n, cycles) for kind, listed in sizes.items() for n in listed}
    common = {"experiment": "sconnect.figure18", "source": f"{PAPER}, 4.2, Figure 18"}
    rows = []
    for (kind, n), p in points.items():
        mine = common | {"setting": f"{kind}, {n} nodes", "reading": READING_18, "tolerance": 0}
        rows += [row(quantity="bisection bandwidth, as the paper has it", published=None, measured=p.paper, unit="MB/s",
                     **mine),
                 row(quantity="bandwidth sustained across it", published=None, measured=p.sustained, unit="MB/s",
                     **mine),
                 row(quantity="bound of loads", published=None, measured=2 * p.bound, unit="messages/cycle/node",
                     **mine),
                 row(quantity="highest load kept up with, of the bound", published=DERATING, measured=p.kept_up,
                     unit="", higher_is_better=True, **mine | {"tolerance": 1e-9}),
                 row(quantity="most that was accepted, of the bound", published=None, measured=p.most, unit="",
                     **mine),
                 row(quantity="latency at almost no load", published=None, measured=p.latency, unit="us", **mine),
                 row(quantity="diameter", published=None, measured=p.diameter, unit="channels", **mine),
                 row(quantity="distance, mean", published=None, measured=p.distance, unit="channels", **mine)]
        if kind.startswith("random"):
            rows.append(row(quantity="load of channels by all shortest ways, mean over busiest", published=None,
                            measured=mean_over_busiest(fabric(figure18_fabric(kind, n))), unit="", **mine))
    for mesh, graph in (("2D mesh", "random, degree 4"), ("4D mesh", "random, degree 8")):
        for n in sizes.get(mesh, ()):
            if n < 64 or (graph, n) not in points:
                continue
            a, b = points[graph, n], points[mesh, n]
            mine = {"source": f"{PAPER}, 6", "experiment": "sconnect.figure18", "reading": READING_RANDOM,
                    "setting": f"{graph} over {mesh}, {n} nodes", "published": 1, "unit": "times", "tolerance": 0}
            rows += [row(quantity="latency at almost no load", measured=a.latency / b.latency, lower_is_better=True,
                         **mine),
                     row(quantity="diameter", measured=a.diameter / b.diameter, lower_is_better=True, **mine),
                     row(quantity="bisection bandwidth", measured=a.raw / b.raw, higher_is_better=True, **mine),
                     row(quantity="bandwidth sustained across it", measured=a.sustained / b.sustained,
                         higher_is_better=True, **mine)]
    for kind, published in (("random, degree 4", 1), ("2D mesh", None)):
        if all((kind, n) in points for n in (64, 256, 1024)):
            first, second, third = (points[kind, n].distance for n in (64, 256, 1024))
            rows.append(row(quantity="growth of distance, 256 to 1024 over 64 to 256", setting=kind,
                            published=published, measured=(third - second) / (second - first), unit="times",
                            tolerance=0.1, reading=READING_LOG, **common | {"source": f"{PAPER}, 6"}))
    return rows


EXPERIMENTS = {
    "sconnect.priority": ("a higher priority through a fabric full of lower ones that nobody takes", priority),
    "sconnect.latency": ("a TIC's routing latency, traversal of a node, bandwidth of a port", latency),
    "sconnect.figure18": ("bandwidth and latency of meshes and random graphs (up to 256 nodes, full 1024)", figure18,
                          lambda keep: figure18(ALL)),
}
