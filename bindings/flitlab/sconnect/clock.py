"""The distributed phase-locked loop of S-Connect (2.5, 3.3): its equations for an emulated fabric, and functions that
read the fabric's clocks.

Units are the emulator's units: radians (a clock period is 2 pi), routing cycles of 6 clocks, and frequencies as
deviations from the nominal frequency, in radians per routing cycle. ``PPM`` is one part in a million in this unit.

Equation (1), differentiated, is d phi/dt = K A phi + F, with F_i = omega_i + K sum_j a_ij d_ij. Equations (2) and (3)
leave out the K before A. Without it, decay rates would not depend on the gain, but section 2.5 states that they do. So
modes decay with K times the eigenvalues of A.

The emulated loop differs from these equations in two ways, which :class:`Loop` includes: it acts once per routing
cycle, and a phase needs ``delay`` routing cycles to reach the far end. While a fabric runs at frequency f, a received
phase is too small by f * ``delay``. This is part of the paper's d_ij, which it defines at the operating frequency.
The loop is stable if K times the channels of a node (K alone, for averages) is at most 1.
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
CHANNELS = 4  # serial channels of a TIC, ports 0 to 3; ports 4 and 5 are parallel


def radians(value: int) -> float:
    """Converts a register in 2^-32 rad, or 2^-32 rad per routing cycle, in two's complement."""
    return (value - (1 << 64) if value >> 63 else value) / RADIAN


def oscillators(net: Network) -> list[list[int]]:
    """Returns [oscillator] TICs that share it: the TICs of a node or switch, joined by parallel ports (S-Connect, 3,
    Figure 10)."""
    first = list(range(int(net.experiment.derived()["routers"])))
    for tic, port, far, _ in net.links():
        if port >= CHANNELS:
            first[tic] = min(first[tic], far)
    return [[tic for tic, representative in enumerate(first) if representative == one] for one in sorted(set(first))]


def _read(net: Network, name: str) -> np.ndarray:
    return np.array([radians(Fabric(net).read_register(tics[0], name)) for tics in oscillators(net)])


def phases(net: Network) -> np.ndarray:
    """Returns the phases of all oscillators in rad, relative to the nominal clock, modulo 2^32."""
    return _read(net, "clock_phase")


def frequencies(net: Network) -> np.ndarray:
    """Returns the frequencies of all oscillators in the last cycle, rad per routing cycle, relative to the nominal
    one."""
    return _read(net, "clock_rate")


def mean_frequency(net: Network, cycles: int) -> float:
    """Steps the network and returns the mean frequency of all oscillators meanwhile, rad per routing cycle."""
    before = phases(net)
    net.step(cycles)
    advance = (phases(net) - before + RADIAN / 2) % RADIAN - RADIAN / 2
    return float(np.mean(advance)) / cycles


@dataclass(frozen=True)
class Channel:
    """One direction of a serial channel, as the receiver's comparator sees it."""

    to: int  # oscillator at the receiving end
    source: int  # oscillator at the sending end
    d: float  # d_ij of equation (1) in rad, without the part that the delay causes
    delay: int  # routing cycles


@dataclass(frozen=True)
class Loop:
    """The equations of a fabric, for linear comparators."""

    gain: float  # K of equation (1), per routing cycle
    # Whether the detector adds a node's comparators, as in equation (1); otherwise it averages them, as the TIC does.
    sums: bool
    free: np.ndarray  # omega_i: [oscillator] free-running frequency
    shared: np.ndarray  # [oscillator] whether several TICs share it; then it reacts one cycle later
    channels: tuple[Channel, ...]

    @classmethod
    def of(cls, net: Network) -> Loop:
        """Makes the loop of an emulated fabric with all its channels; the effects of slips up to now are included.
        Raises ConfigError for a fabric without emulated clocks."""
        e = net.experiment
        if not e["clock.emulated"]:
            raise ConfigError("clock.emulated = false: this fabric has no emulated clocks.")
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
        """A of equation (3): a_ij channels from j to i, with rows that add up to 0. One eigenvalue is 0, the others are
        negative."""
        a = np.zeros((len(self.free), len(self.free)))
        for c in self.channels:
            a[c.to, c.source] += 1
            a[c.to, c.to] -= 1
        return a

    @property
    def degrees(self) -> np.ndarray:
        """[oscillator] number of incoming channels."""
        return np.bincount([c.to for c in self.channels], minlength=len(self.free)).astype(float)

    @property
    def detector(self) -> np.ndarray:
        """The matrix that takes the place of A: A itself, or for averaging detectors A with each row divided by the
        oscillator's degree.

        It is not symmetric if degrees differ, but similar to the symmetric D^-1/2 A D^-1/2, so its eigenvalues are
        real, one is 0, and the others are negative."""
        return self.matrix * self._share[:, None]

    @property
    def _share(self) -> np.ndarray:
        """[oscillator] weight of each of its comparators in the detector's output."""
        return np.ones(len(self.free)) if self.sums else 1 / self.degrees

    @property
    def weights(self) -> np.ndarray:
        """[oscillator] weight of its free-running frequency in the lock frequency: the left eigenvector for eigenvalue
        0, with sum 1. Detectors that add have equal weights. With averaging detectors weights are proportional to the
        degree, because each channel has less influence on a node with many channels."""
        w = np.ones(len(self.free)) if self.sums else self.degrees
        return w / w.sum()

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of the detector matrix, from 0 downward."""
        root = np.sqrt(self._share)
        return np.linalg.eigvalsh(self.matrix * root[:, None] * root[None, :])[::-1]

    @property
    def rates(self) -> np.ndarray:
        """Decay rates of the modes by equation (7), per routing cycle: -K times the eigenvalues, slowest first, without
        the mode of equal phases."""
        return -self.gain * self.eigenvalues[1:]

    @property
    def lock_frequency(self) -> float:
        """Lock frequency by equation (8), rad per routing cycle, weighted for averaging detectors.

        d_ij is the channel's d less the delay times the lock frequency, which is therefore on both sides of the
        equation; this solves for it."""
        pull, drag = np.zeros(len(self.free)), np.zeros(len(self.free))
        for c in self.channels:
            pull[c.to] += c.d
            drag[c.to] += c.delay
        share = self.gain * self._share
        return float(self.weights @ (self.free + share * pull) / (1 + self.weights @ (share * drag)))

    @property
    def slowest(self) -> np.ndarray:
        """[mode][oscillator] projections of phases on the modes that decay most slowly. A symmetric fabric has
        several."""
        root = np.sqrt(self._share)
        values, vectors = np.linalg.eigh(self.matrix * root[:, None] * root[None, :])
        near = np.isclose(values, values[-2], rtol=1e-9)
        near[-1] = False
        return (vectors[:, near] / root[:, None]).T

    @property
    def step_matrix(self) -> np.ndarray:
        """Exact matrix of one routing cycle of the emulated loop. Its vector has the phase deviations of now, one cycle
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
        """Decay rates of the modes of the emulated loop, per routing cycle, slowest first, without the mode of equal
        phases. A negative rate means instability. For small gains the first rates equal ``rates``."""
        size = np.abs(np.linalg.eigvals(self.step_matrix))
        size = np.delete(size, np.argmin(np.abs(size - 1)))
        return -np.log(np.maximum(np.sort(size)[::-1], 1e-300))


def frequency_difference(net: Network, tic: int, port: int, cycles: int) -> float:
    """Returns the free-running frequency of the TIC at the far end of a channel minus that of this TIC, rad per routing
    cycle: the PLL diagnostics of S-Connect, 3.4.

    Counts overflows and underflows of the channel's fifo for ``cycles`` cycles, so the result is exact to one word
    (2 pi) in this time. The fifo must first be full or empty, so the network runs for ``cycles`` cycles before the
    count; if these are too few, the result is 0.

    Meanwhile all data streams except the channel's are off, so that the far TIC receives no phases, and this TIC's loop
    is open. The former settings are restored at the end. Raises ConfigError for a port that is not a serial channel,
    and for TICs that share an oscillator.
    """
    ends = {(a, p): (b, q) for a, p, b, q in net.links()}
    if port >= CHANNELS or (tic, port) not in ends:
        raise ConfigError(f"port {port} of TIC {tic} is not a serial channel.")
    if any(len(tics) > 1 and {tic, ends[tic, port][0]} & set(tics) for tics in oscillators(net)):
        raise ConfigError(f"TIC {tic} or {ends[tic, port][0]} shares its oscillator with another TIC.")
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
    advance = words() - start
    for i, (sends, on) in zip(order, before, strict=True):
        fabric.write_register(i, "clock_sends", sends).write_register(i, "clock_on", on)
    return 2 * math.pi * advance / cycles
