"""The Python view of S-Connect's channel slots."""

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
