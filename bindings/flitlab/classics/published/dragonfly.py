"""The dragonfly (Kim et al. 2008): minimal, Valiant's and adaptive routing for benign and adversarial traffic."""

from __future__ import annotations

from flitlab.classics.published.measuring import FLITS, HIGHEST, ROUTER_IS, context, highest, network, ratio, relation
from flitlab.reproduction import once, row

KIM = "Technology-Driven, Highly-Scalable Dragonfly Topology, abstract"
SIZES = "calculation: a h + 1 groups of a routers with p terminals and a + p + h - 1 ports"
SYNTHETIC = "CODES, README_synthetic.txt"
BOUND = "calculation: a p terminals share one channel between two groups"
ALGORITHMS = {"minimal": "minimal", "Valiant": "valiant", "UGAL-L": "ugal_l", "PAR": "par"}
LOADS = {"uniform": (0.4, 0.5, 0.7, 0.8, 0.9, 1.0), "next_group": (0.1, 0.3, 0.35, 0.4, 0.45, 0.5)}
READING = (
    "Only the abstract of the paper was read. Rows without a published value are quotients that the documentation of "
    f"the simulator CODES, which models the paper's networks (a = 2p = 2h), says are above 1. {ROUTER_IS} 9 groups of "
    "4 routers with 2 terminals each. "
    "Adversarial traffic: every terminal sends to random terminals of the next group, so that shortest routes use one "
    f"channel. {HIGHEST}")
READING_DEGRADED = (
    READING + " The abstract says that conventional adaptive routing degrades because the decision is made at another "
    "router than that of the global channel. Read as: UGAL-L, which sees queues of the source's router only, is below "
    "Valiant's routing for adversarial traffic.")
READING_RADIX = READING + " Sizes are counted in the wiring of the emulated network; CODES has the same."


def dragonfly_of(p: int, algorithm: str, pattern: str):
    """Returns the largest balanced dragonfly with p terminals per router."""
    return network(topology__kind="dragonfly", topology__group_routers=2 * p, topology__global_channels=p,
                   topology__concentration=p, topology__groups=2 * p * p + 1,
                   routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern)


def throughput(p: int, algorithm: str, pattern: str) -> float:
    return highest(dragonfly_of(p, algorithm, pattern), LOADS[pattern])


def minimal_bound(p: int) -> float:
    """Returns the throughput of minimal routing for adversarial traffic, at loads above the bound."""
    bound = 1 / (2 * p * p)
    return highest(dragonfly_of(p, "minimal", "next_group"), (1.2 * bound, 1.5 * bound))


def dragonfly() -> list[dict]:
    """Sizes, the bound of minimal routing, and throughputs of four algorithms for two patterns."""
    common = {"experiment": "classics.dragonfly"}
    large = once(lambda: dragonfly_of(4, "minimal", "uniform").derived())
    rows = [row(quantity=what, setting="a = 8, p = 4, h = 4", source=SIZES, published=number, unit=unit, tolerance=0,
                measured=once(lambda key: large()[key], key), check=True, reading=READING_RADIX, **common)
            for what, key, number, unit in (("routers", "routers", 264, "routers"),
                                            ("terminals", "terminals", 1056, "terminals"),
                                            ("ports of a router", "ports", 15, "ports"))]
    rows += [row(quantity="throughput, minimal", setting=f"adversarial, p = {p}", source=BOUND,
                 published=1 / (2 * p * p), measured=once(minimal_bound, p), unit=FLITS,
                 tolerance=0.01 / (2 * p * p), check=True, reading=READING, **common) for p in (2, 3, 4)]
    at = {(a, pattern): once(throughput, 2, a, pattern) for pattern in LOADS for a in ALGORITHMS}
    names = {"uniform": "uniform", "next_group": "adversarial"}
    rows += [context(quantity=f"throughput, {a}", setting=f"{names[pattern]}, p = 2", source=SYNTHETIC, unit=FLITS,
                     measured=at[a, pattern], reading=READING, **common)
             for a, pattern in at if (a, pattern) != ("minimal", "next_group")]
    rows += [context(quantity=f"throughput, {a} over {b}", setting=f"{names[pattern]}, p = 2", source=SYNTHETIC,
                     measured=ratio(at[a, pattern], at[b, pattern]), unit="times", reading=READING, **common)
             for a, b, pattern in (("minimal", "Valiant", "uniform"), ("minimal", "UGAL-L", "uniform"),
                                   ("Valiant", "minimal", "next_group"), ("UGAL-L", "minimal", "next_group"))]
    rows.append(relation(quantity="throughput, Valiant over UGAL-L", setting="adversarial, p = 2", source=KIM,
                         measured=ratio(at["Valiant", "next_group"], at["UGAL-L", "next_group"]),
                         reading=READING_DEGRADED, **common))
    rows += [context(quantity=f"throughput, {a} over {b}", setting=f"{names[pattern]}, p = 2", source=KIM,
                     measured=ratio(at[a, pattern], at[b, pattern]), unit="times", reading=READING, **common)
             for a, b, pattern in (("PAR", "UGAL-L", "next_group"), ("PAR", "Valiant", "next_group"),
                                   ("UGAL-L", "Valiant", "uniform"))]
    return rows


EXPERIMENTS = {
    "classics.dragonfly": ("minimal, Valiant's, UGAL-L and PAR routing in dragonflies (6 s)", dragonfly),
}
