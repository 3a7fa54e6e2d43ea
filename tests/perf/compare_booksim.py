"""Comparison with BookSim 2: speed and accuracy at matched settings.

    python tests/perf/compare_booksim.py PATH/TO/booksim [--quick] [--only WHAT]

BookSim is built separately with its own makefile. Both simulate the same networks with 4 VCs of 8 flits, packets of
4 flits, uniform traffic, dimension-order routing, one cycle per pipeline stage and channel, and separable
input-first round-robin allocators, on one processor. Some rows of the first table have BookSim's defaults instead: 16
VCs, iSLIP and packets of one flit. A table of its own has BookSim's own files, beside the folder of its program, which
both programs read; only the load and the length of the simulation are changed. Networks that flitlab builds from a few
numbers are given to BookSim as lists of links (anynet), on which packets take shortest routes. Prints Markdown tables.

`--only program` runs the program flitlab-booksim in BookSim's place, on each file that BookSim accepts, with the same
arguments. `--only program_peak` does the same past saturation. `--random N` compares the two programs on N random files
(compare_booksim_random.py), from `--first SEED` on.
"""

import argparse
import math
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import scipy.stats
from compare_booksim_random import compare as compare_random

import flitlab as fl
from flitlab.bench import measure
from flitlab.experiment import load_booksim

SETTINGS = """num_vcs = 4; vc_buf_size = 8; packet_size = 4; injection_rate_uses_flits = 1; traffic = uniform;
vc_allocator = separable_input_first; sw_allocator = separable_input_first; arb_type = round_robin;
routing_delay = 1; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; speculative = 0; hold_switch_for_packet = 0;
wait_for_tail_credit = 0; use_noc_latency = 0; warmup_periods = 3; max_samples = 3; sim_count = 1;
latency_thres = 1000000.0; stopping_thres = 1.0; acc_stopping_thres = 1.0; warmup_thres = 1.0; acc_warmup_thres = 1.0;
"""
NETWORKS = {  # name -> BookSim topology, flitlab shape, loads for speed, loads for accuracy
    "8x8 mesh": ("mesh", [8, 8], (0.04, 0.20, 0.36), (0.05, 0.2, 0.3, 0.36), (0.40, 0.42, 0.45, 0.5)),
    "16x16 torus": ("torus", [16, 16], (0.03, 0.16, 0.29), (0.05, 0.2, 0.25, 0.29), (0.29, 0.30, 0.305, 0.31, 0.32)),
    "8x8x8 torus": ("torus", [8, 8, 8], (0.05, 0.27, 0.49), (0.1, 0.3, 0.4, 0.49), (0.53, 0.55, 0.58)),
}
# BookSim's defaults, and the same for flitlab: name -> BookSim topology, shape, loads for speed
DEFAULTS = "num_vcs = 16; packet_size = 1; vc_allocator = islip; sw_allocator = islip;\n"
OURS = {"router.vcs": 16, "traffic.packet_flits": 1, "router.vc_allocator": "islip", "router.switch_allocator": "islip"}
WITH_DEFAULTS = {
    "8x8 torus, 16 VCs, iSLIP, 1 flit": ("torus", [8, 8], (0.04, 0.1, 0.3)),
    "8x8 mesh, 16 VCs, iSLIP, 1 flit": ("mesh", [8, 8], (0.04, 0.1, 0.3)),
}
# BookSim's files that flitlab translates, in the folder above its program's -> loads below saturation, injection_rate.
FILES = {
    "src/examples/torus88": (0.01, 0.15), "src/examples/mesh88_lat": (0.0005, 0.005),
    "src/examples/fattree_config": (0.01, 0.2), "src/examples/singleconfig": (0.01, 0.3),
    "src/examples/anynet/anynet_config": (0.001, 0.01, 0.1), "src/examples/dragonflyconfig": (0.02,),
    "runfiles/ftreeconfig": (0.01, 0.2), "runfiles/meshconfig": (0.01, 0.2),
}

# Files that BookSim accepts -> values of injection_rate below saturation, and further arguments for both programs.
SHORT = ["sample_period=1000"]  # BookSim needs a minute for a run of the dragonfly's 10000
WITH_PROGRAM = {
    "src/examples/torus88": ((0.01, 0.15, 0.22), []), "src/examples/mesh88_lat": ((0.0005, 0.003, 0.005), []),
    "src/examples/fattree_config": ((0.01, 0.2, 0.4), []), "src/examples/singleconfig": ((0.01, 0.3, 0.5), []),
    "src/examples/anynet/anynet_config": ((0.01, 0.05, 0.1), []),
    "src/examples/dragonflyconfig": ((0.05, 0.2, 0.4), SHORT), "src/examples/cmeshconfig": ((0.01, 0.05, 0.1), []),
    "src/examples/flatflyconfig": ((0.01, 0.1, 0.2), []), "runfiles/dragonflyconfig": ((0.05, 0.2, 0.4), SHORT),
    "runfiles/ftreeconfig": ((0.01, 0.2, 0.4), []), "runfiles/meshconfig": ((0.01, 0.2, 0.3), []),
}

# The same files -> values of injection_rate around saturation and past it, seeds, and further arguments.
PAST_SATURATION = ["sim_type=throughput", "latency_thres=-1.0", "acc_warmup_thres=-1.0", "acc_stopping_thres=-1.0",
                   "sample_period=1000", "warmup_periods=3", "max_samples=6", "sim_count=1", "print_csv_results=1"]
PEAKS = {
    "src/examples/torus88": ((0.3, 0.4, 0.5, 0.9), 3, []),
    "src/examples/mesh88_lat": ((0.006, 0.008, 0.01, 0.04), 3, []),
    "src/examples/fattree_config": ((0.7, 0.95), 2, ["sample_period=300"]),
    "src/examples/singleconfig": ((0.6, 0.8, 1.0), 2, ["sample_period=500"]),
    "src/examples/anynet/anynet_config": ((0.2, 0.4, 0.9), 3, []),
    "src/examples/dragonflyconfig": ((0.9,), 1, ["sample_period=300"]),
    "src/examples/cmeshconfig": ((0.12, 0.2, 0.9), 3, []), "src/examples/flatflyconfig": ((0.5, 0.7, 0.95), 3, []),
    "runfiles/dragonflyconfig": ((0.9,), 1, ["sample_period=300"]),
    "runfiles/ftreeconfig": ((0.7, 0.95), 3, []), "runfiles/meshconfig": ((0.35, 0.45, 0.9), 3, []),
}

# Speedup on the 8x8 mesh: name -> BookSim's configuration, flitlab's.
SPEEDUPS = {
    "none": ("", {}), "2 inputs": ("input_speedup = 2;", {"router.input_speedup": 2}),
    "2 outputs": ("output_speedup = 2;", {"router.output_speedup": 2}),
    "2 inputs and outputs": ("input_speedup = 2; output_speedup = 2;",
                             {"router.input_speedup": 2, "router.output_speedup": 2}),
    "2 rounds": ("internal_speedup = 2.0;", {"router.internal_speedup": 2}),
    "2 rounds, queues of 2 flits": ("internal_speedup = 2.0; output_buffer_size = 2;",
                                    {"router.internal_speedup": 2, "router.output_queue_flits": 2}),
    "3 rounds": ("internal_speedup = 3.0;", {"router.internal_speedup": 3}),
}

# Networks from a few numbers, each at LOAD_OF_IDEAL times its ideal throughput: kind, routing algorithm, and the same
# in BookSim's configuration. ANYNET: the links and their shortest routes; NONE: BookSim has no such routes.
ANYNET, NONE = "anynet", ""
FLATFLY = "topology = flatfly; c = 4; k = 4; n = 2; x = 4; y = 4; xr = 2; yr = 2; routing_function = "
FAMILIES = [("full_mesh", "minimal", ANYNET), ("flattened_butterfly", "minimal", FLATFLY + "ran_min;"),
            ("flattened_butterfly", "ugal_l", FLATFLY + "ugal;"), ("hyperx", "dimwar", NONE),
            ("fat_tree", "nearest_common_ancestor", "topology = fattree; k = 4; n = 3; routing_function = nca;"),
            ("fat_tree", "adaptive", "topology = fattree; k = 4; n = 3; routing_function = anca;"),
            ("dragonfly", "minimal", ANYNET), ("dragonfly", "ugal_l", NONE), ("megafly", "minimal", ANYNET),
            ("slim_fly", "minimal", ANYNET), ("slim_fly", "valiant", NONE), ("polarfly", "minimal", ANYNET),
            ("polarstar", "minimal", ANYNET), ("jellyfish", "minimal", ANYNET), ("cmesh", "minimal", ANYNET),
            ("chiplet_mesh", "dimension_order", NONE)]
LOAD_OF_IDEAL = 0.4
MESH_PORTS = 5  # of a router of the plain mesh, that to its terminal included


def booksim(binary, topology, shape, load, period, seed=0, changes=""):
    """Returns (simulated cycles, seconds of their simulation, packet latency, accepted load) of one BookSim run."""
    text = SETTINGS + f"topology = {topology}; k = {shape[0]}; n = {len(shape)};\n"
    text += f"routing_function = dim_order; injection_rate = {load}; sample_period = {period};\n"
    return run_booksim(binary, text + f"seed = {seed};\n{changes}")


def run_booksim(binary, text):
    """The same for a configuration."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "c"
        config.write_text(text)
        return read_output(subprocess.run([binary, str(config)], capture_output=True, text=True).stdout)


def read_output(out: str) -> tuple[int, float, float, float]:
    """Returns (simulated cycles, seconds of their simulation, packet latency, accepted load) of BookSim's output."""
    seconds = float(re.findall(r"Total run time ([\d.e+-]+)", out)[-1])  # the time excludes construction of the network
    cycles = int(re.findall(r"Time taken is (\d+) cycles", out)[-1])
    overall = out[out.rfind("Overall Traffic Statistics"):]
    latency = float(re.search(r"Packet latency average = ([\d.]+)", overall)[1])
    accepted = float(re.search(r"Accepted flit rate average\s*=\s*([\d.]+)", overall)[1])
    return cycles, seconds, latency, accepted


def experiment(topology, shape, load, changes=None):
    flat = {"topology.kind": topology, "topology.shape": shape, "traffic.load": load, "router.credit_delay": 3,
            **(changes or {})}
    if topology == "torus":
        flat["routing.vc_assignment"] = "by_crossing"
    return fl.Experiment.from_dict(flat)


def speed(binary: str, tries: int) -> None:
    print("| network | load | BookSim 2, router-cycles/s | flitlab, one thread | ratio |\n|---|---|---|---|---|")
    networks = [(name, *network[:3], "", {}) for name, network in NETWORKS.items()]
    networks += [(name, *network, DEFAULTS, OURS) for name, network in WITH_DEFAULTS.items()]
    for name, topology, shape, loads, changes, ours in networks:
        routers = math.prod(shape)
        for load in loads:
            best = other = 0.0
            for _ in range(tries):  # alternating, so that changes of the machine's speed affect both
                period = max(200, int(2.0e5 / routers / load / 6))
                for _ in range(3):  # best of three runs, as in measure()
                    cycles, seconds, _, _ = booksim(binary, topology, shape, load, period, 0, changes)
                    other = max(other, cycles * routers / seconds)
                speed_of_ours = measure(experiment(topology, shape, load, ours), "cpu", 1)
                best = max(best, speed_of_ours["router_cycles_per_second"])
            print(f"| {name} | {load} | {other / 1e6:.3f} M | {best / 1e6:.2f} M | {best / other:.0f} |", flush=True)


def anynet(folder: Path, e: fl.Experiment) -> str:
    """Writes the links of a network for BookSim, and returns the configuration that reads them."""
    derived, lines = e.derived(), []
    routers, each = int(derived["routers"]), int(e["topology.concentration"])
    links: list[list[int]] = [[] for _ in range(routers)]
    for a, _, b, _ in fl.run(e.set("traffic.load", 0)).channels.links.tolist():
        links[a].append(b)
    for router in range(routers):
        nodes = range(router * each, (router + 1) * each if router * each < derived["terminals"] else 0)
        ends = [f"node {n}" for n in nodes] + [f"router {b}" for b in links[router]]
        lines.append(f"router {router} " + " ".join(ends))
    (folder / "links").write_text("\n".join(lines) + "\n")
    return f"topology = anynet; network_file = {folder / 'links'}; routing_function = min;\n"


def families(binary: str, tries: int) -> None:
    print("| network, routing | routers | ports | load | BookSim 2, router-cycles/s | flitlab, one thread | ratio "
          "| rate x ports | latency, BookSim 2 | flitlab |\n|---|---|---|---|---|---|---|---|---|---|")
    mesh = fl.Experiment.from_dict({"topology.kind": "mesh", "router.credit_delay": 3})
    for kind, algorithm, in_booksim in FAMILIES:
        e = fl.Experiment.from_dict({"topology.kind": kind, "router.credit_delay": 3, "routing.algorithm": algorithm})
        derived = e.derived()
        load, routers = float(f"{LOAD_OF_IDEAL * derived['saturation_load_bound']:.2g}"), int(derived["routers"])
        period = max(300, int(1.5e5 / routers / load / 6))
        e = e.set("traffic.load", load)
        best = other = plain = 0.0  # rates of flitlab, of BookSim, and of flitlab for a plain mesh
        theirs, speed_of_theirs, ratio = "-", "-", "-"
        with tempfile.TemporaryDirectory() as folder:
            text = anynet(Path(folder), e) if in_booksim == ANYNET else in_booksim
            for _ in range(tries):
                if text:
                    rate = f"injection_rate = {load}; sample_period = {period};\n"
                    cycles, seconds, found, _ = run_booksim(binary, SETTINGS + rate + text)
                    other, theirs = max(other, cycles * routers / seconds), f"{found:.1f}"
                best = max(best, measure(e, "cpu", 1)["router_cycles_per_second"])
                plain = max(plain, measure(mesh.set("traffic.load", load), "cpu", 1)["router_cycles_per_second"])
        if text:
            speed_of_theirs, ratio = f"{other / 1e6:.3f} M", f"{best / other:.0f}"
        ours = fl.run(e).latency_cycles.mean
        ours = math.nan if ours is None else ours
        print(f"| {kind}, {algorithm} | {routers} | {derived['ports']} | {load} | {speed_of_theirs} "
              f"| {best / 1e6:.2f} M | {ratio} | {best * derived['ports'] / plain / MESH_PORTS:.2f} | {theirs} "
              f"| {ours:.1f} |", flush=True)


def files(binary: str, seeds: int) -> None:
    """BookSim and flitlab read the same files; the load and the length of the simulation are changed for both."""
    print("| file | injection_rate | latency, BookSim 2 | flitlab | accepted, BookSim 2 | flitlab "
          "| BookSim 2, router-cycles/s | flitlab, one thread | ratio |\n|---|---|---|---|---|---|---|---|---|")
    root = Path(binary).resolve().parents[1]
    for name, loads in FILES.items():
        for load in loads:
            changes = [f"injection_rate={load}", "sample_period=4000", "max_samples=7", "latency_thres=1000000.0",
                       "sim_count=1"]
            point = load_booksim(root / name, changes=changes)
            routers = int(point.derived()["routers"])
            theirs = [run_file(binary, root / name, [*changes, f"seed={seed}"]) for seed in range(seeds)]
            ours = [fl.run(point.set("run.seed", seed), backend="cpu", threads=1) for seed in range(seeds)]
            means = [r.latency_cycles.mean for r in ours]
            shown = "saturated" if None in means else f"{statistics.mean(means):.2f}"
            other = max(cycles * routers / seconds for cycles, seconds, _, _ in theirs)
            best = measure(point, "cpu", 1)["router_cycles_per_second"]
            print(f"| {name} | {load} | {statistics.mean(run[2] for run in theirs):.2f} | {shown} "
                  f"| {statistics.mean(run[3] for run in theirs):.4f} "
                  f"| {statistics.mean(r.accepted for r in ours):.4f} "
                  f"| {other / 1e6:.3f} M | {best / 1e6:.2f} M | {best / other:.0f} |", flush=True)


def program(binary: str, seeds: int) -> None:
    """Both programs with the same arguments, as scripts run them; the seconds are processor time of whole processes."""
    print("| file | injection_rate | packet latency, BookSim 2 | flitlab-booksim | difference | accepted, BookSim 2 "
          "| flitlab-booksim | network, flit latency | seconds, BookSim 2 | flitlab-booksim | ratio |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|")
    root = Path(binary).resolve().parents[1]
    theirs, ours = [str(Path(binary).resolve())], [sys.executable, "-m", "flitlab.booksim.program"]
    for name, (loads, more) in WITH_PROGRAM.items():
        tries = min(seeds, 3) if more == SHORT else seeds
        probe = subprocess.run([*ours, (root / name).name, "injection_rate=0.0", "sample_period=10"],
                               cwd=(root / name).parent, capture_output=True, text=True)
        if probe.returncode == 2:
            print(f"| {name} | refused: {probe.stderr.split(': ', 2)[2].split(' is ')[0]} "
                  "| | | | | | | | | |", flush=True)
            continue
        for load in loads:
            both, seconds = [], []
            for command in (ours, theirs):
                changes = [f"injection_rate={load}", "print_csv_results=1", *more]
                runs = [timed(command, root / name, [*changes, f"seed={7919 * seed}"]) for seed in range(1, tries + 1)]
                both.append([values for values, _ in runs])
                seconds.append(statistics.mean(taken for _, taken in runs))
            stable = [sum(run is not None for run in runs) for runs in both]
            if stable != [tries, tries]:
                print(f"| {name} | {load} | {stable[1]} of {tries} stable | {stable[0]} stable | | | | | | | |",
                      flush=True)
                continue
            # Fields after injection_rate: minimum, mean and maximum of each statistic.
            (packet, interval), (others_packet, others_interval) = (mean(runs, 1) for runs in both)
            accepted, others_accepted = (mean(runs, 22)[0] for runs in both)
            ratios = ", ".join(f"{mean(both[0], at)[0] / mean(both[1], at)[0]:.3f}" for at in (4, 7))
            print(f"| {name} | {load} | {others_packet:.2f} ± {others_interval:.2f} | {packet:.2f} ± {interval:.2f} "
                  f"| {packet / others_packet - 1:+.1%} | {others_accepted:.5f} | {accepted:.5f} | {ratios} "
                  f"| {seconds[1]:.2f} | {seconds[0]:.2f} | {seconds[1] / seconds[0]:.1f} |", flush=True)


def program_peak(binary: str, most_seeds: int) -> None:
    """Accepted flits per cycle and node of both programs, past saturation (the last load) and at the best load."""
    print("| file | past saturation: injection_rate | BookSim 2 | flitlab-booksim | ratio | peak, BookSim 2 "
          "| flitlab-booksim | ratio |\n|---|---|---|---|---|---|---|---|")
    root = Path(binary).resolve().parents[1]
    for name, (loads, seeds, more) in PEAKS.items():
        found: list[list[float]] = []
        for command in ([str(Path(binary).resolve())], [sys.executable, "-m", "flitlab.booksim.program"]):
            accepted = []
            for load in loads:
                changes = [*PAST_SATURATION, *more, f"injection_rate={load}"]
                runs = [timed(command, root / name, [*changes, f"seed={7919 * seed}"])[0]
                        for seed in range(1, min(seeds, most_seeds) + 1)]
                accepted.append(statistics.mean(run[22] for run in runs))
            found.append(accepted)
        theirs, ours = found
        shown = [(theirs[-1], ours[-1]), (max(theirs), max(ours))]
        print(f"| {name} | {loads[-1]} | " + " | ".join(f"{a:.4f} | {b:.4f} | {b / a:.3f}" for a, b in shown) + " |",
              flush=True)


def timed(command: list[str], file: Path, arguments: list[str]) -> tuple[list[float] | None, float]:
    """Returns the values of a line of print_csv_results from the injection rate on, None after an unstable run, and the
    processor time of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([*command, file.name, *arguments], cwd=file.parent, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    line = re.search(r"^results:0,\w+,0,(.*)$", out, re.MULTILINE)
    return (None if line is None else [float(word) for word in line[1].split(",")][1:]), taken


def mean(runs: list[list[float]], at: int) -> tuple[float, float]:
    """Returns the mean of a value over the seeds, and the half width of its 95 % confidence interval."""
    values = [run[at] for run in runs]
    deviation = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.mean(values), float(scipy.stats.t.ppf(0.975, max(len(values) - 1, 1))) * deviation


def differences(binary: str, seeds: int) -> None:
    """What docs/booksim.md says on adaptive routing and speculation under load: mean latencies on a 4x4 mesh."""
    print("| statements | BookSim 2 | flitlab |\n|---|---|---|")
    mesh = "topology = mesh; k = 4; n = 2; num_vcs = 4; sample_period = 2000; max_samples = 6;\n"
    for text in ("routing_function = min_adapt; traffic = transpose; injection_rate = 0.3;",
                 "routing_function = dor; speculative = 1; packet_size = 3; injection_rate = 0.13;",
                 "routing_function = dor; speculative = 1; routing_delay = 0; packet_size = 2; injection_rate = 0.2;"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mesh.cfg"
            file.write_text(mesh + text)
            theirs = [run_file(binary, file, [f"seed={seed}"])[2] for seed in range(seeds)]
            point = load_booksim(file)
        ours = [fl.run(point.set("run.seed", seed)).latency_cycles.mean for seed in range(seeds)]
        print(f"| `{text}` | {statistics.mean(theirs):.2f} | {statistics.mean(ours):.2f} |", flush=True)
        if "min_adapt" not in text:
            continue
        adaptive = point.set({"routing.selection": "most_credits", "routing.stay_on_escape": False})
        ours = [fl.run(adaptive.set("run.seed", seed)).latency_cycles.mean for seed in range(seeds)]
        print(f"| the same, adaptive | | {statistics.mean(ours):.2f} |", flush=True)


def run_file(binary: str, file: Path, changes: list[str]) -> tuple[int, float, float, float]:
    """As run_booksim(), for one of BookSim's files with changes."""
    out = subprocess.run([Path(binary).resolve(), file.name, *changes], cwd=file.parent, capture_output=True,
                         text=True).stdout
    return read_output(out)


def latency(binary: str, period: int) -> None:
    print("| network | load | BookSim 2 | flitlab | difference |\n|---|---|---|---|---|")
    for name, (topology, shape, _, loads, _) in NETWORKS.items():
        for load in loads:
            _, _, other, _ = booksim(binary, topology, shape, load, period)
            ours = fl.run(experiment(topology, shape, load).set("run.measure_cycles", 10000)).latency_cycles
            mean = f"{ours.mean:.2f} +- {ours.ci95:.2f}"
            print(f"| {name} | {load} | {other:.2f} | {mean} | {ours.mean - other:+.2f} |", flush=True)


def speedup(binary: str, seeds: int) -> None:
    print("| speedup | latency at 0.05: BookSim 2 | flitlab | at 0.3: BookSim 2 | flitlab "
          "| accepted at 0.9: BookSim 2 | flitlab |\n|---|---|---|---|---|---|---|")
    windows = {"run.warmup_cycles": 6000, "run.measure_cycles": 8000}
    for name, (theirs, ours) in SPEEDUPS.items():
        cells = []
        for load in (0.05, 0.3, 0.9):
            runs = [booksim(binary, "mesh", [8, 8], load, 4000, seed, theirs) for seed in range(seeds)]
            point = experiment("mesh", [8, 8], load, ours).set(windows)
            results = [fl.run(point.set("run.seed", seed)) for seed in range(seeds)]
            if load < 0.9:
                cells += [f"{statistics.mean(run[2] for run in runs):.2f}",
                          f"{statistics.mean(r.latency_cycles.mean for r in results):.2f}"]
            else:
                cells += [f"{statistics.mean(run[3] for run in runs):.4f}",
                          f"{statistics.mean(r.accepted for r in results):.4f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def peak(binary: str, seeds: int) -> None:
    """Just past saturation a run's throughput depends on when it collapses, so means over seeds are printed."""
    print("| network | BookSim 2 | flitlab | ratio |\n|---|---|---|---|")
    windows = {"run.warmup_cycles": 6000, "run.measure_cycles": 6000}
    for name, (topology, shape, _, _, loads) in NETWORKS.items():
        other, ours = [], []
        for load in loads:
            point = experiment(topology, shape, load).set(windows)
            other.append((statistics.mean(booksim(binary, topology, shape, load, 2000, seed)[3]
                                          for seed in range(seeds)), load))
            ours.append((statistics.mean(fl.run(point.set("run.seed", seed)).accepted
                                         for seed in range(seeds)), load))
        (a, at_a), (b, at_b) = max(other), max(ours)
        print(f"| {name} | {a:.4f} at {at_a} | {b:.4f} at {at_b} | {b / a:.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("booksim", help="BookSim's program")
    parser.add_argument("--quick", action="store_true", help="one try, short windows, one seed")
    parser.add_argument("--only", choices=["speed", "families", "files", "latency", "peak", "speedup", "differences",
                                           "program", "program_peak"])
    parser.add_argument("--random", type=int, metavar="N", help="only flitlab-booksim beside BookSim on N random files")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the first of these files (default: 1)")
    args = parser.parse_args()
    if args.random:
        compare_random(args.booksim, args.random, args.first)
        return
    if args.only in (None, "speed"):
        speed(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "families"):
        families(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "files"):
        files(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "latency"):
        latency(args.booksim, 2000 if args.quick else 5000)
    if args.only in (None, "peak"):
        peak(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "speedup"):
        speedup(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "differences"):
        differences(args.booksim, 1 if args.quick else 3)
    if args.only in (None, "program"):
        program(args.booksim, 2 if args.quick else 8)
    if args.only in (None, "program_peak"):
        program_peak(args.booksim, 1 if args.quick else 3)


if __name__ == "__main__":
    main()
