"""The packed recording, which pages and notebooks have: it is small, has every frame, and is made once per cell."""

import json
import random

import nbformat
import playwright.sync_api
import pytest
from nbclient import NotebookClient
from scope_pages import mutated

import flitlab as fl
from flitlab.scope import module_text
from flitlab.scope.recorder import Recorder

PAGE = """<script type="module">
{module}
window.unpack = unpack;
</script>"""
# Changes of the JavaScript that a test has to detect.
MUTANTS = {"numbers": ("unit *= 128", "unit *= 64"), "places": ("place + k - (last", "place - (last"),
           "order": ("|| a[width] - b[width]", ""), "none": ("row.push(value - 1)", "row.push(value)"),
           "rows": ("index.get(row[0])", "0"), "changes": ("values[k] = columns[k].next()", "columns[k].next()")}


def check_unpacked(page, recorder, mutant=("", ""), most=10**6):
    """Checks that a page unpacks the frames that a running view sends as JSON."""
    page.set_content(PAGE.format(module=mutated(module_text(), mutant)))
    page.wait_for_function("() => window.unpack")
    packed = recorder.packed(most)
    unpacked = page.evaluate("async (text) => JSON.stringify(await unpack(text))", packed)
    assert json.loads(unpacked) == json.loads(recorder.recording(most))
    return packed


def recorder_of(name, changes, cycles, seed, **given):
    exp = fl.load(name).set({**changes, "run.seed": seed})
    recorder = Recorder(fl.Network(exp, trace=True).step(random.Random(seed).randrange(100)), **given)
    recorder.step(cycles)
    return recorder


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("name", "changes", "given"), [
    ("vc-mesh-8x8", {"traffic.load": 0.6}, {}), ("vc-torus-8x8", {}, {"routers": range(10, 20)}), ("t3e-16", {}, {}),
    ("bgl-midplane", {"topology.shape": [4, 2, 2]}, {}), ("bgl-midplane", {}, {}), ("metro-figure1", {}, {}),
    ("sconnect-priority", {}, {}), ("sconnect-figure1", {}, {}), ("sconnect-figure5", {}, {}),
    ("bless-mesh-8x8", {}, {})])
@pytest.mark.parametrize("window", [300, 12])
def test_it_has_the_frames_of_the_recording(page, name, changes, given, seed, window):
    recorder = recorder_of(name, changes, 30, seed, window=window, **given)
    recorder.inspected = {recorder.routers[-1]}
    recorder.step(10)
    check_unpacked(page, recorder)
    check_unpacked(page, recorder, most=5)


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
def test_a_recording_that_is_unpacked_wrongly_is_detected(page, mutant):
    with pytest.raises((AssertionError, playwright.sync_api.Error)):
        check_unpacked(page, recorder_of("vc-mesh-8x8", {"traffic.load": 0.6}, 40, 1), mutant)


def test_a_page_of_300_busy_cycles_is_smaller_than_a_megabyte(tmp_path):
    path = tmp_path / "page.html"
    fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.3), trace=True).view().step(300).save(path)
    assert path.stat().st_size < 1_000_000


def count_packings(monkeypatch):
    """Returns a list to which every packing adds the cycle of the last frame."""
    packed, pack = [], Recorder.packed
    monkeypatch.setattr(Recorder, "packed", lambda self, *most: packed.append(self.last) or pack(self, *most))
    return packed


def test_steps_pack_nothing_until_the_recording_is_read(monkeypatch):
    view = fl.Network("vc-mesh-8x8").view()
    packings = count_packings(monkeypatch)
    for _ in range(20):
        view.step(1)
    assert packings == []
    text = view.recording
    assert packings == [20] and view.recording == text == view._recorder.packed()
    view._handle_custom_msg({"do": "step", "cycles": 3}, [])  # the front end's messages, after a step and at rest
    assert packings[2:] == []
    for _ in range(2):
        view._handle_custom_msg({"do": "keep"}, [])
    assert packings[2:] == [23]
    for message in ({"do": "reset"}, {"do": "skip", "cycles": 7}, {"do": "set", "changes": {"traffic.load": 0.2}}):
        view._handle_custom_msg(message, [])
        assert view.recording == view._recorder.packed()


# The first packing is that of the widget's first state, with one frame. The third cell fails; its cycle is kept, too.
CELLS = ["""import flitlab as fl
from flitlab.scope.recorder import Recorder
packings, pack = [], Recorder.packed
Recorder.packed = lambda self, *most: packings.append(self.last) or pack(self, *most)
view = fl.Network("vc-mesh-8x8").view().step(5)
view""", """for _ in range(30):
    view.step(1)
assert packings == [0, 5]""", """view.step(1)
raise SystemExit""", "assert packings == [0, 5, 35, 36]"]


def test_a_cell_packs_once_however_many_steps_it_has():
    """The copies in the notebook have the cell's last cycle as soon as the cell has ended."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    copies = []
    client = NotebookClient(notebook, timeout=1800, kernel_name="python3", allow_errors=True)
    client.on_cell_executed = lambda cell, cell_index, execute_reply: copies.append(
        [o["data"]["text/plain"] for o in notebook.cells[0].outputs if "text/html" in o.get("data", {})])
    client.execute()
    errors = [o["ename"] for cell in notebook.cells for o in cell.outputs if o["output_type"] == "error"]
    assert errors == ["SystemExit"]
    assert copies[:3] == [[f"A replay of vc-mesh-8x8, cycles 0 to {last}"] for last in (5, 35, 36)]
