"""BookSim's traffic and simulation parameters, as flitlab's."""

from __future__ import annotations

from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.networks import numbers_rows, terminals
from flitlab.booksim.request_reply import request_reply
from flitlab.booksim.settings import Settings, repeated
from flitlab.booksim.statements import items
from flitlab.booksim.vc_ranges import OF_REPLIES
from flitlab.vocabulary import VALUES

_PATTERNS = {name: str(VALUES["traffic.pattern"].get(name, name)) for name in
             ("uniform", "bitcomp", "bitrev", "shuffle", "transpose", "tornado", "neighbor", "randperm")}
_BY_COORDINATES = ("tornado", "neighbour")
_BY_NUMBERS = ("bitrev", "shuffle", "transpose")
MOST_CLASSES = 8


def traffic(settings: Settings, called: str) -> dict[str, Any]:
    """Returns parameters of the traffic. Raises ConfigError."""
    classes = settings.whole("classes")
    if not 1 <= classes <= MOST_CLASSES:
        raise ConfigError(f"{called}: classes = {classes} is not translated: flitlab has 1 to {MOST_CLASSES} classes.")
    lengths = [sizes(settings, c, classes) for c in range(classes)]
    means = [sum(flits * weight for flits, weight in of_class) / sum(weight for _, weight in of_class)
             for of_class in lengths]
    rates = settings.numbers("injection_rate", classes)
    flits = bool(settings["injection_rate_uses_flits"])
    loads = [rate * (1 if flits else mean) for rate, mean in zip(rates, means, strict=True)]
    patterns = [_pattern(text, settings) for text in settings.of_classes("traffic", classes)]
    values = dict(patterns[0][1])
    if classes == 1:
        only = lengths[0]
        values |= {"traffic.pattern": patterns[0][0],
                   "traffic.packet_flits": only[0][0] if len(only) == 1 else [list(pair) for pair in only]}
    else:
        if any(len(of_class) > 1 for of_class in lengths):
            raise ConfigError(f"{called}: packet_size = {settings['packet_size']} is not translated with classes = "
                              f"{classes}: flitlab's classes have packets of one length each.")
        if any(more != patterns[0][1] for name, more in patterns if name == "hot_spot"):
            raise ConfigError(f"{called}: traffic = {settings['traffic']} is not translated: flitlab has one set of "
                              "hot terminals.")
        values |= {"traffic.classes": classes, "traffic.class_pattern": [name for name, _ in patterns],
                   "traffic.class_flits": [of_class[0][0] for of_class in lengths],
                   # BookSim's classes share all virtual channels.
                   "traffic.class_vcs": "shared"}
        if sum(loads):
            values["traffic.class_share"] = loads
    values |= _mode(settings, called, sum(loads), classes)
    return values | request_reply(settings, rates[0]) if _has_replies(settings, called, classes) else values


def _has_replies(settings: Settings, called: str, classes: int) -> bool:
    found = any(settings.whole_of(text, "use_read_write") for text in settings.of_classes("use_read_write", classes))
    if not found:
        settings.use(*OF_REPLIES)
    elif classes > 1:
        raise ConfigError(f"{called}: use_read_write is not translated with classes = {classes}. flitlab-booksim runs "
                          "such a file.")
    return found


def _mode(settings: Settings, called: str, load: float, classes: int) -> dict[str, Any]:
    kind = str(settings["sim_type"])
    if kind == "batch":
        if classes > 1:
            raise ConfigError(f"{called}: sim_type = batch is not translated with classes = {classes}.")
        settings.use("injection_process")
        return {"traffic.mode": "batch", "traffic.batch_packets": settings.whole("batch_size", 1)}
    if kind not in ("latency", "throughput"):
        raise ConfigError(f"{called}: sim_type = {kind} is not one of BookSim 2's: latency, throughput and batch.")
    if set(settings.of_classes("injection_process", classes)) != {"bernoulli"}:
        raise ConfigError(f"{called}: injection_process = {settings['injection_process']} is not translated. Use "
                          'injection_process = bernoulli, and set traffic.injection = "on_off" in flitlab.')
    settings.use("batch_size", "batch_count", "max_outstanding_requests")  # BookSim reads these for batches only
    return {"traffic.load": round(load, 12)}


def class_priorities(settings: Settings, classes: int) -> list[int]:
    """Returns the priority of each class of packets."""
    return [settings.whole_of(text, "class_priority") for text in settings.of_classes("class_priority", classes)]


def sizes(settings: Settings, number: int, classes: int) -> list[tuple[int, int]]:
    """Returns pairs of a length in flits and its weight for a class of packets."""
    lengths = items(settings.of_classes("packet_size", classes)[number]) or [""]
    weights = repeated(items(settings.of_classes("packet_size_rate", classes)[number]) or [""], len(lengths))
    pairs = [(settings.whole_of(flits, "packet_size", 1), settings.whole_of(weight, "packet_size_rate"))
             for flits, weight in zip(lengths, weights, strict=True)]
    if len(pairs) == 1:
        return [(pairs[0][0], 1)]
    if pairs := [pair for pair in pairs if pair[1]]:
        return pairs
    raise ConfigError(f"{settings.called}: packet_size_rate = {settings['packet_size_rate']} has no weight above 0.")


def _pattern(text: str, settings: Settings) -> tuple[str, dict[str, Any]]:
    """Returns flitlab's name of a pattern and its parameters."""
    name, _, rest = text.partition("(")
    arguments = items(rest.removesuffix(")"))
    if name == "hotspot" and arguments:
        nodes = [settings.whole_of(node, "traffic") for node in items(arguments[0])]
        rates = items(arguments[1])[:len(nodes)] if len(arguments) > 1 else []
        if len(set(rates)) > 1 or (rates and len(rates) < len(nodes)):
            raise ConfigError(f"{settings.called}: traffic = {text} is not translated: flitlab's hot terminals receive "
                              "equal shares. Use Experiment.with_pattern.")
        hot = terminals(settings, np.array(nodes)).tolist()
        return "hot_spot", {"traffic.hot_terminals": hot, "traffic.hot_fraction": 1.0}
    if name not in _PATTERNS or arguments:
        raise ConfigError(f"{settings.called}: traffic = {text} is not translated. flitlab reads "
                          f"{', '.join(_PATTERNS)} and hotspot({{...}}); a function can give other destinations "
                          "(Experiment.with_pattern).")
    if _PATTERNS[name] in _BY_COORDINATES and settings["topology"] not in ("mesh", "torus"):
        raise ConfigError(f"{settings.called}: traffic = {text} is translated only for topology = mesh and torus, "
                          "where routers have coordinates.")
    if name in _BY_NUMBERS and numbers_rows(settings):
        raise ConfigError(f"{settings.called}: traffic = {text} is translated by flitlab-booksim only for topology = "
                          f"{settings['topology']}, whose nodes have other numbers in flitlab.")
    return _PATTERNS[name], {}


def simulation(settings: Settings, called: str) -> dict[str, Any]:
    """Returns parameters of the run. BookSim warms up for some sample periods, and ends when latency and throughput
    have changed little in three of them; flitlab measures as long as BookSim may at most."""
    period, warm, most = (settings.whole(name, least) for name, least in
                          (("sample_period", 1), ("warmup_periods", -999999999), ("max_samples", 1)))
    if settings["seed"] == "time":
        raise ConfigError(f"{called}: seed = time is not translated, because such a run cannot be repeated. Give a "
                          "number.")
    values: dict[str, Any] = {"run.seed": settings.whole("seed", -999999999) % 2**32}
    if settings.value("sim_type") == "batch":
        return values
    if warm > 0:
        values["run.warmup_cycles"] = warm * period
    return values | {"run.measure_cycles": max(most - max(warm, 0), 1) * period}
