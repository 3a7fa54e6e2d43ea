"""Jobs of a sweep that run at the same time on the cores and the GPU of one machine. Here no job uses a GPU: fakes take
its place. tests/cuda_on_host/test_sweeps.py has real ones."""

import json
import os
import signal
import threading
import time

import pytest
from interrupted import interrupted

import flitlab as fl
from flitlab import _core, side_by_side, sweeps
from flitlab.side_by_side import MOST_ON_GPU, run_side_by_side, threads_of

SMALL = {"topology.shape": [4, 4], "run.warmup_cycles": 100, "run.measure_cycles": 300}
# Both jobs, each in its thread, have passed cycle 5000.
BOTH_AT_WORK = ("(cycles := globals().setdefault('cycles', {})).update({__import__('threading').get_ident(): "
                "progress['cycle']}) or (len(cycles) == 2 and min(cycles.values()) > 5000)")
OVER = {"router.vcs": [2, 3, 4], "traffic.load": [0.1, 0.2]}


@pytest.mark.parametrize("sizes, cores, expected", [
    ([1, 1, 1], 2, [1, 1, 1]),
    ([20, 20], 16, [16, 16]),
    ([3, 1, 1], 4, [3, 1, 1]),
    ([1, 1, 1], 16, [5, 5, 5]),
    ([64], 8, [8]),
    ([], 8, []),
])
def test_a_job_gets_a_thread_for_each_run_and_its_share_of_the_cores(sizes, cores, expected):
    assert threads_of([[0] * size for size in sizes], cores) == expected


def test_jobs_share_the_cores_but_never_exceed_them():
    """Two jobs of one run each wait for one another, so they run at the same time, with a core each. The job of two
    runs has both cores to itself."""
    both, lock, in_use, most, order = threading.Barrier(2, timeout=60), threading.Lock(), 0, 0, []

    def run(job, backend, threads, stop):
        nonlocal in_use, most
        assert backend == "cpu"
        with lock:
            in_use += threads
            most = max(most, in_use)
            order.append((job, threads))
        if threads == 1:
            both.wait()
        with lock:
            in_use -= threads

    run_side_by_side([[0, 1], [2], [3]], "cpu", 2, run, not_asked)
    assert most == 2 and order[0] == (0, 2) and sorted(order[1:]) == [(1, 1), (2, 1)]


def not_asked(job):
    pytest.fail("the backend is given")


class Gpu:
    """Fake jobs, of which some are on a fake GPU. It counts the jobs and threads at a time."""

    def __init__(self, wait_for=1):
        self.lock, self.all_there = threading.Lock(), threading.Barrier(wait_for, timeout=60)
        self.jobs = self.threads = self.most_jobs = self.most_threads = 0
        self.calls = []

    def run(self, job, backend, threads, stop):
        with self.lock:
            self.calls.append((job, backend, threads, stop is not None))
            self.jobs += backend == "cuda"
            self.threads += threads * (backend == "cpu")
            self.most_jobs, self.most_threads = max(self.most_jobs, self.jobs), max(self.most_threads, self.threads)
        try:
            self.work(job, backend)
        finally:
            with self.lock:
                self.jobs -= backend == "cuda"
                self.threads -= threads * (backend == "cpu")

    def work(self, job, backend):
        if backend == "cuda":
            self.all_there.wait()
        else:
            time.sleep(0.005)  # so that jobs that should not run at the same time would meet


@pytest.fixture
def with_gpu(monkeypatch):
    there = {"cpu": {"threads": 4}, "cuda": {"available": True}}
    monkeypatch.setattr(side_by_side._core, "backends", lambda: there)


def test_jobs_on_a_gpu_run_at_the_same_time(with_gpu):
    """As many jobs as have a connection to the device wait for one another."""
    gpu = Gpu(wait_for=MOST_ON_GPU)
    run_side_by_side([[0]] * 2 * MOST_ON_GPU, "cuda", 0, gpu.run, not_asked)
    assert gpu.most_jobs == MOST_ON_GPU and sorted(job for job, *_ in gpu.calls) == [*range(2 * MOST_ON_GPU)]
    assert {call[1:] for call in gpu.calls} == {("cuda", 1, True)}


def test_one_job_is_given_to_the_core_as_it_is(with_gpu):
    gpu = Gpu()
    run_side_by_side([[0] * 100], "auto", 3, gpu.run, not_asked)
    assert gpu.calls == [(0, "auto", 3, False)]


def test_jobs_on_the_cores_do_not_exceed_them_beside_a_gpu(with_gpu):
    """Even jobs are on the GPU, all at the same time, and odd ones on the cores."""
    gpu = Gpu(wait_for=6)
    run_side_by_side([[0] * 3] * 12, "auto", 4, gpu.run, lambda job: "cpu" if job % 2 else "cuda")
    assert gpu.most_jobs == 6 and gpu.most_threads == 3
    assert sorted(gpu.calls) == [(job, "cpu", 3, True) if job % 2 else (job, "cuda", 1, True) for job in range(12)]


def test_backends_are_chosen_when_jobs_may_start(with_gpu):
    """To choose a backend takes as long as to build a network, so it is not done for all jobs before the first runs."""
    chosen, at_start = [], []

    class First(Gpu):
        def work(self, job, backend):
            time.sleep(0.005)
            at_start.append(len(chosen))

    run_side_by_side([[0] * 4] * 20, "auto", 4, First().run, lambda job: chosen.append(job) or "cpu")
    assert at_start[0] <= 2 and chosen == [*range(20)]


class SmallGpu(Gpu):
    """A GPU that has room for `room` jobs of size 1."""

    def __init__(self, room, sizes):
        super().__init__()
        self.room, self.sizes, self.taken, self.failed = room, sizes, 0, []

    def run(self, job, backend, threads, stop):
        if stop is None:  # as in a sweep of one job
            self.calls.append((job, backend, threads, False))
            return
        super().run(job, backend, threads, stop)

    def work(self, job, backend):
        with self.lock:
            if self.taken + self.sizes[job] > self.room:
                self.failed.append(job)
                raise _core.DeviceFull("no room")
            self.taken += self.sizes[job]
        time.sleep(0.002)  # so that several jobs are there
        with self.lock:
            self.taken -= self.sizes[job]


def test_a_job_waits_for_device_memory(with_gpu):
    sizes = [3, 2, 2, 2, 1, 1, 1, 1]
    gpu = SmallGpu(3, sizes)
    run_side_by_side([[0]] * len(sizes), "cuda", 0, gpu.run, not_asked)
    ran = [job for job, *_ in gpu.calls]
    assert gpu.failed and sorted(set(ran)) == [*range(len(sizes))]
    assert len(ran) == len(sizes) + len(gpu.failed)  # each ran once without an error
    assert all(beside for *_, beside in gpu.calls)


def test_few_jobs_look_for_memory_in_vain(with_gpu):
    """After a failure no more jobs are on the device than fitted, and one more for each job that has ended."""
    gpu = SmallGpu(2, [1] * 100)
    run_side_by_side([[0]] * 100, "cuda", 0, gpu.run, not_asked)
    assert len(gpu.failed) <= MOST_ON_GPU + 100


@pytest.mark.parametrize("backend", ["cuda", "auto"])
def test_a_job_that_never_fits_runs_after_the_others_as_the_only_one(with_gpu, backend):
    """The core then chooses scalar state, the CPU or an error message, as in a sweep of one job."""
    gpu = SmallGpu(3, [1, 9, 1, 1])
    run_side_by_side([[0]] * 4, backend, 2, gpu.run, lambda job: "cuda")
    assert gpu.calls[-1] == (1, backend, 2, False) and sorted({job for job, *_ in gpu.calls}) == [0, 1, 2, 3]


def test_an_error_of_a_choice_stops_the_jobs(with_gpu):
    def backend_of(job):
        if job == 1:
            raise fl.ConfigError("no such network")
        return "cuda"

    with pytest.raises(fl.ConfigError, match="no such network"):
        run_side_by_side([[0]] * 3, "auto", 0, Gpu().run, backend_of)


def test_connections_to_the_device_are_requested(with_gpu, monkeypatch):
    monkeypatch.delenv("CUDA_DEVICE_MAX_CONNECTIONS", raising=False)
    assert not side_by_side.may_use_gpu("cpu") and "CUDA_DEVICE_MAX_CONNECTIONS" not in os.environ
    assert side_by_side.may_use_gpu("auto") and os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] == str(MOST_ON_GPU)
    monkeypatch.setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8")  # the user's choice stays
    assert side_by_side.may_use_gpu("cuda") and os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] == "8"


def test_results_do_not_depend_on_the_number_of_jobs_at_a_time():
    e = fl.Experiment.from_dict(SMALL)
    one, many = (fl.sweep(e, OVER, backend="cpu", threads=threads, progress=False) for threads in (1, 8))
    assert one.csv_text() == many.csv_text()


def test_the_longest_jobs_start_first(monkeypatch):
    """Otherwise a large network at the end would leave cores idle. Order: terminals times points."""
    found = []

    def not_run(jobs, backend, threads, run, backend_of):
        found.extend(jobs)
        raise fl.RunError("nothing was run")

    monkeypatch.setattr(sweeps, "run_side_by_side", not_run)
    e = fl.Experiment.from_dict(SMALL)
    with pytest.raises(fl.RunError, match="nothing was run"):
        fl.sweep(e, {"topology.shape": [[3, 3], [8, 8], [4, 4]], "traffic.load": [0.1, 0.2]}, progress=False)
    assert found == [[2, 3], [4, 5], [0, 1]]


def test_an_error_stops_the_other_jobs(monkeypatch):
    """One job would run for minutes. It ends because another one fails."""
    real, running, stopped = sweeps.run_job, threading.Event(), []

    def run_job(experiments, backend, threads, finished, checkpoint, advanced, stop):
        if experiments[0]["router.vcs"] == 2:
            assert running.wait(60)
            raise fl.RunError("this one fails")
        try:
            return real(experiments, backend, threads, finished, checkpoint, lambda _: running.set(), stop)
        except KeyboardInterrupt:
            stopped.append(True)
            raise

    monkeypatch.setattr(sweeps, "run_job", run_job)
    endless = fl.Experiment.from_dict({**SMALL, "run.measure_cycles": 1_000_000_000, "run.epoch_cycles": 1000})
    with pytest.raises(fl.RunError, match="this one fails"):
        fl.sweep(endless, {"router.vcs": [2, 3]}, backend="cpu", threads=2, progress=False)
    assert stopped


def test_interrupted_jobs_continue(tmp_path):
    """Ctrl-C stops both jobs of a sweep, and each continues from a checkpoint of its own."""
    flags = ["--over", "router.vcs=2,4", "--backend", "cpu", "--threads", "2", "--out", "part"]
    size = ["--set", "run.warmup_cycles=1000", "--set", "run.measure_cycles=400000", "--set", "run.epoch_cycles=1000"]
    done = interrupted(["sweep", "vc-mesh-8x8", *size, *flags], tmp_path, signal.SIGINT, condition=BOTH_AT_WORK)
    assert done.returncode == 130, done.stderr
    assert "Finished points: 0, in part, and the progress of unfinished points" in done.stderr, done.stderr
    folder = tmp_path / "part"
    assert sorted(path.name for path in folder.glob("job*")) == ["job-1.checkpoint", "job-1.json", "job.checkpoint",
                                                                 "job.json"]
    e = fl.load("vc-mesh-8x8").set({"run.warmup_cycles": 1000, "run.measure_cycles": 400_000, "run.epoch_cycles": 1000})
    over = {"router.vcs": [2, 4]}
    cycles = []
    real = sweeps.run_job

    def continued(experiments, backend, threads, finished, checkpoint, advanced, stop):
        return real(experiments, backend, threads, finished, checkpoint, cycles.append, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeps, "run_job", continued)
        again = fl.sweep(e, over, out=folder, resume=True, backend="cpu", threads=2, progress=False)
    assert min(cycles) > 5000  # no job began anew
    assert again.csv_text() == fl.sweep(e, over, backend="cpu", threads=1, progress=False).csv_text()
    assert not list(folder.glob("job*"))


def test_files_of_other_jobs_are_removed(tmp_path):
    """Files of jobs whose points are not in the sweep, or that are damaged, do not keep the sweep from ending."""
    e = fl.Experiment.from_dict(SMALL)
    fl.sweep(e, {"router.vcs": [2]}, out=tmp_path, progress=False)
    (tmp_path / "job-7.json").write_text(json.dumps(["00" * 32]))
    (tmp_path / "job-3.json").write_text("{")
    (tmp_path / "job-other.json").write_text("kept")
    fl.sweep(e, {"router.vcs": [2, 3]}, out=tmp_path, resume=True, progress=False)
    assert [path.name for path in tmp_path.glob("job*")] == ["job-other.json"]
