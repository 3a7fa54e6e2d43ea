"""Speed and memory from small networks to large ones: one and two threads at equal channel utilisation.

    python tests/perf/scaling.py [--activity 0.2] [--tries 3]

Uniform traffic at a load that keeps every channel busy for the given fraction of the time on average, so that routers
of all networks have equal work. Each row is measured in a separate process. Its memory is the difference from a process
with a network of 16 routers, and includes lane state. Prints a Markdown table.
"""
import argparse
import json
import resource
import subprocess
import sys

import flitlab as fl
from flitlab.bench import measure

NETWORKS = [("mesh", [8, 8]), ("mesh", [16, 16]), ("torus", [16, 16]), ("torus", [32, 32]), ("torus", [64, 64]),
            ("torus", [8, 8, 8]), ("torus", [16, 16, 16]), ("torus", [32, 32, 32]), ("torus", [64, 64, 64])]


def experiment(kind: str, shape: list[int], load: float) -> fl.Experiment:
    return fl.Experiment.from_dict({"topology.kind": kind, "topology.shape": shape, "traffic.load": load})


def load_of(kind: str, shape: list[int], activity: float) -> float:
    """Returns the load at which channels are busy for a fraction of the time, on average."""
    derived = experiment(kind, shape, 0.01).derived()
    return activity * float(derived["channels"]) / float(derived["routers"]) / float(derived["hops_mean"])


def one(kind: str, shape: list[int], load: float, threads: int, tries: int) -> dict:
    point = experiment(kind, shape, load)
    routers = int(point.derived()["routers"])
    cycles = max(20, 30_000_000 // routers // 3) if routers > 4096 else 0
    best = max(measure(point, "cpu", threads, cycles)["router_cycles_per_second"] for _ in range(tries))
    return {"rate": best, "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def in_process(*arguments: object) -> dict:
    text = [json.dumps(a) for a in arguments]
    done = subprocess.run([sys.executable, __file__, "--one", *text], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--activity", type=float, default=0.2, help="fraction of the time that channels are busy")
    parser.add_argument("--tries", type=int, default=3, help="measurements of each row; the best counts")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(*(json.loads(a) for a in args.one))))
        return
    least = in_process("torus", [4, 4], 0.1, 1, 1)["resident"]
    print("| network | routers | load | one thread, router-cycles/s | two threads | ratio | bytes of state a router | "
          "resident |\n|---|---|---|---|---|---|---|---|")
    for kind, shape in NETWORKS:
        load = round(load_of(kind, shape, args.activity), 3)
        derived = experiment(kind, shape, load).derived()
        routers = int(derived["routers"])
        rows = [in_process(kind, shape, load, threads, args.tries) for threads in (1, 2)]
        rates = [row["rate"] for row in rows]
        print(f"| {'x'.join(map(str, shape))} {kind} | {routers} | {load:g} | {rates[0] / 1e6:.1f} M | "
              f"{rates[1] / 1e6:.1f} M | {rates[1] / rates[0]:.2f} | {int(derived['state_bytes']) / routers:.0f} | "
              f"{max(0, rows[0]['resident'] - least) / routers:.0f} |", flush=True)


if __name__ == "__main__":
    main()
