"""When the ranks of a program made their calls, and how they spent the time between: the replay of a program that has
run, from the cycles in which packets were created and messages arrived."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Call = tuple[str, int, int, int]  # call, peer, amount, slot: as Program.calls() returns them
SENDS = ("send", "isend")
KINDS = ("compute", "send", "receive", "message", "interface", "done")  # what a rank does


class Interval(NamedTuple):
    """Cycles ``begin`` to ``end`` - 1 of a rank. what: one of KINDS. peer, message, bytes: the message that the rank
    sends, receives or waits for (-1: none). call: number of the rank's call (-1: none)."""

    rank: int
    begin: int
    end: int
    what: str
    peer: int = -1
    message: int = -1
    bytes: int = -1
    call: int = -1


@dataclass
class Message:
    """A message. message: its number among the messages that the destination receives. Cycles: ``ready``, the sender's
    processor hands it over; ``first``, ``passed``, the network interface accepts its first and its last packet;
    ``available``, the destination can receive it from here; ``received``, the destination does. -1: not yet."""

    source: int
    destination: int
    message: int
    bytes: int
    packets: int
    call: int
    ready: int = -1
    first: int = -1
    passed: int = -1
    available: int = -1
    received: int = -1


class Replay:
    """The program of a run. Give it every packet's creation and every message's arrival; ``run`` then returns the
    intervals of all ranks.

    calls: [rank][call]. payload: bytes of a message in a packet. send_overhead, recv_overhead: cycles."""

    def __init__(self, calls: Sequence[Sequence[Call]], payload: int, send_overhead: int, recv_overhead: int):
        self.calls, self.send_overhead, self.recv_overhead = calls, send_overhead, recv_overhead
        self.messages: dict[tuple[int, int], Message] = {}  # by destination and number there
        self.made: list[list[int]] = [[] for _ in calls]  # [rank][call] cycle in which the rank makes the call
        self.ends: list[int] = []  # [rank] cycle in which its program ends
        self._sent: list[list[Message]] = [[] for _ in calls]  # [source] in the order in which they leave
        self._by_call: list[dict[int, Message]] = [{} for _ in calls]
        for rank, own in enumerate(calls):
            for number, (call, peer, amount, slot) in enumerate(own):
                if call in SENDS:
                    message = Message(rank, peer, slot, amount, max(1, -(-amount // payload)), number)
                    self.messages[peer, slot] = self._by_call[rank][number] = message
                    self._sent[rank].append(message)
        self._leaving: list[Iterator[Message]] = [self._packets(own) for own in self._sent]

    @staticmethod
    def _packets(messages: Iterable[Message]) -> Iterator[Message]:
        for message in messages:
            for _ in range(message.packets):
                yield message

    def packet_created(self, source: int, cycle: int) -> None:
        """The packets of a source are created in the order of its messages."""
        message = next(self._leaving[source])
        message.first = cycle if message.first < 0 else message.first
        message.passed = cycle  # until its next packet

    def run(self) -> list[list[Interval]]:
        """Returns the intervals of each rank, from cycle 0 to the program's end, without gaps."""
        ranks = [list(self._intervals(rank)) for rank in range(len(self.calls))]
        end = max(self.ends)
        for rank, own in enumerate(ranks):
            if self.ends[rank] < end:
                own.append(Interval(rank, self.ends[rank], end, "done"))
        return ranks

    def _intervals(self, rank: int) -> Iterator[Interval]:
        now = 0  # the processor is free from here

        def wait(until: int, what: str, number: int, message: Message, peer: int) -> Iterator[Interval]:
            nonlocal now
            if until > now:
                yield Interval(rank, now, until, what, peer, message.message, message.bytes, number)
                now = until

        def accepted(number: int, message: Message) -> Iterator[Interval]:
            # A call that waits for packets is made in the cycle after the interface has accepted the last one.
            return wait(message.passed + 1, "interface", number, message, message.destination)

        for number, (call, peer, amount, slot) in enumerate(self.calls[rank]):
            busy, what, message = 0, call, self._by_call[rank].get(number)
            if call == "compute":
                busy = amount
            elif call == "recv":
                message, busy, what = self.messages[rank, slot], self.recv_overhead, "receive"
                yield from wait(message.available, "message", number, message, peer)
                message.received = now
            elif call == "wait":
                yield from accepted(number, self._by_call[rank][amount])
            elif message:
                busy, what = self.send_overhead, "send"
                message.ready = now + busy
            self.made[rank].append(now)
            if busy:
                of = (message.message, message.bytes) if message else (-1, -1)
                yield Interval(rank, now, now + busy, what, peer if message else -1, *of, number)
                now += busy
            if call == "send" and message:
                yield from accepted(number, message)
        if self._sent[rank]:  # a program ends when its packets have been accepted
            yield from accepted(-1, self._sent[rank][-1])
        self.ends.append(now)


def critical_path(ranks: Sequence[Sequence[Interval]], messages: dict[tuple[int, int], Message]) -> list[Interval]:
    """Returns the intervals that determine the end of a program, without gaps, from its end back to cycle 0 and then in
    order of cycles.

    The path starts at the rank that ends last. Where that rank waited for a message, the path continues at the sender,
    in the cycle in which its processor handed over the message. The cycles between are the sender's intervals
    "interface" (until the last packet was accepted) and "network" (until the receiver could take the message)."""
    end = max((own[-1].end for own in ranks if own), default=0)
    rank = next((r for r, own in enumerate(ranks) if own and own[-1].end == end and own[-1].what != "done"), 0)
    by_end = [{interval.end: interval for interval in own} for own in ranks]
    path, now = [], end
    while now:
        interval = by_end[rank][now]
        if interval.what != "message":
            path.append(interval)
            now = interval.begin
            continue
        m = messages[rank, interval.message]
        for begin, to, what in ((m.passed, now, "network"), (m.ready, m.passed, "interface")):
            if begin < to:
                path.append(Interval(m.source, begin, to, what, m.destination, m.message, m.bytes, m.call))
        rank, now = m.source, m.ready
    return path[::-1]
