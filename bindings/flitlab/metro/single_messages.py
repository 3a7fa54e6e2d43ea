"""Single messages in the network of METRO's Figure 3: networks that send a list of messages, and tables of a source's
attempts.

>>> from flitlab import metro
>>> (attempt,) = metro.attempts(message_network([(10, 3, 17, 20)]), source=3, cycles=60)
>>> attempt.outcome
'acknowledged'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from flitlab.experiment import Experiment
from flitlab.metro import Attempt
from flitlab.metro.published.networks import NETWORK3
from flitlab.network import Network
from flitlab.settings import dotted
from flitlab.temporary import temporary_csv


def message_network(messages: Iterable[tuple[int, int, int, int]], **settings: Any) -> Network:
    """Returns the network of METRO, Figure 3, in which the endpoints send only these messages.

    messages: (clock, source endpoint, destination endpoint, words). settings: parameter paths with ``__`` for the dot.
    """
    mode = {"traffic.mode": "trace", "traffic.trace_file": temporary_csv(messages)}
    return Network(Experiment.from_dict(NETWORK3 | mode | dotted(settings)))


def path_names(net: Network, attempt: Attempt) -> list[str]:
    """Returns the names of the routers on an attempt's path, as stage.number; without the number of the slice."""
    return [net.router(hop.router).name.split(":")[0] for hop in attempt.hops]


def is_short_retry(attempts: Sequence[Attempt]) -> bool:
    """Returns whether a list of attempts fits a picture: two or three attempts, more than 8 clocks apart, of which the
    first fails and the last is acknowledged."""
    return (2 <= len(attempts) <= 3 and attempts[0].outcome != "acknowledged"
            and attempts[-1].outcome == "acknowledged" and all(b.cycle - a.cycle > 8 for a, b in pairwise(attempts)))


def is_retry_at_one_router(attempts: Sequence[Attempt]) -> bool:
    """Returns whether there are two attempts that begin at the same router, of which the first is dropped and the
    second acknowledged."""
    return ([attempt.outcome for attempt in attempts] == ["dropped", "acknowledged"]
            and attempts[0].hops[0].router == attempts[1].hops[0].router)


def attempts_table(by_reclamation: Mapping[str, Sequence[Attempt]]) -> pd.DataFrame:
    """Returns a table with a row for each attempt. by_reclamation: the attempts of one message by the kind of path
    reclamation (METRO, 5.1).

    Columns: reclamation; attempt, from 1; starts in clock, counted from the message's first attempt; outcome; clocks
    until all wires are free, counted from the attempt's first word to its last word on any wire."""
    return pd.DataFrame([
        {"reclamation": kind, "attempt": number, "starts in clock": attempt.cycle - attempts[0].cycle,
         "outcome": attempt.outcome,
         "clocks until all wires are free": max(r.cycle for r in attempt.words) - attempt.cycle + 1}
        for kind, attempts in by_reclamation.items() for number, attempt in enumerate(attempts, 1)])
