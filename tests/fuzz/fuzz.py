"""Fuzzes every form of input that flitlab reads (libFuzzer, with address and undefined-behaviour sanitizers).

    python tests/fuzz/fuzz.py --seconds 60                  each form for a minute, two at a time on two cores
    python tests/fuzz/fuzz.py --only trace --seconds 600
    python tests/fuzz/fuzz.py --seconds 600 --keep          adds inputs that reach new code to tests/fuzz/corpus

Inputs that fail are written to out/fuzz/FORM. After the fix, move the file to tests/fuzz/corpus/FORM: every input there
is a test. Exit status 1 if there were failures.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
FUZZER = ROOT / "build" / "fuzz" / "flitlab_fuzz"
MOST_KEPT = 24  # inputs per form in the repository


def build() -> None:
    """Builds the fuzzer, or exits with a message about the missing compiler or the failed command."""
    if shutil.which("clang++") is None:
        sys.exit("fuzz.py: clang++ is needed: libFuzzer comes with Clang. On Debian install clang.")
    jobs = str(len(os.sched_getaffinity(0)))
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz", "--parallel", jobs]):
        if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
            sys.exit(f"fuzz.py: {' '.join(command)} failed; its messages are above.")


def fuzzer(form: str, *arguments: object) -> tuple[int, str]:
    done = subprocess.run([str(FUZZER), *map(str, arguments)], text=True, capture_output=True, errors="replace",
                          env=os.environ | {"FLITLAB_FUZZ_INPUT": form})
    return done.returncode, done.stderr


def fuzz(form: str, seconds: float, out: Path, keep: bool) -> dict:
    """Fuzzes one form. Returns the number of inputs, the code they reached, and the failures."""
    folder = out / form
    shutil.rmtree(folder, ignore_errors=True)
    failed_inputs = folder / "fallen"
    failed_inputs.mkdir(parents=True)
    found = folder / "corpus"
    shutil.copytree(CORPUS / form, found)
    status, log = fuzzer(form, found, f"-max_total_time={int(seconds)}", f"-artifact_prefix={failed_inputs}/",
                         "-timeout=30", "-rss_limit_mb=3000", "-max_len=4000", "-print_final_stats=1", "-verbosity=1")
    (folder / "log").write_text(log)
    tried = re.search(r"number_of_executed_units: *(\d+)", log)
    reached = re.findall(r" cov: (\d+)", log)
    if keep and not status:
        keep_what_reaches_more(form, found)
    return {"form": form, "tried": int(tried[1]) if tried else 0, "reached": int(reached[-1]) if reached else 0,
            "fallen": sorted(str(file) for file in failed_inputs.iterdir()), "status": status}


def keep_what_reaches_more(form: str, found: Path) -> None:
    """Adds a minimal set of inputs that reach the same code, smallest first; named inputs are kept."""
    with tempfile.TemporaryDirectory() as merged:
        fuzzer(form, "-merge=1", merged, CORPUS / form, found)
        kept = {file.read_bytes() for file in (CORPUS / form).iterdir()}
        for file in sorted(Path(merged).iterdir(), key=lambda file: file.stat().st_size):
            data = file.read_bytes()
            if data not in kept and len(kept) < MOST_KEPT:
                kept.add(data)
                (CORPUS / form / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="for each form")
    parser.add_argument("--only", action="append", default=[], metavar="FORM")
    parser.add_argument("--keep", action="store_true", help="put inputs that reach new code into the corpus")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "fuzz")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    forms = sorted(folder.name for folder in CORPUS.iterdir())
    for form in args.only:
        if form not in forms:
            parser.error(f"--only {form}: there is no such form; there are {', '.join(forms)}.")
    build()
    with ThreadPoolExecutor(args.jobs) as pool:
        reports = list(pool.map(lambda form: fuzz(form, args.seconds, args.out, args.keep), args.only or forms))
    (args.out / "report.json").write_text(json.dumps(reports, indent=1))
    for report in reports:
        print(f"{report['form']:<16} {report['tried']:>9} inputs  {report['reached']:>6} edges  "
              f"{'; '.join(report['fallen']) or ('no failures' if not report['status'] else 'it did not start')}")
    return 1 if any(report["fallen"] or report["status"] for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
