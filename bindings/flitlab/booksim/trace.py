"""Packets with dependencies from a file (``mode = trace`` of RapidChiplet's BookSim): a packet is ready when its
predecessors have arrived, and a node sends the ready packets one after another."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.phases import DRAINING, Rules, Simulation
from flitlab.booksim.sources import Sources

_DISPLAY_CYCLES = 10000
_PERIODS = 10  # BookSim simulates at most so many times the last cycle in the file


@dataclass(frozen=True)
class Trace:
    """Columns of packets in the order of the file."""

    number: list[int]  # the packet's in the file
    cycle: list[int]  # earliest creation
    source: list[int]
    destination: list[int]
    flits: list[int]
    predecessors: list[int]  # how many
    successors: list[list[int]]  # indices
    by_cycle: bool  # else packets are created as soon as they are ready


def trace_of(packets: Any, nodes: int, by_cycle: bool, path: Path) -> Trace:
    """Returns the trace of a JSON file. Raises ConfigError."""
    wanted = (("id", 0, 2**31), ("cycle", 0, 2**31), ("src", 0, nodes), ("dst", 0, nodes), ("num_flits", 1, 2**31),
              ("num_deps", 0, 2**31))
    columns: dict[str, list[int]] = {name: [] for name, _, _ in wanted}
    if not isinstance(packets, list) or not all(isinstance(packet, dict) for packet in packets):
        raise ConfigError(f"{path} is not a list of packets.")
    for packet in packets:
        for name, least, end in wanted:
            value = packet.get(name)
            if type(value) is not int or not least <= value < end:
                raise ConfigError(f"{path}: {name} = {value} of packet {packet.get('id')} is not a whole number from "
                                  f"{least} to {end - 1}.")
            columns[name].append(value)
    index = {number: at for at, number in enumerate(columns["id"])}
    if len(index) < len(packets):
        raise ConfigError(f"{path} has several packets with one id.")
    before, successors = [0] * len(packets), []
    for packet in packets:
        try:
            successors.append([index[number] for number in packet["rev_deps"]])
        except (KeyError, TypeError):
            raise ConfigError(f"{path}: rev_deps = {packet.get('rev_deps')} of packet {packet['id']} is not a list of "
                              "ids of packets.") from None
        for at in successors[-1]:
            before[at] += 1
    for number, given, found in zip(columns["id"], columns["num_deps"], before, strict=True):
        if found > given:
            raise ConfigError(f"{path}: packet {number} has num_deps = {given}, and its number of predecessors by "
                              f"rev_deps is {found}.")
    return Trace(columns["id"], columns["cycle"], columns["src"], columns["dst"], columns["num_flits"],
                 columns["num_deps"], successors, by_cycle)


class TraceSimulation(Simulation):
    """One pass over a trace. As in BookSim it is a warm-up of one sample period, in which all packets count."""

    def __init__(self, sources: Sources, rules: Rules, out: Callable[[list[str]], None],
                 write: Callable[[Simulation], None], trace: Trace):
        longest = _PERIODS * max(trace.cycle, default=0)
        super().__init__(sources, replace(rules, sample_period=longest, max_samples=1, warmup_periods=0), out, write)
        self.runtime = 0
        self._trace = trace
        self._missing = list(trace.predecessors)  # [packet] predecessors that have not arrived
        self._ready: list[list[tuple[int, int, int]]] = [[] for _ in range(sources.nodes)]  # cycle, number, index
        self._visits: list[tuple[int, int]] = []  # cycle in which a node may create its next packet, and the node
        self._created: list[tuple[int, int]] = []  # index and cycle of packets in the order of their creation
        self._sends = [1] * sources.nodes  # [node] flits of its last packet
        for at, missing in enumerate(self._missing):
            if not missing:
                self._make_ready(at)

    def _make_ready(self, at: int) -> None:
        node = self._trace.source[at]
        heapq.heappush(self._ready[node], (self._trace.cycle[at], self._trace.number[at], at))
        heapq.heappush(self._visits, (self.time, node))

    def advance(self, cycles: int, creating: bool = True) -> None:
        """Runs the trace until all packets have arrived, for at most ``cycles``."""
        left, to_show = len(self._missing), 0
        arrived, all_arrived = None, []
        while self.time < cycles:
            if self.time == to_show:
                self._out([f"Cycle {to_show} Sample period {cycles} Trace packets left {left}"])
                to_show += _DISPLAY_CYCLES
            if not left:
                break
            # These packets arrived in the network's last cycle. BookSim counts them in this one.
            if arrived is not None:
                left -= arrived.size
                self._release(arrived["tag"].tolist())
            self._create()
            until = min(to_show, cycles, self._visits[0][0] if self._visits else cycles) if left else self.time + 1
            arrived = self.sources.to_arrival(until)
            if arrived is not None:
                all_arrived.append(arrived)
        self.runtime = min(self.time + 1, cycles)
        self._note(all_arrived)
        self.sources.network.check()

    def _release(self, packets: list[int]) -> None:
        for packet in packets:
            for at in self._trace.successors[self._created[packet][0]]:
                self._missing[at] -= 1
                if not self._missing[at]:
                    self._make_ready(at)

    def _create(self) -> None:
        """Creates the packets of this cycle: a node creates one when all flits of the one before have left."""
        trace, new = self._trace, []
        visited: set[int] = set()
        while self._visits and self._visits[0][0] <= self.time:
            _, node = heapq.heappop(self._visits)
            ready = self._ready[node]
            if node in visited or not ready:
                continue
            visited.add(node)
            next_visit = ready[0][0] if trace.by_cycle else 0
            if next_visit <= self.time:
                next_visit = self.time + self.sources.busy(node, self._sends[node])
            if next_visit == self.time:
                at = heapq.heappop(ready)[2]
                new.append(at)
                self._sends[node] = trace.flits[at]
                next_visit += trace.flits[at]
            heapq.heappush(self._visits, (next_visit, node))
        if new:
            source, destination, flits = ([column[at] for at in new] for column in
                                          (trace.source, trace.destination, trace.flits))
            self.sources.offer(source, destination, flits, len(self._created))
            self._created += [(at, self.time) for at in new]

    def _note(self, arrived: list[np.ndarray]) -> None:
        trace = self._trace
        if not arrived:
            return
        index, created = np.array(self._created).T
        source, destination, flits = (np.array(column)[index] for column in
                                      (trace.source, trace.destination, trace.flits))
        self._record(self.sources.note(source, destination, flits, created, np.concatenate(arrived)))
        for of_class in self.classes:
            if of_class.slowest_packet >= 0:
                of_class.slowest_packet = trace.number[self._created[of_class.slowest_packet][0]]

    def single(self) -> bool:
        """Runs the trace. BookSim says that it did not converge, and goes on as if it had."""
        super().single()
        return True

    def _drain_measured(self) -> bool:
        self._out(["Draining all recorded packets ..."])
        return True

    def finish(self) -> None:
        super().finish()
        # BookSim divides the numbers of packets by the cycles until the end of the measurement, which it has not set.
        self.state, self._sent_at_end = DRAINING, self._sent
