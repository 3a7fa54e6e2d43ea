"""The file that BookSim writes with ``stats_out``, in the language of MATLAB: the configuration and, after each
simulation, histograms and the statistics of all nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from flitlab.booksim.batch import BatchSimulation
from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.phases import OfClass, Simulation
from flitlab.booksim.samples import ratio, shown
from flitlab.booksim.settings import Settings


def configuration(settings: Settings) -> list[str]:
    """Returns the words, whole numbers and other numbers of a configuration, each in alphabetical order."""
    words = [f"%{name} = '{value}';" for name, value in sorted(settings.of_type(str).items())
             if value != "" and name in DEFAULTS]
    numbers = [f"%{name} = {shown(float(value)) if kind is float else value};" for kind in (int, float)
               for name, value in sorted(settings.of_type(kind).items()) if name in DEFAULTS]
    return words + numbers


def statistics(simulation: Simulation, with_pairs: bool) -> list[str]:
    lines = ["%================================="]
    for number, of_class in enumerate(simulation.classes):
        if simulation.rules.measured[number]:
            lines += _of_class(simulation, of_class, number, with_pairs)
    if isinstance(simulation, BatchSimulation):
        lines.append(f"batch_time = {shown(simulation.durations.average)};")
    return lines


def _of_class(simulation: Simulation, of_class: OfClass, number: int, with_pairs: bool) -> list[str]:
    of = number + 1  # MATLAB counts from 1
    lines = []
    for name, samples in (("plat", of_class.packet), ("nlat", of_class.network), ("flat", of_class.flit)):
        lines += [f"{name}({of}) = {shown(samples.average)};", _row(f"{name}_hist", of, samples.histogram)]
    lines += [_row("frag_hist", of, of_class.fragmentation.histogram), _row("hops", of, of_class.hops.histogram)]
    pairs = []
    if with_pairs:
        packets, latency, network, flits, flit_latency = of_class.pairs
        for name, sums, counts in (("plat", latency, packets), ("nlat", network, packets),
                                   ("flat", flit_latency, flits)):
            pairs.append(_row(f"pair_{name}", of, map(ratio, sums, counts)))
        pairs.insert(0, _row("pair_sent", of, packets))
    sent, accepted, sent_flits, accepted_flits = simulation.counts(number)
    cycles = simulation.cycles
    rows: list[tuple[str, Iterable[float]]] = [
        ("sent_packets", sent / cycles), ("accepted_packets", accepted / cycles),
        ("sent_flits", sent_flits / cycles), ("accepted_flits", accepted_flits / cycles),
        ("sent_packet_size", map(ratio, sent_flits, sent)),
        ("accepted_packet_size", map(ratio, accepted_flits, accepted))]
    # BookSim closes the last list of pairs even if there is none.
    return [*lines, *(pairs or ["];"]), *(_row(name, of, values) for name, values in rows)]


def _row(name: str, of: int, values: Iterable[float] | np.ndarray) -> str:
    return f"{name}({of},:) = [ {''.join(f'{shown(float(value))} ' for value in values)}];"


def writer(settings: Settings, out: Callable[[list[str]], None]) -> Callable[[Simulation], None]:
    """Returns a function that adds a simulation to the file. ``out`` prints lines, for ``stats_out = -``."""
    name, with_pairs = str(settings["stats_out"]), settings["pair_stats"] == 1
    if not name:
        return lambda simulation: None
    if name == "-":
        return lambda simulation: out(statistics(simulation, with_pairs))
    with open(name, "w", encoding="utf-8") as file:
        file.write("\n".join(configuration(settings)) + "\n")

    def add(simulation: Simulation) -> None:
        with open(name, "a", encoding="utf-8") as file:
            file.write("\n".join(statistics(simulation, with_pairs)) + "\n")

    return add
