"""Comparison with BookSim under RapidChiplet (spcl/rapidchiplet): the part of its `reproduce_paper_results.py` that
starts BookSim, once with its own program and once with flitlab-booksim in its place.

    python tests/perf/compare_rapidchiplet.py PATH/TO/rapidchiplet [--scales 3x3] [--python PROGRAM] [--published]

RapidChiplet's requirements are installed for the interpreter PROGRAM, and its BookSim is built. Its scripts run in a
copy of the folder, in which only the program booksim2/src/booksim is exchanged; both times they draw the same traffic.
Prints a Markdown table with a row for each topology and size: the processor time of both, including the scripts, and
the largest and the mean differences of the results over the traffic patterns.

`--published` compares with the results of BookSim in the authors' figure instead of running BookSim. Their seconds are
the stable runs' on the authors' machine. The figure has the latency without load and the throughput; the patterns
`permutation` and `hotspot` draw other traffic there.

`--keep FOLDER` keeps all results in FOLDER/booksim and FOLDER/flitlab, with the names that RapidChiplet's plots read.
Designs with results there are not simulated again.
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

import rapidchiplet_figure

PROGRAM = Path("booksim2", "src", "booksim")
EXPERIMENT = "experiments/evaluation_booksim.json"
# Calls RapidChiplet's functions for each design (topology-scale-pattern), with traffic drawn from the design's name.
# Adds the seconds of processor time to the results.
SCRIPT = f"""
import contextlib, os, random, sys
sys.path.insert(0, ".")
import helpers, run_experiment
experiment = helpers.read_json("{EXPERIMENT}")
fixed, _ = run_experiment.split_parameters(experiment)
for design in sys.argv[1:]:
    chosen = dict(zip(("topology", "grid_scale", "traffic_pattern"), design.split("-")))
    random.seed(design)
    before = sum(os.times()[:4])
    with contextlib.redirect_stdout(sys.stderr):
        run_experiment.run_single_configuration(fixed | chosen, experiment["metrics"], "evaluation_booksim-" + design)
    file = f"results/evaluation_booksim-{{design}}.json"
    helpers.write_json(file, helpers.read_json(file) | {{"processor_seconds": sum(os.times()[:4]) - before}})
"""
MEASURES = ("latency without load", "latency", "accepted rate", "throughput")
LOWEST = 0.001  # RapidChiplet's first load


def exchanged(checkout: Path, folder: Path) -> Path:
    """Returns a copy of the checkout with flitlab-booksim as its BookSim."""
    copied(checkout, folder)
    (folder / PROGRAM).unlink()
    (folder / PROGRAM).write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -m flitlab.booksim.program \"$@\"\n")
    (folder / PROGRAM).chmod(0o755)
    return folder


def copied(checkout: Path, folder: Path) -> Path:
    return Path(shutil.copytree(checkout, folder, ignore=shutil.ignore_patterns(".git", "*.o")))


def run(folder: Path, kept: Path, python: str, design: str) -> dict:
    """Returns a design's seconds, its throughput (the highest stable rate), and the results by rate. Runs it in the
    copy ``folder`` of RapidChiplet unless the folder ``kept`` has its results, and puts them there."""
    file = f"evaluation_booksim-{design}.json"
    if not (kept / file).exists():
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run([python, "-c", SCRIPT, design], cwd=folder, capture_output=True, text=True, env=env)
        if done.returncode:
            raise SystemExit(f"RapidChiplet failed:\n{done.stderr[-2000:]}")
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "results" / file, kept)
    found = json.loads((kept / file).read_text())
    rates = {round(float(rate), 3): {name: of_rate[key]["avg"] for name, key in (
        ("latency", "packet_latency"), ("accepted rate", "accepted_flit_rate"))}
        for rate, of_rate in found["booksim_simulation"].items() if isinstance(of_rate, dict)}
    return {"seconds": found["processor_seconds"], "throughput": max(rates), "rates": rates, "runs": len(rates)}


def of_figure(design: dict) -> dict:
    """Returns a published design in the form of run(), with the one rate at which the figure has a latency."""
    return {"seconds": design["seconds"], "throughput": design["throughput"],
            "rates": {LOWEST: {"latency": design["latency"]}}, "runs": 0}


def differences(theirs: dict, ours: dict) -> dict[str, list[float]]:
    """Returns relative differences of a design's results. Latencies and accepted rates are those at all rates that both
    simulated, up to 90 % of BookSim's throughput."""
    found = {"latency without load": [ours["rates"][LOWEST]["latency"] / theirs["rates"][LOWEST]["latency"] - 1],
             "throughput": [ours["throughput"] / theirs["throughput"] - 1], "latency": [], "accepted rate": []}
    for rate in theirs["rates"].keys() & ours["rates"].keys():
        if rate <= 0.9 * theirs["throughput"]:
            for name, value in theirs["rates"][rate].items():
                found[name].append(ours["rates"][rate][name] / value - 1)
    return found


def row(label: str, theirs: list[dict], ours: list[dict], measures: tuple[str, ...]) -> str:
    of_all = collections.defaultdict(list)
    for a, b in zip(theirs, ours, strict=True):
        for name, values in differences(a, b).items():
            of_all[name] += values
    seconds = [sum(design["seconds"] for design in designs) for designs in (theirs, ours)]
    cells = [f"{max(values, key=abs):+.1%}, {statistics.mean(values):+.2%}"
             for values in map(of_all.get, measures)]
    runs = " and ".join(str(sum(design["runs"] for design in designs) or "-") for designs in (theirs, ours))
    return f"| {label} | {runs} | {seconds[0]:.0f} | {seconds[1]:.0f} | {seconds[0] / seconds[1]:.1f} | " + \
        " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="folder of RapidChiplet")
    parser.add_argument("--python", default=sys.executable, help="interpreter with RapidChiplet's requirements")
    parser.add_argument("--scales", default="3x3", help="rows and columns of chiplets")
    parser.add_argument("--topologies", default=",".join(rapidchiplet_figure.TOPOLOGIES))
    parser.add_argument("--patterns", help="traffic (all; with --published: random_uniform,transpose)")
    parser.add_argument("--published", action="store_true", help="compare with the authors' figure")
    parser.add_argument("--keep", type=Path, help="folder for the results")
    args = parser.parse_args()
    patterns = args.patterns.split(",") if args.patterns else \
        rapidchiplet_figure.PATTERNS[:2] if args.published else rapidchiplet_figure.PATTERNS
    measures = ("latency without load", "throughput") if args.published else MEASURES
    print("| design | stable runs | seconds, BookSim | flitlab-booksim | ratio | " + " | ".join(measures) + " |\n" +
          "|---" * (5 + len(measures)) + "|")
    figure = rapidchiplet_figure.published(args.checkout) if args.published else {}
    with tempfile.TemporaryDirectory() as parent:
        kept = args.keep or Path(parent, "kept")
        booksim = copied(args.checkout, Path(parent, "booksim"))
        flitlab = exchanged(args.checkout, Path(parent, "flitlab"))
        for scale in args.scales.split(","):
            for topology in args.topologies.split(","):
                designs = [f"{topology}-{scale}-{pattern}" for pattern in patterns]
                theirs = [of_figure(figure[design]) if figure else
                          run(booksim, kept / "booksim", args.python, design) for design in designs]
                ours = [run(flitlab, kept / "flitlab", args.python, design) for design in designs]
                print(row(f"{topology}, {scale}", theirs, ours, measures), flush=True)


if __name__ == "__main__":
    main()
