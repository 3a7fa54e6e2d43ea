"""Positions of routers in a drawing: meshes and tori as grids and rings, more dimensions as planes, multistage networks
as columns, graphs by their channels."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from flitlab.layouts import Positions, circle, graph_positions

_COORDINATES = re.compile(r"\((\d+(?:,\d+)*)\)")
_NODE = re.compile(r"^(\d+)([ab]?)$")  # S-Connect: a node, and which of its two TICs
_STAGE = re.compile(r"^(\d+)\.(\d+)(?::(\d+))?$")


def planes_of(names: Sequence[str]) -> list[int]:
    """Returns the plane of each router: its third coordinate if it has three, else 0."""
    found = [_COORDINATES.search(name) for name in names]
    if not all(match and match[1].count(",") == 2 for match in found):
        return [0] * len(names)
    return [int(match[1].split(",")[2]) for match in found if match]


def positions_of(names: Sequence[str], kind: str, links: Sequence[tuple[int, int, int, int]],
                 shape: Sequence[int] = ()) -> tuple[Positions, str]:
    """Returns the positions of the routers with these names, and a phrase for the layout.

    Positions are (x, y), with about one unit between neighbours. kind, shape: of the topology. links: (router, port,
    router, port) of every channel; routers are indices of ``names``.
    """
    nodes = [_NODE.match(name) for name in names]
    if kind == "mesh" and shape and len(names) > 1 and all(nodes):
        return _node_grid([(int(m[1]), m[2] == "b") for m in nodes if m], shape)
    found = [_COORDINATES.search(name) for name in names]
    if all(found) and len(names) > 1:
        coordinates = [[int(c) for c in match[1].split(",")] for match in found if match]
        if len(coordinates[0]) == 1:
            return (circle(len(names)), "a ring") if kind in ("ring", "torus") else (_line(coordinates), "a row")
        return _grid(coordinates)
    stages = [_STAGE.match(name) for name in names]
    if all(stages):
        return _columns([(int(m[1]), int(m[2]), int(m[3] or 0)) for m in stages if m])
    return graph_positions(len(names), ((a, b) for a, _, b, _ in links))


def _node_grid(nodes: list[tuple[int, bool]], shape: Sequence[int]) -> tuple[Positions, str]:
    """Positions nodes of a mesh by number, the first dimension fastest; a node's second TIC is beside its first."""
    def coordinates(node: int) -> list[int]:
        found = []
        for k in shape:
            node, c = divmod(node, k)
            found.append(c)
        return [c for c, k in zip(found, shape, strict=True) if k > 1]

    all_of = [coordinates(node) for node, _ in nodes]
    places, layout = (_line(all_of), "a row") if len(all_of[0]) == 1 else _grid(all_of)
    return [(x + 0.3 * second, y - 0.3 * second) for (x, y), (_, second) in zip(places, nodes, strict=True)], layout


def _line(coordinates: list[list[int]]) -> Positions:
    return [(float(c[0]), 0.0) for c in coordinates]


def _grid(coordinates: list[list[int]]) -> tuple[Positions, str]:
    """Draws two dimensions as a grid and three as planes. With more than three, odd dimensions put such grids side by
    side, even dimensions above one another."""
    dimensions = len(coordinates[0])
    extent = [max(c[d] for c in coordinates) + 1 for d in range(dimensions)]
    if dimensions == 3:
        columns = min(extent[2], max(1, math.ceil(math.sqrt(extent[2] * extent[1] / extent[0]))))
        wide, high = extent[0] + 0.6, extent[1] + 0.6
        return [(x + z % columns * wide, y - z // columns * high) for x, y, z in coordinates], \
            f"{extent[2]} planes, z = 0 first" if extent[2] > 1 else "a plane"
    stride = [1.0, 1.0]
    for d in range(2, dimensions):
        stride.append(stride[d - 2] * extent[d - 2] + 0.8)
    places = [(sum(c[d] * stride[d] for d in range(0, dimensions, 2)),
               sum(c[d] * stride[d] for d in range(1, dimensions, 2))) for c in coordinates]
    return places, "a grid" if dimensions == 2 else f"{dimensions} dimensions as grids of grids"


def _columns(routers: list[tuple[int, int, int]]) -> tuple[Positions, str]:
    """Positions stages from left to right, each as tall as the tallest."""
    most: dict[int, int] = {}
    for stage, number, _ in routers:
        most[stage] = max(most.get(stage, 0), number + 1)
    tallest = max(most.values())
    apart = max(2.0, tallest / len(most))
    return [(stage * apart + part * 0.3, -(number + 0.5) * tallest / most[stage]) for stage, number, part in routers], \
        f"{len(most)} stages as columns"
