"""Escape virtual channels of the paper on Blue Gene/L's torus, Figures 7 to 9. The available source lacks the images of
the figures, so the rows are compared with statements in the text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

from flitlab.bgl.published.studies import EARLY, HOT_16, RANDOM, hot_region, throughput
from flitlab.bgl.published.torus import CHUNK, FULL, PAPER, million, times
from flitlab.courses import Course, Sample, follow
from flitlab.reproduction import once, row

# Readings of the unblocking probability: denominator -> explanation.
READINGS = {
    "of token messages to blocked receivers": "of the token messages to a node where the head of a receiver's queue "
                                              "can enter no VC, the fraction that lets one move",
    "per cycle": "messages that let a head move, per cycle of the whole machine: a fraction of time",
    "of all token messages": "of all token messages, one for every hop of a packet, the fraction that lets a head move",
}


def variation(values: list[float]) -> float:
    return statistics.stdev(values) / statistics.mean(values)


def unblocking(samples: list[Sample]) -> dict[str, list[float]]:
    """Returns how often token messages unblock a packet, in each window after the first sample, for each of
    READINGS."""
    keys = dict(zip(READINGS, ("token_messages", "cycle", "flit_moves"), strict=True))
    scale = {"of all token messages": FULL}
    return {name: [scale.get(name, 1) * (b["unblocking"] - a["unblocking"]) / max(1, b[key] - a[key])
                   for a, b in pairwise(samples)] for name, key in keys.items()}


def turns(values: list[float], part: float = 0.15) -> list[float]:
    """Returns the turning points of a curve that starts with a rise: the maximum before each fall by the fraction
    `part`, the minimum before each rise by it, and so on; the last one is the extreme after the last turn."""
    found, falling, turn = [], False, values[0]
    for v in values:
        turn = min(turn, v) if falling else max(turn, v)
        if v > turn * (1 + part) if falling else v < turn * (1 - part):
            found.append(turn)
            falling, turn = not falling, v
    return [*found, turn]


def falls(values: list[float], part: float = 0.15) -> int:
    """Returns how often throughput falls by the fraction `part` below its last maximum. Between two such falls it must
    rise by the same fraction."""
    return len(turns(values, part)) // 2


def figures_7_to_9(shape: tuple[int, ...] = HOT_16, flits: int = 64, cycles: int = 10000, windows: int = 130,
                   keep: Path | None = None, orders: tuple[str, ...] = ("dimension",)) -> list[dict]:
    """Rows of throughput over time under hot-region traffic, for several kinds of escape VCs, of the throughput of each
    VC, and of how often a token message unblocks a packet. orders: orders of the hops on escape VCs; only rows of
    dimension order are judged."""
    courses = {
        f"{kind}, {order} order": Course(
            hot_region(shape, flits, router__escape=kind, router__escape_order=order, router__count_unblocking=True,
                       **RANDOM), cycles, windows)
        for kind in ("dateline", "bubble") for order in orders
    }
    samples = once(follow, courses, keep)
    source = f"{PAPER}, Figures 7 to 9"
    setting = f"{times(shape)}, {flits * CHUNK} B a VC, {million(cycles * windows)}"
    wild, calm = (f"{kind}, dimension order" for kind in ("dateline", "bubble"))
    later = slice(windows // 20, None)  # after the initial rise of throughput

    @cache
    def curve(name: str) -> list[float]:
        return throughput(courses[name], samples()[name])

    @cache
    def unblocked(name: str) -> dict[str, list[float]]:
        return unblocking(samples()[name][windows // 20 - 1:])

    def escapes(name: str) -> dict[int, str]:
        return {2: "escape, before the dateline", 3: "escape, after it"} if name.startswith("dateline") else \
            {2: "escape"}

    def on_escape(name: str) -> float:
        last = samples()[name][-1]
        return 100 * sum(last[f"vc{vc}_flits"] for vc in escapes(name)) / last["flit_moves"]

    def of_vc(name: str, vc: int) -> list[float]:
        """Returns the chunks per 1000 cycles and node that hop on a VC, in each window."""
        hops = [0, *(s[f"vc{vc}_flits"] for s in samples()[name])]
        return [1000 * (b - a) / cycles / courses[name].nodes() for a, b in pairwise(hops)]

    def line(quantity: str, published: float | None, measured: Callable[[], float], unit: str, reading: str = "",
             at_most: bool = False, why: str = "") -> dict:
        return row("bgl.escape", quantity, source, setting, published, measured, unit, 0, higher_is_better=not at_most,
                   lower_is_better=at_most, reading=reading, why=why)

    def waves(name: str) -> str:
        return ("peaks and troughs, thousandths of a chunk per cycle and node: "
                + ", ".join(f"{1000 * v:.1f}" for v in turns(curve(name))))

    rows = []
    for name in courses:
        rows.append(row("bgl.escape", f"steep declines, {name}", source, setting, {wild: 2, calm: 1}.get(name),
                        partial(lambda name: falls(curve(name)), name), "", 0, higher_is_better=name != calm,
                        lower_is_better=name == calm, reading=partial(
                            lambda name: f"{EARLY}; falls of throughput in {cycles} cycles by 15 % and more, with "
                            "rises in between; the paper: a steep decline, a rise and another decline with the "
                            f"dimension-ordered dateline pair; {waves(name)}", name)))
        rows += [
            line(f"throughput at its peak, {name}", None, partial(lambda name: 1000 * max(curve(name)), name), UNIT),
            line(f"throughput at its least after the peak, {name}", None, partial(
                lambda name: 1000 * min(curve(name)[curve(name).index(max(curve(name))):]), name), UNIT),
            line(f"hops on escape VCs, {name}", None, partial(on_escape, name), "%",
                 "the paper: an appreciable fraction with the dateline pair"),
        ]
        rows += [line(f"hops on VC {vc} ({what}), {how}, {name}", None,
                      partial(lambda name, vc, of: of(of_vc(name, vc)[later]), name, vc, of), UNIT)
                 for vc, what in ({0: "dynamic", 1: "dynamic"} | escapes(name)).items()
                 for how, of in (("mean", statistics.mean), ("least", min), ("most", max))]
    rows.append(line("variation of throughput, dateline pair over bubble", 1,
                     lambda: variation(curve(wild)[windows // 4:]) / variation(curve(calm)[windows // 4:]), "times",
                     "standard deviation over mean after the first quarter, dimension order"))
    for name, meaning in READINGS.items():
        reading = f"unblocking {name}: {meaning}"
        rows += [
            line(f"unblocking {name}, and throughput, dateline pair", 0, partial(
                lambda of: statistics.correlation(unblocked(wild)[of], curve(wild)[later]), name), "correlation",
                f"the paper: they rise and fall together; {reading}", why=WHY_READING),
            line(f"variation of unblocking {name}, dateline pair over bubble", 1, partial(
                lambda of: variation(unblocked(wild)[of]) / variation(unblocked(calm)[of]), name), "times",
                f"the paper: relatively constant for the bubble; {reading}", why=WHY_READING),
        ]
        rows += [line(f"unblocking {name}, mean, {kind}", None, partial(
            lambda of, kind: statistics.mean(unblocked(kind)[of]), name, kind), "", reading) for kind in (wild, calm)]
    return rows


UNIT = "chunks/1000 cycles/node"
WHY_READING = (
    "The paper's unblocking probability has three possible denominators, and all are judged. With this one, the "
    "probability rises as throughput falls, because more packets are blocked, so a larger part of the messages "
    "unblocks one. The paper's statement fits the other readings.")

EXPERIMENTS = {
    "bgl.escape": ("kinds of escape VCs (Figures 7 to 9; 16x16x16, ten minutes; full: also direction order)",
                   figures_7_to_9, lambda keep: figures_7_to_9(keep=keep, orders=("dimension", "direction"))),
}
