"""Configurations: TOML files and dictionaries, checked and resolved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from flitlab import _core, shipped
from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean
from flitlab.booksim import check_words
from flitlab.programs import program_text
from flitlab.toml import tomllib


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables to dotted paths: ``{"a": {"b": 1}}`` becomes ``{"a.b": 1}``."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, path + "."))
        else:
            flat[path] = plain(value)
    return flat


def plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers and lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def parse_value(text: str) -> Any:
    """A value as in a TOML file; a bare word is a string."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def parse_setting(setting: str) -> tuple[str, Any]:
    """``KEY=VALUE`` of the command line. Raises ConfigError if there is no ``=``."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {setting}: it must be KEY=VALUE, for example traffic.load=0.3.")
    return key.strip(), parse_value(text.strip())


_PROGRAM = "traffic.program_file"


@cache
def known_paths() -> set[str]:
    """Dotted paths of the parameters of all models."""
    return {p["path"] for p in _core.parameters()}


class Experiment:
    """A checked configuration. Immutable: :meth:`set` gives a new one.

    ``traffic.program_file`` names a file of calls or a program in TOML, or is a :class:`flitlab.Program`.
    """

    def __init__(self, given: Mapping[str, Any], base_dir: str = ".", name: str = "experiment"):
        self._given = dict(given)
        self.base_dir = os.path.abspath(base_dir)
        self.name = name
        self.core = self._resolved()

    def _resolved(self) -> _core.Experiment:
        check_words(self._given, known_paths())
        program = self._given.get(_PROGRAM)
        if program is None or (isinstance(program, str) and not program.endswith(".toml")):
            return _core.Experiment(self._given, self.base_dir)
        given = {**self._given, _PROGRAM: getattr(program, "name", program)}
        terminals = _core.Experiment(given, self.base_dir).terminals()
        return _core.Experiment(given, self.base_dir, {_PROGRAM: program_text(program, self.base_dir, terminals)})

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], base_dir: str = ".", name: str = "experiment") -> Experiment:
        """From a nested or dotted dictionary, e.g. ``{"router": {"vcs": 4}}`` or ``{"router.vcs": 4}``."""
        return cls(flatten(tree), base_dir, name)

    def set(self, key: str | Mapping[str, Any], value: Any = None) -> Experiment:
        """A copy with one dotted path changed, or with all paths of a mapping changed."""
        changes = flatten(key) if isinstance(key, Mapping) else {key: plain(value)}
        return Experiment({**self._given, **changes}, self.base_dir, self.name)

    def __getitem__(self, path: str) -> Any:
        values = self.flat()
        if path not in values:
            if path in known_paths():
                raise KeyError(f"{path} does not apply to this configuration.")
            raise KeyError(f"there is no {path}.{did_you_mean(path, values)}")
        return values[path]

    def flat(self) -> dict[str, Any]:
        """Every resolved parameter by dotted path."""
        return self.core.flat()

    def derived(self) -> dict[str, float]:
        """Numbers that follow: routers, channels, bisection, bytes of state, zero-load latency (cycles)."""
        return self.core.derived()

    def to_toml(self) -> str:
        """The resolved configuration as TOML; file names become absolute, so that it can be kept anywhere.

        Raises ConfigError if the program is not in a file.
        """
        if not isinstance(self._given.get(_PROGRAM, ""), str):
            raise ConfigError(f"{_PROGRAM} is a program in memory, which a configuration cannot name: save it with "
                              "Program.save(path), and set the key to that path.")
        lines: list[str] = []
        section = None
        for path, value in self.flat().items():
            if path.endswith("file") and value:
                value = os.path.join(self.base_dir, value)
            table, _, key = path.partition(".")
            if table != section:
                lines += ([""] if lines else []) + [f"[{table}]"]
                section = table
            lines.append(f"{key} = {_toml(value)}")
        return "\n".join(lines) + "\n"

    def __getstate__(self):
        return {"given": self._given, "base_dir": self.base_dir, "name": self.name}

    def __setstate__(self, state):
        self.__init__(state["given"], state["base_dir"], state["name"])

    def __repr__(self) -> str:
        flat = self.flat()
        shape = "x".join(str(k) for k in flat["topology.shape"]) if "topology.shape" in flat else ""
        mode = flat["traffic.mode"]
        file = {"trace": "traffic.trace_file", "program": _PROGRAM}.get(mode)
        traffic = flat.get(file or "traffic.pattern", "")
        if mode != "open":
            traffic = f"{mode} {traffic}".rstrip()
        load = f" at {flat['traffic.load']}" if "traffic.load" in flat else ""
        kind = flat.get("topology.kind", "")
        network = f"{shape} {kind}".strip() + f", {flat['router.kind']} router"
        algorithm = flat.get("routing.algorithm")
        return f"<Experiment {self.name}: {network}, {algorithm + ', ' if algorithm else ''}{traffic}{load}>"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], (list, tuple)):
            return str(value[0][0])  # one packet length
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return repr(value)


def load(path: str | os.PathLike) -> Experiment:
    """Reads a TOML configuration: a file, or the name of one that comes with flitlab (:func:`flitlab.configs`).

    Raises ConfigError with the file and line of what is wrong.
    """
    path = Path(path)
    if not path.exists():
        known = shipped.path_of(path.name) if len(path.parts) == 1 else None
        if known is None:
            raise ConfigError(f"{path} cannot be read: there is no such file, and no configuration of that name comes "
                              f"with flitlab.{did_you_mean(path.stem, shipped.configs())} `flitlab configs` lists "
                              "them.")
        path = known
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"{path} cannot be read: {reason}.") from None
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.") from None
    return Experiment.from_dict(tree, str(path.parent), path.stem)


Given: TypeAlias = "Experiment | str | os.PathLike | Mapping[str, Any]"


def experiment_of(given: Given) -> Experiment:
    """An experiment as it is; one from a file, from the name of a shipped configuration, or from a dictionary.

    Raises ConfigError if it is neither.
    """
    if isinstance(given, Experiment):
        return given
    if isinstance(given, Mapping):
        return Experiment.from_dict(given)
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    raise ConfigError(f"an experiment cannot be made of a {type(given).__name__}: give an Experiment, a file, the name "
                      "of a shipped configuration, or a dictionary.")
