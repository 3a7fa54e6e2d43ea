"""Writes the chapters and the terms of the textbook as Markdown, beside their files.

    python tests/tools/book_pages.py
"""

from pathlib import Path

from flitlab.textbook.figures import chapters
from flitlab.textbook.pages import chapter_page, terms_page

BOOK = Path(__file__).resolve().parents[2] / "docs" / "book"


def pages() -> dict[Path, str]:
    """Returns the pages' texts by file."""
    return {BOOK / f"{chapter.name}.md": chapter_page(chapter) for chapter in chapters()} | {
        BOOK / "terms.md": terms_page()}


if __name__ == "__main__":
    for file, text in pages().items():
        file.write_text(text, encoding="utf-8")
