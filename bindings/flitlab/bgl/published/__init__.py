"""Experiments of the paper on Blue Gene/L's torus: packets and all-to-alls, simulation studies, software."""

from flitlab.bgl.published import alltoall, arbitration, blocking, escape, software, studies

PLACE = 20  # position in lists of experiments, and number of its notebook
EXPERIMENTS = (alltoall.EXPERIMENTS | blocking.EXPERIMENTS | studies.EXPERIMENTS | arbitration.EXPERIMENTS
               | escape.EXPERIMENTS | software.EXPERIMENTS)
