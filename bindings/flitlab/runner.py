"""Functions that run experiments on the compiled core."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from flitlab import _core
from flitlab.arguments import Backend, check_backend, check_checkpoint, check_threads
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.result import Result


class TerminateAsInterrupt:
    """Context in which SIGTERM raises KeyboardInterrupt, as Ctrl-C does. It has an effect in the main thread only."""

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


def rounded(experiment: Experiment) -> Iterator[str]:
    """Yields a warning for each window that is not a whole number of epochs: a run ends it with the next epoch."""
    flat, epoch = experiment.flat(), experiment.core.epoch_cycles()
    for path in ("run.warmup_cycles", "run.measure_cycles"):
        if isinstance(cycles := flat.get(path), int) and cycles % epoch:
            yield (f"{path} = {cycles} is not a multiple of run.epoch_cycles = {epoch}: {-(-cycles // epoch) * epoch} "
                   "cycles are run.")


def warn_if_rounded(experiment: Experiment, stacklevel: int) -> None:
    """Gives the warnings of :func:`rounded`. Raises ConfigError before, if the network cannot be built, because bad
    input gets one message. stacklevel: as in ``warnings.warn``, counted from the caller."""
    texts = list(rounded(experiment))
    if texts:
        experiment.core.check_network()
    for text in texts:
        warnings.warn(text, stacklevel=stacklevel + 1)


def run(
    experiment: Given,
    backend: Backend = "auto",
    threads: int = 0,
    checkpoint: str | os.PathLike | None = None,
    every: float = 60.0,
    progress: bool = True,
    seed: int | None = None,
) -> Result:
    """Runs one experiment: warm-up, measurement, drain.

    experiment: an Experiment, a file, the name of a shipped configuration, or a dictionary of dotted paths.
    backend: "auto" (chosen by the size of the run), "cpu" or "cuda". threads: CPU threads, at most 1024; 0 for one per
    core. checkpoint: a file to continue from if it exists; it is saved every ``every`` seconds and when the run is
    interrupted, and removed at the end. progress: a bar on stderr if the run takes longer than a second. seed: replaces
    the experiment's run.seed.
    Raises ConfigError (bad input) or RunError (deadlock, lost or duplicated flits).
    """
    if seed is not None:
        experiment = experiment_of(experiment).set("run.seed", seed)
    result = run_keeping(experiment, backend, threads, checkpoint, every, progress)
    if checkpoint:
        Path(checkpoint).unlink(missing_ok=True)
    return result


def run_keeping(
    experiment: Given,
    backend: Backend = "auto",
    threads: int = 0,
    checkpoint: str | os.PathLike | None = None,
    every: float = 60.0,
    progress: bool = False,
    advanced: Callable[[int], None] | None = None,
) -> Result:
    """As ``run``, but keeps the checkpoint, so that callers can remove it after they have saved the result.

    advanced: called after every epoch with the cycle, unless ``progress`` is set."""
    experiment = experiment_of(experiment)
    check_backend(backend)
    check_threads(threads)
    check_checkpoint(checkpoint, every)
    warn_if_rounded(experiment, stacklevel=3)
    path = "" if checkpoint is None else os.fspath(checkpoint)
    with TerminateAsInterrupt():
        if not progress:
            report = advanced and (lambda p: advanced(p["cycle"]))
            return Result(_core.run([experiment.core], backend, threads, report, path, every, True)[0], experiment)
        from tqdm.auto import tqdm

        with tqdm(unit="cycle", unit_scale=True, delay=1) as bar:
            return Result(_core.run([experiment.core], backend, threads, lambda p: bar.update(p["cycle"] - bar.n), path,
                                    every, True)[0], experiment)


def run_job(
    experiments: Sequence[Experiment],
    backend: str = "auto",
    threads: int = 0,
    finished: Callable[[int, dict], None] | None = None,
    checkpoint: str | os.PathLike = "",
    advanced: Callable[[int], None] | None = None,
    stop: _core.Stop | None = None,
) -> list[dict]:
    """Runs experiments of equal structure as replicas of one job and returns their results.

    finished: called as ``finished(index, result)`` when an experiment ends. advanced: called after every epoch with the
    cycle. checkpoint: as in :func:`run`, but the file is kept. stop: a request from another thread that ends the job as
    Ctrl-C does."""
    check_backend(backend)
    check_threads(threads)

    def report(progress: dict) -> None:
        if advanced:
            advanced(progress["cycle"])
        if finished:
            for index, result in progress["results"].items():
                finished(index, result)

    return _core.run([e.core for e in experiments], backend, threads, report, os.fspath(checkpoint), stop=stop)
