"""Writes the examples in configs/workloads: a stencil in the format of GOAL, and a step of training in the format of
MLCommons Chakra. All numbers are made here; no trace of a real program is involved."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "configs" / "workloads"
STEPS, SIDE = 2, 4  # of the stencil, and of its square of ranks
RANKS, LAYERS = 8, 4  # of the training step


def goal() -> str:
    """Returns a stencil on a square of ranks: in each step, a rank computes its interior while it exchanges its edges
    with its neighbours, and then its edges. Computations take nanoseconds."""
    lines = ["// A stencil on 4x4 ranks (tests/tools/workload_examples.py)", f"num_ranks {SIDE * SIDE}"]
    for rank in range(SIDE * SIDE):
        x, y = rank % SIDE, rank // SIDE
        neighbours = [(x + dx) + (y + dy) * SIDE for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1))
                      if 0 <= x + dx < SIDE and 0 <= y + dy < SIDE]
        lines += ["", f"rank {rank} {{"]
        for step in range(STEPS):
            lines.append(f"inner{step}: calc 600")
            lines.append(f"edge{step}: calc 150")
            lines.append(f"edge{step} requires inner{step}")
            for peer in neighbours:
                lines.append(f"to{peer}n{step}: send 2048b to {peer} tag {step}")
                lines.append(f"from{peer}n{step}: recv 2048b from {peer} tag {step}")
                lines.append(f"edge{step} requires from{peer}n{step}")
                if step:
                    lines.append(f"to{peer}n{step} requires edge{step - 1}")
            if step:
                lines.append(f"inner{step} requires edge{step - 1}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def chakra(rank: int) -> dict[str, Any]:
    """Returns the graph of a rank that trains with others on its part of the data. The sum of a layer's gradients (an
    allreduce) overlaps the computation of the layers before it."""
    nodes: list[dict[str, Any]] = []

    def add(name: str, kind: str, needs: list[int], micros: int = 0, **attributes: int | bool) -> int:
        kinds = {bool: "boolVal", int: "int64Val"}
        nodes.append({"id": len(nodes), "name": name, "type": kind, "dataDeps": needs, "durationMicros": micros,
                      "attr": [{"name": key, kinds[type(value)]: value} for key, value in attributes.items()]})
        return len(nodes) - 1

    last = add("load", "COMP_NODE", [], 1 + rank % 3, is_cpu_op=True)
    for layer in range(LAYERS):
        last = add(f"forward {layer}", "COMP_NODE", [last], 2, is_cpu_op=False)
    sums = []
    for layer in reversed(range(LAYERS)):
        last = add(f"backward {layer}", "COMP_NODE", [last], 4, is_cpu_op=False)
        sums.append(add(f"sum {layer}", "COMM_COLL_NODE", [last], comm_type=0, comm_size=65536))
    add("update", "COMP_NODE", sums, 1, is_cpu_op=False)
    return {"nodes": nodes}


def main() -> dict[str, str]:
    """Returns the files by their names."""
    return {"vc-goal.goal": goal()} | {
        f"vc-chakra.{rank}.json": json.dumps(chakra(rank), separators=(",", ":")).replace('{"id"', '\n{"id"') + "\n"
        for rank in range(RANKS)}


if __name__ == "__main__":
    for name, text in main().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text)} bytes\n")
