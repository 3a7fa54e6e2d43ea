"""Execution plans of MSCCL++, compared with programs written by hand."""

from __future__ import annotations

import copy
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flitlab as fl
from tests.support.program_runs import cycles


def local(buffer, index, size=1):
    return {"type": buffer, "index": index, "size": size}


def remote(number, index, size=1):
    return {"buffer_id": number, "index": index, "size": size}


def move(name, sources, targets, kind="memory", **more):
    return {"name": name, "src_buff": sources, "dst_buff": targets, "channel_type": kind, **more}


def sync(name, *channels, kind="memory"):
    return {"name": name, "channel_ids": list(channels), "channel_type": kind}


def gpu(number, peers, *blocks, chunks=(1, 1, 1), kind="memory", buffers=None, semaphores=()):
    """A GPU with one channel to each peer, and the scratch buffers of the peers as remote buffers; or ``buffers``, a
    list of (rank, type). Each thread block uses all of them."""
    buffers = [(peer, "s") for peer in peers] if buffers is None else buffers
    return {"id": number, **dict(zip(("input_chunks", "output_chunks", "scratch_chunks"), chunks, strict=True)),
            "threadblocks": [{"id": i, "ops": ops,
                              "channels": [{"channel_type": kind, "channel_ids": list(range(len(peers)))}],
                              "remote_buffer_refs": [{"access_channel_type": kind,
                                                      "remote_buffer_ids": list(range(len(buffers)))}]}
                             for i, ops in enumerate(blocks)],
            "channels": [{"channel_type": kind, "connected_to": peers}],
            "remote_buffers": [{"rank": rank, "type": buffer, "access_channel_types": [kind]}
                               for rank, buffer in buffers],
            "semaphores": [{"init_value": value} for value in semaphores]}


def plan(*gpus, **more):
    return {"name": "test", "collective": "allreduce", "protocol": "Simple", "inplace": False,
            "reuse_resources": False, "gpus": list(gpus), **more}


@pytest.fixture
def program(tmp_path):
    """Returns a function that reads a plan."""
    def read(tree, size=4096, combine=0.0):
        (tmp_path / "plan.json").write_text(json.dumps(tree))
        return fl.read_program(tmp_path / "plan.json", size=size, combine=combine)
    return read


def sent(program):
    """Returns (GPU, GPU) -> bytes that messages carry."""
    places = {int(line.split(",")[1]): int(line.split(",")[2]) for line in program.text().decode().splitlines()
              if line.startswith("place")}
    found = Counter()
    for rank, calls in enumerate(program.calls()):
        for name, peer, amount, _ in calls:
            if name in ("send", "isend"):
                found[places[rank], places[peer]] += amount
    return dict(found)


def counts(program, name):
    """Returns for each rank with such calls their number, in rising order."""
    return sorted(count for calls in program.calls() if (count := [call[0] for call in calls].count(name)))


PUT = move("put", [local("i", 0)], [remote(0, 0)])
PUT_AND_SIGNAL = plan(gpu(0, [1], [PUT, {"name": "nop"}, sync("signal", 0)]), gpu(1, [0], [sync("wait", 0)]))


def test_a_put_and_a_signal(program):
    found = program(PUT_AND_SIGNAL)
    by_hand = fl.Program(2)
    by_hand[0].send(1, 4096, 1)
    by_hand[0].isend(1, 8, 2)
    by_hand[1].recv(0, None, 1)
    by_hand[1].recv(0, None, 2)
    assert found.ranks == 2 and sent(found) == {(0, 1): 4104}
    assert cycles(found) == cycles(by_hand) > 4096 / 32


def test_a_relaxed_signal_does_not_wait_for_data(program):
    """GPU 1 answers a relaxed signal of GPU 0 when it arrives, and another signal when the data have arrived, too."""
    answer = [sync("wait", 0), move("put", [local("i", 0)], [remote(0, 0)])]
    firm, relaxed = (program(plan(gpu(0, [1], [PUT, sync(signal, 0)]), gpu(1, [0], answer)))
                     for signal in ("signal", "rlxsignal"))
    assert (counts(firm, "recv"), counts(relaxed, "recv")) == ([1, 2], [1, 1, 1])
    by_hand = fl.Program(3)
    by_hand.place(2, 1)  # takes the data, while rank 1 answers the signal
    by_hand[0].send(2, 4096, 1)
    by_hand[0].isend(1, 8)
    by_hand[1].recv(0)
    by_hand[1].send(0, 4096)
    by_hand[2].recv(0, None, 1)
    by_hand[0].recv(1)
    assert cycles(relaxed) == cycles(by_hand)


def test_a_read_is_a_request_and_an_answer(program):
    """GPU 0 reads a chunk, adds it to its own, and writes the sum to GPU 1."""
    op = move("rres", [local("i", 0), remote(0, 0)], [local("i", 0), remote(0, 0)])
    found = program(plan(gpu(0, [1], [op], buffers=[(1, "i")]), gpu(1, [0])), combine=0.5)
    by_hand = fl.Program(2)
    by_hand[0].isend(1, 8)
    by_hand[1].recv(0)
    by_hand[1].isend(0, 4096)
    by_hand[0].recv(1)
    by_hand[0].compute(2048)
    by_hand[0].isend(1, 4096, 1)
    by_hand[1].recv(0, None, 1)
    assert sent(found) == {(0, 1): 8 + 4096, (1, 0): 4096}
    assert cycles(found) == cycles(by_hand)
    get = program(plan(gpu(0, [1], [move("get", [remote(0, 0)], [local("i", 0)])], buffers=[(1, "i")]), gpu(1, [0])))
    assert sent(get) == {(0, 1): 8, (1, 0): 4096}
    twice = program(plan(gpu(0, [1], [op, op], buffers=[(1, "i")]), gpu(1, [0])))
    assert counts(twice, "recv") == [1, 1, 2, 2]  # GPU 1: a rank answers both requests, others receive the results


def ring(gpus):
    """An allreduce by a ring, in packets: a GPU adds a chunk that has arrived to its own, and sends it on."""
    made = []
    for me in range(gpus):
        ops = []
        for turn in range(2 * gpus - 2):
            out, back = (me - turn) % gpus, (me - turn - 1) % gpus
            at = turn // (gpus - 1) * gpus  # the second round has scratch chunks of its own
            ops.append(move("ppkt", [local("i", out)], [remote(0, at + out)]))
            ops.append({"name": "repkt", "src_buff": [local("i", back), local("s", at + back)],
                        "dst_buff": [local("i", back)]} if turn < gpus - 1 else
                       {"name": "upkt", "src_buff": [local("s", at + back)], "dst_buff": [local("i", back)]})
        made.append(gpu(me, [(me + 1) % gpus], ops, chunks=(gpus, gpus, 2 * gpus)))
    return plan(*made, protocol="LL")


def test_a_ring_of_packets_is_the_ring_of_a_collective(program):
    """Packets have two bytes for each byte of data; so the collective has twice the size, and adds twice as fast."""
    network = {"topology.kind": "ring", "topology.shape": [8], "traffic.mode": "program"}
    found = program(ring(8), 8192, 0.1)
    own = fl.collective("allreduce", 2 * 8192, "ring", {"topology.kind": "ring", "topology.shape": [8]}, combine=0.05,
                        progress=False)
    assert found.ranks == 8
    assert sent(found) == {(a, (a + 1) % 8): 14 * 2048 for a in range(8)}
    assert cycles(found, network) == own.cycles


def test_packets_wait_for_all_that_write_their_bytes(program):
    """Three thread blocks of GPU 0 write a chunk together (pieces of 96, 80 and 80 bytes); a fourth one copies the
    next. A thread block of GPU 1 reads both chunks, another one the second half of the first."""
    blocks = [[move("ppkt", [local("i", 0)], [remote(0, 0)], tbg_info={"tb_id": i, "tbg_size": 3})] for i in range(3)]
    blocks.append([{"name": "cpkt", "src_buff": [local("i", 1)], "dst_buff": [local("s", 1)]},
                   move("rppkt", [local("s", 1)], [remote(0, 1)])])
    reads = [{"name": "upkt", "src_buff": [local("s", 0, 2)], "dst_buff": [local("o", 0, 2)]},
             {"name": "upkt", "src_buff": [local("s", 0)], "dst_buff": [local("o", 0)],
              "tbg_info": {"tb_id": 1, "tbg_size": 2}}]
    found = program(plan(gpu(0, [1], *blocks, chunks=(2, 2, 2)), gpu(1, [0], *([one] for one in reads),
                                                                     chunks=(2, 2, 2))), 512)
    assert sent(found) == {(0, 1): 2 * 512}
    sizes = sorted(amount for calls in found.calls() for name, _, amount, _ in calls if name == "isend")
    assert sizes == [160, 160, 192, 512]
    # Both thread blocks of GPU 1 read two of the messages. Each rank receives one of these, and notifies the other.
    assert counts(found, "recv") == [1, 3] and counts(found, "after") == counts(found, "notify") == [1, 1]
    with pytest.raises(fl.ConfigError, match=r"ops\[0\] \(upkt\): it waits for packets from byte 0 of the buffer s on"):
        program(plan(gpu(0, [1], *blocks[1:], chunks=(2, 2, 2)), gpu(1, [0], reads[:1], chunks=(2, 2, 2))), 512)


def test_a_signal_after_a_barrier_covers_the_puts_of_other_thread_blocks(program):
    barrier = {"name": "barrier", "barrier_id": 0, "num_threadblocks": 2}
    first = [move("put", [local("i", 0)], [remote(0, 0)]), barrier, sync("signal", 0)]
    second = [move("put", [local("i", 1)], [remote(0, 1)]), barrier]
    answer = [sync("wait", 0), move("put", [local("i", 0)], [remote(0, 0)])]
    found = program(plan(gpu(0, [1], first, second, chunks=(2, 2, 2)), gpu(1, [0], answer, chunks=(2, 2, 2))))
    by_hand = fl.Program(3)
    by_hand.place(2, 0)
    by_hand.place(1, 1)
    by_hand[0].send(1, 2048, 1)
    by_hand[2].send(1, 2048)
    by_hand[2].notify(0)
    by_hand[0].after(2)
    by_hand[0].isend(1, 8, 2)
    by_hand[1].recv(0, None, 1)
    by_hand[1].recv(2)
    by_hand[1].recv(0, None, 2)
    by_hand[1].isend(0, 2048)
    by_hand[0].recv(1)
    assert cycles(found) == cycles(by_hand)
    assert counts(found, "recv") == counts(by_hand, "recv") == [1, 3]
    second[1] = {**barrier, "num_threadblocks": 3}
    with pytest.raises(fl.ConfigError, match=r"threadblocks\[1\]\.ops\[1\] \(barrier\): num_threadblocks = 3, but"):
        program(plan(gpu(0, [1], first, second, chunks=(2, 2, 2)), gpu(1, [0], answer, chunks=(2, 2, 2))))


def test_a_pipeline_overlaps_two_thread_blocks(program):
    """One thread block adds 1000 bytes at a time (16-byte units: 1008), the other one puts them."""
    context = {"unit_size": 1008, "num_chunks": 1}
    adds = [{"name": "re", "src_buff": [local("i", 0), local("o", 0)], "dst_buff": [local("o", 0)]},
            {"name": "sem_release", "semaphore_ids": [0]}]
    puts = [{"name": "sem_acquire", "semaphore_ids": [0]}, move("put", [local("o", 0)], [remote(0, 0)])]
    blocks = [[{"name": "pipeline", "iter_context": context, "ops": ops}] for ops in (adds, puts)]
    found = program(plan(gpu(0, [1], *blocks, semaphores=[0]), gpu(1, [0])), combine=1)
    by_hand = fl.Program(3)
    by_hand.place(2, 0)
    by_hand.place(1, 1)
    for turn, size in enumerate((1008, 1008, 1008, 1008, 64)):
        by_hand[0].compute(size)
        by_hand[0].notify(2, turn)
        by_hand[2].after(0, turn)
        by_hand[2].send(1, size, turn)
        by_hand[1].recv(2, None, turn)
    assert sent(found) == {(0, 1): 4096}
    assert cycles(found) == cycles(by_hand)
    blocks[1][0]["ops"] = puts * 2
    with pytest.raises(fl.ConfigError, match="it waits for release 6 of the semaphore, which is released 5 times"):
        program(plan(gpu(0, [1], *blocks, semaphores=[0]), gpu(1, [0])))


def test_a_port_channel_works_beside_the_thread_block(program):
    """A put on a port channel does not stop the thread block, until it flushes the channel."""
    put = move("put", [local("i", 0)], [remote(0, 0)], "port", channel_ids=[0])
    add = {"name": "re", "src_buff": [local("i", 0), local("o", 0)], "dst_buff": [local("o", 0)]}

    def end(*ops):
        return cycles(program(plan(gpu(0, [1], list(ops), kind="port"), gpu(1, [0], kind="port")), combine=1))

    by_hand = fl.Program(2)
    by_hand[0].send(1, 4096)
    by_hand[0].compute(4096)
    by_hand[1].recv(0)
    assert end(put, add) == 4096 < end(put, sync("flush", 0, kind="port"), add) == cycles(by_hand)
    for name in ("pws", "pwsf"):
        whole = plan(gpu(0, [1], [{**put, "name": name}], kind="port"),
                     gpu(1, [0], [sync("wait", 0, kind="port")], kind="port"))
        assert sent(program(whole)) == {(0, 1): 4104}
        assert cycles(program(whole)) == cycles(program(PUT_AND_SIGNAL))


def test_channels_pair_in_order(program):
    """GPU 0 has two channels to GPU 1. A signal on the second one does not end a wait on the first one."""
    waits = [[sync("wait", 0)], [sync("wait", 1)]]
    whole = plan(gpu(0, [1, 1], [sync("signal", 0, 1)]), gpu(1, [0, 0], *waits))
    assert sent(program(whole)) == {(0, 1): 16}
    whole["gpus"][0]["threadblocks"][0]["ops"] = [sync("signal", 1), sync("signal", 1)]
    with pytest.raises(fl.ConfigError, match=r"ops\[0\] \(wait\): it waits for signal 1 of GPU 0 on channel 0; GPU 0"):
        program(whole)


def test_thread_blocks_must_not_race_for_a_channel(program):
    whole = plan(gpu(0, [1], [sync("signal", 0)], [sync("signal", 0)]), gpu(1, [0], [sync("wait", 0)]))
    with pytest.raises(fl.ConfigError, match="two thread blocks signal on the same channel, so that their order"):
        program(whole)
    release, acquire = ({"name": f"sem_{name}", "semaphore_ids": [0]} for name in ("release", "acquire"))
    whole = plan(gpu(0, [], [release], [release], [acquire], semaphores=[0]))
    with pytest.raises(fl.ConfigError, match="several thread blocks acquire or release this semaphore"):
        program(whole)


def test_sizes(program):
    gather = plan(gpu(0, [1], [move("put", [local("i", 0)], [remote(0, 0)])], chunks=(1, 2, 1)), gpu(1, [0]),
                  collective="allgather")
    gather["gpus"][1].update(output_chunks=2)
    assert sent(program(gather, "4kB")) == {(0, 1): 2000}  # the output has two chunks
    with pytest.raises(fl.ConfigError, match="size = 4080: it must be a multiple of 32 bytes, because the plan"):
        program(gather, 4080)
    with pytest.raises(fl.ConfigError, match="size = 4096: the plan is for 0 to 4095 bytes"):
        program({**PUT_AND_SIGNAL, "max_message_size": 4095})
    with pytest.raises(fl.ConfigError, match="size = 4096: the plan is for 5000 to 18446744073709551615 bytes"):
        program({**PUT_AND_SIGNAL, "min_message_size": 5000})
    with pytest.raises(fl.ConfigError, match=r"is a plan of MSCCL\+\+: give the size of its buffer"):
        program(PUT_AND_SIGNAL, None)
    small = {"name": "pipeline", "iter_context": {"unit_size": 16, "num_chunks": 1}, "ops": [PUT]}
    with pytest.raises(fl.ConfigError, match="GPU 0 has more than 20000 operations at this size"):
        program(plan(gpu(0, [1], [small]), gpu(1, [0])), "1MiB")


def changed(*path, value):
    tree = copy.deepcopy(PUT_AND_SIGNAL)
    at = tree["gpus"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return tree


OPS = (0, "threadblocks", 0, "ops")


@pytest.mark.parametrize(("tree", "part"), [
    (changed(*OPS, 0, "name", value="putt"), "gpus[0].threadblocks[0].ops[0]: name = 'putt': it must be one of copy,"),
    (changed(*OPS, 0, "name", value=3), "ops[0]: name = 3: it must be one of copy,"),
    (changed(*OPS, 0, value={"name": "glres", "channel_type": "switch"}),
     "gpus[0].threadblocks[0].ops[0]: 'glres' uses a switch channel (NVLS), whose switch copies or adds"),
    (changed(*OPS, 0, "channel_type", value="tcp"), "ops[0] (put): channel_type = 'tcp': it must be one of memory, po"),
    (changed(*OPS, 0, "src_buff", 0, "type", value="x"), "ops[0] (put).src_buff[0]: type = 'x': it must be one of i,"),
    (changed(*OPS, 0, "src_buff", 0, "index", value=1), "src_buff[0]: index = 1, size = 1: the input buffer of GPU 0 "
                                                        "has 1 chunks (input_chunks)"),
    (changed(*OPS, 0, "dst_buff", 0, "index", value=7), "dst_buff[0]: index = 7, size = 1: the scratch buffer of GPU"),
    (changed(*OPS, 0, "dst_buff", 0, "buffer_id", value=1), "dst_buff[0]: buffer_id = 1: it must be a whole number fr"),
    (changed(*OPS, 0, "dst_buff", value=[]), "ops[0] (put): dst_buff is empty"),
    (changed(*OPS, 0, "dst_buff", value={}), "ops[0] (put): dst_buff = {}: it must be a list"),
    (changed(*OPS, 2, "channel_ids", value=[1]), "ops[2] (signal): channel_ids[0] = 1: it must be the number of a mem"),
    (changed(*OPS, 2, value=[]), "gpus[0].threadblocks[0].ops[2]: []: it must be an object"),
    (changed(0, "id", value=1), "gpus[0]: id = 1: it must be a whole number from 0 to 0"),
    (changed(0, "input_chunks", value=-1), "gpus[0]: input_chunks = -1: it must be a whole number from 0 to"),
    (changed(0, "input_chunks", value=1.5), "gpus[0]: input_chunks = 1.5: it must be a whole number from 0 to"),
    (changed(0, "channels", 0, "connected_to", value=[9]), "connected_to[0] = 9: it must be the number of a GPU, 0 to"),
    (changed(0, "remote_buffers", 0, "rank", value=0), "buffer_id = 0 is a buffer of GPU 0 for the channel types"),
    (changed(0, "threadblocks", value=None), "gpus[0]: threadblocks = None: it must be a list"),
    (changed(1, "threadblocks", 0, "ops", 0, "channel_ids", value=[0, 0]), "it waits for signal 2 of GPU 0"),
    ({**PUT_AND_SIGNAL, "gpus": []}, "gpus: it has 0 GPUs"),
    ({**PUT_AND_SIGNAL, "gpus": 3}, "gpus = 3: it must be a list"),
    ({**PUT_AND_SIGNAL, "buffer_alignment": 0}, "buffer_alignment = 0: it must be a whole number from 1"),
])
def test_wrong_plans_are_named(tree, part, program):
    with pytest.raises(fl.ConfigError) as error:
        program(tree)
    assert part in str(error.value) and "plan.json: " in str(error.value)


def test_incomplete_plans_are_named(tmp_path):
    text = json.dumps(PUT_AND_SIGNAL)
    for size in range(text.index("gpus") + 5, len(text) - 1, 13):
        (tmp_path / "p.json").write_text(text[:size])
        with pytest.raises(fl.ConfigError, match=r"p\.json: this is not JSON: .* line 1 column"):
            fl.read_program(tmp_path / "p.json", size=4096)
    (tmp_path / "p.json").write_text('{"gpus":' + "[" * 100_000)
    with pytest.raises(fl.ConfigError, match="this is not JSON"):
        fl.read_program(tmp_path / "p.json", size=4096)


def leaves(tree, path=()):
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in children:
        yield (*path, key)
        yield from leaves(value, (*path, key))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_change_of_a_plan_makes_another_error(data, program):
    """Any value in any place is read, or rejected with ConfigError."""
    tree = copy.deepcopy(data.draw(st.sampled_from([PUT_AND_SIGNAL, ring(3)])))
    path = data.draw(st.sampled_from(list(leaves(tree))))
    at = tree
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = data.draw(st.sampled_from([None, -1, 0, 1, 2, 2**40, 10**30, 0.5, True, "", "s", "port", [], [0],
                                              [[]], {}, [{}], "switch", "pipeline", "barrier", "get", "flush"]))
    try:
        program(tree, 9600).calls()
    except fl.ConfigError as error:
        assert "\n" not in str(error)
