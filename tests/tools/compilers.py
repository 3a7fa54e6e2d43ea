"""Builds the core with every supported compiler, for this machine and for aarch64, with warnings as errors. Compares
state hashes of the shipped configurations with the record, and runs tests that depend on the compiler and its library.

    python tests/tools/compilers.py                   all of that, with one line for each compiler: `make compilers`
    python tests/tools/compilers.py --only g++-12     selected compilers
    python tests/tools/compilers.py --quick           one engine of each model, not optimised, small networks; no tests

Compilers that are not installed are left out, with a line that says what to install. Exit status 1 if a hash differed,
a build or test failed, or a compiler named by --only is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "hashes" / "expected.json"
BUILDS = ROOT / "build" / "compilers"
# Debian's sources of GoogleTest, built for compilers with another C++ library than GCC's.
GOOGLETEST = Path("/usr/src/googletest")
# C++ tests that depend on the compiler and its library: conversion of numbers and text, threads, random numbers, and
# the state hashes of every engine of every model.
TESTS = r"(portable|config|statistics|random|threads|trace_feed|recorded|identity)_test"
SLOW = {"sconnect-random-1024"}  # its tables take minutes to compute
QUICK = ("bgl-figure10", "bless-mesh-8x8", "metro-figure3", "metro-wiring", "sconnect-pll",
         "sconnect-figure1", "sconnect-figure5", "t3e-16", "vc-mesh-8x8", "vc-torus-8x8")


@dataclass(frozen=True)
class Compiler:
    name: str
    command: str
    package: str                  # Debian packages
    flags: str = ""
    settings: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()   # other commands and files
    own_library: bool = False     # whether the compiler uses another C++ library, for which GoogleTest must be built

    def missing(self) -> str | None:
        """Returns the reason why the compiler cannot be used on this machine; None if it can."""
        lacks = [need for need in (self.command, *self.needs) if not (shutil.which(need) or Path(need).exists())]
        return f"{' and '.join(lacks)} missing: apt-get install {self.package}" if lacks else None


LIBCXX = "/usr/lib/llvm-16/include/c++/v1/version"
EMULATOR = "qemu-aarch64;-L;/usr/aarch64-linux-gnu"
COMPILERS = (
    Compiler("g++-12", "g++-12", "g++-12"),
    Compiler("clang++-14", "clang++-14", "clang-14"),
    Compiler("clang++-16", "clang++-16", "clang-16"),
    Compiler("clang++-16-libc++", "clang++-16", "clang-16 libc++-16-dev libc++abi-16-dev", "-stdlib=libc++",
             needs=(LIBCXX,), own_library=True),
    Compiler("aarch64", "aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu qemu-user",
             settings=("CMAKE_SYSTEM_NAME=Linux", "CMAKE_SYSTEM_PROCESSOR=aarch64",
                       f"CMAKE_CROSSCOMPILING_EMULATOR={EMULATOR}"), needs=("qemu-aarch64",), own_library=True),
)


class Failed(Exception):
    pass


def run(command: list[object], **options) -> str:
    """Returns a command's output. Raises Failed, with the end of the output, if it did not succeed."""
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode:
        raise Failed(f"{Path(str(command[0])).name} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def flat_values(tree: dict, prefix: str = "") -> dict:
    flat = {}
    for key, value in tree.items():
        flat |= flat_values(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def line_of(path: str, value: object, folder: Path) -> str:
    """Returns a value as a line of tests/hashes/hashes.cpp."""
    if isinstance(value, bool):
        return f"b {path} {str(value).lower()}\n"
    if isinstance(value, int):
        return f"i {path} {value}\n"
    if isinstance(value, float):
        return f"d {path} {value!r}\n"
    if isinstance(value, str) and path.endswith("file") and value:
        text = (folder / value).read_text(encoding="utf-8")
        return f"f {path} {len(text.encode())}\n{text}"
    if isinstance(value, str):
        return f"s {path} {value}\n"
    if any(isinstance(item, list) for item in value):
        return f"w {path} {' '.join(f'{flits} {weight!r}' for flits, weight in value)}\n"
    return f"l {path} {' '.join(map(str, value))}\n"


def configuration(name: str, cycles: list[str]) -> str:
    path = ROOT / "configs" / f"{name}.toml"
    values = flat_values(tomllib.loads(path.read_text(encoding="utf-8")))
    return "".join(line_of(key, value, path.parent) for key, value in values.items()) + f"@ {name} {' '.join(cycles)}\n"


def record(quick: bool) -> dict[str, dict[str, str]]:
    """Returns {configuration: {cycle: hash}} of the configurations to run."""
    whole = {Path(file).stem: hashes for file, hashes in json.loads(RECORD.read_text()).items()}
    if quick:
        return {name: whole[name] for name in QUICK}
    return {name: hashes for name, hashes in whole.items() if name not in SLOW}


def build(compiler: Compiler, quick: bool, jobs: int) -> Path:
    """Returns the folder with flitlab_hashes and, unless quick, flitlab_tests."""
    folder = BUILDS / (compiler.name + ("-quick" if quick else ""))
    settings = ["FLITLAB_CUDA=OFF", "FLITLAB_UNITY=ON", "FLITLAB_WERROR=ON", "FLITLAB_HASHES=ON", *compiler.settings,
                f"CMAKE_CXX_COMPILER={compiler.command}"]
    if quick:
        settings += ["CMAKE_BUILD_TYPE=None", f"CMAKE_CXX_FLAGS=-O0 -DFLITLAB_MAY_BE_SLOW {compiler.flags}",
                     "FLITLAB_GENERAL_ENGINES=ON"]
    else:
        settings += ["CMAKE_BUILD_TYPE=Release", f"CMAKE_CXX_FLAGS={compiler.flags}", "FLITLAB_TESTS=ON",
                     f"FLITLAB_TEST_SOURCES={TESTS}"]
        if compiler.own_library:
            settings.append("CMAKE_DISABLE_FIND_PACKAGE_GTest=ON")
            if GOOGLETEST.exists():
                settings.append(f"FETCHCONTENT_SOURCE_DIR_GOOGLETEST={GOOGLETEST}")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run(["cmake", *generator, "-S", ROOT, "-B", folder, *(f"-D{setting}" for setting in settings)])
    targets = ["flitlab_hashes"] if quick else ["flitlab_hashes", "flitlab_tests"]
    run(["cmake", "--build", folder, "--parallel", jobs, "--target", *targets])
    return folder


def under(compiler: Compiler) -> list[str]:
    return EMULATOR.split(";") if compiler.needs == ("qemu-aarch64",) else []


def check(compiler: Compiler, quick: bool, jobs: int) -> str:
    """Builds and compares. Returns a summary; raises Failed on any difference."""
    folder = build(compiler, quick, jobs)
    expected = record(quick)
    found: dict[str, dict[str, str]] = {}
    given = "".join(configuration(name, list(hashes)) for name, hashes in expected.items())
    for line in run([*under(compiler), folder / "flitlab_hashes"], input=given).splitlines():
        name, cycle, value = line.split()
        found.setdefault(name, {})[cycle] = value
    different = [name for name in expected if found.get(name) != expected[name]]
    if different:
        raise Failed("\n".join(f"{name}: expected {expected[name]}, found {found.get(name)}" for name in different))
    looked_at = f"{sum(map(len, expected.values()))} state hashes of {len(expected)} configurations equal the record"
    if quick:
        return looked_at
    tested = run([*under(compiler), folder / "flitlab_tests", "--gtest_brief=1"])
    counts = re.findall(r"^\[ +(PASSED|SKIPPED) +\] (\d+) tests?", tested, re.MULTILINE)
    return f"{looked_at}; tests: {', '.join(f'{n} {what.lower()}' for what, n in counts)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[c.name for c in COMPILERS])
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    wrong = 0
    for compiler in COMPILERS:
        if args.only and compiler.name not in args.only:
            continue
        start = time.monotonic()
        try:
            missing = compiler.missing()
            if missing and args.only:
                raise Failed(missing)
            outcome = f"left out: {missing}" if missing else check(compiler, args.quick, len(os.sched_getaffinity(0)))
        except Failed as failure:
            wrong, outcome = wrong + 1, f"FAILED: {failure}"
        print(f"{compiler.name:<18} {outcome} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
