"""Comparison of a mesh of S-Connect routers with a random graph that has the same cables (S-Connect, 4.2, 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import count
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from flitlab._core import ConfigError
from flitlab.curve import Curve
from flitlab.experiment import Experiment
from flitlab.sconnect.published.fabrics import fabric
from flitlab.temporary import temporary_csv

WAY, ZERO_LOAD = "mean way (channels)", "zero-load latency (cycles)"
THROUGHPUT, SHARE = "highest throughput (messages/cycle/node)", "share (%)"


def _rewired(side: int, seed: int) -> dict[str, Any]:
    nodes = np.arange(side * side).reshape(side, side)
    ends = (nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])
    cables = [(int(a), int(b)) for first, second in ends for a, b in zip(first.flat, second.flat, strict=True)]
    there, random = {frozenset(c) for c in cables}, np.random.default_rng(seed)
    for _ in range(20 * len(cables)):
        i, j = random.integers(len(cables), size=2)
        (a, b), (c, d) = cables[i], cables[j][:: random.choice((1, -1))]
        new = {frozenset((a, d)), frozenset((c, b))}
        if i == j or len(new) < 2 or any(len(cable) < 2 for cable in new) or new & there:
            continue
        there -= {frozenset((a, b)), frozenset((c, d))}
        there |= new
        cables[i], cables[j] = (a, d), (c, b)
    return {"topology.kind": "graph", "topology.file": temporary_csv(cables)}


def _is_connected(wiring: dict[str, Any]) -> bool:
    try:
        return math.isfinite(fabric(wiring).derived()["hops_mean"])
    except ConfigError:
        return False


def rewired(side: int, first_seed: int = 1) -> dict[str, Any]:
    """Returns the topology's settings for a mesh of side x side nodes whose cables have been exchanged at random: pairs
    of cables swap ends, so each TIC keeps the number of its channels. A swap that would double a cable or connect a TIC
    to itself is left out. Seeds are tried from ``first_seed`` on until the graph is connected."""
    return next(w for w in (_rewired(side, seed) for seed in count(first_seed)) if _is_connected(w))


def wiring_row(e: Experiment, name: str, curve: Curve) -> dict[str, Any]:
    """Returns the row of a fabric in the table of the comparison: number of nodes, channels, mean distance, zero-load
    latency, the highest throughput of its curve, the throughput if all channels were full, and the share of the latter
    that is reached."""
    facts = e.derived()
    nodes = int(facts["routers"])
    full = facts["channels"] / facts["hops_mean"] / nodes
    return {"nodes": nodes, "wiring": name, "channels": int(facts["channels"]), WAY: round(facts["hops_mean"], 2),
            ZERO_LOAD: round(facts["zero_load_latency_cycles"], 1), THROUGHPUT: round(curve.throughput, 3),
            "if all channels were full": round(full, 3), SHARE: round(100 * curve.throughput / full)}


def draw_wiring(curves: Mapping[tuple[int, str], Curve], table: pd.DataFrame) -> None:
    """Draws latency against throughput, a panel for each number of nodes. curves: by number of nodes and wiring, "mesh"
    or "at random". table: rows of :func:`wiring_row`, with the same index. Diamonds are zero-load latencies, dotted
    lines are the highest throughputs."""
    sides = list(dict.fromkeys(nodes for nodes, _ in curves))
    figure, axes = plt.subplots(1, len(sides), figsize=(12, 4.4), layout="constrained", sharey=True)
    for axis, nodes in zip(axes, sides, strict=True):
        for name, colour, marker in (("mesh", "C1", "o"), ("at random", "C0", "s")):
            points, row = curves[nodes, name].frame.query("not saturated"), table.loc[nodes, name]
            axis.plot(points.accepted, points.latency_mean, marker=marker, ms=4, color=colour, label=name)
            axis.plot(0, row[ZERO_LOAD], "D", color=colour, ms=8, clip_on=False, zorder=3, label=f"{name}, zero load")
            axis.axvline(row[THROUGHPUT], color=colour, ls=":", label=f"{name}, highest throughput")
        axis.set(title=f"{nodes} nodes", xlabel="throughput (messages/cycle/node)", xlim=(0, 0.95), ylim=(0, 45))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("latency, mean (routing cycles)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
