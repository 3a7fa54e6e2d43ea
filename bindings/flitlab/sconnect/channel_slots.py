"""Recording of the slots on a channel between two nodes of S-Connect (3.2)."""

from __future__ import annotations

import pandas as pd

from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.sconnect.console import Fabric

# bits of the registers slot.P: kernels/routers/sconnect/channel.hpp
PRESENT, SEQUENCE, ANSWER, HIT = 1, 2, 4, 64
CLOCKS = 6  # per routing cycle


def record_slots(experiment: Experiment, cycles: int) -> tuple[Network, pd.DataFrame]:
    """Steps a fabric of two nodes and records every slot that is sent over its channel, from the registers ``slot.0``
    and ``message.0`` of both TICs, which show the slot that arrives in the next cycle. Returns the network and a table
    with a row for each slot.

    Columns: sent, the routing cycle; way, 0 from node 0 to node 1, 1 back; sequence and answer, its two bits; hit:
    whether a bit error damages it; number, of its message, -1 if it carries none; fate: "new" (the receiver takes the
    message), "again" (the receiver takes it after it was sent before), "duplicate" (the receiver discards it), "hit" or
    "no message"."""
    net, rows = Network(experiment), []
    delay = experiment["topology.channel_delay"] // CLOCKS
    sent, taken = set[int](), set[int]()
    while net.cycle < cycles:
        for way in (0, 1):
            registers = Fabric(net).registers(1 - way)
            bits = registers["slot.0"]
            if not bits:
                continue
            fate, number = "no message", -1
            if bits & PRESENT:
                number = registers["message.0"] % 2**32
                fate = "hit" if bits & HIT else "duplicate" if number in taken else "again" if number in sent else "new"
                sent.add(number)
            if fate in ("new", "again"):
                taken.add(number)
            rows.append({"sent": net.cycle - delay, "way": way, "sequence": bool(bits & SEQUENCE),
                         "answer": bool(bits & ANSWER), "hit": bool(bits & HIT), "number": number, "fate": fate})
        net.step()
    return net, pd.DataFrame(rows)


def answer_to(slots: pd.DataFrame, cycle: int, delay: int) -> str:
    """Returns the answer that node 0 receives to the slot that it sent in a cycle: "taken", "not taken" or "lost".

    slots: as :func:`record_slots` returns them. delay: of the channel, routing cycles. Node 1 sends the answer one
    cycle after it has read the slot."""
    ways = [slots[slots.way == way].set_index("sent") for way in (0, 1)]
    at = cycle + delay + 1
    if at not in ways[1].index or ways[1].hit[at]:
        return "lost"
    return "taken" if ways[1].answer[at] != ways[0].sequence[cycle] else "not taken"
