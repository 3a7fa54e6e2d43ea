"""Blue Gene/L's torus: its published experiments."""
