"""Experiment on routing tables of S-Connect (2.4, 3, 3.1): the fraction of pairs that keep a shortest path.

It compares the TIC of the paper, table entries that mix serial and parallel ports, and virtual channels on parallel
ports."""

from __future__ import annotations

from functools import partial

from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.sconnect.published.fabrics import PAPER, fabric

DUAL = {"topology.node": "dual", "topology.host_ports": 2}
RANDOM = {"topology.kind": "random"}
FABRICS = {
    "4D mesh, 81 nodes": DUAL | {"topology.shape": [3, 3, 3, 3]},
    "hypercube, 64 nodes": DUAL | {"topology.kind": "hypercube", "topology.dimensions": 6},
    "random, degree 8, 16 nodes": DUAL | RANDOM | {"topology.nodes": 16, "topology.degree": 8},
    "random, degree 8, 81 nodes": DUAL | RANDOM | {"topology.nodes": 81, "topology.degree": 8},
    "random, degree 6, 40 nodes, one host's port": {"topology.node": "dual", **RANDOM, "topology.nodes": 40,
                                                    "topology.degree": 6},
    "81 nodes under switches": {"topology.kind": "tree", "topology.arity": 9, "topology.levels": 3,
                                "topology.inner": "switches"},
}
READINGS = {
    "mixed entries": {"routing.entries": "mixed"},
    "two virtual channels on parallel ports": {"topology.parallel_vcs": 2},
    "both": {"routing.entries": "mixed", "topology.parallel_vcs": 2},
}
READING = (
    "Parallel ports have no virtual channels (section 3), so there is one queue per priority from a TIC to the other "
    "TIC of its node, in which messages in transit cannot be distinguished from new ones. A table entry is a mask of "
    "eight virtual channels, or selects parallel ports (3.1). Section 2.4: in practice assignments preserve shortest "
    "path routing; the row judges whether flitlab's tables do, for every pair. Other readings follow as context.")
READING_SMALL = (
    "The paper: in practice, assignments can be computed that preserve the shortest path routing, for an arbitrary "
    "topology. It gives no limit of size, so every size that was tried is judged. A graph for which the search finds "
    "an assignment needs no exhaustive search.")
WHY_NOT = (
    "The search for an assignment of virtual channels is a heuristic, and the paper does not describe its own. In "
    "graphs of this size and degree it finds none that keeps a shortest way for all pairs; one may still exist.")
READING_LOADS = (
    "Expected load of serial channels under uniform traffic, if every message uses each of its options with equal "
    "probability. The busiest channel limits the throughput; deadlock-free tables remove options, which changes its "
    "load.")
READING_LOAD = ("Messages delivered to hosts when every host offers one in each cycle, uniform traffic, 32 buffers "
                "open to hosts. It shows the effect of the number of options; the paper gives no such number.")


def accepted(settings: dict) -> float:
    """Returns the accepted messages per cycle and terminal at full load."""
    return run(fabric(settings, {"traffic.load": 1.0, "router.host_buffers": 32, "run.warmup_cycles": 1000,
                                 "run.measure_cycles": 1500})).accepted


def kept(nodes: int, degree: int, seed: int) -> float:
    """Returns the fraction of pairs of a random graph of single TICs for which the tables allow a shortest path."""
    return fabric(RANDOM, {"topology.nodes": nodes, "topology.degree": degree, "topology.wiring_seed": seed,
                           "traffic.load": 0.0}).derived()["shortest_kept"]


def single_tics(graphs: int = 30, larger: tuple[int, ...] = (48, 64, 80)) -> list[dict]:
    """Rows on random graphs of several sizes: whether the search finds tables with all shortest paths."""
    small = [(n, degree, seed) for degree in (3, 4) for n in (6, 8, 10, 12, 14, 16, 20, 24)
             for seed in range(1, graphs + 1)]
    common = {"experiment": "sconnect.tables", "source": f"{PAPER}, 2.4", "unit": "%", "tolerance": 0}
    rows = [row(quantity="graphs whose tables keep all shortest ways", published=100,
                measured=lambda: 100 * sum(kept(*graph) == 1 for graph in small) / len(small),
                setting=f"{len(small)} random graphs of 6 to 24 nodes, degree 3 and 4", reading=READING_SMALL,
                **common)]
    return rows + [row(quantity="pairs that keep a shortest way, least of ten graphs", published=100, why=WHY_NOT,
                       measured=partial(lambda n: 100 * min(kept(n, 3, seed) for seed in range(1, 11)), n),
                       setting=f"random, degree 3, {n} nodes", reading=READING_SMALL, **common) for n in larger]


def tables() -> list[dict]:
    """Rows on the shortest paths that tables keep and on the throughput of fabrics, for several readings of the paper
    on parallel ports and table entries."""
    rows = single_tics()
    for name, settings in FABRICS.items():
        for reading, changes in ({"": {}} | READINGS).items():
            e = fabric(settings, changes, {"traffic.load": 0.0})
            derived = once(e.derived)
            common = {"experiment": "sconnect.tables", "setting": f"{name}{', ' if reading else ''}{reading}"}
            rows += [
                row(quantity="pairs that keep a shortest way", source=f"{PAPER}, 2.4",
                    published=None if reading else 100, unit="%", tolerance=0, reading=READING,
                    measured=partial(lambda derived: 100 * derived()["shortest_kept"], derived), **common),
                row(quantity="options of a message at a TIC, mean", source=f"{PAPER}, 2.4", published=None,
                    measured=partial(lambda derived: derived()["alternates"], derived), unit="", tolerance=0,
                    reading=READING, **common),
                row(quantity="busiest channel over the mean", source=f"{PAPER}, 2.4", published=None,
                    measured=partial(lambda derived: derived()["busiest_channel"], derived), unit="times", tolerance=0,
                    reading=READING_LOADS, **common),
                row(quantity="accepted at full load", source=f"{PAPER}, 4.2", published=None,
                    measured=once(accepted, settings | changes), unit="messages/cycle/port", tolerance=0,
                    reading=READING_LOAD, **common)]
    return rows


EXPERIMENTS = {
    "sconnect.tables": ("shortest paths kept, with and without virtual channels on parallel ports", tables),
}
