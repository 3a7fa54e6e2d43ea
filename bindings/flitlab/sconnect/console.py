"""What software can do to an S-Connect fabric: registers from outside, and control messages of hosts (S-Connect, 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flitlab._core import ConfigError
from flitlab.machine_console import WritableRegisters

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class Request(NamedTuple):
    """A control message; see :meth:`Fabric.send_control`."""

    operation: str
    number: int = 0
    value: int = 0
    address: int | None = None
    hops: Sequence[int] = ()
    priority: int = 2
    tag: int = 0


@dataclass(frozen=True)
class Reply:
    """A reply to a control message."""

    tag: int  # of the request
    number: int  # that it named
    value: int
    stamp: int  # the router's 16-bit timer when it carried out the request, routing cycles


class Fabric(WritableRegisters):
    """An S-Connect fabric under software's hands, between cycles: ``sconnect.Fabric(net).registers(0)["timer"]``.
    ConfigError if the network is none. Methods that return nothing else return the fabric.

    Registers of a TIC (``node``) are looked at from outside; ``net.console.register_records()`` lists them. Control
    messages are the way of software in a host."""

    kind = "sconnect"
    noun = "S-Connect fabric"

    def send_control(self, terminal: int, operation: str, number: int = 0, value: int = 0, *,
                     address: int | None = None, hops: Sequence[int] = (), priority: int = 2, tag: int = 0) -> Self:
        """Software at a terminal sends a control message (S-Connect, 3.4), which leaves when the network is stepped.

        operation: read_table, write_table (number: destination), read_register, write_register (number: see
        kernels/routers/sconnect/control_message.hpp), add_to_timer. address: node to which the routing tables lead it
        first, if any; hops: ports to be taken from there on, up to 16. The reply bears what was read, or is there now;
        a message that leads nowhere has none. It goes at the next priority, 3 at most. ConfigError if 16 messages
        already wait at the terminal.

        Nothing keeps requests of one priority whose hops lead round a circle from filling its queues, in which they
        then wait for one another for ever, with all that comes behind them. ``Network.check`` and a run say so.
        Hops along a tree, or few requests at a time, avoid it. At priority 3, where replies have that of requests,
        those by tables can wait for each other as well.
        """
        if not self.send_controls(terminal, [Request(operation, number, value, address, hops, priority, tag)]):
            raise ConfigError(f"the mailbox of terminal {terminal} is full (16 messages). Step first.")
        return self

    def send_controls(self, terminal: int, requests: Sequence[Request]) -> int:
        """Several control messages at once; returns how many have found a place, the first ones."""
        return self._call("send_control", terminal=terminal, messages=list(requests))

    def take_replies(self, terminal: int) -> list[Reply]:
        """Replies to control messages that have come to a terminal since the last call, in order."""
        return [Reply(*reply) for reply in self._call("take_replies", terminal=terminal)]

    def priorities(self, terminal: int, packets: Sequence[int]) -> list[int]:
        """Priorities of packets that a terminal sends, by their numbers (S-Connect, 2.3). Of a trace, of those of one
        message; quads have ``host.quad_priority``."""
        return self._call("priorities", terminal=terminal, packets=list(packets))

    def set_addresses(self, addresses: Sequence[int]) -> Self:
        """What other hosts address messages to each terminal to (with ``routing.tables = "none"``): the number of its
        node in the routing tables. Without, terminals are called by the numbers of the plan."""
        if any(a < 0 for a in addresses):
            raise ConfigError("addresses must not be negative.")
        self._call("set_addresses", addresses=list(addresses))
        return self
