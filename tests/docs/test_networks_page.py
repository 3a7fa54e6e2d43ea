"""docs/networks.md agrees with the networks that flitlab builds, and has a picture of each."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

import flitlab as fl
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
    assert len(named) == len(TOOL.KINDS) + len(TOOL.SHIPPED)
    assert all((ROOT / "docs/images" / name).stat().st_size > 2000 for name in named)


def of(kind: str, **settings) -> fl.Experiment:
    return TOOL.experiment(kind, **{f"topology.{key}": value for key, value in settings.items()})


def test_sizes_follow_the_formulas_of_the_page():
    """Routers, most ports and diameter (None: no formula) by the text "Size" of each kind."""
    expected = [
        (of("mesh", shape=[4, 5, 3]), 60, 6 + 1, 3 + 4 + 2), (of("torus", shape=[4, 5, 3]), 60, 6 + 1, 2 + 2 + 1),
        (of("ring", shape=[9]), 9, 3, 4), (of("hypercube", dimensions=4), 16, 5, 4),
        (of("cmesh", shape=[8, 8]), 64, 8 + 4, 8), (of("mesh"), 64, 5, 14),
        (of("full_mesh", routers=9), 9, 8 + 4, 1), (of("hyperx", shape=[3, 4, 5]), 60, 2 + 3 + 4 + 4, 3),
        (of("hyperx", copies=2), 16, 2 * 6 + 4, 2), (of("flattened_butterfly"), 16, 2 * 3 + 4, 2),
        (of("fat_tree", children=[4, 8], parents=[2, 3]), 4 * 8 + 2 * 8 + 2 * 3, 8, 4),
        (of("dragonfly"), 4 * 9, 3 + 2 + 2, 3), (of("dragonfly", group_routers=6, groups=13), 78, 5 + 2 + 2, 3),
        (of("megafly"), 2 * 4 * 9, 4 + 2, None),
        *((of("slim_fly", order=q), 2 * q * q, (3 * q - d) // 2 + 4, 2) for q, d in ((3, -1), (5, 1), (7, -1), (8, 0))),
        *((of("polarfly", order=q), q * q + q + 1, q + 1 + 4, 2) for q in (2, 3, 4, 7)),
        *((of("polarstar", order=q, supernode=s), (q * q + q + 1) * s, q + 1 + (s - 1) // 2 + 2, 3)
          for q, s in ((3, 5), (4, 5), (3, 9))),
        (of("jellyfish", routers=20, degree=5), 20, 5 + 2, None)]
    for e, routers, ports, diameter in expected:
        derived = e.derived()
        assert (derived["routers"], TOOL.most_ports(e)) == (routers, ports), e
        assert diameter in (None, derived["diameter"]), e


def test_lengths_of_links_are_those_counted_by_hand():
    # Each row and column of four routers has 3 links of length 1, 2 of length 2 and one of length 3, in two directions.
    assert sorted(TOOL.link_lengths(of("hyperx"))) == [1] * 48 + [2] * 32 + [3] * 16
    # The folded ring has the order 0, 5, 1, 4, 2, 3. The links 0 - 5 and 2 - 3 have length 1, the others 2.
    assert sorted(TOOL.link_lengths(of("ring", shape=[6]))) == [1] * 4 + [2] * 8
    # 16 routers in a square: dimensions 0 and 1 join neighbours, dimensions 2 and 3 routers at a distance of 2.
    assert sorted(TOOL.link_lengths(of("hypercube", dimensions=4))) == [1] * 32 + [2] * 32
    # A row of two chips of 4 routers: its wrap-around channel spans 7.
    assert math.isclose(sum(TOOL.link_lengths(of("chiplet_torus"))) / 256, (7 + 7) / 8)
    assert TOOL.link_lengths(of("dragonfly")) == []
