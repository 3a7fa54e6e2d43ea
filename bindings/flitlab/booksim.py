"""What BookSim calls things: who writes its words is told flitlab's (docs/glossary.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flitlab._core import ConfigError

KEYS = {
    "num_vcs": "router.vcs", "vc_buf_size": "router.buffer_flits", "vc_allocator": "router.vc_allocator",
    "sw_allocator": "router.switch_allocator", "alloc_iters": "router.allocator_iterations",
    "routing_delay": "router.routing_delay", "vc_alloc_delay": "router.vc_allocation_delay",
    "sw_alloc_delay": "router.switch_allocation_delay", "st_final_delay": "router.switch_traversal_delay",
    "credit_delay": "router.credit_delay", "speculative": "router.speculative",
    "routing_function": "routing.algorithm", "topology": "topology.kind", "k": "topology.shape", "n": "topology.shape",
    "c": "topology.concentration", "network_file": "topology.file", "traffic": "traffic.pattern",
    "injection_rate": "traffic.load", "injection_process": "traffic.injection", "packet_size": "traffic.packet_flits",
    "warmup_periods": "run.warmup_cycles", "sample_period": "run.measure_cycles", "seed": "run.seed",
}
_SHAPE = ", a number of routers for each dimension, as in [8, 8]"
MORE = {"injection_rate": ", in flits/cycle/terminal, whatever the packets' length", "k": _SHAPE, "n": _SHAPE,
        "warmup_periods": ", in cycles, or auto"}
VALUES = {
    "routing.algorithm": {
        "dor": "dimension_order", "xy": "dimension_order", "xyz": "dimension_order", "dim_order": "dimension_order",
        "xy_yx": "o1turn", "min_adapt": "minimal_adaptive"},
    "traffic.pattern": {
        "bitcomp": "bit_complement", "bitrev": "bit_reverse", "neighbor": "neighbour", "hotspot": "hot_spot",
        "randperm": "random_permutation"},
    "topology.kind": {"anynet": "graph"},
}


def check_words(given: Mapping[str, Any], known: set[str]) -> None:
    """Raises ConfigError for a key or a value that BookSim knows and flitlab does not."""
    for path, value in given.items():
        word = path.rpartition(".")[2]
        if path not in known and word in KEYS:
            raise ConfigError(f"{path} = {value!r} is BookSim's word: here it is {KEYS[word]}{MORE.get(word, '')}.")
        ours = _ours(path, value) if isinstance(value, str) and path in VALUES else None
        if ours:
            raise ConfigError(f'{path} = "{value}": here it is called "{ours}".')


def theirs(path: Any) -> str:
    """`` It is BookSim's word for ...``, or nothing."""
    word = path.rpartition(".")[2] if isinstance(path, str) else ""
    return f" It is BookSim's word for {KEYS[word]}{MORE.get(word, '')}." if word in KEYS else ""


def _ours(path: str, value: str) -> str | None:
    """BookSim's routing functions end in the topology that they are for, as in dor_mesh; case does not matter."""
    word = value.lower()
    for topology in ("_mesh", "_torus"):
        word = word.removesuffix(topology)
    found = VALUES[path].get(word)
    return found if found != value else None
