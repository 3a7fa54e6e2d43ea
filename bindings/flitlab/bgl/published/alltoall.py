"""Experiments of the paper on Blue Gene/L's torus: packets on a link, and all-to-alls."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path

from flitlab._core import RunError
from flitlab.bgl.published.torus import (
    CHUNK,
    FITTED,
    FULL,
    HARDWARE,
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
from flitlab.reproduction import by_size, once, row


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
                "byte times", 0, reading="32 n + 4 of trailer + 8 of acknowledgment + 2 of gap; the paper gives the "
                                         "sum for a full packet",
                check="the four terms are settings of the link" if n == FULL else True)
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
        "simulator": all_to_all(shape, rounds=few, **SIMULATOR),
        "hardware": all_to_all(shape, rounds=few, **HARDWARE),
        "long": all_to_all(shape, rounds=long, **HARDWARE),
        "simulator, in a row": all_to_all(shape, in_a_row=few, **SIMULATOR),
        "hardware, in a row": all_to_all(shape, in_a_row=few, **HARDWARE),
        "long, in a row": all_to_all(shape, in_a_row=long, **HARDWARE),
        "32-way, short": all_to_all((4, 4, 2), 1, **HARDWARE),
        "32-way, long": all_to_all((4, 4, 2), rounds=10 * long, **HARDWARE),
    }
    measured = once(follow_batches, runs)
    source = f"{PAPER}, Alltoall and Figure 11"

    def line(quantity: str, name: str, published: float | None, tolerance: float, reading: str,
             setting: str = times(shape), more: bool = False, why: str = "") -> dict:
        return row("bgl.alltoall-512", quantity, source, setting, published, lambda: measured()[name], "% of peak",
                   tolerance, higher_is_better=more, reading=reading, why=why)

    order = ("percent of peak: least time of the busiest links over time to the last delivery; every node sends a "
             "packet to each destination in random order, and so on, in a new order every time. Of the two orders "
             "tried, this is the one in which long messages reach the paper's 98 %")
    software = f"{order}; FIFOs of 1 KB, and software that takes the same time in every row of hardware"
    other = "all packets of a message before the next destination's turn"
    return [
        line("one 32-byte packet, hardware", "short, hardware", None, 0, f"{FITTED}: 71 %"),
        line("one 32-byte packet, software takes no time", "short", None, 0,
             "the network alone; the rest of the hardware's 29 % is due to its software"),
        line("ten full packets, simulated", "simulator", 94, 2,
             f"{order}; infinite FIFOs, and 270 byte times a packet", why=WHY_TEN),
        line("ten full packets, hardware", "hardware", 96, 2, software, why=WHY_TEN),
        line(f"{long} full packets, hardware", "long", 98, 0, f"{software}; long messages, more than 98 %", more=True,
             why=WHY_TEN),
        line("ten full packets in a row, simulated", "simulator, in a row", None, 0, other),
        line("ten full packets in a row, hardware", "hardware, in a row", None, 0, other),
        line(f"{long} full packets in a row, hardware", "long, in a row", None, 0, other),
        line("one 32-byte packet, hardware", "32-way, short", None, 0, "the source has no curve", "4x4x2"),
        line(f"{10 * long} full packets, hardware", "32-way, long", None, 0, "the source has no curve", "4x4x2"),
    ]


WHY_TEN = (
    "The three numbers of the paper come out in its order, simulator below hardware below long messages, but ten "
    "packets are too close to the long ones: the start and the end of the all-to-all cost less here than in the paper, "
    "which attributes the difference between its simulator and its hardware to how software starts. With the packets "
    "of a message in a row, ten packets are nearer to the paper's numbers, but in the wrong order, and long messages "
    "do not reach 98 % (rows of context). The paper does not give the order.")

# Ways to divide 3 KB of buffers among VCs.
SHARES = {
    "deterministic": {"routing__dynamic": 0.0, "router__dynamic_vcs": 0, "router__escape_flits": 96},
    "one dynamic VC": {"router__dynamic_vcs": 1, "router__dynamic_flits": 64, "router__escape_flits": 32},
    "two dynamic VCs": {"router__dynamic_vcs": 2, "router__dynamic_flits": 32, "router__escape_flits": 32},
}
LARGEST = "32x32x32"
WHOLE = ((4, 4, 4), (8, 8, 8), (12, 12, 12))


def alltoall_32k(shapes: tuple[tuple[int, ...], ...] = ((8, 8, 8), (12, 12, 12), (16, 16, 16)), windows: int = 12,
                 keep: Path | None = None, wholes: tuple[tuple[int, ...], ...] = WHOLE) -> list[dict]:
    """Rows of the link utilisation over complete all-to-alls on tori of shapes ``wholes``, and in the middle of larger
    ones on ``shapes``, for three ways to divide 3 KB of buffers among VCs. Shapes go from small to large."""
    def part(shape: tuple[int, ...], share: dict) -> Course:
        # Enough rounds for the all-to-all to last longer than the measured windows.
        rounds = math.ceil(windows * 10000 / all_to_all(shape)[1]) + 1
        return Course(all_to_all(shape, rounds=rounds, **SIMULATOR, **share)[0].experiment, 10000, windows)

    courses = {f"{times(shape)}, {name}": part(shape, share) for shape in shapes for name, share in SHARES.items()}
    samples = once(follow, courses, keep)
    use = once(lambda: {name: link_use(c.experiment, samples()[name][windows // 2 - 1], samples()[name][-1])
                        for name, c in courses.items()})
    whole = once(lambda: follow_batches({times(shape): all_to_all(shape, **SIMULATOR) for shape in wholes},
                                        keep and keep / "whole"))

    def in_the_middle(size: str) -> str:
        return f"{size}, cycles {windows // 2 * 10000} to {windows * 10000}"

    def gain(size: str) -> float:
        none, one, two = (use()[f"{size}, {name}"] for name in SHARES)
        return (two - one) / (two - none)

    def over(size: str) -> float:
        return use()[f"{size}, one dynamic VC"] / use()[f"{size}, deterministic"]

    sizes, largest = [times(shape) for shape in shapes], times(shapes[-1])
    source, last = f"{PAPER}, Figure 6", times(wholes[-1])
    rows = [row("bgl.alltoall-32k", f"link utilisation in the middle, {name}", source, in_the_middle(largest), None,
                partial(lambda name: use()[f"{largest}, {name}"], name), "%", 0,
                reading="a part of an all-to-all is run, with infinite FIFOs, in random order")
            for name in SHARES]
    rows += by_size("bgl.alltoall-32k", "link utilisation", source, "{}, a packet to each".format, 98,
                    {times(shape): partial(lambda size: whole()[size], times(shape)) for shape in wholes}, "%", 1,
                    LARGEST, "two dynamic VCs, the average until the last delivery; the paper does not define its "
                             "average: in the middle of the pattern alone the links are fuller", why=WHY_ENDS)
    rows += by_size("bgl.alltoall-32k", "dynamic over deterministic routing", source, in_the_middle, 1,
                    {size: partial(over, size) for size in sizes}, "times", 0, LARGEST,
                    "the paper shows that it is better; the source has no numbers of the figure", higher_is_better=True)
    rows += by_size("bgl.alltoall-32k", "gain of the second dynamic VC", source, in_the_middle, 0.5,
                    {size: partial(gain, size) for size in sizes}, "of that of both", 0, LARGEST,
                    "the paper: marginal; read as less than that of the first", lower_is_better=True)
    return rows + [
        row("bgl.alltoall-32k", "payload of the links", source, f"{last}, a packet to each", None,
            lambda: whole()[last] * payload_part(machine(wholes[-1])), "%", 0,
            reading="link utilisation times 240 of 270 bytes; 87 % in the paper"),
        row("bgl.alltoall-32k", "packets that use the escape VC", source, in_the_middle(largest), None,
            lambda: 100 * samples()[f"{largest}, two dynamic VCs"][-1]["vc2_flits"]
            / samples()[f"{largest}, two dynamic VCs"][-1]["flit_moves"], "%", 0,
            reading="the paper: a very low percentage"),
    ]


WHY_ENDS = (
    "The average includes the start and the end of the all-to-all, when links idle. Their share falls with the size of "
    "the machine.")


def alltoall_asymmetric(shapes: tuple[tuple[int, ...], ...] = ((8, 4, 4), (12, 6, 6), (16, 8, 8)), rounds: int = 2,
                        keep: Path | None = None) -> list[dict]:
    """Rows of all-to-alls on tori with one longer dimension, from small to large, and the calculated bounds for the
    largest machine."""
    shape = shapes[-1]
    e = machine(shape)
    pace = math.ceil(1.07 / e.derived()["saturation_load_bound"])
    runs = {f"simulator, {times(s)}": all_to_all(s, rounds=rounds, **SIMULATOR) for s in shapes}
    runs |= {
        "real": all_to_all(shape, rounds=rounds),
        "paced": all_to_all(shape, rounds=rounds, injection__put_interval=pace),
        "deterministic": all_to_all(shape, rounds=rounds, routing__dynamic=0.0, **SIMULATOR),
    }
    peak = once(follow_batches, runs, keep)
    most = most_link_use(e)
    source, to_each = f"{PAPER}, Alltoall", f"{rounds} packet{'s' * (rounds > 1)} to each"
    setting, simulated = f"{times(shape)}, {to_each}", f"simulator, {times(shape)}"
    largest = machine((64, 32, 32))
    bound = most_link_use(largest)
    rows = by_size("bgl.alltoall-asymmetric", "of peak, simulated", source, lambda size: f"{size}, {to_each}", 74,
                   {times(s): partial(lambda s: peak()[f"simulator, {times(s)}"], s) for s in shapes}, "% of peak", 3,
                   "32x16x16", "infinite FIFOs and packets of 270 byte times as in the paper's simulator, random "
                               "order, until the last delivery", why=WHY_LESS)
    rows += [
        row("bgl.alltoall-asymmetric", "link utilisation, simulated", source, setting, None,
            lambda: peak()[simulated] * most / 100, "%", 0, reading="of peak, times the bound; 49 % in the paper"),
        row("bgl.alltoall-asymmetric", "payload of the links, simulated", source, setting, None,
            lambda: peak()[simulated] * most / 100 * payload_part(e), "%", 0,
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
    return rows + [
        row("bgl.alltoall-asymmetric", "most link utilisation", source, "64x32x32, computed", 66.7, bound, "%",
            0.05, check="mean hops and busiest links are counts of the wiring",
            reading="as flitlab inspect prints them"),
        row("bgl.alltoall-asymmetric", "most payload of the links", source, "64x32x32, computed", 59,
            bound * payload_part(largest), "%", 0.5, check="mean hops, busiest links and bytes are counts",
            reading="the paper subtracts 12 %; 240 of 270 is 11.1 % less"),
    ]


WHY_LESS = (
    "Packets that wait for the long dimension fill the VCs of the short ones. The part of peak falls with size, and in "
    "the paper's size it would be lower still.")

EXPERIMENTS = {
    "bgl.packet": ("link occupancy of packets of 1 to 8 chunks (a ring, seconds)", packet),
    "bgl.alltoall-512": ("all-to-alls of a midplane (Figure 11; 8x8x8)", alltoall_512),
    "bgl.alltoall-32k": ("use of links in an all-to-all (Figure 6; up to 16x16x16, full 32x32x32)", alltoall_32k,
                         lambda keep: alltoall_32k(((32, 32, 32),), 40, keep, wholes=((32, 32, 32),))),
    "bgl.alltoall-asymmetric": ("all-to-alls of asymmetric machines (up to 16x8x8, full 32x16x16)",
                                alltoall_asymmetric, lambda keep: alltoall_asymmetric(((32, 16, 16),), 1, keep)),
}
