"""Common parts of the experiments of the paper on Blue Gene/L's torus: machines, link utilisation, all-to-alls. A cycle
is the time of a byte on a link, a flit is a chunk of 32 bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from flitlab._core import RunError
from flitlab.courses import Course, Sample, all_delivered, follow
from flitlab.experiment import Experiment
from flitlab.settings import dotted

PAPER = "Blue Gene/L torus interconnection network"
CHUNK, FULL, PAYLOAD = 32, 8, 240  # bytes of a chunk; chunks of a full packet; payload bytes of a full packet
# Infinite injection FIFOs and software that takes no time, as in the paper's simulator, which charges the 8 bytes of a
# token packet to every packet (270 byte times). Hardware sends token packets that wait for the link.
SIMULATOR = {"injection__infinite": True, "router__acks": "charged"}
LITTLE = 5  # percent that a statement of "little" or "marginal" benefit may mean
# Times of the software that runs on the hardware, in processor cycles; the paper does not give them. They are fitted to
# two of its numbers, of short and of long messages: an all-to-all of one 32-byte packet to each of 512 nodes reaches
# 71 % of peak, and many full packets from all nodes to one reach 92 %. All other comparisons with hardware use them.
HARDWARE = {"software__packet_time": 118, "software__chunk_time": 8}
FITTED = "software's times, 118 processor cycles a packet and 8 a chunk, are fitted to this number and to one other"


def machine(shape: Iterable[int], **settings) -> Experiment:
    """Returns an experiment with a torus and packets of full length. Settings are dotted paths, with ``__`` for the
    dot."""
    flat = dotted(settings)
    return Experiment.from_dict({"router.kind": "bgl", "topology.shape": list(shape), "traffic.packet_flits": FULL,
                                 "traffic.self": False} | flat)


def times(shape: Iterable[int]) -> str:
    return "x".join(str(k) for k in shape)


def million(cycles: float) -> str:
    return f"{cycles / 1e6:.3g} million cycles"


def chunks_of(e: Experiment) -> int:
    """Returns the length of an experiment's packets in chunks. All packets must have the same length."""
    ((chunks, _),) = e["traffic.packet_flits"]
    return chunks


def payload_part(e: Experiment) -> float:
    """Returns the payload's share of a link's time if full packets keep it busy in both directions."""
    return PAYLOAD / e.derived()["link_cycles_per_packet"]


def link_use(e: Experiment, begin: Sample, end: Sample) -> float:
    """Returns the mean utilisation in percent of all links between two samples of a run, packet overhead included."""
    d = e.derived()
    packets = (end["flit_moves"] - begin["flit_moves"]) / chunks_of(e)
    return 100 * packets * d["link_cycles_per_packet"] / d["channels"] / (end["cycle"] - begin["cycle"])


def most_link_use(e: Experiment) -> float:
    """Returns the mean link utilisation in percent under uniform traffic when the busiest links are always busy."""
    d = e.derived()
    packets = d["saturation_load_bound"] / chunks_of(e) * d["terminals"]  # per cycle
    return 100 * packets * d["hops_mean"] * d["link_cycles_per_packet"] / d["channels"]


def links_into(shape: tuple[int, ...], extent: tuple[int, ...]) -> set[tuple[int, int]]:
    """Returns (node, port) of all links that enter the region of size `extent` at the origin."""
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
    """Returns a run that ends when all packets of a batch have arrived. `least`: lower bound of its duration,
    cycles."""
    window = max(1000, round(least / 50))
    return Course(e, window, math.ceil(10 * least / window), until=all_delivered)


def all_to_all(shape: Iterable[int], chunks: int = FULL, rounds: int = 1, in_a_row: int = 1,
               **settings) -> tuple[Course, float]:
    """Returns a run of an all-to-all, and a lower bound of its duration in cycles, which is the load of the busiest
    links."""
    e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_all", traffic__packet_flits=chunks,
                traffic__rounds=rounds, traffic__in_a_row=in_a_row, **settings)
    least = (math.prod(shape) - 1) * rounds * in_a_row * chunks / e.derived()["saturation_load_bound"]
    return batch(e, least), least


def percent_of_peak(samples: list[Sample], least: float) -> float:
    """Returns `least` divided by the time until the last delivery, in percent. Raises RunError if the batch is not
    complete."""
    if not all_delivered(samples[-1]):
        raise RunError("the batch is not complete after ten times its lower bound.")
    return 100 * least / (samples[-1]["last_delivery"] + 1)


def follow_batches(runs: dict[str, tuple[Course, float]], keep: Path | None = None) -> dict[str, float]:
    """Runs batches, each given with the lower bound of its duration, and returns the percent of peak of each by its
    name."""
    samples = follow({name: course for name, (course, _) in runs.items()}, keep)
    return {name: percent_of_peak(samples[name], least) for name, (_, least) in runs.items()}
