"""Common parts of the experiments: the router, and three measures of throughput."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from flitlab.experiment import Experiment
from flitlab.ideal import ideal_throughput
from flitlab.reproduction import Throughput, row
from flitlab.runner import run, run_job
from flitlab.settings import dotted

# The router takes one cycle. Its allocators are nearly maximal, so that channels limit the throughput, not the router.
ONE_CYCLE = {"router.routing_delay": 0, "router.vc_allocation_delay": 0, "router.switch_allocation_delay": 1,
             "router.switch_traversal_delay": 0, "router.credit_delay": 1}
ALLOCATORS = {"router.vc_allocator": "islip", "router.switch_allocator": "islip", "router.allocator_iterations": 4}
ROUTER = ONE_CYCLE | ALLOCATORS | {"router.vcs": 12, "router.buffer_flits": 16, "traffic.packet_flits": 4}
ROUTER_IS = ("Routers of one cycle, with 12 virtual channels of 16 flits unless noted otherwise; separable allocators "
             "with four iterations (iSLIP); packets of 4 flits.")
HIGHEST = ("Throughput: the highest accepted load of several offered loads, because the accepted load of some "
           "algorithms falls beyond saturation. Ideal: the load at which the busiest channel is full; beyond it, "
           "terminals whose routes avoid this channel may send more.")
FLITS = "flits/cycle/terminal"


def network(**settings) -> Experiment:
    """Returns an experiment with the router of this module. Settings: dotted paths, ``__`` for a dot."""
    return Experiment.from_dict(ROUTER | dotted(settings))


def highest(e: Experiment, loads: Iterable[float], warmup: int = 2000, cycles: int = 3000) -> Throughput:
    """Returns the highest accepted load of several offered loads, flits/cycle/terminal."""
    e = e.set({"run.warmup_cycles": warmup, "run.measure_cycles": cycles, "run.drain_cycles": 0})
    experiments = [e.set("traffic.load", load) for load in loads]
    most = max(r["accepted"] for r in run_job(experiments, threads=1))
    return Throughput(most, ideal_throughput(experiments[0]))


def channel_limit(e: Experiment, load: float, cycles: int = 20000) -> float:
    """Returns the load at which the busiest channel would have a flit in every cycle, from the use of channels at a
    lower load: flits/cycle/terminal. It does not depend on the router, and is the throughput that analyses of oblivious
    routing state. With random routes, the busiest of many channels makes it about 2 % too low."""
    found = run(e.set({"traffic.load": load, "run.warmup_cycles": 1000, "run.measure_cycles": cycles,
                       "run.drain_cycles": 0}), threads=1, progress=False)
    return found.accepted / found.channels.use.max()


def carried(e: Experiment, high: float, steps: int = 7, cycles: int = 3000) -> Throughput:
    """Returns the saturation load by bisection up to ``high`` or to the ideal throughput, above which no load is steady
    for long: the highest load at which runs with two of three seeds are steady, flits/cycle/terminal."""
    e = e.set({"run.warmup_cycles": 2000, "run.measure_cycles": cycles, "run.drain_cycles": 2000})
    ideal = ideal_throughput(e)
    low, high = 0.0, high if ideal is None else min(high, ideal)
    for _ in range(steps):
        middle = (low + high) / 2
        runs = run_job([e.set({"traffic.load": middle, "run.seed": seed}) for seed in (1, 2, 3)], threads=1)
        if sum(r["verdict"] == "steady" for r in runs) >= 2:
            low = middle
        else:
            high = middle
    return Throughput(low, ideal)


def ratio(first, second) -> partial:
    """Returns a function of no arguments: the quotient of the results of two such functions."""
    return partial(lambda a, b: a() / b(), first, second)


def context(**settings) -> dict:
    """Returns a row that compares with no number."""
    return row(published=None, tolerance=0, **settings)


def relation(**settings) -> dict:
    """Returns a row on a relation without a number: a quotient that the source says is above 1. A quotient that exceeds
    1 by less than 1 % is out, because it may be chance."""
    return row(published=1, unit="times", tolerance=0, higher_is_better=True, **{"uncertainty": 0.01} | settings)
