"""Turn models in an 8x8 mesh: partially adaptive routing without virtual channels (Glass & Ni 1992, Chiu 2000)."""

from __future__ import annotations

from functools import partial

from flitlab.classics.published.measuring import FLITS, carried, context, network, ratio, relation
from flitlab.reproduction import once

GLASS = "The Turn Model for Adaptive Routing, abstract"
CHIU = "The Odd-Even Turn Model for Adaptive Routing, abstract"
ALGORITHMS = {"XY": "dimension_order", "west first": "west_first", "north last": "north_last",
              "negative first": "negative_first", "odd-even": "odd_even"}
RADIX = 8
PATTERNS = ("uniform", "transpose", "second transpose", "hot spot")
READING = (
    "Only the abstracts were read. An 8x8 mesh with one virtual channel of 4 flits per channel, wormhole flow control, "
    "packets of 8 flits. Saturation: the highest load that is steady with two of three seeds, by bisection. Transpose "
    "mirrors coordinates at one diagonal, so that a packet goes in the + direction of one dimension and in the - "
    "direction of the other; the second transpose mirrors them at the other diagonal, so that both directions have the "
    "same sign. Hot spot: 5 % of the packets go to one terminal near the middle.")
READING_GLASS = (
    READING + " The abstract says that adaptive algorithms perform better than nonadaptive ones for nonuniform "
    "traffic. Judged for patterns for which the algorithm has alternative routes: negative first has none for the "
    "first transpose, west first and north last have one for half of the packets of either.")
READING_CHIU = (
    READING + " The abstract says that the performance of odd-even routing fluctuates less with the traffic pattern "
    "than that of previous methods. Fluctuation: the highest over the lowest saturation load of uniform traffic and "
    "the two transposes.")


def second_transpose(source: int, _: int) -> int:
    y, x = divmod(source, RADIX)
    return (RADIX - 1 - x) * RADIX + RADIX - 1 - y


def saturation(algorithm: str, pattern: str) -> float:
    e = network(topology__kind="mesh", routing__algorithm=ALGORITHMS[algorithm], router__vcs=1, router__buffer_flits=4,
                traffic__packet_flits=8)
    if pattern == "second transpose":
        e = e.with_pattern(second_transpose)
    elif pattern == "hot spot":
        e = e.set({"traffic.pattern": "hot_spot", "traffic.hot_fraction": 0.05, "traffic.hot_terminals": [27]})
    else:
        e = e.set("traffic.pattern", pattern)
    return carried(e, 0.4)


def turn_models() -> list[dict]:
    """Saturation of XY and of four turn models for four patterns."""
    common = {"experiment": "classics.turn_models"}
    at = {(a, p): once(saturation, a, p) for a in ALGORITHMS for p in PATTERNS}
    rows = [context(quantity=f"saturation, {a}", setting=p, source=GLASS, measured=at[a, p], unit=FLITS,
                    reading=READING, **common) for p in PATTERNS for a in ALGORITHMS]
    rows += [relation(quantity=f"saturation, {a} over XY", setting=p, source=GLASS,
                      measured=ratio(at[a, p], at["XY", p]), reading=READING_GLASS, **common)
             for a, p in (("west first", "transpose"), ("north last", "transpose"),
                          ("negative first", "second transpose"), ("odd-even", "transpose"),
                          ("odd-even", "second transpose"))]

    def fluctuation(algorithm: str) -> float:
        loads = [at[algorithm, p]() for p in PATTERNS if p != "hot spot"]
        return max(loads) / min(loads)

    return rows + [relation(quantity=f"fluctuation, {a} over odd-even", setting="uniform and both transposes",
                            source=CHIU, measured=partial(lambda a: fluctuation(a) / fluctuation("odd-even"), a),
                            reading=READING_CHIU, **common) for a in ALGORITHMS if a != "odd-even"]


EXPERIMENTS = {
    "classics.turn_models": ("west first, north last, negative first and odd-even against XY (8 s)", turn_models),
}
