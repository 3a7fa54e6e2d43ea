"""Side by side with BookSim 2: speed and accuracy at matched settings.

    python tests/perf/compare_booksim.py PATH/TO/booksim [--quick]

BookSim is built separately with its own makefile. Both simulate the same networks with 4 VCs of 8 flits, packets of
4 flits, uniform traffic, dimension-order routing, one cycle per pipeline stage and channel, and separable
input-first round-robin allocators, on one processor. Prints Markdown tables.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import flitlab as fl
from flitlab.bench import measure

SETTINGS = """num_vcs = 4; vc_buf_size = 8; packet_size = 4; injection_rate_uses_flits = 1; traffic = uniform;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; arb_type = round_robin;
routing_delay = 1; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; speculative = 0; hold_switch_for_packet = 0;
wait_for_tail_credit = 0; use_noc_latency = 0; warmup_periods = 3; max_samples = 3; sim_count = 1;
latency_thres = 1000000.0; stopping_thres = 1.0; acc_stopping_thres = 1.0; warmup_thres = 1.0; acc_warmup_thres = 1.0;
"""
NETWORKS = {  # name -> BookSim topology, flitlab shape, loads for speed, loads for accuracy
    "8x8 mesh": ("mesh", [8, 8], (0.04, 0.20, 0.36), (0.05, 0.2, 0.3, 0.36), (0.42, 0.45, 0.5)),
    "16x16 torus": ("torus", [16, 16], (0.03, 0.16, 0.29), (0.05, 0.2, 0.25, 0.29), (0.31, 0.32, 0.34)),
    "8x8x8 torus": ("torus", [8, 8, 8], (0.05, 0.27, 0.49), (0.1, 0.3, 0.4, 0.49), (0.53, 0.55, 0.6)),
}


def booksim(binary, topology, shape, load, period):
    """(simulated cycles, seconds of simulating them, packet latency, accepted load) of one BookSim run."""
    text = SETTINGS + f"topology = {topology}; k = {shape[0]}; n = {len(shape)};\n"
    text += f"routing_function = dim_order; injection_rate = {load}; sample_period = {period};\n"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "c"
        config.write_text(text)
        out = subprocess.run([binary, str(config)], capture_output=True, text=True).stdout
    seconds = float(re.findall(r"Total run time ([\d.e+-]+)", out)[-1])  # without building the network
    cycles = int(re.findall(r"Time taken is (\d+) cycles", out)[-1])
    overall = out[out.rfind("Overall Traffic Statistics"):]
    latency = float(re.search(r"Packet latency average = ([\d.]+)", overall)[1])
    accepted = float(re.search(r"Accepted flit rate average\s*=\s*([\d.]+)", overall)[1])
    return cycles, seconds, latency, accepted


def experiment(topology, shape, load):
    flat = {"topology.kind": topology, "topology.shape": shape, "traffic.load": load, "router.credit_delay": 3}
    if topology == "torus":
        flat["routing.vc_assignment"] = "by_crossing"
    return fl.Experiment.from_dict(flat)


def main() -> None:
    binary, quick = sys.argv[1], "--quick" in sys.argv
    print("| network | load | BookSim 2 | flitlab, one thread | ratio |\n|---|---|---|---|---|")
    for name, (topology, shape, speeds, _, _) in NETWORKS.items():
        routers = 1
        for k in shape:
            routers *= k
        for load in speeds:
            best = theirs = 0.0
            for _ in range(1 if quick else 3):  # in turn, so that a change of the machine's pace hits both
                period = max(200, int(2.0e5 / routers / load / 6))
                for _ in range(3):  # measure() keeps the best of three as well
                    cycles, seconds, _, _ = booksim(binary, topology, shape, load, period)
                    theirs = max(theirs, cycles * routers / seconds)
                best = max(best, measure(experiment(topology, shape, load), "cpu", 1)["router_cycles_per_second"])
            print(f"| {name} | {load} | {theirs / 1e6:.3f} M | {best / 1e6:.2f} M | {best / theirs:.0f} |", flush=True)
    print("\n| network | load | latency, BookSim 2 | latency, flitlab | difference |\n|---|---|---|---|---|")
    for name, (topology, shape, _, loads, _) in NETWORKS.items():
        for load in loads:
            _, _, theirs, _ = booksim(binary, topology, shape, load, 2000 if quick else 5000)
            ours = fl.run(experiment(topology, shape, load)).latency_cycles
            mean = f"{ours.mean:.2f} +- {ours.ci95:.2f}"
            print(f"| {name} | {load} | {theirs:.2f} | {mean} | {ours.mean - theirs:+.2f} |", flush=True)
    print("\n| network | peak accepted, BookSim 2 | peak accepted, flitlab | ratio |\n|---|---|---|---|")
    for name, (topology, shape, _, _, loads) in NETWORKS.items():
        theirs = max(booksim(binary, topology, shape, load, 2000)[3] for load in loads)
        ours = max(fl.run(experiment(topology, shape, load).set("run.warmup_cycles", 6000)
                          .set("run.measure_cycles", 6000)).accepted for load in loads)
        print(f"| {name} | {theirs:.4f} | {ours:.4f} | {ours / theirs:.3f} |", flush=True)


if __name__ == "__main__":
    main()
