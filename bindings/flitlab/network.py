"""A network advanced by hand, and what is inside it."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from flitlab import _core
from flitlab.arguments import Backend, check_backend, check_path, check_threads, check_truth, is_whole, shown
from flitlab.console import Console
from flitlab.experiment import Given, experiment_of
from flitlab.inspection import FIRST_REPLY as FIRST_REPLY
from flitlab.inspection import Port as Port
from flitlab.inspection import Router, Terminal, Tree
from flitlab.inspection import VirtualChannel as VirtualChannel
from flitlab.inspection import packet_name as packet_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flitlab.scope.recorded import Recorded


class Network:
    """A network under your hands: ``net.step(10); net.router(5)``.

    experiment: an Experiment, a file, the name of a shipped configuration, or a dictionary of dotted paths.
    trace: keep every event, read with :meth:`events` (CPU only). console: what software can do to the machine between
    cycles (:mod:`flitlab.console`); machines' packages have it with named methods: ``from flitlab import t3e``, and
    ``t3e.Machine(net)``.
    """

    def __init__(self, experiment: Given, backend: Backend = "cpu", threads: int = 1, trace: bool = False):
        check_backend(backend)
        check_threads(threads)
        check_truth("trace", trace)
        self.experiment = experiment = experiment_of(experiment)
        self._traced = trace
        self._core = _core.Network(experiment.core, backend, threads, trace)
        self.console = Console(self._core)
        for text in self._core.warnings():
            warnings.warn(text, stacklevel=2)

    def step(self, cycles: int = 1) -> Network:
        """Goes on by some cycles; returns the network, so that calls can follow one another."""
        if not is_whole(cycles) or cycles < 0:
            raise _core.ConfigError(f"step({shown(cycles)}): the number of cycles must be a whole number and must not "
                                    "be negative.")
        self._core.step(min(cycles, 1 << 63))  # more than time has, whatever it is
        return self

    @property
    def cycle(self) -> int:
        """The cycle that comes next."""
        return self._core.cycle

    @property
    def state_hash(self) -> str:
        """Hash of all state: the same on every engine, whatever the number of threads."""
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
        """Router and port where each channel begins, and the flits that it has carried since cycle 0, modulo 2**32;
        where packets take a channel for longer than their flits, the cycles in which it was occupied."""
        return self._core.channels()

    def check(self) -> Network:
        """Raises RunError if the network has lost flits, or if it cannot go on: channels wait for one another for ever,
        another unit of the model has stopped, or a closed loop, trace or program needs packets that were lost."""
        self._core.check()
        return self

    def _check_index(self, item: str, index: int) -> None:
        """The core answers numbers that are too large; it cannot be asked for negative ones."""
        if not is_whole(index) or not 0 <= index < 1 << 32:
            last = int(self.experiment.derived()[f"{item}s"]) - 1
            raise _core.ConfigError(f"{item} {shown(index)} does not exist: {item}s are numbered 0 to {last}.")

    def router(self, index: int) -> Router:
        """Ports of a router, and what is in their virtual channels."""
        self._check_index("router", index)
        return Router.of(index, self.cycle, self._core.router(index))

    def terminal(self, index: int) -> Terminal:
        """Source queue and counts of a terminal."""
        self._check_index("terminal", index)
        return Terminal.of(index, self._core.terminal(index))

    def inspect(self, kind: str, index: int) -> Tree:
        """All that an item's state consists of, as a tree of named values with units: ``net.inspect("router", 5)``.

        kind: "router", "terminal" or what else the machine's state consists of. ConfigError names the kinds there are.
        """
        if not is_whole(index) or not 0 <= index < 1 << 32:
            raise _core.ConfigError(f"{kind} {shown(index)} does not exist: items are numbered from 0.")
        return Tree.of(self._core.item(kind if isinstance(kind, str) else shown(kind), index))

    def links(self) -> list[tuple[int, int, int, int]]:
        """Both ends of every channel between routers: router, port, router and port where it ends."""
        return self._core.links()

    def events(self) -> list[dict]:
        """Events since the last call: cycle, kind, item, index, port, vc, out_port, out_vc, src, id, flit, flits, and
        dst of "created".

        dst is the terminal that the packet goes to; of a broadcast's packet, the last node that it visits. flit is
        "head", "body", "tail", or "head+tail" of a packet of one flit. src and id name a packet: the terminal that
        created it, and its number there. In closed loops packets with id >= 2**31 are replies. "special" is a special
        packet that leaves a router; its id is its ticket, 0: an SPUT.
        Raises ConfigError if the network keeps none.
        """
        if not self._traced:
            raise _core.ConfigError("events(): this network keeps none. Make it with Network(..., trace=True).")
        return self._core.events()

    def view(self, window: int | None = None, routers: Iterable[int] | None = None) -> Recorded:
        """The router scope: this network drawn by its topology, moving, with everything in it to click.

        A widget for notebooks; ``net.view().step(200).save("demo.html")`` makes a page that replays without Python.
        window: cycles that are kept, to go back to; None: 300, and fewer of networks with over 200 routers. routers:
        those to draw; None: all, or of a large network the first 1024. The view takes the network's events for itself,
        and the network goes on as a traced one. Without anywidget it records and saves pages, and a notebook shows a
        replay.
        """
        try:
            from flitlab.scope.widget import View
        except ImportError:  # anywidget is not installed
            from flitlab.scope.recorded import Recorded as View
        if not self._traced:
            traced = Network(self.experiment, trace=True).go_on_from(self)
            self._core, self._traced = traced._core, True
            self.console = Console(self._core)
        return View(self, window, routers)

    def save(self, path: str | os.PathLike) -> None:
        """Writes a checkpoint."""
        check_path(f"save({shown(path)})", path, "a checkpoint")
        self._core.save(os.fspath(path))

    def load(self, path: str | os.PathLike) -> Network:
        """Goes on from a checkpoint of the same configuration."""
        check_path(f"load({shown(path)})", path, "a checkpoint")
        self._core.load(os.fspath(path))
        return self

    def go_on_from(self, other: Network) -> Network:
        """Takes over the state of another network of the same configuration."""
        if not isinstance(other, Network):
            raise _core.ConfigError(f"go_on_from({shown(other)}): it must be another Network.")
        self._core.go_on_from(other._core)
        return self

    if not TYPE_CHECKING:  # so that type checkers know only the names that there are

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
