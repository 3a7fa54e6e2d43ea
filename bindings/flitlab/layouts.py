"""Layout of drawings for networks without coordinates, computed by networkx from their channels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

Positions = list[tuple[float, float]]  # (x, y), about one unit between neighbours; y points up

MOST_BY_DISTANCE = 128  # largest number of routers for the layout by distance; 256 routers would take 20 seconds
# Routers up to which the spring layout has 100 iterations; with more routers these would take over 10 seconds.
MANY = 512


def graph_positions(routers: int, links: Iterable[tuple[int, int]]) -> tuple[Positions, str]:
    """Returns the positions of routers 0, 1, ... and the name of the layout. links: routers at both ends of each
    channel.

    Small connected networks: distances in the drawing approximate numbers of hops (Kamada & Kawai 1989); this needs
    SciPy. Large or unconnected networks, and all networks without SciPy: a spring layout (Fruchterman & Reingold 1991).
    The layout is a circle if networkx is missing, or if SciPy is missing and there are 500 routers or more, because the
    spring layout then needs SciPy.
    """
    if routers == 1:
        return [(0.0, 0.0)], "one switch"
    try:
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(range(routers))
        graph.add_edges_from(links)
        found = _found(networkx, graph)
    except ImportError:  # networkx is missing, or SciPy, which the spring layout needs from 500 routers on
        return circle(routers), "a circle (install networkx and SciPy for a layout by channels)"
    places = [(float(found[i][0]), float(found[i][1])) for i in range(routers)]
    return in_units(places, graph.edges), "a graph, by networkx"


def in_units(places: Positions, links: Iterable[tuple[int, int]]) -> Positions:
    """Returns positions in units of the mean length of the links."""
    lengths = [math.dist(places[a], places[b]) for a, b in links if a != b] or [1.0]
    unit = max(sum(lengths) / len(lengths), 1e-9)
    return [(x / unit, y / unit) for x, y in places]


def _found(networkx: Any, graph: Any) -> Any:
    """Returns positions by router, in networkx's unit."""
    routers = len(graph)
    if routers <= MOST_BY_DISTANCE and networkx.is_connected(graph):
        with suppress(ImportError):  # SciPy is missing
            return networkx.kamada_kawai_layout(graph, dist=dict(networkx.all_pairs_shortest_path_length(graph)))
    iterations = 100 if routers <= MANY else 30
    return networkx.spring_layout(graph, seed=1, k=2 / math.sqrt(routers), iterations=iterations)


def circle(routers: int) -> Positions:
    """Returns positions clockwise from the top, one unit between neighbours."""
    radius = max(1.0, routers / (2 * math.pi))
    turns = [2 * math.pi * i / routers for i in range(routers)]
    return [(radius * math.sin(turn), radius * math.cos(turn)) for turn in turns]
