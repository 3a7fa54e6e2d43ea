"""Mutation testing: makes a few hundred small changes to the code, and checks whether a test fails.

    python tests/mutation/mutate.py --mutants 400 --seed 1       about an hour on two cores
    python tests/mutation/mutate.py --mutants 40 --seed 2
    python tests/mutation/mutate.py --mutants 150 --sources "kernels/routers/vc/lanes/*.hpp" \
        --tests "*VcLanes*:*VcNaive*"

All changes are compiled into one build of the C++ tests (build/mutation); one is active at a time. A mutant runs the
tests that reach it, among the quick ones that together take less than a minute. Mutants that no test kills must be in
survivors.toml with a reason; the command prints the others. Exit status 1 if there are any, or if less than 95 % of the
mutants that are not equivalent to the code are killed.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from schemata import SOURCES, Mutant, all_mutants, chosen, compiled_in

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutation"
SURVIVORS = Path(__file__).parent / "survivors.toml"
QUICK_SECONDS = 60  # total time, without a mutant, of the tests that mutants run
GOAL = 0.95


def copy_of_the_project() -> Path:
    source = BUILD / "source"
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            text=True, capture_output=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and name.split("/")[0] in ("kernels", "host", "tests", "configs", "CMakeLists.txt"):
            write_if_new(source / name, (ROOT / name).read_bytes())
    return source


def write_if_new(path: Path, data: bytes) -> None:
    """Leaves an unchanged file untouched, so that the next build is shorter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def build(source: Path, mutants: list[Mutant]) -> list[Mutant]:
    """Builds the tests with all mutants that compile, and returns these mutants."""
    left = {m.number: m for m in mutants}
    while True:
        by_path = collections.defaultdict(list)
        for m in left.values():
            by_path[m.path].append(m)
        for path in {m.path for m in mutants}:
            text = (ROOT / path).read_text()
            write_if_new(source / path, (compiled_in(text, by_path[path]) if by_path[path] else text).encode())
        flags = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -w -D_GLIBCXX_ASSERTIONS", "-DFLITLAB_TESTS=ON",
                 "-DFLITLAB_UNITY=ON", "-DFLITLAB_CUDA=OFF", "-DFLITLAB_MUTATION=ON"]
        configured = subprocess.run(["cmake", "-S", str(source), "-B", str(BUILD / "tests"), "-G", "Ninja", *flags],
                                    capture_output=True, text=True)
        if configured.returncode:
            sys.exit(configured.stdout + configured.stderr)
        done = subprocess.run(["ninja", "-C", str(BUILD / "tests"), "-k", "0", "flitlab_tests"], capture_output=True,
                              text=True)
        if not done.returncode:
            return list(left.values())
        at = re.findall(rf"{re.escape(str(source))}/([\w./]+):(\d+)", "\n".join(
            line for line in done.stdout.splitlines() if "error:" in line or "required from" in line))
        wrong = [m for m in left.values() if (m.path, str(m.line + 1)) in at]  # plus one line for the header
        if not wrong:
            sys.exit(f"the build fails, but not because of a mutant:\n{done.stdout[-3000:]}")
        print(f"{len(wrong)} of the changes do not compile, and are left out", flush=True)
        for m in wrong:
            del left[m.number]


def reach(mutants: list[Mutant], tests: str) -> float:
    """Runs the tests without a mutant, and records for each mutant the quick tests that reach it. Returns their time,
    seconds."""
    file = BUILD / "reach"
    file.unlink(missing_ok=True)
    done = subprocess.run([str(BUILD / "tests" / "flitlab_tests"), f"--gtest_filter={tests}"], capture_output=True,
                          text=True, env=os.environ | {"FLITLAB_REACH": str(file)})
    if done.returncode:
        sys.exit(f"the tests fail without a mutant:\n{done.stdout[-3000:]}")
    tests = [line.split() for line in file.read_text().splitlines()]
    tests.sort(key=lambda test: int(test[1]))
    by_number = {m.number: m for m in mutants}
    spent = 0.0
    for name, milliseconds, *numbers in tests:
        spent += int(milliseconds) / 1000
        if spent > QUICK_SECONDS:
            return spent
        for number in map(int, numbers):
            if number in by_number:
                by_number[number].tests.append((name, int(milliseconds)))
    return spent


def outcome(m: Mutant) -> str:
    """Returns a mutant's outcome: killed, survived, or not reached."""
    if not m.tests:
        return "not reached"
    seconds = sum(milliseconds for _, milliseconds in m.tests) / 1000
    names = [name for name, _ in m.tests]
    # First the quickest tests, one of which kills most mutants; then the rest.
    for part in (names[:20], names[20:]):
        if not part:
            continue
        try:
            done = subprocess.run([str(BUILD / "tests" / "flitlab_tests"), "--gtest_fail_fast", "--gtest_brief=1",
                                   f"--gtest_filter={':'.join(part)}"], capture_output=True, timeout=20 + 6 * seconds,
                                  env=os.environ | {"FLITLAB_MUTANT": str(m.number)})
        except subprocess.TimeoutExpired:
            return "killed"
        if done.returncode:
            return "killed"
    return "survived"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1, help="draws other places")
    parser.add_argument("--sources", nargs="+", default=SOURCES, help="files to change (patterns)")
    parser.add_argument("--tests", default="-*Gpu*:Fuzz*", help="filter of GoogleTest")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=0, help="time limit; 0: none")
    args = parser.parse_args()
    for tool in ("cmake", "ninja"):
        if shutil.which(tool) is None:
            sys.exit(f"mutate.py: {tool} is needed.")
    args.out.mkdir(parents=True, exist_ok=True)
    known = {s["mutant"]: s for s in tomllib.loads(SURVIVORS.read_text()).get("survivor", [])}
    places = all_mutants(ROOT, args.sources)
    mutants = chosen(places, args.mutants, args.seed)
    for number, m in enumerate(mutants, 1):
        m.number = number
    print(f"{len(mutants)} of {len(places)} places, seed {args.seed}", flush=True)
    mutants = build(copy_of_the_project(), mutants)
    print(f"quick tests: {reach(mutants, args.tests):.0f} s", flush=True)
    end = time.monotonic() + (args.minutes or 1e6) * 60
    with ThreadPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(lambda m: outcome(m) if time.monotonic() < end else "not tried", mutants))
    counts = collections.Counter(outcomes)
    alive = [(m, how) for m, how in zip(mutants, outcomes, strict=True) if how in ("survived", "not reached")]
    new = [(m, how) for m, how in alive if m.key not in known]
    tried = len(mutants) - counts["not tried"]
    (args.out / "report.json").write_text(json.dumps({
        "seed": args.seed, "places": len(places), "tried": tried, "outcomes": counts,
        "alive": [{"mutant": m.key, "line": m.line, "how": how} | known.get(m.key, {}) for m, how in alive]}, indent=1))
    for m, how in new:
        print(f"{how}: {m.path}:{m.line}: {m.code}: {m.change}")
    equivalent = sum(known.get(m.key, {}).get("equivalent", False) for m, _ in alive)
    score = counts["killed"] / max(1, tried - equivalent)
    print(f"{counts['killed']} of {tried} killed, {score:.1%} of the {tried - equivalent} that are not equivalent; "
          f"{len(alive) - len(new)} survive with a known reason, {len(new)} without")
    return 1 if new or score < GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
