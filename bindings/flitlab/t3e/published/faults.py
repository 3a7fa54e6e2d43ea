"""Broken links and nodes, spares, and corrupted flits in the T3E's network (paper, section 9)."""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.settings import dotted

SOURCE = "The Cray T3E Network, sections 2 and 9"
SHAPE = (8, 8, 4)


def _machine(**settings) -> Experiment:
    flat = dotted(settings)
    return Experiment.from_dict({"router.kind": "t3e", "topology.shape": list(SHAPE), "traffic.self": False}
                                | flat)


def _row(quantity: str, where: str, published: float | None, measured: float | Callable[[], float], unit: str = "",
         tolerance: float = 0, reading: str = "", check: bool = False) -> dict:
    return row("t3e.faults", quantity, SOURCE, where, published, measured, unit, tolerance, reading=reading,
               check=check)


def _lost(experiment: Experiment, pairs: list[tuple[int, int]]) -> int:
    """Sends a packet for each pair, one per clock; returns the number that do not arrive."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        trace.write_text("".join(f"{n},{src},{dst},2\n" for n, (src, dst) in enumerate(pairs)))
        network = Network(experiment.set({"traffic.mode": "trace", "traffic.trace_file": str(trace)}))
        return len(pairs) - network.step(len(pairs) + 2000).totals["packets_delivered"]


def _highest_accepted(experiment: Experiment, loads: tuple[float, ...]) -> float:
    """Returns the highest accepted traffic over some loads."""
    loaded = experiment.set({"traffic.packet_flits": 10, "run.warmup_cycles": 2000, "run.measure_cycles": 2000})
    return max(run(loaded.set("traffic.load", load)).accepted for load in loads)


def faults(draws: int = 3, seed: int = 1, breaks: tuple[int, ...] = (1, 4, 16)) -> list[dict]:
    """Breaks links and nodes at random, and measures whether tables exist, lose no packets and cannot deadlock, and
    their cost in throughput. draws: random draws for each number of broken links in `breaks`.
    """
    nodes = SHAPE[0] * SHAPE[1] * SHAPE[2]
    setting = f"{nodes} PEs"
    whole = once(_highest_accepted, _machine(), (0.5, 0.6, 0.7))
    choose = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unconnected pairs, which are counted
        rows = _broken_links(setting, whole, draws, breaks, choose)
    return rows + _during_a_run(nodes) + _spare(nodes) + _errors(setting)


def _sum(parts: list[Callable[[], float]]) -> float:
    return sum(part() for part in parts)


def _broken_links(setting: str, whole: Callable[[], float], draws: int, breaks: tuple[int, ...],
                  choose: random.Random) -> list[dict]:
    nodes = SHAPE[0] * SHAPE[1] * SHAPE[2]
    rows = []
    for count in breaks:
        apart = circles = adaptive = pairs_tried = 0
        lost, best = [], []
        for _ in range(draws):
            links = [x for _ in range(count) for x in (choose.randrange(nodes), choose.randrange(6))]
            experiment = _machine(faults__links=links, faults__unconnected="warn")
            machine = t3e.machine(experiment)
            connected = [(s, d) for s in range(0, nodes, 3) for d in range(nodes) if s != d]
            connected = list(set(connected) - set(machine.separated) - set(machine.stopped))
            apart += len(machine.separated) + len(machine.stopped)
            circles += bool(machine.circle)
            adaptive += machine.adaptive_pairs / machine.pairs / draws
            pairs_tried += len(connected)
            lost.append(once(_lost, experiment, connected))
            best.append(once(_highest_accepted, experiment, (0.4, 0.5, 0.6, 0.7)))
        where = f"{setting}, {count} broken links"
        reading = f"links at random, {draws} draws; the paper says that routes avoid such failures, but not how many"
        rows += [
            _row("pairs of PEs that are not connected", where, None, apart, reading=reading),
            _row(f"packets lost of {pairs_tried} connected pairs", where, 0, partial(_sum, lost), reading=reading),
            _row("tables that could deadlock", where, 0, circles, reading=reading, check=True),
            _row("pairs that still adapt", where, None, adaptive, "of all", 0, reading=reading),
            _row("throughput over that of the whole machine", where, None,
                 partial(lambda best: _sum(best) / draws / whole(), best), "times", 0, reading=reading),
        ]
    return rows


def _during_a_run(nodes: int) -> list[dict]:
    """Breaks a node during a run; new tables follow 500 clocks later."""
    victim, at, delay = nodes // 2 + 3, 2000, 500
    network = Network(_machine(faults__nodes=[victim], faults__cycle=at, faults__reroute_delay=delay,
                               traffic__load=0.2))
    lost = [network.step(clocks).totals["packets_dropped"] for clocks in (at, delay, 500, 2000)]
    before, between = lost[0], lost[1]
    start, end = network.totals, network.step(2000).totals
    arrived, sent = (end[key] - start[key] for key in ("packets_delivered", "packets_created"))
    where = f"{nodes} PEs, a node breaks during a run"
    return [
        _row("packets lost before the break", where, 0, before, check=True),
        _row("packets lost until the new tables", where, None, between, "", 0,
             reading="the paper gives no number; packets arrive whole or not at all; packets half across still arrive"),
        _row("packets that arrive with the new tables", where, 1 - 1 / (nodes - 1),
             arrived / sent * nodes / (nodes - 1), "of all", 0.01,
             reading="of packets not from the broken node; packets to it are lost, as no spare has its number",
             check=True),
    ]


def _spare(nodes: int) -> list[dict]:
    """Breaks a node that a spare replaces: it takes the logical number, and virtual numbers stay contiguous."""
    spare, victim = nodes - 1, 17
    machine = t3e.machine(_machine(topology__spares=[spare], faults__nodes=[victim]))
    numbers = sorted(pe.virtual for pe in machine.pes if pe.virtual is not None)
    gaps = sum(n != i for i, n in enumerate(numbers))
    network = Network(_machine(topology__spares=[spare], faults__nodes=[victim], traffic__load=0.2)).step(3000)
    where = f"{nodes} PEs, one of them a spare"
    return [
        _row("logical number of the spare", where, victim, machine.pes[spare].logical, check=True),
        _row("gaps in the virtual numbers", where, 0, gaps, reading="virtual numbers stay contiguous", check=True),
        _row("packets that do not arrive", where, 0, network.totals["packets_dropped"], check=True),
    ]


def _errors(setting: str) -> list[dict]:
    """Counts corrupted flits, detected on the way and corrected at the destination."""
    rate = 0.001
    network = Network(_machine(faults__error_rate=rate, traffic__load=0.2)).step(5000)
    totals = network.totals
    crossings = totals["flit_moves"] - totals["flits_delivered"]
    where = f"{setting}, {rate} errors per flit and link"
    return [
        _row("errors detected on the way, per flit and link", where, rate,
             totals["channel_errors"] / crossings, "", 0.1 * rate, check=True,
             reading="errors that the emulator generates, compared with the configured rate"),
        _row("corrected flits that were hit once", where, None,
             1 - totals["flits_hit_again"] / totals["flits_corrected"], "of all", 0,
             reading="the code is not published; the paper gives no limit on the correction, so a flit that was hit on "
                     "several links is corrected as well"),
    ]


EXPERIMENTS = {"t3e.faults": ("broken links and nodes, spares, channel errors (section 9)", faults)}
