"""Arguments of functions that are options of the command line too: their checks, and how messages name them."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any

from flitlab._core import ConfigError

BACKENDS = ("auto", "cpu", "cuda")
MOST_THREADS = 1024  # more are a slip of the keyboard, and each one costs a stack

on_command_line: ContextVar[bool] = ContextVar("on_command_line", default=False)
_NONE = object()


def named(name: str, value: Any = _NONE) -> str:
    """``seeds = 0`` in Python, ``--seeds 0`` on the command line; without a value the name alone."""
    if on_command_line.get():
        return f"--{name}" if value is _NONE else f"--{name} {value}"
    return name if value is _NONE else f"{name} = {value!r}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` did you mean ...?`` if something that is known is like the word, or nothing."""
    close = get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else ""


def check_backend(backend: Any) -> None:
    if backend not in BACKENDS:
        raise ConfigError(f"{named('backend', backend)}: there is none of that name; it must be auto (a GPU if one "
                          "answers), cpu or cuda.")


def check_threads(threads: Any) -> None:
    if threads not in range(MOST_THREADS + 1):
        raise ConfigError(f"{named('threads', threads)}: it must be 0 (one per core) to {MOST_THREADS}.")
