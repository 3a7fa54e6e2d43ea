"""Packets and flits of a program's messages. PacketFormat in kernels/traffic/program_state.hpp is the same in the
core; tests/bindings/test_packet_format.py compares both."""

from __future__ import annotations

from typing import NamedTuple


class PacketFormat(NamedTuple):
    """Sizes in bytes. payload: most bytes of a message in a packet. header: added to each packet by software."""

    payload: int
    header: int
    flit: int

    def packets(self, size: int) -> int:
        """Returns the packets of a message of ``size`` bytes. A message of 0 bytes is one packet."""
        return packets_of(size, self.payload)

    def flits(self, size: int) -> int:
        """Returns the flits of a message of ``size`` bytes. All packets but the last one are full."""
        full = self.packets(size) - 1
        return full * self._flits(self.payload) + self._flits(size - full * self.payload)

    def _flits(self, payload: int) -> int:
        return -(-(payload + self.header) // self.flit)


def packets_of(size: int, payload: int) -> int:
    """Returns the packets of a message of ``size`` bytes, of which a packet has at most ``payload``."""
    return max(1, -(-size // payload))
