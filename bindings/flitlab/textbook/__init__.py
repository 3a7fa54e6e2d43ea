"""The textbook: figures that run. docs/book holds its chapters as data; docs/book/README.md describes their format.

>>> from flitlab import textbook
>>> figure = textbook.figure("zero-load")
>>> figure.check(1).startswith("Not")
True

``source`` reads the files and writes the lines of Python that make a figure, ``figures`` runs figures,
``notebooks`` writes chapters as notebooks, ``pages`` as Markdown.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flitlab.textbook.figures import Chapter, Figure, chapters, figure
    from flitlab.textbook.pages import save_exercises

__all__ = ["Chapter", "Figure", "chapters", "figure", "save_exercises"]

if not TYPE_CHECKING:  # bindings/page/build.py imports source without the compiled package

    def __getattr__(name):
        if name in __all__:
            module = "pages" if name == "save_exercises" else "figures"
            return getattr(import_module(f"flitlab.textbook.{module}"), name)
        raise AttributeError(f"module 'flitlab.textbook' has no attribute {name!r}")
