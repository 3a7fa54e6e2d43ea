"""Recordings for pictures: entries of virtual-channel tables behind the dateline, and joins in a barrier's tree."""

import numpy as np
import pytest

import flitlab as fl
from flitlab import t3e
from flitlab.t3e.recordings import entries_past_dateline, joined, parents, record_states, torus


@pytest.mark.parametrize("ring", [8, 16, 32])
def test_tables_are_0_where_packets_pass_the_dateline(ring):
    used = entries_past_dateline(ring) == 1
    assert used.any() and not np.array(t3e.machine_table(ring).bits)[used].any()


def test_all_have_joined_but_the_ancestors_of_the_last():
    net = fl.Network(torus((4, 4, 1), barrier__units=1, barrier__operation="by_hand", barrier__root=5,
                           traffic__load=0.0))
    states = record_states(net, 80, [(pe, pe, "OP_BAR") for pe in range(15)])
    assert (states[:15, -1] == "S_ARM").all() and (states[15] == "S_BAR").all()
    above, missing = parents(net), [15]
    while above[missing[-1]] is not None:
        missing.append(above[missing[-1]])
    assert missing[-1] == 5 and joined(net) == set(range(16)) - set(missing)
