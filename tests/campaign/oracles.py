"""Properties of every configuration: flitlab rejects it with one clear message, or steps and runs it; packets are
conserved; and the end state is the same on any number of threads, with lanes of any width, with CUDA, traced, resumed
from a checkpoint, and beside another replica."""

import contextlib
import functools
import os
import re
import warnings
from pathlib import Path

import flitlab as fl
from flitlab import _core
from flitlab.runner import run_job

CODE = re.compile(r"std::|basic_|terminate called|0x[0-9a-f]{6}|nullptr|Traceback|defect of flitlab|\{\}")
# Messages with which a run may correctly end.
ENDS = re.compile(r"wait for one another|needs? others that were lost|cannot continue|no packet has arrived|"
                  r"Tables belong to software|routing tables|no entry|emulated time ends|"
                  r"barrier units? ha(s|ve) stopped .*broken link")

# Vector widths whose results are compared.
LANES = [0, 16, 32, 64]  # bytes
# Cycles per step: slightly longer than the interval at which an engine decides whether to use lane state.
LANES_LOOK = 70
# Values whose help warns of deadlock: with these a deadlock message is valid.
MAY_DEADLOCK = {"routing.vc_assignment": "any", "traffic.message_classes": 1, "router.bubble_rule": "actual_size"}


@functools.cache
def cuda() -> bool:
    """Returns whether there is a GPU, or the device that the host emulates (tests/cuda_on_host)."""
    return _core.backends()["cuda"]["available"]


class Finding(Exception):
    """A property that a configuration must have does not hold."""


def judge_message(changed: dict, message: str) -> None:
    """Checks that a message is one readable line that names a parameter or a file, or the key that is no parameter."""
    known = {"router.kind", *(p["path"] for m in _core.models() for p in m["parameters"])}
    known |= {p["path"] for p in _core.parameters()}
    names_one = message.startswith("unknown key ") or any(path in message for path in known | set(changed))
    if "\n" in message or CODE.search(message) or not names_one:
        raise Finding(f"an unhelpful message: {message}", changed)


@contextlib.contextmanager
def lanes(width: int):
    """Networks made here process vectors of `width` bytes, or of fewer if the processor has none so wide; 0: no
    lanes."""
    before = os.environ.pop("FLITLAB_LANES", None)
    os.environ["FLITLAB_LANES"] = str(width)
    try:
        yield
    finally:
        del os.environ["FLITLAB_LANES"]
        os.environ |= {"FLITLAB_LANES": before} if before else {}


@contextlib.contextmanager
def quiet():
    """Suppresses warnings about unusual configurations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _network(e: fl.Experiment, **settings) -> fl.Network:
    with quiet():
        return fl.Network(e, **settings)


def may_deadlock(e: fl.Experiment) -> bool:
    return any(e.flat().get(path) == value for path, value in MAY_DEADLOCK.items())


def ended(error: Exception, e: fl.Experiment) -> str:
    """Returns the text of a valid error; raises Finding for others."""
    text = str(error)
    if text.startswith("deadlock") and may_deadlock(e):
        return text
    if isinstance(error, fl.ConfigError):  # a trace file is read during the run
        judge_message({}, text)
    elif CODE.search(text) or "\n" in text or not ENDS.search(text):
        raise Finding(f"it ended with: {text}") from error
    return text


def _stepped(net: fl.Network, cycles: int, piece: int = 0) -> tuple[str, dict] | str:
    """Returns state and totals after `cycles`, or the message of an error. piece: cycles of each step."""
    try:
        for done in range(0, cycles, piece or cycles):
            net.step(min(piece or cycles, cycles - done))
        net.check()
    except (fl.RunError, fl.ConfigError) as error:
        return ended(error, net.experiment)
    return net.state_hash, net.totals


def _run(experiments: list[fl.Experiment]) -> tuple | str:
    """Returns state and throughput of the first of several replicas at the end of a run, or the message of an error."""
    try:
        with quiet():
            first = run_job(experiments, "cpu", 1)[0]
    except (fl.RunError, fl.ConfigError) as error:
        return ended(error, experiments[0])
    return first["state_hash"], first["accepted"], first["cycles"]


def judge(e: fl.Experiment, cycles: int, folder: Path) -> str:
    """Tries one configuration. Returns the outcome: "ran", "refused" or "ended"."""
    try:
        whole = _network(e, backend="cpu", threads=1)
    except fl.ConfigError as error:
        judge_message(e.flat(), str(error))
        return "refused"
    found = _stepped(whole, cycles)
    for name, settings in {"on two threads": {"threads": 2}, "on three threads": {"threads": 3}}.items():
        _same(name, found, _stepped(_network(e, backend="cpu", **settings), cycles))
    if isinstance(found, str):
        return "ended"
    for width in LANES if e["router.kind"] == "vc" else []:
        with lanes(width):
            _same(f"with lanes of {width} bytes", found,
                  _stepped(_network(e, backend="cpu", threads=1), cycles, LANES_LOOK))
    if cuda():
        _same("with CUDA", found, _stepped(_network(e, backend="cuda"), cycles))
    _same("traced", found, _stepped(_network(e, backend="cpu", threads=1, trace=True), cycles))
    first, second = _network(e, backend="cpu", threads=1), _network(e, backend="cpu", threads=2)
    first.step(cycles // 3)
    first.save(folder / "checkpoint")
    second.load(folder / "checkpoint")
    _same("resumed", found, _stepped(second, cycles - cycles // 3))
    totals = found[1]
    if totals["packets_delivered"] + totals["packets_dropped"] > totals["packets_injected"]:
        raise Finding(f"more packets have arrived than were injected: {totals}")
    short = e.set({"run.warmup_cycles": 200, "run.measure_cycles": 300, "run.drain_cycles": 300}
                  | ({"run.stall_cycles": 5000} if "run.stall_cycles" in e.flat() else {}))
    alone = _run([short])
    if not isinstance(alone, str):
        beside = _run([short, short.set("run.seed", short["run.seed"] ^ 1)])
        if not isinstance(beside, str) and beside != alone:
            raise Finding(f"another end beside another replica: {alone} and {beside}")
    return "ran"


def _same(name: str, a, b) -> None:
    if isinstance(a, str) and a != b:
        raise Finding(f"another end {name}: {a!r} and {b!r}")
    if a != b:
        different = b if isinstance(b, str) else {k: (v, b[1].get(k)) for k, v in a[1].items() if b[1].get(k) != v}
        raise Finding(f"another state {name}: {a[0]} and {b[0]}; {different}")
