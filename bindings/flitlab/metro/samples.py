"""Throughput, latency and attempts of a METRO network under load, window by window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from flitlab.experiment import Experiment
from flitlab.network import Network

# columns of Samples that are rates and means, with labels for axes
LABELS = {"throughput": "throughput\n(words/clock/endpoint)", "latency": "latency, mean (clocks)",
          "attempts per message": "attempts per message"}
# counts of attempts that were lost, by the number of routers that had reported
SILENCE = [f"lost_stage_{stage}" for stage in range(4)]


class Samples:
    """Samples of a network's totals while it advances.

    ``frame``: a row for each sample. Columns: clock (its first clock), clocks (its length); the increase of each number
    of ``Network.totals``; throughput, in words per clock and endpoint; latency, the mean from a message's first word to
    its acknowledgment, in clocks; attempts per message."""

    def __init__(self, net: Network):
        self._net, self._rows = net, list[dict[str, Any]]()
        self._clock, self._totals = net.cycle, net.totals

    def take(self) -> dict[str, Any]:
        """Adds a sample from the end of the last one to now, and returns it."""
        clocks, now = self._net.cycle - self._clock, self._net.totals
        counts = {name: now[name] - self._totals[name] for name in now}
        messages, endpoints = counts["packets_delivered"], self._net.experiment.derived()["terminals"]
        nan = float("nan")  # no message has arrived
        sample = {"clock": self._clock, "clocks": clocks, **counts,
                  "throughput": counts["flits_delivered"] / clocks / endpoints,
                  "latency": counts["latency_sum"] / messages if messages else nan,
                  "attempts per message": counts["attempts"] / messages if messages else nan}
        self._rows.append(sample)
        self._clock, self._totals = self._net.cycle, now
        return sample

    def follow(self, windows: int, window: int = 250) -> Samples:
        """Steps the network by some windows of ``window`` clocks and takes a sample after each."""
        for _ in range(windows):
            self._net.step(window)
            self.take()
        return self

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows)


def steady(experiments: Iterable[Experiment], warmup: int = 2000, clocks: int = 15000) -> pd.DataFrame:
    """Returns a sample of ``clocks`` clocks after a warm-up for each experiment, as a row."""
    return pd.DataFrame([Samples(Network(e).step(warmup)).follow(1, clocks).frame.iloc[0] for e in experiments])


def means(frame: pd.DataFrame, spans: dict[str, tuple[int, int]]) -> pd.DataFrame:
    """Returns the means of throughput, latency and attempts per message over the samples of each span. spans: first
    clock and end by name; a row of the result is a span."""
    return pd.DataFrame({name: frame[(frame.clock >= begin) & (frame.clock < end)][list(LABELS)].mean()
                         for name, (begin, end) in spans.items()}).T.round(3)


def answers(runs: Mapping[bool, pd.DataFrame]) -> pd.DataFrame:
    """Returns a table with a row for each run: whether its slices compare their ports (the key), mean latency and
    attempts per message, and the numbers of attempts without a valid answer and of wrong messages accepted."""
    return pd.DataFrame([{"slices compare": check, "latency (clocks)": round(part.latency.mean(), 1),
                          "attempts per message": round(part["attempts per message"].mean(), 3),
                          "refused": part.refused.sum(), "without an answer": part[SILENCE].sum().sum(),
                          "wrong messages accepted": part.messages_accepted_wrong.sum()}
                         for check, part in runs.items()])
