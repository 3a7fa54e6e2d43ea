"""Divergence of warps in every model's kernels, counted on the emulated device, so without a GPU: active threads of 32,
and basic blocks that warps issue for a router-cycle (tests/cuda_on_host/divergence.hpp).

    python tests/cuda_on_host/install.py out/divergence --divergence
    PYTHONPATH=out/divergence python tests/perf/divergence.py [MODEL ...]
"""

import ctypes
import sys
from pathlib import Path

import flitlab as fl
from flitlab.runner import run_job

SMALL = {
    "vc": {"topology.shape": [8, 8], "router.routing_delay": 8},  # scalar state
    "adaptive": {"topology.shape": [8, 8]},
    "bless": {"topology.shape": [8, 8]},
    "metro": {"topology.radix": [4, 4, 4], "topology.dilation": [2, 2, 1]},
    "t3e": {"topology.shape": [4, 4, 4]},
    "bgl": {"topology.shape": [4, 4, 4]},
    "sconnect": {"topology.shape": [8, 8]},
}
LOAD, REPLICAS, WARMUP, CYCLES = 0.2, 24, 300, 100  # eight networks for each of the three emulated multiprocessors


class Divergence(ctypes.Structure):
    _fields_ = [("issued", ctypes.c_uint64), ("executed", ctypes.c_uint64)]


def main(models: list[str]) -> None:
    library = ctypes.CDLL(str(next(Path(fl.__file__).parent.glob("libflitlab_cuda_on_host*"))))
    library.cuda_on_host_divergence.restype = Divergence
    print(f"| model, load {LOAD} | active threads of 32 | basic blocks issued per router-cycle |\n|---|---|---|")
    for kind in models or SMALL:
        experiment = fl.Experiment.from_dict({
            "router.kind": kind, "traffic.load": LOAD, "run.warmup_cycles": WARMUP, "run.epoch_cycles": CYCLES,
            "run.drain_cycles": 0, **SMALL[kind]})
        # The difference of two runs is free of the warm-up, and of the work before and after a run.
        short, long = (count(library, experiment, n * CYCLES) for n in (1, 2))
        issued, executed = long.issued - short.issued, long.executed - short.executed
        if not issued:
            sys.exit("no counts: install the package with --divergence.")
        router_cycles = int(experiment.derived()["routers"]) * REPLICAS * CYCLES
        print(f"| {kind} | {executed / issued:.1f} | {issued / router_cycles:.1f} |", flush=True)


def count(library: ctypes.CDLL, experiment: fl.Experiment, window: int) -> Divergence:
    """Returns the counts of a job with a measurement window of ``window`` cycles."""
    points = [experiment.set({"run.measure_cycles": window, "run.seed": seed + 1}) for seed in range(REPLICAS)]
    library.cuda_on_host_divergence()
    run_job(points, "cuda", 1)
    return library.cuda_on_host_divergence()


if __name__ == "__main__":
    main(sys.argv[1:])
