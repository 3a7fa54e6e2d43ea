"""Scan access to METRO routers (METRO, 5.1, Scan Support; Table 2)."""

from __future__ import annotations

from flitlab.machine_console import WritableRegisters


class Scan(WritableRegisters):
    """Scan access to the routers of a METRO network between cycles: ``metro.Scan(net).write_register(4, "on.b3", 0)``.
    Writing returns the Scan object. ConfigError if the network is not a METRO network.

    Registers are "dilation" and, for each port f0, f1, ..., b0, b1, ...: on, drive, captured, turn_delay, fast and
    swallow, which are accessed by scan; word, sent, state, out and words, which can always be read.
    ``net.console.register_records()`` describes them. ConfigError if all test access ports of a router are dead."""

    kind = "metro"
    noun = "METRO network"
