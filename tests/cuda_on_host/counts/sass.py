"""How many clocks an instruction takes of a warp that is alone, by a kernel's machine code.

Such a warp issues one instruction after the other. How many clocks each holds it up stands in the code, and so does
which results it waits for; how long these take is assumed (`Latencies`). What lies behind the kernel's end is left out:
there a warp goes whose threads have parted.
"""

import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Instruction:
    text: str
    stall: int     # clocks till the next one may be issued
    writes: int    # barrier that is open until its result is there; 7: none
    reads: int     # barrier that is open until its operands are read; 7: none
    waits: int     # barriers that it waits for, as bits

    @property
    def operation(self) -> str:
        return re.sub(r"^@!?U?P\w+ ", "", self.text).split(" ")[0]


@dataclass(frozen=True)
class Latencies:
    """Clocks until a result is there, of operations whose time is not fixed."""

    memory: float   # of the device, and atomics on it
    shared: float   # shared memory, shuffles, votes
    other: float    # conversions, square roots and the like, registers of the system


@dataclass(frozen=True)
class Kernel:
    instructions: list[Instruction]
    labels: dict[str, int]  # at which of them labels stand


def disassembler() -> str | None:
    """nvdisasm, of the CUDA toolkit or as `pip install nvidia-cuda-nvdisasm` installs it."""
    packaged = Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin/nvdisasm")
    return shutil.which("nvdisasm") or next((str(path) for path in packaged), None)


def disassembly_of(cubin: Path) -> str:
    return subprocess.run([disassembler(), "-c", "-hex", str(cubin)], capture_output=True, text=True,
                          check=True).stdout


def kernel_of(disassembly: str, kernel: str) -> Kernel:
    """One of those in what disassembly_of() returns, by its name there."""
    head = f"\n.text.{kernel}:\n"
    start = disassembly.index(head) + len(head)
    end = disassembly.find("\n//------", start)
    found: list[str] = []
    high: list[int] = []
    labels: dict[str, int] = {}
    for line in disassembly[start:end].splitlines():
        if label := re.match(r"([.$\w]+):$", line):
            labels[label[1]] = len(found)
        elif code := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]+ \*/", line):
            found.append(code[1])
        elif code := re.match(r"\s*/\* 0x([0-9a-f]+) \*/", line):
            high.append(int(code[1], 16))
    assert len(high) == len(found), "two words to an instruction"
    # Since Volta the upper word has, from bit 41 on: stall (4 bits), yield, barriers written and read (3 each), waits
    # (6).
    return Kernel([Instruction(text, h >> 41 & 15, h >> 46 & 7, h >> 49 & 7, h >> 52 & 63)
                   for text, h in zip(found, high, strict=True)], labels)


def clocks_of_an_instruction(kernel: Kernel, latencies: Latencies) -> float:
    """On average, of a warp that is alone and goes once through all that lies between two cycles."""
    instructions, labels = kernel.instructions, kernel.labels
    end = max(i for i, one in enumerate(instructions) if one.operation == "EXIT") + 1
    branches = [(i, labels[to[1]]) for i, one in enumerate(instructions[:end])
                if (to := re.search(r"BRA\S* .*?`\((\.L\w+)\)", one.text))]
    first, last = max(((to, i) for i, to in branches if to <= i), key=lambda loop: loop[1] - loop[0])
    routines = lengths_of_routines(instructions, labels, end)
    count = 0
    now = 0.0
    done = [0.0] * 6
    for one in instructions[first:last + 1]:
        start = max([now, *(done[b] for b in range(6) if one.waits >> b & 1)])
        size = 1 + routines.get(one.text, 0)
        now = start + max(1, one.stall) + (size - 1) * 4  # routines divide: each step needs the one before
        count += size
        latency = latency_of(one.operation, latencies)
        if one.writes < 6:
            done[one.writes] = start + latency
        if one.reads < 6:
            done[one.reads] = max(done[one.reads], start + min(latency, latencies.other))
    return now / count


def lengths_of_routines(instructions: list[Instruction], labels: dict[str, int], end: int) -> dict[str, int]:
    """Instructions of what is called behind the kernel's end, by the text of the call."""
    returns = [i for i, one in enumerate(instructions) if one.operation.startswith("RET")]
    lengths = {}
    for one in instructions[:end]:
        to = re.search(r"CALL\S* .*?`\((\S+)\)", one.text)
        if to and to[1] in labels:
            begin = labels[to[1]]
            lengths[one.text] = next((i for i in returns if i >= begin), begin) - begin + 1
    return lengths


def latency_of(operation: str, latencies: Latencies) -> float:
    if re.match(r"(LDG|LD\b|ATOMG|ATOM\b|RED|ERRBAR|MEMBAR|STG|ST\b)", operation):
        return latencies.memory
    if re.match(r"(LDS|STS|ATOMS|SHFL|VOTE|MATCH|LDL|STL|BAR|WARPSYNC)", operation):
        return latencies.shared
    return latencies.other
