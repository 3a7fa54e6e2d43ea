"""Prints docs/networks.md: a table of all kinds of networks with their default sizes, computed by flitlab, and a
section for each. `networks_page.py --pictures` also draws them into docs/images.

    python tests/tools/networks_page.py --pictures > docs/networks.md
"""

import argparse
import io
import warnings
from pathlib import Path

import flitlab as fl

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
# kind: (name, source, text); the order of the page
KINDS = {
    "mesh": ("Mesh", "Dally & Towles, chapter 5", """\
Routers form a grid in one to ten dimensions, and each has a channel to its neighbours. The routers at the edge have
fewer neighbours, so the middle of a mesh is the busiest part. Port 2d leads in the + direction of dimension d, port
2d + 1 in its - direction. `topology.channel_delay` and `topology.channel_width` may be lists with a number for each
dimension. For a stack of dies, use a mesh of three dimensions; the last numbers are the delay and width of vertical
links."""),
    "torus": ("Torus", "Dally & Towles, chapter 5", """\
A mesh whose rows close to rings, so that all routers are alike. Rings need two classes of virtual channels
(`routing.vc_assignment`)."""),
    "ring": ("Ring", "Dally & Towles, chapter 5", """\
A torus of one dimension."""),
    "hypercube": ("Hypercube", "Dally & Towles, chapter 5", """\
2^`topology.dimensions` routers; two routers are joined if their numbers differ in one bit."""),
    "chiplet_mesh": ("Chiplet mesh", "parameters as in UCIe; the timing is flitlab's", """\
A mesh that is cut into chips of `topology.chip_shape` routers. Channels between chips have a delay of
`topology.chip_delay` and a width of `topology.chip_width`, the inverse of the serialiser's ratio. Errors on these
channels, and their repetition, are not modelled."""),
    "chiplet_torus": ("Chiplet torus", "as the chiplet mesh", """\
A torus that is cut into chips. Wrap-around channels are channels between chips."""),
    "cmesh": ("Concentrated mesh with express channels", "Dally, IEEE TC 1991; Balfour & Dally, ICS 2006", """\
A mesh with several terminals at each router. Routers whose coordinate is a multiple of `topology.express` are also
joined to the next such router of their row or column. A shortest route may turn back to reach an express channel, and
then needs another class of virtual channels."""),
    "full_mesh": ("Full mesh", "", """\
Every router has a link to every other router."""),
    "hyperx": ("HyperX", "Ahn et al., SC 2009", """\
Routers have coordinates, and all routers that differ in one coordinate are joined, by `topology.copies` links. A
shortest route crosses each dimension at most once. `dal`, `dimwar` and `omniwar` also take hops to a third router of a
dimension (deroutes) where queues are long: at most once in each dimension (DAL), the same with dimensions in order
(DimWAR), or as often as virtual channels permit (OmniWAR)."""),
    "flattened_butterfly": ("Flattened butterfly", "Kim, Dally and Abts, ISCA 2007", """\
The same network as a HyperX with one link between two routers; its usual name if all dimensions and the terminals of a
router have the same number k (k-ary n-flat, of n - 1 dimensions)."""),
    "fat_tree": ("Fat tree", "Ohring et al., IPPS 1995", """\
Levels of routers, with terminals at the lowest one. A router of level i + 1 has `topology.children[i]` links down, and
a router of level i has `topology.parents[i]` links up; `topology.concentration` is the number of terminals of a router.
Equal numbers k everywhere make a k-ary n-tree, fewer parents than children a tapered tree. A packet goes up to a
common ancestor and then down. It chooses the way up by its destination (`minimal`), at random
(`nearest_common_ancestor`) or by credits (`adaptive`)."""),
    "dragonfly": ("Dragonfly", "Kim et al., ISCA 2008", """\
`topology.groups` groups of `topology.group_routers` routers. All routers of a group are joined, and each has
`topology.global_channels` links to other groups; `topology.arrangement` says which. A shortest route has at most one
channel between groups. Valiant's routes visit a random group, or a random router (`routing.intermediate`). UGAL-L
compares, at the source, the queue for the shortest route with that for a random longer one, each times its hops; PAR
compares again in the other routers of the source's group. `topology.channel_delay` and `topology.channel_width` may be
lists of two numbers, for channels within a group and between groups."""),
    "megafly": ("Megafly (Dragonfly+)", "Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018", """\
Groups in which `topology.group_routers` leaf routers are joined to as many spine routers. Leaf routers have the
terminals, and spine routers have `topology.global_channels` links to other groups. Delays and widths of channels are as
in a dragonfly."""),
    "slim_fly": ("Slim Fly", "Besta & Hoefler, SC 2014", """\
A graph of diameter 2 with nearly as many routers as possible: 2 q^2 routers for a prime power q (`topology.order`), in
two halves of q x q routers."""),
    "polarfly": ("PolarFly", "Lakhotia et al., SC 2022", """\
A graph of diameter 2 with q^2 + q + 1 routers of at most q + 1 links, for a prime power q: routers are points of a
projective plane, and orthogonal points are joined."""),
    "polarstar": ("PolarStar", "Lakhotia et al., SPAA 2024", """\
A graph of diameter 3. The routers of a PolarFly of order `topology.order` become supernodes of `topology.supernode`
routers, which are joined as in a Paley graph: if their numbers differ by a square of the field. Where the PolarFly has
a link, each router of one supernode has a link to a router of the other. Of the paper's two kinds of supernodes, this
is the one that needs a prime power 4w + 1."""),
    "jellyfish": ("Jellyfish", "Singla et al., NSDI 2012", """\
A random graph of `topology.routers` routers with `topology.degree` links each; `topology.seed` selects one."""),
    "graph": ("Graph", "", """\
Any connected network, from an edge list with a delay and width for each edge, or from networkx
(`Experiment.with_topology`, where nodes may have `terminals` and a place `pos`). `topology.terminal_routers` is the
number of routers with terminals; the others are switches only. `table` gives each pair of routers a shortest route and
a layer of virtual channels. If the layers need more virtual channels than there are, packets take up*/down*
routes."""),
}
ALGORITHMS = {
    "dimension_order": "shortest, one dimension after the other",
    "o1turn": "dimension order, x or y first at random",
    "valiant": "over a random router (dragonfly, Megafly: or group)",
    "romm": "over a random router between source and destination",
    "minimal_adaptive": "any shortest route by credits, with an escape channel (Duato)",
    "west_first": "adaptive; no turn to the west",
    "north_last": "adaptive; no turn after a hop to the north",
    "negative_first": "adaptive; no turn from a + to a - direction",
    "odd_even": "adaptive; turns depend on the column",
    "table": "shortest or from a file, with layers",
    "minimal": "shortest; the route depends only on source and destination",
    "up_down": "up and then down a spanning tree; one class suffices in any network",
    "ugal_l": "shortest or Valiant's, by queues at the source",
    "par": "UGAL-L that decides again in the source's group",
    "nearest_common_ancestor": "up to a random common ancestor, then down",
    "adaptive": "up by credits, then down",
    "dal": "adaptive, at most one deroute in each dimension",
    "dimwar": "dimensions in order, at most one deroute in each",
    "omniwar": "adaptive, as many deroutes as virtual channels permit",
}
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 7), (7, 9), (9, 6), (6, 8),
         (8, 5)]


def experiment(kind: str, **settings) -> fl.Experiment:
    """Returns an experiment on the default network of a kind; for a graph, on Petersen's."""
    values = {"topology.kind": kind} | settings
    if kind != "graph":
        return fl.Experiment.from_dict(values)
    import networkx as nx

    return fl.Experiment.from_dict({}).with_topology(nx.Graph(EDGES))


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
    for a, _, b, _ in fl.run(e.set("traffic.load", 0.0)).channels.links.tolist():
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


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def table() -> str:
    head = ["kind", "routers", "terminals", "ports", "diameter", "mean hops", "channels", "bisection",
            "ideal throughput", "routing, least `router.vcs`"]
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for kind in KINDS:
        e = experiment(kind)
        d = e.derived()
        cut, most = bisection(e, kind)
        routing = ", ".join(f"`{name}` {vcs}" for name, vcs in algorithms(kind).items())
        cells = [f"[`{kind}`](#{KINDS[kind][0].lower().translate(str.maketrans(' ', '-', '()+'))})", d["routers"],
                 d["terminals"], d["ports"], d["diameter"], number(d["topology_hops_mean"]), d["channels"],
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
over all pairs of routers, a router with itself included. Channels: between routers, one for each direction. Bisection:
channels between two halves of the terminals; `<=` marks the smallest of 21 cuts (20 by Kernighan and Lin's algorithm,
and halves by number), or for networks with routers without terminals the smallest cut between the lower and the upper
half of the terminals. Ideal throughput: load at which uniform traffic fills the busiest channel with the default
routing, in flits/cycle/terminal (Dally & Towles 3.3). The graph is Petersen's.
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
    for kind, (name, source, text) in KINDS.items():
        picture = "" if kind == "graph" else f"\n\n![{name} of the default size](images/network-{kind}.png)"
        cited = f"\n\nSource: {source}." if source else ""
        parts.append(f"## {name}\n\n{text}{cited}{picture}\n")
    return "\n".join(parts).rstrip() + "\n"


def draw() -> None:
    from PIL import Image

    for kind in KINDS:
        if kind == "graph":
            continue
        figure = fl.run(experiment(kind, **{"traffic.load": 0.1})).channels.plot().figure
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=80)
        Image.open(drawn).convert("RGB").quantize(64).save(IMAGES / f"network-{kind}.png", optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", action="store_true")
    if parser.parse_args().pictures:
        draw()
    print(page(), end="")
