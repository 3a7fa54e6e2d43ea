"""Type checkers' results: known names, types of returned values, and mistakes in user code. In notebooks all uses of
flitlab are checked; other packages count as unknown."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flitlab

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
PACKAGE = Path(flitlab.__file__).parent

GOOD = """
import flitlab as fl
from flitlab import bgl, metro, sconnect, t3e

exp: fl.Experiment = fl.load("vc-mesh-8x8").set("traffic.load", 0.1)
res: fl.Result = fl.run(exp)
for form in ("vc-mesh-8x8", {"traffic.load": 0.1}):
    fl.run(form, backend="cpu", threads=2)
mean: float | None = res.latency_cycles.mean
created: int = res.packets.created
special = res.model.whatever_the_router_counts
saturated: bool = res.saturated
curve: fl.Curve = fl.sweep(exp, {"traffic.load": [0.1, 0.2]}, seeds=2)
border: float | None = curve.saturation
load: float = fl.find_saturation(exp)
net: fl.Network = fl.Network(exp, trace=True).step(100)
name: str | None = net.router(5).ports[0].name
names: list[str] = fl.configs()
accepted: float = res["accepted"]
steady: bool = res["warmup_steady"]
digest: str = res["state_hash"].upper()
median: float | None = res["latency_cycles.p50"]
seed: int = res["seed"] + res["packets.created"]
slowest: float | None = res["latency_cycles"].max
of_the_router = res["model.special_packets"]
paths: list[str] = list(exp) + list(res)
values: dict = dict(exp)
known: bool = "traffic.load" in exp and "accepted" in res
machine: t3e.Machine = t3e.Machine(net)
links = bgl.Links(net)
scans = (metro.Scan, sconnect.Fabric)


def half_way(source: int, terminals: int) -> int:
    return (source + terminals // 2) % terminals


def clockwise(router: int, destination: int) -> tuple[int, int]:
    return router + 1, int(router > destination)


class Ring:
    nodes = range(3)
    edges = [(0, 1), (1, 2), (2, 0)]

    def is_directed(self) -> bool:
        return False


mine: fl.Experiment = exp.with_pattern(half_way).with_topology(Ring()).with_routes(clockwise)
mine.with_pattern(lambda source, terminals: {0: 0.5, terminals - 1: 1}).save("mine.toml")
mine.with_pattern([[0, 1], [1, 0]])
refined: fl.Curve = fl.sweep(mine, {"traffic.load": fl.adaptive(0, 1), "router.vcs": [2, 4]})
again: fl.Curve = fl.Curve.read("out/sweep")
again.to_csv("curve.csv", configuration=True)
many: int = len(res.channels)
use: list[float] = res.channels.use.tolist()
busiest = res.channels.frame.nlargest(3, "use")
with fl.style("ieee"):
    again.save_plot("curve.pdf")
picture = fl.plot([again, refined], panels="latency", width="double", labels=["a", "b"])
again.plot(picture, panels=["latency", "hops"], width=5.5).savefig("curve.pdf")
res.channels.plot().savefig("channels.png")
means: list[str] = list(again.table("accepted").columns) + list(fl.published("t3e.figure8").columns)
whole: str = again.results[0].state_hash
shared: fl.Jobs = fl.jobs([fl.Program(2), "a.csv"], exp, placement=[[0, 1], [2, 3]], threads=2)
slowed: list[int] = fl.jobs({"a": fl.Program(2)}, "vc-mesh-8x8", "random", seed=1).places["a"]
training: fl.Program = fl.transformer(layers=2, hidden=8, sequence=4, flops_per_cycle=1e3, tensor=2)
"""
SLIPS = {
    "res.acepted": "acepted",
    "res.latency_cycles.men": "men",
    "res.packets.deliverd": "deliverd",
    "fl.Expriment": "Expriment",
    "fl.Network(res)": "Result",
    "net.stepp(3)": "stepp",
    "curve.satration": "satration",
    "fl.run(exp, thread=2)": "thread",
    "fl.sweep(exp, over=[0.1])": "list",
    "load.nothing": "nothing",
    "exp.with_routes(half_way).with_topology([(0, 1)])": "list",
    "exp.with_routes(lambda router: router)": "",
    "fl.sweep(exp, {'traffic.load': fl.adaptive(0, 1, tolerence=0.1)})": "tolerence",
    "res.channels.frames": "frames",
    "fl.style(1)": "str",
    "fl.plot(again, panels=3)": "panels",
    "again.results[0].state_hasch": "state_hasch",
    "fl.run(exp, backend='gpu')": "gpu",
    "fl.sweep(exp, {'traffic.load': [0.1]}, backend='gpu')": "gpu",
    "fl.find_saturation(exp, backend='gpu')": "gpu",
    "fl.Network(exp, backend='gpu')": "gpu",
    "fl.jobs([fl.Program(2)], backend='gpu')": "gpu",
    "fl.transformer(layers=2, hidden=8, sequence=4)": "flops_per_cycle",
    "res['state_hash'] + 1": "",
    "res['accepted'].upper()": "upper",
    "res['saturated'].upper()": "upper",
    "res['latency_cycles'].men": "men",
    "t3e.Machin(net)": "Machin",
    "again.to_parket('x')": "to_parket",
}


def alone(folder: Path) -> Path:
    """Returns a folder with flitlab and without the packages installed beside it."""
    (folder / "alone").mkdir()
    (folder / "alone" / "flitlab").symlink_to(PACKAGE)
    return folder / "alone"


def mypy(folder: Path) -> list[str]:
    (folder / "mypy.ini").write_text(
        "[mypy]\nignore_missing_imports = True\nfollow_imports = skip\nallow_redefinition = True\n"
        # rules about variables, which notebooks may break
        "disable_error_code = var-annotated, import-untyped, misc, has-type, dict-item, index\n"
        f"mypy_path = {alone(folder)}\n[mypy-flitlab.*]\nfollow_imports = silent\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", folder / "cache",
                           "--config-file", folder / "mypy.ini", *folder.glob("*.py")], capture_output=True,
                          text=True)
    assert not done.stderr, done.stderr
    return re.findall(r"^(.*: error: .*)$", done.stdout, re.M)


def pyright(folder: Path) -> list[str]:
    (folder / "pyrightconfig.json").write_text(json.dumps({
        "include": ["."], "exclude": ["alone"], "extraPaths": [str(alone(folder))], "typeCheckingMode": "standard",
        "reportMissingImports": False, "reportMissingModuleSource": False, "reportPossiblyUnboundVariable": False}))
    done = subprocess.run([sys.executable, "-m", "basedpyright", "--level", "error", "--outputjson"], cwd=folder,
                          # PATH is empty, so that the checker finds no other Python.
                          capture_output=True, text=True, env=os.environ | {"PATH": ""})
    return [f"{Path(d['file']).name}:{d['range']['start']['line'] + 1}: {d['message']}"
            for d in json.loads(done.stdout)["generalDiagnostics"]]


@pytest.fixture(params=[mypy, pyright], ids=["mypy", "pyright"])
def errors(request, tmp_path):
    """errors(name=code, ...): returns a checker's messages about these files."""
    def check(**files: str) -> list[str]:
        for name, code in files.items():
            (tmp_path / f"{name}.py").write_text(code)
        return request.param(tmp_path)

    return check


def test_a_users_code_is_right_and_its_slips_are_seen(errors):
    slips = {f"slip{n}": GOOD + line + "\n" for n, line in enumerate(SLIPS)}
    found = errors(good=GOOD, **slips)
    by_file = {name: [e for e in found if f"{name}.py" in e] for name in ("good", *slips)}
    assert by_file["good"] == []
    for (name, lines), word in zip(list(by_file.items())[1:], SLIPS.values(), strict=True):
        assert len(lines) == 1 and word in lines[0], (slips[name].splitlines()[-1], lines)


def test_the_notebooks(errors):
    code = {}
    for path in NOTEBOOKS:
        cells = [c["source"] for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
        lines = [line for cell in cells for line in [*cell, "\n"]]
        code[f"n{path.stem}"] = "".join("\n" if line.startswith(("%", "!")) else line for line in lines)
    assert errors(**code) == []
