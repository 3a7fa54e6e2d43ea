"""Configurations of BookSim 2 (commit 28f4329), read as they are and translated to flitlab's parameters."""

from flitlab.booksim.interfaces import ENDING, translate_interface
from flitlab.booksim.translation import Translation, translate

__all__ = ["ENDING", "Translation", "translate", "translate_interface"]
