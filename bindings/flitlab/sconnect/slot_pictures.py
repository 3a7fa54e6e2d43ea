"""Pictures of the slots on a channel between two nodes of S-Connect (3.2). ``record_slots`` makes the tables; delays
are in routing cycles."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Patch, Rectangle

from flitlab.sconnect.channel_slots import answer_to

COLOURS = {"new": "#9ecae1", "again": "#3182bd", "duplicate": "#fdae6b", "hit": "#de2d26", "no message": "#bdbdbd"}
LEGEND = {"new": "message, taken", "again": "message sent again, taken", "duplicate": "duplicate, discarded",
          "hit": "hit by an error", "no message": "answer without a message"}
MARKS = {"taken": "\u2713", "not taken": "\u2717", "lost": "?"}
ANSWERS = {"taken": "answer: taken", "not taken": "answer: not taken", "lost": "answer lost"}


def draw_fibre(slots: pd.DataFrame, delay: int, until: int) -> None:
    """Draws the slots that are sent before the cycle ``until`` as lines between two nodes: position downwards, time to
    the right. Solid lines go from node 0 to node 1, dotted lines back; numbers of messages are where they are sent."""
    figure, axis = plt.subplots(figsize=(13, 4.6), layout="constrained")
    for s in slots[slots.sent < until].itertuples():
        message = s.number >= 0
        axis.plot((s.sent, s.sent + delay), (delay, 0) if s.way else (0, delay), lw=2.2 if message else 0.9,
                  color=COLOURS["hit" if s.hit else s.fate], ls=":" if s.way and not s.hit else "-",
                  zorder=3 if s.hit else 2 if message else 1)
        if message:
            axis.text(s.sent, delay + 0.15 if s.way else -0.15, s.number, ha="center", fontsize=7.5,
                      va="top" if s.way else "bottom")
    axis.set(xlabel="routing cycle", ylabel="way along the fibre\n(slots, from node 0)", xlim=(-0.5, until),
             ylim=(delay + 0.8, -0.8), xticks=range(0, until + 1, 2), yticks=range(delay + 1))
    for y, node in ((0, "node 0"), (delay, "node 1")):
        axis.axhline(y, color="black", lw=1.2)
        axis.text(until + 0.3, y, node, va="center", fontsize=9)
    axis.spines[["left", "right", "top", "bottom"]].set_visible(False)
    keys = [plt.Line2D([], [], color=COLOURS[fate], lw=2.2, label=LEGEND[fate]) for fate in COLOURS]
    keys += [plt.Line2D([], [], color="black", label="from node 0 to node 1"),
             plt.Line2D([], [], color="black", ls=":", label="from node 1 to node 0")]
    figure.legend(handles=keys, loc="outside lower center", ncols=4, fontsize=8)


def draw_rounds(slots: pd.DataFrame, delay: int) -> None:
    """Draws the messages of node 0's transmitter. A row is a slot of the round, a column is a round, and a cell has the
    message's number and a mark for the answer."""
    figure, axis = plt.subplots(figsize=(9, 5.2), layout="constrained")
    length = 2 * (delay + 1)  # slots of a round
    shown = slots[(slots.way == 0) & (slots.number >= 0)]
    rounds = range(shown.sent.min() // length, shown.sent.max() // length + 1)
    for s in shown.itertuples():
        place, slot = divmod(s.sent, length)
        axis.add_patch(Rectangle((place - 0.47, slot - 0.45), 0.94, 0.9, fc=COLOURS[s.fate], ec="none"))
        axis.text(place, slot, f"{s.number}  {MARKS[answer_to(slots, s.sent, delay)]}", ha="center", va="center",
                  fontsize=9, color="white" if s.fate in ("again", "hit") else "black")
    axis.set(xlim=(rounds[0] - 0.5, rounds[-1] + 0.5), ylim=(length - 0.5, -0.5), xticks=rounds, yticks=range(length),
             xlabel="round", ylabel="slot of the round", title="what node 0 has sent in each slot")
    axis.set_xticklabels([f"{r}\ncycles {r * length} to {(r + 1) * length - 1}" for r in rounds])
    axis.spines[["left", "right", "top", "bottom"]].set_visible(False)
    axis.tick_params(length=0)
    keys: list = [Patch(fc=COLOURS[fate], label=LEGEND[fate]) for fate in COLOURS if fate in set(shown.fate)]
    keys += [plt.Line2D([], [], ls="", marker=f"${MARKS[answer]}$", color="black", label=text)
             for answer, text in ANSWERS.items()]
    figure.legend(handles=keys, loc="outside right upper", fontsize=8)


def draw_error_cost(chance: np.ndarray, throughput: np.ndarray | pd.Series) -> None:
    """Draws the throughput of a saturated channel, in messages per cycle and node, against the probability that a slot
    is hit, and the formula (1 - p) / (1 + p)."""
    _, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
    axis.plot(chance, (1 - chance) / (1 + chance), color="grey", label="(1 - p) / (1 + p)")
    axis.plot(chance, throughput, "o", label="measured")
    axis.set(xlabel="probability p that a slot is hit", ylabel="throughput\n(messages/cycle/node)", ylim=(0, 1.05))
    axis.grid(alpha=0.3)
    axis.legend()
