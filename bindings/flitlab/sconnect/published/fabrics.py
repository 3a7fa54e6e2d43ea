"""Constants and functions shared by the S-Connect paper's experiments with fabrics of TICs.

A cycle is a routing cycle of 6 clocks, a flit is a message."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flitlab.experiment import Experiment
from flitlab.network import Network

PAPER = "S-Connect: from Networks of Workstations to Supercomputer Performance"
CLOCKS = 6  # per routing cycle
SERIAL = 4  # serial ports, 0 to 3; ports 4 and 5 are parallel
DATA = 10  # bytes per message
ALPHA = 51.84  # MHz, clock of the alpha board
TIC = 66.0  # MHz, clock for which the TIC is designed

Message = tuple[int, int, int]  # cycle, source, destination


def fabric(*settings: dict) -> Experiment:
    flat = {"router.kind": "sconnect"}
    for more in settings:
        flat |= more
    return Experiment.from_dict(flat)


def send(settings: dict, messages: Iterable[Message], trace: bool = False) -> Network:
    """Returns a network of a fabric whose hosts send these messages."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "messages.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([*message, 1] for message in sorted(messages))
        return Network(fabric(settings, {"traffic.mode": "trace", "traffic.trace_file": str(file)}), trace=trace)
