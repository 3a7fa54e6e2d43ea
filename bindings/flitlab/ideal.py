"""Ideal throughput of a network, which stands beside measured saturation loads."""

from __future__ import annotations

from flitlab import _core
from flitlab.experiment import Experiment


def ideal_throughput(experiment: Experiment | _core.Experiment) -> float | None:
    """Returns the load at which the busiest channel is full (Dally & Towles, 3.3), in flits/cycle of a terminal that
    sends: ``saturation_load_bound`` of :meth:`Experiment.derived`. No steady load exceeds it. None if flitlab cannot
    compute it for this model or traffic."""
    return experiment.derived().get("saturation_load_bound")
