"""The console of a network: operations of its machine that software can call between cycles.

>>> import flitlab as fl
>>> net = fl.Network(fl.Experiment.from_dict({"router.kind": "t3e", "topology.shape": [2, 2, 1]}))
>>> net.console.operations()[0]
read_register(node: router, name: text) -> its 64 bits
>>> net.console.read_register(node=3, name="R_LWHO")
3
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flitlab import _core

if TYPE_CHECKING:
    from flitlab.experiment import Experiment


@dataclass(frozen=True)
class Argument:
    """An argument of an operation."""

    name: str
    type: str  # router, terminal, number (whole, not negative), integer, real, flag, text, integers (list), any
    unit: str
    help: str
    optional: bool  # the argument may be omitted, or be None
    min: float | None = None  # least value of each number; None: limited only by the type
    max: float | None = None


@dataclass(frozen=True, repr=False)
class Operation:
    """An operation of a console, or a tool: a function of a router kind that needs no network."""

    name: str
    help: str
    arguments: tuple[Argument, ...]
    returns: str  # description of the result; "": it returns nothing
    cite: str  # source and section

    @classmethod
    def of(cls, record: dict[str, Any]) -> Operation:
        """Makes an operation from a record of the core."""
        return cls(record["name"], record["help"], tuple(Argument(**a) for a in record["arguments"]),
                   record["returns"], record["cite"])

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}: {a.type}{f' ({a.unit})' if a.unit else ''}{' = None' if a.optional else ''}"
                              for a in self.arguments)
        return f"{self.name}({arguments})" + (f" -> {self.returns}" if self.returns else "")


@dataclass(frozen=True)
class Register:
    """A register of routers, or several registers whose names have a number or a port in the position of #."""

    name: str
    bits: int
    help: str
    writable: bool
    unit: str


class Console:
    """The operations of a network, ``net.console``; each is also a method with the operation's name."""

    def __init__(self, core: _core.Network):
        self._core = core
        self._offered: dict[str, Operation] | None = None

    def operations(self) -> list[Operation]:
        """Returns the operations of this machine; [] if it has no console."""
        if self._offered is None:
            self._offered = {record["name"]: Operation.of(record) for record in self._core.operations()}
        return list(self._offered.values())

    def register_records(self) -> list[Register]:
        """Returns the registers that ``registers`` and ``read_register`` give; [] if routers of this machine have
        none."""
        return [Register(**record) for record in self._core.register_records()]

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Carries out an operation and returns its result. Raises ConfigError for an unknown operation or wrong
        arguments. Warns if the operation was carried out although it is likely an error."""
        return self._call(operation, arguments)

    def _call(self, operation: str, arguments: dict[str, Any], stacklevel: int = 3) -> Any:
        result = self._core.call(operation, arguments)
        for text in self._core.take_warnings():
            warnings.warn(text, stacklevel=stacklevel)
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy, pickle and notebooks look for attributes with such names
            raise AttributeError(name)
        operation = next((o for o in self.operations() if o.name == name), None)
        if operation is None:
            self._core.call(name, {})  # raises ConfigError, which lists the operations

        def call(*values: Any, **arguments: Any) -> Any:
            named = dict(zip((a.name for a in operation.arguments), values, strict=False))
            if len(values) > len(operation.arguments) or named.keys() & arguments:
                raise _core.ConfigError(f"{operation!r}: too many arguments were given.")
            return self._call(name, named | arguments)

        call.__name__ = name
        call.__doc__ = "\n".join([f"{operation!r}", "", f"{operation.help} ({operation.cite})", "",
                                  *(f"{a.name}: {a.help}" for a in operation.arguments)])
        return call

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(o.name for o in self.operations())})

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.operations())) or "<no operations>"


def tools(kind: str) -> list[Operation]:
    """Returns the tools of a router kind: functions that need no network. Raises ConfigError if there is no such
    kind."""
    return [Operation.of(record) for record in _core.tools(kind)]


def call_tool(kind: str, name: str, experiment: Experiment | None = None, /, **arguments: Any) -> Any:
    """Calls a tool of a router kind and returns its result. Raises ConfigError for an unknown tool or wrong
    arguments."""
    return _core.call_tool(kind, name, None if experiment is None else experiment.core, arguments)
