"""Measurements of speed in router-cycles per second, for stepping alone or for whole sweeps.

The time of stepping excludes warm-up, statistics and the start of the program."""

from __future__ import annotations

import json
import time

from flitlab import _core
from flitlab._core import ConfigError
from flitlab.experiment import Experiment, load
from flitlab.runner import run_job
from flitlab.settings import settings_of


def measure(experiment: Experiment, backend: str, threads: int, cycles: int = 0) -> dict:
    """Returns the speed of one network after a run-in: router-cycles per second, the best of three windows."""
    network = _core.Network(experiment.core, backend, threads, False)
    derived = experiment.derived()
    routers = int(derived["routers"])
    network.step(max(500, 5 * int(derived["zero_load_latency_cycles"] or 0)))
    if not cycles:
        started = time.perf_counter()
        network.step(200)
        cycles = max(200, int(200 * 0.7 / (time.perf_counter() - started)))
    best = 0.0
    for _ in range(3):
        started = time.perf_counter()
        network.step(cycles)
        best = max(best, cycles * routers / (time.perf_counter() - started))
    return {"backend": backend, "threads": threads, "routers": routers, "cycles": cycles,
            "router_cycles_per_second": best}


def measure_sweep(experiment: Experiment, loads: list[float], runs: int, backend: str, threads: int) -> dict:
    """Returns the speed of a whole sweep in router-cycles per second: ``runs`` replicas, each with its own seed, that
    take turns through ``loads``. The time runs from building the plan to the results, host work between epochs
    included."""
    points = [experiment.set({"traffic.load": loads[i % len(loads)], "run.seed": i + 1}) for i in range(runs)]
    routers = int(experiment.derived()["routers"])
    started = time.perf_counter()
    results = run_job(points, backend, threads)
    seconds = time.perf_counter() - started
    cycles = sum(result["cycles"] for result in results)
    return {"backend": results[0]["backend"], "threads": threads, "routers": routers, "runs": runs, "cycles": cycles,
            "seconds": seconds, "router_cycles_per_second": cycles * routers / seconds}


def main(args) -> int:
    if not 0 <= args.sweep <= 100_000:
        raise ConfigError(f"--sweep {args.sweep}: it must be 1 to 100000 runs.")
    if args.sweep and args.cycles:
        raise ConfigError("--sweep: the runs of a sweep decide themselves when to end, so --cycles cannot be given; "
                          "set run.measure_cycles instead.")
    if not 0 <= args.cycles <= 1_000_000_000:
        raise ConfigError(f"--cycles {args.cycles}: it must be 1 to 1000000000, or 0 for about a second.")
    settings = settings_of(args.set, args.unset)
    if args.config:
        experiment = load(args.config)
    else:
        experiment = Experiment.from_dict({"topology.shape": [8, 8, 8]}, name="torus-8x8x8")
    experiment = experiment.set(settings)
    # Without a load, all packets soon arrive, and then the network would be empty.
    if "traffic.load" not in experiment.flat():
        raise ConfigError(f'bench needs traffic without an end, but traffic.mode = "{experiment["traffic.mode"]}" '
                          'ends; set traffic.mode to "open" or "request_reply".')
    derived = experiment.derived()
    most = derived.get("saturation_load_bound") or derived.get("uniform_load_bound")
    if settings.get("traffic.load") is not None:
        loads = [settings["traffic.load"]]
    else:  # loads as fractions of the bound for saturation, if some of the usual ones exceed it
        usual = [0.05, 0.25, 0.45]
        loads = [float(f"{part * most:.3g}") for part in (0.25, 0.5, 0.85)] if most and most < usual[-1] else usual
    backends = _core.backends()
    runs = [("cpu", n) for n in sorted({1, backends["cpu"]["threads"]})]
    if backends["cuda"]["available"]:
        runs.append(("cuda", 0))
    rows = []
    if args.sweep:
        for backend, threads in runs:
            row = {"config": experiment.name, "loads": loads} | measure_sweep(experiment, loads, args.sweep, backend,
                                                                              threads)
            rows.append(row)
            if not args.json:
                print(f"{experiment.name}  {args.sweep} runs, {row['cycles']} cycles in {row['seconds']:.2f} s, "
                      f"{backend} x{threads}: {row['router_cycles_per_second'] / 1e6:.2f} million router-cycles/s, "
                      "host included", flush=True)
        loads = []
    for load_value in loads:
        point = experiment.set("traffic.load", load_value)
        for backend, threads in runs:
            row = {"config": experiment.name, "load": load_value} | measure(point, backend, threads, args.cycles)
            rows.append(row)
            if not args.json:
                print(f"{experiment.name}  load {load_value:<5} {backend} x{threads}: "
                      f"{row['router_cycles_per_second'] / 1e6:.2f} million router-cycles/s", flush=True)
    if args.json:
        print(json.dumps(rows))
    return 0
