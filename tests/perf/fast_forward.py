"""What exact fast-forward skips: cycles, stepped cycles and time of large programs; with --pairs its cost where nothing
repeats itself, in pairs of runs with and without it.

    python tests/perf/fast_forward.py [--only TEXT] [--pairs]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time

import flitlab as fl
from flitlab.operations import Schedule
from flitlab.schedules import Shape

TORUS = {"topology.kind": "torus", "topology.shape": [32, 32]}
ODD_TORUS = {"topology.kind": "torus", "topology.shape": [31, 33]}  # no packet travels half-way around a ring
FAT_TREE = {"topology.kind": "fat_tree", "topology.children": [4, 4, 4, 4], "topology.parents": [4, 4, 4, 4],
            "topology.concentration": 4}
DRAGONFLY = {"topology.kind": "dragonfly", "topology.groups": 33, "topology.group_routers": 8,
             "topology.global_channels": 4, "topology.concentration": 4}


def allreduce(algorithm: str, ranks: int, size: int = 10**9) -> fl.Program:
    return Schedule("allreduce", algorithm, Shape(ranks, 8, (ranks,)), size).program()


def training() -> fl.Program:
    return fl.transformer(layers=64, hidden=1024, sequence=1024, tensor=4, data=4, pipeline=8, micro_batches=32,
                          flops_per_cycle=1e5)


CASES = {
    "ring, torus 32x32": (TORUS, lambda: allreduce("ring", 1024)),
    "ring, fat tree": (FAT_TREE, lambda: allreduce("ring", 1024)),
    "ring, dragonfly": (DRAGONFLY, lambda: allreduce("ring", 1024)),
    "tree, torus 31x33": (ODD_TORUS, lambda: allreduce("tree", 1023)),
    "tree, fat tree": (FAT_TREE, lambda: allreduce("tree", 1024)),
    "tree, dragonfly": (DRAGONFLY, lambda: allreduce("tree", 1024)),
    "training, 128 ranks, fat tree": (FAT_TREE, training),
}


def experiment(network: dict, program: fl.Program, fast: bool = True) -> fl.Experiment:
    return fl.Experiment({**network, "traffic.mode": "program", "traffic.program_file": program,
                          "run.fast_forward": fast})


def measure(name: str) -> None:
    network, make = CASES[name]
    exp = experiment(network, make())
    start = time.perf_counter()
    r = fl.run(exp, progress=False, backend="cpu", threads=1)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"| {name} | {r.cycles:,} | {r.stepped_cycles:,} | {r.cycles / r.stepped_cycles:,.0f} | {seconds:.1f} | "
          f"{memory:.1f} | {r.stepped_because} |", flush=True)


def busy(ranks: int) -> fl.Program:
    """Random destinations, sizes and computing times: nothing repeats itself."""
    import random

    draw = random.Random(1)
    plan = [[(draw.randrange(1, ranks), draw.randrange(1, 3000), draw.randrange(200)) for _ in range(300)]
            for _ in range(ranks)]

    def main(me):
        for step in range(300):
            distance, size, _ = plan[0][step]
            me.isend((me.rank + distance) % ranks, size * (1 + me.rank % 3))
            me.compute(plan[me.rank][step][2])
            me.recv((me.rank - distance) % ranks)
    return fl.Program.spmd(main, ranks)


def pairs() -> None:
    for name, network in (("mesh 8x8", {"topology.kind": "mesh", "topology.shape": [8, 8]}), ("torus 32x32", TORUS)):
        ranks = 64 if "8x8" in name else 1024
        program = busy(ranks)
        ratios = []
        for i in range(7):
            seconds = {}
            for fast in (True, False) if i % 2 else (False, True):
                exp = experiment(network, program, fast)
                r = fl.run(exp, progress=False, backend="cpu", threads=1)
                seconds[fast] = r.wall_seconds
                cycles = r.cycles
            ratios.append(seconds[True] / seconds[False])
        print(f"{name}: {cycles:,} cycles; time with fast-forward / without: median {statistics.median(ratios):.3f}, "
              f"{min(ratios):.3f} to {max(ratios):.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--pairs", action="store_true")
    arguments = parser.parse_args()
    if arguments.pairs:
        return pairs()
    print("| program, network | cycles | stepped | ratio | seconds | GB | |\n|---|---|---|---|---|---|---|")
    for name in CASES:
        if arguments.only in name:
            measure(name)
    return None


if __name__ == "__main__":
    main()
