"""What the compiler makes of each model's cycle: nothing is spilled, hardly an array is on the stack. Needs nvcc."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import report

# Bytes of a thread's stack: arrays with an index that the compiler does not know, which lie in memory.
STACK = 128


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not here")
    return tmp_path_factory.mktemp("cubins")


@pytest.mark.parametrize("model", report.models())
def test_a_cycle_spills_nothing_and_has_a_small_stack(model, build):
    for name, kernel in report.compiled(model, "sm_90", build).items():
        assert kernel["spill_stores"] == kernel["spill_loads"] == 0, name
        assert kernel["stack"] <= STACK, name


def test_lanes_spread_the_signs_of_bytes(build):
    """byte_slices.hpp has an instruction of its own for that, which the emulated device does not run: selectors 8 to B
    of PRMT are signs. Lanes ask for many; what is more, none is left of a selector without them that changes nothing."""
    report.compiled("vc", "sm_90", build)
    code = subprocess.run(["cuobjdump", "-sass", build / "vc.cubin"], capture_output=True, text=True, check=True).stdout
    selectors = re.findall(r"PRMT R\d+, R\d+, (0x[0-9a-f]+), RZ", code)
    assert selectors.count("0xba98") > 100 and "0x3210" not in selectors
