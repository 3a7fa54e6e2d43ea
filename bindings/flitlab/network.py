"""A network advanced by hand, and what is inside it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flitlab import _core
from flitlab.experiment import Experiment
from flitlab.runner import check_threads

FIRST_REPLY = 1 << 31  # closed loops: requests of a terminal are numbered from 0, its replies from here


def packet_name(src: int, number: int) -> str:
    """Source and number there: ``3#17``, and ``3#r17`` for a reply."""
    return f"{src}#r{number - FIRST_REPLY}" if number >= FIRST_REPLY else f"{src}#{number}"


NOWHERE = 0xFFFFFFFF  # no address


class Request(NamedTuple):
    """A control message; see :meth:`Network.send_control`."""

    operation: str
    number: int = 0
    value: int = 0
    address: int | None = None
    hops: Sequence[int] = ()
    priority: int = 2
    tag: int = 0


@dataclass(frozen=True)
class Reply:
    """A reply to a control message."""

    tag: int  # of the request
    number: int  # that it named
    value: int
    stamp: int  # the router's 16-bit timer when it carried out the request, routing cycles


@dataclass(frozen=True)
class VirtualChannel:
    """One virtual channel of a port: the input buffer, and the output VC of the same numbers."""

    stage: str  # idle, routing, waiting, head, body; of a T3E: idle, asking, flowing, stopped
    flits: int  # in the input buffer
    packets: int
    left: int  # flits of the front packet still to go
    out_port: int | None
    out_vc: int | None
    src: int | None  # front packet: source terminal and number there
    id: int | None
    dst_router: int | None
    credits: int  # of the output VC
    owner_port: int | None  # input VC that holds the output VC
    owner_vc: int | None

    def __repr__(self) -> str:
        if self.stage == "idle":
            return f"<idle, {self.credits} credits>"
        to = f" to port {self.out_port}" if self.out_port is not None else ""
        vc = f" VC {self.out_vc}" if self.out_vc is not None else ""
        if self.id is None:  # circuits: nothing is buffered, and nobody knows whose words they are
            return f"<{self.stage}{to}>"
        name = packet_name(self.src, self.id)
        return f"<{self.stage} {name}{to}{vc}, {self.flits} flits here, {self.credits} credits>"


@dataclass(frozen=True)
class Port:
    name: str
    peer: int | None  # router or terminal at the far end
    to_terminal: bool
    vcs: tuple[VirtualChannel, ...]

    def __repr__(self) -> str:
        where = "not wired" if self.peer is None else f"{'terminal' if self.to_terminal else 'router'} {self.peer}"
        lines = [f"port {self.name} ({where})"]
        lines += [f"  VC {i}: {vc!r}" for i, vc in enumerate(self.vcs) if vc.stage != "idle"]
        return "\n".join(lines)


@dataclass(frozen=True)
class Router:
    index: int
    name: str
    cycle: int
    ports: tuple[Port, ...]

    @property
    def flits(self) -> int:
        return sum(vc.flits for port in self.ports for vc in port.vcs)

    def __repr__(self) -> str:
        return "\n".join([f"router {self.name} at cycle {self.cycle}: {self.flits} flits",
                          *(f"  {line}" for port in self.ports for line in repr(port).splitlines())])

    def plot(self, axes=None):
        """Buffers of all ports and VCs as filled cells."""
        import matplotlib.pyplot as plt
        import numpy as np

        if axes is None:
            _, axes = plt.subplots(figsize=(1.2 + 0.5 * len(self.ports[0].vcs), 0.6 + 0.4 * len(self.ports)),
                                   layout="constrained")
        grid = np.array([[vc.flits for vc in port.vcs] for port in self.ports])
        axes.imshow(grid, cmap="Blues", vmin=0, vmax=max(1, grid.max()), aspect="auto")
        for (row, column), flits in np.ndenumerate(grid):
            if flits:
                axes.text(column, row, str(flits), ha="center", va="center",
                          color="white" if flits > grid.max() / 2 else "black")
        axes.set(xticks=range(grid.shape[1]), yticks=range(len(self.ports)), yticklabels=[p.name for p in self.ports],
                 xlabel="virtual channel", ylabel="input port")
        axes.set_title(f"flits in router {self.name}\ncycle {self.cycle}", fontsize=9)
        return axes


@dataclass(frozen=True)
class Terminal:
    index: int
    created: int
    sent: int
    received: int
    queued: int
    flits_left: int
    vc: int
    next_creation: int | None
    credits: list[int] = field(repr=False)


@dataclass(frozen=True)
class BarrierRegister:
    """A node of a barrier unit's spanning tree: names of ports."""

    children: tuple[str, ...]
    joined: tuple[str, ...]  # children that have signalled
    parent: str | None  # None at the root, and outside the tree


@dataclass(frozen=True)
class Answer:
    """The answer to an SGET that has reached a PE."""

    ticket: int
    node: int  # of the PE
    value: int
    cycle: int


def _deltas(deltas: Sequence[int]) -> list[int]:
    if len(deltas) != 6:
        raise _core.ConfigError(f"special packet: {len(deltas)} deltas; there are six, primary and secondary X, Y, Z.")
    return [int(d) for d in deltas]


class Network:
    """A network under your hands: ``net.step(10); net.router(5)``.

    trace: keep every event, read with :meth:`events` (CPU only).
    """

    def __init__(self, experiment: Experiment, backend: str = "cpu", threads: int = 1, trace: bool = False):
        check_threads(threads)
        self.experiment = experiment
        self._core = _core.Network(experiment.core, backend, threads, trace)
        for text in self._core.warnings():
            warnings.warn(text, stacklevel=2)

    def step(self, cycles: int = 1) -> Network:
        if cycles < 0:
            raise _core.ConfigError(f"step({cycles}): the number of cycles must not be negative.")
        self._core.step(cycles)
        return self

    @property
    def cycle(self) -> int:
        return self._core.cycle

    @property
    def state_hash(self) -> str:
        return self._core.state_hash()

    @property
    def program_ends(self) -> list[int | None]:
        """Cycle in which the program of each terminal ended; None: it has not. Empty without programs."""
        return [None if end == 0xFFFFFFFF else end for end in self._core.program_ends()]

    @property
    def totals(self) -> dict[str, int]:
        """Counts since cycle 0: packets and flits created, injected, delivered; last_delivery is a cycle."""
        return self._core.totals()

    def channels(self) -> list[tuple[int, int, int]]:
        """Router and port where each channel begins, and the flits that it has carried since cycle 0, modulo 2**32
        (Blue Gene/L: the cycles in which it was occupied)."""
        return self._core.channels()

    def check(self) -> Network:
        """Raises RunError if flits have been lost or channels wait for one another for ever.

        S-Connect is not searched for such waiting: its tables are proved when the plan makes them. Tables that software
        has written, and control messages that name their hops, can wait in a circle untold.
        """
        self._core.check()
        return self

    def _check_index(self, item: str, index: int) -> None:
        """The core answers numbers that are too large; it cannot be asked for negative ones."""
        if not 0 <= index < 1 << 32:
            last = int(self.experiment.derived()[f"{item}s"]) - 1
            raise _core.ConfigError(f"{item} {index} does not exist: {item}s are numbered 0 to {last}.")

    @staticmethod
    def _check_value(name: str, value: int) -> None:
        if not 0 <= value < 1 << 64:
            raise _core.ConfigError(f"{name} = {value}: a register has 64 bits, 0 to 2**64 - 1.")

    def router(self, index: int) -> Router:
        self._check_index("router", index)
        ports = tuple(
            Port(p["name"], p["peer"], p["to_terminal"], tuple(VirtualChannel(**vc) for vc in p["vcs"]))
            for p in self._core.router(index)
        )
        return Router(index, self._core.router_name(index), self.cycle, ports)

    def terminal(self, index: int) -> Terminal:
        self._check_index("terminal", index)
        return Terminal(index, **self._core.terminal(index))

    def read_register(self, node: int, name: str) -> int:
        """A register of a node, as its 64 bits; models of machines that have registers list them in their README."""
        self._check_index("router", node)
        return self._core.read_register(node, name)

    def registers(self, node: int) -> dict[str, int]:
        """All registers of a node by name; empty if it has none."""
        self._check_index("router", node)
        return self._core.read_registers(node)

    def write_register(self, node: int, name: str, value: int) -> Network:
        """Writes a register of a node between two cycles. ConfigError if it has no such register or no such
        bits; a warning if the value loses packets."""
        self._check_index("router", node)
        self._check_value(name, value)
        for text in self._core.write_register(node, name, value):
            warnings.warn(text, stacklevel=2)
        return self

    def barrier_state(self, pe: int, unit: int = 0) -> str:
        """State of a barrier unit at a PE: S_BAR, S_ARM or S_EUR (The Cray T3E Network, Figure 6)."""
        self._check_index("router", pe)
        return self._core.barrier_state(pe, unit)

    def barrier_operation(self, pe: int, operation: str, unit: int = 0) -> Network:
        """OP_BAR, OP_EUR or OP_EUR_B of a PE, between two cycles; ``barrier.operation`` must be "by_hand". ConfigError
        if the unit's state does not allow it."""
        self._check_index("router", pe)
        self._core.barrier_operation(pe, unit, operation)
        return self

    def barrier_register(self, node: int, unit: int = 0) -> BarrierRegister:
        """A barrier unit's register in a router."""
        self._check_index("router", node)
        children, joined, parent = self._core.barrier_register(node, unit)
        return BarrierRegister(tuple(children), tuple(joined), parent or None)

    def special_put(self, node: int, deltas: Sequence[int], name: str, value: int) -> Network:
        """The PE of a node sends an SPUT, which writes a register of the node where it ends.

        deltas: hops in primary X, Y, Z, then secondary X, Y, Z; negative in the - direction. PEs send what they are
        told in order, one packet a clock while the network is stepped. ConfigError if special.enabled is false.
        """
        self._check_index("router", node)
        self._check_value(name, value)
        self._core.special_put(node, _deltas(deltas), name, value)
        return self

    def special_get(self, node: int, deltas: Sequence[int], name: str) -> int:
        """The PE of a node sends an SGET, which reads a register of the node where it ends. That node's R_SGET_RTRN
        says where the answer goes. Returns the ticket that the answer will bear."""
        self._check_index("router", node)
        return self._core.special_get(node, _deltas(deltas), name)

    def special_answers(self) -> list[Answer]:
        """Answers that have reached any PE since the last call, in the order of their arrival."""
        return [Answer(*answer) for answer in self._core.special_answers()]

    def links(self) -> list[tuple[int, int, int, int]]:
        """Both ends of every channel between routers: router, port, router and port where it ends."""
        return self._core.links()

    def send_control(self, terminal: int, operation: str, number: int = 0, value: int = 0, *,
                     address: int | None = None, hops: Sequence[int] = (), priority: int = 2, tag: int = 0) -> Network:
        """Software at a terminal sends a control message (S-Connect, 3.4), which leaves when the network is stepped.

        operation: read_table, write_table (number: destination), read_register, write_register (number: see
        kernels/routers/sconnect/control_message.hpp), add_to_timer. address: node to which the routing tables lead it
        first, if any; hops: ports to be taken from there on, up to 16. The reply bears what was read, or is there now;
        a message that leads nowhere has none. It goes at the next priority, 3 at most. ConfigError if the router knows
        no such messages or 16 already wait at the terminal.

        Nothing keeps requests of one priority whose hops lead round a circle from filling its queues, in which they
        then wait for one another for ever, with all that comes behind them. Neither :meth:`check` nor a run tells.
        Hops along a tree, or few requests at a time, avoid it. At priority 3, where replies have that of requests,
        those by tables can wait for each other as well.
        """
        if not self.send_controls(terminal, [Request(operation, number, value, address, hops, priority, tag)]):
            raise _core.ConfigError(f"the mailbox of terminal {terminal} is full (16 messages). Step first.")
        return self

    def send_controls(self, terminal: int, requests: Sequence[Request]) -> int:
        """Several control messages at once; returns how many have found a place, the first ones."""
        self._check_index("terminal", terminal)
        return self._core.send_control(terminal, [
            (r.operation, r.number, r.value, NOWHERE if r.address is None else r.address, r.hops, r.priority, r.tag)
            for r in requests])

    def set_addresses(self, addresses: Sequence[int]) -> Network:
        """What other hosts address messages to each terminal to (S-Connect with ``routing.tables = "none"``): the
        number of its node in the routing tables. Without, terminals are called by the numbers of the plan."""
        if any(not 0 <= a < 1 << 32 for a in addresses):
            raise _core.ConfigError("addresses must not be negative.")
        self._core.set_addresses(list(addresses))
        return self

    def take_replies(self, terminal: int) -> list[Reply]:
        """Replies to control messages that have come to a terminal since the last call, in order."""
        self._check_index("terminal", terminal)
        return [Reply(*reply) for reply in self._core.take_replies(terminal)]

    def events(self) -> list[dict]:
        """Events since the last call: cycle, kind, item, index, port, vc, out_port, out_vc, src, id, flit, flits.

        src and id name a packet: the terminal that created it, and its number there. In closed loops packets with
        id >= 2**31 are replies. "special" is a special packet that leaves a router; its id is its ticket, 0: an SPUT.
        """
        return self._core.events()

    def save(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint."""
        self._core.save(os.fspath(path))

    def load(self, path: str | os.PathLike) -> Network:
        """Goes on from a checkpoint of the same configuration."""
        self._core.load(os.fspath(path))
        return self

    def go_on_from(self, other: Network) -> Network:
        """Takes over the state of another network of the same configuration."""
        self._core.go_on_from(other._core)
        return self

    def __repr__(self) -> str:
        t = self.totals
        return (f"<Network {self.experiment.name} at cycle {self.cycle}: {t['packets_created']} packets created, "
                f"{t['packets_delivered']} delivered>")
