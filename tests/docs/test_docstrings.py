"""The examples in docstrings run and print the output that they show."""

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import flitlab as fl

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(m.name for m in pkgutil.walk_packages(fl.__path__, "flitlab.") if "__main__" not in m.name)


@pytest.mark.parametrize("name", ["flitlab", *(m for m in MODULES if not m.startswith("flitlab._core"))])
def test_examples_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)  # some examples name files of the source tree
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_some():
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(bool(t.examples) for name in MODULES for t in finder.find(import_module(name))) >= 5
