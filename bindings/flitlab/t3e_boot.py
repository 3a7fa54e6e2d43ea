"""Setting up a Cray T3E whose registers are all zero, from one of its PEs, over the special network.

Sources: Scott and Thorson, "The Cray T3E Network", section 8; manual HMM-146-0, Special Routing and Direction Order
Routing. Nothing is known of the machine at first but that packets can be sent by deltas: which nodes there are is found
by asking every link of every node that has been found what is in R_SW at its far end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from flitlab._core import ConfigError, RunError, t3e_tables
from flitlab.network import Network

Place = tuple[int, int, int]

DIRECTIONS = tuple((dim, sign) for sign in (1, -1) for dim in range(3))  # +X +Y +Z -X -Y -Z, the order of R_CHAN
IN_PLANE, ALONG_Z = (0, 1, 3, 4), (2, 5)  # directions inside a plane, and from plane to plane
NO_ADAPT = 4  # R_CHAN


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

    walked: Place  # hops from the explorer; nodes beyond the half of a ring may be negative
    links: list[Node | None] = field(default_factory=lambda: [None] * 6)
    place: Place = (0, 0, 0)  # of its physical number

    @property
    def way(self) -> list[int]:
        """Deltas from the explorer: inside its plane, then along Z."""
        return [*self.walked, 0, 0, 0]

    @property
    def way_back(self) -> list[int]:
        """Deltas to the explorer: along Z to its plane, then inside that. Primary X and Y are left for one hop more."""
        x, y, z = self.walked
        return [0, 0, -z, -x, -y, 0]


@dataclass(frozen=True)
class Boot:
    """What setting up a machine found and took."""

    shape: Place  # nodes in X, Y and Z
    nodes: int
    links: int  # that join two nodes, both directions counted as one
    clocks: int
    packets: int
    lost: int  # packets, at open links


class Explorer:
    """Software on one PE: finds the nodes of a machine and writes their registers."""

    def __init__(self, network: Network, node: int):
        self.network, self.node = network, node
        e = network.experiment
        self.hop = e["special.router_delay"]
        self.ends = e["router.source_delay"] + e["router.destination_delay"]
        self.root = Node((0, 0, 0))
        self.known: dict[int, Node] = {}  # by what is in their R_SW
        self.name(self.root)

    def put(self, way: Sequence[int], register: str, value: int) -> None:
        self.network.special_put(self.node, way, register, value)

    def wait(self, *ways: Sequence[int]) -> None:
        """Until all that has been sent has arrived, and an answer come back."""
        self.network.step(2 + self.ends + self.hop * sum(abs(d) for way in ways for d in way))

    def ask(self, way: Sequence[int], way_back: Sequence[int], register: str) -> int | None:
        """A register at the end of a way; None if nobody answers."""
        self.put(way, "R_SGET_RTRN", pack_deltas(way_back))
        ticket = self.network.special_get(self.node, way, register)
        self.wait(way, way_back)
        return self.answers().get(ticket)

    def answers(self) -> dict[int, int]:
        return {a.ticket: a.value for a in self.network.special_answers() if a.node == self.node}

    def name(self, node: Node) -> None:
        """A node gets a number of its own in R_SW, by which it is known if it is met again."""
        number = len(self.known) + 1
        self.known[number] = node
        self.put(node.way, "R_SW", number)
        if self.ask(node.way, node.way_back, "R_SW") != number:
            raise RunError(f"boot: the node {node.walked} hops away does not answer by way of the explorer's plane. "
                           "Boot from another node.")

    def follow(self, node: Node, direction: int) -> Node | None:
        """The node at the far end of a link, if nobody has met it before."""
        dim, sign = DIRECTIONS[direction]
        way, way_back = node.way, node.way_back
        way[3 + dim] += sign
        way_back[dim] -= sign
        answer = self.ask(way, way_back, "R_SW")
        if answer is None:
            return None
        other, is_new = self.known.get(answer), False
        if other is None:
            walked = list(node.walked)
            walked[dim] += sign
            other, is_new = Node(tuple(walked)), True
            self.name(other)
        node.links[direction], other.links[(direction + 3) % 6] = other, node
        return other if is_new else None

    def explore(self) -> None:
        """The explorer's plane, the columns on it, and the links between these."""
        waiting, plane = deque([self.root]), []
        while waiting:
            node = waiting.popleft()
            plane.append(node)
            waiting += self.unmet(node, IN_PLANE)
        waiting = deque(plane)
        while waiting:
            waiting += self.unmet(waiting.popleft(), ALONG_Z)
        for node in [n for n in self.known.values() if n.walked[2]]:
            if self.unmet(node, IN_PLANE):
                raise RunError(f"boot: the node {node.walked} hops away has a neighbour that is in no column of the "
                               "explorer's plane. Boot from a node of a full plane.")

    def unmet(self, node: Node, directions: Sequence[int]) -> list[Node]:
        found = [self.follow(node, d) for d in directions if node.links[d] is None]
        return [n for n in found if n is not None]

    def number(self) -> Place:
        """Gives every node its place and returns the shape: X and Y as counted along the explorer's own lines, Z along
        a node's column. Rings are counted from the explorer, open lines from their first node."""
        nodes = list(self.known.values())
        columns: dict[tuple[int, int], list[Node]] = {}
        for node in nodes:
            columns.setdefault(node.walked[:2], []).append(node)
        along = [_ordinates([n for n in nodes if n.walked == (n.walked[0], 0, 0)], 0),
                 _ordinates([n for n in nodes if n.walked == (0, n.walked[1], 0)], 1)]
        for walked, column in columns.items():
            up = _ordinates(column, 2)
            for node in column:
                node.place = (along[0](walked[0]), along[1](walked[1]), up(node.walked[2]))
        if len({n.place for n in nodes}) != len(nodes):
            raise RunError("boot: two nodes have one place; lines of the machine are not straight.")
        for node in nodes:
            for (dim, _), other in zip(DIRECTIONS, node.links, strict=True):
                if other and any(node.place[d] != other.place[d] for d in range(3) if d != dim):
                    raise RunError(f"boot: a link joins {node.place} and {other.place}, which are not in one line.")
        return tuple(max(n.place[dim] for n in nodes) + 1 for dim in range(3))

    def write(self, registers: dict[Node, dict[str, int]]) -> None:
        """A packet a clock. Their ways make a tree, on which none can meet another."""
        for node, values in registers.items():
            for register, value in values.items():
                self.put(node.way, register, value)
        self.network.step(sum(map(len, registers.values())))
        self.wait(*[max((n.way for n in registers), key=_hops)])

    def read_back(self, register: str) -> dict[Node, int | None]:
        """A register of all nodes, the nearest first, so that no two answers meet."""
        tickets = {}
        for node in sorted(self.known.values(), key=lambda n: _hops(n.way)):
            self.put(node.way, "R_SGET_RTRN", pack_deltas(node.way_back))
            tickets[node] = self.network.special_get(self.node, node.way, register)
        self.network.step(2 * len(tickets))
        farthest = max(tickets, key=lambda n: _hops(n.way))
        self.wait(farthest.way, farthest.way_back)
        values = self.answers()
        return {node: values.get(ticket) for node, ticket in tickets.items()}


def _hops(deltas: Sequence[int]) -> int:
    return sum(map(abs, deltas))


def _ordinates(line: list[Node], dim: int) -> Callable[[int], int]:
    """From hops walked along a line to ordinates. More than two nodes are a ring, though a link of it may be dead."""
    ring = len(line) > 2 or all(n.links[dim] and n.links[dim + 3] for n in line)
    first = min(n.walked[dim] for n in line)
    return lambda walked: walked % len(line) if ring else walked - first


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


def boot(network: Network, node: int = 0, number_format: int | None = None) -> Boot:
    """Finds the nodes of a cold machine from one of its PEs, and gives all of them their numbers and routing tables.

    network: of an experiment with special.enabled = true and boot.state = "cold", not further on than its
    traffic.start. node: the PE that does it; it must be in a full plane, and becomes number 0 of its rings.
    number_format: of logical PE numbers, see :func:`logical_number`; None: as a loaded machine has them. How packets
    are to be routed is the experiment's (routing.*). All is done by special packets, in the machine's own time.
    ConfigError if there is no special network; RunError if the machine cannot be made sense of.
    """
    if not network.experiment.flat().get("special.enabled"):
        raise ConfigError("boot: special.enabled must be true, so that software can reach the nodes.")
    start, before = network.cycle, network.totals
    explorer = Explorer(network, node)
    explorer.explore()
    shape = explorer.number()
    nodes = list(explorer.known.values())

    settings: dict = {"topology.shape": list(shape), "boot.state": "loaded"}
    if blocks := partial_planes({n.place for n in nodes}, shape):
        settings["topology.partial_planes"] = blocks
    tables = {registers["R_PWHO"]: (registers, lut)
              for registers, lut in t3e_tables(network.experiment.set(settings).core)}
    loads = {n: _registers(*tables[pack_place(n.place)]) for n in nodes}
    _check_links(loads, shape)
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
    return Boot(shape, len(nodes), links, network.cycle - start, packets, lost)


def _registers(registers: dict[str, int], lut: list[int]) -> dict[str, int]:
    """What to write into a node: the routing tables of its place first, its numbers last."""
    values = {f"R_NET_LUT{i}": tag for i, tag in enumerate(lut)}
    values |= {f"R_CHAN{i}": registers[f"R_CHAN{i}"] for i in range(6)}
    values |= {f"R_VCSEL{i}": registers[f"R_VCSEL{i}"] for i in range(6)}
    return values | {name: registers[name] for name in ("R_LUT_OVERRIDE", "R_PWHO", "R_LWHO")}


def _check_links(loads: dict[Node, dict[str, int]], shape: Place) -> None:
    """Links that nobody answers on must be those that the tables close to adaptive packets."""
    for node, values in loads.items():
        for direction, (dim, sign) in enumerate(DIRECTIONS):
            if node.links[direction] is None and not values[f"R_CHAN{direction}"] & NO_ADAPT:
                link = f"{'-+'[sign > 0]}{'XYZ'[dim]} of {node.place}"
                raise RunError(f"boot: nobody answers on the link {link}, which a machine of shape {shape} has. Its "
                               "tables would send packets there.")


def _renumber(loads: dict[Node, dict[str, int]], shape: Place, number_format: int) -> None:
    """Other logical numbers: the entries of the routing tables move with them."""
    numbers = {values["R_LWHO"]: logical_number(n.place, shape, number_format) for n, values in loads.items()}
    for values in loads.values():
        moved = {f"R_NET_LUT{new}": values[f"R_NET_LUT{old}"] for old, new in numbers.items()}
        values.update(moved)
        values["R_LWHO"] = numbers[values["R_LWHO"]]
