"""The campaign: random networks and damaged inputs, for a number of hours or of cases, and a report.

    python tests/campaign/campaign.py --hours 2 --seed 1 --out out/campaign
    python tests/campaign/campaign.py --cases 64 --seed 1

Exit status 1 if anything fell. Each finding is written to the folder, with the smallest configuration that still shows
it; `worker.py one FOLDER FILE` tries it again.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = 16  # of a process
SECONDS = 60  # that a case may take; a chunk of them has all their time


def work(what: str, arguments: list, seconds: float) -> list[dict]:
    """Lines of a worker. If it dies or is stuck, one more of what it was at."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "worker.py"), what, folder, *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
            output, why = done.stdout, f"the process ended with status {done.returncode}: {done.stderr[-600:]}"
            died = done.returncode != 0
        except subprocess.TimeoutExpired as late:
            output, why, died = (late.stdout or b"").decode(), f"it took longer than {seconds:.0f} s", True
    lines = [json.loads(line) for line in output.splitlines()]
    if died:
        at: dict = {}
        for line in lines:
            at = at | line if "at" in line else {}
        lines.append({"done": at.get("at"), "outcome": "finding", "what": why, "config": at.get("config", {})})
    return lines


def fails(config: dict) -> str:
    """What falls with a configuration; "": nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        lines = work("one", [file.name], SECONDS)
        return next((line["what"] for line in lines if line.get("outcome") == "finding"), "")


def shrunk(config: dict) -> dict:
    """Fewer settings that still make something fall."""
    if not config or not fails(config):
        return config
    for path in [p for p in config if p != "router.kind"]:
        without = {k: v for k, v in config.items() if k != path}
        what = fails(without)
        if what and "ConfigError" not in what:
            config = without
    return config


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--cases", type=int, default=0, help="random networks; a third as many damaged inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    end = time.monotonic() + args.hours * 3600
    outcomes: collections.Counter = collections.Counter()
    findings: list[dict] = []

    def chunk(number: int) -> None:
        first = args.seed * 100_000_000 + number * CASES
        if args.hours and time.monotonic() > end:
            return
        what = "inputs" if number % 4 == 3 else "networks"
        seeds = list(range(first, first + CASES * (4 if what == "inputs" else 1)))
        while seeds:
            lines = [line for line in work(what, seeds, SECONDS * 2) if "done" in line]
            for line in lines:
                outcomes[what, line.get("kind", ""), line["outcome"]] += 1
                if line["outcome"] == "finding":
                    findings.append(line | {"part": what})
            last = lines[-1]["done"] if lines else None
            seeds = [s for s in seeds if last is not None and s > last]

    chunks = range(-(-args.cases // (3 * CASES)) * 4) if args.cases else range(10**9 // CASES)
    with ThreadPoolExecutor(args.jobs) as pool:
        if args.cases:
            list(pool.map(chunk, chunks))
        else:
            running: set = set()
            for number in chunks:
                running.add(pool.submit(chunk, number))
                while len(running) > 2 * args.jobs:
                    for done in [f for f in running if f.done()]:
                        done.result()
                        running.discard(done)
                    time.sleep(0.2)
                if time.monotonic() > end:
                    break
    for finding in findings:
        if finding["part"] == "networks":
            finding["smallest"] = shrunk(finding["config"])
    counted = {" ".join(k): n for k, n in sorted(outcomes.items())}
    report = {"seed": args.seed, "outcomes": counted, "findings": findings}
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "report.json").write_text(json.dumps(report, indent=1))
    for (what, kind, outcome), n in sorted(outcomes.items()):
        print(f"{what:<9} {kind:<9} {outcome:<8} {n}")
    for finding in findings:
        print(f"FINDING seed {finding['done']} of {finding['part']}: {finding['what']}")
        print(f"   {finding.get('smallest', '')}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
