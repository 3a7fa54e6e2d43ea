"""The T3E as a machine: partial planes, numbers, partitions, faults, registers from files."""

import random
import warnings
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab
from flitlab import ConfigError, Experiment, Network, RunError, run, t3e
from flitlab.t3e.published import faults

AC20 = {"topology.shape": [2, 4, 3], "topology.partial_planes": [2, 0, 2, 0, 2]}
LC424 = {"topology.shape": [8, 8, 9],
         "topology.partial_planes": [1, 0, 4, 0, 8, 1, 4, 4, 0, 6, 5, 0, 4, 0, 8, 6, 0, 4, 0, 8, 7, 0, 4, 0, 8,
                                     8, 0, 4, 0, 4]}


def build(changes: dict) -> Experiment:
    return Experiment.from_dict({"router.kind": "t3e", "traffic.load": 0.3} | changes)


def neighbours(network: Network, node: int) -> dict[str, int]:
    ports = network.router(node).ports
    return {port.name: port.peer for port in ports if port.peer is not None and not port.to_terminal}


def trace_all(tmp_path, experiment: Experiment, pairs: list[tuple[int, int]], gap: int = 8) -> Network:
    """A network that has sent one packet of each pair, with the events."""
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{gap * n},{src},{dst},3\n" for n, (src, dst) in enumerate(pairs)))
    changes = {"traffic.mode": "trace", "traffic.trace_file": str(path)}
    flat = {k: v for k, v in experiment._given.items() if k != "traffic.load"}
    return Network(Experiment.from_dict(flat | changes)).step(gap * len(pairs) + 1000)


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
    short = neighbours(network, where[0, 3, 1])  # no plane above: a ring of two
    assert short["+z"] == short["-z"] == where[0, 3, 0]


def test_wiring_of_424_pes():
    """53 modules: 34 in cabinet 0, four full planes and three modules of plane 1 in cabinet 1."""
    network = Network(build(LC424))
    where = {pe.position: pe.node for pe in t3e.machine(build(LC424)).pes}
    assert len(where) == 424
    assert neighbours(network, where[3, 0, 8])["+x"] == where[0, 0, 8]  # a ring of four
    assert neighbours(network, where[3, 4, 1])["+x"] == where[0, 4, 1]  # three modules: a ring of four and one of two
    assert neighbours(network, where[5, 4, 1])["+x"] == where[4, 4, 1]
    assert neighbours(network, where[0, 3, 0])["+y"] == where[0, 4, 0]  # both cabinets: a ring of eight
    assert neighbours(network, where[0, 7, 0])["+y"] == where[0, 0, 0]
    assert neighbours(network, where[6, 3, 1])["+y"] == where[6, 0, 1]  # cabinet 0 alone: a ring of four
    assert neighbours(network, where[7, 4, 0])["+z"] == where[7, 4, 2]  # the plane between is missing here
    assert neighbours(network, where[0, 0, 8])["+z"] == where[0, 0, 0]
    assert neighbours(network, where[4, 0, 7])["+z"] == where[4, 0, 0]


@pytest.mark.parametrize("changes", [AC20, LC424], ids=["20", "424"])
def test_partial_planes_are_reached(tmp_path, changes):
    """Every pair is connected, without a circle among virtual channels; in the emulated machine the packets arrive."""
    machine = t3e.machine(build(changes))
    assert not machine.separated and not machine.stopped and not machine.circle
    assert machine.pairs == len(machine.pes) * (len(machine.pes) - 1)
    partial = [pe.node for pe in machine.pes if pe.position in {(0, 0, 2), (1, 1, 2), (3, 2, 8), (0, 4, 1), (5, 7, 1)}]
    pairs = [(p, pe.node) for p in partial for pe in machine.pes if pe.node != p]
    pairs += [(d, s) for s, d in pairs]
    totals = trace_all(tmp_path, build(changes), pairs).totals
    assert totals["packets_delivered"] == len(pairs) and totals["packets_dropped"] == 0


def test_hops_are_made_only_where_no_normal_way_exists():
    """Paper, section 2.3. +Z comes early enough, and -Z late enough, for nearly all: only between the two parts of
    plane 1 of cabinet 1, X = 0 to 3 and X = 4 and 5, must a packet go both up and down in Z."""
    assert t3e.machine(build(AC20)).hopping_pairs == 0
    machine = t3e.machine(build(LC424))
    assert machine.hopping_pairs == 2 * 16 * 8
    network = Network(build(LC424))
    node = {pe.position: pe for pe in machine.pes}
    tag = t3e.Tag.of(t3e.Machine(network).read_register(node[0, 4, 1].node, f"R_NET_LUT{node[4, 4, 1].logical}"))
    assert (tag.initial_hop, tag.signs[2], tag.adapt) == (2, "-", False)


links = st.lists(st.tuples(st.integers(0, 63), st.integers(0, 5)), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(links=links, shape=st.sampled_from([(4, 4, 4), (8, 4, 2), (2, 8, 4), (2, 4, 8)]),
       half=st.sampled_from(["balanced", "plus"]), any_=st.sampled_from(["highest", "any"]), mode=st.sampled_from("01"))
def test_tables_around_random_breaks(tmp_path_factory, links, shape, half, any_, mode):
    """Whatever breaks: no packet is lost among pairs that are connected, and nothing can wait in a circle."""
    experiment = build({"topology.shape": list(shape), "faults.links": [x for link in links for x in link],
                        "routing.half_way": half, "router.adaptive_choice": any_, "routing.lut_mode": mode,
                        "faults.unconnected": "warn"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = t3e.machine(experiment)
        assert not machine.circle and not machine.stopped
        apart = set(machine.separated)
        some = [(s, d) for s in range(64) for d in range(64) if s != d and (s * 7 + d) % 5 == 0]
        pairs = [pair for pair in some if pair not in apart]
        totals = trace_all(tmp_path_factory.mktemp("trace"), experiment, pairs, gap=1).totals
    assert totals["packets_dropped"] == 0
    assert totals["packets_delivered"] == len(pairs)


def test_a_broken_link_costs_little():
    """One link of an 8x8x4 torus: the tables go around it, and most pairs still adapt."""
    whole = t3e.machine(build({"topology.shape": [8, 8, 4]}))
    broken = t3e.machine(build({"topology.shape": [8, 8, 4], "faults.links": [0, 0]}))
    assert whole.adaptive_pairs == whole.pairs
    assert 0.8 * broken.pairs < broken.adaptive_pairs < broken.pairs
    network = Network(build({"topology.shape": [8, 8, 4], "faults.links": [0, 0]}))
    # Isolated: ignored both ways, no adaptive packets out.
    assert t3e.Machine(network).read_register(0, "R_CHAN0") == 1 | 2 | 4
    assert t3e.Machine(network).read_register(1, "R_CHAN3") == 1 | 2 | 4
    network.step(3000)
    assert network.totals["packets_dropped"] == 0
    sent = [vc for vc in network.router(0).ports[0].vcs]
    assert all(vc.credits in (12, 22) for vc in sent)  # nothing has gone that way


def test_breaks_during_a_run():
    """Packets are lost from the break to the new tables, none before; those half across arrive whole."""
    experiment = build({"topology.shape": [4, 4, 4], "faults.links": [0, 0, 21, 1], "faults.cycle": 1000,
                        "faults.reroute_delay": 500})
    network = Network(experiment).step(1000)
    assert network.totals["packets_dropped"] == 0
    assert t3e.Machine(network).read_register(0, "R_CHAN0") == 0
    lost = []
    for _ in range(8):
        network.step(250)
        lost.append(network.totals["packets_dropped"])
    assert lost[0] > 0 and lost[1] > lost[0]
    assert lost[3] == lost[-1]  # with the new tables nothing is lost, but for what was under way
    result = run(experiment.set({"run.warmup_cycles": 0, "run.measure_cycles": 4000}))
    packets = result.packets
    assert packets.dropped == lost[-1]
    assert packets.created == packets.delivered + packets.dropped + packets.in_flight + packets.queued


def test_breaks_are_part_of_a_resumed_run(tmp_path):
    """A checkpoint from before the break goes on to the same bits."""
    experiment = build({"topology.shape": [4, 4, 2], "faults.nodes": [5], "faults.cycle": 700})
    straight = Network(experiment).step(3000)
    first = Network(experiment).step(650)
    first.save(tmp_path / "half")
    second = Network(experiment).load(tmp_path / "half")
    assert second.step(2350).state_hash == straight.state_hash


def test_a_spare_takes_over(tmp_path):
    """Logical number 5 moves to node 63; virtual PE numbers stay contiguous."""
    changes = {"topology.shape": [4, 4, 4], "topology.spares": [63, 62]}
    before = t3e.machine(build(changes))
    assert [pe.virtual for pe in before.pes] == [*range(62), None, None]
    after = t3e.machine(build(changes | {"faults.nodes": [5]}))
    assert after.pes[63].logical == 5 and after.pes[63].virtual == 5
    assert after.pes[5].partition is None and not after.pes[5].in_service
    assert sorted(pe.virtual for pe in after.pes if pe.virtual is not None) == list(range(62))
    network = Network(build(changes | {"faults.nodes": [5]})).step(2000)
    received = [network.terminal(n).received for n in range(64)]
    assert received[5] == received[62] == 0 and received[63] > 0
    assert network.totals["packets_dropped"] == 0
    tag = t3e.Tag.of(t3e.Machine(network).read_register(0, "R_NET_LUT5"))
    assert (tag.x, tag.y, tag.z) == (3, 3, 3)


def test_a_spare_takes_over_during_a_run():
    """From the new tables on the spare receives what was for the broken PE, whose own packets are lost."""
    network = Network(build({"topology.shape": [4, 4, 4], "topology.spares": [63], "faults.nodes": [5],
                             "faults.cycle": 1000, "faults.reroute_delay": 300})).step(1300)
    assert network.terminal(63).received == 0
    start, own = network.step(100).totals["packets_dropped"], network.terminal(5).sent
    network.step(2000)
    assert network.terminal(63).received > 50
    assert network.totals["packets_dropped"] - start <= network.terminal(5).sent - own + 1


def test_partitions_keep_to_themselves():
    """Table 7's partitions: PEs send to their own, by virtual numbers, and the others are idle."""
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


def test_tables_that_lose_packets_are_warned_of(tmp_path):
    """All SELECT bits of +Y set in a ring of eight: packets that pass the dateline are lost, and counted."""
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
    "spares in mode 1": ({"topology.shape": [2, 4, 2], "topology.spares": [1], "routing.lut_mode": "1"}, "renamed"),
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
    ("0,R_NOTHING,1", "there is no register R_NOTHING"), ("0,R_SW", "node,name,value"),
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


def test_channel_errors_are_counted_and_corrected():
    """At a low rate every hit flit is hit once; at a high one many are hit twice. Detected on the way, by hop."""
    shape = {"topology.shape": [4, 4, 4]}
    low = Network(build(shape | {"faults.error_rate": 0.001, "traffic.load": 0.2})).step(4000).totals
    moves = low["flit_moves"] - low["flits_delivered"]  # crossings of links, but for a few
    assert low["channel_errors"] == pytest.approx(0.001 * moves, rel=0.25)
    assert low["flits_corrected"] == pytest.approx(low["channel_errors"], rel=0.1)
    always = build(shape | {"faults.error_rate": 1.0, "traffic.load": 0.05})
    network = Network(always).step(3000)
    totals = network.totals
    judged = totals["flits_corrected"] + totals["flits_uncorrectable"]
    assert judged == pytest.approx(totals["flits_delivered"], rel=0.02)
    result = run(always.set({"run.warmup_cycles": 0, "run.measure_cycles": 2000}))
    assert result.model.flits_uncorrectable > 0


def test_ignored_channels_lose_what_comes_in():
    """IGNORE_NORMAL on the PE's channel: nothing it sends is passed on (manual, Table 10)."""
    network = Network(build({"topology.shape": [4, 4, 2]}))
    t3e.Machine(network).write_register(0, "R_CHAN6", 1)
    before, after = (network.step(1000).totals for _ in range(2))
    sent = network.terminal(0).sent
    assert 0 <= sent - after["packets_dropped"] <= 4  # all but what is under way
    assert before["packets_dropped"] < after["packets_dropped"]
    assert all(a <= b for a, b in pairwise([before["packets_dropped"], after["packets_dropped"], sent]))


def by_hand(changes: dict) -> Network:
    return Network(build({"barrier.units": 2, "barrier.operation": "by_hand", "traffic.load": 0.0} | changes))


def test_a_barrier_by_hand():
    """Figure 6 (a): S_BAR to S_ARM by OP_BAR, back to S_BAR when all have joined, and not before."""
    network = by_hand({"topology.shape": [2, 2, 1]})
    for pe in (0, 1, 2):
        t3e.Machine(network).barrier_operation(pe, "OP_BAR")
        network.step(50)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_ARM"] * 3 + ["S_BAR"]
    assert len(t3e.Machine(network).barrier_register(0).joined) == 2  # itself and a neighbour, whose branch is complete
    with pytest.raises(ConfigError, match="OP_BAR of PE 0 on barrier unit 0 is not possible in state S_ARM"):
        t3e.Machine(network).barrier_operation(0, "OP_BAR")
    t3e.Machine(network).barrier_operation(3, "OP_BAR")
    network.step(7 + 3 * 2 + 3 * 2 + 10)  # two hops to the root and back
    assert network.totals["barriers"] < 4
    network.step(1)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_BAR"] * 4
    assert network.totals["barriers"] == 4 and t3e.Machine(network).barrier_state(0, 1) == "S_BAR"


def test_a_eureka_by_hand():
    """Figure 6 (b): one finds, all others hear of it, and all join before the next."""
    network = by_hand({"topology.shape": [2, 2, 1]})
    t3e.Machine(network).barrier_operation(2, "OP_EUR")
    assert t3e.Machine(network).barrier_state(2) == "S_EUR"
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_EUR"] * 4
    with pytest.raises(ConfigError, match="not possible in state S_EUR"):
        t3e.Machine(network).barrier_operation(1, "OP_EUR")
    for pe in range(4):
        t3e.Machine(network).barrier_operation(pe, "OP_BAR")
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_BAR"] * 4
    t3e.Machine(network).barrier_operation(1, "OP_EUR_B")
    network.step(60)
    assert [t3e.Machine(network).barrier_state(pe) for pe in range(4)] == ["S_EUR", "S_ARM", "S_EUR", "S_EUR"]


def test_barriers_of_partitions():
    """Each partition has its own unit; its tree leads to its PEs alone, by way of others' routers if need be."""
    experiment = build({"topology.shape": [4, 4, 2], "topology.partitions": [0, 15, 20, 3], "barrier.units": 2,
                        "traffic.load": 0.1})
    network = Network(experiment).step(3000)
    rounds = network.totals["barriers"]
    assert rounds > 20 * 20
    register = t3e.Machine(network).barrier_register
    assert "PE" in register(21, 1).children
    assert "PE" not in register(21, 0).children
    assert "PE" not in register(1, 1).children
    members = [n for n in range(32) if "PE" in register(n, 1).children]
    assert members == [20, 21, 22, 23]


def test_barrier_trees_go_around_breaks():
    broken = {"topology.shape": [4, 4, 2], "faults.links": [0, 0, 0, 1], "barrier.units": 1, "traffic.load": 0.0}
    network = Network(build(broken)).step(2000)
    assert not {"+x", "+y"} & set(t3e.Machine(network).barrier_register(0).children)
    assert network.totals["barriers"] > 32 * 10


@pytest.mark.parametrize("call, text", [
    (lambda machine: machine.barrier_operation(0, "OP_BAR"), "by_hand"),
    (lambda machine: machine.barrier_state(0, 5), "not in use"),
])
def test_barrier_messages(call, text):
    with pytest.raises(ConfigError, match=text):
        call(t3e.Machine(Network(build({"topology.shape": [2, 2, 1], "barrier.units": 1}))))


def test_barrier_operations_are_named():
    network = by_hand({"topology.shape": [2, 2, 1], "topology.partitions": [0, 1]})
    with pytest.raises(ConfigError, match="operations are OP_BAR, OP_EUR and OP_EUR_B"):
        t3e.Machine(network).barrier_operation(0, "JOIN")
    with pytest.raises(ConfigError, match="takes no part"):
        t3e.Machine(network).barrier_operation(3, "OP_BAR")


def test_writing_a_select_bit_that_loses_packets_warns():
    """+Y in a ring of eight from node Y = 6: Y = 1 lies behind the dateline, Y = 7 before it, Y = 0 is it."""
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
        for node in range(32):  # tables as loaded are in order
            for direction in range(6):
                name = f"R_VCSEL{direction}"
                t3e.Machine(network).write_register(node, name, t3e.Machine(network).read_register(node, name))


def test_what_a_pe_sends_to_itself_is_refused(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("0,1,1,2\n")
    network = Network(Experiment.from_dict({"router.kind": "t3e", "topology.shape": [2, 2, 1], "traffic.mode": "trace",
                                            "traffic.trace_file": str(path)}))
    with pytest.raises(ConfigError, match=r"trace\.csv:1: .*terminal 1 sends to itself"):
        network.step(1)


@pytest.mark.parametrize("name", ["t3e.manual", "t3e.faults"])
def test_experiments_match(name):
    """faults: one draw of four broken links. Every row is within its tolerance, or has nothing to be compared with."""
    rows = faults.faults(draws=1, breaks=(4,)) if name == "t3e.faults" else flitlab.reproduce(name)
    assert len(rows) > 12
    assert not [r for r in rows if r["verdict"] == "out"]
    assert sum(r["verdict"] == "match" for r in rows) >= 7


@pytest.mark.parametrize("pes", [20, 424])
def test_configurations_with_partial_planes(config, pes):
    result = run(flitlab.load(config(f"t3e-{pes}")).set({"run.warmup_cycles": 1000, "run.measure_cycles": 2000}))
    assert result.routers == pes and not result.saturated
    assert result.packets.dropped == 0


def io_trace(tmp_path, lines: list[tuple[int, int, int, int]], interval: int = 2) -> Network:
    path = tmp_path / "io.csv"
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return Network(Experiment.from_dict({
        "router.kind": "t3e", "topology.shape": [4, 4, 2], "io.nodes": [5, 20], "io.interval": interval,
        "traffic.mode": "trace", "traffic.trace_file": str(path)}), trace=True)


def deliveries(network: Network) -> list[tuple[int, int]]:
    return [(e["cycle"], e["index"]) for e in network.events() if e["kind"] == "delivered"]


def test_io_devices_are_reached_and_answer(tmp_path):
    """Devices are terminals 32 and 33, at the I/O ports of nodes 5 and 20; a packet to a device takes as long as one to
    its node's PE, if it comes in a clock in which the port is open."""
    to_pe, to_io, back = (deliveries(io_trace(tmp_path, [(0, src, dst, 1)], 1).step(100))
                          for src, dst in ((0, 5), (0, 32), (32, 0)))
    assert to_io == [(to_pe[0][0], 32)] and back == [(to_pe[0][0], 0)]
    device_to_device = deliveries(io_trace(tmp_path, [(0, 33, 32, 4)]).step(200))
    assert [index for _, index in device_to_device] == [32]
    assert [port.name for port in io_trace(tmp_path, []).router(5).ports][6:] == ["PE", "I/O"]
    assert [port.name for port in io_trace(tmp_path, []).router(6).ports][6:] == ["PE"]


@pytest.mark.parametrize("interval", [1, 2, 5])
def test_the_io_port_is_slow_both_ways(tmp_path, interval):
    """40 packets of 10 flits: a flit every `interval` clocks; what goes to the PE of the same node is not held up."""
    clocks = 400 * interval
    for src, dst in ((0, 32), (32, 0)):
        times = [t for t, _ in deliveries(io_trace(tmp_path, [(0, src, dst, 10)] * 40, interval).step(clocks + 300))]
        assert len(times) == 40
        assert (times[-1] - times[3]) / 36 == pytest.approx(10 * interval, rel=0.03)
    both = [(n, src, dst, 10) for n in range(0, 400, 10) for src, dst in ((0, 32), (6, 5))]
    to_pe = [t for t, index in deliveries(io_trace(tmp_path, both, interval).step(clocks + 300)) if index == 5]
    assert len(to_pe) == 40 and to_pe[-1] - to_pe[0] <= 390 + 2 * interval


def test_the_io_channel_can_be_shut(tmp_path):
    """R_CHAN7 is the I/O channel: what the device sends is not passed on (manual, Tables 9 and 10)."""
    network = io_trace(tmp_path, [(10, 32, 0, 3), (10, 33, 0, 3)])
    t3e.Machine(network).write_register(5, "R_CHAN7", 1)
    network.step(200)
    assert network.totals["packets_dropped"] == 1 and [i for _, i in deliveries(network)] == [0]


def test_uniform_traffic_leaves_devices_alone_and_matrices_do_not(tmp_path):
    base = {"topology.shape": [2, 2, 1], "io.nodes": [1]}
    network = Network(build(base)).step(1000)
    assert network.terminal(4).created == network.terminal(4).received == 0
    path = tmp_path / "matrix.csv"
    path.write_text("0,4,1\n1,0,1\n2,4,1\n3,4,1\n4,2,1\n")
    network = Network(build(base | {"traffic.pattern": "matrix", "traffic.matrix_file": str(path),
                                    "traffic.mode": "request_reply", "traffic.load": 0.05})).step(3000)
    assert network.terminal(4).created > 20 and network.totals["transactions"] > 100
    result = run(build(base | {"run.warmup_cycles": 500, "run.measure_cycles": 2000}))
    assert result.terminals == 4


@pytest.mark.parametrize("nodes, text", [([32], "numbered 0 to 31"), ([3, 3], "one I/O port")])
def test_bad_io_nodes(nodes, text):
    with pytest.raises(ConfigError, match=text):
        Network(build({"topology.shape": [4, 4, 2], "io.nodes": nodes}))


def test_a_turned_machine_is_the_mirror_image(tmp_path):
    """R_ORIENT = 7: + is - in every dimension (manual, Tables 1 to 3). A node that has the registers of its mirror
    image then does the same; packets one after the other, since arbiters go by the numbers of ports."""
    shape = {"topology.shape": [4, 4, 2]}
    plain = Network(build(shape))
    where = {pe.position: pe.node for pe in t3e.machine(build(shape)).pes}
    mirror = {n: where[3 - x, 3 - y, 1 - z] for (x, y, z), n in where.items()}
    registers, software = tmp_path / "registers.csv", t3e.Machine(plain)
    lines = [f"{n},{name},{value}\n" for n, m in mirror.items() for name, value in software.registers(m).items()
             if not name.startswith("R_NET_LUT") or int(name[9:]) < 32]
    registers.write_text("".join(lines) + "*,R_ORIENT,7\n")
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


@pytest.mark.parametrize("changes", [LC424 | {"faults.links": [119, 2]}, AC20 | {"faults.links": [19, 2]}],
                         ids=["424", "20"])
def test_what_cannot_be_connected_is_said_and_lost(changes):
    """Packets may go round a ring that their ordinate is not on, or come to a link that is not there: they are thrown
    away, and hold nobody up."""
    with pytest.raises(ConfigError, match="pairs of PEs cannot be connected"):
        Network(build(changes))
    allowed = build(changes | {"faults.unconnected": "warn", "run.watchdog_cycles": 500})
    with pytest.warns(UserWarning, match="Their packets will be lost"):
        network = Network(allowed).step(3000)
    totals = network.totals
    assert 0 < totals["packets_dropped"] < 0.05 * totals["packets_created"]
    assert totals["packets_delivered"] > 0.9 * totals["packets_created"]
    with pytest.warns(UserWarning):
        run(allowed.set({"traffic.load": 0.9, "run.warmup_cycles": 500, "run.measure_cycles": 1000}))
    machine = t3e.machine(allowed)
    assert not machine.circle and machine.separated + machine.stopped


def test_initial_hops_beside_a_dateline_are_avoided():
    """Columns of the 424 PEs have their +Z datelines in different planes. With hops to a plane in which another column
    has one, this machine's tables had a circle."""
    choose = random.Random(3)
    link = [choose.randrange(424), choose.randrange(6)]
    machine = t3e.machine(build(LC424 | {"faults.links": link, "faults.unconnected": "warn", "routing.lut_mode": "1",
                                         "routing.adaptive": False}))
    assert not machine.circle


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([AC20, LC424, {"topology.shape": [4, 8, 1]},
                                                         {"topology.shape": [2, 4, 4]}]),
       count=st.integers(1, 4), cycle=st.sampled_from([0, 300]), mode=st.sampled_from("01"), adaptive=st.booleans())
def test_no_machine_deadlocks(seed, shape, count, cycle, mode, adaptive):
    """Saturated, whatever is missing, whatever breaks, and when: the watchdog finds nothing, packets are conserved."""
    choose = random.Random(seed)
    nodes = len(t3e.machine(build(shape)).pes)
    links = []
    while len(links) < 2 * count:
        link = [choose.randrange(nodes), choose.randrange(6)]
        try:
            t3e.machine(build(shape | {"faults.links": link, "faults.unconnected": "warn"}))
        except ConfigError:  # it is not connected
            continue
        links += link
    experiment = build(shape | {
        "faults.links": links, "faults.cycle": cycle, "faults.reroute_delay": 200, "faults.unconnected": "warn",
        "routing.lut_mode": mode, "routing.adaptive": adaptive, "traffic.load": 1.0, "run.seed": seed + 1,
        "run.watchdog_cycles": 500, "run.warmup_cycles": 500, "run.measure_cycles": 1500})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not t3e.machine(experiment).circle
        run(experiment)


def test_a_trace_ends_although_packets_are_lost(tmp_path):
    """One packet to a dead PE is lost; one that needs it will never be sent, which is said."""
    trace = tmp_path / "trace.csv"
    changes = {"topology.shape": [4, 4, 2], "faults.nodes": [5], "faults.unconnected": "warn", "traffic.mode": "trace",
               "traffic.trace_file": str(trace), "router.kind": "t3e"}
    trace.write_text("0,0,5,1\n10,1,2,4\n")
    packets = run(Experiment.from_dict(changes)).packets
    assert (packets.delivered, packets.dropped) == (1, 1)
    trace.write_text("0,0,5,1\n10,5,0,4,0\n")
    with pytest.raises(RunError, match=r"1 packets need others that were lost \(1\) or went elsewhere \(0\)"):
        run(Experiment.from_dict(changes))
    for late in (1030, 5050):  # it needs nobody, and its time comes
        trace.write_text(f"0,0,5,1\n{late},1,2,4\n")
        for epoch in (10, 64, 1000):
            packets = run(Experiment.from_dict(changes | {"run.epoch_cycles": epoch})).packets
            assert (packets.delivered, packets.dropped) == (1, 1)


def test_misdelivered_packets_are_counted():
    """PE 3 is told that it is PE 5: what was for 3 goes to 5, as the table says, and software can see it."""
    network = Network(build({"topology.shape": [4, 4, 2]})).step(500)
    assert network.totals["packets_misdelivered"] == 0
    for node in range(32):
        t3e.Machine(network).write_register(node, "R_NET_LUT3", t3e.Machine(network).read_register(node, "R_NET_LUT5"))
    assert network.step(1000).totals["packets_misdelivered"] > 10


def test_barriers_do_not_cross_broken_links():
    network = Network(build({"topology.shape": [4, 4, 2], "faults.nodes": [5], "faults.cycle": 500,
                             "faults.reroute_delay": 10, "barrier.units": 1, "traffic.load": 0.0})).step(600)
    before = network.totals["barriers"]
    assert before > 32 * 5 and network.step(1000).totals["barriers"] == before


def test_hot_spots_stay_in_their_partition():
    network = Network(build({"topology.shape": [2, 4, 2], "topology.partitions": [0, 7, 8, 7], "traffic.load": 0.1,
                             "traffic.pattern": "hot_spot", "traffic.hot_terminals": [0], "traffic.hot_fraction": 0.5}),
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
    keys = ("hops_mean", "diameter", "bisection_channels", "zero_load_latency_cycles")
    assert all(derived[key] is None for key in keys)
    broken = build({"topology.shape": [4, 4, 2], "faults.links": [0, 0]}).derived()
    assert all(broken[key] is None for key in keys)


@pytest.mark.filterwarnings("ignore:boot.state")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_replies_on_a_machine_that_nobody_has_booted(config, seed):
    """All PEs have number 0, and the tables lead anywhere: replies arrive at PEs that wait for none, or whose request
    has not even left."""
    e = flitlab.load(config("t3e-128")).set({"boot.state": "cold", "traffic.mode": "request_reply",
                                             "traffic.load": 0.8, "run.seed": seed})
    network = Network(e).step(6000)
    network.check()
    totals = network.totals
    assert totals["packets_misdelivered"] > 100
    assert 0 < totals["transactions"] < totals["packets_delivered"] / 2


def test_transactions_whose_reply_goes_to_another_stay_open():
    """All replies for PE 3 go to PE 5: it can have four requests on their way, and no more for ever."""
    settings = {"topology.shape": [4, 4, 2], "traffic.mode": "request_reply", "traffic.load": 0.2, "traffic.window": 4}
    network = Network(build(settings))
    for node in range(32):
        t3e.Machine(network).write_register(node, "R_NET_LUT3", t3e.Machine(network).read_register(node, "R_NET_LUT5"))
    network.step(5000)
    network.check()
    assert network.terminal(3).sent - network.terminal(3).received <= 4 < network.terminal(4).sent / 4
    assert network.totals["packets_misdelivered"] > 4
