"""Consoles of machines with the methods that their users know; each machine's package has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from flitlab import _core
from flitlab.network import Network

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class MachineConsole:
    """The console of one kind of machine with the methods that its users know; ``net`` is the network."""

    kind: ClassVar[str]  # router.kind
    noun: ClassVar[str]  # what a network of this kind is called

    def __init__(self, net: Network):
        if (kind := net.experiment["router.kind"]) != self.kind:
            raise _core.ConfigError(f'router.kind = "{kind}" is no {self.noun}: set it to "{self.kind}".')
        self.net = net

    def _call(self, operation: str, /, **arguments: Any) -> Any:
        return self.net.console._call(operation, arguments, stacklevel=4)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.net!r}>"


class Registers(MachineConsole):
    """Of machines whose routers have registers."""

    def read_register(self, node: int, name: str) -> int:
        """A register of a node, as its up to 64 bits. ConfigError if it has none of that name."""
        return self._call("read_register", node=node, name=name)

    def registers(self, node: int) -> dict[str, int]:
        """All registers of a node by name."""
        return self._call("registers", node=node)


class WritableRegisters(Registers):
    """Of machines whose registers software can write."""

    def write_register(self, node: int, name: str, value: int) -> Self:
        """Writes a register of a node between two cycles. ConfigError if it has no such register or no such
        bits; a warning if the value loses packets."""
        self._call("write_register", node=node, name=name, value=bits_of(name, value))
        return self


def bits_of(name: str, value: int) -> int:
    """A register's value, also if it is given as True or False. ConfigError, which names the register, if it is none.
    """
    if not 0 <= value < 1 << 64:
        raise _core.ConfigError(f"{name} = {value}: a register has 64 bits, 0 to 2**64 - 1.")
    return int(value) if isinstance(value, bool) else value
