"""Network: a network that the caller steps, inspects and records."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from flitlab import _core, injection
from flitlab.arguments import Backend, check_backend, check_path, check_threads, check_truth, is_whole, shown
from flitlab.columns import Event
from flitlab.console import Console
from flitlab.experiment import Given, experiment_of
from flitlab.inspection import FIRST_REPLY as FIRST_REPLY
from flitlab.inspection import Port as Port
from flitlab.inspection import Router, Terminal, Tree
from flitlab.inspection import VirtualChannel as VirtualChannel
from flitlab.inspection import packet_name as packet_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from flitlab.injection import Numbers
    from flitlab.scope.recorded import Recorded


class Network:
    """A network that you step and inspect: ``net.step(10); net.router(5)``.

    experiment: an Experiment, a file, the name of a shipped configuration, or a dictionary of dotted paths. threads:
    CPU threads, 0 for one per core. trace: keep every event for :meth:`events` (CPU only).

    ``console`` has the operations that software can call between cycles (:mod:`flitlab.console`). Machines' packages
    have classes with a method for each of them, such as ``t3e.Machine(net)`` after ``from flitlab import t3e``.
    Raises ConfigError for an invalid configuration.
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
        """Advances the network by some cycles and returns it, so that calls can be chained."""
        if not is_whole(cycles) or cycles < 0:
            raise _core.ConfigError(f"step({shown(cycles)}): the number of cycles must be a whole number and must not "
                                    "be negative.")
        # Larger numbers do not fit in 64 bits; the core stops at END_OF_TIME, which is smaller.
        self._core.step(min(cycles, 1 << 63))
        return self

    @property
    def cycle(self) -> int:
        """The number of the next cycle."""
        return self._core.cycle

    def inject(self, source: Numbers, destination: Numbers, flits: Numbers = 1, tag: Numbers = 0,
               cycle: Numbers = 0, traffic_class: Numbers = 0) -> int:
        """Offers packets to their sources, with ``traffic.mode = "host"``; returns how many were accepted.

        Each argument is a number or an array; single numbers hold for all packets. source, destination: terminals.
        flits: length. tag: any whole number from 0 below 2**64, which :meth:`arrivals` returns. cycle: earliest
        creation; a cycle that has passed means the next one. traffic_class: class, with several ``traffic.classes``.

        A source creates its packets of a class in the order of the calls: each one at its cycle or later, and not
        before the packet before it. With ``traffic.source_packets``, a full source refuses packets: then the packets
        before the first refused one are accepted, and that one and all after it are not. Raises ConfigError, and
        accepts none, if the network cannot carry one of them.

        >>> import flitlab as fl
        >>> net = fl.Network(fl.load("vc-mesh-8x8").with_host_traffic())
        >>> net.inject([0, 7], 63, flits=4, tag=[10, 11])
        2
        >>> net.step_to_arrival()
        True
        >>> net.arrivals()["tag"]
        array([11], dtype=uint64)
        """
        return self._core.offer(injection.columns(source, destination, flits, tag, cycle, traffic_class))

    def waiting(self, source: int, traffic_class: int | None = None) -> int:
        """Returns how many packets from :meth:`inject` wait at a source until their head leaves: packets of one class,
        or (None) of all."""
        self._check_index("terminal", source)
        if traffic_class is None:
            return self._core.waiting(source)
        if not is_whole(traffic_class) or traffic_class < 0:
            raise _core.ConfigError(f"waiting(traffic_class={shown(traffic_class)}): it must be a whole number from 0.")
        return self._core.waiting(source, min(traffic_class, 255))

    def waiting_at_all(self) -> np.ndarray:
        """Returns :meth:`waiting` for all sources, ``[terminal, class]``."""
        return self._core.waiting_at_all()

    def flits_left(self) -> np.ndarray:
        """Returns how many flits of the packet being sent each source has not sent, ``[terminal, class]``."""
        return self._core.flits_left()

    def step_to_arrival(self, limit: int | None = None) -> bool:
        """Advances the network until a packet arrives, at most to cycle ``limit``; returns whether :meth:`arrivals` has
        packets. Does nothing if it already has some, or if there is no limit (None) and no packet is on its way."""
        if limit is None:
            limit = injection.NO_LIMIT
        if not is_whole(limit) or limit < 0:
            raise _core.ConfigError(f"step_to_arrival({shown(limit)}): the limit must be a whole number from 0.")
        return self._core.step_to_arrival(min(limit, injection.NO_LIMIT))

    def arrivals(self, most: int | None = None) -> np.ndarray:
        """Takes the packets that have arrived since the last call, at most ``most``, with ``traffic.mode = "host"``.

        Returns a structured array, ordered by ``cycle``, ``destination`` and ``source``, with the fields tag, source,
        destination, flits; hops (channels between routers); and the cycles ``created`` (it entered the source queue),
        ``injected`` (its head left the source queue), ``head`` (its head arrived; 2**32 - 1 in models that do not
        record it), and ``cycle`` (its tail arrived; if packets are acknowledged, its source has checked that). Packets
        that the network drops never arrive. ``pandas.DataFrame(net.arrivals())`` makes a table.
        """
        if most is not None and (not is_whole(most) or most < 0):
            raise _core.ConfigError(f"arrivals({shown(most)}): the number of packets must be a whole number from 0.")
        return self._core.take_arrivals(min(injection.ALL if most is None else most, injection.ALL))

    @property
    def state_hash(self) -> str:
        """Hash of the whole state; equal on all engines and for any number of threads."""
        return self._core.state_hash()

    @property
    def program_ends(self) -> list[int | None]:
        """[terminal] cycle in which its program ended, None if it has not; [] without programs."""
        return [None if end == 0xFFFFFFFF else end for end in self._core.program_ends()]

    @property
    def totals(self) -> dict[str, int]:
        """Counts since cycle 0, such as packets and flits created, injected and delivered, by name; last_delivery is
        the cycle of the last delivery."""
        return self._core.totals()

    def channels(self) -> list[tuple[int, int, int]]:
        """Returns, for each channel, the router and port where it begins and the flits that it has carried since cycle
        0, modulo 2**32. In models whose packets occupy a channel for more cycles than they have flits,
        the number of occupied cycles takes the place of the flits."""
        return self._core.channels()

    def check(self) -> Network:
        """Raises RunError if the network has lost flits or cannot make progress: it is deadlocked, another unit of the
        model (such as a barrier) has stopped, or a closed loop, trace or program waits for lost packets. Returns the
        network."""
        self._core.check()
        return self

    def _check_index(self, item: str, index: int) -> None:
        """Raises ConfigError for values that cannot be passed to the core; the core checks for numbers that are too
        large."""
        if not is_whole(index) or not 0 <= index < 1 << 32:
            last = int(self.experiment.derived()[f"{item}s"]) - 1
            raise _core.ConfigError(f"{item} {shown(index)} does not exist: {item}s are numbered 0 to {last}.")

    def router(self, index: int) -> Router:
        """Returns the ports of a router with the state of their virtual channels."""
        self._check_index("router", index)
        return Router.of(index, self.cycle, self._core.router(index))

    def terminal(self, index: int) -> Terminal:
        """Returns the source queue and counts of a terminal."""
        self._check_index("terminal", index)
        return Terminal.of(index, self._core.terminal(index))

    def inspect(self, kind: str, index: int) -> Tree:
        """Returns the whole state of an item as a tree of named values with units: ``net.inspect("router", 5)``.

        kind: "router", "terminal" or another kind of the machine. Raises ConfigError, which lists the kinds.
        """
        if not is_whole(index) or not 0 <= index < 1 << 32:
            raise _core.ConfigError(f"{kind} {shown(index)} does not exist: items are numbered from 0.")
        return Tree.of(self._core.item(kind if isinstance(kind, str) else shown(kind), index))

    def links(self) -> list[tuple[int, int, int, int]]:
        """Returns, for each channel between routers, the router and port where it begins and those where it ends."""
        return self._core.links()

    def events(self) -> list[Event]:
        """Returns the events since the last call, as dictionaries. ``flitlab.columns.Event`` and the reference page
        (Columns of events) list their keys, with units and meanings.

        src and id identify a packet. In closed loops, packets with id >= 2**31 are replies. For a broadcast packet, dst
        is the last node that it visits. Events of kind "special" exist only in models with special packets: an access
        to a router's registers leaves a router. Its id is the ticket that a read request (SGET) and its answer share,
        or 0 for a write request (SPUT).

        Raises ConfigError if the network was made without ``trace``.
        """
        if not self._traced:
            raise _core.ConfigError("events(): this network keeps no events. Make it with Network(..., trace=True).")
        return self._core.events()

    def view(self, window: int | None = None, routers: Iterable[int] | None = None) -> Recorded:
        """Returns the router scope: an animated drawing of the network whose elements can be clicked for details.

        It is a widget for notebooks; ``net.view().step(200).save("demo.html")`` makes a page that replays without
        Python. Without anywidget the scope still records and saves pages, and a notebook shows a replay.

        window: cycles that are kept for replay; None: 300, fewer for networks with over 200 routers. routers: routers
        to draw; None: all, or the first 1024. A step of the view takes the network's events, so :meth:`events` returns
        an empty list afterwards; the view turns tracing on if necessary.
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
        """Writes a checkpoint. Raises ConfigError if the file cannot be written."""
        check_path(f"save({shown(path)})", path, "a checkpoint")
        self._core.save(os.fspath(path))

    def load(self, path: str | os.PathLike) -> Network:
        """Restores the state of a checkpoint and returns the network. Raises ConfigError if it has another
        configuration."""
        check_path(f"load({shown(path)})", path, "a checkpoint")
        self._core.load(os.fspath(path))
        return self

    def go_on_from(self, other: Network) -> Network:
        """Copies the state of another network of the same configuration and returns this network."""
        if not isinstance(other, Network):
            raise _core.ConfigError(f"go_on_from({shown(other)}): it must be another Network.")
        self._core.go_on_from(other._core)
        return self

    if not TYPE_CHECKING:  # so that type checkers report names that do not exist

        def __getattr__(self, name: str):
            """Raises AttributeError, which lists the console's operations because some of them were methods here."""
            text = f"'Network' object has no attribute {name!r}"
            # ``console`` is missing if the constructor failed, and must not be looked up again.
            if not name.startswith("_") and name != "console":
                offered = ", ".join(o.name for o in self.console.operations())
                text += f". Operations of this machine are in its console: {offered or 'it has none'}"
                if offered:
                    text += f" (net.console, or the class for it in flitlab.{self.experiment['router.kind']})"
            raise AttributeError(text + ".")

    def __repr__(self) -> str:
        t = self.totals
        return (f"<Network {self.experiment.name} at cycle {self.cycle}: {t['packets_created']} packets created, "
                f"{t['packets_delivered']} delivered>")
