"""``flitlab trace``: the events of a range of cycles in a file for viewers and scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, BinaryIO, Protocol, TextIO

from flitlab import machines
from flitlab._core import END_OF_TIME, ConfigError
from flitlab.experiment import Experiment
from flitlab.network import FIRST_REPLY, Network, packet_name
from flitlab.perfetto import Lanes, Writer


def parse_window(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not colon or not is_number(first) or not is_number(last) or not int(first) < int(last) <= END_OF_TIME:
        raise ConfigError(f"--cycles {text}: it must be A:B with A < B, the first cycle and the cycle after the last, "
                          f"which can be {END_OF_TIME} at most.")
    return int(first), int(last)


def is_number(text: str) -> bool:
    """Returns whether ``int`` can read a text of digits; it fails for thousands of them."""
    return text.isascii() and text.isdigit() and len(text) < 20


def parse_routers(text: str | None, routers: int) -> set[int] | None:
    if text is None:
        return None
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not is_number(first) or (dash and not is_number(last)) or not (
                int(first) <= int(last or first) < routers):
            raise ConfigError(f"--routers {text}: it must be a list such as 0,5,9-12 of routers 0 to {routers - 1}.")
        chosen.update(range(int(first), int(last or first) + 1))
    return chosen


class Watch(Protocol):
    """Events of a machine that its engine does not write: optional class ``Watch`` of the machine's module ``trace``
    (flitlab/machines.py). The stream has its events beside the events of packets."""

    def __init__(self, network: Network, routers: list[int]): ...
    def variables(self, router: int) -> list[tuple[int, str]]:
        """Returns width in bits and name of each VCD variable of a router."""
        ...
    def events(self) -> list[dict]:
        """Returns the events of the network's present cycle, called before the network advances. An event has cycle,
        kind, item "router", index, and columns of its own, but no id."""
        ...
    def variable(self, event: dict) -> tuple[str, int]:
        """Returns the VCD variable that one of these events changes, and its value."""
        ...
    def span(self, event: dict) -> tuple[int, str, str, dict[str, Any]] | None:
        """Returns the span that one of these events begins for Perfetto: number and name of its track, name of the span
        ("" for none), and its arguments. The track's next event ends the span. None: the event has no span."""
        ...


class Stream:
    """The events of cycles first to last - 1 at the chosen routers and their terminals, in order of cycles. Each format
    of a trace is a function that writes a stream. routers: None for all."""

    def __init__(self, experiment: Experiment, first: int, last: int, routers: set[int] | None = None):
        self.experiment, self.first, self.last, self.routers = experiment, first, last, routers
        derived = experiment.derived()
        self.per_router = max(1, int(derived["terminals"] / derived["routers"]))
        self.terminals = [t for t in range(int(derived["terminals"])) if self.has(t // self.per_router)]
        self.chosen = [r for r in range(int(derived["routers"])) if self.has(r)]
        self.network = Network(experiment, trace=True)
        self.vcs, self.ports = int(derived.get("vcs", 0)), int(derived.get("ports", 0))
        for router in [] if self.vcs and self.ports else self.chosen:  # not all models derive both numbers
            ports = self.network.router(router).ports
            self.vcs = max([self.vcs, *(len(port.vcs) for port in ports)])
            self.ports = max(self.ports, len(ports))
        module = machines.part(experiment["router.kind"], "trace")
        self.watch: Watch | None = module.Watch(self.network, self.chosen) if module else None

    def has(self, router: int) -> bool:
        return self.routers is None or router in self.routers

    def __iter__(self) -> Iterator[dict]:
        network = self.network
        if self.first:  # run up to the window without tracing, which is faster
            network.go_on_from(Network(self.experiment).step(self.first))
        while network.cycle < self.last:
            if self.watch:
                yield from self.watch.events()
            network.step(1 if self.watch else min(64, self.last - network.cycle))
            for event in network.events():
                at_terminal = event["item"] == "terminal"
                if self.has(event["index"] // self.per_router if at_terminal else event["index"]):
                    yield dict(event)

    def variables(self, router: int) -> list[tuple[int, str]]:
        """Returns width in bits and name of each VCD variable of a router."""
        if self.watch:
            return self.watch.variables(router)
        return [(16, f"out{port}_sends") for port in range(self.ports)] + [
            (64, f"in{port}_vc{vc}_packet") for port in range(self.ports) for vc in range(self.vcs)]


def write_trace(experiment: Experiment, cycles: str, form: str, out: str, routers: str | None = None) -> int:
    """Writes a trace file and returns the number of events. Raises ConfigError."""
    first, last = parse_window(cycles)
    chosen = parse_routers(routers, int(experiment.derived()["routers"]))
    stream = Stream(experiment, first, last, chosen)
    try:
        if form == "pftrace":
            with open(out, "wb") as binary:
                return write_pftrace(binary, stream)
        with open(out, "w", encoding="utf-8") as file:
            return {"jsonl": write_jsonl, "perfetto": write_perfetto, "vcd": write_vcd}[form](file, stream)
    except OSError as error:
        raise ConfigError(f"--out {out} cannot be written: {error.strerror}.") from None


def write_jsonl(file: TextIO, stream: Stream) -> int:
    """Writes one JSON object per line and event. Its ``reply`` states whether the packet is a closed loop's reply."""
    count = 0
    for event in stream:
        count += 1
        file.write(json.dumps(event | {"reply": event.get("id", 0) >= FIRST_REPLY}) + "\n")
    return count


class Sink(Protocol):
    """Where the spans of a trace are written: slices of tracks, and instants of terminals."""

    def begin(self, key: Any, cycle: int, router: int, track: int, track_name: str, name: str, category: str,
              args: dict[str, Any]) -> None:
        """Begins a span on a track of a router. key: identifies the span until its end."""
        ...
    def end(self, key: Any, cycle: int, args: dict[str, Any]) -> None:
        """Ends a span, if it has begun, and adds to its arguments."""
        ...
    def has(self, key: Any) -> bool:
        """Returns whether a span has begun and not ended."""
        ...
    def instant(self, terminal: int, cycle: int, name: str, args: dict[str, Any]) -> None: ...
    def close(self, cycle: int) -> None:
        """Ends all spans; packets' spans get the argument ``unfinished``."""
        ...


def write_spans(stream: Stream, sink: Sink) -> int:
    """Writes a span per packet and input VC, from the arrival of its head to the departure of its tail, named
    source#number, or source#rnumber for replies. Events of terminals are instants; packet creations have destination
    and length. A machine's own events have spans and tracks of their own."""
    count = 0
    for e in stream:
        count += 1
        if "id" not in e:
            if stream.watch and (span := stream.watch.span(e)):
                track, track_name, name, args = span
                of_router = e["index"], track
                sink.end(of_router, e["cycle"], {})
                if name:
                    sink.begin(of_router, e["cycle"], e["index"], track, track_name, name, e["kind"], args)
            continue
        name = packet_name(e["src"], e["id"])
        if e["item"] == "terminal":
            to = {"dst": e["dst"], "flits": e["flits"]} if e["kind"] == "created" else {}
            sink.instant(e["index"], e["cycle"], f"{e['kind']} {name}", to)
            continue
        key = e["index"], e["port"], e["vc"], e["src"], e["id"]
        packet = (e["index"], e["port"] * stream.vcs + e["vc"], f"port {e['port']} VC {e['vc']}", name, PACKET,
                  {"flits": e["flits"]})
        if e["kind"] == "arrived":
            sink.begin(key, e["cycle"], *packet)
        elif e["kind"] == "switch_granted" and "tail" in e["flit"]:
            if not sink.has(key):  # its head arrived before the first cycle
                sink.begin(key, stream.first, *packet)
            sink.end(key, e["cycle"] + 1, {"out_port": e["out_port"], "out_vc": e["out_vc"]})
    sink.close(stream.last)
    return count


PACKET = "packet"  # category of packets' spans
TERMINALS = 1_000_000  # process of the terminals


class ChromeSpans:
    """Spans in Chrome's trace format: a process per router, a track per input VC. A span is written when it ends."""

    def __init__(self) -> None:
        self.events: list[dict] = []
        self.tracks: dict[tuple[int, int], str] = {}
        self._open: dict[Any, dict] = {}

    def begin(self, key: Any, cycle: int, router: int, track: int, track_name: str, name: str, category: str,
              args: dict[str, Any]) -> None:
        self.tracks[router, track] = track_name
        self._open[key] = {"ph": "X", "ts": cycle, "name": name, "cat": category, "pid": router, "tid": track,
                           "args": args}

    def end(self, key: Any, cycle: int, args: dict[str, Any]) -> None:
        if span := self._open.pop(key, None):
            self.events.append(span | {"dur": cycle - span["ts"], "args": span["args"] | args})

    def has(self, key: Any) -> bool:
        return key in self._open

    def instant(self, terminal: int, cycle: int, name: str, args: dict[str, Any]) -> None:
        instant = {"name": name, "ph": "i", "s": "t", "ts": cycle, "pid": TERMINALS, "tid": terminal}
        self.events.append(instant | ({"args": args} if args else {}))

    def close(self, cycle: int) -> None:
        for key, span in list(self._open.items()):
            self.end(key, cycle, {"unfinished": True} if span["cat"] == PACKET else {})


def write_perfetto(file: TextIO, stream: Stream) -> int:
    """Writes Chrome's trace format, JSON (ui.perfetto.dev). One microsecond on screen is one cycle."""
    spans = ChromeSpans()
    count = write_spans(stream, spans)
    routers = sorted({pid for pid, _ in spans.tracks})
    named: list[tuple[int, int | None, str]] = [(pid, None, f"router {pid}") for pid in routers]
    named += [(pid, tid, name) for (pid, tid), name in sorted(spans.tracks.items())]
    for pid, tid, name in [*named, (TERMINALS, None, "terminals")]:
        spans.events.append({"name": "process_name" if tid is None else "thread_name", "ph": "M", "pid": pid}
                            | ({} if tid is None else {"tid": tid}) | {"args": {"name": name}})
    json.dump({"displayTimeUnit": "ms", "traceEvents": spans.events}, file)
    return count


class PerfettoSpans:
    """Spans in Perfetto's own format, written as they come: a group per router, a track per input VC, and a track per
    terminal."""

    def __init__(self, file: BinaryIO, routers: list[int]):
        self._writer = Writer(file)
        network = self._writer.group("network")
        # Routers are defined before their first events, so that the viewer lists them in the order of their numbers.
        self._groups = {router: self._writer.group(f"router {router}", network) for router in routers}
        self._terminals = self._writer.group("terminals")
        self._tracks: dict[tuple[int, int], Lanes] = {}
        self._of_terminal: dict[int, int] = {}
        self._open: dict[Any, tuple[Lanes, int, str]] = {}

    def begin(self, key: Any, cycle: int, router: int, track: int, track_name: str, name: str, category: str,
              args: dict[str, Any]) -> None:
        if (router, track) not in self._tracks:
            self._tracks[router, track] = Lanes(self._writer, track_name, self._groups[router], track)
        lanes = self._tracks[router, track]
        self._open[key] = lanes, lanes.begin(cycle, name, category, args), category

    def end(self, key: Any, cycle: int, args: dict[str, Any]) -> None:
        if key in self._open:
            lanes, lane, _ = self._open.pop(key)
            lanes.end(lane, cycle, args)

    def has(self, key: Any) -> bool:
        return key in self._open

    def instant(self, terminal: int, cycle: int, name: str, args: dict[str, Any]) -> None:
        if terminal not in self._of_terminal:
            self._of_terminal[terminal] = self._writer.track(f"terminal {terminal}", self._terminals, terminal)
        self._writer.instant(self._of_terminal[terminal], cycle, name, args=args)

    def close(self, cycle: int) -> None:
        for key, (_, _, category) in list(self._open.items()):
            self.end(key, cycle, {"unfinished": True} if category == PACKET else {})


def write_pftrace(file: BinaryIO, stream: Stream) -> int:
    """Writes Perfetto's own format (ui.perfetto.dev). One nanosecond on screen is one cycle."""
    return write_spans(stream, PerfettoSpans(file, stream.chosen))


def vcd_name(number: int) -> str:
    """Returns a short identifier of printable characters for a number."""
    name = ""
    while True:
        name += chr(33 + number % 94)
        number //= 94
        if not number:
            return name


def _vcd_change(stream: Stream, event: dict) -> tuple[str, int]:
    """Returns the variable that an event changes, and its value; "" for none."""
    kind = event["kind"]
    if stream.watch and "id" not in event:
        return stream.watch.variable(event)
    if kind == "switch_granted":
        return f"out{event['out_port']}_sends", event["port"] << 8 | event["vc"]
    if kind == "created":
        return f"terminal{event['index']}_created", event["dst"] << 32 | event["id"]
    if kind == "arrived":
        return f"in{event['port']}_vc{event['vc']}_packet", event["src"] << 32 | event["id"]
    return "", 0


def write_vcd(file: TextIO, stream: Stream) -> int:
    """Writes a value change dump (GTKWave). Variables: for each output port, the input port and VC that sends, for one
    cycle; for each input VC, the packet whose head arrived last, as source and number (32 bits each; the top bit of the
    number is set for closed-loop replies); for each terminal, the packet that it created last, as destination and
    number. A machine with its own events has its own variables in place of the variables of ports.

    Events are written as they come, in order of cycles, so all variables are declared first, including variables of
    ports without a channel."""
    names: dict[tuple[str, int, str], str] = {}

    def declare(scope: str, variables: Iterable[tuple[str, int, int, str]]) -> None:
        file.write(f"$scope module {scope} $end\n")
        for item, index, width, variable in variables:
            names[item, index, variable] = vcd_name(len(names))
            file.write(f"$var wire {width} {names[item, index, variable]} {variable} $end\n")
        file.write("$upscope $end\n")

    file.write("$timescale 1 ns $end\n$comment one ns is one cycle $end\n")
    for router in stream.chosen:
        declare(f"router_{router}", (("router", router, width, name) for width, name in stream.variables(router)))
    declare("terminals", (("terminal", t, 64, f"terminal{t}_created") for t in stream.terminals))
    file.write(f"$enddefinitions $end\n#{stream.first}\n$dumpvars\n")
    file.writelines(f"bx {name}\n" for name in names.values())
    file.write("$end\n")

    def write(cycle: int, changes: dict[str, str]) -> None:
        if changes:
            file.write(f"#{cycle}\n")
            file.writelines(f"b{value} {name}\n" for name, value in sorted(changes.items()))

    count = 0
    last = stream.first
    sent: set[str] = set()  # variables set in cycle `last`, to be cleared in the next cycle
    for cycle, together in groupby(stream, key=lambda e: e["cycle"]):
        changes = dict.fromkeys(sent, "x")
        if cycle > last + 1:
            write(last + 1, changes)
            changes = {}
        last, sent = cycle, set()
        for e in together:
            count += 1
            variable, value = _vcd_change(stream, e)
            if name := names.get((e["item"], e["index"], variable)):
                changes[name] = format(value, "b")
                if e["kind"] == "switch_granted":
                    sent.add(name)
        write(cycle, changes)
    write(last + 1, dict.fromkeys(sent, "x"))
    file.write(f"#{stream.last}\n")
    return count
