"""Experiments of the Cray T3E's hardware manual."""

from __future__ import annotations

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row

MANUAL = "HMM-146-0"


def _machine(**settings) -> Experiment:
    flat = {"router.kind": "t3e", "topology.shape": [2, 4, 3], "special.enabled": True, "traffic.load": 0.0}
    return Experiment.from_dict(flat | {k.replace("__", "."): v for k, v in settings.items()})


def _special_way(network: Network) -> list[int]:
    """Physical numbers of the nodes that a special packet comes to, hop by hop."""
    ends = [network.router(e["index"]).ports[e["out_port"]].peer for e in network.events() if e["kind"] == "special"]
    return [network.read_register(node, "R_PWHO") for node in ends]


def special_rows() -> list[dict]:
    """Special routing: the way of Figure 45, and what becomes of two packets at one port."""
    source = f"{MANUAL}, Special Routing Path, Figure 45"
    setting = "2x4x3, (0,+2,+1) (+1,-1,+1)"
    reading = "the figure is lost: the way follows from the deltas and their order, from node 000000"
    wanted = [0x000100, 0x000200, 0x010200, 0x010201, 0x010101, 0x020101]
    network = Network(_machine(), trace=True)
    network.special_put(0, (0, 2, 1, 1, -1, 1), "R_SW", 45).step(60)
    way = _special_way(network)
    end = way[-1]
    rows = [row("t3e.manual", "special route, hops", source, setting, 6, len(way), "hops", 0, reading=reading),
            row("t3e.manual", "special route, hops to other nodes than the figure's", source, setting, 0,
                sum(a != b for a, b in zip(way, wanted, strict=True)), "hops", 0, reading=reading)]
    rows += [row("t3e.manual", f"special route, net {axis}", source, setting, net, end >> 8 * dim & 0xFF, "nodes", 0,
                 reading=reading)
             for dim, (axis, net) in enumerate((("X", 1), ("Y", 1), ("Z", 2)))]

    source = f"{MANUAL}, Special Routing"
    for what, clocks, wanted in (("in the same clock", 3, 1), ("a clock apart", 4, 2)):
        network = Network(_machine(topology__shape=[4, 4, 2]))
        network.special_put(0, (2, 0, 0, 0, 0, 0), "R_SW", 1).step(clocks)  # at node 1 three clocks after its own PE's
        network.special_put(1, (1, 1, 0, 0, 0, 0), "R_SW", 1).step(60)
        arrived = sum(network.read_register(node, "R_SW") for node in (2, 6))
        rows.append(row("t3e.manual", f"special packets left of two at a port {what}", source, "4x4x2", wanted, arrived,
                        "packets", 0, reading="the one from the lowest input port survives"))
    return rows
