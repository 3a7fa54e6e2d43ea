"""Messages that are matched during the run: models against their time lines, files of GOAL, programs that stop."""

import random
import struct

import pytest
from random_programs import NETWORKS, experiment, random_calls

import flitlab as fl

ALL = NETWORKS | {"bgl": {"router.kind": "bgl", "topology.shape": [2, 2, 2]},
                  "bgl, busy processors": {"router.kind": "bgl", "topology.shape": [2, 2, 2],
                                           "software.packet_time": 20, "software.chunk_time": 5},
                  "vc, minimal adaptive": {"topology.kind": "mesh", "topology.shape": [3, 3], "router.vcs": 4,
                                           "routing.algorithm": "minimal_adaptive"}}
MESH = {"topology.kind": "mesh", "topology.shape": [3], "traffic.mode": "program"}


def with_any(draw, calls):
    """The same calls, in which some receives, or all of them, accept messages from any source or with any tag."""
    every = draw.random() < .5
    changed = []
    for own in calls:
        changed.append([])
        for call, *arguments in own:
            if call in ("recv", "irecv") and (every or draw.random() < .8):
                arguments[:2] = ["any" if every or draw.random() < .5 else arguments[0], "any"]
            changed[-1].append((call, *arguments))
    return changed


@pytest.mark.parametrize("name", ALL)
def test_every_model_ends_as_its_time_line_says(name, tmp_path):
    """timeline() computes the end of each rank from the arrivals and matches of the run."""
    draw, ended = random.Random(name), 0
    for number in range(8):
        e = experiment(ALL[name], with_any(draw, random_calls(draw, 6, 20)), tmp_path / f"{number}.csv", **{
            "traffic.send_overhead": draw.choice([0, 3]), "traffic.recv_overhead": draw.choice([0, 4])})
        try:
            line = fl.timeline(e, progress=False)
        except fl.RunError as error:
            assert "the program cannot continue" in str(error)
            continue
        except fl.ConfigError as error:
            assert "cannot end on any network" in str(error)
            continue
        ended += 1
        messages = line.messages
        assert (messages["received"] >= messages["available"]).all() and len(messages) == 20
        assert (line.where().sum(axis=1) == line.cycles).all()
        assert line.critical_path()["cycles"].sum() == line.cycles
    assert ended >= 2


@pytest.mark.parametrize("network", [
    {"router.kind": "bgl", "topology.shape": [4, 4, 2]},
    {"topology.kind": "mesh", "topology.shape": [4, 4], "router.vcs": 4, "routing.algorithm": "minimal_adaptive"}])
def test_messages_that_overtake_others_wait_for_them(network):
    """Packets overtake one another on adaptive routes. A message that overtakes an earlier one arrives together with
    it."""
    draw, ranks = random.Random(0), 16
    program, received = fl.Program(ranks), [0] * ranks
    for me in program:
        for _ in range(30):
            other = (me.rank + draw.randrange(1, ranks)) % ranks
            me.isend(other, draw.choice([1, 200, 700]))
            received[other] += 1
    for me, count in zip(program, received, strict=True):
        for _ in range(count):
            me.recv("any")
    messages = fl.timeline({**network, "traffic.mode": "program", "traffic.program_file": program},
                           progress=False).messages.sort_values(["source", "destination", "message"])
    later = messages.groupby(["source", "destination"])["available"].diff().dropna()
    assert (later >= 0).all() and (later == 0).any()


def test_results_do_not_depend_on_threads_and_copies(tmp_path):
    draw = random.Random(4)
    e = experiment(ALL["vc"], with_any(draw, random_calls(draw, 9, 40)), tmp_path / "p.csv")
    found = {fl.run(e, progress=False, backend="cpu", threads=threads).state_hash for threads in (1, 2, 3)}
    stepped = fl.Network(e)
    stepped.step(int(fl.run(e, progress=False).cycles))
    assert found == {stepped.state_hash}


def test_a_run_says_that_its_messages_are_matched(tmp_path):
    program = fl.Program(2)
    program[0].send(1, 100_000)
    program[1].recv("any")
    result = fl.run({**MESH, "traffic.program_file": program}, progress=False)
    assert "matched during the run" in result.stepped_because and result.stepped_cycles == result.cycles


def test_a_program_that_stops_is_named():
    """The first receive takes the message of rank 0, which is the only one that the second receive accepts."""
    program = fl.Program(3)
    program[0].send(2, 8)
    program[1].compute(500)
    program[1].send(2, 8)
    program[2].recv("any")
    program[2].recv(0)
    with pytest.raises(fl.RunError, match=r"rank 2 waits for a message from rank 0 with tag 0\. No such message"):
        fl.run({**MESH, "traffic.program_file": program}, progress=False)
    network = fl.Network({**MESH, "traffic.program_file": program})
    network.step(600)
    with pytest.raises(fl.RunError, match="the program cannot continue"):
        network.check()


def test_numbers_and_words_in_python():
    program = fl.Program(2)
    with pytest.raises(fl.ConfigError, match="peer = 'any' must be a whole number"):
        program[0].send("any", 8)
    program[0].send(1, 8, tag=3)
    program[1].recv(0, tag="any")
    assert program.calls() == [[("send", 1, 8, 0)], [("recv", -1, 0, 0)]]
    with pytest.raises(fl.ConfigError, match="ranks are numbered 0 to 1"):
        program.thread(2, 0)


def test_programs_side_by_side_keep_their_words():
    one = fl.Program(2)
    one[0].send(1, 8)
    one[1].recv("any", tag="any")
    both = fl.Program.together([one, one], [(0, 1), (2, 3)], 4)
    assert [calls[0][0] for calls in both.calls()] == ["send", "recv", "send", "recv"]
    assert b"3,recv,any,,any" in both.text()


GOAL = """num_ranks 3
rank 0 {
a: calc 50
s: send 8b to 2 tag 4
s requires a
}
rank 1 {
send 8b to 2 tag 5
}
rank 2 {
first: recv 8b from -1 tag -1
work: calc 5
second: recv 8b from -1 tag 4
work requires first
}
"""


def binary(text_lists):
    """A binary file of GOAL without dependencies: [rank] calls (kind, peer, bytes, tag)."""
    bodies = []
    for calls in text_lists:
        nodes = b"".join(struct.pack("<IbIQIBBIIII", 0, kind, peer % 2**32, size, tag % 2**32, 0, 0, 0, 0, 0, 0)
                         for kind, peer, size, tag in calls)
        bodies.append(struct.pack("<II", len(calls), 0) + nodes)
    offsets, at = [], 6 + 16 * len(bodies)
    for body in bodies:
        offsets.append((at, len(body)))
        at += len(body)
    return (struct.pack("<QIBB", 4223, len(bodies), 1, 1) + b"".join(struct.pack("<QQ", *one) for one in offsets)
            + b"".join(bodies))


def test_goal_from_any_source(tmp_path):
    """The receive with any tag is posted first and gets the message of rank 1. Rank 2 ends with that of rank 0."""
    (tmp_path / "t.goal").write_text(GOAL)
    program = fl.read_program(tmp_path / "t.goal")
    e = {**MESH, "traffic.program_file": program}
    line = fl.timeline(e, progress=False)
    last = line.messages.set_index("source")["available"]
    assert last[1] < last[0] == line.cycles
    assert "1,thread" not in program.text().decode() and "thread,3,2" in program.text().decode()


def test_binary_goal_from_any_source(tmp_path):
    (tmp_path / "t.bin").write_bytes(binary([[(1, 2, 8, 0)], [(1, 2, 8, 7)], [(2, -1, 8, -1), (2, -1, 8, -1)]]))
    program = fl.read_program(tmp_path / "t.bin")
    assert fl.run({**MESH, "traffic.program_file": program}, progress=False).model["program_cycles"] > 0


@pytest.mark.parametrize(("change", "part"), [
    (("send 8b to 2 tag 5", "send 8b to 2 tag 3000000000"), "line 8: tag 3000000000 is not possible"),
    (("send 8b to 2 tag 5", "calc 5"), "rank 2 receives 2 messages, and 1 are sent to it"),
    (("send 8b to 2 tag 5", "send 8b to -1 tag 5"), ":8: only a receive can have any peer"),
])
def test_wrong_goal_files_are_named(change, part, tmp_path):
    (tmp_path / "t.goal").write_text(GOAL.replace(*change))
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(tmp_path / "t.goal")
    assert part in str(error.value) and "t.goal" in str(error.value)
