"""Relations between runs of different configurations (metamorphic relations): they need no known result."""

import math
import random
from pathlib import Path

import oracles
from oracles import Finding

import flitlab as fl
from flitlab import _core
from flitlab.runner import run_job

# One of this many cases is tested for relations. The tests of relations then take as long as all other checks together.
RELATED = 3
# Limits for runs to the end: a run that would take longer is abandoned without a finding.
PATIENCE = {"run.epoch_cycles": 500}
TO_THE_END = PATIENCE | {"run.stall_cycles": 20000}


# Parameters whose random draws, or whose additional traffic, depend on the cycle, so that results depend on the time of
# a packet.
BY_THE_CYCLE = {"barrier.units", "channel.error_rate", "clock.emulated", "special.enabled", "endpoint.stalls",
                "io.nodes", "software.start_spread"}
HARMLESS = {"faults.seed", "faults.cycle", "faults.reroute_delay", "faults.crc_bits", "faults.unconnected"}
# Parameters that break the symmetry of a torus.
ASYMMETRIC = {"topology.partial_planes", "topology.logical_format", "topology.logical_file", "topology.spares",
              "topology.partitions", "routing.hints"}
GAP = 3000  # cycles between isolated packets
PAIRS_LIMIT = 24  # largest number of terminals for which all pairs are tried
ONE_LENGTH = {"metro", "bgl", "adaptive", "sconnect"}


def _set(e: fl.Experiment, changes: dict) -> fl.Experiment | None:
    """Returns the experiment with changes, which replace all traffic settings if they set traffic.mode; None if
    invalid."""
    kept = {k: v for k, v in e.flat().items() if not ("traffic.mode" in changes and k.startswith("traffic."))}
    try:
        return fl.Experiment.from_dict(kept | changes)
    except fl.ConfigError:
        return None


def _planned(e: fl.Experiment, changes: dict) -> fl.Experiment | None:
    """Returns the experiment of ``_set``; None also if no network can be planned for it."""
    e = _set(e, changes)
    try:
        return e if e and e.derived() else None
    except fl.ConfigError:
        return None


def _results(experiments: list[fl.Experiment]) -> list[dict] | str | None:
    """Returns the results of a job, or the message of a valid error; None if flitlab rejects it."""
    try:
        return run_job(experiments, "cpu", 1)
    except fl.RunError as error:
        return oracles.ended(error, experiments[0])
    except fl.ConfigError as error:
        oracles.ended(error, experiments[0])
        return None


def order_of_replicas(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Replicas end in the same state in any order within a job."""
    short = {"run.warmup_cycles": 100, "run.measure_cycles": 200, "run.drain_cycles": 200} | PATIENCE
    seeds = choose.sample(range(1, 100), 3)
    replicas = [_set(e, short | {"run.seed": seed}) for seed in seeds]
    if None in replicas:
        return False
    found = _results(replicas)
    order = choose.sample(range(3), 3)
    other = _results([replicas[i] for i in order])
    if isinstance(found, list) != isinstance(other, list):
        failure = other if isinstance(found, list) else found
        raise Finding(f"replicas finish in one order but not in another: {failure}")
    if not isinstance(found, list):
        return False
    for place, i in enumerate(order):
        if found[i]["state_hash"] != other[place]["state_hash"]:
            raise Finding(f"seed {seeds[i]} ends differently as replica {place} than as replica {i}")
    return True


def buffers_lose_nothing(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Larger buffers never change a batch's deliveries, nor prevent its end."""
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
    if isinstance(a, list) and isinstance(b, str) and not oracles.may_deadlock(batch):
        raise Finding(f"with {path} larger a batch does not end: {b}")
    if not isinstance(a, list) or not isinstance(b, list):
        return False
    a, b = a[0]["packets"], b[0]["packets"]
    if not a["dropped"] and not b["dropped"] and a != b:
        raise Finding(f"with {path} larger a batch ends with {b}, not {a}")
    return True


def _by_the_cycle(e: fl.Experiment) -> bool:
    """Returns whether the latency of packets depends on the cycle in which they are sent. That includes cascaded METRO
    routers with separate random streams, whose choices differ at random."""
    return e.flat().get("router.shared_random") is False or any(e[path] for path in e.flat() if path not in HARMLESS and
               (path in BY_THE_CYCLE or path.startswith("faults.")))


def _trace(e: fl.Experiment, packets: list[tuple[int, int, int]], flits: int, file: Path) -> list[dict] | str | None:
    """Returns the results of packets (cycle, source, destination). None if flitlab rejects the trace, or packets are
    lost."""
    file.write_text("".join(f"{cycle},{s},{d},{flits}\n" for cycle, s, d in packets))
    sparse = _set(e, {"traffic.mode": "trace", "traffic.trace_file": str(file)} | TO_THE_END)
    result = sparse and _results([sparse])
    return None if isinstance(result, list) and result[0]["packets"]["dropped"] else result


def _flits(e: fl.Experiment) -> int:
    return 4 if e["router.kind"] == "metro" else 1


def _times(result: list[dict]) -> tuple:
    """Returns the mean latency, the largest latency and the mean number of hops of a result."""
    return result[0]["latency_cycles"]["mean"], result[0]["latency_cycles"]["max"], result[0]["hops_mean"]


def _were_isolated(*times: tuple) -> bool:
    """Returns whether each packet had arrived long before the next one was sent: its latency is at most half of the
    gap, since later work, such as software's, takes time, too."""
    return all(most < GAP / 2 for _, most, _ in times)


def time_does_not_matter(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Isolated packets take equally long at any time, and with any gap between them."""
    terminals = int(e.derived()["terminals"])
    if _by_the_cycle(e) or terminals < 2:
        return False
    packets = []
    for _ in range(8):
        source = choose.randrange(terminals)
        packets.append((source, (source + choose.randrange(1, terminals)) % terminals))
    found = []
    for gap, start in ((GAP, 0), (choose.choice([GAP, 7001, 70002]), choose.choice([1, 17, 1000003]))):
        sent = [(start + gap * n, s, d) for n, (s, d) in enumerate(packets)]
        result = _trace(e, sent, _flits(e), folder / f"trace-{len(found)}.csv")
        if found and isinstance(result, str) and not oracles.may_deadlock(e):
            raise Finding(f"isolated packets arrive, but not at other times: {result}")
        if not isinstance(result, list):
            return False
        found.append(_times(result))
    if found[0] != found[1] and _were_isolated(*found):
        raise Finding(f"isolated packets take {found[0]}, but {found[1]} at other times: mean, most, hops")
    return True


def _moved(terminal: int, shape: list[int], by: list[int], each: int) -> int:
    """Returns the terminal at this offset along the rings of a torus; each router has `each` terminals."""
    router, at, size = terminal // each, 0, 1
    for radix, step in zip(shape, by, strict=True):
        at += (router % radix + step) % radix * size
        router, size = router // radix, size * radix
    return at * each + terminal % each


def a_torus_has_no_middle(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Packets shifted by the same offset on a torus take equally long.

    This holds for isolated packets in every model, unless their path is drawn or comes from a table. For packets that
    meet it holds where no rule depends on a router's position: with dimension order, without datelines, and if no
    packet goes half-way round a ring, where the source's number selects the direction."""
    if e["router.kind"] not in ("t3e", "bgl") and e.flat().get("topology.kind") not in ("torus", "ring"):
        return False
    drawn = e.flat().get("routing.algorithm") in ("valiant", "romm", "table")
    if _by_the_cycle(e) or drawn or any(e.flat().get(path) for path in ASYMMETRIC):
        return False
    shape = e["topology.shape"]
    routers, terminals = int(e.derived()["routers"]), int(e.derived()["terminals"])
    if math.prod(shape) != routers or terminals < 2:
        return False
    crowd = choose.random() < 0.7 and _set(e, {"routing.algorithm": "dimension_order", "routing.vc_assignment": "any"})
    each, packets = terminals // routers, []
    for n in range(60 if crowd else 8):
        source, way = choose.randrange(terminals), [choose.randrange(k) for k in shape]
        if crowd:
            way = [w if 2 * w != k else 0 for w, k in zip(way, shape, strict=True)]
        target = _moved(source, shape, way, each)
        if target != source:
            packets.append((n if crowd else GAP * n, source, target))
    by = [choose.randrange(k) for k in shape]
    moved = [(cycle, *(_moved(place, shape, by, each) for place in places)) for cycle, *places in packets]
    a, b = (_trace(crowd or e, p, _flits(e), folder / f"torus-{n}.csv") for n, p in enumerate((packets, moved)))
    if isinstance(a, list) != isinstance(b, list):
        raise Finding(f"packets arrive, but not elsewhere on the torus: {b if isinstance(a, list) else a}")
    if not packets or not isinstance(a, list):
        return False
    if _times(a) != _times(b) and (crowd or _were_isolated(_times(a), _times(b))):
        raise Finding(f"{'many packets' if crowd else 'isolated packets'} take {_times(a)}, but {_times(b)} "
                      f"{by} further round the torus: mean, most, hops")
    return True


def alone_as_predicted(e: fl.Experiment, choose: random.Random, folder: Path) -> bool:
    """Isolated packets have the predicted zero-load latency, a mean over all pairs."""
    flits = _flits(e) if e["router.kind"] in ONE_LENGTH else choose.randint(1, 5)
    # The prediction is a mean over all paths, but Valiant routing draws one.
    drawn = e.flat().get("routing.algorithm") == "valiant"
    if _by_the_cycle(e) or drawn:
        return False
    uniform = {"traffic.mode": "open", "traffic.pattern": "uniform", "traffic.packet_flits": flits}
    e = _planned(e, uniform)  # remove files that fit only this size of network
    if e and int(e.derived()["terminals"]) > PAIRS_LIMIT and len(e.flat().get("topology.shape", [])) == 2:
        e = _planned(e, {"topology.shape": [4, 3]}) or e
    if not e or int(e.derived()["terminals"]) > PAIRS_LIMIT:
        return False
    terminals, predicted = int(e.derived()["terminals"]), e.derived().get("zero_load_latency_cycles")
    if not predicted:
        return False
    to_itself = e["traffic.self"]
    pairs = [(s, d) for s in range(terminals) for d in range(terminals) if s != d or to_itself]
    result = _trace(e, [(GAP * n, s, d) for n, (s, d) in enumerate(pairs)], flits, folder / "pairs.csv")
    if not isinstance(result, list):
        return False
    taken = result[0]["latency_cycles"]["mean"]
    if not _were_isolated(_times(result)):
        return False
    if not math.isclose(taken, predicted, rel_tol=1e-9):
        raise Finding(f"isolated packets of {flits} flits take {taken} cycles; predicted: {predicted}")
    return True


RELATIONS = [order_of_replicas, buffers_lose_nothing, time_does_not_matter, a_torus_has_no_middle, alone_as_predicted]


def judge(e: fl.Experiment, seed: int, folder: Path) -> list[str]:
    """Returns the names of the relations that were tried and hold."""
    choose = random.Random(seed)
    with oracles.quiet():
        return [relation.__name__ for relation in RELATIONS if relation(e, choose, folder)]
