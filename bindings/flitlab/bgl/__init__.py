"""Blue Gene/L's torus: what software can read of its links, and its published experiments."""

from flitlab.bgl.console import Links as Links
