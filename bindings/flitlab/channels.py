"""Channel use of a run: a table, and a heat map on a drawing of the network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.picture import Picture, one_axes
from flitlab.scope.places import BENT, gap_before, positions_of
from flitlab.styles import NARROW

if TYPE_CHECKING:
    import pandas as pd

    from flitlab.experiment import Experiment

MOST_DRAWN = 20000  # largest number of channels in a drawing; more would be unreadable
MOST_NUMBERED = 64  # largest number of routers that are labelled with their numbers
_OFFSET = 0.09  # offset to the right of the line between two routers, as a fraction of the distance of neighbours
_GAP = 0.16  # gap between a router and the ends of its channels, in the same unit
_STUB = 0.46  # length of the stub drawn for a channel to a distant router, in the same unit


class Channels:
    """Channels between routers, with their use in the measurement window: ``len(channels)``, ``channels.frame``,
    ``channels.plot()``."""

    def __init__(self, experiment: Experiment, flits: list[int], cycles: int):
        self._experiment = experiment
        self._flits = flits
        self._cycles = cycles
        self._links: np.ndarray | None = None

    @property
    def links(self) -> np.ndarray:
        """Array [channels][4]: router and port where each channel begins, router and port where it ends."""
        if self._links is None:
            links = _core.Network(self._experiment.core, "cpu", 1, False).links()
            self._links = np.array(links, dtype=np.int64).reshape(-1, 4)
        return self._links

    @property
    def use(self) -> np.ndarray:
        """Array [channels], in the order of ``links``: flits/cycle. In models whose packets occupy a channel for more
        cycles than they have flits: the fraction of cycles in which the channel was occupied."""
        return np.array(self._flits, dtype=float) / max(1, self._cycles)

    @property
    def frame(self) -> pd.DataFrame:
        """pandas.DataFrame: router, port, to_router, to_port, flits, use (flits/cycle)."""
        import pandas as pd

        table = pd.DataFrame(self.links, columns=["router", "port", "to_router", "to_port"])
        return table.assign(flits=np.array(self._flits, dtype=np.int64), use=self.use)

    def _positions(self) -> np.ndarray:
        """Returns coordinates [routers][2] as in the router scope."""
        network = _core.Network(self._experiment.core, "cpu", 1, False)
        names = [network.router_name(r) for r in range(int(self._experiment.derived()["routers"]))]
        kind = self._experiment.flat().get("topology.kind", "")
        return np.array(positions_of(names, kind, self.links.tolist())[0])

    def __len__(self) -> int:
        return len(self._flits)

    def _summary(self) -> str:
        use = self.use if len(self) else np.zeros(1)
        return (f"{len(self)} channels, {use.mean():.4f} flits/cycle on average, {use.max():.4f} at most; "
                "the busiest:")

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self.frame.nlargest(10, 'use').to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>{self.frame.nlargest(10, 'use').to_html(index=False, border=0)}"

    def plot(self, axes: Any = None) -> Picture:
        """Draws each channel as an arrow coloured by its use. Returns a picture of one panel.

        Coordinates determine the positions of routers that have them; the third and further dimensions give planes,
        drawn in rows. Wrap-around channels and channels between planes are drawn as stubs. A multistage network has a
        column for each stage. Other networks are laid out by networkx from their channels, or on a circle if it is not
        installed.

        Raises ConfigError if there are more than 20000 channels, or none.
        """
        if not 0 < len(self) <= MOST_DRAWN:
            raise ConfigError(f"channels.plot(): {len(self)} channels; 1 to {MOST_DRAWN} can be drawn. The "
                              "table channels.frame has all of them.")
        shape = _shape(self._experiment)
        coordinates = _grid(shape) if shape else self._positions()
        if len(shape) <= 2 and (chip := self._experiment.flat().get("topology.chip_shape")):
            coordinates += [[gap_before(at[d:d + 1], chip[d:d + 1]) for d in (0, 1)]
                            for at in _coordinates(shape).tolist()]
        starts, arrow_vectors = _arrows(self.links, coordinates, shape)
        return Picture([_draw(axes, coordinates, starts, arrow_vectors, self.use, shape)], ["channels"])


def _shape(experiment: Experiment) -> list[int]:
    """Returns the routers in each dimension, dimension 0 fastest; [] if there is no grid of channels."""
    flat, routers = experiment.flat(), int(experiment.derived()["routers"])
    if flat.get("topology.kind") in BENT:
        return []
    shape = flat.get("topology.shape") or [2] * flat.get("topology.dimensions", 0)
    return list(shape) if math.prod(shape) == routers and shape else []


def _coordinates(shape: list[int]) -> np.ndarray:
    """Returns coordinates [routers][dimensions]."""
    return np.stack(np.unravel_index(np.arange(math.prod(shape)), shape, order="F"), axis=1)


def _grid(shape: list[int]) -> np.ndarray:
    """Returns positions [routers][2]: dimension 0 to the right, dimension 1 up. Planes of further dimensions are
    arranged in rows, so that the drawing is nearly square."""
    at = _coordinates(shape)[:, :2].astype(float)
    width, height = shape[0] + 1.0, (shape[1] if len(shape) > 1 else 1) + 1.0
    planes = math.prod(shape[2:])
    in_a_row = min(planes, max(1, round(math.sqrt(planes * height / width))))
    plane = np.arange(len(at)) // math.prod(shape[:2])
    rest = np.zeros((len(at), 2 - at.shape[1]))
    return np.hstack([at, rest]) + np.stack([plane % in_a_row * width, -(plane // in_a_row) * height], axis=1)


def _arrows(links: np.ndarray, coordinates: np.ndarray, shape: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the starting points and the vectors of the arrows, two arrays [channels][2]."""
    start, vector = coordinates[links[:, 0]].copy(), coordinates[links[:, 2]] - coordinates[links[:, 0]]
    stub = np.zeros(len(links), dtype=bool)
    if shape:
        at = _coordinates(shape)
        step = at[links[:, 2]] - at[links[:, 0]]
        dimension = np.abs(step).argmax(axis=1)
        along = np.take_along_axis(step, dimension[:, None], axis=1)[:, 0]
        wraps = np.abs(along) > 1
        stub = wraps | (dimension > 1)
        angles = np.where(dimension < 2, dimension * 90.0, 45.0 + 90.0 * (dimension % 2))
        sign = np.where(wraps, -np.sign(along), np.sign(along))
        directions = np.stack([np.cos(np.radians(angles)), np.sin(np.radians(angles))], axis=1) * sign[:, None]
        vector[stub] = directions[stub]
    length = np.linalg.norm(vector, axis=1, keepdims=True)
    unit = vector / np.maximum(length, 1e-9)
    right = np.stack([unit[:, 1], -unit[:, 0]], axis=1)
    reach = np.where(stub[:, None], _STUB - _GAP, length - 2 * _GAP)
    shift = _OFFSET if shape else _OFFSET / 2  # without a grid, channels may leave a router on all sides
    return start + _GAP * unit + shift * right, unit * np.maximum(reach, 0.1)


def _draw(axes: Any, coordinates: np.ndarray, starts: np.ndarray, arrow_vectors: np.ndarray, use: np.ndarray,
          shape: list[int]) -> Any:
    import matplotlib.pyplot as plt

    low, high = coordinates.min(axis=0) - 0.6, coordinates.max(axis=0) + 0.6
    across, up = high - low
    if axes is None:
        width = plt.rcParams["figure.figsize"][0]
        width = width if width < NARROW else min(7.0, max(4.0, 0.6 * across + 0.9))
        axes = plt.subplots(figsize=(width, min(max((width - 0.9) * up / across, 0.8), 1.3 * width) + 0.7),
                            layout="constrained")[1]
    axes = one_axes("channels.plot", axes)
    figure = axes.figure
    # per unit of the drawing, approximately
    points = 60 * min((figure.get_figwidth() - 0.9) / across, figure.get_figheight() / up)
    arrows = axes.quiver(starts[:, 0], starts[:, 1], arrow_vectors[:, 0], arrow_vectors[:, 1], use, cmap="viridis_r",
                         angles="xy", scale_units="xy", scale=1, units="xy", width=min(0.055, 2 / points),
                         headwidth=3.2, headlength=3.5, headaxislength=3.2, zorder=2)
    arrows.set_clim(0, max(float(use.max()), 1e-9))
    axes.scatter(*coordinates.T, s=min(0.17 * points, 8) ** 2, marker="s", color="0.75", zorder=1, lw=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0)
    if 1 <= len(shape) <= 2:
        _number(axes, "x", coordinates[:shape[0], 0])
    if len(shape) == 2:
        _number(axes, "y", coordinates[::shape[0], 1])
    for router, position in enumerate(coordinates if not shape and len(coordinates) <= MOST_NUMBERED else ()):
        axes.text(*position, str(router), ha="center", va="center", fontsize=min(0.16 * points, 7), zorder=3)
    for plane in range(0, len(coordinates), math.prod(shape[:2])) if len(shape) > 2 else ():
        at = _coordinates(shape[2:])[plane // math.prod(shape[:2])]
        plane_label = f"z = {at[0]}" if len(at) == 1 else f"z... = {', '.join(map(str, at))}"
        top = coordinates[plane] + [(shape[0] - 1) / 2, shape[1] - 0.45]
        axes.text(*top, plane_label, ha="center", va="bottom", fontsize=plt.rcParams["xtick.labelsize"])
    figure.colorbar(arrows, ax=axes, label="channel use (flits/cycle)" if up > 3 else "use (flits/cycle)", shrink=0.9,
                    aspect=25, pad=0.02)
    return axes


def _number(axes: Any, axis: str, places: np.ndarray) -> None:
    """Numbers the routers along an axis. places: their positions."""
    shown = list(range(0, len(places), max(1, len(places) // 8)))
    axes.set(**{f"{axis}label": f"{axis} (router)", f"{axis}ticks": places[shown], f"{axis}ticklabels": shown})
