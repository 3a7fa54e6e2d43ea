"""Translation of a BookSim configuration to flitlab's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError
from flitlab.booksim.keys import EQUIVALENT, IGNORED, KEYS
from flitlab.booksim.networks import Network, network, routing_differences, used_vcs
from flitlab.booksim.settings import Settings
from flitlab.booksim.statements import read
from flitlab.booksim.traffic import class_priorities, simulation, traffic

_ALLOCATORS = {"islip": "islip", "separable_input_first": "separable_input_first",
               "separable_output_first": "separable_output_first", "wavefront": "wavefront",
               "rr_wavefront": "wavefront"}
# flitlab's parameter for an allocator's argument, and the argument that BookSim takes if there is none.
_ARGUMENTS = {"islip": ("router.allocator_iterations", "1"),
              "separable_input_first": ("router.arbiter", "round_robin"),
              "separable_output_first": ("router.arbiter", "round_robin")}
_PRIORITIES = {"none": "", "class": "highest_priority_first", "age": "oldest_first", "hop_count": "most_hops_first"}


@dataclass(frozen=True)
class Translation:
    """flitlab's parameters, the texts of the files that they name, and notes on what differs."""

    values: dict[str, Any]
    texts: dict[str, bytes]
    notes: list[str]


def translate(text: str, called: str, folder: Path, changes: Iterable[str] = ()) -> Translation:
    """Translates the text of a file, which errors name as ``called``. ``folder``: that of the file, where
    ``network_file`` is looked for first. ``changes``: further statements ``NAME=VALUE``. Raises ConfigError for what
    BookSim rejects, and for values that flitlab cannot express."""
    statements = read(text, called)
    for change in changes:
        statements += read(f"{change};", change)
    settings = Settings(statements, called)
    values, texts = hardware(settings, called, folder)
    values |= traffic(settings, called) | simulation(settings, called)
    refuse_unused(settings, called)
    differing = {name: settings.value(name) for name, _ in statements if KEYS[name].kind in (EQUIVALENT, IGNORED)}
    notes = [f"{name} = {value} ({KEYS[name].kind}): {KEYS[name].note}." for name, value in differing.items()]
    return Translation(values, texts, notes + [f"{text}." for text in routing_differences(settings, values)])


def hardware(settings: Settings, called: str, folder: Path) -> Network:
    """Returns the parameters of the topology, the routing and the routers. Raises ConfigError."""
    values, texts = network(settings, called, folder)
    return values | _router(settings, called), texts


def refuse_unused(settings: Settings, called: str) -> None:
    """Raises ConfigError for a parameter that has an effect in BookSim and that the translation has not used."""
    for name, value in settings.unused().items():
        if KEYS[name].kind != IGNORED:
            raise ConfigError(f"{called}: {name} = {value} is not translated: {KEYS[name].note}.")


def _router(settings: Settings, called: str) -> dict[str, Any]:
    if settings["router"] != "iq":
        raise ConfigError(f"{called}: router = {settings['router']} is not translated: flitlab's canonical router is "
                          "BookSim's input-queued one, router = iq.")
    vcs, input_speedup = used_vcs(settings), settings.whole("input_speedup", 1)
    if vcs < settings.whole("num_vcs", 1):  # BookSim assigns virtual channels to the inputs of the crossbar
        input_speedup = min(input_speedup, vcs)
    values: dict[str, Any] = {
        "router.vcs": vcs, "router.buffer_flits": _buffer(settings),
        "router.hold_switch_for_packet": bool(settings["hold_switch_for_packet"]),
        "router.wait_for_tail_credit": bool(settings["wait_for_tail_credit"]),
        "router.input_speedup": input_speedup,
        "router.output_speedup": settings.whole("output_speedup", 1),
    }
    return values | _allocators(settings, called) | _stages(settings, called)


def _buffer(settings: Settings) -> int:
    """Returns the flits of a virtual channel's buffer. BookSim divides buf_size among the virtual channels."""
    shared, own = settings.whole("buf_size", -999999999), settings.whole("vc_buf_size", 1)
    return own if shared <= 0 else max(shared // settings.whole("num_vcs", 1), 1)


def _allocators(settings: Settings, called: str) -> dict[str, Any]:
    """Returns the parameters of allocators and arbiters. An allocator may have an argument: the iterations of iSLIP, or
    the arbiter of a separable one."""
    values: dict[str, Any] = {}
    arguments: dict[str, str] = {}  # for flitlab's parameter, the argument of the allocators that have one
    for name, path in (("vc_allocator", "router.vc_allocator"), ("sw_allocator", "router.switch_allocator")):
        text = str(settings[name])
        word, _, rest = text.partition("(")
        if word not in _ALLOCATORS:
            raise ConfigError(f"{called}: {name} = {text} is not translated. flitlab reads {', '.join(_ALLOCATORS)}.")
        values[path] = _ALLOCATORS[word]
        if values[path] == "wavefront":
            continue
        of, default = _ARGUMENTS[values[path]]
        if word == "separable_input_first" and name == "sw_allocator":
            values[path] = "separable_input_first_by_output"
        argument = rest.removesuffix(")") or default
        if arguments.setdefault(of, argument) != argument:
            raise ConfigError(f"{called}: vc_allocator = {settings['vc_allocator']} and sw_allocator = {text} are not "
                              f"translated: in flitlab {of} holds for both.")
    # The arbiters of these allocators have an input for each virtual channel of each output port.
    values["router.vc_pointer_spans_ports"] = values["router.vc_allocator"] != "wavefront"
    values["router.allocator_iterations"] = settings.whole_of(arguments.get("router.allocator_iterations", "1"),
                                                              "sw_allocator", 1)
    return values | _arbiters(settings, called, arguments.get("router.arbiter", "round_robin"))


def _arbiters(settings: Settings, called: str, arbiter: str) -> dict[str, Any]:
    priority = str(settings["priority"])
    if arbiter not in ("round_robin", "matrix"):
        raise ConfigError(f"{called}: the arbiter {arbiter} of an allocator is not translated. flitlab reads "
                          "round_robin and matrix.")
    if priority not in _PRIORITIES:
        raise ConfigError(f"{called}: priority = {priority} is not translated. flitlab reads {', '.join(_PRIORITIES)}.")
    compares = _PRIORITIES[priority]
    # BookSim's iSLIP ignores priorities, so they have an effect only at the sources and in the other allocator. The
    # switch allocator decides how many packets a router sends, so flitlab has no age or hops with an iSLIP there.
    allocators = [str(settings[name]).startswith("islip") for name in ("sw_allocator", "vc_allocator")]
    if all(allocators) or (allocators[0] and priority in ("age", "hop_count")):
        compares = ""
    values: dict[str, Any] = {"router.arbiter": compares or arbiter}
    classes = settings.whole("classes", 1)
    priorities = class_priorities(settings, classes)
    if priority == "class" and classes > 1:
        values["traffic.class_priority"] = priorities
    return values


def _stages(settings: Settings, called: str) -> dict[str, Any]:
    """Returns speedup and the delays of pipeline stages."""
    speedup, outputs = float(settings["internal_speedup"]), settings.whole("output_speedup", 1)
    if not 1 <= speedup <= 8:
        raise ConfigError(f"{called}: internal_speedup = {speedup} is not translated: flitlab has 1 to 8 rounds in a "
                          "cycle.")
    routing, vc, switch = (settings.whole(name) for name in ("routing_delay", "vc_alloc_delay", "sw_alloc_delay"))
    traversal = settings.whole("st_prepare_delay") + settings.whole("st_final_delay")
    if vc < 1 or switch < 1 or traversal < 1:
        raise ConfigError(f"{called}: vc_alloc_delay = {vc}, sw_alloc_delay = {switch}, st_prepare_delay + "
                          f"st_final_delay = {traversal} are not translated if one of them is 0. Use at least 1.")
    # A credit leaves when switch allocation ends, and takes a cycle in each of the two routers over a channel of 1
    # cycle. Terminals do not add credit_delay, but their flits reach route computation one cycle later than in flitlab.
    credit = 2 + switch - 1
    values: dict[str, Any] = {"router.internal_speedup": speedup, "router.speculative": bool(settings["speculative"]),
                              "router.credit_delay": credit + settings.whole("credit_delay"),
                              "router.injection_credit_delay": credit + 1}
    queue = settings.whole("output_buffer_size", -999999999)
    if speedup > 1 or outputs > 1:
        if queue == 0:
            raise ConfigError(f"{called}: output_buffer_size = 0 is not translated: no flit would ever leave a router. "
                              "Use -1 for no limit.")
        # BookSim's queue takes flits while it holds fewer than its size, flitlab's while all crossbar outputs fit in.
        values["router.output_queue_flits"] = 0 if queue < 0 else queue + outputs - 1
    return values | {"router.routing_delay": routing, "router.vc_allocation_delay": vc,
                     "router.switch_allocation_delay": switch, "router.switch_traversal_delay": traversal}


def not_pipelined(settings: Settings) -> dict[str, int]:
    """Returns stages of several cycles, and their cycles. In BookSim (iq_router.cpp) such a stage takes what has come
    together, and nothing else before that has left it. It is so for all inputs of a router at once."""
    stages = {"a routing_delay": settings.whole("routing_delay"),
              "an st_prepare_delay + st_final_delay": settings.whole("st_prepare_delay")
              + settings.whole("st_final_delay")}
    return {stage: cycles for stage, cycles in stages.items() if cycles > 1}
