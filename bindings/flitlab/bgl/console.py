"""Registers of a Blue Gene/L torus that software can read."""

from __future__ import annotations

from flitlab.machine_console import Registers


class Links(Registers):
    """Registers of a torus with ``router.link_protocol = true``. "SENT_CRC +x" and "RECEIVED_CRC +x" hold the running
    CRCs over all valid packets that a node has sent and received on its link in direction +x; equally for other
    directions. "INJECTION_SUM 0" is the checksum of the packets that left injection FIFO 0. Example:
    ``bgl.Links(net).read_register(0, "SENT_CRC +x")``. Raises ConfigError for other networks. Source: Adiga et al., IBM
    J. Res. & Dev. 49 (2005), "Torus network"."""

    kind = "bgl"
    noun = "Blue Gene/L torus"
