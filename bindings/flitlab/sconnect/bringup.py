"""Bringing up a fabric of S-Connect from one node (S-Connect, 2.6, 3.4).

``bring_up(net, terminal)`` explores the fabric by control messages alone, computes routing tables, loads them in band,
reads them back, and tests that every node can be reached by them. TICs start without tables
(``routing.tables = "none"``). All its knowledge of the fabric comes from replies: it uses only ``net.step``, and
``send_controls`` and ``take_replies`` of :class:`flitlab.sconnect.Fabric`.

A message has up to 16 hops. More distant TICs are reached through *stations*: TICs with an address, for which the
tables along a spanning tree have entries. A message is routed to a station by tables, and from there by hops. Requests
use virtual channel 0 and replies virtual channel 1, so neither can block the other, and a tree has no cycles.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flitlab._core import ConfigError, RunError
from flitlab.console import call_tool
from flitlab.experiment import load
from flitlab.network import Network
from flitlab.sconnect.console import Fabric, Request
from flitlab.sconnect.controller import MAILBOX, BringUpError, Controller
from flitlab.sconnect.exploration import FIRST_MARK, NO_ADDRESS, PORTS, REGISTER, FabricMap, map_fabric

__all__ = [
    "FIRST_MARK", "REGISTER", "BringUp", "BringUpError", "Controller", "FabricMap", "Tables", "bring_up", "call_nodes",
    "compute_tables", "differences", "learn_addresses", "load_tables", "map_fabric", "table_fault", "verify_tables",
]


@dataclass(frozen=True)
class Tables:
    entries: np.ndarray  # [TIC][node] options, one bit each: bit number 2 * port + virtual channel
    tree: bool  # whether all routes follow a spanning tree
    mean_hops: float  # hops between TICs, mean over pairs of nodes
    stretch: float  # mean_hops divided by the mean length of shortest paths


@dataclass(frozen=True)
class BringUp:
    fabric: FabricMap
    tables: Tables
    fault: str  # fault of the tables: a possible deadlock or an unreachable node; "": no fault
    wrong: list[tuple[int, int]]  # (TIC, node) of entries that read back with another value
    dumb: list[int]  # nodes that did not reply when addressed by the tables
    messages: dict[str, int]  # requests by step: map, load, verify, call
    cycles: dict[str, int]  # routing cycles by step
    lost: int  # requests without a reply

    @property
    def good(self) -> bool:
        return not (self.fault or self.wrong or self.dumb)


def compute_tables(fabric: FabricMap) -> Tables:
    """Returns deadlock-free routing tables, with routes as short as the search finds."""
    found = call_tool("sconnect", "tables", tics=fabric.tics, links=fabric.ends(), hosts=fabric.host_ports())
    return Tables(np.array(found["entries"], np.uint16), found["tree"], found["mean_hops"], found["stretch"])


def table_fault(fabric: FabricMap, tables: Tables) -> str:
    """Returns the fault of tables: an unreachable node, or a cycle of queues that can deadlock; "" without a fault."""
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
    """Writes the tables and addresses of ``tics`` (default: all). Returns the TICs that did not reply.

    TICs with the most stations on the path to them come first. So the TICs on the path to a TIC keep their old entries,
    which route to the stations, until that TIC is loaded.
    """
    ask = controller or Controller(net, terminal)
    unanswered = []
    for stage in _by_station_count(fabric, tics):
        for tic in stage:
            way, hosted = fabric.ways[tic], bool(fabric.hosts[tic])
            requests = [
                Request("write_table", node, entry, way.station, way.hops)
                for node, entry in enumerate(tables.entries[tic].tolist())
            ]
            address = fabric.node_of[tic] if hosted else NO_ADDRESS
            requests.append(Request("write_register", REGISTER["address"], address, way.station, way.hops))
            if None in ask.exchange(requests):
                unanswered.append(tic)
    return unanswered


def verify_tables(
    net: Network,
    terminal: int,
    fabric: FabricMap,
    tables: Tables,
    tics: Iterable[int] | None = None,
    controller: Controller | None = None,
) -> list[tuple[int, int]]:
    """Reads back the tables of ``tics`` (default: all). Returns (TIC, node) of every wrong entry.

    A TIC with stations on its path can be read only until the tables of the TICs on that path are loaded.
    """
    ask = controller or Controller(net, terminal)
    wrong = []
    for stage in _by_station_count(fabric, tics):
        for tic in stage:
            way = fabric.ways[tic]
            replies = ask.exchange(
                [Request("read_table", node, 0, way.station, way.hops) for node in range(len(fabric.nodes))]
            )
            entries = tables.entries[tic].tolist()
            wrong += [(tic, node) for node, reply in enumerate(replies) if not reply or reply.value != entries[node]]
    return wrong


def _by_station_count(fabric: FabricMap, tics: Iterable[int] | None) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for tic in range(fabric.tics) if tics is None else tics:
        groups.setdefault(fabric.stage(tic), []).append(tic)
    return [groups[stage] for stage in sorted(groups, reverse=True)]


def call_nodes(net: Network, terminal: int, fabric: FabricMap, controller: Controller | None = None) -> list[int]:
    """Sends a request to every node, routed by the loaded tables. Returns the nodes that do not reply, or reply with
    another address."""
    ask = controller or Controller(net, terminal)
    replies = ask.exchange(
        [Request("read_register", REGISTER["address"], 0, node) for node in range(len(fabric.nodes))]
    )
    return [node for node, reply in enumerate(replies) if reply is None or reply.value != node]


def bring_up(net: Network, terminal: int = 0, window: int = 128, patience: int | None = None) -> BringUp:
    """Explores a fabric, computes its tables, loads them, reads them back, and sends a request to every node.

    terminal: number of the terminal that is the controlling computer. window, patience: as in :class:`Controller`.
    Raises BringUpError."""
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
    for stage in _by_station_count(fabric, None):
        counted("load", lambda: load_tables(net, terminal, fabric, tables, stage, ask))  # noqa: B023
        wrong += counted("verify", lambda: verify_tables(net, terminal, fabric, tables, stage, ask))  # noqa: B023
    # Small window, because requests and replies routed by tables share virtual channels and could deadlock.
    ask.window = min(window, MAILBOX)
    dumb = counted("call", lambda: call_nodes(net, terminal, fabric, ask))
    return BringUp(fabric, tables, table_fault(fabric, tables), wrong, dumb, messages, cycles, ask.lost)


def learn_addresses(net: Network) -> list[int]:
    """Reads each host's address from its TIC and sets it for all other hosts, so that messages use these addresses
    instead of the plan's numbers. How hosts exchange addresses is not emulated. Returns the address of each
    terminal."""
    terminals, software = int(net.experiment.derived()["terminals"]), Fabric(net)
    for terminal in range(terminals):
        software.send_control(terminal, "read_register", REGISTER["address"])
    net.step(4)
    addresses = [software.take_replies(terminal)[0].value for terminal in range(terminals)]
    software.set_addresses(addresses)
    return addresses


def differences(net: Network, terminal: int, fabric: FabricMap) -> int:
    """Returns the number of channel ends in which a map differs from the network. For tests, because it uses the plan.
    Channels that are switched off at either end do not count."""
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
    # Match TICs of the map with TICs of the network: start at the controlling computer's TIC in both, and follow ports
    # of equal number.
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


def main(arguments: list[str]) -> int:
    """Brings up the fabric of a configuration, runs it for 20,000 more cycles, and prints the results. Returns the exit
    code."""
    if len(arguments) != 1:
        print("usage: python -m flitlab.sconnect.bringup CONFIG", file=sys.stderr)
        return 2
    try:
        net = Network(load(arguments[0]))
        report = bring_up(net)
        if not report.good:
            why = report.fault or "some table entries or nodes reply with wrong values or not at all"
            raise RunError(f"the fabric did not come up: {why}.")
        print(f"{report.fabric.tics} TICs mapped, loaded and checked in {sum(report.cycles.values())} cycles by "
              f"{sum(report.messages.values())} messages")
        learn_addresses(net)
        net.step(20000)
        net.check()
    except (ConfigError, RunError) as error:
        print(f"flitlab: {error}", file=sys.stderr)
        return 2 if isinstance(error, ConfigError) else 3
    print(f"{net.totals['packets_delivered']} packets delivered by cycle {net.cycle}, "
          f"{net.totals['packets_misdelivered']} to wrong nodes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
