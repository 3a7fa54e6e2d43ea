"""Adaptive routes from functions: the same states as built-in routes, and refusals."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl


def shortest(graph: nx.Graph):
    hops = dict(nx.all_pairs_shortest_path_length(graph))

    def any_shortest(router, destination):
        return {n for n in graph[router] if hops[n][destination] < hops[router][destination]}

    return any_shortest


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), load=st.sampled_from([0.1, 0.3, 0.6]), vcs=st.integers(2, 5),
       flow=st.sampled_from(["wormhole", "virtual_cut_through"]))
def test_all_shortest_routes_are_minimal_adaptive_routing(seed, load, vcs, flow):
    graph = nx.connected_watts_strogatz_graph(12, 4, 0.5, seed=seed)
    plain = fl.Experiment.from_dict({"traffic.load": load, "router.vcs": vcs, "router.flow_control": flow,
                                     "run.seed": seed}).with_topology(graph)
    built_in, own = plain.set("routing.algorithm", "minimal_adaptive"), plain.with_routes(shortest(graph))
    assert own["routing.algorithm"] == "minimal_adaptive"
    first, second = fl.Network(built_in), fl.Network(own)
    for network in (first, second):
        network.step(2000)
    assert first.state_hash == second.state_hash and first.totals["packets_delivered"] > 100


def test_packets_take_only_permitted_hops():
    """West-first on a mesh, as a function: no hop to the west after another one."""
    mesh = fl.Experiment.from_dict({"topology.kind": "mesh", "traffic.load": 0.15, "traffic.pattern": "transpose"})

    def west_first(router, destination):
        (x, y), (to_x, to_y) = (router % 8, router // 8), (destination % 8, destination // 8)
        if to_x < x:
            return [router - 1]
        return [router + step for step, away in ((1, to_x > x), (8, to_y > y), (-8, to_y < y)) if away]

    own = fl.run(mesh.with_routes(west_first))
    assert own.hops_mean == pytest.approx(mesh.derived()["hops_mean"], rel=0.05)
    # Dimension order fills its busiest channel at 1/7.
    assert own.verdict == "steady" and fl.run(mesh).verdict == "saturated"


def test_longer_routes_are_permitted():
    """Around a ring of 6 in one direction only, with an escape in both."""
    ring = fl.Experiment.from_dict({}).with_topology(nx.cycle_graph(6))
    around = ring.with_routes(lambda router, _: {(router + 1) % 6}).set("traffic.load", 0.02)
    assert fl.run(around).hops_mean == pytest.approx(sum(range(6)) / 6, rel=0.1)


def test_a_saved_experiment_has_its_ports(tmp_path):
    graph = nx.petersen_graph()
    own = fl.Experiment.from_dict({}).with_topology(graph).with_routes(shortest(graph))
    own.save(tmp_path / "own.toml")
    assert fl.run(tmp_path / "own.toml").state_hash == fl.run(own).state_hash


@pytest.mark.parametrize(("routes", "words"), [
    (lambda r, d: [(r + 1) % 6, (r - 1) % 6], ["to router 0 may go around in the loop", "1 -> 2 -> 1"]),
    (lambda r, d: [3], ["is [3]", "not a neighbour of router 0 (1, 5)"]),
    (lambda r, d: [1, "a"], ["'a' is not a neighbour"]),
    (lambda r, d: [1] if r == 0 else [], ["one or more neighbours"]),
    (lambda r, d: [1] if r == 0 else (r + 1) % 6, ["one or more neighbours"]),
])
def test_routes_that_cannot_work_are_refused(routes, words):
    ring = fl.Experiment.from_dict({}).with_topology(nx.cycle_graph(6))
    with pytest.raises(fl.ConfigError) as error:
        ring.with_routes(routes)
    assert all(word in str(error.value) for word in words), str(error.value)
