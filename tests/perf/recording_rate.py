"""Recording speed of the scope: cycles per second of a mesh of n x n routers, relative to the same network traced but
not recorded, and the size of a frame and of a saved page.

    python tests/perf/recording_rate.py [--sides 8 32] [--loads 0.05 0.3] [--cycles 60]
"""

import argparse
import time

import flitlab as fl
from flitlab.scope.recorder import Recorder


def seconds(work) -> float:
    """Returns processor time, which other load on the machine does not affect."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--loads", nargs="+", type=float, default=[0.05, 0.3])
    parser.add_argument("--cycles", type=int, default=60)
    args = parser.parse_args()
    print("| routers | load | recorded cycles/s | of traced | kB a frame | MB a page | s to pack it |")
    print("|---|---|---|---|---|---|---|")
    for side in args.sides:
        for load in args.loads:
            network = fl.Network({"topology.kind": "mesh", "topology.shape": [side, side], "traffic.load": load},
                                 trace=True).step(300)
            twin = fl.Network(network.experiment, trace=True).go_on_from(network)
            recorder, frames = Recorder(network, args.cycles + 1), []
            recorded = seconds(lambda r=recorder, f=frames: f.append(r.step(args.cycles)))
            traced = seconds(lambda n=twin: n.step(args.cycles))
            page = []
            packing = seconds(lambda r=recorder, p=page: p.append(r.packed()))
            print(f"| {side * side} | {load} | {args.cycles / recorded:.0f} | {traced / recorded:.2f} "
                  f"| {len(frames[0]) / args.cycles / 1e3:.0f} | {len(page[0]) / 1e6:.1f} | {packing:.1f} |")


if __name__ == "__main__":
    main()
