"""BookSim's topologies and routing functions, as flitlab's parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.anynet import Links, booksims_routes, read_links
from flitlab.booksim.settings import Settings
from flitlab.compiled import GRAPH, TABLE, ports_of, table_text
from flitlab.toml import read_text

# Topology -> routing function -> flitlab's algorithm and, for rings, its routing.vc_assignment.
_ROUTES: dict[str, dict[str, tuple[str, str]]] = {
    "mesh": {"dor": ("dimension_order", ""), "dim_order": ("dimension_order", ""), "xy_yx": ("o1turn", ""),
             "romm": ("romm", ""), "valiant": ("valiant", ""), "min_adapt": ("minimal_adaptive", "")},
    "torus": {"dim_order": ("dimension_order", "by_crossing"), "dim_order_bal": ("dimension_order", "two_datelines"),
              "valiant": ("valiant", "by_crossing"), "min_adapt": ("minimal_adaptive", "by_crossing")},
    "fly": {"dest_tag": ("dimension_order", "")},
    "fattree": {"nca": ("nearest_common_ancestor", ""), "anca": ("adaptive", "")},
    "flatfly": {"ran_min": ("minimal", ""), "ugal": ("ugal_l", "")},
    "cmesh": {"dor_no_express": ("dimension_order", ""), "xy_yx_no_express": ("o1turn", ""), "dor": ("table", "")},
    "dragonflynew": {"min": ("minimal", "")},
    "anynet": {"min": ("table", "")},
}
_NOT_READ = {
    "qtree": "flitlab has no such tree; fattree is similar",
    "tree4": "flitlab has no such tree; fattree is similar",
}

# Of a flattened butterfly: the most nodes in a row of a router whose channels take one cycle.
_NEAR = 3

# A router has at most 64 ports. A single router is a grid of one dimension, whose two ports lead nowhere.
_MOST_NODES_OF_A_ROUTER = 62

# Parameters, and texts of the files that they name.
Network = tuple[dict[str, Any], dict[str, bytes]]


def network(settings: Settings, called: str, folder: Path) -> Network:
    """Returns parameters of the topology and the routing. ``folder``: that of the configuration file. Raises
    ConfigError."""
    kind = str(settings["topology"])
    # Each topology reads some of these, and BookSim ignores the others.
    settings.use("k", "n", "c", "x", "y", "xr", "yr", "use_noc_latency", "network_file")
    if kind in _NOT_READ:
        raise ConfigError(f"{called}: topology = {kind} is not translated: {_NOT_READ[kind]}. "
                          f"{_those_read('topology', _ROUTES)}")
    if kind not in _ROUTES:
        raise ConfigError(f"{called}: topology = {kind} is not one of BookSim 2's. {_those_read('topology', _ROUTES)}")
    values, texts = _OF[kind](settings, called, folder)
    function = str(settings["routing_function"])
    algorithm, assignment = _ROUTES[kind].get(function, ("", ""))
    if not algorithm:
        raise ConfigError(f"{called}: routing_function = {function} is not translated for topology = {kind}. "
                          f"{_those_read('routing_function', _ROUTES[kind])}")
    values["routing.algorithm"] = algorithm
    if assignment:
        values["routing.vc_assignment"] = assignment
    if algorithm == "ugal_l":
        values["routing.threshold"] = 2
    if function == "anca":
        values["routing.selection"] = "two_random"
    if function == "min_adapt":
        values |= _adaptive(settings, kind)
    return values, texts


def _adaptive(settings: Settings, kind: str) -> dict[str, Any]:
    """Returns the parameters of what ``min_adapt`` is in BookSim: its set of requests keeps one port of each priority,
    so only the first of the shortest ports gets requests. Adaptive virtual channels have priority over the escape
    channel, which the allocator iSLIP ignores. In a torus one virtual channel is adaptive."""
    by_islip = str(settings["vc_allocator"]).startswith("islip")
    values: dict[str, Any] = {"routing.selection": "first_or_escape" if by_islip else "first",
                              "routing.stay_on_escape": True}
    return values | ({"routing.adaptive_vcs": 1} if kind == "torus" else {})


def _those_read(name: str, words: Any) -> str:
    return f"flitlab reads {name} = {', '.join(words)}."


def _cube(settings: Settings, called: str, folder: Path) -> Network:
    k, n, kind = settings.whole("k", 1), settings.whole("n", 1), str(settings["topology"])
    # A torus is folded, so that its channels are twice as long. Credits take as long as flits.
    delay = 2 if kind == "torus" and settings["use_noc_latency"] else 1
    return {"topology.kind": kind, "topology.shape": [k] * n, "topology.channel_delay": [delay] * n}, {}


def _fly(settings: Settings, called: str, folder: Path) -> Network:
    if settings["n"] != 1:
        raise ConfigError(f"{called}: topology = fly with n = {settings['n']} is not translated: flitlab has no "
                          "butterfly of several stages. With n = 1 it is a single router.")
    k = settings.whole("k", 1)
    if k > _MOST_NODES_OF_A_ROUTER:
        raise ConfigError(f"{called}: topology = fly with k = {k} is not translated: it is one router for {k} nodes, "
                          f"and a router of flitlab has at most 64 ports. Up to {_MOST_NODES_OF_A_ROUTER} nodes are "
                          "possible.")
    return {"topology.kind": "mesh", "topology.shape": [1], "topology.concentration": k}, {}


def _tree(settings: Settings, called: str, folder: Path) -> Network:
    k, n = settings.whole("k", 1), settings.whole("n", 2)
    return {"topology.kind": "fat_tree", "topology.concentration": k, "topology.children": [k] * (n - 1),
            "topology.parents": [k] * (n - 1)}, {}


def _placed(settings: Settings, called: str) -> tuple[int, int]:
    """Returns the routers in a row of BookSim's placement, and the nodes of a router in a row. Raises ConfigError."""
    x, y, xr, yr, c = (settings.whole(name, 1) for name in ("x", "y", "xr", "yr", "c"))
    if x != y or xr != yr or c != xr * yr:
        raise ConfigError(f"{called}: x = {x}, y = {y}, xr = {xr}, yr = {yr} and c = {c} do not fit one another. "
                          "BookSim accepts x = y, xr = yr and c = xr * yr.")
    return x, xr


def _flat_butterfly(settings: Settings, called: str, folder: Path) -> Network:
    x, xr = _placed(settings, called)
    k, n = settings.whole("k", 2), settings.whole("n", 1)
    values = {"topology.kind": "flattened_butterfly", "topology.shape": [k] * n, "topology.concentration": xr * xr}
    if not settings["use_noc_latency"]:
        return values, {}
    if n != 2 or x != k:
        raise ConfigError(f"{called}: n = {n} and x = {x} are not translated for topology = flatfly with "
                          f"use_noc_latency = 1: delays follow from the places of routers, and flitlab places them as "
                          f"BookSim does only if n = 2 and x = y = k = {k}. Use these, or use_noc_latency = 0.")
    if xr > _NEAR:
        raise ConfigError(f"{called}: xr = {xr} is not translated for topology = flatfly with use_noc_latency = 1: "
                          f"above {_NEAR}, channels of nodes take several cycles, and in flitlab they take one.")
    # The distance of two neighbours is that of their nodes: xr.
    return values | {"topology.channel_delay": xr, "topology.delay_by_distance": True}, {}


def _concentrated_mesh(settings: Settings, called: str, folder: Path) -> Network:
    _, xr = _placed(settings, called)
    k, n = settings.whole("k", 1), settings.whole("n", 1)
    if n != 2 or xr != 2:
        raise ConfigError(f"{called}: topology = cmesh with n = {n} and c = {xr * xr} is not one of BookSim 2's: use "
                          "n = 2, c = 4 and xr = yr = 2.")
    by_distance = bool(settings["use_noc_latency"])
    delay = xr if by_distance else 1
    if settings["routing_function"] != "dor":  # without express channels
        return {"topology.kind": "mesh", "topology.shape": [k] * n, "topology.channel_delay": [delay] * n,
                "topology.concentration": xr * xr}, {}
    if k % 2:
        raise ConfigError(f"{called}: k = {k} is not translated for topology = cmesh with routing_function = dor: "
                          "BookSim joins several routers to one express channel. Use an even number.")
    # Routers at the edge have a channel along the edge, over half of it.
    half = k // 2
    edges = {(r, r + step): delay for r in range(k * k) for step in (1, k) if step == k or (r + 1) % k
             if r + step < k * k}
    edges |= {(r, r + half * step): xr * half if by_distance else 1
              for i in range(half) for r, step in ((i, 1), (i + k * (k - 1), 1), (i * k, k), (i * k + k - 1, k))}
    lines = Links(k * k, k * k, xr * xr, [(a, b, cycles) for (a, b), cycles in sorted(edges.items())],
                  list(range(k * k))).text()

    def routes(router: int, destination: int) -> int:
        for own, to, other, step in ((router % k, destination % k, router // k, 1),
                                     (router // k, destination // k, router % k, k)):
            if own != to:
                if abs(own - to) >= half and other in (0, k - 1):
                    return router + (half if own < half else -half) * step
                return router + (step if own < to else -step)
        return router

    return {"topology.kind": "graph", "topology.concentration": xr * xr, GRAPH: "cmesh", TABLE: "dor"}, {
        GRAPH: lines, TABLE: table_text(routes, ports_of(lines), k * k)}


def _dragonfly(settings: Settings, called: str, folder: Path) -> Network:
    k = settings.whole("k", 1)
    if settings["n"] != 1:
        raise ConfigError(f"{called}: topology = dragonflynew with n = {settings['n']} is not one of BookSim 2's: use "
                          "n = 1.")
    # k terminals and k global channels for each of the 2k routers of a group. The delays do not depend on
    # use_noc_latency.
    return {"topology.kind": "dragonfly", "topology.concentration": k, "topology.group_routers": 2 * k,
            "topology.global_channels": k, "topology.groups": 2 * k * k + 1, "topology.arrangement": "absolute",
            "topology.channel_delay": [10, 100], "routing.ejection_vcs": "class"}, {}


def used_vcs(settings: Settings) -> int:
    """Returns the number of virtual channels that packets use between routers."""
    number = settings.whole("num_vcs", 1)
    # Packets of a dragonfly use virtual channel 0 before the global channel, and 1 from it on. The others hold packets
    # only in the channels from terminals.
    return min(number, 2) if settings["topology"] == "dragonflynew" else number


def links_file(settings: Settings, called: str, folder: Path) -> Path:
    """Returns the file of ``network_file``. Raises ConfigError if there is none."""
    if not settings["network_file"]:
        raise ConfigError(f"{called}: topology = anynet needs network_file, the list of nodes and routers.")
    return file_of(settings, called, folder, "network_file")


def file_of(settings: Settings, called: str, folder: Path, name: str) -> Path:
    """Returns the file that a parameter names. BookSim looks in the current folder only."""
    given = Path(str(settings[name]))
    places = [folder / given, given, folder / given.name]  # the last for paths of another machine
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise ConfigError(f"{called}: {name} = {settings[name]} cannot be read: there is no such file beside the "
                          "configuration or in the current folder.")
    return path


def _any(settings: Settings, called: str, folder: Path) -> Network:
    path = links_file(settings, called, folder)
    links = read_links(read_text(path, str(path)), str(path))
    values: dict[str, Any] = {"topology.kind": "graph", "topology.concentration": links.terminals_each,
                              GRAPH: path.name}
    if links.with_terminals < links.routers:
        values["topology.terminal_routers"] = links.with_terminals
    text = links.text()
    # RapidChiplet's table replaces these routes.
    next_router = None if settings.differs("routing_table_type") else booksims_routes(links)
    if next_router is None:  # flitlab chooses routes that cannot deadlock
        return values, {GRAPH: text}

    def routes(router: int, destination: int) -> int:
        return next_router[router, destination]

    return values | {TABLE: path.name}, {GRAPH: text, TABLE: table_text(routes, ports_of(text), links.with_terminals)}


_OF: dict[str, Callable[[Settings, str, Path], Network]] = {
    "mesh": _cube, "torus": _cube, "fly": _fly, "fattree": _tree, "flatfly": _flat_butterfly,
    "dragonflynew": _dragonfly, "anynet": _any, "cmesh": _concentrated_mesh,
}


def numbers_rows(settings: Settings) -> bool:
    """Returns whether BookSim numbers the nodes row by row over the whole network. flitlab numbers them router by
    router."""
    return settings["topology"] in ("flatfly", "cmesh")


def routing_differences(settings: Settings, values: dict[str, Any]) -> list[str]:
    """Returns how the routes differ from BookSim's, or from what a user of BookSim may expect. ``values``: flitlab's
    parameters of the network."""
    found = []
    if settings["routing_function"] == "min_adapt":
        found.append("routing_function = min_adapt does not adapt to traffic, as in BookSim: packets request only the "
                     "port of their lowest dimension. In flitlab, minimal_adaptive adapts if routing.selection, "
                     "routing.stay_on_escape and routing.adaptive_vcs have their default values")
    if settings["topology"] == "anynet" and TABLE not in values and not settings.differs("routing_table_type"):
        found.append("routes of this graph differ from BookSim's, whose packets could wait for one another in a cycle")
    return found


def terminals(settings: Settings, node: np.ndarray) -> np.ndarray:
    """Returns flitlab's terminals of BookSim's nodes."""
    if not numbers_rows(settings):
        return node
    x = settings.whole("x" if settings["topology"] == "flatfly" else "k", 1)
    xr, yr = (settings.whole(name, 1) for name in ("xr", "yr"))
    column, row = node % (x * xr), node // (x * xr)
    return (row // yr * x + column // xr) * xr * yr + row % yr * xr + column % xr
