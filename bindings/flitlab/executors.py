"""Jobs of a sweep on an executor: in other processes or on other machines, with results as they finish."""

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

# Jobs per job that an executor can run at a time: enough that no worker is idle for long while another one finishes.
JOBS_PER_SLOT = 4


def key_of(point: Experiment) -> str:
    """Returns the key of a point in a sweep's journal. The key includes flitlab's version and the contents of input
    files, so that a point runs again if one of them has changed."""
    return json.dumps([_core.__version__, point.core.files_hash(), point.flat()], sort_keys=True)


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def is_dask(executor: Any) -> bool:
    return type(executor).__module__.partition(".")[0] == "distributed"


def slots(executor: Any) -> int:
    """Returns how many jobs an executor runs at a time; 0 if that is unknown. For Dask it is the number of threads of
    all workers, including workers that have been requested but not started."""
    if not is_dask(executor):
        return getattr(executor, "_max_workers", 0)
    ordered = getattr(executor.cluster, "worker_spec", {}).values()
    with _as_run_error():
        started = executor.nthreads().values()
    return max(1, sum(map(_threads_ordered, ordered)), sum(started))


def _threads_ordered(spec: Mapping[str, Any]) -> int:
    """Returns the threads of one requested worker or queue job; one per process if the specification has no number."""
    options = spec.get("options", {})  # nthreads is Dask's key for workers, cores that of dask_jobqueue's jobs
    return options.get("nthreads") or options.get("cores") or len(spec.get("group", "1"))


def points_per_job(points: int, executor: Any, most: int) -> int:
    """Returns the points per job, at most ``most``; 1 if it is unknown how many jobs the executor runs at a time."""
    at_a_time = slots(executor)
    return max(1, min(most, points // (JOBS_PER_SLOT * at_a_time))) if at_a_time else 1


def run_on_worker(version: str, pickled: bytes, digests: list[bytes], backend: str, threads: int):
    """Runs a job on a worker. Returns results by number of the point, and the error that ended the job, or None. Errors
    are returned, so that an exception always is a failure of the executor."""
    results: dict[int, dict] = {}
    try:
        run_job(_checked_experiments(version, pickled, digests), backend, threads, results.__setitem__)
    except (_core.ConfigError, _core.RunError) as error:
        return results, error
    except Exception as error:
        # pickle drops the traceback
        error.__notes__ = [f"On the worker on {socket.gethostname()}:\n{traceback.format_exc()}"]
        return results, error
    return results, None


def _checked_experiments(version: str, pickled: bytes, digests: list[bytes]) -> list[Experiment]:
    """Returns the experiments of a job. Raises ConfigError if flitlab or the files differ from the sender's."""
    here = f"the worker on {socket.gethostname()}"
    if version != _core.__version__:
        raise _core.ConfigError(f"{here} has flitlab {_core.__version__}, but the sweep was started with {version}: "
                                "install the same version everywhere.")
    experiments = pickle.loads(pickled)
    for experiment, digest in zip(experiments, digests, strict=True):
        if digest_of(key_of(experiment)) != digest:
            raise _core.ConfigError(f"{here} finds other contents in the files of {experiment.name}: all machines "
                                    f"must have the same files in {experiment.base_dir}.")
    return experiments


def run_on(executor: Any, jobs: Iterable[Sequence[Experiment]], backend: str, threads: int,
           finished: Callable[[int, int, dict], None]) -> None:
    """Runs jobs on an executor and calls ``finished(job, point of the job, result)`` for each result.

    threads: CPU threads per job; 0 means one, because an executor runs several jobs at a time.

    Raises the error that ended a job, after ``finished`` has been called for the other results that are available.
    Raises ConfigError if a worker has another version of flitlab or other files. Raises RunError if workers died (Dask
    first retries their jobs on other workers), cannot be reached or were stopped."""
    submit = _submitter(executor)
    # Future -> number of its job; an entry is removed when the job's results have been passed on.
    left: dict[Any, int] = {}

    def hand_over(future: Any) -> Exception | None:
        results, error = _result(future)
        for point, result in results.items():
            finished(left[future], point, result)
        del left[future]
        return error

    try:
        for number, job in enumerate(jobs):
            digests = [digest_of(key_of(experiment)) for experiment in job]
            with _as_run_error():
                future = submit(run_on_worker, _core.__version__, pickle.dumps(list(job)), digests, backend,
                                threads or 1)
            left[future] = number
        for future in _as_they_finish(executor, list(left)):
            error = hand_over(future)
            if isinstance(error, OSError):  # the error is about a file on the worker, not on this machine
                raise _core.RunError(f"a job failed on its worker: {error}") from error
            if error:
                raise error
    finally:
        try:
            for future in filter(_has_result, list(left)):
                with suppress(_core.RunError):  # only the first error is reported, not its consequences
                    hand_over(future)
        finally:
            for future in left:
                with suppress(Exception):  # a future may lack cancel(), and the scheduler may have stopped
                    future.cancel()


def _submitter(executor: Any) -> Callable[..., Any]:
    if not is_dask(executor):
        return executor.submit
    return lambda *job: executor.submit(*job, pure=False)  # Dask must not reuse results of another sweep


def _as_they_finish(executor: Any, futures: list[Any]) -> Iterable[Any]:
    """Yields futures as they finish. Futures of other libraries than Dask and concurrent.futures are yielded in order,
    because only those two libraries can wait for the first of several."""
    if is_dask(executor):
        from distributed import as_completed as dask_as_completed

        return dask_as_completed(futures)
    return as_completed(futures) if all(isinstance(future, Future) for future in futures) else futures


def _has_result(future: Any) -> bool:
    if isinstance(future, Future):
        return future.done() and not future.cancelled() and future.exception() is None
    return getattr(future, "status", None) == "finished"  # Dask's status


def _result(future: Any) -> tuple[dict[int, dict], Exception | None]:
    """Returns a job's result. The job itself raises no errors, so an ImportError means that the worker lacks
    flitlab."""
    try:
        with _as_run_error():
            return future.result()
    except (ImportError, AttributeError) as error:
        raise _core.ConfigError(f"a worker cannot run a job ({error}): install flitlab {_core.__version__} there.") \
            from error


@contextmanager
def _as_run_error() -> Iterator[None]:
    """Turns failures of an executor into a RunError."""
    try:
        yield
    except CancelledError as error:
        raise _core.RunError("jobs were cancelled, or the scheduler stopped; finished points are kept.") from error
    except (OSError, asyncio.TimeoutError) as error:  # Dask raises OSErrors that concern no file
        raise _core.RunError(f"the workers cannot be reached: {str(error) or type(error).__name__}") from error
    except Exception as error:
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            raise _core.RunError(f"workers died while they ran a job (possibly out of memory): {error}") from error
        raise
