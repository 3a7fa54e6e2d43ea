"""Access to the machines' sub-packages, which have the names of their router.kind; and to classics, which has published
experiments and no router of its own.

Shared modules import no machine by name. They use these optional modules of each sub-package:

- ``published``: EXPERIMENTS of ``flitlab reproduce``, name -> (help, function returning rows[, function of a folder
  returning rows at the paper's size]), and PLACE, the sub-package's position in lists of all experiments;
- ``trace``: Watch, a class whose events ``flitlab trace`` writes beside the events of packets (flitlab/tracing.py).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

SHARED = {"scope"}  # sub-packages that are not machines


def machines() -> list[str]:
    """Returns the names of the machines' sub-packages."""
    names = [module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg]
    return [name for name in names if name not in SHARED]


def part(machine: str, name: str) -> ModuleType | None:
    """Returns a module of a machine's sub-package; None if there is no such module or machine."""
    path = f"flitlab.{machine}.{name}"
    return import_module(path) if machine in machines() and find_spec(path) else None


def parts(name: str) -> list[ModuleType]:
    """Returns the modules of that name in all machines' sub-packages."""
    return [module for machine in machines() if (module := part(machine, name))]
