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
from flitlab.experiment import Experiment
from flitlab.toml import read_text


def check(settings: Settings, called: str) -> None:
    """Raises ConfigError for the parts that flitlab cannot express."""
    settings.use("ignore_cycles", "trace_file", "traffic_file", "routing_table_file")
    if settings["mode"] not in ("", "traffic"):
        raise ConfigError(f"{called}: mode = {settings['mode']} is not translated. flitlab-booksim reads mode = "
                          "traffic.")
    if settings["routing_table_type"] not in ("", "default"):
        raise ConfigError(f"{called}: routing_table_type = {settings['routing_table_type']} is not translated: in "
                          "flitlab a route does not depend on the input port. Use routing_table_type = default.")


def starts_measured(settings: Settings) -> bool:
    """Returns whether packets are measured from the first cycle on, without warm-up."""
    return settings["mode"] == "traffic"


def with_table(experiment: Experiment, settings: Settings, called: str, folder: Path) -> Experiment:
    """Returns the experiment with the routes of ``routing_table_file``. Raises ConfigError."""
    if settings["topology"] != "anynet" or settings["routing_table_type"] != "default":
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
            # Ports lead to the router's nodes first, then to its neighbours, both in rising order.
            port = int(table[listed.routers.index(at)][str(node)]) - len(nodes[at])
            return number[neighbours[at][port] if port >= 0 else -1]
        except (IndexError, KeyError, TypeError, ValueError):
            raise ConfigError(f"{path} has no port for packets to node {node} in router {at} that leads to another "
                              "router.") from None

    return experiment.with_routes(routes)


def traffic(settings: Settings, nodes: int, rate: float, folder: Path) -> tuple[Bernoulli, Pattern]:
    """Returns the injection process and the pattern of ``traffic_file``, a list of rates to each node for each node.
    Nodes with rates inject ``rate`` packets per cycle, whatever their sum is. Raises ConfigError."""
    path = file_of(settings, settings.called, folder, "traffic_file")
    try:
        rates = np.array(_json(path), float)
    except (TypeError, ValueError):
        rates = np.zeros(0)
    if rates.shape != (nodes, nodes) or not np.isfinite(rates).all() or (rates < 0).any():
        raise ConfigError(f"{path} is not a list of {nodes} lists of {nodes} rates from 0 on.")
    sums = rates.sum(axis=1)
    until = np.cumsum(rates, axis=1) / np.where(sums, sums, 1)[:, None]
    until[:, -1] = 1

    def destinations(rng: np.random.Generator, sources: np.ndarray) -> np.ndarray:
        drawn = rng.random(sources.size)
        return np.array([until[source].searchsorted(value, "right") for source, value in
                         zip(sources.tolist(), drawn.tolist(), strict=True)], np.int64)

    return Bernoulli(nodes, np.where(sums, rate, 0)), destinations


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path, str(path)))
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}.") from None
