"""All S-Connect configurations: each runs for a while, delivers messages, and loses none."""

import warnings
from pathlib import Path

import pytest

import flitlab as fl
from flitlab.sconnect import Fabric

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "configs").glob("sconnect-*.toml"))


def test_there_are_configs():
    assert "sconnect-figure5" in {path.stem for path in CONFIGS}


# The configuration of 1024 nodes is left out: planning it takes long, and tests/hashes steps it.
@pytest.mark.parametrize("path", [p for p in CONFIGS if p.stem != "sconnect-random-1024"], ids=lambda p: p.stem)
def test_messages_get_through(path):
    e = fl.load(path)
    with warnings.catch_warnings():
        # Turn warnings, such as one about paths that are longer than necessary, into errors.
        warnings.simplefilter("error")
        net = fl.Network(e)
    if e["router.kind"] == "sconnect" and e["routing.tables"] == "none":
        assert Fabric(net).registers(0)["table.0"] == 0  # software has not loaded the TICs yet
        return
    net.step(600)
    assert net.totals["packets_delivered"] > 10
    net.check()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_configurations_have_a_description(path):
    assert path.read_text(encoding="utf-8").startswith("# ")
