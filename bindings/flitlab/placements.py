"""Places of jobs: which terminal runs each rank of several programs on one network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown, whole
from flitlab.experiment import Experiment
from flitlab.toml import read_text

PLACEMENTS = ("linear", "random", "group", "random_group")
_LINE = "JOB,RANK,TERMINAL"


def places_of(placement: Any, ranks: Mapping[str, int], network: Experiment, seed: int = 0,
              group_terminals: int | None = None) -> dict[str, list[int]]:
    """Returns the terminals of each job, in the order of its ranks.

    placement: a word of PLACEMENTS, the name of a file, or lists of terminals. ranks: job -> number of its ranks. seed:
    of random placements. group_terminals: terminals of a group; None: as the network has them. Raises ConfigError."""
    terminals = int(network.derived()["terminals"])
    if sum(ranks.values()) > terminals:
        raise ConfigError(f"jobs: {', '.join(f'{job} has {n} ranks' for job, n in ranks.items())}, and the network has "
                          f"{terminals} terminals, each of which runs one rank. Use fewer ranks or a larger network.")
    if isinstance(placement, str) and placement in PLACEMENTS:
        if whole(seed) is None or seed < 0:
            raise ConfigError(f"seed = {shown(seed)}: it must be a whole number, 0 or more.")
        order = np.random.default_rng(seed)
        if "group" in placement:
            groups = _groups(network, terminals, group_terminals)
            if placement == "random_group":
                groups = [groups[i] for i in order.permutation(len(groups))]
            return _whole_groups(placement, ranks, groups)
        return _one_after_the_other(ranks, order.permutation(terminals) if placement == "random" else range(terminals))
    if isinstance(placement, str) and Path(placement).suffix == "" and not Path(placement).exists():
        raise ConfigError(f"placement = {shown(placement)}: it must be {', '.join(PLACEMENTS)}, the name of a CSV file "
                          f"of lines {_LINE}, or lists of terminals.{did_you_mean(placement, PLACEMENTS)}")
    if isinstance(placement, (str, os.PathLike)):
        return _from_file(Path(placement), ranks, terminals)
    return _from_lists(placement, ranks, terminals)


def _one_after_the_other(ranks: Mapping[str, int], terminals: Iterable[int]) -> dict[str, list[int]]:
    rest = iter(terminals)
    return {job: [int(next(rest)) for _ in range(n)] for job, n in ranks.items()}


def _groups(network: Experiment, terminals: int, group_terminals: int | None) -> list[list[int]]:
    """Returns the terminals of each group."""
    if group_terminals is not None:
        size = whole(group_terminals)
        if size is None or not 1 <= size <= terminals:
            raise ConfigError(f"group_terminals = {shown(group_terminals)}: it must be 1 to {terminals}, the network's "
                              "terminals.")
        return [list(range(first, min(first + size, terminals))) for first in range(0, terminals, size)]
    flat = network.flat()
    on_a_router = flat.get("topology.concentration") or max(1, terminals // int(network.derived()["routers"]))
    groups: dict[int, list[int]] = {}
    # Routers that have failed leave no gap in the numbers of terminals, so routers are counted without them.
    failed = set(flat.get("topology.failed_routers", ()))
    routers = (r for r in range(terminals // on_a_router + len(failed)) if r not in failed)
    for terminal in range(terminals):
        if terminal % on_a_router == 0:
            group = next(routers) // flat.get("topology.group_routers", 1)
        groups.setdefault(group, []).append(terminal)
    return list(groups.values())


def _whole_groups(placement: str, ranks: Mapping[str, int], groups: list[list[int]]) -> dict[str, list[int]]:
    """Each job begins in a new group and fills one group after the other."""
    places: dict[str, list[int]] = {}
    left = iter(groups)
    for job, n in ranks.items():
        mine: list[int] = []
        while len(mine) < n:
            group = next(left, None)
            if group is None:
                raise ConfigError(f"placement = {placement!r}: no group is free for rank {len(mine)} of job {job}. The "
                                  f"network has {len(groups)} groups of {len(groups[0])} terminals. Use placement = "
                                  "'linear', in which jobs share groups, or smaller group_terminals.")
            mine += group
        places[job] = mine[:n]
    return places


class _Taken:
    """Ranks by terminal, for the message about a terminal that is given twice."""

    def __init__(self, terminals: int):
        self._terminals = terminals
        self._by: dict[int, str] = {}

    def take(self, where: str, job: str, rank: int, terminal: Any) -> int:
        """Returns the terminal as an int. where: beginning of a message."""
        number = whole(terminal)
        if number is None or not 0 <= number < self._terminals:
            raise ConfigError(f"{where}: terminal {shown(terminal)} of rank {rank} of job {job} does not exist: "
                              f"terminals are numbered 0 to {self._terminals - 1}.")
        me = f"rank {rank} of job {job}"
        if (other := self._by.setdefault(number, me)) != me:
            raise ConfigError(f"{where}: terminal {number} is given to {other} and to {me}. A terminal runs one rank: "
                              "give one of the two another terminal.")
        return number


def _from_lists(given: Any, ranks: Mapping[str, int], terminals: int) -> dict[str, list[int]]:
    lists = dict(zip(ranks, given, strict=False)) if isinstance(given, (Sequence, np.ndarray)) else given
    if not isinstance(lists, Mapping) or set(lists) != set(ranks) or len(given) != len(ranks):
        raise ConfigError(f"placement = {shown(given)}: it must have a list of terminals for each of the {len(ranks)} "
                          f"jobs ({', '.join(ranks)}), or be one of {', '.join(PLACEMENTS)}, or the name of a file.")
    taken = _Taken(terminals)
    places = {}
    for job, n in ranks.items():
        mine = list(lists[job]) if isinstance(lists[job], Iterable) and not isinstance(lists[job], str) else []
        if len(mine) != n:
            raise ConfigError(f"placement: job {job} has {n} ranks, and {shown(lists[job])} is not a list of {n} "
                              "terminals. Give one terminal for each rank.")
        places[job] = [taken.take("placement", job, rank, terminal) for rank, terminal in enumerate(mine)]
    return places


def _from_file(path: Path, ranks: Mapping[str, int], terminals: int) -> dict[str, list[int]]:
    taken = _Taken(terminals)
    places: dict[str, dict[int, int]] = {job: {} for job in ranks}
    numbers = dict(zip(map(str, range(len(ranks))), ranks, strict=True))
    for number, line in enumerate(read_text(path, f"placement: {path}").split("\n"), 1):
        if not (line := line.strip()) or line.startswith("#"):
            continue
        where = f"placement: {path}:{number}: {shown(line)}"
        fields = [field.strip() for field in line.rsplit(",", 2)]
        if [field.lower() for field in fields] == _LINE.lower().split(",") and not any(places.values()):
            continue  # the line of headings
        if len(fields) != 3 or not (fields[1].isdecimal() and fields[2].isdecimal()):
            raise ConfigError(f"{where}: a line is {_LINE}, for example {next(iter(ranks))},0,5.")
        job = fields[0] if fields[0] in ranks else numbers.get(fields[0])
        if job is None:
            raise ConfigError(f"{where}: there is no job {shown(fields[0])}. Jobs are {', '.join(ranks)}, or their "
                              f"numbers from 0.{did_you_mean(fields[0], ranks)}")
        rank = int(fields[1])
        if rank >= ranks[job]:
            raise ConfigError(f"{where}: job {job} has no rank {rank}: its ranks are 0 to {ranks[job] - 1}.")
        if rank in places[job]:
            raise ConfigError(f"{where}: rank {rank} of job {job} has terminal {places[job][rank]} already. Remove one "
                              "of the two lines.")
        places[job][rank] = taken.take(where, job, rank, int(fields[2]))
    for job, n in ranks.items():
        if missing := sorted(set(range(n)) - set(places[job])):
            raise ConfigError(f"placement: {path} has no terminal for rank {missing[0]} of job {job}, which has {n} "
                              f"ranks. Add a line {job},{missing[0]},TERMINAL.")
    return {job: [mine[rank] for rank in range(len(mine))] for job, mine in places.items()}
