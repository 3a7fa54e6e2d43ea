"""Checkpoints with changed numbers and a valid checksum: a network rejects one, runs it, or ends with a message, and
never accesses memory outside its state.

    python tests/campaign/forged.py --seconds 300 --seed 1

Runs the test `ChangedCheckpoint.IsRefusedOrRuns` with successive seeds, under the address and undefined-behaviour
sanitizers; builds them if `make test` has not. Exit status 1 if a test failed; the log names the changed numbers.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import flitlab as fl

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "build" / "asan-ubsan" / "flitlab_tests"
MOST_SECONDS = 600  # limit for one model with one seed, s; a test that takes longer counts as stuck


def build() -> None:
    """Builds the tests, or exits with a message about the failed command."""
    jobs = str(len(os.sched_getaffinity(0)))
    for command in (["cmake", "--preset", "asan-ubsan"],
                    ["cmake", "--build", "--preset", "asan-ubsan", "--parallel", jobs]):
        if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
            sys.exit(f"forged.py: {' '.join(command)} failed; its messages are above.")


def forge(kind: str, seed: int, out: Path) -> int | None:
    """Returns the number of changed states that were tried for a model; None if one failed."""
    log = out / f"{kind}-{seed}.log"
    with log.open("w") as file:
        try:
            status = subprocess.run(
                [TESTS, f"--gtest_filter=*ChangedCheckpoint.IsRefusedOrRuns/{kind}"], stdout=file, stderr=file,
                timeout=MOST_SECONDS, env=os.environ | {"FLITLAB_FORGED": "1", "FLITLAB_FORGED_SEED": str(seed)},
            ).returncode
        except subprocess.TimeoutExpired:
            status = "stuck"
    text = log.read_text(errors="replace")
    if status or "[  PASSED  ] 1 test." not in text or "runtime error" in text:
        print(f"{kind}, seed {seed}: failed ({status}); see {log}", flush=True)
        return None
    log.unlink()
    return sum(line.startswith(f"{kind} ") for line in text.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    build()
    out = args.out / "forged"
    out.mkdir(parents=True, exist_ok=True)
    kinds = [model["kind"] for model in fl._core.models()]
    tried, failed_states, seed, started = dict.fromkeys(kinds, 0), 0, args.seed, time.monotonic()
    while time.monotonic() - started < args.seconds:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for kind, count in zip(kinds, pool.map(lambda kind, seed=seed: forge(kind, seed, out), kinds), strict=True):
                tried[kind] += count or 0
                failed_states += count is None
        seed += 1
    print(f"{sum(tried.values())} changed states, seeds {args.seed} to {seed - 1}; {failed_states} failed")
    found = {"tried": tried, "fell": failed_states, "seeds": seed - args.seed}
    args.out.joinpath("forged.json").write_text(json.dumps(found))
    return 1 if failed_states else 0


if __name__ == "__main__":
    sys.exit(main())
