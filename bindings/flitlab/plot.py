"""Pictures of curves. Everything is drawn from the rows of a Curve, so a kept curve.csv can be drawn again."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flitlab._core import ConfigError
from flitlab.arguments import check_path, shown, writing
from flitlab.records import parameters_of
from flitlab.styles import NARROW

if TYPE_CHECKING:
    from flitlab.curve import Curve

# Quantiles of Student's t for 95 % confidence with 1, 2, ... degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_DIAGONAL = "accepted = offered"


def student(freedom: int) -> float:
    """From 11 degrees of freedom on the first terms of the expansion about the normal quantile: exact to 0.0025."""
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.372 / freedom + 2.82 / freedom**2


def _time_to_finish(curve: Curve) -> str | None:
    """The column with the cycles to the end, if all runs of the curve have one: batches and traces."""
    columns = ("model.batch_cycles", "model.trace_cycles")
    return next((c for c in columns if curve.rows and all(c in row for row in curve.rows)), None)


def _mean(values):
    return sum(values) / len(values)


def _over_seeds(values: Sequence[float]) -> float:
    """Half width of the 95 % confidence interval of the mean of several seeds' values; 0 of one."""
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return student(len(values) - 1) * spread / math.sqrt(len(values))


class Point(NamedTuple):
    """A place on the axis. half, right_half: of the 95 % confidence intervals."""

    x: Any
    latency: float  # cycles; NaN where a seed saturated
    half: float
    right: float  # the column on the right
    right_half: float
    saturated: bool


def points(rows: Sequence[dict[str, Any]], axis: str, right: str) -> Iterator[Point]:
    """Means over the seeds per place on the axis, rising. Intervals: of latency over the seeds (Student's t) if there
    are several, else the run's own; of the column on the right over the seeds."""
    by_x: dict = {}
    for row in rows:
        by_x.setdefault(row[axis], []).append(row)
    numbers = all(isinstance(x, (int, float)) for x in by_x)
    for x in sorted(by_x) if numbers else by_x:
        same = by_x[x]
        saturated = any(r["saturated"] for r in same)
        others = [r[right] for r in same]
        other = _mean(others), _over_seeds(others)
        latencies = [r["latency_mean"] for r in same]
        if saturated or None in latencies:
            yield Point(x, math.nan, 0.0, *other, saturated)
            continue
        half = _over_seeds(latencies) if len(same) > 1 else same[0]["latency_ci95"] or 0.0
        yield Point(x, _mean(latencies), half, *other, saturated)


def new_axes():
    """Two axes side by side; in a narrow figure one above the other."""
    import matplotlib.pyplot as plt

    width, height = plt.rcParams["figure.figsize"]
    if width < NARROW:
        return plt.subplots(2, 1, figsize=(width, 1.75 * height), layout="constrained", sharex=True)[1]
    return plt.subplots(1, 2, figsize=(10, 4), layout="constrained")[1]


def _two(axes: Any) -> tuple[Any, Any]:
    """Axes of the user's; an array of them is fine."""
    given = list(axes) if isinstance(axes, Iterable) else [axes]
    if len(given) != 2 or not all(hasattr(a, "fill_between") for a in given):
        raise ConfigError(f"plot(axes={shown(axes)}): it must be two axes, for latency and for throughput, such as "
                          "matplotlib.pyplot.subplots(1, 2)[1], or what another plot() returned.")
    return given[0], given[1]


def plot_curve(curve: Curve, axes=None, label: str | None = None):
    """Two axes: latency, and accepted load, against offered load, or against the first key of a sweep over something
    else; of batches and traces the time to finish instead of the accepted load.

    Bands are 95 % confidence intervals of the mean: with several seeds from the spread of their means (Student's t);
    with one seed latency has a band from the batch means of the run."""
    left, right = axes = new_axes() if axes is None else _two(axes)
    key = curve.axis
    over_load = key == "traffic.load"
    finish = _time_to_finish(curve)
    for group_label, rows in curve.groups().items():
        name = " ".join(str(part) for part in (label, group_label) if part not in (None, "")) or curve.name
        _draw_line(left, right, list(points(rows, key, finish or "accepted")), name, over_load)
    unit = parameters_of(curve.kind).get(key, {}).get("unit", "") if curve.kind else ""
    load_label = {"open": "offered load", "request_reply": "request load"}.get(curve.mode, "load")
    xlabel = f"{load_label} (flits/cycle/terminal)" if over_load else f"{key} ({unit})" if unit else key
    # What is accepted of a closed loop is requests and replies; the load on the axis is requests alone.
    accepted = "accepted with replies" if curve.mode == "request_reply" else "accepted load"
    narrow = left.figure.get_figwidth() < NARROW
    left.set(xlabel="" if narrow else xlabel, ylabel="packet latency (cycles)")
    ylabel = "time to finish (cycles)" if finish else f"{accepted} (flits/cycle/terminal)"
    right.set(xlabel=xlabel, ylabel=ylabel.replace(" (", "\n(") if narrow else ylabel)
    if not narrow:
        left.set_title("latency (dashed: first saturated load)" if over_load else "latency", fontsize=10)
        right.set_title("time to finish" if finish else "throughput (squares: saturated)", fontsize=10)
    if over_load and curve.mode == "open" and all(line.get_label() != _DIAGONAL for line in right.lines):
        right.axline((0, 0), slope=1, color="0.5", ls=":", lw=1, marker="", label=_DIAGONAL)
    for axis in axes:
        axis.autoscale(axis="y")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    _legends(left, right, narrow)
    return axes


def _draw_line(left, right, line_points: list[Point], name: str, over_load: bool) -> None:
    """A line and its band in both pictures; hollow squares, and the dashed line, for what is saturated."""
    import matplotlib.pyplot as plt

    words = any(isinstance(p.x, (bool, str)) for p in line_points)  # a number among them is a word, too
    xs = [str(p.x) if words else p.x for p in line_points]
    look = {} if "marker" in plt.rcParams["axes.prop_cycle"].keys else {"marker": "o", "ms": 4}
    (line,) = left.plot(xs, [p.latency for p in line_points], label=name, **look)
    colour = line.get_color()
    right.plot(xs, [p.right for p in line_points], color=colour, label=name, marker=line.get_marker(),
               ms=line.get_markersize(), ls=line.get_linestyle())
    for axis, middle, half in ((left, "latency", "half"), (right, "right", "right_half")):
        low, high = ([getattr(p, middle) + sign * getattr(p, half) for p in line_points] for sign in (-1, 1))
        axis.fill_between(xs, low, high, color=colour, alpha=0.2, lw=0)
    saturated = [(x, p.right) for x, p in zip(xs, line_points, strict=True) if p.saturated]
    if saturated:
        right.plot(*zip(*saturated, strict=True), "s", ms=2 * line.get_markersize(), mfc="none", color=colour)
        if over_load:
            left.axvline(saturated[0][0], color=colour, ls="--", lw=0.7 * line.get_linewidth())


def _legends(left, right, narrow: bool) -> None:
    """In a narrow figure the lines are named once, above the pictures, with what dashes and squares mean."""
    if not narrow:
        for axis in (left, right):
            axis.legend(fontsize=8)
        return
    from matplotlib.lines import Line2D

    named = [line for line in left.lines if not line.get_label().startswith("_")]
    notes = [line for line in right.lines if line.get_label() == _DIAGONAL]
    if any(len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1] for line in left.lines):
        notes.append(Line2D([], [], ls="--", lw=0.7, marker="", color="0.3", label="first saturated load"))
    if any(line.get_markerfacecolor() == "none" for line in right.lines):
        notes.append(Line2D([], [], ls="", marker="s", mfc="none", color="0.3", ms=6, label="saturated"))
    for legend in left.figure.legends[:]:
        legend.remove()
    left.figure.legend(handles=[*named, *notes], loc="outside upper center", ncols=2)


def overlay(curves: Sequence[Curve], labels: Sequence[str] | None = None):
    """Several curves in one picture; returns the two axes. Raises ConfigError if they have nothing in common."""
    if not curves:
        raise ConfigError("an overlay needs a curve.")
    axes_keys = list(dict.fromkeys(c.axis for c in curves))
    if len(axes_keys) > 1:
        raise ConfigError(f"one picture cannot show curves over {' and '.join(axes_keys)}: they have different axes.")
    axes = None
    for curve, label in zip(curves, labels or [c.name for c in curves], strict=True):
        axes = plot_curve(curve, axes, label if len(curves) > 1 else None)
    return axes


def save_curves(curves: Sequence[Curve], path: str | os.PathLike, labels: Sequence[str] | None = None,
                title: str = "") -> None:
    """Draws curves into a file, whose ending chooses the format, without touching the interactive backend."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    from matplotlib.backend_bases import FigureCanvasBase

    check_path(f"save_plot({shown(path)})", path, "a picture: .png, .svg or .pdf")
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise ConfigError(f"{path}: a picture's file ends in .png, .svg or .pdf.")
    axes = overlay(curves, labels)
    figure = axes[0].figure
    narrow = figure.get_figwidth() < NARROW
    if title and not narrow:  # a paper's figure has a caption
        figure.suptitle(title)
    no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)  # the same curve, the same file
    try:
        with writing("save_plot", path):
            figure.savefig(path, metadata=no_date, **({} if narrow else {"dpi": 130}))
    finally:
        plt.close(figure)


def save_curve(curve: Curve, path: str | os.PathLike) -> None:
    save_curves([curve], path, title=curve.name)
