"""Experiments of the paper on Blue Gene/L's torus: packets on a link, and all-to-alls."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path

from flitlab._core import RunError
from flitlab.bgl.published.torus import (
    CHUNK,
    FULL,
    HARDWARE,
    ONE_OF_ITS_NUMBERS,
    PAPER,
    PAYLOAD,
    SIMULATOR,
    all_to_all,
    follow_batches,
    link_use,
    machine,
    most_link_use,
    payload_part,
    times,
)
from flitlab.courses import Course, follow
from flitlab.network import Network
from flitlab.reproduction import once, row


def packet(packets: int = 40) -> list[dict]:
    """Rows of the time that a packet occupies a link, and of the payload's share of that time. Two streams keep a link
    busy in both directions, so each direction also carries token packets for the other direction. The time is measured
    as the cycles between the heads of consecutive packets."""
    spacing = {}
    for chunks in range(1, FULL + 1):
        stream = machine([2], traffic__mode="batch", traffic__pattern="neighbour", traffic__batch_packets=packets,
                         traffic__packet_flits=chunks)
        events = Network(stream, trace=True).step(packets * (CHUNK * chunks + 60)).events()
        heads = [e["cycle"] for e in events if e["kind"] == "switch_granted" and e["index"] == 0 and e["out_port"] == 0]
        gaps = {b - a for a, b in pairwise(heads[FULL:])}  # without the first packets, during which FIFOs fill up
        if len(gaps) != 1:
            raise RunError(f"bgl.packet: packets of {chunks} chunks follow each other in {sorted(gaps)} cycles.")
        spacing[chunks] = gaps.pop()
    setting, source = "one link, streams both ways", f"{PAPER}, Alltoall"
    rows = [row("bgl.packet", f"link taken by a packet of {CHUNK * n} bytes", source, setting, CHUNK * n + 14, cycles,
                "byte times", 0, reading="32 n + 4 of trailer + 8 of acknowledgment + 2 of gap" +
                ("" if n == FULL else "; the paper gives the sum for a full packet"), check=n != FULL)
            for n, cycles in spacing.items()]
    rows.append(row("bgl.packet", "payload of the link", source, setting, 240 / 270, PAYLOAD / spacing[FULL], "",
                    0.0005, reading="240 of 256 bytes; the paper's 87 % are these at 98 % link utilisation",
                    check=True))
    return rows + arbiters()


def arbiters() -> list[dict]:
    """Rows of the number of arbiters of a node, counted from its parts."""
    ports = Network(machine([4, 4, 4])).router(0).ports
    receivers = [port for port in ports if port.name != "injection"]
    # One for each VC, and one for the bypass channel of each receiver.
    alike = sum(len(port.vcs) for port in ports) + len(receivers)
    source = f"{PAPER}, Torus network"
    return [
        row("bgl.packet", "arbiters of one module", source, "a node", 38, alike, "", 0, check=True,
            reading="one for each VC and bypass channel of a receiver, and for each injection FIFO"),
        row("bgl.packet", "arbiters of receivers and injection", source, "a node", 44, alike + len(receivers), "", 0,
            check=True, reading="and one for each receiver, which chooses among its own heads"),
    ]


def alltoall_512(shape: tuple[int, ...] = (8, 8, 8), few: int = 10, long: int = 20) -> list[dict]:
    """Rows of all-to-alls of a midplane (512 nodes). few, long: numbers of full packets in a short and in a long
    message."""
    runs = {
        "short": all_to_all(shape, 1),
        "short, hardware": all_to_all(shape, 1, **HARDWARE),
        "ten, simulator": all_to_all(shape, in_a_row=few, **SIMULATOR),
        "ten, hardware": all_to_all(shape, in_a_row=few, **HARDWARE),
        "ten, one a turn": all_to_all(shape, rounds=few, **HARDWARE),
        "long": all_to_all(shape, rounds=long, **HARDWARE),
        "32-way, short": all_to_all((4, 4, 2), 1, **HARDWARE),
        "32-way, long": all_to_all((4, 4, 2), rounds=10 * long, **HARDWARE),
    }
    measured = once(follow_batches, runs)
    source, setting = f"{PAPER}, Alltoall and Figure 11", times(shape)

    def line(quantity: str, name: str, published: float | None, tolerance: float, reading: str,
             setting: str = setting, more: bool = False) -> dict:
        return row("bgl.alltoall-512", quantity, source, setting, published, lambda: measured()[name], "% of peak",
                   tolerance,                   higher_is_better=more, reading=reading)

    turns = "a node sends all packets of a message before the next destination's turn"
    order = ("percent of peak: least time of the busiest links over time to the last delivery; every node in a random "
             "order")
    software = f"{order}; FIFOs of 1 KB, and software that takes the same time in every row of hardware"
    return [
        line("one 32-byte packet, hardware", "short, hardware", None, 0, f"{ONE_OF_ITS_NUMBERS}: 71 %"),
        line("one 32-byte packet, software takes no time", "short", None, 0,
             "the network alone; the rest of the hardware's 29 % is due to its software"),
        line("ten full packets, simulated", "ten, simulator", 94, 2,
             f"{order}; infinite FIFOs; {turns}. The paper attributes most of the difference between its simulator and "
             "its hardware to the start of software, which takes no time here"),
        line("ten full packets, hardware", "ten, hardware", 96, 2, f"{software}; {turns}"),
        line("ten full packets, one a turn, hardware", "ten, one a turn", None, 0,
             "one a turn: a packet to each destination, ten times over, in a new order every time"),
        line(f"{long} full packets, one a turn, hardware", "long", 98, 0, "long messages, more than 98 %", more=True),
        line("one 32-byte packet, hardware", "32-way, short", None, 0, "the source has no curve", "4x4x2"),
        line(f"{10 * long} full packets, one a turn, hardware", "32-way, long", None, 0, "the source has no curve",
             "4x4x2"),
    ]


def alltoall_32k(shape: tuple[int, ...] = (16, 16, 16), windows: int = 12, keep: Path | None = None,
                 whole: tuple[int, ...] = (12, 12, 12)) -> list[dict]:
    """Rows of the link utilisation over a complete all-to-all on a torus of shape ``whole``, and in the middle of a
    larger one on ``shape``, for three ways to divide 3 KB of buffers among VCs."""
    shares = {
        "deterministic": {"routing__dynamic": 0.0, "router__dynamic_vcs": 0, "router__escape_flits": 96},
        "one dynamic VC": {"router__dynamic_vcs": 1, "router__dynamic_flits": 64, "router__escape_flits": 32},
        "two dynamic VCs": {"router__dynamic_vcs": 2, "router__dynamic_flits": 32, "router__escape_flits": 32},
    }
    # Enough rounds for the all-to-all to last longer than the measured windows.
    rounds = math.ceil(windows * 10000 / all_to_all(shape)[1]) + 1
    courses = {name: Course(all_to_all(shape, rounds=rounds, **SIMULATOR, **share)[0].experiment, 10000, windows)
               for name, share in shares.items()}
    samples = once(follow, courses, keep)
    use = once(lambda: {name: link_use(c.experiment, samples()[name][windows // 2 - 1], samples()[name][-1])
                        for name, c in courses.items()})
    two = "two dynamic VCs"
    source = f"{PAPER}, Figure 6"
    setting = f"{times(shape)}, cycles {windows // 2 * 10000} to {windows * 10000}"
    rows = [row("bgl.alltoall-32k", f"link utilisation in the middle, {name}", source, setting, None,
                partial(lambda name: use()[name], name), "%", 0,
                reading="a part of an all-to-all is run, with infinite FIFOs, in random order")
            for name in courses]
    average = once(lambda: follow_batches({"whole": all_to_all(whole, **SIMULATOR)}, keep and keep / "whole")["whole"])
    rows += [
        row("bgl.alltoall-32k", "link utilisation", source, f"{times(whole)}, a packet to each", 98, average, "%", 1,
            reading="two dynamic VCs, the average until the last delivery; published for 32x32x32. The paper does not "
                    "define its average: in the middle of the pattern alone the links are fuller"),
        row("bgl.alltoall-32k", "payload of the links", source, f"{times(whole)}, a packet to each", None,
            lambda: average() * payload_part(machine(whole)), "%", 0,
            reading="link utilisation times 240 of 270 bytes; 87 % in the paper"),
        row("bgl.alltoall-32k", "dynamic over deterministic routing", source, setting, 1,
            lambda: use()["one dynamic VC"] / use()["deterministic"], "times", 0, higher_is_better=True,
            reading="the paper shows that it is better; the source has no numbers of the figure"),
        row("bgl.alltoall-32k", "gain of the second dynamic VC", source, setting, 0.5,
            lambda: (use()[two] - use()["one dynamic VC"]) / (use()[two] - use()["deterministic"]), "of that of both",
            0, lower_is_better=True, reading="the paper: marginal; read as less than that of the first"),
        row("bgl.alltoall-32k", "packets that use the escape VC", source, setting, None,
            lambda: 100 * samples()[two][-1]["vc2_flits"] / samples()[two][-1]["flit_moves"], "%", 0,
            reading="the paper: a very low percentage"),
    ]
    return rows


def alltoall_asymmetric(shape: tuple[int, ...] = (16, 8, 8), rounds: int = 2, keep: Path | None = None) -> list[dict]:
    """Rows of all-to-alls on tori with one longer dimension, and the calculated bounds for the largest machine."""
    e = machine(shape)
    pace = math.ceil(1.07 / e.derived()["saturation_load_bound"])
    runs = {
        "simulator": all_to_all(shape, rounds=rounds, **SIMULATOR),
        "real": all_to_all(shape, rounds=rounds),
        "paced": all_to_all(shape, rounds=rounds, injection__put_interval=pace),
        "deterministic": all_to_all(shape, rounds=rounds, routing__dynamic=0.0, **SIMULATOR),
    }
    peak = once(follow_batches, runs, keep)
    most = most_link_use(e)
    source, setting = f"{PAPER}, Alltoall", f"{times(shape)}, {rounds} packet{'s' * (rounds > 1)} to each"
    published = "" if shape == (32, 16, 16) else "; published for 32x16x16"
    alone = ("infinite FIFOs as in the paper's simulator, random order, until the last delivery")
    largest = machine((64, 32, 32))
    bound = most_link_use(largest)
    rows = [
        row("bgl.alltoall-asymmetric", "of peak, simulated", source, setting, 74, lambda: peak()["simulator"],
            "% of peak", 3, reading=alone + published),
        row("bgl.alltoall-asymmetric", "link utilisation, simulated", source, setting, None,
            lambda: peak()["simulator"] * most / 100, "%", 0, reading="of peak, times the bound; 49 % in the paper"),
        row("bgl.alltoall-asymmetric", "payload of the links, simulated", source, setting, None,
            lambda: peak()["simulator"] * most / 100 * payload_part(e), "%", 0,
            reading="the utilisation above, times the payload fraction; 44 % in the paper"),
    ]
    rows += [row("bgl.alltoall-asymmetric", f"of peak, {what}", source, setting, None,
                 partial(lambda name: peak()[name], name), "% of peak", 0, reading=reading)
             for what, name, reading in (
                 ("FIFOs of 1 KB", "real", "software fills them as soon as there is room"),
                 (f"FIFOs of 1 KB, a chunk in {pace} cycles", "paced",
                  "7 % slower than the long dimension's links: the flow control that the paper expects to come closer "
                  "to the peak"),
                 ("simulated, deterministic", "deterministic", "all packets on the bubble VC, in dimension order"))]
    rows += [
        row("bgl.alltoall-asymmetric", "most link utilisation", source, "64x32x32, computed", 66.7, bound, "%",
            0.05, check=True,
            reading="mean hops and busiest links of the wiring, as flitlab inspect prints them"),
        row("bgl.alltoall-asymmetric", "most payload of the links", source, "64x32x32, computed", 59,
            bound * payload_part(largest), "%", 0.5, check=True,
            reading="the paper subtracts 12 %; 240 of 270 is 11.1 % less"),
    ]
    return rows


EXPERIMENTS = {
    "bgl.packet": ("link occupancy of packets of 1 to 8 chunks (a ring, seconds)", packet),
    "bgl.alltoall-512": ("all-to-alls of a midplane (Figure 11; 8x8x8)", alltoall_512),
    "bgl.alltoall-32k": ("use of links in an all-to-all (Figure 6; 16x16x16, full 32x32x32)", alltoall_32k,
                         lambda keep: alltoall_32k((32, 32, 32), 40, keep, whole=(32, 32, 32))),
    "bgl.alltoall-asymmetric": ("all-to-alls of asymmetric machines (16x8x8, full 32x16x16)", alltoall_asymmetric,
                                lambda keep: alltoall_asymmetric((32, 16, 16), 1, keep)),
}
