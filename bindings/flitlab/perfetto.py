"""Writer of Perfetto's own file format, protocol buffers (https://ui.perfetto.dev): tracks with slices, instants and
counters. A file is a sequence of packets, each of which is written at once, so memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

Annotation = int | bool | str | None  # None: omitted
_VARINT, _FIXED64, _BYTES = 0, 1, 2  # wire types
_SEQUENCE = 1  # number of the only sequence of packets in a file
_CLEARED, _NEEDED = 1, 2  # flags of a packet: interned names become invalid; the packet uses interned names
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4  # types of events
_EXPLICIT = 3  # order of the tracks in a group: by their rank
_NO_LIMIT = 1 << 64  # a lane with a slice that has not ended is free from here


def varint(number: int) -> bytes:
    """Returns a number in groups of 7 bits, the lowest first; negative ones as 64-bit numbers."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3 | _VARINT) + varint(value)


def text(field: int, value: str) -> bytes:
    return message(field, value.encode())


def message(field: int, value: bytes) -> bytes:
    return varint(field << 3 | _BYTES) + varint(len(value)) + value


class Writer:
    """Writes a trace to a binary file. A cycle is a nanosecond, the unit of Perfetto's clock.

    The numbers of fields are in Perfetto's sources, folder protos/perfetto/trace. ``group``, ``track`` and ``counter``
    return the number of the new track, its uuid. Two slices of a track must not overlap, unless one contains the other;
    :class:`Lanes` is for slices that overlap.
    """

    def __init__(self, file: BinaryIO):
        self._file = file
        self._tracks = 0
        self._order: dict[int, int] = {}  # group -> tracks in it
        self._names: dict[tuple[int, str], int] = {}  # (field of InternedData, name) -> its number
        self._new_names = b""  # the names that the next packet defines
        self._packet(number(13, _CLEARED))

    def _packet(self, body: bytes) -> None:
        self._file.write(message(1, body + number(10, _SEQUENCE)))

    def group(self, name: str, group: int = 0) -> int:
        """Defines a track that contains other tracks, in the order in which they are defined."""
        return self._track(name, group, number(11, _EXPLICIT))

    def track(self, name: str, group: int = 0, rank: int | None = None) -> int:
        """Defines a track for slices and instants. rank: position in its group (default: after the tracks before it).
        The viewer draws the tracks of a group that have the same name as one."""
        return self._track(name, group, b"", rank)

    def counter(self, name: str, unit: str, group: int = 0) -> int:
        """Defines a track for a counter."""
        return self._track(name, group, message(8, text(6, unit)))

    def _track(self, name: str, group: int, more: bytes, rank: int | None = None) -> int:
        self._tracks += 1
        if rank is None:
            rank = self._order[group] = self._order.get(group, 0) + 1
        parent = number(5, group) if group else b""
        self._packet(message(60, number(1, self._tracks) + parent + text(2, name) + more + number(12, rank)))
        return self._tracks

    def begin(self, track: int, cycle: int, name: str, category: str = "", args: Mapping[str, Annotation] | None = None,
              shared: bool = False) -> None:
        """Begins a slice. shared: many slices have this name, so the file contains it once."""
        self._event(track, cycle, _BEGIN, self._label(name, category, shared), args)

    def end(self, track: int, cycle: int, args: Mapping[str, Annotation] | None = None) -> None:
        """Ends the slice of a track that has begun last and has not ended. The viewer shows ``args`` beside the
        arguments that the slice got when it began."""
        self._event(track, cycle, _END, b"", args)

    def instant(self, track: int, cycle: int, name: str, category: str = "",
                args: Mapping[str, Annotation] | None = None, flow: int | None = None, last: bool = False,
                shared: bool = False) -> None:
        """Marks a cycle. flow: number of an arrow that connects all events with this number; ``last`` ends it."""
        arrow = b"" if flow is None else varint((48 if last else 47) << 3 | _FIXED64) + flow.to_bytes(8, "little")
        self._event(track, cycle, _INSTANT, self._label(name, category, shared) + arrow, args)

    def count(self, track: int, cycle: int, value: int) -> None:
        """Sets the value of a counter from a cycle on."""
        self._event(track, cycle, _COUNTER, number(30, value), None)

    def _label(self, name: str, category: str, shared: bool) -> bytes:
        label = number(10, self._number_of(2, name)) if shared else text(23, name)
        return label + (number(3, self._number_of(1, category)) if category else b"")

    def _event(self, track: int, cycle: int, kind: int, more: bytes, args: Mapping[str, Annotation] | None) -> None:
        body = number(9, kind) + number(11, track) + more
        for name, value in (args or {}).items():
            if value is not None:
                body += message(4, number(1, self._number_of(3, name)) + _annotation(value))
        names, self._new_names = self._new_names, b""
        self._packet(number(8, cycle) + number(13, _NEEDED) + (message(12, names) if names else b"")
                     + message(11, body))

    def _number_of(self, kind: int, name: str) -> int:
        """Returns the number of an interned name; a new name becomes part of the next packet. kind: field of
        InternedData."""
        if (kind, name) not in self._names:
            self._names[kind, name] = len(self._names) + 1
            self._new_names += message(kind, number(1, self._names[kind, name]) + text(2, name))
        return self._names[kind, name]


def _annotation(value: int | bool | str) -> bytes:
    if isinstance(value, bool):
        return number(2, value)
    return text(6, value) if isinstance(value, str) else number(4, value)


class Lanes:
    """Tracks for slices that may overlap. A lane is a track of its own; all lanes of a name look like one track, on
    which slices that overlap are drawn below one another."""

    def __init__(self, writer: Writer, name: str, group: int, rank: int):
        self._writer, self._name, self._group, self._rank = writer, name, group, rank
        self._free: dict[int, int] = {}  # lane -> first cycle in which a slice may begin

    def begin(self, cycle: int, name: str, category: str = "", args: Mapping[str, Annotation] | None = None) -> int:
        """Begins a slice and returns its lane."""
        lane = next((lane for lane, free in self._free.items() if free <= cycle), None)
        if lane is None:
            lane = self._writer.track(self._name, self._group, self._rank)
        self._free[lane] = _NO_LIMIT
        self._writer.begin(lane, cycle, name, category, args)
        return lane

    def end(self, lane: int, cycle: int, args: Mapping[str, Annotation] | None = None) -> None:
        """Ends the slice of a lane."""
        self._writer.end(lane, cycle, args)
        self._free[lane] = cycle
