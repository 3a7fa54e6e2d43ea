"""S-Connect: what software can do to a fabric, and its channel protocol explored (S-Connect, 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

from flitlab.console import call_tool
from flitlab.sconnect.console import Fabric as Fabric
from flitlab.sconnect.console import Reply as Reply
from flitlab.sconnect.console import Request as Request


@dataclass(frozen=True)
class Exploration:
    """What has been found of a channel."""

    states: int
    transitions: int  # ways from a state to the next, a routing cycle each
    depth: int  # routing cycles to the state that takes longest to come to
    complete: bool  # there are no other states
    violation: str  # what went wrong first, and a line for each routing cycle of the shortest way there; "": nothing

    @property
    def holds(self) -> bool:
        return self.complete and not self.violation


def explore_protocol(delay: int | tuple[int, int] = 1, *, singles: tuple[int, int] = (1, 1),
                     quads: tuple[int, int] = (0, 0), hits: tuple[bool, bool] = (True, True),
                     refuses: tuple[bool, bool] = (True, True), voids: tuple[bool, bool] = (True, True),
                     switches: bool = False, endless: bool = False, defect: str = "",
                     most_states: int = 20_000_000) -> Exploration:
    """Goes through everything that can happen to a channel with a few messages (S-Connect, 3.2).

    The two ends follow the functions of kernels/routers/sconnect/channel.hpp, as the TICs of the emulator do. Checked
    in every state: no message is taken twice, or though it is void; quads are taken whole; what a sender is told of a
    message is true. And from every state a way without further errors leads to one where all has arrived and all
    slots are free.

    delay: of the channel, routing cycles, 1 or 2, the same both ways or a pair; a round has the sum of both and two
    slots. Of all pairs the first is for what the first end sends. singles, quads: messages to be sent, up to 8
    together. hits: slots may be damaged. refuses: the receiver may have no buffer. voids: messages may turn out damaged
    while they go out (late abort). switches: ends may be switched off and on at any time. endless: what has arrived is
    replaced by a new message. most_states: give up after so many, about 50 bytes each.

    defect: the protocol broken on purpose: ignores_sequence, fails_unreadable, reads_first_answer, answers_too_early,
    takes_partial_quads, takes_void, answers_if_asked_only or never_asks.
    """
    both = (delay, delay) if isinstance(delay, int) else delay
    return Exploration(**call_tool("sconnect", "explore", delay=list(both), singles=singles, quads=quads,
                                   hits=_flags(hits), refuses=_flags(refuses), voids=_flags(voids),
                                   switches=bool(switches), endless=bool(endless), defect=defect,
                                   most_states=most_states))


def _flags(pair: tuple[bool, bool]) -> list[bool]:
    return [bool(flag) for flag in pair]
