"""Writers of ``flitlab trace`` for METRO networks, which record words and connections instead of packets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from flitlab.experiment import Experiment
from flitlab.metro import STATES, Scan
from flitlab.network import Network
from flitlab.tracing import vcd_name


def _watched(experiment: Experiment, window: tuple[int, int], routers: set[int] | None) -> Iterator[tuple[int, dict]]:
    """Yields each cycle of the window, with the registers of the chosen routers at its start."""
    net = Network(experiment).step(window[0])
    scan = Scan(net)
    chosen = sorted(range(int(experiment.derived()["routers"])) if routers is None else routers)
    for cycle in range(*window):
        yield cycle, {router: scan.registers(router) for router in chosen}
        net.step()


def write_vcd(file: TextIO, experiment: Experiment, window: tuple[int, int], routers: set[int] | None) -> int:
    """Writes a value change dump (GTKWave). For each router and port: the word that it reads, a kind of 3 bits and a
    payload of 16 bits. For each forward port: its state, as an index in metro.STATES. Kinds: 1 DATA, 2 DATA-IDLE, 3
    TURN, 4 DROP, 5 STATUS, 6 STATUS of a blocked connection, 7 backward control bit. Returns the number of changes."""
    last: dict[tuple[int, str], int] = {}
    names: dict[tuple[int, str], str] = {}
    changes = 0
    file.write("$timescale 1 ns $end\n$comment one ns is one cycle $end\n")
    for cycle, registers in _watched(experiment, window, routers):
        values = {(router, name): value for router, all_of in registers.items() for name, value in all_of.items()
                  if name.startswith(("word.", "state."))}
        if not names:
            for router in registers:
                file.write(f"$scope module router_{router} $end\n")
                for name in sorted(n for r, n in values if r == router):
                    names[router, name] = vcd_name(len(names))
                    width = 19 if name.startswith("word.") else 3
                    file.write(f"$var wire {width} {names[router, name]} {name.replace('.', '_')} $end\n")
                file.write("$upscope $end\n")
            file.write("$enddefinitions $end\n")
        new = {key: value for key, value in values.items() if last.get(key) != value}
        if new:
            file.write(f"#{cycle}\n")
            file.writelines(f"b{value:b} {names[key]}\n" for key, value in sorted(new.items()))
        changes += len(new)
        last = values
    file.write(f"#{window[1]}\n")
    return changes


def write_perfetto(file: TextIO, experiment: Experiment, window: tuple[int, int], routers: set[int] | None) -> int:
    """Writes the Chrome trace format (ui.perfetto.dev): a process per router, a track per forward port, and a span for
    each state of the port (metro.STATES) with the backward port of its connection. One microsecond on screen is one
    cycle. Returns the number of spans."""
    spans: list[dict] = []
    open_at: dict[tuple[int, int], dict] = {}
    tracks: set[tuple[int, int]] = set()

    def close(key: tuple[int, int], cycle: int) -> None:
        span = open_at.pop(key)
        spans.append(span | {"dur": cycle - span["ts"]})

    for cycle, registers in _watched(experiment, window, routers):
        for router, all_of in registers.items():
            for port in range(sum(name.startswith("state.") for name in all_of)):
                key, state = (router, port), STATES[all_of[f"state.f{port}"]]
                out = all_of[f"out.f{port}"] if state in ("forward", "reverse") else None
                before = open_at.get(key)
                if before and (before["name"], before["args"]["backward_port"]) != (state, out):
                    close(key, cycle)
                if state != "idle" and key not in open_at:
                    tracks.add(key)
                    open_at[key] = {"name": state, "cat": "connection", "ph": "X", "ts": cycle, "pid": router,
                                    "tid": port, "args": {"backward_port": out}}
    for key in list(open_at):
        close(key, window[1])
    count = len(spans)
    spans += [{"name": "process_name", "ph": "M", "pid": router, "args": {"name": f"router {router}"}}
              for router in sorted({r for r, _ in tracks})]
    spans += [{"name": "thread_name", "ph": "M", "pid": router, "tid": port, "args": {"name": f"forward port {port}"}}
              for router, port in sorted(tracks)]
    json.dump({"displayTimeUnit": "ms", "traceEvents": spans}, file)
    return count


WRITERS = {"vcd": write_vcd, "perfetto": write_perfetto}
