"""Words and connections of METRO routers as events of ``flitlab trace``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flitlab.metro import ENCODING, STATES, Scan
from flitlab.network import Network

CONNECTED = ("forward", "reverse")  # states in which a forward port has a backward port


class Watch:
    """Reads the chosen routers before each cycle, and compares them with the cycle before. In the first cycle every
    port has an event, so that its value is known.

    Events of kind "connection": a forward port (``port``) changes its ``state`` (metro.STATES) or its backward port
    (``out_port``, None without a connection). Events of kind "word": the ``word`` that a port reads changes, with a
    kind of 3 bits and a payload of 16 bits; ``wire`` is the port, f0, f1, ..., b0, b1, .... Kinds: 1 DATA, 2 DATA-IDLE,
    3 TURN, 4 DROP, 5 STATUS, 6 STATUS of a blocked connection, 7 backward control bit.

    In VCD, ``state_f0`` is an index in metro.STATES, and ``word_f0`` a word. In Perfetto, a track is a forward port,
    and a span is a state other than idle."""

    def __init__(self, network: Network, routers: list[int]):
        self._network, self._routers = network, routers
        self._scan = Scan(network)
        self._last: dict[tuple[int, str], tuple] = {}

    def variables(self, router: int) -> list[tuple[int, str]]:
        bits = {"word": ENCODING["word_bits"], "state": (len(STATES) - 1).bit_length()}
        return sorted((bits[name.partition(".")[0]], name.replace(".", "_"))
                      for name in self._scan.registers(router) if name.startswith(("word.", "state.")))

    def events(self) -> list[dict]:
        return [event for router in self._routers for event in self._changes(router, self._scan.registers(router))]

    def _changes(self, router: int, registers: dict[str, int]) -> Iterator[dict]:
        for name, value in registers.items():
            what, _, port = name.partition(".")
            if what not in ("word", "state"):
                continue
            out = registers[f"out.{port}"] if what == "state" and STATES[value] in CONNECTED else None
            if self._last.get((router, name)) == (value, out):
                continue
            self._last[router, name] = (value, out)
            event = {"cycle": self._network.cycle, "item": "router", "index": router}
            if what == "word":
                yield event | {"kind": "word", "wire": port, "word": value}
            else:
                yield event | {"kind": "connection", "port": int(port[1:]), "state": STATES[value], "out_port": out}

    def variable(self, event: dict) -> tuple[str, int]:
        if event["kind"] == "word":
            return f"word_{event['wire']}", event["word"]
        return f"state_f{event['port']}", STATES.index(event["state"])

    def span(self, event: dict) -> tuple[int, str, str, dict[str, Any]] | None:
        if event["kind"] == "word":
            return None
        state = "" if event["state"] == "idle" else event["state"]
        return event["port"], f"forward port {event['port']}", state, {"backward_port": event["out_port"]}
