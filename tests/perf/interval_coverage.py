"""How often the 95 % interval of a run's mean latency holds the true mean, taken as the mean over all runs.

    python tests/perf/interval_coverage.py [--runs N]
"""

import argparse
import statistics

import flitlab as fl

POINTS = [  # name, settings
    ("8x8 mesh, 0.1", {"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.load": 0.1}),
    ("8x8 mesh, 0.3", {"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.load": 0.3}),
    ("8x8 mesh, 0.38", {"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.load": 0.38}),
    ("8x8 torus, 0.4", {"topology.kind": "torus", "topology.shape": [8, 8], "traffic.load": 0.4}),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    print("| point | mean latency, cycles | mean half width | runs saturated | interval holds the mean |")
    print("|---|---|---|---|---|")
    for name, settings in POINTS:
        results = [fl.run(fl.Experiment.from_dict(settings | {"run.seed": seed})) for seed in range(runs)]
        steady = [r.latency_cycles for r in results if not r.saturated]
        mean = statistics.mean(x.mean for x in steady)
        held = sum(abs(x.mean - mean) <= x.ci95 for x in steady)
        print(f"| {name} | {mean:.2f} | {statistics.mean(x.ci95 for x in steady):.2f} | {runs - len(steady)} "
              f"| {held / len(steady):.1%} |", flush=True)


if __name__ == "__main__":
    main()
