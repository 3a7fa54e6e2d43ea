"""What the experiments of the paper on Blue Gene/L's torus have in common: machines, use of links, all-to-alls. A cycle
is a byte time of a link, a flit a chunk of 32 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from flitlab._core import RunError
from flitlab.courses import Course, Sample, all_delivered, follow
from flitlab.experiment import Experiment

PAPER = "Blue Gene/L torus interconnection network"
CHUNK, FULL, PAYLOAD = 32, 8, 240  # bytes of a chunk; chunks of a full packet; bytes of these that are not software's
SIMULATOR = {"injection__infinite": True}  # FIFOs without end, as in the paper's simulator; software takes no time
# The paper gives no times of its hardware's software. These two make one of its numbers, 71 % of peak for one packet of
# 32 bytes to each of 512 nodes, and come near another, 92 % for a single receiver. Whatever else hardware is compared
# with has them.
HARDWARE = {"software__packet_time": 116, "software__chunk_time": 10}
ONE_OF_ITS_NUMBERS = ("software's times, 116 processor cycles a packet and 10 a chunk, are chosen so that this is "
                      "about what the hardware reached")


def machine(shape: Iterable[int], **settings) -> Experiment:
    """A torus with packets of full size. Settings are dotted paths, with ``__`` for the dot."""
    flat = {key.replace("__", "."): value for key, value in settings.items()}
    return Experiment.from_dict({"router.kind": "bgl", "topology.shape": list(shape), "traffic.packet_flits": FULL,
                                 "traffic.self": False} | flat)


def times(shape: Iterable[int]) -> str:
    return "x".join(str(k) for k in shape)


def million(cycles: float) -> str:
    return f"{cycles / 1e6:.3g} million cycles"


def chunks_of(e: Experiment) -> int:
    """Length of its packets, which all have the same."""
    ((chunks, _),) = e["traffic.packet_flits"]
    return chunks


def payload_part(e: Experiment) -> float:
    """Part of a link's time in which it carries software's bytes of full packets, with traffic both ways."""
    return PAYLOAD / e.derived()["link_cycles_per_packet"]


def link_use(e: Experiment, begin: Sample, end: Sample) -> float:
    """Mean use of the links between two samples: cycles in which they are taken, overhead included, in percent."""
    d = e.derived()
    packets = (end["flit_moves"] - begin["flit_moves"]) / chunks_of(e)
    return 100 * packets * d["link_cycles_per_packet"] / d["channels"] / (end["cycle"] - begin["cycle"])


def most_link_use(e: Experiment) -> float:
    """Mean use of the links in percent when the busiest ones are always taken, under uniform traffic."""
    d = e.derived()
    packets = d["saturation_load_bound"] / chunks_of(e) * d["terminals"]  # per cycle
    return 100 * packets * d["hops_mean"] * d["link_cycles_per_packet"] / d["channels"]


def links_into(shape: tuple[int, ...], extent: tuple[int, ...]) -> set[tuple[int, int]]:
    """Node and port where links begin that enter the region at the origin."""
    strides = [math.prod(shape[:d]) for d in range(len(shape))]

    def inside(node: int) -> bool:
        return all(node // stride % k < e for stride, k, e in zip(strides, shape, extent, strict=True))

    links = set()
    for node in range(math.prod(shape)):
        for d, (stride, k) in enumerate(zip(strides, shape, strict=True)):
            at = node // stride % k
            for port, step in ((2 * d, 1), (2 * d + 1, -1)):
                if k > 1 and not inside(node) and inside(node + ((at + step) % k - at) * stride):
                    links.add((node, port))
    return links


def batch(e: Experiment, least: float) -> Course:
    """A course until all packets of a batch have arrived, which takes `least` cycles at the least."""
    window = max(1000, round(least / 50))
    return Course(e, window, math.ceil(10 * least / window), until=all_delivered)


def all_to_all(shape: Iterable[int], chunks: int = FULL, rounds: int = 1, in_a_row: int = 1,
               **settings) -> tuple[Course, float]:
    """An all-to-all, and the cycles that it takes at the least, for the busiest links' sake."""
    e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_all", traffic__packet_flits=chunks,
                traffic__rounds=rounds, traffic__in_a_row=in_a_row, **settings)
    least = (math.prod(shape) - 1) * rounds * in_a_row * chunks / e.derived()["saturation_load_bound"]
    return batch(e, least), least


def percent_of_peak(samples: list[Sample], least: float) -> float:
    """The least time over the time until the last delivery, in percent."""
    if not all_delivered(samples[-1]):
        raise RunError("a batch is not at its end after ten times the least that it takes.")
    return 100 * least / (samples[-1]["last_delivery"] + 1)


def follow_batches(runs: dict[str, tuple[Course, float]], keep: Path | None = None) -> dict[str, float]:
    """Percent of peak of each."""
    samples = follow({name: course for name, (course, _) in runs.items()}, keep)
    return {name: percent_of_peak(samples[name], least) for name, (_, least) in runs.items()}
