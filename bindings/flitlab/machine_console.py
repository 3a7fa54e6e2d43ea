"""Base classes of the machines' consoles: classes with one method per operation, in each machine's package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from flitlab import _core
from flitlab.network import Network

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


class MachineConsole:
    """The console of one kind of machine. ``net``: its network. Raises ConfigError for a network of another kind."""

    kind: ClassVar[str]  # router.kind
    noun: ClassVar[str]  # phrase for a network of this kind in messages

    def __init__(self, net: Network):
        if (kind := net.experiment["router.kind"]) != self.kind:
            raise _core.ConfigError(f'router.kind = "{kind}" is no {self.noun}: set it to "{self.kind}".')
        self.net = net

    def _call(self, operation: str, /, **arguments: Any) -> Any:
        return self.net.console._call(operation, arguments, stacklevel=4)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.net!r}>"


class Registers(MachineConsole):
    """Console of a machine whose routers have registers."""

    def read_register(self, node: int, name: str) -> int:
        """Returns a register of a node, up to 64 bits. Raises ConfigError if there is no such register."""
        return self._call("read_register", node=node, name=name)

    def registers(self, node: int) -> dict[str, int]:
        """Returns all registers of a node by name."""
        return self._call("registers", node=node)


class WritableRegisters(Registers):
    """Console of a machine whose registers software can write."""

    def write_register(self, node: int, name: str, value: int) -> Self:
        """Writes a register of a node between two cycles. Raises ConfigError if there is no such register, or if the
        value sets bits that the register lacks. Warns if packets are lost with this value."""
        self._call("write_register", node=node, name=name, value=bits_of(name, value))
        return self


def bits_of(name: str, value: int) -> int:
    """Returns a register's value, which may be given as True or False. Raises ConfigError unless it fits in 64 bits."""
    if not 0 <= value < 1 << 64:
        raise _core.ConfigError(f"{name} = {value}: a register has 64 bits, 0 to 2**64 - 1.")
    return int(value) if isinstance(value, bool) else value
