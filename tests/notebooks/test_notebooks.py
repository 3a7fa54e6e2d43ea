"""Every notebook runs from top to bottom, and is committed without outputs."""

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_outputs_are_stripped(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(path, monkeypatch, tmp_path):
    """Runs it in an empty folder, as for a user who received only the notebook."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=1800, kernel_name="python3", resources=where).execute()
    keep = os.environ.get("FLITLAB_KEEP_NOTEBOOKS")  # folder for viewing the figures
    if keep:
        nbformat.write(notebook, Path(keep) / path.name)
    figures = sum("image/png" in o.get("data", {}) for c in notebook.cells if c.cell_type == "code" for o in c.outputs)
    assert figures >= 2


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p.name[:2] in ("00", "10", "20", "30", "40")],
                         ids=lambda p: p.stem)
def test_opens_with_a_moving_network(path):
    """The second cell of the quick start and of every machine's notebook."""
    cell = nbformat.read(path, as_version=4).cells[1]
    assert cell.cell_type == "code" and re.search(r"\.view\(.*\)\.step\(\d+\)$", cell.source)
