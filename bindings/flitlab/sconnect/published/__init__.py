"""What has been published of S-Connect, and of the routers that its paper compares it with."""

from flitlab.sconnect.published import (
    ages,
    bandwidths,
    bringup,
    clock,
    comparators,
    latencies,
    priorities,
    protocol,
    routers,
    tables,
)

PLACE = 40  # in lists of experiments; its notebook has the same number
EXPERIMENTS = (protocol.EXPERIMENTS | comparators.EXPERIMENTS | routers.EXPERIMENTS | priorities.EXPERIMENTS
               | latencies.EXPERIMENTS | tables.EXPERIMENTS | bandwidths.EXPERIMENTS | ages.EXPERIMENTS
               | clock.EXPERIMENTS | bringup.EXPERIMENTS)
