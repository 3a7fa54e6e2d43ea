"""Checks of arguments that are also command line options, and how messages name these arguments."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any, Literal, TypeAlias, cast, get_args

from flitlab import _core
from flitlab._core import ConfigError

Backend: TypeAlias = Literal["auto", "cpu", "cuda"]
BACKENDS = get_args(Backend)
MOST_THREADS = 1024  # a larger number is a typing error; each thread needs memory for its stack
MOST_POINTS = 1_000_000  # of a sweep

on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)
_NONE = object()


def named(name: str, value: Any = _NONE) -> str:
    """Returns ``most_seeds = 0`` in Python, ``--most-seeds 0`` on the command line; only the name if no value is
    given."""
    if on_command_line.get():
        name = name.replace("_", "-")
        return f"--{name}" if value is _NONE else f"--{name} {value}"
    return name if value is _NONE else f"{name} = {shown(value)}"


def shown(value: Any) -> str:
    """Returns a value as one line of text. Strings are never shortened, because they may be file names."""
    text = repr(value) if isinstance(value, str) else " ".join(repr(value).split())
    return text if len(text) <= 60 or isinstance(value, str) else text[:57] + "..."


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Returns `` Did you mean ...?`` if a known name resembles ``word``, else ""."""
    if not isinstance(word, str):
        return f" It must be a string, not {type(word).__name__}."
    close = nearest(word, known)
    return f" Did you mean {close}?" if close else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """Returns the known name that a word most resembles, "" if none is similar. The word may hold undecodable bytes."""
    return _core.nearest(word.encode(errors="replace").decode(), list(known))


def whole(value: Any) -> int | None:
    """Returns a whole number of any type, NumPy's included, as an int; None for other values, such as 1.0 and True."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def is_whole(value: Any) -> bool:
    return whole(value) is not None


def is_number(value: Any) -> bool:
    """Returns whether a value is a real number of any type, NumPy's included. True and False do not count."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_path(what: str, path: Any, of: str) -> None:
    """Raises ConfigError if ``path`` is not a path. ``what``: the argument or call, with its value, for the message;
    ``of``: the kind of file or folder that it must name."""
    if not isinstance(path, (str, os.PathLike)) or path == "":
        raise ConfigError(f"{what}: it must be the path of {of}, a string or a Path"
                          f"{', and not be empty' if path == '' else ''}.")


@contextmanager
def writing(call: str, path: Any, of: str = "a file") -> Iterator[None]:
    """For code that writes a user's file. Turns an invalid path and operating system errors into ConfigErrors that name
    the file. ``call``: the function that writes, for the message."""
    check_path(f"{call}({shown(path)})", path, of)
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)  # Arrow's own text repeats the file name
        raise ConfigError(f"{os.fspath(path)} cannot be written: {reason}.") from None


def check_truth(name: str, value: Any) -> None:
    if not isinstance(value, int) and type(value).__name__ not in ("bool", "bool_"):  # bool_ is NumPy's
        raise ConfigError(f"{named(name, value)}: it must be True or False.")


def check_backend(backend: Any) -> None:
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise ConfigError(f"{named('backend', backend)}: there is no such backend; it must be auto (a GPU if one "
                          "is available), cpu or cuda.")


def check_threads(threads: Any) -> None:
    if not is_whole(threads) or not 0 <= threads <= MOST_THREADS:
        raise ConfigError(f"{named('threads', threads)}: it must be a whole number, 0 (one per core) to "
                          f"{MOST_THREADS}.")


def check_checkpoint(checkpoint: Any, every: Any) -> None:
    """Checks the checkpoint arguments of ``run``. Raises ConfigError."""
    if checkpoint is not None:
        check_path(named("checkpoint", checkpoint), checkpoint, "a file")
    if not is_number(every) or not every > 0:
        raise ConfigError(f"{named('every', every)}: it must be a positive number of seconds.")


def check_sweep(over: Any, seeds: Any, out: Any, resume: Any, executor: Any) -> None:
    """Checks the arguments of ``sweep`` except its experiment and the values in ``over``, which are checked when used.

    Raises ConfigError."""
    if not isinstance(over, Mapping):
        raise ConfigError(f"{named('over', over)}: it must be a dictionary of dotted paths and lists of values, such "
                          'as {"traffic.load": [0.1, 0.2]}.')
    listed = seeds_from(seeds, 0)
    count = whole(seeds) or len(listed)  # len() of a very long range fails
    sizes = [len(v) for v in over.values() if isinstance(v, Sized) and not isinstance(v, (str, Mapping))]
    # Checked before the list of points is made, which might not fit in memory.
    check_points(max(1, math.prod(sizes)) * count)
    if out is not None:
        check_path(named("out", out), out, "a folder")
    elif resume:
        given = named("resume") if on_command_line.get() else "resume=True"
        raise ConfigError(f"{given} continues a sweep from its folder: give the folder as {named('out')}.")
    if executor is not None:
        check_executor(executor)


def seeds_from(seeds: Any, first: int) -> Sequence[int]:
    """Returns the seeds of a sweep. If ``seeds`` is a number: that many seeds, ``first``, ``first`` + 1, ...; if it is
    a list: its elements. Raises ConfigError."""
    if (number := whole(seeds)) is not None:
        listed: Sequence[int | None] = range(first, first + number)
    elif isinstance(seeds, (str, Mapping)) or not isinstance(seeds, Sized) or not isinstance(seeds, Iterable):
        listed = []
    else:
        listed = [whole(s) for s in seeds]
    if not listed or (number is None and (None in listed or len(set(listed)) < len(listed))):
        raise ConfigError(f"{named('seeds', seeds)}: it must be a whole number, or a list of different seeds; at least "
                          "one seed is needed.")
    return cast("Sequence[int]", listed)


def check_points(points: int) -> None:
    if points > MOST_POINTS:
        raise ConfigError(f"a sweep of {points} points is too large: at most {MOST_POINTS} are possible.")


def check_executor(executor: Any) -> None:
    if callable(getattr(executor, "submit", None)) and not isinstance(executor, type):
        return
    if hasattr(executor, "scheduler_address"):  # a Dask cluster: LocalCluster, SLURMCluster and others
        raise ConfigError(f"{named('executor', executor)} is a Dask cluster, which does not accept jobs itself: give "
                          "its client, dask.distributed.Client(cluster).")
    raise ConfigError(f"{named('executor', executor)}: it must be an object that has submit(), such as a "
                      "ProcessPoolExecutor(), a Dask Client, or `workers` of `with fl.cluster(FILE) as workers`.")
