"""The T3E's virtual-channel tables against a naive count and the paper's Table 1."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab import t3e
from flitlab.published.t3e import TABLE1, _latencies


def naive_balance(bits, subring):
    """Every route walked link by link, as section 4 of the paper describes it."""
    ring, entries = len(bits), len(bits[0])
    on = [[0, 0] for _ in range(ring)]
    for source in range(ring):
        for destination in range(ring):
            if source == destination:
                continue
            length = (destination - source) % ring
            if subring < ring:
                if source // subring != destination // subring or destination < source:
                    continue
            elif length > ring // 2 or (length == ring // 2 and source % 2):
                continue
            through = [(source + i) % ring for i in range(1, length)]
            vc = 0 if 0 in through and subring == ring else bits[source][destination % entries]
            node = source
            while node != destination:
                if node == 0 and node != source and subring == ring:
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
    limited = data.draw(st.booleans())
    entries = min(8, ring) if limited else ring
    bits = data.draw(st.lists(st.lists(st.integers(0, 1), min_size=entries, max_size=entries), min_size=ring,
                              max_size=ring))
    subring = data.draw(st.sampled_from([m for m in (4, 8, 16, 32) if m <= ring]))
    assert t3e.VcTable(tuple(map(tuple, bits))).balance(subring) == pytest.approx(naive_balance(bits, subring))


def test_ring_of_four_by_hand():
    """Routes of one hop from every node, and half-way routes 0-2 and 2-0. Nothing passes through node 0, so with a
    table of zeros all is on VC 0; with the half-way routes on VC 1 every link carries one of each."""
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
    for (ring, subring), (published, _, _) in TABLE1.items():
        for limited in (True, False):
            assert t3e.time_of_crossing(ring, limited).balance(subring) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("call", [
    lambda: t3e.time_of_crossing(12), lambda: t3e.time_of_crossing(512), lambda: t3e.time_of_crossing(8).balance(16),
    lambda: t3e.time_of_crossing(8).balance(3), lambda: t3e.optimise(8, goals={16: (0, 0)}),
    lambda: t3e.optimise(8, restarts=0), lambda: t3e.VcTable(((0, 2), (0, 0))).balance(),
])
def test_bad_arguments_are_named(call):
    with pytest.raises(fl.ConfigError):
        call()


def test_reproduce_table_1(cli):
    done = cli("reproduce", "t3e.table1", "--json")
    rows = json.loads(done.stdout)
    assert [r for r in rows if r["verdict"] == "out"] == []
    assert done.returncode == 0
    assert len(rows) == 60
    assert all(set(r) == {"experiment", "quantity", "source", "setting", "published", "measured", "unit", "tolerance",
                          "verdict", "reading"} for r in rows)


@pytest.mark.parametrize(("name", "verdict"), [("table2", "match"), ("table3", "match"), ("table4", "match"),
                                               ("barrier", "better")])
def test_the_paper_is_reproduced(name, verdict):
    rows = fl.reproduce(f"t3e.{name}")
    assert {r["verdict"] for r in rows} == {verdict}


def test_latencies_are_measured_not_printed():
    """Another router, other numbers."""
    one, two, turn = _latencies((8, 8, 8), [(0, 1), (0, 2), (0, 9)], router__straight_delay=4, router__turn_delay=9,
                                router__source_delay=20, router__destination_delay=13)
    assert (one, two - one, turn - one) == (33, 4, 9)


def test_a_row_without_a_published_number_is_skipped():
    from flitlab.reproduction import row
    assert row("x", "y", "s", "", None, 3.0, "", 0)["verdict"] == "skipped"


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


def test_nobody_sends_to_itself(tmp_path):
    matrix = tmp_path / "m.csv"
    matrix.write_text("".join(f"{i},{i},1\n" for i in range(16)))
    with pytest.raises(fl.ConfigError, match="PE 0 sends to itself"):
        fl.run(fl.Experiment.from_dict({"router.kind": "t3e", "topology.shape": [2, 4, 2], "traffic.pattern": "matrix",
                                        "traffic.matrix_file": str(matrix)}))


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
