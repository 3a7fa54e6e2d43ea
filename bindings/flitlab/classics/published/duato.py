"""Minimal adaptive routing with an escape channel (Duato 1993), against dimension order with as many channels."""

from __future__ import annotations

from flitlab.classics.published.measuring import FLITS, carried, context, network, ratio, relation
from flitlab.reproduction import once

DUATO = "A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks, abstract"
READING = (
    "Only the abstract was read: it says that simulations show an improvement of performance, without a number. Here: "
    "saturation by bisection, for traffic that dimension order spreads unevenly; 4 virtual channels of 8 flits on both "
    "sides, packets of 4 flits. Tornado traffic moves along one dimension only, so that minimal routes have no "
    "alternative; uniform traffic is even without adaptivity.")
ALGORITHMS = {"adaptive": "minimal_adaptive", "dimension order": "dimension_order"}


def saturation(topology: str, pattern: str, algorithm: str) -> float:
    return carried(network(topology__kind=topology, routing__algorithm=ALGORITHMS[algorithm], traffic__pattern=pattern,
                           router__vcs=4, router__buffer_flits=8), 0.8, steps=6, cycles=2000)


def duato() -> list[dict]:
    """Saturation of adaptive and dimension-order routing in a mesh and a torus."""
    common = {"experiment": "classics.duato", "source": DUATO, "reading": READING}
    rows = []
    for topology, pattern in (("mesh", "transpose"), ("mesh", "bit_reverse"), ("mesh", "uniform"),
                              ("torus", "transpose"), ("torus", "uniform"), ("torus", "tornado")):
        setting = f"8x8 {topology}, {pattern}"
        at = {a: once(saturation, topology, pattern, a) for a in ALGORITHMS}
        rows += [context(quantity=f"saturation, {a}", setting=setting, measured=at[a], unit=FLITS, **common)
                 for a in ALGORITHMS]
        if pattern in ("transpose", "bit_reverse"):
            rows.append(relation(quantity="saturation, adaptive over dimension order", setting=setting,
                                 measured=ratio(at["adaptive"], at["dimension order"]), **common))
    return rows


EXPERIMENTS = {
    "classics.duato": ("minimal adaptive routing with an escape channel against dimension order (10 s)", duato),
}
