"""Faults of the machine: processes that are killed, disks that fill up, system calls that are cut short or interrupted.
Whatever happens, going on ends with the same results as if nothing had.

    python tests/campaign/faults.py --trials 40 --seed 1

Exit status 1 if anything fell.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLITLAB = [sys.executable, "-m", "flitlab"]
HERE = Path(__file__).resolve().parent
CONFIG = """
router.kind = "vc"
topology.shape = [4, 4]
traffic.load = 0.2
run.warmup_cycles = 1000
run.measure_cycles = {cycles}
"""
ATTEMPTS = 40  # after which a command must have come to its end


class Sweep:
    """A sweep into a folder; what remains is its table."""

    cycles = 1500

    def command(self, folder: Path, again: bool) -> list[str]:
        resume = ["--resume"] if again and (folder / "out" / "points.jsonl").exists() else []
        return ["sweep", "c.toml", "--over", "traffic.load=0.05:0.5:0.05", "--out", "out", *resume]

    def result(self, folder: Path, output: str) -> str:
        return hashlib.sha256((folder / "out" / "curve.csv").read_bytes()).hexdigest()


class Run:
    """A run with a checkpoint every moment; what remains is its result."""

    cycles = 60_000

    def command(self, folder: Path, again: bool) -> list[str]:
        return ["run", "c.toml", "--json", "--checkpoint", "run.checkpoint", "--every", "0.05"]

    def result(self, folder: Path, output: str) -> str:
        found = json.loads(output)
        return f"{found['state_hash']} {found['accepted']} {found['latency_cycles']['mean']}"


class Kill:
    """Ends the process at any moment."""

    def attempt(self, command, folder, choose, whole):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate(timeout=choose.uniform(0.2, 1.1 * whole))
        except subprocess.TimeoutExpired:
            process.send_signal(choose.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            output, errors = process.communicate()
        return process.returncode, output, errors


class FullDisk:
    """No file may become larger than a size, which grows from attempt to attempt: as if somebody made room."""

    def __init__(self):
        self.most = 300

    def attempt(self, command, folder, choose, whole):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))

        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit, timeout=600)
        self.most = int(self.most * choose.uniform(1.5, 4))
        return done.returncode, done.stdout, done.stderr


class ShortCalls:
    """Reads and writes are cut short or interrupted all the time; nobody may notice."""

    def __init__(self):
        self.library = Path(tempfile.gettempdir()) / f"flitlab-short-writes-{os.getpid()}.so"
        compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
        if compiler is None:
            sys.exit("faults.py: a C compiler is needed, and neither cc, gcc nor clang is on PATH.")
        if not self.library.exists():
            source = HERE / "short_writes.c"
            subprocess.run([compiler, "-shared", "-fPIC", "-o", str(self.library), str(source), "-ldl"], check=True)

    def attempt(self, command, folder, choose, whole):
        environment = os.environ | {"LD_PRELOAD": str(self.library), "PYTHONDONTWRITEBYTECODE": "1",
                                    "SHORT_WRITES_SEED": str(choose.randrange(1 << 30))}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600)
        if done.returncode:
            raise AssertionError(f"short calls end it with {done.returncode}: {done.stderr[-300:]}")
        return done.returncode, done.stdout, done.stderr


def make(folder: Path, work) -> None:
    (folder / "c.toml").write_text(CONFIG.format(cycles=work.cycles))


def trial(work, fault, choose: random.Random, expected: str, whole: float) -> str:
    """Tries until the command comes to its end. Returns "" or what fell."""
    folder = Path(tempfile.mkdtemp())
    make(folder, work)
    try:
        for attempt in range(ATTEMPTS):
            command = [*FLITLAB, *work.command(folder, attempt > 0)]
            status, output, errors = fault.attempt(command, folder, choose, whole)
            crashed = status in (-signal.SIGSEGV, -signal.SIGABRT)
            if crashed or "Traceback" in errors or "terminate called" in errors:
                return f"attempt {attempt} ended with {status}: {errors[-400:]}"
            if status == 0:
                found = work.result(folder, output)
                return "" if found == expected else f"attempt {attempt} ended otherwise: {found}, not {expected}"
        return f"no end after {ATTEMPTS} attempts; the last said {errors[-300:]}"
    except (AssertionError, ValueError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None, help="folder for faults.json")
    args = parser.parse_args()
    undisturbed = {}
    for work in (Sweep(), Run()):
        with tempfile.TemporaryDirectory() as name:
            folder, started = Path(name), time.monotonic()
            make(folder, work)
            done = subprocess.run([*FLITLAB, *work.command(folder, False)], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"faults.py: undisturbed it ends with {done.returncode}: {done.stderr}")
            undisturbed[type(work).__name__] = work.result(folder, done.stdout), time.monotonic() - started
    counts, fallen = collections.Counter(), []
    for number in range(args.trials):
        choose = random.Random(args.seed * 1_000_000 + number)
        work, fault = choose.choice([Sweep, Run])(), [Kill, FullDisk, ShortCalls][number % 3]()
        what = trial(work, fault, choose, *undisturbed[type(work).__name__])
        counts[f"{type(work).__name__} {type(fault).__name__}"] += 1
        if what:
            fallen.append({"trial": number, "work": type(work).__name__, "fault": type(fault).__name__, "what": what})
            print(f"FINDING trial {number}, {type(work).__name__}, {type(fault).__name__}: {what}", flush=True)
    for name, n in sorted(counts.items()):
        print(f"{name:<18} {n}")
    print(f"{len(fallen)} findings")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "faults.json").write_text(json.dumps({"tried": counts, "findings": fallen}, indent=1))
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
