"""The program flitlab-booksim: its output beside recorded outputs of BookSim 2 (commit 28f4329), exit codes, and
latencies without load."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flitlab.booksim import generation, program
from flitlab.booksim.networks import terminals
from flitlab.booksim.settings import Settings
from flitlab.booksim.sources import Sources
from flitlab.booksim.statements import read

from .conftest import values

HERE = Path(__file__).parent
RECORDED = sorted(path.stem for path in (HERE / "recorded").iterdir())
NUMBER = re.compile(r"-?\bnan\b|-?\binf\b|-?\b\d+(\.\d+)?(e[-+]?\d+)?\b")
MESH = ["topology=mesh", "routing_function=dor", "k=4", "num_vcs=4", "sample_period=200", "warmup_periods=1"]


def shape(text):
    """Returns the lines of an output without its numbers. The flits under way are a list of any length."""
    text = re.sub(r"^(Remaining|Measured) flits: .*", r"\1 flits", text, flags=re.MULTILINE)
    return [NUMBER.sub("N", line) for line in text.splitlines()]


@pytest.mark.parametrize("name", RECORDED)
def test_the_output_has_the_lines_of_booksims(name, run):
    text = (HERE / "recorded" / f"{name}.txt").read_text()
    status, out, errors = run("c", *re.findall(r"^OVERRIDE Parameter: (.*)", text, re.MULTILINE))
    assert shape(out) == shape(text)
    assert errors == "" and status == (0 if "unstable" in text else 255)


def test_means_are_near_booksims(run):
    """The expected means were printed by BookSim with sample_period = 100000."""
    _, out, _ = run("c", *MESH[:-2], "sample_period=4000", "packet_size=3", "injection_rate=0.05")
    assert values(out) == pytest.approx({
        "Packet latency": 22.34, "Network latency": 22.17, "Flit latency": 19.90, "Fragmentation": 0.528,
        "Injected packet rate": 0.05, "Accepted packet rate": 0.05, "Injected flit rate": 0.15,
        "Accepted flit rate": 0.15, "Injected packet size": 3, "Accepted packet size": 3, "Hops": 3.5}, rel=0.04)


RANGES = ["read_reply_size=4", "write_request_size=5", "read_request_end_vc=1", "write_request_begin_vc=0",
          "write_request_end_vc=1", "read_reply_begin_vc=2", "read_reply_end_vc=3", "write_reply_begin_vc=2",
          "write_reply_end_vc=3"]


@pytest.mark.parametrize(("arguments", "means"), [
    (["use_read_write=1", *RANGES, "injection_rate=0.05"], [(23.85, 22.72, 0.2750)]),
    (["use_read_write=1", *RANGES, "injection_rate=0.05", "write_fraction=0.1", "subnets=2", "read_reply_subnet=1",
      "write_reply_subnet=1"], [(22.76, 21.64, 0.2550)]),
    (["subnets=3", "injection_rate=0.12", "packet_size=4"], [(24.86, 23.49, 0.4797)]),
    (["include_queuing=0", "injection_rate=0.08", "packet_size=4"], [(25.16, 25.16, 0.3203)]),
    (["classes=2", "priority=class", "class_priority={0,1}", "injection_rate={0.06,0.04}", "packet_size=4",
      "vc_allocator=separable_input_first", "sw_allocator=separable_input_first"],
     [(30.73, 29.28, 0.2391), (24.59, 24.30, 0.1603)]),
    (["classes=3", "injection_rate={0.05,0.03,0.01}", "packet_size={1,4,8}"],
     [(20.05, 20.00, 0.0500), (24.92, 24.56, 0.1204), (31.52, 31.01, 0.0798)]),
    (["classes=2", "use_read_write={1,0}", *RANGES, "injection_rate={0.03,0.04}", "packet_size=4"],
     [(24.72, 23.58, 0.1660), (25.87, 25.34, 0.1598)]),
], ids=["replies", "subnets of replies", "subnets", "without queues", "priority", "classes", "replies of one class"])
def test_classes_and_message_types_are_near_booksims(arguments, means, run):
    """The expected means of packet latency, network latency and accepted flits were printed by BookSim with
    sample_period = 60000."""
    status, out, errors = run("c", *MESH[:-2], "sample_period=3000", *arguments)
    assert status == 255 and errors == ""
    blocks = out[out.rfind("====== Overall"):].split("====== Traffic class")[1:]
    found = [tuple(float(re.search(rf"^{name} average = (\S+)", block, re.MULTILINE)[1])
                   for name in ("Packet latency", "Network latency", "Accepted flit rate")) for block in blocks]
    assert found == [pytest.approx(of_class, rel=0.05) for of_class in means]


def test_replies_follow_their_requests(run):
    """Without load, a packet of one flit takes 19 cycles. A reply is created when its request arrives, and leaves one
    cycle later."""
    _, out, _ = run("c", *MESH[:-2], "num_vcs=16", "sample_period=4000", "use_read_write=1", "injection_rate=0.0005",
                    "traffic=neighbor", "topology=torus", "routing_function=dim_order", "read_request_begin_vc=0",
                    "read_request_end_vc=7", "write_request_begin_vc=0", "read_reply_begin_vc=8",
                    "read_reply_end_vc=15", "write_reply_begin_vc=8")
    found = values(out)
    assert found["Network latency"] == 19 and found["Packet latency"] == pytest.approx(19.5, abs=0.1)


@pytest.mark.parametrize("row", list(csv.DictReader((HERE / "latency.csv").read_text().splitlines())),
                         ids=lambda row: f"{row['statements'] or 'defaults'}, {row['flits']} flits")
def test_the_printed_latency_without_load_is_booksims(row, run):
    status, out, _ = run("c", "topology=torus", "n=2", "routing_function=dim_order", "traffic=neighbor", "num_vcs=4",
                         "injection_rate=0.0005", "max_samples=4", f"packet_size={row['flits']}",
                         "stopping_thres=-1.0", "acc_stopping_thres=-1.0", "warmup_periods=1",
                         *row["statements"].split())
    assert status == 255 and values(out)["Packet latency"] == float(row["latency"])


@pytest.mark.parametrize(("statements", "latency"), [
    ("vc_buf_size=1", 32), ("vc_buf_size=1 internal_speedup=2.0", 23),
    ("vc_buf_size=1 internal_speedup=2.0 routing_delay=0", 23), ("vc_buf_size=1 internal_speedup=3.0", 23),
    ("vc_buf_size=2 internal_speedup=3.0 routing_delay=2", 19),
])
def test_small_buffers_pass_flits_on_as_fast_as_in_booksim(statements, latency, run):
    """The latencies were printed by BookSim. Each flit of a packet waits for the credit of an earlier one."""
    _, out, _ = run("c", "topology=torus", "n=2", "routing_function=dim_order", "traffic=neighbor", "num_vcs=4",
                    "use_noc_latency=0", "injection_rate=0.0005", "max_samples=4", "packet_size=4", "warmup_periods=1",
                    "stopping_thres=-1.0", "acc_stopping_thres=-1.0", *statements.split())
    assert values(out)["Packet latency"] == latency


def test_a_dragonfly_uses_two_virtual_channels(run):
    """BookSim accepts 0.424. With four virtual channels in use, it would be 0.8."""
    _, out, _ = run("c", "topology=dragonflynew", "k=1", "n=1", "routing_function=min", "num_vcs=8", "buf_size=512",
                    "injection_rate=0.9", "sim_type=throughput", "sample_period=2000", "warmup_periods=1",
                    "max_samples=4", "latency_thres=-1.0")
    assert values(out)["Accepted flit rate"] == pytest.approx(0.424, rel=0.08)


def test_message_types_share_the_virtual_channels_of_a_dragonfly(run):
    status, out, errors = run("c", "topology=dragonflynew", "k=1", "n=1", "routing_function=min", "use_read_write=1",
                              "injection_rate=0.01", "sample_period=500")
    assert (status, errors) == (255, "") and values(out)["Packet latency"] > 50


@pytest.mark.parametrize(("statements", "stages"), [
    ([], []), (["routing_delay=2"], ["a routing_delay of 2"]),
    (["routing_delay=3", "st_final_delay=2"], ["a routing_delay of 3", "an st_prepare_delay + st_final_delay of 2"]),
])
def test_stages_in_which_flits_of_booksim_wait_for_one_another_are_named(statements, stages, run):
    _, _, errors = run("c", *MESH, "max_samples=1", *statements)
    assert [line.removeprefix("flitlab-booksim: warning: ").partition(" cycles")[0]
            for line in errors.splitlines()] == stages


@pytest.mark.parametrize("statement", [
    "read_request_begin_vc=2", "read_reply_end_vc=12", "write_reply_size=9", "write_fraction=0.25",
    "read_reply_subnet=0"])
def test_parameters_of_replies_have_no_effect_without_replies(statement, run):
    plain, changed = (run("c", *MESH, "max_samples=1", *more) for more in ([], [statement]))
    assert changed[0] == plain[0] and changed[2] == plain[2] == ""
    assert "Packet latency average" in changed[1]


@pytest.mark.parametrize(("network", "function"), [
    ("mesh", "min_adapt"), ("torus", "min_adapt"), ("torus", "dim_order_bal"), ("fattree", "anca")])
def test_a_note_says_that_min_adapt_does_not_adapt(network, function, run):
    _, _, errors = run("c", f"topology={network}", f"routing_function={function}", "k=2", "n=2", "num_vcs=4",
                       "sample_period=50", "max_samples=1", "injection_rate=0.01")
    assert errors.count("warning: routing_function = min_adapt does not adapt") == (function == "min_adapt")


@pytest.mark.parametrize(("statements", "accepted"), [
    ("credit_delay=3", 0.3131), ("credit_delay=0", 0.3856)])
def test_credits_return_to_routers_and_terminals_as_in_booksim(statements, accepted, run):
    """BookSim accepts these rates with buffers of 2 flits and packets of 3 (means of 3 seeds)."""
    _, out, _ = run("c", "topology=fly", "k=6", "n=1", "routing_function=dest_tag", "num_vcs=2", "vc_buf_size=2",
                    "packet_size=3", "injection_rate=0.95", "injection_rate_uses_flits=1", "sim_type=throughput",
                    "sample_period=6000", "warmup_periods=2", "max_samples=4", "latency_thres=-1.0",
                    "acc_warmup_thres=-1.0", "acc_stopping_thres=-1.0", *statements.split())
    assert values(out)["Accepted flit rate"] == pytest.approx(accepted, rel=0.025)


# The networks of BookSim's 11 files, and three that differ from cmeshconfig and flatflyconfig.
SEPARABLE = "vc_allocator = separable_input_first; sw_allocator = separable_input_first; "
CMESH = "topology = cmesh; n = 2; c = 4; xr = 2; yr = 2; "
FLATFLY = "topology = flatfly; k = 4; n = 2; x = 4; y = 4; num_vcs = 8; vc_buf_size = 4; credit_delay = 2; " \
          "routing_delay = 0; "
FILES = {
    "mesh88_lat": "topology = mesh; k = 8; n = 2; routing_function = dor; num_vcs = 8; wait_for_tail_credit = 1; "
                  "credit_delay = 2; routing_delay = 0; input_speedup = 2; packet_size = 20;",
    "torus88": "topology = torus; k = 8; n = 2; routing_function = dim_order; num_vcs = 2;",
    "fattree_config": "topology = fattree; k = 4; n = 3; routing_function = nca; hold_switch_for_packet = 1; "
                      "vc_buf_size = 16; credit_delay = 2; routing_delay = 0; num_vcs = 4; " + SEPARABLE,
    "singleconfig": "topology = fly; k = 10; n = 1; num_vcs = 8; routing_function = dest_tag; routing_delay = 0; "
                    + SEPARABLE,
    "anynet_config": "topology = anynet; routing_function = min; network_file = links; num_vcs = 1; vc_buf_size = 3; "
                     + SEPARABLE,
    "dragonflyconfig": "topology = dragonflynew; k = 4; n = 1; routing_function = min; num_vcs = 2; vc_buf_size = 256; "
                       "credit_delay = 2; routing_delay = 0; internal_speedup = 2.0; packet_size = 10; " + SEPARABLE,
    "ftreeconfig": "topology = fattree; k = 4; n = 3; xr = 2; yr = 2; routing_function = nca; num_vcs = 16; "
                   "wait_for_tail_credit = 1; credit_delay = 2; routing_delay = 0;",
    "meshconfig": "topology = mesh; k = 8; n = 2; routing_function = dor; num_vcs = 16; wait_for_tail_credit = 1; "
                  "credit_delay = 2; routing_delay = 0;",
    "cmeshconfig": CMESH + "k = 4; routing_function = dor_no_express;",
    "cmesh_express": CMESH + "k = 8; routing_function = dor; packet_size = 3;",
    "cmesh_xy_yx": CMESH + "k = 4; routing_function = xy_yx_no_express; use_noc_latency = 0;",
    "flatflyconfig": FLATFLY + "routing_function = ran_min; c = 4; xr = 2; yr = 2;",
    "flatfly_ugal": FLATFLY + "routing_function = ugal; c = 9; xr = 3; yr = 3;",
    "runfiles_dragonflyconfig": "topology = dragonflynew; k = 4; n = 1; routing_function = min; num_vcs = 3; "
                                "vc_buf_size = 256; credit_delay = 2; routing_delay = 0; internal_speedup = 1.7;",
}


@pytest.mark.filterwarnings("ignore:buffers of 256 flits")
@pytest.mark.parametrize("name", FILES)
def test_pairs_of_nodes_have_booksims_latencies_without_load(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("links").write_text("router 0 node 0 node 1 node 2 router 1\nrouter 1 node 3 node 4 node 5\n"
                             "router 2 node 6 node 7 node 8 router 1 router 0\n")
    rows = [row for row in csv.DictReader((HERE / "pairs.csv").read_text().splitlines()) if row["file"] == name]
    source, destination, packet, flit = (np.array([int(row[column]) for row in rows]) for column in
                                         ("source", "destination", "packet_latency", "flit_latency"))
    settings = Settings(read(FILES[name], "c"), "c", program.PARAMETERS)
    experiment = program.network_of(settings, "c")
    rng = np.random.default_rng(0)
    nodes = int(experiment.derived()["terminals"])
    of_class, = program.classes_of(settings, nodes, 1, rng)
    places = terminals(settings, np.arange(nodes))
    sources = Sources(experiment, [of_class], places, rng, patient=False)
    # One packet at a time, so that none waits for another.
    for number in range(source.size):
        sources.classes[0] = of_class.with_destination(int(destination[number]))
        sources.create(source[number:number + 1], np.array([sources.time]))
        found = sources.advance(400, creating=False)
        assert found.packet.size == 1
        assert found.tail[0] - sources.packets.created[number] == packet[number], rows[number]
        assert found.head[0] - found.injected[0] == flit[number], rows[number]


@pytest.mark.parametrize(("arguments", "status", "message"), [
    ([], 0, r"Usage: flitlab-booksim configfile\.\.\. \[param=value\.\.\.\]"),
    (["-x"], 0, r"Usage"), (["k=4"], 0, r"Usage"),
    (["nofile"], 255, r"nofile"), (["c", "bad=3"], 255, r"bad=3, line 1: bad is not a parameter of BookSim 2"),
    (["c", "k=2.5"], 255, r"k = 2\.5 is a number with a decimal point"), (["c", "k="], 255, r'stands where'),
    (["c", "-v=1"], 255, r"-v is not a parameter"),
    (["c", *MESH, "traffic=nope"], 255, r"traffic = nope is not one of BookSim 2's: uniform, "),
    (["c", *MESH, "k=3", "traffic=bitcomp"], 255, r"needs a number of nodes that is a power of two, and there are 9"),
    (["c", *MESH, "injection_rate=1.5"], 255, r"The rate must be between 0 and 1"),
    (["c", *MESH, "injection_process=poisson"], 255, r"injection_process = poisson is not one of BookSim 2's"),
    (["c", *MESH, "traffic=neighbor(4,3)"], 2, r"4,3 is not a whole number .* need braces: NAME\(\{1,2\}\)"),
    (["c", *MESH, "sim_type=x"], 255, r"sim_type = x is not one of BookSim 2's"),
    (["c", *MESH, "topology=qtree"], 2, r"topology = qtree is not translated"),
    (["c", *MESH, "use_read_write=1"], 2, r"read_request_end_vc = 5 are wrong: .* from 0 to num_vcs - 1 = 3"),
    (["c", *MESH, "use_read_write=1", "classes=3", "num_vcs=16"], 2, r"takes four of flitlab's 8 classes"),
    (["c", *MESH, "use_read_write=1", "num_vcs=16", "read_reply_subnet=1"], 2, r"subnets = 1 are numbered 0 to 0"),
    (["c", "routing_function=dim_order", "use_read_write=1"], 2,
     r"class 1 has the virtual channels 2 to 7\. Packets could deadlock"),
    (["c", *MESH, "classes=2", "sim_type=batch"], 2, r"sim_type = batch is not translated with several classes"),
    (["c", *MESH, "subnets=2", "sim_type=batch"], 2, r"sim_type = batch is not translated with several classes"),
    (["c", *MESH, "subnets=0"], 2, r"subnets = 0 is not translated: 0 is not a whole number from 1"),
])
def test_exit_codes(arguments, status, message, run):
    found, _, errors = run(*arguments)
    assert found == status and re.search(message, errors) and errors.count("\n") == 1, errors


def test_later_arguments_win_and_words_with_a_dash_are_ignored(run):
    status, out, errors = run("injection_rate=0.9", "-v", "c", *MESH, "injection_rate=0.02", "injection_rate=0.05",
                              "stopping_thres=-1.0")
    assert status == 255 and errors == ""
    assert values(out)["Injected packet rate"] == pytest.approx(0.05, rel=0.2)
    assert out.startswith("OVERRIDE Parameter: injection_rate=0.9\nBEGIN Configuration File: c\nk = 4;\n\nEND Configu")


def test_the_time_can_be_the_seed(run):
    status, out, _ = run("c", *MESH, "seed=time", "max_samples=1", "warmup_periods=0")
    seed, = re.findall(r"^SEED: seed=(\d+)$", out, re.MULTILINE)
    again = run("c", *MESH, f"seed={seed}", "max_samples=1", "warmup_periods=0")[1]
    first, second = (text[text.find("Class 0"):text.find("Total run")] for text in (out, again))
    assert status == 0 and first == second


def test_the_program_is_a_module():
    done = subprocess.run([sys.executable, "-m", "flitlab.booksim.program"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "" and done.stderr.startswith("Usage: flitlab-booksim")


def test_a_source_without_a_limit_of_packets_is_as_fast_as_the_limit_allows(run):
    """With one packet of a node under way, a packet follows in the cycle after an arrival."""
    _, out, _ = run("c", *MESH, "sim_type=batch", "batch_size=10", "max_outstanding_requests=1", "traffic=neighbor",
                    "topology=torus", "routing_function=dim_order", "print_csv_results=1")
    assert values(out)["Packet latency"] == 19
    assert re.search(r"^Time taken is 202 cycles$", out, re.MULTILINE)  # 10 times 19 + 1, and the last credit


def test_patient_sources_keep_their_packets(run):
    """At the end of a simulation, packets that wait at their sources vanish in BookSim."""
    settings = Settings(read("; ".join([*MESH, "injection_rate=0.9", "packet_size=3;"]), "c"), "c", program.PARAMETERS)
    rng = np.random.default_rng(0)
    sources = Sources(program.network_of(settings, "c"), program.classes_of(settings, 16, 1, rng), np.arange(16), rng,
                      patient=True)
    arrived = 0
    for _ in range(20):
        found = sources.advance(100)
        arrived += found.packet.size
        assert max(sources.network.waiting(node) for node in range(16)) <= 100 / 3 + 1
    assert sources.packets.number > 16 * 2000 * 0.8
    assert arrived > 16 * 2000 / 10  # the sources remain busy


# Patterns and injection.


def drawn(text, nodes, statements="", number=20000):
    settings = Settings(read(statements, "c"), "c")
    rng = np.random.default_rng(1)
    sources = rng.integers(0, nodes, number)
    return sources, generation.pattern(text, settings, nodes, rng)(rng, sources)


@pytest.mark.parametrize(("text", "destination"), [
    ("bitcomp", lambda s: 63 - s), ("bitrev", lambda s: int(format(s, "06b")[::-1], 2)),
    ("shuffle", lambda s: s * 2 % 64 + s // 32), ("transpose", lambda s: s % 8 * 8 + s // 8),
    ("tornado", lambda s: (s + 3) % 8 + (s // 8 + 3) % 8 * 8),
    ("neighbor", lambda s: (s + 1) % 8 + (s // 8 + 1) % 8 * 8),
    ("neighbor({4,3})", lambda s: (s + 1) % 4 + (s // 4 + 1) % 4 * 4 + (s // 16 + 1) % 4 * 16),
    ("hotspot({7})", lambda s: 7),
])
def test_patterns_with_one_destination(text, destination):
    sources, to = drawn(text, 64)
    assert all(to == [destination(s) for s in sources.tolist()])


def test_random_patterns():
    sources, to = drawn("uniform", 64)
    assert np.bincount(to, minlength=64).min() > 200
    _, to = drawn("background({{0,5}})", 64)
    assert set(to) == set(range(64)) - {0, 5}
    _, to = drawn("hotspot({{3,9},{1,3}})", 64)
    assert set(to) == {3, 9} and np.mean(to == 9) == pytest.approx(0.75, abs=0.02)
    sources, to = drawn("diagonal", 64)
    assert set((to - sources) % 64) == {0, 1} and np.mean(to == sources) == pytest.approx(2 / 3, abs=0.02)
    sources, to = drawn("asymmetric", 64)
    assert all(to % 32 == sources % 32) and np.mean(to < 32) == pytest.approx(0.5, abs=0.02)
    sources, to = drawn("bad_dragon({2,1})", 72)
    assert all(to // 8 == (sources // 8 + 1) % 9) and len(set(to)) == 72
    sources, to = drawn("badperm_yarc", 64)
    assert all(to % 8 == sources // 8) and len(set(to)) == 64
    sources, to = drawn("taper64", 64)
    near = np.isin((to - sources) % 64, [(8 * a + b) % 64 for a in (-1, 0, 1) for b in (-1, 0, 1)])
    assert np.mean(near) == pytest.approx(0.5 + 0.5 * 9 / 64, abs=0.02)
    permutations = [tuple(np.unique(np.stack(drawn("randperm", 16, f"perm_seed = {seed};")), axis=1)[1])
                    for seed in (1, 1, 2)]
    assert permutations[0] == permutations[1] != permutations[2]
    assert sorted(permutations[0]) == list(range(16))


@pytest.mark.parametrize(("text", "statements"), [
    ("bernoulli", ""), ("on_off", "burst_alpha = 0.1; burst_beta = 0.2; burst_r1 = -1.0;"),
    ("on_off({0.1,-1,0.5})", ""), ("on_off({-1,0.2,0.5})", ""), ("on_off({0.1,0.2})", ""),
])
def test_injection_processes_have_the_rate(text, statements):
    rng = np.random.default_rng(1)
    process = generation.injection(text, Settings(read(statements, "c"), "c"), 100, 0.2, rng)
    created = np.concatenate([process.draw(rng, 1000) for _ in range(5)])
    assert created.mean() == pytest.approx(0.2, rel=0.03)
    if text != "bernoulli":  # packets come in bursts
        assert np.mean(created[1:] & created[:-1]) > 1.3 * 0.2**2


def test_lengths_are_drawn_for_each_class(run):
    _, out, _ = run("c", *MESH, "classes=2", "packet_size={{1,5},{3}}", "packet_size_rate={{3,1},{1}}",
                    "injection_rate={0.05,0.02}", "stopping_thres=-1.0", "acc_stopping_thres=-1.0")
    sizes = re.findall(r"^Injected packet size average = (\S+)", out, re.MULTILINE)
    rates = re.findall(r"^Injected packet rate average = (\S+) \(", out, re.MULTILINE)
    assert float(sizes[0]) == pytest.approx(2, rel=0.15) and float(sizes[1]) == pytest.approx(3, rel=0.02)
    assert list(map(float, rates)) == pytest.approx([0.05, 0.02], rel=0.2)


def test_the_file_of_stats_out_starts_with_the_configuration(run):
    run("c", *MESH, "stats_out=out.m")
    lines = Path("out.m").read_text().splitlines()
    assert lines[:2] == ["%arb_type = 'round_robin';", "%buffer_policy = 'private';"]
    assert "%k = 4;" in lines and "%latency_thres = 500;" in lines
    assert sum(map(int, re.search(r"plat_hist\(1,:\) = \[ ([\d ]+)", "\n".join(lines))[1].split())) > 500
