"""Graphs of calls, as other simulators describe a program: a rank's calls wait for one another, not for the call
before them. A graph becomes a message-passing program whose terminals have several ranks: each runs a chain of calls,
and waits for calls of other chains."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from flitlab._core import ConfigError
from flitlab.programs import ANY, MOST_CYCLES, Program, Rank

MOST_TAGS = 2**31  # of messages that are matched during the run


@dataclass
class Message:
    """One end of a message. key: the k-th send from a to b with a key matches the k-th receive with that key at b.

    A receive from any node has the peer ANY, one with any key has the key ANY. In a graph with such receives, keys are
    numbers below MOST_TAGS, and all messages are matched during the run."""

    peer: int | str
    bytes: int | None  # receive: None for any size
    key: Any = 0


@dataclass
class Send(Message):
    pass


@dataclass
class Receive(Message):
    pass


@dataclass
class Compute:
    cycles: int


@dataclass
class Call:
    """A call of a graph: parts that follow one another. It may begin when the calls ``after`` have ended and the calls
    ``after_start`` have begun (indices in the list of calls of the same node); it ends when all its parts have ended,
    and the network interface has taken what it sent. processor: calls of a node with the same number do not compute at
    the same time; None: no limit. where: place in the file, for messages."""

    parts: list[Send | Receive | Compute]
    after: list[int] = field(default_factory=list)
    after_start: list[int] = field(default_factory=list)
    processor: int | None = None
    where: str = ""


class _Chains:
    """The calls of a node, divided into chains. A call joins a chain if it has to wait for all that the chain has
    waited for anyway. Sends that nothing waits for do not count, because the chain does not wait for them either; but
    what they wait for does."""

    def __init__(self, node: int, calls: list[Call], name: str):
        self.calls = calls
        self.chain = [-1] * len(calls)  # [call] its chain
        self.position = [-1] * len(calls)  # [call] its position in the chain
        self.chains: list[list[int]] = []  # [chain] its calls
        self.waits: list[list[int]] = [[] for _ in calls]  # [call] calls of other chains whose end it waits for
        self.start_waits: list[list[int]] = [[] for _ in calls]  # [call] calls whose beginning it waits for
        waited = {i for call in calls for i in call.after}
        self.posted = [i not in waited and len(call.parts) == 1 and isinstance(call.parts[0], Send)
                       for i, call in enumerate(calls)]  # sends that nothing waits for
        self._blocking: list[int] = []  # [chain] position of its last call that is not such a send
        # [chain] what must have ended, beside that call, before the chain can continue; None: the chain is complete
        self._floor: list[dict[int, int] | None] = []
        # [call] for each chain, the last position that has ended when the call begins
        self._known: list[dict[int, int]] = [{} for _ in calls]
        for i in self._order(node, name):
            self._place(i)

    def _order(self, node: int, name: str) -> list[int]:
        missing = [len({*call.after, *call.after_start}) for call in self.calls]
        dependents: dict[int, list[int]] = defaultdict(list)
        for i, call in enumerate(self.calls):
            for needed in {*call.after, *call.after_start}:
                dependents[needed].append(i)
        ready = [i for i, count in enumerate(missing) if not count]
        order = []
        while ready:
            order.append(i := heapq.heappop(ready))
            for other in dependents[i]:
                missing[other] -= 1
                if not missing[other]:
                    heapq.heappush(ready, other)
        if len(order) < len(self.calls):
            stuck = next(i for i, count in enumerate(missing) if count)
            raise ConfigError(f"{name}: calls of rank {node} wait for one another in a circle, among them "
                              f"{self.calls[stuck].where}. Remove one of the dependencies.")
        return order

    def _place(self, i: int) -> None:
        call = self.calls[i]
        ended: dict[int, int] = {}
        for needed in call.after:
            _raise(ended, self._known[needed])
            _raise(ended, {self.chain[needed]: self.position[needed]})
        for needed in call.after_start:
            _raise(ended, self._known[needed])
        fits = [c for c, last in enumerate(self._blocking)
                if last <= ended.get(c, -1) and _covers(ended, self._floor[c])
                and self.calls[self.chains[c][0]].processor == call.processor]
        direct = {self.chain[needed] for needed in call.after}
        chain = next((c for c in fits if c in direct), fits[0] if fits else len(self.chains))
        if chain == len(self.chains):
            self.chains.append([])
            self._blocking.append(-1)
            self._floor.append({})
        self.chain[i], self.position[i] = chain, len(self.chains[chain])
        # Calls that the chain itself, or other calls waited for, make known need no wait of their own.
        known = {chain: self._blocking[chain]}
        if self._blocking[chain] >= 0:
            _raise(known, self._known[self.chains[chain][self._blocking[chain]]])
        self.chains[chain].append(i)
        for needed in sorted(call.after, key=lambda n: -self.position[n]):
            if known.get(self.chain[needed], -1) < self.position[needed]:
                self.waits[i].append(needed)
                _raise(known, self._known[needed])
                _raise(known, {self.chain[needed]: self.position[needed]})
        for needed in call.after_start:
            if self.chain[needed] != chain and known.get(self.chain[needed], -1) < self.position[needed]:
                self.start_waits[i].append(needed)
                _raise(known, self._known[needed])
        self._known[i] = known
        if not self.posted[i]:
            self._blocking[chain], self._floor[chain] = self.position[i], {}
        elif self.start_waits[i]:
            self._floor[chain] = None
        elif self.waits[i]:
            self._floor[chain] = {**(self._floor[chain] or {}), **{c: p for c, p in known.items() if c != chain}}


def _covers(ended: dict[int, int], floor: dict[int, int] | None) -> bool:
    return floor is not None and all(ended.get(chain, -1) >= position for chain, position in floor.items())


def _raise(known: dict[int, int], more: dict[int, int]) -> None:
    for chain, position in more.items():
        if known.get(chain, -1) < position:
            known[chain] = position


class Graph:
    """The calls of all nodes. Node n becomes terminal n. name: of the file, for messages."""

    def __init__(self, nodes: int, name: str):
        self.name = name
        self.calls: list[list[Call]] = [[] for _ in range(nodes)]

    def program(self) -> Program:
        """Returns the program. Raises ConfigError if messages do not match or calls wait in a circle."""
        nodes = [_Chains(node, calls, self.name) for node, calls in enumerate(self.calls)]
        first = [0]
        for node in nodes:
            first.append(first[-1] + max(1, len(node.chains)))
        program = Program(first[-1], self.name)
        for call in itertools.chain.from_iterable(self.calls):
            for part in call.parts:
                if isinstance(part, Send):
                    program._check_message(part.bytes or 0, call.where)
        self._check_parts()
        is_open = any(ANY in (part.peer, part.key) for call in itertools.chain.from_iterable(self.calls)
                      for part in call.parts if isinstance(part, Receive))
        ends = self._in_run(first) if is_open else self._matched(nodes, first)
        tags: dict[tuple[int, int], int] = defaultdict(int)
        for number, node in enumerate(nodes):
            program.place(first[number], number)
            if is_open:
                for chain in range(1, len(node.chains)):
                    program.thread(first[number] + chain, first[number])
            notices: dict[tuple[int, bool], list[tuple[int, int]]] = defaultdict(list)
            afters: dict[int, list[tuple[int, int]]] = defaultdict(list)
            for i in range(len(node.calls)):
                for at_start, waits in ((False, node.waits[i]), (True, node.start_waits[i])):
                    for needed in waits:
                        pair = first[number] + node.chain[needed], first[number] + node.chain[i]
                        tags[pair] += 1
                        notices[needed, at_start].append((pair[1], tags[pair]))
                        afters[i].append((pair[0], tags[pair]))
            for chain, calls in enumerate(node.chains):
                me = program[first[number] + chain]
                program.place(me.rank, number, node.calls[calls[0]].processor)
                for i in calls:
                    for peer, tag in afters[i]:
                        me.after(peer, tag)
                    for peer, tag in notices[i, True]:
                        me.notify(peer, tag)
                    _run(me, node.calls[i], ends[number, i], node.posted[i])
                    for peer, tag in notices[i, False]:
                        me.notify(peer, tag)
        return program

    def _check_parts(self) -> None:
        """Raises ConfigError for a computation that is too long, or a message to a node that does not exist."""
        for node, calls in enumerate(self.calls):
            for call in calls:
                for part in call.parts:
                    if isinstance(part, Compute) and part.cycles > MOST_CYCLES:
                        raise ConfigError(f"{self.name}: {call.where}: the computation takes {part.cycles} cycles: at "
                                          f"most {MOST_CYCLES} are possible. Use a longer cycle (cycle_ns), or divide "
                                          "it.")
                    if not isinstance(part, Message) or part.peer == ANY:
                        continue
                    if not 0 <= part.peer < len(self.calls):
                        raise ConfigError(f"{self.name}: {call.where}: rank {part.peer} does not exist: ranks are "
                                          f"numbered 0 to {len(self.calls) - 1}.")
                    if part.peer == node:
                        raise ConfigError(f"{self.name}: {call.where}: rank {node} exchanges a message with itself. "
                                          "Remove both ends.")

    def _in_run(self, first: list[int]) -> dict[tuple[int, int], list[tuple[Any, Any]]]:
        """Returns what _matched() returns, for messages that are matched during the run."""
        ends: dict[tuple[int, int], list[tuple[Any, Any]]] = {}
        sent: dict[int, list[str]] = defaultdict(list)  # node -> calls that send to it
        taken: dict[int, list[str]] = defaultdict(list)
        for node, calls in enumerate(self.calls):
            for i, call in enumerate(calls):
                messages = [part for part in call.parts if isinstance(part, Message)]
                ends[node, i] = [(ANY if part.peer == ANY else first[part.peer], part.key) for part in messages]
                for part in messages:
                    if part.key != ANY and not 0 <= part.key < MOST_TAGS:
                        raise ConfigError(f"{self.name}: {call.where}: tag {part.key} is not possible in a file with "
                                          f"receives from any source or with any tag: use 0 to {MOST_TAGS - 1}.")
                    (taken[node] if isinstance(part, Receive) else sent[part.peer]).append(call.where)
        for node in range(len(self.calls)):
            sends, receives = sent[node], taken[node]
            if len(sends) != len(receives):
                last = (sends if len(sends) > len(receives) else receives)[-1]
                raise ConfigError(f"{self.name}: {last}: rank {node} receives {len(receives)} messages, and "
                                  f"{len(sends)} are sent to it. Add or remove receives or sends.")
        return ends

    def _matched(self, nodes: list[_Chains], first: list[int]) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Returns (node, call) -> for each of its messages, in order, the rank at the other end and a tag that no other
        message between the two ranks has."""
        # (node, node, key) -> node, call, number of the message in the call, bytes
        sent: dict[Any, list[tuple[int, int, int, int | None]]] = defaultdict(list)
        taken: dict[Any, list[tuple[int, int, int, int | None]]] = defaultdict(list)
        ends: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for node, calls in enumerate(self.calls):
            for i, call in enumerate(calls):
                messages = [part for part in call.parts if isinstance(part, Message)]
                ends[node, i] = [(0, 0)] * len(messages)
                for k, part in enumerate(messages):
                    side, pair = (sent, (node, part.peer)) if isinstance(part, Send) else (taken, (part.peer, node))
                    side[(*pair, part.key)].append((node, i, k, part.bytes))
        tags: dict[tuple[int, int], int] = defaultdict(int)
        for key in [*sent, *(key for key in taken if key not in sent)]:
            sends, receives = sent.get(key, []), taken.get(key, [])
            for (a, i, k, size), (b, j, m, expected) in zip(sends, receives, strict=False):
                pair = first[a] + nodes[a].chain[i], first[b] + nodes[b].chain[j]
                tags[pair] += 1
                ends[a, i][k] = pair[1], tags[pair]
                ends[b, j][m] = pair[0], tags[pair]
                if expected not in (None, size):
                    raise ConfigError(f"{self.name}: {self.calls[b][j].where}: the message that rank {b} receives here "
                                      f"has {size} bytes ({self.calls[a][i].where}), not {expected}. Correct one of "
                                      "the two.")
            if len(sends) != len(receives):
                node, i, *_ = (sends if len(sends) > len(receives) else receives)[min(len(sends), len(receives))]
                other = "receive" if len(sends) > len(receives) else "send"
                raise ConfigError(f"{self.name}: {self.calls[node][i].where}: no {other} is left for this message "
                                  f"between ranks {key[0]} and {key[1]}: {len(sends)} are sent and {len(receives)} "
                                  "received.")
        return ends


def _run(me: Rank, call: Call, ends: list[tuple[Any, Any]], posted: bool) -> None:
    """Adds the parts of a call to a rank."""
    messages = iter(ends)
    handle = None
    for part in call.parts:
        if isinstance(part, Compute):
            if part.cycles:
                me.compute(part.cycles)
            continue
        peer, tag = next(messages)
        if isinstance(part, Receive):
            me.recv(peer, part.bytes, tag)
        elif part is call.parts[-1] and not posted:
            me.send(peer, part.bytes or 0, tag)
            handle = None
        else:
            handle = me.isend(peer, part.bytes or 0, tag)
    if handle is not None and not posted:
        me.wait(handle)  # and so for all sends before it
