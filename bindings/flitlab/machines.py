"""The machines that flitlab has tools and published experiments for: a sub-package each, named as their router.kind.

Shared modules name no machine. What a machine has for them is a module of its sub-package:

- ``published``: EXPERIMENTS of ``flitlab reproduce``, name -> (help, function returning rows[, the same in the paper's
  size, given a folder]), and PLACE, by which lists of all machines' experiments are ordered;
- ``trace``: WRITERS of ``flitlab trace``, format -> function, for routers whose events are not those of packets.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

SHARED = {"scope"}  # sub-packages of no machine


def machines() -> list[str]:
    """Names of the machines' sub-packages."""
    names = [module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg]
    return [name for name in names if name not in SHARED]


def part(machine: str, name: str) -> ModuleType | None:
    """A module of a machine's sub-package; None if there is no such module or no such machine."""
    path = f"flitlab.{machine}.{name}"
    return import_module(path) if machine in machines() and find_spec(path) else None


def parts(name: str) -> list[ModuleType]:
    """The modules of that name of all machines that have one."""
    return [module for machine in machines() if (module := part(machine, name))]
