"""Experiments on the S-Connect paper's comparisons: an ideal switch that preserves order (Figure 1), and wormhole and
virtual cut-through routers in networks of 256 nodes (Figures 2 and 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial

from flitlab.experiment import Experiment
from flitlab.reproduction import once, row
from flitlab.runner import run_job
from flitlab.settings import dotted
from flitlab.sweeps import sweep

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"

MESSAGE = 100  # flits; a message time of many cycles makes time nearly continuous
ORGANISATIONS = ("crossbar", "buffer_pool")
LAWS = {"fixed": "list", "variable": "geometric"}
SATURATION = {"fixed": 0.75, "variable": 0.64}
LOADS1 = {"fixed": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), "variable": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
READING1 = (
    f"A message has {MESSAGE} flits, or a geometric length with that mean, which approximates the exponential "
    "distribution of continuous time; rows with other lengths show the limit. An output holds one message, the one in "
    "service; blocked inputs are served first come, first served. A move from input to output takes no time, and the "
    "input's next message can be switched at once. Therefore both structures saturate at the same, published, load, as "
    "the paper says. They differ in the transfer into a buffer: the crossbar stores a message in its input buffer "
    "before it is switched, the pool does not. A crossbar whose inputs carry one message at a time does not match the "
    "paper; its rows show the classical limits.")
READING_POOL = (
    "True by construction: here a crossbar is a pool that each message enters one message time later, which does not "
    "change the order of service.")


def switch(law: str = "fixed", flits: int = MESSAGE, **settings) -> Experiment:
    """Returns an experiment with the ideal 8 x 8 router. Settings: dotted paths, ``__`` for a dot."""
    return Experiment.from_dict(
        {"router.kind": "switch", "traffic.packet_flits": flits, "traffic.packet_length": LAWS[law]}
        | dotted(settings))


def in_messages(flits: int, messages: int) -> dict[str, int]:
    """Returns settings of a run's window, given in message times."""
    return {"run__warmup_cycles": 500 * flits, "run__measure_cycles": messages * flits,
            "run__epoch_cycles": 100 * flits}


def full(e: Experiment, seeds: int = 4) -> float:
    """Returns the accepted load at full offered load, mean of several seeds."""
    always = e.set({"traffic.load": 1.0, "run.drain_cycles": 0})
    results = run_job([always.set("run.seed", seed) for seed in range(1, seeds + 1)])
    return sum(r["accepted"] for r in results) / seeds


def latencies(law: str, messages: int) -> list[tuple[float, ...]]:
    """Returns [load][organisation] mean latency, cycles."""
    return list(zip(*([p["latency_mean"] for p in sweep(
        switch(law, router__organisation=kind, **in_messages(MESSAGE, messages)), {"traffic.load": LOADS1[law]},
        progress=False).rows] for kind in ORGANISATIONS), strict=True))


def figure1(messages: int = 20000) -> list[dict]:
    """Saturation and latency of the crossbar and the buffer pool."""
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
# The router takes one cycle, because with more pipeline stages a channel needs larger buffers to stay busy.
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
    "A hypercube of 8 dimensions, because the paper's own simulations use hypercubes (2.2, 64 nodes); packet lengths "
    "are geometric with mean 10. The paper refers to a thesis for the traffic patterns; here every node offers the "
    f"same load. Hot spot: {100 * HOT:g} % of the packets go to one node, the rest to uniform random nodes; FFT: to a "
    "random node whose number differs in one bit; normal: to a random neighbour in a binomial tree. Dimension-order "
    "routing, deadlock-free with one virtual channel; channels from and to nodes also carry one flit per cycle. "
    "Wormhole: one virtual channel with a buffer of 3 flits, the fewest that keep a channel busy, so a blocked "
    "packet stays spread over its channels. Virtual cut-through: 255 flits, so that the longest packet (160) always "
    "fits. All six curves of a figure have the same load axis, so capacity is one number: the network's throughput for "
    "random traffic, 1 flit per cycle and node, limited by the nodes' channels. The other rows compare with the "
    "maximum for this traffic and routing, given by its busiest channel; if it is below 40 % of capacity, the row is "
    "not judged. Saturation: the highest load, to within 2 % of that maximum, that the network carries for most of "
    "three seeds.")


def network(traffic: str = "random", flow: str = "wormhole", **settings) -> Experiment:
    """Returns an experiment with the 256 nodes of Figures 2 and 3. Settings: dotted paths, ``__`` for a dot."""
    values = {"topology.kind": "hypercube", "topology.dimensions": DIMENSIONS, "traffic.pattern": TRAFFIC[traffic],
              "traffic.packet_flits": 10, "traffic.packet_length": "geometric"} | ROUTER | FLOW[flow]
    if traffic == "hot spot":
        values["traffic.hot_fraction"] = HOT
    return Experiment.from_dict(values | dotted(settings))


def reverse(node: int) -> int:
    return int(f"{node:0{DIMENSIONS}b}"[::-1], 2)


def destinations(traffic: str, node: int) -> dict[int, float]:
    """Returns destination -> fraction of a node's packets."""
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
    lowest = DIMENSIONS if node == 0 else (node & -node).bit_length()  # number of bits up to the lowest set bit
    return {node ^ 1 << k: 1 / lowest for k in range(lowest)}


def channels(node: int, destination: int) -> Iterator[tuple[int, int]]:
    """Yields (router, dimension) along a packet's path, lowest dimension first."""
    for k in range(DIMENSIONS):
        if (node ^ destination) >> k & 1:
            yield node, k
            node ^= 1 << k


@cache
def channel_loads(traffic: str) -> tuple[Counter, Counter]:
    """Returns the flits per cycle at load 1 on channels between routers, with dimension-order routing, and on channels
    to nodes."""
    between: Counter = Counter()
    arriving: Counter = Counter()
    for node in range(NODES):
        for destination, part in destinations(traffic, node).items():
            arriving[destination] += part
            for channel in channels(node, destination):
                between[channel] += part
    return between, arriving


def ideal(traffic: str, dimension_order: bool = True) -> float:
    """Returns the load at which the busiest channel has a flit in every cycle. Channels between routers count only with
    dimension-order routing, because an adaptive router spreads packets; channels from and to nodes always count."""
    between, arriving = channel_loads(traffic)
    return 1 / max(1.0, *arriving.values(), *(between.values() if dimension_order else ()))


def is_carried(e: Experiment, load: float) -> bool:
    """Returns whether the network carries the load: whether runs with two of three seeds are steady. The third seed
    runs only if the first two disagree."""
    def saturated(seeds: tuple[int, ...]) -> int:
        runs = run_job([e.set({"traffic.load": load, "run.seed": s}) for s in seeds])
        return sum(r["verdict"] != "steady" for r in runs)

    of_two = saturated((1, 2))
    return not (of_two if of_two != 1 else saturated((3,)))


@cache
def saturation(traffic: str, flow: str, cycles: int = 4000) -> float:
    """Returns the saturation throughput in flits per cycle and node."""
    e = network(traffic, flow, run__warmup_cycles=3000, run__measure_cycles=cycles, run__drain_cycles=2000)
    low, high = 0.0, ideal(traffic, "adaptive" not in flow)
    step = 0.02 * high
    while high - low > step:
        middle = (low + high) / 2
        if is_carried(e, middle):
            low = middle
        else:
            high = middle
    return low


WHY_FFT = (
    "FFT traffic goes to nodes one hop away, so no packet holds a channel while it waits for another one inside the "
    "network, and wormhole routing carries more. The paper says that wormhole routing generally saturates below 40 % "
    "of capacity, and this pattern is the exception.")
WHY_SHARED = (
    "In dimension order this pattern loads a few channels much more than the others. They limit both kinds of routing, "
    "and wormhole routing fills them nearly as well; with adaptive routing (other rows) cut-through gains much "
    "more. The paper's own router is adaptive, and it does not say how its cut-through routes.")


def figure2(traffics: tuple[str, ...] = tuple(TRAFFIC), cycles: int = 4000) -> list[dict]:
    """Saturation throughput of wormhole routing for six traffic patterns."""
    common = {"experiment": "sconnect.figure2", "source": f"{PAPER}, 2.1, Figure 2", "reading": READING2}
    rows = []
    for traffic in traffics:
        at = once(saturation, traffic, "wormhole", cycles)
        # Traffic patterns that saturate the channels below a load of 40 % do not test the router.
        judged = 0.4 if ideal(traffic) > 0.4 * ideal("random") else None
        rows += [row(quantity="wormhole, saturation throughput", setting=traffic, published=judged,
                     measured=partial(lambda at: at() / ideal("random"), at),
                     unit="of capacity", tolerance=0, lower_is_better=True, why=WHY_FFT, **common),
                 row(quantity="wormhole, saturation throughput", setting=traffic, published=None,
                     measured=partial(lambda at, traffic: at() / ideal(traffic), at, traffic),
                     unit="of this traffic's limit", tolerance=0, **common)]
    return rows


READING3 = (
    READING2 + " More than twice the wormhole throughput is possible only if channels to and from nodes can carry more "
    "than twice as much; otherwise the rows are not judged. Bit reversal and transpose in dimension order are limited "
    "by channels that many nodes share, which wormhole routing fills nearly as well.")
READING6 = (
    READING2 + " Section 6 compares S-Connect's adaptive router with dimension-order wormhole routers of other "
    "machines. Here the adaptive side is minimal adaptive routing with an escape virtual channel and virtual "
    "cut-through. Most of its gain is due to the routing, as the context rows for adaptive wormhole routing show.")
READING_FLIT = (
    READING2 + " In this reading both sides route adaptively, with an escape virtual channel, and a wormhole buffer "
    "holds one flit. A channel then carries a flit in every other cycle at most, because of the credits' round trip.")
SHARED = "random", "FFT", "bit reversal", "transpose"  # traffic patterns for the additional readings


def figure3(traffics: tuple[str, ...] = tuple(TRAFFIC), adaptive: tuple[str, ...] = SHARED,
            cycles: int = 4000) -> list[dict]:
    """Saturation throughput of the networks of Figure 2 with virtual cut-through, compared with wormhole routing, also
    for other readings of the paper."""
    figure = {"experiment": "sconnect.figure3", "source": f"{PAPER}, 2.1, Figure 3", "tolerance": 0}
    section = figure | {"source": f"{PAPER}, 6"}
    rows = []
    for traffic in traffics:
        at, wormhole = saturation(traffic, "cut-through", cycles), saturation(traffic, "wormhole", cycles)
        possible = ideal(traffic, dimension_order=False) / wormhole
        rows += [row(quantity="cut-through, saturation throughput", setting=traffic, published=None,
                     measured=at / ideal("random"), unit="of capacity", reading=READING3, **figure),
                 row(quantity="cut-through over wormhole", setting=traffic, published=2 if possible > 2 else None,
                     measured=at / wormhole, unit="times", higher_is_better=True, reading=READING3,
                     why=WHY_SHARED, **section),
                 row(quantity="limit of the nodes' channels, over wormhole", setting=traffic, published=None,
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
    "sconnect.figure2": ("256 wormhole nodes with six traffic patterns (15 s)", figure2),
    "sconnect.figure3": ("256 virtual cut-through nodes compared with wormhole nodes (65 s)", figure3),
}
