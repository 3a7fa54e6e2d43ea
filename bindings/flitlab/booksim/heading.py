"""The lines that BookSim prints about a network before it simulates it."""

from __future__ import annotations

from pathlib import Path

from flitlab.booksim.anynet import Listed, parse
from flitlab.booksim.networks import links_file
from flitlab.booksim.settings import Settings
from flitlab.toml import read_text


def heading(settings: Settings, called: str, folder: Path) -> list[str]:
    """Returns the lines for a network that flitlab has accepted."""
    kind, k, n = settings["topology"], settings.whole("k"), settings.whole("n")
    if kind == "fattree":
        return ["Fat Tree", f" k = {k} levels = {n}",
                *_sizes(2 * k, n * k ** (n - 1), 2 * k**n * (n - 1), k**n)]
    if kind == "flatfly":
        c, routers = settings.whole("c"), k**n
        return [" Flat Bufferfly ", f" k = {k} n = {n} c = {c}",
                *_sizes(c + (k - 1) * n, routers, routers * (k - 1) * n, routers * c)]
    if kind == "dragonflynew":
        groups, in_group = 2 * k * k + 1, 2 * k
        routers, ports = groups * in_group, in_group - 1 + k
        return [" Dragonfly ", f" p = {k} n = {n}", *_sizes(ports + k, routers, routers * ports, routers * k),
                f" # of groups (_g) = {groups}", f" # of routers per group (_a) = {in_group}", "Done links"]
    if kind == "anynet":
        path = links_file(settings, called, folder)
        return _lists(parse(read_text(path, str(path)), str(path)))
    return []


def _sizes(radix: int, routers: int, channels: int, nodes: int) -> list[str]:
    return [f" each switch - total radix =  {radix}", f" # of switches = {routers}", f" # of channels = {channels}",
            f" # of nodes ( size of network ) = {nodes}"]


def _lists(listed: Listed) -> list[str]:
    nodes: dict[int, list[int]] = {router: [] for router in listed.routers}
    for node in sorted(listed.router_of):
        nodes[listed.router_of[node]].append(node)
    latency = {(b, a): 1 for a, b in listed.latency} | listed.latency
    others = {router: sorted(b for a, b in latency if a == router) for router in listed.routers}
    first = ["========================Network File Parsed=================",
             "******************node listing**********************",
             *(f"Node {node}\tRouter {router}" for node, router in sorted(listed.router_of.items()))]
    to_nodes = ["", "****************router to node listing*************"]
    to_routers = ["", "*****************router to router listing************"]
    built = ["==========================Node to Router ====================="]
    joined = ["==========================Router to Router ====================="]
    link = 0
    for router in listed.routers:
        to_nodes += [f"Router {router}", *(f"\t Node {node} lat 1" for node in nodes[router])]
        to_routers += [f"Router {router}", *(f"\t Router {other} lat {latency[router, other]}"
                                             for other in others[router])]
        built += [f"router {router} radix {len(nodes[router]) + len(others[router])}",
                  *(f"\t connected to node {node} at outport {port} lat 1" for port, node in enumerate(nodes[router]))]
        joined.append(f"router {router}")
        for port, other in enumerate(others[router], len(nodes[router])):
            joined.append(f"\t connected to router {other} using link {link} at outport {port} "
                          f"lat {latency[router, other]}")
            link += 1
    return [*first, *to_nodes, *to_routers, *built, *joined,
            "========================== Routing table  ====================="]
