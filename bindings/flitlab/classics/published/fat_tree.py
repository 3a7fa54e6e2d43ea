"""Adaptive against oblivious routing in fat trees, which are folded Clos networks (Kim, Dally, Abts 2006)."""

from __future__ import annotations

from functools import cache

from flitlab.classics.published.measuring import FLITS, ROUTER_IS, context, highest, network, ratio, relation
from flitlab.reproduction import once
from flitlab.runner import run

KIM = "Adaptive Routing in High-Radix Clos Network, abstract"
TREES = {"two levels, 64 terminals": {"topology__children": [8], "topology__parents": [8],
                                      "topology__concentration": 8},
         "three levels, 64 terminals": {}}
ALGORITHMS = {"adaptive": "adaptive", "oblivious": "nearest_common_ancestor"}
LOAD = 0.6
READING = (
    "Only the abstract was read. It says that adaptive routing, if done properly, has lower latency, lower variance of "
    f"latency, and higher throughput with limited buffers. {ROUTER_IS} Here 4 virtual channels of 8 flits. Adaptive: "
    "up to the port with a free virtual channel and the most credits; oblivious: up to a random port. Spread, read as "
    f"the variance: the 99th percentile less the median. Latencies are at load {LOAD}.")
READING_GREEDY = (
    READING + " With packets of one flit, adaptive routing is worse: all heads of a router choose again in every cycle "
    "from the same credits, so that many choose the same port. The paper's condition, if done properly, concerns this.")


def tree(name: str, algorithm: str, pattern: str, flits: int = 4):
    return network(topology__kind="fat_tree", routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern,
                   traffic__packet_flits=flits, router__vcs=4, router__buffer_flits=8, **TREES[name])


def throughput(name: str, algorithm: str, pattern: str, flits: int = 4) -> float:
    return highest(tree(name, algorithm, pattern, flits), (0.7, 0.8, 0.9))


@cache
def latency(name: str, algorithm: str, pattern: str) -> tuple[float, float]:
    """Returns the mean latency and the spread, in cycles."""
    e = tree(name, algorithm, pattern).set({"traffic.load": LOAD, "run.warmup_cycles": 2000,
                                            "run.measure_cycles": 5000})
    found = run(e, threads=1, progress=False).latency_cycles
    return found.mean, found.p99 - found.p50


def fat_tree() -> list[dict]:
    """Throughput and latency of adaptive and oblivious routing."""
    common = {"experiment": "classics.fat_tree", "source": KIM}
    rows = []
    for name in TREES:
        for pattern in ("uniform", "bit_complement"):
            setting = f"{name}, {pattern}"
            at = {a: once(throughput, name, a, pattern) for a in ALGORITHMS}
            mean = {a: once(lambda *which: latency(*which)[0], name, a, pattern) for a in ALGORITHMS}
            spread = {a: once(lambda *which: latency(*which)[1], name, a, pattern) for a in ALGORITHMS}
            rows += [context(quantity=f"throughput, {a}", setting=setting, measured=at[a], unit=FLITS, reading=READING,
                             **common) for a in ALGORITHMS]
            rows += [relation(quantity=f"{quantity} over {other}", setting=setting, measured=ratio(over, under),
                              reading=READING, **common)
                     for quantity, other, over, under in (
                         ("throughput, adaptive", "oblivious", at["adaptive"], at["oblivious"]),
                         ("latency, oblivious", "adaptive", mean["oblivious"], mean["adaptive"]),
                         ("spread of latency, oblivious", "adaptive", spread["oblivious"], spread["adaptive"]))]
    single = {a: once(throughput, name, a, pattern, 1) for a in ALGORITHMS}
    rows.append(context(quantity="throughput, adaptive over oblivious", setting=f"{setting}, packets of a flit",
                        measured=ratio(single["adaptive"], single["oblivious"]), unit="times", reading=READING_GREEDY,
                        **common))
    return rows


EXPERIMENTS = {
    "classics.fat_tree": ("adaptive against oblivious routing in fat trees (5 s)", fat_tree),
}
