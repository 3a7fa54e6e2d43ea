"""What the S-Connect paper compares its router with: an ideal switch that preserves order (Figure 1), and wormhole
against virtual cut-through routers in networks of 256 nodes (Figures 2 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial

from flitlab.experiment import Experiment
from flitlab.reproduction import once, row
from flitlab.runner import run_job
from flitlab.sweeps import sweep

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"

MESSAGE = 100  # flits: a message time is so many cycles, so that time is nearly continuous
ORGANISATIONS = ("crossbar", "buffer_pool")
LAWS = {"fixed": "list", "variable": "geometric"}
SATURATION = {"fixed": 0.75, "variable": 0.64}
LOADS1 = {"fixed": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), "variable": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
READING1 = (
    f"A message is {MESSAGE} flits long, or geometric with that mean, which stands for the exponential law of "
    "continuous time; the rows with other lengths show the limit. An output holds one message, the one in service; "
    "blocked inputs are served first come, first served. A move from input to output takes no time, and the input's "
    "next message can be switched at once: so both structures saturate alike, as the paper says, at the published "
    "numbers. They differ in the transfer into a buffer: the crossbar stores a message in its input's buffer before it "
    "is switched, the pool does not. A crossbar whose inputs carry one message at a time would not do: its rows are "
    "the classical limits.")
READING_POOL = (
    "So by construction: here a crossbar is a pool that each message enters a message time later, which changes "
    "nothing of who waits for whom.")


def switch(law: str = "fixed", flits: int = MESSAGE, **settings) -> Experiment:
    """The ideal 8 x 8 router. Settings are dotted paths, with ``__``."""
    return Experiment.from_dict(
        {"router.kind": "switch", "traffic.packet_flits": flits, "traffic.packet_length": LAWS[law]}
        | {key.replace("__", "."): value for key, value in settings.items()})


def in_messages(flits: int, messages: int) -> dict[str, int]:
    """A run's window, in message times."""
    return {"run__warmup_cycles": 500 * flits, "run__measure_cycles": messages * flits,
            "run__epoch_cycles": 100 * flits}


def full(e: Experiment, seeds: int = 4) -> float:
    """What is accepted when there is always something to send, mean of several seeds."""
    always = e.set({"traffic.load": 1.0, "run.drain_cycles": 0})
    results = run_job([always.set("run.seed", seed) for seed in range(1, seeds + 1)])
    return sum(r["accepted"] for r in results) / seeds


def latencies(law: str, messages: int) -> list[tuple[float, ...]]:
    """Mean latency of each organisation at each load, cycles."""
    return list(zip(*([p["latency_mean"] for p in sweep(
        switch(law, router__organisation=kind, **in_messages(MESSAGE, messages)), {"traffic.load": LOADS1[law]},
        progress=False).rows] for kind in ORGANISATIONS), strict=True))


def figure1(messages: int = 20000) -> list[dict]:
    """Saturation and latency of the crossbar and of the buffer pool."""
    common = {"experiment": "sconnect.figure1", "source": f"{PAPER}, 2, Figure 1", "reading": READING1}
    rows = []
    saturation = {}
    for law, published in SATURATION.items():
        for kind in ORGANISATIONS:
            e = switch(law, router__organisation=kind, **in_messages(MESSAGE, messages))
            saturation[kind] = once(full, e, seeds=16)
            rows.append(row(quantity="saturation throughput", setting=f"{kind}, {law}", published=published,
                            measured=saturation[kind], unit="of capacity", tolerance=0.005, **common))
        rows.append(row(quantity="saturation, pool less crossbar", setting=law, published=0,
                        measured=lambda: saturation["buffer_pool"]() - saturation["crossbar"](), unit="of capacity",
                        tolerance=0.005, check=True, **common | {"reading": READING_POOL}))
        pairs = once(latencies, law, messages // 2)
        rows.append(row(quantity="loads at which the pool's latency is not below the crossbar's", setting=law,
                        published=0, unit="loads", tolerance=0,
                        measured=partial(lambda pairs: sum(not pool < bar for bar, pool in pairs()), pairs), check=True,
                        **common | {"reading": READING_POOL}))
        rows += [row(quantity="latency", setting=f"{kind}, {law}, load {load:g}", published=None,
                     measured=partial(lambda pairs, i, k: pairs()[i][k] / MESSAGE, pairs, i, k), unit="messages",
                     tolerance=0, **common)
                 for i, load in enumerate(LOADS1[law]) for k, kind in enumerate(ORGANISATIONS)]
        rows += [row(quantity="saturation throughput", setting=f"{law}, {flits} flits", published=None,
                     measured=once(full, switch(law, flits, **in_messages(flits, messages))), unit="of capacity",
                     tolerance=0, **common)
                 for flits in (4, 20, 250)]
        rows.append(row(quantity="saturation, inputs carrying one message at a time", setting=law, published=None,
                        measured=once(full, switch(law, router__input_release="tail",
                                                   **in_messages(MESSAGE, messages))),
                        unit="of capacity", tolerance=0, **common))
    slots = once(full, switch("fixed", 1, **in_messages(1, 100000)))
    rows.append(row("sconnect.figure1", "saturation throughput", "Karol, Hluchyj, Morgan 1987, Table I",
                    "messages of one slot", 0.6184, slots, "of capacity", 0.003, reading=READING1))
    return rows


NODES = 256
DIMENSIONS = 8
HOT = 0.01
# A router cycle of one clock: with more stages the smallest buffer that keeps a channel busy would be larger.
ROUTER = {"router.kind": "vc", "router.routing_delay": 0, "router.vc_allocation_delay": 0,
          "router.switch_allocation_delay": 1, "router.switch_traversal_delay": 0, "router.credit_delay": 1}
FLOW = {
    "wormhole": {"router.flow_control": "wormhole", "router.vcs": 1, "router.buffer_flits": 3},
    "cut-through": {"router.flow_control": "virtual_cut_through", "router.vcs": 1, "router.buffer_flits": 255},
    "adaptive wormhole": {"router.flow_control": "wormhole", "router.vcs": 2, "router.buffer_flits": 3,
                          "routing.algorithm": "minimal_adaptive"},
    "adaptive wormhole, a flit": {"router.flow_control": "wormhole", "router.vcs": 2, "router.buffer_flits": 1,
                                  "routing.algorithm": "minimal_adaptive"},
    "adaptive cut-through": {"router.flow_control": "virtual_cut_through", "router.vcs": 2, "router.buffer_flits": 255,
                             "routing.algorithm": "minimal_adaptive"},
}
TRAFFIC = {"random": "uniform", "hot spot": "hot_spot", "FFT": "fft", "bit reversal": "bit_reverse",
           "transpose": "transpose", "normal": "divide"}
READING2 = (
    "A hypercube of 8 dimensions, as the paper's own simulations are of hypercubes (2.2, of 64 nodes); lengths "
    "geometric with mean 10. The paper leaves the traffics to a thesis; here every node offers the same load. Hot "
    f"spot: {100 * HOT:g} % of the packets go to one node, the rest anywhere; FFT: to a node whose number differs in "
    "one bit, any; normal: to a neighbour in a binomial tree, any. Dimension-order routing, free of deadlock with one "
    "virtual channel; one flit a cycle on channels from and to nodes too. Wormhole: one virtual channel with a buffer "
    "of 3 flits, the fewest that keep a channel busy: the channels are the buffers. Virtual cut-through: 255 flits, so "
    "that the longest packet (160) always fits. The load of all six curves of a figure has one scale, so capacity is "
    "one number: what the network can carry of random traffic, 1 flit a cycle and node, the nodes' channels being the "
    "limit. The other rows compare with what this traffic could reach at most under this routing, by the load of its "
    "busiest channel; where that is below 40 % of capacity, nothing is judged. Saturation: the highest load, within "
    "2 % of that, at which most of three seeds keep up.")


def network(traffic: str = "random", flow: str = "wormhole", **settings) -> Experiment:
    """256 nodes of Figures 2 and 3. Settings are dotted paths, with ``__``."""
    values = {"topology.kind": "hypercube", "topology.dimensions": DIMENSIONS, "traffic.pattern": TRAFFIC[traffic],
              "traffic.packet_flits": 10, "traffic.packet_length": "geometric"} | ROUTER | FLOW[flow]
    if traffic == "hot spot":
        values["traffic.hot_fraction"] = HOT
    return Experiment.from_dict(values | {key.replace("__", "."): value for key, value in settings.items()})


def reverse(node: int) -> int:
    return int(f"{node:0{DIMENSIONS}b}"[::-1], 2)


def destinations(traffic: str, node: int) -> dict[int, float]:
    """Where a node's packets go, and which part of them."""
    if traffic == "random":
        return dict.fromkeys(range(NODES), 1 / NODES)
    if traffic == "hot spot":
        return {d: (1 - HOT) / NODES + HOT * (d == 0) for d in range(NODES)}
    if traffic == "FFT":
        return {node ^ 1 << k: 1 / DIMENSIONS for k in range(DIMENSIONS)}
    if traffic == "bit reversal":
        return {reverse(node): 1.0}
    if traffic == "transpose":
        half = DIMENSIONS // 2
        return {node >> half | (node << half) % NODES: 1.0}
    lowest = DIMENSIONS if node == 0 else (node & -node).bit_length()  # bits up to the lowest that is set
    return {node ^ 1 << k: 1 / lowest for k in range(lowest)}


def channels(node: int, destination: int) -> Iterator[tuple[int, int]]:
    """(router, dimension) along a packet's way, lowest dimension first."""
    for k in range(DIMENSIONS):
        if (node ^ destination) >> k & 1:
            yield node, k
            node ^= 1 << k


@cache
def channel_loads(traffic: str) -> tuple[Counter, Counter]:
    """Flits per cycle at load 1 on channels between routers, with dimension-order routing, and on those to nodes."""
    between: Counter = Counter()
    arriving: Counter = Counter()
    for node in range(NODES):
        for destination, part in destinations(traffic, node).items():
            arriving[destination] += part
            for channel in channels(node, destination):
                between[channel] += part
    return between, arriving


def ideal(traffic: str, dimension_order: bool = True) -> float:
    """Load at which the busiest channel has a flit in every cycle: one between routers, if packets go in dimension
    order (an adaptive router would spread them), or one from or to a node."""
    between, arriving = channel_loads(traffic)
    return 1 / max(1.0, *arriving.values(), *(between.values() if dimension_order else ()))


def keeps_up(e: Experiment, load: float) -> bool:
    """Whether most of three seeds are steady; the third is run only if the others disagree."""
    def saturated(seeds: tuple[int, ...]) -> int:
        runs = run_job([e.set({"traffic.load": load, "run.seed": s}) for s in seeds])
        return sum(r["verdict"] != "steady" for r in runs)

    of_two = saturated((1, 2))
    return not (of_two if of_two != 1 else saturated((3,)))


@cache
def saturation(traffic: str, flow: str, cycles: int = 4000) -> float:
    """Saturation throughput in flits per cycle and node."""
    e = network(traffic, flow, run__warmup_cycles=3000, run__measure_cycles=cycles, run__drain_cycles=2000)
    low, high = 0.0, ideal(traffic, "adaptive" not in flow)
    step = 0.02 * high
    while high - low > step:
        middle = (low + high) / 2
        if keeps_up(e, middle):
            low = middle
        else:
            high = middle
    return low


def figure2(traffics: tuple[str, ...] = tuple(TRAFFIC), cycles: int = 4000) -> list[dict]:
    """Where wormhole routing saturates under six traffics."""
    common = {"experiment": "sconnect.figure2", "source": f"{PAPER}, 2.1, Figure 2", "reading": READING2}
    rows = []
    for traffic in traffics:
        at = once(saturation, traffic, "wormhole", cycles)
        # A traffic that cannot load the network so much says nothing of the router.
        judged = 0.4 if ideal(traffic) > 0.4 * ideal("random") else None
        rows += [row(quantity="wormhole, saturation throughput", setting=traffic, published=judged,
                     measured=partial(lambda at: at() / ideal("random"), at),
                     unit="of capacity", tolerance=0, lower_is_better=True, **common),
                 row(quantity="wormhole, saturation throughput", setting=traffic, published=None,
                     measured=partial(lambda at, traffic: at() / ideal(traffic), at, traffic),
                     unit="of this traffic's limit", tolerance=0, **common)]
    return rows


READING3 = (
    READING2 + " More than twice the wormhole's throughput can only be had where channels to and from nodes carry more "
    "than twice as much; where they do not, the rows are not judged. Bit reversal and transpose in dimension order are "
    "limited by channels that many nodes share, which wormholes fill nearly as well.")
READING6 = (
    READING2 + " Section 6 compares S-Connect's own router, which routes adaptively, with that of machines whose "
    "wormholes go in dimension order: the one side is minimal adaptive routing with a second virtual channel to escape "
    "on and virtual cut-through. Most of what it gains is the routing's, as rows of context against an adaptive "
    "wormhole show.")
READING_FLIT = (
    READING2 + " In this reading both sides route adaptively, with a second virtual channel to escape on, and a "
    "wormhole's buffer is one flit: a channel then carries a flit in every other cycle at the most, as credits go to "
    "and fro.")
SHARED = "random", "FFT", "bit reversal", "transpose"  # traffics of the readings side by side


def figure3(traffics: tuple[str, ...] = tuple(TRAFFIC), adaptive: tuple[str, ...] = SHARED,
            cycles: int = 4000) -> list[dict]:
    """The same networks with virtual cut-through, beside wormhole; then in other readings."""
    figure = {"experiment": "sconnect.figure3", "source": f"{PAPER}, 2.1, Figure 3", "tolerance": 0}
    section = figure | {"source": f"{PAPER}, 6"}
    rows = []
    for traffic in traffics:
        at, wormhole = saturation(traffic, "cut-through", cycles), saturation(traffic, "wormhole", cycles)
        possible = ideal(traffic, dimension_order=False) / wormhole
        rows += [row(quantity="cut-through, saturation throughput", setting=traffic, published=None,
                     measured=at / ideal("random"), unit="of capacity", reading=READING3, **figure),
                 row(quantity="cut-through over wormhole", setting=traffic, published=2 if possible > 2 else None,
                     measured=at / wormhole, unit="times", higher_is_better=True, reading=READING3, **section),
                 row(quantity="most that nodes' channels allow, over wormhole", setting=traffic, published=None,
                     measured=possible, unit="times", reading=READING3, **section)]
    for traffic in adaptive:
        at, wormhole = saturation(traffic, "adaptive cut-through", cycles), saturation(traffic, "wormhole", cycles)
        possible = ideal(traffic, dimension_order=False) / wormhole
        rows += [row(quantity="adaptive cut-through, saturation throughput", setting=traffic, published=None,
                     measured=at / ideal("random"), unit="of capacity", reading=READING6, **figure),
                 row(quantity="adaptive cut-through over wormhole", setting=traffic,
                     published=2 if possible > 2 else None, measured=at / wormhole, unit="times",
                     higher_is_better=True, reading=READING6, **section)]
        for flow, reading in (("adaptive wormhole", READING6), ("adaptive wormhole, a flit", READING_FLIT)):
            worm = saturation(traffic, flow, cycles)
            rows += [row(quantity=f"{flow}, saturation throughput", setting=traffic, published=None,
                         measured=worm / ideal("random"), unit="of capacity", reading=reading, **figure),
                     row(quantity=f"adaptive cut-through over {flow}", setting=traffic, published=None,
                         measured=at / worm, unit="times", reading=reading, **section)]
    return rows


EXPERIMENTS = {
    "sconnect.figure1": ("an ideal switch: fixed and variable lengths, crossbar and buffer pool (15 s)", figure1),
    "sconnect.figure2": ("256 wormhole nodes under six traffics (15 s)", figure2),
    "sconnect.figure3": ("256 virtual cut-through nodes beside them (65 s)", figure3),
}
