"""Sweeps of many points: their memory, and results that are read from a file on demand."""

import json
import math
import pickle
import random
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import flitlab as fl
from flitlab import sweeps
from flitlab.refinement import refined
from flitlab.rows import Rows

OVER = {"router.vcs": [2, 4], "traffic.load": [0.1, 0.9]}
MIXED = [
    {"a": 1, "b": 0.5, "c": "auto", "d": True, "e": "00ff00ff00ff00ff", "f": None, "g": 2},
    {"a": 2**62, "b": None, "c": 500, "d": False, "e": "0123456789abcdef", "f": None, "g": 2.5, "model.x": 3},
    {"a": -5, "b": 2, "c": "auto", "d": True, "e": "0123456789abcdef", "f": None, "g": None, "model.y": True},
    {"a": 0, "b": math.inf, "c": 0.5, "d": True, "e": "", "f": None, "g": 1, "model.x": 2**70},
]


@pytest.fixture
def at_once(monkeypatch):
    """Makes points take no time: each point gets a copy of the first result with changed numbers."""
    real, first = sweeps.run_job, []

    def run_job(experiments, backend, threads, finished, checkpoint, advanced, stop):
        if not first:
            first.extend(real(experiments[:1], "cpu", 1))
        results = []
        for i, e in enumerate(experiments):
            config = {**first[0]["config"], "run.seed": e["run.seed"]}
            results.append({**first[0], "config": config, "accepted": random.random(),
                            "state_hash": f"{random.getrandbits(64):016x}"})
            finished(i, results[-1])
        return results

    monkeypatch.setattr(sweeps, "run_job", run_job)


@pytest.mark.parametrize("with_folder", [False, True])
def test_a_point_takes_less_than_a_kilobyte(small, at_once, tmp_path, with_folder):
    """Counts the table, the list of finished points and the sweep's working memory."""
    peaks = []
    for points in (10, 200, 1000):
        tracemalloc.start()
        curve = fl.sweep(small, {"run.seed": range(1, points + 1)}, progress=False,
                         out=tmp_path / str(points) if with_folder else None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(curve.rows) == len(curve.results) == points
    assert (peaks[2] - peaks[1]) / 800 < 1000


def test_a_refined_sweep_keeps_what_it_looks_at():
    result = {"saturated": False, "latency_cycles": {"mean": 20.0}, "config": {"much": "x" * 10000}}
    kept = []

    class Loads:
        def next(self, measured):
            kept.extend(seed for seeds in measured.values() for seed in seeds)
            return []

    refined(Loads(), [{"traffic.load": 0.1, "run.seed": 1}], [result])
    assert kept == [{"saturated": False, "latency_cycles": {"mean": 20.0}}]


def test_rows_are_what_they_were():
    rows = Rows(MIXED)
    assert rows == MIXED and list(rows) == MIXED and rows[-1] == MIXED[-1] and rows[1:3] == MIXED[1:3]
    assert [[type(v) for v in row.values()] for row in rows] == [[type(v) for v in row.values()] for row in MIXED]
    assert rows + rows == MIXED * 2 == rows * 2 and [*rows.take([2, 0])] == [MIXED[2], MIXED[0]]
    assert pickle.loads(pickle.dumps(rows)) == MIXED and rows != MIXED[:2] and not Rows()
    assert rows.names == list(dict.fromkeys(name for row in MIXED for name in row))
    assert rows.has("a") and not rows.has("model.x") and not rows.has("z")
    assert list(rows.pick("a", "model.x", "z")) == [(r["a"], r.get("model.x"), None) for r in MIXED]
    with pytest.raises(IndexError):
        rows[4]


@pytest.mark.parametrize("choice", [[0, 1, 2, 3], [0], [1, 3], [2, 1]])
def test_columns_are_those_of_pandas(choice):
    rows = Rows(MIXED).take(choice)
    ours = pd.DataFrame({name: rows.column(name) for name in rows.names})
    other_side = pd.DataFrame([MIXED[i] for i in choice])[list(ours)]
    pd.testing.assert_frame_equal(ours, other_side)


@pytest.mark.parametrize("with_folder", [False, True])
def test_results_are_read_on_demand(small, tmp_path, with_folder):
    curve = fl.sweep(small, OVER, out=tmp_path / "o" if with_folder else None, progress=False)
    for kept in [curve, pickle.loads(pickle.dumps(curve)), *([fl.Curve.read(tmp_path / "o")] if with_folder else [])]:
        assert len(kept.results) == 4 and repr(kept) == repr(curve)
        for row, result in zip(kept.rows, kept.results, strict=True):
            alone = fl.run(small.set({k: row[k] for k in OVER}))
            assert result.state_hash == row["state_hash"] == alone.state_hash
            assert result.config == json.loads(json.dumps(alone.config))
            assert result.latency_cycles.mean == row["latency_mean"]
        assert kept.results[-1].state_hash == kept.results[2:][1].state_hash == curve.rows[3]["state_hash"]
        assert kept.configs[0] is kept.configs[1]  # rows share their common values
        with pytest.raises(IndexError):
            kept.results[4]


def test_results_of_a_changed_folder_are_refused(small, tmp_path):
    curve = fl.sweep(small, OVER, out=tmp_path, progress=False)
    journal = tmp_path / "points.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    other = json.loads(lines[0])
    other["result"]["state_hash"] = "0" * 16
    for text in ("".join(lines[1:]), "", json.dumps(other) + "\n", "x" + "".join(lines)):
        journal.write_text(text)
        with pytest.raises(fl.ConfigError, match=r"points\.jsonl was moved or changed after the sweep read it.*anew"):
            curve.results[0]
    journal.unlink()
    with pytest.raises(fl.ConfigError, match="was moved or changed"):
        curve.results[0]


def test_a_table_alone_has_no_results(small, tmp_path):
    fl.sweep(small, OVER, progress=False).to_csv(tmp_path / "c.csv")
    with pytest.raises(fl.ConfigError, match=r"curve\.results: this curve is a table without results\..*Curve\.read"):
        print(fl.Curve.read(tmp_path / "c.csv").results)


def test_a_full_temporary_folder_is_named(small, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    from flitlab import kept

    class Full:
        seek, write = staticmethod(lambda *_: 0), staticmethod(full)

    monkeypatch.setattr(kept.tempfile, "SpooledTemporaryFile", lambda **_: Full())
    with pytest.raises(fl.ConfigError, match=r"temporary file of the sweep, in .*cannot be written: No space left on "
                                             r"device\. Give the sweep a folder \(out\), or set TMPDIR"):
        fl.sweep(small, OVER, progress=False)


def test_a_table_over_seeds_has_means_and_intervals(small):
    """Intervals use Student's t; for three seeds (two degrees of freedom) it is 4.303."""
    curve = fl.sweep(small, {"traffic.load": [0.1, 0.2, 1.0]}, seeds=3, progress=False)
    table = curve.table()
    assert list(table) == ["traffic.load", "seeds", "saturated", "accepted", "accepted_ci95", "latency_mean",
                           "latency_mean_ci95", "latency_p99", "latency_p99_ci95", "hops_mean", "hops_mean_ci95"]
    assert list(table["traffic.load"]) == [0.1, 0.2, 1.0] and list(table.seeds) == [3, 3, 3]
    frame = curve.frame
    for line in table.itertuples():
        seeds = frame[frame["traffic.load"] == line[1]]
        assert line.accepted == pytest.approx(seeds.accepted.mean())
        assert line.accepted_ci95 == pytest.approx(4.303 * seeds.accepted.std() / 3**0.5)
        assert line.saturated == seeds.saturated.sum()
        if not line.saturated:
            assert line.latency_mean == pytest.approx(seeds.latency_mean.mean())
            assert line.latency_mean_ci95 == pytest.approx(4.303 * seeds.latency_mean.std() / 3**0.5)
    assert table.saturated[2] == 3 and np.isnan([table.latency_mean[2], table.latency_mean_ci95[2]]).all()
    assert list(curve.table("latency_p50", "cycles")) == [
        "traffic.load", "seeds", "saturated", "latency_p50", "latency_p50_ci95", "cycles", "cycles_ci95"]
    with pytest.raises(fl.ConfigError, match=r"table\('latency'\): .*no such column of numbers.*Did you mean latency_"):
        curve.table("latency")
    with pytest.raises(fl.ConfigError, match=r"table\('state_hash'\)"):
        curve.table("state_hash")


def test_a_table_of_one_seed_has_the_interval_of_its_run(small):
    curve = fl.sweep(small.set("run.measure_cycles", 10000), OVER, progress=False)
    table = curve.table()
    assert list(table)[:4] == ["router.vcs", "traffic.load", "seeds", "saturated"] and list(table.seeds) == [1] * 4
    assert table.latency_mean_ci95[0] == curve.rows[0]["latency_ci95"] and math.isnan(table.accepted_ci95[0])
    over_seeds = fl.sweep(small, {"run.seed": [5, 6]}, progress=False).table("accepted")
    assert list(over_seeds) == ["seeds", "saturated", "accepted", "accepted_ci95"] and list(over_seeds.seeds) == [2]
