"""Jobs of a sweep that share this machine. The runs of a job are replicas of one plan, and a small network occupies one
core or a small part of a GPU, so a job with few runs leaves the rest idle. Such jobs run at the same time, each in a
thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context

from flitlab import _core

# Runs a job: its number, its backend, its CPU threads, and a request to stop, if the job does not run in the caller's
# thread.
RunJob = Callable[[int, str, int, "_core.Stop | None"], None]

# Jobs on the GPU at a time. Each has a host thread with a CUDA stream, and CUDA has at most 32 connections to a device,
# so that the kernels of more streams would wait for one another.
MOST_ON_GPU = 32


def run_side_by_side(jobs: Sequence[Sequence[int]], backend: str, threads: int, run: RunJob,
                     backend_of: Callable[[int], str]) -> None:
    """Runs the jobs of a sweep, each a list of its points. threads: CPU threads of all jobs together; 0 for one per
    core. backend_of: returns "cpu" or "cuda" for a job; called only for backend "auto" if there is a GPU.

    Jobs on the CPU together have at most ``threads`` threads, and at most MOST_ON_GPU jobs are on the GPU. A job that
    finds too little device memory waits until another one has ended. A job that does not fit beside others at all runs
    after them, as in a sweep of one job.

    If a job raises an error, or the caller is interrupted, the others are stopped, and the error is raised when all
    have ended."""
    on_gpu = may_use_gpu(backend)
    cores = threads or _core.backends()["cpu"]["threads"]
    needs = threads_of(jobs, cores)
    if len(jobs) < 2 or (not on_gpu and sum(sorted(needs)[:2]) > cores):
        for job in range(len(jobs)):
            run(job, backend, threads, None)
        return
    machine = _Machine(needs, cores, run, backend_of)
    if backend != "auto" or not on_gpu:
        machine.on_gpu = dict.fromkeys(range(len(jobs)), on_gpu)
    for job in machine.run_all():
        run(job, backend, threads, None)


def may_use_gpu(backend: str) -> bool:
    """Returns whether jobs may run on a GPU."""
    if backend == "cpu":
        return False
    # CUDA's default is 8. It reads the variable when the process first uses the device.
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", str(MOST_ON_GPU))
    return backend == "cuda" or _core.backends()["cuda"]["available"]


def threads_of(jobs: Sequence[Sequence[int]], cores: int) -> list[int]:
    """Returns the CPU threads of each job: one for each run, and more if there are fewer jobs than cores."""
    share = cores // max(1, len(jobs))
    return [min(cores, max(len(job), share)) for job in jobs]


class _Machine:
    """The cores and the GPU, and the jobs that wait for them."""

    def __init__(self, needs: Sequence[int], cores: int, run: RunJob, backend_of: Callable[[int], str]):
        self.needs, self.run, self.backend_of = needs, run, backend_of
        self.free_cores, self.cores = cores, cores
        self.at_a_time = MOST_ON_GPU  # largest number of jobs on the GPU at present
        self.threads_on_gpu = max(1, cores // min(MOST_ON_GPU, len(needs)))  # they search for deadlocks
        self.waiting = list(range(len(needs)))
        self.on_gpu: dict[int, bool] = {}  # jobs whose backend has been chosen
        self.running: dict[Future[None], int] = {}
        self.left: list[int] = []  # jobs that do not fit beside others
        self.stop = _core.Stop()

    def run_all(self) -> list[int]:
        """Runs the jobs. Returns those that need more memory than the device has without other jobs."""
        with ThreadPoolExecutor(max_workers=self.cores + MOST_ON_GPU) as pool:
            try:
                while self.waiting or self.running:
                    self._start(pool)
                    for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                        self._ended(future)
            except BaseException:
                self.stop.set()
                raise
        return self.left

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Starts jobs in order, except that a job does not wait for an earlier one that does not fit yet."""
        for job in list(self.waiting):
            chosen_before = job in self.on_gpu
            if not chosen_before:
                self.on_gpu[job] = self.backend_of(job) == "cuda"
            on_gpu, threads = self.on_gpu[job], self.needs[job]
            if on_gpu and self._jobs_on_gpu() < self.at_a_time:
                threads = self.threads_on_gpu
            elif not on_gpu and threads <= self.free_cores:
                self.free_cores -= threads
            elif chosen_before:
                continue
            else:
                return  # to choose takes as long as to build the network, so further jobs are looked at later
            self.waiting.remove(job)
            future = pool.submit(copy_context().run, self.run, job, "cuda" if on_gpu else "cpu", threads, self.stop)
            self.running[future] = job

    def _ended(self, future: Future[None]) -> None:
        """Frees what a job has used, and raises its error. If it has found too little device memory, it waits again,
        and fewer jobs run on the GPU at a time, until others have ended."""
        job = self.running.pop(future)
        if not self.on_gpu[job]:
            self.free_cores += self.needs[job]
            future.result()
            return
        try:
            future.result()
            self.at_a_time = min(MOST_ON_GPU, self.at_a_time + 1)
        except _core.DeviceFull:
            others = self._jobs_on_gpu()
            if others:
                self.waiting.insert(0, job)
            else:
                self.left.append(job)
            self.at_a_time = max(1, others)

    def _jobs_on_gpu(self) -> int:
        return sum(self.on_gpu[job] for job in self.running.values())
