"""The bufferless router, cycle by cycle, against a naive list-based network that follows the model's README."""

import math
import random
import warnings
from collections import Counter

import pytest
from bless_second import Naive, Packet

import flitlab as fl

COMPARED = ("packets_created", "flits_created", "packets_injected", "flits_injected", "packets_delivered",
            "flits_delivered", "flit_moves", "latency_sum", "last_delivery", "flits_sent", "deflections",
            "ejections_refused", "injections_blocked", "reassembly_most")


def values_of(torus, shape, **router):
    router = {f"router.{key}": value for key, value in router.items() if key != "channel_delay"} | {
        "topology.channel_delay": router.get("channel_delay", 1)}
    return {"router.kind": "bless", "topology.kind": "torus" if torus else "mesh", "topology.shape": shape,
            "traffic.self": False} | router


def traced(tmp_path, packets):
    """Returns the settings of a trace with these packets."""
    file = tmp_path / "trace.csv"
    file.write_text("".join(f"{p.due},{p.src},{p.dst},{p.flits}" + (f",{p.needs}" if p.needs is not None else "") + "\n"
                            for p in packets))
    return {"traffic.mode": "trace", "traffic.trace_file": str(file)}


def network(values, trace=True):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"router\.reassembly_packets", category=UserWarning)
        return fl.Network(fl.Experiment.from_dict(values), trace=trace)


def learn_bits(tmp_path, shape, lines):
    """Sets for each packet the direction that it prefers in each dimension where both directions are equally short. The
    model's README says that this depends only on the packet's source and number. Packets with these numbers are
    therefore sent one at a time, alone in the network, to the router half-way around each dimension of even size."""
    if all(k % 2 for k in shape):
        return
    naive = Naive(True, shape, [], 1, 1, 1, "auto")
    gap = 2 * sum(shape) + 4
    probes = []
    for p in lines:
        there = [(x + k // 2) % k if k % 2 == 0 else x for x, k in zip(naive.slot_index(p.src), shape, strict=True)]
        dst = sum(x * math.prod(shape[:d]) for d, x in enumerate(there))
        probes.append(Packet(p.src, p.id, dst, p.id * gap, 1))
    net = network(values_of(True, shape, delay=1) | traced(tmp_path, probes)).step(gap * len(probes))
    bits = {}
    for e in net.events():
        if e["kind"] == "switch_granted" and e["out_port"] < naive.ports:
            bits.setdefault((e["id"], e["out_port"] // 2), e["out_port"] % 2)
    for p in lines:
        p.bits = tuple(bits[p.id, d] if k % 2 == 0 else None for d, k in enumerate(shape))


def flits_in_inboxes(net, naive):
    """Returns flits on channels, found and expected: router, slot and channel of arrival, and all recorded fields."""
    found, expected = set(), set()
    for router in range(naive.routers):
        tree = net.inspect("router", router)
        came = tree["came"]
        slots = len(came) // naive.ports
        inbox_parts = [part for part in tree.parts if part.kind == "mail"]
        for slot_index in (i for i, taken in enumerate(came) if taken):
            m = inbox_parts[slot_index].named()  # via: the flit's number in its packet
            found.add((router, slot_index, m["src"], m["id"], m["via"], m["created"], m["injected"], m["flits"], m["hops"]))
        for (cycle, port), f in naive.inbox_parts[router].items():
            p = f.packet
            expected.add((router, cycle % slots * naive.ports + port, p.src, p.id, f.number, p.created, p.injected,
                          p.flits, f.hops))
    return found, expected


def at_terminal(net, naive, index):
    """Returns packets created, sent and received, flits left to send of the current packet, and partly received
    packets."""
    tree, terminal = net.inspect("terminal", index), naive.terminals[index]
    control = tree.part("control")
    left = terminal.waiting[0].flits - terminal.begun if terminal.begun else 0
    reassembly_slots = [part for part in tree.parts if part.kind == "partial"]
    taken = [slot_index.named() for slot_index in reassembly_slots[:tree.part("reassembly")["open"]]]
    partial = {(p["src"], p["id"]): p["left"] for p in taken}
    found = control["created"], control["sent"], control["received"], control.part("lane")["left"], partial
    return found, (terminal.created, terminal.sent, terminal.received, left, terminal.partial)


def compare(values, naive, cycles):
    """Compares events, totals and flits per channel in every cycle; all inbox slots once per hop time; and in every
    other cycle one terminal, in turn."""
    net = network(values)
    assert sorted(net.links()) == [(r, p, to, p ^ 1) for r in range(naive.routers)
                                   for p, to in sorted(naive.neighbour[r].items())]
    if any(p.flits > 1 for terminal in naive.terminals for p in terminal.to_create):
        assert sum(part.kind == "partial" for part in net.inspect("terminal", 0).parts) == naive.reassembly_slots
    for cycle in range(cycles):
        net.step()
        naive.step()
        events = Counter((e["kind"], e["index"], e["port"], e["out_port"], e["src"], e["id"]) for e in net.events())
        assert events == naive.events, cycle
        totals = net.totals
        assert {t: totals[t] for t in COMPARED} == {t: naive.totals[t] for t in COMPARED}, cycle
        assert {(r, p): n for r, p, n in net.channels() if n} == naive.carried, cycle
        if cycle % 2:
            found, expected = at_terminal(net, naive, cycle // 2 % naive.routers)
            assert found == expected, cycle
        if cycle % (naive.delay + naive.channel_delay) == 0:
            found, expected = flits_in_inboxes(net, naive)
            assert found == expected, cycle
    assert network(values, trace=False).step(cycles).check().state_hash == net.state_hash


@pytest.mark.parametrize(("torus", "shape", "delays", "lengths", "load", "places"), [
    (False, [3, 3], (2, 1), [1], 0.5, "auto"),
    (False, [3, 3], (1, 1), [1, 2, 5], 0.9, "auto"),
    (False, [4, 4], (2, 1), [1, 4], 0.6, "auto"),
    (False, [5, 3], (1, 3), [3], 0.5, "auto"),
    (False, [5, 5], (2, 1), [4], 0.35, "auto"),
    (False, [1, 4], (3, 2), [2, 3], 0.8, "auto"),
    (False, [2, 3, 3], (2, 1), [1, 6], 0.8, "auto"),
    (False, [3, 3], (1, 2), [2, 3, 4], 0.5, 2),
    (False, [2, 2], (1, 1), [1, 5], 0.9, 1),
    (True, [3, 3], (2, 1), [1, 2, 4], 0.9, "auto"),
    (True, [4, 4], (2, 1), [4], 0.9, "auto"),
    (True, [4, 3], (1, 4), [1, 7], 0.7, "auto"),
    (True, [5, 5], (1, 1), [2], 0.8, "auto"),
    (True, [2, 5], (2, 2), [1, 3], 0.7, "auto"),
    (True, [6], (2, 1), [1, 2], 0.7, "auto"),
    (True, [2, 4, 2], (1, 1), [1, 4], 0.9, "auto"),
    (True, [4, 4], (2, 1), [2, 3], 0.6, 3),
])
def test_a_trace_cycle_by_cycle(tmp_path, torus, shape, delays, lengths, load, reassembly_slots):
    """Random packets for 40 cycles, a fourth of them to one terminal, some dependent on others."""
    rng, terminals = random.Random(repr((torus, shape, delays, lengths, load))), math.prod(shape)
    hot = rng.randrange(terminals)
    packets = []
    for due in range(40):
        for src in range(terminals):
            if rng.random() < load * len(lengths) / sum(lengths):
                others = [hot] if src != hot and rng.random() < 0.25 else [t for t in range(terminals) if t != src]
                needs = [p.id for p in packets if p.dst == src] if rng.random() < 0.1 else []
                packets.append(Packet(src, len(packets), rng.choice(others), due, rng.choice(lengths),
                                      rng.choice(needs) if needs else None))
    if torus:
        learn_bits(tmp_path, shape, packets)
    naive = Naive(torus, shape, packets, *delays, 1, reassembly_slots)
    compare(values_of(torus, shape, delay=delays[0], channel_delay=delays[1], reassembly_packets=reassembly_slots)
            | traced(tmp_path, packets), naive, 80)
    assert naive.totals["deflections"] > 20
    assert (reassembly_slots == "auto") == (naive.totals["ejections_refused"] == 0)


@pytest.mark.parametrize(("torus", "shape", "delays", "flits", "width", "places"), [
    (False, [3, 3], (2, 1), 1, 1, "auto"),
    (False, [4, 4], (2, 1), 2, 2, "auto"),
    (False, [3, 3], (1, 1), 3, 4, "auto"),
    (False, [3, 3], (1, 1), 2, 2, 1),
    (True, [3, 5], (1, 2), 3, 3, "auto"),
    (True, [4, 3], (2, 1), 2, 2, "auto"),
])
def test_a_batch_cycle_by_cycle(tmp_path, torus, shape, delays, flits, width, reassembly_slots):
    """All terminals send to all others in the same order, so that many packets meet; several flits are ejected per
    cycle."""
    terminals = math.prod(shape)
    packets = []
    for src in range(terminals):
        others = [t for t in range(terminals) if t != src]
        own = [Packet(src, i, to, 0, flits) for i, to in enumerate(t for t in others for _ in range(2))]
        if torus:
            learn_bits(tmp_path, shape, own)
        packets += own
    naive = Naive(torus, shape, packets, *delays, width, reassembly_slots)
    batch = {"traffic.mode": "batch", "traffic.pattern": "all_to_all", "traffic.order": "same", "traffic.in_a_row": 2,
             "traffic.packet_flits": flits}
    compare(values_of(torus, shape, delay=delays[0], channel_delay=delays[1], ejection_width=width,
                      reassembly_packets=reassembly_slots) | batch, naive, 80)
    assert naive.totals["deflections"] > 100
    assert (reassembly_slots == "auto") == (naive.totals["ejections_refused"] == 0)
