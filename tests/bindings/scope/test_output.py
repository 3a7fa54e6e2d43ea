"""The output of a view that a notebook saves by default: it replays in a browser without a kernel."""

import nbformat
from nbclient import NotebookClient
from scope_pages import LIVE

import flitlab as fl
from flitlab.scope import module_text, output, style_text

WIDGET = "application/vnd.jupyter.widget-view+json"


def executed(*cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
    NotebookClient(notebook, timeout=1800, kernel_name="python3", store_widget_state=False).execute()
    return notebook


def html_outputs(notebook):
    return [o["data"]["text/html"] for cell in notebook.cells for o in cell.outputs if "text/html" in o.get("data", {})]


def test_a_notebook_replays_what_a_later_cell_has_recorded(page, tmp_path):
    """Not every front end saves widget state, so the saved cell output itself must contain the later recording."""
    first = "import flitlab as fl\nview = fl.Network('vc-mesh-8x8').view().step(12)\nview"
    notebook = executed(first, "view.step(20);")
    assert "widgets" not in notebook.metadata
    assert WIDGET in notebook.cells[0].outputs[0]["data"]
    (shown,) = html_outputs(notebook)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{shown}</body>", encoding="utf-8")
    page.goto(path.as_uri())
    assert "vc-mesh-8x8, cycles 0 to 32" in page.locator("p").first.inner_text()
    replay = page.frame_locator("iframe")
    replay.locator(".flitlab-scope[data-cycle='32']").wait_for()
    replay.locator("[data-do=back10]").click()
    assert replay.locator(".scope-cycle").inner_text() == "cycle 22"


def test_a_widget_that_runs_hides_the_replay(page):
    """On one page either the widget or the replay is visible, not both."""
    view = fl.Network("vc-mesh-8x8").view().step(2)
    text = LIVE.replace('recording: "{recording}"', 'recording: "{recording}", replay: "{replay}"')
    replays = [output.output_of(view._recorder, view.recording, name)["text/html"] for name in (view.replay, "another")]
    page.set_content("".join(replays) + text.format(style=style_text(), module=module_text(), recording=view.recording,
                                                    replay=view.replay))
    page.locator("#place .flitlab-scope").wait_for()
    assert page.locator("iframe").evaluate_all("(all) => all.map((e) => e.offsetParent !== null)") == [False, True]


def test_a_long_recording_is_cut_to_what_an_output_may_hold(monkeypatch):
    view = fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.3)).view().step(100)
    whole = view.recording
    assert output.fitting(view._recorder, whole) == (whole, 101)
    monkeypatch.setattr(output, "MOST_BYTES", len(whole) // 2)
    text, frames = output.fitting(view._recorder, whole)
    assert len(text) <= len(whole) // 2 and 10 < frames < 50
    assert f"cycles {100 - frames + 1} to 100" in output.output_of(view._recorder, whole, "x")["text/plain"]
