"""Oblivious routing in an 8x8 mesh and torus: worst-case and average throughput (Seo et al. 2005)."""

from __future__ import annotations

import random
from functools import partial
from statistics import mean

from flitlab.classics.published.measuring import FLITS, carried, channel_limit, context, network, ratio, relation
from flitlab.experiment import Experiment
from flitlab.reproduction import once, row
from flitlab.runner import run

SEO = "Near-Optimal Worst-case Throughput Routing for Two-Dimensional Mesh Networks, abstract"
BOTH = f"{SEO}; Oblivious Routing Design for Mesh Networks to Achieve a New Worst-Case Throughput Bound, abstract"
CHANNELS = "calculation: load of the busiest channel"
ALGORITHMS = {"DOR": "dimension_order", "O1TURN": "o1turn", "ROMM": "romm", "Valiant": "valiant"}
PATTERNS = ("uniform", "transpose", "bit_complement", "tornado", "bit_reverse", "shuffle")
RADIX = 8
CAPACITY = 4 / RADIX  # of the mesh: uniform traffic, half of which crosses the middle
# By how much O1TURN's mean throughput is higher, and twice the standard error of that over PERMUTATIONS, in %.
AVERAGE = {"DOR": (18.8, 4.2), "ROMM": (0.7, 3.2), "Valiant": (13.6, 3)}
PERMUTATIONS = 40
CALCULATED = 200  # permutations whose channel loads are calculated
LOW = 0.08  # a load at which none of the patterns saturates any of the algorithms
READING = (
    "Only the abstracts were read. Throughput: the load at which the busiest channel would be full, measured from the "
    "use of channels at a lower load; a router that is not ideal carries less. Capacity: the same limit for uniform "
    "traffic in dimension order, 4/k = 0.5 in an 8x8 mesh.")
READING_WORST = (
    READING + " The first abstract says that O1TURN's worst-case throughput is optimal if k is even, the second that "
    "the optimum is then half of the capacity. Worst case: the lowest of six patterns (uniform, transpose, bit "
    "complement, tornado, bit reversal, shuffle). Bit complement loads the middle channels of O1TURN as much as any "
    "pattern can.")
READING_AVERAGE = (
    READING + f" The paper averages over a million random traffic patterns, which the abstract does not define; here "
    f"over {PERMUTATIONS} random permutations of the terminals. The difference for ROMM has a likely cause: both "
    "phases of flitlab's ROMM go in x and then in y; in the paper, each phase seems to take either order at random. "
    f"Rows of context have the averages of {CALCULATED} permutations, calculated from the routes.")
WHY_ROMM = (
    "O1TURN gains more over ROMM here than in the paper. Both phases of flitlab's ROMM go in x and then in y; in the "
    "paper, each phase seems to take either order at random, which spreads its load. The paper's average is over a "
    "million traffic patterns that the abstract does not define.")
READING_POOR = READING_WORST + " The abstract calls the worst-case throughput of DOR and ROMM poor."
READING_CARRIED = "Saturation of the simulated routers, by bisection; 12 virtual channels."


def grid(topology: str, algorithm: str, pattern: str, **settings) -> Experiment:
    """Returns an 8x8 mesh or torus. Periodic injection of single flits makes the measured channel loads accurate."""
    return network(topology__kind=topology, routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern,
                   **{"traffic__injection": "periodic", "traffic__packet_flits": 1, **settings})


def limit(topology: str, algorithm: str, pattern: str) -> float:
    """Returns the channel limit, measured at 70 % of a first estimate, where more packets make it more accurate."""
    e = grid(topology, algorithm, pattern)
    return channel_limit(e, 0.7 * channel_limit(e, LOW, 2000))


def permuted(algorithm: str, seed: int) -> Experiment:
    """Returns a mesh with a random permutation, which is the same for all algorithms."""
    destinations = random.Random(seed).sample(range(RADIX**2), RADIX**2)
    return grid("mesh", algorithm, "uniform").with_pattern(partial(lambda to, source, _: to[source], destinations))


def average(algorithm: str) -> float:
    """Returns the mean limit over random permutations."""
    return mean(channel_limit(permuted(algorithm, seed), 0.1, 10000) for seed in range(1, PERMUTATIONS + 1))


def calculated(algorithm: str) -> float:
    """Returns the mean limit over more permutations, from the loads of the routes."""
    return mean(permuted(algorithm, seed).derived()["saturation_load_bound"] for seed in range(1, CALCULATED + 1))


def hops(algorithm: str) -> float:
    """Returns the mean hops of packets of uniform traffic."""
    e = grid("mesh", algorithm, "uniform", traffic__load=0.1, run__warmup_cycles=1000, run__measure_cycles=5000)
    return run(e, threads=1, progress=False).hops_mean


def saturation(algorithm: str) -> float:
    return carried(grid("mesh", algorithm, "transpose", traffic__injection="bernoulli", traffic__packet_flits=4), 0.4,
                   steps=6)


def oblivious() -> list[dict]:
    """Channel limits of four oblivious algorithms for six patterns, their worst case and average, and saturation."""
    common = {"experiment": "classics.oblivious"}
    at = {(a, p): once(limit, "mesh", a, p) for a in ALGORITHMS for p in PATTERNS}
    least = {a: once(lambda a: min(at[a, p]() for p in PATTERNS), a) for a in ALGORITHMS}
    rows = [row(quantity=f"channel limit, {a}", setting=f"8x8 mesh, {p}", source=CHANNELS, published=must, unit=FLITS,
                measured=at[a, p], tolerance=0.03 * must, check=True, reading=READING, **common)
            for a, p, must in (("DOR", "uniform", CAPACITY), ("DOR", "transpose", 1 / (RADIX - 1)),
                               ("O1TURN", "transpose", 2 / (RADIX - 1)), ("DOR", "bit_complement", CAPACITY / 2),
                               ("O1TURN", "bit_complement", CAPACITY / 2), ("DOR", "tornado", 1 / 3))]
    rows += [row(quantity=f"channel limit, {a}", setting=f"8x8 torus, {p}", source=CHANNELS, published=must, unit=FLITS,
                 measured=once(limit, "torus", a, p), tolerance=0.03 * must, check=True, reading=READING, **common)
             for a, p, must in (("DOR", "tornado", 1 / 3), ("Valiant", "tornado", 1 / 2),
                                ("Valiant", "transpose", 1 / 2))]
    rows += [context(quantity=f"worst of six patterns, {a}", setting="8x8 mesh", source=SEO, unit="of capacity",
                     measured=partial(lambda a: least[a]() / CAPACITY, a), reading=READING_WORST, **common)
             for a in ALGORITHMS if a != "O1TURN"]
    rows.append(row(quantity="worst of six patterns, O1TURN", setting="8x8 mesh", source=BOTH, unit="of capacity",
                    published=0.5, measured=lambda: least["O1TURN"]() / CAPACITY, tolerance=0.02,
                    reading=READING_WORST, **common))
    rows += [relation(quantity=f"worst of six patterns, O1TURN over {a}", setting="8x8 mesh", source=SEO,
                      measured=ratio(least["O1TURN"], least[a]), reading=READING_POOR, **common)
             for a in ("DOR", "ROMM")]
    rows.append(relation(quantity="hops, Valiant over O1TURN", setting="8x8 mesh, uniform", source=SEO,
                         measured=ratio(once(hops, "Valiant"), once(hops, "O1TURN")), reading=READING, **common))
    simulated = {a: once(average, a) for a in ALGORITHMS}
    exact = {a: once(calculated, a) for a in ALGORITHMS}
    rows += [row(quantity=f"average throughput, O1TURN above {a}", source=SEO, published=number, unit="%",
                 setting=f"8x8 mesh, {PERMUTATIONS} random permutations", tolerance=error, reading=READING_AVERAGE,
                 why=WHY_ROMM,
                 measured=partial(lambda a: 100 * (simulated["O1TURN"]() / simulated[a]() - 1), a), **common)
             for a, (number, error) in AVERAGE.items()]
    rows += [context(quantity=f"average throughput, O1TURN above {a}", source=SEO, unit="%",
                     setting=f"8x8 mesh, {CALCULATED} random permutations, calculated", reading=READING_AVERAGE,
                     measured=partial(lambda a: 100 * (exact["O1TURN"]() / exact[a]() - 1), a), **common)
             for a in AVERAGE]
    return rows + [context(quantity=f"saturation, {a}", setting="8x8 mesh, transpose", source=SEO, unit=FLITS,
                           measured=once(saturation, a), reading=READING_CARRIED, **common) for a in ("DOR", "O1TURN")]


EXPERIMENTS = {
    "classics.oblivious": ("dimension order, O1TURN, ROMM and Valiant in a mesh and a torus (20 s)", oblivious),
}
