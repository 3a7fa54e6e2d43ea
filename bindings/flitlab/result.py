"""Result: the measured values of one run."""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import TYPE_CHECKING, Any, Literal, overload

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean

if TYPE_CHECKING:
    from flitlab.channels import Channels
    from flitlab.experiment import Experiment

# Wrong names that users often try -> hint for the message.
NEARLY = {
    "latency": " It is latency_cycles (mean, ci95, p50, p95, p99, max), from creation to the tail's arrival.",
    "network_latency": " It is network_latency_cycles, from injection to the tail's arrival.",
    "throughput": " It is accepted, in flits/cycle/terminal.",
    "load": " Loads are offered and accepted, in flits/cycle/terminal.",
    "hops": " It is hops_mean.",
    "cycles_per_second": " It is router_cycles_per_second.",
    "delivered": " It is packets.delivered.",
}


class Record:
    """Attribute access to a dictionary of the JSON output. Unknown names raise AttributeError, which suggests a
    name."""

    _parts: dict[str, type[Record]] = {}  # name -> class of a nested dictionary

    def __init__(self, values: dict[str, Any]):
        self._values = values

    if not TYPE_CHECKING:  # so that type checkers report names that do not exist

        def __getattr__(self, name: str) -> Any:
            values = self.__dict__.get("_values", {})
            if name not in values:
                hint = NEARLY.get(name) or did_you_mean(name, values)
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.{hint}")
            value = values[name]
            return self._parts.get(name, Record)(value) if isinstance(value, dict) and name != "config" else value

    def __getitem__(self, name: str) -> Any:
        """Returns ``result["accepted"]`` as the attribute; ``result["latency_cycles.mean"]`` is a nested value."""
        if not isinstance(name, str):
            raise KeyError(f"there is no {name!r}.{did_you_mean(name, self._values)}")
        head, _, rest = name.partition(".")
        if head not in self._values:
            raise KeyError(f"there is no {head!r}.{NEARLY.get(head) or did_you_mean(head, self._values)}")
        value = getattr(self, head)
        if rest and not isinstance(value, (Record, dict)):
            raise KeyError(f"there is no {name!r}: {head} has no parts.")
        return value[rest] if rest else value

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return self._values.keys()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def to_dict(self) -> dict[str, Any]:
        return self._values

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={_short(v)}' for k, v in self._values.items())})"


class Latency(Record):
    """Latencies in cycles; None unless the result's verdict is "steady".

    ci95 is half of the 95 % confidence interval of the mean. It is None for batches, traces and programs, which measure
    all packets, for windows of fewer than five epochs, and for windows shorter than ten periods of on-off sources.
    p50, p95 and p99 are percentiles from bins: exact below 128 cycles or if all latencies are equal, else within 1/64
    of their value.
    """

    mean: float | None
    ci95: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None


class Packets(Record):
    """Numbers of packets since cycle 0."""

    created: int
    injected: int
    delivered: int
    dropped: int
    in_flight: int
    queued: int


class WindowPackets(Record):
    """Packets created in the measurement window, and how many of them were delivered or dropped by the end of the
    run."""

    created: int
    delivered: int
    dropped: int


class Use(Record):
    """Use of channels in the measurement window, flits/cycle."""

    mean: float
    max: float


class Model(Record):
    """Values that only this router or traffic has, such as totals of the model, by name."""

    def __getattr__(self, name: str) -> Any:
        return Record.__getattr__(self, name)  # type: ignore[attr-defined]


class Result(Record):
    """The measured values of one run. Attributes are the keys of ``flitlab run --json``, e.g.
    ``result.latency_cycles.mean``.

    Loads are in flits/cycle/terminal. In a closed loop, packets, loads and latency cover requests and replies; in
    events and traces, replies are the packets with id >= 2**31.

    ``verdict`` is "steady" (the network carries the load, and latencies are measured), "saturated", "too_short" (source
    queues grew, but the window has too few epochs to distinguish growth from chance) or "not_drained" (packets of the
    window did not arrive within run.drain_cycles). ``saturated`` is true for "saturated" only.
    """

    _parts = {"latency_cycles": Latency, "network_latency_cycles": Latency, "packets": Packets,
              "window_packets": WindowPackets, "channel_utilization": Use, "model": Model}

    version: str
    backend: str
    device: str
    threads: int
    seed: int
    config: dict[str, Any]
    routers: int
    terminals: int
    cycles: int
    warmup_cycles: int
    measured_cycles: int
    drain_cycles: int
    wall_seconds: float
    router_cycles_per_second: float
    state_bytes: int
    state_hash: str
    offered: float
    accepted: float
    verdict: str
    saturated: bool
    warmup_steady: bool
    window_capped: bool
    latency_cycles: Latency
    network_latency_cycles: Latency
    hops_mean: float | None
    packets: Packets
    window_packets: WindowPackets
    channel_utilization: Use
    model: Model

    def __init__(self, values: dict[str, Any], experiment: Experiment | None = None):
        """``experiment``: the experiment of the run, needed for ``channels`` if ``values`` has channel_flits."""
        super().__init__({key: value for key, value in values.items() if key != "channel_flits"})
        self._experiment = experiment
        self._channel_flits = values.get("channel_flits")

    # For type checkers: the types of result["accepted"] and other items.
    @overload
    def __getitem__(self, name: Literal[
        "offered", "accepted", "wall_seconds", "router_cycles_per_second", "channel_utilization.mean",
        "channel_utilization.max"]) -> float: ...
    @overload
    def __getitem__(self, name: Literal[
        "hops_mean", "latency_cycles.mean", "latency_cycles.ci95", "latency_cycles.p50", "latency_cycles.p95",
        "latency_cycles.p99", "latency_cycles.max", "network_latency_cycles.mean", "network_latency_cycles.ci95",
        "network_latency_cycles.p50", "network_latency_cycles.p95", "network_latency_cycles.p99",
        "network_latency_cycles.max"]) -> float | None: ...
    @overload
    def __getitem__(self, name: Literal["saturated", "warmup_steady", "window_capped"]) -> bool: ...
    @overload
    def __getitem__(self, name: Literal["version", "backend", "device", "state_hash", "verdict"]) -> str: ...
    @overload
    def __getitem__(self, name: Literal[
        "threads", "seed", "routers", "terminals", "cycles", "warmup_cycles", "measured_cycles", "drain_cycles",
        "state_bytes", "packets.created", "packets.injected", "packets.delivered", "packets.dropped",
        "packets.in_flight", "packets.queued", "window_packets.created", "window_packets.delivered",
        "window_packets.dropped"]) -> int: ...
    @overload
    def __getitem__(self, name: Literal["config"]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, name: Literal["latency_cycles", "network_latency_cycles"]) -> Latency: ...
    @overload
    def __getitem__(self, name: Literal["packets"]) -> Packets: ...
    @overload
    def __getitem__(self, name: Literal["window_packets"]) -> WindowPackets: ...
    @overload
    def __getitem__(self, name: Literal["channel_utilization"]) -> Use: ...
    @overload
    def __getitem__(self, name: Literal["model"]) -> Model: ...
    @overload
    def __getitem__(self, name: Literal["channels"]) -> Channels: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)

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
                    f"{v['drain_cycles']} drain), seed {v['seed']}, {v['backend']}, {v['device']}"
                    + ("" if v["warmup_steady"] else
                       "   WARNING: not steady after the longest automatic warm-up; set run.warmup_cycles")
                    + ("" if not v["window_capped"] else f"   {_precision(v)}; raise run.longest_window")),
            ("offered load", f"{v['offered']:.4f} flits/cycle/terminal"),
            ("accepted load", f"{v['accepted']:.4f} flits/cycle/terminal"
                              + _warning(v)),
            ("latency", _latency(latency, v)),
            ("network latency", _latency(network, v)),
            ("hops", _short(v["hops_mean"])),
            ("channel use", f"mean {v['channel_utilization']['mean']:.3f}, "
                            f"max {v['channel_utilization']['max']:.3f} flits/cycle"),
            ("packets", ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in v["packets"].items())),
            ("speed", f"{v['router_cycles_per_second'] / 1e6:.2f} million router-cycles/s, "
                      f"{v['wall_seconds']:.2f} s"),
            ("state hash", v["state_hash"]),
        ]
        return rows + [(k.replace("_", " "), _short(n)) for k, n in v["model"].items()]

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


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
