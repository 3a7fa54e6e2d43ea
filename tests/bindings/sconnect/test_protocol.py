"""S-Connect's channel protocol: explored from Python, and its published experiment."""

import math
from itertools import combinations

import pytest

import flitlab as fl
from flitlab.sconnect import explore_protocol
from flitlab.sconnect.published import protocol as published


def test_the_protocol_holds():
    found = explore_protocol(singles=(1, 1), quads=(1, 0))
    assert found.holds
    assert found.states < found.transitions
    # `holds` is false, because the exploration did not finish.
    assert not explore_protocol(singles=(2, 2), most_states=100).holds


@pytest.mark.parametrize("defect", published.DEFECTS)
def test_a_broken_protocol_shows_the_shortest_sequence(defect):
    settings = published.DEFECTS[defect]
    assert explore_protocol(**settings).holds
    found = explore_protocol(**settings, defect=defect)
    assert not found.holds
    what, *cycles = found.violation.splitlines()
    assert what.endswith(":")
    assert len(cycles) == (0 if defect == "never_asks" else found.depth + 1)  # never_asks fails in the first state


def test_what_cannot_be_explored_is_refused():
    with pytest.raises(fl.ConfigError, match="delay = 3"):
        explore_protocol(3)
    with pytest.raises(fl.ConfigError, match="9 messages"):
        explore_protocol(singles=(5, 4))
    with pytest.raises(fl.ConfigError, match=r"did you mean takes_void\? Defects are ignores_sequence"):
        explore_protocol(defect="takes_voids")


def test_saturated_channels_and_ports_carry_a_message_in_each_cycle():
    both = published.saturated(500)
    assert (both.sent, both.delivered, both.hits) == (1, 1, 0)
    assert {line["verdict"] for line in published.bandwidths()} == {"holds", "context"}


def test_the_experiment_counts_what_slots_hold():
    lines = {line["quantity"]: line for line in published.formats()}
    assert [lines[name]["verdict"] for name in ("protocol", "exposed to errors", "queues")] == ["holds"] * 3
    assert lines["remaining for a CRC"]["measured"] == 10


def test_every_message_is_followed():
    counts = published.delivered_once(1e-3, seeds=1, packets=20)
    assert (counts.sent, counts.lost, counts.duplicated) == (16 * 20, 0, 0)
    assert counts.repeated > counts.known > 0


def test_undetected_patterns_are_all_of_them():
    """Compares the count with brute force for a short word: all four-bit errors whose syndromes add up to zero."""
    polynomial, bits = 0b11000110011, 20
    syndromes = [1 << i for i in range(10)]
    while len(syndromes) < bits:
        value = syndromes[-1] << 1
        syndromes.append(value ^ polynomial if value >> 10 else value)
    assert published.undetected_patterns(bits) == sum(a ^ b ^ c ^ d == 0 for a, b, c, d in combinations(syndromes, 4))
    with pytest.raises(fl.ConfigError, match="misses errors"):
        published.undetected_patterns(96, 0b10000001001)  # x^10 + x^3 + 1 has no factor x + 1
    assert math.comb(96, 4) > 500 * published.undetected_patterns()


def test_what_is_computed_alone_is_no_published_row():
    assert {line["kind"] for line in published.errors_that_pass()} == {"check", "context"}
