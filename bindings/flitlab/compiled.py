"""Compilation of traffic, routes and graphs given in Python into the text of a configuration's files: a traffic matrix,
a routing table, a list of edges. Error messages refer to the Python object that the user gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.arguments import shown, whole
from flitlab.settings import plain

MATRIX, TABLE, GRAPH = "traffic.matrix_file", "routing.table_file", "topology.file"
VALUES = "traffic.matrix_values"
FILE_NAMES = {MATRIX: "matrix", TABLE: "routes", GRAPH: "graph", "traffic.program_file": "program",
              "traffic.trace_file": "trace"}

# Destinations of one source, in one of four forms: a single terminal, a dictionary terminal -> weight, a weight for
# every terminal, or None if the source sends nothing.
Destinations: TypeAlias = "int | Mapping[int, float] | Sequence[float] | None"
# the function returns Destinations; the type is Any, because type checkers do not accept a NumPy array as Sequence
Pattern: TypeAlias = Callable[[int, int], Any]
Routes: TypeAlias = Callable[[int, int], "int | tuple[int, int | None] | Collection[int]"]


class Graph(Protocol):
    """The interface of a graph that flitlab uses; networkx graphs have it."""

    @property
    def nodes(self) -> Any: ...
    @property
    def edges(self) -> Any: ...
    def is_directed(self) -> bool: ...


def name_of(function: Any, otherwise: str) -> str:
    """Returns the name of a function for messages and files; ``otherwise`` if it has no usable name."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else otherwise


def matrix_text(pattern: Pattern | Any, terminals: int) -> bytes:
    """Returns lines "source,destination,weight" for a function, a dictionary by source, or an array of weights
    [source][destination], which may be a DataFrame or a sparse matrix. Raises ConfigError."""
    row_of, lines = rows_of(pattern, terminals), []
    for source in range(terminals):
        lines += [f"{source},{d},{w!r}\n" for d, w in row_of(source)] or [f"{source},{source},0\n"]
    return "".join(lines).encode()


def rows_of(pattern: Pattern | Any, terminals: int) -> Callable[[int], Iterator[tuple[int, float]]]:
    """Returns a function that yields a source's destinations and their weights, except weights of 0. pattern: as in
    :func:`matrix_text`. Both raise ConfigError."""
    if callable(pattern):
        function, call = pattern, name_of(pattern, "pattern") + "({}, " + str(terminals) + ")"
    elif isinstance(pattern, Mapping):
        for source in pattern:
            if (number := whole(source)) is None or not 0 <= number < terminals:
                raise ConfigError(f"with_pattern: {source!r} is not a source: terminals are numbered 0 to "
                                  f"{terminals - 1}. Sources that the dictionary leaves out send nothing.")
        function, call = lambda source, _: pattern.get(source), "source {}"
    else:
        rows = _array_rows(pattern, terminals)
        function, call = lambda source, _: rows[source], "row {}"
    return lambda source: _weights(function(source, terminals), terminals, f"with_pattern: {call.format(source)}")


def _array_rows(array: Any, terminals: int) -> list[Any]:
    pattern = array
    for conversion in ("to_numpy", "toarray"):
        array = getattr(array, conversion, lambda array=array: array)()
    if isinstance(array, (str, bytes)) or not hasattr(array, "__len__") or getattr(array, "ndim", 1) == 0:
        raise ConfigError(f"with_pattern({shown(pattern)}): it must be a function of source and number of terminals, a "
                          "dictionary by source, or an array of weights. Patterns by name are set as traffic.pattern.")
    rows = list(array)
    if len(rows) != terminals:
        raise ConfigError(f"with_pattern: {len(rows)} rows of weights for {terminals} terminals; there must be "
                          "one row for each terminal. Give a function of source and number of terminals, a dictionary "
                          "by source, or such an array.")
    return rows


def _weights(given: Any, terminals: int, where: str) -> Iterator[tuple[int, float]]:
    """Yields destinations and their weights, except weights of 0. Raises ConfigError."""
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
            raise ConfigError(f"{where} sends to {to} with weight {weight!r}: it must be a number that is not "
                              "negative.")
        if value:
            yield to, int(value) if value.is_integer() else value


@cache
def kinds_on_graphs() -> tuple[str, ...]:
    """Returns the router kinds that accept a graph. Each kind is tried with a small graph, because some kinds have the
    parameters for graphs but reject a graph."""
    return tuple(model["kind"] for model in _core.models() if _takes_graph(model["kind"]))


def _takes_graph(kind: str) -> bool:
    given = {"router.kind": kind, "topology.kind": "graph", GRAPH: "ring"}
    try:
        _core.Experiment(given, ".", {GRAPH: b"0,1\n1,2\n2,0\n"})
    except ConfigError:
        return False
    return True


def graph_text(graph: Graph) -> tuple[bytes, dict[str, Any]]:
    """Returns a line "a,b" for each edge of a graph, in the graph's order, with its delay and width if it has such
    attributes; and the parameters that nodes set: terminals and places. Nodes 0, 1, ... keep their numbers; other nodes
    are numbered in the graph's order. Nodes without terminals come last. Raises ConfigError."""
    if isinstance(graph, type) or not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise ConfigError(f"with_topology({shown(graph)}): it must be a networkx graph; networkx.Graph(edges) makes "
                          "one of a list of edges.")
    if graph.is_directed():
        raise ConfigError("with_topology: the graph is directed, and channels go both ways: give "
                          "graph.to_undirected().")
    nodes = list(graph.nodes)
    if len(nodes) < 2:
        raise ConfigError(f"with_topology: the graph has {len(nodes)} nodes; a network has two or more routers.")
    ordered = sorted(nodes) if set(nodes) == set(range(len(nodes))) else nodes
    ordered, parameters = _attributes(graph, ordered)
    numbers = {node: i for i, node in enumerate(ordered)}
    neighbours: dict[Any, set] = {node: set() for node in nodes}
    lines = []
    for edge in graph.edges:
        a, b = edge[:2]  # edges of a multigraph have a key, too
        if a == b:
            raise ConfigError(f"with_topology: node {a!r} is joined to itself.")
        neighbours[a].add(b)
        neighbours[b].add(a)
        attributes = graph.edges[edge] if isinstance(graph.edges, Mapping) else {}
        lines.append(f"{numbers[a]},{numbers[b]}{_own_channel(a, b, attributes)}\n")
    reached, ahead = {nodes[0]}, [nodes[0]]
    while ahead:
        fresh = neighbours[ahead.pop()] - reached
        reached |= fresh
        ahead += fresh
    for node in nodes:
        if node not in reached:
            raise ConfigError(f"with_topology: node {node!r} " + ("has no edge" if not neighbours[node] else
                              f"cannot be reached from node {nodes[0]!r}") + "; the graph must be connected.")
    return "".join(lines).encode(), parameters


def _attributes(graph: Graph, nodes: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Returns the nodes, those without terminals last, and the parameters that follow from their attributes: terminals
    (topology.concentration, topology.terminal_routers) and pos (topology.places)."""
    given = [dict(graph.nodes[node]) if isinstance(graph.nodes, Mapping) else {} for node in nodes]
    parameters: dict[str, Any] = {}
    if any("terminals" in attributes for attributes in given):
        counts = [whole(attributes.get("terminals", 0)) for attributes in given]
        for node, count in zip(nodes, counts, strict=True):
            if count is None or count < 0:
                raise ConfigError(f"with_topology: node {node!r} has terminals "
                                  f"{shown(graph.nodes[node].get('terminals'))}: it must be an integer, 0 or more.")
        sizes = sorted({count for count in counts if count})
        if len(sizes) != 1:
            raise ConfigError("with_topology: no node has terminals." if not sizes else "with_topology: nodes have "
                              f"{' and '.join(map(str, sizes))} terminals. All nodes with terminals must have equally "
                              "many; the others have 0, or no such attribute.")
        order = sorted(range(len(nodes)), key=lambda i: not counts[i])  # a stable sort
        parameters |= {"topology.concentration": sizes[0],
                       "topology.terminal_routers": sum(map(bool, counts)) % len(nodes)}
        nodes, given = [nodes[i] for i in order], [given[i] for i in order]
    if all("pos" in attributes for attributes in given):
        parameters["topology.places"] = [x for node, attributes in zip(nodes, given, strict=True)
                                         for x in _place(node, attributes["pos"])]
    return nodes, parameters


def _place(node: Any, given: Any) -> tuple[float, float]:
    try:
        x, y = map(float, given)
    except (TypeError, ValueError):
        x = y = math.nan
    limits = next(p for p in _core.parameters() if p["path"] == "topology.places")
    if not (limits["min"] <= x <= limits["max"] and limits["min"] <= y <= limits["max"]):
        raise ConfigError(f"with_topology: node {node!r} has pos {shown(given)}: it must be a pair of numbers, x and "
                          f"y, from {limits['min']:g} to {limits['max']:g}.")
    return x, y


def _own_channel(a: Any, b: Any, attributes: Mapping[str, Any]) -> str:
    """Returns the columns of topology.file for an edge's attributes delay and width: "" if it has neither."""
    given = [plain(attributes.get(name, 0)) for name in ("delay", "width")]  # 0: as the other channels
    for name, value in zip(("delay", "width"), given, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"with_topology: edge {a!r}, {b!r} has {name} {shown(value)}: it must be a number.")
        if name in attributes and not value > 0:
            raise ConfigError(f"with_topology: edge {a!r}, {b!r} has {name} {value!r}: it must be more than 0.")
    delay, width = given
    return f",{delay},{width}" if width else f",{delay}" if delay else ""


def links_text(core: _core.Experiment) -> bytes:
    """Returns a line "a,b" for the channels between routers a and b of any network, once for both directions. Delays
    and widths of dimensions, and of channels between chips or groups, become columns."""
    values = core.flat()
    lists = {name: values.get(f"topology.channel_{name}") for name in ("delay", "width")}
    ports = 1 if values["topology.kind"] == "hypercube" else 2  # in each dimension
    columns = {name: value for name, value in lists.items() if isinstance(value, list)}
    network = _core.Network(core, "cpu", 1, False)
    channels = {(router, port): {"delay": delay, "width": width}
                for router, port, delay, width in network.own_channels()}

    def line(a: int, port: int, b: int) -> str:
        if (own := channels.get((a, port))) is None:
            attributes = {name: value[port // ports] for name, value in columns.items()}
        else:
            attributes = {name: value for name, value in own.items() if value}
        return f"{a},{b}{_own_channel(a, b, attributes)}\n"

    return "".join(line(a, p, b) for a, p, b, q in network.links() if (a, p) < (b, q)).encode()


def ports_of(edges: bytes) -> list[dict[int, list[int]]]:
    """Returns [router] neighbour -> ports of the channels to it. Ports are numbered in the order of the edges."""
    neighbours: dict[int, list[int]] = {}
    for line in edges.decode().splitlines():
        if line.strip() and not line.startswith("#"):
            a, b = (int(float(x)) for x in line.split(",")[:2])
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
    ports: list[dict[int, list[int]]] = [{} for _ in range(max(neighbours, default=-1) + 1)]
    for router, far_routers in neighbours.items():
        for port, neighbour in enumerate(far_routers):
            ports[router].setdefault(neighbour, []).append(port)
    return ports


def table_text(routes: Routes, ports: Sequence[Mapping[int, Sequence[int]]], destinations: int) -> bytes:
    """Returns lines "router,destination,port[,layer]", one for each channel to the next router. destinations: number of
    routers with terminals, the first ones. Raises ConfigError."""
    if not callable(routes):
        raise ConfigError(f"with_routes({shown(routes)}): it must be a function of a router and a destination router "
                          "that returns the next router.")
    name, routers = name_of(routes, "routes"), range(len(ports))
    if adapts(routes):
        return _port_sets(routes, ports, destinations, name)
    lines, layered = [], None
    for destination in range(destinations):
        following: dict[int, int] = {}
        for router in routers:
            if router == destination:
                continue
            given = routes(router, destination)
            where = f"with_routes: {name}({router}, {destination}) is {shown(given)}"
            both = given if isinstance(given, tuple) and len(given) == 2 else (given, 0)
            following_router, layer = map(whole, (both[0], -1 if both[1] is None else both[1]))
            if following_router not in ports[router] or layer is None or (layer < 0 and both[1] is not None):
                near = ", ".join(map(str, sorted(ports[router])))
                raise ConfigError(f"{where}: it must be a neighbour of router {router} ({near}), or a pair of a "
                                  "neighbour and a layer of virtual channels, which is 0 or more, or None.")
            if layered not in (None, isinstance(given, tuple)):
                raise ConfigError(f"{where}: give a layer for every pair of routers, or no layers.")
            layered = isinstance(given, tuple)
            following[router] = following_router
            lines += [f"{router},{destination},{port}" + f",{layer}" * layered + "\n"
                      for port in ports[router][following_router]]
        _check_arrival(following, destination, name)
    return "".join(lines).encode()


def adapts(routes: Routes) -> bool:
    """Returns whether a function gives sets of next routers, among which packets choose."""
    return isinstance(routes(0, 1), (list, set, frozenset))


def _port_sets(routes: Routes, ports: Sequence[Mapping[int, Sequence[int]]], destinations: int, name: str) -> bytes:
    """Returns lines "router,destination,port" for each channel to a permitted router. The core finds loops."""
    lines = []
    for router in range(len(ports)):
        for destination in range(destinations):
            if router == destination:
                continue
            given = routes(router, destination)
            where = f"with_routes: {name}({router}, {destination}) is {shown(given)}"
            if not isinstance(given, (list, set, frozenset)) or not given:
                raise ConfigError(f"{where}: it must be a list or set of one or more neighbours, as for routers 0 and "
                                  "1.")
            for following_router in given:
                if whole(following_router) not in ports[router]:
                    near = ", ".join(map(str, sorted(ports[router])))
                    raise ConfigError(f"{where}: {following_router!r} is not a neighbour of router {router} ({near}).")
            for following_router in sorted({int(n) for n in given}):
                lines += [f"{router},{destination},{port}\n" for port in ports[router][following_router]]
    return "".join(lines).encode()


def _check_arrival(following: Mapping[int, int], destination: int, name: str) -> None:
    arriving = {destination}
    for source in following:
        way = [source]
        while way[-1] not in arriving and way[-1] not in way[:-1]:
            way.append(following[way[-1]])
        if way[-1] not in arriving:
            loop_text = " -> ".join(map(str, way[way.index(way[-1]):]))
            raise ConfigError(f"with_routes: {name} sends packets from router {source} to {destination} around a loop, "
                              f"so that they never arrive: {loop_text}.")
        arriving.update(way)
