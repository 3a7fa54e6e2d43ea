"""Messages of collective operations: an algorithm for a number of ranks and a size."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown
from flitlab.programs import Program, Rank
from flitlab.schedules import ALGORITHMS, Algorithm, Blocks, Shape, Step

_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def bytes_of(size: Any) -> int:
    """Returns a size in bytes: a whole number, or text such as ``"64 KiB"`` or ``"1MB"``. Raises ConfigError."""
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found and found[2] in _UNITS:
        number = float(found[1]) * _UNITS[found[2]]
    elif isinstance(size, int) and not isinstance(size, bool):
        number = size
    else:
        number = -1
    if number < 1 or number != int(number):
        raise ConfigError(f"size = {shown(size)}: it must be a whole number of bytes, at least 1, or a number with a "
                          f"unit ({', '.join(filter(None, _UNITS))}), for example \"1MB\".")
    return int(number)


def check_algorithm(operation: str, name: Any, where: str) -> None:
    """Raises ConfigError unless an operation has an algorithm of this name. where: what names it, for the message."""
    known = ALGORITHMS[operation]
    if name not in known:
        raise ConfigError(f"{where} = {shown(name)}: for {operation} it must be one of {', '.join(known)}."
                          f"{did_you_mean(str(name), known)}")


class Schedule:
    """The messages of a collective operation: an algorithm for a number of ranks and a size in bytes.

    size: bytes of the buffer of a rank. allreduce, reduce_scatter, reduce and broadcast: the vector; allgather: the
    result; alltoall: what a rank sends to all ranks (itself included)."""

    def __init__(self, operation: str, algorithm: str, shape: Shape, size: int):
        self.operation, self.algorithm, self.shape, self.size = operation, algorithm, shape, size
        self._algorithm: Algorithm = ALGORITHMS[operation][algorithm]
        if why := self._algorithm.why_not(shape):
            raise ConfigError(f"algorithm = {algorithm!r} does not fit {shape.ranks} ranks: {why}.")
        self.blocks = self._algorithm.blocks(shape)
        parts = shape.ranks if operation == "alltoall" else self.blocks
        # [block modulo parts] bytes
        self._sizes = [(i + 1) * size // parts - i * size // parts for i in range(parts)]

    def steps(self, rank: int) -> Iterable[Step]:
        return self._algorithm.steps(self.shape, rank)

    def bytes_of(self, blocks: Blocks) -> int:
        """Returns the bytes of some blocks of the buffer."""
        sizes = self._sizes
        if len(blocks) == 1:
            return sizes[blocks[0] % len(sizes)]
        return sum(sizes[b % len(sizes)] for b in blocks)

    def program(self, combine: float = 0.0) -> Program:
        """Returns the program of the operation. combine: cycles to add a byte to another one."""
        program = Program(self.shape.ranks, f"{self.operation} by {self.algorithm}")
        for me in program:
            self.add_calls(me, range(self.shape.ranks), combine)
        return program

    def add_calls(self, me: Rank, members: Sequence[int], combine: float = 0.0, tag: int = 0) -> None:
        """Appends the operation's calls to a rank of a program. members: the ranks that take part. combine: cycles to
        add a byte to another one. tag: of the messages."""
        me._extend(self.lines(me, members, combine, tag))

    def lines(self, me: Rank, members: Sequence[int], combine: float = 0.0, tag: int = 0) -> list[str]:
        """Returns the lines of the calls that :meth:`add_calls` appends. Most calls of an operation are equal, so each
        different line is made once."""
        known: dict[tuple[str, int, int], str] = {}

        def line(call: str, peer: int, size: int) -> str:
            found = known.get((call, peer, size))
            if found is None:  # no call waits for an isend of its own, so it needs no handle
                found = known[call, peer, size] = me._line(call, peer=members[peer], bytes=size, tag=tag or None)
            return found

        lines = []
        for send, receive, combines in self.steps(members.index(me.rank)):
            if send:
                lines.append(line("isend", send[0], self.bytes_of(send[1])))
            if not receive:
                continue
            size = self.bytes_of(receive[1])
            lines.append(line("recv", receive[0], size))
            if combines and (cycles := round(combine * size)):
                lines.append(me._line("compute", cycles=cycles))
        return lines

    def alpha_beta(self, alpha: float, flits: Callable[[int], int], send: float = 0, receive: float = 0,
                   combine: float = 0.0) -> float:
        """Returns the time of the operation on a network without contention, cycles: a message of some bytes takes
        alpha + flits(bytes) cycles, and the messages of a rank leave one after the other.

        send, receive: cycles of a processor for a message."""
        ranks = self.shape.ranks
        clock, free = [0.0] * ranks, [0.0] * ranks
        steps = [iter(self.steps(rank)) for rank in range(ranks)]
        waiting: list[Step | None] = [None] * ranks
        arrivals: dict[tuple[int, int], deque[float]] = {}
        ready = deque(range(ranks))
        while ready:
            me = ready.popleft()
            while True:
                step = waiting[me]
                if step is None:
                    if (step := next(steps[me], None)) is None:
                        break
                    if step.send:
                        peer, blocks = step.send
                        clock[me] += send
                        free[me] = max(free[me], clock[me]) + flits(self.bytes_of(blocks))
                        arrivals.setdefault((me, peer), deque()).append(free[me] + alpha)
                        ready.append(peer)
                if step.receive:
                    queue = arrivals.get((step.receive[0], me))
                    if not queue:
                        waiting[me] = step
                        break
                    size = self.bytes_of(step.receive[1])
                    clock[me] = max(clock[me], queue.popleft()) + receive + step.combine * round(combine * size)
                waiting[me] = None
        return max(map(max, clock, free))
