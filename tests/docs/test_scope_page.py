"""The demos of docs/scope.md write their pages."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scope.md"
DEMOS = {re.search(r'save\("(\w+)\.html', text)[1]: text
         for text in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)}


def test_there_are_six():
    assert len(DEMOS) == 6


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_writes_its_page(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(DEMOS[name], {})
    assert 50_000 < (tmp_path / f"{name}.html").stat().st_size < 10_000_000
