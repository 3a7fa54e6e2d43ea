"""Divergence of warps in every model's kernels, counted on the emulated device, so without a GPU: active threads of 32,
and basic blocks that warps issue for a router-cycle (tests/cuda_on_host/divergence.hpp).

    python tests/cuda_on_host/install.py out/divergence --divergence
    PYTHONPATH=out/divergence python tests/perf/divergence.py [MODEL ...]
"""

import ctypes
import sys
from pathlib import Path

import flitlab as fl

SMALL = {
    "vc": {"topology.shape": [8, 8], "router.routing_delay": 8},  # scalar state
    "adaptive": {"topology.shape": [8, 8]},
    "bless": {"topology.shape": [8, 8]},
    "metro": {"topology.radix": [4, 4, 4], "topology.dilation": [2, 2, 1]},
    "t3e": {"topology.shape": [4, 4, 4]},
    "bgl": {"topology.shape": [4, 4, 4]},
    "sconnect": {"topology.shape": [8, 8]},
}
LOAD, WARMUP, CYCLES = 0.2, 300, 100


class Divergence(ctypes.Structure):
    _fields_ = [("issued", ctypes.c_uint64), ("executed", ctypes.c_uint64)]


def main(models: list[str]) -> None:
    library = ctypes.CDLL(str(next(Path(fl.__file__).parent.glob("libflitlab_cuda_on_host*"))))
    counts = library.cuda_on_host_divergence
    counts.restype = Divergence
    print(f"| model, load {LOAD} | active threads of 32 | basic blocks issued per router-cycle |\n|---|---|---|")
    for kind in models or SMALL:
        experiment = fl.Experiment.from_dict({"router.kind": kind, "traffic.load": LOAD, **SMALL[kind]})
        network = fl.Network(experiment, backend="cuda")
        network.step(WARMUP)
        counts()
        network.step(CYCLES)
        found = counts()
        if not found.issued:
            sys.exit("no counts: install the package with --divergence.")
        routers = int(experiment.derived()["routers"])
        print(f"| {kind} | {found.executed / found.issued:.1f} | {found.issued / routers / CYCLES:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
