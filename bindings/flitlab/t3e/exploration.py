"""Software on one PE of a Cray T3E that finds the nodes of the machine over the special network.

Source: Scott and Thorson, "The Cray T3E Network", section 8. For every link of every known node the explorer reads R_SW
at the far end. Broken and open links do not answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from flitlab._core import RunError
from flitlab.network import Network
from flitlab.t3e import console

Place = tuple[int, int, int]

DIRECTIONS = tuple((dim, sign) for sign in (1, -1) for dim in range(3))  # +X +Y +Z -X -Y -Z, the order of R_CHAN
LEGS = range(6)  # legs of a packet's path: primary X Y Z, secondary X Y Z
MOST_HOPS = 64  # bound on an unknown path back, and on the propagation of R_ORIENT
Deltas = tuple[int, ...]
Ways = dict[tuple[int, int], Deltas]  # shortest known paths, by (leg, sign) of the hop at one end of the path


def pack_deltas(deltas: Sequence[int]) -> int:
    """Returns R_SGET_RTRN: six signed bytes, primary X lowest. The bit positions are flitlab's."""
    return sum((d & 0xFF) << 8 * i for i, d in enumerate(deltas))


@dataclass(eq=False)
class Node:
    """A node, with the explorer's knowledge of it."""

    links: list[Node | None] = field(default_factory=lambda: [None] * 6, repr=False)
    ways: Ways = field(default_factory=dict)  # paths from the explorer to this node, by the leg of the last hop
    ways_back: Ways = field(default_factory=dict)  # paths from this node to the explorer, by the leg of the first hop
    distance: int = 0  # hops from the explorer, without the restriction on the order of legs
    place: Place = (0, 0, 0)  # X, Y and Z of its physical number

    @property
    def way(self) -> Deltas:
        return min(self.ways.values(), key=_hops)

    @property
    def way_back(self) -> Deltas:
        return min(self.ways_back.values(), key=_hops)


class Explorer:
    """Software on one PE: finds the nodes of a machine and writes their registers."""

    def __init__(self, network: Network, node: int):
        self.network, self.node, self.machine = network, node, console.Machine(network)
        e = network.experiment
        self.hop = e["special.router_delay"]
        self.ends = e["router.source_delay"] + e["router.destination_delay"]
        self.root = Node(ways={(-1, 0): (0,) * 6}, ways_back={(6, 0): (0,) * 6})
        self.known: dict[int, Node] = {}  # known nodes, by the number that the explorer wrote into their R_SW

    def put(self, way: Sequence[int], register: str, value: int) -> None:
        self.machine.special_put(self.node, way, register, value)

    def wait(self, *ways: Sequence[int]) -> None:
        """Steps the network until all packets sent have arrived and an answer has come back."""
        self.network.step(2 + self.ends + self.hop * sum(map(_hops, ways)))

    def ask(self, way: Deltas, way_back: Deltas | None, register: str) -> int | None:
        """Returns a register of the node at the end of a path, or None if no answer arrives. way_back: path of the
        answer; None: the path that the R_SGET_RTRN of a known node already holds."""
        if way_back:
            self.put(way, "R_SGET_RTRN", pack_deltas(way_back))
        ticket = self.machine.special_get(self.node, way, register)
        self.wait(way, way_back or (MOST_HOPS,))
        return self.answers().get(ticket)

    def answers(self) -> dict[int, int]:
        return {a.ticket: a.value for a in self.machine.special_answers() if a.node == self.node}

    def name(self, node: Node) -> None:
        """Writes a unique number into a node's R_SW, by which it is recognised later."""
        number = len(self.known) + 1
        self.known[number] = node
        self.put(node.way, "R_SW", number)
        if self.ask(node.way, node.way_back, "R_SW") != number:
            raise RunError(f"boot: the node at the end of the way {node.way} does not keep the value written into "
                           "its R_SW. No other software may use the special network during boot.")

    def follow(self, node: Node, direction: int) -> bool | None:
        """Reads R_SW over a link. Returns whether a node, known or new, answers at the far end. Returns None if the
        link cannot be tested, because no known path of six legs leads over it to the far end or back."""
        way = _shortest(_extend(node.ways, direction))
        way_back = _shortest(_extend(node.ways_back, opposite(direction), back=True))
        answer = self.ask(way, way_back, "R_SW") if way else None
        if answer is None:
            return False if way and way_back else None
        other = self.known.get(answer) or Node()
        node.links[direction], other.links[opposite(direction)] = other, node
        self.learn_ways([node, other])
        if answer not in self.known:
            self.name(other)
        return True

    def learn_ways(self, nodes: Iterable[Node]) -> None:
        """Extends the known paths: a path to a node, plus one hop, is a path to the node's neighbour."""
        waiting = deque(nodes)
        while waiting:
            node = waiting.popleft()
            for direction, other in enumerate(node.links):
                if other is None:
                    continue
                found = _extend(node.ways, direction), _extend(node.ways_back, opposite(direction), back=True)
                if _improve(other.ways, found[0]) | _improve(other.ways_back, found[1]):
                    waiting.append(other)

    def orient(self, value: int) -> None:
        """Writes R_ORIENT of the explorer's node, and waits until the hardware has set all other nodes; special packets
        sent earlier would be misrouted."""
        self.put((0,) * 6, "R_ORIENT", value)
        self.wait((MOST_HOPS,))

    def explore(self) -> None:
        """Tries all links, nearest first. Retries undecided links as more paths become known."""
        self.name(self.root)
        untried = deque((self.root, direction) for direction in range(6))
        postponed = 0  # number of links in a row that could not be tested
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
        """Sets the distances of all nodes."""
        reached, waiting = {self.root}, deque([self.root])
        while waiting:
            node = waiting.popleft()
            for other in node.links:
                if other and other not in reached:
                    other.distance = node.distance + 1
                    reached.add(other)
                    waiting.append(other)

    def number(self) -> Place:
        """Sets the place of every node, with the explorer first in every ring, and returns the shape."""
        nodes = list(self.known.values())
        ordinates = [_ordinates(self.root, nodes, dim) for dim in range(3)]
        for node in nodes:
            node.place = tuple(along[node] for along in ordinates)
        if len({n.place for n in nodes}) != len(nodes):
            raise RunError("boot: two nodes have one place; lines of the machine are not straight.")
        return tuple(max(n.place[dim] for n in nodes) + 1 for dim in range(3))

    def batches(self) -> list[list[Node]]:
        """Returns groups of nodes to which packets may be sent one clock apart, nearest first: on shortest paths they
        cannot collide, there or back. A node with a longer path forms a group of its own."""
        nodes = sorted(self.known.values(), key=lambda n: n.distance)
        detours = [n for n in nodes if _hops(n.way) + _hops(n.way_back) > 2 * n.distance]
        return [[n for n in nodes if n not in detours], *([n] for n in detours)]

    def settle(self, batch: list[Node], packets: int) -> None:
        self.network.step(packets)
        self.wait(max((n.way for n in batch), key=_hops), max((n.way_back for n in batch), key=_hops))

    def write(self, registers: dict[Node, dict[str, int]]) -> None:
        for batch in self.batches():
            for node in batch:
                way = node.way
                for register, value in registers[node].items():
                    self.put(way, register, value)
            self.settle(batch, sum(len(registers[n]) for n in batch))

    def read_back(self, register: str) -> dict[Node, int | None]:
        """Returns a register of all nodes; None for nodes without an answer."""
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


def opposite(direction: int) -> int:
    return (direction + 3) % 6


def _extend(ways: Ways, direction: int, back: bool = False) -> Ways:
    """Returns the paths with one more hop at the end, or (`back`) at the start. Omits paths that a packet cannot take:
    legs must be in order, and all hops of a leg have the same sign."""
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
    """Replaces paths in ``ways`` by shorter ones in ``others``. Returns whether any path was replaced."""
    better = {end: way for end, way in others.items() if end not in ways or _hops(way) < _hops(ways[end])}
    ways.update(better)
    return bool(better)


def _representatives(nodes: list[Node], directions: Sequence[int]) -> dict[Node, Node]:
    """Returns for every node a representative of the nodes with which it is connected in some directions."""
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
    """Returns the ordinates of all nodes in a dimension. Nodes connected in the other two dimensions form a slab, which
    has one ordinate. The lines through the explorer's slab, the first one, give the order: where one line skips a slab,
    others do not."""
    slab = _representatives(nodes, [d for d in range(6) if d % 3 != dim])
    line = _representatives(nodes, [dim, dim + 3])
    first, lines = slab[root], {line[n] for n in nodes if slab[n] is slab[root]}
    before: dict[Node, set[Node]] = {s: set() for s in slab.values()}
    for node in nodes:
        other = node.links[dim]
        if other and line[node] in lines and slab[other] is not first:
            before[slab[other]].add(slab[node])
    if len(before) == 2 and not any(before.values()):  # a single link leads from the other slab, which is first
        return {n: int(slab[n] is first) for n in nodes}
    ordinate: dict[Node, int] = {}
    try:
        for s in TopologicalSorter(before).static_order():
            if s is not first and not before[s]:
                raise RunError("boot: too many links are silent, so the nodes cannot be put in order along "
                               f"{'XYZ'[dim]}. Boot from another node.")
            ordinate[s] = max((ordinate[b] + 1 for b in before[s]), default=0)
    except CycleError:
        raise RunError(f"boot: lines of the machine along {'XYZ'[dim]} are not straight.") from None
    return {n: ordinate[slab[n]] for n in nodes}
