"""What has been published of Blue Gene/L's torus: packets and all-to-alls, simulation studies, software."""

from flitlab.bgl.published import paper, software, studies

PLACE = 20  # in lists of experiments; its notebook has the same number
EXPERIMENTS = paper.EXPERIMENTS | studies.EXPERIMENTS | software.EXPERIMENTS
