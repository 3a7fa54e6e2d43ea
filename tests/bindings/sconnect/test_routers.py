"""The minimal adaptive router: configuration, totals, traces, and published experiment."""

import json
from pathlib import Path

import flitlab as fl
from flitlab.cli import main
from flitlab.reproduction import row
from flitlab.sconnect.published import routers as published

CONFIGS = Path(__file__).parents[3] / "configs"


def test_the_configuration_is_that_of_the_experiment():
    e = fl.load(CONFIGS / "sconnect-figure5.toml")
    assert e.derived()["routers"] == 64
    assert e.derived()["buffers"] == 10
    assert e.derived()["saturation_load_bound"] == 1
    assert {key: e[key] for key in published.FIGURE5} == published.FIGURE5


def test_figures_of_a_run():
    e = fl.load(CONFIGS / "sconnect-figure5.toml").set({"run.measure_cycles": 2000, "run.warmup_cycles": 200})
    low, full = fl.run(e.set("traffic.load", 0.2)), fl.run(e.set("traffic.load", 1.0))
    assert low.model.misrouted == 0
    assert low.model.latency_units == 10 * low.latency_cycles.mean
    assert 0 < full.model.misrouted_fraction < full.model.misrouted_per_message < 0.2


def test_throughput_is_that_of_a_run():
    e = fl.load(CONFIGS / "sconnect-figure5.toml").set({"run.measure_cycles": 2000, "run.warmup_cycles": 1000,
                                                        "traffic.load": 1.0})
    assert abs(published.saturated({}).throughput - 2 * fl.run(e).accepted) < 0.02


def test_a_router_shows_its_buffers():
    net = fl.Network(fl.load(CONFIGS / "sconnect-figure5.toml").set("traffic.load", 1.0)).step(500)
    buffers = net.router(5).ports[-1]
    assert buffers.name == "buffers"
    assert [vc.stage for vc in buffers.vcs] == ["stored"] * sum(vc.flits for vc in buffers.vcs) + ["idle"] * sum(
        vc.stage == "idle" for vc in buffers.vcs)
    assert sum(sent for _, _, sent in net.channels()) == net.totals["sent_by_adaptive"]


def test_traces_show_messages_from_port_to_port(tmp_path):
    out = tmp_path / "trace.json"
    assert main(["trace", str(CONFIGS / "sconnect-figure5.toml"), "--cycles", "100:130", "--format", "perfetto",
                 "--out", str(out)]) == 0
    spans = [e for e in json.loads(out.read_text())["traceEvents"] if e["ph"] == "X"]
    assert spans
    assert all(span["dur"] >= 1 for span in spans)


def test_the_verdict_comes_from_the_errors():
    difference = published.relative_difference
    far, near = published.Sample([1.0, 1.1, 1.2] * 3 + [1.1]), published.Sample([1.0, 1.1, 1.2] * 3 + [1.2])
    assert 0 < difference(near, far)["measured"] < difference(near, far)["uncertainty"]
    exact = published.Sample([2.0] * 10)
    assert difference(exact, published.Sample([1.0] * 10))["uncertainty"] == 0
    common = {"experiment": "x", "quantity": "q", "source": "s", "setting": "", "higher_is_better": True}
    assert row(**common, **difference(exact, published.Sample([1.0] * 10)))["verdict"] == "better"
    assert row(**common, **difference(near, far) | {"tolerance": 0})["verdict"] == "out"  # within errors
    # Within the confidence interval, the difference does not count.
    assert row(**common, **difference(near, far))["verdict"] == "match"
    behind = published.Sample([0.9, 0.91] * 5)
    assert row(**common, **difference(behind, published.Sample([0.92, 0.93] * 5)))["verdict"] == "out"
