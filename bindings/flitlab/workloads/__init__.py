"""Programs of other tools, read as they are: GOAL, MLCommons Chakra, MSCCL and MSCCL++ (docs/workloads.md)."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import check_path, did_you_mean, is_number, shown, whole
from flitlab.operations import bytes_of, check_algorithm
from flitlab.programs import Program
from flitlab.schedules import ALGORITHMS
from flitlab.workloads.chakra import files_of_trace, is_chakra, read_chakra
from flitlab.workloads.goal import is_goal, read_goal
from flitlab.workloads.msccl import is_msccl, read_msccl
from flitlab.workloads.plans import is_plan, read_plan


def format_of(path: Path) -> str:
    """Returns the format of a file: "goal", "chakra", "msccl" or "plan"; "" if it is none of these, or cannot be
    read."""
    try:
        with path.open("rb") as file:
            data = file.read(1 << 16)  # a file of GOAL may begin with a long comment
    except OSError:
        return ""
    if is_chakra(path, data):
        return "chakra"
    return "goal" if is_goal(data) else "msccl" if is_msccl(data) else "plan" if is_plan(data) else ""


def read_program(path: str | os.PathLike, *, cycle_ns: float = 1.0, algorithms: Mapping[str, str] | None = None,
                 groups: str | os.PathLike | Mapping[str, Sequence[int]] | None = None,
                 flops_per_ns: float | None = None, shape: Sequence[int] | None = None, size: Any = None,
                 combine: float = 0.0) -> Program:
    """Reads a program: GOAL (text or binary), a trace of MLCommons Chakra (the file of one rank, NAME.RANK.et or
    NAME.RANK.json, with the others beside it), a collective algorithm of MSCCL (XML), an execution plan of MSCCL++
    (JSON), or a file of calls or TOML.

    cycle_ns: length of a cycle; GOAL and Chakra: times of the file are divided by it. algorithms (Chakra): operation ->
    algorithm of its collectives, as for :func:`flitlab.collective`; default: the first one, a ring for most. groups
    (Chakra): name -> ranks, or the JSON file with them. flops_per_ns (Chakra): speed of computations without a
    duration, which otherwise take no time. shape (Chakra): ranks in each dimension of the logical topology, which
    involved_dim of collectives refers to; the first one varies fastest. size (MSCCL, MSCCL++): bytes of the buffer, or
    text such as "1MB". combine (MSCCL, MSCCL++): cycles to add one byte to another. Raises ConfigError with the file
    and the place in it."""
    check_path(f"read_program({shown(path)})", path, "a file")
    where = Path(path)
    if not where.is_file():
        raise ConfigError(f"read_program: {where} is not a file.")
    form = format_of(where)
    if form in ("msccl", "plan"):
        if size is None:
            what = "an algorithm of MSCCL" if form == "msccl" else "a plan of MSCCL++"
            raise ConfigError(f"read_program: {where} is {what}: give the size of its buffer, for example "
                              f"fl.read_program(\"{where.name}\", size=\"1MB\"). The result is a value of "
                              "traffic.program_file.")
        _check_number("combine", combine, 0, 1e6)
        return (read_msccl if form == "msccl" else read_plan)(where, bytes_of(size), combine)
    _check_number("cycle_ns", cycle_ns, 0.0001, 1e6)
    if flops_per_ns is not None:
        _check_number("flops_per_ns", flops_per_ns, 1e-9, 1e12)
    if form == "goal":
        return read_goal(where, cycle_ns)
    if form == "chakra":
        return read_chakra(where, cycle_ns, _algorithms(algorithms or {}), _groups(groups), flops_per_ns,
                           _shape(shape))
    return Program.from_file(where)


def _check_number(name: str, value: Any, least: float, most: float) -> None:
    if not is_number(value) or not least <= value <= most:
        raise ConfigError(f"{name} = {shown(value)}: it must be a number from {least:g} to {most:g}.")


def _shape(given: Any) -> tuple[int, ...] | None:
    if given is None:
        return None
    numbers = [whole(n) for n in given] if isinstance(given, Sequence) and not isinstance(given, str) else []
    found = tuple(n for n in numbers if n is not None and n > 0)
    if not found or len(found) < len(numbers):
        raise ConfigError(f"shape = {shown(given)}: it must be a list of whole numbers from 1, for example [4, 2].")
    return found


def _algorithms(given: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"algorithms = {shown(given)}: it must be a dictionary of operations and algorithms, for "
                          "example {\"allreduce\": \"tree\"}.")
    for operation, name in given.items():
        if operation not in ALGORITHMS:
            raise ConfigError(f"algorithms = {{{operation!r}: ...}}: operations are {', '.join(ALGORITHMS)}."
                              + did_you_mean(str(operation), ALGORITHMS))
        check_algorithm(operation, name, f"algorithms[{operation!r}]")
    return given


def _groups(given: str | os.PathLike | Mapping[str, Sequence[int]] | None) -> Mapping[str, Sequence[int]]:
    try:
        tree = given if given is None or isinstance(given, Mapping) else json.loads(
            Path(given).read_text(encoding="utf-8"))
        return {str(name): [int(rank) for rank in ranks] for name, ranks in (tree or {}).items()}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ConfigError(f"groups: {given} is not a JSON file of the form {{\"1\": [0, 1, 2]}}: {error}.") from None


def converted(path: Path, cycle_ns: float, shape: Sequence[int] | None = None) -> Program | None:
    """Returns a program in the format of another tool; None if it is in none. shape: of the network, if it has one. The
    result is kept until one of the program's files changes."""
    form = format_of(path)
    if not form:
        return None
    states = [file.stat() for file in (files_of_trace(path) if form == "chakra" else [path])]
    logical = tuple(shape) if form == "chakra" and isinstance(shape, (list, tuple)) else None
    return _kept(path, cycle_ns, logical, tuple((state.st_mtime_ns, state.st_size) for state in states))


@functools.lru_cache(maxsize=8)
def _kept(path: Path, cycle_ns: float, shape: tuple[int, ...] | None, _states: tuple[tuple[int, int], ...]) -> Program:
    return read_program(path, cycle_ns=cycle_ns, shape=shape)
