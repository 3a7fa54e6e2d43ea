"""Configurations of METRO networks: each runs, and those for Table 3 equal the networks of the experiments."""

from pathlib import Path

import pytest

import flitlab as fl
from flitlab import metro
from flitlab.metro.published import networks

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "configs").glob("metro-*.toml"))
TABLE3 = {"metro-jr-orbit": 0, "metro-jr-orbit-2-cascade": 1, "metro-jr-orbit-4-cascade": 2, "metro-jr-w8": 3,
          "metro-jr-dp2": 10, "metro-jr-hw1": 11, "metro-8-hw2-4-cascade": 15}


def test_there_are_configs():
    assert set(TABLE3) | {"metro-figure1", "metro-figure3", "metro-rn1", "metro-1024", "metro-fat-tree", "metro-faults",
                          "metro-wiring"} == {path.stem for path in CONFIGS}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_messages_get_through(path):
    derived = fl.load(path).derived()
    assert derived["stages"] >= 1 and derived["state_bytes"] < 1e8
    net = fl.Network(fl.load(path)).step(1500)
    assert net.totals["packets_delivered"] > 10 and net.totals["messages_accepted_wrong"] == 0
    net.check()


@pytest.mark.parametrize(("name", "row"), TABLE3.items())
def test_those_of_table_3(config, name, row):
    e, instance = fl.load(config(name)), networks.TABLE3[row]
    assert e.derived()["terminals"] == 32
    assert int(e.derived()["delivery_cycles"]) * instance.clock == instance.delivery
    assert e["traffic.packet_flits"] == [(8 * networks.BYTES // instance.bits, 1.0)]


@pytest.mark.parametrize(("name", "make"), [
    ("metro-figure1", networks.figure1_network),
    ("metro-figure3", lambda: networks.figure3_network(endpoint__stalls=True))])
def test_those_of_figures(config, name, make):
    def network(e):
        return {key: value for key, value in e.flat().items() if not key.startswith("run.") and key != "traffic.load"}

    assert network(fl.load(config(name))) == network(make())


def test_the_network_wired_by_hand_has_two_paths_between_all_endpoints(config):
    wiring = metro.Wiring(fl.Network(fl.load(config("metro-wiring"))))
    assert [len(list(wiring.paths(s, d))) for s in range(4) for d in range(4)] == [4] * 16
