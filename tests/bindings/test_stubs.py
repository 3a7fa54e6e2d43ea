"""The committed type stub has the module's names and its functions' parameters."""

import ast
import inspect
import re
from pathlib import Path

from flitlab import _core

STUB = ast.parse((Path(__file__).resolve().parents[2] / "bindings/flitlab/_core.pyi").read_text(encoding="utf-8"))


def public(names):
    return {n for n in names if not n.startswith("_")}


def parameters(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args if a.arg != "self"]


def documented(function) -> list[str]:
    """Returns the parameter names in pybind11's signature line."""
    signature = re.search(r"\((.*)\) ->", inspect.getdoc(function).splitlines()[0])[1]
    return [n for n in re.findall(r"(\w+): ", signature) if n not in ("self", "arg0")]


def declared(body: list[ast.stmt]) -> set[str]:
    """Returns the names of classes, functions and attributes."""
    names = {n.name for n in body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    return names | {n.target.id for n in body if isinstance(n, ast.AnnAssign)}


def test_module_names():
    assert public(declared(STUB.body)) == public(vars(_core))


def test_class_members():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(_core, node.name), Exception):
            assert public(declared(node.body)) == public(vars(getattr(_core, node.name))), node.name


def test_function_parameters():
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == documented(getattr(_core, node.name)), node.name
