"""Execution plans of MSCCL++ become programs. Each thread block runs its operations in order. Data that a GPU puts to
another one, data that it reads there, and signals are messages (docs/workloads.md)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.programs import Program
from flitlab.workloads.graph import Call, Compute, Graph, Receive, Send
from flitlab.workloads.plan_file import KINDS, Chunks, Operation, read_plan_file

SIGNAL_BYTES = 8  # a signal adds to a semaphore of 8 bytes
REQUEST_BYTES = 8  # a read sends an address first
PACKET_FACTOR = 2  # bytes of packets (data and flags) for each byte of data
MOST_OPERATIONS = 20_000  # of a GPU, with each repetition of a pipeline


def is_plan(data: bytes) -> bool:
    """Returns whether a file that begins with ``data`` is an execution plan."""
    return data.lstrip().startswith(b"{") and b'"gpus"' in data


def read_plan(path: Path, size: int, combine: float) -> Program:
    """Returns the program of a plan. size: bytes of the input of a GPU; in an allgather, of its output. combine: cycles
    to add a byte to another one. GPU g becomes terminal g. Raises ConfigError."""
    return _Plan(path, size, combine).graph.program()


@dataclass
class _Put:
    """A message. call: the call of its sender that sends it. channel: the port channel that carries it, -1 for memory
    channels. packets: whether its readers wait for the data, not for a signal. consumers: calls of the receiver that
    wait for it."""

    gpu: int
    peer: int
    bytes: int
    call: int
    channel: int
    where: str
    key: int
    packets: bool = False
    consumers: list[int] = field(default_factory=list)


@dataclass
class _Event:
    """A signal that a GPU sends on a channel, or its wait for one."""

    call: int
    where: str
    relaxed: bool
    key: int = 0


class _Plan:
    """Builds the graph of a plan. Calls are numbered for each GPU."""

    def __init__(self, path: Path, size: int, combine: float):
        self.path, self.combine = path, combine
        self.gpus = read_plan_file(path, size)
        self.graph = Graph(len(self.gpus), str(path))
        self.keys = 0
        # [gpu][call] the calls that come before it in their thread block, or synchronize with it. A send on a port
        # channel comes before the next call, which does not wait for it.
        self.before: list[list[list[int]]] = [[] for _ in self.gpus]
        self.puts: list[list[_Put]] = [[] for _ in self.gpus]
        self.signals: dict[tuple[int, str, int], list[_Event]] = defaultdict(list)  # (GPU, type, channel)
        self.waits: dict[tuple[int, str, int], list[_Event]] = defaultdict(list)
        # (GPU, buffer) -> bytes of packets, and the message or the call of this GPU that writes them
        self.written: dict[tuple[int, str], list[tuple[int, int, _Put | int]]] = defaultdict(list)
        self.awaited: list[tuple[int, int, Chunks, str]] = []  # GPU, call, the packets that it reads, their place
        self.flushes: list[tuple[int, int, list[int]]] = []  # GPU, call, its port channels
        for number, gpu in enumerate(self.gpus):
            left = MOST_OPERATIONS
            barriers: dict[tuple[int, int], _Barrier] = {}
            semaphores: dict[int, tuple[list[_Use], list[_Use]]] = defaultdict(lambda: ([], []))
            for i in range(len(gpu.blocks)):
                left -= _Block(self, number, i, barriers, semaphores, left).count
            for meeting in barriers.values():
                if len(meeting.blocks) != meeting.expected:
                    self.fail(meeting.where, f"num_threadblocks = {meeting.expected}, but {len(meeting.blocks)} thread "
                                             "blocks reach this barrier as often. Correct one of the two")
            for semaphore, uses in semaphores.items():
                self._pair_semaphores(number, gpu.semaphores[semaphore], *uses)
        self._match()

    def fail(self, where: str, what: str):
        raise ConfigError(f"{self.path}: {where}: {what}.")

    def new_key(self) -> int:
        self.keys += 1
        return self.keys

    def add(self, gpu: int, call: Call, before: list[int]) -> int:
        self.graph.calls[gpu].append(call)
        self.before[gpu].append(before)
        return len(self.graph.calls[gpu]) - 1

    def _pair_semaphores(self, gpu: int, first: int, releases: list[_Use], acquires: list[_Use]) -> None:
        """The k-th acquire waits for release k - first. Which one that is must not depend on the run."""
        for k, use in enumerate(acquires):
            needed = k + 1 - first
            if needed <= 0 and len(acquires) <= first:
                continue
            if needed > len(releases):
                self.fail(use.where, f"it waits for release {needed} of the semaphore, which is released "
                                     f"{len(releases)} times, and begins at {first}. Add a sem_release")
            if len({other.block for other in acquires}) > 1 or (len({other.block for other in releases}) > 1
                                                                and 0 < needed < len(releases)):
                self.fail(use.where, "several thread blocks acquire or release this semaphore, so that their order "
                                     "depends on the run. Use a semaphore for each pair of thread blocks")
            if needed > 0:
                ends = [releases[needed - 1]] if needed < len(releases) else releases
                for other in ends:
                    self.graph.calls[gpu][use.call].after.append(other.call)
                    self.before[gpu][use.call].append(other.call)

    def _match(self) -> None:
        earlier = [_earlier(before) for before in self.before]
        for gpu, call, channels in self.flushes:
            self.graph.calls[gpu][call].after += [put.call for put in self.puts[gpu] if put.channel in channels
                                                  and earlier[gpu][call] >> put.call & 1]
        for events, what in ((self.signals, "signal on"), (self.waits, "wait at")):
            for (gpu, _, _), found in events.items():
                found.sort(key=lambda event, known=earlier[gpu]: (known[event.call].bit_count(), event.call))
                for one, two in itertools.pairwise(found):
                    if one.call != two.call and not earlier[gpu][two.call] >> one.call & 1:
                        self.fail(two.where, f"two thread blocks {what} the same channel, so that their order depends "
                                             "on the run. Use a channel for each of them")
        self._match_signals(earlier)
        self._match_packets()
        for puts in self.puts:
            for put in puts:
                self.deliver(put)

    def _ends(self, gpu: int, kind: str, channel: int) -> tuple[int, str, int] | None:
        """Returns the other end of a channel: the k-th channel from a to b belongs to the k-th one from b to a."""
        peers = self.gpus[gpu].channels[kind]
        k = peers[:channel].count(peers[channel])
        back = [i for i, other in enumerate(self.gpus[peers[channel]].channels[kind]) if other == gpu]
        return (peers[channel], kind, back[k]) if k < len(back) else None

    def _match_signals(self, earlier: list[list[int]]) -> None:
        unused = dict(self.waits)
        for (gpu, kind, channel), signals in self.signals.items():
            end = self._ends(gpu, kind, channel)
            waits = unused.pop(end, []) if end else []
            peer = self.gpus[gpu].channels[kind][channel]
            self._enough(waits, len(signals), gpu, end[2] if end else 0)
            left = [put for put in self.puts[gpu] if put.peer == peer and not put.packets
                    and put.channel == (channel if kind == "port" else -1)]
            for k, signal in enumerate(signals):
                message = _Put(gpu, peer, SIGNAL_BYTES, signal.call, -1, signal.where, signal.key)
                if k < len(waits):
                    message.consumers.append(waits[k].call)
                if k < len(waits) and not signal.relaxed:
                    known = earlier[gpu][signal.call]
                    for put in left:
                        if known >> put.call & 1:
                            put.consumers.append(waits[k].call)
                    left = [put for put in left if not known >> put.call & 1]
                self.deliver(message)
        for (gpu, kind, channel), waits in unused.items():
            self._enough(waits, 0, self.gpus[gpu].channels[kind][channel], channel)

    def _enough(self, waits: list[_Event], signals: int, sender: int, channel: int) -> None:
        if len(waits) > signals:
            self.fail(waits[signals].where, f"it waits for signal {signals + 1} of GPU {sender} on channel {channel}; "
                                            f"GPU {sender} sends {signals}. The k-th channel from a GPU to another one "
                                            "belongs to the k-th one back. Add the signal, or remove the wait")

    def _match_packets(self) -> None:
        for gpu, call, chunks, where in self.awaited:
            end = chunks.first + chunks.bytes
            writers = sorted((one for one in self.written[chunks.gpu, chunks.buffer]
                              if one[0] < end and one[1] > chunks.first), key=lambda one: one[:2])
            reached = chunks.first
            for first, last, writer in writers:
                reached = max(reached, last) if first <= reached else reached
                if isinstance(writer, _Put):
                    writer.consumers.append(call)
                elif writer != call:
                    self.graph.calls[gpu][call].after.append(writer)
            if reached < end:
                self.fail(where, f"it waits for packets from byte {reached} of the buffer {chunks.buffer} on, which no "
                                 "operation writes. Add the operation that writes them")

    def deliver(self, message: _Put) -> None:
        """Adds the receive of a message. The only call that waits for it receives it; otherwise a call of its own
        does."""
        receive = Receive(message.gpu, message.bytes, message.key)
        calls = self.graph.calls[message.peer]
        consumers = sorted(set(message.consumers))
        if len(consumers) == 1:
            calls[consumers[0]].parts.insert(0, receive)
            return
        arrival = self.add(message.peer, Call([receive], where=message.where), [])
        for call in consumers:
            calls[call].after.append(arrival)


@dataclass
class _Barrier:
    call: int
    expected: int
    where: str
    blocks: list[int] = field(default_factory=list)


@dataclass
class _Use:
    """A thread block's use of a semaphore."""

    block: int
    call: int
    where: str


class _Block:
    """Adds the calls of a thread block to a plan. count: number of its operations."""

    def __init__(self, plan: _Plan, gpu: int, block: int, barriers: dict[tuple[int, int], _Barrier],
                 semaphores: dict[int, tuple[list[_Use], list[_Use]]], most: int):
        self.plan, self.gpu, self.block = plan, gpu, block
        self.barriers, self.semaphores = barriers, semaphores
        self.waited: list[int] = []  # calls that must end before the next one begins
        self.before: list[int] = []  # calls that come before the next one
        self.turns: dict[int, int] = defaultdict(int)  # barrier -> how often this thread block has reached it
        self.servers: dict[int, int] = {}  # GPU -> its last call that sends data that this thread block reads
        self.count = 0
        for op, offset, unit in self._expanded(plan.gpus[gpu].blocks[block]):
            self.count += 1
            if self.count > most:
                plan.fail(op.where, f"GPU {gpu} has more than {MOST_OPERATIONS} operations at this size. Choose a "
                                    "larger unit_size, or a smaller size")
            self._run(op, offset, unit)

    @staticmethod
    def _expanded(operations: list[Operation]) -> Iterator[tuple[Operation, int, int]]:
        """Yields operations, and for each the first byte of its buffers that it handles, and the number of bytes."""
        for op in operations:
            if op.name != "pipeline":
                yield op, 0, 2**63
                continue
            for turn in range(op.repeat[0]):
                for inner in op.operations:
                    yield inner, turn * op.repeat[1], op.repeat[1]

    def _add(self, parts: list, where: str, posted: bool = False) -> int:
        """Adds the next call. posted: the calls after it do not wait for it."""
        call = self.plan.add(self.gpu, Call(parts, list(self.waited), where=where), list(self.before))
        self.before = [call]
        if not posted:
            self.waited = [call]
        return call

    def _run(self, op: Operation, offset: int, unit: int) -> None:
        if op.name in KINDS:
            self._move(op, offset, unit)
        elif op.name in ("signal", "rlxsignal"):
            self._signal(op)
        elif op.name in ("wait", "rlxwait"):
            call = self._add([], op.where)
            for channel in op.channels:
                self.plan.waits[self.gpu, op.channel_type, channel].append(_Event(call, op.where, False))
        elif op.name == "flush":
            self._flush(op)
        elif op.name == "barrier":
            self._barrier(op)
        elif op.semaphores:
            call = self._add([], op.where)
            for semaphore in op.semaphores:
                self.semaphores[semaphore][op.name == "sem_acquire"].append(_Use(self.block, call, op.where))

    def _signal(self, op: Operation) -> None:
        for channel in op.channels:
            key, peer = self.plan.new_key(), self.plan.gpus[self.gpu].channels[op.channel_type][channel]
            call = self._add([Send(peer, SIGNAL_BYTES, key)], op.where, posted=True)
            relaxed = op.name == "rlxsignal"
            self.plan.signals[self.gpu, op.channel_type, channel].append(_Event(call, op.where, relaxed, key))

    def _flush(self, op: Operation) -> None:
        self.plan.flushes.append((self.gpu, self._add([], op.where), op.channels))

    def _barrier(self, op: Operation) -> None:
        number, expected = op.barrier
        key = number, self.turns[number]
        self.turns[number] += 1
        if key not in self.barriers:
            self.barriers[key] = _Barrier(self.plan.add(self.gpu, Call([], where=op.where), []), expected, op.where)
        meeting = self.barriers[key]
        meeting.blocks.append(self.block)
        self.plan.graph.calls[self.gpu][meeting.call].after += self.waited
        self.plan.before[self.gpu][meeting.call] += self.before
        if meeting.expected != expected:
            self.plan.fail(op.where, f"num_threadblocks = {expected}, but {meeting.where} has {meeting.expected} for "
                                     "the same barrier. Correct one of the two")
        self.waited, self.before = [meeting.call], [meeting.call]

    def _move(self, op: Operation, offset: int, unit: int) -> None:
        """Adds a call for the part of an operation that reads, adds and writes ``unit`` bytes from ``offset`` on."""
        kind, plan = KINDS[op.name], self.plan
        sources, targets = ([Chunks(c.gpu, c.buffer, c.first + offset, min(unit, max(0, c.bytes - offset)))
                             for c in chunks] for chunks in (op.sources, op.targets))
        reads = [c for c in sources[kind.remote_sources:] if c.bytes]
        port = op.channel_type == "port"
        remote = targets[kind.remote_targets:]
        writes = [(c, channel) for c, channel in zip(remote, op.channels if port else [-1] * len(remote), strict=True)
                  if c.bytes]
        awaited = [c for c in sources[kind.packet_sources:] if c.bytes]
        packets = kind.packet_targets < 99
        keys = [plan.new_key() for _ in reads]
        parts: list[Send | Receive | Compute] = [Send(c.gpu, REQUEST_BYTES, ("request", key))
                                                 for c, key in zip(reads, keys, strict=True)]
        parts += [Receive(c.gpu, c.bytes, key) for c, key in zip(reads, keys, strict=True)]
        if kind.adds and (cycles := round(self.plan.combine * sources[0].bytes * (len(sources) - 1))):
            parts.append(Compute(cycles))
        sends = [_Put(self.gpu, c.gpu, c.bytes * (PACKET_FACTOR if packets else 1), 0, channel, op.where,
                      plan.new_key(), packets) for c, channel in writes]
        messages = [Send(put.peer, put.bytes, put.key) for put in sends]
        if not port or awaited:
            call = self._add(parts + ([] if port else messages), op.where)
            plan.awaited += [(self.gpu, call, c, op.where) for c in awaited]
            for c in targets[kind.packet_targets:kind.remote_targets]:
                plan.written[c.gpu, c.buffer].append((c.first, c.first + c.bytes, call))
        for put, message in zip(sends, messages, strict=True):
            put.call = self._add([message], op.where, posted=True) if port else call
        plan.puts[self.gpu] += sends
        if packets:
            for put, (c, _) in zip(sends, writes, strict=True):
                plan.written[c.gpu, c.buffer].append((c.first, c.first + c.bytes, put))
        self._serve(op, reads, keys)
        if kind.signals:
            self._signal(op)
        if kind.flushes:
            self._flush(op)

    def _serve(self, op: Operation, reads: list[Chunks], keys: list[int]) -> None:
        """Adds the calls of other GPUs that answer the requests of a read, one after the other for a thread block."""
        for c, key in zip(reads, keys, strict=True):
            parts: list[Send | Receive | Compute] = [Receive(self.gpu, REQUEST_BYTES, ("request", key)),
                                                     Send(self.gpu, c.bytes, key)]
            before = [self.servers[c.gpu]] if c.gpu in self.servers else []
            self.servers[c.gpu] = self.plan.add(c.gpu, Call(parts, before, where=op.where), list(before))


def _earlier(before: list[list[int]]) -> list[int]:
    """Returns for each call the calls that come before it, as a number whose bit i stands for call i."""
    dependents: dict[int, list[int]] = defaultdict(list)
    missing = [len(set(calls)) for calls in before]
    for i, calls in enumerate(before):
        for needed in set(calls):
            dependents[needed].append(i)
    known = [0] * len(before)
    ready = [i for i, count in enumerate(missing) if not count]
    while ready:  # calls that wait in a circle are never ready; Graph.program() rejects them
        i = ready.pop()
        for other in dependents[i]:
            known[other] |= known[i] | 1 << i
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return known
