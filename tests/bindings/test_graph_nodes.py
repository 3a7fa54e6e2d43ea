"""Graphs whose nodes have terminals and places, failed links, and the shipped configurations of clusters."""

import networkx as nx
import numpy as np
import pytest

import flitlab as fl


def star(hosts: int = 4, **attributes) -> nx.Graph:
    graph = nx.Graph([("switch", host) for host in range(hosts)])
    nx.set_node_attributes(graph, {host: 1 for host in range(hosts)}, "terminals")
    for name, values in attributes.items():
        nx.set_node_attributes(graph, values, name)
    return graph


def on(graph: nx.Graph, **settings) -> fl.Experiment:
    return fl.Experiment.from_dict({}).with_topology(graph).set({k.replace("__", "."): v for k, v in settings.items()})


def test_nodes_without_terminals_are_switches():
    e = on(star(5))
    derived = e.derived()
    assert (derived["routers"], derived["terminals"]) == (6, 5)
    # Hosts come first although the graph's first node is the switch; each of the 20 pairs of hosts has two hops.
    assert derived["hops_mean"] == pytest.approx(2 * 20 / 25)
    result = fl.run(e.set("traffic.load", 0.2))
    assert result.hops_mean == pytest.approx(1.6, rel=0.05)
    assert {(a, b) for a, _, b, _ in result.channels.links.tolist()} == {(h, 5) for h in range(5)} | {
        (5, h) for h in range(5)}


def test_terminals_set_the_concentration():
    graph = star(3)
    nx.set_node_attributes(graph, {host: 2 for host in range(3)}, "terminals")
    e = on(graph)
    assert (e["topology.concentration"], e["topology.terminal_routers"], e.derived()["terminals"]) == (2, 3, 6)
    nx.set_node_attributes(graph, 2, "terminals")  # the switch too
    e = on(graph)
    assert (e["topology.concentration"], e["topology.terminal_routers"], e.derived()["terminals"]) == (2, 0, 8)


def test_places_of_nodes_are_the_places_in_drawings():
    places = {"switch": (0, 0), 0: (0, 3), 1: (3, 0), 2: (0, -3), 3: (-3, 0)}
    positions = fl.run(on(star(4, pos=places)).set("traffic.load", 0)).channels._positions()
    assert np.allclose(positions, [[0, 1], [1, 0], [0, -1], [-1, 0], [0, 0]])  # in units of the mean link
    del places[0]
    assert "topology.places" in on(star(4, pos=places)).flat()
    assert on(star(4, pos=places))["topology.places"] == 0  # a node without a place: computed


def test_routes_on_a_network_with_switches_keep_them():
    tree = fl.Experiment.from_dict({"topology.kind": "fat_tree", "topology.children": [2], "topology.parents": [2],
                                    "topology.concentration": 2})

    def over_2(router, destination):
        assert destination < 2, "not asked for routes to switches"
        return destination if (router < 2) != (destination < 2) else 2 if router < 2 else 0

    routed = tree.with_routes(over_2)
    assert routed.derived()["terminals"] == 4
    result = fl.run(routed.set("traffic.load", 0.2))
    assert {r for r, used in enumerate(_through(result)) if used} == {0, 1, 2}


def _through(result) -> list[int]:
    flits = [0] * 4
    for (_, _, to, _), used in zip(result.channels.links.tolist(), result.channels.use, strict=True):
        flits[to] += used
    return flits


@pytest.mark.parametrize(("attributes", "words"), [
    ({"terminals": {0: -1}}, ["node 0 has terminals -1", "0 or more"]),
    ({"terminals": {0: 2}}, ["1 and 2 terminals", "equally many"]),
    ({"terminals": dict.fromkeys([0, 1, 2, 3], 0)}, ["no node has terminals"]),
    ({"pos": dict.fromkeys(["switch", 0, 1, 2, 3], (1,))}, ["pos", "a pair of numbers"]),
])
def test_wrong_attributes_have_one_clear_message(attributes, words):
    with pytest.raises(fl.ConfigError) as error:
        on(star(4, **attributes))
    assert all(word in str(error.value) for word in words)


def test_other_models_take_no_such_nodes():
    with pytest.raises(fl.ConfigError, match=r"topology.terminal_routers.*adaptive"):
        fl.Experiment.from_dict({"router.kind": "adaptive"}).with_topology(star())


@pytest.mark.parametrize("kind", ["mesh", "torus", "hypercube", "chiplet_mesh", "dragonfly", "fat_tree", "cmesh"])
@pytest.mark.parametrize("algorithm", ["table", "minimal", "up_down", "minimal_adaptive"])
def test_packets_avoid_failed_links(kind, algorithm):
    whole = fl.Experiment.from_dict({"topology.kind": kind, "router.vcs": 8, "traffic.load": 0.05})
    broken = whole.set({"topology.random_failures": 4, "routing.algorithm": algorithm})
    result = fl.run(broken)
    assert len(result.channels.links) == len(fl.run(whole).channels.links) - 8
    assert result.hops_mean == pytest.approx(broken.derived()["hops_mean"], rel=0.04)
    assert result.hops_mean >= 0.98 * fl.run(whole).hops_mean


def test_routes_of_a_user_know_the_failed_links():
    """All traffic between routers 0 and 1, whose link has failed, goes over router 2."""
    graph = on(nx.complete_graph(4), topology__failed_links=[0, 1], traffic__load=0.1)
    for over_2 in (lambda r, d: d if 2 in (r, d) else 2, lambda r, d: [d if 2 in (r, d) else 2]):
        channels = fl.run(graph.with_routes(over_2)).channels
        used = {(a, b) for (a, _, b, _), use in zip(channels.links.tolist(), channels.use, strict=True) if use}
        assert used == {(2, r) for r in (0, 1, 3)} | {(r, 2) for r in (0, 1, 3)}
    with pytest.raises(fl.ConfigError, match=r"table_file.* does not fit failed links or routers"):
        on(nx.complete_graph(4)).with_routes(lambda r, d: d).set("topology.random_failures", 1)


@pytest.mark.parametrize("kind", ["mesh", "torus", "dragonfly", "fat_tree", "jellyfish"])
@pytest.mark.parametrize("algorithm", ["table", "minimal", "up_down", "minimal_adaptive"])
def test_failed_routers_and_their_terminals_are_missing(kind, algorithm):
    whole = fl.Experiment.from_dict({"topology.kind": kind, "router.vcs": 8, "traffic.load": 0.05})
    lost = [5, 2]
    broken = whole.set({"topology.failed_routers": lost, "routing.algorithm": algorithm})
    before, after = fl.run(whole).channels.links.tolist(), fl.run(broken)
    number = {r: r - sum(f < r for f in lost) for r in range(int(whole.derived()["routers"])) if r not in lost}
    expected = sorted((number[a], number[b]) for a, _, b, _ in before if a in number and b in number)
    assert sorted((a, b) for a, _, b, _ in after.channels.links.tolist()) == expected
    each = int(whole["topology.concentration"])
    assert broken.derived()["terminals"] == whole.derived()["terminals"] - 2 * each
    assert after.hops_mean == pytest.approx(broken.derived()["hops_mean"], rel=0.04)
    assert after.verdict == "steady" and after.packets.dropped == 0


def test_failed_routers_keep_the_places_of_the_others():
    e = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [3, 3], "topology.failed_routers": [4]})
    assert [fl.Network(e).router(r).name for r in (3, 4)] == ["3 (0,1)", "4 (2,1)"]
    assert len(fl.run(e).channels.links) == 24 - 8
    both = e.set("topology.failed_links", [7, 8])
    assert len(fl.run(both).channels.links) == 24 - 8 - 2
    routed = e.with_routes(lambda router, to: router + (1 if to > router else -1) if {router, to} <= {0, 1, 2} else
                           next(r for r in _round(router, to)))
    assert fl.run(routed).verdict == "steady"


def _round(router: int, to: int):
    """The next router on the ring of the eight routers at the edge of a 3x3 mesh without the middle, the short way."""
    ring = [0, 1, 2, 4, 7, 6, 5, 3]
    at, end = ring.index(router), ring.index(to)
    yield ring[(at + (1 if (end - at) % 8 <= 4 else -1)) % 8]


@pytest.mark.parametrize(("change", "message"), [
    ({"topology.failed_routers": [64]}, r"failed_routers: router 64 does not exist; routers are numbered 0 to 63"),
    ({"topology.failed_routers": [3, 3]}, "lists router 3 twice"),
    ({"topology.failed_routers": [1, 8]}, r"failed_routers = \[1, 8\].* router"),
    ({"topology.shape": [2], "topology.failed_routers": [0, 1]}, "no router with terminals is left"),
    ({"topology.failed_routers": [5], "routing.algorithm": "dimension_order"}, "with failed links or routers"),
    ({"topology.failed_routers": [5], "traffic.pattern": "tornado"}, "a network with failed links or routers"),
])
def test_wrong_failed_routers(change, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.Experiment.from_dict({"topology.kind": "mesh"} | change).derived()


def test_a_failed_link_costs_little_throughput():
    """Shortest routes still cross dimensions in order; the bound of the whole mesh is 0.5."""
    e = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.failed_links": [0, 1], "router.vcs": 8,
                                 "routing.algorithm": "minimal"})
    assert e.derived()["saturation_load_bound"] >= 0.39


def test_a_failed_link_is_missing_in_the_drawing():
    e = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [3, 3], "topology.failed_links": [0, 1]})
    links = {(a, b) for a, _, b, _ in fl.run(e).channels.links.tolist()}
    assert (0, 1) not in links and (1, 0) not in links and len(links) == 22
    assert np.allclose(fl.run(e).channels._positions()[:4], [[0, 0], [1, 0], [2, 0], [0, 1]])


@pytest.mark.parametrize("name", ["vc-dgx-h100", "vc-rail-cluster", "vc-tpu-v4-cube"])
def test_shipped_clusters_run_below_saturation(name):
    e = fl.load(name)
    assert e["traffic.load"] < e.derived()["saturation_load_bound"]
    assert fl.run(e).verdict == "steady"


def test_a_cluster_has_the_links_that_its_source_states():
    """18 links of a GPU, 5, 4, 4 and 5 to four switches; in the rail cluster, rails join equal numbers only."""
    dgx = fl.run(fl.load("vc-dgx-h100").set("traffic.load", 0)).channels.links
    assert len(dgx) == 2 * 8 * 4
    rails = fl.run(fl.load("vc-rail-cluster").set("traffic.load", 0)).channels.links
    for a, _, b, _ in rails.tolist():
        if a < 32:
            assert b == 32 + a // 8 or b == 36 + a % 8
