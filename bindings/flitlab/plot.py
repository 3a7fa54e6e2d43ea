"""Pictures of curves. Everything is drawn from the rows of a Curve, so a kept curve.csv can be drawn again."""

from __future__ import annotations

import math

from flitlab.records import parameters_of

# Quantiles of Student's t for 95 % confidence with 1, 2, ... degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def student(freedom: int) -> float:
    """From 11 degrees of freedom on the first terms of the expansion about the normal quantile: exact to 0.0025."""
    return _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.372 / freedom + 2.82 / freedom**2


def _time_to_finish(curve) -> str | None:
    """The column with the cycles to the end, if all runs of the curve have one: batches and traces."""
    columns = ("model.batch_cycles", "model.trace_cycles")
    return next((c for c in columns if curve.rows and all(c in row for row in curve.rows)), None)


def _mean(values):
    return sum(values) / len(values)


def _points(rows, axis, right):
    """Per place on the axis, rising: (x, mean latency, half width, mean of the column on the right, saturated) over the
    seeds. Half width of the 95 % confidence interval: over the seeds (Student's t) if there are several, else the run's
    own."""
    by_x: dict = {}
    for row in rows:
        by_x.setdefault(row[axis], []).append(row)
    numbers = all(isinstance(x, (int, float)) for x in by_x)
    for x in sorted(by_x) if numbers else by_x:
        same = by_x[x]
        saturated = any(r["saturated"] for r in same)
        other = _mean([r[right] for r in same])
        if saturated or any(r["latency_mean"] is None for r in same):
            yield x, math.nan, 0.0, other, saturated
            continue
        mean = _mean([r["latency_mean"] for r in same])
        if len(same) > 1:
            spread = math.sqrt(sum((r["latency_mean"] - mean) ** 2 for r in same) / (len(same) - 1))
            half = student(len(same) - 1) * spread / math.sqrt(len(same))
        else:
            half = same[0]["latency_ci95"] or 0.0
        yield x, mean, half, other, saturated


def plot_curve(curve, axes=None, label=None):
    """Two axes: latency, and accepted load, against offered load, or against the first key of a sweep over something
    else; of batches and traces the time to finish instead of the accepted load.

    Bands are 95 % confidence intervals of the mean latency: with several seeds from the spread of their means
    (Student's t), with one from the batch means of the run."""
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left, right = axes
    key = curve.axis
    over_load = key == "traffic.load"
    finish = _time_to_finish(curve)
    highest = 0.0
    for group_label, rows in curve.groups().items():
        points = list(_points(rows, key, finish or "accepted"))
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
    unit = parameters_of(curve.kind).get(key, {}).get("unit", "") if curve.kind else ""
    load_label = {"open": "offered load", "request_reply": "request load"}.get(curve.mode, "load")
    xlabel = f"{load_label} (flits/cycle/terminal)" if over_load else f"{key} ({unit})" if unit else key
    # What is accepted of a closed loop is requests and replies; the load on the axis is requests alone.
    accepted = "accepted with replies" if curve.mode == "request_reply" else "accepted load"
    left.set(xlabel=xlabel, ylabel="packet latency (cycles)", ylim=(0, None))
    ylabel = "time to finish (cycles)" if finish else f"{accepted} (flits/cycle/terminal)"
    right.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, None))
    left.set_title("latency (dashed: first saturated load)" if over_load else "latency", fontsize=10)
    right.set_title("time to finish" if finish else "throughput (squares: saturated)", fontsize=10)
    if over_load and curve.mode == "open":
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
