"""What the CUDA engine's kernels are like, without a GPU: `python tests/cuda_on_host/counts/report.py > docs/gpu.md`.

It needs nvcc, nvdisasm and binutils, CMake, which builds the engine for the device that the host emulates, so that what
threads do is written down, and some twenty minutes.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import host_code
import rates
import sass

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "gpu-counts"
INSTRUCTION_BYTES = 16  # since Volta
WARP = 32
SECTOR = 32  # bytes

INTRODUCTION = """# The GPU engine

The CUDA engine runs the phases of the CPU engine, a thread for each router or terminal, or several
([cuda_engine.cuh](../kernels/engines/cuda_engine.cuh)). Networks stay with a block each for a whole epoch, small ones
several to a block, or all are spread over the grid, whatever is likely to be faster. Plain routers in an open loop
are kept in lanes instead: a crew of warps, one for each port and one for the terminals, works on twice 64 routers, a
byte of each, four to a thread, and holds their state in shared memory where it fits
([cuda_lane_engine.cuh](../kernels/engines/cuda_lane_engine.cuh)). Blocks go on
without one another for as many cycles as links and credits take, three by default, fewer where links are long, before
they meet (`lookahead_of` in [lanes.hpp](../kernels/routers/vc/lanes/lanes.hpp)). `make test` runs both on a device
that the host emulates, and compares them with the CPU engine ([tests/cuda_on_host](../tests/cuda_on_host/README.md)).
`tests/gpu/run.sh` does it on a GPU. This page is made by `python tests/cuda_on_host/counts/report.py`; numbers are
counted where nothing else is said.

After an epoch the host asks for the totals and audits of all replicas at once: nine launches and five copies at most,
however many replicas there are ([calls_gpu_test.cpp](../tests/kernels/engines/calls_gpu_test.cpp)). Histograms are
copied when a run ends, states when its window begins and ends, and for the search for deadlocks, many at once. The
host's threads share the replicas that are searched, and searches are rare: after 5000 cycles, twice, four times as
many, and when runs end. The memory of the device is asked for before anything is built there; `CUDA_VISIBLE_DEVICES`
chooses among several devices, which `flitlab doctor` lists. A job's first launch takes some hundredths of a second
at most, later ones half a second, so that Ctrl-C is heard ([work_slicer.hpp](../host/run/work_slicer.hpp)).
"""

MEASURED = """
## Measured

Router-cycles per second on an {device}, {date} ([gpu_h200.json](gpu_h200.json), by `tests/gpu/run.sh`, but for what it
was told by hand: the column of the first kernels, profiles, and remarks). "First kernels" are those of {first}; "now"
are those of that day; the CPU is the one beside it, with lanes, whose 16 cores run one small network on one core. Of a
thousand networks the CPU runs 16, one a core, and states of 16 are compared; its rate is that of 16.

* commit: {commit}
* tests that need a GPU: {tests}; states beside the CPU's: {states}
* compute-sanitizer (memcheck, racecheck, initcheck, synccheck): {sanitizer}

Changed since, which no device has run: Philox, of which there is one copy, is no loop; in lanes a bid is one number,
and what is held takes 72 registers; blocks of plain routers one by one, T3E, adaptive and bufferless routers list who
is due while few are, as those of Blue Gene/L did. That takes registers (80 became 96 for plain routers), and pays,
counted, at low loads: warps issue 10 to 28% fewer instructions at 0.05 than those of commit 75601c7, in which
only Blue Gene/L's listed, and as many, to 4%, at 0.2 and 0.5.

| model | load | network | first kernels | now | CPU |
|---|---|---|---|---|---|
{rows}
NVIDIA's profiler counted, for a thousand networks at load 0.2, the instructions that warps issue for a router-cycle
and, of 32, the threads that take part in one (`ncu --set full flitlab_gpu_report --profile MODEL`). The later kernels
are not quite those of today: they took 80 registers for lanes, 90 for METRO and 103 for Blue Gene/L. Of models without
a second row only the first kernels were profiled.

| model | kernels | instructions, a router-cycle | threads | what warps wait for, of samples |
|---|---|---|---|---|
{profiles}
Lanes issue 0.41 times the instructions of plain routers one by one. The first kernel of lanes issued 0.22 times as
many: a warp to each port repeats some work, and is 3.6 times as fast all the same, since it is waiting that limits a
warp, not issue. Counts on the emulated device, below, have more threads that take part: they let those that do the same
for the n-th time do it together, which is the best a warp can do, and warps do not.

What was learnt of it:

* One team of 16 threads did all that there is to do for 64 routers in lanes. Its warp was alone on its scheduler and
  waited for memory in 69% of the samples: 13.8 clocks for an instruction. With a warp to each port, and state that is
  always held, lanes are 2.4 to 4.2 times as fast.
* Warps of METRO, T3E, Blue Gene/L and of plain routers one by one mostly wait for instructions: in 76, 53, 34 and 41%
  of the samples. They part, and what they walk through, 50 to 115 kB, is more than the caches for instructions hold.
  One copy of what METRO does in several places made it 2.8 to 4.2 times as fast. T3E became half as fast when the
  creation of packets was a call, which is given the whole table by reference, and so it is in line again. Its kernel
  was the first one but for random draws, until lists came; it was not measured since.
* Thirty-two switches that share a warp hardly ever do the same: 2.7 threads take part in an instruction. A warp to
  each is 9 to 15 times as fast, as long as there are few enough.
* In a grid all multiprocessors wait for the slowest in each cycle. A thousand networks of S-Connect are 1.06 to 1.17
  times as fast in blocks of their own, which is where they are now.
"""

NAMED = ("device", "date", "commit", "first", "tests", "states", "sanitizer")

KERNELS = """
## What the compiler makes of a cycle

The kernel that advances a network, as nvcc compiles it for {architecture}. Lanes have two for each kind of table, one
of them for state that is held in shared memory; a network takes the first that fits. Spills are bytes of registers that
do not fit and are stored and loaded again; the stack holds them, and arrays with indices that the compiler does not
know.

| kernel | instructions | registers | stack, bytes | spill stores, bytes | spill loads, bytes |
|---|---|---|---|---|---|
"""

COUNTS = """
## What warps do

Networks of about 64 routers after {warmup} cycles, over {cycles}: one, but two of vc, which are in lanes; of
switches one of 64 ports. **Useful lanes**: of 32 lanes, how many take part in what the warp does, on
average over basic blocks. What several lanes do at the same place for the n-th time they do together, so this is the
best that a warp can do. **Sectors** are pieces of 32 bytes that a warp's access needs: with neighbouring lanes at
neighbouring addresses a load of 4 bytes takes 4 for 32 lanes. **Longest**: loads of the lane that has most, one after
the other: at most so many wait for one another. **Barriers** are those that a block's threads wait at in a cycle: all
of them, or in lanes those of a crew, or of its warps for ports. Counted is the device's memory: not shared memory, not
a thread's own variables, and not the table of the network, which the kernel is given as an argument and a GPU keeps in
its constant cache.

| model | load | useful lanes | loads | sectors a load | bytes | asked for | stores | atomics | longest | barriers |
|---|---|---|---|---|---|---|---|---|---|---|
"""
UNITS = """Loads, bytes, stores and atomics are per router and cycle, the longest is per cycle. Bytes are those of
sectors that are moved; asked for is the part of them that lanes wanted.
"""

BEFORE = """
## Before and after

What was counted of the first kernels that were counted at all ([first.csv](../tests/cuda_on_host/counts/first.csv)),
and now. Issued are instructions of warps, estimated as in the next table: of the host's code of both, counted by the
same recorder (`python tests/cuda_on_host/counts/host_code.py`), one for one, but 0.36 for one in lanes, as NVIDIA's
profiler has it. They, bytes and atomics are per router and cycle. Size, in instructions, and stack are those of the
kernel that advances a network, of `vc` the one in lanes. Models have grown: Blue Gene/L's token packets take links,
S-Connect's kernel has got queues of priorities and closed loops.

| model | load | useful lanes | now | issued | now | bytes | now | atomics | now | size | now | stack | now |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def wrapped(text: str) -> str:
    """Paragraphs and points of lists fill their lines, whatever has been put in."""
    parts: list[str] = []
    for line in text.splitlines():
        goes_on = parts and parts[-1] and parts[-1][0] not in "|#" and line and line[0] not in "|#*"
        if goes_on:
            parts[-1] += " " + line.strip()
        else:
            parts.append(line)
    return "".join((part if part[:1] in ("|", "#") else textwrap.fill(
        part, 120, subsequent_indent="  " if part.startswith("*") else "", break_long_words=False,
        break_on_hyphens=False)) + "\n" for part in parts)


def models() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "kernels" / "routers").glob("*/cuda.cu"))


def label(model: str, kernel: str) -> str:
    """What a kernel advances, by its name as the compiler writes it."""
    lanes = re.search(r"lane_kernel.*?(Fixed|Open)\w*?SizesILj(\d+)ELj(\d+)ELb([01])EE+Lb([01])E", kernel)
    if not lanes:
        return model
    table, ports, vcs, roomy, held = lanes.groups()
    return (f"{model}, lanes{', held' if held == '1' else ''}, {ports} ports, {'' if table == 'Fixed' else 'up to '}"
            f"{vcs} VCs" + (", long packets" if table == "Fixed" and roomy == "1" else "")
            + (", any" if table == "Open" else ""))


def compiled(model: str, architecture: str, folder: Path = BUILD) -> dict[str, dict[str, int]]:
    """Sizes and registers of the kernels that advance a network, by label. Of those that step single routers or
    terminals it is the largest, that of a cycle."""
    cubin = folder / f"{model}.cubin"
    command = ["nvcc", "-std=c++20", f"-arch={architecture}", "--fmad=false", "--expt-relaxed-constexpr",
               "--extended-lambda", "-DFLITLAB_CUDA", "-cubin", "-Xptxas", "-v", "-I", str(ROOT),
               str(ROOT / "kernels" / "routers" / model / "cuda.cu"), "-o", str(cubin)]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        raise RuntimeError(said.stderr)
    sections = subprocess.run(["readelf", "--section-headers", "--wide", str(cubin)], capture_output=True, text=True)
    sizes = sorted((int(size, 16), name) for name, size in
                   re.findall(r" \.text\.(\S*(?:step|lane)_kernel\S*)\s+PROGBITS\s+\w+ \w+ (\w+)", sections.stdout))
    kernels = {}
    for size, name in sizes:
        part = said.stderr[said.stderr.index(f"Function properties for {name}"):]
        stack, stores, loads = map(int, re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups())
        registers = int(re.search(r"Used (\d+) registers", part).group(1))
        kernels[label(model, name)] = {"instructions": size // INSTRUCTION_BYTES, "registers": registers,
                                       "stack": stack, "spill_stores": stores, "spill_loads": loads, "name": name}
    return dict(sorted(kernels.items()))


def counted() -> dict:
    flags = ["-DFLITLAB_CUDA=HOST", "-DFLITLAB_UNITY=ON", "-DFLITLAB_COUNTS=ON"]
    for command in (["cmake", "-S", str(ROOT), "-B", str(BUILD / "host"), *flags],
                    ["cmake", "--build", str(BUILD / "host"), "--parallel", str(os.cpu_count() or 1), "--target",
                     "flitlab_gpu_counts"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    run = subprocess.run([str(BUILD / "host" / "flitlab_gpu_counts")], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def kernel_rows(kernels: dict[str, dict]) -> str:
    columns = ("instructions", "registers", "stack", "spill_stores", "spill_loads")
    return "".join(f"| {label} | {' | '.join(f'{k[column]:,}' for column in columns)} |\n"
                   for label, k in kernels.items())


NOT_REACHED = """
What was meant to be reached, and is not:

* A quarter of the instructions for `vc`: {vc} of what the first kernels issued, at loads of 0.05, 0.2 and 0.5; by the
  profiler 0.41 at 0.2. What limits it: 45% of what crews issue is the dense part of ports (685 instructions, of all 32
  threads of each port's warp), 11% that of terminals, and the rest lists of heads with 6 of 32 threads. The first
  kernel of lanes issued 0.22, and was slower.
* Fewer instructions for every other model: more are issued by {more}.
* More useful lanes for every other model: fewer by a tenth of a lane or more {fewer}.
* Counters without an atomic for each: only lanes have them.
"""

LANES = "vc, lanes, held, 5 ports, 4 VCs"  # the kernel that networks of vc are counted in


def before_and_after(networks: list[dict], kernels: dict[str, dict], work: list[rates.Work]) -> str:
    now = {(c["model"], c["load"]): (c, w) for c, w in zip(networks, work, strict=True)}
    text = BEFORE
    issue: dict[str, list[str]] = {}
    more, fewer = [], []
    with (Path(__file__).parent / "first.csv").open(encoding="utf-8") as file:
        for first in csv.DictReader(line for line in file if not line.startswith("#")):
            model = first["model"]
            if (found := now.get((model, float(first["load"])))) is None:
                continue
            c, issued = found[0], found[1].instructions["likely"]
            each, kernel = c["routers"] * c["replicas"] * c["cycles"], kernels[LANES if model == "vc" else model]
            pairs = ((first["useful_lanes"], f"{c['lane_blocks'] / c['warp_blocks']:.1f}"),
                     (f"{int(first['instructions']):,}", f"{issued:,.0f}"),
                     (f"{int(first['bytes']):,}", f"{SECTOR * (c['load_sectors'] + c['store_sectors']) / each:,.0f}"),
                     (first["atomics"], f"{c['atomics'] / each:.2f}"),
                     (f"{int(first['kernel_instructions']):,}", f"{kernel['instructions']:,}"),
                     (first["stack"], str(kernel["stack"])))
            text += f"| {model} | {first['load']} | {' | '.join(f'{was} | {is_now}' for was, is_now in pairs)} |\n"
            ratio = issued / int(first["instructions"])
            issue.setdefault(model, []).append(f"{ratio:.2f}")
            if ratio > 1.005:
                more.append(f"{model} at {first['load']} ({ratio:.2f})")
            if float(pairs[0][1]) < float(pairs[0][0]):
                fewer.append(f"{model} at {first['load']} ({pairs[0][0]} to {pairs[0][1]})")
    return text + NOT_REACHED.format(vc=", ".join(issue["vc"]), more=", ".join(more) or "none",
                                     fewer=("with " + ", ".join(fewer)) if fewer else "nowhere")


def works(networks: list[dict], kernels: dict[str, dict]) -> list[rates.Work]:
    host = host_code.blocks_of(host_code.disassembly_of(BUILD / "host" / "libflitlab_cuda_on_host.so"))
    texts: dict[str, str] = {}
    found = []
    for counted in networks:
        model = counted["model"].split(",")[0]
        if model not in texts:
            texts[model] = sass.disassembly_of(BUILD / f"{model}.cubin")
        kernel = kernels[LANES if counted["model"] == "vc" else model]
        found.append(rates.work_of(counted, sass.kernel_of(texts[model], kernel["name"]), host))
    return found


def count_rows(report: dict) -> str:
    text = ""
    for c in report["networks"]:
        each = c["routers"] * c["replicas"] * c["cycles"]
        moved = SECTOR * (c["load_sectors"] + c["store_sectors"])
        text += (f"| {c['model']} | {c['load']:g} | {c['lane_blocks'] / c['warp_blocks']:.1f} of {WARP} "
                 f"| {c['loads'] / each:.0f} | {c['load_sectors'] / c['warp_loads']:.1f} | {moved / each:,.0f} "
                 f"| {(c['load_bytes'] + c['store_bytes']) / moved:.0%} | {c['stores'] / each:.0f} "
                 f"| {c['atomics'] / each:.2f} | {c['longest'] / c['cycles']:.0f} "
                 f"| {(c['block_barriers'] + c['named_barriers']) / c['blocks'] / c['cycles']:.1f} |\n")
    return text


def measured(report: dict) -> dict[tuple, float]:
    """A device's rate by model, load, routers and replicas."""
    return {(r["model"], r["load"], r["routers"], r["replicas"]): r["cuda"] for r in report["rates"] if "cuda" in r}


def measured_rows(report: dict) -> str:
    def cell(rate: float | None) -> str:
        return f"{rate:.3g}" if rate else ""

    text = ""
    for r in report["rates"]:
        routers = "switch" if r["model"] == "switch" else f"network of {r['routers']:,}"
        network = f"one {routers}" if r["replicas"] == 1 else f"{r['replicas']}, each a {routers}"
        text += (f"| {r['model']} | {r['load']:g} | {network} | {cell(r.get('first'))} | {cell(r.get('cuda'))} "
                 f"| {cell(r['cpu'])} |\n")
    return text


def profile_rows(report: dict) -> str:
    return "".join(
        f"| {p['model']} | {p['kernel']} | {p['instructions']:.0f} | {p['threads']:.1f} of {WARP} | "
        + ", ".join(f"{what} {share}%" for what, share in p["waits"].items()) + " |\n"
        for p in report.get("profiles", []))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90", help="device that nvcc compiles for")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--measured", type=Path, metavar="REPORT.json", default=ROOT / "docs" / "gpu_h200.json",
                        help="rates of a device (tests/gpu/run.sh)")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="what flitlab_gpu_counts has printed")
    args = parser.parse_args()
    if not shutil.which("nvcc") or not sass.disassembler():
        sys.exit("report.py needs nvcc and nvdisasm (pip install nvidia-cuda-nvdisasm).")
    BUILD.mkdir(parents=True, exist_ok=True)
    report = json.loads(args.counts.read_text()) if args.counts else counted()
    networks = report["networks"]
    with ThreadPoolExecutor(args.jobs) as pool:
        kernels = {name: kernel for of_model in pool.map(lambda model: compiled(model, args.arch), models())
                   for name, kernel in of_model.items()}
    work = works(networks, kernels)
    of_device = json.loads(args.measured.read_text(encoding="utf-8"))
    print(wrapped(INTRODUCTION + MEASURED.format(rows=measured_rows(of_device), profiles=profile_rows(of_device),
                                         **{name: of_device[name] for name in NAMED})
          + KERNELS.format(architecture=args.arch) + kernel_rows(kernels)
          + COUNTS.format(warmup=report["warmup"], cycles=report["cycles"]) + count_rows(report) + "\n" + UNITS
          + before_and_after(networks, kernels, work) + rates.cycle_table(networks, work)
          + rates.table(networks, work, measured(of_device))), end="")


if __name__ == "__main__":
    main()
