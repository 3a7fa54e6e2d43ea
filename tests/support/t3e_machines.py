"""Machines for the tests of the T3E in Python."""

from flitlab import Experiment, Network

AC20 = {"topology.shape": [2, 4, 3], "topology.partial_planes": [2, 0, 2, 0, 2]}


LC424 = {"topology.shape": [8, 8, 9],
         "topology.partial_planes": [1, 0, 4, 0, 8, 1, 4, 4, 0, 6, 5, 0, 4, 0, 8, 6, 0, 4, 0, 8, 7, 0, 4, 0, 8,
                                     8, 0, 4, 0, 4]}


def build(changes: dict) -> Experiment:
    return Experiment.from_dict({"router.kind": "t3e", "traffic.load": 0.3} | changes)


def neighbours(network: Network, node: int) -> dict[str, int]:
    """Returns neighbouring nodes by direction; a port is named "Y1 +y"."""
    ports = network.router(node).ports
    return {port.name.split()[-1]: port.peer for port in ports if port.peer is not None and not port.to_terminal}


def trace_all(tmp_path, experiment: Experiment, pairs: list[tuple[int, int]], gap: int = 8) -> Network:
    """Returns a traced network that has sent one packet for each pair."""
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"{gap * n},{src},{dst},3\n" for n, (src, dst) in enumerate(pairs)))
    changes = {"traffic.mode": "trace", "traffic.trace_file": str(path)}
    flat = {k: v for k, v in experiment._given.items() if k != "traffic.load"}
    return Network(Experiment.from_dict(flat | changes)).step(gap * len(pairs) + 1000)


def deliveries(network: Network) -> list[tuple[int, int]]:
    return [(e["cycle"], e["index"]) for e in network.events() if e["kind"] == "delivered"]
