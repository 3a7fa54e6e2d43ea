"""Running experiments on the compiled core."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.result import Result

MOST_THREADS = 1024  # more are a slip of the keyboard, and each one costs a stack


def check_threads(threads: int) -> None:
    if threads not in range(MOST_THREADS + 1):
        raise _core.ConfigError(f"--threads {threads}: it must be 0 (one per core) to {MOST_THREADS}.")


class TerminateAsInterrupt:
    """SIGTERM stops what is running as Ctrl-C does (in the main thread, where signals can be caught)."""

    def __enter__(self):
        self.old = None
        if threading.current_thread() is threading.main_thread():
            self.old = signal.signal(signal.SIGTERM, self._raise)

    @staticmethod
    def _raise(*_):
        raise KeyboardInterrupt

    def __exit__(self, *_):
        if self.old is not None:
            signal.signal(signal.SIGTERM, self.old)


def run(
    experiment: Experiment,
    backend: str = "auto",
    threads: int = 0,
    checkpoint: str | os.PathLike | None = None,
    every: float = 60.0,
    progress: bool = False,
) -> Result:
    """Runs one experiment: warm-up, measurement, drain.

    backend: "auto" (a GPU if one answers), "cpu" or "cuda"; threads: CPU threads, at most 1024; 0 for one per core.
    checkpoint: a file to go on from if it exists; saved every ``every`` seconds and when the run is interrupted,
    removed at the end. progress: a bar on stderr if the run takes longer than a second.
    Raises ConfigError (bad input) or RunError (deadlock, broken conservation).
    """
    result = run_keeping(experiment, backend, threads, checkpoint, every, progress)
    if checkpoint:
        Path(checkpoint).unlink(missing_ok=True)
    return result


def run_keeping(
    experiment: Experiment,
    backend: str = "auto",
    threads: int = 0,
    checkpoint: str | os.PathLike | None = None,
    every: float = 60.0,
    progress: bool = False,
) -> Result:
    """As ``run``, but the checkpoint stays, for those who have yet to put the result in a safe place."""
    check_threads(threads)
    if not every > 0:
        raise _core.ConfigError(f"--every {every}: it must be a positive number of seconds.")
    path = "" if checkpoint is None else os.fspath(checkpoint)
    with TerminateAsInterrupt():
        if not progress:
            return Result(_core.run([experiment.core], backend, threads, None, path, every)[0])
        from tqdm import tqdm

        with tqdm(unit="cycle", unit_scale=True, delay=1) as bar:
            return Result(_core.run([experiment.core], backend, threads, lambda p: bar.update(p["cycle"] - bar.n), path,
                                    every)[0])


def run_job(
    experiments: Sequence[Experiment],
    backend: str = "auto",
    threads: int = 0,
    finished: Callable[[int, dict], None] | None = None,
) -> list[dict]:
    """Runs experiments that share a structure side by side; ``finished(index, result)`` as each one ends."""
    check_threads(threads)

    def report(progress: dict) -> None:
        if finished:
            for index, result in progress["results"].items():
                finished(index, result)

    return _core.run([e.core for e in experiments], backend, threads, report)
