"""What has been published of S-Connect, and of the routers that its paper compares it with."""

from flitlab.sconnect.published import bringup, clock, comparators, fabrics, protocol, routers

PLACE = 40  # in lists of experiments; its notebook has the same number
EXPERIMENTS = (protocol.EXPERIMENTS | comparators.EXPERIMENTS | routers.EXPERIMENTS | fabrics.EXPERIMENTS
               | clock.EXPERIMENTS | bringup.EXPERIMENTS)
