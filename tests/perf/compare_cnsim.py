"""Comparison with CNSim, a packet-parallel simulator (Feng et al., USENIX ATC 2024): speed and latency on meshes.

    python tests/perf/compare_cnsim.py PATH/TO/ChipletNetworkSim [--tries 9]

CNSim is built separately with its own CMake files, as Release. Both simulate one mesh with 4 VCs of 8 flits, packets of
4 flits, uniform traffic and dimension-order routing on one thread. CNSim's router is simpler: packets move, not flits,
and a channel serves packets in order of arrival. CNSim warms up for half of the time and measures the rest.
Prints a Markdown table.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import flitlab as fl
from flitlab.bench import measure

NETWORKS = {8: (0.04, 0.20, 0.36), 16: (0.02, 0.10, 0.18)}  # radix -> loads, flits/cycle/terminal


def cnsim(binary: str, radix: int, load: float, cycles: int) -> tuple[float, float]:
    """Returns (router-cycles per second, packet latency in cycles) of one CNSim run. CNSim continues with higher loads
    by itself, and is stopped after the first."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "mesh.ini"
        config.write_text(f"""[Network]
topology = SingleChipMesh
scale = {radix}
buffer_size = 8
vc_number = 4
routing_algorithm = XY
[Workload]
traffic = uniform
packet_length = 4
[Simulation]
injection_increment = {load}
simulation_time = {cycles}
timeout_threshold = 100000000
threads = 1
[Files]
output_file = {folder}/out.csv
log_file = {folder}/log.txt
""")
        run = subprocess.Popen([binary, str(config)], stdout=subprocess.PIPE, text=True)
        seconds = None
        for line in run.stdout:
            if found := re.search(r"Time elapsed: ([\d.e+-]+)s", line):
                seconds = float(found[1])
            if found := re.search(r"Average latency: ([\d.]+)", line):
                run.kill()
                return cycles * radix * radix / seconds, float(found[1])
    raise SystemExit(f"{binary}: no result for a {radix}x{radix} mesh at {load}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cnsim", help="CNSim's program")
    parser.add_argument("--tries", type=int, default=9, help="runs of each program and point, the best counts")
    args = parser.parse_args()
    print("| mesh | load | CNSim, router-cycles/s | flitlab, one thread | ratio | latency, CNSim | flitlab |\n"
          "|---|---|---|---|---|---|---|")
    for radix, loads in NETWORKS.items():
        for load in loads:
            experiment = fl.Experiment.from_dict({"topology.kind": "mesh", "topology.shape": [radix, radix],
                                                  "traffic.load": load})
            cycles = int(4e6 / load / radix / radix)
            ours = other = 0.0
            for _ in range(args.tries):
                rate, latency = cnsim(args.cnsim, radix, load, cycles)
                other = max(other, rate)
                ours = max(ours, measure(experiment, "cpu", 1)["router_cycles_per_second"])
            mean = fl.run(experiment).latency_cycles.mean
            print(f"| {radix}x{radix} | {load} | {other / 1e6:.2f} M | {ours / 1e6:.2f} M | {ours / other:.2f} | "
                  f"{latency:.1f} | {mean:.1f} |", flush=True)


if __name__ == "__main__":
    main()
