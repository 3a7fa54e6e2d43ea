"""AstraNetworkAPI: ring collectives take the derived times, messages arrive when the C library delivers their packets,
receives may be posted before or after them, and wrong calls give messages."""

import math

import numpy as np
import pytest

from .conftest import MESH

RING = '[topology]\nkind = "torus"\nshape = [4]\n[traffic]\nload = 0.1\nflit_bytes = 64\n'


@pytest.fixture
def astra(run, tmp_path):
    """Returns a function that runs messages (send time, receive time, tag, source, destination, bytes) and returns the
    times of their handlers, and the lines after them."""

    def call(messages, text=MESH, ns_per_cycle=1.0, packet_bytes=0, error="fine"):
        (tmp_path / "net.toml").write_text(text)
        given = "\n".join(" ".join(map(str, message)) for message in messages)
        said, *lines = run("astra", "messages", "net.toml", ns_per_cycle, packet_bytes, given=given)
        assert said == f"run: {error}"
        times = [tuple(map(float, line.split())) for line in lines[:len(messages)]]
        return times, lines[len(messages):]

    return call


@pytest.mark.parametrize(("collective", "steps"), [("all_gather", 3), ("all_reduce", 6)])
@pytest.mark.parametrize(("size", "flits"), [(256, 4), (257, 5), (1000000, 15625)])
def test_a_ring_takes_the_derived_time(run, tmp_path, collective, steps, size, flits):
    # In each step, every rank sends L flits over H = 1 channel, which no other rank uses: 5 H + L + 5 cycles of 1 ns.
    # The handler runs at the beginning of the next cycle. A megabyte takes 4 packets (of at most 4095 flits), which
    # follow each other without a gap. The host checks which data each rank has at the end.
    (tmp_path / "ring.toml").write_text(RING)
    lines = run("astra", collective, "ring.toml", 4, size)
    assert lines == [f"{step} {rank} {(step + 1) * (flits + 11)}" for step in range(steps) for rank in range(4)]


def test_messages_arrive_as_without_the_adapter(astra, direct):
    random = np.random.default_rng(3)
    ns, packet_bytes, n = 0.5, 320, 300
    send = np.sort(random.integers(0, 2000, n)) * 0.25
    receive = np.maximum(send + random.integers(-400, 400, n) * 0.25, 0)
    messages = list(zip(send.tolist(), receive.tolist(), range(n), random.integers(0, 16, n).tolist(),
                        random.integers(0, 16, n).tolist(), random.integers(0, 1500, n).tolist(), strict=True))
    packets, owner = [], []
    for i, (time, _, _, source, destination, size) in enumerate(messages):
        for begin in range(0, max(size, 1), packet_bytes):
            part = min(packet_bytes, size - begin)
            packets.append((math.ceil(time / ns), source, destination, max(-(-part // 64), 1)))
            owner.append(i)
    arrived = [0] * n
    for i, cycle in zip(owner, direct(packets), strict=True):
        arrived[i] = max(arrived[i], cycle)
    times, lines = astra(messages, ns_per_cycle=ns, packet_bytes=packet_bytes)
    delivered = [(cycle + 1) * ns for cycle in arrived]
    assert times == [(at, max(at, message[1])) for at, message in zip(delivered, messages, strict=True)]
    assert {message[1] > at for at, message in zip(delivered, messages, strict=True)} == {True, False}
    assert lines == [f"{n} messages, {len(packets)} packets"]


def test_events_run_in_the_tick_for_which_they_are_scheduled(astra):
    # ASTRA-sim loses events that do not. 90 cycles of 0.7 ns are 62.99999999999999 in a double, and 10 more are 73.
    times, lines = astra([(0, 0, i, 0, 1, 64) for i in range(200)], ns_per_cycle=0.7)
    assert (63, 63) in times and lines == ["200 messages, 200 packets"]


@pytest.mark.parametrize("queue", [0, 2])
def test_equal_messages_match_in_their_order(astra, queue):
    # 0 to 1 with L = 10: 5 + 10 + 5 = 20 cycles and one more until the handler; the second message of the source is 10
    # cycles later, and the third 20. Receives match in their order; the third was posted when its message had arrived.
    # With room for two packets at the source, the third packet waits in the adapter.
    text = MESH + f"source_packets = {queue}\n"
    messages = [(0, 5, 7, 0, 1, 640), (0, 0, 7, 0, 1, 640), (0, 90, 7, 0, 1, 640)]
    times, lines = astra(messages, text)
    assert times == [(21, 31), (31, 21), (41, 90)]
    assert lines == ["3 messages, 3 packets"]


def test_messages_without_a_counterpart_end_the_run_with_a_report(astra):
    times, lines = astra([(0, -1, 1, 0, 2, 64), (-1, 0, 1, 0, 2, 65), (-1, 3, 1, 0, 2, 65), (4, 4, 9, 3, 3, 0)])
    assert times[0] == (17, 0)  # 5 H + L + 5 = 16: the send is complete
    assert lines == ["2 messages, 2 packets",
                     "2 receive(s) of 65 bytes with tag 1 from rank 0 to rank 2 without a send.",
                     "1 send(s) of 64 bytes with tag 1 from rank 0 to rank 2 without a receive."]


def test_dropped_packets_end_the_run_with_a_message(astra):
    # Of two sources that want the same destination at once, METRO blocks one, which gives up after one attempt.
    text = '[router]\nkind = "metro"\n[endpoint]\nmost_attempts = 1\n'
    astra([(0, 0, 0, 1, 3, 8), (0, 0, 0, 2, 3, 8)], text,
          error="flitlab: the network has dropped 1 packets, because of faults or limits in its configuration.")


def test_wrong_calls_give_messages(run, tmp_path):
    (tmp_path / "net.toml").write_text(MESH)
    said = dict(line.split(": ", 1) for line in run("astra", "errors", "net.toml"))
    assert said == {
        "no file": "flitlab: no/such.toml cannot be read: No such file or directory.",
        "cycle": "ns_per_cycle = 0.000000 must be above 0.",
        "packet": "packet_bytes = 1073741824 is more than the 262080 bytes of the network's longest packet.",
        "rank": "FlitlabNetworkApi: rank 16 does not exist: the network has terminals 0 to 15.",
        "send": "sim_send: rank 16 does not exist: the network has terminals 0 to 15.",
        "recv": "sim_recv: rank -1 does not exist: the network has terminals 0 to 15.",
        "schedule": "sim_schedule: delta must be 0 or more nanoseconds (NS), and the function must exist.",
        "unit": "sim_schedule: delta must be 0 or more nanoseconds (NS), and the function must exist.",
        "run": "fine",
        "bandwidth": "64 GB/s"}
