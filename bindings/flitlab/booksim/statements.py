"""The language of BookSim 2's configuration files (its config.l, config.y and config_utils.cpp): statements
``NAME = VALUE;`` and comments from ``//`` to the end of a line.

The type of the literal counts: BookSim keeps integers, floating-point numbers and strings apart, and a key may exist
with one type only. ``internal_speedup = 2;`` is an error there, and ``internal_speedup = 2.0;`` is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean
from flitlab.booksim.defaults import DEFAULTS, POWER

Value: TypeAlias = "int | float | str"

_COMMENT_OR_BLANK = re.compile(r"(//[^\n]*|[ \t\r\n]+)*")
_TOKENS = [  # of all that match, the longest one counts; of equally long ones the first
    (re.compile(r"\{[A-Za-z0-9_\-.({,)}]+\}"), str),
    (re.compile(r"-?[0-9]+"), int),
    (re.compile(r"-?([0-9]*\.)?[0-9]+([eE][+-]?[0-9]+)?"), float),
    (re.compile(r"[A-Za-z_\-/.][A-Za-z0-9_\-/.+({,)}]*"), str),
]
Known: TypeAlias = "Mapping[str, tuple[int | float | str, ...]]"  # parameter -> its default values, one for each type
_KINDS = {int: "an integer", float: "a number with a decimal point", str: "a word"}


def read(text: str, called: str, known: Known = DEFAULTS) -> list[tuple[str, Value]]:
    """Returns the statements of a file in their order. ``known``: the parameters that may be set. Raises ConfigError,
    which names the file as ``called`` and the line, for what BookSim rejects: wrong syntax, unknown keys and literals
    of the wrong type."""
    statements, tokens = [], _tokens(text, called)
    for name, line in tokens:
        for wanted in ("=", "", ";"):
            token, at = next(tokens, ("the end of the file", line))
            if wanted and token != wanted:
                raise ConfigError(f"{called}, line {at}: {_shown(token)} stands where \"{wanted}\" is expected. A "
                                  "statement is NAME = VALUE;")
            if not wanted:
                value = token
        statements.append((_checked(name, value, known, f"{called}, line {line}"), value))
    return statements


def _tokens(text: str, called: str) -> Iterator[tuple[Value, int]]:
    position = 0
    while True:
        position = _COMMENT_OR_BLANK.match(text, position).end()
        if position == len(text):
            return
        found = [(match.end(), -order, kind) for order, (pattern, kind) in enumerate(_TOKENS)
                 if (match := pattern.match(text, position))]
        end, _, kind = max(found) if found else (position + 1, 0, str)
        line = text.count("\n", 0, position) + 1
        if kind is int and end - position > 18:
            raise ConfigError(f"{called}, line {line}: {text[position:position + 12]}... is too large a number.")
        yield kind(text[position:end]), line
        position = end


def _shown(token: Value) -> str:
    return f'"{token}"' if isinstance(token, str) and token != "the end of the file" else str(token)


def _checked(name: Value, value: Value, parameters: Known, where: str) -> str:
    if name in POWER:
        raise ConfigError(f"{where}: {name} belongs in the file that tech_file names. flitlab has no model of power.")
    if not isinstance(name, str) or name not in parameters:
        known = did_you_mean(str(name), parameters) if isinstance(name, str) else ""
        raise ConfigError(f"{where}: {name} is not a parameter of BookSim 2.{known} BookSim ends with an error, too.")
    kinds = [type(default) for default in parameters[name]]
    if type(value) not in kinds:
        raise ConfigError(f"{where}: {name} = {value} is {_KINDS[type(value)]}, and BookSim accepts only "
                          f"{' or '.join(_KINDS[kind] for kind in kinds)} here.")
    return name


def items(text: str) -> list[str]:
    """Returns the members of a list in braces, ``{a,{b,c}}``; other text is a list of one member. Members that are
    lists remain text."""
    if not text.startswith("{"):
        return [text] if text else []
    members, depth = [""], 0
    for character in text[1:-1]:
        if character == "," and not depth:
            members.append("")
            continue
        depth += (character in "{(") - (character in "})")
        members[-1] += character
    return [member for member in members if member]
