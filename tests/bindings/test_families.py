"""Networks that are built from a few numbers: every kind runs with its defaults, by every routing algorithm, and has a
drawing that shows its structure."""

import math

import numpy as np
import pytest

import flitlab as fl
from flitlab import _core
from flitlab.scope.places import positions_of

KINDS = next(p["choices"] for m in _core.models() if m["kind"] == "vc" for p in m["parameters"]
             if p["path"] == "topology.kind")
FAMILIES = [k for k in KINDS if k not in ("mesh", "torus", "ring", "hypercube", "graph")]
MORE = {"dragonfly": ["par"], "megafly": ["par"], "fat_tree": ["nearest_common_ancestor", "adaptive"],
        "hyperx": ["dal", "dimwar", "omniwar"], "flattened_butterfly": ["dal", "dimwar", "omniwar"]}
GRID = ["dimension_order", "valiant", "minimal_adaptive"]
TABLES = ["minimal", "up_down", "minimal_adaptive"]
OVER_OTHERS = ["valiant", "ugal_l"]


def test_every_kind_runs_with_its_defaults():
    for kind in FAMILIES:
        result = fl.run({"topology.kind": kind})
        assert not result.saturated, kind
        assert result.config["routing.algorithm"] in ("minimal", "dimension_order"), kind
        assert result.packets.delivered > 1000, kind


@pytest.mark.parametrize("kind", FAMILIES)
def test_latency_and_hops_agree_with_the_calculation(kind):
    for algorithm in (GRID if kind.startswith("chiplet") else TABLES + OVER_OTHERS * (kind != "fat_tree")) + MORE.get(
            kind, []):
        settings = {"topology.kind": kind, "routing.algorithm": algorithm, "traffic.load": 0.01, "router.vcs": 6,
                    "router.buffer_flits": 32, "run.measure_cycles": 20000}
        experiment = fl.Experiment.from_dict(settings)
        result, derived = fl.run(experiment), experiment.derived()
        # UGAL and PAR take a longer route where the first channel of the shortest one is busy.
        assert result.hops_mean == pytest.approx(derived["hops_mean"], rel=0.05), algorithm
        expected = derived["zero_load_latency_cycles"]
        if (kind, algorithm) == ("chiplet_mesh", "dimension_order") or algorithm in ("minimal", "up_down", "dal"):
            assert expected is not None
        if expected is not None and not math.isnan(expected):
            assert result.latency_cycles.mean == pytest.approx(expected, rel=0.05), algorithm


def test_adaptive_routes_carry_more_adversarial_traffic_than_shortest_ones():
    """Shortest routes to the next group share one channel between groups; routes over other groups spread."""
    def accepted(algorithm: str, load: float) -> float:
        return fl.run({"topology.kind": "dragonfly", "routing.algorithm": algorithm, "traffic.pattern": "next_group",
                       "traffic.load": load, "run.measure_cycles": 4000}).accepted

    shortest = accepted("minimal", 0.5)
    assert shortest == pytest.approx(1 / 8, rel=0.12)  # 8 terminals of a group share a channel
    assert accepted("valiant", 0.5) > 2 * shortest
    for algorithm in ("ugal_l", "par"):
        assert accepted(algorithm, 0.15) == pytest.approx(0.15, rel=0.03), algorithm


def test_deroutes_carry_more_adversarial_traffic():
    def accepted(algorithm: str) -> float:
        return fl.run({"topology.kind": "hyperx", "topology.shape": [8], "topology.concentration": 8,
                       "routing.algorithm": algorithm, "traffic.pattern": "next_router", "traffic.load": 0.5,
                       "run.measure_cycles": 4000}).accepted

    shortest = accepted("minimal")
    assert shortest == pytest.approx(1 / 8, rel=0.1)  # 8 terminals share a link
    for algorithm in ("valiant", "dal", "dimwar", "omniwar"):
        assert accepted(algorithm) > 2 * shortest, algorithm
    assert accepted("ugal_l") > 1.5 * shortest


def test_odd_even_beats_dimension_order_on_transpose():
    def accepted(algorithm: str) -> float:
        return fl.run({"topology.kind": "mesh", "routing.algorithm": algorithm, "traffic.pattern": "transpose",
                       "traffic.load": 0.8, "run.measure_cycles": 4000}).accepted

    assert accepted("odd_even") > 1.2 * accepted("dimension_order")


def test_graph_falls_back_to_up_down_routes():
    networkx = pytest.importorskip("networkx")
    graph = networkx.random_regular_graph(4, 64, seed=3)
    experiment = fl.Experiment.from_dict({"traffic.load": 0.02}).with_topology(graph).set("router.vcs", 1)
    with pytest.warns(UserWarning, match="up\\*/down\\*"):
        result = fl.run(experiment)
    assert not result.saturated
    assert result.hops_mean > fl.run(experiment.set("router.vcs", 8)).hops_mean


@pytest.mark.parametrize("kind", [k for k in FAMILIES if not k.startswith("chiplet")])
def test_drawing_has_a_place_for_every_router(kind):
    experiment = fl.Experiment.from_dict({"topology.kind": kind})
    network = _core.Network(experiment.core, "cpu", 1, False)
    names = [network.router_name(r) for r in range(int(experiment.derived()["routers"]))]
    places, layout = positions_of(names, kind, fl.run(experiment).channels.links.tolist())
    apart = np.linalg.norm(np.array(places)[:, None] - np.array(places)[None], axis=2)
    np.fill_diagonal(apart, 9)
    assert apart.min() > 0.2, layout
    words = {"dragonfly": "9 groups", "megafly": "9 groups", "fat_tree": "3 levels", "hyperx": "bent",
             "flattened_butterfly": "bent", "full_mesh": "circle", "slim_fly": "two halves",
             "polarfly": "rings", "polarstar": "groups", "jellyfish": "rings"}
    assert words.get(kind, "") in layout


@pytest.mark.parametrize("kind", [k for k in FAMILIES if not k.startswith("chiplet")])
def test_full_buffers_cause_no_deadlock(kind):
    """Duato's protocol with the smallest buffers, long packets, and more traffic than the network carries."""
    for flits in (1, 2):
        result = fl.run({"topology.kind": kind, "routing.algorithm": "minimal_adaptive", "router.vcs": 2,
                         "router.buffer_flits": flits, "traffic.load": 1.0, "run.measure_cycles": 12000})
        assert result.saturated


@pytest.mark.parametrize(("settings", "part"), [
    ({"topology.kind": "hyperx", "topology.shape": [2048, 2048, 1024]}, "at most 16384"),
    ({"topology.kind": "hyperx", "topology.shape": [65535]}, "at most 16384"),
    ({"topology.kind": "full_mesh", "topology.routers": 16384}, "at most 60"),
    ({"topology.kind": "fat_tree", "topology.children": [16] * 8, "topology.parents": [16] * 8}, "at most 16384"),
    ({"topology.kind": "dragonfly", "topology.groups": 4096, "topology.group_routers": 63,
      "topology.global_channels": 65}, "topology.global_channels"),
    ({"topology.kind": "hyperx", "topology.shape": [2] * 8, "routing.algorithm": "omniwar", "router.vcs": 7},
     "needs at least 8"),
])
def test_networks_that_are_too_large_are_refused_at_once(settings, part):
    with pytest.raises(fl.ConfigError, match=part):
        fl.Experiment.from_dict(settings).derived()


def neighbours_of(experiment: fl.Experiment) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for router, _, to, _ in fl.run(experiment.set("traffic.load", 0.0)).channels.links.tolist():
        found.setdefault(router, []).append(to)
    return found


@pytest.mark.parametrize("settings", [{"topology.kind": "dragonfly"}, {"topology.kind": "full_mesh"},
                                      {"topology.kind": "megafly", "topology.channel_delay": [2, 9],
                                       "topology.channel_width": [1.0, 0.5]},
                                      {"topology.kind": "chiplet_mesh", "topology.shape": [4, 2],
                                       "topology.chip_shape": [2, 1]},
                                      {"topology.kind": "chiplet_torus", "topology.shape": [4, 3],
                                       "topology.chip_shape": [2, 3]}])
def test_own_routes_keep_terminals_and_channels(settings):
    """The same routes, given as a function, have the same latency at a load at which packets never meet."""
    experiment = fl.Experiment.from_dict({**settings, "router.vcs": 8, "traffic.load": 0.002, "traffic.packet_flits": 1,
                                          "run.measure_cycles": 20000})
    near = neighbours_of(experiment)
    hops = {0: {}}
    for to in near:  # breadth first
        hops[to], ahead = {to: 0}, [to]
        for router in ahead:
            for other in near[router]:
                if other not in hops[to]:
                    hops[to][other] = hops[to][router] + 1
                    ahead.append(other)
    own = experiment.with_routes(lambda router, to: min(near[router], key=lambda other: hops[to][other]))
    assert own.derived()["terminals"] == experiment.derived()["terminals"]
    if "chiplet_torus" not in settings.values():  # other ways around a ring may take other channels
        assert fl.run(own).latency_cycles.mean == pytest.approx(fl.run(experiment).latency_cycles.mean, rel=0.04)
    assert "topology.chip_shape" not in own.flat()
    channels = [_core.Network(e.core, "cpu", 1, False).own_channels() for e in (experiment, own)]
    assert sorted(c[2:] for c in channels[0]) == sorted(c[2:] for c in channels[1])
    assert bool(channels[0]) == ("topology.chip_shape" in settings or "topology.channel_delay" in settings)
