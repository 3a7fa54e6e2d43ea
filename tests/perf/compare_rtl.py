"""Comparison with Stanford's open-source router (Becker; github.com/anan-cn/Open-Source-Network-on-Chip-Router-RTL):
each flit on each channel of a mesh, cycle by cycle.

    python tests/perf/compare_rtl.py --rtl PATH [--only NAME] [--load 0.1] [--cycles 10000] [--radix 4]

PATH is the folder src of that repository, which has router_wrap.v. The routers are built from their own sources with
Verilator (5.006 or later), and connected by a harness (rtl/mesh.cpp); nothing of them is copied. The same packets, with
random sources, destinations and times, run in flitlab. A flit is equal if it crosses the same output port of the same
router on the same VC in the same cycle. Prints a line per load, and the first difference.

A router of the RTL has its flit on the output channel two cycles after the flit has won the switch (crossbar, output
register); an event of flitlab has the cycle of the switch. The constant per hop is the same for all flits.
"""

import argparse
import itertools
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import flitlab as fl

GRANT_TO_CHANNEL = 2  # cycles from the switch grant to the output channel, in the RTL
MOST_CYCLES_AT_ONCE = 10_000  # limits the memory for events
HERE = Path(__file__).parent / "rtl"
VALUES = {  # the RTL's constants
    "eligible": {"none": 0, "full": 1, "used": 2},
    "arbiter": {"round_robin_binary": 0, "round_robin_one_hot": 1, "prefix_binary": 2, "prefix_one_hot": 3,
                "matrix": 4},
    "vc_allocator": {"input_first": 0, "output_first": 1, "wavefront": 2},
    "switch_allocator": {"input_first": 0, "output_first": 1, "wavefront": 2},
    "speculation": {"none": 0, "requests": 1, "grants": 2, "priority": 3},
}


class Setting(NamedTuple):
    """A router of the RTL and flitlab's nearest one."""
    vcs: int = 1
    buffer_flits: int = 8
    flits: tuple[int, ...] = (4,)  # lengths of packets, equally likely
    eligible: str = "none"
    arbiter: str = "prefix_binary"
    vc_allocator: str = "input_first"
    switch_allocator: str = "input_first"
    speculation: str = "none"
    credit_bypass: bool = True

    def lacks(self) -> str:
        """Returns what flitlab has no parameter for; "" if it has all."""
        lacking = {"one-hot round robin": self.arbiter == "round_robin_one_hot",
                   "matrix arbiters of output VCs": self.arbiter == "matrix",
                   "its output-first switch allocator": self.vcs > 1 and self.switch_allocator == "output_first",
                   "a VC that is empty one cycle late": self.eligible == "used" and self.credit_bypass,
                   "its first diagonal": "wavefront" in (self.vc_allocator, self.switch_allocator),
                   "its atomic VCs with credit bypass": self.eligible == "used" and self.credit_bypass,
                   "its speculation": self.speculation != "none"}
        return ", ".join(name for name, applies in lacking.items() if applies)


SETTINGS = {
    "one VC": Setting(),
    "one VC, buffers of 3 flits": Setting(buffer_flits=3, flits=(1, 2, 5)),
    "one VC, no credit bypass": Setting(buffer_flits=5, flits=(1, 2, 5), credit_bypass=False),
    "one VC, round robin": Setting(arbiter="round_robin_binary"),
    "4 VCs": Setting(vcs=4),
    "4 VCs, round robin": Setting(vcs=4, arbiter="round_robin_binary"),
    "4 VCs, one-hot round robin": Setting(vcs=4, arbiter="round_robin_one_hot", flits=(1, 2, 5)),
    "4 VCs, matrix": Setting(vcs=4, arbiter="matrix", flits=(1, 2, 5)),
    "4 VCs, eligible if not full": Setting(vcs=4, eligible="full", buffer_flits=4, flits=(1, 2, 5)),
    "4 VCs, atomic": Setting(vcs=4, eligible="used", buffer_flits=5, flits=(1, 2, 5)),
    "4 VCs, atomic, no credit bypass": Setting(vcs=4, eligible="used", flits=(1, 2, 5), credit_bypass=False),
    "4 VCs, eligible if not full, round robin, no credit bypass":
        Setting(vcs=4, eligible="full", buffer_flits=4, arbiter="round_robin_binary", credit_bypass=False,
                flits=(1, 2, 5)),
    "4 VCs, output-first VC allocator": Setting(vcs=4, vc_allocator="output_first", flits=(1, 2, 5)),
    "4 VCs, output-first": Setting(vcs=4, vc_allocator="output_first", switch_allocator="output_first"),
    "4 VCs, wavefront": Setting(vcs=4, vc_allocator="wavefront", switch_allocator="wavefront"),
    **{f"4 VCs, {allocator}, speculation by {kind}":
       Setting(vcs=4, vc_allocator=allocator, switch_allocator=allocator, speculation=kind, eligible="full",
               flits=(1, 2, 5))
       for allocator in ("input_first", "output_first", "wavefront") for kind in ("requests", "grants", "priority")},
    "2 VCs, default parameters": Setting(vcs=2, arbiter="round_robin_binary", speculation="priority", eligible="full",
                                         credit_bypass=False, flits=(1, 2, 3, 4, 5)),
}


class Flits(NamedTuple):
    """Flits in the order of cycles, routers and ports. key: the three numbers in one; value: packet, flit and VC."""
    key: np.ndarray
    value: np.ndarray


def packed(cycle, router, port, packet, flit, vc) -> Flits:
    key = (cycle.astype(np.int64) << 24) | (router.astype(np.int64) << 8) | port
    value = (packet.astype(np.int64) << 24) | (flit.astype(np.int64) << 8) | vc
    order = np.argsort(key)
    return Flits(key[order], value[order])


def shown(key: int, value: int) -> str:
    return (f"cycle {key >> 24}, router {key >> 8 & 0xFFFF}, port {key & 0xFF}: packet {value >> 24}, "
            f"flit {value >> 8 & 0xFFFF}, VC {value & 0xFF}")


def build(source: Path, folder: Path, radix: int, s: Setting) -> Path:
    """Builds the harness with the RTL's routers and returns the program."""
    parameters = {
        "TOPOLOGY": 0, "ROUTERS_PER_DIMENSION": radix, "VCS_PER_CLASS": s.vcs, "BUFFER_FLITS": s.buffer_flits,
        "CREDIT_BYPASS": int(s.credit_bypass), "ELIGIBLE": VALUES["eligible"][s.eligible],
        "VC_ALLOCATOR": VALUES["vc_allocator"][s.vc_allocator], "VC_ARBITER": VALUES["arbiter"][s.arbiter],
        "SWITCH_ALLOCATOR": VALUES["switch_allocator"][s.switch_allocator],
        "SWITCH_ARBITER": VALUES["arbiter"][s.arbiter], "SPECULATION": VALUES["speculation"][s.speculation]}
    write_settings(folder, radix, s)
    command = ["verilator", "--cc", "--exe", "--build", "-j", "1", "-O3", "--x-assign", "0", "--x-initial", "0",
               "--noassert", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--Mdir", str(folder / "built"),
               "-CFLAGS", f"-std=c++20 -O2 -I{folder}", "--top-module", "router_ports", "-o", "mesh",
               *(f"-G{name}={value}" for name, value in parameters.items()),
               f"-I{source}", "-y", str(source), "-y", str(source / "clib"),
               str(HERE / "router_ports.sv"), str(source / "router_wrap.v"), str((HERE / "mesh.cpp").resolve())]
    run(command)
    return folder / "built" / "mesh"


def build_rules(folder: Path, radix: int, s: Setting) -> Path:
    """Builds the harness with routers by the rules of rtl/rules.hpp and returns the program."""
    write_settings(folder, radix, s)
    run(["c++", "-std=c++20", "-O2", "-DRULES", f"-I{folder}", str(HERE / "mesh.cpp"), "-o", str(folder / "rules")])
    return folder / "rules"


def write_settings(folder: Path, radix: int, s: Setting) -> None:
    numbers = {"Radix": radix, "Vcs": s.vcs, "Classes": 1, "BufferFlits": s.buffer_flits,
               "CreditBypass": int(s.credit_bypass), "Eligible": VALUES["eligible"][s.eligible],
               "VcArbiter": VALUES["arbiter"][s.arbiter], "SwitchArbiter": VALUES["arbiter"][s.arbiter],
               "VcAllocator": VALUES["vc_allocator"][s.vc_allocator],
               "SwitchAllocator": VALUES["switch_allocator"][s.switch_allocator],
               "Speculation": VALUES["speculation"][s.speculation]}
    lines = [f"constexpr int k{name} = {value};\n" for name, value in numbers.items()]
    (folder / "settings.hpp").write_text("#pragma once\n" + "".join(lines))


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def random_packets(radix: int, load: float, cycles: int, lengths: tuple[int, ...], seed: int) -> np.ndarray:
    """Returns rows of cycle, source, destination and flits. In each cycle each terminal creates a packet with the
    probability that gives `load` flits/cycle; destinations are uniform over the other terminals."""
    random = np.random.default_rng(seed)
    terminals = radix * radix
    created = random.random((cycles, terminals)) < load / np.mean(lengths)
    cycle, source = np.nonzero(created)
    step = random.integers(1, terminals, cycle.size)
    return np.stack([cycle, source, (source + step) % terminals, random.choice(lengths, cycle.size)], axis=1)


def of_harness(program: Path, folder: Path, packets: np.ndarray, cycles: int) -> Flits:
    np.savetxt(folder / "packets.csv", packets, fmt="%d", delimiter=",")
    run([str(program), str(cycles + GRANT_TO_CHANNEL), str(folder / "packets.csv"), str(folder / "flits")])
    rows = np.fromfile(folder / "flits", [("cycle", "<u4"), ("packet", "<u4"), ("router", "<u2"), ("flit", "<u2"),
                                          ("port", "u1"), ("vc", "u1"), ("unused", "<u2")])
    return packed(rows["cycle"] - GRANT_TO_CHANNEL, rows["router"], rows["port"], rows["packet"], rows["flit"],
                  rows["vc"])


def experiment(radix: int, s: Setting) -> fl.Experiment:
    return fl.Experiment.from_dict({
        "topology.kind": "mesh", "topology.shape": [radix, radix], "router.vcs": s.vcs,
        "router.buffer_flits": s.buffer_flits, "router.routing_delay": 0,
        "router.credit_delay": 3 if s.credit_bypass else 4, "router.injection_credit_delay": 3,
        "router.wait_for_tail_credit": s.eligible == "used", "router.vc_needs_credit": s.eligible == "full",
        "router.early_vc_credits": s.eligible != "none", "router.vc_arbiter_by_port": True,
        "router.vc_allocator": words(s.vc_allocator), "router.switch_allocator": words(s.switch_allocator),
        "router.arbiter": "round_robin_by_two" if s.arbiter == "round_robin_binary" else "round_robin"})


def words(allocator: str) -> str:
    return allocator if allocator == "wavefront" else f"separable_{allocator}"


def grants(network: fl.Network, cycles: int, passed: dict[tuple[int, int], int]
           ) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yields cycle, router, output port, packet, flit and VC of each flit that wins the switch. Flits of a packet pass
    a router in order, so they are counted: passed[router, packet]."""
    while network.cycle < cycles:
        network.step(min(64, cycles - network.cycle))
        for e in network.events():
            if e["kind"] != "switch_granted":
                continue
            at = e["index"], e["id"]
            flit = passed.pop(at, 0)
            if flit + 1 < e["flits"]:
                passed[at] = flit + 1
            yield e["cycle"], e["index"], e["out_port"], e["id"], flit, e["out_vc"]


def of_flitlab(radix: int, s: Setting, packets: np.ndarray, cycles: int) -> Flits:
    network = fl.Network(experiment(radix, s).with_trace(packets), trace=True)
    parts, passed = [], {}
    for end in [*range(MOST_CYCLES_AT_ONCE, cycles, MOST_CYCLES_AT_ONCE), cycles]:
        numbers = np.fromiter(itertools.chain.from_iterable(grants(network, end, passed)), np.int64).reshape(-1, 6)
        parts.append(packed(*numbers.T))
    return Flits(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def compare(theirs: Flits, ours: Flits, other: str) -> tuple[int, str]:
    """Returns the number of equal flits and a text about the first difference."""
    if all(np.array_equal(x, y) for x, y in zip(theirs, ours, strict=True)):
        return theirs.key.size, "no difference"
    _, a, b = np.intersect1d(theirs.key, ours.key, assume_unique=True, return_indices=True)
    same = theirs.value[a] == ours.value[b]
    equal = int(np.count_nonzero(same))
    texts = []
    for name, flits, common in (("RTL", theirs, a[same]), (other, ours, b[same])):
        rest = np.ones(flits.key.size, bool)
        rest[common] = False
        if rest.any():
            first = int(np.argmax(rest))
            texts.append(f"{name}: {shown(int(flits.key[first]), int(flits.value[first]))}")
    return equal, "first difference: " + "; ".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtl", required=True, type=Path, help="folder src of the RTL's repository")
    parser.add_argument("--only", choices=SETTINGS, action="append", help="this setting; may be repeated")
    parser.add_argument("--load", type=float, action="append", help="flits/cycle/terminal; may be repeated")
    parser.add_argument("--cycles", type=int, default=10_000)
    parser.add_argument("--radix", type=int, default=4, help="routers in each of the two dimensions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", action="store_true", help="routers by rtl/rules.hpp in flitlab's place")
    args = parser.parse_args()
    source = args.rtl.resolve()
    if not (source / "router_wrap.v").is_file():
        raise SystemExit(f"--rtl {args.rtl}: this folder has no router_wrap.v; give the folder src of the repository.")
    other = "rules" if args.rules else "flitlab"
    print(f"| setting | load | cycles | flits, RTL | flits, {other} | equal | |\n|---|---|---|---|---|---|---|")
    for name in args.only or SETTINGS:
        setting = SETTINGS[name]
        if setting.lacks() and not args.rules:
            print(f"| {name} | | | | | | flitlab lacks {setting.lacks()} |", flush=True)
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            program = build(source, folder, args.radix, setting)
            rules = build_rules(folder, args.radix, setting) if args.rules else program
            for load in args.load or (0.1, 0.3, 0.5):
                packets = random_packets(args.radix, load, args.cycles, setting.flits, args.seed)
                theirs = of_harness(program, folder, packets, args.cycles)
                ours = (of_harness(rules, folder, packets, args.cycles) if args.rules
                        else of_flitlab(args.radix, setting, packets, args.cycles))
                equal, text = compare(theirs, ours, other)
                print(f"| {name} | {load} | {args.cycles} | {theirs.key.size} | {ours.key.size} | {equal} | {text} |",
                      flush=True)


if __name__ == "__main__":
    main()
