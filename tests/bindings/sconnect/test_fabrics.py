"""Fabrics of TICs: configurations and published experiments about priorities, latency and bandwidth."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import sconnect
from flitlab.sconnect.published import ages, bandwidths, fabrics, latencies, priorities, tables

CONFIGS = Path(__file__).parents[3] / "configs"


def test_the_higher_priority_arrives_through_a_full_fabric():
    judged, *rows = priorities.priority(cases=([0], [0, 1, 2]), fabrics=("4x4 mesh",))
    assert (judged["kind"], judged["verdict"], judged["measured"]) == ("published", "match", 100)
    assert {r["kind"] for r in rows} == {"check", "context"}  # one sentence of the paper is judged once
    assert not [r for r in rows if r["verdict"] in ("out", "broken")]
    measured = defaultdict(dict)
    for r in rows:
        measured[tuple(r["setting"].removeprefix("4x4 mesh, ").split(", full of "))][r["quantity"]] = r["measured"]
    assert len(measured) == 6
    for (hosts, full), found in measured.items():
        higher = f"priority {int(full[-1]) + 1}"
        assert found[f"delivered of {higher}"] == 100
        assert found["lower messages accepted by hosts"] == 0
        # A requeued message may enter another queue, so its former queue has room for one more message.
        assert found["lower messages that entered later"] <= (2 if hosts == priorities.ONE else 0)
        assert found["host ports with a waiting message"] == 100
        if hosts == priorities.APART:
            assert found["unreserved buffers in use"] == 100  # all buffers except those for control messages
        else:
            assert found[f"delivered of {higher}, one queue"] < 10


def test_with_equal_priority_no_message_arrives():
    """The experiment measures the effect of priority: with the same priority for both ports no message arrives."""
    settings = priorities.priority_settings(priorities.FABRICS["4x4 mesh"], [0])
    same = {"host.second_priorities": [1, 0, 0, 0], "router.reserve": [4, 0, 0, 0]}
    net = fl.Network(fabrics.fabric(settings, same), trace=True).step(priorities.FILL)
    followed = priorities.follow(net, 0, 500)
    assert followed.created > 500 and not followed.latency


def test_priorities_of_packets():
    """With weights 3 to 1 about a quarter of the packets has priority 2. All packets of the second port have priority
    1, quads always 0."""
    net = fl.Network(fabrics.fabric({"topology.host_ports": 2, "topology.shape": [2], "traffic.load": 0.1,
                                     "host.priorities": [3, 0, 1, 0], "host.second_priorities": [0, 1, 0, 0]}))
    first, second = (sconnect.Fabric(net).priorities(t, range(4000)) for t in (2, 3))
    assert set(first) == {0, 2} and 0.22 < first.count(2) / 4000 < 0.28
    assert set(second) == {1}
    quads = fl.Network(fabrics.fabric({"traffic.packet_flits": [[4, 1]], "traffic.load": 0.1,
                                       "router.reserve": [4, 1, 0, 0], "host.priorities": [1, 1, 0, 0]}))
    assert sconnect.Fabric(quads).priorities(0, [0, 1, 2, 3, 4, 5, 6, 7]) == [0] * 8


def test_the_second_port_has_weights_of_its_own():
    e = fl.Experiment.from_dict({"router.kind": "sconnect", "topology.host_ports": 2, "traffic.load": 0.1,
                                 "host.priorities": [0, 0, 1, 0], "host.second_priorities": [0, 0, 0, 1]})
    net = fl.Network(e).step(1000)
    twos, threes = (net.totals[f"delivered_priority_{p}"] for p in (2, 3))
    assert twos > 1000 and threes > 1000 and twos + threes == net.totals["packets_delivered"]
    for bad, text in (({"topology.host_ports": 1}, "topology.host_ports = 2"),
                      ({"host.second_priorities": [1, 2]}, "host.second_priorities"),
                      ({"host.second_priorities": [0, 0, 0, 0]}, "at least one of them not 0")):
        with pytest.raises(fl.ConfigError, match=text):
            fl.Experiment.from_dict(e.flat() | bad).derived()


def test_hosts_cannot_have_more_buffers_than_there_are():
    e = {"router.kind": "sconnect", "traffic.load": 0.1, "router.buffers": 32}
    with pytest.raises(fl.ConfigError, match=r"router\.host_buffers = 64 exceeds .* Give 1 to 32"):
        fl.Experiment.from_dict(e | {"router.host_buffers": 64}).derived()
    fl.Experiment.from_dict(e | {"router.host_buffers": 32}).derived()
    with pytest.raises(fl.ConfigError, match="CSV lines TIC,destination node,port,virtual channel"):
        fl.Experiment.from_dict(e | {"routing.tables": "file"}).derived()


def test_a_message_leaves_when_the_turn_of_its_port_comes():
    """Ports take turns in a fixed order, one clock each, so port-to-port latency is their distance in the routing
    cycle."""
    ways = latencies.journeys(16, topology__host_ports=2)
    assert len(ways) == 32 * 31
    assert all(v.left - v.entry == (v.port_out - v.port_in) % 6 for way in ways for v in way)
    # At the end of its channel a message waits up to 5 clocks for the port's turn. It takes at least one routing cycle;
    # it takes longer if the phase of the next node or the turn of its port comes late.
    waits = {b.entry - a.left - latencies.DELAY for way in ways for a, b in pairwise(way)}
    assert {0, 1, 2, 3, 4, 5} <= waits <= {0, 1, 2, 3, 4, 5, 6}
    # With equal phases of all nodes, the time between turns of two ports with the same number is a whole number of
    # routing cycles.
    ways = latencies.journeys(16, topology__channel_delay=12, topology__phases="equal")
    assert {b.entry - a.left for way in ways for a, b in pairwise(way)} == set(range(12 - 3, 12 + 4))


def test_latency_rows():
    rows = {(r["quantity"], r["setting"]): r for r in latencies.latency()}
    assert rows["header in to header out, at most (published: < 6)", "a TIC, idle"]["verdict"] == "holds"
    most, least, spread = (rows[f"time per additional node, {what}", "four nodes, a line"]["measured"]
                           for what in ("at most", "at least", "range"))
    assert spread == pytest.approx(most - least)
    assert rows["100 bits on a fiber at 1 Gb/s", "a channel of 288 clocks more"]["verdict"] == "holds"
    # Known deviations: the measured mean is below the published one, and the range is wider.
    assert [key for key, r in rows.items() if r["verdict"] == "out"] == [
        ("time per additional node, mean", "four nodes, a line"),
        ("time per additional node, range", "four nodes, a line")]


def test_bisections_and_bounds_of_figure_18():
    """By hand: half of the messages of 16 nodes cross the middle of a 4x4 mesh, over 4 channels of 110 MB/s each way,
    so it saturates at 1 message per cycle and node. 64 lines of 4 nodes cross the middle of 4^4 nodes."""
    mesh = bandwidths.point("2D mesh", 16, cycles=200, warmup=100)
    assert mesh.raw == 2 * 4 * 110 and mesh.paper == pytest.approx(0.8 * 880)
    assert mesh.bound == pytest.approx(0.5)  # messages per cycle for each of the node's two ports
    assert mesh.diameter == 6 and mesh.distance == pytest.approx(8 / 3)
    assert mesh.sustained == pytest.approx(mesh.carried_load * mesh.raw)
    derived = fabrics.fabric(bandwidths.figure18_fabric("4D mesh", 256)).derived()
    assert derived["bisection_links"] == 64 and derived["diameter"] == 12


def test_the_busiest_channel_of_all_shortest_paths():
    """By hand. A line of four: 3, 4 and 3 messages each way. A mesh of three by two: 4 on each of the 8 channels along
    its sides, 1 + 4/2 + 2/3 on the 2 in the middle, 1 + 2/2 + 2/3 on the 4 at its ends."""
    line, mesh = (fabrics.fabric({"topology.shape": shape, "traffic.load": 0}) for shape in ([4], [3, 2]))
    assert bandwidths.mean_over_busiest(line) == pytest.approx((3 + 4 + 3) / 3 / 4)
    assert bandwidths.mean_over_busiest(mesh) == pytest.approx((8 * 4 + 2 * 11 / 3 + 4 * 8 / 3) / 14 / 4)


def test_rows_of_figure_18():
    rows = bandwidths.figure18({"2D mesh": (64,), "random, degree 4": (64,)}, cycles=300)
    assert len({(r["quantity"], r["setting"]) for r in rows}) == len(rows) == 27
    over = {r["quantity"]: r["verdict"] for r in rows if " over " in r["setting"]}
    assert over == {"latency at almost no load": "context", "diameter": "holds", "bisection bandwidth": "holds",
                    "bandwidth sustained across it": "context"}
    assert not [r for r in rows if r["kind"] == "published"]  # section 4.2 claims no sustained bandwidth
    full, held_back = (next(r["measured"] for r in rows if r["setting"] == "random, degree 4, 64 nodes"
                            and r["quantity"] == f"accepted when the bound is offered, of the bound{name}")
                       for name in ("", ", hosts held back"))
    assert full < held_back  # a full pool refuses messages that are in flight


def test_hosts_that_wait_keep_a_fabric_from_collapsing():
    rows = bandwidths.waiting("random, degree 4", 64, bound=0.64, cycles=500)
    assert len({r["quantity"] for r in rows}) == len(rows) == len(bandwidths.WINDOWS)
    accepted = dict(zip(bandwidths.WINDOWS, (r["measured"] for r in rows), strict=True))
    # By Little's law: a port with 4 outstanding requests completes 4 transactions per round trip, which takes at least
    # about 15 cycles. With many outstanding requests the buffer pools fill up.
    assert 0.5 < accepted[4] < accepted[8] and accepted[64] < 0.6 * accepted[8]


def test_small_graphs_keep_all_shortest_paths():
    first, *larger = tables.single_tics(graphs=4, larger=(64, 80))
    assert first["measured"] == 100 and first["verdict"] == "match"
    assert larger[0]["measured"] == 100 and {r["kind"] for r in larger} == {"published"}
    assert larger[1]["measured"] < 100 and larger[1]["verdict"] == "out" and larger[1]["why"]


@pytest.mark.parametrize("nodes, degree, seed", [(9, 4, 19), (16, 6, 4)])
def test_small_dual_graphs_keep_all_shortest_paths(nodes, degree, seed):
    """In these graphs, placing the paths of pairs one after the other fails for one pair; the search for another order
    of the queues succeeds."""
    e = fl.Experiment.from_dict({"router.kind": "sconnect", "topology.kind": "random", "topology.nodes": nodes,
                                 "topology.degree": degree, "topology.node": "dual", "topology.wiring_seed": seed,
                                 "traffic.load": 0.1, "run.warmup_cycles": 500, "run.measure_cycles": 500})
    assert e.derived()["shortest_kept"] == 1
    result = fl.run(e)
    assert result.packets.delivered == result.packets.created - result.packets.in_flight


def test_readings_of_age_are_side_by_side():
    rows = ages.ages((64,), cycles=500, batch=60)
    assert len(rows) == 18 and {r["kind"] for r in rows} == {"context"}
    returns = [r["measured"] for r in rows if r["quantity"].startswith("a batch, requeues")]
    assert len(set(returns)) == 3  # the readings give different results
