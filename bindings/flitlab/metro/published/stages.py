"""Delay of a stage, and length of headers (METRO, 6.1 and Table 4)."""

from __future__ import annotations

import math
from dataclasses import replace

from flitlab.metro.published.networks import BYTES, PAPER, TABLE3, Instance, alone
from flitlab.reproduction import row

# RN1: i = o = w = 8 (inputs, outputs, width in bits); a routing stage and its wire take one clock at 50 MHz. The
# network has 64 endpoints and two stages, of dilation 2 and 1.
RN1 = Instance("RN1", 20, math.nan, math.nan, math.nan, width=8, radix=(8, 8), wire_clocks=0)


def clocks_of_a_word(instance: Instance) -> float:
    """Returns the clocks per word, from two messages of which one is three times as long as the other."""
    short, long = (alone(instance.experiment, n).delivered for n in (BYTES, 3 * BYTES))
    return (long - short) / (2 * BYTES)


def single_router() -> list[dict]:
    """Section 6.1: METROJR-ORBIT at 40 MHz, and RN1, whose stage takes one clock."""
    orbit, rn1_stage = TABLE3[0], alone(RN1.experiment, BYTES).stage
    common = {"experiment": "metro.single_router", "source": f"{PAPER}, 6.1", "tolerance": 0,
              "check": "clock, pipeline stages and the delay of a wire are settings"}
    return [
        row(quantity="router to router", setting="METROJR-ORBIT, 40 MHz", published=50, unit="ns",
            measured=alone(orbit.experiment, BYTES).stage * orbit.clock, **common),
        row(quantity="a nibble", setting="METROJR-ORBIT, 40 MHz", published=25, unit="ns",
            measured=clocks_of_a_word(orbit) * orbit.clock, **common),
        row(quantity="clocks of a stage and its wire", setting="RN1", published=1, unit="clocks",
            measured=rn1_stage, **common),
        row(quantity="router to router", setting="RN1, 50 MHz", published=None, unit="ns",
            measured=rn1_stage * RN1.clock, **common),
    ]


# (width, radices of the stages) for which the bits that select a direction in one stage do not fit in the rest of a
# header word.
STRADDLING = ((4, (4, 8, 8)), (4, (8, 8, 4)), (3, (4, 4, 4)))


def by_table4(i: Instance) -> float:
    """Returns t_20,32, the latency of a 20-byte message among 32 endpoints by Table 4's equation, applied to any
    network, in ns."""
    bits = sum(math.log2(radix) for radix in i.radix)
    header = math.ceil(bits / i.width) * i.width * i.cascade
    return len(i.radix) * (i.pipeline + i.wire) * i.clock + (8 * BYTES + header) * i.clock / i.bits


def headers() -> list[dict]:
    """Table 4's equation, for headers without gaps, in which the bits of one stage's direction may straddle two
    words."""
    rows = []
    common = {"experiment": "metro.headers", "source": f"{PAPER}, Table 4", "tolerance": 0, "unit": "ns"}
    for width, radix in STRADDLING:
        i = replace(TABLE3[0], width=width, radix=radix)
        words = -(-8 * BYTES // width)
        body = (words * width - 8 * BYTES) * i.clock / width  # time for the bits of the last word beyond 20 bytes
        name = f"radices {', '.join(map(str, radix))}; w = {width}"
        for straddles in (True, False):
            setting = replace(i, straddles=straddles)
            rows.append(row(quantity="t_20", setting=f"{name}{'' if straddles else ', a stage in one word'}",
                            published=by_table4(i) + body if straddles else None, check=True, reading=READING_HEADERS,
                            measured=alone(setting.experiment, words, 0, 1).delivered * i.clock, **common))
    return rows


READING_HEADERS = ("The paper gives no such example. Its equation adds the bits of all stages before it rounds up, so "
                   "the bits of a direction must straddle two words where they do not fit in one. Clocks of "
                   "METROJR-ORBIT; 20 bytes in whole words.")

EXPERIMENTS = {
    "metro.single_router": ("delay of a stage and a word of METROJR-ORBIT, and of a stage of RN1 (1 s)", single_router),
    "metro.headers": ("headers whose directions straddle words, by Table 4's equation (4 s)", headers),
}
