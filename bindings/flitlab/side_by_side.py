"""Jobs of a sweep that share the cores of this machine. The runs of a job are replicas of one plan, and a small network
occupies one core, so a job with few runs leaves cores idle. Such jobs run at the same time, each in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context

from flitlab import _core

# Runs a job: its number, its CPU threads, and a request to stop, if the job does not run in the caller's thread.
RunJob = Callable[[int, int, "_core.Stop | None"], None]


def run_side_by_side(jobs: Sequence[Sequence[int]], backend: str, threads: int, run: RunJob) -> None:
    """Runs the jobs of a sweep, each a list of its points. threads: CPU threads of all jobs together; 0 for one per
    core.

    If a job raises an error, or the caller is interrupted, the others are stopped, and the error is raised when all
    have ended."""
    cores = 1 if _may_use_gpu(backend) else threads or _core.backends()["cpu"]["threads"]
    needs = threads_of(jobs, cores)
    if sum(sorted(needs)[:2]) > cores or len(jobs) < 2:
        for job in range(len(jobs)):
            run(job, threads, None)
    else:
        _run_in_threads(needs, cores, run)


def _may_use_gpu(backend: str) -> bool:
    """Returns whether jobs may run on a GPU. They then run one after the other, because each fills the device."""
    return backend == "cuda" or (backend == "auto" and _core.backends()["cuda"]["available"])


def threads_of(jobs: Sequence[Sequence[int]], cores: int) -> list[int]:
    """Returns the CPU threads of each job: one for each run, and more if there are fewer jobs than cores."""
    share = cores // max(1, len(jobs))
    return [min(cores, max(len(job), share)) for job in jobs]


def _run_in_threads(needs: Sequence[int], cores: int, run: RunJob) -> None:
    """Runs jobs at the same time, while their threads together are at most ``cores``. They start in order, except that
    a job does not wait for a larger one that does not fit yet."""
    stop, waiting, free = _core.Stop(), list(range(len(needs))), cores
    with ThreadPoolExecutor(max_workers=cores) as pool:
        running: dict[Future[None], int] = {}
        try:
            while waiting or running:
                for job in list(waiting):
                    if needs[job] <= free:
                        waiting.remove(job)
                        free -= needs[job]
                        running[pool.submit(copy_context().run, run, job, needs[job], stop)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    free += needs[running.pop(future)]
                    future.result()
        except BaseException:
            stop.set()
            raise
