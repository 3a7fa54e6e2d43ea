"""Workers on other machines for sweeps, described by a TOML file and started by Dask."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import check_path, did_you_mean, named
from flitlab.toml import read_toml

# kind of cluster -> (package, class) that starts its workers
KINDS = {
    "local": ("distributed", "LocalCluster"),
    "ssh": ("distributed", "SSHCluster"),
    "slurm": ("dask_jobqueue", "SLURMCluster"),
    "pbs": ("dask_jobqueue", "PBSCluster"),
    "sge": ("dask_jobqueue", "SGECluster"),
    "lsf": ("dask_jobqueue", "LSFCluster"),
    "htcondor": ("dask_jobqueue", "HTCondorCluster"),
    "oar": ("dask_jobqueue", "OARCluster"),
}
SCHEDULER = "scheduler"  # kind of a file that names a running scheduler
KEYS = {"kind", "workers", "options", "address", "file"}
OWN_KEYS = {"ssh": {"kind", "options"}, SCHEDULER: {"kind", "address", "file"}}
QUEUE_KEYS = {"kind", "workers", "options"}  # allowed keys in files of all other kinds
# Code that each local worker runs first: it turns logging off. When a cluster closes, it interrupts jobs and
# heartbeats, and workers would log that as warnings and errors. Errors of jobs are not lost, because they are returned
# as results.
CLOSES_QUIETLY = "import logging; logging.disable(logging.ERROR)"


def _read(path: Path) -> dict[str, Any]:
    given = read_toml(path, named("cluster", str(path)))
    for key in given:
        if key not in KEYS:
            raise ConfigError(f"{path}: {key} is not a key of a cluster file.{did_you_mean(key, KEYS)} Allowed keys: "
                              f"{', '.join(sorted(KEYS))}.")
    return given


def _check(path: Path, given: Mapping[str, Any]) -> None:
    kind, allowed = given.get("kind"), [*KINDS, SCHEDULER]
    if kind not in allowed:
        raise ConfigError(f"{path}: kind = {kind!r}; it must be one of {', '.join(allowed)}.")
    own = OWN_KEYS.get(kind, QUEUE_KEYS)
    for key in given:
        if key not in own:
            raise ConfigError(f"{path}: kind = {kind!r} has no {key}; its keys are {', '.join(sorted(own))}.")
    if kind == SCHEDULER:
        _check_scheduler(path, given)
        return
    workers = given.get("workers")
    if kind != "ssh" and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise ConfigError(f"{path}: workers = {workers!r}; it must be a positive whole number of processes, or of jobs "
                          "in the queue.")
    if not isinstance(given.get("options", {}), Mapping):
        raise ConfigError(f"{path}: options must be a TOML table, [options].")


def _check_scheduler(path: Path, given: Mapping[str, Any]) -> None:
    where = [given[key] for key in ("address", "file") if key in given]
    if len(where) != 1 or not isinstance(where[0], str) or not where[0].strip():
        got = "".join(f"{key} = {value!r}; " for key, value in given.items() if key != "kind")
        raise ConfigError(f"{path}: {got}kind = 'scheduler' needs address = \"tcp://HOST:PORT\", or file = \"NAME\", "
                          "which `dask scheduler --scheduler-file` has written.")


def imported(package: str, name: str) -> Any:
    """Returns a name of a package. Raises ConfigError if the package is not installed.

    Restores the handler of Ctrl-C, because importing dask_jobqueue makes Ctrl-C end the whole process."""
    on_interrupt = signal.getsignal(signal.SIGINT)
    try:
        return getattr(import_module(package), name)
    except ImportError:
        raise ConfigError(f"{package.replace('_', '-')} is not installed: pip install 'flitlab[dask]'.") from None
    finally:
        if on_interrupt is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, on_interrupt)


@contextmanager
def _out_of_reach_of_interrupts() -> Iterator[None]:
    """Blocks Ctrl-C for processes started inside, because each of them would print a traceback when a terminal sends
    Ctrl-C to all processes of a command. The command itself gets a pending Ctrl-C at the end, if it has no other
    threads, and then ends the processes."""
    # Starts a helper process of Python now; if it started later, it would unblock interrupts.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _closing_quietly() -> Iterator[None]:
    """Hides Dask's warnings. Dask warns of each worker that it kills during a run, and of event loops that a busy
    machine delays; both are expected when a cluster closes."""
    handlers = logging.getLogger("distributed").handlers[:]
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(max(handler.level, logging.ERROR))
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)


def start(path: str | os.PathLike) -> Any:
    """Starts and returns the Dask cluster that a file describes; None for a running scheduler. Raises ConfigError."""
    path = Path(path)
    given = _read(path)
    _check(path, given)
    if given["kind"] == SCHEDULER:
        return None
    package, name = KINDS[given["kind"]]
    make, options = imported(package, name), dict(given.get("options", {}))
    if given["kind"] == "ssh":
        imported("asyncssh", "connect")  # Dask would report it late, among other errors
    if given["kind"] == "local":
        preload = imported("dask.config", "get")("distributed.worker.preload")  # either a list or a single entry
        preload = [CLOSES_QUIETLY, *([preload] if isinstance(preload, str) else preload)]
        # No dashboard. Without a port, Dask uses 8787 for other pages and warns if another cluster uses it.
        options = {"n_workers": given["workers"], "threads_per_worker": 1, "dashboard_address": None,
                   "scheduler_kwargs": {"dashboard_address": ":0"}, "preload": preload} | options
    try:
        with _out_of_reach_of_interrupts() if given["kind"] == "local" else nullcontext():
            cluster = make(**options)
        if package == "dask_jobqueue":
            cluster.scale(jobs=given["workers"])
    except (TypeError, ValueError, RuntimeError, OSError) as error:
        raise ConfigError(f"{path}: {package}.{name} cannot be started with its [options]: {error}") from error
    return cluster


@contextmanager
def cluster(path: str | os.PathLike) -> Iterator[Any]:
    """Workers for ``sweep(..., executor=...)``: a Dask client. At the end it is closed, with the workers it started.

    path: a TOML file with ``kind`` (local, ssh, slurm, pbs, sge, lsf, htcondor, oar) and ``workers``, a number of
    processes or of jobs in the queue; ``[options]`` are arguments of Dask's class for that kind. A file with
    ``kind = "scheduler"`` has the ``address`` of a running Dask scheduler, or the ``file`` that the scheduler wrote.
    Raises ConfigError.

    >>> with fl.cluster("slurm.toml") as workers:                                      # doctest: +SKIP
    ...     curve = fl.sweep("vc-torus-8x8", {"traffic.load": fl.adaptive(0, 1)}, executor=workers)
    """
    check_path(named("cluster", path), path, "a TOML file")
    client_of = imported("distributed", "Client")
    started = start(path)
    try:
        client = client_of(started) if started is not None else _client(client_of, Path(path))
        with client:
            yield client
    finally:
        if started is not None:
            with _closing_quietly():
                started.close()


def _client(client_of: Any, path: Path) -> Any:
    """Returns a client of the scheduler that a file names. Raises ConfigError."""
    given = _read(path)
    if "file" in given and not (path.parent / given["file"]).is_file():  # Dask would wait for it without a timeout
        raise ConfigError(f"{path}: file = {given['file']!r} does not exist: `dask scheduler --scheduler-file` "
                          "writes it.")
    where = {"address": given["address"]} if "address" in given else {
        "scheduler_file": os.fspath(path.parent / given["file"])}
    try:
        return client_of(**where, timeout="10s")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: no Dask scheduler answers at {', '.join(where.values())}: {error}") from None
