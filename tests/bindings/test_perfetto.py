"""Perfetto's own format: the spans of a trace are those of the JSON format, and every part can be decoded."""

import io
import json

import pytest
from perfetto_files import Trace

import flitlab as fl
from flitlab import _core, perfetto
from flitlab.tracing import write_trace

FLOWS = {"vc": {"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.3, "traffic.packet_flits": 3},
         "t3e": {"router.kind": "t3e", "topology.shape": [4, 4, 2], "traffic.load": 0.05},
         "metro": {"router.kind": "metro", "traffic.load": 0.3}}


@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.parametrize("routers", [None, "1,3-6"])
def test_spans_and_instants_are_those_of_the_json_file(name, routers, tmp_path):
    experiment, json_file, file = fl.Experiment(FLOWS[name]), tmp_path / "t.json", tmp_path / "t.pftrace"
    count = write_trace(experiment, "200:300", "perfetto", str(json_file), routers)
    assert write_trace(experiment, "200:300", "pftrace", str(file), routers) == count
    trace, events = Trace(file.read_bytes()), json.loads(json_file.read_text())["traceEvents"]
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
    expected = [(names[e["pid"], e["tid"]], names[e["pid"], None], e["ts"], e["ts"] + e["dur"], e["name"], e["cat"],
                 {key: arg for key, arg in e["args"].items() if arg is not None}) for e in events if e["ph"] == "X"]
    found = [(trace.tracks[track][0], trace.tracks[track][1][0], *rest) for track, *rest in trace.slices()]
    assert len(found) > 30
    assert sorted(found, key=str) == sorted(expected, key=str)
    instants = [(int(trace.tracks[track][0].split()[1]), cycle, label, args)
                for kind, track, cycle, label, _, args, *_ in trace.events if kind == 3]
    assert instants == [(e["tid"], e["ts"], e["name"], e.get("args", {})) for e in events if e["ph"] == "i"]
    assert file.stat().st_size < json_file.stat().st_size / 2


def test_packets_in_one_buffer_have_slices_of_their_own(tmp_path):
    """Buffers of 8 flits hold several packets of 2 flits at the same time."""
    experiment = fl.Experiment({"topology.kind": "mesh", "topology.shape": [4, 4], "traffic.load": 0.9,
                                "traffic.packet_flits": 2, "router.vcs": 1, "router.buffer_flits": 8})
    write_trace(experiment, "500:600", "pftrace", str(tmp_path / "t"))
    trace = Trace((tmp_path / "t").read_bytes())
    lanes = {}
    for track, label in trace.tracks.items():
        lanes.setdefault(label, []).append(track)
    assert max(map(len, lanes.values())) > 1
    for track in trace.tracks:  # slices of a lane do not even contain one another
        last = 0
        for _, start, end, *_ in sorted(s for s in trace.slices() if s[0] == track):
            assert last <= start < end
            last = end


def test_the_command_writes_it(cli, tmp_path):
    done = cli("trace", "vc-mesh-8x8", "--cycles", "0:50", "--format", "pftrace", "--out", "t.pftrace",
               "--routers", "9")
    assert done.returncode == 0, done.stderr
    trace = Trace((tmp_path / "t.pftrace").read_bytes())
    assert done.stdout.endswith("events written to t.pftrace\n")
    assert {groups for _, groups in trace.tracks.values()} <= {(), ("network",), ("router 9", "network"),
                                                               ("terminals",)}


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(_core.ConfigError, match="cannot be written"):
        write_trace(fl.Experiment(FLOWS["vc"]), "0:9", "pftrace", str(tmp_path / "no" / "t"))


def test_every_part_of_the_format():
    file = io.BytesIO()
    writer = perfetto.Writer(file)
    group = writer.group("ranks")
    track = writer.track("rank 0", group)
    load = writer.counter("load", "flits", group)
    args = {"cycles": 300, "least": -2, "last": True, "none": None, "peer": "µ"}
    writer.begin(track, 5, "compute", args=args, shared=True)
    writer.instant(track, 6, "send", flow=2**63 + 1)
    writer.instant(track, 7, "send", "message", flow=3, last=True)
    writer.end(track, 2**40, {"more": 1})
    writer.begin(track, 2**40, "compute", shared=True)
    writer.end(track, 2**41)
    writer.count(load, 9, 128)
    writer.count(load, 10, -1)
    trace = Trace(file.getvalue())
    assert trace.tracks == {group: ("ranks", ()), track: ("rank 0", ("ranks",)), load: ("load", ("ranks",))}
    least = {"least": 2**64 - 2}  # the decoder does not know signs
    assert trace.slices() == [
        (track, 5, 2**40, "compute", "", {"cycles": 300, "last": True, "peer": "µ", "more": 1} | least),
        (track, 2**40, 2**41, "compute", "", {})]
    arrows = [e[6:8] for e in trace.events if e[0] == 3]
    assert arrows == [((2**63 + 1).to_bytes(8, "little"), None), (None, b"\3" + bytes(7))]
    assert [e[8] for e in trace.events if e[0] == 4] == [128, 2**64 - 1]
    assert file.getvalue().count(b"compute") == 1  # names that are shared are written once


def test_memory_does_not_grow_with_packets():
    """The writer keeps names that are shared and tracks, and nothing for each slice."""
    writer = perfetto.Writer(io.BytesIO())
    lanes = perfetto.Lanes(writer, "port", writer.group("router"), 0)
    for cycle in range(0, 3000, 3):
        lanes.end(lanes.begin(cycle, f"0#{cycle}", "packet", {"flits": 4}), cycle + 2, {"out_port": 1})
    assert len(writer._names) == 3
    assert len(lanes._free) == 1
