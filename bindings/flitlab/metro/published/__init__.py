"""Published experiments of METRO."""

from flitlab.metro.published import paper, stages

PLACE = 30  # position in lists of experiments, and number of the notebook
EXPERIMENTS = paper.EXPERIMENTS | stages.EXPERIMENTS
