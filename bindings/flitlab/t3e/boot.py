"""Setting up a Cray T3E whose registers are all zero, from one of its PEs, over the special network.

Sources: Scott and Thorson, "The Cray T3E Network", section 8; manual HMM-146-0, Special Routing and Direction Order
Routing. Nothing is known of the machine at first but that packets can be sent by deltas: which nodes there are is found
by asking every link of every node that has been found what is in R_SW at its far end. A broken link does not answer,
nor does one that is open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import groupby

from flitlab._core import ConfigError, RunError
from flitlab.console import call_tool
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.t3e import console

Place = tuple[int, int, int]

DIRECTIONS = tuple((dim, sign) for sign in (1, -1) for dim in range(3))  # +X +Y +Z -X -Y -Z, the order of R_CHAN
LEGS = range(6)  # of a packet's way: primary X Y Z, secondary X Y Z
MOST_HOPS = 64  # of a way back that nobody remembers
Deltas = tuple[int, ...]
Ways = dict[tuple[int, int], Deltas]  # by a leg at one end of them, and its sign


def pack_deltas(deltas: Sequence[int]) -> int:
    """R_SGET_RTRN: six signed bytes, primary X lowest. The places of its bits are flitlab's."""
    return sum((d & 0xFF) << 8 * i for i, d in enumerate(deltas))


def pack_place(place: Place) -> int:
    """R_PWHO: X in bits 2:0, Y in 12:8, Z in 19:16 (manual, Table 4)."""
    return place[0] | place[1] << 8 | place[2] << 16


def logical_number(place: Place, shape: Place, number_format: int) -> int:
    """Logical PE number in one of the three formats of the manual's Table 6, for machines of any shape. From the
    highest bits on: 1: Y but its lowest bit, Z, that bit, X; 2: Z, Y, X; 3: Y, Z, X."""
    (x, y, z), (kx, ky, kz) = place, shape
    if number_format == 1:
        return ((y // 2 * kz + z) * 2 + y % 2) * kx + x
    if number_format == 2:
        return (z * ky + y) * kx + x
    if number_format == 3:
        return (y * kz + z) * kx + x
    raise ConfigError(f"boot: format {number_format} of logical numbers: there are 1, 2 and 3.")


@dataclass(eq=False)
class Node:
    """A node as the explorer knows it."""

    links: list[Node | None] = field(default_factory=lambda: [None] * 6, repr=False)
    ways: Ways = field(default_factory=dict)  # from the explorer, by the last leg
    ways_back: Ways = field(default_factory=dict)  # to the explorer, by the first leg
    distance: int = 0  # hops from the explorer, were there no order of the legs
    place: Place = (0, 0, 0)  # of its physical number

    @property
    def way(self) -> Deltas:
        return min(self.ways.values(), key=_hops)

    @property
    def way_back(self) -> Deltas:
        return min(self.ways_back.values(), key=_hops)


@dataclass(frozen=True)
class Boot:
    """What setting up a machine found and took."""

    shape: Place  # nodes in X, Y and Z
    nodes: int  # that answer
    links: int  # that join two of them, both directions counted as one
    clocks: int
    packets: int
    lost: int  # packets, at open and broken links
    broken_links: tuple[tuple[Place, int], ...]  # between two nodes that answer: a node and a direction
    dead_nodes: tuple[Place, ...]


class Explorer:
    """Software on one PE: finds the nodes of a machine and writes their registers."""

    def __init__(self, network: Network, node: int):
        self.network, self.node, self.machine = network, node, console.Machine(network)
        e = network.experiment
        self.hop = e["special.router_delay"]
        self.ends = e["router.source_delay"] + e["router.destination_delay"]
        self.root = Node(ways={(-1, 0): (0,) * 6}, ways_back={(6, 0): (0,) * 6})
        self.known: dict[int, Node] = {}  # by what is in their R_SW
        self.name(self.root)

    def put(self, way: Sequence[int], register: str, value: int) -> None:
        self.machine.special_put(self.node, way, register, value)

    def wait(self, *ways: Sequence[int]) -> None:
        """Until all that has been sent has arrived, and an answer come back."""
        self.network.step(2 + self.ends + self.hop * sum(map(_hops, ways)))

    def ask(self, way: Deltas, way_back: Deltas | None, register: str) -> int | None:
        """A register at the end of a way; None if nobody answers. Without a way back a node that has been asked before
        answers by the one that it had then."""
        if way_back:
            self.put(way, "R_SGET_RTRN", pack_deltas(way_back))
        ticket = self.machine.special_get(self.node, way, register)
        self.wait(way, way_back or (MOST_HOPS,))
        return self.answers().get(ticket)

    def answers(self) -> dict[int, int]:
        return {a.ticket: a.value for a in self.machine.special_answers() if a.node == self.node}

    def name(self, node: Node) -> None:
        """A node gets a number of its own in R_SW, by which it is known if it is met again."""
        number = len(self.known) + 1
        self.known[number] = node
        self.put(node.way, "R_SW", number)
        if self.ask(node.way, node.way_back, "R_SW") != number:
            raise RunError(f"boot: the node at the end of the way {node.way} does not keep what is written into its "
                           "R_SW. Nobody else may use the special network during boot.")

    def follow(self, node: Node, direction: int) -> bool | None:
        """Asks over a link. Returns whether anybody answers, perhaps a new node; None if that is not known, as six legs
        do not lead there, or not back over the link."""
        way = _shortest(_extend(node.ways, direction))
        way_back = _shortest(_extend(node.ways_back, _opposite(direction), back=True))
        answer = self.ask(way, way_back, "R_SW") if way else None
        if answer is None:
            return False if way and way_back else None
        other = self.known.get(answer) or Node()
        node.links[direction], other.links[_opposite(direction)] = other, node
        self.learn_ways([node, other])
        if answer not in self.known:
            self.name(other)
        return True

    def learn_ways(self, nodes: Iterable[Node]) -> None:
        """A node's ways, with a hop more, are its neighbours'."""
        waiting = deque(nodes)
        while waiting:
            node = waiting.popleft()
            for direction, other in enumerate(node.links):
                if other is None:
                    continue
                found = _extend(node.ways, direction), _extend(node.ways_back, _opposite(direction), back=True)
                if _improve(other.ways, found[0]) | _improve(other.ways_back, found[1]):
                    waiting.append(other)

    def explore(self) -> None:
        """Tries all links, the nearest first, and what could not be tried again if more is known."""
        untried = deque((self.root, direction) for direction in range(6))
        postponed = 0  # in a row
        while postponed < len(untried):
            node, direction = untried.popleft()
            if node.links[direction]:
                continue
            before = len(self.known)
            answered = self.follow(node, direction)
            if answered is None:
                untried.append((node, direction))
                postponed += 1
            elif answered:
                postponed = 0
            if len(self.known) > before:
                untried += [(node.links[direction], d) for d in range(6)]
        self.measure()

    def measure(self) -> None:
        """Distances of all nodes."""
        reached, waiting = {self.root}, deque([self.root])
        while waiting:
            node = waiting.popleft()
            for other in node.links:
                if other and other not in reached:
                    other.distance = node.distance + 1
                    reached.add(other)
                    waiting.append(other)

    def number(self) -> Place:
        """Gives every node its place, the explorer the first one of all rings, and returns the shape."""
        nodes = list(self.known.values())
        ordinates = [_ordinates(self.root, nodes, dim) for dim in range(3)]
        for node in nodes:
            node.place = tuple(along[node] for along in ordinates)
        if len({n.place for n in nodes}) != len(nodes):
            raise RunError("boot: two nodes have one place; lines of the machine are not straight.")
        return tuple(max(n.place[dim] for n in nodes) + 1 for dim in range(3))

    def batches(self) -> list[list[Node]]:
        """Nodes to which packets may be sent a clock apart, the nearest first: on shortest ways none can meet another,
        there or back. Nodes with other ways are alone."""
        nodes = sorted(self.known.values(), key=lambda n: n.distance)
        detours = [n for n in nodes if _hops(n.way) + _hops(n.way_back) > 2 * n.distance]
        return [[n for n in nodes if n not in detours], *([n] for n in detours)]

    def settle(self, batch: list[Node], packets: int) -> None:
        self.network.step(packets)
        self.wait(max((n.way for n in batch), key=_hops), max((n.way_back for n in batch), key=_hops))

    def write(self, registers: dict[Node, dict[str, int]]) -> None:
        for batch in self.batches():
            for node in batch:
                for register, value in registers[node].items():
                    self.put(node.way, register, value)
            self.settle(batch, sum(len(registers[n]) for n in batch))

    def read_back(self, register: str) -> dict[Node, int | None]:
        """A register of all nodes."""
        tickets = {}
        for batch in self.batches():
            for node in batch:
                self.put(node.way, "R_SGET_RTRN", pack_deltas(node.way_back))
                tickets[node] = self.machine.special_get(self.node, node.way, register)
            self.settle(batch, 2 * len(batch))
        values = self.answers()
        return {node: values.get(ticket) for node, ticket in tickets.items()}


def _hops(deltas: Deltas) -> int:
    return sum(map(abs, deltas))


def _shortest(ways: Ways) -> Deltas | None:
    return min(ways.values(), key=_hops, default=None)


def _opposite(direction: int) -> int:
    return (direction + 3) % 6


def _extend(ways: Ways, direction: int, back: bool = False) -> Ways:
    """Ways with a hop more at their end, or (`back`) at their start. A leg cannot be taken again after a later one, nor
    have hops of both signs."""
    dim, sign = DIRECTIONS[direction]
    longer: Ways = {}
    for (leg, leg_sign), deltas in ways.items():
        free = [i for i in LEGS if i % 3 == dim and (i < leg if back else i > leg)]
        if leg_sign == sign and leg % 3 == dim:
            free = [leg]
        if not free:
            continue
        into = max(free) if back else min(free)
        _improve(longer, {(into, sign): (*deltas[:into], deltas[into] + sign, *deltas[into + 1:])})
    return longer


def _improve(ways: Ways, others: Ways) -> bool:
    """Takes over what is shorter. Returns whether anything is."""
    better = {end: way for end, way in others.items() if end not in ways or _hops(way) < _hops(ways[end])}
    ways.update(better)
    return bool(better)


def _joined(nodes: list[Node], directions: Sequence[int]) -> dict[Node, Node]:
    """For every node a node of those that it is joined with in some directions, the same for all of them."""
    whose: dict[Node, Node] = {}
    for first in nodes:
        waiting = [first]
        while waiting:
            node = waiting.pop()
            if node not in whose:
                whose[node] = first
                waiting += [other for d in directions if (other := node.links[d])]
    return whose


def _ordinates(root: Node, nodes: list[Node], dim: int) -> dict[Node, int]:
    """Slabs of nodes that are joined in the other two dimensions have one ordinate. Their order is that of the lines
    through the explorer's slab, which is the first one; where a line leaves a slab out, others do not."""
    slab = _joined(nodes, [d for d in range(6) if d % 3 != dim])
    line = _joined(nodes, [dim, dim + 3])
    first, lines = slab[root], {line[n] for n in nodes if slab[n] is slab[root]}
    before: dict[Node, set[Node]] = {s: set() for s in slab.values()}
    for node in nodes:
        other = node.links[dim]
        if other and line[node] in lines and slab[other] is not first:
            before[slab[other]].add(slab[node])
    if len(before) == 2 and not any(before.values()):  # a single link, from the other slab: it is the first one
        return {n: int(slab[n] is first) for n in nodes}
    ordinate: dict[Node, int] = {}
    try:
        for s in TopologicalSorter(before).static_order():
            if s is not first and not before[s]:
                raise RunError("boot: so many links are silent that the nodes cannot be put in order along "
                               f"{'XYZ'[dim]}. Boot from another node.")
            ordinate[s] = max((ordinate[b] + 1 for b in before[s]), default=0)
    except CycleError:
        raise RunError(f"boot: lines of the machine along {'XYZ'[dim]} are not straight.") from None
    return {n: ordinate[slab[n]] for n in nodes}


def partial_planes(places: set[Place], shape: Place) -> list[int]:
    """Blocks of nodes in planes that are not full, five numbers each: Z, first Y, nodes in Y, first X, nodes in X."""
    blocks = []
    for z in range(shape[2]):
        rows = [tuple(x for x in range(shape[0]) if (x, y, z) in places) for y in range(shape[1])]
        if all(len(row) == shape[0] for row in rows):
            continue
        for row, ys in groupby(range(shape[1]), key=lambda y: rows[y]):
            lines = list(ys)
            for _, run in groupby(enumerate(row), key=lambda pair: pair[1] - pair[0]):
                xs = [x for _, x in run]
                blocks += [z, lines[0], len(lines), xs[0], len(xs)]
    return blocks


@dataclass(frozen=True)
class Machine:
    """A machine that may be what was found."""

    experiment: Experiment  # its shape, without faults
    numbers: dict[int, int]  # of nodes, by R_PWHO
    broken_links: list[tuple[Node, int]]
    dead_nodes: list[int]  # R_PWHO

    @property
    def faults(self) -> dict:
        links = [x for node, direction in self.broken_links for x in (self.numbers[pack_place(node.place)], direction)]
        return {"faults.links": links, "faults.nodes": [self.numbers[p] for p in self.dead_nodes], "faults.cycle": 0}


def _machine(experiment: Experiment, found: dict[int, Node], shape: Place, places: set[Place]) -> Machine | None:
    """The machine whose nodes have these places, if what was found is part of it."""
    e = experiment.set({"topology.shape": list(shape), "topology.partial_planes": partial_planes(places, shape),
                        "boot.state": "loaded", "faults.links": [], "faults.nodes": []})
    wiring = call_tool("t3e", "wiring", e)
    broken = []
    for number, neighbours in wiring:
        for direction, far in enumerate(neighbours):
            link = found[number].links[direction] if number in found else None
            if link and pack_place(link.place) != far:
                return None
            if number in found and far in found and not link and (found[far], _opposite(direction)) not in broken:
                broken.append((found[number], direction))
    return Machine(e, {number: i for i, (number, _) in enumerate(wiring)}, broken,
                   [number for number, _ in wiring if number not in found])


def recognise(experiment: Experiment, nodes: Iterable[Node], shape: Place) -> Machine:
    """The machine that was found: boards of 2 x 2 nodes that do not answer at all are not there, or all that is missing
    is dead, whichever explains it with fewer broken links. RunError if neither does."""
    found = {pack_place(n.place): n for n in nodes}
    everything = {(x, y, z) for x in range(shape[0]) for y in range(shape[1]) for z in range(shape[2])}
    boards = {(n.place[0] // 2, n.place[1] // 2, n.place[2]) for n in found.values()}
    machines, why = [], "its links are not those of any."
    for places in ({(x, y, z) for x, y, z in everything if (x // 2, y // 2, z) in boards}, everything):
        try:
            machines.append(_machine(experiment, found, shape, places))
        except ConfigError as refused:
            why = str(refused)
    if not any(machines):
        raise RunError(f"boot: what was found from this node is no T3E: {why}")
    return min(filter(None, machines), key=lambda m: len(m.broken_links))


def boot(network: Network, node: int = 0, number_format: int | None = None) -> Boot:
    """Finds the nodes of a cold machine from one of its PEs, and gives all of them their numbers and routing tables.

    network: of an experiment with special.enabled = true and boot.state = "cold", not further on than its
    traffic.start. node: the PE that does it; it becomes number 0 of its rings, so in a machine with partial planes it
    must be in a full plane and at even X and Y that boards can be counted from. number_format: of logical PE numbers,
    see :func:`logical_number`; None: as a loaded machine has them. How packets are to be routed is the experiment's
    (routing.*); broken links and dead nodes are found, and the tables route around them. All is done by special
    packets, in the machine's own time. ConfigError if there is no special network, or the PEs that were found cannot
    all reach each other (faults.unconnected); RunError if the machine cannot be made sense of.
    """
    if not network.experiment.flat().get("special.enabled"):
        raise ConfigError("boot: special.enabled must be true, so that software can reach the nodes.")
    start, before = network.cycle, network.totals
    explorer = Explorer(network, node)
    explorer.explore()
    shape = explorer.number()
    nodes = list(explorer.known.values())
    machine = recognise(network.experiment, nodes, shape)

    tables = {registers["R_PWHO"]: (registers, lut)
              for registers, lut in call_tool("t3e", "tables", machine.experiment.set(machine.faults))}
    loads = {n: _registers(*tables[pack_place(n.place)]) for n in nodes}
    if number_format is not None:
        if loads[explorer.root]["R_LUT_OVERRIDE"] >> 32:
            raise ConfigError("boot: number_format is for up to 544 PEs; larger machines number theirs by fours.")
        _renumber(loads, shape, number_format)
    explorer.write(loads)
    for n, number in explorer.read_back("R_LWHO").items():
        if number != loads[n]["R_LWHO"]:
            raise RunError(f"boot: the node at {n.place} does not have its number.")
    totals = network.totals
    packets, lost = (totals[f"special_{what}"] - before[f"special_{what}"] for what in ("sent", "lost"))
    links = sum(link is not None for n in nodes for link in n.links) // 2
    return Boot(shape, len(nodes), links, network.cycle - start, packets, lost,
                tuple((n.place, direction) for n, direction in machine.broken_links),
                tuple((p & 7, p >> 8 & 31, p >> 16) for p in machine.dead_nodes))


def _registers(registers: dict[str, int], lut: list[int]) -> dict[str, int]:
    """What to write into a node: the routing tables of its place first, its numbers last."""
    values = {f"R_NET_LUT{i}": tag for i, tag in enumerate(lut)}
    values |= {f"R_CHAN{i}": registers[f"R_CHAN{i}"] for i in range(6)}
    values |= {f"R_VCSEL{i}": registers[f"R_VCSEL{i}"] for i in range(6)}
    return values | {name: registers[name] for name in ("R_LUT_OVERRIDE", "R_PWHO", "R_LWHO")}


def _renumber(loads: dict[Node, dict[str, int]], shape: Place, number_format: int) -> None:
    """Other logical numbers: the entries of the routing tables move with them."""
    numbers = {values["R_LWHO"]: logical_number(n.place, shape, number_format) for n, values in loads.items()}
    for values in loads.values():
        moved = {f"R_NET_LUT{new}": values[f"R_NET_LUT{old}"] for old, new in numbers.items()}
        values.update(moved)
        values["R_LWHO"] = numbers[values["R_LWHO"]]
