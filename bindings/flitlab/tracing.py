"""``flitlab trace``: the events of a range of cycles in a file for viewers and scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TextIO

from flitlab import machines
from flitlab._core import END_OF_TIME, ConfigError
from flitlab.experiment import Experiment
from flitlab.network import FIRST_REPLY, Network, packet_name


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


def terminals_per_router(experiment: Experiment) -> int:
    derived = experiment.derived()
    return max(1, int(derived["terminals"] / derived["routers"]))


def trace_events(experiment: Experiment, first: int, last: int, routers: set[int] | None = None) -> Iterator[dict]:
    """Yields the events of cycles first to last - 1 at the chosen routers and their terminals, in order of cycles."""
    per_router = terminals_per_router(experiment)
    traced = Network(experiment, trace=True)
    if first:  # run up to the window without tracing, which is faster
        traced.go_on_from(Network(experiment).step(first))
    while traced.cycle < last:
        traced.step(min(64, last - traced.cycle))
        for event in traced.events():
            router = event["index"] // per_router if event["item"] == "terminal" else event["index"]
            if routers is None or router in routers:
                yield event


def write_trace(experiment: Experiment, cycles: str, form: str, out: str, routers: str | None = None) -> int:
    """Writes a trace file and returns the number of events. Raises ConfigError."""
    first, last = parse_window(cycles)
    chosen = parse_routers(routers, int(experiment.derived()["routers"]))
    writer = {"jsonl": write_jsonl, "perfetto": write_perfetto, "vcd": write_vcd}[form]
    try:
        with open(out, "w", encoding="utf-8") as file:
            own = machines.part(experiment["router.kind"], "trace")
            if own and form in own.WRITERS:
                return own.WRITERS[form](file, experiment, (first, last), chosen)
            return writer(file, experiment, trace_events(experiment, first, last, chosen), (first, last), chosen)
    except OSError as error:
        raise ConfigError(f"--out {out} cannot be written: {error.strerror}.") from None


def write_jsonl(file: TextIO, experiment: Experiment, events: Iterable[dict], window: tuple[int, int],
                routers: set[int] | None = None) -> int:
    """Writes one JSON object per line and event. Its ``reply`` tells whether the packet is a closed loop's reply."""
    count = 0
    for event in events:
        file.write(json.dumps(event | {"reply": event["id"] >= FIRST_REPLY}) + "\n")
        count += 1
    return count


def write_perfetto(file: TextIO, experiment: Experiment, events: Iterable[dict], window: tuple[int, int],
                   routers: set[int] | None = None) -> int:
    """Writes Chrome trace format (ui.perfetto.dev): a process per router, a track per input VC, a span per packet from
    the arrival of its head to the departure of its tail, named source#number, or source#rnumber for replies. Events of
    packet creation have destination and length. One microsecond on screen is one cycle."""
    spans: list[dict] = []
    open_at: dict[tuple, tuple[int, int]] = {}
    tracks: set[tuple[int, int]] = set()
    count = 0
    vcs = int(experiment.derived()["vcs"])
    for e in events:
        count += 1
        name = packet_name(e["src"], e["id"])
        if e["item"] == "terminal":
            instant = {"name": f"{e['kind']} {name}", "ph": "i", "s": "t", "ts": e["cycle"], "pid": 1_000_000,
                       "tid": e["index"]}
            to = {"args": {"dst": e["dst"], "flits": e["flits"]}} if e["kind"] == "created" else {}
            spans.append(instant | to)
            continue
        key = (e["index"], e["port"], e["vc"], e["src"], e["id"])
        track = e["port"] * vcs + e["vc"]
        tracks.add((e["index"], track))
        if e["kind"] == "arrived":
            open_at[key] = (e["cycle"], e["flits"])
        elif e["kind"] == "switch_granted" and "tail" in e["flit"]:
            begin, flits = open_at.pop(key, (window[0], e["flits"]))
            spans.append({"name": name, "cat": "packet", "ph": "X", "ts": begin, "dur": e["cycle"] + 1 - begin,
                          "pid": e["index"], "tid": track,
                          "args": {"flits": flits, "out_port": e["out_port"], "out_vc": e["out_vc"]}})
    for (router, port, vc, src, number), (begin, flits) in open_at.items():
        spans.append({"name": packet_name(src, number), "cat": "packet", "ph": "X", "ts": begin,
                      "dur": window[1] - begin, "pid": router, "tid": port * vcs + vc,
                      "args": {"flits": flits, "unfinished": True}})
    for router in sorted({r for r, _ in tracks}):
        spans.append({"name": "process_name", "ph": "M", "pid": router, "args": {"name": f"router {router}"}})
    for router, track in sorted(tracks):
        spans.append({"name": "thread_name", "ph": "M", "pid": router, "tid": track,
                      "args": {"name": f"port {track // vcs} VC {track % vcs}"}})
    spans.append({"name": "process_name", "ph": "M", "pid": 1_000_000, "args": {"name": "terminals"}})
    json.dump({"displayTimeUnit": "ms", "traceEvents": spans}, file)
    return count


def vcd_name(number: int) -> str:
    """Returns a short identifier of printable characters for a number."""
    name = ""
    while True:
        name += chr(33 + number % 94)
        number //= 94
        if not number:
            return name


def write_vcd(file: TextIO, experiment: Experiment, events: Iterable[dict], window: tuple[int, int],
              routers: set[int] | None = None) -> int:
    """Writes a value change dump (GTKWave). Variables: for each output port, the input port and VC that sends, for one
    cycle; for each input VC, the packet whose head arrived last, as source and number (32 bits each; the top bit of the
    number is set for closed-loop replies); for each terminal, the packet that it created last, as destination and
    number.

    Events are written as they come, in order of cycles, so all variables are declared first, including those of ports
    without a channel."""
    derived = experiment.derived()
    vcs = int(derived["vcs"])
    ports = range(int(derived["ports"]))
    names: dict[tuple[int, str], str] = {}
    file.write("$timescale 1 ns $end\n$comment one ns is one cycle $end\n")
    for router in sorted(range(int(derived["routers"])) if routers is None else routers):
        file.write(f"$scope module router_{router} $end\n")
        variables = [(16, f"out{port}_sends") for port in ports]
        variables += [(64, f"in{port}_vc{vc}_packet") for port in ports for vc in range(vcs)]
        for width, variable in variables:
            names[router, variable] = vcd_name(len(names))
            file.write(f"$var wire {width} {names[router, variable]} {variable} $end\n")
        file.write("$upscope $end\n")
    per_router = terminals_per_router(experiment)
    file.write("$scope module terminals $end\n")
    for terminal in range(int(derived["terminals"])):
        if routers is None or terminal // per_router in routers:
            variable = f"terminal{terminal}_created"
            names[terminal, variable] = vcd_name(len(names))
            file.write(f"$var wire 64 {names[terminal, variable]} {variable} $end\n")
    file.write("$upscope $end\n")
    file.write(f"$enddefinitions $end\n#{window[0]}\n$dumpvars\n")
    file.writelines(f"bx {name}\n" for name in names.values())
    file.write("$end\n")

    def write(cycle: int, changes: dict[tuple[int, str], str]) -> None:
        if changes:
            file.write(f"#{cycle}\n")
            file.writelines(f"b{value} {names[key]}\n" for key, value in sorted(changes.items()))

    count = 0
    last = window[0]
    sent: set[tuple[int, str]] = set()  # variables set in cycle `last`, to be cleared in the next cycle
    for cycle, together in groupby(events, key=lambda e: e["cycle"]):
        changes = dict.fromkeys(sent, "x")
        if cycle > last + 1:
            write(last + 1, changes)
            changes = {}
        last, sent = cycle, set()
        for e in together:
            count += 1
            if e["kind"] == "switch_granted":
                sent.add((e["index"], f"out{e['out_port']}_sends"))
                changes[e["index"], f"out{e['out_port']}_sends"] = format(e["port"] << 8 | e["vc"], "b")
            elif e["kind"] == "created":
                changes[e["index"], f"terminal{e['index']}_created"] = format(e["dst"] << 32 | e["id"], "b")
            elif e["kind"] == "arrived":
                changes[e["index"], f"in{e['port']}_vc{e['vc']}_packet"] = format(e["src"] << 32 | e["id"], "b")
        write(cycle, changes)
    write(last + 1, dict.fromkeys(sent, "x"))
    file.write(f"#{window[1]}\n")
    return count
