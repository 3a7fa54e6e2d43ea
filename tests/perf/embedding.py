"""Speed of a network inside of a host: `python tests/perf/embedding.py`.

A C program offers packets, advances by one cycle and takes arrivals, in every cycle (embedded_host.c), beside the same
network that creates its packets itself and advances in one call. Pairs of runs alternate, so that other work on the
machine slows both; the ratio is the median over pairs. Needs the C library in build/tests (toml++)."""

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import flitlab as fl

ROOT = Path(__file__).resolve().parents[2]
MESH = {"topology.kind": "mesh", "topology.shape": [8, 8]}
CASES = [
    ("8x8 mesh", MESH, 0.2, 1), ("8x8 mesh", MESH, 0.2, 4),
    ("8x8 mesh, iSLIP", MESH | {"router.switch_allocator": "islip"}, 0.2, 4),
    ("4x4x4 torus (bgl)", {"router.kind": "bgl", "topology.shape": [4, 4, 4]}, 0.2, 4)]


def built(folder: Path) -> Path:
    """Returns the host program, linked to an installation of the library."""
    subprocess.run(["cmake", "--install", ROOT / "build" / "tests", "--component", "c", "--prefix", folder], check=True,
                   capture_output=True)
    library = next(folder.rglob("libflitlab.so")).parent
    program = folder / "host"
    subprocess.run(["cc", "-O2", f"-I{folder}/include", Path(__file__).with_name("embedded_host.c"), "-o", program,
                    f"-L{library}", "-lflitlab", f"-Wl,-rpath,{library}"], check=True)
    return program


def free_running(exp: fl.Experiment, cycles: int) -> float:
    net = fl.Network(exp).step(2000)
    start = time.perf_counter()
    net.step(cycles)
    return cycles / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    print("| network, load, packets | cycles/s free | with a host | ratio | idle call | 1e8 idle cycles |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = built(folder)
        for text, network, load, flits in CASES:
            exp = fl.Experiment.from_dict(network | {"traffic.load": load, "traffic.packet_flits": flits})
            (folder / "network.toml").write_text(exp.with_host_traffic().to_toml())
            free, hosted, idle, skipped = [], [], [], []
            for _ in range(given.pairs):
                free.append(free_running(exp, given.cycles))
                answer = subprocess.run([program, folder / "network.toml", str(load), str(flits), str(given.cycles)],
                                        check=True, text=True, capture_output=True).stdout.split()
                hosted.append(float(answer[0]))
                idle.append(float(answer[2]))
                skipped.append(float(answer[3]))
            ratio = statistics.median(h / f for h, f in zip(hosted, free, strict=True))
            print(f"| {text}, {load}, {flits} flits | {statistics.median(free):,.0f} "
                  f"| {statistics.median(hosted):,.0f} | {ratio:.2f} | {statistics.median(idle):.0f} ns "
                  f"| {statistics.median(skipped) * 1e3:.1f} ms |")


if __name__ == "__main__":
    main()
