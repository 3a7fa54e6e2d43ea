"""Events of every model: the destination of a packet at its creation, and the flit that an event refers to."""

import json

import numpy as np
import pytest

import flitlab as fl
from flitlab import _core

SMALL = {"t3e": {"topology.shape": [4, 4, 2]}, "bgl": {"topology.shape": [4, 4, 2]}}
LENGTHS = {"traffic.packet_flits", "traffic.reply_flits"}
ONE_LENGTH = ("metro", "adaptive", "sconnect")  # models whose packets have one length, or are too long for this test
MODES = [(model["kind"], mode) for model in _core.models() for mode in model["modes"]
         if mode not in ("trace", "program", "broadcast")]


def events_of(given, cycles=1500, flits=1):
    """flits: length of packets that the test itself offers."""
    net = fl.Network(given, trace=True)
    if given.get("traffic.mode") == "host":
        terminals = int(net.experiment.derived()["terminals"])
        source = np.arange(60) % terminals
        net.inject(source, terminals - 1 - source, flits, cycle=np.arange(60) * 10)
    return net.step(cycles).events()


def of_mode(kind, mode):
    given = {"router.kind": kind, "traffic.mode": mode, "topology.shape": [4, 4], **SMALL.get(kind, {})}
    if kind in ("metro", "switch"):
        del given["topology.shape"]
    if mode == "host":
        return given
    if kind == "metro":
        given |= dict.fromkeys(LENGTHS & fl.Experiment(given).keys(), 20) | {"traffic.pattern": "bit_complement"}
    if mode == "batch":
        return given | {"traffic.batch_packets": 5}
    return given | {"traffic.load": 0.05}


@pytest.mark.parametrize(("kind", "mode"), MODES)
def test_a_creation_names_the_terminal_that_the_packet_arrives_at(kind, mode):
    events = events_of(of_mode(kind, mode), flits=20 if kind == "metro" else 1)
    to = {(e["src"], e["id"]): e["dst"] for e in events if e["kind"] == "created"}
    arrived = [((e["src"], e["id"]), e["index"]) for e in events if e["kind"] == "delivered"]
    if kind == "metro":  # a message is delivered when its source receives the acknowledgment
        arrived = [((source, number), 15 - source) for (source, number), _ in arrived]
    assert len(arrived) > 20 and all(to[packet] == terminal for packet, terminal in arrived)
    assert not any("dst" in e for e in events if e["kind"] != "created")
    # METRO has no separate reply packets: replies return on the connection.
    if mode == "request_reply" and kind != "metro":
        assert any(number >= 2**31 for _, number in to)


@pytest.mark.parametrize(("kind", "mode"), MODES)
@pytest.mark.parametrize("flits", [1, 3])
def test_heads_and_tails_are_named(kind, mode, flits):
    given = of_mode(kind, mode)
    if kind not in ONE_LENGTH:
        given |= dict.fromkeys(LENGTHS & fl.Experiment(given).keys(), flits)
    events = events_of(given, flits=20 if kind == "metro" else 1 if kind in ONE_LENGTH else flits)
    assert {e["kind"] for e in events} >= {"created", "injected", "delivered"}
    for e in events:
        if e["flits"] == 1:
            assert e["flit"] == "head+tail", e
        elif e["kind"] in ("created", "routed", "vc_granted"):
            assert e["flit"] == "head", e


def test_a_program_s_packet_names_its_receiver():
    program = fl.Program(32)
    for rank in program:
        if rank.rank == 3:
            rank.send(9, 1000)
        if rank.rank == 9:
            rank.recv(3)
    events = events_of({"router.kind": "bgl", "topology.shape": [4, 4, 2], "traffic.mode": "program",
                        "traffic.program_file": program})
    created = [e for e in events if e["kind"] == "created"]
    assert created and {(e["src"], e["dst"]) for e in created} == {(3, 9)}


@pytest.mark.parametrize("dimensions", [[0], [0, 1]])
def test_a_broadcast_s_packet_names_the_last_node_that_it_visits(dimensions):
    network = fl.Network({"router.kind": "bgl", "topology.shape": [4, 4, 2], "traffic.mode": "broadcast",
                          "broadcast.dimensions": dimensions, "broadcast.packets": 3}, trace=True)
    events = network.step(5000).events()
    created = [e for e in events if e["kind"] == "created"]
    assert {e["dst"] for e in created if e["src"] == 0} <= {1, 3, 4, 12}  # the root's neighbours in each dimension
    last = {}
    for e in events:
        if e["kind"] == "delivered":
            last[e["src"], e["id"]] = e["index"]
    if len(dimensions) == 1:
        assert all(last[e["src"], e["id"]] == e["dst"] for e in created)


def test_every_form_of_a_trace_names_the_destination(cli, tmp_path):
    options = ("vc-mesh-8x8", "--set", "traffic.load=0.2", "--cycles", "100:140", "--routers", "0-9")
    for form in ("jsonl", "perfetto", "vcd"):
        done = cli("trace", *options, "--format", form, "--out", f"trace.{form}")
        assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    created = [(e["cycle"], e["src"], e["id"], e["dst"]) for e in events if e["kind"] == "created"]
    assert len(created) > 5
    shown = json.loads((tmp_path / "trace.perfetto").read_text())["traceEvents"]
    found = [(e["ts"], e["tid"], int(e["name"].split("#")[1]), e["args"]["dst"]) for e in shown
             if e["name"].startswith("created ")]
    assert found == created
    vcd, names, cycle, found = (tmp_path / "trace.vcd").read_text().splitlines(), {}, 0, []
    for line in vcd:
        words = line.split()
        if line.startswith("$var") and words[4].endswith("_created"):
            names[words[3]] = int(words[4].removeprefix("terminal").removesuffix("_created"))
        elif line.startswith("#"):
            cycle = int(line[1:])
        elif len(words) == 2 and words[1] in names and not words[0].startswith("bx"):
            value = int(words[0][1:], 2)
            found.append((cycle, names[words[1]], value % 2**32, value >> 32))
    assert sorted(found) == sorted(created)
