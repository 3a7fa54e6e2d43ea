"""Positions of routers in drawings show the structure of a network."""

import math

import numpy as np
import pytest

import flitlab as fl
from flitlab import _core
from flitlab.scope.places import planes_of, positions_of


def drawn(kind: str, **settings) -> tuple[list[str], np.ndarray, list, str]:
    """Returns names, positions [routers][2], channels and the phrase for the layout."""
    e = fl.Experiment.from_dict({"topology.kind": kind} | {f"topology.{k}": v for k, v in settings.items()})
    network = _core.Network(e.core, "cpu", 1, False)
    names, links = [network.router_name(r) for r in range(int(e.derived()["routers"]))], network.links()
    places, layout = positions_of(names, kind, links, e.flat().get("topology.shape", ()))
    return names, np.array(places), links, layout


def distances(places: np.ndarray) -> np.ndarray:
    """Returns the distance between each two routers; infinite for a router and itself."""
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    return far + np.diag(np.full(len(places), math.inf))


@pytest.mark.parametrize(("kind", "order"), [
    ("slim_fly", 3), ("slim_fly", 5), ("slim_fly", 8), ("polarfly", 2), ("polarfly", 4), ("polarfly", 7),
    ("polarstar", 2), ("polarstar", 3)])
def test_routers_do_not_touch(kind, order):
    assert distances(drawn(kind, order=order)[1]).min() > 0.5


@pytest.mark.parametrize("q", [3, 4, 5, 7])
def test_the_halves_of_a_slim_fly_have_room_between_them(q):
    names, places, links, layout = drawn("slim_fly", order=q)
    upper = places[:, 1] > 0
    assert upper[:q * q].all() and not upper[q * q:].any() and layout == f"two halves of {q} subgroups"
    assert places[upper, 1].min() - places[~upper, 1].max() > 3
    subgroup = np.arange(2 * q * q) // q
    inside = [math.dist(places[a], places[b]) for a, _, b, _ in links if subgroup[a] == subgroup[b]]
    assert max(inside) < q and planes_of(names, "slim_fly") == [0] * 2 * q * q


@pytest.mark.parametrize("q", [3, 4, 5, 8])
def test_a_polarfly_has_a_ring_of_centres_and_a_ring_of_their_clusters(q):
    _, places, links, layout = drawn("polarfly", order=q)
    radius = np.round(np.linalg.norm(places, axis=1), 6)
    rings = sorted(set(radius))
    assert [int((radius == r).sum()) for r in rings] == [1, q, q * q] and layout.startswith("rings by hops from router")
    # The q routers behind a centre are next to one another on the outer ring.
    angle = np.arctan2(places[:, 0], places[:, 1]) % (2 * math.pi)
    cluster = np.floor(angle * q / (2 * math.pi))
    for a, _, b, _ in links:
        if (radius[a], radius[b]) == (rings[1], rings[2]):
            assert cluster[a] == cluster[b]


def test_supernodes_of_a_polarstar_are_groups():
    _, places, _, layout = drawn("polarstar")
    supernode = np.arange(len(places)) // 5
    other = supernode[:, None] != supernode[None]
    far = distances(places)
    assert layout.endswith("groups on a circle")
    assert far[~other & np.isfinite(far)].max() < far[other].min()


def test_routers_that_drawn_links_do_not_reach_have_a_place():
    """The scope draws a part of a large network, which may have several pieces."""
    places, _ = positions_of(["0", "1", "2", "3"], "jellyfish", [(0, 0, 1, 0), (2, 0, 3, 0)])
    assert distances(np.array(places)).min() > 0.5


@pytest.mark.parametrize("name", ["vc-dgx-h100", "vc-rail-cluster"])
def test_routers_at_given_places_do_not_touch(name):
    """Their links are many times as long as the distance between two GPUs."""
    places = fl.run(fl.load(name).set("traffic.load", 0)).channels._positions()
    assert 0.5 < distances(places).min() < 1
