"""Texts of docs/networks.md on kinds of networks, shipped configurations and routing algorithms."""

from typing import NamedTuple


class Kind(NamedTuple):
    """The texts of a section: title; source; what the network is; numbers of routers, ports and hops; routing
    algorithms, with the reason for their classes of virtual channels; traffic that fits, and traffic that does not; and
    the patterns and algorithms whose ideal throughput is compared."""

    name: str
    source: str
    text: str
    size: str
    routing: str
    traffic: str
    patterns: tuple[str, ...] = ("uniform", "next_router")
    algorithms: tuple[str, ...] = ("minimal", "valiant")


# kind: texts; the order of the page
KINDS = {
    "mesh": Kind("Mesh", "Dally & Towles, chapter 5", """\
Routers form a grid in one to ten dimensions, and each has a channel to its neighbours. Port 2d leads in the +
direction of dimension d, port 2d + 1 in its - direction. `topology.channel_delay` and `topology.channel_width`
may be lists with a number for each dimension. For a stack of dies, use a mesh of three dimensions; the last
numbers are the delay and width of vertical links.""", """\
`k1 x k2 x ...` routers (`topology.shape`) with c terminals each (`topology.concentration`); up to 2 ports for
each dimension, and c; the diameter is the sum of all `k - 1`.""", """\
`dimension_order` turns only from a lower to a higher dimension, so channels wait for one another in no cycle,
and one class suffices. The turn models forbid the turns that would close a cycle. `o1turn` has a class for each
order of dimensions, `valiant` and `romm` one for each half of the way, `minimal_adaptive` an escape channel in
dimension order (`routing.selection` and `routing.stay_on_escape` say when packets take it).""",
        """\
Good for traffic between neighbours, with short channels. The middle channels fill first under uniform traffic,
because routers at the edge have fewer neighbours. A transpose in dimension order is worse; `o1turn` spreads it
over both orders. Valiant's routes have twice the hops of uniform traffic, and help only the worst patterns.""",
        ("uniform", "neighbour", "transpose", "bit_complement"), ("dimension_order", "o1turn", "valiant")),
    "torus": Kind("Torus", "Dally & Towles, chapter 5", """\
A mesh whose rows close to rings, so that all routers are alike. Lists of channel delays and widths are as in a
mesh.""",
        """\
As a mesh; the diameter is the sum of all `k / 2`, rounded down. A dimension of 2 routers has two parallel
links.""", """\
The channels of a ring wait for one another in a circle, so each ring needs two classes of virtual channels:
`routing.vc_assignment` says which packets use which (a dateline by default). `valiant` needs two classes for
each half of the way, `minimal_adaptive` two escape classes and another virtual channel.""", """\
Uniform traffic fills all channels equally, at twice the load of a mesh of the same shape. A tornado, halfway
around each ring in one direction, leaves the channels of the other direction empty; `valiant` uses both.""",
        ("uniform", "neighbour", "tornado", "transpose"), ("dimension_order", "valiant")),
    "ring": Kind("Ring", "Dally & Towles, chapter 5", """\
A torus of one dimension: the network with the fewest ports for each router.""", """\
k routers (`topology.shape`); 2 ports, and one for each terminal; the diameter is `k / 2`, rounded down.""", """\
As in a torus, with two classes for the ring.""", """\
Good for a few routers. The bisection has 4 channels for any k, so the throughput of uniform traffic is at most
`8 / k`. A tornado uses one direction only.""",
        ("uniform", "neighbour", "tornado"), ("dimension_order", "valiant")),
    "hypercube": Kind("Hypercube", "Dally & Towles, chapter 5", """\
Two routers are joined if their numbers differ in one bit; a mesh with 2 routers in each dimension.""", """\
`2^n` routers for n = `topology.dimensions`, with n ports, and one for each terminal; the diameter is n.""", """\
`dimension_order` changes the lowest differing bit first and needs one class. `valiant` and `romm` have a class
for each half of the way, `minimal_adaptive` an escape channel in dimension order.""", """\
Uniform traffic and bit complement can fill the terminals. In dimension order, a transpose or a bit reversal
sends routes of many sources over few channels; `valiant` spreads them. Channels are long on a chip or a board.""",
        ("uniform", "bit_complement", "transpose", "bit_reverse"), ("dimension_order", "valiant")),
    "chiplet_mesh": Kind("Chiplet mesh", "parameters as in UCIe; the timing is flitlab's", """\
A mesh that is cut into chips of `topology.chip_shape` routers. Channels between chips have a delay of
`topology.chip_delay` and a width of `topology.chip_width`, the inverse of the serialiser's ratio. Errors on
these channels, and their repetition, are not modelled.""", """\
As a mesh. The chips divide the shape evenly.""", """\
As in a mesh: the classes do not depend on delays and widths. All shortest routes cross equally many borders of
chips.""", """\
Good for traffic within a chip. With a width of 1/2 the channels between chips halve the throughput of uniform
traffic, and also of traffic between neighbours, because the first router of a chip sends over them.""",
        ("uniform", "neighbour", "bit_complement"), ("dimension_order", "o1turn", "valiant")),
    "chiplet_torus": Kind("Chiplet torus", "as the chiplet mesh", """\
A torus that is cut into chips. Wrap-around channels are channels between chips.""", """\
As a torus. The chips divide the shape evenly.""", """\
As in a torus, with two classes for each ring.""", """\
As the chiplet mesh, with twice its throughput for uniform traffic. A tornado crosses the borders of chips in
one direction only.""",
        ("uniform", "neighbour", "tornado"), ("dimension_order", "valiant")),
    "cmesh": Kind("Concentrated mesh with express channels", "Dally, IEEE TC 1991; Balfour & Dally, ICS 2006", """\
A mesh with several terminals at each router. Routers whose coordinate is a multiple of `topology.express` are
also joined to the next such router of their row or column, so that packets pass fewer routers on long ways.""", """\
`k1 x k2 x ...` routers with c terminals each; up to 4 ports for each dimension, and c. The diameter depends on
the express channels: an 8x8 mesh has 14, with express channels over 2 routers 8.""", """\
Routes come from tables. The ranks of channels rise along a row and from one dimension to the next, so that
`minimal` needs one class if no shortest route turns back in its row to reach an express channel, and otherwise
another class. `valiant` and `ugal_l` have a class more for the second half of the way.""", """\
Good where few routers are wanted and traffic is light: c terminals share the channels of a router. Patterns
that join all terminals of a router to those of one other router are bad, and Valiant's routes need even more of
the channels.""",
        ("uniform", "transpose", "bit_complement", "next_router")),
    "full_mesh": Kind("Full mesh", "Ahn et al., SC 2009 (a HyperX of one dimension)", """\
Every router has a link to every other router.""", """\
R routers (`topology.routers`) with c terminals each; `R - 1 + c` ports; the diameter is 1.""", """\
A shortest route has one channel, so nothing waits in a cycle, and one class suffices. `valiant` and `ugal_l`
take two channels and a class for each.""", """\
Uniform traffic spreads over all links. If all terminals of a router send to one router, they share one link;
`valiant` then uses the links of all routers.""", ("uniform", "next_router", "bit_complement")),
    "hyperx": Kind("HyperX", "Ahn et al., SC 2009; McDonald et al., SC 2019 (DimWAR, OmniWAR)", """\
Routers have coordinates, and all routers that differ in one coordinate are joined, by `topology.copies` links.
With `topology.delay_by_distance`, a channel over n routers takes n times `topology.channel_delay`.""", """\
`k1 x k2 x ...` routers with c terminals each; the sum of all `(k - 1) x copies` ports, and c; the diameter is
the number of dimensions.""", """\
A shortest route crosses each dimension at most once; the rank of a channel is its dimension, so `minimal` needs
one class. `dal`, `dimwar` and `omniwar` also take hops to a third router of a dimension (deroutes) where queues
are long: at most once in each dimension (DAL), the same with dimensions in order (DimWAR), or as often as
virtual channels permit (OmniWAR). DAL and OmniWAR have a class for each hop, DimWAR one for deroutes and one
for other hops.""", """\
Uniform traffic fills the links with shortest routes. If all terminals of a router send to one router, they
share one link in each dimension; `valiant` spreads them at the price of twice the hops. The adaptive algorithms
do both.""",
        ("uniform", "next_router", "bit_complement", "transpose")),
    "flattened_butterfly": Kind("Flattened butterfly", "Kim, Dally and Abts, ISCA 2007", """\
The same network as a HyperX; its usual name if all dimensions and the terminals of a router have the same
number k (k-ary n-flat, of n - 1 dimensions), with one link between two routers.""", """\
`k^(n - 1)` routers with k terminals each; `(n - 1) (k - 1) + k` ports; the diameter is `n - 1`.""", """\
As in a HyperX.""", """\
As a HyperX: uniform traffic is good with shortest routes, and traffic from each router to one other router
needs `valiant`, `ugal_l` or the algorithms of HyperX networks.""",
        ("uniform", "next_router", "bit_complement", "transpose")),
    "fat_tree": Kind("Fat tree", "Ohring et al., IPPS 1995", """\
Levels of routers, with terminals at the lowest one. A router of level i + 1 has `topology.children[i]` links
down, and a router of level i has `topology.parents[i]` links up. Equal numbers k everywhere make a k-ary
n-tree, fewer parents than children a tapered tree.""", """\
With children m1, m2, ..., parents w1, w2, ... and n levels above the lowest, level l has
`w1 ... wl x m(l + 1) ... mn` routers; `c m1 ... mn` terminals; a router of level l has `ml` links down (level
0: c terminals) and `w(l + 1)` up; the diameter is `2 n`.""", """\
A packet goes up to a common ancestor and then down, so ranks rise on the way up and further on the way down,
and one class suffices. A packet chooses the way up by its destination (`minimal`), at random
(`nearest_common_ancestor`) or by credits (`adaptive`). The way down has no choice.""", """\
If the tree is not tapered, random and adaptive ways up carry every permutation at full load. `minimal` sends
packets for destinations with the same last digits over the same links, which is bad for a transpose. A tapered
tree lowers the throughput of traffic over its top.""",
        ("uniform", "transpose", "bit_complement", "random_permutation"), ("minimal", "nearest_common_ancestor")),
    "dragonfly": Kind("Dragonfly", "Kim et al., ISCA 2008; PAR: Jiang et al., ISCA 2009", """\
`topology.groups` groups of `topology.group_routers` routers. All routers of a group are joined, and each has
`topology.global_channels` links to other groups; `topology.arrangement` says which. `topology.channel_delay`
and `topology.channel_width` may be lists of two numbers, for channels within a group and between groups.""", """\
g groups of a routers with h global links and p terminals each (`topology.concentration`): `a g` routers of
`a - 1 + h + p` ports; g is at most `a h + 1`; the diameter is at most 3. Kim et al. balance loads with
`a = 2 p = 2 h`, as the defaults.""",
        """\
A shortest route has at most one channel between groups. Channels between groups rank above channels within one,
so `minimal` needs two classes and Valiant's routes over a random group three, over a random router
(`routing.intermediate`) more. UGAL-L compares, at the source, the queue for the shortest route with that for a
random longer one, each times its hops; PAR compares again in the other routers of the source's group, and needs
another class.""", """\
Uniform traffic is good with shortest routes. If all terminals of a group send to the next group (`next_group`),
they share the links between these two groups; in the largest dragonfly this is one link for a p terminals.
`valiant` then uses all groups, and `ugal_l` and `par` choose between both.""",
        ("uniform", "next_router", "next_group")),
    "megafly": Kind("Megafly (Dragonfly+)", "Shpiner et al., HiPINEB 2017; Flajslik et al., ISC 2018", """\
Groups in which `topology.group_routers` leaf routers are joined to as many spine routers. Leaf routers have the
terminals, and spine routers have `topology.global_channels` links to other groups (`topology.arrangement`).
Delays and widths of channels are as in a dragonfly.""", """\
g groups of a leaf routers with p terminals and a spine routers with h global links: `2 a g` routers of up to
`a + p` or `a + h` ports. A shortest route between terminals has at most 3 hops; the diameter is larger, because
it counts ways between spine routers.""", """\
A route goes up to a spine router, over at most one channel between groups, and down. Ranks rise on this way, so
`minimal` needs one class, a class less than a dragonfly, `valiant` and `ugal_l` two, and `par` three.""", """\
As a dragonfly. Each leaf router has a link to every spine router of its group, so traffic from a router to the
next one has several ways.""", ("uniform", "next_router", "next_group")),
    "slim_fly": Kind("Slim Fly", "Besta & Hoefler, SC 2014", """\
A graph of diameter 2 with nearly as many routers as possible for its ports (a graph of McKay, Miller and
Siran). It has two halves of q subgroups of q routers, for a prime power q (`topology.order`). A router has
links in its subgroup, and to one router of each subgroup of the other half. Its name is (number in the
subgroup, subgroup, half).""", """\
`2 q^2` routers with `(3 q - d) / 2` links and c terminals each, where d is -1, 0 or 1 and `q - d` a multiple of
4; the diameter is 2.""", """\
A shortest route has two hops, and the second channel may have a lower rank than the first, so `minimal` needs
two classes. `valiant` and `ugal_l` have up to four hops and four classes.""", """\
Good for uniform traffic, with few hops for many terminals. There is one shortest route between most pairs of
routers, so traffic between two routers shares one way, and two or more such pairs may share a channel.
`valiant` and `ugal_l` then use other ways."""),
    "polarfly": Kind("PolarFly", "Lakhotia et al., SC 2022", """\
Routers are points of a projective plane over a field of q elements, a prime power (`topology.order`), and
orthogonal points are joined. The q + 1 quadrics are points that are orthogonal to themselves; they have a link
less. The drawing has a quadric in the centre, its neighbours around it, and each neighbour's cluster outside.""", """\
`q^2 + q + 1` routers with `q + 1` links (quadrics: q) and c terminals each; the diameter is 2. No graph of
diameter 2 with as many links for each router has more than `q^2 + 2 q + 2` routers (Moore's bound).""", """\
As in a Slim Fly: two classes for `minimal`, four for `valiant` and `ugal_l`, one for each hop.""", """\
As a Slim Fly: good for uniform traffic. There is at most one way of two hops between two routers, so traffic
between a few pairs of routers needs `valiant` or `ugal_l`."""),
    "polarstar": Kind("PolarStar", "Lakhotia et al., SPAA 2024", """\
The routers of a PolarFly of order q (`topology.order`) become supernodes of s routers (`topology.supernode`),
which are joined as in a Paley graph: if their numbers differ by a square of the field. Where the PolarFly has a
link, each router of one supernode has a link to a router of the other. Of the paper's two kinds of supernodes,
this is the one that needs a prime power `s = 4 w + 1`.""", """\
`(q^2 + q + 1) s` routers with up to `q + 1 + (s - 1) / 2` links and c terminals each; the diameter is 3.""", """\
flitlab computes ranks of channels. The classes that `minimal` and `valiant` need follow from them; the table
above has the numbers of the default size.""", """\
Good for uniform traffic in networks of more routers than a PolarFly with the same ports has. Traffic from each
router to the next one uses few links with shortest routes; `valiant` uses others."""),
    "jellyfish": Kind("Jellyfish", "Singla et al., NSDI 2012", """\
A random graph in which all routers have equally many links; `topology.seed` selects one. The drawing has rings
of routers that are one, two, three hops away from router 0.""", """\
R routers (`topology.routers`) with d links (`topology.degree`) and c terminals each. The diameter depends on
the seed.""", """\
flitlab computes ranks of channels, and the classes that the routes of this graph need. `minimal_adaptive` and
`up_down` need two and one in any graph.""", """\
No pattern is special, because links are random; shortest routes load some channels more than others, which
limits the throughput of uniform traffic. Valiant's routes have twice the hops, and help where a few pairs share
a channel.""",
        ("uniform", "next_router", "bit_complement", "random_permutation")),
    "graph": Kind("Graph", "Skeie et al., 2002 (shortest routes in layers)", """\
Any connected network, from an edge list with a delay and width for each edge (`topology.file`), or from
networkx (`Experiment.with_topology`, where nodes may have `terminals` and a place `pos`).
`topology.terminal_routers` is the number of routers with terminals; the others are switches only.
The numbers and the picture are Petersen's graph.""", """\
Any number of routers with up to 64 ports, those to terminals included.""", """\
`table`, the default, gives each pair of routers a shortest route and a layer of virtual channels, so that the
routes of a layer close no cycle. If the layers need more virtual channels than there are, packets take
up*/down* routes. A file or a function can give other routes (`routing.table_file`, `Experiment.with_routes`).""", """\
`flitlab inspect` shows the ideal throughput (`saturation_load_bound`) of a graph with any pattern.
`minimal_adaptive` uses all shortest ways; `valiant` and `ugal_l` use longer ones too.""",
        ("uniform", "next_router", "random_permutation"), ("table", "valiant")),
}
# configuration: text and source
SHIPPED = {
    "vc-dgx-h100": """\
Eight GPUs and four NVSwitches, like an NVIDIA DGX H100. A GPU has 18 NVLinks: 5, 4, 4 and 5 to the four
switches. A flit per cycle stands for the 450 GB/s that a GPU's links carry in one direction, so a channel to a
switch is 5/18 or 4/18 flits/cycle wide. The routers 0 to 7 are the GPUs' ends of the links, with a terminal
each. Source: NVIDIA, "Upgrading Multi-GPU Interconnectivity with the Third-Generation NVIDIA NVSwitch", 2022.""",
    "vc-rail-cluster": """\
Four servers of eight GPUs. The GPUs of a server share an NVSwitch, with channels of 1 flit/cycle for 450 GB/s.
The GPUs with the same number in all servers share a rail switch, by channels of 1/9 flit/cycle for a network
adapter of 400 Gbit/s. A packet to another number in another server takes up to four hops; the adapters limit
uniform traffic. Source: Juniper Networks, "AI Data Center Network with Juniper Apstra, NVIDIA GPUs and WEKA
Storage: Rail Optimized Fabric".""",
    "vc-tpu-v4-cube": """\
A torus of 4x4x4 chips, like the building block of a TPU v4 machine. In the machine, wrap-around links pass an
optical switch; here all channels have the same delay. For a larger machine change `topology.shape`. Source:
Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning with Hardware Support for
Embeddings", ISCA 2023.""",
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
