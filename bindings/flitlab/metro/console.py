"""What software can do to METRO routers: scan (METRO, 5.1, Scan Support; Table 2)."""

from __future__ import annotations

from flitlab.machine_console import WritableRegisters


class Scan(WritableRegisters):
    """The routers of a METRO network under scan, between cycles: ``metro.Scan(net).write_register(4, "on.b3", 0)``.
    ConfigError if the network is none. Writing returns the scan.

    Registers are "dilation", and of each port f0, f1, ..., b0, b1, ...: on, drive, captured, turn_delay, fast and
    swallow by scan; word, sent, state, out and words to be looked at. ``net.console.register_records()`` says what they
    hold. ConfigError if faults have left a router without a test access port."""

    kind = "metro"
    noun = "METRO network"
