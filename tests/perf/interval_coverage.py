"""Accuracy of the 95 % interval of a run's mean latency, over runs with different seeds.

    python tests/perf/interval_coverage.py [--runs N] [--point KIND SHAPE LOAD]...

The reported half width is compared with the honest one: 1.96 standard deviations, over seeds, of the mean over windows
of equal length. The honest half width is measured with windows of one fixed length, the mean length of the automatic
windows, and scaled by the inverse square root of the length. The mean of all these runs counts as the true mean.
"""

import argparse
import math
import statistics

import flitlab as fl
from flitlab.runner import run_job

MESH, TORUS, CUBE = (("mesh", "8x8"), ("torus", "8x8"), ("torus", "8x8x8"))
POINTS = [(*MESH, 0.02), (*MESH, 0.05), (*MESH, 0.1), (*MESH, 0.3), (*MESH, 0.36), (*MESH, 0.38), (*TORUS, 0.4),
          (*TORUS, 0.48), (*CUBE, 0.1)]


def steady_results(experiment: fl.Experiment, runs: int) -> list[dict]:
    results = run_job([experiment.set("run.seed", seed) for seed in range(1, runs + 1)])
    return [result for result in results if result["verdict"] == "steady"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--point", nargs=3, action="append", metavar=("KIND", "SHAPE", "LOAD"))
    options = parser.parse_args()
    print("| point | mean latency, cycles | mean half width | honest | cycles measured | no latency | capped "
          "| within a factor of 2 | interval holds the mean |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind, shape, load in options.point or POINTS:
        experiment = fl.Experiment.from_dict({
            "topology.kind": kind, "topology.shape": [int(k) for k in shape.split("x")], "traffic.load": float(load)})
        steady = steady_results(experiment, options.runs)
        length = round(statistics.mean(r["measured_cycles"] for r in steady) / 100) * 100
        fixed = steady_results(experiment.set({"run.measure_cycles": length, "run.epoch_cycles": 100,
                                               "run.warmup_cycles": 3000}), options.runs)
        means = [r["latency_cycles"]["mean"] for r in fixed]
        truth = statistics.mean(means + [r["latency_cycles"]["mean"] for r in steady])
        honest = 1.96 * statistics.stdev(means)
        halves = [r["latency_cycles"]["ci95"] for r in steady]
        near = sum(1 / 2 < half / (honest * math.sqrt(length / r["measured_cycles"])) < 2
                   for half, r in zip(halves, steady, strict=True))
        held = sum(abs(r["latency_cycles"]["mean"] - truth) <= half for half, r in zip(halves, steady, strict=True))
        print(f"| {shape} {kind}, {load} | {truth:.2f} | {statistics.mean(halves):.2f} | {honest:.2f} | {length} "
              f"| {options.runs - len(steady)} | {sum(r['window_capped'] for r in steady)} "
              f"| {near / len(steady):.1%} | {held / len(steady):.1%} |", flush=True)


if __name__ == "__main__":
    main()
