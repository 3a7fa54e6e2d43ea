"""What must be so for every configuration: it runs or is refused in one clear message, packets are conserved, and its
state is the same on any number of threads, traced, wide, in pieces and beside others."""

import re
import warnings
from pathlib import Path

import flitlab as fl
from flitlab import _core

CODE = re.compile(r"std::|basic_|terminate|0x[0-9a-f]{6}|nullptr|Traceback|defect of flitlab|\{\}")
# What a network may rightly end with.
ENDS = re.compile(r"wait for one another|needs? others that were lost|cannot go on|no packet has arrived|"
                  r"Tables belong to software|routing tables|no entry|emulated time ends")


class Finding(Exception):
    """Something fell."""


def judge_message(changed: dict, message: str) -> None:
    """One line for people that names a parameter or a file."""
    known = {"router.kind", *(p["path"] for m in _core.models() for p in m["parameters"])}
    known |= {p["path"] for p in _core.parameters()}
    if "\n" in message or CODE.search(message) or not any(path in message for path in known | set(changed)):
        raise Finding(f"a message that does not help: {message!r}", changed)


def _network(e: fl.Experiment, **settings) -> fl.Network:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fl.Network(e, **settings)


def _stepped(net: fl.Network, cycles: int) -> tuple[str, dict] | str:
    """State and totals, or the message that the network rightly ended with."""
    try:
        net.step(cycles)
        net.check()
    except fl.RunError as error:
        if CODE.search(str(error)) or not ENDS.search(str(error)):
            raise Finding(f"it ended with: {error}") from error
        return re.sub(r"cycle \d+", "cycle", str(error))
    return net.state_hash, net.totals


def judge(e: fl.Experiment, cycles: int, folder: Path) -> str:
    """Tries one configuration. Returns how it went: "ran", "refused" or "ended"."""
    try:
        whole = _network(e, backend="cpu", threads=1)
    except fl.ConfigError as error:
        judge_message(e.flat(), str(error))
        return "refused"
    found = _stepped(whole, cycles)
    if isinstance(found, str):
        return "ended"
    for name, settings in {"two threads": {"threads": 2}, "three threads": {"threads": 3},
                           "traced": {"threads": 1, "trace": True}}.items():
        other = _stepped(_network(e, backend="cpu", **settings), cycles)
        _same(name, found, other)
    first, second = _network(e, backend="cpu", threads=1), _network(e, backend="cpu", threads=2)
    first.step(cycles // 3)
    first.save(folder / "checkpoint")
    second.load(folder / "checkpoint")
    _same("resumed", found, _stepped(second, cycles - cycles // 3))
    totals = found[1]
    if totals["packets_delivered"] + totals["packets_dropped"] > totals["packets_injected"]:
        raise Finding(f"more packets have arrived than left: {totals}")
    return "ran"


def _same(name: str, a, b) -> None:
    if a != b:
        different = b if isinstance(b, str) else {k: (v, b[1].get(k)) for k, v in a[1].items() if b[1].get(k) != v}
        raise Finding(f"another state {name}: {a[0]} and {b[0]}; {different}")
