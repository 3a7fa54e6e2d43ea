"""Positions of routers in a drawing: meshes and tori as grids and rings, more dimensions as planes, multistage networks
as columns, trees as rows, groups on a circle, a Slim Fly as two rows, random graphs and PolarFly as rings by hops,
other graphs by their channels."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from flitlab.layouts import Positions, circle, graph_positions, in_units

_COORDINATES = re.compile(r"\((\d+(?:,\d+)*)\)")
_NODE = re.compile(r"^(\d+)([ab]?)$")  # S-Connect: a node, and which of its two TICs
_GROUP = re.compile(r"\((leaf, |spine, |)(?:group|supernode) (\d+)\)$")
_LEVEL = re.compile(r"\(level (\d+)\)$")
_AT = re.compile(r"\(at (-?[\d.e+-]+),(-?[\d.e+-]+)\)$")  # topology.places
_STAGE = re.compile(r"^(\d+)\.(\d+)(?::(\d+))?$")

BENT = ("hyperx", "flattened_butterfly", "cmesh")  # kinds with links between distant routers of a row
BY_HOPS = ("polarfly", "jellyfish")  # kinds that are drawn as rings of equal distance from a router


def planes_of(names: Sequence[str], kind: str = "") -> list[int]:
    """Returns the plane of each router: its third coordinate if it has three, else 0. kind: of the topology."""
    found = [_COORDINATES.search(name) for name in names]
    if kind == "slim_fly" or not all(match and match[1].count(",") == 2 for match in found):
        return [0] * len(names)
    return [int(match[1].split(",")[2]) for match in found if match]


def positions_of(names: Sequence[str], kind: str, links: Sequence[tuple[int, int, int, int]],
                 shape: Sequence[int] = (), chip: Sequence[int] = ()) -> tuple[Positions, str]:
    """Returns the positions of the routers with these names, and a phrase for the layout.

    Positions are (x, y), with about one unit between neighbours. kind, shape: of the topology. links: (router, port,
    router, port) of every channel; routers are indices of ``names``. chip: routers of a chip in each dimension.
    """
    nodes = [_NODE.match(name) for name in names]
    if kind == "mesh" and shape and len(names) > 1 and all(nodes):
        return _node_grid([(int(m[1]), m[2] == "b") for m in nodes if m], shape)
    found = [_COORDINATES.search(name) for name in names]
    if all(found) and len(names) > 1:
        coordinates = [[int(c) for c in match[1].split(",")] for match in found if match]
        if kind == "slim_fly":
            return _halves(coordinates)
        if kind in BENT:
            return _bent_grid(coordinates)
        if len(coordinates[0]) == 1:
            wraps = kind in ("ring", "torus", "chiplet_torus")
            return (circle(len(names)), "a ring") if wraps else (_line(coordinates), "a row")
        places, layout = _grid(coordinates)
        if not chip or len(coordinates[0]) > 2:  # gaps between chips would be as wide as those between planes
            return places, layout
        return [(x + gap_before(c[:1], chip), y + gap_before(c[1:], chip[1:]))
                for (x, y), c in zip(places, coordinates, strict=True)], f"{layout} of chips"
    given = [_AT.search(name) for name in names]
    if all(given) and len(names) > 1:
        return _as_given([(float(m[1]), float(m[2])) for m in given if m], links), "given places"
    groups = [_GROUP.search(name) for name in names]
    if all(groups):
        return _groups([(int(m[2]), m[1]) for m in groups if m], 4.0 if kind == "polarstar" else 1.4)
    levels = [_LEVEL.search(name) for name in names]
    if all(levels):
        return _levels([int(m[1]) for m in levels if m])
    if kind in BY_HOPS and len(names) > 1:
        return _rings(len(names), links)
    if kind == "full_mesh":
        return circle(len(names)), "a circle"
    stages = [_STAGE.match(name) for name in names]
    if all(stages):
        return _columns([(int(m[1]), int(m[2]), int(m[3] or 0)) for m in stages if m])
    return graph_positions(len(names), ((a, b) for a, _, b, _ in links))


def _as_given(places: Positions, links: Sequence[tuple[int, int, int, int]]) -> Positions:
    """Returns positions in units of the mean length of the links. If routers are much closer to one another than the
    ends of links are, the unit is smaller, so that routers and channels do not cover one another."""
    in_means = in_units(places, ((a, b) for a, _, b, _ in links))
    unit = min(1.0, max(1.6 * _closest(in_means), 0.1))
    return [(x / unit, y / unit) for x, y in in_means]


def _closest(places: Positions) -> float:
    """Returns the least distance of two routers that are not at the same place."""
    # Routers are sorted along a slanted line, on which the routers of a grid have different places.
    along = sorted((0.85 * x + 0.52 * y, x, y) for x, y in places)
    closest = math.inf
    for i, (at, *place) in enumerate(along):
        for j in range(i + 1, len(along)):
            if along[j][0] - at > closest:
                break
            closest = min(closest, math.dist(place, along[j][1:]) or closest)
    return closest


def gap_before(coordinate: Sequence[int], chip: Sequence[int]) -> float:
    """Returns the width of the gaps between chips before a router, in one dimension."""
    return 0.5 * (coordinate[0] // chip[0]) if chip and coordinate else 0.0


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


def _bent_grid(coordinates: list[list[int]]) -> tuple[Positions, str]:
    """Like _grid(), but rows and columns are bent, so that links between routers of a row do not cover one another."""
    bent = 0.12
    extent = [max(c[d] for c in coordinates) + 1 for d in range(len(coordinates[0]))]

    def bow(c: list[int], d: int) -> float:
        return bent * (c[d] - (extent[d] - 1) / 2) ** 2 if d < len(c) else 0.0

    places, layout = (_line(coordinates), "a row") if len(extent) == 1 else _grid(coordinates)
    return [(x + bow(c, 1), y + bow(c, 0)) for (x, y), c in zip(places, coordinates, strict=True)], f"{layout}, bent"


def _halves(coordinates: list[list[int]]) -> tuple[Positions, str]:
    """Positions the two halves of a Slim Fly one above the other. A half is a row of subgroups. The routers of a
    subgroup are on an arc whose ends point away from the other half, so that links between the halves do not cross
    links of a subgroup."""
    q = max(c[0] for c in coordinates) + 1
    radius = (q - 1) / 2.8
    pitch = 2 * radius + 1.6
    apart = max(0.7 * pitch * (q - 1), 2 * pitch)
    places: Positions = []
    for y, x, half in coordinates:
        turn = 1.4 * (2 * y / (q - 1) - 1)  # the arc spans 2.8 radians
        up = apart / 2 - radius * math.cos(turn)
        places.append((x * pitch + radius * math.sin(turn), -up if half else up))
    return places, f"two halves of {q} subgroups"


def _rings(routers: int, links: Sequence[tuple[int, int, int, int]]) -> tuple[Positions, str]:
    """Positions the first of the routers with the fewest links in the centre, and the others on rings by their hops
    from it. On a ring, routers are in the order of the routers through which they are reached.

    In a PolarFly the centre is a quadric, a router whose point is orthogonal to itself. It has two rings: the centres
    of the paper's clusters, and outside each of them the routers of its cluster (Lakhotia et al., SC 2022).
    """
    joined: list[set[int]] = [set() for _ in range(routers)]
    for a, _, b, _ in links:
        joined[a].add(b)
        joined[b].add(a)
    centre = min(range(routers), key=lambda r: len(joined[r]))
    rings, left = [[centre]], set(range(routers)) - {centre}
    while left:
        ring = [r for parent in rings[-1] for r in _children(joined, parent, left)]
        ring = ring or sorted(left)  # routers that the drawn links do not reach
        left -= set(ring)
        rings.append(ring)
    places: Positions = [(0.0, 0.0)] * routers
    radius = 0.0
    for ring in rings[1:]:
        radius = max(radius + 2, 1.2 * len(ring) / (2 * math.pi))
        for i, router in enumerate(ring):
            turn = 2 * math.pi * (i + 0.5) / len(ring)
            places[router] = (radius * math.sin(turn), radius * math.cos(turn))
    return places, f"rings by hops from router {centre}"


def _children(joined: list[set[int]], parent: int, left: set[int]) -> list[int]:
    """Takes the neighbours of a router out of ``left`` and returns them: those with few links first, and two that are
    joined one after the other."""
    found: list[int] = []
    for child in sorted(joined[parent] & left, key=lambda r: (len(joined[r]), r)):
        pair = [child, *sorted(joined[child] & joined[parent] & left - {child})[:1]] if child in left else []
        left -= set(pair)
        found += pair
    return found


def _groups(routers: list[tuple[int, str]], room: float) -> tuple[Positions, str]:
    """Positions groups on a circle, and the routers of a group on a smaller circle; spine routers are nearer to the
    centre than leaf routers. room: between two groups of a circle of routers."""
    members: dict[int, dict[str, list[int]]] = {}
    for router, (group, part) in enumerate(routers):
        members.setdefault(group, {}).setdefault(part, []).append(router)
    size = max(len(list_of) for parts in members.values() for list_of in parts.values())
    inner = 1.2 * size / (2 * math.pi) if size > 1 else 0.0
    one_ring = all(set(parts) == {""} for parts in members.values())
    apart = 2 * inner + room if one_ring else size + 0.8
    outer = max(apart * len(members) / (2 * math.pi), apart)
    places: Positions = [(0.0, 0.0)] * len(routers)
    for group, parts in members.items():
        angle = math.pi / 2 - 2 * math.pi * group / len(members)
        out, along = (math.cos(angle), math.sin(angle)), (math.sin(angle), -math.cos(angle))
        for part, list_of in parts.items():
            for i, router in enumerate(list_of):
                if part:  # two rows across the radius
                    r, a = outer + (0.7 if part.startswith("leaf") else -0.7), i - (len(list_of) - 1) / 2
                else:
                    turn = 2 * math.pi * i / len(list_of)
                    r, a = outer + inner * math.cos(turn), inner * math.sin(turn)
                places[router] = (r * out[0] + a * along[0], r * out[1] + a * along[1])
    return places, f"{len(members)} groups on a circle"


def _levels(levels: list[int]) -> tuple[Positions, str]:
    """Positions the levels of a tree in rows, level 0 at the bottom, each as wide as the widest."""
    count = [levels.count(level) for level in range(max(levels) + 1)]
    widest, apart = max(count), max(2.0, max(count) / (2 * len(count)))
    first = [levels.index(level) for level in range(len(count))]
    return [((router - first[level] + 0.5) * widest / count[level], level * apart)
            for router, level in enumerate(levels)], f"{len(count)} levels, terminals at the lowest"


def _columns(routers: list[tuple[int, int, int]]) -> tuple[Positions, str]:
    """Positions stages from left to right, each as tall as the tallest."""
    most: dict[int, int] = {}
    for stage, number, _ in routers:
        most[stage] = max(most.get(stage, 0), number + 1)
    tallest = max(most.values())
    apart = max(2.0, tallest / len(most))
    return [(stage * apart + part * 0.3, -(number + 0.5) * tallest / most[stage]) for stage, number, part in routers], \
        f"{len(most)} stages as columns"
