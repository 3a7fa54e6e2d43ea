"""What the BookSim of RapidChiplet (spcl/rapidchiplet) adds: routing tables, and rates for pairs of nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.anynet import parse
from flitlab.booksim.generation import Bernoulli, Pattern
from flitlab.booksim.networks import file_of, links_file
from flitlab.booksim.settings import Settings
from flitlab.booksim.trace import Trace, trace_of
from flitlab.experiment import Experiment
from flitlab.toml import read_text


def check(settings: Settings, called: str) -> None:
    """Raises ConfigError for the parts that flitlab cannot express."""
    settings.use("ignore_cycles", "trace_file", "traffic_file", "routing_table_file")
    if settings["mode"] not in ("", "traffic", "trace"):
        raise ConfigError(f"{called}: mode = {settings['mode']} is not one of RapidChiplet's: traffic, trace.")
    if settings["mode"] == "trace":
        for name, only in (("classes", 1), ("sim_count", 1), ("subnets", 1), ("use_read_write", 0),
                           ("include_queuing", 1)):
            if settings[name] != only:
                raise ConfigError(f"{called}: mode = trace is not translated with {name} = {settings[name]}.")
        if settings["sim_type"] == "batch":
            raise ConfigError(f"{called}: mode = trace is not translated with sim_type = batch.")
    if settings["routing_table_type"] not in ("", "default", "extended"):
        raise ConfigError(f"{called}: routing_table_type = {settings['routing_table_type']} is not one of "
                          "RapidChiplet's: default, extended.")


def starts_measured(settings: Settings) -> bool:
    """Returns whether packets are measured from the first cycle on, without warm-up."""
    return settings["mode"] == "traffic"


def trace(settings: Settings, nodes: int, folder: Path) -> Trace | None:
    """Returns the packets of ``trace_file`` with ``mode = trace``. Raises ConfigError."""
    if settings["mode"] != "trace":
        return None
    path = file_of(settings, settings.called, folder, "trace_file")
    return trace_of(_json(path), nodes, not settings["ignore_cycles"], path)


def with_table(experiment: Experiment, settings: Settings, called: str, folder: Path) -> Experiment:
    """Returns the experiment with the routes of ``routing_table_file``. Raises ConfigError."""
    if settings["topology"] != "anynet" or not settings["routing_table_type"]:
        return experiment
    path = file_of(settings, called, folder, "routing_table_file")
    table = _json(path)
    links = links_file(settings, called, folder)
    listed = parse(read_text(links, str(links)), str(links))
    # flitlab numbers the routers with nodes first; a router's nodes have consecutive numbers.
    nodes = {router: [node for node, of in listed.router_of.items() if of == router] for router in listed.routers}
    order = sorted((r for r in listed.routers if nodes[r]), key=lambda router: min(nodes[router]))
    order += [router for router in listed.routers if not nodes[router]]
    number = {router: new for new, router in enumerate(order)}
    neighbours = {router: sorted({b for a, b in listed.latency if a == router} |
                                 {a for a, b in listed.latency if b == router}) for router in listed.routers}

    def routes(router: int, destination: int) -> int:
        at, node = order[router], min(nodes[order[destination]])
        try:
            ports = table[listed.routers.index(at)][str(node)]
            found = sorted(set(map(int, ports.values()))) if isinstance(ports, dict) else [int(ports)]
            # Ports lead to the router's nodes first, then to its neighbours, both in rising order.
            following = [number[neighbours[at][port - len(nodes[at])]] for port in found if port >= len(nodes[at])]
        except (IndexError, KeyError, TypeError, ValueError):
            following = []
        if not following:
            raise ConfigError(f"{path} has no port for packets to node {node} in router {at} that leads to another "
                              "router.")
        if len(following) > 1:
            raise ConfigError(f"{path}: packets to node {node} leave router {at} by port {found[0]} or {found[1]}, "
                              "depending on the port where they enter. In flitlab a route does not depend on it. Use "
                              "a table of the type default (RapidChiplet's algorithm splif).")
        return following[0]

    # As in BookSim, the packets of all routes share all virtual channels, so that some tables can deadlock.
    return experiment.with_routes(lambda router, destination: (routes(router, destination), None))


def traffic(settings: Settings, nodes: int, rate: float, folder: Path) -> tuple[Bernoulli, Pattern]:
    """Returns the injection process and the pattern of ``traffic_file``, a list of rates to each node for each node.
    Nodes with rates inject ``rate`` packets per cycle, whatever their sum is. Beside a trace there are none. Raises
    ConfigError."""
    if settings["mode"] == "trace":
        return Bernoulli(nodes, 0), lambda rng, sources: sources
    path = file_of(settings, settings.called, folder, "traffic_file")
    try:
        rates = np.array(_json(path), float)
    except (TypeError, ValueError):
        rates = np.zeros(0)
    if rates.shape != (nodes, nodes) or not np.isfinite(rates).all() or (rates < 0).any():
        raise ConfigError(f"{path} is not a list of {nodes} lists of {nodes} rates from 0 on.")
    sums = rates.sum(axis=1)
    until = rates.cumsum(axis=1)
    # One sorted row for all sources: source s has the numbers from s to s + 1.
    until = (until / np.where(sums, until[:, -1], 1)[:, None] + np.arange(nodes)[:, None]).ravel()

    def destinations(rng: np.random.Generator, sources: np.ndarray) -> np.ndarray:
        # With 24 bits, as in BookSim, the sum is exact, so that it stays below the next source's numbers.
        drawn = sources + rng.random(sources.size, np.float32).astype(float)
        return until.searchsorted(drawn, "right") - sources * nodes

    return Bernoulli(nodes, np.where(sums, rate, 0)), destinations


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path, str(path)))
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}.") from None
