"""What has been published of METRO."""

from flitlab.metro.published import paper, stages

PLACE = 30  # in lists of experiments; its notebook has the same number
EXPERIMENTS = paper.EXPERIMENTS | stages.EXPERIMENTS
