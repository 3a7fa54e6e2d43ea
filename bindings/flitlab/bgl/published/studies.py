"""Simulation studies of the paper on Blue Gene/L's torus, Figures 2 to 5 and 7 to 9. The available source lacks the
images of the figures, so the rows are compared with statements in the text."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from operator import truediv
from pathlib import Path

from flitlab.bgl.published.torus import CHUNK, FULL, PAPER, SIMULATOR, links_into, machine, million, times
from flitlab.courses import Course, Sample, follow
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.over_seeds import student
from flitlab.reproduction import once, row

RANDOM = {"router__jsq": False, "router__slq": 0.0}  # arbitration at random, as in the early studies
EARLY = "random arbitration, infinite FIFOs; packets in the network before packets in injection FIFOs"
HOT_16 = (16, 16, 16)
LARGE = (32, 32, 32)


def response(shape: tuple[int, ...], use: float, dynamic_vcs: int, paths: int, **settings) -> Course:
    """Returns a run of uniform traffic at the fraction `use` of the links' capacity. Each link has 4 KB of buffers for
    its dynamic VCs and 1 KB for the escape VC. dynamic_vcs: number of dynamic VCs; 0 means deterministic routing, with
    4 KB for its only VC."""
    vcs = {"router__dynamic_flits": 128 // dynamic_vcs, "router__escape_flits": 32} if dynamic_vcs else \
        {"router__escape_flits": 128, "routing__dynamic": 0.0}
    e = machine(shape, router__dynamic_vcs=dynamic_vcs, router__paths=paths, **SIMULATOR, **vcs, **settings)
    return Course(e.set("traffic.load", use * e.derived()["saturation_load_bound"]), 10000, 14)


def response_time(samples: list[Sample]) -> float:
    """Returns the mean latency from creation to arrival in cycles, for packets that arrive after the first 60000
    cycles."""
    begin, end = samples[5], samples[-1]
    return (end["latency_sum"] - begin["latency_sum"]) / (end["packets_delivered"] - begin["packets_delivered"])


def interval(values: list[float]) -> tuple[float, float]:
    """Returns the mean and the half width of its 95 % confidence interval; a half width of 0 for a single value."""
    mean = statistics.mean(values)
    return mean, student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values)) if values[1:] else 0.0


def figure_2(shape: tuple[int, ...] = (8, 8, 8), uses: tuple[float, ...] = (0.5, 0.8, 0.9),
             keep: Path | None = None, seeds: int = 5) -> list[dict]:
    """Rows of response times by routing and by numbers of dynamic VCs and paths. seeds: number of seeds at the lowest
    utilisation, where designs differ least; other utilisations have one seed."""
    designs = {"deterministic": (0, 1), "1 VC, 1 path": (1, 1), "2 VCs, 1 path": (2, 1), "2 VCs, 2 paths": (2, 2),
               "4 VCs, 1 path": (4, 1), "4 VCs, 2 paths": (4, 2), "4 VCs, 4 paths": (4, 4)}
    seeds_at = {use: range(1, 1 + (seeds if use == uses[0] else 1)) for use in uses}
    courses = {f"{name}, {use}, seed {seed}": response(shape, use, *design, **RANDOM, run__seed=seed)
               for use in uses for name, design in designs.items() for seed in seeds_at[use]}
    samples = once(follow, courses, keep)

    def time(name: str, use: float) -> list[float]:
        return [response_time(samples()[f"{name}, {use}, seed {seed}"]) for seed in seeds_at[use]]

    def ratios(of: Callable[..., float], names: tuple[str, ...], use: float) -> list[float]:
        return [of(*values) for values in zip(*(time(name, use) for name in names), strict=True)]

    source, rows = f"{PAPER}, Figure 2", []
    for use in uses:
        setting = f"{times(shape)}, use {use:g}"
        rows += [row("bgl.response", f"response time, {name}", source, setting, None,
                     partial(lambda name, use: statistics.mean(time(name, use)), name, use), "cycles", 0,
                     reading=f"{EARLY}; cycles 60000 to 140000; load above the links' capacity waits, so latency grows")
                 for name in designs]
        for quantity, published, of, names, better, statement in (
                ("deterministic over dynamic with 1 VC", 1, truediv, ("deterministic", "1 VC, 1 path"),
                 {"higher_is_better": True}, "a clear benefit"),
                ("4 VCs with 1 path over 2 VCs with 2 paths", 1, truediv, ("4 VCs, 1 path", "2 VCs, 2 paths"),
                 {"higher_is_better": True}, "more VCs do little unless there are more paths"),
                ("saved by 4 VCs and paths instead of 2, over saved by 2 instead of 1", 0.5,
                 lambda a, b, c: (b - c) / (a - b), ("1 VC, 1 path", "2 VCs, 2 paths", "4 VCs, 4 paths"),
                 {"lower_is_better": True}, "a marginal benefit")):
            rows.append(over_seeds(partial(ratios, of, names, use), quantity, source, setting, published, statement,
                                   better))
    return rows


def over_seeds(ratios: Callable[[], list[float]], quantity: str, source: str, setting: str, published: float,
               statement: str, better: dict) -> dict:
    """Returns a row whose value is a mean over seeds, with its confidence interval."""
    found = once(lambda: interval(ratios()))

    def reading() -> str:
        mean, half = found()
        over = (f"; {len(ratios())} seeds, 95 % interval {mean - half:.3f} to {mean + half:.3f}, which must lie on "
                "that side" if half else "")
        return f"the paper: {statement}{over}"

    return row("bgl.response", quantity, source, setting, published, lambda: found()[0], "times", 0,
               uncertainty=lambda: found()[1], reading=reading, **better)


def hot_region(shape: tuple[int, ...], flits: int, **settings) -> Experiment:
    """Returns an experiment in which 25 % of the packets go to the hot region, an eighth of the machine at the origin,
    and the others to any node. Every node always has packets to send. flits: buffer size of each of the three VCs, in
    chunks."""
    return machine(shape, traffic__pattern="hot_region", traffic__hot_shape=[k // 2 for k in shape],
                   traffic__hot_fraction=0.25, traffic__load=1.0, router__dynamic_flits=flits,
                   router__escape_flits=flits, **SIMULATOR, **settings)


def entering(shape: tuple[int, ...]) -> Callable[[Network], dict]:
    """Returns a Course.observe function: for the links into the hot region, the busy cycles since cycle 0, mean over
    links."""
    links = links_into(shape, tuple(k // 2 for k in shape))
    return lambda network: {"entering": sum(cycles for *link, cycles in network.channels() if tuple(link) in links)
                            / len(links)}


def throughput(course: Course, samples: list[Sample]) -> list[float]:
    """Returns the chunks delivered per cycle and node in each window."""
    delivered = [0, *(s["flits_delivered"] for s in samples)]
    return [(b - a) / course.cycles / course.nodes() for a, b in pairwise(delivered)]


def level(values: list[float]) -> float:
    """Returns the mean of the last third of the values."""
    return statistics.mean(values[-len(values) // 3:])


def smoothed(values: list[float]) -> list[float]:
    """Returns the moving average over three values."""
    return [statistics.mean(values[i:i + 3]) for i in range(len(values) - 2)]


def half_way(values: list[float]) -> float:
    """Returns the mid-point between the peak of the smoothed values and the mean of the last third."""
    return (max(smoothed(values)) + level(values)) / 2


def decline(values: list[float], threshold: float) -> int:
    """Returns the number of windows until throughput has passed its peak and fallen below a threshold."""
    smooth = smoothed(values)
    peak = smooth.index(max(smooth))
    return next((i for i in range(peak, len(smooth)) if smooth[i] < threshold), len(smooth)) + 3


def falls(values: list[float], part: float = 0.15) -> int:
    """Returns how often throughput falls by the fraction `part` below its last maximum. Between two such falls it must
    rise by the same fraction."""
    count, falling, turn = 0, False, values[0]
    for v in values:
        turn = min(turn, v) if falling else max(turn, v)
        if not falling and v < turn * (1 - part):
            count, falling, turn = count + 1, True, v
        elif falling and v > turn * (1 + part):
            falling, turn = False, v
    return count


def figure_3(shape: tuple[int, ...] = HOT_16, cycles: int = 1500, windows: int = 100,
             keep: Path | None = None) -> list[dict]:
    """Rows of throughput over time under hot-region traffic, for three buffer sizes."""
    sizes = {"2 KB": 64, "1 KB": 32, "512 B": 16}
    courses = {name: Course(hot_region(shape, flits, **RANDOM), cycles, windows, observe=entering(shape))
               for name, flits in sizes.items()}
    samples = once(follow, courses, keep)

    @cache
    def curve(name: str) -> list[float]:
        return throughput(courses[name], samples()[name])

    def ended(name: str) -> int:
        return decline(curve(name), half_way(curve(name)))

    def use(name: str) -> float:
        middle, end = samples()[name][2 * windows // 3 - 1], samples()[name][-1]
        return 100 * (end["entering"] - middle["entering"]) / (end["cycle"] - middle["cycle"])

    source, setting = f"{PAPER}, Figure 3", f"{times(shape)}, {million(cycles * windows)}"
    rows = []
    for name in sizes:
        rows += [
            row("bgl.hotregion", f"throughput at first over its peak, {name}", source, setting, None,
                partial(lambda name: curve(name)[0] / max(curve(name)), name), "times", 0,
                reading=f"{EARLY}; the paper: it rises, as it must from an empty network"),
            row("bgl.hotregion", f"cycles until the decline, {name}", source, setting, None,
                partial(lambda name: cycles * ended(name), name), "cycles", 0,
                reading="until throughput is half-way between its peak and the level of the last third"),
            row("bgl.hotregion", f"links into the region, {name}", source, setting, None,
                partial(use, name), "%", 0),
        ]
    rows.append(row("bgl.hotregion", "links into the region, mean of the three", source, setting, 95,
                    lambda: statistics.mean(map(use, sizes)), "%", 2,
                    reading="mean use in the last third; the paper, for all sizes: generally around 95 %"))
    rows += [row("bgl.hotregion", f"decline, {large} over {small}", source, setting, 1,
                 partial(lambda large, small: ended(large) / ended(small), large, small), "times", 0,
                 higher_is_better=True,
                 reading="the paper: sooner for smaller buffers") for large, small in pairwise(sizes)]
    rows += [row("bgl.hotregion", f"level, {name} over 2 KB", source, setting, 1,
                 partial(lambda name: level(curve(name)) / level(curve("2 KB")), name), "times", 0.05,
                 reading="the paper: approximately equal; mean of the last third") for name in ("1 KB", "512 B")]
    return rows


POLICIES = {"base": RANDOM, "JSQ": {"router__slq": 0.0}, "SLQ": {"router__jsq": False, "router__slq": 0.75}}


def figures_4_5(uniform: tuple[int, ...] = (8, 8, 8), hot: tuple[int, ...] = (8, 8, 8), cycles: int = 2000,
                windows: int = 100, keep: Path | None = None) -> list[dict]:
    """Rows of the effects of two arbitration rules, JSQ (packets join the shortest queue) and SLQ (arbiters serve the
    longest queue), on response times in light traffic and on throughput to a hot region."""
    light = {(name, use, first): response(uniform, use, 2, 2, router__network_first=first, **policy)
             for use in (0.8, 0.95) for first in (0.0, 1.0) for name, policy in POLICIES.items()}
    heavy = {name: Course(hot_region(hot, 64, **policy), cycles, windows) for name, policy in POLICIES.items()}
    names = {", ".join(map(str, key)): key for key in light} | {f"hot region, {name}": name for name in heavy}
    samples = once(lambda: {
        names[n]: s for n, s in follow({n: (light | heavy)[key] for n, key in names.items()}, keep).items()})

    def saved(name: str, use: float, first: float) -> Callable[[], float]:
        return lambda: 100 - 100 * (response_time(samples()[name, use, first])
                                    / response_time(samples()["base", use, first]))

    equal = "senders choose at random between the network and injection FIFOs, as in random arbitration"
    favour = "senders favour packets in the network, as in the studies of hot regions"
    source, setting = f"{PAPER}, Figure 4", f"{times(uniform)}, use "
    rows = [
        row("bgl.arbitration", "response time saved by JSQ", source, setting + "0.95", 20, saved("JSQ", 0.95, 0.0), "%",
            5, reading=equal),
        row("bgl.arbitration", "response time saved by JSQ, network first", source, setting + "0.95", None,
            saved("JSQ", 0.95, 1.0), "%", 0, reading=favour),
        row("bgl.arbitration", "response time saved by SLQ", source, setting + "0.8", 0, saved("SLQ", 0.8, 0.0), "%", 5,
            reading="the paper: little in light traffic"),
        row("bgl.arbitration", "response time saved by SLQ, network first", source, setting + "0.8", None,
            saved("SLQ", 0.8, 1.0), "%", 0, reading=favour),
        row("bgl.arbitration", "response time saved by SLQ", source, setting + "0.95", None, saved("SLQ", 0.95, 0.0),
            "%", 0, reading="the paper gives no number"),
    ]

    @cache
    def curve(name: str) -> list[float]:
        return throughput(heavy[name], samples()[name])

    def ended(name: str) -> int:
        return decline(curve(name), half_way(curve("base")))

    source, setting = f"{PAPER}, Figure 5", f"{times(hot)}, {million(cycles * windows)}"
    for name, published in (("SLQ", 1), ("JSQ", None)):
        rows += [
            row("bgl.arbitration", f"time to the decline, {name} over base", source, setting, published,
                partial(lambda name: ended(name) / ended("base"), name), "times", 0, higher_is_better=True,
                reading="to below half-way between peak and level of base; the paper: slowest with SLQ, little benefit "
                        "of JSQ"),
            row("bgl.arbitration", f"level, {name} over base", source, setting, 1,
                partial(lambda name: level(curve(name)) / level(curve("base")), name), "times", 0.05,
                reading="mean of the last third"),
        ]
    return rows


def figures_7_to_9(shape: tuple[int, ...] = (10, 10, 10), flits: int = 16, cycles: int = 5000, windows: int = 150,
                   keep: Path | None = None, orders: tuple[str, ...] = ("dimension",)) -> list[dict]:
    """Rows of throughput over time under hot-region traffic, for several kinds of escape VCs, and rows of how often a
    token message unblocks a packet. orders: orders of the hops on escape VCs; only rows of dimension order are
    judged."""
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

    def on_escape(name: str) -> float:
        last, vcs = samples()[name][-1], (2, 3) if name.startswith("dateline") else (2,)
        return 100 * sum(last[f"vc{vc}_flits"] for vc in vcs) / last["flit_moves"]

    def least(name: str) -> float:
        values = curve(name)
        return min(values[values.index(max(values)):]) / max(values)

    def line(quantity: str, published: float | None, measured: Callable[[], float], unit: str, reading: str = "",
             at_most: bool = False) -> dict:
        return row("bgl.escape", quantity, source, setting, published, measured, unit, 0, higher_is_better=not at_most,
                   lower_is_better=at_most, reading=reading)

    rows = []
    for name in courses:
        rows += [
            line(f"steep declines, {name}", {wild: 2, calm: 1}.get(name),
                 partial(lambda name: falls(curve(name)), name), "",
                 f"{EARLY}; falls of throughput in {cycles} cycles by 15 % and more, with rises in between; the paper: "
                 "a steep decline, a rise and another decline with the dimension-ordered dateline pair", name == calm),
            line(f"least throughput after the peak, {name}", None, partial(least, name), "of the peak"),
            line(f"hops on escape VCs, {name}", None, partial(on_escape, name), "%",
                 "the paper: an appreciable fraction with the dateline pair"),
        ]
    rows += [
        line("variation of throughput, dateline pair over bubble", 1,
             lambda: variation(curve(wild)[windows // 4:]) / variation(curve(calm)[windows // 4:]), "times",
             "standard deviation over mean after the first quarter, dimension order"),
        line("unblocking and throughput, dateline pair", 0,
             lambda: statistics.correlation(unblocked(wild)["probability"], curve(wild)[later]), "correlation",
             "the paper: they rise and fall together. Unblocking probability: of the token messages to a node where "
             "the head of a receiver's queue can enter no VC, the fraction that lets one move"),
        line("variation of unblocking, dateline pair over bubble", 1,
             lambda: variation(unblocked(wild)["probability"]) / variation(unblocked(calm)["probability"]), "times",
             "the paper: relatively constant for the bubble"),
    ]
    for what, name in (("dateline pair", wild), ("bubble", calm)):
        rows += [line(f"unblocking probability, {what}", None,
                      partial(lambda name: statistics.mean(unblocked(name)["probability"]), name), "",
                      "mean after the rise of throughput")]
    for reading in ("per cycle", "of all token messages"):
        rows += [line(f"unblocking {reading} and throughput, dateline pair", None,
                      partial(lambda of: statistics.correlation(unblocked(wild)[of], curve(wild)[later]), reading),
                      "correlation",
                      "other interpretations: unblocking messages per cycle, or over all token messages, one for every "
                      "hop of a packet; with more blocked packets, more of all messages unblock one")]
    return rows


def variation(values: list[float]) -> float:
    return statistics.stdev(values) / statistics.mean(values)


def unblocking(samples: list[Sample]) -> dict[str, list[float]]:
    """Returns how often token messages unblock a packet, in each window after the first sample."""
    keys = {"probability": "token_messages", "per cycle": "cycle", "of all token messages": "flit_moves"}
    scale = {"of all token messages": FULL}
    return {name: [scale.get(name, 1) * (b["unblocking"] - a["unblocking"]) / max(1, b[key] - a[key])
                   for a, b in pairwise(samples)] for name, key in keys.items()}


EXPERIMENTS = {
    "bgl.response": ("response times in light traffic (Figure 2; 8x8x8, full 32x32x32)", figure_2,
                     lambda keep: figure_2(LARGE, keep=keep, seeds=1)),
    "bgl.hotregion": ("throughput under hot-region traffic (Figure 3; 16x16x16, full a million cycles)", figure_3,
                      lambda keep: figure_3(HOT_16, 10000, 100, keep)),
    "bgl.arbitration": ("JSQ and SLQ (Figures 4 and 5; 8x8x8, full 32x32x32 and 16x16x16)", figures_4_5,
                        lambda keep: figures_4_5(LARGE, HOT_16, 10000, 100, keep)),
    "bgl.escape": ("kinds of escape VCs (Figures 7 to 9; 10x10x10, full 16x16x16)", figures_7_to_9,
                   lambda keep: figures_7_to_9(HOT_16, 64, 10000, 150, keep, ("dimension", "direction"))),
}
