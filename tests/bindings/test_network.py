"""Networks that the caller steps: checkpoints, events, traces."""

import json
import re
from itertools import pairwise

import pytest

import flitlab as fl


def test_a_network_steps_and_shows_itself(small):
    net = fl.Network(small.set("traffic.load", 0.5)).step(200)
    assert net.cycle == 200
    router = net.router(5)
    assert [p.name for p in router.ports] == ["+x", "-x", "+y", "-y", "terminal 0"]
    assert all(0 <= vc.flits <= 8 and 0 <= vc.credits <= 8 for p in router.ports for vc in p.vcs)
    assert "router 5 (1,1)" in repr(router)
    terminal = net.terminal(5)
    assert terminal.created == terminal.sent + terminal.queued
    assert net.totals["packets_created"] > 0 and "cycle 200" in repr(net)
    with pytest.raises(fl.ConfigError, match="0 to 15"):
        net.router(16)


@pytest.mark.parametrize(("cycles", "error", "expected_text"), [
    (-1, fl.ConfigError, "must not be negative"), (True, fl.ConfigError, r"step\(True\): .* must be a whole number"),
    (1.5, fl.ConfigError, r"step\(1\.5\): the number of cycles must be a whole number and must not be negative"),
    (float("nan"), fl.ConfigError, r"step\(nan\): .* whole number"), (None, fl.ConfigError, r"step\(None\): .* whole"),
    (fl._core.END_OF_TIME - 9, fl.RunError, "emulated time ends at 2000000000"),
    (2**32, fl.RunError, "cycle 4294967306 cannot be reached"), (10**30, fl.RunError, "cannot be reached"),
])
def test_steps_that_time_has_not_are_refused(small, cycles, error, expected_text):
    net = fl.Network(small).step(10)
    with pytest.raises(error, match=expected_text):
        net.step(cycles)
    assert net.cycle == 10


def test_checkpoints_resume_bit_by_bit(small, tmp_path):
    path = tmp_path / "state"
    whole = fl.Network(small).step(700)
    fl.Network(small).step(300).save(path)
    resumed = fl.Network(small, threads=2).load(path).step(400)
    assert resumed.state_hash == whole.state_hash and resumed.totals == whole.totals
    data = path.read_bytes()
    damaged = {"cut short": data[:-100], "damaged": data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
               "not a flitlab checkpoint": b"x" * 200}
    for message_text, content in damaged.items():
        path.write_bytes(content)
        with pytest.raises(fl.ConfigError, match=message_text):
            fl.Network(small).load(path)
    path.write_bytes(data)
    with pytest.raises(fl.ConfigError, match="another configuration"):
        fl.Network(small.set("router.vcs", 2)).load(path)
    with pytest.raises(fl.ConfigError, match="cannot be written"):
        fl.Network(small).save(tmp_path / "no" / "state")


def test_events_tell_one_packet_s_story(small):
    net = fl.Network(small.set({"traffic.load": 0.01}), trace=True).step(1500)
    events = net.events()
    delivered = next(e for e in events if e["kind"] == "delivered")
    story = [e for e in events if (e["src"], e["id"]) == (delivered["src"], delivered["id"])]
    kinds = [e["kind"] for e in story if not (e["kind"] == "switch_granted" and "head" not in e["flit"])]
    hops = kinds.count("arrived") - 1
    at_router = ["arrived", "routed", "vc_granted", "switch_granted"]
    assert kinds == ["created", "injected"] + at_router * (hops + 1) + ["delivered"]
    times = [e["cycle"] for e in story if e["kind"] in ("arrived", "routed", "vc_granted", "switch_granted")
             and not (e["kind"] == "switch_granted" and "head" not in e["flit"])]
    assert [b - a for a, b in pairwise(times)] == ([1, 0, 1, 3] * (hops + 1))[:-1]


def test_traces_are_readable(cli, config, tmp_path):
    for form in ("jsonl", "perfetto", "vcd"):
        done = cli("trace", config("vc-mesh-8x8"), "--cycles", "200:260", "--format", form, "--out", form,
                   "--routers", "0-3,9")
        assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    assert events and {e["index"] for e in events} <= {0, 1, 2, 3, 9}
    assert all(200 <= e["cycle"] < 260 for e in events)
    spans = json.loads((tmp_path / "perfetto").read_text())["traceEvents"]
    assert any(s["ph"] == "X" and s["dur"] > 0 for s in spans)
    _check_vcd((tmp_path / "vcd").read_text())


def _check_vcd(text, end=260):
    """Checks and parses the parts of IEEE 1364 that the writer uses, strictly."""
    head, body = text.split("$enddefinitions $end\n")
    names = dict(re.findall(r"\$var wire (?:\d+) (\S+) (\S+) \$end", head))
    assert names and head.count("$scope") == head.count("$upscope")
    time = -1
    for line in body.splitlines():
        if line.startswith("#"):
            assert int(line[1:]) >= time
            time = int(line[1:])
        elif line not in ("$dumpvars", "$end"):
            assert re.fullmatch(r"b[01x]+ \S+", line), line
            assert line.split()[1] in names
    assert time == end


@pytest.mark.parametrize("form", ["jsonl", "perfetto", "vcd"])
@pytest.mark.parametrize("kind", [model["kind"] for model in fl._core.models()])
def test_every_model_has_every_form_of_a_trace(kind, form, tmp_path):
    from flitlab.tracing import write_trace

    experiment = fl.Experiment.from_dict({"router.kind": kind, "traffic.load": 0.1})
    assert write_trace(experiment, "100:200", form, str(tmp_path / form)) > 10
    text = (tmp_path / form).read_text()
    if form == "vcd":
        _check_vcd(text, 200)
        assert len(re.findall(r"^b[01]+ ", text, re.M)) > 10
    elif form == "perfetto":
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in json.loads(text)["traceEvents"]
                  if e["name"] == "thread_name"}
        assert len(set(tracks.items())) == len(tracks) > 0
    else:
        assert {"created", "delivered"} & {json.loads(line)["kind"] for line in text.splitlines()}


def test_a_trace_starts_where_the_fast_engine_is(small):
    """Events of a window do not depend on whether earlier cycles were traced."""
    from flitlab.tracing import Stream

    net = fl.Network(small, trace=True).step(150)
    expected = [e for e in net.events() if e["cycle"] >= 100]
    assert list(Stream(small, 100, 150)) == expected


def test_a_trace_needs_no_room_but_its_file(small, tmp_path, monkeypatch):
    import tempfile

    from flitlab.tracing import write_trace

    def refuse(*_args, **_kwargs):
        raise OSError("no space left for temporary files")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    assert write_trace(small, "100:150", "jsonl", str(tmp_path / "x")) > 0


def test_a_vcd_is_written_as_events_come(small):
    import io

    from flitlab.tracing import Stream, write_vcd

    events = list(Stream(small, 100, 160))
    file, lengths = io.StringIO(), []

    class OneByOne(Stream):
        def __iter__(self):
            for event in events:
                lengths.append(len(file.getvalue()))
                yield event

    assert write_vcd(file, OneByOne(small, 100, 160)) == len(events)
    _check_vcd(file.getvalue(), 160)
    half = len(events) // 2
    assert lengths[0] < lengths[half] < lengths[-1]
    sends = [e for e in events if e["kind"] == "switch_granted"]
    times = _changes(file.getvalue(), f"out{sends[0]['out_port']}_sends", sends[0]["index"])
    port = [e for e in sends if (e["index"], e["out_port"]) == (sends[0]["index"], sends[0]["out_port"])]
    for e in port:  # each value of the variable lasts one cycle
        assert times[e["cycle"]] == format(e["port"] << 8 | e["vc"], "b")
        assert times.get(e["cycle"] + 1, "x") == "x" or any(o["cycle"] == e["cycle"] + 1 for o in port)


def _changes(text, variable, router):
    """Returns time -> value of one variable in a value change dump."""
    scope = text[text.index(f"$scope module router_{router} $end"):]
    name = re.search(rf"\$var wire \d+ (\S+) {variable} \$end", scope)[1]
    time, changes = 0, {}
    for line in text.split("$enddefinitions $end\n")[1].splitlines():
        if line.startswith("#"):
            time = int(line[1:])
        elif line.split()[1:] == [name]:
            changes[time] = line.split()[0][1:]
    return changes


def test_networks_go_on_from_each_other(small):
    slow = fl.Network(small, trace=True).go_on_from(fl.Network(small).step(300)).step(100)
    assert slow.state_hash == fl.Network(small).step(400).state_hash
    with pytest.raises(fl.ConfigError, match="another configuration"):
        slow.go_on_from(fl.Network(small.set("router.vcs", 2)))


@pytest.mark.parametrize("index", [-1, 16, 2**40, 1.5, None, True])
def test_items_that_do_not_exist_are_named(small, index):
    net = fl.Network(small)
    with pytest.raises(fl.ConfigError, match=f"router {index} does not exist: routers are numbered 0 to 15"):
        net.router(index)
    with pytest.raises(fl.ConfigError, match=f"terminal {index} does not exist: terminals are numbered 0 to 15"):
        net.terminal(index)
    with pytest.raises(fl.ConfigError, match=f"router {index} does not exist: items "):
        net.inspect("router", index)
    with pytest.raises(fl.ConfigError, match=r'items of kind "3" do not exist: this network has router, terminal'):
        net.inspect(3, 0)


def test_numbers_of_numpy_are_numbers(small):
    np = pytest.importorskip("numpy")
    net = fl.Network(small, threads=np.int64(1), trace=np.bool_(True)).step(np.int32(20))
    assert net.cycle == 20 and net.router(np.int64(5)) == net.router(5) and net.events()


def test_replies_are_named(small, tmp_path):
    from flitlab.network import FIRST_REPLY, packet_name
    from flitlab.tracing import write_trace

    assert packet_name(3, 17) == "3#17" and packet_name(3, 2**31 + 17) == "3#r17"
    loop = small.set("traffic.mode", "request_reply")
    write_trace(loop, "100:200", "jsonl", str(tmp_path / "jsonl"))
    events = [json.loads(line) for line in (tmp_path / "jsonl").read_text().splitlines()]
    assert {e["reply"] for e in events} == {True, False}
    assert all(e["reply"] == (e["id"] >= FIRST_REPLY) for e in events)
    write_trace(loop, "100:200", "perfetto", str(tmp_path / "perfetto"))
    spans = json.loads((tmp_path / "perfetto").read_text())["traceEvents"]
    names = {s["name"] for s in spans if s.get("cat") == "packet"}
    assert all(re.fullmatch(r"\d+#r?\d{1,6}", name) for name in names)
    assert any("#r" in name for name in names) and any("#r" not in name for name in names)
    assert "2**31" in fl.Result.__doc__
