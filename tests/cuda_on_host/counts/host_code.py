"""How many instructions of the host's code warps go through: those of each basic block, by how often warps came to it
(recorder.cpp). What the compiler has put in to count is left out.

    python host_code.py COUNTS.json LIBRARY

prints them for a router-cycle of each network, of counts that flitlab_gpu_counts has printed and the library that it
ran: of another commit, too (first.csv).
"""

import json
import re
import subprocess
import sys
from pathlib import Path

# Heads of blocks, and accesses to memory, are told to the recorder. Nops fill lines of a cache.
TELLS_OF_A_BLOCK = re.compile(r"call\s.*<__sanitizer_cov_trace_pc(@plt)?>")
TELLS_OF_AN_ACCESS = re.compile(r"call\s.*<__tsan_\w+(@plt)?>")
NOTHING = re.compile(r"(data16|cs nop|nop\w*|xchg\s+%ax,%ax)\b")


def blocks_of(disassembly: str) -> dict[int, int]:
    """Instructions of basic blocks, by where the call at their heads returns to. As of objdump."""
    sizes: dict[int, int] = {}
    for function in disassembly.split("\n\n"):
        head, is_new = None, False
        for place, text in re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", function, flags=re.M):
            if is_new:
                head, is_new = int(place, 16), False
                sizes[head] = 0
            if TELLS_OF_A_BLOCK.match(text):
                is_new = True
            elif head is None or NOTHING.match(text):
                continue
            elif TELLS_OF_AN_ACCESS.match(text):
                sizes[head] = max(0, sizes[head] - 1)  # what gives the call its argument
            else:
                sizes[head] += 1
    return sizes


def instructions(blocks: dict[int, int], visits: list[list[int]]) -> int:
    """Of all warps. `visits`: ends of the calls at the heads of blocks, and how often warps came there."""
    return sum(blocks.get(place, 0) * warps for place, warps in visits)


def disassembly_of(library: Path) -> str:
    return subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", str(library)],
                          capture_output=True, text=True, check=True).stdout


def main() -> None:
    counts, library = map(Path, sys.argv[1:])
    blocks = blocks_of(disassembly_of(library))
    for network in json.loads(counts.read_text(encoding="utf-8"))["networks"]:
        each = network["routers"] * network["replicas"] * network["cycles"]
        print(f"{network['model']},{network['load']:g},{instructions(blocks, network['visits']) / each:.0f}")


if __name__ == "__main__":
    main()
