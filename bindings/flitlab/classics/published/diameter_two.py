"""Networks of diameter 2: Slim Fly (Besta & Hoefler 2014) and PolarFly (Lakhotia et al. 2022)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from flitlab.classics.published.measuring import FLITS, HIGHEST, ROUTER_IS, context, highest, network, ratio, relation
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import Throughput, once, row

SIZES = "calculation: the graphs of McKay, Miller and Siran have 2 q^2 routers and diameter 2"
WORST = "calculation: 2 p terminals share one channel"
SYNTHETIC = "CODES, README_synthetic_slimfly.txt"
BESTA = "Slim Fly: A Cost Effective Low-Diameter Network Topology, abstract"
POLARFLY = "PolarFly: A Cost-Effective and Flexible Low-Diameter Topology, abstract"
FORMULA = "calculation: points of a projective plane, and points of a line"
ALGORITHMS = {"minimal": "minimal", "Valiant": "valiant", "UGAL-L": "ugal_l"}
UNIFORM = (0.3, 0.4, 0.5, 0.7, 0.8, 0.9, 1.0)
ADVERSARIAL = (0.1, 0.2, 0.3, 0.4, 0.5)
TERMINALS = 3  # per router of the Slim Fly with 50 routers, as in CODES
READING_SLIM = (
    "Only the abstract of the paper was read. The worst case is from the documentation of the simulator CODES, which "
    "models the paper's networks. Rows without a published value are quotients that this documentation says are above "
    f"1. {ROUTER_IS} Worst case: routers R1, R2, R3, R4 form a path. Terminals of R1 "
    "and R3 send to each other, and terminals of R2 and R4 to each other. Their only shortest routes share the channel "
    "between R2 and R3, which limits the throughput to 1/(2p). 44 of the 50 routers form such paths; the terminals of "
    f"the other six are idle, and throughput is per active terminal. {HIGHEST}")
READING_POLAR = (
    "Only the abstract of the paper was read. The Moore bound for diameter 2 and d links per router is d^2 + 1 "
    "routers. Routers and links are counted in the wiring of the emulated network.")
READING_RUNS = (
    READING_POLAR + f" {ROUTER_IS} 57 routers (q = 7) with 4 terminals each. {HIGHEST} Some terminals do so with "
    "minimal routing to the next router.")


@cache
def counts(kind: str, order: int) -> dict[str, float]:
    return network(topology__kind=kind, topology__order=order, topology__concentration=1).derived()


def links(kind: str, order: int) -> int:
    """Returns the most links of a router to other routers."""
    return int(counts(kind, order)["ports"]) - 1  # one terminal


def moore_fraction(kind: str, order: int) -> float:
    return counts(kind, order)["routers"] / (links(kind, order) ** 2 + 1)


def paths_of_four(e: Experiment) -> dict[int, int]:
    """Divides the routers into disjoint paths R1, R2, R3, R4 without shorter ways between R1 and R3, or R2 and R4.
    Returns router -> router two hops away; routers that are left over are absent."""
    neighbours: dict[int, list[int]] = {}
    network = Network(e, threads=1)
    for router, port, _ in network.channels():
        neighbours.setdefault(router, []).append(network.router(router).ports[port].peer)
    free, partner = set(neighbours), {}
    for first in sorted(neighbours):
        path = extended([first], neighbours, free) if first in free else []
        if len(path) == 4:
            free -= set(path)
            for a, b in ((0, 2), (1, 3)):
                partner[path[a]], partner[path[b]] = path[b], path[a]
    return partner


def extended(path: list[int], neighbours: dict[int, list[int]], free: set[int]) -> list[int]:
    """Returns the path lengthened to four free routers, or an empty list."""
    if len(path) == 4:
        return path
    for router in neighbours[path[-1]]:
        if router in free and router not in path and not (len(path) > 1 and router in neighbours[path[-2]]) and (
                found := extended([*path, router], neighbours, free)):
            return found
    return []


def slim(algorithm: str) -> Experiment:
    return network(topology__kind="slim_fly", topology__order=5, topology__concentration=TERMINALS,
                   routing__algorithm=ALGORITHMS[algorithm])


def worst_case(algorithm: str) -> Throughput:
    """Returns the throughput per active terminal for the worst case of minimal routing."""
    e = slim(algorithm)
    partner = paths_of_four(e)

    def pattern(source: int, _: int) -> int | None:
        router, place = divmod(source, TERMINALS)
        return partner[router] * TERMINALS + place if router in partner else None

    found = highest(e.with_pattern(pattern), ADVERSARIAL)
    return Throughput(found * 50 / len(partner), found.ideal)  # the ideal one is of terminals that send


def slim_fly() -> list[dict]:
    """Sizes, the worst case of minimal routing, and throughputs of three algorithms."""
    common = {"experiment": "classics.slim_fly", "reading": READING_SLIM}
    rows = [row(quantity=what, setting="q = 5, p = 3", source=SIZES, published=number, unit=unit, tolerance=0,
                measured=partial(lambda read: read(counts("slim_fly", 5)), read), check=True, **common)
            for what, number, unit, read in (
                ("routers", 50, "routers", lambda c: c["routers"]),
                ("terminals", 150, "terminals", lambda c: c["routers"] * TERMINALS),
                ("diameter", 2, "hops", lambda c: c["diameter"]))]
    rows += [row(quantity="routers", setting=f"q = {q}", source=SIZES, published=2 * q * q, tolerance=0,
                 unit="routers", measured=partial(lambda q: counts("slim_fly", q)["routers"], q), check=True, **common)
             for q in (13, 19)]
    uniform = {a: once(lambda a: highest(slim(a), UNIFORM), a) for a in ALGORITHMS}
    worst = {a: once(worst_case, a) for a in ALGORITHMS}
    rows.append(row(quantity="throughput, minimal", setting="worst case", source=WORST, published=1 / 6, unit=FLITS,
                    measured=worst["minimal"], tolerance=0.003, check=True, **common))
    rows += [context(quantity=f"throughput, minimal over {a}", setting="uniform", source=SYNTHETIC, unit="times",
                     measured=ratio(uniform["minimal"], uniform[a]), **common) for a in ("Valiant", "UGAL-L")]
    rows += [context(quantity=f"throughput, {a}", setting="uniform", source=BESTA, measured=uniform[a], unit=FLITS,
                     **common) for a in ALGORITHMS]
    return rows + [context(quantity=f"throughput, {a}", setting="worst case", source=BESTA, measured=worst[a],
                           unit=FLITS, **common) for a in ("Valiant", "UGAL-L")]


def polarfly_throughput(algorithm: str, pattern: str, loads: tuple[float, ...]) -> float:
    return highest(network(topology__kind="polarfly", topology__order=7, topology__concentration=4,
                           routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern), loads)


def polarfly() -> list[dict]:
    """Sizes against the Moore bound, and throughputs of three algorithms."""
    common = {"experiment": "classics.polarfly"}

    def counted(quantity: str, order: int, source: str, number: float, unit: str, read: Callable[[int], float],
                **settings) -> dict:
        return row(quantity=quantity, setting=f"q = {order}", source=source, published=number, unit=unit,
                   **{"tolerance": 0, **settings}, measured=partial(read, order), reading=READING_POLAR, **common)

    rows = [counted("links of a router", 23, FORMULA, 24, "links", lambda q: links("polarfly", q), check=True),
            counted("routers over the Moore bound", 31, POLARFLY, 96, "%",
                    lambda q: 100 * moore_fraction("polarfly", q), higher_is_better=True)]
    rows += [counted("routers", q, FORMULA, q * q + q + 1, "routers", lambda q: counts("polarfly", q)["routers"],
                     check=True) for q in (7, 8, 9, 23)]
    rows += [counted("diameter", q, POLARFLY, 2, "hops", lambda q: counts("polarfly", q)["diameter"]) for q in (7, 23)]
    rows += [context(quantity="routers over the Moore bound", setting=f"{name}, {n} links", source=POLARFLY,
                     measured=partial(lambda kind, q: 100 * moore_fraction(kind, q), kind, q), unit="%",
                     reading=READING_POLAR, **common)
             for name, kind, q, n in (("PolarFly", "polarfly", 7, 8), ("PolarFly", "polarfly", 27, 28),
                                      ("Slim Fly", "slim_fly", 19, 29))]
    rows.append(relation(quantity="routers over the Moore bound, PolarFly over Slim Fly", setting="28 and 29 links",
                         source=POLARFLY, reading=READING_POLAR + " The abstract says that PolarFly has better "
                         "scalability; compared at nearly equal numbers of links.", **common,
                         measured=lambda: moore_fraction("polarfly", 27) / moore_fraction("slim_fly", 19)))
    return rows + [context(quantity=f"throughput, {a}", setting=f"{p}, 228 terminals", source=POLARFLY, unit=FLITS,
                           measured=once(polarfly_throughput, a, p, loads), reading=READING_RUNS, **common)
                   for p, loads in (("uniform", UNIFORM), ("next_router", ADVERSARIAL)) for a in ALGORITHMS]


EXPERIMENTS = {
    "classics.slim_fly": ("sizes of Slim Flies; minimal, Valiant's and UGAL-L routing (5 s)", slim_fly),
    "classics.polarfly": ("sizes of PolarFlies against the Moore bound; three algorithms (6 s)", polarfly),
}
