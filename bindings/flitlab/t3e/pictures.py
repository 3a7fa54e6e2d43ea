"""Pictures of the Cray T3E's network: virtual-channel tables, routes on a plane of nodes, and states of barrier units.

Every function draws a new figure and returns its axes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.picture import Picture
from flitlab.t3e.recordings import Shape, hops_to_root, joined, parents

STATES = {"S_BAR": "whitesmoke", "S_EUR": "gold", "S_ARM": "tab:blue"}  # colours of a barrier unit's states
BALANCES = {"crossing": "time of crossing", "T3E": "T3E, 8 entries", "full": "full tables"}


def draw_tables(small: t3e.VcTable, full: t3e.VcTable, must: np.ndarray) -> Picture:
    """Draws virtual-channel tables of a ring, sources down and destinations across. small: 8 entries for each source;
    full: one for each destination; must: [source][destination modulo 8], 1 for entries that must be 0."""
    ring = small.ring
    axes = plt.subplots(1, 3, figsize=(10, 4), layout="constrained", width_ratios=[8, ring, 8])[1]
    panels: list[tuple[Any, str, str, str]] = [
        (small.bits, "8 entries: VC 1 dark", "destination modulo 8", "Blues"),
        (full.bits, f"{ring} entries: VC 1 dark", "destination", "Blues"),
        (must, "8 entries: must be 0", "destination modulo 8", "Oranges"),
    ]
    for axis, (table, title, label, colours) in zip(axes, panels, strict=True):
        axis.imshow(table, cmap=colours, vmin=0, vmax=1.6)
        axis.set(xlabel=label, ylabel="source", title=title, xticks=range(0, len(table[0]), 2),
                 yticks=range(0, ring, 2))
    return Picture(axes, ["8 entries", "full", "must be 0"])


def draw_balances(balance: pd.DataFrame) -> Picture:
    """Draws the average balances of three kinds of tables as bars, with the paper's as dashes. balance: as
    recordings.balances returns it."""
    axis = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
    places = np.arange(len(balance))
    for i, (name, label) in enumerate(BALANCES.items()):
        axis.bar(places + 0.27 * (i - 1), balance[f"{name} avg"], 0.25, label=label)
        axis.plot(places + 0.27 * (i - 1), balance[f"{name} avg, paper"], "k_", ms=9, label="paper" if i == 2 else None)
    axis.set(xticks=places, xticklabels=[f"{k}/{m}" for k, m in zip(balance.ring, balance.subring, strict=True)],
             xlabel="ring/subring (nodes)", ylabel="average balance\n(difference / most routes of a link)")
    axis.legend()
    axis.grid(axis="y", alpha=0.3)
    return Picture([axis], ["balance"])


def draw_nodes(axis: Any, shape: Shape, marked: Collection[int] = ()) -> None:
    """Draws the nodes of a plane as circles with their numbers; marked nodes are yellow."""
    for node in range(shape[0] * shape[1]):
        place = node % shape[0], node // shape[0]
        axis.plot(*place, "o", ms=17, mfc="gold" if node in marked else "white", mec="grey", zorder=3)
        axis.text(*place, node, ha="center", va="center", fontsize=8, zorder=4)
    axis.set(xlabel="X (nodes)", ylabel="Y (nodes)", aspect="equal", xticks=range(shape[0]), yticks=range(shape[1]),
             xlim=(-0.8, shape[0] - 0.2), ylim=(-0.8, shape[1] - 0.2))


def draw_hop(axis: Any, shape: Shape, a: int, b: int, colour: str) -> None:
    """Draws an arrow from node a to its neighbour b; two halves of one if the hop wraps around."""
    start, end = (np.array((n % shape[0], n // shape[0])) for n in (a, b))
    step = (end - start + 1) % shape[:2] - 1
    wraps = any(start + step != end)
    for tail, head in ([(start, start + 0.75 * step), (end - 0.75 * step, end)] if wraps else [(start, end)]):
        axis.annotate("", head, tail, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 8,
                                                  "shrinkB": 0 if wraps and head is not end else 8})


def draw_routes(shape: Shape, routes: pd.DataFrame, breaks: Mapping[str, Sequence[int]]) -> Picture:
    """Draws the routes of one pair of PEs in several machines of a single plane, one panel for each. routes: as
    recordings.routes returns them; breaks: broken links in +X by the names of the machines, as (node, 0, node, 0, ...).
    """
    fig, axes = plt.subplots(1, len(routes), figsize=(13, 2.9), layout="constrained", sharey=True)
    for axis, name, nodes in zip(axes, routes.machine, routes.route, strict=True):
        draw_nodes(axis, shape, marked=(nodes[0], nodes[-1]))
        for a, b in pairwise(nodes):
            draw_hop(axis, shape, a, b, "tab:blue")
        for node in breaks[name][::2]:
            axis.plot(node % shape[0] + 0.5, node // shape[0], "X", ms=11, color="tab:red", zorder=5)
        axis.set(title=f"{name}: {len(nodes) - 1} hops")
        axis.label_outer()
    source, destination = routes.route.iloc[0][0], routes.route.iloc[0][-1]
    keys = [plt.Line2D([], [], color="tab:blue", lw=2, label=f"route of a packet from PE {source} to PE {destination}"),
            plt.Line2D([], [], color="tab:red", marker="X", ms=9, ls="", label="broken link")]
    fig.legend(handles=keys, loc="outside lower center", ncols=2)
    return Picture(axes, list(routes.machine))


def draw_losses(lost: pd.Series, experiment: Experiment) -> Picture:
    """Draws the packets lost in each window of a run in which a link breaks. lost: by the clock in which the window
    ends. experiment: gives the clocks of the break and of the new tables."""
    window, breaks_at = lost.index[0], experiment["faults.cycle"]
    axis = plt.subplots(figsize=(9, 3.2), layout="constrained")[1]
    axis.bar(lost.index, lost, -window, align="edge", color="tab:red", alpha=0.7)
    axis.axvline(breaks_at, color="black", ls="--", label="the link breaks")
    axis.axvline(breaks_at + experiment["faults.reroute_delay"], color="black", ls=":", label="new tables are loaded")
    axis.set(xlabel="clock", yticks=range(0, lost.max() + 5, 5), ylabel=f"packets lost\nper {window} clocks",
             title=f"{experiment.derived()['terminals']:.0f} PEs, "
                   f"load {experiment['traffic.load']:g} flits/cycle/terminal")
    axis.legend()
    axis.grid(axis="y", alpha=0.3)
    return Picture([axis], ["lost"])


def draw_spanning_tree(network: Network, title: str) -> Picture:
    """Draws the spanning tree of a barrier unit on a plane of nodes: on the left the tree, with the root in yellow; on
    the right the nodes that have notified their parents by now."""
    shape, above, notified = tuple(network.experiment["topology.shape"]), parents(network), joined(network)
    fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
    for axis, name in zip(axes, ("spanning tree", title), strict=True):
        draw_nodes(axis, shape, marked=[above.index(None)])
        for node, parent in enumerate(above):
            colour = "tab:grey" if axis is axes[0] else "tab:blue" if node in notified else "tab:orange"
            if parent is not None:
                draw_hop(axis, shape, node, parent, colour)
        axis.set(title=name)
        axis.label_outer()
    keys = [("tab:grey", "to the parent"), ("tab:blue", "all below have joined"), ("tab:orange", "some have not")]
    fig.legend(handles=[Patch(color=colour, label=label) for colour, label in keys], loc="outside lower center",
               ncols=3)
    return Picture(axes, ["tree", "joined"])


def draw_states(network: Network, states: np.ndarray, moments: Mapping[int, str]) -> Picture:
    """Draws the state of each PE's barrier unit, clock by clock, the root at the bottom and the farthest PE at the top.
    states: [PE][clock], as recordings.record_states returns them; moments: labels of vertical lines by clock."""
    hops, names = hops_to_root(network), list(STATES)
    order = np.argsort(hops, kind="stable")
    pes, clocks = states.shape
    fig, axis = plt.subplots(figsize=(10, 4.3), layout="constrained")
    axis.imshow(np.vectorize(names.index)(states[order]), aspect="auto", origin="lower", interpolation="nearest",
                cmap=ListedColormap(list(STATES.values())), vmin=0, vmax=2, extent=(0, clocks, -0.5, pes - 0.5))
    lines = [axis.axvline(clock, color="black", ls=style, label=label)
             for (clock, label), style in zip(moments.items(), ("--", ":", "-."), strict=False)]
    axis.hlines(np.arange(0.5, pes - 1), 0, clocks, color="white", lw=0.5)
    axis.set(xlabel="clock", ylabel="PE (hops to the root)", yticks=range(pes),
             yticklabels=[f"{pe} ({hops[pe]})" for pe in order])
    shown = [Patch(fc=STATES[name], ec="grey", label=name) for name in names if (states == name).any()]
    fig.legend(handles=shown + lines, loc="outside right upper")
    return Picture([axis], ["states"])


def draw_releases(released: pd.Series, pes: int) -> Picture:
    """Draws the PEs that barriers release, in each clock and in all. released: number of PEs, by the end of the
    clock."""
    clocks = len(released)
    axes = plt.subplots(2, 1, figsize=(9, 4.5), sharex=True, layout="constrained")[1]
    axes[0].bar(range(clocks), released, width=1)
    axes[0].set(ylabel="PEs released\nin this clock")
    axes[1].step(range(clocks + 1), np.cumsum([0, *released]) / pes, where="post")
    axes[1].set(xlabel="clock", ylabel=f"barriers completed\n(releases / {pes} PEs)")
    for axis in axes:
        axis.grid(alpha=0.3)
    return Picture(axes, ["in this clock", "completed"])


def draw_barrier_times(times: pd.DataFrame, loaded: Mapping[float, float], title: str) -> Picture:
    """Draws the clocks of a barrier over the number of PEs beside the round trips of Gets, and over the load of data
    packets. times: as recordings.barriers_and_gets returns them; loaded: clocks by load; title: of the right panel."""
    axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")[1]
    for column, style, label in (("barrier", "o-", "barrier, joining to release"),
                                 ("longest Get", "^-", "Get, longest round trip"),
                                 ("mean Get", "s-", "Get, mean round trip")):
        axes[0].plot(times.index, times[column], style, label=label)
    axes[0].set(xscale="log", xticks=times.index, xticklabels=times.index, xlabel="PEs", ylabel="clocks (75 MHz)",
                ylim=(0, None))
    axes[0].minorticks_off()
    axes[0].legend()
    axes[1].plot(list(loaded), list(loaded.values()), "o-")
    axes[1].set(xlabel="load of data packets (flits/cycle/terminal)", ylabel="barrier, clocks", ylim=(0, None),
                title=title)
    for axis in axes:
        axis.grid(alpha=0.3)
    return Picture(axes, ["over PEs", "over load"])
