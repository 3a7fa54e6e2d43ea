"""Result: the measured values of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flitlab._core import ConfigError
from flitlab.columns import ResultColumns
from flitlab.nested import short

if TYPE_CHECKING:
    from flitlab.channels import Channels
    from flitlab.experiment import Experiment


class Result(ResultColumns):
    """The measured values of one run. Attributes are the keys of ``flitlab run --json``, e.g.
    ``result.latency_cycles.mean``.

    Loads are in flits/cycle/terminal. In a closed loop, packets, loads and latency cover requests and replies; in
    events and traces, replies are the packets with id >= 2**31.

    ``verdict`` is "steady" (the network carries the load, and latencies are measured), "saturated", "too_short" (source
    queues grew, but the window has too few epochs or bursts to distinguish growth from chance) or "not_drained"
    (packets of the window did not arrive within run.drain_cycles). ``saturated`` is true for "saturated" only.
    """

    def __init__(self, values: dict[str, Any], experiment: Experiment | None = None):
        """``experiment``: the experiment of the run, needed for ``channels`` if ``values`` has channel_flits."""
        super().__init__({key: value for key, value in values.items() if key != "channel_flits"})
        self._experiment = experiment
        self._channel_flits = values.get("channel_flits")

    @property
    def channels(self) -> Channels:
        """Use of each channel between routers in the measurement window: ``result.channels.frame`` is a table,
        ``result.channels.plot()`` a heat map, ``len(result.channels)`` the number of channels. Raises ConfigError for
        results that are not returned by ``fl.run``."""
        from flitlab.channels import Channels

        if self._experiment is None or self._channel_flits is None:
            raise ConfigError("result.channels: only the result of fl.run has data on channels.")
        return Channels(self._experiment, self._channel_flits, self._values["measured_cycles"])

    def rows(self) -> list[tuple[str, str]]:
        """Returns the main numbers as (name, text) for display."""
        v = self._values
        latency, network = v["latency_cycles"], v["network_latency_cycles"]
        rows = [
            ("network", f"{v['routers']} routers, {v['terminals']} terminals, {v['channels']} channels"),
            ("run", f"{v['cycles']} cycles ({v['warmup_cycles']} warm-up, {v['measured_cycles']} measured, "
                    f"{v['drain_cycles']} drain"
                    + (f", {v['stepped_cycles']} stepped" if v.get("stepped_cycles", v["cycles"]) < v["cycles"] else "")
                    + f"), seed {v['seed']}, {v['backend']}, {v['device']}"
                    + ("" if v["warmup_steady"] else
                       "   WARNING: not steady after the longest automatic warm-up; set run.warmup_cycles")
                    + ("" if not v["window_capped"] else f"   {_precision(v)}; raise run.longest_window")),
            ("offered load", f"{v['offered']:.4f} flits/cycle/terminal"),
            ("accepted load", f"{v['accepted']:.4f} flits/cycle/terminal"
                              + _warning(v)),
            ("latency", _latency(latency, v)),
            ("network latency", _latency(network, v)),
            ("hops", short(v["hops_mean"])),
            ("channel use", f"mean {v['channel_utilization']['mean']:.3f}, "
                            f"max {v['channel_utilization']['max']:.3f} flits/cycle"),
            ("packets", ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in v["packets"].items())),
            ("speed", f"{v['router_cycles_per_second'] / 1e6:.2f} million router-cycles/s, "
                      f"{v['wall_seconds']:.2f} s"),
            ("state hash", v["state_hash"]),
        ]
        return rows + [(k.replace("_", " "), short(n)) for k, n in v["model"].items()]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        return "\n".join(f"{name:<{width}}  {text}" for name, text in self.rows())

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th style='text-align:left'>{a}</th><td style='text-align:left'>{b}</td></tr>"
                        for a, b in self.rows())
        return f"<table>{cells}</table>"


def _warning(values: dict[str, Any]) -> str:
    if values["verdict"] == "saturated":
        return "   SATURATED: latency has no steady value"
    if values["verdict"] != "too_short":
        return ""
    few = "   TOO FEW {} to judge whether the network is saturated: source queues grew; measure for {}"
    if values["config"].get("traffic.injection") == "on_off":
        return few.format("BURSTS", "ten burst periods (raise run.longest_window or run.measure_cycles)")
    return few.format("EPOCHS", "four epochs or more (raise run.measure_cycles or lower run.epoch_cycles)")


def precision_reached(mean: float | None, half_width: float | None, requested: float | None) -> str:
    """Returns the precision of mean latency and the requested one: "precision 1.3 % (1 % requested)"."""
    reached = "not known" if half_width is None or not mean else f"{100 * half_width / mean:.2g} %"
    return f"precision {reached}" + (f" ({100 * requested:g} % requested)" if requested else "")


def _precision(values: dict[str, Any]) -> str:
    latency, requested = values["latency_cycles"], values["config"].get("run.precision")
    if values["verdict"] != "steady":
        return f"precision of accepted load is worse than {100 * requested:g} %"
    return precision_reached(latency["mean"], latency["ci95"], requested)


def _latency(stats: dict[str, Any], values: dict[str, Any]) -> str:
    if values["verdict"] == "not_drained":
        window = values["window_packets"]
        missing = window["created"] - window["delivered"] - window["dropped"]
        return (f"not measured: {missing} of {window['created']} packets of the window did not arrive within "
                f"run.drain_cycles = {values['config']['run.drain_cycles']}; raise it")
    if stats["mean"] is None:
        return "not measured"
    interval = "" if stats["ci95"] is None else f" +- {stats['ci95']:.2f}"
    return (f"{stats['mean']:.2f}{interval} cycles (p50 {stats['p50']:g}, p95 {stats['p95']:g}, "
            f"p99 {stats['p99']:g}, max {stats['max']:g})")
