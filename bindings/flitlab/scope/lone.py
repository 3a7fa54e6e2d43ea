"""The path of a packet that is alone in a network, with any routing algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flitlab._core import RunError
from flitlab.experiment import Experiment

if TYPE_CHECKING:
    from flitlab.network import Network

MOST_CYCLES = 2000
STEP = 100  # cycles between two looks


def lone_path(network: Network, algorithm: str, src: int, dst: int) -> list[list[int]]:
    """Returns router and output port of each hop of a packet of one flit from terminal ``src`` to ``dst`` in a network
    like this one that is empty. Raises ConfigError if the network cannot use the algorithm, RunError if the packet has
    not arrived after MOST_CYCLES."""
    experiment = network.experiment
    given = {path: value for path, value in experiment._given.items() if not path.startswith("traffic.")}
    texts = {path: text for path, text in experiment._texts.items() if path in given}
    terminals = int(experiment.derived()["terminals"])
    # Only the source sends. Its later packets follow behind the first one.
    lines = [f"{i},{dst},1\n" if i == src else f"{i},{(i + 1) % terminals},0\n" for i in range(terminals)]
    given |= {"routing.algorithm": algorithm, "traffic.pattern": "matrix", "traffic.matrix_file": "lone.csv",
              "traffic.load": 1, "traffic.packet_flits": 1}
    texts["traffic.matrix_file"] = "".join(lines).encode()
    alone = type(network)(Experiment(given, experiment.base_dir, texts=texts), trace=True)
    hops = []
    for _ in range(MOST_CYCLES // STEP):
        for event in alone.step(STEP).events():
            if event["src"] == src and event["id"] == 0:
                if event["kind"] == "switch_granted":
                    hops.append([event["index"], event["out_port"]])
                elif event["kind"] == "delivered":
                    return hops
    raise RunError(f"{algorithm}: a packet from {src} to {dst} has not arrived after {MOST_CYCLES} cycles.")
