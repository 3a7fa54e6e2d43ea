"""Message-passing programs, from Python functions or TOML; docs/programs.md describes calls and file formats."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.arguments import shown, writing
from flitlab.expressions import Expression
from flitlab.toml import read_text, read_toml

# call -> (its arguments in the order in which a file's line has them, number of required arguments).
CALLS = {
    "compute": (("cycles",), 1),
    "send": (("peer", "bytes", "tag"), 2),
    "isend": (("peer", "bytes", "tag", "handle"), 2),
    "recv": (("peer", "bytes", "tag"), 1),
    "irecv": (("peer", "bytes", "tag", "handle"), 1),
    "wait": (("handle",), 1),
    "waitall": ((), 0),
    "notify": (("peer", "tag"), 1),
    "after": (("peer", "tag"), 1),
    "barrier": (("group",), 0),
    "broadcast": (("root", "bytes", "group"), 2),
    "reduce": (("root", "bytes", "cycles", "group"), 2),
    "allreduce": (("bytes", "cycles", "group"), 1),
    "allgather": (("bytes", "group"), 1),
    "alltoall": (("bytes", "group"), 1),
}

# Calls of TOML programs; their ranks have no places, which notify and after need.
TOML_CALLS = [call for call in CALLS if call not in ("notify", "after")]

MOST_RANKS = 2**24 - 1
ANY = "any"  # peer or tag of a receive that accepts each
MOST_CYCLES = 10**9  # of a computation
MOST_MESSAGE_BYTES = 2**32 - 2
MOST_STEPS = 50_000_000  # limit of the steps that a TOML program runs; a larger number is a typing error


class Rank:
    """One rank of a program. Its methods append calls to the program; sizes are in bytes, times in cycles.

    All ranks take part in a collective, or only the ranks in the list ``group``. All of these must give an equal list.
    """

    def __init__(self, program: Program, rank: int):
        self.rank = rank
        self.size = program.ranks
        self._program = program
        self._handles = 0

    def compute(self, cycles: int) -> None:
        """Computes for some cycles."""
        self._add("compute", cycles=cycles)

    def send(self, peer: int, bytes: int, tag: int = 0) -> None:
        """Sends a message and continues when the network interface has accepted its last packet."""
        self._add("send", peer=peer, bytes=bytes, tag=tag or None)

    def isend(self, peer: int, bytes: int, tag: int = 0) -> int:
        """Sends a message and continues at once. Returns a handle for :meth:`wait`."""
        self._handles += 1
        self._add("isend", peer=peer, bytes=bytes, tag=tag or None, handle=self._handles)
        return self._handles

    def recv(self, peer: int | str, bytes: int | None = None, tag: int | str = 0) -> None:
        """Waits for the next message with this tag from a peer. ``bytes``: its expected size, which is checked.

        peer, tag: "any" accepts each. Then the messages of the rank are matched with its receives during the run, and
        sizes are not checked."""
        self._add("recv", peer=peer, bytes=bytes, tag=tag or None)

    def irecv(self, peer: int | str, bytes: int | None = None, tag: int | str = 0) -> int:
        """As :meth:`recv`, without waiting. Returns a handle for :meth:`wait`."""
        self._handles += 1
        self._add("irecv", peer=peer, bytes=bytes, tag=tag or None, handle=self._handles)
        return self._handles

    def wait(self, handle: int) -> None:
        """Waits until the network interface has accepted an isend's packets, or an irecv's message has arrived."""
        self._add("wait", handle=handle)

    def waitall(self) -> None:
        """Waits for all isends and irecvs that are not complete. The end of the program does so, too."""
        self._add("waitall")

    def notify(self, peer: int, tag: int = 0) -> None:
        """Lets a rank of the same terminal (:meth:`Program.place`) continue after its :meth:`after`. Takes no time."""
        self._add("notify", peer=peer, tag=tag or None)

    def after(self, peer: int, tag: int = 0) -> None:
        """Waits for the next :meth:`notify` with this tag from a rank of the same terminal. Takes no time itself."""
        self._add("after", peer=peer, tag=tag or None)

    def barrier(self, group: Iterable[int] | None = None) -> None:
        """Waits until all ranks have reached the barrier."""
        self._add("barrier", group=group)

    def broadcast(self, root: int, bytes: int, group: Iterable[int] | None = None) -> None:
        """The root sends the same data to all ranks."""
        self._add("broadcast", root=root, bytes=bytes, group=group)

    def reduce(self, root: int, bytes: int, cycles: int = 0, group: Iterable[int] | None = None) -> None:
        """The root gets the sum of all ranks' data; ``cycles``: time to add two contributions."""
        self._add("reduce", root=root, bytes=bytes, cycles=cycles or None, group=group)

    def allreduce(self, bytes: int, cycles: int = 0, group: Iterable[int] | None = None) -> None:
        """All ranks get the sum of all ranks' data; ``cycles``: time to add two contributions."""
        self._add("allreduce", bytes=bytes, cycles=cycles or None, group=group)

    def allgather(self, bytes: int, group: Iterable[int] | None = None) -> None:
        """All ranks get the data of every rank."""
        self._add("allgather", bytes=bytes, group=group)

    def alltoall(self, bytes: int, group: Iterable[int] | None = None) -> None:
        """Each rank sends ``bytes`` to each other rank."""
        self._add("alltoall", bytes=bytes, group=group)

    def _add(self, call: str, **arguments: Any) -> None:
        self._extend([self._line(call, **arguments)])

    def _line(self, call: str, **arguments: Any) -> str:
        """Returns the line of a call in the program's file of calls."""
        if arguments.get("group") is not None:
            arguments["group"] = self._program._group_number(arguments["group"])
        receives = call in ("recv", "irecv")
        fields = [ANY if receives and name in ("peer", "tag") and arguments.get(name) == ANY
                  else _field(name, arguments.get(name)) for name in CALLS[call][0]]
        return ",".join([str(self.rank), call, *fields]).rstrip(",")

    def _extend(self, lines: Iterable[str]) -> None:
        """Appends calls of this rank, as :meth:`_line` returns them. Calls that repeat themselves can share a line."""
        self._program._add(self.rank, lines)


def _field(name: str, value: Any) -> str:
    if value is None:
        return ""
    try:
        return str(operator.index(value))
    except TypeError:
        raise ConfigError(f"{name} = {value!r} must be a whole number.") from None


class Program:
    """The calls of ``ranks`` ranks; rank r runs on terminal r, unless :meth:`place` gives it another one.

    >>> import flitlab as fl
    >>> def main(me):
    ...     me.isend((me.rank + 1) % me.size, 240)
    ...     me.recv((me.rank - 1) % me.size)
    ...     me.barrier()
    >>> program = fl.Program.spmd(main, 64)
    >>> exp = fl.load("configs/...").set({"traffic.mode": "program", "traffic.program_file": program})  # doctest: +SKIP

    Calls can also be added rank by rank: ``program = fl.Program(2); program[0].send(1, 240); program[1].recv(0)``.
    """

    def __init__(self, ranks: int, name: str = "program"):
        try:
            self.ranks = operator.index(ranks)
        except TypeError:
            raise ConfigError(f"ranks = {shown(ranks)}: it must be a whole number, 1 to {MOST_RANKS}.") from None
        if not 1 <= self.ranks <= MOST_RANKS:
            raise ConfigError(f"ranks = {ranks}: a program has 1 to {MOST_RANKS}.")
        self.name = name  # name of the program in messages
        self._lines: list[list[str]] = [[] for _ in range(self.ranks)]
        self._groups: dict[tuple[int, ...], int] = {}
        self._places: dict[int, tuple[int, int | None]] = {}
        self._threads: dict[int, int] = {}  # rank -> the rank of which it is a thread
        self._text: bytes | None = None
        self._ranks = [Rank(self, rank) for rank in range(self.ranks)]

    @classmethod
    def spmd(cls, main: Callable[[Rank], None], ranks: int, name: str | None = None) -> Program:
        """Returns a program of ``ranks`` ranks, each of which runs ``main(me)``; ``me`` is its :class:`Rank`."""
        program = cls(ranks, name or getattr(main, "__name__", "program"))
        for me in program:
            main(me)
        return program

    @classmethod
    def from_toml(cls, path: str | os.PathLike, terminals: int = 0) -> Program:
        """Reads a program in TOML. Its number of ranks is the file's ``ranks``, or else ``terminals``. Raises
        ConfigError with the file and the step of the error."""
        return _TomlProgram(Path(path), terminals).program

    @classmethod
    def from_file(cls, path: str | os.PathLike, terminals: int = 0) -> Program:
        """Reads a file of calls, or a program in TOML (file names that end in .toml). Its number of ranks is the
        file's, or else ``terminals``. Raises ConfigError with the file and the line of the error."""
        if Path(path).suffix == ".toml":
            return cls.from_toml(path, terminals)
        return _of_calls(Path(path), terminals)

    @classmethod
    def together(cls, programs: Sequence[Program], places: Sequence[Sequence[int]], ranks: int,
                 name: str = "programs") -> Program:
        """Returns one program of ``ranks`` ranks that runs several programs side by side: rank r of ``programs[i]``
        becomes rank ``places[i][r]``. All other ranks have no calls. Raises ConfigError unless each rank of each
        program has a place that no other rank has."""
        program = cls(ranks, name)
        taken = {place for where in places for place in where}
        if ([part.ranks for part in programs] != list(map(len, places)) or len(taken) < sum(map(len, places))
                or not taken <= set(range(program.ranks))):
            raise ConfigError(f"Program.together: give each rank of each program a place from 0 to {ranks - 1} that no "
                              "other rank has.")
        for part, where in zip(programs, places, strict=True):
            if part._places or part._threads:
                raise ConfigError(f"Program.together: ranks of {part.name} have places of their own. Remove them; "
                                  "every rank gets a terminal here.")
            groups = {"": str(program._group_number(where))}
            for members, number in part._groups.items():
                groups[str(number)] = str(program._group_number(where[rank] for rank in members))
            for rank, calls in enumerate(part._lines):
                program._lines[where[rank]] = [_moved(line, where, groups) for line in calls]
        return program

    def place(self, rank: int, terminal: int, processor: int | None = None) -> None:
        """Places a rank on a terminal, which may have several ranks. They exchange messages without the network, and
        the network interface takes their messages in turn.

        processor: a number. Ranks of a terminal with the same number share a processor, and use it one at a time. If
        several ranks wait for it, the rank with the lowest number is next. None: a processor of its own."""
        number, where = int(_field("rank", rank)), int(_field("terminal", terminal))
        if not 0 <= number < self.ranks or not 0 <= where < MOST_RANKS:
            raise ConfigError(f"place({rank}, {terminal}): ranks are numbered 0 to {self.ranks - 1}, terminals 0 to "
                              f"{MOST_RANKS - 1}.")
        self._places[number] = (where, processor)
        self._text = None

    def thread(self, rank: int, of: int) -> None:
        """Makes a rank a thread of another one: it receives what is sent to that rank, and its messages come from that
        rank. Both must run on the same terminal (:meth:`place`). All messages of a program with threads are matched
        with receives during the run."""
        number, owner = int(_field("rank", rank)), int(_field("of", of))
        if not (0 <= number < self.ranks and 0 <= owner < self.ranks):
            raise ConfigError(f"thread({rank}, {of}): ranks are numbered 0 to {self.ranks - 1}.")
        self._threads[number] = owner
        self._text = None

    def _check_message(self, bytes: int, where: str) -> None:
        """Raises ConfigError if a message is too long. where: its place in the file that the program is read from."""
        if bytes > MOST_MESSAGE_BYTES:
            raise ConfigError(f"{self.name}: {where}: a message has {bytes} bytes: at most {MOST_MESSAGE_BYTES} are "
                              "possible. Divide it.")

    def __getitem__(self, rank: int) -> Rank:
        return self._ranks[rank]

    def __iter__(self):
        return iter(self._ranks)

    def __len__(self) -> int:
        return self.ranks

    def text(self) -> bytes:
        """Returns the contents of the program's file of calls, one call per line (format: docs/programs.md)."""
        if self._text is None:
            lines = [f"ranks,{self.ranks}"]
            lines += [",".join(["group", str(number), *map(str, ranks)]) for ranks, number in self._groups.items()]
            lines += [f"place,{rank},{terminal}" + ("" if processor is None else f",{_field('processor', processor)}")
                      for rank, (terminal, processor) in self._places.items()]
            lines += [f"thread,{rank},{of}" for rank, of in self._threads.items()]
            for calls in self._lines:
                lines += calls
            self._text = ("\n".join(lines) + "\n").encode()
        return self._text

    def save(self, path: str | os.PathLike) -> None:
        """Writes the program to a file of calls (one call per line), for ``traffic.program_file``. Raises ConfigError
        if the file cannot be written."""
        with writing("Program.save", path):
            Path(path).write_bytes(self.text())

    def calls(self) -> list[list[tuple[str, int, int, int]]]:
        """Returns [rank][call] the tuple (call, peer, amount, slot). Collectives are expanded into sends and receives,
        and each receive is matched with its send.

        amount depends on the call. compute: cycles. send, isend: bytes. recv, irecv: number of packets, of up to 240
        bytes each. notify, after: no meaning. wait for an isend: which of the rank's isends, counted in this list.
        slot: number of the message among the messages that its receiver receives. A recv or irecv with peer -1 is
        matched during the run: slot is its number among such receives of the rank, and amount is 0. Raises ConfigError
        for a program that cannot run.
        """
        most = max((terminal for terminal, _ in self._places.values()), default=-1) + 1
        return _core.program_calls(self.text(), self.name, self.ranks, max(self.ranks, most))

    def __repr__(self) -> str:
        return f"<Program {self.name}: {self.ranks} ranks, {sum(map(len, self._lines))} calls>"

    def _add(self, rank: int, lines: Iterable[str]) -> None:
        self._lines[rank].extend(lines)
        self._text = None

    def _group_number(self, group: Iterable[int]) -> int:
        ranks = tuple(int(_field("group", rank)) for rank in group)
        return self._groups.setdefault(ranks, len(self._groups) + 1)


def _moved(line: str, where: Sequence[int], groups: Mapping[str, str]) -> str:
    """Returns the line of a call with other numbers: rank r becomes where[r], group g becomes groups[g]. groups[""] is
    the group of a collective that names none."""
    rank, call, *fields = line.split(",")
    names = CALLS[call][0]
    fields += [""] * (len(names) - len(fields))
    for i, name in enumerate(names):
        if name in ("peer", "root") and fields[i] != ANY:
            fields[i] = str(where[int(fields[i])])
        elif name == "group":
            fields[i] = groups[fields[i]]
    return ",".join([str(where[int(rank)]), call, *fields]).rstrip(",")


def _of_calls(path: Path, terminals: int) -> Program:
    """Reads a file of calls. Raises ConfigError with its line for one that cannot run."""
    text = read_text(path, f"Program.from_file: {path}")
    rows = [[field.strip() for field in line.split(",")] for line in text.split("\n")]
    rows = [row for row in rows if row != [""] and not row[0].startswith("#")]
    given = rows[0][1] if rows and rows[0][0] == "ranks" and len(rows[0]) == 2 else ""
    ranks = int(given) if given.isdecimal() and 1 <= int(given) <= MOST_RANKS else terminals
    if not ranks:
        raise ConfigError(f"Program.from_file: {path} does not give its number of ranks: write ranks,NUMBER in its "
                          "first line.")
    placed = [int(row[2]) for row in rows if row[0] == "place" and len(row) > 2 and row[2].isdecimal()]
    if max(placed, default=0) >= MOST_RANKS:
        raise ConfigError(f"Program.from_file: {path} places a rank on terminal {max(placed)}; terminals are numbered "
                          f"0 to {MOST_RANKS - 1}.")
    # Raises ConfigError for lines that are wrong.
    _core.program_calls(text.encode(), str(path), ranks, max([ranks, *(terminal + 1 for terminal in placed)]))
    program = Program(ranks, str(path))
    groups = {"": ""}
    for row in rows:
        if row[0] == "group":
            groups[row[1]] = str(program._group_number(map(int, row[2:])))
            if len(program._groups) + 1 < len(groups):
                raise ConfigError(f"Program.from_file: {path}: group {row[1]} has the ranks of another group. Remove "
                                  "one of the two.")
        elif row[0] == "place":
            program.place(*map(int, row[1:]))
        elif row[0] == "thread":
            program.thread(*map(int, row[1:]))
        elif row[0] != "ranks":
            program._add(int(row[0]), [_moved(",".join(row), range(ranks), groups)])
    return program


class _Step:
    """A step of a TOML program: a call, or a list of further steps. It can have a condition, or be repeated."""

    def __init__(self, step: Any, where: str, names: frozenset[str]):
        self.where = where
        if not isinstance(step, Mapping):
            raise ConfigError(f"{where} = {step!r}: a step is a TOML table.")
        rest = dict(step)
        self.repeat = self._expression(rest.pop("repeat", 1), "repeat", names)
        self.index = rest.pop("index", None)
        if self.index is not None:
            if not isinstance(self.index, str) or not self.index.isidentifier() or self.index in names:
                raise ConfigError(f"{where}: index = {self.index!r} must be a new name, for example \"i\".")
            names = names | {self.index}
        self.condition = self._expression(rest.pop("if", 1), "if", names)
        self.call = rest.pop("call", None)
        self.steps = _steps(rest.pop("step"), where + ".", names) if "step" in rest else []
        if (self.call is None) == ("step" not in step):
            raise ConfigError(f"{where}: a step needs either call or step (a list of steps).")
        if self.call is not None and self.call not in TOML_CALLS:
            raise ConfigError(f"{where}: {self.call!r} is not a call. Calls are {', '.join(TOML_CALLS)}.")
        allowed, required = CALLS[self.call] if self.call else ((), 0)
        for key in rest:
            if key not in allowed:
                raise ConfigError(f"{where}: {key} is not a key of {self.call or 'a list of steps'}; allowed are "
                                  f"{', '.join([*allowed, 'if', 'repeat', 'index'])}.")
        for key in allowed[:required]:
            if key not in rest:
                raise ConfigError(f"{where}: {self.call} needs {key}.")
        self.group = self._group(rest.pop("group"), names) if "group" in rest else None
        self.arguments = {key: self._expression(value, key, names) for key, value in rest.items()}
        self._members: dict[tuple, dict[int, list[int]]] = {}

    def _expression(self, value: Any, key: str, names: frozenset[str]) -> Callable[[Mapping[str, int]], int]:
        if isinstance(value, (bool, int)):
            return lambda _: value
        if not isinstance(value, str):
            raise ConfigError(f"{self.where}: {key} = {value!r} must be a whole number or an expression.")
        try:
            expression = Expression(value, names)
        except ConfigError as error:
            raise ConfigError(f"{self.where}: {key} = {error}") from None

        def evaluated(values: Mapping[str, int]) -> int:
            try:
                return expression(values)
            except ConfigError as error:
                raise ConfigError(f"{self.where}: {key} = {error}") from None

        return evaluated

    def _group(self, value: Any, names: frozenset[str]) -> Callable[[Mapping[str, int]], list[int]]:
        if isinstance(value, list):
            parts = [self._expression(part, "group", names) for part in value]
            return lambda values: [part(values) for part in parts]
        colour = self._expression(value, "group", names)

        def same_value(values: Mapping[str, int]) -> list[int]:
            others = tuple((name, x) for name, x in values.items() if name != "rank")
            if others not in self._members:
                members = self._members[others] = {}
                for rank in range(values["size"]):
                    members.setdefault(colour({**values, "rank": rank}), []).append(rank)
            return self._members[others][colour(values)]

        return same_value


def _steps(steps: Any, prefix: str, names: frozenset[str]) -> list[_Step]:
    if not isinstance(steps, list):
        raise ConfigError(f"{prefix}step = {steps!r} must be a list of steps.")
    return [_Step(step, f"{prefix}{i}", names) for i, step in enumerate(steps, 1)]


class _TomlProgram:
    def __init__(self, path: Path, terminals: int):
        tree = read_toml(path, f"traffic.program_file: {path}")
        self.taken = 0
        try:
            ranks = tree.pop("ranks", terminals)
            most = terminals or MOST_RANKS
            if not isinstance(ranks, int) or not 1 <= ranks <= most:
                raise ConfigError(f"ranks = {ranks!r} must be a whole number from 1 to {most}.")
            steps = _steps(tree.pop("step", []), "step ", frozenset({"rank", "size"}))
            if tree:
                raise ConfigError(f"{next(iter(tree))} is unknown: a program has the keys ranks and [[step]].")
            self.program = Program(ranks, str(path))
            for me in self.program:
                self.run(steps, me, {"rank": me.rank, "size": me.size})
        except ConfigError as error:
            raise ConfigError(f"traffic.program_file: {path}: {error}") from None

    def run(self, steps: list[_Step], me: Rank, values: dict[str, int]) -> None:
        for step in steps:
            for i in range(step.repeat(values)):
                self.taken += 1
                if self.taken > MOST_STEPS:
                    raise ConfigError(f"{step.where}: the program runs more than {MOST_STEPS} steps.")
                now = values if step.index is None else {**values, step.index: i}
                if not step.condition(now):
                    continue
                self.run(step.steps, me, now)
                if step.call:
                    arguments = {name: value(now) for name, value in step.arguments.items()}
                    me._add(step.call, group=step.group(now) if step.group else None, **arguments)


@functools.lru_cache(maxsize=8)
def _cached(path: str, _date: int, _size: int, terminals: int) -> Program:
    return Program.from_toml(path, terminals)


def program_text(value: str | Program, base_dir: str, terminals: int) -> bytes | None:
    """Returns the contents of a file of calls for a program that is given in memory or as a TOML file; None if
    ``traffic.program_file`` already names a file of calls."""
    if isinstance(value, Program):
        return value.text()
    if not value.endswith(".toml"):
        return None
    path = os.path.join(base_dir, value)
    try:
        status = os.stat(path)
    except OSError as error:
        raise ConfigError(f"traffic.program_file: {path} cannot be read: {error.strerror}.") from None
    return _cached(path, status.st_mtime_ns, status.st_size, terminals).text()
