"""Oscillators and FIFOs of an S-Connect fabric over time (S-Connect, 2.5, 2.6, 3.3): samples, and pictures of them."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from flitlab.network import Network
from flitlab.sconnect.clock import CHANNELS, PPM, radians
from flitlab.sconnect.console import Fabric

EVERY = 50  # routing cycles between two samples


class ClockCourse:
    """Samples of a fabric's clocks, every 50 routing cycles while it advances.

    ``fifos``: (TIC, port) of each FIFO. Arrays, a row for each sample: ``cycles``; ``ppm`` [sample][TIC], frequency
    in millionths from the nominal one; ``depths`` [sample][FIFO], depth in rad from half full; ``slips``, words lost or
    repeated since cycle 0."""

    def __init__(self, net: Network):
        self.net = net
        self.fifos = [(tic, port) for tic, port, _, _ in sorted(net.links()) if port < CHANNELS]
        self._nodes = range(int(net.experiment.derived()["routers"]))
        self._samples: list[tuple] = []

    def write(self, register: str, value: int) -> ClockCourse:
        """Writes a register of every TIC, such as clock_on: 0 opens its loop, 1 closes it."""
        for node in self._nodes:
            Fabric(self.net).write_register(node, register, value)
        return self

    def disconnect(self, node: int) -> ClockCourse:
        """Makes a node and its neighbours stop sending to each other (register ``clock_sends``; S-Connect, 2.6, 3.4).
        The others keep sending to each other."""
        for tic in self._nodes:
            ports = [port for near, port, far, _ in self.net.links() if near == tic and node not in (near, far)]
            Fabric(self.net).write_register(tic, "clock_sends", sum(1 << port for port in ports))
        return self

    def until(self, cycle: int) -> ClockCourse:
        """Advances the network to a cycle, and samples it on the way."""
        while self.net.cycle < cycle:
            self.net.step(EVERY)
            registers = [Fabric(self.net).registers(node) for node in self._nodes]
            self._samples.append((self.net.cycle, [radians(r["clock_rate"]) / PPM for r in registers],
                                  [radians(registers[tic].get(f"fifo.{port}", 0)) for tic, port in self.fifos],
                                  self.net.totals["slips"]))
        return self

    @property
    def cycles(self) -> np.ndarray:
        return np.array([sample[0] for sample in self._samples])

    @property
    def ppm(self) -> np.ndarray:
        return np.array([sample[1] for sample in self._samples])

    @property
    def depths(self) -> np.ndarray:
        return np.array([sample[2] for sample in self._samples])

    @property
    def slips(self) -> np.ndarray:
        return np.array([sample[3] for sample in self._samples])

    def fifos_of(self, node: int) -> np.ndarray:
        """Returns [FIFO] whether the FIFO belongs to a channel of the node, at either end."""
        far = {(tic, port): other for tic, port, other, _ in self.net.links()}
        return np.array([node in (fifo[0], far[fifo]) for fifo in self.fifos])

    def summary(self, until: int, bad: int) -> str:
        """Describes the clocks at a cycle: frequencies of the bad node and of the others in ppm, and slips in the 2000
        cycles before."""
        rows = self.cycles <= until
        good = np.delete(self.ppm[rows][-1], bad)
        return (f"the good ones within {np.ptp(good):.3f} ppm, at {good.mean():.1f}; node {bad} at "
                f"{self.ppm[rows][-1, bad]:.0f}; {np.diff(self.slips[rows])[-40:].sum()} slips in the last "
                f"{40 * EVERY} cycles")


def _shade(axis: Any, course: ClockCourse) -> None:
    """Shades the depths from empty to full."""
    half = course.net.experiment["clock.range"] / 2
    axis.axhspan(-half, half, color="tab:green", alpha=0.08, zorder=0)


def draw_clocks(course: ClockCourse, closed: int) -> None:
    """Draws the frequencies of all nodes and the depths of their FIFOs. closed: cycle in which the loops are closed."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    for node, ppm in enumerate(course.ppm.T):
        axes[0].plot(course.cycles, ppm, label=f"node {node}")
    for (node, _), depths in zip(course.fifos, course.depths.T, strict=True):
        axes[1].plot(course.cycles, depths, color=f"C{node}", lw=1)
    _shade(axes[1], course)
    axes[0].set(ylabel="frequency (ppm from nominal)", title="frequencies")
    axes[1].set(ylabel="depth, from half full (rad)", title="fifos, by node; shaded: from empty to full")
    for axis in axes:
        axis.axvline(closed, color="black", ls="--")
        axis.set_xlabel("routing cycle")
        axis.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")


def draw_bad_clock(course: ClockCourse, bad: int, closed: int, off: int) -> None:
    """Draws a run with a defective oscillator: its frequency, the frequencies of the other nodes, the depths of FIFOs,
    and slips. bad: its node. closed, off: cycles in which the loops are closed and the node is disconnected."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 6.6), layout="constrained", sharex=True)
    nodes = [axes[0 if node == bad else 1, 0].plot(course.cycles, ppm, color=f"C{node}", label=f"node {node}")[0]
             for node, ppm in enumerate(course.ppm.T)]
    for touched, depths in zip(course.fifos_of(bad), course.depths.T, strict=True):
        part = course.cycles <= (off if touched else course.cycles[-1])
        axes[0, 1].plot(course.cycles[part], depths[part], color="#de2d26" if touched else "#bdbdbd", lw=1,
                        zorder=2 if touched else 1)
    _shade(axes[0, 1], course)
    axes[1, 1].plot(course.cycles, course.slips, color="black")
    axes[0, 0].set(ylabel="frequency\n(ppm from nominal)", title=f"node {bad}, which is bad")
    axes[1, 0].set(ylabel="frequency\n(ppm from nominal)", title="the others")
    axes[0, 1].set(ylabel="depth, from half full (rad)", title=f"fifos; red: of channels of node {bad}")
    axes[1, 1].set(ylabel="words lost or repeated,\nsince cycle 0", title="slips")
    for axis in axes.flat:
        axis.axvline(closed, color="black", ls="--")
        axis.axvline(off, color="tab:green")
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("routing cycle")
    figure.legend(handles=[*nodes, plt.Line2D([], [], color="black", ls="--", label="loops are closed"),
                           plt.Line2D([], [], color="tab:green", label=f"node {bad} is taken out")],
                  loc="outside right upper")
