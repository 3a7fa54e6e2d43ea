"""Pictures of METRO networks under load and with faults. ``words_picture`` draws single messages.

Tables of samples have the columns of ``Samples.frame``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from flitlab.metro.samples import LABELS, SILENCE
from flitlab.metro.words_picture import draw_words as draw_words


def _mark(axes: Iterable[Any], clocks: Iterable[int], label: str | None = None, **look: Any) -> None:
    """Draws vertical lines at clocks in all panels, and grids."""
    for axis in axes:
        for clock in clocks:
            axis.axvline(clock, **({"color": "black", "ls": "--", "label": label} | look))
        axis.grid(alpha=0.3)


def _stack(axis: Any, samples: pd.DataFrame, counts: Mapping[str, tuple[Any, str]]) -> None:
    """Draws stacked bars, one for each sample. counts: by label, the numbers of the samples and the colour."""
    bottom = np.zeros(len(samples))
    for label, (numbers, colour) in counts.items():
        axis.bar(samples.clock, numbers, samples.clocks, bottom=bottom, align="edge", color=colour, label=label)
        bottom += numbers


def draw_latency(points: Mapping[str, pd.DataFrame], alone: int) -> None:
    """Draws latency and attempts per message against throughput (the axes of METRO, Figure 3). points: for each line,
    a table with a row for each load. alone: latency of a message in an empty network, in clocks."""
    _, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for name, found in points.items():
        for axis, column in zip(axes, ("latency", "attempts per message"), strict=True):
            axis.plot(found.throughput, found[column], "o-", label=name)
    axes[0].axhline(alone, color="black", ls=":", label=f"message alone: {alone} clocks")
    axes[0].set(ylabel="latency to the acknowledgment (clocks)", ylim=(0, 45))
    axes[1].set(ylabel="attempts per message", ylim=(0.95, None))
    for axis in axes:
        axis.set(xlabel="throughput (words/clock/endpoint)", xlim=(0, None))
        axis.legend(loc="lower right")
        axis.grid(alpha=0.3)


def draw_deaths(samples: pd.DataFrame, deaths: Iterable[int], masked: int) -> None:
    """Draws a run in which routers die: throughput, latency, attempts per message, and the attempts that were lost, by
    the stage of the silent router. deaths: clocks in which routers die. masked: clock in which the ports that lead to
    them are disabled."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained", sharex=True)
    for axis, (column, label) in zip(axes.flat, LABELS.items(), strict=False):
        axis.plot(samples.clock + samples.clocks / 2, samples[column], ".-")
        axis.set(ylabel=label, ylim=(0, None))
    _stack(axes[1, 1], samples, {f"silence from stage {stage}": (samples[f"lost_stage_{stage}"], colour)
                                 for stage, colour in ((1, "#e6550d"), (2, "#31a354"))})
    axes[1, 1].set_ylabel(f"attempts lost\nper {samples.clocks[0]} clocks")
    axes[1, 1].legend(fontsize=8)
    _mark(axes.flat, deaths, lw=1)
    _mark(axes.flat, [masked], color="tab:green", ls="-", lw=1.5)
    for axis in axes[1]:
        axis.set(xlabel="clock", xticks=range(0, int(samples.clock.max()) + 4000, 4000))
    figure.legend(handles=[plt.Line2D([], [], color="black", ls="--", label="routers die"),
                           plt.Line2D([], [], color="tab:green", label="ports that lead to them are switched off")],
                  loc="outside lower center", ncols=2)


def draw_scan(samples: pd.DataFrame, stuck: int, begins: int, ends: int, window: int = 250) -> None:
    """Draws a run in which wires are stuck until a scan switches them off: messages whose first wrong checksum comes
    from stage 2, in ``window`` clocks, and throughput. stuck: clock from which the wires are stuck. begins, ends:
    clocks of the scan."""
    figure, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
    axes[0].bar(samples.clock, samples.damaged_stage_2 * window / samples.clocks, samples.clocks, align="edge",
                color="tab:red", alpha=0.7)
    axes[0].set_ylabel(f"damaged before stage 2\n(messages/{window} clocks)")
    axes[1].plot(samples.clock + samples.clocks / 2, samples.throughput, ".-")
    axes[1].set(xlabel="clock", ylabel=LABELS["throughput"], ylim=(0, None))
    _mark(axes, [stuck], "four wires are stuck")
    for axis in axes:
        axis.axvspan(begins, ends, color="gold", alpha=0.5, zorder=0, label="scan; broken wires stay off")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def draw_slices(runs: Mapping[bool, pd.DataFrame], faulty: int) -> None:
    """Draws runs of a network of cascaded routers with a faulty slice (METRO, 5.1, Router Width Cascading): connections
    that the routers close, attempts without a valid answer, and latency. runs: samples, by whether slices compare the
    backward ports that are in use. faulty: clock in which the slice becomes faulty."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 5.6), layout="constrained", sharex=True, sharey="row")
    for column, (check, samples) in zip(axes.T, runs.items(), strict=True):
        lost = samples[["refused", *SILENCE]].sum(axis=1)
        _stack(column[0], samples, {
            "connections shut by the comparison (every router counts its own)": (samples.connections_shut, "#9ecae1"),
            "attempts without a valid answer": (lost, "#636363")})
        column[1].plot(samples.clock + samples.clocks / 2, samples.latency, ".-")
        column[0].set_title("slices compare their ports" if check else "they do not")
        column[1].set_xlabel("clock")
        _mark(column, [faulty])
    axes[0, 0].set_ylabel(f"number per\n{runs[True].clocks[0]} clocks")
    axes[1, 0].set(ylabel=LABELS["latency"], ylim=(0, 1.1 * max(s.latency.max() for s in runs.values())))
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles + [plt.Line2D([], [], color="black", ls="--")], labels + ["a slice is faulty"],
                  loc="outside lower center", ncols=3)
