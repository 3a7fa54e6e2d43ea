"""How often the 95 % interval of a run's mean latency holds the true mean, taken as the mean over all runs.

    python tests/perf/interval_coverage.py [--runs N]
"""

import argparse
import statistics

import flitlab as fl

MESH, TORUS, CUBE = (("mesh", [8, 8]), ("torus", [8, 8]), ("torus", [8, 8, 8]))
POINTS = [(MESH, 0.1), (MESH, 0.3), (MESH, 0.36), (MESH, 0.38), (TORUS, 0.4), (TORUS, 0.48), (CUBE, 0.1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    print("| point | mean latency, cycles | mean half width | cycles | saturated | capped | interval holds the mean |")
    print("|---|---|---|---|---|---|---|")
    for (kind, shape), load in POINTS:
        experiment = fl.Experiment.from_dict({"topology.kind": kind, "topology.shape": shape, "traffic.load": load})
        rows = fl.sweep(experiment, {"run.seed": range(1, runs + 1)}, progress=False).rows
        steady = [row for row in rows if not row["saturated"]]
        mean = statistics.mean(row["latency_mean"] for row in steady)
        held = sum(abs(row["latency_mean"] - mean) <= row["latency_ci95"] for row in steady)
        print(f"| {'x'.join(map(str, shape))} {kind}, {load} | {mean:.2f} "
              f"| {statistics.mean(row['latency_ci95'] for row in steady):.2f} "
              f"| {statistics.mean(row['cycles'] for row in rows):.0f} | {runs - len(steady)} "
              f"| {sum(row['window_capped'] for row in rows)} | {held / len(steady):.1%} |", flush=True)


if __name__ == "__main__":
    main()
