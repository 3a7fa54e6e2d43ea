"""Links that Python writes: their keys and values, their length, and messages for what they cannot hold."""

import base64
import re
import zlib
from urllib.parse import unquote

import networkx as nx
import pytest
import wasm_page

import flitlab as fl
from flitlab.links import FORMAT, KEYS, MOST, in_page

SMALL = {"topology.kind": "torus", "topology.shape": [4, 4]}


def parts(link):
    """Returns the keys of a link with their decoded values."""
    page, _, fragment = link.partition("#")
    assert page == "page.html"
    return dict((key, unquote(text)) for key, _, text in (part.partition("=") for part in fragment.split("&")))


def test_a_link_has_readable_keys():
    exp = fl.load("vc-mesh-8x8").set({"traffic.load": 0.3, "topology.shape": [6, 4]})
    network = fl.Network(exp).step(70)
    link = fl.share(network, router=5, overlay="use")
    assert link == (f"page.html#config=vc-mesh-8x8&topology.shape=6,4&traffic.load=0.3&cycle=70&router=5&overlay=use"
                    f"&hash={network.state_hash}&flitlab={fl.__version__}&format={FORMAT}")
    assert link == fl.share(exp, cycle=70, router=5, overlay="use")
    assert [key for key in KEYS if key not in parts(link)] == ["figure"]
    assert fl.share(exp, page="https://example.org/page.html").startswith("https://example.org/page.html#config=")


def test_a_result_is_linked_at_its_end(small):
    result = fl.run(small, seed=3)
    found = parts(fl.share(result))
    assert (found["hash"], found["cycle"], found["run.seed"]) == (result.state_hash, str(result.cycles), "3")
    assert found["hash"] == fl.Network(small.set("run.seed", 3)).step(result.cycles).state_hash


def test_a_view_is_linked_at_its_cycle_with_its_router():
    view = fl.Network("vc-mesh-8x8").step(20).view().step(3)
    assert parts(view.share())["cycle"] == "23" and "router" not in parts(view.share())
    found = parts(view.inspect(9).share())
    assert found["router"] == "9" and found["hash"] == view.network.state_hash
    assert parts(view.share(router=4))["router"] == "4"


@pytest.mark.parametrize("name", ["vc-mesh-8x8", "t3e-16", "vc-dgx-h100", "metro-wiring", "bgl-figure10"])
def test_a_shipped_configuration_needs_its_name_only(name):
    """Files of shipped configurations are in the page."""
    assert list(parts(fl.share(name))) == ["config", "cycle", "hash", "flitlab", "format"]
    assert len(fl.share(name)) < 150


def test_python_knows_which_configurations_the_page_has():
    assert {name for name in fl.configs() if in_page(name)} == set(wasm_page.configurations())
    assert "config" in parts(fl.share("t3e-16")) and not in_page("vc-torus-32x32x32")


def test_an_experiment_of_ones_own_lists_what_differs_from_the_defaults():
    given = {**SMALL, "router.vcs": 3, "traffic.load": 0.15, "traffic.pattern": "uniform"}
    found = {key: text for key, text in parts(fl.share(given)).items() if "." in key}
    assert found == {"topology.shape": "4,4", "router.vcs": "3", "traffic.load": "0.15"}
    short = {"topology.shape": [4, 4], "router.vcs": 3, "traffic.load": 0.15}
    assert fl.Experiment(short).flat() == fl.Experiment(given).flat()


def test_removed_parameters_are_empty():
    found = parts(fl.share(fl.load("vc-mesh-8x8").set({"router.vcs": None, "traffic.load": None})))
    assert found["router.vcs"] == found["traffic.load"] == ""


def test_values_that_are_not_plain_are_json():
    exp = fl.load("vc-mesh-8x8").set({"traffic.packet_flits": [(2, 0.5), (6, 0.5)], "topology.shape": [8]})
    found = parts(fl.share(exp.set("topology.kind", "ring")))
    assert found["traffic.packet_flits"] == "[[2,0.5],[6,0.5]]" and found["topology.shape"] == "[8]"


def test_files_are_included_without_their_folders(tmp_path):
    (tmp_path / "mine.csv").write_text("0,1\n1,2\n2,0\n")
    exp = fl.Experiment.from_dict({"topology.kind": "graph", "topology.file": "mine.csv"}, str(tmp_path))
    link = fl.share(exp)
    assert str(tmp_path) not in unquote(link) and parts(link)["topology.file"] == "mine.csv"
    coded = parts(link)["text.topology.file"]
    assert zlib.decompress(base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4))) == b"0,1\n1,2\n2,0\n"
    in_memory = fl.load("vc-mesh-8x8").with_topology(nx.cycle_graph(6))
    assert "text.topology.file" in parts(fl.share(in_memory))


def test_a_changed_file_of_a_shipped_name_is_included(tmp_path):
    """A file with the name of a shipped configuration's file, but with other contents."""
    (tmp_path / "vc-dgx-h100.toml").write_text(fl.shipped.path_of("vc-dgx-h100").read_text())
    text = fl.shipped.path_of("vc-dgx-h100").with_suffix(".csv").read_text()
    (tmp_path / "vc-dgx-h100.csv").write_text(text)
    assert "text.topology.file" not in parts(fl.share(tmp_path / "vc-dgx-h100.toml"))
    (tmp_path / "vc-dgx-h100.csv").write_text("".join(reversed(text.splitlines(keepends=True))))
    assert "text.topology.file" in parts(fl.share(tmp_path / "vc-dgx-h100.toml"))


def test_what_a_link_cannot_hold_gets_a_message():
    graph = nx.random_regular_graph(4, 1000, seed=1)
    exp = fl.load("vc-mesh-8x8").with_topology(graph).set("routing.algorithm", "up_down")
    with pytest.raises(fl.ConfigError, match=rf"share: the link would have \d+ characters \(compressed: topology.file "
                                             rf"\d+\); a link has at most {MOST}. Save a page instead: net.view"):
        fl.share(exp)


@pytest.mark.parametrize(("call", "message"), [
    (lambda net: fl.share(net, cycle=3), "a link to a Network has its own cycle"),
    (lambda net: fl.share("vc-mesh-8x8", cycle=-1), "cycle = -1: it must be a whole number from 0 to"),
    (lambda net: fl.share("vc-mesh-8x8", cycle=1.5), "cycle = 1.5: it must be a whole number from 0 to"),
    (lambda net: fl.share(net, router=64), "router = 64: it must be a whole number from 0 to 63"),
    (lambda net: fl.share(net, overlay=3), "overlay = 3: it must be a string"),
    (lambda net: fl.share(net, page=None), "page = None: it must be a string"),
    (lambda net: fl.share(net, page="page.html#x"), "must not have a part after #"),
    (lambda net: fl.share(3), "an experiment cannot be made of a int"),
    (lambda net: fl.share(fl.Result({"cycles": 5})), "only a result of fl.run has its experiment")])
def test_wrong_arguments_get_a_message(call, message):
    with pytest.raises(fl.ConfigError, match=re.escape(message)):
        call(fl.Network("vc-mesh-8x8"))
