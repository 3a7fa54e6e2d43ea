"""Barriers of the Cray T3E network paper (section 6) against remote references."""

from __future__ import annotations

import statistics

from flitlab import t3e
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.runner import run
from flitlab.t3e.published.paper import PAPER, _latencies, _machine


def barrier(each: int = 1, cycles: int = 20000) -> list[dict]:
    """Global barriers, one after the other over all PEs. In an idle machine, against a Get of one word from the
    farthest PE, and from the mean one of every `each`-th; in one where every PE issues Gets, against the mean of
    those. cycles: in which barriers are counted, in an idle machine; half as many where there are Gets."""
    nodes, shape = 512, t3e.SHAPES[512]
    farthest = 4 + 8 * (4 + 8 * 4)
    get = t3e.OPERATIONS["get"]
    others = range(farthest % each or each, nodes, each)
    there, back = [(0, pe) for pe in others], [(pe, 0) for pe in others]
    ways = {pe: a + b + get.request_flits + get.response_flits - 2
            for pe, a, b in zip(others, _latencies(shape, there), _latencies(shape, back), strict=True)}

    def of_a_barrier(cycles: int, **settings) -> float:
        network = Network(_machine(shape, barrier__units=1, **settings)).step(3000)
        before = network.totals["barriers"]
        return cycles * nodes / (network.step(cycles).totals["barriers"] - before)

    idle = of_a_barrier(cycles, traffic__load=0.0)
    rows = [("idle", "the farthest", idle, ways[farthest]), ("idle", "the mean", idle, statistics.mean(ways.values()))]
    for load in (0.1, 1.0):
        gets = {"traffic__mode": "request_reply", "traffic__packet_flits": get.request_flits, "traffic__window": 16,
                "traffic__reply_flits": get.response_flits, "traffic__load": load}
        windows = {"run__warmup_cycles": 1000, "run__measure_cycles": 2000}
        reference = run(_machine(shape, barrier__units=1, **windows, **gets)).model.round_trip_cycles_mean
        rows.append((f"Gets, load {load:g}", "the mean", of_a_barrier(cycles // 2, **gets), reference))
    return [row("t3e.barrier", f"barrier over remote reference, {which}", f"{PAPER}, section 6",
                f"{nodes} PEs, {name}", 1, clocks / reference, "times", 0, lower_is_better=True,
                reading=f"{clocks:.1f} and {reference:.1f} clocks; {READING_BARRIER}")
            for name, which, clocks, reference in rows]


READING_BARRIER = (
    "a barrier packet passes a router in the 3 clocks of one that needs no arbitration, and goes before all others, so "
    "that load hardly holds it up; references are Gets of one word, without memory, in a machine that is idle but for "
    "them, or in which every PE has up to 16 outstanding; the paper does not say whether it means the mean or the "
    "farthest, nor under which load")


EXPERIMENTS = {"t3e.barrier": ("global barriers against remote references (section 6)", barrier)}
