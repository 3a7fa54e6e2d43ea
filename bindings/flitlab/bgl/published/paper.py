"""Experiments of the paper on Blue Gene/L's torus: packets, all-to-alls, hot spots, verification, the bubble rule. A
cycle is a byte time of a link, a flit a chunk of 32 bytes. The studies of Figures 2 to 9 are in studies."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from flitlab._core import RunError
from flitlab.courses import Course, Sample, all_delivered, follow
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.runner import run

PAPER = "Blue Gene/L torus interconnection network"
CHUNK, FULL, PAYLOAD = 32, 8, 240  # bytes of a chunk; chunks of a full packet; bytes of these that are not software's
SIMULATOR = {"injection__infinite": True}  # FIFOs without end, as in the paper's simulator


def machine(shape: Iterable[int], **settings) -> Experiment:
    """A torus with packets of full size. Settings are dotted paths, with ``__`` for the dot."""
    flat = {key.replace("__", "."): value for key, value in settings.items()}
    return Experiment.from_dict({"router.kind": "bgl", "topology.shape": list(shape), "traffic.packet_flits": FULL}
                                | flat)


def times(shape: Iterable[int]) -> str:
    return "x".join(str(k) for k in shape)


def million(cycles: float) -> str:
    return f"{cycles / 1e6:.3g} million cycles"


def chunks_of(e: Experiment) -> int:
    """Length of its packets, which all have the same."""
    ((chunks, _),) = e["traffic.packet_flits"]
    return chunks


def link_use(e: Experiment, begin: Sample, end: Sample) -> float:
    """Mean use of the links between two samples: cycles in which they are taken, overhead included, in percent."""
    d = e.derived()
    packets = (end["flit_moves"] - begin["flit_moves"]) / chunks_of(e)
    return 100 * packets * d["link_cycles_per_packet"] / d["channels"] / (end["cycle"] - begin["cycle"])


def most_link_use(e: Experiment) -> float:
    """Mean use of the links in percent when the busiest ones are always taken, under uniform traffic."""
    d = e.derived()
    packets = d["saturation_load_bound"] / chunks_of(e) * d["terminals"]  # per cycle
    return 100 * packets * d["hops_mean"] * d["link_cycles_per_packet"] / d["channels"]


def links_into(shape: tuple[int, ...], extent: tuple[int, ...]) -> set[tuple[int, int]]:
    """Node and port where links begin that enter the region at the origin."""
    strides = [math.prod(shape[:d]) for d in range(len(shape))]

    def inside(node: int) -> bool:
        return all(node // stride % k < e for stride, k, e in zip(strides, shape, extent, strict=True))

    links = set()
    for node in range(math.prod(shape)):
        for d, (stride, k) in enumerate(zip(strides, shape, strict=True)):
            at = node // stride % k
            for port, step in ((2 * d, 1), (2 * d + 1, -1)):
                if k > 1 and not inside(node) and inside(node + ((at + step) % k - at) * stride):
                    links.add((node, port))
    return links


def packet(packets: int = 40) -> list[dict]:
    """Cycles between the heads of packets of a stream that keeps a link busy, and the payload that it carries."""
    spacing = {}
    for chunks in range(1, FULL + 1):
        stream = machine([4], traffic__mode="batch", traffic__pattern="neighbour", traffic__batch_packets=packets,
                         traffic__packet_flits=chunks)
        events = Network(stream, trace=True).step(packets * (CHUNK * chunks + 60)).events()
        heads = [e["cycle"] for e in events if e["kind"] == "switch_granted" and e["index"] == 0 and e["out_port"] == 0]
        gaps = {b - a for a, b in pairwise(heads[FULL:])}  # the first ones come from FIFOs that fill up
        if len(gaps) != 1:
            raise RunError(f"bgl.packet: packets of {chunks} chunks follow each other in {sorted(gaps)} cycles.")
        spacing[chunks] = gaps.pop()
    setting, source = "one link, a stream", f"{PAPER}, Alltoall"
    rows = [row("bgl.packet", f"link taken by a packet of {CHUNK * n} bytes", source, setting, CHUNK * n + 14, cycles,
                "byte times", 0, reading="32 n + 4 of trailer + 8 of acknowledgment + 2 of gap")
            for n, cycles in spacing.items()]
    rows.append(row("bgl.packet", "payload of the link", source, setting, 240 / 270, PAYLOAD / spacing[FULL], "",
                    0.0005, reading="240 of 256 bytes; the paper's 87 % are these at 98 % link utilisation"))
    return rows


def batch(e: Experiment, least: float) -> Course:
    """A course until all packets of a batch have arrived, which takes `least` cycles at the least."""
    window = max(1000, round(least / 50))
    return Course(e, window, math.ceil(10 * least / window), until=all_delivered)


def all_to_all(shape: Iterable[int], chunks: int = FULL, rounds: int = 1, in_a_row: int = 1,
               **settings) -> tuple[Course, float]:
    """An all-to-all, and the cycles that it takes at the least, for the busiest links' sake."""
    e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_all", traffic__packet_flits=chunks,
                traffic__rounds=rounds, traffic__in_a_row=in_a_row, **settings)
    least = (math.prod(shape) - 1) * rounds * in_a_row * chunks / e.derived()["saturation_load_bound"]
    return batch(e, least), least


def percent_of_peak(samples: list[Sample], least: float) -> float:
    """The least time over the time until the last delivery, in percent."""
    if not all_delivered(samples[-1]):
        raise RunError("a batch is not at its end after ten times the least that it takes.")
    return 100 * least / (samples[-1]["last_delivery"] + 1)


def follow_batches(runs: dict[str, tuple[Course, float]], keep: Path | None = None) -> dict[str, float]:
    """Percent of peak of each."""
    samples = follow({name: course for name, (course, _) in runs.items()}, keep)
    return {name: percent_of_peak(samples[name], least) for name, (_, least) in runs.items()}


def alltoall_512(shape: tuple[int, ...] = (8, 8, 8), few: int = 10, long: int = 20) -> list[dict]:
    """All-to-alls of a midplane. few: full packets of a message; long: those of a long one."""
    runs = {
        "short": all_to_all(shape, 1),
        "short, rotated": all_to_all(shape, 1, traffic__order="rotated"),
        "ten, simulator": all_to_all(shape, in_a_row=few, **SIMULATOR),
        "ten": all_to_all(shape, in_a_row=few),
        "ten, one a turn": all_to_all(shape, rounds=few),
        "long": all_to_all(shape, rounds=long),
        "32-way, short": all_to_all((4, 4, 2), 1),
        "32-way, long": all_to_all((4, 4, 2), rounds=10 * long),
    }
    measured = follow_batches(runs)
    source, setting = f"{PAPER}, Alltoall and Figure 11", times(shape)

    def line(quantity: str, name: str, published: float | None, tolerance: float, reading: str,
             setting: str = setting) -> dict:
        # What the paper simulated is to be met; what it measured may be passed where software takes no time.
        return row("bgl.alltoall-512", quantity, source, setting, published, measured[name], "% of peak", tolerance,
                   higher_is_better="simulat" not in quantity, reading=reading)

    turns = "a node sends all packets of a message before the next destination's turn"
    order = ("percent of peak: least time of the busiest links over time to the last delivery; every node in a random "
             "order")
    return [
        line("one 32-byte packet, order of rotation", "short, rotated", 71, 3,
             "rotated: every node begins with the next one and goes on in order, as a simple loop does; no time of "
             "software is in it"),
        line("one 32-byte packet, random order", "short", 71, 3,
             "the network alone is that fast in a random order; the hardware's 71 % have its software in them: 65 "
             "cycles for each packet would be as slow"),
        line("ten full packets, simulated", "ten, simulator", 94, 2,
             f"{order}; infinite FIFOs; {turns}. The paper puts most of the difference between its simulator and its "
             "hardware down to how software starts, which takes no time here"),
        line("ten full packets, hardware", "ten", 96, 2, f"FIFOs of 1 KB; {turns}"),
        line("ten full packets, one a turn", "ten, one a turn", None, 0,
             "one a turn: a packet to each destination, ten times over, in a new order every time"),
        line(f"{long} full packets, one a turn", "long", 98, 0, "long messages, more than 98 %"),
        line("one 32-byte packet, random order", "32-way, short", None, 0, "the curve is lost", "4x4x2"),
        line(f"{10 * long} full packets, one a turn", "32-way, long", None, 0, "the curve is lost", "4x4x2"),
    ]


def alltoall_32k(shape: tuple[int, ...] = (16, 16, 16), windows: int = 12, keep: Path | None = None,
                 whole: tuple[int, ...] = (16, 16, 16)) -> list[dict]:
    """Link utilisation of an all-to-all, and in the middle of one with 3 KB of buffers shared out in three ways.
    whole: the machine for all of an all-to-all."""
    shares = {
        "deterministic": {"routing__dynamic": 0.0, "router__dynamic_vcs": 0, "router__escape_flits": 96},
        "one dynamic VC": {"router__dynamic_vcs": 1, "router__dynamic_flits": 64, "router__escape_flits": 32},
        "two dynamic VCs": {"router__dynamic_vcs": 2, "router__dynamic_flits": 32, "router__escape_flits": 32},
    }
    rounds = math.ceil(windows * 10000 / all_to_all(shape)[1]) + 1  # so that the middle is long enough
    courses = {name: Course(all_to_all(shape, rounds=rounds, **SIMULATOR, **share)[0].experiment, 10000, windows)
               for name, share in shares.items()}
    samples = follow(courses, keep)
    use = {name: link_use(c.experiment, samples[name][windows // 2 - 1], samples[name][-1])
           for name, c in courses.items()}
    best, last = use["two dynamic VCs"], samples["two dynamic VCs"][-1]
    source = f"{PAPER}, Figure 6"
    setting = f"{times(shape)}, cycles {windows // 2 * 10000} to {windows * 10000}"
    rows = [row("bgl.alltoall-32k", f"link utilisation in the middle, {name}", source, setting, None, u, "%", 0,
                reading="a part of an all-to-all is run, with infinite FIFOs, in random order")
            for name, u in use.items()]
    average = follow_batches({"": all_to_all(whole, **SIMULATOR)})[""]
    rows += [
        row("bgl.alltoall-32k", "link utilisation", source, f"{times(whole)}, a packet to each", 98, average, "%", 1,
            reading="two dynamic VCs, the average until the last delivery; published for 32x32x32. The paper does not "
                    "say what its average is taken over: in the middle of the pattern alone the links are fuller"),
        row("bgl.alltoall-32k", "payload of the links", source, f"{times(whole)}, a packet to each", 87,
            average * PAYLOAD / 270, "%", 1, reading="240 of 270 bytes"),
        row("bgl.alltoall-32k", "dynamic over deterministic routing", source, setting, 1,
            use["one dynamic VC"] / use["deterministic"], "times", 0, higher_is_better=True,
            reading="the paper shows that it is better, the figure's numbers are lost"),
        row("bgl.alltoall-32k", "gain of the second dynamic VC", source, setting, 0.5,
            (best - use["one dynamic VC"]) / (best - use["deterministic"]), "of that of both", 0, lower_is_better=True,
            reading="marginal, says the paper: less than that of the first"),
        row("bgl.alltoall-32k", "packets that use the escape VC", source, setting, None,
            100 * last["vc2_flits"] / last["flit_moves"], "%", 0, reading="a very low percentage, says the paper"),
    ]
    return rows


def alltoall_asymmetric(shape: tuple[int, ...] = (16, 8, 8), rounds: int = 2, keep: Path | None = None) -> list[dict]:
    """All-to-alls where one dimension is longer, and the bounds of the largest machine."""
    e = machine(shape)
    pace = math.ceil(1.07 / e.derived()["saturation_load_bound"])
    runs = {
        "simulator": all_to_all(shape, rounds=rounds, **SIMULATOR),
        "real": all_to_all(shape, rounds=rounds),
        "paced": all_to_all(shape, rounds=rounds, injection__put_interval=pace),
        "deterministic": all_to_all(shape, rounds=rounds, routing__dynamic=0.0, **SIMULATOR),
    }
    peak = follow_batches(runs, keep)
    most = most_link_use(e)
    source, setting = f"{PAPER}, Alltoall", f"{times(shape)}, {rounds} packet{'s' * (rounds > 1)} to each"
    published = "" if shape == (32, 16, 16) else "; published for 32x16x16"
    alone = ("infinite FIFOs as in the paper's simulator, random order, until the last delivery")
    largest = machine((64, 32, 32))
    bound = most_link_use(largest)
    rows = [
        row("bgl.alltoall-asymmetric", "of peak, simulated", source, setting, 74, peak["simulator"], "% of peak", 3,
            reading=alone + published),
        row("bgl.alltoall-asymmetric", "link utilisation, simulated", source, setting, 49,
            peak["simulator"] * most / 100, "%", 3, reading=alone + published),
        row("bgl.alltoall-asymmetric", "payload of the links, simulated", source, setting, 44,
            peak["simulator"] * most / 100 * PAYLOAD / 270, "%", 3),
    ]
    rows += [row("bgl.alltoall-asymmetric", f"of peak, {what}", source, setting, None, peak[name], "% of peak", 0,
                 reading=reading)
             for what, name, reading in (
                 ("FIFOs of 1 KB", "real", "software fills them as soon as there is room"),
                 (f"FIFOs of 1 KB, a chunk in {pace} cycles", "paced",
                  "7 % slower than the long dimension's links: the flow control that the paper expects to come closer "
                  "to the peak"),
                 ("simulated, deterministic", "deterministic", "all packets on the bubble VC, in dimension order"))]
    rows += [
        row("bgl.alltoall-asymmetric", "most link utilisation", source, "64x32x32, computed", 66.7, bound, "%", 0.05,
            reading="mean hops and busiest links of the wiring, as flitlab inspect prints them"),
        row("bgl.alltoall-asymmetric", "most payload of the links", source, "64x32x32, computed", 59,
            bound * PAYLOAD / 270, "%", 0.5, reading="the paper takes off 12 %, 240 of 270 are 11.1 % off"),
    ]
    return rows


def hotspot(shape: tuple[int, ...] = (8, 8, 8), packets: tuple[int, ...] = (10, 40)) -> list[dict]:
    """All nodes outside a region send to all nodes in it. packets: to each receiver."""
    published = {(1, 1, 1): 92, (2, 2, 2): 95, (4, 4, 4): 95}
    runs = {}
    for extent in published:
        for each in packets:
            e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_region", traffic__hot_shape=list(extent),
                        traffic__rounds=each)
            receivers = math.prod(extent)
            carried = (math.prod(shape) - receivers) * receivers * each * e.derived()["link_cycles_per_packet"]
            least = carried / len(links_into(shape, extent))
            runs[f"{times(extent)} {each}"] = batch(e, least), least
    measured = follow_batches(runs)
    reading = ("the paper does not say how many packets; the more, the less beginning and end cost; FIFOs of 1 KB, "
               "receivers in random order, software takes no time")
    return [row("bgl.hotspot", f"receivers {times(extent)}, {each} packets to each", f"{PAPER}, Hot region",
                times(shape), wanted, measured[f"{times(extent)} {each}"], "% of peak", 2, higher_is_better=True,
                reading=reading)
            for extent, wanted in published.items() for each in packets]


def held_chunks(network: Network) -> dict:
    """Chunks in the VC buffers of all receivers."""
    nodes = range(int(network.experiment.derived()["routers"]))
    return {"held": sum(vc.flits for n in nodes for port in network.router(n).ports if port.name != "injection"
                        for vc in port.vcs)}


def verification(shapes: dict[tuple[int, ...], int] | None = None, rounds: int = 20) -> list[dict]:
    """All-to-alls with and without the gap in the receivers' arbitration. shapes: with the pace of their workload
    drivers, cycles per chunk: 86 % of what the links carry."""
    shapes = shapes or {(4, 4, 4): 20, (8, 8, 1): 40}
    courses = {}
    for shape, pace in shapes.items():
        for load, interval in (("paced", pace), ("at once", 0)):
            for gap in (False, True):
                course, least = all_to_all(shape, rounds=rounds, injection__put_interval=interval,
                                           router__arbitration_gap=gap)
                courses[shape, load, gap] = Course(course.experiment, max(500, round(least / 100)), 2000,
                                                   all_delivered, held_chunks)
    samples = dict(zip(courses, follow({str(key): c for key, c in courses.items()}).values(), strict=True))
    source, rows = f"{PAPER}, Performance verification", []
    for shape, pace in shapes.items():
        for load in ("paced", "at once"):
            use, held = {}, {}
            for gap in (False, True):
                run_of, mine = courses[shape, load, gap], samples[shape, load, gap]
                quarter = len(mine) // 4
                middle = mine[quarter:-quarter]
                use[gap] = link_use(run_of.experiment, middle[0], middle[-1])
                held[gap] = statistics.mean(s["held"] for s in middle) / run_of.experiment.derived()["channels"]
            paced = load == "paced"
            setting = f"{times(shape)}, {f'a chunk in {pace} cycles' if paced else 'FIFOs always full'}"
            reading = ("workload drivers offer 86 % of what the links carry" if paced else
                       "with FIFOs that are always full the gap gives way to so many packets that the network chokes, "
                       "which the paper does not say")
            rows += [
                row("bgl.verification", "link utilisation without the gap", source, setting, None, use[False], "%", 0),
                row("bgl.verification", "link utilisation with it, over without", source, setting, 1 if paced else None,
                    use[True] / use[False], "times", 0.02, reading=reading),
                row("bgl.verification", "chunks in the VCs with it, over without", source, setting, 1,
                    held[True] / held[False], "times", 0, higher_is_better=True,
                    reading="the paper says that they are fuller, not by how much"),
            ]
    return rows


def fragmented_ring() -> list[tuple[int, int, int, int]]:
    """Cycle, sender, receiver and chunks of packets that all go to the right in a ring of seven, whose nodes have 16
    chunks of bubble VC. The gap lets what a node sends get in before what waits in the ring. In each buffer a packet
    that cannot go on comes to lie first, and then one of another size, until nowhere is room for eight chunks, but
    together for 49."""
    start = [(0, 6, 1, 1), (0, 5, 1, 1), (0, 5, 1, 8), (0, 5, 0, 1)] + 6 * [(0, 0, 1, 8)]
    round_the_ring = [(400 + 300 * n, 4 - n, 6 - n, chunks) for n in range(4) for chunks in (8, 1)]
    return start + round_the_ring + 2 * [(1500, 0, 2, 8)]


def deadlock_of(e: Experiment) -> str:
    """What a run says of its deadlock; nothing if it has none."""
    try:
        run(e, threads=1)
    except RunError as error:
        if not str(error).startswith("deadlock"):
            raise
        return str(error).splitlines()[0].rstrip(":")
    return ""


def bubble_deadlock(seeds: int = 10, cycles: int = 400_000) -> list[dict]:
    """Rings whose nodes send packets of one and of eight chunks, under the earlier bubble rule and the correct one."""
    rules = {"accounted for by size": "actual_size", "accounted for as full": "full_size"}
    source, rows = f"{PAPER}, Torus network", []
    loaded = machine([8], traffic__pattern="tornado", traffic__load=1.0, traffic__packet_flits=[[1, 1], [8, 4]],
                     routing__dynamic=0.0, router__network_first=0.0, run__warmup_cycles=0, run__measure_cycles=cycles,
                     run__drain_cycles=0, run__epoch_cycles=10000, run__watchdog_cycles=10000)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "ring.csv"
        trace.write_text("".join(",".join(map(str, line)) + "\n" for line in fragmented_ring()))
        ring = Experiment.from_dict({"router.kind": "bgl", "topology.shape": [7], "traffic.mode": "trace",
                                     "traffic.trace_file": str(trace), "routing.dynamic": 0.0, "injection.fifos": 1,
                                     "router.escape_flits": 16, "router.arbitration_gap": True})
        for packets, rule in rules.items():
            earlier = rule == "actual_size"
            text = deadlock_of(ring.set("router.bubble_rule", rule))
            network = Network(ring.set("router.bubble_rule", rule)).step(2500)
            room = [network.router(n).ports[0].vcs[2].credits for n in range(7)]
            rows.append(row("bgl.bubble-deadlock", f"runs that deadlock, packets {packets}", source,
                            "fragmented ring of 7", int(earlier), int(bool(text)), "of 1", 0,
                            reading=f"made so that free space breaks up: chunks of room in the buffers {room}; {text}"
                            if earlier else "the same packets"))
        for packets, rule in rules.items():
            earlier = rule == "actual_size"
            found = [deadlock_of(loaded.set({"router.bubble_rule": rule, "run.seed": seed}))
                     for seed in range(1, seeds + 1)]
            stuck = [text for text in found if text]
            rows.append(row("bgl.bubble-deadlock", f"runs that deadlock, packets {packets}", source,
                            f"loaded ring of 8, {million(cycles)}", int(earlier), len(stuck), f"of {seeds}", 0,
                            higher_is_better=earlier,
                            reading=f"the paper says that it can happen, not how often; the first one: {stuck[0]}"
                            if stuck else "the same runs with the same seeds"))
    return rows

EXPERIMENTS = {
    "bgl.packet": ("link occupancy of packets of 1 to 8 chunks (a ring, seconds)", packet),
    "bgl.alltoall-512": ("all-to-alls of a midplane (Figure 11; 8x8x8)", alltoall_512),
    "bgl.alltoall-32k": ("use of links in an all-to-all (Figure 6; 16x16x16, full: inside of 32x32x32)", alltoall_32k,
                         lambda keep: alltoall_32k((32, 32, 32), 40, keep)),
    "bgl.alltoall-asymmetric": ("all-to-alls of asymmetric machines (16x8x8, full 32x16x16)", alltoall_asymmetric,
                                lambda keep: alltoall_asymmetric((32, 16, 16), 1, keep)),
    "bgl.hotspot": ("all nodes send into a region (Hot region; 8x8x8)", hotspot),
    "bgl.verification": ("the gap in the receivers' arbitration (4x4x4 and 8x8x1)", verification),
    "bgl.bubble-deadlock": ("the earlier bubble rule and the correct one (rings of 7 and 8, seconds)", bubble_deadlock),
}
