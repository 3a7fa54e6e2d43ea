"""A new user's first attempts: names of configurations, terms of other simulators, slips, and helpful answers."""

import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import flitlab as fl
from flitlab import shipped
from flitlab.machines import machines
from flitlab.reproduction import chosen

ROOT = Path(__file__).resolve().parents[2]
FAST = {"run.warmup_cycles": 200, "run.measure_cycles": 400, "run.epoch_cycles": 100}


# Forms in which an experiment can be given.


def test_configurations_go_by_name_from_anywhere(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    assert "vc-torus-8x8" in fl.configs() and len(fl.configs()) > 50
    e = fl.load("vc-torus-8x8")
    assert e.name == "vc-torus-8x8" and e.flat() == fl.load(shipped.folder() / "vc-torus-8x8.toml").flat()
    done = cli("run", "vc-torus-8x8", "--set", "traffic.load=0.05", "--json")
    assert done.returncode == 0, done.stderr
    (tmp_path / "vc-torus-8x8").write_text("traffic.load = 0.07")  # a file takes precedence over a shipped name
    assert fl.load("vc-torus-8x8")["traffic.load"] == 0.07


@pytest.mark.parametrize("name", ["vc-torus-8x9", "vc-torus-8x9.toml", "configs/vc-torus-8x8.toml"])
def test_what_is_neither_a_file_nor_a_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fl.ConfigError, match=r"no such file, .* Did you mean vc-torus-8x8\? `flitlab configs` lists"):
        fl.load(name)


def test_configurations_are_listed_and_printed(cli):
    listed = cli("configs").stdout.splitlines()
    assert [line.split()[0] for line in listed] == fl.configs()
    assert all(len(line.split()) > 4 and line.endswith(".") for line in listed)
    assert cli("configs", "t3e-16").stdout == (shipped.folder() / "t3e-16.toml").read_text()
    done = cli("configs", "t3e-17")
    assert done.returncode == 2 and "Did you mean t3e-16?" in done.stderr


def test_everything_takes_experiments_files_names_and_dictionaries(tmp_path):
    (tmp_path / "x.toml").write_text("[topology]\nshape = [4, 4]\n[run]\nwarmup_cycles = 200\nmeasure_cycles = 400\n"
                                     "epoch_cycles = 100\n")
    given = {"topology.shape": [4, 4], **FAST}
    forms = [fl.Experiment.from_dict(given), given, tmp_path / "x.toml", str(tmp_path / "x.toml")]
    assert len({fl.run(form).state_hash for form in forms}) == 1
    assert len({fl.Network(form).step(50).state_hash for form in forms}) == 1
    over = {"traffic.load": [0.1]}
    assert len({fl.sweep(form, over, progress=False).csv_text() for form in forms}) == 1
    assert fl.Network("vc-mesh-8x8").experiment.name == "vc-mesh-8x8"
    with pytest.raises(fl.ConfigError, match="cannot be made of a int: give an Experiment, a file, the name"):
        fl.run(3)


def test_machines_packages_are_imported_and_the_documentation_does_so():
    """``fl.t3e`` is found at run time (``__getattr__`` of the package), because shared modules must not contain the
    names of machines. Type checkers cannot see it, so the documentation writes ``from flitlab import t3e``."""
    names = machines()
    assert len(names) >= 4 and all(getattr(fl, name) is import_module(f"flitlab.{name}") for name in names)
    with pytest.raises(AttributeError, match="module 'flitlab' has no attribute 't3x'"):
        fl.t3x  # noqa: B018
    files = list((ROOT / "bindings" / "flitlab").rglob("*.py"))
    files += [f for folder in ("docs", "kernels", "notebooks") for f in (ROOT / folder).rglob("*") if f.is_file()
              and f.suffix in (".md", ".ipynb")] + [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    use = re.compile(rf"\bfl\.({'|'.join(names)})\b")
    assert len(files) > 80 and [f for f in files if use.search(f.read_text(encoding="utf-8"))] == []


# Experiments and results can be read like mappings.


def test_experiments_and_results_are_mappings(small):
    assert "traffic.load" in small and "traffic.laod" not in small and None not in small
    assert "traffic.trace_file" not in small  # does not apply
    assert list(small) == list(small.flat()) and len(small) == len(small.flat()) and dict(small) == small.flat()
    result = fl.run(small.set(FAST))
    for name in ("accepted", "latency_cycles", "latency_cycles.mean", "config.traffic.load"):
        assert name in result
    for name in ("acepted", "latency_cycles.men", "accepted.mean", "config.traffic", 3, None):
        assert name not in result
    assert list(result) == list(result.to_dict()) and dict(result)["accepted"] == result.accepted
    assert "mean" in result.latency_cycles and list(result.packets) == list(result.packets.to_dict())


@pytest.mark.parametrize("key", [None, 3, ("a", "b")])
def test_keys_are_strings(small, key):
    result = fl.run(small.set(FAST))
    for values in (small, result, result.packets):
        with pytest.raises(KeyError, match=r"there is no .* It must be a string, not "):
            values[key]
    for change in (lambda: small.set(key), lambda: small.set(key, 4), lambda: fl.Experiment({key: 4})):
        with pytest.raises(fl.ConfigError, match=r"unknown key .*: a key is a dotted path, a string such as"):
            change()


# Mistakes of callers that flitlab rejects.


class Submits:
    def submit(self):
        raise AssertionError


SLIPS = {
    "run(exp, threads=1.0)": r"threads = 1\.0: it must be a whole number, 0 \(one per core\) to 1024\.",
    "run(exp, threads=True)": r"threads = True: it must be a whole number",
    "run(exp, every=None)": r"every = None: it must be a positive number of seconds\.",
    "run(exp, every='x')": r"every = 'x': it must be a positive number of seconds\.",
    "run(exp, checkpoint=3)": r"checkpoint = 3: it must be the path of a file",
    "run(exp, backend=np.array(['cpu', 'auto']))": r"backend = array\(\['cpu', 'auto'\].*: there is no such backend",
    "sweep(exp, over, seeds=None)": r"seeds = None: it must be a whole number, or a list of different seeds;",
    "sweep(exp, over, seeds='2')": r"seeds = '2': it must be a whole number",
    "sweep(exp, over, seeds=1.5)": r"seeds = 1\.5: it must be a whole number",
    "sweep(exp, over, seeds=float('nan'))": r"seeds = nan: it must be a whole number",
    "sweep(exp, over, out=3)": r"out = 3: it must be the path of a folder",
    "sweep(exp, None)": r"over = None: it must be a dictionary of dotted paths and lists of values",
    "sweep(exp, 'traffic.load')": r"over = 'traffic\.load': it must be a dictionary",
    "sweep(exp, over, executor='x')": r"executor = 'x': it must be an object that has submit\(\), such as a Process",
    "sweep(exp, over, executor=Submits)": r"executor = <class .*Submits'>: it must be an object that has submit",
    "find_saturation(exp, low='a')": r"find_saturation\(low='a', high=1\.0, tolerance=0\.01\): it needs numbers 0 <=",
    "find_saturation(exp, tolerance=None)": r"tolerance=None\): it needs numbers .* a positive tolerance",
    "find_saturation(exp, tolerance=5)": r"tolerance=5\): .* tolerance that is smaller than high - low",
    "find_saturation(exp, tolerance=1e-12)": r"tolerance=1e-12\): .* at most 10000 steps between them",
    "sweep(exp, {'traffic': {'load': [0.1]}})": r"over traffic = {'load': \[0\.1\]}: it must be a list of values",
    "sweep(exp, {'traffic.load': [{}]})": r"over traffic\.load = \[{}\]: it must be a list of values",
    "sweep(exp, over, seeds=10**30)": r"a sweep of 1\d{30} points is too large: at most 1000000 are possible",
    "sweep(exp, {'run.seed': range(10**10)})": r"a sweep of 10000000000 points is too large",
    "sweep(exp, over, seeds=10**9)": r"a sweep of 1000000000 points is too large: at most 1000000 are possible",
    "sweep(exp, over, resume=True)": r"resume=True continues a sweep from its folder: give the folder as out\.",
    "find_saturation(exp, low=0.5, high=0.6, tolerance=0.2)": r"tolerance that is smaller than high - low",
    "find_saturation(exp, confidence='x')": r"find_saturation\(confidence='x'\): it must be between 0 and 1",
    "load(None)": r"load\(None\): it must be the path of a file, or the name of a configuration",
    "style([])": r"style = \[\]: .* styles are ieee\. It must be a string, not list",
    "Experiment('vc-mesh-8x8')": r"Experiment\('vc-mesh-8x8'\): .* use fl\.load\('vc-mesh-8x8'\)",
    "Experiment({}, base_dir=3)": r"base_dir = 3: it must be the path of a folder",
    "Experiment.from_dict(None)": r"Experiment\.from_dict\(None\): it needs a dictionary of dotted paths and values",
    "Experiment({}).save(3)": r"Experiment\.save\(3\): it must be the path of a TOML file, a string or a Path\.",
    "Experiment({}).save('no/x.toml')": r"no/x\.toml cannot be written: No such file or directory\.",
    "Curve.read(3)": r"Curve\.read\(3\): it must be the path of a sweep's folder, or a CSV or Parquet file",
    "sweep(exp, over).to_csv(3)": r"to_csv\(3\): it must be the path of a file, a string or a Path\.",
    "sweep(exp, over).to_parquet(None)": r"to_parquet\(None\): it must be the path of a file",
    "sweep(exp, over).save_plot(None)": r"save_plot\(None\): it must be the path of a picture: \.png, \.svg or \.pdf",
    "run(exp).channels.plot(3)": r"channels\.plot\(axes=3\): it must be axes, such as matplotlib\.pyplot\.subplots",
    "Program('a')": r"ranks = 'a': it must be a whole number, 1 to",
    "sweep(exp, over).plot(3)": r"plot\(axes=3\): it must be two axes, for latency and for accepted, such as",
    "Program(4).save(3)": r"Program\.save\(3\): it must be the path of a file",
    "reproduce('t3e.sizes', keep=3)": r"keep = 3: it must be the path of a folder",
    "reproduce(3)": r"reproduce 3: no experiment has a name that starts with this\. It must be a string, not int",
    "cluster(3).__enter__()": r"cluster = 3: it must be the path of a TOML file",
    "Network(exp, trace='x')": r"trace = 'x': it must be True or False",
    "Network(exp).save(3)": r"save\(3\): it must be the path of a checkpoint",
    "Network(exp).load(None)": r"load\(None\): it must be the path of a checkpoint",
    "Network(exp).go_on_from(exp)": r"go_on_from\(<Experiment small: .*\): it must be another Network",
}


@pytest.mark.parametrize("slip", SLIPS)
def test_plain_slips_give_one_line(small, slip):
    names = {"exp": small.set(FAST), "over": {"traffic.load": [0.1]}, "np": np, "Submits": Submits}
    with pytest.raises(fl.ConfigError, match=SLIPS[slip]) as reported:
        eval(f"fl.{slip}", {"fl": fl, **names})
    assert "\n" not in str(reported.value)


def test_a_cluster_is_not_its_client(small):
    over = {"traffic.load": [0.1, 0.2]}
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        with pytest.raises(fl.ConfigError, match=r"executor = LocalCluster\(.* give its client, dask\.distributed"):
            fl.sweep(small, over, executor=cluster, progress=False)
        with distributed.Client(cluster) as client:
            cluster.scale(1)
            there = fl.sweep(small, over, executor=client, progress=False)
    assert there.csv_text() == fl.sweep(small, over, progress=False).csv_text()


@pytest.mark.parametrize("backend", ["gpu", "CPU", "", None])
def test_an_unknown_backend_is_refused_everywhere(small, backend):
    for make in (lambda: fl.run(small, backend=backend), lambda: fl.Network(small, backend=backend),
                 lambda: fl.sweep(small, {"traffic.load": [0.1]}, backend=backend),
                 lambda: fl.find_saturation(small, backend=backend)):
        with pytest.raises(fl.ConfigError, match=r"backend = .*it must be auto \(a GPU if one is available\), cpu or"):
            make()


def test_saturation_is_looked_for_between_loads_that_enclose_it(small):
    long = small.set("run.measure_cycles", 10000)
    with pytest.raises(fl.ConfigError, match=r"find_saturation\(high=0\.1\): this load is not saturated; give a high"):
        fl.find_saturation(long, high=0.1)
    with pytest.raises(fl.ConfigError, match=r"find_saturation\(low=0\.95\): this load is already saturated"):
        fl.find_saturation(long, low=0.95)
    with pytest.raises(fl.ConfigError, match="positive tolerance"):
        fl.find_saturation(small, tolerance=float("nan"))
    idle = small.set({"topology.kind": "mesh", "topology.shape": [2, 2], "traffic.pattern": "neighbour"})
    with pytest.raises(fl.ConfigError, match="not saturated at any load up to 1"):
        fl.find_saturation(idle.set(FAST))


def test_a_network_without_a_trace_has_no_events(small):
    with pytest.raises(fl.ConfigError, match=r"keeps no events\. Make it with Network\(\.\.\., trace=True\)"):
        fl.Network(small).events()
    assert fl.Network(small, trace=True).step(100).events()


def test_rounded_windows_give_a_warning(small):
    with pytest.warns(UserWarning, match=r"run\.measure_cycles = 450 is not a multiple of run\.epoch_cycles = 100: 500 "
                                         "cycles are run"):
        result = fl.run(small.set(FAST | {"run.measure_cycles": 450}))
    assert result.measured_cycles == 500
    with pytest.warns(UserWarning, match=r"run\.measure_cycles = 450"):
        fl.sweep(small.set(FAST), {"run.measure_cycles": [400, 450]}, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fl.run(small.set(FAST))


def test_a_bad_network_gives_one_message_and_no_warnings_about_windows(small, cli, config):
    bad = {"topology.kind": "slim_fly", "topology.shape": None, "topology.order": 6, "run.measure_cycles": 450}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (fl.run, fl.find_saturation, lambda e: fl.sweep(e, {"traffic.load": [0.1, 0.2]}, progress=False)):
            with pytest.raises(fl.ConfigError, match=r"topology\.order = 6 does not fit"):
                call(small.set(FAST | bad))


# Terms.


def test_arguments_have_their_python_names(small, cli, config):
    for make, expected_text in ((lambda: fl.sweep(small, {"traffic.load": [0.1]}, seeds=0), r"^seeds = 0:"),
                                (lambda: fl.sweep(small, {}), r"^a sweep needs a parameter to vary: over is empty"),
                                (lambda: fl.run(small, every=0), r"^every = 0:"),
                                (lambda: fl.run(small, threads=-1), r"^threads = -1:")):
        with pytest.raises(fl.ConfigError, match=expected_text):
            make()
    done = cli("sweep", config("vc-torus-8x8"), "--over", "traffic.load=0.1", "--seeds", "0")
    assert done.returncode == 2 and done.stderr.startswith("flitlab: --seeds 0:")


def test_names_that_are_not_there_suggest_others(small):
    with pytest.raises(KeyError, match=r"there is no traffic\.lod\. Did you mean traffic\.load\?"):
        small["traffic.lod"]
    with pytest.raises(KeyError, match="does not apply to this configuration"):
        small["clock.spread"]
    result = fl.run(small.set(FAST))
    assert result["accepted"] == result.accepted
    assert result["latency_cycles.mean"] == result["latency_cycles"]["mean"] == result.latency_cycles.mean
    for name, expected_text in (("latency", "It is latency_cycles"), ("acepted", "Did you mean accepted"),
                                ("throughput", "It is accepted")):
        with pytest.raises(AttributeError, match=expected_text):
            getattr(result, name)
        with pytest.raises(KeyError, match=expected_text):
            result[name]


def test_what_else_is_missing_does_not_hide_that(cli):
    assert "so write --over traffic.load=0.1,0.2" in cli("sweep", "vc-torus-8x8", "--load", "0.1,0.2").stderr
    assert "Did you mean run?" in cli("runn", "vc-torus-8x8").stderr
    assert "help is not a command. Did you mean --help?" in cli("help").stderr


def test_a_command_line_without_a_command_is_an_error(cli):
    done = cli()
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith("arguments are required: COMMAND")
    assert "Traceback" not in done.stderr


def test_experiments_are_listed_by_the_beginnings_of_their_names(cli):
    listed = cli("reproduce", "--list", "t3e").stdout.splitlines()
    assert len(listed) > 5 and all(line.startswith("t3e.") for line in listed)


def test_a_part_of_a_path_lists_its_parameters():
    with pytest.raises(KeyError, match=r"traffic is not a parameter; its \d+ parameters are .*traffic\.load"):
        fl.load("vc-mesh-8x8")["traffic"]


def test_a_number_names_a_line():
    curve = fl.sweep(fl.load("vc-mesh-8x8").set("run.measure_cycles", 500), {"traffic.load": [0.1]}, progress=False)
    assert curve.plot(label=3)[0].get_legend_handles_labels()[1] == ["3"]


@pytest.mark.parametrize(("name", "message_text"), [
    ("t3e.tabel1", "Did you mean t3e.table1? `flitlab reproduce --list` lists all"),
    ("blg", "Did you mean bgl? "), ("cray", "starts with this. `flitlab reproduce --list` lists all"),
])
def test_an_experiment_that_is_misspelt(cli, name, message_text):
    done = cli("reproduce", name)
    assert done.returncode == 2 and f"reproduce {name}: " in done.stderr and message_text in done.stderr
    assert len(done.stderr) < 200


def test_an_exact_name_selects_one_experiment(cli):
    known = cli("reproduce", "--list").stdout.split("\n")
    names = [line.split()[0] for line in known if line]
    longer = [name for name in names if any(name != other and name.startswith(other) for other in names)]
    assert "sconnect.figure18" in longer  # sconnect.figure1 is an experiment too
    for name in names:
        assert list(chosen((name,), False, "out")) == [name]
    assert list(chosen(("sconnect.figure1", "sconnect.figure18"), False, "out")) == ["sconnect.figure1",
                                                                                   "sconnect.figure18"]
    assert len(chosen(("sconnect.figure",), False, "out")) >= 5
    assert cli("reproduce", "--list", "sconnect.figure1").stdout.count("\n") == 1
