"""Wiring of ports by the T3E's hardware manual, HMM-146-0, and R_ORIENT, which software writes in one node."""

from __future__ import annotations

from flitlab import t3e
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.settings import dotted

MANUAL = "HMM-146-0"
NODES = 64  # 4 x 4 x 4: in rings of four no two ports of a node lead to the same node
HERE, PLUS_Y = (0,) * 6, 0b010
READING = "the figure is lost: the text beside it names the ports"
PROPAGATION = ("the manual says only that hardware sets R_ORIENT of all other nodes; a hop in + must continue in +, so "
               "the bit of a dimension is inverted over a link of like ports")


def _boards(wiring: str, **settings: object) -> Network:
    return Network(Experiment.from_dict({
        "router.kind": "t3e", "topology.shape": [4, 4, 4], "topology.wiring_z": wiring, "special.enabled": True,
        "traffic.load": 0.0, "traffic.self": False}
        | dotted(settings)))


def _far_end(network: Network, port: str) -> tuple[int, int]:
    """Returns the physical number of the node that a port of router 00 leads to, and the number of the port there."""
    node = next(p.peer for p in network.router(0).ports if p.name.startswith(port))
    back = next(p.name for p in network.router(node).ports if p.peer == 0)
    return t3e.Machine(network).read_register(node, "R_PWHO"), int(back[1])


def _marked(software: t3e.Machine, numbers: t3e.Machine | None = None) -> int:
    """Returns the physical number of the node with a nonzero R_SW. numbers: a loaded machine, if this one is cold."""
    return max(((numbers or software).read_register(n, "R_PWHO") for n in range(NODES)
                if software.read_register(n, "R_SW")), default=-1)


def ports() -> list[dict]:
    """Checks figures 4 to 6: the far end of a port of router 00 on the board at the origin."""
    rows = []
    for figure, port, wiring, place, far_port in (
            ("Figure 4", "X0", "through", 0x000001, 1), ("Figure 5", "Y1", "through", 0x000100, 0),
            ("Figure 6", "Z0", "through", 0x010000, 1), ("Figure 6", "Z0", "alternating", 0x010000, 0)):
        node, back = _far_end(_boards(wiring), port)
        source, setting = f"{MANUAL}, Network Router Ports, {figure}", f"4x4x4, Z {wiring}"
        # The manual: Z0 or Z1 of a router on another board.
        reading = "the manual does not say which shapes use which of the two" if port == "Z0" else READING
        # A check only: the plan's own wiring is read back.
        rows += [row("t3e.manual", f"{port} Out of router 00: node", source, setting, place, node, "", 0, check=True,
                     reading=reading),
                 row("t3e.manual", f"{port} Out of router 00: number of the port In", source, setting, far_port, back,
                     "", 0, check=True, reading=reading)]
    network = _boards("through")
    software = t3e.Machine(network).special_put(0, HERE, "R_ORIENT", 0)
    network.step(60)
    software.special_put(0, (0, -1, 0, 0, 0, 0), "R_SW", 1)
    network.step(60)
    rows.append(row("t3e.manual", "a hop in -Y from router 00, PLUS_Y = 0: node", f"{MANUAL}, Figure 5 and Table 2",
                    "4x4x4", 0x000100, _marked(software), "", 0,
                    reading="Y1 is then -Y, so + towards router 10 needs PLUS_Y = 1"))
    return rows


def orientation() -> list[dict]:
    """Checks Direction Assignments: the effect of one write of R_ORIENT in a cold machine."""
    rows = []
    for wiring, inverts, turned, end in (("through", True, 0, 0x030000), ("alternating", True, 0, 0x030000),
                                         ("alternating", False, NODES // 2, 0x010000)):
        network = _boards(wiring, boot__state="cold", router__orient_inverts=inverts)
        software = t3e.Machine(network).special_put(0, HERE, "R_ORIENT", PLUS_Y)
        network.step(60)
        wanted = t3e.Machine(_boards(wiring))  # in this machine + leads to higher physical numbers
        wrong = sum(software.read_register(n, "R_ORIENT") != wanted.read_register(n, "R_ORIENT") for n in range(NODES))
        software.special_put(0, (0, 0, 3, 0, 0, 0), "R_SW", 1)
        network.step(60)
        source = f"{MANUAL}, Direction Assignments, Tables 1 to 3"
        setting = f"4x4x4, Z {wiring}" + ("" if inverts else ", not inverted")
        rows += [row("t3e.manual", "R_ORIENT written in router 00: nodes turned round against it", source, setting,
                     turned, wrong, "nodes", 0, check=True, reading=PROPAGATION),
                 row("t3e.manual", "three hops in +Z from router 00: node", source, setting, end,
                     _marked(software, wanted), "", 0, check=True, reading=PROPAGATION)]
    return rows


def wiring() -> list[dict]:
    return ports() + orientation()
