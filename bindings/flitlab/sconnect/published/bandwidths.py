"""Experiment on bandwidth and latency of meshes and random graphs (S-Connect, 4.2, Figure 18).

A cycle is a routing cycle of 6 clocks, a flit is a message."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.sconnect.published.fabrics import CLOCKS, DATA, PAPER, TIC, fabric
from flitlab.settings import dotted

# Figure 18.

QUICK = {"2D mesh": (16, 64, 256), "random, degree 4": (16, 64, 256), "4D mesh": (16, 81, 256),
         "random, degree 8": (16, 81, 256)}
ALL = {"2D mesh": (16, 64, 256, 1024), "random, degree 4": (16, 64, 256, 1024), "4D mesh": (16, 81, 256, 625),
       "random, degree 8": (16, 81, 256, 625)}
# Loads to try, as fractions of the load at which channels would be full.
PARTS = (0.5, 0.55, *(0.6 + 0.025 * i for i in range(15)), 1.0)
DERATING = 0.8
COLLAPSES = ("random, degree 4", 256)  # the fabric whose throughput drops most beyond saturation
TRIED = {  # settings that might prevent this drop
    "hosts held back at 48": {"router__host_buffers": 48}, "hosts held back at 40": {"router__host_buffers": 40},
    "hosts held back at 16": {"router__host_buffers": 16}, "a buffer for each queue": {"router__reserve": [1]},
    "a buffer for each queue, hosts held back at 32": {"router__reserve": [1], "router__host_buffers": 32},
    "two priorities": {"host__priorities": [1, 1, 0, 0]}, "four priorities": {"host__priorities": [1, 1, 1, 1]}}
WINDOWS = (4, 8, 16, 64)  # outstanding requests that a host port may have
WAITING_NODES = 256  # size of the fabrics whose hosts wait for replies
# A setting that the paper does not have: a TIC accepts no messages of hosts while half of its buffer pool is in use.
HELD_BACK = {"router__host_buffers": 32}


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
    """A fabric with uniform traffic. Bandwidths are in MB/s across the bisection, both ways, payload only."""

    nodes: int
    diameter: int
    distance: float  # channels on the path between two nodes, mean over pairs
    raw: float  # bandwidth of the channels across the bisection
    bound: float  # load at which channels would be full, messages/cycle/terminal
    carried_load: float  # highest load that the fabric carries, as a fraction of the bound
    at_bound: float  # accepted load when the bound is offered, as a fraction of the bound
    sustained: float  # bandwidth across the bisection at carried_load
    latency: float  # us, at almost no load

    @property
    def paper(self) -> float:
        return DERATING * self.raw


def mean_over_busiest(e: Experiment) -> float:
    """Returns the mean load of the channels between nodes divided by the load of the busiest channel, if every node
    sends to all others and uses all shortest paths equally (Brandes, "A faster algorithm for betweenness centrality",
    2001)."""
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
        through = dict.fromkeys(order, 1.0)  # messages that end in a node or pass through it
        for to in reversed(order[1:]):
            for at in neighbours[to]:
                if distance[at] + 1 == distance[to]:
                    part = through[to] * ways[at] / ways[to]
                    load[at, to] += part
                    through[at] += part
    return statistics.fmean(load.values()) / max(load.values())


def highest_carried_load(e: Experiment, bound: float) -> float:
    """Returns the highest of PARTS of the bound that the fabric carries, by bisection; 0 if it carries none of them."""
    def not_steady(part: float) -> bool:
        return run(offered(e, part * bound)).verdict != "steady"

    return ([0.0, *PARTS])[bisect_left(PARTS, True, key=not_steady)]


def offered(e: Experiment, load: float) -> Experiment:
    return e.set("traffic.load", round(load, 6))


def loaded(kind: str, nodes: int, cycles: int = 2000, warmup: int = 1000, **settings) -> Experiment:
    """Returns an experiment with a fabric of Figure 18. Settings: dotted paths, ``__`` for a dot."""
    window = {"run.warmup_cycles": warmup, "run.measure_cycles": cycles, "run.epoch_cycles": cycles // 8}
    return fabric(figure18_fabric(kind, nodes), window, dotted(settings))


def point(kind: str, nodes: int, cycles: int = 2000, warmup: int = 1000, **settings) -> Point:
    e = loaded(kind, nodes, cycles, warmup, **settings)
    d = e.derived()
    terminals = 2 * nodes
    half = terminals // 4 * 2  # the terminals of one half of the nodes
    # In uniform traffic hosts also send to themselves.
    crossing = 2 * half * (terminals - half) / terminals**2  # fraction of messages that cross the bisection
    away = (nodes - 1) / nodes  # fraction of messages to other nodes
    # the number of channels, except the channels between the two TICs of a node
    channels = int(d["channels"]) - (2 * nodes if d["routers"] > nodes else 0)
    across = 2 * d["bisection_links"] / (terminals * crossing)
    bound = min(1.0, across, channels / (terminals * away * d["channels_mean"]))
    per_message = DATA * TIC / CLOCKS  # MB/s for a message per cycle
    low = min(0.02, 0.05 * bound)
    carried_load = highest_carried_load(e, bound)
    return Point(nodes, int(d["diameter"]), d["channels_mean"], 2 * d["bisection_links"] * per_message, bound,
                 carried_load, run(offered(e, bound)).accepted / bound,
                 carried_load * bound * terminals * crossing * per_message,
                 run(offered(e, low)).latency_cycles.mean * CLOCKS / TIC)


READING_18 = (
    "Bisection bandwidth is that of the channels between two halves of the nodes, both ways, 80 of 96 bits at 66 MHz "
    "(110 MB/s per channel and way), derated to 80 %. Random graphs: one graph per size; bisections are found by "
    "search, so they are upper bounds. The figure is missing in the available copy of the paper, so its curves have no "
    "published numbers. Sustained: the part of uniform random traffic from two host ports per node that crosses the "
    "bisection, at the highest load that is not saturated (steps of 2.5 %, by bisection). The paper's curves are "
    "estimates from raw bandwidths, and it does not claim that a fabric sustains 80 % of them, so no row compares "
    "bandwidths. The load bound is flitlab's: the load at which all channels "
    "across the bisection, or all channels of the fabric at mean distances, or host ports would be full. If the "
    "bisection is not the tightest limit, no fabric can use 80 % of it. A random "
    "graph's channels have unequal loads: if messages spread evenly over all shortest paths, the busiest channel is "
    "full at two thirds to three quarters of that bound.")
READING_HELD_BACK = (
    "Not in the paper: a TIC accepts no message from a host while half of its pool is in use (router.host_buffers = "
    "32), unless the message's queue is empty.")
READING_FULL = (
    "Hosts may fill the pool except for reserved buffers. Messages in transit then find no buffer, are requeued and "
    "sent again.")
READING_WAITING = (
    "Not in the paper, which does not describe hosts: each port sends requests (traffic.mode = \"request_reply\"), "
    "with a limit of outstanding requests, and sends the next one as soon as the limit allows; hosts may fill the "
    "pool. Requests go to uniform random hosts, and replies count as well. Replies have a higher priority than "
    "requests, so reserved buffers are divided among the queues of two priorities; in an open loop this alone does not "
    "prevent the drop (two priorities).")
READING_RANDOM = (
    "The paper prefers random topologies, whose diameter grows with the logarithm of the number of nodes; here the "
    "ratio to a mesh of as many nodes, with as many channels per node except at its edges.")
READING_LOG = (
    "Growth of the mean distance from 256 to 1024 nodes over that from 64 to 256: 1 for the logarithm, 2 for the side "
    "of a square.")


def waiting(kind: str, nodes: int, bound: float | Callable[[], float], cycles: int = 2000) -> list[dict]:
    """Returns rows on the accepted load of a fabric whose hosts wait for replies, by the limit of outstanding requests.
    bound: load bound, or a function that computes it when a row needs it."""
    bound_of = bound if callable(bound) else lambda: bound
    loops = {window: loaded(kind, nodes, cycles, traffic__mode="request_reply", traffic__window=window)
             for window in WINDOWS}
    return [row(experiment="sconnect.figure18", source=f"{PAPER}, 4.2, Figure 18", setting=f"{kind}, {nodes} nodes",
                quantity=f"accepted of the bound, each port has up to {window} requests without a reply",
                published=None, unit="", tolerance=0, reading=READING_WAITING,
                measured=partial(lambda e: run(offered(e, 1)).accepted / bound_of(), e))
            for window, e in loops.items()]


Measured = Callable[[], Point]


def of(p: Measured, name: str) -> Callable[[], float]:
    """Returns a function that gives one value of a point. The point is measured only when a row needs the value."""
    return lambda: getattr(p(), name)


def over(a: Measured, b: Measured, name: str) -> Callable[[], float]:
    return lambda: getattr(a(), name) / getattr(b(), name)


def growth(three: list[Measured]) -> float:
    """Returns the growth of mean distance from the second size to the third, divided by that from the first to the
    second."""
    first, second, third = (p().distance for p in three)
    return (third - second) / (second - first)


def part_of_bound(p: Measured, cycles: int, settings: dict) -> float:
    """Returns the accepted load of the fabric COLLAPSES with other settings, as a fraction of its bound."""
    bound = p().bound
    return run(offered(loaded(*COLLAPSES, cycles, **settings), bound)).accepted / bound


def figure18(sizes: dict[str, tuple[int, ...]] = QUICK, cycles: int = 2000) -> list[dict]:
    """Rows on bandwidth and latency of meshes and random graphs by size."""
    points = {(kind, n): once(point, kind, n, cycles) for kind, listed in sizes.items() for n in listed}
    held_back = {key: once(point, *key, cycles, **HELD_BACK) for key in points}
    common = {"experiment": "sconnect.figure18", "source": f"{PAPER}, 4.2, Figure 18"}
    rows = []
    for (kind, n), p in points.items():
        common_fields = common | {"setting": f"{kind}, {n} nodes", "reading": READING_18, "tolerance": 0}
        rows += [row(quantity="bisection bandwidth, derated as in the paper", published=None, unit="MB/s",
                     measured=of(p, "paper"), **common_fields),
                 row(quantity="bandwidth sustained across it", published=None, unit="MB/s",
                     measured=of(p, "sustained"), **common_fields),
                 row(quantity="bound of loads", published=None, unit="messages/cycle/node",
                     measured=partial(lambda p: 2 * p().bound, p), **common_fields),
                 row(quantity="sustained / derated bisection bandwidth", published=None, unit="times",
                     measured=partial(lambda p: p().sustained / p().paper, p), **common_fields),
                 row(quantity="latency at almost no load", published=None, measured=of(p, "latency"), unit="us",
                     **common_fields),
                 row(quantity="diameter", published=None, measured=of(p, "diameter"), unit="channels", **common_fields),
                 row(quantity="distance, mean", published=None, measured=of(p, "distance"), unit="channels",
                     **common_fields)]
        for name, q, reading in (("", p, READING_FULL), (", hosts held back", held_back[kind, n], READING_HELD_BACK)):
            rows += [row(quantity=f"{quantity}, of the bound{name}", published=None, measured=of(q, found), unit="",
                         **common_fields | {"reading": reading})
                     for quantity, found in (("highest load carried", "carried_load"),
                                             ("accepted when the bound is offered", "at_bound"))]
        if kind.startswith("random"):
            rows.append(row(quantity="load of channels with all shortest paths, mean over busiest", published=None,
                            unit="", **common_fields,
                            measured=partial(lambda kind, n: mean_over_busiest(fabric(figure18_fabric(kind, n))),
                                             kind, n)))
    if COLLAPSES in points:
        rows += [row(quantity=f"accepted when the bound is offered, of the bound, {name}", published=None, unit="",
                     measured=once(part_of_bound, points[COLLAPSES], cycles, settings),
                     setting=", ".join(map(str, COLLAPSES)) + " nodes", tolerance=0, reading=READING_FULL, **common)
                 for name, settings in TRIED.items()]
    for (kind, n), p in points.items():
        if n == WAITING_NODES:
            rows += waiting(kind, n, of(p, "bound"), cycles)
    for mesh, graph in (("2D mesh", "random, degree 4"), ("4D mesh", "random, degree 8")):
        for n in sizes.get(mesh, ()):
            if n < 64 or (graph, n) not in points:
                continue
            a, b = points[graph, n], points[mesh, n]
            common_fields = {"source": f"{PAPER}, 6", "experiment": "sconnect.figure18", "reading": READING_RANDOM,
                             "setting": f"{graph} over {mesh}, {n} nodes", "unit": "times", "tolerance": 0}
            rows += [row(quantity="latency at almost no load", published=None, measured=over(a, b, "latency"),
                         **common_fields),
                     row(quantity="diameter", published=1, measured=over(a, b, "diameter"), lower_is_better=True,
                         check=True, **common_fields),
                     row(quantity="bisection bandwidth", published=1, measured=over(a, b, "raw"),
                         higher_is_better=True, check=True, **common_fields),
                     row(quantity="bandwidth sustained across it", published=None, measured=over(a, b, "sustained"),
                         **common_fields)]
    for kind, published in (("random, degree 4", 1), ("2D mesh", None)):
        if all((kind, n) in points for n in (64, 256, 1024)):
            three = [points[kind, n] for n in (64, 256, 1024)]
            rows.append(row(quantity="growth of distance, 256 to 1024 over 64 to 256", setting=kind,
                            published=published, measured=partial(growth, three), unit="times",
                            tolerance=0.1, reading=READING_LOG, check=published is not None,
                            **common | {"source": f"{PAPER}, 6"}))
    return rows


EXPERIMENTS = {
    "sconnect.figure18": ("bandwidth and latency of meshes and random graphs (up to 256 nodes, full 1024)", figure18,
                          lambda keep: figure18(ALL)),
}
