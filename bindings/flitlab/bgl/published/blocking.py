"""Experiments of the paper on Blue Gene/L's torus about packets that block one another: hot spots, verification and the
bubble rule."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from flitlab._core import RunError
from flitlab.bgl.published.torus import (
    FITTED,
    HARDWARE,
    PAPER,
    all_to_all,
    batch,
    follow_batches,
    link_use,
    links_into,
    machine,
    million,
    times,
)
from flitlab.courses import Course, all_delivered, follow
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import once, row
from flitlab.runner import run
from flitlab.settings import dotted

# Settings of the nodes that send to a hot region and receive in it. The paper does not give them.
IN_A_ROW = "all packets to a receiver in a row"
TRIED = {
    "receivers in the order of their numbers": {"traffic.order": "same"},
    "the next receiver first, then round": {"traffic.order": "rotated"},
    IN_A_ROW: {},
    "a packet taken in 95 cycles": {"reception.take_interval": 95},
    "a packet taken in 190 cycles": {"reception.take_interval": 190},
    "twice the software's times": {path: 2 * value for path, value in dotted(HARDWARE).items()},
    "senders begin within 20000 cycles": {"software.start_spread": 20000},
    "links that may spoil packets": {"router.link_protocol": True},
    "token packets charged to packets": {"router.acks": "charged"},
}


def into_region(e: Experiment, each: int) -> tuple[Course, float]:
    """Returns a batch of `each` packets from every node outside a region to every node in it, and a lower bound of its
    duration in cycles. The bound is the load of the links into the region, which carry no token packets, because no
    packets leave the region."""
    shape, extent = e["topology.shape"], e["traffic.hot_shape"]
    receivers = math.prod(extent)
    packets = (math.prod(shape) - receivers) * receivers * each
    least = packets * e.derived()["link_cycles_one_way"] / len(links_into(shape, extent))
    return batch(e, least), least


WHY_REGION = (
    "The paper gives one number for each region, without the number of packets. With more packets the start and the "
    "end cost less, and eight receivers then keep the links into the region busier than the hardware did. Each of the "
    "settings that the paper does not give changes the result by up to a few percent (rows of context).")


def hotspot(shape: tuple[int, ...] = (8, 8, 8), packets: tuple[int, ...] = (10, 40)) -> list[dict]:
    """Rows of traffic from all nodes outside a region to all nodes in it. packets: numbers of packets for each pair of
    sender and receiver."""
    published = {(1, 1, 1): None, (2, 2, 2): 95, (4, 4, 4): 95}
    runs = {}
    for extent, wanted in published.items():
        for each in packets:
            e = machine(shape, traffic__mode="batch", traffic__pattern="all_to_region", traffic__hot_shape=list(extent),
                        traffic__rounds=each, **HARDWARE)
            runs[f"{times(extent)} {each}"] = into_region(e, each)
            if wanted and each == packets[0]:
                for name, settings in TRIED.items():
                    tried = e.set({"traffic.rounds": 1, "traffic.in_a_row": each} if name == IN_A_ROW else settings)
                    runs[f"{times(extent)} {each}, {name}"] = into_region(tried, each)
    measured = once(follow_batches, runs)

    def of(name: str) -> Callable[[], float]:
        return lambda: measured()[name]

    reading = ("the paper does not give the number of packets; with more, start and end cost less; FIFOs of 1 KB, "
               "receivers in random order; nothing leaves the region, so links into it carry no token packets, and a "
               f"packet takes {machine(shape).derived()['link_cycles_one_way']:.0f} byte times of them")
    rows = [row("bgl.hotspot", f"receivers {times(extent)}, {each} packets to each", f"{PAPER}, Hot region",
                times(shape), wanted, of(f"{times(extent)} {each}"), "% of peak", 2, why=WHY_REGION,
                reading=reading if wanted else f"the hardware reached 92 %; {FITTED}, that of "
                                               f"bgl.alltoall-512; {reading}")
            for extent, wanted in published.items() for each in packets]
    return rows + [row("bgl.hotspot", f"receivers {times(extent)}, {packets[0]} packets to each, {name}",
                       f"{PAPER}, Hot region", times(shape), None,
                       of(f"{times(extent)} {packets[0]}, {name}"), "% of peak", 0,
                       reading="settings that the paper does not give, changed one at a time")
                   for extent, wanted in published.items() if wanted for name in TRIED]


def held_chunks(network: Network) -> dict:
    """Returns the number of chunks in the VC buffers of all receivers, as values for a course's samples."""
    nodes = range(int(network.experiment.derived()["routers"]))
    return {"held": sum(vc.flits for n in nodes for port in network.router(n).ports if port.name != "injection"
                        for vc in port.vcs)}


def regimes(shape: tuple[int, ...], seeds: tuple[int, ...] = (1, 2)) -> list[dict]:
    """Rows of the effect of ``router.arbitration_gap`` in the first quarter and in the middle half of an all-to-all in
    which every node sends one packet to each other node."""
    runs = {(seed, gap): all_to_all(shape, router__arbitration_gap=gap, run__seed=seed) for seed in seeds
            for gap in (False, True)}
    courses = {str(key): Course(course.experiment, max(100, round(least / 40)), 4000, all_delivered, held_chunks)
               for key, (course, least) in runs.items()}
    samples = once(lambda: dict(zip(runs, follow(courses).values(), strict=True)))

    def ratio(of: str, begin: float, end: float) -> float:
        parts = {key: s[int(begin * len(s)):int(end * len(s))] for key, s in samples().items()}
        found = {key: link_use(courses[str(key)].experiment, part[0], part[-1]) if of == "use" else
                 statistics.mean(s["held"] for s in part) for key, part in parts.items()}
        return statistics.mean(found[seed, True] / found[seed, False] for seed in seeds)

    rows = []
    for name, begin, end in (("first quarter", 0, 0.25), ("middle half", 0.25, 0.75)):
        common = {"experiment": "bgl.verification", "source": f"{PAPER}, Performance verification", "published": None,
                  "setting": f"{times(shape)}, one packet to each, its {name}", "unit": "times", "tolerance": 0}
        rows += [row(quantity=quantity,
                     measured=partial(ratio, of, begin, end),
                     reading=f"FIFOs full at once, mean of {len(seeds)} seeds", **common)
                 for quantity, of in (("link utilisation with it, over without", "use"),
                                      ("chunks in the VCs with it, over without", "held"))]
    return rows


SATURATES = (
    "The paper's simulations with the gap and without it agree within 2 %. With FIFOs that are always full, the gap "
    "here admits so many packets that buffers stay full and links idle. Up to nine tenths of the links' capacity both "
    "carry the same load (rows of check), with fuller buffers, as the paper says. The paper gives neither the load of "
    "its drivers nor the length of its VHDL simulations; the first quarter of a short all-to-all (rows of context) "
    "explains the difference for 4x4x4, but not for 8x8x1.")
# Cycles between chunks that a node injects, by shape of the torus. The first value offers 86 % of the links' capacity,
# later values offer more; 0: injection FIFOs that are always full.
PACES = {(4, 4, 4): (20, 19, 18, 0), (8, 8, 1): (40, 38, 37, 36, 0)}


def verification(shapes: dict[tuple[int, ...], tuple[int, ...]] | None = None, rounds: int = 20) -> list[dict]:
    """Rows of all-to-alls with and without the gap in the receivers' arbitration. shapes: as in PACES, cycles between
    injected chunks by shape; only runs with the first value and with 0 are compared with the paper."""
    shapes = shapes or PACES
    courses = {}
    for shape, paces in shapes.items():
        for pace in paces:
            for gap in (False, True):
                course, least = all_to_all(shape, rounds=rounds, injection__put_interval=pace,
                                           router__arbitration_gap=gap)
                courses[shape, pace, gap] = Course(course.experiment, max(500, round(least / 100)), 2000,
                                                   all_delivered, held_chunks)
    samples = once(lambda: dict(zip(courses, follow({str(key): c for key, c in courses.items()}).values(),
                                    strict=True)))

    def use(shape: tuple[int, ...], pace: int, gap: bool) -> float:
        series = samples()[shape, pace, gap]
        middle = series[len(series) // 4:-(len(series) // 4)]
        return link_use(courses[shape, pace, gap].experiment, middle[0], middle[-1])

    def held(shape: tuple[int, ...], pace: int, gap: bool) -> float:
        series = samples()[shape, pace, gap]
        middle = series[len(series) // 4:-(len(series) // 4)]
        return statistics.mean(s["held"] for s in middle) / courses[shape, pace, gap].experiment.derived()["channels"]

    def ratio(of: Callable[..., float], shape: tuple[int, ...], pace: int) -> float:
        return of(shape, pace, True) / of(shape, pace, False)

    source, rows = f"{PAPER}, Performance verification", []
    for shape, paces in shapes.items():
        for pace in paces:
            published = 1 if pace in (paces[0], 0) else None
            setting = f"{times(shape)}, {f'a chunk in {pace} cycles' if pace else 'FIFOs always full'}"
            reading = ("the paper does not give the load of its workload drivers" if pace else
                       "the paper does not give the load of its drivers; with FIFOs that are always full the gap "
                       "admits so many packets that the network saturates")
            rows += [
                row("bgl.verification", "link utilisation without the gap", source, setting, None,
                    partial(use, shape, pace, False), "%", 0),
                row("bgl.verification", "link utilisation with it, over without", source, setting, published,
                    partial(ratio, use, shape, pace), "times", 0.02, reading=reading, why=SATURATES,
                    check="below saturation the drivers determine the utilisation" if pace else False),
                row("bgl.verification", "chunks in the VCs with it, over without", source, setting, published,
                    partial(ratio, held, shape, pace), "times", 0, higher_is_better=True,
                    reading="the paper states that they are fuller, not by how much"),
            ]
        rows += regimes(shape)
    return rows


def fragmented_ring() -> list[tuple[int, int, int, int]]:
    """Returns cycle, sender, receiver and chunks of packets that all move in the plus direction in a ring of seven
    nodes whose bubble VCs have buffers of 16 chunks. The arbitration gap lets injected packets enter before packets
    that wait in the ring. In the end each buffer has a blocked packet at its head and a packet of another size behind
    it. Then no buffer has space for eight chunks, although all buffers together have space for 49."""
    start = [(0, 6, 1, 1), (0, 5, 1, 1), (0, 5, 1, 8), (0, 5, 0, 1)] + 6 * [(0, 0, 1, 8)]
    round_the_ring = [(400 + 300 * n, 4 - n, 6 - n, chunks) for n in range(4) for chunks in (8, 1)]
    return start + round_the_ring + 2 * [(1500, 0, 2, 8)]


def deadlock_of(e: Experiment) -> str:
    """Returns the first line of a run's deadlock message; "" if it does not deadlock."""
    try:
        run(e, threads=1)
    except RunError as error:
        if not str(error).startswith("deadlock"):
            raise
        return str(error).splitlines()[0].rstrip(":")
    return ""


def deadlocks(e: Experiment, seeds: int) -> list[str]:
    """Returns the deadlock messages of runs with seeds 1 to `seeds`."""
    found = [deadlock_of(e.set("run.seed", seed)) for seed in range(1, seeds + 1)]
    return [text for text in found if text]


def first_of(stuck: Callable[[], list[str]], acks: str) -> str:
    """Returns a row's text on how the paper was interpreted, with the message of the first deadlock."""
    return (f"{acks}; the paper states that it can happen, not how often; the first one: {stuck()[0]}" if stuck() else
            f"{acks}; the same runs with the same seeds")


# Rings that carry packets of one and of eight chunks: (router.acks, nodes, cycles under load, whether the row is
# judged). One ring is enough to show that deadlock can happen. Of 48 settings tried with token packets, only this ring
# of five deadlocked.
RINGS = (("packets", 5, 1_000_000, True), ("packets", 8, 1_000_000, False), ("charged", 8, 400_000, True))
ACKS = {"packets": "token packets wait for the link, as in the machine",
        "charged": "the time of token packets is charged to every packet, and tokens never wait (router.acks)"}


def bubble_deadlock(seeds: int = 10, rings: Iterable[tuple[str, int, int, bool]] = RINGS) -> list[dict]:
    """Rows of the number of deadlocks in rings whose nodes send packets of one and of eight chunks, with the earlier
    bubble rule and with the correct one. rings: as in RINGS."""
    rules = {"accounted for by size": "actual_size", "accounted for as full": "full_size"}
    source, rows = f"{PAPER}, Torus network", []
    for acks, nodes, cycles, is_judged in rings:
        loaded = machine([nodes], traffic__pattern="tornado", traffic__load=1.0,
                         traffic__packet_flits=[[1, 1], [8, 4]], routing__dynamic=0.0, router__network_first=0.0,
                         run__warmup_cycles=0, run__measure_cycles=cycles, run__drain_cycles=0, run__epoch_cycles=10000,
                         run__watchdog_cycles=10000, router__acks=acks)
        for packets, rule in rules.items():
            earlier = rule == "actual_size"
            stuck = once(deadlocks, loaded.set("router.bubble_rule", rule), seeds)
            setting = f"loaded ring of {nodes}, {million(cycles)}" + ", charged" * (acks == "charged")
            rows.append(row("bgl.bubble-deadlock", f"runs that deadlock, packets {packets}", source, setting,
                            int(earlier) if is_judged else None, partial(lambda stuck: len(stuck()), stuck),
                            f"of {seeds}", 0, higher_is_better=earlier, reading=partial(first_of, stuck, ACKS[acks])))
    return rows + fragmented(rules)


def fragmented(rules: dict[str, str]) -> list[dict]:
    """Rows of the ring of seven nodes from ``fragmented_ring``, in which the free buffer space fragments."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "ring.csv"
        trace.write_text("".join(",".join(map(str, line)) + "\n" for line in fragmented_ring()))
        for packets, rule in rules.items():
            ring = Experiment.from_dict({"router.kind": "bgl", "topology.shape": [7], "traffic.mode": "trace",
                                         "traffic.trace_file": str(trace), "routing.dynamic": 0.0,
                                         "injection.fifos": 1, "router.escape_flits": 16,
                                         "router.arbitration_gap": True, "router.acks": "charged",
                                         "router.bubble_rule": rule})
            earlier, text = rule == "actual_size", deadlock_of(ring)
            network = Network(ring).step(2500)
            room = [network.router(n).ports[0].vcs[2].credits for n in range(7)]
            rows.append(row("bgl.bubble-deadlock", f"runs that deadlock, packets {packets}", f"{PAPER}, Torus network",
                            "fragmented ring of 7, charged", int(earlier), int(bool(text)), "of 1", 0,
                            reading=f"{ACKS['charged']}; constructed so that free space fragments: chunks of room in "
                                    f"the buffers {room}; {text}" if earlier else "the same packets"))
    return rows


EXPERIMENTS = {
    "bgl.hotspot": ("all nodes send into a region (Hot region; 8x8x8)", hotspot),
    "bgl.verification": ("the gap in the receivers' arbitration (4x4x4 and 8x8x1)", verification),
    "bgl.bubble-deadlock": ("the earlier bubble rule and the correct one (rings of 5 to 8, seconds)", bubble_deadlock),
}
