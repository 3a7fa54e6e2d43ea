"""docs/networks.md agrees with the networks that flitlab builds, and has a picture of each."""

import importlib.util
import re
from pathlib import Path

import pytest

from flitlab import _core

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "networks.md"
SPEC = importlib.util.spec_from_file_location("networks_page", ROOT / "tests/tools/networks_page.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


def choices(path: str) -> list[str]:
    return next(p["choices"] for m in _core.models() if m["kind"] == "vc" for p in m["parameters"] if p["path"] == path)


def test_page_is_generated():
    pytest.importorskip("networkx")
    again = "generate it: python tests/tools/networks_page.py --pictures > docs/networks.md"
    assert TOOL.page() == PAGE.read_text(), again


def test_every_kind_and_algorithm_is_described():
    assert set(TOOL.KINDS) == set(choices("topology.kind"))
    assert set(TOOL.ALGORITHMS) == set(choices("routing.algorithm"))


def test_every_picture_exists():
    named = re.findall(r"\(images/(.*?)\)", PAGE.read_text())
    assert len(named) == len(TOOL.KINDS) - 1
    assert all((ROOT / "docs/images" / name).stat().st_size > 2000 for name in named)
