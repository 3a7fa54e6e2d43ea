"""Results per flow: compared with fl.run, and with times derived by hand."""

import numpy as np
import pytest

import flitlab as fl

MESH = {"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.3, "run.warmup_cycles": 512,
        "run.measure_cycles": 1024, "run.epoch_cycles": 256}


@pytest.mark.parametrize("more", [
    {"traffic.pattern": "hot_spot", "traffic.load": 0.1},
    {"traffic.packet_flits": [[1, 0.5], [6, 0.5]], "routing.algorithm": "minimal_adaptive"},
    {"topology.kind": "dragonfly", "router.vcs": 6},
    {"router.kind": "t3e", "topology.kind": None, "topology.shape": [2, 2, 2], "traffic.load": 0.1},
    {"router.kind": "bgl", "topology.kind": None, "topology.shape": [2, 2, 2], "traffic.load": 0.1},
    {"router.kind": "bless", "topology.kind": None, "traffic.load": 0.1},
    {"router.kind": "adaptive", "topology.kind": None, "traffic.load": 0.1},
    {"router.kind": "metro", "topology.kind": None, "topology.shape": None, "traffic.load": 0.15},
    {"router.kind": "sconnect", "topology.kind": None, "topology.shape": None, "traffic.load": 0.05},
    {"router.kind": "switch", "topology.kind": None, "topology.shape": None, "traffic.load": 0.2},
    {"traffic.mode": "request_reply", "traffic.load": 0.05},
])
def test_the_packets_are_those_of_a_run(more):
    """The second implementation of the measurement: every packet of the window, one by one."""
    config = {k: v for k, v in (MESH | more).items() if v is not None}
    if config.get("topology.kind") == "dragonfly":
        del config["topology.shape"]
    result, seen = fl.run(config), fl.flows(config, 1024, 512)
    assert result.verdict == "steady"
    assert len(seen.packets) == result.window_packets.created
    assert seen.packets["latency"].mean() == pytest.approx(result.latency_cycles.mean)
    assert seen.packets["latency"].max() == result.latency_cycles.max
    assert seen.packets["network_latency"].mean() == pytest.approx(result.network_latency_cycles.mean)
    frame = seen.frame
    assert frame["packets"].sum() == len(seen.packets) and not frame["missing"].any()
    assert frame["load"].sum() / seen.terminals == pytest.approx(result.offered)


def test_latency_of_each_flow_without_load():
    """1 cycle to the router, 4 in each router, 1 for each channel, 1 to the terminal, and 3 for the other flits."""
    seen = fl.flows({"topology.kind": "mesh", "topology.shape": [3, 2], "traffic.load": 0.001}, 20000, 0)
    alone = seen.frame[seen.frame["latency_max"] == seen.frame["latency_p50"]]
    assert len(alone) > 15
    for flow in alone.itertuples():
        x, y = (abs(flow.source % 3 - flow.destination % 3), abs(flow.source // 3 - flow.destination // 3))
        assert flow.latency_mean == 1 + 4 * (x + y + 1) + (x + y) + 1 + 3
    assert np.isnan(fl.flows({"topology.kind": "mesh", "topology.shape": [2], "traffic.pattern": "neighbour"}, 500,
                             0).matrix()[0, 0])


def test_packets_that_have_not_arrived_are_missing():
    config = {"topology.kind": "mesh", "topology.shape": [8], "traffic.pattern": "hot_spot", "traffic.load": 0.5,
              "traffic.hot_fraction": 1.0}
    seen = fl.flows(config, 2000, 0, drain=0)
    assert seen.frame["missing"].sum() == seen.packets["delivered"].isna().sum() > 1000
    assert "had not arrived" in repr(seen)
    assert fl.flows(config, 200, 0).frame["missing"].sum() == 0


def test_batches_and_windows_without_packets():
    batch = {"topology.kind": "mesh", "topology.shape": [3], "traffic.mode": "batch", "traffic.batch_packets": 20}
    assert fl.flows(batch).frame["packets"].sum() == 60
    empty = fl.flows(batch, warmup=2000)
    assert len(empty) == 0 and empty.frame.empty and np.isnan(empty.matrix()).all() and "0 flows" in repr(empty)


def test_a_deadlock_is_an_error():
    config = {"topology.kind": "torus", "topology.shape": [8], "router.vcs": 1, "routing.vc_assignment": "any",
              "traffic.load": 0.9}
    with pytest.raises(fl.RunError, match="deadlock"):
        fl.flows(config, 2000)


def test_table_and_picture(tmp_path):
    seen = fl.flows({"topology.kind": "mesh", "topology.shape": [3], "traffic.pattern": "neighbour"}, 500, 0)
    assert len(seen) == 3
    (axes,) = seen.plot("latency_p99")
    assert axes.get_xlabel() == "destination terminal"
    seen.to_csv(tmp_path / "flows.csv")
    assert (tmp_path / "flows.csv").read_text().startswith("source,destination,packets,flits,load,latency_mean,")


@pytest.mark.parametrize("call,words", [
    (lambda: fl.flows({}, cycles=0), ("cycles=0", "at least 1")),
    (lambda: fl.flows({}, warmup=-1), ("warmup=-1", "at least 0")),
    (lambda: fl.flows({}, drain=0.5), ("drain=0.5",)),
    (lambda: fl.flows({"topology.shape": [2]}, 10, 0).matrix("speed"), ("'speed'", "latency_p99")),
    (lambda: fl.flows({"topology.shape": [2]}, 10, 0).matrix(["packets"]), ("['packets']",)),
    (lambda: fl.flows({}, progress="no"), ("progress",)),
    (lambda: fl.flows({"router.kind": "bgl", "traffic.mode": "broadcast"}), ("several destinations",)),
])
def test_bad_input(call, words):
    with pytest.raises(fl.ConfigError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value


def test_classes_of_packets():
    """``fl.flows`` measures the same latency and load for each class of packets as ``fl.run``."""
    config = MESH | {"traffic.classes": 3, "traffic.class_pattern": ["uniform", "transpose", "bit_complement"],
                     "traffic.class_flits": [5, 1, 2], "traffic.class_share": [2, 1, 1], "traffic.load": 0.2,
                     "traffic.class_priority": [0, 2, 1], "traffic.class_vcs": "shared"}
    result, seen = fl.run(config), fl.flows(config, 1024, 512)
    assert result.verdict == "steady"
    for number, flits in enumerate([5, 1, 2]):
        one = seen.of_class(number)
        assert set(one.packets["flits"]) == {flits}
        assert len(one.packets) == getattr(result.model, f"packets_class_{number}")
        assert one.packets["latency"].mean() == pytest.approx(getattr(result.model, f"latency_class_{number}"))
        assert one.packets["network_latency"].mean() == pytest.approx(
            getattr(result.model, f"network_latency_class_{number}"))
        assert one.frame["load"].sum() / 16 == pytest.approx(getattr(result.model, f"offered_class_{number}"))
    transposed, opposite = seen.of_class(1).frame, seen.of_class(2).frame
    assert all(transposed["destination"] == transposed["source"] % 4 * 4 + transposed["source"] // 4)
    assert all(opposite["destination"] == 15 - opposite["source"])
    with pytest.raises(fl.ConfigError, match=r"of_class\(3\): it must be a class from 0 to 2"):
        seen.of_class(3)
    with pytest.raises(fl.ConfigError, match="have no classes"):
        fl.flows(MESH, 100, 0).of_class(0)
