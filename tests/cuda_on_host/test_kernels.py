"""Limits on the machine code of each model's kernels: no spilled registers and a small stack. Needs nvcc, not a GPU."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(path.parent.name for path in (ROOT / "kernels/routers").glob("*/cuda.cu"))
# Bytes per thread. Arrays with run-time indices lie there, in device memory: two bytes for each of up to 64 ports.
STACK = 160

NVCC = ["nvcc", "-std=c++20", "-arch=sm_90", "--default-stream=per-thread", "--fmad=false",
        "--expt-relaxed-constexpr", "--extended-lambda",
        "-DFLITLAB_CUDA", "-Xptxas", "-v", "-cubin", "-I", str(ROOT)]  # as CMakeLists.txt calls it
PROPERTIES = re.compile(r"Function properties for (\w+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, "
                        r"(\d+) bytes spill loads")


def properties(messages: str) -> dict[str, tuple[int, int]]:
    """Returns the bytes of stack, and of spill stores and loads, of each function in ptxas' messages. Audits are left
    out, since they are rare."""
    return {name: (int(stack), int(stores) + int(loads))
            for name, stack, stores, loads in PROPERTIES.findall(messages) if "Audit" not in name}


def test_messages_are_read():
    messages = """ptxas info    : Function properties for _Z1fv
    24 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 88 registers, used 16 barriers, 24 bytes cumulative stack size
ptxas info    : Function properties for _Z1gv5Audit
    208 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for _Z1gv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
    assert properties(messages) == {"_Z1fv": (24, 24), "_Z1gv": (0, 0)}


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("model", MODELS)
def test_kernels_spill_nothing_and_have_a_small_stack(model, tmp_path):
    done = subprocess.run([*NVCC, str(ROOT / "kernels/routers" / model / "cuda.cu"), "-o", str(tmp_path / "cubin")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = properties(done.stderr)
    assert any("step_kernel" in name for name in found)
    assert {name: p for name, p in found.items() if p[0] > STACK or p[1]} == {}
