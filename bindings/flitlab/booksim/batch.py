"""BookSim's batches (batchtrafficmanager.cpp): each node sends a number of packets as fast as it can, and the batch
ends when all have arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flitlab.booksim.phases import DRAINING, RUNNING, Rules, Simulation
from flitlab.booksim.report import remaining
from flitlab.booksim.samples import Samples, shown
from flitlab.booksim.sources import Arrivals, Sources, joined

_DISPLAY_CYCLES = 1000
_STEP = 100
# BookSim's source creates a packet in the cycle after an arrival, two cycles after the arrival in flitlab. So the
# network can advance by two cycles without new packets.
_STEP_WITH_LIMIT = 2


@dataclass(frozen=True)
class Batches:
    packets: int  # of each node
    number: int
    outstanding: int  # packets of a node that are under way at most; 0: no limit


class BatchSimulation(Simulation):
    """Batches of one class of packets."""

    def __init__(self, sources: Sources, rules: Rules, out: Callable[[list[str]], None],
                 write: Callable[[Simulation], None], batches: Batches):
        super().__init__(sources, rules, out, write)
        self._batches = batches
        self.durations = Samples()

    @property
    def cycles(self) -> int:
        """The cycles of all batches. The network advances further, until the end of a step."""
        return int(self.durations.sum)

    def single(self) -> bool:
        self.state = RUNNING
        for number in range(self._batches.number):
            self._batch(number)
        self._sent_at_end, self.state, self.drain_time = self._sent, DRAINING, self.time
        return True

    def finish(self) -> None:
        self._out(["Draining remaining packets ...", f"Time taken is {self.cycles + self.rules.credit_cycles} cycles"])
        self._write(self)

    def _batch(self, number: int) -> None:
        each, limit, nodes, start = self._batches.packets, self._batches.outstanding, self.sources.nodes, self.time
        self._out([f"Sending batch {number + 1} ({each} packets)..."])
        at_once = min(limit, each) if limit > 0 else each
        free_from = np.full((each, nodes), start)  # [packet, source] cycle from which the limit allows the packet
        source = np.tile(np.arange(nodes), at_once)
        self.sources.create(source, np.full(source.size, start))
        created = [at_once] * nodes
        left, to_create = each * nodes, (each - at_once) * nodes
        taken: list[Arrivals] = []
        while left:
            a = self.sources.advance(_STEP_WITH_LIMIT if to_create else _STEP, creating=False, ahead=True)
            if a.packet.size:
                taken.append(a)
                left -= a.packet.size
            elif self.time % _DISPLAY_CYCLES == 0:
                self.sources.check()
            if to_create and a.packet.size:
                again = []
                for node, tail in zip(self.sources.packets.source[a.packet].tolist(), a.tail.tolist(), strict=True):
                    if created[node] < each:
                        free_from[created[node], node] = tail + 1
                        created[node] += 1
                        again.append((node, tail + 1))
                to_create -= len(again)
                if again:
                    self.sources.create(*np.array(again).T)
        self._show(joined(taken), free_from, start, number * each)

    def _show(self, a: Arrivals, free_from: np.ndarray, start: int, base: int) -> None:
        """Records and prints a batch. ``base``: packets of a source before it."""
        p = self.sources.packets
        generated = self._date(a, free_from, start, base)
        self._sent = self.sources.sent()
        self._record(a)
        sent, end = int(generated[-1].max()) + 1, int(a.tail.max()) + 1
        self._out([f"Batch injected. Time used is {sent - start} cycles.", "Waiting for batch to complete..."])
        dots = ""
        for cycle in range(sent + _DISPLAY_CYCLES, end + 1, _DISPLAY_CYCLES):
            left = np.sort(a.packet[a.tail >= cycle])
            flits, total = self.flits_of(left), int(p.flits[left].sum())
            lines = remaining(0, flits, total, flits, total)
            self._out([dots + lines[0], *lines[1:]])
            dots = "."
        last = int(a.packet[a.tail.argmax()])
        self.durations.add(np.array([end - start]))
        self._out([dots, f"Batch received. Time used is {end - sent} cycles.",
                   f"Last packet was {last}, last flit was {int(p.flits[:last + 1].sum()) - 1}.", str(RUNNING)])
        self._out(self.period_lines())

    def _date(self, a: Arrivals, free_from: np.ndarray, start: int, base: int) -> np.ndarray:
        """Sets the cycles in which BookSim says that the packets of a batch were created. A node that waits for its
        source queue counts its packets from the last cycle in which it waited for arrivals. Returns the cycle in which
        each packet entered the queue, ``[packet, source]``."""
        p = self.sources.packets
        place = p.rank[a.packet] - base, p.source[a.packet]
        flits, injected, packet = (np.zeros(free_from.shape, np.int64) for _ in range(3))
        flits[place], injected[place], packet[place] = p.flits[a.packet], a.injected, a.packet
        queue_free = np.vstack([np.full(free_from.shape[1], start), (injected + flits)[:-1]])
        created = np.zeros_like(free_from)
        created[0] = start
        for number in range(1, created.shape[0]):
            waited = free_from[number] > queue_free[number]
            created[number] = np.where(waited, free_from[number], created[number - 1] + 1)
        p.created[packet] = created
        return np.maximum(free_from, queue_free)

    def period_lines(self) -> list[str]:
        duration = self.durations
        return [*super().period_lines(), *(f"{name} batch duration = {shown(value)}" for name, value in
                                           (("Minimum", duration.minimum), ("Average", duration.average),
                                            ("Maximum", duration.maximum)))]
