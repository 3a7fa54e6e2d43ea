"""Traffic, routes and graphs that are given in Python, compiled once to the text of the file that the configuration
knows: a traffic matrix, a routing table, a list of edges. What a user gave wrong is told in the user's terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.arguments import shown, whole

MATRIX, TABLE, GRAPH = "traffic.matrix_file", "routing.table_file", "topology.file"
VALUES = "traffic.matrix_values"
FILE_NAMES = {MATRIX: "matrix", TABLE: "routes", GRAPH: "graph", "traffic.program_file": "program"}

# Of a source: its only destination, destinations with weights, a weight for every terminal, or None: it sends nothing.
Destinations: TypeAlias = "int | Mapping[int, float] | Sequence[float] | None"
Pattern: TypeAlias = Callable[[int, int], Any]  # of Destinations; a checker knows no NumPy array as a Sequence
Routes: TypeAlias = Callable[[int, int], "int | tuple[int, int]"]


class Graph(Protocol):
    """What is asked of a graph; networkx has it."""

    @property
    def nodes(self) -> Any: ...
    @property
    def edges(self) -> Any: ...
    def is_directed(self) -> bool: ...


def name_of(function: Any, otherwise: str) -> str:
    """What messages and files call a function: its own name if it has one."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else otherwise


def matrix_text(pattern: Pattern | Any, terminals: int) -> bytes:
    """Lines source,destination,weight of a function, of a dictionary by source, or of an array of weights
    [source][destination]; a DataFrame or a sparse matrix is one."""
    if callable(pattern):
        return _matrix(pattern, terminals, name_of(pattern, "pattern") + "({}, " + str(terminals) + ")")
    if isinstance(pattern, Mapping):
        for source in pattern:
            if (number := whole(source)) is None or not 0 <= number < terminals:
                raise ConfigError(f"with_pattern: {source!r} is no source: terminals are numbered 0 to "
                                  f"{terminals - 1}. Sources that the dictionary leaves out send nothing.")
        return _matrix(lambda source, _: pattern.get(source), terminals, "source {}")
    array = pattern
    for conversion in ("to_numpy", "toarray"):
        array = getattr(array, conversion, lambda array=array: array)()
    if isinstance(array, (str, bytes)) or not hasattr(array, "__len__") or getattr(array, "ndim", 1) == 0:
        raise ConfigError(f"with_pattern({shown(pattern)}): it must be a function of source and number of terminals, a "
                          "dictionary by source, or an array of weights. Patterns by name are set as traffic.pattern.")
    rows = list(array)
    if len(rows) != terminals:
        raise ConfigError(f"with_pattern: {len(rows)} rows of weights are not one for each of {terminals} "
                          "terminals. Give a function of source and number of terminals, a dictionary by source, or "
                          "such an array.")
    return _matrix(lambda source, _: rows[source], terminals, "row {}")


def _matrix(pattern: Pattern, terminals: int, call: str) -> bytes:
    lines = []
    for source in range(terminals):
        where = f"with_pattern: {call.format(source)}"
        weights = _weights(pattern(source, terminals), terminals, where)
        lines += [f"{source},{d},{w!r}\n" for d, w in weights] or [f"{source},{source},0\n"]
    return "".join(lines).encode()


def _weights(given: Any, terminals: int, where: str) -> Iterator[tuple[int, float]]:
    """Destinations and their weights, those of weight 0 left out."""
    if given is None:
        return
    if (only := whole(given)) is not None:
        pairs = [(only, 1)]
    elif isinstance(given, Mapping):
        pairs = list(given.items())
    elif hasattr(given, "__len__") and not isinstance(given, str) and len(given) == terminals:
        pairs = list(enumerate(given))
    else:
        raise ConfigError(f"{where} is {shown(given)}: it must be a terminal, a dictionary of terminals and weights, "
                          f"a weight for each of the {terminals} terminals, or None if it sends nothing.")
    for destination, weight in pairs:
        to = whole(destination)
        if to is None or not 0 <= to < terminals:
            raise ConfigError(f"{where} sends to {destination!r}: terminals are numbered 0 to {terminals - 1}.")
        try:
            value = float(weight)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise ConfigError(f"{where} sends to {to} with weight {weight!r}: it must be a number, not negative.")
        if value:
            yield to, int(value) if value.is_integer() else value


@cache
def kinds_on_graphs() -> tuple[str, ...]:
    """The router kinds that take a graph: a small one is tried, as some that share its parameters refuse it."""
    return tuple(model["kind"] for model in _core.models() if _takes_graph(model["kind"]))


def _takes_graph(kind: str) -> bool:
    given = {"router.kind": kind, "topology.kind": "graph", GRAPH: "ring"}
    try:
        _core.Experiment(given, ".", {GRAPH: b"0,1\n1,2\n2,0\n"})
    except ConfigError:
        return False
    return True


def graph_text(graph: Graph) -> bytes:
    """Lines a,b of a graph's edges, in its order. Nodes that are not the numbers 0, 1, ... count in their order."""
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise ConfigError(f"with_topology({shown(graph)}): it must be a networkx graph; networkx.Graph(edges) makes "
                          "one of a list of edges.")
    if graph.is_directed():
        raise ConfigError("with_topology: the graph is directed, and channels go both ways: give "
                          "graph.to_undirected().")
    nodes = list(graph.nodes)
    if len(nodes) < 2:
        raise ConfigError(f"with_topology: the graph has {len(nodes)} nodes; a network has two or more routers.")
    numbers = {node: i for i, node in enumerate(sorted(nodes) if set(nodes) == set(range(len(nodes))) else nodes)}
    neighbours: dict[Any, set] = {node: set() for node in nodes}
    lines = []
    for a, b, *_ in graph.edges:  # a multigraph's have a key
        if a == b:
            raise ConfigError(f"with_topology: node {a!r} is joined to itself.")
        neighbours[a].add(b)
        neighbours[b].add(a)
        lines.append(f"{numbers[a]},{numbers[b]}\n")
    reached, ahead = {nodes[0]}, [nodes[0]]
    while ahead:
        fresh = neighbours[ahead.pop()] - reached
        reached |= fresh
        ahead += fresh
    for node in nodes:
        if node not in reached:
            raise ConfigError(f"with_topology: node {node!r} " + ("has no edge" if not neighbours[node] else
                              f"cannot be reached from node {nodes[0]!r}") + "; the graph must be connected.")
    return "".join(lines).encode()


def links_text(core: _core.Experiment) -> bytes:
    """Lines a,b of the channels of any network."""
    links = _core.Network(core, "cpu", 1, False).links()
    return "".join(f"{a},{b}\n" for a, p, b, q in links if (a, p) < (b, q)).encode()


def ports_of(edges: bytes) -> list[dict[int, list[int]]]:
    """Per router: neighbour -> ports of the channels to it. Edges take ports in their order."""
    neighbours: dict[int, list[int]] = {}
    for line in edges.decode().splitlines():
        if line.strip() and not line.startswith("#"):
            a, b = (int(float(x)) for x in line.split(","))
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
    ports: list[dict[int, list[int]]] = [{} for _ in range(max(neighbours, default=-1) + 1)]
    for router, leads_to in neighbours.items():
        for port, neighbour in enumerate(leads_to):
            ports[router].setdefault(neighbour, []).append(port)
    return ports


def table_text(routes: Routes, ports: Sequence[Mapping[int, Sequence[int]]]) -> bytes:
    """Lines router,destination,port[,layer]: one for each channel to the next router."""
    if not callable(routes):
        raise ConfigError(f"with_routes({shown(routes)}): it must be a function of a router and a destination router "
                          "that gives the next router.")
    name, routers = name_of(routes, "routes"), range(len(ports))
    lines, layered = [], None
    for destination in routers:
        following: dict[int, int] = {}
        for router in routers:
            if router == destination:
                continue
            given = routes(router, destination)
            where = f"with_routes: {name}({router}, {destination}) is {shown(given)}"
            both = given if isinstance(given, tuple) and len(given) == 2 else (given, 0)
            following_router, layer = map(whole, both)
            if following_router not in ports[router] or layer is None or layer < 0:
                near = ", ".join(map(str, sorted(ports[router])))
                raise ConfigError(f"{where}: it must be a neighbour of router {router}, which are {near}, or a pair of "
                                  "one and a layer of virtual channels from 0.")
            if layered not in (None, isinstance(given, tuple)):
                raise ConfigError(f"{where}: give a layer for every pair of routers, or for none.")
            layered = isinstance(given, tuple)
            following[router] = following_router
            lines += [f"{router},{destination},{port}" + f",{layer}" * layered + "\n"
                      for port in ports[router][following_router]]
        _check_arrival(following, destination, name)
    return "".join(lines).encode()


def _check_arrival(following: Mapping[int, int], destination: int, name: str) -> None:
    arriving = {destination}
    for source in following:
        way = [source]
        while way[-1] not in arriving and way[-1] not in way[:-1]:
            way.append(following[way[-1]])
        if way[-1] not in arriving:
            circle = " -> ".join(map(str, way[way.index(way[-1]):]))
            raise ConfigError(f"with_routes: by {name} packets from router {source} to {destination} go around in a "
                              f"loop and never arrive: {circle}.")
        arriving.update(way)
