"""Several jobs on one network: places of their ranks, times beside each other and alone, and messages."""

import random

import numpy as np
import pytest

import flitlab as fl
from flitlab.placements import places_of

MESH = {"topology.kind": "mesh", "topology.shape": [4, 4]}
DRAGONFLY = {"topology.kind": "dragonfly"}  # 9 groups of 4 routers with 2 terminals each


def ring(me):
    for _ in range(3):
        me.isend((me.rank + 1) % me.size, 4800)
        me.recv((me.rank - 1) % me.size)
    me.allreduce(480)


def rings(*ranks):
    return {chr(ord("a") + i): fl.Program.spmd(ring, n) for i, n in enumerate(ranks)}


def measured(programs, network=MESH, *more, **options):
    return fl.jobs(programs, network, *more, progress=False, **options)


def alone(program, network):
    """Time of a program that fl.run measures."""
    traffic = {"traffic.mode": "program", "traffic.program_file": program}
    return fl.run(fl.Experiment.from_dict(network).with_traffic(traffic), progress=False).model["program_cycles"]


def test_jobs_on_halves_of_a_mesh_do_not_slow_each_other_down():
    """Routes between routers of two neighbouring rows stay in these rows, so the jobs share no channel."""
    frame = measured(rings(8, 8)).frame
    assert list(frame.columns) == ["job", "ranks", "placement", "cycles_alone", "cycles_together", "slowdown"]
    assert list(frame["job"]) == ["a", "b"] and list(frame["ranks"]) == [8, 8]
    assert list(frame["placement"]) == ["linear"] * 2 and list(frame["slowdown"]) == [1.0, 1.0]
    assert frame["cycles_alone"][0] == frame["cycles_together"][0] > 0


def test_jobs_that_share_channels_slow_each_other_down():
    frame = measured(rings(8, 8), MESH, [range(0, 16, 2), range(1, 16, 2)]).frame
    assert list(frame["placement"]) == ["given"] * 2
    assert (frame["slowdown"] > 1.1).all()
    assert (frame["slowdown"] == frame["cycles_together"] / frame["cycles_alone"]).all()


def test_one_long_and_one_short_job():
    """The row of a job has the end of its own last rank, not of the whole run."""
    def compute(me):
        me.compute(100 * (me.rank + 1))

    def wait(me):
        me.compute(20_000)  # longer than run.watchdog_cycles

    found = measured([fl.Program.spmd(compute, 3), fl.Program.spmd(wait, 2), fl.Program(1, "nothing")])
    assert found.frame[["job", "cycles_alone", "cycles_together", "slowdown"]].values.tolist() == [
        ["compute", 300, 300, 1.0], ["wait", 20_000, 20_000, 1.0], ["nothing", 0, 0, 1.0]]


@pytest.mark.parametrize("network", [
    MESH, DRAGONFLY, {"router.kind": "switch", "topology.ports": 8},
    {"router.kind": "bgl", "topology.shape": [2, 2, 2]},
], ids=["mesh", "dragonfly", "switch", "Blue Gene/L"])
def test_a_job_alone_takes_as_long_as_the_run_of_its_program(network):
    programs = rings(4, 3)
    found = measured(programs, network)
    assert found.places == {"a": [0, 1, 2, 3], "b": [4, 5, 6]}
    assert found.frame["cycles_alone"][0] == alone(programs["a"], network)
    moved = fl.Program.together([programs["b"]], [found.places["b"]], 8)
    assert found.frame["cycles_alone"][1] == alone(moved, network)
    both = fl.Program.together(list(programs.values()), list(found.places.values()), 8)
    assert found.frame["cycles_together"].max() == alone(both, network)


def test_traffic_and_threads_are_options():
    wide = measured(rings(4), traffic={"traffic.flit_bytes": 64}, threads=2).frame["cycles_alone"][0]
    assert wide < measured(rings(4)).frame["cycles_alone"][0]
    with pytest.raises(fl.ConfigError, match=r"traffic\.load"):
        measured(rings(4), traffic={"traffic.load": 0.1})


def expanded(program):
    """[rank][call] (call, peer, amount), collectives expanded."""
    return [[call[:3] for call in calls] for calls in program.calls()]


def test_calls_are_the_same_on_other_terminals():
    def every_call(me):
        other = me.rank ^ 1
        out, back = me.isend(other, 500, tag=3), me.irecv(other, 500, tag=3)
        me.wait(back)
        me.wait(out)
        me.isend(other, 5)
        me.recv(other)
        me.compute(7)
        me.waitall()
        me.broadcast(2, 100)
        me.reduce(3, 8, cycles=4)
        me.allreduce(16, group=[3, 2, 1, 0])
        me.alltoall(32, group=[me.rank & 2, (me.rank & 2) + 1])
        me.barrier()

    program = fl.Program.spmd(every_call, 4)
    where = [9, 2, 7, 0]
    both = fl.Program.together([program, program], [where, [1, 3, 5, 11]], 12)
    first, moved = expanded(program), expanded(both)
    for rank, place in enumerate(where):
        assert moved[place] == [(call, peer if call in ("compute", "wait") else where[peer], amount)
                                for call, peer, amount in first[rank]]
    assert moved[4] == []
    assert len(both) == 12


def test_programs_of_files_are_jobs(tmp_path):
    rings(4)["a"].save(tmp_path / "a.csv")
    (tmp_path / "b.toml").write_text('ranks = 2\n[[step]]\ncall = "allreduce"\nbytes = 64\n')
    found = measured([tmp_path / "a.csv", str(tmp_path / "b.toml")])
    assert list(found.frame["ranks"]) == [4, 2]
    assert found.frame["cycles_alone"][0] == alone(rings(4)["a"], MESH)


def test_equal_names_get_numbers():
    assert list(measured([*rings(2).values(), fl.Program.spmd(ring, 2), fl.Program.spmd(ring, 2)]).frame["job"]) == [
        "ring", "ring 2", "ring 3"]


def places(placement, ranks, network=MESH, **options):
    return places_of(placement, ranks, fl.Experiment.from_dict(network), **options)


def test_random_places_depend_on_the_seed_only():
    ranks = {"a": 8, "b": 7}
    one, again, two = (places("random", ranks, seed=seed) for seed in (1, 1, 2))
    assert one == again != two
    assert len({*one["a"], *one["b"]}) == 15 and {*one["a"], *one["b"]} < set(range(16))
    assert one["a"] != sorted(one["a"])
    first, second = (measured(rings(8, 7), MESH, "random", seed=5) for _ in range(2))
    assert first.places == second.places and first.frame.equals(second.frame)


@pytest.mark.parametrize("network, options, size", [
    (DRAGONFLY, {}, 8), ({"topology.kind": "megafly"}, {}, 8), (MESH, {}, 1), (MESH, {"group_terminals": 4}, 4),
    ({"topology.kind": "cmesh"}, {}, 4), ({"router.kind": "bgl", "topology.shape": [4, 4]}, {}, 1),
], ids=["dragonfly", "megafly", "mesh", "mesh by 4", "cmesh", "Blue Gene/L"])
def test_jobs_fill_whole_groups(network, options, size):
    found = places("group", {"a": 5, "b": 3, "c": 1}, network, **options)
    first_of_b = -(-5 // size) * size
    first_of_c = first_of_b + -(-3 // size) * size
    assert found == {"a": list(range(5)), "b": [first_of_b + i for i in range(3)], "c": [first_of_c]}
    drawn = places("random_group", {"a": 5, "b": 3, "c": 1}, network, seed=3, **options)
    groups = [{terminal // size for terminal in drawn[job]} for job in "abc"]
    assert [len(mine) for mine in groups] == [-(-5 // size), -(-3 // size), 1]
    assert len(set.union(*groups)) == sum(map(len, groups))
    assert drawn == places("random_group", {"a": 5, "b": 3, "c": 1}, network, seed=3, **options)
    assert drawn != places("random_group", {"a": 5, "b": 3, "c": 1}, network, seed=4, **options)


def test_groups_of_a_dragonfly_that_has_lost_a_router():
    """Router 1 has failed with terminals 2 and 3, so the first group has six terminals."""
    assert places("group", {"a": 1, "b": 1}, DRAGONFLY | {"topology.failed_routers": [1]}) == {"a": [0], "b": [6]}


def test_places_from_a_file(tmp_path):
    found = {"a": [3, 1], "b, or not b": [0, 2, 5]}
    lines = [f"{job},{rank},{terminal}" for job, mine in found.items() for rank, terminal in enumerate(mine)]
    random.Random(1).shuffle(lines)
    (tmp_path / "places.csv").write_text("# places\n\nJob,Rank,Terminal\n" + "\n".join(lines) + "\n")
    ranks = {job: len(mine) for job, mine in found.items()}
    assert places(tmp_path / "places.csv", ranks) == places(str(tmp_path / "places.csv"), ranks) == found
    (tmp_path / "places.csv").write_text("".join(f"{line}\r\n".replace("a,", "0 , ") for line in lines))
    assert places(tmp_path / "places.csv", ranks) == found
    assert places({"b, or not b": (0, 2, 5), "a": (3, 1)}, ranks) == found
    assert places(np.array([[4, 2], [1, 3]]), {"a": 2, "b": 2}) == {"a": [4, 2], "b": [1, 3]}


@pytest.mark.parametrize("text, message", [
    ("x,1,2", r"p.csv:1: 'x,1,2': there is no job 'x'. Jobs are a, b, or their numbers from 0"),
    ("a,0,0\na,1", r"p.csv:2: 'a,1': a line is JOB,RANK,TERMINAL, for example a,0,5"),
    ("a,zero,0", r"p.csv:1: 'a,zero,0': a line is JOB,RANK,TERMINAL"),
    ("a,2,0", r"p.csv:1: 'a,2,0': job a has no rank 2: its ranks are 0 to 1"),
    ("a,0,0\na,0,1", r"p.csv:2: 'a,0,1': rank 0 of job a has terminal 0 already. Remove one of the two lines"),
    ("a,0,16", r"p.csv:1: 'a,0,16': terminal 16 of rank 0 of job a does not exist: terminals are numbered 0 to 15"),
    ("a,0,5\nb,0,5", r"p.csv:2: 'b,0,5': terminal 5 is given to rank 0 of job a and to rank 0 of job b. .* another"),
    ("a,0,0\nb,0,1", r"p.csv has no terminal for rank 1 of job a, which has 2 ranks. Add a line a,1,TERMINAL"),
    ("", r"p.csv has no terminal for rank 0 of job a"),
])
def test_a_wrong_line_has_one_message(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(fl.ConfigError, match=message) as caught:
        places(tmp_path / "p.csv", {"a": 2, "b": 1})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("placement, options, message", [
    ("liner", {}, r"placement = 'liner': it must be linear, random, group, random_group, .* Did you mean linear"),
    ("missing.csv", {}, r"placement: missing.csv cannot be read: No such file"),
    ([[0, 1]], {}, r"placement = \[\[0, 1\]\]: it must have a list of terminals for each of the 2 jobs \(a, b\)"),
    ([[0, 1], [2], [3]], {}, r"must have a list of terminals for each of the 2 jobs"),
    ({"a": [0, 1], "c": [2]}, {}, r"must have a list of terminals for each of the 2 jobs \(a, b\)"),
    (7, {}, r"placement = 7: it must have a list"),
    ([[0], [1]], {}, r"placement: job a has 2 ranks, and \[0\] is not a list of 2 terminals"),
    ([[0, 1], 2], {}, r"placement: job b has 1 ranks, and 2 is not a list of 1 terminals"),
    ([[0, 1], [1]], {}, r"placement: terminal 1 is given to rank 1 of job a and to rank 0 of job b"),
    ([[0, 1], [16]], {}, r"placement: terminal 16 of rank 0 of job b does not exist: terminals are numbered 0 to 15"),
    ([[0, 1], [1.5]], {}, r"placement: terminal 1.5 of rank 0 of job b does not exist"),
    ("random", {"seed": -1}, r"seed = -1: it must be a whole number, 0 or more"),
    ("group", {"group_terminals": 0}, r"group_terminals = 0: it must be 1 to 16"),
    ("group", {"group_terminals": 9}, None),
    ("group", {"group_terminals": 16}, r"placement = 'group': no group is free for rank 0 of job b.* 1 groups of 16"),
])
def test_a_wrong_placement_has_one_message(placement, options, message):
    if message is None:
        assert places(placement, {"a": 2, "b": 1}, **options) == {"a": [0, 1], "b": [9]}
        return
    with pytest.raises(fl.ConfigError, match=message):
        places(placement, {"a": 2, "b": 1}, **options)


def test_wrong_programs_have_one_message(tmp_path):
    with pytest.raises(fl.ConfigError, match=r"a has 9 ranks, b has 8 ranks, and the network has 16 terminals.* fewer"):
        measured(rings(9, 8))
    for wrong in ([], {}, "a.csv", None, fl.Program(2)):
        with pytest.raises(fl.ConfigError, match="give a list of programs, or a dictionary"):
            measured(wrong)
    for wrong in ([3], {"a": None}, {3: fl.Program(2)}):
        with pytest.raises(fl.ConfigError, match="is not a program: give a Program, or the name of a file"):
            measured(wrong)
    with pytest.raises(fl.ConfigError, match=r'lonely \(compiled\):2: "0,recv,1": rank 1 sends no message'):
        lonely = fl.Program(2, "lonely")
        lonely[0].recv(1)
        measured([fl.Program(2), lonely])
    with pytest.raises(fl.ConfigError, match="cannot be read"):
        measured([tmp_path / "missing.csv"])
    for places in ([[0, 1], [1, 2]], [[0, 1]], [[0], [1]], [[0, 1], [2, 4]], [[0, 1], [2, -1]]):
        with pytest.raises(fl.ConfigError, match=r"Program\.together: give each rank .* a place from 0 to 3"):
            fl.Program.together([fl.Program(2), fl.Program(2)], places, 4)


def test_a_table_and_a_picture():
    found = measured(rings(4, 4))
    axes, = found.plot()
    assert axes.get_ylabel() == "time (cycles)" and [t.get_text() for t in axes.get_xticklabels()] == ["a", "b"]
    assert [bar.get_height() for bar in axes.patches] == [*found.frame["cycles_alone"], *found.frame["cycles_together"]]
    assert [text.get_text() for text in axes.texts] == ["x 1.00", "x 1.00"]
    assert "slowdown" in repr(found) and "slowdown" in found._repr_html_()
