"""InterconnectInterface: requests and replies of a host with GPGPU-Sim's calls arrive as the C library delivers them,
devices have the terminals of the node map, and wrong calls give messages."""

import pytest

from .conftest import MESH

ICNT = "use_map = 1;\nflit_size = 32;\nsubnets = 2;\nnum_vcs = 4;\ninput_buffer_size = 20;\n"
MAP = "memory_node_map = {5,6,9,10};\n"


@pytest.fixture
def gpgpusim(run, tmp_path):
    """Returns a function that runs memory accesses (cycle, shader, memory). It returns for each of them the terminals
    of shader and memory and the cycles in which request and reply were pushed and arrived, and the printed lines."""

    def call(accesses, icnt=ICNT + MAP, devices=(12, 4)):
        (tmp_path / "net.icnt").write_text(icnt)
        (tmp_path / "net.toml").write_text(MESH)
        given = "\n".join(" ".join(map(str, access)) for access in accesses)
        lines = run("gpgpusim", "net.icnt", *devices, given=given)
        return [tuple(map(int, line.split())) for line in lines[:len(accesses)]], lines[len(accesses):]

    return call


def test_a_lone_access_takes_the_zero_load_latency(gpgpusim):
    # Requests have L = 1 flit (8 bytes), replies 5 (136 bytes). Shader 0 has terminal 0, memory 0 terminal 5: H = 2
    # channels; 5 H + L + 5 = 16 and 20 cycles, and one more as in intersim2. Shader 11 has terminal 15, memory 3
    # terminal 10: the same.
    # Shader 5 is the sixth device that is no memory, at terminal 7; memory 3 is 2 channels away.
    # The memory answers in the next cycle.
    accesses, printed = gpgpusim([(0, 0, 0), (100, 11, 3), (200, 5, 3)])
    assert accesses == [(0, 5, 0, 17, 18, 39), (15, 10, 100, 117, 118, 139), (7, 10, 200, 217, 218, 239)]
    seen = [(line.split()[2], line.split("latency ")[1].split()[0]) for line in printed[:6]]
    assert seen[:2] == seen[4:] == [("3", "17.00"), ("3", "21.00")]  # since Init(), since the beginning
    assert seen[2:4] == [("0", "0.00")] * 2  # after Init()
    assert printed[6].startswith("sub-network 0 at cycle 240: 3 packets arrived, 0 are on their way;")


@pytest.mark.parametrize("subnets", [1, 2])
def test_accesses_arrive_as_without_the_adapter(gpgpusim, direct, random_packets, subnets):
    accesses, _ = gpgpusim([(cycle, source % 12, destination % 4)
                            for cycle, source, destination, _ in random_packets(600, 2000, 1)],
                           (ICNT + MAP).replace("subnets = 2", f"subnets = {subnets}"))
    requests = [(at, shader, memory, 1) for shader, memory, at, *_ in accesses]
    replies = [(at, memory, shader, 5) for shader, memory, _, _, at, _ in accesses]
    arrived = [fields[3] - 1 for fields in accesses], [fields[5] - 1 for fields in accesses]
    if subnets == 2:
        assert (direct(requests), direct(replies)) == arrived
    else:
        both = direct(replies + requests)  # the host pushes the replies of a cycle first
        assert (both[len(replies):], both[:len(replies)]) == arrived


@pytest.mark.parametrize(("icnt", "devices", "terminals"), [
    (ICNT, (8, 8), [0, 2, 5, 7, 8, 10, 13, 15, 1, 3, 4, 6, 9, 11, 12, 14]),
    (ICNT + MAP, (12, 4), [0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 14, 15, 5, 6, 9, 10]),
    (ICNT.replace("use_map = 1", "use_map = 0"), (10, 2), list(range(12))),
])
def test_devices_have_the_terminals_of_the_map(gpgpusim, icnt, devices, terminals):
    shaders, memories = devices
    accesses, _ = gpgpusim([(0, i % shaders, i % memories) for i in range(max(devices))], icnt, devices)
    assert [fields[0] for fields in accesses[:shaders]] == terminals[:shaders]
    assert [fields[1] for fields in accesses[:memories]] == terminals[shaders:]


def test_full_buffers_lose_nothing(gpgpusim):
    icnt = ICNT.replace("input_buffer_size = 20", "input_buffer_size = 5") + MAP + "boundary_buffer_size = 1;"
    accesses, printed = gpgpusim([(0, shader, 0) for shader in range(12) for _ in range(50)], icnt)
    # 600 replies of 5 flits leave memory 0 through one channel.
    assert 600 * 5 <= max(fields[5] for fields in accesses) < 600 * 5 + 100
    assert [line.split()[2] for line in printed[:2]] == ["600", "600"]


def test_wrong_calls_give_messages(run, tmp_path):
    (tmp_path / "net.icnt").write_text(ICNT.replace("input_buffer_size = 20", "input_buffer_size = 0") + MAP)
    (tmp_path / "net.toml").write_text(MESH)
    said = dict(line.split(": ", 1) for line in run("gpgpusim", "errors", "net.icnt") if not line.startswith("pop ret"))
    no_device = "device 16 does not exist: devices are numbered 0 to 15."
    assert said == {
        "no name": "the network needs an .icnt file (-inter_config_file).",
        "map": "memory_node_map must have 5 different terminals, one for each memory; or set use_map = 0.",
        "no memories": "the network needs at least one shader and one memory.",
        "too many": "net.toml has 16 terminals, and the host has 17 nodes.",
        "early": "CreateInterconnect() has not been called.",
        "early transfer": "CreateInterconnect() has not been called.",
        "create": "fine",
        "again": "CreateInterconnect() has been called before.",
        "device": no_device, "pop": no_device,
        "nothing": "fine",
        "no data": "Push() needs data and a size above 0.",
        "size": "Push() needs data and a size above 0.",
        "long": "a packet of 10 flits never fits into an input buffer of 9 flits: raise input_buffer_size.",
        "full": "the input buffer of device 0 is full: call HasBuffer() first.",
        "flit": "32 bytes"}
