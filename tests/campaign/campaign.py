"""The campaign: random networks and damaged inputs, for a number of hours or of cases, and a report.

    python tests/campaign/campaign.py --hours 2 --seed 1 --out out/campaign
    python tests/campaign/campaign.py --cases 64 --seed 1

Exit status 1 if there are findings. Each finding has a folder in --out with its files and `finding.json`: the failure
and the smallest configuration that still shows it. `worker.py one FOLDER FOLDER/finding.json` tries it again.
"""

import argparse
import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flitlab import _core

HERE = Path(__file__).resolve().parent
CASES = 16  # number of cases that one process tries
SECONDS = 300  # time limit for a process to start, or to retry one configuration, s
SECONDS_A_CASE = 120


def work(what: str, folder: Path, arguments: list, seconds: float) -> list[dict]:
    """Returns the lines of a worker. If it dies or hangs, the last line is a finding about the case that was
    running."""
    command = [sys.executable, str(HERE / "worker.py"), what, str(folder), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        output, why = done.stdout, f"the process ended with status {done.returncode}: {done.stderr[-600:]}"
        died = done.returncode != 0
    except subprocess.TimeoutExpired as late:
        output, why, died = (late.stdout or b"").decode(), f"it took longer than {seconds:.0f} s", True
    lines = []
    for line in output.splitlines():
        with contextlib.suppress(json.JSONDecodeError):  # a line cut short when the process died
            lines.append(json.loads(line))
    if died:
        at: dict = {}
        for line in lines:
            at = at | line if "at" in line else {}
        lines.append({"done": at.get("at"), "outcome": "finding", "what": why, "config": at.get("config", {})})
    return lines


def fails(config: dict, seed: int, folder: Path) -> str:
    """Returns the failure of a configuration, run as the case of a seed; "" if it passes."""
    file = folder / "one.json"
    file.write_text(json.dumps({"done": seed, "smallest": config}))
    lines = work("one", folder, [file], SECONDS)
    return next((line["what"] for line in lines if line.get("outcome") == "finding"), "")


def kind_of(what: str) -> str:
    """Returns the part of a failure text that identifies its kind. For a traceback: its last frame and the exception
    type. For a message: the text without quotes, lists, and words with digits."""
    frames = re.findall(r'File "(.*)", line (\d+), in', what)
    if frames:
        return f"{frames[-1]} {what.strip().rpartition(chr(10))[2].partition(':')[0]}"
    status = re.match(r"the process ended with status -?\d+", what)
    if status:
        what = what.strip().rpartition("\n")[2][-200:]
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\{.*\}", "", what)
    return (status[0] if status else "") + re.sub(r"[-+\w.]*\d[-+\w.]*", "", bare)


def shrunk(finding: dict, folder: Path) -> dict:
    """Returns the smallest configuration with the same failure; all settings if the failure does not recur."""
    config, seed, what = finding["config"], finding["done"], kind_of(finding["what"])
    if not config or kind_of(fails(config, seed, folder)) != what:
        return config
    for path in [p for p in config if p != "router.kind"]:
        without = {k: v for k, v in config.items() if k != path}
        if kind_of(fails(without, seed, folder)) == what:
            config = without
    return config


class Campaign:
    """Cases tried so far, and findings. Each finding and its files are written to the folder at once."""

    def __init__(self, seed: int, out: Path | None):
        self.seed, self.out = seed, out
        self.outcomes: collections.Counter = collections.Counter()
        self.modes: collections.Counter = collections.Counter()
        self.relations: collections.Counter = collections.Counter()
        self.findings: list[dict] = []

    def chunk(self, number: int) -> None:
        first = self.seed * 100_000_000 + number * CASES * 4
        what = "inputs" if number % 4 == 3 else "networks"
        seeds = list(range(first, first + CASES * (4 if what == "inputs" else 1)))
        while seeds:
            folder = Path(tempfile.mkdtemp())
            lines = work(what, folder, seeds, SECONDS + SECONDS_A_CASE * len(seeds))
            lines = [line for line in lines if "done" in line]
            for line in lines:
                self.outcomes[what, line.get("kind", ""), line["outcome"]] += 1
                self.modes.update(line.get("modes", []))
                self.relations.update(line.get("relations", []))
                if line["outcome"] == "finding":
                    self.found(line | {"part": what}, folder)
            shutil.rmtree(folder)
            last = lines[-1]["done"] if lines else None
            seeds = [s for s in seeds if last is not None and s > last]

    def found(self, finding: dict, folder: Path) -> None:
        if finding["part"] == "networks":
            finding["smallest"] = shrunk(finding, folder)
        self.findings.append(finding)
        print(f"FINDING seed {finding['done']} of {finding['part']}: {finding['what']}")
        print(f"   {finding.get('smallest', '')}", flush=True)
        if self.out:
            shutil.copytree(folder, self.out / f"finding-{finding['done']}", dirs_exist_ok=True)
            (self.out / f"finding-{finding['done']}" / "finding.json").write_text(json.dumps(finding, indent=1))

    def report(self) -> int:
        counted = {" ".join(k): n for k, n in sorted(self.outcomes.items())}
        report = {"seed": self.seed, "cuda": _core.backends()["cuda"]["available"], "outcomes": counted,
                  "modes": self.modes, "relations": self.relations, "findings": self.findings}
        if self.out:
            (self.out / "report.json").write_text(json.dumps(report, indent=1))
        for (what, kind, outcome), n in sorted(self.outcomes.items()):
            print(f"{what:<9} {kind:<9} {outcome:<8} {n}")
        for relation, n in sorted(self.relations.items()):
            print(f"relation {relation}: {n}")
        print("with the CUDA engine" if report["cuda"] else "without the CUDA engine: no device")
        print(f"{len(self.findings)} findings")
        return 1 if self.findings else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--cases", type=int, default=0, help="random networks; four thirds as many damaged inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    end = time.monotonic() + args.hours * 3600
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(args.seed, args.out)
    # Each campaign seed has a separate range of case seeds.
    last = -(-args.cases // (3 * CASES)) * 4 if args.cases else 1_500_000
    numbers = iter(range(last))
    lock = threading.Lock()

    def worker() -> None:
        while args.cases or time.monotonic() < end:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            campaign.chunk(number)

    try:
        with ThreadPoolExecutor(args.jobs) as pool:
            for done in [pool.submit(worker) for _ in range(args.jobs)]:
                done.result()
    finally:
        status = campaign.report()
    return status


if __name__ == "__main__":
    sys.exit(main())
