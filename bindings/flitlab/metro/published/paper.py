"""Experiments of the METRO paper: latencies of its implementations, loading, paths, faults, reclamation, cascading. A
cycle is a clock, a flit a word of a channel."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from flitlab import metro
from flitlab._core import RunError
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.runner import run
from flitlab.sweeps import sweep

PAPER = "METRO: A Router Architecture for High-Performance, Short-Haul Routing Networks"
BYTES = 20
START = 10  # cycle in which the message of a quiet network is created


@dataclass(frozen=True)
class Instance:
    """A row of Table 3."""

    name: str
    clock: float  # ns, like all times
    io: float
    stage: float
    delivery: float
    width: int = 4
    cascade: int = 1
    radix: tuple[int, ...] = (2, 2, 2, 4)
    header_words: int = 0
    pipeline: int = 1

    @property
    def bits(self) -> int:
        """Of a channel."""
        return self.width * self.cascade

    @property
    def wire(self) -> int:
        """Table 4: interconnect delay in clocks, with 3 ns of wire."""
        return math.ceil((self.io + 3) / self.clock)

    def equations(self) -> tuple[float, float]:
        """Table 4: t_stg and t_20,32."""
        stages = len(self.radix)
        stage = self.clock * self.pipeline + self.wire * self.clock
        if self.header_words:
            header = self.header_words * self.bits * stages
        else:
            header = math.ceil(sum(int(math.log2(r)) for r in self.radix) / self.width) * self.bits
        return stage, stages * stage + (8 * BYTES + header) * self.clock / self.bits

    def experiment(self, trace: Path) -> Experiment:
        return Experiment.from_dict({
            "router.kind": "metro", "topology.radix": list(self.radix),
            "topology.dilation": [2] * (len(self.radix) - 1) + [1], "topology.wire_delay": self.wire,
            "router.width": self.width, "router.cascade": self.cascade, "router.header_words": self.header_words,
            "router.pipeline_stages": self.pipeline, "endpoint.checksum": "crc32",
            "traffic.mode": "trace", "traffic.trace_file": str(trace)})


EIGHT = (4, 8)
TABLE3 = (
    Instance("METROJR-ORBIT", 25, 10, 50, 1250),
    Instance("METROJR-ORBIT, 2-cascade", 25, 10, 50, 750, cascade=2),
    Instance("METROJR-ORBIT, 4-cascade", 25, 10, 50, 500, cascade=4),
    Instance("METROJR-ORBIT, w = 8", 25, 10, 50, 725, width=8),
    Instance("METROJR, standard cells", 10, 5, 20, 500),
    Instance("METROJR, standard cells, 2-cascade", 10, 5, 20, 300, cascade=2),
    Instance("METROJR, standard cells, 4-cascade", 10, 5, 20, 200, cascade=4),
    Instance("METRO i = o = 8, standard cells", 10, 5, 20, 460, radix=EIGHT),
    Instance("METROJR, full custom", 5, 3, 15, 270),
    Instance("METRO i = o = 8, full custom", 5, 3, 15, 240, radix=EIGHT),
    Instance("METROJR, full custom, dp = 2", 2, 3, 10, 124, pipeline=2),
    Instance("METROJR, full custom, hw = 1", 2, 3, 8, 120, header_words=1),
    Instance("METROJR, full custom, hw = 1, 2-cascade", 2, 3, 8, 80, cascade=2, header_words=1),
    Instance("METROJR, full custom, hw = 1, w = 8", 2, 3, 8, 80, width=8, header_words=1),
    Instance("METRO i = o = 8, full custom, hw = 2", 2, 3, 8, 104, radix=EIGHT, header_words=2),
    Instance("METRO i = o = 8, full custom, hw = 2, 4-cascade", 2, 3, 8, 44, cascade=4, radix=EIGHT, header_words=2),
)


@dataclass(frozen=True)
class Alone:
    """A message in an empty network, in clocks from its first word on the wire."""

    delivered: int  # to the end of its last word at the destination
    acknowledged: int  # to the start of the acknowledgment on the source's wire
    turned: dict[int, int]  # to TURN at the router of each stage


def alone(make: Callable[[Path], Experiment], words: int, source: int = 3, destination: int = 17) -> Alone:
    """Sends one message of so many words. ``make`` builds the experiment for the name of its trace."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "one.csv"
        trace.write_text(f"{START},{source},{destination},{words}\n", encoding="utf-8")
        net = Network(make(trace))
        delivered, turned = 0, {}
        while not net.totals["packets_delivered"]:
            net.step()
            clock = net.cycle - 1 - (START + 1)  # the one that has just been worked off
            if not delivered and net.totals["messages_accepted"]:
                delivered = clock  # TURN, on which the destination decides, comes one clock after the last word
            for r in range(int(net.experiment.derived()["routers"])):
                router = net.router(r)
                if any(port.vcs[0].stage == "reverse" for port in router.ports):
                    turned.setdefault(int(router.name.split(".")[0]), clock)
        return Alone(delivered, net.totals["latency_sum"], turned)


def table3() -> list[dict]:
    """Each row from Table 4's equations, and from the same message through the same network."""
    rows = []
    for i in TABLE3:
        stage, delivery = i.equations()
        measured = alone(i.experiment, 8 * BYTES // i.bits)
        apart = {b - a for a, b in pairwise(measured.turned[s] for s in sorted(measured.turned))}
        if len(apart) != 1:
            raise RunError(f"{i.name}: stages are {sorted(apart)} clocks apart, and should be as far as one another.")
        common = {"experiment": "metro.table3", "source": f"{PAPER}, Tables 3 and 4", "setting": i.name, "unit": "ns",
                  "tolerance": 0.0}
        rows += [row(quantity="t_stg, equations", published=i.stage, measured=stage, **common),
                 row(quantity="t_stg, emulated", published=i.stage, measured=apart.pop() * i.clock, **common),
                 row(quantity="t_20,32, equations", published=i.delivery, measured=delivery, **common),
                 row(quantity="t_20,32, emulated", published=i.delivery, measured=measured.delivered * i.clock,
                     **common)]
    return rows


NETWORK3 = {"router.kind": "metro", "topology.radix": [4, 4, 4], "topology.dilation": [2, 2, 1],
            "endpoint.checksum": "crc32"}


def dotted(settings: dict) -> dict:
    return {key.replace("__", "."): value for key, value in settings.items()}


def figure3_network(**settings) -> Experiment:
    """The network of Figure 3: 8-bit routers of radix 4, two links each way. Settings are dotted paths, with ``__``."""
    return Experiment.from_dict(NETWORK3 | {"traffic.packet_flits": BYTES} | dotted(settings))


FIGURE3 = ("64 endpoints (4 x 4 x 4; the paper does not say how many). The unloaded latency is from the first word on "
           "the source's wire to the start of the acknowledgment there, wires being part of the routers' single "
           "pipeline stage (vtd = 0), as in RN1: 1 header + 20 bytes + TURN + 3 clocks forward + 3 back.")


def unloaded() -> list[dict]:
    """The 28 clocks of Figure 3, and where they go."""
    def make(trace: Path) -> Experiment:
        return Experiment.from_dict(NETWORK3 | {"traffic.mode": "trace", "traffic.trace_file": str(trace)})

    measured = alone(make, BYTES)
    header = int(figure3_network().derived()["header_words"])
    common = {"experiment": "metro.unloaded", "source": f"{PAPER}, Figure 3", "setting": "64 endpoints, 20 bytes",
              "unit": "clocks", "tolerance": 0.0}
    at_last = measured.turned[max(measured.turned)]  # clocks before TURN is at the last stage's router
    through = measured.delivered - measured.turned[0]
    parts = {"header": header, "body": BYTES, "TURN": measured.turned[0] + 1 - header - BYTES,
             "TURN through the routers": through, "acknowledgment through the routers":
             measured.acknowledged - (measured.turned[0] + 1) - through}
    rows = [row(quantity="unloaded latency", published=28, measured=measured.acknowledged, reading=FIGURE3, **common)]
    rows += [row(quantity=f"of these: {name}", published=None, measured=clocks, **common)
             for name, clocks in parts.items()]
    if sum(parts.values()) != measured.acknowledged or at_last >= measured.delivered:
        raise RunError(f"the clocks {parts} do not add up to {measured.acknowledged}.")
    return rows


LOADS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # of a processor that does not stall, words/cycle


def figure3(loads: tuple[float, ...] = LOADS) -> list[dict]:
    """Latency against loading with processors that stall: 28 clocks at the beginning, then a smooth rise."""
    e = figure3_network(endpoint__stalls=True, run__measure_cycles=12000)
    points = sweep(e, {"traffic.load": loads}, progress=False).rows
    latency = [p["latency_mean"] for p in points]
    through = [p["accepted"] for p in points]
    falls = sum(b < a for a, b in pairwise(latency))
    most = max(b / a for a, b in pairwise(latency))
    common = {"experiment": "metro.figure3", "source": f"{PAPER}, Figure 3", "reading": FIGURE3 + READING3}
    return [
        row(quantity="latency at almost no load", setting=f"load {loads[0]:g}", published=28, measured=latency[0],
            unit="clocks", tolerance=1, **common),
        row(quantity="loads at which latency falls", setting="all", published=0, measured=falls, unit="", tolerance=0,
            **common),
        row(quantity="most growth of latency from a load to the next", setting="all", published=None, measured=most,
            unit="times", tolerance=0, **common),
        *(row(quantity=f"latency at {u:.3f} words/cycle/endpoint", setting=f"load {load:g}", published=None, measured=t,
              unit="clocks", tolerance=0, **common)
          for load, u, t in zip(loads, through, latency, strict=True))]


READING3 = (" Processors draw a time to work from a geometric law, send a message to a random endpoint, and stall"
            " until it has been acknowledged; blocked ones try again after a random time "
            "(endpoint.backoff_cycles), with fast reclamation. The curve itself is a picture in the paper, so its"
            " points are not compared.")


def figure1_network(**settings) -> Experiment:
    """The network of Figure 1: 16 endpoints, two stages of 4x2 routers of dilation 2 and one of 4x4 routers."""
    return Experiment.from_dict({"router.kind": "metro", "topology.radix": [2, 2, 4], "topology.dilation": [2, 2, 1],
                                 "router.width": 4, "endpoint.checksum": "crc32", "traffic.packet_flits": 40}
                                | dotted(settings))


def figure1() -> list[dict]:
    """Ways between all pairs, and what is left of them without a router of the last stage or any link."""
    net = Network(figure1_network())
    wiring = metro.Wiring(net)
    ways = [len(list(wiring.paths(s, d))) for s in range(16) for d in range(16)]
    last = [r for r, name in enumerate(wiring.names) if name.startswith("2.")]
    links = {hop for s in range(16) for d in range(16) for path in wiring.paths(s, d) for hop in path.hops}
    entries = sum(len(routers) for routers in wiring.entries)
    cut_by_entry = sum(all(path.link == lost for path in wiring.paths(s, d))
                       for s in range(16) for lost in range(len(wiring.entries[s])) for d in range(16))
    cut_by_router = max(wiring.cut_off(dead_router=r) for r in last)
    cut_by_link = max(wiring.cut_off(dead_hop=hop) for hop in links)
    undelivered = 0
    for r in last:
        with tempfile.TemporaryDirectory() as folder:
            faults = Path(folder) / "dead.csv"
            faults.write_text(f"0,dead,{wiring.names[r]}\n", encoding="utf-8")
            result = run(figure1_network(faults__file=str(faults), traffic__mode="batch",
                                         traffic__pattern="all_to_all", traffic__rounds=1))
        undelivered += result.packets.created - result.packets.delivered
    common = {"experiment": "metro.figure1", "source": f"{PAPER}, Figure 1; 5.1, Configurable Dilation",
              "setting": "16 endpoints", "tolerance": 0}
    return [
        row(quantity="fewest ways between two endpoints", published=None, measured=min(ways), unit="ways",
            reading="2 links into the network x 2 equivalent ports x 2 x 1 make 8: the paper says many and draws them.",
            **common),
        row(quantity="most ways between two endpoints", published=None, measured=max(ways), unit="ways", **common),
        row(quantity="routers of the last stage", published=None, measured=len(last), unit="", **common),
        row(quantity="pairs cut off by the loss of a last-stage router", published=0, measured=cut_by_router,
            unit="pairs", **common),
        row(quantity=f"pairs cut off by the loss of one of {len(links)} links", published=0, measured=cut_by_link,
            unit="pairs", **common),
        row(quantity=f"pairs cut off by the loss of one of {entries} links into the network", published=0,
            measured=cut_by_entry, unit="pairs", **common),
        row(quantity="messages not delivered, each of these routers dead in turn", published=0, measured=undelivered,
            unit="messages", **common),
    ]


FRACTIONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2)


def faults(fractions: tuple[float, ...] = FRACTIONS, seeds: int = 4) -> list[dict]:
    """Latency and throughput against the part of the routers, and of the links, that are dead."""
    rows = []
    for what, masked in (("routers", False), ("links", False), ("routers", True)):
        latency, through = [], []
        for fraction in fractions:
            results = [run(figure3_network(endpoint__stalls=True, traffic__load=0.2, run__measure_cycles=6000,
                                           run__seed=seed, faults__seed=seed, faults__masked=masked)
                           .set(f"faults.dead_{what}", fraction)) for seed in range(1, seeds + 1)]
            latency.append(sum(r.latency_cycles.mean for r in results) / seeds)
            through.append(sum(r.accepted for r in results) / seeds)
        common = {"experiment": "metro.faults", "source": f"{PAPER}, 6.2", "tolerance": 0, "reading": READING_FAULTS}
        name = f"{what} dead{' and masked' * masked}"
        for f, t, u in zip(fractions, latency, through, strict=True):
            setting = f"{100 * f:g} % of {name}"
            rows += [row(quantity="latency", setting=setting, published=None, measured=t, unit="clocks", **common),
                     row(quantity="throughput", setting=setting, published=None, measured=u,
                         unit="words/cycle/endpoint", **common)]
        cliffs = sum(b < 0.75 * a for a, b in pairwise(through))
        rows.append(row(quantity="steps that take more than a quarter of the throughput", setting=name, published=0,
                        measured=cliffs, unit="", **common))
    return rows


READING_FAULTS = ("The paper says that performance degrades robustly and gives no numbers. Dead parts are drawn so that"
                  " everybody still reaches everybody, means of several draws. Nobody is told of them, sources find "
                  "ways by trying; masked: the ports that lead to them are switched off.")


def reclamation() -> list[dict]:
    """Fast path reclamation against detailed replies, under load."""
    rows = []
    for load in (0.1, 0.4):
        mean = {}
        for fast in (True, False):
            e = figure3_network(endpoint__stalls=True, traffic__load=load, router__fast_reclaim=fast,
                                run__measure_cycles=12000)
            result = run(e)
            mean[fast] = result.latency_cycles.mean
            rows.append(row("metro.reclamation", "latency", f"{PAPER}, 5.1, Path Reclamation",
                            f"load {load:g}, {'fast' if fast else 'detailed'}", None, mean[fast], "clocks", 0))
        rows.append(row("metro.reclamation", "latency, fast over detailed", f"{PAPER}, 5.1, Path Reclamation",
                        f"load {load:g}", 1, mean[True] / mean[False], "", 0, lower_is_better=True,
                        reading="The paper says that resources are released rapidly, without a number: fast must be "
                                "better."))
    return rows


def cascade() -> list[dict]:
    """A slice that often chooses another port than the one that it is cascaded with."""
    with tempfile.TemporaryDirectory() as folder:
        faulty = Path(folder) / "slice.csv"
        faulty.write_text("0,misallocate,0.3:1,0.5\n", encoding="utf-8")
        settings = {"router__width": 4, "router__cascade": 2, "traffic__load": 0.2, "run__measure_cycles": 12000,
                    "endpoint__stalls": True}
        sound, bad, unchecked = (run(figure3_network(**settings | more)) for more in (
            {}, {"faults__file": str(faulty)}, {"faults__file": str(faulty), "router__in_use_check": False}))
    common = {"experiment": "metro.cascade", "source": f"{PAPER}, 5.1, Router Width Cascading"}
    rows = []
    for name, result in (("sound", sound), ("a faulty slice", bad), ("a faulty slice, no IN-USE check", unchecked)):
        rows += [
            row(quantity="damaged messages accepted", setting=name, published=0, measured=result.model.accepted_wrong,
                unit="messages", tolerance=0, **common),
            row(quantity="connections shut by IN-USE", setting=name, published=0 if name == "sound" else None,
                measured=result.model.shut, unit="", tolerance=0, **common),
            row(quantity="messages refused by their check", setting=name, published=0 if name == "sound" else None,
                measured=result.model.refused, unit="", tolerance=0, **common),
            row(quantity="attempts whose answer broke off", setting=name, published=0 if name == "sound" else None,
                measured=sum(v for k, v in result.model.to_dict().items() if k.startswith("lost_")), unit="",
                tolerance=0, **common),
            row(quantity="throughput", setting=name, published=None, measured=result.accepted,
                unit="words/cycle/endpoint", tolerance=0, **common),
        ]
    return rows


CONTEMPORARIES = (("DEC GIGAswitch", 16000, 16000), ("KSR-1", 3500, 3500), ("CM-5", 1500, 3500),
                  ("INMOS C104", 2500, 2500), ("J-Machine", 660, 1020), ("Caltech MRC", 300, 800),
                  ("Mercury RACE", 500, 500))  # ns, ranges in Table 5


CONTEXT = ("The others' times are the paper's estimates, and nothing of them is emulated. Above 1 the minimal "
           "gate-array METRO is faster.")


def compare() -> list[dict]:
    """Table 5: the same 20 bytes among 32 processors, over its contemporaries' networks and over METRO's."""
    ours = {i.name: alone(i.experiment, 8 * BYTES // i.bits).delivered * i.clock
            for i in (TABLE3[0], TABLE3[4], TABLE3[-1])}
    common = {"experiment": "metro.compare", "source": f"{PAPER}, Table 5", "published": None, "tolerance": 0}
    rows = [row(quantity="t_20,32, emulated", setting=name, measured=t, unit="ns", **common)
            for name, t in ours.items()]
    for name, low, high in CONTEMPORARIES:
        published = f"{low} ns" if low == high else f"{low} to {high} ns"
        rows.append(row(quantity=f"{name} ({published}) over METROJR-ORBIT", setting="t_20,32, upper end",
                        measured=high / ours[TABLE3[0].name], unit="times", reading=CONTEXT, **common))
    return rows


EXPERIMENTS = {
    "metro.table3": ("16 implementations by Table 4's equations and in the emulator (5 s)", table3),
    "metro.unloaded": ("the 28 clocks of a message alone, and where they go (1 s)", unloaded),
    "metro.figure3": ("latency against load with processors that stall (1 s)", figure3),
    "metro.figure1": ("ways through the 16x16 network, all and with a router or link lost (1 s)", figure1),
    "metro.faults": ("latency and throughput with dead routers and links (5 s)", faults),
    "metro.reclamation": ("fast path reclamation against detailed replies (1 s)", reclamation),
    "metro.cascade": ("a faulty slice among cascaded routers (1 s)", cascade),
    "metro.compare": ("Table 5's contemporaries beside METRO (1 s)", compare),
}
