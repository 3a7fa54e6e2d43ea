"""What has been published of the Cray T3E's network: paper, hardware manual, and what breaks."""

from flitlab.t3e.published import balance, barriers, faults, manual, paper

PLACE = 10  # in lists of experiments; its notebook has the same number
EXPERIMENTS = (balance.EXPERIMENTS | paper.EXPERIMENTS | barriers.EXPERIMENTS | manual.EXPERIMENTS
               | faults.EXPERIMENTS)
