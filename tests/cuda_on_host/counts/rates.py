"""A model of the CUDA engine's rate: which of a device's limits a network meets first, by what is counted of its
kernel.

Every input is counted (counts/main.cpp), or a constant of the device, each with where it comes from and how far it may
be off; so a prediction is a range. `table` puts measured rates (tests/gpu/run.sh) beside it.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import host_code
import sass

ROOT = Path(__file__).resolve().parents[3]
WARP = 32


@dataclass(frozen=True)
class Constant:
    low: float  # the slowest that is likely
    likely: float
    high: float
    unit: str
    source: str


def of_the_engine(name: str) -> float:
    """A constant of kernels/engines/engine_cost.hpp, by which `backend = auto` chooses."""
    text = (ROOT / "kernels" / "engines" / "engine_cost.hpp").read_text(encoding="utf-8")
    return float(re.search(rf"\b{name} = ([\d.]+)", text).group(1))


H200 = {
    "multiprocessors": Constant(132, 132, 132, "", "NVIDIA H200 data sheet"),
    "clock": Constant(1.6e9, 1.755e9, 1.98e9, "/s", "data sheet: 1.98 GHz at most; kept up under load: assumed"),
    "schedulers": Constant(4, 4, 4, "a multiprocessor", "Hopper: each issues one warp's instruction a clock"),
    "wait for a load": Constant(150e-9, of_the_engine("kLoadNs") * 1e-9, 20e-9, "s",
                                "assumed: all from the second cache, a mixture, all from the first"),
    "second cache": Constant(4e12, of_the_engine("kBytesPerNs") * 1e9 * 132, 7e12, "B/s", "assumed"),
    "memory": Constant(3.8e12, 4.3e12, 4.8e12, "B/s", "data sheet: 4.8e12; a part of it assumed"),
    "second cache holds": Constant(50e6, 50e6, 50e6, "B", "data sheet"),
    "barrier of a block": Constant(100e-9, of_the_engine("kBlockBarrierNs") * 1e-9, 25e-9, "s", "assumed"),
    "barrier of the grid": Constant(4e-6, of_the_engine("kGridBarrierNs") * 1e-9, 1.2e-6, "s", "assumed"),
    "threads of a block": Constant(512, 512, 512, "", "kBlockThreads; 768 of lanes, by their registers"),
    "instructions for one of the host's": Constant(1.5, 1, 0.75, "", "profiled ones by counted ones, at load 0.2: 0.77 "
                                                   "to 1.45, of switches, 32 to a warp, 0.25"),
    "the same in lanes": Constant(0.5, 0.36, 0.3, "", "59 that were profiled by 164 that are counted"),
    "wait for shared memory": Constant(35, 29, 23, "clocks", "assumed, by published measurements; shuffles, votes too"),
    "wait for others": Constant(24, 20, 16, "clocks", "assumed: conversions, searches for bits, the constant cache"),
}
LEVELS = ("low", "likely", "high")


def latencies(which: str) -> sass.Latencies:
    chip = {name: getattr(constant, which) for name, constant in H200.items()}
    return sass.Latencies(chip["wait for a load"] * chip["clock"], chip["wait for shared memory"],
                          chip["wait for others"])


@dataclass(frozen=True)
class Work:
    """What is counted of a router-cycle of a model."""

    instructions: dict[str, float]  # of the GPU's code, that warps issue
    clocks: dict[str, float]  # that a warp takes for a cycle if it is alone
    bytes: float  # moved by sectors
    state: float  # bytes of a router and its terminals
    crew: int = 0  # threads that work on 128 routers in lanes; 0: a thread has a router
    lookahead: int = 1  # cycles between two barriers

    @property
    def threads_of_a_router(self) -> float:
        return self.crew / 128 if self.crew else 1


def work_of(counted: dict, kernel: sass.Kernel, host: dict[int, int]) -> Work:
    """`host`: instructions of basic blocks (host_code.blocks_of)."""
    each = counted["routers"] * counted["replicas"] * counted["cycles"]
    crew = counted.get("crew", 0)
    threads = counted["routers"] * counted["replicas"] * (crew / 128 if crew else 1)
    warps = max(1.0, threads / WARP) * counted["cycles"]
    ratio = H200["the same in lanes" if crew else "instructions for one of the host's"]
    issued = {which: host_code.instructions(host, counted["visits"]) * getattr(ratio, which) for which in LEVELS}
    clocks = {which: n / warps * sass.clocks_of_an_instruction(kernel, latencies(which)) for which, n in issued.items()}
    return Work({which: n / each for which, n in issued.items()}, clocks,
                32 * (counted["load_sectors"] + counted["store_sectors"]) / each,
                counted["state_bytes"] / counted["routers"], crew, counted.get("lookahead", 1))


def seconds_of_a_cycle(work: Work, routers: int, replicas: int, which: str) -> dict[str, float]:
    """By limit: the seconds that it takes all networks to go on by a cycle. `which`: low, likely or high."""
    chip = {name: getattr(constant, which) for name, constant in H200.items()}
    lanes = work.crew > 0
    everywhere, processors, block = routers * replicas, chip["multiprocessors"], chip["threads of a block"]
    block = block * 3 // 2 if lanes else block
    threads = math.ceil(routers * work.threads_of_a_router)
    resident = threads <= block or (not lanes and threads <= 8 * block and replicas >= processors)
    if resident:
        warps = math.ceil(min(threads, block) / WARP)
        # Networks. Lanes are held in shared memory only where none has to wait for it.
        at_once = processors * max(1, int(block // (WARP * warps)))
        turns, barrier = math.ceil(replicas / at_once) * math.ceil(threads / block), chip["barrier of a block"]
        busy = min(processors, math.ceil(replicas * min(warps, 1)))
    else:
        turns, barrier = math.ceil(threads * replicas / (processors * block)), chip["barrier of the grid"]
        busy = min(processors, math.ceil(threads * replicas / WARP))
    part = busy / processors
    state = work.state * everywhere
    return {
        "issue": everywhere * work.instructions[which] / (busy * chip["schedulers"] * chip["clock"]),
        "second cache": everywhere * work.bytes / (part * chip["second cache"]),
        # What does not stay in the second cache is read and written once a cycle, or as often as it is moved.
        "memory": 0 if state < chip["second cache holds"] else
        everywhere * min(work.bytes, 2 * work.state) / chip["memory"],
        "a warp's instructions": turns * work.clocks[which] / chip["clock"],
        "barrier": barrier / work.lookahead,
    }


@dataclass(frozen=True)
class Prediction:
    low: float
    likely: float
    high: float
    limit: str


def predict(work: Work, routers: int, replicas: int) -> Prediction:
    """Router-cycles per second. Limits overlap, but for barriers."""
    rates = {}
    for which in LEVELS:
        times = seconds_of_a_cycle(work, routers, replicas, which)
        rates[which] = routers * replicas / (max(t for name, t in times.items() if name != "barrier")
                                             + times["barrier"])
    times = seconds_of_a_cycle(work, routers, replicas, "likely")
    return Prediction(rates["low"], rates["likely"], rates["high"], max(times, key=times.get))


CASES = {"one network of 64": (64, 1), "a thousand networks of 64": (64, 1000), "one network of 32768": (32768, 1)}
LARGE = ("vc", "bgl", "bless")  # those that tests/perf/gpu_report.cpp has of 32768 routers

CYCLE = """
## What a cycle takes

Instructions are those that warps issue: counted of the host's code of the same source, basic block by basic block
([host_code.py](../tests/cuda_on_host/counts/host_code.py)), times those that the GPU's code has for one of the host's,
as the profiler's counts say. Clocks are those of a warp that is alone, with a router to each thread, or of one
of the warps of a crew in lanes: the GPU's code says how long an instruction holds up the next, and which results it
waits for ([sass.py](../tests/cuda_on_host/counts/sass.py)); how long these take is assumed below. `vc, one by one` are
routers with `router.routing_delay = 2`, which lanes do not know, in the kernel that all models share. Before a GPU
was there, 1.4 was assumed: lanes were said to issue 228 instructions at load 0.2, and issue 59.

| model | load | instructions, a router-cycle | clocks of a warp, a cycle | from | to |
|---|---|---|---|---|---|
"""
INTRODUCTION = """
## A model of the rate

What is counted of the kernels and what is known, or assumed, of an NVIDIA H200 gives a rate for each of its limits:
instructions issued, bytes moved from the second cache and from memory, what a warp takes for its instructions,
barriers. The slowest limits the network; the range is that of the constants below. The last column is measured, as
above. The model knows nothing of instructions that have to be fetched, which is what warps of `t3e`, `bgl` and `metro`
wait for most.
`backend = auto` chooses by a simpler function ([engine_cost.hpp](../kernels/engines/engine_cost.hpp)), by counts of a
model's table (`EngineCost`), and 10 microseconds for each launch and copy of an epoch.

| model | load | network | predicted, router-cycles/s | from | to | limit | measured |
|---|---|---|---|---|---|---|---|
"""
OUTSIDE = """
Of {compared} measured rates {inside} lie in the range that was predicted. Below it: {below}. Above it: {above}.

Likely reasons, by what the profiler says that warps wait for (above):

* The model has neither the wait for instructions, which METRO's and Blue Gene/L's warps and those of plain routers one
  by one spend 25 to 76% of their time in, nor that for the slowest warp at a barrier (Blue Gene/L: 49%, crews of lanes,
  which meet four times in a cycle: 19%); S-Connect's wait for memory (67%) longer than was assumed.
* Counts are of 64 routers. A mesh of 256x128 bufferless routers is full at a load of 0.05 already, so that its routers
  do what those of a small mesh do past saturation. A thousand small ones may have more in the second cache than was
  assumed.
* One instruction is assumed for one of the host's; of switches the profiler has a quarter.
"""
CONSTANTS = """
| of the device | slow | likely | fast | unit | where it comes from |
|---|---|---|---|---|---|
"""


def cycle_table(counts: list[dict], works: list[Work]) -> str:
    text = CYCLE
    for counted, work in zip(counts, works, strict=True):
        text += (f"| {counted['model']} | {counted['load']:g} | {work.instructions['likely']:.0f} "
                 f"| {work.clocks['likely']:,.0f} | {work.clocks['high']:,.0f} | {work.clocks['low']:,.0f} |\n")
    return text


def summary(networks: dict[str, list[str]]) -> str:
    """Networks with their loads."""
    return "; ".join(f"{network} ({', '.join(loads)})" for network, loads in networks.items()) or "none"


def table(counts: list[dict], works: list[Work], measured: dict[tuple, float]) -> str:
    text = INTRODUCTION
    outside: dict[str, dict[str, list[str]]] = {"below": {}, "above": {}}
    compared = 0
    for counted, work in zip(counts, works, strict=True):
        for name, (routers, replicas) in CASES.items():
            if routers > 64 and counted["model"].split(",")[0] not in LARGE:
                continue
            size = (counted["routers"] if routers == 64 else routers, replicas)
            label = name.replace("network of 64", "switch").replace("networks of 64", "switches") \
                if counted["model"] == "switch" else name
            p = predict(work, *size)
            rate = measured.get((counted["model"], counted["load"], *size))
            text += (f"| {counted['model']} | {counted['load']:g} | {label} | {p.likely:.2g} | {p.low:.2g} "
                     f"| {p.high:.2g} | {p.limit} | {f'{rate:.3g}' if rate else ''} |\n")
            compared += bool(rate)
            if rate and not p.low <= rate <= p.high:
                side = "below" if rate < p.low else "above"
                outside[side].setdefault(f"{counted['model']}, {label}", []).append(f"{counted['load']:g}")
    wrong = sum(len(loads) for networks in outside.values() for loads in networks.values())
    text += OUTSIDE.format(inside=compared - wrong, compared=compared,
                           **{side: summary(networks) for side, networks in outside.items()})
    text += CONSTANTS
    for name, c in H200.items():
        text += f"| {name} | {c.low:.4g} | {c.likely:.4g} | {c.high:.4g} | {c.unit} | {c.source} |\n"
    return text
