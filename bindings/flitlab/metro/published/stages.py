"""How long words take through a stage, and how many of them are a header (METRO, 6.1 and Table 4)."""

from __future__ import annotations

import math
from dataclasses import replace

from flitlab.metro.published.networks import BYTES, PAPER, TABLE3, Instance, alone
from flitlab.reproduction import row

# i = o = w = 8, and a routing stage with its wire is one clock; 50 MHz. 64 endpoints in two stages: dilation 2, then 1.
RN1 = Instance("RN1", 20, math.nan, math.nan, math.nan, width=8, radix=(8, 8), wire_clocks=0)


def clocks_of_a_word(instance: Instance) -> float:
    """From the difference of a message and one that is three times as long."""
    short, long = (alone(instance.experiment, n).delivered for n in (BYTES, 3 * BYTES))
    return (long - short) / (2 * BYTES)


def single_router() -> list[dict]:
    """Section 6.1: METROJR-ORBIT at 40 MHz, and RN1, whose stage is a clock."""
    orbit, rn1_stage = TABLE3[0], alone(RN1.experiment, BYTES).stage
    common = {"experiment": "metro.single_router", "source": f"{PAPER}, 6.1", "tolerance": 0}
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


# Widths and radices whose directions fill words badly: a stage's bits are at a word's end and the next one's beginning.
STRADDLING = ((4, (4, 8, 8)), (4, (8, 8, 4)), (3, (4, 4, 4)))


def by_table4(i: Instance) -> float:
    """The equation of t_20,32 for any network, ns."""
    bits = sum(math.log2(radix) for radix in i.radix)
    header = math.ceil(bits / i.width) * i.width * i.cascade
    return len(i.radix) * (i.pipeline + i.wire) * i.clock + (8 * BYTES + header) * i.clock / i.bits


def headers() -> list[dict]:
    """Table 4's equation for headers that are dense: bits of a direction may straddle two words."""
    rows = []
    common = {"experiment": "metro.headers", "source": f"{PAPER}, Table 4", "tolerance": 0, "unit": "ns"}
    for width, radix in STRADDLING:
        i = replace(TABLE3[0], width=width, radix=radix)
        words = -(-8 * BYTES // width)
        body = (words * width - 8 * BYTES) * i.clock / width  # what the last word has beyond 20 bytes
        name = f"radices {', '.join(map(str, radix))}; w = {width}"
        for straddles in (True, False):
            setting = replace(i, straddles=straddles)
            rows.append(row(quantity="t_20", setting=f"{name}{'' if straddles else ', a stage in one word'}",
                            published=by_table4(i) + body if straddles else None, check=True, reading=READING_HEADERS,
                            measured=alone(setting.experiment, words, 0, 1).delivered * i.clock, **common))
    return rows


READING_HEADERS = ("The paper prints no such example, but its equation takes the bits of all stages together before it "
                   "rounds up: so a direction's bits must be in two words where they do not fit. Clocks of "
                   "METROJR-ORBIT, 20 bytes in whole words.")

EXPERIMENTS = {
    "metro.single_router": ("a stage and a word of METROJR-ORBIT, and a stage of RN1 (1 s)", single_router),
    "metro.headers": ("headers whose directions straddle words, by Table 4's equation (4 s)", headers),
}
