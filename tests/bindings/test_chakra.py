"""Execution traces of MLCommons Chakra."""

from __future__ import annotations

import gzip
import json

import pytest

import flitlab as fl
from tests.support.program_runs import cycles


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def chunk(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def chakra(nodes):
    """nodes: (id, type, ctrl_deps, data_deps, microseconds, attributes {name: (field, value)})."""
    messages = [chunk(1, b"0.0.4")]
    for number, kind, ctrl, data, time, attributes in nodes:
        node = (varint(1 << 3) + varint(number) if number else b"") + chunk(2, f"n{number}".encode())
        node += varint(3 << 3) + varint(kind)
        node += chunk(4, b"".join(map(varint, ctrl))) if ctrl else b""
        node += b"".join(varint(5 << 3) + varint(dep) for dep in data)  # not packed
        node += varint(7 << 3) + varint(time) if time else b""
        for name, (field, value) in attributes.items():
            if field == 28:  # a list of booleans
                text = chunk(28, chunk(1, bytes(value)))
            else:
                text = chunk(field, value.encode()) if field == 29 else varint(field << 3) + varint(value)
            node += chunk(10, chunk(1, name.encode()) + text)
        messages.append(node)
    return b"".join(varint(len(message)) + message for message in messages)


def step_of(rank, ranks):
    """Computes on both processors, exchanges a message with the next rank, then an allreduce, and one of a group."""
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    group = "1" if rank < ranks // 2 else "2"
    return [(0, 4, [], [], 3, {"is_cpu_op": (27, 1)}), (1, 4, [0], [], 2, {"is_cpu_op": (27, 0)}),
            (2, 5, [], [1], 0, {"comm_dst": (7, right), "comm_size": (13, 1000), "comm_tag": (11, 4)}),
            (3, 6, [1], [], 0, {"comm_src": (9, left), "comm_size": (9, 1000), "comm_tag": (7, 4)}),
            (4, 7, [2, 3], [], 0, {"comm_type": (9, 0), "comm_size": (9, 8192)}),
            (5, 7, [], [4], 0, {"comm_type": (13, 2), "comm_size": (13, 100), "pg_name": (29, group)}),
            (9, 1, [5], [], 0, {})]


def write_trace(folder, trace, ranks=4):
    for rank in range(ranks):
        (folder / f"t.{rank}.et").write_bytes(chakra(trace(rank, ranks)))
    return folder / "t.0.et"


GROUPS = {"1": [0, 1], "2": [2, 3]}


def test_chakra(tmp_path):
    path = write_trace(tmp_path, step_of)
    own = fl.Program(4)
    for me in own:
        me.compute(3000)
        me.compute(2000)
        me.send((me.rank + 1) % 4, 1000)
        me.recv((me.rank - 1) % 4)
        for _ in range(6):  # a ring: three steps to add, three to collect
            me.isend((me.rank + 1) % 4, 2048)
            me.recv((me.rank - 1) % 4)
        me.waitall()
        me.isend(me.rank ^ 1, 100)
        me.recv(me.rank ^ 1)
    network = {"topology.kind": "ring", "topology.shape": [4], "traffic.mode": "program"}
    program = fl.read_program(path, groups=GROUPS)
    assert cycles(program, network) == cycles(own, network)
    (tmp_path / "groups.json").write_text(json.dumps(GROUPS))
    assert fl.read_program(path, groups=tmp_path / "groups.json").text() == program.text()
    assert cycles(fl.read_program(path, groups=GROUPS, cycle_ns=10), network) < 1500
    other = fl.read_program(path, groups=GROUPS, algorithms={"allreduce": "tree"})
    assert other.text() != program.text() and cycles(other, network) > 5000


def test_chakra_in_other_files(tmp_path):
    """Compressed with gzip, and as JSON with the names of either style and numbers as text."""
    program = fl.read_program(write_trace(tmp_path, step_of), groups=GROUPS)
    zipped, json_folder = tmp_path / "zipped", tmp_path / "json"
    zipped.mkdir()
    json_folder.mkdir()
    types = ["", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE",
             "COMM_COLL_NODE"]
    kinds = {7: "int32_val", 9: "int64_val", 11: "uint32_val", 13: "uint64_val", 27: "bool_val", 29: "string_val"}
    for rank in range(4):
        (zipped / f"t.{rank}.et").write_bytes(gzip.compress((tmp_path / f"t.{rank}.et").read_bytes()))
        nodes = [{"id": str(number), "name": f"n{number}", "type": types[kind], "ctrl_deps": ctrl,
                  "dataDeps": [str(n) for n in data], "durationMicros": str(time),
                  "attr": [{"name": name, kinds[field]: str(value) if field in (9, 13) else value}
                           for name, (field, value) in attributes.items()]}
                 for number, kind, ctrl, data, time, attributes in step_of(rank, 4)]
        (json_folder / f"t.{rank}.json").write_text(json.dumps({"global_metadata": {}, "nodes": nodes}))
    for path in (zipped / "t.2.et", json_folder / "t.0.json"):
        assert fl.read_program(path, groups=GROUPS).text() == program.text()


def test_chakra_computations_by_their_operations(tmp_path):
    path = write_trace(tmp_path, lambda rank, ranks: [(0, 4, [], [], 0, {"num_ops": (13, 4000)})])
    assert cycles(fl.read_program(path)) == 0
    assert cycles(fl.read_program(path, flops_per_ns=8)) == 500


@pytest.mark.parametrize(("trace", "part"), [
    (lambda rank, ranks: [(0, 4, [7], [], 1, {})], "node 0 (n0) needs node 7, which is not in the file"),
    (lambda rank, ranks: [(0, 5, [], [], 1, {"comm_size": (9, 8)})],
     "node 0 (n0) has comm_dst = None; it must be a number from 0"),
    (lambda rank, ranks: [(0, 7, [], [], 1, {"comm_type": (9, 3)})], "has comm_type 3; flitlab runs 0, 1"),
    (lambda rank, ranks: [(0, 7, [], [], 1, {"comm_type": (9, 0), "comm_size": (9, 8 + rank)})],
     "is allreduce of 9 bytes, and the collective number 0 of its group is allreduce of 8 bytes"),
    (lambda rank, ranks: [(0, 7, [], [], 1, {"comm_type": (9, 0), "comm_size": (9, 8), "pg_name": (29, "5")})],
     "uses the group 5, which is unknown"),
    (lambda rank, ranks: [(0, 8, [], [], 1, {})], "has type 8; types are 1 to 7"),
    (lambda rank, ranks: [(1, 4, [], [], 5, {}), (1, 4, [], [], 7, {})], "two nodes have the id 1"),
    (lambda rank, ranks: [(0, 5, [], [], 0, {"comm_dst": (9, 1), "comm_size": (9, 8)})] if rank == 0 else [],
     "no receive is left for this message"),
])
def test_wrong_chakra_traces_are_named(trace, part, tmp_path):
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(write_trace(tmp_path, trace))
    assert part in str(error.value)


def test_damaged_chakra_files_are_named(tmp_path):
    path = write_trace(tmp_path, step_of)
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with pytest.raises(fl.ConfigError, match=r"t\.0\.et: byte \d+: this is not a Chakra trace, or it is truncated"):
        fl.read_program(path, groups=GROUPS)
    path.write_bytes(gzip.compress(whole)[:-9])
    with pytest.raises(fl.ConfigError, match="cannot be expanded"):
        fl.read_program(path, groups=GROUPS)
    (tmp_path / "u.3.json").write_text("{}")
    with pytest.raises(fl.ConfigError, match=r"the file of rank 0 is not beside it"):
        fl.read_program(tmp_path / "u.3.json")
    (tmp_path / "u.0.json").write_text("{}")
    with pytest.raises(fl.ConfigError, match="this is not a Chakra trace in JSON"):
        fl.read_program(tmp_path / "u.0.json")


@pytest.mark.parametrize(("arguments", "part"), [
    ({"cycle_ns": 0}, "cycle_ns = 0: it must be a number from 0.0001 to 1e+06"),
    ({"cycle_ns": True}, "cycle_ns = True"),
    ({"flops_per_ns": 0}, "flops_per_ns = 0: it must be a number from"),
    ({"algorithms": ["ring"]}, "it must be a dictionary of operations and algorithms"),
    ({"algorithms": {"sum": "ring"}}, "operations are allreduce"),
    ({"groups": {"1": 5}}, "is not a JSON file of the form"),
    ({"groups": {"1": [0, 0], "2": [2, 3]}}, "only ranks from 0 to 3, each of them once"),
    ({"algorithms": {"allreduce": "rings"}}, "algorithms['allreduce'] = 'rings': for allreduce it must be one of ring"),
    ({"groups": "nothing.json"}, "nothing.json is not a JSON file of the form"),
])
def test_wrong_arguments_are_named(arguments, part, tmp_path):
    path = write_trace(tmp_path, step_of)
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(path, **arguments)
    assert part in str(error.value)
    with pytest.raises(fl.ConfigError, match="is not a file"):
        fl.read_program(tmp_path / "none")


def test_a_change_of_any_file_is_seen(tmp_path):
    path = write_trace(tmp_path, lambda rank, ranks: [(0, 4, [], [], 1, {})])
    assert cycles(str(path)) == 1000
    (tmp_path / "t.2.et").write_bytes(chakra([(0, 4, [], [], 700, {})]))
    assert cycles(str(path)) == 700_000


def sum_along(dimensions, **more):
    return lambda rank, ranks: [(0, 7, [], [], 0, {"comm_type": (9, 0), "comm_size": (9, 800),
                                                   "involved_dim": (28, dimensions), **more})]


def peers(program):
    """[rank] the ranks to which it sends."""
    return [sorted({peer for call, peer, *_ in own if call == "isend"}) for own in program.calls()]


@pytest.mark.parametrize(("dimensions", "expected"), [
    ([1, 0], [[1], [2], [0], [4], [5], [3]]),
    ([0, 1], [[3], [4], [5], [0], [1], [2]]),
    ([1, 1], [[1], [2], [3], [4], [5], [0]]),
    ([1, 1, 1, 1], [[1], [2], [3], [4], [5], [0]]),
])
def test_involved_dimensions_give_the_ranks_of_a_collective(dimensions, expected, tmp_path):
    """In a ring a rank sends to the next one of its group. Ranks 0, 1 and 2 are the first row of the shape [3, 2]."""
    path = write_trace(tmp_path, sum_along(dimensions), 6)
    assert peers(fl.read_program(path, shape=[3, 2])) == expected


def test_involved_dimensions_in_json_refer_to_the_network(tmp_path):
    node = {"id": 0, "type": "COMM_COLL_NODE", "attr": [
        {"name": "comm_type", "int64Val": 0}, {"name": "comm_size", "int64Val": 4800},
        {"name": "involved_dim", "boolList": {"values": [True, False]}}]}
    for rank in range(6):
        (tmp_path / f"t.{rank}.json").write_text(json.dumps({"nodes": [node]}))
    path = str(tmp_path / "t.0.json")
    program = fl.read_program(path, shape=[3, 2])
    network = {"topology.kind": "torus", "topology.shape": [3, 2], "traffic.mode": "program"}
    found = [fl.run({**network, "traffic.program_file": given}, progress=False).model["program_cycles"]
             for given in (path, program)]
    assert found[0] == found[1]
    with pytest.raises(fl.ConfigError, match="needs a shape of 2 dimensions and 6 ranks"):
        fl.run({**network, "topology.shape": [4, 2], "traffic.program_file": path}, progress=False)


@pytest.mark.parametrize(("dimensions", "more", "shape", "part"), [
    ([1, 0], {}, None, "no shape is known: it needs a shape of 2 dimensions and 4 ranks."),
    ([1, 0], {}, [2, 3], "the shape [2, 3] has 6 ranks"),
    ([1, 0, 0], {}, [2, 2], "it needs a shape of 3 dimensions and 4 ranks"),
    ([0, 0], {}, [2, 2], "at least one dimension must take part"),
    ([2, 0], {}, [2, 2], "it must be a list of booleans"),
    ([1, 0], {"pg_name": (29, "1")}, [2, 2], "and the group 1: only one of them can name the ranks"),
    ([1, 0], {}, [2, 0], "shape = [2, 0]: it must be a list of whole numbers from 1"),
])
def test_involved_dimensions_without_meaning_are_named(dimensions, more, shape, part, tmp_path):
    with pytest.raises(fl.ConfigError) as error:
        fl.read_program(write_trace(tmp_path, sum_along(dimensions, **more)), shape=shape,
                        groups={"1": [0, 1, 2, 3]})
    assert part in str(error.value)
