"""Reports of sweeps: their contents, their repeated runs, unfinished sweeps, and a scope opened in a browser."""

import base64
import gzip
import json
import re
import shlex

import pytest

import flitlab as fl
from flitlab.refinement import adaptive
from flitlab.reports import runs, write
from flitlab.sweep_file import Plan, plan_of_rows, read_plan
from flitlab.sweep_folder import read_sweep

SHORT = {"run.warmup_cycles": 500, "run.measure_cycles": 2000}
OVER = {"router.vcs": [2, 4], "traffic.load": [0.1, 0.2, 0.95]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Returns the folder of a sweep with two lines, of which the last points are saturated."""
    path = tmp_path_factory.mktemp("report") / "mesh"
    fl.sweep(fl.load("vc-mesh-8x8").set(SHORT), OVER, seeds=2, out=path, progress=False)
    return path


@pytest.fixture(scope="module")
def text(folder):
    return fl.report(folder, progress=False).read_text(encoding="utf-8")


def table_after(text, heading):
    """Returns the cells of the first table after a heading, [line][column], without tags."""
    table = text[text.index(f"<h2>{heading}</h2>"):].split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    return [[re.sub(r"<[^>]*>", " ", cell).strip() for cell in re.findall(r"<td.*?>(.*?)</td>", line)]
            for line in table.strip().splitlines()]


def test_a_row_per_point_has_the_curves_values(folder, text):
    curve = fl.Curve.read(folder)
    expected = curve.table("offered", "accepted", "latency_mean", "latency_p99")
    lines = table_after(text, "Points")
    assert len(lines) == len(expected) == 6
    for line, (_, row) in zip(lines, expected.iterrows(), strict=True):
        assert line[:3] == ["scope", str(int(row["router.vcs"])), str(row["traffic.load"])]
        assert line[4] == f"{row['accepted']:.4f} ± {row['accepted_ci95']:.4f}"
        if row["saturated"]:
            assert line[5:8] == ["-", "-", "2 of 2"]
        else:
            assert line[5] == f"{row['latency_mean']:.2f} ± {row['latency_mean_ci95']:.2f}" and line[7] == "no"
        assert line[8] == "2"
    hashes = [row["state_hash"] for row in curve.rows]
    assert [h for line in lines for h in line[9].split()] == hashes


def test_the_spread_is_that_of_the_seeds(folder, text):
    rows = fl.Curve.read(folder).rows
    line = table_after(text, "Spread over seeds")[0]
    latencies = sorted(row["latency_mean"] for row in rows[:2])
    assert line[:5] == ["2", "0.1", "2", f"{latencies[0]:.2f}", f"{latencies[1]:.2f}"]
    assert line[5] == f"{(latencies[1] - latencies[0]) / 2**0.5:.2f}"


def test_heat_maps_are_those_of_repeated_runs(folder, text):
    """Each line has two unsaturated points: the lower one is also the middle one."""
    maps = text[text.index("<h2>Channel use</h2>"):]
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", maps)
    hashes = {(row["router.vcs"], row["traffic.load"]): row["state_hash"]
              for row in fl.Curve.read(folder).rows if row["run.seed"] == 1}
    assert captions == [f"router.vcs = {vcs}, traffic.load = {load}, seed 1. State hash "
                        f"<code>{hashes[vcs, load]}</code>, equal to the kept one."
                        for vcs in (2, 4) for load in (0.1, 0.2)]
    assert maps.count("channel use (flits/cycle)") == 4
    assert "4 of 4 state hashes are equal to the kept ones" in maps


def test_low_middle_and_highest_points_are_chosen():
    rows = [{"traffic.load": load / 10, "verdict": "steady" if load < 8 else "saturated"} for load in range(1, 10)]
    curve = fl.Curve(["traffic.load"], rows)
    chosen = runs.chosen_for_heat_maps(curve, runs.points_of(curve))
    assert [point.values["traffic.load"] for point in chosen] == [0.1, 0.4, 0.7]


def test_a_repeated_run_that_differs_is_reported(folder, tmp_path, monkeypatch):
    def other(curve, experiment, point):
        return runs.repeated(curve, experiment.set("traffic.pattern", "transpose"), point)

    monkeypatch.setattr(write, "repeated", other)
    with pytest.warns(UserWarning, match=r"4 of 4 repeated runs have another state hash than the kept ones"):
        page = fl.report(folder, tmp_path / "r.html", progress=False).read_text(encoding="utf-8")
    assert "0 of 4 state hashes are equal" in page and page.count("The repeated run differs: state hash") == 4


def test_the_configuration_and_its_command(folder, text, cli, tmp_path):
    lines = table_after(text, "Configuration")
    assert [line[:3] for line in lines] == [
        ["router.vcs", "2, 4", "varied"], ["traffic.load", "0.1, 0.2, 0.95", "varied"],
        ["topology.kind", "mesh", "torus"], ["run.warmup_cycles", "500", "auto"],
        ["run.measure_cycles", "2000", "auto"]]
    assert f"flitlab {fl.__version__} made this report; flitlab {fl.__version__} ran the sweep. Seeds: 1, 2." in text
    command = shlex.split(re.search(r"<pre>(flitlab sweep .*?)</pre>", text)[1])
    done = cli(*[str(folder / word) if word == "experiment.toml" else word for word in command[1:-1]], "again")
    assert done.returncode == 0, done.stderr
    assert fl.Curve.read(tmp_path / "again").csv_text() == fl.Curve.read(folder).csv_text()


def first_line(packed):
    """Returns the first line of a packed recording: its meta, and what the tables of frames lack."""
    return json.loads(gzip.decompress(base64.b64decode(packed)).split(b"\n", 1)[0])


def test_recordings_are_the_first_cycles_of_the_window(folder, text):
    found = re.findall(r'id="recording-(\d+)">(.*?)</script>', text)
    assert [number for number, _ in found] == list("012345")
    recording = first_line(found[3][1])
    frames = [frame["c"] for frame in recording["frames"]]
    assert frames[-1] == 560 and len(frames) >= runs.LEAST_CYCLES
    assert recording["meta"]["seed"] == 1
    assert recording["meta"]["settings"]["traffic.load"]["value"] == 0.1


def test_recordings_fit_their_room(monkeypatch):
    """First a recording becomes shorter, then it has fewer routers; of a larger sweep, some points have none."""
    curve = fl.sweep(fl.load("vc-mesh-8x8").set(SHORT), {"traffic.load": [0.1, 0.3]}, progress=False)
    sizes, drawn = [], []
    monkeypatch.setattr(runs, "LEAST_BYTES", 20_000)
    for room in (10_000_000, 700_000, 60_000):
        found = dict(runs.recordings(curve, curve.experiment, runs.points_of(curve), room))
        assert sorted(found) == [0, 1] and sum(len(r.text) for r in found.values()) <= room
        meta = first_line(found[1].text)["meta"]
        drawn.append(len(meta["routers"]))
        sizes.append(found[1].cycles[1] - found[1].cycles[0])
    assert sizes[0] == 60 > sizes[1] >= runs.LEAST_CYCLES - 1 and drawn[:2] == [64, 64] and drawn[2] < 64
    many = [runs.Point({"traffic.load": i}, [i]) for i in range(200)]
    some = runs.with_scopes(many, 60_000)
    assert len(some) == 3 and some[0] == 0 and some[-1] == 199


def test_a_report_is_one_file_without_paths_or_links(folder, text):
    assert not re.findall(r"<[^>]*\s(?:src|href)=\"(?!#|data:)|@import|^import\b|\bimport\(|fetch\(", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg",
                                                            "http://www.w3.org/1999/xlink"}
    assert str(folder) not in text
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r'<script type="module">.*?</script>', "", text, flags=re.S))
    assert len(ids) == len(set(ids))
    assert len(text) < 10_000_000


def test_a_scope_opens_in_the_report_and_moves(folder, text, page):
    assert text
    page.emulate_media(reduced_motion="no-preference")
    page.goto((folder / "report.html").as_uri())
    assert page.locator(".flitlab-scope").count() == 0
    buttons = page.locator("button[data-recording]")
    assert buttons.count() == 6
    buttons.nth(1).click()
    page.wait_for_selector(".flitlab-scope[data-cycle]")
    assert page.locator("#scope-place h3").inner_text().startswith("router.vcs = 2, traffic.load = 0.2: seed 1, cycles")
    first = int(page.locator(".flitlab-scope").get_attribute("data-cycle"))
    page.wait_for_function("(first) => Number(document.querySelector('.flitlab-scope').dataset.cycle) >= first + 3",
                           arg=first)
    buttons.nth(3).click()  # one scope at a time
    page.wait_for_function("document.querySelector('#scope-place h3').textContent.startsWith('router.vcs = 4')")
    assert page.locator(".flitlab-scope").count() == 1
    assert [b.get_attribute("aria-expanded") for b in buttons.all()].count("true") == 1
    page.locator("#scope-place h3 button").click()
    assert page.locator(".flitlab-scope").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_and_text_stand_out_in_light_and_dark(folder, text, browser, scheme):
    assert text
    page = browser.new_page(color_scheme=scheme)
    page.goto((folder / "report.html").as_uri())
    colours = page.evaluate("""() => [...document.querySelectorAll("figure svg text")].map((e) =>
        getComputedStyle(e).fill).concat(getComputedStyle(document.body).color,
        getComputedStyle(document.body).backgroundColor)""")
    *texts, ink, paper = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert abs(ink - paper) > 500 and (ink > paper) == (scheme == "dark")
    assert texts[0] == ink  # the curve; heat maps have a light background in both
    page.close()


def test_an_unfinished_sweep_is_reported_with_what_is_missing(folder, tmp_path, cli):
    half = tmp_path / "half"
    half.mkdir()
    lines = (folder / "points.jsonl").read_text().splitlines(keepends=True)
    (half / "points.jsonl").write_text("".join(lines[:5]))
    (half / "experiment.toml").write_text((folder / "experiment.toml").read_text())
    about = json.loads((folder / "sweep.json").read_text())
    (half / "sweep.json").write_text(json.dumps(about | {"finished": False}))
    kept = [json.loads(line)["result"] for line in lines[:5]]
    points = {(r["config"]["router.vcs"], r["config"]["traffic.load"]) for r in kept}
    counts = [[(r["config"]["router.vcs"], r["config"]["traffic.load"]) for r in kept].count(p) for p in points]
    whole = counts.count(2)
    said = (f"The sweep is unfinished: 7 of 12 runs are missing, at {6 - whole} points; continue it with --resume (in "
            "Python resume=True).")
    done = cli("report", "half", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout.splitlines()
    page = (tmp_path / "r.html").read_text()
    assert f'<p class="missing">{said}</p>' in page and len(table_after(page, "Points")) == len(points)
    with pytest.warns(UserWarning, match="7 of 12 runs are missing"):
        fl.report(half, tmp_path / "s.html", progress=False)
    (half / "points.jsonl").write_text("")
    done = cli("report", "half")
    assert done.returncode == 2
    assert done.stderr == ("flitlab: half: the sweep is unfinished, and none of its 12 runs has finished; continue it "
                           "with --resume (in Python resume=True).\n")


def test_a_sweep_is_finished_when_its_folder_says_so(small, tmp_path, monkeypatch):
    over = {"traffic.load": [0.1, 0.2]}
    fl.sweep(small, over, out=tmp_path, progress=False)
    assert read_plan(tmp_path) == Plan(over, [1], None, 20, True, fl.__version__)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("flitlab.sweeps._run_missing", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fl.sweep(small, {"traffic.load": [0.1, 0.2, 0.3]}, out=tmp_path, resume=True, progress=False)
    with pytest.warns(UserWarning, match=r"1 of 3 runs are missing, at 1 point;"):
        fl.report(tmp_path, progress=False)


@pytest.mark.filterwarnings("ignore:after 4 seeds")
@pytest.mark.parametrize("over", [{"traffic.load": [0.1, 0.3]}, {"traffic.load": adaptive(0.1, 0.5, 0.1)}])
def test_runs_that_an_unfinished_sweep_has_added_are_shown(small, tmp_path, over):
    curve = fl.sweep(small, over, seeds=2, until=1e-4, most_seeds=4, out=tmp_path, progress=False)
    about = json.loads((tmp_path / "sweep.json").read_text())
    (tmp_path / "sweep.json").write_text(json.dumps(about | {"finished": False}))
    kept = read_sweep(tmp_path)
    assert kept.curve.csv_text() == curve.csv_text()
    starts = len(read_plan(tmp_path).settings())
    assert kept.missing.startswith(f"The sweep is unfinished: the {starts} runs with which it starts have finished,")
    journal = tmp_path / "points.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[-1])
    assert f"at least {starts} of {starts} runs are missing" in read_sweep(tmp_path).missing


def test_folders_that_are_no_sweeps(tmp_path, cli):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    no_folder = "is not a folder: give the folder that `flitlab sweep --out` has written."
    for name, message in (("empty", "has no curve.csv, so it is not the folder of a sweep."), ("nowhere", no_folder),
                          ("file", no_folder)):
        done = cli("report", name)
        assert (done.returncode, done.stderr) == (2, f"flitlab: {name} {message}\n")


def test_other_arguments_are_checked(folder, small, tmp_path):
    curve = fl.sweep(small, {"traffic.load": [0.1]}, progress=False)
    with pytest.raises(fl.ConfigError, match=r"report\(path=None\): the sweep has no folder \(out\), so the"):
        fl.report(curve)
    with pytest.raises(fl.ConfigError, match=r"r\.html cannot be written: there is no folder .*nowhere\."):
        fl.report(curve, tmp_path / "nowhere" / "r.html")
    curve.to_csv(tmp_path / "c.csv")
    with pytest.raises(fl.ConfigError, match="this curve is a table without results"):
        fl.report(fl.Curve.read(tmp_path / "c.csv"), tmp_path / "r.html")
    with pytest.raises(fl.ConfigError, match=r"report\(7\): it must be the path of a sweep's folder"):
        fl.report(7, tmp_path / "r.html")
    assert fl.report(fl.Curve.read(folder), tmp_path / "r.html", progress=False) == tmp_path / "r.html"


@pytest.mark.parametrize(("given", "over"), [
    ({"traffic.mode": "batch", "traffic.load": None}, {"traffic.batch_packets": [2, 4]}),
    ({}, {"run.seed": [3, 9]}),
    ({}, {"traffic.packet_flits": [1, [[1, 0.5], [4, 0.5]]], "topology.shape": [[2, 2], [3, 3]]}),
    ({}, {"topology.kind": ["mesh", "hypercube"]}),
])
def test_sweeps_of_many_kinds_have_reports(small, tmp_path, given, over):
    base = small if "topology.kind" not in over else fl.Experiment.from_dict(SHORT)
    curve = fl.sweep(base.set(given) if given else base, over, progress=False)
    page = fl.report(curve, tmp_path / "r.html", progress=False).read_text(encoding="utf-8")
    assert "equal to the kept one." in page and 'id="recording-0"' in page and "differs" not in page.split("<body>")[1]


def test_a_network_without_channels_has_no_heat_map(tmp_path):
    curve = fl.sweep(fl.load("sconnect-figure1").set("traffic.load", 0.2), {"traffic.load": [0.2]}, progress=False)
    page = fl.report(curve, tmp_path / "r.html", progress=False).read_text(encoding="utf-8")
    assert "channels.plot(): 0 channels; 1 to 20000 can be drawn." in page


def test_the_command_of_a_plan():
    over = {"traffic.load": adaptive(0, 1, 0.02), "topology.shape": [[4, 4], [8, 8]]}
    assert Plan(over, [1, 2]).command("a.toml", "again") == (
        "flitlab sweep a.toml --over traffic.load=adaptive:0:1:0.02 --over 'topology.shape=[4, 4],[8, 8]' "
        "--set run.seed=1 --seeds 2 --out again")
    assert Plan({"router.vcs": [2]}, [5, 6], 0.02, 20).command("a.toml", "b c") == (
        "flitlab sweep a.toml --over router.vcs=2 --set run.seed=5 --seeds 2 --until 0.02 --most-seeds 20 --out 'b c'")
    call = Plan(over, [3, 7], 0.02, 20).command("a.toml", "again")
    assert call == ("fl.sweep('a.toml', {'traffic.load': fl.adaptive(0, 1, 0.02), 'topology.shape': [[4, 4], [8, 8]]}, "
                    "seeds=[3, 7], until=0.02, most_seeds=20, out='again')")
    configs = [{"a": [1], "run.seed": 1}, {"a": [1], "run.seed": 4}, {"a": [2], "run.seed": 1}]
    assert plan_of_rows(["a"], configs) == Plan({"a": [[1], [2]]}, [1, 4])
    assert plan_of_rows(["run.seed"], configs) == Plan({"run.seed": [1, 4]}, [])
