"""Programs of other simulators: GOAL, Chakra and MSCCL, and the graphs of calls that they become."""

from __future__ import annotations

import itertools
import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab.programs import MOST_CYCLES, MOST_MESSAGE_BYTES
from flitlab.workloads.graph import Call, Compute, Graph, Receive, Send, _Chains
from tests.support.program_runs import MESH, cycles
from tests.support.random_programs import NETWORKS, random_calls
from tests.support.random_programs import experiment as experiment_of_calls

BGL = {"router.kind": "bgl", "topology.shape": [2, 2, 2], "traffic.mode": "program"}


def graph(*nodes):
    made = Graph(len(nodes), "graph")
    for calls, node in zip(made.calls, nodes, strict=True):
        for i, call in enumerate(node):
            call.where = f"call {i}"
            calls.append(call)
    return made.program()


# --- graphs


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_computations_take_the_longest_path(data):
    """Without shared processors, a graph of computations ends after its longest path; on one processor, after the sum,
    because the processor never waits while a call can begin."""
    n = data.draw(st.integers(1, 25))
    calls, ends, begins = [], [], []
    for i in range(n):
        after = data.draw(st.lists(st.integers(0, i - 1), unique=True, max_size=3)) if i else []
        starts = data.draw(st.lists(st.integers(0, i - 1), unique=True, max_size=2)) if i else []
        time = data.draw(st.integers(0, 50))
        begins.append(max([0, *(ends[k] for k in after), *(begins[k] for k in starts)]))
        ends.append(begins[-1] + time)
        calls.append(Call([Compute(time)], after, starts))
    assert cycles(graph(calls)) == cycles(graph(calls), BGL) == max(ends)
    shared = [Call(list(call.parts), call.after, call.after_start, processor=3) for call in calls]
    assert cycles(graph(shared)) == sum(call.parts[0].cycles for call in calls)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_of_calls_is_the_program_itself(name, seed, tmp_path):
    """Random programs, written as graphs in which each call waits for the one before it, or for an irecv that a wait
    names. All ranks end in the same cycles."""
    draw = random.Random(seed)
    calls = random_calls(draw, 4, 25)
    for own in calls:  # the network interface serves several chains in turn, so sends must be one chain
        posted = {call[4] for call in own if call[0] == "isend"}
        own[:] = [("send", *call[1:4]) if call[0] == "isend" else call for call in own
                  if not (call[0] == "wait" and call[1] in posted)]
    nodes = Graph(4, "graph")
    for rank, own in enumerate(calls):
        last, open_receives = [], {}
        for call in own:
            if call[0] == "wait":
                last = [*last, open_receives[call[1]]]
                continue
            part = {"compute": lambda c: Compute(c[1]), "send": lambda c: Send(c[1], c[2], c[3]),
                    "recv": lambda c: Receive(c[1], None, c[2]), "irecv": lambda c: Receive(c[1], None, c[2])}
            nodes.calls[rank].append(Call([part[call[0]](call)], list(last)))
            if call[0] == "irecv":
                open_receives[call[3]] = len(nodes.calls[rank]) - 1
            else:
                last = [len(nodes.calls[rank]) - 1]
    own = experiment_of_calls(NETWORKS[name], calls, tmp_path / "p.csv")
    ends = []
    for experiment in (own, own.set("traffic.program_file", nodes.program())):
        network = fl.Network(experiment)
        network.step(6000)
        ends.append(list(network.program_ends))
    assert ends[0] == ends[1] and None not in ends[0]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_chains_wait_for_what_the_graph_says_and_for_nothing_else(data):
    """What must have ended before a call begins is the same in the graph and in its chains, for all pairs of calls."""
    n = data.draw(st.integers(2, 14))
    kinds = data.draw(st.lists(st.sampled_from([Compute(1), Send(1, 8), Receive(1, 8)]), min_size=n, max_size=n))
    calls = []
    for i in range(n):
        earlier = st.lists(st.integers(0, i - 1), unique=True, max_size=3) if i else st.just([])
        calls.append(Call([kinds[i]], data.draw(earlier), data.draw(earlier) if data.draw(st.booleans()) else [],
                          processor=data.draw(st.sampled_from([None, 0]))))
    chains = _Chains(0, calls, "graph")

    def closure(needs):
        """[call] the calls whose end its beginning waits for. needs: pairs (call, at its beginning) for each call."""
        found = {}
        for i in sorted(range(n), key=lambda i: order[i]):
            found[i] = set()
            for other, at_start in needs[i]:
                found[i] |= found[other] | (set() if at_start else {other})
        return found

    emitted = [[(w, False) for w in chains.waits[i]] + [(w, True) for w in chains.start_waits[i]] for i in range(n)]
    for chain in chains.chains:
        for before, i in itertools.pairwise(chain):
            emitted[i].append((before, chains.posted[before]))
    order = list(range(n))  # a call needs earlier ones only, in both graphs
    assert closure(emitted) == closure([[(k, False) for k in call.after] + [(k, True) for k in call.after_start]
                                        for call in calls])


def test_a_send_that_waits_does_not_delay_others():
    """The second send of rank 0 needs no message, and rank 1 answers it; the first one needs that answer."""
    first = [Call([Compute(10)]), Call([Receive(1, 8)]), Call([Send(1, 8, 5)], [0, 1]), Call([Send(1, 8)], [0])]
    second = [Call([Receive(0, 8)]), Call([Send(0, 8)], [0]), Call([Receive(0, 8, 5)])]
    assert cycles(graph(first, second)) > 10


def test_messages_match_in_the_order_of_their_key():
    sizes = [240, 480, 2400]
    sends = [Call([Send(1, size, "k")], [i - 1] if i else []) for i, size in enumerate(sizes)]
    receives = [Call([Receive(0, size, "k")]) for size in sizes]
    plain = fl.Program(2)
    for size in sizes:
        plain[0].send(1, size)
        plain[1].recv(0, size)
    assert cycles(graph(sends, receives)) == cycles(plain)
    with pytest.raises(fl.ConfigError, match=r"the message that rank .* receives here has 240 bytes"):
        cycles(graph(sends, [Call([Receive(0, size, "k")]) for size in sizes[::-1]]))


@pytest.mark.parametrize(("nodes", "part"), [
    ([[Call([Compute(1)], [1]), Call([Compute(1)], [0])]], "rank 0 wait for one another in a circle, among them call"),
    ([[Call([Send(1, 8)])], []], "call 0: no receive is left for this message between ranks 0 and 1: 1 are sent and 0"),
    ([[Call([Receive(1, 8)])], []], "call 0: no send is left for this message between ranks 1 and 0: 0 are sent and 1"),
    ([[Call([Send(2, 8)])], []], "call 0: rank 2 does not exist: ranks are numbered 0 to 1"),
    ([[Call([Send(0, 8)])]], "rank 0 exchanges a message with itself"),
])
def test_wrong_graphs_are_named(nodes, part):
    with pytest.raises(fl.ConfigError) as error:
        graph(*nodes)
    assert part in str(error.value)


# --- ranks of a terminal in a file of calls


def test_several_ranks_on_a_terminal():
    """Rank 1 computes beside rank 0; the message between them takes no time in the network."""
    program = fl.Program(3)
    for rank, terminal in enumerate([5, 5, 6]):
        program.place(rank, terminal)
    program[0].compute(100)
    program[0].send(1, 100_000)
    program[1].compute(40)
    program[1].recv(0, 100_000)
    program[1].compute(7)
    program[1].notify(0)
    program[0].after(1)
    assert cycles(program) == 107
    assert program.calls()[1][3][0] == "notify"
    for rank in (0, 1):
        program.place(rank, 5, processor=9)
    assert cycles(program) == 147


def test_a_placed_program_keeps_its_places(tmp_path):
    program = fl.Program(2)
    program.place(0, 3, 1)
    program.place(1, 3, 1)
    program[0].compute(5)
    program[1].compute(6)
    program.save(tmp_path / "p.csv")
    assert fl.Program.from_file(tmp_path / "p.csv").text() == program.text()
    assert cycles(str(tmp_path / "p.csv")) == 11
    with pytest.raises(fl.ConfigError, match="places of their own"):
        fl.Program.together([program], [[0, 1]], 2)
    line = fl.timeline({**MESH, "traffic.program_file": program}, progress=False)
    assert line.cycles == 11 and line.terminals == [3, 3]


@pytest.mark.parametrize(("lines", "part"), [
    ("ranks,40\n0,compute,1\n", "p:1: .*a program can have 1 to 16 ranks here, one for each terminal.*place,RANK"),
    ("ranks,40\nplace,0,1\n", "rank 16 has no terminal"),
    ("ranks,2\nplace,0,16\n", "terminal 16 does not exist"),
    ("ranks,2\nplace,2,0\n", "rank 2 does not exist"),
    ("ranks,2\nplace,0,0\nplace,0,1\n", "rank 0 has a place already"),
    ("ranks,2\nplace,0\n", "this line is place,RANK,TERMINAL"),
    ("ranks,2\n0,notify,1\n1,after,0\n", "rank 0 runs on terminal 0, and rank 1 on terminal 1"),
    ("ranks,2\nplace,1,0\n0,notify,1\n1,recv,0\n", "an after matches a notify"),
    ("ranks,2\nplace,1,0\n0,notify,1\n", "no receive left"),
    ("ranks,2\nplace,1,0\n0,after,1\n1,after,0\n0,notify,1\n1,notify,0\n", "cannot end"),
    ("ranks,99999\nplace,1,0\n", "1 to 16 ranks"),
])
def test_wrong_places_are_named(lines, part, tmp_path):
    (tmp_path / "p").write_text(lines)
    with pytest.raises(fl.ConfigError, match=part):
        cycles(str(tmp_path / "p"))


# --- GOAL

GOAL = """// a tree
num_ranks 3

rank 0 {
a: calc 100 cpu 1
b: calc 30
c: send 480b to 1 tag 7
d: send 10b to 2
c requires a
/* both
   computations */
d requires a
d requires b
e: calc 5
e irequires c
}
rank 1 {
recv 480b from 0 tag 7 cpu 1
}
rank 2 {
l1: recv 10b from 0
l2: calc 8
l2 requires l1
}
"""


def goal_binary(ranks):
    """ranks: for each rank a list of calls (type, peer, size, tag, cpu, ended, begun): calls that wait for its end, and
    for its beginning."""
    parts, start = [], 6 + 16 * len(ranks)
    table = b""
    for calls in ranks:
        waiting = {k for call in calls for k in (*call[5], *call[6])}
        roots = [i for i in range(len(calls)) if i not in waiting]
        nodes, appendix = b"", []
        for kind, peer, size, tag, cpu, ended, begun in calls:
            first = len(appendix)
            appendix += [*ended, *begun]
            nodes += struct.pack("<IbIQIBBIIII", 0, kind, peer, size, tag, cpu, 0, len(ended), first, len(begun),
                                 first + len(ended))
        data = struct.pack(f"<II{len(roots)}I", len(calls), len(roots), *roots) + nodes + struct.pack(
            f"<{len(appendix)}I", *appendix)
        table += struct.pack("<QQ", start, start + len(data))
        start += len(data)
        parts.append(data)
    return struct.pack("<QIBB", 4223, len(ranks), 1, 0) + table + b"".join(parts)


BINARY = [[(3, 0, 100, 0, 1, [2, 3], []), (3, 0, 30, 0, 0, [3], []), (1, 1, 480, 7, 0, [], [4]),
           (1, 2, 10, 0, 0, [], []), (3, 0, 5, 0, 0, [], [])],
          [(2, 0, 480, 7, 1, [], [])], [(2, 0, 10, 0, 0, [1], []), (3, 0, 8, 0, 0, [], [])]]


def test_goal(tmp_path):
    (tmp_path / "t.goal").write_text(GOAL)
    (tmp_path / "t.bin").write_bytes(goal_binary(BINARY))
    text, binary = (fl.read_program(tmp_path / name) for name in ("t.goal", "t.bin"))
    strip = [program.text().replace(b"t.goal", b"").replace(b"t.bin", b"") for program in (text, binary)]
    assert strip[0] == strip[1]
    # Both messages can leave after 100 cycles. The one to rank 2 leaves first: its chain, with b, has the lower number.
    alone = cycles_of_messages()
    assert cycles(text) == cycles(str(tmp_path / "t.goal")) == cycles(str(tmp_path / "t.bin")) == alone
    slow = fl.run({**MESH, "traffic.program_file": str(tmp_path / "t.goal"), "run.cycle_ns": 0.5}, progress=False)
    assert slow.model["program_cycles"] > alone + 100


def cycles_of_messages():
    program = fl.Program(3)
    program[0].compute(100)
    program[0].isend(2, 10)
    program[0].isend(1, 480)
    program[1].recv(0)
    program[2].recv(0)
    program[2].compute(8)
    return cycles(program)


@pytest.mark.parametrize(("text", "part"), [
    ("num_ranks 0\n", "a GOAL file begins with the line num_ranks N"),
    ("num_ranks 99999999999999\n", "at most 1048576 ranks are possible"),
    ("num_ranks 2\nrank 2 {\n}\n", ":2: 'rank 2 {': here a new rank begins"),
    ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "once for each rank"),
    ("num_ranks 1\nrank 0 {\nx requires y\n}\n", ":3: there is no label x in rank 0"),
    ("num_ranks 1\nrank 0 {\nl: calc 1\nl: calc 2\n}\n", ":4: label l is used twice"),
    ("num_ranks 1\nrank 0 {\ncalc\n}\n", ":3: 'calc' is not a call of GOAL"),
    ("num_ranks 1\nrank 0 {\n", "the file ends within rank 0"),
    ("num_ranks 2\nrank 0 {\nsend 1b to -1\n}\n", ":3: only a receive can have any peer"),
    ("num_ranks 2\nrank 0 {\nsend 1b to 1 tag -1\n}\n", ":3: only a receive can have any peer"),
])
def test_wrong_goal_files_are_named(text, part, tmp_path):
    (tmp_path / "t.goal").write_text(text)
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(tmp_path / "t.goal")
    assert part in str(error.value) and "t.goal" in str(error.value)


def test_sizes_are_named_where_the_file_has_them(tmp_path):
    path = tmp_path / "t.goal"
    text = "num_ranks 2\nrank 0 {{\nsend 8b to 1\nsend {0}b to 1\n}}\nrank 1 {{\nrecv 8b from 0\nrecv {1}b from 0\n}}\n"
    path.write_text(text.format(99, 100))
    with pytest.raises(fl.ConfigError, match=r"t\.goal: line 8: the message that rank 1 receives here has 99 bytes "
                                             r"\(line 4\), not 100"):
        fl.read_program(path)
    path.write_text(text.format(5_000_000_000, 5_000_000_000))
    part = r"t\.goal: line 4: a message has 5000000000 bytes: at most 4294967294 are possible"
    for read in (fl.read_program, lambda p: fl.Experiment({**MESH, "traffic.program_file": str(p)})):
        with pytest.raises(fl.ConfigError, match=part):
            read(path)
    path.write_text("num_ranks 1\nrank 0 {\ncalc 3000000000\n}\n")
    with pytest.raises(fl.ConfigError, match="line 3: the computation takes 3000000000 cycles: at most 1000000000"):
        fl.read_program(path)
    assert fl.read_program(path, cycle_ns=3).text().endswith(b"compute,1000000000\n")


def test_limits_of_sizes_are_those_of_the_core():
    large, slow = fl.Program(2), fl.Program(1)
    large[0].send(1, MOST_MESSAGE_BYTES + 1)
    slow[0].compute(MOST_CYCLES + 1)
    for program, most in ((large, MOST_MESSAGE_BYTES), (slow, MOST_CYCLES)):
        with pytest.raises(fl.ConfigError, match=f"must be a whole number from 0 to {most}"):
            program.calls()


def test_damaged_goal_files_are_named(tmp_path):
    whole = goal_binary(BINARY)
    for size in range(8, len(whole), 7):
        (tmp_path / "t.bin").write_bytes(whole[:size])
        with pytest.raises(fl.ConfigError, match=r"t\.bin: byte \d+: the file ends in the middle of"):
            fl.read_program(tmp_path / "t.bin")
    (tmp_path / "t.bin").write_bytes(goal_binary([[(9, 0, 0, 0, 0, [], [])]]))
    with pytest.raises(fl.ConfigError, match="type 9 of a call is unknown"):
        fl.read_program(tmp_path / "t.bin")
    (tmp_path / "t.bin").write_bytes(goal_binary([[(3, 0, 0, 0, 0, [5], [])]]))
    with pytest.raises(fl.ConfigError, match="call 5 of rank 0 does not exist"):
        fl.read_program(tmp_path / "t.bin")


# --- MSCCL


def ring(gpus, channels=1):
    """An allreduce by rings in MSCCL's form."""
    lines = [f'<algo name="ring" proto="Simple" nchannels="{channels}" nchunksperloop="{gpus * channels}" '
             f'ngpus="{gpus}" coll="allreduce" inplace="1">']
    for gpu in range(gpus):
        lines.append(f'<gpu id="{gpu}" i_chunks="{gpus}" o_chunks="0" s_chunks="0">')
        for channel in range(channels):
            lines.append(f'<tb id="{channel}" send="{(gpu + 1) % gpus}" recv="{(gpu - 1) % gpus}" chan="{channel}">')
            step = 0
            for turn in range(2 * gpus - 2):
                out, back = (gpu - turn) % gpus, (gpu - turn - 1) % gpus
                for kind, chunk in (("s", out), ("rrc" if turn < gpus - 1 else "r", back)):
                    at = chunk * channels + channel
                    lines.append(f'<step s="{step}" type="{kind}" srcbuf="i" srcoff="{at}" dstbuf="i" dstoff="{at}" '
                                 'cnt="1" depid="-1" deps="-1" hasdep="0"/>')
                    step += 1
            lines.append("</tb>")
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>"])


def test_an_msccl_ring_is_the_ring_of_a_collective(tmp_path):
    (tmp_path / "ring.xml").write_text(ring(8))
    network = {"topology.kind": "ring", "topology.shape": [8], "traffic.mode": "program"}
    program = fl.read_program(tmp_path / "ring.xml", size="8kB", combine=0.1)
    own = fl.collective("allreduce", "8kB", "ring", {"topology.kind": "ring", "topology.shape": [8]}, combine=0.1,
                        progress=False)
    assert cycles(program, network) == own.cycles
    two = ring(8, 2)
    (tmp_path / "two.xml").write_text(two)
    program = fl.read_program(tmp_path / "two.xml", size=8000)
    assert program.ranks == 16
    sent = sum(int(line.split(",")[3]) for line in program.text().decode().splitlines() if ",isend," in line)
    assert sent == 14 * 8000


def test_msccl_thread_blocks_wait_for_one_another(tmp_path):
    (tmp_path / "t.xml").write_text(
        '<algo name="t" nchunksperloop="1" ngpus="2"><gpu id="0"><tb id="0" send="-1" recv="1" chan="0">'
        '<step s="0" type="rrc" srcoff="0" dstoff="0" cnt="1" depid="-1" deps="-1"/></tb>'
        '<tb id="1" send="1" recv="-1" chan="1"><step s="0" type="s" srcoff="0" dstoff="0" cnt="1" depid="0" deps="0"/>'
        '</tb></gpu><gpu id="1"><tb id="0" send="0" recv="-1" chan="0">'
        '<step s="0" type="s" srcoff="0" dstoff="0" cnt="1" depid="-1" deps="-1"/></tb><tb id="1" send="-1" recv="0" '
        'chan="1"><step s="0" type="r" srcoff="0" dstoff="0" cnt="1" depid="-1" deps="-1"/></tb></gpu></algo>')
    there_and_back = fl.Program(2)
    there_and_back[1].isend(0, 1000)
    there_and_back[0].recv(1)
    there_and_back[0].compute(500)
    there_and_back[0].isend(1, 1000)
    there_and_back[1].recv(0)
    assert cycles(fl.read_program(tmp_path / "t.xml", size=1000, combine=0.5)) == cycles(there_and_back)


@pytest.mark.parametrize(("change", "part"), [
    (lambda t: t[:-20], "this is not XML"),
    (lambda t: t.replace('type="s"', 'type="zz"', 1), "step 0: type 'zz' is unknown"),
    (lambda t: t.replace('send="1"', 'send="2"', 1), "no thread block of GPU 2 receives from this one on channel 0"),
    (lambda t: t.replace('nchunksperloop="4"', 'nchunksperloop="x"'), "nchunksperloop = 'x': it must be a whole"),
    (lambda t: t.replace('depid="-1" deps="-1"', 'depid="3" deps="0"', 1), "thread block 3, which does not exist"),
    (lambda t: t.replace('cnt="1"', 'cnt="-4"', 1), "cnt, srcoff and dstoff must not be negative"),
    (lambda t: t.replace('step s="1"', 'step s="7"', 1), "it has the number s = 7: steps are in order"),
    (lambda t: t.replace("</tb>", '</tb><tb id="0" send="1" recv="-1" chan="1"></tb>', 1), "two thread blocks 0"),
    (lambda t: t.replace("</tb>", '</tb><tb id="1" send="1" recv="-1" chan="0"></tb>', 1), "in the same direction on"),
])
def test_wrong_msccl_files_are_named(change, part, tmp_path):
    (tmp_path / "t.xml").write_text(change(ring(4)))
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(tmp_path / "t.xml", size=100)
    assert part in str(error.value)


def test_a_large_message_of_msccl_is_named(tmp_path):
    (tmp_path / "r.xml").write_text(ring(2))
    where = r"r\.xml: GPU 0, thread block of rank 0, step 0: a message has 5000000000"
    with pytest.raises(fl.ConfigError, match=where):
        fl.read_program(tmp_path / "r.xml", size="10GB")


def test_msccl_needs_a_size(tmp_path):
    (tmp_path / "r.xml").write_text(ring(2))
    with pytest.raises(fl.ConfigError, match="give the size of its buffer"):
        fl.read_program(tmp_path / "r.xml")
