"""Jobs of a sweep that may run on a GPU: how many runs a job has, and which backend is faster for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from flitlab import _core
from flitlab.side_by_side import MOST_ON_GPU

# Runs per job on a GPU: a thousand small networks fill one.
MOST_RUNS = 1024
# Part of the device's memory for the states of a job. Lane state is a second copy of them, and two jobs should fit.
PART_OF_MEMORY = 1 / 4


def runs_per_job(experiment: _core.Experiment, runs: int, least: int, backend: str, threads: int) -> int:
    """Returns the runs of each job, if ``runs`` runs of one structure are divided into jobs: ``least`` if the CPU is
    faster, otherwise as many as the memory of the GPU allows, up to MOST_RUNS, in jobs of equal size."""
    largest = min(runs, MOST_RUNS)
    chosen, replica_bytes = experiment.engine_of_job(backend, threads, largest, -(-runs // largest))
    if chosen == "cpu":
        return least
    device_bytes = _core.backends()["cuda"]["devices"][0]["bytes"]
    largest = max(least, min(largest, int(PART_OF_MEMORY * device_bytes / replica_bytes)))
    return -(-runs // -(-runs // largest))


def chooser(first_point: Callable[[int], _core.Experiment], runs: Sequence[int], backend: str,
            threads: int) -> Callable[[int], str]:
    """Returns a function that returns the backend for a job. The estimate assumes that all jobs of about its size, from
    half to twice its terminals, run at the same time, because they share the device or the cores.

    first_point: returns an experiment of a job. runs: number of runs of each job."""

    @cache
    def sizes() -> list[int]:
        return [number * first_point(job).terminals() for job, number in enumerate(runs)]

    def backend_of(job: int) -> str:
        similar = sum(size <= 2 * sizes()[job] and sizes()[job] <= 2 * size for size in sizes())
        return first_point(job).engine_of_job(backend, threads, runs[job], min(MOST_ON_GPU, similar))[0]

    return backend_of
