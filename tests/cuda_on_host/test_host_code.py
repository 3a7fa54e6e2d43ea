"""How many instructions of the host warps go through: functions of a few instructions, by hand."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "counts"))
import host_code

CODE = """
0000000000001000 <f>:
    1000:\tpush   %rbx
    1001:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    1006:\tmov    (%rsi),%ecx
    1008:\tlea    0x8(%rdi),%rdi
    100c:\tcall   910 <__tsan_read4@plt>
    1011:\tadd    %ecx,%eax
    1013:\tjne    1020 <f+0x20>
    1015:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    101a:\tnopw   0x0(%rax,%rax,1)
    1020:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    1025:\tret

0000000000002000 <g>:
    2000:\tnop
    2001:\tret
"""


def test_what_was_put_in_to_count_is_left_out():
    assert host_code.blocks_of(CODE) == {0x1006: 3, 0x101A: 0, 0x1025: 1}


def test_blocks_count_as_often_as_warps_came():
    assert host_code.instructions(host_code.blocks_of(CODE), [[0x1006, 10], [0x1025, 4], [0x5000, 9]]) == 34
