"""Runs programs of other simulators on a ring of routers: cycles and packets of each file.

    python tests/perf/program_samples.py FOLDER

FOLDER is searched for GOAL (*.goal), traces of Chakra (*.0.et), algorithms of MSCCL (*.xml) and plans of MSCCL++
(*.json), the last two with a buffer of 1 MiB: for example a copy of ASTRA-sim's folder examples, of LogGOPSim's folder
src, or of MSCCL++'s folder test."""

from __future__ import annotations

import sys
from pathlib import Path

import flitlab as fl
from flitlab.workloads import format_of


def main(folder: str) -> None:
    files = [file for ending in ("*.goal", "*.0.et", "*.xml", "*.json") for file in sorted(Path(folder).rglob(ending))
             if ending != "*.json" or format_of(file) == "plan"]
    for file in files:
        try:
            program = fl.read_program(file, size="1MiB" if format_of(file) in ("msccl", "plan") else None)
        except fl.ConfigError as error:
            print(f"{'rejected':>17} {error}")
            continue
        terminals = 1 + max((terminal for terminal, _ in program._places.values()), default=program.ranks - 1)
        network = {"topology.kind": "ring", "topology.shape": [terminals], "traffic.mode": "program"}
        result = fl.run({**network, "traffic.program_file": program}, progress=False)
        print(f"{int(result.model['program_cycles']):10} cycles {result.packets.delivered:9} packets "
              f"{terminals:5} terminals  {file.relative_to(folder)}")


if __name__ == "__main__":
    main(sys.argv[1])
