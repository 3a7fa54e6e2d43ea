"""The README's example runs, and the commands it shows exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_linked_files_exist():
    for name in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / name).exists(), name
