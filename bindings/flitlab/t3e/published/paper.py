"""Experiments of the Cray T3E network paper."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.over_seeds import student
from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.settings import dotted
from flitlab.sweeps import sweep

PAPER = "The Cray T3E Network"

NS = 1000 / t3e.CLOCK_MHZ  # ns per clock
GAP = 130  # clocks between packets that must not meet; more than the longest latency


def _machine(shape: Iterable[int], **settings) -> Experiment:
    flat = dotted(settings)
    return Experiment.from_dict({"router.kind": "t3e", "topology.shape": list(shape), "traffic.self": False}
                                | flat)


def _one_by_one(shape: tuple[int, int, int], packets: list[tuple[int, int]], folder: str, trace_events: bool,
                **settings) -> Network:
    """Returns a machine in which one-flit packets are sent one after the other, `GAP` clocks apart."""
    trace = Path(folder) / "trace.csv"
    trace.write_text("".join(f"{GAP * n},{src},{dst},1\n" for n, (src, dst) in enumerate(packets)))
    return Network(_machine(shape, traffic__mode="trace", traffic__trace_file=str(trace), **settings),
                   trace=trace_events)


def _latencies(shape: tuple[int, int, int], pairs: list[tuple[int, int]], **settings) -> list[int]:
    """Returns the latency in clocks of a one-flit packet of each pair, sent one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        network = _one_by_one(shape, pairs, folder, False, **settings)
        sums = [0]
        for _ in pairs:
            network.step(GAP)
            sums.append(network.totals["latency_sum"])
    return [after - before for before, after in pairwise(sums)]


def table2(**settings) -> list[dict]:
    """Measures latencies of a router, from the clocks at which a packet's head reaches the pins of the routers."""
    shape = (8, 8, 8)
    # Destinations two hops from node 0 through node 1: straight on in X, and with a turn into Y.
    straight, turn = 2, 1 + 8
    with tempfile.TemporaryDirectory() as folder:
        network = _one_by_one(shape, [(0, straight), (0, turn)], folder, True, routing__adaptive=False, **settings)
        events = network.step(2 * GAP).events()
    at = {(e["id"], e["kind"], e["index"]): e["cycle"] for e in events if e["kind"] != "switch_granted"}
    reading = "End-point is the latency of each end, 10 clocks; the paper says approximately 10"
    measured = [
        ("straight through", 3, at[0, "arrived", straight] - at[0, "arrived", 1]),
        ("turn", 6, at[1, "arrived", turn] - at[1, "arrived", 1]),
        ("end-point, from the PE to the next router's pins", 10, at[0, "arrived", 1] - at[0, "injected", 0]),
        ("end-point, from the pins to the PE", 10, at[0, "delivered", straight] - at[0, "arrived", straight]),
    ]
    return [row("t3e.table2", what, f"{PAPER}, section 11, Table 2", "8x8x8, no other traffic", wanted, clocks,
                "clocks", 0, reading=reading, check="the delays of router and ends are settings")
            for what, wanted, clocks in measured]


def sizes() -> list[dict]:
    """Measures rates and sizes that the emulator takes from the paper unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        result = run(_between(folder, THERE).set({"traffic.packet_flits": 10, "traffic.load": 1.0,
                                                  "run.warmup_cycles": 1000, "run.measure_cycles": 8000,
                                                  "run.drain_cycles": 0}))
    crossing = result.accepted * result.terminals
    whole = {name: op.payload_words / op.response_flits for name, op in t3e.OPERATIONS.items() if "get" in name}
    network = Network(_machine((8, 8, 8)))
    names = [n for n in t3e.Machine(network).registers(0) if n.startswith("R_NET_LUT")]
    e = network.experiment
    common = {"experiment": "t3e.sizes", "setting": "8x8x8", "tolerance": 0, "check": True}
    return [
        row(quantity="a link, every bit", source=f"{PAPER}, section 10", published=600,
            measured=crossing * t3e.LINK_MB_PER_S, unit="MB/s",
            **common | {"setting": "two PEs across one link", "tolerance": 3}),
        row(quantity="a link, payload of vectors", source=f"{PAPER}, section 10", published=None,
            measured=crossing * t3e.LINK_MB_PER_S * max(whole.values()), unit="MB/s",
            reading="the paper says about 500", **common | {"setting": "two PEs across one link"}),
        row(quantity="PEs by direct look-up", source=f"{PAPER}, section 2", published=544, measured=len(names),
            unit="registers", **common),
        row(quantity="PEs with two bits that are not looked up", source=f"{PAPER}, section 2", published=2176,
            measured=4 * len(names), unit="PEs", **common),
        row(quantity="adaptive buffer", source=f"{PAPER}, section 5", published=22,
            measured=e["router.adaptive_buffer_flits"], unit="flits", **common),
        row(quantity="largest packets that it holds", source=f"{PAPER}, section 5", published=2,
            measured=e["router.adaptive_buffer_flits"] // max(op.request_flits for op in t3e.OPERATIONS.values()),
            unit="packets", **common),
    ]


def table3() -> list[dict]:
    """Counts the flits of each packet that leave the network, while a PE issues one operation at a time."""
    published = {"get": (2, 2), "vector get": (2, 10), "put": (4, 2), "vector put": (10, 2)}
    rows = []
    for name, lengths in published.items():
        with tempfile.TemporaryDirectory() as folder:
            settings = t3e.OPERATIONS[name].settings() | {"traffic.window": 1, "traffic.load": 1.0}
            events = Network(_between(folder, {0: 1}).set(settings), trace=True).step(300).events()
        ended = {(e["src"], e["id"]) for e in events if e["kind"] == "delivered"}
        flits = Counter((e["src"], e["id"]) for e in events
                        if e["kind"] == "switch_granted" and e["out_port"] == PE_PORT)
        arrived = [{flits[packet] for packet in ended if packet[0] == source} for source in (0, 1)]
        rows += [row("t3e.table3", f"{name}, {what}", f"{PAPER}, section 11, Table 3", "two PEs", wanted, count,
                     "flits", 0, check=True,
                     reading="the lengths are settings of the operations; here flits are counted as they leave")
                 for what, wanted, (count,) in zip(("request", "response"), lengths, arrived, strict=True)]
    return rows


PE_PORT = 6


def _between(folder: str, destinations: dict[int, int], shape: tuple[int, int, int] = (8, 2, 1),
             **settings) -> Experiment:
    """Returns an experiment in which only the PEs in `destinations` send, each to one other PE."""
    matrix = Path(folder) / "matrix.csv"
    nodes = math.prod(shape)
    matrix.write_text("".join(f"{pe},{destinations.get(pe, (pe + 1) % nodes)},{int(pe in destinations)}\n"
                              for pe in range(nodes)))
    return _machine(shape, traffic__pattern="matrix", traffic__matrix_file=str(matrix), **settings)


# Source -> destination of packets that cross the link between nodes 1 and 2 of a row.
THERE, BACK = {0: 3, 1: 2}, {3: 0, 2: 1}


def table4() -> list[dict]:
    """Measures the payload over the link between nodes 1 and 2 of a row, with two communicating PEs on either side."""
    published = {"get": (300, 150), "vector get": (480, 400), "put": (150, 100), "vector put": (480, 400)}
    rows = []
    for name, wanted in published.items():
        operation = t3e.OPERATIONS[name]
        for what, bandwidth, destinations in (("one-way", wanted[0], THERE), ("symmetrical", wanted[1], THERE | BACK)):
            with tempfile.TemporaryDirectory() as folder:
                result = run(_between(folder, destinations).set(operation.settings() | {
                    "traffic.load": 1.0, "traffic.window": 256, "traffic.reply_queue": 256,
                    "run.warmup_cycles": 4000, "run.measure_cycles": 40000}))
            # One-way: the payload of all PEs crosses in one direction. Symmetrical: half of it in each direction.
            rate = result.model.transactions_per_cycle_per_terminal * result.terminals * 2 / len(destinations)
            rows.append(row("t3e.table4", f"{name}, {what}", f"{PAPER}, section 11, Table 4",
                            "four PEs across one link", bandwidth, rate * operation.payload_words * t3e.LINK_MB_PER_S,
                            "MB/s", 0.01 * bandwidth,
                            reading="requests and responses of a PE use opposite directions; symmetrical: both sides "
                                    "issue, and the payload is that of one direction; two PEs share it, so that no "
                                    "port is the limit"))
    return rows


def _formula(shape: tuple[int, int, int], src: int, dst: int, ends: int) -> int:
    """Returns the one-way latency in clocks by Table 2: both ends, straight hops and turns."""
    hops = dims = 0
    for k, ring in zip(shape, (True, shape[1] > 2, shape[2] > 1), strict=True):
        a, b = src % k, dst % k
        src, dst = src // k, dst // k
        hops += min((b - a) % k, (a - b) % k) if ring else abs(a - b)
        dims += a != b
    return ends + 3 * (hops - dims) + 6 * (dims - 1)


# Readings of the paper's 10 clocks of an end-point: settings of the machine, and clocks of both ends together.
END_POINTS = {
    "10 clocks at either end": ({}, 20),
    "10 clocks for both ends together": ({"router__source_delay": 5, "router__destination_delay": 5}, 10),
}


def figure7(sizes: Iterable[int] = tuple(t3e.SHAPES)) -> list[dict]:
    """Measures round trips without contention: mean and longest over all destinations of some PEs."""
    rows = []
    source = f"{PAPER}, section 11, Figure 7 and Table 2"
    for nodes in sizes:
        shape = t3e.SHAPES[nodes]
        sources = range(nodes) if nodes <= 32 else (nodes // 2 + 3,)
        pairs = [(s, d) for s in sources for d in range(nodes) if s != d]
        for reading, (settings, ends) in END_POINTS.items():
            setting = f"{nodes} PEs, {len(pairs)} pairs, {reading}"
            measured = _latencies(shape, pairs, **settings)
            off = sum(clocks != _formula(shape, s, d, ends) for clocks, (s, d) in zip(measured, pairs, strict=True))
            rows += [row("t3e.figure7", what, source, setting, None, 2 * NS * f(measured), "ns", 0,
                         reading="the paper's curve is lost")
                     for what, f in (("round trip, mean", statistics.mean), ("round trip, longest", max))]
            rows.append(row("t3e.figure7", "pairs that differ from the sum of Table 2", source, setting, 0, off, "", 0,
                            check=True))
    return rows


def bisection(shape: tuple[int, int, int]) -> float:
    """Returns the GB/s through the narrowest bisection, both directions together, if all PEs beside it send across."""
    nodes = math.prod(shape)
    rings = (True, shape[1] > 2, shape[2] > 1)
    dim = min((d for d in range(3) if shape[d] > 1), key=lambda d: nodes // shape[d] * (1 + rings[d]))
    k, stride = shape[dim], math.prod(shape[:dim])
    across = {k // 2 - 1: 1, k // 2: -1} | ({k - 1: 1 - k, 0: k - 1} if rings[dim] else {})
    pairs = {pe: pe + across[at] * stride for pe in range(nodes) if (at := pe // stride % k) in across}
    with tempfile.TemporaryDirectory() as folder:
        result = run(_between(folder, pairs, shape, traffic__packet_flits=10, traffic__load=1.0,
                              traffic__injection="periodic", run__warmup_cycles=500, run__measure_cycles=2000,
                              run__drain_cycles=0))
    return result.accepted * nodes * t3e.LINK_MB_PER_S / 1000


COLLAPSE = (
    "beyond the peak the throughput of long rings collapses. VC balance is not the cause: it also happens with full "
    "tables, and in flitlab's canonical router on a ring of 32. In 2x32x2 the deterministic channels alone carry a "
    "sixth of the bound, nearly all of it from the nodes just before the end of a chain of full buffers. This fits "
    "nodes that let joining packets take turns with packets on the ring, so that packets from afar starve. Few "
    "outstanding references prevent it")


def figure8(sizes: Iterable[int] = tuple(t3e.SHAPES), cycles: int = 2500) -> list[dict]:
    """Compares the global bandwidth of a PE under uniform traffic with the bound of port and links. cycles: length of
    warm-up and of measurement at each load."""
    return [line for nodes in sizes for line in bandwidth(nodes, cycles)]


def bandwidth(nodes: int, cycles: int) -> list[dict]:
    """Returns Figure 8's rows for one size."""
    source, shape, setting = f"{PAPER}, section 11, Figure 8", t3e.SHAPES[nodes], f"{nodes} PEs"
    half = once(bisection, shape)
    port = t3e.LINK_MB_PER_S * nodes / (nodes - 1)  # 1 / nodes of uniform traffic goes to the sender itself
    bound = once(lambda: min(port, 2000 * half() / nodes))
    rows = [
        row("t3e.figure8", "bisection bandwidth", source, setting, 153.6 if nodes >= 512 else None, half, "GB/s",
            0.01 * 153.6, reading="all PEs beside the narrowest cut send across it; published for 512 and more"),
        # The paper gives the bound of links only for 128 to 512 PEs. At 512 it is the bisection above in other units.
        row("t3e.figure8", "bandwidth per PE, computed", source, setting, 600 if 128 <= nodes < 512 else None,
            bound, "MB/s", 6, check="the rate of a link is a setting, and the narrowest cut is a count",
            reading="N / (N - 1) of the port or twice the measured bisection over N, whichever is less; "
                    "the curve is lost, the published values follow from the text"),
    ]
    machine = _machine(shape, traffic__packet_flits=10, run__warmup_cycles=cycles, run__measure_cycles=cycles,
                       run__drain_cycles=0)
    most = once(lambda: bound() / port)  # the bound as a load in flits per clock and PE

    def uniform() -> tuple[dict, dict]:
        parts = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
        loads = sweep(machine, over={"traffic.load": [round(most() * p, 4) for p in parts]}, progress=False).rows
        return max(loads, key=lambda r: r["accepted"]), loads[-1]

    def few() -> dict:
        loop = machine.set(t3e.OPERATIONS["vector put"].settings() | {"traffic.load": 1.0})
        return max(sweep(loop, over={"traffic.window": [3, 4, 5, 6]}, progress=False).rows, key=lambda r: r["accepted"])

    both, few_of = once(uniform), once(few)

    def reading(i: int, note: str) -> str:
        return f"at a load of {both()[i]['traffic.load']}; the paper gives no number{note}"

    for i, (what, note) in enumerate((("most of all loads", ""), ("at the bound", f"; {COLLAPSE}" * (nodes > 512)))):
        rows.append(row("t3e.figure8", f"uniform traffic, {what}", source, setting, None,
                        partial(lambda i: both()[i]["accepted"] / most(), i), "of it", 0,
                        reading=partial(reading, i, note)))
    if nodes > 512:
        rows.append(row("t3e.figure8", "vector puts, few at a time", source, setting, None,
                        lambda: few_of()["accepted"] / most(), "of it", 0, reading=lambda: (
                            f"at most {few_of()['traffic.window']} outstanding; requests and responses")))
    return rows


def sustained(shape: Iterable[int], pattern: str, seeds: int, cycles: int, **settings) -> list[float]:
    """Returns the highest accepted traffic over loads up to 1, for each seed."""
    experiment = _machine(shape, traffic__pattern=pattern, traffic__packet_flits=[[2, 1], [10, 1]],
                          run__warmup_cycles=cycles, run__measure_cycles=cycles, run__drain_cycles=0, **settings)
    rows = sweep(experiment, over={"traffic.load": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0]}, seeds=seeds,
                 progress=False).rows
    best: dict[int, float] = {}
    for r in rows:
        best[r["run.seed"]] = max(r["accepted"], best.get(r["run.seed"], 0))
    return list(best.values())


def gain(ours: list[float], others: list[float]) -> tuple[float, float]:
    """Returns the mean ratio of runs with the same seeds, and half of its 95 % confidence interval."""
    ratios = [a / b for a, b in zip(ours, others, strict=True)]
    half = student(len(ratios) - 1) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return statistics.mean(ratios), half


def adaptive(large: tuple[int, int, int] = (8, 8, 4), small: tuple[int, int, int] = (4, 4, 4), seeds: int = 3,
             cycles: int = 2000) -> list[dict]:
    """Compares sustained throughput of router variants, as ratios over several seeds. large: shape for variants in the
    paper; small: shape for other variants."""
    def ratio(what, shape, pattern, ours, others, published, reading):
        both = once(lambda: gain(ours(), others()))
        return row("t3e.adaptive", f"throughput, {what}", f"{PAPER}, sections 4 and 5",
                   f"{math.prod(shape)} PEs, {pattern}", published, lambda: both()[0], "times", 0,
                   higher_is_better=True, uncertainty=lambda: both()[1],
                   reading=lambda: f"{reading}; {seeds} seeds, 95 % interval +- {both()[1]:.3f}: it rises only if all "
                                   "of the interval is above 1")

    rows = []
    for pattern in ("uniform", "transpose"):
        ours = once(sustained, large, pattern, seeds, cycles)
        for what, other in (("adaptive over deterministic", {"routing__adaptive": False}),
                            ("optimised VCs over time of crossing", {"routing__vc_select": "time_of_crossing"})):
            rows.append(ratio(what, large, pattern, ours, once(sustained, large, pattern, seeds, cycles, **other), 1,
                              "the paper says that it rises, not by how much"))
    choices = {
        "adaptive over deterministic": ({}, {"routing__adaptive": False}),
        "any direction over highest": ({"router__adaptive_choice": "any"}, {}),
        "two adaptive VCs over one": ({"router__adaptive_vcs": 2}, {}),
        "44 flits of adaptive buffer over 22": ({"router__adaptive_buffer_flits": 44}, {}),
        "24 flits of deterministic buffer over 12": ({"router__deterministic_buffer_flits": 24}, {}),
    }
    for pattern, chosen in (("tornado", tuple(choices)[:1]), ("uniform", tuple(choices)[1:])):
        for what in chosen:
            ours, others = (once(sustained, small, pattern, seeds, cycles, **s) for s in choices[what])
            rows.append(ratio(what, small, pattern, ours, others, None, "the paper gives no number"))
    return rows


EXPERIMENTS = {
    "t3e.table2": ("latencies of a router (Table 2)", table2),
    "t3e.sizes": ("rates and sizes that the emulator takes from the paper (sections 2, 5, 10)", sizes),
    "t3e.table3": ("lengths of packets (Table 3)", table3),
    "t3e.table4": ("payload bandwidth of a saturated link (Table 4)", table4),
    "t3e.figure7": ("round trips by size of the machine (Figure 7)", figure7),
    "t3e.figure8": ("global bandwidth of a PE by size of the machine (Figure 8)", figure8),
    "t3e.adaptive": ("throughput gain of adaptive routing and optimised virtual channels (sections 4 and 5)", adaptive),
}
