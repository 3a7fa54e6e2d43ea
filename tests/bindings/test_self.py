"""traffic.self: whether a terminal may be its own destination, with the same rule in every model."""

import networkx as nx
import pytest

import flitlab as fl

# By router kind: settings of a network of 16 terminals, a load at which packets rarely meet, and the cycles for some
# thousand packets.
MODELS = {
    "vc": ({"topology.shape": [4, 4]}, 0.02, 20000), "bless": ({"topology.shape": [4, 4]}, 0.02, 20000),
    "t3e": ({"topology.shape": [4, 2, 2]}, 0.02, 20000), "bgl": ({"topology.shape": [4, 2, 2]}, 0.004, 100000),
    "adaptive": ({"topology.shape": [4, 4]}, 0.01, 20000), "sconnect": ({"topology.shape": [4, 4]}, 0.02, 20000),
    "metro": ({}, 0.02, 20000), "switch": ({"topology.ports": 16}, 0.02, 20000),
}


def test_all_models_have_one_default():
    assert {fl.Experiment.from_dict({"router.kind": kind})["traffic.self"] for kind in MODELS} == {True}
    assert set(MODELS) == {model["kind"] for model in fl._core.models()}


@pytest.mark.parametrize("kind", sorted(set(MODELS) - {"metro"}))
@pytest.mark.parametrize("to_itself", [True, False])
def test_uniform_traffic_draws_the_sender_or_not(kind, to_itself):
    """METRO is left out, because its delivery event is at the source."""
    network, load, cycles = MODELS[kind]
    flat = {"router.kind": kind, "traffic.load": load, "traffic.self": to_itself}
    experiment = fl.Experiment.from_dict(flat | network)
    net = fl.Network(experiment, trace=True)
    own = others = 0
    for _ in range(20):
        net.step(cycles // 20)
        for event in net.events():
            if event["kind"] == "delivered":
                own, others = own + (event["src"] == event["index"]), others + (event["src"] != event["index"])
    net.check()
    expected = (own + others) / experiment.derived()["terminals"] if to_itself else 0
    assert abs(own - expected) <= 5 * expected**0.5


@pytest.mark.parametrize("kind", ["vc", "bless", "bgl"])
def test_hops_and_latency_follow(kind):
    network, load, cycles = MODELS[kind]
    flat = {"router.kind": kind, "traffic.load": load / 4, "run.warmup_cycles": 1000, "run.measure_cycles": 8 * cycles}
    for to_itself in (True, False):
        experiment = fl.Experiment.from_dict(flat | network | {"traffic.self": to_itself})
        result, derived = fl.run(experiment), experiment.derived()
        assert result.hops_mean == pytest.approx(derived["hops_mean"], rel=0.04)
        assert result.latency_cycles.mean == pytest.approx(derived["zero_load_latency_cycles"], rel=0.04)


@pytest.mark.parametrize("kind", MODELS)
def test_a_permutation_that_maps_a_terminal_to_itself(kind):
    network, load, cycles = MODELS[kind]
    transpose = fl.Experiment.from_dict({"router.kind": kind, "traffic.pattern": "transpose", "traffic.load": load}
                                        | network)
    sent = {to_itself: fl.Network(transpose.set("traffic.self", to_itself)).step(cycles).totals["packets_created"]
            for to_itself in (True, False)}
    assert sent[False] / sent[True] == pytest.approx(12 / 16, abs=0.05)


def test_files_that_name_the_sender_are_rejected_with_a_fix(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("0,1,1,2\n")
    experiment = fl.Experiment.from_dict({"topology.shape": [4, 4], "traffic.mode": "trace",
                                          "traffic.trace_file": str(trace)})
    assert fl.Network(experiment).step(60).totals["packets_delivered"] == 1
    with pytest.raises(fl.ConfigError, match=r"trace.csv:1: .*terminal 1 sends to itself.*set traffic.self = true"):
        fl.Network(experiment.set("traffic.self", False)).step(60)


def test_routes_of_ones_own_and_graphs_count_with_the_pattern():
    ring = fl.Experiment.from_dict({"topology.kind": "ring"})
    clockwise = ring.with_routes(lambda router, _: (router + 1) % 8).derived()
    assert (clockwise["hops_mean"], clockwise["zero_load_latency_cycles"]) == (3.5, 26.5)
    assert (clockwise["topology_hops_mean"], ring.derived()["hops_mean"]) == (2, 2)
    graph = ring.with_topology(nx.path_graph(5)).set("traffic.self", False)
    assert graph.derived()["hops_mean"] == pytest.approx(nx.average_shortest_path_length(nx.path_graph(5)))
    assert fl.load("vc-mesh-8x8").set("traffic.pattern", "neighbour").derived()["hops_mean"] == 3.5


@pytest.mark.parametrize("shape", [[1], [1, 1]])
@pytest.mark.parametrize("settings", [{}, {"traffic.pattern": "hot_spot"}, {"traffic.mode": "request_reply"}])
def test_a_terminal_without_another_sends_nothing(shape, settings):
    """A draw from an empty set of destinations once gave a terminal that does not exist."""
    flat = {"topology.kind": "mesh", "topology.shape": shape, "traffic.self": False, "traffic.load": 0.2} | settings
    net = fl.Network(fl.Experiment.from_dict(flat)).step(500)
    assert net.check().totals["packets_created"] == 0


def test_a_batch_without_a_destination_is_an_error():
    flat = {"topology.kind": "mesh", "topology.shape": [1], "traffic.self": False, "traffic.mode": "batch"}
    with pytest.raises(fl.ConfigError, match="no terminal has another terminal to send to"):
        fl.run(flat, progress=False)
