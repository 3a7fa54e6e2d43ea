"""Pictures of Blue Gene/L's torus: links that packets take, tokens of a ring, waves of throughput, and all-to-alls.

Every function draws a new figure and returns its axes. flitlab.bgl.recordings makes the data.
"""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch, Rectangle

from flitlab.bgl.recordings import PORTS, AllToAll, Ring, grants
from flitlab.picture import Picture

HOLD = 262  # cycles for which a full packet holds a link: 256 bytes, a trailer of 4, a gap of 2
PAIR = "#e6550d", "#31a354"  # colours of the first and the second of a dateline pair
TOKENS = {"0": "#969696", "1 to 7": "#e6550d", "8 to 15": "#deebf7", "16 to 23": "#9ecae1", "24 to 32": "#3182bd"}
BUFFERS = {"dynamic VCs": [0, 1], "first of the pair": [2], "second of the pair": [3]}  # VCs of a map


def draw_links(journeys: Mapping[str, pd.DataFrame]) -> Picture:
    """Draws when full packets held the links of their paths, one panel for each run, with dotted lines at deliveries.
    journeys: tables of Network.events() by title."""
    fig, axes = plt.subplots(1, len(journeys), figsize=(11, 3.2), layout="constrained", sharex=True)
    packets = set()
    for axis, (title, events) in zip(axes, journeys.items(), strict=True):
        granted = grants(events)
        packets |= set(granted.packet)
        links = sorted(set(zip(granted.node, granted.link, strict=True)), key=lambda at: (at[0], PORTS.index(at[1])))
        for g in granted.itertuples():
            axis.barh(links.index((g.node, g.link)), HOLD, left=g.cycle, height=0.7, color=f"C{g.packet}", ec="white")
        for e in events[events.kind == "delivered"].itertuples():
            axis.axvline(e.cycle, color=f"C{e.id}", ls=":")
        axis.set(title=title, xlabel="cycle", ylabel="link", xlim=(0, 900), yticks=range(len(links)),
                 yticklabels=[f"node {node} {link}" for node, link in links])
        axis.invert_yaxis()
    keys = [Patch(fc=f"C{n}", label=f"packet {n} on the link") for n in sorted(packets)]
    fig.legend(handles=keys + [plt.Line2D([], [], color="grey", ls=":", label="delivered")],
               loc="outside lower center", ncols=4)
    return Picture(axes, list(journeys))


def draw_rings(rings: Mapping[str, Ring], stuck: int) -> Picture:
    """Draws the tokens for each node's buffer over time, one panel for each of two rings, and below the packets that
    both have delivered. rings: by title; stuck: cycle of a dashed line."""
    fig, axes = plt.subplots(3, 1, figsize=(11, 7), layout="constrained", sharex=True, height_ratios=[3, 3, 2])
    for axis, (title, ring) in zip(axes, rings.items(), strict=False):
        samples, nodes = ring.tokens.shape
        axis.imshow(ring.tokens.T, cmap=ListedColormap(list(TOKENS.values())),
                    norm=BoundaryNorm([0, 1, 8, 16, 24, 33], 5), aspect="auto", origin="lower",
                    interpolation="nearest", extent=(0, samples * ring.every, -0.5, nodes - 0.5))
        axis.set(ylabel="node", yticks=range(nodes), title=title)
        axes[2].plot(np.arange(1, samples + 1) * ring.every, ring.delivered, label=title)
    axes[2].set(xlabel="cycle", ylabel="packets delivered")
    axes[2].legend()
    axes[2].grid(alpha=0.3)
    for axis in axes:
        axis.axvline(stuck, color="black", ls="--")
    fig.legend(handles=[Patch(fc=colour, ec="grey", label=f"{n} chunks") for n, colour in TOKENS.items()],
               title="tokens for\nthe buffer", loc="outside right upper")
    return Picture(axes, [*rings, "delivered"])


def draw_waves(dateline: pd.DataFrame, bubble: pd.DataFrame) -> Picture:
    """Draws two courses as Figures 7 to 9 of the paper ("Virtual channel architecture"), and the closed escape
    channels. Tables: as recordings.wave returns them."""
    axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained", sharex=True)[1]
    for table, label in ((dateline, "dateline pair"), (bubble, "bubble")):
        axes[0, 0].plot(table.index / 1000, table.throughput, ".-", label=label)
        axes[1, 0].plot(table.index / 1000, table.freed, ".-", label=label)
    axes[0, 0].set(ylabel="throughput\n(chunks/cycle/node)", title="as in Figure 7")
    axes[1, 0].set(ylabel="token messages that\nfree a packet (share)", title="as in Figure 9")
    names = ["dynamic, VC 0", "dynamic, VC 1", "first of the pair", "second of the pair"]
    axes[0, 1].stackplot(dateline.index / 1000, *(dateline[f"VC {vc}"] for vc in range(4)), labels=names,
                         colors=["#9ecae1", "#6baed6", *PAIR])
    axes[0, 1].set(ylabel="sent on links\n(chunks/cycle/node)", title="dateline pair, by VC, as in Figure 8")
    for table, vc, label, colour in ((dateline, 2, "first of the pair", PAIR[0]),
                                     (dateline, 3, "second of the pair", PAIR[1]), (bubble, 2, "bubble", "grey")):
        share = table[f"closed {vc}"].dropna()
        axes[1, 1].plot(share.index / 1000, 100 * share, ".-", color=colour, label=label)
    axes[1, 1].set(ylabel="x links with less than\n8 tokens (%)", title="closed escape channels")
    for axis in axes.flat:
        axis.set_ylim(0, None)
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("thousand cycles")
    return Picture(axes.flat, ["throughput", "sent", "freed", "closed"])


def draw_maps(maps: Mapping[str, np.ndarray], capacity: int) -> Picture:
    """Draws how full the buffers of packets that move in -x are on a square plane, by VC of a dateline pair, one row
    for each moment, with the hot region in blue. maps: arrays [VC][y][x] of chunks by title; capacity: chunks of a
    VC's buffer."""
    fig, axes = plt.subplots(len(maps), 3, figsize=(10.5, 3.3 * len(maps)), layout="constrained", sharex=True,
                             sharey=True)
    for row, (title, held) in zip(axes, maps.items(), strict=True):
        side = held.shape[-1]
        for axis, (name, vcs) in zip(row, BUFFERS.items(), strict=True):
            filled = held[vcs].sum(axis=0) / (capacity * len(vcs))
            picture = axis.imshow(100 * filled, origin="lower", cmap="magma_r", vmin=0, vmax=100)
            axis.add_patch(Rectangle((-0.5, -0.5), side / 2, side / 2, fill=False, ec="tab:blue", lw=2))
            axis.set(xticks=range(0, side, 5), yticks=range(0, side, 5))
            axis.set_title(f"{title}:\n{name}, {filled.mean():.0%} filled", fontsize=10)
        row[0].set_ylabel("y (nodes)")
    for axis in axes[-1]:
        axis.set_xlabel("x (nodes)")
    fig.colorbar(picture, ax=axes, label="buffer of packets that move in -x, filled (%)", shrink=0.7)
    return Picture(axes.flat, [f"{title}: {name}" for title in maps for name in BUFFERS])


def draw_dimensions(runs: Mapping[tuple[str, bool], AllToAll]) -> Picture:
    """Draws the use of links and the chunks in receivers by dimension, for all-to-alls with and without pacing. runs:
    as recordings.all_to_alls returns them."""
    fig, axes = plt.subplots(2, 1, figsize=(10, 6), layout="constrained", sharex=True)
    places, labels = [], []
    for number, ((torus, paced), run) in enumerate(runs.items()):
        group, shift, shade = number // 2, 0.2 if paced else -0.2, 0.45 if paced else 1.0
        for d, name in enumerate("xyz"):
            at = 4 * group + d
            axes[0].bar(at + shift, run.use[d], 0.38, color="tab:blue", alpha=shade)
            dynamic, bubble = run.held[d][:2].sum(), run.held[d][2]
            axes[1].bar(at + shift, dynamic, 0.38, color="tab:blue", alpha=shade)
            axes[1].bar(at + shift, bubble, 0.38, bottom=dynamic, color="tab:orange", alpha=shade)
            if not paced:
                places.append(at)
                labels.append(f"{name}\n{torus}" if name == "y" else name)
                axes[0].hlines(100 * run.shape[d] / max(run.shape), at - 0.45, at + 0.45, color="black")
    axes[0].set(ylabel="use of links (%)", title="second quarter of each run")
    axes[1].set(ylabel="held by a receiver's VCs\n(chunks)", xlabel="dimension of the links, and machine",
                xticks=places, xticklabels=labels)
    for axis in axes:
        axis.grid(axis="y", alpha=0.3)
    keys = [plt.Line2D([], [], color="black", label="most, if the longest links are never idle"),
            Patch(fc="tab:orange", label="below: bubble VC (of 32 chunks) on top of the dynamic ones (of 64)"),
            Patch(fc="tab:blue", label="FIFOs always full"), Patch(fc="tab:blue", alpha=0.45, label="paced")]
    fig.legend(handles=keys, loc="outside lower center", ncols=2)
    return Picture(axes, ["use", "held"])


def draw_progress(full: AllToAll, paced: AllToAll) -> Picture:
    """Draws the course of an all-to-all with FIFOs that are always full and of a paced one: use of the x links, chunks
    in x receivers, and packets that nodes have sent. The vertical line is the lower bound of the duration."""
    fig, axes = plt.subplots(3, 1, figsize=(10, 7), layout="constrained", sharex=True)
    for run, label, colour in ((full, "FIFOs always full", "tab:blue"), (paced, "paced", "tab:orange")):
        at = np.array([s["cycle"] for s in run.samples])
        taken = [s["busy"][0] for s in run.samples]
        axes[0].plot(at / 1000, 100 * np.diff(taken, prepend=0) / np.diff(at, prepend=0), ".-", color=colour,
                     label=label)
        axes[1].plot(at / 1000, [s["held"][0].sum() for s in run.samples], ".-", color=colour)
        axes[2].fill_between(at / 1000, run.sent.min(axis=1), run.sent.max(axis=1), color=colour, alpha=0.25)
        axes[2].plot(at / 1000, np.median(run.sent, axis=1), color=colour)
    axes[0].set(ylabel="use of x links (%)", ylim=(0, 100), title=" x ".join(map(str, full.shape)))
    axes[1].set(ylabel="held by a receiver's\nthree VCs in x (chunks)", ylim=(0, 96))
    axes[2].set(ylabel="packets sent by a node:\nleast, median, most", xlabel="thousand cycles", xlim=(0, None),
                ylim=(0, None))
    for axis in axes:
        axis.axvline(full.least / 1000, color="black", lw=0.8, label="least time" if axis is axes[0] else None)
        axis.grid(alpha=0.3)
    fig.legend(loc="outside lower center", ncols=3)
    return Picture(axes, ["use", "held", "sent"])
