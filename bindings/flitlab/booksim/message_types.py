"""Requests, replies and parallel networks in BookSim's files: ``use_read_write`` with its sizes, ranges of virtual
channels and subnets, and ``subnets``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.request_reply import booksims_mean, lengths_of_types
from flitlab.booksim.settings import Settings
from flitlab.booksim.stepwise import Replies, Stepping
from flitlab.booksim.traffic import MOST_CLASSES, class_priorities
from flitlab.booksim.vc_ranges import OF_REPLIES, TYPES, range_parameters, vcs_of_type


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
        return mean if replies is None else booksims_mean(replies.flits[1:])


def message_types(settings: Settings, number: int) -> MessageTypes:
    """Reads which packets ``number`` classes have. Raises ConfigError."""
    settings.use(*OF_REPLIES)
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
            ranges += [vcs_of_type(settings, name, vcs) for name in TYPES] if has_replies else [(0, vcs - 1)]
        values |= range_parameters(ranges)
    return values


def _replies(settings: Settings, number: int, kind: int, subnets: int) -> Replies:
    fraction = settings.numbers("write_fraction", number)[kind]
    flits = [0, *lengths_of_types(settings, kind, number)]
    of_types = [0, *(settings.whole(f"{name}_subnet") for name in TYPES)]
    for name, subnet in zip(TYPES, of_types[1:], strict=True):
        if subnet >= subnets:
            raise ConfigError(f"{settings.called}: {name}_subnet = {subnet} does not exist: subnets = {subnets} are "
                              f"numbered 0 to {subnets - 1}.")
    return Replies(fraction, flits, of_types)
