"""Packets as BookSim's traffic manager generates them: injection processes, traffic patterns and packet sizes
(injection.cpp, traffic.cpp), drawn for many cycles and nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from flitlab._core import ConfigError
from flitlab.booksim.settings import Settings, repeated
from flitlab.booksim.statements import items

Pattern: TypeAlias = Callable[[np.random.Generator, np.ndarray], np.ndarray]


class Rejected(ConfigError):
    """A configuration that BookSim rejects, too."""


class Bernoulli:
    """Each node creates a packet in each cycle with the same probability, or with one for each node."""

    def __init__(self, nodes: int, rate: float | np.ndarray):
        self.nodes, self.rate = nodes, rate

    def draw(self, rng: np.random.Generator, cycles: int) -> np.ndarray:
        """Returns ``[cycle, node]`` whether a packet is created."""
        return rng.random((cycles, self.nodes)) < self.rate


class OnOff:
    """Each node is on or off, and creates packets while it is on. ``starts``, ``ends``: probabilities in a cycle that a
    node that is off turns on, and that one that is on turns off. ``rate``: packets per cycle while on."""

    def __init__(self, initial: np.ndarray, starts: float, ends: float, rate: float):
        self.on, self.starts, self.ends, self.rate = initial.astype(bool), starts, ends, rate

    def draw(self, rng: np.random.Generator, cycles: int) -> np.ndarray:
        """Returns ``[cycle, node]`` whether a packet is created."""
        changes = rng.random((cycles, self.on.size))
        created = rng.random((cycles, self.on.size)) < self.rate
        for cycle in range(cycles):
            self.on = np.where(self.on, changes[cycle] >= self.ends, changes[cycle] < self.starts)
            created[cycle] &= self.on
        return created


Process: TypeAlias = "Bernoulli | OnOff"


def injection(text: str, settings: Settings, nodes: int, rate: float, rng: np.random.Generator) -> Process:
    """Returns the injection process that a member of ``injection_process`` names. Raises ConfigError."""
    called = settings.called
    if not 0 <= rate <= 1:
        raise Rejected(f"{called}: injection_rate = {settings.value('injection_rate')} makes {rate:g} packets in a "
                       "cycle at each node. The rate must be between 0 and 1.")
    name, arguments = _call(text)
    if name == "bernoulli":
        return Bernoulli(nodes, rate)
    if name != "on_off":
        raise Rejected(f"{called}: injection_process = {text} is not one of BookSim 2's: bernoulli and on_off.")
    given = [_number(word, text, settings) for word in arguments[:3]]
    defaults = [float(settings[key]) for key in ("burst_alpha", "burst_beta", "burst_r1")]
    starts, ends, on_rate = given + defaults[len(given):]
    if [starts < 0, ends < 0, on_rate < 0].count(True) != 1 or max(starts, ends, on_rate) > 1:
        raise Rejected(f"{called}: injection_process = {text} with alpha = {starts:g}, beta = {ends:g} and r1 = "
                       f"{on_rate:g} is wrong: one of them must be negative, and none may be above 1.")
    # The negative one follows from the rate.
    if starts < 0:
        starts = ends * rate / (on_rate - rate) if on_rate != rate else 1.0
    elif ends < 0:
        ends = starts * (on_rate - rate) / rate if rate else 1.0
    else:
        on_rate = rate * (starts + ends) / starts if starts else 0.0
    if len(arguments) > 3:  # BookSim takes the initial states from its third argument
        initial = np.array([int(float(word)) != 0 for word in repeated(items(arguments[2]), nodes)])
    else:
        initial = rng.integers(0, 2, nodes)
    return OnOff(initial, starts, ends, on_rate)


@dataclass(frozen=True)
class Sizes:
    """Lengths of packets in flits, and their weights."""

    flits: np.ndarray
    weights: np.ndarray

    @property
    def mean(self) -> float:
        return float((self.flits * self.weights).sum() / self.weights.sum())

    def draw(self, rng: np.random.Generator, number: int) -> np.ndarray:
        if self.flits.size == 1:
            return np.full(number, self.flits[0])
        return rng.choice(self.flits, number, p=self.weights / self.weights.sum())


def pattern(text: str, settings: Settings, nodes: int, rng: np.random.Generator) -> Pattern:
    """Returns a function of nodes that returns their packets' destinations. Raises ConfigError."""
    name, arguments = _call(text)
    if name in _PATTERNS:
        return _PATTERNS[name](_Arguments(text, arguments, settings, nodes, rng))
    raise Rejected(f"{settings.called}: traffic = {text} is not one of BookSim 2's: {', '.join(_PATTERNS)}.")


@dataclass(frozen=True)
class _Arguments:
    """A pattern's arguments; BookSim takes missing ones from parameters of the configuration."""

    text: str
    given: list[str]
    settings: Settings
    nodes: int
    rng: np.random.Generator

    def whole(self, place: int, name: str) -> int:
        return self.number(self.given[place] if place < len(self.given) else str(self.settings[name]))

    def number(self, word: str, least: int = -999999999) -> int:
        try:
            return self.settings.whole_of(word, "traffic", least)
        except ConfigError:
            raise ConfigError(f"{self.settings.called}: traffic = {self.text} is not translated: "
                              f"{word or 'nothing'} is not a whole number from {least}. Several arguments need braces: "
                              "NAME({1,2}).") from None

    def wrong(self, reason: str) -> Rejected:
        return Rejected(f"{self.settings.called}: traffic = {self.text} is wrong: {reason}")

    def bits(self) -> int:
        """Returns the number of bits of a node's number."""
        bits = self.nodes.bit_length() - 1
        if 1 << bits != self.nodes:
            raise self.wrong(f"it needs a number of nodes that is a power of two, and there are {self.nodes}.")
        return bits

    def checked(self, given: list[int]) -> np.ndarray:
        if not given or not all(0 <= node < self.nodes for node in given):
            raise self.wrong(f"nodes are numbered 0 to {self.nodes - 1}.")
        return np.array(given)


def _table(to: np.ndarray) -> Pattern:
    """Returns the pattern with one destination for each source."""
    return lambda rng, sources: to[sources]


def _by_bits(change: Callable[[np.ndarray, int], np.ndarray]) -> Callable[[_Arguments], Pattern]:
    return lambda a: _table(change(np.arange(a.nodes), a.bits()))


def _reversed(nodes: np.ndarray, bits: int) -> np.ndarray:
    return sum(((nodes >> bit & 1) << (bits - 1 - bit) for bit in range(bits)), np.zeros_like(nodes))


def _transpose(a: _Arguments) -> Pattern:
    half, odd = divmod(a.bits(), 2)
    if odd:
        raise a.wrong(f"it needs a number of nodes that is an even power of two, and there are {a.nodes}.")
    nodes = np.arange(a.nodes)
    return _table(nodes >> half | (nodes << half & a.nodes - 1))


def _by_digits(step: Callable[[int], int]) -> Callable[[_Arguments], Pattern]:
    """Returns the pattern that adds ``step(base)`` to each coordinate of a node."""

    def made(a: _Arguments) -> Pattern:
        base = a.whole(0, "k") * a.whole(2, "xr")
        nodes, to = np.arange(a.nodes), np.zeros(a.nodes, int)
        for digit in range(a.whole(1, "n")):
            to += (nodes // base**digit % base + step(base)) % base * base**digit
        if to.max() >= a.nodes:
            raise a.wrong(f"it has a destination {to.max()}, and nodes are numbered 0 to {a.nodes - 1}.")
        return _table(to)

    return made


def _random_permutation(a: _Arguments) -> Pattern:
    if not a.given and a.settings["perm_seed"] == "time":
        seed = int(a.rng.integers(2**31))
    else:
        seed = a.whole(0, "perm_seed") % 2**32
    return _table(np.random.default_rng(seed).permutation(a.nodes))


def _background(a: _Arguments) -> Pattern:
    excluded = [a.number(node, 0) for node in items(a.given[0])] if a.given else []
    allowed = np.setdiff1d(np.arange(a.nodes), excluded)
    if not allowed.size:
        raise a.wrong("it excludes all nodes.")
    return lambda rng, sources: rng.choice(allowed, sources.size)


def _taper(a: _Arguments) -> Pattern:
    if a.nodes != 64:
        raise a.wrong(f"it needs 64 nodes, and there are {a.nodes}.")

    def draw(rng: np.random.Generator, sources: np.ndarray) -> np.ndarray:
        near = sources + 8 * rng.integers(-1, 2, sources.size) + rng.integers(-1, 2, sources.size)
        return np.where(rng.integers(0, 2, sources.size), near % 64, rng.integers(0, 64, sources.size))

    return draw


def _next_group(a: _Arguments) -> Pattern:
    group = 2 * a.whole(0, "k") ** 2
    return lambda rng, sources: (rng.integers(0, group, sources.size) + (sources // group + 1) * group) % a.nodes


def _column(a: _Arguments) -> Pattern:
    side = a.whole(0, "k") * a.whole(2, "xr")
    if side * side != a.nodes:
        raise a.wrong(f"it needs {side * side} nodes, and there are {a.nodes}.")
    return lambda rng, sources: rng.integers(0, side, sources.size) * side + sources // side


def _asymmetric(a: _Arguments) -> Pattern:
    half = a.nodes // 2
    return lambda rng, sources: sources % half + half * rng.integers(0, 2, sources.size)


def _hotspot(a: _Arguments) -> Pattern:
    drawn = [a.number(node) for node in items(a.given[0] if a.given else "-1")]
    hot = a.checked([int(a.rng.integers(a.nodes)) if node < 0 else node for node in drawn])
    words = items(a.given[1]) if len(a.given) > 1 else ["1"]
    rates = np.array([a.number(rate, 1) for rate in repeated(words, hot.size)], float)
    return lambda rng, sources: rng.choice(hot, sources.size, p=rates / rates.sum())


_PATTERNS: dict[str, Callable[[_Arguments], Pattern]] = {
    "uniform": lambda a: lambda rng, sources: rng.integers(0, a.nodes, sources.size),
    "background": _background,
    "bitcomp": _by_bits(lambda nodes, bits: (1 << bits) - 1 - nodes),
    "bitrev": _by_bits(_reversed),
    "shuffle": _by_bits(lambda nodes, bits: (nodes << 1 | nodes >> bits - 1) & (1 << bits) - 1 if bits else nodes),
    "transpose": _transpose,
    "tornado": _by_digits(lambda base: (base + 1) // 2 - 1),
    "neighbor": _by_digits(lambda base: 1),
    "randperm": _random_permutation,
    "diagonal": lambda a: lambda rng, sources: (sources + (rng.integers(0, 3, sources.size) == 0)) % a.nodes,
    "asymmetric": _asymmetric, "taper64": _taper, "bad_dragon": _next_group, "badperm_yarc": _column,
    "hotspot": _hotspot,
}


def _call(text: str) -> tuple[str, list[str]]:
    """Returns the name and the arguments of a word such as ``hotspot({{0,1},{9,1}})``."""
    name, _, rest = text.partition("(")
    return name, items(rest.rpartition(")")[0] if ")" in rest else rest)


def _number(word: str, text: str, settings: Settings) -> float:
    try:
        return float(word)
    except ValueError:
        raise ConfigError(f"{settings.called}: injection_process = {text}: {word} is not a number.") from None
