"""Speed with and without lane state (FLITLAB_LANES=0): the same networks alternately, on one thread.

    python tests/perf/compare_lanes.py [--tries 5] [--only NETWORK ...]
    python tests/perf/compare_lanes.py --count [--only NETWORK ...]

Uses processor time, the best of all tries. Prints a Markdown table; the state hashes must agree. With --count, prints
what valgrind's simulated processor counts per router-cycle instead (vectors of 32 bytes).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import flitlab as fl
from flitlab import _core

MESH = {"topology.kind": "mesh", "topology.shape": [8, 8]}
NETWORKS = {
    "8x8 mesh": MESH | {"traffic.load": 0.2},
    "8x8 mesh, load 0.08": MESH | {"traffic.load": 0.08},
    "iSLIP": MESH | {"traffic.load": 0.2, "router.vc_allocator": "islip", "router.switch_allocator": "islip"},
    "wavefront": MESH | {"traffic.load": 0.2, "router.vc_allocator": "wavefront",
                         "router.switch_allocator": "wavefront"},
    "16 VCs": MESH | {"traffic.load": 0.2, "router.vcs": 16},
    "matrix arbiters": MESH | {"traffic.load": 0.2, "router.arbiter": "matrix"},
    "oldest first": MESH | {"traffic.load": 0.2, "router.arbiter": "oldest_first"},
    "speculation": MESH | {"traffic.load": 0.2, "router.speculative": True},
    "4x4x4x4 torus": {"topology.shape": [4, 4, 4, 4], "traffic.load": 0.2},
    "hypercube of 6 dimensions": {"topology.kind": "hypercube", "topology.dimensions": 6, "traffic.load": 0.2},
    "4 terminals per router, load 0.08": MESH | {"traffic.load": 0.08, "topology.concentration": 4},
    "buffers of 64 flits": MESH | {"traffic.load": 0.2, "router.buffer_flits": 64},
    "routing delay 0": MESH | {"traffic.load": 0.2, "router.routing_delay": 0},
    "routing delay 2": MESH | {"traffic.load": 0.2, "router.routing_delay": 2},
    "1 VC": MESH | {"traffic.load": 0.2, "router.vcs": 1},
    "2 VCs": MESH | {"traffic.load": 0.2, "router.vcs": 2},
    "8 VCs": MESH | {"traffic.load": 0.2, "router.vcs": 8},
    "buffers of 32 flits, packets of 16": MESH | {"traffic.load": 0.2, "router.buffer_flits": 32,
                                                   "traffic.packet_flits": 16},
    "channels of 5 cycles": MESH | {"traffic.load": 0.2, "topology.channel_delay": 5},
    "channels of 2 and 9 cycles": MESH | {"traffic.load": 0.2, "topology.channel_delay": [2, 9]},
    "channels of width 1/2, load 0.08": MESH | {"traffic.load": 0.08, "topology.channel_width": 0.5},
    "virtual cut-through": MESH | {"traffic.load": 0.2, "router.flow_control": "virtual_cut_through"},
    "store and forward": MESH | {"traffic.load": 0.2, "router.flow_control": "store_and_forward"},
    "O1TURN": MESH | {"traffic.load": 0.2, "routing.algorithm": "o1turn"},
    "Valiant": MESH | {"traffic.load": 0.2, "routing.algorithm": "valiant"},
    "minimal adaptive": MESH | {"traffic.load": 0.2, "routing.algorithm": "minimal_adaptive"},
    "dragonfly of 36 routers": {"traffic.load": 0.2},  # GRAPHS
    "random graph, 64 routers": {"traffic.load": 0.2},
    "random graph, 64 routers, load 0.02": {"traffic.load": 0.02},
    "16 VCs, iSLIP, packets of 1 flit": MESH | {"traffic.load": 0.2, "router.vcs": 16, "traffic.packet_flits": 1,
                                                "router.vc_allocator": "islip", "router.switch_allocator": "islip"},
    "8x8 mesh, load 0.4": MESH | {"traffic.load": 0.4},
    "requests and replies": MESH | {"traffic.load": 0.2, "traffic.mode": "request_reply"},
    "16x16 torus, minimal adaptive": {"topology.shape": [16, 16], "traffic.load": 0.03,
                                      "routing.algorithm": "minimal_adaptive"},
    "8x8x8 torus": {"topology.shape": [8, 8, 8], "traffic.load": 0.27},
    "8x8x8 torus, 8 VCs, minimal adaptive": {"topology.shape": [8, 8, 8], "traffic.load": 0.27, "router.vcs": 8,
                                             "routing.algorithm": "minimal_adaptive"},
}


# Networks that only --count measures.
MORE = {f"8x8 mesh, load {load}": MESH | {"traffic.load": load} for load in (0.0001, 0.04, 0.36)} | {
    "8x8 torus, 16 VCs, iSLIP, packets of 1 flit, load 0.04": {
        "traffic.load": 0.04, "router.vcs": 16, "traffic.packet_flits": 1, "router.vc_allocator": "islip",
        "router.switch_allocator": "islip"}}
VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--D1=49152,12,64")


def dragonfly():
    """Returns 9 groups of 4 routers; each router has a channel to each router of its group and to 2 other groups."""
    import networkx as nx

    graph = nx.Graph((4 * g + a, 4 * g + b) for g in range(9) for a, b in combinations(range(4), 2))
    graph.add_edges_from((4 * g + k // 2, 4 * ((g + k + 1) % 9) + (7 - k) // 2) for g in range(9) for k in range(8))
    return graph


def random_graph():
    """Returns 64 routers with 5 channels each."""
    import networkx as nx

    return nx.random_regular_graph(5, 64, seed=3)


# Networks at loads at which the mesh is not measured.
NO_MESH = ("random graph, 64 routers, load 0.02", "16x16 torus, minimal adaptive", "8x8x8 torus",
           "8x8x8 torus, 8 VCs, minimal adaptive")
GRAPHS = {"dragonfly of 36 routers": dragonfly, "random graph, 64 routers": random_graph,
          "random graph, 64 routers, load 0.02": random_graph}


def experiment_of(name: str) -> fl.Experiment:
    experiment = fl.Experiment.from_dict((NETWORKS | MORE)[name])
    return experiment.with_topology(GRAPHS[name]()) if name in GRAPHS else experiment


def rate(name: str) -> tuple[float, int, str]:
    """Returns router-cycles per second of processor time, the ports of a router, and the final state hash."""
    experiment = experiment_of(name)
    network = _core.Network(experiment.core, "cpu", 1, False)
    facts, best = experiment.derived(), 0.0
    network.step(1000)
    for _ in range(3):
        started = time.process_time()
        network.step(2000)
        best = max(best, 2000 * facts["routers"] / (time.process_time() - started))
    return best, int(facts["ports"]), network.state_hash()


def compare(name: str, tries: int) -> tuple[float, float, int]:
    """Returns the rates without and with lanes, and the ports of a router."""
    best, ports, hashes = {"0": 0.0, "64": 0.0}, 0, set()
    for _ in range(tries):
        for lanes in best:
            command, environment = [sys.executable, __file__, "--one", name], os.environ | {"FLITLAB_LANES": lanes}
            out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            speed, ports, state = json.loads(out)
            best[lanes] = max(best[lanes], speed)
            hashes.add(state)
    if len(hashes) != 1:
        raise SystemExit(f"{name}: the state with lanes differs")
    return best["0"], best["64"], ports


def count(name: str) -> list[float]:
    """Returns instructions, mispredictions, and first-level misses of reads and writes per router-cycle: the difference
    of two runs that differ in length only."""
    totals = []
    for cycles in (4000, 12000):
        with tempfile.NamedTemporaryFile() as out:
            subprocess.run([*VALGRIND, f"--cachegrind-out-file={out.name}", sys.executable, __file__, "--one", name,
                            "--cycles", str(cycles)], capture_output=True, check=True,
                           env=os.environ | {"FLITLAB_LANES": "32", "PYTHONHASHSEED": "0"})
            text = Path(out.name).read_text()
        events, summary = (line.split(": ")[1].split() for line in text.splitlines()
                           if line.startswith(("events:", "summary:")))
        totals.append(dict(zip(events, map(int, summary), strict=True)))
    router_cycles = 8000 * experiment_of(name).derived()["routers"]
    return [sum(totals[1][e] - totals[0][e] for e in group) / router_cycles
            for group in (("Ir",), ("Bcm", "Bim"), ("D1mr",), ("D1mw",))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--only", nargs="+", choices=list(NETWORKS | MORE), metavar="NETWORK", default=list(NETWORKS))
    parser.add_argument("--count", action="store_true", help="count instructions, mispredictions and misses")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--cycles", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cycles:
        _core.Network(experiment_of(args.one).core, "cpu", 1, False).step(args.cycles)
        return
    if args.count:
        print("| network | instructions | mispredictions | read misses | write misses |\n|---|---|---|---|---|")
        for name in args.only:
            instructions, *others = count(name)
            print(f"| {name} | {instructions:.0f} | " + " | ".join(f"{x:.2f}" for x in others) + " |", flush=True)
        return
    if args.one:
        print(json.dumps(rate(args.one)))
        return
    found = {}
    print("| network | without lanes, router-cycles/s | with lanes | ratio | rate x ports |\n|---|---|---|---|---|")
    for name in args.only:
        without, with_lanes, ports = found[name] = compare(name, args.tries)
        mesh = found.get("8x8 mesh, load 0.08" if (NETWORKS | MORE)[name]["traffic.load"] == 0.08 else "8x8 mesh")
        relative = f"{with_lanes * ports / (mesh[1] * mesh[2]):.2f}" if mesh and name not in NO_MESH else ""
        print(f"| {name} | {without / 1e6:.2f} M | {with_lanes / 1e6:.2f} M | {with_lanes / without:.1f} | "
              f"{relative} |", flush=True)


if __name__ == "__main__":
    main()
