"""What the compiler makes of each model's cycle: nothing is spilled, hardly an array is on the stack. Needs nvcc."""

import shutil
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
