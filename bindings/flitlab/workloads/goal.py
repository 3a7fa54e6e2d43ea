"""GOAL: the graphs of calls that LogGOPSim and ATLAHS read, as text or binary."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.programs import ANY, Program
from flitlab.workloads.graph import Call, Compute, Graph, Receive, Send

MOST_RANKS = 2**20
COOKIE = 4223  # the first eight bytes of a binary file
_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_OPTIONS = r"(?:\s+tag\s+(?P<tag>-?\d+))?(?P<places>(?:\s+(?:cpu|nic)\s+\d+)*)"
_LABEL = r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?"
_CALL = re.compile(rf"{_LABEL}(?:(?P<send>send)|(?P<recv>recv))\s+(?P<bytes>\d{{1,18}})\s*b\s+(?:to|from)\s+"
                   rf"(?P<peer>-?\d+){_OPTIONS}|{_LABEL.replace('label', 'label2')}calc\s+(?P<time>\d{{1,18}})"
                   r"(?P<cpus>(?:\s+(?:cpu|nic)\s+\d+)*)")
_NEEDS = re.compile(r"(?P<call>[A-Za-z]\w*)\s+(?P<kind>i?requires)\s+(?P<needed>[A-Za-z]\w*)")
_RANK = re.compile(r"rank\s+(\d+)\s*\{")
_NODE = struct.Struct("<IbIQIBBIIII")


def is_goal(data: bytes) -> bool:
    """Returns whether a file that begins with ``data`` is GOAL."""
    return data[:8] == struct.pack("<Q", COOKIE) or _COMMENTS.sub("", data.decode("latin-1")).lstrip().startswith(
        "num_ranks")


def read_goal(path: Path, cycle_ns: float) -> Program:
    """Returns the program of a file. Times of the file are nanoseconds. Raises ConfigError."""
    data = path.read_bytes()
    return (_binary if data[:8] == struct.pack("<Q", COOKIE) else _text)(data, str(path), cycle_ns).program()


def _cycles(time: int, cycle_ns: float) -> int:
    return math.ceil(time / cycle_ns)


def _message(sends: bool, peer: int, size: int, tag: int, where: str) -> Send | Receive:
    """Returns one end of a message. peer, tag: -1 for any."""
    if sends and (peer < 0 or tag < 0):
        raise ConfigError(f"{where}: only a receive can have any peer or any tag (-1). Give the send both.")
    if sends:
        return Send(peer, size, tag)
    return Receive(peer if peer >= 0 else ANY, size, tag if tag >= 0 else ANY)


def _text(data: bytes, name: str, cycle_ns: float) -> Graph:
    text = _COMMENTS.sub(lambda found: "\n" * found[0].count("\n"), data.decode("utf-8", "replace"))
    graph, rank, labels, seen = None, None, {}, set()
    later: list[tuple[str, bool, str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        where, line = f"{name}:{number}", line.strip()
        if not line:
            continue
        if graph is None:
            if not (found := re.fullmatch(r"num_ranks\s+(\d+)", line)) or not int(found[1]):
                raise ConfigError(f"{where}: {line!r}: a GOAL file begins with the line num_ranks N.")
            if len(found[1]) > 7 or int(found[1]) > MOST_RANKS:
                raise ConfigError(f"{where}: {line!r}: at most {MOST_RANKS} ranks are possible.")
            graph = Graph(int(found[1]), name)
        elif rank is None:
            if not (found := _RANK.fullmatch(line)) or int(found[1]) >= len(graph.calls) or int(found[1]) in seen:
                raise ConfigError(f"{where}: {line!r}: here a new rank begins, in the form rank R {{, with R from 0 to "
                                  f"{len(graph.calls) - 1}, once for each rank.")
            rank = int(found[1])
            seen.add(rank)
            labels = {}
        elif line == "}":
            for call, starts, needed, place in later:
                for label in (call, needed):
                    if label not in labels:
                        raise ConfigError(f"{place}: there is no label {label} in rank {rank}. Labels are valid within "
                                          "their rank; correct it, or add the call.")
                after = graph.calls[rank][labels[call]]
                (after.after_start if starts else after.after).append(labels[needed])
            rank, later = None, []
        elif found := _NEEDS.fullmatch(line):
            later.append((found["call"], found["kind"] == "irequires", found["needed"], where))
        elif found := _CALL.fullmatch(line):
            label = found["label"] or found["label2"]
            if label in labels:
                raise ConfigError(f"{where}: label {label} is used twice in rank {rank}. Choose another one.")
            if label:
                labels[label] = len(graph.calls[rank])
            places = re.findall(r"cpu\s+(\d+)", found["places"] or found["cpus"] or "")
            graph.calls[rank].append(Call([_part(found, where, cycle_ns)], processor=int(places[0]) if places else 0,
                                          where=f"line {number}"))
        else:
            raise ConfigError(f"{where}: {line!r} is not a call of GOAL: [LABEL:] send BYTESb to RANK [tag T] [cpu C] "
                              "[nic N], recv BYTESb from RANK with the same options, calc TIME [cpu C], or A requires "
                              "B, A irequires B.")
    if graph is None or rank is not None:
        raise ConfigError(f"{name}: the file ends {'before num_ranks' if graph is None else f'within rank {rank}'}.")
    return graph


def _part(found: re.Match[str], where: str, cycle_ns: float) -> Send | Receive | Compute:
    if found["time"]:
        return Compute(_cycles(int(found["time"]), cycle_ns))
    return _message(bool(found["send"]), int(found["peer"]), int(found["bytes"]), int(found["tag"] or 0), where)


def _binary(data: bytes, name: str, cycle_ns: float) -> Graph:
    def take(layout: str, at: int, what: str) -> tuple[int, ...]:
        if at < 0 or at + struct.calcsize(layout) > len(data):
            raise ConfigError(f"{name}: byte {at}: the file ends in the middle of {what}.")
        return struct.unpack_from(layout, data, at)

    ranks, _, _ = take("<IBB", 8, "the header")
    if not 1 <= ranks <= MOST_RANKS:
        raise ConfigError(f"{name}: byte 8: the file has {ranks} ranks; 1 to {MOST_RANKS} are possible.")
    spans = [take("<QQ", 14 + 16 * rank, "the table of ranks") for rank in range(ranks)]
    graph = Graph(ranks, name)
    for rank, (start, _) in enumerate(spans):
        at = 8 + start
        count, roots = take("<II", at, f"rank {rank}")
        at += 8 + 4 * roots
        appendix = at + _NODE.size * count
        dependents = []
        for i in range(count):
            where = f"byte {at + _NODE.size * i}"
            fields = take(_NODE.format, at + _NODE.size * i, f"call {i} of rank {rank}")
            _, kind, peer, size, tag, cpu, _, *lists = fields
            graph.calls[rank].append(Call([_node(kind, peer, size, tag, f"{name}: {where}", cycle_ns)], processor=cpu,
                                          where=where))
            dependents.append(lists)
        for i, (ended, first, begun, first_begun) in enumerate(dependents):
            for at_start, n, begin in ((False, ended, first), (True, begun, first_begun)):
                others = take(f"<{n}I", appendix + 4 * begin, f"the dependencies of rank {rank}") if n else ()
                for other in others:
                    if other >= count:
                        raise ConfigError(f"{name}: {graph.calls[rank][i].where}: call {other} of rank {rank} does not "
                                          "exist.")
                    later = graph.calls[rank][other]
                    (later.after_start if at_start else later.after).append(i)
    return graph


def _node(kind: int, peer: int, size: int, tag: int, where: str, cycle_ns: float) -> Send | Receive | Compute:
    if kind == 3:
        return Compute(_cycles(size, cycle_ns))
    if kind not in (1, 2):
        raise ConfigError(f"{where}: type {kind} of a call is unknown: 1 is a send, 2 a receive, 3 a computation.")
    any_number = 2**32 - 1
    return _message(kind == 1, -1 if peer == any_number else peer, size, -1 if tag == any_number else tag, where)
