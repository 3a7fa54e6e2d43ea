"""BookSim's lists of nodes and routers for ``topology = anynet`` (networks/anynet.cpp).

A line is ``router ID`` or ``node ID`` and what it is joined to: any number of ``router ID [latency]`` and ``node ID``.
Latencies are for one direction; a direction that no line names has a latency of 1 cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush

from flitlab._core import ConfigError


@dataclass(frozen=True)
class Listed:
    """The contents of a list, with its own numbers."""

    router_of: dict[int, int]  # node -> router
    latency: dict[tuple[int, int], int]  # from router, to router -> cycles
    routers: list[int]


@dataclass(frozen=True)
class Links:
    """A network of routers 0, 1, ... The first ``with_terminals`` ones have ``terminals_each`` terminals."""

    routers: int
    with_terminals: int
    terminals_each: int
    edges: list[tuple[int, int, int]]  # router, router, delay of the channels in cycles
    order: list[int]  # the routers in the order of their numbers in BookSim

    def text(self) -> bytes:
        """Returns the lines of ``topology.file``. Their columns are two routers and, where it is not 1, the delay."""
        alike = all(delay == 1 for _, _, delay in self.edges)
        return "".join(f"{a},{b}\n" if alike else f"{a},{b},{delay}\n" for a, b, delay in self.edges).encode()


def read_links(text: str, called: str) -> Links:
    """Reads a list. Raises ConfigError, which names the file as ``called``."""
    return _numbered(parse(text, called), called)


def parse(text: str, called: str) -> Listed:
    """Returns the contents of a list. Raises ConfigError, which names the file as ``called``."""
    router_of: dict[int, int] = {}  # node -> router
    latency: dict[tuple[int, int], int] = {}  # from router, to router -> cycles
    routers: dict[int, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{called}, line {number}"
        parts = _parts(line.split(), where)
        if not parts:
            continue
        (kind, first, _), others = parts[0], parts[1:]
        if kind == "router":
            routers.setdefault(first)
        for other_kind, other, cycles in others:
            if {kind, other_kind} == {"node"}:
                raise ConfigError(f"{where}: node {first} is joined to node {other}. Nodes are joined to routers only.")
            if "node" in (kind, other_kind):
                node, router = (first, other) if kind == "node" else (other, first)
                if router_of.setdefault(node, router) != router:
                    raise ConfigError(f"{where}: node {node} is at router {router_of[node]} and at router {router}. A "
                                      "node has one router.")
                if cycles is not None:
                    raise ConfigError(f"{where}: the latency {cycles} of node {node} is not translated. BookSim makes "
                                      f"a channel from router {router} to itself of it; leave it out.")
                routers.setdefault(router)
                continue
            if first == other:
                raise ConfigError(f"{where}: router {first} is joined to itself.")
            routers.setdefault(other)
            latency[first, other] = 1 if cycles is None else cycles
    if not routers:
        raise ConfigError(f"{called} names no routers.")
    return Listed(router_of, latency, sorted(routers))


def _parts(words: list[str], where: str) -> list[tuple[str, int, int | None]]:
    """Returns (router or node, number, latency) of a line's words."""
    parts: list[tuple[str, int, int | None]] = []
    position = 0
    while position < len(words):
        kind, number = words[position], words[position + 1] if position + 1 < len(words) else ""
        if kind not in ("router", "node") or not _is_number(number):
            raise ConfigError(f'{where}: "{kind} {number}" is not "router NUMBER" or "node NUMBER".')
        position += 2
        cycles = None
        if position < len(words) and _is_number(words[position]):
            cycles = int(words[position])
            if not parts or cycles < 1:
                raise ConfigError(f"{where}: a latency of {cycles} stands after {kind} {number}. A latency is at least "
                                  "1 and belongs to a channel, after its second end.")
            position += 1
        parts.append((kind, int(number), cycles))
    return parts


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 9


def _numbered(listed: Listed, called: str) -> Links:
    """Gives routers the numbers that flitlab needs: terminals in the order of their routers, an equal number at each,
    and routers without terminals last."""
    router_of, latency, routers = listed.router_of, listed.latency, listed.routers
    nodes: dict[int, list[int]] = {}
    for node in sorted(router_of):
        nodes.setdefault(router_of[node], []).append(node)
    if sorted(router_of) != list(range(len(router_of))) or not router_of:
        raise ConfigError(f"{called}: nodes have the numbers {', '.join(map(str, sorted(router_of))) or '(none)'}. "
                          "They must be 0, 1, 2 and so on.")
    each = {len(of_router) for of_router in nodes.values()}
    if len(each) > 1:
        raise ConfigError(f"{called}: routers have {' or '.join(map(str, sorted(each)))} nodes. flitlab needs an equal "
                          "number at each router that has any.")
    ordered = sorted(nodes, key=lambda router: nodes[router])
    if [node for router in ordered for node in nodes[router]] != list(range(len(router_of))):
        raise ConfigError(f"{called}: the nodes of router {ordered[0]} are "
                          f"{', '.join(map(str, nodes[ordered[0]]))}. flitlab needs consecutive numbers at a router.")
    number = {router: new for new, router in enumerate(ordered + [r for r in routers if r not in nodes])}
    edges = []
    for a, b in latency:
        back = latency.get((b, a), 1)
        if (b, a) in latency and number[a] > number[b]:
            continue  # listed from the other end
        if latency[a, b] != back:
            raise ConfigError(f"{called}: the channel from router {a} to router {b} takes {latency[a, b]} cycles, and "
                              f"the one back {back}. flitlab needs equal delays: write both, as in \"router {b} router "
                              f"{a} {latency[a, b]}\".")
        edges.append((*sorted((number[a], number[b])), latency[a, b]))
    return Links(len(routers), len(nodes), each.pop(), edges, [number[router] for router in routers])


def booksims_routes(links: Links) -> dict[tuple[int, int], int] | None:
    """Returns the next router of each (router, destination) in BookSim: on the path with the least latency; of several,
    the one that its search (Dijkstra's, with routers in the order of their numbers) finds first. Returns None if
    packets of these routes can wait for one another in a cycle, if two channels join the same routers, or if not all
    routers are joined."""
    delays: dict[int, dict[int, int]] = {router: {} for router in range(links.routers)}
    for a, b, cycles in links.edges:
        if b in delays[a]:
            return None
        delays[a][b] = delays[b][a] = cycles
    rank = {router: i for i, router in enumerate(links.order)}
    neighbours = [sorted(delays[router], key=rank.__getitem__) for router in range(links.routers)]
    next_router: dict[tuple[int, int], int] = {}
    for start in range(links.routers):
        distance, first, done = {start: 0}, {start: start}, set[int]()
        near = [(0, rank[start], start)]
        while near:
            _, _, router = heappop(near)
            if router in done:
                continue
            done.add(router)
            for neighbour in neighbours[router]:
                further = distance[router] + delays[router][neighbour]
                if further < distance.get(neighbour, further + 1):
                    distance[neighbour] = further
                    first[neighbour] = neighbour if router == start else first[router]
                    heappush(near, (further, rank[neighbour], neighbour))
        if not links.edges or len(done) < links.routers:
            return None
        next_router |= {(start, router): first[router] for router in first}
    return None if _has_cycle(next_router, links.with_terminals) else next_router


def _has_cycle(next_router: dict[tuple[int, int], int], destinations: int) -> bool:
    """Returns whether packets in channels, as pairs of routers, can wait for one another in a cycle."""
    waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for router, destination in next_router:
        after = next_router[router, destination]
        if destination < destinations and router != destination != after:
            waits.setdefault((router, after), set()).add((after, next_router[after, destination]))
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return True
    return False
