"""A network advanced by hand, and what is inside it."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field

from flitlab import _core
from flitlab.console import Console
from flitlab.experiment import Experiment
from flitlab.runner import check_threads

FIRST_REPLY = 1 << 31  # closed loops: requests of a terminal are numbered from 0, its replies from here


def packet_name(src: int, number: int) -> str:
    """Source and number there: ``3#17``, and ``3#r17`` for a reply."""
    return f"{src}#r{number - FIRST_REPLY}" if number >= FIRST_REPLY else f"{src}#{number}"


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


class Network:
    """A network under your hands: ``net.step(10); net.router(5)``.

    trace: keep every event, read with :meth:`events` (CPU only). console: what software can do to the machine between
    cycles (:mod:`flitlab.console`); machines' packages have it with named methods, such as ``fl.t3e.Machine(net)``.
    """

    def __init__(self, experiment: Experiment, backend: str = "cpu", threads: int = 1, trace: bool = False):
        check_threads(threads)
        self.experiment = experiment
        self._core = _core.Network(experiment.core, backend, threads, trace)
        self.console = Console(self._core)
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

    def links(self) -> list[tuple[int, int, int, int]]:
        """Both ends of every channel between routers: router, port, router and port where it ends."""
        return self._core.links()

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

    def __getattr__(self, name: str):
        """Says where registers and messages are, which were methods here."""
        text = f"'Network' object has no attribute {name!r}"
        if not name.startswith("_") and name != "console":  # there is none if the core has refused the network
            offered = ", ".join(o.name for o in self.console.operations())
            text += f". What software can do to this machine is in its console: {offered or 'it has none'}"
            if offered:
                text += f" (net.console, or the class for it in flitlab.{self.experiment['router.kind']})"
        raise AttributeError(text + ".")

    def __repr__(self) -> str:
        t = self.totals
        return (f"<Network {self.experiment.name} at cycle {self.cycle}: {t['packets_created']} packets created, "
                f"{t['packets_delivered']} delivered>")
