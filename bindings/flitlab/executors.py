"""Points of a sweep on other processes or machines: jobs for an executor, results as they finish."""

from __future__ import annotations

import hashlib
import json
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, as_completed
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
    """How many jobs an executor runs at a time, as far as it says so: for Dask threads of all workers, those included
    that have been ordered and are yet to start."""
    if not is_dask(executor):
        return getattr(executor, "_max_workers", 1)
    ordered = len(getattr(executor.cluster, "plan", ()))
    return max(1, ordered, sum(executor.nthreads().values()))


def points_per_job(points: int, executor: Any, most: int) -> int:
    return max(1, min(most, points // (JOBS_PER_SLOT * slots(executor))))


def run_there(version: str, pickled: bytes, digests: list[bytes], backend: str, threads: int):
    """What a worker does: results by number of the point, and the error that ended the job, if one did."""
    here = f"the worker on {socket.gethostname()}"
    if version != _core.__version__:
        raise _core.ConfigError(f"{here} has flitlab {_core.__version__}, and the sweep was started by {version}: "
                                "install the same version everywhere.")
    experiments = pickle.loads(pickled)
    for experiment, digest in zip(experiments, digests, strict=True):
        if digest_of(key_of(experiment)) != digest:
            raise _core.ConfigError(f"{here} finds other contents in the files of {experiment.name}: all machines must "
                                    f"see the same files below {experiment.base_dir}.")
    results: dict[int, dict] = {}
    try:
        run_job(experiments, backend, threads, results.__setitem__)
    except (_core.ConfigError, _core.RunError) as error:
        return results, error
    return results, None


def run_on(executor: Any, jobs: Sequence[Sequence[Experiment]], backend: str, threads: int,
           finished: Callable[[int, int, dict], None]) -> None:
    """Runs jobs on an executor; ``finished(job, point of the job, result)`` as they end. ``threads``: CPU threads of a
    job; 0: one, as an executor runs several jobs at a time.

    Raises what ended a job, after what other points of it have found; ConfigError if a worker has another flitlab or
    other files; RunError if workers died (a Dask cluster gives a dead worker's jobs to others first)."""
    submit = _submitter(executor)
    futures = {}
    for number, job in enumerate(jobs):
        digests = [digest_of(key_of(experiment)) for experiment in job]
        futures[submit(run_there, _core.__version__, pickle.dumps(list(job)), digests, backend, threads or 1)] = number
    try:
        for future in _as_they_finish(executor, list(futures)):
            results, error = _result(future)
            for point, result in results.items():
                finished(futures[future], point, result)
            if error:
                raise error
    finally:
        for future in futures:
            future.cancel()


def _submitter(executor: Any) -> Callable[..., Any]:
    if not is_dask(executor):
        return executor.submit
    return lambda *job: executor.submit(*job, pure=False)  # results are not to outlive the sweep


def _as_they_finish(executor: Any, futures: list[Any]) -> Iterator[Any]:
    if is_dask(executor):
        from distributed import as_completed as dask_as_completed

        return dask_as_completed(futures)
    return as_completed(futures)


def _result(future: Any) -> tuple[dict[int, dict], Exception | None]:
    """A job's result; failures of the executor in words."""
    try:
        return future.result()
    except (ImportError, AttributeError) as error:
        raise _core.ConfigError(f"a worker cannot run a job ({error}): install flitlab {_core.__version__} there.") \
            from error
    except Exception as error:
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            raise _core.RunError(f"workers died while they ran a job (perhaps for want of memory): {error}") from error
        raise
