"""Frames of a network, cycle by cycle, from its inspector and its events; what the scope replays.

A recording is one object of plain numbers and words: ``meta`` says what does not change, ``frames`` what changes from
cycle to cycle. Frame c has the state before cycle c, as ``net.cycle == c`` and ``net.router(i)`` show it, and the
events of cycle c - 1, which led there. No machine is known here: ports, virtual channels and values are what inspectors
name.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from flitlab._core import ConfigError, RunError
from flitlab.inspection import VirtualChannel
from flitlab.scope.places import places_of, planes_of

if TYPE_CHECKING:
    from flitlab.network import Network

FORMAT = 1
DRAWN = 1024  # routers; of more a region is drawn
WORDS = ("name", "note")  # not numbers: only of routers that are inspected
COLUMNS = ["router", "port", "vc", *(f.name for f in fields(VirtualChannel) if f.name not in WORDS)]  # of vcs()
KINDS = ["created", "injected", "arrived", "routed", "vc_granted", "switch_granted", "delivered"]
FLITS = {"body": 0, "head": 1, "tail": 2, "head+tail": 3}

Packet = tuple[int, int]  # source terminal and number there
Frame = dict[str, Any]


class Recorder:
    """Steps a traced network and keeps the last ``window`` frames.

    routers: those that are drawn; the others are as they are, unseen.
    """

    def __init__(self, network: Network, window: int, routers: Iterable[int] | None = None):
        self.network = network
        self.window = max(2, window)
        self.deadlock = ""
        self.inspected: set[int] = set()  # routers whose whole state is written down too
        self.routers, self.note = _region(network, routers)
        self._drawn = set(self.routers)
        self._whole = len(self.routers) == int(network.experiment.derived()["routers"])
        self.meta = self._meta()
        self._terminals = {t for peers in self.meta["peers"] for t, to_terminal in peers if to_terminal and t >= 0}
        self.restart()

    def restart(self) -> None:
        """Begins anew with the network as it is now."""
        self.frames: deque[Frame] = deque(maxlen=self.window)
        self._rows = np.zeros((0, len(COLUMNS)), np.int64)
        self._queued = dict.fromkeys(sorted(self._terminals), 0)
        self._carried = self.network.channels()
        self._created: dict[Packet, int] = {}
        self._totals = self.network.totals
        self.network._core.events()  # those of the past are not this recording's
        first = self._take([])
        self._first_rows: list[list[int]] = list(first["rows"])
        self._first_queues: dict[int, int] = pairs(first["q"])

    def in_step(self) -> bool:
        """Whether the network is where the last frame is; it is not if somebody else has stepped it."""
        return bool(self.frames) and self.frames[-1]["c"] == self.network.cycle

    def step(self, cycles: int) -> list[Frame]:
        """Advances by that many cycles and returns their frames."""
        if not self.in_step():
            self.restart()
        new = []
        for _ in range(cycles):
            self.network.step(1)
            new.append(self._take(self.network._core.events()))
        self.look_for_deadlock()
        return new

    def skip(self, cycles: int) -> None:
        """Advances without frames, by the fast engine, and begins anew there."""
        from flitlab.network import Network

        self.network.go_on_from(Network(self.network.experiment).go_on_from(self.network).step(cycles))
        self.look_for_deadlock()
        self.restart()

    def look_for_deadlock(self) -> None:
        try:
            self.network.check()
        except RunError as error:
            self.deadlock = str(error)

    def tree(self, router: int) -> list:
        """All that a router's state consists of, now."""
        return tree_of(self.network._core.item("router", router))

    def words(self, router: int) -> list:
        """What the machine calls and says of its ports and virtual channels, now: [note, [[name, note], ...]], ..."""
        return [[port.note, [[vc.name, vc.note] for vc in port.vcs]] for port in self.network.router(router).ports]

    def recording(self) -> dict[str, Any]:
        """All frames that are kept; the first one is complete."""
        first = {k: v for k, v in self.frames[0].items() if k != "v"}
        first |= {"rows": self._first_rows, "q": [x for pair in sorted(self._first_queues.items()) for x in pair]}
        frames = [first, *list(self.frames)[1:]]
        return {"format": FORMAT, "meta": {**self.meta, "deadlock": self.deadlock}, "frames": frames}

    # What frames are made of.

    def _take(self, events: list[dict]) -> Frame:
        if len(self.frames) == self.window:
            self._forget_first()
        net = self.network
        frame: Frame = {"c": net.cycle, "e": [e for e in map(self._event, events) if e]}
        self._write_channels_of_routers(frame)
        self._write_queues(frame, events)
        now = net.channels()
        frame["u"] = [x for i, (old, new) in enumerate(zip(self._carried, now, strict=True))
                      for x in (i, new[2] - old[2]) if new[2] != old[2]]
        self._carried = now
        totals = net.totals
        frame["t"] = [totals[n] - self._totals[n] for n in ("flits_created", "flits_delivered")]
        self._totals = totals
        frame["l"] = self._latencies(events)
        trees = {r: self.tree(r) for r in sorted(self.inspected)}
        if trees:
            frame["i"] = trees
            frame["w"] = {r: self.words(r) for r in trees}
        self.frames.append(frame)
        return frame

    def _event(self, e: dict) -> list | None:
        at_terminal = e["item"] == "terminal"
        if not self._whole and e["index"] not in (self._terminals if at_terminal else self._drawn):
            return None
        kind = e["kind"] if e["kind"] in self.meta["kinds"] else self.meta["kinds"].append(e["kind"]) or e["kind"]
        return [self.meta["kinds"].index(kind), int(at_terminal), e["index"], e["port"], e["vc"], e["out_port"],
                e["out_vc"], e["src"], e["id"], FLITS[e["flit"]], e["flits"]]

    def _write_channels_of_routers(self, frame: Frame) -> None:
        """Rows of virtual channels that are not as they were; all of them if there are others than before."""
        stages, data = self.network._core.vcs(self.routers)
        rows = np.frombuffer(data, np.int64).reshape(-1, len(COLUMNS)).copy()
        known = self.meta["stages"]
        known += [s for s in stages if s not in known]
        rows[:, 3] = np.array([known.index(s) for s in stages] or [0])[rows[:, 3]]
        if rows.shape != self._rows.shape or not np.array_equal(rows[:, :3], self._rows[:, :3]):
            frame["rows"] = rows.tolist()
        else:
            changed = np.flatnonzero((rows != self._rows).any(axis=1))
            frame["v"] = [[int(i), *row] for i, row in zip(changed, rows[changed, 3:].tolist(), strict=True)]
        self._rows = rows

    def _write_queues(self, frame: Frame, events: list[dict]) -> None:
        """Source queues that have changed."""
        touched = set(self._queued) if not self.frames else {e["index"] for e in events if e["item"] == "terminal"}
        frame["q"] = []
        for t in sorted(touched):
            if t in self._queued:
                queued = self.network.terminal(t).queued
                if queued != self._queued[t]:
                    self._queued[t] = queued
                    frame["q"] += [t, queued]

    def _latencies(self, events: list[dict]) -> list[int]:
        """Of packets delivered that were created since the recording began: from creation to the tail's arrival."""
        found = []
        for e in events:
            if e["kind"] == "created":
                self._created[e["src"], e["id"]] = e["cycle"]
            elif e["kind"] == "delivered" and (created := self._created.pop((e["src"], e["id"]), None)) is not None:
                found.append(e["cycle"] - created)
        return found

    def _forget_first(self) -> None:
        """The window moves on: what the second frame changes goes into what is known of the first one."""
        second = self.frames[1]
        if "rows" in second:
            self._first_rows = list(second["rows"])
        for i, *values in second.get("v", []):
            self._first_rows[i] = self._first_rows[i][:3] + values
        self._first_queues.update(pairs(second["q"]))

    def _meta(self) -> dict[str, Any]:
        net, flat = self.network, self.network.experiment.flat()
        place = {r: i for i, r in enumerate(self.routers)}
        links = net.links()
        names = [net._core.router_name(r) for r in self.routers]
        inside = [(i, *link) for i, link in enumerate(links) if link[0] in place and link[2] in place]
        places, layout = places_of(names, flat.get("topology.kind", ""),
                                   [(place[a], p, place[b], q) for _, a, p, b, q in inside])
        ports = [net.router(r).ports for r in self.routers]
        return {
            "name": net.experiment.name, "kind": flat["router.kind"], "about": repr(net.experiment)[1:-1],
            "seed": flat["run.seed"], "note": self.note, "window": self.window, "layout": layout,
            "terminals": net.experiment.core.terminals() or int(net.experiment.derived()["terminals"]),
            "columns": COLUMNS[3:], "kinds": list(KINDS), "stages": [],
            "routers": self.routers, "names": names, "x": [p[0] for p in places], "y": [p[1] for p in places],
            "planes": planes_of(names),
            "ports": [[p.name for p in of_router] for of_router in ports],
            "peers": [[[-1 if p.peer is None else p.peer, int(p.to_terminal)] for p in of_router]
                      for of_router in ports],
            "links": inside, "buffer": flat.get("router.buffer_flits"), "settings": settings_of(net)}


def _region(network: Network, chosen: Iterable[int] | None) -> tuple[list[int], str]:
    """Routers to draw, and what to say if these are not all."""
    count = int(network.experiment.derived()["routers"])
    if chosen is not None:
        routers = sorted(set(chosen))
        if not routers or routers[0] < 0 or routers[-1] >= count or len(routers) > DRAWN:
            raise ConfigError(f"routers: view() draws 1 to {DRAWN} routers, of those numbered 0 to {count - 1}.")
    else:
        routers = list(range(min(count, DRAWN)))
    if len(routers) == count:
        return routers, ""
    which = f"{routers[0]} to {routers[-1]}" if routers[-1] - routers[0] + 1 == len(routers) else "as chosen"
    return routers, (f"{len(routers)} of {count} routers are drawn ({which}); the others run unseen. "
                     f"view(routers=...) chooses a region of up to {DRAWN}.")


def pairs(flat: list[int]) -> dict[int, int]:
    """Keys and values in turn."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def settings_of(network: Network) -> dict[str, Any]:
    """Load, pattern and routing, as far as this configuration has them, with what they may be."""
    from flitlab import _core

    flat = network.experiment.flat()
    found = {}
    records = _core.parameters()
    for path in ("traffic.load", "traffic.pattern", "routing.algorithm"):
        record = next((r for r in records if r["path"] == path), None)
        if path in flat and record:
            found[path] = {"value": flat[path], "choices": record["choices"], "help": record["help"]}
    return found


def tree_of(node: dict[str, Any]) -> list:
    """An inspected item, short: kind, name, values (name, value, unit, help) and parts."""
    return [node["kind"], node["name"], [list(v) for v in node["values"]], [tree_of(p) for p in node["parts"]]]


def packed(recording: dict[str, Any]) -> str:
    """As text: JSON, compressed by gzip, in base64."""
    text = json.dumps(recording, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, 6, mtime=0)).decode()
