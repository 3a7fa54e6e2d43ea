"""Software on one PE boots a cold T3E over the special network: it must find the actual machine, and load the tables of
the plan."""

import pytest

import flitlab as fl
from flitlab.console import call_tool
from flitlab.t3e import Machine, Tag
from flitlab.t3e.boot import Explorer, Node, boot, logical_number, partial_planes, recognise
from flitlab.t3e.published.manual import special_rows

START = 200_000


def cold(shape, **settings):
    flat = {"router.kind": "t3e", "topology.shape": list(shape), "special.enabled": True, "boot.state": "cold"}
    if "traffic__mode" not in settings:
        flat |= {"traffic.start": START, "traffic.load": 0.3}
    return fl.Network(fl.Experiment.from_dict(flat | {k.replace("__", "."): v for k, v in settings.items()}))


def tables(network, nodes):
    """Returns all registers of all nodes except the registers that only software uses."""
    machine = Machine(network)
    return [{k: v for k, v in machine.registers(n).items() if k not in ("R_SW", "R_SGET_RTRN")} for n in range(nodes)]


def test_a_cold_machine_has_empty_registers():
    net = cold((2, 4, 2))
    assert all(value == 0 for n in range(16) for value in Machine(net).registers(n).values())
    assert net.step(300).totals["packets_created"] == 0


@pytest.mark.parametrize(("shape", "settings"), [
    ((2, 2, 1), {}), ((2, 2, 2), {}), ((2, 4, 1), {"routing__half_way": "plus"}), ((4, 4, 3), {}), ((4, 2, 2), {}),
    ((8, 4, 4), {"routing__vc_select": "time_of_crossing", "routing__adaptive": False}),
    ((2, 12, 9), {"special__router_delay": 5}),
    ((4, 4, 2), {"routing__lut_mode": "1"}),  # the table mode of machines with more than 544 PEs
    # The partial plane has a ring of 4 and one of 2 nodes in X.
    ((8, 4, 3), {"topology__partial_planes": [2, 0, 4, 0, 6]}),
    ((8, 8, 3), {"topology__partial_planes": [1, 0, 2, 0, 2, 1, 4, 4, 4, 4]}),  # columns without nodes in Z = 1
], ids=str)
def test_what_boot_loads_is_what_the_plan_loads(shape, settings):
    net = cold(shape, **settings)
    found = boot(net)
    assert found.shape == shape
    derived = net.experiment.derived()
    assert (found.nodes, 2 * found.links) == (derived["routers"], derived["channels"])
    assert found.broken_links == found.dead_nodes == ()
    loaded = fl.Network(net.experiment.set("boot.state", "loaded"))
    assert tables(net, found.nodes) == tables(loaded, found.nodes)


def test_only_open_links_lose_packets():
    """Each open link is tried with one SPUT and one SGET: 2 x 2 x 1 nodes have three open links each, 2 x 2 x 2 nodes
    one."""
    assert boot(cold((2, 2, 1))).lost == 2 * 3 * 4
    assert boot(cold((2, 2, 2))).lost == 2 * 1 * 8
    assert boot(cold((4, 4, 2))).lost == 0


def test_clocks_and_packets():
    """Boot of 2 x 2 x 1 nodes from node 0. A packet takes 7 clocks to its router and 3 per hop; a reply takes 10 clocks
    from the last router to the PE. Software waits for the longest possible time of a reply, plus 2 clocks, plus 3 at
    the end of the path."""
    net = cold((2, 2, 1))
    found = boot(net)
    named = [0, 1, 1, 2]  # hops to each node when the explorer numbers it
    # The explorer writes a number into each node and reads it back. It then tries links, listed here as hops to the far
    # end and hops back: from node 0 over +X, +Y, -X, -Y, +Z, -Z, and so on. It does not try known links again.
    tried = [(1, 1), (1, 1), (1, 1), (1, 1)] + [(2, 2), (2, 2)] + [(2, 2), (2, 2), (2, 2)] + [(3, 3)]
    tried += [(h + 1, h + 1) for h in named for _ in range(2)]
    loads = 4 * (4 + 6 + 6 + 1 + 1 + 1)  # R_NET_LUT, R_CHAN, R_VCSEL, R_LUT_OVERRIDE, R_LWHO, R_PWHO
    clocks = sum(22 + 3 * 2 * h for h in named) + sum(22 + 3 * (a + b) for a, b in tried) + loads + 22 + 3 * 4
    clocks += 2 * 4 + 22 + 3 * 4  # clocks to read the numbers back
    clocks += 22 + 3 * 64  # before that, an SPUT writes R_ORIENT, which may need 64 hops to reach all nodes
    answers = 4 + len(tried) - 12 + 4
    assert (found.clocks, found.packets) == (clocks, 1 + 3 * 4 + 2 * len(tried) + loads + 2 * 4 + answers)


def counts(network, clocks):
    return {k: v for k, v in network.step(START + clocks - network.cycle).totals.items() if "special" not in k}


def test_traffic_runs_as_on_a_loaded_machine():
    settings = {"traffic__pattern": "bit_complement", "traffic__packet_flits": [[2, 0.5], [10, 0.5]]}
    net = cold((4, 4, 4), **settings)
    boot(net)
    totals = counts(net, 2000)
    assert totals == counts(fl.Network(net.experiment.set("boot.state", "loaded")), 2000)
    assert totals["packets_delivered"] > 2000


@pytest.mark.parametrize("pes", [20, 424])
def test_configurations_with_partial_planes(config, pes):
    """Their boot loads the plan's tables, and the small machine then carries the same traffic."""
    start = 300_000
    e = fl.load(config(f"t3e-{pes}")).set({"special.enabled": True, "traffic.start": start, "boot.state": "cold"})
    net = fl.Network(e)
    found = boot(net)
    assert (found.nodes, list(found.shape)) == (pes, e["topology.shape"])
    loaded = fl.Network(e.set("boot.state", "loaded"))
    assert tables(net, pes) == tables(loaded, pes)
    if pes > 100:
        return
    totals = counts(net, start - START + 500)
    assert totals == counts(loaded, start - START + 500)
    assert totals["packets_delivered"] > 4 * pes and totals["packets_dropped"] == 0


def journeys(tmp_path, shape, pairs, settings=None, **arguments):
    """Boots a machine, then sends a packet for each pair of nodes. Returns the network and the (source, receiver) pairs
    of delivered packets."""
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(f"{START + 50 * i},{src},{dst},2\n" for i, (src, dst) in enumerate(pairs)))
    net = cold(shape, traffic__mode="trace", traffic__trace_file=str(trace), **settings or {})
    boot(net, **arguments)
    traced = fl.Network(net.experiment, trace=True)
    traced.go_on_from(net.step(START - net.cycle))
    traced.step(50 * len(pairs) + 100)
    return net, {(e["src"], e["index"]) for e in traced.events() if e["kind"] == "delivered"}


def test_other_formats_of_logical_numbers(tmp_path):
    """Table 6 and Figure 46: in format 1 PE 2 is node 000100, PE 4 010000, PE 8 000200."""
    pairs = [(src, dst) for src in (0, 2, 13) for dst in range(16) if src != dst]
    net, arrived = journeys(tmp_path, (2, 4, 2), pairs, number_format=1)
    assert arrived == set(pairs)
    numbers = {Machine(net).read_register(n, "R_PWHO"): Machine(net).read_register(n, "R_LWHO") for n in range(16)}
    assert (numbers[0x000100], numbers[0x010000], numbers[0x000200]) == (2, 4, 8)
    assert Tag.of(Machine(net).read_register(2, "R_NET_LUT4")) == Tag(0, 0, 1, "+-+")
    assert [logical_number((1, 2, 1), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1101, 0b1101, 0b1011]
    assert [logical_number((0, 2, 1), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1100, 0b1100, 0b1010]
    assert [logical_number((0, 3, 0), (2, 4, 2), f) for f in (1, 2, 3)] == [0b1010, 0b0110, 0b1100]


def test_any_pe_can_boot_the_machine(tmp_path):
    """Numbering along a ring starts at the explorer's node. A dimension of two nodes in Y is not a ring."""
    pairs = [(src, dst) for src in (0, 7, 12) for dst in range(16) if src != dst]
    net, arrived = journeys(tmp_path, (4, 2, 2), pairs, node=6)
    assert arrived == set(pairs)
    read = Machine(net).read_register
    assert [read(n, "R_PWHO") for n in (6, 7, 4, 2, 14)] == [0x00100, 0x00101, 0x00102, 0x00000, 0x10100]


def test_partial_planes_are_made_of_blocks():
    whole = {(x, y, z) for x in range(8) for y in range(4) for z in range(2)}
    assert partial_planes(whole, (8, 4, 2)) == []
    part = {(x, y, 2) for x, y in [(0, 0), (1, 0), (0, 1), (1, 1), (4, 0), (5, 0), (4, 1), (5, 1), (0, 2), (1, 2),
                                   (0, 3), (1, 3)]}
    assert partial_planes(whole | part, (8, 4, 3)) == [2, 0, 2, 0, 2, 2, 0, 2, 4, 2, 2, 2, 2, 0, 2]


@pytest.mark.parametrize(("shape", "planes", "links", "nodes"), [
    ((4, 4, 4), [], [8, 4], []),
    ((2, 4, 2), [], [0, 0, 5, 2, 11, 1], []),
    ((4, 4, 4), [], [], [21]),
    ((4, 4, 4), [], [], [16, 17, 20, 21]),  # a board
    ((8, 4, 2), [], [3, 4], [16, 19]),  # for some links, no path leads back over the link
    ((8, 4, 2), [], [0, 0, 9, 1], [33]),
    ((2, 4, 3), [2, 0, 2, 0, 2], [16, 2], [9]),
], ids=str)
@pytest.mark.parametrize("delay", [1, 3])
def test_broken_links_and_dead_nodes_are_found(shape, planes, links, nodes, delay):
    """Broken links and dead nodes do not reply. The tables that boot loads avoid them as the plan's do."""
    net = cold(shape, topology__partial_planes=planes, faults__links=links, faults__nodes=nodes,
               special__router_delay=delay)
    found = boot(net)
    all_nodes = int(net.experiment.derived()["routers"])
    alive = [n for n in range(all_nodes) if n not in nodes]
    assert (found.shape, found.nodes, len(found.broken_links)) == (shape, len(alive), len(links) // 2)
    assert len(found.dead_nodes) == len(nodes)
    loaded = fl.Network(net.experiment.set("boot.state", "loaded"))
    booted_tables, others = tables(net, all_nodes), tables(loaded, all_nodes)
    assert [booted_tables[n] for n in alive] == [others[n] for n in alive]
    read = Machine(loaded).read_register
    assert [read(n, "R_PWHO") for n in nodes] == [x | y << 8 | z << 16 for x, y, z in found.dead_nodes]
    totals = counts(net, 1000)
    assert totals == counts(loaded, 1000)
    assert totals["packets_delivered"] > 500 and totals["packets_dropped"] == 0


@pytest.mark.filterwarnings("ignore:faults")
def test_packets_on_detours_meet_no_others():
    """A path of six legs is not always a shortest path. In this machine, packets on such a path would meet packets to
    the next node, so boot sends them separately."""
    net = cold((4, 4, 4), special__router_delay=1, faults__unconnected="warn", faults__nodes=[16, 19],
               faults__links=[26, 3, 17, 1, 20, 3, 30, 4, 19, 2, 7, 0, 12, 1, 20, 0, 12, 2])
    boot(net)
    loaded = fl.Network(net.experiment.set("boot.state", "loaded"))
    alive = [n for n in range(64) if n not in (16, 19)]
    booted_tables, others = tables(net, 64), tables(loaded, 64)
    assert [booted_tables[n] for n in alive] == [others[n] for n in alive]


def test_links_that_cannot_be_tried_count_as_broken(tmp_path):
    """Two broken links cut nodes 1 to 3 out of the explorer's row. Packets reach these nodes, but no path of six legs
    tests their links along X. The tables still reach all nodes; an explorer in another row finds only the two
    breaks."""
    shape, links = (8, 4, 2), {"faults__links": [0, 0, 3, 0]}
    assert boot(cold(shape, **links)).broken_links == tuple(((x, 0, 0), 0) for x in range(4))
    assert boot(cold(shape, **links), node=8).broken_links == (((0, 3, 0), 0), ((3, 3, 0), 0))
    pairs = [(src, dst) for src in range(8) for dst in range(64) if src != dst]
    _, arrived = journeys(tmp_path, shape, pairs, settings=links)
    assert arrived == set(pairs)


def test_what_cannot_be_put_in_order():
    """A ring that is cut at the same position in all its lines is numbered from the first node after the cut."""
    cut = {"faults__links": [0, 1, 1, 1]}
    with pytest.raises(fl.RunError, match="cannot be put in order along Y"):
        boot(cold((2, 4, 1), **cut))
    assert boot(cold((2, 4, 1), **cut), node=2).shape == (2, 4, 1)
    with pytest.raises(fl.RunError, match=r"is no T3E: topology.shape = \[2, 1, 1\]"):
        with pytest.warns(UserWarning, match="cannot be connected"):
            net = cold((2, 4, 1), faults__links=[0, 1, 0, 4, 1, 1, 1, 4], faults__unconnected="warn")
        boot(net)


def linked(links):
    """Returns an explorer that knows these nodes and links (node, direction, other node); its own node is the first."""
    explorer = Explorer.__new__(Explorer)
    explorer.known = {n: Node() for n in range(1 + max(max(a, b) for a, _, b in links))}
    explorer.root = explorer.known[0]
    for a, direction, b in links:
        explorer.known[a].links[direction] = explorer.known[b]
        explorer.known[b].links[(direction + 3) % 6] = explorer.known[a]
    return explorer


def test_lines_must_be_straight():
    x, y, z = range(3)
    with pytest.raises(fl.RunError, match="along Z are not straight"):
        linked([(0, x, 1), (0, z, 2), (2, z, 4), (1, z, 5), (5, z, 3), (2, x, 3), (4, x, 5)]).number()
    with pytest.raises(fl.RunError, match="two nodes have one place"):
        linked([(0, x, 1), (0, y, 1)]).number()
    e = cold((2, 4, 2)).experiment
    wiring = call_tool("t3e", "wiring", e)
    nodes = {number: n for n, (number, _) in enumerate(wiring)}
    links = [(n, d, nodes[far[d]]) for n, (_, far) in enumerate(wiring) for d in (x, y, z)]
    shortened = [link for link in links if link not in [(2, y, 4), (4, y, 6)]] + [(2, y, 6)]  # without node 4
    for wires in (links, shortened):
        explorer = linked(wires)
        assert explorer.number() == (2, 4, 2)
        if wires is links:
            assert not recognise(e, explorer.known.values(), (2, 4, 2)).broken_links
    with pytest.raises(fl.RunError, match="is no T3E: no T3E has such links"):
        recognise(e, explorer.known.values(), (2, 4, 2))


def test_boot_needs_the_special_network_alone(monkeypatch):
    real = Explorer.put
    monkeypatch.setattr(Explorer, "put", lambda self, way, register, value: real(
        self, way, register, value + (register == "R_SW" and value == 2)))
    with pytest.raises(fl.RunError, match=r"way \(1, 0, 0, 0, 0, 0\) does not keep"):
        boot(cold((2, 4, 1)))


def test_special_routing_of_the_manual():
    rows = special_rows()
    assert len(rows) == 7 and {line["verdict"] for line in rows} == {"match", "holds"}


def test_boot_names_missing_settings():
    with pytest.raises(fl.ConfigError, match="must be true"):
        boot(cold((2, 2, 1), special__enabled=False))
    with pytest.raises(fl.ConfigError, match="format 4"):
        boot(cold((2, 2, 1)), number_format=4)
    with pytest.raises(fl.ConfigError, match="tables that are in no register"):
        cold((2, 2, 1), routing__vc_select="full")
    net = cold((2, 2, 1))
    with pytest.raises(fl.ConfigError, match="there are six"):
        Machine(net).special_put(0, [1, 2, 3], "R_SW", 0)
    with pytest.raises(fl.ConfigError, match="R_SW = -1"):
        Machine(net).special_put(0, [0] * 6, "R_SW", -1)
    with pytest.raises(fl.ConfigError, match="no special network"):
        Machine(cold((2, 2, 1), special__enabled=False)).special_get(0, [0] * 6, "R_SW")
