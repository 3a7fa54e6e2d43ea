"""Ideal throughput from channel loads: values by hand and from a linear programme, loads that runs measure, and no
measured saturation beyond it."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import flitlab as fl


def bound(**values) -> float:
    return fl.Experiment.from_dict({k.replace("__", "."): v for k, v in values.items()}).derived()[
        "saturation_load_bound"]


@pytest.mark.parametrize(("kind", "algorithm", "pattern", "by_hand"), [
    # Half of the traffic of 32 terminals crosses 8 channels.
    ("mesh", "dimension_order", "uniform", 8 / (32 * 0.5)),
    # x first: row y sends to column y, so the channel before the corner carries 7 flows.
    ("mesh", "dimension_order", "transpose", 1 / 7),
    # Half of the packets take the one order, and half the other.
    ("mesh", "o1turn", "transpose", 2 / 7),
    # Two phases of uniform traffic.
    ("mesh", "valiant", "transpose", 0.25),
    # A ring of 8 in each dimension: 32 sources, half of their traffic crosses 16 channels in one direction.
    ("torus", "dimension_order", "uniform", 1.0),
    # 3 hops in the + direction of each row: each + channel carries 3 flows.
    ("torus", "dimension_order", "tornado", 1 / 3),
    # 5 hops in the - direction are another way: 8 channels of each ring carry (3 a, 5 (1 - a)) flows, at best 15 / 8.
    ("torus", "minimal_adaptive", "tornado", 8 / 15),
    ("torus", "valiant", "tornado", 0.5),
])
def test_the_bound_is_the_one_by_hand(kind, algorithm, pattern, by_hand):
    value = bound(topology__kind=kind, routing__algorithm=algorithm, traffic__pattern=pattern)
    assert value == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize(("selection", "by_hand"), [("first", 1 / 7), ("first_or_escape", 1 / 7)])
def test_the_bound_knows_packets_that_request_only_one_port(selection, by_hand):
    value = bound(topology__kind="mesh", routing__algorithm="minimal_adaptive", traffic__pattern="transpose",
                  routing__selection=selection)
    assert value == pytest.approx(by_hand, rel=1e-6)
    assert value < bound(topology__kind="mesh", routing__algorithm="minimal_adaptive", traffic__pattern="transpose")


def test_bounds_of_other_networks_are_the_ones_by_hand():
    dragonfly = {"topology__kind": "dragonfly", "topology__concentration": 2, "traffic__pattern": "next_group"}
    assert bound(**dragonfly) == pytest.approx(1 / 8)  # the 8 terminals of a group share one channel
    # Both parts of a route share 8 channels per group, except where the random group is the source's or the target's.
    assert bound(**dragonfly, routing__algorithm="valiant") == pytest.approx(0.5, rel=0.01)
    assert bound(topology__kind="full_mesh", topology__concentration=4,
                 traffic__pattern="next_router") == pytest.approx(1 / 4)
    assert bound(topology__kind="mesh", topology__channel_width=0.5) == pytest.approx(0.25)
    # All terminals send a tenth of their packets, and their uniform share of the rest, to terminal 0.
    assert bound(topology__kind="mesh", traffic__pattern="hot_spot") == pytest.approx(1 / (64 * 0.1 + 0.9))
    # Up by destination: all terminals of a router send to terminals whose way up is the same.
    tree = {"topology__kind": "fat_tree", "topology__concentration": 4, "traffic__pattern": "transpose"}
    assert bound(**tree) == pytest.approx(1 / 4)
    assert bound(**tree, routing__algorithm="adaptive") == pytest.approx(1)


def test_closed_loops_and_traffic_to_nowhere_have_no_bound():
    assert bound(traffic__mode="request_reply") is None
    assert bound(traffic__mode="batch") is None
    silent = fl.Experiment.from_dict({"topology.shape": [2, 2]}).with_pattern(lambda *_: None)
    assert silent.derived()["saturation_load_bound"] is None


def test_a_sweep_has_the_bound_of_each_line(tmp_path):
    cluster = fl.load("vc-dgx-h100").set({"run.warmup_cycles": 500, "run.measure_cycles": 500})  # has a file
    curve = fl.sweep(cluster, {"router.vcs": [2, 4], "traffic.load": [0.1, 0.2]}, progress=False, out=tmp_path / "o")
    assert curve.saturation_bound_by_group == {"vcs 2": 1.0, "vcs 4": 1.0}
    assert all(line.endswith("the busiest channel is full at 1") for line in curve.summary())
    # A curve that is read again does not know whether the file is the same.
    assert set(fl.Curve.read(tmp_path / "o").saturation_bound_by_group.values()) == {None}
    mesh = fl.sweep({"topology.kind": "mesh", "run.measure_cycles": 500, "run.warmup_cycles": 500},
                    {"traffic.pattern": ["uniform", "transpose"]}, progress=False, out=tmp_path / "m")
    for found in (mesh, fl.Curve.read(tmp_path / "m")):
        assert found.saturation_bound_by_group[""] == pytest.approx(0.5)


def test_rates_of_sources_scale_the_bound(tmp_path):
    """The bound is the mean load of the sources at which the busiest channel is full."""
    (tmp_path / "rates.csv").write_text("0,3,0.2\n1,3,0.1\n2,0,0.3\n3,0,0\n")
    e = fl.Experiment.from_dict({
        "topology.kind": "mesh", "topology.shape": [4], "traffic.pattern": "matrix", "traffic.matrix_values": "rates",
        "traffic.matrix_file": str(tmp_path / "rates.csv")})
    # The channel from router 2 to 3, and the one to terminal 3, have 0.3; so do those from router 2 to 0.
    assert e.derived()["saturation_load_bound"] == pytest.approx(0.2 / 0.3, rel=1e-4)


OBLIVIOUS = [("mesh", a) for a in ("dimension_order", "o1turn", "romm", "valiant")] + [
    ("torus", "dimension_order"), ("torus", "valiant"), ("hypercube", "dimension_order"),
    ("dragonfly", "minimal"), ("dragonfly", "valiant"), ("megafly", "up_down"), ("slim_fly", "minimal"),
    ("polarfly", "valiant"), ("hyperx", "minimal"), ("jellyfish", "minimal"), ("fat_tree", "minimal"),
    ("fat_tree", "nearest_common_ancestor")]


@pytest.mark.parametrize(("kind", "algorithm"), OBLIVIOUS)
def test_the_busiest_channel_has_the_load_that_a_run_measures(kind, algorithm):
    for pattern in ("random_permutation", "hot_spot", "uniform"):
        experiment = fl.Experiment.from_dict({
            "topology.kind": kind, "routing.algorithm": algorithm, "traffic.pattern": pattern, "router.vcs": 6,
            "traffic.packet_flits": 1})
        ideal = experiment.derived()["saturation_load_bound"]
        load = 0.25 * ideal
        result = fl.run(experiment.set({"traffic.load": load, "run.warmup_cycles": 2000, "run.measure_cycles": 100000}))
        busiest = load / ideal  # part of its width, of a network channel or of a terminal's
        used = result.channel_utilization.max
        assert used <= busiest * 1.08, pattern
        if pattern == "random_permutation" and 1 / ideal > 1.001:  # a network channel, not a terminal's
            assert used == pytest.approx(busiest, rel=0.08), pattern


def most_by_linear_programme(graph: nx.DiGraph, flows: dict[tuple[int, int], float]) -> float:
    """Returns the factor by which all flows can grow (maximum concurrent flow)."""
    edges, targets = list(graph.edges), sorted({d for _, d in flows})
    variables = len(edges) * len(targets) + 1
    equations, right = [], []
    for k, target in enumerate(targets):
        for node in graph:
            if node == target:
                continue
            line = np.zeros(variables)
            for i, (a, b) in enumerate(edges):
                line[k * len(edges) + i] += (a == node) - (b == node)
            line[-1] = -flows.get((node, target), 0)
            equations.append(line)
            right.append(0)
    capacity = np.zeros((len(edges), variables))
    for i in range(len(edges)):
        capacity[i, i:-1:len(edges)] = 1
    cost = np.zeros(variables)
    cost[-1] = -1
    return linprog(cost, A_ub=capacity, b_ub=np.ones(len(edges)), A_eq=np.array(equations), b_eq=right).x[-1]


@pytest.mark.parametrize("seed", range(6))
def test_no_routes_carry_more_than_the_bound_of_adaptive_routing(seed):
    rng = np.random.default_rng(seed)
    graph = nx.random_regular_graph(3, 10, seed=seed)
    to = rng.permutation(10)
    weights = np.zeros((10, 10))
    weights[np.arange(10), to] = 1
    experiment = fl.Experiment.from_dict({}).with_topology(graph)
    experiment = experiment.set("routing.algorithm", "minimal_adaptive").with_pattern(weights)
    best = most_by_linear_programme(graph.to_directed(), {(s, int(d)): 1.0 for s, d in enumerate(to) if s != d})
    found = experiment.derived()["saturation_load_bound"]
    assert min(best, 1) <= found * (1 + 1e-9)
    assert found == pytest.approx(min(best, 1), rel=0.15)


MESH, TREE = {"topology.shape": [4, 4]}, {"topology.children": [4], "topology.parents": [2]}
TEN = [("mesh", "dimension_order", "transpose"), ("mesh", "o1turn", "transpose"), ("mesh", "odd_even", "transpose"),
       ("mesh", "minimal_adaptive", "bit_complement"), ("fat_tree", "nearest_common_ancestor", "bit_complement"),
       ("dragonfly", "minimal", "next_group"), ("dragonfly", "ugal_l", "next_group"),
       ("flattened_butterfly", "minimal", "next_router"), ("slim_fly", "valiant", "uniform"),
       ("polarfly", "minimal", "random_permutation")]


@pytest.mark.parametrize(("kind", "algorithm", "pattern"), TEN)
def test_the_saturation_load_stands_beside_its_bound_and_below_it(kind, algorithm, pattern):
    experiment = fl.Experiment.from_dict({
        "topology.kind": kind, "routing.algorithm": algorithm, "traffic.pattern": pattern, "router.vcs": 6,
        "router.buffer_flits": 16, "run.warmup_cycles": 1000, "run.measure_cycles": 5000,
        **{"mesh": MESH, "fat_tree": TREE}.get(kind, {})})
    found = fl.find_saturation(experiment, tolerance=0.05, progress=False)
    assert found.bound == experiment.derived()["saturation_load_bound"]
    assert 0 < found <= found.bound


@settings(max_examples=12, deadline=None, derandomize=True)
@given(case=st.sampled_from([*OBLIVIOUS, ("dragonfly", "ugal_l"), ("hyperx", "omniwar"), ("mesh", "odd_even"),
                             ("torus", "minimal_adaptive"), ("fat_tree", "adaptive")]),
       pattern=st.sampled_from(["uniform", "random_permutation", "hot_spot"]), seed=st.integers(0, 1000))
def test_no_network_carries_more_than_its_bound(case, pattern, seed):
    experiment = fl.Experiment.from_dict({
        "topology.kind": case[0], "routing.algorithm": case[1], "traffic.pattern": pattern, "router.vcs": 6,
        "router.buffer_flits": 16, "run.seed": seed})
    ideal = experiment.derived()["saturation_load_bound"]
    if ideal > 0.85:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fl.run(experiment.set("traffic.load", ideal * 1.15)).saturated
