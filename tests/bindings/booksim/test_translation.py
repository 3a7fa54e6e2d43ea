"""Configurations of BookSim 2 as experiments: networks, routers, traffic, and messages for what is refused."""

import csv
from pathlib import Path

import pytest

import flitlab as fl
from flitlab.booksim import translation
from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.keys import EQUIVALENT, EXACT, IGNORED, KEYS, REFUSED
from flitlab.booksim.settings import Settings
from flitlab.booksim.vc_ranges import TYPE_RANGES
from flitlab.compiled import ports_of
from flitlab.experiment import load_booksim
from flitlab.vocabulary import key_of

HERE = Path(__file__).parent
MESH = "topology = mesh; routing_function = dor; "
TORUS = "topology = torus; routing_function = dim_order; "
CMESH = "topology = cmesh; c = 4; xr = 2; yr = 2; "
FLATFLY = "topology = flatfly; routing_function = ran_min; "


def experiment(text, tmp_path, *changes):
    path = tmp_path / "test.cfg"
    path.write_text(text)
    return load_booksim(path, changes=changes)


def test_a_file_is_loaded_and_run_as_it_is(tmp_path, cli):
    (tmp_path / "mesh.cfg").write_text("// a small mesh\n" + MESH + "k = 4; n = 2; num_vcs = 2; packet_size = 3;\n"
                                       "injection_rate = 0.05; sample_period = 500; seed = 7;\n")
    e = fl.load(tmp_path / "mesh.cfg")
    assert e.name == "mesh" and e["topology.shape"] == [4, 4] and e["router.vcs"] == 2 and e["run.seed"] == 7
    assert e["traffic.load"] == pytest.approx(0.15) and e["router.switch_allocator"] == "islip"
    assert e["run.warmup_cycles"] == 1500 and e["run.measure_cycles"] == 3500
    assert fl.run(e).accepted == pytest.approx(0.15, rel=0.1)
    done = cli("run", "mesh.cfg", "--set", "traffic.load=0.2")
    assert done.returncode == 0 and "5500 cycles" in done.stdout, done.stderr


def test_import_writes_a_file_with_the_same_network(tmp_path, cli):
    (tmp_path / "a.cfg").write_text(TORUS + "k = 4; num_vcs = 4; deadlock_warn_timeout = 100; credit_delay = 2;")
    done = cli("import", "a.cfg", "injection_rate=0.2", "-o", "a.toml")
    assert done.returncode == 0 and done.stdout == "a.toml written\n", done.stderr
    e = fl.load(tmp_path / "a.toml")
    assert e.flat() == load_booksim(tmp_path / "a.cfg", changes=["injection_rate=0.2"]).flat()
    assert e["traffic.load"] == 0.2 and e["router.credit_delay"] == 4
    comments = [line for line in (tmp_path / "a.toml").read_text().splitlines() if line.startswith("#")]
    assert comments[0] == "# Translated from a.cfg, a configuration of BookSim 2. What differs (docs/booksim.md):"
    assert any(line.startswith("# - credit_delay = 2 (equivalent): ") for line in comments)
    assert any(line.startswith("# - deadlock_warn_timeout = 100 (ignored): ") for line in comments)


@pytest.mark.parametrize(("allocator", "arbiter"), [
    ("islip", "round_robin"), ("islip(2)", "round_robin"), ("wavefront", "oldest_first"),
    ("separable_input_first", "oldest_first"),
])
def test_islip_ignores_the_age_of_packets(allocator, arbiter, tmp_path):
    e = experiment(MESH + f"priority = age; sw_allocator = {allocator}; vc_allocator = {allocator};", tmp_path)
    assert e["router.arbiter"] == arbiter


@pytest.mark.parametrize(("rate", "network_latency", "accepted"), [(0.05, 21.99, 0.2485), (0.1, 25.19, 0.4939)])
def test_requests_and_replies_load_the_network_as_in_booksim(rate, network_latency, accepted, tmp_path):
    """BookSim's output for the same file, whose terminals take a cycle more."""
    e = experiment("topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 16; use_read_write = 1; "
                   "read_reply_size = 4; write_request_size = 4; sample_period = 2000; warmup_periods = 2; "
                   f"max_samples = 6; injection_rate = {rate};", tmp_path)
    result = fl.run(e)
    assert result.network_latency_cycles.mean + 1 == pytest.approx(network_latency, rel=0.02)
    assert result.accepted == pytest.approx(accepted, rel=0.02)


@pytest.mark.parametrize(("changes", "parameters"), [
    ("num_vcs = 16;", {"traffic.load": 0.04, "traffic.packet_flits": [(1, 1)], "traffic.reply_flits": [(1, 1)],
                       "traffic.message_classes": 2, "traffic.mode": "request_reply"}),
    ("num_vcs = 16; read_request_size = 2; read_reply_size = 5; write_fraction = 0.25;",
     {"traffic.load": 0.07, "traffic.packet_flits": [(2, 0.75), (1, 0.25)],
      "traffic.reply_flits": [(5, 0.75), (1, 0.25)]}),
    # 0.008 = 0.04 / ((1 + 1 + 7 + 1) / 2)
    ("num_vcs = 16; read_reply_size = 7; write_fraction = 0.0; injection_rate_uses_flits = 1;",
     {"traffic.load": 0.008, "traffic.packet_flits": [(1, 1)], "traffic.reply_flits": [(7, 1)]}),
    (" ".join(f"{name} = 0;" for name in TYPE_RANGES if "begin" in name)
     + " ".join(f"{name} = 3;" for name in TYPE_RANGES if "end" in name) + "num_vcs = 4;",
     {"traffic.message_classes": 1})])
def test_requests_and_replies(changes, parameters, tmp_path):
    e = experiment(MESH + "use_read_write = 1; injection_rate = 0.04; packet_size = 9;" + changes, tmp_path)
    assert {path: e[path] for path in parameters} == parameters


def test_a_dragonflys_buffers_are_those_of_all_its_virtual_channels(tmp_path):
    e = experiment("topology = dragonflynew; k = 1; n = 1; routing_function = min; num_vcs = 8; buf_size = 64; "
                   "input_speedup = 4;", tmp_path)
    assert e["router.vcs"] == 2 and e["router.buffer_flits"] == 8 and e["router.input_speedup"] == 2


@pytest.mark.parametrize("row", list(csv.DictReader((HERE / "latency.csv").read_text().splitlines())),
                         ids=lambda row: f"{row['statements'] or 'defaults'}, {row['flits']} flits")
def test_the_latency_without_load_is_booksims(row, tmp_path):
    """The latencies were printed by BookSim 2 (commit 28f4329) at injection_rate = 0.0005. Its terminals take a cycle
    more than flitlab's."""
    text = ("topology = torus; k = 4; n = 2; routing_function = dim_order; traffic = neighbor; num_vcs = 4; "
            f"injection_rate = 0.0005; packet_size = {row['flits']};")
    e = experiment(text, tmp_path, *row["statements"].split())
    assert e.derived()["zero_load_latency_cycles"] + 1 == float(row["latency"])


def test_every_parameter_of_booksim_has_a_fate():
    assert sorted(KEYS) == sorted(DEFAULTS) and len(KEYS) == 121
    assert all(fate.kind in (EXACT, EQUIVALENT, IGNORED, REFUSED) and fate.note for fate in KEYS.values())


def test_messages_and_translation_name_the_same_parameters():
    """vocabulary.py has flitlab's name of a BookSim parameter for messages, keys.py says how it is translated."""
    named = {name: known[0] for name in KEYS if (known := key_of(name))}
    kinds = (EXACT, EQUIVALENT)
    other = [name for name, path in named.items() if KEYS[name].kind in kinds and path not in KEYS[name].note]
    # The notes of these two say how three of BookSim's parameters become run.measure_cycles.
    assert sorted(other) == ["max_samples", "sample_period"]


def test_the_parameters_that_are_translated_are_those_with_an_equal(tmp_path, monkeypatch):
    (tmp_path / "links").write_text("router 0 node 0 router 1\nrouter 1 node 1\n")
    made = []

    class Noting(Settings):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(translation, "Settings", Noting)
    for text in (MESH, "topology = flatfly; routing_function = ran_min; use_noc_latency = 0;",
                 "topology = anynet; routing_function = min; network_file = links;", MESH + "sim_type = batch;"):
        translation.translate(text, "a", tmp_path)
    used = set().union(*(settings._used for settings in made))
    with_an_equal = {name for name, fate in KEYS.items() if fate.kind in (EXACT, EQUIVALENT)}
    assert with_an_equal <= used
    # Read to be checked, or without effect because of other values.
    assert used - with_an_equal == {"batch_count", "max_outstanding_requests"}


@pytest.mark.parametrize("name", [name for name, fate in KEYS.items() if fate.kind == REFUSED])
def test_refused_parameters_name_the_reason(name, tmp_path):
    default = DEFAULTS[name][0]
    value = {int: 7, float: 0.7, str: "other"}[type(default)]
    with pytest.raises(fl.ConfigError, match=f"{name} = {value} is not translated") as raised:
        experiment(MESH + f"sim_type = batch; {name} = {value};", tmp_path)
    assert "\n" not in str(raised.value)
    if default != "":  # the language has no empty word
        experiment(MESH + f"sim_type = batch; {name} = {default};", tmp_path)


@pytest.mark.parametrize("name", [name for name, fate in KEYS.items() if fate.kind == IGNORED])
def test_ignored_parameters_change_nothing(name, tmp_path):
    value = {int: 7, float: 0.7, str: "other"}[type(DEFAULTS[name][0])]
    assert experiment(MESH + f"{name} = {value};", tmp_path).flat() == experiment(MESH, tmp_path).flat()


# BookSim's patterns (traffic.cpp), for k routers in each of two dimensions.
def _digits(k, change):
    return lambda s: change(s % k) + k * change(s // k)


PATTERNS = {
    "bitcomp": lambda k: lambda s: k * k - 1 - s,
    "bitrev": lambda k: lambda s: int(format(s, "04b")[::-1], 2),
    "shuffle": lambda k: lambda s: (2 * s) % 16 + (2 * s) // 16,
    "transpose": lambda k: lambda s: s % k * k + s // k,
    "tornado": lambda k: _digits(k, lambda x: (x + (k + 1) // 2 - 1) % k),
    "neighbor": lambda k: _digits(k, lambda x: (x + 1) % k),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_have_booksims_destinations(name, tmp_path):
    e = experiment(MESH + f"k = 4; traffic = {name}; injection_rate = 0.2; sample_period = 300;", tmp_path)
    flows = fl.flows(e, 1000).frame
    pairs = set(zip(flows.source, flows.destination, strict=True))
    assert pairs == {(s, PATTERNS[name](4)(s)) for s in range(16)}


def test_allocators_have_arguments(tmp_path):
    """BookSim's routers ignore alloc_iters and arb_type."""
    e = experiment(MESH + "alloc_iters = 4; arb_type = matrix;", tmp_path)
    assert e["router.allocator_iterations"] == 1 and e["router.arbiter"] == "round_robin"
    e = experiment(MESH + "vc_allocator = islip(2); sw_allocator = islip(2);", tmp_path)
    assert e["router.allocator_iterations"] == 2
    e = experiment(MESH + "sw_allocator = separable_input_first(matrix);", tmp_path)
    assert e["router.arbiter"] == "matrix" and e["router.switch_allocator"] == "separable_input_first_by_output"
    assert e["router.vc_allocator"] == "islip" and e["router.allocator_iterations"] == 1


def test_classes_have_rates_lengths_and_patterns_of_their_own(tmp_path):
    e = experiment(MESH + "vc_allocator = separable_output_first; classes = 3; injection_rate = {0.1,0.02}; "
                   "packet_size = {1,5}; traffic = {uniform,transpose}; priority = class; "
                   "class_priority = {0,2};", tmp_path)
    assert e["traffic.class_pattern"] == "uniform,transpose,transpose"
    assert e["traffic.class_flits"] == [1, 5, 5] and e["traffic.class_share"] == pytest.approx([0.1, 0.1, 0.1])
    assert e["traffic.load"] == pytest.approx(0.3) and e["traffic.class_vcs"] == "shared"
    assert e["traffic.class_priority"] == [0, 2, 2] and e["router.arbiter"] == "highest_priority_first"


def test_lengths_may_be_mixed(tmp_path):
    e = experiment(MESH + "packet_size = {{1,5}}; packet_size_rate = {{3,1}}; injection_rate = 0.1;", tmp_path)
    assert e["traffic.packet_flits"] == [(1, 3.0), (5, 1.0)] and e["traffic.load"] == pytest.approx(0.2)
    e = experiment(MESH + "packet_size = 4; injection_rate_uses_flits = 1; injection_rate = 0.1;", tmp_path)
    assert e["traffic.load"] == pytest.approx(0.1)


def test_what_booksim_accepts_is_accepted(tmp_path):
    plain = experiment(MESH, tmp_path).flat()
    for text in ("use_read_write = {0,0};", "injection_process = {bernoulli};", "output_buffer_size = 3;",
                 "use_noc_latency = 0;", "network_file = links;", "buf_size = 128;", "packet_size_rate = {{1,2,3}};",
                 "perm_seed = 5;"):
        assert experiment(MESH + text, tmp_path).flat() == plain, text
    assert experiment(MESH + "seed = -1;", tmp_path)["run.seed"] == 2**32 - 1
    e = experiment(MESH + "output_speedup = 2; output_buffer_size = 1;", tmp_path)
    assert e["router.output_queue_flits"] == 2
    e = experiment(MESH + "packet_size = {{1,2,5}}; packet_size_rate = {{3,1}};", tmp_path)
    assert e["traffic.packet_flits"] == [(1, 3.0), (2, 1.0), (5, 1.0)]


def test_import_does_not_overwrite_its_input(tmp_path, cli):
    (tmp_path / "a.cfg").write_text(MESH)
    done = cli("import", "a.cfg", "-o", "a.cfg")
    assert done.returncode == 2 and "a.cfg is the file to translate" in done.stderr
    assert (tmp_path / "a.cfg").read_text() == MESH


def test_hot_spots_receive_all_packets(tmp_path):
    e = experiment(MESH + "traffic = hotspot({{3,9}});", tmp_path)
    assert e["traffic.hot_terminals"] == [3, 9] and e["traffic.hot_fraction"] == 1.0
    with pytest.raises(fl.ConfigError, match=r"is not translated: .* equal shares"):
        experiment(MESH + "traffic = hotspot({{3,9},{1,2}});", tmp_path)


@pytest.mark.parametrize(("text", "changes"), [
    (TORUS + "k = 3; n = 3;", {"topology.kind": "torus", "topology.shape": [3, 3, 3],
                               "topology.channel_delay": [2, 2, 2], "routing.vc_assignment": "by_crossing"}),
    ("topology = torus; routing_function = dim_order_bal; use_noc_latency = 0;",
     {"topology.channel_delay": [1, 1], "routing.vc_assignment": "two_datelines"}),
    ("topology = torus; routing_function = min_adapt; num_vcs = 4;",
     {"routing.selection": "first_or_escape", "routing.stay_on_escape": True, "routing.adaptive_vcs": 1}),
    ("topology = mesh; routing_function = min_adapt; vc_allocator = wavefront;",
     {"routing.selection": "first", "routing.stay_on_escape": True, "routing.adaptive_vcs": 0}),
    ("topology = mesh; routing_function = xy_yx; use_noc_latency = 0;", {"routing.algorithm": "o1turn"}),
    ("topology = fly; k = 10; n = 1; routing_function = dest_tag;",
     {"topology.shape": [1], "topology.concentration": 10}),
    ("topology = fattree; k = 4; n = 3; routing_function = anca;",
     {"topology.children": [4, 4], "topology.concentration": 4, "routing.algorithm": "adaptive",
      "routing.selection": "two_random"}),
    ("topology = flatfly; k = 4; n = 2; c = 4; xr = 2; yr = 2; use_noc_latency = 0; routing_function = ugal;",
     {"topology.kind": "flattened_butterfly", "topology.concentration": 4, "routing.algorithm": "ugal_l",
      "routing.threshold": 2, "topology.delay_by_distance": False}),
    (FLATFLY + "k = 4; x = 4; y = 4; c = 9; xr = 3; yr = 3; traffic = hotspot({12});",
     {"topology.shape": [4, 4], "topology.concentration": 9, "routing.algorithm": "minimal",
      "topology.channel_delay": 3, "topology.delay_by_distance": True,
      # Node 12 is the first of the second row of nodes: the first of the second row of router 0.
      "traffic.hot_terminals": [3]}),
    (CMESH + "routing_function = xy_yx_no_express; k = 8;",
     {"topology.kind": "mesh", "topology.shape": [8, 8], "topology.concentration": 4,
      "topology.channel_delay": [2, 2], "routing.algorithm": "o1turn"}),
    (CMESH + "routing_function = dor_no_express; k = 3; use_noc_latency = 0;",
     {"topology.shape": [3, 3], "topology.channel_delay": [1, 1], "routing.algorithm": "dimension_order"}),
    ("topology = dragonflynew; k = 2; n = 1; routing_function = min;",
     {"topology.kind": "dragonfly", "topology.groups": 9, "topology.group_routers": 4, "topology.global_channels": 2,
      "topology.concentration": 2, "topology.channel_delay": [10, 100]}),
])
def test_topologies(text, changes, tmp_path):
    flat = experiment(text, tmp_path).flat()
    assert {key: flat[key] for key in changes} == changes


@pytest.mark.parametrize(("text", "message"), [
    ("topology = tree4;", r"topology = tree4 is not translated: flitlab has no such tree"),
    (CMESH + "routing_function = xy_yx;", r"routing_function = xy_yx is not translated for topology = cmesh"),
    (CMESH + "routing_function = dor; k = 3;", r"k = 3 is not translated for topology = cmesh"),
    (CMESH + "routing_function = dor; n = 1;", r"topology = cmesh with n = 1 and c = 4 is not one of BookSim 2's"),
    ("topology = cmesh; routing_function = dor;", r"topology = cmesh with n = 2 and c = 1 is not one of BookSim 2's"),
    (CMESH + "routing_function = dor; k = 4; traffic = transpose;", r"transpose is translated by flitlab-booksim only"),
    (FLATFLY + "k = 4;", r"n = 2 and x = 8 are not translated for topology = flatfly with use_noc_latency = 1"),
    (FLATFLY + "k = 8; n = 3;", r"n = 3 and x = 8 are not translated"),
    (FLATFLY + "k = 8; c = 16; xr = 4; yr = 4;", r"xr = 4 is not translated for topology = flatfly"),
    ("topology = dragonflynew; n = 1; routing_function = ugal;", r"routing_function = ugal is not translated for"),
    ("topology = dragonflynew; routing_function = min;", r"topology = dragonflynew with n = 2 is not one"),
    ("topology = ring;", r"topology = ring is not one of BookSim 2's\. flitlab reads topology = mesh, torus, fly"),
    ("topology = mesh;", r"routing_function = none is not translated for topology = mesh\. flitlab reads "),
    ("topology = fly; n = 3; routing_function = dest_tag;", r"fly with n = 3 is not translated"),
    ("topology = fly; k = 72; n = 1; routing_function = dest_tag;", r"one router for 72 nodes, .* 64 ports. Up to 62"),
    ("topology = mesh; routing_function = dor_mesh;", r"routing_function = dor_mesh is not translated"),
    ("topology = flatfly; routing_function = ran_min; use_noc_latency = 0; c = 4;", r"do not fit one another"),
    ("topology = fattree; routing_function = nca; traffic = tornado;", r"traffic = tornado is translated only for"),
    (MESH + "internal_speedup = 2.0; output_buffer_size = 0;", r"output_buffer_size = 0 is not translated"),
    (MESH + "credit_delay = -1;", r"credit_delay = -1 is not translated: -1 is not a whole number from 0"),
    (MESH + "injection_rate = abc;", r"injection_rate = abc is not translated: abc is not a number from 0 on"),
    (MESH + "injection_rate = -0.5;", r"injection_rate = -0\.5 is not translated"),
    (MESH + "class_priority = {1.5,2}; classes = 2; priority = class;", r"1\.5 is not a whole number"),
    (MESH + "packet_size = {{{1}}};", r"packet_size = \{\{\{1\}\}\} is not translated"),
    (MESH + "packet_size = -3;", r"packet_size = -3 is not translated: -3 is not a whole number from 1"),
    (MESH + "packet_size = {{1,4}}; packet_size_rate = 0;", r"packet_size_rate = 0 has no weight above 0"),
    (MESH + "seed = abc;", r"seed = abc is not translated: abc is not a whole number"),
    (MESH + "traffic = hotspot({1.5});", r"traffic = hotspot\({1\.5}\) is not translated"),
    (MESH + f"num_vcs = {'9' * 5000};", r"line 1: 999999999999\.\.\. is too large a number"),
    (MESH + "internal_speedup = 1e999;", r"internal_speedup = inf is not translated"),
    (MESH + "num_vcs = 99;", r"test\.cfg, translated from BookSim's parameters: router\.vcs = 99 is out of range"),
    (MESH + "use_read_write = {1,0}; classes = 2;",
     r"use_read_write is not translated with classes = 2\. flitlab-booksim runs"),
    (MESH + "use_read_write = 1; num_vcs = 16; read_reply_begin_vc = 7;", r"virtual channels \[\(0, 5\), .* not trans"),
    (MESH + "use_read_write = 1; num_vcs = 8;", r"read_reply_begin_vc = 8, read_reply_end_vc = 13 are wrong"),
    (MESH + "use_read_write = 1; sim_type = batch;", r"sim_type = batch is not translated with use_read_write"),
    (MESH + "use_read_write = 1; num_vcs = 16; subnets = 2;", r"subnets = 2 .* flitlab-booksim runs"),
    (MESH + "sw_allocator = pim;", r"sw_allocator = pim is not translated\. flitlab reads islip"),
    (MESH + "sw_allocator = islip(2);", r"sw_allocator = islip\(2\) are not translated: in flitlab router\.alloc"),
    (MESH + "sw_allocator = islip(two); vc_allocator = islip(two);", r"two is not a whole number"),
    (MESH + "sw_allocator = separable_input_first(tree(2,matrix));", r"the arbiter tree\(2,matrix\) of an allocator"),
    (MESH + "internal_speedup = 0.5;", r"internal_speedup = 0\.5 is not translated: flitlab has 1 to 8 rounds"),
    (MESH + "classes = 9;", r"classes = 9 is not translated"),
    (MESH + "traffic = taper64;", r"traffic = taper64 is not translated"),
    (MESH + "seed = time;", r"seed = time is not translated"),
    ("topology = anynet; routing_function = min;", r"topology = anynet needs network_file"),
    ("topology = anynet; routing_function = min; network_file = no;", r"network_file = no cannot be read: there is no"),
])
def test_what_flitlab_cannot_express_is_refused(text, message, tmp_path):
    with pytest.raises(fl.ConfigError, match=message) as raised:
        experiment(text, tmp_path)
    assert "\n" not in str(raised.value)


ANYNET = "topology = anynet; routing_function = min; network_file = links; num_vcs = 4; "


def test_a_list_of_links_is_a_graph(tmp_path):
    (tmp_path / "links").write_text("router 0 node 0 node 1 router 2 4\nrouter 2 node 4 node 5 router 0 4 router 1\n"
                                    "node 2 router 1\nnode 3 router 1\nrouter 7 router 0\n")
    e = experiment(ANYNET, tmp_path)
    assert e["topology.concentration"] == 2 and e["topology.terminal_routers"] == 3
    assert e.derived()["routers"] == 4 and e.derived()["terminals"] == 6
    # Routers 0, 1, 2 and 7 of the list are 0, 1, 2 and 3, in the order of their nodes; router 7 has none.
    assert e._texts["topology.file"] == b"0,2,4\n1,2,1\n0,3,1\n"


@pytest.mark.parametrize(("links", "routes"), [
    # A square: both ways around take two channels, and the search finds the one over router 1 first.
    ("router 0 router 1 router 2\nrouter 3 router 1 router 2", {(0, 3): 1, (3, 0): 1, (1, 2): 0, (2, 1): 0}),
    # The way over router 3 takes fewer cycles.
    ("router 0 router 1 5 router 2 router 3\nrouter 1 router 0 5 router 3",
     {(0, 1): 3, (1, 0): 3, (1, 2): 3, (2, 1): 0}),
])
def test_a_graph_has_booksims_routes(links, routes, tmp_path):
    nodes = "".join(f"router {i} node {i}\n" for i in range(4))
    (tmp_path / "links").write_text(links + "\n" + nodes)
    e = experiment(ANYNET, tmp_path)
    ports = ports_of(e._texts["topology.file"])
    lines = [tuple(map(int, line.split(","))) for line in e._texts["routing.table_file"].decode().split()]
    found = {(router, to): next(n for n in ports[router] if port in ports[router][n]) for router, to, port in lines}
    assert {pair: found[pair] for pair in routes} == routes
    assert e.derived()["vc_layers"] == 1


def test_a_graph_has_other_routes_if_booksims_can_deadlock(tmp_path):
    (tmp_path / "links").write_text("".join(f"router {i} node {i} router {(i + 1) % 5}\n" for i in range(5)))
    e = experiment(ANYNET, tmp_path)
    assert "routing.table_file" not in e._texts and e.derived()["vc_layers"] == 2
    notes = translation.translate(ANYNET, "a.cfg", tmp_path).notes
    assert any(note.startswith("routes of this graph differ from BookSim's") for note in notes)


@pytest.mark.parametrize(("links", "message"), [
    ("router 0 node 0 5 router 1\nrouter 1 node 1", r"links, line 1: the latency 5 of node 0 is not translated"),
    ("router 0 node 0 router 1 9\nrouter 1 node 1", r"router 0 to router 1 takes 9 cycles, and the one back 1"),
    ("router 0 node 0 node 1 router 1\nrouter 1 node 2", r"routers have 1 or 2 nodes"),
    ("router 0 node 0 router 1\nrouter 1 node 2", r"nodes have the numbers 0, 2"),
    ("router 0 node 0 node 2 router 1\nrouter 1 node 1 node 3", r"the nodes of router 0 are 0, 2"),
    ("router 0 node 0 router 1\nrouter 1 node 0", r"line 2: node 0 is at router 0 and at router 1"),
    ("router 0 node 0 router 0", r"line 1: router 0 is joined to itself"),
    ("router 0 node " + "9" * 5000, r'" is not "router NUMBER"'),
    ("node 0 node 1", r"line 1: node 0 is joined to node 1"),
    ("router x", r'line 1: "router x" is not "router NUMBER"'),
    ("", r"links names no routers"),
])
def test_lists_of_links_that_are_wrong(links, message, tmp_path):
    (tmp_path / "links").write_text(links + "\n")
    with pytest.raises(fl.ConfigError, match=message):
        experiment(ANYNET, tmp_path)


def test_a_list_without_channels(tmp_path):
    (tmp_path / "links").write_text("router 0 node 0 node 1\n")
    with pytest.raises(fl.ConfigError, match="has no edges"):
        experiment(ANYNET, tmp_path).derived()


def test_a_concentrated_mesh_has_express_channels_at_its_edges(tmp_path, cli):
    """Routers 0 1 2 3, 4 5 6 7, 8 9 10 11 and 12 13 14 15 are four rows. Express channels join routers of an edge that
    are two apart."""
    (tmp_path / "a.cfg").write_text(CMESH + "k = 4; routing_function = dor;")
    e = load_booksim(tmp_path / "a.cfg")
    lines = e._texts["topology.file"].decode().split()
    express = {line for line in lines if line.endswith(",4")}
    assert express == {"0,2,4", "1,3,4", "12,14,4", "13,15,4", "0,8,4", "4,12,4", "3,11,4", "7,15,4"}
    assert len(lines) == 24 + 8 and all(line.endswith((",2", ",4")) for line in lines)
    assert e["routing.algorithm"] == "table" and e.derived()["vc_layers"] == 1
    done = cli("import", "a.cfg", "-o", "a.toml")
    assert done.returncode == 0, done.stderr
    assert fl.load(tmp_path / "a.toml").derived()["zero_load_latency_cycles"] == e.derived()["zero_load_latency_cycles"]


def test_express_channels_of_two_rows_replace_the_others(tmp_path):
    e = experiment(CMESH + "k = 2; routing_function = dor;", tmp_path)
    assert e._texts["topology.file"] == b"0,1,2\n0,2,2\n1,3,2\n2,3,2\n"
