"""Programs from Python functions, from TOML, and in experiments; expressions."""

import pickle
import random

import pytest

import flitlab as fl
from flitlab import _core
from flitlab.expressions import Expression
from flitlab.programs import CALLS, TOML_CALLS, Program


def lines(program):
    return program.text().decode().splitlines()


def ring(me):
    me.send((me.rank + 1) % me.size, 240)
    me.recv((me.rank - 1) % me.size)
    me.barrier()


def test_a_function_of_a_rank_becomes_calls():
    program = fl.Program.spmd(ring, 3)
    assert lines(program) == [
        "ranks,3",
        "0,send,1,240", "0,recv,2", "0,barrier",
        "1,send,2,240", "1,recv,0", "1,barrier",
        "2,send,0,240", "2,recv,1", "2,barrier",
    ]
    assert repr(program) == "<Program ring: 3 ranks, 9 calls>"


def test_every_call_has_its_line_and_is_read():
    program = fl.Program(4)
    for me in program:
        other = me.rank ^ 1
        me.compute(10)
        out, back = me.isend(other, 500, tag=3), me.irecv(other, 500, tag=3)
        me.wait(back)
        me.wait(out)
        me.isend(other, 5)
        me.irecv(other)
        me.waitall()
        me.broadcast(2, 100)
        me.reduce(3, 8, cycles=4)
        me.allreduce(8)
        me.allgather(16, group=[3, 2, 1, 0])
        me.alltoall(32, group=range(me.rank // 2 * 2, me.rank // 2 * 2 + 2))
        me.barrier()
    assert lines(program)[:5] == ["ranks,4", "group,1,3,2,1,0", "group,2,0,1", "group,3,2,3", "0,compute,10"]
    assert [line for line in lines(program) if line.startswith("3,")] == [
        "3,compute,10", "3,isend,2,500,3,1", "3,irecv,2,500,3,2", "3,wait,2", "3,wait,1", "3,isend,2,5,,3",
        "3,irecv,2,,,4", "3,waitall", "3,broadcast,2,100", "3,reduce,3,8,4", "3,allreduce,8", "3,allgather,16,1",
        "3,alltoall,32,3", "3,barrier",
    ]
    calls = program.calls()
    assert len(calls) == 4
    assert calls[3][:6] == [("compute", 0, 10, 0), ("isend", 2, 500, 0), ("irecv", 2, 3, 0), ("recv", 2, 3, 0),
                            ("wait", 0, 1, 0), ("isend", 2, 5, 1)]


def test_programs_are_saved_and_read_again(tmp_path):
    program = fl.Program.spmd(ring, 5)
    program.save(tmp_path / "ring.csv")
    assert (tmp_path / "ring.csv").read_bytes() == program.text()
    assert pickle.loads(pickle.dumps(program)).text() == program.text()


def test_files_of_calls_are_read(tmp_path):
    def groups(me):
        me.allreduce(8, cycles=3, group=[2, 0, 1])
        me.irecv((me.rank + 1) % 3, tag=2)
        me.send((me.rank - 1) % 3, 8, tag=2)
        me.barrier([0, 1, 2])
        me.barrier()

    program = fl.Program.spmd(groups, 3)
    program.save(tmp_path / "a.csv")
    again = Program.from_file(str(tmp_path / "a.csv"))
    assert again.text() == program.text() and again.name == str(tmp_path / "a.csv")
    spaced = program.text().decode().replace("\n", "\r\n").replace(",", " , ").replace("ranks", "# three\n\nranks")
    (tmp_path / "a.csv").write_text(spaced)
    assert Program.from_file(tmp_path / "a.csv").text() == program.text()
    (tmp_path / "a.toml").write_text('[[step]]\ncall = "barrier"\n')
    (tmp_path / "b.csv").write_text("0,barrier\n1,barrier")
    assert lines(Program.from_file(tmp_path / "a.toml", 2)) == lines(Program.from_file(tmp_path / "b.csv", 2)) == [
        "ranks,2", "0,barrier", "1,barrier"]


@pytest.mark.parametrize("text, message", [
    ("0,barrier", r"a\.csv does not give its number of ranks: write ranks,NUMBER in its first line"),
    ("ranks,2\n0,recv,1", r'a\.csv.*:2: "0,recv,1": rank 1 sends no message'),
    ("ranks,1\n0,jump", r"a\.csv.*:2: .* there is no call .jump."),
    ("ranks,2\ngroup,4,0,1\ngroup,5,0,1", r"a\.csv: group 5 has the ranks of another group\. Remove one of the two"),
])
def test_a_wrong_file_of_calls_has_one_message(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(fl.ConfigError, match=message):
        Program.from_file(tmp_path / "a.csv")


def test_calls_added_later_are_in_the_text():
    program = fl.Program(2)
    program[0].send(1, 1)
    program.text()
    program[1].recv(0)
    assert lines(program) == ["ranks,2", "0,send,1,1", "1,recv,0"]


@pytest.mark.parametrize("wrong, message", [
    (lambda me: me.send(1.5, 240), "peer = 1.5 must be a whole number"),
    (lambda me: me.compute("x"), "cycles = 'x' must be a whole number"),
    (lambda me: me.barrier(group=[0.5]), "group = 0.5 must be a whole number"),
])
def test_what_is_no_number_is_refused_at_once(wrong, message):
    with pytest.raises(fl.ConfigError, match=message):
        fl.Program.spmd(wrong, 2)


@pytest.mark.parametrize("ranks", [0, -1, 2**24])
def test_number_of_ranks(ranks):
    with pytest.raises(fl.ConfigError, match="a program has 1 to 16777215"):
        fl.Program(ranks)


def test_what_cannot_run_is_refused_with_its_line():
    def both_wait(me):
        me.recv(1 - me.rank)
        me.send(1 - me.rank, 1)

    with pytest.raises(fl.ConfigError, match=r'both_wait:2: "0,recv,1": the program cannot end on any network'):
        fl.Program.spmd(both_wait, 2).calls()


def data_flow(calls, data_of, give, take):
    """Executes expanded calls without time. A message carries give(rank, peer, knows[rank], bytes). Returns the final
    `data_of`."""
    in_flight, done = {}, [0] * len(calls)
    moved = True
    while moved:
        moved = False
        for rank, own_calls in enumerate(calls):
            while done[rank] < len(own_calls):
                call, peer, amount, slot = own_calls[done[rank]]
                if call == "send":
                    in_flight[peer, slot] = give(rank, peer, data_of[rank], amount)
                elif call == "recv":
                    if (rank, slot) not in in_flight:
                        break
                    data_of[rank] = take(data_of[rank], in_flight.pop((rank, slot)))
                done[rank] += 1
                moved = True
    assert not in_flight
    assert done == [len(own_calls) for own_calls in calls]
    return data_of


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 7, 8, 11, 16])
def test_collectives_deliver_their_data(size):
    all_ranks = set(range(size))

    def run(main, data_of=None, give=lambda rank, peer, known, amount: set(known)):
        return data_flow(fl.Program.spmd(main, size).calls(), data_of or [{r} for r in range(size)], give, set.union)

    assert run(lambda me: me.allgather(100)) == [all_ranks] * size
    assert run(lambda me: me.allreduce(8)) == [all_ranks] * size
    assert run(lambda me: me.barrier()) == [all_ranks] * size
    assert run(lambda me: me.reduce(size - 1, 8))[size - 1] == all_ranks
    news = [{"news"} if r == size // 2 else set() for r in range(size)]
    assert run(lambda me: me.broadcast(size // 2, 8), news) == [{"news"}] * size
    nothing = [set() for _ in range(size)]
    pairs = run(lambda me: me.alltoall(8), nothing, lambda rank, peer, known, amount: {(rank, peer)})
    assert pairs == [{(r, me) for r in range(size) if r != me} for me in range(size)]


# TOML

def from_toml(tmp_path, text, terminals=0):
    path = tmp_path / "program.toml"
    path.write_text(text)
    return Program.from_toml(path, terminals)


def test_toml_is_the_same_program(tmp_path):
    program = from_toml(tmp_path, """
        ranks = 3
        [[step]]
        call = "send"
        peer = "(rank + 1) % size"
        bytes = 240
        [[step]]
        call = "recv"
        peer = "(rank - 1) % size"
        [[step]]
        call = "barrier"
    """)
    assert program.text() == fl.Program.spmd(ring, 3).text()


def test_loops_conditions_and_groups(tmp_path):
    program = from_toml(tmp_path, """
        [[step]]
        repeat = "rank + 1"
        index = "i"
        if = "i % 2 == 0"
        call = "compute"
        cycles = "100 * i + 1"

        [[step]]
        repeat = 2
        [[step.step]]
        if = "rank == 0"
        call = "send"
        peer = 1
        bytes = 8
        tag = 2
        [[step.step]]
        if = "rank == 1"
        call = "recv"
        peer = 0
        tag = 2

        [[step]]
        call = "allreduce"
        bytes = 8
        group = "rank // 2"
        [[step]]
        repeat = 2
        index = "i"
        call = "allgather"
        bytes = 8
        group = "rank >> i & 1"
        [[step]]
        if = "rank != 3"
        call = "alltoall"
        bytes = 16
        group = [2, 0, "1"]
        [[step]]
        if = "rank == 3"
        step = []
    """, terminals=4)

    def main(me):
        for i in range(0, me.rank + 1, 2):
            me.compute(100 * i + 1)
        for _ in range(2):
            if me.rank == 0:
                me.send(1, 8, tag=2)
            if me.rank == 1:
                me.recv(0, tag=2)
        me.allreduce(8, group=[me.rank // 2 * 2, me.rank // 2 * 2 + 1])
        me.allgather(8, group=range(me.rank % 2, 4, 2))
        me.allgather(8, group=[me.rank // 2 * 2, me.rank // 2 * 2 + 1])
        if me.rank != 3:
            me.alltoall(16, group=[2, 0, 1])

    assert program.text() == fl.Program.spmd(main, 4).text()


def test_every_call_can_be_written_in_toml(tmp_path):
    values = {"cycles": 3, "peer": "rank ^ 1", "bytes": 8, "tag": 1, "handle": "rank + 5", "root": 0, "group": [0, 1]}
    steps = ""
    for call in ["compute", "send", "recv", "isend", "wait", "irecv", "wait", *TOML_CALLS[6:]]:
        steps += f'[[step]]\ncall = "{call}"\n'
        for name in CALLS[call][0]:
            value = values[name]
            steps += f"{name} = " + (f'"{value}"\n' if isinstance(value, str) else f"{value}\n")
    program = from_toml(tmp_path, "ranks = 2\n" + steps)
    assert {line.split(",")[1] for line in lines(program)[2:]} == set(TOML_CALLS)
    assert len(program.calls()[0]) > len(TOML_CALLS)


@pytest.mark.parametrize("text, message", [
    ("step = 1", r"step step = 1 must be a list|step = 1 must be a list"),
    ("ranks = 0", "ranks = 0 must be a whole number from 1 to 4."),
    ("ranks = 5", "ranks = 5 must be a whole number from 1 to 4."),
    ("steps = []", "steps is unknown: a program has the keys ranks and \\[\\[step"),
    ("step = [1]", "step 1 = 1: a step is a TOML table"),
    ("[[step]]", "step 1: a step needs either call or step"),
    ('step = [{call = "barrier"}, {call = "sned"}]', "step 2: 'sned' is not a call. Calls are compute, send"),
    ('step = [{call = "send", peer = 1}]', "step 1: send needs bytes"),
    ('step = [{call = "recv", peer = 1, root = 0}]', "step 1: root is not a key of recv; allowed are peer, bytes"),
    ('step = [{call = "compute", cycles = 1.5}]', "step 1: cycles = 1.5 must be a whole number or an expression"),
    ('step = [{call = "compute", cycles = "rank +"}]', 'step 1: cycles = "rank \\+" is not an expression'),
    ('step = [{call = "compute", cycles = "n"}]', 'step 1: cycles = "n": the name n is unknown; names are rank, size'),
    ('step = [{call = "compute", cycles = "8 // rank"}]', '"8 // rank" has no value for rank = 0, size = 4: .*zero'),
    ('step = [{repeat = 2, step = [{call = "barrier", group = "x"}]}]', 'step 1.1: group = "x": the name x is unknown'),
    ('step = [{repeat = 2, index = "rank", call = "barrier"}]', "index = 'rank' must be a new name"),
    ('step = [{repeat = 1000000000000, step = []}]', "step 1: the program runs more than 1000 steps"),
    ("step = [", "is not valid TOML"),
])
def test_bad_toml_gets_one_message(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr("flitlab.programs.MOST_STEPS", 1000)
    with pytest.raises(fl.ConfigError, match=message) as error:
        from_toml(tmp_path, text, terminals=4)
    assert str(error.value).startswith(f"traffic.program_file: {tmp_path}/program.toml")
    assert "\n" not in str(error.value)


# Expressions

def test_expressions_are_pythons_arithmetic():
    draw = random.Random(7)
    atoms = ["rank", "size", "3", "17", "0", "True"]

    def expression(depth):
        if depth == 0 or draw.random() < 0.2:
            return draw.choice(atoms)
        a, b, c = (expression(depth - 1) for _ in range(3))
        return draw.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // {b})", f"({a} % {b})", f"-{a}",
                            f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"~{a}", f"({a} >> {b} % 5 % 5)",
                            f"({a} << 2)", f"({a} ** 2)", f"({a} < {b} <= {c})", f"({a} == {b} or not {c})",
                            f"({a} and {b} != {c})", f"({b} if {a} > {c} else {a})"])

    checked = 0
    for _ in range(2000):
        text, names = expression(4), {"rank": draw.randrange(64), "size": 64}
        try:
            value = Expression(text, names)(names)
        except fl.ConfigError as error:
            if "64 bits" not in str(error):  # Python's integers have no such limit
                with pytest.raises((ArithmeticError, ValueError)):
                    eval(text, {}, dict(names))
            continue
        assert value == int(eval(text, {}, dict(names))), text
        checked += 1
    assert checked > 1000


@pytest.mark.parametrize("text", [
    "__import__('os')", "rank.real", "[rank]", "rank[0]", "lambda: 0", "(rank := 3)", "'a' * 9", "1.5", "rank / 2",
    "print", "f'{rank}'", "rank in (1, 2)", "rank is 1", "9" * 400, "", "rank; size", "1\n2", "(" * 300 + ")" * 300,
    "-" * 2000, "1 + " * 300 + "1", "\0", "rank @ size", "1j", "...", "None",
])
def test_nothing_else_is_possible(text):
    with pytest.raises(fl.ConfigError):
        Expression(text, {"rank", "size"})({"rank": 2, "size": 8})


@pytest.mark.parametrize("text", ["9 ** 9 ** 9", "2 ** 64", "1 << 64", "1 << 1000000000", "1 << -1", "2 ** -1",
                                  "1 >> -1", "9223372036854775807 * 2"])
def test_results_are_bounded(text):
    with pytest.raises(fl.ConfigError, match="has no value"):
        Expression(text, {"rank"})({"rank": 2})


# Experiments

@pytest.mark.parametrize("kind", ["metro"])
def test_models_that_run_no_programs_say_so(kind):
    message = f'traffic.mode = "program" does not fit router.kind = "{kind}", whose terminals support '
    with pytest.raises(fl.ConfigError, match=message):
        fl.Experiment.from_dict({"router.kind": kind, "traffic.mode": "program",
                                 "traffic.program_file": fl.Program.spmd(ring, 4)})


def test_a_program_needs_its_mode():
    with pytest.raises(fl.ConfigError, match="has no effect here"):
        fl.Experiment.from_dict({"traffic.program_file": fl.Program.spmd(ring, 4)})


def test_the_core_has_the_same_calls():
    with pytest.raises(fl.ConfigError) as error:
        _core.program_calls(b"0,x\n", "p", 1)
    assert f"Calls are {', '.join(CALLS)}." in str(error.value)


def test_a_rank_cannot_send_more_packets_than_have_numbers():
    """65,538 messages of 65,535 packets are more than 4,294,967,294."""
    size, messages = 65535 * 240, 65538
    lines = f"0,send,1,{size}\n" * messages + "1,recv,0\n" * messages
    with pytest.raises(fl.ConfigError, match=r"terminal 0 sends 42949\d+ packets up to here; at most 4294967294"):
        _core.program_calls(lines.encode(), "p", 2)
