"""Runs the C++ tests that install.py has built with CTest, a small set under the address and undefined-behaviour
sanitizers, style checks and pytest (with the notebooks); the last line gives the totals.

    python tests/tools/run_all.py          all of that
    python tests/tools/run_all.py check    style, types, include rules, recorded hashes, conservation, identity of
                                           engines, each command once: less than two minutes on two cores
    python tests/tools/run_all.py lint     the part of `check` that needs no compiled code
    python tests/tools/run_all.py races    tests of code on several threads, under the thread sanitizer
"""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "tests"
JOBS = str(os.cpu_count() or 1)
# Python tests of `lint` and `check`, and names of the C++ tests of `check`.
LINT = ("tests/docs/test_house.py", "tests/docs/test_script_order.py", "tests/docs/test_files.py",
        "tests/docs/test_workflows.py")
CHECK = (*LINT, "tests/docs/test_columns.py", "tests/docs/test_reference.py", "tests/bindings/test_types.py",
         "tests/bindings/test_stubs.py", "tests/bindings/test_smoke.py", "tests/bindings/test_network.py",
         "tests/hashes")
# Reports (JUnit files) that each mode writes.
REPORTS = {"all": ("ctest", "asan-ubsan", "pytest"), "check": ("ctest", "pytest"), "lint": ("pytest",),
           "races": ("tsan",)}
CHECK_COMPILED = "Recorded|Conserv|Identity"
# The presets list the tests that run under a sanitizer: for memory and arithmetic all code of a cycle, for races all
# code on several threads. Long checks of routing are omitted, because they need no sanitizer.
UNSANITIZED = {"asan-ubsan": "TheMachineNeverDeadlocks", "tsan": "TheMachineNeverDeadlocks|ADeadlockDoesNotStopIt"}


def run(command: list[str], **kwargs) -> int:
    text = " ".join(command)
    # Shortened, because clang-format's command line names all files.
    print("+", text if len(text) < 300 else f"{text[:300]}...", flush=True)
    return subprocess.run(command, cwd=ROOT, **kwargs).returncode


def tool(name: str) -> str:
    """Returns a build tool of the machine, or the one that pip installs."""
    found = shutil.which(name)
    if found:
        return found
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "cmake", "ninja"], check=True)
    return str(Path(sys.executable).parent / name)


def cases(report: Path) -> list[ElementTree.Element]:
    """Returns the tests of a JUnit file; an empty list if it is missing or unreadable."""
    try:
        return list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def is_failure(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"


def count(report: Path) -> tuple[int, int, int]:
    """Returns (passed, failed, skipped) of a JUnit file; a file without tests counts as a failure."""
    tests = cases(report)
    wrong = sum(is_failure(case) for case in tests)
    skipped = sum(
        not is_failure(case) and (case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"))
        for case in tests
    )
    return len(tests) - wrong - skipped, wrong if tests else 1, skipped


def sources() -> list[str]:
    """The C++ and CUDA files."""
    return [str(path.relative_to(ROOT)) for folder in ("kernels", "host", "bindings", "tests")
            for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".cpp", ".hpp", ".cu", ".cuh")]


def ctest(folder: Path, report: Path, *options: str) -> None:
    """Runs a build's tests in parallel, and shows the output of failed ones."""
    command = [tool("ctest"), "--test-dir", str(folder), "--parallel", JOBS, "--output-junit", str(report), "--quiet"]
    if run([*command, *options], env=os.environ | {"UBSAN_OPTIONS": "halt_on_error=1"}):
        for case in cases(report):
            if is_failure(case):
                print(f"--- {case.get('name')}: failed after {case.get('time')} s", flush=True)
                print(case.findtext("system-out") or "", flush=True)


def sanitized(preset: str, report: Path) -> None:
    """Builds with a sanitizer preset and runs its tests; a sanitizer report ends the process, which fails the test."""
    cmake = tool("cmake")
    if run([cmake, "--preset", preset], stdout=subprocess.DEVNULL) or run(
        [cmake, "--build", "--preset", preset, "--parallel", JOBS], stdout=subprocess.DEVNULL
    ):
        return
    ctest(ROOT / "build" / preset, report, "--exclude-regex", UNSANITIZED[preset])


def compiled_tests(reports: dict[str, Path]) -> None:
    """Runs the C++ tests, and a part of them under sanitizers."""
    ctest(BUILD, reports["ctest"])
    sanitized("asan-ubsan", reports["asan-ubsan"])


def python_tests(report: Path, paths: tuple[str, ...] = ("tests",)) -> None:
    run([sys.executable, "-m", "pytest", *paths, "--quiet", "--no-header", "--numprocesses", JOBS, "--dist",
         "worksteal", f"--junit-xml={report}"])


def style() -> dict[str, int]:
    """Runs the style checks; returns their exit statuses by name."""
    bin_folder = Path(sys.executable).parent
    return {"ruff": run([str(bin_folder / "ruff"), "check", "--quiet", "bindings", "tests"]),
            "clang-format": run([str(bin_folder / "clang-format"), "--dry-run", "-Werror", *sources()])}


def both(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Runs two sets of tests at a time: while a build links or a test waits for a process, the other has a core."""
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()


def main(mode: str) -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    reports = {name: BUILD / f"{name}.xml" for name in REPORTS[mode]}
    for report in reports.values():
        report.unlink(missing_ok=True)
    if shutil.which("ninja"):
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
    styles = {} if mode == "races" else style()
    if mode == "races":
        sanitized("tsan", reports["tsan"])
    elif mode == "lint":
        python_tests(reports["pytest"], LINT)
    elif mode == "check":
        both(lambda: python_tests(reports["pytest"], CHECK),
             lambda: ctest(BUILD, reports["ctest"], "--tests-regex", CHECK_COMPILED))
    else:
        both(lambda: python_tests(reports["pytest"]), lambda: compiled_tests(reports))
    passed = failed = skipped = 0
    for name, report in reports.items():
        p, f, s = count(report)
        print(f"{name:<12} {p} passed, {f} failed, {s} skipped")
        passed, failed, skipped = passed + p, failed + f, skipped + s
    for name, found in styles.items():
        print(f"{name:<12} {'failed' if found else 'clean'}")
        failed += 1 if found else 0
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) > 2 or not set(sys.argv[1:]) <= REPORTS.keys():
        sys.exit(__doc__)
    sys.exit(main((sys.argv[1:] or ["all"])[0]))
