"""Packets from the program that steps the network: Network.inject and Network.arrivals."""

import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl

MESH = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.mode": "host"})


def test_a_packet_alone_takes_the_time_derived_by_hand():
    """A packet of 5 flits over two hops of a 4x4 mesh: three routers take 4 cycles each (route, VC, switch, crossbar),
    and the channels to the first router, between routers and to the terminal one cycle each. The tail comes 4 cycles
    after the head."""
    net = fl.Network(MESH)
    net.step(10)
    assert net.inject(0, 5, 5, tag=2**64 - 1) == 1
    assert net.waiting(0) == 1
    assert net.step_to_arrival()
    arrival, = net.arrivals()
    head = 10 + 3 * 4 + 4
    assert {name: int(arrival[name]) for name in arrival.dtype.names} == {
        "tag": 2**64 - 1, "source": 0, "destination": 5, "flits": 5, "hops": 2, "created": 10, "injected": 10,
        "head": head, "cycle": head + 4}
    assert net.cycle == head + 5
    assert net.waiting(0) == 0
    assert len(net.arrivals()) == 0


def test_classes_have_source_queues_of_their_own():
    """A long packet to terminal 7 holds the only virtual channel of class 0 there, so that the next one fills the five
    buffers of 2 flits on its way and stays at its source. A packet of class 1 passes it."""
    net = fl.Network(MESH.set({"traffic.classes": 2, "router.vcs": 2, "router.buffer_flits": 2}))
    net.inject(4, 7, flits=400, tag=1, cycle=0)
    net.step(50)
    net.inject([0, 0, 0], 7, flits=[60, 9, 3], tag=[2, 3, 4], traffic_class=[0, 0, 1])
    assert net.waiting(0) == 3 and net.waiting(0, 0) == 2 and net.waiting(0, traffic_class=1) == 1
    assert net.waiting_at_all()[0].tolist() == [2, 1]
    net.step(40)
    assert net.waiting(0, 0) == 1 and net.waiting(0, 1) == 0
    assert net.flits_left()[0].tolist() == [60 - 5 * 2, 0]
    assert net.arrivals()["tag"].tolist() == [4]
    net.step(3000)
    assert net.arrivals()["tag"].tolist() == [1, 2, 3]


def test_a_full_source_refuses_packets_of_the_same_class_only():
    net = fl.Network(MESH.set({"traffic.classes": 2, "traffic.source_packets": 1}))
    assert net.inject([0, 0], 7) == 1
    assert net.inject(0, 7, traffic_class=1) == 1
    assert net.inject(0, 7, traffic_class=1) == 0


@pytest.mark.parametrize(("call", "message"), [
    (lambda net: net.inject(0, 1, traffic_class=2),
     r"class 2 does not exist: classes of packets are numbered 0 to 1 \(traffic.classes = 2\)"),
    (lambda net: net.waiting(0, 2), "class 2 does not exist"), (lambda net: net.waiting(0, -1), "traffic_class=-1"),
    (lambda net: net.inject(0, 1, traffic_class=0.5), "traffic_class = 0.5"),
])
def test_classes_that_do_not_exist_are_named(call, message):
    with pytest.raises(fl.ConfigError, match=message):
        call(fl.Network(MESH.set("traffic.classes", 2)))


@pytest.mark.parametrize(("changes", "message"), [
    ({"traffic.class_last_vc": [1]}, r"class_last_vc = \[1\] has 1 entry: give 2, one for each of the traffic.classes"),
    ({"traffic.class_last_vc": [1, 4]},
     "class 1 has the virtual channels 2 to 4. Give a first and a last one from 0 to router.vcs - 1 = 3"),
    ({"traffic.class_last_vc": [1, 1]}, "class 1 has the virtual channels 2 to 1. Give"),
    ({"topology.kind": "torus", "traffic.class_last_vc": [1, 2]},
     "class 1 has the virtual channels 2 to 2, and the routes need at least 2 to avoid deadlock"),
    ({"topology.kind": "torus", "traffic.class_last_vc": [2, 3]},
     "class 0 has the virtual channels 0 to 2, and class 1 has the virtual channels 2 to 3. Packets could deadlock"),
])
def test_impossible_ranges_of_virtual_channels_are_named(changes, message):
    ranges = {"traffic.classes": 2, "traffic.class_vcs": "ranges", "router.vcs": 4, "traffic.class_first_vc": [0, 2],
              "traffic.class_last_vc": [1, 3]}
    assert fl.Network(MESH.set(ranges)).cycle == 0
    with pytest.raises(fl.ConfigError, match=message):
        fl.Network(MESH.set({**ranges, **changes}))


packets = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 15), st.integers(0, 15), st.integers(1, 9)),
                   min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(packets, st.integers(1, 97), st.sampled_from(["mesh", "torus"]), st.integers(1, 4))
def test_every_packet_arrives_once_however_the_program_steps(list_of_packets, stride, kind, vcs):
    exp = fl.Experiment.from_dict({"topology.kind": kind, "topology.shape": [4, 4], "traffic.mode": "host",
                                   "router.vcs": 2 * vcs, "router.buffer_flits": 2})
    gap, source, destination, flits = map(np.array, zip(*list_of_packets, strict=True))
    cycle = np.cumsum(gap)
    tag = np.arange(len(cycle)) + 7
    at_once = fl.Network(exp)
    assert at_once.inject(source, destination, flits, tag, cycle) == len(cycle)
    at_once.step(3000)
    in_time = fl.Network(exp)
    taken, n = [], 0
    while in_time.cycle < 3000:
        until = min(in_time.cycle + stride, 3000)
        while n < len(cycle) and cycle[n] < until:
            in_time.inject(source[n], destination[n], flits[n], tag[n], cycle[n])
            n += 1
        in_time.step(until - in_time.cycle)
        taken.append(in_time.arrivals(most=2))
    taken.append(in_time.arrivals())
    found = at_once.arrivals()
    assert np.array_equal(np.concatenate(taken), found)
    assert sorted(found["tag"]) == list(tag) and len(at_once.arrivals(2**70)) == 0
    index = found["tag"].astype(int) - 7
    for name, given_ in (("source", source), ("destination", destination), ("flits", flits)):
        assert np.array_equal(found[name], given_[index])
    assert (found["created"] >= cycle[index]).all() and (found["injected"] >= found["created"]).all()
    assert (found["cycle"] - found["head"] >= found["flits"] - 1).all()
    distance = abs(source % 4 - destination % 4) + abs(source // 4 - destination // 4)
    assert kind == "torus" or np.array_equal(found["hops"], distance[index])
    latency = int((found["cycle"] - found["created"]).sum())
    assert latency == at_once.totals["latency_sum"]


def test_packets_of_a_full_source_are_refused_in_order():
    net = fl.Network(MESH.set("traffic.source_packets", 2))
    assert net.inject([3, 3, 3, 4], 9, 4, tag=[1, 2, 3, 4]) == 2
    net.step(500)
    assert list(net.arrivals()["tag"]) == [1, 2]


def test_checkpoints_and_copies_keep_packets(tmp_path):
    net = fl.Network(MESH)
    net.inject(range(16), [15, *range(15)], 8, tag=range(100, 116), cycle=np.arange(16) * 9)
    net.step(60)
    net.save(tmp_path / "checkpoint")
    copies = [fl.Network(MESH).load(tmp_path / "checkpoint"), fl.Network(MESH).go_on_from(net)]
    net.step(500)
    expected = net.arrivals()
    assert len(expected) == 16
    for copy in copies:
        assert np.array_equal(copy.step(500).arrivals(), expected)
        assert copy.state_hash == net.state_hash
    with pytest.raises(fl.ConfigError, match="another configuration"):
        fl.Network(MESH.set("router.vcs", 8)).load(tmp_path / "checkpoint")


def test_idle_time_is_skipped():
    net = fl.Network(MESH)
    net.inject(0, 5, cycle=1_000_000_000)
    assert net.step_to_arrival()
    assert int(net.arrivals()["created"][0]) == 1_000_000_000
    assert not net.step_to_arrival(1_900_000_000) and net.cycle == 1_900_000_000
    assert not net.step_to_arrival() and net.cycle == 1_900_000_000


def test_the_scope_shows_packets_of_the_program():
    net = fl.Network(MESH)
    net.inject(range(16), 5, 4)
    net.view().step(20).step(200)
    assert net.totals["packets_injected"] == 16
    assert len(net.arrivals()) == 16


def test_traffic_of_a_configuration_is_replaced():
    exp = fl.load("vc-mesh-8x8").with_host_traffic()
    assert exp["traffic.mode"] == "host" and "traffic.load" not in exp
    assert exp["router.vcs"] == fl.load("vc-mesh-8x8")["router.vcs"]
    assert exp.with_host_traffic().flat() == exp.flat()


def test_classes_of_a_configuration_are_kept():
    classes = {"traffic.classes": 2, "traffic.class_vcs": "ranges", "traffic.class_first_vc": [0, 1],
               "traffic.class_last_vc": [2, 3], "traffic.class_priority": [1, 0]}
    given = {"topology.kind": "mesh", "traffic.class_share": [1.0, 3.0], "traffic.load": 0.2}
    exp = fl.Experiment.from_dict(given | classes).with_host_traffic()
    assert classes.items() <= exp.flat().items()
    assert "traffic.class_share" not in exp and "traffic.load" not in exp


@pytest.mark.parametrize("config", sorted(Path(__file__).parents[2].glob("configs/*.toml")), ids=lambda path: path.stem)
def test_every_shipped_configuration_can_have_traffic_of_the_program(config):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = fl.load(config)
        # Three parameters of routers and sources exclude packets from the program; the message says which value to set.
        allowed = {"injection.infinite": False, "endpoint.stalls": False, "router.ejection": 1}
        try:
            exp = before.with_host_traffic()
        except fl.ConfigError as error:
            path, = (path for path in allowed if str(error).startswith(path))
            before = before.set(path, allowed[path])
            exp = before.with_host_traffic()
    assert exp["traffic.mode"] == "host"
    of_classes = {"traffic.classes", "traffic.class_priority"} if exp["router.kind"] == "vc" else set()
    assert {path for path in exp if path.startswith("traffic.")} == {
        "traffic.mode", "traffic.self", "traffic.source_packets", "traffic.flit_bytes", *of_classes}
    for path in before:
        if path.startswith(("topology.", "router.")) and path in exp:
            assert exp[path] == before[path]


@pytest.mark.parametrize(("arguments", "expected_text"), [
    ((16, 0), "packet 0 .16 to 0, 1 flits.: terminal 16 does not exist: terminals are numbered 0 to 15"),
    (([0, 2**40], 0), "packet 1 .*does not exist"), ((0, 1, 5000), "must have 1 to 4095 flits"),
    ((0, 1, 0), "must have 1 to 4095 flits"), ((0, 1, 1, 0, 2**40), "the cycle must be below 2000000000"),
    ((-1, 0), r"inject\(source = -1\): it must be a whole number from 0"), ((0, 1.5), "destination = 1.5"),
    ((0, "a"), "destination = 'a'"), ((0, None), "destination = None"), ((True, 0), "source = True"),
    (([[0, 1]], 0), "one-dimensional array"), (([0, 1], [1, 2, 3]), "source 2, destination 3. Give arrays of one len"),
    ((0, 1, 1, 2**64), "tag = 18446744073709551616"), ((0, 1, 1, [2**63, -1]), "tag = "),
    ((np.nan, 1), "source = nan"), (([0, None], 1), "source = "), ((0, 1, 1, Decimal("1.5")), "tag = "),
    ((0, 1, np.array([1.9], object)), "flits = "), ((0, 1, 1, np.array([2**63, 1.5], object)), "tag = "),
])
def test_wrong_packets_are_refused(arguments, expected_text):
    net = fl.Network(MESH)
    with pytest.raises(fl.ConfigError, match=expected_text):
        net.inject(*arguments)
    assert net.inject([], []) == 0
    assert net.waiting(0) == 0


def test_wrong_calls_are_refused(small):
    net = fl.Network(small)
    for call in (lambda: net.inject(0, 1), net.arrivals, lambda: net.waiting(0), net.step_to_arrival):
        with pytest.raises(fl.ConfigError, match=r'Set traffic\.mode = "host"'):
            call()
    host = fl.Network(MESH)
    for call in (lambda: host.arrivals(-1), lambda: host.arrivals(1.5), lambda: host.step_to_arrival(-1),
                 lambda: host.waiting(16), lambda: host.waiting("a")):
        with pytest.raises(fl.ConfigError):
            call()
    with pytest.raises(fl.ConfigError, match="a program that steps the network"):
        fl.run(MESH)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MESH.derived()["routers"] == 16
