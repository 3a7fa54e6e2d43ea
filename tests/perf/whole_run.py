"""Speed of whole runs: a short run compared with the engine alone, and a trace of a million packets compared with
scalar state (FLITLAB_LANES=0).

    python tests/perf/whole_run.py [--tries 5]

Uses processor time on one thread, the best of all tries, which alternate. Prints a Markdown table; state hashes must
agree.
"""

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

import flitlab as fl
from flitlab import _core

MESH = {"topology.kind": "mesh", "topology.shape": [8, 8]}
PACKETS, FLITS = 1_000_000, 4


def write_trace(path: Path, load: float) -> None:
    draw, cycle = random.Random(1), 0.0
    with path.open("w") as file:
        for _ in range(PACKETS):
            cycle += draw.expovariate(64 * load / FLITS)
            source, hop = draw.randrange(64), draw.randrange(1, 64)
            file.write(f"{int(cycle)},{source},{(source + hop) % 64},{FLITS}\n")


def run(flat: dict, lanes: bool = True) -> tuple[float, dict]:
    """Returns the router-cycles per second of a run, and its result."""
    if not lanes:
        os.environ["FLITLAB_LANES"] = "0"
    started = time.process_time()
    result = fl.run(flat, backend="cpu", threads=1, progress=False)
    seconds = time.process_time() - started
    os.environ.pop("FLITLAB_LANES", None)
    return result["cycles"] * 64 / seconds, result


def engine(flat: dict, cycles: int) -> float:
    """Returns the router-cycles per second of the engine alone, after a run-in."""
    network = _core.Network(fl.Experiment.from_dict(flat).core, "cpu", 1, False)
    network.step(500)
    started = time.process_time()
    network.step(cycles)
    return cycles * 64 / (time.process_time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=5)
    tries = parser.parse_args().tries
    print("| run on an 8x8 mesh | load | router-cycles/s | of the engine alone | ratio |\n|---|---|---|---|---|")
    for load in (0.04, 0.2, 0.4):
        flat = MESH | {"traffic.load": load}
        cycles = run(flat)[1]["cycles"]
        pairs = [(run(flat)[0], engine(flat, cycles)) for _ in range(4 * tries)]
        whole, alone = (max(rates) for rates in zip(*pairs, strict=True))
        print(f"| {cycles} cycles | {load} | {whole / 1e6:.1f} M | {alone / 1e6:.1f} M | {whole / alone:.2f} |")
    print("\n| trace of a million packets | load | with lanes | without | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for load in (0.04, 0.2, 0.4):
            path = Path(folder) / f"{load}.csv"
            write_trace(path, load)
            flat = MESH | {"traffic.mode": "trace", "traffic.trace_file": str(path)}
            pairs = [(run(flat), run(flat, lanes=False)) for _ in range(tries)]
            if len({result["state_hash"] for pair in pairs for _, result in pair}) != 1:
                raise SystemExit(f"load {load}: state hashes differ")
            lanes, scalar = (max(rate for rate, _ in runs) for runs in zip(*pairs, strict=True))
            print(f"| {pairs[0][0][1]['cycles']} cycles | {load} | {lanes / 1e6:.1f} M | {scalar / 1e6:.1f} M"
                  f" | {lanes / scalar:.2f} |", flush=True)


if __name__ == "__main__":
    main()
