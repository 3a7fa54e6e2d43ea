"""What must be so between runs of different configurations (metamorphic relations): no answer need be known."""

import random
from pathlib import Path

import oracles
from oracles import Finding

import flitlab as fl
from flitlab import _core
from flitlab.runner import run_job

# Of so many cases one is compared with others: that takes as long as all the rest.
RELATED = 3
# A run to its end that would take long is given up; that is no finding.
PATIENCE = {"run.epoch_cycles": 500}
TO_THE_END = PATIENCE | {"run.stall_cycles": 20000}


# Parameters whose draws, or whose own traffic, go by the cycle.
BY_THE_CYCLE = {"barrier.units", "channel.error_rate", "clock.emulated", "special.enabled", "endpoint.stalls",
                "io.nodes"}
HARMLESS = {"faults.seed", "faults.cycle", "faults.reroute_delay", "faults.crc_bits", "faults.unconnected"}


def _set(e: fl.Experiment, changes: dict) -> fl.Experiment | None:
    """The experiment with changes, and with no traffic of its own if they say which; None if it is none then."""
    kept = {k: v for k, v in e.flat().items() if not ("traffic.mode" in changes and k.startswith("traffic."))}
    try:
        return fl.Experiment.from_dict(kept | changes)
    except fl.ConfigError:
        return None


def _results(experiments: list[fl.Experiment]) -> list[dict] | None:
    """Results of a job; None if it does not come to a good end."""
    try:
        return run_job(experiments, "cpu", 1)
    except (fl.RunError, fl.ConfigError):
        return None


def order_of_replicas(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Replicas end the same in whatever order they stand in a job."""
    short = {"run.warmup_cycles": 100, "run.measure_cycles": 200, "run.drain_cycles": 200} | PATIENCE
    seeds = choose.sample(range(1, 100), 3)
    replicas = [_set(e, short | {"run.seed": seed}) for seed in seeds]
    if None in replicas:
        return False
    found = _results(replicas)
    order = choose.sample(range(3), 3)
    other = _results([replicas[i] for i in order])
    if found is None or other is None:
        return False
    for place, i in enumerate(order):
        if found[i]["state_hash"] != other[place]["state_hash"]:
            raise Finding(f"seed {seeds[i]} ends otherwise as replica {place} than as replica {i}")
    return True


def buffers_lose_nothing(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """More room never changes what a batch delivers."""
    batch = _set(e, {"traffic.mode": "batch", "traffic.batch_packets": 3} | TO_THE_END)
    if batch is None:
        return False
    records = {p["path"]: p for m in _core.models() if m["kind"] == e["router.kind"] for p in m["parameters"]}
    rooms = [p for p, r in records.items() if r["unit"] in ("flits", "chunks", "messages") and p in batch.flat()
             and p.startswith("router.") and isinstance(batch[p], int)]
    if not rooms:
        return False
    path = choose.choice(rooms)
    larger = _set(batch, {path: batch[path] + choose.choice([1, 2, 8])})
    a, b = _results([batch]), larger and _results([larger])
    if not a or not b:
        return False
    a, b = a[0]["packets"], b[0]["packets"]
    if not a["dropped"] and not b["dropped"] and a != b:
        raise Finding(f"with {path} larger a batch ends with {b}, not {a}")
    return True


def time_does_not_matter(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Packets that are alone take as long whenever they are sent, and however much time lies between them."""
    by_the_cycle = {path for path in e.flat() if path in BY_THE_CYCLE or path.startswith("faults.")}
    if any(e[path] for path in by_the_cycle - HARMLESS):
        return False
    terminals = int(e.derived()["terminals"])
    if terminals < 2:
        return False
    packets = []
    for _ in range(8):
        source = choose.randrange(terminals)
        packets.append((source, (source + choose.randrange(1, terminals)) % terminals))
    found = []
    for gap, start in ((3000, 0), (choose.choice([3000, 7001, 70002]), choose.choice([1, 17, 1000003]))):
        file = folder / f"trace-{len(found)}.csv"
        file.write_text("".join(f"{start + gap * n},{s},{d},{4 if e['router.kind'] == 'metro' else 1}\n"
                                for n, (s, d) in enumerate(packets)))
        sparse = _set(e, {"traffic.mode": "trace", "traffic.trace_file": str(file)} | TO_THE_END)
        result = sparse and _results([sparse])
        if not result or result[0]["packets"]["dropped"]:
            return False
        found.append((result[0]["latency_cycles"]["mean"], result[0]["latency_cycles"]["max"], result[0]["hops_mean"]))
    if found[0] != found[1]:
        raise Finding(f"packets that are alone take {found[0]}, and {found[1]} at other times: mean, most, hops")
    return True


RELATIONS = [order_of_replicas, buffers_lose_nothing, time_does_not_matter]


def judge(e: fl.Experiment, seed: int, folder: Path) -> list[str]:
    """Names of the relations that were tried, and hold."""
    choose = random.Random(seed)
    with oracles.quiet():
        return [relation.__name__ for relation in RELATIONS if relation(e, choose, folder)]
