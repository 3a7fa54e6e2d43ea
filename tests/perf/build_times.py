"""Build times of flitlab, from a fresh clone of HEAD in a temporary folder, in an empty environment:

- `make demo`, with nvcc and without it;
- then, with the release preset, the rebuild after an edit of one model's phases, model by model.

    python tests/perf/build_times.py [--no-demo] [--models vc t3e]

prints Markdown tables; --models alone measures no edits. No other load should run on the machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(path.parent.name for path in ROOT.glob("kernels/routers/*/cpu.cpp"))


def environment(home: Path, nvcc: bool) -> dict[str, str]:
    """Returns an environment with PATH and HOME only; without ``nvcc``, PATH has no CUDA compiler."""
    folders = [f for f in os.environ["PATH"].split(":") if nvcc or not (Path(f) / "nvcc").exists()]
    return {"PATH": ":".join(folders), "HOME": str(home)}


def run(command: list[str], clone: Path, environ: dict[str, str]) -> tuple[float, str]:
    """Returns a command's time in seconds and its output. SystemExit if it failed."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=clone, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return time.monotonic() - start, done.stdout


def clone_of_head(folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


def demo(temporary: Path, nvcc: bool) -> tuple[float, float]:
    """Returns the seconds of `make demo` until its sweep starts (virtual environment, packages, build), and of the
    build."""
    name = "with" if nvcc else "without"
    clone = clone_of_head(temporary / name)
    environ = environment(temporary / f"home-{name}", nvcc) | {"SKBUILD_BUILD_DIR": "build/demo"}
    seconds, _ = run([sys.executable, "tests/tools/install.py", "package"], clone, environ)
    _, doctor = run([".venv/bin/flitlab", "doctor"], clone, environ)
    if ("no CUDA engine" in doctor) == nvcc:
        sys.exit(f"build_times: the build {name} nvcc has the wrong engines:\n{doctor}")
    steps = [list(map(int, line.split("\t")[:2])) for line in (clone / "build/demo/.ninja_log").read_text().splitlines()
             if not line.startswith("#")]
    return seconds, (max(end for _, end in steps) - min(start for start, _ in steps)) / 1000


def edits(temporary: Path, models: list[str]) -> list[list[str]]:
    """Returns for each model the build time in seconds after an edit of its phases, and the models whose units were
    compiled."""
    clone = clone_of_head(temporary / "edits")
    environ = environment(temporary / "home-edits", nvcc=True)
    run(["cmake", "--preset", "release", "-G", "Ninja"], clone, environ)
    build = ["cmake", "--build", "--preset", "release", "--verbose"]
    print("building everything once", file=sys.stderr)
    run(build, clone, environ)
    rows = []
    for model in models:
        folder = clone / "kernels" / "routers" / model
        phases = next(path for name in ("phases.hpp", "router.hpp") if (path := folder / name).exists())
        phases.write_text(phases.read_text() + "// edited\n")
        seconds, printed = run(build, clone, environ)
        units = re.findall(r" -c \S*/(kernels/routers/(\w+)/\S+|host/routers/(\w+)/\S+|tests/\S+)", printed)
        touched = sorted({a or b for _, a, b in units if a or b})
        rows.append([model, f"{phases.name}", f"{seconds:.0f}", str(len(units)), ", ".join(touched)])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--no-demo", action="store_true", help="only the edits")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flitlab-build-") as folder:
        temporary = Path(folder)
        if not arguments.no_demo and not shutil.which("nvcc"):
            sys.exit("build_times: nvcc is not on PATH; use --no-demo to measure without it.")
        if not arguments.no_demo:
            print("| `make demo` | until it sweeps, s | building, s |\n| --- | --- | --- |")
            for nvcc in (False, True):
                whole, build = demo(temporary, nvcc)
                print(f"| {'with' if nvcc else 'without'} nvcc | {whole:.0f} | {build:.0f} |", flush=True)
            print()
        if not arguments.models:
            return
        print("| edited | file | seconds | units | models that were compiled |\n| --- | --- | --- | --- | --- |")
        for row in edits(temporary, arguments.models):
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
