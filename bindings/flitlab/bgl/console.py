"""What software can read of a Blue Gene/L torus: what the ends of its links say of each other."""

from __future__ import annotations

from flitlab.machine_console import Registers


class Links(Registers):
    """Registers of a torus with ``router.link_protocol = true``: "SENT_CRC +x" and "RECEIVED_CRC +x" of a node's links,
    which both ends compute of all valid packets, and "INJECTION_SUM 0", the checksum of what an injection FIFO has
    sent; ``bgl.Links(net).read_register(0, "SENT_CRC +x")``. ConfigError if the network is no such torus."""

    kind = "bgl"
    noun = "Blue Gene/L torus"
