"""The distributed phase-locked loop of S-Connect (2.5, 3.3): what its equations say of an emulated fabric, and how
software looks at its clocks.

Units are those of the emulator: radians (a clock is 2 pi), routing cycles of 6 clocks, and frequencies as deviations
from the nominal one, in radians per routing cycle. ``PPM`` of them are a part in a million.

Equation (1), differentiated, is d phi/dt = K A phi + F, with F_i = omega_i + K sum_j a_ij d_ij. Equations (2) and (3)
leave out the K before A; without it the decay rates would not depend on the gain, which section 2.5 says they do. So
modes decay with K times the eigenvalues of A.

The emulated loop departs from these equations in two ways, which :class:`Loop` knows: it acts once in a routing
cycle, and a phase takes ``delay`` routing cycles to the far end. While a fabric runs at a frequency f, a phase that
is so old is too small by f ``delay``: that is part of d_ij, which the paper takes at the operating frequency. Delays
do not make the loop swing up as long as K times the channels of a node (K alone, for averages) is at most 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flitlab._core import ConfigError
from flitlab.network import Network
from flitlab.sconnect.console import Fabric

PPM = 6 * 2 * math.pi * 1e-6
RADIAN = 1 << 32
CHANNELS = 4  # serial ones of a TIC, ports 0 to 3; the parallel ports are 4 and 5


def radians(value: int) -> float:
    """A register that holds 2^-32 rad, or that per routing cycle, in two's complement."""
    return (value - (1 << 64) if value >> 63 else value) / RADIAN


def oscillators(net: Network) -> list[list[int]]:
    """TICs that share each oscillator: those of a node or switch, which parallel ports join (S-Connect, 3,
    Figure 10)."""
    first = list(range(int(net.experiment.derived()["routers"])))
    for tic, port, far, _ in net.links():
        if port >= CHANNELS:
            first[tic] = min(first[tic], far)
    return [[tic for tic, mine in enumerate(first) if mine == one] for one in sorted(set(first))]


def _read(net: Network, name: str) -> np.ndarray:
    return np.array([radians(Fabric(net).read_register(tics[0], name)) for tics in oscillators(net)])


def phases(net: Network) -> np.ndarray:
    """Of all oscillators, rad, as deviations from the nominal clock; modulo 2^32."""
    return _read(net, "clock_phase")


def frequencies(net: Network) -> np.ndarray:
    """Of all oscillators in the last cycle, rad per routing cycle, as deviations from the nominal one."""
    return _read(net, "clock_rate")


def mean_frequency(net: Network, cycles: int) -> float:
    """Steps the network and returns by how much all phases have gone on in a cycle, on average."""
    before = phases(net)
    net.step(cycles)
    gone = (phases(net) - before + RADIAN / 2) % RADIAN - RADIAN / 2
    return float(np.mean(gone)) / cycles


@dataclass(frozen=True)
class Channel:
    """One direction of a serial channel, as the receiver's comparator sees it."""

    to: int  # oscillators
    source: int
    d: float  # rad, of equation (1), without what the delay adds
    delay: int  # routing cycles


@dataclass(frozen=True)
class Loop:
    """The equations of a fabric, for linear comparators."""

    gain: float  # K, per routing cycle
    sums: bool  # the comparators of a node are added up as in equation (1); averaged, as in the TIC, otherwise
    free: np.ndarray  # omega_i
    shared: np.ndarray  # oscillators of more than one TIC, which act a cycle later
    channels: tuple[Channel, ...]

    @classmethod
    def of(cls, net: Network) -> Loop:
        """That of an emulated fabric with all its channels. Of slips it knows what they have changed up to now."""
        e = net.experiment
        if not e["clock.emulated"]:
            raise ConfigError("clock.emulated = false: this fabric has no clocks of its own.")
        groups = oscillators(net)
        of = {tic: number for number, tics in enumerate(groups) for tic in tics}
        registers = [Fabric(net).registers(tic) for tic in range(len(of))]
        channels = tuple(Channel(of[tic], of[far], radians(registers[tic][f"cable.{port}"]),
                                 registers[far][f"delay.{there}"])
                         for tic, port, far, there in net.links() if port < CHANNELS)
        return cls(e["clock.gain"], e["clock.detector"] == "sum",
                   np.array([radians(registers[tics[0]]["clock_free"]) for tics in groups]),
                   np.array([len(tics) > 1 for tics in groups]), channels)

    @property
    def matrix(self) -> np.ndarray:
        """A of equation (3): a_ij channels from j to i, and rows that add up to 0. Its eigenvalues are not positive;
        one is 0."""
        a = np.zeros((len(self.free), len(self.free)))
        for c in self.channels:
            a[c.to, c.source] += 1
            a[c.to, c.to] -= 1
        return a

    @property
    def degrees(self) -> np.ndarray:
        """Channels that come to each oscillator."""
        return np.bincount([c.to for c in self.channels], minlength=len(self.free)).astype(float)

    @property
    def detector(self) -> np.ndarray:
        """What takes the place of A: A itself, or with averaging detectors each row divided by its degree. This is no
        longer symmetric where degrees differ, but similar to D^-1/2 A D^-1/2, which is: its eigenvalues are as
        before real, not positive, and one is 0."""
        return self.matrix * self._share[:, None]

    @property
    def _share(self) -> np.ndarray:
        """Of each comparator in what its oscillator's detector says."""
        return np.ones(len(self.free)) if self.sums else 1 / self.degrees

    @property
    def weights(self) -> np.ndarray:
        """Of the oscillators in the lock frequency: the left eigenvector for 0, summing to 1. All alike with sums;
        with averages in proportion to the degree, since a node with many channels listens less to each of them."""
        w = np.ones(len(self.free)) if self.sums else self.degrees
        return w / w.sum()

    @property
    def eigenvalues(self) -> np.ndarray:
        """Of the detector matrix, from 0 downward."""
        root = np.sqrt(self._share)
        return np.linalg.eigvalsh(self.matrix * root[:, None] * root[None, :])[::-1]

    @property
    def rates(self) -> np.ndarray:
        """Decay of the modes by equation (7), per routing cycle: -K times the eigenvalues, slowest first, without the
        one that stays."""
        return -self.gain * self.eigenvalues[1:]

    @property
    def lock_frequency(self) -> float:
        """Equation (8), with weights where detectors average. d_ij is the channel's d less what is still on its way,
        the delay times the frequency asked for, which is therefore on both sides; solved for it."""
        pull, drag = np.zeros(len(self.free)), np.zeros(len(self.free))
        for c in self.channels:
            pull[c.to] += c.d
            drag[c.to] += c.delay
        share = self.gain * self._share
        return float(self.weights @ (self.free + share * pull) / (1 + self.weights @ (share * drag)))

    @property
    def slowest(self) -> np.ndarray:
        """Projects phases on the modes that decay most slowly: a row for each. They are several where a fabric is
        symmetric."""
        root = np.sqrt(self._share)
        values, vectors = np.linalg.eigh(self.matrix * root[:, None] * root[None, :])
        near = np.isclose(values, values[-2], rtol=1e-9)
        near[-1] = False
        return (vectors[:, near] / root[:, None]).T

    @property
    def step_matrix(self) -> np.ndarray:
        """A routing cycle of the emulated loop, exactly: what it makes of the deviations of the phases now, a cycle
        ago, two cycles ago, and so on."""
        n, depth = len(self.free), 2 + max(c.delay for c in self.channels)
        step = np.zeros((n * depth, n * depth))
        step[n:, :-n] = np.eye(n * (depth - 1))
        step[:n, :n] = np.eye(n)
        share = self.gain * self._share
        for c in self.channels:
            late = int(self.shared[c.to])
            step[c.to, late * n + c.to] -= share[c.to]
            step[c.to, (late + c.delay) * n + c.source] += share[c.to]
        return step

    @property
    def exact_rates(self) -> np.ndarray:
        """Decay of the modes of the emulated loop, per routing cycle, slowest first, without the one that stays.
        A negative one would be a loop that swings up. For small gains the first are ``rates``."""
        size = np.abs(np.linalg.eigvals(self.step_matrix))
        size = np.delete(size, np.argmin(np.abs(size - 1)))
        return -np.log(np.maximum(np.sort(size)[::-1], 1e-300))


def frequency_difference(net: Network, tic: int, port: int, cycles: int) -> float:
    """PLL diagnostics (S-Connect, 3.4): the free-running frequency of the TIC at the far end of a channel, less that of
    this one's, from the overflows and underflows of the channel's fifo in so many cycles. To within a word (2 pi) in
    this time; as many cycles before it fill or empty the fifo, and one that has not come to its end by then says 0.

    All data streams but the one asked for are turned off, so that the far TIC hears nobody, and this TIC's loop is
    opened. What was on is turned on again at the end. Only for TICs with an oscillator of their own.
    """
    ends = {(a, p): (b, q) for a, p, b, q in net.links()}
    if port >= CHANNELS or (tic, port) not in ends:
        raise ConfigError(f"port {port} of TIC {tic} is no serial channel.")
    if any(len(tics) > 1 and {tic, ends[tic, port][0]} & set(tics) for tics in oscillators(net)):
        raise ConfigError(f"TIC {tic} or {ends[tic, port][0]} shares its oscillator with another one.")
    order = range(int(net.experiment.derived()["routers"]))
    fabric = Fabric(net)
    before = [(fabric.read_register(i, "clock_sends"), fabric.read_register(i, "clock_on")) for i in order]
    far, far_port = ends[tic, port]
    for i in order:
        fabric.write_register(i, "clock_sends", 1 << far_port if i == far else 0)
    fabric.write_register(tic, "clock_on", 0)

    def words() -> int:
        return fabric.read_register(tic, f"overflows.{port}") - fabric.read_register(tic, f"underflows.{port}")

    net.step(cycles)  # until the fifo is full or empty
    start = words()
    net.step(cycles)
    gone = words() - start
    for i, (sends, on) in zip(order, before, strict=True):
        fabric.write_register(i, "clock_sends", sends).write_register(i, "clock_on", on)
    return 2 * math.pi * gone / cycles
