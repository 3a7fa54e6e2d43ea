"""Published experiments of the Cray T3E's network: paper, hardware manual, and faults."""

from flitlab.t3e.published import balance, barriers, faults, manual, paper

PLACE = 10  # position in lists of experiments, and number of the notebook
EXPERIMENTS = (balance.EXPERIMENTS | paper.EXPERIMENTS | barriers.EXPERIMENTS | manual.EXPERIMENTS
               | faults.EXPERIMENTS)
