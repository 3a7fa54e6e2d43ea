"""booksim2::Interconnect: a host with ONNXim's calls sees the packets as the C library delivers them, full buffers stop
it, types of packets have their virtual channels, and wrong calls and files give messages."""

from collections import Counter

import pytest

from .conftest import MESH

ICNT = """[config]
use_map = 0
flit_size = 64
topology = mesh
subnets = 1
num_vcs = 4  // the network is in the TOML file
input_buffer_size = 12
"""


@pytest.fixture
def onnxim(run, tmp_path):
    """Returns a function that runs packets (cycle, source, destination, bytes[, subnet[, type]]). It returns for each
    of them the cycles in which it was pushed and arrived, and the printed statistics."""

    def call(packets, icnt=ICNT, pop=0, toml=MESH, **environment):
        (tmp_path / "net.icnt").write_text(icnt)
        (tmp_path / "net.toml").write_text(toml)
        given = "\n".join(" ".join(map(str, (*packet, 0, 0)[:6])) for packet in packets)
        lines = run("onnxim", "net.icnt", 16, pop, given=given, **environment)
        taken = [tuple(map(int, line.split())) for line in lines if not line.startswith("sub-network")]
        assert Counter(number for number, _, _ in taken) == Counter(range(len(packets)))  # each arrives once
        return [cycles for _, *cycles in sorted(taken)], lines[-1:] if len(packets[0]) < 5 else lines[-2:]

    return call


def test_a_lone_packet_takes_the_zero_load_latency(onnxim):
    # 0 to 2: H = 2 channels, 128 bytes are L = 2 flits, 5 H + L + 5 = 17 cycles, and one more as in BookSim.
    # 0 to 15: H = 6, L = 3 (129 bytes), 38 + 1. To itself: H = 0, L = 1, 6 + 1.
    cycles, statistics = onnxim([(0, 0, 2, 128), (100, 0, 15, 129), (200, 5, 5, 1)])
    assert cycles == [[0, 18], [100, 139], [200, 207]]
    # (18 + 39 + 7) / 3
    assert statistics == ["sub-network 0: 3 packets arrived, 0 are on their way; mean latency 21.33 cycles, in the "
                          "network 21.33 cycles"]


def test_packets_arrive_as_without_the_adapter(onnxim, direct, random_packets):
    packets = random_packets(800, 1000, 256)
    cycles, _ = onnxim(packets)
    given = [(pushed, source, destination, -(-size // 64))
             for (pushed, _), (_, source, destination, size) in zip(cycles, packets, strict=True)]
    assert all(pushed >= packet[0] for (pushed, _), packet in zip(cycles, packets, strict=True))
    assert [arrived for _, arrived in cycles] == [cycle + 1 for cycle in direct(given)]


READ, WRITE, READ_REPLY, WRITE_REPLY, ANY = range(5)


@pytest.mark.parametrize(("kind", "waits"), [(READ, True), (WRITE, False), (READ_REPLY, True), (WRITE_REPLY, False),
                                             (ANY, True)])
def test_types_of_packets_use_their_virtual_channels(onnxim, kind, waits):
    classes = "classes = 4\nclass_vcs = 'ranges'\nclass_first_vc = [0, 1, 0, 1]\nclass_last_vc = [0, 2, 0, 2]\n"
    # A packet of 12 flits from 0 to 3, and one of a flit from 1 to 3. With one virtual channel the short packet waits
    # for the tail of the long one, with two it overtakes.
    cycles, _ = onnxim([(0, 0, 3, 12 * 64, 0, kind), (8, 1, 3, 64, 0, kind)], toml=MESH + classes)
    assert (cycles[1][1] > cycles[0][1]) == waits


def test_types_keep_the_order_of_their_source(onnxim):
    classes = "classes = 4\nclass_vcs = 'shared'\n"
    types = (READ, READ, READ, WRITE, WRITE, READ, WRITE_REPLY, READ)
    cycles, _ = onnxim([(0, 0, 1, 64, 0, kind) for kind in types], toml=MESH + classes)
    assert [at for at, _ in cycles] == [0] * 8
    assert cycles == sorted(cycles)


def test_a_full_input_buffer_stops_the_host(onnxim):
    # Room for 12 flits, packets of 4 flits: three of them in cycle 0. A head leaves in cycles 0, 4, 8, ...; a cycle
    # later there is room for another packet.
    cycles, _ = onnxim([(0, 0, 1, 256)] * 8)
    assert [at for at, _ in cycles] == [0, 0, 0, 1, 5, 9, 13, 17]


def test_a_host_that_does_not_pop_stops_the_sources(onnxim):
    icnt = ICNT.replace("num_vcs = 4", "num_vcs = 1") + "ejection_buffer_size = 4\nboundary_buffer_size = 4;"
    packets = [(0, source, 5, 64) for source in range(16) for _ in range(100)]
    cycles, _ = onnxim(packets, icnt, pop=2000)
    # Packets to node 5 arrive in cycles 7 (from itself, 5 H + L + 5 + 1), 8, 9, ...: after cycle 14 its buffers are
    # full. By then, each source has given the network 12 packets in cycle 0 and one in each of cycles 1 to 14; it then
    # takes 12 more into its input buffer. The network delivers all packets that it was given.
    assert Counter(at < 2000 for at, _ in cycles)[True] == 16 * (12 + 14 + 12)
    assert Counter(at for _, at in cycles)[1999] == 16 * (12 + 14)  # popped in cycle 1999
    # From cycle 2000 on there is room again: the next packets arrive in cycles 2007, 2008, ... (before the last source
    # is alone).
    assert sorted(at for _, at in cycles)[416:1500] == list(range(2007, 2007 + 1084))
    # Without the bound all arrive at once.
    unbounded, _ = onnxim(packets, ICNT + "boundary_buffer_size = 1000", pop=4000)
    assert {at for _, at in unbounded} == {3999}


def test_sub_networks_are_separate(onnxim):
    icnt = ICNT.replace("subnets = 1", "subnets = 2")
    packets = [(0, 0, 2, 128, 0), (0, 0, 2, 128, 1), (0, 1, 2, 128, 1)]
    cycles, statistics = onnxim(packets, icnt, TWO_SUBNETS="1")
    assert cycles[0] == [0, 18] and cycles[2] == [0, 13]  # each is alone or first in its sub-network
    assert [line.split(":")[1].split()[0] for line in statistics] == ["1", "2"]


def test_wrong_calls_give_messages(run, tmp_path):
    (tmp_path / "net.icnt").write_text(ICNT)
    (tmp_path / "net.toml").write_text(MESH)
    said = dict(line.split(": ", 1) for line in run("onnxim", "errors", "net.icnt"))
    assert said == {
        "no nodes": "the number of nodes is 0; it must be 1 or more.",
        "too many nodes": "net.toml has 16 terminals, and the host has 17 nodes.",
        "no file": "no/such.icnt cannot be read: does the file exist?",
        "folder": "/ is a folder, not an .icnt file.",
        "subnet": "sub-network 1 does not exist: subnets = 1.",
        "bytes": "push: 0 bytes from 0 to 1 is not a packet.",
        "source": "node 16 does not exist: nodes are numbered 0 to 15.",
        "destination": "node 16 does not exist: nodes are numbered 0 to 15.",
        "too long": "a packet of 320000 bytes has 5000 flits; the network carries 4095 at most.",
        "never fits": "a packet of 13 flits never fits into an input buffer of 12 flits: raise input_buffer_size.",
        "top": "no packet has arrived at node 3: call is_empty() first.",
        "pop": "no packet has arrived at node 3: call is_empty() first.",
        "push": "fine"}


@pytest.mark.parametrize(("icnt", "toml", "message"), [
    (ICNT, None, "net.toml does not exist. flitlab reads the network from this file. "
                 "`flitlab import net.icnt -o net.toml` writes it."),
    (ICNT, "[router]\nvc = 4", "flitlab: vc"),
    ("flit_size = 64\nsubnets 1", MESH, "net.icnt, line 2: `subnets 1` is not a statement NAME = VALUE."),
    ("flit_size = 0;", MESH, "net.icnt, line 1: flit_size = 0 must be a whole number from 1 to 1000000000."),
    ("\nsubnets = -1;", MESH, "net.icnt, line 2: subnets = -1 must be a whole number from 1 to 1000000000."),
    ("num_vcs = 99999999999999999999", MESH, "net.icnt, line 1: num_vcs = 99999999999999999999 must be"),
    ("memory_node_map = 1,2", MESH, "net.icnt, line 1: memory_node_map = 1,2 must be a list {A,B,...} in one line."),
    ("memory_node_map = {1,x};", MESH, "net.icnt, line 1: memory_node_map = x must be a whole number from 0 to"),
    ("a = 1; flit_size = 64; // b c\r\ninput_buffer_size = 0;;\n[x]\nmemory_node_map = {1, 2};", MESH, "fine"),
])
def test_wrong_files_give_messages(run, tmp_path, icnt, toml, message):
    (tmp_path / "net.icnt").write_text(icnt)
    if toml:
        (tmp_path / "net.toml").write_text(toml)
    (line,) = run("onnxim", "open", "net.icnt")
    if message == "flitlab: vc":
        assert line.startswith("open: flitlab: ") and "router.vcs" in line
    else:
        assert line.startswith(f"open: {message}")
