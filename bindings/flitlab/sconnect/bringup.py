"""Bringing up a fabric of S-Connect from one node (S-Connect, 2.6, 3.4).

``bring_up(net, terminal)`` finds out by control messages alone what there is, computes routing tables, loads them in
band, reads them back, and calls every node by them. TICs start without tables (``routing.tables = "none"``). What it
knows of the fabric it has been told by replies; ``step``, and ``send_controls`` and ``take_replies`` of
:class:`flitlab.sconnect.Fabric`, are all that it uses.

A message names up to 16 hops. What is farther away is reached over *stations*: TICs that are given an address, and
entries for it in the tables on the way, along a spanning tree; a message goes to a station by tables and from there on
by hops. Requests take virtual channel 0 and replies virtual channel 1, so neither can block the other, and on a tree
none waits in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from flitlab._core import ConfigError
from flitlab.console import call_tool
from flitlab.network import Network
from flitlab.sconnect.console import Fabric, Reply, Request

PORTS, VIRTUAL_CHANNELS = 6, 2
MAILBOX = 16  # messages
TAGS = 256
# A way has room for one hop more, to look behind a port.
LONGEST_WAY = 15
NO_ADDRESS = 0xFFFF
FIRST_MARK = 0x4000  # addresses from here on are no station's, nor entries of a table: fabrics have up to 16384 nodes
# Registers (kernels/routers/sconnect/control_message.hpp).
REGISTER = {"ports": 0, "came_by": 1, "address": 2, "enabled": 3}


class BringUpError(RuntimeError):
    """The fabric does not do what it should: something changes while it is being explored, or tables are too small."""


@dataclass(frozen=True)
class Way:
    """How a message gets to a TIC: by tables to a station, if any, then over ports."""

    station: int | None = None
    hops: tuple[int, ...] = ()

    def __add__(self, port: int) -> Way:
        return Way(self.station, (*self.hops, port))


class Controller:
    """The controlling computer at a terminal: sends requests, many at once, and waits for their replies.

    window: requests outstanding at a time. patience: cycles without any reply after which those that are outstanding
    count as lost; None: three times the longest round trip so far, and 300 (a channel takes up to 60, S-Connect's
    slowest answers several times that). Messages bear one of 256 tags. The tag of a request that was given up is used
    again when 128 more have been given up; if its reply comes even later, it is taken for the reply to another request
    that names the same number.
    """

    def __init__(self, net: Network, terminal: int, window: int = 128, patience: int | None = None):
        if not 1 <= window <= TAGS // 2:
            raise ConfigError(f"window = {window}: 1 to {TAGS // 2} requests may be outstanding.")
        self.net, self.terminal, self.window, self.patience = net, terminal, window, patience
        self.fabric = Fabric(net)
        self.messages = self.lost = self.longest = 0
        self._free = list(range(TAGS))  # tags
        self._late: dict[int, None] = {}  # of requests given up: their replies may still come

    def exchange(self, requests: Iterable[Request]) -> list[Reply | None]:
        """Sends requests, in any order, and returns their replies in theirs; None: there was none in time.

        BringUpError if for twice that time no request has left: they wait for one another (Fabric.send_control).
        """
        waiting: list[tuple[int, Request]] = list(enumerate(requests))[::-1]
        numbers = [request.number for _, request in reversed(waiting)]
        replies: list[Reply | None] = [None] * len(waiting)
        outstanding: dict[int, tuple[int, int]] = {}  # tag -> place in replies, cycle
        quiet, moved = 0, True  # cycles without a reply; whether anything has gone or come since requests were given up
        net = self.net
        while waiting or outstanding:
            moved |= self._send(waiting, outstanding) > 0
            net.step(MAILBOX)
            quiet += MAILBOX
            for reply in self.fabric.take_replies(self.terminal):
                moved = True
                if reply.tag in outstanding and reply.number == numbers[outstanding[reply.tag][0]]:
                    quiet = 0
                    place, sent = outstanding.pop(reply.tag)
                    replies[place] = reply
                    self.longest = max(self.longest, net.cycle - sent)
                elif reply.tag not in self._late:
                    continue
                self._late.pop(reply.tag, None)
                self._free.append(reply.tag)
            if quiet >= (3 * self.longest + 300 if self.patience is None else self.patience):
                if not moved:
                    raise BringUpError(
                        f"{len(waiting)} requests cannot be sent: the mailbox of terminal {self.terminal} is full, and "
                        f"for {quiet} cycles nothing has left it and no reply has come. Requests whose hops lead round "
                        "a circle can wait for one another for ever: name ways along a tree, send fewer at a time "
                        "(window), or raise patience if the fabric is slow."
                    )
                moved = False
                self.lost += len(outstanding)
                self._late |= dict.fromkeys(outstanding)
                outstanding.clear()
                quiet = 0
        return replies

    def _send(self, waiting: list, outstanding: dict) -> int:
        """Returns how many have found a place in the mailbox."""
        while len(self._free) + len(outstanding) < self.window:  # those given up longest ago come no more
            tag = next(iter(self._late))
            del self._late[tag]
            self._free.append(tag)
        count = min(len(waiting), self.window - len(outstanding), MAILBOX)
        if count <= 0:
            return 0
        tags, self._free = self._free[:count], self._free[count:]
        next_ones = waiting[: -count - 1 : -1]
        requests = [r._replace(tag=tag) for tag, (_, r) in zip(tags, next_ones, strict=True)]
        taken = self.fabric.send_controls(self.terminal, requests)
        for tag, (place, _) in zip(tags[:taken], next_ones[:taken], strict=True):
            outstanding[tag] = (place, self.net.cycle)
        self._free += tags[taken:]
        self.messages += taken
        del waiting[len(waiting) - taken :]
        return taken


@dataclass
class FabricMap:
    """What has been found. TICs are numbered as they were found, from the one that the controlling computer is at;
    ports 0 to 3 are serial channels, 4 and 5 parallel ports. Joined by the latter, TICs are one node, or a switch if
    none of them has a host. Nodes are numbered from 0 as well: these are their addresses."""

    links: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # TIC and port -> the far end's
    hosts: list[list[int]] = field(default_factory=list)  # [TIC] ports that lead to one
    silent: list[tuple[int, int]] = field(default_factory=list)  # TIC and port: wired, and nobody answers
    off: list[tuple[int, int]] = field(default_factory=list)  # TIC and port: found switched off
    ways: list[Way] = field(default_factory=list)  # [TIC]
    stations: list[int] = field(default_factory=list)  # [address while exploring] TIC
    node_of: list[int | None] = field(default_factory=list)  # [TIC]
    nodes: list[list[int]] = field(default_factory=list)  # [node] TICs

    @property
    def tics(self) -> int:
        return len(self.ways)

    @property
    def switches(self) -> int:
        """TICs of switches."""
        return self.node_of.count(None)

    def ends(self) -> list[tuple[int, int, int, int]]:
        """TIC, port, TIC and port of every channel, once for each direction."""
        return sorted((*here, *there) for here, there in self.links.items())

    def host_ports(self) -> list[tuple[int, int, int]]:
        """TIC, port and node of every host port."""
        return [(tic, port, self.node_of[tic]) for tic, ports in enumerate(self.hosts) for port in ports]

    def stage(self, tic: int) -> int:
        """How many stations a message to a TIC goes over."""
        stages, station = 0, self.ways[tic].station
        while station:
            stages, station = stages + 1, self.ways[self.stations[station]].station
        return stages


@dataclass(frozen=True)
class Tables:
    entries: np.ndarray  # [TIC][node] options: bit 2 port + virtual channel
    tree: bool  # ways go over a spanning tree
    mean_hops: float  # from TIC to TIC, between two nodes
    stretch: float  # of the shortest ways


@dataclass(frozen=True)
class BringUp:
    fabric: FabricMap
    tables: Tables
    fault: str  # of the tables: how messages could wait in a circle or not arrive; empty: they cannot
    wrong: list[tuple[int, int]]  # TIC and node: entries that did not read back as they were written
    dumb: list[int]  # nodes that did not answer when called by the tables
    messages: dict[str, int]  # requests, by what for
    cycles: dict[str, int]  # routing cycles, by what for
    lost: int  # requests that had no reply

    @property
    def good(self) -> bool:
        return not (self.fault or self.wrong or self.dumb)


class _Explorer:
    """Looks behind the ports of all TICs that are so many hops away, then of those a hop farther, and so on.

    Who is behind a port? Every port's far end is told an address of its own, one after the other, and then all are
    asked for theirs: ports that hear the same have the same TIC behind them. TICs that are known are asked as well.
    """

    def __init__(self, controller: Controller):
        self.ask = controller
        self.map = FabricMap()
        self.above: list[tuple[int, int] | None] = []  # [TIC] TIC and port that it was found from
        self.open: list[list[int]] = []  # [TIC] ports that lead to TICs, and are on
        self._mark = 0

    def explore(self) -> FabricMap:
        self.ask.exchange([Request("write_register", REGISTER["address"], self._marks(1)[0])])
        level = self._add([(Way(), None)])
        while level:
            found = self._look_behind(level)
            if level == [0] and found:
                self._open_station(0)
            level = self._add(found)
            self._shorten(level)
        self._number_nodes()
        return self.map

    def _marks(self, count: int) -> list[int]:
        """Addresses that are no station's, and that nobody has had in this level or the last one."""
        marks = [FIRST_MARK + (self._mark + i) % (NO_ADDRESS - FIRST_MARK) for i in range(count)]
        self._mark += count
        return marks

    def _read(self, register: str, ways: Sequence[Way]) -> list[int | None]:
        replies = self.ask.exchange([Request("read_register", REGISTER[register], 0, w.station, w.hops) for w in ways])
        return [r and r.value for r in replies]

    def _look_behind(self, level: list[int]) -> list[tuple[Way, tuple[int, int]]]:
        """Fills in the links of a level of TICs. Returns the TICs that are new: ways, and where found from."""
        fabric = self.map
        behind = [(tic, port) for tic in level for port in self.open[tic] if (tic, port) not in fabric.links]
        ways = [fabric.ways[tic] + port for tic, port in behind]
        told = self.ask.exchange(
            [
                Request("write_register", REGISTER["address"], mark, w.station, w.hops)
                for mark, w in zip(self._marks(len(ways)), ways, strict=True)
            ]
        )
        self._give_up([at for at, reply in zip(behind, told, strict=True) if reply is None])
        behind, ways = ([x for x, reply in zip(these, told, strict=True) if reply] for these in (behind, ways))
        address = self._read("address", ways + [fabric.ways[tic] for tic in level])
        came_by = self._read("came_by", ways)
        if None in address or None in came_by:
            raise BringUpError("a TIC has answered, and then no more: the fabric changes while it is being explored.")
        known = dict(zip(address[len(ways) :], level, strict=True))
        found = []
        for at, way, mark, port in zip(behind, ways, address[: len(ways)], came_by, strict=True):
            if mark not in known:
                known[mark] = fabric.tics + len(found)
                found.append((way, at))
            fabric.links[at] = (known[mark], port)
            fabric.links[known[mark], port] = at
        return found

    def _give_up(self, ports: list[tuple[int, int]]) -> None:
        """Switches off ports behind which nobody answers: what they hold would go out again and again."""
        self.map.silent += ports
        for tic in {tic for tic, _ in ports}:
            self.open[tic] = [p for p in self.open[tic] if (tic, p) not in ports]
            enabled = sum(1 << p for p in self.open[tic] + self.map.hosts[tic])
            way = self.map.ways[tic]
            self.ask.exchange([Request("write_register", REGISTER["enabled"], enabled, way.station, way.hops)])

    def _add(self, found: list[tuple[Way, tuple[int, int] | None]]) -> list[int]:
        """New TICs are asked what they have. Returns their numbers."""
        first = self.map.tics
        ways = [way for way, _ in found]
        ports, enabled = self._read("ports", ways), self._read("enabled", ways)
        if None in ports or None in enabled:
            raise BringUpError("a TIC does not answer: the fabric changes while it is being explored.")
        for i, (way, above) in enumerate(found):
            self.map.ways.append(way)
            self.above.append(above)
            wired = [p for p in range(PORTS) if ports[i] >> p & 1]
            self.open.append([p for p in wired if enabled[i] >> p & 1])
            self.map.off += [(first + i, p) for p in wired if not enabled[i] >> p & 1]
            self.map.hosts.append([p for p in range(PORTS) if ports[i] >> 8 + p & 1])
        return list(range(first, self.map.tics))

    def _shorten(self, level: list[int]) -> None:
        """TICs whose ways are too long to look behind their ports are reached over stations: those that they were
        found from."""
        fabric = self.map
        stations: dict[int, int] = {}
        for tic in level:
            if len(fabric.ways[tic].hops) <= LONGEST_WAY:
                continue
            above, port = self.above[tic]
            if above not in stations:
                stations[above] = self._open_station(above)
            fabric.ways[tic] = Way(stations[above], (port,))

    def _open_station(self, tic: int) -> int:
        """Gives a TIC an address, and all TICs between it and the controlling computer entries for the ways there and
        back. Returns the address. That of the controlling computer itself is 0."""
        fabric = self.map
        address = len(fabric.stations)
        fabric.stations.append(tic)
        requests = []
        below = tic
        while self.above[below] is not None:
            here, port = self.above[below]
            for at, number, out, vc in ((here, address, port, 0), (below, 0, fabric.links[here, port][1], 1)):
                way = fabric.ways[at]
                requests.append(Request("write_table", number, 1 << VIRTUAL_CHANNELS * out + vc, way.station, way.hops))
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
            joined = [tic]  # over parallel ports
            for t in joined:
                joined += {fabric.links[t, p][0] for p in (4, 5) if (t, p) in fabric.links} - set(joined)
            seen.update(joined)
            if any(fabric.hosts[t] for t in joined):
                for t in joined:
                    fabric.node_of[t] = len(fabric.nodes)
                fabric.nodes.append(sorted(joined))


def map_fabric(net: Network, terminal: int = 0, controller: Controller | None = None) -> FabricMap:
    """Explores a fabric from the TIC of a terminal. Ports behind which nobody answers are switched off."""
    return _Explorer(controller or Controller(net, terminal)).explore()


def compute_tables(fabric: FabricMap) -> Tables:
    """Routing tables in which nobody waits in a circle, as short as they can be found."""
    found = call_tool("sconnect", "tables", tics=fabric.tics, links=fabric.ends(), hosts=fabric.host_ports())
    return Tables(np.array(found["entries"], np.uint16), found["tree"], found["mean_hops"], found["stretch"])


def table_fault(fabric: FabricMap, tables: Tables) -> str:
    """What is wrong with tables: a node that cannot be reached, or a circle of waiting. Empty: nothing."""
    return call_tool("sconnect", "table_fault", tics=fabric.tics, links=fabric.ends(), hosts=fabric.host_ports(),
                     entries=tables.entries.ravel())


def load_tables(
    net: Network,
    terminal: int,
    fabric: FabricMap,
    tables: Tables,
    tics: Iterable[int] | None = None,
    controller: Controller | None = None,
) -> list[int]:
    """Writes the tables and addresses of TICs, of all without. Returns those that did not answer.

    Those that most stations lead to are first: what is on the way to others keeps its entries until these are done.
    """
    ask = controller or Controller(net, terminal)
    silent = []
    for stage in _stages(fabric, tics):
        for tic in stage:
            way, hosted = fabric.ways[tic], bool(fabric.hosts[tic])
            requests = [
                Request("write_table", node, entry, way.station, way.hops)
                for node, entry in enumerate(tables.entries[tic].tolist())
            ]
            address = fabric.node_of[tic] if hosted else NO_ADDRESS
            requests.append(Request("write_register", REGISTER["address"], address, way.station, way.hops))
            if None in ask.exchange(requests):
                silent.append(tic)
    return silent


def verify_tables(
    net: Network,
    terminal: int,
    fabric: FabricMap,
    tables: Tables,
    tics: Iterable[int] | None = None,
    controller: Controller | None = None,
) -> list[tuple[int, int]]:
    """Reads tables of TICs back, of all without: TIC and node of every entry that is not what it should be.

    TICs that stations lead to can be read only until the tables of those before them have been loaded.
    """
    ask = controller or Controller(net, terminal)
    wrong = []
    for stage in _stages(fabric, tics):
        for tic in stage:
            way = fabric.ways[tic]
            replies = ask.exchange(
                [Request("read_table", node, 0, way.station, way.hops) for node in range(len(fabric.nodes))]
            )
            entries = tables.entries[tic].tolist()
            wrong += [(tic, node) for node, reply in enumerate(replies) if not reply or reply.value != entries[node]]
    return wrong


def _stages(fabric: FabricMap, tics: Iterable[int] | None) -> list[list[int]]:
    stages: dict[int, list[int]] = {}
    for tic in range(fabric.tics) if tics is None else tics:
        stages.setdefault(fabric.stage(tic), []).append(tic)
    return [stages[stage] for stage in sorted(stages, reverse=True)]


def call_nodes(net: Network, terminal: int, fabric: FabricMap, controller: Controller | None = None) -> list[int]:
    """Calls every node by the tables that have been loaded. Returns those that do not answer, or with another
    address."""
    ask = controller or Controller(net, terminal)
    replies = ask.exchange(
        [Request("read_register", REGISTER["address"], 0, node) for node in range(len(fabric.nodes))]
    )
    return [node for node, reply in enumerate(replies) if reply is None or reply.value != node]


def bring_up(net: Network, terminal: int = 0, window: int = 128, patience: int | None = None) -> BringUp:
    """Explores a fabric, computes its tables, loads them, reads them back, and calls every node."""
    ask = Controller(net, terminal, window, patience)
    messages: dict[str, int] = {}
    cycles: dict[str, int] = {}

    def counted(name: str, work):
        before = ask.messages, net.cycle
        result = work()
        messages[name] = messages.get(name, 0) + ask.messages - before[0]
        cycles[name] = cycles.get(name, 0) + net.cycle - before[1]
        return result

    fabric = counted("map", lambda: map_fabric(net, terminal, ask))
    tables = compute_tables(fabric)
    wrong: list[tuple[int, int]] = []
    for stage in _stages(fabric, None):
        counted("load", lambda: load_tables(net, terminal, fabric, tables, stage, ask))  # noqa: B023
        wrong += counted("verify", lambda: verify_tables(net, terminal, fabric, tables, stage, ask))  # noqa: B023
    ask.window = min(window, MAILBOX)  # by tables, requests and replies share virtual channels
    dumb = counted("call", lambda: call_nodes(net, terminal, fabric, ask))
    return BringUp(fabric, tables, table_fault(fabric, tables), wrong, dumb, messages, cycles, ask.lost)


def learn_addresses(net: Network) -> list[int]:
    """Every host asks its own TIC for its address, and tells all others, however hosts do that: it is not the
    fabric's business. Without, messages are addressed by the numbers of the plan. Returns the address of each
    terminal."""
    terminals, software = int(net.experiment.derived()["terminals"]), Fabric(net)
    for terminal in range(terminals):
        software.send_control(terminal, "read_register", REGISTER["address"])
    net.step(4)
    addresses = [software.take_replies(terminal)[0].value for terminal in range(terminals)]
    software.set_addresses(addresses)
    return addresses


def differences(net: Network, terminal: int, fabric: FabricMap) -> int:
    """Ends of channels in which a map differs from the network itself. For checking: nobody in the fabric can know.
    Channels that are switched off at either end are none."""
    home, routers = 0, int(net.experiment.derived()["routers"])
    while not any(port.to_terminal and port.peer == terminal for port in net.router(home).ports):
        home += 1
    off = {
        (tic, p)
        for tic in range(routers)
        for enabled in [Fabric(net).read_register(tic, "enabled")]
        for p in range(PORTS)
        if not enabled >> p & 1
    }
    there = {(a, p): (b, q) for a, p, b, q in net.links() if not off & {(a, p), (b, q)}}
    # Port by port from the common beginning, each TIC found is one of the network's.
    name = {0: home}
    order = [0]
    for tic in order:
        for port in range(PORTS):
            found, real = fabric.links.get((tic, port)), there.get((name[tic], port))
            if found and real and found[0] not in name:
                name[found[0]] = real[0]
                order.append(found[0])
    found = {((name.get(a), p), (name.get(b), q)) for (a, p), (b, q) in fabric.links.items()}
    return len(found ^ set(there.items()))
