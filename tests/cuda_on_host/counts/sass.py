"""What a cycle of a kernel takes by its machine code: how often warps come to each basic block is counted on the host
(recorder.cpp), and instructions of the GPU are joined to blocks of the host by the lines of the source, and by the
functions that were inlined into one another around them.

An instruction is taken as often as the host's block that it belongs to, and no more often than the loop of the GPU's
code that it lies in: what the compiler has unrolled is there several times, and each of it is taken once. Code of one
line that lies several times in one loop counts each time, so that instructions are rather too many than too few. What
lies behind the kernel's end is not counted: there a warp goes whose threads have parted.

A warp that is alone issues one instruction after the other. How many clocks each holds it up stands in the code, and so
does which results it waits for; how long these take is assumed (`Latencies`).
"""

import re
import shutil
import subprocess
import sysconfig
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

Frame = tuple[str, int]  # file and line
Chain = tuple[Frame, ...]  # of the kernel, of what is inlined there, and so on


@dataclass(frozen=True)
class Instruction:
    text: str
    chain: Chain
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


def short(path: str) -> str:
    """A source file, by its path in the project, or its name."""
    at = path.rfind("/kernels/")
    return path[at + 1:] if at >= 0 else Path(path).name


@dataclass(frozen=True)
class Kernel:
    instructions: list[Instruction]
    labels: dict[str, int]  # at which of them labels stand


def disassembler() -> str | None:
    """nvdisasm, of the CUDA toolkit or as `pip install nvidia-cuda-nvdisasm` installs it."""
    packaged = Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin/nvdisasm")
    return shutil.which("nvdisasm") or next((str(path) for path in packaged), None)


def disassembly_of(cubin: Path) -> str:
    return subprocess.run([disassembler(), "-c", "-gi", "-hex", str(cubin)], capture_output=True, text=True,
                          check=True).stdout


def kernel_of(disassembly: str, kernel: str) -> Kernel:
    """One of those in what disassembly_of() returns, by its name there."""
    head = f"\n.text.{kernel}:\n"
    start = disassembly.index(head) + len(head)
    end = disassembly.find("\n//------", start)
    found: list[tuple[str, Chain]] = []
    high: list[int] = []
    labels: dict[str, int] = {}
    frames: list[Frame] = []
    is_new = True
    for line in disassembly[start:end].splitlines():
        if place := re.match(r'\s*//## File "([^"]*)", line (\d+)', line):
            if is_new:
                frames, is_new = [], False
            frames.append((short(place[1]), int(place[2])))
        elif label := re.match(r"([.$\w]+):$", line):
            labels[label[1]] = len(found)
        elif code := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]+ \*/", line):
            found.append((code[1], tuple(reversed(frames))))
            is_new = True
        elif code := re.match(r"\s*/\* 0x([0-9a-f]+) \*/", line):
            high.append(int(code[1], 16))
    assert len(high) == len(found), "two words to an instruction"
    # Since Volta the upper word has, from bit 41 on: stall (4 bits), yield, barriers written and read (3 each), waits
    # (6).
    return Kernel([Instruction(text, chain, h >> 41 & 15, h >> 46 & 7, h >> 49 & 7, h >> 52 & 63)
                   for (text, chain), h in zip(found, high, strict=True)], labels)


@dataclass
class Function:
    """One of the host's code, and how often warps came to its blocks, by the chains of their heads. Those of one
    template count as one."""

    entered: int
    blocks: dict[Chain, int]

    @property
    def begins(self) -> dict[str, int]:
        """The first line, of each file that it comes from (macros are of other ones)."""
        lines: dict[str, int] = {}
        for (file, line), *_ in self.blocks:
            lines[file] = min(line, lines.get(file, line))
        return lines


def without_arguments(function: str) -> str:
    """A function's name, without arguments of its own and of templates."""
    name = ""
    depth = 0
    for letter in function.replace("operator()", "operator"):
        depth += letter in "<("
        name += letter if depth == 0 else ""
        depth -= letter in ">)"
    return name


def with_others(library: Path, visits: list[list[int]]) -> list[list[int]]:
    """The blocks that nobody came to, too, of functions that somebody came to."""
    came = dict(map(tuple, visits))
    code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", str(library)],
                          capture_output=True, text=True, check=True).stdout
    found: list[list[int]] = []
    for function in code.split("\n\n"):
        heads = [int(place, 16) for place in re.findall(
            r"call .*<__sanitizer_cov_trace_pc(?:@plt)?>\n\s*([0-9a-f]+):", function)]
        if any(place in came for place in heads):
            found += [[place, came.get(place, 0)] for place in heads]
    return found


def functions_of(library: Path, visits: list[list[int]]) -> list[Function]:
    """Those of the host's code that warps came to; `visits`: ends of calls at the heads of blocks, and how often."""
    visits = sorted(with_others(library, visits))
    asked = "\n".join(hex(place - 1) for place, _ in visits)
    said = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", str(library)], input=asked, text=True,
                          capture_output=True, check=True).stdout
    functions: dict[str, Function] = {}
    seen: set[str] = set()
    for (_, warps), part in zip(visits, re.split(r"^0x\w+\n", said, flags=re.M)[1:], strict=True):
        lines = part.splitlines()
        places = [place.partition(" (")[0].rpartition(":") for place in reversed(lines[1::2])]
        chain = tuple((short(path), int(line)) for path, _, line in places if line.isdigit())
        if not chain:
            continue
        one = functions.setdefault(without_arguments(lines[-2]), Function(0, {}))
        if lines[-2] not in seen:  # its first block
            one.entered += warps
            seen.add(lines[-2])
        one.blocks[chain] = max(one.blocks.get(chain, 0), warps)
    return list(functions.values())


class Visits:
    """How often warps come to a place of the source."""

    def __init__(self, functions: list[Function]):
        self.heads: dict[tuple[Chain, str], list[tuple[int, int, Function]]] = defaultdict(list)
        self.begins: dict[str, list[tuple[int, Function]]] = defaultdict(list)
        for function in functions:
            for file, line in function.begins.items():
                self.begins[file].append((line, function))
            for (*around, (file, line)), warps in function.blocks.items():
                self.heads[tuple(around), file].append((line, warps, function))
        for heads in [*self.heads.values(), *self.begins.values()]:
            heads.sort(key=lambda head: head[0])
        self.known: dict[Chain, tuple[float, bool]] = {}

    def of(self, chain: Chain) -> tuple[float, bool]:
        """And whether there is a block that begins on its very line."""
        if chain not in self.known:
            self.known[chain] = self.search(chain)
        return self.known[chain]

    def search(self, chain: Chain) -> tuple[float, bool]:
        """Of the block whose head comes last before it. Where the host calls a function that the GPU's code has in its
        place, that is its share of the calls; where no block is like it, that of the call around it."""
        for k in range(len(chain)):
            found = self.head(chain[k:])
            if found is None:
                continue
            line, warps, function = found
            exact = line == chain[-1][1]
            return (warps, exact) if k == 0 else (self.of(chain[:k])[0] * warps / max(1, function.entered), exact)
        return (self.of(chain[:-1])[0], False) if len(chain) > 1 else (0, False)

    def head(self, chain: Chain) -> tuple[int, int, Function] | None:
        """The line, how often, and the function that has it."""
        of_file = self.begins.get(chain[0][0], [])
        at = bisect_right(of_file, chain[0][1], key=lambda entry: entry[0])
        if not at:
            return None
        function = of_file[at - 1][1]
        file, line = chain[-1]
        heads = [head for head in self.heads.get((chain[:-1], file), []) if head[2] is function]
        at = bisect_right(heads, line, key=lambda head: head[0])
        return heads[at - 1] if at else None

    def of_block(self, instructions: list[Instruction]) -> float:
        """Of what is taken together: the median of those that begin a block of the host, or if none does, of all."""
        found = [self.of(one.chain) for one in instructions]
        return median([warps for warps, exact in found if exact] or [warps for warps, _ in found])


@dataclass(frozen=True)
class Cycle:
    """Of the span that was counted, of all warps."""

    instructions: float
    clocks: float  # that warps take if each is alone


def cycle_of(kernel: Kernel, visits: Visits, latencies: Latencies) -> Cycle:
    instructions, labels = kernel.instructions, kernel.labels
    end = max(i for i, one in enumerate(instructions) if one.operation == "EXIT") + 1
    branches = [(i, labels[to[1]]) for i, one in enumerate(instructions[:end])
                if (to := re.search(r"BRA\S* .*?`\((\.L\w+)\)", one.text))]
    loops = sorted(((to, i) for i, to in branches if to <= i), key=lambda loop: loop[1] - loop[0])
    routines = lengths_of_routines(instructions, labels, end)
    begins = sorted({0, end, *(at for at in labels.values() if at < end), *(i + 1 for i, _ in branches)})
    often = {}
    for first, last in pairwise(begins):
        often[last - 1] = often[first] = visits.of_block(instructions[first:last])
    total = clocks = now = 0.0
    done = [0.0] * 6
    for first, last in pairwise(begins):
        loop = next((loop for loop in loops if loop[0] <= first <= loop[1]), None)
        if loop is None:
            continue  # before the first cycle, or after the last
        warps = min(often[first], often[loop[1]])
        if not warps:
            continue
        for one in instructions[first:last]:
            start = max([now, *(done[b] for b in range(6) if one.waits >> b & 1)])
            taken = start - now + max(1, one.stall)
            now += taken
            latency = latency_of(one.operation, latencies)
            if one.writes < 6:
                done[one.writes] = start + latency
            if one.reads < 6:
                done[one.reads] = max(done[one.reads], start + min(latency, latencies.other))
            size = 1 + routines.get(one.text, 0)
            total += warps * size
            clocks += warps * (taken + (size - 1) * 4)  # routines divide: each step needs the one before
    return Cycle(total, clocks)


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
