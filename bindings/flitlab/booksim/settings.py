"""The values of a BookSim configuration, and which of them a translation has used."""

from __future__ import annotations

from collections.abc import Iterable

from flitlab._core import ConfigError
from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.statements import Known, Value, items


class Settings:
    """Statements over BookSim's defaults. A later statement wins over an earlier one of the same type; a word that is
    not empty wins over a number, as in BookSim. ``called``: the file's name for errors. ``known``: the parameters."""

    def __init__(self, statements: Iterable[tuple[str, Value]], called: str, known: Known = DEFAULTS):
        self._known = known
        self._given = {(name, type(value)): value for name, value in statements}
        self._used: set[str] = set()
        self.called = called

    def __getitem__(self, name: str) -> Value:
        """Returns a parameter's value, and notes that the translation has used it."""
        self.use(name)
        return self.value(name)

    def use(self, *names: str) -> None:
        """Notes that the translation has used parameters."""
        self._used.update(names)

    def value(self, name: str) -> Value:
        values = [self._given.get((name, type(default)), default) for default in self._known[name]]
        return values[-1] if values[-1] != "" or len(values) == 1 else values[0]

    def differs(self, name: str) -> bool:
        """Returns whether a parameter is known, and its value is not the default."""
        return name in self._known and self.value(name) not in self._known[name]

    def of_type(self, kind: type) -> dict[str, Value]:
        """Returns the values of all parameters that exist with this type."""
        return {name: self._given.get((name, kind), default) for name in self._known for default in self._known[name]
                if type(default) is kind}

    def whole(self, name: str, least: int = 0) -> int:
        """Returns an integer. Raises ConfigError for other values, and for numbers below ``least``."""
        return self.whole_of(str(self[name]), name, least)

    def of_classes(self, name: str, classes: int) -> list[str]:
        """Returns a parameter's value for each class of packets. BookSim repeats the last one."""
        return repeated(items(str(self[name])) or [""], classes)

    def numbers(self, name: str, classes: int) -> list[float]:
        """Returns a number of at least 0 for each class of packets. Raises ConfigError."""
        return [self._number(text, name) for text in self.of_classes(name, classes)]

    def whole_of(self, text: str, name: str, least: int = 0) -> int:
        """Returns the number in a member of a parameter's list, as for :meth:`whole`."""
        digits = text.removeprefix("-")
        if not digits.isdecimal() or not digits.isascii() or len(digits) > 9 or int(text) < least:
            raise ConfigError(f"{self.called}: {name} = {self.value(name)} is not translated: "
                              f"{text or 'an empty word'} is not a whole number from {least} to 999999999.")
        return int(text)

    def _number(self, text: str, name: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = -1
        if not 0 <= found < float("inf"):
            raise ConfigError(f"{self.called}: {name} = {self.value(name)} is not translated: "
                              f"{text or 'an empty word'} is not a number from 0 on.")
        return found

    def unused(self) -> dict[str, Value]:
        """Returns the parameters that the translation has not used and that differ from their defaults."""
        return {name: self.value(name) for name in self._known
                if name not in self._used and self.differs(name)}


def repeated(values: list[str], number: int) -> list[str]:
    """Returns a list of a given length, cut or with its last member repeated."""
    return (values + [values[-1]] * number)[:number]
