"""Execution traces of MLCommons Chakra: for each rank a graph of computations, messages and collectives, as protobuf
(one file for each rank, NAME.RANK.et, perhaps compressed with gzip) or as JSON."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flitlab._core import ConfigError
from flitlab.arguments import did_you_mean, shown
from flitlab.operations import Schedule
from flitlab.programs import Program
from flitlab.schedules import ALGORITHMS, Shape
from flitlab.workloads.graph import Call, Compute, Graph, Receive, Send

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)  # types of nodes
_TYPES = ["", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE",
          "COMM_COLL_NODE"]
# comm_type -> name of the operation. ASTRA-sim runs 0, 2, 6 and 7.
_OPERATIONS = {0: "allreduce", 1: "reduce", 2: "allgather", 5: "broadcast", 6: "alltoall", 7: "reduce_scatter",
               8: "reduce_scatter", 9: "barrier"}
_NUMBERS = {3: "double", 7: "int32", 9: "int64", 11: "uint32", 13: "uint64", 27: "bool"}  # fields of an attribute
_BOOLEANS = 28  # field of an attribute: a message whose field 1 has the values
_CPU, _GPU = 0, 1  # processors


@dataclass
class Node:
    """A node of a trace. Times are microseconds."""

    id: int = 0
    name: str = ""
    type: int = 0
    needs: list[int] = field(default_factory=list)
    duration: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)


def is_chakra(path: Path, data: bytes) -> bool:
    """Returns whether a file is one rank of a trace. Protobuf has no mark, so the name decides."""
    return re.fullmatch(r".+\.\d+\.(et|json)", path.name) is not None or (path.suffix == ".et" and data[:1] == b"\x07")


def read_chakra(path: Path, cycle_ns: float, algorithms: Mapping[str, str], groups: Mapping[str, Sequence[int]],
                flops_per_ns: float | None, shape: Sequence[int] | None = None) -> Program:
    """Returns the program of a trace. path: the file of one rank, in the folder that has the files of all ranks.
    algorithms: operation -> algorithm of its collectives. groups: name of a group -> its ranks. flops_per_ns: speed of
    a rank, for computations that have a number of operations (num_ops) and no duration. shape: ranks in each dimension
    of the logical topology, for involved_dim; the first one varies fastest. Raises ConfigError."""
    files = files_of_trace(path)
    graph = Graph(len(files), str(path))
    collectives: dict[tuple[int, ...], list[tuple[str, int]]] = {}
    for rank, file in enumerate(files):
        nodes = _nodes(file)
        numbers = {node.id: i for i, node in enumerate(nodes)}
        if len(numbers) < len(nodes):
            twice = next(node.id for i, node in enumerate(nodes) if numbers[node.id] != i)
            raise ConfigError(f"{file}: two nodes have the id {twice}. Give them different ids.")
        made: dict[tuple[int, ...], int] = defaultdict(int)
        for node in nodes:
            if missing := [needed for needed in node.needs if needed not in numbers]:
                raise ConfigError(f"{file}: node {node.id} ({node.name}) needs node {missing[0]}, which is not in the "
                                  "file.")
            call = Call([], sorted({numbers[needed] for needed in node.needs}),
                        where=f"node {node.id} ({node.name}) of rank {rank}")
            parts = _Parts(file, node, rank, len(files), cycle_ns, algorithms, groups, flops_per_ns, shape)
            parts.add(call, collectives, made)
            graph.calls[rank].append(call)
    return graph.program()


def files_of_trace(path: Path) -> list[Path]:
    """Returns the files of all ranks of a trace, of which ``path`` is one."""
    found = re.fullmatch(r"(.*)\.(\d+)\.(et|json)", path.name)
    if not found:
        return [path]
    files = []
    while (file := path.with_name(f"{found[1]}.{len(files)}.{found[3]}")).exists():
        files.append(file)
    if int(found[2]) >= len(files):
        raise ConfigError(f"{path}: the file of rank {len(files)} is not beside it: files are NAME.RANK.{found[3]}, "
                          "with ranks from 0.")
    return files


def _nodes(file: Path) -> list[Node]:
    data = file.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ConfigError(f"{file} cannot be expanded (gzip): {str(error).rstrip('.')}. The file is damaged or "
                              "incomplete.") from None
    return _json_nodes(file, data) if file.suffix == ".json" else _protobuf_nodes(file, data)


def _json_nodes(file: Path, data: bytes) -> list[Node]:
    try:
        tree = json.loads(data)
        nodes = tree["nodes"] if isinstance(tree, dict) and "nodes" in tree else tree["node"]
        return [_json_node(node) for node in nodes]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{file}: this is not a Chakra trace in JSON, an object with the list \"nodes\": "
                          f"{error!r}.") from None


def _json_node(tree: dict[str, Any]) -> Node:
    attributes = {}
    for attribute in tree.get("attr", tree.get("attrs", [])):
        value = next((v for k, v in attribute.items() if k not in ("name", "docString", "doc_string")), None)
        if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
            value = int(value)  # JSON of protobuf writes 64-bit numbers as text
        attributes[attribute["name"]] = value
    kind = tree.get("type", 0)

    def numbers(*names: str) -> list[int]:
        return [int(n) for name in names for n in tree.get(name, [])]

    return Node(int(tree.get("id", 0)), tree.get("name", ""),
                _TYPES.index(kind) if isinstance(kind, str) else int(kind),
                numbers("ctrlDeps", "ctrl_deps", "dataDeps", "data_deps"),
                int(tree.get("durationMicros", tree.get("duration_micros", 0))), attributes)


class _Bytes:
    """Protobuf in a span of bytes: fields (number, value), where a value is an integer or bytes."""

    def __init__(self, file: Path, data: bytes, start: int = 0):
        self.file, self.data, self.start = file, data, start

    def fail(self, at: int) -> ConfigError:
        return ConfigError(f"{self.file}: byte {self.start + at}: this is not a Chakra trace, or it is truncated or "
                           "damaged.")

    def varint(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            if at >= len(self.data) or shift > 63:
                raise self.fail(at)
            byte = self.data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value, at

    def span(self, at: int) -> tuple[_Bytes, int]:
        length, at = self.varint(at)
        if at + length > len(self.data):
            raise self.fail(at)
        return _Bytes(self.file, self.data[at:at + length], self.start + at), at + length

    def fields(self) -> Iterator[tuple[int, int | _Bytes]]:
        at = 0
        value: int | _Bytes
        while at < len(self.data):
            begin = at
            key, at = self.varint(at)
            if key & 7 == 0:
                value, at = self.varint(at)
            elif key & 7 == 2:
                value, at = self.span(at)
            elif key & 7 in (1, 5):
                size = 8 if key & 7 == 1 else 4
                value, at = _Bytes(self.file, self.data[at:at + size], self.start + at), at + size
            else:
                raise self.fail(begin)
            yield key >> 3, value

    def packed(self) -> list[int]:
        values, at = [], 0
        while at < len(self.data):
            value, at = self.varint(at)
            values.append(value)
        return values


def _protobuf_nodes(file: Path, data: bytes) -> list[Node]:
    stream, at, messages = _Bytes(file, data), 0, []
    while at < len(data):
        message, at = stream.span(at)
        messages.append(message)
    if not messages:
        raise ConfigError(f"{file}: the file is empty.")
    return [_protobuf_node(message) for message in messages[1:]]  # the first message describes the trace


def _protobuf_node(message: _Bytes) -> Node:
    node = Node()
    for number, value in message.fields():
        if number in (4, 5):
            node.needs += value.packed() if isinstance(value, _Bytes) else [value]
        elif number in (2, 10) and isinstance(value, _Bytes):
            if number == 2:
                node.name = value.data.decode("utf-8", "replace")
            else:
                node.attributes.update([_attribute(value)])
        elif isinstance(value, int) and number in (1, 3, 7):
            setattr(node, {1: "id", 3: "type", 7: "duration"}[number], value)
    return node


def _attribute(message: _Bytes) -> tuple[str, Any]:
    name, found = "", None
    for number, value in message.fields():
        if number == 1 and isinstance(value, _Bytes):
            name = value.data.decode("utf-8", "replace")
        elif number == 29 and isinstance(value, _Bytes):
            found = value.data.decode("utf-8", "replace")
        elif number == _BOOLEANS and isinstance(value, _Bytes):
            found = [x for _, one in value.fields() for x in (one.packed() if isinstance(one, _Bytes) else [one])]
        elif number in _NUMBERS and isinstance(value, int):
            found = value
    return name, found


class _Parts:
    """Turns a node into the parts of a call."""

    def __init__(self, file: Path, node: Node, rank: int, ranks: int, cycle_ns: float, algorithms: Mapping[str, str],
                 groups: Mapping[str, Sequence[int]], flops_per_ns: float | None, shape: Sequence[int] | None):
        self.file, self.node, self.rank, self.ranks, self.cycle_ns = file, node, rank, ranks, cycle_ns
        self.algorithms, self.groups, self.flops_per_ns, self.shape = algorithms, groups, flops_per_ns, shape

    def fail(self, what: str) -> ConfigError:
        return ConfigError(f"{self.file}: node {self.node.id} ({self.node.name}) {what}.")

    def number(self, name: str, default: int | None = None) -> int:
        value = self.node.attributes.get(name, default)
        if not isinstance(value, (int, float)) or not 0 <= value < 2**62:
            raise self.fail(f"has {name} = {shown(value)}; it must be a number from 0")
        return int(value)

    def add(self, call: Call, collectives: dict[tuple[int, ...], list[tuple[str, int]]],
            made: dict[tuple[int, ...], int]) -> None:
        if self.node.type in (SEND, RECEIVE):
            send = self.node.type == SEND
            peer, size, tag = self.number("comm_dst" if send else "comm_src"), self.number("comm_size"), \
                self.number("comm_tag", 0)
            call.parts = [(Send if send else Receive)(peer, size, tag)]
        elif self.node.type == COLLECTIVE:
            call.parts = self._collective(collectives, made)
        elif self.node.type in (METADATA, LOAD, STORE, COMPUTE):
            call.parts = [Compute(math.ceil(self._nanoseconds() / self.cycle_ns))]
            call.processor = _CPU if self.node.attributes.get("is_cpu_op") else _GPU
        else:
            raise self.fail(f"has type {self.node.type}; types are 1 to 7")

    def _nanoseconds(self) -> float:
        if not 0 <= self.node.duration < 2**40:
            raise self.fail(f"takes {self.node.duration} microseconds; the duration must be a number from 0")
        if self.node.duration or self.flops_per_ns is None or self.node.type != COMPUTE:
            return self.node.duration * 1000
        return self.number("num_ops", 0) / self.flops_per_ns

    def _collective(self, collectives: dict[tuple[int, ...], list[tuple[str, int]]],
                    made: dict[tuple[int, ...], int]) -> list[Send | Receive | Compute]:
        kind = self.number("comm_type")
        if kind not in _OPERATIONS:
            raise self.fail(f"has comm_type {kind}; flitlab runs {', '.join(map(str, _OPERATIONS))}")
        members = self._members()
        operation = _OPERATIONS[kind]
        size = 1 if operation == "barrier" else self.number("comm_size")
        total = size * len(members) if operation == "allgather" else size  # comm_size: what a rank contributes
        number = made[members]
        made[members] += 1
        known = collectives.setdefault(members, [])
        if number == len(known):
            known.append((operation, total))
        elif known[number] != (operation, total):
            raise self.fail(f"is {operation} of {total} bytes, and the collective number {number} of its group is "
                            f"{known[number][0]} of {known[number][1]} bytes in a rank before it")
        if len(members) == 1:
            return []
        name = "allreduce" if operation == "barrier" else operation
        algorithm = self.algorithms.get(name, next(iter(ALGORITHMS[name])))
        schedule = Schedule(name, algorithm, Shape(len(members), 8, (len(members),)), total)
        key = ("collective", members, number)
        parts: list[Send | Receive | Compute] = []
        for step in schedule.steps(members.index(self.rank)):
            if step.send:
                parts.append(Send(members[step.send[0]], schedule.bytes_of(step.send[1]), key))
            if step.receive:
                parts.append(Receive(members[step.receive[0]], schedule.bytes_of(step.receive[1]), key))
        return parts

    def _members(self) -> tuple[int, ...]:
        name = self.node.attributes.get("pg_name")
        dimensions = self._involved()
        if name in (None, "", "0") and str(name or "0") not in self.groups:
            return self._along(dimensions) if dimensions else tuple(range(self.ranks))
        if dimensions:
            raise self.fail(f"has involved_dim = {dimensions} and the group {name}: only one of them can name the "
                            "ranks. Remove one, or set all of involved_dim to true")
        if str(name) not in self.groups:
            raise self.fail(f"uses the group {name}, which is unknown: give the file of groups, as in "
                            "fl.read_program(..., groups=\"groups.json\")"
                            + (did_you_mean(str(name), list(self.groups)) if self.groups else ""))
        members = tuple(self.groups[str(name)])
        if self.rank not in members or not set(members) <= set(range(self.ranks)) or len(set(members)) < len(members):
            raise self.fail(f"uses the group {name} with the ranks {shown(list(members))}: it must have this rank, "
                            f"{self.rank}, and only ranks from 0 to {self.ranks - 1}, each of them once")
        return members

    def _involved(self) -> list[bool]:
        """Returns involved_dim; [] if it is absent, or all dimensions take part."""
        found = self.node.attributes.get("involved_dim")
        if isinstance(found, Mapping):  # a list in JSON
            found = found.get("values", [])
        if found is None:
            return []
        if not isinstance(found, list) or not all(value in (0, 1) for value in found):
            raise self.fail(f"has involved_dim = {shown(found)}; it must be a list of booleans")
        if not any(found):
            raise self.fail(f"has involved_dim = {shown(found)}; at least one dimension must take part")
        return [] if all(found) else [bool(value) for value in found]

    def _along(self, dimensions: Sequence[bool]) -> tuple[int, ...]:
        """Returns the ranks that differ from this one in the involved dimensions only, rising."""
        shape = self.shape
        if shape is None or math.prod(shape) != self.ranks or len(shape) != len(dimensions):
            has = "no shape is known" if shape is None else f"the shape {list(shape)} has {math.prod(shape)} ranks"
            raise self.fail(f"has involved_dim = {dimensions}, and {has}: it needs a shape of {len(dimensions)} "
                            f"dimensions and {self.ranks} ranks. Set topology.shape, or use "
                            "fl.read_program(..., shape=[...])")
        members, stride = [self.rank], 1
        for radix, is_involved in zip(shape, dimensions, strict=True):
            if is_involved:
                members = [rank + (i - self.rank // stride % radix) * stride for i in range(radix) for rank in members]
            stride *= radix
        return tuple(members)
