"""A program's run as a time line: what each rank does in each cycle, where time goes, and the critical path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitlab import _core
from flitlab._core import ConfigError, RunError
from flitlab.arguments import check_path, check_truth, shown, writing
from flitlab.channel_times import ChannelCounter, ChannelTimes
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.inspection import named
from flitlab.network import Network
from flitlab.perfetto import Writer
from flitlab.picture import Picture, one_axes
from flitlab.program_times import KINDS, Interval, Message, Place, Replay, critical_path
from flitlab.styles import NARROW

if TYPE_CHECKING:
    import pandas as pd

MOST_DRAWN = 1024  # ranks in a drawing; more would be less than a pixel each
ENDINGS = (".pftrace", ".perfetto-trace")
_CYCLES = (64, 65536)  # fewest and most cycles between two reads of the events
_FIRST_MATCHED = 2  # of the state's program_match: the receive has message 0 (kernels/traffic/matching.hpp)
_EVENTS = 20_000  # the number of events of a read at which flitlab reads more often
_NUMBERS = ["peer", "message", "bytes", "call"]  # columns that may be missing
_COLOURS = {"compute": "#0072B2", "send": "#009E73", "receive": "#56B4E9", "message": "#E69F00", "after": "#F0E442",
            "processor": "#D55E00", "interface": "#CC79A7", "done": "#E0E0E0"}
_LABELS = {"compute": "computes", "send": "prepares a message", "receive": "takes a message",
           "message": "waits for a message", "after": "waits for a notify", "processor": "waits for its processor",
           "interface": "waits for the network interface", "done": "has ended"}


class Timeline:
    """What the ranks of a program do in each cycle: ``timeline.frame``, ``timeline.where()``,
    ``timeline.critical_path()``, ``timeline.plot()``. ``timeline.save("program.pftrace")`` writes a file for
    https://ui.perfetto.dev.

    cycles: length of the run, the cycle in which the last rank's program ended. ranks: number of ranks. terminals:
    [rank] the terminal on which it runs.
    """

    def __init__(self, replay: Replay, name: str = "program", channels: ChannelTimes | None = None):
        self.name = name
        self._channels = channels
        self._intervals = replay.run()
        self._replay = replay
        self.ranks = len(self._intervals)
        self.terminals = [place.terminal for place in replay.places]
        self.cycles = max(replay.ends)

    @property
    def frame(self) -> pd.DataFrame:
        """pandas.DataFrame with a row for each interval of a rank, in order of ranks and cycles: rank; begin, end
        (first cycle, and the cycle after the last), cycles; what; peer, message and bytes of the message that is sent,
        received or waited for; call (number in ``Program.calls()[rank]``). message is the message's number among those
        that its receiver receives. The intervals of a rank have no gaps.

        what: "compute"; "send" and "receive", the processor's time for a message (``traffic.send_overhead`` and
        ``traffic.recv_overhead``); "message", the rank waits for a message from ``peer``; "after", it waits for a
        notify of rank ``peer``; "processor", it waits for a processor that it shares, and that rank ``peer`` used until
        the end of the wait; "interface", it waits until the network interface has accepted its packets; "done", the
        rank's program has ended and others have not.
        """
        return _frame(interval for own in self._intervals for interval in own)

    @property
    def messages(self) -> pd.DataFrame:
        """pandas.DataFrame with a row for each message: source, destination, message (number at the destination),
        bytes, packets, call (number of the sender's call), and the cycles in which the sender's processor has handed it
        over (``ready``), its first and its last packet have been accepted by the network interface (``first``,
        ``passed``), the receiver could receive it (``available``) and did (``received``). A message between ranks of a
        terminal has 0 packets, and ``first``, ``passed`` and ``available`` are ``ready``."""
        import pandas as pd

        return pd.DataFrame([vars(m) for m in self._messages()], columns=[
            "source", "destination", "message", "bytes", "packets", "call", "ready", "first", "passed", "available",
            "received"])

    def _messages(self) -> list[Message]:
        return [m for m in self._replay.messages.values() if not m.is_notify]

    @property
    def calls(self) -> pd.DataFrame:
        """pandas.DataFrame with a row for each call of ``Program.calls()``: rank, call (its number), name, peer,
        amount, slot, and the cycle in which the rank made it."""
        import pandas as pd

        rows = [(rank, number, *call, made) for rank, own in enumerate(self._replay.calls)
                for number, (call, made) in enumerate(zip(own, self._replay.made[rank], strict=True))]
        return pd.DataFrame(rows, columns=["rank", "call", "name", "peer", "amount", "slot", "cycle"])

    @property
    def channels(self) -> ChannelTimes:
        """Use of each channel between routers in each interval (:class:`flitlab.channel_times.ChannelTimes`). Raises
        ConfigError if ``timeline`` got no interval."""
        if self._channels is None:
            raise ConfigError("timeline.channels: channels were not recorded. Use timeline(..., interval=100), with "
                              "the cycles of an interval.")
        return self._channels

    def where(self) -> pd.DataFrame:
        """Returns where the time goes: pandas.DataFrame with a row for each rank and a column for each kind of interval
        (``frame``), cycles. Each row sums to ``cycles``."""
        import pandas as pd

        spent = [dict.fromkeys(KINDS, 0) for _ in range(self.ranks)]
        for own in self._intervals:
            for interval in own:
                spent[interval.rank][interval.what] += interval.end - interval.begin
        return pd.DataFrame(spent, columns=list(KINDS), index=pd.RangeIndex(self.ranks, name="rank"))

    def critical_path(self) -> pd.DataFrame:
        """Returns the chain of work and messages that determines the length of the run: pandas.DataFrame with the
        columns of ``frame``, from cycle 0 to ``cycles`` without gaps.

        The path ends with the rank that ends last (the first of them if there are several). Where a rank waited for a
        message, the path follows the message back to its sender. Its rows then are "interface", from the sender's
        hand-over until the network interface has accepted the last packet, and "network", from there until the receiver
        could receive the message; rank is the sender and peer the receiver. Where a rank waited for a notify or for a
        processor, the path follows the rank that notified it or used the processor. Other rows are intervals of
        ``frame``.
        ``path.groupby("what")["cycles"].sum()`` shows what would have to become faster."""
        return _frame(self._path())

    def _path(self) -> list[Interval]:
        return critical_path(self._intervals, self._replay.received)

    def plot(self, axes: Any = None, path: bool = True) -> Picture:
        """Draws a bar for each rank, coloured by what it does. path: with the critical path as a line, whose steps from
        rank to rank are messages. Returns a picture of one panel. Raises ConfigError if there are more than 1024
        ranks."""
        if self.ranks > MOST_DRAWN:
            raise ConfigError(f"timeline.plot(): {self.ranks} ranks; at most {MOST_DRAWN} can be drawn. The table "
                              "timeline.frame has all of them.")
        check_truth("path", path)
        import matplotlib.pyplot as plt
        import numpy as np
        from matplotlib.collections import PolyCollection
        from matplotlib.patheffects import withStroke
        from matplotlib.ticker import MaxNLocator

        width = plt.rcParams["figure.figsize"][0]
        width = width if width < NARROW else 8
        if axes is None:
            height = min(8.0, max(2.4, 1.6 + 0.12 * self.ranks))
            axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
        axes = one_axes("timeline.plot", axes)
        for what in KINDS:
            drawn = [(i.rank, i.begin, i.end) for own in self._intervals for i in own if i.what == what]
            if drawn:
                rank, begin, end = np.array(drawn, dtype=float).T
                left, right, low, high = begin, end, rank - 0.4, rank + 0.4
                corners = np.stack([left, low, right, low, right, high, left, high], axis=1).reshape(-1, 4, 2)
                axes.add_collection(PolyCollection(corners, facecolor=_COLOURS[what], edgecolor="none",
                                                   label=_LABELS[what]))
        if path and (steps := self._path()):
            points = [(cycle, rank) for step in steps for cycle, rank in (
                (step.begin, step.rank), (step.end, step.peer if step.what == "network" else step.rank))]
            axes.plot(*zip(*points, strict=True), color="black", linewidth=1, marker="", linestyle="-",
                      label="critical path", path_effects=[withStroke(linewidth=2.5, foreground="white")])
        axes.set(xlabel="time (cycles)", ylabel="rank", xlim=(0, max(1, self.cycles)), ylim=(self.ranks - 0.4, -0.6))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=16, integer=True))
        axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", frameon=False,
                           ncols=3 if width >= NARROW else 2)
        return Picture([axes], ["time line"])

    def save(self, path: str | os.PathLike) -> None:
        """Writes a file for https://ui.perfetto.dev; its name ends in .pftrace or .perfetto-trace. It has a track for
        each rank, arrows from the hand-over of each message to its reception and from each notify to its ``after``, a
        track for the critical path, and a counter of messages that have been handed over and not received. If channels
        were recorded, it has a counter for each channel that was used: its flits in each interval. One nanosecond on
        screen is one cycle. Raises ConfigError if the file cannot be written."""
        check_path(f"timeline.save({shown(path)})", path, "a file that ends in .pftrace")
        if Path(path).suffix not in ENDINGS:
            raise ConfigError(f"timeline.save({shown(path)}): the name must end in {' or '.join(ENDINGS)}. For a "
                              "table, use timeline.frame.to_csv.")
        with writing("timeline.save", path), open(path, "wb") as file:
            self._write(Writer(file))

    def _write(self, writer: Writer) -> None:
        group = writer.group(self.name)
        longest = writer.track("critical path", group)
        under_way = writer.counter("messages on their way", "messages", group)
        several = len(set(self.terminals)) < self.ranks
        tracks = [writer.track(f"rank {rank}" + several * f" (terminal {terminal})", group)
                  for rank, terminal in enumerate(self.terminals)]
        for interval in self._path():
            _slice(writer, longest, interval, f"rank {interval.rank}: ")
        for own in self._intervals:
            for interval in own:
                if interval.what != "done":
                    _slice(writer, tracks[interval.rank], interval)
        changes: dict[int, int] = {}
        for number, m in enumerate(self._replay.messages.values(), 1):
            args = {} if m.is_notify else {"message": m.message, "bytes": m.bytes, "packets": m.packets}
            what = "notify " if m.is_notify else ""
            writer.instant(tracks[m.source], m.ready, f"{what}to rank {m.destination}", "sent", args, flow=number,
                           shared=True)
            writer.instant(tracks[m.receiver], m.received, f"{what}from rank {m.source}", "received", args,
                           flow=number, last=True, shared=True)
            if m.is_notify:
                continue
            changes[m.ready] = changes.get(m.ready, 0) + 1
            changes[m.received] = changes.get(m.received, 0) - 1
        count = 0
        for cycle in sorted(changes):
            count += changes[cycle]
            writer.count(under_way, cycle, count)
        if self._channels is not None:
            _write_channels(writer, self._channels)

    def __repr__(self) -> str:
        spent, path = self.where().sum(), self.critical_path()
        return (f"{self.name}: {self.ranks} ranks, {len(self._messages())} messages, {self.cycles} cycles\n"
                f"all ranks: {_shares(spent.to_dict())}\n"
                f"critical path: {_shares(path.groupby('what')['cycles'].sum().to_dict())}")


def _shares(spent: dict[str, int]) -> str:
    total = sum(spent.values()) or 1
    order = sorted((what for what in spent if spent[what]), key=lambda what: -spent[what])
    return ", ".join(f"{what} {100 * spent[what] / total:.1f} %" for what in order) or "nothing"


def _frame(intervals: Iterable[Interval]) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(list(intervals), columns=Interval._fields)
    table.insert(3, "cycles", table["end"] - table["begin"])
    for name in _NUMBERS:
        table[name] = table[name].astype("Int64").mask(table[name] < 0)
    return table


def _slice(writer: Writer, track: int, interval: Interval, prefix: str = "") -> None:
    peer = {"send": " to {}", "receive": " from {}", "message": " from {}", "after": " notify of {}",
            "processor": " of {}", "interface": " to {}", "network": " to {}"}
    name = prefix + interval.what + (peer[interval.what].format(interval.peer) if interval.peer >= 0 else "")
    args = {key: getattr(interval, key) for key in _NUMBERS if getattr(interval, key) >= 0}
    writer.begin(track, interval.begin, name, interval.what, args, shared=True)
    writer.end(track, interval.end)


def _write_channels(writer: Writer, channels: ChannelTimes) -> None:
    group = writer.group("channels")
    for channel in channels.flits.any(axis=0).nonzero()[0]:
        router, port, to_router, _ = channels.links[channel].tolist()
        track = writer.counter(f"router {router} port {port} to router {to_router}", "flits", group)
        for cycle, flits in zip(channels.bounds.tolist(), [*channels.flits[:, channel].tolist(), 0], strict=True):
            writer.count(track, cycle, flits)


def timeline(experiment: Given, progress: bool = True, interval: int | None = None) -> Timeline:
    """Runs a program (``traffic.mode = "program"``) and returns what each rank does in each cycle.

    The program runs twice: as in :func:`flitlab.run`, and with a record of each packet. From the record, flitlab
    computes the cycle of each call exactly. The second run uses one core.

    experiment: as in :func:`flitlab.run`. progress: a bar on stderr if the run takes longer than a second. interval:
    also count the flits of each channel between routers in intervals of so many cycles, for ``Timeline.channels``.
    Raises ConfigError (bad input) or RunError (deadlock, lost packets).

    >>> import flitlab as fl
    >>> program = fl.Program(2)
    >>> program[0].compute(100)
    >>> program[0].send(1, 4000)
    >>> program[1].recv(0)
    >>> line = fl.timeline({"topology.kind": "ring", "topology.shape": [4], "traffic.mode": "program",
    ...                     "traffic.program_file": program})
    >>> int(line.where()["message"][1]) == line.cycles
    True
    """
    from flitlab.runner import run

    check_truth("progress", progress)
    experiment = experiment_of(experiment)
    if experiment["traffic.mode"] != "program":
        raise ConfigError(f'timeline(): traffic.mode = "{experiment["traffic.mode"]}" has no ranks; set it to '
                          '"program" and traffic.program_file to a program.')
    cycles = int(run(experiment, progress=progress).model["program_cycles"])
    terminals = int(experiment.derived()["terminals"])
    text, name = experiment.program_text()
    calls = _core.program_calls(text, name, terminals)
    ranks = _ranks(text, terminals)
    replay = Replay(calls[:ranks], *(experiment[f"traffic.{key}"] for key in (
        "payload_bytes", "send_overhead", "recv_overhead")), _places(text, ranks), _threads(text))
    ends, channels = _record(experiment, replay, cycles, progress, interval)
    line = Timeline(replay, name, channels)
    if replay.ends != ends or line.cycles != cycles:
        raise RunError("timeline(): the replay of the program ends in other cycles than the run. This is an error of "
                       "flitlab; please report it.")
    return line


def _ranks(text: bytes, terminals: int) -> int:
    """Returns the number of ranks of a file of calls, which has passed the reader's checks."""
    for line in text.splitlines():
        if line.strip() and not line.startswith(b"#"):
            first, _, number = line.partition(b",")
            return int(number) if first.strip() == b"ranks" else terminals
    return terminals


def _places(text: bytes, ranks: int) -> list[Place]:
    """Returns [rank] the places of a file of calls, which has passed the reader's checks."""
    places = [Place(rank) for rank in range(ranks)]
    for line in text.splitlines():
        first, *fields = line.split(b",")
        if first.strip() == b"place":
            rank, terminal, *processor = map(int, fields)
            places[rank] = Place(terminal, *processor)
    return places


def _threads(text: bytes) -> dict[int, int]:
    """Returns thread -> its rank, from a file of calls that has passed the reader's checks."""
    rows = [line.split(b",") for line in text.splitlines()]
    return {int(row[1]): int(row[2]) for row in rows if row[0].strip() == b"thread"}


def _record(experiment: Experiment, replay: Replay, cycles: int, progress: bool,
            interval: int | None) -> tuple[list[int | None], ChannelTimes | None]:
    """Runs the program and gives the replay the packets' creations and the messages' arrivals. Returns the end of each
    rank's program, and the use of the channels if there is an interval."""
    from tqdm.auto import tqdm

    network = Network(experiment, trace=True)
    core, arrived = network._core, {}
    # With a queue of packets, a receiver keeps the arrival of each message's latest packet, and can take the message in
    # the next cycle. Without, a packet has its message's number, and its arrival is the cycle.
    has_queue = "program_latest" in named(core.item("terminal", 0))
    counter = None if interval is None else ChannelCounter(network, interval, cycles)
    with tqdm(total=cycles, unit="cycle", unit_scale=True, delay=1, disable=not progress) as bar:
        step = _CYCLES[0]
        while core.cycle <= cycles:
            left = cycles + 1 - core.cycle
            network.step(min(step, left, counter.left() if counter else left))
            bar.update(min(core.cycle, cycles) - bar.n)
            events = core.packet_events()
            for kind, cycle, source, number, terminal, _, _ in events:
                if kind == "created" and has_queue:
                    replay.packet_created(source, number, cycle)
                elif kind == "created":
                    replay.packet_to_created(terminal, number, cycle)
                elif kind == "delivered":
                    arrived[terminal, number] = cycle
            step = max(_CYCLES[0], step // 2) if len(events) > _EVENTS else min(_CYCLES[1], step * 2)
    items: dict[int, dict[str, Any]] = {}

    def at_terminal(terminal: int, field: str) -> list[int]:
        if terminal not in items:
            items[terminal] = named(core.item("terminal", terminal))
        return _listed(items[terminal][field])

    for terminal, receive in replay.receives:
        if (match := at_terminal(terminal, "program_match")[receive]) >= _FIRST_MATCHED:
            replay.match(terminal, receive, match - _FIRST_MATCHED)
    before: dict[tuple[int, int], int] = {}  # (source, mailbox) -> arrival of the latest message
    for (terminal, slot), message in sorted(replay.arriving.items()):
        if not message.packets:
            continue  # from a rank of the same terminal
        message.available = (at_terminal(terminal, "program_latest")[slot] + 1 if has_queue
                             else arrived[terminal, slot])
        # Messages of a rank arrive in the order in which they left; the state's latest arrivals take account of that.
        if message.in_run and not has_queue:
            pair = message.source, message.destination
            before[pair] = message.available = max(message.available, before.get(pair, 0))
    return _ends(network, replay), counter.times() if counter else None


def _ends(network: Network, replay: Replay) -> list[int | None]:
    """Returns [rank] the cycle in which its program ended, None if it has not."""
    of_terminals = network.program_ends
    ends: list[int | None] = [None] * len(replay.calls)
    for terminal, ranks in replay.terminals.items():
        if len(ranks) == 1:
            ends[ranks[0]] = of_terminals[terminal]
            continue
        parts = network._core.item("terminal", terminal)["parts"]
        states = [named(part) for part in parts if part["kind"] == "program"]
        for rank, state in zip(ranks, states, strict=False):  # terminals with fewer ranks have states without calls
            ends[rank] = state["finished"] if state["done"] else None
    return ends


def _listed(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]
