"""Adapters use the installed flitlab.h, and no other file of flitlab."""

import re
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parents[3] / "bindings" / "adapters"
INTERFACES = {"astra-sim/common/AstraNetworkAPI.hh"}  # of the host


def test_adapters_include_only_the_installed_header():
    files = [path for path in ADAPTERS.rglob("*") if path.suffix in {".hpp", ".cpp", ".hh", ".cc"}]
    quoted = {name for path in files for name in re.findall(r'#include "(.*)"', path.read_text(encoding="utf-8"))}
    own = {str(path.relative_to(ADAPTERS)) for path in files}
    assert quoted - own == INTERFACES and quoted & own
    angled = {name for path in files for name in re.findall(r"#include <(.*)>", path.read_text(encoding="utf-8"))}
    assert {name for name in angled if "." in name} == {"flitlab.h"}
