"""The Python view of S-Connect's channel slots, and hosts' ports with one priority each."""

import flitlab as fl
from flitlab.sconnect import Fabric

PRESENT, ANSWER, OCCUPIED = 1, 4, 128


def test_slots_that_come(tmp_path):
    """With a channel delay of 2, a message accepted in cycle 5 is sent in cycle 6 and arrives in 8. Its acknowledgment
    leaves in 9 and arrives in 11."""
    trace = tmp_path / "trace.csv"
    trace.write_text("5,0,1,1\n")
    net = fl.Network(fl.Experiment.from_dict({"router.kind": "sconnect", "topology.shape": [2],
                                              "topology.channel_delay": 12, "traffic.mode": "trace",
                                              "traffic.trace_file": str(trace)}))
    seen = {}
    for _ in range(20):
        for tic in range(2):
            registers = Fabric(net).registers(tic)
            assert set(k for k in registers if k.startswith("slot.")) == {"slot.0"}
            if registers["slot.0"]:
                seen[net.cycle, tic] = registers["slot.0"], registers.get("message.0")
        net.step()
    assert seen == {(8, 1): (OCCUPIED | PRESENT, 0), (11, 0): (OCCUPIED | ANSWER, None)}


def test_priorities_need_queues_of_their_own():
    """Hosts refuse priority 0. Priority 1 is delivered all the same by a separate port, and by a port that offers the
    oldest packet of each priority; in a single queue packets of priority 0 block the others."""
    mixed = {"host.priorities": [1, 1, 0, 0]}
    late = {}
    for name, weights in {"apart": {"host.priorities": [1, 0, 0, 0], "host.second_priorities": [0, 1, 0, 0]},
                          "mixed": mixed, "one queue": mixed | {"host.queues": "single"}}.items():
        net = fl.Network(fl.Experiment.from_dict({
            "router.kind": "sconnect", "topology.shape": [4, 4], "topology.host_ports": 2, "traffic.load": 0.1,
            "host.refuses": [0]} | weights)).step(3000)
        before = net.totals["delivered_priority_1"]
        net.step(1000)
        late[name] = net.totals["delivered_priority_1"] - before
        assert net.totals["delivered_priority_0"] == 0
    assert 0.9 < late["apart"] / (1000 * 16 * 0.1) < 1.1
    assert 0.9 < late["mixed"] / (1000 * 32 * 0.05) < 1.1
    assert late["one queue"] == 0
