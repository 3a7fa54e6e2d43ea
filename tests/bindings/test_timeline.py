"""The time line of a program: cycles by hand, the state of networks in every cycle, and random programs."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto_files import Trace
from random_programs import NETWORKS, experiment, random_calls, text

import flitlab as fl
from flitlab import _core
from flitlab.program_times import KINDS, Replay

# Software of a Blue Gene/L node puts and takes packets, with and without processor time of its own.
BGL = {"router.kind": "bgl", "topology.shape": [2, 2, 2]}
ALL = NETWORKS | {"bgl": BGL, "bgl, busy processors": {**BGL, "software.packet_time": 20, "software.chunk_time": 5}}
RING = {"topology.kind": "ring", "topology.shape": [4]}


LONG = fl.Program(1, "long")
LONG[0].compute(10_000_000)
PROGRAM = {**RING, "traffic.mode": "program", "traffic.program_file": LONG}


def rows(frame, *columns):
    return [tuple(row) for row in frame[list(columns)].astype(object).itertuples(index=False)]


def program_of(network, calls, path, **more):
    return fl.timeline(experiment(network, calls, path, **more), progress=False)


def test_a_chain_of_three_ranks(tmp_path):
    """A flit takes 5 cycles in a router, and 1 to the first router: a packet of n flits that is created in cycle c
    arrives at the neighbour in cycle c + 11 + n - 1, and its receiver can take it in the cycle after. The first message
    is a packet of 8 flits (240 + 16 bytes), the second of one. The interface accepts a packet in the cycle in which the
    processor hands it over, and the program goes on in the next."""
    calls = [[("compute", 20), ("send", 1, 240, 0)],
             [("recv", 0, 0), ("compute", 10), ("isend", 2, 1, 0, 0)],
             [("compute", 30), ("recv", 1, 0)]]
    line = program_of(RING, calls, tmp_path / "p.csv", **{"traffic.send_overhead": 7, "traffic.recv_overhead": 3})
    assert line.cycles == 81
    assert rows(line.frame, "rank", "begin", "end", "what") == [
        (0, 0, 20, "compute"), (0, 20, 27, "send"), (0, 27, 28, "interface"), (0, 28, 81, "done"),
        (1, 0, 46, "message"), (1, 46, 49, "receive"), (1, 49, 59, "compute"), (1, 59, 66, "send"),
        (1, 66, 67, "interface"), (1, 67, 81, "done"),
        (2, 0, 30, "compute"), (2, 30, 78, "message"), (2, 78, 81, "receive")]
    assert rows(line.frame[line.frame["what"] == "message"], "rank", "peer", "message", "bytes", "call") == [
        (1, 0, 0, 240, 0), (2, 1, 0, 1, 1)]
    path = line.critical_path()
    assert rows(path, "rank", "begin", "end", "what") == [
        (0, 0, 20, "compute"), (0, 20, 27, "send"), (0, 27, 46, "network"), (1, 46, 49, "receive"),
        (1, 49, 59, "compute"), (1, 59, 66, "send"), (1, 66, 78, "network"), (2, 78, 81, "receive")]
    assert rows(path[path["what"] == "network"], "rank", "peer", "bytes") == [(0, 1, 240), (1, 2, 1)]
    assert line.where().to_dict("index")[1] == {
        "compute": 10, "send": 7, "receive": 3, "message": 46, "after": 0, "processor": 0, "interface": 1, "done": 14}
    columns = ("source", "destination", "bytes", "packets", "ready", "first", "passed", "available", "received")
    assert rows(line.messages, *columns) == [(0, 1, 240, 1, 27, 27, 27, 46, 46), (1, 2, 1, 1, 66, 66, 66, 78, 78)]
    assert rows(line.calls, "rank", "name", "cycle") == [
        (0, "compute", 0), (0, "send", 20), (1, "recv", 46), (1, "compute", 49), (1, "isend", 59), (1, "wait", 67),
        (2, "compute", 0), (2, "recv", 78)]


def test_a_message_that_is_already_there_is_not_on_the_path(tmp_path):
    line = program_of(RING, [[("send", 1, 240, 0)], [("compute", 100), ("recv", 0, 0), ("compute", 5)]],
                      tmp_path / "p.csv")
    assert rows(line.critical_path(), "rank", "begin", "end", "what", "call") == [
        (1, 0, 100, "compute", 0), (1, 100, 105, "compute", 2)]


def test_a_message_of_many_packets_waits_for_the_interface(tmp_path):
    """100 packets of 8 flits leave at one flit per cycle. The interface holds two; the path goes through them."""
    line = program_of(RING, [[("send", 1, 24000, 0)], [("recv", 0, 0)]], tmp_path / "p.csv")
    path = line.critical_path()
    assert rows(path, "rank", "what", "peer") == [(0, "interface", 1), (0, "network", 1)]
    assert (line.messages["first"][0], line.messages["passed"][0]) == (0, path["cycles"][0])
    assert 97 * 8 < path["cycles"][0] <= 98 * 8 + 6
    assert line.where()["interface"][0] == path["cycles"][0] + 1
    assert line.cycles == 800 - 1 + 11 + 1


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(ALL)), st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0, 0, 7]),
       st.sampled_from([0, 0, 5]), st.sampled_from([240, 100]))
def test_random_programs(tmp_path_factory, name, seed, messages, send_overhead, recv_overhead, payload):
    calls = random_calls(random.Random(seed), 7, messages)
    line = program_of(ALL[name], calls, tmp_path_factory.mktemp("t") / "p.csv", **{
        "traffic.send_overhead": send_overhead, "traffic.recv_overhead": recv_overhead,
        "traffic.payload_bytes": payload})
    frame, where, path = line.frame, line.where(), line.critical_path()
    assert line.ranks == 7 and set(frame["what"]) <= set(KINDS)
    for _, own in frame.groupby("rank"):
        assert own["begin"].iloc[0] == 0 and own["end"].iloc[-1] == line.cycles
        assert list(own["begin"])[1:] == list(own["end"])[:-1]
        assert (own["cycles"] > 0).all()
    assert (where.sum(axis=1) == line.cycles).all()
    computed = [sum(call[1] for call in own if call[0] == "compute") for own in calls]
    assert list(where["compute"]) == computed
    assert list(where["send"]) == [send_overhead * sum("send" in call[0] for call in own) for own in calls]
    assert list(where["receive"]) == [recv_overhead * sum("recv" in call[0] for call in own) for own in calls]
    m = line.messages
    assert len(m) == messages
    for earlier, later in pairwise(("ready", "first", "passed", "available", "received")):
        assert (m[earlier] <= m[later]).all()
    if line.cycles == 0:
        return
    assert path["begin"][0] == 0 and path["end"].iloc[-1] == line.cycles
    assert list(path["begin"])[1:] == list(path["end"])[:-1]
    assert path["cycles"].sum() == line.cycles
    check_steps(path, frame, m, line.cycles)


def check_steps(path, frame, messages, cycles):
    """Each step of the path is an interval of its rank or a part of a message's way, and the next one begins where it
    ends: in the same rank, or where the message is received."""
    intervals = set(rows(frame, "rank", "begin", "end", "what"))
    waits = set(rows(frame[frame["what"] == "message"], "rank", "end", "peer", "message"))
    ways = {(m.destination, m.message): m for m in messages.itertuples()}
    steps = list(path.itertuples())
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        after = following.rank if following else None
        if step.what == "network":
            m = ways[step.peer, step.message]
            assert (step.rank, step.begin, step.end) == (m.source, max(m.passed, m.ready), m.available)
            assert (step.peer, step.end, step.rank, step.message) in waits
            assert after in (step.peer, None)
        elif following and following.what == "network" and step.what == "interface" and (
                (step.rank, step.begin, step.end, step.what) not in intervals):
            m = ways[step.peer, step.message]
            assert (step.rank, step.begin, step.end) == (m.source, m.ready, m.passed)
        else:
            assert (step.rank, step.begin, step.end, step.what) in intervals
            assert step.what not in ("message", "done") and after in (step.rank, None)


@pytest.mark.parametrize("name", ALL)
def test_calls_are_made_in_the_cycles_in_which_the_network_makes_them(name, tmp_path):
    """The state of a rank is read before and after each of the cycles in which something should happen. The numbers in
    it never decrease, so this shows that nothing happens in other cycles."""
    draw = random.Random(name)
    ranks = 6
    e = experiment(ALL[name], random_calls(draw, ranks, 12), tmp_path / "p.csv",
                   **{"traffic.send_overhead": draw.choice([0, 3]), "traffic.recv_overhead": draw.choice([0, 4])})
    line, network = fl.timeline(e, progress=False), fl.Network(e)
    calls, messages = line.calls, line.messages
    made = [list(calls[calls["rank"] == rank]["cycle"]) for rank in range(ranks)]
    passed = [dict(zip(own["call"], own["passed"], strict=True)) for own in (
        messages[messages["source"] == rank] for rank in range(ranks))]
    ends = [max((*made[rank], *passed[rank].values(), 0)) for rank in range(ranks)]
    for cycle in sorted({after - early for own, sent in zip(made, passed, strict=True)
                         for after in (*own, *sent.values()) for early in (0, 1) if after >= early}):
        network.step(cycle + 1 - network.cycle)
        for rank in range(ranks):
            state = network.inspect("terminal", rank).part("program")
            assert state["next"] == sum(c <= cycle for c in made[rank])
            assert [call < state["sending"] for call in passed[rank]] == [c <= cycle for c in passed[rank].values()]
    network.step(line.cycles + 1 - network.cycle)
    assert all(end >= least for end, least in zip(network.program_ends, ends, strict=False))
    assert max(network.program_ends) == line.cycles


def test_files_of_calls_and_programs_in_toml(tmp_path):
    calls = [[("send", 1, 100, 0)], [("recv", 0, 0)]]
    (tmp_path / "p.csv").write_text("\n# a comment\n" + text(calls))
    (tmp_path / "p.toml").write_text('ranks = 2\n[[step]]\nif = "rank == 0"\ncall = "send"\npeer = 1\nbytes = 100\n'
                                     '[[step]]\nif = "rank == 1"\ncall = "recv"\npeer = 0\n')
    program = fl.Program(2)
    program[0].send(1, 100)
    program[1].recv(0)
    found = [fl.timeline({**RING, "traffic.mode": "program", "traffic.program_file": given}, progress=False)
             for given in (str(tmp_path / "p.csv"), str(tmp_path / "p.toml"), program)]
    assert [line.ranks for line in found] == [2, 2, 2]
    assert found[0].frame.equals(found[1].frame) and found[0].frame.equals(found[2].frame)
    (tmp_path / "all.csv").write_text("0,compute,9\n")
    line = fl.timeline({**RING, "traffic.mode": "program", "traffic.program_file": str(tmp_path / "all.csv")})
    assert (line.ranks, line.cycles) == (4, 9)
    assert rows(line.where(), "compute", "done") == [(9, 0), (0, 9), (0, 9), (0, 9)]


def test_a_program_without_calls(tmp_path):
    line = fl.timeline({**RING, "traffic.mode": "program", "traffic.program_file": fl.Program(3)})
    assert (line.cycles, len(line.frame), len(line.critical_path())) == (0, 0, 0)
    assert repr(line).endswith("critical path: nothing")
    line.plot()
    line.save(tmp_path / "t.pftrace")


def test_perfetto_file(tmp_path):
    line = program_of(NETWORKS["vc"], random_calls(random.Random(3), 5, 20), tmp_path / "p.csv",
                      **{"traffic.send_overhead": 4})
    line.save(tmp_path / "t.pftrace")
    trace = Trace((tmp_path / "t.pftrace").read_bytes())
    names = {track: name for track, (name, _) in trace.tracks.items()}
    found = sorted((names[track], begin, end, what, args) for track, begin, end, _, what, args in trace.slices()
                   if names[track].startswith("rank"))
    frame = line.frame[line.frame["what"] != "done"]
    columns = ["peer", "message", "bytes", "call"]
    assert [one[:4] for one in found] == sorted(
        (f"rank {rank}", *rest) for rank, *rest in rows(frame, "rank", "begin", "end", "what"))
    assert sum(len(args) for *_, args in found) == int(frame[columns].notna().sum().sum())
    path = [(begin, end, label) for track, begin, end, label, *_ in trace.slices() if names[track] == "critical path"]
    assert path[0][2].startswith("rank ") and [p[:2] for p in sorted(path)] == rows(
        line.critical_path(), "begin", "end")
    begins, ends = ({event[at]: (names[event[1]], event[2]) for event in trace.events if event[at]} for at in (6, 7))
    assert begins.keys() == ends.keys() and len(begins) == 20
    assert sorted((*begins[flow], *ends[flow]) for flow in begins) == sorted(
        (f"rank {m.source}", m.ready, f"rank {m.destination}", m.received) for m in line.messages.itertuples())
    under_way = [event[8] for event in trace.events if event[0] == 4]
    assert under_way[-1] == 0 < max(under_way)


def test_picture(tmp_path):
    line = program_of(RING, random_calls(random.Random(5), 4, 10), tmp_path / "p.csv")
    picture = line.plot()
    (axes,) = picture
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (cycles)", "rank")
    drawn = {c.get_label(): len(c.get_paths()) for c in axes.collections}
    assert sum(drawn.values()) == len(line.frame) and "waits for a message" in drawn
    (path,) = axes.lines
    assert path.get_xdata()[0] == 0 and path.get_xdata()[-1] == line.cycles
    picture.savefig(tmp_path / "t.png")
    assert not line.plot(path=False)[0].lines
    assert line.plot(picture)[0] is axes


@pytest.mark.parametrize("interval", [1, 7, 100, 10**6])
def test_channels_carry_the_flits_of_the_messages(interval, tmp_path):
    """A message of two packets of 8 flits goes over one channel, an answer of 1 flit over the channel back. The first
    flit is in the first router in cycle 1, has a route and a virtual channel in cycle 3, and then gets the switch."""
    e = experiment(RING, [[("send", 1, 480, 0), ("recv", 1, 1)], [("recv", 0, 0), ("send", 0, 1, 1)]],
                   tmp_path / "p.csv")
    line = fl.timeline(e, progress=False, interval=interval)
    channels, frame = line.channels, line.channels.frame
    there, back = (frame[(frame["router"] == r) & (frame["to_router"] == 1 - r)] for r in (0, 1))
    assert (there["flits"].sum(), back["flits"].sum(), frame["flits"].sum()) == (16, 1, 17)
    assert channels.flits.shape == (-(-line.cycles // interval), 8)
    assert frame["begin"].min() == 0 and frame["end"].max() == line.cycles
    assert (frame["flits"] == frame["use"] * (frame["end"] - frame["begin"])).all()
    if interval == 1:
        assert list(there[there["flits"] == 1]["begin"]) == list(range(3, 19))
    (axes,) = channels.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (cycles)", "channel (in order of routers and ports)")
    line.save(tmp_path / "t.pftrace")
    trace = Trace((tmp_path / "t.pftrace").read_bytes())
    counted = {}
    for kind, track, cycle, *_, value in trace.events:
        if kind == 4 and trace.tracks[track][1] == ("channels",):
            counted.setdefault(trace.tracks[track][0], []).append((cycle, value))
    assert {name.split(" port")[0]: sum(value for _, value in values) for name, values in counted.items()} == {
        "router 0": 16, "router 1": 1}
    assert all(values[-1] == (line.cycles, 0) for values in counted.values())


@pytest.mark.parametrize(("call", "message"), [
    (lambda line: line.channels, r"channels were not recorded. Use timeline\(..., interval=100\)"),
    (lambda line: fl.timeline(PROGRAM, interval=0), r"interval=0\): it must be a whole number of cycles"),
    (lambda line: fl.timeline(PROGRAM, interval=1.5), r"interval=1.5\)"),
    (lambda line: fl.timeline(PROGRAM, interval=1), "an interval of 2 or more is possible"),
    (lambda line: fl.timeline({"router.kind": "switch", "traffic.mode": "program", "traffic.program_file":
                               fl.Program(2)}, interval=9).channels.plot(), "nothing to draw"),
    (lambda line: fl.timeline(RING), "traffic.mode = \"open\" has no ranks"),
    (lambda line: line.save("t.json"), r"must end in .pftrace or .perfetto-trace"),
    (lambda line: line.save("no/folder/t.pftrace"), "cannot be written"),
    (lambda line: line.plot(path=3.5), "path = 3.5"),
    (lambda line: fl.Experiment(RING).program_text(), "the experiment has no program"),
    (lambda line: fl.timeline({"topology.kind": "mesh", "topology.shape": [40, 40], "traffic.mode": "program",
                               "traffic.program_file": fl.Program(1600)}).plot(), "1600 ranks; at most 1024"),
])
def test_errors(call, message, tmp_path):
    line = program_of(RING, [[("compute", 3)]], tmp_path / "p.csv")
    with pytest.raises(_core.ConfigError, match=message):
        call(line)


def test_a_replay_that_differs_from_the_run_is_an_error(tmp_path, monkeypatch):
    right = Replay.packet_created
    monkeypatch.setattr(Replay, "packet_created", lambda self, *given: right(self, *given[:-1], given[-1] + 1))
    with pytest.raises(_core.RunError, match="ends in other cycles than the run"):
        program_of(RING, [[("send", 1, 100, 0)], [("recv", 0, 0)]], tmp_path / "p.csv")
