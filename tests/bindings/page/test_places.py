"""The page positions routers as the scope in Python does."""

import json
import os
import subprocess
from pathlib import Path
from shutil import which

import networkx as nx
import numpy as np
import pytest

import flitlab as fl
from flitlab import _core
from flitlab.scope.places import positions_of

SCRIPT = Path(__file__).resolve().parents[3] / "bindings/page/js/places.js"


def networks() -> dict[str, fl.Experiment]:
    found = {kind: fl.Experiment.from_dict({"topology.kind": kind}) for kind in (
        "mesh", "torus", "ring", "hypercube", "chiplet_mesh", "chiplet_torus", "full_mesh", "hyperx",
        "flattened_butterfly", "cmesh", "fat_tree", "dragonfly", "megafly", "slim_fly", "polarfly", "polarstar",
        "jellyfish")}
    found["three dimensions"] = fl.Experiment.from_dict({"topology.shape": [4, 3, 2]})
    found["chips of 4x2"] = fl.Experiment.from_dict({"topology.kind": "chiplet_mesh", "topology.chip_shape": [4, 2]})
    found["chips of three dimensions"] = fl.Experiment.from_dict(
        {"topology.kind": "chiplet_torus", "topology.shape": [4, 4, 2], "topology.chip_shape": [2, 2, 1]})
    found["order 4"] = fl.Experiment.from_dict({"topology.kind": "slim_fly", "topology.order": 4})
    found["order 3"] = fl.Experiment.from_dict({"topology.kind": "polarfly", "topology.order": 3})
    found["failed links"] = found["jellyfish"].set("topology.random_failures", 5)
    graph = nx.cycle_graph(5)
    nx.set_node_attributes(graph, {n: (n, n * n) for n in graph}, "pos")
    found["places"] = fl.Experiment.from_dict({}).with_topology(graph)
    found |= {name: fl.load(name) for name in ("vc-dgx-h100", "vc-rail-cluster")}
    found["stages"] = fl.load("metro-figure1")
    return found


def test_the_page_places_routers_where_python_does(tmp_path):
    if not which("node"):  # .ci/run installs it with Emscripten, and sets FLITLAB_PAGE=required
        assert os.environ.get("FLITLAB_PAGE") != "required", "Node.js is missing"
        pytest.skip("needs Node.js")
    cases, expected = [], {}
    for name, e in networks().items():
        network = _core.Network(e.core, "cpu", 1, False)
        names = [network.router_name(r) for r in range(int(e.derived()["routers"]))]
        links, flat = [list(link) for link in network.links()], e.flat()
        given = [names, flat.get("topology.kind", ""), links, flat.get("topology.shape", []),
                 flat.get("topology.chip_shape", [])]
        cases.append([name, given])
        expected[name] = positions_of(*given)
    script = tmp_path / "places.js"
    script.write_text(SCRIPT.read_text(encoding="utf-8") + f"""
const cases = {json.dumps(cases)};
console.log(JSON.stringify(cases.map(([name, given]) => [name, positions_of(...given)])));
""", encoding="utf-8")
    done = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    for name, (places, layout) in json.loads(done.stdout):
        theirs, phrase = expected[name]
        assert np.allclose(places, theirs, atol=1e-6), name
        assert layout == phrase, name
