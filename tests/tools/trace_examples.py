"""Writes configs/vc-netrace.tra, a small trace in the format of Netrace: 64 cores with private caches, shared caches on
all nodes and memory controllers on four. All numbers are drawn here; no trace of a real program is involved."""

from __future__ import annotations

import random
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
READ, READ_REPLY, WRITEBACK, INVALIDATE, INVALIDATED = 1, 2, 6, 27, 28  # types of packets
L1, L2, MEMORY = 0, 2, 3  # types of nodes
CONTROLLERS = (0, 7, 56, 63)


@dataclass
class Message:
    cycle: int
    type: int
    source: tuple[int, int]  # node and its type
    destination: tuple[int, int]
    needs: list[Message] = field(default_factory=list)
    id: int = -1


def miss(draw: random.Random, core: int, start: int, after: list[Message]) -> list[Message]:
    """Returns the messages of one cache miss, the reply last. A miss in the shared cache goes on to a memory
    controller; a block that other cores hold is invalidated there first."""
    home = draw.randrange(64)
    request = Message(start, READ, (core, L1), (home, L2), after)
    messages, needs, cycle = [request], [request], start + 30
    if draw.random() < 0.3:
        memory = draw.choice(CONTROLLERS)
        fetch = Message(cycle, READ, (home, L2), (memory, MEMORY), [request])
        block = Message(cycle + 130, READ_REPLY, (memory, MEMORY), (home, L2), [fetch])
        messages, needs, cycle = [*messages, fetch, block], [block], cycle + 160
    elif draw.random() < 0.3:
        holders = draw.sample([other for other in range(64) if other != core], 2)
        notices = [Message(cycle, INVALIDATE, (home, L2), (holder, L1), [request]) for holder in holders]
        answers = [Message(cycle + 30, INVALIDATED, (holder, L1), (home, L2), [notice])
                   for holder, notice in zip(holders, notices, strict=True)]
        messages, needs, cycle = [*messages, *notices, *answers], answers, cycle + 60
    return [*messages, Message(cycle + 6, READ_REPLY, (home, L2), (core, L1), needs)]


def messages_of(draw: random.Random) -> list[Message]:
    found: list[Message] = []
    for core in range(64):
        after: list[Message] = []
        start = draw.randrange(200)
        for _ in range(3):
            found += (chain := miss(draw, core, start, after))
            if draw.random() < 0.2:
                found.append(Message(chain[-1].cycle + 5, WRITEBACK, (core, L1), (draw.randrange(64), L2)))
            # Every second miss needs the data of the one before it.
            after = [chain[-1]] if draw.random() < 0.5 else []
            start = chain[-1].cycle + draw.randrange(20, 200)
    found.sort(key=lambda message: message.cycle)
    for number, message in enumerate(found):
        message.id = number
    return found


def netrace(messages: list[Message], name: str, notes: str, middle: int) -> bytes:
    """Returns a trace with two regions: the cycles before `middle`, and the rest."""
    waiting: dict[int, list[int]] = {message.id: [] for message in messages}
    for message in messages:
        for needed in message.needs:
            waiting[needed.id].append(message.id)
    records = [struct.pack(f"<QIIBBBBB{len(waiting[m.id])}I", m.cycle, m.id, 64 * m.id, m.type, m.source[0],
                           m.destination[0], m.source[1] << 4 | m.destination[1], len(waiting[m.id]), *waiting[m.id])
               for m in messages]
    first, cycles = sum(m.cycle < middle for m in messages), messages[-1].cycle
    head = struct.pack("<If30sBxQQIIxxxxxxxx", 0x484A5455, 1.0, name.encode(), 64, cycles, len(messages),
                       len(notes) + 1, 2)
    regions = struct.pack("<QQQQQQ", 0, middle, first, sum(map(len, records[:first])), cycles - middle,
                          len(messages) - first)
    return head + notes.encode() + b"\0" + regions + b"".join(records)


def main() -> bytes:
    return netrace(messages_of(random.Random(1)), "flitlab example", "64 cores, 3 misses each; drawn at random", 400)


if __name__ == "__main__":
    data = main()
    (TOP / "configs" / "vc-netrace.tra").write_bytes(data)
    sys.stdout.write(f"{len(data)} bytes\n")
