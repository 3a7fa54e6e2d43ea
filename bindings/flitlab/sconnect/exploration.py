"""Exploration of a fabric from one node, by control messages alone (S-Connect, 2.6, 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flitlab.network import Network
from flitlab.sconnect.console import Request
from flitlab.sconnect.controller import BringUpError, Controller

PORTS, SERIAL, VIRTUAL_CHANNELS = 6, 4, 2
# Limit of hops in a path to a TIC: one fewer than a message can have, so that one more hop can reach the TIC behind a
# port.
MOST_HOPS = 15
NO_ADDRESS = 0xFFFF
# No station or table entry has an address from here on, because fabrics have at most 16384 nodes.
FIRST_MARK = 0x4000
# Numbers of the registers that the explorer uses (kernels/routers/sconnect/control_message.hpp).
REGISTER = {"ports": 0, "came_by": 1, "address": 2, "enabled": 3}


@dataclass(frozen=True)
class HopPath:
    """The path of a message to a TIC: by tables to a station, if any, then through ports."""

    station: int | None = None
    hops: tuple[int, ...] = ()

    def __add__(self, port: int) -> HopPath:
        return HopPath(self.station, (*self.hops, port))


@dataclass
class FabricMap:
    """The explored part of a fabric. TICs are numbered in order of discovery; TIC 0 has the controlling computer.

    Ports 0 to 3 are serial channels, 4 and 5 parallel ports. TICs joined by parallel ports form a node, or a switch if
    they have no host. Nodes are numbered from 0; the number is the node's address."""

    # (TIC, port) -> (TIC, port) at the far end
    links: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hosts: list[list[int]] = field(default_factory=list)  # [TIC] ports with a host
    # (TIC, port) of ports with a wire but without a reply from the far end
    silent: list[tuple[int, int]] = field(default_factory=list)
    off: list[tuple[int, int]] = field(default_factory=list)  # (TIC, port) of ports that were switched off
    ways: list[HopPath] = field(default_factory=list)  # [TIC] path by which messages reach it
    stations: list[int] = field(default_factory=list)  # [address that the explorer gave to a station] TIC
    node_of: list[int | None] = field(default_factory=list)  # [TIC] node; None: part of a switch
    nodes: list[list[int]] = field(default_factory=list)  # [node] TICs

    @property
    def tics(self) -> int:
        return len(self.ways)

    @property
    def switches(self) -> int:
        """Number of TICs in switches."""
        return self.node_of.count(None)

    def ends(self) -> list[tuple[int, int, int, int]]:
        """Returns (TIC, port, TIC, port) of every channel, once for each direction."""
        return sorted((*here, *there) for here, there in self.links.items())

    def host_ports(self) -> list[tuple[int, int, int]]:
        """Returns (TIC, port, node) of every host port."""
        return [(tic, port, self.node_of[tic]) for tic, ports in enumerate(self.hosts) for port in ports]

    def stage(self, tic: int) -> int:
        """Returns the number of stations on the path to a TIC."""
        stages, station = 0, self.ways[tic].station
        while station:
            stages, station = stages + 1, self.ways[self.stations[station]].station
        return stages


class _Explorer:
    """Explores the ports of all TICs at a distance of n hops, then at n + 1 hops, and so on.

    To identify the TIC behind each port, the explorer writes a different address through each port, one after the
    other, and then reads all addresses back: ports that return the same address lead to the same TIC. It also reads the
    addresses of known TICs.
    """

    def __init__(self, controller: Controller):
        self.ask = controller
        self.map = FabricMap()
        self.parent: list[tuple[int, int] | None] = []  # [TIC] (TIC, port) from which it was found
        self.open: list[list[int]] = []  # [TIC] ports that lead to TICs and are switched on
        self._mark = 0

    def explore(self) -> FabricMap:
        self.ask.exchange([Request("write_register", REGISTER["address"], self._marks(1)[0])])
        level = self._add([(HopPath(), None)])
        while level:
            found = self._explore_ports(level)
            if level == [0] and found:
                self._open_station(0)
            level = self._add(found)
            self._shorten(level)
        self._number_nodes()
        return self.map

    def _marks(self, count: int) -> list[int]:
        """Returns ``count`` addresses to mark TICs with. Stations do not have them, and TICs at this distance or the
        previous one were not marked with them."""
        marks = [FIRST_MARK + (self._mark + i) % (NO_ADDRESS - FIRST_MARK) for i in range(count)]
        self._mark += count
        return marks

    def _read(self, register: str, ways: Sequence[HopPath]) -> list[int | None]:
        replies = self.ask.exchange([Request("read_register", REGISTER[register], 0, w.station, w.hops) for w in ways])
        return [r and r.value for r in replies]

    def _explore_ports(self, level: list[int]) -> list[tuple[HopPath, tuple[int, int]]]:
        """Adds the links of the TICs in ``level``, which have equal distance. Returns the new TICs: path, and TIC and
        port from which each was found."""
        fabric = self.map
        unexplored = [(tic, port) for tic in level for port in self.open[tic] if (tic, port) not in fabric.links]
        ways = [fabric.ways[tic] + port for tic, port in unexplored]
        acks = self.ask.exchange(
            [
                Request("write_register", REGISTER["address"], mark, w.station, w.hops)
                for mark, w in zip(self._marks(len(ways)), ways, strict=True)
            ]
        )
        self._switch_off([at for at, reply in zip(unexplored, acks, strict=True) if reply is None])
        unexplored, ways = ([x for x, reply in zip(these, acks, strict=True) if reply] for these in (unexplored, ways))
        address = self._read("address", ways + [fabric.ways[tic] for tic in level])
        input_port = self._read("came_by", ways)
        if None in address or None in input_port:
            raise BringUpError("a TIC has stopped replying: the fabric changed during exploration.")
        known = dict(zip(address[len(ways) :], level, strict=True))
        found = []
        for at, way, mark, port in zip(unexplored, ways, address[: len(ways)], input_port, strict=True):
            if mark not in known:
                known[mark] = fabric.tics + len(found)
                found.append((way, at))
            fabric.links[at] = (known[mark], port)
            fabric.links[known[mark], port] = at
        return found

    def _switch_off(self, ports: list[tuple[int, int]]) -> None:
        """Switches off ports without a reply from the far end, because messages sent through them would be repeated
        without end."""
        self.map.silent += ports
        for tic in {tic for tic, _ in ports}:
            self.open[tic] = [p for p in self.open[tic] if (tic, p) not in ports]
            enabled = sum(1 << p for p in self.open[tic] + self.map.hosts[tic])
            way = self.map.ways[tic]
            self.ask.exchange([Request("write_register", REGISTER["enabled"], enabled, way.station, way.hops)])

    def _add(self, found: list[tuple[HopPath, tuple[int, int] | None]]) -> list[int]:
        """Reads the ports of new TICs and adds these to the map. Returns their numbers."""
        first = self.map.tics
        ways = [way for way, _ in found]
        ports, enabled = self._read("ports", ways), self._read("enabled", ways)
        if None in ports or None in enabled:
            raise BringUpError("a TIC does not reply: the fabric changed during exploration.")
        for i, (way, parent) in enumerate(found):
            self.map.ways.append(way)
            self.parent.append(parent)
            wired = [p for p in range(PORTS) if ports[i] >> p & 1]
            self.open.append([p for p in wired if enabled[i] >> p & 1])
            self.map.off += [(first + i, p) for p in wired if not enabled[i] >> p & 1]
            self.map.hosts.append([p for p in range(PORTS) if ports[i] >> 8 + p & 1])
        return list(range(first, self.map.tics))

    def _shorten(self, level: list[int]) -> None:
        """If the paths in ``level`` are too long for further hops, makes the TICs from which these TICs were found
        stations, so that paths start there."""
        fabric = self.map
        stations: dict[int, int] = {}
        for tic in level:
            if len(fabric.ways[tic].hops) <= MOST_HOPS:
                continue
            parent, port = self.parent[tic]
            if parent not in stations:
                stations[parent] = self._open_station(parent)
            fabric.ways[tic] = HopPath(stations[parent], (port,))

    def _open_station(self, tic: int) -> int:
        """Makes a TIC a station: writes its address, and table entries for both directions in all TICs between it and
        the controlling computer. Returns the address; the controlling computer has address 0."""
        fabric = self.map
        address = len(fabric.stations)
        fabric.stations.append(tic)
        requests = []
        below = tic
        while self.parent[below] is not None:
            here, port = self.parent[below]
            for at, number, out, vc in ((here, address, port, 0), (below, 0, fabric.links[here, port][1], 1)):
                way = fabric.ways[at]
                option = VIRTUAL_CHANNELS * out + (vc if out < SERIAL else 0)  # parallel ports have no virtual channels
                requests.append(Request("write_table", number, 1 << option, way.station, way.hops))
            below = here
        way = fabric.ways[tic]
        requests.append(Request("write_register", REGISTER["address"], address, way.station, way.hops))
        for request, reply in zip(requests, self.ask.exchange(requests), strict=True):
            if reply is None or reply.value != request.value:
                raise BringUpError(f"TIC {tic} cannot be made a station: tables have no entry {address}.")
        return address

    def _number_nodes(self) -> None:
        fabric = self.map
        fabric.node_of = [None] * fabric.tics
        seen = set()
        for tic in range(fabric.tics):
            if tic in seen:
                continue
            joined = [tic]  # TICs joined by parallel ports
            for t in joined:
                joined += {fabric.links[t, p][0] for p in (4, 5) if (t, p) in fabric.links} - set(joined)
            seen.update(joined)
            if any(fabric.hosts[t] for t in joined):
                for t in joined:
                    fabric.node_of[t] = len(fabric.nodes)
                fabric.nodes.append(sorted(joined))


def map_fabric(net: Network, terminal: int = 0, controller: Controller | None = None) -> FabricMap:
    """Explores a fabric from the TIC of a terminal and returns its map. Ports without a reply from the far end are
    switched off. Raises BringUpError if the fabric changes."""
    return _Explorer(controller or Controller(net, terminal)).explore()
