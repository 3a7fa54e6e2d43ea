"""Code that only some processors can run stays where it is asked for."""

import shutil
import subprocess
from pathlib import Path

import pytest

OBJECTS = sorted((Path(__file__).resolve().parents[2] / "build/tests").glob("CMakeFiles/flitlab_lanes_*/**/unit.cpp.o"))


@pytest.mark.skipif(not OBJECTS, reason="needs the object files of a build in build/tests")
@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
@pytest.mark.parametrize("path", OBJECTS, ids=lambda p: next(x for x in p.parts if x.startswith("flitlab_lanes_")))
def test_lanes_share_no_function(path):
    """A function that is compiled here as well as elsewhere would be one for the linker: any processor might get it."""
    name = next(part for part in path.parts if part.startswith("flitlab_lanes_")).removesuffix(".dir")
    command = ["nm", "--defined-only", "--extern-only", path]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shared = [line.split()[-1] for line in symbols.splitlines()]
    entry = name.replace("flitlab_lanes", "flitlab_vc_lanes")
    assert entry in shared
    assert not [s for s in shared if s != entry and name not in s and not s.startswith("DW.ref.")]
