"""Pictures of curves. Everything is drawn from the rows of a Curve, so a kept curve.csv can be drawn again."""

from __future__ import annotations

import math


def _groups(curve):
    """(label, rows) for each setting of the keys other than the load."""
    others = [k for k in curve.keys if k != "traffic.load"]
    groups: dict[tuple, list] = {}
    for row in curve.rows:
        groups.setdefault(tuple(row[k] for k in others), []).append(row)
    for values, rows in groups.items():
        yield ", ".join(f"{k.split('.')[-1]} {v}" for k, v in zip(others, values, strict=True)), rows


def _mean(values):
    return sum(values) / len(values)


def _points(rows):
    """Per load: (load, mean latency, half width, mean accepted, saturated) over the seeds."""
    by_load: dict[float, list] = {}
    for row in rows:
        by_load.setdefault(row["traffic.load"], []).append(row)
    for load, same in sorted(by_load.items()):
        saturated = any(r["saturated"] for r in same)
        accepted = _mean([r["accepted"] for r in same])
        if saturated or any(r["latency_mean"] is None for r in same):
            yield load, math.nan, 0.0, accepted, saturated
            continue
        mean = _mean([r["latency_mean"] for r in same])
        if len(same) > 1:
            spread = math.sqrt(sum((r["latency_mean"] - mean) ** 2 for r in same) / (len(same) - 1))
            half = 1.96 * spread / math.sqrt(len(same))
        else:
            half = same[0]["latency_ci95"] or 0.0
        yield load, mean, half, accepted, saturated


def plot_curve(curve, axes=None, label=None):
    """Two axes: latency, and accepted load, against offered load. Bands are 95 % confidence intervals."""
    import matplotlib.pyplot as plt

    if "traffic.load" not in curve.keys:
        return _plot_other(curve, axes)
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left, right = axes
    highest = 0.0
    for group_label, rows in _groups(curve):
        points = list(_points(rows))
        loads = [p[0] for p in points]
        highest = max(highest, *loads)
        name = " ".join(part for part in (label, group_label) if part) or curve.name
        (line,) = left.plot(loads, [p[1] for p in points], "o-", ms=4, label=name)
        left.fill_between(loads, [p[1] - p[2] for p in points], [p[1] + p[2] for p in points],
                          color=line.get_color(), alpha=0.2, lw=0)
        right.plot(loads, [p[3] for p in points], "o-", ms=4, color=line.get_color(), label=name)
        saturated = [p[0] for p in points if p[4]]
        if saturated:
            left.axvline(min(saturated), color=line.get_color(), ls="--", lw=1)
            right.plot([p[0] for p in points if p[4]], [p[3] for p in points if p[4]], "s", ms=8, mfc="none",
                       color=line.get_color())
    left.set(xlabel="offered load (flits/cycle/terminal)", ylabel="packet latency (cycles)", ylim=(0, None))
    right.plot([0, highest], [0, highest], ":", color="0.5", lw=1, label="accepted = offered")
    right.set(xlabel="offered load (flits/cycle/terminal)", ylabel="accepted load (flits/cycle/terminal)",
              ylim=(0, None))
    left.set_title("latency (dashed: first saturated load)", fontsize=10)
    right.set_title("throughput (squares: saturated)", fontsize=10)
    for axis in (left, right):
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    return axes


def _plot_other(curve, axes):
    """A sweep over something other than the load: accepted load and latency against its first key."""
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    key = curve.keys[0]
    names = [str(r[key]) for r in curve.rows]
    axes[0].plot(names, [math.nan if r["latency_mean"] is None else r["latency_mean"] for r in curve.rows], "o")
    axes[1].plot(names, [r["accepted"] for r in curve.rows], "o")
    axes[0].set(xlabel=key, ylabel="packet latency (cycles)")
    axes[1].set(xlabel=key, ylabel="accepted load (flits/cycle/terminal)")
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
