"""What the age of messages decides in S-Connect (2.2, 3, 3.2): the readings side by side."""

from __future__ import annotations

from flitlab.reproduction import row
from flitlab.result import Result
from flitlab.runner import run
from flitlab.sconnect.published.bandwidths import kept_up_with, loaded, offered
from flitlab.sconnect.published.fabrics import PAPER

READINGS = {
    "requeued": "of what came back to a queue the older first, all of it before what did not (default)",
    "head": "what came back last first, whatever its age",
    "all": "the older first, wherever it came back",
}
ABOUT = ("routing.age. The paper has no numbers. Loads in parts of the bound of loads of sconnect.figure18. A batch: "
         "every host's port sends so many messages as fast as it can, on channels with an error in a million bits; "
         "the longest way is that of the message that took longest from the first TIC to the end")


def returns(result: Result) -> float:
    """How often a message came back, on average."""
    return result.model.came_back / result.model.delivered_priority_0


def ages(sizes: tuple[int, ...] = (64, 256), cycles: int = 2000, batch: int = 200) -> list[dict]:
    """Random graphs of degree 4 whose hosts fill them, under each reading."""
    rows = []
    for nodes in sizes:
        e = loaded("random, degree 4", nodes, cycles)
        d = e.derived()
        bound = min(1.0, int(d["channels"]) / (2 * (nodes - 1) * d["channels_mean"]))
        for age, what in READINGS.items():
            mine = e.set("routing.age", age)
            over = run(offered(mine, bound))
            whole = run(mine.set({"traffic.mode": "batch", "traffic.batch_packets": batch,
                                  "channel.error_rate": 1e-6}))
            rows += [row("sconnect.age", f"{quantity}, {age}", f"{PAPER}, 2.2, 3, 3.2",
                         f"random, degree 4, {nodes} nodes", None, measured, unit, 0,
                         reading=f"{age}: {what}. {ABOUT}")
                     for quantity, measured, unit in (
                         ("highest load kept up with, of the bound", kept_up_with(mine, bound), ""),
                         ("accepted when the bound is offered, of the bound", over.accepted / bound, ""),
                         ("returns of a message when the bound is offered", returns(over), ""),
                         ("a batch, until the last delivery", whole.model.batch_cycles, "cycles"),
                         ("a batch, longest way", whole.network_latency_cycles.max, "cycles"),
                         ("a batch, returns of a message", returns(whole), ""))]
    return rows


EXPERIMENTS = {"sconnect.age": ("what the age of messages decides, three readings (random graphs)", ages)}
