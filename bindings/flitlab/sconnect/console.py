"""The console of an S-Connect fabric: direct access to registers, and control messages of hosts (S-Connect, 3.4)."""

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

    tag: int  # tag of the request
    number: int  # number in the request
    value: int
    stamp: int  # 16-bit timer of the router when it carried out the request, routing cycles


class Fabric(WritableRegisters):
    """Software's access to an S-Connect fabric between cycles: ``sconnect.Fabric(net).registers(0)["timer"]``.

    Methods without another result return the fabric. The register methods access registers of a TIC (``node``)
    directly, without messages; ``net.console.register_records()`` lists them. Software in a host uses control messages
    instead. Raises ConfigError for a network of another kind."""

    kind = "sconnect"
    noun = "S-Connect fabric"

    def send_control(self, terminal: int, operation: str, number: int = 0, value: int = 0, *,
                     address: int | None = None, hops: Sequence[int] = (), priority: int = 2, tag: int = 0) -> Self:
        """Sends a control message from software at a terminal (S-Connect, 3.4); it leaves when the network is stepped.

        operation: read_table, write_table (number: the entry's destination node), read_register, write_register
        (number: see kernels/routers/sconnect/control_message.hpp), add_to_timer. address: node to which the routing
        tables first take the message; None: the message starts with the hops. hops: output ports that the message then
        takes, at most 16. The reply has the value that was read, or the value after a write, and the next higher
        priority, at most 3. A message that reaches no TIC has no reply. Raises ConfigError if 16 messages already wait
        at the terminal.

        Requests of one priority whose hops form a cycle can deadlock: they fill the queues along the cycle and block
        all later messages. ``Network.check`` and runs report this. Hops along a tree, or few requests at a time, avoid
        it. At priority 3, replies have the priority of requests, so requests and replies routed by tables can deadlock,
        too.
        """
        if not self.send_controls(terminal, [Request(operation, number, value, address, hops, priority, tag)]):
            raise ConfigError(f"the mailbox of terminal {terminal} is full (16 messages). Step the network first.")
        return self

    def send_controls(self, terminal: int, requests: Sequence[Request]) -> int:
        """Sends several control messages. Returns how many, from the first on, the mailbox has accepted."""
        return self._call("send_control", terminal=terminal, messages=list(requests))

    def take_replies(self, terminal: int) -> list[Reply]:
        """Returns the replies that have arrived at a terminal since the last call, in order."""
        return [Reply(*reply) for reply in self._call("take_replies", terminal=terminal)]

    def priorities(self, terminal: int, packets: Sequence[int]) -> list[int]:
        """Returns the priorities of a terminal's packets, given by their numbers (S-Connect, 2.3).

        In a trace, the priority of packets of one message; packets of four messages (quads) have
        ``host.quad_priority``."""
        return self._call("priorities", terminal=terminal, packets=list(packets))

    def set_addresses(self, addresses: Sequence[int]) -> Self:
        """Sets the address that hosts use to send to each terminal; only with ``routing.tables = "none"``, where
        software in the fabric loads the routing tables. The address is the number of the terminal's node in the tables.
        The default is flitlab's numbering of the nodes."""
        if any(a < 0 for a in addresses):
            raise ConfigError("addresses must not be negative.")
        self._call("set_addresses", addresses=list(addresses))
        return self
