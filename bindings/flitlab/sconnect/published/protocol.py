"""Experiment on S-Connect's channels: formats, bandwidths, and proof that they neither lose nor duplicate messages.

A cycle is a routing cycle of 6 clocks, a flit is a message of 80 bits."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from flitlab._core import ConfigError
from flitlab.console import call_tool
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.reproduction import row
from flitlab.sconnect import explore_protocol
from flitlab.settings import dotted

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"
MESSAGE_BITS = 80  # bits of a message in a TIC (3.1)
SLOT_BITS = 96  # bits of a slot on a serial channel (3, footnote 1)
PORT_BITS = 16  # width of a parallel port, each way, and of a channel module (3, 3.2)
CLOCKS = 6  # per routing cycle (3)
MEGAHERTZ = 66
SECONDS_PER_YEAR = 3.156e7
LIGHT_IN_FIBRE = 1.8e8  # m/s, derived from the paper's 18 m for 100 bits


def fabric(**settings) -> Experiment:
    """Returns an experiment on a line of two nodes with one host port each. Settings: dotted paths, ``__`` for a
    dot."""
    flat = {"router.kind": "sconnect", "topology.kind": "mesh", "topology.shape": [2]}
    return Experiment.from_dict(flat | dotted(settings))


def megabytes(messages_per_cycle: float) -> float:
    """Converts messages per cycle to MB/s."""
    return messages_per_cycle * MESSAGE_BITS / 8 * MEGAHERTZ / CLOCKS


@dataclass(frozen=True)
class Saturated:
    """Measured rates of two nodes with one host port each that send to each other at full load. Values are for one
    direction, in messages/cycle."""

    sent: float  # messages sent on the channel, including repetitions and aborted messages
    delivered: float  # messages delivered to the host
    hits: float  # damaged slots per cycle; a saturated channel has no empty slots


def saturated(cycles: int = 3000, warmup: int = 500, **settings) -> Saturated:
    net = Network(fabric(traffic__mode="batch", traffic__batch_packets=warmup + cycles,
                         traffic__pattern="bit_complement", **settings))
    net.step(warmup)
    before, sent = dict(net.totals), [flits for _, _, flits in net.channels()]
    net.step(cycles).check()
    grown = {key: value - before[key] for key, value in net.totals.items()}
    sent = [flits - first for (_, _, flits), first in zip(net.channels(), sent, strict=True)]
    return Saturated(*(n / len(sent) / cycles for n in (sum(sent), grown["flits_delivered"], grown["slots_hit"])))


def formats() -> list[dict]:
    """Rows on the bits of a slot and the queues of a TIC."""
    used = 0
    for bit in call_tool("sconnect", "protocol_bits").values():
        used |= bit
    rate = 1e-2
    cycles = 100000
    hits = saturated(cycles, channel__error_rate=rate).hits
    bits = math.log(1 - hits) / math.log(1 - rate)
    error = math.sqrt(hits / (1 - hits) / (2 * cycles)) / rate
    tic = Network(fabric(topology__shape=[3, 3], topology__host_ports=2)).router(4)
    priorities = len(fabric()["host.priorities"])
    protocol = used.bit_count()
    common = {"experiment": "sconnect.protocol", "setting": "a slot", "unit": "bits", "check": True}
    return [
        row(quantity="protocol", source=f"{PAPER}, 3.2", published=6, measured=protocol, tolerance=0,
            reading="The six: message present, sequence bit, answer to the previous slot, late abort, part of a quad, "
                    "last part of a quad. The paper mentions the answer and the late abort.", **common),
        row(quantity="exposed to errors", source=f"{PAPER}, 3", published=SLOT_BITS, measured=bits,
            tolerance=3 * error, reading="From the fraction of damaged slots at 0.01 errors/bit; the tolerance is "
                                         "three standard errors.", **common),
        row(quantity="remaining for a CRC", source=f"{PAPER}, 3; 3.2", published=None,
            measured=SLOT_BITS - MESSAGE_BITS - protocol, tolerance=0,
            reading="The paper gives 16 bits for CRC and handshake and 6 for the protocol; 10 remain.", **common),
        row(experiment="sconnect.protocol", quantity="queues", source=f"{PAPER}, 3, Figure 11",
            setting="a TIC with two hosts", published=40,
            measured=priorities * sum(len(port.vcs) for port in tic.ports if port.peer is not None), unit="",
            tolerance=0, check=True,
            reading="Priorities times virtual channels, summed over all wired ports; host ports have one virtual "
                    "channel."),
    ]


def bandwidths() -> list[dict]:
    """Rows on saturated channels and ports, in the paper's units at 66 MHz. All are checks, because the only measured
    fact is one message per routing cycle; the rest are constants of the paper."""
    both = saturated()
    common = {"experiment": "sconnect.protocol", "tolerance": 0, "unit": "MB/s", "check": True}
    source = f"{PAPER}, 3, footnote 1"
    return [
        row(quantity="clocks of 6 in which a parallel port transfers", setting="saturated", source=source, published=5,
            measured=both.delivered * MESSAGE_BITS / PORT_BITS, **common | {"unit": "clocks"}),
        row(quantity="parallel port, each way", setting=f"{MEGAHERTZ} MHz", source=f"{PAPER}, 3, Figure 8",
            published=110, measured=megabytes(both.delivered),
            reading="Measured messages/cycle between two nodes that send to each other at full load, times 10 bytes "
                    "per 6 clocks of 66 MHz. The paper gives 220 MB/s for both ways; 132 MB/s x 5/6 is 110 each way.",
            **common),
        row(quantity="parallel port, both ways", setting=f"{MEGAHERTZ} MHz", source=f"{PAPER}, 3, Figure 8; 3.2",
            published=220, measured=2 * megabytes(both.delivered), **common),
        row(quantity="serial channel, each way, messages", setting=f"{MEGAHERTZ} MHz", source=source, published=None,
            measured=megabytes(both.sent), **common),
        row(quantity="serial channel, each way, all bits", setting=f"{MEGAHERTZ} MHz", source=f"{PAPER}, 3",
            published=1000, measured=both.sent * SLOT_BITS * MEGAHERTZ / CLOCKS, higher_is_better=True,
            reading="The paper says more than 1 Gb/s; 16 bits at 66 MHz are 1056 Mb/s.",
            **common | {"unit": "Mb/s"}),
    ]


def undetected_patterns(bits: int = SLOT_BITS, polynomial: int = 0b11000110011) -> int:
    """Returns the number of four-bit errors in ``bits`` bits that a CRC does not detect. Raises ConfigError unless the
    CRC detects all errors of one, two and three bits."""
    degree = polynomial.bit_length() - 1
    syndromes, value = [], 1
    for _ in range(bits):
        syndromes.append(value)
        value <<= 1
        if value >> degree:
            value ^= polynomial
    pairs = Counter(a ^ b for a, b in combinations(syndromes, 2))
    if pairs[0] or any(pairs[s] for s in syndromes):
        raise ConfigError(f"the CRC polynomial {polynomial:#b} misses errors of up to three bits in {bits}.")
    # Each four-bit error is counted for its three splits into two pairs.
    return sum(n * (n - 1) // 2 for n in pairs.values()) // 3


def errors_that_pass() -> list[dict]:
    rate, slots = 1e-9, MEGAHERTZ * 1e6 / CLOCKS
    years = [1 / (patterns * rate ** 4 * slots * SECONDS_PER_YEAR)
             for patterns in (math.comb(SLOT_BITS, 4), undetected_patterns())]
    common = {"experiment": "sconnect.protocol", "source": f"{PAPER}, 2.6", "unit": "log10 of years",
              "setting": "1e-9 errors/bit", "tolerance": 0.5}
    return [
        row(quantity="undetected error, every one of 4 bits", published=15, measured=math.log10(years[0]), check=True,
            reading=f"A bound: every four-bit error in 96 bits passes, 11 million slots per second: {years[0]:.1e} "
                    "years. The paper says about 1e15, an order of magnitude, so the tolerance is half of one. "
                    "Computed without emulation.", **common),
        row(quantity="undetected error, a CRC of 10 bits", published=None, measured=math.log10(years[1]),
            reading="Counted: four-bit errors that x^10 + x^9 + x^5 + x^4 + x + 1 does not detect; it detects all "
                    f"errors of fewer bits: {undetected_patterns()} of {math.comb(SLOT_BITS, 4)}. The paper does not "
                    "give its polynomial, and its number equals the bound. In the emulator all errors are detected.",
            **common),
        row(experiment="sconnect.protocol", quantity="span of 100 bits at 1 Gb/s", source=f"{PAPER}, 2.1",
            setting="fibre", published=None, measured=100 / 1e9 * LIGHT_IN_FIBRE, unit="m", tolerance=0,
            reading="The paper's 18 m implies a speed of light in fibre of 1.8e8 m/s; nothing is measured."),
    ]


@dataclass(frozen=True)
class MessageCounts:
    """Counts of messages that were followed individually from source to destination."""

    sent: int
    lost: int
    duplicated: int
    slots: int
    hits: int
    repeated: int  # messages that were sent again because the acknowledgment could not be read
    # Number of repeated messages that had already arrived; the receiver discarded the copy by its sequence bit.
    known: int


def delivered_once(rate: float, seeds: int = 3, packets: int = 400) -> MessageCounts:
    """Follows all messages of a 4 x 4 mesh in which every host sends ``packets`` packets, a quarter of them quads."""
    sent, got, sums = Counter(), Counter(), Counter()
    for seed in range(1, seeds + 1):
        net = Network(fabric(topology__shape=[4, 4], channel__error_rate=rate, traffic__mode="batch",
                             traffic__batch_packets=packets, traffic__packet_flits=[[1, 3.0], [4, 1.0]],
                             run__seed=seed), trace=True)
        idle = 0
        while idle < 10:  # until no message has moved for 200 cycles; messages that have not arrived by then are lost
            before = net.totals["slots_sent"], net.totals["packets_delivered"]
            net.step(20).check()
            for event in net.events():
                if event["kind"] == "injected":
                    sent[seed, event["src"], event["id"]] += 1
                elif event["kind"] == "delivered":
                    got[seed, event["src"], event["id"]] += 1
            idle = 0 if (net.totals["slots_sent"], net.totals["packets_delivered"]) != before else idle + 1
        sums.update(net.totals)
    return MessageCounts(len(sent), len(sent - got), sum((got - sent).values()), sums["slots_sent"],
                         sums["slots_hit"], sums["sent_again"], sums["duplicates"])


RATES = (1e-5, 1e-4, 1e-3)


def losses() -> list[dict]:
    rows = []
    for rate in RATES:
        counts = delivered_once(rate)
        common = {"experiment": "sconnect.protocol", "source": f"{PAPER}, 2.6; 3.2", "setting": f"{rate:g} errors/bit",
                  "tolerance": 0}
        rows += [
            row(quantity=f"messages lost of {counts.sent}", published=0, measured=counts.lost, unit="messages",
                reading="16 nodes, a quarter of the packets quads; each message is followed from host to "
                        "host.", **common),
            row(quantity=f"messages duplicated of {counts.sent}", published=0, measured=counts.duplicated,
                unit="messages", **common),
            row(quantity=f"slots damaged of {counts.slots}", published=None, measured=counts.hits, unit="slots",
                **common),
            row(quantity="sent again in their slot", published=None, measured=counts.repeated, unit="messages",
                **common),
            row(quantity="of these, discarded by their sequence bit", published=None, measured=counts.known,
                unit="messages", **common),
        ]
    return rows


INSTANCES = {
    "2 messages each way": {"singles": (2, 2)},
    "2 messages and a quad one way": {"singles": (2, 0), "quads": (1, 0)},
    "2 quads one way": {"singles": (0, 0), "quads": (2, 0)},
    "a quad each way": {"singles": (0, 0), "quads": (1, 1)},
    "a message each way, a quad one way": {"quads": (1, 0)},
    "a message each way, delay 2": {"delay": 2},
    "a message each way, delays 1 and 2": {"delay": (1, 2)},
    "2 quads one way, delays 2 and 1": {"delay": (2, 1), "singles": (0, 0), "quads": (2, 0), "voids": (True, False)},
    "2 quads one way, delay 2": {"delay": 2, "singles": (0, 0), "quads": (2, 0), "voids": (True, False)},
    "4 messages each way, endless": {"singles": (4, 4), "voids": (False, False), "endless": True},
    "a message and a quad each way, endless": {"quads": (1, 1), "voids": (False, False), "endless": True},
    "a message each way, ends switched off": {"switches": True},
    "a message and a quad one way, ends switched off": {"singles": (1, 0), "quads": (1, 0), "switches": True},
}
DEFECTS = {
    "ignores_sequence": {}, "fails_unreadable": {}, "answers_too_early": {}, "takes_void": {},
    "reads_first_answer": {"singles": (0, 0), "quads": (1, 0)},
    "takes_partial_quads": {"singles": (0, 0), "quads": (1, 0)},
    "answers_if_asked_only": {"switches": True},
    "never_asks": {"singles": (0, 0), "quads": (1, 0)},
}


def explorations() -> list[dict]:
    """Rows on exhaustive explorations of channels with few messages, with the protocol and with deliberate defects."""
    found = {name: explore_protocol(**settings) for name, settings in INSTANCES.items()}
    broken = [explore_protocol(**settings, defect=defect).violation for defect, settings in DEFECTS.items()]
    common = {"experiment": "sconnect.protocol", "source": f"{PAPER}, 2.6; 3.2", "tolerance": 0}
    return [
        row(quantity="channels in which a message can be lost or duplicated", published=0,
            measured=sum(not e.holds for e in found.values()), unit="channels", check=True,
            setting=f"{len(found)} channels explored",
            reading="The paper says that its protocol was formally verified, but not how. Here two ends with the "
                    "emulator's functions visit every state that errors, full buffers, late aborts and switched-off "
                    "ports can cause, with these messages.", **common),
        row(quantity="deliberate defects that are found", published=None, measured=sum(map(bool, broken)),
            unit="protocols", setting=f"{len(DEFECTS)} defects", **common),
        *(row(quantity="states", published=None, measured=e.states, unit="states", setting=name, **common)
          for name, e in found.items())]


def goodput() -> list[dict]:
    """Rows on the throughput of channels with errors, and of channels too long for a TIC's buffers."""
    common = {"experiment": "sconnect.protocol", "published": None, "unit": "messages/cycle", "tolerance": 0}
    rows = []
    for rate in (0.0, 1e-5, 1e-4, 1e-3, 5e-3):
        for flits, name in ((1, "messages"), (4, "quads")):
            got = saturated(channel__error_rate=rate, traffic__packet_flits=flits)
            rows.append(row(quantity=f"goodput of a channel, {name}", source=f"{PAPER}, 3.2",
                            setting=f"{rate:g} errors/bit", measured=got.delivered,
                            reading="One way, between two nodes that send to each other at full load.", **common))
    for clocks in (12, 60, 120, 180, 240, 360):
        metres = clocks / (MEGAHERTZ * 1e6) * LIGHT_IN_FIBRE
        for buffers in HOST_BUFFERS:
            far = saturated(topology__channel_delay=clocks, router__host_buffers=buffers,
                            **({"router__reserve": [1]} if buffers == 64 else {}))
            rows.append(row(quantity=f"throughput of {metres:.0f} m of fibre, {HOST_BUFFERS[buffers]}",
                            source=f"{PAPER}, 3.1; 3.2", setting=f"{clocks} clocks, 64 buffers", measured=far.delivered,
                            reading=FIBRE, **common))
    return rows


HOST_BUFFERS = {32: "buffers kept for arrivals", 64: "no buffers kept"}
FIBRE = ("One of the two ways; light takes 5.6 ns per metre. A message keeps its buffer for a round of 2 (delay + 1) "
         "routing cycles, so hosts that may use half of the 64 buffers (router.host_buffers) fill at most 32 slots of "
         "a round. If hosts may use all buffers, arriving messages find no buffer and are sent again.")


def protocol() -> list[dict]:
    return [*formats(), *bandwidths(), *errors_that_pass(), *losses(), *explorations(), *goodput()]


EXPERIMENTS = {
    "sconnect.protocol": ("slots, bandwidths, and a check that channels neither lose nor duplicate messages (5 "
                          "s)", protocol),
}
