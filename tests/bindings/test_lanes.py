"""Object files of code for special instruction sets: they share no function with the rest of the program."""

import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build/tests"


@pytest.mark.skipif(not (BUILD / "CMakeCache.txt").exists(), reason="no build of `make test` here")
def test_lanes_share_no_function():
    """If a function were compiled both here and elsewhere, the linker could choose this version for every processor."""
    objects = sorted(BUILD.glob("CMakeFiles/flitlab_lanes_*/**/unit.cpp.o"))
    assert objects
    for path in objects:
        name = next(part for part in path.parts if part.startswith("flitlab_lanes_")).removesuffix(".dir")
        command = ["nm", "--defined-only", "--extern-only", path]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shared = [line.split()[-1] for line in symbols.splitlines()]
        entry = name.replace("flitlab_lanes", "flitlab_vc_lanes")
        assert entry in shared
        assert not [s for s in shared if s != entry and name not in s and not s.startswith("DW.ref.")]
