"""The T3E's virtual-channel tables against a naive count and the paper's Table 1."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab import t3e
from flitlab.t3e.published import balance, barriers
from flitlab.t3e.published import paper as published
from flitlab.t3e.published.balance import TABLE1
from flitlab.t3e.published.paper import _latencies


def naive_balance(bits, subring, odd):
    """Returns the balance from following every route link by link, as section 4 of the paper describes it."""
    ring, entries = len(bits), len(bits[0])
    dateline = ring - 1 if odd else 0
    on = [[0, 0] for _ in range(ring)]
    for source in range(ring):
        for destination in range(ring):
            if source == destination:
                continue
            length = (destination - source) % ring
            if subring < ring:
                if source // subring != destination // subring or destination < source:
                    continue
            elif length > ring // 2 or (length == ring // 2 and source % 2 != odd):
                continue
            through = [(source + i) % ring for i in range(1, length)]
            vc = 0 if dateline in through and subring == ring else bits[source][destination % entries]
            node = source
            while node != destination:
                if node == dateline and node != source and subring == ring:
                    vc = 1
                on[node][vc] += 1
                node = (node + 1) % ring
    most = max(a + b for a, b in on)
    balance = [abs(a - b) / most for a, b in on]
    return sum(balance) / ring, max(balance)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_balance_is_what_a_naive_count_gives(data):
    ring = data.draw(st.sampled_from([4, 8, 16, 32]))
    limited, odd = data.draw(st.booleans()), data.draw(st.booleans())
    entries = min(8, ring) if limited else ring
    bits = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=entries, max_size=entries), min_size=ring,
                              max_size=ring))
    subring = data.draw(st.sampled_from([m for m in (4, 8, 16, 32) if m <= ring]))
    table = t3e.VcTable(tuple(map(tuple, bits)), odd)
    assert table.balance(subring) == pytest.approx(naive_balance(bits, subring, odd))


def test_ring_of_four_by_hand():
    """The + direction of a ring of four has one-hop routes from every node, and the half-way routes 0 to 2 and 2 to 0.
    No route passes through node 0. An all-zero table puts all routes on VC 0. With the half-way routes on VC 1, every
    link carries one route on each VC."""
    assert t3e.time_of_crossing(4).balance() == (1.0, 1.0)
    table = [[0] * 4 for _ in range(4)]
    table[0][2] = table[2][0] = 1
    assert t3e.VcTable(tuple(map(tuple, table))).balance() == (0.0, 0.0)


@pytest.mark.parametrize("limited", [True, False])
def test_constrained_entries_stay_zero(limited):
    table = t3e.optimise(32, limited, restarts=1, steps=20_000)
    entries = len(table.bits[0])
    for source in range(1, 32):
        for length in range(1, 17):
            if source + length > 32 and (length < 16 or source % 2 == 0):
                assert table.bits[source][(source + length) % 32 % entries] == 0
    assert any(map(any, table.bits))


def test_search_is_a_function_of_its_arguments():
    once, again, other = (t3e.optimise(16, seed=s, restarts=1, steps=20_000) for s in (1, 1, 2))
    assert once == again and once != other


def test_time_of_crossing_is_table_1():
    for (ring, subring), (wanted, _, _) in TABLE1.items():
        for limited in (True, False):
            assert t3e.time_of_crossing(ring, limited).balance(subring) == pytest.approx(wanted, abs=5e-4)


@pytest.mark.parametrize("call", [
    lambda: t3e.time_of_crossing(12), lambda: t3e.time_of_crossing(512), lambda: t3e.time_of_crossing(8).balance(16),
    lambda: t3e.time_of_crossing(8).balance(3), lambda: t3e.optimise(8, goals={16: (0, 0)}),
    lambda: t3e.optimise(8, restarts=0), lambda: t3e.machine_table(12), lambda: t3e.VcTable(((0, 2), (0, 0))).balance(),
])
def test_bad_arguments_are_named(call):
    with pytest.raises(fl.ConfigError):
        call()


def test_reproduce_table_1():
    """Reproduces Table 1 for all rings except 32 nodes, whose searches take half a minute."""
    rows = balance.table1((4, 8, 16))
    # Without the paper's values as goals, the search favours subrings.
    assert {r["setting"] for r in rows if r["verdict"] == "out"} == {"ring 16, subring 16"}
    assert all("search without goals" in r["quantity"] and r["why"] for r in rows if r["verdict"] == "out")
    assert not [r for r in rows if r["verdict"] == "broken"]
    by = {kind: [r for r in rows if r["kind"] == kind] for kind in ("published", "check", "context")}
    assert len(by["published"]) == 36
    # The checks: tables from searches whose goals are the paper's values, and a ring of 16 beyond 544 PEs.
    assert (len(by["check"]), len(by["context"])) == (30, 12)
    assert all(set(r) == {"experiment", "kind", "quantity", "source", "setting", "published", "measured", "unit",
                          "tolerance", "verdict", "reading", "ideal", "printed", "why"} for r in rows)


@pytest.mark.parametrize(("shape", "odd"), [((2, 8, 1), False), ((4, 32, 2), False), ((8, 16, 8), True),
                                            ((8, 32, 8), True)])
def test_registers_hold_the_machine_s_table(shape, odd):
    """Beyond 544 PEs, half-way routes of odd nodes take +, and the dateline is the last node."""
    software = t3e.Machine(fl.Network(fl.Experiment.from_dict({"router.kind": "t3e", "topology.shape": list(shape)})))
    ring = shape[1]
    select = [software.read_register(shape[0] * y, "R_VCSEL1") for y in range(ring)]
    bits = tuple(tuple(word >> y & 1 for y in range(min(ring, 8))) for word in select)
    assert t3e.VcTable(bits, odd=bool(select[-1] >> 32)) == t3e.machine_table(ring, odd=odd)


@pytest.mark.parametrize(("shape", "odd"), [((2, 8, 1), False), ((4, 16, 1), False), ((8, 16, 8), True)])
@pytest.mark.parametrize("subring", [4, 8])
def test_table_1_counts_packets_on_links(shape, odd, subring):
    """Compares traffic on the machine's links with every route followed by hand over the machine's table."""
    bits = t3e.machine_table(shape[1], odd=odd).bits
    assert balance.balance_of_traffic(shape, subring) == pytest.approx(naive_balance(bits, subring, odd))


def test_table_1_is_measured(other_machine):
    """The balance is measured on the machine: other SELECT bits in its registers change it."""
    other_machine(routing__vc_select="time_of_crossing")
    assert balance.balance_of_traffic((2, 8, 1), 8) == (0.8125, 1)


def test_readings_are_named_in_the_output(cli):
    """Each reading is printed once, after the rows of its experiment."""
    done = cli("reproduce", "t3e.table2", "t3e.table3")
    lines = done.stdout.splitlines()
    readings = [line for line in lines if "read as:" in line]
    assert done.returncode == 0 and len(readings) == len(set(readings)) > 0
    assert "End-point" in readings[0] and readings[0].split()[0] == "t3e.table2"
    assert lines.index(readings[0]) < next(i for i, line in enumerate(lines) if "t3e.table3" in line)



def test_tables_of_another_seed_balance_as_well():
    """routing.vc_seed selects other tables, which also reach the paper's balances of a ring of 16."""
    def select(seed):
        e = fl.Experiment.from_dict({"router.kind": "t3e", "topology.shape": [2, 16, 1], "routing.vc_seed": seed})
        return [t3e.Machine(fl.Network(e)).read_register(n, "R_VCSEL1") for n in range(32)]

    assert select(1) != select(2) and select(1) == select(1)
    average, most = balance.balance_of_traffic((2, 16, 1), 16, routing__vc_seed=1)
    assert average <= 0.137 + balance.ROUNDED and most <= 0.563 + balance.ROUNDED


@pytest.mark.parametrize(("name", "verdict"), [("table2", "holds"), ("table3", "holds"), ("table4", "match")])
def test_the_paper_is_reproduced(name, verdict):
    rows = fl.reproduce(f"t3e.{name}")
    assert {r["verdict"] for r in rows} == {verdict}


def test_barriers_are_faster_than_the_farthest_reference():
    rows = barriers.barrier(each=7, cycles=4000)
    assert {r["verdict"] for r in rows if "farthest" in r["quantity"]} == {"better"}
    assert all(0.7 < r["measured"] < 1.3 for r in rows if r["quantity"].endswith("the mean"))
    tried = {(r["setting"], r["quantity"]): r["measured"] for r in rows if r["kind"] == "context"}
    assert len(tried) == 8
    assert tried["512 PEs, idle", "barrier over the mean vector get"] < 1  # a vector Get takes 8 clocks more than a Get


def test_barriers_are_compared_with_references_of_the_same_load():
    """Load delays references but not barriers, so each row has a separate ratio."""
    idle, *loaded = [r["measured"] for r in barriers.barrier(each=7, cycles=4000)
                     if r["quantity"].endswith("the mean")]
    assert idle > loaded[0] > loaded[1]


@pytest.fixture
def other_machine(monkeypatch):
    """Changes settings of all machines in the published experiments: other_machine(key__of__it=value)."""
    original = published._machine

    def give(**settings):
        for module in (published, balance):
            monkeypatch.setattr(module, "_machine", lambda shape, **given: original(shape, **given | settings))

    return give


def measured(rows, quantity):
    return [r["measured"] for r in rows if quantity in r["quantity"]]


def verdicts(rows, quantity=""):
    return {r["verdict"] for r in rows if quantity in r["quantity"]}


def test_table_2_is_measured(other_machine):
    other_machine(router__straight_delay=4, router__turn_delay=9, router__source_delay=20,
                  router__destination_delay=13)
    assert measured(published.table2(), "") == [4, 9, 20, 13]


def test_table_3_is_counted(monkeypatch):
    monkeypatch.setitem(t3e.OPERATIONS, "put", t3e.Operation(5, 1, 1, 0))
    rows = published.table3()
    assert measured(rows, "put, re")[:2] == [6, 1] and measured(rows, "vector put") == [10, 2]


def test_table_4_needs_a_link_that_is_never_idle(other_machine):
    other_machine(router__credit_delay=20)
    assert "out" in verdicts(published.table4())


@pytest.mark.parametrize("operation", t3e.OPERATIONS)
@pytest.mark.parametrize("destinations", [published.THERE, published.THERE | published.BACK])
def test_no_port_is_the_limit_of_table_4(operation, destinations, tmp_path):
    """Both PEs of a side contribute a large part of the traffic on the link, so no PE's port is the bottleneck."""
    settings = t3e.OPERATIONS[operation].settings() | {"traffic.load": 1.0, "traffic.window": 256,
                                                       "traffic.reply_queue": 256}
    net = fl.Network(published._between(tmp_path, destinations).set(settings)).step(10000)
    received = [net.terminal(pe).received for pe in range(4)]
    assert min(received[0], received[1]) > 0.3 * sum(received[:2])
    assert min(received[2], received[3]) > 0.3 * sum(received[2:])


# Round trips in nanoseconds, by hand from Table 2: longest and mean, with 10 clocks at each end-point and with 10
# clocks for both together.
@pytest.mark.parametrize(("nodes", "longest", "mean", "longest_b", "mean_b"), [
    (8, 853, 648, 587, 381), (16, 933, 693, 667, 427), (64, 1093, 800, 827, 533)])
def test_figure_7(nodes, longest, mean, longest_b, mean_b):
    rows = published.figure7([nodes])
    assert verdicts(rows, "pairs that differ") == {"holds"} and verdicts(rows, "round trip") == {"context"}
    assert measured(rows, "longest") == pytest.approx([longest, longest_b], abs=0.5)
    assert measured(rows, "mean") == pytest.approx([mean, mean_b], abs=0.5)


def test_figure_7_is_measured(other_machine):
    other_machine(router__turn_delay=7)
    assert verdicts(published.figure7([16]), "pairs that differ") == {"broken"}


@pytest.mark.parametrize("nodes", [8, 64])
def test_figure_8(nodes):
    rows = published.figure8([nodes], cycles=1000)
    assert measured(rows, "bisection") == pytest.approx([{8: 8, 64: 64}[nodes] * 0.6], rel=0.01)
    assert verdicts(rows, "bandwidth per PE") == {"context"}  # the paper's numbers are for 128 PEs and more
    (most,) = measured(rows, "most of all loads")
    assert 0.6 < most < 1


def test_largest_bisection():
    assert published.bisection((8, 8, 8)) == pytest.approx(153.6, rel=0.01)


def test_figure_8_is_measured(other_machine):
    """Credits that return 20 clocks later leave links idle: buffers of 12 and of 22 flits cannot cover 26 clocks."""
    fast = published.figure8([64], cycles=500)
    other_machine(router__credit_delay=23)
    slow = published.figure8([64], cycles=500)
    assert measured(slow, "bisection")[0] < 0.9 * measured(fast, "bisection")[0]
    # The PE's port still limits the bandwidth.
    assert measured(slow, "bandwidth per PE") == measured(fast, "bandwidth per PE")
    assert measured(slow, "most of all loads")[0] < 0.9 * measured(fast, "most of all loads")[0]


@pytest.fixture(scope="module")
def gains():
    return published.adaptive(large=(4, 4, 4), seeds=2, cycles=600)


def test_adaptive_routing_helps_a_transpose_and_hurts_a_tornado(gains):
    by = {(r["quantity"], r["setting"]): r for r in gains}
    adaptive = "throughput, adaptive over deterministic"
    assert by[adaptive, "64 PEs, transpose"]["measured"] > 1.1 and by[adaptive, "64 PEs, uniform"]["measured"] > 1
    assert by[adaptive, "64 PEs, tornado"]["measured"] < 0.9
    assert by[adaptive, "64 PEs, tornado"]["published"] is None


def test_a_machine_that_cannot_adapt_gains_nothing(other_machine):
    other_machine(router__adaptive_vcs=0)
    ours, others = (published.sustained((4, 4, 4), "transpose", 2, 600, routing__adaptive=a) for a in (True, False))
    assert published.gain(ours, others) == (1, 0)


def test_interval_of_a_gain():
    """For two ratios, the half interval is 12.706 (Student's t) times their standard deviation, divided by the square
    root of two."""
    mean, half = published.gain([1.0, 1.2], [1.0, 1.0])
    assert (mean, half) == (pytest.approx(1.1), pytest.approx(12.706 * 0.1, rel=1e-3))


def test_latencies_are_measured_not_printed():
    """A router with other delays gives other latencies."""
    one, two, turn = _latencies((8, 8, 8), [(0, 1), (0, 2), (0, 9)], router__straight_delay=4, router__turn_delay=9,
                                router__source_delay=20, router__destination_delay=13)
    assert (one, two - one, turn - one) == (33, 4, 9)


def test_a_row_without_a_published_number_is_context():
    from flitlab.reproduction import row
    assert row("x", "y", "s", "", None, 3.0, "", 0)["verdict"] == "context"


@pytest.mark.parametrize(("settings", "parts"), [
    ({"topology.shape": [3, 4, 2]}, ["topology.shape = [3, 4, 2]", "X is 2, 4 or 8"]),
    ({"topology.shape": [8, 6, 2]}, ["topology.shape = [8, 6, 2]", "Y is 2 or a multiple of 4"]),
    ({"topology.shape": [8, 8, 10]}, ["topology.shape = [8, 8, 10]", "Z is 1 to 9"]),
    ({"topology.shape": [8, 32, 9]}, ["topology.shape = [8, 32, 9]", "2304 PEs", "2176"]),
    ({"topology.shape": [8, 8]}, ["topology.shape = [8, 8]", "three dimensions"]),
    ({"traffic.packet_flits": 11}, ["at most 10 flits", "11"]),
    ({"router.turn_delay": 3}, ["router.turn_delay = 3", "router.straight_delay = 3"]),
    ({"router.adaptive_buffer_flits": 5, "traffic.packet_flits": 10}, ["router.adaptive_buffer_flits = 5", "10 flits"]),
    ({"barrier.units": 1, "router.straight_delay": 4, "router.turn_delay": 7},
     ["barrier.router_delay = 3", "router.straight_delay = 4"]),
    ({"barrier.root": 512}, ["barrier.root = 512", "0 to 511"]),
    ({"topology.concentration": 2}, ["topology.concentration", "belongs to router.kind", "vc"]),
    ({"traffic.mode": "request_reply", "traffic.message_classes": 1}, ["traffic.message_classes = 1", "Leave it at 2"]),
])
def test_bad_machines_are_named(settings, parts):
    with pytest.raises(fl.ConfigError) as error:
        fl.Experiment.from_dict({"router.kind": "t3e"} | settings)
    assert all(part in str(error.value) for part in parts), str(error.value)


@pytest.mark.parametrize("form", ["vcd", "perfetto", "jsonl"])
def test_a_machine_can_be_traced(form, tmp_path, cli, config):
    out = tmp_path / "trace"
    done = cli("trace", config("t3e-16"), "--cycles", "50:150", "--format", form, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 1000


@pytest.mark.parametrize("pes", [16, 64, 128, 512, 1024, 2048])
def test_shipped_machines_run(pes, config):
    experiment = fl.load(config(f"t3e-{pes}"))
    assert experiment.derived()["terminals"] == pes
    result = fl.run(experiment.set({"traffic.load": 0.05, "run.warmup_cycles": 200, "run.measure_cycles": 300}))
    assert result.packets.dropped == 0 and result.packets.delivered > pes / 4
