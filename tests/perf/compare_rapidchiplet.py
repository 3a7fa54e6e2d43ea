"""Comparison with BookSim under RapidChiplet (spcl/rapidchiplet): the part of its `reproduce_paper_results.py` that
starts BookSim, once with its own program and once with flitlab-booksim in its place.

    python tests/perf/compare_rapidchiplet.py PATH/TO/rapidchiplet [--scales 3x3] [--python PROGRAM]

RapidChiplet's requirements are installed for the interpreter PROGRAM, and its BookSim is built. Its scripts run in a
copy of the folder, in which only the program booksim2/src/booksim is exchanged; both times they draw the same traffic.
Prints a Markdown table with a row for each topology and size: the processor time of both, including the scripts, and
the largest and the mean differences of the results over the traffic patterns. `--keep FILE` writes all results.
"""

import argparse
import collections
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path("booksim2", "src", "booksim")
EXPERIMENT = "experiments/evaluation_booksim.json"
# Calls RapidChiplet's functions for one design after another, with traffic drawn from the design's name. Prints each
# name with the seconds of processor time.
SCRIPT = f"""
import contextlib, os, random, sys
sys.path.insert(0, ".")
import helpers, run_experiment
experiment = helpers.read_json("{EXPERIMENT}")
metrics, designs = experiment.pop("metrics"), experiment.pop("exp_name")
for name, parameters in run_experiment.compute_parameter_combinations(experiment, designs).items():
    random.seed(name)
    before = sum(os.times()[:4])
    with contextlib.redirect_stdout(sys.stderr):
        run_experiment.run_single_configuration(parameters, metrics, name)
    print(name, sum(os.times()[:4]) - before, flush=True)
"""
MEASURES = ("latency without load", "latency", "accepted rate", "throughput")


def run(folder: Path, python: str) -> dict[str, dict]:
    """Runs the experiment. Returns for each design its name's parts, the seconds, and the results by rate."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([python, "-c", SCRIPT], cwd=folder, capture_output=True, text=True, env=env)
    if done.returncode:
        raise SystemExit(f"RapidChiplet failed:\n{done.stderr[-2000:]}")
    found = {}
    for line in done.stdout.splitlines():
        name, seconds = line.split()
        results = json.loads((folder / "results" / f"{name}.json").read_text())["booksim_simulation"]
        found[name] = {"seconds": float(seconds), "rates": {rate: {key: of_rate[key]["avg"] for key in (
            "packet_latency", "accepted_flit_rate")} for rate, of_rate in results.items() if isinstance(of_rate, dict)}}
    return found


def differences(theirs: dict, ours: dict) -> dict[str, list[float]]:
    """Returns relative differences of a design's results. Throughput is the highest stable rate. Latencies and accepted
    rates are those at all rates that both simulated, up to 90 % of BookSim's throughput."""
    lowest = min(theirs, key=float)
    found = {"latency without load": [ours[lowest]["packet_latency"] / theirs[lowest]["packet_latency"] - 1],
             "throughput": [max(map(float, ours)) / max(map(float, theirs)) - 1], "latency": [], "accepted rate": []}
    for rate in theirs.keys() & ours.keys():
        if float(rate) <= 0.9 * max(map(float, theirs)):
            for name, key in (("latency", "packet_latency"), ("accepted rate", "accepted_flit_rate")):
                found[name].append(ours[rate][key] / theirs[rate][key] - 1)
    return found


def row(label: str, theirs: list[dict], ours: list[dict]) -> str:
    of_all = collections.defaultdict(list)
    for a, b in zip(theirs, ours, strict=True):
        for name, values in differences(a["rates"], b["rates"]).items():
            of_all[name] += values
    seconds = [sum(design["seconds"] for design in designs) for designs in (theirs, ours)]
    cells = [f"{max(values, key=abs):+.1%}, {statistics.mean(values):+.2%}" for values in map(of_all.get, MEASURES)]
    runs = " and ".join(str(sum(len(design["rates"]) for design in designs)) for designs in (theirs, ours))
    return f"| {label} | {runs} | {seconds[0]:.0f} | {seconds[1]:.0f} | {seconds[0] / seconds[1]:.1f} | " + \
        " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="folder of RapidChiplet")
    parser.add_argument("--python", default=sys.executable, help="interpreter with RapidChiplet's requirements")
    parser.add_argument("--scales", default="3x3", help="rows and columns of chiplets")
    parser.add_argument("--topologies", default="mesh,torus,folded_torus,sid_mesh")
    parser.add_argument("--keep", type=Path, help="file for the results (JSON)")
    args = parser.parse_args()
    print("| design | stable runs | seconds, BookSim | flitlab-booksim | ratio | " + " | ".join(MEASURES) + " |\n" +
          "|---" * (5 + len(MEASURES)) + "|")
    kept = {}
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "rapidchiplet")
        shutil.copytree(args.checkout, folder, ignore=shutil.ignore_patterns(".git", "*.o"))
        experiment = json.loads((folder / EXPERIMENT).read_text())
        for scale in args.scales.split(","):
            for topology in args.topologies.split(","):
                (folder / EXPERIMENT).write_text(json.dumps(experiment | {
                    "exp_name": f"{topology}-{scale}", "grid_scale": [scale], "topology": [topology]}))
                shutil.copy(args.checkout / PROGRAM, folder / PROGRAM)
                theirs = run(folder, args.python)
                (folder / PROGRAM).unlink()
                (folder / PROGRAM).write_text(
                    f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -m flitlab.booksim.program \"$@\"\n")
                (folder / PROGRAM).chmod(0o755)
                ours = run(folder, args.python)
                kept |= {name: [theirs[name], ours[name]] for name in theirs}
                if args.keep:
                    args.keep.write_text(json.dumps(kept))
                print(row(f"{topology}, {scale}", list(theirs.values()), list(ours.values())), flush=True)


if __name__ == "__main__":
    main()
