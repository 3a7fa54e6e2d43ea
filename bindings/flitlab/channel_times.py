"""Use of each channel in intervals of a run: a table and a heat map of channels and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.arguments import shown, whole
from flitlab.network import Network
from flitlab.picture import Picture, one_axes

if TYPE_CHECKING:
    import pandas as pd

MOST_NUMBERS = 50_000_000  # intervals x channels, 200 MB


class ChannelTimes:
    """Channels between routers and their use in each interval of a run: ``channels.frame``, ``channels.use``,
    ``channels.plot()``.

    links: array [channels][4], router and port where each channel begins, router and port where it ends. bounds: array
    [intervals + 1], first cycles of the intervals and the end of the run. flits: array [intervals][channels], flits
    that a router sent to a channel (the canonical router counts a flit when it grants the switch). In models whose
    packets occupy a channel for more cycles than they have flits: number of occupied cycles.
    """

    def __init__(self, links: np.ndarray, bounds: np.ndarray, flits: np.ndarray):
        self.links, self.bounds, self.flits = links, bounds, flits

    @property
    def use(self) -> np.ndarray:
        """Array [intervals][channels]: flits/cycle."""
        return self.flits / np.diff(self.bounds)[:, None]

    @property
    def frame(self) -> pd.DataFrame:
        """pandas.DataFrame with a row for each interval and channel: begin, end (first cycle, and the cycle after the
        last), router, port, to_router, to_port, flits, use (flits/cycle)."""
        import pandas as pd

        intervals, channels = self.flits.shape
        table = pd.DataFrame(np.tile(self.links, (intervals, 1)), columns=["router", "port", "to_router", "to_port"])
        table.insert(0, "begin", np.repeat(self.bounds[:-1], channels))
        table.insert(1, "end", np.repeat(self.bounds[1:], channels))
        return table.assign(flits=self.flits.ravel(), use=self.use.ravel())

    def plot(self, axes: Any = None) -> Picture:
        """Draws the use of the channels, in the order of ``links``, against time. Returns a picture of one panel.
        Raises ConfigError if there are no channels or no cycles."""
        if not self.flits.size:
            raise ConfigError("channels.plot(): there is nothing to draw, because the network has no channels between "
                              "routers or the program takes no time.")
        import matplotlib.pyplot as plt

        axes = one_axes("channels.plot", axes if axes is not None else plt.subplots(layout="constrained")[1])
        edges = np.arange(len(self.links) + 1) - 0.5
        image = axes.pcolormesh(self.bounds, edges, self.use.T, cmap="viridis_r", rasterized=True)
        axes.set(xlabel="time (cycles)", ylabel="channel (in order of routers and ports)", ylim=(edges[-1], edges[0]))
        axes.figure.colorbar(image, ax=axes, label="use (flits/cycle)")
        return Picture([axes], ["use"])

    def __repr__(self) -> str:
        intervals, channels = self.flits.shape
        return f"{channels} channels in {intervals} intervals of up to {np.diff(self.bounds).max(initial=0)} cycles"


class ChannelCounter:
    """Reads the channels of a network at the end of each interval. interval: cycles. cycles: length of the run. Raises
    ConfigError."""

    def __init__(self, network: Network, interval: Any, cycles: int):
        number = whole(interval)
        if number is None or number < 1:
            raise ConfigError(f"timeline(interval={shown(interval)}): it must be a whole number of cycles, at least 1.")
        self._core = network._core
        self.links = np.array(network.links(), dtype=np.int64).reshape(-1, 4)
        if -(-cycles // number) * len(self.links) > MOST_NUMBERS:
            least = -(-cycles * len(self.links) // MOST_NUMBERS)
            raise ConfigError(f"timeline(interval={number}): {len(self.links)} channels in {cycles} cycles would give "
                              f"more than {MOST_NUMBERS} numbers; an interval of {least} or more is possible.")
        self._bounds = [*range(0, cycles, number), cycles] if cycles else [0]
        self._carried = [self._read()]

    def _read(self) -> np.ndarray:
        return np.array([flits for _, _, flits in self._core.channels()], dtype=np.uint32)

    def left(self) -> int:
        """Returns the number of cycles to the end of the interval; reads the channels if this is the end."""
        done = len(self._carried)
        if done < len(self._bounds) and self._core.cycle == self._bounds[done]:
            self._carried.append(self._read())
            done += 1
        return self._bounds[done] - self._core.cycle if done < len(self._bounds) else 1 << 32

    def times(self) -> ChannelTimes:
        # Counts are modulo 2**32, and so are their differences.
        flits = np.diff(np.array(self._carried), axis=0) if len(self._carried) > 1 else np.zeros((0, len(self.links)))
        return ChannelTimes(self.links, np.array(self._bounds), flits.astype(np.int64))
