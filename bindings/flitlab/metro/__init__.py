"""Inspection of METRO networks: words on a router's wires, a source's connections word by word, and paths between
endpoints.

>>> import flitlab as fl
>>> from flitlab import metro
>>> net = fl.Network("metro-figure1")
>>> metro.words(net.step(433), router=0)["f0"]
'DATA c'
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from flitlab._core import ConfigError
from flitlab.console import call_tool
from flitlab.metro.console import Scan
from flitlab.network import Network

ENCODING = call_tool("metro", "encoding")
STATES = tuple(ENCODING["states"])
_SHORT = {"nothing": "", "STATUS (blocked)": "BLOCKED", "backward drop": "BCB"}
KINDS = tuple(_SHORT.get(kind, kind) for kind in ENCODING["kinds"])


def kind_of(word: int) -> str:
    """Returns the kind of a word, one of ``KINDS``."""
    return KINDS[word >> ENCODING["kind_shift"]]


def payload_of(word: int) -> int:
    return word & (1 << ENCODING["kind_shift"]) - 1


def word_text(word: int) -> str:
    """Returns a word as text: its kind and its payload in hexadecimal; "" for an undriven wire."""
    kind, payload = kind_of(word), payload_of(word)
    return f"{kind} {payload:x}" if kind in ("DATA", "STATUS", "BLOCKED") else kind


def words(net: Network, router: int) -> dict[str, str]:
    """Returns the words that a router reads in the next cycle, as texts by port (f0, f1, ..., b0, ...)."""
    registers = Scan(net).registers(router)
    return {name[5:]: word_text(value) for name, value in registers.items() if name.startswith("word.")}


@dataclass(frozen=True)
class Reading:
    """A word as it is read at the end of a wire."""

    cycle: int
    wire: int  # number of the wire along the connection: wire 0 begins at the source, wire n at the n-th router
    back: bool  # the word travels toward the source
    word: int  # kind times 65536, plus payload

    @property
    def kind(self) -> str:
        return kind_of(self.word)

    @property
    def payload(self) -> int:
        return payload_of(self.word)


@dataclass
class Hop:
    """A router of a connection, and the connection's ports there; backward is None if the router did not connect it."""

    router: int
    forward: int
    backward: int | None = None
    reached: bool = field(default=False, repr=False)  # the connection's first word has arrived at this router
    # First cycle in which the connection's first word can be at the end of the backward port's wire.
    opened: int | None = field(default=None, repr=False)
    # Cycle in which that wire no longer carries words of this connection.
    closed: int | None = field(default=None, repr=False)


@dataclass
class Attempt:
    """One attempt of a source to deliver its message: its path, and all words on the path."""

    cycle: int  # cycle in which the first router reads the first word
    hops: list[Hop]
    words: list[Reading] = field(default_factory=list, repr=False)
    width: int = 8  # of a router, bits

    def heard(self) -> list[Reading]:
        """Returns the words that the source reads on its link."""
        return [r for r in self.words if r.wire == 0 and r.back]

    def reported(self) -> list[tuple[int, int]]:
        """Returns backward port and checksum of each router that has returned STATUS to the source."""
        status = [r.payload for r in self.heard() if r.kind == "STATUS"]
        return list(zip(status[::2], status[1::2], strict=False))

    @property
    def outcome(self) -> str:
        """Outcome of the attempt: "acknowledged", "refused" (the destination rejects the message), "blocked" (the
        source reads the STATUS of a blocked connection), "dropped" (the source reads the backward control bit), or
        "lost" (no answer)."""
        for r in self.heard():
            if r.kind == "DATA":
                return "acknowledged" if r.payload == 0x6666 & (1 << self.width) - 1 else "refused"
            if r.kind in ("BLOCKED", "BCB"):
                return "blocked" if r.kind == "BLOCKED" else "dropped"
        return "lost"


def far_ports(net: Network, router: int, backward: int) -> list[tuple[int, int]]:
    """Returns (router, forward port) at the far end of a backward port's wire; an empty list if it leads to an
    endpoint. If several wires join the same two routers, the forward ports of all of them are returned. ConfigError if
    the port does not exist."""
    near = net.router(router)
    inputs = sum(port.name.startswith("forward") for port in near.ports)
    if not 0 <= backward < len(near.ports) - inputs:
        raise ConfigError(f"router {near.name} has backward ports 0 to {len(near.ports) - inputs - 1}, not {backward}.")
    out = near.ports[inputs + backward]
    if out.to_terminal or out.peer is None:
        return []
    forward = [port for port in net.router(out.peer).ports if port.name.startswith("forward")]
    return [(out.peer, i) for i, port in enumerate(forward) if port.peer == router and not port.to_terminal]


def attempts(net: Network, source: int, cycles: int, member: int = 0) -> list[Attempt]:
    """Steps a network and follows a source's connections. Returns the attempts that begin in these cycles, with every
    word that is read on any of their wires (METRO, 4 and 5.1).

    cycles: number of clocks to step. member: number of the router within a group of cascaded routers, from 0; words
    then are the part of the channel that this router carries. Paths are read from the routers' registers, to which a
    source has no access; ``reported()`` has the information that the source itself receives. ConfigError if the
    endpoint or the cascaded router does not exist.
    """
    e = net.experiment
    terminals, cascade = int(e.derived()["terminals"]), e["router.cascade"]
    if not 0 <= source < terminals:
        raise ConfigError(f"endpoint {source} does not exist: endpoints are numbered 0 to {terminals - 1}.")
    if not 0 <= member < cascade:
        raise ConfigError(f"cascaded router {member} does not exist: there are {cascade}, from 0 on.")
    entry_ports = [(r, i) for r in range(member, int(e.derived()["routers"]), cascade)
                   for i, port in enumerate(net.router(r).ports)
                   if port.to_terminal and port.peer == source and port.name.startswith("forward")]
    found: list[Attempt] = []
    driven = {entry_port: False for entry_port in entry_ports}
    for _ in range(cycles):
        read_registers = functools.cache(Scan(net).registers)  # registers do not change within a cycle
        for entry_port in entry_ports:
            registers = read_registers(entry_port[0])
            data = kind_of(registers[f"word.f{entry_port[1]}"]) == "DATA"
            if data and not driven[entry_port] and STATES[registers[f"state.f{entry_port[1]}"]] == "idle":
                found.append(Attempt(net.cycle, [Hop(*entry_port)], width=e["router.width"]))
            driven[entry_port] = data
        for attempt in found[-2:]:  # the end of one attempt may still travel when the next one begins
            _read(net, read_registers, attempt, e["router.pipeline_stages"], attempt is found[-1])
        net.step()
    return found


def _read(net: Network, read_registers: Callable[[int], dict[str, int]], attempt: Attempt, stages: int,
          current: bool) -> None:
    """Records the words that are read in the next cycle, and the connection's progress. Words on the source's link
    belong to the current attempt."""
    def note(wire: int, back: bool, word: int) -> None:
        if word:
            attempt.words.append(Reading(net.cycle, wire, back, word))

    for place, hop in enumerate(attempt.hops):  # the loop appends hops to the list
        over = hop.closed is not None and net.cycle > hop.closed
        if over and (place > 0 or not current):
            continue
        registers = read_registers(hop.router)
        port = f"f{hop.forward}"
        if place == 0 and current:
            note(0, False, registers[f"word.{port}"])
            if net.cycle > attempt.cycle + registers.get(f"turn_delay.{port}", 0):  # no answer can arrive before
                note(0, True, registers[f"sent.{port}"])
        if over:
            continue
        state = STATES[registers[f"state.{port}"]]
        switched = state in ("forward", "reverse")
        if not hop.reached:  # before that, the state belongs to another connection
            hop.reached = kind_of(registers[f"word.{port}"]) == "DATA" and state == "idle"
            continue
        if hop.backward is None:
            if state in ("blocked", "answer", "discard"):
                hop.closed = net.cycle  # later words here belong to another connection
            if not switched or hop.closed is not None:
                continue
            hop.backward = registers[f"out.{port}"]
        out = f"b{hop.backward}"
        wire = registers.get(f"turn_delay.{out}", 0)
        # The router connected one clock ago, and the wire still carries words of the previous connection.
        if hop.opened is None:
            hop.opened = net.cycle - 1 + stages + wire
        # The router closed the connection one clock ago, and the wire still carries its last words.
        if hop.closed is None and not switched:
            hop.closed = net.cycle - 1 + stages + wire
        if net.cycle < hop.opened or (hop.closed is not None and net.cycle > hop.closed):
            continue
        word = registers.get(f"sent.{out}", 0)  # a faulty router may choose a port without a wire
        note(place + 1, False, word)
        if net.cycle > hop.opened + wire:  # no answer can arrive before
            note(place + 1, True, registers.get(f"word.{out}", 0))
        if place + 1 == len(attempt.hops) and kind_of(word) == "DATA":
            ends = [end for end in far_ports(net, hop.router, hop.backward)
                    if read_registers(end[0])[f"word.f{end[1]}"] == word]
            attempt.hops += [Hop(*ends[0])] if len(ends) == 1 else []


@dataclass(frozen=True)
class Path:
    """A path between endpoints: the source's link, then the router and its backward port in each stage."""

    link: int
    hops: tuple[tuple[int, int], ...]  # router, backward port


class Wiring:
    """The wiring of a network without cascaded routers."""

    def __init__(self, net: Network):
        count = int(net.experiment.derived()["routers"])
        self.terminals = int(net.experiment.derived()["terminals"])
        routers = [net.router(r) for r in range(count)]
        self.names = [r.name for r in routers]
        self.dilation = [Scan(net).registers(r)["dilation"] for r in range(count)]
        self.inputs = [sum(p.name.startswith("forward") for p in r.ports) for r in routers]
        # peers[router][backward port]: far end of the port's wire; entries[endpoint]: routers to which the endpoint's
        # outgoing links lead.
        self.peers = [[(p.peer, p.to_terminal) for p in r.ports[i:]] for r, i in zip(routers, self.inputs, strict=True)]
        self.entries: list[list[int]] = [[] for _ in range(self.terminals)]
        for r, i in zip(routers, self.inputs, strict=True):
            for port in r.ports[:i]:
                if port.to_terminal:
                    self.entries[port.peer].append(r.index)

    def paths(self, source: int, destination: int) -> Iterator[Path]:
        """Yields all paths from one endpoint to another, over each of the source's links and each of the equivalent
        backward ports of a router."""
        for link, entry in enumerate(self.entries[source]):
            yield from (Path(link, hops) for hops in self._from(entry, destination, ()))

    def _from(self, router: int, destination: int, hops: tuple) -> Iterator[tuple]:
        if len(hops) > 16:
            return
        for port, (peer, to_terminal) in enumerate(self.peers[router]):
            if peer is None:
                continue
            here = (*hops, (router, port))
            if not to_terminal:
                yield from self._from(peer, destination, here)
            elif peer == destination:
                yield here

    def cut_off(self, dead_router: int | None = None, dead_hop: tuple[int, int] | None = None) -> int:
        """Returns the number of endpoint pairs without a path after the loss of a router, or of the link at a backward
        port (router, port)."""
        return sum(not any(dead_router not in (r for r, _ in path.hops) and dead_hop not in path.hops
                           for path in self.paths(s, d))
                   for s in range(self.terminals) for d in range(self.terminals))
