"""Location of faults in METRO networks: by the reports that sources receive (METRO, 5.1), and by scan tests of wires
(METRO, 5.1, Scan Support)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pandas as pd

from flitlab import metro
from flitlab.network import Network

DATA = metro.KINDS.index("DATA") << metro.ENCODING["kind_shift"]
ZEROS, ONES = 0x00, 0xFF  # test words of an 8-bit wire


def missing_reports(net: Network, sources: Iterable[int], clocks: int) -> pd.DataFrame:
    """Returns the routers that did not report although an attempt had reached them. For each source, the next
    ``clocks`` clocks run in a copy of the network, so the network itself does not advance.

    If an attempt is lost, the routers before the silence have reported (their backward ports lead to the next one), and
    the next router on the path is silent. Index: number of the router. Columns: router (its name); reports missing:
    lost attempts in which it was the silent one; reports received: attempts in which it reported."""
    missing, received = Counter[int](), Counter[int]()
    for source in sources:
        copy = Network(net.experiment).go_on_from(net)
        for attempt in metro.attempts(copy, source, clocks)[:-1]:  # the last one has not ended
            reports = len(attempt.reported())
            received.update(hop.router for hop in attempt.hops[:reports])
            if attempt.outcome == "lost":
                missing[attempt.hops[reports].router] += 1
    return pd.DataFrame([{"router": net.router(r).name, "reports missing": missing[r], "reports received": received[r]}
                         for r in sorted(missing)], index=sorted(missing))


def ports_to(net: Network, routers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields router and backward port of each wire that leads to one of these routers."""
    wanted = set(routers)
    for router in range(int(net.experiment.derived()["routers"])):
        ports = [port for port in net.router(router).ports if not port.name.startswith("forward")]
        yield from ((router, b) for b, port in enumerate(ports) if port.peer in wanted and not port.to_terminal)


def scan_stage(net: Network, stage: int) -> pd.DataFrame:
    """Tests the wires that leave the routers of a stage, one after the other, and switches the broken ones off. The
    network's traffic uses the others meanwhile; each test takes 6 clocks.

    A row of the result is a wire. Columns: wire (names and ports of its ends); 00000000 arrives as, 11111111 arrives
    as: the words that the far end captured; works: whether both were correct."""
    rows = []
    for router in range(int(net.experiment.derived()["routers"])):
        near = net.router(router)
        if near.name.startswith(f"{stage}."):
            outputs = sum(not port.name.startswith("forward") for port in near.ports)
            rows += [_scan_wire(net, router, backward) for backward in range(outputs)]
    return pd.DataFrame(rows)


def _scan_wire(net: Network, router: int, backward: int) -> dict[str, str | bool]:
    """Disables both ends of a wire, drives a word of zeros and one of ones at the near end, and reads the captured
    words at the far end. If both words arrive, enables both ends again; if not, they stay off."""
    scan = metro.Scan(net)
    ((far, forward),) = metro.far_ports(net, router, backward)
    scan.write_register(router, f"on.b{backward}", 0).write_register(far, f"on.f{forward}", 0)
    captured = []
    for word in (ZEROS, ONES):
        scan.write_register(router, f"drive.b{backward}", DATA + word)
        net.step(3)  # the word crosses the router, the wire and the next router
        captured.append(scan.read_register(far, f"captured.f{forward}") - DATA)
    scan.write_register(router, f"drive.b{backward}", 0)
    works = captured == [ZEROS, ONES]
    if works:
        scan.write_register(router, f"on.b{backward}", 1).write_register(far, f"on.f{forward}", 1)
    return {"wire": f"{net.router(router).name}, b{backward} to {net.router(far).name}, f{forward}",
            "00000000 arrives as": f"{captured[0]:08b}", "11111111 arrives as": f"{captured[1]:08b}", "works": works}
