"""Pictures of curves. Everything is drawn from the rows of a Curve, so a kept curve.csv can be drawn again."""

from __future__ import annotations

import math

from flitlab import _core


def _axis(curve) -> str:
    """The key on the horizontal axis: the load if it was varied, else the first key."""
    return "traffic.load" if "traffic.load" in curve.keys else curve.keys[0]


def _groups(curve, axis):
    """(label, rows) for each setting of the keys other than the one on the axis."""
    others = [k for k in curve.keys if k != axis]
    groups: dict[tuple, list] = {}
    for row in curve.rows:
        groups.setdefault(tuple(row[k] for k in others), []).append(row)
    for values, rows in groups.items():
        yield ", ".join(f"{k.split('.')[-1]} {v}" for k, v in zip(others, values, strict=True)), rows


def _mean(values):
    return sum(values) / len(values)


def _points(rows, axis):
    """Per place on the axis, rising: (x, mean latency, half width, mean accepted, saturated) over the seeds."""
    by_x: dict = {}
    for row in rows:
        by_x.setdefault(row[axis], []).append(row)
    numbers = all(isinstance(x, (int, float)) for x in by_x)
    for x in sorted(by_x) if numbers else by_x:
        same = by_x[x]
        saturated = any(r["saturated"] for r in same)
        accepted = _mean([r["accepted"] for r in same])
        if saturated or any(r["latency_mean"] is None for r in same):
            yield x, math.nan, 0.0, accepted, saturated
            continue
        mean = _mean([r["latency_mean"] for r in same])
        if len(same) > 1:
            spread = math.sqrt(sum((r["latency_mean"] - mean) ** 2 for r in same) / (len(same) - 1))
            half = 1.96 * spread / math.sqrt(len(same))
        else:
            half = same[0]["latency_ci95"] or 0.0
        yield x, mean, half, accepted, saturated


def plot_curve(curve, axes=None, label=None):
    """Two axes: latency, and accepted load, against offered load, or against the first key of a sweep over something
    else. Bands are 95 % confidence intervals."""
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left, right = axes
    key = _axis(curve)
    over_load = key == "traffic.load"
    highest = 0.0
    for group_label, rows in _groups(curve, key):
        points = list(_points(rows, key))
        xs = [str(p[0]) if isinstance(p[0], (bool, str)) else p[0] for p in points]
        name = " ".join(part for part in (label, group_label) if part) or curve.name
        (line,) = left.plot(xs, [p[1] for p in points], "o-", ms=4, label=name)
        left.fill_between(xs, [p[1] - p[2] for p in points], [p[1] + p[2] for p in points],
                          color=line.get_color(), alpha=0.2, lw=0)
        right.plot(xs, [p[3] for p in points], "o-", ms=4, color=line.get_color(), label=name)
        saturated = [(x, p[3]) for x, p in zip(xs, points, strict=True) if p[4]]
        if saturated:
            right.plot(*zip(*saturated, strict=True), "s", ms=8, mfc="none", color=line.get_color())
        if over_load:
            highest = max(highest, *xs)
            if saturated:
                left.axvline(saturated[0][0], color=line.get_color(), ls="--", lw=1)
    unit = next((p["unit"] for p in _core.parameters() if p["path"] == key), "")
    xlabel = "offered load (flits/cycle/terminal)" if over_load else f"{key} ({unit})" if unit else key
    left.set(xlabel=xlabel, ylabel="packet latency (cycles)", ylim=(0, None))
    right.set(xlabel=xlabel, ylabel="accepted load (flits/cycle/terminal)", ylim=(0, None))
    left.set_title("latency (dashed: first saturated load)" if over_load else "latency", fontsize=10)
    right.set_title("throughput (squares: saturated)", fontsize=10)
    if over_load:
        right.plot([0, highest], [0, highest], ":", color="0.5", lw=1, label="accepted = offered")
    for axis in (left, right):
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    return axes


def save_curve(curve, path) -> None:
    """Draws a curve into a PNG without touching the interactive backend."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    axes = plot_curve(curve)
    figure = axes[0].figure
    if curve.name:
        figure.suptitle(curve.name)
    figure.savefig(path, dpi=130)
    plt.close(figure)
