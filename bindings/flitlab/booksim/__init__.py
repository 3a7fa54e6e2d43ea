"""Configurations of BookSim 2 (commit 28f4329), read as they are and translated to flitlab's parameters."""

from flitlab.booksim.translation import Translation, translate

__all__ = ["Translation", "translate"]
