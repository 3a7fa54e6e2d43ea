"""Sweeps on the emulated device, or on a GPU, have the results of the CPU. Skipped without a device:

    python tests/cuda_on_host/install.py out/emulated
    PYTHONPATH=out/emulated python -m pytest tests/cuda_on_host/test_sweeps.py
"""

import threading

import pytest

import flitlab as fl
from flitlab import _core, gpu_jobs, sweeps

pytestmark = pytest.mark.skipif(not _core.backends()["cuda"]["available"], reason="needs a package with a device")
EMULATED = bool(_core.backends()["cuda"]["devices"]) and "host" in _core.backends()["cuda"]["devices"][0]["name"]
SMALL = {"topology.shape": [4, 4], "run.warmup_cycles": 20, "run.measure_cycles": 40, "run.epoch_cycles": 20,
         "run.drain_cycles": 40}
STRUCTURES = {"topology.shape": [[3, 3], [4, 4], [5, 5], [6, 6]], "router.vcs": [2, 3], "traffic.load": [0.1, 0.3]}


def sweep(over, **arguments):
    return fl.sweep(fl.Experiment.from_dict(SMALL), over, progress=False, **arguments)


@pytest.fixture
def jobs(monkeypatch):
    """Records the jobs of sweeps: the runs and backend of each, and the error that ended it, or None."""
    real, lock, calls = sweeps.run_job, threading.Lock(), []

    def run_job(experiments, backend, *rest):
        error = None
        try:
            return real(experiments, backend, *rest)
        except BaseException as raised:
            error = raised
            raise
        finally:
            with lock:
                calls.append((len(experiments), backend, error))

    monkeypatch.setattr(sweeps, "run_job", run_job)
    return calls


def test_structures(jobs):
    expected = sweep(STRUCTURES, backend="cpu").csv_text()
    jobs.clear()
    assert sweep(STRUCTURES, backend="cuda").csv_text() == expected
    assert jobs == [(2, "cuda", None)] * 8


def test_structures_on_both_engines(jobs, monkeypatch):
    """The choice affects speed only."""
    expected = sweep(STRUCTURES, backend="cpu").csv_text()
    jobs.clear()
    monkeypatch.setattr(sweeps, "chooser", lambda *_: lambda job: "cuda" if job % 2 else "cpu")
    assert sweep(STRUCTURES, backend="auto").csv_text() == expected
    assert sorted(backend for _, backend, _ in jobs) == ["cpu"] * 4 + ["cuda"] * 4


def test_many_seeds_are_one_job(jobs):
    over = {"traffic.load": [0.1]}
    expected = sweep(over, seeds=80, backend="cpu").csv_text()
    jobs.clear()
    assert sweep(over, seeds=80, backend="cuda").csv_text() == expected
    assert jobs == [(80, "cuda", None)]


def test_a_job_of_many_runs_is_limited_by_memory(jobs, monkeypatch):
    core = fl.Experiment.from_dict(SMALL).core
    _, replica_bytes = core.engine_of_job("cuda", 0, 1, 1)
    monkeypatch.setattr(gpu_jobs, "PART_OF_MEMORY",
                        70 * replica_bytes / _core.backends()["cuda"]["devices"][0]["bytes"])
    sweep({"traffic.load": [0.1]}, seeds=140, backend="cuda")
    assert jobs == [(70, "cuda", None)] * 2


@pytest.mark.skipif(not EMULATED, reason="needs a device whose memory a test can set")
def test_a_job_waits_for_memory(jobs, monkeypatch, tmp_path):
    """The device has room for one job. The others wait for it, and no job gives up lane state."""
    over = {"topology.shape": [[20, 20], [20, 21], [21, 21]], "traffic.load": [0.05, 0.1]}
    cycles = {"run.warmup_cycles": 10, "run.measure_cycles": 10, "run.epoch_cycles": 10, "run.drain_cycles": 10}
    e = fl.Experiment.from_dict({**SMALL, **cycles})
    expected = fl.sweep(e, over, backend="cpu", progress=False).csv_text()
    jobs.clear()
    _, replica_bytes = e.set("topology.shape", [21, 21]).core.engine_of_job("cuda", 0, 1, 1)
    monkeypatch.setenv("CUDA_ON_HOST_MEMORY", str(int(2 * replica_bytes * 3.2 / 1e6) + 5))
    assert fl.sweep(e, over, backend="cuda", progress=False, out=tmp_path).csv_text() == expected
    ended = [error for _, _, error in jobs]
    assert any(isinstance(error, _core.DeviceFull) for error in ended) and ended.count(None) == 3
    assert not list(tmp_path.glob("job*"))


@pytest.mark.skipif(not EMULATED, reason="needs a device whose memory a test can set")
def test_a_job_that_does_not_fit_alone_is_an_error(jobs, monkeypatch):
    monkeypatch.setenv("CUDA_ON_HOST_MEMORY", "6")
    over = {"topology.shape": [[64, 64], [4, 4]], "traffic.load": [0.1, 0.2]}
    with pytest.raises(fl.ConfigError, match="MB are needed on the device, and 6 MB are free"):
        sweep(over, backend="cuda")
    assert jobs[-1][0] == 2 and isinstance(jobs[-1][2], fl.ConfigError)
    assert (2, "cuda", None) in jobs  # the small network had its results
