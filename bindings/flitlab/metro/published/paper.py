"""Experiments of the METRO paper: latency of implementations and under load, paths, faults, reclamation, cascading. A
cycle is a clock, a flit a word of a channel."""

from __future__ import annotations

import math
import statistics
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path

from flitlab import metro
from flitlab._core import RunError
from flitlab.experiment import Experiment
from flitlab.metro.published.networks import BYTES, NETWORK3, PAPER, TABLE3, alone, figure1_network, figure3_network
from flitlab.network import Network
from flitlab.over_seeds import student
from flitlab.reproduction import row
from flitlab.runner import run
from flitlab.sweeps import sweep


def table3() -> list[dict]:
    """Table 3: each row is measured with one message through its network."""
    rows = []
    for i in TABLE3:
        measured = alone(i.experiment, 8 * BYTES // i.bits)
        common = {"experiment": "metro.table3", "source": f"{PAPER}, Tables 3 and 4", "setting": i.name, "unit": "ns",
                  "tolerance": 0.0, "check": "the delay of a wire (vtd) is an input, and Table 4 gives the sum"}
        rows += [row(quantity="t_stg", published=i.stage, measured=measured.stage * i.clock, **common),
                 row(quantity="t_20,32", published=i.delivery, measured=measured.delivered * i.clock, **common)]
    return rows


FIGURE3 = ("64 endpoints (4 x 4 x 4; the paper does not give the number). The unloaded latency runs from the first "
           "word on the source's wire to the start of the acknowledgment there. Wires are part of the routers' single "
           "pipeline stage (vtd = 0), as in RN1: 1 header + 20 bytes + TURN + 3 clocks forward + 3 back.")


def unloaded() -> list[dict]:
    """Figure 3: the 28 clocks of the unloaded latency, and their parts."""
    def make(trace: Path) -> Experiment:
        return Experiment.from_dict(NETWORK3 | {"traffic.mode": "trace", "traffic.trace_file": str(trace)})

    measured = alone(make, BYTES)
    header = int(figure3_network().derived()["header_words"])
    common = {"experiment": "metro.unloaded", "source": f"{PAPER}, Figure 3", "setting": "64 endpoints, 20 bytes",
              "unit": "clocks", "tolerance": 0.0}
    at_last = measured.turned[max(measured.turned)]  # clocks until the TURN word is at the router of the last stage
    through = measured.delivered - measured.turned[0]
    parts = {"header": header, "body": BYTES, "TURN": measured.turned[0] + 1 - header - BYTES,
             "TURN through the routers": through, "acknowledgment through the routers":
             measured.acknowledged - (measured.turned[0] + 1) - through}
    rows = [row(quantity="unloaded latency", published=28, measured=measured.acknowledged, reading=FIGURE3,
                check="header, stages and wires are settings, and vtd was set to 0 because the sum is then 28",
                **common)]
    rows += [row(quantity=f"of these: {name}", published=None, measured=clocks, **common)
             for name, clocks in parts.items()]
    if sum(parts.values()) != measured.acknowledged or at_last >= measured.delivered:
        raise RunError(f"the clocks {parts} do not add up to {measured.acknowledged}.")
    return rows


LOADS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # offered load of a processor that is not stalled, words/cycle
# Load at which a processor creates the next message as soon as the last one is acknowledged.
RESTLESS = "no time to work"


def figure3(loads: tuple[float, ...] = LOADS) -> list[dict]:
    """Figure 3: latency against load, with processors that stall until a message is acknowledged. Latency starts at 28
    clocks and rises smoothly with the load."""
    e = figure3_network(endpoint__stalls=True, run__measure_cycles=12000)
    points = sweep(e, {"traffic.load": loads}, progress=False).rows
    restless = run(e.set("endpoint.think_cycles", 0))
    latency = [*(p["latency_mean"] for p in points), restless.latency_cycles.mean]
    through = [*(p["accepted"] for p in points), restless.accepted]
    settings = [*(f"load {load:g}" for load in loads), RESTLESS]
    falls = sum(b < a for a, b in pairwise(latency)) + sum(b < a for a, b in pairwise(through))
    most = max(b / a for a, b in pairwise(latency))
    common = {"experiment": "metro.figure3", "source": f"{PAPER}, Figure 3", "reading": FIGURE3 + READING3}
    return [
        # The experiment metro.unloaded judges the published unloaded latency; here the curve must start at this value.
        row(quantity="latency at almost no load", setting=f"load {loads[0]:g}", published=28, measured=latency[0],
            unit="clocks", tolerance=1, check=True, **common),
        row(quantity="loads at which throughput or latency falls", setting="all", published=0, measured=falls, unit="",
            tolerance=0, check=True, **common),
        row(quantity="most growth of latency from a load to the next", setting="all", published=None, measured=most,
            unit="times", tolerance=0, **common),
        *(row(quantity=f"latency at {u:.3f} words/cycle/endpoint", setting=setting, published=None, measured=t,
              unit="clocks", tolerance=0, **common)
          for setting, u, t in zip(settings, through, latency, strict=True))]


READING3 = (" Processors work for a geometric random time, send a message to a random endpoint, and stall until it is "
            "acknowledged. The paper does not give the time to work; a time of 0 (endpoint.think_cycles = 0) gives the "
            "steep end of the curve. Blocked messages are retried after a random time (endpoint.backoff_cycles), with "
            "fast reclamation. The paper shows the curve only as a picture, so its points are not compared.")


def figure1() -> list[dict]:
    """Figure 1: paths between all pairs, also after the loss of a last-stage router or a link."""
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
            reading="2 leaving links x 2 equivalent ports x 2 x 1 give 8. The paper draws them and says: many.",
            **common),
        row(quantity="most ways between two endpoints", published=None, measured=max(ways), unit="ways", **common),
        row(quantity="routers of the last stage", published=None, measured=len(last), unit="", **common),
        row(quantity="pairs cut off by the loss of a last-stage router", published=0, measured=cut_by_router,
            unit="pairs", check=True, **common),
        row(quantity=f"pairs cut off by the loss of one of {len(links)} links", published=0, measured=cut_by_link,
            unit="pairs", check=True, **common),
        row(quantity=f"pairs cut off by the loss of one of {entries} links into the network", published=0,
            measured=cut_by_entry, unit="pairs", check=True, **common),
        row(quantity="messages not delivered, each of these routers dead in turn", published=0, measured=undelivered,
            unit="messages", **common),
    ]


FRACTIONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2)


def faults(fractions: tuple[float, ...] = FRACTIONS, seeds: int = 4) -> list[dict]:
    """Latency and throughput against the fraction of dead routers, and of dead links."""
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
    return rows + retries(tuple(f for f in (0.05, 0.1, 0.2) if f in fractions), max(1, seeds // 2))


READING_FAULTS = ("The paper says that performance degrades robustly and gives no numbers. Means of several draws of "
                  "dead parts; every endpoint still reaches every other. Dead parts are not announced, so sources find "
                  "paths by retrying; masked: the ports that lead to dead parts are switched off.")


def success(wiring: metro.Wiring, dead: set[int], masked: bool) -> list[float]:
    """Returns the probability that an attempt reaches its destination, for each pair of endpoints. Sources draw a link,
    routers one of the equivalent ports. Masked links and ports, which lead to a dead router, are not drawn."""
    @cache
    def through(router: int, destination: int) -> float:
        if router in dead:
            return 0.0
        ports = [(peer, to_terminal) for peer, to_terminal in wiring.peers[router]
                 if peer is not None and (peer == destination if to_terminal else peer in leads[destination])
                 and not (masked and not to_terminal and peer in dead)]
        return sum(1.0 if end else through(peer, destination) for peer, end in ports) / len(ports) if ports else 0.0

    leads: dict[int, set[int]] = {}
    found = []
    for destination in range(wiring.terminals):
        leads[destination] = {router for source in range(wiring.terminals)
                              for path in wiring.paths(source, destination) for router, _ in path.hops}
        for source in range(wiring.terminals):
            entries = [r for r in wiring.entries[source] if not (masked and r in dead)]
            found.append(sum(through(r, destination) for r in entries) / len(entries))
    return found


def retries(fractions: tuple[float, ...] = (0.05, 0.1, 0.2), seeds: int = 2) -> list[dict]:
    """Attempts per message in a nearly idle network with dead routers, compared with the expected number. That is the
    mean over all pairs of endpoints of 1 / (probability that an attempt reaches its destination)."""
    rows = []
    wiring = metro.Wiring(Network(figure3_network()))
    for masked in (False, True):
        for fraction in fractions:
            tried = expected = 0.0
            for seed in range(1, seeds + 1):
                e = figure3_network(endpoint__stalls=True, traffic__load=0.01, run__seed=seed, faults__seed=seed,
                                    faults__masked=masked, faults__dead_routers=fraction)
                net = Network(e)
                start = net.step(1000).totals
                dead = {r for r in range(len(wiring.names)) if net.inspect("router", r).part("control")["dead"]}
                end = net.step(40000).totals
                tried += (end["attempts"] - start["attempts"]) / (end["packets_delivered"] - start["packets_delivered"])
                ways = success(wiring, dead, masked)
                expected += sum(1 / p for p in ways) / len(ways)
            rows.append(row("metro.faults", "attempts of a message", f"{PAPER}, 6.2",
                            f"{100 * fraction:g} % of routers dead{' and masked' * masked}", expected / seeds,
                            tried / seeds, "attempts", 0.05, check=True, reading=READING_RETRIES))
    return rows


READING_RETRIES = ("Expected: the mean over all pairs of 1 / (probability that a random path has no dead router). "
                   "Load 0.01, so that hardly any attempt is blocked by others; means of several draws.")


def reclamation(seeds: int = 5) -> list[dict]:
    """Fast path reclamation compared with detailed replies of blocked connections, under load."""
    rows = []
    for load in (0.1, 0.4):
        latency = {fast: [run(figure3_network(endpoint__stalls=True, traffic__load=load, router__fast_reclaim=fast,
                                              run__measure_cycles=12000, run__seed=seed)).latency_cycles.mean
                          for seed in range(1, seeds + 1)] for fast in (True, False)}
        common = {"experiment": "metro.reclamation", "source": f"{PAPER}, 5.1, Path Reclamation",
                  "setting": f"load {load:g}", "tolerance": 0}
        rows += [row(quantity=f"latency, {'fast' if fast else 'detailed'}", published=None,
                     measured=statistics.mean(latency[fast]), unit="clocks", **common) for fast in (True, False)]
        ratios = [a / b for a, b in zip(latency[True], latency[False], strict=True)]
        half = student(seeds - 1) * statistics.stdev(ratios) / math.sqrt(seeds)
        rows.append(row(quantity="latency, fast over detailed", published=1, measured=statistics.mean(ratios), unit="",
                        lower_is_better=True, uncertainty=half,
                        reading="The paper says that resources are released rapidly, without a number, so the whole "
                                f"95 % interval must be below 1: +- {half:.4f} over {seeds} seeds.", **common))
    return rows


def cascade(seeds: int = 3) -> list[dict]:
    """Effect of the IN-USE check in pairs of cascaded routers, of which one is faulty and often chooses another port
    than the other."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        faulty = Path(folder) / "slice.csv"
        faulty.write_text("0,misallocate,0.3:1,0.5\n", encoding="utf-8")
        settings = {"router__width": 4, "router__cascade": 2, "traffic__load": 0.2, "run__measure_cycles": 12000,
                    "endpoint__stalls": True}
        for name, more in (("sound", {}), ("a faulty slice", {"faults__file": str(faulty)}),
                           ("a faulty slice, no IN-USE check", {"faults__file": str(faulty),
                                                                "router__in_use_check": False})):
            results = [run(figure3_network(**settings, run__seed=seed, **more)) for seed in range(1, seeds + 1)]
            lost = sum(v for result in results for k, v in result.model.to_dict().items() if k.startswith("lost_"))
            shut = sum(result.model.shut for result in results)
            common = {"experiment": "metro.cascade", "source": f"{PAPER}, 5.1, Router Width Cascading", "setting": name,
                      "tolerance": 0, "reading": f"Sums over {seeds} seeds. " + READING_CASCADE}
            checked = name == "a faulty slice"
            rows += [
                row(quantity="attempts whose answer broke off", published=0 if checked else None, measured=lost,
                    unit="", **common),
                row(quantity="damaged messages accepted", published=0,
                    measured=sum(result.model.accepted_wrong for result in results), unit="messages", check=True,
                    **common),
                row(quantity="connections shut by IN-USE", published=0 if name == "sound" else None, measured=shut,
                    unit="", check=True, **common),
                row(quantity="messages refused by their check", published=None,
                    measured=sum(result.model.refused for result in results), unit="messages", **common),
                row(quantity="throughput", published=None,
                    measured=statistics.mean(result.accepted for result in results), unit="words/cycle/endpoint",
                    **common),
            ]
    return rows


READING_CASCADE = ("The paper says that IN-USE detects a slice that has chosen another port and shuts the connection "
                   "at once. With the check, no answer may break off in the middle; without it, answers do.")


CONTEMPORARIES = (("DEC GIGAswitch", 16000, 16000), ("KSR-1", 3500, 3500), ("CM-5", 1500, 3500),
                  ("INMOS C104", 2500, 2500), ("J-Machine", 660, 1020), ("Caltech MRC", 300, 800),
                  ("Mercury RACE", 500, 500))  # times in ns: the bounds of the ranges in Table 5


CONTEXT = ("The times of the other networks are the paper's estimates; they are not emulated. Above 1, the minimal "
           "gate-array METRO is faster.")


def compare() -> list[dict]:
    """Table 5: time to send 20 bytes between two of 32 processors, over the networks of other machines of that time and
    over METRO."""
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
    "metro.table3": ("16 implementations (Table 3): delay of a stage and of a 20-byte message (5 s)", table3),
    "metro.unloaded": ("the 28 clocks of an unloaded message, and their parts (1 s)", unloaded),
    "metro.figure3": ("latency against load with processors that stall (1 s)", figure3),
    "metro.figure1": ("paths through the 16x16 network, also without a router or a link (1 s)", figure1),
    "metro.faults": ("latency and throughput with dead routers and links (5 s)", faults),
    "metro.reclamation": ("fast path reclamation against detailed replies (1 s)", reclamation),
    "metro.cascade": ("a faulty slice among cascaded routers (1 s)", cascade),
    "metro.compare": ("METRO and the networks of Table 5 (1 s)", compare),
}
