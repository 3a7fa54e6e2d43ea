"""Points of a sweep on other processes or machines: jobs for an executor, results as they finish."""

from __future__ import annotations

import asyncio
import hashlib
import json
import pickle
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, as_completed
from contextlib import contextmanager, suppress
from typing import Any

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.runner import run_job

# Jobs for each thing that an executor does at a time: enough that none is idle for long when another one is late.
JOBS_PER_SLOT = 4


def key_of(point: Experiment) -> str:
    """A point's name in a journal. Version and contents of the files belong to it: points of another version or file
    are run again."""
    return json.dumps([_core.__version__, point.core.files_hash(), point.flat()], sort_keys=True)


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def is_dask(executor: Any) -> bool:
    return type(executor).__module__.partition(".")[0] == "distributed"


def slots(executor: Any) -> int:
    """How many jobs an executor runs at a time, 0 if it does not say: for Dask threads of all workers, those included
    that have been ordered and are yet to start."""
    if not is_dask(executor):
        return getattr(executor, "_max_workers", 0)
    ordered = getattr(executor.cluster, "worker_spec", {}).values()
    with _in_words():
        started = executor.nthreads().values()
    return max(1, sum(map(_threads_ordered, ordered)), sum(started))


def _threads_ordered(spec: Mapping[str, Any]) -> int:
    """Threads of a worker, or of a job of the queue, as a Dask cluster orders it; one a process if it does not say."""
    options = spec.get("options", {})  # Dask's workers have nthreads, dask_jobqueue's jobs cores
    return options.get("nthreads") or options.get("cores") or len(spec.get("group", "1"))


def points_per_job(points: int, executor: Any, most: int) -> int:
    """Of an executor that does not say how many jobs it runs at a time, one."""
    at_a_time = slots(executor)
    return max(1, min(most, points // (JOBS_PER_SLOT * at_a_time))) if at_a_time else 1


def run_there(version: str, pickled: bytes, digests: list[bytes], backend: str, threads: int):
    """What a worker does: results by number of the point, and the error that ended the job, if one did. Errors are
    values here: what is raised is the executor's own."""
    results: dict[int, dict] = {}
    try:
        run_job(_checked(version, pickled, digests), backend, threads, results.__setitem__)
    except (_core.ConfigError, _core.RunError) as error:
        return results, error
    except Exception as error:
        error.__notes__ = [f"On the worker on {socket.gethostname()}:\n{traceback.format_exc()}"]  # pickle has no trace
        return results, error
    return results, None


def _checked(version: str, pickled: bytes, digests: list[bytes]) -> list[Experiment]:
    """The experiments of a job, where flitlab and files are those of who sent it."""
    here = f"the worker on {socket.gethostname()}"
    if version != _core.__version__:
        raise _core.ConfigError(f"{here} has flitlab {_core.__version__}, and the sweep was started by {version}: "
                                "install the same version everywhere.")
    experiments = pickle.loads(pickled)
    for experiment, digest in zip(experiments, digests, strict=True):
        if digest_of(key_of(experiment)) != digest:
            raise _core.ConfigError(f"{here} finds other contents in the files of {experiment.name}: all machines must "
                                    f"see the same files below {experiment.base_dir}.")
    return experiments


def run_on(executor: Any, jobs: Iterable[Sequence[Experiment]], backend: str, threads: int,
           finished: Callable[[int, int, dict], None]) -> None:
    """Runs jobs on an executor; ``finished(job, point of the job, result)`` as they end. ``threads``: CPU threads of a
    job; 0: one, as an executor runs several jobs at a time.

    Raises what ended a job, after what other points of it and all jobs that have ended have found; ConfigError if a
    worker has another flitlab or other files; RunError if workers died (a Dask cluster gives a dead worker's jobs to
    others first), cannot be reached or were told to stop."""
    submit = _submitter(executor)
    left: dict[Any, int] = {}  # futures of jobs whose results are not handed over

    def hand_over(future: Any) -> Exception | None:
        results, error = _result(future)
        for point, result in results.items():
            finished(left[future], point, result)
        del left[future]
        return error

    try:
        for number, job in enumerate(jobs):
            digests = [digest_of(key_of(experiment)) for experiment in job]
            with _in_words():
                future = submit(run_there, _core.__version__, pickle.dumps(list(job)), digests, backend, threads or 1)
            left[future] = number
        for future in _as_they_finish(executor, list(left)):
            error = hand_over(future)
            if isinstance(error, OSError):  # of a file there, not of those here
                raise _core.RunError(f"a job failed on its worker: {error}") from error
            if error:
                raise error
    finally:
        try:
            for future in filter(_has_result, list(left)):
                with suppress(_core.RunError):  # what ended the sweep is told, not what came of it
                    hand_over(future)
        finally:
            for future in left:
                with suppress(Exception):  # a future may know no cancel, and a scheduler may have gone
                    future.cancel()


def _submitter(executor: Any) -> Callable[..., Any]:
    if not is_dask(executor):
        return executor.submit
    return lambda *job: executor.submit(*job, pure=False)  # results are not to outlive the sweep


def _as_they_finish(executor: Any, futures: list[Any]) -> Iterable[Any]:
    """In their order if they are neither Dask's nor concurrent.futures': nothing else waits for any of them."""
    if is_dask(executor):
        from distributed import as_completed as dask_as_completed

        return dask_as_completed(futures)
    return as_completed(futures) if all(isinstance(future, Future) for future in futures) else futures


def _has_result(future: Any) -> bool:
    if isinstance(future, Future):
        return future.done() and not future.cancelled() and future.exception() is None
    return getattr(future, "status", None) == "finished"  # Dask's word


def _result(future: Any) -> tuple[dict[int, dict], Exception | None]:
    """A job's result; failures of the executor in words. Our own job raises nothing: what is not found is the job."""
    try:
        with _in_words():
            return future.result()
    except (ImportError, AttributeError) as error:
        raise _core.ConfigError(f"a worker cannot run a job ({error}): install flitlab {_core.__version__} there.") \
            from error


@contextmanager
def _in_words() -> Iterator[None]:
    """Failures of an executor as a RunError."""
    try:
        yield
    except CancelledError as error:
        raise _core.RunError("jobs were cancelled, or the scheduler has gone; finished points are kept.") from error
    except (OSError, asyncio.TimeoutError) as error:  # Dask's are OSErrors, of no file
        raise _core.RunError(f"the workers cannot be reached: {str(error) or type(error).__name__}") from error
    except Exception as error:
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            raise _core.RunError(f"workers died while they ran a job (perhaps for want of memory): {error}") from error
        raise
