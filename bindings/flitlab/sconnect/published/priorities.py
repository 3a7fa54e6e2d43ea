"""Priorities in fabrics of TICs (S-Connect, 2.3). A cycle is a routing cycle of 6 clocks, a flit a message."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect import Fabric
from flitlab.sconnect.published.fabrics import PAPER, SERIAL, fabric

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
                    check=True, **common),
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


EXPERIMENTS = {
    "sconnect.priority": ("a higher priority through a fabric full of lower ones that nobody takes", priority),
}
