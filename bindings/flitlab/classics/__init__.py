"""Experiments of classic papers on interconnection networks; they need no machine's model."""
