"""Runs of small T3Es that record data for pictures: routes around broken links, and the steps of a barrier.

Sources: Scott and Thorson, "The Cray T3E Network", sections 4, 6 and 9; the manual HMM-146-0, Routing Tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.runner import run
from flitlab.settings import dotted
from flitlab.temporary import temporary_csv

Shape = tuple[int, int, int]  # nodes in X, Y, Z
NO_HOP = 3  # value of a tag's initial hop if the packet makes none


def torus(shape: Iterable[int], **settings) -> Experiment:
    """Returns an experiment with a T3E in which no PE sends to itself. Settings are dotted paths, with ``__`` for the
    dot."""
    flat = dotted(settings)
    return Experiment.from_dict({"router.kind": "t3e", "topology.shape": list(shape), "traffic.self": False} | flat)


def entries_past_dateline(ring: int) -> np.ndarray:
    """Returns an array [source][destination modulo 8] of 0 and 1. 1: a packet that passes the dateline at node 0 uses
    this entry of the virtual-channel table, so the entry must be 0. Routes in the + direction; half-way routes start at
    even sources, as in VcTable. ring: nodes."""
    used = np.zeros((ring, 8), int)
    for source in range(1, ring):
        for length in range(ring - source + 1, ring // 2 + (source % 2 == 0)):
            used[source, (source + length) % 8] = 1
    return used


def balances(table1: Mapping[tuple[int, int], Sequence[tuple[float, float]]]) -> pd.DataFrame:
    """Returns a table of the average and maximum balances of three virtual-channel tables, beside the paper's: all
    packets start on VC 0 ("crossing"), 8 entries ("T3E"), and one entry for each destination ("full"). table1: the
    paper's Table 1, by (nodes of the ring, nodes of the subring)."""
    rows = []
    for (ring, subring), published in table1.items():
        tables = t3e.time_of_crossing(ring), t3e.machine_table(ring), t3e.machine_table(ring, limited=False)
        row: dict[str, float] = {"ring": ring, "subring": subring}
        for name, table, (average, maximum) in zip(("crossing", "T3E", "full"), tables, published, strict=True):
            found = table.balance(subring)
            row |= {f"{name} avg": found[0], f"{name} avg, paper": average, f"{name} max": found[1],
                    f"{name} max, paper": maximum}
        rows.append(row)
    return pd.DataFrame(rows)


def route(shape: Shape, source: int, destination: int, links: Sequence[int]) -> tuple[t3e.Tag, list[int]]:
    """Returns the routing tag in the source's register R_NET_LUT, and the nodes that a packet visits, read from its
    events. The packet follows the tag even if it has the ADAPT bit. links: broken links as in ``faults.links``."""
    trace = temporary_csv([(0, source, destination, 2)])  # clock, from, to, flits
    net = Network(torus(shape, traffic__mode="trace", traffic__trace_file=trace, faults__links=links,
                        routing__ordered_requests=True), trace=True)
    tag = t3e.Tag.of(t3e.Machine(net).read_register(source, f"R_NET_LUT{destination}"))
    net.step(200)
    return tag, [e["index"] for e in net.events() if e["kind"] == "arrived" and e["item"] == "router"]


def routes(shape: Shape, pairs: Iterable[tuple[int, int]], breaks: Mapping[str, Sequence[int]]) -> pd.DataFrame:
    """Returns a table with the tag and the route of a packet for each pair (source, destination) in each machine.
    breaks: broken links of a machine, by its name."""
    rows = []
    for source, destination in pairs:
        for name, links in breaks.items():
            tag, nodes = route(shape, source, destination, links)
            hop = "none" if tag.initial_hop == NO_HOP else "+" + "XYZ"[tag.initial_hop]
            rows.append({"PEs": f"{source} to {destination}", "machine": name, "address (X, Y)": (tag.x, tag.y),
                         "sign of X": tag.signs[0], "sign of Y": tag.signs[1], "initial hop": hop, "ADAPT": tag.adapt,
                         "route": nodes})
    return pd.DataFrame(rows)


def pair_counts(machines: Mapping[str, Experiment]) -> pd.DataFrame:
    """Returns a table with a row for each machine: numbers of pairs of PEs by how the tables connect them, and whether
    flitlab's search finds no cycle of virtual channels that wait for one another."""
    rows = {}
    for name, experiment in machines.items():
        report = t3e.machine(experiment)
        rows[name] = {"pairs": report.pairs, "not connected": len(report.separated),
                      "may adapt": report.adaptive_pairs, "need an extra hop": report.hopping_pairs,
                      "free of deadlock": report.circle == ""}
    return pd.DataFrame(rows.values(), index=pd.Index(rows, name="machine"))


def parents(network: Network) -> list[int | None]:
    """Returns [node] its parent in the spanning tree of barrier unit 0; None at the root."""
    machine, found = t3e.Machine(network), []
    for node in range(int(network.experiment.derived()["routers"])):
        port = machine.barrier_register(node).parent
        found.append(_peers(network, node)[port] if port else None)
    return found


def _peers(network: Network, node: int) -> dict[str, int | None]:
    """Returns the neighbours of a node by the names of its ports."""
    return {port.name: port.peer for port in network.router(node).ports}


def hops_to_root(network: Network) -> np.ndarray:
    """Returns an array [node] of hops to the root of the spanning tree."""
    above = parents(network)

    def hops(node: int) -> int:
        parent = above[node]
        return 0 if parent is None else 1 + hops(parent)

    return np.array([hops(node) for node in range(len(above))])


def joined(network: Network) -> set[int]:
    """Returns the nodes that have notified their parents in the current barrier. A parent's register records the
    notification until all children of the parent have joined; then the parent itself has notified its own parent."""
    machine, above = t3e.Machine(network), parents(network)

    def has_joined(node: int) -> bool:
        parent = above[node]
        if parent is None:
            return False
        peers, register = _peers(network, parent), machine.barrier_register(parent)
        return node in [peers[port] for port in register.joined if port != "PE"] or has_joined(parent)

    return {node for node in range(len(above)) if has_joined(node)}


def record_states(network: Network, clocks: int, operations: Iterable[tuple[int, int, str]],
                  notices: Sequence[int] | None = None) -> np.ndarray:
    """Returns an array [PE][clock] of the states of barrier unit 0 in the next clocks: S_BAR, S_ARM or S_EUR.

    operations: (clock, PE, operation), with the number of the network's cycle. notices: [PE] clocks in S_EUR after
    which the PE performs OP_BAR; None: PEs ignore eurekas."""
    machine, states = t3e.Machine(network), []
    pes = range(int(network.experiment.derived()["terminals"]))
    by_clock: dict[int, list[tuple[int, str]]] = {}
    for clock, pe, operation in operations:
        by_clock.setdefault(int(clock), []).append((pe, operation))
    in_eureka = [0 for _ in pes]  # [PE] clocks in S_EUR without a break
    for _ in range(clocks):
        for pe, operation in by_clock.get(network.cycle, []):
            machine.barrier_operation(pe, operation)
        for pe, notice in enumerate(notices if notices is not None else ()):
            in_eureka[pe] = in_eureka[pe] + 1 if machine.barrier_state(pe) == "S_EUR" else 0
            if in_eureka[pe] > notice:
                machine.barrier_operation(pe, "OP_BAR")
        states.append([machine.barrier_state(pe) for pe in pes])
        network.step(1)
    return np.array(states).T


def barrier_clocks(shape: Shape, **settings) -> float:
    """Returns the clocks from joining to release, mean over PEs and barriers, if each PE joins again at once."""
    network = Network(torus(shape, barrier__units=1, **{"traffic__load": 0.0} | settings)).step(1500)
    before = network.totals
    after = network.step(4000).totals
    return (after["barrier_wait_sum"] - before["barrier_wait_sum"]) / (after["barriers"] - before["barriers"])


def get_clocks(shape: Shape) -> tuple[float, float]:
    """Returns the mean and the longest round trip of random Gets of one word in a nearly idle machine, in clocks,
    without the time of the memory."""
    rare = {"traffic.window": 1, "traffic.load": 0.001, "run.measure_cycles": 8000, "run.warmup_cycles": 500}
    model = run(torus(shape).set(t3e.OPERATIONS["get"].settings() | rare)).model
    return model.round_trip_cycles_mean, model.round_trip_cycles_max


def barriers_and_gets(sizes: Iterable[int]) -> pd.DataFrame:
    """Returns a table with a row for each number of PEs: the clocks of a barrier, and the mean and the longest round
    trip of a Get."""
    rows = {n: (barrier_clocks(t3e.SHAPES[n]), *get_clocks(t3e.SHAPES[n])) for n in sizes}
    return pd.DataFrame(rows.values(), index=pd.Index(rows, name="PEs"), columns=["barrier", "mean Get", "longest Get"])
