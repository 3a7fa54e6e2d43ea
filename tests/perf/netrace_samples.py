"""Replays traces of Netrace on an 8x8 mesh: packets, dependencies and cycles of each file, and how fast it runs.

    python tests/perf/netrace_samples.py FOLDER

FOLDER: *.tra.bz2, for example the folder testraces of Netrace's repository (booksim/netrace on GitHub)."""

from __future__ import annotations

import bz2
import struct
import sys
import time
from pathlib import Path

import flitlab as fl


def counts(data: bytes) -> tuple[int, int, int]:
    """Returns packets, dependencies and cycles, counted packet by packet."""
    notes, regions = struct.unpack_from("<II", data, 56)
    at, packets, dependencies, cycle = 72 + notes + 24 * regions, 0, 0, 0
    while at < len(data):
        cycle, waiting = struct.unpack_from("<Q", data, at)[0], data[at + 20]
        packets, dependencies, at = packets + 1, dependencies + waiting, at + 21 + 4 * waiting
    return packets, dependencies, cycle


def main(folder: str) -> None:
    print(f"{'file':24}{'packets':>10}{'needs':>10}{'cycles':>10}  "
          f"{'':16}{'delivered':>10}{'cycles':>10}{'seconds':>9}")
    for file in sorted(Path(folder).glob("*.tra.bz2")):
        found = counts(bz2.decompress(file.read_bytes()))
        for throttling in (False, True):
            exp = fl.Experiment({"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.mode": "trace",
                                 "traffic.trace_file": str(file.resolve()), "traffic.self_throttling": throttling})
            start = time.perf_counter()
            result = fl.run(exp, progress=False)
            seconds = time.perf_counter() - start
            head = f"{file.name:24}{found[0]:10}{found[1]:10}{found[2]:10}" if not throttling else " " * 54
            print(f"{head}  {'self-throttling' if throttling else 'times of file':16}{result.packets.delivered:10}"
                  f"{int(result.model['trace_cycles']):10}{seconds:9.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
