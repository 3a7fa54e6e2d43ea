"""The time line of a program with several ranks on a terminal: messages and notifies between them, shared processors,
and the network interface that they share."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto_files import Trace
from random_programs import NETWORKS, experiment, random_calls, random_places

import flitlab as fl
from flitlab.program_times import KINDS

BGL = {"router.kind": "bgl", "topology.shape": [2, 2, 2]}
ALL = NETWORKS | {"bgl": BGL, "bgl, busy processors": {**BGL, "software.packet_time": 20, "software.chunk_time": 5}}
RING = {"topology.kind": "ring", "topology.shape": [4]}
OVERHEADS = {"traffic.send_overhead": 7, "traffic.recv_overhead": 3}


def rows(frame, *columns):
    return [tuple(row) for row in frame[list(columns)].astype(object).itertuples(index=False)]


def line_of(network, calls, places, path, **more):
    return fl.timeline(experiment(network, calls, path, places, **more), progress=False)


def test_a_rank_waits_for_a_processor_that_another_one_uses(tmp_path):
    """Rank 0 uses the processor twice, because it is visited first in cycle 100. The packet of 8 flits is created in
    cycle 180, and its receiver can take it 11 + 8 cycles later (test_timeline.py)."""
    calls = [[("compute", 100), ("compute", 50)], [("compute", 30), ("send", 2, 240, 0)], [("recv", 1, 0)]]
    line = line_of(RING, calls, [(0, 4), (0, 4), (1, 4)], tmp_path / "p.csv")
    assert line.terminals == [0, 0, 1]
    assert rows(line.frame, "rank", "begin", "end", "what") == [
        (0, 0, 100, "compute"), (0, 100, 150, "compute"), (0, 150, 199, "done"),
        (1, 0, 150, "processor"), (1, 150, 180, "compute"), (1, 180, 181, "interface"), (1, 181, 199, "done"),
        (2, 0, 199, "message")]
    assert rows(line.frame[line.frame["what"] == "processor"], "peer", "call") == [(0, 0)]
    assert rows(line.critical_path(), "rank", "begin", "end", "what") == [
        (0, 0, 100, "compute"), (0, 100, 150, "compute"), (1, 150, 180, "compute"), (1, 180, 199, "network")]
    assert rows(line.calls, "rank", "cycle") == [(0, 0), (0, 100), (1, 150), (1, 180), (2, 199)]


def test_the_rank_with_the_lowest_number_is_next(tmp_path):
    calls = [[("recv", 3, 0), ("compute", 10)], [("compute", 10)], [("compute", 10)],
             [("compute", 5), ("send", 0, 1, 0)]]
    line = line_of(RING, calls, [(0, 0), (0, 0), (0, 0), (0, 1)], tmp_path / "p.csv")
    assert rows(line.frame[line.frame["what"] == "compute"], "rank", "begin") == [(0, 10), (1, 0), (2, 20), (3, 0)]
    assert rows(line.frame[line.frame["what"] == "processor"], "rank", "begin", "end", "peer") == [
        (0, 5, 10, 1), (2, 0, 20, 0)]
    assert rows(line.critical_path(), "rank", "what") == [(1, "compute"), (0, "compute"), (2, "compute")]


@pytest.mark.parametrize(("notified", "order"), [(0, [2, 0]), (2, [2, 3])])
def test_a_rank_that_is_notified_is_visited_after_its_notifier(notified, order, tmp_path):
    """In cycle 20, rank 1 notifies a rank, which then needs a processor that another rank needs, too. Rank 2 or 3 is
    visited later than rank 1 in that cycle; rank 0 has been visited before, so it is visited again after rank 2."""
    (rival,) = set(order) - {notified}
    calls = [[] for _ in range(4)]
    calls[1] = [("compute", 20), ("notify", notified, 0)]
    calls[notified] = [("after", 1, 0), ("compute", 10)]
    calls[rival] = [("compute", 20), ("compute", 10)]
    places = [(0, 5) if rank in order else (0,) for rank in range(4)]
    frame = line_of(RING, calls, places, tmp_path / "p.csv").frame
    later = frame[(frame["what"] == "compute") & (frame["begin"] >= 20)].sort_values("begin")
    assert rows(later, "rank", "begin") == [(order[0], 20), (order[1], 30)]
    assert rows(frame[frame["what"] == "after"], "rank", "begin", "end", "peer") == [(notified, 0, 20, 1)]


def test_messages_between_ranks_of_a_terminal_take_the_overheads_only(tmp_path):
    calls = [[("compute", 5), ("isend", 1, 480, 0, 0), ("notify", 2, 1), ("wait", 0)], [("recv", 0, 0)],
             [("after", 0, 1), ("compute", 9)]]
    line = line_of(RING, calls, [(0,), (0,), (0,)], tmp_path / "p.csv", **OVERHEADS)
    assert rows(line.frame, "rank", "begin", "end", "what") == [
        (0, 0, 5, "compute"), (0, 5, 12, "send"), (0, 12, 21, "done"),
        (1, 0, 12, "message"), (1, 12, 15, "receive"), (1, 15, 21, "done"),
        (2, 0, 12, "after"), (2, 12, 21, "compute")]
    columns = ("source", "destination", "bytes", "packets", "ready", "first", "passed", "available", "received")
    assert rows(line.messages, *columns) == [(0, 1, 480, 0, 12, 12, 12, 12, 12)]
    assert rows(line.critical_path(), "rank", "begin", "end", "what") == [
        (0, 0, 5, "compute"), (0, 5, 12, "send"), (2, 12, 21, "compute")]
    assert repr(line).startswith(f"{line.name}: 3 ranks, 1 messages, 21 cycles")


def test_ranks_share_the_network_interface(tmp_path):
    """The interface takes the two messages of 100 packets one after the other, each of them whole."""
    line = line_of(RING, [[("send", 2, 24000, 0)], [("send", 2, 24000, 1)], [("recv", 0, 0), ("recv", 1, 1)]],
                   [(0,), (0,), (1,)], tmp_path / "p.csv")
    first, second = line.messages.sort_values("source").itertuples()
    assert first.first == 0 and 97 * 8 < first.passed <= 98 * 8 + 6
    assert second.ready == 0 and second.first > first.passed and second.passed - second.first >= 99 * 8
    assert rows(line.critical_path(), "rank", "what") == [(1, "interface"), (1, "network")]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(list(ALL)), st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 4), st.integers(1, 40),
       st.sampled_from([0, 0, 7]), st.sampled_from([0, 0, 5]))
def test_random_programs(tmp_path_factory, name, seed, ranks, terminals, messages, send_overhead, recv_overhead):
    """timeline() itself compares the end of each rank with the run."""
    draw = random.Random(seed)
    places = random_places(draw, ranks, terminals)
    calls = random_calls(draw, ranks, messages, places)
    line = line_of(ALL[name], calls, places, tmp_path_factory.mktemp("t") / "p.csv", **{
        "traffic.send_overhead": send_overhead, "traffic.recv_overhead": recv_overhead})
    frame, where, path = line.frame, line.where(), line.critical_path()
    assert line.terminals == [place[0] for place in places] and set(frame["what"]) <= set(KINDS)
    for _, own in frame.groupby("rank"):
        assert own["begin"].iloc[0] == 0 and own["end"].iloc[-1] == line.cycles
        assert list(own["begin"])[1:] == list(own["end"])[:-1]
        assert (own["cycles"] > 0).all()
    assert (where.sum(axis=1) == line.cycles).all()
    assert list(where["compute"]) == [sum(call[1] for call in own if call[0] == "compute") for own in calls]
    assert list(where["send"]) == [send_overhead * sum("send" in call[0] for call in own) for own in calls]
    assert list(where["receive"]) == [recv_overhead * sum("recv" in call[0] for call in own) for own in calls]
    check_processors(frame, places)
    check_messages(line.messages, places, sum(call[0] in ("send", "isend") for own in calls for call in own))
    assert path["cycles"].sum() == line.cycles
    if line.cycles:
        assert path["begin"][0] == 0 and path["end"].iloc[-1] == line.cycles
        assert list(path["begin"])[1:] == list(path["end"])[:-1]
        assert not set(path["what"]) & {"message", "after", "processor", "done"}
        intervals = set(rows(frame, "rank", "begin", "end", "what"))
        messages = {(m.source, m.call): m for m in line.messages.itertuples()}
        for step in path.itertuples():
            of = (step.rank, step.begin, step.end, step.what)
            if of not in intervals:
                m = messages[step.rank, step.call]
                assert of[1:] in ((m.ready, m.passed, "interface"), (m.passed, m.available, "network"))


def check_processors(frame, places):
    """A processor does one thing at a time. Other ranks use it during all of a wait, and ``peer`` at the end of it."""
    work = frame[frame["what"].isin(["compute", "send", "receive"])]
    shared = {place for place in places if len(place) > 1}
    for place in shared:
        ranks = [rank for rank, other in enumerate(places) if other == place]
        own = work[work["rank"].isin(ranks)].sort_values("begin")
        assert all(one <= other for one, other in zip(own["end"], own["begin"][1:], strict=False))
        for wait in frame[frame["rank"].isin(ranks) & (frame["what"] == "processor")].itertuples():
            during = own[(own["begin"] < wait.end) & (own["end"] > wait.begin)]
            assert wait.rank not in set(during["rank"])
            used = during["end"].clip(upper=wait.end) - during["begin"].clip(lower=wait.begin)
            assert used.sum() == wait.cycles
            assert (during["rank"].iloc[-1], during["end"].iloc[-1]) == (wait.peer, wait.end)
    alone = [rank for rank, place in enumerate(places) if places.count(place) == 1 or place not in shared]
    assert not (frame[frame["rank"].isin(alone)]["what"] == "processor").any()


def check_messages(m, places, number):
    assert len(m) == number
    for earlier, later in pairwise(("ready", "first", "passed", "available", "received")):
        assert (m[earlier] <= m[later]).all()
    here = [places[a][0] == places[b][0] for a, b in zip(m["source"], m["destination"], strict=True)]
    assert list(m["packets"] == 0) == here and (m["ready"] == m["available"])[here].all()


@pytest.mark.parametrize("name", ALL)
def test_calls_are_made_in_the_cycles_in_which_the_network_makes_them(name, tmp_path):
    """The number of calls that each rank has made is read before and after each cycle in which it should change."""
    draw = random.Random(name)
    places = random_places(draw, 7, 3)
    e = experiment(ALL[name], random_calls(draw, 7, 30, places), tmp_path / "p.csv", places, **{
        "traffic.send_overhead": draw.choice([0, 3]), "traffic.recv_overhead": draw.choice([0, 4])})
    line, network = fl.timeline(e, progress=False), fl.Network(e)
    made = [list(line.calls[line.calls["rank"] == rank]["cycle"]) for rank in range(7)]
    numbers = [line.terminals[:rank].count(terminal) for rank, terminal in enumerate(line.terminals)]
    for cycle in sorted({max(0, after - early) for own in made for after in own for early in (0, 1)}):
        network.step(cycle + 1 - network.cycle)
        for rank, (terminal, number) in enumerate(zip(line.terminals, numbers, strict=True)):
            state = network.inspect("terminal", terminal).part("program", number)
            assert state["next"] == sum(c <= cycle for c in made[rank]), (cycle, rank)


def test_a_graph_of_calls(tmp_path):
    """The two computations of rank 0 share a processor; its chains notify one another."""
    (tmp_path / "p.goal").write_text("num_ranks 2\nrank 0 {\na: calc 100\nb: calc 30\nc: send 240b to 1\n"
                                     "c requires a\nc requires b\n}\nrank 1 {\nrecv 240b from 0\n}\n")
    line = fl.timeline({**RING, "traffic.mode": "program", "traffic.program_file": str(tmp_path / "p.goal")},
                       progress=False)
    assert line.terminals == [0, 0, 1]
    assert list(line.where()["compute"]) in ([100, 30, 0], [30, 100, 0]) and line.where()["after"].sum() > 0
    assert line.cycles == 130 + 11 + 8
    assert line.critical_path().groupby("what")["cycles"].sum().to_dict() == {"compute": 130, "network": 19}


def test_perfetto_file_and_picture(tmp_path):
    draw = random.Random(8)
    places = random_places(draw, 6, 2)
    calls = random_calls(draw, 6, 40, places)
    line = line_of(NETWORKS["vc"], calls, places, tmp_path / "p.csv", **OVERHEADS)
    line.save(tmp_path / "t.pftrace")
    trace = Trace((tmp_path / "t.pftrace").read_bytes())
    names = {track: name for track, (name, _) in trace.tracks.items()}
    found = sorted((names[track], begin, end, what) for track, begin, end, _, what, _ in trace.slices()
                   if names[track].startswith("rank"))
    frame = line.frame[line.frame["what"] != "done"]
    assert {"after", "processor"} <= set(frame["what"])
    assert found == sorted((f"rank {rank} (terminal {places[rank][0]})", *rest)
                           for rank, *rest in rows(frame, "rank", "begin", "end", "what"))
    begins, ends = ({event[at]: (names[event[1]], event[2]) for event in trace.events if event[at]} for at in (6, 7))
    notified = sum(call[0] == "notify" for own in calls for call in own)
    assert begins.keys() == ends.keys() and len(begins) == len(line.messages) + notified and notified > 0
    under_way = [event[8] for event in trace.events if event[0] == 4]
    assert under_way[-1] == 0 <= min(under_way)
    drawn = {c.get_label() for c in line.plot()[0].collections}
    assert {"waits for a notify", "waits for its processor"} <= drawn
