"""Makes .venv, builds a wheel of flitlab and installs it there: `install.py package` for use, with JupyterLab;
`install.py tests` with the packages that tests need. `package` reuses a wheel that was built from the same sources,
without compiling. `install.py check` repeats `tests` only if a source of the wheel has changed; otherwise it builds the
C++ tests. `install.py lint` installs only the packages that style checks need."""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
WHEELS = ROOT / "build" / "wheel"  # folder of the wheel, which tests/tools/test_wheel.py also installs
BUILD = ROOT / "build" / "tests"
INSTALLED = VENV / "installed_for_tests"  # built_from() of the package in .venv, if it is the one for tests
SOURCES = ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "kernels", "host", "bindings", "configs",
           "notebooks", "docs/book")


def fail(message: str) -> None:
    sys.exit(f"make: {message}")


def check_compiler() -> None:
    compiler = os.environ.get("CXX") or next((c for c in ("c++", "g++", "clang++") if shutil.which(c)), None)
    if compiler is None:
        fail("a C++20 compiler is needed, and neither c++, g++ nor clang++ is on PATH (or set CXX).")
    source = "#include <concepts>\n#include <span>\nint main() { static_assert(std::integral<int>); }\n"
    probe = subprocess.run([*compiler.split(), "-std=c++20", "-x", "c++", "-fsyntax-only", "-"],
                           input=source, text=True, capture_output=True)
    if probe.returncode:
        fail(f"{compiler} does not compile C++20; GCC 12, Clang 14 or newer will do.")


def settings_for_tests() -> list[str]:
    """Returns settings for one build of the package and the C++ tests, in build/tests."""
    settings = {"build-dir": "build/tests", "cmake.define.FLITLAB_TESTS": "ON", "cmake.define.FLITLAB_WERROR": "ON"}
    return [f"--config-settings={key}={value}" for key, value in settings.items()]


def listed(name: str) -> list[str]:
    """Returns a list of packages in pyproject.toml. Python 3.10 has no parser of TOML."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return ast.literal_eval(re.search(rf"^{name} = (\[.*?\])$", text, re.MULTILINE | re.DOTALL)[1])


def build_requirements() -> list[str]:
    """Returns the packages that build the wheel: with CMake and Ninja if the machine has none."""
    return listed("requires") + [name for name in ("cmake", "ninja") if not shutil.which(name)]


def built_from(root: Path) -> str:
    """Returns a hash of the wheel's inputs: sources, and the tools that compile them."""
    found = hashlib.sha256(repr([sys.version, *(os.environ.get(name) for name in ("CXX", "CXXFLAGS", "CMAKE_ARGS")),
                                 *map(shutil.which, ("c++", "nvcc"))]).encode())
    for path in sorted(p for name in SOURCES for p in (root / name, *(root / name).rglob("*"))):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(root)}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()


def wheel_of(stamp: str) -> str | None:
    """Returns the existing wheel if it was built from the inputs with this hash."""
    known = WHEELS / "built_from"
    wheels = list(WHEELS.glob("flitlab-*.whl"))
    return str(*wheels) if len(wheels) == 1 and known.exists() and known.read_text() == stamp else None


def build_wheel(stamp: str, build: Callable[[Path], None]) -> str:
    """Puts the wheel that `build(folder)` makes into WHEELS. The old wheel stays if the build fails."""
    fresh = WHEELS.with_name(f"{WHEELS.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    build(fresh)
    (fresh / "built_from").write_text(stamp)
    shutil.rmtree(WHEELS, ignore_errors=True)
    fresh.rename(WHEELS)
    return str(*WHEELS.glob("flitlab-*.whl"))


def main(what: str) -> None:
    if sys.version_info < (3, 10):
        fail(f"Python 3.10 or newer is needed, and python3 is {sys.version.split()[0]}.")
    python = VENV / "bin" / "python"
    if not python.exists():
        print("making .venv", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
        if made.returncode:
            fail(f"python3 -m venv failed; on Debian install python3-venv.\n{made.stdout}{made.stderr}")
    for_tests = what in ("tests", "check")
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # Python compiles files when they are imported, and most files are never imported.
    install = (*pip, "install", "--no-compile")
    if what == "lint":
        call(*install, *listed("lint"))
        return
    stamp = built_from(ROOT)
    if what == "check" and is_installed(stamp):
        build_tests()
        return
    INSTALLED.unlink(missing_ok=True)
    wheel = None if for_tests else wheel_of(stamp)
    if wheel is None:
        check_compiler()
        print(f"building and installing flitlab ({what})", flush=True)
        settings = settings_for_tests() if for_tests else []
        if for_tests:
            # An isolated build has pybind11 in another folder each time, so that the module would be compiled again.
            call(*install, *build_requirements())
            settings.append("--no-build-isolation")
            os.environ["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        wheel = build_wheel(stamp, lambda folder: call(*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), ".",
                                                       *settings))
    else:
        print("installing the flitlab that has been built from these sources", flush=True)
    # Without --force-reinstall pip would keep the old build, which has the same version.
    call(*install, "--force-reinstall", "--no-deps", wheel)
    call(*install, f"{wheel}[{'test' if for_tests else 'notebook'}]")
    if for_tests:
        INSTALLED.write_text(stamp)


def is_installed(stamp: str) -> bool:
    """Returns whether .venv has the package for tests that was built from the inputs with this hash."""
    return INSTALLED.exists() and INSTALLED.read_text() == stamp and (BUILD / "CMakeCache.txt").exists()


def build_tests() -> None:
    """Builds the C++ tests whose sources have changed; the package does not contain them."""
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([shutil.which("cmake", path=path) or "cmake", "--build", str(BUILD)], cwd=ROOT, text=True,
                          capture_output=True, env=os.environ | {"PATH": path})
    if done.returncode:
        fail(f"the C++ tests do not compile.\n{done.stdout}{done.stderr}")


def call(*command: str) -> None:
    if subprocess.run(command, cwd=ROOT).returncode:
        fail(f"pip {command[5]} failed; its messages are above.")


if __name__ == "__main__":
    main(sys.argv[1])
