"""The packets of a simulation: how their sources create them, queue them and offer them to the network."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flitlab.booksim.generation import Pattern, Process, Sizes
from flitlab.experiment import Experiment
from flitlab.network import Network

# A flit of a terminal of BookSim reaches route computation one cycle later than in flitlab, so it arrives later.
TERMINAL_CYCLES = 1
NO_CAUSE = -1
_FIRST_CAPACITY = 4096


@dataclass(frozen=True)
class ClassOfPackets:
    """How the nodes create the packets of one class."""

    name: str  # of the traffic pattern, as in the configuration
    rate: float  # packets per cycle and node
    process: Process
    pattern: Pattern
    sizes: Sizes

    def with_destination(self, node: int) -> ClassOfPackets:
        """Returns the class with all packets to one node."""
        return replace(self, pattern=lambda rng, sources: np.full(sources.size, node))


class Packets:
    """Columns of all packets in the order of their creation. The index of a packet is its tag in the network. Each node
    has a source queue for each class of packets, numbered ``class * nodes + source``."""

    created: np.ndarray  # cycle
    source: np.ndarray
    destination: np.ndarray
    flits: np.ndarray
    kind: np.ndarray  # class of packets
    queue: np.ndarray  # source queue
    rank: np.ndarray  # packets of the queue before it
    before: np.ndarray  # flits of the queue before it
    cause: np.ndarray  # request whose reply it is; NO_CAUSE: it is no reply
    arrived: np.ndarray  # cycle in which the tail has arrived; -1: it has not

    NAMES = ("created", "source", "destination", "flits", "kind", "queue", "rank", "before", "cause", "arrived")

    def __init__(self, nodes: int, classes: int):
        self.number, self._nodes = 0, nodes
        self.of_queue = np.zeros((2, classes * nodes), np.int64)  # packets and flits of each queue so far
        for name in self.NAMES:
            setattr(self, name, np.zeros(_FIRST_CAPACITY, np.int64))

    def add(self, created: np.ndarray, source: np.ndarray, destination: np.ndarray, flits: np.ndarray,
            kind: np.ndarray, cause: int | np.ndarray = NO_CAUSE) -> np.ndarray:
        """Adds packets, ordered by creation, and returns their indices."""
        first, self.number = self.number, self.number + source.size
        while self.number > self.created.size:
            for name in self.NAMES:
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        at = slice(first, self.number)
        self.created[at], self.source[at], self.destination[at] = created, source, destination
        self.flits[at], self.kind[at], self.cause[at], self.arrived[at] = flits, kind, cause, -1
        queue = kind * self._nodes + source
        self.queue[at] = queue
        self.rank[at], self.before[at] = _before(queue, flits, self.of_queue)
        return np.arange(first, self.number)


def _before(queue: np.ndarray, flits: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Returns how many packets and flits the queue of each packet has had before, from ``totals[:, queue]`` on, and
    advances totals."""
    order = np.argsort(queue, kind="stable")
    grouped = queue[order]
    sums = np.zeros((2, queue.size + 1), np.int64)
    sums[0] = np.arange(queue.size + 1)
    np.cumsum(flits[order], out=sums[1, 1:])
    is_first = np.ones(queue.size, bool)
    is_first[1:] = grouped[1:] != grouped[:-1]
    firsts = np.flatnonzero(is_first)
    before = np.empty((2, queue.size), np.int64)
    before[:, order] = sums[:, :-1] - sums[:, firsts[is_first.cumsum() - 1]] + totals[:, grouped]
    totals[:, grouped[firsts]] += np.diff(sums[:, [*firsts, queue.size]])
    return before


@dataclass(frozen=True)
class Arrivals:
    """Columns of packets that have arrived, with BookSim's cycles."""

    packet: np.ndarray  # index
    injected: np.ndarray  # the head left the source queue
    head: np.ndarray  # the head arrived
    tail: np.ndarray  # the tail arrived
    hops: np.ndarray  # routers


@dataclass(frozen=True)
class Sent:
    """Counts since the start of a simulation."""

    heads: np.ndarray  # [queue] packets whose head has left the source queue
    left: np.ndarray  # [queue] flits of the last of them that have not
    packets: np.ndarray  # [class, source] as heads
    flits: np.ndarray  # [class, source] flits that have left the source queue


class Sources:
    """A network and the nodes that create its packets. ``terminals``: flitlab's terminal of each node. ``patient``: a
    queue offers no more packets than it can send soon, so that the packets that it has not generated vanish at the end,
    as in BookSim."""

    def __init__(self, experiment: Experiment, classes: list[ClassOfPackets], terminals: np.ndarray,
                 rng: np.random.Generator, patient: bool):
        self.network = Network(experiment)
        self.classes, self.nodes, self.patient = classes, terminals.size, patient
        self._terminals = terminals
        self.time = 0
        self.packets = Packets(self.nodes, len(classes))
        self._rng = rng
        queues = len(classes) * self.nodes
        self._queued = np.zeros(0, np.int64)  # packets that have not been offered
        self._offered = np.zeros(queues, np.int64)  # packets
        self._unsent = np.zeros(0, np.int64)  # packets that sent() has not counted
        self._counts = np.zeros((2, queues), np.int64)  # packets and flits that sent() has counted
        self._early: list[Arrivals] = []  # arrived in the last cycle of the network, in BookSim in the next one

    def advance(self, cycles: int, creating: bool = True, ahead: bool = False) -> Arrivals:
        """Advances the network, with new packets if ``creating``. Returns the packets that have arrived. ``ahead``:
        also packets that arrive in the network's last cycle, which BookSim counts in the next one."""
        if creating:
            self._create(cycles)
        self._offer(cycles)
        self.network.step(cycles)
        self.time += cycles
        return self._taken(self.time + TERMINAL_CYCLES if ahead else self.time)

    def _create(self, cycles: int) -> None:
        drawn = np.stack([c.process.draw(self._rng, cycles) for c in self.classes], axis=2)
        cycle, source, kind = np.nonzero(drawn)
        destination, flits = np.zeros_like(source), np.ones_like(source)
        for number, c in enumerate(self.classes):
            mine = kind == number
            destination[mine] = c.pattern(self._rng, source[mine])
            flits[mine] = c.sizes.draw(self._rng, int(mine.sum()))
        new = self.packets.add(self.time + cycle, source, destination, flits, kind)
        self._queue(new)

    def create(self, source: np.ndarray, created: np.ndarray) -> None:
        """Creates packets of the first class in cycles to come."""
        flits = self.classes[0].sizes.draw(self._rng, source.size)
        self._queue(self.packets.add(created, source, self.classes[0].pattern(self._rng, source), flits,
                                     np.zeros_like(source)))

    def _queue(self, packets: np.ndarray) -> None:
        self._queued = np.concatenate([self._queued, packets])
        self._unsent = np.concatenate([self._unsent, packets])

    def _offer(self, cycles: int) -> None:
        p, queued = self.packets, self._queued
        soon = np.ones(queued.size, bool)
        if self.patient and queued.size:
            heads = self._heads()
            waiting = self._unsent[p.rank[self._unsent] >= heads[p.queue[self._unsent]]]
            sent = np.zeros(heads.size, np.int64)  # flits of the packets before the first one that waits
            sent[p.queue[waiting[::-1]]] = p.before[waiting[::-1]]
            soon = p.before[queued] < sent[p.queue[queued]] + cycles
        now, self._queued = queued[soon], queued[~soon]
        self._offered += np.bincount(p.queue[now], minlength=self._offered.size)
        self.network.inject(self._terminals[p.source[now]], self._terminals[p.destination[now]], p.flits[now], now,
                            p.created[now], p.kind[now])

    def _taken(self, until: int) -> Arrivals:
        return self._arrived(self._arrivals(), until)

    def _arrived(self, found: np.ndarray, until: int) -> Arrivals:
        packet = found["tag"].astype(np.int64)
        columns = [found[name].astype(np.int64) for name in ("injected", "head", "cycle", "hops")]
        late = columns[2] + TERMINAL_CYCLES >= until
        all_of_them = Arrivals(packet, columns[0], columns[1] + TERMINAL_CYCLES, columns[2] + TERMINAL_CYCLES,
                               columns[3] + 1)
        now = [*self._early, _part(all_of_them, ~late)]
        self._early = [_part(all_of_them, late)]
        taken = joined(now)
        self.packets.arrived[taken.packet] = taken.tail
        return taken

    def _arrivals(self) -> np.ndarray:
        return self.network.arrivals()

    def _of_queues(self, by_terminal: np.ndarray) -> np.ndarray:
        """Returns numbers ``[terminal, class]`` of the network as ``[queue]``."""
        return by_terminal[self._terminals].T.reshape(-1).astype(np.int64)

    def _waiting(self) -> np.ndarray:
        return self._of_queues(self.network.waiting_at_all())

    def _left(self) -> np.ndarray:
        return self._of_queues(self.network.flits_left())

    def offer(self, source: list[int], destination: list[int], flits: list[int], first: int) -> None:
        """Offers packets of this cycle to the network, with tags from ``first`` on. :meth:`note` adds them to the
        columns afterwards, all at once."""
        self.network.inject(self._terminals[source], self._terminals[destination], flits,
                            np.arange(first, first + len(flits)), self.time)

    def to_arrival(self, limit: int) -> np.ndarray | None:
        """Advances the network until a packet arrives, at most to cycle ``limit``. Returns the network's arrivals."""
        arrived = self.network.step_to_arrival(limit)
        self.time = self.network.cycle
        return self.network.arrivals() if arrived else None

    def busy(self, node: int, flits: int) -> int:
        """Returns for how many cycles at least a node still sends a packet of ``flits`` flits."""
        terminal = int(self._terminals[node])
        return self.network.waiting(terminal) or (self.network.terminal(terminal).flits_left if flits > 1 else 0)

    def note(self, source: np.ndarray, destination: np.ndarray, flits: np.ndarray, created: np.ndarray,
             found: np.ndarray) -> Arrivals:
        """Adds packets of the first class that :meth:`offer` has offered. Returns those in ``found``, which have
        arrived."""
        new = self.packets.add(created, source, destination, flits, np.zeros_like(source))
        self._unsent = np.concatenate([self._unsent, new])
        self._offered += np.bincount(source, minlength=self._offered.size)
        return self._arrived(found, self.time)

    def _heads(self) -> np.ndarray:
        return self._offered - self._waiting()

    def sent(self) -> Sent:
        """Returns how many packets and flits have left the source queues."""
        p, unsent, heads = self.packets, self._unsent, self._heads()
        gone = p.rank[unsent] < heads[p.queue[unsent]]
        new, self._unsent = unsent[gone], unsent[~gone]
        for counts, amounts in zip(self._counts, (np.ones_like(new), p.flits[new]), strict=True):
            counts += np.bincount(p.queue[new], amounts, counts.size).astype(np.int64)
        left, by_class = self._left(), (len(self.classes), self.nodes)
        return Sent(heads, left, self._counts[0].reshape(by_class).copy(), (self._counts[1] - left).reshape(by_class))

    def generated(self, packets: np.ndarray, sent: Sent) -> np.ndarray:
        """Returns which packets BookSim's sources had generated when ``sent`` was counted: a source generates a packet
        once all flits of the one before it have left."""
        p = self.packets
        queue = p.queue[packets]
        return p.rank[packets] < sent.heads[queue] + (sent.left[queue] == 0)

    def generated_so_far(self, sent: Sent) -> np.ndarray:
        """Returns how many packets each queue had generated when ``sent`` was counted."""
        return sent.heads

    def has_tried(self, cycle: int) -> bool:
        """Returns whether each queue has generated all packets that were created until a cycle."""
        return True

    def check(self) -> None:
        """Raises RunError if the network is deadlocked."""
        self.network.check()

    def under_way(self) -> np.ndarray:
        """Returns the packets whose tail has not arrived."""
        return np.flatnonzero(self.packets.arrived[:self.packets.number] < 0)


def joined(several: list[Arrivals]) -> Arrivals:
    return Arrivals(*(np.concatenate([getattr(a, name) for a in several]) for name in Arrivals.__dataclass_fields__))


def _part(a: Arrivals, which: np.ndarray) -> Arrivals:
    return Arrivals(*(getattr(a, name)[which] for name in Arrivals.__dataclass_fields__))
