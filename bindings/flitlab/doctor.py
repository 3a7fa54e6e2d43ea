"""Report on this installation: versions, backends and devices."""

from __future__ import annotations

import platform

from flitlab import _core
from flitlab.experiment import Experiment


def report(experiment: Experiment | None = None) -> str:
    """Returns the lines of the report. With an experiment, also the form of its state on each engine."""
    backends = _core.backends()
    cuda = backends["cuda"]
    lanes = backends["cpu"]["lanes"]
    lines = [
        f"flitlab  {_core.__version__}",
        f"python   {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"cpu      available, {backends['cpu']['threads']} threads, "
        f"{f'{lanes} items per vector' if lanes else 'no vectors'}",
        f"cuda     {'available' if cuda['available'] else 'not available: ' + cuda['reason']}",
    ]
    for number, device in enumerate(cuda["devices"]):
        lines.append(f"device {number} {device['name']}, {device['multiprocessors']} multiprocessors, "
                     f"{device['bytes'] / 1e9:.0f} GB{'' if number else ', in use'}")
    if len(cuda["devices"]) > 1:
        lines.append("         to use another device, set CUDA_VISIBLE_DEVICES=N")
    for engine, form in experiment.forms().items() if experiment else ():
        lines.append(f"{experiment.name} on the {engine.upper()}: {form}")
    return "\n".join(lines)
