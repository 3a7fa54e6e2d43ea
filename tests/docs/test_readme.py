"""The README stays one page, its example runs, and the commands in it and in the guide exist."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / ".github/CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"),
                *(ROOT / "docs/architecture").glob("*.md"),
                *ROOT.glob("*/README.md"), *(ROOT / "kernels").glob("**/README.md")])
COMMANDS = re.findall(r"^    (flitlab .*)", (ROOT / "docs/guide.md").read_text(encoding="utf-8"), re.M)


def test_it_is_a_page():
    assert len(README.splitlines()) <= 120


def test_the_python_example_runs(monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(ROOT)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(compile(code, "README.md", "exec"), {})


def test_the_commands_exist(cli=None):
    from flitlab.cli import _parser

    choices = next(a.choices for a in _parser()._actions if a.choices)
    assert set(re.findall(r"^    flitlab (\w+)", README, re.M)) == set(choices)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_guide_are_understood(line):
    import flitlab as fl
    from flitlab.cli import _experiment, _parser
    from flitlab.reproduction import chosen

    args = _parser().parse_args(shlex.split(line)[1:])
    if args.command == "reproduce":
        assert chosen(tuple(args.names), args.full, args.keep)
    elif args.command not in ("doctor", "plot", "report"):
        if not fl.configs().count(args.config):
            args.config = ROOT / args.config
        assert isinstance(_experiment(args), fl.Experiment)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_linked_files_exist(page):
    for name in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / name).exists(), name
