"""Cost of sweeps and saturation searches: the demo's sweep with automatic windows and with fixed ones, and
`find_saturation` compared with grids of the same resolution.

    python tests/perf/sweep_cost.py
"""

from pathlib import Path

import flitlab as fl

DEMO = Path(__file__).resolve().parents[2] / "configs/vc-torus-8x8x8.toml"
LOADS = [round(0.05 * i, 2) for i in range(1, 14)]
FIXED = {"run.measure_cycles": 10000}
NETWORKS = {"8x8 mesh": ("mesh", [8, 8]), "8x8 torus": ("torus", [8, 8]), "8x8x8 torus": ("torus", [8, 8, 8])}


def latency(row: dict) -> str:
    return "saturated" if row["saturated"] else f"{row['latency_mean']:.2f} +- {row['latency_ci95']:.2f}"


def demo() -> None:
    fixed, automatic = (fl.sweep(fl.load(DEMO).set(changes), {"traffic.load": LOADS}, progress=False).rows
                        for changes in (FIXED, {}))
    print("| load | cycles, fixed window | latency | cycles, automatic | latency |\n|---|---|---|---|---|")
    for a, b in zip(fixed, automatic, strict=True):
        print(f"| {a['traffic.load']} | {a['cycles']} | {latency(a)} | {b['cycles']} | {latency(b)}"
              f"{', capped' * b['window_capped']} |")
    print(f"| all | {sum(a['cycles'] for a in fixed)} | | {sum(b['cycles'] for b in automatic)} | |")


def searches() -> None:
    print("| network | find_saturation | runs | cycles | grid's, a precision of 1 % | of 5 % |")
    print("|---|---|---|---|---|---|")
    for name, (kind, shape) in NETWORKS.items():
        experiment = fl.Experiment.from_dict({"topology.kind": kind, "topology.shape": shape})
        found = fl.find_saturation(experiment)
        grids = [fl.sweep(experiment.set("run.precision", precision),
                          {"traffic.load": [round(0.01 * i, 2) for i in range(1, 101)]}, progress=False)
                 for precision in (0.01, 0.05)]
        low, high = found.interval
        print(f"| {name} | {low:.4f} to {high:.4f} | {found.runs} | {found.cycles} | " + " | ".join(
            f"{sum(row['cycles'] for row in grid.rows)} ({grid.saturation})" for grid in grids) + " |", flush=True)


if __name__ == "__main__":
    demo()
    searches()
