"""A single switch: the limit of input queues (Karol, Hluchyj, Morgan 1987), and iSLIP with virtual output queues
(McKeown 1999)."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path

from flitlab.classics.published.measuring import ALLOCATORS, ONE_CYCLE, context
from flitlab.experiment import Experiment
from flitlab.ideal import ideal_throughput
from flitlab.reproduction import Throughput, once, row
from flitlab.runner import run_job

KAROL = "Input Versus Output Queueing on a Space-Division Packet Switch, abstract"
ISLIP = "The iSLIP Scheduling Algorithm for Input-Queued Switches, abstract"
CHAIN = "calculation: the Markov chain of the heads of N input queues"
WINDOW = {"run.warmup_cycles": 2000, "run.measure_cycles": 20000, "run.drain_cycles": 0}
READ_ABSTRACT = "Only the abstract was read."
READING_KAROL = (
    f"{READ_ABSTRACT} Every input always has a packet of one flit; destinations are uniform. The exact limit for N "
    "inputs follows from the number of heads for each output, which is a Markov chain that does not depend on which "
    "head an output serves. The ideal switch has one FIFO per input. The router is one router of the vc model with N "
    "terminals and one virtual channel of 8 flits; it takes one cycle.")
READING_OUTPUT = (
    f"{READ_ABSTRACT} The abstract says that output queues saturate only at a utilisation near 1. Here an output of "
    "the ideal switch holds 64 packets, the most that the model has. At full load queues grow without limit, so that a "
    "few packets wait at inputs, and the throughput stays below 1.")
READING_ISLIP = (
    f"{READ_ABSTRACT} One router of the vc model is the switch. N other routers with a terminal each are its inputs "
    "and outputs. A routing table gives each destination a virtual channel, so an input of the switch has N virtual "
    "output queues. A virtual channel holds 255 flits, packets have one flit. A terminal's own queue is a FIFO, which "
    "blocks while the virtual channel of its head is full; therefore the throughput stays below 1 for finite buffers.")


@cache
def exact_limit(n: int) -> float:
    """Returns the throughput per output of a switch with n input FIFOs that are never empty."""
    heads = {tuple([1] * n): 1.0}  # probability of each sorted tuple of heads for an output
    for _ in range(300):
        layers: list[dict] = [{} for _ in range(n + 1)]  # [heads still to be drawn]
        for state, p in heads.items():
            served = tuple(max(0, k - 1) for k in state)
            layer = layers[n - sum(served)]
            layer[served] = layer.get(served, 0) + p
        for left in range(n, 0, -1):
            for state, p in layers[left].items():
                for k in set(state):
                    place = state.index(k)
                    after = tuple(sorted((*state[:place], k + 1, *state[place + 1:])))
                    layers[left - 1][after] = layers[left - 1].get(after, 0) + p * state.count(k) / n
        heads = layers[0]
    return sum(p * sum(k > 0 for k in state) for state, p in heads.items()) / n


def full(e: Experiment) -> Throughput:
    """Returns the accepted load per terminal at full offered load."""
    e = e.set("traffic.load", 1.0)
    return Throughput(run_job([e], threads=1)[0]["accepted"], ideal_throughput(e))


def ideal_switch(ports: int, output_buffers: int = 1) -> Experiment:
    return Experiment.from_dict(WINDOW | {"router.kind": "switch", "topology.ports": ports, "traffic.packet_flits": 1,
                                          "router.output_buffers": output_buffers})


def one_router(terminals: int, vcs: int = 1, rounds: int = 1) -> Experiment:
    return Experiment.from_dict(WINDOW | ONE_CYCLE | ALLOCATORS | {
        "topology.kind": "mesh", "topology.shape": [1, 1], "topology.concentration": terminals, "router.vcs": vcs,
        "router.buffer_flits": 8, "router.allocator_iterations": rounds, "traffic.packet_flits": 1})


def karol() -> list[dict]:
    """Saturation of input queues for several sizes, and of output queues."""
    common = {"experiment": "classics.karol", "quantity": "throughput at full load", "unit": "of capacity"}
    rows = []
    for n in (2, 4, 8):
        for name, e in (("ideal switch", ideal_switch(n)), ("router", one_router(n))):
            rows.append(row(source=CHAIN, setting=f"{name}, N = {n}", published=exact_limit(n), check=True,
                            measured=once(full, e), tolerance=0.006, reading=READING_KAROL, **common))
    rows += [context(source=KAROL, setting=f"{name}, N = 16", measured=once(full, e), reading=READING_KAROL, **common)
             for name, e in (("ideal switch", ideal_switch(16)), ("router", one_router(16)))]
    return rows + [
        row(source=KAROL, setting="ideal switch, N = 64", published=0.586, measured=once(full, ideal_switch(64)),
            tolerance=0.005, reading=READING_KAROL + " The abstract gives the limit for large N.", **common),
        context(source=KAROL, setting="output queues, N = 16", measured=once(full, ideal_switch(16, 64)),
                reading=READING_OUTPUT, **common)]


def voq_switch(n: int, buffer: int, rounds: int, folder: str) -> Experiment:
    """Returns a star: router 0 is a switch with n inputs, each with a virtual output queue for each output. The list of
    channels is a file in a folder."""
    star = Path(folder) / "star.csv"
    star.write_text("".join(f"0,{n}\n" for n in range(1, n + 1)), encoding="utf-8")
    e = Experiment.from_dict(ONE_CYCLE | ALLOCATORS | {
        "topology.kind": "graph", "topology.file": str(star), "router.vcs": n, "router.buffer_flits": buffer,
        "traffic.packet_flits": 1, "router.allocator_iterations": rounds, "run.warmup_cycles": 4000,
        "run.measure_cycles": 8000})
    e = e.with_routes(lambda router, destination: (0 if router else destination, (destination - 1) % n))
    return e.with_pattern(lambda source, terminals: dict.fromkeys(range(1, terminals), 1) if source else None)


def voq_results(n: int, buffer: int, rounds: int, load: float) -> dict:
    settings = {"traffic.load": load, "run.drain_cycles": 0 if load == 1 else 8000}
    with tempfile.TemporaryDirectory() as folder:
        return run_job([voq_switch(n, buffer, rounds, folder).set(settings)], threads=1)[0]


def voq_full(n: int, buffer: int = 255) -> float:
    """Returns the accepted load of the switch per input at full load. The terminal of the switch itself is idle."""
    return voq_results(n, buffer, 1, 1.0)["accepted"] * (n + 1) / n


def iterations(count: int) -> str:
    return f"{count} iteration{'s' * (count > 1)}"


def islip() -> list[dict]:
    """Throughput of iSLIP with virtual output queues, and the effect of its iterations."""
    common = {"experiment": "classics.islip", "source": ISLIP, "reading": READING_ISLIP}
    throughput = f"throughput at full load, {iterations(1)}"
    rows = [row(quantity=throughput, setting=f"{n} x {n}, virtual output queues", published=1,
                measured=once(voq_full, n), unit="of capacity", tolerance=0.03, **common) for n in (4, 8, 16)]
    rows.append(context(quantity=throughput, setting="8 x 8, virtual output queues of 16 flits", unit="of capacity",
                        measured=once(voq_full, 8, 16), **common))
    rows += [context(quantity=f"latency at load 0.9, {iterations(i)}", setting="8 x 8, virtual output queues",
                     measured=partial(lambda i: voq_results(8, 255, i, 0.9)["latency_cycles"]["mean"], i),
                     unit="cycles", **common) for i in (1, 4)]
    return rows + [context(quantity=f"throughput at full load, {iterations(i)}", unit="of capacity",
                           setting="router, N = 8, 8 virtual channels for all outputs",
                           measured=once(full, one_router(8, 8, i)), **common) for i in (1, 2, 4)]


EXPERIMENTS = {
    "classics.karol": ("a switch with input queues saturates at 0.586 (1 s)", karol),
    "classics.islip": ("iSLIP with virtual output queues: full throughput (3 s)", islip),
}
