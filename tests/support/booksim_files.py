"""Random configuration files of BookSim 2 over the parameters that flitlab reads: for a comparison of the programs
(tests/perf/compare_booksim.py --random), and for a test of flitlab-booksim alone."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Values: TypeAlias = "dict[str, int | float | str]"
Draw: TypeAlias = random.Random

LINKS = "links"  # the file that network_file names
# Topology -> routing function -> virtual channels that it needs.
ROUTING = {
    "mesh": {"dor": 1, "dim_order": 1, "xy_yx": 2, "romm": 2, "valiant": 2, "min_adapt": 2},
    "torus": {"dim_order": 2, "dim_order_bal": 2, "valiant": 4, "min_adapt": 3},
    "fly": {"dest_tag": 1}, "fattree": {"nca": 1, "anca": 1}, "flatfly": {"ran_min": 1, "ugal": 2},
    "anynet": {"min": 1}, "dragonflynew": {"min": 2},
}
# k, n. Most networks are small, so that a run of BookSim takes a fraction of a second.
_CUBES = [(2, 2), (3, 2), (3, 2), (4, 2), (4, 2), (5, 2), (2, 3), (3, 3), (2, 4), (4, 3), (5, 1), (8, 1)]
_TREES = [(2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (3, 3)]
_BUTTERFLIES = [(2, 1, 1), (4, 1, 1), (2, 2, 1), (4, 2, 1), (2, 1, 2), (2, 2, 2), (4, 1, 2), (4, 2, 2)]  # k, n, xr


@dataclass(frozen=True)
class RandomFile:
    """A configuration. ``links``: the contents of its list of links, or nothing."""

    seed: int
    values: Values
    nodes: int
    links: str

    def text(self) -> str:
        return "".join(f"{name} = {value};\n" for name, value in self.values.items())

    @property
    def classes(self) -> int:
        return int(self.values.get("classes", 1))


def random_file(seed: int) -> RandomFile:
    """Returns the file of a seed."""
    draw = random.Random(seed)
    topology = draw.choice(["mesh", "mesh", "torus", "torus", "fly", "fattree", "flatfly", "anynet", "dragonflynew"])
    values, nodes, links = _NETWORKS[topology](draw)
    routing, least = draw.choice(list(ROUTING[topology].items()))
    if routing == "xy_yx" and values["n"] != 2:
        routing, least = "dor", 1
    # Channels of 100 cycles need buffers.
    buffers = [8, 16, 64] if topology == "dragonflynew" else [1, 2, 3, 4, 8, 8, 16]
    values = {"topology": topology, "routing_function": routing, **values, **_router(draw, least, buffers)}
    simulation = _simulation(draw)
    values |= _traffic(draw, topology, nodes, 1 if simulation.get("sim_type") == "batch" else 3) | simulation
    return RandomFile(seed, values, nodes, links)


def _cube(draw: Draw) -> tuple[Values, int, str]:
    k, n = draw.choice(_CUBES)
    return {"k": k, "n": n, "use_noc_latency": draw.randint(0, 1)}, k**n, ""


def _fly(draw: Draw) -> tuple[Values, int, str]:
    k = draw.randint(2, 16)
    return {"k": k, "n": 1}, k, ""


def _tree(draw: Draw) -> tuple[Values, int, str]:
    k, n = draw.choice(_TREES)
    return {"k": k, "n": n}, k**n, ""


def _butterfly(draw: Draw) -> tuple[Values, int, str]:
    k, n, side = draw.choice(_BUTTERFLIES)
    return ({"k": k, "n": n, "c": side * side, "x": k, "y": k, "xr": side, "yr": side, "use_noc_latency": 0},
            k**n * side * side, "")


def _dragonfly(draw: Draw) -> tuple[Values, int, str]:
    return {"k": 1, "n": 1}, 6, ""


def _graph(draw: Draw) -> tuple[Values, int, str]:
    """Trees and full meshes: BookSim's routes on other graphs can deadlock, and are not unique."""
    routers, each = draw.randint(2, 8), draw.randint(1, 4)
    if draw.random() < 0.5:
        delays = {(draw.randrange(b), b): draw.choice([1, 1, 2, 5, 10]) for b in range(1, routers)}
    else:
        delay = draw.choice([1, 3])
        delays = {(a, b): delay for b in range(1, routers) for a in range(b)}
    # Some lists omit a latency of 1, and the way back of such a link.
    short = draw.random() < 0.5
    delays |= {(b, a): delay for (a, b), delay in delays.items() if not (short and delay == 1)}
    lines = []
    for router in range(routers):
        ends = [f"node {node}" for node in range(router * each, (router + 1) * each)]
        ends += [f"router {b}" + ("" if short and delay == 1 else f" {delay}") for (a, b), delay in delays.items()
                 if a == router]
        lines.append(f"router {router} {' '.join(ends)}\n")
    return {"network_file": LINKS}, routers * each, "".join(lines)


_NETWORKS: dict[str, Callable[[Draw], tuple[Values, int, str]]] = {
    "mesh": _cube, "torus": _cube, "fly": _fly, "fattree": _tree, "flatfly": _butterfly, "anynet": _graph,
    "dragonflynew": _dragonfly,
}


def _router(draw: Draw, least: int, buffers: list[int]) -> Values:
    # Most routes that divide the virtual channels need even numbers: with odd ones BookSim's parts overlap.
    vcs = draw.choice([number for number in (1, 2, 2, 3, 4, 4, 6, 8, 8, 16) if number >= least
                       and (number % 2 == 0 or least == 1 or draw.random() < 0.1)])
    values: Values = {"num_vcs": vcs}
    flits = draw.choice(buffers)
    values |= {"buf_size": flits * vcs} if draw.random() < 0.2 else {"vc_buf_size": flits}
    values |= {"credit_delay": draw.choice([0, 1, 2, 3]), "routing_delay": draw.choice([0, 0, 1, 1, 1, 2])}
    if draw.random() < 0.15:
        values |= draw.choice([{"st_final_delay": 2}, {"st_prepare_delay": 1}])
    if draw.random() < 0.05:  # an assertion of BookSim fails if two packets meet in such a router
        values[draw.choice(["vc_alloc_delay", "sw_alloc_delay"])] = 2
    kind = draw.choice(["islip", "separable_input_first", "separable_output_first", "wavefront", "rr_wavefront"])
    other = draw.choice([kind, "islip" if not kind.startswith("separable") else kind])
    argument = {"islip": draw.choice(["", "", "(1)", "(2)", "(3)"]), "wavefront": "", "rr_wavefront": "",
                "separable_input_first": draw.choice(["", "(round_robin)", "(matrix)"])}
    argument["separable_output_first"] = argument["separable_input_first"]
    values |= {"vc_allocator": kind + argument[kind], "sw_allocator": other + argument[other]}
    if draw.random() < 0.3:
        values["input_speedup"] = draw.choice([number for number in (2, 3) if vcs % number == 0] or [1])
    if draw.random() < 0.2:
        values["output_speedup"] = 2
    elif draw.random() < 0.3:
        values["hold_switch_for_packet"] = 1
    if draw.random() < 0.2:
        values["internal_speedup"] = draw.choice([1.5, 1.7, 2.0, 3.0])
        values["output_buffer_size"] = draw.choice([-1, 2, 4])
    if "vc_alloc_delay" not in values and draw.random() < 0.15:
        values["speculative"] = 1
    if draw.random() < 0.25:
        values["wait_for_tail_credit"] = 1
    if draw.random() < 0.15:
        values["priority"] = draw.choice(["age", "hop_count"])
    return values


def _traffic(draw: Draw, topology: str, nodes: int, most_classes: int) -> Values:
    classes = min(draw.choice([1, 1, 1, 1, 1, 1, 2, 3]), most_classes)
    patterns, sizes, weights = [], [], []
    for _ in range(classes):
        patterns.append(draw.choice(_patterns(draw, topology, nodes)))
        lengths = draw.choice([[1], [1], [2], [3], [4], [5], [8], [1, 5], [2, 3, 7]])
        sizes.append(lengths)
        weights.append([draw.randint(1, 4) for _ in lengths])
    values: Values = {"traffic": _listed(patterns)}
    if classes > 1:
        values["classes"] = classes
    mixed = any(len(lengths) > 1 for lengths in sizes)
    values["packet_size"] = _listed([_listed(lengths) if mixed else lengths[0] for lengths in sizes], mixed)
    if mixed:
        values["packet_size_rate"] = _listed([_listed(of_class, True) for of_class in weights], True)
    if draw.random() < 0.5:
        values["injection_rate_uses_flits"] = 1
    rates = [draw.choice([0.01, 0.02, 0.05, 0.1]) for _ in range(classes)]
    values["injection_rate"] = rates[0] if classes == 1 else _listed(rates)
    if draw.random() < 0.2:
        values |= draw.choice([{"injection_process": "on_off({0.1,-1,0.8})"},
                               {"injection_process": "on_off({-1,0.2,0.9})"},
                               {"injection_process": "on_off", "burst_alpha": 0.05, "burst_beta": 0.1,
                                "burst_r1": -1.0}])
    return values


def _patterns(draw: Draw, topology: str, nodes: int) -> list[str]:
    """Returns patterns that a network of so many nodes can have."""
    hot = draw.sample(range(nodes), min(nodes, 3))
    found = ["uniform", "uniform", "diagonal", "randperm", f"background({_listed([_listed(hot[:1], True)], True)})",
             f"hotspot({_listed([_listed(hot, True)], True)})", f"hotspot({_listed([hot[0]], True)})",
             f"hotspot({_listed([_listed(hot[:2], True), '{9,1}'], True)})"]
    if nodes & (nodes - 1) == 0:
        found += ["bitcomp", "bitrev", "shuffle"]
        found += ["transpose"] * (nodes.bit_length() % 2)
    if nodes % 2 == 0:
        found.append("asymmetric")
    if nodes == 64:
        found.append("taper64")
    if topology in ("mesh", "torus"):
        found += ["tornado", "neighbor"]
    if topology == "dragonflynew":
        found.append("bad_dragon")
    return found


def _listed(members: list, braces: bool = False) -> str:
    """Returns a list in braces. Without ``braces``, a list of one member is this member."""
    return f"{{{','.join(map(str, members))}}}" if braces or len(members) > 1 else str(members[0])


def _simulation(draw: Draw) -> Values:
    values: Values = {"seed": draw.randint(0, 99999), "sample_period": draw.choice([500, 1000])}
    kind = draw.choice(["latency"] * 6 + ["throughput", "batch"])
    if kind != "latency":
        values["sim_type"] = kind
    if kind == "batch":
        values |= {"batch_size": draw.choice([10, 50, 100]), "batch_count": draw.choice([1, 2]),
                   "max_outstanding_requests": draw.choice([0, 1, 4])}
    if draw.random() < 0.2:
        values["warmup_periods"] = draw.choice([0, 1, 2])
    if draw.random() < 0.2:
        values["sim_count"] = 2
    if draw.random() < 0.2:
        values["print_csv_results"] = 1
    if draw.random() < 0.1:
        values["latency_thres"] = 100.0
    return values
