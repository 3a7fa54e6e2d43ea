"""Faults of the machine: processes that are killed, disks that fill up, folders that are read-only, system calls that
are cut short or interrupted, clocks that jump. Messages must be clear, and a resumed command must end with the results
of an undisturbed one.

    python tests/campaign/faults.py --trials 40 --seed 1

Exit status 1 if any trial failed.
"""

import argparse
import collections
import ctypes
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
{traffic}
run.warmup_cycles = 1000
run.measure_cycles = {cycles}
"""
ATTEMPTS = 40  # number of attempts within which a command must finish


class Sweep:
    """A sweep into a folder; its output is the table."""

    cycles, traffic = 1500, ""

    def command(self, folder: Path, again: bool) -> list[str]:
        resume = ["--resume"] if again and (folder / "out" / "points.jsonl").exists() else []
        return ["sweep", "c.toml", "--over", "traffic.load=0.05:0.5:0.05", "--out", "out", *resume]

    def result(self, folder: Path, output: str) -> str:
        return hashlib.sha256((folder / "out" / "curve.csv").read_bytes()).hexdigest()


class Run:
    """A run that writes a checkpoint very often; its output is the result."""

    cycles, traffic = 800_000, "traffic.load = 0.2"

    def command(self, folder: Path, again: bool) -> list[str]:
        return ["run", "c.toml", "--json", "--checkpoint", "run.checkpoint", "--every", "0.05"]

    def result(self, folder: Path, output: str) -> str:
        found = json.loads(output)
        return f"{found['state_hash']} {found['accepted']} {found['latency_cycles']['mean']}"


class RunOfATrace(Run):
    """A run of a trace, whose file is read during the run."""

    traffic = 'traffic.mode = "trace"\ntraffic.trace_file = "t.csv"'

    def command(self, folder: Path, again: bool) -> list[str]:
        if not again:
            choose, lines = random.Random(1), []
            for n in range(300_000):
                source = choose.randrange(16)
                lines.append(f"{n},{source},{(source + choose.randrange(1, 16)) % 16},{choose.randrange(1, 6)}\n")
            (folder / "t.csv").write_text("".join(lines))
        return super().command(folder, again)


class Reproduction:
    """A published experiment, which writes no file; its output is the rows."""

    cycles, traffic = 1, ""

    def command(self, folder: Path, again: bool) -> list[str]:
        return ["reproduce", "metro.unloaded", "--json"]

    def result(self, folder: Path, output: str) -> str:
        return hashlib.sha256(json.dumps(json.loads(output)).encode()).hexdigest()


class Kill:
    """Kills the process at a random time. The time grows with each attempt, because the machine may be slower now than
    when the undisturbed command was timed."""

    def __init__(self):
        self.slower = 1.0

    def attempt(self, command, folder, choose, whole):
        whole *= self.slower
        self.slower *= 1.2
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate(timeout=choose.uniform(0.1 * whole, 1.1 * whole))
        except subprocess.TimeoutExpired:
            process.send_signal(choose.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            output, errors = process.communicate()
        return process.returncode, output, errors


class FullDisk:
    """Limits the size of every file, as on a full disk. The limit grows with each attempt, as if space were freed."""

    def __init__(self):
        self.most = 300

    def attempt(self, command, folder, choose, whole):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))

        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit, timeout=600)
        self.most = int(self.most * choose.uniform(1.5, 4))
        return done.returncode, done.stdout, done.stderr


class Preloaded:
    """Loads a library before the C library; results must not change."""

    source: str

    def __init__(self):
        self.library = Path(tempfile.gettempdir()) / f"flitlab-{self.source}-{os.getpid()}.so"
        compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
        if compiler is None:
            sys.exit("faults.py: a C compiler is needed, and neither cc, gcc nor clang is on PATH.")
        if not self.library.exists():
            source = HERE / self.source
            subprocess.run([compiler, "-shared", "-fPIC", "-o", str(self.library), str(source), "-ldl"], check=True)

    def attempt(self, command, folder, choose, whole):
        environment = os.environ | {"LD_PRELOAD": str(self.library), "PYTHONDONTWRITEBYTECODE": "1",
                                    "PRELOADED_SEED": str(choose.randrange(1 << 30))}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600)
        if done.returncode:
            raise AssertionError(f"{self.source} ends the command with status {done.returncode}: {done.stderr[-300:]}")
        return done.returncode, done.stdout, done.stderr


class ShortCalls(Preloaded):
    """Reads and writes are often cut short or interrupted."""

    source = "short_writes.c"


class JumpingClocks(Preloaded):
    """Clocks jump forward and backward."""

    source = "jumping_clock.c"


class ReadOnly:
    """Kills the process, then makes the folder read-only for one attempt."""

    def __init__(self):
        self.attempts = 0

    def attempt(self, command, folder, choose, whole):
        self.attempts += 1
        if self.attempts != 2:
            return (Kill() if self.attempts == 1 else Undisturbed()).attempt(command, folder, choose, whole)

        def obey():
            ctypes.CDLL(None).prctl(24, 1)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE: permissions apply to root too

        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = {path: path.stat().st_mtime_ns for path in paths}
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=obey, timeout=600)
            if {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]} != before:
                raise AssertionError("a folder that is read-only was written")
        finally:
            for path in paths:
                path.chmod(0o755 if path.is_dir() else 0o644)
        return done.returncode, done.stdout, done.stderr


class Undisturbed:
    """No fault."""

    def attempt(self, command, folder, choose, whole):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout, done.stderr


WORKS = [Sweep, RunOfATrace, Reproduction, Run]
FAULTS = [Kill, FullDisk, ShortCalls, ReadOnly, JumpingClocks]


def make(folder: Path, work) -> None:
    (folder / "c.toml").write_text(CONFIG.format(cycles=work.cycles, traffic=work.traffic))


def trial(work, fault, choose: random.Random, expected: str, whole: float) -> str:
    """Repeats a command until it finishes. Returns "" or the failure."""
    folder = Path(tempfile.mkdtemp())
    make(folder, work)
    try:
        for attempt in range(ATTEMPTS):
            command = [*FLITLAB, *work.command(folder, attempt > 0)]
            status, output, errors = fault.attempt(command, folder, choose, whole)
            crashed = status in (-signal.SIGSEGV, -signal.SIGABRT)
            if crashed or "Traceback" in errors or "terminate called" in errors:
                return f"attempt {attempt} ended with {status}: {errors[-400:]}"
            message_text = errors.replace("\r", "\n").strip().rpartition("\n")[2]
            if status > 0 and not message_text.startswith("flitlab: "):
                return f"attempt {attempt} ended with {status} without a clear message: {errors[-400:]}"
            if status == 0:
                found = work.result(folder, output)
                return "" if found == expected else f"attempt {attempt} ended with {found} instead of {expected}"
        return f"not finished after {ATTEMPTS} attempts; last error: {errors[-300:]}"
    except (AssertionError, ValueError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)


def without_faults(work) -> tuple[str, float]:
    """Returns a command's undisturbed result, and its time in seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name), time.monotonic()
        make(folder, work)
        status, output, errors = Undisturbed().attempt([*FLITLAB, *work.command(folder, False)], folder, None, 0.0)
        if status:
            sys.exit(f"faults.py: the undisturbed command ends with {status}: {errors}")
        return work.result(folder, output), time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None, help="folder for faults.json")
    args = parser.parse_args()
    undisturbed = {}
    counts, failed_trials = collections.Counter(), []
    for number in range(args.trials):
        choose = random.Random(args.seed * 1_000_000 + number)
        group, place = divmod(number, len(FAULTS))  # trial numbers go through all pairs of a command and a fault
        work, fault = WORKS[(group + place) % len(WORKS)](), FAULTS[place]()
        names = {"work": type(work).__name__, "fault": type(fault).__name__}
        if names["work"] not in undisturbed:
            undisturbed[names["work"]] = without_faults(work)
        what = trial(work, fault, choose, *undisturbed[names["work"]])
        counts[f"{names['work']} {names['fault']}"] += 1
        if what:
            failed_trials.append({"trial": number, **names, "what": what})
            print(f"FINDING trial {number}, {names['work']}, {names['fault']}: {what}", flush=True)
    for name, n in sorted(counts.items()):
        print(f"{name:<26} {n}")
    print(f"{len(failed_trials)} findings")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "faults.json").write_text(json.dumps({"tried": counts, "findings": failed_trials}, indent=1))
    return 1 if failed_trials else 0


if __name__ == "__main__":
    sys.exit(main())
