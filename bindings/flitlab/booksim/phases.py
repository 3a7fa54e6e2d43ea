"""BookSim's simulation (trafficmanager.cpp): it warms up, measures until latency and throughput change little, and
waits for the measured packets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flitlab.booksim.report import MOST_LISTED, Overall, rates, remaining, sampled
from flitlab.booksim.samples import Samples, ratio, shown
from flitlab.booksim.sources import NO_CAUSE, Arrivals, Sources

WARMING_UP, RUNNING, DRAINING = range(3)
_CONVERGED = 3  # sample periods in a row with little change
_LONGEST_STEP = 1000
_PATIENT_STEP = 100
_CHECK_CYCLES = 1000  # while packets drain, BookSim looks at the latency so often


@dataclass(frozen=True)
class Rules:
    """When a simulation ends. Thresholds are for each class of packets; a negative one has no effect."""

    sample_period: int
    max_samples: int
    warmup_periods: int
    by_latency: bool  # sim_type = latency; else throughput
    credit_cycles: int  # from the last arrival until the credit of the flit is back
    detailed: bool  # histograms and statistics of pairs of nodes
    warms_up: bool  # else packets are measured from the first cycle on
    measured: list[bool]  # measure_stats
    latency_limit: list[float]
    warmup_latency: list[float]
    warmup_accepted: list[float]
    stopping_latency: list[float]
    stopping_accepted: list[float]


class OfClass:
    """The statistics of one class of packets since they were cleared."""

    def __init__(self, nodes: int, detailed: bool):
        self.packet, self.network, self.flit, self.fragmentation, self.hops = (
            Samples(bins if detailed else 0) for bins in (1000, 1000, 1000, 100, 20))
        # [statistic][source * nodes + destination]: packets, their latency and network latency, flits, their latency
        self.pairs = np.zeros((5, nodes * nodes if detailed else 0))
        self.accepted = np.zeros((2, nodes), np.int64)  # packets and flits that arrived at each node
        self.clear()

    def clear(self) -> None:
        for samples in (self.packet, self.network, self.flit, self.fragmentation, self.hops):
            samples.clear()
        self.accepted[:] = 0
        self.pairs[:] = 0
        self.slowest_packet = self.slowest_flit = -1


class Simulation:
    """One simulation. ``out`` prints lines; ``write`` writes a simulation that has ended to the file of statistics."""

    def __init__(self, sources: Sources, rules: Rules, out: Callable[[list[str]], None],
                 write: Callable[[Simulation], None]):
        self.sources, self.rules, self._out, self._write = sources, rules, out, write
        self.classes = [OfClass(sources.nodes, rules.detailed) for _ in sources.classes]
        self.state = WARMING_UP if rules.warms_up else RUNNING
        self.drain_time = -1
        self._sent = self._sent_at_end = sources.sent()
        self._unmeasured = np.zeros_like(self._sent.heads)  # [queue] packets generated before the measurement
        self.clear()

    @property
    def time(self) -> int:
        return self.sources.time

    @property
    def cycles(self) -> int:
        """The cycles of the statistics."""
        return (self.drain_time if self.state == DRAINING else self.time) - self.reset_time

    def clear(self) -> None:
        """Starts new statistics."""
        for of_class in self.classes:
            of_class.clear()
        self.reset_time = self.time
        self._sent_before = self._sent

    def advance(self, cycles: int, creating: bool = True) -> None:
        """Advances the network and records the packets that arrive."""
        longest = _PATIENT_STEP if self.sources.patient else _LONGEST_STEP
        while cycles > 0:
            self._record(self.sources.advance(min(cycles, longest), creating))
            cycles -= longest

    def _is_measured(self, packets: np.ndarray) -> np.ndarray:
        """Returns which packets BookSim measures: packets that were generated while it was measuring, and packets that
        were created until the end of that time."""
        p = self.sources.packets
        if self.state == WARMING_UP:
            return np.zeros(packets.size, bool)
        measured = p.rank[packets] >= self._unmeasured[p.queue[packets]]
        if self.state == DRAINING:
            measured &= (p.created[packets] < self.drain_time) | self._answers_measured(packets)
        return measured & np.array(self.rules.measured)[p.kind[packets]]

    def _answers_measured(self, packets: np.ndarray) -> np.ndarray:
        """Returns which packets are replies to measured requests."""
        causes = self.sources.packets.cause[packets]
        answers = causes != NO_CAUSE
        if answers.any():
            answers[answers] = self._is_measured(causes[answers])
        return answers

    def _record(self, a: Arrivals, generated: np.ndarray | None = None) -> None:
        p = self.sources.packets
        recorded = self._is_measured(a.packet) | (self.state == WARMING_UP)
        kinds = p.kind[a.packet]
        for number, of_class in enumerate(self.classes):
            mine = kinds == number
            if generated is not None:
                mine &= generated
            self._record_flits(of_class, a, mine)
            if self.state != DRAINING:
                at = p.destination[a.packet[mine]]
                for counts, amounts in zip(of_class.accepted, (None, p.flits[a.packet[mine]]), strict=True):
                    counts += np.bincount(at, amounts, counts.size).astype(np.int64)
            mine &= recorded
            packet = a.packet[mine]
            latency = a.tail[mine] - p.created[packet]
            if packet.size and not latency.max() <= of_class.packet.maximum:
                of_class.slowest_packet = int(packet[latency.argmax()])
            of_class.packet.add(latency)
            of_class.network.add(a.tail[mine] - a.injected[mine])
            of_class.fragmentation.add(a.tail[mine] - a.head[mine] - (p.flits[packet] - 1))
            of_class.hops.add(a.hops[mine])
            self._record_pairs(of_class, 0, packet, np.ones(packet.size), latency, a.tail[mine] - a.injected[mine])

    def _record_flits(self, of_class: OfClass, a: Arrivals, mine: np.ndarray) -> None:
        """Flits are assumed to leave the source one in each cycle, and to arrive at equal intervals."""
        p, packet = self.sources.packets, a.packet[mine]
        flits = p.flits[packet]
        of_head = a.head[mine] - a.injected[mine]
        of_tail = a.tail[mine] - a.injected[mine] - (flits - 1)
        most = np.maximum(of_head, of_tail)
        if packet.size and not most.max() <= of_class.flit.maximum:
            slowest = int(packet[most.argmax()])
            of_class.slowest_flit = int(p.flits[:slowest].sum())
        if (flits == 1).all():
            of_class.flit.add(of_head)
        else:
            of_class.flit.add((of_head + of_tail) / 2, flits)
            of_class.flit.bound(np.concatenate([of_head, of_tail]))
        self._record_pairs(of_class, 3, packet, flits, (of_head + of_tail) / 2 * flits)

    def _record_pairs(self, of_class: OfClass, first: int, packet: np.ndarray, *amounts: np.ndarray) -> None:
        if self.rules.detailed:
            p = self.sources.packets
            pair = p.source[packet] * self.sources.nodes + p.destination[packet]
            for statistic, values in enumerate(amounts, first):
                of_class.pairs[statistic] += np.bincount(pair, values, of_class.pairs.shape[1])

    def single(self) -> bool:
        """Runs the phases and returns whether the network was stable."""
        rules, converged, phases, clear = self.rules, 0, 0, False
        before = [(0.0, 0.0) for _ in self.classes]  # latency and accepted rate
        while phases < rules.max_samples and (self.state != RUNNING or converged < _CONVERGED):
            if clear or (self.state == WARMING_UP and phases % 2 == 0):
                clear = False
                self.clear()
            self.advance(rules.sample_period)
            self._sent = self.sources.sent()
            self._out(self.period_lines())
            steady = self._compare(before)
            slow = self._too_slow()
            if rules.by_latency and slow >= 0:
                self.state, self.drain_time, self._sent_at_end = DRAINING, self.time, self._sent
                self._abort(slow)
                break
            if self.state == WARMING_UP:
                if phases + 1 >= rules.warmup_periods if rules.warmup_periods > 0 else steady:
                    self._out([f"Warmed up ...Time used is {self.time} cycles"])
                    clear = True
                    self.state, self._unmeasured = RUNNING, self.sources.generated_so_far(self._sent)
            else:
                converged = converged + 1 if steady else 0
            phases += 1
        if self.state != RUNNING:
            self._out(["Too many sample periods needed to converge"])
            return False
        self.state, self.drain_time, self._sent_at_end = DRAINING, self.time, self._sent
        return self._drain_measured() if rules.by_latency else True

    def _compare(self, before: list[tuple[float, float]]) -> bool:
        """Prints by how much latency and throughput have changed. Returns whether the changes are small."""
        rules, steady = self.rules, True
        warming = self.state == WARMING_UP
        latency_limits = rules.warmup_latency if warming else rules.stopping_latency
        accepted_limits = rules.warmup_accepted if warming else rules.stopping_accepted
        for number, of_class in enumerate(self.classes):
            if not rules.measured[number]:
                continue
            latency = of_class.packet.average
            accepted = ratio(of_class.accepted[1].sum() / self.cycles, self.sources.nodes)
            latency_before, accepted_before = before[number]
            before[number] = latency, accepted
            changes = [abs(ratio(latency - latency_before, latency)), abs(ratio(accepted - accepted_before, accepted))]
            self._out([f"latency change    = {shown(changes[0])}", f"throughput change = {shown(changes[1])}"])
            if rules.by_latency and 0 <= latency_limits[number] < changes[0]:
                steady = False
            if 0 <= accepted_limits[number] < changes[1]:
                steady = False
        return steady

    def _too_slow(self) -> int:
        """Returns the first class whose packets and flits under way are older on average than the limit, or -1."""
        p, open_packets = self.sources.packets, self._generated_under_way()
        for number, of_class in enumerate(self.classes):
            mine = open_packets[p.kind[open_packets] == number]
            flits = p.flits[mine]
            latency = of_class.packet.sum + float(((self.time - p.created[mine]) * flits).sum())
            limit = self.rules.latency_limit[number]
            measured = self.rules.measured[number] or self.state == DRAINING
            if measured and limit >= 0 and ratio(latency, of_class.packet.number + int(flits.sum())) > limit:
                return number
        return -1

    def _abort(self, number: int) -> None:
        self._out([f"Average latency for class {number} exceeded {shown(self.rules.latency_limit[number])} cycles. "
                   "Aborting simulation."])
        self._write(self)

    def _generated_under_way(self) -> np.ndarray:
        packets = self.sources.under_way()
        return packets[self.sources.generated(packets, self._sent)]

    def _drain_measured(self) -> bool:
        """Waits for the measured packets, while the sources create others. Returns whether the latency stayed below the
        limit."""
        self._out(["Draining all recorded packets ..."])
        waited = 0
        # In BookSim each source must have created a packet after the measurement, or have had the chance to.
        while waited < 1 or self._is_measured(self.sources.under_way()).any() or (
                not self.sources.has_tried(self.drain_time)):
            step = min(_CHECK_CYCLES - waited % _CHECK_CYCLES, max(waited // 8, 4), _PATIENT_STEP)
            self.advance(step)
            waited += step
            if waited % _CHECK_CYCLES == 0:
                self.sources.check()
                self._sent = self.sources.sent()
                slow = self._too_slow()
                if slow >= 0:
                    self._abort(slow)
                    self.state = WARMING_UP
                    return False
                self._out(self.remaining_lines())
        return True

    def finish(self) -> None:
        """Waits for the packets that are left."""
        self._out(["Draining remaining packets ..."])
        self._sent = self.sources.sent()
        p, packets, waited = self.sources.packets, self._generated_under_way(), 0
        generated = np.zeros(p.number, bool)
        generated[packets] = True
        last = self.time - 1
        while (p.arrived[packets] < 0).any():
            a = self.sources.advance(min(_CHECK_CYCLES - waited % _CHECK_CYCLES, _PATIENT_STEP), creating=False)
            waited += _PATIENT_STEP
            mine = generated[a.packet]
            self._record(a, mine)
            last = max(last, int(a.tail[mine].max(initial=0)))
            if waited % _CHECK_CYCLES == 0:
                self.sources.check()
                self._out(self.remaining_lines())
        self._out([f"Time taken is {last + 1 + self.rules.credit_cycles} cycles"])
        self._write(self)

    def counts(self, number: int) -> list[np.ndarray]:
        """Returns packets sent and accepted, flits sent and accepted, by node, until the end of the measurement."""
        sent = self._sent_at_end if self.state == DRAINING else self._sent
        before, accepted = self._sent_before, self.classes[number].accepted
        return [sent.packets[number] - before.packets[number], accepted[0],
                sent.flits[number] - before.flits[number], accepted[1]]

    def add_to(self, overall: list[Overall]) -> None:
        """Adds the statistics of a simulation that has ended."""
        for number, (of_class, total) in enumerate(zip(self.classes, overall, strict=True)):
            if self.rules.measured[number]:
                total.add([of_class.packet, of_class.network, of_class.flit, of_class.fragmentation],
                          self.counts(number), self.cycles, of_class.hops.average)

    def period_lines(self) -> list[str]:
        p, open_packets, lines = self.sources.packets, self._generated_under_way(), []
        for number, of_class in enumerate(self.classes):
            if not self.rules.measured[number]:
                continue
            counts = self.counts(number)
            mine = open_packets[p.kind[open_packets] == number]
            lines += [f"Class {number}:", *sampled("Packet latency", of_class.packet),
                      *sampled("Network latency", of_class.network), f"Slowest packet = {of_class.slowest_packet}",
                      *sampled("Flit latency", of_class.flit), f"Slowest flit = {of_class.slowest_flit}",
                      *sampled("Fragmentation", of_class.fragmentation)]
            for name, of_nodes in zip(("Injected packet", "Accepted packet", "Injected flit", "Accepted flit"), counts,
                                      strict=True):
                lines += rates(f"{name} rate", of_nodes, self.cycles)
            sums = [float(of_nodes.sum()) for of_nodes in counts]
            lines += [f"Injected packet length average = {shown(ratio(sums[2], sums[0]))}",
                      f"Accepted packet length average = {shown(ratio(sums[3], sums[1]))}",
                      f"Total in-flight flits = {p.flits[mine].sum()} "
                      f"({p.flits[mine][self._is_measured(mine)].sum()} measured)"]
        return lines

    def remaining_lines(self) -> list[str]:
        p, open_packets, lines = self.sources.packets, self._generated_under_way(), []
        for number in range(len(self.classes)):
            mine = open_packets[p.kind[open_packets] == number]
            measured = mine[self._is_measured(mine)]
            lines += remaining(number, self.flits_of(mine), int(p.flits[mine].sum()), self.flits_of(measured),
                               int(p.flits[measured].sum()))
        return lines

    def flits_of(self, packets: np.ndarray) -> list[int]:
        """Returns the numbers of the first flits of packets, at least as many as are listed."""
        flits = self.sources.packets.flits
        first = np.cumsum(flits) - flits
        return [int(first[packet]) + flit for packet in packets[:MOST_LISTED] for flit in range(flits[packet])]
