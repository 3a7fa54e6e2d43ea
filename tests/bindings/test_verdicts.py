"""A result's statements about its load: verdicts, the precision reached, and results without an interval."""

import json
import subprocess
import sys

import pytest

import flitlab as fl

MESH = {"topology.kind": "mesh", "topology.shape": [8, 8]}


def run(**settings):
    flat = MESH | {key.replace("__", "."): value for key, value in settings.items()}
    return fl.run(fl.Experiment.from_dict(flat), progress=False)


def test_a_window_short_of_its_precision_reports_the_precision():
    result = run(traffic__load=0.2, run__precision=0.001, run__longest_window=3000)
    assert result.window_capped and result.verdict == "steady"
    reached = 100 * result.latency_cycles.ci95 / result.latency_cycles.mean
    assert f"precision {reached:.2g} % (0.1 % requested); raise run.longest_window" in repr(result)
    curve = fl.sweep(fl.Experiment.from_dict(MESH | {"run.precision": 0.001, "run.longest_window": 3000}),
                     {"traffic.load": [0.2]}, progress=False)
    assert f"precision {reached:.2g} % (0.1 % requested)" in repr(curve)
    assert "capped" not in repr(result) + repr(curve)


def test_a_short_drain_reports_the_number_of_missing_packets():
    result = run(traffic__load=0.1, topology__channel_delay=20, run__drain_cycles=0)
    window = result.window_packets
    missing = window.created - window.delivered - window.dropped
    assert result.verdict == "not_drained" and not result.saturated and missing > 0
    assert result.latency_cycles.mean is None
    assert (f"not measured: {missing} of {window.created} packets of the window did not arrive within "
            "run.drain_cycles = 0; raise it") in repr(result)


def test_a_window_of_one_epoch_cannot_tell_saturation():
    result = run(traffic__load=0.9, run__warmup_cycles=2000, run__measure_cycles=500)
    assert result.verdict == "too_short" and not result.saturated
    assert "TOO FEW EPOCHS to judge" in repr(result) and "SATURATED" not in repr(result)
    five = run(traffic__load=0.9, run__warmup_cycles=2000, run__measure_cycles=2500)
    assert five.verdict == "saturated" and five.saturated and "SATURATED" in repr(five)


def test_curves_name_verdicts_in_a_column_and_in_the_margin(tmp_path):
    short = fl.Experiment.from_dict(MESH | {"run.warmup_cycles": 2000, "run.measure_cycles": 500})
    curve = fl.sweep(short, {"traffic.load": [0.1, 0.9]}, progress=False, out=tmp_path / "sweep")
    assert list(curve.frame["verdict"]) == ["steady", "too_short"]
    assert "too few epochs to judge saturation" in repr(curve)
    assert list(fl.Curve.read(tmp_path / "sweep").frame["verdict"]) == ["steady", "too_short"]
    text = (tmp_path / "sweep" / "curve.csv").read_text().replace("too_short", "odd")
    (tmp_path / "odd.csv").write_text(text)
    with pytest.raises(fl.ConfigError, match=r"verdict = .odd., but it must be one of steady, saturated"):
        fl.Curve.read(tmp_path / "odd.csv")


def test_a_search_for_saturation_needs_four_epochs():
    short = fl.Experiment.from_dict(MESH | {"run.warmup_cycles": 1000, "run.measure_cycles": 500})
    with pytest.raises(fl.ConfigError, match=r"run.measure_cycles = 500 is fewer than four epochs of 500 cycles"):
        fl.find_saturation(short, progress=False)


@pytest.mark.parametrize("start", [0, 5000])
def test_a_batch_counts_from_its_start_and_has_no_interval(start):
    flat = MESH | {"traffic.mode": "batch", "traffic.batch_packets": 10, "traffic.start": start}
    done = subprocess.run([sys.executable, "-m", "flitlab", "run", "vc-mesh-8x8", "--unset", "traffic.load", "--json",
                           *(f"--set={key}={json.dumps(value)}" for key, value in flat.items())],
                          capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["packets"]["delivered"] == 640
    assert result["model"]["batch_cycles"] == result["measured_cycles"] == 181
    assert result["warmup_cycles"] == start and result["cycles"] >= start + 181
    assert result["latency_cycles"]["ci95"] is None and result["latency_cycles"]["mean"] > 0
