"""The command line from a user's view: output, messages, exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from interrupted import interrupted

SMALL = ["--set", "run.warmup_cycles=500", "--set", "run.measure_cycles=2000"]


def test_run_json_has_the_documented_keys(cli, config):
    done = cli("run", config("vc-mesh-8x8"), "--json", "--seed", 3, *SMALL)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    keys = [
        "version", "backend", "device", "threads", "seed", "config", "routers", "terminals", "channels", "cycles",
        "wall_seconds", "router_cycles_per_second", "state_bytes", "state_hash", "offered", "accepted", "saturated",
        "latency_cycles", "network_latency_cycles", "hops_mean", "packets", "channel_utilization", "model",
    ]
    assert set(keys) <= set(result)
    assert set(result["latency_cycles"]) == {"mean", "p50", "p95", "p99", "max", "ci95"}
    assert result["seed"] == 3 and result["config"]["run.seed"] == 3
    p = result["packets"]
    assert p["created"] == p["delivered"] + p["dropped"] + p["in_flight"] + p["queued"]
    assert result["accepted"] == pytest.approx(0.2, rel=0.05)


def test_run_for_people(cli, config):
    done = cli("run", config("vc-mesh-8x8"), *SMALL)
    assert done.returncode == 0
    assert "latency" in done.stdout and "flits/cycle/terminal" in done.stdout


def test_threads_do_not_show(cli, config):
    hashes = {json.loads(cli("run", config("vc-torus-8x8"), "--json", "--threads", n, *SMALL).stdout)["state_hash"]
              for n in (1, 2, 3)}
    assert len(hashes) == 1


def test_inspect_lists_parameters_and_numbers(cli, config):
    derived = json.loads(cli("inspect", config("vc-torus-32x32x32"), "--json").stdout)["derived"]
    assert derived["routers"] == 32768
    assert derived["state_bytes"] < 200e6
    assert derived["router_hot_bytes"] <= 1200
    assert derived["zero_load_latency_cycles"] == 129
    assert "router.vcs" in cli("inspect", config("vc-mesh-8x8")).stdout


def test_inspect_names_the_form_of_the_state(cli, config):
    def forms(*settings: str) -> dict[str, str]:
        changes = [word for setting in settings for word in ("--set", setting)]
        return json.loads(cli("inspect", config("vc-mesh-8x8"), "--json", *changes).stdout)["forms"]

    assert forms() == {"cpu": "lanes", "gpu": "lanes"}
    assert forms("router.arbiter=matrix") == {"cpu": "lanes", "gpu": "lanes"}
    assert forms("router.arbiter=matrix", "router.vcs=16") == {"cpu": "lanes", "gpu": "scalar (router.arbiter)"}
    assert forms("router.routing_delay=8") == {"cpu": "scalar (router.routing_delay)",
                                               "gpu": "scalar (router.routing_delay)"}
    small = cli("inspect", config("vc-mesh-8x8"), "--set", "topology.shape=[3,3]").stdout
    assert "scalar (topology.shape)" in small


def test_sweep_writes_its_files(cli, config, tmp_path):
    done = cli("sweep", config("vc-mesh-8x8"), "--over", "traffic.load=0.1:0.3:0.1", "--out", "o", *SMALL)
    assert done.returncode == 0, done.stderr
    assert {f.name for f in (tmp_path / "o").iterdir()} == {"curve.csv", "curve.png", "points.jsonl",
                                                            "experiment.toml", "sweep.json"}
    assert (tmp_path / "o" / "curve.csv").read_text().splitlines()[0].startswith("traffic.load,run.seed,offered")
    again = cli("inspect", "o/experiment.toml")
    assert again.returncode == 0, again.stderr


def test_an_interrupted_sweep_resumes_to_the_same_table(cli, config, tmp_path):
    args = ["sweep", config("vc-torus-8x8"), "--over", "router.vcs=2,3,4,5,6,7,8", "--over", "traffic.load=0.1,0.2",
            "--set", "run.warmup_cycles=2000", "--set", "run.measure_cycles=20000"]
    assert cli(*args, "--out", "whole").returncode == 0
    stopped = interrupted([*args, "--out", "part"], tmp_path, signal.SIGTERM, points=2)
    assert stopped.returncode == 130, stopped.stderr
    assert "--resume" in stopped.stderr and "Traceback" not in stopped.stderr
    journal = tmp_path / "part" / "points.jsonl"
    assert journal.read_text().count("\n") == 2
    journal.write_text(journal.read_text() + '{"key": "cut sh')  # a crash in the middle of a line
    assert cli(*args, "--out", "part", "--resume").returncode == 0
    assert (tmp_path / "part" / "curve.csv").read_bytes() == (tmp_path / "whole" / "curve.csv").read_bytes()


def test_a_deadlock_exits_3_with_its_cycle(cli, config):
    done = cli("run", config("vc-torus-8x8"), "--set", "router.vcs=1", "--set", "routing.vc_assignment=any",
               "--set", "traffic.load=1", "--set", "router.buffer_flits=2", "--set", "traffic.packet_flits=8")
    assert done.returncode == 3
    assert "wait for one another in a cycle" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(("arguments", "parts"), [
    (["run", "{mesh}", "--set", "router.vc=4"], ["router.vc", "router.vcs"]),
    (["run", "{mesh}", "--set", "router.vcs=many"], ['"many"', "integer"]),
    (["run", "{mesh}", "--set", "topology.shape=[8,0]"], ["topology.shape", "1 to 65535"]),
    (["run", "{mesh}", "--set", "nonsense"], ["KEY=VALUE"]),
    (["run", "nowhere.toml"], ["nowhere.toml", "cannot be read"]),
    (["run", "broken.toml"], ["broken.toml", "TOML", "line 2"]),
    (["run", "{mesh}", "--threads", "-1"], ["--threads -1"]),
    (["run", "{mesh}", "--threads", "1025"], ["--threads 1025", "1024"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--threads", "99999999999"], ["--threads 99999999999", "1024"]),
    (["sweep", "{mesh}", "--over", "run.seed=5,6", "--seeds", "2"], ["--over run.seed and --seeds", "use one"]),
    (["bench", "{mesh}", "--cycles", "-5"], ["--cycles -5"]),
    (["bench", "{mesh}", "--sweep", "-1"], ["--sweep -1", "100000"]),
    (["bench", "{mesh}", "--sweep", "4", "--cycles", "9"], ["--sweep", "run.measure_cycles"]),
    (["bench", "batch.toml"], ['traffic.mode = "batch"', '"open"']),
    (["run", "{mesh}", "--set", "topology.shape=[65535,65535,65535]"], ["topology.shape = [65535, 65535, 65535]",
                                                                        "16777216 terminals"]),
    (["inspect", "{mesh}", "--set", "topology.shape=[256,256,256,256,256,256,256,256]"], ["16777216 terminals"]),
    (["run", "{mesh}", "--set", "topology.shape=-8"], ["topology.shape = -8", "1 to 65535"]),
    (["run", "{mesh}", "--set", "topology.shape=0"], ["topology.shape = 0", "1 to 65535"]),
    (["run", "{mesh}", "--set", "topology.shape=8x8"], ['topology.shape = "8x8"', "list of integers, e.g. [8, 8]"]),
    (["run", "{mesh}", "--set", "topology.shape=[8.0,8.0]"], ["topology.shape = [8.0, 8.0]", "list of integers"]),
    (["run", "{mesh}", "--set", "topology.shape=[99999999999999999999]"], ["topology.shape = [9", "too large"]),
    (["run", "{mesh}", "--set", "traffic.packet_flits=[[99999999999999999999,1]]"], ["packet_flits", "too large"]),
    (["run", "{mesh}", "--set", "router.speculative=yes"], ['router.speculative = "yes"', "true or false"]),
    (["run", "{mesh}", "--set", "traffic.pattern=3"], ["traffic.pattern = 3", "one of uniform, "]),
    (["run", "{mesh}", "--set", "router.vcs=17"], ["router.vcs = 17", "1 to 16"]),
    (["run", "{mesh}", "--set", "router.kind=t3x"], ['router.kind = "t3x"', "Allowed are", "vc"]),
    (["run", "{mesh}", "--set", "topology.shape=[4,8]", "--set", "traffic.pattern=transpose"],
     ['traffic.pattern = "transpose"', "32 terminals", "power of four"]),
    (["run", "graph.toml", "--set", "traffic.pattern=tornado"], ['traffic.pattern = "tornado"', "coordinates"]),
    (["run", "graph.toml", "--set", "traffic.pattern=transpose"], ['traffic.pattern = "transpose"', "3 terminals"]),
    (["run", "graph.toml", "--set", "traffic.pattern=shuffle"], ['traffic.pattern = "shuffle"', "3 terminals"]),
    (["run", "{mesh}", "--set", "traffic.pattern=hot_region", "--set", "traffic.hot_shape=[9,1]"],
     ["traffic.hot_shape = [9, 1]", "at most [8, 8]"]),
    (["run", "{mesh}", "--set", "topology.kind=torus", "--set", "routing.algorithm=romm"],
     ['routing.algorithm = "romm"', '"mesh", "chiplet_mesh" or "hypercube"']),
    (["run", "{mesh}", "--set", "topology.shape=[4,4,4]", "--set", "routing.algorithm=o1turn"],
     ['routing.algorithm = "o1turn"', "of other than two dimensions"]),
    (["run", "{mesh}", "--set", "routing.algorithm=o1turn", "--set", "router.vcs=1"], ["router.vcs = 1", "at least 2"]),
    (["run", "{mesh}", "--set", "traffic.pattern=matrix", "--set", "traffic.matrix_file=/no.csv"],
     ['traffic.matrix_file = "/no.csv"', "cannot be read", "Give the name"]),
    (["run", "{mesh}", "--set", "traffic.mode=batch", "--set", "traffic.load=0.3"],
     ["traffic.load", 'traffic.mode = "open" or "request_reply", and traffic.mode is "batch"']),
    (["run", "{mesh}", "--set", "topology.shape=[200,200,200]", "--set", "router.vcs=16", "--set",
      "router.buffer_flits=255", "--set", "traffic.packet_flits=1"], ["MB", "would fit"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1:0.5"], ["traffic.load=0.1:0.5"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.5:0.1:0.1"], ["STOP"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0:inf:0.1"], ["traffic.load=0:inf:0.1"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--over", "traffic.load=0.2"], ["given twice"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--out", "kept"], ["kept", "--resume"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1,2"], ["traffic.load = 2", "0 to 1"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--out", "broken.toml/x"], ["--out", "cannot be written"]),
    (["trace", "{mesh}", "--cycles", "9:3", "--format", "vcd", "--out", "x"], ["--cycles 9:3"]),
    (["trace", "{mesh}", "--cycles", "\u00b2:5", "--format", "vcd", "--out", "x"], ["--cycles \u00b2:5", "A:B"]),
    (["trace", "{mesh}", "--cycles", "4294967296:4294967300", "--format", "vcd", "--out", "x"],
     ["--cycles 4294967296:4294967300", "2000000000 at most"]),
    (["trace", "{mesh}", "--cycles", "0:3000000000", "--format", "vcd", "--out", "x"], ["2000000000 at most"]),
    (["trace", "{mesh}", "--cycles", "1:3", "--format", "vcd", "--out", "x", "--routers", "\u00b2"],
     ["--routers \u00b2"]),
    (["trace", "{mesh}", "--cycles", "1:3", "--format", "vcd", "--out", "no/x"], ["--out no/x", "cannot be written"]),
    (["trace", "{mesh}", "--cycles", "1:3", "--format", "vcd", "--out", "x", "--routers", "64"],
     ["--routers 64", "63"]),
    (["trace", "{mesh}", "--cycles", "1:3", "--format", "vcd", "--out", "x", "--routers", "5-1"],
     ["--routers 5-1", "0,5,9-12"]),
    (["reproduce", "t9x"], ["t9x"]),
    (["reproduce", ""], ["no experiment has a name that starts with this"]),
    (["run", ""], ["it must be the path of a file"]),
    (["run", "{mesh}", "--checkpoint", ""], ["--checkpoint", "it must be the path of a file"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--out", ""], ["--out", "it must be the path of a folder"]),
    (["sweep", "{mesh}", "--over", "traffic.load=0.1", "--resume"],
     ["--resume continues a sweep from", "give the folder as --out"]),
    (["sweep", "{mesh}", "--over", "traffic.load=adaptive"], ["--over traffic.load=adaptive", "adaptive:LOW:HIGH"]),
    (["sweep", "{mesh}", "--over", "load=0.1"], ["flitlab: unknown key load = 0.1: did you mean traffic.load?"]),
])
def test_bad_input_is_one_line_and_exit_2(cli, config, tmp_path, arguments, parts):
    (tmp_path / "graph.csv").write_text("0,1\n1,2\n")
    (tmp_path / "graph.toml").write_text('[topology]\nkind = "graph"\nfile = "graph.csv"\n')
    (tmp_path / "broken.toml").write_text("[router]\nvcs = \n")
    (tmp_path / "batch.toml").write_text('traffic.mode = "batch"\n')
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "points.jsonl").write_text("")
    done = cli(*[str(config("vc-mesh-8x8")) if a == "{mesh}" else a for a in arguments])
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("flitlab: ") and done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def test_cuda_is_refused_clearly_without_a_device(cli, config):
    from flitlab import _core

    if _core.backends()["cuda"]["available"]:
        pytest.skip("a GPU answers here")
    done = cli("run", config("vc-mesh-8x8"), "--backend", "cuda")
    assert done.returncode == 2
    assert "backend cuda cannot be used" in done.stderr


def test_doctor_and_bench_and_reproduce_answer(cli, config):
    assert "cpu" in cli("doctor").stdout
    slow = cli("doctor", "vc-mesh-8x8", "--set", "router.routing_delay=8").stdout
    assert "vc-mesh-8x8 on the CPU: scalar (router.routing_delay)" in slow
    assert "vc-mesh-8x8 on the CPU: lanes" in cli("doctor", "vc-mesh-8x8").stdout
    assert "name it" in cli("doctor", "--set", "router.vcs=8").stderr
    done = cli("bench", config("vc-mesh-8x8"), "--set", "traffic.load=0.1", "--cycles", 500, "--json")
    rows = json.loads(done.stdout)
    assert rows[0]["router_cycles_per_second"] > 0
    assert cli("reproduce", "--list").returncode == 0


def test_bench_times_whole_sweeps(cli, config):
    done = cli("bench", config("vc-mesh-8x8"), "--sweep", 4, *SMALL, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    first = rows[0]
    assert first["runs"] == 4 and len(first["loads"]) == 3
    # The count includes at least the warm-up and window of each run, and no cycles of other runs.
    assert 4 * 1000 <= first["cycles"] < 4 * 60000
    assert first["router_cycles_per_second"] == pytest.approx(64 * first["cycles"] / first["seconds"])
    # Runs with any number of threads and any engine simulate the same number of cycles.
    assert all(row["cycles"] == first["cycles"] for row in rows)
    assert "host included" in cli("bench", config("vc-mesh-8x8"), "--sweep", 2, *SMALL).stdout


def test_a_sweep_of_several_curves_sums_up_each(cli, config):
    done = cli("sweep", config("vc-mesh-8x8"), "--over", "router.vcs=1,4", "--over", "traffic.load=0.1,0.9", *SMALL)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "highest throughput" in line]
    assert [line.split(":")[0] for line in lines] == ["vcs 1", "vcs 4"]
    assert all("saturated from traffic.load = 0.9" in line for line in lines)


def test_the_readme_names_every_option_of_run():
    from flitlab.cli import _parser

    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    synopsis = readme[readme.index("    flitlab run"):readme.index("    flitlab sweep CONFIG")]
    sub = next(a.choices for a in _parser()._actions if a.choices)["run"]
    options = {o for action in sub._actions for o in action.option_strings if o.startswith("--")} - {"--help"}
    assert {o for o in options if o not in synopsis} == set()


def test_the_glossary_has_the_words_of_the_documentation():
    glossary = (Path(__file__).resolve().parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = {word for line in glossary.splitlines() if line.startswith("| ")
             for word in line.split("|")[1].strip().split(", ")}
    assert {"saturation", "warm-up", "drain", "zero-load latency", "dateline", "escape channel", "wormhole",
            "virtual cut-through", "store-and-forward", "speculation", "message class", "transaction", "round trip",
            "batch", "confidence interval", "replica", "epoch"} <= words


def test_import_is_quick():
    code = "import sys, flitlab; assert 'pandas' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})


def test_a_trace_is_replayed(cli, config, tmp_path):
    lines = [f"{n // 4},{n * 7 % 64},{n * 13 % 64},{1 + n % 4}" for n in range(5000)]
    lines.append(f"{5000 // 4},{4999 * 13 % 64},0,1,4999")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "t.toml").write_text('traffic.mode = "trace"\ntraffic.trace_file = "t.csv"\n')
    done = cli("run", "t.toml", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["packets"]["delivered"] == 5001 and result["model"]["trace_cycles"] > 1250
    (tmp_path / "t.csv").write_text("0,0,1,1\n3,0,64,1\n")
    bad = cli("run", "t.toml")
    assert bad.returncode == 2 and "Traceback" not in bad.stderr
    assert "t.csv:2" in bad.stderr and "numbered 0 to 63" in bad.stderr


def test_one_message_class_deadlocks_with_its_cycle(cli, tmp_path):
    (tmp_path / "d.toml").write_text(
        'topology.kind = "mesh"\ntopology.shape = [4, 4]\nrouter.vcs = 2\n'
        'traffic.mode = "request_reply"\ntraffic.load = 1.0\ntraffic.window = 64\ntraffic.reply_queue = 1\n')
    done = cli("run", "d.toml", "--set", "traffic.message_classes=1")
    assert done.returncode == 3 and "reply queue" in done.stderr and "Traceback" not in done.stderr
    done = cli("run", "d.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"]["round_trip_cycles_mean"] > 20


def _same_run(one: dict, other: dict) -> bool:
    timed = ("wall_seconds", "router_cycles_per_second")
    return {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}


def test_a_terminated_run_resumes_from_its_checkpoint(cli, config, tmp_path):
    run = ["run", config("vc-mesh-8x8"), "--json", "--set", "run.measure_cycles=300000", "--threads", 1]
    whole = json.loads(cli(*run).stdout)
    stopped = interrupted([*run, "--checkpoint", "c", "--every", "0.000001"], tmp_path, signal.SIGTERM,
                          condition="Path('c').exists()")
    assert stopped.returncode == 130 and "continues from there" in stopped.stderr, stopped.stderr
    other = cli("run", config("vc-torus-8x8"), "--checkpoint", "c")
    assert other.returncode == 2 and "belongs to another configuration" in other.stderr
    done = cli(*run, "--checkpoint", "c")
    assert done.returncode == 0, done.stderr
    assert _same_run(json.loads(done.stdout), whole)
    assert not (tmp_path / "c").exists()


def test_a_checkpoint_that_cannot_be_used_is_named(cli, config, tmp_path):
    (tmp_path / "bad").write_bytes(b"flitlab2 but nothing more")
    for path, part in (("bad", "is not a flitlab checkpoint"), ("no/such/folder/c", "cannot be written")):
        done = cli("run", config("vc-mesh-8x8"), "--checkpoint", path, "--every", "0.000001", *SMALL)
        assert done.returncode == 2 and part in done.stderr and path in done.stderr and "Traceback" not in done.stderr
    done = cli("run", config("vc-mesh-8x8"), "--checkpoint", "c", "--every", "0")
    assert done.returncode == 2 and "--every 0" in done.stderr
