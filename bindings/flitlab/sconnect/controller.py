"""A controlling computer: control messages from one node of a fabric, and their replies (S-Connect, 3.4)."""

from __future__ import annotations

from collections.abc import Iterable

from flitlab import _core
from flitlab.network import Network
from flitlab.sconnect.console import Fabric, Reply, Request

MAILBOX = 16  # messages
TAGS = 256


class BringUpError(RuntimeError):
    """The fabric does not do what it should: something changes while it is being explored, or tables are too small."""


class Controller:
    """The controlling computer at a terminal: sends requests, many at once, and waits for their replies.

    window: requests outstanding at a time. patience: cycles without any reply after which those that are outstanding
    count as lost; None: three times the longest round trip so far, and 300 (a channel takes up to 60, S-Connect's
    slowest answers several times that). Messages bear one of 256 tags. The tag of a request that was given up is used
    again when 128 more have been given up; if its reply comes even later, it is taken for the reply to another request
    that names the same number.
    """

    def __init__(self, net: Network, terminal: int, window: int = 128, patience: int | None = None):
        if not 1 <= window <= TAGS // 2:
            raise _core.ConfigError(f"window = {window}: 1 to {TAGS // 2} requests may be outstanding.")
        self.net, self.terminal, self.window, self.patience = net, terminal, window, patience
        self.fabric = Fabric(net)
        self.messages = self.lost = self.longest = 0
        self._free = list(range(TAGS))  # tags
        self._late: dict[int, None] = {}  # of requests given up: their replies may still come

    def exchange(self, requests: Iterable[Request]) -> list[Reply | None]:
        """Sends requests, in any order, and returns their replies in theirs; None: there was none in time.

        BringUpError if for twice that time no request has left: they wait for one another (Fabric.send_control).
        """
        waiting: list[tuple[int, Request]] = list(enumerate(requests))[::-1]
        numbers = [request.number for _, request in reversed(waiting)]
        replies: list[Reply | None] = [None] * len(waiting)
        outstanding: dict[int, tuple[int, int]] = {}  # tag -> place in replies, cycle
        quiet, moved = 0, True  # cycles without a reply; whether anything has gone or come since requests were given up
        net = self.net
        while waiting or outstanding:
            moved |= self._send(waiting, outstanding) > 0
            net.step(MAILBOX)
            quiet += MAILBOX
            for reply in self.fabric.take_replies(self.terminal):
                moved = True
                if reply.tag in outstanding and reply.number == numbers[outstanding[reply.tag][0]]:
                    quiet = 0
                    place, sent = outstanding.pop(reply.tag)
                    replies[place] = reply
                    self.longest = max(self.longest, net.cycle - sent)
                elif reply.tag not in self._late:
                    continue
                self._late.pop(reply.tag, None)
                self._free.append(reply.tag)
            if quiet >= (3 * self.longest + 300 if self.patience is None else self.patience):
                if not moved:
                    raise BringUpError(
                        f"{len(waiting)} requests cannot be sent: the mailbox of terminal {self.terminal} is full, and "
                        f"for {quiet} cycles nothing has left it and no reply has come. Requests whose hops lead round "
                        "a circle can wait for one another for ever: name ways along a tree, send fewer at a time "
                        "(window), or raise patience if the fabric is slow."
                    )
                moved = False
                self.lost += len(outstanding)
                self._late |= dict.fromkeys(outstanding)
                outstanding.clear()
                quiet = 0
        return replies

    def _send(self, waiting: list, outstanding: dict) -> int:
        """Returns how many have found a place in the mailbox."""
        while len(self._free) + len(outstanding) < self.window:  # those given up longest ago come no more
            tag = next(iter(self._late))
            del self._late[tag]
            self._free.append(tag)
        count = min(len(waiting), self.window - len(outstanding), MAILBOX)
        if count <= 0:
            return 0
        tags, self._free = self._free[:count], self._free[count:]
        next_ones = waiting[: -count - 1 : -1]
        requests = [r._replace(tag=tag) for tag, (_, r) in zip(tags, next_ones, strict=True)]
        taken = self.fabric.send_controls(self.terminal, requests)
        for tag, (place, _) in zip(tags[:taken], next_ones[:taken], strict=True):
            outstanding[tag] = (place, self.net.cycle)
        self._free += tags[taken:]
        self.messages += taken
        del waiting[len(waiting) - taken :]
        return taken
