"""Several channels between the same two routers multiply the throughput, in every model that allows them."""

import networkx as nx
import pytest

import flitlab as fl

SHORT = {"run.warmup_cycles": 500, "run.measure_cycles": 2000, "run.drain_cycles": 0}


def across(source, terminals):
    """Sends from the terminals of one of two routers to the terminals of the other."""
    return (source + terminals // 2) % terminals


def pair(channels):
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1)] * channels)
    return graph


def accepted(kind, channels, **settings):
    given = {"router.kind": kind, "topology.kind": "mesh", "topology.concentration": 8} | SHORT | settings
    experiment = fl.Experiment.from_dict(given).with_topology(pair(channels)).with_pattern(across)
    result = fl.run(experiment.set("traffic.load", 0.9))
    assert result.channels.use.min() > 0.9 * result.channels.use.max()
    return result.accepted


@pytest.mark.parametrize(("kind", "settings"), [
    ("vc", {}), ("vc", {"router.vcs": 1}), ("vc", {"router.flow_control": "virtual_cut_through"}),
    ("vc", {"router.flow_control": "store_and_forward"}), ("vc", {"router.vc_allocator": "wavefront"}),
    ("vc", {"router.vc_allocator": "islip"}), ("adaptive", {"traffic.packet_flits": 1, "router.ejection": 0})])
def test_throughput_grows_with_the_number_of_channels(kind, settings):
    one = accepted(kind, 1, **settings)
    for channels in (2, 3):
        assert accepted(kind, channels, **settings) == pytest.approx(channels * one, rel=0.1)


def test_nodes_of_sconnect_use_what_their_hosts_fill():
    """With two host ports per node, one channel between the nodes limits the throughput; two or three channels do
    not."""
    rates = []
    for channels in (1, 2, 3):
        experiment = fl.Experiment.from_dict({"router.kind": "sconnect", "topology.host_ports": 2} | SHORT)
        experiment = experiment.with_topology(pair(channels)).with_pattern(across)
        rates.append(fl.run(experiment.set("traffic.load", 0.9)).accepted)
    assert rates == pytest.approx([0.5, 0.9, 0.9], rel=0.05)


def test_two_terminals_keep_two_channels_busy():
    """As many terminals as channels: no terminal may wait for a channel while another channel is idle."""
    given = {"topology.kind": "mesh", "topology.concentration": 2, "router.vcs": 1, "traffic.packet_flits": 4} | SHORT
    rates = []
    for channels in (1, 2):
        experiment = fl.Experiment.from_dict(given).with_topology(pair(channels)).with_pattern(across)
        rates.append(fl.run(experiment.set("traffic.load", 0.9)).accepted)
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)


def test_routes_name_the_next_router_and_use_all_channels_to_it():
    graph = nx.MultiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (1, 2)])
    given = {"router.kind": "vc", "router.vcs": 4, "topology.concentration": 2, "traffic.load": 0.2} | SHORT
    ring = fl.Experiment.from_dict(given).with_topology(graph)
    result = fl.run(ring.with_routes(lambda router, _: (router + 1) % 4))
    use = {}
    for (a, _, b, _), flits in zip(result.channels.links, result.channels.use, strict=True):
        use.setdefault((int(a), int(b)), []).append(flits)
    assert len(use[1, 2]) == 2
    assert sum(use[1, 2]) == pytest.approx(use[0, 1][0], rel=0.1)
    assert use[1, 2] == pytest.approx([sum(use[1, 2]) / 2] * 2, rel=0.1)
    assert use[1, 0] == [0]


def test_a_table_may_name_one_of_the_channels(tmp_path):
    table = tmp_path / "routes.csv"
    table.write_text("0,1,1\n1,0,0\n1,0,1\n")
    given = {"router.kind": "vc", "topology.concentration": 2} | SHORT
    both = fl.Experiment.from_dict(given).with_topology(pair(2)).set("routing.table_file", str(table))
    result = fl.run(both.with_pattern(across).set("traffic.load", 0.2))
    use = {(int(a), int(p)): x for (a, p, _, _), x in zip(result.channels.links, result.channels.use, strict=True)}
    assert use[0, 0] == 0
    assert use[0, 1] > 0.3
    assert min(use[1, 0], use[1, 1]) > 0.15


@pytest.mark.parametrize("settings", [
    {"router.kind": "vc", "topology.kind": "ring", "topology.shape": [2]},
    {"router.kind": "vc", "topology.kind": "torus", "topology.shape": [2, 2]},
    {"router.kind": "vc", "topology.shape": [2, 2], "routing.algorithm": "minimal_adaptive", "router.vcs": 4},
    {"router.kind": "vc", "topology.shape": [2, 2], "routing.algorithm": "valiant", "router.vcs": 4},
    {"router.kind": "bless", "topology.kind": "torus", "topology.shape": [2, 2], "traffic.packet_flits": 1},
    {"router.kind": "bgl", "topology.shape": [2, 2, 2]},
], ids=["ring", "torus", "minimal_adaptive", "valiant", "bless", "bgl"])
def test_both_channels_of_a_dimension_of_two_routers_are_used(settings):
    longer = SHORT | {"traffic.load": 0.1, "run.measure_cycles": 20000}
    use = fl.run(fl.Experiment.from_dict(settings | longer)).channels.use
    assert use.min() > 0.3 * use.max()
