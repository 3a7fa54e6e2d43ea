"""Files of simulators that contain BookSim (.icnt)."""

import pytest

import flitlab as fl

ONNXIM = """[config]
use_map = 0
flit_size = 64
topology = mesh
k = 4
n = 2
routing_function = dor
num_vcs = 4
subnets = 2

vc_buf_size = 16
input_buffer_size = 256
ejection_buffer_size = 64
boundary_buffer_size = 64
vc_allocator = islip
sw_allocator = islip
deadlock_warn_timeout = 10000"""

GPGPU_SIM = """// one router for 12 cores and memories
use_map = 0; network_count = 2;
flit_size = 32;
topology = fly;  k = 12;  n = 1;
routing_function = dest_tag;
num_vcs = 2;  vc_buf_size = 8;
vc_allocator = islip; //separable_input_first;
sw_allocator = islip;
input_speedup = 2;  internal_speedup = 1.0;
traffic = uniform;  packet_size = {{1,2},{10}};  injection_rate = 0.1;
sim_type = gpgpusim;  read_request_subnet = 0;  use_read_write = 1;
memory_node_map = {0,4,8};
"""


def loaded(tmp_path, text, name="net.icnt"):
    (tmp_path / name).write_text(text)
    return fl.load(tmp_path / name)


def test_a_file_of_onnxim_is_a_network_whose_packets_come_from_the_simulator(tmp_path):
    exp = loaded(tmp_path, ONNXIM)
    expected = {"topology.kind": "mesh", "topology.shape": [4, 4], "router.vcs": 4, "router.buffer_flits": 16,
                "router.switch_allocator": "islip", "routing.algorithm": "dimension_order", "traffic.mode": "host",
                "traffic.flit_bytes": 64}
    assert {path: exp[path] for path in expected} == expected
    net = fl.Network(exp)
    net.inject(0, 15, 4)
    assert net.step_to_arrival()


def test_it_is_the_network_of_the_same_statements_in_booksims_language(tmp_path):
    own = ("use_map", "flit_size", "subnets", "input_buffer", "ejection_buffer", "boundary_buffer", "[config]")
    lines = [f"{line};" for line in ONNXIM.splitlines() if line and not line.startswith(own)]
    booksim = loaded(tmp_path, "\n".join(lines), "net.cfg").with_host_traffic().set("traffic.flit_bytes", 64)
    # BookSim's times of measurement and seed have no effect on a network that a simulator steps.
    network = [{path: value for path, value in exp.flat().items() if not path.startswith("run.")}
               for exp in (loaded(tmp_path, ONNXIM), booksim)]
    assert network[0] == network[1]


def test_a_file_of_gpgpu_sim_has_semicolons_and_traffic_without_effect(tmp_path):
    exp = loaded(tmp_path, GPGPU_SIM)
    assert exp["topology.concentration"] == 12 and exp["router.input_speedup"] == 2
    assert exp["traffic.mode"] == "host" and exp["traffic.flit_bytes"] == 32


def test_one_router_can_have_62_nodes(tmp_path):
    net = fl.Network(loaded(tmp_path, GPGPU_SIM.replace("k = 12", "k = 62").replace("input_speedup = 2", "")))
    net.inject(0, range(62), 1, tag=range(62))
    net.step(100)
    assert sorted(net.arrivals()["tag"]) == list(range(62))
    with pytest.raises(fl.ConfigError, match="concentration = 63 is too large: a router has 2 ports to other routers"):
        fl.Network(loaded(tmp_path, GPGPU_SIM).set("topology.concentration", 63))


@pytest.mark.parametrize(("change", "first", "last"), [
    ("", [0, 2, 8, 10], [5, 7, 13, 15]),  # BookSim's defaults
    ("read_request_end_vc = 1\nwrite_reply_end_vc = 12", [0, 2, 8, 10], [1, 7, 13, 12]),
    ("write_request_begin_vc = -1; write_request_end_vc = -1; read_reply_begin_vc = 14; read_reply_end_vc = -1",
     [0, 0, 14, 10], [5, 7, 15, 15]),
    # Routes of a torus divide each range, so ranges that overlap are joined.
    ("topology = torus", [0, 0, 8, 8], [7, 7, 15, 15]),
    ("topology = torus; write_request_end_vc = 9; routing_function = dim_order", [0] * 4, [15] * 4),
])
def test_types_of_packets_have_their_virtual_channels(tmp_path, change, first, last):
    text = ONNXIM.replace("num_vcs = 4", "num_vcs = 16").replace("= dor", "= dim_order")
    exp = loaded(tmp_path, f"{text}\n{change}")
    if len(set(first)) == 1:
        assert exp["traffic.classes"] == 1
        return
    assert exp["traffic.classes"] == 4 and exp["traffic.class_vcs"] == "ranges"
    assert exp["traffic.class_first_vc"] == first and exp["traffic.class_last_vc"] == last
    net = fl.Network(exp)
    net.inject(0, 15, 4, traffic_class=[0, 1, 2, 3], tag=[5, 6, 7, 8])
    net.step(100)
    assert sorted(net.arrivals()["tag"]) == [5, 6, 7, 8]


def test_types_with_all_virtual_channels_are_one_class(tmp_path):
    assert loaded(tmp_path, ONNXIM)["traffic.classes"] == 1  # the defaults are made for 16 virtual channels
    every = "".join(f"\n{name}_begin_vc = 0\n{name}_end_vc = 3"
                    for name in ("read_request", "write_request", "read_reply", "write_reply"))
    assert loaded(tmp_path, ONNXIM + every)["traffic.classes"] == 1


def test_import_names_parameters_without_effect(cli, tmp_path):
    (tmp_path / "gpu.icnt").write_text(GPGPU_SIM)
    assert cli("import", "gpu.icnt", "-o", "gpu.toml").returncode == 0
    text = (tmp_path / "gpu.toml").read_text()
    for name in ("injection_rate = 0.1", "read_request_subnet = 0", "sim_type = gpgpusim"):
        assert f"# - {name}: no effect, because the packets come from the simulator." in text


def test_import_names_what_the_adapter_reads(cli, tmp_path):
    (tmp_path / "net.icnt").write_text(ONNXIM)
    done = cli("import", "net.icnt", "num_vcs=8", "-o", "net.toml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "net.toml").read_text()
    assert "# - subnets = 2: read by the adapter: the number of networks." in text
    assert "# - deadlock_warn_timeout = 10000 (ignored):" in text
    assert fl.load(tmp_path / "net.toml")["router.vcs"] == 8


@pytest.mark.parametrize(("change", "expected_text"), [
    ("num_vc = 4", r"net\.icnt, line 18: num_vc is not a parameter of BookSim 2"),
    ("perfect_icnt = 1", "perfect_icnt = 1 is not translated: it replaces the network by a fixed time"),
    ("flit_size = 0", "flit_size = 0 is not translated: it is the size of a flit in bytes"),
    ("router = chaos", "router = chaos is not translated"), ("n = 2.5", "line 18: n = 2.5 is a number"),
    ("nothing", "line 18"), ("read_request_end_vc = 4", "read_request_end_vc = 4 are wrong: give two numbers"),
])
def test_wrong_files_are_refused(tmp_path, change, expected_text):
    with pytest.raises(fl.ConfigError, match=expected_text):
        loaded(tmp_path, f"{ONNXIM}\n{change}")


def test_a_run_needs_a_simulator(cli, tmp_path):
    (tmp_path / "net.icnt").write_text(ONNXIM)
    done = cli("run", "net.icnt")
    assert done.returncode == 2 and "the packets come from a program that steps the network" in done.stderr
