"""Latencies and occupancy of routers in a recording, for every model, against the network's totals and fl.run."""

import json
from itertools import pairwise

import pytest

import flitlab as fl
from flitlab.scope.recorder import Recorder

GRID = {"topology.kind": "mesh", "topology.shape": [4, 4]}
FIGURE_1 = {key: value for key, value in fl.load("metro-figure1").flat().items() if value is not None}
MODELS = {
    "vc": {"router.kind": "vc", **GRID, "traffic.load": 0.35},
    "bless": {"router.kind": "bless", **GRID, "traffic.load": 0.3},
    "t3e": {"router.kind": "t3e", "topology.shape": [4, 4, 2], "traffic.load": 0.4},
    "bgl": {"router.kind": "bgl", "topology.shape": [4, 4, 2], "traffic.load": 0.05},
    "metro": {**FIGURE_1, "traffic.load": 0.3},
    "sconnect": {"router.kind": "sconnect", **GRID, "traffic.load": 0.4},
    "adaptive": {"router.kind": "adaptive", **GRID, "traffic.load": 0.4},
    "switch": {"router.kind": "switch", "traffic.load": 0.5},
}


def recorded(network, cycles):
    recorder = Recorder(network, cycles + 1)
    recorder.step(cycles)
    return json.loads(recorder.recording())


def occupancy_of_frames(recording):
    """Yields for each frame its cycle and the flits held by each router."""
    known = {}
    for frame in recording["frames"]:
        known.update(zip(frame["f"][::2], frame["f"][1::2], strict=True))
        yield frame["c"], dict(known)


@pytest.mark.parametrize("changes", [{}, {"traffic.mode": "request_reply", "traffic.load": 0.5}],
                         ids=["open", "closed loop"])
@pytest.mark.parametrize("model", MODELS)
def test_every_delivered_packet_counts_with_its_latency(model, changes):
    """Packets that were created before the recording began, or before tracing was turned on, count too."""
    try:
        exp = fl.Experiment.from_dict(MODELS[model]).set(changes)
    except fl.ConfigError as error:
        pytest.skip(str(error))  # a model without closed loops
    network, twin = fl.Network(exp).step(400), fl.Network(exp).step(400)
    frames = recorded(network.view().network, 80)["frames"]
    totals = [twin.totals] + [twin.step(1).totals for _ in range(80)]
    for frame, (before, after) in zip(frames[1:], pairwise(totals), strict=True):
        gained = {key: after[key] - before[key] for key in ("packets_delivered", "latency_sum")}
        assert (len(frame["l"]), sum(frame["l"])) == (gained["packets_delivered"], gained["latency_sum"])
    assert totals[-1]["packets_delivered"] > totals[0]["packets_delivered"] + 10


def test_the_mean_latency_is_that_of_a_run():
    exp = fl.load("vc-mesh-8x8").set("traffic.load", 0.35)
    network = fl.Network(exp).step(3000)
    latencies = [latency for frame in recorded(network.view().network, 60)["frames"] for latency in frame["l"]]
    assert sum(latencies) / len(latencies) == pytest.approx(fl.run(exp).latency_cycles.mean, rel=0.05)


@pytest.mark.parametrize("model", MODELS)
def test_routers_are_as_full_as_the_network_says(model):
    exp = fl.Experiment.from_dict(MODELS[model] | ({} if model == "bless" else {"traffic.load": 1.0}))
    network, twin = fl.Network(exp, trace=True).step(100), fl.Network(exp, trace=True).step(100)
    recording = recorded(network, 30)
    meta, seen = recording["meta"], set()
    for cycle, known in occupancy_of_frames(recording):
        twin.step(cycle - twin.cycle)
        for r, places in zip(meta["routers"], meta["places"], strict=True):
            router = twin.router(r)
            assert (router.held, router.places) == (known[r], places) and 0 <= router.fill <= 1
            seen.add(router.fill)
    assert max(seen) > 0.05 and len(seen) > 3 and meta["full"]


def test_occupancy_is_right_after_early_frames_are_discarded():
    network = fl.Network("t3e-16", trace=True).step(50)
    recorder = Recorder(network, 4)
    recorder.step(20)
    occupancy = dict(occupancy_of_frames(json.loads(recorder.recording())))
    assert occupancy[70] == {r: network.router(r).held for r in range(16)}


@pytest.mark.parametrize(("model", "router", "places"), [
    ("vc", 5, 5 * 4 * 8),  # ports, VCs, flits
    ("vc", 0, 3 * 4 * 8),  # the corner router has ports for two channels and the terminal
    ("bless", 5, 4 * 3),  # channels times the cycles that a flit takes per hop
    ("t3e", 0, 6 * (4 * 12 + 22) + 4 * 12),
    ("bgl", 0, 6 * 4 * 32 + 6 * 32),  # receivers' VCs and injection FIFOs, chunks
    ("sconnect", 0, 64),
    ("adaptive", 5, 4 + 4),  # a buffer for each channel, and four spare buffers
    ("switch", 0, 8 * 2),  # 8 ports, each with one message at the input and one at the output
])
def test_capacities_are_those_of_the_hardware(model, router, places):
    assert fl.Network(fl.Experiment.from_dict(MODELS[model])).router(router).places == places


def test_a_router_is_full_when_every_buffer_is():
    ring = {"topology.kind": "ring", "topology.shape": [4], "router.vcs": 1, "routing.vc_assignment": "any",
            "router.buffer_flits": 2, "traffic.packet_flits": 8, "traffic.pattern": "tornado", "traffic.load": 1.0}
    network = fl.Network(fl.Experiment.from_dict(ring)).step(400)
    for r in range(4):
        router = network.router(r)
        vcs = [vc for port in router.ports for vc in port.vcs]
        assert router.places == sum(vc.capacity for vc in vcs) and router.held == router.flits
        assert (router.fill == 1) == all(vc.flits == vc.capacity for vc in vcs)


@pytest.mark.parametrize("model", MODELS)
def test_the_picture_of_a_router_compares_each_buffer_with_its_size(model):
    router = fl.Network(fl.Experiment.from_dict(MODELS[model])).step(200).router(0)
    (axes,) = router.plot()
    share = axes.images[0]
    assert share.get_clim() == (0, 1)
    for row, port in zip(share.get_array(), router.ports, strict=True):
        for value, vc in zip(row, port.vcs, strict=False):
            assert not vc.capacity or value == pytest.approx(vc.flits / vc.capacity)
