"""Links to the web page (bindings/page): the part of an address after ``#`` describes an experiment and a cycle.

    page.html#config=vc-mesh-8x8&traffic.load=0.3&cycle=700&router=27&hash=088fac2d614ecdc7&flitlab=0.1.0&format=1

``KEYS`` lists the keys. A key with a dot is a parameter, and ``text.topology.file`` is the content of the file that
``topology.file`` names. ``bindings/page/js/link.js`` reads and writes the same format.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flitlab import _core, shipped
from flitlab._core import ConfigError, __version__
from flitlab.arguments import is_whole, shown
from flitlab.experiment import Experiment, file_paths, load
from flitlab.records import parameters_of
from flitlab.scope import is_in_page
from flitlab.trace_files import TRACE, trace_contents

FORMAT = 1
KEYS = {
    "figure": "name of a figure of the textbook, whose network, cycle, router and overlay the other keys change",
    "config": "name of a configuration of the page, to which the parameters are changes; none: changes to the defaults",
    "cycle": "cycle that the page shows; default 0",
    "router": "selected router; none by default",
    "overlay": "overlay of the drawing; none by default",
    "hash": "state hash of the network in that cycle, which the page compares with its own",
    "flitlab": "version of flitlab that computed the hash",
    "format": f"version of the format of links; default {FORMAT}",
}
TEXT = "text."  # beginning of the keys of texts
PAGE = "page.html"  # default address: the page in the folder of the document that contains the link
MOST = 8000  # longest link, characters
LAST = 2**31  # last cycle of a link
_PROGRAM = "traffic.program_file"
_WORD = re.compile(r"[A-Za-z][\w.-]*")


def link_of(experiment: Experiment, cycle: int, state_hash: str, router: int | None = None, overlay: str | None = None,
            page: str = PAGE) -> str:
    """Returns the link to a state. Raises ConfigError if an argument is wrong or the link would be too long."""
    check_number("cycle", cycle, 0, LAST)
    if router is not None:
        check_number("router", router, 0, int(experiment.derived()["routers"]) - 1)
    for name, text in (("page", page), ("overlay", "" if overlay is None else overlay)):
        if not isinstance(text, str):
            raise ConfigError(f"{name} = {shown(text)}: it must be a string.")
    if "#" in page:
        raise ConfigError(f"page = {shown(page)}: the address must not have a part after #, where the link begins.")
    where = {"cycle": cycle, "router": router, "overlay": overlay or None, "hash": state_hash, "flitlab": __version__,
             "format": FORMAT}
    parts = [*_configuration(experiment).items(), *((key, str(v)) for key, v in where.items() if v is not None)]
    link = f"{page}#" + "&".join(f"{key}={quote(text, safe=',')}" for key, text in parts)
    if len(link) > MOST:
        longest = sorted(parts, key=lambda part: -len(part[1]))[:3]
        which = ", ".join(f"{key.removeprefix(TEXT)} {len(text)}" for key, text in longest if len(text) > 200)
        raise ConfigError(f"share: the link would have {len(link)} characters (compressed: {which}); a link has at "
                          f"most {MOST}. Save a page instead: net.view().save(\"page.html\").")
    return link


def check_number(name: str, value: Any, low: int, high: int) -> None:
    if not is_whole(value) or not low <= value <= high:
        raise ConfigError(f"{name} = {shown(value)}: it must be a whole number from {low} to {high}.")


def in_page(name: str) -> bool:
    """Returns whether there is a shipped configuration of this name that the page includes."""
    if name not in shipped.configs() or shipped.needs_python(name):
        return False
    return is_in_page(load(name)._given, _core.Recorder.MOST_DRAWN)


def _configuration(experiment: Experiment) -> dict[str, str]:
    """Returns the keys that describe a configuration, with their texts: changes to the page's configuration of the
    experiment's name, or to the defaults."""
    given, texts = _given(experiment), _texts(experiment)
    base: dict[str, Any] = {}
    base_texts: dict[str, bytes] = {}
    found: dict[str, str] = {}
    if in_page(experiment.name):
        known = load(experiment.name)
        base, base_texts = _given(known), _texts(known)
        found["config"] = experiment.name
    else:
        given = _without_defaults(experiment, given, texts)
    for path, text in texts.items():
        if b"\0" in text:
            raise ConfigError(f"{path}: links hold files of text, and {given[path]} is binary. Share the configuration "
                              "and the file instead.")
    found |= {path: _text(value) for path, value in given.items() if path not in base or base[path] != value}
    found |= {path: "" for path in base if path not in given}
    return found | {TEXT + path: _coded(text) for path, text in texts.items() if base_texts.get(path) != text}


def _given(experiment: Experiment) -> dict[str, Any]:
    """Returns the given parameters; a file has only its name, because folders differ between computers."""
    files = file_paths()
    return {path: Path(getattr(value, "name", value)).name if path in files and value else value
            for path, value in experiment._given.items()}


def _texts(experiment: Experiment) -> dict[str, bytes]:
    """Returns the contents of the files that an experiment uses, by the parameter that names the file."""
    experiment.core.files_hash()  # raises ConfigError if there is no such file
    values, found = experiment.flat(), {}
    for path in sorted(file_paths() & experiment._given.keys() & values.keys()):
        value = experiment._given[path]
        text = experiment._texts.get(path)
        if text is None and path == _PROGRAM and value:
            text, _ = experiment.program_text()
        if text is None and path == TRACE and (contents := trace_contents(value, experiment.base_dir)) is not None:
            text = bytes(contents)
        if text is None and value:
            text = Path(experiment.base_dir, value).read_bytes()
        if text is not None:
            found[path] = text
    return found


def _without_defaults(experiment: Experiment, given: dict[str, Any], texts: Mapping[str, bytes]) -> dict[str, Any]:
    """Returns the parameters that differ from their defaults; all of them if the others would change as well."""
    records = parameters_of(experiment["router.kind"])
    short = {path: value for path, value in given.items() if path not in records or value != records[path]["default"]}
    files = file_paths()

    def resolved(values: dict[str, Any]) -> dict[str, Any]:
        flat = _core.Experiment(values, ".", dict(texts)).flat()
        return {path: value for path, value in flat.items() if path not in files}

    try:
        return short if resolved(short) == resolved(given) else given
    except ConfigError:
        return given


def _text(value: Any) -> str:
    """Returns a value as text: a number or a word as it is, a list of several with commas, other values as JSON."""
    if isinstance(value, (list, tuple)) and len(value) > 1 and all(_is_plain(v) for v in value):
        return ",".join(map(_text, value))
    if isinstance(value, str) and _is_plain(value):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_WORD.fullmatch(value)) and value not in ("true", "false", "null")
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _coded(text: bytes) -> str:
    """Returns a text compressed (zlib), in the base64 of addresses, without padding."""
    return base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")
