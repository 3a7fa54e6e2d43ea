"""How many runs a job of a sweep has if there is a GPU, and which backend each job gets. No test needs a GPU."""

import pytest

import flitlab as fl
from flitlab import _core, gpu_jobs, sweeps
from flitlab.gpu_jobs import MOST_RUNS, chooser, runs_per_job

SMALL = {"topology.shape": [4, 4], "run.warmup_cycles": 50, "run.measure_cycles": 100, "run.epoch_cycles": 50}


class Point:
    """Fake of an experiment: the GPU is faster from `least` replicas on, in all jobs at a time together."""

    def __init__(self, least=0, replica_bytes=1, terminals=16):
        self.least, self.replica_bytes, self.size, self.asked = least, replica_bytes, terminals, []

    def terminals(self):
        return self.size

    def engine_of_job(self, backend, threads, replicas, jobs):
        self.asked.append((replicas, jobs))
        return "cuda" if replicas * jobs >= self.least else "cpu", self.replica_bytes


@pytest.fixture
def gpu(monkeypatch):
    """A GPU of 4 GB."""
    there = {"cpu": {"threads": 4}, "cuda": {"available": True, "devices": [{"bytes": 4_000_000_000}]}}
    monkeypatch.setattr(_core, "backends", lambda: there)


@pytest.mark.parametrize("runs, replica_bytes, expected", [
    (100, 1, 100),
    (1024, 1, 1024),
    (1025, 1, 513),  # jobs of equal size
    (5000, 1, 1000),
    (1000, 2_000_000, 500),  # a quarter of the memory has room for 500
    (1000, 3_000_000, 250),  # 333 fit; four jobs
    (1000, 1_000_000_000, 63),  # jobs of 64, as on a CPU, of equal size
])
def test_a_job_has_as_many_runs_as_fit_the_gpu(gpu, runs, replica_bytes, expected):
    assert runs_per_job(Point(0, replica_bytes), runs, 64, "auto", 0) == expected


def test_a_job_of_the_cpu_has_the_usual_size(gpu):
    point = Point(least=2000)
    assert runs_per_job(point, 1000, 64, "auto", 0) == 64
    assert runs_per_job(point, 3000, 64, "auto", 0) == 1000
    assert point.asked == [(1000, 1), (MOST_RUNS, 3)]


def test_a_choice_counts_the_jobs_of_about_its_size():
    """Three jobs of 16 terminals and 4 runs, one of half and one of twice the size, and two of other sizes."""
    runs, terminals = [4, 4, 4, 2, 8, 1, 100], [16] * 7
    points = [Point(20, terminals=size) for size in terminals]
    backend_of = chooser(points.__getitem__, runs, "auto", 0)
    assert [backend_of(job) for job in (0, 3, 4, 5, 6)] == ["cuda", "cpu", "cuda", "cpu", "cuda"]
    assert [points[job].asked for job in (0, 3, 4, 5, 6)] == [[(4, 5)], [(2, 5)], [(8, 4)], [(1, 2)], [(100, 1)]]


def test_a_choice_assumes_no_more_jobs_than_run_at_a_time():
    point = Point()
    chooser(lambda job: point, [4] * 500, "auto", 0)(0)
    assert point.asked == [(4, gpu_jobs.MOST_ON_GPU)]


def test_the_core_knows_the_engine_and_the_memory_of_a_job():
    core = fl.Experiment.from_dict(SMALL).core
    backend, replica_bytes = core.engine_of_job("cpu", 0, 5, 1)
    assert backend == "cpu" and 1000 < replica_bytes < 1_000_000
    if not _core.backends()["cuda"]["available"]:
        assert core.engine_of_job("auto", 0, 1000, 32) == ("cpu", replica_bytes)
        with pytest.raises(fl.ConfigError, match="backend cuda cannot be used"):
            core.engine_of_job("cuda", 0, 1, 1)


def jobs_of(monkeypatch, runs):
    """Returns the sizes of a sweep's jobs and its curve; all jobs run on the CPU."""
    real, sizes = sweeps.run_job, []

    def run_job(experiments, backend, threads, finished, checkpoint, advanced, stop):
        sizes.append(len(experiments))
        return real(experiments, "cpu", threads, finished, checkpoint, advanced, stop)

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "run_job", run_job)
        curve = fl.sweep(fl.Experiment.from_dict(SMALL), {"traffic.load": [0.1]}, seeds=runs, threads=2, progress=False)
    return sorted(sizes), curve


def test_results_do_not_depend_on_the_runs_per_job(monkeypatch):
    on_cpu, expected = jobs_of(monkeypatch, 70)
    monkeypatch.setattr(sweeps, "may_use_gpu", lambda backend: True)
    monkeypatch.setattr(sweeps, "runs_per_job", lambda core, runs, least, backend, threads: runs)
    on_gpu, found = jobs_of(monkeypatch, 70)
    assert on_cpu == [6, 64] and on_gpu == [70]
    assert found.csv_text() == expected.csv_text()


def test_an_interrupted_job_keeps_its_size(monkeypatch, tmp_path):
    """A job of 70 runs of a GPU stops; the sweep continues it on a machine whose jobs have at most 64 runs."""
    e = fl.Experiment.from_dict({**SMALL, "run.epoch_cycles": 10})
    real, sizes = sweeps.run_job, []

    def stopped(experiments, backend, threads, finished, checkpoint, advanced, stop):
        sizes.append(len(experiments))

        def stop_it(cycle):
            if cycle >= 50 and len(sizes) == 1:
                raise KeyboardInterrupt

        return real(experiments, "cpu", threads, finished, checkpoint, stop_it, stop)

    monkeypatch.setattr(sweeps, "run_job", stopped)
    arguments = {"over": {"traffic.load": [0.1]}, "seeds": 70, "progress": False, "threads": 2}
    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "may_use_gpu", lambda backend: True)
        patch.setattr(sweeps, "runs_per_job", lambda core, runs, least, backend, threads: runs)
        with pytest.raises(KeyboardInterrupt):
            fl.sweep(e, out=tmp_path, **arguments)
    assert (tmp_path / "job.checkpoint").exists()
    found = fl.sweep(e, out=tmp_path, resume=True, **arguments)
    assert sizes == [70, 70] and not list(tmp_path.glob("job*"))
    assert found.csv_text() == fl.sweep(e, **arguments).csv_text()
