"""Text as BookSim prints it: its labels, their order and the format of numbers, which scripts rely on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flitlab.booksim.samples import Samples, ratio, shown

MOST_LISTED = 10


def sampled(name: str, samples: Samples) -> list[str]:
    return [f"{name} average = {shown(samples.average)}", f"\tminimum = {shown(samples.minimum)}",
            f"\tmaximum = {shown(samples.maximum)}"]


def rates(name: str, counts: np.ndarray, cycles: int) -> list[str]:
    """``counts``: for each node, in so many cycles."""
    low, high = int(counts.argmin()), int(counts.argmax())
    mean, least, most = spread(counts, cycles)
    # BookSim prints no blank in one of the labels.
    gap = "" if name == "Accepted flit rate" else " "
    return [f"{name} average{gap}= {shown(mean)}", f"\tminimum = {shown(least)} (at node {low})",
            f"\tmaximum = {shown(most)} (at node {high})"]


def spread(counts: np.ndarray, cycles: int) -> tuple[float, float, float]:
    """Returns the mean, the minimum and the maximum of the nodes' counts per cycle."""
    return (ratio(ratio(float(counts.sum()), cycles), counts.size), ratio(float(counts.min()), cycles),
            ratio(float(counts.max()), cycles))


def remaining(kind: int, flits: Sequence[int], total: int, measured: Sequence[int], total_measured: int) -> list[str]:
    """``flits``, ``measured``: the numbers of the first flits that are under way."""
    lines = [f"Class {kind}:"]
    for name, listed, number in (("Remaining", flits, total), ("Measured", measured, total_measured)):
        more = "[...] " if number > MOST_LISTED else ""
        lines.append(f"{name} flits: {''.join(f'{flit} ' for flit in listed[:MOST_LISTED])}{more}({number} flits)")
    return lines


# The lines of the overall statistics, each of them with its minimum and maximum.
OVERALL = ("Packet latency", "Network latency", "Flit latency", "Fragmentation", "Injected packet rate",
           "Accepted packet rate", "Injected flit rate", "Accepted flit rate")


class Overall:
    """The statistics of a class of packets over all simulations (``sim_count``)."""

    def __init__(self) -> None:
        self.simulations = 0
        self._sums = np.zeros((len(OVERALL), 3))  # average, minimum, maximum
        self._hops = 0.0

    def add(self, samples: Sequence[Samples], counts: Sequence[np.ndarray], cycles: int, hops: float) -> None:
        self.simulations += 1
        self._sums += [*((s.average, s.minimum, s.maximum) for s in samples), *(spread(c, cycles) for c in counts)]
        self._hops += hops

    def _of(self, name: str) -> np.ndarray:
        return self._sums[OVERALL.index(name)] / self.simulations

    def _sizes(self) -> list[float]:
        return [ratio(float(self._of(f"{what} flit rate")[0]), float(self._of(f"{what} packet rate")[0]))
                for what in ("Injected", "Accepted")]

    def lines(self, kind: int) -> list[str]:
        of = f" ({self.simulations} samples)"
        lines = [f"====== Traffic class {kind} ======"]
        for name in OVERALL:
            for label, value in zip((f"{name} average", "\tminimum", "\tmaximum"), self._of(name), strict=True):
                lines.append(f"{label} = {shown(value)}{of}")
        injected, accepted = self._sizes()
        return [*lines, f"Injected packet size average = {shown(injected)}{of}",
                f"Accepted packet size average = {shown(accepted)}{of}",
                f"Hops average = {shown(self._hops / self.simulations)}{of}"]

    def values(self) -> list[float]:
        """Returns the values of a line of ``print_csv_results``: of each statistic minimum, average, maximum."""
        of_each = [value for name in OVERALL for value in self._of(name)[[1, 0, 2]]]
        return [*of_each, *self._sizes(), self._hops / self.simulations]
