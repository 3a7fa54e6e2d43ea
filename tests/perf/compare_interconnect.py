"""Compares flitlab behind booksim2::Interconnect with PSAL's BookSim, in the host of tests/bindings/adapters.

    python tests/perf/compare_interconnect.py --booksim FOLDER --installed PREFIX

FOLDER: PSAL-POSTECH/booksim, built in FOLDER/build (cmake -S FOLDER -B FOLDER/build). PREFIX: an installation of the C
library. The host pushes the same packets into both; the time of a packet is from its earliest push to its pop.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUTER = {"num_vcs": 4, "vc_buf_size": 8, "wait_for_tail_credit": 0, "vc_allocator": "islip", "sw_allocator": "islip",
          "alloc_iters": 1, "credit_delay": 0, "routing_delay": 0, "vc_alloc_delay": 1, "sw_alloc_delay": 1}
NETWORKS = {"8x8 mesh": (64, {"topology": "mesh", "k": 8, "n": 2, "routing_function": "dim_order"}),
            "router of 12 ports": (12, {"topology": "fly", "k": 12, "n": 1, "routing_function": "dest_tag"})}
INTERFACE = {"use_map": 0, "flit_size": 32, "subnets": 1, "input_buffer_size": 64, "ejection_buffer_size": 64,
             "boundary_buffer_size": 64}
# Two virtual channels for requests, and two for replies.
TYPES = {f"{kind}_{what}_{end}_vc": first + (end == "end") for what, first in (("request", 0), ("reply", 2))
         for kind in ("read", "write") for end in ("begin", "end")}
CYCLES, MEAN_FLITS, LOADS, SEEDS = 20_000, 3, (0.05, 0.2, 0.35), (1, 2, 3)


def build(folder: Path, booksim: Path, installed: Path) -> None:
    hosts = ROOT / "tests/bindings/adapters/hosts"
    subprocess.run(["cmake", "-S", hosts, "-B", folder / "hosts", f"-DCMAKE_PREFIX_PATH={installed}",
                    "-DCMAKE_BUILD_TYPE=Release"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder / "hosts", "--target", "onnxim"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["c++", "-std=c++17", "-O2", "-w", "-DOF_BOOKSIM", "-include", "fstream", f"-I{booksim / 'include'}",
                    hosts / "onnxim.cpp", booksim / "build/libbooksim2.a", "-o", folder / "booksim"], check=True)


def write_network(folder: Path, keys: dict) -> None:
    """Writes net.icnt for both, and net.toml for flitlab."""
    lines = [f"{name} = {value}\n" for name, value in (INTERFACE | TYPES | keys).items()]
    (folder / "net.icnt").write_text("[config]\n" + "".join(lines))
    subprocess.run([sys.executable, "-m", "flitlab", "import", "net.icnt", "-o", "net.toml"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


def packets(nodes: int, load: float, seed: int) -> list[tuple[int, int, int, int, int, int]]:
    """Returns uniform traffic: packets of one flit and of 2 MEAN_FLITS - 1 flits: read requests, write
    requests and read replies (BookSim's class has no write replies)."""
    draw = random.Random(seed)
    return [(cycle, source, draw.randrange(nodes), 32 * draw.choice([1, 2 * MEAN_FLITS - 1]), 0, draw.randrange(3))
            for cycle in range(CYCLES) for source in range(nodes) if draw.random() < load / MEAN_FLITS]


def mean_time(program: Path, folder: Path, nodes: int, given: list) -> tuple[float, float]:
    """Returns the mean time of a packet in cycles, and the seconds of the host."""
    text = "\n".join(" ".join(map(str, packet)) for packet in given)
    begin = time.perf_counter()
    done = subprocess.run([program, "net.icnt", str(nodes), "0"], cwd=folder, input=text, text=True, check=True,
                          capture_output=True)
    seconds = time.perf_counter() - begin
    popped = [tuple(map(int, line.split())) for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert len(popped) == len(given)
    return statistics.mean(at - given[number][0] for number, _, at in popped), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--booksim", type=Path, required=True)
    parser.add_argument("--installed", type=Path, required=True)
    args = parser.parse_args()
    print("| network | load | BookSim, cycles | flitlab, cycles | difference | BookSim, s | flitlab, s | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, args.booksim.resolve(), args.installed.resolve())
        for network, (nodes, topology) in NETWORKS.items():
            write_network(folder, {**topology, **ROUTER})
            for load in LOADS:
                runs = [packets(nodes, load, seed) for seed in SEEDS]
                (theirs, slow), (ours, fast) = ([statistics.mean(column) for column in zip(*(
                    mean_time(program, folder, nodes, given) for given in runs), strict=True)]
                    for program in (folder / "booksim", folder / "hosts/onnxim"))
                print(f"| {network} | {load} | {theirs:.2f} | {ours:.2f} | {(ours / theirs - 1):+.2%} | {slow:.2f} "
                      f"| {fast:.2f} | {slow / fast:.1f} |", flush=True)


if __name__ == "__main__":
    main()
