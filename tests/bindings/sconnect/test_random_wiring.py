"""Random exchange of a mesh's cables."""

from collections import Counter

import pytest

from flitlab.network import Network
from flitlab.sconnect.published.fabrics import fabric
from flitlab.sconnect.random_wiring import rewired


def channels(wiring):
    return [(tic, far) for tic, _, far, _ in Network(fabric(wiring)).links()]


@pytest.mark.parametrize("side", [3, 6])
def test_each_tic_keeps_the_number_of_its_channels(side):
    mesh, random = channels({"topology.shape": [side, side]}), channels(rewired(side))
    assert Counter(tic for tic, _ in random) == Counter(tic for tic, _ in mesh)
    assert len(set(random)) == len(random) and all(tic != far for tic, far in random)
    assert set(random) != set(mesh)


def test_seeds_give_different_wirings():
    assert set(channels(rewired(4, first_seed=1))) != set(channels(rewired(4, first_seed=100)))
