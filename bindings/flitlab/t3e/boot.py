"""Boot of a Cray T3E whose registers are all zero, from one of its PEs, over the special network.

Sources: Scott and Thorson, "The Cray T3E Network", section 8; manual HMM-146-0, Direction Assignments, Special Routing
and Direction Order Routing. Boot first writes R_ORIENT, which determines the + ports; before that, the special packets,
which are routed by hop counts (deltas), would be misrouted over links that join two + or two - ports. Then it explores
the machine: for every link of every known node it reads R_SW at the far end. Broken and open links do not answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from flitlab._core import ConfigError, RunError
from flitlab.console import call_tool
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.t3e.exploration import Explorer, Node, Place, opposite

__all__ = ["Boot", "Explorer", "Machine", "Node", "boot", "logical_number", "pack_place", "partial_planes", "recognise"]


def pack_place(place: Place) -> int:
    """Returns R_PWHO of a place: X in bits 2:0, Y in 12:8, Z in 19:16 (manual, Table 4)."""
    return place[0] | place[1] << 8 | place[2] << 16


def logical_number(place: Place, shape: Place, number_format: int) -> int:
    """Returns the logical PE number in one of the three formats of the manual's Table 6, for machines of any shape.
    Digits of the number, highest first, by format. 1: Y without its lowest bit, Z, the lowest bit of Y, X. 2: Z, Y, X.
    3: Y, Z, X."""
    (x, y, z), (kx, ky, kz) = place, shape
    if number_format == 1:
        return ((y // 2 * kz + z) * 2 + y % 2) * kx + x
    if number_format == 2:
        return (z * ky + y) * kx + x
    if number_format == 3:
        return (y * kz + z) * kx + x
    raise ConfigError(f"boot: format {number_format} of logical numbers does not exist; use 1, 2 or 3.")


@dataclass(frozen=True)
class Boot:
    """Result of a boot: the machine that was found, and the cost."""

    shape: Place  # nodes in X, Y and Z
    nodes: int  # nodes that answer
    links: int  # links between two such nodes; both channels count as one
    clocks: int
    packets: int
    lost: int  # packets lost at open and broken links
    # Broken links between two nodes that answer, each as (place of one node, direction).
    broken_links: tuple[tuple[Place, int], ...]
    dead_nodes: tuple[Place, ...]


def partial_planes(places: set[Place], shape: Place) -> list[int]:
    """Returns the blocks of nodes in partial planes, five numbers each: Z, first Y, nodes in Y, first X, nodes in X."""
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
    """A machine that is consistent with the nodes and links found."""

    experiment: Experiment  # the machine without faults
    numbers: dict[int, int]  # R_PWHO -> node number
    broken_links: list[tuple[Node, int]]
    dead_nodes: list[int]  # R_PWHO

    @property
    def faults(self) -> dict:
        links = [x for node, direction in self.broken_links for x in (self.numbers[pack_place(node.place)], direction)]
        return {"faults.links": links, "faults.nodes": [self.numbers[p] for p in self.dead_nodes], "faults.cycle": 0}


def _machine(experiment: Experiment, found: dict[int, Node], shape: Place, places: set[Place]) -> Machine | None:
    """Returns the machine with nodes at these places, or None if the links found contradict it."""
    e = experiment.set({"topology.shape": list(shape), "topology.partial_planes": partial_planes(places, shape),
                        "boot.state": "loaded", "faults.links": [], "faults.nodes": []})
    wiring = call_tool("t3e", "wiring", e)
    broken = []
    for number, neighbours in wiring:
        for direction, far in enumerate(neighbours):
            link = found[number].links[direction] if number in found else None
            if link and pack_place(link.place) != far:
                return None
            if number in found and far in found and not link and (found[far], opposite(direction)) not in broken:
                broken.append((found[number], direction))
    return Machine(e, {number: i for i, (number, _) in enumerate(wiring)}, broken,
                   [number for number, _ in wiring if number not in found])


def recognise(experiment: Experiment, nodes: Iterable[Node], shape: Place) -> Machine:
    """Returns the machine that explains the nodes found with the fewest broken links. Two machines are tried: boards of
    2 x 2 nodes without any answer do not exist, or all silent nodes are dead. RunError if both contradict the links."""
    found = {pack_place(n.place): n for n in nodes}
    everything = {(x, y, z) for x in range(shape[0]) for y in range(shape[1]) for z in range(shape[2])}
    boards = {(n.place[0] // 2, n.place[1] // 2, n.place[2]) for n in found.values()}
    machines, why = [], "no T3E has such links."
    for places in ({(x, y, z) for x, y, z in everything if (x // 2, y // 2, z) in boards}, everything):
        try:
            machines.append(_machine(experiment, found, shape, places))
        except ConfigError as refused:
            why = str(refused)
    if not any(machines):
        raise RunError(f"boot: the machine found from this node is no T3E: {why}")
    return min(filter(None, machines), key=lambda m: len(m.broken_links))


def boot(network: Network, node: int = 0, number_format: int | None = None, orientation: int | None = None) -> Boot:
    """Finds the nodes of a cold machine from one of its PEs, and loads their numbers and routing tables.

    network: of an experiment with special.enabled = true and boot.state = "cold", before its traffic.start. node: the
    PE that boots; it gets coordinate 0 in its rings, so in a machine with partial planes it must be in a full
    plane, at even X and Y at the corner of a board. number_format: format of logical PE numbers, see
    :func:`logical_number`; None: the numbers of a loaded machine. orientation: R_ORIENT of that PE's node, from which
    the hardware sets all other nodes; None: from topology.plus_ports, so that router 01 is +X of 00 and 10 is +Y.

    Routing follows the experiment (routing.*); the tables route around the broken links and dead nodes that boot finds.
    Boot uses only special packets and advances the network. ConfigError if the special network is off, or the PEs found
    cannot all reach each other (faults.unconnected); RunError if the nodes and links found are not a T3E.
    """
    if not network.experiment.flat().get("special.enabled"):
        raise ConfigError("boot: special.enabled must be true, so that software can reach the nodes.")
    start, before = network.cycle, network.totals
    explorer = Explorer(network, node)
    plus_ports = network.experiment["topology.plus_ports"]
    explorer.orient(sum(port << dim for dim, port in enumerate(plus_ports)) if orientation is None else orientation)
    explorer.explore()
    shape = explorer.number()
    nodes = list(explorer.known.values())
    machine = recognise(network.experiment, nodes, shape)

    tables = {registers["R_PWHO"]: (registers, lut)
              for registers, lut in call_tool("t3e", "tables", machine.experiment.set(machine.faults))}
    loads = {n: _registers(*tables[pack_place(n.place)]) for n in nodes}
    if number_format is not None:
        if loads[explorer.root]["R_LUT_OVERRIDE"] >> 32:
            raise ConfigError("boot: number_format is for up to 544 PEs; larger machines number PEs in groups of four.")
        _renumber(loads, shape, number_format)
    explorer.write(loads)
    for n, number in explorer.read_back("R_LWHO").items():
        if number != loads[n]["R_LWHO"]:
            raise RunError(f"boot: the node at {n.place} did not store its logical number.")
    totals = network.totals
    packets, lost = (totals[f"special_{what}"] - before[f"special_{what}"] for what in ("sent", "lost"))
    links = sum(link is not None for n in nodes for link in n.links) // 2
    return Boot(shape, len(nodes), links, network.cycle - start, packets, lost,
                tuple((n.place, direction) for n, direction in machine.broken_links),
                tuple((p & 7, p >> 8 & 31, p >> 16) for p in machine.dead_nodes))


def _registers(registers: dict[str, int], lut: list[int]) -> dict[str, int]:
    """Returns the register values for a node in the order of writing: routing tables first, the node's numbers last."""
    values = {f"R_NET_LUT{i}": tag for i, tag in enumerate(lut)}
    values |= {f"R_CHAN{i}": registers[f"R_CHAN{i}"] for i in range(6)}
    values |= {f"R_VCSEL{i}": registers[f"R_VCSEL{i}"] for i in range(6)}
    return values | {name: registers[name] for name in ("R_LUT_OVERRIDE", "R_PWHO", "R_LWHO")}


def _renumber(loads: dict[Node, dict[str, int]], shape: Place, number_format: int) -> None:
    """Changes the logical numbers, and moves the entries of the routing tables accordingly."""
    numbers = {values["R_LWHO"]: logical_number(n.place, shape, number_format) for n, values in loads.items()}
    for values in loads.values():
        moved = {f"R_NET_LUT{new}": values[f"R_NET_LUT{old}"] for old, new in numbers.items()}
        values.update(moved)
        values["R_LWHO"] = numbers[values["R_LWHO"]]
