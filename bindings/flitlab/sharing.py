"""share(): a link that opens an experiment in the web page and shows that the state is the same."""

from __future__ import annotations

from flitlab._core import ConfigError
from flitlab.arguments import shown
from flitlab.experiment import Experiment, Given, experiment_of
from flitlab.links import LAST, PAGE, check_number, link_of
from flitlab.network import Network
from flitlab.result import Result


def share(given: Network | Result | Given, cycle: int | None = None, router: int | None = None,
          overlay: str | None = None, page: str = PAGE) -> str:
    """Returns a link that opens a network in the web page (docs/scope.md, A page without an installation).

    given: a Network (the link opens its cycle), a Result of :func:`run` (the end of the run), or an experiment.
    cycle: for an experiment, the cycle to open, 0 by default; flitlab runs the experiment up to it. router: router to
    select. overlay: overlay of the drawing. page: address of the page, for example
    ``"https://.../page.html"``; by default, ``page.html`` in the folder of the document that contains the link.

    The link holds the configuration and the state hash; the page runs the network to the same cycle, and says whether
    its state is the same. Files that the configuration names are included, compressed. A state that was changed
    through ``net.console`` differs from the page's.

    >>> import flitlab as fl
    >>> fl.share(fl.load("vc-mesh-8x8").set("traffic.load", 0.3), cycle=700, router=27).partition("&hash")[0]
    'page.html#config=vc-mesh-8x8&traffic.load=0.3&cycle=700&router=27'

    Raises ConfigError if the link would have more than 8000 characters, or an argument is wrong.
    """
    if isinstance(given, (Network, Result)) and cycle is not None:
        raise ConfigError(f"share(cycle={shown(cycle)}): a link to a {type(given).__name__} has its own cycle; give an "
                          "experiment to choose another one.")
    if isinstance(given, Network):
        return link_of(given.experiment, given.cycle, given.state_hash, router, overlay, page)
    if isinstance(given, Result):
        return link_of(_experiment_of(given), given.cycles, given.state_hash, router, overlay, page)
    experiment = experiment_of(given)
    cycle = 0 if cycle is None else cycle
    check_number("cycle", cycle, 0, LAST)
    return share(Network(experiment).step(cycle), None, router, overlay, page)


def _experiment_of(result: Result) -> Experiment:
    if result._experiment is None:
        raise ConfigError("share: only a result of fl.run has its experiment; give the experiment, and cycle = "
                          f"{result.cycles}.")
    return result._experiment
