"""Running experiments on the compiled core."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.result import Result


def run(experiment: Experiment, backend: str = "auto", threads: int = 0) -> Result:
    """Runs one experiment: warm-up, measurement, drain.

    backend: "auto" (a GPU if one answers), "cpu" or "cuda"; threads: CPU threads, 0 for one per core.
    Raises ConfigError (bad input) or RunError (deadlock, broken conservation).
    """
    return Result(_core.run([experiment.core], backend, threads, None)[0])


def run_job(
    experiments: Sequence[Experiment],
    backend: str = "auto",
    threads: int = 0,
    finished: Callable[[int, dict], None] | None = None,
) -> list[dict]:
    """Runs experiments that share a structure side by side; ``finished(index, result)`` as each one ends."""

    def report(progress: dict) -> None:
        if finished:
            for index, result in progress["results"].items():
                finished(index, result)

    return _core.run([e.core for e in experiments], backend, threads, report)
