"""Experiments of the paper on Blue Gene/L's torus. A cycle is a byte time of a link, a flit a chunk of 32 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from flitlab._core import RunError
from flitlab.courses import Course, Sample, all_delivered, follow
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row

PAPER = "Blue Gene/L torus interconnection network"
CHUNK, FULL, PAYLOAD = 32, 8, 240  # bytes of a chunk; chunks of a full packet; bytes of these that are not software's


def machine(shape: Iterable[int], **settings) -> Experiment:
    """A torus with packets of full size. Settings are dotted paths, with ``__`` for the dot."""
    flat = {key.replace("__", "."): value for key, value in settings.items()}
    return Experiment.from_dict({"router.kind": "bgl", "topology.shape": list(shape), "traffic.packet_flits": FULL}
                                | flat)


def times(shape: Iterable[int]) -> str:
    return "x".join(str(k) for k in shape)


def packet(packets: int = 40) -> list[dict]:
    """Cycles between the heads of packets of a stream that keeps a link busy, and the payload that it carries."""
    spacing = {}
    for chunks in range(1, FULL + 1):
        stream = machine([4], traffic__mode="batch", traffic__pattern="neighbour", traffic__batch_packets=packets,
                         traffic__packet_flits=chunks)
        events = Network(stream, trace=True).step(packets * (CHUNK * chunks + 60)).events()
        heads = [e["cycle"] for e in events if e["kind"] == "switch_granted" and e["index"] == 0 and e["out_port"] == 0]
        gaps = {b - a for a, b in pairwise(heads[FULL:])}  # the first ones come from FIFOs that fill up
        if len(gaps) != 1:
            raise RunError(f"bgl.packet: packets of {chunks} chunks follow each other in {sorted(gaps)} cycles.")
        spacing[chunks] = gaps.pop()
    setting, source = "one link, a stream", f"{PAPER}, Alltoall"
    rows = [row("bgl.packet", f"link occupied by a packet of {CHUNK * n} bytes", source, setting, CHUNK * n + 14, cycles,
                "byte times", 0, reading="32 n + 4 of trailer + 8 of acknowledgment + 2 of gap")
            for n, cycles in spacing.items()]
    rows.append(row("bgl.packet", "payload of the link", source, setting, 240 / 270, PAYLOAD / spacing[FULL], "", 0.0005,
                    reading="240 of 256 bytes; the paper's 87 % are these at 98 % link utilisation"))
    return rows


def least_cycles(e: Experiment, chunks: float) -> float:
    """What uniform traffic of so many chunks a terminal takes at the least, for the busiest links' sake."""
    return chunks / e.derived()["saturation_load_bound"]


def all_to_all(shape: Iterable[int], chunks: int = FULL, rounds: int = 1, in_a_row: int = 1,
               **settings) -> tuple[Course, float]:
    """An all-to-all in a course of its own, and the least time that it can take, cycles."""
    e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_all", traffic__packet_flits=chunks,
                traffic__rounds=rounds, traffic__in_a_row=in_a_row, **settings)
    least = least_cycles(e, (math.prod(shape) - 1) * rounds * in_a_row * chunks)
    return batch(e, least), least


def batch(e: Experiment, least: float) -> Course:
    window = max(1000, round(least / 50))
    return Course(e, window, math.ceil(10 * least / window), until=all_delivered)


def percent_of_peak(samples: list[Sample], least: float) -> float:
    """The least time over the time until the last delivery, in percent."""
    if not all_delivered(samples[-1]):
        raise RunError("a batch is not at its end after ten times the time that it should take.")
    return 100 * least / (samples[-1]["last_delivery"] + 1)


START_UP = ("the emulator has no software that starts up; the hardware's 71 % are 9600 byte times more than the least, "
            "the emulator's")


def alltoall_512(shape: tuple[int, ...] = (8, 8, 8), long: int = 20, keep: Path | None = None) -> list[dict]:
    """All-to-alls of a midplane. long: packets of what stands for long messages."""
    simulator = {"injection__infinite": True}
    runs = {
        "one 32-byte packet": all_to_all(shape, 1),
        "one 32-byte packet, rotated": all_to_all(shape, 1, traffic__order="rotated"),
        "ten full packets": all_to_all(shape, in_a_row=10, **simulator),
        "ten full packets, one a turn": all_to_all(shape, rounds=10, **simulator),
        "ten full packets, real FIFOs": all_to_all(shape, in_a_row=10),
        "ten full packets, real FIFOs, one a turn": all_to_all(shape, rounds=10),
        f"{long} full packets, one a turn": all_to_all(shape, rounds=long),
    }
    samples = follow({name: course for name, (course, _) in runs.items()}, keep)
    return {name: percent_of_peak(samples[name], least) for name, (_, least) in runs.items()}


EXPERIMENTS = {
    "bgl.packet": ("link occupancy of packets of 1 to 8 chunks (a ring; seconds)", packet),
}
