"""Operations of software on a T3E: registers of nodes, barrier units, the special network.

Sources: the manual HMM-146-0, Node Registers and Special Routing; "The Cray T3E Network", sections 6 and 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flitlab.machine_console import WritableRegisters, bits_of

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


@dataclass(frozen=True)
class BarrierRegister:
    """A node of a barrier unit's spanning tree, with ports by name."""

    children: tuple[str, ...]
    joined: tuple[str, ...]  # children whose join has arrived
    parent: str | None  # None at the root and outside the tree


@dataclass(frozen=True)
class Answer:
    """An answer to an SGET that has reached a PE."""

    ticket: int
    node: int  # node of that PE
    value: int
    cycle: int


class Machine(WritableRegisters):
    """Software's access to a T3E between cycles: ``t3e.Machine(net).write_register(3, "R_SW", 7)``. ConfigError if the
    network is not a T3E. Methods without another result return the machine.

    ``net.console.registers(node)`` lists all registers; docs/reference.md has their bits."""

    kind = "t3e"
    noun = "T3E"

    def barrier_state(self, pe: int, unit: int = 0) -> str:
        """Returns the state of a barrier unit at a PE: S_BAR, S_ARM or S_EUR (The Cray T3E Network, Figure 6)."""
        return self._call("barrier_state", pe=pe, unit=unit)

    def barrier_operation(self, pe: int, operation: str, unit: int = 0) -> Self:
        """Performs OP_BAR, OP_EUR or OP_EUR_B at a PE; ``barrier.operation`` must be "by_hand". ConfigError if the
        unit's state does not allow the operation."""
        self._call("barrier_operation", pe=pe, operation=operation, unit=unit)
        return self

    def barrier_register(self, node: int, unit: int = 0) -> BarrierRegister:
        """Returns a barrier unit's register in a router."""
        r = self._call("barrier_register", node=node, unit=unit)
        return BarrierRegister(tuple(r["children"]), tuple(r["joined"]), r["parent"])

    def special_put(self, node: int, deltas: Sequence[int], name: str, value: int) -> Self:
        """The PE of a node sends an SPUT, which writes a register of the node where the packet ends.

        deltas: hops in primary X, Y, Z, then secondary X, Y, Z; negative in the - direction. A PE sends its packets in
        the order of the calls, one per clock while the network is stepped. ConfigError if special.enabled is false.
        """
        self._call("special_put", node=node, deltas=deltas, name=name, value=bits_of(name, value))
        return self

    def special_get(self, node: int, deltas: Sequence[int], name: str) -> int:
        """The PE of a node sends an SGET, which reads a register of the node where the packet ends. That node's
        R_SGET_RTRN gives the path of the answer. Returns the ticket, which the answer repeats."""
        return self._call("special_get", node=node, deltas=deltas, name=name)

    def special_answers(self) -> list[Answer]:
        """Returns the answers that have reached any PE since the last call, in the order of arrival."""
        return [Answer(**answer) for answer in self._call("special_answers")]
