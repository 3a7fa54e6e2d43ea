"""Sources that generate each packet after the one before it has left, as BookSim's do. Most simulations do not need
them, because each packet can be drawn ahead. They are needed for replies (``use_read_write``), for parallel networks
(``subnets``) and for ``include_queuing = 0``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flitlab.booksim.sources import NO_CAUSE, Arrivals, ClassOfPackets, Sent, Sources, joined
from flitlab.experiment import Experiment
from flitlab.network import Network

PLAIN, READ_REQUEST, WRITE_REQUEST, READ_REPLY, WRITE_REPLY = range(5)  # types of packets
_REPLY_TO = {READ_REQUEST: READ_REPLY, WRITE_REQUEST: WRITE_REPLY}
_BLOCK = 256  # cycles for which packets are drawn at once
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Replies:
    """Requests of one class, and their replies (``use_read_write``)."""

    write_fraction: float
    flits: list[int]  # [type]
    subnet: list[int]  # [type] the network that carries it


@dataclass(frozen=True)
class Stepping:
    """What these sources need beside classes."""

    replies: list[Replies | None]  # [class]
    in_network: np.ndarray  # [class, type] class of packets in the network
    subnets: int
    include_queuing: bool


class _New(NamedTuple):
    """A packet to send now: columns of Packets.add(), its type, and the network that carries it."""

    created: int
    source: int
    destination: int
    flits: int
    kind: int
    cause: int
    of_type: int
    subnet: int


class StepwiseSources(Sources):
    """Sources that generate a packet after the one before it has left. The networks advance by one cycle at a time."""

    def __init__(self, experiment: Experiment, classes: list[ClassOfPackets], terminals: np.ndarray,
                 rng: np.random.Generator, stepping: Stepping):
        super().__init__(experiment, classes, terminals, rng, patient=False)
        self._networks = [self.network, *(Network(experiment) for _ in range(stepping.subnets - 1))]
        self._stepping = stepping
        queues = self._offered.size
        self._drawn = 0  # cycles for which packets have been drawn
        self._creations: list[list[int]] = [[] for _ in range(queues)]  # cycles of packets to come, the last one first
        self._next = np.full(queues, _NEVER)  # the first of them
        self._tested = np.zeros(queues, np.int64)  # cycle after the last packet that was drawn
        self._has_replies = np.repeat([of_class is not None for of_class in stepping.replies], self.nodes)
        self._requests: list[list[int]] = [[] for _ in range(self.nodes)]  # [node] requests that wait for a reply
        self._asked = np.zeros(self.nodes, np.int64)  # [node] number of them
        self._type: list[int] = []  # [packet]

    def advance(self, cycles: int, creating: bool = True, ahead: bool = False) -> Arrivals:
        found, end = [], self.time + cycles
        while self.time < end:
            step = 1
            if creating:
                self._generate()
                if not self._asked.any() and not (self._has_replies.any() and self.under_way().size):
                    step = int(min(max(self._next.min(), self.time + 1), self._drawn, end)) - self.time
            for network in self._networks:
                network.step(step)
            self.time += step
            found.append(self._taken(self.time))
            self._ask(found[-1].packet)
        return joined(found)

    def _generate(self) -> None:
        """Generates the packets of this cycle at queues that are empty."""
        if self.time >= self._drawn:
            self._draw()
        ready = (self._next <= self.time) | (self._has_replies & (np.tile(self._asked, len(self.classes)) > 0))
        if not ready.any():
            return
        ready &= self._waiting() + self._left() == 0
        queues = np.flatnonzero(ready)
        new: list[_New] = []
        for queue in queues[np.lexsort((queues // self.nodes, queues % self.nodes))].tolist():
            kind, node = divmod(queue, self.nodes)
            if self._has_replies[queue] and self._requests[node]:
                new.append(self._reply(kind, node))
            elif self._next[queue] <= self.time:
                new.append(self._drawn_packet(queue, kind, node))
        self._send(new)

    def _draw(self) -> None:
        for number, of_class in enumerate(self.classes):
            cycle, node = np.nonzero(of_class.process.draw(self._rng, _BLOCK))
            for at, queue in zip((cycle + self._drawn).tolist(), (node + number * self.nodes).tolist(), strict=True):
                self._creations[queue].insert(0, at)
        self._drawn += _BLOCK
        self._next[:] = [cycles[-1] if cycles else _NEVER for cycles in self._creations]

    def _drawn_packet(self, queue: int, kind: int, node: int) -> _New:
        created = self._creations[queue].pop()
        self._next[queue] = self._creations[queue][-1] if self._creations[queue] else _NEVER
        self._tested[queue] = created + 1
        of_class, replies = self.classes[kind], self._stepping.replies[kind]
        destination = int(of_class.pattern(self._rng, np.array([node]))[0])
        if not self._stepping.include_queuing:
            created = self.time
        if replies is None:
            flits, subnet = int(of_class.sizes.draw(self._rng, 1)[0]), self._rng.integers(self._stepping.subnets)
            return _New(created, node, destination, flits, kind, NO_CAUSE, PLAIN, int(subnet))
        of_type = WRITE_REQUEST if self._rng.random() < replies.write_fraction else READ_REQUEST
        return _New(created, node, destination, replies.flits[of_type], kind, NO_CAUSE, of_type,
                    replies.subnet[of_type])

    def _reply(self, kind: int, node: int) -> _New:
        request = self._requests[node].pop(0)
        self._asked[node] -= 1
        replies, of_type = self._stepping.replies[kind], _REPLY_TO[self._type[request]]
        assert replies is not None
        return _New(int(self.packets.arrived[request]), node, int(self.packets.source[request]), replies.flits[of_type],
                    kind, request, of_type, replies.subnet[of_type])

    def _send(self, new: list[_New]) -> None:
        if not new:
            return
        *columns, types, subnets = np.array(new, np.int64).T
        packets = self.packets.add(*columns)
        _, source, destination, flits, kind, _ = columns
        self._type += types.tolist()
        self._unsent = np.concatenate([self._unsent, packets])
        self._offered += np.bincount(kind * self.nodes + source, minlength=self._offered.size)
        for subnet, network in enumerate(self._networks):
            mine = subnets == subnet
            network.inject(self._terminals[source[mine]], self._terminals[destination[mine]], flits[mine],
                           packets[mine], self.time, self._stepping.in_network[kind[mine], types[mine]])

    def _ask(self, packets: np.ndarray) -> None:
        """Takes note of requests that have arrived."""
        for packet in packets.tolist():
            if self._type[packet] in _REPLY_TO:
                node = int(self.packets.destination[packet])
                self._requests[node].append(packet)
                self._asked[node] += 1

    def _arrivals(self) -> np.ndarray:
        return np.concatenate([network.arrivals() for network in self._networks])

    def _of_queues(self, by_terminal: np.ndarray) -> np.ndarray:
        of_nodes = by_terminal[self._terminals].astype(np.int64)
        return np.concatenate([of_nodes[:, np.unique(types)].sum(axis=1) for types in self._stepping.in_network])

    def _waiting(self) -> np.ndarray:
        return sum((self._of_queues(network.waiting_at_all()) for network in self._networks),
                   np.zeros(self._offered.size, np.int64))

    def _left(self) -> np.ndarray:
        return sum((self._of_queues(network.flits_left()) for network in self._networks),
                   np.zeros(self._offered.size, np.int64))

    def generated(self, packets: np.ndarray, sent: Sent) -> np.ndarray:
        return np.ones(packets.size, bool)

    def generated_so_far(self, sent: Sent) -> np.ndarray:
        return self.packets.of_queue[0].copy()

    def has_tried(self, cycle: int) -> bool:
        busy = self._waiting() + self._left() > 0
        return bool((np.where(busy, self._tested, np.minimum(self._next, self.time)) > cycle).all())

    def check(self) -> None:
        for network in self._networks:
            network.check()
