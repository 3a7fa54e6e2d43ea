"""The T3E as a machine: partial planes, PE numbers, partitions, registers, bad input."""

import functools
import warnings
from itertools import pairwise

import pytest
from t3e_machines import AC20, LC424, build, deliveries, neighbours, trace_all

import flitlab
from flitlab import ConfigError, Experiment, Network, run, t3e


@functools.cache
def large():
    """Returns the machine of 424 PEs and its network, shared by tests that do not step it, because planning takes
    seconds."""
    experiment = build(LC424)
    return t3e.machine(experiment), Network(experiment)


def test_wiring_of_20_pes():
    """Figure 17: the partial plane is a ring in X, open in Y, and lengthens four of the eight Z rings to 3."""
    network = Network(build(AC20))
    where = {pe.position: pe.node for pe in t3e.machine(build(AC20)).pes}
    assert len(where) == 20
    corner = neighbours(network, where[0, 0, 2])
    assert corner["+x"] == corner["-x"] == where[1, 0, 2]
    assert corner["+y"] == where[0, 1, 2] and "-y" not in corner
    assert corner["+z"] == where[0, 0, 0] and corner["-z"] == where[0, 0, 1]
    assert "+y" not in neighbours(network, where[0, 1, 2])
    short = neighbours(network, where[0, 3, 1])  # there is no plane above, so this ring has two nodes
    assert short["+z"] == short["-z"] == where[0, 3, 0]


def test_wiring_of_424_pes():
    """53 modules: 34 in cabinet 0, four full planes and three modules of plane 1 in cabinet 1."""
    machine, network = large()
    where = {pe.position: pe.node for pe in machine.pes}
    assert len(where) == 424
    assert neighbours(network, where[3, 0, 8])["+x"] == where[0, 0, 8]  # a ring of four
    # A row of three modules has a ring of four and a ring of two nodes.
    assert neighbours(network, where[3, 4, 1])["+x"] == where[0, 4, 1]
    assert neighbours(network, where[5, 4, 1])["+x"] == where[4, 4, 1]
    # A column through both cabinets is a ring of eight nodes.
    assert neighbours(network, where[0, 3, 0])["+y"] == where[0, 4, 0]
    assert neighbours(network, where[0, 7, 0])["+y"] == where[0, 0, 0]
    # A column in cabinet 0 alone is a ring of four nodes.
    assert neighbours(network, where[6, 3, 1])["+y"] == where[6, 0, 1]
    assert neighbours(network, where[7, 4, 0])["+z"] == where[7, 4, 2]  # plane 1 has no node here
    assert neighbours(network, where[0, 0, 8])["+z"] == where[0, 0, 0]
    assert neighbours(network, where[4, 0, 7])["+z"] == where[4, 0, 0]


@pytest.mark.parametrize("changes", [AC20, LC424], ids=["20", "424"])
def test_partial_planes_are_reached(tmp_path, changes):
    """Every pair is connected, without a cyclic dependency of virtual channels; all packets are delivered."""
    machine = large()[0] if changes == LC424 else t3e.machine(build(changes))
    assert not machine.separated and not machine.stopped and not machine.circle
    assert machine.pairs == len(machine.pes) * (len(machine.pes) - 1)
    partial = [pe.node for pe in machine.pes if pe.position in {(0, 0, 2), (1, 1, 2), (3, 2, 8), (0, 4, 1), (5, 7, 1)}]
    pairs = [(p, pe.node) for p in partial for pe in machine.pes if pe.node != p]
    pairs += [(d, s) for s, d in pairs]
    totals = trace_all(tmp_path, build(changes), pairs).totals
    assert totals["packets_delivered"] == len(pairs) and totals["packets_dropped"] == 0


def test_hops_are_made_only_without_a_normal_path():
    """Initial and final hops (paper, section 2.3). Direction order has +Z early and -Z late, which suffices for nearly
    all pairs. Only between the two parts of plane 1 in cabinet 1 (X = 0 to 3, and X = 4 and 5) a packet must go both up
    and down in Z."""
    assert t3e.machine(build(AC20)).hopping_pairs == 0
    machine, network = large()
    assert machine.hopping_pairs == 2 * 16 * 8
    node = {pe.position: pe for pe in machine.pes}
    tag = t3e.Tag.of(t3e.Machine(network).read_register(node[0, 4, 1].node, f"R_NET_LUT{node[4, 4, 1].logical}"))
    assert (tag.initial_hop, tag.signs[2], tag.adapt) == (2, "-", False)


def test_partitions_keep_to_themselves():
    """Table 7's partitions: PEs send within their partition, by virtual numbers; PEs outside partitions are idle."""
    experiment = build({"topology.shape": [2, 4, 2], "topology.partitions": [0, 3, 4, 5, 13, 2],
                        "topology.logical_format": [9, 16, 8, 0]})
    machine = t3e.machine(experiment)
    network = Network(experiment, trace=True).step(2000)
    partition = {pe.node: pe.partition for pe in machine.pes}
    idle = [pe.node for pe in machine.pes if pe.partition is None]
    assert sorted(machine.pes[n].logical for n in idle) == [10, 11, 12]
    assert all(network.terminal(n).created == 0 and network.terminal(n).received == 0 for n in idle)
    deliveries = [e for e in network.events() if e["kind"] == "delivered"]
    assert deliveries
    assert all(partition[e["src"]] == partition[e["index"]] for e in deliveries)
    assert {e["index"] for e in deliveries} == set(partition) - set(idle)
    result = run(experiment.set({"run.warmup_cycles": 500, "run.measure_cycles": 3000}))
    assert result.terminals == 13 and result.accepted == pytest.approx(0.3, rel=0.1)


def test_permutations_go_by_virtual_numbers():
    experiment = build({"topology.shape": [2, 4, 2], "topology.partitions": [8, 7],
                        "traffic.pattern": "bit_complement"})
    network = Network(experiment, trace=True).step(500)
    ends = {(e["src"], e["index"]) for e in network.events() if e["kind"] == "delivered"}
    assert ends == {(8 + v, 8 + (7 - v)) for v in range(8)}


def test_registers_from_a_file(tmp_path):
    path = tmp_path / "registers.csv"
    path.write_text("# all nodes, then one\n*, R_SW, 0x1F\n3,R_CHAN0,8\n")
    network = Network(build({"topology.shape": [2, 4, 2], "registers.file": str(path)}))
    assert [t3e.Machine(network).read_register(n, "R_SW") for n in range(16)] == [0x1F] * 16
    assert [t3e.Machine(network).read_register(n, "R_CHAN0") for n in (2, 3)] == [0, 8]


@pytest.mark.parametrize(("pe", "number"), [(2, 0x1), (2, 0x10000), (2, 0x10001), (3, 0x10000)])
def test_packets_to_a_missing_link_are_dropped_whole(tmp_path, pe, number):
    """A node has another node's number. Where its tables lead over a missing link, no flit of the packet continues
    straight ahead on an adaptive channel."""
    (tmp_path / "registers.csv").write_text(f"{pe},R_PWHO,{number}\n")
    with pytest.warns(UserWarning, match="do not arrive"):
        net = Network(Experiment.from_dict({"router.kind": "t3e", "topology.shape": [2, 2, 2], "traffic.load": 0.2,
                                            "registers.file": str(tmp_path / "registers.csv")}))
    for _ in range(300):
        net.step().check()
    assert net.totals["packets_dropped"] > 0


def test_tables_that_lose_packets_are_warned_of(tmp_path):
    """All SELECT bits of +Y are set in a ring of eight: packets that pass the dateline are lost and counted."""
    path = tmp_path / "registers.csv"
    path.write_text("".join(f"{n},R_VCSEL1,{0xFF | (1 << 32 if n < 4 else 0):#x}\n" for n in range(32)))
    experiment = build({"topology.shape": [4, 8, 1], "registers.file": str(path), "routing.adaptive": False})
    with pytest.warns(UserWarning, match="registers.file: packets of .* reach a dateline on virtual channel set 1"):
        network = Network(experiment)
    network.step(2000)
    assert network.totals["packets_dropped"] > 0


ILLEGAL = {
    "no board": ({"topology.partial_planes": [2, 0, 1, 0, 2], "topology.shape": [2, 4, 3]}, "whole boards"),
    "numbers of a block": ({"topology.partial_planes": [2, 0, 2, 0], "topology.shape": [2, 4, 3]}, "4 numbers"),
    "outside": ({"topology.partial_planes": [3, 0, 2, 0, 2], "topology.shape": [2, 4, 3]}, "not inside the shape"),
    "shape": ({"topology.shape": [3, 4, 2]}, "X is 2, 4 or 8"),
    "mode 0": ({"topology.shape": [8, 16, 8], "routing.lut_mode": "0"}, "routing.lut_mode"),
    "partition": ({"topology.shape": [2, 4, 2], "topology.partitions": [10, 9]}, "outside the machine"),
    "two partitions": ({"topology.shape": [2, 4, 2], "topology.partitions": [0, 4, 4, 2]}, "in another one"),
    "odd partitions": ({"topology.shape": [2, 4, 2], "topology.partitions": [0]}, "two numbers for each"),
    "format": ({"topology.shape": [2, 4, 2], "topology.logical_format": [9, 8, 0]}, "as well"),
    "format bit": ({"topology.shape": [2, 4, 2], "topology.logical_format": [13]}, "R_PWHO has bits"),
    "format for mode 1": ({"topology.shape": [2, 4, 2], "topology.logical_format": [16, 8, 9, 0],
                           "routing.lut_mode": "1"}, "cannot be that of node"),
    "spares in mode 1": ({"topology.shape": [2, 4, 2], "topology.spares": [1], "routing.lut_mode": "1"},
                         "cannot take over numbers"),
    "open link": ({"topology.shape": [4, 2, 1], "faults.links": [0, 4]}, "not connected"),
    "no link": ({"topology.shape": [4, 2, 1], "faults.links": [0, 6]}, "does not exist"),
    "half a link": ({"topology.shape": [4, 2, 1], "faults.links": [0]}, "two for each link"),
    "no node": ({"topology.shape": [4, 2, 1], "faults.nodes": [8]}, "numbered 0 to 7"),
    "cut off": ({"topology.shape": [2, 2, 1], "faults.links": [0, 0, 0, 1, 0, 3]}, "cannot be connected"),
    "coordinates": (AC20 | {"traffic.pattern": "tornado"}, "coordinates of a whole machine"),
}


@pytest.mark.parametrize("changes, text", ILLEGAL.values(), ids=ILLEGAL)
def test_one_clear_message(changes, text):
    with pytest.raises(ConfigError, match=text):
        Network(build(changes))


@pytest.mark.parametrize("line, text", [
    ("0,R_NOTHING,1", 'register "R_NOTHING" does not exist in this PE'), ("0,R_SW", "node,name,value"),
    ("99,R_SW,1", "numbered 0 to 31"),
    ("0,R_PWHO,0x10", "does not have"), ("0,R_SW,zero", "node,name,value"),
    (f"3,R_NET_LUT0,{int(t3e.Tag(0, 0, 0, initial_hop=0)):#x}", "is to the dateline"),
])
def test_bad_register_lines(tmp_path, line, text):
    path = tmp_path / "registers.csv"
    path.write_text(line + "\n")
    with pytest.raises(ConfigError, match=text):
        Network(build({"topology.shape": [4, 8, 1], "registers.file": str(path)}))


def test_an_initial_hop_to_the_dateline_is_refused():
    network = Network(build({"topology.shape": [4, 4, 2]}))
    with pytest.raises(ConfigError, match="is to the dateline"):
        t3e.Machine(network).write_register(3, "R_NET_LUT0", int(t3e.Tag(1, 0, 0, initial_hop=0)))
    t3e.Machine(network).write_register(2, "R_NET_LUT0", int(t3e.Tag(1, 0, 0, initial_hop=0, adapt=False)))


def test_ignored_channels_lose_what_comes_in():
    """IGNORE_NORMAL on the PE's channel: the router drops the PE's packets (manual, Table 10)."""
    network = Network(build({"topology.shape": [4, 4, 2]}))
    t3e.Machine(network).write_register(0, "R_CHAN6", 1)
    before, after = (network.step(1000).totals for _ in range(2))
    sent = network.terminal(0).sent
    assert 0 <= sent - after["packets_dropped"] <= 4  # all packets are lost except packets in flight
    assert before["packets_dropped"] < after["packets_dropped"]
    assert all(a <= b for a, b in pairwise([before["packets_dropped"], after["packets_dropped"], sent]))


def test_an_ignored_link_still_leads_to_its_node(tmp_path):
    """IGNORE_NORMAL where node 1 is entered from node 0: packets for node 2 are lost, packets for node 1 arrive."""
    trace = tmp_path / "trace.csv"
    trace.write_text("0,0,1,2\n100,0,2,2\n200,4,6,2\n")  # nodes 4 to 6 belong to the next row
    network = Network(Experiment.from_dict({
        "router.kind": "t3e", "topology.shape": [4, 4, 2], "routing.adaptive": False, "traffic.mode": "trace",
        "traffic.trace_file": str(trace)}))
    t3e.Machine(network).write_register(1, "R_CHAN3", 1)
    totals = network.step(400).totals
    assert (totals["packets_delivered"], totals["packets_dropped"]) == (2, 1)
    assert network.terminal(1).received == network.terminal(6).received == 1


def test_writing_a_select_bit_that_loses_packets_warns():
    """Direction +Y from node Y = 6, in a ring of eight: the dateline is at Y = 0, Y = 7 comes before it, and Y = 1
    after it."""
    network = Network(build({"topology.shape": [4, 8, 1]}))
    with pytest.warns(UserWarning, match="R_VCSEL1 of node 24: SELECT bit 1 sends packets through the dateline"):
        t3e.Machine(network).write_register(24, "R_VCSEL1", 0b10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t3e.Machine(network).write_register(24, "R_VCSEL1", 0b10000001)
    with pytest.warns(UserWarning, match="R_VCSEL1 of node 24: SELECT bit 0"):  # node 28 becomes a dateline
        t3e.Machine(network).write_register(28, "R_VCSEL1", 1 << 32)
    t3e.Machine(network).write_register(28, "R_VCSEL1", 0).write_register(24, "R_VCSEL1", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for node in range(32):  # writing the loaded tables again gives no warning
            for direction in range(6):
                name = f"R_VCSEL{direction}"
                t3e.Machine(network).write_register(node, name, t3e.Machine(network).read_register(node, name))


@pytest.mark.parametrize("pes", [20, 424])
def test_configurations_with_partial_planes(config, pes):
    result = run(flitlab.load(config(f"t3e-{pes}")).set({"run.warmup_cycles": 1000, "run.measure_cycles": 2000}))
    assert result.routers == pes and not result.saturated
    assert result.packets.dropped == 0


def test_a_turned_machine_is_the_mirror_image(tmp_path):
    """R_ORIENT = 5 where the wiring implies 2: + and - are exchanged in every dimension (manual, Tables 1 to 3). A node
    with the registers of its mirror image then behaves like it. Packets are sent one at a time, because arbiters depend
    on port numbers."""
    shape = {"topology.shape": [4, 4, 2]}
    plain = Network(build(shape))
    where = {pe.position: pe.node for pe in t3e.machine(build(shape)).pes}
    mirror = {n: where[3 - x, 3 - y, 1 - z] for (x, y, z), n in where.items()}
    registers, software = tmp_path / "registers.csv", t3e.Machine(plain)
    lines = [f"{n},{name},{value}\n" for n, m in mirror.items() for name, value in software.registers(m).items()
             if not name.startswith("R_NET_LUT") or int(name[9:]) < 32]
    registers.write_text("".join(lines) + "*,R_ORIENT,5\n")
    pairs = [(s, d) for s in range(32) for d in range(32) if s != d]
    times = []
    for changes, number in (({}, lambda n: n), ({"registers.file": str(registers)}, mirror.get)):
        trace = tmp_path / "trace.csv"
        trace.write_text("".join(f"{60 * n},{number(s)},{number(d)},3\n" for n, (s, d) in enumerate(pairs)))
        network = Network(Experiment.from_dict({"router.kind": "t3e", "traffic.mode": "trace",
                                                "traffic.trace_file": str(trace)} | shape | changes), trace=True)
        times.append([(cycle, number(index)) for cycle, index in deliveries(network.step(60 * len(pairs)))])
    assert len(times[0]) == len(pairs)
    assert times[0] == times[1]


def test_misdelivered_packets_are_counted():
    """All tables send packets for PE 3 to PE 5. A total counts these misdelivered packets."""
    network = Network(build({"topology.shape": [4, 4, 2]})).step(500)
    assert network.totals["packets_misdelivered"] == 0
    for node in range(32):
        t3e.Machine(network).write_register(node, "R_NET_LUT3", t3e.Machine(network).read_register(node, "R_NET_LUT5"))
    assert network.step(1000).totals["packets_misdelivered"] > 10


def test_hot_spots_stay_in_their_partition():
    network = Network(build({"topology.shape": [2, 4, 2], "topology.partitions": [0, 7, 8, 7], "traffic.load": 0.1,
                             "traffic.self": False, "traffic.pattern": "hot_spot", "traffic.hot_terminals": [0],
                             "traffic.hot_fraction": 0.5}),
                      trace=True).step(3000)
    to_hot = {e["src"] for e in network.events() if e["kind"] == "delivered" and e["index"] == 0}
    assert to_hot == set(range(1, 8))


@pytest.mark.parametrize("changes, text", [
    ({"boot.state": "cold", "faults.nodes": [1], "faults.cycle": 10}, "faults.cycle = 0"),
    ({"routing.vc_select": "full", "faults.nodes": [1], "faults.cycle": 10}, "cannot be changed in a run"),
    ({"topology.spares": [3, 3]}, "twice"), ({"faults.nodes": list(range(32))}, "no PE to work"),
    ({"faults.nodes": [3], "io.nodes": [3]}, "which is broken"),
])
def test_what_does_not_go_together(changes, text):
    with pytest.raises(ConfigError, match=text):
        Network(build({"topology.shape": [4, 4, 2]} | changes))


def test_numbers_of_irregular_machines_are_not_invented():
    derived = build(LC424).derived()
    keys = ("topology_hops_mean", "diameter", "bisection_channels", "zero_load_latency_cycles")
    assert all(derived[key] is None for key in keys)
    broken = build({"topology.shape": [4, 4, 2], "faults.links": [0, 0]}).derived()
    assert all(broken[key] is None for key in keys)
    assert derived["hops_mean"] is None  # flitlab does not predict the hops of adaptive packets in partial planes
    later = build({"topology.shape": [4, 4, 2], "faults.links": [0, 0], "faults.cycle": 500}).derived()
    assert later["hops_mean"] is None


@pytest.mark.parametrize("changes", [
    {"topology.shape": [4, 4, 2], "faults.links": [0, 0, 5, 2]}, {"topology.shape": [4, 4, 2], "faults.nodes": [5]},
    {"topology.shape": [4, 4, 2], "topology.partitions": [0, 7, 16, 11], "traffic.self": False},
    {"topology.shape": [4, 4, 2], "faults.links": [0, 0], "routing.adaptive": False, "traffic.pattern": "bit_reverse"},
    AC20 | {"traffic.self": False, "routing.adaptive": False},
], ids=["links", "node", "partitions", "deterministic", "partial"])
def test_hops_of_irregular_machines_are_those_of_their_tables(changes):
    experiment = build(changes | {"traffic.load": 0.05, "run.warmup_cycles": 1000, "run.measure_cycles": 20000})
    assert experiment.derived()["hops_mean"] == pytest.approx(run(experiment).hops_mean, rel=0.01)


def test_no_latency_is_predicted_for_packets_that_wait_or_have_no_path():
    def foretold(changes):
        e = build({"topology.shape": [4, 4, 2], "traffic.load": 0.0, "traffic.packet_flits": 10} | changes)
        return e.derived()["zero_load_latency_cycles"]

    assert foretold({"router.deterministic_buffer_flits": 10}) == foretold({})
    assert foretold({"router.deterministic_buffer_flits": 9}) is None
    assert foretold({"boot.state": "cold"}) is None


@pytest.mark.filterwarnings("ignore:boot.state")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_replies_on_a_machine_that_is_not_booted(config, seed):
    """All PEs have number 0 and tables are not loaded: replies arrive at PEs that expect none, or whose request has not
    left yet."""
    e = flitlab.load(config("t3e-128")).set({"boot.state": "cold", "traffic.mode": "request_reply",
                                             "traffic.load": 0.8, "run.seed": seed})
    network = Network(e).step(6000)
    network.check()
    totals = network.totals
    assert totals["packets_misdelivered"] > 100
    assert 0 < totals["transactions"] < totals["packets_delivered"] / 2


def test_transactions_whose_reply_goes_to_another_stay_open():
    """All replies for PE 3 go to PE 5, so PE 3 sends the four requests that its window allows and then no more."""
    settings = {"topology.shape": [4, 4, 2], "traffic.mode": "request_reply", "traffic.load": 0.2, "traffic.window": 4}
    network = Network(build(settings))
    for node in range(32):
        t3e.Machine(network).write_register(node, "R_NET_LUT3", t3e.Machine(network).read_register(node, "R_NET_LUT5"))
    network.step(5000)
    network.check()
    assert network.terminal(3).sent - network.terminal(3).received <= 4 < network.terminal(4).sent / 4
    assert network.totals["packets_misdelivered"] > 4
