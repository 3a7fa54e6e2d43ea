"""MSCCL: collective algorithms as XML. Each thread block of a GPU runs its steps in order, and waits for steps of other
thread blocks of its GPU where the file says so."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.programs import Program

# Type of a step -> whether it receives, combines what it has received with its own data, and sends.
_STEPS = {"s": (False, False, True), "r": (True, False, False), "rcs": (True, False, True), "rrc": (True, True, False),
          "rrs": (True, True, True), "rrcs": (True, True, True), "re": (False, True, False),
          "cpy": (False, False, False), "nop": (False, False, False)}


def is_msccl(data: bytes) -> bool:
    """Returns whether a file that begins with ``data`` is MSCCL XML."""
    return data.lstrip().startswith((b"<algo", b"<?xml")) and b"<algo" in data


@dataclass
class _Block:
    """A thread block: its rank in the program, its GPU and the GPUs with which it exchanges messages (-1: none)."""

    rank: int
    gpu: int
    send: int
    receive: int
    channel: int
    steps: list[xml.Element]


def read_msccl(path: Path, size: int, combine: float) -> Program:
    """Returns the program of an algorithm. size: bytes of the buffer that the algorithm divides into chunks. combine:
    cycles to add a byte to another one. GPU g becomes terminal g. Raises ConfigError."""
    try:
        top = xml.fromstring(path.read_bytes())
    except xml.ParseError as error:
        raise ConfigError(f"{path}: this is not XML: {error}.") from None
    chunks, gpus = _number(top, "nchunksperloop", path), _number(top, "ngpus", path)
    if chunks < 1 or gpus < 1:
        raise ConfigError(f"{path}: nchunksperloop = {chunks} and ngpus = {gpus}: both must be at least 1.")
    blocks: dict[tuple[int, int], _Block] = {}
    for gpu in top.findall("gpu"):
        for block in gpu.findall("tb"):
            key = _number(gpu, "id", path), _number(block, "id", path)
            if key in blocks:
                raise ConfigError(f"{path}: GPU {key[0]} has two thread blocks {key[1]}. Give them different numbers.")
            send, receive, channel = (_number(block, name, path) for name in ("send", "recv", "chan"))
            blocks[key] = _Block(len(blocks), key[0], send, receive, channel, block.findall("step"))
    if not blocks or max(gpu for gpu, _ in blocks) >= gpus:
        raise ConfigError(f"{path}: it must have thread blocks (tb) of the GPUs 0 to {gpus - 1}.")
    program = Program(len(blocks), str(path))
    for block in blocks.values():
        program.place(block.rank, block.gpu)
    _Steps(path, program, blocks, size, chunks, combine).add()
    return program


def _number(element: xml.Element, name: str, path: Path, default: int | None = None) -> int:
    text = element.get(name)
    if text is None and default is not None:
        return default
    try:
        return int(text or "")
    except ValueError:
        raise ConfigError(f"{path}: <{element.tag}> has {name} = {text!r}: it must be a whole number.") from None


class _Steps:
    """Adds the steps of all thread blocks to a program."""

    def __init__(self, path: Path, program: Program, blocks: dict[tuple[int, int], _Block], size: int, chunks: int,
                 combine: float):
        self.path, self.program, self.blocks = path, program, blocks
        self.size, self.chunks, self.combine = size, chunks, combine
        self.receivers: dict[tuple[int, int, int], int] = {}
        self.senders: dict[tuple[int, int, int], int] = {}
        for b in blocks.values():
            for ends, peer in ((self.receivers, b.receive), (self.senders, b.send)):
                if peer >= 0 and ends.setdefault((b.gpu, peer, b.channel), b.rank) != b.rank:
                    raise ConfigError(f"{path}: two thread blocks of GPU {b.gpu} exchange messages with GPU {peer} in "
                                      f"the same direction on channel {b.channel}. Use another channel for one.")

    def add(self) -> None:
        tags: dict[tuple[int, int], int] = defaultdict(int)
        notices: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
        waits: dict[tuple[int, int, int], tuple[int, int]] = {}
        for (gpu, number), block in self.blocks.items():
            for i, step in enumerate(block.steps):
                needed, at = (_number(step, name, self.path, -1) for name in ("depid", "deps"))
                if needed < 0 or needed == number:
                    continue
                if (gpu, needed) not in self.blocks or not 0 <= at < len(self.blocks[gpu, needed].steps):
                    self._fail(block, i, f"it waits for step {at} of thread block {needed}, which does not exist")
                pair = self.blocks[gpu, needed].rank, block.rank
                tags[pair] += 1
                notices[gpu, needed, at].append((block.rank, tags[pair]))
                waits[gpu, number, i] = pair[0], tags[pair]
        for (gpu, number), block in self.blocks.items():
            for i in range(len(block.steps)):
                if (gpu, number, i) in waits:
                    self.program[block.rank].after(*waits[gpu, number, i])
                self._step(block, i)
                for peer, tag in notices[gpu, number, i]:
                    self.program[block.rank].notify(peer, tag)

    def _step(self, block: _Block, i: int) -> None:
        step, me = block.steps[i], self.program[block.rank]
        kind = step.get("type", "")
        if kind not in _STEPS:
            self._fail(block, i, f"type {kind!r} is unknown: it must be one of {', '.join(_STEPS)}")
        receives, combines, sends = _STEPS[kind]
        count = _number(step, "cnt", self.path)
        if min(count, _number(step, "srcoff", self.path, 0), _number(step, "dstoff", self.path, 0)) < 0:
            self._fail(block, i, "cnt, srcoff and dstoff must not be negative")
        if _number(step, "s", self.path, i) != i:
            self._fail(block, i, f"it has the number s = {step.get('s')}: steps are in order, from 0")
        if receives:
            sender = self.senders.get((block.receive, block.gpu, block.channel))
            if sender is None:
                self._fail(block, i, f"no thread block of GPU {block.receive} sends to this one on channel "
                                     f"{block.channel}")
            me.recv(sender)
        if combines and (cycles := round(self.combine * self._bytes(step, "dstoff", count))):
            me.compute(cycles)
        if sends:
            receiver = self.receivers.get((block.send, block.gpu, block.channel))
            if receiver is None:
                self._fail(block, i, f"no thread block of GPU {block.send} receives from this one on channel "
                                     f"{block.channel}")
            me.isend(receiver, size := self._bytes(step, "srcoff", count))
            self.program._check_message(size, f"GPU {block.gpu}, thread block of rank {block.rank}, step {i}")

    def _bytes(self, step: xml.Element, offset: str, count: int) -> int:
        """Returns the bytes of some chunks. Chunk i of n ends at byte (i + 1) * size // n of the buffer."""
        first = _number(step, offset, self.path) % self.chunks
        return (first + count) * self.size // self.chunks - first * self.size // self.chunks

    def _fail(self, block: _Block, i: int, what: str):
        raise ConfigError(f"{self.path}: GPU {block.gpu}, thread block of rank {block.rank}, step {i}: {what}.")
