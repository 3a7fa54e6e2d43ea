"""The parameters that the BookSim of RapidChiplet adds: tables, rates and traces. The expected values come from its
program (spcl/rapidchiplet, commit 66e63e5)."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from flitlab.booksim import program, rapidchiplet
from flitlab.booksim.settings import Settings
from flitlab.booksim.statements import read

from .conftest import values

CHIPLETS = ["topology=anynet", "routing_function=min", "network_file=net.anynet", "routing_table_type=default",
            "routing_table_file=table.json", "traffic_file=traffic.json", "mode=traffic", "traffic=custom",
            "injection_process=custom", "injection_rate=0.02", "num_vcs=4", "packet_size=2"]


@pytest.fixture
def chiplets(run):
    """Three routers in a row with a node each, and a fourth that joins the first and the third over long channels."""
    Path("net.anynet").write_text("router  0 node 0 router 1 5 router 3 9\nrouter  1 node 1 router 0 5 router 2 5\n"
                                  "router  2 node 2 router 1 5 router 3 9\nrouter 3 router 0 9 router 2 9\n")
    # Packets from node 0 to node 2 take the fourth router; those from node 2 to node 0 take the second.
    table = [{0: 0, 1: 1, 2: 2}, {0: 1, 1: 0, 2: 2}, {0: 1, 1: 1, 2: 0}, {0: 0, 1: 0, 2: 1}]
    Path("table.json").write_text(json.dumps(table))
    Path("traffic.json").write_text(json.dumps([[0, 0, 1], [0, 0, 0], [0, 0, 0]]))
    return run


def test_rapidchiplets_tables_and_rates(chiplets):
    status, out, errors = chiplets("c", *CHIPLETS)
    assert status == 255 and errors == "" and "Warmed up" not in out
    over_the_fourth = values(out)
    assert over_the_fourth["Hops"] == 3 and over_the_fourth["Injected packet rate"] == pytest.approx(0.02 / 3, rel=0.3)
    Path("traffic.json").write_text(json.dumps([[0, 0, 0], [0, 0, 0], [3, 0, 0]]))
    over_the_second = values(chiplets("c", *CHIPLETS)[1])
    # Both cross two channels, of 9 and of 5 cycles.
    assert over_the_fourth["Packet latency"] - over_the_second["Packet latency"] == pytest.approx(8, abs=0.5)


def test_rapidchiplet_sees_no_warnings(chiplets):
    _, _, errors = chiplets("c", *CHIPLETS, "st_final_delay=3", "vc_buf_size=300")
    assert errors == ""


def test_means_with_rates_are_near_booksims(chiplets):
    Path("traffic.json").write_text(json.dumps([[0, 1, 3], [2, 0, 1], [1, 1, 0]]))
    found = values(chiplets("c", *CHIPLETS, "injection_rate=0.2", "sample_period=4000")[1])
    expected = {"Packet latency": 23.85, "Network latency": 23.51, "Accepted flit rate": 0.3994, "Hops": 2.416}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=0.02)


@pytest.fixture
def ring(chiplets):
    """Packets cross a ring of long channels clockwise."""
    Path("net.anynet").write_text("".join(f"router {r} node {r} router {(r + 1) % 4} 20 router {(r + 3) % 4} 20\n"
                                          for r in range(4)))
    # Ports lead to the node, then to the neighbours in rising order.
    table = [{node: 0 if node == r else 1 + ((r + 1) % 4 > (r + 3) % 4) for node in range(4)} for r in range(4)]
    Path("table.json").write_text(json.dumps(table))
    Path("traffic.json").write_text(json.dumps([[float(node == (r + 2) % 4) for node in range(4)] for r in range(4)]))
    return lambda *statements: chiplets("c", *CHIPLETS, "packet_size=1", "sample_period=4000", *statements)


def test_all_routes_share_all_virtual_channels(ring):
    """With half of the virtual channels for each route it would be unstable."""
    status, out, _ = ring("injection_rate=0.2")
    assert status == 255 and values(out)["Packet latency"] == pytest.approx(56.22, rel=0.02)


def test_a_deadlock_is_unstable(ring):
    """Packets fill the ring's buffers. As in BookSim the run ends as unstable, without a message."""
    status, out, error = ring("injection_rate=1.0", "num_vcs=1", "vc_buf_size=1", "latency_thres=1000000.0")
    assert status == 0 and "Simulation unstable, ending ..." in out and not error


def test_destinations_have_the_shares_of_the_rates(chiplets):
    rates = np.array([[0, 1, 3], [0, 0, 0], [5, 0, 0]])
    Path("traffic.json").write_text(json.dumps(rates.tolist()))
    settings = Settings(read("".join(f"{statement};" for statement in CHIPLETS), "c", program.PARAMETERS), "c",
                        program.PARAMETERS)
    process, pattern = rapidchiplet.traffic(settings, 3, 0.5, Path())
    assert process.rate.tolist() == [0.5, 0, 0.5]
    drawn = pattern(np.random.default_rng(1), np.repeat([0, 2], 4000))
    counts = np.bincount(drawn[:4000], minlength=3)
    assert counts[0] == 0 and counts[2] == pytest.approx(3000, rel=0.03) and set(drawn[4000:]) == {0}


# id, cycle, src, dst, num_flits, num_deps, rev_deps. Packet 1 is before packets 7 and 8 at their source; packet 5
# waits for its cycle, after packet 7 has arrived.
PACKETS = [(7, 10, 0, 2, 9, 0, [3, 5]), (3, 0, 2, 0, 1, 1, [9]), (5, 300, 2, 0, 2, 1, []), (9, 0, 0, 2, 3, 1, []),
           (1, 10, 0, 2, 2, 0, []), (4, 40, 1, 2, 1, 0, []), (8, 11, 0, 1, 1, 0, [])]
TRACE = [*CHIPLETS[:-3], "num_vcs=4", "mode=trace", "trace_file=trace.json", "injection_rate=1.0", "ignore_cycles=0"]


@pytest.fixture
def trace(chiplets):
    """Runs the program with packets like PACKETS."""

    def call(*arguments, packets=PACKETS):
        names = "id", "cycle", "src", "dst", "num_flits", "num_deps", "rev_deps"
        Path("trace.json").write_text(json.dumps([dict(zip(names, packet, strict=True)) for packet in packets]))
        return chiplets("c", *TRACE, *arguments)

    return call


def test_the_output_of_a_trace_is_booksims(trace):
    """All lines are equal except for what flitlab does not record: when each flit and the last credit arrive."""
    unknown = "Flit latency average", "Slowest flit", "Time taken", "Total run time"
    text = (Path(__file__).parent / "rapidchiplet_trace.txt").read_text()
    status, out, errors = trace()
    assert status == 255 and errors == ""
    ours, booksims = ([line for line in lines.splitlines() if not line.startswith(unknown)] for lines in (out, text))
    assert ours == booksims


@pytest.mark.parametrize(("arguments", "cycles", "latency"), [
    ([], 328, 29.4286), (["ignore_cycles=1"], 118, 29.4286),
    (["num_vcs=1", "vc_buf_size=2", "ignore_cycles=1"], 221, 48.1429),
])
def test_the_end_of_a_trace_is_booksims(arguments, cycles, latency, trace):
    out = trace(*arguments)[1]
    assert f"Total cycles until trace completion = {cycles}\n" in out
    assert values(out)["Packet latency"] == pytest.approx(latency, abs=0.15)


def test_packets_that_wait_in_vain_end_a_trace_after_ten_times_its_last_cycle(trace):
    packets = [(*packet[:5], 2, packet[6]) if packet[0] == 5 else packet for packet in PACKETS]
    out = trace(packets=packets)[1]
    assert "Total cycles until trace completion = 3000\n" in out and "Sample period 3000 Trace packets left 7" in out


@pytest.mark.parametrize(("packet", "message"), [
    ((1, 0, 0, 3, 1, 0, []), r"trace\.json: dst = 3 of packet 1 is not a whole number from 0 to 2"),
    ((1, 0, 0, 2, 0, 0, []), r"num_flits = 0 of packet 1"), ((1, 0.5, 0, 2, 1, 0, []), r"cycle = 0\.5 of packet 1"),
    ((7, 0, 0, 2, 1, 0, []), r"several packets with one id"),
    ((1, 0, 0, 2, 1, 0, [8]), r"rev_deps = \[8\] of packet 1"),
    ((1, 0, 0, 2, 1, 0, 7), r"rev_deps = 7"),
    ((1, 0, 0, 2, 1, 0, [7]), r"packet 7 has num_deps = 0, and its number of predecessors by rev_deps is 1"),
])
def test_traces_that_are_wrong(packet, message, trace):
    status, _, errors = trace(packets=[PACKETS[0][:6] + ([],), packet])
    assert status == 2 and re.search(message, errors)


def test_extended_tables_whose_routes_do_not_depend_on_the_input(chiplets):
    table = json.loads(Path("table.json").read_text())
    extended = [{node: {entry: port for entry in range(3)} for node, port in router.items()} for router in table]
    Path("table.json").write_text(json.dumps(extended))
    status, out, _ = chiplets("c", *CHIPLETS, "routing_table_type=extended")
    assert status == 255 and values(out)["Hops"] == 3
    extended[0]["2"][0] = 1
    Path("table.json").write_text(json.dumps(extended))
    status, _, errors = chiplets("c", *CHIPLETS, "routing_table_type=extended")
    assert status == 2 and "packets to node 2 leave router 0 by port 1 or 2, depending on the port where they" in errors


@pytest.mark.parametrize(("name", "text", "message"), [
    ("table.json", "[{}]", r"table\.json has no port for packets to node"), ("table.json", "{", r"is not JSON"),
    ("traffic.json", "[[1,0],[0,1]]", r"traffic\.json is not a list of 3 lists of 3 rates"),
])
def test_rapidchiplets_files_that_are_wrong(name, text, message, chiplets):
    Path(name).write_text(text)
    status, _, errors = chiplets("c", *CHIPLETS)
    assert status == 2 and re.search(message, errors)


@pytest.mark.parametrize(("change", "message"), [
    ("mode=x", r"mode = x is not one of RapidChiplet's"),
    ("routing_table_type=x", r"routing_table_type = x is not one"),
    ("trace_file=none mode=trace", r"trace_file = none cannot be read"),
    ("mode=trace classes=2", r"mode = trace is not translated with classes = 2"),
    ("mode=trace sim_count=2", r"mode = trace is not translated with sim_count = 2"),
    ("mode=trace subnets=2", r"mode = trace is not translated with subnets = 2"),
    ("mode=trace include_queuing=0", r"mode = trace is not translated with include_queuing = 0"),
    ("mode=trace sim_type=batch", r"mode = trace is not translated with sim_type = batch"),
    ("traffic_file=none", r"traffic_file = none cannot be read"),
])
def test_rapidchiplets_parameters_that_are_refused(change, message, chiplets):
    status, _, errors = chiplets("c", *CHIPLETS, *change.split())
    assert status == 2 and re.search(message, errors)
