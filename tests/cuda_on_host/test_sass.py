"""What a cycle takes by the GPU's code: a kernel of a few instructions, by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import sass

K, F, G = "kernels/k.cuh", "kernels/f.hpp", "kernels/g.hpp"
LATENCIES = sass.Latencies(memory=100, shared=30, other=20)


def instruction(text, *places, stall=1, writes=7, waits=0, reads=7):
    """As nvdisasm prints it: where it comes from, the innermost place first, its text, and two words."""
    frames = [f'"/a/{file}", line {line}' for file, line in places]
    lines = [f"\t//## File {frame}" + (f" inlined at {around}" if around else "")
             for frame, around in zip(frames, [*frames[1:], None], strict=True)]
    high = stall << 41 | writes << 46 | reads << 49 | waits << 52
    return [*lines, f"        /*0000*/   {text} ;   /* 0x{0:016x} */", f"      /* 0x{high:016x} */"]


def kernel(*parts):
    text = "\n".join(["", ".text.k:", *(line for part in parts for line in ([part] if isinstance(part, str) else part)),
                      "//-------- the next one"])
    return sass.kernel_of(text, "k")


def function(blocks, entered=1):
    return sass.Function(entered, {tuple(chain): warps for chain, warps in blocks.items()})


def test_code_is_read():
    one = kernel(".L_x_0:", instruction("@!P0 LDS R1, [R2]", (F, 3), (K, 7), stall=5, writes=2, waits=0b101))
    assert one.labels == {".L_x_0": 0}
    assert one.instructions == [sass.Instruction("@!P0 LDS R1, [R2]", ((K, 7), (F, 3)), 5, 2, 7, 5)]
    assert one.instructions[0].operation == "LDS"


def cycles(*parts, functions):
    return sass.cycle_of(kernel(*parts), sass.Visits(functions), LATENCIES)


def loop(*inside):
    """A kernel whose cycle is on line 5."""
    return [instruction("S2R R0, SR_TID.X", (K, 1)), ".L_x_1:", *inside,
            instruction("@P0 BRA `(.L_x_1)", (K, 5), stall=2), instruction("EXIT", (K, 9))]


def test_what_is_before_the_first_cycle_does_not_count_and_a_result_is_waited_for():
    found = cycles(*loop(instruction("LDS R1, [R2]", (K, 6), stall=4, writes=0),
                         instruction("IADD3 R1, R1, R1", (K, 6), stall=3, waits=1)),
                   functions=[function({((K, 1),): 1, ((K, 5),): 10, ((K, 6),): 10})])
    assert found.instructions == 30
    # The load holds up 4 clocks, and its result is there 30 after it began; then 3, and 2 of the branch.
    assert found.clocks == 10 * (30 + 3 + 2)


def test_unrolled_code_is_taken_once_each_and_what_nobody_came_to_never():
    inside = [instruction("MOV R1, R2", (K, 7)), instruction("MOV R1, R3", (K, 7)), ".L_x_2:",
              instruction("MOV R4, R5", (K, 8)), ".L_x_3:"]
    found = cycles(*loop(*inside), functions=[function({((K, 1),): 1, ((K, 5),): 10, ((K, 7),): 20, ((K, 8),): 0})])
    assert found.instructions == 10 * 2 + 10  # the host's loop of two turns, and the branch


def test_a_function_that_the_host_calls_has_its_share_of_the_calls():
    inside = [instruction("MOV R1, R2", (G, 4), (K, 6))]
    functions = [function({((K, 1),): 1, ((K, 5),): 10, ((K, 6),): 10}),
                 function({((G, 3),): 40, ((G, 4),): 20}, entered=40)]  # every second call comes to line 4
    assert cycles(*loop(*inside), functions=functions).instructions == 10 * 0.5 + 10


def test_a_block_goes_by_the_most_of_it():
    """Instructions of other lines are moved between those of a block."""
    inside = [instruction("MOV R1, R2", (K, 6)), instruction("MOV R1, R2", (K, 6)), instruction("MOV R9, R9", (K, 8))]
    functions = [function({((K, 1),): 1, ((K, 5),): 10, ((K, 6),): 10, ((K, 8),): 0})]
    assert cycles(*loop(*inside), functions=functions).instructions == 10 * 3 + 10


def test_a_routine_counts_with_its_call():
    found = cycles(*loop(instruction("CALL.REL.NOINC `(routine)", (K, 6))), "routine:",
                   instruction("MUFU.RCP64H R1, R2", (K, 6)), instruction("RET.REL.NODEC R4", (K, 6)),
                   functions=[function({((K, 1),): 1, ((K, 5),): 10, ((K, 6),): 10})])
    assert found.instructions == 10 * (1 + 2) + 10


@pytest.mark.parametrize("operation, clocks", [("LDG.E", 100), ("ATOM.E.ADD", 100), ("LDS.U8", 30), ("SHFL.UP", 30),
                                               ("MUFU.RCP", 20), ("LDC", 20)])
def test_latencies(operation, clocks):
    assert sass.latency_of(operation, LATENCIES) == clocks


def test_names_without_arguments():
    name = "void flitlab::step_kernel<flitlab::A<4u, 5u>, B>(flitlab::Job<A<4u> >, unsigned int)"
    assert sass.without_arguments(name) == "void flitlab::step_kernel"
