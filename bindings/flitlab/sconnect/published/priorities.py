"""Experiment on priorities in fabrics of TICs (S-Connect, 2.3). A cycle is a routing cycle of 6 clocks, a flit is a
message."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from flitlab.network import Network
from flitlab.reproduction import once, row
from flitlab.sconnect import Fabric
from flitlab.sconnect.published.fabrics import PAPER, SERIAL, fabric

# Priorities.

FABRICS = {"4x4 mesh": {"topology.kind": "mesh", "topology.shape": [4, 4]},
           "random, 64 nodes": {"topology.kind": "random", "topology.nodes": 64}}
POOL = 64  # buffers per TIC
CONTROL = 1  # buffers of a TIC for control requests; as many more are for their replies
# Offered load of the higher priority, messages per cycle and node; lower priorities together offer the same load.
LOAD = 0.05
FILL = 4000  # cycles in which the fabric fills up
WINDOW = 2000  # cycles after FILL; messages of the higher priority that are created in them are followed
PATIENCE = 500  # if no followed message is delivered for this many cycles, the remaining ones count as stuck
LOWER = ([0], [1], [2], [0, 1], [0, 1, 2])
# Ways to assign the two kinds of messages, of higher and of lower priority, to a node's host ports.
APART, BOTH, ONE = "a port for each", "two ports, both mixed", "one port, mixed"


class Followed(NamedTuple):
    """Messages of one priority that were followed, and others that entered the fabric meanwhile."""

    created: int
    latency: list[int]  # cycles, for each delivered message
    others_entered: int


@dataclass(frozen=True)
class Flooded:
    """A fabric full of messages that hosts do not accept, and messages of a higher priority sent into it."""

    common: float  # occupied part of the buffers that are not reserved, %
    lower: float  # part of the buffers not reserved for the higher priority that hold messages of lower priorities, %
    stuck: float  # host ports at which a message waits for a buffer, %
    lower_accepted: int  # messages of lower priorities that hosts accepted
    higher: Followed

    @property
    def delivered(self) -> float:
        """Delivered messages of the higher priority, %."""
        return 100 * len(self.higher.latency) / self.higher.created


def priority_settings(where: dict, lower: list[int], hosts: str = APART) -> dict:
    """Returns settings that reserve equally many buffers for each queue of the priorities in use. At mixed host ports
    half of the messages have the higher priority."""
    higher, ports = max(lower) + 1, 1 if hosts == ONE else 2
    # Queues of a priority: two virtual channels for each serial channel, one queue for each host port.
    queues = 2 * SERIAL + ports
    reserved_buffers = POOL * 3 // 4 // (queues * (len(lower) + 1))  # as many as are reserved without router.reserve
    low, high = ([int(p in some) for p in range(4)] for some in (lower, [higher]))
    mixed = [p + len(lower) * q for p, q in zip(low, high, strict=True)]
    return where | {
        "router.buffers": POOL, "router.control_buffers": CONTROL,
        "router.reserve": [reserved_buffers * (p in [*lower, higher]) for p in range(4)],
        "topology.host_ports": ports, "router.host_buffers": 64, "host.refuses": lower,
        "traffic.load": 2 * LOAD / ports, "host.priorities": low if hosts == APART else mixed,
        "host.second_priorities": high if hosts == APART else []}


def of_priority(net: Network, priority: int, events: Iterable[dict]) -> set[tuple[int, int]]:
    """Returns (source, number) of the messages of one priority in the events."""
    numbers: dict[int, set[int]] = defaultdict(set)
    for event in events:
        numbers[event["src"]].add(event["id"])
    software = Fabric(net)
    return {(src, number) for src, some in numbers.items()
            for number, found in zip(some, software.priorities(src, list(some)), strict=True) if found == priority}


def follow(net: Network, priority: int, cycles: int) -> Followed:
    """Follows the messages of one priority created in the next ``cycles`` cycles until they are delivered or stuck."""
    net.events()  # discard earlier events
    end = net.cycle + cycles
    created: dict[tuple[int, int], int] = {}
    latency: list[int] = []
    last, others = end, 0
    while net.cycle < end or (len(latency) < len(created) and net.cycle < last + PATIENCE):
        events = net.step(50).events()
        starts = [e for e in events if e["kind"] in ("created", "injected")]
        mine = of_priority(net, priority, starts)
        for event in starts:
            message = event["src"], event["id"]
            if event["kind"] == "injected":
                others += message not in mine
            elif message in mine and event["cycle"] < end:
                created[message] = event["cycle"]
        for event in events:
            if event["kind"] == "delivered" and (event["src"], event["id"]) in created:
                latency.append(event["cycle"] - created[event["src"], event["id"]])
                last = max(end, last, event["cycle"])
    return Followed(len(created), latency, others)


def flood(where: dict, lower: list[int], hosts: str = APART, queues: str = "priorities") -> Flooded:
    higher = max(lower) + 1
    net = Network(fabric(priority_settings(where, lower, hosts), {"host.queues": queues}), trace=True)
    tics = range(int(net.experiment.derived()["routers"]))
    ports = [SERIAL] if hosts != BOTH else [SERIAL, SERIAL + 1]  # ports whose hosts send messages of lower priorities
    senders = [net.router(r).ports[p].peer for r in tics for p in ports]
    for _ in range(FILL // 50):
        net.step(50).events()
    stuck = sum(net.terminal(t).queued > 0 for t in senders)
    shared = POOL - 2 * CONTROL
    common = free = room = held_lower = 0
    for r in tics:
        held = buffers_of_queues(net, r)
        reserved_buffers = {q: net.experiment["router.reserve"][priority_of(q)] for q in held}
        common += shared - sum(reserved_buffers.values())
        free += shared - sum(max(held[q], reserved_buffers[q]) for q in held)
        room += shared - sum(reserved_buffers[q] for q in held if priority_of(q) == higher)
        held_lower += sum(held[q] for q in held if priority_of(q) in lower)
    followed = follow(net, higher, WINDOW)
    return Flooded(100 - 100 * free / common, 100 * held_lower / room, 100 * stuck / len(senders),
                   sum(net.totals[f"delivered_priority_{p}"] for p in lower), followed)


def buffers_of_queues(net: Network, tic: int) -> dict[int, int]:
    """Returns queue -> number of buffers that it holds, for all queues that can have a reservation: at each port 2
    virtual channels for each of 4 priorities."""
    return {int(name[5:]): held for name, held in Fabric(net).registers(tic).items() if name.startswith("held.")}


def priority_of(queue: int) -> int:
    return queue % 8 // 2


def alone(where: dict, lower: list[int]) -> float:
    """Returns the mean latency of the higher priority in cycles, at a tenth of the load and with hosts that accept all
    messages."""
    net = Network(fabric(priority_settings(where, lower), {"host.refuses": [], "traffic.load": LOAD / 10}), trace=True)
    return statistics.fmean(follow(net, max(lower) + 1, WINDOW).latency)


READING_PRIORITY = (
    "Each host sends 0.05 messages per cycle that no host accepts, and 0.05 of the higher priority, uniform traffic. "
    "The two kinds use one parallel port each (host.second_priorities), or both share both ports, or both share the "
    "only port. A port offers the oldest message of each priority, the highest first (host.queues), as section 3 "
    "says: flow control signals and means to control priorities. Messages created in cycles 4000 to 5999 are followed "
    "until delivery. Buffers are reserved for the queues of all ports, used or not, so lower messages need not fill "
    "the buffers of their own priority. Latency starts at creation. Hardly loaded: a tenth of these loads, all "
    "accepted.")
READING_SINGLE = (
    "host.queues = \"single\": a port offers the oldest of all its messages, and if a lower one finds no buffer, the "
    "others wait behind it at the host, outside of the fabric.")


def priority(cases: tuple[list[int], ...] = LOWER, fabrics: tuple[str, ...] = tuple(FABRICS)) -> list[dict]:
    """Messages of a higher priority in a fabric full of lower ones that hosts do not accept. The paper has one sentence
    on it, so one row is judged: the fabric, priorities and ports with the fewest deliveries."""
    conditions = [(name, lower, hosts) for name in fabrics for lower in cases for hosts in (APART, BOTH, ONE)]
    floods = {n: once(flood, FABRICS[name], lower, hosts) for n, (name, lower, hosts) in enumerate(conditions)}
    common = {"experiment": "sconnect.priority", "source": f"{PAPER}, 2.3; 3", "tolerance": 0,
              "setting": f"{len(conditions)} combinations of fabric, priorities and ports"}
    judged = row(quantity="delivered of a higher priority, the least", published=100, unit="%",
                 measured=lambda: min(f().delivered for f in floods.values()), reading=READING_PRIORITY, **common)
    return [judged, *(line for n, condition in enumerate(conditions) for line in rows_of(*condition, floods[n]))]


def rows_of(name: str, lower: list[int], hosts: str, flooded: Callable[[], Flooded]) -> list[dict]:
    where, higher = FABRICS[name], f"priority {max(lower) + 1}"
    common = {"experiment": "sconnect.priority", "source": f"{PAPER}, 2.3; 3", "tolerance": 0,
              "setting": f"{name}, {hosts}, full of {', '.join(map(str, lower))}"}
    context: list[tuple[str, Callable[[], float], str]] = [
        (f"delivered of {higher}", lambda: flooded().delivered, "%"),
        ("host ports with a waiting message", lambda: flooded().stuck, "%"),
        ("lower messages that entered later", lambda: flooded().higher.others_entered, "messages"),
        (f"latency of {higher}, mean", lambda: statistics.fmean(flooded().higher.latency), "routing cycles"),
        (f"latency of {higher}, at most", lambda: max(flooded().higher.latency), "routing cycles")]
    if hosts == APART:
        context += [("unreserved buffers in use", lambda: flooded().common, "%"),
                    ("buffers not reserved for it, with lower messages", lambda: flooded().lower, "%"),
                    (f"latency of {higher}, hardly loaded", partial(alone, where, lower), "routing cycles")]
    rows = [row(quantity="lower messages accepted by hosts", published=0, measured=lambda: flooded().lower_accepted,
                unit="messages", check=True, reading=READING_PRIORITY, **common)]
    rows += [row(quantity=quantity, published=None, measured=measured, unit=unit, reading=READING_PRIORITY, **common)
             for quantity, measured, unit in context]
    if hosts != APART:
        rows.append(row(quantity=f"delivered of {higher}, one queue", published=None,
                        measured=lambda: flood(where, lower, hosts, "single").delivered, unit="%",
                        reading=READING_SINGLE, **common))
    return rows


EXPERIMENTS = {
    "sconnect.priority": ("a higher priority in a fabric full of lower messages that hosts do not accept", priority),
}
