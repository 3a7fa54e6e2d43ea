"""Columns of results, events and inspected items, with their types.

tests/tools/typed_columns.py writes this file from the core's tables; do not edit it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from flitlab.nested import Model, Record

if TYPE_CHECKING:
    from typing import NotRequired  # Python 3.11

    from flitlab.channels import Channels


class Latency(Record):
    """Latency from creation to the arrival of the tail; null unless steady."""

    # cycles: mean latency
    mean: float | None
    # cycles: median, from bins: exact below 128 cycles or if all latencies are equal, otherwise within 1/64 of its
    # value
    p50: float | None
    # cycles: 95th percentile, as exact as p50
    p95: float | None
    # cycles: 99th percentile, as exact as p50
    p99: float | None
    # cycles: highest latency
    max: float | None
    # cycles: half width of the 95 % confidence interval of the mean; null for batches, traces and programs, which
    # measure all packets, for windows of fewer than five epochs, and for windows shorter than ten periods of on-off
    # sources
    ci95: float | None


class Packets(Record):
    """Packets since cycle 0."""

    # packets: created by the sources
    created: int
    # packets: whose head has entered the network
    injected: int
    # packets: whose tail has arrived
    delivered: int
    # packets: lost in the network
    dropped: int
    # packets: injected, and neither delivered nor dropped
    in_flight: int
    # packets: created, and not yet injected
    queued: int


class WindowPackets(Record):
    """Packets created in the window."""

    # packets: created in the window
    created: int
    # packets: delivered by the end of the run
    delivered: int
    # packets: dropped by the end of the run
    dropped: int


class Use(Record):
    """Utilization of router-to-router channels in the window."""

    # flits/cycle: mean of all channels
    mean: float
    # flits/cycle: utilization of the channel that carries most
    max: float


class ResultColumns(Record):
    """Values of a result."""

    _parts = {"latency_cycles": Latency, "network_latency_cycles": Latency, "packets": Packets, "window_packets":
              WindowPackets, "channel_utilization": Use, "model": Model}

    # version of flitlab
    version: str
    # backend that ran the network: cpu or cuda
    backend: str
    # name of the processor or GPU
    device: str
    # threads: CPU threads of the job
    threads: int
    # run.seed
    seed: int
    # every parameter with its value, by dotted path
    config: dict[str, Any]
    # routers: in the network
    routers: int
    # terminals: that take part in the traffic
    terminals: int
    # cycles: emulated
    cycles: int
    # cycles: emulated one by one; the others were skipped, because the network was idle or a program repeated itself
    stepped_cycles: int
    # programs: why all cycles were stepped; empty: some were skipped
    stepped_because: str
    # cycles: before the measurement window
    warmup_cycles: int
    # cycles: in the measurement window
    measured_cycles: int
    # cycles: after the window, until its packets had arrived
    drain_cycles: int
    # s: duration of the job until this replica ended
    wall_seconds: float
    # router-cycles/s: speed of the job, all its replicas together
    router_cycles_per_second: float
    # bytes: size of the state of one replica
    state_bytes: int
    # hash of the final state; equal on every backend and number of threads
    state_hash: str
    # flits/cycle/terminal: load that the sources created in the window
    offered: float
    # flits/cycle/terminal: load that the terminals received in the window
    accepted: float
    # steady: the network carries the load, and latencies are measured; saturated; too_short: source queues grew, but
    # the window has too few epochs or bursts to distinguish growth from chance; not_drained: packets of the window did
    # not arrive within run.drain_cycles
    verdict: str
    # whether the verdict is saturated
    saturated: bool
    # false: the automatic warm-up reached its limit before latency was steady
    warmup_steady: bool
    # true: the automatic window ended at run.longest_window, short of run.precision
    window_capped: bool
    # latency from creation to the arrival of the tail; null unless steady
    latency_cycles: Latency
    # latency from injection to the arrival of the tail; null unless steady
    network_latency_cycles: Latency
    # hops: mean number of router-to-router channels on a packet's path
    hops_mean: float | None
    # packets since cycle 0
    packets: Packets
    # packets created in the window
    window_packets: WindowPackets
    # utilization of router-to-router channels in the window
    channel_utilization: Use
    # values that only this router model or traffic mode has, by name
    model: Model

    @overload
    def __getitem__(self, name: Literal[
        "version", "backend", "device", "stepped_because", "state_hash", "verdict"
    ]) -> str: ...
    @overload
    def __getitem__(self, name: Literal[
        "threads", "seed", "routers", "terminals", "cycles", "stepped_cycles", "warmup_cycles", "measured_cycles",
        "drain_cycles", "state_bytes", "packets.created", "packets.injected", "packets.delivered", "packets.dropped",
        "packets.in_flight", "packets.queued", "window_packets.created", "window_packets.delivered",
        "window_packets.dropped"
    ]) -> int: ...
    @overload
    def __getitem__(self, name: Literal["config"]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, name: Literal[
        "wall_seconds", "router_cycles_per_second", "offered", "accepted", "channel_utilization.mean",
        "channel_utilization.max"
    ]) -> float: ...
    @overload
    def __getitem__(self, name: Literal["saturated", "warmup_steady", "window_capped"]) -> bool: ...
    @overload
    def __getitem__(self, name: Literal["latency_cycles", "network_latency_cycles"]) -> Latency: ...
    @overload
    def __getitem__(self, name: Literal[
        "hops_mean", "latency_cycles.mean", "latency_cycles.p50", "latency_cycles.p95", "latency_cycles.p99",
        "latency_cycles.max", "latency_cycles.ci95", "network_latency_cycles.mean", "network_latency_cycles.p50",
        "network_latency_cycles.p95", "network_latency_cycles.p99", "network_latency_cycles.max",
        "network_latency_cycles.ci95"
    ]) -> float | None: ...
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


class Event(TypedDict):
    """An event of a traced network."""

    # cycle: cycle of the event
    cycle: int
    # created: a source creates a packet; injected: its head leaves the source queue; arrived: a head enters an input
    # buffer; routed: a head has its output port; vc_granted: a head has its output virtual channel; switch_granted: a
    # flit leaves its input buffer; delivered: a tail arrives at its terminal; a model may have one kind of its own
    kind: str
    # kind of the place of the event: router or terminal
    item: str
    # number of that router or terminal
    index: int
    # input port
    port: int
    # input virtual channel
    vc: int
    # output port
    out_port: int
    # output virtual channel
    out_vc: int
    # terminal that created the packet
    src: int
    # number of the packet at that terminal
    id: int
    # head, body, tail, or head+tail for a packet of one flit
    flit: str
    # flits: length of the packet
    flits: int
    # created: terminal that the packet goes to; other kinds do not have this column
    dst: NotRequired[int]


@dataclass(frozen=True)
class VirtualChannelColumns:
    """State of a virtual channel."""

    # pipeline stage of the front packet; idle: no packet
    stage: str
    # flits: in the input buffer
    flits: int
    # flits: size of the input buffer; 0: no buffer of its own, or no limit
    capacity: int
    # packets: in the input buffer, whole or in part
    packets: int
    # flits: of the front packet, still to be sent
    left: int
    # output port that the front packet requests or holds
    out_port: int | None
    # output virtual channel that it holds
    out_vc: int | None
    # source terminal of the front packet
    src: int | None
    # number of the front packet at its source
    id: int | None
    # destination router of the front packet
    dst_router: int | None
    # flits: of the output VC with the same port and VC number
    credits: int
    # input port whose packet holds that output virtual channel
    owner_port: int | None
    # virtual channel of that input port
    owner_vc: int | None


@dataclass(frozen=True)
class PortColumns:
    """State of a port."""

    # router or terminal at the far end; none: not connected
    peer: int | None
    # whether the far end is a terminal
    to_terminal: bool


@dataclass(frozen=True)
class TerminalColumns:
    """State of a terminal."""

    # packets: created since cycle 0
    created: int
    # packets: packets whose head has been injected
    sent: int
    # packets: packets whose tail has arrived
    received: int
    # packets: in the source queue
    queued: int
    # flits: of the packet being injected, still to be sent
    flits_left: int
    # virtual channel on which it is injected
    vc: int
    # cycle: creation of the next packet; none: no more packets
    next_creation: int | None
    # flits: of the injection channel, per virtual channel
    credits: list[int]
