"""docs/booksim.md agrees with the translation of BookSim's parameters."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("booksim_page", ROOT / "tests/tools/booksim_page.py")
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


def test_page_is_generated():
    again = "generate it: python tests/tools/booksim_page.py > docs/booksim.md"
    assert TOOL.page() == (ROOT / "docs" / "booksim.md").read_text(), again
