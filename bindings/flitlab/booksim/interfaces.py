"""Files of simulators that contain BookSim (``.icnt``): ONNXim's files, without semicolons, and GPGPU-Sim's files.

Their own parameters describe the interface between the simulator and its network, which flitlab's adapters read
(bindings/adapters). The packets come from the simulator, so traffic in these files has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from flitlab._core import ConfigError
from flitlab.booksim.defaults import DEFAULTS
from flitlab.booksim.keys import IGNORED, KEYS
from flitlab.booksim.networks import routing_differences
from flitlab.booksim.settings import Settings
from flitlab.booksim.statements import read
from flitlab.booksim.translation import Translation, hardware, refuse_unused
from flitlab.booksim.vc_ranges import TYPE_RANGES, classes_of_types

ENDING = ".icnt"
_OF_ADAPTERS = "read by the adapter"
# Parameters that BookSim does not have: what flitlab does with them.
_OWN = {
    "flit_size": "traffic.flit_bytes", "subnets": f"{_OF_ADAPTERS}: the number of networks",
    "network_count": "no effect", "use_map": _OF_ADAPTERS,
    "memory_node_map": _OF_ADAPTERS, "input_buffer_size": _OF_ADAPTERS, "ejection_buffer_size": _OF_ADAPTERS,
    "boundary_buffer_size": _OF_ADAPTERS, "perfect_icnt": "no effect", "fixed_lat_per_hop": "no effect"}
_PREFIXES = ("injection_", "burst_", "packet_size", "read_", "write_")
_TRAFFIC = {name for name in DEFAULTS if name.startswith(_PREFIXES) and not name.endswith("_vc")} | {
    "traffic", "classes", "use_read_write", "sim_type", "batch_size", "batch_count", "max_outstanding_requests"}
_STATEMENT = re.compile(r"\s*(\w+)\s*=\s*(.*?)\s*")


def translate_interface(text: str, called: str, folder: Path, changes: Iterable[str] = ()) -> Translation:
    """Translates a file of a simulator's interface, as :func:`flitlab.booksim.translation.translate` does a file of
    BookSim. The result has ``traffic.mode = "host"``."""
    own, lines = {}, []
    for line in [*text.split("\n"), *changes]:
        statements = []
        for part in re.sub(r"//.*", "", line).split(";"):
            found = _STATEMENT.fullmatch(part)
            if found and found[1] in _OWN.keys() | _TRAFFIC:
                own[found[1]] = found[2]
            elif part.strip() not in ("", "[config]"):
                statements.append(f"{part.strip()};")
        lines.append(" ".join(statements))  # one line for each, so that errors name the right one
    given = read("\n".join(lines), called)
    settings = Settings(given, called)
    values, texts = hardware(settings, called, folder)
    classes = classes_of_types(settings, values)
    refuse_unused(settings, called)
    for name in ("perfect_icnt", "fixed_lat_per_hop"):
        if own.get(name, "0") != "0":
            raise ConfigError(f"{called}: {name} = {own[name]} is not translated: it replaces the network by a fixed "
                              "time. Set it to 0.")
    size = own.get("flit_size", "32")
    if not re.fullmatch("0*[1-9][0-9]{0,4}", size):
        raise ConfigError(f"{called}: flit_size = {size} is not translated: it is the size of a flit in bytes, a whole "
                          "number from 1 to 65535.")
    values |= {"traffic.mode": "host", "traffic.flit_bytes": int(size)} | classes
    notes = [f"{name} = {value}: {_OWN.get(name, 'no effect, because the packets come from the simulator')}."
             for name, value in own.items()]
    if classes:
        notes.append("Virtual channels of types of packets: classes 0 to 3 are read requests, write requests, read "
                     "replies and write replies.")
    notes += [f"{text}." for text in routing_differences(settings, values)]
    differing = {name: value for name, value in given if KEYS[name].kind == IGNORED and name not in TYPE_RANGES}
    notes += [f"{name} = {value} ({IGNORED}): {KEYS[name].note}." for name, value in differing.items()]
    return Translation(values, texts, notes)
