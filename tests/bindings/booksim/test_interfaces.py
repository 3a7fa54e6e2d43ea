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
    ("nothing", "line 18"),
])
def test_wrong_files_are_refused(tmp_path, change, expected_text):
    with pytest.raises(fl.ConfigError, match=expected_text):
        loaded(tmp_path, f"{ONNXIM}\n{change}")


def test_a_run_needs_a_simulator(cli, tmp_path):
    (tmp_path / "net.icnt").write_text(ONNXIM)
    done = cli("run", "net.icnt")
    assert done.returncode == 2 and "the packets come from a program that steps the network" in done.stderr
