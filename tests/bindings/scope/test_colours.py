"""Colours of packets, of causes and of curves: contrast with the paper of both themes, and differences between them."""

import re
from itertools import combinations

import numpy as np
import pytest
import wasm_page
from scope_pages import show_parts

import flitlab as fl

SCOPE = wasm_page.ROOT / "bindings" / "flitlab" / "scope"
HEX = r"#[0-9A-Fa-f]{6}\b"
LEAST = 12  # distance of two colours in CIELAB
# Views of colour-blind readers on linear RGB: Machado, Oliveira and Fernandes, 2009, severity 1.
VIEWS = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])


def script(name, folder=SCOPE / "js"):
    return (folder / f"{name}.js").read_text(encoding="utf-8")


def listed(text, name):
    """Returns the colours in the declaration of a name."""
    return re.findall(HEX, re.search(rf"^const {name} = .*?;$", text, re.M | re.S)[0])


PACKETS, CAUSES = listed(script("network"), "PALETTE"), listed(script("blocked"), "CAUSES")
CURVES = listed(script("chart", wasm_page.ROOT / "bindings/page/js"), "CURVE_COLOURS")
PAPERS = set(re.findall(rf"--scope-paper: ({HEX})", (SCOPE / "scope.css").read_text(encoding="utf-8")))


def linear(colour):
    parts = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    light, dark = sorted((XYZ[1] @ linear(a), XYZ[1] @ linear(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour, view):
    x, y, z = XYZ @ np.clip(np.array(VIEWS[view]) @ linear(colour), 0, 1) / [0.95047, 1, 1.08883]
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def test_the_colours_are_read():
    assert (len(PACKETS), len(CAUSES), len(CURVES), len(PAPERS)) == (7, 6, 7, 2)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("colour", [*PACKETS, *CAUSES, *CURVES])
def test_a_colour_stands_out_from_the_paper_of_both_themes(colour):
    assert all(contrast(colour, paper) >= 3 for paper in PAPERS)


@pytest.mark.parametrize("view", VIEWS)
def test_packets_and_causes_differ(view):
    """All colours differ from one another, also for colour-blind readers."""
    near = {(a, b): float(np.linalg.norm(lab(a, view) - lab(b, view))) for a, b in combinations([*PACKETS, *CAUSES], 2)}
    assert {pair: far for pair, far in near.items() if far < (LEAST if view != "all" else 30)} == {}


def test_packets_are_not_orange():
    """Orange marks routers on a circular wait and connections that are being closed; the textbook names it."""
    alarms = set(re.findall(rf"--scope-alarm: ({HEX})", (SCOPE / "scope.css").read_text(encoding="utf-8")))
    assert len(alarms) == 2
    assert min(np.linalg.norm(lab(a, "all") - lab(b, "all")) for a in PACKETS for b in alarms) > 30


def test_packets_of_one_source_have_different_colours(page):
    """Successive packets of a source often follow one another on a channel."""
    show_parts(page, fl.Network("vc-mesh-8x8").view().step(2))
    colours = page.evaluate("() => [0, 1, 2, 3, 4, 5, 6].map((id) => scope_parts.packet_colour(9, id))")
    assert len(set(colours)) == 7
    assert page.evaluate("() => scope_parts.packet_colour(9, 1) === scope_parts.packet_colour(9, 2 ** 31 + 1)")
