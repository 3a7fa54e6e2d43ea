"""Where the routers of a network without coordinates are drawn: by its channels, as networkx lays a graph out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

Places = list[tuple[float, float]]  # in units of the distance between neighbours, about; y points up

MOST_BY_DISTANCE = 128  # routers; 256 would take 20 seconds
MANY = 512  # routers; beyond, 100 steps of springs would take 10 seconds


def graph_places(routers: int, links: Iterable[tuple[int, int]]) -> tuple[Places, str]:
    """Places of routers 0, 1, ..., and how they were found. links: routers at both ends of each channel.

    Few routers lie as far from one another as their hops are, as well as that can be (Kamada & Kawai 1989); many, or
    those of a network in several parts, by springs (Fruchterman & Reingold 1991), as all are without SciPy. A circle
    without networkx, or SciPy where springs need it too: from 500 routers on.
    """
    if routers == 1:
        return [(0.0, 0.0)], "one switch"
    try:
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(range(routers))
        graph.add_edges_from(links)
        found = _found(networkx, graph)
    except ImportError:  # of networkx, or of SciPy, which springs need from 500 routers on
        return circle(routers), "a circle (with networkx and SciPy installed: by its channels)"
    apart = [math.dist(found[a], found[b]) for a, b in graph.edges if a != b] or [1.0]
    unit = max(sum(apart) / len(apart), 1e-9)
    return [(float(found[i][0]) / unit, float(found[i][1]) / unit) for i in range(routers)], "a graph, by networkx"


def _found(networkx: Any, graph: Any) -> Any:
    """Places by router, in units of networkx."""
    routers = len(graph)
    if routers <= MOST_BY_DISTANCE and networkx.is_connected(graph):
        with suppress(ImportError):  # of SciPy
            return networkx.kamada_kawai_layout(graph, dist=dict(networkx.all_pairs_shortest_path_length(graph)))
    iterations = 100 if routers <= MANY else 30
    return networkx.spring_layout(graph, seed=1, k=2 / math.sqrt(routers), iterations=iterations)


def circle(routers: int) -> Places:
    """Clockwise from the top, neighbours at a distance of 1."""
    radius = max(1.0, routers / (2 * math.pi))
    turns = [2 * math.pi * i / routers for i in range(routers)]
    return [(radius * math.sin(turn), radius * math.cos(turn)) for turn in turns]
