"""Record: attribute access to the nested dictionaries of the JSON output."""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import TYPE_CHECKING, Any

from flitlab.arguments import did_you_mean

# Wrong names that users often try -> hint for the message.
NEARLY = {
    "latency": " It is latency_cycles (mean, ci95, p50, p95, p99, max), from creation to the tail's arrival.",
    "network_latency": " It is network_latency_cycles, from injection to the tail's arrival.",
    "throughput": " It is accepted, in flits/cycle/terminal.",
    "load": " Loads are offered and accepted, in flits/cycle/terminal.",
    "hops": " It is hops_mean.",
    "cycles_per_second": " It is router_cycles_per_second.",
    "delivered": " It is packets.delivered.",
}


class Record:
    """Attribute access to a dictionary of the JSON output. Unknown names raise AttributeError, which suggests a
    name."""

    _parts: dict[str, type[Record]] = {}  # name -> class of a nested dictionary

    def __init__(self, values: dict[str, Any]):
        self._values = values

    if not TYPE_CHECKING:  # so that type checkers report names that do not exist

        def __getattr__(self, name: str) -> Any:
            values = self.__dict__.get("_values", {})
            if name not in values:
                hint = NEARLY.get(name) or did_you_mean(name, values)
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.{hint}")
            value = values[name]
            return self._parts.get(name, Record)(value) if isinstance(value, dict) and name != "config" else value

    def __getitem__(self, name: str) -> Any:
        """Returns ``result["accepted"]`` as the attribute; ``result["latency_cycles.mean"]`` is a nested value."""
        if not isinstance(name, str):
            raise KeyError(f"there is no {name!r}.{did_you_mean(name, self._values)}")
        head, _, rest = name.partition(".")
        if head not in self._values:
            raise KeyError(f"there is no {head!r}.{NEARLY.get(head) or did_you_mean(head, self._values)}")
        value = getattr(self, head)
        if rest and not isinstance(value, (Record, dict)):
            raise KeyError(f"there is no {name!r}: {head} has no parts.")
        return value[rest] if rest else value

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:
        return self._values.keys()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def to_dict(self) -> dict[str, Any]:
        return self._values

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={short(v)}' for k, v in self._values.items())})"


class Model(Record):
    """Values that only this router or traffic has, such as totals of the model, by name."""

    def __getattr__(self, name: str) -> Any:
        return Record.__getattr__(self, name)  # type: ignore[attr-defined]


def short(value: Any) -> str:
    """Returns a value as text, a float with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
