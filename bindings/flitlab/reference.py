"""The reference page, made from the records: parameters, totals, columns, operations, registers and state fields."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import groupby

from flitlab import _core
from flitlab.console import Operation, tools
from flitlab.experiment import Experiment
from flitlab.network import Network
from flitlab.records import common_parameters
from flitlab.settings import parse_value

INTRODUCTION = """# Reference

Every parameter, total, operation, register and state field of every router model, and the columns of results, events
and inspected items. `flitlab reference` prints this page from the records that the code itself uses; a test compares it
with `docs/reference.md`.

A parameter is a dotted path of the TOML file. It applies if its condition holds. A total is a count since cycle 0
(`net.totals`); `model.x` is its name in the `model` object of a result. Software calls operations on a network between
two cycles (`net.console`); a *tool* is an operation that needs no network (`flitlab.console.call_tool`). `net.inspect`
shows the state fields. The numbers of elements of a model's fields apply to its default configuration, with the
changes that the model's section names. A field of 0 elements is used in other configurations only.
"""


def page() -> str:
    """Returns the page as Markdown."""
    parts = [INTRODUCTION, "## All models"]
    models, tables = _core.models(), _core.tables()
    parts += _parameters(common_parameters())
    parts += _totals(_core.common_totals())
    parts += [f"### Columns of {name}\n\n" + _table(["column", "type", "unit", "meaning"], _columns(columns))
              for name, columns in (("results", tables["result"]), ("events", tables["event"]),
                                    ("virtual channels", tables["virtual channel"]), ("ports", tables["port"]),
                                    ("terminals", tables["terminal"]))]
    for model in models:
        parts += list(_model(model))
    return "\n\n".join(parts) + "\n"


def _model(model: dict) -> Iterator[str]:
    kind = model["kind"]
    yield f"## `{kind}`: {model['help']}"
    yield from _parameters(model["parameters"])
    yield "Traffic: `traffic.mode` = " + ", ".join(f"`{mode}`" for mode in model["modes"]) + "."
    if others := list(_other_defaults(model)):
        yield "Defaults that differ from the defaults of all models: " + ", ".join(others) + "."
    yield from _totals(model["totals"])
    everything = {path: parse_value(value) for path, value in model["everything"].items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = Network(Experiment.from_dict({"router.kind": kind} | everything))
    if everything:
        yield ("The tables below describe a network with "
               + ", ".join(f"`{path} = {value}`" for path, value in model["everything"].items()) + ".")
    yield from _operations("Operations", network.console.operations())
    if records := network.console.register_records():
        names = network.console.registers(node=0)
        yield "### Registers\n\n" + _table(
            ["register", "names", "bits", "unit", "software", "meaning"],
            [[f"`{r.name}`", ", ".join(f"`{name}`" for name in _ranges(n for n in names if _is(n, r.name))),
              str(r.bits), r.unit, "reads, writes" if r.writable else "reads", r.help] for r in records])
    yield from _operations("Tools", tools(kind))
    for items in network._core.layout():
        rows = list(_fields(items["fields"] + items["absent"]))
        yield (f"### State: {items['name']}\n\n"
               + _table(["field", "elements", "unit", "meaning"], rows))


def _other_defaults(model: dict) -> Iterator[str]:
    """Yields common parameters whose default differs in this model. Some parameters apply in closed loops only."""
    usual, seen = {p["path"]: p["default"] for p in common_parameters()}, {"router.kind", "traffic.mode"}
    for mode in ("open", "request_reply"):
        if mode in model["modes"]:
            experiment = Experiment.from_dict({"router.kind": model["kind"], "traffic.mode": mode})
            for path, value in experiment.flat().items():
                if path in usual and path not in seen and _value(value) != _value(usual[path]):
                    yield f"`{path}` = {_value(value)}"
                seen.add(path)


def _parameters(records: Iterable[dict]) -> list[str]:
    if not (records := list(records)):
        return []
    rows = []
    unique = {(r["path"], str(r["default"]), r["help"]): r for r in records}.values()
    for r in unique:
        allowed = " ".join(f"`{c}`" for c in r["choices"])
        if r["min"] is not None:
            allowed = f"{_number(r['min'])} to {_number(r['max'])}"
        rows.append([f"`{r['path']}`", _value(r["default"]), allowed, r["unit"], r["help"],
                     f"`{r['only_if']}`" if r["only_if"] else "", r["cite"]])
    head = ["parameter", "default", "allowed", "unit", "meaning", "if", "source"]
    return ["### Parameters\n\n" + _table(head, rows)]


def _totals(records: Iterable[dict]) -> list[str]:
    rows = [[f"`{r['name']}`" + (f" (# = 0 to {r['count'] - 1})" if r["count"] > 1 else ""), r["unit"],
             ("Maximum: " if r["maximum"] else "") + r["help"], f"`model.{r['figure']}`" if r["figure"] else "",
             r["cite"]] for r in records]
    return ["### Totals\n\n" + _table(["total", "unit", "meaning", "in results", "source"], rows)] if rows else []


def _columns(columns: Iterable[dict], path: str = "") -> Iterator[list[str]]:
    for c in columns:
        yield [f"`{path}{c['name']}`", c["type"].replace("None", "null"), c["unit"], c["meaning"]]
        yield from _columns(c.get("columns", ()), f"{path}{c['name']}.")


def _operations(title: str, operations: Iterable[Operation]) -> list[str]:
    rows = []
    for o in operations:
        arguments = "; ".join(
            f"`{a.name}` ({a.type}{', ' + a.unit if a.unit else ''}{', optional' if a.optional else ''})"
            + (f" {a.help}" if a.help else "") for a in o.arguments)
        rows.append([f"`{o.name}`", o.help, arguments, o.returns, o.cite])
    table = _table([title[:-1].lower(), "description", "arguments", "returns", "source"], rows)
    return [f"### {title}\n\n{table}"] if rows else []


def _fields(fields: Iterable[dict], path: str = "") -> Iterator[list[str]]:
    for f in fields:
        name = path + f["name"]
        yield [f"`{name}`", str(f["count"]), f["unit"], f["meaning"]]
        yield from _fields(f["members"], name + ".")


def _is(name: str, record: str) -> bool:
    """Returns whether a register belongs to a record; # in the record's name is a number or a port."""
    stem, numbered, _ = record.partition("#")
    return name.startswith(stem) if numbered else name == record


def _ranges(names: Iterable[str]) -> Iterator[str]:
    """Yields names; names that differ only in a final number become a range."""
    def stem(name: str) -> str:
        return re.sub(r"[0-9]+$", "", name)

    def number(name: str) -> int:
        return int(name[len(stem(name)):] or -1)

    for start, group in groupby(sorted(names, key=lambda n: (stem(n), number(n))), stem):
        for _, run in groupby(enumerate(map(number, group)), lambda pair: pair[1] - pair[0]):
            first, *others = [n for _, n in run]
            yield start if first < 0 else f"{start}{first}" + (f" to {others[-1]}" if others else "")


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) else f"{x:g}"


def _value(x: object) -> str:
    """Returns a value as written in TOML."""
    if isinstance(x, bool):
        x = str(x).lower()
    if isinstance(x, list) and len(x) == 1 and isinstance(x[0], tuple):  # packets of one length
        x = x[0][0]
    text = "" if x is None or x == "" else str(x)
    return f"`{text}`" if text else ""


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
