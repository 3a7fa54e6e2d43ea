"""Published experiments of classic papers: switches, routing in meshes and low-diameter networks, virtual channels."""

from flitlab.classics.published import (
    diameter_two,
    dragonfly,
    duato,
    fat_tree,
    hyperx,
    oblivious,
    switches,
    turn_models,
    virtual_channels,
)

PLACE = 50  # position in lists of experiments; no notebook has this number
EXPERIMENTS = (switches.EXPERIMENTS | virtual_channels.EXPERIMENTS | oblivious.EXPERIMENTS | turn_models.EXPERIMENTS
               | duato.EXPERIMENTS | fat_tree.EXPERIMENTS | dragonfly.EXPERIMENTS | hyperx.EXPERIMENTS
               | diameter_two.EXPERIMENTS)
