"""Prints docs/networks.md: a table of all kinds of networks with their default sizes, computed by flitlab, and a
section for each. `networks_page.py --pictures` also draws them into docs/images.

    python tests/tools/networks_page.py --pictures > docs/networks.md
"""

import argparse
import io
import json
import math
import re
import textwrap
import warnings
from pathlib import Path

from networks_text import ALGORITHMS, KINDS, SHIPPED

import flitlab as fl
from flitlab import _core

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
# Kinds with a floor plan: routers at the coordinates of their names. Rings of "folded" ones are folded.
FLOOR_PLANS = ("mesh", "hypercube", "chiplet_mesh", "chiplet_torus", "cmesh", "hyperx", "flattened_butterfly")
FOLDED = ("torus", "ring")
# Petersen's graph: a pentagon, and a pentagram in it
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 7), (7, 9), (9, 6), (6, 8),
         (8, 5)]


def experiment(kind: str, **settings) -> fl.Experiment:
    """Returns an experiment on the default network of a kind; for a graph, on Petersen's."""
    values = {"topology.kind": kind} | settings
    if kind != "graph":
        return fl.Experiment.from_dict(values)
    import networkx as nx

    turns = [2 * math.pi * node / 5 for node in range(5)]
    places = [(radius * math.sin(turn), radius * math.cos(turn)) for radius in (2, 1) for turn in turns]
    graph = nx.Graph(EDGES)
    nx.set_node_attributes(graph, dict(enumerate(places)), "pos")
    return fl.Experiment.from_dict({}).with_topology(graph).set(settings)


def algorithms(kind: str) -> dict[str, int]:
    """Returns the routing algorithms that the network supports, the default first, and the least router.vcs of each."""
    default = experiment(kind)["routing.algorithm"]
    found = {}
    for name in [default] + [a for a in ALGORITHMS if a != default]:
        for vcs in range(1, 17):
            try:
                e = experiment(kind)
                e = e.set("routing.algorithm", name) if name != default else e
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    e = e.set("router.vcs", vcs)
                    e.derived()
                found[name] = vcs
                break
            except (fl.ConfigError, UserWarning):
                continue
    return found


def bisection(e: fl.Experiment, kind: str) -> tuple[int, str]:
    """Returns unidirectional channels between two halves of the terminals, and how the halves were found."""
    derived = e.derived()
    if derived["bisection_channels"]:
        return int(derived["bisection_channels"]), ""
    import networkx as nx

    graph = nx.DiGraph()
    for a, _, b, _ in channels(e):
        weight = graph.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1
        graph.add_edge(a, b, capacity=weight)
    routers = range(int(derived["terminals"]) // int(e["topology.concentration"]))
    half = len(routers) // 2

    def cut(left: set[int]) -> int:
        flow = graph.copy()
        flow.add_edges_from(("source", r) for r in left)
        flow.add_edges_from((r, "sink") for r in routers if r not in left)
        return int(nx.minimum_cut_value(flow, "source", "sink"))

    tries = [set(list(routers)[:half])]
    if len(routers) == graph.number_of_nodes():
        undirected = nx.Graph((a, b, {"weight": d["capacity"]}) for a, b, d in graph.edges(data=True))
        tries += [nx.community.kernighan_lin_bisection(undirected, weight="weight", seed=seed)[0] for seed in range(20)]
    return 2 * min(cut(left) for left in tries), "<="


def channels(e: fl.Experiment) -> list[list[int]]:
    """Returns router, port, router and port at the ends of each channel."""
    return [list(link) for link in _core.Network(e.core, "cpu", 1, False).links()]


def most_ports(e: fl.Experiment) -> int:
    """Returns the most ports that a router uses, those to its terminals included."""
    c, routers = int(e["topology.concentration"]), int(e.derived()["routers"])
    used = [c if r * c < e.derived()["terminals"] else 0 for r in range(routers)]
    for router, *_ in channels(e):
        used[router] += 1
    return max(used)


def link_lengths(e: fl.Experiment) -> list[int]:
    """Returns the length of each channel between routers on a floor plan, in distances between neighbouring routers;
    [] if the kind of network has none.

    Dimension 0 goes to the right and dimension 1 up. Dimension 2 puts such planes side by side, dimension 3 above one
    another, and so on. A folded ring of k routers has the order 0, k - 1, 1, k - 2 and so on.
    """
    kind, routers = e["topology.kind"], int(e.derived()["routers"])
    if kind not in FLOOR_PLANS + FOLDED:
        return []
    network = _core.Network(e.core, "cpu", 1, False)
    at = [[int(c) for c in re.search(r"\(([\d,]+)\)", network.router_name(r))[1].split(",")] for r in range(routers)]
    extent = [max(c) + 1 for c in zip(*at, strict=True)]
    stride = [math.prod(extent[d % 2:d:2]) for d in range(len(extent))]

    def place(c: int, k: int) -> int:
        return c if kind not in FOLDED else 2 * c if 2 * c < k else 2 * (k - 1 - c) + 1

    return [sum(s * abs(place(x, k) - place(y, k)) for s, x, y, k in zip(stride, at[a], at[b], extent, strict=True))
            for a, _, b, _ in channels(e)]


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def table() -> str:
    head = ["kind", "routers", "terminals", "ports", "diameter", "mean hops", "channels", "link length",
            "bisection", "ideal throughput", "routing, least `router.vcs`"]
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for kind in KINDS:
        e = experiment(kind)
        d = e.derived()
        cut, most = bisection(e, kind)
        routing = ", ".join(f"`{name}` {vcs}" for name, vcs in algorithms(kind).items())
        lengths = link_lengths(e)
        length = f"{number(sum(lengths) / len(lengths))} / {max(lengths)}" if lengths else "-"
        cells = [f"[`{kind}`](#{KINDS[kind].name.lower().translate(str.maketrans(' ', '-', '()+'))})", d["routers"],
                 d["terminals"], most_ports(e), d["diameter"], number(d["topology_hops_mean"]), d["channels"], length,
                 f"{most} {cut}".strip(), number(d["saturation_load_bound"]), routing]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows)


def page() -> str:
    parts = ["""# Networks

`topology.kind` selects a network, and `routing.algorithm` how packets cross it. Every kind but `graph`, which needs an
edge list, runs with its defaults:

```python
import flitlab as fl

fl.run({"topology.kind": "dragonfly", "traffic.load": 0.3})
```

[The reference](reference.md) lists the parameters of each kind. This page is generated:
`python tests/tools/networks_page.py --pictures > docs/networks.md`.

## Default sizes

All numbers are computed from the wiring. Ports: the most ports of a router, with its ports to terminals. Mean hops:
over all pairs of routers, a router with itself included. Channels: between routers, one for each direction. Link
length: mean / longest, in distances between neighbouring routers, for kinds that lie on a grid; further dimensions are
planes side by side and above one another. Rings of `torus` and `ring` are folded, so that no link is longer than 2;
rings of `chiplet_torus` are not, because a chip's routers lie together. Bisection: channels between two halves of the
terminals; `<=` marks the smallest of 21 cuts (20 by Kernighan and Lin's algorithm, and halves by number), or for
networks with routers without terminals the smallest cut between the lower and the upper half of the terminals. Ideal
throughput: load at which uniform traffic fills the busiest channel with the default routing, in flits/cycle/terminal
(Dally & Towles 3.3). The graph is Petersen's.

The sections below have formulas for other sizes, and compare the ideal throughput of patterns of traffic with different
routing, with 8 virtual channels. `next_router`: all terminals of a router send to terminals of the next router.
"""]
    parts.append(table())
    parts.append("\n## Routing algorithms\n\n| `routing.algorithm` | routes |\n| --- | --- |\n"
                 + "\n".join(f"| `{name}` | {text} |" for name, text in ALGORITHMS.items()))
    parts.append("""
Where there is no grid, the classes of virtual channels that prevent deadlock follow from ranks of channels: a packet
changes to the next class where its next channel does not have a higher rank than the last one. In a dragonfly,
channels between groups rank above channels within a group, so that shortest routes need two classes and Valiant's over
groups three; in a HyperX a channel's rank is its dimension; in a fat tree ranks rise on the way up and further on the
way down. The numbers in the table are the classes that all routes of the network need; a smaller `router.vcs` is
refused, with this number. Other rules keep four algorithms free of deadlock: `minimal_adaptive` has an escape channel,
`dal` and `omniwar` have a class for each hop, and `dimwar` has one for deroutes and one for other hops.

An up*/down* route takes a way that only goes down the tree wherever there is one, even if a way over the root is
shorter. In networks with long ways at one level of the tree, such as a wheel, these routes are much longer than
shortest ones; compare `hops_mean` of both in `flitlab inspect`.
""")
    parts.append("""## Failed links and routers

Every network can lose links before a run: `topology.failed_links` lists them as pairs of routers, and
`topology.random_failures` takes a number of links at random (`topology.failure_seed`) that leaves all routers
connected. The routing algorithm is then one that graphs have (see `graph` in the table above); it computes routes that
avoid the failed links, and they are free of deadlock:

```python
broken = fl.Experiment.from_dict({"topology.kind": "torus", "topology.random_failures": 6, "traffic.load": 0.1})
for algorithm in ("minimal_adaptive", "up_down"):
    result = fl.run(broken.set("routing.algorithm", algorithm))
    print(algorithm, result.hops_mean, result.latency_cycles.mean)
```

Ports are numbered anew, so a file of routes does not apply; nor do patterns that need coordinates, and lists of channel
delays or widths. `topology.failed_routers` lists routers that are lost with their links and terminals. The routers and
terminals behind them get lower numbers; the name of a router in a grid keeps its coordinates.

`minimal_adaptive` keeps most of a grid's throughput. One route for each pair of routers (`table`, `minimal`) loses more
of it, and `up_down` most: compare `saturation_load_bound`. The machines have failures of their own, some of them during
a run (Cray T3E, Blue Gene/L, METRO).

## What is missing

- Butterflies of several stages (k-ary n-flies): a terminal injects and ejects at the same router. A single stage is
  `topology.kind = "mesh"` with `topology.shape = [1]`; `router.kind = "metro"` has networks of stages.
- XGFTs with w1 > 1, in which each terminal has links to several routers: a terminal has one port and belongs to one
  router. `topology.parents` begins with w2, the links up of the lowest routers.
- Different numbers of terminals per router: the number of a terminal's router is its own number divided by
  `topology.concentration`. Routers without terminals are possible (`topology.terminal_routers`).
- UGAL with global information (UGAL-G), and congestion at inputs: routers of a cycle run in any order, so a router
  reads no state that another one writes in this cycle. A router's own inputs would not say which output to take.
- A choice between credits and queue lengths as the measure of congestion: each flit in the buffers behind a port, or on
  the way there, holds a credit. So a queue is the number of missing credits, with those on their way back.
- A multiplicative bias of UGAL: each queue is multiplied by the hops of its route, the factor of Kim et al. 2008.
  `routing.threshold` is the additive constant; a positive one favours shortest routes.
- Congestion of some cycles ago: a router stores no earlier values of its credits.
- Failures during a run in networks of the `vc` router: packets on a failed link would be lost, and the router has no
  retransmission. Links and routers may fail before a run.
- Errors and retransmission on channels between chips: a channel delivers every flit after a fixed time, and flits of
  the `vc` router have no sequence numbers. `router.kind = "bgl"` and `"sconnect"` have links with errors and
  retransmission.
- The size of a flit on channels between chips, in bytes: flitlab counts flits and cycles, and a flit has no size.
  `topology.chip_width` is the inverse of the serialiser's ratio, in flits/cycle.
- Partitioned virtual channels for dimension order on a mesh or hypercube: these routes need no classes, so a packet may
  take any virtual channel of its message class. `routing.vc_assignment` is for rings and tori. `traffic.class_vcs`
  gives classes of packets virtual channels of their own.
- A message class as an argument of a user's routes (`with_routes`): a table of routes has one entry for each router and
  destination, which all classes share.
- A choice between parallel channels in a user's function: it returns routers, and packets take the channel with a free
  virtual channel and the most credits. A file of ports (`routing.table_file`) can name single channels.
- Classes of virtual channels in a user's adaptive routes (`with_routes`): packets take any class but the escape
  channel's, which is what makes the routes free of deadlock (Duato 1993) without a proof for each function.
- Multicast, and reduction in the network: a flit of the `vc` router leaves through one output, and its buffer slot is
  free then. `router.kind = "bgl"` has broadcasts along a line.
- Lanes, the fast form of the state, for every network ([engines](architecture/engines.md#which-networks-have-lanes)).
  Scalar state gives the same results. These have only scalar state on CPUs and GPUs: speedup of the crossbar,
  `router.hold_switch_for_packet`, routers of more than 32 ports, and delays of route computation or VC allocation above
  7 cycles. On GPUs also: several classes of packets, networks of fewer than 16 routers (such as the default ring, full
  mesh and graph), and routers of more than 16 ports; more than 12 in closed loops, traces, with turn models, and with
  routes from tables other than `table`. In a network of few routers most lanes would be empty. The other limits are
  registers of the GPU, or rules that are written for scalar state only.
""")
    parts += [section(kind) for kind in KINDS]
    parts.append(shipped())
    return "\n".join(parts).rstrip() + "\n"


def filled(text: str, first: str = "", others: str = "") -> str:
    """Returns a text in lines of at most 120 characters, without breaks in `code`. first, others: the beginnings of the
    first line and of the others."""
    kept = re.sub("`.*?`", lambda code: code[0].replace(" ", "\0"), " ".join(text.split()))
    return textwrap.fill(kept, 120, initial_indent=first, subsequent_indent=others, break_long_words=False,
                         break_on_hyphens=False).replace("\0", " ")


def item(name: str, text: str) -> str:
    return filled(f"{name}: {text}", "- ", "  ")


def section(kind: str) -> str:
    """Returns the section of a kind of networks."""
    k, values = KINDS[kind], experiment(kind).flat()
    defaults = [f"`{path} = {json.dumps(values[path])}`" for path in values if path.startswith("topology.")
                and not re.search(r"kind|fail|channel_|file|places|terminal_routers", path)]
    head = ["traffic", *(f"`{a}`" for a in k.algorithms)]
    rows = [[f"`{pattern}`", *(ideal(kind, pattern, a) for a in k.algorithms)] for pattern in k.patterns]
    return "\n".join([
        f"## {k.name}\n", filled(k.text), "",
        item("Defaults", ", ".join(defaults) + "."), item("Size", k.size), item("Routing", k.routing),
        item("Traffic", k.traffic), "", "| " + " | ".join(head) + " |", "| --- " * len(head) + "|",
        *("| " + " | ".join(row) + " |" for row in rows), "",
        f"Source: {k.source}.\n\n![{k.name} of the default size](images/network-{kind}.png)\n"])


def shipped() -> str:
    """Returns the section on configurations like networks that exist."""
    head = ["configuration", "routers", "terminals", "ports", "diameter", "hops", "channels", "ideal throughput",
            "routing"]
    rows, parts = [head, ["---"] * len(head)], []
    for name, text in SHIPPED.items():
        e = fl.load(name)
        d = e.derived()
        rows.append([f"`{name}`", d["routers"], d["terminals"], most_ports(e), d["diameter"], number(d["hops_mean"]),
                     d["channels"], number(d["saturation_load_bound"]), f"`{e['routing.algorithm']}`"])
        parts.append(f"### {name}\n\n{filled(text)}\n\n![The network of {name}](images/network-{name}.png)\n")
    table = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
    return "\n".join(["""## Shipped networks

Three configurations of the `vc` router have the links of machines that exist. Their delays, buffers and virtual
channels are assumptions. Run one with `flitlab run vc-dgx-h100`. Hops: the mean with the configuration's traffic,
which is uniform (in the first two without packets to the source).
""", table, "", *parts])


def ideal(kind: str, pattern: str, algorithm: str) -> str:
    """Returns the load at which a pattern fills the busiest channel, flits/cycle/terminal."""
    e = experiment(kind).set({"traffic.pattern": pattern, "routing.algorithm": algorithm, "router.vcs": 8})
    return number(e.derived()["saturation_load_bound"])


def draw() -> None:
    import matplotlib.pyplot as plt
    from PIL import Image

    networks = {kind: experiment(kind) for kind in KINDS} | {name: fl.load(name) for name in SHIPPED}
    for name, e in networks.items():
        load = 0.1 if name in KINDS else e["traffic.load"]
        figure = fl.run(e.set("traffic.load", load)).channels.plot().figure
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=100)
        plt.close(figure)
        Image.open(drawn).convert("RGB").quantize(64).save(IMAGES / f"network-{name}.png", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", action="store_true")
    if parser.parse_args().pictures:
        draw()
    print(page(), end="")
