"""Experiment on the use of message ages in S-Connect (2.2, 3, 3.2), for three readings of the paper."""

from __future__ import annotations

from flitlab.reproduction import row
from flitlab.result import Result
from flitlab.runner import run
from flitlab.sconnect.published.bandwidths import highest_carried_load, loaded, offered
from flitlab.sconnect.published.fabrics import PAPER

READINGS = {
    "requeued": "requeued messages first, the oldest before younger ones; then all others (default)",
    "head": "the last requeued message first, regardless of age",
    "all": "the oldest message first, requeued or not",
}
ABOUT = ("routing.age. The paper has no numbers. Loads are fractions of the load bound of sconnect.figure18. A batch: "
         "every host port sends a fixed number of messages as fast as it can, on channels with one error per million "
         "bits; the longest latency is the largest of a message from the first TIC to the destination host")


def returns(result: Result) -> float:
    """Returns the mean number of times that a message was requeued."""
    return result.model.came_back / result.model.delivered_priority_0


def ages(sizes: tuple[int, ...] = (64, 256), cycles: int = 2000, batch: int = 200) -> list[dict]:
    """Rows on random graphs of degree 4, saturated by their hosts, for each reading of the paper's text on ages."""
    rows = []
    for nodes in sizes:
        e = loaded("random, degree 4", nodes, cycles)
        d = e.derived()
        bound = min(1.0, int(d["channels"]) / (2 * (nodes - 1) * d["channels_mean"]))
        for age, what in READINGS.items():
            with_age = e.set("routing.age", age)
            over = run(offered(with_age, bound))
            whole = run(with_age.set({"traffic.mode": "batch", "traffic.batch_packets": batch,
                                      "channel.error_rate": 1e-6}))
            rows += [row("sconnect.age", f"{quantity}, {age}", f"{PAPER}, 2.2, 3, 3.2",
                         f"random, degree 4, {nodes} nodes", None, measured, unit, 0,
                         reading=f"{age}: {what}. {ABOUT}")
                     for quantity, measured, unit in (
                         ("highest load carried, of the bound", highest_carried_load(with_age, bound), ""),
                         ("accepted when the bound is offered, of the bound", over.accepted / bound, ""),
                         ("requeues per message when the bound is offered", returns(over), ""),
                         ("a batch, until the last delivery", whole.model.batch_cycles, "cycles"),
                         ("a batch, longest latency", whole.network_latency_cycles.max, "cycles"),
                         ("a batch, requeues per message", returns(whole), ""))]
    return rows


EXPERIMENTS = {"sconnect.age": ("use of message ages, three readings (random graphs)", ages)}
