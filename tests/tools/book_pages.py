"""Writes the chapters of the textbook as Markdown, beside their files.

    python tests/tools/book_pages.py
"""

from pathlib import Path

from flitlab.textbook.figures import chapters
from flitlab.textbook.pages import chapter_page

BOOK = Path(__file__).resolve().parents[2] / "docs" / "book"


def pages() -> dict[Path, str]:
    """Returns the chapters' texts by file."""
    return {BOOK / f"{chapter.name}.md": chapter_page(chapter) for chapter in chapters()}


if __name__ == "__main__":
    for file, text in pages().items():
        file.write_text(text, encoding="utf-8")
