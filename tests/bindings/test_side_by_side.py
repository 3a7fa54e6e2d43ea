"""Jobs of a sweep that run at the same time on the cores of one machine."""

import json
import signal
import threading

import pytest
from interrupted import interrupted

import flitlab as fl
from flitlab import sweeps
from flitlab.side_by_side import run_side_by_side, threads_of

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

    def run(job, threads, stop):
        nonlocal in_use, most
        with lock:
            in_use += threads
            most = max(most, in_use)
            order.append((job, threads))
        if threads == 1:
            both.wait()
        with lock:
            in_use -= threads

    run_side_by_side([[0, 1], [2], [3]], "cpu", 2, run)
    assert most == 2 and order[0] == (0, 2) and sorted(order[1:]) == [(1, 1), (2, 1)]


def test_results_do_not_depend_on_the_number_of_jobs_at_a_time():
    e = fl.Experiment.from_dict(SMALL)
    one, many = (fl.sweep(e, OVER, backend="cpu", threads=threads, progress=False) for threads in (1, 8))
    assert one.csv_text() == many.csv_text()


def test_the_longest_jobs_start_first(monkeypatch):
    """Otherwise a large network at the end would leave cores idle. Order: terminals times points."""
    found = []

    def not_run(jobs, backend, threads, run):
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
