"""Blue Gene/L's torus: registers of its links, and experiments of its paper."""

from flitlab.bgl.console import Links as Links
