"""All tests with random input, for a given number of hours: `make campaign HOURS=2 SEED=1`.

First the CUDA engine is built for a device that the host emulates (tests/cuda_on_host). A quarter of the time goes to
the fuzzers, if Clang is installed, and a twentieth to changed checkpoints. The soak and the faults of the machine take
up to a quarter each; random networks and damaged inputs get the rest. A part that takes more than twice its time plus
the time of a build is stopped and counts as a failure. Exit status 1 if any part failed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SOAK_HOURS = 0.5  # time of the whole soak and the faults on two cores, with a margin
BUILD_SECONDS = 1800  # extra time for a build on a slow core


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    started, failed_parts = time.monotonic(), []

    def run(name: str, seconds: float, *command: object) -> None:
        """Runs a command that should take about `seconds`."""
        print(f"== {name}, after {(time.monotonic() - started) / 60:.0f} minutes", flush=True)
        try:
            if subprocess.run([sys.executable, *map(str, command)], env=os.environ | paths,
                              timeout=2 * seconds + BUILD_SECONDS).returncode:
                failed_parts.append(name)
        except subprocess.TimeoutExpired:
            failed_parts.append(f"{name} (did not finish)")

    paths: dict[str, str] = {}
    package = args.out.resolve() / "package"
    run("package with CUDA on the host", 0, TESTS / "cuda_on_host" / "install.py", package)

    forms = len(list((TESTS / "fuzz" / "corpus").iterdir()))
    seconds, cores = args.hours * 3600, len(os.sched_getaffinity(0))
    if shutil.which("clang++"):
        run("fuzzers", seconds / 4, TESTS / "fuzz" / "fuzz.py", "--seconds", f"{seconds / 4 * cores / forms:.0f}",
            "--out", args.out / "fuzz")
    else:
        print("no fuzzing: clang++ is not installed")
    run("changed checkpoints", seconds / 20, TESTS / "campaign" / "forged.py", "--seconds", f"{seconds / 20:.0f}",
        "--seed", args.seed, "--out", args.out)
    part = min(1.0, args.hours / 4 / SOAK_HOURS)
    run("soak", seconds / 4, TESTS / "campaign" / "soak.py", "--cycles", f"{1e9 * part:.0f}", "--points",
        f"{100000 * part:.0f}", "--out", args.out)
    run("faults of the machine", seconds / 4, TESTS / "campaign" / "faults.py", "--trials", max(5, int(120 * part)),
        "--seed", args.seed, "--out", args.out)
    paths["PYTHONPATH"] = str(package)
    left = max(seconds - (time.monotonic() - started), 4)
    run("random networks and damaged inputs", left, TESTS / "campaign" / "campaign.py", "--hours", f"{left / 3600:.4f}",
        "--seed", args.seed, "--out", args.out)
    print(f"failed: {', '.join(failed_parts)}" if failed_parts else "no failures")
    return 1 if failed_parts else 0


if __name__ == "__main__":
    sys.exit(main())
