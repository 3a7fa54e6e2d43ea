"""S-Connect: the console of a fabric, and an exhaustive exploration of its channel protocol (S-Connect, 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from flitlab.console import call_tool
from flitlab.sconnect.console import Fabric as Fabric
from flitlab.sconnect.console import Reply as Reply
from flitlab.sconnect.console import Request as Request


@dataclass(frozen=True)
class Exploration:
    """The result of an exploration of a channel."""

    states: int  # reachable states that were found
    transitions: int  # number of transitions; each leads from a state to a possible next state, one routing cycle later
    depth: int  # routing cycles to the state that takes longest to reach
    complete: bool  # whether all reachable states were visited
    # the first violation, and one line per routing cycle of the shortest path to it; "" if there is no violation
    violation: str

    @property
    def holds(self) -> bool:
        return self.complete and not self.violation


def explore_protocol(delay: int | tuple[int, int] = 1, *, singles: tuple[int, int] = (1, 1),
                     quads: tuple[int, int] = (0, 0), hits: tuple[bool, bool] = (True, True),
                     refuses: tuple[bool, bool] = (True, True), voids: tuple[bool, bool] = (True, True),
                     switches: bool = False, endless: bool = False, defect: str = "",
                     most_states: int = 20_000_000) -> Exploration:
    """Explores all reachable states of a channel that carries a few messages (S-Connect, 3.2).

    Both ends use the functions of kernels/routers/sconnect/channel.hpp, as the emulated TICs do. In every state the
    exploration checks that no message is accepted twice, that no void message is accepted, that quads are accepted as a
    whole, and that answers to the sender are correct. It also checks that from every state a path without further
    errors leads to a state in which all messages have arrived and all slots are free.

    In each pair the first value is for messages from the first end to the second. delay: delay of the channel, 1 or 2
    routing cycles, one number for both directions or a pair. Each end uses its transmit slots in turn; a round, after
    which the same slot is used again, has the sum of both delays plus two slots. singles, quads: numbers of messages,
    at most 8 in total. hits: channel errors may damage slots. refuses: the receiver may lack a free buffer. voids:
    messages may prove damaged during transmission (late abort). switches: ends may be switched off and on at any time.
    endless: an arrived message is replaced by a new one. most_states: limit of the number of states, about 50 bytes
    each.

    defect: a deliberate error in the protocol: ignores_sequence, fails_unreadable, reads_first_answer,
    answers_too_early, takes_partial_quads, takes_void, answers_if_asked_only or never_asks. Raises ConfigError.
    """
    both = (delay, delay) if isinstance(delay, int) else delay
    return Exploration(**call_tool("sconnect", "explore", delay=list(both), singles=singles, quads=quads,
                                   hits=_flags(hits), refuses=_flags(refuses), voids=_flags(voids),
                                   switches=bool(switches), endless=bool(endless), defect=defect,
                                   most_states=most_states))


def _flags(pair: tuple[bool, bool]) -> list[bool]:
    return [bool(flag) for flag in pair]
