"""Experiment on the bring-up of a fabric from one node by control messages alone (S-Connect, 2.6, 3.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect import Fabric
from flitlab.sconnect import bringup as sc

SOURCE = "S-Connect: from Networks of Workstations to Supercomputer Performance, 2.6, 3.4"
PACKETS = 100  # packets that each terminal sends after the bring-up
MUST = (
    "the paper says that one node with a controlling computer can explore the topology, compute "
    "tables, load and verify them without other means of communication; it gives no numbers"
)
CONTEXT = (
    "formats of control messages, and so their number, are flitlab's: one table entry per message, 16 hops per "
    "message, and the controlling host sends and receives one message per routing cycle"
)


@dataclass(frozen=True)
class Case:
    name: str
    settings: dict
    start: int  # cycle in which traffic begins, which must be after the bring-up
    terminal: int = 0
    before: Callable[[Network], None] = field(default=lambda net: None)


def network(settings: dict, start: int, packets: int = PACKETS) -> Network:
    """Returns a fabric whose TICs have no tables and whose hosts start to send in cycle ``start``."""
    return Network(
        Experiment.from_dict(
            {
                "router.kind": "sconnect",
                "routing.tables": "none",
                "traffic.mode": "batch",
                "traffic.batch_packets": packets,
                "traffic.packet_flits": 1,
                "traffic.start": start,
            }
            | settings
        )
    )


def _break(net: Network) -> None:
    """Switches one channel off at both ends, and another channel at one end only."""
    links, software = [link for link in net.links() if link[0] < link[2]], Fabric(net)
    a, p, b, q = links[1]
    for tic, port in ((a, p), (b, q), links[-2][2:]):
        software.write_register(tic, "enabled", software.read_register(tic, "enabled") & ~(1 << port))


# Two levels of switches of three TICs, with nodes of one and of two TICs.
TREE = {"topology.kind": "tree", "topology.arity": 9, "topology.levels": 3, "topology.inner": "switches"}
CASES = [
    Case("4 x 4 mesh", {"topology.shape": [4, 4]}, 20_000),
    Case("64 nodes, random", {"topology.kind": "random", "topology.nodes": 64}, 50_000),
    Case("3^4 mesh, dual nodes", {"topology.shape": [3, 3, 3, 3], "topology.node": "dual"}, 100_000),
    Case("81 nodes, 3-TIC switches", TREE, 100_000),
    Case("line of 40 nodes", {"topology.shape": [40]}, 200_000),
    Case("256 nodes, random", {"topology.kind": "random", "topology.nodes": 256}, 300_000),
    Case("2 broken channels", {"topology.kind": "random", "topology.nodes": 64}, 50_000, 5, _break),
    Case("errors, 0.001 per bit", {"topology.shape": [4, 4], "channel.error_rate": 0.001}, 50_000),
]
LARGE = [
    Case("1024 nodes, random", {"topology.kind": "random", "topology.nodes": 1024}, 2_500_000),
    Case("32 x 32 mesh", {"topology.shape": [32, 32]}, 2_500_000, 528),
]


def rows_of(case: Case) -> list[dict]:
    def line(quantity: str, published: float | None, measured: float, unit: str = "", reading: str = MUST) -> dict:
        return row("sconnect.bringup", quantity, SOURCE, case.name, published, measured, unit, 0, reading=reading,
                   check=published is not None)

    net = network(case.settings, case.start)
    case.before(net)
    report = sc.bring_up(net, case.terminal)
    fabric = report.fabric
    derived = net.experiment.derived()
    rows = [
        line("TICs not found", 0, derived["routers"] - fabric.tics),
        line("channel ends mapped wrongly or missed", 0, sc.differences(net, case.terminal, fabric)),
        line("faults of the tables", 0, int(bool(report.fault))),
        line("table entries that read back wrong", 0, len(report.wrong)),
        line("nodes without a reply by the tables", 0, len(report.dumb)),
    ]
    sc.learn_addresses(net)
    if net.cycle > case.start or net.totals["packets_created"]:
        raise sc.BringUpError(f"{case.name}: traffic begins in cycle {case.start}, before the bring-up has ended.")
    net.step(case.start - net.cycle)
    expected = PACKETS * int(derived["terminals"])
    for _ in range(100):
        if net.totals["packets_delivered"] >= expected:
            break
        net.step(1000)
    net.check()
    totals = net.totals
    rows += [
        line(f"messages lost of {expected}, after bring-up", 0, expected - totals["packets_delivered"]),
        line("messages to the wrong node", 0, totals["packets_misdelivered"]),
    ]
    for what, counts, unit in (("control messages", report.messages, ""), ("time", report.cycles, "routing cycles")):
        rows += [
            line(f"{what}, to map", None, counts["map"], unit, CONTEXT),
            line(f"{what}, to load, verify and call", None, sum(counts.values()) - counts["map"], unit, CONTEXT),
        ]
    return rows


def bringup() -> list[dict]:
    """Brings up fabrics of all kinds and runs traffic on them."""
    return [line for case in CASES for line in rows_of(case)]


def large(_: Path) -> list[dict]:
    """As :func:`bringup`, with fabrics of 1024 nodes, too."""
    return [line for case in CASES + LARGE for line in rows_of(case)]


EXPERIMENTS = {
    "sconnect.bringup": (
        "a fabric explored, loaded with tables and checked by control messages from one node",
        bringup,
        large,
    ),
}
