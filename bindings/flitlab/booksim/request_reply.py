"""Requests and replies of BookSim's files (``use_read_write``), as a closed loop of flitlab."""

from __future__ import annotations

from typing import Any

from flitlab._core import ConfigError
from flitlab.booksim.settings import Settings
from flitlab.booksim.vc_ranges import TYPE_RANGES, TYPES, vcs_of_type

# BookSim limits neither the requests of a node that have no reply yet nor the replies that wait: these are the largest
# number that flitlab has, and enough for a destination of several nodes.
_WINDOW, _QUEUE = 256, 1024


def lengths_of_types(settings: Settings, number: int, classes: int) -> list[int]:
    """Returns the flits of packets of each type in class ``number``."""
    return [settings.whole_of(settings.of_classes(f"{name}_size", classes)[number], f"{name}_size", 1)
            for name in TYPES]


def booksims_mean(lengths: list[int]) -> int:
    """Returns the length by which BookSim divides rates in flits: half of the sum of all lengths, without a rest."""
    return sum(lengths) // 2


def request_reply(settings: Settings, rate: float) -> dict[str, Any]:
    """Returns parameters of requests and replies. ``rate``: ``injection_rate``. Raises ConfigError."""
    if settings["sim_type"] == "batch":
        raise ConfigError(f"{settings.called}: sim_type = batch is not translated with use_read_write.")
    settings.use("packet_size", "packet_size_rate")  # without effect
    writes = min(settings.numbers("write_fraction", 1)[0], 1.0)
    sizes = lengths_of_types(settings, 0, 1)
    reads, write_requests, read_replies, write_replies = sizes
    mean = reads * (1 - writes) + write_requests * writes
    packets = rate / booksims_mean(sizes) if settings["injection_rate_uses_flits"] else rate
    return {"traffic.mode": "request_reply", "traffic.load": round(packets * mean, 12),
            "traffic.packet_flits": _mixed(reads, write_requests, writes),
            "traffic.reply_flits": _mixed(read_replies, write_replies, writes),
            "traffic.window": _WINDOW, "traffic.reply_queue": _QUEUE,
            "traffic.message_classes": _message_classes(settings)}


def _mixed(read: int, write: int, writes: float) -> Any:
    """Returns the lengths of packets of two types."""
    pairs = [[flits, weight] for flits, weight in ((read, 1 - writes), (write, writes)) if weight]
    return read if read == write else pairs[0][0] if len(pairs) == 1 else pairs


def _message_classes(settings: Settings) -> int:
    """Returns 2 if requests use virtual channels of the first half and replies of the second one, and 1 if all types
    share all of them."""
    vcs = settings.whole("num_vcs", 1)
    settings.use(*TYPE_RANGES)
    ranges = [vcs_of_type(settings, name, vcs) for name in TYPES]
    if set(ranges) == {(0, vcs - 1)}:
        return 1
    if max(last for _, last in ranges[:2]) < vcs // 2 <= min(first for first, _ in ranges[2:]):
        return 2
    raise ConfigError(f"{settings.called}: the ranges of virtual channels {ranges} of {', '.join(TYPES)} are not "
                      "translated: in flitlab, requests have the first half of the virtual channels and replies the "
                      "second one, or all share all of them. flitlab-booksim has these ranges.")
