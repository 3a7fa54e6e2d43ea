"""flitlab: a lockstep emulator of interconnection networks.

>>> import flitlab as fl
>>> exp = fl.Experiment.from_dict({"topology.shape": [4, 4], "traffic.load": 0.1})
>>> res = fl.run(exp)
>>> res.saturated
False

Names are imported on first use, so that ``import flitlab`` stays quick: pandas and matplotlib load only when a
sweep makes a table or a picture.
"""

from importlib import import_module

from flitlab._core import ConfigError, RunError, __version__

_WHERE = {
    "Experiment": "experiment",
    "load": "experiment",
    "configs": "shipped",
    "Result": "result",
    "run": "runner",
    "sweep": "sweeps",
    "find_saturation": "sweeps",
    "Curve": "curve",
    "Network": "network",
    "Program": "programs",
    "reproduce": "reproduction",
}

__all__ = ["ConfigError", "RunError", "__version__", *_WHERE]


def __getattr__(name):
    if name in _WHERE:
        return getattr(import_module(f"flitlab.{_WHERE[name]}"), name)
    if name in import_module("flitlab.machines").machines():
        return import_module(f"flitlab.{name}")
    raise AttributeError(f"module 'flitlab' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
