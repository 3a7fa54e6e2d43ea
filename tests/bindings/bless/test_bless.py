"""The bufferless deflection router: configurations, latency and throughput against the canonical router's, totals,
traces, and messages about bad input."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab.cli import main

CONFIGS = Path(__file__).parents[3] / "configs"
SHORT = {"run.warmup_cycles": 1000, "run.measure_cycles": 4000, "run.drain_cycles": 4000}


def load(name, **changes):
    return fl.load(CONFIGS / f"{name}.toml").set(SHORT | {key.replace("__", "."): v for key, v in changes.items()})


@pytest.mark.parametrize("topology", ["mesh", "torus"])
def test_without_load_latency_is_the_formula(topology):
    e = load(f"bless-{topology}-8x8", traffic__load=0.005, run__measure_cycles=20000)
    hops = 16 / 3 if topology == "mesh" else 4 * 64 / 63
    formula = hops * (2 + 1) + 2 + 4 - 1
    assert e.derived()["zero_load_latency_cycles"] == pytest.approx(formula)
    result = fl.run(e)
    assert result.latency_cycles.mean == pytest.approx(formula, rel=0.02)
    assert result.model.deflections_per_flit < 0.02
    assert result.model.hops_per_flit == pytest.approx(hops, rel=0.02)


@pytest.mark.parametrize("topology", ["mesh", "torus"])
def test_it_saturates_before_a_router_with_buffers(topology):
    bufferless, buffered = (fl.run(load(f"{kind}-{topology}-8x8", traffic__load=0.8)) for kind in ("bless", "vc"))
    assert bufferless.saturated and buffered.saturated
    assert bufferless.accepted < 0.9 * buffered.accepted
    assert bufferless.accepted <= load(f"bless-{topology}-8x8").derived()["saturation_load_bound"]
    assert bufferless.model.deflections_per_flit > 1
    assert bufferless.model.injections_blocked > 10000
    assert bufferless.model.ejections_refused == 0


def test_at_low_load_buffers_make_no_difference():
    """At low load packets do not meet, so a router with buffers and one without have equal latency if both take two
    cycles per hop."""
    same = {"router__routing_delay": 0, "router__vc_allocation_delay": 1, "router__switch_allocation_delay": 1,
            "router__switch_traversal_delay": 0, "traffic__load": 0.02}
    buffered = fl.run(load("vc-mesh-8x8", **same, run__measure_cycles=20000))
    bufferless = fl.run(load("bless-mesh-8x8", traffic__load=0.02, run__measure_cycles=20000))
    # The buffered router adds one cycle between terminal and router on each side.
    assert bufferless.latency_cycles.mean == pytest.approx(buffered.latency_cycles.mean - 2, abs=1)


def test_figures_agree_with_totals():
    net = fl.Network(load("bless-mesh-8x8", traffic__load=0.4)).step(2000).check()
    totals = net.totals
    assert sum(sent for _, _, sent in net.channels()) == totals["flits_sent"]
    assert totals["flit_moves"] == totals["flits_sent"] + totals["flits_delivered"]
    assert 0 < totals["deflections"] < totals["flits_sent"]
    flying = [vc for r in range(64) for port in net.router(r).ports for vc in port.vcs if vc.stage == "arriving"]
    assert len(flying) == totals["flits_injected"] - totals["flits_delivered"]


def test_on_a_mesh_every_deflection_costs_two_hops():
    """A deflection costs one hop in the wrong direction and one hop back."""
    e = fl.Experiment.from_dict({"router.kind": "bless", "topology.kind": "mesh", "traffic.mode": "batch",
                                 "traffic.pattern": "bit_complement", "traffic.batch_packets": 40}, name="batch")
    totals = fl.Network(e).step(6000).check().totals
    assert totals["packets_delivered"] == 64 * 40
    shortest = sum(abs(7 - 2 * (i % 8)) + abs(7 - 2 * (i // 8)) for i in range(64))
    assert totals["deflections"] > 10000
    assert totals["flits_sent"] == 4 * 40 * shortest + 2 * totals["deflections"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(["mesh", "torus"]), shape=st.lists(st.integers(1, 5), min_size=1, max_size=3),
       delays=st.tuples(st.integers(1, 5), st.integers(1, 5)), flits=st.integers(1, 12),
       load_=st.sampled_from([0.05, 0.3, 1.0]), seed=st.integers(0, 1000))
def test_any_shape(kind, shape, delays, flits, load_, seed):
    values = {"router.kind": "bless", "topology.kind": kind, "topology.shape": shape, "router.delay": delays[0],
              "topology.channel_delay": delays[1], "traffic.packet_flits": flits, "traffic.load": load_,
              "run.seed": seed}
    if math.prod(shape) == 1:
        with pytest.raises(fl.ConfigError, match=r"topology\.shape = .* is one router"):
            fl.Experiment.from_dict(values, name="any")
        return
    e = fl.Experiment.from_dict(values, name="any")
    totals = fl.Network(e).step(400).check().totals
    assert totals["ejections_refused"] == 0
    assert totals["packets_delivered"] > 0 or load_ < 1


def test_traces_show_every_flit(tmp_path):
    out = tmp_path / "trace.json"
    assert main(["trace", str(CONFIGS / "bless-mesh-8x8.toml"), "--cycles", "100:160", "--format", "perfetto",
                 "--out", str(out)]) == 0
    spans = [e for e in json.loads(out.read_text())["traceEvents"] if e["ph"] == "X"]
    assert spans
    assert {span["dur"] for span in spans} == {1}  # a flit stays in a router only for the cycle of its port allocation


@pytest.mark.parametrize(("changes", "message"), [
    ({"topology.kind": "hypercube"}, 'topology.kind = "hypercube" does not fit router.kind = "bless"'),
    ({"topology.concentration": 4}, "topology.concentration = 4 does not fit"),
    ({"traffic.mode": "request_reply"}, 'traffic.mode = "request_reply" does not fit'),
    ({"router.ejection_width": 0}, "router.ejection_width = 0 is out of range"),
    ({"router.reassembly_packets": "some"}, 'router.reassembly_packets = "some" has the wrong type'),
    ({"router.vcs": 4}, 'router.vcs = 4 belongs to router.kind = "vc"'),
    ({"router.delais": 4}, r"did you mean router\.delay"),
])
def test_bad_input(changes, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.Experiment.from_dict({"router.kind": "bless"} | changes, name="bad").derived()


def test_few_reassembly_slots_give_a_warning():
    e = load("bless-mesh-8x8", router__reassembly_packets=2, run__measure_cycles=1000)
    with pytest.warns(UserWarning, match=r"router\.reassembly_packets = 2: .*from 735 on it is not"):
        fl.run(e)
