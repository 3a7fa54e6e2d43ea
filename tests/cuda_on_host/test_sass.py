"""What an instruction takes by the GPU's code: kernels of a few instructions, by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import sass

LATENCIES = sass.Latencies(memory=100, shared=30, other=20)


def instruction(text, stall=1, writes=7, waits=0, reads=7):
    """As nvdisasm prints it: its text, and two words."""
    high = stall << 41 | writes << 46 | reads << 49 | waits << 52
    return [f"        /*0000*/   {text} ;   /* 0x{0:016x} */", f"      /* 0x{high:016x} */"]


def kernel(*parts):
    text = "\n".join(["", ".text.k:", *(line for part in parts for line in ([part] if isinstance(part, str) else part)),
                      "//-------- the next one"])
    return sass.kernel_of(text, "k")


def test_code_is_read():
    one = kernel(".L_x_0:", instruction("@!P0 LDS R1, [R2]", stall=5, writes=2, waits=0b101))
    assert one.labels == {".L_x_0": 0}
    assert one.instructions == [sass.Instruction("@!P0 LDS R1, [R2]", 5, 2, 7, 5)]
    assert one.instructions[0].operation == "LDS"


def clocks(*inside, behind=()):
    """Of a kernel whose cycle these instructions are, before a branch that takes two clocks."""
    return sass.clocks_of_an_instruction(
        kernel(instruction("S2R R0, SR_TID.X", stall=15), ".L_x_1:", *inside,
               instruction("@P0 BRA `(.L_x_1)", stall=2), instruction("EXIT", stall=15), *behind), LATENCIES)


def test_a_result_is_waited_for():
    load, use = instruction("LDS R1, [R2]", stall=4, writes=0), instruction("IADD3 R1, R1, R1", stall=3, waits=1)
    # The load holds up 4 clocks, and its result is there 30 after it began; then 3, and 2 of the branch.
    assert clocks(load, use) == (30 + 3 + 2) / 3
    # Operands of a store to the device are read after 20 clocks.
    assert clocks(instruction("STG [R2], R1", stall=4, reads=1),
                  instruction("IADD3 R1, R1, R1", stall=3, waits=2)) == (20 + 3 + 2) / 3


def test_all_of_a_cycle_is_taken_once():
    inside = [".L_x_2:", instruction("MOV R1, R2", stall=6), instruction("@P1 BRA `(.L_x_2)", stall=4)]
    assert clocks(*inside) == (6 + 4 + 2) / 3


def test_a_routine_counts_with_its_call():
    behind = ["routine:", instruction("MUFU.RCP64H R1, R2"), instruction("RET.REL.NODEC R4")]
    assert clocks(instruction("CALL.REL.NOINC `(routine)", stall=5), behind=behind) == (5 + 2 * 4 + 2) / (1 + 2 + 1)


@pytest.mark.parametrize("operation, clocks", [("LDG.E", 100), ("ATOM.E.ADD", 100), ("LDS.U8", 30), ("SHFL.UP", 30),
                                               ("MUFU.RCP", 20), ("LDC", 20)])
def test_latencies(operation, clocks):
    assert sass.latency_of(operation, LATENCIES) == clocks
