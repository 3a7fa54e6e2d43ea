"""The length of a program's run."""

import flitlab as fl

MESH = {"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.mode": "program"}


def cycles(program, network=MESH, **more):
    """Returns the cycles of a program. more: parameters of the traffic."""
    changes = {f"traffic.{key}": value for key, value in more.items()}
    return int(fl.run({**network, **changes, "traffic.program_file": program}, progress=False).model["program_cycles"])
