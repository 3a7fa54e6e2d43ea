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
from typing import TYPE_CHECKING

from flitlab._core import ConfigError, RunError, __version__

if TYPE_CHECKING:
    from flitlab import patterns as patterns
    from flitlab import textbook as textbook
    from flitlab.clusters import cluster
    from flitlab.collectives import Collectives, collective
    from flitlab.concurrent_jobs import Jobs, jobs
    from flitlab.curve import Curve, plot
    from flitlab.experiment import Experiment, load
    from flitlab.flow_table import Flows, flows
    from flitlab.network import Network
    from flitlab.programs import Program
    from flitlab.refinement import adaptive
    from flitlab.reports.write import report
    from flitlab.reproduction import published, reproduce
    from flitlab.result import Result
    from flitlab.runner import run
    from flitlab.saturation import find_saturation
    from flitlab.scope.compared import Comparison, compare
    from flitlab.sharing import share
    from flitlab.shipped import configs
    from flitlab.styles import style
    from flitlab.sweeps import sweep
    from flitlab.time_lines import Timeline, timeline
    from flitlab.training import transformer
    from flitlab.workloads import read_program

_WHERE = {
    "Experiment": "experiment",
    "load": "experiment",
    "configs": "shipped",
    "Result": "result",
    "run": "runner",
    "sweep": "sweeps",
    "find_saturation": "saturation",
    "adaptive": "refinement",
    "cluster": "clusters",
    "Collectives": "collectives",
    "collective": "collectives",
    "Curve": "curve",
    "style": "styles",
    "plot": "curve",
    "report": "reports.write",
    "Network": "network",
    "Comparison": "scope.compared",
    "compare": "scope.compared",
    "Flows": "flow_table",
    "flows": "flow_table",
    "Program": "programs",
    "Jobs": "concurrent_jobs",
    "jobs": "concurrent_jobs",
    "transformer": "training",
    "read_program": "workloads",
    "published": "reproduction",
    "reproduce": "reproduction",
    "share": "sharing",
    "Timeline": "time_lines",
    "timeline": "time_lines",
}

__all__ = [  # noqa: RUF022
    "ConfigError", "RunError", "__version__", "Experiment", "load", "configs", "Result", "run", "sweep",
    "find_saturation", "adaptive", "cluster", "Collectives", "collective", "Curve", "style", "plot", "report",
    "Network", "Comparison", "compare", "share", "Flows", "flows", "Program", "read_program", "Jobs", "jobs",
    "transformer", "Timeline", "timeline", "published", "reproduce",
]


if not TYPE_CHECKING:  # so that type checkers report names that do not exist

    def __getattr__(name):
        if name in _WHERE:
            return getattr(import_module(f"flitlab.{_WHERE[name]}"), name)
        if name in ("patterns", "textbook") or name in import_module("flitlab.machines").machines():
            return import_module(f"flitlab.{name}")
        raise AttributeError(f"module 'flitlab' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
