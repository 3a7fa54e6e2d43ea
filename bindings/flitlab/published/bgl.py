"""Experiments of the paper on Blue Gene/L's torus. A cycle is a byte time of a link, a flit a chunk of 32 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    rows = [row("bgl.packet", f"link occupied by a packet of {CHUNK * n} bytes", source, setting, CHUNK * n + 14,
                cycles, "byte times", 0, reading="32 n + 4 of trailer + 8 of acknowledgment + 2 of gap")
            for n, cycles in spacing.items()]
    rows.append(row("bgl.packet", "payload of the link", source, setting, 240 / 270, PAYLOAD / spacing[FULL], "",
                    0.0005, reading="240 of 256 bytes; the paper's 87 % are these at 98 % link utilisation"))
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


def alltoall_512(shape: tuple[int, ...] = (8, 8, 8), few: int = 10, long: int = 20,
                 keep: Path | None = None) -> list[dict]:
    """All-to-alls of a midplane. few: packets of a message; long: packets of what stands for long messages."""
    runs = {
        "one 32-byte packet": all_to_all(shape, 1),
        "one 32-byte packet, rotated order": all_to_all(shape, 1, traffic__order="rotated"),
        f"{few} full packets, infinite FIFOs": all_to_all(shape, in_a_row=few, injection__infinite=True),
        f"{few} full packets": all_to_all(shape, rounds=few),
        f"{long} full packets": all_to_all(shape, rounds=long),
    }
    samples = follow({name: course for name, (course, _) in runs.items()}, keep)
    published = {0: (71, 3), 2: (94, 2), 3: (96, 2), 4: (98, 1)}
    readings = [
        "random order of destinations; the hardware's number includes its software's start-up, which is not emulated",
        "every node begins with its next neighbour; the order of the measurement is not published",
        "the paper's simulator; all packets to a destination in a row, destinations in random order",
        "the hardware; a packet to each destination in random order, then the next one",
        "the hardware, long messages: more than 98 %",
    ]
    rows = []
    for i, (name, (_, least)) in enumerate(runs.items()):
        value, tolerance = published.get(i, (None, 0))
        rows.append(row("bgl.alltoall-512", f"part of peak, {name}", f"{PAPER}, Alltoall, Figure 11", times(shape),
                        value, percent_of_peak(samples[name], least), "%", tolerance, higher_is_better=True,
                        reading=readings[i]))
    return rows


EXPERIMENTS = {
    "bgl.packet": ("link occupancy of packets of 1 to 8 chunks (a ring; seconds)", packet),
    "bgl.alltoall-512": ("all-to-all of a midplane (71, 94, 96 and 98 % of peak; 8x8x8)", alltoall_512),
}
