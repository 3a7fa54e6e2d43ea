"""Published experiments on S-Connect, and on the routers that its paper compares it with."""

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

PLACE = 40  # position in lists of experiments; equals the number of its notebook
EXPERIMENTS = (protocol.EXPERIMENTS | comparators.EXPERIMENTS | routers.EXPERIMENTS | priorities.EXPERIMENTS
               | latencies.EXPERIMENTS | tables.EXPERIMENTS | bandwidths.EXPERIMENTS | ages.EXPERIMENTS
               | clock.EXPERIMENTS | bringup.EXPERIMENTS)
