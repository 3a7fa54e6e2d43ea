"""A billion cycles of every model, and a sweep of 100,000 points.

    python tests/campaign/soak.py                                  all of it, about twenty minutes on two cores
    python tests/campaign/soak.py --cycles 2e6 --points 500        a small part

Networks are small, so that many cycles pass. After each piece the network is audited and saved, and a new network on
another number of threads continues from the file. Memory must not grow from piece to piece, and only slightly for each
point of the sweep. Exit status 1 if a check failed.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flitlab as fl

SMALL = {"vc": {"topology.shape": [2, 2]}, "adaptive": {"topology.shape": [2, 2]}, "bless": {"topology.shape": [2, 2]},
         "t3e": {"topology.shape": [2, 2, 1]}, "bgl": {"topology.shape": [3, 2], "traffic.load": 0.03},
         "switch": {"topology.ports": 2},
         "metro": {"topology.radix": [2, 2], "topology.dilation": [1, 1]},
         "sconnect": {"topology.kind": "mesh", "topology.shape": [2, 1]}}
PIECES = 20
MOST_GROWTH = 64 << 20  # bytes of growth from the second piece to the last
MOST_A_POINT = 1536  # bytes per point of a sweep
MOST_OF_A_SWEEP = 200 << 20  # bytes of 100,000 points, including the memory of a short sweep
ALLOWED_CYCLES = 1_900_000_000  # largest number of cycles of a run; emulated time ends slightly later


def resident() -> int:
    """Returns the peak memory of this process so far, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def soak(kind: str, cycles: int) -> dict:
    """Steps a model for `cycles` cycles, in pieces."""
    e = fl.Experiment.from_dict({"router.kind": kind, "traffic.load": 0.05} | SMALL.get(kind, {}))
    load = e["traffic.load"]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file, delivered, after_first = Path(folder) / "soak.checkpoint", 0, 0
        for piece in range(PIECES):
            net = fl.Network(e, backend="cpu", threads=1 + piece % 2)
            if piece:
                net.load(file)
            net.step(cycles // PIECES)
            net.check()
            totals = net.totals
            if totals["packets_delivered"] <= delivered:
                raise fl.RunError(f"{kind}: no packet arrived in piece {piece}")
            delivered = totals["packets_delivered"]
            net.save(file)
            after_first = after_first or resident()
        created = totals["packets_created"]
        expected = load * cycles * int(e.derived()["terminals"])
    if resident() - after_first > MOST_GROWTH:
        raise fl.RunError(f"{kind}: memory grew by {(resident() - after_first) >> 20} MB")
    if created - delivered - totals["packets_dropped"] > 1000:
        raise fl.RunError(f"{kind}: of {created} packets {delivered} arrived")
    offered = round(totals["flits_created"] / expected, 4)
    return {"cycles": net.cycle, "packets": delivered, "created, of what the load asks": offered}


def sweep(points: int) -> dict:
    """Runs a sweep of small points."""
    e = fl.Experiment.from_dict({"router.kind": "vc", "topology.shape": [2, 2], "traffic.load": 0.1,
                                 "run.warmup_cycles": 0, "run.measure_cycles": 100, "run.epoch_cycles": 50})
    before = resident()
    # First a short sweep, which shows the memory that a sweep needs for any number of points.
    with tempfile.TemporaryDirectory() as folder:
        fl.sweep(e, {"run.seed": range(1, 11)}, out=folder, backend="cpu", progress=False)
    of_a_few = resident()
    with tempfile.TemporaryDirectory() as folder:
        curve = fl.sweep(e, {"run.seed": range(1, points + 1)}, out=folder, backend="cpu", progress=False)
        written = sum(1 for _ in (Path(folder) / "points.jsonl").open())
    if len(curve.rows) != points or written != points:
        raise fl.RunError(f"sweep: {points} points requested, {len(curve.rows)} in the table, {written} in the file")
    taken, all_in_all = (resident() - of_a_few) / points, resident() - before
    if points >= 10000 and taken > MOST_A_POINT:
        raise fl.RunError(f"sweep: a point took {taken:.0f} bytes")
    if points <= 100_000 and all_in_all > MOST_OF_A_SWEEP:
        raise fl.RunError(f"sweep: {points} points took {all_in_all >> 20} MB")
    return {"points": points, "bytes a point": round(taken), "MB in all": all_in_all >> 20}


def part(what: str, amount: int) -> dict:
    """Runs one part in a separate process, so that its memory can be measured."""
    started = time.monotonic()
    done = subprocess.run([sys.executable, __file__, "--part", what, "--amount", str(amount)], capture_output=True,
                          text=True)
    line = done.stdout.strip().rpartition("\n")[2]
    result = json.loads(line) if not done.returncode and line else {"fell": (done.stderr.strip() or "no output")[-400:]}
    result = {"part": what} | result | {"seconds": round(time.monotonic() - started)}
    print(json.dumps(result), flush=True)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=float, default=1e9, help="of each model")
    parser.add_argument("--points", type=float, default=100000, help="of the sweep")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path, default=None, help="folder for soak.json")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--amount", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.part:
        print(json.dumps(sweep(args.amount) if args.part == "sweep" else soak(args.part, args.amount)))
        return 0
    if not PIECES <= args.cycles <= ALLOWED_CYCLES:
        parser.error(f"--cycles {args.cycles:g}: {PIECES} to {ALLOWED_CYCLES} are possible; emulated time ends there.")
    parts = [("sweep", int(args.points))] + [(m["kind"], int(args.cycles)) for m in fl._core.models()]
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda p: part(*p), parts))
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "soak.json").write_text(json.dumps(results, indent=1))
    return 1 if any("fell" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
