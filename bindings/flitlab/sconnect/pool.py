"""The pool of buffers of an S-Connect router that fills up while hosts refuse priority 0 (S-Connect, 2.3, 3.1): samples
and a picture.

A sample is a window of routing cycles. Columns of the tables: cycle, in which the window ends; used, host_0, channel_0
and priority_1: buffers of one TIC in use, in all, of priority 0 for the host and for channels, and of priority 1;
arrived: messages of priority 1 delivered per cycle, and latency, their mean in cycles (NaN for fewer than ten);
arrived_0: messages of priority 0 delivered since cycle 0; waiting: messages at the second ports of all hosts."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import Patch

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.sconnect.clock import CHANNELS
from flitlab.sconnect.console import Fabric

AREAS = {"host_0": ("priority 0, for the host", "#e6550d"), "channel_0": ("priority 0, for channels", "#fdae6b"),
         "priority_1": ("priority 1", "#6baed6")}


def _held(registers: Mapping[str, int]) -> dict[str, int]:
    """Returns the buffers that a TIC's queues hold, by the keys of AREAS. Register held.N belongs to the queue with the
    number N = 8 port + 2 priority + virtual channel."""
    held = dict.fromkeys(AREAS, 0)
    for name, value in registers.items():
        if name.startswith("held."):
            port, priority = divmod(int(name.removeprefix("held.")) // 2, 4)
            held["priority_1" if priority else "host_0" if port >= CHANNELS else "channel_0"] += value
    return held


def record_pool(experiment: Experiment, tic: int, cycles: int, window: int = 40) -> pd.DataFrame:
    """Runs a fabric with two ports to each host for a number of cycles and returns a sample of each window. tic: the
    TIC whose buffers are recorded."""
    net, rows = Network(experiment), []
    second_ports = range(1, int(experiment.derived()["terminals"]), 2)
    before = net.totals
    while net.cycle < cycles:
        net.step(window)
        now, registers = net.totals, Fabric(net).registers(tic)
        arrived = now["delivered_priority_1"] - before["delivered_priority_1"]
        latency = (now["latency_sum"] - before["latency_sum"]) / arrived if arrived >= 10 else float("nan")
        rows.append({"cycle": net.cycle, "used": registers["used"], "arrived": arrived / window, "latency": latency,
                     "arrived_0": now["delivered_priority_0"],
                     "waiting": sum(net.terminal(port).queued for port in second_ports), **_held(registers)})
        before = now
    net.check()
    return pd.DataFrame(rows)


def delivered(samples: Mapping[str, pd.DataFrame], offered: float) -> pd.DataFrame:
    """Returns a table of what samples deliver, a row for each run: messages of priority 1 offered and delivered per
    cycle, their mean latency, and the number of messages of priority 0. samples: the rows of the second half of each
    run."""
    return pd.DataFrame([{"": title, "priority 1 offered (messages/cycle)": round(offered, 2),
                          "delivered in the second half": round(part.arrived.mean(), 3),
                          "latency (cycles)": round(part.latency.mean(), 1),
                          "priority 0 delivered": part.arrived_0.iloc[-1]}
                         for title, part in samples.items()]).set_index("")


def draw_pool(courses: Mapping[str, pd.DataFrame], tic: int, buffers: int, offered: float) -> None:
    """Draws runs beside each other: buffers of a TIC in use, by priority; and throughput and latency of priority 1.

    courses: samples by title. buffers: size of the pool. offered: messages of priority 1 per cycle."""
    figure, axes = plt.subplots(3, 2, figsize=(12, 7.6), layout="constrained", sharex=True, sharey="row",
                                height_ratios=[3, 2, 2])
    for column, (title, seen) in zip(axes.T, courses.items(), strict=True):
        column[0].stackplot(seen.cycle, *(seen[key] for key in AREAS), colors=[colour for _, colour in AREAS.values()])
        column[0].axhline(buffers, color="black", lw=1)
        column[0].set_title(title)
        column[1].plot(seen.cycle, seen.arrived, color="#08519c")
        column[1].axhline(offered, color="grey", ls="--")
        column[2].plot(seen.cycle, seen.latency, color="#08519c")
        column[2].set_xlabel("routing cycle")
        for axis in column:
            axis.grid(alpha=0.3)
    axes[0, 0].set(ylabel=f"buffers of TIC {tic} in use", ylim=(0, buffers + 4))
    axes[1, 0].set(ylabel="priority 1 delivered\n(messages/cycle)", ylim=(0, None))
    axes[2, 0].set(ylabel="latency of priority 1\n(cycles)", ylim=(0, None))
    keys: list = [Patch(fc=colour, label=name) for name, colour in AREAS.values()]
    keys += [plt.Line2D([], [], color="black", label="the whole pool"),
             plt.Line2D([], [], color="grey", ls="--", label="priority 1, offered")]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, fontsize=8)
