"""Sweeps on other processes: Dask workers, a killed worker, failing jobs, and version or file mismatches."""

import json
import os
import pickle
import signal
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from interrupted import interrupted

import flitlab as fl
from flitlab import clusters, executors

OVER = {"router.vcs": [2, 4], "traffic.load": [0.1, 0.2, 0.3, 0.4]}
ROOT = Path(__file__).parents[2]
LOCAL = 'kind = "local"\nworkers = 2\n'


class Here:
    """An executor that runs each job at once in this process. Jobs numbered in ``fail`` end with its error."""

    def __init__(self, fail=None):
        self.fail, self.futures = fail or {}, []

    def submit(self, job, *given):
        future, error = Future(), self.fail.get(len(self.futures))
        self.futures.append(future)
        future.set_exception(error) if error else future.set_result(job(*given))
        return future


class Plain:
    """A future of neither concurrent.futures nor Dask, with only the given attributes."""

    def __init__(self, **given):
        self.__dict__ |= given


class Dask:
    """The part of a Dask client that ``slots`` uses."""

    __module__ = "distributed.client"

    def __init__(self, started, cluster):
        self.nthreads, self.cluster = lambda: dict(enumerate(started)), cluster


@pytest.fixture
def pool():
    def make(initializer=None):
        return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=initializer)

    return make


def test_two_workers_make_the_table_of_one_machine(small, cluster_file, tmp_path):
    pytest.importorskip("distributed")
    alone = fl.sweep(small, OVER, seeds=2, out=tmp_path / "alone", progress=False)
    with fl.cluster(cluster_file(LOCAL)) as workers:
        assert executors.slots(workers) == 2
        there = fl.sweep(small, OVER, seeds=2, executor=workers, out=tmp_path / "there", progress=False)
    assert there.csv_text() == alone.csv_text()
    for name in ("curve.csv", "experiment.toml"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    keys = [{json.loads(line)["key"] for line in (tmp_path / run / "points.jsonl").read_text().splitlines()}
            for run in ("there", "alone")]
    assert keys[0] == keys[1] and len(keys[0]) == 16


def test_points_of_a_killed_worker_run_again(small, cluster_file, monkeypatch):
    """One of two workers is killed at the first result: its finished results that were not transferred are lost, and
    the other worker runs its jobs."""
    pytest.importorskip("distributed")
    longer = small.set("run.measure_cycles", 20000)
    result, killed = executors._result, []
    with fl.cluster(cluster_file(LOCAL)) as workers:
        first = min(workers.run(os.getpid).values())

        def kill_one(future):
            if not killed:
                killed.append(first)
                os.kill(first, signal.SIGKILL)
            return result(future)

        monkeypatch.setattr(executors, "_result", kill_one)
        there = fl.sweep(longer, OVER, seeds=2, executor=workers, progress=False)
        assert killed and first not in workers.run(os.getpid).values()
    assert there.csv_text() == fl.sweep(longer, OVER, seeds=2, progress=False).csv_text()


def test_jobs_are_as_many_as_keep_every_worker_busy():
    class Four:
        _max_workers = 4

    assert [executors.points_per_job(n, Four(), 64) for n in (1, 15, 32, 160, 100000)] == [1, 1, 2, 10, 64]


def test_an_executor_that_does_not_say_is_given_a_job_a_point(small):
    there = Here()
    fl.sweep(small, {"traffic.load": [0.01 * i for i in range(1, 9)]}, executor=there, progress=False)
    assert executors.slots(there) == 0 and len(there.futures) == 8


def test_threads_of_ordered_workers_count(slurm):
    dask = pytest.importorskip("distributed")
    with dask.LocalCluster(n_workers=2, threads_per_worker=3, processes=False, dashboard_address=None) as here:
        assert executors.slots(Dask([], here)) == 6 and executors.slots(Dask([3, 3, 3], here)) == 9
    for processes in (1, 2):
        with slurm(cores=4, processes=processes, memory="8GB") as jobs:
            assert executors.slots(Dask([], SimpleNamespace(worker_spec=jobs.new_worker_spec()))) == 4
    assert executors.slots(Dask([], SimpleNamespace(worker_spec={0: {}, 1: {"options": {}}}))) == 2
    assert executors.slots(Dask([5], None)) == 5 and executors.slots(Dask([], None)) == 1


def test_any_future_with_a_result_will_do(small):
    there = SimpleNamespace(submit=lambda job, *given: Plain(result=partial(job, *given)))
    curve = fl.sweep(small, OVER, executor=there, progress=False)
    assert curve.csv_text() == fl.sweep(small, OVER, progress=False).csv_text()


@pytest.mark.parametrize(("error", "message_text"), [
    (TimeoutError("no answer in 30 s"), "the workers cannot be reached: no answer in 30 s"),
    (ConnectionResetError(), "the workers cannot be reached: ConnectionResetError"),
    (CancelledError("scheduler-connection-lost"), "jobs were cancelled, or the scheduler stopped; finished points"),
])
@pytest.mark.parametrize("with_out", [False, True])
def test_failures_of_an_executor_are_not_those_of_our_files(error, message_text, with_out, small, tmp_path):
    def submit(*_):
        raise error

    out, uncounted = tmp_path if with_out else None, Dask([], None)
    uncounted.nthreads = uncounted.submit = submit
    for there in (Here({0: error}), SimpleNamespace(submit=submit), uncounted):
        with pytest.raises(fl.RunError, match=message_text):
            fl.sweep(small, {"traffic.load": [0.1]}, executor=there, out=out, resume=with_out, progress=False)


def test_a_sweep_reports_its_first_error_and_no_later_one(small):
    """Futures like Dask's, without cancel: one fails, and the result of another, finished one is no longer
    available."""
    def submit(*_):
        status, message_text = left.pop()

        def result():
            raise OSError(message_text)

        return Plain(status=status, result=result)

    left = [("finished", "second"), ("error", "first")]
    with pytest.raises(fl.RunError, match="the workers cannot be reached: first"):
        fl.sweep(small, {"traffic.load": [0.1, 0.2]}, executor=SimpleNamespace(submit=submit), progress=False)
    assert not left


def test_points_that_cannot_be_written_name_their_folder(small, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flitlab.kept.line_of", full)
    for there in (None, Here()):
        with pytest.raises(fl.ConfigError, match=r"out = '.*full' cannot be written: No space left on device"):
            fl.sweep(small, {"traffic.load": [0.1]}, executor=there, out=tmp_path / "full", resume=True, progress=False)


def test_jobs_that_have_ended_are_kept_when_another_one_fails(small, tmp_path, monkeypatch):
    """The failed job is examined first."""
    monkeypatch.setattr(executors, "_as_they_finish", lambda _, futures: futures)
    loads = {"traffic.load": [0.1, 0.2, 0.3, 0.4]}
    for number, error in enumerate((OSError("first"), CancelledError(), RuntimeError("mine"))):
        there = Here({0: error, 2: ValueError("second")})
        with pytest.raises((fl.RunError, RuntimeError), match=r"first|cancelled|mine"):
            fl.sweep(small, loads, executor=there, out=tmp_path / str(number), progress=False)
        kept = (tmp_path / str(number) / "points.jsonl").read_text().splitlines()
        assert [json.loads(json.loads(line)["key"])[2]["traffic.load"] for line in kept] == [0.2, 0.4]


def test_jobs_that_have_ended_are_kept_at_ctrl_c_and_others_cancelled(small):
    class Waits(Here):
        def submit(self, job, *given):
            if len(self.futures) < 3:
                return super().submit(job, *given)
            self.futures.append(Future())  # the job of this future never begins
            return self.futures[-1]

    got = []

    def finished(job, point, _):
        got.append((job, point))
        if len(got) == 1:
            raise KeyboardInterrupt

    there = Waits()
    with pytest.raises(KeyboardInterrupt):
        executors.run_on(there, [[small.set("traffic.load", 0.1 * i)] for i in range(1, 6)], "cpu", 1, finished)
    assert set(got) == {(0, 0), (1, 0), (2, 0)} and [f.cancelled() for f in there.futures] == [False] * 3 + [True] * 2


@pytest.mark.parametrize(("error", "reported", "message_text"), [
    (AttributeError("a bug"), AttributeError, "^a bug"),
    (ImportError("a bug"), ImportError, "^a bug"),
    (OSError(13, "Permission denied", "a.csv"), fl.RunError, "a job failed on its worker: .*denied: 'a.csv'"),
])
def test_an_error_of_a_job_is_no_error_of_the_executor(error, reported, message_text, small, monkeypatch):
    monkeypatch.setattr(executors, "run_job", Mock(side_effect=error))
    with pytest.raises(reported, match=message_text):
        fl.sweep(small, {"traffic.load": [0.1]}, executor=Here(), progress=False)
    assert "in run_on_worker" in error.__notes__[0]


def test_a_worker_without_flitlab_is_reported():
    error = ModuleNotFoundError("No module named 'flitlab'")
    with pytest.raises(fl.ConfigError, match=r"cannot run a job \(No module named 'flitlab'\): install flitlab"):
        executors._result(Here({0: error}).submit(None))


def test_a_worker_with_another_version_is_refused(small, pool, monkeypatch):
    monkeypatch.setattr(fl._core, "__version__", "9.9.9")
    message_text = r"has flitlab 0\..*started with 9\.9\.9: install the same"
    with pool() as workers, pytest.raises(fl.ConfigError, match=message_text):
        fl.sweep(small, {"traffic.load": [0.1]}, executor=workers, progress=False)


def test_a_worker_that_sees_other_files_is_refused(small, tmp_path):
    (tmp_path / "pairs.csv").write_text("\n".join(f"{i},{(i + 1) % 16},1" for i in range(16)))
    exp = fl.Experiment.from_dict({**small.flat(), "traffic.pattern": "matrix", "traffic.matrix_file": "pairs.csv"},
                                  base_dir=str(tmp_path))
    job = (fl.__version__, pickle.dumps([exp]), [executors.digest_of(executors.key_of(exp))], "cpu", 1)
    assert executors.run_on_worker(*job)[1] is None
    (tmp_path / "pairs.csv").write_text("\n".join(f"{i},{(i + 2) % 16},1" for i in range(16)))
    results, error = executors.run_on_worker(*job)
    assert not results and isinstance(error, fl.ConfigError) and "other contents in the files" in str(error)


def _die():
    executors.run_job = lambda *_: os._exit(1)


def _fail_at_the_second_point():
    def run_one(experiments, backend, threads, finished):
        real([experiments[0]], backend, threads, finished)
        raise fl.RunError("the second one is stuck")

    real, executors.run_job = executors.run_job, run_one


def test_dead_workers_are_reported_and_finished_points_stay(small, pool, tmp_path):
    with pool(_die) as workers, pytest.raises(fl.RunError, match="workers died"):
        fl.sweep(small, {"traffic.load": [0.1, 0.2]}, executor=workers, progress=False)
    over = {"traffic.load": [0.01 * i for i in range(1, 9)]}  # two points a job
    with pool(_fail_at_the_second_point) as workers, pytest.raises(fl.RunError, match="second one is stuck"):
        fl.sweep(small, over, executor=workers, out=tmp_path, progress=False)
    kept = (tmp_path / "points.jsonl").read_text()
    assert kept.count("\n") >= 1
    assert fl.sweep(small, over, out=tmp_path, resume=True, progress=False).csv_text() == \
        fl.sweep(small, over, progress=False).csv_text()
    assert kept.splitlines()[0] in (tmp_path / "points.jsonl").read_text()


def test_the_documented_number_of_workers_may_die_of_a_job():
    """Dask allows three worker deaths for a job; the next one ends it."""
    assert pytest.importorskip("distributed").config["distributed"]["scheduler"]["allowed-failures"] == 3
    assert "A job that four workers died of" in (ROOT / "docs" / "clusters.md").read_text()


def test_the_command_line_takes_a_cluster(cli, cluster_file, tmp_path):
    pytest.importorskip("distributed")
    settings = ("--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=1000")
    command = ("sweep", "vc-mesh-8x8", *settings, "--over", "traffic.load=0.1,0.2")
    there = cli(*command, "--cluster", cluster_file(LOCAL), "--out", "there")
    alone = cli(*command, "--out", "alone")
    assert there.returncode == alone.returncode == 0, there.stderr
    assert (tmp_path / "there" / "curve.csv").read_bytes() == (tmp_path / "alone" / "curve.csv").read_bytes()
    refused = cli(*command, "--cluster", "nowhere.toml")
    assert refused.returncode == 2 and "--cluster nowhere.toml cannot be read" in refused.stderr


def test_ctrl_c_ends_a_sweep_on_a_cluster_as_any_other(cluster_file, tmp_path):
    """A terminal interrupts the workers' processes too: they print nothing, and one line reports the finished points.
    One worker has a point that takes hours."""
    pytest.importorskip("distributed")
    cluster_file(LOCAL)
    words = ("sweep", "vc-torus-8x8", "--over", "run.measure_cycles=1000,1000000000", "--cluster", "cluster.toml",
             "--set", "run.warmup_cycles=500", "--out", "part")
    done = interrupted(words, tmp_path, signal.SIGINT, points=1, whole_group=True)
    assert done.returncode == 130, done.stderr
    # The progress bar, which appears only on a slow machine.
    bar = [line for line in done.stderr.splitlines() if "points [" in line]
    lines = [line for line in done.stderr.splitlines() if line.strip() and line not in bar]
    assert lines == ["flitlab: interrupted. Finished points: 1, in part; continue with --resume."], done.stderr


def test_two_clusters_may_run_on_one_machine(cluster_file, recwarn):
    """Each cluster takes free ports, without a warning about a port in use."""
    pytest.importorskip("distributed")
    with fl.cluster(cluster_file(LOCAL)), fl.cluster(cluster_file(LOCAL)):
        assert not [warning for warning in recwarn if "8787" in str(warning.message)]


def test_workers_that_are_still_busy_are_ended_without_a_warning():
    """Dask warns of each process that it must kill, such as a worker in the middle of a long run."""
    logging = pytest.importorskip("distributed").nanny.logging
    logger, reported = logging.getLogger("distributed.nanny"), []
    handler = logging.Handler()
    handler.emit = reported.append
    logging.getLogger("distributed").addHandler(handler)
    try:
        with clusters._closing_quietly():
            logger.warning("Worker process still alive after 4.0 seconds, killing")
            logger.error("something else")
        logger.warning("later")
    finally:
        logging.getLogger("distributed").removeHandler(handler)
    assert [record.getMessage() for record in reported] == ["something else", "later"]
