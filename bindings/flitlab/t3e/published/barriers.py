"""Barriers of the Cray T3E network paper (section 6) against remote references."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial

from flitlab import t3e
from flitlab.network import Network
from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.t3e.published.paper import GAP, PAPER, _latencies, _machine


def reference(shape: tuple[int, int, int], others: range, name: str = "get") -> dict[int, int]:
    """Returns the clocks of an operation of PE 0 on each of `others`, in an idle machine: both head latencies, and the
    flits that follow the heads."""
    operation = t3e.OPERATIONS[name]
    there, back = [(0, pe) for pe in others], [(pe, 0) for pe in others]
    return {pe: a + b + operation.request_flits + operation.response_flits - 2
            for pe, a, b in zip(others, _latencies(shape, there), _latencies(shape, back), strict=True)}


def of_a_barrier(shape: tuple[int, int, int], cycles: int, **settings) -> float:
    """Returns the clocks from one completion to the next, if every PE joins again at once."""
    network = Network(_machine(shape, barrier__units=1, **settings)).step(3000)
    before = network.totals["barriers"]
    return cycles * math.prod(shape) / (network.step(cycles).totals["barriers"] - before)


def barrier(each: int = 1, cycles: int = 20000) -> list[dict]:
    """Compares global barriers, repeated over all PEs, with single-word Gets. In an idle machine the Get is the one to
    the farthest PE, or the mean of Gets to every `each`-th PE. In a machine where every PE issues Gets, the mean of all
    Gets counts. cycles: length of the barrier measurement in an idle machine; with Gets, half of this length."""
    nodes, shape = 512, t3e.SHAPES[512]
    farthest = 4 + 8 * (4 + 8 * 4)
    get = t3e.OPERATIONS["get"]
    others = range(farthest % each or each, nodes, each)
    ways = once(reference, shape, others)
    idle = once(of_a_barrier, shape, cycles, traffic__load=0.0)
    rows = [("idle", "the farthest", idle, lambda: ways()[farthest]),
            ("idle", "the mean", idle, lambda: statistics.mean(ways().values()))]
    for load in (0.1, 1.0):
        gets = {"traffic__mode": "request_reply", "traffic__packet_flits": get.request_flits, "traffic__window": 16,
                "traffic__reply_flits": get.response_flits, "traffic__load": load}
        windows = {"run__warmup_cycles": 1000, "run__measure_cycles": 2000}
        rows.append((f"Gets, load {load:g}", "the mean", once(of_a_barrier, shape, cycles // 2, **gets),
                     once(round_trip, shape, **windows, **gets)))
    judged = [row("t3e.barrier", f"barrier over remote reference, {which}", f"{PAPER}, section 6",
                  f"{nodes} PEs, {name}", 1, partial(lambda a, b: a() / b(), clocks, way), "times", 0,
                  lower_is_better=True, why=WHY_MEAN,
                  reading=partial(lambda a, b: f"{a():.1f} and {b():.1f} clocks; {READING_BARRIER}", clocks, way))
              for name, which, clocks, way in rows]
    return judged + alternatives(others, cycles)


def round_trip(shape: tuple[int, int, int], **settings) -> float:
    """Returns the mean clocks of a Get if all PEs issue Gets."""
    return run(_machine(shape, barrier__units=1, **settings)).model.round_trip_cycles_mean


def from_the_last_join(shape: tuple[int, int, int], last: list[int]) -> list[int]:
    """Returns the clocks from the last PE's join until its own unit leaves S_ARM, for each PE of `last`."""
    network = Network(_machine(shape, barrier__units=1, barrier__operation="by_hand", traffic__load=0.0))
    machine, clocks = t3e.Machine(network), []
    for pe in last:
        for other in range(math.prod(shape)):
            if other != pe:
                machine.barrier_operation(other, "OP_BAR")
        network.step(GAP)
        machine.barrier_operation(pe, "OP_BAR")
        start = network.cycle
        while machine.barrier_state(pe) == "S_ARM":
            network.step(1)
        clocks.append(network.cycle - start)
        network.step(GAP)  # until all other PEs are notified
    return clocks


def alternatives(others: range, cycles: int) -> list[dict]:
    """Compares the barrier with other kinds of remote references, to which the paper's statement about the mean
    reference could apply."""
    def line(setting: str, quantity: str, clocks: Callable[[], float], ways: Callable[[], dict[int, int]]) -> dict:
        return row("t3e.barrier", f"barrier over {quantity}", f"{PAPER}, section 6", f"{setting}, idle", None,
                   lambda: clocks() / statistics.mean(ways().values()), "times", 0,
                   reading="other operations, sizes and ways of counting that could explain the mean reference")

    shape = t3e.SHAPES[512]
    gets, clocks = once(reference, shape, others), once(of_a_barrier, shape, cycles, traffic__load=0.0)
    rows = [line("512 PEs", f"the mean {name}", clocks, once(reference, shape, others, name))
            for name in ("vector get", "put", "vector put")]
    rows.append(line("512 PEs", f"the mean get with {MEMORY} clocks of memory", clocks,
                     lambda: {pe: way + MEMORY for pe, way in gets().items()}))
    last = list(others)[::max(1, len(others) // LAST)]
    rows.append(line("512 PEs", f"the mean get, from the last PE's join until it knows, {len(last)} PEs",
                     lambda: statistics.mean(from_the_last_join(shape, last)), gets))
    return rows + [line(f"{nodes} PEs", "the mean get",
                        once(of_a_barrier, t3e.SHAPES[nodes], cycles, traffic__load=0.0),
                        once(reference, t3e.SHAPES[nodes], range(1, nodes))) for nodes in (64, 128, 256)]


MEMORY = 8  # clocks (107 ns)
LAST = 16  # PEs that join last
WHY_MEAN = (
    "The paper says that a barrier is faster than a remote reference, without saying which one. A barrier waits for "
    "the farthest PE, so it is compared with the farthest reference, too, and is then faster. In an idle machine it is "
    "a few clocks slower than the mean single-word Get without memory time; in a loaded machine (other judged rows) it "
    "is faster.")
READING_BARRIER = (
    "a barrier packet passes a router in 3 clocks, as without arbitration, and goes before all others, so load hardly "
    "delays it; references are single-word Gets without memory time, in an otherwise idle machine, or in one where "
    "every PE has up to 16 outstanding; the paper does not say whether it means the mean or the farthest reference, "
    "nor under which load")


EXPERIMENTS = {"t3e.barrier": ("global barriers against remote references (section 6)", barrier)}
