"""Names that other simulators and the literature use for parameters and values, with flitlab's equivalents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import shown
from flitlab.records import parameters_of


class Missing(str):
    """A feature that flitlab lacks, and after a semicolon what to use instead."""


_SHAPE = ", a number of routers for each dimension, as in [8, 8]"
_FLITS = ", in flits/cycle/terminal for packets of any length"
_PAIRS = ", a length, or pairs of a length and its weight"
_SHARED = Missing("buffers that virtual channels share; router.buffer_flits is the buffer of one virtual channel")
_OUTPUT = Missing("purely output-queued router; `router.internal_speedup` adds output queues to input queues")
_POWER = Missing("model of power or area")
_SENSING = Missing("choice of congestion measures; minimal_adaptive routing counts credits")
_THRESHOLD = Missing("latency limit for saturation; flitlab tests whether source queues grow")
_PERMUTATION = Missing("seed of random_permutation, which is always the same permutation; "
                       "Experiment.with_pattern(fl.patterns.permutation(SEED)) draws others")
_WATCH = Missing("list of packets to watch; `flitlab trace` writes all events of chosen routers")

# Simulator -> the simulator's name of a parameter -> flitlab's dotted path with a note on differences, or the feature
# that flitlab lacks.
KEYS: dict[str, dict[str, tuple[str, str] | Missing]] = {
    "BookSim": {
        "num_vcs": ("router.vcs", ""), "vc_buf_size": ("router.buffer_flits", ""),
        "vc_allocator": ("router.vc_allocator", ""), "sw_allocator": ("router.switch_allocator", ""),
        "alloc_iters": ("router.allocator_iterations", ""), "arb_type": ("router.arbiter", ""),
        "routing_delay": ("router.routing_delay", ""), "vc_alloc_delay": ("router.vc_allocation_delay", ""),
        "sw_alloc_delay": ("router.switch_allocation_delay", ""),
        "st_final_delay": ("router.switch_traversal_delay", ""),
        "st_prepare_delay": ("router.switch_traversal_delay", ""),
        "credit_delay": ("router.credit_delay", ", which includes a channel's delay of 1"),
        "speculative": ("router.speculative", ""), "vct": ("router.flow_control", ', as "virtual_cut_through"'),
        "routing_function": ("routing.algorithm", ""), "topology": ("topology.kind", ""),
        "k": ("topology.shape", _SHAPE), "n": ("topology.shape", _SHAPE), "c": ("topology.concentration", ""),
        "network_file": ("topology.file", ""), "use_noc_latency": ("topology.channel_delay", ", in cycles"),
        "traffic": ("traffic.pattern", ""), "injection_rate": ("traffic.load", _FLITS),
        "injection_rate_uses_flits": ("traffic.load", ", always in flits/cycle/terminal"),
        "injection_process": ("traffic.injection", ""), "burst_alpha": ("traffic.burst_cycles", ", in cycles"),
        "burst_beta": ("traffic.burst_load", ""), "burst_r1": ("traffic.burst_load", ""),
        "packet_size": ("traffic.packet_flits", ""), "packet_size_rate": ("traffic.packet_flits", _PAIRS),
        "use_read_write": ("traffic.mode", ', as "request_reply"'), "sim_type": ("traffic.mode", ""),
        "read_reply_size": ("traffic.reply_flits", ""), "write_request_size": ("traffic.packet_flits", ""),
        "read_request_size": ("traffic.packet_flits", ""), "write_reply_size": ("traffic.reply_flits", ""),
        "max_outstanding_requests": ("traffic.window", ""), "batch_size": ("traffic.batch_packets", ""),
        "warmup_periods": ("run.warmup_cycles", ", in cycles, or auto"), "sample_period": ("run.measure_cycles", ""),
        "max_samples": ("run.longest_window", ", in cycles"), "stopping_thres": ("run.precision", ""),
        "warmup_thres": ("run.precision", ""), "acc_stopping_thres": ("run.precision", ""),
        "deadlock_warn_timeout": ("run.watchdog_cycles", ""), "seed": ("run.seed", ""), "perm_seed": _PERMUTATION,
        "latency_thres": _THRESHOLD, "batch_count": Missing("series of batches; a sweep over run.seed repeats a batch"),
        "priority": ("router.arbiter", ', as "highest_priority_first", "oldest_first" or "most_hops_first"'),
        "class_priority": ("traffic.class_priority", ""), "classes": ("traffic.classes", ""),
        "subnets": Missing("parallel subnetworks"), "link_failures": ("topology.random_failures", ""),
        "input_speedup": ("router.input_speedup", ""), "output_speedup": ("router.output_speedup", ""),
        "internal_speedup": ("router.internal_speedup", ""),
        "buf_size": _SHARED, "buffer_policy": _SHARED, "private_bufs": _SHARED, "private_buf_size": _SHARED,
        "output_buffer_size": ("router.output_queue_flits", ", 0 for no limit"),
        "noq": Missing("next-hop output queueing"),
        "wait_for_tail_credit": ("router.wait_for_tail_credit", ""),
        "vc_busy_when_full": Missing("virtual channels that count as busy when they are full"),
        "hold_switch_for_packet": ("router.hold_switch_for_packet", ""),
        "sim_power": _POWER, "tech_file": _POWER, "channel_width": _POWER,
        "watch_file": _WATCH, "watch_flits": _WATCH, "watch_packets": _WATCH, "watch_out": _WATCH,
        "x": ("topology.shape", _SHAPE), "y": ("topology.shape", _SHAPE), "xr": ("topology.concentration", ""),
    },
    "Garnet": {
        "vcs_per_vnet": ("router.vcs", ", of all message classes together"),
        "buffers_per_data_vc": ("router.buffer_flits", ""), "buffers_per_ctrl_vc": ("router.buffer_flits", ""),
        "synthetic": ("traffic.pattern", ""), "injectionrate": ("traffic.load", _FLITS),
        "link_latency": ("topology.channel_delay", ""), "router_latency": ("router.routing_delay",
            ", the first of four delays that add up to a router's"),
        "mesh_rows": ("topology.shape", _SHAPE), "num_rows": ("topology.shape", _SHAPE),
        "num_cpus": ("topology.shape", _SHAPE), "garnet_deadlock_threshold": ("run.watchdog_cycles", ""),
        "sim_cycles": ("run.measure_cycles", ""), "num_packets_max": ("traffic.batch_packets", ""),
        "virtual_networks": ("traffic.message_classes", ""), "num_vnets": ("traffic.message_classes", ""),
        "inj_vnet": ("traffic.classes", ", each with virtual channels and a load of its own"),
        "link_width_bits": Missing("width of a channel in bits; a channel carries one flit a cycle"),
        "ni_flit_size": Missing("size of a flit in bits for synthetic traffic; traffic.flit_bytes applies to programs"),
    },
    "Noxim": {
        "n_virtual_channels": ("router.vcs", ""), "buffer_depth": ("router.buffer_flits", ""),
        "mesh_dim_x": ("topology.shape", _SHAPE), "mesh_dim_y": ("topology.shape", _SHAPE),
        "packet_injection_rate": ("traffic.load", _FLITS), "pir": ("traffic.load", _FLITS),
        "traffic_distribution": ("traffic.pattern", ""), "traffic_table_filename": ("traffic.matrix_file", ""),
        "min_packet_size": ("traffic.packet_flits", _PAIRS), "max_packet_size": ("traffic.packet_flits", _PAIRS),
        "routing_algorithm": ("routing.algorithm", ""), "routing_table_filename": ("routing.table_file", ""),
        "simulation_time": ("run.measure_cycles", ", in cycles"), "reset_time": ("run.warmup_cycles", ""),
        "stats_warm_up_time": ("run.warmup_cycles", ", in cycles"), "rnd_generator_seed": ("run.seed", ""),
        "selection_strategy": _SENSING, "use_powermanager": _POWER,
        "use_winoc": Missing("wireless channels"), "winoc": Missing("wireless channels"),
        "flit_size": Missing("size of a flit in bits for synthetic traffic; traffic.flit_bytes applies to programs"),
        "clock_period_ps": Missing("length of a cycle; all times are in cycles"),
    },
    "SuperSim": {
        "dimension_widths": ("topology.shape", _SHAPE), "dimension_weights": Missing(
            "channels of different widths; a graph may have parallel edges"),
        "architecture": ("router.kind", ""), "input_queue_depth": ("router.buffer_flits", ""),
        "vc_scheduler": ("router.vc_allocator", ""), "crossbar_scheduler": ("router.switch_allocator", ""),
        "random_seed": ("run.seed", ""), "message_size_distribution": ("traffic.packet_flits", _PAIRS),
        "traffic_pattern": ("traffic.pattern", ""), "channel_latency": ("topology.channel_delay", ""),
        "num_transactions": ("traffic.batch_packets", ""), "protocol_classes": ("traffic.message_classes", ""),
        "warmup_interval": ("run.warmup_cycles", ""), "output_queue_depth": ("router.output_queue_flits", ""),
        "congestion_sensor": _SENSING,
    },
    "CAMINOS": {
        "sides": ("topology.shape", _SHAPE), "servers_per_router": ("topology.concentration", ""),
        "virtual_channels": ("router.vcs", ""), "buffer_size": ("router.buffer_flits", ", in flits"),
        "message_size": ("traffic.packet_flits", ""), "maximum_packet_size": ("traffic.packet_flits", ""),
        "warmup": ("run.warmup_cycles", ""), "measured": ("run.measure_cycles", ""),
        "crossbar_delay": ("router.switch_traversal_delay", ""), "link_classes": ("topology.channel_delay", ""),
        "flit_bubble": Missing("bubble flow control in its canonical router; router.kind = \"bgl\" has it"),
        "bubble": Missing("bubble flow control in its canonical router; router.kind = \"bgl\" has it"),
        "intransit_priority": Missing("priority of packets in transit; router.arbiter = \"oldest_first\" is by age"),
        "virtual_channel_policies": _SENSING,
    },
    "the literature": {
        "offered_load": ("traffic.load", _FLITS), "arrival_rate": ("traffic.load", _FLITS),
        "dims": ("topology.shape", _SHAPE), "link_delay": ("topology.channel_delay", ""),
        "switching": ("router.flow_control", ""),
    },
}

_GRAPH = '; a graph can be one (topology.kind = "graph", or Experiment.with_topology)'
_TABLE = '; a function or a table can give oblivious routes (Experiment.with_routes, or routing.algorithm = "table")'
_PATTERN = '; a function or a matrix can give destinations (Experiment.with_pattern, or traffic.pattern = "matrix")'
_STENCIL = Missing("word for stencils; Experiment.with_pattern(fl.patterns.stencil(SHAPE)) makes one")
_STAGES = Missing('butterfly of canonical routers; router.kind = "metro" has networks of stages, and a mesh with '
                  'topology.shape = [1] is a single stage')
_HYPERX = Missing("this order of dimensions in a HyperX network; minimal, ugal_l and dal choose others")
_UGAL = Missing("UGAL with queues of other routers or by dimension order; ugal_l compares queues at the source")
_TURNS = Missing(f"routing by turn models{_TABLE}")
_TREES = Missing(f"routing for trees or multistage networks{_TABLE}")


def _lacks(*names: str, what: str = "{}") -> dict[str, str | Missing]:
    return {name: Missing(what.format(name)) for name in names}


# Dotted path -> another simulator's name of a choice -> flitlab's name, or the feature that flitlab lacks. Comparisons
# ignore case, blanks, hyphens and underscores.
VALUES: dict[str, dict[str, str | Missing]] = {
    "topology.kind": {
        "anynet": "graph", "custom": "graph", "mesh_xy": "mesh", "mesh_westfirst": "mesh",
        "mesh2d": "mesh", "2dmesh": "mesh", "3dmesh": "mesh", "grid": "mesh", "torus2d": "torus", "2dtorus": "torus",
        "3dtorus": "torus", "karyncube": "torus", "folded_torus": "torus", "ncube": "hypercube", "cube": "hypercube",
        "fattree": "fat_tree", "tree4": "fat_tree", "qtree": "fat_tree", "folded_clos": "fat_tree", "clos": "fat_tree",
        "xgft": "fat_tree", "karyntree": "fat_tree", "leaf_spine": "fat_tree", "butterfly": _STAGES, "fly": _STAGES,
        "karynfly": _STAGES, "omega": _STAGES, "delta": _STAGES, "baseline": _STAGES, "banyan": _STAGES,
        "benes": _STAGES, "flatfly": "flattened_butterfly", "flattenedbutterfly": "flattened_butterfly",
        "hamming": "hyperx", "dragonflynew": "dragonfly", "canonic_dragonfly": "dragonfly",
        "dragonflyplus": "megafly", "concentrated_mesh": "cmesh", "fullmesh": "full_mesh",
        "fully_connected": "full_mesh", "all_to_all": "full_mesh", "pt2pt": "full_mesh", "complete": "full_mesh",
        "crossbar": Missing('crossbar as a topology; router.kind = "switch" is a single switch'),
        "single_router": Missing('single router as a topology; router.kind = "switch" is a single switch'),
        "chiplet": "chiplet_mesh", "slimfly": "slim_fly", "mms": "slim_fly", "random_regular_graph": "jellyfish",
        **_lacks("projective", "spidergon", "star", "tree", what="{}" + _GRAPH),
    },
    "routing.algorithm": {
        "dor": "dimension_order", "xy": "dimension_order", "xyz": "dimension_order", "dim_order": "dimension_order",
        "dimension_ordered": "dimension_order", "e_cube": "dimension_order", "deterministic": "dimension_order",
        "xy_yx": "o1turn", "val": "valiant", "vlb": "valiant", "min_adapt": "minimal_adaptive",
        "duato": "minimal_adaptive", "fully_adaptive": "minimal_adaptive",
        "table_based": "table", "min": "minimal", "shortest": "minimal", "ugal": "ugal_l", "ugal_g": _UGAL,
        "ugal_pni": _UGAL, "ugal_xyyx": _UGAL, "oddeven": "odd_even", "westfirst": "west_first",
        "northlast": "north_last", "negativefirst": "negative_first", "general_turn": _TURNS,
        "nca": "nearest_common_ancestor", "common_ancestor": "nearest_common_ancestor", "anca": "adaptive",
        "updown": "up_down", "dest_tag": _TREES, "destination_tag": _TREES, "xyyx": _HYPERX,
        "adaptive_xyyx": _HYPERX, "ran_min": _HYPERX, "omni_dimensional": "omniwar",
        **_lacks("dyad", "planar_adapt", "chaos", "polarized", "stubborn", "least_congested_queue", what="{} routing"),
    },
    "traffic.pattern": {
        "bitcomp": "bit_complement", "bitrev": "bit_reverse", "bit_reversal": "bit_reverse", "neighbor": "neighbour",
        "nearest_neighbor": "neighbour", "hotspot": "hot_spot", "hotspots": "hot_spot",
        "randperm": "random_permutation", "uniform_random": "uniform", "random": "uniform", "ur": "uniform",
        "traffic_random": "uniform", "traffic_transpose1": "transpose", "traffic_transpose2": "transpose",
        "transpose1": "transpose", "transpose2": "transpose", "traffic_hotspot": "hot_spot",
        "traffic_bit_reversal": "bit_reverse", "traffic_shuffle": "shuffle", "traffic_table_based": "matrix",
        "table_based": "matrix", "perfect_shuffle": "shuffle", "alltoall": "all_to_all",
        "bad_dragon": "next_group",
        "badperm_yarc": Missing(f"worst case of a Clos{_PATTERN}"),
        **_lacks("bit_rotation", "taper64", "diagonal", "asymmetric", "butterfly", "traffic_butterfly", "worst_case",
                 "nearest_group", what="pattern {}" + _PATTERN),
        **dict.fromkeys(("stencil", "halo", "nearest_neighbours"), _STENCIL),
    },
    "traffic.injection": {
        "onoff": "on_off", "burst": "on_off", "bursty": "on_off", "poisson": "bernoulli", "exponential": "bernoulli",
        "random": "bernoulli", "constant": "periodic", "deterministic": "periodic",
    },
    "router.flow_control": {
        "vct": "virtual_cut_through", "cut_through": "virtual_cut_through", "saf": "store_and_forward",
        "packet_buffer": "virtual_cut_through", "flit_buffer": "wormhole", "virtual_channel": "wormhole",
        "credit": "wormhole",
        "bubble": Missing('bubble flow control in its canonical router; router.kind = "bgl" has it'),
        "circuit": Missing('circuits in its canonical router; router.kind = "metro" is circuit-switched'),
    },
    "router.arbiter": {
        "rr": "round_robin", "age": "oldest_first", "oldest": "oldest_first", "age_based": "oldest_first",
        "hop_count": "most_hops_first", "hops": "most_hops_first", "fixed": "fixed_priority",
        "class": "highest_priority_first", "priority": "highest_priority_first",
        **_lacks("lru", "lslp", "tree", "random_priority", "comparing", what="{} arbiter"),
    },
    "router.kind": {
        "iq": "vc", "input_queued": "vc", "canonical": "vc", "wormhole": "vc", "basic": "vc", "garnet": "vc",
        "crossbar": "switch",
        "ioq": "vc", "input_output_queued": "vc", "oq": _OUTPUT, "output_queued": _OUTPUT,
        **_lacks("chaos", "event", what="{} router"),
    },
}
for _path in ("router.vc_allocator", "router.switch_allocator"):
    VALUES[_path] = {
        "separable": "separable_input_first", "r_separable": "separable_input_first", "rc_separable":
        "separable_input_first", "cr_separable": "separable_output_first",
        "rr_wavefront": "wavefront",
        **_lacks("pim", "loa", "max_size", "select", "random", "label_reduction", what="{} allocator"),
    }


_OF_TOPOLOGY = re.compile("_(mesh|torus|cmesh|fly|fattree|flatfly|anynet|dragonflynew|tree4|qtree)$")
DEFAULT_KIND = "vc"


def _bare(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


_KEYS = {_bare(word): (simulator, meaning) for simulator, words in reversed(KEYS.items())
         for word, meaning in words.items()}
_VALUES = {path: {_bare(word): meaning for word, meaning in words.items()} for path, words in VALUES.items()}


def about_key(path: Any) -> str:
    """Returns a sentence about a key that flitlab does not have: ``It is BookSim's name for ...`` or
    ``flitlab has no ...``; "" if it is unknown."""
    simulator, meaning = _of_key(path) if isinstance(path, str) else ("", None)
    if isinstance(meaning, Missing):
        return f"flitlab has no {meaning}."
    return f"It is {simulator}'s name for {meaning[0]}{meaning[1]}." if meaning else ""


def key_of(word: str) -> tuple[str, str] | None:
    """Returns the dotted path for another simulator's name, and how it differs; None if flitlab has no equivalent."""
    meaning = _of_key(word)[1]
    return None if isinstance(meaning, Missing) else meaning


def _of_key(path: str) -> tuple[str, tuple[str, str] | Missing | None]:
    return _KEYS.get(_bare(path.rpartition(".")[2]), ("", None))


def check_names(given: Mapping[str, Any], known: set[str]) -> None:
    """Raises ConfigError, which names flitlab's equivalent, for keys and values of other simulators."""
    for path, value in given.items():
        simulator, key = _of_key(path) if path not in known else ("", None)
        if isinstance(key, Missing):
            raise ConfigError(f"{path} = {shown(value)}: flitlab has no {key}.")
        if key:
            raise ConfigError(f"{path} = {shown(value)} is {simulator}'s name: in flitlab it is {key[0]}{key[1]}.")
        meaning = _meaning(path, value) if isinstance(value, str) else None
        if meaning in (None, value):
            continue
        kind = DEFAULT_KIND if path == "router.kind" else given.get("router.kind", DEFAULT_KIND)
        choices = _choices(path, kind) if isinstance(kind, str) else []
        if value in choices:
            continue
        if isinstance(meaning, Missing) and choices:
            raise ConfigError(f'{path} = "{value}": flitlab has no {meaning}. Allowed are {", ".join(choices)}.')
        if meaning in choices:
            raise ConfigError(f'{path} = "{value}": in flitlab it is "{meaning}".')


@cache
def _choices(path: str, kind: str) -> list[str]:
    """Returns the choices of a parameter for a router kind; [] if the parameter or kind is unknown."""
    try:
        return parameters_of(kind).get(path, {"choices": []})["choices"]
    except ConfigError:  # an unknown kind; the core's checks report it later
        return []


def _meaning(path: str, value: str) -> str | None:
    """Returns flitlab's equivalent of another simulator's choice. The suffix of BookSim's routing functions is their
    topology, as in dor_mesh, and is ignored."""
    words = _VALUES.get(path, {})
    if (found := words.get(_bare(value))) or path != "routing.algorithm":
        return found
    return words.get(_bare(_OF_TOPOLOGY.sub("", value.lower())))
