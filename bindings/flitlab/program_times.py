"""When the ranks of a program made their calls, and how they spent the time between: the replay of a program that has
run, from the cycles in which packets were created and messages arrived."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from flitlab.packet_format import packets_of

Call = tuple[str, int, int, int]  # call, peer, amount, slot: as Program.calls() returns them
SENDS = ("send", "isend", "notify")
RECEIVES = ("recv", "irecv", "after")
# What a rank does.
KINDS = ("compute", "send", "receive", "message", "after", "processor", "interface", "done")


class Place(NamedTuple):
    """Where a rank runs. processor: ranks of a terminal with the same number share a processor; None: the rank has a
    processor of its own."""

    terminal: int
    processor: int | None = None


class Interval(NamedTuple):
    """Cycles ``begin`` to ``end`` - 1 of a rank. what: one of KINDS. peer, message, bytes: the message that the rank
    sends, receives or waits for (-1: no message). If the rank waits for a processor, peer is the rank that used it
    before. call: number of the rank's call (-1: no call)."""

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
    """A message, or a ``notify``. message: its number among the messages that the destination receives. packets: 0 if
    source and destination are ranks of one terminal. receiver: the rank that receives it, the destination or one of its
    threads. in_run: it was matched with its receive during the run.

    Cycles: ``ready``, the sender's processor hands it over; ``first``, ``passed``, the network interface accepts its
    first and its last packet (without packets: ``ready``); ``available``, the destination can receive it from here;
    ``received``, the destination does. -1: not yet."""

    source: int
    destination: int
    message: int
    bytes: int
    packets: int
    call: int
    is_notify: bool = False
    receiver: int = -1
    in_run: bool = False
    ready: int = -1
    first: int = -1
    passed: int = -1
    available: int = -1
    received: int = -1


@dataclass
class _Processor:
    """A processor that several ranks share. free: first cycle in which a rank may use it. user: rank that used it last.
    waiting: heap of the ranks that wait for it and for nothing else."""

    free: int = 0
    user: int = -1
    waiting: list[int] = field(default_factory=list)


@dataclass
class _Running:
    """A rank during the replay. processor: None if no other rank uses it. until: the rank is free from this cycle.
    message, uses: what its next step needs beside that, the arrival of a message and the processor. now: cycle of its
    latest step. sent: the message that it has passed to a rank of its terminal in that step. end: cycle in which its
    program ended; -1: not yet. visit: cycle of its next visit; -1: none is due. is_waiting: it is in
    ``processor.waiting``."""

    rank: int
    processor: _Processor | None
    steps: Iterator[None] = field(default_factory=lambda: iter(()))
    intervals: list[Interval] = field(default_factory=list)
    until: int = 0
    message: Message | None = None
    uses: bool = False
    now: int = 0
    sent: Message | None = None
    end: int = -1
    visit: int = -1
    is_waiting: bool = False

    def ready(self) -> int:
        """Returns the cycle from which the next step needs at most the processor; -1 if its message has not been sent,
        or the program has ended."""
        if self.end >= 0 or (self.message and self.message.available < 0):
            return -1
        return max(self.until, self.message.available if self.message else 0)

    def goes_on(self, now: int) -> bool:
        """Returns whether the next step may be made in cycle ``now``."""
        return 0 <= self.ready() <= now and not (self.uses and self.processor and self.processor.free > now)

    def wait(self, until: int, what: str, number: int, message: Message, peer: int) -> None:
        if until > self.until:
            self.intervals.append(Interval(self.rank, self.until, until, what, peer, message.message, message.bytes,
                                           number))
            self.until = until

    def wait_for_interface(self, message: Message, number: int) -> None:
        """The rank goes on in the cycle after the interface has accepted the last packet."""
        self.wait(message.passed + 1, "interface", number, message, message.destination)


class Replay:
    """The program of a run. Give it every packet's creation and every message's arrival; ``run`` then returns the
    intervals of all ranks. kernels/traffic/program.hpp has the rules.

    calls: [rank][call]. payload: bytes of a message in a packet. send_overhead, recv_overhead: cycles. places: [rank];
    None: rank r runs on terminal r. threads: thread -> the rank that gets its messages."""

    def __init__(self, calls: Sequence[Sequence[Call]], payload: int, send_overhead: int, recv_overhead: int,
                 places: Sequence[Place] | None = None, threads: Mapping[int, int] | None = None):
        self.calls, self.send_overhead, self.recv_overhead = calls, send_overhead, recv_overhead
        self.places = places or [Place(rank) for rank in range(len(calls))]
        self.threads = threads or {}
        self.terminals: dict[int, list[int]] = {}  # terminal -> its ranks, rising
        for rank, place in enumerate(self.places):
            self.terminals.setdefault(place.terminal, []).append(rank)
        self.messages: dict[tuple[int, int], Message] = {}  # by destination and number there
        self.received: dict[tuple[int, int], Message] = {}  # by rank and number of the call that received it
        self.made: list[list[int]] = [[] for _ in calls]  # [rank][call] cycle in which the rank makes the call
        self.ends: list[int] = []  # [rank] cycle in which its program ends
        self._by_call: list[dict[int, Message]] = [{} for _ in calls]
        for rank, own in enumerate(calls):
            for number, (call, peer, amount, slot) in enumerate(own):
                if call in SENDS:
                    here = self.places[rank].terminal == self.places[peer].terminal
                    message = Message(rank, peer, slot, amount, 0 if here else packets_of(amount, payload), number,
                                      call == "notify", peer)
                    self.messages[peer, slot] = self._by_call[rank][number] = message
        # [rank] the messages that it sends through the network, in order, and the numbers of their calls
        self._sent = [[m for m in own.values() if m.packets] for own in self._by_call]
        self._calls_that_send = [[m.call for m in own] for own in self._sent]
        # terminal -> its messages in the order in which packets are numbered, and [message] packets up to its last one
        self._leaving = {t: [m for rank in ranks for m in self._sent[rank]] for t, ranks in self.terminals.items()}
        self._packets = {t: list(accumulate(m.packets for m in own)) for t, own in self._leaving.items()}
        self.arriving = {}  # (terminal, number among the messages that it receives) -> message
        # (terminal, number among its receives that are matched during the run) -> (mailbox, number there)
        self.receives: dict[tuple[int, int], tuple[int, int]] = {}
        self._matched: dict[tuple[int, int], Message] = {}  # (mailbox, number of the receive) -> its message
        received, posted = Counter(rank for rank, _ in self.messages), Counter[int]()
        for rank, own in enumerate(calls):
            for call, peer, _, slot in own:
                if call in RECEIVES and peer < 0:
                    posted[self._mailbox(rank)] = max(posted[self._mailbox(rank)], slot + 1)
        for terminal, ranks in self.terminals.items():
            first = receive = 0
            for rank in ranks:
                for slot in range(received[rank]):
                    self.arriving[terminal, first + slot] = self.messages[rank, slot]
                for slot in range(posted[rank]):
                    self.receives[terminal, receive + slot] = rank, slot
                first, receive = first + received[rank], receive + posted[rank]

    def _mailbox(self, rank: int) -> int:
        return self.threads.get(rank, rank)

    def match(self, terminal: int, receive: int, slot: int) -> None:
        """Records that message number ``slot`` of a terminal was matched with its receive number ``receive``."""
        message = self._matched[self.receives[terminal, receive]] = self.arriving[terminal, slot]
        message.in_run = True

    def _awaited(self, rank: int, peer: int, slot: int) -> Message:
        """Returns the message of a receive."""
        if peer >= 0:
            return self.messages[rank, slot]
        message = self._matched[self._mailbox(rank), slot]
        message.receiver = rank
        return message

    def packet_created(self, source: int, number: int, cycle: int) -> None:
        """Terminal ``source`` has created packet ``number``. Its packets are numbered in the order of its ranks, and of
        the calls of each rank."""
        self._accepted(self._leaving[source][bisect_right(self._packets[source], number)], cycle)

    def packet_to_created(self, destination: int, slot: int, cycle: int) -> None:
        """Records that a packet was created. slot: number of its message among those that ``destination`` receives."""
        self._accepted(self.arriving[destination, slot], cycle)

    @staticmethod
    def _accepted(message: Message, cycle: int) -> None:
        message.first = cycle if message.first < 0 else message.first
        message.passed = cycle  # until its next packet

    def run(self) -> list[list[Interval]]:
        """Returns the intervals of each rank, from cycle 0 to the program's end, without gaps."""
        users = Counter(place for place in self.places if place.processor is not None)
        processors = {place: _Processor() for place, number in users.items() if number > 1}
        all_ranks = [_Running(rank, processors.get(place)) for rank, place in enumerate(self.places)]
        for ranks in self.terminals.values():
            self._run_terminal({rank: all_ranks[rank] for rank in ranks})
        self.ends = [one.end for one in all_ranks]
        end = max(self.ends)
        for one in all_ranks:
            if one.end < end:
                one.intervals.append(Interval(one.rank, one.end, end, "done"))
        return [one.intervals for one in all_ranks]

    def _run_terminal(self, ranks: dict[int, _Running]) -> None:
        """Runs the ranks of a terminal. In each cycle it visits them in the order of their numbers. A rank that has got
        a message from a rank after it is visited once more, in a further round of visits."""
        queue: list[tuple[int, int]] = []  # (cycle, rank): visits, of which ``visit`` of the rank has the valid one

        def plan(rank: int, cycle: int) -> None:
            ranks[rank].visit = cycle
            heapq.heappush(queue, (cycle, rank))

        def plan_next(one: _Running) -> None:
            """Plans the next visit of a rank. Of the ranks that wait for a processor, only the first one needs one."""
            processor, ready = one.processor, one.ready()
            if not (one.uses and processor and processor.free > ready >= 0):
                if ready >= 0:
                    plan(one.rank, ready)
                return
            one.is_waiting = True
            heapq.heappush(processor.waiting, one.rank)
            if processor.waiting[0] == one.rank:
                plan(one.rank, processor.free)

        for one in ranks.values():
            one.steps = self._steps(one)
            next(one.steps, None)
            plan_next(one)
        while queue:
            now = queue[0][0]
            visits: list[tuple[int, int]] = []  # (round, rank)
            while queue and queue[0][0] == now:
                rank = heapq.heappop(queue)[1]
                if ranks[rank].visit == now:
                    ranks[rank].visit = -1
                    visits.append((0, rank))
            while visits:
                turn, rank = heapq.heappop(visits)
                one = ranks[rank]
                while one.goes_on(now):
                    processor = one.processor
                    if processor and one.is_waiting:
                        heapq.heappop(processor.waiting)  # the rank itself, because the others are not visited before
                        one.is_waiting = False
                    one.now = now
                    next(one.steps, None)
                    if processor and processor.waiting and processor.free > now:
                        plan(processor.waiting[0], processor.free)
                    sent, one.sent = one.sent, None
                    if sent and ranks[sent.receiver].message is sent:
                        heapq.heappush(visits, (turn + (sent.receiver < rank), sent.receiver))
                if not one.is_waiting:
                    plan_next(one)

    def _steps(self, one: _Running) -> Iterator[None]:
        """Makes the calls of a rank. Yields before each step that depends on other ranks of the terminal, or on which
        they depend; the caller sets ``one.now`` to the cycle of the step."""
        rank = one.rank
        for number, (call, peer, amount, slot) in enumerate(self.calls[rank]):
            busy, what, sent, awaited = 0, call, self._by_call[rank].get(number), None
            if call == "compute":
                busy = amount
            elif call in ("recv", "after"):
                awaited = self.received[rank, number] = self._awaited(rank, peer, slot)
                busy, what, peer = self.recv_overhead * (call == "recv"), "receive", awaited.source
            elif call == "wait":
                before = bisect_right(self._calls_that_send[rank], amount)
                if before:  # the interface accepts the messages of a rank in their order
                    one.wait_for_interface(self._sent[rank][before - 1], number)
            elif sent and not sent.is_notify:
                busy, what = self.send_overhead, "send"
            one.message, one.uses = awaited, bool(busy and one.processor)
            if one.uses or (awaited and not awaited.packets):
                yield
            if awaited:
                one.wait(awaited.available, "message" if call == "recv" else "after", number, awaited, peer)
            if one.uses and one.processor and one.until < one.now:
                one.intervals.append(Interval(rank, one.until, one.now, "processor", one.processor.user, call=number))
                one.until = one.now
            if awaited:
                awaited.received = one.until
            self.made[rank].append(one.until)
            if busy:
                message = sent or awaited
                of = (peer, message.message, message.bytes) if message else (-1, -1, -1)
                one.intervals.append(Interval(rank, one.until, one.until + busy, what, *of, number))
                one.until += busy
                if one.processor:
                    one.processor.free, one.processor.user = one.until, rank
            if sent and sent.packets:
                sent.ready = one.until
                if call == "send":
                    one.wait_for_interface(sent, number)
            elif sent:
                one.message, one.uses = None, False
                yield
                sent.ready = sent.first = sent.passed = sent.available = one.until
                one.sent = sent
        one.message, one.uses = None, False
        if self._sent[rank]:  # a program ends when its packets have been accepted
            one.wait_for_interface(self._sent[rank][-1], -1)
        one.end = one.until


def critical_path(ranks: Sequence[Sequence[Interval]], received: dict[tuple[int, int], Message]) -> list[Interval]:
    """Returns the intervals that determine the end of a program, without gaps, from its end back to cycle 0 and then in
    order of cycles.

    The path starts at the rank that ends last. Where that rank waited for a message, the path continues at the sender,
    in the cycle in which its processor handed over the message. The cycles between are the sender's intervals
    "interface" (until the last packet was accepted) and "network" (until the receiver could take the message). A
    message between ranks of a terminal, or a notify, has no cycles between. Where the rank waited for a processor, the
    path continues at the rank that used it. received: by rank and number of the call that received the message."""
    end = max((own[-1].end for own in ranks if own), default=0)
    rank = next((r for r, own in enumerate(ranks) if own and own[-1].end == end and own[-1].what != "done"), 0)
    by_end = [{interval.end: interval for interval in own} for own in ranks]
    path, now = [], end
    while now:
        interval = by_end[rank][now]
        if interval.what == "processor":
            rank = interval.peer
            continue
        if interval.what not in ("message", "after"):
            path.append(interval)
            now = interval.begin
            continue
        m = received[rank, interval.call]
        for begin, to, what in ((m.passed, now, "network"), (m.ready, m.passed, "interface")):
            if begin < to:
                path.append(Interval(m.source, begin, to, what, m.destination, m.message, m.bytes, m.call))
        rank, now = m.source, m.ready
    return path[::-1]
