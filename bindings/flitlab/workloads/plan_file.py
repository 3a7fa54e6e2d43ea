"""Execution plans of MSCCL++ (JSON): the file, checked and with all sizes in bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown

MOST_GPUS = 2**16
_BUFFERS = {"i": "input", "o": "output", "s": "scratch"}


@dataclass(frozen=True)
class Kind:
    """What an operation with buffers does. The sources from ``remote_sources`` on, and the targets from
    ``remote_targets`` on, are buffers of other GPUs; the others are its own GPU's. With packets (protocol LL), a reader
    waits for the data itself: the sources from ``packet_sources`` on, and the targets from ``packet_targets`` on, are
    packets. adds: it adds its sources."""

    remote_sources: int = 99
    remote_targets: int = 99
    packet_sources: int = 99
    packet_targets: int = 99
    adds: bool = False
    port: bool = False  # whether it may use a port channel
    signals: bool = False
    flushes: bool = False


KINDS = {
    "copy": Kind(), "cpkt": Kind(packet_targets=0), "upkt": Kind(packet_sources=0),
    "put": Kind(remote_targets=0, port=True), "pws": Kind(remote_targets=0, port=True, signals=True),
    "pwsf": Kind(remote_targets=0, port=True, signals=True, flushes=True),
    "ppkt": Kind(remote_targets=0, packet_targets=0, port=True),
    "rppkt": Kind(remote_targets=0, packet_sources=0, packet_targets=0, port=True),
    "get": Kind(remote_sources=0), "re": Kind(adds=True), "res": Kind(remote_targets=1, adds=True),
    "rre": Kind(remote_sources=1, adds=True), "rres": Kind(remote_sources=1, remote_targets=1, adds=True),
    "repkt": Kind(packet_sources=1, adds=True), "recpkt": Kind(packet_sources=1, packet_targets=1, adds=True),
    "respkt": Kind(packet_sources=1, remote_targets=1, packet_targets=1, adds=True),
    "recspkt": Kind(packet_sources=1, remote_targets=2, packet_targets=1, adds=True),
}
_SYNCHRONIZATION = ["nop", "barrier", "signal", "rlxsignal", "wait", "rlxwait", "flush", "sem_acquire", "sem_release",
                    "pipeline"]
_SWITCH = ["glre", "glres", "gstore", "gstorepkt"]


@dataclass(frozen=True)
class Chunks:
    """Bytes of a buffer of a GPU: ``first`` to ``first + bytes - 1``."""

    gpu: int
    buffer: str
    first: int
    bytes: int


@dataclass
class Operation:
    """An operation of a thread block. where: its place in the file. channels: numbers of the channels of its GPU, of
    type ``channel_type``. barrier: number of the barrier and of the thread blocks that reach it. repeat: number of
    times that a pipeline runs its operations, and bytes that each time has."""

    name: str
    where: str
    sources: list[Chunks] = field(default_factory=list)
    targets: list[Chunks] = field(default_factory=list)
    channel_type: str = ""
    channels: list[int] = field(default_factory=list)
    barrier: tuple[int, int] = (0, 0)
    semaphores: list[int] = field(default_factory=list)
    repeat: tuple[int, int] = (1, 0)
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Gpu:
    """channels: type -> the GPU at the other end of each channel. semaphores: their first values."""

    channels: dict[str, list[int]]
    semaphores: list[int]
    blocks: list[list[Operation]] = field(default_factory=list)


class Table:
    """An object of the file, and its place there, for messages."""

    def __init__(self, file: Path, where: str, value: Any):
        self.file, self.where, self.value = file, where, value
        if not isinstance(value, Mapping):
            self.fail(f"{shown(value)}: it must be an object, {{...}}")

    def fail(self, what: str):
        end = "" if what.endswith("?") else "."
        raise ConfigError(f"{self.file}: {f'{self.where}: ' if self.where else ''}{what}{end}")

    def number(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self.value.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.fail(f"{name} = {shown(value)}: it must be a whole number from {least} to {most}" if name in self.value
                      else f"{name} is missing: give a whole number from {least} to {most}")
        return value

    def word(self, name: str, allowed: Sequence[str]) -> str:
        value = self.value.get(name)
        if value not in allowed:
            hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
            self.fail(f"{name} = {shown(value)}: it must be one of {', '.join(allowed)}{hint and '.' + hint}")
        return value

    def values(self, name: str, needed: bool = False) -> list[Any]:
        value = self.value.get(name, None if needed else [])
        if not isinstance(value, list):
            self.fail(f"{name} = {shown(value)}: it must be a list, [...]")
        return value

    def tables(self, name: str, needed: bool = False) -> Iterator[Table]:
        start = f"{self.where}." if self.where else ""
        for i, value in enumerate(self.values(name, needed)):
            yield Table(self.file, f"{start}{name}[{i}]", value)

    def numbers(self, name: str, most: int, what: str) -> list[int]:
        for i, value in enumerate(values := self.values(name)):
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < most:
                self.fail(f"{name}[{i}] = {shown(value)}: it must be the number of a {what}"
                          + (f", 0 to {most - 1}" if most else ", but there is none"))
        return values


def read_plan_file(path: Path, size: int) -> list[Gpu]:
    """Returns the GPUs of a plan. size: bytes of the input of a GPU; in an allgather, of its output. Raises
    ConfigError."""
    try:
        tree = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: this is not JSON: {error}. The file is damaged or incomplete.") from None
    top = Table(path, "", tree)
    least = top.number("min_message_size", 0, 2**64 - 1, 0)
    most = top.number("max_message_size", 0, 2**64 - 1, 2**64 - 1)
    if not least <= size <= most:
        top.fail(f"size = {size}: the plan is for {least} to {most} bytes (min_message_size, max_message_size). Choose "
                 "such a size, or another plan")
    tables = list(top.tables("gpus", needed=True))
    if not 1 <= len(tables) <= MOST_GPUS:
        top.fail(f"gpus: it has {len(tables)} GPUs; 1 to {MOST_GPUS} are possible")
    alignment = top.number("buffer_alignment", 1, 2**20, 16)
    chunks = [{buffer: table.number(f"{name}_chunks", 0, 2**31 - 1) for buffer, name in _BUFFERS.items()}
              for table in tables]
    gathers = top.value.get("collective") == "allgather"
    return [_Reader(table, i, chunks, size, alignment, gathers).gpu() for i, table in enumerate(tables)]


class _Reader:
    """Reads a GPU of the file."""

    def __init__(self, table: Table, number: int, all_chunks: list[dict[str, int]], size: int, alignment: int,
                 gathers: bool):
        self.table, self.number, self.all_chunks, self.alignment = table, number, all_chunks, alignment
        gpus = len(all_chunks)
        table.number("id", number, number)
        read, written, _ = all_chunks[number].values()
        chunks = (written or read) if gathers else (read or written)
        if size % max(1, chunks * alignment):
            table.fail(f"size = {size}: it must be a multiple of {chunks * alignment} bytes, because the plan divides "
                       f"the buffer into {chunks} chunks that are multiples of {alignment} bytes (buffer_alignment)")
        self.chunk = size // chunks if chunks else None  # bytes
        self.channels: dict[str, list[int]] = {"memory": [], "port": []}
        for channel in table.tables("channels"):
            if (kind := channel.word("channel_type", ["memory", "port", "switch"])) != "switch":
                self.channels[kind] += channel.numbers("connected_to", gpus, "GPU")
        # Buffers of other GPUs: the GPU, the buffer, and the types of channels that may access it.
        self.remote = [(buffer.number("rank", 0, gpus - 1), buffer.word("type", list(_BUFFERS)),
                        buffer.values("access_channel_types")) for buffer in table.tables("remote_buffers")]

    def gpu(self) -> Gpu:
        semaphores = [one.number("init_value", 0, 2**31 - 1) for one in self.table.tables("semaphores")]
        gpu = Gpu(self.channels, semaphores)
        for i, block in enumerate(self.table.tables("threadblocks", needed=True)):
            block.number("id", i, i)
            channels: dict[str, list[int]] = {"memory": [], "port": []}
            buffers: dict[str, list[int]] = {"memory": [], "port": []}
            for one in block.tables("channels"):
                if (kind := one.word("channel_type", ["memory", "port", "switch"])) != "switch":
                    channels[kind] += one.numbers("channel_ids", len(self.channels[kind]), f"{kind} channel of the GPU")
            for one in block.tables("remote_buffer_refs"):
                kind = one.word("access_channel_type", ["memory", "port"])
                buffers[kind] += one.numbers("remote_buffer_ids", len(self.remote), "buffer in remote_buffers")
            gpu.blocks.append([self.operation(op, channels, buffers, semaphores) for op in block.tables("ops", True)])
        return gpu

    def operation(self, table: Table, channels: dict[str, list[int]], buffers: dict[str, list[int]],
                  semaphores: list[int], inner: bool = False) -> Operation:
        name = table.value.get("name")
        if name in _SWITCH or table.value.get("channel_type") == "switch":
            table.fail(f"{shown(name)} uses a switch channel (NVLS), whose switch copies or adds the data of several "
                       "GPUs. flitlab does not emulate this. Use a plan with memory or port channels only")
        table.word("name", [*KINDS, *_SYNCHRONIZATION])
        op = Operation(name, f"{table.where} ({name})")
        table.where = op.where
        kind = KINDS.get(name)
        if inner and (name == "pipeline" or (kind and min(kind.packet_sources, kind.packet_targets) < 99)):
            table.fail("a pipeline cannot contain pipelines or operations with packets. Write them after one another")
        if name in ("signal", "rlxsignal", "wait", "rlxwait", "flush"):
            self._channels(table, op, channels, ["port"] if name == "flush" else ["memory", "port"])
        if kind:
            self._chunks(table, op, kind, channels, buffers)
        if name == "barrier":
            op.barrier = table.number("barrier_id", 0, 2**31 - 1), table.number("num_threadblocks", 1, 2**31 - 1)
        if name in ("sem_acquire", "sem_release"):
            op.semaphores = table.numbers("semaphore_ids", len(semaphores), "semaphore of the GPU")
        if name == "pipeline":
            context = Table(table.file, f"{table.where}.iter_context", table.value.get("iter_context"))
            unit = context.number("unit_size", 1, 2**63)
            op.repeat = -(-context.number("num_chunks", 0, 2**31 - 1) * (self.chunk or 0) // unit), unit
            op.operations = [self.operation(one, channels, buffers, semaphores, True)
                             for one in table.tables("ops", needed=True)]
        return op

    def _channels(self, table: Table, op: Operation, channels: dict[str, list[int]], allowed: list[str]) -> None:
        op.channel_type = table.word("channel_type", allowed)
        own = channels[op.channel_type]
        op.channels = [own[i] for i in table.numbers("channel_ids", len(own),
                                                     f"{op.channel_type} channel of its thread block")]

    def _chunks(self, table: Table, op: Operation, kind: Kind, channels: dict[str, list[int]],
                buffers: dict[str, list[int]]) -> None:
        if min(kind.remote_sources, kind.remote_targets) < 99:
            allowed = ["port"] if kind.signals else ["memory", "port"] if kind.port else ["memory"]
            op.channel_type = table.word("channel_type", allowed)
        piece = (0, 1)
        if "tbg_info" in table.value:
            group = Table(table.file, f"{table.where}.tbg_info", table.value["tbg_info"])
            count = group.number("tbg_size", 1, 2**20)
            piece = group.number("tb_id", 0, count - 1), count
        for name, remote, chunks in (("src_buff", kind.remote_sources, op.sources),
                                     ("dst_buff", kind.remote_targets, op.targets)):
            for i, one in enumerate(table.tables(name, needed=True)):
                chunks.append(self._one(one, buffers[op.channel_type] if i >= remote else None, op.channel_type, piece))
            if not chunks:
                table.fail(f"{name} is empty: give a buffer")
        if op.channel_type == "port":
            self._channels(table, op, channels, ["port"])
            peers = [self.channels["port"][channel] for channel in op.channels]
            if peers != [chunks.gpu for chunks in op.targets]:
                table.fail(f"its channels lead to the GPUs {peers}, its targets are on the GPUs "
                           f"{[chunks.gpu for chunks in op.targets]}. Name one channel for each target, in this order")

    def _one(self, table: Table, remote: list[int] | None, channel_type: str, piece: tuple[int, int]) -> Chunks:
        if remote is None:
            gpu, buffer = self.number, table.word("type", list(_BUFFERS))
        else:
            number = table.number("buffer_id", 0, max(0, len(remote) - 1))
            if not remote:
                table.fail(f"its thread block has no remote buffers of {channel_type} channels (remote_buffer_refs)")
            gpu, buffer, access = self.remote[remote[number]]
            if gpu == self.number or channel_type not in access:
                table.fail(f"buffer_id = {number} is a buffer of GPU {gpu} for the channel types {shown(access)}: it "
                           f"must be of another GPU, and have the type {channel_type}")
        index, count = table.number("index", 0, 2**31 - 1), table.number("size", 0, 2**31 - 1)
        if self.chunk is None:
            self.table.fail("input_chunks and output_chunks are 0, so that its chunks have no size. Give one of them")
        if index + count > (chunks := self.all_chunks[gpu][buffer]):
            table.fail(f"index = {index}, size = {count}: the {_BUFFERS[buffer]} buffer of GPU {gpu} has {chunks} "
                       f"chunks ({_BUFFERS[buffer]}_chunks)")
        units, (part, parts) = count * self.chunk // self.alignment, piece
        begin, end = (i * (units // parts) + min(i, units % parts) for i in (part, part + 1))
        return Chunks(gpu, buffer, index * self.chunk + begin * self.alignment, (end - begin) * self.alignment)
