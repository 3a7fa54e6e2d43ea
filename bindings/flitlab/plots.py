"""Pictures of curves. They need only the rows of a Curve, so a saved curve.csv can be drawn again."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown
from flitlab.over_seeds import by_point, mean_and_half
from flitlab.picture import Picture, picture_ending
from flitlab.records import parameters_of
from flitlab.rows import Rows
from flitlab.styles import NARROW, inches

if TYPE_CHECKING:
    from flitlab.curve import Curve

_DIAGONAL = "accepted = offered"
_FINISH = ("model.batch_cycles", "model.trace_cycles")  # cycles to the end of a batch or a trace


class Panel(NamedTuple):
    """The content of a panel."""

    columns: tuple[str, ...]  # columns of the table, each drawn as one line
    ylabel: str
    title: str
    steady: bool = False  # whether the columns are undefined in saturated runs
    words: tuple[str, ...] = ()  # names of the lines if the panel has several


PANELS = {
    "latency": Panel(("latency_mean",), "packet latency (cycles)", "latency", True),
    "accepted": Panel(("accepted",), "accepted load (flits/cycle/terminal)", "throughput (squares: saturated)"),
    "percentiles": Panel(("latency_p50", "latency_p95", "latency_p99"), "packet latency (cycles)",
                         "percentiles of latency", True, ("p50", "p95", "p99")),
    "network_latency": Panel(("network_latency_mean",), "network latency (cycles)", "latency from injection", True),
    "hops": Panel(("hops_mean",), "hops", "hops of a packet"),
    "channel_use": Panel(("channel_use_mean", "channel_use_max"), "channel use (flits/cycle)", "channel use",
                         words=("mean", "busiest")),
    "finish": Panel(_FINISH, "time to finish (cycles)", "time to finish"),
}
MOST_BANDED = 2000  # largest number of points of a line with bands; bands of more points would overlap
_DASHES: tuple[Any, ...] = ("-", "--", ":")  # dash styles of the lines of one curve in a panel


class Point(NamedTuple):
    """A point of a line: one value on the horizontal axis."""

    x: Any
    y: float  # mean over the seeds; NaN if it does not exist
    half: float  # half of its 95 % confidence interval; NaN if it is unknown
    saturated: bool


def points(rows: Iterable[Mapping[str, Any]], axis: str, column: str, steady: bool = False) -> Iterator[Point]:
    """Yields the points of a line: means over the seeds, with confidence intervals (Student's t). Points are sorted
    along the axis if its values are numbers. With one seed, mean latency has the interval that its run reports. steady:
    points at which any seed saturated have no value."""
    own = "latency_ci95" if column == "latency_mean" else ""
    by_x = dict(by_point(Rows.of(rows).pick(axis, "saturated", column, own), 1))
    numbers = all(isinstance(x, (int, float)) for (x,) in by_x)
    for (x,) in sorted(by_x) if numbers else by_x:
        seeds = by_x[x,]
        saturated = any(seed[0] for seed in seeds)
        values = [None] if steady and saturated else [seed[1] for seed in seeds]
        yield Point(x, *mean_and_half(values, seeds[0][2]), saturated)


def _finish(curve: Curve) -> str:
    """Returns the column with the cycles to the end if all runs have one, as batches and traces do; else ""."""
    return next((c for c in _FINISH if curve.rows and curve.rows.has(c)), "")


def _named(panels: Any, curves: Sequence[Curve]) -> list[str]:
    """Returns the names of panels; by default latency, and accepted load or the time to finish. Raises ConfigError."""
    if panels is None:
        return ["latency", "finish" if all(map(_finish, curves)) else "accepted"]
    names = [panels] if isinstance(panels, str) or not isinstance(panels, Iterable) else list(panels)
    there_are = f"panels are {', '.join(PANELS)}."
    for name in names or [None]:
        if not isinstance(name, str) or name not in PANELS:
            raise ConfigError(f"panels = {shown(panels)}: {shown(name)} is not a panel; {there_are}"
                              f"{did_you_mean(name, PANELS) if isinstance(name, str) else ''}")
    for curve in curves if "finish" in names else ():
        if not _finish(curve):
            raise ConfigError(f"panels = {shown(panels)}: only batches and traces have a time to finish, but the runs "
                              f"of {curve.name or 'a curve'} are of other kinds; {there_are}")
    return names


def _new_axes(count: int, width: float | None) -> Any:
    """Returns new axes, two in a row; in a narrow figure one below the other."""
    import matplotlib.pyplot as plt

    across, height = plt.rcParams["figure.figsize"]
    if (width or across) < NARROW:
        size = (width or across, count * (0.6 * width if width else 0.875 * height))
        return plt.subplots(count, 1, figsize=size, layout="constrained", sharex=True, squeeze=False)[1].ravel()
    columns = min(count, 2)
    rows = math.ceil(count / columns)
    size = (width, rows * min(0.72 * width / columns, 3.4)) if width else (5 * columns, 4 * rows)
    axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for unused in axes[count:]:
        unused.remove()
    return axes[:count]


def _given(axes: Any, panels: list[str]) -> list[Any]:
    """Returns the user's axes as a list, one for each panel. Raises ConfigError for anything else."""
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != len(panels) or not all(hasattr(a, "fill_between") for a in given):
        number = {1: "one axes", 2: "two axes"}.get(len(panels), f"{len(panels)} axes")
        raise ConfigError(f"plot(axes={shown(axes)}): it must be {number}, for {' and for '.join(panels)}, such as "
                          f"matplotlib.pyplot.subplots(1, {len(panels)})[1], or the result of another plot().")
    return given


def plot_curve(curve: Curve, axes: Any = None, label: str | None = None, panels: Any = None,
               width: Any = None) -> Picture:
    """Draws panels against offered load, or against the first key of a sweep over other parameters. Default panels:
    latency, and accepted load or, for batches and traces, the time to finish.

    Bands are 95 % confidence intervals of the mean. With several seeds they come from the spread of the seeds' means
    (Student's t); with one seed, mean latency has the interval of its run. Raises ConfigError."""
    if panels is None and isinstance(axes, Picture) and set(axes.panels) <= set(PANELS):
        panels = axes.panels
    names = _named(panels, [curve])
    across = inches(width)
    picture = Picture(_new_axes(len(names), across) if axes is None else _given(axes, names), names)
    for group_label, rows in curve.groups().items():
        name = " ".join(str(part) for part in (label, group_label) if part not in (None, "")) or curve.name
        look: dict[str, Any] = {}
        for axis, panel in zip(picture, names, strict=True):
            columns = (_finish(curve),) if panel == "finish" else PANELS[panel].columns
            look = _draw_lines(axis, rows, curve.axis, columns, PANELS[panel], name, look)
    for_paper = across is not None or picture.figure.get_figwidth() < NARROW
    for axis, panel in zip(picture, names, strict=True):
        if panel == "accepted" and curve.axis == "traffic.load" and curve.mode == "open" and all(
                line.get_label() != _DIAGONAL for line in axis.lines):
            axis.axline((0, 0), slope=1, color="0.5", ls=":", lw=1, marker="", label=_DIAGONAL)
        axis.autoscale(axis="y")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    _name_axes(picture, curve, for_paper)
    if across is not None:
        _small_text(picture)
    _legends(picture, for_paper)
    return picture


def _draw_lines(axis: Any, rows: Rows, key: str, columns: Sequence[str], panel: Panel, label: str,
                look: dict[str, Any]) -> dict[str, Any]:
    """Draws the lines of a curve in a panel with their bands, and marks saturated points with hollow squares or a
    dashed line. look: colour, marker and dashes of the curve, equal in all panels; {}: the next look in the figure's
    style. Returns the look used."""
    import matplotlib.pyplot as plt

    looks = look or ({} if "marker" in plt.rcParams["axes.prop_cycle"].keys else {"marker": "o", "ms": 4})
    for n, column in enumerate(columns):
        xs, ys, halves, saturated = _arrays(points(rows, key, column, panel.steady))
        dashes = {"ls": _DASHES[n]} if n else {}
        (line,) = axis.plot(xs, ys, label="_" if n else label, **(looks | dashes))
        if n == 0:
            looks = {"color": line.get_color(), "marker": line.get_marker(), "ms": line.get_markersize(),
                     "ls": line.get_linestyle()}
        if len(columns) > 1 and n == 0:
            line.set_linestyle(_DASHES[0])
        if len(xs) <= MOST_BANDED:
            axis.fill_between(xs, ys - halves, ys + halves, color=looks["color"], alpha=0.2, lw=0)
        if saturated and not panel.steady:
            axis.plot([xs[i] for i in saturated], ys[saturated], "s", ms=2 * looks["ms"], mfc="none",
                      color=looks["color"])
        elif saturated and n == 0 and key == "traffic.load":
            axis.axvline(xs[saturated[0]], color=looks["color"], ls="--", lw=0.7 * line.get_linewidth())
    return looks


def _arrays(drawn: Iterable[Point]) -> tuple[list[Any], np.ndarray, np.ndarray, list[int]]:
    """Returns x values, y values, half intervals, and the indices of saturated points."""
    xs, ys, halves, saturated = [], array("d"), array("d"), []
    for i, p in enumerate(drawn):
        xs.append(p.x)
        ys.append(p.y)
        halves.append(p.half)
        if p.saturated:
            saturated.append(i)
    if any(isinstance(x, (bool, str)) for x in xs):  # if numbers are mixed with strings, all are drawn as strings
        xs = [str(x) for x in xs]
    return xs, np.array(ys), np.array(halves), saturated


def _name_axes(picture: Picture, curve: Curve, for_paper: bool) -> None:
    """Sets the names of the axes, with units, and the titles. Figures for a paper have captions instead of titles."""
    key, over_load = curve.axis, curve.axis == "traffic.load"
    unit = parameters_of(curve.kind).get(key, {}).get("unit", "") if curve.kind else ""
    load = {"open": "offered load", "request_reply": "request load"}.get(curve.mode, "load")
    xlabel = f"{load} (flits/cycle/terminal)" if over_load else f"{key} ({unit})" if unit else key
    narrow = picture.figure.get_figwidth() < NARROW
    for axis, name in zip(picture, picture.panels, strict=True):
        panel = PANELS[name]
        # In a closed loop the accepted load includes replies, while the load on the axis is that of requests only.
        replies = name == "accepted" and curve.mode == "request_reply"
        ylabel = panel.ylabel.replace("load", "with replies") if replies else panel.ylabel
        axis.set(xlabel="" if narrow and axis is not picture[-1] else xlabel,
                 ylabel=ylabel.replace(" (", "\n(") if for_paper and len(ylabel) > 30 else ylabel)
        if not for_paper:
            note = " (dashed: first saturated load)" if panel.steady and over_load else ""
            axis.set_title(panel.title + note, fontsize=10)


def _small_text(picture: Picture) -> None:
    """Sets text to 8 points and ticks to 7, as in a paper, unless the style's sizes are smaller."""
    for axis in picture:
        for label in (axis.xaxis.label, axis.yaxis.label):
            label.set_size(min(8, label.get_size()))
        for direction in (axis.xaxis, axis.yaxis):
            ticks = direction.get_ticklabels()
            direction.set_tick_params(labelsize=min([7, *(tick.get_size() for tick in ticks)]))


def _legends(picture: Picture, for_paper: bool) -> None:
    """Draws a legend in each panel: names of the curves and meanings of dashes. For a paper it draws one legend above
    the panels, which also explains dashed lines and squares."""
    from matplotlib.lines import Line2D

    dashes = {name: [Line2D([], [], ls=ls, marker="", color="0.3", label=word)
                     for word, ls in zip(PANELS[name].words, _DASHES, strict=False)] for name in picture.panels}
    if not for_paper:
        for axis, name in zip(picture, picture.panels, strict=True):
            axis.legend(handles=[*axis.get_legend_handles_labels()[0], *dashes[name]], fontsize=8)
        return
    lines = [line for axis in picture for line in axis.lines]
    named = {line.get_label(): line for line in lines if not line.get_label().startswith("_")}
    notes = [named.pop(_DIAGONAL)] if _DIAGONAL in named else []
    if any(len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1] for line in lines):
        notes.append(Line2D([], [], ls="--", lw=0.7, marker="", color="0.3", label="first saturated load"))
    if any(line.get_markerfacecolor() == "none" for line in lines):
        notes.append(Line2D([], [], ls="", marker="s", mfc="none", color="0.3", ms=6, label="saturated"))
    figure = picture.figure
    for legend in figure.legends[:]:
        legend.remove()
    handles = [*named.values(), *notes, *(line for name in picture.panels for line in dashes[name])]
    figure.legend(handles=handles, loc="outside upper center", ncols=2 if figure.get_figwidth() < NARROW else 4,
                  fontsize=7)


def plot_curves(curves: Sequence[Curve], panels: str | Sequence[str] | None = None, width: str | float | None = None,
                labels: Sequence[str] | None = None) -> Picture:
    """Implements :func:`flitlab.plot`."""
    axes_keys = list(dict.fromkeys(c.axis for c in curves))
    if len(axes_keys) > 1:
        raise ConfigError(f"one picture cannot show curves over {' and '.join(axes_keys)}: their axes differ.")
    names, picture = _named(panels, curves), None
    for curve, label in zip(curves, labels or [c.name for c in curves], strict=True):
        picture = plot_curve(curve, picture, label if labels or len(curves) > 1 else None, names, width)
    assert picture is not None
    return picture


def save_curves(curves: Sequence[Curve], path: str | os.PathLike, labels: Sequence[str] | None = None,
                title: str = "") -> None:
    """Draws curves into a file, whose ending determines the format. The interactive backend stays unchanged."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    picture_ending("save_plot", path)
    picture = plot_curves(curves, labels=labels)
    if title and picture.figure.get_figwidth() >= NARROW:  # a paper's figure has a caption
        picture.figure.suptitle(title)
    try:
        picture.savefig(path)
    finally:
        plt.close(picture.figure)


def save_curve(curve: Curve, path: str | os.PathLike) -> None:
    save_curves([curve], path, title=curve.name)
