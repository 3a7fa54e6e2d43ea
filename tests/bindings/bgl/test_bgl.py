"""Blue Gene/L's torus: configurations, published experiments at sizes that run in seconds, the command line."""

import json
from pathlib import Path

import pytest

import flitlab as fl
from flitlab.bgl.published import blocking, software

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("bgl-*.toml")), ids=lambda p: p.stem)
def test_configurations_can_be_planned(path):
    e = fl.load(path)
    derived = e.derived()
    if e["traffic.mode"] != "program":  # the lengths of a program's packets depend on its messages
        assert derived["link_cycles_per_packet"] == 270
    assert derived["state_bytes"] < 4e9  # limit of the state of the largest machine, bytes


@pytest.mark.parametrize(("settings", "one_way", "both_ways"), [
    ({}, 256 + 4 + 2, 270), ({"router.acks": "charged"}, 270, 270), ({"router.ack_bytes": 0}, 262, 262),
    ({"router.link_protocol": True}, 262, 270), ({"router.trailer_bytes": 12, "traffic.packet_flits": 4}, 142, 150)])
def test_packets_of_a_stream_follow_each_other_in_the_time_of_the_link(settings, one_way, both_ways):
    """In a ring of 4, neighbours send in one direction, so token packets have the other direction to themselves. In a
    ring of 2, each link carries packets and the token packets of the opposite direction."""
    for nodes, key, cycles in ((4, "link_cycles_one_way", one_way), (2, "link_cycles_per_packet", both_ways)):
        stream = fl.Experiment.from_dict({"router.kind": "bgl", "topology.shape": [nodes], "traffic.mode": "batch",
                                          "traffic.pattern": "neighbour", "traffic.batch_packets": 30,
                                          "traffic.packet_flits": 8} | settings)
        events = fl.Network(stream, trace=True).step(9000).events()
        heads = [e["cycle"] for e in events
                 if e["kind"] == "switch_granted" and e["index"] == 0 and e["out_port"] == 0][10:21]
        assert stream.derived()[key] == cycles == (heads[-1] - heads[0]) / (len(heads) - 1)


def test_latency_without_load_is_not_predicted_with_software_times():
    """How long a packet waits for a processor depends on the processor's current work, so flitlab predicts no
    latency."""
    flat = {"router.kind": "bgl", "topology.shape": [4, 4, 4], "traffic.pattern": "uniform", "traffic.mode": "open"}
    settings = {"software.chunk_time": 10, "software.packet_time": 116, "software.processors": 1}
    plain, busy = (fl.Experiment.from_dict(flat | more).derived() for more in ({}, settings))
    assert plain["zero_load_latency_cycles"] > 0
    assert busy["zero_load_latency_cycles"] is None


def test_fills_of_a_small_machine():
    line, = software.linefill((4, 2, 2), packets=300)
    assert line["measured"] == pytest.approx(100 * 300 * 270 / (3 + 299 * 270 + 21 * 3 + 256 + 2), rel=0.01)
    plane = software.planefill((4, 4, 2), packets=200)
    assert [p["kind"] for p in plane] == ["published", "context", "context", "context"]
    two, _, free, one = (p["measured"] for p in plane)
    assert one < two < free < 100


def test_ping_pong_is_what_the_delays_add_up_to():
    rows = software.pingpong(sizes=(16, 240))
    assert [line["measured"] for line in rows] == [
        4 * (3 + 21 * hops + 32 * chunks + 1) for chunks in (1, 8) for hops in (1, 2, 3)]


def test_the_earlier_bubble_rule_exits_3_with_its_cycle(cli, tmp_path):
    """The fragmented ring that tests/kernels/routers/bgl/bubble_test.cpp explains."""
    lines = blocking.fragmented_ring()
    (tmp_path / "ring.csv").write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    (tmp_path / "ring.toml").write_text("""
router.kind = "bgl"
topology.shape = [7]
router.escape_flits = 16
router.arbitration_gap = true
router.acks = "charged"
routing.dynamic = 0.0
injection.fifos = 1
traffic.mode = "trace"
traffic.trace_file = "ring.csv"
""")
    done = cli("run", "ring.toml", "--set", "router.bubble_rule=actual_size")
    assert done.returncode == 3
    assert "7 of them wait for one another in a cycle" in done.stderr and "Traceback" not in done.stderr
    assert "node 0 (0) receiver -x VC 2 waits for" in done.stderr
    done = cli("run", "ring.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["packets"]["delivered"] == len(lines)
