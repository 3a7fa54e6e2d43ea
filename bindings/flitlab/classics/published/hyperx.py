"""Flattened butterflies (Kim, Dally, Abts 2007) and HyperX networks (Ahn et al. 2009, McDonald et al. 2019)."""

from __future__ import annotations

from flitlab.classics.published.measuring import FLITS, HIGHEST, ROUTER_IS, context, highest, network, ratio, relation
from flitlab.reproduction import once, row

KIM = "Flattened Butterfly: A Cost-Efficient Topology for High-Radix Networks, abstract"
AHN = "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks, abstract"
MCDONALD = "Practical and Efficient Incremental Adaptive Routing for HyperX Networks, abstract"
BOUND = "calculation: k terminals share one channel"
ALGORITHMS = {"minimal": "minimal", "Valiant": "valiant", "UGAL-L": "ugal_l", "DAL": "dal", "DimWAR": "dimwar",
              "OmniWAR": "omniwar"}
VCS = 4  # of all networks compared with HyperX algorithms: DAL needs 4, OmniWAR has one for each hop of a route
SIZES = (4, 6, 8)
LOADS = {"uniform": (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), "next_router": (0.2, 0.3, 0.4, 0.45, 0.5, 0.7),
         "bit_complement": (0.2, 0.3, 0.4, 0.45, 0.5, 0.7), "transpose": (0.4, 0.5, 0.6, 0.7, 0.9)}
READING_FLAT = (
    f"Only the abstract was read. {ROUTER_IS} A k-ary 2-flat: k routers with k terminals each, and a channel between "
    "any two routers. Adversarial traffic: every terminal sends to random terminals of the next router. Minimal "
    "routing stands for the conventional butterfly, which has the same single route for each pair. The abstract's "
    "order of magnitude over it belongs to a larger k, because the quotient is about k/2; it is context here, for "
    f"three sizes. The abstract says that adversarial traffic requires global adaptive routing that is not minimal. "
    f"{HIGHEST}")
READING_AHN = (
    f"Only the abstract was read: HyperX can perform as well as a folded Clos, with fewer switches. {ROUTER_IS} A 4x4 "
    "HyperX with 4 terminals per router against a 4-ary 3-tree; both have 64 terminals and 4 virtual channels. \"As "
    f"well\" is read as within 10 %, with the best of the algorithms. {HIGHEST}")
READING_WAR = (
    f"Only the abstract was read: the two algorithms exceed prior work by as much as 4 times, in a network of 4096 "
    f"nodes. {ROUTER_IS} Here k x k HyperX networks with k terminals per router for k = 4, 6 and 8 (64 to 512 "
    "terminals), adversarial traffic to random terminals of the next router, and the quotient over UGAL-L, which "
    "chooses at the source. All algorithms have 4 virtual channels. The factor of 4 belongs to a larger network: the "
    f"quotient grows with the size, because k terminals share the channel of minimal routes. {HIGHEST}")
READING_SINGLE = (
    READING_WAR + " All heads of a router choose again in every cycle, and ties go to the lowest port. With packets of "
    "a flit and a single virtual channel per hop, about one head per cycle succeeds.")


def flat(k: int, algorithm: str, pattern: str) -> float:
    """Returns the throughput of a k-ary 2-flat."""
    return highest(network(topology__kind="flattened_butterfly", topology__shape=[k], topology__concentration=k,
                           routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern), LOADS[pattern])


def flattened_butterfly() -> list[dict]:
    """Throughput of minimal, Valiant's and adaptive routing for three sizes and two patterns."""
    common = {"experiment": "classics.flattened_butterfly", "reading": READING_FLAT}
    names = {"uniform": "uniform", "next_router": "adversarial"}
    rows = []
    for k in (4, 6, 8):
        at = {(a, p): once(flat, k, a, p) for p in names for a in ("minimal", "Valiant", "UGAL-L")}
        rows.append(row(quantity="throughput, minimal", setting=f"adversarial, k = {k}", source=BOUND, published=1 / k,
                        measured=at["minimal", "next_router"], unit=FLITS, tolerance=0.01 / k, check=True, **common))
        rows += [context(quantity=f"throughput, {a}", setting=f"{names[p]}, k = {k}", source=KIM, measured=at[a, p],
                         unit=FLITS, **common) for a, p in at if (a, p) != ("minimal", "next_router")]
        rows.append(relation(quantity="throughput, UGAL-L over minimal", setting=f"adversarial, k = {k}", source=KIM,
                             measured=ratio(at["UGAL-L", "next_router"], at["minimal", "next_router"]), **common))
        rows.append(context(quantity="throughput, UGAL-L over Valiant", setting=f"uniform, k = {k}", source=KIM,
                            measured=ratio(at["UGAL-L", "uniform"], at["Valiant", "uniform"]), unit="times", **common))
    return rows


def throughput(algorithm: str, pattern: str, flits: int = 4, k: int = 4) -> float:
    """Returns the throughput of a k x k HyperX."""
    return highest(network(topology__kind="hyperx", topology__shape=[k, k], topology__concentration=k, router__vcs=VCS,
                           routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern,
                           traffic__packet_flits=flits), LOADS[pattern])


def folded_clos(pattern: str) -> float:
    return highest(network(topology__kind="fat_tree", routing__algorithm="adaptive", traffic__pattern=pattern,
                           router__vcs=VCS), LOADS[pattern])


def trend() -> list[dict]:
    """Throughput for adversarial traffic in three sizes, and its quotient over UGAL-L's."""
    common = {"experiment": "classics.hyperx", "source": MCDONALD, "reading": READING_WAR}
    at = {(a, k): once(throughput, a, "next_router", 4, k) for a in ALGORITHMS if a != "Valiant" for k in SIZES}
    rows = [row(quantity="throughput, minimal", setting=f"next_router, {k}x{k}", published=1 / k, unit=FLITS,
                measured=at["minimal", k], tolerance=0.01 / k, check=True, **common | {"source": BOUND}) for k in SIZES]
    rows += [context(quantity=f"throughput, {a}", setting=f"next_router, {k}x{k}", measured=at[a, k], unit=FLITS,
                     **common) for a, k in at if a != "minimal"]
    over = {(a, k): ratio(at[a, k], at["UGAL-L", k]) for a, k in at}
    rows += [relation(quantity=f"throughput over UGAL-L, {a}", setting=f"next_router, {k}x{k}", measured=over[a, k],
                      **common) for a in ("DimWAR", "OmniWAR") for k in SIZES]
    return rows + [context(quantity=f"growth of the quotient over UGAL-L, {a}", setting="next_router, 8x8 over 4x4",
                           measured=ratio(over[a, 8], over[a, 4]), unit="times", **common)
                   for a in ("DAL", "DimWAR", "OmniWAR")]


def hyperx() -> list[dict]:
    """HyperX against a folded Clos, and incremental against source adaptive routing."""
    common = {"experiment": "classics.hyperx"}
    at = {(a, p): once(throughput, a, p) for p in LOADS for a in ALGORITHMS
          if a != "Valiant" and p != "next_router"}
    clos = once(folded_clos, "uniform")
    sizes = {kind: once(lambda kind: network(topology__kind=kind).derived()["routers"], kind)
             for kind in ("hyperx", "fat_tree")}
    rows = [
        row(quantity="throughput over the folded Clos, best algorithm", setting="uniform", source=AHN, published=1,
            measured=lambda: max(at[a, "uniform"]() for a in ALGORITHMS if a != "Valiant") / clos(), unit="times",
            tolerance=0.1, reading=READING_AHN, **common),
        context(quantity="throughput over the folded Clos, DAL", setting="uniform", source=AHN, unit="times",
                measured=ratio(at["DAL", "uniform"], clos), reading=READING_AHN, **common),
        relation(quantity="switches, folded Clos over HyperX", setting="64 terminals", source=AHN,
                 measured=ratio(sizes["fat_tree"], sizes["hyperx"]), reading=READING_AHN, **common),
        row(quantity="throughput, minimal", setting="bit_complement, 4x4", source="calculation: 4 terminals share one "
            "channel", published=0.25, measured=at["minimal", "bit_complement"], unit=FLITS, tolerance=0.0025,
            check=True, reading=READING_WAR, **common)]
    rows += trend()
    rows += [context(quantity=f"throughput, {a}", setting=f"{p}, 4x4", source=MCDONALD, measured=at[a, p], unit=FLITS,
                     reading=READING_WAR, **common)
             for a, p in at if (a, p) != ("minimal", "bit_complement")]
    return rows + [context(quantity="throughput, OmniWAR", setting="next_router, 4x4, packets of a flit",
                           source=MCDONALD, measured=once(throughput, "OmniWAR", "next_router", 1), unit=FLITS,
                           reading=READING_SINGLE, **common)]


EXPERIMENTS = {
    "classics.flattened_butterfly": ("minimal, Valiant's and UGAL-L routing in flattened butterflies (6 s)",
                                     flattened_butterfly),
    "classics.hyperx": ("HyperX against a folded Clos; DAL, DimWAR and OmniWAR in three sizes (60 s)", hyperx),
}
