"""The controlling computer of a fabric, which sends control messages from one node (S-Connect, 3.4)."""

from __future__ import annotations

from collections.abc import Iterable

from flitlab import _core
from flitlab.network import Network
from flitlab.sconnect.console import Fabric, Reply, Request

MAILBOX = 16  # messages
TAGS = 256


class BringUpError(RuntimeError):
    """A bring-up that failed: the fabric changed during exploration, or its tables are too small."""


class Controller:
    """The controlling computer at a terminal: sends requests, many at once, and waits for their replies.

    window: limit of outstanding requests. patience: cycles without any reply after which outstanding requests count as
    lost; None: three times the longest round trip so far plus 300 (a channel takes up to 60 cycles, the slowest replies
    several times that). Each request carries one of 256 tags, which its reply repeats, so that replies find their
    requests. The tag of a lost request is used again after 128 more requests were lost. A reply that arrives even later
    is mistaken for the reply to another request if both have the same ``number``.
    """

    def __init__(self, net: Network, terminal: int, window: int = 128, patience: int | None = None):
        if not 1 <= window <= TAGS // 2:
            raise _core.ConfigError(f"window = {window}: 1 to {TAGS // 2} requests may be outstanding.")
        self.net, self.terminal, self.window, self.patience = net, terminal, window, patience
        self.fabric = Fabric(net)
        self.messages = self.lost = self.longest = 0
        self._free = list(range(TAGS))  # tags
        # Tags of lost requests, in the order of their loss; their replies may still come.
        self._lost_tags: dict[int, None] = {}

    def exchange(self, requests: Iterable[Request]) -> list[Reply | None]:
        """Sends requests, in any order, and returns their replies in the order of the requests; None for a lost one.

        Raises BringUpError if no request leaves and no reply comes for twice the patience, because the requests are
        deadlocked (Fabric.send_control).
        """
        waiting: list[tuple[int, Request]] = list(enumerate(requests))[::-1]
        numbers = [request.number for _, request in reversed(waiting)]
        replies: list[Reply | None] = [None] * len(waiting)
        outstanding: dict[int, tuple[int, int]] = {}  # tag -> index in replies, cycle of sending
        cycles_without_reply = 0
        moved = True  # whether messages moved since requests were last declared lost
        net = self.net
        while waiting or outstanding:
            moved |= self._send(waiting, outstanding) > 0
            net.step(MAILBOX)
            cycles_without_reply += MAILBOX
            for reply in self.fabric.take_replies(self.terminal):
                moved = True
                if reply.tag in outstanding and reply.number == numbers[outstanding[reply.tag][0]]:
                    cycles_without_reply = 0
                    request_index, sent = outstanding.pop(reply.tag)
                    replies[request_index] = reply
                    self.longest = max(self.longest, net.cycle - sent)
                elif reply.tag not in self._lost_tags:
                    continue
                self._lost_tags.pop(reply.tag, None)
                self._free.append(reply.tag)
            if cycles_without_reply >= (3 * self.longest + 300 if self.patience is None else self.patience):
                if not moved:
                    raise BringUpError(
                        f"{len(waiting)} requests cannot be sent: the mailbox of terminal {self.terminal} is full, and "
                        f"no message has left it and no reply has come for {cycles_without_reply} cycles. Requests "
                        "whose hops form a cycle can deadlock: choose hops along a tree, send fewer requests at a time "
                        "(window), or raise patience if the fabric is slow."
                    )
                moved = False
                self.lost += len(outstanding)
                self._lost_tags |= dict.fromkeys(outstanding)
                outstanding.clear()
                cycles_without_reply = 0
        return replies

    def _send(self, waiting: list, outstanding: dict) -> int:
        """Sends waiting requests within the window. Returns how many the mailbox accepted."""
        # reuse the tags of the requests lost longest ago; their replies are assumed not to come any more
        while len(self._free) + len(outstanding) < self.window:
            tag = next(iter(self._lost_tags))
            del self._lost_tags[tag]
            self._free.append(tag)
        count = min(len(waiting), self.window - len(outstanding), MAILBOX)
        if count <= 0:
            return 0
        tags, self._free = self._free[:count], self._free[count:]
        next_ones = waiting[: -count - 1 : -1]
        requests = [r._replace(tag=tag) for tag, (_, r) in zip(tags, next_ones, strict=True)]
        taken = self.fabric.send_controls(self.terminal, requests)
        for tag, (request_index, _) in zip(tags[:taken], next_ones[:taken], strict=True):
            outstanding[tag] = (request_index, self.net.cycle)
        self._free += tags[taken:]
        self.messages += taken
        del waiting[len(waiting) - taken :]
        return taken
