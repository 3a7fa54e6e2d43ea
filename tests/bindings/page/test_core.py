"""The core as WebAssembly, in Node: states, frames and runs of every model equal the native core's."""

import json

import pytest
import wasm_page

import flitlab as fl
from flitlab.scope.recorder import Recorder

CONFIGURATIONS = wasm_page.configurations()
# One or two configurations of each model; together they use every mechanism of packets.
MODELS = ["vc-mesh-8x8", "vc-torus-8x8", "t3e-16", "bgl-figure10", "metro-figure3", "metro-wiring", "sconnect-protocol",
          "sconnect-figure5", "sconnect-figure1", "bless-mesh-8x8"]


@pytest.fixture(autouse=True)
def core():
    wasm_page.needs_core()


def begin(name, **changes):
    c = CONFIGURATIONS[name]
    return {"do": "begin", "name": name, "config": {**c["config"], **changes}, "texts": c["texts"]}


def test_the_page_has_every_model():
    kinds = {c["config"].get("router.kind", "vc") for c in CONFIGURATIONS.values()}
    assert kinds == {m["kind"] for m in fl._core.models()}


def test_every_configuration_has_the_native_state_hash(tmp_path):
    """The first cycles run with tracing, the others with the fast engine. Two configurations are left out because their
    tables take long to compute; other configurations cover their models."""
    names = [name for name in CONFIGURATIONS if name not in ("sconnect-random-1024", "sconnect-figure18")]
    messages = [m for name in names
                for m in (begin(name), {"do": "step", "cycles": 3}, {"do": "skip", "cycles": 200}, {"do": "hash"})]
    states = wasm_page.answers(messages, tmp_path)[3::4]
    found = {name: (s["cycle"], s["hash"]) for name, s in zip(names, states, strict=True)}
    assert found == {name: (203, fl.Network(name).step(203).state_hash) for name in names}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_frames_are_those_of_a_notebook(name, seed, tmp_path):
    """Frames sent to the scope, cycle by cycle, including the whole state of an inspected router."""
    inspected = {"do": "inspect", "router": 3} if name != "sconnect-figure1" else {"do": "inspect", "router": 0}
    messages = [begin(name, **{"run.seed": seed}), {"do": "step", "cycles": 40}, inspected, {"do": "step", "cycles": 5}]
    begun, first, tree, second = wasm_page.answers(messages, tmp_path)
    recorder = Recorder(fl.Network(fl.load(name).set("run.seed", seed), trace=True), 1000)
    recorder.step(40)
    recorder.inspected = {inspected["router"]}
    assert tree == json.loads(recorder.inspection(inspected["router"]))
    recorder.step(5)
    recording = json.loads(recorder.recording())
    assert begun["anew"]["frames"] + first["frames"] + second["frames"] == recording["frames"]
    meta, expected = begun["anew"]["meta"], recording["meta"]
    assert second["stages"] == expected["stages"]
    for key in expected.keys() - {"x", "y", "layout", "settings", "stages", "window", "deadlock"}:
        assert meta.get(key) == expected[key], key  # JSON has no undefined
    if "networkx" not in expected["layout"]:
        assert meta["layout"] == expected["layout"]
        assert (meta["x"], meta["y"]) == (pytest.approx(expected["x"]), pytest.approx(expected["y"]))


def test_a_point_is_the_native_run(tmp_path):
    config = CONFIGURATIONS["vc-mesh-8x8"]
    loads = [0.1, 0.3, 0.4, 0.9]
    points = wasm_page.answers([{"do": "point", "load": load, **config} for load in loads], tmp_path)
    for load, point in zip(loads, points, strict=True):
        check_point(point, fl.run(fl.load("vc-mesh-8x8").set("traffic.load", load), backend="cpu", threads=1))
    assert [p["saturated"] for p in points] == [False, False, False, True]


def check_point(point, result):
    for key in ("state_hash", "offered", "accepted", "saturated", "cycles"):
        assert point[key] == result[key], key
    for key in ("mean", "ci95", "p50", "p99", "max"):
        assert point["latency_cycles"][key] == result["latency_cycles"][key]


MUTANTS = {
    "the hash of another cycle": ('case "hash": return {', 'case "hash": this.call("step", 1); return {'),
    "another load": ('"traffic.load": load }', '"traffic.load": load + 0.05 }'),
    "frames too few": ("frames: reply.frames, more", "frames: reply.frames.slice(1), more"),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_modified_worker_is_detected(mutant, tmp_path):
    config = CONFIGURATIONS["vc-mesh-8x8"]
    messages = [begin("vc-mesh-8x8"), {"do": "step", "cycles": 20}, {"do": "hash"},
                {"do": "point", "load": 0.1, **config}]
    _, steps, hashed, point = wasm_page.answers(messages, tmp_path, mutant)
    recorder = Recorder(fl.Network("vc-mesh-8x8", trace=True), 1000)
    frames = json.loads(recorder.step(20))
    with pytest.raises(AssertionError):
        assert steps["frames"] == frames
        assert hashed["hash"] == recorder.network.state_hash
        check_point(point, fl.run(fl.load("vc-mesh-8x8").set("traffic.load", 0.1), backend="cpu", threads=1))


@pytest.mark.parametrize("changes", [
    {"router.vcs": 0}, {"routing.algorithm": "xy"}, {"traffic.lod": 0.2}, {"topology.shape": "8 by 8"},
    {"router.vcs": 1.5}, {"traffic.packet_flits": [[4, 0.5], [8, -1]]}, {"topology.shape": []}])
def test_bad_input_gets_the_cores_own_message(changes, tmp_path):
    """After the error message, the previous network continues."""
    messages = [begin("vc-mesh-8x8"), {"do": "set", "changes": changes}, {"do": "step"}, {"do": "hash"}]
    answers = wasm_page.answers(messages, tmp_path)
    with pytest.raises(fl.ConfigError) as error:
        fl._core.Experiment({**CONFIGURATIONS["vc-mesh-8x8"]["config"], **changes}, ".")
    assert answers[1] == {"error": str(error.value)}
    assert answers[3]["hash"] == fl.Network("vc-mesh-8x8").step(1).state_hash
