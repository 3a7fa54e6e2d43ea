"""Experiment on the distributed phase-locked loop of the S-Connect paper (2.5, 2.6, 3.3, 3.4), with emulated clocks.

A cycle is a routing cycle of 6 clocks."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect import Fabric
from flitlab.sconnect.clock import (
    PPM,
    Loop,
    frequencies,
    frequency_difference,
    mean_frequency,
    oscillators,
    phases,
)

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"
CLOCK = 51.84e6  # Hz, section 4.1

# As in equation (1): comparators are linear for all phases and their outputs are added; tuning is unlimited.
LINEAR = {"router.kind": "sconnect", "clock.emulated": True, "clock.detector": "sum", "clock.range": 1000,
          "clock.outer_gain": 1, "clock.tuning": 100000, "clock.gain": 0.0005, "traffic.load": 0}
# As in the TIC: averaging detectors with the paper's range. 5 ppm keep fifos near half full.
TIC = {"router.kind": "sconnect", "clock.emulated": True, "traffic.load": 0}
CUBE = {"topology.kind": "hypercube", "topology.dimensions": 3}
FABRICS = {
    "hypercube, 8 nodes": CUBE,
    "mesh 4 x 4": {"topology.kind": "mesh", "topology.shape": [4, 4]},
    "random, 24 nodes of 4": {"topology.kind": "random", "topology.nodes": 24},
    "cluster of 4, all joined": {"topology.kind": "random", "topology.nodes": 4, "topology.degree": 3},
    "tree, 13 nodes": {"topology.kind": "tree"},
}

READ_LOOP = ("Phases are compared once per routing cycle, after the channel's delay. d_ij in equation (8) is a phase "
             "shift at the operating frequency; the delay contributes -frequency * delay to it, in deviations from "
             "the nominal clock.")
READ_DELAY = (
    "Equation (8): channels add K times the sum of their d_ij, a net rise, as here. The two runs differ only in their "
    "cables. The remaining difference is the lag: a received phase is a channel's delay old. While all oscillators run "
    "at a deviation f from the nominal clock, it is too small by f * delay, and the rise is divided by 1 + K * degree "
    "* delay. The paper defines d_ij at the operating frequency, so it has no such term; "
    "kernels/routers/sconnect/README.md has the derivation.")
READ_K = ("Equations (2) and (3) leave out the K before A; with it the slowest mode decays with K lambda_2. K is "
          "small against 1 / delay, as the paper's continuous equations assume. The exact rate is that of the matrix "
          "of a routing cycle, delays included, for a fabric in phase, in which all channels have the same delay.")
READ_GAIN = ("The modes decay with K, and so do phases. Frequencies take a little longer, because equal initial "
             "phases cause larger differences of frequency at a higher gain.")
READ_SLOPES = ("Centre frequencies within 5 ppm, cables d_ij from 0 to 0.5 rad. The pull of a full fifo is determined "
               "by the converter's supply and the oscillator, so it stays the same. Two slopes then mean a lower gain "
               "near half full, where cables pull the frequency less far away from the mean of the centre "
               "frequencies: the paper's claim. It does not hold for equal gain near half full, nor with centre "
               "frequencies so far apart (50 ppm) that fifos are nearly full. Without cables the comparators of a "
               "channel's ends cancel, and both lock at the mean, except for the effect of delays.")
READ_FAULT = ("An oscillator 400 ppm off, in a fabric whose oscillators can be pulled by 100 ppm. A slip is one word "
              "of the fifo, one clock. Frequencies are compared while the data streams of all others are off and the "
              "receiver's loop is open.")
READ_JITTER = ("The analog jitter of real oscillators is not emulated. The measured value is only how far the phases "
               "of emulated oscillators wander in lock because of integer rounding.")


def network(*changes: dict) -> Network:
    settings: dict = {}
    for change in changes:
        settings |= change
    return Network(Experiment.from_dict(settings))


def spread(net: Network) -> float:
    """Returns the largest minus the smallest frequency, ppm."""
    return float(np.ptp(frequencies(net))) / PPM


def decay(net: Network, loop: Loop, points: int = 60) -> float:
    """Returns the decay rate of the slowest mode: the slope of a least-squares line through the logarithm of its size,
    measured from one to six time constants of the mode. The size is relative to the final value, which is read 40 time
    constants later."""
    apart = int(5 / loop.rates[0] / points)
    net.step(10 + int(1 / loop.rates[0]))  # the first phases have arrived everywhere
    modes, seen = loop.slowest, []
    for _ in range(points):
        seen.append(modes @ phases(net))
        net.step(apart)
    net.step(int(40 / loop.rates[0]))
    size = np.linalg.norm(np.array(seen) - modes @ phases(net), axis=1)
    return -float(np.polyfit(np.arange(points) * apart, np.log(size), 1)[0])


def equations(name: str, fabric: dict) -> list[dict]:
    """Compares equations (3) to (8) with a fabric."""
    common = {"experiment": "sconnect.pll", "setting": name}
    net = network(LINEAR, fabric, {"clock.seed": 7})
    loop = Loop.of(net)
    rate = decay(net, loop)
    lock = mean_frequency(net, 20000)
    bare = network(LINEAR, fabric, {"clock.seed": 7, "clock.cable_phase": 0}).step(int(40 / loop.rates[0]))
    cables = loop.gain * sum(c.d for c in loop.channels) / len(loop.free)
    without_lag = float(np.mean(loop.free)) + cables
    zeros = int(np.sum(np.abs(loop.eigenvalues) < 1e-9))
    largest = max(0.0, float(loop.eigenvalues.max())) if zeros != 1 else float(loop.eigenvalues[1])
    # All routing cycles are in phase: with different delays the equal modes of a symmetric fabric would decay at
    # different rates, which a single line cannot fit.
    fast = network(LINEAR, fabric, {"clock.gain": 0.02, "clock.seed": 7, "topology.phases": "equal",
                                    "topology.channel_delay": 12})
    exact = Loop.of(fast)
    slowest = float(exact.exact_rates[0])
    return [
        row(quantity="lock frequency", source=f"{PAPER}, 2.5, equation 8", published=loop.lock_frequency / PPM,
            measured=lock / PPM, unit="ppm", tolerance=1e-6 * abs(loop.lock_frequency / PPM), reading=READ_LOOP,
            check=True, **common),
        row(quantity="effect of cables on it / K times their mean sum", source=f"{PAPER}, 2.5, equation 8", published=1,
            measured=(lock - mean_frequency(bare, 20000)) / cables, unit="", tolerance=0.01, reading=READ_DELAY,
            **common),
        row(quantity="reduction of the deviation from nominal by lag", source=f"{PAPER}, 2.5", published=None,
            measured=100 * (1 - loop.lock_frequency / without_lag), unit="%", tolerance=0, reading=READ_DELAY,
            **common),
        row(quantity="eigenvalues that are 0", source=f"{PAPER}, 2.5, equation 3", published=1, measured=zeros,
            unit="", tolerance=0, check=True, **common),
        row(quantity="eigenvalues above 0", source=f"{PAPER}, 2.5, equation 3", published=0,
            measured=int(largest > 1e-9), unit="", tolerance=0, check=True, **common),
        row(quantity="decay of the slowest mode / K lambda_2", source=f"{PAPER}, 2.5, equation 7", published=1,
            measured=rate / float(loop.rates[0]), unit="", tolerance=0.01, reading=READ_K, **common),
        row(quantity="the same at K = 0.02 / that of the delayed loop", source=f"{PAPER}, 2.5", published=1,
            measured=decay(fast, exact) / slowest, unit="", tolerance=0.001, reading=READ_K, check=True, **common),
    ]


def averages() -> dict:
    """Returns a row on the TIC's averaging detector, in a fabric whose nodes have one to four channels."""
    net = network(LINEAR, FABRICS["tree, 13 nodes"], {"clock.detector": "average", "clock.gain": 0.002})
    loop = Loop.of(net)
    net.step(int(25 / loop.rates[0]))
    return row("sconnect.pll", "lock frequency, averaging detector", f"{PAPER}, 3.3; 2.5", "tree, 13 nodes",
               loop.lock_frequency / PPM, mean_frequency(net, 20000) / PPM, "ppm",
               1e-6 * abs(loop.lock_frequency / PPM), check=True,
               reading="With averages, a node's weight is its number of channels: equation (8) for rows of A divided "
                       "by their degree.")


def settling(gain: float) -> int:
    """Returns the cycles until oscillators of equal frequency with different initial phases are within 0.01 rad of each
    other."""
    net = network(TIC, CUBE, {"clock.gain": gain, "clock.spread": 0, "clock.cable_phase": 0, "clock.seed": 3})
    while np.ptp(phases(net)) > 0.01:
        net.step(5)
    return net.cycle


def pulling_in(gain: float) -> int:
    """Returns the cycles until oscillators of different frequencies are within 0.1 ppm of each other."""
    net = network(TIC, CUBE, {"clock.gain": gain, "clock.spread": 5, "clock.seed": 3}).step(10)
    while spread(net) > 0.1:
        net.step(5)
    return net.cycle


def gains() -> list[dict]:
    common = {"experiment": "sconnect.pll", "source": f"{PAPER}, 2.5", "setting": "hypercube, 8 nodes", "unit": "",
              "reading": READ_GAIN}
    return [row(quantity="time to lock phases, K = 0.0005 / K = 0.001", published=2,
                measured=settling(0.0005) / settling(0.001), tolerance=0.02, **common),
            row(quantity="time to lock frequencies, K = 0.0005 / K = 0.001", published=1,
                measured=pulling_in(0.0005) / pulling_in(0.001), tolerance=0, higher_is_better=True, **common)]


# Frequency change that a full fifo (2 rad from half full) causes, rad per routing cycle; equal for both comparators.
FULL = 0.003


def off_centre(outer: float, gain: float, changes: dict | None = None) -> float:
    """Returns the distance of the lock frequency from the mean of the centre frequencies, rad per routing cycle."""
    net = network(TIC, CUBE, {"clock.spread": 5, "clock.cable_phase": 0.5, "clock.outer_gain": outer,
                              "clock.gain": gain, "clock.seed": 2}, changes or {})
    net.step(60000)
    if spread(net) > 0.001:
        return math.nan
    return abs(mean_frequency(net, 10000) - float(np.mean(Loop.of(net).free)))


def slopes() -> list[dict]:
    common = {"experiment": "sconnect.pll", "source": f"{PAPER}, 3.3", "reading": READ_SLOPES}
    # K of both comparators for the same pull at 2 rad; the two-slope comparator has its knee at 1 rad.
    one, two = FULL / 2, FULL / (1 + 2)
    linear, far = off_centre(1, one), {"clock.spread": 50}
    return [
        row(quantity="distance of the lock frequency from the mean of the centre frequencies, two slopes / one",
            setting="same pull when full", published=1, measured=off_centre(2, two) / linear, unit="", tolerance=0,
            lower_is_better=True, **common),
        row(quantity="the same", setting="same gain near half full", published=None,
            measured=off_centre(2, one) / linear, unit="", tolerance=0, **common),
        row(quantity="the same", setting="same pull when full, 50 ppm", published=None,
            measured=off_centre(2, two, far) / off_centre(1, one, far), unit="", tolerance=0, **common),
        row(quantity="two slopes without cables / one with", setting="same pull when full", published=0,
            measured=off_centre(2, two, {"clock.cable_phase": 0}) / linear, unit="", tolerance=0.001, check=True,
            **common),
    ]


FAULTY, OFF = 5, 400.0  # the faulty TIC, and its free-running frequency in ppm


def worst(net: Network) -> int:
    """Returns the TIC with most slips."""
    return int(np.argmax([Fabric(net).read_register(tics[0], "slips") for tics in oscillators(net)]))


def faulty(file: Path) -> list[dict]:
    file.write_text(f"{FAULTY},{OFF}\n", encoding="utf-8")
    common = {"experiment": "sconnect.pll", "setting": "hypercube, 8 nodes", "reading": READ_FAULT}
    lock, diagnosis = f"{PAPER}, 2.6", f"{PAPER}, 3.4"
    sound = network(TIC, CUBE).step(40000)
    net = network(TIC, CUBE, {"clock.file": str(file)}).step(40000)
    before, apart, found = net.totals["slips"], spread(net), worst(net)
    slips = net.step(10000).totals["slips"] - before
    rows = [
        row(quantity="frequencies within 1 ppm, all oscillators sound", source=lock, published=1,
            measured=int(spread(sound) < 1), unit="", tolerance=0, **common),
        row(quantity="frequencies within 1 ppm, one faulty", source=lock, published=0, measured=int(apart < 1), unit="",
            tolerance=0, **common),
        row(quantity="slips in 10000 cycles", source=lock, published=None, measured=slips, unit="", tolerance=0,
            **common),
        row(quantity="TIC with most slips", source=diagnosis, published=FAULTY, measured=found, unit="", tolerance=0,
            check=True, **common)]
    free, cycles = Loop.of(net).free / PPM, 200000
    ends = [(a, p, b) for a, p, b, _ in net.links() if b == FAULTY]
    for near, port, _ in ends:
        rows.append(row(quantity=f"frequency over that of TIC {near}, by slips", source=diagnosis,
                        published=float(free[FAULTY] - free[near]),
                        measured=frequency_difference(net, near, port, cycles) / PPM, unit="ppm",
                        tolerance=2 * math.pi / cycles / PPM, check=True, **common))
    for near, port, _ in ends:
        Fabric(net).write_register(near, "enabled", 63 & ~(1 << port))
    net.step(40000)
    rest = np.delete(frequencies(net), FAULTY) / PPM
    before = net.totals["slips"]
    net.step(10000)
    rows += [row(quantity="frequencies within 1 ppm, its channels disabled", source=f"{PAPER}, 2.6; 3.4", published=1,
                 measured=int(np.ptp(rest) < 1), unit="", tolerance=0, **common),
             row(quantity="slips in 10000 cycles, its channels disabled", source=f"{PAPER}, 2.6; 3.4", published=0,
                 measured=net.totals["slips"] - before, unit="", tolerance=0, check=True, **common)]
    return rows


def jitter() -> dict:
    net = network(TIC, CUBE).step(60000)
    wander = []
    for _ in range(100):
        now = phases(net.step(100))
        wander.append(now - now[0])
    seconds = float(np.ptp(np.array(wander), axis=0).max()) / (2 * math.pi * CLOCK)
    return row("sconnect.pll", "jitter between any two nodes", f"{PAPER}, 4.1", "hypercube, 8 nodes", None,
               1e12 * seconds, "ps", 0, reading=READ_JITTER)


def pll() -> list[dict]:
    rows = [line for name, fabric in FABRICS.items() for line in equations(name, fabric)]
    with tempfile.TemporaryDirectory() as folder:
        rows += [averages()] + gains() + slopes() + faulty(Path(folder) / "clocks.csv") + [jitter()]
    return rows


EXPERIMENTS: dict[str, tuple] = {
    "sconnect.pll": ("the distributed phase-locked loop: lock frequency, decay, slopes, a faulty oscillator", pll),
}
