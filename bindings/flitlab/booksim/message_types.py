"""Requests, replies and parallel networks in BookSim's files: ``use_read_write`` with its sizes, ranges of virtual
channels and subnets, and ``subnets``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.settings import Settings
from flitlab.booksim.stepwise import Replies, Stepping
from flitlab.booksim.traffic import MOST_CLASSES, class_priorities

_NAMES = ("read_request", "write_request", "read_reply", "write_reply")  # of the types of packets after PLAIN


@dataclass(frozen=True)
class MessageTypes:
    """Which packets the classes have. ``values``: flitlab's parameters of classes of packets. ``stepping``: None if all
    packets can be drawn ahead."""

    values: dict[str, Any]
    stepping: Stepping | None
    with_replies: list[bool]  # [class]

    def mean_flits(self, number: int, mean: float) -> float:
        """Returns the mean length by which BookSim divides rates in flits. ``mean``: that of ``packet_size``."""
        replies = None if self.stepping is None else self.stepping.replies[number]
        return mean if replies is None else sum(replies.flits[1:]) // 2


def message_types(settings: Settings, number: int) -> MessageTypes:
    """Reads which packets ``number`` classes have. Raises ConfigError."""
    with_replies = [settings.whole_of(text, "use_read_write") != 0
                    for text in settings.of_classes("use_read_write", number)]
    subnets, include_queuing = settings.whole("subnets", 1), settings["include_queuing"] == 1
    in_network, first = [], 0
    for has_replies in with_replies:
        in_network.append([first, *(range(first, first + 4) if has_replies else [first] * 4)])
        first += 4 if has_replies else 1
    if first > MOST_CLASSES:
        raise ConfigError(f"{settings.called}: classes = {number} with use_read_write = {settings['use_read_write']} "
                          f"is not translated: a class with replies takes four of flitlab's {MOST_CLASSES} classes.")
    values = _values(settings, np.array(in_network), with_replies)
    if not any(with_replies) and subnets == 1 and include_queuing:
        return MessageTypes(values, None, with_replies)
    of_classes = [_replies(settings, number, kind, subnets) if has_replies else None
                  for kind, has_replies in enumerate(with_replies)]
    return MessageTypes(values, Stepping(of_classes, np.array(in_network), subnets, include_queuing), with_replies)


def _values(settings: Settings, in_network: np.ndarray, with_replies: list[bool]) -> dict[str, Any]:
    vcs, number = settings.whole("num_vcs", 1), int(in_network.max()) + 1
    if number == 1:
        return {}
    values: dict[str, Any] = {"traffic.classes": number, "traffic.class_vcs": "shared"}
    if settings["priority"] == "class":
        values["traffic.class_priority"] = [
            priority for priority, has_replies in zip(class_priorities(settings, len(with_replies)), with_replies,
                                                      strict=True) for _ in range(4 if has_replies else 1)]
    # The routes of a dragonfly in BookSim do not look at the types of messages.
    if any(with_replies) and settings["topology"] != "dragonflynew":
        ranges: list[tuple[int, int]] = []
        for has_replies in with_replies:
            ranges += [_vcs(settings, name, vcs) for name in _NAMES] if has_replies else [(0, vcs - 1)]
        values |= {"traffic.class_vcs": "ranges", "traffic.class_first_vc": [first for first, _ in ranges],
                   "traffic.class_last_vc": [last for _, last in ranges]}
    return values


def _vcs(settings: Settings, name: str, vcs: int) -> tuple[int, int]:
    """Returns the first and the last virtual channel of a type. BookSim takes half of them for a negative number."""
    half, last = (0, vcs // 2 - 1) if name.endswith("request") else (vcs // 2, vcs - 1)
    given = [settings.whole(f"{name}_{end}_vc", -999999999) for end in ("begin", "end")]
    first, end = (default if number < 0 else number for number, default in zip(given, (half, last), strict=True))
    if not first <= end < vcs:
        raise ConfigError(f"{settings.called}: {name}_begin_vc = {first}, {name}_end_vc = {end} are wrong: give two "
                          f"numbers from 0 to num_vcs - 1 = {vcs - 1}, the smaller one first.")
    return first, end


def _replies(settings: Settings, number: int, kind: int, subnets: int) -> Replies:
    fraction = settings.numbers("write_fraction", number)[kind]
    flits = [0, *(settings.whole_of(settings.of_classes(f"{name}_size", number)[kind], f"{name}_size", 1)
                  for name in _NAMES)]
    of_types = [0, *(settings.whole(f"{name}_subnet") for name in _NAMES)]
    for name, subnet in zip(_NAMES, of_types[1:], strict=True):
        if subnet >= subnets:
            raise ConfigError(f"{settings.called}: {name}_subnet = {subnet} does not exist: subnets = {subnets} are "
                              f"numbered 0 to {subnets - 1}.")
    return Replies(fraction, flits, of_types)
