"""Everything that tries what nobody thought of, in so many hours: `make campaign HOURS=2 SEED=1`.

First the CUDA engine is built for a device that the host emulates (tests/cuda_on_host). A quarter of the time goes to
the fuzzers, as long as Clang is there; then come the soak and faults of the machine, as far as a quarter of the time
allows; random networks and damaged inputs get the rest. Exit status 1 if anything fell.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SOAK_HOURS = 0.5  # that the whole soak and the faults take on two cores, with room


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    started, fell = time.monotonic(), []

    def run(name: str, *command: object) -> None:
        print(f"== {name}, after {(time.monotonic() - started) / 60:.0f} minutes", flush=True)
        if subprocess.run([sys.executable, *map(str, command)], env=os.environ | paths).returncode:
            fell.append(name)

    paths: dict[str, str] = {}
    package = args.out.resolve() / "package"
    run("package with CUDA on the host", TESTS / "cuda_on_host" / "install.py", package)

    forms = len(list((TESTS / "fuzz" / "corpus").iterdir()))
    seconds = args.hours * 3600 / 4 * (os.cpu_count() or 1) / forms
    if shutil.which("clang++"):
        run("fuzzers", TESTS / "fuzz" / "fuzz.py", "--seconds", f"{seconds:.0f}", "--out", args.out / "fuzz")
    else:
        print("no fuzzing: clang++ is not there")
    part = min(1.0, args.hours / 4 / SOAK_HOURS)
    run("soak", TESTS / "campaign" / "soak.py", "--cycles", f"{1e9 * part:.0f}", "--points", f"{100000 * part:.0f}",
        "--out", args.out)
    run("faults of the machine", TESTS / "campaign" / "faults.py", "--trials", max(5, int(120 * part)), "--seed",
        args.seed, "--out", args.out)
    paths["PYTHONPATH"] = str(package)
    left = args.hours - (time.monotonic() - started) / 3600
    run("random networks and damaged inputs", TESTS / "campaign" / "campaign.py", "--hours", f"{max(left, 0.001):.4f}",
        "--seed", args.seed, "--out", args.out)
    print(f"fell: {', '.join(fell)}" if fell else "nothing fell")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
