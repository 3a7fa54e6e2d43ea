"""Traffic from files of packets: formats, compression, regions, dependencies and damaged files."""

from __future__ import annotations

import bz2
import gzip
import runpy
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flitlab as fl
from flitlab import shipped

EXAMPLES = Path(__file__).parents[1] / "tools" / "trace_examples.py"
EXAMPLE = shipped.folder() / "vc-netrace.tra"
BYTES = dict.fromkeys([1, 5, 13, 14, 15, 25, 27, 29], 8) | dict.fromkeys([2, 3, 4, 6, 16, 28, 30], 72)


def replay(file, **more):
    return {"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.mode": "trace", "traffic.trace_file": str(file),
            **{f"traffic.{key}": value for key, value in more.items()}}


def run(experiment):
    return fl.run(experiment, progress=False)


# [number of classes] class of a request to a cache, a recall, a request to memory, a response of memory, another one
CLASSES = {2: (0, 0, 0, 1, 1), 3: (0, 1, 0, 2, 2), 4: (0, 1, 2, 3, 3), 5: (0, 1, 2, 3, 4)}


def class_of(kind, nodes, classes):
    if kind in (1, 4, 6, 13, 15):
        return CLASSES[classes][2 if nodes % 16 == 3 else 0]
    return CLASSES[classes][1 if kind in (27, 29) else 3 if nodes // 16 == 3 else 4]


def rows_of(data, regions=None, flit_bytes=32, classes=1):
    """A second reader of Netrace: returns rows (cycle, source, destination, flits, needs...) of the chosen regions."""
    notes, count = struct.unpack_from("<II", data, 56)
    table, start = 72 + notes, 72 + notes + 24 * count
    rows, numbers, waits, begin, clock = [], {}, {}, 0, 0
    for region in range(count):
        offset, cycles, packets = struct.unpack_from("<QQQ", data, table + 24 * region)
        chosen, at = regions is None or region in regions, start + offset
        for _ in range(packets if chosen else 0):
            cycle, name, _, kind, source, destination, nodes, n = struct.unpack_from("<QIIBBBBB", data, at)
            numbers[name] = len(rows)
            flits = -(-BYTES[kind] // flit_bytes)
            of_class = [f"c{class_of(kind, nodes, classes)}"] if classes > 1 else []
            rows.append([cycle - begin + clock, source, destination, flits, *of_class, *waits.get(name, [])])
            for waiting in struct.unpack_from(f"<{n}I", data, at + 21):
                waits.setdefault(waiting, []).append(numbers[name])
            at += 21 + 4 * n
        begin, clock = begin + cycles, clock + (cycles if chosen else 0)
    return rows


def as_csv(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def test_the_example_is_what_its_script_writes():
    assert EXAMPLE.read_bytes() == runpy.run_path(str(EXAMPLES))["main"]()


@pytest.mark.parametrize("more", [{}, {"regions": [1]}, {"regions": [0]}, {"flit_bytes": 8}, {"throttling": True},
                                  *({"classes": n} for n in CLASSES)])
def test_a_netrace_file_equals_its_packets_as_csv(tmp_path, more):
    classes = more.get("classes", 1)
    rows = rows_of(EXAMPLE.read_bytes(), more.get("regions"), more.get("flit_bytes", 32), classes)
    if classes > 1:
        assert len({row[4] for row in rows}) == classes, "a class has no packet"
    assert max(map(len, rows)) > 5, "no packet needs two packets"
    (tmp_path / "t.csv").write_text(as_csv(rows))
    throttling = {"self_throttling": more.get("throttling", False), "classes": classes}
    vcs = {"router.vcs": max(4, classes)}
    own = run(replay(tmp_path / "t.csv", trace_order="ready", **throttling) | vcs)
    found = run(replay(EXAMPLE, flit_bytes=more.get("flit_bytes", 32), trace_regions=more.get("regions", []),
                       **throttling) | vcs)
    assert found.state_hash == own.state_hash and found.packets.delivered == len(rows)
    assert found.model["trace_cycles"] == own.model["trace_cycles"]


def test_dependencies_are_enforced(tmp_path):
    """Without them, packets are created at their cycles; with a slow network, they are created later."""
    rows = rows_of(EXAMPLE.read_bytes())
    (tmp_path / "free.csv").write_text(as_csv(row[:4] for row in rows))
    slow = {"topology.channel_delay": 20}
    free, bound = run(replay(tmp_path / "free.csv") | slow), run(replay(EXAMPLE) | slow)
    assert bound.model["trace_cycles"] > 1.5 * free.model["trace_cycles"]
    # In the order of the file, packets also wait for packets before them.
    one = [row[:5] for row in rows]
    (tmp_path / "one.csv").write_text(as_csv(one))
    ready, in_order = (run(replay(tmp_path / "one.csv", trace_order=order) | slow) for order in ("ready", "file"))
    assert ready.latency_cycles.mean < in_order.latency_cycles.mean


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_traces_in_both_formats(tmp_path_factory, data):
    """Random packets with random dependencies, written as Netrace and as CSV."""
    packets, cycle = [], 0
    for _ in range(data.draw(st.integers(1, 60))):
        cycle += data.draw(st.integers(0, 9))
        source, destination = data.draw(st.integers(0, 7)), data.draw(st.integers(0, 63))
        known = [i for i, packet in enumerate(packets) if packet[2] == source]
        needs = data.draw(st.lists(st.sampled_from(known), unique=True, max_size=5)) if known else []
        nodes = 16 * data.draw(st.sampled_from([0, 2, 3])) + data.draw(st.sampled_from([0, 2, 3]))
        packets.append((cycle, source, destination, data.draw(st.sampled_from(sorted(BYTES))), needs, nodes))
    classes = data.draw(st.integers(1, 5))
    waiting = [[i for i, packet in enumerate(packets) if number in packet[4]] for number in range(len(packets))]
    names = data.draw(st.permutations(range(len(packets))))  # numbers in the file need not rise
    file = tmp_path_factory.mktemp("traces") / "t.tra"
    head = struct.pack("<If30sBxQQIIxxxxxxxx", 0x484A5455, 1.0, b"random", 64, cycle, len(packets), 1, 1)
    records, rows = [], []
    for i, (at, source, destination, kind, needs, nodes) in enumerate(packets):
        records.append(struct.pack(f"<QIIBBBBB{len(waiting[i])}I", at, names[i], 0, kind, source, destination, nodes,
                                   len(waiting[i]), *(names[w] for w in waiting[i])))
        of_class = [f"c{class_of(kind, nodes, classes)}"] if classes > 1 else []
        rows.append((at, source, destination, -(-BYTES[kind] // 32), *of_class, *needs))
    file.write_bytes(head + b"\0" + struct.pack("<QQQ", 0, cycle, len(packets)) + b"".join(records))
    mesh = {"topology.kind": "mesh", "topology.shape": [8, 8], "router.vcs": 5, "traffic.classes": classes}
    own = fl.Experiment({**mesh, "traffic.mode": "host"}).with_trace(rows, order="ready")
    assert run(replay(file) | mesh).state_hash == run(own).state_hash


def arrivals(rows, **more):
    """[packet] the cycle in which it arrives."""
    network = fl.Network(fl.Experiment({"topology.kind": "mesh", "topology.shape": [4], "router.vcs": 2,
                                        "traffic.mode": "host", **more}).with_trace(rows, order="ready"), trace=True)
    network.step(400)
    return {number: cycle for kind, cycle, _, number, *_ in network._core.packet_events() if kind == "delivered"}


def test_packets_of_classes_do_not_wait_for_one_another():
    """Both packets are created in cycle 0. A packet of 60 flits occupies the only queue of the terminal for 60 cycles;
    with classes, the channel carries flits of both in turn, so the packet of 4 flits takes 8 cycles or fewer."""
    together = arrivals([(0, 0, 1, 60), (0, 0, 1, 4)])
    apart = arrivals([(0, 0, 1, 60, "c0"), (0, 0, 1, 4, "c1")], **{"traffic.classes": 2})
    assert together[1] > 60 > 30 > apart[1] and apart[0] <= together[1]


def test_a_packet_needs_one_of_another_class():
    """The answer, of class 1, leaves in the cycle after the arrival of the request, of class 0. The packet after it in
    the file, of class 0, does not wait for it."""
    rows = [(0, 0, 3, 4, "c0"), (5, 3, 0, 4, "c1", 0), (6, 3, 0, 4, "c0")]
    way = arrivals(rows[:1])[0]
    assert arrivals(rows, **{"traffic.classes": 2}) == {0: way, 1: way + 1 + way, 2: 6 + way}


@pytest.mark.parametrize("form", ["parquet", "frame", "arrow"])
def test_a_column_has_the_classes(tmp_path, form):
    rows = rows_of(EXAMPLE.read_bytes(), classes=3)
    frame = pd.DataFrame([(*row[:4], int(row[4][1:]), row[5:]) for row in rows],
                         columns=["cycle", "source", "destination", "flits", "class", "needs"])
    expected = run(replay(EXAMPLE, classes=3)).state_hash
    if form == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        experiment = fl.Experiment(replay(tmp_path / "t.parquet", classes=3, trace_order="ready"))
    else:
        experiment = fl.Experiment(replay(EXAMPLE, classes=3)).with_trace(
            frame if form == "frame" else pyarrow.Table.from_pandas(frame), order="ready")
    assert run(experiment).state_hash == expected


def test_classes_that_do_not_exist_are_named(tmp_path):
    assert "class 2 does not exist: classes of packets are numbered 0 to 1 (traffic.classes = 2)" in message_of(
        lambda: arrivals([(0, 0, 1, 1, "c2")], **{"traffic.classes": 2}))
    assert "packets of Netrace have up to 5 classes" in message_of(
        lambda: run(replay(EXAMPLE, classes=6) | {"router.vcs": 6}))


@pytest.mark.parametrize("form", ["gzip", "bzip2", "zstd", "parquet", "rows", "array", "frame", "arrow", "batch"])
def test_every_form_is_the_same_trace(tmp_path, form):
    rows = rows_of(EXAMPLE.read_bytes())
    width = max(map(len, rows))
    frame = pd.DataFrame([(*row[:4], row[4:]) for row in rows],
                         columns=["cycle", "source", "destination", "flits", "needs"])
    base = replay(EXAMPLE)
    expected = run(base).state_hash
    mesh = fl.Experiment({"topology.kind": "mesh", "topology.shape": [8, 8], "traffic.load": 0.1})
    if form in ("rows", "array", "frame", "arrow", "batch"):
        given = {"rows": rows, "frame": frame, "arrow": pyarrow.Table.from_pandas(frame),
                 "batch": pyarrow.RecordBatch.from_pandas(frame),
                 "array": np.array([row + [-1] * (width - len(row)) for row in rows])}[form]
        experiment = mesh.with_trace(given, order="ready")
        experiment.save(tmp_path / "kept.toml")
        assert run(fl.load(tmp_path / "kept.toml")).state_hash == expected
    else:
        path = tmp_path / "trace"
        if form == "parquet":
            frame.to_parquet(path)
        elif form == "zstd":
            with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
                file.write(EXAMPLE.read_bytes())
        else:
            path.write_bytes({"gzip": gzip, "bzip2": bz2}[form].compress(EXAMPLE.read_bytes()))
        experiment = fl.Experiment(replay(path) | ({"traffic.trace_order": "ready"} if form == "parquet" else {}))
        assert fl.Experiment(experiment.flat(), experiment.base_dir).core.files_hash() == experiment.core.files_hash()
    assert run(experiment).state_hash == expected


def test_missing_values_in_needs_mean_no_packet():
    base = fl.load("vc-mesh-8x8")
    columns = {"cycle": [0, 0, 5], "source": [0, 1, 2], "destination": [2, 2, 0], "flits": 1}
    tables = [pd.DataFrame({**columns, "needs": needs})
              for needs in ([None, None, 0], [float("nan"), float("nan"), 0.0], [pd.NA, pd.NA, 0], [[], [pd.NA], [0]])]
    assert len({run(base.with_trace(table)).state_hash for table in tables}) == 1


def message_of(call):
    with pytest.raises(fl.ConfigError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(("change", "part"), [
    (lambda d: d[:50], "the file ends in the middle of the header"),
    (lambda d: d[:100], "the file ends in the middle of the header"),
    (lambda d: d[:-3], "ends in the middle of a packet"),
    (lambda d: d[:4] + struct.pack("<f", 2.0) + d[8:], "version 2.000000 of Netrace is unknown: version 1.0"),
    (lambda d: d[:56] + b"\xff" * 4 + d[60:], "it is damaged"),
    (lambda d: d[:-4000], "byte"),
    (lambda d: d[:38] + b"\x05" + d[39:], "the trace has 5 nodes: the file is damaged"),
])
def test_damaged_netrace_files_are_named(tmp_path, change, part):
    (tmp_path / "bad.tra").write_bytes(change(EXAMPLE.read_bytes()))
    text = message_of(lambda: run(replay(tmp_path / "bad.tra")))
    assert part in text and "traffic.trace_file" in text and "bad.tra: byte " in text


def test_damaged_packets_are_named(tmp_path):
    data = bytearray(EXAMPLE.read_bytes())
    notes, = struct.unpack_from("<I", data, 56)
    first = 72 + notes + 48
    data[first + 16] = 99
    (tmp_path / "bad.tra").write_bytes(data)
    assert f"byte {first}: packet 0: type 99 has no size" in message_of(lambda: run(replay(tmp_path / "bad.tra")))


def test_compressed_files_that_cannot_be_expanded_are_named(tmp_path):
    whole = gzip.compress(EXAMPLE.read_bytes())
    for name, data in {"short.gz": whole[:-2000], "wrong.gz": whole[:10] + b"\xff" + whole[11:],
                       "wrong.bz2": b"BZh9" + b"nonsense" * 9,
                       "wrong.zst": b"\x28\xb5\x2f\xfdnonsense", "wrong.parquet": b"PAR1nonsense"}.items():
        (tmp_path / name).write_bytes(data)
        text = message_of(lambda: fl.Experiment(replay(tmp_path / name)))  # noqa: B023
        assert "cannot be expanded" in text and name in text


def test_a_file_that_is_compressed_twice_is_named(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"cycle": [0], "source": [0], "destination": [1], "flits": [1]}),
                                tmp_path / "t.parquet")
    once = gzip.compress(EXAMPLE.read_bytes())
    for data, outer, inner in ((gzip.compress(once), "gzip", "gzip"), (bz2.compress(once), "bzip2", "gzip"),
                               (gzip.compress((tmp_path / "t.parquet").read_bytes()), "gzip", "Parquet")):
        (tmp_path / "twice").write_bytes(data)
        text = message_of(lambda: fl.Experiment(replay(tmp_path / "twice")))
        assert f"twice ({outer}) contains a file that is {inner} itself. A trace may be compressed once" in text


@pytest.mark.parametrize(("rows", "part"), [
    ([(0, 1, 2)], "row 0 is (0, 1, 2): it must be cycle, source, destination, flits"),
    ([(0, 1, 2, 1), (0, -1, 2, 1)], "row 1 is (0, -1, 2, 1)"),
    ([(0, 1, 2, 0.5)], "row 0 is (0, 1, 2, 0.5)"),
    ("three.csv", "A file is set as traffic.trace_file."),
    (5, "it must be a table with the columns"),
    (np.array([0, 0, 63, 4]), "it must be a table with the columns"),
    ([7], "row 0 is 7"),
    (pd.DataFrame({"cycle": [0]}), "has no column source, destination, flits"),
    (pyarrow.table({"cycle": [0]}), "has no column source, destination, flits"),
    (pyarrow.table({"cycle": [0], "source": [None], "destination": [1], "flits": [1]}), "row 0 is (0, None, 1, 1)"),
])
def test_wrong_rows_are_named(rows, part):
    assert part in message_of(lambda: fl.load("vc-mesh-8x8").with_trace(rows))


def test_what_does_not_fit_is_named(tmp_path):
    small = replay(EXAMPLE) | {"topology.shape": [4, 4]}
    assert "terminals are numbered 0 to 15" in message_of(lambda: run(small))
    assert "Set traffic.trace_order = \"ready\"" in message_of(lambda: run(replay(EXAMPLE, trace_order="file")))
    assert "has 2 regions, numbered from 0" in message_of(lambda: run(replay(EXAMPLE, trace_regions=[2])))
    assert "the numbers must rise" in message_of(lambda: run(replay(EXAMPLE, trace_regions=[1, 0])))
    metro = fl.load("metro-figure3").set("endpoint.stalls", False).with_traffic(
        {"traffic.mode": "trace", "traffic.trace_file": str(EXAMPLE), "traffic.flit_bytes": 1})
    assert "terminals of this network cannot identify" in message_of(lambda: run(metro))


def test_links_do_not_hold_binary_traces():
    assert "links hold files of text" in message_of(lambda: fl.share("vc-netrace"))
    rows = fl.load("vc-mesh-8x8").with_trace([(0, 0, 63, 4)])
    assert fl.share(rows)
