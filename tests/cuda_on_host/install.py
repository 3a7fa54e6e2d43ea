"""Installs a flitlab package whose CUDA engine runs on the emulated device: `install.py FOLDER [--divergence]`.

    PYTHONPATH=FOLDER python -m flitlab run vc-mesh-8x8 --backend cuda

--divergence: the package counts the divergence of warps (divergence.hpp, tests/perf/divergence.py).
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(folder: str, *flags: str) -> int:
    settings = {"build-dir": "build/cuda-on-host", "cmake.define.FLITLAB_CUDA": "HOST",
                "cmake.define.FLITLAB_DIVERGENCE": "ON" if "--divergence" in flags else "OFF"}
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--upgrade", "--target", folder, str(ROOT)]
    command += [f"--config-settings={key}={value}" for key, value in settings.items()]
    if status := subprocess.run(command).returncode:
        return status
    there = "from flitlab import _core; assert _core.backends()['cuda']['available']"
    return subprocess.run([sys.executable, "-c", there], env=os.environ | {"PYTHONPATH": folder}).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
