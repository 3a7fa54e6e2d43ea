"""Samples of a METRO network's totals."""

import math

from flitlab.metro.samples import Samples, means
from flitlab.metro.single_messages import message_network


def test_samples_add_up_to_the_totals():
    net = message_network([(10, 3, 17, 20)])
    frame = Samples(net).follow(2, window=20).follow(1, window=60).frame
    assert list(zip(frame.clock, frame.clocks, strict=True)) == [(0, 20), (20, 20), (40, 60)]
    assert frame.packets_delivered.sum() == net.totals["packets_delivered"] == 1


def test_rates_of_a_single_message():
    sample = Samples(message_network([(10, 3, 17, 20)])).follow(1, window=100).frame.iloc[0]
    assert sample.latency == 28 and sample["attempts per message"] == 1
    assert sample.throughput == 20 / 100 / 64


def test_a_sample_without_messages_has_no_latency():
    frame = Samples(message_network([(90, 3, 17, 20)])).follow(2, window=20).frame
    assert frame.latency.isna().all() and (frame.throughput == 0).all()
    assert math.isnan(means(frame, {"all": (0, 40)}).latency["all"])
