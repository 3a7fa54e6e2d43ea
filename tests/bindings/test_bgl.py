"""Blue Gene/L's torus: configurations and published experiments, at sizes that take seconds."""

from pathlib import Path

import pytest

import flitlab as fl
from flitlab.published import bgl, bgl_software

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("bgl-*.toml")), ids=lambda p: p.stem)
def test_configurations_can_be_planned(path):
    derived = fl.load(path).derived()
    assert derived["link_cycles_per_packet"] == 270
    assert derived["state_bytes"] < 4e9  # what the largest machine may take


def test_a_link_is_taken_for_32_n_plus_14_cycles():
    assert [line["measured"] for line in bgl.packet()][:8] == [32 * n + 14 for n in range(1, 9)]


def test_all_to_all_of_a_small_machine():
    rows = {line["quantity"]: line for line in bgl.alltoall_512((4, 4, 4), few=2, long=4)}
    assert all(40 < line["measured"] <= 100 for line in rows.values())
    assert len(rows) == 5


def test_fills_of_a_small_machine():
    line, = bgl_software.linefill((4, 2, 2), packets=300)
    assert line["measured"] == pytest.approx(100 * 300 * 270 / (3 + 299 * 270 + 21 * 3 + 256 + 2))
    plane = bgl_software.planefill((4, 4, 2), packets=200)
    assert [p["verdict"] for p in plane] == ["better", "better", "skipped"]
    assert plane[2]["measured"] < plane[0]["measured"] < 100


def test_ping_pong_is_what_the_delays_add_up_to():
    rows = bgl_software.pingpong(sizes=(16, 240))
    assert [line["measured"] for line in rows] == [
        4 * (3 + 21 * hops + 32 * chunks + 1) for chunks in (1, 8) for hops in (1, 2, 3)]
