"""Builds the C++ tests, runs CTest and pytest (notebooks included), and counts: the last line says it all."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "tests"


def run(command: list[str], **kwargs) -> int:
    print("+", " ".join(command), flush=True)
    return subprocess.run(command, cwd=ROOT, **kwargs).returncode


def tool(name: str) -> str:
    """A build tool of the machine, or the one pip installs."""
    found = shutil.which(name)
    if found:
        return found
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "cmake", "ninja"], check=True)
    return str(Path(sys.executable).parent / name)


def count(report: Path) -> tuple[int, int, int]:
    """(passed, failed, skipped) of a JUnit file; a missing one is a failure."""
    if not report.exists():
        return 0, 1, 0
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main() -> int:
    BUILD.mkdir(parents=True, exist_ok=True)
    reports = [BUILD / "ctest.xml", BUILD / "pytest.xml"]
    for report in reports:
        report.unlink(missing_ok=True)
    cmake, ctest = tool("cmake"), tool("ctest")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if run([cmake, "-S", ".", "-B", str(BUILD), *generator, "-DFLITLAB_TESTS=ON", "-DFLITLAB_WERROR=ON"],
           stdout=subprocess.DEVNULL):
        print("configuring the C++ tests failed")
        return 1
    if run([cmake, "--build", str(BUILD), "--parallel", str(os.cpu_count() or 1)]):
        print("building the C++ tests failed")
        return 1
    run([ctest, "--test-dir", str(BUILD), "--output-on-failure", "--parallel", str(os.cpu_count() or 1),
         "--output-junit", str(reports[0]), "--quiet"])
    run([sys.executable, "-m", "pytest", "tests", f"--junit-xml={reports[1]}"])
    passed, failed, skipped = (sum(column) for column in zip(*map(count, reports), strict=True))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
