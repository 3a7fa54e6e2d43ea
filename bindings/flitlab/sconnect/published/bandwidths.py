"""Bandwidth and latency of meshes and random graphs (S-Connect, 4.2, Figure 18). A cycle is a routing cycle of 6
clocks, a flit a message."""

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
from flitlab.sconnect.published.fabrics import CLOCKS, DATA, PAPER, TIC, dotted, fabric

# Figure 18.

QUICK = {"2D mesh": (16, 64, 256), "random, degree 4": (16, 64, 256), "4D mesh": (16, 81, 256),
         "random, degree 8": (16, 81, 256)}
ALL = {"2D mesh": (16, 64, 256, 1024), "random, degree 4": (16, 64, 256, 1024), "4D mesh": (16, 81, 256, 625),
       "random, degree 8": (16, 81, 256, 625)}
PARTS = (0.5, 0.55, *(0.6 + 0.025 * i for i in range(15)), 1.0)  # loads, in parts of the bound
DERATING = 0.8
COLLAPSES = ("random, degree 4", 256)  # the fabric that carries least when more is offered than it can take
TRIED = {  # against that
    "hosts held back at 48": {"router__host_buffers": 48}, "hosts held back at 40": {"router__host_buffers": 40},
    "hosts held back at 16": {"router__host_buffers": 16}, "a buffer for each queue": {"router__reserve": [1]},
    "a buffer for each queue, hosts held back at 32": {"router__reserve": [1], "router__host_buffers": 32},
    "two priorities": {"host__priorities": [1, 1, 0, 0]}, "four priorities": {"host__priorities": [1, 1, 1, 1]}}
WINDOWS = (4, 8, 16, 64)  # requests that a host's port may have without a reply
WAITING_NODES = 256  # of the fabrics whose hosts wait
HELD_BACK = {"router__host_buffers": 32}  # ours: hosts' messages wait outside while half of the pool is in use


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
    at_bound: float  # what it accepts when the bound is offered, in parts of the bound
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


def kept_up_with(e: Experiment, bound: float) -> float:
    """The highest of PARTS of the bound that the fabric keeps up with, by bisection; 0: none."""
    def falls_behind(part: float) -> bool:
        return run(offered(e, part * bound)).verdict != "steady"

    return ([0.0, *PARTS])[bisect_left(PARTS, True, key=falls_behind)]


def offered(e: Experiment, load: float) -> Experiment:
    return e.set("traffic.load", round(load, 6))


def loaded(kind: str, nodes: int, cycles: int = 2000, warmup: int = 1000, **settings) -> Experiment:
    """Settings are dotted paths, with ``__``."""
    return fabric(figure18_fabric(kind, nodes), {"run.warmup_cycles": warmup, "run.measure_cycles": cycles},
                  dotted(settings))


def point(kind: str, nodes: int, cycles: int = 2000, warmup: int = 1000, **settings) -> Point:
    e = loaded(kind, nodes, cycles, warmup, **settings)
    d = e.derived()
    terminals = 2 * nodes
    half = terminals // 4 * 2  # the terminals of one half of the nodes
    # Uniform traffic includes messages to oneself.
    crossing = 2 * half * (terminals - half) / terminals**2  # part of all messages
    away = (nodes - 1) / nodes  # part that goes to another node
    channels = int(d["channels"]) - (2 * nodes if d["routers"] > nodes else 0)  # less those between a node's TICs
    across = 2 * d["bisection_links"] / (terminals * crossing)
    bound = min(1.0, across, channels / (terminals * away * d["channels_mean"]))
    per_message = DATA * TIC / CLOCKS  # MB/s for a message per cycle
    low = min(0.02, 0.05 * bound)
    kept_up = kept_up_with(e, bound)
    return Point(nodes, int(d["diameter"]), d["channels_mean"], 2 * d["bisection_links"] * per_message, bound, kept_up,
                 run(offered(e, bound)).accepted / bound, kept_up * bound * terminals * crossing * per_message,
                 run(offered(e, low)).latency_cycles.mean * CLOCKS / TIC)


READING_18 = (
    "Bisection bandwidth is that of the channels between two halves of the nodes, both ways, 80 of 96 bits at 66 MHz "
    "(110 MB/s a channel and way), derated to 80 %. Random graphs: bisections by search, so upper bounds; one graph "
    "of each size. The curves are a lost picture, so they have no published numbers. Sustained: uniform random "
    "traffic of two hosts' ports for each node, at the highest load that the run does not call saturated (steps of "
    "2.5 %, by bisection), as far as it crosses the bisection; the paper calls 80 % of the raw bandwidth conservative, "
    "so no less is expected. The bound of loads is ours: where all channels across the bisection, or all channels of "
    "the fabric at mean distances, or hosts' ports would be full. Where it is not the bisection that fills first, no "
    "fabric could use 80 % of it; these rows are judged all the same. A random graph's channels are not alike: if "
    "messages spread evenly over all shortest ways, the busiest one is full at two thirds to three quarters of that "
    "bound.")
READING_HELD_BACK = (
    "Not the paper's: a TIC takes no message from a host while half of its pool is in use (router.host_buffers = 32), "
    "unless the message's queue is empty.")
READING_FULL = (
    "Hosts may fill the pool, as far as reservation leaves it: what is on its way then finds no room, goes back and "
    "comes again.")
READING_WAITING = (
    "Not the paper's, which says nothing of what hosts do: each port asks (traffic.mode = \"request_reply\"), has at "
    "most so many requests without a reply, and asks again as soon as it may; hosts may fill the pool. Requests go to "
    "uniform random hosts, and replies count as well. Replies have a priority above requests, so what the pool "
    "promises is divided among the queues of two priorities; in an open loop that keeps no fabric (two priorities).")
READING_RANDOM = (
    "The paper prefers random topologies, which have diameters that scale with the logarithm of the number of nodes; "
    "here the ratio to the mesh of as many nodes, and as many channels but at its edges.")
READING_LOG = (
    "Growth of the mean distance from 256 to 1024 nodes over that from 64 to 256: 1 for the logarithm, 2 for the side "
    "of a square.")


def waiting(kind: str, nodes: int, bound: float | Callable[[], float], cycles: int = 2000) -> list[dict]:
    """What a fabric accepts whose hosts wait for replies, by the number of requests that a port may have without.
    bound: of loads; or a function that measures it when a row needs it."""
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
    """A number of a point, which is measured when a row needs it."""
    return lambda: getattr(p(), name)


def over(a: Measured, b: Measured, name: str) -> Callable[[], float]:
    return lambda: getattr(a(), name) / getattr(b(), name)


def growth(three: list[Measured]) -> float:
    """Of the mean distance, from the second size to the third over from the first to the second."""
    first, second, third = (p().distance for p in three)
    return (third - second) / (second - first)


def part_of_bound(p: Measured, cycles: int, settings: dict) -> float:
    """What the fabric that collapses accepts of its bound, with other settings."""
    bound = p().bound
    return run(offered(loaded(*COLLAPSES, cycles, **settings), bound)).accepted / bound


def figure18(sizes: dict[str, tuple[int, ...]] = QUICK, cycles: int = 2000) -> list[dict]:
    """Bandwidth and latency of meshes and random graphs by size."""
    points = {(kind, n): once(point, kind, n, cycles) for kind, listed in sizes.items() for n in listed}
    held_back = {key: once(point, *key, cycles, **HELD_BACK) for key in points}
    common = {"experiment": "sconnect.figure18", "source": f"{PAPER}, 4.2, Figure 18"}
    rows = []
    for (kind, n), p in points.items():
        mine = common | {"setting": f"{kind}, {n} nodes", "reading": READING_18, "tolerance": 0}
        rows += [row(quantity="bisection bandwidth, as the paper has it", published=None, unit="MB/s",
                     measured=of(p, "paper"), **mine),
                 row(quantity="bandwidth sustained across it", published=None, unit="MB/s",
                     measured=of(p, "sustained"), **mine),
                 row(quantity="bound of loads", published=None, unit="messages/cycle/node",
                     measured=partial(lambda p: 2 * p().bound, p), **mine),
                 row(quantity="sustained / what the paper would have there", published=1,
                     measured=partial(lambda p: p().sustained / p().paper, p), unit="times", higher_is_better=True,
                     **mine | {"tolerance": 1e-9}),
                 row(quantity="latency at almost no load", published=None, measured=of(p, "latency"), unit="us",
                     **mine),
                 row(quantity="diameter", published=None, measured=of(p, "diameter"), unit="channels", **mine),
                 row(quantity="distance, mean", published=None, measured=of(p, "distance"), unit="channels",
                     **mine)]
        for name, q, reading in (("", p, READING_FULL), (", hosts held back", held_back[kind, n], READING_HELD_BACK)):
            rows += [row(quantity=f"{quantity}, of the bound{name}", published=None, measured=of(q, found), unit="",
                         **mine | {"reading": reading})
                     for quantity, found in (("highest load kept up with", "kept_up"),
                                             ("accepted when the bound is offered", "at_bound"))]
        if kind.startswith("random"):
            rows.append(row(quantity="load of channels by all shortest ways, mean over busiest", published=None,
                            unit="", **mine,
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
            mine = {"source": f"{PAPER}, 6", "experiment": "sconnect.figure18", "reading": READING_RANDOM,
                    "setting": f"{graph} over {mesh}, {n} nodes", "published": 1, "unit": "times", "tolerance": 0}
            rows += [row(quantity="latency at almost no load", measured=over(a, b, "latency"), lower_is_better=True,
                         **mine),
                     row(quantity="diameter", measured=over(a, b, "diameter"), lower_is_better=True, check=True,
                         **mine),
                     row(quantity="bisection bandwidth", measured=over(a, b, "raw"), higher_is_better=True, check=True,
                         **mine),
                     row(quantity="bandwidth sustained across it", measured=over(a, b, "sustained"),
                         higher_is_better=True, **mine)]
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
