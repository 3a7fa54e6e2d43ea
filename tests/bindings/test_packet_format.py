"""The rule that divides messages into packets and flits, in Python and in the core."""

import pytest

import flitlab as fl
from flitlab.packet_format import PacketFormat

DEFAULT = PacketFormat(240, 16, 32)
SIZES = [*range(0, 1500), *(n + d for n in (2**16, 240 * 65535, 2**24, 2**31, 2**32 - 4) for d in (-1, 0, 1, 2))]


def test_packets_are_the_cores():
    program = fl.Program(2)
    for size in SIZES:
        program[0].send(1, size)
        program[1].recv(0)
    assert [amount for _, _, amount, _ in program.calls()[1]] == [DEFAULT.packets(size) for size in SIZES]


@pytest.mark.parametrize("form", [DEFAULT, PacketFormat(100, 7, 16), PacketFormat(64, 1, 64), PacketFormat(33, 1, 8)])
def test_flits_are_the_cores(form):
    """A run with one message counts the flits that arrive."""
    sizes = sorted({0, 1, *(k * form.payload + d for k in (1, 2, 7) for d in (-1, 0, 1)),
                    *(k * form.flit - form.header + d for k in (1, 2, 3) for d in (0, 1)), 1000} - {-1})
    keys = dict(zip(("traffic.payload_bytes", "traffic.header_bytes", "traffic.flit_bytes"), form, strict=True))
    for size in (size for size in sizes if size >= 0):
        program = fl.Program(2)
        program[0].send(1, size)
        program[1].recv(0)
        r = fl.run({"topology.kind": "mesh", "topology.shape": [2], "traffic.mode": "program",
                    "traffic.program_file": program, **keys}, progress=False)
        assert round(r.accepted * r.measured_cycles * r.terminals) == form.flits(size), size
